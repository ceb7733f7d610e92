//! The program `cssame`: hands its arguments to the library, and reports a fault of the tool as such.

mod memory;

use cssame::cli;
use std::process::ExitCode;
use std::thread;

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    cli::internal::keep_panics();
    let copy = arguments.clone();
    let worker = thread::Builder::new().name("cssame".to_owned()).stack_size(cli::STACK_BYTES);
    match worker.spawn(move || cli::run(&copy)) {
        Ok(worker) => worker.join().unwrap_or_else(|_| cli::internal::report(&arguments)),
        // Where memory is scarce the usual stack has to do.
        Err(_) => cli::run(&arguments),
    }
}
