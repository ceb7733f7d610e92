//! Random threads: the arms of a cobegin, loops of threads, spawned threads, and what they agree on (an event that one
//! sets and the other awaits, a barrier that all reach, a condition, a lock in two orders).

use super::Generator;
use super::build::{
    assign, binary, block, braces, call, cobegin, counting, global, if_else, int, local, name, run, spawn, stmt, text,
};
use super::scope::{Callable, ParameterKind, Place, Scope};
use cssame::front::csm::syntax::ast::{BinaryOp, Expr, Initialiser, Stmt, StmtKind, TypeKind};

/// The statements of one thread, in pieces that may be put between each other.
pub type Pieces = Vec<Vec<Stmt>>;

impl Generator {
    /// The parallel part of the program: one construct, sometimes two.
    pub fn parallel(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        match self.rng.weighted(&[72, 9, 13, 6]) {
            1 => vec![self.parfor(scope, self.size.operations / 2)],
            2 => self.spawned(scope),
            3 => {
                let small = (self.size.operations / 2).max(2);
                let first = self.arms(scope, 2, small);
                let between = self.write(&mut scope.inner(1));
                vec![cobegin(first), between, cobegin(self.arms(scope, 2, small))]
            }
            _ => {
                let count = if self.size.threads > 2 && self.rng.chance(30) { 3 } else { 2 };
                let budget = if count == 2 { self.size.operations } else { (self.size.operations / 2).max(2) };
                let arms = self.arms(scope, count, budget);
                vec![cobegin(arms)]
            }
        }
    }

    /// Arms with labels, and what they agree on.
    fn arms(&mut self, scope: &Scope, count: usize, budget: i32) -> Vec<(String, Vec<Stmt>)> {
        let mut budgets = vec![budget; count];
        let mut arms: Vec<Pieces> = vec![Vec::new(); count];
        if scope.depth == 0 && scope.may_fork && self.size.threads > 2 && self.rng.chance(12) {
            self.nested(scope, &mut arms, &mut budgets);
        }
        // A program with a theme leaves room for it.
        let themed = self.theme.is_some() || scope.depth > 0;
        if !scope.callables.is_empty() && self.rng.chance(if themed { 30 } else { 60 }) {
            self.shared_call(scope, &mut arms, &mut budgets);
        }
        let agreements = self.rng.weighted(if themed { &[60, 40, 0] } else { &[15, 65, 20] });
        for _ in 0..agreements {
            let first = self.rng.below(count);
            let second = (first + 1 + self.rng.below(count - 1)) % count;
            self.agreement(scope, &mut arms, &mut budgets, first, second);
        }
        let contentions = if self.racy { 1 + self.rng.below(2) } else { 0 };
        for _ in 0..contentions {
            let first = self.rng.below(count);
            let second = (first + 1 + self.rng.below(count - 1)) % count;
            self.contention(scope, &mut arms, &mut budgets, first, second);
        }
        for (arm, budget) in arms.iter_mut().zip(budgets) {
            let mut inner = scope.inner(budget);
            let mut longest = 1 + self.rng.below(3);
            while inner.budget > 0 && longest > 0 {
                let piece = self.statements(&mut inner, 1);
                let at = self.rng.below(arm.len() + 1);
                arm.insert(at, piece);
                longest -= 1;
            }
        }
        let label = |index: usize| format!("{}{}", if scope.depth == 0 { "T" } else { "A" }, index + 1);
        arms.into_iter().enumerate().map(|(index, arm)| (label(index), arm.concat())).collect()
    }

    /// Threads inside the first arm; everything else becomes smaller.
    fn nested(&mut self, scope: &Scope, arms: &mut [Pieces], budgets: &mut [i32]) {
        let budget = (self.size.operations / 3).max(1);
        let mut inner = scope.inner(budget);
        inner.may_fork = false;
        let inside = match self.rng.below(4) {
            0 => self.parfor(&inner, budget),
            _ => cobegin(self.arms(&inner, 2, budget)),
        };
        arms[0].push(vec![inside]);
        budgets.fill(budget);
        budgets[0] = 1;
    }

    /// One function that two arms call.
    fn shared_call(&mut self, scope: &Scope, arms: &mut [Pieces], budgets: &mut [i32]) {
        let callable = self.rng.pick(&scope.callables).clone();
        // One that makes threads of its own is called once: two would interleave too much.
        let callers = if callable.name.starts_with("par") { 1 } else { 2 };
        for (arm, budget) in arms.iter_mut().zip(budgets).take(callers) {
            if let Some(called) = self.call_of(&callable, &mut scope.inner(0)) {
                let printed = callable.returns_int && self.rng.chance(60);
                arm.push(vec![if printed { run("print", vec![called]) } else { stmt(StmtKind::Call(called)) }]);
                *budget -= callable.cost;
            }
        }
    }

    /// Something that two threads (or all) agree on. Deadlocks and lost signals are welcome, but not the rule.
    fn agreement(&mut self, scope: &Scope, arms: &mut [Pieces], budgets: &mut [i32], a: usize, b: usize) {
        let mut inner = scope.inner(2);
        let used = self.used_variable(scope);
        let written = assign(used.clone(), self.constant());
        let fresh = self.fresh("r");
        let mut after = match self.rng.below(3) {
            0 => vec![run("print", vec![used.clone()])],
            1 => vec![local(TypeKind::Int, &fresh, used.clone()), run("print", vec![name(&fresh)])],
            _ => vec![self.write(&mut inner), run("print", vec![used.clone()])],
        };
        match self.rng.weighted(&[18, 8, 18, 10, 8, 38]) {
            0 => {
                let event = self.sync_object("e", TypeKind::Event, None);
                self.put(arms, budgets, a, vec![written, run("set", vec![event.clone()])]);
                let mut waiting = vec![run("wait", vec![event.clone()])];
                waiting.append(&mut after);
                if self.rng.chance(15) {
                    waiting.push(run("clear", vec![event]));
                }
                self.put(arms, budgets, b, waiting);
            }
            1 => {
                let semaphore = self.sync_object("s", TypeKind::Sem, None);
                self.put(arms, budgets, a, vec![written, run("V", vec![semaphore.clone()])]);
                after.insert(0, run("P", vec![semaphore]));
                self.put(arms, budgets, b, after);
            }
            2 => self.barrier(arms, budgets, (a, written), (b, after)),
            3 => self.condition_variable(arms, budgets, (a, written), (b, after)),
            4 => {
                let notify = *self.rng.pick(&["notify", "notifyAll"]);
                self.put(arms, budgets, a, vec![written, run(notify, Vec::new())]);
                after.insert(0, run("wait", Vec::new()));
                self.put(arms, budgets, b, after);
            }
            _ => self.exclusion(scope, arms, budgets, (a, written), (b, after)),
        }
    }

    /// Mutual exclusion, or what programmers take for it.
    fn exclusion(
        &mut self,
        scope: &Scope,
        arms: &mut [Pieces],
        budgets: &mut [i32],
        (a, written): (usize, Stmt),
        (b, after): (usize, Vec<Stmt>),
    ) {
        match self.rng.weighted(&[10, 8, 8, 6, 6]) {
            0 => {
                let lock = self.lock();
                for (arm, body) in [(a, vec![written]), (b, after)] {
                    let body = self.locked(&lock, body);
                    self.put(arms, budgets, arm, body);
                }
            }
            1 => {
                let mutex = self.sync_object("m", TypeKind::Sem, Some(Initialiser::Value(int(1))));
                for (arm, mut body) in [(a, vec![written]), (b, after)] {
                    body.insert(0, run("P", vec![mutex.clone()]));
                    body.push(run("V", vec![mutex.clone()]));
                    self.put(arms, budgets, arm, body);
                }
            }
            2 => {
                let flag = self.flag();
                self.put(arms, budgets, a, vec![written, assign(flag.clone(), int(1))]);
                let ready = binary(BinaryOp::Equal, flag, int(1));
                self.put(arms, budgets, b, vec![if_else(ready, after, None)]);
            }
            3 => {
                let (first, second) = (self.lock(), self.lock());
                let outer = self.locked(&second, vec![written]);
                let outer = self.locked(&first, outer);
                let swapped = if self.rng.chance(50) { (second, first) } else { (first, second) };
                let inner = self.locked(&swapped.1, after);
                let inner = self.locked(&swapped.0, inner);
                self.put(arms, budgets, a, outer);
                self.put(arms, budgets, b, inner);
            }
            _ => {
                let (first, second) = (self.flag(), self.used_variable(scope));
                for (arm, mine, other) in [(a, &first, &second), (b, &second, &first)] {
                    let free = binary(BinaryOp::Equal, other.clone(), int(0));
                    let enter = if_else(free, vec![run("print", vec![text("in")])], None);
                    self.put(arms, budgets, arm, vec![assign(mine.clone(), int(1)), enter]);
                }
            }
        }
    }

    fn barrier(&mut self, arms: &mut [Pieces], budgets: &mut [i32], a: (usize, Stmt), b: (usize, Vec<Stmt>)) {
        let everybody = self.rng.chance(60);
        let mut count = if everybody { arms.len() as i64 } else { 2 };
        if self.rng.chance(6) {
            count += 1;
        }
        let wait = if self.rng.chance(50) {
            run("barrier", vec![int(count)])
        } else {
            let barrier = self.sync_object("b", TypeKind::Barrier, Some(Initialiser::Arguments(vec![int(count)])));
            run("barrier", vec![barrier])
        };
        let again = self.rng.chance(25);
        for arm in 0..arms.len() {
            let mut piece = vec![wait.clone()];
            if arm == a.0 {
                let before = usize::from(self.rng.chance(75));
                piece.insert(1 - before, a.1.clone());
            } else if arm == b.0 {
                piece.extend(b.1.iter().cloned());
            } else if !everybody {
                continue;
            }
            if again {
                // A second phase, which nothing of the first can reach.
                piece.push(wait.clone());
                if arm == a.0 {
                    piece.push(b.1[0].clone());
                } else {
                    piece.push(a.1.clone());
                }
            }
            self.put(arms, budgets, arm, piece);
        }
    }

    fn condition_variable(
        &mut self,
        arms: &mut [Pieces],
        budgets: &mut [i32],
        a: (usize, Stmt),
        b: (usize, Vec<Stmt>),
    ) {
        let lock = self.lock();
        let condition = self.sync_object("c", TypeKind::Cond, None);
        let flag = self.flag();
        let notify = *self.rng.pick(&["notify", "notifyAll"]);
        let tell = run(notify, vec![condition.clone()]);
        let outside = self.rng.chance(20);
        let mut body = vec![assign(flag.clone(), int(1))];
        if self.rng.chance(60) {
            body.insert(0, a.1);
        }
        if !outside {
            body.push(tell.clone());
        }
        let mut signal = self.locked(&lock, body);
        if outside {
            signal.push(tell);
        }
        let wait = run("wait", vec![condition, lock.clone()]);
        let unset = binary(BinaryOp::Equal, flag, int(0));
        let await_it = if self.rng.chance(75) {
            stmt(StmtKind::While { condition: unset, body: braces(vec![wait]) })
        } else {
            if_else(unset, vec![wait], None)
        };
        let mut body = vec![await_it];
        body.extend(b.1);
        let awaiting = self.locked(&lock, body);
        self.put(arms, budgets, a.0, signal);
        self.put(arms, budgets, b.0, awaiting);
    }

    /// Puts a piece somewhere into an arm, which pays for it.
    pub fn put(&mut self, arms: &mut [Pieces], budgets: &mut [i32], arm: usize, piece: Vec<Stmt>) {
        budgets[arm] -= 1 + piece.len() as i32;
        let at = self.rng.below(arms[arm].len() + 1);
        arms[arm].insert(at, piece);
    }

    pub fn locked(&mut self, lock: &Expr, mut body: Vec<Stmt>) -> Vec<Stmt> {
        if self.rng.chance(30) {
            return vec![stmt(StmtKind::Synchronized { lock: lock.clone(), body: block(body) })];
        }
        body.insert(0, run("lock", vec![lock.clone()]));
        body.push(run("unlock", vec![lock.clone()]));
        body
    }

    /// A shared `int` variable.
    pub fn used_variable(&mut self, scope: &Scope) -> Expr {
        let ints = scope.shared_ints();
        if ints.is_empty() { self.flag() } else { self.hot(&ints).expr }
    }

    /// A new global that starts at 0.
    pub fn flag(&mut self) -> Expr {
        let flag = self.fresh("f");
        self.declarations.push(global(TypeKind::Int, &flag, None));
        name(&flag)
    }

    pub fn sync_object(&mut self, prefix: &str, kind: TypeKind, initial: Option<Initialiser>) -> Expr {
        let declared = self.fresh(prefix);
        self.declarations.push(global(kind, &declared, initial));
        name(&declared)
    }

    /// A new lock, or sometimes one of those there are.
    pub fn lock(&mut self) -> Expr {
        if !self.locks.is_empty() && self.rng.chance(60) {
            return self.rng.pick(&self.locks).clone();
        }
        let lock = self.sync_object("L", TypeKind::Lock, None);
        self.locks.push(lock.clone());
        lock
    }

    /// Threads made by a thread: a cobegin, a parfor, or a spawned function. They often share a local of the thread that
    /// makes them: a new object wherever several threads, or several rounds of a loop, come here.
    pub fn threads_inside(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        scope.may_fork = false;
        let budget = (scope.budget / 3).max(1);
        scope.pay(3 + 2 * budget);
        let mut inner = scope.inner(budget);
        let mut statements = Vec::new();
        if self.rng.chance(60) {
            let shared = self.fresh("mid");
            statements.push(local(TypeKind::Int, &shared, self.constant()));
            inner.places.insert(0, Place::captured(&shared, TypeKind::Int));
            scope.places.push(Place::captured(&shared, TypeKind::Int));
        }
        match self.rng.below(4) {
            0 => statements.push(self.parfor(&inner, budget)),
            1 => statements.extend(self.spawn_and_join(scope)),
            _ => statements.push(cobegin(self.arms(&inner, 2, budget))),
        }
        statements
    }

    fn parfor(&mut self, scope: &Scope, budget: i32) -> Stmt {
        let variable = self.fresh("k");
        let threads = if budget <= 2 && scope.depth == 0 && self.rng.chance(40) { 3 } else { 2 };
        let mut inner = scope.inner(budget.max(1));
        let bound = self.bound(threads);
        inner.places.push(Place::private(&variable, TypeKind::Int));
        let has_threads = scope.depth == 0 && scope.may_fork && threads == 2 && self.rng.chance(40);
        let mut body = if has_threads { self.own_threads(&inner) } else { self.statements(&mut inner, 3) };
        if self.rng.chance(20) {
            body.insert(0, run("barrier", vec![int(threads)]));
        }
        let (initial, condition, step) = counting(&variable, bound);
        stmt(StmtKind::Parfor { initial, condition, step, body: braces(body) })
    }

    /// Threads of one of several threads that share a local of it: each of the several has a local of its own. They do
    /// little, since four threads interleave much.
    fn own_threads(&mut self, scope: &Scope) -> Vec<Stmt> {
        let shared = self.fresh("mid");
        let declared = local(TypeKind::Int, &shared, self.constant());
        let mut inner = scope.inner(1);
        inner.may_fork = false;
        inner.places.retain(|place| place.private);
        inner.places.insert(0, Place::captured(&shared, TypeKind::Int));
        let arms = [self.write(&mut inner), run("print", vec![name(&shared)])];
        let mut arms: Vec<(String, Vec<Stmt>)> =
            arms.into_iter().zip(["A1", "A2"]).map(|(arm, label)| (label.to_owned(), vec![arm])).collect();
        if self.rng.chance(30) {
            arms[1].1.push(self.write(&mut inner));
        }
        vec![declared, cobegin(arms)]
    }

    fn spawn_and_join(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let fitting: Vec<Callable> = scope.callables.iter().filter(|callable| !callable.is_method).cloned().collect();
        let Some(callable) = fitting.first() else { return vec![self.write(scope)] };
        let Some(called) = self.call_of(callable, scope) else { return vec![self.write(scope)] };
        if self.rng.chance(15) {
            return vec![stmt(StmtKind::Call(spawn(called)))];
        }
        let handle = self.fresh("t");
        let mut statements = vec![local(TypeKind::Thread, &handle, spawn(called))];
        statements.extend(self.statements(&mut scope.inner(2), 1));
        if self.rng.chance(80) {
            statements.push(run("join", vec![name(&handle)]));
            let used = self.used_variable(scope);
            statements.push(run("print", vec![used]));
        }
        statements
    }

    /// Two spawned threads and `main` beside them.
    fn spawned(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let operations = self.size.operations;
        let mut statements = Vec::new();
        let mut handles = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let callable = self.function(scope, operations / 2, true);
            let arguments =
                callable.parameters.iter().map(|kind| self.argument(kind, scope)).collect::<Option<Vec<Expr>>>();
            let Some(arguments) = arguments else { continue };
            let handle = self.fresh("t");
            let called = call(&callable.name, arguments);
            if self.rng.chance(25) {
                self.declarations.push(global(TypeKind::Thread, &handle, None));
                statements.push(assign(name(&handle), spawn(called)));
            } else {
                statements.push(local(TypeKind::Thread, &handle, spawn(called)));
            }
            handles.push(handle);
        }
        let mut inner = scope.inner((operations / 3).max(1));
        statements.extend(self.statements(&mut inner, 2));
        for handle in handles {
            if self.rng.chance(85) {
                statements.push(run("join", vec![name(&handle)]));
            }
        }
        statements
    }

    fn argument(&mut self, kind: &ParameterKind, scope: &Scope) -> Option<Expr> {
        match kind {
            ParameterKind::Value => Some(self.constant()),
            ParameterKind::Lock => scope.locks.first().cloned(),
            ParameterKind::Object => scope.objects.first().cloned(),
        }
    }
}

/// Whether the variable is a local of `main`, by the beginning of its name.
pub fn is_local(expr: &Expr, prefix: &str) -> bool {
    matches!(&expr.kind, cssame::front::csm::syntax::ast::ExprKind::Name(name) if name.starts_with(prefix))
}
