//! `run.sh` and `pom.xml` of a package.
//!
//! In: the special parts of a target. Out: a script that compiles a package and runs its tests without a network.

/// What a script does for its target.
pub(crate) struct Script {
    /// What it does, as a sentence without its end.
    pub(crate) what: &'static str,
    /// Looks for tools, beside those that all packages need.
    pub(crate) tools: &'static str,
    /// Their versions, each with a comma behind it.
    pub(crate) versions: &'static str,
    /// Makes the classes of the program.
    pub(crate) build: &'static str,
}

/// The script of a package of plain Java.
pub(super) const JAVA: Script = Script {
    what: "Compiles this package and runs its tests with JUnit 5",
    tools: "libraries=\n",
    versions: "",
    build: "javac --release 17 -encoding UTF-8 -Xlint:all -Werror -d target/classes @target/sources.txt || exit 1",
};

impl Script {
    /// The text of `run.sh`.
    pub(crate) fn text(&self) -> String {
        include_str!("template/run.sh")
            .replace("{what}", self.what)
            .replace("{tools}", self.tools)
            .replace("{versions}", self.versions)
            .replace("{build}", self.build)
    }
}
