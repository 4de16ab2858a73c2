//! Air mass and planes.

use atmostr::device::Argument;
use atmostr::operators::{Decaying, TracersAtReset, decay, reset_air_mass};
use atmostr::sources::Decay;
use atmostr::state::Slabs;
use kernels::Scalar;
use kernels::cpu::FaceCoefficients;
use kernels::device::KernelName;

use crate::rig::{Rig, copy_interior, int, real};
use crate::sweeps::{Paired, prepare, vertical_air};
use crate::world::{World, table};

pub fn advance_air<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    for axis in 0..2 {
        let state = rig.put(world.state.slabs().data());
        let rows = world.rows();
        let [stride, field_stride] = world.strides();
        let arguments = [
            state,
            rig.put(world.fluxes[axis].data()),
            rig.put(&world.tiles()),
            rig.put(&table(&rows)),
            Argument::Int(int(axis)),
            real(world.scale),
            stride,
            field_stride,
            Argument::Int(int(world.levels.start)),
        ];
        rig.cover(KernelName::AdvanceAir, world.widest(), [rows.len(), world.levels.len()], &arguments);
        let shapes = world.set.shapes();
        let mut faces = FaceCoefficients::new(shapes);
        let mut expected = world.state.slabs().clone();
        for level in world.levels.clone() {
            for (tile, shape) in shapes.iter().enumerate() {
                let (air, _) = prepare(world, axis, (level, tile), &mut faces);
                copy_interior(shape, &air, expected.plane_mut(level, tile, 0));
            }
        }
        rig.assert_memory(state, expected.data());
    }
}

pub fn advance_air_vertically<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let state = rig.put(world.state.slabs().data());
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let paired = Paired::new(world);
    let [allowed, part] = paired.arguments(rig);
    let arguments = [
        state,
        rig.put(world.fluxes[2].data()),
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        Argument::Int(int(world.depth())),
        real(world.scale),
        stride,
        field_stride,
        allowed,
        part,
    ];
    let groups = [rows.len(), world.depth()];
    rig.cover(KernelName::AdvanceAirVertically, world.widest(), groups, &arguments);
    rig.assert_memory(state, &vertical_air(world, &paired));
}

pub fn reset_air<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let mut start = Slabs::zeros(world.set.clone(), world.depth(), 1);
    let mut tendency = start.clone();
    start.data_mut().iter_mut().for_each(|mass| *mass = world.mass());
    tendency.data_mut().iter_mut().for_each(|change| *change = world.value());
    let rows = world.rows();
    let tables = [rig.put(start.data()), rig.put(tendency.data()), rig.put(&world.tiles()), rig.put(&table(&rows))];
    let [stride, field_stride] = world.strides();
    for tracers in [TracersAtReset::KeepRatio, TracersAtReset::KeepMass] {
        for at_end in [false, true] {
            let state = rig.put(world.state.slabs().data());
            let arguments = [
                state,
                tables[0],
                // At the start of a window any field will do.
                tables[usize::from(at_end)],
                tables[2],
                tables[3],
                Argument::Int(i32::from(at_end)),
                Argument::Int(i32::from(tracers == TracersAtReset::KeepRatio)),
                Argument::Int(int(world.planes())),
                stride,
                field_stride,
            ];
            rig.cover(KernelName::ResetAir, world.widest(), [rows.len(), world.depth()], &arguments);
            let mut expected = world.state.clone();
            reset_air_mass(&mut expected, tracers, &start, at_end.then_some(&tendency));
            rig.assert_memory(state, expected.slabs().data());
        }
    }
}

pub fn extract_plane<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    let plane = world.random.below(world.planes());
    let mut expected = world.fluxes[0].clone();
    let field = rig.put(expected.data());
    let rows = world.rows();
    let [stride, field_stride] = world.strides();
    let arguments = [
        rig.put(world.state.slabs().data()),
        field,
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        Argument::Int(int(plane)),
        stride,
        field_stride,
    ];
    rig.cover(KernelName::ExtractPlane, world.widest(), [rows.len(), world.depth()], &arguments);
    for level in 0..world.depth() {
        for (tile, shape) in world.set.shapes().iter().enumerate() {
            copy_interior(shape, world.state.slabs().plane(level, tile, plane), expected.plane_mut(level, tile, 0));
        }
    }
    rig.assert_memory(field, expected.data());
}

/// Decay of one tracer by half-lives from much shorter to much longer than the step.
pub fn decay_tracer<R: Scalar>(rig: &mut Rig<R>, world: &mut World<R>) {
    if world.planes() == 1 {
        return;
    }
    let one = Decaying {
        tracer: world.random.below(world.planes() - 1),
        decay: Decay::from_rate([1e-9, 2.1e-6, 1e-3][world.random.below(3)]).unwrap(),
    };
    let (dt, rows) = (450.0, world.rows());
    let state = rig.put(world.state.slabs().data());
    let arguments = [
        state,
        rig.put(&world.tiles()),
        rig.put(&table(&rows)),
        Argument::Int(int(1 + one.tracer)),
        real(one.decay.decrement::<R>(dt)),
        world.strides()[0],
    ];
    rig.cover(KernelName::Decay, world.widest(), [rows.len(), world.depth()], &arguments);
    let mut expected = world.state.clone();
    decay(&mut expected, &[one], dt);
    rig.assert_memory(state, expected.slabs().data());
}
