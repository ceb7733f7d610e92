//! The Java of operations on synchronisation objects.
//!
//! In: an operation. Out: its lines. The object itself fails if the thread does not hold it. A wait is three events: it begins,
//! it ends, and the lock is acquired again. Monitors and atomic blocks are regions, whose ends Java leaves automatically.

use super::line::Mark;
use super::statement::Writer;
use super::text::string;
use crate::label::Located;
use cssame_ir::sync::Kind;
use cssame_ir::{Instruction, Synchronisation};

impl<'a> Writer<'_, 'a> {
    /// An operation on a synchronisation object that is no monitor.
    pub(super) fn synchronise(&mut self, located: &Located<'a>, operation: &Synchronisation) {
        let place = located.label(self.scope.symbols.input);
        let object = match &operation.object {
            Some(object) => self.scope.reference(object, None),
            None => "Program.waiting".to_owned(),
        };
        match operation.kind {
            Kind::Lock => self.step(&place, ("", &object, "lock", ""), &format!("held({object})")),
            Kind::Unlock | Kind::UnlockRw => self.step(&place, ("", &object, "unlock", ""), "done()"),
            Kind::ReadLock => self.step(&place, ("", &object, "readLock", ""), &format!("held({object})")),
            Kind::WriteLock => self.step(&place, ("", &object, "writeLock", ""), &format!("held({object})")),
            Kind::TryLock => self.verdict(&place, operation, (&object, "tryLock", "")),
            Kind::TryReadLock => self.verdict(&place, operation, (&object, "tryReadLock", "")),
            Kind::TryWriteLock => self.verdict(&place, operation, (&object, "tryWriteLock", "")),
            Kind::Set => self.step(&place, ("", &object, "set", ""), &format!("done({object})")),
            Kind::Clear => self.step(&place, ("", &object, "clear", ""), &format!("done({object})")),
            Kind::WaitEvent => self.step(&place, ("", &object, "await", ""), &format!("done({object})")),
            Kind::Notify | Kind::NotifyBare => self.step(&place, ("", &object, "signal", ""), "done()"),
            Kind::NotifyAll | Kind::NotifyAllBare => self.step(&place, ("", &object, "signalAll", ""), "done()"),
            Kind::Acquire => self.permit(&place, (&object, "acquireUninterruptibly")),
            Kind::Release => self.permit(&place, (&object, "release")),
            Kind::Barrier => {
                let phase = self.scope.names.numbered("phase");
                self.step(&place, (&format!("int {phase} = "), &object, "arrive", ""), "done()");
                self.step(&place, ("", &object, "awaitAdvance", &phase), "done()");
            }
            Kind::WaitBare | Kind::WaitCondition | Kind::TimedWait => self.wait(&place, operation, &object),
        }
    }

    /// A wait: it begins, it is notified or gives up, and takes its lock again.
    fn wait(&mut self, place: &str, operation: &Synchronisation, object: &str) {
        let lock = operation.lock.as_ref().map(|lock| self.scope.reference(lock, None));
        let waiter = self.scope.names.numbered("waiter");
        let given = lock.clone().unwrap_or_default();
        self.step(place, (&format!("Waiter {waiter} = "), object, "enter", &given), "done()");
        if operation.kind == Kind::TimedWait {
            self.verdict(place, operation, (object, "leaveTimed", &waiter));
        } else {
            self.step(place, ("", object, "leave", &waiter), "done()");
        }
        if let Some(lock) = lock {
            self.step(place, ("", &lock, "lock", &waiter), &format!("held({lock})"));
        }
    }

    /// A call that is an event, and how it is said to be done.
    fn step(&mut self, place: &str, (left, object, method, arguments): (&str, &str, &str, &str), done: &str) {
        self.lines.hook(format!("Order.await({});", string(place)));
        self.lines.event(format!("{left}{object}.{method}({arguments});"), Mark::new("call", method, place));
        self.lines.hook(format!("Order.{done};"));
    }

    /// An operation on a semaphore, whose permits are compared before and behind it.
    fn permit(&mut self, place: &str, (object, method): (&str, &str)) {
        self.lines.hook(format!("Order.await({}, {object});", string(place)));
        self.lines.event(format!("{object}.{method}();"), Mark::new("call", method, place));
        self.lines.hook(format!("Order.done({object});"));
    }

    /// A call that is an event with a verdict, which the plan has too.
    fn verdict(&mut self, place: &str, operation: &Synchronisation, (object, method, arguments): (&str, &str, &str)) {
        let (left, name) = match operation.verdict {
            Some(dest) => self.left_side(dest, "verdict"),
            None => {
                let name = self.scope.names.numbered("verdict");
                (format!("boolean {name} = "), name)
            }
        };
        self.step(place, (&left, object, method, arguments), &format!("done({name})"));
    }

    /// The beginning of a region: a monitor, or an atomic block.
    pub(super) fn begin_region(&mut self, located: &Located<'a>, instruction: &'a Instruction) {
        self.index_checks(located, instruction);
        let Instruction::Synchronise(Synchronisation { object: Some(object), .. }) = instruction else {
            self.lines.hook("Order.turn();");
            self.lines.open("synchronized (Program.ATOMIC) {");
            self.lines.also(Mark::new("lock", "-", "-"));
            return self.lines.hook("Order.inside(Program.ATOMIC);");
        };
        let place = located.label(self.scope.symbols.input);
        let object = self.scope.reference(object, None);
        self.lines.hook(format!("Order.await({});", string(&place)));
        self.lines.open(format!("synchronized ({object}) {{"));
        self.lines.also(Mark::new("lock", "-", &place));
        self.lines.hook(format!("Order.held({object});"));
    }

    /// The end of a region, or a way out of it, and its event: the turn goes on before Java frees the monitor, for it does that
    /// by itself at the closing brace or the jump.
    pub(super) fn leave_region(&mut self, located: &Located<'a>, instruction: &'a Instruction) -> Option<Mark> {
        let Instruction::Synchronise(_) = instruction else { return None };
        let place = located.label(self.scope.symbols.input);
        self.lines.hook(format!("Order.await({});", string(&place)));
        self.lines.hook("Order.done();");
        Some(Mark::new("unlock", "-", &place))
    }
}
