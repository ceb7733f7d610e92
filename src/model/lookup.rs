//! Reads and definitions by their names, as people write them.
//!
//! In: `VAR@LINE:COL`, `VAR@LINE` where that is unique, `VAR@initial` for the value before the first write, and
//! `VAR@LINE:COL#K` for the K-th time that a thread comes there. Out: ids, or an error that lists what there is.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use crate::form::Selection;
use crate::form::read_name;
use crate::ir::{Access, DefinitionId, DefinitionKind, LeafId, LeafKind, Program, ReadId};
use crate::source::{Position, SourceMap};

/// Names that an error lists at most.
const LISTED: usize = 12;

/// Finds the reads and definitions of a program by their names.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The text.
    pub(super) sources: &'a SourceMap,
    /// The program.
    pub(super) program: &'a Program,
}

/// `VAR@…` in its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name<'a> {
    variable: &'a str,
    place: Place,
    instance: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Initial,
    Line(u32),
    At(Position),
}

/// A read or a definition that a name may mean.
struct Candidate<'a, I> {
    id: I,
    variable: &'a str,
    position: Position,
    initial: bool,
}

impl Lookup<'_> {
    /// The selections that several `READ=DEF` mean.
    ///
    /// # Errors
    ///
    /// A diagnostic for each of them that means nothing, or several things.
    pub fn selections(&self, texts: &[String]) -> Result<Vec<Selection>, Diagnostics> {
        let (mut selections, mut problems) = (Vec::new(), Vec::new());
        for text in texts {
            match self.selected(text) {
                Ok(selection) => selections.push(selection),
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(selections) } else { Err(Diagnostics::new(self.sources.clone(), problems)) }
    }

    /// The selection that `READ=DEF` means.
    ///
    /// # Errors
    ///
    /// A diagnostic that says which part means nothing, or several things.
    pub fn selection(&self, text: &str) -> Result<Selection, Diagnostics> {
        self.selected(text).map_err(|problem| self.problem(problem))
    }

    fn selected(&self, text: &str) -> Result<Selection, Diagnostic> {
        let Some((read, definition)) = text.split_once('=') else {
            let message = format!("`{text}` selects nothing");
            return Err(general(message).with_help("write it as READ=DEF, such as `x@3:9=x@1:5`"));
        };
        let (read, instance) = self.find_read(read.trim())?;
        let definition = self.find_definition(read, definition.trim())?;
        Ok(Selection { read, instance, definition })
    }

    /// The read that a name means, and which instance of it.
    ///
    /// # Errors
    ///
    /// A diagnostic that lists the reads it could mean.
    pub fn read(&self, text: &str) -> Result<(ReadId, Option<u32>), Diagnostics> {
        self.find_read(text).map_err(|problem| self.problem(problem))
    }

    fn find_read(&self, text: &str) -> Result<(ReadId, Option<u32>), Diagnostic> {
        let name = parse(text, "read")?;
        let read = choose("read", text, &name, &self.reads())?;
        Ok((read, name.instance))
    }

    /// The definition that a name means, of the variable of a read. Two locals of one name are told apart so.
    ///
    /// # Errors
    ///
    /// A diagnostic that lists the definitions it could mean.
    pub fn definition_for(&self, read: ReadId, text: &str) -> Result<DefinitionId, Diagnostics> {
        self.find_definition(read, text).map_err(|problem| self.problem(problem))
    }

    fn find_definition(&self, read: ReadId, text: &str) -> Result<DefinitionId, Diagnostic> {
        let name = parse(text, "definition")?;
        if name.instance.is_some() {
            let message = format!("`{text}`: only a read can be told by its instance");
            return Err(general(message).with_help("leave out the `#` and what follows it"));
        }
        let all = self.definitions();
        let symbol = self.program.reads[read].symbol;
        let (same, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| self.program.definitions[one.id].symbol == symbol);
        if let Some(other) = others.iter().find(|one| one.fits(&name))
            && !same.iter().any(|one| one.fits(&name))
        {
            let read = read_name(self.sources, self.program, read);
            let message = format!("`{read}` cannot read from `{}`: they are different variables", other.shown());
            let same: Vec<_> = same.iter().collect();
            return Err(general(message).with_note(list("definitions of that variable", &same)));
        }
        choose("definition", text, &name, &same)
    }

    /// An access at the place that a name means; where it reads and writes, the read.
    ///
    /// # Errors
    ///
    /// A diagnostic that lists the accesses it could mean.
    pub fn access(&self, text: &str) -> Result<Access, Diagnostics> {
        self.find_access(text).map_err(|problem| self.problem(problem))
    }

    fn find_access(&self, text: &str) -> Result<Access, Diagnostic> {
        let name = parse(text, "access")?;
        if name.instance.is_some() || name.place == Place::Initial {
            let message = format!("`{text}` names no place of the text");
            return Err(general(message).with_help("write it as VAR@LINE:COL, such as `x@3:9`"));
        }
        let reads = self.reads().into_iter().map(|one| one.with(Access::Read));
        let definitions = self.definitions().into_iter().filter(|one| !one.initial).map(|one| one.with(Access::Write));
        let mut all: Vec<Candidate<'_, Access>> = reads.chain(definitions).collect();
        all.sort_by_key(|one| (one.position, one.id));
        all.dedup_by_key(|one| (one.position, one.variable));
        choose("access", text, &name, &all)
    }

    /// The variable of a name: `x`, `acc.balance`, or an array.
    ///
    /// # Errors
    ///
    /// A diagnostic that lists the variables of the program.
    pub fn variable(&self, text: &str) -> Result<LeafId, Diagnostics> {
        let named = |leaf: &LeafId| self.program.texts.get(self.program.leaves[*leaf].name) == text;
        let data = |leaf: &LeafId| matches!(self.program.leaves[*leaf].kind, LeafKind::Data(_));
        self.program.leaves.ids().filter(data).find(named).ok_or_else(|| {
            let names = self.program.leaves.ids().filter(data);
            let mut names: Vec<&str> =
                names.map(|leaf| self.program.texts.get(self.program.leaves[leaf].name)).collect();
            names.sort_unstable();
            names.dedup();
            let more = if names.len() > LISTED { format!(" and {} more", names.len() - LISTED) } else { String::new() };
            names.truncate(LISTED);
            let note = format!("variables: {}{more}", names.join(", "));
            self.problem(general(format!("there is no variable `{text}` in memory")).with_note(note))
        })
    }

    /// Says that a name means nothing.
    #[must_use]
    pub fn unknown(&self, message: &str) -> Diagnostics {
        self.problem(general(message.to_owned()))
    }

    fn problem(&self, problem: Diagnostic) -> Diagnostics {
        Diagnostics::new(self.sources.clone(), vec![problem])
    }

    fn reads(&self) -> Vec<Candidate<'_, ReadId>> {
        let candidate = |(id, read): (ReadId, &crate::ir::Read)| Candidate {
            id,
            variable: self.program.texts.get(read.name),
            position: self.sources.position(read.span),
            initial: false,
        };
        self.program.reads.entries().map(candidate).collect()
    }

    fn definitions(&self) -> Vec<Candidate<'_, DefinitionId>> {
        let candidate = |(id, definition): (DefinitionId, &crate::ir::Definition)| Candidate {
            id,
            variable: self.program.texts.get(definition.name),
            position: self.sources.position(definition.span),
            initial: matches!(definition.kind, DefinitionKind::Initial(_)),
        };
        self.program.definitions.entries().map(candidate).collect()
    }
}

impl<'a, I> Candidate<'a, I> {
    /// The same with an id of another kind.
    fn with<J>(self, other: impl FnOnce(I) -> J) -> Candidate<'a, J> {
        let Candidate { id, variable, position, initial } = self;
        Candidate { id: other(id), variable, position, initial }
    }

    fn shown(&self) -> String {
        let place = if self.initial { "initial".to_owned() } else { self.position.to_string() };
        format!("{}@{place}", self.variable)
    }

    fn fits(&self, name: &Name<'_>) -> bool {
        let placed = match name.place {
            Place::Initial => self.initial,
            Place::Line(line) => !self.initial && self.position.line == line,
            Place::At(position) => !self.initial && self.position == position,
        };
        placed && self.variable == name.variable
    }
}

/// The one candidate that a name means.
fn choose<I: Copy>(kind: &str, text: &str, name: &Name<'_>, candidates: &[Candidate<'_, I>]) -> Result<I, Diagnostic> {
    let fitting: Vec<&Candidate<'_, I>> = candidates.iter().filter(|one| one.fits(name)).collect();
    match fitting.as_slice() {
        [only] => Ok(only.id),
        [] => Err(unknown(kind, text, name, candidates)),
        several => {
            let message = format!("`{text}` may mean {} {}", several.len(), plural_of(kind));
            Err(general(message).with_note(list("they are", several)).with_help("add the column: VAR@LINE:COL"))
        }
    }
}

/// Says what could have been meant: the same variable elsewhere, else what stands on that line.
fn unknown<I: Copy>(kind: &str, text: &str, name: &Name<'_>, candidates: &[Candidate<'_, I>]) -> Diagnostic {
    let diagnostic = general(format!("there is no {kind} `{text}`"));
    let same: Vec<&Candidate<'_, I>> = candidates.iter().filter(|one| one.variable == name.variable).collect();
    if !same.is_empty() {
        return diagnostic.with_note(list(&format!("{} of `{}`", plural_of(kind), name.variable), &same));
    }
    let line = match name.place {
        Place::Initial => None,
        Place::Line(line) | Place::At(Position { line, .. }) => Some(line),
    };
    let near: Vec<&Candidate<'_, I>> =
        candidates.iter().filter(|one| !one.initial && Some(one.position.line) == line).collect();
    match line {
        Some(line) if !near.is_empty() => {
            diagnostic.with_note(list(&format!("{} on line {line}", plural_of(kind)), &near))
        }
        _ => diagnostic.with_note(format!("the program has no shared variable `{}`", name.variable)),
    }
}

/// `reads of a: a@3:4, a@5:6`
fn list<I>(title: &str, candidates: &[&Candidate<'_, I>]) -> String {
    let mut sorted: Vec<(bool, Position, String)> =
        candidates.iter().map(|one| (!one.initial, one.position, one.shown())).collect();
    sorted.sort();
    sorted.dedup();
    let names: Vec<&str> = sorted.iter().take(LISTED).map(|(_, _, name)| name.as_str()).collect();
    let more = if sorted.len() > LISTED { format!(" and {} more", sorted.len() - LISTED) } else { String::new() };
    format!("{title}: {}{more}", names.join(", "))
}

fn plural_of(kind: &str) -> String {
    if kind.ends_with('s') { format!("{kind}es") } else { format!("{kind}s") }
}

fn general(message: String) -> Diagnostic {
    Diagnostic::general(Code::UnknownName, Severity::Error, message)
}

/// Splits `VAR@LINE:COL#K`.
fn parse<'a>(text: &'a str, kind: &str) -> Result<Name<'a>, Diagnostic> {
    let malformed = || {
        general(format!("`{text}` names no {kind}"))
            .with_help("write it as VAR@LINE:COL, such as `x@3:9`, or VAR@LINE where that is unique")
    };
    let (variable, place) = text.split_once('@').filter(|(variable, _)| !variable.is_empty()).ok_or_else(malformed)?;
    let (place, instance) = match place.split_once('#') {
        Some((place, instance)) => (place, Some(number(instance).ok_or_else(malformed)?)),
        None => (place, None),
    };
    let place = match place.split_once(':') {
        _ if place == "initial" => Place::Initial,
        Some((line, column)) => Place::At(Position {
            line: number(line).ok_or_else(malformed)?,
            column: number(column).ok_or_else(malformed)?,
        }),
        None => Place::Line(number(place).ok_or_else(malformed)?),
    };
    Ok(Name { variable, place, instance })
}

/// A number from 1.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&number| number > 0)
}
