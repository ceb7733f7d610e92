//! The Rust text of one instruction.
//!
//! In: an instruction of the IR. Out: lines of Rust. An event of the execution calls the runtime by the name of the place.
//! Arithmetic is that of the language (see `vm::value`), and Rust's wrapping operations are the same.

use super::free;
use super::registers::{Memory, Registers};
use super::value::{literal, rust_type};
use crate::Input;
use crate::label::Located;
use crate::memory::has_element;
use crate::names::FunctionNames;
use cssame_ir::sync::Kind;
use cssame_ir::{
    Arithmetic, AtomicOperation, Base, BinaryOperator, DefinitionId, Function, Index, Instruction, Letter, Line,
    Modification, NewThread, Object, Operand, Place, Pointer, Printed, ReadId, RegisterId, RegisterType, ScalarType,
    Synchronisation, TextId, UnaryOperator, Value,
};
use cssame_vm::FailureKind;

/// The variable with the beginning of a line that is printed in parts.
pub(super) const OPEN_LINE: &str = "line_so_far";

/// Whether a function prints lines in parts.
pub(super) fn opens_lines(function: &Function) -> bool {
    let mut instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(|one| matches!(one, Instruction::Print { line: Line::Open, .. }))
}

/// Writes the instructions of a function.
pub(super) struct Emitter<'b, 'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) functions: &'a FunctionNames,
    pub(super) registers: &'b mut Registers<'a>,
}

impl Emitter<'_, '_> {
    /// The lines of an instruction.
    pub(super) fn lines(&mut self, at: Located<'_>) -> Vec<String> {
        let is_silent = |instruction: &Instruction| !self.is_free() && self.is_silent(instruction, &at);
        let Some(instruction) = at.instruction.filter(|instruction| !is_silent(instruction)) else {
            return Vec::new();
        };
        let mut lines = self.index_checks(&at, instruction);
        match instruction {
            Instruction::Binary { op, left, right, .. } if op.may_fail(*right) => {
                let conditions = self.has_result(*op, left, right);
                lines.extend(conditions.into_iter().map(|(condition, kind)| self.check(&at, &condition, kind)));
            }
            _ => {}
        }
        lines.push(self.line(&at, instruction));
        lines.retain(|line| !line.is_empty());
        lines
    }

    fn line(&mut self, at: &Located<'_>, instruction: &Instruction) -> String {
        if self.is_free()
            && let Some(line) = free::line(self.input, self.registers, at, instruction)
        {
            return line;
        }
        let label = at.label(self.input);
        match instruction {
            Instruction::Copy { dest, source } => {
                if self.is_reference(*dest, at) {
                    return "// The reference is nothing here.".to_owned();
                }
                let value = self.registers.operand(source);
                self.registers.assign(Some(*dest), None, &value)
            }
            Instruction::Unary { dest, op, operand } => {
                let value = self.unary(*op, operand);
                self.registers.assign(Some(*dest), None, &value)
            }
            Instruction::Binary { dest, op, left, right } => {
                let value = self.binary(*op, left, right);
                self.registers.assign(Some(*dest), None, &value)
            }
            Instruction::Load { dest, read, .. } => {
                let call = format!("{}.pi({label:?})?", self.thread_at(at));
                let text = self.registers.assign(Some(*dest), Some(&label), &call);
                text + &self.pi(*read)
            }
            Instruction::Store { value, definition, .. } => {
                let value = self.registers.operand(value);
                format!("{}.define({label:?}, {value})?;{}", self.thread_at(at), self.version(*definition))
            }
            Instruction::Atomic { dest, op, read, definition, .. } => {
                let call = format!("{}.{}", self.thread_at(at), self.atomic(op, &label, &at.write_label(self.input)));
                let text = self.registers.assign(Some(*dest), Some(&label), &call);
                format!("{text}{}; {}", self.pi(*read), self.version(*definition).trim_start_matches(" // "))
            }
            Instruction::Choose { dest, low, high } => {
                let call =
                    format!("t.choose({label:?}, {}, {})?", self.registers.operand(low), self.registers.operand(high));
                self.registers.assign(Some(*dest), None, &call)
            }
            Instruction::Print { arguments, line } => {
                let goes_on = opens_lines(&self.input.program.functions[at.function]);
                self.print(&label, arguments, *line, goes_on)
            }
            Instruction::Assert { condition, message } => {
                let condition = self.registers.operand(condition);
                self.check_with(at, &condition, FailureKind::Assert, *message)
            }
            Instruction::Error { message } => self.check_with(at, "false", FailureKind::Error, *message),
            Instruction::Assume { condition } => {
                format!("t.assume({}, {label:?})?;", self.registers.operand(condition))
            }
            Instruction::Call { dest, function, arguments } => {
                let call = self.call(*function, arguments);
                self.registers.assign(*dest, None, &format!("t.call(|| {call})?"))
            }
            Instruction::Synchronise(operation) if operation.kind.has_verdict() => {
                let call = format!("t.{}({label:?})?", method(operation));
                self.registers.assign(operation.verdict, None, &call)
            }
            Instruction::Synchronise(operation) => format!("t.{}({label:?})?;", method(operation)),
            Instruction::Fork { threads, .. } => {
                let bodies: Vec<String> = threads.iter().map(|thread| self.thread(thread)).collect();
                format!("t.fork({label:?}, vec![{}])?;", bodies.join(", "))
            }
            Instruction::Spawn { dest, thread } => {
                let call = format!("t.spawn({label:?}, {})?", self.thread(thread));
                self.registers.assign(*dest, None, &call)
            }
            Instruction::CurrentThread { dest } => self.registers.assign(Some(*dest), None, "t.handle()"),
            Instruction::JoinThread { dest: Some(dest), .. } => {
                self.registers.assign(Some(*dest), None, &format!("t.join_for_result({label:?})?"))
            }
            Instruction::Join | Instruction::JoinThread { dest: None, .. } => format!("t.join({label:?})?;"),
            Instruction::Address { dest, place } => {
                let pointer = self.pointer(place);
                self.registers.assign(Some(*dest), None, &pointer)
            }
            Instruction::Allocate { dest, .. } => {
                self.registers.assign(Some(*dest), None, &format!("t.allocate({label:?})?"))
            }
            Instruction::Free { pointer, .. } => format!("t.free({label:?}, {})?;", self.registers.name(*pointer)),
            Instruction::AtomicBegin | Instruction::AtomicEnd => String::new(),
        }
    }

    fn is_free(&self) -> bool {
        self.registers.memory == Memory::Real
    }

    /// Whether an instruction writes nothing in Rust: there are no references.
    fn is_silent(&self, instruction: &Instruction, at: &Located<'_>) -> bool {
        match instruction {
            Instruction::Address { dest, .. } | Instruction::Allocate { dest, .. } => self.is_reference(*dest, at),
            Instruction::AtomicBegin | Instruction::AtomicEnd => true,
            _ => false,
        }
    }

    /// The address of a place: that of its beginning, and the cells that follow.
    fn pointer(&self, place: &Place) -> String {
        let base = match place.base {
            Base::Global(variable) => Pointer::to(Object::Global(variable), 0),
            Base::Reference(register) | Base::Pointer(register) => {
                return self.behind(self.registers.name(register), place);
            }
        };
        if place.indices.is_empty() {
            return literal(&self.input.program.texts, Value::Pointer(base.plus(i64::from(place.offset))));
        }
        self.behind(&literal(&self.input.program.texts, Value::Pointer(base)), place)
    }

    fn behind(&self, base: &str, place: &Place) -> String {
        let index = |index: &Index| format!("{} as i64 * {}", self.registers.receiver(&index.operand), index.stride);
        let offset = (place.offset > 0).then(|| place.offset.to_string());
        let cells: Vec<String> = offset.into_iter().chain(place.indices.iter().map(index)).collect();
        if cells.is_empty() { base.to_owned() } else { format!("crate::behind({base}, {})", cells.join(" + ")) }
    }

    fn is_reference(&self, register: RegisterId, at: &Located<'_>) -> bool {
        self.input.program.functions[at.function].registers[register].ty == RegisterType::Reference
    }

    /// ` // pi(a_0, a_2)`
    fn pi(&self, read: ReadId) -> String {
        let terms = self.input.form.terms(read);
        let name = |term: &DefinitionId| {
            let definition = &self.input.program.definitions[*term];
            (definition.version, format!("{}_{}", self.input.program.texts.get(definition.name), definition.version))
        };
        let mut names: Vec<(u32, String)> = terms.iter().map(name).collect();
        names.sort();
        let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        match names.as_slice() {
            [] => " // not shared".to_owned(),
            [only] => format!(" // {only}"),
            several => format!(" // pi({})", several.join(", ")),
        }
    }

    /// ` // a_2`
    fn version(&self, definition: DefinitionId) -> String {
        let definition = &self.input.program.definitions[definition];
        format!(" // {}_{}", self.input.program.texts.get(definition.name), definition.version)
    }

    /// Checks of the indices of its places.
    fn index_checks(&self, at: &Located<'_>, instruction: &Instruction) -> Vec<String> {
        let places: Vec<&Place> = match instruction {
            Instruction::Synchronise(operation) => operation.places().collect(),
            Instruction::Address { place, .. } if !self.is_free() => vec![place],
            _ => at.place().into_iter().collect(),
        };
        let check = |index: &Index| {
            let operand = self.registers.receiver(&index.operand);
            let condition = match index.length {
                Operand::Constant(length) => format!("(0..{}).contains(&{operand})", length.bits()),
                Operand::Register(_) => {
                    let length = self.registers.operand(&index.length);
                    format!("(0..i64::from({length})).contains(&i64::from({operand}))")
                }
            };
            self.check(at, &condition, FailureKind::IndexOutOfRange)
        };
        places.iter().flat_map(|place| &place.indices).map(check).collect()
    }

    /// The thread, told which element of an array comes next.
    fn thread_at(&self, at: &Located<'_>) -> String {
        let place = at.place().filter(|place| has_element(self.input.program, place));
        match place.map_or(&[][..], |place| place.indices.as_slice()) {
            [] => "t".to_owned(),
            [index] => format!("t.element({})", self.registers.receiver(&index.operand)),
            [first, further @ ..] => {
                let value = |operand: &Operand| format!("i64::from({})", self.registers.receiver(operand));
                let element = further.iter().fold(value(&first.operand), |outer, index| {
                    format!("({outer}) * {} + {}", value(&index.length), value(&index.operand))
                });
                format!("t.element({element})")
            }
        }
    }

    fn check(&self, at: &Located<'_>, condition: &str, kind: FailureKind) -> String {
        self.check_with(at, condition, kind, None)
    }

    fn check_with(&self, at: &Located<'_>, condition: &str, kind: FailureKind, message: Option<TextId>) -> String {
        let message = at.failure(self.input, kind, message);
        format!("t.check({condition}, {:?}, {message:?})?;", at.label(self.input))
    }

    fn atomic(&self, op: &AtomicOperation, read: &str, write: &str) -> String {
        match op {
            AtomicOperation::CompareAndSwap { old, new, .. } => {
                let (old, new) = (self.registers.operand(old), self.registers.operand(new));
                format!("compare_and_swap({read:?}, {write:?}, {old}, {new})?")
            }
            AtomicOperation::Swap(value) => format!("swap({read:?}, {write:?}, {})?", self.registers.operand(value)),
            AtomicOperation::CompareExchange { old, new } => {
                let (old, new) = (self.registers.operand(old), self.registers.operand(new));
                format!("compare_exchange({read:?}, {write:?}, {old}, {new})?")
            }
            AtomicOperation::FetchModify(modification, value, ty) => {
                let value = self.registers.operand(value);
                let new = match modification {
                    Modification::Add => format!("old.wrapping_add({value})"),
                    Modification::Subtract => format!("old.wrapping_sub({value})"),
                    Modification::And => format!("old & {value}"),
                    Modification::Or => format!("old | {value}"),
                    Modification::ExclusiveOr => format!("old ^ {value}"),
                    Modification::NotAnd => format!("!(old & {value})"),
                };
                format!("modify({read:?}, {write:?}, |old: {}| {new})?", rust_type(*ty))
            }
            AtomicOperation::FetchAdd(value, _) => {
                format!("fetch_add({read:?}, {write:?}, {})?", self.registers.operand(value))
            }
        }
    }

    fn print(&self, label: &str, arguments: &[Printed], line: Line, goes_on: bool) -> String {
        let between = if line == Line::Spaced { " " } else { "" };
        let parts: Vec<(String, String)> = arguments.iter().map(|one| self.part(one)).collect();
        let format: Vec<&str> = parts.iter().map(|(format, _)| format.as_str()).collect();
        let values: String = parts.iter().map(|(_, value)| format!(", {value}")).collect();
        let text = match arguments {
            [] => "String::new()".to_owned(),
            _ => format!("format!({:?}{values})", format.join(between)),
        };
        match line {
            Line::Open => format!("{OPEN_LINE} += &{text};"),
            _ if goes_on => format!("t.print({label:?}, std::mem::take(&mut {OPEN_LINE}) + &{text})?;"),
            _ => format!("t.print({label:?}, {text})?;"),
        }
    }

    /// How a value is printed, and the value.
    fn part(&self, printed: &Printed) -> (String, String) {
        let value = self.registers.operand(&printed.operand);
        let Some(conversion) = printed.conversion else {
            return match printed.ty {
                ScalarType::Double => ("{:?}".to_owned(), value),
                ScalarType::Pointer => ("{:#x}".to_owned(), value),
                ScalarType::Thread => ("thread {}".to_owned(), format!("{value}.0")),
                _ => ("{}".to_owned(), value),
            };
        };
        let is_text = matches!(conversion.letter, Letter::Character | Letter::Text);
        let mut format = "{:".to_owned();
        format += if conversion.left { "<" } else { ">" };
        format +=
            if conversion.plus && matches!(conversion.letter, Letter::Decimal | Letter::Fixed) { "+" } else { "" };
        format += if conversion.zeros && !conversion.left && !is_text { "0" } else { "" };
        if conversion.width > 0 {
            format += &conversion.width.to_string();
        }
        match (conversion.letter, conversion.precision) {
            (_, Some(precision)) => format += &format!(".{precision}"),
            (Letter::Fixed, None) => format += ".6",
            _ => {}
        }
        format += match conversion.letter {
            Letter::Hexadecimal => "x}",
            Letter::UpperHexadecimal => "X}",
            Letter::Octal => "o}",
            _ => "}",
        };
        let is_sign = conversion.letter == Letter::Character;
        (format, if is_sign { format!("char::from(({value}) as u8)") } else { value })
    }

    fn call(&self, function: cssame_ir::FunctionId, arguments: &[Operand]) -> String {
        let parameters = self.input.program.functions[function].parameters.iter();
        let callee = &self.input.program.functions[function];
        let free = self.is_free();
        let scalar = |parameter: RegisterId| free || callee.registers[parameter].ty != RegisterType::Reference;
        let given = parameters.zip(arguments).filter(|(parameter, _)| scalar(**parameter));
        let given: String = given.map(|(_, argument)| format!(", {}", self.registers.operand(argument))).collect();
        format!("{}(t{given})", self.functions.get(function))
    }

    fn thread(&self, thread: &NewThread) -> String {
        let call = self.call(thread.function, &thread.arguments);
        match self.input.program.functions[thread.function].result {
            // Where nobody asks for the result: a runtime that runs free keeps none.
            Some(_) if self.is_free() => format!("body(move |t| {call}.map(|_| ()))"),
            _ => format!("body(move |t| {call})"),
        }
    }

    fn unary(&self, op: UnaryOperator, operand: &Operand) -> String {
        let value = self.registers.operand(operand);
        match op {
            UnaryOperator::Negate(Arithmetic::Double) => format!("-({value})"),
            UnaryOperator::Negate(_) => format!("{}.wrapping_neg()", self.registers.receiver(operand)),
            UnaryOperator::Complement(_) => format!("!{}", self.registers.receiver(operand)),
            UnaryOperator::Not => format!("!{value}"),
            UnaryOperator::Convert(from, to) => convert(from, to, &value, &self.registers.receiver(operand)),
        }
    }

    /// When an operator has a result, and what it is called where it has none.
    fn has_result(&self, op: BinaryOperator, left: &Operand, right: &Operand) -> Vec<(String, FailureKind)> {
        use BinaryOperator as Op;
        let second = self.registers.operand(right);
        let checked = |name: &str| {
            let condition = format!("{}.checked_{name}({second}).is_some()", self.registers.receiver(left));
            (condition, FailureKind::Overflow)
        };
        let mut conditions = Vec::new();
        if op.divides() {
            conditions.push((format!("{second} != 0"), FailureKind::DivisionByZero));
        }
        match op {
            Op::ShiftLeft(kind) | Op::ShiftRight(kind) => {
                let width = kind.scalar().integer().map_or(0, |of| of.bits);
                let is_count = format!("(0..{width}).contains(&{})", self.registers.receiver(right));
                conditions.push((is_count, FailureKind::ShiftCount));
            }
            Op::Add(_) => conditions.push(checked("add")),
            Op::Subtract(_) => conditions.push(checked("sub")),
            Op::Multiply(_) => conditions.push(checked("mul")),
            // A remainder has none where the quotient has none.
            Op::Divide(kind) | Op::Remainder(kind) if kind.is_checked() => conditions.push(checked("div")),
            _ => {}
        }
        conditions
    }

    fn binary(&self, op: BinaryOperator, left: &Operand, right: &Operand) -> String {
        use BinaryOperator as Op;
        let (first, second) = (self.registers.operand(left), self.registers.operand(right));
        let receiver = self.registers.receiver(left);
        let plain = |sign: &str| format!("{first} {sign} {second}");
        let wrapping = |name: &str| format!("{receiver}.wrapping_{name}({second})");
        let shift = |name: &str| format!("{receiver}.wrapping_{name}({second} as u32)");
        match op {
            Op::Add(Arithmetic::Double) => plain("+"),
            Op::Subtract(Arithmetic::Double) => plain("-"),
            Op::Multiply(Arithmetic::Double) => plain("*"),
            Op::Divide(Arithmetic::Double) => plain("/"),
            Op::Remainder(Arithmetic::Double) => plain("%"),
            Op::PointerAdd => format!("crate::behind({first}, {second})"),
            Op::Add(_) => wrapping("add"),
            Op::Subtract(_) => wrapping("sub"),
            Op::Multiply(_) => wrapping("mul"),
            Op::Divide(_) => wrapping("div"),
            Op::Remainder(_) => wrapping("rem"),
            Op::ShiftLeft(_) => shift("shl"),
            Op::ShiftRight(_) => shift("shr"),
            Op::And => plain("&"),
            Op::Or => plain("|"),
            Op::Xor => plain("^"),
            Op::Less(_) => plain("<"),
            Op::LessEqual(_) => plain("<="),
            Op::Equal | Op::EqualDouble => plain("=="),
            Op::NotEqual | Op::NotEqualDouble => plain("!="),
        }
    }
}

/// `receiver` is the value in a form that `as` can follow.
fn convert(from: ScalarType, to: ScalarType, value: &str, receiver: &str) -> String {
    use ScalarType::{Bool, Double, Int, Long, String, Thread};
    match (from, to) {
        (Bool, Int) => format!("i32::from({value})"),
        (Bool, Long) => format!("i64::from({value})"),
        (Bool, Double) => format!("f64::from(u8::from({value}))"),
        (Int, Long) => format!("i64::from({value})"),
        (Int | Long, Double) => format!("{value} as f64"),
        (Long | Double, Int) => format!("{value} as i32"),
        (Double, Long) => format!("{value} as i64"),
        (Double, Bool) => format!("{value} != 0.0"),
        (Int | Long, Bool) => format!("{value} != 0"),
        _ if from == to || from == String || to == String => value.to_owned(),
        (Thread, Bool) => format!("{receiver}.0 != 0"),
        (Thread, to) => format!("{receiver}.0 as {}", rust_type(to)),
        (from, Thread) => format!("Handle({})", convert(from, Long, value, receiver)),
        (from, Bool) if from != Double => format!("{receiver} != 0"),
        // As the machine does it: by way of 64 bits, with their sign.
        (Double, to) => format!("{receiver} as i64 as {}", rust_type(to)),
        (_, to) => format!("{receiver} as {}", rust_type(to)),
    }
}

/// The method of the runtime, which has one for all notifications, and no modes of locks: their order is that of the plan.
fn method(operation: &Synchronisation) -> &'static str {
    match operation.kind {
        Kind::Notify | Kind::NotifyAll | Kind::NotifyBare | Kind::NotifyAllBare => Kind::Notify.name(),
        Kind::ReadLock | Kind::WriteLock => Kind::Lock.name(),
        Kind::TryReadLock | Kind::TryWriteLock => Kind::TryLock.name(),
        Kind::UnlockRw => Kind::Unlock.name(),
        kind => kind.name(),
    }
}
