//! The JUnit tests: one for each term of each pi function, or one for a selection.
//!
//! **Input**: tests. **Output**: Java text. A test defines the results of its pi functions.

use crate::java::text::{comment, string};
use std::fmt::Write;

/// Tests of a class at most: Java bounds the size of a class.
const MANY: usize = 1_000;

/// A test.
pub(super) struct Test {
    pub(super) name: String,
    /// What it selects, in words.
    pub(super) lines: Vec<String>,
    /// Reads, and the fields that their pi functions are to give.
    pub(super) selected: Vec<(String, String)>,
    /// The terms that it is the test of, `READ=DEF` each.
    pub(super) shows: Vec<String>,
}

/// The classes of tests: name and text.
pub(super) fn classes(tests: &[Test], package: &str, file: &str) -> Vec<(String, String)> {
    let class = |(number, tests): (usize, &[Test])| {
        let name = if number == 0 { "TermsTest".to_owned() } else { format!("Terms{}Test", number + 1) };
        let text = class(tests, (&name, package, file));
        (name, text)
    };
    tests.chunks(MANY).enumerate().map(class).collect()
}

fn class(tests: &[Test], (name, package, file): (&str, &str, &str)) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        "package {package};\n\nimport cssame.Run;\nimport org.junit.jupiter.api.MethodOrderer;\nimport org.junit.jupiter.api.Test;\n\
         import org.junit.jupiter.api.TestMethodOrder;\n\n/**\n"
    );
    let _ =
        writeln!(text, " * Terms of the pi functions of `{}`: made by cssame {version}; do not edit.", comment(file));
    text += " *\n * <p>A test says which versions pi functions give. Nothing says that an execution of the program can have them.\n";
    let _ = writeln!(text, " */\n@TestMethodOrder(MethodOrderer.MethodName.class)\nclass {name} {{");
    for (number, test) in tests.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text += "    /**\n";
        for line in &test.lines {
            let _ = writeln!(text, "     * {}", comment(line));
        }
        let _ = writeln!(text, "     */\n    @Test\n    void {}() {{\n        Run run = new Run();", test.name);
        for (read, version) in &test.selected {
            let _ = writeln!(text, "        run.select({}, {});", string(read), string(version));
        }
        let _ = writeln!(text, "        run.follow({}, new Program());\n    }}", string(&test.name));
    }
    text + "}\n"
}
