//! Names of the sections.

macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident $name:literal;)*) => {
        /// A part of the program whose time is taken. Some lie within others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Timed {
            $($(#[$doc])* $section,)*
        }

        impl Timed {
            /// Every section.
            pub const ALL: &[Timed] = &[$(Timed::$section,)*];

            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// Name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Timed::$section => $name,)*
                }
            }
        }
    };
}

sections! {
    /// From one window to the next: fetching it, its checks and the reset of the air mass.
    WindowAdvance "window_advance";
    /// Filling a window buffer from its file, on whatever thread.
    WindowLoadHost "window_load_host";
    /// Handing a window to the device.
    WindowBackendCopy "window_backend_copy";
    /// One window read on the background thread.
    PrefetchTaskTotal "prefetch_task_total";
    /// Waiting for the background thread.
    PrefetchFetchWait "prefetch_fetch_wait";
    /// One window read while the run waits.
    WindowSyncLoadTotal "window_sync_load_total";
    /// The substeps of a window until they are done.
    Advection "advection";
    /// Search for the largest outflow budget.
    CflScan "cs_cfl";
    /// Sweeps along i.
    SweepX "cs_sweep_x";
    /// Sweeps along j.
    SweepY "cs_sweep_y";
    /// Sweeps along k, with diffusion and emissions between them.
    SweepZ "cs_sweep_z";
    /// Inner faces and predictors of the Lin–Rood operator, with what its tracers share.
    LinRoodInner "cs_linrood_inner";
    /// Outer faces of the Lin–Rood operator.
    LinRoodOuter "cs_linrood_outer";
    /// New contents of the Lin–Rood operator, and what cells can afford.
    LinRoodUpdate "cs_linrood_update";
    /// Halo copies within the rank for the Lin–Rood operator.
    LinRoodHalo "cs_linrood_halo";
    /// Convection.
    Convection "cs_convection";
    /// Halo copies within the rank before sweeps along i, air and tracers.
    HaloX "cs_halo_rm_x";
    /// Halo copies within the rank before sweeps along j, air and tracers.
    HaloY "cs_halo_rm_y";
    /// Halo cells into messages.
    HaloPack "halo_pack";
    /// Halo cells out of messages.
    HaloUnpack "halo_unpack";
    /// Waiting for messages.
    MpiWait "mpi_wait";
    /// Amounts across panel seams.
    SeamFlux "seam_flux";
    /// Queueing a sweep along i on a device.
    KernelLaunchX "cs_kernel_launch_x";
    /// Queueing a sweep along j on a device.
    KernelLaunchY "cs_kernel_launch_y";
    /// Queueing a sweep along k on a device.
    KernelLaunchZ "cs_kernel_launch_z";
    /// Waiting for a sweep along i on a device.
    KernelSyncX "cs_kernel_sync_x";
    /// Waiting for a sweep along j on a device.
    KernelSyncY "cs_kernel_sync_y";
    /// Waiting for a sweep along k on a device.
    KernelSyncZ "cs_kernel_sync_z";
    /// Snapshots.
    IoWrite "io_write";
    /// A restart file.
    Checkpoint "checkpoint";
}
