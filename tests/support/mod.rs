//! Starts the program as a user does, alone or under `mpirun`, and writes its configurations.
#![allow(dead_code)]

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use atmostr::met::{Section, TransportFile};
use kernels::scheme::{PpmLimiter, Scheme, SlopesLimiter};

/// No run of these suites takes this long, except those that say so; one that does hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Runs of several days, on a machine with other work.
pub const LONG_PATIENCE: Duration = Duration::from_secs(900);

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
}

impl Ended {
    /// Panics unless the exit code is 0.
    pub fn succeed(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Panics unless the exit code is 2 and every part is in the messages.
    pub fn refuse(self, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(2), "{}\n{}", self.stdout, self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} not in\n{}", self.stderr);
        }
        self
    }

    /// Times that `part` is in the messages.
    pub fn count(&self, part: &str) -> usize {
        self.stderr.matches(part).count()
    }
}

/// Runs a command in `dir` to its end.
pub fn finish(command: Command, dir: &Path) -> Ended {
    finish_within(command, dir, PATIENCE)
}

/// Runs a command in `dir` to its end, which comes within `patience`.
pub fn finish_within(mut command: Command, dir: &Path, patience: Duration) -> Ended {
    let streams = tempfile::tempdir().unwrap();
    let (out, err) = (streams.path().join("out"), streams.path().join("err"));
    let start = Instant::now();
    let mut child = command
        .current_dir(dir)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(File::create(&out).unwrap())
        .stderr(File::create(&err).unwrap())
        .spawn()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let read = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let code = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        if start.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{command:?} hangs\n{}", read(&err));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ended { code, stdout: read(&out), stderr: read(&err), seconds: start.elapsed().as_secs_f64() }
}

/// The program as one process.
pub fn atmostr(dir: &Path, args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_atmostr"));
    command.args(args);
    finish(command, dir)
}

/// A directory, and the guarantee that no other test runs: jobs of more ranks than cores are slow enough, and a child
/// started meanwhile would inherit the descriptor and the lock of any file that this process writes.
pub fn alone() -> (MutexGuard<'static, ()>, tempfile::TempDir) {
    static ALONE: Mutex<()> = Mutex::new(());
    let guard = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    (guard, tempfile::tempdir().unwrap())
}

/// A program on several ranks.
pub fn mpirun_program(dir: &Path, ranks: usize, program: &Path, args: &[&str]) -> Ended {
    finish(mpirun_command(ranks, program, args), dir)
}

/// How a program is started on several ranks.
pub fn mpirun_command(ranks: usize, program: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    // Open MPI refuses root and more ranks than cores unless told so; other launchers ignore these.
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
        command.env(name, "1");
    }
    command.env("OMPI_MCA_rmaps_base_oversubscribe", "1").env("OMPI_MCA_mpi_yield_when_idle", "1");
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command.arg("-n").arg(ranks.to_string()).arg(program).args(args);
    command
}

/// The program on several ranks.
pub fn mpirun(dir: &Path, ranks: usize, args: &[&str]) -> Ended {
    mpirun_program(dir, ranks, Path::new(env!("CARGO_BIN_EXE_atmostr")), args)
}

/// Writes winds with `atmostr synth`.
pub fn synth(dir: &Path, name: &str, args: &[&str]) {
    let all: Vec<_> = ["synth", name].iter().chain(args).copied().collect();
    atmostr(dir, &all).succeed();
}

/// Copies a transport file with NaN as the last value of the air mass of window `window` (from 1): the lowest layer of
/// the last cell of panel 6.
pub fn spoil(dir: &Path, from: &str, to: &str, window: usize) {
    let file = TransportFile::open(dir.join(from)).unwrap();
    let header = file.header();
    let (m, bytes) = (Section::AirMass, header.float_type().bytes());
    let last = header.section_offset(m).unwrap() + m.elems(header.nc(), header.nlevel()) - 1;
    let at = (header.header_bytes() + (window - 1) as u64 * header.window_bytes()) as usize + last * bytes;
    let mut content = std::fs::read(dir.join(from)).unwrap();
    match bytes {
        4 => content[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes()),
        _ => content[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes()),
    }
    std::fs::write(dir.join(to), content).unwrap();
}

/// Panics unless `atmostr diff` finds both files identical.
pub fn assert_same(dir: &Path, a: &str, b: &str, what: &str) {
    let found = atmostr(dir, &["diff", a, b]);
    assert_eq!(found.code, Some(0), "{what}\n{}{}", found.stdout, found.stderr);
}

/// Four tracers: uniform, a step, a plume and one layer.
pub const TRACERS: &str = "\
[tracers.uniform]
init = { kind = \"uniform\", background = 4.0e-4 }
[tracers.co2]
init = { kind = \"latitude_step\", south_value = 4.0e-4, north_value = 4.4e-4 }
[tracers.plume]
init = { kind = \"gaussian_blob\", background = 0.0, amplitude = 1.0e-6, lon0_deg = 10, lat0_deg = 50 }
[tracers.layer]
init = { kind = \"pressure_layer\", psurf_fraction = 0.5, total_molecules = 1.0e30 }
molar_mass_kg_mol = 0.146055
";

/// Tracers with all of TM5's vertical physics.
pub const TM5_PHYSICS: &str = "\
[diffusion]
kind = \"tm5_dkg\"
[convection]
kind = \"tm5\"
[chemistry]
kind = \"decay\"
half_lives_seconds = { rn222 = 330350.4 }
decay_cadence = \"symmetric\"
[tracers.background]
background = 4.0e-4
[tracers.fossil_co2]
surface_flux = { kind = \"uniform\", rate = 3.0e-9 }
[tracers.rn222]
surface_flux = { kind = \"uniform\", rate = 1.0e-16 }
";

/// Tracers with all of GEOS-Chem's vertical physics.
pub const GEOS_PHYSICS: &str = "\
[diffusion]
kind = \"geoschem_nonlocal_vdiff\"
[convection]
kind = \"cmfmc\"
cloud_base = \"dqrcu\"
[tracers.co2]
init = { kind = \"latitude_step\", south_value = 4.0e-4, north_value = 4.4e-4 }
surface_flux = { kind = \"uniform\", rate = -2.0e-9 }
[tracers.stacks]
molar_mass_kg_mol = 0.0440095
surface_flux = { kind = \"uniform\", rate = 1e-9, injection = { kind = \"heights\", z_bottom = 50.0, z_top = 900.0 } }
";

/// A configuration, in parts.
#[derive(Clone, Debug)]
pub struct Config<'a> {
    /// Content of `[input]`.
    pub input: &'a str,
    pub float: &'a str,
    pub threads: usize,
    pub backend: &'a str,
    /// Content of `[run]`.
    pub run: &'a str,
    pub tiles: Option<[usize; 2]>,
    /// Content of `[advection]`.
    pub advection: &'a str,
    pub tracers: &'a str,
    /// Content of `[output]`.
    pub output: &'a str,
}

impl Default for Config<'_> {
    fn default() -> Self {
        Self {
            input: "binary_paths = [\"winds.bin\"]",
            float: "Float64",
            threads: 1,
            backend: "cpu",
            run: "",
            tiles: None,
            advection: "scheme = \"ppm\"\nlimiter = \"huynh_pd\"",
            tracers: TRACERS,
            output: "path = \"out.nc\"\ncadence_hours = 1",
        }
    }
}

impl Config<'_> {
    /// Text of the configuration.
    pub fn text(&self) -> String {
        let Self { input, float, threads, backend, run, tiles, advection, tracers, output } = self;
        let tiles = tiles.map_or(String::new(), |t| format!("tiles = {t:?}"));
        format!(
            "[input]\n{input}\n[numerics]\nfloat_type = \"{float}\"\n[architecture]\nthreads = {threads}\n\
             backend = \"{backend}\"\n[run]\n{run}\n[decomposition]\n{tiles}\n[advection]\n{advection}\n{tracers}\n[output]\n{output}\n"
        )
    }

    /// Writes the configuration to `dir/name`.
    pub fn write(&self, dir: &Path, name: &str) {
        std::fs::write(dir.join(name), self.text()).unwrap();
    }
}

/// Backend under test.
pub fn test_backend() -> String {
    std::env::var("ATMOSTR_TEST_BACKEND").unwrap_or_else(|_| "opencl".to_owned())
}

/// Whether the backend under test has a device; says why not. One that tests are told to use has to be there.
pub fn has_device() -> bool {
    let accelerator = test_backend().parse().unwrap_or_else(|reason| panic!("ATMOSTR_TEST_BACKEND: {reason}"));
    let found = atmostr::device::count(accelerator);
    if let Err(reason) = &found {
        assert!(std::env::var_os("ATMOSTR_TEST_BACKEND").is_none(), "{reason}");
        println!("skipped: {reason}");
    }
    found.is_ok()
}

/// Content of `[advection]` for a scheme.
pub fn advection(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Upwind => "scheme = \"upwind\"",
        Scheme::Slopes(SlopesLimiter::None) => "scheme = \"slopes\"\nlimiter = \"none\"",
        Scheme::Slopes(SlopesLimiter::Monotone) => "scheme = \"slopes\"\nlimiter = \"monotone\"",
        Scheme::Slopes(SlopesLimiter::Positivity) => "scheme = \"slopes\"\nlimiter = \"positivity\"",
        Scheme::Ppm(PpmLimiter::None) => "scheme = \"ppm\"\nlimiter = \"none\"",
        Scheme::Ppm(PpmLimiter::Monotone) => "scheme = \"ppm\"",
        Scheme::Ppm(PpmLimiter::Cw84) => "scheme = \"ppm\"\nlimiter = \"cw84\"",
        Scheme::Ppm(PpmLimiter::HuynhPd) => "scheme = \"ppm\"\nlimiter = \"huynh_pd\"",
        Scheme::Ppm(PpmLimiter::Mono) => "scheme = \"ppm\"\nlimiter = \"mono\"",
        Scheme::Ppm(PpmLimiter::Pd) => "scheme = \"ppm\"\nlimiter = \"pd\"",
        Scheme::Ppm(PpmLimiter::Universal) => "scheme = \"ppm\"\nlimiter = \"universal\"",
        Scheme::Ppm(PpmLimiter::MpPd) => "scheme = \"ppm\"\nlimiter = \"mp_pd\"",
        Scheme::LinRood(_) => "scheme = \"linrood\"\nlimiter = \"huynh_pd\"",
    }
}
