//! Reports as text.

use super::report::{CaseReport, Check, Comparison};

/// All reports as tables: our norms, those of others below, what was checked.
pub fn table(reports: &[CaseReport]) -> String {
    let mut text: String = reports.iter().map(case).collect::<Vec<_>>().join("\n");
    let checks = reports.iter().flat_map(|report| &report.checks);
    let failed = checks.clone().filter(|check| !check.passed).count();
    text += &format!("\n{} limits kept, {failed} not\n", checks.count() - failed);
    text
}

fn case(report: &CaseReport) -> String {
    let mut text = format!("{}: {}", report.suite, report.case);
    if report.nc > 0 {
        text += &format!(", C{}", report.nc);
        if report.levels > 1 {
            text += &format!(" L{}", report.levels);
        }
        text += &format!(" {}, {}, {} steps", report.grid, report.initial, report.steps);
    }
    text += &format!(", {}, {}\n", report.scheme, report.float_type);
    if report.max_budget > 0.0 {
        text += &format!(
            "  largest Courant number of a step {:.3} along an axis, budget {:.3}\n",
            report.max_directional_courant, report.max_budget
        );
    }
    if !report.norms.is_empty() {
        text += &format!(
            "  {:<34} {:>9} {:>9} {:>9} {:>10} {:>10} {:>9}\n",
            "tracer", "l1", "l2", "linf", "phi_min", "phi_max", "mass"
        );
    }
    for (tracer, n) in &report.norms {
        text += &format!(
            "  {tracer:<34} {} {} {} {} {} {:>9.1e}\n",
            norm(n.l1),
            norm(n.l2),
            norm(n.linf),
            bound(n.phi_min),
            bound(n.phi_max),
            n.mass_rel_error
        );
        text.extend(report.compared.iter().filter(|c| c.tracer == *tracer).map(comparison));
    }
    if let Some(error) = report.constant_max_abs_error {
        text += &format!("  uniform tracer within {error:.1e} of 1\n");
    }
    for (when, mixing) in [("half a period", report.mixing_half_period), ("the end", report.mixing_final)] {
        if let Some(m) = mixing {
            text += &format!(
                "  mixing at {when}: real {:.3e}, unmixing within range {:.3e}, overshooting {:.3e}\n",
                m.real_mixing, m.range_preserving_unmixing, m.overshooting
            );
        }
    }
    if let Some(filament) = &report.filament_half_period {
        let parts = filament.threshold.iter().zip(&filament.percent).map(|(t, p)| format!("{t:.2}: {p:.1}"));
        text += &format!("  filament at half a period, %: {}\n", parts.collect::<Vec<_>>().join("  "));
    }
    for (name, value) in &report.figures {
        text += &format!("  {name}: {value:.4e}\n");
    }
    text.extend(report.checks.iter().map(check));
    text
}

fn norm(value: f64) -> String {
    format!("{value:>9.3e}")
}

fn bound(value: f64) -> String {
    format!("{value:>10.2e}")
}

fn comparison(c: &Comparison) -> String {
    let [l1, l2, linf] = [c.l1, c.l2, c.linf].map(|n| n.map_or_else(|| format!("{:>9}", "-"), norm));
    let [low, high] = [c.phi_min, c.phi_max].map(|n| n.map_or_else(|| format!("{:>10}", "-"), bound));
    format!("    {:<32} {l1} {l2} {linf} {low} {high}\n", c.source)
}

fn check(c: &Check) -> String {
    let limits = match (c.at_least, c.at_most) {
        (Some(low), Some(high)) => format!("{low:.4e} to {high:.4e}"),
        (Some(low), None) => format!("at least {low:.4e}"),
        (None, Some(high)) => format!("at most {high:.4e}"),
        (None, None) => "reported".to_owned(),
    };
    let mark = if c.passed { "pass" } else { "FAIL" };
    format!("  {mark}  {}: {:.4e}, {limits} ({})\n", c.quantity, c.value, c.source)
}
