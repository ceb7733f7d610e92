//! Calling contexts and static threads, before the graph is built.
//!
//! **Input**: the program. **Output**: [`Unfolding`]: the contexts that are reachable from `main`, with an abstract value for
//! each of their arguments; and for each call, fork and spawn of a context, its target contexts.
//!
//! **Algorithm** (context-sensitive constant and reference propagation)
//! 1. Choose for every function how its contexts are distinguished ([`Policy`]).
//! 2. Visit contexts from a worklist. After a branch whose condition is constant in the context, only the blocks on the taken
//!    side are visited. The blocks of a counting loop are visited once for each iteration ([`super::unrolling`]).
//! 3. At each call, fork and spawn, join the values of the arguments into the target context, and visit it again if one of them
//!    has changed.
//!
//! **Soundness and limits**: values only grow (bottom, one constant or a set of references, unknown), so the worklist ends, and
//! each argument covers all executions. A `parfor` with at most [`MAX_UNROLLED`] constant iterations is one static thread for
//! each iteration, unless there are [very many](THREAD_BUDGET). Any other `parfor` is one thread with several instances.

use super::counted_loop::CountedLoops;
use super::policy::{BLOCK_BUDGET, Policy, THREAD_BUDGET, UNROLLING_BUDGET, choose_policies};
use super::unrolling::{Fixed, Iterations};
use super::value::{AbstractValue, Address, Evaluator, Writers};
use super::{Context, ContextId, Instance, InstanceId, IterationId, KnownReads, MAIN_THREAD, Thread, ThreadId};
use cssame_ir::points_to::{PointsTo, Target};
use cssame_ir::{
    BlockId, Function, FunctionId, Instruction, NewThread, Operand, Program, RegisterId, Storage, Terminator,
    VariableId,
};
use cssame_source::arena::Arena;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A `parfor` of at most that many constant iterations is unrolled into one static thread for each.
const MAX_UNROLLED: i64 = 16;

/// Rounds in which the blocks that a context can reach are found.
const MAX_ROUNDS: usize = 3;

/// An instruction of a context, in an iteration of the loops around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site {
    pub context: ContextId,
    pub iteration: IterationId,
    pub block: BlockId,
    pub position: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Site(Site, u32),
    Thread(FunctionId, ThreadId),
    Function(FunctionId),
}

/// How threads are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Creation {
    /// By a `cobegin` or `parfor`, which waits for them.
    Fork,
    /// By `spawn`.
    Spawn,
}

/// Contexts, threads, and where each site of a context leads.
pub(super) struct Unfolding {
    known: KnownReads,
    pub contexts: Arena<ContextId, Context>,
    pub threads: Arena<ThreadId, Thread>,
    pub instances: Arena<InstanceId, Instance>,
    pub instance_ids: FxHashMap<(VariableId, Option<ContextId>), InstanceId>,
    instances_of: FxHashMap<VariableId, Vec<InstanceId>>,
    points_to: PointsTo,
    pub writers: Vec<Writers>,
    pub calls: FxHashMap<Site, ContextId>,
    pub forks: FxHashMap<Site, Vec<ThreadId>>,
    pub reachable: Vec<Vec<BlockId>>,
    /// By context.
    pub iterations: Vec<Iterations>,
    /// By function, where a context of it was visited.
    pub loops: Vec<Option<Rc<CountedLoops>>>,
    /// By context: the blocks that its iterations add to the graph.
    pub added: Vec<u64>,
    /// The sum of them, and the most that it may be.
    pub added_blocks: (u64, u64),
    /// By function: what a context costs.
    pub cost: Vec<u64>,
    pub merged: bool,
    pub policies: Vec<Policy>,
    together: Vec<bool>,
    pub recursive: Vec<bool>,
    keys: FxHashMap<Key, ContextId>,
    pub thread_keys: FxHashMap<Key, ThreadId>,
    pub unordered: Option<ThreadId>,
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
    /// The number of blocks that iterations of counted loops may add.
    pub iterations: u64,
}

impl Default for Extent<'_> {
    fn default() -> Self {
        Extent { blocks: BLOCK_BUDGET, together: &[], iterations: UNROLLING_BUDGET }
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
        instances_of: FxHashMap::default(),
        points_to: PointsTo::new(program),
        writers: program.functions.iter().map(Writers::of).collect(),
        calls: FxHashMap::default(),
        forks: FxHashMap::default(),
        reachable: Vec::new(),
        iterations: Vec::new(),
        loops: vec![None; program.functions.len()],
        added: Vec::new(),
        added_blocks: (0, extent.iterations),
        cost: plan.cost,
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

/// The variable that a function makes that does nothing else.
fn made_by(function: &Function) -> Option<VariableId> {
    let block = function.blocks.iter().next().filter(|_| function.blocks.len() == 1)?;
    match (block.instructions.as_slice(), block.terminator) {
        (&[Instruction::Allocate { dest, variable, .. }], Terminator::Return(Some(Operand::Register(value)))) => {
            (value == dest).then_some(variable)
        }
        _ => None,
    }
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
            // A pointer to it that is stored somewhere may be one to another activation's.
            let is_stored = self.points_to.is_stored(variable);
            let is_alone = !context.recursive && !self.threads[context.thread].unordered && !is_stored;
            is_alone && !program.variables[variable].heap
        });
        let (instances, of_variable) = (&mut self.instances, &mut self.instances_of);
        *self.instance_ids.entry((variable, owner)).or_insert_with(|| {
            let id = instances.push(Instance { variable, context: owner, single, unique: owner.is_none() });
            of_variable.entry(variable).or_default().push(id);
            id
        })
    }

    /// What a pointer in a register of a function may lead to, whatever the context; complete when all contexts are known.
    fn pointees(&self, function: FunctionId, register: RegisterId) -> Vec<(InstanceId, Target)> {
        let instances = |variable| self.instances_of.get(&variable).into_iter().flatten().copied();
        let of_target = |&target: &Target| instances(target.variable).map(move |instance| (instance, target));
        self.points_to.of(function, register).iter().flat_map(of_target).collect()
    }

    /// What a call gives that does nothing but ask for memory, in all iterations of a context; nothing as long as not all are known.
    fn memory(&self, program: &Program, context: ContextId, (block, position): (BlockId, u32)) -> Vec<Address> {
        let function = &program.functions[self.contexts[context].function];
        let Instruction::Call { function: callee, .. } = function.blocks[block].instructions[position as usize] else {
            return Vec::new();
        };
        let Some(variable) = made_by(&program.functions[callee]).filter(|&of| program.variables[of].heap) else {
            return Vec::new();
        };
        let iterations = self.iterations[context.index()].blocks.iter().filter(|of| of.1 == block);
        let made = iterations.map(|&(iteration, _)| {
            let callee = self.calls.get(&Site { context, iteration, block, position })?;
            self.instance_ids.get(&(variable, Some(*callee))).map(|&instance| Address::of(instance))
        });
        let mut made: Vec<Address> = made.collect::<Option<_>>().unwrap_or_default();
        made.sort_unstable();
        made.dedup();
        made
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

    /// The value of something in a context, in an iteration of it.
    pub fn evaluate<R>(
        &self,
        program: &Program,
        (context, iteration): (ContextId, IterationId),
        f: impl FnOnce(&Evaluator<'_>) -> R,
    ) -> R {
        self.evaluate_with(program, context, self.iterations[context.index()].fixed(iteration), f)
    }

    pub fn evaluate_with<R>(
        &self,
        program: &Program,
        context: ContextId,
        fixed: &Fixed,
        f: impl FnOnce(&Evaluator<'_>) -> R,
    ) -> R {
        let of = &self.contexts[context];
        let instance = |variable: VariableId| {
            let owner = match program.variables[variable].storage {
                Storage::Global => None,
                Storage::Local(_) => Some(context),
            };
            self.instance_ids.get(&(variable, owner)).copied().unwrap_or(InstanceId(0))
        };
        let pointees = |register| self.pointees(of.function, register);
        let memory = |block, position| self.memory(program, context, (block, position));
        f(&Evaluator {
            program,
            function: &program.functions[of.function],
            writers: &self.writers[of.function.index()],
            arguments: &of.arguments,
            instance: &instance,
            known: &self.known,
            live: Some(&self.reachable[context.index()]),
            fixed,
            pointees: &pointees,
            memory: &memory,
        })
    }

    pub fn new_context(
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
        self.iterations.push(Iterations::none([]));
        self.added.push(0);
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
        self.find_iterations(program, context);
        let blocks = self.iterations[context.index()].blocks.clone();
        let function = &program.functions[self.contexts[context].function];
        for &(iteration, block) in &blocks {
            for (position, instruction) in function.blocks[block].instructions.iter().enumerate() {
                let site = Site { context, iteration, block, position: position as u32 };
                match instruction {
                    Instruction::Call { function, arguments, .. } => {
                        let values = self.values(program, (context, iteration), arguments);
                        let target = self.callee(*function, site);
                        self.raise(target, &values);
                        self.calls.insert(site, target);
                    }
                    Instruction::Fork { threads, bounds } => {
                        let apart = |thread: &NewThread| self.together.get(thread.function.index()) != Some(&true);
                        let bounds = bounds.filter(|_| threads.iter().all(apart));
                        let iterations = bounds
                            .and_then(|bounds| self.trip_count(program, (context, iteration), &bounds))
                            .filter(|iterations| self.has_room_for_threads(site, iterations.len()));
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

    pub fn values(&self, program: &Program, at: (ContextId, IterationId), operands: &[Operand]) -> Vec<AbstractValue> {
        self.evaluate(program, at, |evaluator| operands.iter().map(|&operand| evaluator.operand(operand)).collect())
    }

    /// The values of the loop variable of a `parfor`, where they are constant and few.
    fn trip_count(
        &self,
        program: &Program,
        at: (ContextId, IterationId),
        bounds: &cssame_ir::TripBounds,
    ) -> Option<Vec<i64>> {
        let (first, limit) = self.evaluate(program, at, |evaluator| {
            Some((evaluator.constant(bounds.first)?, evaluator.constant(bounds.limit)?))
        })?;
        let values: Vec<i64> =
            (0..=MAX_UNROLLED).map(|round| first + round * bounds.step).take_while(|&value| value < limit).collect();
        (1..=MAX_UNROLLED).contains(&(values.len() as i64)).then_some(values)
    }

    /// Whether so many iterations may be static threads: each level of nested ones makes many times as many.
    fn has_room_for_threads(&self, site: Site, iterations: usize) -> bool {
        let are_there = self.thread_keys.contains_key(&Key::Site(site, 0));
        are_there || (self.threads.len() + iterations) as u64 <= THREAD_BUDGET
    }

    pub fn callee(&mut self, function: FunctionId, site: Site) -> ContextId {
        let caller = site.context;
        let thread = self.contexts[caller].thread;
        let key = match self.policies[function.index()] {
            Policy::Clone => {
                if self.recursive[function.index()]
                    && let Some(open) = self.open_context(caller, function)
                {
                    return open;
                }
                Key::Site(site, 0)
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

    pub fn raise(&mut self, context: ContextId, values: &[AbstractValue]) {
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
            let no_values = Fixed::new();
            for target in self.live_successors(program, (context, &no_values), &function.blocks[block].terminator) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    order.push(target);
                }
            }
        }
        order.sort_unstable();
        order
    }

    /// The successors of a block that can be taken in a context, where registers have these values.
    pub fn live_successors(
        &self,
        program: &Program,
        (context, fixed): (ContextId, &Fixed),
        terminator: &Terminator,
    ) -> Vec<BlockId> {
        if let Terminator::Branch { condition, then_block, else_block } = *terminator {
            match self.evaluate_with(program, context, fixed, |evaluator| evaluator.operand(condition)) {
                AbstractValue::Constant(0) => return vec![else_block],
                AbstractValue::Constant(_) => return vec![then_block],
                _ => {}
            }
        }
        terminator.successors().collect()
    }
}
