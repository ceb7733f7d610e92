//! The packages in Java of the figures of the CSSAME paper, as they are written; `CSSAME_BLESS=1` writes them anew.
//!
//! That they run is tested with those of all samples. The version of cssame is left out.

use super::package;
use cssame::driver::{Expect, Target};
use std::fs;
use std::path::Path;
use support::root;

const FIGURES: [&str; 4] = ["cssame_fig2", "cssame_fig5", "cssame_fig6", "cssame_fig7"];

/// By target: a folder, and the files of it that are kept, without the folders that they stand in; of plans the first one.
const KEPT: [(Target, &str, &[&str]); 2] = [
    (Target::Java, "java", &["Program.java", "FuturesTest.java", ".plan"]),
    (Target::AspectJ, "aspectj", &["Program.java", "places.txt"]),
];

#[test]
fn the_figures_of_the_paper_are_written_as_they_were() {
    let folder = root().join("tests/suite/java/golden");
    let version = format!("cssame {}", env!("CARGO_PKG_VERSION"));
    let mut problems = Vec::new();
    for name in FIGURES {
        let text = fs::read_to_string(root().join(format!("samples/{name}.csm"))).unwrap();
        for (target, of_target, kept) in KEPT {
            let package = package(target, name, &text, Expect::Recorded).unwrap();
            for ending in kept {
                let is_kept = |path: &Path| path.to_string_lossy().ends_with(ending);
                let (path, text) = package.files.iter().find(|(path, _)| is_kept(path)).unwrap();
                let golden = folder.join(name).join(of_target).join(path.file_name().unwrap());
                problems.extend(difference(&golden, &text.replace(&version, "cssame VERSION")));
            }
        }
    }
    assert!(problems.is_empty(), "CSSAME_BLESS=1 cargo test --test suite java::golden\n{}", problems.join("\n"));
}

/// What is wrong with a file that is kept; writes it anew where that is wanted.
pub fn difference(golden: &Path, text: &str) -> Option<String> {
    if std::env::var_os("CSSAME_BLESS").is_some_and(|value| value == "1") {
        fs::create_dir_all(golden.parent().unwrap()).unwrap();
        fs::write(golden, text).unwrap();
    }
    let kept = fs::read_to_string(golden).unwrap_or_default();
    (kept != text).then(|| format!("{} differs; found is\n{text}", golden.display()))
}
