//! The device text is accepted by compilers of OpenCL C 1.2 and, with its address spaces mimicked, of Metal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernels::Scheme;
use kernels::device::{
    Dialect, GroupShapes, Precision, conformance::conformance_source, preamble, program, scheme_defines,
};

/// The first compiler of this family on the path: `stem`, `stem-19` … `stem-14`.
fn compiler(stem: &str) -> Option<String> {
    let names = std::iter::once(stem.to_owned()).chain((14..20).rev().map(|version| format!("{stem}-{version}")));
    let found = |name: &String| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
    let name = names.into_iter().find(found);
    if name.is_none() {
        println!("skipped: no {stem} on the path");
    }
    name
}

/// A kernel that uses every stage of a scheme.
const STAGES: &str = "KERNEL stages(GLOBAL const REAL *in, GLOBAL REAL *out, VALUE(int, n) THREADS) {
    const int i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < n) {
        const WINDOW w = make_window(in[0], in[1], in[2], in[3], in[4]);
        const PAIR profile = SCHEME_PROFILE(w);
        const REAL slope = SCHEME_SLOPE(in[0], in[1], in[2]);
        const REAL edge = SCHEME_EDGE(in[0], in[1], in[2], in[3], slope, in[4]);
        const PAIR limited = SCHEME_LIMIT(w, edge, in[5]);
        const TRIPLE three = make_triple(profile.m0, limited.m1, slope);
        out[i] = SCHEME_FLUX(in[0], in[1], in[2], profile, in[3], limited) + edge + (three.m0 + three.m1 + three.m2);
    }
}
#if SCHEME_HALO < 1 || SCHEME_HAS_SLOPES > SCHEME_HAS_EDGES || SCHEME_IS_DONOR != (SCHEME_HALO == 1)
#error flags
#endif
";

fn programs(precision: Precision) -> Vec<String> {
    let schemes = Scheme::ALL.map(|scheme| format!("{}{STAGES}", scheme_defines(scheme)));
    schemes.iter().map(|stages| format!("{}{}{stages}", preamble(precision), conformance_source())).collect()
}

/// Every kernel for every scheme.
fn whole_programs(precision: Precision, dialect: Dialect) -> Vec<String> {
    Scheme::ALL.map(|scheme| program(precision, scheme, &GroupShapes::usual(dialect, 90))).to_vec()
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path
}

/// What the compiler says; `None` if it accepts the text.
fn complaint(compiler: &str, flags: &[&str], path: &Path) -> Option<String> {
    let output = Command::new(compiler).args(flags).args(WARNINGS).arg("-fsyntax-only").arg(path).output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

const OPENCL: [&str; 7] = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64"];
const METAL: [&str; 2] = ["-std=c++14", "-DMETAL_MIMIC"];
/// Not every scheme needs all that there is.
const WARNINGS: [&str; 5] =
    ["-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable"];

#[test]
fn opencl_accepts_the_text() {
    let Some(clang) = compiler("clang") else { return };
    for precision in Precision::ALL {
        let kernels = [Dialect::OpenCl, Dialect::OpenClProcessor].map(|dialect| whole_programs(precision, dialect));
        for (n, text) in programs(precision).iter().chain(kernels.iter().flatten()).enumerate() {
            let path = file(&format!("opencl_{precision:?}_{n}.cl"), text);
            assert_eq!(complaint(&clang, &OPENCL, &path), None);
        }
    }
    // The gate has teeth, and messages lead to the Rust source.
    let text = programs(Precision::Float32)[0].replace("const REAL outer_a_ = (", "const REAL outer_a_ = (typo + ");
    let complaint = complaint(&clang, &OPENCL, &file("opencl_fault.cl", &text)).unwrap();
    let line = include_str!("../src/numerics/edges.rs").lines().position(|l| l.contains("let outer_a =")).unwrap() + 1;
    assert!(complaint.contains(&format!("numerics/edges.rs:{line}:")), "{complaint}");
}

#[test]
fn metal_address_spaces_are_right() {
    let Some(clang) = compiler("clang++") else { return };
    let kernels = whole_programs(Precision::Float32, Dialect::Metal);
    for (n, text) in programs(Precision::Float32).iter().chain(&kernels).enumerate() {
        let path = file(&format!("metal_{n}.cpp"), text);
        assert_eq!(complaint(&clang, &METAL, &path), None);
    }
    let text = programs(Precision::Float32)[0].clone()
        + "#line 1 \"wrong.h\"\nKERNEL wrong(GLOBAL REAL *x THREADS) { REAL *y = x; *y = (REAL)LANE(0); }\n";
    let complaint = complaint(&clang, &METAL, &file("metal_fault.cpp", &text)).unwrap();
    assert!(complaint.contains("wrong.h:1:") && complaint.contains("'GLOBAL float *'"), "{complaint}");
}
