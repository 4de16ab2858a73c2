//! What is recorded of the files that a run starts from and emits.

use super::RunConfig;
use crate::output::record_of_files;

impl RunConfig {
    /// Checksum of the text of the configuration: `crc32c:` and eight hexadecimal digits.
    pub fn checksum(&self) -> String {
        format!("crc32c:{:08x}", crc32c::crc32c(self.text.as_bytes()))
    }

    /// Initial states that are read from files, one text each:
    /// `co2: CO2 of start.nc (1024 bytes), record 2 of 3, 2000-01-04T00:00:00Z`.
    pub fn initial_records(&self) -> Vec<String> {
        let of_file = |tracer: &super::Tracer| {
            let (file, variable) = tracer.initial.source()?;
            let record = tracer.initial.record().filter(|record| record.count > 1 || record.time.is_some());
            let record = record.map_or(String::new(), |record| format!(", {record}"));
            Some(format!("{}: {variable} of {}{record}", tracer.name, record_of_files(&[file])))
        };
        self.tracers.iter().filter_map(of_file).collect()
    }

    /// All sources in words, in their order: tracer by tracer, as they are written.
    pub fn source_summaries(&self) -> Vec<String> {
        let of =
            |t: &super::Tracer| t.emissions.iter().map(|e| format!("{}: {}", t.name, e.summary())).collect::<Vec<_>>();
        self.tracers.iter().flat_map(of).collect()
    }

    /// Files of every source in the same order, with their sizes; an empty text for a formula.
    pub fn source_records(&self) -> Vec<String> {
        let emissions = self.tracers.iter().flat_map(|tracer| &tracer.emissions);
        emissions.map(|emission| record_of_files(&emission.source.files())).collect()
    }
}
