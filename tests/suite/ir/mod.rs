//! The parallel flow graph that the front end makes: its printed forms, and what its verifier demands.

mod print;
mod verify;
