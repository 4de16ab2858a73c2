//! Messages written here: grids, gaps, duplicates, damage.

use std::path::PathBuf;

use atmostr::preprocess::grib::{Draft, GribError, GribFile, GribGrid, GribTime, GribWanted};

/// A file that goes away with the folder.
struct Written {
    folder: tempfile::TempDir,
}

impl Written {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn time(text: &str) -> jiff::Timestamp {
    text.parse().unwrap()
}

/// Points of the rings of a small reduced grid, some of them odd in number.
const RINGS: [i64; 8] = [5, 9, 12, 16, 16, 12, 9, 5];

fn reduced(draft: Draft, values: &[f64]) -> Draft {
    let latitude = atmostr::regrid::GaussianLatitudes::new(8).centres()[7];
    draft
        .long("N", 4)
        .and_then(|d| d.long("Nj", 8))
        .and_then(|d| d.longs("pl", &RINGS))
        .and_then(|d| d.double("latitudeOfFirstGridPointInDegrees", latitude))
        .and_then(|d| d.double("latitudeOfLastGridPointInDegrees", -latitude))
        .and_then(|d| d.double("longitudeOfFirstGridPointInDegrees", 0.0))
        .and_then(|d| d.long("bitsPerValue", 24))
        .and_then(|d| d.doubles("values", values))
        .unwrap()
}

fn lat_lon(values: &[f64]) -> Draft {
    Draft::from_sample("regular_ll_sfc_grib1")
        .and_then(|d| d.text("shortName", "2t"))
        .and_then(|d| d.long("dataDate", 20211201))
        .and_then(|d| d.long("dataTime", 1800))
        .and_then(|d| d.long("step", 5))
        .and_then(|d| d.long("Ni", 8))
        .and_then(|d| d.long("Nj", 5))
        .and_then(|d| d.double("latitudeOfFirstGridPointInDegrees", 90.0))
        .and_then(|d| d.double("latitudeOfLastGridPointInDegrees", -90.0))
        .and_then(|d| d.double("longitudeOfFirstGridPointInDegrees", -180.0))
        .and_then(|d| d.double("longitudeOfLastGridPointInDegrees", 135.0))
        .and_then(|d| d.double("iDirectionIncrementInDegrees", 45.0))
        .and_then(|d| d.double("jDirectionIncrementInDegrees", 45.0))
        .and_then(|d| d.long("bitsPerValue", 24))
        .and_then(|d| d.doubles("values", values))
        .unwrap()
}

fn wanted(parameter: u32, name: &'static str, level: Option<u32>, at: &str) -> GribWanted {
    GribWanted { parameter, name, level, time: GribTime::Valid(time(at)) }
}

#[test]
fn both_editions_keep_spectra_rings_and_levels() {
    let written = Written::new();
    for edition in ["grib1", "grib2"] {
        let spectrum: Vec<f64> =
            (0..20).map(|n| if n == 1 || n == 3 || n == 5 || n == 7 { 0.0 } else { 1.0 / (1 + n) as f64 }).collect();
        let pv = [0.0, 500.0, 0.0, 0.0, 0.5, 1.0];
        let waves = Draft::from_sample(&format!("sh_ml_{edition}"))
            .and_then(|d| d.long("paramId", 138))
            .and_then(|d| d.long("dataDate", 20211201))
            .and_then(|d| d.long("dataTime", 300))
            .and_then(|d| d.long("level", 2))
            .and_then(|d| d.long("J", 3)?.long("K", 3)?.long("M", 3)?.long("JS", 3)?.long("KS", 3)?.long("MS", 3))
            .and_then(|d| d.long("bitsPerValue", 24))
            .and_then(|d| d.doubles("values", &spectrum))
            .and_then(|d| d.doubles("pv", &pv))
            .unwrap();
        let values: Vec<f64> = (0..84).map(|n| 1e-3 * (1.0 + (n as f64 * 0.3).sin())).collect();
        let rings = reduced(
            Draft::from_sample(&format!("reduced_gg_ml_{edition}")).unwrap().long("paramId", 133).unwrap(),
            &values,
        );
        let rings = rings
            .long("dataDate", 20211201)
            .and_then(|d| d.long("dataTime", 300))
            .and_then(|d| d.long("level", 1))
            .unwrap();
        let path = written.file(edition, &[waves.bytes().unwrap(), rings.bytes().unwrap()].concat());
        let file = GribFile::open(&path).unwrap();

        let entry = file.find(&wanted(138, "vo", Some(2), "2021-12-01T03:00:00Z")).unwrap();
        let field = file.field(entry).unwrap();
        assert_eq!(field.grid, GribGrid::Spectral { truncation: 3 });
        for (found, set) in field.values.iter().zip(&spectrum) {
            assert!((found - set).abs() < 1e-6, "{edition}: {found} {set}");
        }
        let levels = file.hybrid(entry).unwrap().unwrap();
        assert_eq!((levels.levels(), levels.b()), (2, &[0.0, 0.5, 1.0][..]));

        let entry = file.find(&wanted(133, "q", Some(1), "2021-12-01T03:00:00Z")).unwrap();
        let field = file.field(entry).unwrap();
        assert_eq!(field.grid, GribGrid::Gaussian { points: RINGS.map(|n| n as usize).to_vec() });
        for (found, set) in field.values.iter().zip(&values) {
            assert!((found - set).abs() < 1e-9, "{edition}: {found} {set}");
        }
    }
}

#[test]
fn axes_cross_the_meridian_and_gaps_are_refused() {
    let written = Written::new();
    let values: Vec<f64> = (0..40).map(|n| 250.0 + f64::from(n)).collect();
    let path = written.file("whole", &lat_lon(&values).bytes().unwrap());
    let file = GribFile::open(&path).unwrap();
    // A forecast of 5 hours from 18 UTC.
    let entry = file.find(&wanted(167, "2t", None, "2021-12-01T23:00:00Z")).unwrap();
    assert_eq!(entry.steps, [5, 5]);
    let field = file.field(entry).unwrap();
    let GribGrid::LatLon { longitudes, latitudes } = field.grid else { panic!("{:?}", field.grid) };
    let west = longitudes[0];
    assert!(west == 180.0 || west == -180.0);
    assert!((0..8).all(|i| (longitudes[i] - west - 45.0 * i as f64).abs() < 1e-9));
    assert_eq!(latitudes, [90.0, 45.0, 0.0, -45.0, -90.0]);
    assert!(field.values.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-4));

    let mut gaps = values.clone();
    gaps[17] = 9999.0;
    let draft = lat_lon(&values).double("missingValue", 9999.0).and_then(|d| d.long("bitmapPresent", 1)).unwrap();
    let path = written.file("gaps", &draft.doubles("values", &gaps).unwrap().bytes().unwrap());
    let file = GribFile::open(&path).unwrap();
    let error = file.field(&file.entries()[0]).unwrap_err();
    assert!(matches!(&error, GribError::Value { point: 18, points: 40, .. }), "{error}");
    assert!(error.to_string().contains("gaps: message 1 (2t): value 18 of 40 is missing"), "{error}");
    assert!(error.help().contains("without gaps"));
}

#[test]
fn grids_that_run_otherwise_are_refused() {
    let written = Written::new();
    let values = vec![1.0; 84];
    let q = || reduced(Draft::from_sample("reduced_gg_ml_grib2").unwrap().text("shortName", "q").unwrap(), &values);
    let cases = [
        (q().double("longitudeOfFirstGridPointInDegrees", 1.5), "start at 1.5 degrees east"),
        (q().double("latitudeOfFirstGridPointInDegrees", 60.0), "first ring lies at 60 degrees"),
        (q().long("jScansPositively", 1), "south to north"),
        (q().long("iScansNegatively", 1), "westwards"),
        (lat_lon(&[1.0; 40]).long("jPointsAreConsecutive", 1), "meridians first"),
    ];
    for (n, (draft, words)) in cases.into_iter().enumerate() {
        let path = written.file(&n.to_string(), &draft.unwrap().bytes().unwrap());
        let file = GribFile::open(&path).unwrap();
        let error = file.field(&file.entries()[0]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_field_is_found_by_forecast_and_only_once() {
    let written = Written::new();
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    let message = |base: i64, step: i64| {
        lat_lon(&values).long("dataTime", base).and_then(|d| d.long("step", step)).unwrap().bytes().unwrap()
    };
    // 18 UTC + 2 h and 6 UTC + 14 h hold at the same time.
    let path = written.file("two", &[message(1800, 2), message(600, 14), message(1800, 3)].concat());
    let file = GribFile::open(&path).unwrap();
    let error = file.find(&wanted(167, "2t", None, "2021-12-01T20:00:00Z")).unwrap_err();
    assert!(matches!(error, GribError::Twice { first: 1, second: 2, .. }), "{error}");
    let forecast = |base: &str, step| GribWanted {
        parameter: 167,
        name: "2t",
        level: None,
        time: GribTime::Forecast { base: time(base), step },
    };
    assert_eq!(file.find(&forecast("2021-12-01T06:00:00Z", 14)).unwrap().message, 2);
    assert_eq!(file.find(&forecast("2021-12-01T18:00:00Z", 2)).unwrap().message, 1);
    let error = file.find(&forecast("2021-12-01T18:00:00Z", 7)).unwrap_err().to_string();
    assert!(error.contains("no 2t of the forecast from 2021-12-01 18 UTC after 7 h"), "{error}");
    assert!(error.contains("3 messages of it; times: 2 of them, 2021-12-01 20 UTC to 2021-12-01 21 UTC"), "{error}");
    let error = file.find(&wanted(138, "vo", Some(4), "2021-12-01T20:00:00Z")).unwrap_err().to_string();
    assert!(error.contains("no vo on level 4") && error.contains("its parameters: 2t"), "{error}");
}

#[test]
fn damaged_files_are_refused_when_opened() {
    let written = Written::new();
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    let message = lat_lon(&values).bytes().unwrap();
    let short = written.file("short", &[&message[..], &message[..message.len() - 9]].concat());
    let error = GribFile::open(&short).unwrap_err();
    assert!(matches!(&error, GribError::Damaged { message: 2, .. }), "{error}");
    assert!(error.to_string().contains("short: message 2 at byte") && error.help().contains("cut short"), "{error}");
    let text = written.file("text", b"latitude,longitude\n");
    assert!(matches!(GribFile::open(&text).unwrap_err(), GribError::Empty { bytes: 19, .. }));
    let empty = written.file("empty", b"");
    assert!(matches!(GribFile::open(&empty).unwrap_err(), GribError::Empty { .. }));
    assert!(matches!(GribFile::open(written.folder.path()).unwrap_err(), GribError::Open { .. }));
    assert!(matches!(GribFile::open(&written.folder.path().join("none")).unwrap_err(), GribError::Open { .. }));
    // One longitude more, octets 7 and 8 of section 2, than there are values.
    let mut broken = message.clone();
    let section2 = 8 + usize::from(broken[9]) * 256 + usize::from(broken[10]);
    assert_eq!(broken[section2 + 6..section2 + 8], [0, 8]);
    broken[section2 + 7] = 9;
    let file = GribFile::open(&written.file("broken", &broken)).unwrap();
    let error = file.field(&file.entries()[0]).unwrap_err();
    assert!(error.to_string().contains("broken: message 1 (2t)"), "{error}");
}

/// Names are looked up once for each kind of message: kinds must not be mixed up.
#[test]
fn parameters_are_told_apart() {
    let written = Written::new();
    let upper = |parameter: i64, level: i64| {
        let sample = Draft::from_sample("reduced_gg_ml_grib2").unwrap();
        let template = if parameter > 235_000 { 8 } else { 0 };
        sample
            .long("productDefinitionTemplateNumber", template)
            .and_then(|d| d.long("paramId", parameter))
            .and_then(|d| d.long("level", level))
            .unwrap()
            .bytes()
            .unwrap()
    };
    let surface = |parameter: i64| lat_lon(&[1.0; 40]).long("paramId", parameter).unwrap().bytes().unwrap();
    let expected = [
        (133, 1),
        (130, 1),
        (133, 2),
        (138, 2),
        (155, 2),
        (235_009, 1),
        (235_010, 1),
        (235_009, 7),
        (235_012, 7),
        (130, 9),
    ];
    let ground = [167, 146, 159, 228_003, 147, 167, 134];
    let mut bytes: Vec<u8> = expected.iter().flat_map(|(parameter, level)| upper(*parameter, *level)).collect();
    ground.iter().for_each(|parameter| bytes.extend(surface(*parameter)));
    let file = GribFile::open(&written.file("all", &bytes)).unwrap();
    let found: Vec<(i64, i64)> = file.entries().iter().map(|e| (e.parameter.into(), e.level.into())).collect();
    assert_eq!(found[..expected.len()], expected);
    let found: Vec<i64> = found[expected.len()..].iter().map(|e| e.0).collect();
    assert_eq!(found, ground);
    let names: Vec<&str> = file.entries().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(names[..5], ["q", "t", "q", "vo", "d"]);
    assert_eq!(names[expected.len()..], ["2t", "sshf", "blh", "zust", "slhf", "2t", "sp"]);
}
