//! Lists the samples for the page of `cssame serve`.
//!
//! Input: `samples/`. Output: `samples.rs` in Cargo's output folder, which `serve/samples.rs` includes.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::var_os("CARGO_FEATURE_SERVE").is_none() {
        return Ok(());
    }
    let samples = Path::new("../../samples");
    let mut names = Vec::new();
    for (folder, prefix) in [("", ""), ("classes", "classes/")] {
        let folder = samples.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        for entry in fs::read_dir(folder)? {
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
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../samples/{name}\")");
        writeln!(text, "(\"{name}\", include_str!({path})),")?;
    }
    text.push(']');
    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("samples.rs"), text)?;
    Ok(())
}
