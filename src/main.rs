//! The `atmostr` program.

#[global_allocator]
static ALLOCATOR: atmostr::timers::CountingAllocator = atmostr::timers::CountingAllocator;

fn main() -> std::process::ExitCode {
    atmostr::cli::main()
}
