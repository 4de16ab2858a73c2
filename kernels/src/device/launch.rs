//! The kernels of a program and the shapes of their groups, as data.

use core::fmt::Write;

use super::set::KernelPart;

/// Family of devices; decides how many lanes a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NVIDIA GPUs.
    Cuda,
    /// OpenCL devices other than processors.
    OpenCl,
    /// Processors through OpenCL: a group of a sweep is one thread that goes through its lanes in a loop.
    OpenClProcessor,
    /// Apple GPUs.
    Metal,
}

/// What the lanes of a group stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lanes {
    /// Whole rows of cells and two neighbours each; the number is about how many lanes a group has.
    WholeRows,
    /// Pieces of a row; the number is the most there are.
    PieceOfRow,
    /// Any items along axis 0.
    Items,
    /// All on one item.
    OneItem,
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident $name:literal $part:ident $kind:ident [$cuda:literal $opencl:literal $metal:literal];)*) => {
        /// A kernel. This list is the one place where a kernel is registered: its name in the device text, the part of a
        /// program it belongs to, what its lanes stand for, and the lanes of a group on CUDA, OpenCL and Metal devices.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum KernelName {
            $($(#[$doc])* $kernel,)*
        }

        impl KernelName {
            /// Every kernel.
            pub const ALL: &[KernelName] = &[$(KernelName::$kernel,)*];

            /// Name in the device text.
            pub fn name(self) -> &'static str {
                match self {
                    $(KernelName::$kernel => $name,)*
                }
            }

            /// Part of a program that holds it.
            pub fn part(self) -> KernelPart {
                match self {
                    $(KernelName::$kernel => KernelPart::$part,)*
                }
            }

            /// Whether its lanes may run in a loop.
            fn may_loop(self) -> bool {
                use KernelName::{SeamAmounts, SweepX, SweepY, SweepZ};
                matches!(self, SweepX | SweepY | SweepZ | SeamAmounts)
            }

            fn lanes(self) -> Lanes {
                match self {
                    $(KernelName::$kernel => Lanes::$kind,)*
                }
            }

            /// Lanes of a group unless told otherwise.
            fn usual_lanes(self, dialect: Dialect) -> usize {
                let [cuda, opencl, metal] = match self {
                    $(KernelName::$kernel => [$cuda, $opencl, $metal],)*
                };
                match dialect {
                    Dialect::Cuda => cuda,
                    Dialect::OpenCl | Dialect::OpenClProcessor => opencl,
                    Dialect::Metal => metal,
                }
            }
        }
    };
}

kernels! {
    /// Sweep of all tracers along i.
    SweepX "sweep_x" Transport WholeRows [192 512 192];
    /// Sweep of all tracers along j.
    SweepY "sweep_y" Transport PieceOfRow [128 128 128];
    /// Sweep of all tracers along k.
    SweepZ "sweep_z" Transport PieceOfRow [128 128 128];
    /// Air mass after a sweep along i or j.
    AdvanceAir "advance_air" Transport PieceOfRow [128 256 128];
    /// Air mass after a sweep along k.
    AdvanceAirVertically "advance_air_vertically" Transport PieceOfRow [128 256 128];
    /// Air mass set to that of the file.
    ResetAir "reset_air" Transport PieceOfRow [128 256 128];
    /// Decay of one tracer.
    Decay "decay" Transport PieceOfRow [128 256 128];
    /// One plane of the state as a field.
    ExtractPlane "extract_plane" Transport PieceOfRow [128 256 128];
    /// Amounts across panel seams.
    SeamAmounts "seam_amounts" Transport Items [64 256 64];
    /// Seam amounts taken from and given to edge cells.
    SeamApply "seam_apply" Transport Items [64 256 64];
    /// Fluxes through panel seams into the books of edge cells.
    BookSeams "book_seams" Transport Items [64 256 64];
    /// Halo copies between the tiles of a rank.
    HaloCopy "halo_copy" Transport Items [128 256 128];
    /// Halo cells into messages.
    HaloPack "halo_pack" Transport Items [128 256 128];
    /// Halo cells out of messages.
    HaloUnpack "halo_unpack" Transport Items [128 256 128];
    /// Largest outflow budget of each row.
    LargestOutflow "largest_outflow" Transport Items [64 64 64];
    /// First unusable value of each row.
    FirstUnusable "first_unusable" Transport Items [64 64 64];
    /// Exact sums over rows of columns.
    ExactSums "exact_sums" Transport Items [32 32 32];
    /// Sums of columns for output.
    ColumnSums "column_sums" Transport Items [128 256 128];
    /// Columns that take two vertical sweeps at once.
    FuseColumns "fuse_columns" Transport PieceOfRow [128 128 128];
    /// What all tracers share in vertical sweeps with spline profiles.
    SplineRows "spline_rows" Spline PieceOfRow [128 128 128];
    /// Vertical sweep with spline profiles.
    SweepSpline "sweep_spline" Spline PieceOfRow [64 128 64];
    /// What all tracers share in the mass-space solve of diffusion.
    DiffusionFactors "diffusion_factors" Diffusion PieceOfRow [128 128 128];
    /// Mass-space solve of diffusion.
    Diffuse "diffuse" Diffusion PieceOfRow [64 128 64];
    /// Both for a single tracer.
    DiffuseSingle "diffuse_single" Diffusion PieceOfRow [64 128 64];
    /// What all tracers share in the tridiagonal solve of diffusion.
    FluxFormFactors "flux_form_factors" Diffusion PieceOfRow [128 128 128];
    /// Tridiagonal solve of diffusion whose fluxes move the contents.
    DiffuseFluxForm "diffuse_flux_form" Diffusion PieceOfRow [64 128 64];
    /// Tridiagonal solve of diffusion, written back.
    DiffuseMatrixForm "diffuse_matrix_form" Diffusion PieceOfRow [64 128 64];
    /// Deposit of emissions in the surface layer.
    DepositSurface "deposit_surface" Deposit PieceOfRow [128 128 128];
    /// Deposit of emissions by a profile.
    DepositProfile "deposit_profile" Deposit PieceOfRow [64 128 64];
    /// Largest Courant number of the cloud mass flux in each row.
    CloudCourant "cloud_courant" Cmfmc Items [64 64 64];
    /// What all tracers share in explicit convection.
    CmfmcPrepare "cmfmc_prepare" Cmfmc PieceOfRow [64 128 64];
    /// Explicit convection.
    CmfmcConvect "cmfmc_convect" Cmfmc PieceOfRow [64 128 64];
    /// Implicit convection, a group for each column.
    Tm5Collaborative "tm5_collaborative" Tm5Collaborative OneItem [32 32 32];
    /// Implicit convection, a lane for each column.
    Tm5Serial "tm5_serial" Tm5Serial PieceOfRow [64 64 64];
}

/// Lanes of the groups of every kernel of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupShapes {
    lanes: Vec<usize>,
    row_lanes: usize,
    row_threads: usize,
    in_a_loop: bool,
}

/// Halo cells of a row on both sides, of the widest schemes.
const ROW_HALO: usize = 6;

/// Lanes of rows come in units of this many: what devices run in step.
const LANE_UNIT: usize = 32;
/// The same on processors: numbers in a vector.
const VECTOR_UNIT: usize = 16;

impl GroupShapes {
    /// The usual shapes for tiles of at most `widest` cells along i.
    pub fn usual(dialect: Dialect, widest: usize) -> Self {
        let in_a_loop = dialect == Dialect::OpenClProcessor;
        let unit = if in_a_loop { VECTOR_UNIT } else { LANE_UNIT };
        let lanes = |kernel: &KernelName| {
            let most = kernel.usual_lanes(dialect);
            match kernel.lanes() {
                // Pieces of equal length leave the fewest lanes idle.
                Lanes::PieceOfRow => {
                    let widest = widest.max(1);
                    widest.div_ceil(widest.div_ceil(most)).next_multiple_of(unit)
                }
                Lanes::WholeRows | Lanes::Items | Lanes::OneItem => most,
            }
        };
        let lanes: Vec<_> = KernelName::ALL.iter().map(lanes).collect();
        let row_lanes = (widest + ROW_HALO).next_multiple_of(unit);
        let mut shapes = Self { lanes, row_lanes, row_threads: 1, in_a_loop };
        shapes.set(KernelName::SweepX, shapes.lanes[KernelName::SweepX as usize]);
        shapes
    }

    /// Gives the groups of a kernel about `lanes` ≥ 1 lanes; kernels that halve their groups take the power of two below.
    pub fn set(&mut self, kernel: KernelName, lanes: usize) {
        let lanes = lanes.max(1);
        self.lanes[kernel as usize] = match kernel {
            KernelName::LargestOutflow | KernelName::FirstUnusable | KernelName::CloudCourant => 1 << lanes.ilog2(),
            _ => lanes,
        };
        if kernel.lanes() == Lanes::WholeRows && !self.in_a_loop {
            self.row_threads = (lanes / self.row_lanes).max(1);
        }
    }

    /// Items along axis 0 that one group of a kernel takes.
    pub fn items(&self, kernel: KernelName) -> usize {
        match kernel.lanes() {
            Lanes::WholeRows => self.row_threads,
            Lanes::PieceOfRow | Lanes::Items => self.lanes[kernel as usize],
            Lanes::OneItem => 1,
        }
    }

    /// Threads of a group along the three axes.
    pub fn group(&self, kernel: KernelName) -> [usize; 3] {
        match kernel.lanes() {
            _ if self.in_a_loop && kernel.may_loop() => [1, 1, 1],
            Lanes::WholeRows => [self.row_lanes, self.row_threads, 1],
            Lanes::PieceOfRow | Lanes::Items | Lanes::OneItem => [self.lanes[kernel as usize], 1, 1],
        }
    }

    /// Groups along axis 0 that cover `items`: rows for kernels that work on whole rows.
    pub fn covering(&self, kernel: KernelName, items: usize) -> usize {
        items.div_ceil(self.items(kernel))
    }

    /// Kernel with the largest group, and its threads.
    pub fn largest_group(&self) -> (KernelName, usize) {
        let threads = |k: &KernelName| (*k, self.group(*k).iter().product());
        KernelName::ALL.iter().map(threads).max_by_key(|(_, threads)| *threads).expect("there are kernels")
    }

    /// Lowers the lanes of all groups that a device with groups of at most `most` threads would refuse; whole rows stay.
    pub fn fit(&mut self, most: usize) {
        for &kernel in KernelName::ALL {
            if self.group(kernel).iter().product::<usize>() > most {
                self.set(kernel, most);
            }
        }
    }

    /// How lanes run, which the portable words have to know.
    pub(super) fn way_of_lanes(&self) -> &'static str {
        if self.in_a_loop { "#define LANES_IN_A_LOOP\n" } else { "" }
    }

    /// What the device text has to know when it is compiled.
    pub(super) fn defines(&self) -> String {
        let mut text = String::new();
        let (y_lanes, z_lanes) = (self.items(KernelName::SweepY), self.items(KernelName::SweepZ));
        let scan = self.lanes[KernelName::LargestOutflow as usize];
        let search = self.lanes[KernelName::FirstUnusable as usize];
        let sum = self.lanes[KernelName::ExactSums as usize];
        for (name, value) in [
            ("X_LANES", self.row_lanes),
            ("X_ROWS", self.row_threads),
            ("Y_LANES", y_lanes),
            ("Z_LANES", z_lanes),
            ("SEAM_LANES", self.items(KernelName::SeamAmounts)),
            ("SCAN_LANES", scan),
            ("SEARCH_LANES", search),
            ("SUM_LANES", sum),
            ("CLOUD_LANES", self.lanes[KernelName::CloudCourant as usize]),
        ] {
            writeln!(text, "#define {name} {value}").expect("a string takes any text");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_lanes_for_their_halos() {
        let shapes = GroupShapes::usual(Dialect::Cuda, 90);
        assert_eq!(shapes.group(KernelName::SweepX), [96, 2, 1]);
        assert_eq!(shapes.covering(KernelName::SweepX, 541), 271);
        assert_eq!(GroupShapes::usual(Dialect::Cuda, 720).group(KernelName::SweepX), [736, 1, 1]);
    }

    #[test]
    fn pieces_of_a_row_are_equal() {
        let lanes = |dialect, widest| GroupShapes::usual(dialect, widest).items(KernelName::SweepY);
        assert_eq!([24, 90, 130, 180].map(|widest| lanes(Dialect::Cuda, widest)), [32, 96, 96, 96]);
        assert_eq!([24, 90, 130, 180].map(|widest| lanes(Dialect::OpenClProcessor, widest)), [32, 96, 80, 96]);
    }

    #[test]
    fn processors_run_the_lanes_of_a_sweep_in_a_loop() {
        let shapes = GroupShapes::usual(Dialect::OpenClProcessor, 90);
        for kernel in [KernelName::SweepX, KernelName::SweepY, KernelName::SweepZ] {
            assert_eq!(shapes.group(kernel), [1, 1, 1]);
        }
        assert_eq!((shapes.covering(KernelName::SweepX, 541), shapes.covering(KernelName::SweepY, 90)), (541, 1));
        assert_eq!(shapes.way_of_lanes(), "#define LANES_IN_A_LOOP\n");
        assert_eq!(GroupShapes::usual(Dialect::OpenCl, 90).way_of_lanes(), "");
    }

    #[test]
    fn groups_fit_small_devices_but_for_whole_rows() {
        let mut shapes = GroupShapes::usual(Dialect::OpenCl, 24);
        shapes.fit(64);
        assert!(KernelName::ALL.iter().all(|k| shapes.group(*k).iter().product::<usize>() <= 64));
        let mut wide = GroupShapes::usual(Dialect::OpenCl, 90);
        wide.fit(64);
        assert_eq!(wide.largest_group(), (KernelName::SweepX, 96));
    }

    #[test]
    fn shapes_can_be_set() {
        let mut shapes = GroupShapes::usual(Dialect::Metal, 24);
        shapes.set(KernelName::SweepY, 48);
        shapes.set(KernelName::LargestOutflow, 100);
        assert_eq!(shapes.group(KernelName::SweepY), [48, 1, 1]);
        assert_eq!(shapes.group(KernelName::LargestOutflow), [64, 1, 1]);
        assert!(shapes.defines().contains("#define SCAN_LANES 64\n"));
    }
}
