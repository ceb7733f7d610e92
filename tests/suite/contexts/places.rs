//! The places of a program in their contexts: what the interpreter calls them, and what the product does.

use cssame::form::{definition_in_context, definition_name, read_in_context, read_name};
use cssame::ir::{AccessContext, DefinitionId, LeafId, ReadId};
use cssame::model::Model;
use std::collections::{BTreeMap, BTreeSet};
use support::oracle::{Explored, Located, Options, Visible, explore_source};
use support::possible_model;

pub type Pair = (ReadId, DefinitionId);

/// A program, and the places of its reads and definitions in their contexts.
pub struct Contexts {
    pub plain: Model,
    /// With a copy of each function for each context; none where no place has two.
    pub copies: Option<Model>,
}

impl Contexts {
    pub fn new(source: &str) -> Option<Contexts> {
        let plain = possible_model(source)?;
        Some(Contexts { copies: plain.in_contexts(), plain })
    }

    pub fn model(&self) -> &Model {
        self.copies.as_ref().unwrap_or(&self.plain)
    }

    pub fn read_name(&self, read: ReadId) -> String {
        read_in_context(self.model().sources(), self.model().program(), read)
    }

    pub fn definition_name(&self, definition: DefinitionId) -> String {
        definition_in_context(self.model().sources(), self.model().program(), definition)
    }

    pub fn pair_name(&self, pair: &Pair) -> String {
        format!("{}={}", self.read_name(pair.0), self.definition_name(pair.1))
    }

    /// All that the interpreter sees, by all interleavings of what is a step: of the variables that are shared, and of those that
    /// are accessed at a place where in another context a shared one is.
    pub fn explore(&self, source: &str, max_executions: u64, profiles: bool) -> Result<Explored, String> {
        let (sources, program) = (self.plain.sources(), self.plain.program());
        let sharing = &self.plain.form().concurrency.sharing;
        let name = |leaf| program.texts.get(program.leaves[LeafId::new(leaf)].name).to_owned();
        let mut visible: BTreeSet<String> = sharing.leaves.ones().map(name).collect();
        let reads = program.reads.ids().filter(|&read| sharing.read(read));
        let reads: BTreeSet<String> = reads.map(|read| read_name(sources, program, read)).collect();
        let definitions = program.definitions.ids().filter(|&one| sharing.definition(one));
        let definitions: BTreeSet<String> = definitions.map(|one| definition_name(sources, program, one)).collect();
        loop {
            let options = Options {
                visible: Visible::Named(visible.clone()),
                max_executions,
                futures: false,
                contexts: true,
                profiles,
                ..Options::default()
            };
            let explored = explore_source(source, &options)?;
            let before = visible.len();
            for (read, write, _) in &explored.located {
                if reads.contains(&read.name) || definitions.contains(&write.name) {
                    visible.insert(read.variable.clone());
                }
            }
            if visible.len() == before {
                return Ok(explored);
            }
        }
    }
}

/// Two parameters of one name have initial values of one name: what the interpreter says of them is not looked at.
pub const AMBIGUOUS: &str = "ambiguous";

/// The places of the model in contexts by their names in the text.
pub struct Index<'a> {
    model: &'a Model,
    reads: BTreeMap<String, Vec<ReadId>>,
    definitions: BTreeMap<String, Vec<DefinitionId>>,
    pub shared: BTreeSet<ReadId>,
    /// Names of the shared variables.
    variables: BTreeSet<String>,
}

impl<'a> Index<'a> {
    pub fn new(model: &'a Model) -> Index<'a> {
        let (sources, program) = (model.sources(), model.program());
        let leaves = model.form().concurrency.sharing.leaves.ones();
        let variables = leaves.map(|leaf| program.texts.get(program.leaves[LeafId::new(leaf)].name).to_owned());
        let mut index = Index {
            model,
            reads: BTreeMap::new(),
            definitions: BTreeMap::new(),
            variables: variables.collect(),
            shared: model.form().shared_reads().into_iter().collect(),
        };
        for read in program.reads.ids() {
            index.reads.entry(read_name(sources, program, read)).or_default().push(read);
        }
        for definition in program.definitions.ids() {
            index.definitions.entry(definition_name(sources, program, definition)).or_default().push(definition);
        }
        index
    }

    /// The read that a place in its calls is.
    pub fn read(&self, at: &Located) -> Result<ReadId, String> {
        let program = self.model.program();
        let context = |read: ReadId| (program.contexts.reads.get(&read), program.texts.get(program.reads[read].name));
        self.only(at, self.reads.get(&at.name), context)
    }

    pub fn definition(&self, at: &Located) -> Result<DefinitionId, String> {
        let program = self.model.program();
        let of = |one: DefinitionId| {
            (program.contexts.definitions.get(&one), program.texts.get(program.definitions[one].name))
        };
        self.only(at, self.definitions.get(&at.name), of)
    }

    fn only<'p, I: Copy>(
        &'p self,
        at: &Located,
        candidates: Option<&Vec<I>>,
        context: impl Fn(I) -> (Option<&'p AccessContext>, &'p str),
    ) -> Result<I, String> {
        let program = self.model.program();
        let candidates = candidates.map_or(&[][..], Vec::as_slice);
        let calls = |of: &AccessContext| -> Vec<String> {
            of.calls.iter().map(|&call| self.model.sources().position(call).to_string()).collect()
        };
        let fits = |&one: &I| {
            context(one).0.is_none_or(|of| {
                let thread = program.texts.get(of.thread);
                is_thread(thread, &at.thread) && (is_merged(thread) || calls(of) == at.calls)
            })
        };
        let mut found: Vec<I> = candidates.iter().copied().filter(fits).collect();
        // Locals of two functions may have one name; the calls tell which of the two was called.
        let is_told = |&one: &I| context(one).0.is_some_and(|of| !is_merged(program.texts.get(of.thread)));
        if found.iter().filter(|one| is_told(one)).count() == 1 {
            found.retain(is_told);
        }
        if found.len() > 1 && found.iter().all(|&one| context(one).0.is_none()) {
            return Err(format!("{AMBIGUOUS}: {}", at.name));
        }
        let [one] = found[..] else {
            let listed = candidates.iter().map(|&one| match context(one).0 {
                Some(of) => format!("{} {:?}", program.texts.get(of.thread), calls(of)),
                None => "no context".to_owned(),
            });
            return Err(format!("context: {} are {at:?} of {:?}", found.len(), listed.collect::<Vec<_>>()));
        };
        if let (Some(of), written) = context(one) {
            let named = program.texts.get(of.variable);
            let element = at.element.map(|element| format!("{}[{element}]", at.variable));
            if named != at.variable && Some(named) != element.as_deref() && named != written {
                return Err(format!("object: {at:?} is called {named}"));
            }
        }
        Ok(one)
    }

    /// The pairs that happen, of reads that are shared.
    pub fn realised(&self, explored: &Explored) -> Result<BTreeSet<Pair>, String> {
        let mut pairs = BTreeSet::new();
        for (read, write, is_step) in &explored.located {
            let pair = (self.read(read)?, self.definition(write)?);
            // What is a step only because another context of its place is one need not be shared.
            if *is_step && self.variables.contains(&read.variable) || self.shared.contains(&pair.0) {
                pairs.insert(pair);
            }
        }
        Ok(pairs)
    }

    pub fn terms(&self) -> BTreeSet<Pair> {
        let form = self.model.form();
        self.shared.iter().flat_map(|&read| form.terms(read).into_iter().map(move |term| (read, term))).collect()
    }
}

/// Where calls are not told apart.
fn is_merged(thread: &str) -> bool {
    thread.is_empty() || thread.starts_with("any thread")
}

/// Whether the path of a thread is that of a context: `#2` is left out there, and the number where it stands for several.
fn is_thread(context: &str, path: &str) -> bool {
    if is_merged(context) {
        return true;
    }
    let (context, path): (Vec<&str>, Vec<&str>) = (context.split('/').collect(), path.split('/').collect());
    let is_part = |(named, part): (&&str, &&str)| {
        let part = part.split('#').next().unwrap_or_default();
        match named.strip_suffix("[*]") {
            Some(named) => part.split('[').next() == Some(named),
            None => *named == part,
        }
    };
    context.len() == path.len() && context.iter().zip(&path).all(is_part)
}
