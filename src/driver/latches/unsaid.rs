//! The constructs that the paper's form cannot express.
//!
//! **Input**: a program. **Output**: the places of all constructs without versions that have one latch each ([`Unsaid`]).
//!
//! **Algorithm**: a version is a field that is assigned once. So each function runs once, and no shared variable is read or
//! written in a loop. Data whose parts have no separate names (arrays, objects) has no versions. Any construct other than reads,
//! definitions and the operations of the form is refused by its name.
//!
//! **Soundness and limits**: the module does not recognise a block on a cycle of the flow graph that runs only once because of
//! its values.

use super::sites::Sites;
use crate::Input;
use cssame_ir::sync::Kind;
use cssame_ir::{BlockId, FunctionId, Instruction, LeafKind, Operand, Place, RegisterType, ScalarType, Type, Variable};
use cssame_source::Span;

/// Terms that a pi function can have: a method of Java takes 255 words of arguments, and a `double` is two.
const MAX_ARGUMENTS: usize = 120;

/// A construct that the form cannot say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaid {
    /// Where it is.
    pub span: Span,
    /// What it is: ``the array `t` ``.
    pub construct: String,
    /// Why the form cannot say it.
    pub reason: &'static str,
}

/// All constructs of a program that the form cannot say, in the order of the text.
pub(super) fn find_unsaid(input: &Input<'_>, sites: &Sites<'_>) -> Vec<Unsaid> {
    let mut finder = Finder { input, sites, found: Vec::new(), references: Vec::new() };
    finder.variables();
    for &id in &sites.functions {
        finder.function(id);
    }
    let Finder { mut found, references, .. } = finder;
    if found.is_empty() {
        found = references;
    }
    found.sort_by_key(|unsaid| unsaid.span);
    found.dedup();
    found
}

struct Finder<'f, 'a> {
    input: &'f Input<'a>,
    sites: &'f Sites<'a>,
    found: Vec<Unsaid>,
    /// What is reached by a reference that is not followed. Where this has another reason, that is told alone.
    references: Vec<Unsaid>,
}

impl Finder<'_, '_> {
    fn add(&mut self, span: Span, construct: impl Into<String>, reason: &'static str) {
        self.found.push(Unsaid { span, construct: construct.into(), reason });
    }

    fn add_reference(&mut self, span: Span) {
        let reason = "it is not certain what it leads to";
        self.references.push(Unsaid { span, construct: "a reference".to_owned(), reason });
    }

    fn variables(&mut self) {
        for variable in self.input.program.variables.iter() {
            if self.sites.has(variable.storage) {
                self.variable(variable);
            }
        }
    }

    fn variable(&mut self, variable: &Variable) {
        let name = self.input.program.texts.get(variable.name);
        match variable.ty {
            Type::Array(_) => self.add(variable.span, format!("the array `{name}`"), "an element has no versions"),
            Type::Class(_) => {
                self.add(variable.span, format!("the object `{name}`"), "a field has one version for all objects");
            }
            Type::Single(LeafKind::ReentrantLock) => {
                self.add(variable.span, format!("the reentrant lock `{name}`"), "its locks are plain ones");
            }
            Type::Single(LeafKind::RwLock) => {
                self.add(variable.span, format!("the readers-writer lock `{name}`"), "its locks are plain ones");
            }
            Type::Single(LeafKind::Condition) => {
                self.add(variable.span, format!("the condition `{name}`"), "nothing selects which thread is woken");
            }
            Type::Single(_) => {}
        }
    }

    fn function(&mut self, id: FunctionId) {
        let function = &self.input.program.functions[id];
        let name = self.input.program.texts.get(function.name);
        match self.sites.of(id) {
            [] => {}
            [site] if site.in_loop => {
                self.add(site.span, format!("`{name}` in a loop"), "its versions would be defined more than once");
            }
            [_] => {}
            [_, others @ ..] => {
                for other in others {
                    let construct = format!("another run of `{name}`");
                    self.add(other.span, construct, "its versions would be defined more than once");
                }
            }
        }
        for (block, content) in function.blocks.entries() {
            for (instruction, &span) in content.instructions.iter().zip(&content.spans) {
                self.instruction((id, block), instruction, span);
            }
        }
    }

    fn instruction(&mut self, (id, block): (FunctionId, BlockId), instruction: &Instruction, span: Span) {
        match instruction {
            Instruction::Load { place, read, .. } => {
                let name = self.input.program.texts.get(self.input.program.reads[*read].name);
                self.access((id, block), place, (self.input.program.reads[*read].span, "read", name));
                if self.input.form.terms(*read).len() > MAX_ARGUMENTS {
                    self.add(span, format!("the read of `{name}`"), "a method of Java has not that many arguments");
                }
            }
            Instruction::Store { place, definition, .. } => {
                let definition = &self.input.program.definitions[*definition];
                let name = self.input.program.texts.get(definition.name);
                self.access((id, block), place, (span, "definition", name));
            }
            Instruction::Atomic { .. } => {
                self.add(span, "an atomic expression", "its read and its definition are one step");
            }
            Instruction::AtomicBegin => self.add(span, "an atomic block", "each read and each definition is a step"),
            Instruction::AtomicEnd => {}
            Instruction::Choose { .. } => self.add(span, "a choice", "nothing but a read can be selected"),
            Instruction::Assume { .. } => self.add(span, "an assumption", "each run of a test counts"),
            Instruction::Fork { bounds: Some(_), .. } => {
                self.add(span, "`parfor`", "all its threads would define the same versions");
            }
            Instruction::Synchronise(operation) if !is_known(operation.kind) => {
                let construct = format!("`{}`", operation.kind.word());
                self.add(span, construct, "its operations are those of locks, events, barriers and semaphores");
            }
            Instruction::Synchronise(operation)
                if operation.places().any(|place| self.sites.variable(id, place).is_none()) =>
            {
                self.add_reference(span);
            }
            Instruction::Print { arguments, .. } if arguments.iter().any(|one| one.ty == ScalarType::Thread) => {
                self.add(span, "a handle that is printed", "its threads have no numbers");
            }
            Instruction::Copy { dest, source: Operand::Register(_) }
                if self.input.program.functions[id].registers[*dest].ty == RegisterType::Reference =>
            {
                self.add_reference(span);
            }
            _ => {}
        }
    }

    /// An access to memory: of what is shared, in a loop or through a reference that may lead to several variables.
    fn access(&mut self, (id, block): (FunctionId, BlockId), place: &Place, (span, what, name): (Span, &str, &str)) {
        let Some(variable) = self.sites.variable(id, place) else {
            return self.add_reference(span);
        };
        let shared = &self.input.form.concurrency.sharing.leaves;
        let is_shared = self.input.program.variables[variable].leaves().any(|leaf| shared.contains(leaf.index()));
        if is_shared && self.sites.in_loop(id, block) {
            self.add(span, format!("the {what} of `{name}` in a loop"), "its version is assigned once");
        }
    }
}

/// Whether the runtime has an operation.
fn is_known(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Lock
            | Kind::Unlock
            | Kind::Set
            | Kind::Clear
            | Kind::WaitEvent
            | Kind::Barrier
            | Kind::Acquire
            | Kind::Release
    )
}
