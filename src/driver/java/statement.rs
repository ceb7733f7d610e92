//! The Java of single instructions.
//!
//! In: an instruction. Out: its lines. An event of a plan has its own line, between a line that waits for its turn and one that
//! marks it as done.

use super::expression::Scope;
use super::line::{Lines, Mark};
use super::text::string;
use super::tree::At;
use crate::Input;
use crate::label::{Located, operand_type};
use cssame_ir::{
    AtomicOperation, Base, FunctionId, Index, Instruction, NewThread, Operand, Place, RegisterId, RegisterType, TextId,
    ThreadLabel,
};
use cssame_vm::FailureKind;
use rustc_hash::FxHashSet;

/// Writes the instructions of a function.
pub(super) struct Writer<'w, 'a> {
    pub(super) scope: Scope<'w, 'a>,
    pub(super) lines: Lines,
    /// Instructions that declare the variable that they define.
    pub(super) declaring: FxHashSet<At>,
    pub(super) at: At,
}

impl<'a> Writer<'_, 'a> {
    /// Writes an instruction that is no part of an expression, and no monitor.
    pub(super) fn instruction(&mut self, located: &Located<'a>, instruction: &'a Instruction) {
        self.index_checks(located, instruction);
        let input = self.scope.symbols.input;
        match instruction {
            Instruction::Copy { dest, .. } | Instruction::Unary { dest, .. } | Instruction::Address { dest, .. } => {
                let value = self.scope.result(instruction).0;
                self.assign(Some(*dest), "v", &value);
            }
            Instruction::Binary { dest, op, right, .. } => {
                if op.divides()
                    && let Some(condition) = self.scope.is_no_zero(right)
                {
                    self.check(located, &condition, FailureKind::DivisionByZero, None);
                }
                let value = self.scope.result(instruction).0;
                self.assign(Some(*dest), "v", &value);
            }
            Instruction::Load { dest, place, .. } => {
                let slot = self.scope.slot(place);
                let is_event = input.machine.visibility().access(instruction);
                self.access(located, (*dest, &slot.read()), is_event.then(|| slot.read_by()));
            }
            Instruction::Store { place, value, .. } => {
                let is_event = input.machine.visibility().access(instruction);
                self.store(located, place, value, is_event);
            }
            Instruction::Atomic { dest, op, place, .. } => {
                let is_event = input.machine.visibility().access(instruction);
                let (value, method) = self.atomic(op, place);
                self.access(located, (*dest, &value), is_event.then(|| ("call", method.to_owned())));
            }
            Instruction::Allocate { dest, variable, .. } => {
                let ty = input.program.variables[*variable].ty;
                let value = self.scope.symbols.local(ty, *variable);
                self.assign(Some(*dest), "v", &value);
            }
            Instruction::Choose { dest, low, high } => {
                let value = format!("Choice.between({}, {})", self.scope.operand(low), self.scope.operand(high));
                self.assign(Some(*dest), "choice", &value);
            }
            Instruction::Print { arguments, .. } => {
                let shown: Vec<String> = arguments.iter().map(|one| self.scope.operand(&one.operand)).collect();
                self.lines.push(format!("Output.print({});", shown.join(", ")));
            }
            Instruction::Assert { condition, message } => {
                let condition = self.scope.operand(condition);
                self.check(located, &condition, FailureKind::Assert, *message);
            }
            Instruction::Error { message } => self.check(located, "false", FailureKind::Error, *message),
            Instruction::Assume { condition } => {
                let condition = self.scope.operand(condition);
                self.lines.push(format!("Failure.assume({condition});"));
            }
            Instruction::Call { dest, function, arguments } => {
                let shown = self.arguments(*function, arguments);
                let call = self.call(*function, shown);
                let dest = dest.filter(|_| input.program.functions[*function].result.is_some());
                self.assign(dest, "result", &call);
            }
            Instruction::Synchronise(operation) => self.synchronise(located, operation),
            Instruction::Fork { threads, .. } => threads.iter().for_each(|thread| {
                let (name, body) = self.thread(thread);
                self.lines.push(format!("Threads.fork({name}, {body});"));
            }),
            Instruction::Spawn { dest, thread } => {
                let (name, body) = self.thread(thread);
                self.assign(*dest, "handle", &format!("Threads.spawn({name}, {body})"));
            }
            Instruction::Join => self.lines.push("Threads.join();"),
            Instruction::CurrentThread { .. } => {}
            Instruction::JoinThread { handle, .. } => {
                let handle = self.scope.inner(handle);
                self.check(located, &format!("{handle} != null"), FailureKind::EmptyHandle, None);
                self.lines.push(format!("Threads.join({handle});"));
            }
            // `unwritten` has refused a program that gives memory back.
            Instruction::Free { .. } | Instruction::AtomicBegin | Instruction::AtomicEnd => {}
        }
    }

    /// `int x = value;`; `hint` is for a register that has no name in the text.
    fn assign(&mut self, dest: Option<RegisterId>, hint: &str, value: &str) {
        let text = self.assignment(dest, hint, value);
        self.lines.push(text);
    }

    fn assignment(&mut self, dest: Option<RegisterId>, hint: &str, value: &str) -> String {
        let Some(dest) = dest else { return format!("{value};") };
        let (left, _) = self.left_side(dest, hint);
        format!("{left}{value};")
    }

    /// The left side of an assignment, such as `int x = `, and the name in it.
    pub(super) fn left_side(&mut self, dest: RegisterId, hint: &str) -> (String, String) {
        let name = self.scope.name(dest, hint);
        let ty = if self.declaring.contains(&self.at) { self.scope.register_type(dest) + " " } else { String::new() };
        (format!("{ty}{name} = "), name)
    }

    /// The place of an access in a plan, in the call that waits for its turn.
    fn awaited(&mut self, located: &Located<'a>) -> String {
        let label = string(&located.label(self.scope.symbols.input));
        match located.place().and_then(|place| self.scope.element(place)) {
            Some(element) => format!("Order.await({label}, {element});"),
            None => format!("Order.await({label});"),
        }
    }

    /// A statement that reads memory into a variable; where it is an event, by which join point.
    fn access(
        &mut self,
        located: &Located<'a>,
        (dest, value): (RegisterId, &str),
        event: Option<(&'static str, String)>,
    ) {
        let input = self.scope.symbols.input;
        let text = self.assignment(Some(dest), &hint(located, input), value);
        let Some((join_point, member)) = event else { return self.lines.push(text) };
        let awaited = self.awaited(located);
        self.lines.hook(awaited);
        self.lines.event(text, Mark::new(join_point, &member, &self.marked(located)));
        let name = self.scope.name(dest, "v");
        self.lines.hook(format!("Order.done({name});"));
    }

    /// The place of an access, for a table of join points. `[*]` says that the number of the element is not the argument of the
    /// call: the array is a part of an element of another one, or it gets its first values, whose place has no number.
    fn marked(&self, located: &Located<'a>) -> String {
        let input = self.scope.symbols.input;
        let label = located.label(input);
        let Some(place) = located.place() else { return label };
        let in_array = self.scope.array_indices(place);
        if in_array > 0 && in_array != place.indices.len() { format!("{label}[*]") } else { label }
    }

    fn store(&mut self, located: &Located<'a>, place: &Place, value: &Operand, is_event: bool) {
        let input = self.scope.symbols.input;
        let mut shown = self.scope.operand(value);
        let is_simple = shown.chars().all(|each| each.is_ascii_alphanumeric() || matches!(each, '_' | '.' | '-'));
        let is_constant = matches!(value, Operand::Constant(_));
        if is_event && !is_simple && !is_constant {
            let ty = super::text::type_name(operand_type(input, self.scope.id, value));
            let name = self.scope.names.numbered(&hint(located, input));
            self.lines.push(format!("{ty} {name} = {shown};"));
            shown = name;
        }
        let slot = self.scope.slot(place);
        let text = slot.write(&shown);
        if !is_event {
            return self.lines.push(text);
        }
        let awaited = self.awaited(located);
        self.lines.hook(awaited);
        let (join_point, member) = slot.written_by();
        self.lines.event(text, Mark::new(join_point, &member, &self.marked(located)));
        self.lines.hook(format!("Order.done({shown});"));
    }

    fn atomic(&mut self, op: &AtomicOperation, place: &Place) -> (String, &'static str) {
        let (method, arguments) = match op {
            AtomicOperation::CompareAndSwap { old, new, .. } => {
                ("compareAndSet", format!("{}, {}", self.scope.operand(old), self.scope.operand(new)))
            }
            AtomicOperation::Swap(value) => ("swap", self.scope.operand(value)),
            AtomicOperation::FetchAdd(value, _) => ("fetchAdd", self.scope.operand(value)),
            // `unwritten` has refused the program.
            AtomicOperation::CompareExchange { .. } | AtomicOperation::FetchModify(..) => ("ofC", String::new()),
        };
        (self.scope.slot(place).call(method, &arguments), method)
    }

    /// Checks of the indices of its places.
    pub(super) fn index_checks(&mut self, located: &Located<'a>, instruction: &'a Instruction) {
        let places: Vec<&Place> = match instruction {
            Instruction::Synchronise(operation) => operation.places().collect(),
            Instruction::Address { place, .. } => vec![place],
            _ => located.place().into_iter().collect(),
        };
        let indices: Vec<&Index> = places.iter().flat_map(|place| &place.indices).collect();
        for index in indices {
            if let Some(condition) = self.scope.in_range(index) {
                self.check(located, &condition, FailureKind::IndexOutOfRange, None);
            }
        }
    }

    fn check(&mut self, located: &Located<'a>, condition: &str, kind: FailureKind, message: Option<TextId>) {
        let message = located.failure(self.scope.symbols.input, kind, message);
        self.lines.push(format!("Failure.check({condition}, {});", string(&message)));
    }

    /// The arguments of a call. Where a reference leads to an object, it is also one to what that begins with: the parameter says
    /// which is meant.
    fn arguments(&mut self, function: FunctionId, arguments: &[Operand]) -> Vec<String> {
        let callee = &self.scope.symbols.input.program.functions[function];
        let mut shown = Vec::with_capacity(arguments.len());
        for (argument, &parameter) in arguments.iter().zip(&callee.parameters) {
            let wanted = callee.registers[parameter].pointee;
            shown.push(match *argument {
                Operand::Register(register) if wanted.is_some() && self.scope.folding.source(register).is_none() => {
                    self.scope.reference(&Place::at(Base::Reference(register), 0), wanted)
                }
                _ => self.scope.operand(argument),
            });
        }
        shown
    }

    /// A call; a method is called on its object.
    fn call(&self, function: FunctionId, mut arguments: Vec<String>) -> String {
        let symbols = self.scope.symbols;
        let Some(method) = symbols.methods.get(&function) else { return String::new() };
        let object = match method.class {
            Some(_) if !arguments.is_empty() => arguments.remove(0) + ".",
            _ if symbols.methods[&self.scope.id].class.is_some() => "Program.".to_owned(),
            _ => String::new(),
        };
        format!("{object}{}({})", method.name, arguments.join(", "))
    }

    /// The name of a new thread, and what it runs. What it takes is looked at now, not when it runs.
    fn thread(&mut self, thread: &NewThread) -> (String, String) {
        let shown = self.arguments(thread.function, &thread.arguments);
        let arguments =
            thread.arguments.iter().zip(shown).map(|(argument, text)| self.captured(argument, text)).collect();
        let call = self.call(thread.function, arguments);
        (self.thread_name(thread), format!("() -> {call}"))
    }

    /// An operand in a lambda, which takes only what has one value.
    fn captured(&mut self, operand: &Operand, text: String) -> String {
        let Operand::Register(register) = *operand else { return text };
        let is_final = self.scope.folding.source(register).is_none() && self.is_final(register);
        if text == "this" || is_final && text == self.scope.name(register, "v") {
            return text;
        }
        let hint = self.scope.function.registers[register].name;
        let hint = hint.map_or("v", |name| self.scope.symbols.input.program.texts.get(name));
        let name = self.scope.names.numbered(hint);
        let is_reference = self.scope.function.registers[register].ty == RegisterType::Reference;
        let ty = if is_reference { "var".to_owned() } else { self.scope.register_type(register) };
        self.lines.push(format!("{ty} {name} = {text};"));
        name
    }

    /// Whether a variable has one value from where Java declares it.
    fn is_final(&self, register: RegisterId) -> bool {
        let function = self.scope.function;
        let is_declared = function.parameters.contains(&register)
            || self
                .declaring
                .iter()
                .any(|&(block, number)| function.blocks[block].instructions[number as usize].dest() == Some(register));
        is_declared && self.scope.folding.is_final(function, register)
    }

    /// What a thread is called; with the number of its iteration or of the element that gets its handle.
    fn thread_name(&mut self, thread: &NewThread) -> String {
        let texts = &self.scope.symbols.input.program.texts;
        let number = thread.ordinal.as_ref().map(|ordinal| self.scope.inner(ordinal));
        match (thread.label, number) {
            (ThreadLabel::Iteration(label), Some(number)) => {
                format!("{} + {number} + \"]\"", string(&format!("{}[", texts.get(label))))
            }
            (ThreadLabel::Element(label), Some(number)) => element_name(texts.get(label), &number),
            (ThreadLabel::Name(label) | ThreadLabel::Iteration(label) | ThreadLabel::Element(label), _) => {
                string(texts.get(label))
            }
        }
    }
}

/// The name of a thread whose handle is an element, such as `w[]`, `m[][4]` or `p[].t`: a number takes the places of all indices,
/// the last array first.
fn element_name(label: &str, number: &str) -> String {
    let mut parts = label.split('[');
    let mut text = string(&format!("{}[", parts.next().unwrap_or_default()));
    let parts: Vec<(&str, &str)> = parts.map(|part| part.split_once(']').unwrap_or((part, ""))).collect();
    for (position, (_, behind)) in parts.iter().enumerate() {
        let length = |part: &(&str, &str)| part.0.parse::<u64>().unwrap_or(1).max(1);
        let inner: u64 = parts[position + 1..].iter().map(length).product();
        let quotient = if inner == 1 { number.to_owned() } else { format!("({number} / {inner})") };
        let index = if position == 0 { quotient } else { format!("({quotient} % {})", length(&parts[position])) };
        let open = if position + 1 == parts.len() { "" } else { "[" };
        text.push_str(&format!(" + {index} + {}", string(&format!("]{behind}{open}"))));
    }
    text
}

/// What a value that is read or written at a place is called: by the last part of the name.
fn hint(located: &Located<'_>, input: &Input<'_>) -> String {
    let label = located.label(input);
    let name = label.split('@').next().unwrap_or_default();
    name.rsplit(['.', ']', ' ']).find(|part| !part.is_empty()).unwrap_or("v").to_owned()
}
