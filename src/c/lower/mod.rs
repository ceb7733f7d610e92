//! Lowering: the typed trees of a program in C become the parallel flow graph.
//!
//! In: the units of one program, within stages 1 and 2 of the front end (`obstacles` finds nothing). Out: the [`Program`] and notes,
//! or a diagnostic for each thing that is not read.
//!
//! 1. `link` finds the one definition of each external name, `records` the structures that are one in several units.
//! 2. `scan` looks at everything that can be reached: what integers are locks and handles, how mutexes begin, what threads run (`facts`).
//! 3. `objects` gives what has static storage its cells (`shape`) and first values, `types` and `symbols` their names.
//! 4. `function` lowers each function, with `statement`, `value`, `lvalue` and the files beside them; `library` what calls of
//!    known functions mean.
//!    What each thread has of its own is lent to functions by those that call them (`own`, `private`, `specific`).
//! 5. `finish` takes out what cannot run, and `sections` looks at atomic sections.
//!
//! What it does not see: where pointers lead. An access through one is for the machine and the analyses to resolve.

mod aggregate;
mod ask;
mod assign;
mod atomic;
mod bits;
mod builder;
mod builtin;
mod bytes;
mod call;
mod choice;
mod condition;
mod constant;
mod datum;
mod declare;
mod facts;
mod finish;
mod function;
mod heap;
mod home;
mod input;
mod lengths;
mod library;
mod link;
mod locks;
mod lvalue;
mod memory;
mod naming;
mod objects;
mod operators;
mod output;
mod overflow;
mod own;
mod owner;
mod pointed;
mod private;
mod program;
mod records;
mod roles;
mod scan;
mod sections;
mod shape;
mod specific;
mod statement;
mod switch;
mod symbols;
#[cfg(test)]
mod tests;
mod threads;
mod types;
mod value;
mod wrappers;

use crate::supported::{Obstacle, Reason, obstacles};
use crate::tree::Unit;
use cssame_diagnostics::{Code, Diagnostic, Severity, sort};
use cssame_ir::Program;
use cssame_source::SourceMap;
use input::Input;

/// What the tree leaves open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The lowest and highest value of what is not determined; without them 0 and 1, or what an assumption says.
    pub nondet: Option<(i32, i32)>,
    /// Whether the other threads go on where `main` ends.
    pub main_waits: bool,
}

/// A lowered program.
#[derive(Debug)]
pub struct Lowered {
    /// The flow graph.
    pub program: Program,
    /// What was decided that the text leaves open.
    pub notes: Vec<Diagnostic>,
}

/// Why there is no lowered program.
#[derive(Debug)]
pub enum NotLowered {
    /// It holds something that is not read; sorted.
    Unread(Vec<Obstacle>),
    /// The lowering has failed, which is an error of ours.
    Failed(Diagnostic),
}

impl NotLowered {
    /// The diagnostics that refuse the program; sorted.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            NotLowered::Unread(found) => {
                let mut diagnostics: Vec<Diagnostic> = found.iter().map(Obstacle::diagnostic).collect();
                sort(&mut diagnostics);
                diagnostics
            }
            NotLowered::Failed(problem) => vec![problem.clone()],
        }
    }
}

/// Bytes of the stack: trees are as deep as the reader lets them be.
const STACK: usize = 256 << 20;

/// Lowers one program made of several units, linked: one definition of each external name, statics apart.
///
/// # Errors
/// It holds something that is not read.
pub fn lower(sources: &SourceMap, units: &[&Unit], settings: &Settings) -> Result<Lowered, NotLowered> {
    let on_stack = std::thread::scope(|scope| {
        let work = || lower_here(sources, units, settings);
        let thread = std::thread::Builder::new().name("C lowering".to_owned()).stack_size(STACK);
        thread.spawn_scoped(scope, work).map(std::thread::ScopedJoinHandle::join)
    });
    let problem = match on_stack {
        Ok(Ok(Ok(lowered))) => return Ok(lowered),
        Ok(Ok(Err(found))) => {
            let mut found = found;
            found.sort();
            found.dedup();
            return Err(NotLowered::Unread(found));
        }
        Ok(Err(_)) => "the lowering of C failed",
        Err(_) => "no thread could be started for the lowering of C",
    };
    Err(NotLowered::Failed(Diagnostic::general(Code::Internal, Severity::Error, problem)))
}

fn lower_here(sources: &SourceMap, units: &[&Unit], settings: &Settings) -> Result<Lowered, Vec<Obstacle>> {
    let links = link::Links::new(units);
    let mut found: Vec<Obstacle> = links.problems.clone();
    for unit in units {
        let others = obstacles(unit).into_iter().filter(|one| match &one.reason {
            Reason::UnknownFunction(name) | Reason::OtherFile(name) | Reason::UnknownObject(name) => {
                !links.defines(name)
            }
            _ => true,
        });
        found.extend(others);
    }
    if !found.is_empty() {
        return Err(found);
    }
    let records = records::Records::new(units);
    let mut input = Input { sources, units, settings, links, records, facts: facts::Facts::default() };
    input.facts = scan::scan(&input);
    program::lower_program(&input)
}
