//! What the integration tests share.

#![allow(dead_code, reason = "no test uses all of it")]

pub mod generate;
pub mod oracle;
