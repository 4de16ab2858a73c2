//! CUDA as far as machines without a GPU have it: its absence, and its compiler.

use atmostr::device::{Architecture, CudaDevice, DeviceError, compile_to_ptx};

const PORTABLE: &str = include_str!("../kernels/src/device/portable.h");
const SELF_TEST: &str = include_str!("../src/device/self_test.h");

#[test]
fn without_its_driver_cuda_is_refused_in_words() {
    // Opens no device: that of a machine with a GPU is left alone.
    match CudaDevice::count() {
        Ok(count) => println!("skipped: {count} CUDA device(s) here"),
        Err(reason @ DeviceError::NoDevice { .. }) => println!("skipped: {reason}"),
        Err(reason) => {
            assert!(matches!(reason, DeviceError::NoDriver { driver: "CUDA", .. }), "{reason:?}");
            assert!(reason.to_string().starts_with("no CUDA on this machine: "), "{reason}");
            assert_eq!(CudaDevice::open(0).err(), Some(reason));
        }
    }
}

#[test]
fn ptx_is_compiled_as_written() {
    // The names of instructions: PTX ISA 8.8, section 9.7 (`.rn`: rounded to nearest; `fma`: fused).
    let source = format!(
        "#define REAL float\n{PORTABLE}
        KERNEL f(GLOBAL REAL *x, VALUE(int, n) THREADS) {{
            REAL a = x[0], b = x[1], c = x[2];
            x[3] = a * b + c; x[4] = a / b; x[5] = REAL_SQRT(a); x[6] = REAL_FMA(a, b, c);
        }}"
    );
    for architecture in [Architecture::Compute70, Architecture::Compute80, Architecture::Compute90] {
        let ptx = match compile_to_ptx(&source, architecture) {
            Ok(ptx) => ptx,
            Err(reason @ DeviceError::NoDriver { .. }) => return println!("skipped: {reason}"),
            Err(other) => panic!("{other}"),
        };
        let count = |word: &str| ptx.matches(word).count();
        let found = ["mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32", "fma.rn.f32", ".ftz"].map(count);
        assert_eq!(found, [1, 1, 1, 1, 1, 0], "{ptx}");
    }
    let broken = compile_to_ptx(&format!("{source}\nint g() {{ return undeclared_name; }}"), Architecture::Compute80);
    assert!(matches!(&broken, Err(DeviceError::Compile { log, .. }) if log.contains("undeclared_name")), "{broken:?}");
    assert!(compile_to_ptx("zero\0byte", Architecture::Compute80).is_err());
}

#[test]
fn the_self_test_compiles_for_cuda() {
    for precision in ["#define REAL float\n", "#define REAL_IS_FLOAT64\n#define REAL double\n"] {
        let ptx = match compile_to_ptx(&[precision, PORTABLE, SELF_TEST].concat(), Architecture::Compute80) {
            Ok(ptx) => ptx,
            Err(reason @ DeviceError::NoDriver { .. }) => return println!("skipped: {reason}"),
            Err(other) => panic!("{other}"),
        };
        assert!(ptx.contains(".entry self_test(") && !ptx.contains("fma."), "{ptx}");
    }
}
