//! Everything wrong with a run configuration, reported at once.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};

/// One thing wrong in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dotted key, e.g. `advection.limiter`; empty for an error of the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it, if there is something to say.
    pub help: Option<String>,
    /// Bytes of the file concerned; `None` if something is absent from the whole file.
    pub span: Option<Range<usize>>,
}

/// All problems of one configuration file, in the order of its lines.
///
/// `Display` gives a one-line summary, [`ConfigErrors::plain`] the full report, and the `miette` diagnostic
/// a report with source excerpts for terminals.
#[derive(Debug, Clone)]
pub struct ConfigErrors {
    path: PathBuf,
    source: NamedSource<String>,
    problems: Vec<Located>,
}

/// A problem with the source it points into, as `miette` wants it.
#[derive(Debug, Clone)]
struct Located(Problem);

impl ConfigErrors {
    /// Problems of the file `path` with the given text, sorted by position.
    pub(super) fn new(path: &Path, text: &str, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|p| p.span.as_ref().map_or((1, 0), |s| (0, s.start)));
        Self {
            path: path.to_path_buf(),
            source: NamedSource::new(path.to_string_lossy(), text.to_owned()),
            problems: problems.into_iter().map(Located).collect(),
        }
    }

    /// The file could not be read at all.
    pub(super) fn unreadable(path: &Path, message: String) -> Self {
        let help = Some("give the path of a run configuration, e.g. `atmostr run.toml`".to_owned());
        Self::new(path, "", vec![Problem { key: String::new(), message, help, span: None }])
    }

    /// The file concerned.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The problems, in the order of the file's lines; those without a line come last.
    pub fn problems(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.problems.iter().map(|p| &p.0)
    }

    /// One-based line and column (in characters) at which a problem starts.
    pub fn position(&self, problem: &Problem) -> Option<(usize, usize)> {
        problem.span.as_ref().map(|s| line_column(self.source.inner(), s.start))
    }

    /// Full report without colours or drawings: `file:line:column: error: …`, the line itself and the remedy.
    pub fn plain(&self) -> String {
        let mut out = String::new();
        for Located(p) in &self.problems {
            let path = self.path.display();
            let written = match self.position(p) {
                Some((line, column)) => {
                    let excerpt = self.source.inner().lines().nth(line - 1).unwrap_or_default().trim_end();
                    writeln!(out, "{path}:{line}:{column}: error: {}\n  {line:>4} | {excerpt}", p.message)
                }
                None => writeln!(out, "{path}: error: {}", p.message),
            };
            let helped = p.help.as_ref().map_or(Ok(()), |h| writeln!(out, "  help: {h}"));
            written.and(helped).expect("writing to a string cannot fail");
        }
        let _ = writeln!(out, "{self}");
        out
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.problems.len();
        write!(f, "{}: {n} error{} in the configuration", self.path.display(), if n == 1 { "" } else { "s" })
    }
}

impl std::error::Error for ConfigErrors {}

impl Diagnostic for ConfigErrors {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(self.problems.iter().map(|p| p as &dyn Diagnostic)))
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Located {}

impl Diagnostic for Located {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.0.span.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_primary_with_span(None, span))))
    }
}

/// One-based line and character column of a byte offset.
fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    (line, before[start..].chars().count() + 1)
}

/// Problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds a problem; an empty `help` means there is no remedy to offer.
    pub(super) fn add(
        &mut self,
        key: impl Into<String>,
        span: Option<Range<usize>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into()).filter(|h| !h.is_empty());
        self.0.push(Problem { key: key.into(), message: message.into(), help, span });
    }

    /// The list.
    pub(super) fn into_vec(self) -> Vec<Problem> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        assert_eq!(line_column("a\nbé = 1\n", 0), (1, 1));
        assert_eq!(line_column("a\nbé = 1\n", 2), (2, 1));
        assert_eq!(line_column("a\nbé = 1\n", 6), (2, 4));
        assert_eq!(line_column("a", 99), (1, 2));
    }

    #[test]
    fn the_plain_report_is_sorted_and_complete() {
        let mut problems = Problems::default();
        problems.add("x.y", None, "`x.y` is missing", "");
        problems.add("b", Some(6..7), "second", "do this");
        problems.add("a", Some(0..1), "first", "");
        let errors = ConfigErrors::new(Path::new("run.toml"), "a = 1\nb = 2\n", problems.into_vec());
        let expected = "run.toml:1:1: error: first\n     1 | a = 1\n\
                        run.toml:2:1: error: second\n     2 | b = 2\n  help: do this\n\
                        run.toml: error: `x.y` is missing\n\
                        run.toml: 3 errors in the configuration\n";
        assert_eq!(errors.plain(), expected);
    }
}
