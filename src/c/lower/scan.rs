//! The walk over everything that can be reached, before it is lowered.
//!
//! In: units, linked. Out: [`Facts`]. A list of what is to be looked at stands for recursion.

use super::ask::{call_of, is_section, meaning, without_void};
use super::facts::{Facts, Own};
use super::heap::GIVES;
use super::input::Input;
use super::link::DeclKey;
use super::own::{close, is_own, note_call};
use super::owner::Owner;
use super::roles::{Role, roles};
use super::wrappers::find_wrappers;
use crate::supported::library::{Known, is_meant_despite_body};
use crate::supported::{Obstacle, Reason, is_null, lengths};
use crate::tree::{
    AddressBase, Builtin, Constant, DeclId, DeclKind, ExprId, ExprKind, Linkage, Place, StmtId, StmtKind, Storage,
    TypeId, TypeKind, UnaryOperator, Unit,
};
use rustc_hash::{FxHashMap, FxHashSet};

enum Task {
    Expr(ExprId),
    Stmt(StmtId),
}

struct Scan<'a> {
    input: &'a Input<'a>,
    facts: Facts,
    waiting: Vec<DeclKey>,
    seen: FxHashSet<DeclKey>,
    /// The function or object that is being looked at.
    within: DeclKey,
    tasks: Vec<Task>,
    /// What pointers to integers lead to that may be handles, in pairs that are the same.
    same: Vec<(Owner, Owner)>,
    /// Calls that may ask for memory, with the functions that they stand in, and that of the program that they call.
    requests: Vec<(DeclKey, Option<DeclKey>, ExprId)>,
    /// Objects and members of structures, with the functions that name them.
    named_in: FxHashSet<(Owner, DeclKey)>,
}

/// Looks at everything that can be reached.
pub fn scan(input: &Input<'_>) -> Facts {
    let start = DeclKey { unit: 0, decl: DeclId(0) };
    let (facts, tasks) = (Facts::default(), Vec::new());
    let mut scan = Scan {
        input,
        facts,
        waiting: Vec::new(),
        seen: FxHashSet::default(),
        within: start,
        tasks,
        same: Vec::new(),
        requests: Vec::new(),
        named_in: FxHashSet::default(),
    };
    scan.find_roots();
    while let Some(key) = scan.waiting.pop() {
        scan.declaration(key);
    }
    let Scan { mut facts, same, requests, named_in, .. } = scan;
    find_wrappers(input, &mut facts, &requests);
    for &function in &facts.calls_pointed {
        facts.calls.entry(function).or_default().extend(&facts.pointed);
    }
    if facts.starts_pointed {
        facts.routines.extend(&facts.pointed);
    }
    close(&mut facts);
    spread_handles(&mut facts, &same);
    let mut waiting: Vec<DeclKey> = facts.routines.iter().copied().collect();
    while let Some(key) = waiting.pop() {
        if facts.in_threads.insert(key) {
            waiting.extend(facts.calls.get(&key).into_iter().flatten());
        }
    }
    let by_threads = named_in.into_iter().filter(|(_, function)| facts.in_threads.contains(function));
    facts.named_by_threads = by_threads.map(|(owner, _)| owner).collect();
    facts
}

/// What a pointer to a handle leads to is a handle by each name.
fn spread_handles(facts: &mut Facts, same: &[(Owner, Owner)]) {
    let mut others: FxHashMap<&Owner, Vec<&Owner>> = FxHashMap::default();
    for (one, other) in same {
        others.entry(one).or_default().push(other);
        others.entry(other).or_default().push(one);
    }
    let mut waiting: Vec<Owner> =
        facts.roles.iter().filter(|&(_, &role)| role == Role::Handle).map(|(owner, _)| owner.clone()).collect();
    while let Some(owner) = waiting.pop() {
        for &other in others.get(&owner).into_iter().flatten() {
            if !facts.roles.contains_key(other) {
                facts.roles.insert(other.clone(), Role::Handle);
                waiting.push(other.clone());
            }
        }
    }
}

impl<'a> Scan<'a> {
    /// Notes that a pointer gets the value of another one, where these may lead to handles.
    fn passed(&mut self, target: Owner, ty: TypeId, value: ExprId) {
        let unit = self.unit();
        let is_number =
            |ty: TypeId| matches!(unit.types[ty].kind, TypeKind::Integer(of) if of.bits == 64 && !of.signed);
        if unit.pointee(ty).is_some_and(is_number) {
            let value = self.input.target(self.within.unit, value);
            self.same.push((Owner::Target(Box::new(target)), value));
        }
    }

    fn unit(&self) -> &'a Unit {
        self.input.unit(self.within.unit)
    }

    fn find_roots(&mut self) {
        let mut offered = Vec::new();
        for (number, unit) in self.input.units.iter().enumerate() {
            for (decl, declared) in unit.declarations.entries() {
                if declared.body.is_some() && declared.linkage == Linkage::External {
                    let key = self.input.links.resolve(unit, number as u32, decl);
                    if declared.name.as_deref() == Some("main") {
                        self.facts.main = Some(key);
                    }
                    offered.push(key);
                }
            }
        }
        match self.facts.main {
            Some(main) => self.reach(main),
            None => offered.into_iter().for_each(|key| self.reach(key)),
        }
    }

    fn reach(&mut self, key: DeclKey) {
        if self.seen.insert(key) {
            self.waiting.push(key);
        }
    }

    fn name(&mut self, decl: DeclId) -> DeclKey {
        let key = self.input.links.resolve(self.unit(), self.within.unit, decl);
        self.reach(key);
        if self.input.unit(key.unit).declarations[key.decl].kind == DeclKind::Object {
            self.named_in.insert((Owner::Object(key), self.within));
        }
        if is_own(&self.input.unit(key.unit).declarations[key.decl]) {
            self.facts.own.entry(self.within).or_default().insert(Own::Variable(key));
        }
        key
    }

    fn declaration(&mut self, key: DeclKey) {
        self.within = key;
        let decl = &self.unit().declarations[key.decl];
        let values = decl.initial.iter().flatten().map(|value| Task::Expr(value.value));
        match decl.kind {
            DeclKind::Function => {
                let Some(body) = decl.body else { return };
                self.facts.functions.insert(key);
                self.tasks.push(Task::Stmt(body));
            }
            DeclKind::Object if is_own(decl) => self.tasks.extend(values),
            DeclKind::Object if decl.storage == Storage::Static => {
                self.facts.objects.insert(key);
                self.tasks.extend(values);
            }
            // A local belongs to its function.
            DeclKind::Object | DeclKind::Type => return,
        }
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Expr(expr) => self.expression(expr),
                Task::Stmt(stmt) => self.statement(stmt),
            }
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = ExprId>) {
        self.tasks.extend(exprs.into_iter().map(Task::Expr));
    }

    fn statement(&mut self, stmt: StmtId) {
        let unit = self.unit();
        let (exprs, bodies): (Vec<ExprId>, Vec<StmtId>) = match &unit.statements[stmt].kind {
            StmtKind::Expression(value) => (vec![*value], vec![]),
            StmtKind::Block(list) => (vec![], list.to_vec()),
            StmtKind::Declarations(list) => return list.iter().for_each(|&decl| self.local(decl)),
            StmtKind::If { condition, then, otherwise } => {
                (vec![*condition], [Some(*then), *otherwise].into_iter().flatten().collect())
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { condition, body } => {
                (vec![*condition], vec![*body])
            }
            StmtKind::For { initial, condition, step, body } => {
                (condition.iter().chain(step).copied().collect(), initial.iter().chain([body]).copied().collect())
            }
            StmtKind::Switch { value, body, .. } => (vec![*value], vec![*body]),
            StmtKind::Case { body } | StmtKind::Default { body } | StmtKind::Label { body, .. } => {
                (vec![], vec![*body])
            }
            StmtKind::Return(value) => (value.iter().copied().collect(), vec![]),
            _ => return,
        };
        self.exprs(exprs);
        self.tasks.extend(bodies.into_iter().map(Task::Stmt));
    }

    /// A declaration in a block. What has static storage is reached where it is named.
    fn local(&mut self, decl: DeclId) {
        let declared = &self.unit().declarations[decl];
        let is_local = declared.kind == DeclKind::Object && declared.storage == Storage::Automatic;
        if is_local || declared.kind == DeclKind::Type {
            let lengths = lengths(self.unit(), declared.ty);
            self.exprs(lengths);
        }
        if is_local {
            if let Some(values) = &declared.initial {
                if let [only] = values.as_ref() {
                    self.assigned(decl, only.value);
                }
                self.exprs(values.iter().map(|value| value.value));
            }
            if let Some(cleanup) = declared.cleanup {
                let key = self.name(cleanup);
                self.facts.calls.entry(self.within).or_default().push(key);
            }
        }
    }

    /// What gets the handle of the thread itself is a handle.
    fn assigned(&mut self, decl: DeclId, value: ExprId) {
        let key = self.input.links.resolve(self.unit(), self.within.unit, decl);
        self.passed(Owner::Object(key), self.unit().declarations[decl].ty, value);
        if self.is_self(value) {
            self.facts.roles.insert(Owner::Object(key), Role::Handle);
        }
    }

    fn is_self(&self, value: ExprId) -> bool {
        let called = call_of(self.unit(), value).and_then(|(decl, _)| meaning(self.unit(), decl));
        matches!(called, Some(("pthread_self" | "thrd_current", _)))
    }

    fn expression(&mut self, expr: ExprId) {
        let unit = self.unit();
        let node = &unit.expressions[expr];
        if let Some(Constant::Address { base: AddressBase::Declaration(decl), .. }) = unit.constant(expr) {
            self.value_of(decl);
        }
        match &node.kind {
            ExprKind::Name(decl) => self.value_of(*decl),
            ExprKind::CompoundLiteral(decl) => {
                self.name(*decl);
                let declared = &unit.declarations[*decl];
                if declared.storage == Storage::Automatic {
                    self.exprs(declared.initial.iter().flatten().map(|value| value.value));
                }
            }
            // `*&x` is `x`.
            ExprKind::Unary { operator: UnaryOperator::Dereference, operand } => self.lent(*operand),
            ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } => {
                if let ExprKind::Name(decl) = unit.expressions[*operand].kind {
                    let key = self.name(decl);
                    self.facts.taken.insert(key);
                }
                self.exprs([*operand]);
            }
            ExprKind::Member { base, .. } => {
                self.named_in.insert((self.input.owner(self.within.unit, expr), self.within));
                self.exprs([*base]);
            }
            ExprKind::Unary { operand, .. } | ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } => {
                self.exprs([*operand])
            }
            ExprKind::Subscript { base: one, index: other }
            | ExprKind::Binary { left: one, right: other, .. }
            | ExprKind::Comma { first: one, second: other } => self.exprs([*one, *other]),
            ExprKind::Assign { target, value, .. } => {
                let owner = self.input.owner(self.within.unit, *target);
                if owner.is_declared() && self.is_self(*value) {
                    self.facts.roles.insert(owner.clone(), Role::Handle);
                }
                self.passed(owner, node.ty, *value);
                self.exprs([*target, *value]);
            }
            ExprKind::Conditional { condition, then, otherwise } => self.exprs([*condition, *then, *otherwise]),
            ExprKind::StatementExpression(body) => self.tasks.push(Task::Stmt(*body)),
            ExprKind::Call { callee, arguments } => self.call(*callee, arguments, expr),
            // The first operand leads to what is worked on, the others to what gets something.
            ExprKind::Atomic { operands, .. } => {
                self.exprs(operands.first().copied());
                operands.iter().skip(1).for_each(|&operand| self.lent(operand));
            }
            // The last operand leads to what gets the result.
            ExprKind::Builtin { builtin: Builtin::Overflow { .. }, operands } => {
                operands.iter().for_each(|&operand| self.lent(operand));
            }
            ExprKind::Builtin { operands, .. } => self.exprs(operands.iter().copied()),
            ExprKind::Error | ExprKind::Constant(_) | ExprKind::String(_) | ExprKind::LabelAddress(_) => {}
        }
    }

    /// A name that is no callee.
    fn value_of(&mut self, decl: DeclId) {
        let key = self.name(decl);
        if self.unit().declarations[decl].kind == DeclKind::Function {
            self.facts.pointed.insert(key);
        }
    }

    /// An argument whose address nothing keeps.
    fn lent(&mut self, argument: ExprId) {
        let unit = self.unit();
        let mut at = argument;
        while let ExprKind::Cast(operand) | ExprKind::Convert { operand, .. } = unit.expressions[at].kind {
            at = operand;
        }
        match unit.expressions[at].kind {
            ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } => self.exprs([operand]),
            _ => self.exprs([argument]),
        }
    }

    fn call(&mut self, callee: ExprId, arguments: &[ExprId], expr: ExprId) {
        let unit = self.unit();
        let place = unit.expressions[expr].place;
        let Some(decl) = unit.called(callee) else {
            self.facts.calls_pointed.insert(self.within);
            self.exprs([callee]);
            return self.exprs(arguments.iter().copied());
        };
        // What another unit defines is what its body says.
        let target = self.input.links.resolve(unit, self.within.unit, decl);
        let is_defined = self.input.unit(target.unit).declarations[target.decl].body.is_some();
        let by_name = |&(name, _): &(&str, Known)| !is_defined || is_meant_despite_body(name);
        let Some((name, known)) = meaning(unit, decl).filter(by_name) else {
            let key = self.name(decl);
            self.facts.calls.entry(self.within).or_default().push(key);
            self.requests.push((self.within, Some(key), expr));
            let callee = self.input.unit(key.unit);
            for (&parameter, &argument) in callee.declarations[key.decl].parameters.iter().zip(arguments) {
                let owner = Owner::Object(DeclKey { unit: key.unit, decl: parameter });
                self.passed(owner, unit.expressions[argument].ty, argument);
            }
            return self.exprs(arguments.iter().copied());
        };
        for (index, &argument) in arguments.iter().enumerate() {
            let is_kept = matches!(
                (name, index),
                ("pthread_create", 3)
                    | ("thrd_create", 2)
                    | ("__pthread_cleanup_push" | "pthread_cleanup_push" | "pthread_setspecific" | "tss_set", 1)
                    | ("memset" | "memcpy" | "memmove" | "bzero" | "bcopy", _)
            );
            let is_routine = known == Known::TakesFunction
                && unit.called(crate::supported::without_conversions(unit, argument)).is_some();
            if is_kept {
                self.exprs([argument]);
            } else if !is_routine {
                self.lent(argument);
            }
            let is_start = matches!((name, index), ("pthread_create", 2) | ("thrd_create", 1));
            self.facts.starts_pointed |= is_start && !is_routine;
        }
        if GIVES.contains(&name) {
            self.facts.asks_memory = true;
            self.requests.push((self.within, None, expr));
        }
        note_call(self.input, &mut self.facts, self.within, name, arguments, place);
        self.objects_of(name, arguments);
        self.first_states(name, arguments, place);
        if known == Known::TakesFunction {
            let routines = arguments.iter().filter_map(|&argument| {
                let routine = unit.called(crate::supported::without_conversions(unit, argument))?;
                (unit.declarations[routine].kind == DeclKind::Function).then_some(routine)
            });
            for routine in routines.collect::<Vec<_>>() {
                let key = self.name(routine);
                match name {
                    "pthread_create" | "thrd_create" => drop(self.facts.routines.insert(key)),
                    // Threads call it that have a value.
                    "pthread_key_create" | "tss_create" => {}
                    _ => self.facts.calls.entry(self.within).or_default().push(key),
                }
                if matches!(name, "pthread_once" | "call_once") {
                    self.facts.once.insert(key);
                }
            }
        }
        if matches!(name, "pthread_exit" | "thrd_exit") {
            self.facts.ends_thread.insert(self.within);
        }
        self.facts.waits_at_barrier |= name == "pthread_barrier_wait";
        debug_assert!(!is_section(name) || known == Known::Section);
    }

    /// What integers the arguments lead to.
    fn objects_of(&mut self, name: &str, arguments: &[ExprId]) {
        let unit = self.unit();
        for (index, role) in roles(name) {
            let Some(&argument) = arguments.get(index) else { continue };
            let pointer = without_void(unit, argument);
            let owner = self.input.target(self.within.unit, pointer);
            let target = unit.pointee(unit.expressions[pointer].ty).map(|ty| &unit.types[ty].kind);
            let is_number = matches!(target, Some(TypeKind::Integer(_) | TypeKind::Pointer(_)));
            let is_handle = role == Role::Handle && matches!(owner, Owner::Target(_));
            if is_number && (owner.is_declared() || is_handle) && role != Role::Attribute {
                self.facts.roles.insert(owner, role);
            }
        }
    }

    /// How mutexes, barriers and semaphores begin.
    fn first_states(&mut self, name: &str, arguments: &[ExprId], place: Place) {
        let unit = self.unit();
        let owner = |index: usize| {
            arguments.get(index).map(|&one| self.input.target(self.within.unit, without_void(unit, one)))
        };
        let constant = |index: usize| arguments.get(index).and_then(|&argument| unit.integer(argument));
        let Some(object) = owner(0) else { return };
        let (values, value) = match name {
            "pthread_mutexattr_settype" => (&mut self.facts.attribute_kinds, constant(1)),
            "pthread_barrier_init" => (&mut self.facts.barriers, constant(2)),
            "sem_init" => (&mut self.facts.semaphores, constant(2)),
            "mtx_init" => (&mut self.facts.kinds, constant(1)),
            "pthread_mutex_init" => {
                let is_null = arguments.get(1).is_none_or(|&argument| is_null(unit, argument));
                if let (false, Some(attributes)) = (is_null, owner(1)) {
                    self.facts.with_attributes.push((object, attributes, place));
                }
                return;
            }
            _ => return,
        };
        if object.is_declared() {
            values.entry(object).or_default().push(value);
        } else if name != "mtx_init" || value.is_none_or(|kind| kind & 1 != 0) {
            let what = match name {
                "pthread_barrier_init" => "barrier",
                "sem_init" => "semaphore",
                _ => "mutex",
            };
            self.facts.problems.push(Obstacle { place, reason: Reason::UnclearStart(what) });
        }
    }
}
