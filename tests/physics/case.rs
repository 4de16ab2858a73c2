//! Configurations with vertical physics, run on ranks that are threads.

use std::path::Path;
use std::process::Command;

use atmostr::comm::{Solo, threads};
use atmostr::config::RunConfig;
use atmostr::met::FloatType;
use atmostr::met::synth::{self, SynthFlow, SynthOptions, SynthPhysics};
use atmostr::model::report::{PlanReport, Progress, RunReport, WindowReport};
use atmostr::model::{self, RunControl, RunError};

/// Writes a day of weather with fields for every vertical process.
pub fn make_winds(dir: &Path, name: &str, nc: usize, levels: usize, windows: usize, hours: f64, float: FloatType) {
    let mut options = SynthOptions::new(SynthFlow::Weather, nc, levels);
    (options.windows, options.window_seconds, options.float) = (windows, 3600.0 * hours, float);
    options.physics = SynthPhysics::All;
    options.start_time = Some("2021-12-01T00:00:00Z".parse().unwrap());
    synth::write(dir.join(name), &options, |_| {}).unwrap();
}

/// A choice of operators, as configuration text.
#[derive(Clone, Copy, Debug)]
pub struct Operators {
    pub name: &'static str,
    pub diffusion: &'static str,
    pub convection: &'static str,
    pub chemistry: &'static str,
    pub run: &'static str,
    /// Whether the sources of the tracers act.
    pub sources: bool,
}

/// TM5's set: stored exchange, half before and half behind the emissions, implicit convection, decay in halves.
pub const TM5: Operators = Operators {
    name: "tm5",
    diffusion: "kind = \"tm5_dkg\"",
    convection: "kind = \"tm5\"",
    chemistry: "kind = \"decay\"\nhalf_lives_seconds = { rn222 = 330350.4 }\ndecay_cadence = \"symmetric\"",
    run: "air_mass_reset_mode = \"preserve_tracer_mass\"",
    sources: true,
};

/// GEOS-Chem's set: non-local mixing that lofts emissions, a plume from the archived cloud base, every substep.
pub const GEOS: Operators = Operators {
    name: "geos",
    diffusion: "kind = \"geoschem_nonlocal_vdiff\"",
    convection: "kind = \"cmfmc\"\ncloud_base = \"dqrcu\"",
    chemistry: "kind = \"decay\"\nhalf_lives_seconds = { rn222 = 330350.4 }",
    run: "physics_cadence = \"substep\"\nair_mass_reset_mode = \"preserve_tracer_mass\"",
    sources: true,
};

/// Local diffusivity in flux form, clouds as a matrix, what the seeds did: plain solves.
pub const PLAIN: Operators = Operators {
    name: "plain",
    diffusion: "kind = \"geoschem_holtslag_boville_vdiff\"\nkz_update = \"flux\"\nsurface_flux_boundary = true",
    convection: "kind = \"cmfmc_matrix\"\nsolve = \"plain\"",
    chemistry: "kind = \"none\"",
    run: "",
    sources: true,
};

/// Surface closure, the explicit plume in its mixing-ratio form.
pub const LOCAL: Operators = Operators {
    name: "local",
    diffusion: "kind = \"tm5_beljaars_viterbo_local_kz\"",
    convection: "kind = \"cmfmc\"\nupdate = \"rm\"\ncloud_base_exchange = \"geoschem\"",
    chemistry: "kind = \"none\"",
    run: "",
    sources: true,
};

const SOURCES: [(&str, &str); 3] = [
    ("co2", "kind = \"uniform\"\nrate = -2e-9"),
    ("fossil_co2", "kind = \"uniform\"\nrate = 3e-9"),
    ("rn222", "kind = \"uniform\"\nrate = 1e-16"),
];

/// Where and how a configuration runs.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub ranks: usize,
    pub threads: usize,
    pub tiles: Option<[usize; 2]>,
    pub backend: &'static str,
}

impl Default for How {
    fn default() -> Self {
        Self { ranks: 1, threads: 1, tiles: None, backend: "cpu" }
    }
}

impl Operators {
    /// Text of a configuration on the winds `winds.bin`, writing `<output>.nc` with a snapshot every `every` hours.
    pub fn text(&self, float: FloatType, how: How, output: &str, every: f64) -> String {
        let float = match float {
            FloatType::Float32 => "Float32",
            FloatType::Float64 => "Float64",
        };
        let How { threads, tiles, backend, .. } = how;
        let tiles = tiles.map_or(String::new(), |t| format!("tiles = {t:?}"));
        let Self { diffusion, convection, chemistry, run, .. } = self;
        let mut text = format!(
            "[input]\nbinary_paths = [\"winds.bin\"]\n[numerics]\nfloat_type = \"{float}\"\n\
             [architecture]\nthreads = {threads}\nbackend = \"{backend}\"\n[run]\n{run}\n[decomposition]\n{tiles}\n\
             [advection]\nscheme = \"ppm\"\n[diffusion]\n{diffusion}\n[convection]\n{convection}\n\
             [chemistry]\n{chemistry}\n[output]\npath = \"{output}.nc\"\ncadence_hours = {every}\n\
             [output.fields]\ncolumn_fluxes = true\ninterval_mean = true\nmeteorology = \"all\"\n\
             [tracers.background]\nbackground = 4e-4\n\
             [tracers.co2]\ninit = {{ kind = \"latitude_step\", south_value = 4.0e-4, north_value = 4.4e-4 }}\n\
             [tracers.fossil_co2]\n[tracers.rn222]\n\
             [tracers.sf6]\ninit = {{ kind = \"gaussian_blob\", background = 1e-11, amplitude = 1e-12, lat0_deg = 40 }}\n"
        );
        if self.sources {
            for (tracer, source) in SOURCES {
                text += &format!("[[tracers.{tracer}.surface_flux]]\n{source}\n");
            }
            // A second source of the same tracer, of aircraft or stacks.
            let injection = "injection = { kind = \"heights\", z_bottom = 100.0, z_top = 1500.0 }";
            text += &format!("[[tracers.fossil_co2.surface_flux]]\nkind = \"uniform\"\nrate = 1e-10\n{injection}\n");
        }
        text
    }

    /// Runs it in `dir`.
    pub fn run(&self, dir: &Path, float: FloatType, how: How, output: &str, every: f64) -> (RunReport, Vec<String>) {
        let text = self.text(float, how, output, every);
        run_text(&text, dir, how.ranks).unwrap_or_else(|e| panic!("{} {float:?} {how:?}: {e}", self.name))
    }
}

/// Warnings of a run.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Progress for Warnings {
    fn start(&mut self, _: &PlanReport) {}
    fn window(&mut self, _: &WindowReport<'_>) {}
    fn warn(&mut self, message: &str) {
        self.0.push(message.to_owned());
    }
    fn finish(&mut self, _: &RunReport) {}
}

/// Runs a configuration on ranks that are threads; the report and the warnings of the first.
pub fn run_text(text: &str, dir: &Path, ranks: usize) -> Result<(RunReport, Vec<String>), RunError> {
    run_text_under(&RunControl::default(), text, dir, ranks)
}

/// The same from where `control` says.
pub fn run_text_under(
    control: &RunControl,
    text: &str,
    dir: &Path,
    ranks: usize,
) -> Result<(RunReport, Vec<String>), RunError> {
    let config = RunConfig::parse(text, &dir.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    let body = |comm: &dyn atmostr::comm::Communicator| {
        let mut warnings = Warnings::default();
        model::run_under(control, &config, comm, &mut warnings).map(|report| (report, warnings.0))
    };
    if ranks == 1 {
        return std::thread::scope(|scope| scope.spawn(|| body(&Solo)).join().unwrap());
    }
    threads::run(ranks, |comm| body(&comm)).swap_remove(0)
}

/// Panics unless both outputs hold the same bits, and the same budgets.
pub fn assert_same(dir: &Path, a: &str, b: &str, what: &str) {
    let files = [a, b].map(|name| dir.join(format!("{name}.nc")));
    // By the program: the library prints about attributes that are not there on all but the first thread of a process.
    let found = Command::new(env!("CARGO_BIN_EXE_atmostr")).arg("diff").args(files).output().unwrap();
    assert!(found.status.success(), "{what}: {}", String::from_utf8_lossy(&found.stdout));
    let [first, second] = [a, b].map(|name| std::fs::read_to_string(dir.join(format!("{name}.budget.csv"))).unwrap());
    for (line, (x, y)) in first.lines().zip(second.lines()).enumerate() {
        assert_eq!(x, y, "{what}: line {} of the budgets", line + 1);
    }
    assert_eq!(first.lines().count(), second.lines().count());
}
