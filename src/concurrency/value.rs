//! Abstract values of registers in a context: a constant, a set of references, or unknown.
//!
//! **Input**: a function whose registers are mostly written once, and the abstract values of its parameters. **Output**: the
//! abstract value of an operand.
//!
//! **Algorithm**: follow the single writer of each register back, at most [`MAX_CHAIN`] steps, and compute with the constants
//! found. A register that several instructions write is unknown, unless the context can reach the block of only one of them. So
//! no iteration over the function is needed.
//!
//! **Soundness and limits**: the value covers all executions of the context. Reads of memory are unknown, unless the caller
//! knows their only value.

use super::{InstanceId, KnownReads};
use cssame_ir::points_to::Target;
use cssame_ir::{
    Arithmetic, Base, BinaryOperator, BlockId, Function, Instruction, Object, Operand, Place, Program, RegisterId,
    ScalarType, UnaryOperator, Value, VariableId,
};
use rustc_hash::FxHashMap;

/// What a reference points to, or a place means: a cell of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The variable, in its context.
    pub instance: InstanceId,
    /// The byte of it that the cell begins with.
    pub byte: u32,
    /// Whether it is that cell. Else it is one that lies like it in other elements of the arrays that hold it.
    pub exact: bool,
}

impl Address {
    /// The first cell of an instance.
    #[must_use]
    pub fn of(instance: InstanceId) -> Address {
        Address { instance, byte: 0, exact: true }
    }
}

/// What a register may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbstractValue {
    /// Nothing yet.
    Bottom,
    /// Those bits.
    Constant(i64),
    /// One of those addresses; sorted.
    References(Vec<Address>),
    /// Anything that is no reference.
    Unknown,
}

impl AbstractValue {
    /// Takes in another value; true if that changed anything.
    pub fn join(&mut self, other: &AbstractValue) -> bool {
        let joined = match (&*self, other) {
            (_, AbstractValue::Bottom) => return false,
            (AbstractValue::Bottom, other) => other.clone(),
            (a, b) if a == b => return false,
            (AbstractValue::References(a), AbstractValue::References(b)) => {
                let mut all = a.clone();
                all.extend(b);
                all.sort_unstable();
                all.dedup();
                AbstractValue::References(all)
            }
            _ => AbstractValue::Unknown,
        };
        let changed = *self != joined;
        *self = joined;
        changed
    }
}

/// For each register of a function, the instruction that writes it, where there is just one.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    only: Vec<Writer>,
    /// Of registers that several instructions write: all of them.
    several: FxHashMap<RegisterId, Vec<(BlockId, u32)>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writer {
    None,
    Parameter(u32),
    Instruction(BlockId, u32),
    Several,
}

impl Writers {
    /// The writers of a function's registers.
    #[must_use]
    pub fn of(function: &Function) -> Writers {
        let mut only = vec![Writer::None; function.registers.len()];
        let mut note = |register: RegisterId, writer: Writer| {
            let slot = &mut only[register.index()];
            *slot = if *slot == Writer::None { writer } else { Writer::Several };
        };
        for (position, &register) in function.parameters.iter().enumerate() {
            note(register, Writer::Parameter(position as u32));
        }
        for (id, block) in function.blocks.entries() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                if let Some(dest) = instruction.dest() {
                    note(dest, Writer::Instruction(id, position as u32));
                }
            }
        }
        let mut several: FxHashMap<RegisterId, Vec<(BlockId, u32)>> = FxHashMap::default();
        for (id, block) in function.blocks.entries() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                let dest = instruction.dest().filter(|dest| only[dest.index()] == Writer::Several);
                if let Some(dest) = dest.filter(|dest| !function.parameters.contains(dest)) {
                    several.entry(dest).or_default().push((id, position as u32));
                }
            }
        }
        Writers { only, several }
    }

    /// The only instruction among these blocks that writes a register which several instructions write.
    fn live_place(&self, register: RegisterId, live: &[BlockId]) -> Option<(BlockId, u32)> {
        let mut writers = self.several.get(&register)?.iter().filter(|(block, _)| live.binary_search(block).is_ok());
        let first = writers.next()?;
        writers.next().is_none().then_some(*first)
    }

    /// Which parameter a register is that no instruction writes.
    #[must_use]
    pub fn parameter(&self, register: RegisterId) -> Option<u32> {
        match self.only[register.index()] {
            Writer::Parameter(position) => Some(position),
            _ => None,
        }
    }

    /// Where the only instruction stands that writes a register.
    #[must_use]
    pub fn place(&self, register: RegisterId) -> Option<(BlockId, u32)> {
        match self.only[register.index()] {
            Writer::Instruction(block, position) => Some((block, position)),
            _ => None,
        }
    }
}

/// No chain of registers is followed further.
const MAX_CHAIN: u32 = 64;

/// Evaluates operands of one function in one context.
pub struct Evaluator<'a> {
    /// The program.
    pub program: &'a Program,
    /// The function.
    pub function: &'a Function,
    /// Its registers' writers.
    pub writers: &'a Writers,
    /// The values of its parameters.
    pub arguments: &'a [AbstractValue],
    /// The instance of a global or of a local variable of this context.
    pub instance: &'a dyn Fn(VariableId) -> InstanceId,
    /// Reads of memory whose value is known.
    pub known: &'a KnownReads,
    /// The blocks that executions of the context may reach, sorted; none where all may be.
    pub live: Option<&'a [BlockId]>,
    /// Registers whose values are known where the operands stand.
    pub fixed: &'a [(RegisterId, i64)],
    /// What a pointer in a register may lead to, whatever the context.
    pub pointees: &'a dyn Fn(RegisterId) -> Vec<(InstanceId, Target)>,
    /// The memory that a call gives which asks for some; nothing for other calls.
    pub memory: &'a dyn Fn(BlockId, u32) -> Vec<Address>,
}

/// Where it does not matter what pointers lead to.
fn no_pointees(_: RegisterId) -> Vec<(InstanceId, Target)> {
    Vec::new()
}

/// Where it does not matter what memory is given.
fn no_memory(_: BlockId, _: u32) -> Vec<Address> {
    Vec::new()
}

/// Where it does not matter which instance a variable is.
fn any_instance(_: VariableId) -> InstanceId {
    InstanceId(0)
}

impl<'a> Evaluator<'a> {
    /// An evaluator of values: all blocks may be reached, and all references lead to one instance.
    #[must_use]
    pub fn new(
        program: &'a Program,
        function: &'a Function,
        writers: &'a Writers,
        arguments: &'a [AbstractValue],
        known: &'a KnownReads,
    ) -> Evaluator<'a> {
        Evaluator {
            program,
            function,
            writers,
            arguments,
            instance: &any_instance,
            known,
            live: None,
            fixed: &[],
            pointees: &no_pointees,
            memory: &no_memory,
        }
    }
}

impl Evaluator<'_> {
    /// The value of an operand.
    #[must_use]
    pub fn operand(&self, operand: Operand) -> AbstractValue {
        self.at(operand, MAX_CHAIN)
    }

    /// The constant that an operand is, if it is one in this context.
    #[must_use]
    pub fn constant(&self, operand: Operand) -> Option<i64> {
        match self.operand(operand) {
            AbstractValue::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    /// What an instruction gives to its register, where that is a known constant.
    #[must_use]
    pub fn result(&self, instruction: &Instruction) -> Option<i64> {
        match self.instruction(instruction, MAX_CHAIN) {
            AbstractValue::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    fn at(&self, operand: Operand, fuel: u32) -> AbstractValue {
        let register = match operand {
            Operand::Constant(value) => return self.value(value),
            Operand::Register(register) => register,
        };
        if let Some(&(_, bits)) = self.fixed.iter().find(|known| known.0 == register) {
            return AbstractValue::Constant(bits);
        }
        if fuel == 0 {
            return AbstractValue::Unknown;
        }
        match self.writers.only[register.index()] {
            Writer::Parameter(position) => {
                self.arguments.get(position as usize).cloned().unwrap_or(AbstractValue::Unknown)
            }
            Writer::Instruction(block, position) => {
                let instruction = &self.function.blocks[block].instructions[position as usize];
                if let Instruction::Call { .. } = instruction {
                    let memory = (self.memory)(block, position);
                    return if memory.is_empty() { AbstractValue::Unknown } else { AbstractValue::References(memory) };
                }
                self.instruction(instruction, fuel - 1)
            }
            Writer::Several => {
                let place = self.live.and_then(|live| self.writers.live_place(register, live));
                let Some((block, position)) = place else { return AbstractValue::Unknown };
                self.instruction(&self.function.blocks[block].instructions[position as usize], fuel - 1)
            }
            Writer::None => AbstractValue::Unknown,
        }
    }

    fn instruction(&self, instruction: &Instruction, fuel: u32) -> AbstractValue {
        let constant = |operand: Operand| match self.at(operand, fuel) {
            AbstractValue::Constant(bits) => Some(bits),
            _ => None,
        };
        let bits = match instruction {
            Instruction::Copy { source, .. } => return self.at(*source, fuel),
            Instruction::Unary { op, operand, .. } => match (op, self.at(*operand, fuel)) {
                // A pointer keeps what it leads to.
                (UnaryOperator::Convert(..), AbstractValue::References(addresses)) => {
                    return AbstractValue::References(addresses);
                }
                (op, AbstractValue::Constant(bits)) => unary(*op, bits),
                _ => None,
            },
            Instruction::Binary { op: BinaryOperator::PointerAdd, left, right, .. } => {
                return self.pointer_add(*left, *right, fuel);
            }
            Instruction::Binary { op, left, right, .. } => {
                constant(*left).zip(constant(*right)).and_then(|(left, right)| binary(*op, left, right))
            }
            Instruction::Allocate { variable, .. } => {
                return AbstractValue::References(vec![Address::of((self.instance)(*variable))]);
            }
            Instruction::Address { place, .. } => return self.address(place, fuel),
            Instruction::Load { read, .. } => self.known.get(read).copied(),
            _ => None,
        };
        bits.map_or(AbstractValue::Unknown, AbstractValue::Constant)
    }

    /// The addresses that a place may mean.
    fn address(&self, place: &Place, fuel: u32) -> AbstractValue {
        let (skipped, exact) = self.skipped(place, fuel);
        let mut addresses = match place.base {
            Base::Global(variable) => {
                let (instance, byte) = ((self.instance)(variable), self.program.byte_of(variable, skipped));
                let byte = byte.unwrap_or(skipped);
                return AbstractValue::References(vec![Address { instance, byte, exact }]);
            }
            Base::Reference(register) | Base::Pointer(register) => match self.at(Operand::Register(register), fuel) {
                AbstractValue::References(addresses) => addresses,
                _ => return AbstractValue::Unknown,
            },
        };
        for address in &mut addresses {
            address.byte = address.byte.wrapping_add(skipped);
            address.exact &= exact;
        }
        AbstractValue::References(addresses)
    }

    /// How far behind its base a place begins, and whether that is certain. An index that is not known, or is
    /// outside its array, counts as 0.
    fn skipped(&self, place: &Place, fuel: u32) -> (u32, bool) {
        let mut skipped = place.offset;
        let mut exact = true;
        for index in &place.indices {
            let constant = |operand: Operand| match self.at(operand, fuel) {
                AbstractValue::Constant(bits) => Some(bits),
                _ => None,
            };
            // What is behind the end of an array that was passed by reference is no element of another one: such an
            // access fails. So the length matters only where it is known.
            let length = constant(index.length).unwrap_or(i64::MAX);
            match constant(index.operand).filter(|at| (0..length).contains(at)).map(u32::try_from) {
                Some(Ok(at)) => skipped = skipped.saturating_add(at.saturating_mul(index.stride)),
                _ => exact = false,
            }
        }
        (skipped, exact)
    }

    /// The value of a constant.
    fn value(&self, value: Value) -> AbstractValue {
        if let Value::Pointer(pointer) = value
            && let Some((Object::Global(variable), byte)) = pointer.target()
        {
            return AbstractValue::References(vec![Address { byte, ..Address::of((self.instance)(variable)) }]);
        }
        AbstractValue::Constant(value.bits())
    }

    /// A pointer that computing has moved; only by a known distance from a known cell it leads to a known one.
    fn pointer_add(&self, pointer: Operand, bytes: Operand, fuel: u32) -> AbstractValue {
        match (self.at(pointer, fuel), self.at(bytes, fuel)) {
            (known, AbstractValue::Constant(0)) => known,
            (AbstractValue::References(mut addresses), AbstractValue::Constant(bytes))
                if addresses.iter().all(|address| address.exact) =>
            {
                addresses.iter_mut().for_each(|address| address.byte = address.byte.wrapping_add(bytes as u32));
                AbstractValue::References(addresses)
            }
            _ => AbstractValue::Unknown,
        }
    }

    /// The addresses that a place may mean.
    #[must_use]
    pub fn targets(&self, place: &Place) -> Vec<Address> {
        match (self.address(place, MAX_CHAIN), place.base) {
            (AbstractValue::References(targets), _) => targets,
            (_, Base::Pointer(register)) => {
                let (skipped, exact) = self.skipped(place, MAX_CHAIN);
                let further = |(instance, target): (InstanceId, Target)| {
                    let (exact, target) = (exact && target.exact, target.behind(skipped));
                    let any = target.byte.is_none().then(|| target.leaves(self.program));
                    let any = any.into_iter().flatten().map(|leaf| self.program.leaves[leaf].byte);
                    let bytes: Vec<u32> = any.chain(target.byte).collect();
                    bytes.into_iter().map(move |byte| Address { instance, byte, exact })
                };
                self.led_to(register, MAX_CHAIN).into_iter().flat_map(further).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What a pointer may lead to, whatever the context; one that was moved by a known distance leads as far behind that.
    fn led_to(&self, register: RegisterId, fuel: u32) -> Vec<(InstanceId, Target)> {
        let whatever = || (self.pointees)(register);
        let Some((block, position)) = self.writers.place(register).filter(|_| fuel > 0) else { return whatever() };
        match self.function.blocks[block].instructions[position as usize] {
            Instruction::Binary { op: BinaryOperator::PointerAdd, left: Operand::Register(left), right, .. } => {
                let AbstractValue::Constant(bytes) = self.at(right, fuel) else { return whatever() };
                let mut found = self.led_to(left, fuel - 1);
                if found.is_empty() || !found.iter().all(|(_, target)| target.exact) {
                    return whatever();
                }
                found.iter_mut().for_each(|(_, target)| *target = target.behind(bytes as u32));
                found
            }
            Instruction::Copy { source: Operand::Register(source), .. } => self.led_to(source, fuel - 1),
            _ => whatever(),
        }
    }
}

/// `op operand`, where the result is known and no double goes in.
pub fn unary(op: UnaryOperator, bits: i64) -> Option<i64> {
    Some(match op {
        UnaryOperator::Negate(arithmetic) => arithmetic.scalar().integer()?.wrap(bits.wrapping_neg()),
        UnaryOperator::Complement(arithmetic) => arithmetic.scalar().integer()?.wrap(!bits),
        UnaryOperator::Not => i64::from(bits == 0),
        UnaryOperator::Convert(ScalarType::Int | ScalarType::Long, ScalarType::Double) => {
            Value::Double(bits as f64).bits()
        }
        UnaryOperator::Convert(ScalarType::Double | ScalarType::String, _) => return None,
        UnaryOperator::Convert(_, ScalarType::Bool) => i64::from(bits != 0),
        UnaryOperator::Convert(_, ScalarType::Pointer | ScalarType::Thread) => bits,
        UnaryOperator::Convert(_, to) => to.integer()?.wrap(bits),
    })
}

/// `left op right`, where the result is known; a division by zero has none.
pub fn binary(op: BinaryOperator, left: i64, right: i64) -> Option<i64> {
    let narrow = |arithmetic: Arithmetic, value: i64| Some(arithmetic.scalar().integer()?.wrap(value));
    let is_plain = |arithmetic: Arithmetic| !matches!(arithmetic, Arithmetic::Double | Arithmetic::UnsignedLong);
    let integer = |arithmetic: Arithmetic, value: bool| is_plain(arithmetic).then_some(i64::from(value));
    match op {
        BinaryOperator::Add(arithmetic) => narrow(arithmetic, left.wrapping_add(right)),
        BinaryOperator::Subtract(arithmetic) => narrow(arithmetic, left.wrapping_sub(right)),
        BinaryOperator::Multiply(arithmetic) => narrow(arithmetic, left.wrapping_mul(right)),
        BinaryOperator::Divide(arithmetic) if right != 0 && is_plain(arithmetic) => {
            narrow(arithmetic, left.wrapping_div(right))
        }
        BinaryOperator::Remainder(arithmetic) if right != 0 && is_plain(arithmetic) => {
            narrow(arithmetic, left.wrapping_rem(right))
        }
        BinaryOperator::Less(arithmetic) => integer(arithmetic, left < right),
        BinaryOperator::LessEqual(arithmetic) => integer(arithmetic, left <= right),
        BinaryOperator::And => Some(left & right),
        BinaryOperator::Or => Some(left | right),
        BinaryOperator::Xor => Some(left ^ right),
        BinaryOperator::Equal => Some(i64::from(left == right)),
        BinaryOperator::NotEqual => Some(i64::from(left != right)),
        _ => None,
    }
}
