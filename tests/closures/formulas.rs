//! Closures on made-up columns with known answers.

use atmostr::closures::constants::{GAS_DRY, GEOS_CHEM, GRAVITY};
use atmostr::closures::{
    LayerTemperature, LocalColumn, LocalSurface, NonlocalColumn, NonlocalProfiles, NonlocalState, NonlocalSurface,
    PblHeight, beljaars_viterbo, edges_from_mass, exchange_from_edge_diffusivity, exchange_rates, geoschem_nonlocal,
    geoschem_pbl_layers, holtslag_boville_local, hybrid_edges, layer_thickness, unusable_layer,
};

/// Forty layers of 2.5 kPa with a moist, sheared lowest 3 km.
struct Forty {
    edges: Vec<f64>,
    temperature: Vec<f64>,
    humidity: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
}

const LEVELS: usize = 40;
const AREA: f64 = 1e10;

impl Forty {
    fn new() -> Self {
        let linear = |k: usize| 1.0 + (1e5 - 1.0) * k as f64 / LEVELS as f64;
        let edges: Vec<f64> = (0..=LEVELS).map(linear).collect();
        let height: Vec<f64> = edges.windows(2).map(|p| -7000.0 * (0.5 * (p[0] + p[1]) / 1e5).ln()).collect();
        let of = |f: fn(f64) -> f64| height.iter().copied().map(f).collect::<Vec<f64>>();
        Self {
            temperature: of(|z| (295.0 - 0.0065 * z).max(210.0)),
            humidity: of(|z| 0.012 * (-z / 2000.0).exp()),
            u: of(|z| 10.0 * (z / 3000.0).min(1.0)),
            v: vec![0.0; LEVELS],
            edges,
        }
    }

    fn column<'a>(&'a self, edges: &'a [f64]) -> NonlocalColumn<'a> {
        NonlocalColumn {
            pressure_edges: edges,
            temperature: &self.temperature,
            virtual_temperature: None,
            humidity: &self.humidity,
            wind: [&self.u, &self.v],
        }
    }

    fn layers(&self) -> usize {
        geoschem_pbl_layers(&self.edges, &[0.0; LEVELS + 1])
    }
}

struct Nonlocal {
    state: NonlocalState,
    profiles: NonlocalProfiles,
    exchange: Vec<f64>,
    profile: Vec<f64>,
    edges: Vec<f64>,
}

fn nonlocal(sensible_heat: f64, latent_heat: f64) -> Nonlocal {
    let forty = Forty::new();
    // Pressure comes from the dry air of the cells and its vapour.
    let dry: Vec<f64> =
        (0..LEVELS).map(|k| (forty.edges[k + 1] - forty.edges[k]) / GRAVITY * (1.0 - forty.humidity[k])).collect();
    let mut edges = vec![f64::NAN; LEVELS + 1];
    edges_from_mass(forty.edges[0], &dry, Some(&forty.humidity), &mut edges);
    let surface = NonlocalSurface { friction_velocity: 0.4, sensible_heat, latent_heat };
    let mut profiles = NonlocalProfiles::new(LEVELS);
    let (mut exchange, mut profile) = (vec![f64::NAN; LEVELS], vec![f64::NAN; LEVELS]);
    let state = geoschem_nonlocal(
        &forty.column(&edges),
        &surface,
        PblHeight::Archived(1500.0),
        forty.layers(),
        AREA,
        &mut profiles,
        &mut exchange,
        &mut profile,
    );
    Nonlocal { state, profiles, exchange, profile, edges }
}

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{found} instead of {expected}");
}

#[test]
fn nonlocal_mixing_of_an_unstable_column() {
    let found = nonlocal(250.0, 100.0);
    assert!(found.exchange.iter().all(|d| d.is_finite() && *d >= 0.0));
    assert_eq!(found.exchange[LEVELS - 1], 0.0);
    assert!((found.profile.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(found.profile[LEVELS - 1] < 1.0);
    let forty = Forty::new();
    let (height, mut free, mut strongest) = (&found.profiles.height, 0, 0.0f64);
    for k in 0..LEVELS {
        if height[k] > 1800.0 {
            assert_eq!(found.profile[k], 0.0);
        }
        // Far above the boundary layer the diffusivity is the floor of 0.01.
        if k + 1 < LEVELS && height[k + 1] > 4000.0 {
            let mean = |f: &[f64]| 0.5 * (f[k] + f[k + 1]);
            let density = found.edges[k + 1] / (GEOS_CHEM.gas_dry * mean(&forty.temperature));
            let dry = density * (1.0 - mean(&forty.humidity));
            let floor = AREA * dry * 0.01 / (height[k] - height[k + 1]);
            close(found.exchange[k], floor, 1e-6);
            free += 1;
        } else if height[k] < 1500.0 {
            strongest = strongest.max(found.exchange[k]);
        }
    }
    assert!(free > 20 && strongest > 100.0 * found.exchange[10], "{free} {strongest}");
    let layers = forty.edges.windows(2).filter(|p| 0.5 * (p[0] + p[1]) > 4e4).count();
    assert_eq!((forty.layers(), layers), (24, 24));
    let single: Vec<f32> = found.exchange.iter().chain(&found.profile).map(|v| *v as f32).collect();
    assert!(single.iter().all(|v| v.is_finite()));
}

/// Stable: nothing is lofted, bit for bit.
#[test]
fn nonlocal_mixing_of_a_stable_column() {
    let found = nonlocal(-30.0, 0.0);
    let mut at_surface = vec![0.0; LEVELS];
    at_surface[LEVELS - 1] = 1.0;
    assert_eq!(found.profile, at_surface);
    close(found.state.obukhov_length, 189.9922481, 1e-8);
    for (k, expected) in [(38, 214466513.2), (37, 236895148.9), (36, 180894649.4), (35, 104502637.7)] {
        close(found.exchange[k], expected, 1e-8);
    }
}

/// Golden values: computed from the same formulas by another program, ten digits.
#[test]
fn nonlocal_mixing_meets_its_golden_values() {
    let Nonlocal { state, profiles, exchange, profile, .. } = nonlocal(250.0, 100.0);
    let theta = GEOS_CHEM.potential_temperature(Forty::new().temperature[39], 0.5 * (97500.025 + 1e5));
    let lofting = 7.2 * state.convective_velocity / state.turbulent_velocity;
    for (found, expected) in [
        (state.surface_density, 1.168628945),
        (theta, 295.487571),
        (state.heat_flux, 0.2129378694),
        (state.virtual_heat_flux, 0.2190818451),
        (state.obukhov_length, -22.15968812),
        (state.turbulent_velocity, 1.872197784),
        (state.convective_velocity, 2.212496196),
        (lofting, 8.508701774),
        (profiles.height[39], 109.140796),
        (profiles.height[38], 331.119495),
        (profiles.height[37], 557.893250),
    ] {
        close(found, expected, 1e-8);
    }
    let table = [
        (40, 7702826925.0, 0.4482337699, 0.5517662301),
        (39, 1.013994189e10, 0.6022160938, -0.1539823239),
        (38, 9016098097.0, 0.5468744618, 0.05534163205),
        (37, 5960684446.0, 0.3695034354, 0.1773710264),
        (36, 2543455895.0, 0.1612552209, 0.2082482145),
        (35, 268178979.6, 0.01740240837, 0.1438528126),
    ];
    let mut lofted = 1.0;
    for (layer, dkg, top, fraction) in table {
        close(exchange[layer - 2], dkg, 1e-8);
        close(profile[layer - 1], fraction, 1e-8);
        lofted -= profile[layer - 1];
        close(lofted, top, 1e-8);
    }
    close(exchange[32], 391706.2803, 1e-8);
    close(profile[33], 0.01740240837, 1e-8);
}

#[test]
fn thickness_of_layers() {
    let forty = Forty::new();
    let mut edges = vec![0.0; LEVELS + 1];
    hybrid_edges(&forty.edges, &[0.0; LEVELS + 1], 9e4, &mut edges);
    assert_eq!(edges, forty.edges);
    let (mut constant, mut moist) = (vec![f64::NAN; LEVELS], vec![f64::NAN; LEVELS]);
    assert_eq!(unusable_layer(&constant), Some(0));
    layer_thickness(&edges, LayerTemperature::Constant, &mut constant);
    let temperature = LayerTemperature::Virtual { temperature: &forty.temperature, humidity: &forty.humidity };
    layer_thickness(&edges, temperature, &mut moist);
    assert_eq!((unusable_layer(&constant), unusable_layer(&moist)), (None, None));
    for k in 0..LEVELS {
        assert!(constant[k] > 0.0 && (moist[k] / constant[k] - 1.0).abs() < 0.3, "{k}");
    }
    // Warm and moist at the surface: 295 K (1 + 0.61·0.0118) against 260 K.
    close(moist[39] / constant[39], (295.0 - 0.0065 * 88.07) * (1.0 + 0.61 * 0.01148) / 260.0, 1e-3);
    close(constant[39], GAS_DRY * 260.0 / GRAVITY * 2499.975 / 98750.0125, 1e-12);
    constant[17] = f64::NAN;
    assert_eq!(unusable_layer(&constant), Some(17));
}

/// A uniform mixing ratio takes part in no exchange whatever the form; the exchange itself is that of the formula.
#[test]
fn exchange_from_diffusivity() {
    let (mass, dz) = ([1.0, 2.0, 4.0], [400.0, 200.0, 100.0]);
    let (mut a, mut b) = ([f64::NAN; 3], [f64::NAN; 3]);
    exchange_rates(&[1.0, 3.0, 5.0], &dz, &mut a);
    exchange_from_edge_diffusivity(&mass, &[9.0, 2.0, 4.0, 9.0], &dz, &mut b);
    let expected = [3.0 * 4.0 / 360_000.0, 6.0 * 8.0 / 90_000.0, 0.0];
    assert_eq!(a, [4.0 / 360_000.0, 8.0 / 90_000.0, 0.0]);
    assert_eq!(b, expected);
    exchange_from_edge_diffusivity(&mass, &[0.0, -2.0, 4.0, 0.0], &dz, &mut b);
    assert_eq!(b[0], 0.0);
}

/// Diffusivity at `z` metres, below which the air is cut into layers thin enough that their thickness is exact.
fn viterbo_at(surface: &LocalSurface, z: f64) -> f64 {
    const LAYERS: usize = 2000;
    let scale = GAS_DRY * surface.temperature_2m / GRAVITY;
    let height = |n: usize| z * n as f64 / (LAYERS as f64 + 0.5);
    let edges: Vec<f64> = (0..=LAYERS + 1).rev().map(|n| 1e5 * (-height(n) / scale).exp()).collect();
    let mut found = vec![f64::NAN; LAYERS + 1];
    beljaars_viterbo(&edges, surface, &mut found);
    found[0]
}

#[test]
fn beljaars_viterbo_profile() {
    let base = LocalSurface { pbl_height: 1000.0, friction_velocity: 0.3, heat_flux: 0.0, temperature_2m: 290.0 };
    let near = |found: f64, expected: f64| close(found, expected, 1e-5);
    // Neutral: L is very long, K = u* κ z (1 - z/h)².
    near(viterbo_at(&base, 400.0), 0.3 * 0.41 * 400.0 * 0.36);
    // Stable: 25 W m⁻² downward.
    let kinematic = -25.0 / (1.225 * 1004.64);
    let obukhov = -290.0 * 0.027 / (0.41 * 9.80665 * kinematic);
    let stable = LocalSurface { heat_flux: -25.0, ..base };
    near(viterbo_at(&stable, 300.0), 0.3 * 0.41 * 300.0 * 0.49 / (1.0 + 5.0 * 300.0 / obukhov));
    // Unstable: mixed layer and surface layer, both with the enhanced Prandtl factor.
    let unstable = LocalSurface { heat_flux: 200.0, ..base };
    let kinematic = 200.0 / (1.225 * 1004.64);
    let obukhov = -290.0 * 0.027 / (0.41 * 9.80665 * kinematic);
    let f: f64 = 1.0 - 500.0 / obukhov;
    let star = (kinematic * 9.80665 * 1000.0 / 290.0f64).cbrt();
    let inverse = f.cbrt() / f.sqrt() + 7.2 * star / (0.3 * f.cbrt());
    assert!(inverse > 1.0);
    let capped = |k: f64| k.min(500.0);
    near(viterbo_at(&unstable, 50.0), capped(0.3 * 0.41 * 50.0 * 0.9025 * (1.0 - 750.0 / obukhov).cbrt() * inverse));
    near(viterbo_at(&unstable, 900.0), capped(0.3 * 0.41 * 900.0 * 0.01 * (1.0 - 1500.0 / obukhov).cbrt() * inverse));
    // Above the top: a straight line from the value at h - 1 m to the background at 1.2 h.
    let top = viterbo_at(&unstable, 999.5);
    close(viterbo_at(&unstable, 1100.0) - 0.1, 0.5 * (top - 0.1), 1e-4);
    assert_eq!(viterbo_at(&unstable, 1250.0), 0.1);
    // Floors: a layer of 100 m at least, friction 0.01.
    let still = LocalSurface { pbl_height: 5.0, friction_velocity: 0.0, heat_flux: 0.0, temperature_2m: 290.0 };
    close(viterbo_at(&still, 50.0), 0.01 * 0.41 * 50.0 * 0.25, 1e-4);
}

/// Without shear the local scheme is the profile with virtual heights; with strong shear aloft it is mixing length
/// squared times shear.
#[test]
fn holtslag_boville_adds_shear() {
    let forty = Forty::new();
    let surface = LocalSurface { pbl_height: 800.0, friction_velocity: 0.2, heat_flux: -10.0, temperature_2m: 288.0 };
    let mut column = LocalColumn {
        pressure_edges: &forty.edges,
        temperature: &forty.temperature,
        humidity: &forty.humidity,
        wind: [&forty.v, &forty.v],
    };
    let mut calm = vec![f64::NAN; LEVELS];
    holtslag_boville_local(&column, &surface, &mut calm);
    assert!(calm[..30].iter().all(|k| *k == 0.1));
    assert!(calm[38..].iter().all(|k| *k > 0.1));
    // A jump of 4 m/s between layers 19 and 20 of an isentropic column: Ri = 0, K = 0.1 + 150² S.
    let isentropic: Vec<f64> =
        forty.edges.windows(2).map(|p| 300.0 * (0.5 * (p[0] + p[1]) / 1e5f64).powf(1.0 / 3.5)).collect();
    let dry = vec![0.0; LEVELS];
    let jump: Vec<f64> = (0..LEVELS).map(|k| if k < 20 { 4.0 } else { 0.0 }).collect();
    column = LocalColumn { temperature: &isentropic, humidity: &dry, wind: [&jump, &forty.v], ..column };
    let mut sheared = vec![f64::NAN; LEVELS];
    holtslag_boville_local(&column, &surface, &mut sheared);
    let mid = |k: usize| 0.5 * (forty.edges[k] + forty.edges[k + 1]);
    let thickness = |k: usize| 2499.975 * GAS_DRY * isentropic[k] / (GRAVITY * mid(k));
    let shear = 4.0 / (0.5 * (thickness(19) + thickness(20)));
    close(sheared[20], 0.1 + 150.0 * 150.0 * shear, 1e-6);
    assert_eq!((sheared[19], sheared[21]), (0.1, 0.1));
}
