//! `atmostr kernels`.

use std::fmt::Write as _;

use ::kernels::device::{Dialect, GroupShapes, KernelName, KernelSet, Precision, program};
use ::kernels::scheme::Scheme;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::values::Float;
use super::{CliError, Context, Exit};
use crate::device::compiler_options;

/// List the kernels that run on devices, or print their text
///
/// A list names each kernel with the lanes of its groups on each kind of device. The text is that of one scheme in one precision, the
/// same that a run compiles: its first lines say with which options.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  atmostr kernels                                               kernels and the shapes of their groups
  atmostr kernels --emit opencl > kernels.cl                    ppm, cw84, Float32
  atmostr kernels --emit cuda --scheme slopes --limiter none --float Float64 --nc 180")]
pub(super) struct KernelsArgs {
    /// Print the text of all kernels for a kind of device
    #[arg(long, value_enum, value_name = "KIND")]
    emit: Option<Kind>,
    /// Precision of the text
    #[arg(long, value_enum, ignore_case = true, default_value = "Float32", value_name = "TYPE")]
    float: Float,
    /// Scheme of the text
    #[arg(long, default_value = "ppm", value_parser = PossibleValuesParser::new(FAMILIES), value_name = "SCHEME")]
    scheme: String,
    /// Limiter of the text (default: cw84 for ppm, monotone for slopes)
    #[arg(long, requires = "emit", value_name = "LIMITER")]
    limiter: Option<String>,
    /// Cells of the widest tile along i; groups hold whole rows
    #[arg(long, default_value_t = 90, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nc: u32,
}

/// Kinds of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// CUDA C++ for NVIDIA GPUs
    Cuda,
    /// OpenCL C 1.2
    #[value(name = "opencl")]
    OpenCl,
    /// Metal for Apple GPUs, Float32 only
    Metal,
}

impl Kind {
    fn dialect(self) -> Dialect {
        match self {
            Kind::Cuda => Dialect::Cuda,
            Kind::OpenCl => Dialect::OpenCl,
            Kind::Metal => Dialect::Metal,
        }
    }

    /// Name of the language and of its compiler.
    fn language(self) -> &'static str {
        match self {
            Kind::Cuda => "CUDA C++, compiled by NVRTC with",
            Kind::OpenCl => "OpenCL C 1.2, compiled by clBuildProgram with",
            Kind::Metal => "Metal, compiled by newLibraryWithSource with the MTLCompileOptions",
        }
    }
}

const FAMILIES: [&str; 3] = ["upwind", "slopes", "ppm"];

/// The scheme of a family and a limiter.
fn scheme(family: &str, limiter: Option<&str>) -> Result<Scheme, CliError> {
    let usual = match family {
        "slopes" => Some("monotone"),
        "ppm" => Some("cw84"),
        _ => None,
    };
    let name = limiter.or(usual).map_or(family.to_string(), |limiter| format!("{family} {limiter}"));
    Scheme::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or_else(|| {
        let prefix = format!("{family} ");
        let limiters: Vec<_> = Scheme::ALL.iter().filter_map(|scheme| scheme.name().strip_prefix(&prefix)).collect();
        let given = limiter.unwrap_or_default();
        CliError::input(match limiters.join(", ") {
            none if none.is_empty() => format!("scheme {family} has no limiter; leave out --limiter {given}"),
            limiters => format!("scheme {family} has no limiter {given}; there are {limiters}"),
        })
    })
}

impl KernelsArgs {
    pub(super) fn execute(self, ctx: &Context) -> Result<Exit, CliError> {
        let scheme = scheme(&self.scheme, self.limiter.as_deref())?;
        ctx.print(&match self.emit {
            Some(kind) => self.text(kind, scheme)?,
            None => list(self.nc as usize),
        })?;
        Ok(Exit::Finished)
    }

    fn text(&self, kind: Kind, scheme: Scheme) -> Result<String, CliError> {
        let precision = match self.float {
            Float::Float32 => Precision::Float32,
            Float::Float64 if kind == Kind::Metal => {
                return Err(CliError::input("Metal has no double precision; use --float Float32"));
            }
            Float::Float64 => Precision::Float64,
        };
        let shapes = GroupShapes::usual(kind.dialect(), self.nc as usize);
        let set = KernelSet::transport();
        let kernels: Vec<_> = set.kernels().map(|k| format!("{} {}", k.name(), group(&shapes, k))).collect();
        Ok(format!(
            "/* {} {}, {precision:?}, tiles of at most {} cells along i.\n * {}\n *     {}\n * Lanes of the groups: {}. */\n{}",
            env!("CARGO_PKG_NAME"),
            scheme.name(),
            self.nc,
            kind.language(),
            compiler_options(kind.dialect()),
            kernels.join(", "),
            program(precision, scheme, &shapes, &set)
        ))
    }
}

/// Lanes of a group along its axes, `96x2`.
fn group(shapes: &GroupShapes, kernel: KernelName) -> String {
    let lanes = shapes.group(kernel);
    let axes = lanes.iter().rposition(|lanes| *lanes > 1).map_or(1, |last| last + 1);
    lanes[..axes].iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

fn list(nc: usize) -> String {
    let shapes = [Dialect::Cuda, Dialect::OpenCl, Dialect::Metal].map(|dialect| GroupShapes::usual(dialect, nc));
    let mut text = format!("Lanes of a group, tiles of at most {nc} cells along i\n");
    let _ = writeln!(text, "{:<24}{:>8}{:>8}{:>8}", "kernel", "cuda", "opencl", "metal");
    for kernel in KernelName::ALL {
        let [cuda, opencl, metal] = shapes.each_ref().map(|shapes| group(shapes, *kernel));
        let _ = writeln!(text, "{:<24}{cuda:>8}{opencl:>8}{metal:>8}", kernel.name());
    }
    text
}
