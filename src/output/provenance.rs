//! Where a file comes from, best effort.

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
            runtime: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            hostname: or_unknown(hostname),
            user: or_unknown(variable("USER").or_else(|| variable("USERNAME"))),
            created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    /// Attribute `history` of a file with `frames` snapshots.
    pub(super) fn history(&self, frames: usize) -> String {
        let commit: String = self.commit.chars().take(12).collect();
        let dirty = if self.dirty == "dirty" { "+dirty" } else { "" };
        format!("{}: written by {} (commit {commit}{dirty}) with {frames} frame(s)", self.created, self.framework)
    }
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
