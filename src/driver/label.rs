//! The names of the places where events happen: `a@6:24` for an access, `lock L@5:3` for another operation.
//!
//! In: an instruction of the program. Out: the name of the place, by which plans and generated code refer to it, and the message
//! of the program if it fails there.

use super::Input;
use cssame_form::{definition_name, read_name};
use cssame_ir::{Base, FunctionId, Instruction, Place, ScalarType, TextId};
use cssame_ir::{Operand, RegisterType, Symbol};
use cssame_source::Span;
use cssame_vm::{FailureKind, Origin};

/// An instruction and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located<'a> {
    pub(super) function: FunctionId,
    /// `None` for a terminator.
    pub(super) instruction: Option<&'a Instruction>,
    pub(super) span: Span,
}

impl<'a> Located<'a> {
    /// The instruction that the machine means.
    pub(super) fn of(input: &Input<'a>, origin: Origin) -> Located<'a> {
        let block = &input.program.functions[origin.function].blocks[origin.block];
        let position = origin.instruction as usize;
        Located {
            function: origin.function,
            instruction: block.instructions.get(position),
            span: block.spans.get(position).copied().unwrap_or(block.terminator_span),
        }
    }

    /// The place in memory that it reads or writes.
    pub(super) fn place(&self) -> Option<&Place> {
        match self.instruction? {
            Instruction::Load { place, .. } | Instruction::Store { place, .. } | Instruction::Atomic { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }

    /// Whether it makes a local variable that a pointer leads to: one of C.
    pub(super) fn gets_pointer(&self, input: &Input<'_>) -> bool {
        let pointer = RegisterType::Scalar(ScalarType::Pointer);
        let Some(Instruction::Allocate { dest, .. }) = self.instruction else { return false };
        input.program.functions[self.function].registers[*dest].ty == pointer
    }

    /// Its name. That of an atomic access is the name of its read.
    pub(super) fn label(&self, input: &Input<'_>) -> String {
        match self.instruction {
            Some(Instruction::Load { read, .. } | Instruction::Atomic { read, .. }) => {
                read_name(input.sources, input.program, *read)
            }
            Some(Instruction::Store { definition, .. }) => definition_name(input.sources, input.program, *definition),
            Some(instruction) => {
                let position = input.sources.position(self.span);
                format!("{}@{position}", self.operation(input, instruction))
            }
            None => "end".to_owned(),
        }
    }

    /// The name of its write.
    pub(super) fn write_label(&self, input: &Input<'_>) -> String {
        match self.instruction {
            Some(Instruction::Atomic { definition, .. }) => definition_name(input.sources, input.program, *definition),
            _ => self.label(input),
        }
    }

    fn operation(&self, input: &Input<'_>, instruction: &Instruction) -> String {
        let Instruction::Synchronise(operation) = instruction else {
            // A choice that sets an input stands where the input is declared.
            let chosen =
                |symbol: &&Symbol| matches!(instruction, Instruction::Choose { .. }) && symbol.span == self.span;
            let input = input.program.symbols.iter().find(chosen).map(|symbol| input.program.texts.get(symbol.name));
            let name = word(instruction);
            return input.map_or_else(|| name.to_owned(), |input| format!("{name} {input}"));
        };
        let name = operation.kind.word();
        match operation.places().next().and_then(|place| self.object(input, place)) {
            Some(object) => format!("{name} {object}"),
            None => name.to_owned(),
        }
    }

    /// What the object is called here; none for one that has no name in the text.
    fn object(&self, input: &Input<'_>, place: &Place) -> Option<String> {
        let texts = &input.program.texts;
        let name = match place.base {
            Base::Global(variable) => {
                texts.get(input.program.leaves[input.program.leaf_at(variable, place.offset)?.0].name)
            }
            Base::Reference(register) | Base::Pointer(register) => {
                texts.get(input.program.functions[self.function].registers[register].name?)
            }
        };
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            .then(|| name.split('(').next().unwrap_or(name).to_owned())
            .filter(|name| !name.contains(' '))
    }

    /// The type of the cell that it reads or writes.
    pub(super) fn cell_type(&self, input: &Input<'_>) -> ScalarType {
        let of = |operand: &Operand| operand_type(input, self.function, operand);
        match self.instruction {
            Some(Instruction::Load { dest, .. }) => of(&Operand::Register(*dest)),
            Some(Instruction::Store { value, .. }) => of(value),
            Some(Instruction::Atomic { op, .. }) => of(&op.value()),
            _ => ScalarType::Int,
        }
    }

    /// What the program says that fails here.
    pub(super) fn failure(&self, input: &Input<'_>, kind: FailureKind, message: Option<TextId>) -> String {
        if matches!(kind, FailureKind::StepLimit | FailureKind::CallDepth) {
            return kind.sentence().to_owned();
        }
        let line = input.sources.line(self.span);
        let why = message.map_or(String::new(), |text| format!(": {}", input.program.texts.get(text)));
        format!("{} at line {line}{why}", kind.sentence())
    }
}

/// The type of an operand that is no reference.
pub(super) fn operand_type(input: &Input<'_>, function: FunctionId, operand: &Operand) -> ScalarType {
    match input.program.functions[function].type_of(*operand) {
        RegisterType::Scalar(ty) => ty,
        RegisterType::Reference => ScalarType::Long,
    }
}

fn word(instruction: &Instruction) -> &'static str {
    match instruction {
        Instruction::Fork { bounds: None, .. } => "cobegin",
        Instruction::Fork { .. } => "parfor",
        Instruction::Join | Instruction::JoinThread { .. } => "join",
        Instruction::Spawn { .. } => "spawn",
        Instruction::Choose { .. } => "choose",
        Instruction::Print { .. } => "print",
        Instruction::Assert { .. } => "assert",
        Instruction::Error { .. } => "error",
        Instruction::Assume { .. } => "assume",
        Instruction::Call { .. } => "call",
        Instruction::Binary { .. } => "divide",
        Instruction::Allocate { .. } => "local",
        Instruction::Free { .. } => "free",
        _ => "operation",
    }
}
