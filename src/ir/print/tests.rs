//! The text form of small programs.
