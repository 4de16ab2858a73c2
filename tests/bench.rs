//! `atmostr bench`: on a device, the first OpenCL one, and vertical physics on the processor.

use std::process::Command;

use kernels::device::{KernelName, KernelSet};
use serde_json::Value;

const SIZE: [&str; 9] = ["--nc", "8", "--levels", "4", "--tracers", "2", "--repetitions", "2", "--json"];

/// The answer of `atmostr bench`; nothing without a device.
fn bench(args: &[&str]) -> Option<Value> {
    if let Err(reason) = atmostr::device::OpenClDevice::count() {
        println!("skipped: {reason}");
        return None;
    }
    Some(answer(&[args, &["--backend", "opencl"], &SIZE].concat()))
}

fn answer(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_atmostr"))
        .arg("bench")
        .args(args)
        .env("POCL_MAX_PTHREAD_COUNT", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
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
    for kernel in KernelSet::transport().kernels() {
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

#[test]
fn every_kernel_of_spline_columns_is_measured() {
    let Some(report) = bench(&["kernels", "--vertical", "fv3_kord8"]) else { return };
    let kernels = report["kernels"].as_array().unwrap();
    let launches = |name: &str| kernels.iter().find(|k| k["kernel"] == name).map(|k| &k["launches_per_substep"]);
    assert_eq!(["spline_rows", "sweep_spline"].map(launches), [Some(&2.into()); 2]);
    assert_eq!(launches("sweep_z"), None);
}

/// Names under `key` in a list of the report.
fn names<'a>(report: &'a Value, list: &str, key: &str) -> Vec<&'a str> {
    report[list].as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap()).collect()
}

#[test]
fn every_operator_of_vertical_physics_is_measured() {
    let size = ["--nc", "8", "--levels", "12", "--tracers", "2", "--repetitions", "2", "--threads", "2", "--json"];
    for (float, bytes) in [("Float32", 4.0), ("Float64", 8.0)] {
        let report = answer(&[&["physics", "--float", float], &size[..]].concat());
        assert_eq!((&report["float_type"], &report["threads"]), (&float.into(), &2.into()));
        let within = [
            "diffusion_mass_space",
            "diffusion_flux",
            "diffusion_dkg",
            "emissions_surface",
            "emissions_lofted",
            "diffusion_dkg_emissions",
            "diffusion_nonlocal_emissions",
        ];
        let convection = [
            "convection_tm5",
            "convection_tm5_plain",
            "convection_cmfmc",
            "convection_cmfmc_mixing_ratio",
            "convection_cmfmc_matrix",
        ];
        assert_eq!(names(&report, "operators", "operator"), [&within[..], &convection, &["decay"]].concat());
        let kinds = [
            "constant",
            "profile",
            "tm5_beljaars_viterbo_local_kz",
            "geoschem_holtslag_boville_vdiff",
            "geoschem_nonlocal_vdiff",
            "cmfmc_matrix",
            "injection_heights",
        ];
        assert_eq!(names(&report, "derivations", "derivation"), kinds);
        let operators = report["operators"].as_array().unwrap();
        let of = |name: &str| operators.iter().find(|o| o["operator"] == name).unwrap();
        for (list, has_ledger) in
            [(&within[..2], true), (&within[2..], false), (&convection, true), (&["decay"], false)]
        {
            for name in list {
                let operator = of(name);
                assert_eq!(operator["in_substep"].is_object(), within.contains(name), "{name}");
                assert_eq!(operator["ledger"].is_object(), has_ledger, "{name}");
                assert_eq!(
                    operator["parts"].is_u64(),
                    name.starts_with("convection_cmfmc") && !name.ends_with("matrix")
                );
                let ratio = |a: &Value, b: f64| a.as_f64().unwrap() / b;
                let seconds = operator["seconds"].as_f64().unwrap();
                let rate = ratio(&operator["least_bytes"], seconds * 1e9);
                assert!((ratio(&operator["gigabytes_per_second"], rate) - 1.0).abs() < 1e-9, "{name}");
                let share = rate / report["triad_gigabytes_per_second"].as_f64().unwrap();
                assert!((ratio(&operator["share_of_triad"], share) - 1.0).abs() < 1e-9, "{name}");
            }
        }
        // Six panels of 8 × 8 columns of 12 layers, two tracers: air and both tracers read, both written.
        let (columns, cells) = (6.0 * 64.0, 6.0 * 64.0 * 12.0);
        for (name, values) in [
            ("diffusion_dkg", 5.0 * cells + cells),
            ("emissions_surface", 5.0 * cells + 2.0 * columns),
            ("convection_tm5", 5.0 * cells + 4.0 * cells),
            // The flux has a level more than there are layers, the cloud base one.
            ("convection_cmfmc", 5.0 * cells + (13.0 + 12.0 + 1.0) * columns),
            ("decay", 4.0 * cells),
        ] {
            assert_eq!(of(name)["least_bytes"], values * bytes, "{name}");
        }
        // Air mass, surface pressure and four surface fields read, one field written.
        let surface = &report["derivations"][2];
        assert_eq!(surface["least_bytes"], (2.0 * cells + 5.0 * columns) * bytes);
    }
}
