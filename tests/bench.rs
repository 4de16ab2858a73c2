//! `atmostr bench` on a device: the first OpenCL one.

use std::process::Command;

use kernels::device::KernelName;
use serde_json::Value;

const SIZE: [&str; 9] = ["--nc", "8", "--levels", "4", "--tracers", "2", "--repetitions", "2", "--json"];

/// The answer of `atmostr bench`; nothing without a device.
fn bench(args: &[&str]) -> Option<Value> {
    if let Err(reason) = atmostr::device::OpenClDevice::count() {
        println!("skipped: {reason}");
        return None;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_atmostr"))
        .arg("bench")
        .args(args)
        .args(["--backend", "opencl"])
        .args(SIZE)
        .env("POCL_MAX_PTHREAD_COUNT", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn processor_and_device_are_compared() {
    let Some(reports) = bench(&["advection", "--steps", "1"]) else { return };
    assert_eq!((&reports[0]["backend"], &reports[0]["bandwidth"]), (&"cpu".into(), &"triad".into()));
    assert_eq!(reports[1]["bandwidth"], "copy");
    let rate = |n: usize| reports[n]["mega_updates_per_second"].as_f64().unwrap();
    assert!((reports[1]["rate_over_cpu"].as_f64().unwrap() - rate(1) / rate(0)).abs() < 1e-9);
}

#[test]
fn every_kernel_of_a_run_is_measured() {
    let Some(report) = bench(&["kernels", "--lanes", "sweep_y=4,advance_air=8"]) else { return };
    let kernels = report["kernels"].as_array().unwrap();
    for kernel in KernelName::ALL {
        // One rank sends no messages.
        let messages = matches!(kernel, KernelName::HaloPack | KernelName::HaloUnpack);
        assert_eq!(kernels.iter().any(|k| k["kernel"] == kernel.name()), !messages, "{}", kernel.name());
    }
    let of = |name: &str| kernels.iter().find(|k| k["kernel"] == name).unwrap();
    for (name, launches) in [("sweep_x", 2), ("sweep_z", 2), ("advance_air", 4), ("halo_copy", 4), ("reset_air", 0)] {
        assert_eq!(of(name)["launches_per_substep"], launches, "{name}");
    }
    assert_eq!((&of("sweep_y")["items_per_group"], &of("advance_air")["group"][0]), (&4.into(), &8.into()));
    let shares: f64 = kernels.iter().map(|k| k["share_of_substep"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    // Six panels of 8 × 8 × 4 cells: air, flux and two tracers read, two tracers written, four bytes each.
    assert_eq!(of("sweep_y")["least_bytes_per_launch"], f64::from(6 * 8 * 8 * 4 * 6 * 4));
    // 24 panel edges of eight faces, half of them in either sweep, four levels: three planes of six cells and an amount, a
    // flux.
    assert_eq!(of("seam_amounts")["least_bytes_per_launch"], f64::from(12 * 8 * 4 * (3 * 7 + 1) * 4));
}
