//! The parallel flow graph that the front end makes: its printed forms, its picture, and what its verifier demands.

mod picture;
mod print;
mod verify;
