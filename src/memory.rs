//! The allocator of the program: memory that is not to be had ends it with a message and the status of a bound.
//!
//! Input: requests for memory. Output: what the system's allocator gives. Where it gives nothing, the standard library
//! would abort the process, which looks like a fault of the tool; here a line on standard error says what to do, and the
//! exit status is that of a bound that was hit. The same happens beyond the bound of `--max-memory`, or where nobody names one
//! beyond half of what the machine has. What is given out is counted ([`PROCESS`]).
//!
//! It does not see memory that the system has promised and cannot provide: then the system ends the process.

#![allow(unsafe_code, reason = "the trait of allocators is unsafe; every call is handed on to the system's as it is")]
#![allow(clippy::exit, reason = "there is no way back from an allocation that fails")]

use cssame::cli::memory::PROCESS;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Arguments;
use std::io::{self, Write};
use std::process;

/// The exit status where a bound was hit before the question was decided.
const BOUND_HIT: i32 = 3;

/// Blocks of that size are pages of their own, which the GNU C library has the system move.
const MOVED: usize = 64 << 20;

/// The system's allocator, which never gives nothing.
pub(crate) struct Allocator;

// SAFETY: each method hands its arguments to the same method of `System`, and gives back what that gives. Where that is
// null it does not return.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ask(layout.size(), layout.size());
        // SAFETY: the caller keeps the contract of `System::alloc`, which is the same.
        given(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ask(layout.size(), layout.size());
        // SAFETY: as above.
        given(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it grows there are two of it, unless it is so large that the system moves it.
        let old = layout.size();
        let is_moved = size >= MOVED;
        if is_moved {
            PROCESS.take_back(old);
        }
        ask(size, if is_moved { size.saturating_sub(old) } else { size });
        // SAFETY: as above.
        let block = given(unsafe { System.realloc(block, layout, size) }, size);
        if !is_moved {
            PROCESS.take_back(old);
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        PROCESS.take_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Counts a block, of which so much is new. Where it is too much, that is the end.
#[inline]
fn ask(size: usize, new: usize) {
    if !PROCESS.give(size) && !PROCESS.give_after_asking(new) {
        let bytes = PROCESS.bytes();
        end(
            format_args!("error: the process would take more than {bytes} bytes of memory"),
            "raise `--max-memory` (half of what the machine has unless named), or ask for less",
        );
    }
}

#[inline]
fn given(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        end(
            format_args!("error: out of memory: {size} more bytes are not to be had"),
            "bound the search with `--max-memory`, such as `--max-memory 2G`",
        );
    }
    block
}

/// Nothing here allocates: the line is made on the stack.
#[cold]
fn end(what: Arguments<'_>, help: &str) -> ! {
    PROCESS.lift_bound();
    let mut line = [0; 200];
    let mut rest = &mut line[..];
    let whole = writeln!(rest, "{what}\n  = help: {help}");
    let left = rest.len();
    if whole.is_ok() {
        // Where standard error is closed there is nobody to tell.
        let _ = io::stderr().write_all(&line[..line.len() - left]);
    }
    process::exit(BOUND_HIT)
}
