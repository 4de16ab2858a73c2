//! Limits that cases have to keep, with their sources.

use super::published::as_prototype;
use super::published::prototype::{DEFORMATION, EQUAL_PASSES, FILAMENT, FILAMENT_LEVELS, HADLEY, RING, ROTATION};
use super::report::{CaseReport, Check};

/// Schemes that keep the bounds of the start where air does not converge, each cell rule by its name.
const MONOTONE: [&str; 6] = ["upwind", "slopes monotone", "ppm cw84", "ppm mono", "linrood cw84", "linrood mono"];

/// Schemes without negative cells that do not keep bounds.
const POSITIVE: [&str; 5] = ["slopes positivity", "ppm huynh_pd", "ppm pd", "ppm mp_pd", "linrood huynh_pd"];

/// Schemes that are linear in the mixing ratios.
const LINEAR: [&str; 4] = ["upwind", "slopes none", "ppm none", "linrood none"];

/// Cell rules that are at least of second order in smooth flow.
const SMOOTH: [&str; 4] = ["ppm none", "ppm huynh_pd", "linrood none", "linrood huynh_pd"];

/// Coarsest grid between which and a finer one an order is required.
const FINE_ENOUGH: usize = 48;

/// Whether the horizontal scheme of a case is among those named.
fn is_one_of(report: &CaseReport, schemes: &[&str]) -> bool {
    let rule = report.scheme.split([',', '+']).next().unwrap_or_default().trim();
    schemes.contains(&rule)
}

/// Tolerance of figures of the prototype.
const TOLERANCE: f64 = 0.05;

/// Upper limits on grids, steps and tracers: suite, case, nc, steps per nc, grid, schemes, quantity, limit, source.
struct Goal {
    case: &'static str,
    nc: usize,
    steps_per_nc: f64,
    grid: &'static str,
    schemes: &'static [&'static str],
    limits: &'static [(&'static str, f64)],
    source: &'static str,
}

const GOALS: [Goal; 4] = [
    Goal {
        case: "deformational",
        nc: 120,
        steps_per_nc: 20.0,
        grid: "equiangular",
        schemes: &["ppm huynh_pd"],
        limits: &[("gaussian_hills l2", 0.0070), ("cosine_bells l2", 0.033)],
        source: "goal at 0.75 degrees",
    },
    Goal {
        case: "deformational",
        nc: 120,
        steps_per_nc: 20.0,
        grid: "equiangular",
        schemes: &["linrood quasi", "linrood none"],
        limits: &[("gaussian_hills l2", 0.0083), ("cosine_bells l2", 0.033)],
        source: "goal at 0.75 degrees",
    },
    Goal {
        case: "deformational",
        nc: 90,
        steps_per_nc: 16.0,
        grid: "geos_native",
        schemes: &MONOTONE,
        limits: &[("gaussian_hills l2", 0.040), ("cosine_bells l2", 0.075), ("slotted_cylinders l2", 0.275)],
        source: "goal for schemes within bounds, C90",
    },
    Goal {
        case: "deformational",
        nc: 90,
        steps_per_nc: 16.0,
        grid: "geos_native",
        schemes: &POSITIVE,
        limits: &[("gaussian_hills l2", 0.0105), ("cosine_bells l2", 0.047), ("slotted_cylinders l2", 0.255)],
        source: "goal for positive schemes, C90",
    },
];

/// Everything a case has to fulfil.
pub(super) fn checks(report: &CaseReport) -> Vec<Check> {
    let mut checks = promises(report);
    checks.extend(prototype(report));
    checks.extend(ring(report));
    for goal in &GOALS {
        let meant = goal.case == report.case
            && goal.nc == report.nc
            && goal.steps_per_nc == report.steps_per_nc
            && goal.grid == report.grid
            && is_one_of(report, goal.schemes);
        if meant {
            checks.extend(goal.limits.iter().filter_map(|(quantity, limit)| {
                let value = report.quantity(quantity)?;
                Some(Check::new(*quantity, value, [None, Some(*limit)], goal.source))
            }));
        }
    }
    checks
}

/// What a scheme promises on every grid: conservation, uniform tracers, bounds.
fn promises(report: &CaseReport) -> Vec<Check> {
    let mut checks = Vec::new();
    let double = report.float_type == "Float64";
    if let Some(error) = report.constant_max_abs_error {
        let limit = if double { 1e-12 } else { 1e-4 };
        checks.push(Check::new("constant", error, [None, Some(limit)], "a uniform tracer stays uniform"));
    }
    for (tracer, norms) in &report.norms {
        let limit = if double { 1e-15 * (report.steps as f64 / 100.0).max(1.0) } else { 1e-4 };
        let drift = norms.mass_rel_error.abs();
        checks.push(Check::new(format!("{tracer} mass"), drift, [None, Some(limit)], "conservation"));
        let positive = is_one_of(report, &POSITIVE) || is_one_of(report, &MONOTONE);
        if positive && double {
            let limits = [Some(-1e-18), None];
            checks.push(Check::new(format!("{tracer} minimum"), norms.minimum, limits, "positive scheme"));
        }
    }
    if is_one_of(report, &MONOTONE)
        && double
        && let Some(mixing) = &report.mixing_half_period
    {
        checks.push(Check::new("mixing l_o", mixing.overshooting, [None, Some(1e-15)], "monotone scheme"));
    }
    if is_one_of(report, &LINEAR)
        && double
        && let Some(sum) = report.figure("sum error")
    {
        checks.push(Check::new("sum error", sum, [None, Some(1e-12)], "a linear scheme keeps sums"));
    }
    // Limiters that keep extrema tell rounding errors from extrema nowhere but in the smooth bell.
    let mirrored = "backward difference, williamson_bell";
    if let Some(difference) = report.figure(mirrored).filter(|_| double) {
        let limits = [None, Some(1e-12)];
        checks.push(Check::new(mirrored, difference, limits, "symmetry in the sense of rotation"));
    }
    if is_one_of(report, &SMOOTH) && report.case.starts_with("seam") {
        for (quantity, value) in &report.figures {
            let coarse = quantity.strip_prefix("order of l2 C").and_then(|rest| rest.split(' ').next()?.parse().ok());
            if coarse.is_some_and(|nc: usize| nc >= FINE_ENOUGH) {
                checks.push(Check::new(quantity.clone(), *value, [Some(1.8), None], "joint refinement across a seam"));
            }
        }
    }
    checks
}

/// Figures within the tolerance of those of the prototype, where the case was run alike.
fn prototype(report: &CaseReport) -> Vec<Check> {
    let mut expected: Vec<(String, f64)> = Vec::new();
    let is_of = |scheme: &str, nc: usize| scheme == report.scheme && nc == report.nc;
    if report.suite == "dcmip12" {
        let row = HADLEY.iter().find(|row| is_of(row.scheme, row.nc) && row.levels == report.levels);
        let limit = row.map(|row| 1.15 * row.norms[1]);
        let check = limit.zip(report.quantity("q l2")).map(|(limit, value)| {
            Check::new("q l2", value, [None, Some(limit)], "1.15 of the prototype in latitude and height")
        });
        return check.into_iter().collect();
    }
    if !as_prototype(report) || report.float_type != "Float64" {
        return Vec::new();
    }
    if report.case == "deformational" {
        for row in DEFORMATION.iter().filter(|row| is_of(row.scheme, row.nc)) {
            let figures = [
                ("gaussian_hills l2", row.hills[1]),
                ("gaussian_hills linf", row.hills[2]),
                ("cosine_bells l2", row.bells[0]),
                ("cosine_bells linf", row.bells[1]),
                ("slotted_cylinders l2", row.cylinders),
                ("mixing l_r", row.mixing[0]),
            ];
            expected.extend(figures.map(|(quantity, value)| (quantity.to_owned(), value)));
        }
        for (_, _, values) in EQUAL_PASSES.iter().filter(|(scheme, nc, _)| is_of(scheme, *nc)) {
            let quantities = ["gaussian_hills l2", "cosine_bells l2"].map(str::to_owned);
            expected.extend(quantities.into_iter().zip(*values));
        }
        for row in FILAMENT.iter().filter(|row| is_of(row.scheme, row.nc)) {
            // Close to the largest value the area hangs on single cells.
            let levels = FILAMENT_LEVELS.iter().zip(row.percent).filter(|(_, percent)| *percent > 50.0);
            expected.extend(levels.map(|(level, percent)| (format!("filament {level}"), percent)));
        }
    }
    if report.case == "solid_body_45" {
        for row in ROTATION.iter().filter(|row| is_of(row.scheme, row.nc)) {
            let figures = [
                ("williamson_bell l2", row.bell[1]),
                ("williamson_bell linf", row.bell[2]),
                ("gaussian l2", row.gaussian),
                ("cylinder l2", row.cylinder),
            ];
            expected.extend(figures.map(|(quantity, value)| (quantity.to_owned(), value)));
        }
    }
    let check = |(quantity, expected): (String, f64)| {
        let value = report.quantity(&quantity)?;
        let limits = [Some((1.0 - TOLERANCE) * expected), Some((1.0 + TOLERANCE) * expected)];
        Some(Check::new(quantity, value, limits, "prototype ± 5 %"))
    };
    expected.into_iter().filter_map(check).collect()
}

/// The one-dimensional tables, within one percent.
fn ring(report: &CaseReport) -> Vec<Check> {
    let is_it = |scheme: &str| report.suite == "ring" && report.float_type == "Float64" && scheme == report.scheme;
    let Some(row) = RING.iter().find(|row| is_it(row.scheme)) else { return Vec::new() };
    let sizes = [40, 80, 160, 320].into_iter().zip(row.sine);
    let mut expected: Vec<(String, f64)> = sizes.map(|(n, error)| (format!("sine error N = {n}"), error)).collect();
    expected.push(("box minimum".into(), row.extremes[0]));
    expected.push(("box maximum - 1".into(), row.extremes[1]));
    let check = |(quantity, expected): (String, f64)| {
        let slack = if expected == 0.0 { 1e-14 } else { 0.01 * f64::abs(expected) };
        let value = report.figure(&quantity)?;
        let limits = [Some(expected - slack), Some(expected + slack)];
        Some(Check::new(quantity, value, limits, "prototype on a ring ± 1 %"))
    };
    expected.into_iter().filter_map(check).collect()
}
