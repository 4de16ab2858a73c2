//! Days of MERRA-2 as the archives keep them.

use std::path::{Path, PathBuf};

use crate::writer::{Grid, Order, Storage, stored, variable, write};

/// Layers of the small archive.
pub const LAYERS: usize = 8;

/// Which archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    GeosChem,
    Nasa,
}

/// Weather of the archive: the same every day but for the surface pressure, which follows the number of 3-hourly states since
/// the first day.
#[derive(Clone, Copy)]
pub struct Weather {
    pub layers: usize,
    /// Surface pressure in Pa at a state, longitude and latitude (degrees).
    pub ps: fn(f64, f64, f64) -> f64,
    /// Specific humidity in kg/kg at height 0 (model top) to 1 (ground), longitude, latitude, state.
    pub q: fn(f64, f64, f64, f64) -> f64,
    /// Wind towards east and north in m/s at the same, and block.
    pub wind: fn(f64, f64, f64, f64) -> [f64; 2],
    /// Factor of convection at longitude and latitude; temperatures differ with it.
    pub spread: fn(f64, f64) -> f64,
}

/// Uniform air: nothing depends on the place, so regridding is exact.
pub const UNIFORM: Weather = Weather {
    layers: LAYERS,
    ps: |state, _, _| 98_000.0 + 64.0 * state,
    q: |height, _, _, state| 0.015625 * height * height * (1.0 + 0.0625 * state),
    wind: |_, _, lat, _| [20.0 * lat.to_radians().cos(), 0.0],
    spread: |_, _| 1.0,
};

/// Smooth weather with waves in pressure, humidity and wind.
pub const WAVES: Weather = Weather {
    layers: LAYERS,
    ps: |state, lon, lat| {
        let phase = (lon * 2.0 - 15.0 * state).to_radians();
        98_500.0 + 700.0 * phase.cos() * lat.to_radians().cos().powi(2)
    },
    q: |height, lon, lat, state| {
        0.016 * height.powi(3) * lat.to_radians().cos() * (1.0 + 0.2 * (lon + 5.0 * state).to_radians().sin())
    },
    wind: |height, lon, lat, block| {
        let (cos, sin) = (lat.to_radians().cos(), lat.to_radians().sin());
        let wave = (3.0 * lon - 20.0 * block).to_radians();
        [(28.0 - 15.0 * height) * cos + 4.0 * wave.cos() * sin * cos, 5.0 * wave.sin() * cos]
    },
    spread: |lon, lat| 1.0 + 0.5 * (4.0 * lon).to_radians().sin() * lat.to_radians().cos(),
};

impl Weather {
    /// Mean height of a layer, 0 at the model top to 1 at the ground.
    pub fn height(&self, k: usize) -> f64 {
        (k as f64 + 0.5) / self.layers as f64
    }

    /// Updraft of all air at interface `k`, kg m⁻² s⁻¹; none at both ends of the column.
    pub fn cmfmc(&self, k: usize, block: f64) -> f64 {
        let height = k as f64 / self.layers as f64;
        if k == 0 || height < 0.5 { 0.0 } else { 0.08 * height * (1.0 - height) * (1.0 + 0.1 * block) }
    }

    /// Detrainment of all air in layer `k`, kg m⁻² s⁻¹.
    pub fn dtrain(&self, k: usize, block: f64) -> f64 {
        if self.height(k) < 0.5 { 0.0 } else { 0.002 * (1.0 + 0.1 * block) }
    }

    /// Tendency of condensate in layer `k`; its lowest layer depends on the block, and there is none in the last.
    pub fn dqrcu(&self, k: usize, block: usize) -> f64 {
        let base = self.layers - 1 - block % 3;
        if block == 7 || k > base || self.height(k) < 0.5 { 0.0 } else { 1e-8 }
    }

    /// Values at the ground at an hour.
    pub fn ground(name: &str, hour: f64) -> f64 {
        match name {
            "PBLH" => 500.0 + 20.0 * hour,
            "USTAR" => 0.25 + 0.01 * hour,
            "HFLUX" => -20.0 + 8.0 * hour,
            "EFLUX" => 60.0 + hour,
            "T2M" => 280.0 + 0.5 * hour,
            _ => unreachable!("{name}"),
        }
    }

    /// Temperature in K of a layer at a state.
    pub fn t(&self, k: usize, state: f64) -> f64 {
        215.0 + 70.0 * self.height(k) + 0.25 * state
    }
}

/// An archive of `days` days from 2021-12-01 on, and the states of the day after.
pub struct Archive<'a> {
    pub root: &'a Path,
    pub layout: Layout,
    pub order: Order,
    pub grid: Grid,
    pub weather: Weather,
    pub storage: Storage,
}

/// A day of the archive, counted from 0.
pub fn day(n: usize) -> String {
    format!("2021-12-{:02}", n + 1)
}

/// The same without dashes.
pub fn stamp(n: usize) -> String {
    day(n).replace('-', "")
}

impl<'a> Archive<'a> {
    /// A small archive of 24 × 13 cells in the layers' usual order.
    pub fn small(root: &'a Path, layout: Layout, weather: Weather) -> Self {
        let order = if layout == Layout::GeosChem { Order::SurfaceFirst } else { Order::TopFirst };
        Self { root, layout, order, grid: Grid::with_poles(24, 13), weather, storage: Storage::Plain }
    }

    /// Path of a collection, in the names of GEOS-Chem, of day `n`.
    pub fn path(&self, collection: &str, n: usize) -> PathBuf {
        self.root.join(match (self.layout, collection) {
            (Layout::GeosChem, _) => format!("2021/12/MERRA2.{}.{collection}.05x0625.nc4", stamp(n)),
            (Layout::Nasa, "I3") => format!("M2I3NVASM/2021/12/MERRA2_400.inst3_3d_asm_Nv.{}.nc4", stamp(n)),
            (Layout::Nasa, _) => format!("M2T3NVASM/2021/12/MERRA2_400.tavg3_3d_asm_Nv.{}.nc4", stamp(n)),
        })
    }

    /// Writes days 0 to `days` − 1 with all their files, and the states of the next one.
    pub fn write(&self, days: usize) {
        for n in 0..days {
            self.write_states(n);
            self.write_means(n);
        }
        self.write_states(days);
    }

    /// Writes the states of day `n`.
    pub fn write_states(&self, n: usize) {
        let (weather, grid) = (&self.weather, &self.grid);
        let places: Vec<(f64, f64)> = (0..grid.cells()).map(|c| grid.place(c)).collect();
        let warmer: Vec<f64> = places.iter().map(|(lon, lat)| 10.0 * (weather.spread)(*lon, *lat) - 10.0).collect();
        let state = |t: usize| (8 * n + t) as f64;
        let minutes: Vec<f64> = (0..8).map(|t| 180.0 * t as f64).collect();
        let q = |t: usize, k: usize, c: usize| (weather.q)(weather.height(k), places[c].0, places[c].1, state(t));
        let mut variables = vec![
            variable("PS", "Pa", 0, |t, _, c| (weather.ps)(state(t), places[c].0, places[c].1)),
            variable("QV", "kg kg-1", weather.layers, q),
        ];
        if self.layout == Layout::GeosChem {
            variables.push(variable("T", "K", weather.layers, |t, k, c| weather.t(k, state(t)) + warmer[c]));
        }
        write(&self.path("I3", n), grid, &day(n), &minutes, self.order, self.storage, &variables);
    }

    /// Writes the means over 3 h, and over 1 h at the ground, of day `n`.
    pub fn write_means(&self, n: usize) {
        let (weather, grid) = (&self.weather, &self.grid);
        let places: Vec<(f64, f64)> = (0..grid.cells()).map(|c| grid.place(c)).collect();
        let minutes: Vec<f64> = (0..8).map(|t| 180.0 * t as f64 + 90.0).collect();
        let wind = |c: usize| {
            let places = &places;
            move |t: usize, k: usize, n: usize| (weather.wind)(weather.height(k), places[n].0, places[n].1, t as f64)[c]
        };
        let layers = weather.layers;
        let by: Vec<f64> = places.iter().map(|(lon, lat)| (weather.spread)(*lon, *lat)).collect();
        let mut variables = vec![variable("U", "m s-1", layers, wind(0)), variable("V", "m s-1", layers, wind(1))];
        let put = |collection: &str, minutes: &[f64], variables: &[crate::writer::Variable<'_>]| {
            write(&self.path(collection, n), grid, &day(n), minutes, self.order, self.storage, variables);
        };
        if self.layout == Layout::Nasa {
            return put("A3dyn", &minutes, &variables);
        }
        let flux = "kg m-2 s-1";
        variables.push(variable("DTRAIN", flux, layers, |t, k, c| weather.dtrain(k, t as f64) * by[c]));
        put("A3dyn", &minutes, &variables);
        let cmfmc = variable("CMFMC", flux, layers + 1, |t, k, c| weather.cmfmc(k, t as f64) * by[c]);
        put("A3mstE", &minutes, &[cmfmc]);
        put("A3mstC", &minutes, &[variable("DQRCU", "kg kg-1 s-1", layers, |t, k, c| weather.dqrcu(k, t) * by[c])]);
        let hours: Vec<f64> = (0..24).map(|t| 60.0 * t as f64 + 30.0).collect();
        let names = [("PBLH", "m"), ("USTAR", "m s-1"), ("HFLUX", "W m-2"), ("EFLUX", "W m-2"), ("T2M", "K")];
        let ground =
            names.map(|(name, units)| variable(name, units, 0, move |t, _, _| Weather::ground(name, t as f64)));
        put("A1", &hours, &ground);
    }

    /// What the files hold, in terms of the weather.
    pub fn q(&self, k: usize, state: f64) -> f64 {
        stored((self.weather.q)(self.weather.height(k), 0.0, 0.0, state))
    }
}
