//! Generates the parser from `grammar/`.
//!
//! Input: `grammar/cssame.lalrpop`. Output: `cssame.rs` in Cargo's output folder, which `csm/syntax/mod.rs` includes.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    lalrpop::Configuration::new().emit_rerun_directives(true).process_dir("../../grammar")
}
