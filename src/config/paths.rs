//! Expansion of paths: `~`, `$NAME`, `${NAME}`, and relative paths from the configuration file's folder.

use std::path::{Path, PathBuf};

use super::error::Problems;
use super::read::At;

/// Folder from which relative paths are taken.
#[derive(Debug, Clone)]
pub(super) struct Base(PathBuf);

impl Base {
    /// The folder of a configuration file.
    pub(super) fn of(config: &Path) -> Self {
        Self(config.parent().map(Path::to_path_buf).unwrap_or_default())
    }

    /// The path meant by a value of the file; reports what cannot be expanded.
    pub(super) fn resolve(&self, text: &At<&str>, problems: &mut Problems) -> Option<PathBuf> {
        match expand(text.value, |name| std::env::var(name).ok()) {
            Ok(expanded) => Some(self.0.join(expanded)),
            Err(message) => {
                problems.add(&text.key, Some(text.span.clone()), format!("`{}`: {message}", text.key), "");
                None
            }
        }
    }

    /// Like [`Base::resolve`], for a file that must exist.
    pub(super) fn existing_file(&self, text: &At<&str>, problems: &mut Problems) -> Option<PathBuf> {
        let path = self.resolve(text, problems)?;
        if path.is_file() {
            return Some(path);
        }
        let what = if path.is_dir() { "is a folder, not a file" } else { "does not exist" };
        let message = format!("`{}`: {} {what}", text.key, path.display());
        problems.add(&text.key, Some(text.span.clone()), message, RELATIVE);
        None
    }

    /// Like [`Base::resolve`], for a folder that must exist.
    pub(super) fn existing_folder(&self, text: &At<&str>, problems: &mut Problems) -> Option<PathBuf> {
        let path = self.resolve(text, problems)?;
        if path.is_dir() {
            return Some(path);
        }
        let what = if path.is_file() { "is a file, not a folder" } else { "does not exist" };
        let message = format!("`{}`: {} {what}", text.key, path.display());
        problems.add(&text.key, Some(text.span.clone()), message, RELATIVE);
        None
    }
}

const RELATIVE: &str = "relative paths are taken from the folder of the configuration file";

/// Replaces a leading `~`, and `$NAME` or `${NAME}` anywhere.
fn expand(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    if text.contains('\0') {
        return Err("a path cannot contain the character NUL".into());
    }
    let value = |name: &str| variable(name).ok_or_else(|| format!("the environment variable `{name}` is not set"));
    let mut out = String::new();
    let mut rest = text;
    if rest == "~" || rest.starts_with("~/") {
        out.push_str(&value("HOME")?);
        rest = &rest[1..];
    }
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(inner) = rest.strip_prefix('{') {
            let end = inner.find('}').ok_or("`${` without `}`")?;
            let name = &inner[..end];
            if name.is_empty() || !name.bytes().all(is_name_byte) {
                return Err(format!("`${{{name}}}` is not the name of an environment variable"));
            }
            out.push_str(&value(name)?);
            rest = &inner[end + 1..];
        } else {
            let end = rest.bytes().take_while(|b| is_name_byte(*b)).count();
            if end == 0 {
                return Err("`$` must be followed by the name of an environment variable".into());
            }
            out.push_str(&value(&rest[..end])?);
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(name: &str) -> Option<String> {
        match name {
            "HOME" => Some("/home/ada".into()),
            "DATA" => Some("/data".into()),
            _ => None,
        }
    }

    #[test]
    fn home_and_variables_are_expanded() {
        for (text, expected) in [
            ("~/met", "/home/ada/met"),
            ("~", "/home/ada"),
            ("a~/b", "a~/b"),
            ("$DATA/x.bin", "/data/x.bin"),
            ("${DATA}x.bin", "/datax.bin"),
            ("a/$DATA/${HOME}", "a//data//home/ada"),
            ("plain_{date}.nc", "plain_{date}.nc"),
        ] {
            assert_eq!(expand(text, variables).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_expanded_is_an_error() {
        for (text, part) in [
            ("$NOPE/x", "`NOPE` is not set"),
            ("${DATA", "without `}`"),
            ("a$/b", "must be followed"),
            ("${}", "`${}`"),
            ("a\0b", "NUL"),
        ] {
            let message = expand(text, variables).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
