//! The device text is accepted by compilers of OpenCL C 1.2 and, with its address spaces mimicked, of Metal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kernels::Scheme;
use kernels::columns::convection::tm5::Solve;
use kernels::device::{
    Dialect, GroupShapes, KernelPart, KernelSet, Precision, Tm5Room, conformance::conformance_source, preamble,
    program, scheme_defines,
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
        out[i] = SCHEME_FLUX(in[0], in[1], in[2], profile, in[3], limited) + edge + (three.m0 + three.m1 + three.m2)
               + SCHEME_FACE(in[0], in[1], in[2], w);
    }
}
#if SCHEME_HALO < 1 || SCHEME_HAS_SLOPES > SCHEME_HAS_EDGES || SCHEME_IS_DONOR != (SCHEME_HALO == 1)
#error flags
#endif
";

/// All kernels.
fn everything() -> KernelSet {
    let room = Tm5Room { layers: 85, solve: Solve::Delta, batch: 6 };
    let parts =
        [KernelPart::Spline, KernelPart::Diffusion, KernelPart::Deposit, KernelPart::Cmfmc, KernelPart::Tm5Serial];
    parts.into_iter().fold(KernelSet::transport().with_tm5(room), KernelSet::with)
}

/// For every scheme, the numerics with every stage, and then the program with every kernel.
fn programs(precision: Precision, dialect: Dialect) -> Vec<String> {
    let stages = |scheme| format!("{}{}{}{STAGES}", preamble(precision), conformance_source(), scheme_defines(scheme));
    let shapes = GroupShapes::usual(dialect, 90);
    let kernels = Scheme::ALL.map(|scheme| program(precision, scheme, &shapes, &everything()));
    Scheme::ALL.map(stages).into_iter().chain(kernels).collect()
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

/// A scheme leaves the functions of others alone; the flux of a simple one ignores some of its arguments.
const WARNINGS: [&str; 5] =
    ["-Wall", "-Werror", "-Wno-unused-function", "-Wno-unused-but-set-variable", "-Wno-unused-variable"];
const OPENCL: [&str; 7] = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-target", "spir64"];
const METAL: [&str; 2] = ["-std=c++14", "-DMETAL_MIMIC"];

#[test]
fn opencl_accepts_the_text() {
    let Some(clang) = compiler("clang") else { return };
    for precision in Precision::ALL {
        let ways = [Dialect::OpenCl, Dialect::OpenClProcessor].map(|dialect| programs(precision, dialect));
        for (n, text) in ways.iter().flatten().enumerate() {
            let path = file(&format!("opencl_{precision:?}_{n}.cl"), text);
            assert_eq!(complaint(&clang, &OPENCL, &path), None);
        }
    }
    // The gate has teeth, and messages lead to the Rust source.
    let text = programs(Precision::Float32, Dialect::OpenCl)[0]
        .replace("const REAL outer_a_ = (", "const REAL outer_a_ = (typo + ");
    let complaint = complaint(&clang, &OPENCL, &file("opencl_fault.cl", &text)).unwrap();
    let line = include_str!("../src/numerics/edges.rs").lines().position(|l| l.contains("let outer_a =")).unwrap() + 1;
    assert!(complaint.contains(&format!("numerics/edges.rs:{line}:")), "{complaint}");
}

#[test]
fn metal_address_spaces_are_right() {
    let Some(clang) = compiler("clang++") else { return };
    for (n, text) in programs(Precision::Float32, Dialect::Metal).iter().enumerate() {
        let path = file(&format!("metal_{n}.cpp"), text);
        assert_eq!(complaint(&clang, &METAL, &path), None);
    }
    let text = programs(Precision::Float32, Dialect::Metal)[0].clone()
        + "#line 1 \"wrong.h\"\nKERNEL wrong(GLOBAL REAL *x THREADS) { REAL *y = x; *y = (REAL)LANE(0); }\n";
    let complaint = complaint(&clang, &METAL, &file("metal_fault.cpp", &text)).unwrap();
    assert!(complaint.contains("wrong.h:1:") && complaint.contains("'GLOBAL float *'"), "{complaint}");
}

/// Types of the kernels; a pointer to one needs the word of its address space.
const TYPES: [&str; 11] =
    ["REAL", "int", "wide", "word", "long_word", "PAIR", "TRIPLE", "WINDOW", "MARCH", "void", "char"];

/// What compilers here do not see: Metal takes no pointer without its address space and no `double`, OpenCL no `bool` and
/// `size_t` as arguments, and a constant that is not a LITERAL has another precision than REAL.
fn lint(text: &str) -> Vec<String> {
    let mut code = String::new();
    for (n, part) in text.split("/*").enumerate() {
        code += if n == 0 { part } else { part.split_once("*/").map_or("", |(_, after)| after) };
    }
    let mut found = Vec::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    for piece in code.split(['(', ')', ',', ';', '{', '}', '#']) {
        let spaced = piece.replace('*', " * ");
        let tokens: Vec<_> = spaced.split(|c| !is_word(c) && c != '*').filter(|token| !token.is_empty()).collect();
        let points = tokens.windows(2).any(|pair| TYPES.contains(&pair[0]) && pair[1] == "*")
            || tokens.windows(3).any(|three| TYPES.contains(&three[0]) && three[1..] == ["const", "*"]);
        if points && !["GLOBAL", "SHARED_POINTER", "PRIVATE", "TM5_SPACE"].iter().any(|space| tokens.contains(space)) {
            found.push(piece.trim().to_owned());
        }
        let other = ["double", "float", "half", "bool", "size_t", "long", "unsigned"];
        found.extend(tokens.iter().filter(|token| other.contains(token)).map(|token| (*token).to_owned()));
    }
    // LITERAL holds the constant twice, without brackets inside.
    for (n, part) in code.split("LITERAL(").enumerate() {
        let outside = if n == 0 { part } else { part.split_once(')').map_or("", |(_, after)| after) };
        let numbers = outside.split(|c| !is_word(c)).filter(|token| token.starts_with(|c: char| c.is_ascii_digit()));
        found.extend(numbers.filter(|token| token.contains('.')).map(str::to_owned));
    }
    found
}

#[test]
fn kernels_keep_to_the_common_words() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/device");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "h") && path.file_name().is_some_and(|name| name != "portable.h") {
            assert_eq!(lint(&fs::read_to_string(&path).unwrap()), Vec::<String>::new(), "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= 7, "{files} files");
    for fault in [
        "INLINE void f(REAL *x) {}",
        "const int *table = cells;",
        "f((int const *)x);",
        "REAL x = 0.0;",
        "REAL x = 2.f * y;",
        "double x;",
        "VALUE(size_t, n)",
    ] {
        assert_eq!(lint(fault).len(), 1, "{fault}");
    }
    let fine = "/* REAL *x = 0.5 */ GLOBAL REAL *x = y + (wide)n * m, SHARED_POINTER const int *z; k = LITERAL(0.5f, 0.5) * (REAL)2;";
    assert_eq!(lint(fine), Vec::<String>::new());
}
