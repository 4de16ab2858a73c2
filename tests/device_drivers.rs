//! Drivers of devices: memory, transfers, launches, order of queues, and what they say when something is wrong.

use atmostr::device::{
    Accelerator, Argument, Device, DeviceError, Event, HostMemory, Kernel, Launch, Memory, OpenClDevice, Queue, count,
    open, self_test,
};

const PORTABLE: &str = include_str!("../kernels/src/device/portable.h");

const KERNELS: &str = "
KERNEL lanes(GLOBAL int *out, VALUE(int, scale) THREADS) {
    int i = GROUP(0) * WIDTH(0) + LANE(0), j = GROUP(1) * WIDTH(1) + LANE(1), k = GROUP(2) * WIDTH(2) + LANE(2);
    out[(k * 3 * WIDTH(1) + j) * 2 * WIDTH(0) + i] = scale * (10000 * k + 100 * j + i);
}
KERNEL add(GLOBAL int *data, VALUE(int, summand) THREADS) {
    data[GROUP(0) * WIDTH(0) + LANE(0)] += summand;
}
KERNEL scale(GLOBAL const REAL *from, GLOBAL REAL *to, VALUE(REAL, factor) THREADS) {
    to[LANE(0)] = factor * from[LANE(0)];
}
KERNEL slow(GLOBAL int *data, VALUE(int, rounds) THREADS) {
    int x = 1;
    for (int n = 0; n < rounds; n++) x = x * 1103515245 + (data[n & 63] | 12345);
    data[64 + LANE(0)] = x | 1;
}
KERNEL turned(GLOBAL const int *from, GLOBAL int *to THREADS) {
    SHARED int shared[64];
    shared[LANE(0)] = from[GROUP(0) * 64 + LANE(0)];
    BARRIER();
    to[GROUP(0) * 64 + LANE(0)] = shared[63 - LANE(0)];
}
";

fn program() -> String {
    format!("#define REAL float\n{PORTABLE}{KERNELS}")
}

/// An OpenCL device with the program above; `None`, with the reason, where none is.
fn opencl() -> Option<Box<dyn Device>> {
    match OpenClDevice::open(0) {
        Ok(mut device) => {
            device.compile(&program()).unwrap();
            Some(Box::new(device))
        }
        Err(reason @ (DeviceError::NoDriver { .. } | DeviceError::NoDevice { .. })) => {
            println!("skipped: {reason}");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|four| i32::from_ne_bytes(four.try_into().unwrap())).collect()
}

fn bytes(ints: &[i32]) -> Vec<u8> {
    ints.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn read(device: &mut dyn Device, memory: Memory, count: usize) -> Vec<i32> {
    let mut found = vec![0xAA; 4 * count];
    device.read((memory, 0), &mut found).unwrap();
    ints(&found)
}

fn line(groups: usize, lanes: usize) -> Launch {
    Launch { groups: [groups, 1, 1], lanes: [lanes, 1, 1] }
}

fn message<T>(result: Result<T, DeviceError>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn facts_are_filled_in() {
    let Some(device) = opencl() else { return };
    let info = device.info();
    assert!(!info.name.is_empty() && info.driver.starts_with("OpenCL "), "{info:?}");
    assert!(info.memory > 1 << 20 && info.group_lanes >= 1 && info.group_bytes >= 1024, "{info:?}");
}

#[test]
fn errors_of_the_compiler_are_shown() {
    let Some(mut device) = opencl() else { return };
    let source = format!("{}KERNEL broken(GLOBAL int *data THREADS) {{ data[0] = undeclared_name; }}", program());
    match device.compile(&source) {
        Err(DeviceError::Compile { log, .. }) => assert!(log.contains("undeclared_name"), "{log}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(device.kernel("add"), Err(DeviceError::NoKernel { .. })), "the earlier program is gone");
}

#[test]
fn kernels_are_found_by_name_and_end_with_their_program() {
    let Some(mut device) = opencl() else { return };
    let unknown = device.kernel("adds");
    assert_eq!(unknown, Err(DeviceError::NoKernel { name: "adds".to_string() }));
    assert_eq!(device.kernel("nul\0"), Err(DeviceError::NoKernel { name: "nul\0".to_string() }));
    let add = device.kernel("add").unwrap();
    assert_eq!(device.kernel("add"), Ok(add));
    assert_ne!(device.kernel("lanes"), Ok(add));
    let memory = device.allocate(4).unwrap();
    device.compile(&program()).unwrap();
    let again = device.kernel("add").unwrap();
    let arguments = [Argument::Memory(memory), Argument::Int(5)];
    assert!(message(device.launch(add, line(1, 1), &arguments)).contains("handle"));
    device.launch(again, line(1, 1), &arguments).unwrap();
    assert_eq!(read(&mut *device, memory, 1), [5]);
}

#[test]
fn new_memory_is_zero() {
    let Some(mut device) = opencl() else { return };
    for count in [1, 3, 1000, 100_003] {
        // Memory that was used before, and is given back with the device, must not show.
        let memory = device.allocate(4 * count).unwrap();
        assert!(read(&mut *device, memory, count).iter().all(|&value| value == 0));
        device.write((memory, 0), &bytes(&vec![-1; count])).unwrap();
        let host = device.allocate_host(4 * count).unwrap();
        assert_eq!(device.host(host).len(), 4 * count);
        assert!(device.host(host).iter().all(|&byte| byte == 0));
        assert_eq!(device.host(host).as_ptr() as usize % 64, 0);
        assert_eq!(device.host_mut(host).len(), 4 * count);
    }
    assert!(device.allocate(0).is_ok() && device.allocate_host(0).is_ok());
}

#[test]
fn more_memory_than_there_is_is_refused() {
    let Some(mut device) = opencl() else { return };
    assert!(matches!(
        device.allocate(usize::MAX / 2),
        Err(DeviceError::OutOfMemory { .. } | DeviceError::Call { call: "allocating memory", .. })
    ));
    assert!(matches!(device.allocate(usize::MAX), Err(DeviceError::OutOfMemory { bytes: usize::MAX, .. })));
    assert!(matches!(device.allocate_host(usize::MAX / 2), Err(DeviceError::OutOfMemory { .. })));
}

#[test]
fn transfers_keep_to_their_offsets() {
    let Some(mut device) = opencl() else { return };
    let memory = device.allocate(40).unwrap();
    let host = device.allocate_host(400).unwrap();
    device.write((memory, 0), &bytes(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).unwrap();
    device.write((memory, 8), &bytes(&[-2, -3])).unwrap();
    assert_eq!(read(&mut *device, memory, 10), [0, 1, -2, -3, 4, 5, 6, 7, 8, 9]);
    let mut part = [0; 12];
    device.read((memory, 28), &mut part).unwrap();
    assert_eq!(ints(&part), [7, 8, 9]);

    device.host_mut(host)[100..112].copy_from_slice(&bytes(&[71, 72, 73]));
    device.upload(Queue::Transfer, (host, 100), (memory, 16), 12).unwrap();
    device.finish().unwrap();
    assert_eq!(read(&mut *device, memory, 10), [0, 1, -2, -3, 71, 72, 73, 7, 8, 9]);
    device.download(Queue::Compute, (memory, 12), (host, 104), 8).unwrap();
    device.finish().unwrap();
    assert_eq!(ints(&device.host(host)[100..116]), [71, -3, 71, 0]);
    assert!(device.host(host)[116..].iter().all(|&byte| byte == 0));
}

#[test]
fn transfers_beyond_an_end_are_refused() {
    let Some(mut device) = opencl() else { return };
    let memory = device.allocate(40).unwrap();
    let host = device.allocate_host(20).unwrap();
    let foreign: (Memory, HostMemory) = {
        let mut other = OpenClDevice::open(0).unwrap();
        (0..9).map(|_| (other.allocate(1).unwrap(), other.allocate_host(1).unwrap())).last().unwrap()
    };
    // Lengths are those asked for, not those rounded up.
    assert!(message(device.write((memory, 36), &[0; 5])).contains("5 bytes from byte 36 do not fit a piece of 40"));
    assert!(device.write((memory, usize::MAX), &[0; 5]).is_err());
    assert!(device.read((memory, 41), &mut []).is_err());
    assert!(device.read((memory, 0), &mut [0; 41]).is_err());
    assert!(device.read((foreign.0, 0), &mut [0]).is_err());
    for queue in [Queue::Compute, Queue::Transfer] {
        for (at, on_host, bytes) in [(21, 0, 20), (0, 1, 20), (0, 21, 0), (41, 0, 0), (0, 0, usize::MAX)] {
            assert!(device.upload(queue, (host, on_host), (memory, at), bytes).is_err(), "{at} {on_host} {bytes}");
            assert!(device.download(queue, (memory, at), (host, on_host), bytes).is_err(), "{at} {on_host} {bytes}");
        }
        assert!(device.upload(queue, (foreign.1, 0), (memory, 0), 1).is_err());
        assert!(device.download(queue, (foreign.0, 0), (host, 0), 1).is_err());
        device.upload(queue, (host, 20), (memory, 40), 0).unwrap();
        device.download(queue, (memory, 40), (host, 20), 0).unwrap();
        device.upload(queue, (host, 0), (memory, 20), 20).unwrap();
    }
    assert!(device.host(foreign.1).is_empty() && device.host_mut(foreign.1).is_empty());
    device.finish().unwrap();
}

#[test]
fn groups_and_lanes_have_three_axes() {
    let Some(mut device) = opencl() else { return };
    let lanes = device.kernel("lanes").unwrap();
    for ([wx, wy, wz], ny, nz) in [([8, 1, 1], 1, 1), ([4, 2, 1], 3, 1), ([4, 2, 3], 3, 2)] {
        let (nx, ny, nz) = (2 * wx, ny * wy, nz * wz);
        // The kernel takes rows of two groups and layers of three.
        let memory = device.allocate(4 * nx * 3 * wy * nz).unwrap();
        let launch = Launch { groups: [2, ny / wy, nz / wz], lanes: [wx, wy, wz] };
        device.launch(lanes, launch, &[Argument::Memory(memory), Argument::Int(7)]).unwrap();
        let found = read(&mut *device, memory, nx * 3 * wy * nz);
        for (n, value) in found.into_iter().enumerate() {
            let (i, j, k) = (n % nx, n / nx % (3 * wy), n / nx / (3 * wy));
            let expected = if j < ny { 7 * (10000 * k + 100 * j + i) } else { 0 };
            assert_eq!(value, expected as i32, "{launch:?} at {i} {j} {k}");
        }
    }
}

#[test]
fn lanes_of_a_group_share_memory() {
    let Some(mut device) = opencl() else { return };
    let turned = device.kernel("turned").unwrap();
    let (from, to) = (device.allocate(4 * 256).unwrap(), device.allocate(4 * 256).unwrap());
    device.write((from, 0), &bytes(&(0..256).collect::<Vec<_>>())).unwrap();
    device.launch(turned, line(4, 64), &[Argument::Memory(from), Argument::Memory(to)]).unwrap();
    let expected: Vec<_> = (0..256).map(|n| n / 64 * 64 + 63 - n % 64).collect();
    assert_eq!(read(&mut *device, to, 256), expected);
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let Some(mut device) = opencl() else { return };
    let (add, scale) = (device.kernel("add").unwrap(), device.kernel("scale").unwrap());
    let memory = device.allocate(4 * 64).unwrap();
    let (data, one) = (Argument::Memory(memory), Argument::Int(1));
    let mut refused = |kernel: Kernel, launch: Launch, arguments: &[Argument]| {
        let words = message(device.launch(kernel, launch, arguments));
        assert!(words.contains(if kernel == add { "add" } else { "scale" }), "{words}");
    };
    refused(add, line(1, 1), &[data]);
    refused(add, line(1, 1), &[data, one, one]);
    refused(add, line(1, 1), &[one, data]);
    refused(add, line(1, 1), &[data, Argument::Single(1.0)]);
    refused(add, line(1, 1), &[Argument::Double(1.0), one]);
    refused(scale, line(1, 1), &[data, data, Argument::Double(1.0)]);
    refused(add, line(0, 1), &[data, one]);
    refused(add, line(1, 0), &[data, one]);
    refused(add, line(1, 1 << 30), &[data, one]);
    refused(add, line(usize::MAX, 2), &[data, one]);
    assert_eq!(read(&mut *device, memory, 64), [0; 64]);
}

#[test]
fn reals_are_passed_by_value() {
    let Some(mut device) = opencl() else { return };
    let scale = device.kernel("scale").unwrap();
    let (from, to) = (device.allocate(8).unwrap(), device.allocate(8).unwrap());
    device.write((from, 0), &[1.5_f32.to_ne_bytes(), (-4.0_f32).to_ne_bytes()].concat()).unwrap();
    let arguments = [Argument::Memory(from), Argument::Memory(to), Argument::Single(0.25)];
    device.launch(scale, line(1, 2), &arguments).unwrap();
    let mut found = [0; 8];
    device.read((to, 0), &mut found).unwrap();
    assert_eq!(found[..4], 0.375_f32.to_ne_bytes());
    assert_eq!(found[4..], (-1.0_f32).to_ne_bytes());

    if device.info().has_double {
        device.compile(&format!("#define REAL double\n{PORTABLE}{KERNELS}")).unwrap();
        let scale = device.kernel("scale").unwrap();
        device.write((from, 0), &1.5_f64.to_ne_bytes()).unwrap();
        let arguments = [Argument::Memory(from), Argument::Memory(to), Argument::Double(0.25)];
        device.launch(scale, line(1, 1), &arguments).unwrap();
        device.read((to, 0), &mut found).unwrap();
        assert_eq!(found, 0.375_f64.to_ne_bytes());
    }
}

/// A kernel of a tenth of a second: later work of the other queue would overtake it, where the device can do two things at
/// once.
const ROUNDS: i32 = 40_000_000;

#[test]
fn events_order_one_queue_behind_the_other() {
    let Some(mut device) = opencl() else { return };
    let (slow, add) = (device.kernel("slow").unwrap(), device.kernel("add").unwrap());
    let memory = device.allocate(4 * 65).unwrap();
    let host = device.allocate_host(4).unwrap();
    let (done, uploaded) = (device.event().unwrap(), device.event().unwrap());
    let both = |device: &mut dyn Device, event: Event| {
        device.host_wait(event).unwrap();
        device.wait(event, Queue::Compute).unwrap();
        device.wait(event, Queue::Transfer).unwrap();
    };
    both(&mut *device, done);

    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.record(done, Queue::Compute).unwrap();
    device.wait(done, Queue::Transfer).unwrap();
    device.download(Queue::Transfer, (memory, 4 * 64), (host, 0), 4).unwrap();
    device.record(uploaded, Queue::Transfer).unwrap();
    device.host_wait(uploaded).unwrap();
    assert_ne!(ints(device.host(host)), [0], "the download did not wait for the kernel");

    // The host waits, and then the other queue need not.
    device.write((memory, 4 * 64), &bytes(&[0])).unwrap();
    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.record(done, Queue::Compute).unwrap();
    device.host_wait(done).unwrap();
    device.download(Queue::Transfer, (memory, 4 * 64), (host, 0), 4).unwrap();
    assert_ne!(ints(device.host(host)), [0], "the host did not wait for the kernel");

    // An event that is recorded again stands for its new place only.
    let other = device.allocate(4).unwrap();
    for round in 1..=20 {
        device.host_mut(host).copy_from_slice(&bytes(&[100 * round]));
        device.upload(Queue::Transfer, (host, 0), (other, 0), 4).unwrap();
        device.record(uploaded, Queue::Transfer).unwrap();
        device.wait(uploaded, Queue::Compute).unwrap();
        device.launch(add, line(1, 1), &[Argument::Memory(other), Argument::Int(round)]).unwrap();
        device.record(done, Queue::Compute).unwrap();
        device.wait(done, Queue::Transfer).unwrap();
        device.download(Queue::Transfer, (other, 0), (host, 0), 4).unwrap();
        device.record(uploaded, Queue::Transfer).unwrap();
        device.host_wait(uploaded).unwrap();
        assert_eq!(ints(device.host(host)), [101 * round]);
    }
}

#[test]
fn host_memory_waits_for_its_transfers() {
    let Some(mut device) = opencl() else { return };
    let slow = device.kernel("slow").unwrap();
    let memory = device.allocate(4 * 65).unwrap();
    let host = device.allocate_host(8).unwrap();
    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.download(Queue::Compute, (memory, 4 * 64), (host, 0), 4).unwrap();
    assert_ne!(ints(&device.host(host)[..4]), [0]);

    device.host_mut(host)[4..].copy_from_slice(&bytes(&[11]));
    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.upload(Queue::Compute, (host, 4), (memory, 0), 4).unwrap();
    device.host_mut(host)[4..].copy_from_slice(&bytes(&[22]));
    assert_eq!(read(&mut *device, memory, 1), [11]);
}

#[test]
fn a_device_may_be_dropped_in_the_middle_of_its_work() {
    let Some(mut device) = opencl() else { return };
    let slow = device.kernel("slow").unwrap();
    let memory = device.allocate(4 * 65).unwrap();
    let host = device.allocate_host(4 * 65).unwrap();
    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.download(Queue::Compute, (memory, 0), (host, 0), 4 * 65).unwrap();
    let event = device.event().unwrap();
    device.record(event, Queue::Compute).unwrap();
    device.wait(event, Queue::Transfer).unwrap();
}

#[test]
fn many_launches_run_in_order() {
    let Some(mut device) = opencl() else { return };
    let add = device.kernel("add").unwrap();
    let memory = device.allocate(4 * 16).unwrap();
    let started = std::time::Instant::now();
    for n in 0..20_000 {
        device.launch(add, line(4, 4), &[Argument::Memory(memory), Argument::Int(n % 3)]).unwrap();
    }
    device.finish().unwrap();
    println!("{:.1} us a launch", started.elapsed().as_secs_f64() * 1e6 / 20_000.0);
    assert_eq!(read(&mut *device, memory, 16), [(0..20_000).map(|n| n % 3).sum::<i32>(); 16]);
}

#[test]
fn devices_of_one_process_are_apart_and_travel_between_threads() {
    let Some(first) = opencl() else { return };
    let Some(second) = opencl() else { return };
    let work = |mut device: Box<dyn Device>, summand: i32| {
        move || {
            let add = device.kernel("add").unwrap();
            let memory = device.allocate(4).unwrap();
            for _ in 0..500 {
                device.launch(add, line(1, 1), &[Argument::Memory(memory), Argument::Int(summand)]).unwrap();
            }
            read(&mut *device, memory, 1)
        }
    };
    let threads = [std::thread::spawn(work(first, 1)), std::thread::spawn(work(second, 1000))];
    let found = threads.map(|thread| thread.join().unwrap());
    assert_eq!(found, [[500], [500_000]]);
}

#[test]
fn an_index_beyond_the_devices_is_refused() {
    let Ok(count) = OpenClDevice::count() else { return };
    let words = message(OpenClDevice::open(count));
    assert!(words.contains(&format!("no device {count}")), "{words}");
}

#[test]
fn a_device_opened_by_name_computes_what_the_host_computes() {
    let accelerator: Accelerator = "opencl".parse().unwrap();
    match count(accelerator) {
        Ok(devices) => assert!(devices > 0),
        Err(reason) => return println!("skipped: {reason}"),
    }
    let mut device = open::<f32>(accelerator, 0).unwrap();
    self_test::<f32>(&mut *device).unwrap();
    if device.info().has_double {
        self_test::<f64>(&mut *open::<f64>(accelerator, 0).unwrap()).unwrap();
    } else {
        assert!(matches!(open::<f64>(accelerator, 0), Err(DeviceError::Unsuitable { .. })));
    }
}
