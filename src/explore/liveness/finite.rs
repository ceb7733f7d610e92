//! Decides from its loops whether a program can have executions without end at all.
//!
//! **Input**: a program. **Output**: whether some loop may run for ever.
//!
//! **Algorithm**: a natural loop terminates if, in each iteration, one instruction steps a register by a constant, and a branch
//! leaves the loop as soon as the register has passed a bound that the loop does not change. If the back edges of such loops are
//! removed, the flow graphs of a program with executions of any length still contain a cycle.
//!
//! **Soundness and limits**: an execution without end takes some back edge infinitely often. The outermost of these loops is
//! never left again, so it does not terminate. Recursion does not matter: calls that are too deep, and threads that are too many,
//! fail. Many terminating loops are not recognised.

use cssame_ir::{
    Arithmetic, BinaryOperator, Block, BlockId, Function, Instruction, Operand, Program, RegisterId, ScalarType,
    Terminator, Value,
};
use cssame_ssa::dominators::Dominators;
use cssame_ssa::graph::Graph;
use rustc_hash::FxHashSet;

/// Whether some loop of the program may run for ever.
pub(super) fn may_run_for_ever(program: &Program) -> bool {
    program.functions.iter().any(has_endless_loop)
}

fn has_endless_loop(function: &Function) -> bool {
    let goes_back = |(id, block): (BlockId, &Block)| block.terminator.successors().any(|to| to <= id);
    if !function.blocks.entries().any(goes_back) {
        return false;
    }
    let loops = NaturalLoops::of(function);
    let ends: FxHashSet<u32> =
        loops.list.iter().filter(|one| counts(function, &loops.dominators, one)).map(|one| one.head).collect();
    let mut left: Vec<(u32, u32)> = loops.edges;
    left.retain(|&(from, to)| !(ends.contains(&to) && loops.dominators.dominates(to, from)));
    has_cycle(function.blocks.len(), &left)
}

/// A natural loop: all blocks from which an edge back to its head is reached without passing it.
#[derive(Clone, Debug)]
pub(super) struct NaturalLoop {
    pub head: u32,
    /// Blocks with an edge back to the head.
    pub latches: Vec<u32>,
    /// Sorted.
    pub blocks: Vec<u32>,
}

impl NaturalLoop {
    /// Whether it holds a block.
    pub(super) fn holds(&self, block: u32) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

/// The natural loops of a function, by head.
pub(super) struct NaturalLoops {
    pub list: Vec<NaturalLoop>,
    pub edges: Vec<(u32, u32)>,
    pub graph: Graph,
    dominators: Dominators,
}

impl NaturalLoops {
    /// Those of a function.
    pub(super) fn of(function: &Function) -> NaturalLoops {
        let mut edges = Vec::new();
        for (from, of) in function.blocks.entries() {
            edges.extend(of.terminator.successors().map(|to| (from.0, to.0)));
        }
        let graph = Graph::from_edges(function.blocks.len(), &edges);
        let dominators = Dominators::new(&graph);
        let mut list: Vec<NaturalLoop> = Vec::new();
        for &(latch, head) in &edges {
            if !dominators.dominates(head, latch) {
                continue;
            }
            match list.iter_mut().find(|one| one.head == head) {
                Some(one) => one.latches.push(latch),
                None => list.push(NaturalLoop { head, latches: vec![latch], blocks: Vec::new() }),
            }
        }
        list.sort_by_key(|one| one.head);
        for one in &mut list {
            let mut body = FxHashSet::from_iter([one.head]);
            let mut waiting = one.latches.clone();
            while let Some(at) = waiting.pop() {
                if body.insert(at) {
                    waiting.extend(graph.predecessors(at));
                }
            }
            one.blocks = body.into_iter().collect();
            one.blocks.sort_unstable();
        }
        NaturalLoops { list, edges, graph, dominators }
    }
}

/// Whether a loop comes to its end by a counter.
fn counts(function: &Function, dominators: &Dominators, of: &NaturalLoop) -> bool {
    let in_each_round = |block: &u32| of.latches.iter().all(|&latch| dominators.dominates(*block, latch));
    of.blocks.iter().filter(|block| in_each_round(block)).any(|&block| {
        let exit = condition_to_go_on(function, of, block);
        exit.is_some_and(|condition| condition.ends(function, of, &in_each_round))
    })
}

/// A loop goes on only while the left side is less than the right one, or equal to it where that is allowed.
struct Condition {
    left: Operand,
    right: Operand,
    is_strict: bool,
}

/// What holds whenever the loop goes on from a block.
fn condition_to_go_on(function: &Function, of: &NaturalLoop, block: u32) -> Option<Condition> {
    let block = &function.blocks[BlockId(block)];
    let Terminator::Branch { condition: Operand::Register(condition), then_block, else_block } = block.terminator
    else {
        return None;
    };
    if !of.holds(then_block.0) || of.holds(else_block.0) {
        return None;
    }
    let (op, left, right) = written(&block.instructions, condition)?;
    let is_strict = match op {
        BinaryOperator::Less(Arithmetic::Int) => true,
        BinaryOperator::LessEqual(Arithmetic::Int) => false,
        _ => return None,
    };
    Some(Condition { left, right, is_strict })
}

/// What instructions compute into a register last, by an operation on two operands.
fn written(instructions: &[Instruction], register: RegisterId) -> Option<(BinaryOperator, Operand, Operand)> {
    match instructions.iter().rev().find(|one| one.dest() == Some(register))? {
        Instruction::Binary { op, left, right, .. } => Some((*op, *left, *right)),
        _ => None,
    }
}

impl Condition {
    /// Whether it does not hold for ever: one side is a counter that is stepped towards the other one, which stays as it is.
    fn ends(&self, function: &Function, of: &NaturalLoop, in_each_round: &dyn Fn(&u32) -> bool) -> bool {
        let stays = |side: Operand| match side {
            Operand::Register(register) => writes(function, of, register).next().is_none(),
            Operand::Constant(_) => true,
        };
        let step = |side: Operand| match side {
            Operand::Register(register) => step_of(function, of, register, in_each_round),
            Operand::Constant(_) => None,
        };
        // The counter must come to a value beyond the bound before it wraps round.
        let is_safe =
            |step: i32, bound: Operand| self.is_strict && step.abs() == 1 || is_far_from_wrapping(step, bound);
        step(self.left).is_some_and(|by| by > 0 && stays(self.right) && is_safe(by, self.right))
            || step(self.right).is_some_and(|by| by < 0 && stays(self.left) && is_safe(by, self.left))
    }
}

fn is_far_from_wrapping(step: i32, bound: Operand) -> bool {
    let Operand::Constant(Value::Int(bound)) = bound else { return false };
    i64::from(bound).abs() + i64::from(step).abs() < i64::from(i32::MAX)
}

/// The blocks of a loop in which a register is written, with the places of the instructions.
fn writes<'a>(
    function: &'a Function,
    of: &'a NaturalLoop,
    register: RegisterId,
) -> impl Iterator<Item = (u32, usize)> + 'a {
    of.blocks.iter().flat_map(move |&block| {
        let instructions = function.blocks[BlockId(block)].instructions.iter().enumerate();
        let writes = instructions.filter(move |(_, one)| one.dest() == Some(register));
        writes.map(move |(place, _)| (block, place))
    })
}

/// By how much a register is stepped on in each round of a loop, if nothing else is done to it.
fn step_of(
    function: &Function,
    of: &NaturalLoop,
    counter: RegisterId,
    in_each_round: &dyn Fn(&u32) -> bool,
) -> Option<i32> {
    if function.registers[counter].ty != cssame_ir::RegisterType::Scalar(ScalarType::Int) {
        return None;
    }
    let mut writes = writes(function, of, counter);
    let (block, place) = writes.next()?;
    if writes.next().is_some() || !in_each_round(&block) {
        return None;
    }
    let block = &function.blocks[BlockId(block)];
    let (op, left, right) = match block.instructions.get(place)? {
        Instruction::Binary { op, left, right, .. } => (*op, *left, *right),
        Instruction::Copy { source: Operand::Register(next), .. } => written(&block.instructions[..place], *next)?,
        _ => return None,
    };
    let constant = |operand: Operand| match operand {
        Operand::Constant(Value::Int(value)) => Some(value),
        _ => None,
    };
    let of_counter = |operand: Operand| operand == Operand::Register(counter);
    match op {
        BinaryOperator::Add(Arithmetic::Int) if of_counter(left) => constant(right),
        BinaryOperator::Add(Arithmetic::Int) if of_counter(right) => constant(left),
        BinaryOperator::Subtract(Arithmetic::Int) if of_counter(left) => constant(right)?.checked_neg(),
        _ => None,
    }
}

/// Whether edges between so many nodes form a cycle: nodes that nothing leads to are taken away until none is left.
fn has_cycle(nodes: usize, edges: &[(u32, u32)]) -> bool {
    let graph = Graph::from_edges(nodes, edges);
    let mut open: Vec<usize> = (0..nodes as u32).map(|node| graph.predecessors(node).len()).collect();
    let mut waiting: Vec<u32> = (0..nodes as u32).filter(|&node| open[node as usize] == 0).collect();
    let mut taken = 0;
    while let Some(node) = waiting.pop() {
        taken += 1;
        for &next in graph.successors(node) {
            open[next as usize] -= 1;
            if open[next as usize] == 0 {
                waiting.push(next);
            }
        }
    }
    taken < nodes
}
