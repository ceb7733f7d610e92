//! Calling contexts and static threads, before the graph is built.
//!
//! **Input**: the program. **Output**: [`Unfolding`]: the contexts that are reachable from `main`, with an abstract value for
//! each of their arguments, and for each call, fork and spawn of a context, the contexts that it leads to.
//!
//! **Algorithm** (context-sensitive constant and reference propagation)
//! 1. Choose for every function how its contexts are told apart ([`Policy`]).
//! 2. Visit contexts from a worklist. Blocks behind a branch whose condition is constant in the context are visited on the taken
//!    side only.
//! 3. At each call, fork and spawn, join the values of the arguments into the target context, and visit it again where
//!    that changed one of them.
//!
//! **Soundness and limits**: values only grow (bottom, one constant or a set of references, unknown), so the worklist ends, and
//! each argument covers all executions. A `parfor` of up to [`MAX_UNROLLED`] constant iterations is one static thread an
//! iteration; any other is one thread with several instances.

use super::policy::{BLOCK_BUDGET, Policy, choose_policies};
use super::value::{AbstractValue, Evaluator, Writers};
use super::{Context, ContextId, Instance, InstanceId, KnownReads, MAIN_THREAD, Thread, ThreadId};
use crate::ir::thread_name;
use crate::ir::{
    BlockId, FunctionId, Instruction, NewThread, Operand, Program, Storage, Terminator, ThreadLabel, VariableId,
};
use crate::source::arena::Arena;
use rustc_hash::FxHashMap;

/// A `parfor` of at most that many constant iterations is unrolled into one static thread for each.
const MAX_UNROLLED: i64 = 16;

/// Rounds in which the blocks that a context can reach are found.
const MAX_ROUNDS: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Site(ContextId, BlockId, u32, u32),
    Thread(FunctionId, ThreadId),
    Function(FunctionId),
}

/// How threads are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Creation {
    /// By a `cobegin` or `parfor`, which waits for them.
    Fork,
    /// By `spawn`.
    Spawn,
}

/// How many threads a static thread stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instances {
    One,
    Several,
}

/// Contexts, threads, and where each site of a context leads.
pub(super) struct Unfolding {
    known: KnownReads,
    pub contexts: Arena<ContextId, Context>,
    pub threads: Arena<ThreadId, Thread>,
    pub instances: Arena<InstanceId, Instance>,
    pub instance_ids: FxHashMap<(VariableId, Option<ContextId>), InstanceId>,
    pub writers: Vec<Writers>,
    pub calls: FxHashMap<(ContextId, BlockId, u32), ContextId>,
    pub forks: FxHashMap<(ContextId, BlockId, u32), Vec<ThreadId>>,
    pub reachable: Vec<Vec<BlockId>>,
    pub merged: bool,
    policies: Vec<Policy>,
    together: Vec<bool>,
    recursive: Vec<bool>,
    keys: FxHashMap<Key, ContextId>,
    thread_keys: FxHashMap<Key, ThreadId>,
    unordered: Option<ThreadId>,
    pending: Vec<ContextId>,
    queued: Vec<bool>,
}

/// How far a program is unfolded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent<'a> {
    /// The number of blocks that the unfolded program may have in any case; beyond it contexts are merged.
    pub blocks: u64,
    /// By function: bodies of a `parfor` whose iterations stay one static thread.
    pub together: &'a [bool],
}

impl Default for Extent<'_> {
    fn default() -> Self {
        Extent { blocks: BLOCK_BUDGET, together: &[] }
    }
}

/// Unfolds a program from its `main`.
pub(super) fn unfold(program: &Program, main: FunctionId, known: &KnownReads, extent: Extent<'_>) -> Unfolding {
    let plan = choose_policies(program, main, extent.blocks);
    let mut unfolding = Unfolding {
        known: known.clone(),
        contexts: Arena::new(),
        threads: Arena::new(),
        instances: Arena::new(),
        instance_ids: FxHashMap::default(),
        writers: program.functions.iter().map(Writers::of).collect(),
        calls: FxHashMap::default(),
        forks: FxHashMap::default(),
        reachable: Vec::new(),
        merged: plan.merged,
        policies: plan.policies,
        together: extent.together.to_vec(),
        recursive: plan.recursive,
        keys: FxHashMap::default(),
        thread_keys: FxHashMap::default(),
        unordered: None,
        pending: Vec::new(),
        queued: Vec::new(),
    };
    unfolding.threads.push(Thread {
        parent: None,
        path: "main".to_owned(),
        fork: 0,
        multiple: false,
        unordered: false,
        spawned: false,
        root: ContextId(0),
        region: None,
    });
    unfolding.new_context(main, MAIN_THREAD, None, 0);
    while let Some(context) = unfolding.pending.pop() {
        unfolding.queued[context.index()] = false;
        unfolding.visit(program, context);
    }
    unfolding
}

impl Unfolding {
    /// The instance of a variable in a context.
    pub fn instance(&mut self, program: &Program, variable: VariableId, context: ContextId) -> InstanceId {
        let owner = match program.variables[variable].storage {
            Storage::Global => None,
            Storage::Local(_) => Some(context),
        };
        let single = owner.is_none_or(|owner| {
            let context = &self.contexts[owner];
            !context.recursive && !self.threads[context.thread].unordered
        });
        let instances = &mut self.instances;
        *self
            .instance_ids
            .entry((variable, owner))
            .or_insert_with(|| instances.push(Instance { variable, context: owner, single, unique: owner.is_none() }))
    }

    /// Whether a context stands for calls from several places, because its function's contexts are merged.
    pub fn is_merged(&self, context: ContextId) -> bool {
        self.policies[self.contexts[context].function.index()] != Policy::Clone
    }

    /// Makes sure that the variables that a function names have instances in a context.
    fn make_instances(&mut self, program: &Program, context: ContextId) {
        let function = &program.functions[self.contexts[context].function];
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Instruction::Allocate { variable, .. } = instruction {
                self.instance(program, *variable, context);
            }
        }
    }

    /// The value of something in a context.
    pub fn evaluate<R>(&self, program: &Program, context: ContextId, f: impl FnOnce(&Evaluator<'_>) -> R) -> R {
        let of = &self.contexts[context];
        let instance = |variable: VariableId| {
            let owner = match program.variables[variable].storage {
                Storage::Global => None,
                Storage::Local(_) => Some(context),
            };
            self.instance_ids.get(&(variable, owner)).copied().unwrap_or(InstanceId(0))
        };
        f(&Evaluator {
            function: &program.functions[of.function],
            writers: &self.writers[of.function.index()],
            arguments: &of.arguments,
            instance: &instance,
            known: &self.known,
            live: Some(&self.reachable[context.index()]),
        })
    }

    fn new_context(
        &mut self,
        function: FunctionId,
        thread: ThreadId,
        caller: Option<ContextId>,
        arguments: usize,
    ) -> ContextId {
        let id = self.contexts.push(Context {
            function,
            thread,
            arguments: vec![AbstractValue::Bottom; arguments],
            caller,
            recursive: self.recursive[function.index()],
            entry: 0,
            exit: 0,
        });
        self.reachable.push(Vec::new());
        self.queued.push(true);
        self.pending.push(id);
        id
    }

    fn visit(&mut self, program: &Program, context: ContextId) {
        if self.instances.is_empty() {
            for (variable, declared) in program.variables.entries() {
                if declared.storage == Storage::Global {
                    self.instance(program, variable, context);
                }
            }
        }
        self.make_instances(program, context);
        self.find_reachable(program, context);
        let reachable = self.reachable[context.index()].clone();
        let function = &program.functions[self.contexts[context].function];
        for &block in &reachable {
            for (position, instruction) in function.blocks[block].instructions.iter().enumerate() {
                let site = (context, block, position as u32);
                match instruction {
                    Instruction::Call { function, arguments, .. } => {
                        let values = self.values(program, context, arguments);
                        let target = self.callee(*function, site);
                        self.raise(target, &values);
                        self.calls.insert(site, target);
                    }
                    Instruction::Fork { threads, bounds } => {
                        let apart = |thread: &NewThread| self.together.get(thread.function.index()) != Some(&true);
                        let bounds = bounds.filter(|_| threads.iter().all(apart));
                        let iterations = bounds.and_then(|bounds| self.trip_count(program, context, &bounds));
                        let made = self.fork(program, site, threads, iterations, Creation::Fork);
                        self.forks.insert(site, made);
                    }
                    Instruction::Spawn { thread, .. } => {
                        let made = self.fork(program, site, std::slice::from_ref(thread), None, Creation::Spawn);
                        self.forks.insert(site, made);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Finds the blocks that executions of a context may reach.
    ///
    /// It begins with all blocks. Where a branch goes one way only, a register may have a single writer left, and then
    /// decide another branch: each round is computed from blocks that hold all that can be reached, so its result does too.
    fn find_reachable(&mut self, program: &Program, context: ContextId) {
        let function = &program.functions[self.contexts[context].function];
        self.reachable[context.index()] = function.blocks.ids().collect();
        for _ in 0..MAX_ROUNDS {
            let fewer = self.reachable_blocks(program, context);
            let is_less = fewer.len() < self.reachable[context.index()].len();
            self.reachable[context.index()] = fewer;
            if !is_less {
                break;
            }
        }
    }

    fn values(&self, program: &Program, context: ContextId, operands: &[Operand]) -> Vec<AbstractValue> {
        self.evaluate(program, context, |evaluator| {
            operands.iter().map(|&operand| evaluator.operand(operand)).collect()
        })
    }

    /// The values of the loop variable of a `parfor`, where they are constant and few.
    fn trip_count(&self, program: &Program, context: ContextId, bounds: &crate::ir::TripBounds) -> Option<Vec<i64>> {
        let (first, limit) = self.evaluate(program, context, |evaluator| {
            Some((evaluator.constant(bounds.first)?, evaluator.constant(bounds.limit)?))
        })?;
        let values: Vec<i64> =
            (0..=MAX_UNROLLED).map(|round| first + round * bounds.step).take_while(|&value| value < limit).collect();
        (1..=MAX_UNROLLED).contains(&(values.len() as i64)).then_some(values)
    }

    fn callee(&mut self, function: FunctionId, site: (ContextId, BlockId, u32)) -> ContextId {
        let (caller, block, position) = site;
        let thread = self.contexts[caller].thread;
        let key = match self.policies[function.index()] {
            Policy::Clone => {
                if self.recursive[function.index()]
                    && let Some(open) = self.open_context(caller, function)
                {
                    return open;
                }
                Key::Site(caller, block, position, 0)
            }
            Policy::PerThread => Key::Thread(function, thread),
            Policy::Unordered => Key::Function(function),
        };
        if let Some(&known) = self.keys.get(&key) {
            return known;
        }
        let thread = if matches!(key, Key::Function(_)) { self.unordered_thread() } else { thread };
        let made = self.new_context(function, thread, Some(caller), 0);
        self.keys.insert(key, made);
        made
    }

    /// A context of the function that is open on the call string of a context, in the same thread.
    fn open_context(&self, caller: ContextId, function: FunctionId) -> Option<ContextId> {
        let thread = self.contexts[caller].thread;
        let mut at = Some(caller);
        while let Some(context) = at {
            let of = &self.contexts[context];
            if of.thread != thread {
                return None;
            }
            if of.function == function {
                return Some(context);
            }
            at = of.caller;
        }
        None
    }

    fn unordered_thread(&mut self) -> ThreadId {
        if let Some(thread) = self.unordered {
            return thread;
        }
        let thread = self.threads.push(Thread {
            parent: Some(MAIN_THREAD),
            path: "any thread".to_owned(),
            fork: 0,
            multiple: true,
            unordered: true,
            spawned: false,
            root: ContextId(0),
            region: None,
        });
        self.unordered = Some(thread);
        thread
    }

    fn raise(&mut self, context: ContextId, values: &[AbstractValue]) {
        let arguments = &mut self.contexts[context].arguments;
        arguments.resize(values.len().max(arguments.len()), AbstractValue::Bottom);
        let mut changed = false;
        for (argument, value) in arguments.iter_mut().zip(values) {
            changed |= argument.join(value);
        }
        if changed && !std::mem::replace(&mut self.queued[context.index()], true) {
            self.pending.push(context);
        }
    }

    /// The threads of a fork: one for each new thread, or for each iteration.
    fn fork(
        &mut self,
        program: &Program,
        site: (ContextId, BlockId, u32),
        threads: &[NewThread],
        iterations: Option<Vec<i64>>,
        creation: Creation,
    ) -> Vec<ThreadId> {
        let mut made = Vec::new();
        for (arm, thread) in threads.iter().enumerate() {
            let mut values = self.values(program, site.0, &thread.arguments);
            match (&iterations, thread.label) {
                (Some(iterations), ThreadLabel::Iteration(label)) => {
                    for (round, &value) in iterations.iter().enumerate() {
                        if let Some(last) = values.last_mut() {
                            *last = AbstractValue::Constant(value);
                        }
                        let name = format!("{}[{round}]", program.texts.get(label));
                        let run = thread.function_of_round(round);
                        made.push(self.thread(site, round as u32, run, &name, &values, (Instances::One, creation)));
                    }
                }
                (None, ThreadLabel::Iteration(label)) => {
                    let name = format!("{}[*]", program.texts.get(label));
                    for (copy, run) in thread.functions().enumerate() {
                        let (arm, kind) = (u32::MAX - copy as u32, (Instances::Several, creation));
                        made.push(self.thread(site, arm, run, &name, &values, kind));
                    }
                }
                (_, ThreadLabel::Name(label) | ThreadLabel::Element(label)) => {
                    let number = thread.ordinal.and_then(|ordinal| {
                        self.evaluate(program, site.0, |evaluator: &Evaluator<'_>| evaluator.constant(ordinal))
                    });
                    let name = thread_name(program.texts.get(label), number);
                    let kind = (Instances::One, creation);
                    made.push(self.thread(site, arm as u32, thread.function, &name, &values, kind));
                }
            }
        }
        made
    }

    fn thread(
        &mut self,
        site: (ContextId, BlockId, u32),
        arm: u32,
        run: FunctionId,
        name: &str,
        values: &[AbstractValue],
        (instances, creation): (Instances, Creation),
    ) -> ThreadId {
        let key = Key::Site(site.0, site.1, site.2, arm);
        if let Some(&thread) = self.thread_keys.get(&key) {
            let root = self.threads[thread].root;
            self.raise(root, values);
            return thread;
        }
        let parent = self.contexts[site.0].thread;
        let path =
            if parent == MAIN_THREAD { name.to_owned() } else { format!("{}/{name}", self.threads[parent].path) };
        // Below the pseudo-thread nothing is ordered, and a function that is merged brings its own pseudo-thread.
        let unordered = self.threads[parent].unordered || self.policies[run.index()] == Policy::Unordered;
        let thread = self.threads.push(Thread {
            parent: Some(parent),
            path,
            fork: 0,
            multiple: instances == Instances::Several || unordered,
            unordered,
            spawned: creation == Creation::Spawn,
            root: ContextId(0),
            region: None,
        });
        self.thread_keys.insert(key, thread);
        let root = if self.policies[run.index()] == Policy::Unordered {
            self.callee(run, site)
        } else {
            self.new_context(run, thread, Some(site.0), values.len())
        };
        self.threads[thread].root = root;
        self.raise(root, values);
        thread
    }

    /// Blocks that control can reach in a context, constant branches followed on one side; the entry first.
    fn reachable_blocks(&self, program: &Program, context: ContextId) -> Vec<BlockId> {
        let function = &program.functions[self.contexts[context].function];
        let mut seen = vec![false; function.blocks.len()];
        let mut order = vec![BlockId(0)];
        seen[0] = true;
        let mut next = 0;
        while next < order.len() {
            let block = order[next];
            next += 1;
            for target in self.live_successors(program, context, &function.blocks[block].terminator) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    order.push(target);
                }
            }
        }
        order.sort_unstable();
        order
    }

    /// The successors of a block that can be taken in a context.
    pub fn live_successors(&self, program: &Program, context: ContextId, terminator: &Terminator) -> Vec<BlockId> {
        if let Terminator::Branch { condition, then_block, else_block } = *terminator {
            match self.evaluate(program, context, |evaluator| evaluator.operand(condition)) {
                AbstractValue::Constant(0) => return vec![else_block],
                AbstractValue::Constant(_) => return vec![then_block],
                _ => {}
            }
        }
        terminator.successors().collect()
    }
}
