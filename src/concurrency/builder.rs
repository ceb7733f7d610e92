//! The unfolded graph under construction: one copy of the blocks of each function for each context, split where threads meet.
//!
//! **Input**: the program and its [`Unfolding`]. **Output**: [`GraphBuilder`]: blocks and their events, edges, forks and joins.
//!
//! **Algorithm**
//! 1. Reserve an entry and an exit block for every context, so that calls can be wired in any order.
//! 2. Copy the reachable blocks of each context's function. A block ends after a call, a fork, a source of a happens-before edge
//!    (`set`, `V`, a bare `notify`) and the arrival at a barrier. It also ends before a target of such an edge (`wait`, `P`) and
//!    before a join. So "before" and "after" such an operation are sets of whole blocks. If a branch reveals the result of a try
//!    ([`super::tried`]), there is a separate block between the branch and its successor.
//! 3. Wire each fork to the entries of its threads, and their exits to the join that waits for them.
//!
//! **Soundness and limits**: a branch that the constants of a context decide goes one way only; everything else is kept.

use super::context::{Site, Unfolding};
use super::repetition::Repetitions;
use super::row::{Row, Rows};
use super::tried::{Sides, known_verdicts, releasing_functions};
use super::unrolling::NO_ITERATION;
use super::{AndJoin, Block, ContextId, Event, EventKind, InstanceId, IterationId, Location, LocationId, ThreadId};
use cssame_ir::sync;
use cssame_ir::sync::Edge;
use cssame_ir::{
    Base, BlockId, DefinitionId, FunctionId, Instruction, Operand, Place, Program, RegisterId, Synchronisation,
    Terminator, Value,
};
use cssame_source::Span;
use cssame_source::arena::Arena;
use cssame_ssa::graph::Graph;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// A graph under construction.
pub(super) struct GraphBuilder<'p> {
    pub program: &'p Program,
    pub unfolding: Unfolding,
    pub blocks: Vec<Block>,
    pub events: Vec<Event>,
    pub operands: Vec<LocationId>,
    pub locations: Arena<LocationId, Location>,
    pub location_ids: FxHashMap<Location, LocationId>,
    pub local_edges: Vec<(u32, u32)>,
    pub flow_edges: Vec<(u32, u32)>,
    pub forks: FxHashMap<u32, Vec<ThreadId>>,
    pub and_joins: Vec<AndJoin>,
    /// Blocks that begin with a join, of all forked threads or of a handle.
    pub joins: Vec<JoinSite>,
    /// The block that ends with the fork of a site.
    pub fork_blocks: FxHashMap<Site, u32>,
    /// Forks and the blocks that begin with their joins.
    pub joined: Vec<(u32, u32)>,
    /// The block that makes each local variable.
    pub allocations: Vec<(InstanceId, u32)>,
    /// What branches tell of the verdicts of tries, by function.
    verdicts: FxHashMap<FunctionId, Sides>,
    /// Functions that may release a lock.
    releasing: FixedBitSet,
    /// The possible locations of the object of each try.
    tried: FxHashMap<Site, (u32, u32)>,
    /// By event that means an element which is not known: its rows.
    pub rows: FxHashMap<u32, Rows>,
    /// The only call of each context; none of those with several.
    pub callers: FxHashMap<ContextId, Option<Site>>,
    pub row_list: Vec<Row>,
    pub row_ids: FxHashMap<Row, u32>,
}

/// A join, and what is needed to wire it.
pub(super) struct JoinSite {
    pub block: u32,
    pub at: Site,
}

impl<'p> GraphBuilder<'p> {
    pub fn new(program: &'p Program, unfolding: Unfolding) -> GraphBuilder<'p> {
        let mut callers = FxHashMap::default();
        for (&site, &target) in &unfolding.calls {
            callers.entry(target).and_modify(|known| *known = None).or_insert(Some(site));
        }
        GraphBuilder {
            program,
            unfolding,
            callers,
            blocks: Vec::new(),
            events: Vec::new(),
            operands: Vec::new(),
            locations: Arena::new(),
            location_ids: FxHashMap::default(),
            local_edges: Vec::new(),
            flow_edges: Vec::new(),
            forks: FxHashMap::default(),
            and_joins: Vec::new(),
            joins: Vec::new(),
            fork_blocks: FxHashMap::default(),
            joined: Vec::new(),
            allocations: Vec::new(),
            verdicts: FxHashMap::default(),
            releasing: releasing_functions(program),
            tried: FxHashMap::default(),
            rows: FxHashMap::default(),
            row_list: Vec::new(),
            row_ids: FxHashMap::default(),
        }
    }

    /// Adds the blocks of all contexts, and the edges within threads and from forks to the threads that they make.
    pub fn add_blocks(&mut self) {
        self.reserve_ends();
        for context in self.unfolding.contexts.ids() {
            self.add_context(context);
        }
        self.wire_threads();
    }

    /// Entry and exit blocks of all contexts come first, so that calls can be wired in any order; block 0 is the entry of `main`.
    fn reserve_ends(&mut self) {
        for context in self.unfolding.contexts.ids() {
            let entry = self.new_block(context);
            let exit = self.new_block(context);
            let of = &mut self.unfolding.contexts[context];
            of.entry = entry;
            of.exit = exit;
        }
    }

    pub fn new_block(&mut self, context: ContextId) -> u32 {
        let at = self.events.len() as u32;
        let instructions = (0, 0);
        self.blocks.push(Block { context, source: None, events: (at, at), instructions, terminates: false });
        self.blocks.len() as u32 - 1
    }

    pub fn edge(&mut self, from: u32, to: u32) {
        self.local_edges.push((from, to));
        self.flow_edges.push((from, to));
    }

    fn add_context(&mut self, context: ContextId) {
        let program = self.program;
        let function_id = self.unfolding.contexts[context].function;
        let function = &program.functions[function_id];
        let loops = self.unfolding.loops(program, function_id);
        let iterations = self.unfolding.iterations[context.index()].clone();
        let first_head = self.blocks.len() as u32;
        for &(_, block) in &iterations.blocks {
            let head = self.new_block(context);
            self.blocks[head as usize].source = Some(block);
        }
        // The blocks are sorted; that of the entry in no iteration comes first.
        let head_of = |at: (IterationId, BlockId)| {
            iterations.blocks.binary_search(&at).ok().map(|place| first_head + place as u32)
        };
        let entry = self.unfolding.contexts[context].entry;
        let exit = self.unfolding.contexts[context].exit;
        if !iterations.blocks.is_empty() {
            self.edge(entry, first_head);
        }
        for (&(iteration, block), head) in iterations.blocks.iter().zip(first_head..) {
            let mut walk = Walk { context, iteration, at: block, current: head, before_join: false };
            self.open(walk.current, 0);
            let source = &function.blocks[block];
            for (position, (instruction, &span)) in source.instructions.iter().zip(&source.spans).enumerate() {
                walk.before_join = matches!(source.instructions.get(position + 1), Some(Instruction::Join));
                self.add_instruction(&mut walk, position as u32, instruction, span);
            }
            self.close(walk.current, source.instructions.len() as u32);
            self.blocks[walk.current as usize].terminates = true;
            match source.terminator {
                Terminator::Return(_) => self.edge(walk.current, exit),
                // Where the program fails, nothing goes on.
                Terminator::End(_) if source.instructions.last().is_some_and(always_fails) => {}
                Terminator::End(_) => {
                    let thread = self.unfolding.contexts[context].thread;
                    let root = self.unfolding.threads[thread].root;
                    let end = self.unfolding.contexts[root].exit;
                    self.edge(walk.current, end);
                }
                _ => {
                    let values = iterations.fixed(iteration);
                    for target in self.unfolding.live_successors(program, (context, values), &source.terminator) {
                        if let Some(head) = head_of((iterations.target(&loops, iteration, block, target), target)) {
                            self.go_on(&walk, function_id, target, head);
                        }
                    }
                }
            }
        }
    }

    /// The edge to the head of a block that may come next; with a block in between where the branch tells a verdict.
    fn go_on(&mut self, walk: &Walk, id: FunctionId, target: BlockId, head: u32) {
        let (program, releasing) = (self.program, &self.releasing);
        let sides = self.verdicts.entry(id).or_insert_with(|| known_verdicts(program, id, releasing));
        let verdicts = match (sides.get(&walk.at), program.functions[id].blocks[walk.at].terminator) {
            (Some(known), Terminator::Branch { then_block, else_block, .. }) if then_block != else_block => {
                known[usize::from(target == then_block)].clone()
            }
            _ => Vec::new(),
        };
        if verdicts.is_empty() {
            self.edge(walk.current, head);
            return;
        }
        let between = self.new_block(walk.context);
        // It is a part of the block that it leads to.
        self.blocks[between as usize].source = Some(target);
        self.open(between, 0);
        for ((block, position), taken) in verdicts {
            let of = &program.functions[id].blocks[block];
            let Some(Instruction::Synchronise(operation)) = of.instructions.get(position as usize) else { continue };
            let span = of.spans.get(position as usize).copied().unwrap_or_default();
            let Some(&object) = operation.kind.operands().first() else { continue };
            let operands = match self.tried_in(walk, (block, position)) {
                Some(known) => known,
                // In whichever iteration it was.
                None => operation.object.as_ref().map_or((0, 0), |place| {
                    self.locations((walk.context, NO_ITERATION), place, &|leaf| object.fits(leaf))
                }),
            };
            let kind = if taken { EventKind::Taken } else { EventKind::NotTaken };
            self.event(kind(operation.kind), span, operands, (0, 0));
        }
        self.close(between, 0);
        self.edge(walk.current, between);
        self.edge(between, head);
    }

    /// The locations of the object of a try, as they were when control came last to it; none where that may have been
    /// in another iteration.
    fn tried_in(&mut self, walk: &Walk, (block, position): (BlockId, u32)) -> Option<(u32, u32)> {
        let iterations = &self.unfolding.iterations[walk.context.index()];
        let of_iteration = |iteration| self.tried.get(&Site { iteration, block, position, ..walk.site(0) }).copied();
        // Outside of all loops there is one only.
        if let Some(known) = of_iteration(NO_ITERATION) {
            return Some(known);
        }
        // Every way to the branch leads through the try, those from the head of each loop around it too.
        let found = iterations.around(walk.iteration).find_map(of_iteration)?;
        let function = self.unfolding.contexts[walk.context].function;
        self.unfolding.loops(self.program, function).dominates(block, walk.at).then_some(found)
    }

    fn open(&mut self, block: u32, position: u32) {
        let of = &mut self.blocks[block as usize];
        (of.events.0, of.instructions.0) = (self.events.len() as u32, position);
    }

    fn close(&mut self, block: u32, position: u32) {
        let of = &mut self.blocks[block as usize];
        (of.events.1, of.instructions.1) = (self.events.len() as u32, position);
    }

    /// Ends the current block before the instruction at a position, and goes on in a new one, without an edge between them.
    fn cut(&mut self, walk: &mut Walk, position: u32) -> (u32, u32) {
        let before = walk.current;
        self.close(before, position);
        walk.current = self.new_block(walk.context);
        self.blocks[walk.current as usize].source = Some(walk.at);
        self.open(walk.current, position);
        (before, walk.current)
    }

    fn split(&mut self, walk: &mut Walk, position: u32) {
        let (before, after) = self.cut(walk, position);
        self.edge(before, after);
    }

    fn add_instruction(&mut self, walk: &mut Walk, position: u32, instruction: &Instruction, span: Span) {
        let site = walk.site(position);
        match instruction {
            Instruction::Load { dest, place, read } => {
                let value = Operand::Register(*dest);
                self.access(walk, position, EventKind::Read(*read), (place, value), span);
            }
            Instruction::Store { place, value, definition } => {
                self.access(walk, position, EventKind::Write(*definition), (place, *value), span)
            }
            Instruction::Atomic { op, place, read, definition, .. } => {
                let always = !op.may_fail();
                let kind = EventKind::Update { read: *read, definition: *definition, always };
                self.access(walk, position, kind, (place, op.value()), span);
            }
            Instruction::Allocate { variable, .. } => self.initialise(walk, *variable, span),
            Instruction::Free { pointer, definition } => self.free(walk, *pointer, *definition, span),
            Instruction::Call { .. } => {
                let Some(&callee) = self.unfolding.calls.get(&site) else { return };
                let (before, after) = self.cut(walk, position + 1);
                let (entry, exit) = (self.unfolding.contexts[callee].entry, self.unfolding.contexts[callee].exit);
                self.edge(before, entry);
                self.edge(exit, after);
            }
            Instruction::Fork { .. } | Instruction::Spawn { .. } => {
                let Some(threads) = self.unfolding.forks.get(&site).cloned() else { return };
                self.event(EventKind::Fork, span, (0, 0), (0, 0));
                let (before, after) = self.cut(walk, position + 1);
                for &thread in &threads {
                    self.unfolding.threads[thread].fork = before;
                }
                self.forks.insert(before, threads);
                self.fork_blocks.insert(site, before);
                // Values pass a cobegin through its threads only.
                self.local_edges.push((before, after));
                if !walk.before_join {
                    self.flow_edges.push((before, after));
                }
            }
            Instruction::Join => {
                self.split(walk, position);
                self.event(EventKind::Join, span, (0, 0), (0, 0));
                self.joins.push(JoinSite { block: walk.current, at: site });
            }
            Instruction::JoinThread { .. } => {
                self.split(walk, position);
                self.event(EventKind::JoinThread, span, (0, 0), (0, 0));
                self.joins.push(JoinSite { block: walk.current, at: site });
            }
            Instruction::AtomicBegin => self.event(EventKind::AtomicBegin, span, (0, 0), (0, 0)),
            Instruction::AtomicEnd => self.event(EventKind::AtomicEnd, span, (0, 0), (0, 0)),
            Instruction::Synchronise(operation) => self.synchronise(walk, position, operation, span),
            _ => {}
        }
    }

    fn locations_of_object(
        &mut self,
        walk: &Walk,
        place: Option<&Place>,
        kind: Option<sync::ObjectKind>,
    ) -> (u32, u32) {
        let (Some(place), Some(kind)) = (place, kind) else { return (0, 0) };
        self.locations((walk.context, walk.iteration), place, &|leaf| kind.fits(leaf))
    }

    fn synchronise(&mut self, walk: &mut Walk, position: u32, operation: &Synchronisation, span: Span) {
        let operands = self.locations_of_object(
            walk,
            operation.object.as_ref(),
            operation.kind.operand_kind(sync::Operand::Object),
        );
        let locks =
            self.locations_of_object(walk, operation.lock.as_ref(), operation.kind.operand_kind(sync::Operand::Lock));
        let edge = operation.kind.properties().edge;
        if edge == Edge::Target {
            self.split(walk, position);
        }
        if operation.kind.tries() {
            self.tried.insert(walk.site(position), operands);
        }
        if let Some(place) = &operation.object {
            self.note_rows(walk, position, place, operands);
        }
        self.event(EventKind::Synchronise(operation.kind), span, operands, locks);
        if matches!(edge, Edge::Source | Edge::Meeting) {
            self.split(walk, position + 1);
        }
    }

    fn event(&mut self, kind: EventKind, span: Span, operands: (u32, u32), locks: (u32, u32)) {
        self.events.push(Event { kind, span, operands, locks });
    }

    fn access(&mut self, walk: &Walk, position: u32, kind: EventKind, (place, value): (&Place, Operand), span: Span) {
        let ty = self.program.functions[self.unfolding.contexts[walk.context].function].type_of(value);
        let operands = self.locations((walk.context, walk.iteration), place, &|leaf| leaf.holds(ty));
        self.note_rows(walk, position, place, operands);
        self.event(kind, span, operands, (0, 0));
    }

    /// The declaration of a local variable writes its initial values.
    fn initialise(&mut self, walk: &Walk, variable: cssame_ir::VariableId, span: Span) {
        let instance = self.unfolding.instance(self.program, variable, walk.context);
        self.allocations.push((instance, walk.current));
        for leaf in self.program.variables[variable].leaves() {
            let Some(definition) = self.program.leaves[leaf].initial_definition else { continue };
            let start = self.operands.len() as u32;
            let id = self.location(Location { instance, leaf, element: None });
            self.operands.push(id);
            self.event(EventKind::Write(definition), span, (start, start + 1), (0, 0));
        }
    }

    /// To give memory back is a write of all cells of the objects that the pointer may lead to.
    fn free(&mut self, walk: &Walk, pointer: RegisterId, definition: DefinitionId, span: Span) {
        let place = Place::at(Base::Pointer(pointer), 0);
        let at = (walk.context, walk.iteration);
        let mut instances = self.unfolding.evaluate(self.program, at, |evaluator| evaluator.targets(&place));
        instances.retain(|address| self.program.variables[self.unfolding.instances[address.instance].variable].heap);
        let start = self.operands.len() as u32;
        for address in instances {
            for leaf in self.program.variables[self.unfolding.instances[address.instance].variable].leaves() {
                let id = self.location(Location { instance: address.instance, leaf, element: None });
                self.operands.push(id);
            }
        }
        self.event(EventKind::Write(definition), span, (start, self.operands.len() as u32), (0, 0));
    }

    /// The thread of a block.
    pub fn thread_of(&self, block: u32) -> ThreadId {
        self.unfolding.contexts[self.blocks[block as usize].context].thread
    }

    /// How often the blocks can run that there are.
    pub fn repetitions<'b>(&'b self, local: &'b Graph) -> Repetitions<'b> {
        Repetitions {
            local,
            blocks: &self.blocks,
            contexts: &self.unfolding.contexts,
            threads: &self.unfolding.threads,
            joined: &self.joined,
            known: FxHashMap::default(),
        }
    }
}

/// Whether an instruction always ends the execution.
fn always_fails(instruction: &Instruction) -> bool {
    matches!(
        instruction,
        Instruction::Error { .. } | Instruction::Assert { condition: Operand::Constant(Value::Bool(false)), .. }
    )
}

/// The number of events that an instruction is.
pub fn event_count(program: &Program, instruction: &Instruction) -> u32 {
    match instruction {
        Instruction::Allocate { variable, .. } => {
            let leaves = program.variables[*variable].leaves();
            leaves.filter(|&leaf| program.leaves[leaf].initial_definition.is_some()).count() as u32
        }
        Instruction::Load { .. }
        | Instruction::Store { .. }
        | Instruction::Free { .. }
        | Instruction::Atomic { .. }
        | Instruction::Fork { .. }
        | Instruction::Spawn { .. }
        | Instruction::Join
        | Instruction::JoinThread { .. }
        | Instruction::AtomicBegin
        | Instruction::AtomicEnd
        | Instruction::Synchronise(_) => 1,
        _ => 0,
    }
}

/// Where the walk over a function's blocks stands.
pub(super) struct Walk {
    pub context: ContextId,
    pub iteration: IterationId,
    pub at: BlockId,
    current: u32,
    /// Whether the next instruction joins.
    before_join: bool,
}

impl Walk {
    pub fn site(&self, position: u32) -> Site {
        Site { context: self.context, iteration: self.iteration, block: self.at, position }
    }
}
