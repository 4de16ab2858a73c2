//! The device text, compiled for this processor, gives the bits of the Rust functions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use device_form::{Form, SourceFile};
use kernels::device::conformance::{NUMERICS_CASES, NumericsCase, conformance_source};
use kernels::device::{PORTABLE, Precision, preamble, scheme_defines};
use kernels::scheme::{
    CellScheme, Fv3Hord8, Fv3Hord13, PpmCw84, PpmHuynhPd, PpmMonotone, PpmNone, SlopesMonotone, SlopesNone,
    SlopesPositivity, SweptMpPd, SweptUniversal, Upwind,
};
use kernels::{Real, Scalar, Scheme};

#[path = "samples/subset.rs"]
mod subset;

/// A function over flat numbers.
type Reference<R> = fn(&[R], &mut [R]);

/// Items per function.
const ITEMS: usize = 20_000;

/// One more dialect: a thread is a call.
const HOST: &str = "#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
using std::fabs; using std::sqrt; using std::fma;
#define KERNEL static void
#define INLINE static inline
#define GLOBAL
#define VALUE(type, name) const type name
#define THREADS , int thread_lane
#define LANE(axis) thread_lane
#define GROUP(axis) 0
#define WIDTH(axis) 0
";

/// Every stage of a scheme: 21 numbers in, 8 out.
const STAGES: &str = "(GLOBAL const REAL *in, GLOBAL REAL *out, VALUE(int, n) THREADS) {
    const int i = LANE(0);
    const REAL *x = in + 21 * i;
    REAL *y = out + 8 * i;
    if (i < n) {
        const WINDOW w = make_window(x[0], x[1], x[2], x[3], x[4]);
        const PAIR profile = SCHEME_PROFILE(w), limited = SCHEME_LIMIT(w, x[5], x[6]);
        y[0] = profile.m0; y[1] = profile.m1; y[2] = limited.m0; y[3] = limited.m1;
        y[4] = SCHEME_SLOPE(x[7], x[8], x[9]);
        y[5] = SCHEME_EDGE(x[7], x[8], x[9], x[10], x[11], x[12]);
        y[6] = SCHEME_FLUX(x[13], x[14], x[15], make_pair(x[16], x[17]), x[18], make_pair(x[19], x[20]));
        y[7] = SCHEME_FACE(x[13], x[14], x[15], make_window(x[16], x[17], x[18], x[19], x[20]));
    }
}
";

fn stages<S: CellScheme, R: Scalar>(x: &[R], y: &mut [R]) {
    let w = [x[0], x[1], x[2], x[3], x[4]];
    (y[0], y[1]) = S::profile(w);
    (y[2], y[3]) = S::limit(w, x[5], x[6]);
    y[4] = S::slope(x[7], x[8], x[9]);
    y[5] = S::edge(x[7], x[8], x[9], x[10], x[11], x[12]);
    y[6] = S::flux(x[13], x[14], x[15], (x[16], x[17]), x[18], (x[19], x[20]));
    y[7] = S::face(x[13], x[14], x[15], [x[16], x[17], x[18], x[19], x[20]]);
}

/// The stages of every scheme, in the order of [`Scheme::ALL`].
fn schemes<R: Scalar>() -> [Reference<R>; Scheme::ALL.len()] {
    [
        stages::<Upwind, R>,
        stages::<SlopesNone, R>,
        stages::<SlopesMonotone, R>,
        stages::<SlopesPositivity, R>,
        stages::<PpmNone, R>,
        stages::<PpmMonotone, R>,
        stages::<PpmCw84, R>,
        stages::<PpmHuynhPd, R>,
        stages::<Fv3Hord8, R>,
        stages::<Fv3Hord13, R>,
        stages::<SweptUniversal, R>,
        stages::<SweptMpPd, R>,
    ]
}

/// A program that runs the kernel named by its first argument on the numbers of its input.
fn source(precision: Precision) -> String {
    let mut text = format!("{HOST}{}{}", preamble(precision), conformance_source());
    let mut names: Vec<String> = NUMERICS_CASES.iter().map(|case| case.kernel()).collect();
    for (n, scheme) in Scheme::ALL.into_iter().enumerate() {
        let defines = scheme_defines(scheme);
        let macros: BTreeSet<&str> =
            defines.lines().filter_map(|line| line.strip_prefix("#define ")?.split([' ', '(']).next()).collect();
        write!(text, "{defines}KERNEL scheme_{n}{STAGES}").unwrap();
        macros.iter().for_each(|name| writeln!(text, "#undef {name}").unwrap());
        names.push(format!("scheme_{n}"));
    }
    text + &program(&names)
}

/// The function that runs one of the kernels.
fn program(names: &[String]) -> String {
    let mut text = String::from(
        "int main(int, char **argv) {
        const int n = std::atoi(argv[2]), inputs = std::atoi(argv[3]), outputs = std::atoi(argv[4]);
        std::vector<REAL> in(n * inputs), out(n * outputs);
        if (std::fread(in.data(), sizeof(REAL), in.size(), stdin) != in.size()) return 2;
        void (*run)(const REAL *, REAL *, int, int) = nullptr;\n",
    );
    names.iter().for_each(|name| writeln!(text, "if (!std::strcmp(argv[1], \"{name}\")) run = {name};").unwrap());
    text += "if (!run) return 3;
        for (int i = 0; i < n; ++i) run(in.data(), out.data(), n, i);
        return std::fwrite(out.data(), sizeof(REAL), out.size(), stdout) == out.size() ? 0 : 4;\n}\n";
    text
}

/// Compiles a program; `None` without a compiler.
fn compiled(name: &str, source: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (text, program) = (folder.join(format!("{name}.cpp")), folder.join(name));
    fs::write(&text, source).unwrap();
    let flags = ["-std=c++14", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wdouble-promotion", "-Werror"];
    let unused = ["-Wno-unused-parameter", "-Wno-unused-function"];
    let Ok(output) = Command::new("g++").args(flags).args(unused).arg(&text).arg("-o").arg(&program).output() else {
        println!("skipped: no g++ on the path");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Numbers that reach every branch: small multiples (ties, zeros), one scale, any scale, neighbours, and special values.
fn numbers<R: Scalar>(count: usize) -> Vec<R> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        // Steele, Lea & Flood 2014 (SplitMix64).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-42, -1e-42, 1e38, -1e38, 1e-25];
    let mut kind = 0;
    let mut out = Vec::with_capacity(count);
    for n in 0..count {
        if n % 7 == 0 {
            kind = next() % 6;
        }
        let (word, unit) = (next(), (next() >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0);
        out.push(match kind {
            0 | 1 => R::from_f64((word % 9) as f64 - 4.0),
            2 => R::from_f64(unit),
            3 => R::from_f64(unit * ((word % 60) as f64 - 30.0).exp2()),
            4 => R::from_f64(400.0) + R::from_f64((word % 5) as f64) * R::EPSILON * R::from_f64(256.0),
            _ => R::from_f64(special[(word % special.len() as u64) as usize]),
        });
    }
    out
}

/// Runs a kernel and compares every output; NaNs are equal.
fn compare<R: Scalar>(program: &Path, name: &str, sizes: (usize, usize), reference: Reference<R>) {
    let (inputs, outputs) = sizes;
    let input = numbers::<R>(ITEMS * inputs);
    let mut child = Command::new(program)
        .args([name, &ITEMS.to_string(), &inputs.to_string(), &outputs.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytemuck::cast_slice(&input)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {:?}", output.status);
    let found: Vec<R> = output.stdout.chunks(size_of::<R>()).map(bytemuck::pod_read_unaligned).collect();
    assert_eq!(found.len(), ITEMS * outputs);
    let mut expected = vec![R::lit(0.0); outputs];
    let mut numbers = 0;
    for (x, y) in input.chunks(inputs).zip(found.chunks(outputs)) {
        reference(x, &mut expected);
        for (a, b) in expected.iter().zip(y) {
            let (a, b) = (a.to_f64(), b.to_f64());
            assert!(
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                "{name} {x:?}: {expected:?}, found {y:?}"
            );
            numbers += usize::from(!b.is_nan());
        }
    }
    assert!(2 * numbers > found.len(), "{name}: mostly NaN");
}

fn all<R: Scalar>(precision: Precision, pick: fn(&NumericsCase) -> Reference<R>) {
    let Some(program) = compiled(&format!("device_host_{precision:?}"), &source(precision)) else { return };
    for case in &NUMERICS_CASES {
        compare::<R>(&program, &case.kernel(), (case.inputs, case.outputs), pick(case));
    }
    for (n, reference) in schemes::<R>().into_iter().enumerate() {
        compare::<R>(&program, &format!("scheme_{n}"), (21, 8), reference);
    }
}

#[test]
fn single_precision_has_the_same_bits() {
    all::<f32>(Precision::Float32, |case| case.float32);
}

#[test]
fn double_precision_has_the_same_bits() {
    all::<f64>(Precision::Float64, |case| case.float64);
}

fn horner<R: Real>(x: &[R], y: &mut [R]) {
    y[0] = subset::horner([x[0], x[1], x[2], x[3], x[4]], x[5]);
}

fn running<R: Real>(x: &[R], y: &mut [R]) {
    let (maxima, (rises, few)) = subset::running([x[0], x[1], x[2], x[3], x[4]], x[5]);
    y[..5].copy_from_slice(&maxima);
    (y[5], y[6]) = (rises, R::select(few, R::lit(1.0), R::lit(0.0)));
}

fn total<R: Real>(x: &[R], y: &mut [R]) {
    (y[0], y[1]) = subset::total(R::lit(0.0).lt(x[0]), [x[1], x[2], x[3], x[4], x[5]]);
}

/// Loops, assignments, masks, nested values and the fused product.
fn whole_subset<R: Scalar>(precision: Precision, defines: &str) {
    let file = SourceFile { name: "subset.rs".to_owned(), text: include_str!("samples/subset.rs").to_owned() };
    let form = Form::read(&[file]).unwrap_or_else(|list| panic!("{list:#?}"));
    let names = ["horner", "running", "total"].map(|name| format!("conform_{name}"));
    let parts = [HOST, defines, PORTABLE, &form.functions_text(), &form.conformance_text(), &program(&names)];
    let Some(program) = compiled(&format!("device_subset_{precision:?}"), &parts.concat()) else { return };
    compare::<R>(&program, &names[0], (6, 1), horner);
    compare::<R>(&program, &names[1], (6, 7), running);
    compare::<R>(&program, &names[2], (6, 2), total);
}

#[test]
fn the_whole_subset_has_the_same_bits() {
    whole_subset::<f32>(Precision::Float32, "#define REAL float\n");
    whole_subset::<f64>(Precision::Float64, "#define REAL double\n#define REAL_IS_FLOAT64\n");
}
