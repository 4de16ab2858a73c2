//! Exit codes, error reports and panics: the one place that turns a failure into a message and a code.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use miette::{GraphicalReportHandler, GraphicalTheme};

use super::{Context, LogFormat, Sink};
use crate::config::ConfigErrors;
use crate::met::MetError;
use crate::met::synth::SynthError;
use crate::model::{Blame, RunError};
use crate::output::OutputError;
use crate::preprocess::PreprocessError;

/// How the program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All done.
    Finished,
    /// Any failure that is not the user's; also `diff` with differences.
    Failed,
    /// Bad command line, configuration or input.
    BadInput,
    /// Stopped by a signal, after everything was saved.
    Stopped,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Finished => 0,
            Exit::Failed => 1,
            Exit::BadInput => 2,
            Exit::Stopped => 3,
        }
    }
}

impl Exit {
    /// Ends the process without the work that libraries do at exit: HDF5 would try to finish a file that could not be
    /// written and crash.
    pub fn leave_at_once(self) -> ! {
        let _ = std::io::stdout().flush();
        // SAFETY: ends the process; nothing of it is used afterwards.
        unsafe { libc::_exit(self.code().into()) }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command did not finish.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A configuration with errors.
    #[error(transparent)]
    Config(Box<ConfigErrors>),
    /// A file or an argument that cannot be used.
    #[error("{0}")]
    Input(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
    /// Another rank failed and reports it.
    #[error("another rank failed")]
    Elsewhere(Blame),
}

impl CliError {
    /// A file or an argument that cannot be used.
    pub fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// A failure that is not the user's.
    pub fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// The exit code it leads to.
    pub fn exit(&self) -> Exit {
        match self {
            CliError::Config(_) | CliError::Input(_) => Exit::BadInput,
            CliError::Elsewhere(Blame::Input) => Exit::BadInput,
            CliError::Failed(_) | CliError::Elsewhere(Blame::Other) => Exit::Failed,
        }
    }

    /// Tells the user on standard error, in the form the context asks for, and gives the exit code.
    pub fn report(&self, ctx: &Context) -> Exit {
        if matches!(self, CliError::Elsewhere(_)) {
            return self.exit();
        }
        let text = self.render(ctx);
        // Nothing is left to do if standard error itself cannot be written.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        self.exit()
    }

    fn render(&self, ctx: &Context) -> String {
        match (self, ctx.log) {
            (CliError::Config(errors), LogFormat::Json) => json_problems(errors),
            (_, LogFormat::Json) => format!("{}\n", serde_json::json!({"event": "error", "message": self.to_string()})),
            (CliError::Config(errors), LogFormat::Text) => match ctx.stderr {
                Sink::Plain => errors.plain(),
                Sink::Terminal => graphical(errors, GraphicalTheme::unicode_nocolor()),
                Sink::Fancy => graphical(errors, GraphicalTheme::unicode()),
            },
            (_, LogFormat::Text) => format!("error: {self}\n"),
        }
    }
}

/// One JSON line per problem.
fn json_problems(errors: &ConfigErrors) -> String {
    let line = |p: &crate::config::Problem| {
        let position = errors.position(p);
        let value = serde_json::json!({
            "event": "config_error",
            "file": errors.path(),
            "line": position.map(|p| p.0),
            "column": position.map(|p| p.1),
            "key": p.key,
            "message": p.message,
            "help": p.help,
        });
        format!("{value}\n")
    };
    errors.problems().map(line).collect()
}

fn graphical(errors: &ConfigErrors, theme: GraphicalTheme) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_context_lines(1);
    match handler.render_report(&mut text, errors) {
        Ok(()) => text,
        Err(_) => errors.plain(),
    }
}

impl From<ConfigErrors> for CliError {
    fn from(errors: ConfigErrors) -> Self {
        Self::Config(Box::new(errors))
    }
}

impl From<MetError> for CliError {
    fn from(error: MetError) -> Self {
        Self::input(error)
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Config(errors) => Self::Config(errors),
            RunError::Elsewhere { blame, .. } => Self::Elsewhere(blame),
            other if other.blame() == Blame::Input => Self::input(other),
            other => Self::failed(other),
        }
    }
}

impl From<SynthError> for CliError {
    fn from(error: SynthError) -> Self {
        match error {
            SynthError::File(inner) if matches!(*inner, MetError::Io { .. }) => Self::failed(inner),
            other => Self::input(other),
        }
    }
}

impl From<PreprocessError> for CliError {
    fn from(error: PreprocessError) -> Self {
        if error.is_input() { Self::input(error) } else { Self::failed(error) }
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Selection(_) | OutputError::Content { .. } => Self::input(error),
            other => Self::failed(other),
        }
    }
}

/// Called once after the message of a panic, before the process ends; must not return if other ranks are to end too.
static ON_PANIC: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Lets a panic on any thread also end the other ranks: `abort` is called after the message is printed. The first call
/// counts.
pub fn on_panic(abort: impl Fn() + Send + Sync + 'static) {
    let _ = ON_PANIC.set(Box::new(abort));
}

/// Makes a panic on any thread print one clear message (with a backtrace if `RUST_BACKTRACE` is set) and end the
/// process with code 1.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        let what = text.unwrap_or("unknown cause");
        let place = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
        let mut text =
            format!("error: internal error: {what}{place}\n  this is a fault of the program, please report it\n");
        let trace = std::backtrace::Backtrace::capture();
        if trace.status() == std::backtrace::BacktraceStatus::Captured {
            text += &trace.to_string();
        }
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        if let Some(abort) = ON_PANIC.get() {
            abort();
        }
        std::process::exit(Exit::Failed.code().into());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RunConfig;
    use std::path::Path;

    fn context(log: LogFormat, stderr: Sink) -> Context {
        Context { log, stderr }
    }

    fn config_error() -> CliError {
        let text = "[input.synthetic]\n[tracers.co2]\n[advection]\nscheme = \"upwnd\"\nlimit = 1\n";
        RunConfig::parse(text, Path::new("run.toml")).unwrap_err().into()
    }

    #[test]
    fn codes_are_the_documented_ones() {
        let codes = [Exit::Finished, Exit::Failed, Exit::BadInput, Exit::Stopped].map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3]);
        assert_eq!(config_error().exit(), Exit::BadInput);
        assert_eq!(CliError::input("x").exit(), Exit::BadInput);
        assert_eq!(CliError::failed("x").exit(), Exit::Failed);
    }

    #[test]
    fn configuration_errors_are_shown_in_every_form() {
        let error = config_error();
        let plain = error.render(&context(LogFormat::Text, Sink::Plain));
        assert!(plain.contains("run.toml:4:10: error: `advection.scheme` has no value \"upwnd\""), "{plain}");
        for sink in [Sink::Terminal, Sink::Fancy] {
            let drawn = error.render(&context(LogFormat::Text, sink));
            assert_eq!(drawn.contains('\u{1b}'), sink == Sink::Fancy, "{drawn:?}");
            for part in ["2 errors", "upwnd", "did you mean \"upwind\"", "unknown key `limit`", "run.toml:4:10"] {
                assert!(drawn.contains(part), "{part} not in\n{drawn}");
            }
        }
        let json = error.render(&context(LogFormat::Json, Sink::Plain));
        let lines: Vec<serde_json::Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0]["line"].as_u64(), lines[0]["key"].as_str()), (Some(4), Some("advection.scheme")));
        assert_eq!(lines[1]["help"].as_str().map(|h| h.contains("limiter")), Some(true), "{json}");
    }
}
