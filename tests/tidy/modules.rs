//! Which module uses which, read from the text of the sources.
//!
//! **Input**: the text of each file of `src`, by its path.
//!
//! **Output**: [`Modules`]: every use of a module by another one, with its line.
//!
//! **Algorithm**:
//! 1. A lexer drops comments, strings and lifetimes.
//! 2. Every `use` tree is taken apart, and every path in the code that begins with `crate`, `super`, `self`, the crate of
//!    another layer (`cssame_vm`) or the name of a module that the file declares is a use as well. Modules in the middle of a
//!    file belong to the file.
//! 3. A path is resolved to the longest prefix that is a file; where that file imports or re-exports the name behind the
//!    prefix, resolution goes on from what it stands for. So a use of a type through `mod.rs` is one of the file that
//!    defines the type.
//!
//! **Soundness and limits**: names that a macro makes, re-exports by `*`, and methods called on values are not seen: only
//! what a file names counts.

use logos::Logos;
use std::collections::{BTreeMap, BTreeSet};

/// A module as the names that lead to it: `["explore", "states", "batch"]`.
pub type Path = Vec<String>;

/// One use of a module by another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    pub from: Path,
    pub to: Path,
    pub line: usize,
    /// In a unit test.
    pub test: bool,
}

/// All modules that are files, and their uses of each other.
pub struct Modules {
    pub uses: Vec<Use>,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*[^/])*\*/")]
enum Token<'a> {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name(&'a str),
    #[token("::")]
    PathSeparator,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token("*")]
    Star,
    #[token("\n")]
    NewLine,
    #[token("#[cfg(test)]")]
    OnlyTests,
    /// Strings may go over several lines.
    #[regex(r#"b?"([^"\\]|\\.|\\\n)*""#, |lexer| lexer.slice())]
    #[regex(r##"r"[^"]*""##, |lexer| lexer.slice())]
    #[regex(r###"r#"([^"]|"[^#])*"#"###, |lexer| lexer.slice())]
    Text(&'a str),
    #[regex(r"'([^'\\\n]|\\[^\n]|\\u\{[0-9a-fA-F]+\})'|'[A-Za-z_][A-Za-z0-9_]*")]
    CharacterOrLifetime,
}

/// Tokens with their lines. What the lexer does not know is no part of a path: it becomes a `None`.
fn tokens(text: &str) -> Vec<(Option<Token<'_>>, usize)> {
    let (mut line, mut found) = (1, Vec::new());
    for token in Token::lexer(text) {
        match token {
            Ok(Token::NewLine) => line += 1,
            Ok(Token::Text(text)) => {
                found.push((None, line));
                line += text.matches('\n').count();
            }
            other => found.push((other.ok(), line)),
        }
    }
    found
}

/// What one file says, before names are resolved.
#[derive(Default)]
struct File {
    /// Module in which a path stands, the path, its line, and whether it belongs to a unit test.
    paths: Vec<(Path, Path, usize, bool)>,
    /// Names that the module imports or re-exports, and what they stand for.
    names: BTreeMap<String, (Path, Path)>,
    /// Modules that are only compiled for unit tests.
    test_modules: Vec<Path>,
}

/// Reads the tokens of one file.
struct Reader<'a> {
    tokens: Vec<(Option<Token<'a>>, usize)>,
    at: usize,
    /// The module of the file.
    module: Path,
    /// Names of the modules that the file declares.
    children: BTreeSet<String>,
    /// The blocks that are open: the module that begins there, and whether it belongs to a unit test.
    blocks: Vec<(Option<String>, bool)>,
    file: File,
}

impl<'a> Reader<'a> {
    fn token(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).and_then(|&(token, _)| token)
    }

    fn name(&self, ahead: usize) -> Option<&'a str> {
        match self.token(ahead) {
            Some(Token::Name(name)) => Some(name),
            _ => None,
        }
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |&(_, line)| line)
    }

    /// The module in which the reader stands.
    fn place(&self) -> Path {
        let inner = self.blocks.iter().filter_map(|(module, _)| module.clone());
        self.module.iter().cloned().chain(inner).collect()
    }

    fn read(mut self) -> File {
        let mut only_tests = false;
        while self.at < self.tokens.len() {
            let test = only_tests || self.blocks.iter().any(|&(_, test)| test);
            match self.token(0) {
                Some(Token::OnlyTests) => only_tests = true,
                Some(Token::Open) => {
                    self.blocks.push((None, test));
                    only_tests = false;
                }
                Some(Token::Close) => drop(self.blocks.pop()),
                Some(Token::Semicolon) => only_tests = false,
                Some(Token::Name("mod")) if self.name(1).is_some() => {
                    self.module_item(test);
                    only_tests = false;
                    continue;
                }
                Some(Token::Name("use")) => {
                    self.at += 1;
                    self.use_tree(&Path::new(), test);
                    only_tests = false;
                    continue;
                }
                Some(Token::Name(_)) if self.token(1) == Some(Token::PathSeparator) => {
                    self.inline_path(test);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.file
    }

    /// `mod name;` or `mod name {`
    fn module_item(&mut self, test: bool) {
        let name = self.name(1).unwrap_or_default().to_owned();
        if self.token(2) == Some(Token::Open) {
            self.blocks.push((Some(name), test));
        } else if test {
            self.file.test_modules.push(self.place().into_iter().chain([name]).collect());
        }
        self.at += 3;
    }

    /// One tree behind `use`, up to the comma, brace or semicolon that ends it.
    fn use_tree(&mut self, before: &Path, test: bool) {
        let (mut path, mut alias) = (before.clone(), None);
        loop {
            match self.token(0) {
                Some(Token::Name("as")) => {
                    alias = self.name(1).map(str::to_owned);
                    self.at += 1;
                }
                Some(Token::Name("self")) if !path.is_empty() => {}
                Some(Token::Name(name)) => path.push(name.to_owned()),
                Some(Token::Open) => {
                    self.at += 1;
                    while !matches!(self.token(0), None | Some(Token::Close)) {
                        self.use_tree(&path, test);
                        if self.token(0) == Some(Token::Comma) {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                Some(Token::PathSeparator | Token::Star) => {}
                _ => break,
            }
            self.at += 1;
        }
        self.add(path, alias, test);
    }

    /// Notes an imported path, if it is one of the project.
    fn add(&mut self, path: Path, alias: Option<String>, test: bool) {
        let Some(path) = self.absolute(&path) else { return };
        let place = self.place();
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            self.file.names.insert(name, (place.clone(), path.clone()));
        }
        self.file.paths.push((place, path, self.line(), test));
    }

    /// A path in the middle of the code.
    fn inline_path(&mut self, test: bool) {
        let line = self.line();
        let mut path = Path::new();
        while let Some(name) = self.name(0) {
            path.push(name.to_owned());
            self.at += 1;
            if self.token(0) != Some(Token::PathSeparator) {
                break;
            }
            self.at += 1;
        }
        if let Some(path) = self.absolute(&path) {
            let place = self.place();
            self.file.paths.push((place, path, line, test));
        }
    }

    /// The path from the folder of the layers; nothing for one that leads out of it or begins with a type.
    fn absolute(&self, path: &Path) -> Option<Path> {
        let mut base = self.place();
        let mut rest = path.as_slice();
        match rest.first()?.as_str() {
            "crate" => {
                base.truncate(1);
                rest = &rest[1..];
            }
            name if name.starts_with("cssame_") => {
                base = vec![name.trim_start_matches("cssame_").to_owned()];
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            name if self.children.contains(name) && self.blocks.iter().all(|(module, _)| module.is_none()) => {}
            _ => return None,
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }
}

/// `src/explore/states/mod.rs` is `["explore", "states"]`.
pub fn module_of(path: &str) -> Path {
    let path =
        path.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/lib");
    path.split('/').map(str::to_owned).collect()
}

/// What stands for a name within a module.
type Names = BTreeMap<(Path, String), Path>;

/// The module that a path leads to.
fn resolve(files: &BTreeSet<Path>, names: &Names, path: &[String], depth: u32) -> Path {
    let known = (0..=path.len()).rev().find(|&length| files.contains(&path[..length])).unwrap_or(0);
    let (module, rest) = path.split_at(known);
    if let Some((name, rest)) = rest.split_first()
        && let Some(target) = names.get(&(module.to_vec(), name.clone()))
        && target != path
        && depth < 8
    {
        let target: Path = target.iter().chain(rest).cloned().collect();
        return resolve(files, names, &target, depth + 1);
    }
    module.to_vec()
}

impl Modules {
    /// The modules of a tree of sources.
    pub fn new(sources: &BTreeMap<String, String>) -> Modules {
        let files: BTreeSet<Path> = sources.keys().map(|path| module_of(path)).collect();
        let (mut names, mut paths, mut tests) = (Names::new(), Vec::new(), BTreeSet::new());
        for (path, text) in sources {
            let module = module_of(path);
            let below = files.iter().filter(|file| file.len() == module.len() + 1 && file.starts_with(&module));
            let children = below.filter_map(|file| file.last().cloned()).collect();
            let reader =
                Reader { tokens: tokens(text), at: 0, module, children, blocks: Vec::new(), file: File::default() };
            let file = reader.read();
            names.extend(file.names.into_iter().map(|(name, (place, target))| ((place, name), target)));
            tests.extend(file.test_modules);
            paths.extend(file.paths);
        }
        let own = |place: &Path| resolve(&files, &Names::new(), place, 0);
        let is_test = |place: &Path| tests.iter().any(|test| place.starts_with(test));
        let uses = paths.into_iter().map(|(place, path, line, test)| Use {
            from: own(&place),
            to: resolve(&files, &names, &path, 0),
            line,
            test: test || is_test(&place),
        });
        let mut uses: Vec<Use> = uses.filter(|one| one.from != one.to).collect();
        uses.sort();
        uses.dedup();
        Modules { uses }
    }
}
