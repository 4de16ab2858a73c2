//! States and blocks of 3 h on the cube.

use jiff::civil::Date;

use super::super::archive::{PhysicsGroup, Variable, cloud_base};
use super::files::Files;
use super::layout::Collection;
use crate::grid::HybridCoordinate;
use crate::preprocess::{
    LatLonToCube, PreprocessError, Stage, Stages, Target, WindRegrid, dry_thickness, thickness_to_mass,
};

/// The air at one instant, `[layer][cell]` unless stated.
pub(super) struct State {
    /// Surface pressure of all air, Pa, `[cell]`.
    pub ps: Vec<f64>,
    /// Specific humidity, kg/kg.
    pub q: Vec<f64>,
    /// Temperature in K, if it is written.
    pub t: Option<Vec<f64>>,
    /// Dry air, kg.
    pub mass: Vec<f64>,
}

/// Means over a block, `[layer][cell]` unless stated; physics only if they are written.
pub(super) struct Block {
    /// Wind along x, y, z, m s⁻¹.
    pub wind: [Vec<f64>; 3],
    /// Updraft of all air, kg m⁻² s⁻¹, `[interface][cell]`.
    pub cmfmc: Option<Vec<f64>>,
    /// Detrainment of all air, kg m⁻² s⁻¹.
    pub dtrain: Option<Vec<f64>>,
    /// Layer of the cloud base, `[cell]`.
    pub cloud_base: Option<Vec<f64>>,
}

impl State {
    /// State `b` of a day.
    pub(super) fn read(
        files: &mut Files,
        (day, b): (Date, usize),
        to_cube: &LatLonToCube,
        coordinate: &HybridCoordinate,
        target: &Target,
        stages: &mut Stages,
    ) -> Result<Self, PreprocessError> {
        let stored = stages.time(Stage::Read, || files.plane(day, Collection::States, Variable::Ps, b))?;
        let ps = stages.time(Stage::Regrid, || to_cube.field(&stored));
        let wants_t = files.source().wants(PhysicsGroup::Vdiff);
        let mut layers = |variable| {
            let stored = stages.time(Stage::Read, || files.layers(day, Collection::States, variable, b))?;
            Ok::<_, PreprocessError>(stages.time(Stage::Regrid, || to_cube.field(&stored)))
        };
        let q = layers(Variable::Qv)?;
        let t = if wants_t { Some(layers(Variable::T)?) } else { None };
        let mass = stages.time(Stage::Regrid, || {
            let mut mass = dry_thickness(coordinate, &ps, Some(&q));
            thickness_to_mass(target, &mut mass);
            mass
        });
        Ok(Self { ps, q, t, mass })
    }
}

impl Block {
    /// Block `b` of a day.
    pub(super) fn read(
        files: &mut Files,
        (day, b): (Date, usize),
        to_cube: &LatLonToCube,
        regrid: WindRegrid,
        stages: &mut Stages,
    ) -> Result<Self, PreprocessError> {
        let mut stored = |collection, variable, stages: &mut Stages| {
            stages.time(Stage::Read, || files.layers(day, collection, variable, b))
        };
        let u = stored(Collection::Dynamics, Variable::U, stages)?;
        let v = stored(Collection::Dynamics, Variable::V, stages)?;
        let wind = stages.time(Stage::Regrid, || to_cube.wind(&u, &v, regrid));
        drop((u, v));
        if !files.source().wants(PhysicsGroup::Convection) {
            return Ok(Self { wind, cmfmc: None, dtrain: None, cloud_base: None });
        }
        let mut on_cube = |collection, variable| {
            let stored = stages.time(Stage::Read, || files.layers(day, collection, variable, b))?;
            Ok::<_, PreprocessError>(stages.time(Stage::Regrid, || to_cube.field(&stored)))
        };
        let cmfmc = on_cube(Collection::Interfaces, Variable::Cmfmc)?;
        let dtrain = on_cube(Collection::Dynamics, Variable::Dtrain)?;
        let dqrcu = on_cube(Collection::Clouds, Variable::Dqrcu)?;
        // Interfaces are one more than layers.
        let cells = cmfmc.len() - dtrain.len();
        let cloud_base = Some(cloud_base(&dqrcu, cells));
        Ok(Self { wind, cmfmc: Some(cmfmc), dtrain: Some(dtrain), cloud_base })
    }
}
