//! Physics of the reader against formulas.

use std::collections::BTreeMap;

use atmostr::closures::{ConvectiveFluxes, Drafts, LayerTemperature, drafts_from_fluxes, layer_thickness};
use atmostr::met::Section;
use atmostr::preprocess::readers::PhysicsGroup;
use atmostr::preprocess::readers::era5::Era5Reader;
use atmostr::preprocess::{LevelMap, MetReader, Stages, Target, Transform};

use crate::archive::{Archive, Atmosphere, LEVELS, STILL, day, rotation};
use crate::fluxes::{FLUXES, reader, target};

fn window(reader: &mut Era5Reader<'_>, n: usize) -> BTreeMap<Section, Vec<f64>> {
    reader.window(day(0), n, &mut Stages::default()).unwrap().physics.into_iter().collect()
}

/// Longitude and latitude of a cell in radian.
fn place(target: &Target, cell: usize) -> (f64, f64) {
    let nc = target.grid().nc();
    let panel = decomposition::Panel::ALL[cell / (nc * nc)];
    let (lon, lat) = target.grid().center_lonlat(panel, cell % nc, cell / nc % nc);
    (lon.to_radians(), lat.to_radians())
}

/// Means over cells of waves much longer than the cells; humidity is where GRIB has its points (pitfall T40-7): half a
/// spacing of 2.8 degrees or more, 0.025 of the wave's amplitude, would be seen.
#[test]
fn fields_are_where_they_belong() {
    let dir = tempfile::tempdir().unwrap();
    let waves = Atmosphere {
        vorticity: |_, _| rotation(20.0, 1.0),
        temperature: |_, _| vec![(0, 0, [250.0, 0.0]), (1, 1, [3.0, -4.0])],
        humidity: |_, _, lon, lat| 0.01 + 0.005 * lat.to_radians().cos() * (lon.to_radians() - 0.6).cos(),
        ..STILL
    };
    let archive = Archive { pairs: 32, ..Archive::new(dir.path(), waves) };
    archive.core(0, 0..2);
    let target = target(24);
    let mut reader = reader(&target, archive.source(&[PhysicsGroup::Vdiff]), FLUXES, 24);
    assert_eq!(reader.physics(), [Section::VdiffU, Section::VdiffV, Section::VdiffT, Section::VdiffQv]);
    let fields = window(&mut reader, 0);
    for cell in 0..target.cells() {
        let (lon, lat) = place(&target, cell);
        let expected = [
            (Section::VdiffU, 20.0 * (lat.cos() - lat.sin() * lon.cos()), 0.25),
            (Section::VdiffV, 20.0 * lon.sin(), 0.25),
            (Section::VdiffT, 250.0 + 2.0 * 1.5f64.sqrt() * lat.cos() * (3.0 * lon.cos() + 4.0 * lon.sin()), 0.1),
            (Section::VdiffQv, 0.01 + 0.005 * lat.cos() * (lon - 0.6).cos(), 5e-5),
        ];
        for (section, expected, most) in expected {
            let found = fields[&section][3 * target.cells() + cell];
            assert!((found - expected).abs() < most, "{section:?} in cell {cell}: {found} {expected}");
        }
    }
}

/// Every hour takes its own forecast, and the layers of both drafts what the closure makes of the column.
#[test]
fn convection_of_every_hour_comes_from_its_forecast() {
    let dir = tempfile::tempdir().unwrap();
    let hourly = Atmosphere {
        convection: |k, hours| {
            let grown = 1.0 + 0.1 * hours;
            STILL.convection(k).map(|v| v * grown)
        },
        humidity: |k, _, _, _| 0.002 * k as f64,
        ..STILL
    };
    let archive = Archive::new(dir.path(), hourly);
    archive.core(0, 0..24);
    archive.core(1, 0..1);
    archive.convection(-1);
    archive.convection(0);
    let target = target(2);
    let mut reader = reader(&target, archive.source(&[PhysicsGroup::Convection]), FLUXES, 24);
    assert_eq!(reader.physics(), [Section::Entu, Section::Detu, Section::Entd, Section::Detd]);
    for hour in [0, 5, 6, 17, 18, 23] {
        let fields = window(&mut reader, hour);
        let expected = column(1.0 + 0.1 * hour as f64);
        for (section, expected) in [Section::Entu, Section::Detu].into_iter().zip(expected) {
            for k in 0..LEVELS {
                for cell in 0..target.cells() {
                    let found = fields[&section][k * target.cells() + cell];
                    assert!(
                        (found - expected[k]).abs() < 1e-8,
                        "{section:?} hour {hour} layer {k}: {found} {}",
                        expected[k]
                    );
                }
            }
        }
        assert!([Section::Entd, Section::Detd].iter().all(|s| fields[s].iter().all(|v| *v == 0.0)));
    }
}

impl Atmosphere {
    fn convection(&self, k: usize) -> [f64; 4] {
        (self.convection)(k, 0.0)
    }
}

/// Entrainment and detrainment of the updraught of [`STILL`], `grown` times as strong.
fn column(grown: f64) -> [Vec<f64>; 2] {
    let coordinate = Archive::coordinate();
    let field = |f: usize| (0..LEVELS).map(|k| grown * STILL.convection(k)[f]).collect::<Vec<_>>();
    let edges: Vec<f64> = (0..=LEVELS).map(|k| coordinate.pressure_at(k, 1e5)).collect();
    let temperature: Vec<f64> = (0..LEVELS).map(|k| 220.0 + 15.0 * k as f64).collect();
    let humidity: Vec<f64> = (0..LEVELS).map(|k| 0.002 * k as f64).collect();
    let mut thickness = vec![0.0; LEVELS];
    let virtual_temperature = LayerTemperature::Virtual { temperature: &temperature, humidity: &humidity };
    layer_thickness(&edges, virtual_temperature, &mut thickness);
    let fluxes = ConvectiveFluxes {
        updraught: &field(0),
        downdraught: &field(1),
        updraught_detrainment: &field(2),
        downdraught_detrainment: &field(3),
        thickness: &thickness,
        humidity: Some(&humidity),
    };
    let [mut entu, mut detu, mut entd, mut detd] = [0; 4].map(|_| vec![0.0; LEVELS]);
    let mut drafts = Drafts { entu: &mut entu, detu: &mut detu, entd: &mut entd, detd: &mut detd };
    drafts_from_fluxes(&fluxes, &mut drafts).unwrap();
    [entu, detu]
}

/// Heat in J/m², downward, of the hour that ends at the time, becomes a flux upward in the hour before it.
#[test]
fn the_surface_is_that_of_the_window() {
    let hourly = Atmosphere {
        surface: |hours, _, lat| {
            let c = lat.to_radians().cos();
            [500.0 + hours, 0.2 + 0.01 * hours, -3600.0 * (10.0 + hours), -3600.0 * 2.0 * hours, 270.0 + 20.0 * c]
        },
        ..STILL
    };
    for netcdf in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let archive = Archive { netcdf, ..Archive::new(dir.path(), hourly) };
        archive.core(0, 0..1);
        archive.core(1, 0..1);
        archive.surface(0);
        archive.surface(1);
        archive.core(0, 0..24);
        let target = target(12);
        let mut reader = reader(&target, archive.source(&[PhysicsGroup::Surface]), FLUXES, 24);
        for hour in [0, 7, 23] {
            let (fields, h) = (window(&mut reader, hour), hour as f64);
            let constant = [
                (Section::Pblh, 500.0 + h),
                (Section::Ustar, 0.2 + 0.01 * h),
                (Section::SensibleHeatFlux, 10.0 + h + 1.0),
                (Section::LatentHeatFlux, 2.0 * (h + 1.0)),
            ];
            for (section, expected) in constant {
                assert!(fields[&section].iter().all(|v| (v / expected - 1.0).abs() < 1e-6), "{section:?} at {hour}");
            }
            for cell in 0..target.cells() {
                let (_, lat) = place(&target, cell);
                let found = fields[&Section::T2m][cell];
                assert!((found - 270.0 - 20.0 * lat.cos()).abs() < 1.0, "cell {cell}: {found}");
            }
        }
        // Three-hourly windows have the means of their hours.
        let mut reader = crate::fluxes::reader(&target, archive.source(&[PhysicsGroup::Surface]), FLUXES, 8);
        let fields = window(&mut reader, 2);
        assert!(fields[&Section::SensibleHeatFlux].iter().all(|v| (v - 18.0).abs() < 1e-4));
        assert!(fields[&Section::Pblh].iter().all(|v| (v - 507.0).abs() < 1e-3));
    }
}

/// Spec 40 §8, row "dkg": not negative, zero at the surface; on merged layers.
#[test]
fn exchange_is_on_the_layers_of_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let mixing = Atmosphere {
        vorticity: |k, _| rotation(5.0 + 4.0 * (LEVELS - k) as f64, 0.2),
        temperature: |k, _| vec![(0, 0, [[210.0, 215.0, 235.0, 265.0, 288.0][k], 0.0])],
        ..STILL
    };
    let archive = Archive::new(dir.path(), mixing);
    archive.core(0, 0..2);
    archive.surface(0);
    let target = target(4);
    let cells = target.cells();
    for transform in [Transform::Identity, Transform::MergeByIndex(vec![(1, 2), (3, 3), (4, 4), (5, 5)])] {
        let levels = LevelMap::new(&transform, &Archive::coordinate()).unwrap().levels();
        let source = archive.source(&[PhysicsGroup::Tm5Exchange]);
        let mut reader = Era5Reader::new(&target, source, None, &transform, FLUXES, 24, day(0)).unwrap();
        let dkg = &window(&mut reader, 0)[&Section::Dkg];
        assert_eq!(dkg.len(), levels * cells);
        assert!(dkg.iter().all(|v| *v >= 0.0 && v.is_finite()));
        assert!(dkg[(levels - 1) * cells..].iter().all(|v| *v == 0.0));
        assert!(dkg[(levels - 2) * cells..(levels - 1) * cells].iter().all(|v| *v > 0.0));
    }
}
