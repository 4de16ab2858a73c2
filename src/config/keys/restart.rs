//! Keys of `[restart]`.

use super::{Key, Kind, Range, Section};

pub(super) const RESTART: Section = Section::new(
    "restart",
    "Restart files, from which a run goes on with the same bits, on any number of ranks, tiles, threads and devices \
     (`atmostr run run.toml --restart latest`). One is always written at the end of the run.",
    &[
        Key::optional(
            "every",
            Kind::Float(Range::Above(0.0)),
            "only at the end",
            "Hours between restart files; whole windows.",
        ),
        Key::new("keep", Kind::Int(1, 1_000_000), "2", "Number of restart files that are kept, the latest ones."),
        Key::optional(
            "dir",
            Kind::Path,
            "`<name of the configuration>.restart` beside the output",
            "Folder of the restart files.",
        ),
        Key::new(
            "on_signal",
            Kind::Bool,
            "true",
            "On SIGTERM, SIGUSR1, SIGINT or SIGHUP write a restart file at the end of the window and end with exit code 3; a \
             second signal ends the run at once.",
        ),
        Key::new(
            "reset_carries",
            Kind::Bool,
            "false",
            "Start again with empty carries and compensations: what rounding left over is lost, and the bits are not those of \
             an uninterrupted run.",
        ),
    ],
);
