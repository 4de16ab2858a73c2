//! The `atmostr` program.

fn main() -> std::process::ExitCode {
    atmostr::cli::main()
}
