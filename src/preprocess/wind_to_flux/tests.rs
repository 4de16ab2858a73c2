use super::*;
use crate::grid::GeometryBundle;
use crate::grid::vector::{cross, dot, normalise, scale, subtract};

const RADIUS_M: f64 = 6_371_229.0;

fn setup(nc: usize, bundle: GeometryBundle) -> (CubedSphere, FaceTable, FaceGeometry) {
    let grid = CubedSphere::new(nc, bundle, bundle.default_offset_deg(), RADIUS_M).unwrap();
    let faces = FaceTable::new(nc, grid.convention());
    let geometry = FaceGeometry::new(&grid, &faces);
    (grid, faces, geometry)
}

/// Components of a vector field at the cell centres.
fn at_centers(geometry: &FaceGeometry, field: impl Fn([f64; 3]) -> [f64; 3]) -> [Vec<f64>; 3] {
    std::array::from_fn(|c| geometry.centers().iter().map(|center| field(*center)[c]).collect())
}

fn apply(operator: &WindToFlux, wind: &[Vec<f64>; 3], thickness: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; operator.scale.len()];
    operator.fluxes([&wind[0], &wind[1], &wind[2]], thickness, &mut out);
    out
}

/// Flux of the flow with stream function ψ (m²/s over the radius) between the ends of every face: V = x × ∇ψ.
fn exact(geometry: &FaceGeometry, psi: impl Fn([f64; 3]) -> f64) -> Vec<f64> {
    let sense = |arc: &super::super::FaceArc| dot(cross(arc.a, arc.b), arc.normal).signum();
    geometry.arcs().iter().map(|arc| sense(arc) * (psi(arc.b) - psi(arc.a))).collect()
}

/// Largest magnitude and root mean square.
fn norms(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (mut largest, mut squares, mut count) = (0.0f64, 0.0, 0);
    for value in values {
        largest = largest.max(value.abs());
        squares += value * value;
        count += 1;
    }
    (largest, (squares / f64::from(count)).sqrt())
}

/// Divergence over the largest flux (largest, root mean square): of the cells away from panel edges by at least `depth`
/// rows, and of those at the edges.
fn divergence(faces: &FaceTable, flux: &[f64], depth: usize) -> [(f64, f64); 2] {
    let nc = faces.nc();
    let mut out = vec![0.0; faces.cells()];
    faces.divergence(flux, &mut out);
    let (largest, _) = norms(flux.iter().copied());
    let rows = |cell: usize| {
        let (i, j) = (cell % nc, cell / nc % nc);
        i.min(j).min(nc - 1 - i).min(nc - 1 - j)
    };
    let of = |chosen: &dyn Fn(usize) -> bool| {
        norms(out.iter().enumerate().filter(|(cell, _)| chosen(rows(*cell))).map(|(_, d)| d / largest))
    };
    [of(&|rows| rows >= depth), of(&|rows| rows == 0)]
}

fn axes() -> [[f64; 3]; 4] {
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.3, -0.8, 0.5], [1.0, 1.0, 1.0]].map(normalise)
}

/// Rigid rotations have the exact fluxes, hence no divergence, in all cells: the bars of acceptance at C48 are 3.75e-7
/// inside panels and 1e-5 at seams.
#[test]
fn rigid_rotation_has_no_divergence() {
    for bundle in GeometryBundle::ALL {
        let (grid, faces, geometry) = setup(48, bundle);
        for interpolation in FaceInterpolation::ALL {
            let operator = WindToFlux::new(&grid, &faces, FaceFluxes::Vector(*interpolation));
            for axis in axes() {
                let wind = at_centers(&geometry, |x| scale(cross(axis, x), 40.0));
                let flux = apply(&operator, &wind, &vec![1500.0; faces.cells()]);
                let [inside, seam] = divergence(&faces, &flux, 1);
                assert!(inside.0 < 1e-13 && seam.0 < 1e-13, "{interpolation:?} {inside:?} {seam:?}");
                // Ω × x = x × ∇(−Ω·x).
                let exact = exact(&geometry, |x| -40.0 * dot(axis, x) * RADIUS_M * 1500.0 / GRAVITY);
                let (largest, _) = norms(exact.iter().copied());
                let (error, _) = norms(flux.iter().zip(&exact).map(|(a, b)| a - b));
                assert!(error < 1e-12 * largest, "{error} of {largest}");
            }
        }
    }
}

/// Interpolation by distance and along the seams alone, with the lengths of the arcs: root mean squares at C90 as
/// measured for other models, 2e-7 inside panels and 5e-6 at seams.
#[test]
fn interpolation_alone_is_accurate() {
    let (_, faces, geometry) = setup(90, GeometryBundle::GeosNative);
    let (mut winds, _) = VectorWinds::new(&faces, &geometry, FaceInterpolation::Linear);
    winds.without_shifts();
    for axis in axes() {
        let wind = at_centers(&geometry, |x| cross(axis, x));
        let mut flux = vec![0.0; faces.faces()];
        winds.normal_winds(&faces, [&wind[0], &wind[1], &wind[2]], &mut flux);
        flux.iter_mut().zip(geometry.arcs()).for_each(|(flux, arc)| *flux *= arc.length);
        let [inside, seam] = divergence(&faces, &flux, 1);
        assert!((0.5e-7..2e-7).contains(&inside.1), "{inside:?}");
        assert!((2e-6..5e-6).contains(&seam.1), "{seam:?}");
    }
}

/// Panel averages, for comparison with older models: root mean squares at C90 of 1e-4 inside panels and 4e-3 at seams.
#[test]
fn panel_averages_are_as_rough_as_known() {
    let (grid, faces, geometry) = setup(90, GeometryBundle::GeosNative);
    for (lengths, inside_bars) in [(FaceLengths::CellCenterline, 5e-5..2e-4), (FaceLengths::Edge, 5e-7..2e-6)] {
        let operator = WindToFlux::new(&grid, &faces, FaceFluxes::PanelAverage(lengths));
        assert_eq!(operator.choice(), FaceFluxes::PanelAverage(lengths));
        let wind = at_centers(&geometry, |x| cross([0.0, 0.0, 30.0], x));
        let flux = apply(&operator, &wind, &vec![1000.0; faces.cells()]);
        let [inside, seam] = divergence(&faces, &flux, 1);
        assert!(inside_bars.contains(&inside.1), "{lengths:?} {inside:?}");
        assert!((1e-3..6e-3).contains(&seam.1), "{lengths:?} {seam:?}");
        let exact = exact(&geometry, |x| -30.0 * x[2] * RADIUS_M * 1000.0 / GRAVITY);
        let (largest, _) = norms(exact.iter().copied());
        let (error, _) = norms(flux.iter().zip(&exact).map(|(a, b)| a - b));
        assert!(error < 0.02 * largest, "{error} of {largest}");
    }
}

/// Stream function of two planetary waves, and its gradient times the radius.
fn wave(x: [f64; 3]) -> (f64, [f64; 3]) {
    let [x, y, z] = x;
    let (re, im) = (x * x - y * y, 2.0 * x * y);
    let re4 = re * re - im * im;
    // ∂/∂x (x + iy)⁴ = 4 (x + iy)³, ∂/∂y = 4i (x + iy)³.
    let (re3, im3) = (re * x - im * y, re * y + im * x);
    let psi = re4 * z + 0.5 * y * z;
    (psi, [4.0 * re3 * z, -4.0 * im3 * z + 0.5 * z, re4 + 0.5 * y])
}

/// Fluxes and their divergence converge with the square of the spacing and faster, at seams as well.
#[test]
fn planetary_waves_converge() {
    for bundle in GeometryBundle::ALL {
        for interpolation in FaceInterpolation::ALL {
            let errors = [16, 32].map(|nc| {
                let (grid, faces, geometry) = setup(nc, bundle);
                let operator = WindToFlux::new(&grid, &faces, FaceFluxes::Vector(*interpolation));
                let wind = at_centers(&geometry, |x| cross(x, wave(x).1));
                let flux = apply(&operator, &wind, &vec![GRAVITY / RADIUS_M; faces.cells()]);
                let exact = exact(&geometry, |x| wave(x).0);
                let (largest, _) = norms(exact.iter().copied());
                let error =
                    |range: std::ops::Range<usize>| norms(range.map(|face| (flux[face] - exact[face]) / largest)).1;
                let [inside, seam] = divergence(&faces, &flux, interpolation.uniform_depth());
                let seam_faces = faces.inside()..faces.faces();
                [error(0..faces.inside()), error(seam_faces), inside.1, seam.1]
            });
            let ratio = |n: usize| errors[0][n] / errors[1][n];
            assert!(errors[1].iter().all(|e| *e < 1e-2), "{errors:?}");
            assert!(ratio(0) > 3.3 && ratio(1) > 3.3, "{bundle:?} {interpolation:?} {errors:?}");
            assert!(ratio(2) > 6.5 && ratio(3) > 3.3, "{bundle:?} {interpolation:?} {errors:?}");
        }
    }
}

/// Fluxes carry the thickness at the face; in a varying one to the square of the spacing, at seams as well.
#[test]
fn thickness_is_that_of_the_face() {
    let thickness = |x: [f64; 3]| 800.0 + 100.0 * x[0] * x[1] - 200.0 * x[2];
    for bundle in GeometryBundle::ALL {
        let (grid, faces, geometry) = setup(32, bundle);
        for interpolation in FaceInterpolation::ALL {
            let operator = WindToFlux::new(&grid, &faces, FaceFluxes::Vector(*interpolation));
            let wind = at_centers(&geometry, |x| cross([10.0, -4.0, 20.0], x));
            let even = apply(&operator, &wind, &vec![1.0; faces.cells()]);
            let values: Vec<f64> = geometry.centers().iter().map(|x| thickness(*x)).collect();
            let flux = apply(&operator, &wind, &values);
            for (face, arc) in geometry.arcs().iter().enumerate().filter(|(face, _)| even[*face] != 0.0) {
                let expected = thickness(arc.midpoint());
                assert!(
                    (flux[face] / even[face] - expected).abs() < 0.5,
                    "face {face}: {} {expected}",
                    flux[face] / even[face]
                );
            }
        }
    }
}

/// Point between the cells of a seam face and that of its partner lie on both sides of the mid-point of the face.
#[test]
fn seam_partners_lie_beyond_the_midpoint() {
    for bundle in GeometryBundle::ALL {
        let (_, faces, geometry) = setup(8, bundle);
        let (winds, _) = VectorWinds::new(&faces, &geometry, FaceInterpolation::Linear);
        let between = |face: usize| {
            let centers = geometry.centers();
            normalise(scale(crate::grid::vector::add(centers[faces.left(face)], centers[faces.right(face)]), 0.5))
        };
        for face in faces.inside()..faces.faces() {
            let (partner, share) = winds.partner(face - faces.inside());
            assert!((0.0..0.25).contains(&share), "face {face}: {share}");
            if partner != face {
                let middle = geometry.arc(face).midpoint();
                let (own, other) = (subtract(between(face), middle), subtract(between(partner), middle));
                assert!(dot(own, other) < 0.0, "face {face} of {partner}");
            }
        }
    }
}

#[test]
fn smallest_cubes_have_fluxes() {
    for nc in 1..6 {
        for bundle in GeometryBundle::ALL {
            let (grid, faces, geometry) = setup(nc, bundle);
            for choice in FaceFluxes::ALL {
                let operator = WindToFlux::new(&grid, &faces, choice);
                let wind = at_centers(&geometry, |x| cross([0.0, 0.0, 1.0], x));
                let flux = apply(&operator, &wind, &vec![1.0; faces.cells()]);
                assert!(flux.iter().all(|flux| flux.is_finite()), "C{nc} {choice:?}");
            }
        }
    }
}

/// Levels are worked on one by one, whatever the number of threads.
#[test]
fn levels_do_not_mix() {
    let (grid, faces, geometry) = setup(4, GeometryBundle::GeosNative);
    let operator = WindToFlux::new(&grid, &faces, FaceFluxes::default());
    let level = |k: usize| at_centers(&geometry, |x| cross([1.0, k as f64, 0.0], x));
    let winds: [Vec<f64>; 3] = std::array::from_fn(|c| (0..3).flat_map(|k| level(k)[c].clone()).collect());
    let thickness: Vec<f64> = (0..3 * faces.cells()).map(|n| 100.0 + n as f64).collect();
    let together = operator.levels(&winds, &thickness);
    for (k, flux) in together.chunks(faces.faces()).enumerate() {
        assert_eq!(flux, apply(&operator, &level(k), &thickness[k * faces.cells()..(k + 1) * faces.cells()]));
    }
}

#[test]
fn choices_have_names() {
    assert_eq!(FaceFluxes::default(), FaceFluxes::Vector(FaceInterpolation::Fv3));
    assert_eq!((FaceFluxes::ALL[0].name(), FaceFluxes::ALL[4].name()), ("vector", "panel_average"));
    assert_eq!(FaceInterpolation::from_name("cubic"), Some(FaceInterpolation::Cubic));
    assert_eq!(FaceLengths::from_name("cell_centerline"), Some(FaceLengths::CellCenterline));
    assert_eq!(FaceLengths::from_name("centerline"), None);
}
