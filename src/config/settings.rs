//! `[architecture]`, `[numerics]`, `[run]` and `[decomposition]`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use kernels::Scheme;

use super::advection::Advection;
use super::error::Problems;
use super::input::{Input, Source};
use super::paths::Base;
use super::read::{At, Named, View};
use crate::device::Accelerator;
use crate::met::FloatType;
use crate::operators::device::HaloChoice;

impl Named for FloatType {
    const ALL: &'static [(&'static str, Self)] = &[("Float32", Self::Float32), ("Float64", Self::Float64)];
}

/// What happens to the carried air mass at the end of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AirMassReset {
    /// Nothing.
    None,
    /// It is set to the stored one; mixing ratios are kept.
    PreserveVmr,
    /// It is set to the stored one; tracer mass is kept.
    PreserveTracerMass,
}

impl Named for AirMassReset {
    const ALL: &'static [(&'static str, Self)] = &[
        ("none", Self::None),
        ("preserve_vmr", Self::PreserveVmr),
        ("preserve_tracer_mass", Self::PreserveTracerMass),
    ];
}

/// When convection and decay act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhysicsCadence {
    /// At the end of a window.
    Window,
    /// After every substep.
    Substep,
}

impl Named for PhysicsCadence {
    const ALL: &'static [(&'static str, Self)] = &[("window", Self::Window), ("substep", Self::Substep)];
}

/// `[architecture]`, `[numerics]`, `[run]` and `[decomposition]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Device that holds the state; `None`: the processor.
    pub accelerator: Option<Accelerator>,
    /// How halos of a state on a device travel between ranks.
    pub device_halo: HaloChoice,
    /// CPU threads of each rank; `None`: an equal share of the cores.
    pub threads: Option<NonZeroUsize>,
    /// Precision of the state and of the sweeps.
    pub float_type: FloatType,
    /// Number of windows of each file that are run; `None`: all.
    pub stop_window: Option<NonZeroUsize>,
    /// What happens to the carried air mass at the end of a window.
    pub air_mass_reset: AirMassReset,
    /// When convection and decay act.
    pub physics_cadence: PhysicsCadence,
    /// Halo width in cells, at least what the scheme needs.
    pub halo: usize,
    /// Tiles per panel along i and j; `None`: chosen for the number of ranks.
    pub tiles: Option<[NonZeroUsize; 2]>,
    /// Folder in which weights of regridding are kept.
    pub regridder_cache_dir: Option<PathBuf>,
}

/// Reads the four tables. After an error the values returned mean nothing.
pub(super) fn read(
    root: &View<'_>,
    base: &Base,
    advection: &Advection,
    input: &Input,
    problems: &mut Problems,
) -> Settings {
    let architecture = root.table("architecture");
    let accelerator = accelerator(&architecture, problems);
    let run = root.table("run");
    if let Some(start) = run.int("start_window").filter(|s| s.value > 1) {
        let message = format!("`{}` must be 1: a run starts with the first window of its first file", start.key);
        problems.add(start.key, Some(start.span), message, "choose the first file by `input.start_date` instead");
    }
    let float_type = root.table("numerics").choice_or_default("float_type");
    if let (Some(Accelerator::Metal), FloatType::Float64) = (accelerator, float_type) {
        let span = architecture.choice::<Option<Accelerator>>("backend").map(|backend| backend.span);
        let message = "`architecture.backend` \"metal\" has no double precision";
        problems.add(
            "architecture.backend",
            span,
            message,
            "set `numerics.float_type = \"Float32\"`, or choose another backend",
        );
    }
    if let (Some(_), Some(Scheme::LinRood(_))) = (accelerator, advection.scheme) {
        let span = architecture.choice::<Option<Accelerator>>("backend").map(|backend| backend.span);
        let message = "`advection.scheme = \"linrood\"` runs on the processor only";
        let help = "set `architecture.backend = \"cpu\"`, or `advection.scheme = \"ppm\"` with limiter \"huynh_pd\"";
        problems.add("architecture.backend", span, message, help);
    }
    Settings {
        accelerator,
        device_halo: device_halo(&architecture, accelerator, problems),
        threads: architecture.int("threads").and_then(positive),
        float_type,
        stop_window: stop_window(&run, input, problems),
        air_mass_reset: run.choice_or_default("air_mass_reset_mode"),
        physics_cadence: run.choice_or_default("physics_cadence"),
        halo: halo(&run, advection, input, problems),
        tiles: tiles(&root.table("decomposition"), input, problems),
        regridder_cache_dir: run.text("regridder_cache_dir").and_then(|folder| base.resolve(&folder, problems)),
    }
}

/// `halo`, which only a device needs.
fn device_halo(architecture: &View<'_>, accelerator: Option<Accelerator>, problems: &mut Problems) -> HaloChoice {
    let halo = architecture.choice::<HaloChoice>("halo").filter(|halo| halo.value != HaloChoice::Auto);
    if let (Some(halo), None) = (halo, accelerator) {
        let message = format!("`{}` has no effect: the state is not on a device", halo.key);
        problems.add(&halo.key, Some(halo.span), message, "remove it, or choose a device with `backend`");
    }
    architecture.choice_or_default("halo")
}

/// `backend`, or `use_gpu` in its place.
fn accelerator(architecture: &View<'_>, problems: &mut Problems) -> Option<Accelerator> {
    let backend = architecture.choice::<Option<Accelerator>>("backend");
    let use_gpu = architecture.bool("use_gpu");
    if let (Some(backend), Some(gpu)) = (&backend, &use_gpu)
        && backend.value.is_some() != gpu.value
    {
        let message = format!("`{}` and `{}` contradict each other", backend.key, gpu.key);
        problems.add(&gpu.key, Some(gpu.span.clone()), message, "keep `backend` only");
    }
    let of_flag = use_gpu.and_then(|gpu| gpu.value.then_some(Accelerator::Auto));
    backend.map_or(of_flag, |backend| backend.value)
}

impl Named for Option<Accelerator> {
    const ALL: &'static [(&'static str, Self)] = &[
        ("cpu", None),
        ("auto", Some(Accelerator::Auto)),
        ("cuda", Some(Accelerator::Cuda)),
        ("opencl", Some(Accelerator::OpenCl)),
        ("metal", Some(Accelerator::Metal)),
    ];
}

impl Named for HaloChoice {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("device", Self::Device), ("staged", Self::Staged)];
}

fn positive(n: At<i64>) -> Option<NonZeroUsize> {
    usize::try_from(n.value).ok().and_then(NonZeroUsize::new)
}

fn stop_window(run: &View<'_>, input: &Input, problems: &mut Problems) -> Option<NonZeroUsize> {
    let stop = run.int("stop_window")?;
    if let Source::Synthetic(winds) = &input.source
        && stop.value > winds.windows as i64
    {
        let message = format!("`{}` is {}, but [input.synthetic] has {} windows", stop.key, stop.value, winds.windows);
        problems.add(&stop.key, Some(stop.span.clone()), message, "lower it or raise `windows`");
    }
    positive(stop)
}

fn halo(run: &View<'_>, advection: &Advection, input: &Input, problems: &mut Problems) -> usize {
    let (hp, padding) = (run.int("Hp"), run.int("halo_padding"));
    if let (Some(a), Some(b)) = (&hp, &padding)
        && a.value != b.value
    {
        let message = format!("`{}` ({}) and `{}` ({}) differ", a.key, a.value, b.key, b.value);
        problems.add(&b.key, Some(b.span.clone()), message, "keep one of them");
    }
    let Some(given) = hp.or(padding) else { return advection.halo() };
    let width = usize::try_from(given.value).unwrap_or(0);
    if width < advection.halo() {
        let message = format!(
            "`{}` is {width}, but scheme \"{}\" needs a halo of at least {}",
            given.key,
            advection.scheme_name(),
            advection.halo()
        );
        problems.add(&given.key, Some(given.span.clone()), message, "raise it or remove the key");
    }
    if let Source::Synthetic(winds) = &input.source
        && width > winds.nc
    {
        let message = format!("`{}` is {width}, wider than a panel ({} cells)", given.key, winds.nc);
        problems.add(&given.key, Some(given.span), message, "lower it or remove the key");
    }
    width
}

fn tiles(decomposition: &View<'_>, input: &Input, problems: &mut Problems) -> Option<[NonZeroUsize; 2]> {
    let given = decomposition.ints("tiles")?;
    let [px, py] = given.value[..] else { return None };
    if let Source::Synthetic(winds) = &input.source
        && px.max(py) > winds.nc as i64
    {
        let message = format!("`{}` cuts a panel of {} cells into {px} × {py} tiles", given.key, winds.nc);
        problems.add(&given.key, Some(given.span), message, "use fewer tiles than cells per panel edge");
        return None;
    }
    let count = |n: i64| usize::try_from(n).ok().and_then(NonZeroUsize::new);
    Some([count(px)?, count(py)?])
}
