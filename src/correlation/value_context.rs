//! Calling contexts by value: functions distinguished by the sources of their value parameters.
//!
//! **Input**: a program whose functions are distinguished by the bindings of their parameters ([`super::binding`]), and the data
//! flow in each function. **Output**: the same program, in which a function that gets values of several origins has one copy for
//! each origin. So an argument flows only to the writes of its own context: of `put(20)` and `put(rate)`, only one writes a value
//! computed from `rate`.
//!
//! **Algorithm** (cloning along the call graph, starting at the functions called from outside)
//! 1. The origin of an argument is the set of variables from which it is computed, including the origins of the caller's
//!    parameters in its context. Constants have an empty origin, so all constants have the same one.
//! 2. At each call, fork and spawn, the origins of all arguments identify the context of the callee. The first context of a
//!    function is the function itself; each further context is a copy.
//! 3. The copy refers to the same objects and constants as the function; its calls are renamed.
//!
//! **Soundness and limits**: a function of the text has at most [`MAX_CONTEXTS`] copies, including those for objects. Further
//! contexts share the function itself, which then receives the arguments of all their calls.

use super::assignment::MAX_ARGUMENTS;
use super::binding::{AccessSite, BoundProgram, Target};
use super::function::{FunctionSources, Site};
use super::source_variable::SourceVariableId;
use super::sources::Sources;
use cssame_ir::{BlockId, Function, FunctionId, FunctionKind, Instruction, Program};
use cssame_source::arena::Arena;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::VecDeque;

/// Copies of one function of the text, beyond which contexts are not told apart.
const MAX_CONTEXTS: usize = 16;

/// What the parameters of a function get in a context; none where it is called from outside.
type Origins = Option<Vec<(SourceVariableId, Vec<SourceVariableId>)>>;

/// What is known of the parameters in a context.
type Known = FxHashMap<SourceVariableId, Sources>;

struct Splitter<'a> {
    bound: &'a BoundProgram<'a>,
    sources: &'a [FunctionSources],
    /// The functions, as they are bound, with their copies.
    functions: Arena<FunctionId, Function>,
    /// The bound function that each one is.
    copied: Vec<FunctionId>,
    known: FxHashMap<(FunctionId, Origins), FunctionId>,
    /// Whether a bound function has a context.
    reached: Vec<bool>,
    /// Number of functions that stand for one of the text.
    counts: FxHashMap<FunctionId, usize>,
    waiting: VecDeque<(FunctionId, Known)>,
}

/// A copy of each function for each origin of its values; nothing where no function gets values of several.
pub(super) fn split<'a>(bound: &BoundProgram<'a>, sources: &[FunctionSources]) -> Option<BoundProgram<'a>> {
    let ids = || bound.program.functions.ids();
    let mut counts: FxHashMap<FunctionId, usize> = FxHashMap::default();
    ids().for_each(|id| *counts.entry(bound.origin(id)).or_default() += 1);
    let mut splitter = Splitter {
        bound,
        sources,
        functions: bound.program.functions.clone(),
        copied: ids().collect(),
        known: FxHashMap::default(),
        reached: vec![false; bound.program.functions.len()],
        counts,
        waiting: VecDeque::new(),
    };
    splitter.run();
    (splitter.copied.len() > bound.program.functions.len()).then(|| splitter.finish())
}

impl Splitter<'_> {
    fn run(&mut self) {
        for (id, function) in self.bound.program.functions.entries() {
            let outside = match self.bound.program.main {
                Some(main) => id == main,
                None => !matches!(function.kind, FunctionKind::Arm | FunctionKind::Method { public: false }),
            };
            // The copies of a function for its objects are made for calls, none of them for outside.
            if outside && self.bound.origin(id) == id {
                self.context(id, None, Known::default());
            }
        }
        self.follow();
        for id in self.bound.program.functions.ids() {
            if !self.reached[id.index()] {
                self.context(id, None, Known::default());
                self.follow();
            }
        }
    }

    fn follow(&mut self) {
        while let Some((id, known)) = self.waiting.pop_front() {
            let sources = self.sources;
            for site in &sources[self.copied[id.index()].index()].sites {
                let callee = self.call(&known, site);
                self.rename(id, site, callee);
            }
        }
    }

    /// The function that a call means in a context of its caller.
    fn call(&mut self, known: &Known, site: &Site) -> FunctionId {
        let resolved = |sources: &Sources| {
            let mut all = sources.clone();
            let own = sources.iter().filter_map(|source| known.get(&source));
            own.filter(|of| of.len() <= MAX_ARGUMENTS).for_each(|of| {
                all.add(of);
            });
            all
        };
        let arguments: Vec<(SourceVariableId, Sources)> =
            site.arguments.iter().map(|(variable, sources)| (*variable, resolved(sources))).collect();
        let origins = arguments.iter().map(|(variable, sources)| (*variable, sources.iter().collect())).collect();
        self.context(site.callee, Some(origins), arguments.into_iter().collect())
    }

    /// The function that stands for one in a context.
    fn context(&mut self, of: FunctionId, origins: Origins, parameters: Known) -> FunctionId {
        if let Some(&known) = self.known.get(&(of, origins.clone())) {
            return known;
        }
        let first = !std::mem::replace(&mut self.reached[of.index()], true);
        let count = self.counts.entry(self.bound.origin(of)).or_default();
        let made = if first {
            of
        } else if *count < MAX_CONTEXTS {
            *count += 1;
            self.copied.push(of);
            self.functions.push(self.bound.program.functions[of].clone())
        } else {
            of
        };
        self.known.insert((of, origins), made);
        if first || made != of {
            self.waiting.push_back((made, parameters));
        }
        made
    }

    fn rename(&mut self, caller: FunctionId, site: &Site, callee: FunctionId) {
        let block = &mut self.functions[caller].blocks[site.block];
        match block.instructions.get_mut(site.position as usize) {
            Some(Instruction::Call { function, .. }) => *function = callee,
            Some(Instruction::Spawn { thread, .. }) => thread.function = callee,
            Some(Instruction::Fork { threads, .. }) => {
                if let Some(thread) = threads.get_mut(site.thread) {
                    thread.function = callee;
                }
            }
            _ => {}
        }
    }

    /// The program with its copies, which mean the same objects and constants.
    fn finish<'a>(self) -> BoundProgram<'a> {
        let bound = self.bound;
        let count = bound.program.functions.len();
        let mut targets_of: FxHashMap<FunctionId, Vec<(BlockId, u32, Target)>> = FxHashMap::default();
        for (&(function, block, position), &target) in &bound.targets {
            targets_of.entry(function).or_default().push((block, position, target));
        }
        let mut targets: FxHashMap<AccessSite, Target> = bound.targets.clone();
        let mut constants = bound.constants.clone();
        let mut origin = bound.origin.clone();
        for (index, &of) in self.copied.iter().enumerate().skip(count) {
            let copy = FunctionId::new(index);
            origin.push(bound.origin(of));
            for &(block, position, target) in targets_of.get(&of).map_or(&[][..], Vec::as_slice) {
                targets.insert((copy, block, position), target);
            }
            for position in 0..self.functions[copy].parameters.len() as u32 {
                if let Some(&constant) = bound.constants.get(&(of, position)) {
                    constants.insert((copy, position), constant);
                }
            }
        }
        BoundProgram {
            program: Cow::Owned(Program { functions: self.functions, ..(*bound.program).clone() }),
            origin,
            targets,
            captured: bound.captured.clone(),
            index_parameters: bound.index_parameters.clone(),
            constants,
        }
    }
}
