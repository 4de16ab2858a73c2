//! Vertical physics and sources against the transport files.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use super::{Check, Winds};
use crate::config::emissions::{self, EmissionSource};
use crate::config::input::Source;
use crate::config::read::View;
use crate::config::source_files;
use crate::initial::{FieldProblem, InitialState};
use crate::met::synth::SynthPhysics;
use crate::met::{Section, TransportFile};
use crate::operators::columns::{Centre, Convection, DiffusivityProfile, ExchangeSource, KzUpdate};
use crate::sources::{CoveredTimes, Injection, Inventory, NativeFiles, RunSpan, TimeUse};

impl Check<'_> {
    /// Sections, levels and files of vertical physics and of sources. `files` are empty where the winds are made.
    pub(super) fn columns(&mut self, files: &[Arc<TransportFile>], winds: &Winds, hours: f64) {
        let physics = &self.config.physics;
        if let Some(diffusion) = &physics.diffusion {
            self.sections((&["diffusion"], "kind"), physics.diffusion_kind(), &diffusion.needs(), files);
        }
        if let Some(convection) = &physics.convection {
            self.sections((&["convection"], "kind"), physics.convection_kind(), &convection.needs(), files);
        }
        for field in self.config.output.iter().flat_map(|output| &output.fields.meteorology) {
            self.sections((&["output", "fields"], "meteorology"), field.name(), field.needs(), files);
        }
        self.levels(winds.levels);
        self.forms();
        self.sources(files, winds, hours);
    }

    /// Reports the sections that a kind needs and the meteorology lacks.
    fn sections(
        &mut self,
        (path, key): (&[&'static str], &'static str),
        kind: &str,
        needs: &[(Section, &'static str)],
        files: &[Arc<TransportFile>],
    ) {
        let made = match &self.config.input.source {
            Source::Synthetic(options) => Some(options.physics),
            Source::Files { .. } => None,
        };
        let lacking = files.iter().find_map(|file| {
            let missing: Vec<_> = needs.iter().filter(|(section, _)| !file.header().has(*section)).copied().collect();
            (!missing.is_empty()).then(|| (file.path().display().to_string(), missing))
        });
        let (holder, missing, help) = match (made, lacking) {
            (Some(SynthPhysics::None), _) if !needs.is_empty() => (
                "[input.synthetic]".to_owned(),
                needs.to_vec(),
                "write `physics = \"all\"` in [input.synthetic] (with flow \"weather\")".to_owned(),
            ),
            (_, Some((file, missing))) => {
                let switches = switches(&missing);
                (file, missing, format!("preprocess the meteorology with {switches}, or choose another {key}"))
            }
            _ => return,
        };
        let names: Vec<_> = missing.iter().map(|(section, _)| format!("`{section}`")).collect();
        let table = path.join(".");
        let message = format!("`{table}.{key} = \"{kind}\"` needs {}, which {holder} lacks", names.join(", "));
        self.add(path, key, message, &help);
    }

    /// Counts of levels that are given.
    fn levels(&mut self, levels: usize) {
        let vertical = self.config.advection.vertical;
        if levels < vertical.least_layers() {
            let (name, least) = (vertical.name(), vertical.least_layers());
            let message = format!("`advection.vertical = \"{name}\"` needs {least} levels, but there are {levels}");
            self.add(&["advection"], "vertical", message, "use winds with more levels, or `vertical = \"same\"`");
        }
        let physics = &self.config.physics;
        let source = physics.diffusion.as_ref().map(|diffusion| &diffusion.source);
        if source == Some(&ExchangeSource::NonlocalVdiff) && levels < 2 {
            let kind = physics.diffusion_kind();
            let message = format!("`diffusion.kind = \"{kind}\"` needs at least 2 levels, but there is {levels}");
            self.add(&["diffusion"], "kind", message, "use winds with more levels, or choose another kind");
        }
        if let Some(ExchangeSource::Profile(DiffusivityProfile::Layers(kz))) = source
            && kz.len() != levels
        {
            let message = format!("`diffusion.kz` has {} values for {levels} levels", kz.len());
            self.add(&["diffusion"], "kz", message, "give one value per level from the top down, or heights `z`");
        }
        if let Some(Convection::Tm5(implicit) | Convection::CmfmcMatrix(implicit)) = &physics.convection {
            let (lowest, merge) = (implicit.options.lmax_conv, implicit.options.n_merge);
            if lowest > levels {
                let message = format!("`convection.lmax_conv` is {lowest}, but there are {levels} levels");
                self.add(&["convection"], "lmax_conv", message, "lower it; 0 is all levels");
            }
            let taking_part = if lowest == 0 { levels } else { lowest.min(levels) };
            if merge > taking_part {
                let message = format!("`convection.n_merge` is {merge}, but only {taking_part} levels take part");
                self.add(&["convection"], "n_merge", message, "lower it; 1 merges nothing");
            }
        }
    }

    /// Warns of choices that are allowed but rarely wanted.
    fn forms(&mut self) {
        let Some(diffusion) = &self.config.physics.diffusion else { return };
        if diffusion.update == KzUpdate::Matrix {
            let text = "diffusion.kz_update: \"matrix\" does not conserve tracer mass; it is meant for comparisons";
            self.warnings.push(text.into());
        }
        let emits = self.config.tracers.iter().any(|tracer| !tracer.emissions.is_empty());
        let half = diffusion.centre == Centre::DiffuseEmitDiffuse;
        if emits && half && diffusion.source == ExchangeSource::HoltslagBovilleLocal {
            self.warnings.push(
                "diffusion: by day \"geoschem_holtslag_boville_vdiff\" lofts less of surface emissions than the \
                 non-local scheme (10 to 30 % less above the boundary layer); consider \"geoschem_nonlocal_vdiff\", or \
                 `surface_flux_boundary = true`"
                    .into(),
            );
        }
    }

    /// Layers and files of the sources.
    fn sources(&mut self, files: &[Arc<TransportFile>], winds: &Winds, hours: f64) {
        // Both are sorted by name.
        for (tracer, (_, _, table)) in self.config.tracers.iter().zip(self.root.named("tracers")) {
            self.initial(&tracer.initial, &table, files, winds);
            for (emission, view) in tracer.emissions.iter().zip(&emissions::acting(&table)) {
                if let Injection::Levels(weights) = &emission.injection
                    && weights.len() != winds.levels
                {
                    let view = view.table("injection");
                    let (key, count) = (view.full("weights"), weights.len());
                    let message = format!("`{key}` has {count} values for {} levels", winds.levels);
                    self.problems.add(key, view.span(), message, "give one weight per level, from the top down");
                }
                match &emission.source {
                    EmissionSource::Uniform { .. } => {}
                    EmissionSource::Native(native) => self.native(native, view, files, winds.nc, hours),
                    EmissionSource::Inventory(inventory) => self.inventory(inventory, view, files, hours),
                }
            }
        }
    }

    /// Levels and file of an initial state; `table` is that of the tracer.
    fn initial(&mut self, initial: &InitialState, table: &View<'_>, files: &[Arc<TransportFile>], winds: &Winds) {
        let levels = winds.levels;
        let init = table.table("init");
        let view = if init.present() { init } else { table.through("tracers.<name>.init") };
        let place = |name: &str| {
            let given = view.given().find(|(key, _)| key.name == name);
            given.map_or((view.full(name), view.span()), |(key, at)| (view.full(key.name), Some(at.span())))
        };
        if let Some((file, _)) = initial.source() {
            let (key, span) = place("file");
            match initial.check(winds.nc, levels) {
                Err(FieldProblem { problem, help }) => {
                    self.problems.add(&key, span, format!("`{key}`: {}: {problem}", file.display()), help);
                }
                Ok(Some(record)) => {
                    let apart = |(a, b): &(Timestamp, Timestamp)| a.duration_since(*b).abs().as_secs() > 0;
                    if let Some((time, start)) = record.time.zip(self.start(files)).filter(apart) {
                        let file = file.display();
                        self.warnings
                            .push(format!("{key}: {file}: the record is of {time}, the run starts at {start}"));
                    }
                }
                Ok(None) => {}
            }
        }
        match initial {
            InitialState::BoundaryLayer { layers, .. } if *layers > levels => {
                let (key, span) = place("n_layers");
                let message = format!("`{key}` is {layers}, but there are {levels} levels");
                self.problems.add(key, span, message, "lower it");
            }
            _ => {}
        }
    }

    fn native(&mut self, native: &NativeFiles, view: &View<'_>, files: &[Arc<TransportFile>], nc: usize, hours: f64) {
        let Some(run) = self.span(view, files, hours) else { return };
        let (key, span) = file_key(view);
        match native.check(nc, &run) {
            Ok(times) => self.covered(&times, &native.variable, &mut native.files.iter(), &key, &run, ""),
            Err(error) => self.problems.add(&key, span, format!("`{key}`: {error}"), error.help()),
        }
    }

    fn inventory(&mut self, inventory: &Inventory, view: &View<'_>, files: &[Arc<TransportFile>], hours: f64) {
        let run = match inventory.time {
            // What acts always needs no dates of the run.
            TimeUse::Constant(_) => Some(RunSpan { start: Timestamp::UNIX_EPOCH, seconds: hours * 3600.0 }),
            TimeUse::Varying | TimeUse::Cyclic => self.span(view, files, hours),
        };
        let Some(run) = run else { return };
        let (key, span) = file_key(view);
        match inventory.check(&run) {
            Ok(times) => {
                let names = inventory.variables.join(" + ");
                let what = if names.is_empty() { inventory.kind.name() } else { &names };
                let constant = "; `time_varying = false` says that it is meant so";
                self.covered(&times, what, &mut inventory.files.iter().map(|file| &file.path), &key, &run, constant);
            }
            Err(error) => self.problems.add(&key, span, format!("`{key}`: {error}"), error.help()),
        }
    }

    /// Warns of a source whose slices do not stand for the whole run; `remedy` is added where one slice is all there is.
    fn covered(
        &mut self,
        times: &CoveredTimes,
        what: &str,
        files: &mut dyn Iterator<Item = &PathBuf>,
        key: &str,
        run: &RunSpan,
        remedy: &str,
    ) {
        let mut named = || {
            let files: Vec<_> = files.map(|file| file.display().to_string()).collect();
            match &files[..] {
                [first, .., last] => format!("{first} to {last}"),
                _ => files.concat(),
            }
        };
        let [start, end] = [0.0, run.seconds].map(|seconds| run.instant(seconds));
        let text = if let Some(stated) = times.lone() {
            format!(
                "{key}, `{what}` of {}: its only time is {}, and nothing tells how long it holds; the flux is constant in the \
                 run, {start} to {end}{remedy}",
                named(),
                run.instant(stated)
            )
        } else if !times.cover(0.0, run.seconds) {
            format!(
                "{key}, `{what}` of {}: its times, {} to {}, do not cover the run, {start} to {end}; outside of them the flux is \
                 constant",
                named(),
                run.instant(times.from()),
                run.instant(times.until())
            )
        } else if let Some((from, to)) = times.gap(0.0, run.seconds) {
            let day = |seconds: f64| {
                let at = Timestamp::from_second(run.start.as_second() + seconds as i64);
                at.map_or_else(|_| seconds.to_string(), |at| at.strftime("%Y-%m-%d").to_string())
            };
            format!("{key}: no record stands for {} to {}; the one before goes on", day(from), day(to))
        } else {
            return;
        };
        self.warnings.push(text);
    }

    /// When the run takes place; reports if that is not known.
    fn span(&mut self, view: &View<'_>, files: &[Arc<TransportFile>], hours: f64) -> Option<RunSpan> {
        let Some(start) = self.start(files) else {
            let (key, span) = file_key(view);
            let message = format!("`{key}`: the times of a source need the date at which the run starts");
            self.problems.add(key, span, message, "give `input.start_date`");
            return None;
        };
        Some(RunSpan { start, seconds: hours * 3600.0 })
    }

    /// Start of the run, if it is known.
    pub(super) fn start(&self, files: &[Arc<TransportFile>]) -> Option<Timestamp> {
        match &self.config.input.source {
            Source::Synthetic(options) => options.start_time,
            Source::Files { start_date: Some(date), .. } => {
                TimeZone::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok()
            }
            Source::Files { .. } => files.first().and_then(|file| file.header().start_time_utc()),
        }
    }
}

/// Key that names the files of a source, and its place.
pub(super) fn file_key(view: &View<'_>) -> (String, Option<Range<usize>>) {
    let given = view.given().find(|(key, _)| source_files::KEYS.contains(&key.name));
    given.map_or((view.full("file"), view.span()), |(k, at)| (view.full(k.name), Some(at.span())))
}

/// Preprocessing switches of sections, each once.
fn switches(missing: &[(Section, &'static str)]) -> String {
    let names: BTreeSet<_> = missing.iter().map(|(_, switch)| format!("`{switch}`")).collect();
    names.into_iter().collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
