//! A device with a program, and comparisons with what it leaves in memory.

use std::marker::PhantomData;

use atmostr::device::{Argument, Device, Kernel, Launch, Memory};
use bytemuck::Pod;
use kernels::device::{GroupShapes, KernelName, KernelSet, Precision, program};
use kernels::scheme::Scheme;
use kernels::{Scalar, TileShape};

use crate::device::same;

/// What has been compared so far.
#[derive(Default)]
pub struct Compared {
    pub values: usize,
    pub not_numbers: usize,
    pub clamped: u64,
}

/// A device with the kernels of a scheme.
pub struct Rig<R> {
    device: Box<dyn Device>,
    kernels: Vec<Option<Kernel>>,
    pub scheme: Scheme,
    pub shapes: GroupShapes,
    pub compared: Compared,
    what: String,
    precision: PhantomData<R>,
}

/// Bytes behind every piece of memory that nothing may touch.
const GUARD: [u8; 256] = [0xa5; 256];

/// A size, a count or a position as an argument or in a table.
pub fn int(value: usize) -> i32 {
    i32::try_from(value).unwrap()
}

/// A number as an argument.
pub fn real<R: Scalar>(value: R) -> Argument {
    if size_of::<R>() == 4 { Argument::Single(value.to_f64() as f32) } else { Argument::Double(value.to_f64()) }
}

impl<R: Scalar> Rig<R> {
    pub fn new(mut device: Box<dyn Device>, scheme: Scheme, shapes: GroupShapes, set: &KernelSet) -> Self {
        let precision = if size_of::<R>() == 4 { Precision::Float32 } else { Precision::Float64 };
        device.compile(&program(precision, scheme, &shapes, set)).unwrap();
        let mut kernels = vec![None; KernelName::ALL.len()];
        set.kernels().for_each(|kernel| kernels[kernel as usize] = Some(device.kernel(kernel.name()).unwrap()));
        let (what, compared) = Default::default();
        Self { device, kernels, scheme, shapes, compared, what, precision: PhantomData }
    }

    /// Says what is compared next.
    pub fn begin(&mut self, what: String) {
        self.what = what;
    }

    /// New memory with these values.
    pub fn put<T: Pod>(&mut self, values: &[T]) -> Argument {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let memory = self.device.allocate(bytes.len() + GUARD.len()).unwrap();
        self.device.write((memory, 0), &[bytes, &GUARD].concat()).unwrap();
        Argument::Memory(memory)
    }

    /// The first `count` values of a memory, all that was put there.
    pub fn get<T: Pod>(&mut self, memory: Argument, count: usize) -> Vec<T> {
        let Argument::Memory(memory): Argument = memory else { panic!("{memory:?}") };
        let mut values = vec![T::zeroed(); count];
        self.read(memory, 0, bytemuck::cast_slice_mut(&mut values));
        let mut guard = [0; GUARD.len()];
        self.read(memory, count * size_of::<T>(), &mut guard);
        assert!(guard == GUARD, "{}: writes beyond the end", self.what);
        values
    }

    fn read(&mut self, memory: Memory, at: usize, bytes: &mut [u8]) {
        self.device.read((memory, at), bytes).unwrap();
    }

    /// Launches a kernel on `groups` groups.
    pub fn launch(&mut self, kernel: KernelName, groups: [usize; 3], arguments: &[Argument]) {
        let launch = Launch { groups, lanes: self.shapes.group(kernel) };
        self.device.launch(self.kernels[kernel as usize].unwrap(), launch, arguments).unwrap();
    }

    /// Launches a kernel whose first axis covers `items`.
    pub fn cover(&mut self, kernel: KernelName, items: usize, groups: [usize; 2], arguments: &[Argument]) {
        let first = self.shapes.covering(kernel, items);
        self.launch(kernel, [first, groups[0], groups[1]], arguments);
    }

    /// Compares all values of a memory.
    pub fn assert_memory(&mut self, memory: Argument, expected: &[R]) {
        let found = self.get::<R>(memory, expected.len());
        for (at, (a, b)) in expected.iter().zip(&found).enumerate() {
            assert!(same(*a, *b), "{}: place {at}: {a:?}, on the device {b:?}", self.what);
        }
        self.compared.values += found.len();
        self.compared.not_numbers += found.iter().filter(|x| x.to_f64().is_nan()).count();
    }

    /// Compares all integers of a memory.
    pub fn assert_ints(&mut self, memory: Argument, expected: &[i32]) {
        let found = self.get::<i32>(memory, expected.len());
        for (at, (a, b)) in expected.iter().zip(&found).enumerate() {
            assert!(a == b, "{}: place {at}: {a}, on the device {b}", self.what);
        }
    }

    /// Compares the count of clamped faces.
    pub fn assert_clamped(&mut self, counter: Argument, expected: u64) {
        let found = self.get::<i32>(counter, 1)[0];
        assert_eq!(found as u64, expected, "{}: faces clamped", self.what);
        self.compared.clamped += expected;
    }

    /// Compares the one number of a counter.
    pub fn assert_count(&mut self, counter: Argument, expected: u64) {
        let found = self.get::<i32>(counter, 1)[0];
        assert_eq!(found as u64, expected, "{}: counted", self.what);
    }

    pub fn what(&self) -> &str {
        &self.what
    }
}

/// Positions of the cells of a plane.
pub fn interior(shape: &TileShape) -> impl Iterator<Item = usize> + use<> {
    let shape = *shape;
    (0..shape.nj).flat_map(move |j| shape.row_start(j)..shape.row_start(j) + shape.ni)
}

/// Copies the cells of a plane, not what lies around them.
pub fn copy_interior<R: Scalar>(shape: &TileShape, from: &[R], to: &mut [R]) {
    interior(shape).for_each(|at| to[at] = from[at]);
}
