//! Header rules: every key, one corruption at a time.

use serde_json::{Map, Value, json};

use super::super::schema::{KEYS, Kind, Presence};
use super::super::seal;
use super::*;

fn all_sections() -> Vec<Section> {
    Section::ALL.to_vec()
}

/// A header with every optional section, a variable schedule and all extra keys of this writer.
fn full() -> Map<String, Value> {
    let spec = HeaderSpec {
        sections: all_sections(),
        steps: vec![2, 5],
        start_time_utc: Some("2021-12-01T00:00:00Z".parse().unwrap()),
        header_bytes: 16384,
        ..spec(3, 2, PanelConvention::GeosNative, 2)
    };
    spec.encode(Some(&[1, 2])).unwrap().0.json().clone()
}

/// Parses a header whose checksum, if it has one, is right.
fn parse(map: &Map<String, Value>) -> Result<Header, HeaderError> {
    let mut map = map.clone();
    if map.get(seal::KEY).is_some_and(|stated| stated.as_str().is_some_and(|text| text.len() == seal::BLANK.len())) {
        map.insert(seal::KEY.into(), json!(seal::BLANK));
        let sum = seal::of(Value::Object(map.clone()).to_string().as_bytes()).unwrap();
        map.insert(seal::KEY.into(), json!(sum));
    }
    parse_as_it_is(&map)
}

fn parse_as_it_is(map: &Map<String, Value>) -> Result<Header, HeaderError> {
    let mut bytes = Value::Object(map.clone()).to_string().into_bytes();
    bytes.push(0);
    parse_header_bytes(&bytes)
}

#[test]
fn headers_that_were_changed_are_refused() {
    let map = full();
    parse_as_it_is(&map).unwrap();
    let text = Value::Object(map.clone()).to_string();
    let stated = map[seal::KEY].as_str().unwrap();
    // The definition: zeros in place of the digits.
    assert_eq!(format!("{:08x}", crc32c::crc32c(text.replace(stated, "00000000").as_bytes())), stated);
    let altered = |key: &str, value: Value| {
        let mut map = map.clone();
        map.insert(key.into(), value);
        let error = parse_as_it_is(&map).unwrap_err();
        assert!(
            matches!(error, HeaderError::Altered { .. }) && error.to_string().contains(seal::KEY),
            "{key}: {error}"
        );
    };
    altered("planet_radius_m", json!(6_371_228.0));
    altered("git_commit", json!("another"));
    altered("unknown", json!(1));
    altered(seal::KEY, json!("0123abcd"));
    altered(seal::KEY, json!("short"));
    // Another writing of the same values is another text.
    let mut spaced = text.replace(':', ": ").into_bytes();
    spaced.push(0);
    assert!(matches!(parse_header_bytes(&spaced), Err(HeaderError::Altered { .. })));
}

/// Refused, and the message names the key.
fn assert_refused(map: &Map<String, Value>, key: &str, what: &str) {
    let error = parse(map).expect_err(what);
    assert!(!error.violations().is_empty(), "{what}: {error}");
    assert!(error.to_string().contains(key), "{what}: message does not name `{key}`: {error}");
}

#[test]
fn the_full_header_is_valid_and_round_trips() {
    let map = full();
    let header = parse(&map).unwrap();
    assert_eq!(header.json(), &map);
    assert_eq!(header.sections(), all_sections());
    assert_eq!(header.steps(), [2, 5]);
    assert_eq!(header.crc32c(), Some(&[1, 2][..]));
    assert_eq!(header.start_time_utc().unwrap().to_string(), "2021-12-01T00:00:00Z");
    assert_eq!(header.check_runnable(), []);
    // 10/3 has no short decimal form: coefficients come back bit for bit.
    assert_eq!(header.a_ifc()[1].to_bits(), (10.0f64 / 3.0).to_bits());
}

#[test]
fn every_known_key_is_written() {
    let map = full();
    for key in KEYS {
        assert!(map.contains_key(key.name), "{}", key.name);
    }
}

#[test]
fn required_keys_cannot_be_missing_and_others_can() {
    for key in KEYS {
        let mut map = full();
        map.shift_remove(key.name);
        match key.presence {
            Presence::Required => assert_refused(&map, key.name, key.name),
            Presence::Optional => assert!(parse(&map).is_ok(), "{}: {:?}", key.name, parse(&map)),
        }
    }
}

#[test]
fn every_key_refuses_every_other_type() {
    for key in KEYS {
        let wrong: Vec<Value> = [
            json!(null),
            json!(true),
            json!("text"),
            json!(3),
            json!(-3),
            json!(2.5),
            json!([]),
            json!([null]),
            json!(["m"]),
            json!([1.5]),
            json!({}),
        ]
        .into_iter()
        .filter(|v| match key.kind {
            Kind::Count | Kind::Positive => v != &json!(3),
            Kind::Number | Kind::PositiveNumber => !(v == &json!(3) || v == &json!(2.5)) && v != &json!(-3),
            Kind::Text => !v.is_string(),
            Kind::Flag => !v.is_boolean(),
            Kind::Texts => v != &json!(["m"]),
            Kind::Numbers => v != &json!([1.5]),
            Kind::Positives | Kind::Words => true,
        })
        .collect();
        for value in wrong {
            let mut map = full();
            map.insert(key.name.to_string(), value.clone());
            assert_refused(&map, key.name, &format!("{} = {value}", key.name));
        }
    }
}

#[test]
fn integers_are_not_written_as_floats() {
    for key in KEYS.iter().filter(|k| matches!(k.kind, Kind::Count | Kind::Positive)) {
        let mut map = full();
        let float = map[key.name].as_u64().unwrap() as f64;
        map.insert(key.name.to_string(), json!(float));
        assert_refused(&map, key.name, &format!("{} = {float:?}", key.name));
    }
    let mut map = full();
    map.insert("steps_per_window_by_window".to_string(), json!([2.0, 5]));
    assert_refused(&map, "steps_per_window_by_window", "float steps");
}

#[test]
fn wrong_values_are_refused() {
    let table: Vec<(&str, Value)> = vec![
        ("magic", json!("mflx")),
        ("magic", json!("MFLX ")),
        ("format_version", json!(3)),
        ("format_version", json!(5)),
        ("format_version", json!("4")),
        ("format_version", json!(4.0)),
        ("header_bytes", json!(100)),
        ("header_bytes", json!(u64::MAX)),
        ("float_type", json!("Float16")),
        ("float_type", json!("Float64")),
        ("float_bytes", json!(8)),
        ("grid_type", json!("latlon")),
        ("grid_type", json!("reduced_gaussian")),
        ("horizontal_topology", json!("Unstructured")),
        ("planet_radius_m", json!(0.0)),
        ("planet_radius_m", json!(-6.4e6)),
        ("ncell", json!(53)),
        ("nface_h", json!(145)),
        ("nlevel", json!(3)),
        ("nlevel", json!(u64::MAX)),
        ("nwindow", json!(3)),
        ("nwindow", json!(u64::MAX)),
        ("Nc", json!(4)),
        ("Nc", json!(u64::MAX)),
        ("npanel", json!(5)),
        ("Hp", json!(1)),
        ("panel_convention", json!("gnomonic")),
        ("panel_convention", json!("fv3")),
        ("cs_definition", json!("equiangular_gnomonic")),
        ("cs_coordinate_law", json!("equiangular_gnomonic")),
        ("cs_center_law", json!("angular_midpoint")),
        ("vertical_coordinate_type", json!("height")),
        ("A_ifc", json!([0.0, 1.0])),
        ("B_ifc", json!([0.0, 0.5, 0.7, 1.0])),
        ("payload_sections", json!([])),
        ("elems_per_window", json!(1)),
        ("n_geometry_elems", json!(1)),
        ("dt_met_seconds", json!(0)),
        ("half_dt_seconds", json!(-1800.0)),
        ("steps_per_window", json!(2)),
        ("steps_per_window_by_window", json!([5])),
        ("steps_per_window_by_window", json!([0, 5])),
        ("steps_per_window_by_window", json!([2, 5_000_000_000u64])),
        ("time_step_schedule", json!("constant")),
        ("time_step_schedule", json!("adaptive")),
        ("flux_kind", json!("full_window_mass_amount")),
        ("flux_kind", json!("mass_rate")),
        ("flux_sampling", json!("interval_integrated")),
        ("source_flux_sampling", json!("window_constant")),
        ("air_mass_sampling", json!("window_mean")),
        ("humidity_sampling", json!("window_endpoints")),
        ("delta_semantics", json!("none")),
        ("poisson_balance_target_scale", json!(1.0)),
        ("poisson_balance_target_scale_by_window", json!([0.25])),
        ("poisson_balance_target_scale_by_window", json!([0.25, 0.1000001])),
        ("poisson_balance_target_semantics", json!("forward_window_mass_difference")),
        ("poisson_balance_target_semantics", json!("forward_window_mass_difference / (2 * steps_per_window)")),
        ("mass_basis", json!("wet")),
        ("mass_basis", json!("moist")),
        ("runtime_substep_contract", json!("constant_steps")),
        ("include_qv_endpoints", json!(true)),
        ("include_flux_delta", json!(false)),
        ("n_qv_start", json!(1)),
        ("n_qv_end", json!(1)),
        ("include_surface", json!(false)),
        ("surface_payload", json!("none")),
        ("include_cmfmc", json!(false)),
        ("include_dtrain", json!(false)),
        ("include_tm5conv", json!(false)),
        ("include_gchp_vdiff", json!(false)),
        ("gchp_vdiff_payload", json!("none")),
        ("include_precomputed_dkg", json!(false)),
        ("precomputed_dkg_payload", json!("tm5")),
        ("cmfmc_cloud_base_payload", json!("none")),
        ("byte_order", json!("big")),
        ("start_time_utc", json!("yesterday")),
        ("start_time_utc", json!("2021-12-01T00:00:00+01:00")),
        ("payload_crc32c_by_window", json!([1])),
        ("payload_crc32c_by_window", json!([1, 4_294_967_296u64])),
    ];
    for (key, value) in table {
        let mut map = full();
        map.insert(key.to_string(), value.clone());
        assert_refused(&map, key, &format!("{key} = {value}"));
    }
}

/// Section lists and what their message must contain.
#[test]
fn section_coupling_is_checked() {
    let core = ["m", "am", "bm", "cm", "ps"];
    let surface = ["pblh", "ustar", "pbl_hflux", "t2m"];
    let mut table: Vec<(Vec<&str>, &str)> = vec![
        (core.iter().chain(&["dtrain"]).copied().collect(), "\"dtrain\" needs cmfmc"),
        (core.iter().chain(&["cmfmc_cloud_base"]).copied().collect(), "\"cmfmc_cloud_base\" needs cmfmc"),
        (core.iter().chain(&["pbl_eflux"]).copied().collect(), "\"pbl_eflux\" needs pblh"),
        (core.iter().chain(&["am"]).copied().collect(), "\"am\" twice"),
        (core.iter().chain(&["AM"]).copied().collect(), "\"am\" twice"),
        (core.iter().chain(&["rain"]).copied().collect(), "\"rain\" is unknown"),
    ];
    for foreign in ["kz", "qv", "qv_start", "hflux", "dam"] {
        table.push((core.iter().copied().chain([foreign]).collect(), "not legal on the cubed sphere"));
    }
    for missing in core {
        table.push((core.into_iter().filter(|s| *s != missing).collect(), "missing"));
    }
    for group in [&surface, &["entu", "detu", "entd", "detd"], &["vdiff_u", "vdiff_v", "vdiff_t", "vdiff_qv"]] {
        for missing in group {
            table.push((core.iter().chain(group).filter(|s| *s != missing).copied().collect(), missing));
        }
    }
    for (sections, text) in table {
        let mut map = full();
        map.insert("payload_sections".to_string(), json!(sections));
        let error = parse(&map).expect_err(&format!("{sections:?}")).to_string();
        assert!(error.contains("`payload_sections`") && error.contains(text), "{sections:?}: {error}");
    }
}

#[test]
fn symbols_are_normalised() {
    let mut map = full();
    for (key, value) in [
        ("grid_type", "Cubed-Sphere"),
        ("horizontal_topology", "structureddirectional"),
        ("panel_convention", "GEOS native"),
        ("flux_kind", "Substep-Mass-Amount"),
        ("mass_basis", "DRY"),
        ("time_step_schedule", "per window"),
        ("runtime_substep_contract", "BINARY_SCHEDULE"),
    ] {
        map.insert(key.to_string(), json!(value));
    }
    let names: Vec<String> = Section::ALL.iter().map(|s| s.name().to_uppercase()).collect();
    map.insert("payload_sections".to_string(), json!(names));
    assert_eq!(parse(&map).unwrap().sections(), all_sections());
}

#[test]
fn several_violations_are_reported_together() {
    let mut map = full();
    for key in ["npanel", "mass_basis", "A_ifc"] {
        map.shift_remove(key);
    }
    map.insert("flux_sampling".to_string(), json!("sometimes"));
    let error = parse(&map).unwrap_err();
    let keys: Vec<&str> = error.violations().iter().map(|v| v.key.as_str()).collect();
    assert_eq!(keys, ["npanel", "A_ifc", "mass_basis", "flux_sampling"]);
}

#[test]
fn radius_defaults_and_unknown_keys_stay() {
    let mut map = full();
    map.shift_remove(seal::KEY);
    map.shift_remove("planet_radius_m");
    map.insert("ps_offsets_pa_per_window".to_string(), json!([1, null, {"a": "b"}]));
    let header = parse(&map).unwrap();
    assert_eq!((header.stated_radius_m(), header.radius_m()), (None, 6_371_000.0));
    let extra: Vec<&str> = header.extra_keys().map(|(k, _)| k).collect();
    assert_eq!(extra, ["ps_offsets_pa_per_window"]);
    assert_eq!(header.json(), &map);
}

#[test]
fn text_around_the_json_is_checked() {
    let text = Value::Object(full()).to_string();
    let parse = |bytes: &[u8]| parse_header_bytes(bytes).unwrap_err();
    assert!(matches!(parse(text.as_bytes()), HeaderError::Unterminated { .. }));
    assert!(matches!(parse(b"\0"), HeaderError::Empty));
    assert!(matches!(parse(b""), HeaderError::Unterminated { .. }));
    assert!(matches!(parse(b"[1]\0"), HeaderError::Json(_)));
    assert!(matches!(parse(b"{\"magic\":\"\xff\"}\0"), HeaderError::Json(_)));
    assert!(matches!(parse(&vec![b' '; MAX_JSON_BYTES]), HeaderError::TooLong { .. }));
    let twice = text.replacen('{', "{\"magic\":\"MFLX\",", 1) + "\0";
    assert!(parse(twice.as_bytes()).to_string().contains("`magic` appears twice"));
    let trailing = text.clone() + "{}\0";
    assert!(matches!(parse(trailing.as_bytes()), HeaderError::Json(_)));
    let deep = "[".repeat(100_000) + "\0";
    assert!(matches!(parse(deep.as_bytes()), HeaderError::Json(_)));
}

#[test]
fn sizes_that_overflow_are_refused() {
    let mut map = full();
    let huge = [
        (1u64 << 31, 1u64 << 40, "too many to count"),
        (u64::MAX, u64::MAX, "too many to count"),
        (3, u64::MAX - 1, "too large to address"),
        (3, u64::MAX, "too large to address"),
    ];
    for (nc, nlevel, text) in huge {
        map.insert("Nc".to_string(), json!(nc));
        map.insert("nlevel".to_string(), json!(nlevel));
        assert_refused(&map, text, text);
    }
}

#[test]
fn flux_scales_follow_the_kind() {
    let mut spec = HeaderSpec { steps: vec![2, 8], ..spec(2, 2, PanelConvention::Gnomonic, 2) };
    let header = spec.header().unwrap();
    assert_eq!((header.flux_scale(1), header.window_scale(1)), (1.0, 16.0));
    spec.flux_kind = FluxKind::FullWindowMassAmount;
    let header = spec.header().unwrap();
    assert_eq!((header.flux_scale(0), header.flux_scale(1), header.window_scale(1)), (0.25, 0.0625, 1.0));
    assert_eq!(header.json()["poisson_balance_target_semantics"], json!("forward_window_mass_difference"));
}

#[test]
fn reasons_against_running() {
    let spec = HeaderSpec {
        flux_sampling: FluxSampling::WindowMean,
        mass_basis: MassBasis::Moist,
        ..spec(2, 2, PanelConvention::Gnomonic, 1)
    };
    let keys: Vec<String> = spec.header().unwrap().check_runnable().into_iter().map(|v| v.key).collect();
    assert_eq!(keys, ["flux_sampling", "mass_basis"]);
}

#[test]
fn a_description_cannot_contradict_itself() {
    let base = spec(2, 2, PanelConvention::Gnomonic, 1);
    let refused = |spec: HeaderSpec, key: &str| {
        let error = spec.header().unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    };
    refused(HeaderSpec { nc: 0, ..base.clone() }, "Nc");
    refused(HeaderSpec { nc: usize::MAX, ..base.clone() }, "Nc");
    refused(HeaderSpec { radius_m: f64::NAN, ..base.clone() }, "planet_radius_m");
    refused(HeaderSpec { b_ifc: vec![0.0], ..base.clone() }, "B_ifc");
    refused(HeaderSpec { a_ifc: vec![f64::INFINITY, 0.0, 0.0], ..base.clone() }, "A_ifc");
    refused(HeaderSpec { steps: vec![], ..base.clone() }, "nwindow");
    refused(HeaderSpec { sections: vec![Section::AirMass], ..base.clone() }, "payload_sections");
    let extra: Map<String, Value> = [("Nc".to_string(), json!(2))].into_iter().collect();
    refused(HeaderSpec { extra, ..base.clone() }, "Nc");
    let extra: Map<String, Value> = [("git_commit".to_string(), json!("abc"))].into_iter().collect();
    assert_eq!(HeaderSpec { extra, ..base }.header().unwrap().json()["git_commit"], json!("abc"));
}
