//! The text of instructions and terminators.
//!
//! In: a site of a function. Out: one line, such as `n = load x@3:9`, `lock L`, `fork T1(&x), T2(&x)`, `if %0 goto b1 else b2`.

use super::{Mention, Printer, Site, Version};
use crate::{
    Arithmetic, AtomicOperation, Base, BinaryOperator, Conversion, DefinitionId, Instruction, Letter, Line, NewThread,
    Object, Operand, Place, Pointer, Program, ReadId, RegisterId, ScalarType, Synchronisation, Terminator, ThreadLabel,
    TripBounds, Type, UnaryOperator, Value,
};

/// A constant as it is written: `3`, `3L`, `true`, `1.5`, `"text"`.
#[must_use]
pub fn constant_text(program: &Program, value: Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Long(value) => format!("{value}L"),
        Value::Bool(value) => value.to_string(),
        Value::Double(value) => format!("{value:?}"),
        Value::String(text) => format!("{:?}", program.texts.get(text)),
        Value::NoThread => "no thread".to_owned(),
        Value::Integer(ScalarType::UnsignedLong, bits) => format!("{}UL", bits as u64),
        Value::Integer(ScalarType::UnsignedInt, bits) => format!("{bits}U"),
        Value::Integer(ty, bits) => format!("({}){bits}", ty.name()),
        Value::Pointer(pointer) => pointer_text(program, pointer),
    }
}

/// A pointer as a constant: `&x`, `&a[2]`, `NULL`; where no value begins the bytes behind the beginning of the object.
#[must_use]
pub fn pointer_text(program: &Program, pointer: Pointer) -> String {
    let Some((object, byte)) = pointer.target() else {
        return if pointer == Pointer::NULL { "NULL".to_owned() } else { format!("(pointer){}", pointer.bits()) };
    };
    let Object::Global(variable) = object else { return "&(an object)".to_owned() };
    if let (0, Some(variable)) = (byte, program.variables.get(variable))
        && matches!(variable.ty, Type::Class(_))
    {
        return format!("&{}", program.texts.get(variable.name));
    }
    if let Some((leaf, element)) = program.leaf_at_byte(variable, byte) {
        return format!("&{}", program.leaves[leaf].element_name(&program.texts, element));
    }
    let Some(of) = program.variables.get(variable) else { return "&?".to_owned() };
    let name = program.texts.get(of.name);
    let array = of.leaves().next().and_then(|leaf| program.leaves[leaf].dimensions.first());
    match array.filter(|array| array.length * array.stride == of.size && byte == array.length * array.bytes) {
        Some(end) => format!("&{name}[{}]", end.length),
        None => format!("&{name} + {} bytes", byte as i32),
    }
}

impl Printer<'_> {
    /// The line of an instruction or a terminator.
    pub fn words(&self, site: Site) -> String {
        let block = &self.function.blocks[site.block];
        match block.instructions.get(site.position) {
            Some(instruction) => self.instruction(site, instruction),
            None => self.terminator(site, &block.terminator),
        }
    }

    fn terminator(&self, site: Site, terminator: &Terminator) -> String {
        match terminator {
            Terminator::Jump(target) => format!("goto b{}", target.0),
            Terminator::Branch { condition, then_block, else_block } => {
                format!("if {} goto b{} else b{}", self.operand(site, condition), then_block.0, else_block.0)
            }
            Terminator::Return(Some(value)) => format!("return {}", self.operand(site, value)),
            Terminator::Return(None) => "return".to_owned(),
            Terminator::End(Some(value)) => format!("end thread {}", self.operand(site, value)),
            Terminator::End(None) => "end thread".to_owned(),
        }
    }

    fn instruction(&self, site: Site, instruction: &Instruction) -> String {
        let dest = |dest: &RegisterId| self.register(site, *dest, Mention::RegisterWrite(*dest));
        let operand = |operand: &Operand| self.operand(site, operand);
        match instruction {
            Instruction::Copy { dest: to, source } => format!("{} = {}", dest(to), operand(source)),
            Instruction::Unary { dest: to, op, operand: only } => {
                format!("{} = {}", dest(to), unary(*op, &operand(only)))
            }
            Instruction::Binary { dest: to, op, left, right } => {
                format!("{} = {} {} {}", dest(to), operand(left), binary(*op), operand(right))
            }
            Instruction::Load { dest: to, place, read } => {
                format!("{} = load {}", dest(to), self.read(site, place, *read))
            }
            Instruction::Store { place, value, definition } => {
                format!("store {} = {}", self.write(site, place, *definition), operand(value))
            }
            Instruction::Atomic { dest: to, op, place, read: _, definition } => {
                let target = self.write(site, place, *definition);
                let operands: Vec<String> = op.operands().map(|value| operand(&value)).collect();
                // One of them says whether, the other what it has found.
                let word = if let AtomicOperation::CompareExchange { .. } = op { "exchange" } else { op.word() };
                format!("{} = {word} {target}, {}", dest(to), operands.join(", "))
            }
            Instruction::Address { dest: to, place } => format!("{} = {}", dest(to), self.address(site, place)),
            Instruction::Allocate { dest: to, variable, elements } => {
                let variable = self.program.texts.get(self.program.variables[*variable].name);
                let elements =
                    elements.map_or(String::new(), |count| format!("[{}]", operand(&Operand::Register(count))));
                format!("{} = allocate {variable}{elements}", dest(to))
            }
            Instruction::Free { pointer, .. } => format!("free {}", operand(&Operand::Register(*pointer))),
            Instruction::Choose { dest: to, low, high } => {
                format!("{} = choose({}, {})", dest(to), operand(low), operand(high))
            }
            Instruction::Print { arguments, line } => {
                let arguments = arguments.iter().map(|one| {
                    let conversion = one.conversion.filter(|of| *of != Conversion::plain(Letter::Decimal));
                    operand(&one.operand) + &conversion.map_or(String::new(), |of| format!(" as {of}"))
                });
                let arguments: Vec<String> = arguments.collect();
                let line = if *line == Line::Open { " part of a line" } else { "" };
                format!("print{line} {}", arguments.join(", ")).trim_end().to_owned()
            }
            Instruction::Assert { condition, message } => {
                let message = message.map_or(String::new(), |text| format!(", {:?}", self.program.texts.get(text)));
                format!("assert {}{message}", operand(condition))
            }
            Instruction::Error { message } => {
                message.map_or("error".to_owned(), |text| format!("error {:?}", self.program.texts.get(text)))
            }
            Instruction::Assume { condition } => format!("assume {}", operand(condition)),
            Instruction::Call { .. }
            | Instruction::Fork { .. }
            | Instruction::Join
            | Instruction::Spawn { .. }
            | Instruction::JoinThread { .. } => self.transfer(site, instruction),
            Instruction::CurrentThread { dest: to } => format!("{} = self", dest(to)),
            Instruction::Synchronise(operation) => self.synchronisation(site, operation),
            Instruction::AtomicBegin => "begin atomic".to_owned(),
            Instruction::AtomicEnd => "end atomic".to_owned(),
        }
    }

    /// Calls, forks and joins.
    fn transfer(&self, site: Site, instruction: &Instruction) -> String {
        let to = |dest: &Option<RegisterId>| match dest {
            Some(dest) => format!("{} = ", self.register(site, *dest, Mention::RegisterWrite(*dest))),
            None => String::new(),
        };
        match instruction {
            Instruction::Call { dest, function, arguments } => {
                let name = self.program.texts.get(self.program.functions[*function].name);
                format!("{}call {name}({})", to(dest), self.operands(site, arguments))
            }
            Instruction::Fork { threads, bounds } => {
                let threads: Vec<String> = threads.iter().map(|thread| self.thread(site, thread)).collect();
                let bounds = bounds.map_or(String::new(), |TripBounds { first, limit, step }| {
                    format!(" for {}..{} step {step}", self.operand(site, &first), self.operand(site, &limit))
                });
                format!("fork {}{bounds}", threads.join(", "))
            }
            Instruction::Spawn { dest, thread } => {
                let function = self.program.texts.get(self.program.functions[thread.function].name);
                let arguments = self.operands(site, &thread.arguments);
                format!("{}spawn {function}({arguments}) as {}", to(dest), self.label(site, thread))
            }
            Instruction::JoinThread { handle, dest } => format!("{}join {}", to(dest), self.operand(site, handle)),
            _ => "join".to_owned(),
        }
    }

    fn operands(&self, site: Site, operands: &[Operand]) -> String {
        operands.iter().map(|operand| self.operand(site, operand)).collect::<Vec<_>>().join(", ")
    }

    fn thread(&self, site: Site, thread: &NewThread) -> String {
        let arguments = self.operands(site, &thread.arguments);
        let arguments = if arguments.is_empty() { arguments } else { format!("({arguments})") };
        format!("{}{arguments}", self.label(site, thread))
    }

    fn label(&self, site: Site, thread: &NewThread) -> String {
        let (ThreadLabel::Name(name) | ThreadLabel::Iteration(name) | ThreadLabel::Element(name)) = thread.label;
        let ordinal = thread.ordinal.map_or(String::new(), |ordinal| format!("[{}]", self.operand(site, &ordinal)));
        format!("{}{ordinal}", self.program.texts.get(name))
    }

    fn operand(&self, site: Site, operand: &Operand) -> String {
        match operand {
            Operand::Register(register) => self.register(site, *register, Mention::RegisterRead(*register)),
            Operand::Constant(value) => constant_text(self.program, *value),
        }
    }

    fn register(&self, site: Site, register: RegisterId, mention: Mention) -> String {
        match self.annotations.version(site, mention) {
            Some(version) => format!("{}_{}", self.plain_name(register), version.number),
            None => self.register_name(register),
        }
    }

    fn read(&self, site: Site, place: &Place, read: ReadId) -> String {
        let fact = &self.program.reads[read];
        let version = self.annotations.version(site, Mention::Read(read));
        self.access(site, place, self.program.texts.get(fact.name), version, &self.position(fact.span))
    }

    fn write(&self, site: Site, place: &Place, definition: DefinitionId) -> String {
        let fact = &self.program.definitions[definition];
        let version = self.annotations.version(site, Mention::Definition(definition));
        self.access(site, place, self.program.texts.get(fact.name), version, &self.position(fact.span))
    }

    /// `a@3:5`, `t_2(t_1)[%0]@3:5`, `balance@3:5 in &%0`.
    fn access(&self, site: Site, place: &Place, name: &str, version: Option<Version>, position: &str) -> String {
        let versioned = match version {
            Some(Version { number, from: Some(old) }) => format!("{name}_{number}({name}_{old})"),
            Some(Version { number, from: None }) => format!("{name}_{number}"),
            None => name.to_owned(),
        };
        let index = self.indices(site, place);
        let base = match place.base {
            Base::Reference(register) if self.plain_name(register).trim_start_matches('&') != name => {
                format!(" in {}", self.register(site, register, Mention::RegisterRead(register)))
            }
            _ => String::new(),
        };
        format!("{versioned}{index}@{position}{base}")
    }

    /// The name of a synchronisation object.
    fn object(&self, site: Site, place: &Place) -> String {
        match place.base {
            Base::Global(variable) => match self.program.leaf_at(variable, place.offset) {
                Some((leaf, _)) => {
                    format!("{}{}", self.program.texts.get(self.program.leaves[leaf].name), self.indices(site, place))
                }
                None => self.address(site, place),
            },
            Base::Reference(_) | Base::Pointer(_) => self.address(site, place).trim_start_matches('&').to_owned(),
        }
    }

    /// A place whose address is taken: `&account`, `&account+2`.
    fn address(&self, site: Site, place: &Place) -> String {
        let name = match place.base {
            Base::Global(variable) => format!("&{}", self.program.texts.get(self.program.variables[variable].name)),
            Base::Reference(register) => self.register(site, register, Mention::RegisterRead(register)),
            Base::Pointer(register) => format!("*{}", self.register(site, register, Mention::RegisterRead(register))),
        };
        // The first part of an object is not the object.
        let plain = place.offset == 0 && (name != "&this" || !place.indices.is_empty());
        let offset = if plain { String::new() } else { format!("+{}", place.offset) };
        format!("{name}{offset}{}", self.indices(site, place))
    }

    /// `[%1][3]`
    fn indices(&self, site: Site, place: &Place) -> String {
        place.indices.iter().map(|index| format!("[{}]", self.operand(site, &index.operand))).collect()
    }

    fn synchronisation(&self, site: Site, operation: &Synchronisation) -> String {
        let places: Vec<String> = operation.places().map(|place| self.object(site, place)).collect();
        let word = operation.kind.word();
        let verdict = operation
            .verdict
            .map_or(String::new(), |dest| format!("{} = ", self.register(site, dest, Mention::RegisterWrite(dest))));
        if places.is_empty() { word.to_owned() } else { format!("{verdict}{word} {}", places.join(", ")) }
    }
}

fn suffix(arithmetic: Arithmetic) -> &'static str {
    match arithmetic {
        Arithmetic::Int => "",
        Arithmetic::Long => ".long",
        Arithmetic::Double => ".double",
        Arithmetic::UnsignedInt => ".unsigned",
        Arithmetic::UnsignedLong => ".ulong",
        Arithmetic::CheckedInt => ".checked",
        Arithmetic::CheckedLong => ".long.checked",
    }
}

fn unary(op: UnaryOperator, operand: &str) -> String {
    match op {
        UnaryOperator::Negate(Arithmetic::Int) => format!("-{operand}"),
        UnaryOperator::Negate(arithmetic) => format!("-{} {operand}", suffix(arithmetic)),
        UnaryOperator::Complement(Arithmetic::Int) => format!("~{operand}"),
        UnaryOperator::Complement(arithmetic) => format!("~{} {operand}", suffix(arithmetic)),
        UnaryOperator::Not => format!("!{operand}"),
        UnaryOperator::Convert(_, to) => format!("{}({operand})", to.name()),
    }
}

fn binary(op: BinaryOperator) -> String {
    let (sign, ty) = match op {
        BinaryOperator::Add(arithmetic) => ("+", suffix(arithmetic)),
        BinaryOperator::Subtract(arithmetic) => ("-", suffix(arithmetic)),
        BinaryOperator::Multiply(arithmetic) => ("*", suffix(arithmetic)),
        BinaryOperator::Divide(arithmetic) => ("/", suffix(arithmetic)),
        BinaryOperator::Remainder(arithmetic) => ("%", suffix(arithmetic)),
        BinaryOperator::ShiftLeft(arithmetic) => ("<<", suffix(arithmetic)),
        BinaryOperator::ShiftRight(arithmetic) => (">>", suffix(arithmetic)),
        BinaryOperator::And => ("&", ""),
        BinaryOperator::Or => ("|", ""),
        BinaryOperator::Xor => ("^", ""),
        BinaryOperator::Less(arithmetic) => ("<", suffix(arithmetic)),
        BinaryOperator::LessEqual(arithmetic) => ("<=", suffix(arithmetic)),
        BinaryOperator::Equal => ("==", ""),
        BinaryOperator::NotEqual => ("!=", ""),
        BinaryOperator::EqualDouble => ("==", ".double"),
        BinaryOperator::NotEqualDouble => ("!=", ".double"),
        BinaryOperator::PointerAdd => ("+", ".pointer"),
    };
    format!("{sign}{ty}")
}

impl Printer<'_> {
    /// The names of the registers that an instruction or a terminator reads, each once.
    pub fn reads_of(&self, site: Site) -> Vec<String> {
        let block = &self.function.blocks[site.block];
        let mut registers = Vec::new();
        match block.instructions.get(site.position) {
            Some(instruction) => instruction.uses(&mut |register| registers.push(register)),
            None => registers.extend(block.terminator.register()),
        }
        registers.sort_unstable();
        registers.dedup();
        registers.into_iter().map(|register| self.register(site, register, Mention::RegisterRead(register))).collect()
    }

    /// The name of the register that an instruction writes.
    pub fn write_of(&self, site: Site) -> Option<String> {
        let dest = self.function.blocks[site.block].instructions.get(site.position)?.dest()?;
        Some(self.register(site, dest, Mention::RegisterWrite(dest)))
    }
}
