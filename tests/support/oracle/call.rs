//! Calls to [`Code`](super::code::Code): functions, methods, externs, and the built-in operations by name.

use super::code::{Atomic, CellInit, Op, Shape, Sync};
use super::compile::{Compiler, Result, barrier_cells};
use super::expression::{Target, result_of};
use super::value::{Status, Ty, Value};
use cssame::front::csm::syntax::ast::{BinaryOp, Expr, ExprKind, Ident};

impl Compiler<'_> {
    /// A call; `None` where it pushes no value.
    pub fn call(
        &mut self,
        expr: &Expr,
        receiver: Option<&Expr>,
        callee: &Ident,
        arguments: &[Expr],
    ) -> Result<Option<Ty>> {
        let place = expr.span.start;
        if !self.is_function(receiver, callee) {
            return match self.externs.get(callee.name.as_str()) {
                Some(_) => self.external(callee, arguments, place),
                None => self.builtin(callee, arguments, place),
            };
        }
        self.emit(Op::Frame, place);
        let (function, count) = self.callee(receiver, callee, arguments, place)?;
        self.emit(Op::Call { function, arguments: count }, place);
        match self.code.functions[function as usize].result {
            Ty::Void => {
                self.emit(Op::Pop, place);
                Ok(None)
            }
            ty => Ok(Some(ty)),
        }
    }

    fn is_function(&self, receiver: Option<&Expr>, callee: &Ident) -> bool {
        let name = callee.name.as_str();
        receiver.is_some()
            || self.frame.class.is_some_and(|class| self.classes[class].methods.contains_key(name))
            || self.functions.contains_key(name)
    }

    /// Finds the function and pushes its arguments, the object first; says how many words they are.
    fn callee(
        &mut self,
        receiver: Option<&Expr>,
        callee: &Ident,
        arguments: &[Expr],
        place: u32,
    ) -> Result<(u32, u32)> {
        let name = callee.name.as_str();
        let own = self.frame.class.and_then(|class| self.classes[class].methods.get(name).copied());
        let function = if let Some(receiver) = receiver {
            let (ty, dims) = self.reference(receiver)?;
            let (Ty::Class(class), true) = (ty, dims.is_empty()) else {
                return Err("a method of no object".to_owned());
            };
            *self.classes[class].methods.get(name).ok_or_else(|| format!("no method {name}"))?
        } else if let Some(own) = own {
            self.emit(Op::LoadSlot(0), place);
            own
        } else {
            *self.functions.get(name).ok_or_else(|| format!("no function {name}"))?
        };
        let parameters = self.code.functions[function as usize].parameters.clone();
        let first = parameters.len().checked_sub(arguments.len()).ok_or("too many arguments")?;
        let object = u32::from(receiver.is_some() || own.is_some());
        if first != object as usize {
            return Err(format!("{name} with {} arguments", arguments.len()));
        }
        self.arguments(&parameters[first..], arguments)?;
        Ok((function, parameters.len() as u32))
    }

    /// Pushes arguments.
    pub fn arguments(&mut self, parameters: &[Shape], arguments: &[Expr]) -> Result<()> {
        for ((ty, dims), argument) in parameters.iter().zip(arguments) {
            if ty.is_data() && dims.is_empty() {
                self.convert(argument, *ty)?;
            } else {
                self.reference_argument(argument, *ty, dims)?;
            }
        }
        Ok(())
    }

    /// `spawn f(x)`; with a label, it pushes the handle.
    pub fn spawn(&mut self, call: &Expr, handle: Option<u32>, at: u32) -> Result<()> {
        let ExprKind::Call { receiver, callee, arguments } = &call.kind else {
            return Err("spawn without a call".to_owned());
        };
        let place = call.span.start;
        let label = handle.unwrap_or_else(|| self.label(&callee.name));
        let (function, arguments) = self.callee(receiver.as_deref(), callee, arguments, place)?;
        let pc = self.emit(Op::Spawn { function, arguments, label, handle: handle.is_some() }, place);
        self.code.spawns.insert(pc as u32, at);
        Ok(())
    }

    fn external(&mut self, callee: &Ident, arguments: &[Expr], place: u32) -> Result<Option<Ty>> {
        let external = self.externs[callee.name.as_str()];
        for (parameter, argument) in external.parameters.iter().zip(arguments) {
            if parameter.sizes.is_empty() && self.ty(&parameter.ty)?.is_data() {
                self.expr(argument)?;
                self.emit(Op::Pop, place);
            }
        }
        let ty = self.ty(&external.result)?;
        if ty == Ty::Void {
            return Ok(None);
        }
        match &external.range {
            Some((low, high)) => {
                self.convert(low, Ty::Long)?;
                self.convert(high, Ty::Long)?;
                self.emit(Op::Choose, place);
                self.emit(Op::Convert(ty), place);
            }
            None => {
                let zero = ty.zero(&mut self.code.strings);
                self.emit(Op::Push(zero), place);
            }
        }
        Ok(Some(ty))
    }

    fn builtin(&mut self, callee: &Ident, arguments: &[Expr], place: u32) -> Result<Option<Ty>> {
        match (callee.name.as_str(), arguments) {
            ("choose", [low, high]) => {
                self.convert(low, Ty::Long)?;
                self.convert(high, Ty::Long)?;
                self.emit(Op::Choose, place);
                self.emit(Op::Convert(Ty::Int), place);
                return Ok(Some(Ty::Int));
            }
            ("length", [array]) => return self.array_length(array, place).map(Some),
            ("cas", [target, old, new]) => return self.atomic(Atomic::Cas, target, &[old, new], place),
            ("swap", [target, value]) => return self.atomic(Atomic::Swap, target, &[value], place),
            ("fetch_add", [target, value]) => return self.atomic(Atomic::FetchAdd, target, &[value], place),
            ("print", values) => {
                values.iter().try_for_each(|value| self.expr(value).map(|_| ()))?;
                self.emit(Op::Print(values.len() as u32), place);
            }
            ("assert", [condition] | [condition, _]) => {
                self.convert(condition, Ty::Bool)?;
                self.emit(Op::Assert, place);
            }
            ("assume", [condition]) => {
                self.convert(condition, Ty::Bool)?;
                self.emit(Op::Assume, place);
            }
            ("error", _) => {
                self.emit(Op::Fail(Status::Error), place);
            }
            ("sleep", [duration]) => {
                self.expr(duration)?;
                self.emit(Op::Pop, place);
            }
            _ => return self.synchronisation(callee, arguments, place),
        }
        Ok(None)
    }

    fn atomic(&mut self, kind: Atomic, target: &Expr, operands: &[&Expr], place: u32) -> Result<Option<Ty>> {
        let target = self.target(target)?;
        let ty = target.ty();
        if kind == Atomic::FetchAdd && !matches!(ty, Ty::Int | Ty::Long) {
            return Err(format!("fetch_add on a {ty:?}"));
        }
        for operand in operands {
            // What `cas` compares with keeps its own type: a wider one must not be cut.
            if kind == Atomic::Cas {
                let given = self.expr(operand)?;
                result_of(BinaryOp::Equal, ty, given)?;
            } else {
                self.convert(operand, ty)?;
            }
        }
        match target {
            Target::Slot(slot, ty) => {
                self.emit(Op::StepPoint, place);
                self.emit(Op::SlotAtomic { kind, slot, ty }, place);
            }
            Target::Cell { ty, name } => {
                self.emit(Op::Atomic { kind, name, ty }, place);
            }
        }
        Ok(Some(if kind == Atomic::Cas { Ty::Bool } else { ty }))
    }

    fn synchronisation(&mut self, callee: &Ident, arguments: &[Expr], place: u32) -> Result<Option<Ty>> {
        let mut types = Vec::new();
        if let ("join", [handle]) = (callee.name.as_str(), arguments) {
            types.push(self.expr(handle)?);
        } else if let ("barrier", [count]) = (callee.name.as_str(), arguments)
            && let Some(count) = self.constant(count)
        {
            self.anonymous_barrier(count.long(), place);
            types.push(Ty::Barrier);
        } else {
            for argument in arguments {
                let (ty, dims) = self.address(argument)?;
                if !dims.is_empty() {
                    return Err("an operation on a whole array".to_owned());
                }
                types.push(ty);
            }
        }
        // What a lock is, is known when it is used: a parameter may be either.
        for ty in &mut types {
            *ty = if *ty == Ty::ReentrantLock { Ty::Lock } else { *ty };
        }
        let sync = match (callee.name.as_str(), types.as_slice()) {
            ("trylock", [Ty::Lock]) => Sync::TryLock,
            ("rdlock", [Ty::RwLock]) => Sync::ReadLock,
            ("tryrdlock", [Ty::RwLock]) => Sync::TryReadLock,
            ("wrlock", [Ty::RwLock]) => Sync::WriteLock,
            ("trywrlock", [Ty::RwLock]) => Sync::TryWriteLock,
            ("unlock", [Ty::RwLock]) => Sync::Unlock,
            ("timedwait", [Ty::Cond, Ty::Lock]) => Sync::TimedWait,
            ("lock" | "Lock", [Ty::Lock]) => Sync::Lock,
            ("unlock" | "Unlock", [Ty::Lock]) => Sync::Unlock,
            ("set", [Ty::Event]) => Sync::Set,
            ("clear", [Ty::Event]) => Sync::Clear,
            ("wait", [Ty::Event]) => Sync::WaitEvent,
            ("wait", [Ty::Cond, Ty::Lock]) => Sync::CondWait,
            ("wait", []) => Sync::BareWait,
            ("notify", [Ty::Cond]) => Sync::Notify,
            ("notify", []) => Sync::BareNotify,
            ("notifyAll", [Ty::Cond]) => Sync::NotifyAll,
            ("notifyAll", []) => Sync::BareNotifyAll,
            ("barrier", [Ty::Barrier]) => Sync::Barrier,
            ("P", [Ty::Sem]) => Sync::P,
            ("V", [Ty::Sem]) => Sync::V,
            ("join", [Ty::Thread]) => Sync::Join,
            (name, types) => return Err(format!("no operation {name} of {types:?}")),
        };
        self.emit(Op::Sync(sync), place);
        let has_verdict = matches!(sync, Sync::TryLock | Sync::TryReadLock | Sync::TryWriteLock | Sync::TimedWait);
        Ok(has_verdict.then_some(Ty::Bool))
    }

    /// Pushes the anonymous barrier of that count that belongs to the innermost cobegin or parfor, or to the program.
    fn anonymous_barrier(&mut self, count: i64, place: u32) {
        if let Some(barriers) = self.frame.anonymous.last() {
            let known = barriers.iter().find(|barrier| barrier.1 == count).map(|barrier| barrier.0);
            let slot = known.unwrap_or_else(|| self.frame.slot());
            if known.is_none()
                && let Some(barriers) = self.frame.anonymous.last_mut()
            {
                barriers.push((slot, count));
            }
            self.emit(Op::LoadSlot(slot), place);
            return;
        }
        let known = self.program_barriers.iter().find(|barrier| barrier.1 == count).map(|barrier| barrier.0);
        let address = known.unwrap_or_else(|| {
            let address = self.code.cells.len() as u32;
            let cells: Vec<CellInit> = barrier_cells(count);
            self.code.cells.extend(cells);
            self.program_barriers.push((address, count));
            address
        });
        self.emit(Op::Push(Value::Ref(address)), place);
    }
}
