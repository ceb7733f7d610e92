//! Reads and definitions by their names, as people write them.
//!
//! In: `VAR@LINE:COL`, `VAR@LINE` where that is unique, `VAR@initial` for the value before the first write, and
//! `VAR@LINE:COL#K` for the K-th time that a thread comes there. The context of a place is told by a thread before the
//! name (`T1:n@2:19`), by calls behind it (`n@2:19~5:7`, outermost first), and by the object (`a.bal@3:5`); what is left out
//! may be anything. Out: ids, or an error that lists what there is.

use cssame_concurrency::ThreadId;
use cssame_diagnostics::{Code, Diagnostic, Diagnostics, Severity};
use cssame_form::{Form, Selection, context_of_definition, context_of_read, read_name};
use cssame_ir::{Access, AccessContext, DefinitionId, DefinitionKind, LeafId, LeafKind, Program, ReadId};
use cssame_source::{Position, SourceMap, Span};

/// Names that an error lists at most.
const LISTED: usize = 12;

/// Finds the reads and definitions of a program by their names.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The text.
    pub(super) sources: &'a SourceMap,
    /// The program.
    pub(super) program: &'a Program,
    /// Its form, which knows the threads of accesses.
    pub(super) form: &'a Form,
}

/// `THREAD:VAR@…~CALL` in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name<'a> {
    thread: Option<&'a str>,
    variable: &'a str,
    /// The file, if it stands beside the one that was named.
    file: Option<&'a str>,
    place: Place,
    calls: Vec<(Option<&'a str>, Position)>,
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
    /// The file, if it stands beside the one that was named.
    file: Option<&'a str>,
    position: Position,
    initial: bool,
    /// Its context, where the place has several.
    context: Option<&'a AccessContext>,
    /// Its name in its context.
    in_context: Option<String>,
    /// The threads that run it, where it has a single context.
    threads: Vec<ThreadId>,
}

/// Whether names are listed with their contexts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contexts {
    Told,
    LeftOut,
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

    /// The selection that `READ=DEF` means, or a write alone.
    ///
    /// # Errors
    ///
    /// A diagnostic that says which part means nothing, or several things.
    pub fn selection(&self, text: &str) -> Result<Selection, Diagnostics> {
        self.selected(text).map_err(|problem| self.problem(problem))
    }

    fn selected(&self, text: &str) -> Result<Selection, Diagnostic> {
        let Some((read, definition)) = text.split_once('=') else {
            return self.find_write(text);
        };
        let (reads, instance) = self.find_read(read.trim())?;
        let first = reads.first().copied().unwrap_or(ReadId::new(0));
        let definitions = self.find_definition(first, definition.trim())?;
        Ok(Selection { reads, instance, definitions })
    }

    /// The write that a name means, whoever reads it.
    fn find_write(&self, text: &str) -> Result<Selection, Diagnostic> {
        const HELP: &str = "write it as READ=DEF, such as `x@3:9=x@1:5`, or as a write, such as `x@1:5`";
        let name = parse(text, "write").map_err(|problem| problem.with_help(HELP))?;
        let writes: Vec<_> = self.definitions().into_iter().filter(|one| !one.initial).collect();
        if name.place == Place::Initial {
            return Err(general(format!("`{text}` is not a write")).with_help(HELP));
        }
        let is_meant = |one: &Candidate<'_, DefinitionId>| self.fits(one, &name);
        if !writes.iter().any(is_meant) && self.reads().iter().any(|one| self.fits(one, &name)) {
            return Err(general(format!("`{text}` is a read: from which write?")).with_help(HELP));
        }
        Ok(Selection::of_write(self.choose("write", text, &name, &writes)?, name.instance))
    }

    /// The read that a name means, in each of its contexts that fit, and which instance of it.
    fn find_read(&self, text: &str) -> Result<(Vec<ReadId>, Option<u32>), Diagnostic> {
        let name = parse(text, "read")?;
        let reads = self.choose("read", text, &name, &self.reads())?;
        Ok((reads, name.instance))
    }

    fn find_definition(&self, read: ReadId, text: &str) -> Result<Vec<DefinitionId>, Diagnostic> {
        let name = parse(text, "definition")?;
        if name.instance.is_some() {
            let message = format!("`{text}`: only a read can have the number of an instance");
            return Err(general(message).with_help("leave out the `#` and what follows it"));
        }
        let all = self.definitions();
        let symbol = self.program.reads[read].symbol;
        let (same, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| self.program.definitions[one.id].symbol == symbol);
        if let Some(other) = others.iter().find(|one| self.fits(one, &name))
            && !same.iter().any(|one| self.fits(one, &name))
        {
            let read = read_name(self.sources, self.program, read);
            let message =
                format!("`{read}` cannot read from `{}`: they are different variables", other.shown(Contexts::LeftOut));
            let same: Vec<_> = same.iter().collect();
            return Err(general(message).with_note(list("definitions of that variable", &same, Contexts::LeftOut)));
        }
        self.choose("definition", text, &name, &same)
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
            let message = format!("`{text}` is not a place in the text");
            return Err(general(message).with_help("write it as VAR@LINE:COL, such as `x@3:9`"));
        }
        let reads = self.reads().into_iter().map(|one| one.with(Access::Read));
        let definitions = self.definitions().into_iter().filter(|one| !one.initial).map(|one| one.with(Access::Write));
        let mut all: Vec<Candidate<'_, Access>> = reads.chain(definitions).collect();
        all.sort_by_key(|one| (one.file, one.position, one.id));
        all.dedup_by_key(|one| (one.file, one.position, one.variable));
        let found = self.choose("access", text, &name, &all)?;
        found.first().copied().ok_or_else(|| general(format!("there is no access `{text}`")))
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
        let candidate = |(id, read): (ReadId, &cssame_ir::Read)| Candidate {
            id,
            variable: self.program.texts.get(read.name),
            file: self.sources.file(read.span.file).beside(),
            position: self.sources.position(read.span),
            initial: false,
            context: self.program.contexts.reads.get(&id),
            in_context: context_of_read(self.sources, self.program, id),
            threads: self.form.threads_of_read(id),
        };
        self.program.reads.entries().map(candidate).collect()
    }

    fn definitions(&self) -> Vec<Candidate<'_, DefinitionId>> {
        let candidate = |(id, definition): (DefinitionId, &cssame_ir::Definition)| Candidate {
            id,
            variable: self.program.texts.get(definition.name),
            file: self.sources.file(definition.span.file).beside(),
            position: self.sources.position(definition.span),
            initial: matches!(definition.kind, DefinitionKind::Initial(_)),
            context: self.program.contexts.definitions.get(&id),
            in_context: context_of_definition(self.sources, self.program, id),
            threads: self.form.threads_of_definition(id),
        };
        self.program.definitions.entries().map(candidate).collect()
    }
}

impl<'a, I> Candidate<'a, I> {
    /// The same with an id of another kind.
    fn with<J>(self, other: impl FnOnce(I) -> J) -> Candidate<'a, J> {
        let Candidate { id, variable, file, position, initial, context, in_context, threads } = self;
        Candidate { id: other(id), variable, file, position, initial, context, in_context, threads }
    }

    /// `x@3:9`, in its context if that is asked for: contexts may be many.
    fn shown(&self, contexts: Contexts) -> String {
        if let (Contexts::Told, Some(name)) = (contexts, &self.in_context) {
            return name.clone();
        }
        match (self.initial, self.file) {
            (true, _) => format!("{}@initial", self.variable),
            (false, None) => format!("{}@{}", self.variable, self.position),
            (false, Some(file)) => format!("{}@{file}:{}", self.variable, self.position),
        }
    }
}

impl Lookup<'_> {
    /// Whether a name means a candidate: what the name leaves out may be anything.
    fn fits<I>(&self, one: &Candidate<'_, I>, name: &Name<'_>) -> bool {
        let placed = match name.place {
            Place::Initial => one.initial,
            Place::Line(line) => !one.initial && one.position.line == line,
            Place::At(position) => !one.initial && one.position == position,
        };
        let texts = &self.program.texts;
        let meant = one.context.map(|context| texts.get(context.variable));
        placed
            && (one.initial || one.file == name.file)
            && (one.variable == name.variable || meant == Some(name.variable))
            && name.thread.is_none_or(|thread| self.is_run_by(one, thread))
            && self.comes_through(one, &name.calls)
    }

    fn is_run_by<I>(&self, one: &Candidate<'_, I>, thread: &str) -> bool {
        match one.context {
            Some(context) => self.program.texts.get(context.thread) == thread,
            None => one.threads.iter().any(|&of| self.form.concurrency.threads[of].path == thread),
        }
    }

    /// Whether the calls on the way to a candidate are these, or these and others between them.
    fn comes_through<I>(&self, one: &Candidate<'_, I>, calls: &[(Option<&str>, Position)]) -> bool {
        let mut way = one.context.into_iter().flat_map(|context| &context.calls);
        let place = |call: Span| (self.sources.file(call.file).beside(), self.sources.position(call));
        calls.iter().all(|&wanted| way.any(|&call| place(call) == wanted))
    }

    /// The candidates of one place that a name means.
    fn choose<I: Copy>(
        &self,
        kind: &str,
        text: &str,
        name: &Name<'_>,
        candidates: &[Candidate<'_, I>],
    ) -> Result<Vec<I>, Diagnostic> {
        let fitting: Vec<&Candidate<'_, I>> = candidates.iter().filter(|one| self.fits(one, name)).collect();
        let is_at = |one: &Candidate<'_, I>, other: &Candidate<'_, I>| {
            (one.initial, one.file, one.position) == (other.initial, other.file, other.position)
                && one.context.is_some() == other.context.is_some()
        };
        match fitting.as_slice() {
            [] => Err(unknown(kind, text, name, candidates)),
            [only] => Ok(vec![only.id]),
            [first, rest @ ..] if first.context.is_some() && rest.iter().all(|one| is_at(one, first)) => {
                Ok(fitting.iter().map(|one| one.id).collect())
            }
            several => {
                let message = format!("`{text}` may mean {} {}", several.len(), plural_of(kind));
                Err(general(message)
                    .with_note(list("they are", several, Contexts::LeftOut))
                    .with_help("add the column: VAR@LINE:COL"))
            }
        }
    }
}

/// Says what could have been meant: the same variable elsewhere, else what stands on that line.
fn unknown<I: Copy>(kind: &str, text: &str, name: &Name<'_>, candidates: &[Candidate<'_, I>]) -> Diagnostic {
    let diagnostic = general(format!("there is no {kind} `{text}`"));
    let is_in_context = name.thread.is_some() || !name.calls.is_empty();
    let contexts = if is_in_context { Contexts::Told } else { Contexts::LeftOut };
    let same: Vec<&Candidate<'_, I>> = candidates.iter().filter(|one| one.variable == name.variable).collect();
    if !same.is_empty() {
        return diagnostic.with_note(list(&format!("{} of `{}`", plural_of(kind), name.variable), &same, contexts));
    }
    let line = match name.place {
        Place::Initial => None,
        Place::Line(line) | Place::At(Position { line, .. }) => Some(line),
    };
    let near: Vec<&Candidate<'_, I>> =
        candidates.iter().filter(|one| !one.initial && Some(one.position.line) == line).collect();
    match line {
        Some(line) if !near.is_empty() => {
            diagnostic.with_note(list(&format!("{} on line {line}", plural_of(kind)), &near, contexts))
        }
        _ => diagnostic.with_note(format!("the program has no shared variable `{}`", name.variable)),
    }
}

/// `reads of a: a@3:4, a@5:6`
fn list<I>(title: &str, candidates: &[&Candidate<'_, I>], contexts: Contexts) -> String {
    let mut sorted: Vec<(bool, Position, String)> =
        candidates.iter().map(|one| (!one.initial, one.position, one.shown(contexts))).collect();
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

/// Splits `THREAD:VAR@LINE:COL#K~CALL`.
fn parse<'a>(text: &'a str, kind: &str) -> Result<Name<'a>, Diagnostic> {
    let malformed = || {
        general(format!("`{text}` names no {kind}"))
            .with_help("write it as VAR@LINE:COL, such as `x@3:9`, or VAR@LINE where that is unique")
    };
    // The path of a thread may hold `@`, but no `~`.
    let (head, way) = text.split_once('~').map_or((text, None), |(head, way)| (head, Some(way)));
    let (left, place) = head.rsplit_once('@').ok_or_else(malformed)?;
    let (thread, variable) = left.rsplit_once(':').map_or((None, left), |(thread, variable)| (Some(thread), variable));
    if variable.is_empty() || thread.is_some_and(str::is_empty) {
        return Err(malformed());
    }
    // The instance may stand behind the place or behind the calls.
    let (place, behind_place) = place.split_once('#').map_or((place, None), |(place, of)| (place, Some(of)));
    let (way, behind_way) = match way {
        Some(way) => way.split_once('#').map_or((Some(way), None), |(way, of)| (Some(way), Some(of))),
        None => (None, None),
    };
    let instance = match behind_place.or(behind_way) {
        Some(instance) => Some(number(instance).ok_or_else(malformed)?),
        None => None,
    };
    let (file, place) = match place {
        "initial" => (None, Place::Initial),
        _ => {
            let in_file = place.rsplit_once(':').map_or((None, place), |(file, line)| (Some(file), line));
            let at = Position::parse(place).map(|(file, position)| (file, Place::At(position)));
            let line = || Some((in_file.0, Place::Line(number(in_file.1)?)));
            at.or_else(line).ok_or_else(malformed)?
        }
    };
    let calls: Option<Vec<_>> = way.into_iter().flat_map(|way| way.split('~')).map(Position::parse).collect();
    Ok(Name { thread, variable, file, place, calls: calls.ok_or_else(malformed)?, instance })
}

/// A number from 1.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&number| number > 0)
}
