//! A device with the compiled kernels of a run.

use kernels::Scalar;
use kernels::device::{GroupShapes, KernelName, KernelPart, KernelSet, Precision, program};
use kernels::scheme::{Choice, Scheme, Vertical};

use crate::device::{Argument, Device, DeviceError, DeviceResult, Kernel, Launch, Memory};

/// A device, its kernels and the shapes of their groups.
pub struct Launcher {
    pub(super) device: Box<dyn Device>,
    /// By [`KernelName`]; those of parts that the program does not have are missing.
    kernels: Vec<Option<Kernel>>,
    shapes: GroupShapes,
    choice: Choice,
    /// Where launches are noted while somebody wants to know.
    noted: Option<Vec<NotedLaunch>>,
}

/// A launch that can be repeated.
#[derive(Clone, Debug)]
pub struct NotedLaunch {
    pub(super) kernel: KernelName,
    /// Items along the first axis, where lanes stand for items; 0 where they do not.
    pub(super) items: usize,
    pub(super) groups: [usize; 3],
    arguments: Vec<Argument>,
}

impl NotedLaunch {
    /// The kernel.
    pub fn kernel(&self) -> KernelName {
        self.kernel
    }
}

/// `x` as an argument of its precision.
pub(super) fn real<R: Scalar>(x: R) -> Argument {
    match precision::<R>() {
        // Exact: the value is one of single precision.
        Precision::Float32 => Argument::Single(x.to_f64() as f32),
        Precision::Float64 => Argument::Double(x.to_f64()),
    }
}

/// Precision of a program for `R`.
pub(super) fn precision<R: Scalar>() -> Precision {
    if size_of::<R>() == 4 { Precision::Float32 } else { Precision::Float64 }
}

impl Launcher {
    /// Compiles the kernels of transport for a scheme in the precision `R`, with the usual groups of the device, for tiles of at most
    /// `widest` cells along i.
    ///
    /// # Errors
    /// The device does not suit, or does not take the kernels.
    pub fn new<R: Scalar>(device: Box<dyn Device>, choice: impl Into<Choice>, widest: usize) -> DeviceResult<Self> {
        Self::with_kernels::<R>(device, choice, &KernelSet::transport(), widest)
    }

    /// As [`Launcher::new`], with the kernels of other parts.
    ///
    /// # Errors
    /// As [`Launcher::new`].
    pub fn with_kernels<R: Scalar>(
        device: Box<dyn Device>,
        choice: impl Into<Choice>,
        set: &KernelSet,
        widest: usize,
    ) -> DeviceResult<Self> {
        let mut shapes = GroupShapes::usual(device.info().dialect, widest);
        shapes.fit(device.info().group_lanes);
        Self::compiled::<R>(device, choice.into(), set, shapes)
    }

    /// As [`Launcher::new`], with other groups.
    ///
    /// # Errors
    /// As [`Launcher::new`].
    pub fn with_shapes<R: Scalar>(
        device: Box<dyn Device>,
        choice: impl Into<Choice>,
        shapes: GroupShapes,
    ) -> DeviceResult<Self> {
        Self::compiled::<R>(device, choice.into(), &KernelSet::transport(), shapes)
    }

    fn compiled<R: Scalar>(
        mut device: Box<dyn Device>,
        choice: Choice,
        set: &KernelSet,
        shapes: GroupShapes,
    ) -> DeviceResult<Self> {
        let set = match choice.vertical {
            Vertical::Same => set.clone(),
            Vertical::Fv3Kord8 | Vertical::Fv3Kord8Signed => set.clone().with(KernelPart::Spline),
        };
        if let Scheme::LinRood(operator) = choice.scheme {
            let reason = format!("{} runs on the processor only", operator.name());
            return Err(DeviceError::Unsuitable { device: device.info().name.clone(), reason });
        }
        let (most, (kernel, needed)) = (device.info().group_lanes, shapes.largest_group());
        if needed > most {
            let remedy = match kernel {
                KernelName::SweepX => "divide the panels into more tiles along i with decomposition.tiles",
                _ => "ask for fewer lanes",
            };
            return Err(DeviceError::Unsuitable {
                device: device.info().name.clone(),
                reason: format!("{} needs groups of {needed} threads, the device has {most}; {remedy}", kernel.name()),
            });
        }
        device.compile(&program(precision::<R>(), choice.scheme, &shapes, &set))?;
        let mut kernels = vec![None; KernelName::ALL.len()];
        for kernel in set.kernels() {
            kernels[kernel as usize] = Some(device.kernel(kernel.name())?);
        }
        Ok(Self { device, kernels, shapes, choice, noted: None })
    }

    /// What the sweeps do.
    pub(super) fn choice(&self) -> Choice {
        self.choice
    }

    pub(super) fn shapes(&self) -> &GroupShapes {
        &self.shapes
    }

    /// A kernel of the program.
    ///
    /// # Panics
    /// Where the program was compiled without it.
    fn kernel(&self, name: KernelName) -> Kernel {
        self.kernels[name as usize].unwrap_or_else(|| panic!("compiled without {}", name.name()))
    }

    /// Launches a kernel on `groups` groups; nothing happens where there are none.
    pub(super) fn launch(&mut self, name: KernelName, groups: [usize; 3], arguments: &[Argument]) -> DeviceResult<()> {
        self.launch_items(name, 0, groups, arguments)
    }

    /// Launches a kernel whose first axis covers `items`.
    pub(super) fn cover(
        &mut self,
        name: KernelName,
        items: usize,
        groups: [usize; 2],
        arguments: &[Argument],
    ) -> DeviceResult<()> {
        let first = self.shapes.covering(name, items);
        self.launch_items(name, items, [first, groups[0], groups[1]], arguments)
    }

    fn launch_items(
        &mut self,
        name: KernelName,
        items: usize,
        groups: [usize; 3],
        arguments: &[Argument],
    ) -> DeviceResult<()> {
        if groups.contains(&0) {
            return Ok(());
        }
        if let Some(noted) = &mut self.noted {
            noted.push(NotedLaunch { kernel: name, items, groups, arguments: arguments.to_vec() });
        }
        let launch = Launch { groups, lanes: self.shapes.group(name) };
        self.device.launch(self.kernel(name), launch, arguments)
    }

    /// Notes launches from now on.
    pub(super) fn note(&mut self) {
        self.noted = Some(Vec::new());
    }

    /// Launches since [`Launcher::note`]; notes no more.
    pub(super) fn noted(&mut self) -> Vec<NotedLaunch> {
        self.noted.take().unwrap_or_default()
    }

    /// Repeats a launch.
    pub(super) fn repeat(&mut self, launch: &NotedLaunch) -> DeviceResult<()> {
        let lanes = self.shapes.group(launch.kernel);
        let shape = Launch { groups: launch.groups, lanes };
        self.device.launch(self.kernel(launch.kernel), shape, &launch.arguments)
    }

    /// Memory of a number of values of type `T`.
    pub(super) fn memory<T>(&mut self, values: usize) -> DeviceResult<Memory> {
        self.device.allocate(values * size_of::<T>())
    }

    /// Memory filled with a table.
    pub(super) fn table(&mut self, table: &[i32]) -> DeviceResult<Memory> {
        let memory = self.memory::<i32>(table.len())?;
        self.device.write((memory, 0), bytemuck::cast_slice(table))?;
        Ok(memory)
    }
}
