//! Types: operands fit their operators, arguments fit their parameters, places fit their contents.
//!
//! In: a function whose ids exist. Out: the mismatches. The target of a reference is known if it comes from an `Allocate` of this
//! function; the target of a parameter is not checked.

use super::Scope;
use crate::sync::ObjectKind;
use crate::{
    Arithmetic, AtomicOperation, Base, BinaryOperator, Dimension, FunctionId, FunctionKind, Instruction, LeafKind,
    NewThread, Operand, Place, RegisterId, RegisterType, ScalarType, Synchronisation, Terminator, ThreadLabel,
    TripBounds, UnaryOperator, Value, VariableId,
};

use RegisterType::{Reference, Scalar};

/// Checks the types of a function.
pub(super) fn check_types(scope: &mut Scope<'_>) {
    let function = scope.function;
    if scope.program.main == Some(scope.id) {
        scope.demand(function.kind == FunctionKind::Main && function.parameters.is_empty(), || "not a main".into());
    }
    let mut check = Types { allocated: vec![None; function.registers.len()], scope };
    check.find_allocated();
    for (id, block) in function.blocks.entries() {
        for (position, instruction) in block.instructions.iter().enumerate() {
            check.scope.at(id, Some(position));
            check.instruction(instruction);
        }
        check.scope.at(id, Some(block.instructions.len()));
        match block.terminator {
            Terminator::Jump(_) => {}
            Terminator::Branch { condition, then_block: _, else_block: _ } => {
                check.scalar(&condition, ScalarType::Bool)
            }
            Terminator::End(value) => {
                let fits = value.is_none_or(|value| check.type_of(&value) == Scalar(ScalarType::Pointer));
                check.scope.demand(fits, || "ends with what is no pointer".into());
            }
            Terminator::Return(value) => {
                let ty = value.map(|value| check.type_of(&value));
                check.scope.demand(ty == function.result.map(Scalar), || "returns what it should not".into());
            }
        }
    }
}

struct Types<'s, 'a> {
    scope: &'s mut Scope<'a>,
    /// The variable that each register is the address of, where an `Allocate` says so.
    allocated: Vec<Option<VariableId>>,
}

impl Types<'_, '_> {
    /// Also checks that nothing else writes the register of an `Allocate`.
    fn find_allocated(&mut self) {
        let function = self.scope.function;
        let mut writers = vec![0_u32; function.registers.len()];
        function.parameters.iter().for_each(|parameter| writers[parameter.index()] += 1);
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            instruction.dest().into_iter().for_each(|dest| writers[dest.index()] += 1);
            if let Instruction::Allocate { dest, variable, .. } = instruction {
                self.allocated[dest.index()] = Some(*variable);
            }
        }
        for (index, allocated) in self.allocated.iter().enumerate() {
            let alone = allocated.is_none() || writers[index] == 1;
            self.scope.demand(alone, || format!("register {index} is allocated and written elsewhere"));
        }
    }

    fn register(&self, register: RegisterId) -> RegisterType {
        self.scope.function.registers[register].ty
    }

    fn type_of(&self, operand: &Operand) -> RegisterType {
        self.scope.function.type_of(*operand)
    }

    fn scalar(&mut self, operand: &Operand, expected: ScalarType) {
        let ty = self.type_of(operand);
        self.scope.demand(ty == Scalar(expected), || format!("an operand is {ty:?}, not {}", expected.name()));
    }

    /// The register of an address: a reference, or a pointer.
    fn address(&mut self, dest: RegisterId) {
        let ty = self.register(dest);
        let fits = ty == Reference || ty == Scalar(ScalarType::Pointer);
        self.scope.demand(fits, || format!("register {} is {ty:?}, but gets an address", dest.0));
    }

    fn dest(&mut self, dest: RegisterId, expected: RegisterType) {
        let ty = self.register(dest);
        self.scope.demand(ty == expected, || format!("register {} is {ty:?}, but gets {expected:?}", dest.0));
    }

    /// Checks a place, and gives the kind of its leaf where that is known.
    fn place(&mut self, place: &Place) -> Option<LeafKind> {
        let variable = match place.base {
            Base::Global(variable) => Some(variable),
            Base::Reference(register) => {
                self.scope.demand(self.scope.function.registers[register].ty == Reference, || {
                    format!("register {} is no reference", register.0)
                });
                self.allocated[register.index()]
            }
            Base::Pointer(register) => {
                let ty = self.register(register);
                let fits = ty == Scalar(ScalarType::Pointer);
                self.scope.demand(fits, || format!("register {} is no pointer", register.0));
                None
            }
        };
        for operand in place.indices.iter().flat_map(|index| [index.operand, index.length]) {
            let ty = self.type_of(&operand);
            let integer = matches!(ty, Scalar(ScalarType::Int | ScalarType::Long));
            self.scope.demand(integer, || format!("an index or a length is {ty:?}"));
        }
        let found = self.scope.program.leaf_at(variable?, place.offset);
        self.scope.demand(found.is_some(), || "a place outside its variable".into());
        let (leaf, element) = found?;
        let leaf = &self.scope.program.leaves[leaf];
        let firsts = leaf.indices_of(element);
        for index in &place.indices {
            let fits = |(dimension, &first): (&Dimension, &u32)| {
                let length = Operand::Constant(Value::Int(dimension.length as i32));
                let whole = first == 0 && dimension.stride == index.stride;
                whole && (index.length == length || matches!(index.length, Operand::Register(_)))
            };
            let fits = leaf.dimensions.iter().zip(&firsts).any(fits);
            self.scope.demand(fits, || "an index into what is not that array".into());
        }
        Some(leaf.kind)
    }

    /// An access to data of that type.
    fn data(&mut self, place: &Place, ty: RegisterType) {
        self.scope.demand(ty != Reference, || "a reference in memory".into());
        if let Some(kind) = self.place(place) {
            let fits = matches!(kind, LeafKind::Data(data) if Scalar(data) == ty);
            self.scope.demand(fits, || format!("{ty:?} at {kind:?}"));
        }
    }

    fn object(&mut self, place: &Place, wanted: ObjectKind) {
        if let Some(kind) = self.place(place) {
            self.scope.demand(wanted.fits(kind), || format!("the operation does not fit {kind:?}"));
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Copy { dest, source } => self.dest(*dest, self.type_of(source)),
            Instruction::Unary { dest, op, operand } => self.unary(*dest, *op, operand),
            Instruction::Binary { dest, op, left, right } => self.binary(*dest, *op, left, right),
            Instruction::Load { dest, place, read: _ } => self.data(place, self.register(*dest)),
            Instruction::Store { place, value, definition: _ } => self.data(place, self.type_of(value)),
            Instruction::Atomic { dest, op, place, read: _, definition: _ } => self.atomic(*dest, op, place),
            Instruction::Address { dest, place } => {
                self.address(*dest);
                let counts_cells = matches!(place.base, Base::Global(_))
                    && *place != Place { indices: Vec::new(), offset: 0, ..place.clone() };
                let fits = self.register(*dest) == Reference || !counts_cells;
                self.scope.demand(fits, || format!("register {} gets the address of a part by cells", dest.0));
                self.place(place);
            }
            Instruction::Allocate { dest, variable: _, elements } => {
                self.address(*dest);
                elements.iter().for_each(|&register| self.scalar(&Operand::Register(register), ScalarType::Long));
            }
            Instruction::Free { pointer, definition: _ } => {
                self.scalar(&Operand::Register(*pointer), ScalarType::Pointer);
            }
            Instruction::Choose { dest, low, high } => {
                self.scalar(low, ScalarType::Int);
                self.scalar(high, ScalarType::Int);
                self.dest(*dest, Scalar(ScalarType::Int));
            }
            Instruction::Print { arguments, line: _ } => {
                arguments.iter().for_each(|one| self.scalar(&one.operand, one.ty));
            }
            Instruction::Assert { condition, message: _ } | Instruction::Assume { condition } => {
                self.scalar(condition, ScalarType::Bool);
            }
            Instruction::Call { dest, function, arguments } => {
                self.arguments(*function, arguments);
                let result = self.scope.program.functions[*function].result;
                if let Some(dest) = dest {
                    let ty = self.register(*dest);
                    self.scope.demand(result.map(Scalar) == Some(ty), || "the result of a call does not fit".into());
                }
            }
            Instruction::Synchronise(operation) => self.synchronisation(operation),
            Instruction::Fork { threads, bounds } => self.fork(threads, bounds.as_ref()),
            Instruction::Spawn { dest, thread } => {
                self.thread(thread);
                dest.iter().for_each(|&dest| self.dest(dest, Scalar(ScalarType::Thread)));
            }
            Instruction::JoinThread { handle, dest } => {
                self.scalar(handle, ScalarType::Thread);
                dest.iter().for_each(|&dest| self.dest(dest, Scalar(ScalarType::Pointer)));
            }
            Instruction::CurrentThread { dest } => self.dest(*dest, Scalar(ScalarType::Thread)),
            Instruction::Error { message: _ }
            | Instruction::Join
            | Instruction::AtomicBegin
            | Instruction::AtomicEnd => {}
        }
    }

    fn unary(&mut self, dest: RegisterId, op: UnaryOperator, operand: &Operand) {
        let (from, to) = match op {
            UnaryOperator::Negate(arithmetic) | UnaryOperator::Complement(arithmetic) => {
                (arithmetic.scalar(), arithmetic.scalar())
            }
            UnaryOperator::Not => (ScalarType::Bool, ScalarType::Bool),
            UnaryOperator::Convert(from, to) => (from, to),
        };
        let bitwise = op == UnaryOperator::Complement(Arithmetic::Double);
        self.scope.demand(!bitwise, || "the complement of a double".into());
        self.scalar(operand, from);
        self.dest(dest, Scalar(to));
    }

    fn binary(&mut self, dest: RegisterId, op: BinaryOperator, left: &Operand, right: &Operand) {
        let (left_type, right_type) = (self.type_of(left), self.type_of(right));
        let both = |ty: ScalarType| left_type == Scalar(ty) && right_type == Scalar(ty);
        let boolean = Scalar(ScalarType::Bool);
        let (fits, result) = match op {
            BinaryOperator::Add(arithmetic)
            | BinaryOperator::Subtract(arithmetic)
            | BinaryOperator::Multiply(arithmetic)
            | BinaryOperator::Divide(arithmetic)
            | BinaryOperator::Remainder(arithmetic) => (both(arithmetic.scalar()), Scalar(arithmetic.scalar())),
            BinaryOperator::ShiftLeft(arithmetic) | BinaryOperator::ShiftRight(arithmetic) => {
                let ty = Scalar(arithmetic.scalar());
                let counts = right_type == Scalar(ScalarType::Long) && arithmetic != Arithmetic::Double;
                (left_type == ty && counts, ty)
            }
            BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => {
                let bits = matches!(left_type, Scalar(ty) if ty.integer().is_some() || ty == ScalarType::Bool);
                (left_type == right_type && bits, left_type)
            }
            BinaryOperator::Less(arithmetic) | BinaryOperator::LessEqual(arithmetic) => {
                (both(arithmetic.scalar()), boolean)
            }
            BinaryOperator::Equal | BinaryOperator::NotEqual => {
                let bits = left_type != Reference && left_type != Scalar(ScalarType::Double);
                (left_type == right_type && bits, boolean)
            }
            BinaryOperator::EqualDouble | BinaryOperator::NotEqualDouble => (both(ScalarType::Double), boolean),
            BinaryOperator::PointerAdd => {
                let pointer = Scalar(ScalarType::Pointer);
                (left_type == pointer && right_type == Scalar(ScalarType::Long), pointer)
            }
        };
        self.scope.demand(fits, || format!("{op:?} of {left_type:?} and {right_type:?}"));
        self.dest(dest, result);
    }

    fn atomic(&mut self, dest: RegisterId, op: &AtomicOperation, place: &Place) {
        let ty = match op {
            AtomicOperation::CompareAndSwap { old, new, double } => {
                let ty = self.type_of(old);
                let fits = ty == self.type_of(new) && *double == (ty == Scalar(ScalarType::Double));
                self.scope.demand(fits, || "a compare-and-swap of several types".into());
                self.dest(dest, Scalar(ScalarType::Bool));
                ty
            }
            AtomicOperation::CompareExchange { old, new } => {
                let ty = self.type_of(old);
                self.scope.demand(ty == self.type_of(new), || "a compare-and-exchange of several types".into());
                self.dest(dest, ty);
                ty
            }
            AtomicOperation::FetchModify(_, value, ty) => {
                self.scope.demand(ty.integer().is_some(), || "a modification of what is no integer".into());
                self.scalar(value, *ty);
                self.dest(dest, Scalar(*ty));
                Scalar(*ty)
            }
            AtomicOperation::Swap(value) => {
                let ty = self.type_of(value);
                self.dest(dest, ty);
                ty
            }
            AtomicOperation::FetchAdd(value, arithmetic) => {
                self.scalar(value, arithmetic.scalar());
                self.dest(dest, Scalar(arithmetic.scalar()));
                Scalar(arithmetic.scalar())
            }
        };
        self.data(place, ty);
    }

    fn arguments(&mut self, function: FunctionId, arguments: &[Operand]) {
        let callee = &self.scope.program.functions[function];
        let expected: Vec<RegisterType> =
            callee.parameters.iter().map(|&parameter| callee.registers[parameter].ty).collect();
        let given: Vec<RegisterType> = arguments.iter().map(|argument| self.type_of(argument)).collect();
        self.scope.demand(given == expected, || format!("arguments {given:?} for parameters {expected:?}"));
    }

    fn thread(&mut self, thread: &NewThread) {
        let NewThread { function, rounds, arguments, label, ordinal } = thread;
        self.arguments(*function, arguments);
        rounds.iter().for_each(|&function| self.arguments(function, arguments));
        self.scope.demand(rounds.is_empty() || ordinal.is_some(), || "rounds without an ordinal".into());
        let ty = match label {
            ThreadLabel::Name(_) => None,
            ThreadLabel::Iteration(_) => Some(ScalarType::Int),
            ThreadLabel::Element(_) => Some(ScalarType::Long),
        };
        self.scope.demand(ty.is_some() == ordinal.is_some(), || "an ordinal and a label that do not fit".into());
        ordinal.iter().zip(ty).for_each(|(ordinal, ty)| self.scalar(ordinal, ty));
    }

    fn fork(&mut self, threads: &[NewThread], bounds: Option<&TripBounds>) {
        threads.iter().for_each(|thread| self.thread(thread));
        if let Some(TripBounds { first, limit, step }) = bounds {
            let integers = [first, limit].into_iter().all(|bound| matches!(self.type_of(bound), Scalar(_)));
            self.scope.demand(integers && *step > 0, || "bounds that are none".into());
        }
    }

    fn synchronisation(&mut self, operation: &Synchronisation) {
        let wanted = operation.kind.operands();
        let given = [&operation.object, &operation.lock];
        let fits = given.iter().enumerate().all(|(place, given)| given.is_some() == (place < wanted.len()));
        self.scope.demand(fits, || format!("operands of {:?}", operation.kind));
        for (place, &kind) in operation.places().zip(wanted) {
            self.object(place, kind);
        }
        if let Some(verdict) = operation.verdict {
            self.scope.demand(operation.kind.has_verdict(), || format!("a verdict of {:?}", operation.kind));
            self.dest(verdict, Scalar(ScalarType::Bool));
        }
    }
}
