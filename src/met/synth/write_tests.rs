use super::*;
use crate::met::TransportFile;
use crate::met::gates::{replay_tolerance, validate_replay};

const FLOWS: [SynthFlow; 6] = [
    SynthFlow::SolidBody { angle_deg: 90.0 },
    SynthFlow::Deformation,
    SynthFlow::Divergent,
    SynthFlow::Hadley,
    SynthFlow::Deformation3d,
    SynthFlow::Weather,
];

fn options(flow: SynthFlow, float: FloatType, bundle: GeometryBundle) -> SynthOptions {
    SynthOptions { windows: 3, float, bundle, ..SynthOptions::new(flow, 8, 5) }
}

fn write_quietly(path: &Path, options: &SynthOptions) -> SynthReport {
    write(path, options, |_| ()).unwrap()
}

#[test]
fn a_series_may_be_cut_into_files() {
    let folder = tempfile::tempdir().unwrap();
    let whole = SynthOptions {
        physics: SynthPhysics::All,
        ..options(SynthFlow::Weather, FloatType::Float32, GeometryBundle::GeosNative)
    };
    let rest = SynthOptions { windows: 1, skip_windows: 2, ..whole.clone() };
    let [whole, rest] = [("whole.bin", whole), ("rest.bin", rest)].map(|(name, options)| {
        write_quietly(&folder.path().join(name), &options);
        TransportFile::open(folder.path().join(name)).unwrap()
    });
    for &section in whole.header().sections() {
        let [a, b] = [(&whole, 2), (&rest, 0)].map(|(file, window)| file.section_bytes(window, section).unwrap());
        assert_eq!(a, b, "{section:?}");
    }
}

#[test]
fn files_are_valid_and_join_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (n, flow) in FLOWS.into_iter().enumerate() {
        for float in [FloatType::Float32, FloatType::Float64] {
            for bundle in GeometryBundle::ALL {
                let path = folder.path().join(format!("{n}.bin"));
                let report = write_quietly(&path, &options(flow, float, bundle));
                assert!(report.positivity.unwrap().ratio <= 0.95);
                let limit = if float == FloatType::Float64 { 1e-13 } else { 1e-5 };
                assert!(report.replay.unwrap().relative <= limit, "{flow:?} {float}: {:?}", report.replay);

                let file = TransportFile::open(&path).unwrap();
                file.check_runnable().unwrap();
                assert_eq!(file.header().steps(), report.steps);
                let replays = validate_replay(&file, 0..3, replay_tolerance(float), None).unwrap();
                assert_eq!(replays.len(), 3);
                for window in 0..3 {
                    file.verify(window).unwrap();
                    let m = file.section_values(window, Section::AirMass).unwrap();
                    let dm = file.section_values(window, Section::AirMassTendency).unwrap();
                    if window < 2 {
                        let next = file.section_values(window + 1, Section::AirMass).unwrap();
                        let sum: Vec<f64> = m.iter().zip(&dm).map(|(m, dm)| float.round(m + dm)).collect();
                        assert!(sum == next, "{flow:?} {float} window {window}");
                    }
                }
            }
        }
    }
}

#[test]
fn physics_sections_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weather.bin");
    let mut options = options(SynthFlow::Weather, FloatType::Float32, GeometryBundle::GeosNative);
    options.physics = SynthPhysics::All;
    options.start_time = Some("2021-12-01T00:00:00Z".parse().unwrap());
    let mut seen = Vec::new();
    write(&path, &options, |progress| seen.push(progress)).unwrap();
    assert_eq!(seen.iter().map(|p| (p.written, p.windows)).collect::<Vec<_>>(), [(1, 3), (2, 3), (3, 3)]);
    let file = TransportFile::open(&path).unwrap();
    file.check_runnable().unwrap();
    assert_eq!(file.header().sections(), Section::ALL);
    assert!(file.section_values(2, Section::Pblh).unwrap().iter().all(|h| *h > 100.0));

    options.flow = SynthFlow::Hadley;
    assert!(matches!(write(&path, &options, |_| ()), Err(SynthError::NoPhysics { flow: "hadley" })));
}

#[test]
fn equal_options_give_equal_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(SynthFlow::Weather, FloatType::Float64, GeometryBundle::Gnomonic);
    options.physics = SynthPhysics::All;
    let run = |name: &str, threads: usize| {
        let path = folder.path().join(name);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| write_quietly(&path, &options));
        std::fs::read(path).unwrap()
    };
    assert!(run("a.bin", 1) == run("b.bin", 3));
}

#[test]
fn the_smallest_grid_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.bin");
    for flow in FLOWS {
        let mut options = SynthOptions { windows: 1, ..SynthOptions::new(flow, 1, 1) };
        write_quietly(&path, &options);
        if flow == SynthFlow::Weather {
            options.physics = SynthPhysics::All;
            write_quietly(&path, &options);
        }
    }
}

#[test]
fn impossible_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.bin");
    let good = options(SynthFlow::Weather, FloatType::Float32, GeometryBundle::GeosNative);
    let refused = |change: fn(&mut SynthOptions)| {
        let mut options = good.clone();
        change(&mut options);
        let error = write(&path, &options, |_| ()).unwrap_err();
        assert!(!path.exists());
        error.to_string()
    };
    assert_eq!(refused(|o| o.windows = 0), "a file needs at least one window");
    assert!(refused(|o| o.window_seconds = f64::NAN).contains("NaN"));
    assert!(refused(|o| o.levels = 0).contains("levels"));
    assert!(refused(|o| o.nc = 0).contains("Nc = 0"));
    assert!(refused(|o| o.flow = SynthFlow::SolidBody { angle_deg: f64::INFINITY }).contains("angle"));
    assert!(refused(|o| o.window_seconds = 1e9).contains("shorter windows"));
    let unknown = SynthFlow::from_name("hadly").unwrap_err().to_string();
    assert!(unknown.contains("hadley") && unknown.contains("\"hadly\""));
}

#[test]
fn names_lead_to_their_flows() {
    for name in SynthFlow::NAMES {
        assert_eq!(SynthFlow::from_name(name).unwrap().name(), name);
    }
}

#[test]
fn the_size_is_known_before_writing() {
    let folder = tempfile::tempdir().unwrap();
    for physics in [SynthPhysics::None, SynthPhysics::All] {
        let options =
            SynthOptions { physics, ..options(SynthFlow::Weather, FloatType::Float64, GeometryBundle::Gnomonic) };
        let report = write_quietly(&folder.path().join("w.bin"), &options);
        assert_eq!(options.payload_bytes(), report.header.file_bytes() - report.header.header_bytes());
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    let small = options(SynthFlow::Weather, FloatType::Float32, GeometryBundle::GeosNative);
    for target in ["absent/w.bin", "file/w.bin", "."] {
        let error = write(folder.path().join(target), &small, |_| panic!("work was done")).unwrap_err();
        assert!(matches!(error, SynthError::Target(_)), "{target}: {error}");
    }
    // C5760 with 1000 layers for ever: more than any disk holds.
    let huge = SynthOptions { nc: 5760, levels: 1000, windows: usize::MAX, ..small };
    let path = folder.path().join("w.bin");
    let error = write(&path, &huge, |_| panic!("work was done")).unwrap_err();
    #[cfg(unix)]
    assert!(matches!(error, SynthError::NoRoom { .. }), "{error}");
    assert!(!path.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}
