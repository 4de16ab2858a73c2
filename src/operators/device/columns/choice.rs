//! Which kernels the physics of a run needs.

use kernels::Scalar;
use kernels::columns::convection::tm5::Tm5Options;
use kernels::device::{Dialect, KernelPart, KernelSet, Tm5Room};

use crate::device::{DeviceError, DeviceInfo, DeviceResult};
use crate::operators::columns::{Convection, DeviceFactors, ImplicitConvection, KzUpdate};
use crate::operators::device::launcher::precision;

/// Physics of a run, as far as it decides on kernels and memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnNeeds {
    /// Form of the solve of vertical diffusion.
    pub diffusion: Option<KzUpdate>,
    /// Number of sources.
    pub sources: usize,
    /// Convective transport.
    pub convection: Option<Convection>,
}

/// How a device convects columns by implicit mass fluxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tm5Form {
    /// A group for each column, with this room in shared memory.
    Collaborative(Tm5Room),
    /// A lane for each column.
    Serial,
}

/// CUDA gives a kernel no more shared memory than this unless it is asked at each launch.
const MOST_SHARED: usize = 48 << 10;

/// Layers of the columns that are solved in columns of `levels` layers.
pub(super) fn layers(options: &Tm5Options, levels: usize) -> usize {
    (if options.lmax_conv == 0 { levels } else { options.lmax_conv }) / options.n_merge
}

impl Tm5Form {
    /// The form for columns of `levels` layers: by groups if wanted and if it fits, else by single lanes.
    ///
    /// # Errors
    /// Groups are wanted, columns in single precision are too deep for those of a GPU.
    pub fn new<R: Scalar>(info: &DeviceInfo, levels: usize, choice: &ImplicitConvection) -> DeviceResult<Self> {
        if choice.factors == DeviceFactors::OneByOne {
            return Ok(Self::Serial);
        }
        let (layers, bytes) = (layers(&choice.options, levels), info.group_bytes.min(MOST_SHARED));
        let solve = choice.options.solve;
        match Tm5Room::fitting(precision::<R>(), layers, solve, bytes) {
            Some(room) => Ok(Self::Collaborative(room)),
            None if size_of::<R>() == 8 || info.dialect == Dialect::OpenClProcessor => Ok(Self::Serial),
            None => Err(DeviceError::Unsuitable {
                device: info.name.clone(),
                reason: format!(
                    "convection of {layers} layers by groups of threads needs more shared memory than the {bytes} bytes \
                     there are, which hold {}: let fewer layers take part, merge some, or have matrices factored one by one",
                    Tm5Room::deepest(precision::<R>(), solve, bytes)
                ),
            }),
        }
    }
}

impl ColumnNeeds {
    /// Kernels of a run with columns of `levels` layers.
    ///
    /// # Errors
    /// As [`Tm5Form::new`].
    pub fn kernels<R: Scalar>(&self, info: &DeviceInfo, levels: usize) -> DeviceResult<KernelSet> {
        let mut set = KernelSet::transport();
        if self.diffusion.is_some() {
            set = set.with(KernelPart::Diffusion);
        }
        if self.sources > 0 {
            set = set.with(KernelPart::Deposit);
        }
        Ok(match &self.convection {
            None => set,
            Some(Convection::Cmfmc(_)) => set.with(KernelPart::Cmfmc),
            Some(Convection::Tm5(choice) | Convection::CmfmcMatrix(choice)) => {
                match Tm5Form::new::<R>(info, levels, choice)? {
                    Tm5Form::Collaborative(room) => set.with_tm5(room),
                    Tm5Form::Serial => set.with(KernelPart::Tm5Serial),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use kernels::columns::convection::tm5::Solve;

    use super::*;

    fn info(dialect: Dialect) -> DeviceInfo {
        let (name, driver) = ("a device".to_owned(), "a driver".to_owned());
        let (memory, group_lanes, group_bytes) = (1 << 30, 256, 32 << 10);
        DeviceInfo { name, driver, dialect, memory, group_lanes, group_bytes, has_double: true }
    }

    fn choice(factors: DeviceFactors, lmax_conv: usize, n_merge: usize) -> ImplicitConvection {
        let options = Tm5Options { solve: Solve::Plain, lmax_conv, n_merge };
        ImplicitConvection { options, factors, workspace_gib: 1.0 }
    }

    #[test]
    fn columns_too_deep_for_groups_are_convected_alone_or_refused() {
        let wanted = choice(DeviceFactors::Collaborative, 0, 1);
        let form = |dialect, levels, choice: &ImplicitConvection| Tm5Form::new::<f32>(&info(dialect), levels, choice);
        let layers = |form| match form {
            Tm5Form::Collaborative(room) => room.layers,
            Tm5Form::Serial => 0,
        };
        assert_eq!(form(Dialect::Cuda, 85, &wanted).map(layers), Ok(85));
        let error = form(Dialect::Cuda, 137, &wanted).unwrap_err().to_string();
        assert!(error.contains("137 layers") && error.contains("which hold 87"), "{error}");
        assert_eq!(form(Dialect::OpenClProcessor, 137, &wanted), Ok(Tm5Form::Serial));
        assert_eq!(Tm5Form::new::<f64>(&info(Dialect::Cuda), 137, &wanted), Ok(Tm5Form::Serial));
        for (lmax_conv, n_merge, expected) in [(80, 1, 80), (0, 2, 68), (80, 3, 26)] {
            let fewer = choice(DeviceFactors::Collaborative, lmax_conv, n_merge);
            assert_eq!(form(Dialect::Cuda, 137, &fewer).map(layers), Ok(expected));
        }
        assert_eq!(form(Dialect::Cuda, 20, &choice(DeviceFactors::OneByOne, 0, 1)), Ok(Tm5Form::Serial));
    }

    #[test]
    fn programs_hold_what_a_run_needs() {
        let kernels = |needs: ColumnNeeds| needs.kernels::<f32>(&info(Dialect::Cuda), 60).unwrap();
        assert_eq!(kernels(ColumnNeeds::default()), KernelSet::transport());
        let implicit = Convection::CmfmcMatrix(choice(DeviceFactors::Collaborative, 0, 1));
        let all = kernels(ColumnNeeds { diffusion: Some(KzUpdate::Flux), sources: 2, convection: Some(implicit) });
        for part in [KernelPart::Diffusion, KernelPart::Deposit, KernelPart::Tm5Collaborative] {
            assert!(all.holds(part), "{part:?}");
        }
        assert!(!all.holds(KernelPart::Tm5Serial) && !all.holds(KernelPart::Cmfmc));
    }
}
