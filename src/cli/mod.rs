//! Command line: subcommands, reports, exit codes.
