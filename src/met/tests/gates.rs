//! Checks of window physics.

use std::sync::Arc;

use super::super::gates::*;
use super::*;

fn arrays<'a>(spec: &HeaderSpec, w: &'a Window) -> PanelArrays<'a> {
    PanelArrays {
        nc: spec.nc,
        nlevel: spec.nlevel(),
        m: w.get(Section::AirMass),
        m_next: &w.m_next,
        am: w.get(Section::FluxX),
        bm: w.get(Section::FluxY),
        cm: w.get(Section::FluxZ),
    }
}

fn double(nc: usize, nz: usize, convention: PanelConvention, steps: Vec<u32>) -> HeaderSpec {
    let nwindow = steps.len();
    HeaderSpec { float_type: FloatType::Float64, steps, ..spec(nc, nz, convention, nwindow) }
}

#[test]
fn balanced_fluxes_pass_and_doubled_ones_fail() {
    for convention in BOTH {
        let spec = double(4, 3, convention, vec![3]);
        let mut w = windows(&spec, 9).remove(0);
        assert!(replay(&arrays(&spec, &w), 6.0).relative < 1e-14);
        w.get_mut(Section::FluxX).iter_mut().for_each(|v| *v *= 2.0);
        let r = replay(&arrays(&spec, &w), 6.0);
        assert!(r.relative > 1e-4, "{r:?}");
        // Faces of turned seams lie in am on one side and in bm on the other.
        assert!(mirror(&arrays(&spec, &w), convention).relative > 0.1);
    }
}

/// One perturbed interface: the reported cell is one of its two neighbours, the error the amount moved.
#[test]
fn a_perturbed_interface_is_located() {
    let spec = double(4, 3, PanelConvention::Gnomonic, vec![1]);
    let mut w = windows(&spec, 9).remove(0);
    // Panel 3, i = 2, j = 4, interface between layers 2 and 3.
    w.get_mut(Section::FluxZ)[((2 * 4 + 2) * 4 + 3) * 4 + 1] += 5e3;
    let r = replay(&arrays(&spec, &w), 2.0);
    assert!((r.absolute - 1e4).abs() < 1e-3, "{r:?}");
    assert_eq!((r.cell.panel, r.cell.i, r.cell.j), (2, 1, 3));
    assert!(r.cell.k == 1 || r.cell.k == 2);
    let largest = w.m_next[2 * 48..3 * 48].iter().fold(0.0f64, |a, b| a.max(*b));
    assert!((r.relative - r.absolute / largest).abs() <= 1e-15 * r.relative);
    assert!(r.relative > replay_tolerance(FloatType::Float64));
}

#[test]
fn values_that_are_not_finite_fail_every_check() {
    let spec = double(3, 2, PanelConvention::GeosNative, vec![1]);
    for section in [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ] {
        for value in [f64::NAN, f64::INFINITY] {
            let mut w = windows(&spec, 1).remove(0);
            // Panel 2, level 2, low corner: on a panel edge for both horizontal fluxes.
            let shape = section.shape(3, 2);
            w.get_mut(section)[(shape.nk + 1) * shape.level_len()] = value;
            let levels = arrays(&spec, &w);
            assert_eq!(replay(&levels, 2.0).relative, f64::INFINITY, "replay {section} {value}");
            assert_eq!(positivity(&levels, 1.0).ratio, f64::INFINITY, "positivity {section} {value}");
            if section == Section::FluxX || section == Section::FluxY {
                assert_eq!(mirror(&levels, spec.convention).relative, f64::INFINITY, "mirror {section} {value}");
            }
        }
    }
}

/// Outflow of a single cell worked by hand.
#[test]
fn positivity_counts_outflow_against_the_smaller_mass() {
    let spec = double(2, 2, PanelConvention::Gnomonic, vec![1]);
    let mut w = windows(&spec, 1).remove(0);
    for section in [Section::FluxX, Section::FluxY, Section::FluxZ] {
        w.get_mut(section).iter_mut().for_each(|v| *v = 0.0);
    }
    w.get_mut(Section::AirMass).iter_mut().for_each(|v| *v = 100.0);
    w.m_next.iter_mut().for_each(|v| *v = 100.0);
    // Panel 1, i = 2, j = 1, k = 2: 4 out to the west, 3 out to the east, 2 in from the south, 5 out at the top.
    w.get_mut(Section::FluxX)[6 + 1] = -4.0;
    w.get_mut(Section::FluxX)[6 + 2] = 3.0;
    w.get_mut(Section::FluxY)[6 + 1] = 2.0;
    w.get_mut(Section::FluxZ)[4 + 1] = -5.0;
    w.m_next[4 + 1] = 80.0;
    let p = positivity(&arrays(&spec, &w), 1.0);
    for (found, expected) in [(p.ratio, 24.0 / 80.0), (p.horizontal, 14.0 / 80.0), (p.vertical, 10.0 / 80.0)] {
        assert!((found - expected).abs() <= 2.0 * f64::EPSILON * expected, "{found} {expected}");
    }
    assert_eq!(p.cell, CellIndex { panel: 0, i: 1, j: 0, k: 1 });
    assert_eq!(positivity(&arrays(&spec, &w), 0.5).ratio, p.ratio / 2.0);
    w.m_next[0] = 0.0;
    assert_eq!(positivity(&arrays(&spec, &w), 1.0).ratio, f64::INFINITY);
}

#[test]
fn recommended_steps_reach_the_limit() {
    assert_eq!(recommended_steps(4, 1.9, 0.95), Some(8));
    assert_eq!(recommended_steps(3, 1.0, 0.95), Some(4));
    assert_eq!(recommended_steps(3, f64::INFINITY, 0.95), None);
}

#[test]
fn the_writer_refuses_what_fails_its_checks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    let spec = double(3, 2, PanelConvention::GeosNative, vec![2]);
    let good = windows(&spec, 1).remove(0);
    let attempt = |gates: GatePolicy, change: &dyn Fn(&mut Window)| {
        let mut writer = TransportWriter::create_with(&path, spec.clone(), gates).unwrap();
        let mut window = good.clone();
        change(&mut window);
        let result = window.write(&mut writer, 0);
        (result, std::fs::read_dir(dir.path()).unwrap().count())
    };
    let (result, files) = attempt(GatePolicy::default(), &|_| ());
    let receipt = result.unwrap();
    assert!(receipt.replay.unwrap().relative < 1e-14 && receipt.positivity.unwrap().ratio < 0.95);
    assert_eq!(files, 1);

    let (result, files) = attempt(GatePolicy::default(), &|w| w.m_next[5] *= 1.001);
    assert!(matches!(result, Err(MetError::Replay { window: 0, .. })), "{result:?}");
    assert_eq!(files, 0);

    // West face of panel 2, owned by panel 1.
    let (result, _) = attempt(GatePolicy::default(), &|w| w.get_mut(Section::FluxX)[24] += 1.0);
    let text = result.unwrap_err().to_string();
    assert!(text.contains("section `am`, (panel, i, j, k) = (2, 1, 1, 1)"), "{text}");

    // 200 times the fluxes: up to 2·6·1e7·200/1e10 of a cell's air leaves it.
    let strong = |w: &mut Window| {
        for s in [Section::FluxX, Section::FluxY, Section::FluxZ] {
            w.get_mut(s).iter_mut().for_each(|v| *v *= 200.0);
        }
        w.m_next = w.get(Section::AirMass).to_vec();
    };
    let only_positivity = GatePolicy { replay: GateAction::Skip, ..GatePolicy::default() };
    let (result, files) = attempt(only_positivity, &strong);
    match result {
        Err(MetError::Positivity { ratio, recommended: Some(n), steps: 2, .. }) => {
            assert!(ratio > 0.95 && n as f64 >= 2.0 * ratio / 0.95 && (n as f64) < 2.0 * ratio / 0.95 + 1.0);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(files, 0);
    let (result, files) = attempt(GatePolicy { positivity: GateAction::Warn, ..only_positivity }, &strong);
    assert!(result.unwrap().positivity.unwrap().ratio > 0.95);
    assert_eq!(files, 1);
}

fn open(path: &Path) -> Arc<TransportFile> {
    Arc::new(TransportFile::open(path).unwrap())
}

/// Two files of one series; the second continues where the first ends.
fn series(spec: &HeaderSpec) -> (tempfile::TempDir, Arc<TransportFile>, Arc<TransportFile>) {
    let dir = tempfile::tempdir().unwrap();
    let first = windows(spec, 3);
    let second = windows_from(spec, first.last().unwrap().m_next.clone(), &mut Random(4));
    let start: jiff::Timestamp = "2021-12-01T00:00:00Z".parse().unwrap();
    let stated = |hours: i64| HeaderSpec {
        start_time_utc: Some(start + jiff::SignedDuration::from_hours(hours)),
        ..spec.clone()
    };
    let (a, b) = (dir.path().join("day1.flux"), dir.path().join("day2.flux"));
    write(&a, &stated(0), &first, GatePolicy::default());
    write(&b, &stated(spec.steps.len() as i64), &second, GatePolicy::default());
    let (a, b) = (open(&a), open(&b));
    (dir, a, b)
}

#[test]
fn files_replay_with_the_right_targets() {
    for float_type in [FloatType::Float32, FloatType::Float64] {
        let with_dm = HeaderSpec { float_type, ..double(3, 2, PanelConvention::GeosNative, vec![2, 3]) };
        let without = HeaderSpec { sections: Section::CORE.to_vec(), ..with_dm.clone() };
        let limit = replay_tolerance(float_type);
        let (_dir, a, b) = series(&with_dm);
        let targets = |a: &TransportFile, next: Option<&TransportFile>| -> Vec<ReplayTarget> {
            validate_replay(a, 0..2, limit, next).unwrap().iter().map(|r| r.target).collect()
        };
        use ReplayTarget::*;
        assert_eq!(targets(&a, Some(&b)), [NextWindow, Tendency]);
        assert_eq!(targets(&b, None), [NextWindow, Tendency]);
        let (_dir, a, b) = series(&without);
        assert_eq!(targets(&a, Some(&b)), [NextWindow, NextFile]);
        assert_eq!(targets(&b, None), [NextWindow, NotCheckable]);
        assert_eq!(validate_replay(&b, 1..2, limit, None).unwrap()[0].report, None);
        assert!(matches!(validate_replay(&b, 1..3, limit, None), Err(MetError::NoSuchWindow { window: 2, .. })));
    }
}

#[test]
fn full_window_files_replay_like_substep_files() {
    let spec =
        HeaderSpec { flux_kind: FluxKind::FullWindowMassAmount, ..double(3, 2, PanelConvention::Gnomonic, vec![5, 2]) };
    let (_dir, path, _) = sample(&spec, 8);
    let results = validate_replay(&open(&path), 0..2, 1e-10, None).unwrap();
    assert!(results.iter().all(|r| r.report.unwrap().relative < 1e-14));
}

#[test]
fn broken_files_fail_the_replay() {
    let spec = double(3, 2, PanelConvention::Gnomonic, vec![2, 2]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    let good = windows(&spec, 3);
    let attempt = |change: &dyn Fn(&mut Vec<Window>)| {
        let mut bad = good.clone();
        change(&mut bad);
        write(&path, &spec, &bad, GatePolicy::all(GateAction::Skip));
        validate_replay(&open(&path), 0..2, 1e-10, None).unwrap_err().to_string()
    };
    let text = attempt(&|w| w[1].get_mut(Section::FluxZ)[((3 * 3 + 1) * 3 + 2) * 3] += 1e3);
    assert!(text.contains("a.flux: window 2, (panel, i, j, k) = (4, 1, 3, ") && text.contains("m + dm"), "{text}");
    let text = attempt(&|w| w[1].get_mut(Section::AirMass)[0] *= 1.001);
    assert!(text.contains("window 1, (panel, i, j, k) = (1, 1, 1, 1)") && text.contains("next window"), "{text}");
    let text = attempt(&|w| w[0].get_mut(Section::FluxX).iter_mut().for_each(|v| *v *= 2.0));
    assert!(text.contains("window 1"), "{text}");
}

#[test]
fn a_gap_between_files_is_found() {
    let spec = double(3, 2, PanelConvention::Gnomonic, vec![2, 2]);
    let (dir, a, _) = series(&spec);
    let path = dir.path().join("other.flux");
    write(&path, &spec, &windows(&spec, 99), GatePolicy::default());
    let error = validate_replay(&a, 0..2, 1e-10, Some(&open(&path))).unwrap_err();
    assert!(matches!(error, MetError::Endpoint { .. }), "{error}");
    assert!(error.to_string().contains("other.flux: window 1") && error.to_string().contains("day1.flux"));
}

#[test]
fn chains_are_checked_key_by_key() {
    let base = double(3, 2, PanelConvention::GeosNative, vec![2]);
    let start = Some("2021-12-01T00:00:00Z".parse().unwrap());
    let first = HeaderSpec { start_time_utc: start, ..base.clone() };
    let (_dir, path, _) = sample(&first, 1);
    let a = open(&path);
    let follow = HeaderSpec { start_time_utc: Some("2021-12-01T01:00:00Z".parse().unwrap()), ..base.clone() };
    let mut levels = follow.clone();
    levels.b_ifc[1] += 1e-15;
    let check = |spec: &HeaderSpec| {
        let (_dir, path, _) = sample(spec, 1);
        check_chain(&[a.clone(), open(&path)])
    };
    check(&follow).unwrap();
    check(&base).unwrap();
    check(&HeaderSpec { float_type: FloatType::Float32, steps: vec![1, 2], ..follow.clone() }).unwrap();
    for (spec, key) in [
        (HeaderSpec { nc: 4, ..follow.clone() }, "`Nc`: is 4, was 3"),
        (HeaderSpec { convention: PanelConvention::Gnomonic, ..follow.clone() }, "`panel_convention`"),
        (HeaderSpec { longitude_offset_deg: 0.0, ..follow.clone() }, "`longitude_offset_deg`"),
        (HeaderSpec { radius_m: 6.371e6, ..follow.clone() }, "`planet_radius_m`"),
        (HeaderSpec { mass_basis: MassBasis::Moist, ..follow.clone() }, "`mass_basis`"),
        (HeaderSpec { sections: Section::CORE.to_vec(), ..follow.clone() }, "without `dm`"),
        (levels, "`B_ifc`"),
        (first.clone(), "`start_time_utc`"),
    ] {
        let text = check(&spec).unwrap_err().to_string();
        assert!(text.contains(key), "{text}");
    }
}
