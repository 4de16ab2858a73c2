//! Convective transport.

use kernels::Scalar;
use kernels::columns::convection::cmfmc::{BaseExchange, CloudBase, CmfmcOptions, Negative, Update};
use kernels::columns::convection::tm5::Solve;
use kernels::device::{KernelName, Tm5Room};
use kernels::numerics::finite_max;

use super::choice::{Tm5Form, layers};
use super::{DeviceColumns, DeviceState};
use crate::device::{Argument, DeviceResult, Memory};
use crate::operators::columns::{Convection, ImplicitConvection};
use crate::operators::device::launcher::real;
use crate::operators::device::tables::int;

/// Matrices factored one by one at least, if there are so many columns.
const LEAST_COLUMNS: usize = 256;

/// What explicit convection is driven by, fields in memory.
#[derive(Clone, Copy, Debug)]
pub struct CloudForcing {
    /// Upward mass flux through layer tops, one level more than layers, kg m⁻² s⁻¹.
    pub cloud_flux: Memory,
    /// Detrainment, kg m⁻² s⁻¹; `None`: what the flux loses between two edges.
    pub detrainment: Option<Memory>,
    /// Archived cloud base, the number of its layer (1 at the top), one level.
    pub cloud_base: Option<Memory>,
}

/// What convection needs beside the ledger.
pub(super) enum ConvectionRoom<R> {
    Collaborative,
    Serial { slab: Memory, pivots: Memory, rows_at_once: usize },
    Cmfmc { shared: [Memory; 4], largest: Memory, host_largest: Vec<R> },
}

impl<R: Scalar> ConvectionRoom<R> {
    pub(super) fn new(choice: &Convection, on: &mut DeviceState) -> DeviceResult<Self> {
        let levels = on.shape.levels;
        let implicit = match choice {
            Convection::Cmfmc(_) => {
                let mut field = || on.memory::<R>(levels);
                let [rates, fluxes, leaving] = [field()?, field()?, field()?];
                let shared = [rates, fluxes, leaving, on.memory::<R>(4)?];
                let rows = on.shape.rows;
                let largest = on.launcher.memory::<R>(rows)?;
                return Ok(Self::Cmfmc { shared, largest, host_largest: vec![R::default(); rows] });
            }
            Convection::Tm5(implicit) | Convection::CmfmcMatrix(implicit) => implicit,
        };
        if let Tm5Form::Collaborative(_) = Tm5Form::new::<R>(on.launcher.device.info(), levels, implicit)? {
            return Ok(Self::Collaborative);
        }
        let room = Tm5Room::alone(layers(&implicit.options, levels));
        let width = on.shape.widest.max(1);
        let bytes = room.words() * size_of::<R>() + room.layers * size_of::<i32>();
        let columns = (implicit.workspace_gib * (1_u64 << 30) as f64 / bytes as f64) as usize;
        let rows_at_once = (columns / width).max(LEAST_COLUMNS.div_ceil(width)).min(on.shape.rows).max(1);
        let columns = rows_at_once * width;
        let slab = on.launcher.memory::<R>(room.words() * columns)?;
        Ok(Self::Serial { slab, pivots: on.launcher.memory::<i32>(room.layers * columns)?, rows_at_once })
    }
}

impl<R: Scalar> DeviceColumns<R> {
    /// Convects all tracers for `dt` seconds by implicit mass fluxes: fields of entrainment into and detrainment from the
    /// updraught and, if there is one anywhere, the downdraught, ≥ 0, kg m⁻² s⁻¹.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// Without implicit convection.
    pub fn convect_tm5(
        &self,
        on: &mut DeviceState,
        dt: f64,
        updraft: [Memory; 2],
        downdraft: Option<[Memory; 2]>,
        choice: &ImplicitConvection,
    ) -> DeviceResult<()> {
        let (room, books) = self.convection.as_ref().expect("made for convection");
        let options = &choice.options;
        let layers = layers(options, on.shape.levels);
        let [entu, detu] = updraft.map(Argument::Memory);
        // Without a downdraught any field will do.
        let [entd, detd] = downdraft.unwrap_or(updraft).map(Argument::Memory);
        let (state, areas) = (Argument::Memory(on.state), Argument::Memory(self.areas));
        let [carry, returned, refused] = [books.carry, books.returned, books.refused].map(Argument::Memory);
        let (tiles, rows) = (on.tiles(), on.rows());
        let (stride, field_stride) = (on.stride(), on.field_stride());
        let sinks = Argument::Int(i32::from(downdraft.is_some()));
        let delta = Argument::Int(i32::from(options.solve == Solve::Delta));
        let shift = Argument::Int(int(on.shape.levels - layers * options.n_merge));
        let (layers, merge) = (Argument::Int(int(layers)), Argument::Int(int(options.n_merge)));
        let (dt, planes) = (real(R::from_f64(dt)), Argument::Int(int(on.shape.planes)));
        match room {
            ConvectionRoom::Collaborative => {
                let arguments = [
                    state,
                    entu,
                    detu,
                    entd,
                    detd,
                    areas,
                    carry,
                    returned,
                    refused,
                    tiles,
                    rows,
                    sinks,
                    delta,
                    layers,
                    merge,
                    shift,
                    dt,
                    planes,
                    stride,
                    field_stride,
                ];
                on.each_column(KernelName::Tm5Collaborative, &arguments)
            }
            ConvectionRoom::Serial { slab, pivots, rows_at_once } => {
                let (slab, pivots) = (Argument::Memory(*slab), Argument::Memory(*pivots));
                let (all, widest) = (on.shape.rows, on.shape.widest);
                let width = Argument::Int(int(widest));
                for first in (0..all).step_by(*rows_at_once) {
                    let count = (*rows_at_once).min(all - first);
                    let (first, some) = (Argument::Int(int(first)), Argument::Int(int(count)));
                    let arguments = [
                        state,
                        entu,
                        detu,
                        entd,
                        detd,
                        areas,
                        slab,
                        pivots,
                        carry,
                        returned,
                        refused,
                        tiles,
                        rows,
                        first,
                        some,
                        width,
                        sinks,
                        delta,
                        layers,
                        merge,
                        shift,
                        dt,
                        planes,
                        stride,
                        field_stride,
                    ];
                    on.launcher.cover(KernelName::Tm5Serial, widest, [count, 1], &arguments)?;
                }
                Ok(())
            }
            ConvectionRoom::Cmfmc { .. } => panic!("made for explicit convection"),
        }
    }

    /// Largest Courant number of the cloud mass flux on this rank for a step of `dt` seconds; not a number where a flux is
    /// none. Waits.
    ///
    /// # Errors
    /// The device refuses it, or has failed since.
    ///
    /// # Panics
    /// Without explicit convection.
    pub fn courant(&mut self, on: &mut DeviceState, cloud_flux: Memory, dt: f64) -> DeviceResult<f64> {
        let Some((ConvectionRoom::Cmfmc { largest, host_largest, .. }, _)) = &mut self.convection else {
            panic!("made for no explicit convection")
        };
        let arguments = [
            Argument::Memory(on.state),
            Argument::Memory(cloud_flux),
            Argument::Memory(self.areas),
            Argument::Memory(*largest),
            on.tiles(),
            on.rows(),
            real(R::from_f64(dt)),
            on.levels(),
            on.stride(),
            on.field_stride(),
        ];
        on.launcher.launch(KernelName::CloudCourant, [on.shape.rows, 1, 1], &arguments)?;
        on.read(*largest, host_largest)?;
        Ok(host_largest.iter().fold(R::default(), |a, b| finite_max(a, *b)).to_f64())
    }

    /// Convects all tracers by a cloud mass flux, in `substeps` equal parts of `dt` seconds.
    ///
    /// # Errors
    /// The device refuses it.
    ///
    /// # Panics
    /// Without explicit convection, and where an archived cloud base is asked for and not given.
    pub fn convect_cmfmc(
        &self,
        on: &mut DeviceState,
        dt: f64,
        substeps: usize,
        forcing: &CloudForcing,
        options: &CmfmcOptions,
    ) -> DeviceResult<()> {
        let Some((ConvectionRoom::Cmfmc { shared, .. }, books)) = &self.convection else {
            panic!("made for no explicit convection")
        };
        let flag = |set: bool| Argument::Int(i32::from(set));
        let rule = match options.cloud_base {
            CloudBase::CloudFlux => 0,
            CloudBase::Archived => 1,
            CloudBase::None => 2,
        };
        assert!(rule != 1 || forcing.cloud_base.is_some(), "the archived cloud base is asked for and not given");
        let (state, areas) = (Argument::Memory(on.state), Argument::Memory(self.areas));
        let flux = Argument::Memory(forcing.cloud_flux);
        // What is not given is not read.
        let [detrainment, base] =
            [forcing.detrainment, forcing.cloud_base].map(|field| field.map_or(flux, Argument::Memory));
        let [rates, fluxes, leaving, bases] = shared.map(Argument::Memory);
        let [carry, returned, refused] = [books.carry, books.returned, books.refused].map(Argument::Memory);
        let (tiles, rows, levels) = (on.tiles(), on.rows(), on.levels());
        let (stride, field_stride) = (on.stride(), on.field_stride());
        let (detrains, rule) = (flag(forcing.detrainment.is_some()), Argument::Int(rule));
        let clamped = flag(options.negative == Negative::Clamped);
        let part = real(R::from_f64(dt) / R::from_f64(substeps as f64));
        let arguments = [
            state,
            flux,
            detrainment,
            base,
            areas,
            rates,
            fluxes,
            leaving,
            bases,
            tiles,
            rows,
            detrains,
            rule,
            clamped,
            part,
            levels,
            stride,
            field_stride,
        ];
        on.each_column(KernelName::CmfmcPrepare, &arguments)?;
        let base_first = flag(options.exchange == BaseExchange::BeforePlume);
        let mass_flux = flag(options.update == Update::MassFlux);
        let arguments = [
            state,
            areas,
            rates,
            fluxes,
            leaving,
            bases,
            carry,
            returned,
            refused,
            tiles,
            rows,
            Argument::Int(int(substeps)),
            base_first,
            mass_flux,
            clamped,
            part,
            levels,
            stride,
            field_stride,
        ];
        on.each_tracer(KernelName::CmfmcConvect, on.tracers(), &arguments)
    }
}
