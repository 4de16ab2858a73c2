//! Closures on the columns of a real forecast.

use std::path::Path;

use atmostr::closures::constants::{GAS_DRY, GRAVITY};
use atmostr::closures::{
    LayerTemperature, LocalColumn, LocalSurface, NonlocalColumn, NonlocalProfiles, NonlocalSurface, PblHeight,
    Tm5Column, Tm5Rules, Tm5Scratch, beljaars_viterbo, exchange_from_edge_diffusivity, exchange_rates,
    geoschem_nonlocal, holtslag_boville_local, layer_thickness, tm5_boundary_layer, unusable_layer,
};

/// One column, top first.
pub struct Column {
    pub edges: Vec<f64>,
    pub heights: Vec<f64>,
    pub thickness: Vec<f64>,
    pub temperature: Vec<f64>,
    pub humidity: Vec<f64>,
    pub u: Vec<f64>,
    pub v: Vec<f64>,
}

impl Column {
    /// Pressure levels above the ground become layers bounded by the mean pressure of neighbours.
    pub fn new(file: &Forecast, cell: usize) -> Self {
        let ground = file.surface["ps"][cell];
        let mut levels: Vec<usize> = (0..file.pressure.len()).filter(|&l| file.pressure[l] < ground - 200.0).collect();
        levels.sort_by(|a, b| file.pressure[*a].total_cmp(&file.pressure[*b]));
        let p = |l: usize| file.pressure[l];
        let mut edges = vec![0.5 * p(levels[0])];
        edges.extend(levels.windows(2).map(|w| 0.5 * (p(w[0]) + p(w[1]))));
        edges.push(ground);
        let at = |field: &[f64]| levels.iter().map(|&l| field[l * file.cells + cell]).collect::<Vec<f64>>();
        let [temperature, u, v] = ["t", "u", "v"].map(|name| at(&file.upper[name]));
        // Relative humidity is not stored at every level.
        let relative = at(&file.upper["r"]).into_iter().map(|r| if r <= 100.0 { r / 100.0 } else { 0.0 });
        let humid = |(k, r): (usize, f64)| (0.622 * r.max(0.0) * saturation(temperature[k]) / p(levels[k])).min(0.03);
        let humidity: Vec<f64> = relative.enumerate().map(humid).collect();
        let mut thickness = vec![f64::NAN; levels.len()];
        let moist = LayerTemperature::Virtual { temperature: &temperature, humidity: &humidity };
        layer_thickness(&edges, moist, &mut thickness);
        assert_eq!(unusable_layer(&thickness), None);
        let mut heights = vec![0.0; edges.len()];
        (0..levels.len()).rev().for_each(|k| heights[k] = heights[k + 1] + thickness[k]);
        Self { edges, heights, thickness, temperature, humidity, u, v }
    }

    /// From the momentum flux at the surface, m/s.
    pub fn friction_velocity(&self, file: &Forecast, cell: usize) -> f64 {
        let of = |name: &str| file.surface[name][cell];
        let density = of("ps") / (GAS_DRY * of("t2m"));
        (of("taux").hypot(of("tauy")) / density).sqrt()
    }
}

/// Saturation vapour pressure over water (Bolton 1980), Pa.
fn saturation(temperature: f64) -> f64 {
    let celsius = temperature - 273.15;
    611.2 * (17.67 * celsius / (celsius + 243.5)).exp()
}

/// Levels and surface of the forecast, all columns.
pub struct Forecast {
    pressure: Vec<f64>,
    upper: std::collections::HashMap<&'static str, Vec<f64>>,
    pub surface: std::collections::HashMap<&'static str, Vec<f64>>,
    pub cells: usize,
}

impl Forecast {
    /// The file beside the sources, if it is there.
    pub fn open() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ncep_gfs_2p5deg");
        let path = folder.join("gfs_20111008T00_f072.nc");
        if !path.exists() {
            println!("skipped: {} is not there", path.display());
            return None;
        }
        let file = netcdf::open(&path).unwrap();
        let all = |name: &'static str| -> (&'static str, Vec<f64>) {
            (name, file.variable(name).unwrap_or_else(|| panic!("no {name}")).get_values(..).unwrap())
        };
        let pressure = all("lev").1.iter().map(|hpa| hpa * 100.0).collect();
        let upper = ["t", "u", "v", "r"].map(all).into_iter().collect();
        let surface: std::collections::HashMap<_, _> =
            ["ps", "hpbl", "t2m", "shflx", "lhflx", "taux", "tauy"].map(all).into_iter().collect();
        let cells = surface["ps"].len();
        Some(Self { pressure, upper, surface, cells })
    }
}

/// All columns, with surface fluxes and boundary-layer heights (18 to 2489 m) of the forecast: every closure gives finite
/// results of the right sign.
#[test]
fn real_columns_give_usable_mixing() {
    let Some(file) = Forecast::open() else { return };
    let mut unstable = 0;
    let (mut lowest, mut highest) = (f64::MAX, 0.0f64);
    for cell in 0..file.cells {
        let column = Column::new(&file, cell);
        let n = column.thickness.len();
        let of = |name: &str| file.surface[name][cell];
        let friction_velocity = column.friction_velocity(&file, cell);
        let dry = |k: usize| (column.edges[k + 1] - column.edges[k]) / GRAVITY * (1.0 - column.humidity[k]);
        let mass: Vec<f64> = (0..n).map(dry).collect();
        let wind: [&[f64]; 2] = [&column.u, &column.v];
        let mut exchange = vec![f64::NAN; n];
        let check = |exchange: &[f64], what: &str| {
            let fine = exchange.iter().all(|d| d.is_finite() && *d >= 0.0) && exchange[n - 1] == 0.0;
            assert!(fine, "{what}, cell {cell}: {exchange:?}");
        };

        let surface = LocalSurface {
            pbl_height: of("hpbl"),
            friction_velocity,
            heat_flux: of("shflx"),
            temperature_2m: of("t2m"),
        };
        let local = LocalColumn {
            pressure_edges: &column.edges,
            temperature: &column.temperature,
            humidity: &column.humidity,
            wind,
        };
        let mut layers = vec![f64::NAN; n];
        beljaars_viterbo(&column.edges, &surface, &mut layers);
        assert!(layers.iter().all(|k| (0.01..=500.0).contains(k)), "cell {cell}: {layers:?}");
        exchange_rates(&layers, &column.thickness, &mut exchange);
        (0..n - 1).for_each(|k| exchange[k] *= mass[k] + mass[k + 1]);
        check(&exchange, "Beljaars-Viterbo");
        holtslag_boville_local(&local, &surface, &mut layers);
        assert!(layers.iter().all(|k| (0.01..=500.0).contains(k)), "cell {cell}: {layers:?}");
        exchange_rates(&layers, &column.thickness, &mut exchange);
        (0..n - 1).for_each(|k| exchange[k] *= mass[k] + mass[k + 1]);
        check(&exchange, "Holtslag-Boville");

        let tm5 = Tm5Column {
            pressure_edges: &column.edges,
            height_edges: &column.heights,
            temperature: &column.temperature,
            humidity: &column.humidity,
            wind,
            friction_velocity,
            sensible_heat: of("shflx"),
            latent_heat: of("lhflx"),
        };
        let mut edges = vec![f64::NAN; n + 1];
        let result = tm5_boundary_layer(&tm5, Tm5Rules::Guarded, &mut Tm5Scratch::new(n), &mut edges);
        assert!(result.pbl_height >= 100.0 && result.pbl_height.is_finite() && result.largest.is_finite());
        assert!(edges[1..n].iter().all(|k| k.is_finite() && *k > 0.0), "cell {cell}: {edges:?}");
        exchange_from_edge_diffusivity(&mass, &edges, &column.thickness, &mut exchange);
        check(&exchange, "TM5");

        let nonlocal = NonlocalColumn {
            pressure_edges: &column.edges,
            temperature: &column.temperature,
            virtual_temperature: None,
            humidity: &column.humidity,
            wind,
        };
        let surface = NonlocalSurface { friction_velocity, sensible_heat: of("shflx"), latent_heat: of("lhflx") };
        let allowed = column.edges.windows(2).filter(|e| 0.5 * (e[0] + e[1]) >= 4e4).count().max(1);
        let (mut profiles, mut profile) = (NonlocalProfiles::new(n), vec![f64::NAN; n]);
        for height in [PblHeight::Archived(of("hpbl")), PblHeight::Diagnosed] {
            let state = geoschem_nonlocal(
                &nonlocal,
                &surface,
                height,
                allowed,
                1.0,
                &mut profiles,
                &mut exchange,
                &mut profile,
            );
            check(&exchange, "non-local");
            assert!((profile.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            lowest = lowest.min(state.pbl_height);
            highest = highest.max(state.pbl_height);
            unstable += usize::from(state.virtual_heat_flux > 0.0);
        }
    }
    println!("{} columns, {} unstable, heights {lowest:.0} to {highest:.0} m", file.cells, unstable / 2);
    assert_eq!(file.cells, 73 * 144);
    assert!(lowest > 0.0 && highest < 10_000.0 && unstable > file.cells);
}
