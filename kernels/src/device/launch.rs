//! The kernels of a program and the shapes of their groups, as data.

use core::fmt::Write;

/// Family of devices; decides how many lanes a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NVIDIA GPUs.
    Cuda,
    /// OpenCL devices; large groups, since CPUs run a group as one loop.
    OpenCl,
    /// Apple GPUs.
    Metal,
}

/// What the lanes of a group stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lanes {
    /// Whole rows of cells and two neighbours each; the number is about how many lanes a group has.
    WholeRows,
    /// Any items along axis 0.
    Items,
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $kernel:ident $name:literal $kind:ident [$cuda:literal $opencl:literal $metal:literal];)*) => {
        /// A kernel. This list is the one place where a kernel is registered: its name in the device text, what its
        /// lanes stand for, and the lanes of a group on CUDA, OpenCL and Metal devices.
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
                    Dialect::OpenCl => opencl,
                    Dialect::Metal => metal,
                }
            }
        }
    };
}

kernels! {
    /// Sweep of all tracers along i.
    SweepX "sweep_x" WholeRows [192 512 192];
    /// Sweep of all tracers along j.
    SweepY "sweep_y" Items [64 128 64];
    /// Sweep of all tracers along k.
    SweepZ "sweep_z" Items [64 128 64];
    /// Air mass after a sweep along i or j.
    AdvanceAir "advance_air" Items [128 256 128];
    /// Air mass after a sweep along k.
    AdvanceAirVertically "advance_air_vertically" Items [128 256 128];
    /// Air mass set to that of the file.
    ResetAir "reset_air" Items [128 256 128];
    /// Decay of one tracer.
    Decay "decay" Items [128 256 128];
    /// One plane of the state as a field.
    ExtractPlane "extract_plane" Items [128 256 128];
    /// Amounts across panel seams.
    SeamAmounts "seam_amounts" Items [64 256 64];
    /// Seam amounts taken from and given to edge cells.
    SeamApply "seam_apply" Items [64 256 64];
    /// Halo copies between the tiles of a rank.
    HaloCopy "halo_copy" Items [128 256 128];
    /// Halo cells into messages.
    HaloPack "halo_pack" Items [128 256 128];
    /// Halo cells out of messages.
    HaloUnpack "halo_unpack" Items [128 256 128];
    /// Largest outflow budget of each row.
    LargestOutflow "largest_outflow" Items [64 64 64];
    /// First unusable value of each row.
    FirstUnusable "first_unusable" Items [64 64 64];
    /// Exact sums over rows of columns.
    SumColumns "sum_columns" Items [32 32 32];
    /// Sums of columns for output.
    ColumnSums "column_sums" Items [128 256 128];
}

/// Lanes of the groups of every kernel of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupShapes {
    lanes: Vec<usize>,
    row_lanes: usize,
    row_threads: usize,
}

/// Row lanes come in units of this many: what real devices run in step.
const LANE_UNIT: usize = 32;

impl GroupShapes {
    /// The usual shapes for tiles of at most `widest` cells along i.
    pub fn usual(dialect: Dialect, widest: usize) -> Self {
        let lanes: Vec<_> = KernelName::ALL.iter().map(|k| k.usual_lanes(dialect)).collect();
        let row_lanes = (widest + 2).next_multiple_of(LANE_UNIT);
        let mut shapes = Self { lanes, row_lanes, row_threads: 1 };
        shapes.set(KernelName::SweepX, shapes.lanes[KernelName::SweepX as usize]);
        shapes
    }

    /// Gives the groups of a kernel about `lanes` ≥ 1 lanes; kernels that halve their groups take the power of two below.
    pub fn set(&mut self, kernel: KernelName, lanes: usize) {
        let lanes = lanes.max(1);
        self.lanes[kernel as usize] = match kernel {
            KernelName::LargestOutflow | KernelName::FirstUnusable => 1 << lanes.ilog2(),
            _ => lanes,
        };
        if kernel.lanes() == Lanes::WholeRows {
            self.row_threads = (lanes / self.row_lanes).max(1);
        }
    }

    /// Lanes of a group along the three axes.
    pub fn group(&self, kernel: KernelName) -> [usize; 3] {
        match kernel.lanes() {
            Lanes::WholeRows => [self.row_lanes, self.row_threads, 1],
            Lanes::Items => [self.lanes[kernel as usize], 1, 1],
        }
    }

    /// Groups along axis 0 that cover `items`: rows for kernels that work on whole rows.
    pub fn covering(&self, kernel: KernelName, items: usize) -> usize {
        match kernel.lanes() {
            Lanes::WholeRows => items.div_ceil(self.row_threads),
            Lanes::Items => items.div_ceil(self.lanes[kernel as usize]),
        }
    }

    /// Lanes of the largest group.
    pub fn largest_group(&self) -> usize {
        KernelName::ALL.iter().map(|k| self.group(*k).iter().product()).max().unwrap_or(1)
    }

    /// What the device text has to know when it is compiled.
    pub(super) fn defines(&self) -> String {
        let mut text = String::new();
        let [x_lanes, x_rows, _] = self.group(KernelName::SweepX);
        let scan = self.lanes[KernelName::LargestOutflow as usize];
        let search = self.lanes[KernelName::FirstUnusable as usize];
        let sum = self.lanes[KernelName::SumColumns as usize];
        for (name, value) in [
            ("X_LANES", x_lanes),
            ("X_ROWS", x_rows),
            ("SCAN_LANES", scan),
            ("SEARCH_LANES", search),
            ("SUM_LANES", sum),
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
    fn rows_have_lanes_for_both_neighbours() {
        let shapes = GroupShapes::usual(Dialect::Cuda, 90);
        assert_eq!(shapes.group(KernelName::SweepX), [96, 2, 1]);
        assert_eq!(shapes.covering(KernelName::SweepX, 541), 271);
        assert_eq!(GroupShapes::usual(Dialect::Cuda, 720).group(KernelName::SweepX), [736, 1, 1]);
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
