//! Drivers of devices: memory, transfers, launches, order of queues, and what they say when something is wrong.

use atmostr::device::{
    Accelerator, Argument, Device, DeviceError, Event, HostMemory, Kernel, Launch, Memory, Queue, count, open,
    self_test,
};

const PORTABLE: &str = include_str!("../kernels/src/device/portable.h");

const KERNELS: &str = include_str!("support/device_kernels.h");

fn program() -> String {
    format!("#define REAL float\n{PORTABLE}{KERNELS}")
}

/// Ways to devices that this machine may have.
const ACCELERATORS: [Accelerator; 3] = [Accelerator::OpenCl, Accelerator::Cuda, Accelerator::Metal];

/// The first device of each driver that is here, with the program above; says why another is not.
fn devices() -> Vec<Box<dyn Device>> {
    let opened = ACCELERATORS.map(|accelerator| open::<f32>(accelerator, 0));
    let present = opened.into_iter().filter_map(|device| match device {
        Ok(mut device) => {
            device.compile(&program()).unwrap();
            Some(device)
        }
        Err(reason @ (DeviceError::NoDriver { .. } | DeviceError::NoDevice { .. })) => {
            println!("skipped: {reason}");
            None
        }
        Err(other) => panic!("{other}"),
    });
    present.collect()
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

/// Makes a test of each check, on every device that is here.
macro_rules! tests {
    ($($check:ident)*) => {
        mod on_every_device {
            $(#[test]
            fn $check() {
                super::devices().into_iter().for_each(super::$check);
            })*
        }
    };
}

tests! {
    facts_are_filled_in
    errors_of_the_compiler_are_shown
    kernels_are_found_by_name_and_end_with_their_program
    new_memory_is_zero
    more_memory_than_there_is_is_refused
    transfers_keep_to_their_offsets
    transfers_beyond_an_end_are_refused
    groups_and_lanes_have_three_axes
    lanes_of_a_group_share_memory
    launches_that_do_not_fit_are_refused
    reals_are_passed_by_value
    events_order_one_queue_behind_the_other
    host_memory_waits_for_its_transfers
    a_device_may_be_dropped_in_the_middle_of_its_work
    many_launches_run_in_order
}

fn facts_are_filled_in(device: Box<dyn Device>) {
    let info = device.info();
    assert!(!info.name.is_empty() && !info.driver.is_empty(), "{info:?}");
    assert!(info.memory > 1 << 20 && info.group_lanes >= 1 && info.group_bytes >= 1024, "{info:?}");
}

fn errors_of_the_compiler_are_shown(mut device: Box<dyn Device>) {
    let source = format!("{}KERNEL broken(GLOBAL int *data THREADS) {{ data[0] = undeclared_name; }}", program());
    match device.compile(&source) {
        Err(DeviceError::Compile { log, .. }) => assert!(log.contains("undeclared_name"), "{log}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(device.kernel("add"), Err(DeviceError::NoKernel { .. })), "the earlier program is gone");
}

fn kernels_are_found_by_name_and_end_with_their_program(mut device: Box<dyn Device>) {
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

fn new_memory_is_zero(mut device: Box<dyn Device>) {
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

fn more_memory_than_there_is_is_refused(mut device: Box<dyn Device>) {
    assert!(matches!(
        device.allocate(usize::MAX / 2),
        Err(DeviceError::OutOfMemory { .. } | DeviceError::Call { call: "allocating memory", .. })
    ));
    assert!(matches!(device.allocate(usize::MAX), Err(DeviceError::OutOfMemory { bytes: usize::MAX, .. })));
    assert!(matches!(device.allocate_host(usize::MAX / 2), Err(DeviceError::OutOfMemory { .. })));
}

fn transfers_keep_to_their_offsets(mut device: Box<dyn Device>) {
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

fn transfers_beyond_an_end_are_refused(mut device: Box<dyn Device>) {
    let memory = device.allocate(40).unwrap();
    let host = device.allocate_host(20).unwrap();
    let foreign: (Memory, HostMemory) = {
        let mut other = devices().pop().unwrap();
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

fn groups_and_lanes_have_three_axes(mut device: Box<dyn Device>) {
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

fn lanes_of_a_group_share_memory(mut device: Box<dyn Device>) {
    let turned = device.kernel("turned").unwrap();
    let (from, to) = (device.allocate(4 * 256).unwrap(), device.allocate(4 * 256).unwrap());
    device.write((from, 0), &bytes(&(0..256).collect::<Vec<_>>())).unwrap();
    device.launch(turned, line(4, 64), &[Argument::Memory(from), Argument::Memory(to)]).unwrap();
    let expected: Vec<_> = (0..256).map(|n| n / 64 * 64 + 63 - n % 64).collect();
    assert_eq!(read(&mut *device, to, 256), expected);
}

fn launches_that_do_not_fit_are_refused(mut device: Box<dyn Device>) {
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

fn reals_are_passed_by_value(mut device: Box<dyn Device>) {
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

fn events_order_one_queue_behind_the_other(mut device: Box<dyn Device>) {
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

fn host_memory_waits_for_its_transfers(mut device: Box<dyn Device>) {
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

fn a_device_may_be_dropped_in_the_middle_of_its_work(mut device: Box<dyn Device>) {
    let slow = device.kernel("slow").unwrap();
    let memory = device.allocate(4 * 65).unwrap();
    let host = device.allocate_host(4 * 65).unwrap();
    device.launch(slow, line(1, 1), &[Argument::Memory(memory), Argument::Int(ROUNDS)]).unwrap();
    device.download(Queue::Compute, (memory, 0), (host, 0), 4 * 65).unwrap();
    let event = device.event().unwrap();
    device.record(event, Queue::Compute).unwrap();
    device.wait(event, Queue::Transfer).unwrap();
}

fn many_launches_run_in_order(mut device: Box<dyn Device>) {
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
    let mut threads = Vec::new();
    for summand in [1, 1000] {
        threads.extend(devices().into_iter().map(|device| (summand, std::thread::spawn(work(device, summand)))));
    }
    for (summand, thread) in threads {
        assert_eq!(thread.join().unwrap(), [500 * summand]);
    }
}

#[test]
fn an_index_beyond_the_devices_is_refused() {
    for accelerator in ACCELERATORS {
        let Ok(count) = count(accelerator) else { continue };
        let words = message(open::<f32>(accelerator, count));
        assert!(words.contains(&format!("no device {count}")), "{words}");
    }
}

#[test]
fn devices_opened_by_name_compute_what_the_host_computes() {
    for accelerator in ACCELERATORS {
        let mut device = match open::<f32>(accelerator.to_string().parse().unwrap(), 0) {
            Ok(device) => device,
            Err(reason) => {
                println!("skipped: {reason}");
                continue;
            }
        };
        self_test::<f32>(&mut *device).unwrap();
        if device.info().has_double {
            self_test::<f64>(&mut *open::<f64>(accelerator, 0).unwrap()).unwrap();
        } else {
            assert!(matches!(open::<f64>(accelerator, 0), Err(DeviceError::Unsuitable { .. })));
        }
    }
}
