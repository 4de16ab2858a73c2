//! What CUDA's compilers make of the kernels, without a GPU: arithmetic as written in the PTX, and no spills in machine
//! code. Every scheme, both precisions, three generations of GPUs.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use atmostr::device::{Architecture, DeviceError, compile_to_ptx};
use kernels::Scheme;
use kernels::columns::convection::tm5::Solve;
use kernels::device::{Dialect, GroupShapes, KernelPart, KernelSet, Precision, Tm5Room, program};

const ARCHITECTURES: [(Architecture, &str); 3] =
    [(Architecture::Compute70, "sm_70"), (Architecture::Compute80, "sm_80"), (Architecture::Compute90, "sm_90")];

/// Cells along i of the widest tile: a panel of C90.
const WIDEST: usize = 90;

/// A compiled program and where it comes from.
struct Compiled {
    what: String,
    set: KernelSet,
    machine: &'static str,
    source: String,
    ptx: String,
}

/// All kernels.
fn everything(precision: Precision) -> KernelSet {
    let layers = if precision == Precision::Float32 { 85 } else { 73 };
    let room = Tm5Room { layers, solve: Solve::Plain, batch: 6 };
    let parts =
        [KernelPart::Spline, KernelPart::Diffusion, KernelPart::Deposit, KernelPart::Cmfmc, KernelPart::Tm5Serial];
    parts.into_iter().fold(KernelSet::transport().with_tm5(room), KernelSet::with)
}

/// Every program; `None`, and a message, where the compiler is not here.
fn compile_all() -> Option<Vec<Compiled>> {
    let shapes = GroupShapes::usual(Dialect::Cuda, WIDEST);
    let mut all = Vec::new();
    for scheme in Scheme::ALL {
        for precision in Precision::ALL {
            // Kernels of columns are the same for all schemes.
            let set = if scheme == Scheme::Upwind { everything(precision) } else { KernelSet::transport() };
            let source = program(precision, scheme, &shapes, &set);
            for (architecture, machine) in ARCHITECTURES {
                let what = format!("{} {precision:?} {machine}", scheme.name());
                match compile_to_ptx(&source, architecture) {
                    Ok(ptx) => all.push(Compiled { what, set: set.clone(), machine, source: source.clone(), ptx }),
                    Err(reason @ DeviceError::NoDriver { .. }) => {
                        println!("skipped: {reason}");
                        return None;
                    }
                    Err(other) => panic!("{what}: {other}"),
                }
            }
        }
    }
    Some(all)
}

/// What is wrong with the arithmetic of a PTX text. Names of instructions: PTX ISA 8.8, section 9.7.
fn faults(source: &str, ptx: &str) -> Vec<String> {
    let mut found = Vec::new();
    // The definition of the word is no use of it.
    let fused = source.matches("REAL_FMA(").count() - 1;
    let compiled = ptx.matches("fma.rn").count();
    if (fused == 0) != (compiled == 0) {
        found.push(format!("REAL_FMA is written {fused} times, fma.rn is there {compiled} times"));
    }
    for line in ptx.lines().map(str::trim) {
        let of = |words: &[&str]| words.iter().any(|word| line.contains(word));
        let zero = of(&["0f00000000", "0f80000000", "0d0000000000000000", "0d8000000000000000"]);
        // min against zero gives -0 for -0, which the text does not; where neither operand is a constant, min and max
        // treat values that are not numbers otherwise than the text.
        let folded = (of(&["min.f"]) && zero) || (of(&["min.f", "max.f"]) && !of(&[", 0f", ", 0d"]));
        if of(&[".approx", ".ftz", ".full.f", ".local"]) || folded {
            found.push(line.to_string());
        }
    }
    found
}

#[derive(Default)]
struct Usage {
    kernel: String,
    registers: usize,
    shared: usize,
    /// Bytes of stack, spill stores and spill loads.
    memory: [usize; 3],
}

/// The report of `ptxas -v`, kernel by kernel.
fn usages(report: &str) -> Vec<Usage> {
    let before = |line: &str, word: &str| -> usize {
        let words = line.split_once(word).map_or("", |(words, _)| words);
        words.split_whitespace().next_back().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    let mut all: Vec<Usage> = Vec::new();
    for line in report.lines() {
        if let Some((_, after)) = line.split_once("Compiling entry function '") {
            let kernel = after.split('\'').next().unwrap_or_default().to_string();
            all.push(Usage { kernel, ..Usage::default() });
        } else if let Some(usage) = all.last_mut() {
            if line.contains("stack frame") {
                usage.memory = [" bytes stack", " bytes spill stores", " bytes spill loads"].map(|w| before(line, w));
            } else if line.contains("Used ") {
                (usage.registers, usage.shared) = (before(line, " registers"), before(line, " bytes smem"));
            }
        }
    }
    all
}

/// Machine code of a program, thrown away; the assembler's report.
fn assemble(folder: &Path, program: &Compiled) -> String {
    let (from, to) = (folder.join("program.ptx"), folder.join("program.cubin"));
    std::fs::write(&from, &program.ptx).unwrap();
    let mut command = Command::new("ptxas");
    let output = command.arg("-v").arg(format!("-arch={}", program.machine)).arg(from).arg("-o").arg(to).output();
    let output = output.unwrap();
    let report = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {report}", program.what);
    report
}

#[test]
fn kernels_are_compiled_as_written_and_keep_to_their_registers() {
    let Some(programs) = compile_all() else { return };
    for program in &programs {
        assert_eq!(faults(&program.source, &program.ptx), Vec::<String>::new(), "{}", program.what);
    }
    if Command::new("ptxas").arg("--version").output().is_err() {
        return println!("skipped: registers and spills (no ptxas on the path)");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut table = format!("{:30} {:24} {:>9} {:>7}\n", "program", "kernel", "registers", "shared");
    let mut spilled = Vec::new();
    for program in &programs {
        let usages = usages(&assemble(folder.path(), program));
        let mut names: Vec<_> = usages.iter().map(|usage| usage.kernel.as_str()).collect();
        let mut expected: Vec<_> = program.set.kernels().map(|kernel| kernel.name()).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected, "{}", program.what);
        for Usage { kernel, registers, shared, memory } in usages {
            assert!(registers > 0, "{} {kernel}: the report is not understood", program.what);
            writeln!(table, "{:30} {kernel:24} {registers:9} {shared:7}", program.what).unwrap();
            if memory != [0; 3] {
                spilled.push(format!("{} {kernel}: stack, spill stores, spill loads {memory:?}", program.what));
            }
        }
    }
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("device_registers.txt");
    std::fs::write(&path, &table).unwrap();
    println!("{table}written to {}", path.display());
    assert_eq!(spilled, Vec::<String>::new());
}

#[test]
fn the_lints_have_teeth() {
    let source = "#define REAL_FMA(x, y, z) fma(x, y, z)\n";
    for fault in [
        "fma.rn.f32 %f1, %f2, %f3, %f4;",
        "div.approx.f32 %f1, %f2, %f3;",
        "div.full.f32 %f1, %f2, %f3;",
        "add.ftz.f32 %f1, %f2, %f3;",
        ".local .align 4 .b8 __local_depot0[24];",
        "min.f64 %fd1, %fd2, 0d0000000000000000;",
        "max.f32 %f1, %f2, %f3;",
    ] {
        assert_eq!(faults(source, fault).len(), 1, "{fault}");
    }
    let used = format!("{source}x = REAL_FMA(a, b, c);");
    assert_eq!(faults(&used, "mul.rn.f32 %f1, %f2, %f3;").len(), 1);
    let fine = "fma.rn.f32 %f1, %f2, %f3, %f4;\nmin.f32 %f1, %f2, 0f3F800000;\nmax.f64 %fd1, %fd2, 0d0000000000000000;";
    assert_eq!(faults(&used, fine), Vec::<String>::new());

    // Form of the report: ptxas 12.9.
    let report = "ptxas info    : Compiling entry function 'sweep_y' for 'sm_80'\n\
        ptxas info    : Function properties for sweep_y\n    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
        ptxas info    : Used 56 registers, used 1 barriers, 3200 bytes smem, 424 bytes cmem[0]\n";
    let found = usages(report);
    assert_eq!((found.len(), found[0].kernel.as_str()), (1, "sweep_y"));
    assert_eq!((found[0].registers, found[0].shared, found[0].memory), (56, 3200, [8, 4, 12]));
}
