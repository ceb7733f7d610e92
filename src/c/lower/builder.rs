//! A function in the making: its blocks, its registers, and what its names stand for.

use super::ask::{Done, refuse};
use super::facts::Own;
use super::home::{Home, Lvalue};
use super::input::Input;
use super::link::DeclKey;
use super::memory::Memory;
use super::program::Lowering;
use crate::supported::Reason;
use crate::tree::{DeclId, Expr, ExprId, LabelId, Place as TreePlace, StmtId, Unit};
use cssame_ir::{
    Arithmetic, BinaryOperator, Block, BlockId, Definition, DefinitionId, DefinitionKind, Function, FunctionId,
    Instruction, Operand, Read, ReadId, Register, RegisterId, RegisterType, ScalarType, Terminator, TextId,
    UnaryOperator, Value, VariableId,
};
use cssame_source::Span;
use rustc_hash::FxHashMap;

/// A value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed {
    pub operand: Operand,
    pub ty: ScalarType,
}

impl Typed {
    pub fn constant(value: Value) -> Typed {
        Typed { operand: Operand::Constant(value), ty: value.ty() }
    }

    pub fn int(value: i32) -> Typed {
        Typed::constant(Value::Int(value))
    }

    pub fn register(register: RegisterId, ty: ScalarType) -> Typed {
        Typed { operand: Operand::Register(register), ty }
    }
}

/// What stands for a local in a function.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    /// A private scalar, and the type that it has.
    Register(RegisterId, ScalarType),
    /// A memory variable, by the register of its address.
    Memory(RegisterId, VariableId),
    /// A memory variable of `main`.
    Global(VariableId),
}

/// A loop or a switch that may be left.
#[derive(Clone, Copy, Debug)]
pub struct Leavable {
    /// Where `break` goes.
    pub after: BlockId,
    /// Where `continue` goes; nowhere in a switch.
    pub next: Option<BlockId>,
    /// How many variables with `cleanup` there were.
    pub cleanups: usize,
}

/// A handler of `pthread_cleanup_push`.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    pub routine: DeclKey,
    pub argument: Typed,
}

/// The function that is being lowered.
pub struct Builder<'l, 'a> {
    pub lowering: &'l mut Lowering<'a>,
    pub unit: &'a Unit,
    /// The declaration of the function, in its unit.
    pub key: DeclKey,
    pub id: FunctionId,
    pub function: Function,
    pub current: BlockId,
    pub slots: FxHashMap<DeclId, Slot>,
    /// The addresses of what the thread has of its own.
    pub own: FxHashMap<Own, RegisterId>,
    /// Memory variables that the entry makes.
    pub allocated: Vec<(RegisterId, VariableId, Span)>,
    pub labels: FxHashMap<LabelId, BlockId>,
    /// Where the labels of switches lead to, by what they label.
    pub cases: FxHashMap<StmtId, BlockId>,
    pub leavable: Vec<Leavable>,
    /// Open variables with `cleanup`.
    pub cleanups: Vec<DeclId>,
    /// Open handlers.
    pub handlers: Vec<Handler>,
    /// Ranges of choices that an assumption gives.
    pub ranges: FxHashMap<ExprId, (i32, i32)>,
    /// How many loops are open.
    pub loops: usize,
    /// Open sections of `__VERIFIER_atomic_begin`, in the order of the text.
    pub is_section: bool,
    /// Where structures are that expressions give which are no places.
    pub temporaries: FxHashMap<ExprId, Home>,
    /// Where the structure goes that the function returns.
    pub result_to: Option<RegisterId>,
    /// What the function gives, where it is a copy of one that gives memory.
    pub memory: Option<Memory>,
    /// The copies of functions that give memory that calls of such functions call.
    pub copied_calls: FxHashMap<ExprId, FunctionId>,
    /// Values that an expression has by what was evaluated before: the operand of `a ?: b`.
    pub known: FxHashMap<ExprId, Typed>,
}

impl<'a> Builder<'_, 'a> {
    pub fn input(&self) -> &'a Input<'a> {
        self.lowering.input
    }

    pub fn expr(&self, expr: ExprId) -> &'a Expr {
        &self.unit.expressions[expr]
    }

    pub fn span(&self, expr: ExprId) -> Span {
        self.unit.expressions[expr].place.span
    }

    /// The scalar type of an expression.
    pub fn scalar(&self, expr: ExprId) -> Done<ScalarType> {
        let node = self.expr(expr);
        match self.input().scalar(self.key.unit, node.ty) {
            Some(ty) => Ok(ty),
            None => self.refuse(Reason::Form("value that is no scalar"), node.place),
        }
    }

    pub fn refuse<T>(&self, reason: Reason, place: TreePlace) -> Done<T> {
        refuse(reason, place)
    }

    pub fn new_block(&mut self) -> BlockId {
        self.function.blocks.push(Block {
            instructions: Vec::new(),
            spans: Vec::new(),
            terminator: Terminator::Return(None),
            terminator_span: self.function.span,
            negated: false,
        })
    }

    pub fn new_register(&mut self, name: Option<TextId>, span: Span, ty: ScalarType) -> RegisterId {
        let ty = RegisterType::Scalar(ty);
        self.function.registers.push(Register { name, span, ty, pointee: None })
    }

    pub fn temporary(&mut self, ty: ScalarType, span: Span) -> RegisterId {
        self.new_register(None, span, ty)
    }

    pub fn emit(&mut self, instruction: Instruction, span: Span) {
        let block = &mut self.function.blocks[self.current];
        block.instructions.push(instruction);
        block.spans.push(span);
    }

    /// Ends the current block.
    pub fn terminate(&mut self, terminator: Terminator, span: Span) {
        let block = &mut self.function.blocks[self.current];
        block.terminator = terminator;
        block.terminator_span = span;
    }

    /// Ends the current block with a jump, and goes on in `target`.
    pub fn jump_into(&mut self, target: BlockId, span: Span) {
        self.terminate(Terminator::Jump(target), span);
        self.current = target;
    }

    /// Ends the current block; what follows in the text cannot be reached from here.
    pub fn leave(&mut self, terminator: Terminator, span: Span) {
        self.terminate(terminator, span);
        self.current = self.new_block();
    }

    pub fn new_read(&mut self, lvalue: &Lvalue) -> ReadId {
        let symbol = self.lowering.symbol(&lvalue.owner, lvalue.atomic, lvalue.span);
        let name = self.lowering.text_at(lvalue.span);
        self.lowering.program.reads.push(Read { name, symbol, span: lvalue.span, function: self.id })
    }

    pub fn new_definition(&mut self, lvalue: &Lvalue) -> DefinitionId {
        let symbol = self.lowering.symbol(&lvalue.owner, lvalue.atomic, lvalue.span);
        let name = self.lowering.text_at(lvalue.span);
        let kind = DefinitionKind::Write(self.id);
        self.lowering.program.definitions.push(Definition { name, symbol, span: lvalue.span, kind, version: 0 })
    }

    /// A value in a register of its own, whatever becomes of where it was.
    pub fn copied(&mut self, value: Typed, span: Span) -> Typed {
        match value.operand {
            Operand::Constant(_) => value,
            Operand::Register(_) => {
                let dest = self.temporary(value.ty, span);
                self.emit(Instruction::Copy { dest, source: value.operand }, span);
                Typed::register(dest, value.ty)
            }
        }
    }

    /// A value in a register.
    pub fn in_register(&mut self, value: Typed, span: Span) -> RegisterId {
        match value.operand {
            Operand::Register(register) => register,
            Operand::Constant(_) => {
                let dest = self.temporary(value.ty, span);
                self.emit(Instruction::Copy { dest, source: value.operand }, span);
                dest
            }
        }
    }

    /// A value as one of another type.
    pub fn converted(&mut self, value: Typed, to: ScalarType, span: Span) -> Operand {
        if value.ty == to {
            return value.operand;
        }
        if let Operand::Constant(constant) = value.operand
            && let Some(folded) = fold_conversion(constant, to)
        {
            return Operand::Constant(folded);
        }
        // Handles are numbers of 64 bits to everything else.
        let through = |ty: ScalarType| ty == ScalarType::UnsignedLong;
        if (value.ty == ScalarType::Thread && !through(to)) || (to == ScalarType::Thread && !through(value.ty)) {
            let operand = self.convert_by(value, ScalarType::UnsignedLong, span);
            return self.convert_by(Typed { operand, ty: ScalarType::UnsignedLong }, to, span);
        }
        self.convert_by(value, to, span)
    }

    fn convert_by(&mut self, value: Typed, to: ScalarType, span: Span) -> Operand {
        let dest = self.temporary(to, span);
        let op = UnaryOperator::Convert(value.ty, to);
        self.emit(Instruction::Unary { dest, op, operand: value.operand }, span);
        Operand::Register(dest)
    }

    /// What an operator gives, of a type.
    pub fn operation(
        &mut self,
        op: BinaryOperator,
        ty: ScalarType,
        (left, right): (Operand, Operand),
        span: Span,
    ) -> Operand {
        let dest = self.temporary(ty, span);
        self.emit(Instruction::Binary { dest, op, left, right }, span);
        Operand::Register(dest)
    }

    /// What an operator gives of two values of type `long`.
    pub fn long_binary(
        &mut self,
        op: fn(Arithmetic) -> BinaryOperator,
        left: Operand,
        right: Operand,
        span: Span,
    ) -> Operand {
        self.operation(op(Arithmetic::Long), ScalarType::Long, (left, right), span)
    }

    /// The program fails here; what follows is another block.
    pub fn fail(&mut self, message: &str, span: Span) {
        let message = Some(self.lowering.text(message));
        self.emit(Instruction::Error { message }, span);
        self.terminate(Terminator::End(None), span);
    }

    /// The program fails where a condition holds.
    pub fn fail_if(&mut self, condition: Operand, message: &str, span: Span) {
        let (then_block, else_block) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { condition, then_block, else_block }, span);
        self.current = then_block;
        self.fail(message, span);
        self.current = else_block;
    }

    /// Whether the function is the beginning of the program.
    pub fn is_main(&self) -> bool {
        self.input().facts.main == Some(self.key)
    }
}

fn fold_conversion(value: Value, to: ScalarType) -> Option<Value> {
    let bits = match value {
        Value::Pointer(pointer) if pointer.target().is_some() => {
            return (to == ScalarType::Bool).then_some(Value::Bool(true));
        }
        Value::Double(_) | Value::String(_) => return None,
        _ => value.bits(),
    };
    match to {
        ScalarType::Double | ScalarType::String => None,
        ScalarType::Thread => (bits == 0).then_some(Value::NoThread),
        ScalarType::Bool => Some(Value::Bool(bits != 0)),
        _ => Some(Value::from_bits(to, to.integer().map_or(bits, |integer| integer.wrap(bits)))),
    }
}
