//! Generates the parser from `grammar/`, and the list of samples for the page of `cssame serve`.
//!
//! Input: `grammar/cssame.lalrpop`, `samples/`. Output, in Cargo's output folder: `cssame.rs`, which `src/front/csm/syntax/mod.rs`
//! includes, and `samples.rs`, which `src/cli/serve/samples.rs` includes.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    lalrpop::Configuration::new().emit_rerun_directives(true).process_dir("grammar")?;
    if std::env::var_os("CARGO_FEATURE_SERVE").is_some() {
        samples()?;
    }
    Ok(())
}

fn samples() -> Result<(), Box<dyn Error>> {
    let root = std::env::var("CARGO_MANIFEST_DIR")?;
    let mut names = Vec::new();
    for (folder, prefix) in [("samples", ""), ("samples/classes", "classes/")] {
        println!("cargo::rerun-if-changed={folder}");
        for entry in fs::read_dir(Path::new(&root).join(folder))? {
            let name = entry?.file_name().into_string().map_err(|_| "the name of a sample is no text")?;
            if name.ends_with(".csm") {
                names.push(format!("{prefix}{name}"));
            }
        }
    }
    names.sort_unstable();
    let mut text = "[".to_owned();
    for name in names {
        // The folder is that of the compilation: a target folder may serve several checkouts.
        writeln!(text, "(\"{name}\", include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/samples/{name}\"))),")?;
    }
    text.push(']');
    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("samples.rs"), text)?;
    Ok(())
}
