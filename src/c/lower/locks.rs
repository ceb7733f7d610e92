//! Synchronisation objects: mutexes, conditions, barriers, semaphores.
//!
//! In: a call of a function on one. Out: the operation of the graph, and the number that the function returns.

use super::ask::{Done, without_void};
use super::builder::{Builder, Typed};
use super::home::Home;
use super::owner::Owner;
use super::roles::Role;
use crate::supported::{Reason, initialiser};
use crate::tree::{Conversion, DeclKind, ExprId, ExprKind, TypeKind};
use cssame_ir::sync::Kind;
use cssame_ir::{
    Definition, DefinitionKind, Instruction, LeafKind, Operand, Place, Read, ScalarType, Synchronisation, Terminator,
    Value,
};

const EBUSY: i32 = 16;
const ETIMEDOUT: i32 = 110;
const THRD_BUSY: i32 = 1;
const THRD_TIMEDOUT: i32 = 4;

/// The operation of a function, and what it returns where its verdict is no.
///
/// What waits with a limit gets the lock where it is free, and may give up where not. That it waits a while before is the same as
/// that it comes later, so it is the operation that tries.
fn operation(name: &str) -> Option<(Kind, i32)> {
    Some(match name {
        "pthread_mutex_lock" | "pthread_spin_lock" | "mtx_lock" => (Kind::Lock, 0),
        "pthread_mutex_trylock" | "pthread_spin_trylock" => (Kind::TryLock, EBUSY),
        "mtx_trylock" => (Kind::TryLock, THRD_BUSY),
        "pthread_mutex_timedlock" => (Kind::TryLock, ETIMEDOUT),
        "mtx_timedlock" => (Kind::TryLock, THRD_TIMEDOUT),
        "pthread_mutex_unlock" | "pthread_spin_unlock" | "mtx_unlock" => (Kind::Unlock, 0),
        "pthread_rwlock_rdlock" => (Kind::ReadLock, 0),
        "pthread_rwlock_wrlock" => (Kind::WriteLock, 0),
        "pthread_rwlock_tryrdlock" => (Kind::TryReadLock, EBUSY),
        "pthread_rwlock_trywrlock" => (Kind::TryWriteLock, EBUSY),
        "pthread_rwlock_timedrdlock" => (Kind::TryReadLock, ETIMEDOUT),
        "pthread_rwlock_timedwrlock" => (Kind::TryWriteLock, ETIMEDOUT),
        "pthread_rwlock_unlock" => (Kind::UnlockRw, 0),
        "pthread_cond_wait" | "cnd_wait" => (Kind::WaitCondition, 0),
        "pthread_cond_timedwait" => (Kind::TimedWait, ETIMEDOUT),
        "cnd_timedwait" => (Kind::TimedWait, THRD_TIMEDOUT),
        "pthread_cond_signal" | "cnd_signal" => (Kind::Notify, 0),
        "pthread_cond_broadcast" | "cnd_broadcast" => (Kind::NotifyAll, 0),
        "pthread_barrier_wait" => (Kind::Barrier, 0),
        "sem_wait" => (Kind::Acquire, 0),
        "sem_post" => (Kind::Release, 0),
        _ => return None,
    })
}

impl Builder<'_, '_> {
    /// An operation on a synchronisation object, with what it returns; none where the function is no such one.
    pub fn synchronise(&mut self, name: &str, arguments: &[ExprId], expr: ExprId, wanted: bool) -> Done<Option<Typed>> {
        let Some((kind, no)) = operation(name) else { return Ok(None) };
        let place = self.expr(expr).place;
        // Which of the threads is the one that gets the other number is not known.
        if kind == Kind::Barrier && wanted {
            return self.refuse(Reason::ResultOf(name.into()), place);
        }
        let count = kind.operands().len();
        let mut places = Vec::with_capacity(count);
        for &argument in arguments.iter().take(count) {
            let object = self.object(argument)?;
            places.push(object);
        }
        self.evaluated(arguments.get(count..).unwrap_or_default())?;
        let mut places = places.into_iter();
        let (object, lock) = (places.next(), places.next());
        if object.is_none() || (count > 1 && lock.is_none()) {
            return self.refuse(Reason::Form("call without its arguments"), place);
        }
        let verdict = (kind.has_verdict() && wanted).then(|| self.temporary(ScalarType::Bool, place.span));
        let operation = Synchronisation { kind, object, lock, verdict };
        self.emit(Instruction::Synchronise(operation), place.span);
        Ok(Some(match verdict {
            Some(verdict) => self.number_for(Typed::register(verdict, ScalarType::Bool), 0, no, place.span),
            None => Typed::int(0),
        }))
    }

    /// The place of a synchronisation object.
    fn object(&mut self, argument: ExprId) -> Done<Place> {
        let pointer = without_void(self.unit, argument);
        let place = self.expr(argument).place;
        if let ExprKind::Cast(operand) | ExprKind::Convert { conversion: Conversion::Pointer, operand } =
            self.expr(pointer).kind
            && self.unit.pointee(self.expr(operand).ty).is_some()
        {
            return self.refuse(Reason::OpaqueObject, place);
        }
        let lvalue = self.pointed(pointer)?;
        let ty = lvalue.ty;
        let role = match self.unit.types[ty].kind {
            TypeKind::Record(record) => self.input().records.role(self.key.unit, record),
            _ => self.input().facts.roles.get(&lvalue.owner).copied(),
        };
        let is_unknown = role.and_then(Role::leaf).is_none();
        // An integer behind a pointer is the lock that is one somewhere.
        let some = |role: &Role| role.leaf().is_some();
        if is_unknown && (lvalue.owner.is_declared() || !self.input().facts.roles.values().any(some)) {
            return self.refuse(Reason::OpaqueObject, place);
        }
        match lvalue.home {
            Home::Memory(place) => Ok(place),
            Home::Register(_) => self.refuse(Reason::OpaqueObject, place),
        }
    }

    /// `m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;`, which does nothing to what is as it was made; whether it is such a one.
    pub fn begins_anew(&mut self, target: ExprId, value: ExprId) -> Done<bool> {
        let Some(literal) = initialiser(self.unit, value) else { return Ok(false) };
        let Some(record) = self.lowering.record_of(self.key.unit, self.expr(target).ty) else { return Ok(false) };
        let role = self.input().records.role(self.key.unit, record);
        if !matches!(role, Some(Role::Lock | Role::RwLock | Role::Condition)) {
            return Ok(false);
        }
        let place = self.expr(target).place;
        let kind_byte = self.input().kind_byte(self.key.unit, record).filter(|_| role == Some(Role::Lock));
        let values = self.unit.declarations[literal].initial.iter().flatten();
        let mut kinds = values.filter(|value| Some(value.offset) == kind_byte);
        let kind = kinds.next().map_or(Some(0), |kind| self.unit.integer(kind.value));
        let owner = self.input().owner(self.key.unit, target);
        match kind {
            Some(0 | 3) if !self.lowering.reentrant.contains(&owner) => {}
            Some(2) => return self.refuse(Reason::ErrorCheckingMutex, place),
            _ => return self.refuse(Reason::UnclearStart("mutex"), place),
        }
        self.lvalue(target)?;
        Ok(true)
    }

    /// `pthread_once`: a lock, and whether it has been done.
    pub fn once(&mut self, object: ExprId, routine: ExprId, expr: ExprId) -> Done<Typed> {
        let place = self.expr(expr).place;
        let span = place.span;
        let owner = self.input().target(self.key.unit, without_void(self.unit, object));
        let Owner::Object(_) = owner else { return self.refuse(Reason::UnclearStart("`pthread_once_t`"), place) };
        let routine = self.routine_named(routine)?;
        let name = self.lowering.text_at(self.span(object));
        let name = self.lowering.program.texts.get(name).trim_start_matches('&').to_owned();
        let (lock, flag) = match self.lowering.once.get(&owner) {
            Some(&known) => known,
            None => {
                let lock = self.lowering.hidden(&format!("{name}.lock"), span, LeafKind::Lock);
                let flag = self.lowering.hidden(&format!("{name}.done"), span, LeafKind::Data(ScalarType::Bool));
                self.lowering.once.insert(owner, (lock, flag));
                (lock, flag)
            }
        };
        self.emit(Instruction::Synchronise(Synchronisation::on(Kind::Lock, Place::global(lock))), span);
        let first = self.lowering.program.variables[flag].first_leaf;
        let (symbol, name) = (self.lowering.program.leaves[first].symbol, self.lowering.program.leaves[first].name);
        let read = self.lowering.program.reads.push(Read { name, symbol, span, function: self.id });
        let done = self.temporary(ScalarType::Bool, span);
        self.emit(Instruction::Load { dest: done, place: Place::global(flag), read }, span);
        let (call, join) = (self.new_block(), self.new_block());
        let condition = Operand::Register(done);
        self.terminate(Terminator::Branch { condition, then_block: join, else_block: call }, span);
        self.current = call;
        self.call_function(routine, &[], false, span, place)?;
        let kind = DefinitionKind::Write(self.id);
        let definition = self.lowering.program.definitions.push(Definition { name, symbol, span, kind, version: 0 });
        let value = Operand::Constant(Value::Bool(true));
        self.emit(Instruction::Store { place: Place::global(flag), value, definition }, span);
        self.jump_into(join, span);
        self.emit(Instruction::Synchronise(Synchronisation::on(Kind::Unlock, Place::global(lock))), span);
        Ok(Typed::int(0))
    }

    /// The function that an argument names.
    pub fn routine_named(&self, argument: ExprId) -> Done<super::link::DeclKey> {
        let named = self.unit.called(crate::supported::without_conversions(self.unit, argument));
        match named {
            Some(decl) if self.unit.declarations[decl].kind == DeclKind::Function => {
                Ok(self.input().links.resolve(self.unit, self.key.unit, decl))
            }
            _ => self.refuse(Reason::FunctionPointer, self.expr(argument).place),
        }
    }
}
