//! Every kernel on a device gives the bits of its form for the processor, cell by cell, and writes nowhere else.
//!
//! A kernel is compared on random tiles, states and winds, all of a launch at once, with groups of several shapes.

#[path = "../support/device.rs"]
mod device;

mod air;
mod cmfmc;
mod columns;
mod deposit;
mod diffusion;
mod halos;
mod rig;
mod scans;
mod seams;
mod sweeps;
mod tm5;
mod world;

use kernels::columns::convection::tm5::Solve;
use kernels::device::{Dialect, GroupShapes, KernelName, KernelPart, KernelSet, Tm5Room};
use kernels::scheme::{PpmLimiter, Scheme};
use kernels::{Scalar, TileShape};

use device::open_device;
use rig::Rig;
use world::World;

/// Launches a kernel and compares what it leaves with the form for the processor.
type Check<R> = fn(&mut Rig<R>, &mut World<R>);

/// What a kernel is compared for.
enum Case<R: Scalar> {
    /// Its text depends on the scheme.
    EveryScheme(Check<R>),
    /// Its text is the same for all schemes.
    OneScheme(Check<R>),
}

/// The case of a kernel. A new kernel gets a line here; without it this does not compile.
fn case<R: Scalar>(kernel: KernelName) -> Case<R> {
    match kernel {
        KernelName::SweepX => Case::EveryScheme(sweeps::sweep_x),
        KernelName::SweepY => Case::EveryScheme(sweeps::sweep_y),
        KernelName::SweepZ => Case::EveryScheme(sweeps::sweep_z),
        KernelName::AdvanceAir => Case::OneScheme(air::advance_air),
        KernelName::AdvanceAirVertically => Case::OneScheme(air::advance_air_vertically),
        KernelName::ResetAir => Case::OneScheme(air::reset_air),
        KernelName::Decay => Case::OneScheme(air::decay_tracer),
        KernelName::ExtractPlane => Case::OneScheme(air::extract_plane),
        KernelName::SeamAmounts => Case::EveryScheme(seams::seam_amounts),
        KernelName::SeamApply => Case::OneScheme(seams::seam_apply),
        KernelName::BookSeams => Case::OneScheme(seams::book_seams),
        KernelName::HaloCopy => Case::OneScheme(halos::halo_copy),
        KernelName::HaloPack => Case::OneScheme(halos::halo_pack),
        KernelName::HaloUnpack => Case::OneScheme(halos::halo_unpack),
        KernelName::LargestOutflow => Case::OneScheme(scans::largest_outflow),
        KernelName::FirstUnusable => Case::OneScheme(scans::first_unusable),
        KernelName::ExactSums => Case::OneScheme(scans::exact_sums),
        KernelName::ColumnSums => Case::OneScheme(scans::column_sums),
        KernelName::FuseColumns => Case::OneScheme(sweeps::fuse),
        KernelName::SplineRows | KernelName::SweepSpline => Case::OneScheme(sweeps::spline),
        KernelName::DiffusionFactors => Case::OneScheme(diffusion::diffusion_factors),
        KernelName::Diffuse => Case::OneScheme(diffusion::diffuse),
        KernelName::DiffuseSingle => Case::OneScheme(diffusion::diffuse_single),
        KernelName::FluxFormFactors => Case::OneScheme(diffusion::flux_form_factors),
        KernelName::DiffuseFluxForm => Case::OneScheme(diffusion::diffuse_flux_form),
        KernelName::DiffuseMatrixForm => Case::OneScheme(diffusion::diffuse_matrix_form),
        KernelName::DepositSurface => Case::OneScheme(deposit::deposit_surface),
        KernelName::DepositProfile => Case::OneScheme(deposit::deposit_profile),
        KernelName::CloudCourant => Case::OneScheme(cmfmc::cloud_courant),
        KernelName::CmfmcPrepare | KernelName::CmfmcConvect => Case::OneScheme(cmfmc::cmfmc),
        KernelName::Tm5Collaborative => Case::OneScheme(tm5::tm5_collaborative),
        KernelName::Tm5Serial => Case::OneScheme(tm5::tm5_serial),
    }
}

/// All kernels.
fn everything() -> KernelSet {
    let room = Tm5Room { layers: columns::DEEPEST, solve: Solve::Delta, batch: 6 };
    let parts =
        [KernelPart::Spline, KernelPart::Diffusion, KernelPart::Deposit, KernelPart::Cmfmc, KernelPart::Tm5Serial];
    parts.into_iter().fold(KernelSet::transport().with_tm5(room), KernelSet::with)
}

/// Shapes of groups.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Groups {
    Usual,
    /// Several groups where one would do, none of them full.
    Odd,
    /// As few lanes as a kernel takes.
    Smallest,
}

impl Groups {
    fn shapes(self, dialect: Dialect) -> GroupShapes {
        // Processors run lanes in a loop; with groups of other shapes lanes are threads there too, as on GPUs.
        let dialect = match (self, dialect) {
            (Groups::Odd | Groups::Smallest, Dialect::OpenClProcessor) => Dialect::OpenCl,
            _ => dialect,
        };
        let mut shapes = GroupShapes::usual(dialect, world::WIDEST);
        for (n, kernel) in KernelName::ALL.iter().enumerate() {
            match self {
                Groups::Usual => {}
                // Rows of the widest tile take 64 lanes: three rows.
                Groups::Odd if *kernel == KernelName::SweepX => shapes.set(*kernel, 3 * 64),
                Groups::Odd => shapes.set(*kernel, 5 + 3 * n),
                Groups::Smallest => shapes.set(*kernel, 1),
            }
        }
        shapes
    }
}

/// Programs to compare: every scheme, and every shape of groups where a scheme reads no, one and two neighbours.
const PROGRAMS: [(Scheme, Groups); 15] = {
    let [upwind, slopes, monotone, positive, none, linear, cw84, huynh, mono, pd, universal, mp_pd] = Scheme::ALL;
    [
        (upwind, Groups::Usual),
        (upwind, Groups::Odd),
        (slopes, Groups::Smallest),
        (monotone, Groups::Usual),
        (positive, Groups::Odd),
        (none, Groups::Odd),
        (linear, Groups::Smallest),
        (cw84, Groups::Usual),
        (cw84, Groups::Odd),
        (huynh, Groups::Usual),
        (mono, Groups::Odd),
        (pd, Groups::Usual),
        (universal, Groups::Usual),
        (mp_pd, Groups::Odd),
        (mp_pd, Groups::Smallest),
    ]
};

/// Worlds for each program.
const WORLDS: u64 = 12;

fn every_kernel<R: Scalar>() {
    let mut values = [0; 2];
    let mut clamped = 0;
    let mut seen = Vec::new();
    for (program, (scheme, groups)) in PROGRAMS.into_iter().enumerate() {
        let Some(device) = open_device::<R>() else { return };
        let shapes = groups.shapes(device.info().dialect);
        // Kernels whose text is the same for all schemes need not be compiled for each.
        let set = if seen.contains(&groups) { KernelSet::transport() } else { everything() };
        let mut rig = Rig::<R>::new(device, scheme, shapes, &set);
        for n in 0..WORLDS {
            let mut world = World::<R>::new(WORLDS * program as u64 + n, scheme);
            for &kernel in KernelName::ALL {
                let check = match case::<R>(kernel) {
                    Case::EveryScheme(check) => check,
                    Case::OneScheme(check) if !seen.contains(&groups) => check,
                    Case::OneScheme(_) => continue,
                };
                rig.begin(format!("{} {} {scheme:?} {groups:?} {world}", kernel.name(), R::NAME));
                check(&mut rig, &mut world);
            }
        }
        seen.push(groups);
        values[0] += rig.compared.values;
        values[1] += rig.compared.not_numbers;
        clamped += rig.compared.clamped;
    }
    // The comparison means something: most values are numbers, some are none, and some faces are clamped.
    println!("{}: {} values, {} of them NaN, {clamped} faces clamped", R::NAME, values[0], values[1]);
    assert!(values[0] > 1_000_000 && values[1] > 1000 && values[1] < values[0] / 3 && clamped > 1000, "{values:?}");
}

#[test]
fn every_kernel_has_the_same_bits_in_single_precision() {
    every_kernel::<f32>();
}

#[test]
fn every_kernel_has_the_same_bits_in_double_precision() {
    every_kernel::<f64>();
}

#[test]
fn every_scheme_and_shape_of_groups_is_compared() {
    for scheme in Scheme::ALL {
        assert!(PROGRAMS.iter().any(|(compared, _)| *compared == scheme), "{scheme:?}");
    }
    for groups in [Groups::Usual, Groups::Odd, Groups::Smallest] {
        assert!(PROGRAMS.iter().any(|(_, compared)| *compared == groups), "{groups:?}");
    }
    let shapes = Groups::Odd.shapes(Dialect::OpenCl);
    assert_eq!(shapes.group(KernelName::SweepX), [64, 3, 1]);
    assert!(TileShape::new(world::WIDEST, 1, Scheme::Ppm(PpmLimiter::Cw84).halo()).ni + 2 <= 64);
}
