//! Column fields of the meteorology for snapshots.

use kernels::Scalar;
use rayon::prelude::*;

use super::setup::Setup;
use crate::config::RunConfig;
use crate::diagnostics::{ColumnSums, tropopause};
use crate::grid::constants::GRAVITY;
use crate::met::{Section, WindowBuffer};
use crate::output::{MetColumns, MetField};
use crate::state::{AIR, Slabs};

/// The fields that a run writes, as of its last snapshot.
pub(super) struct Meteorology<R> {
    fields: Vec<MetField>,
    columns: MetColumns<R>,
    /// Cell areas of each tile, m², i fastest.
    areas: Vec<Vec<f64>>,
    /// Pressure at the model top, Pa.
    top: f64,
}

/// The layers of a window in one column.
struct Column {
    /// Interfaces, Pa, of moist air.
    pressure: Vec<f64>,
    temperature: Vec<f64>,
    humidity: Vec<f64>,
}

impl<R: Scalar> Meteorology<R> {
    /// What a configuration asks for; `None`: nothing.
    pub(super) fn new(config: &RunConfig, setup: &Setup) -> Option<Self> {
        let fields = config.output.as_ref().map_or(Vec::new(), |output| output.fields.meteorology.clone());
        if fields.is_empty() {
            return None;
        }
        let area = |j: usize, range: std::ops::Range<usize>| range.map(move |i| setup.grid.area(i, j));
        let areas = setup.tiles.tiles().iter();
        let areas = areas.map(|t| (t.j0..t.j0 + t.nj).flat_map(|j| area(j, t.i0..t.i0 + t.ni)).collect()).collect();
        let columns = Slabs::zeros(setup.tiles.clone(), 1, MetField::ALL.len());
        Some(Self { fields, columns, areas, top: setup.vertical.a()[0] })
    }

    /// Works the fields out for a window, and for the columns of dry air that the run carries.
    pub(super) fn update(&mut self, window: &WindowBuffer<R>, carried: &ColumnSums<R>) -> &MetColumns<R> {
        let Self { fields, columns, areas, top } = self;
        let set = columns.tile_set().clone();
        for (tile, shape) in set.shapes().iter().enumerate() {
            let dry: Vec<f64> =
                carried.values(tile, AIR).zip(&areas[tile]).map(|(m, a)| GRAVITY * m / a + *top).collect();
            let cells: Vec<usize> = (0..shape.nj * shape.ni).collect();
            let at = |n: usize| shape.row_start(n / shape.ni) + n % shape.ni;
            let found = |n: &usize| {
                let Column { pressure, temperature, humidity } =
                    Column::of(window, (tile, at(*n)), areas[tile][*n], *top);
                tropopause(&pressure, &temperature, &humidity)
            };
            // Height and pressure come from the same search.
            let sought = fields.iter().any(|f| matches!(f, MetField::TropopauseHeight | MetField::TropopausePressure));
            let tropopauses: Vec<_> = if sought { cells.par_iter().map(found).collect() } else { Vec::new() };
            for &field in fields.iter() {
                let value = |n: &usize| -> f64 {
                    let (at, area) = (at(*n), areas[tile][*n]);
                    match field {
                        MetField::DrySurfacePressure => dry[*n],
                        MetField::SurfacePressure => dry[*n] + GRAVITY * vapour(window, (tile, at)) / area,
                        MetField::BoundaryLayerHeight => section(window, Section::Pblh).plane(0, tile, 0)[at].to_f64(),
                        MetField::TropopauseHeight => tropopauses[*n].map_or(f64::NAN, |t| t.height),
                        MetField::TropopausePressure => tropopauses[*n].map_or(f64::NAN, |t| t.pressure),
                    }
                };
                let values: Vec<f64> = cells.par_iter().map(value).collect();
                let plane = columns.plane_mut(0, tile, field as usize);
                for (row, values) in values.chunks_exact(shape.ni).enumerate() {
                    let into = &mut plane[shape.row_start(row)..][..shape.ni];
                    into.iter_mut().zip(values).for_each(|(into, value)| *into = R::from_f64(*value));
                }
            }
        }
        columns
    }
}

fn section<R: Scalar>(window: &WindowBuffer<R>, section: Section) -> &Slabs<R> {
    window.get(section).expect("the buffer was made with every section the output uses")
}

/// Water vapour of a column, kg: of moist air of specific humidity q, dry air being the rest.
fn vapour<R: Scalar>(window: &WindowBuffer<R>, (tile, at): (usize, usize)) -> f64 {
    let (air, humidity) = (section(window, Section::AirMass), section(window, Section::VdiffQv));
    let layers = (0..air.levels()).map(|k| [air, humidity].map(|field| field.plane(k, tile, 0)[at].to_f64()));
    layers.map(|[dry, q]| dry * q / (1.0 - q)).sum()
}

impl Column {
    fn of<R: Scalar>(window: &WindowBuffer<R>, (tile, at): (usize, usize), area: f64, top: f64) -> Self {
        let fields = [Section::AirMass, Section::VdiffT, Section::VdiffQv].map(|s| section(window, s));
        let layer = |k: usize| fields.map(|field| field.plane(k, tile, 0)[at].to_f64());
        let levels = fields[0].levels();
        let mut column = Self { pressure: vec![top], temperature: Vec::new(), humidity: Vec::new() };
        for k in 0..levels {
            let [dry, temperature, humidity] = layer(k);
            column.pressure.push(column.pressure[k] + GRAVITY * dry / (1.0 - humidity) / area);
            column.temperature.push(temperature);
            column.humidity.push(humidity);
        }
        column
    }
}
