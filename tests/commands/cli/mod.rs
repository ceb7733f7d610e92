//! The program as its users call it: exit status, both streams, and what is promised of bad input.

mod bad_input;
mod documents;
mod help;
mod large_input;
mod streams;
mod usage;

use crate::process::{Answer, Files, call, finish, program, root};
