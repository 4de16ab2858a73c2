//! Where a file comes from, best effort.

use std::path::Path;

use crate::comm::Communicator;

/// Facts about program and machine that go into global attributes. They never influence the data; whatever cannot be
/// found out is `unknown`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// Attribute `institution`.
    pub institution: String,
    /// Program and version.
    pub framework: String,
    /// Source revision the program was built from.
    pub commit: String,
    /// Whether the sources differed from that revision: `clean`, `dirty` or `unknown`.
    pub dirty: String,
    /// Features the program was built with; `none` without any.
    pub features: String,
    /// Machine architecture and operating system.
    pub runtime: String,
    /// Name of the machine.
    pub hostname: String,
    /// Who ran the program.
    pub user: String,
    /// Time of creation, UTC, ISO 8601 with `Z`.
    pub created: String,
}

impl Provenance {
    /// Asks the system. Revision and state of the sources are those recorded by the build in `ATMOSTR_COMMIT` and
    /// `ATMOSTR_DIRTY`, if any.
    pub fn detect() -> Self {
        let variable = |name| std::env::var(name).ok().and_then(known);
        let hostname = ["/proc/sys/kernel/hostname", "/etc/hostname"]
            .iter()
            .find_map(|path| std::fs::read_to_string(path).ok().and_then(known));
        Self {
            institution: or_unknown(variable("ATMOSTR_INSTITUTION")),
            framework: concat!("atmostr ", env!("CARGO_PKG_VERSION")).into(),
            commit: or_unknown(option_env!("ATMOSTR_COMMIT").map(String::from).and_then(known)),
            dirty: or_unknown(option_env!("ATMOSTR_DIRTY").map(String::from).and_then(known)),
            features: features(),
            runtime: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            hostname: or_unknown(hostname),
            user: or_unknown(variable("USER").or_else(|| variable("USERNAME"))),
            created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// The facts of rank 0: attributes must be the same on all ranks. Collective.
    pub fn agreed(&self, comm: &dyn Communicator) -> Self {
        let fields = [
            &self.institution,
            &self.framework,
            &self.commit,
            &self.dirty,
            &self.features,
            &self.runtime,
            &self.hostname,
            &self.user,
            &self.created,
        ];
        let text = fields.map(|f| f.replace('\0', "")).join("\0");
        let text = String::from_utf8_lossy(&comm.broadcast(text.into_bytes())).into_owned();
        let mut parts = text.split('\0').map(String::from);
        let mut next = || parts.next().unwrap_or_default();
        Self {
            institution: next(),
            framework: next(),
            commit: next(),
            dirty: next(),
            features: next(),
            runtime: next(),
            hostname: next(),
            user: next(),
            created: next(),
        }
    }

    /// Attribute `history` of a file with `frames` snapshots.
    pub(super) fn history(&self, frames: usize) -> String {
        format!("{} with {frames} frame(s)", self.written_by())
    }

    /// When a file was written, and by which program: a line of its attribute `history`.
    pub fn written_by(&self) -> String {
        let commit: String = self.commit.chars().take(12).collect();
        let dirty = if self.dirty == "dirty" { "+dirty" } else { "" };
        format!("{}: written by {} (commit {commit}{dirty})", self.created, self.framework)
    }
}

/// Most files that are recorded one by one: attributes of NetCDF files have a limited length.
const RECORDED: usize = 100;

/// Names and sizes of the files that something was read from: `a.nc (1024 bytes), b.nc (2048 bytes)`. Of more than 100
/// files the first, the last and the size of all.
pub fn record_of_files(paths: &[&Path]) -> String {
    let size = |path: &Path| std::fs::metadata(path).map(|found| found.len()).ok();
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let bytes = |bytes: Option<u64>| bytes.map_or("of unknown size".into(), |bytes| format!("{bytes} bytes"));
    match paths {
        [first, .., last] if paths.len() > RECORDED => {
            let all = paths.iter().map(|path| size(path)).sum();
            format!("{} to {} ({} files, {})", name(first), name(last), paths.len(), bytes(all))
        }
        _ => paths.iter().map(|path| format!("{} ({})", name(path), bytes(size(path)))).collect::<Vec<_>>().join(", "),
    }
}

fn features() -> String {
    let all = [("mpi", cfg!(feature = "mpi")), ("grib", cfg!(feature = "grib"))];
    let own = all.iter().chain(&[("static-netcdf", cfg!(feature = "static-netcdf"))]);
    let names: Vec<&str> = own.filter(|(_, built)| *built).map(|(name, _)| *name).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn known(text: String) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| "unknown".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_value() {
        let facts = Provenance::detect();
        for fact in [&facts.institution, &facts.commit, &facts.dirty, &facts.hostname, &facts.user, &facts.runtime] {
            assert!(!fact.trim().is_empty());
        }
        assert!(facts.created.parse::<jiff::Timestamp>().is_ok(), "{}", facts.created);
    }

    #[test]
    fn files_are_recorded_by_name_and_size() {
        let dir = tempfile::tempdir().unwrap();
        let file = |n: usize| {
            let path = dir.path().join(format!("f{n}.nc"));
            std::fs::write(&path, vec![0; n]).unwrap();
            path
        };
        let files: Vec<_> = (0..=RECORDED).map(file).collect();
        let paths: Vec<&Path> = files.iter().map(|path| path.as_path()).collect();
        assert_eq!(record_of_files(&paths[1..3]), "f1.nc (1 bytes), f2.nc (2 bytes)");
        assert_eq!(record_of_files(&[Path::new("none.nc")]), "none.nc (of unknown size)");
        assert_eq!(record_of_files(&[]), "");
        assert!(record_of_files(&paths[1..]).ends_with("f100.nc (100 bytes)"));
        assert_eq!(record_of_files(&paths), "f0.nc to f100.nc (101 files, 5050 bytes)");
    }

    #[test]
    fn history_shortens_the_revision() {
        let mut facts = Provenance::detect();
        facts.created = "2021-12-01T00:00:00Z".into();
        facts.framework = "atmostr 1.2.3".into();
        facts.commit = "0123456789abcdef".into();
        facts.dirty = "dirty".into();
        let expected = "2021-12-01T00:00:00Z: written by atmostr 1.2.3 (commit 0123456789ab+dirty) with 3 frame(s)";
        assert_eq!(facts.history(3), expected);
    }
}
