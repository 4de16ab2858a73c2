//! `atmostr synth`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::Timestamp;

use super::values::{self, Convention, Float};
use super::{CliError, Context, Exit};
use crate::met::synth::{self, SynthFlow, SynthOptions, SynthPhysics};

/// Write a transport file of analytic winds
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr synth winds.bin --nc 24
  atmostr synth day.bin --flow hadley --nc 48 --levels 30 --windows 24 --start-time 2021-12-01
  atmostr synth day2.bin --nc 24 --skip-windows 24 --start-time 2021-12-02
  atmostr synth all.bin --nc 24 --physics all --float Float64")]
pub(super) struct SynthArgs {
    /// File to write; an existing one is replaced once the new one is complete
    out: PathBuf,
    /// Analytic flow
    #[arg(long, default_value = "weather", value_parser = PossibleValuesParser::new(SynthFlow::NAMES), value_name = "FLOW")]
    flow: String,
    /// Angle between the axis of rotation and the pole in degrees (flow solid-body)
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true, value_name = "DEGREES")]
    angle: f64,
    /// Cells per panel edge
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5760))]
    nc: u32,
    /// Number of layers
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    levels: u32,
    /// Number of windows
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    windows: u32,
    /// Length of a window in seconds
    #[arg(long, default_value = "3600", value_name = "S", value_parser = values::seconds)]
    window_seconds: f64,
    /// Precision of the file
    #[arg(long, value_enum, ignore_case = true, default_value = "Float32", value_name = "TYPE")]
    float: Float,
    /// Panel numbering, orientation and geometry
    #[arg(long, value_enum, default_value = "geos_native", value_name = "NAME")]
    convention: Convention,
    /// Optional sections: none, or made-up fields for every vertical process (flow weather)
    #[arg(long, default_value = "none", value_parser = ["none", "all"], value_name = "SET")]
    physics: String,
    /// Windows of the flow that pass before the first one written, so that files of successive days join
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = clap::value_parser!(u32).range(0..))]
    skip_windows: u32,
    /// Start of the first window, UTC (2021-12-01 or 2021-12-01T00:00:00Z)
    #[arg(long, value_name = "UTC", value_parser = values::utc)]
    start_time: Option<Timestamp>,
}

impl SynthArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let mut flow = SynthFlow::from_name(&self.flow)?;
        match &mut flow {
            SynthFlow::SolidBody { angle_deg } => *angle_deg = self.angle,
            _ if self.angle != 0.0 => return Err(CliError::input("--angle is only for --flow solid-body")),
            _ => {}
        }
        let options = SynthOptions {
            flow,
            nc: self.nc as usize,
            levels: self.levels as usize,
            windows: self.windows as usize,
            window_seconds: self.window_seconds,
            float: self.float.into(),
            bundle: self.convention.into(),
            physics: if self.physics == "all" { SynthPhysics::All } else { SynthPhysics::None },
            skip_windows: self.skip_windows as usize,
            start_time: self.start_time,
        };
        let report = synth::write(&self.out, &options, |done| {
            tracing::info!(window = done.written, windows = done.windows, substeps = done.steps, "window written");
        })?;
        let (least, most) = report.steps.iter().fold((u32::MAX, 0), |(a, b), s| (a.min(*s), b.max(*s)));
        let substeps = if least == most { format!("{most}") } else { format!("{least} to {most}") };
        let header = &report.header;
        let mut text = format!(
            "{}: C{}, {} levels, {} windows of {} s, {substeps} substeps, {} bytes\n",
            self.out.display(),
            header.nc(),
            header.nlevel(),
            header.nwindow(),
            header.dt_met_seconds(),
            header.file_bytes()
        );
        if let Some(replay) = &report.replay {
            text += &format!("replay: end masses are met to {:.1e} of the panel's largest\n", replay.relative);
        }
        ctx.print(&text)?;
        Ok(Exit::Finished)
    }
}
