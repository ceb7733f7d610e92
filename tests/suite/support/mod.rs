//! What the integration tests share.

pub mod cfg;
pub mod generate;
pub mod oracle;
