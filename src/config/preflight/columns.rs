//! Vertical physics and sources against the transport files.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Check, Winds};
use crate::config::emissions::{self, EmissionSource};
use crate::config::input::Source;
use crate::config::read::View;
use crate::met::synth::SynthPhysics;
use crate::met::{Section, TransportFile};
use crate::operators::columns::{Centre, Convection, DiffusivityProfile, ExchangeSource, KzUpdate};
use crate::sources::{Injection, NativeFiles, RunSpan};

impl Check<'_> {
    /// Sections, levels and files of vertical physics and of sources. `files` are empty where the winds are made.
    pub(super) fn columns(&mut self, files: &[Arc<TransportFile>], winds: &Winds, hours: f64) {
        let physics = &self.config.physics;
        if let Some(diffusion) = &physics.diffusion {
            self.sections("diffusion", physics.diffusion_kind(), &diffusion.needs(), files);
        }
        if let Some(convection) = &physics.convection {
            self.sections("convection", physics.convection_kind(), &convection.needs(), files);
        }
        self.levels(winds.levels);
        self.forms();
        self.sources(files, winds, hours);
    }

    /// Reports the sections that a kind needs and the meteorology lacks.
    fn sections(
        &mut self,
        table: &'static str,
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
                (file, missing, format!("preprocess the meteorology with {switches}, or choose another kind"))
            }
            _ => return,
        };
        let names: Vec<_> = missing.iter().map(|(section, _)| format!("`{section}`")).collect();
        let message = format!("`{table}.kind = \"{kind}\"` needs {}, which {holder} lacks", names.join(", "));
        self.add(&[table], "kind", message, &help);
    }

    /// Counts of levels that are given.
    fn levels(&mut self, levels: usize) {
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
            for (emission, view) in tracer.emissions.iter().zip(&emissions::acting(&table)) {
                if let Injection::Levels(weights) = &emission.injection
                    && weights.len() != winds.levels
                {
                    let view = view.table("injection");
                    let (key, count) = (view.full("weights"), weights.len());
                    let message = format!("`{key}` has {count} values for {} levels", winds.levels);
                    self.problems.add(key, view.span(), message, "give one weight per level, from the top down");
                }
                if let EmissionSource::Native(native) = &emission.source {
                    self.native(native, view, files, winds.nc, hours);
                }
            }
        }
    }

    fn native(&mut self, native: &NativeFiles, view: &View<'_>, files: &[Arc<TransportFile>], nc: usize, hours: f64) {
        let given = view.given().find(|(key, _)| emissions::FILE_KEYS.contains(&key.name));
        let (key, span) =
            given.map_or((view.full("file"), view.span()), |(k, at)| (view.full(k.name), Some(at.span())));
        let Some(start) = self.start(files) else {
            let message = format!("`{key}`: the times of a source need the date at which the run starts");
            return self.problems.add(key, span, message, "give `input.start_date`");
        };
        let run = RunSpan { start, seconds: hours * 3600.0 };
        match native.check(nc, &run) {
            Ok(times) if times.covers(0.0, run.seconds) => {}
            Ok(times) => self.warnings.push(format!("{key}, {}", uncovered(native, times.times(), &run))),
            Err(error) => self.problems.add(&key, span, format!("`{key}`: {error}"), error.help()),
        }
    }

    /// Start of the run, if it is known.
    fn start(&self, files: &[Arc<TransportFile>]) -> Option<Timestamp> {
        match &self.config.input.source {
            Source::Synthetic(options) => options.start_time,
            Source::Files { start_date: Some(date), .. } => {
                TimeZone::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok()
            }
            Source::Files { .. } => files.first().and_then(|file| file.header().start_time_utc()),
        }
    }
}

/// What to say of a source whose slices, at these times (s since the start of the run), do not cover the run.
fn uncovered(native: &NativeFiles, times: &[f64], run: &RunSpan) -> String {
    let date = |seconds: f64| {
        let date = run.start.checked_add(SignedDuration::from_secs(seconds.round() as i64));
        date.map_or_else(|_| format!("{seconds} s after the start"), |date| date.to_string())
    };
    let files: Vec<_> = native.files.iter().map(|file| file.display().to_string()).collect();
    let named = match &files[..] {
        [first, .., last] => format!("{first} to {last}"),
        _ => files.concat(),
    };
    format!(
        "`{}` of {named}: its times, {} to {}, do not cover the run, {} to {}; outside of them the flux is constant",
        native.variable,
        date(times[0]),
        date(times[times.len() - 1]),
        date(0.0),
        date(run.seconds)
    )
}

/// Preprocessing switches of sections, each once.
fn switches(missing: &[(Section, &'static str)]) -> String {
    let names: BTreeSet<_> = missing.iter().map(|(_, switch)| format!("`{switch}`")).collect();
    names.into_iter().collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
