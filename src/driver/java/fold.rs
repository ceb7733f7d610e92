//! Temporaries that are written at their use, and the places of the other declarations.
//!
//! In: a function and the tree of its statements. Out: the instructions whose result is part of the single expression that uses
//! it ([`Folding`]), and the tree with the declarations of variables that several statements use.
//!
//! Algorithm: the result of a pure instruction is folded if it is a temporary with one use, in the same block, and nothing in
//! between writes the data from which it is computed. Any other register is declared by the instruction that defines it, if this
//! instruction comes first among all its uses in the innermost sequence that contains them all. Otherwise it is declared before
//! that sequence. If a loop surrounds it, it is declared at the beginning of the function, so that it keeps its value between
//! iterations.

use super::tree::{At, Node};
use cssame_ir::{BlockId, Function, Instruction, Operand, RegisterId, RegisterType};
use rustc_hash::{FxHashMap, FxHashSet};

/// The instructions that are parts of expressions, and how registers are used. The terminator of a block counts as one more
/// instruction of it.
pub(super) struct Folding {
    folded: FxHashSet<At>,
    /// By register: how many instructions define it.
    definitions: Vec<u32>,
    /// By register: the folded instruction that defines it.
    sources: FxHashMap<RegisterId, At>,
}

impl Folding {
    pub(super) fn of(function: &Function) -> Folding {
        let mut uses = vec![0_u32; function.registers.len()];
        let mut definitions = vec![0_u32; function.registers.len()];
        for block in function.blocks.iter() {
            for instruction in &block.instructions {
                instruction.uses(&mut |register| uses[register.index()] += 1);
                instruction.dest().into_iter().for_each(|register| definitions[register.index()] += 1);
            }
            block.terminator.register().into_iter().for_each(|register| uses[register.index()] += 1);
        }
        let mut folding = Folding { folded: FxHashSet::default(), definitions, sources: FxHashMap::default() };
        for id in function.blocks.ids() {
            folding.block(function, id, &uses);
        }
        folding
    }

    fn block(&mut self, function: &Function, id: BlockId, uses: &[u32]) {
        let block = &function.blocks[id];
        // By register: the last instruction so far that has written it, and the one whose result waits for its use.
        let mut written: FxHashMap<RegisterId, u32> = FxHashMap::default();
        let mut waiting: FxHashMap<RegisterId, u32> = FxHashMap::default();
        for number in 0..=block.instructions.len() as u32 {
            let instruction = block.instructions.get(number as usize);
            let mut used: Vec<RegisterId> = Vec::new();
            match instruction {
                Some(instruction) => instruction.uses(&mut |register| used.push(register)),
                None => used.extend(block.terminator.register()),
            }
            for register in used {
                let Some(defined) = waiting.remove(&register) else { continue };
                let reads = self.reads(function, (id, defined));
                let stays = |read: &RegisterId| written.get(read).is_none_or(|&at| at <= defined);
                if reads.iter().all(stays) {
                    self.folded.insert((id, defined));
                    self.sources.insert(register, (id, defined));
                }
            }
            let Some(dest) = instruction.and_then(Instruction::dest) else { continue };
            written.insert(dest, number);
            let of = &function.registers[dest];
            let alone = of.name.is_none() && self.definitions[dest.index()] == 1 && uses[dest.index()] == 1;
            if alone && instruction.is_some_and(is_pure) && (of.ty != RegisterType::Reference || of.pointee.is_some()) {
                waiting.insert(dest, number);
            }
        }
    }

    /// The registers that an instruction reads, with those of the instructions that are folded into it.
    pub(super) fn reads(&self, function: &Function, at: At) -> Vec<RegisterId> {
        let block = &function.blocks[at.0];
        let mut waiting: Vec<RegisterId> = Vec::new();
        match block.instructions.get(at.1 as usize) {
            Some(instruction) => instruction.uses(&mut |register| waiting.push(register)),
            None => waiting.extend(block.terminator.register()),
        }
        let mut reads = Vec::new();
        while let Some(register) = waiting.pop() {
            match self.sources.get(&register) {
                Some(&(block, number)) => {
                    let source = &function.blocks[block].instructions[number as usize];
                    source.uses(&mut |register| waiting.push(register));
                }
                None => reads.push(register),
            }
        }
        reads
    }

    /// The instruction whose result stands where a register is used.
    pub(super) fn source(&self, register: RegisterId) -> Option<At> {
        self.sources.get(&register).copied()
    }

    pub(super) fn is_folded(&self, at: At) -> bool {
        self.folded.contains(&at)
    }

    /// Whether a register has one value from where it is declared.
    pub(super) fn is_final(&self, function: &Function, register: RegisterId) -> bool {
        self.definitions[register.index()] == u32::from(!function.parameters.contains(&register))
    }

    /// Whether all instructions of a block are parts of its condition.
    pub(super) fn is_condition(&self, function: &Function, block: BlockId) -> bool {
        (0..function.blocks[block].instructions.len() as u32).all(|number| self.is_folded((block, number)))
    }
}

/// Whether an instruction only computes a value, and cannot fail.
fn is_pure(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Copy { .. } | Instruction::Unary { .. } => true,
        Instruction::Binary { op, .. } => !op.is_partial(),
        Instruction::Address { place, .. } => {
            place.indices.iter().all(|index| matches!(index.operand, Operand::Constant(_)))
        }
        _ => false,
    }
}

/// How often registers are mentioned in a part of the tree.
type Mentions = FxHashMap<RegisterId, u32>;

/// Where the variables of a function are declared.
#[derive(Default)]
pub(super) struct Declarations {
    /// Instructions that declare what they define.
    pub(super) at: FxHashSet<At>,
    /// Registers that are declared at the beginning of the function.
    pub(super) first: Vec<RegisterId>,
}

/// Decides where variables are declared, and puts declarations into the tree.
pub(super) fn declare(function: &Function, folding: &Folding, tree: &mut Vec<Node>) -> Declarations {
    let mut placing = Placing { function, folding, total: Mentions::default(), made: Declarations::default() };
    count(function, folding, tree, &mut placing.total);
    placing.sequence(tree, false);
    placing.made.first.sort_unstable();
    placing.made
}

struct Placing<'a> {
    function: &'a Function,
    folding: &'a Folding,
    total: Mentions,
    made: Declarations,
}

impl Placing<'_> {
    /// The mentions in a sequence; what is mentioned there alone is declared in it.
    fn sequence(&mut self, nodes: &mut Vec<Node>, in_loop: bool) -> Mentions {
        // By register: the first statement that mentions it, and how often all do.
        let mut here: FxHashMap<RegisterId, (usize, u32)> = FxHashMap::default();
        for (position, node) in nodes.iter_mut().enumerate() {
            let mut mentions = Mentions::default();
            own_mentions(self.function, self.folding, node, &mut |register| {
                *mentions.entry(register).or_default() += 1
            });
            let repeats = in_loop || matches!(node, Node::Loop { .. } | Node::While { .. });
            for child in node.children_mut() {
                for (register, count) in self.sequence(child, repeats) {
                    *mentions.entry(register).or_default() += count;
                }
            }
            for (register, count) in mentions {
                here.entry(register).or_insert((position, 0)).1 += count;
            }
        }
        let mut before: Vec<(usize, RegisterId)> = Vec::new();
        for (&register, &(first, count)) in &here {
            if self.total.get(&register) != Some(&count) || self.function.parameters.contains(&register) {
                continue;
            }
            match nodes[first] {
                Node::Instruction(at) if self.only_defines(at, register) => {
                    self.made.at.insert(at);
                }
                _ if in_loop => self.made.first.push(register),
                _ => before.push((first, register)),
            }
        }
        here.retain(|register, (_, count)| self.total.get(register) != Some(count));
        // From the end, so that positions stay right.
        before.sort_unstable();
        for (position, register) in before.into_iter().rev() {
            nodes.insert(position, Node::Declare(register));
        }
        here.into_iter().map(|(register, (_, count))| (register, count)).collect()
    }

    fn only_defines(&self, at: At, register: RegisterId) -> bool {
        let instruction = &self.function.blocks[at.0].instructions[at.1 as usize];
        instruction.dest() == Some(register) && !self.folding.reads(self.function, at).contains(&register)
    }
}

fn count(function: &Function, folding: &Folding, nodes: &[Node], total: &mut Mentions) {
    for node in nodes {
        own_mentions(function, folding, node, &mut |register| *total.entry(register).or_default() += 1);
        node.children().for_each(|child| count(function, folding, child, total));
    }
}

/// The registers that a statement mentions, without those inside of it. Folded ones are none.
fn own_mentions(function: &Function, folding: &Folding, node: &Node, mention: &mut impl FnMut(RegisterId)) {
    let all = |at: At, mention: &mut dyn FnMut(RegisterId)| {
        folding.reads(function, at).into_iter().for_each(&mut *mention);
        let instruction = function.blocks[at.0].instructions.get(at.1 as usize);
        instruction.and_then(Instruction::dest).into_iter().for_each(mention);
    };
    match *node {
        Node::Instruction(at) if folding.is_folded(at) => {}
        Node::Instruction(at) => all(at, mention),
        Node::Region { begin, end, .. } => [begin, end].into_iter().for_each(|at| all(at, mention)),
        Node::If { block, .. } | Node::While { block, .. } | Node::Return { block, .. } => {
            all((block, function.blocks[block].instructions.len() as u32), mention);
        }
        _ => {}
    }
}
