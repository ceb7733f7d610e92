//! Determines which calling contexts get a copy of their function.
//!
//! **Input**: a program and its contexts ([`super::context`]). **Output**: [`Copies`]: for each copy of a function, the contexts
//! for which it stands, with the thread and the calls that distinguish it from others.
//!
//! **Algorithm**
//! 1. Label each context by its thread and by the calls on the path to it, in its thread and in the threads that created it. A
//!    label is stored as a chain: the label of the caller, and one more call.
//! 2. Contexts of one function with equal labels are one copy.
//! 3. If the copies produce more than [`MAX_PAIRS`] pairs of a read and a definition of one variable, and more than there are in
//!    the text, remove the calls from the labels of the functions that access the most copied variables. If that is not enough,
//!    remove the threads as well.
//!
//! **Soundness and limits**: callers with one label lead to callees with one label, because a label contains the label of the
//! caller. So a call of a copy leads to one copy. Fewer labels only lose precision.

use super::context::{Site, Unfolding};
use super::{ContextId, ThreadId};
use cssame_ir::{FunctionId, Instruction, Program, SymbolId};
use cssame_source::Span;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Pairs of a read and a definition that copies may have in any case.
const MAX_PAIRS: u64 = 50_000;

/// A function in a context that is told from others.
pub(super) struct Copy {
    /// The function that it is a copy of.
    pub origin: FunctionId,
    /// Its own id.
    pub function: FunctionId,
    /// The contexts that it stands for.
    pub contexts: Vec<ContextId>,
    /// The thread, if that tells it from others.
    pub thread: Option<ThreadId>,
    /// The calls on the way there.
    chain: Chain,
}

/// All copies.
pub(super) struct Copies {
    /// In the order of threads and calls.
    pub list: Vec<Copy>,
    /// By context: the place of its copy in the list.
    pub of_context: Vec<usize>,
    /// Whether contexts are one copy that could be told apart.
    pub merged: bool,
    chains: IndexSet<(Chain, Span), FxBuildHasher>,
}

/// Calls: nothing, or a chain and one more call, by its place among all chains.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Chain(Option<u32>);

/// What tells a context from others of its function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Label {
    thread: Option<ThreadId>,
    chain: Chain,
}

/// By what the contexts of a function are told apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Calls,
    Thread,
    Nothing,
}

impl Copies {
    /// The calls on the way to a copy, the outermost first.
    pub fn calls(&self, copy: &Copy) -> Vec<Span> {
        let mut calls = Vec::new();
        let mut at = copy.chain;
        while let Chain(Some(index)) = at {
            let Some(&(before, call)) = self.chains.get_index(index as usize) else { break };
            calls.push(call);
            at = before;
        }
        calls.reverse();
        calls
    }
}

/// Finds the copies.
pub(super) fn find_copies(program: &Program, unfolding: &Unfolding) -> Copies {
    let finder = Finder {
        program,
        unfolding,
        spans: call_spans(program, unfolding),
        threads: first_threads(unfolding),
        accesses: program.functions.ids().map(|function| accesses(program, function)).collect(),
    };
    let mut levels = vec![Level::Calls; program.functions.len()];
    let allowed = MAX_PAIRS.max(finder.pairs(&vec![1; program.functions.len()]).1);
    for lowered in [Level::Thread, Level::Nothing] {
        let copies = finder.copies(&levels);
        let (of_symbol, pairs) = finder.pairs(&copies.counts(program));
        if pairs <= allowed {
            return copies;
        }
        finder.lower(&mut levels, lowered, &of_symbol, pairs - allowed);
    }
    // The label of a context with merged callers is not made of theirs: it may have a thread where they have none.
    let is_made_of_callers = unfolding.contexts.ids().all(|context| !unfolding.is_merged(context));
    let copies = finder.copies(&levels);
    if is_made_of_callers && finder.pairs(&copies.counts(program)).1 <= allowed {
        return copies;
    }
    finder.copies(&vec![Level::Nothing; program.functions.len()])
}

impl Copies {
    /// By function: how many copies it has.
    fn counts(&self, program: &Program) -> Vec<u64> {
        let mut counts = vec![0; program.functions.len()];
        for copy in &self.list {
            counts[copy.origin.index()] += 1;
        }
        counts
    }
}

struct Finder<'a> {
    program: &'a Program,
    unfolding: &'a Unfolding,
    spans: FxHashMap<ContextId, Span>,
    /// By thread: the first one with its path.
    threads: Vec<ThreadId>,
    /// By function: the symbols of its reads and of its definitions.
    accesses: Vec<(Vec<SymbolId>, Vec<SymbolId>)>,
}

impl Finder<'_> {
    fn copies(&self, levels: &[Level]) -> Copies {
        let (labels, chains) = self.labels(levels);
        let mut contexts: Vec<(Label, ContextId)> = labels.into_iter().zip(self.unfolding.contexts.ids()).collect();
        contexts.sort_unstable();
        let mut known: FxHashMap<(FunctionId, Label), usize> = FxHashMap::default();
        let mut functions = vec![false; self.program.functions.len()];
        let mut count = functions.len();
        let mut copies = Copies {
            list: Vec::new(),
            of_context: vec![0; contexts.len()],
            merged: levels.iter().any(|&level| level != Level::Calls),
            chains,
        };
        for (label, id) in contexts {
            let origin = self.unfolding.contexts[id].function;
            let list = &mut copies.list;
            let index = *known.entry((origin, label)).or_insert_with(|| {
                let is_first = !std::mem::replace(&mut functions[origin.index()], true);
                let function = if is_first { origin } else { FunctionId::new(count) };
                count += usize::from(!is_first);
                list.push(Copy { origin, function, contexts: Vec::new(), thread: label.thread, chain: label.chain });
                list.len() - 1
            });
            copies.list[index].contexts.push(id);
            copies.of_context[id.index()] = index;
        }
        copies
    }

    /// The labels of all contexts. A caller comes before what it calls.
    fn labels(&self, levels: &[Level]) -> (Vec<Label>, IndexSet<(Chain, Span), FxBuildHasher>) {
        let mut chains: IndexSet<(Chain, Span), FxBuildHasher> = IndexSet::default();
        let mut labels: Vec<Label> = Vec::with_capacity(self.unfolding.contexts.len());
        for (id, context) in self.unfolding.contexts.entries() {
            // Who calls a context that stands for many calls is not known.
            let caller = context.caller.filter(|_| !self.unfolding.is_merged(id));
            let of_caller = caller.and_then(|caller| labels.get(caller.index())).copied();
            let before = of_caller.map_or(Chain(None), |label| label.chain);
            let chain = match self.spans.get(&id) {
                Some(&span) => Chain(Some(chains.insert_full((before, span)).0 as u32)),
                None => before,
            };
            let thread = self.threads[context.thread.index()];
            let is_known = of_caller.is_none_or(|label| label.thread.is_some());
            let label = Label { thread: is_known.then_some(thread), chain };
            labels.push(match levels[context.function.index()] {
                Level::Calls => label,
                Level::Thread => Label { chain: Chain(None), ..label },
                Level::Nothing => Label { chain: Chain(None), thread: None },
            });
        }
        (labels, chains)
    }

    /// For each symbol the pairs of a read and a definition, and how many there are in all.
    fn pairs(&self, counts: &[u64]) -> (Vec<u64>, u64) {
        let mut reads = vec![0u64; self.program.symbols.len()];
        let mut definitions = reads.clone();
        for (of_function, &count) in self.accesses.iter().zip(counts) {
            of_function.0.iter().for_each(|symbol| reads[symbol.index()] += count);
            of_function.1.iter().for_each(|symbol| definitions[symbol.index()] += count);
        }
        let pairs: Vec<u64> = reads.iter().zip(&definitions).map(|(&r, &d)| r.saturating_mul(d)).collect();
        let all = pairs.iter().copied().fold(0, u64::saturating_add);
        (pairs, all)
    }

    /// Lowers the functions that access the symbols with the most pairs, as many as have so many pairs too many together.
    fn lower(&self, levels: &mut [Level], lowered: Level, of_symbol: &[u64], excess: u64) {
        let mut symbols: Vec<usize> = (0..of_symbol.len()).collect();
        symbols.sort_by_key(|&symbol| std::cmp::Reverse(of_symbol[symbol]));
        let mut left = excess;
        let mut chosen: FxHashSet<SymbolId> = FxHashSet::default();
        for symbol in symbols {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(of_symbol[symbol]);
            chosen.insert(SymbolId::new(symbol));
        }
        for (level, (reads, definitions)) in levels.iter_mut().zip(&self.accesses) {
            if reads.iter().chain(definitions).any(|symbol| chosen.contains(symbol)) {
                *level = (*level).max(lowered);
            }
        }
    }
}

/// The symbols that a function reads and those that it writes, once for each place.
fn accesses(program: &Program, function: FunctionId) -> (Vec<SymbolId>, Vec<SymbolId>) {
    let (mut reads, mut definitions) = (Vec::new(), Vec::new());
    for instruction in program.functions[function].blocks.iter().flat_map(|block| &block.instructions) {
        match instruction {
            Instruction::Load { read, .. } => reads.push(program.reads[*read].symbol),
            Instruction::Store { definition, .. } | Instruction::Free { definition, .. } => {
                definitions.push(program.definitions[*definition].symbol)
            }
            Instruction::Atomic { read, definition, .. } => {
                reads.push(program.reads[*read].symbol);
                definitions.push(program.definitions[*definition].symbol);
            }
            _ => {}
        }
    }
    (reads, definitions)
}

/// By thread: the first one that has the same path.
fn first_threads(unfolding: &Unfolding) -> Vec<ThreadId> {
    let mut known: FxHashMap<&str, ThreadId> = FxHashMap::default();
    let threads = unfolding.threads.entries();
    threads.map(|(id, thread)| *known.entry(thread.path.as_str()).or_insert(id)).collect()
}

/// The call or the spawn that leads to each context for the first time; none for forks, which the thread tells.
fn call_spans(program: &Program, unfolding: &Unfolding) -> FxHashMap<ContextId, Span> {
    let span = |&Site { context, block, position, .. }: &Site| {
        let function = &program.functions[unfolding.contexts[context].function];
        function.blocks[block].spans[position as usize]
    };
    let mut spans: FxHashMap<ContextId, Span> = FxHashMap::default();
    let mut note = |target: ContextId, caller: ContextId, span: Span| {
        if unfolding.contexts[target].caller == Some(caller) && !unfolding.is_merged(target) {
            let first = spans.entry(target).or_insert(span);
            *first = (*first).min(span);
        }
    };
    for (site, &target) in &unfolding.calls {
        note(target, site.context, span(site));
    }
    for (site, threads) in &unfolding.forks {
        for &thread in threads.iter().filter(|&&thread| unfolding.threads[thread].spawned) {
            note(unfolding.threads[thread].root, site.context, span(site));
        }
    }
    spans
}
