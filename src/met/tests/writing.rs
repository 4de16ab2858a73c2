//! Writing and reading back.

use serde_json::json;

use super::*;

/// Every legal set of sections.
fn combinations() -> Vec<Vec<Section>> {
    use Section::*;
    let choices: [&[&[Section]]; 6] = [
        &[&[], &[AirMassTendency]],
        &[&[], &[Pblh, Ustar, SensibleHeatFlux, T2m], &[Pblh, Ustar, SensibleHeatFlux, T2m, LatentHeatFlux]],
        &[&[], &[Cmfmc], &[Cmfmc, Dtrain], &[Cmfmc, CmfmcCloudBase], &[Cmfmc, Dtrain, CmfmcCloudBase]],
        &[&[], &[Entu, Detu, Entd, Detd]],
        &[&[], &[VdiffU, VdiffV, VdiffT, VdiffQv]],
        &[&[], &[Dkg]],
    ];
    let mut all = vec![Section::CORE.to_vec()];
    for options in choices {
        all = all.iter().flat_map(|base| options.iter().map(|o| [base.as_slice(), o].concat())).collect();
    }
    all
}

#[test]
fn bits_survive_every_section_combination() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    let all = combinations();
    assert_eq!(all.len(), 240);
    for (n, sections) in all.into_iter().enumerate() {
        // Precision, convention and payload order vary along.
        let float_type = if n % 2 == 0 { FloatType::Float32 } else { FloatType::Float64 };
        let mut sections = sections;
        let turn = n % sections.len();
        sections.rotate_left(turn);
        let spec = HeaderSpec { float_type, sections, ..spec(2, 2, BOTH[n / 2 % 2], 1) };
        let windows = windows(&spec, n as u64);
        let written = write(&path, &spec, &windows, GatePolicy::default());
        let file = TransportFile::open(&path).unwrap();
        assert_eq!(file.header(), &written);
        assert_eq!(file.header().sections(), spec.sections);
        for (section, values) in &windows[0].sections {
            let read = file.section_values(0, *section).unwrap();
            let same = read.iter().zip(values).all(|(a, b)| a.to_bits() == float_type.round(*b).to_bits());
            assert!(same && read.len() == values.len(), "{section} of {:?}", spec.sections);
        }
        file.verify(0).unwrap();
    }
}

#[test]
fn both_precisions_and_conventions_keep_all_windows() {
    for convention in BOTH {
        for float_type in [FloatType::Float32, FloatType::Float64] {
            let spec = HeaderSpec { float_type, steps: vec![2, 3, 3], ..spec(3, 2, convention, 3) };
            let (_dir, path, windows) = sample(&spec, 7);
            let file = TransportFile::open(&path).unwrap();
            assert_eq!(file.header().steps(), [2, 3, 3]);
            for (w, window) in windows.iter().enumerate() {
                for (section, values) in &window.sections {
                    let rounded: Vec<f64> = values.iter().map(|v| float_type.round(*v)).collect();
                    assert_eq!(file.section_values(w, *section).unwrap(), rounded);
                }
            }
        }
    }
}

/// Position of a value as the format defines it: panel, level, row, column, slowest first.
#[test]
fn payload_layout_is_the_documented_one() {
    let spec = HeaderSpec { float_type: FloatType::Float64, ..spec(3, 2, PanelConvention::Gnomonic, 2) };
    let (_dir, path, windows) = sample(&spec, 3);
    let bytes = std::fs::read(&path).unwrap();
    let (nc, nz, w, p, i, j, k) = (3, 2, 1, 4, 3, 1, 1);
    let per_window = Section::CORE.iter().chain(&[Section::AirMassTendency]).map(|s| s.elems(nc, nz)).sum::<usize>();
    // Section am follows m.
    let element = w * per_window + 6 * nc * nc * nz + ((p * nz + k) * nc + j) * (nc + 1) + i;
    let at = 4096 + 8 * element;
    let stored = f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(stored, windows[1].get(Section::FluxX)[((p * nz + k) * nc + j) * (nc + 1) + i]);
    assert_eq!(bytes[0], b'{');
    assert_eq!(bytes.len(), 4096 + 8 * 2 * per_window);
}

#[test]
fn steps_of_the_windows_replace_the_announced_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    let announced = spec(2, 2, PanelConvention::Gnomonic, 2);
    let used = HeaderSpec { steps: vec![4, 6], ..announced.clone() };
    let header = write(&path, &announced, &windows(&used, 1), GatePolicy::default());
    assert_eq!(header.steps(), [4, 6]);
    assert_eq!(header.json()["time_step_schedule"], json!("per_window"));
    assert_eq!(header.json()["poisson_balance_target_scale_by_window"], json!([0.125, 1.0 / 12.0]));
    assert_eq!(TransportFile::open(&path).unwrap().header(), &header);
}

#[test]
fn headers_longer_than_a_read_chunk_work() {
    let mut long = spec(2, 1, PanelConvention::Gnomonic, 1);
    long.extra.insert("note".to_string(), json!("x".repeat(300_000)));
    let (_dir, path, windows) = sample(&long, 5);
    let file = TransportFile::open(&path).unwrap();
    assert_eq!(file.header().header_bytes(), 393_216);
    assert_eq!(file.header().json()["note"], long.extra["note"]);
    let m: Vec<f64> = windows[0].get(Section::AirMass).iter().map(|v| f64::from(*v as f32)).collect();
    assert_eq!(file.section_values(0, Section::AirMass).unwrap(), m);
}

#[test]
fn unfinished_files_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    std::fs::write(&path, "old").unwrap();
    let spec = spec(2, 2, PanelConvention::Gnomonic, 2);
    let windows = windows(&spec, 1);
    let start = || TransportWriter::create(&path, spec.clone()).unwrap();
    let names = || std::fs::read_dir(dir.path()).unwrap().count();

    let mut writer = start();
    windows[0].write(&mut writer, 0).unwrap();
    assert_eq!(names(), 2);
    let error = writer.finish().unwrap_err();
    assert!(matches!(error, MetError::Incomplete { written: 1, nwindow: 2, .. }), "{error}");
    assert_eq!(names(), 1);

    let mut writer = start();
    windows[0].write(&mut writer, 0).unwrap();
    drop(writer);
    assert_eq!(names(), 1);

    let mut writer = start();
    assert!(matches!(windows[1].write(&mut writer, 1), Err(MetError::Payload { window: 1, .. })));
    assert_eq!(names(), 1);
    assert!(windows[0].write(&mut writer, 0).is_err());
    assert!(writer.finish().is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn wrong_payloads_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(2, 2, PanelConvention::Gnomonic, 1);
    let good = windows(&spec, 1).remove(0);
    let attempt = |change: &dyn Fn(&mut Window)| {
        let mut writer = TransportWriter::create(dir.path().join("a.flux"), spec.clone()).unwrap();
        let mut window = good.clone();
        change(&mut window);
        window.write(&mut writer, 0).unwrap_err().to_string()
    };
    assert!(attempt(&|w| w.sections.truncate(5)).contains("`dm`"));
    assert!(attempt(&|w| w.sections.push((Section::Dkg, vec![]))).contains("`dkg`"));
    assert!(attempt(&|w| w.sections.push((Section::AirMass, vec![]))).contains("twice"));
    assert!(attempt(&|w| w.get_mut(Section::FluxX).truncate(3)).contains("`am`"));
    assert!(attempt(&|w| w.m_next.truncate(3)).contains("`m_next`"));
    assert!(attempt(&|w| w.steps = 0).contains("substep"));
}

#[cfg(unix)]
#[test]
fn new_files_are_readable_by_others() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, path, _) = sample(&spec(2, 1, PanelConvention::Gnomonic, 1), 1);
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let mode = |p: &Path| std::fs::metadata(p).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
}
