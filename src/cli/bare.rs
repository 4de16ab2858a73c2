//! The short form `atmostr run.toml`.

use std::ffi::OsString;
use std::path::Path;

/// Arguments with `run` put before a first argument that is a configuration file: `atmostr run.toml …` becomes
/// `atmostr run run.toml …`. Anything else is left alone.
pub fn with_run(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<_> = args.into_iter().collect();
    let mut at = 1;
    while let Some(arg) = args.get(at).and_then(|a| a.to_str()) {
        match arg {
            "--log" => at += 2,
            _ if arg.starts_with("--log=") => at += 1,
            _ => break,
        }
    }
    let is_config = |arg: &OsString| Path::new(arg).extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
    if args.get(at).is_some_and(is_config) {
        args.insert(at, "run".into());
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_file_alone_is_a_run() {
        for (given, expected) in [
            ("atmostr run.toml", "atmostr run run.toml"),
            ("atmostr a/b.TOML --x", "atmostr run a/b.TOML --x"),
            ("atmostr --log json run.toml", "atmostr --log json run run.toml"),
            ("atmostr --log=json run.toml", "atmostr --log=json run run.toml"),
            ("atmostr run run.toml", "atmostr run run.toml"),
            ("atmostr check run.toml", "atmostr check run.toml"),
            ("atmostr --help", "atmostr --help"),
            ("atmostr", "atmostr"),
        ] {
            let got = with_run(given.split(' ').map(OsString::from));
            assert_eq!(got, expected.split(' ').map(OsString::from).collect::<Vec<_>>());
        }
    }
}
