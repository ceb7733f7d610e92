//! Statements to [`Code`](super::code::Code): control flow, local declarations, and the creation of threads.

use super::arrays::elements;
use super::code::{ForkArm, Op, Sync};
use super::compile::{Cleanup, Compiler, Local, Loop, Result};
use super::expression::{Target, result_of};
use super::value::{Ty, Value};
use cssame::front::csm::syntax::ast::{
    Arm, BinaryOp, Case, CaseLabel, Declaration, Declarator, Expr, ExprKind, Initialiser, Stmt, StmtKind,
};

impl<'a> Compiler<'a> {
    /// Statements with a scope of their own.
    pub fn statements(&mut self, statements: &'a [Stmt]) -> Result<()> {
        self.frame.scopes.push(Vec::new());
        let result = statements.iter().try_for_each(|statement| self.statement(statement));
        self.frame.scopes.pop();
        result
    }

    pub fn statement(&mut self, statement: &'a Stmt) -> Result<()> {
        let place = statement.span.start;
        match &statement.kind {
            StmtKind::Block(block) => self.statements(&block.statements),
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Assign { target, op, value } => self.assignment(target, *op, value),
            StmtKind::Step { target, increment } => {
                let op = if *increment { BinaryOp::Add } else { BinaryOp::Subtract };
                let one = ExprKind::Int { value: 1, long: false };
                self.assignment(target, Some(op), &Expr { kind: one, span: target.span, depth: 1 })
            }
            StmtKind::If { condition, then_branch, else_branch } => {
                let otherwise = self.unless(condition)?;
                self.scoped(then_branch)?;
                let Some(else_branch) = else_branch else {
                    self.land_all(otherwise);
                    return Ok(());
                };
                let end = self.emit(Op::Jump(0), place);
                self.land_all(otherwise);
                self.scoped(else_branch)?;
                self.land(end);
                Ok(())
            }
            StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. } => self.any_loop(statement),
            StmtKind::Switch { value, cases } => self.switch(value, cases, place),
            StmtKind::Fallthrough => Ok(()),
            StmtKind::Break | StmtKind::Continue => self.leave_loop(statement),
            StmtKind::Return(value) => self.leave_function(value.as_ref(), place),
            StmtKind::Cobegin(arms) => self.cobegin(arms, place),
            StmtKind::Parfor { initial, condition, step, body } => self.parfor(initial, condition, step, body, place),
            StmtKind::Synchronized { lock, body } => {
                let slot = self.frame.slot();
                self.address(lock)?;
                self.emit(Op::StoreSlot(slot), place);
                self.emit(Op::LoadSlot(slot), place);
                self.emit(Op::Sync(Sync::Lock), place);
                self.cleaned(Cleanup::Unlock(slot, place), |compiler| compiler.statements(&body.statements))
            }
            StmtKind::Atomic(body) => {
                self.emit(Op::AtomicBegin, place);
                self.cleaned(Cleanup::AtomicEnd, |compiler| compiler.statements(&body.statements))
            }
            StmtKind::Call(expr) => self.call_statement(expr),
            StmtKind::Skip => Ok(()),
            StmtKind::Error => Err("a syntax error".to_owned()),
        }
    }

    fn scoped(&mut self, statement: &'a Stmt) -> Result<()> {
        self.statements(std::slice::from_ref(statement))
    }

    fn call_statement(&mut self, expr: &Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Spawn(call) => self.spawn(call, None, expr.span.start),
            ExprKind::Call { receiver, callee, arguments } => {
                if self.call(expr, receiver.as_deref(), callee, arguments)?.is_some() {
                    self.emit(Op::Pop, expr.span.start);
                }
                Ok(())
            }
            _ => Err("a statement that is no call".to_owned()),
        }
    }

    fn assignment(&mut self, target: &Expr, op: Option<BinaryOp>, value: &Expr) -> Result<()> {
        let place = target.span.start;
        if let ExprKind::Spawn(call) = &value.kind {
            let (target, label) = self.handle(target)?;
            self.spawn(call, Some(label), place)?;
            self.store(target, place);
            return Ok(());
        }
        let found = self.target(target)?;
        if !found.ty().is_data() {
            return Err("an object is assigned".to_owned());
        }
        if let Some(op) = op {
            if let Target::Cell { .. } = found {
                self.emit(Op::Repeat, place);
            }
            self.load(found, place);
            let operand = self.expr(value)?;
            if !result_of(op, found.ty(), operand)?.fits(found.ty()) {
                return Err(format!("{operand:?} is too wide for {:?}", found.ty()));
            }
            self.emit(Op::Binary(op), place);
            self.emit(Op::Convert(found.ty()), place);
        } else {
            self.convert(value, found.ty())?;
        }
        self.store(found, place);
        Ok(())
    }

    fn declaration(&mut self, declaration: &'a Declaration) -> Result<()> {
        let ty = self.ty(&declaration.ty)?;
        declaration.declarators.iter().try_for_each(|declarator| match self.constant_of(declaration, declarator) {
            Some((ty, value)) => {
                self.declare_local_constant(ty, value, declarator);
                Ok(())
            }
            None => self.declare_local((ty, declaration.atomic), declarator),
        })
    }

    fn declare_local_constant(&mut self, ty: Ty, value: Value, declarator: &'a Declarator) {
        let (name, declared) = (declarator.name.name.as_str(), declarator.name.span.start);
        let depth = self.frame.arms.len() as u32;
        self.declare(Local {
            name,
            ty,
            dims: Vec::new(),
            slot: 0,
            boxed: false,
            depth,
            declared,
            constant: Some(value),
        });
    }

    fn declare_local(&mut self, (ty, atomic): (Ty, bool), declarator: &'a Declarator) -> Result<()> {
        let (name, declared) = (declarator.name.name.as_str(), declarator.name.span.start);
        let dims = self.dimensions(declarator)?;
        let captured = self.captured.contains(&declared);
        let slot = self.frame.slot();
        let depth = self.frame.arms.len() as u32;
        let is_object = !dims.is_empty() || !ty.is_data();
        let local = Local { name, ty, dims, slot, boxed: is_object || captured, depth, declared, constant: None };
        if is_object {
            let cells = self.cells((ty, atomic), declarator, name, captured || !ty.is_data())?;
            self.code.layouts.push(cells);
            let layout = self.code.layouts.len() as u32 - 1;
            self.emit(Op::Allocate { slot, layout }, declared);
            self.initialise_local(&local, declarator)?;
            self.construct(ty, declarator, &[Op::LoadSlot(slot)])?;
            self.declare(local);
            return Ok(());
        }
        match &declarator.initialiser {
            Some(Initialiser::Value(Expr { kind: ExprKind::Spawn(call), .. })) => {
                let label = self.label(name);
                self.spawn(call, Some(label), declared)?;
            }
            Some(Initialiser::Value(value)) => self.convert(value, ty)?,
            _ => {
                let zero = ty.zero(&mut self.code.strings);
                self.emit(Op::Push(zero), declared);
            }
        }
        if captured {
            let variable = self.variable(name, true, atomic);
            self.emit(Op::Box { slot, variable }, declared);
        } else {
            self.emit(Op::StoreSlot(slot), declared);
        }
        self.declare(local);
        Ok(())
    }

    /// What of an initialiser is left to do at run time: the elements of an array.
    fn initialise_local(&mut self, local: &Local<'a>, declarator: &'a Declarator) -> Result<()> {
        match &declarator.initialiser {
            initialiser @ Some(Initialiser::List(_) | Initialiser::Rows(_)) => {
                for (index, value) in elements(&local.dims, initialiser.as_ref()) {
                    self.emit(Op::LoadSlot(local.slot), local.declared);
                    self.emit(Op::Offset(index as u32), local.declared);
                    self.convert(value, local.ty)?;
                    self.emit(Op::StoreInitial { step: false }, local.declared);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn any_loop(&mut self, statement: &'a Stmt) -> Result<()> {
        let place = statement.span.start;
        self.frame.scopes.push(Vec::new());
        let (initial, condition, step, body, test_first) = match &statement.kind {
            StmtKind::While { condition, body } => (None, Some(condition), None, body, true),
            StmtKind::DoWhile { condition, body } => (None, Some(condition), None, body, false),
            StmtKind::For { initial, condition, step, body } => {
                (initial.as_deref(), condition.as_ref(), step.as_deref(), body, true)
            }
            _ => return Err("no loop".to_owned()),
        };
        if let Some(initial) = initial {
            self.statement(initial)?;
        }
        let cleanups = self.frame.cleanups.len();
        self.frame.loops.push(Loop { cleanups, ..Loop::default() });
        let head = self.code.ops.len() as u32;
        let mut exit = Vec::new();
        if let (Some(condition), true) = (condition, test_first) {
            exit = self.unless(condition)?;
        }
        self.scoped(body)?;
        for jump in self.frame.loops.last_mut().map(|l| std::mem::take(&mut l.continues)).unwrap_or_default() {
            self.land(jump);
        }
        if let Some(step) = step {
            self.statement(step)?;
        }
        if let (Some(condition), false) = (condition, test_first) {
            exit = self.unless(condition)?;
        }
        self.emit(Op::Jump(head), place);
        self.land_all(exit);
        for jump in self.frame.loops.pop().map(|l| l.breaks).unwrap_or_default() {
            self.land(jump);
        }
        self.frame.scopes.pop();
        Ok(())
    }

    /// The value is kept in a slot and compared with the labels in the order of the text.
    fn switch(&mut self, value: &Expr, cases: &'a [Case], place: u32) -> Result<()> {
        let slot = self.frame.slot();
        let fixed = if self.names_a_variable(value) { None } else { self.constant(value) };
        let ty = self.expr(value)?;
        if !matches!(ty, Ty::Int | Ty::Long | Ty::Bool | Ty::Str) {
            return Err(format!("a switch on a {ty:?}"));
        }
        self.emit(Op::StoreSlot(slot), place);
        let mut jumps: Vec<(usize, usize)> = Vec::new();
        let mut default = None;
        let labels: Vec<(usize, &CaseLabel)> =
            cases.iter().enumerate().flat_map(|(at, case)| case.labels.iter().map(move |label| (at, label))).collect();
        let values = labels.iter().filter(|(_, label)| label.value.is_some()).count();
        let mut seen = 0;
        for (at, label) in labels {
            let Some(value) = &label.value else {
                default = Some(at);
                continue;
            };
            seen += 1;
            let place = label.span.start;
            let wanted = self.constant(value).ok_or("a label that is no constant")?.convert(ty);
            // What is known beforehand, or the second value of a bool, is no branch.
            if let Some(fixed) = fixed {
                if fixed.convert(ty) == wanted {
                    jumps.push((self.emit(Op::Jump(0), place), at));
                }
                continue;
            }
            if ty == Ty::Bool && values == 2 && seen == 2 {
                jumps.push((self.emit(Op::Jump(0), place), at));
                continue;
            }
            self.emit(Op::LoadSlot(slot), place);
            self.emit(Op::Push(wanted), place);
            self.emit(Op::Binary(BinaryOp::Equal), place);
            jumps.push((self.emit(Op::JumpTrue(0), place), at));
        }
        let otherwise = self.emit(Op::Jump(0), place);
        let cleanups = self.frame.cleanups.len();
        self.frame.loops.push(Loop { cleanups, is_switch: true, ..Loop::default() });
        for (at, case) in cases.iter().enumerate() {
            jumps.iter().filter(|(_, to)| *to == at).for_each(|(jump, _)| self.land(*jump));
            if default == Some(at) {
                self.land(otherwise);
            }
            self.statements(&case.statements)?;
            if !matches!(case.statements.last(), Some(Stmt { kind: StmtKind::Fallthrough, .. })) {
                let jump = self.emit(Op::Jump(0), place);
                self.frame.loops.last_mut().into_iter().for_each(|inner| inner.breaks.push(jump));
            }
        }
        if default.is_none() {
            self.land(otherwise);
        }
        for jump in self.frame.loops.pop().map(|inner| inner.breaks).unwrap_or_default() {
            self.land(jump);
        }
        Ok(())
    }

    fn leave_loop(&mut self, statement: &Stmt) -> Result<()> {
        let leaves = statement.kind == StmtKind::Break;
        let at = self.frame.loops.iter().rposition(|one| leaves || !one.is_switch);
        let at = at.ok_or("break or continue outside a loop")?;
        self.clean_up(self.frame.loops[at].cleanups);
        let jump = self.emit(Op::Jump(0), statement.span.start);
        if let Some(inner) = self.frame.loops.get_mut(at) {
            if statement.kind == StmtKind::Break { &mut inner.breaks } else { &mut inner.continues }.push(jump);
        }
        Ok(())
    }

    fn leave_function(&mut self, value: Option<&Expr>, place: u32) -> Result<()> {
        let result = self.frame.result;
        match value {
            Some(value) => self.convert(value, result)?,
            None => {
                let zero = result.zero(&mut self.code.strings);
                self.emit(Op::Push(zero), place);
            }
        }
        // In an arm, `return` ends the arm; so it does in the statements of `main` at top level.
        let arm = self.frame.arms.last().copied();
        self.clean_up(arm.unwrap_or(0));
        let is_function = arm.is_none() && self.code.functions[self.frame.function as usize].entry != self.code.entry;
        self.emit(if is_function { Op::Return } else { Op::End }, place);
        Ok(())
    }

    /// Emits the cleanups above `level`, innermost first, without forgetting them.
    fn clean_up(&mut self, level: usize) {
        for at in (level..self.frame.cleanups.len()).rev() {
            self.emit_cleanup(self.frame.cleanups[at]);
        }
    }

    fn emit_cleanup(&mut self, cleanup: Cleanup) {
        match cleanup {
            Cleanup::Unlock(slot, place) => {
                self.emit(Op::LoadSlot(slot), place);
                self.emit(Op::Sync(Sync::Unlock), place);
            }
            Cleanup::AtomicEnd => {
                self.emit(Op::AtomicEnd, 0);
            }
        }
    }

    fn cleaned(&mut self, cleanup: Cleanup, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.frame.cleanups.push(cleanup);
        let result = body(self);
        self.frame.cleanups.pop();
        self.emit_cleanup(cleanup);
        result
    }

    fn cobegin(&mut self, arms: &'a [Arm], place: u32) -> Result<()> {
        let fork = self.fork();
        self.emit(Op::Fork(fork as u32), place);
        self.emit(Op::JoinArms, place);
        let end = self.emit(Op::Jump(0), place);
        self.frame.anonymous.push(Vec::new());
        for arm in arms {
            let label = self.code.names.intern(&arm.label.name);
            let entry = self.code.ops.len() as u32;
            self.code.forks[fork].arms.push(ForkArm { label, site: arm.label.span.start, entry });
            self.arm(arm.span.end, |compiler| compiler.statements(&arm.statements))?;
        }
        self.code.forks[fork].anonymous = self.frame.anonymous.pop().unwrap_or_default();
        self.land(end);
        Ok(())
    }

    /// The code of one thread.
    fn arm(&mut self, end: u32, body: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.frame.arms.push(self.frame.cleanups.len());
        let loops = std::mem::take(&mut self.frame.loops);
        body(self)?;
        self.frame.loops = loops;
        self.frame.arms.pop();
        self.emit(Op::End, end);
        Ok(())
    }

    /// The parent collects the values of the loop variable on its stack, then forks all threads in one step.
    fn parfor(
        &mut self,
        initial: &'a Stmt,
        condition: &'a Expr,
        step: &'a Stmt,
        body: &'a Stmt,
        place: u32,
    ) -> Result<()> {
        let StmtKind::Declare(declaration) = &initial.kind else { return Err("parfor without a variable".to_owned()) };
        let [declarator] = declaration.declarators.as_slice() else { return Err("two loop variables".to_owned()) };
        let Some(Initialiser::Value(first)) = &declarator.initialiser else { return Err("no first value".to_owned()) };
        let (name, declared) = (declarator.name.name.as_str(), declarator.name.span.start);
        let ty = self.ty(&declaration.ty)?;
        let (variable, count, fork) = (self.frame.slot(), self.frame.slot(), self.fork());
        self.convert(first, ty)?;
        self.emit(Op::StoreSlot(variable), place);
        self.emit(Op::Push(Value::Int(0)), place);
        self.emit(Op::StoreSlot(count), place);
        // The parent's own variable: only the condition and the step see it.
        let depth = self.frame.arms.len() as u32;
        let parents =
            Local { name, ty, dims: Vec::new(), slot: variable, boxed: false, depth, declared, constant: None };
        self.frame.scopes.push(vec![parents.clone()]);
        let head = self.code.ops.len() as u32;
        let exit = self.unless(condition)?;
        self.emit(Op::LoadSlot(variable), place);
        for op in [Op::LoadSlot(count), Op::Push(Value::Int(1)), Op::Binary(BinaryOp::Add), Op::StoreSlot(count)] {
            self.emit(op, place);
        }
        self.statement(step)?;
        self.emit(Op::Jump(head), place);
        self.frame.scopes.pop();
        self.land_all(exit);
        self.emit(Op::LoadSlot(count), place);
        self.emit(Op::ForkLoop(fork as u32), place);
        self.emit(Op::JoinArms, place);
        let end = self.emit(Op::Jump(0), place);
        self.loop_thread(fork, Local { slot: 0, depth: depth + 1, ..parents }, body, place)?;
        self.land(end);
        Ok(())
    }

    /// The code of a thread of a parfor, which has the loop variable for itself.
    fn loop_thread(&mut self, fork: usize, variable: Local<'a>, body: &'a Stmt, place: u32) -> Result<()> {
        let line = self.file.position(place).line;
        let label = self.code.names.intern(&format!("parfor@{line}"));
        let entry = self.code.ops.len() as u32;
        self.code.forks[fork].arms.push(ForkArm { label, site: place, entry });
        self.frame.anonymous.push(Vec::new());
        let own = self.frame.slot();
        self.code.forks[fork].loop_slot = own;
        let mut local = Local { slot: own, ..variable };
        if self.captured.contains(&local.declared) {
            let variable = self.variable(local.name, true, false);
            let slot = self.frame.slot();
            self.emit(Op::LoadSlot(own), place);
            self.emit(Op::Box { slot, variable }, place);
            local = Local { slot, boxed: true, ..local };
        }
        self.arm(place, |compiler| {
            compiler.frame.scopes.push(vec![local]);
            let result = compiler.scoped(body);
            compiler.frame.scopes.pop();
            result
        })?;
        self.code.forks[fork].anonymous = self.frame.anonymous.pop().unwrap_or_default();
        Ok(())
    }
}
