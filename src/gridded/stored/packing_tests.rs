use netcdf::{AttributeValue, NcTypeDescriptor};
use proptest::prelude::*;

use super::*;

type Attributes = Vec<(&'static str, AttributeValue)>;

/// The packing of a variable of this type with these attributes.
fn packing<T: NcTypeDescriptor>(attributes: &Attributes) -> Result<Packing, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut file = netcdf::create(folder.path().join("p.nc")).unwrap();
    file.add_dimension("x", 1).unwrap();
    let mut variable = file.add_variable::<T>("q", &["x"]).unwrap();
    for (key, value) in attributes {
        variable.put_attribute(key, value.clone()).unwrap();
    }
    Packing::of(&variable)
}

/// What numbers stand for; NaN where they are missing.
fn values<T: NcTypeDescriptor>(attributes: Attributes, stored: &[f64]) -> Vec<f64> {
    let mut values = stored.to_vec();
    packing::<T>(&attributes).unwrap().unpack_all(&mut values).unwrap();
    values
}

fn same(found: &[f64], expected: &[f64]) {
    let fits = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(fits), "{found:?}, expected {expected:?}");
}

const NAN: f64 = f64::NAN;

/// NetCDF users guide, attribute conventions: `valid_range` is of the type of the packed data, or of unpacked values if it
/// is of their wider type.
#[test]
fn valid_ranges_are_of_stored_numbers_or_of_values() {
    let packed =
        |more: Attributes| [vec![("scale_factor", 0.5f32.into()), ("add_offset", 10f32.into())], more].concat();
    let stored = [-2.0, 0.0, 100.0, 101.0];
    same(&values::<i16>(packed(vec![("valid_range", vec![0i16, 100].into())]), &stored), &[NAN, 10.0, 60.0, NAN]);
    same(&values::<i16>(packed(vec![("valid_range", vec![10f32, 60.0].into())]), &stored), &[NAN, 10.0, 60.0, NAN]);
    same(&values::<i16>(packed(vec![("valid_min", 0i16.into())]), &stored), &[NAN, 10.0, 60.0, 60.5]);
    same(&values::<i16>(packed(vec![("valid_max", 60f64.into())]), &stored), &[9.0, 10.0, 60.0, NAN]);
    // Not packed: numbers as they are, in single precision as the variable keeps them.
    same(&values::<f32>(vec![("valid_max", 0.1f64.into())], &[0.1f32.into(), 0.2]), &[0.1f32.into(), NAN]);
    same(&values::<f64>(vec![("valid_range", vec![0f32, 1.0].into())], &[-1.0, 0.5, 2.0]), &[NAN, 0.5, NAN]);
    // Packed floating-point numbers: of their own type for stored ones, of the wider type for values.
    let doubled = |more: Attributes| [vec![("scale_factor", 2f64.into())], more].concat();
    same(&values::<f32>(doubled(vec![("valid_max", 3f32.into())]), &[3.0, 4.0]), &[6.0, NAN]);
    same(&values::<f32>(doubled(vec![("valid_max", 3f64.into())]), &[1.5, 2.0]), &[3.0, NAN]);
}

/// NetCDF users guide, attribute conventions: `_Unsigned`.
#[test]
fn signs_of_integers_are_those_stated() {
    let unsigned = |more: Attributes| [vec![("_Unsigned", "true".into())], more].concat();
    same(&values::<i8>(unsigned(vec![]), &[-1.0, -128.0, 127.0]), &[255.0, 128.0, 127.0]);
    same(&values::<i16>(unsigned(vec![]), &[-1.0]), &[65_535.0]);
    same(&values::<i32>(unsigned(vec![("scale_factor", 0.5f64.into())]), &[-2.0]), &[2_147_483_647.0]);
    same(&values::<i8>(unsigned(vec![("_FillValue", (-1i8).into())]), &[-1.0, -2.0]), &[NAN, 254.0]);
    let range = unsigned(vec![("valid_range", vec![0i8, -56].into())]);
    same(&values::<i8>(range, &[10.0, -56.0, -55.0]), &[10.0, 200.0, NAN]);
    same(&values::<u8>(vec![("_Unsigned", "false".into())], &[255.0, 127.0]), &[-1.0, 127.0]);
    same(&values::<u8>(unsigned(vec![]), &[255.0]), &[255.0]);
    for (attributes, part) in [
        (vec![("_Unsigned", "maybe".into())], "\"maybe\", expected \"true\" or \"false\""),
        (unsigned(vec![]), "it holds no integers"),
    ] {
        let problem = packing::<f32>(&attributes).unwrap_err();
        assert!(problem.contains("'_Unsigned' of 'q'") && problem.contains(part), "{problem}");
    }
}

#[test]
fn attributes_without_sense_are_refused() {
    let cases: Vec<(Attributes, &str)> = vec![
        (vec![("scale_factor", 0f64.into())], "'scale_factor' of 'q' is 0"),
        (vec![("scale_factor", (-0f32).into())], "'scale_factor' of 'q' is -0"),
        (vec![("scale_factor", f64::NAN.into())], "'scale_factor' of 'q' is NaN"),
        (vec![("scale_factor", f32::INFINITY.into())], "'scale_factor' of 'q' is inf"),
        (vec![("add_offset", f64::NEG_INFINITY.into())], "'add_offset' of 'q' is -inf"),
        (vec![("add_offset", vec![1f64, 2.0].into())], "'add_offset' of 'q' has 2 numbers"),
        (vec![("scale_factor", "half".into())], "'scale_factor' of 'q' is not a number"),
        (vec![("valid_range", 1f64.into())], "'valid_range' of 'q' has 1 numbers, expected two"),
        (vec![("valid_range", vec![3i16, 1].into())], "runs from 3 to 1"),
        (vec![("valid_min", 3i16.into()), ("valid_max", 1i16.into())], "runs from 3 to 1"),
        (vec![("valid_max", f64::NAN.into())], "'valid_max' of 'q' is NaN"),
    ];
    for (attributes, part) in cases {
        let problem = packing::<i16>(&attributes).unwrap_err();
        assert!(problem.contains(part), "{part:?} not in {problem}");
    }
}

#[test]
fn faults_name_number_place_and_remedy() {
    let of = |attributes: Attributes, stored: f64| {
        let fault = packing::<f32>(&attributes).unwrap().unpack(&mut [1.0, stored]).unwrap_err();
        assert_eq!(fault.at, 1);
        (fault.problem("q", "level 2"), fault.help())
    };
    let (problem, help) = of(vec![("missing_value", vec![-9f32, 9.0].into())], 9.0);
    assert!(problem.ends_with("'q' has no value at level 2: 9") && help.contains("every cell"), "{problem}; {help}");
    let (problem, help) = of(vec![("valid_range", vec![0f32, 5.0].into())], 9.0);
    assert!(
        problem.ends_with("9 is outside its valid range 0 to 5") && help.contains("valid_range"),
        "{problem}; {help}"
    );
    let (problem, help) = of(vec![], f64::NEG_INFINITY);
    assert!(problem.ends_with("'q' is -inf at level 2") && help.contains("count as missing"), "{problem}; {help}");
    let (problem, _) = of(vec![("scale_factor", 1e300f64.into())], 1e30);
    assert!(problem.contains("overflows when it is unpacked"), "{problem}");
}

proptest! {
    /// What is infinite is never taken for missing, unless the file says that it is.
    #[test]
    fn infinite_numbers_are_errors(at in 0usize..9, sign in prop::bool::ANY, limits in prop::bool::ANY) {
        let infinite = if sign { f64::INFINITY } else { f64::NEG_INFINITY };
        let attributes: Attributes = match limits {
            true => vec![("valid_range", vec![-1e9f64, 1e9].into()), ("_FillValue", 5f64.into())],
            false => vec![],
        };
        let mut stored = vec![1.0; 9];
        stored[at] = infinite;
        let packing = packing::<f64>(&attributes).unwrap();
        let fault = packing.unpack_all(&mut stored.clone()).unwrap_err();
        prop_assert!(fault.at == at && fault.fault == Fault::Infinite);
        prop_assert_eq!(packing.unpack(&mut stored).unwrap_err(), fault);
    }
}
