//! What a measurement of single kernels needs: the launches of an operator, to repeat them, and what they have to move.

use kernels::Scalar;
use kernels::device::{GroupShapes, KernelName};

use super::DeviceTransport;
use super::launcher::NotedLaunch;
use crate::device::DeviceResult;

impl<R: Scalar> DeviceTransport<R> {
    /// Does `work` and returns its launches, in order.
    ///
    /// # Errors
    /// Those of `work`.
    pub fn noting(&mut self, work: impl FnOnce(&mut Self) -> DeviceResult<()>) -> DeviceResult<Vec<NotedLaunch>> {
        self.launcher.note();
        let done = work(self);
        let noted = self.launcher.noted();
        done.map(|()| noted)
    }

    /// Queues a launch of this transport once more.
    ///
    /// # Errors
    /// The device refuses it.
    pub fn repeat(&mut self, launch: &NotedLaunch) -> DeviceResult<()> {
        self.launcher.repeat(launch)
    }

    /// Waits for everything that is queued.
    ///
    /// # Errors
    /// Work has failed.
    pub fn finish(&mut self) -> DeviceResult<()> {
        self.launcher.device.finish()
    }

    /// Shapes of the groups of the kernels.
    pub fn shapes(&self) -> &GroupShapes {
        self.launcher.shapes()
    }

    /// Bytes of state, fields and messages that a launch cannot do without: every value is read once and written once.
    /// Tables, halos beside the cells of a sweep, and what a cache may have to fetch again do not count.
    pub fn least_bytes(&self, launch: &NotedLaunch) -> f64 {
        let planes = self.shape.planes;
        // Horizontal kernels may take some of the levels.
        let levels = match launch.kernel {
            KernelName::SweepX => launch.groups[1],
            KernelName::SweepY | KernelName::AdvanceAir => launch.groups[2],
            _ => self.shape.levels,
        };
        let cells: usize = self.set.shapes().iter().map(|s| s.ni * s.nj * levels).sum();
        let cells = cells as f64;
        // Items of kernels on lists of cells or faces, over all planes and levels.
        let items = (launch.items * launch.groups[1] * launch.groups[2]) as f64;
        let faces = launch.items as f64 * launch.groups[2] as f64;
        let values = match launch.kernel {
            // Air and the fluxes along one axis read, tracers read and written.
            KernelName::SweepX | KernelName::SweepY | KernelName::SweepZ => cells * (2 * planes) as f64,
            // Air and fluxes read.
            KernelName::FuseColumns => cells * 2.0,
            // Air read, three values written.
            KernelName::SplineRows => cells * 4.0,
            // Air, fluxes and rows read, tracers read and written.
            KernelName::SweepSpline => cells * (5 + 2 * launch.groups[1]) as f64,
            KernelName::AdvanceAir | KernelName::AdvanceAirVertically => cells * 3.0,
            // Tracers keep their masses: the air of the file replaces the other.
            KernelName::ResetAir | KernelName::Decay | KernelName::ExtractPlane => cells * 2.0,
            // The stencil of every plane, the flux of the face; an amount per plane.
            KernelName::SeamAmounts => faces * (planes * (2 * self.launcher.choice().scheme.halo() + 1) + 1) as f64,
            // One amount at least, and the cell read and written.
            KernelName::SeamApply => items * 3.0,
            // An amount read, a flux read and written.
            KernelName::BookSeams => items * 3.0,
            KernelName::HaloCopy | KernelName::HaloPack | KernelName::HaloUnpack => items * 2.0,
            // Air and the fluxes along three axes.
            KernelName::LargestOutflow => cells * 4.0,
            // Air and exchange read, factors written.
            KernelName::DiffusionFactors => cells * 4.0,
            KernelName::FluxFormFactors => cells * 6.0,
            // Air and factors read, tracers read and written.
            KernelName::Diffuse => cells * (3 + 2 * (planes - 1)) as f64,
            KernelName::DiffuseSingle => cells * 6.0,
            KernelName::DiffuseFluxForm | KernelName::DiffuseMatrixForm => {
                let tracers = launch.groups[1];
                cells * (4 + 2 * tracers) as f64
            }
            // Of the surface layer: rates read, contents and compensations read and written.
            KernelName::DepositSurface => 5.0 * cells / self.shape.levels as f64,
            KernelName::DepositProfile => cells * 3.0,
            // Air and the flux through edges.
            KernelName::CloudCourant => cells * 2.0,
            // Air, flux and detrainment read, three fields written.
            KernelName::CmfmcPrepare => cells * 6.0,
            // Air and three fields read, tracers read and written.
            KernelName::CmfmcConvect => cells * (4 + 2 * (planes - 1)) as f64,
            // Air and four rates read, tracers read and written.
            KernelName::Tm5Collaborative => cells * (5 + 2 * (planes - 1)) as f64,
            KernelName::Tm5Serial => {
                cells * (5 + 2 * (planes - 1)) as f64 * launch.groups[1] as f64 / self.shape.rows as f64
            }
            KernelName::FirstUnusable | KernelName::ExactSums | KernelName::ColumnSums => cells * planes as f64,
        };
        values * size_of::<R>() as f64
    }
}
