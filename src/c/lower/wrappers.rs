//! Functions that give memory as a pointer to `void`, such as `xmalloc`.
//!
//! In: the calls in a program, and the types that their results become. Out: which functions give memory whose type only their callers
//! know; each call of one is a call of a copy of its own, in which that type is known, and the size where it is a constant of the
//! call. So objects are told apart by the callers, and named by them: `xmalloc@31`.

use super::ask::{Done, call_of, called_for};
use super::builder::{Builder, Typed};
use super::facts::Facts;
use super::heap::request;
use super::input::Input;
use super::link::DeclKey;
use super::memory::{Memory, PendingCopy};
use super::owner::Owner;
use super::program::{Lowering, empty};
use crate::supported::{Obstacle, Reason};
use crate::tree::{
    BinaryOperator as Operator, Conversion, DeclId, ExprId, ExprKind, TypeId, TypeKind, UnaryOperator, Unit,
};
use cssame_ir::{FunctionId, FunctionKind, Instruction, ScalarType};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why memory is not read that a function gives which calls itself.
const RECURSIVE: &str = "of a function that calls itself";

/// The types that the results of calls become pointers to: at once, or as the only one that the variable becomes which they are
/// assigned to.
pub fn types_of_results(unit: &Unit) -> FxHashMap<ExprId, TypeId> {
    let is_typed = |ty: TypeId| unit.types[ty].size.is_some() && !matches!(unit.types[ty].kind, TypeKind::Void);
    let mut known: FxHashMap<ExprId, TypeId> = FxHashMap::default();
    let mut variables: FxHashMap<DeclId, Option<TypeId>> = FxHashMap::default();
    let mut assigned: Vec<(ExprId, DeclId)> = Vec::new();
    for (decl, declared) in unit.declarations.entries() {
        if let Some([only]) = declared.initial.as_deref() {
            assigned.extend(called_for(unit, only.value).map(|call| (call, decl)));
        }
    }
    for node in unit.expressions.iter() {
        match node.kind {
            ExprKind::Assign { target, value, .. } => {
                if let ExprKind::Name(decl) = unit.expressions[target].kind {
                    assigned.extend(called_for(unit, value).map(|call| (call, decl)));
                }
            }
            ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } => {
                let Some(element) = unit.pointee(node.ty).filter(|&ty| is_typed(ty)) else { continue };
                if let Some(call) = called_for(unit, operand) {
                    known.insert(call, element);
                }
                if let ExprKind::Convert { conversion: Conversion::Read, operand: place } =
                    unit.expressions[operand].kind
                    && let ExprKind::Name(decl) = unit.expressions[place].kind
                {
                    let of = variables.entry(decl).or_insert(Some(element));
                    *of = of.filter(|&other| other == element);
                }
            }
            _ => {}
        }
    }
    for (call, decl) in assigned {
        if let Some(&Some(element)) = variables.get(&decl) {
            known.entry(call).or_insert(element);
        }
    }
    known
}

/// Finds the functions that give memory whose type their callers know.
pub fn find_wrappers(input: &Input<'_>, facts: &mut Facts, calls: &[(DeclKey, Option<DeclKey>, ExprId)]) {
    facts.types_of_results = input.units.iter().map(|unit| types_of_results(unit)).collect();
    let gives_void = |key: DeclKey| {
        let unit = input.unit(key.unit);
        let result = unit.function_type(unit.declarations[key.decl].ty).and_then(|of| unit.pointee(of.result));
        result.is_some_and(|ty| matches!(unit.types[ty].kind, TypeKind::Void))
    };
    loop {
        let before = facts.wrappers.len();
        for &(within, called, call) in calls {
            let is_untyped = !facts.types_of_results[within.unit as usize].contains_key(&call);
            let asks = called.is_none_or(|called| facts.wrappers.contains(&called));
            if is_untyped && asks && gives_void(within) {
                facts.wrappers.insert(within);
            }
        }
        if facts.wrappers.len() == before {
            return;
        }
    }
}

impl Lowering<'_> {
    /// Lowers the copies that were asked for, and wrappers that are called where no type is known; what is left of the others is
    /// nothing.
    pub fn copies(&mut self) -> Vec<Obstacle> {
        let mut found = Vec::new();
        let facts = &self.input.facts;
        let is_named = |key: &DeclKey| facts.routines.contains(key) || facts.pointed.contains(key);
        let mut done: FxHashSet<DeclKey> = FxHashSet::default();
        loop {
            if let Some(PendingCopy { id, key, memory }) = self.copies.pop() {
                found.extend(self.copy(id, key, memory).err());
                continue;
            }
            let is_next = |key: &DeclKey| !done.contains(key) && (is_named(key) || self.called_plain.contains(key));
            let Some(key) = facts.wrappers.iter().copied().find(is_next) else { break };
            done.insert(key);
            found.extend(self.function(key).err());
        }
        let is_left = |key: &&DeclKey| !done.contains(key) && !self.copied.contains(key);
        for key in facts.wrappers.iter().filter(is_left).collect::<Vec<_>>() {
            if let Some(&id) = self.functions.get(key) {
                self.nothing(id);
            }
        }
        found
    }

    /// A function that is to be a copy of a wrapper: the function itself, at first, since nothing but copies of it can be read.
    fn ask_copy(&mut self, key: DeclKey, memory: Memory) -> FunctionId {
        if let Some(&id) = self.functions.get(&key).filter(|_| self.copied.insert(key)) {
            self.copies.push(PendingCopy { id, key, memory });
            return id;
        }
        let span = self.unit(key.unit).declarations[key.decl].place.span;
        let name = self.declared_name(key.unit, key.decl);
        let made =
            cssame_ir::Function { result: Some(ScalarType::Pointer), ..empty(name, span, FunctionKind::Function) };
        let id = self.program.functions.push(made);
        self.copies.push(PendingCopy { id, key, memory });
        id
    }
}

impl Builder<'_, '_> {
    /// The call of a function that gives memory that an expression is, behind casts.
    pub fn request(&self, expr: ExprId) -> Option<ExprId> {
        let of_wrapper = || called_for(self.unit, expr).filter(|&call| self.wrapper_of(call).is_some());
        request(self.unit, expr).or_else(of_wrapper)
    }

    /// The wrapper that a call calls.
    pub fn wrapper_of(&self, call: ExprId) -> Option<DeclKey> {
        let (called, _) = call_of(self.unit, call)?;
        let key = self.input().links.resolve(self.unit, self.key.unit, called);
        self.input().facts.wrappers.contains(&key).then_some(key)
    }

    /// The type of the memory that a call gives, and its unit.
    pub fn type_of_memory(&self, call: ExprId) -> Option<(u32, TypeId)> {
        let own = self.input().facts.types_of_results[self.key.unit as usize].get(&call);
        let own = own.map(|&element| (self.key.unit, element));
        own.or_else(|| self.memory.as_ref().map(|memory| (memory.unit, memory.element)))
    }

    /// A call of the copy of a wrapper that gives memory of a type.
    pub fn call_wrapper(&mut self, key: DeclKey, call: ExprId, (unit, element): (u32, TypeId)) -> Done<Typed> {
        let place = self.expr(call).place;
        let mut callers = self.memory.as_ref().map_or_else(Vec::new, |memory| memory.callers.clone());
        if callers.contains(&key) {
            return self.refuse(Reason::UnclearMemory(RECURSIVE), place);
        }
        callers.push(key);
        let Some((_, arguments)) = call_of(self.unit, call) else {
            return self.refuse(Reason::HeapAllocation, place);
        };
        let values = self.values_of(arguments)?;
        let id = match self.copied_calls.get(&call) {
            Some(&known) => known,
            None => {
                let declared = &self.lowering.unit(key.unit).declarations[key.decl];
                let parameters = declared.parameters.iter().copied().zip(arguments);
                let constant = |(decl, &argument)| Some((decl, self.known_integer(argument)?));
                let constants = parameters.filter_map(constant).collect();
                let (name, place, owner) = match &self.memory {
                    Some(memory) => (memory.name, memory.place, memory.owner.clone()),
                    None => {
                        let line = self.input().sources.position(place.span).line;
                        let name = self.lowering.declared_name(key.unit, key.decl);
                        let name = format!("{}@{line}", self.lowering.program.texts.get(name));
                        (self.lowering.text(&name), place, Owner::Memory(self.key.unit, call))
                    }
                };
                let memory = Memory { unit, element, name, place, owner, callers, constants };
                let id = self.lowering.ask_copy(key, memory);
                self.copied_calls.insert(call, id);
                id
            }
        };
        let dest = self.temporary(ScalarType::Pointer, place.span);
        let arguments = self.arguments_for(key, &values, place.span)?;
        self.emit(Instruction::Call { dest: Some(dest), function: id, arguments }, place.span);
        Ok(Typed::register(dest, ScalarType::Pointer))
    }

    /// The value of an integer that is a constant, here or where the copy of the function is called.
    pub fn known_integer(&self, expr: ExprId) -> Option<i128> {
        if let Some(constant) = self.unit.integer(expr) {
            return Some(constant);
        }
        match self.expr(expr).kind {
            ExprKind::Convert { conversion: Conversion::Read, operand } => {
                let ExprKind::Name(decl) = self.expr(operand).kind else { return None };
                let known = self.memory.as_ref()?.constants.get(&decl).copied()?;
                (!self.changes(decl)).then_some(known)
            }
            ExprKind::Convert { conversion: Conversion::Arithmetic, operand } | ExprKind::Cast(operand) => {
                let integer = self.input().scalar(self.key.unit, self.expr(expr).ty)?.integer()?;
                let value = i64::try_from(self.known_integer(operand)?).ok()?;
                (value >= 0 && integer.wrap(value) == value).then_some(i128::from(value))
            }
            ExprKind::Binary { operator, left, right } => {
                let (left, right) = (self.known_integer(left)?, self.known_integer(right)?);
                match operator {
                    Operator::Multiply => left.checked_mul(right),
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether anything is assigned to a parameter, or its address taken.
    fn changes(&self, decl: DeclId) -> bool {
        let is_it = |expr: ExprId| self.expr(expr).kind == ExprKind::Name(decl);
        self.unit.expressions.iter().any(|node| match node.kind {
            ExprKind::Assign { target, .. } => is_it(target),
            ExprKind::Unary { operator, operand } => {
                let changes = !matches!(
                    operator,
                    UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Not | UnaryOperator::Complement
                );
                changes && is_it(operand)
            }
            _ => false,
        })
    }
}
