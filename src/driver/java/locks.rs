//! Determines which locks are monitors in Java, and which are explicit locks.
//!
//! In: the functions of a program as trees of statements. Out: the [`Monitors`]: the locks of variables and fields that are used
//! only in the way of a `synchronized` statement.
//!
//! Algorithm: a lock and an unlock of one place in one sequence of statements are a region, if every path out of it first unlocks
//! and then leaves it at once. A lock is a monitor if all its operations belong to such regions, and no thread acquires it twice:
//! its holder can acquire a monitor again, but not a plain lock. It is explicit too if it is passed by reference, if it is an
//! element whose index may change, or if a condition, a try or an unlock elsewhere needs it.

use super::key::{Key, fits, key_of};
use super::tree::{Leavable, Node};

use cssame_ir::sync::Kind;
use cssame_ir::{Base, FunctionId, Instruction, LeafKind, Operand, Place, Program, RegisterId, Synchronisation, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// The locks that are monitors.
#[derive(Clone, Debug, Default)]
pub(super) struct Monitors(FxHashSet<Key>);

impl Monitors {
    pub(super) fn contains(&self, key: Key) -> bool {
        self.0.contains(&key)
    }

    /// The place that an operation locks or unlocks, where that is a monitor.
    pub(super) fn of<'p>(
        &self,
        program: &Program,
        id: FunctionId,
        instruction: &'p Instruction,
    ) -> Option<(Kind, &'p Place)> {
        let (kind, place) = operation(instruction)?;
        let (key, _) = key_of(program, id, place)?;
        self.contains(key).then_some((kind, place))
    }

    /// Finds them; `trees` are the functions with the statements of each.
    pub(super) fn find(program: &Program, trees: &[(FunctionId, Vec<Node>)]) -> Monitors {
        let mut search = Search { program, locks: FxHashSet::default(), explicit: FxHashSet::default() };
        let taken = taken_by(program);
        for (id, tree) in trees {
            search.function(*id);
            search.sequence((*id, &taken), tree, &mut Around::default());
        }
        Monitors(search.locks.difference(&search.explicit).copied().collect())
    }
}

/// The kind and the place of a lock or an unlock.
fn operation(instruction: &Instruction) -> Option<(Kind, &Place)> {
    match instruction {
        Instruction::Synchronise(Synchronisation {
            kind: kind @ (Kind::Lock | Kind::Unlock),
            object: Some(place),
            ..
        }) => Some((*kind, place)),
        _ => None,
    }
}

/// By function: the locks that it and what it calls take.
fn taken_by(program: &Program) -> Taken {
    let mut taken: Taken = FxHashMap::default();
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut waiting: Vec<(FunctionId, Key)> = Vec::new();
    for (id, function) in program.functions.entries() {
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some((Kind::Lock, place)) = operation(instruction) {
                waiting.extend(key_of(program, id, place).map(|(key, _)| (id, key)));
            }
            if let Instruction::Call { function, .. } = instruction {
                callers.entry(*function).or_default().push(id);
            }
        }
    }
    while let Some((id, key)) = waiting.pop() {
        if taken.entry(id).or_default().insert(key) {
            waiting.extend(callers.get(&id).into_iter().flatten().map(|&caller| (caller, key)));
        }
    }
    taken
}

/// By function: the locks that it and what it calls take.
type Taken = FxHashMap<FunctionId, FxHashSet<Key>>;

/// What lies around a sequence: the labels, and the locks of regions, each with the number of labels around that.
#[derive(Default)]
struct Around {
    labels: Vec<Leavable>,
    locks: Vec<(Key, usize)>,
}

struct Search<'a> {
    program: &'a Program,
    /// All locks.
    locks: FxHashSet<Key>,
    /// Those that are no monitors.
    explicit: FxHashSet<Key>,
}

impl Search<'_> {
    /// Looks for uses of locks that a monitor has not.
    fn function(&mut self, id: FunctionId) {
        let program = self.program;
        for instruction in program.functions[id].blocks.iter().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Synchronise(operation) => {
                    for place in operation.places() {
                        let Some((key, _)) = key_of(program, id, place) else { continue };
                        self.locks.insert(key);
                        if !matches!(operation.kind, Kind::Lock | Kind::Unlock) {
                            self.explicit.insert(key);
                        }
                    }
                }
                Instruction::Address { dest, place } => {
                    self.passed(id, place, program.functions[id].registers[*dest].pointee);
                }
                Instruction::Call { function, arguments, .. } => self.given(id, *function, arguments),
                Instruction::Fork { threads, .. } => {
                    threads.iter().for_each(|thread| self.given(id, thread.function, &thread.arguments));
                }
                Instruction::Spawn { thread, .. } => self.given(id, thread.function, &thread.arguments),
                _ => {}
            }
        }
    }

    /// A reference to an object is also one to the lock or the locks that it begins with: the parameter says which is meant.
    fn given(&mut self, id: FunctionId, function: FunctionId, arguments: &[Operand]) {
        let callee = &self.program.functions[function];
        for (argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            if let Operand::Register(register) = *argument {
                let place = Place::at(Base::Reference(register), 0);
                self.passed(id, &place, callee.registers[parameter].pointee);
            }
        }
    }

    /// A lock that is passed by reference, alone or as one of an array.
    fn passed(&mut self, id: FunctionId, place: &Place, pointee: Option<Type>) {
        let program = self.program;
        let Some(pointee) = pointee else { return };
        if !matches!(program.innermost(pointee).0, Type::Single(LeafKind::Lock | LeafKind::ReentrantLock)) {
            return;
        }
        let base = program.base_type(id, place);
        let parts = base.and_then(|base| program.parts_of(base, place, |ty| fits(program, ty, pointee)));
        let field = parts.iter().flatten().rev().find_map(|part| match *part {
            cssame_ir::types::Part::Field(class, number) => Some(Key::Field(class, number)),
            _ => None,
        });
        match (field, place.base) {
            (Some(key), _) => drop(self.explicit.insert(key)),
            (None, Base::Global(variable)) => drop(self.explicit.insert(Key::Global(variable))),
            (None, Base::Reference(_) | Base::Pointer(_)) => {}
        }
    }

    /// Looks at the regions of a sequence.
    fn sequence(&mut self, (id, taken): (FunctionId, &Taken), nodes: &[Node], around: &mut Around) {
        let program = self.program;
        let mut ends: Vec<(usize, Key)> = Vec::new();
        for (position, node) in nodes.iter().enumerate() {
            if let Some(&(end, _)) = ends.last()
                && end == position
            {
                ends.pop();
                around.locks.pop();
                continue;
            }
            if let Node::Instruction((block, number)) = *node {
                let instruction = &program.functions[id].blocks[block].instructions[number as usize];
                if let Some((kind, place)) = operation(instruction) {
                    let Some((key, is_element)) = key_of(program, id, place) else { continue };
                    let region = (kind == Kind::Lock).then(|| region_end(program, id, nodes, position)).flatten();
                    let nests = ends.last().is_none_or(|&(last, _)| region.is_some_and(|end| end < last));
                    let held = around.locks.iter().find(|(other, _)| *other == key).map(|&(_, labels)| labels);
                    match (region.filter(|_| nests && (!is_element || is_fixed(program, id, place))), held) {
                        (Some(end), None) => {
                            ends.push((end, key));
                            around.locks.push((key, around.labels.len()));
                        }
                        (_, Some(labels))
                            if kind == Kind::Unlock
                                && leaves(program, id, &nodes[position + 1..], (&around.labels, labels)) => {}
                        _ => drop(self.explicit.insert(key)),
                    }
                }
                if let Instruction::Call { function, .. } = instruction {
                    let twice = |key: &Key| taken.get(function).is_some_and(|taken| taken.contains(key));
                    self.explicit.extend(around.locks.iter().map(|&(key, _)| key).filter(twice));
                }
                continue;
            }
            let labels = around.labels.len();
            around.labels.extend(node.leavable());
            node.children().for_each(|child| self.sequence((id, taken), child, around));
            around.labels.truncate(labels);
        }
        // What is still open was matched with an end that another region has swallowed.
        for (_, key) in ends {
            around.locks.pop();
            self.explicit.insert(key);
        }
    }
}

/// The unlock in a sequence that ends the region which begins at a lock there.
pub(super) fn region_end(program: &Program, id: FunctionId, nodes: &[Node], begin: usize) -> Option<usize> {
    let instruction = |node: &Node| match *node {
        Node::Instruction((block, number)) => {
            operation(&program.functions[id].blocks[block].instructions[number as usize])
        }
        _ => None,
    };
    let (_, place) = instruction(nodes.get(begin)?)?;
    let same = |node: &Node| instruction(node).is_some_and(|(kind, other)| kind == Kind::Unlock && other == place);
    nodes[begin + 1..].iter().position(same).map(|found| begin + 1 + found)
}

/// Whether statements only unlock and then leave more than what lies behind the first `outer` of those around them.
fn leaves(program: &Program, id: FunctionId, nodes: &[Node], (around, outer): (&[Leavable], usize)) -> bool {
    for node in nodes {
        match node {
            Node::Instruction((block, number)) => {
                let instruction = &program.functions[id].blocks[*block].instructions[*number as usize];
                if !matches!(operation(instruction), Some((Kind::Unlock, _))) {
                    return false;
                }
            }
            Node::Return { .. } => return true,
            _ => return node.left(around).is_some_and(|left| left < outer),
        }
    }
    false
}

/// Whether the indices of a place are constants, or registers that are written once.
fn is_fixed(program: &Program, id: FunctionId, place: &Place) -> bool {
    let function = &program.functions[id];
    let written = |register: RegisterId| {
        let blocks = function.blocks.iter().flat_map(|block| &block.instructions);
        blocks.filter(|instruction| instruction.dest() == Some(register)).count()
    };
    place.indices.iter().all(|index| match index.operand {
        Operand::Constant(_) => true,
        Operand::Register(register) => written(register) == usize::from(!function.parameters.contains(&register)),
    })
}
