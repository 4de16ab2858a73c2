//! What vertical physics needs of a window beyond its sections, computed in f64 when the window is read.

use std::sync::{Arc, Mutex};

use kernels::Scalar;
use kernels::columns::Profile;
use kernels::columns::convection::rates::rates_from_cloud_flux;

use super::settings::{Convection, Diffusion, DiffusivityProfile, ExchangeSource};
use crate::closures::{
    LayerTemperature, LocalColumn, LocalSurface, NonlocalColumn, NonlocalProfiles, NonlocalSurface, PblHeight,
    beljaars_viterbo, edges_from_mass, exchange_rates, geoschem_nonlocal, geoschem_pbl_layers, holtslag_boville_local,
    hybrid_edges, layer_thickness, unusable_layer,
};
use crate::grid::{CubedSphere, HybridCoordinate};
use crate::met::{CellIndex, Derive, Derived, Section, Sections, Underivable};
use crate::sources::{Injection, loft_surface_part};
use crate::state::{Slabs, TileSet};

/// A field of a window: stored in the file, or computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowField {
    /// Stored.
    Stored(Section),
    /// Computed.
    Derived(Derived),
}

impl Derived {
    /// What the fractions of an emission profile mean.
    pub(in crate::operators) fn profile(self) -> Profile {
        match self {
            Self::Lofting => Profile::Lofting,
            _ => Profile::Injection,
        }
    }
}

impl Diffusion {
    /// The field that holds the exchange.
    pub fn exchange(&self) -> WindowField {
        match self.source {
            ExchangeSource::Dkg => WindowField::Stored(Section::Dkg),
            ExchangeSource::NonlocalVdiff => WindowField::Derived(Derived::Exchange),
            _ => WindowField::Derived(Derived::ExchangeRate),
        }
    }
}

/// Computes what vertical physics needs of a window: exchange from the closures, emission profiles, convection rates.
#[derive(Debug)]
pub struct WindowPhysics {
    set: Arc<TileSet>,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Areas of the cells of each tile, row by row, m².
    areas: Vec<Vec<f64>>,
    exchange: Option<ExchangeSource>,
    lofting: bool,
    cloud_rates: bool,
    /// Sources with a profile of their own: number in the run, and layers.
    injections: Vec<(usize, Injection)>,
    pbl_layers: usize,
    work: Mutex<Work>,
}

/// One column.
#[derive(Debug)]
struct Work {
    edges: Vec<f64>,
    thickness: Vec<f64>,
    mass: Vec<f64>,
    temperature: Vec<f64>,
    humidity: Vec<f64>,
    wind: [Vec<f64>; 2],
    diffusivity: Vec<f64>,
    exchange: Vec<f64>,
    lofting: Vec<f64>,
    profile: Vec<f64>,
    nonlocal: NonlocalProfiles,
    cloud: CloudColumn,
}

/// Cloud mass flux and detrainment of a column, and the rates they give.
#[derive(Debug)]
struct CloudColumn {
    flux: Vec<f64>,
    detrained: Vec<f64>,
    entu: Vec<f64>,
    detu: Vec<f64>,
}

impl Work {
    fn new(levels: usize) -> Self {
        let layers = || vec![f64::NAN; levels];
        Self {
            edges: vec![f64::NAN; levels + 1],
            thickness: layers(),
            mass: layers(),
            temperature: layers(),
            humidity: layers(),
            wind: [layers(), layers()],
            diffusivity: layers(),
            exchange: layers(),
            lofting: layers(),
            profile: layers(),
            nonlocal: NonlocalProfiles::new(levels),
            cloud: CloudColumn { flux: vec![0.0; levels + 1], detrained: layers(), entu: layers(), detu: layers() },
        }
    }
}

impl WindowPhysics {
    /// For the tiles of `set` on `grid`; `injections` are the layers that the sources of the run enter, in their order.
    pub fn new(
        set: Arc<TileSet>,
        grid: &CubedSphere,
        vertical: &HybridCoordinate,
        diffusion: Option<&Diffusion>,
        convection: Option<&Convection>,
        injections: &[Injection],
    ) -> Self {
        let area = |tile: &decomposition::Tile| {
            let cells = (0..tile.nj).flat_map(|j| (0..tile.ni).map(move |i| (i, j)));
            cells.map(|(i, j)| grid.area(tile.i0 + i, tile.j0 + j)).collect()
        };
        let (a, b) = (vertical.a().to_vec(), vertical.b().to_vec());
        let own = injections.iter().enumerate().filter(|(_, injection)| **injection != Injection::Surface);
        Self {
            areas: set.tiles().iter().map(area).collect(),
            set,
            pbl_layers: geoschem_pbl_layers(&a, &b),
            work: Mutex::new(Work::new(a.len() - 1)),
            a,
            b,
            exchange: diffusion.map(|d| d.source.clone()).filter(|source| *source != ExchangeSource::Dkg),
            lofting: diffusion.is_some_and(Diffusion::lofts),
            cloud_rates: matches!(convection, Some(Convection::CmfmcMatrix(_))),
            injections: own.map(|(n, injection)| (n, injection.clone())).collect(),
        }
    }

    /// Sections it reads, besides those that [`Diffusion::needs`] and [`Convection::needs`] name.
    pub fn sections(&self) -> Vec<Section> {
        let mut sections = vec![Section::AirMass];
        if self.exchange.is_some() || !self.injections.is_empty() {
            sections.push(Section::SurfacePressure);
        }
        sections
    }

    fn column(&self, at: &At<'_, impl Scalar>, work: &mut Work) -> Result<(), String> {
        let surface_pressure = at.value(Section::SurfacePressure);
        hybrid_edges(&self.a, &self.b, surface_pressure, &mut work.edges);
        let uses_virtual =
            matches!(self.exchange, Some(ExchangeSource::HoltslagBovilleLocal | ExchangeSource::NonlocalVdiff));
        if uses_virtual {
            at.fill(Section::VdiffT, &mut work.temperature);
            at.fill(Section::VdiffQv, &mut work.humidity);
            at.fill(Section::VdiffU, &mut work.wind[0]);
            at.fill(Section::VdiffV, &mut work.wind[1]);
        }
        let temperature = if uses_virtual {
            LayerTemperature::Virtual { temperature: &work.temperature, humidity: &work.humidity }
        } else {
            LayerTemperature::Constant
        };
        layer_thickness(&work.edges, temperature, &mut work.thickness);
        if let Some(k) = unusable_layer(&work.thickness) {
            return Err(format!("the thickness of layer {} is {} m", k + 1, work.thickness[k]));
        }
        let Some(source) = &self.exchange else { return Ok(()) };
        let area = self.areas[at.tile][at.cell];
        at.fill(Section::AirMass, &mut work.mass);
        work.mass.iter_mut().for_each(|mass| *mass /= area);
        let surface = || LocalSurface {
            pbl_height: at.value(Section::Pblh),
            friction_velocity: at.value(Section::Ustar),
            heat_flux: at.value(Section::SensibleHeatFlux),
            temperature_2m: at.value(Section::T2m),
        };
        match source {
            ExchangeSource::Constant(value) => work.diffusivity.fill(*value),
            ExchangeSource::Profile(profile) => profile.fill(&work.thickness, &mut work.diffusivity),
            ExchangeSource::BeljaarsViterbo => {
                edges_from_mass(self.a[0], &work.mass, None, &mut work.edges);
                beljaars_viterbo(&work.edges, &surface(), &mut work.diffusivity);
            }
            ExchangeSource::HoltslagBovilleLocal => {
                edges_from_mass(self.a[0], &work.mass, None, &mut work.edges);
                let column = LocalColumn {
                    pressure_edges: &work.edges,
                    temperature: &work.temperature,
                    humidity: &work.humidity,
                    wind: [&work.wind[0], &work.wind[1]],
                };
                holtslag_boville_local(&column, &surface(), &mut work.diffusivity);
            }
            ExchangeSource::NonlocalVdiff => {
                edges_from_mass(self.a[0], &work.mass, Some(&work.humidity), &mut work.edges);
                let column = NonlocalColumn {
                    pressure_edges: &work.edges,
                    temperature: &work.temperature,
                    virtual_temperature: None,
                    humidity: &work.humidity,
                    wind: [&work.wind[0], &work.wind[1]],
                };
                let fluxes = NonlocalSurface {
                    friction_velocity: at.value(Section::Ustar),
                    sensible_heat: at.value(Section::SensibleHeatFlux),
                    latent_heat: at.value(Section::LatentHeatFlux),
                };
                let pbl = PblHeight::Archived(at.value(Section::Pblh));
                let (exchange, lofting) = (&mut work.exchange, &mut work.lofting);
                geoschem_nonlocal(&column, &fluxes, pbl, self.pbl_layers, area, &mut work.nonlocal, exchange, lofting);
                return check_exchange(&work.exchange);
            }
            ExchangeSource::Dkg => unreachable!("stored in the file"),
        }
        exchange_rates(&work.diffusivity, &work.thickness, &mut work.exchange);
        check_exchange(&work.exchange)
    }
}

/// Exchange has to be finite and not negative.
fn check_exchange(exchange: &[f64]) -> Result<(), String> {
    match exchange.iter().position(|d| !(d.is_finite() && *d >= 0.0)) {
        Some(k) => Err(format!("the diffusion scheme gives an exchange of {} below layer {}", exchange[k], k + 1)),
        None => Ok(()),
    }
}

impl DiffusivityProfile {
    /// Diffusivity of layers of a thickness in m.
    fn fill(&self, thickness: &[f64], diffusivity: &mut [f64]) {
        match self {
            Self::Layers(values) => diffusivity.copy_from_slice(values),
            Self::Heights { z, kz } => {
                let mut below = 0.0;
                for k in (0..thickness.len()).rev() {
                    diffusivity[k] = linear(z, kz, below + 0.5 * thickness[k]);
                    below += thickness[k];
                }
            }
        }
    }
}

/// Value at `x` of the line through points of increasing `xs`, constant beyond both ends.
fn linear(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let after = xs.partition_point(|p| *p <= x);
    if after == 0 || after == xs.len() {
        return ys[after.min(ys.len() - 1)];
    }
    let (x0, x1, y0, y1) = (xs[after - 1], xs[after], ys[after - 1], ys[after]);
    y0 + (y1 - y0) * ((x - x0) / (x1 - x0))
}

/// A column of the sections.
struct At<'a, R> {
    sections: Sections<'a, R>,
    tile: usize,
    /// Cell within its tile, row by row.
    cell: usize,
    /// Cell within its padded plane.
    place: usize,
}

impl<R: Scalar> At<'_, R> {
    fn value(&self, section: Section) -> f64 {
        let field = self.sections.get(section).expect("read with the window");
        field.plane(0, self.tile, 0)[self.place].to_f64()
    }

    fn fill(&self, section: Section, column: &mut [f64]) {
        let field = self.sections.get(section).expect("read with the window");
        for (k, value) in column.iter_mut().enumerate() {
            *value = field.plane(k, self.tile, 0)[self.place].to_f64();
        }
    }
}

impl<R: Scalar> Derive<R> for WindowPhysics {
    fn fields(&self) -> Vec<Derived> {
        let mut fields = Vec::new();
        match self.exchange {
            Some(ExchangeSource::NonlocalVdiff) => fields.push(Derived::Exchange),
            Some(_) => fields.push(Derived::ExchangeRate),
            None => {}
        }
        if self.lofting {
            fields.push(Derived::Lofting);
        }
        if self.cloud_rates {
            fields.extend([Derived::Entrainment, Derived::Detrainment]);
        }
        fields.extend(self.injections.iter().map(|(n, _)| Derived::Injection(*n)));
        fields
    }

    fn derive(&self, sections: Sections<'_, R>, fields: &mut [(Derived, Slabs<R>)]) -> Result<(), Underivable> {
        let work = &mut *self.work.lock().expect("no derivation panics");
        let computes = self.exchange.is_some() || !self.injections.is_empty();
        for (tile, (place, shape)) in self.set.tiles().iter().zip(self.set.shapes()).enumerate() {
            if self.cloud_rates {
                cloud_rates(sections, fields, tile, shape, &mut work.cloud);
            }
            if !computes {
                continue;
            }
            for (j, i) in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| (j, i))) {
                let at = At { sections, tile, cell: j * shape.ni + i, place: shape.row_start(j) + i };
                self.column(&at, work).map_err(|problem| {
                    let cell = CellIndex { panel: place.panel.index(), i: place.i0 + i, j: place.j0 + j, k: 0 };
                    Underivable { cell, problem }
                })?;
                for (field, values) in fields.iter_mut() {
                    let column = match field {
                        Derived::Exchange | Derived::ExchangeRate => &work.exchange,
                        Derived::Lofting => &work.lofting,
                        Derived::Injection(n) => {
                            let (_, injection) =
                                self.injections.iter().find(|(m, _)| m == n).expect("one of the fields named");
                            injection.fill_profile(&work.thickness, &mut work.profile);
                            if self.lofting {
                                loft_surface_part(&mut work.profile, &work.lofting);
                            }
                            &work.profile
                        }
                        Derived::Entrainment | Derived::Detrainment => continue,
                    };
                    for (k, value) in column.iter().enumerate() {
                        values.plane_mut(k, tile, 0)[at.place] = R::from_f64(*value);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Entrainment and detrainment of the columns of a tile from its cloud mass flux.
fn cloud_rates<R: Scalar>(
    sections: Sections<'_, R>,
    fields: &mut [(Derived, Slabs<R>)],
    tile: usize,
    shape: &kernels::TileShape,
    scratch: &mut CloudColumn,
) {
    let flux = sections.get(Section::Cmfmc).expect("read with the window");
    let detrainment = sections.get(Section::Dtrain).expect("read with the window");
    let CloudColumn { flux: cloud, detrained, entu, detu } = scratch;
    for place in (0..shape.nj).flat_map(|j| (0..shape.ni).map(move |i| shape.row_start(j) + i)) {
        cloud.iter_mut().enumerate().for_each(|(k, value)| *value = flux.plane(k, tile, 0)[place].to_f64());
        detrained.iter_mut().enumerate().for_each(|(k, value)| *value = detrainment.plane(k, tile, 0)[place].to_f64());
        rates_from_cloud_flux(cloud, detrained, entu, detu);
        for (field, values) in fields.iter_mut() {
            let column = match field {
                Derived::Entrainment => &*entu,
                Derived::Detrainment => &*detu,
                _ => continue,
            };
            for (k, rate) in column.iter().enumerate() {
                values.plane_mut(k, tile, 0)[place] = R::from_f64(*rate);
            }
        }
    }
}
