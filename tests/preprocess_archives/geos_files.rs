//! Hours of GEOS-IT and GEOS-FP as the archives keep them.

use std::path::{Path, PathBuf};

use atmostr::grid::CubedSphere;
use atmostr::grid::vector::dot;
use decomposition::Panel;

use crate::writer::{Grid, Order, Storage, Variable, geos, noise, variable, write};

/// Layers of the small archives.
pub const LAYERS: usize = 6;
/// Cells per panel edge of the small archives.
pub const NC: usize = 8;

/// Weather of the archive, by hours since the first day. Cells are numbered `(panel·nc + j)·nc + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Random transport, pressure and humidity; no file with it can be balanced.
    Noise,
    /// Rotating flow without divergence, whose air stays where it is.
    Steady,
    /// The same flow with moving pressure and humidity.
    Waves,
}

/// Wind of the steady flow at its equator in m/s in layer `k`, if that is `thickness` Pa thick: one step moves this wind times
/// 450 s through the thickness and the radius of the sphere.
pub fn speed(k: usize, thickness: f64) -> f64 {
    (8 - k) as f64 * 2f64.powi(21 + 25) / (450.0 * thickness * 6_371_229.0)
}

/// Values of the archive's cells.
pub struct Air {
    weather: Weather,
    /// Of every cell: centre, and potential of the flow at its four corners.
    cells: Vec<([f64; 3], [f64; 4])>,
}

impl Air {
    pub fn new(weather: Weather, nc: usize) -> Self {
        let grid: CubedSphere = geos(nc);
        let axis = [0.48, -0.36, 0.8];
        let cells = (0..6 * nc * nc).map(|c| {
            let (panel, i, j) = (Panel::ALL[c / (nc * nc)], c % nc, c / nc % nc);
            // Whole numbers, so that transports stay without divergence in single precision.
            let potential = |i: usize, j: usize| (dot(axis, grid.corner(panel, i, j)) * f64::from(1 << 21)).round();
            (
                grid.center(panel, i, j),
                [potential(i, j), potential(i + 1, j), potential(i + 1, j + 1), potential(i, j + 1)],
            )
        });
        Self { weather, cells: cells.collect() }
    }

    /// Surface pressure, Pa.
    pub fn ps(&self, hour: usize, c: usize) -> f64 {
        let [x, y, z] = self.cells[c].0;
        match self.weather {
            Weather::Noise => 97_000.0 + 2000.0 * noise((hour * 100_003 + c) as u64),
            Weather::Steady => 98_000.0 + 500.0 * z,
            Weather::Waves => 98_000.0 + 500.0 * z + 300.0 * (0.26 * hour as f64).sin() * x * y,
        }
    }

    /// Specific humidity, kg/kg.
    pub fn q(&self, hour: usize, k: usize, c: usize) -> f64 {
        let height = (k as f64 + 0.5) / LAYERS as f64;
        let part = match self.weather {
            Weather::Noise => 1.0 + 0.5 * noise((hour * 7919 + k * 100_003 + c) as u64 ^ 0xABCD),
            Weather::Steady => 1.0 + 0.2 * self.cells[c].0[2],
            Weather::Waves => 1.0 + 0.2 * self.cells[c].0[0] * (0.2 * hour as f64).cos(),
        };
        0.014 * height.powi(3) * part
    }

    /// Transport of one step through the eastern (`axis` 0) or northern (1) face, Pa m².
    pub fn transport(&self, axis: usize, hour: usize, k: usize, c: usize) -> f64 {
        // Outflow is the difference of a potential along the face, counter-clockwise.
        let corners = self.cells[c].1;
        let through = if axis == 0 { corners[2] - corners[1] } else { corners[3] - corners[2] };
        match self.weather {
            Weather::Noise => 1e11 * noise((axis * 1_000_003 + hour * 7919 + k * 100_003 + c) as u64 ^ 0x55),
            _ => through * (8 - k) as f64 * f64::from(1 << 25),
        }
    }

    /// Updraft of all air at an interface, kg m⁻² s⁻¹.
    pub fn cmfmc(&self, block: usize, k: usize, c: usize) -> f64 {
        if k < LAYERS / 2 || k == LAYERS { 0.0 } else { 0.01 * (k + block) as f64 * (1.0 + 0.5 * self.cells[c].0[1]) }
    }

    /// Detrainment of all air, kg m⁻² s⁻¹.
    pub fn dtrain(&self, block: usize, k: usize, c: usize) -> f64 {
        if k < LAYERS / 2 { 0.0 } else { 0.001 * (k + block) as f64 * (1.0 + 0.5 * self.cells[c].0[0]) }
    }

    /// Temperature, K, winds towards east and north, m/s.
    pub fn layer(&self, name: &str, block: usize, k: usize, c: usize) -> f64 {
        let [x, y, z] = self.cells[c].0;
        match name {
            "T" => 220.0 + 10.0 * k as f64 + 5.0 * z + block as f64,
            "U" => 10.0 * (1.0 - z * z) + block as f64,
            "V" => 3.0 * x * y - block as f64,
            _ => unreachable!("{name}"),
        }
    }

    /// Fields of the ground.
    pub fn ground(&self, name: &str, hour: usize, c: usize) -> f64 {
        let [x, y, z] = self.cells[c].0;
        let hour = hour as f64;
        match name {
            "PBLH" => 600.0 + 300.0 * x + 10.0 * hour,
            "USTAR" => 0.3 + 0.1 * y,
            "HFLUX" => 100.0 * x + hour,
            "T2M" => 285.0 - 20.0 * z * z + 0.1 * hour,
            _ => unreachable!("{name}"),
        }
    }
}

/// Which archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    It,
    Fp,
}

/// Where GEOS-FP has its physics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Physics {
    Cube,
    LatLon,
}

/// An archive from 2021-12-01 on.
pub struct Archive<'a> {
    pub root: &'a Path,
    pub product: Product,
    pub order: Order,
    pub weather: Weather,
    /// Units of the surface pressure, hPa or Pa.
    pub pressure: &'static str,
    pub physics: Physics,
}

const GROUND: [(&str, &str); 4] = [("PBLH", "m"), ("USTAR", "m s-1"), ("HFLUX", "W m-2"), ("T2M", "K")];
const FLUX: &str = "kg m-2 s-1";

/// A day of the archive, counted from 0.
pub fn day(n: usize) -> String {
    format!("2021-12-{:02}", n + 1)
}

fn stamp(n: usize) -> String {
    day(n).replace('-', "")
}

impl<'a> Archive<'a> {
    /// An archive in its usual order and units.
    pub fn new(root: &'a Path, product: Product, weather: Weather) -> Self {
        let (order, pressure) = match product {
            Product::It => (Order::SurfaceFirst, "hPa"),
            Product::Fp => (Order::TopFirst, "Pa"),
        };
        Self { root, product, order, weather, pressure, physics: Physics::LatLon }
    }

    /// Path of a collection of day `n`.
    pub fn path(&self, collection: &str, n: usize) -> PathBuf {
        self.root.join(match (self.product, self.physics) {
            (Product::It, _) => format!("{0}/GEOSIT.{0}.{collection}.C{NC}.nc", stamp(n)),
            (Product::Fp, Physics::Cube) => format!("GEOSFP.{}.{collection}.C{NC}.nc", stamp(n)),
            (Product::Fp, Physics::LatLon) => format!("GEOSFP.{}.{collection}.025x03125.nc", stamp(n)),
        })
    }

    /// Path of an hour of GEOS-FP.
    pub fn hour(&self, n: usize, hour: usize) -> PathBuf {
        self.root.join(format!("GEOS.fp.asm.tavg_1hr_ctm_c{NC:04}_v72.{}_{hour:02}30.V01.nc4", stamp(n)))
    }

    fn put(&self, path: &Path, grid: &Grid, n: usize, minutes: &[f64], order: Order, variables: &[Variable<'_>]) {
        write(path, grid, &day(n), minutes, order, Storage::Plain, variables);
    }

    /// Writes days 0 to `days` − 1 with all their files, and the states of the next one.
    pub fn write(&self, days: usize) {
        (0..days).for_each(|n| self.write_day(n));
        match self.product {
            Product::It => self.write_states(days),
            Product::Fp => self.write_hour(days, 0),
        }
    }

    /// Writes day `n`.
    pub fn write_day(&self, n: usize) {
        match self.product {
            Product::Fp => (0..24).for_each(|hour| self.write_hour(n, hour)),
            Product::It => {
                self.write_states(n);
                let air = Air::new(self.weather, NC);
                let hours: Vec<f64> = (0..24).map(|h| 60.0 * h as f64 + 30.0).collect();
                let transport = [self.thickness(&air, n, 0), self.flux(&air, 0, n, 0), self.flux(&air, 1, n, 0)];
                self.put(&self.path("CTM_A1", n), &Grid::Cube { nc: NC }, n, &hours, self.order, &transport);
            }
        }
        self.write_physics(n);
    }

    /// Variables of dry air, records from hour `first` on.
    fn states<'b>(&self, air: &'b Air, n: usize, first: usize) -> [Variable<'b>; 2] {
        let at = 24 * n + first;
        let by = if self.pressure == "hPa" { 0.01 } else { 1.0 };
        [
            variable("PS", self.pressure, 0, move |t, _, c| air.ps(at + t, c) * by),
            variable("QV", "kg kg-1", LAYERS, move |t, k, c| air.q(at + t, k, c)),
        ]
    }

    fn thickness<'b>(&self, air: &'b Air, n: usize, first: usize) -> Variable<'b> {
        let at = 24 * n + first;
        variable("DELP", "Pa", LAYERS, move |t, k, c| air.ps(at + t, c) / 100.0 * (1.0 + 3.0 * k as f64))
    }

    fn flux<'b>(&self, air: &'b Air, axis: usize, n: usize, first: usize) -> Variable<'b> {
        let at = 24 * n + first;
        let name = ["MFXC", "MFYC"][axis];
        variable(name, "Pa m+2", LAYERS, move |t, k, c| air.transport(axis, at + t, k, c))
    }

    /// Writes the states of day `n` of GEOS-IT.
    pub fn write_states(&self, n: usize) {
        let air = Air::new(self.weather, NC);
        let hours: Vec<f64> = (0..24).map(|h| 60.0 * h as f64).collect();
        self.put(&self.path("CTM_I1", n), &Grid::Cube { nc: NC }, n, &hours, self.order, &self.states(&air, n, 0));
    }

    /// Writes an hour of GEOS-FP.
    pub fn write_hour(&self, n: usize, hour: usize) {
        let air = Air::new(self.weather, NC);
        let [ps, qv] = self.states(&air, n, hour);
        let (delp, x, y) = (self.thickness(&air, n, hour), self.flux(&air, 0, n, hour), self.flux(&air, 1, n, hour));
        let minutes = [60.0 * hour as f64 + 30.0];
        self.put(&self.hour(n, hour), &Grid::Cube { nc: NC }, n, &minutes, self.order, &[ps, qv, delp, x, y]);
    }

    /// Writes the physics of day `n`. On longitudes and latitudes the fields are those of the cell that holds the point.
    pub fn write_physics(&self, n: usize) {
        let air = Air::new(self.weather, NC);
        let latlon = self.product == Product::Fp && self.physics == Physics::LatLon;
        let grid = if latlon { Grid::with_poles(32, 17) } else { Grid::Cube { nc: NC } };
        let cube = geos(NC);
        let cells: Vec<usize> = (0..grid.cells())
            .map(|c| {
                if !latlon {
                    return c;
                }
                let (lon, lat) = grid.place(c);
                let at = cube.locate(lon, lat).unwrap();
                (at.panel.index() * NC + at.j) * NC + at.i
            })
            .collect();
        // GEOS-Chem keeps files on longitudes and latitudes from the ground up.
        let order = if latlon { Order::SurfaceFirst } else { self.order };
        let (air, cells) = (&air, &cells);
        let hours: Vec<f64> = (0..24).map(|h| 60.0 * h as f64 + 30.0).collect();
        let blocks: Vec<f64> = (0..8).map(|b| 180.0 * b as f64 + 90.0).collect();
        let ground = GROUND.map(|(name, units)| variable(name, units, 0, move |t, _, c| air.ground(name, t, cells[c])));
        self.put(&self.path("A1", n), &grid, n, &hours, order, &ground);
        let cmfmc = variable("CMFMC", FLUX, LAYERS + 1, move |t, k, c| air.cmfmc(t, k, cells[c]));
        self.put(&self.path("A3mstE", n), &grid, n, &blocks, order, &[cmfmc]);
        let layer = |name: &'static str, units: &'static str| {
            variable(name, units, LAYERS, move |t, k, c| air.layer(name, t, k, cells[c]))
        };
        let dtrain = variable("DTRAIN", FLUX, LAYERS, move |t, k, c| air.dtrain(t, k, cells[c]));
        self.put(&self.path("A3dyn", n), &grid, n, &blocks, order, &[dtrain, layer("U", "m s-1"), layer("V", "m s-1")]);
        if self.product == Product::It {
            let starts: Vec<f64> = (0..8).map(|b| 180.0 * b as f64).collect();
            self.put(&self.path("I3", n), &grid, n, &starts, order, &[layer("T", "K")]);
        }
    }
}
