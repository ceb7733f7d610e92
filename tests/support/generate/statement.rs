//! Random statements of one thread: accesses, mutex bodies, branches, loops, atomics, calls.

use super::Generator;
use super::build::{
    assign, assign_op, binary, block, boolean, braces, call, conditional, counting, declaration, if_else, int, local,
    method, name, run, stmt, text,
};
use super::scope::{Callable, ParameterKind, Place, Scope};
use cssame::front::csm::syntax::ast::{BinaryOp, Case, CaseLabel, Expr, Initialiser, Stmt, StmtKind, TypeKind};
use cssame::source::Span;

/// The patterns, with their weights and the least budget that they need.
pub const PATTERNS: [(u32, i32); 17] = [
    (18, 1), // write
    (8, 2),  // read-modify-write
    (12, 1), // read into a private variable
    (7, 1),  // print
    (16, 4), // mutex body
    (10, 2), // branch
    (5, 2),  // loop
    (4, 1),  // atomic block
    (6, 1),  // atomic expression
    (2, 2),  // choose
    (3, 1),  // assert, assume, error
    (9, 1),  // call
    (8, 2),  // two writes in a row, or a write and a read
    (4, 3),  // lock with ways out
    (6, 3),  // threads inside the thread
    (2, 0),  // skip, sleep, a block
    (6, 2),  // switch
];

impl Generator {
    /// Statements until the budget is spent or the block is long enough.
    pub fn statements(&mut self, scope: &mut Scope, longest: usize) -> Vec<Stmt> {
        let known = scope.places.len();
        let mut statements = Vec::new();
        for _ in 0..longest {
            if scope.budget < 1 {
                break;
            }
            statements.extend(self.pattern(scope));
        }
        scope.places.truncate(known);
        statements
    }

    fn pattern(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let mut weights = PATTERNS.map(|(weight, least)| if scope.budget < least { 0 } else { weight });
        if let Some(theme) = self.theme
            && weights[theme] > 0
        {
            weights[theme] += 60;
        }
        match self.rng.weighted(&weights) {
            0 => vec![self.write(scope)],
            1 => vec![self.modify(scope)],
            2 => self.read_local(scope),
            3 => vec![self.print(scope)],
            4 if !scope.in_atomic => self.mutex_body(scope),
            5 => vec![self.branch(scope)],
            6 if scope.depth < 3 => self.bounded_loop(scope),
            7 if !scope.in_atomic => vec![self.atomic_block(scope)],
            8 => self.atomic_expression(scope),
            9 => self.choose(scope),
            10 => vec![self.check(scope)],
            11 => self.call(scope),
            12 => self.twice(scope),
            13 if !scope.in_atomic => self.lock_with_exits(scope),
            14 if scope.may_fork && !scope.in_atomic && scope.held.is_empty() => self.threads_inside(scope),
            15 => vec![self.nothing(scope)],
            16 if scope.depth < 3 => vec![self.switch(scope)],
            _ => vec![self.write(scope)],
        }
    }

    fn any_place(&mut self, scope: &Scope) -> Option<Place> {
        let shared: Vec<Place> = scope.places.iter().filter(|place| !place.private).cloned().collect();
        let from = if shared.is_empty() || self.rng.chance(12) { &scope.places } else { &shared };
        if from.is_empty() { None } else { Some(self.hot(from)) }
    }

    pub fn write(&mut self, scope: &mut Scope) -> Stmt {
        let Some(place) = self.any_place(scope) else { return stmt(StmtKind::Skip) };
        scope.pay(i32::from(!place.private));
        let value = self.value(scope, &place.ty);
        assign(place.expr, value)
    }

    fn modify(&mut self, scope: &mut Scope) -> Stmt {
        let ints = scope.of_type(&TypeKind::Int);
        if ints.is_empty() {
            return self.write(scope);
        }
        let place = self.hot(&ints);
        scope.pay(if place.private { 0 } else { 2 });
        if self.rng.chance(50) {
            return stmt(StmtKind::Step { target: place.expr, increment: self.rng.chance(75) });
        }
        let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply]);
        let value = if self.rng.chance(70) { self.constant() } else { self.int_value(scope) };
        assign_op(place.expr, op, value)
    }

    fn read_local(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let fresh = self.fresh("r");
        if self.rng.chance(8) {
            // A constant, or a variable that is never assigned.
            let value = if self.rng.chance(50) { self.constant() } else { self.int_value(scope) };
            let mut declared = declaration(TypeKind::Int, &fresh, None, Some(Initialiser::Value(value)));
            declared.constant = true;
            return vec![stmt(StmtKind::Declare(declared)), run("print", vec![name(&fresh)])];
        }
        let value = if self.rng.chance(75) { self.read_int(scope) } else { self.int_value(scope) };
        scope.places.push(Place::private(&fresh, TypeKind::Int));
        let mut statements = vec![local(TypeKind::Int, &fresh, value)];
        if self.rng.chance(50) {
            statements.push(run("print", vec![name(&fresh)]));
        }
        statements
    }

    fn print(&mut self, scope: &mut Scope) -> Stmt {
        let mut arguments = Vec::new();
        if self.rng.chance(20) {
            arguments.push(text("is"));
        }
        match self.any_place(scope) {
            Some(place) => {
                scope.pay(i32::from(!place.private));
                arguments.push(place.expr);
            }
            None => arguments.push(int(7)),
        }
        if scope.budget > 0 && self.rng.chance(20) {
            arguments.push(self.read_int(scope));
        }
        run("print", arguments)
    }

    /// `lock(L); … unlock(L);` or `synchronized (L) { … }`.
    pub fn mutex_body(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let free = scope.free_locks();
        if free.is_empty() {
            return vec![self.write(scope)];
        }
        let lock = self.rng.pick(&free).clone();
        scope.pay(2);
        let part = if self.rng.chance(60) { scope.budget } else { scope.budget / 2 };
        let mut inner = scope.inner(part.max(1));
        inner.held.push(lock.clone());
        let mut body = if self.rng.chance(40) { self.twice(&mut inner) } else { Vec::new() };
        let longest = 1 + self.rng.below(3);
        if inner.budget > 0 {
            body.extend(self.statements(&mut inner, longest));
        }
        scope.pay(part - inner.budget.max(0));
        if self.rng.chance(35) {
            return vec![stmt(StmtKind::Synchronized { lock, body: block(body) })];
        }
        let mut statements = vec![run("lock", vec![lock.clone()])];
        statements.extend(body);
        statements.push(run("unlock", vec![lock]));
        statements
    }

    fn branch(&mut self, scope: &mut Scope) -> Stmt {
        let condition = self.condition(scope);
        let mut inner = scope.inner((scope.budget * 2 / 3).max(1));
        let before = inner.budget;
        let mut yes = self.statements(&mut inner, 2);
        if scope.in_loop && self.rng.chance(40) {
            yes.push(stmt(if self.rng.chance(60) { StmtKind::Break } else { StmtKind::Continue }));
        }
        let mut spent = before - inner.budget;
        let mut no = None;
        if self.rng.chance(40) {
            let mut inner = scope.inner(before);
            no = Some(self.statements(&mut inner, 2));
            spent = spent.max(before - inner.budget);
        }
        scope.pay(spent);
        if yes.is_empty() {
            yes.push(stmt(StmtKind::Skip));
        }
        if_else(condition, yes, no)
    }

    /// A switch with one to three bodies, sometimes one for several labels, sometimes with one that runs into the next.
    fn switch(&mut self, scope: &mut Scope) -> Stmt {
        let (value, mut labels) = match self.rng.weighted(&[70, 15, 15]) {
            0 => (self.read_int(scope), [0, 1, 2, 3].map(int).to_vec()),
            1 => (self.condition(scope), vec![boolean(true), boolean(false)]),
            _ => (self.private_int(scope), [-1, 1, 2, 5].map(int).to_vec()),
        };
        if self.rng.chance(50) {
            // The same numbers by their names.
            for label in &mut labels {
                let same = self.constants.iter().find(|(_, value)| int(*value) == *label);
                if let Some((known, _)) = same {
                    *label = name(known);
                }
            }
        }
        let bodies = 1 + self.rng.below(3);
        let mut cases = Vec::new();
        let before = (scope.budget * 2 / 3).max(1);
        let mut spent = 0;
        for at in 0..bodies {
            let mut of = Vec::new();
            for _ in 0..1 + self.rng.weighted(&[75, 25]) {
                if !labels.is_empty() {
                    of.push(Some(labels.remove(self.rng.below(labels.len()))));
                }
            }
            if at + 1 == bodies && (of.is_empty() || self.rng.chance(50)) {
                of.push(None);
            }
            if of.is_empty() {
                continue;
            }
            let mut inner = scope.inner(before);
            let mut statements = self.statements(&mut inner, 2);
            if self.rng.chance(20) {
                let leave = if_else(self.condition(&mut inner), vec![stmt(StmtKind::Break)], None);
                let at = self.rng.below(statements.len() + 1);
                statements.insert(at, leave);
            }
            spent = spent.max(before - inner.budget);
            let labels = of.into_iter().map(|value| CaseLabel { value, span: Span::default() }).collect();
            cases.push(Case { labels, statements, span: Span::default() });
        }
        let last = cases.len() - 1;
        for (at, case) in cases.iter_mut().enumerate() {
            let end = match self.rng.below(10) {
                0 | 1 if at < last => StmtKind::Fallthrough,
                2 if scope.in_loop => StmtKind::Continue,
                3..=6 if at == last && !case.statements.is_empty() => continue,
                _ => StmtKind::Break,
            };
            case.statements.push(stmt(end));
        }
        scope.pay(spent);
        stmt(StmtKind::Switch { value, cases })
    }

    /// Two rounds, or three.
    fn bounded_loop(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let rounds = if scope.budget >= 6 && self.rng.chance(20) { 3 } else { 2 };
        let variable = self.fresh("i");
        let mut inner = scope.inner((scope.budget / rounds as i32).max(1));
        inner.in_loop = true;
        inner.places.push(Place::private(&variable, TypeKind::Int));
        // The counter is read, never written: the loop must end.
        let known = inner.places.len();
        let before = inner.budget;
        let mut body = self.body_that_keeps(&mut inner, &variable);
        inner.places.truncate(known);
        scope.pay((before - inner.budget) * rounds as i32);
        let bound = self.bound(rounds);
        let (first, condition, step) = counting(&variable, bound);
        match self.rng.below(4) {
            0 => {
                body.insert(0, *step);
                let kind = StmtKind::While { condition, body: braces(body) };
                vec![*braces(vec![*first, stmt(kind)])]
            }
            1 => {
                body.insert(0, *step);
                let kind = StmtKind::DoWhile { condition, body: braces(body) };
                vec![*braces(vec![*first, stmt(kind)])]
            }
            _ => vec![stmt(StmtKind::For {
                initial: Some(first),
                condition: Some(condition),
                step: Some(step),
                body: braces(body),
            })],
        }
    }

    fn body_that_keeps(&mut self, scope: &mut Scope, counter: &str) -> Vec<Stmt> {
        let counter = name(counter);
        let hidden = scope.places.iter().position(|place| place.expr == counter);
        if let Some(hidden) = hidden {
            scope.places.remove(hidden);
        }
        let mut body = self.statements(scope, 2);
        if self.rng.chance(45) {
            let condition = if self.rng.chance(60) {
                self.condition(scope)
            } else {
                binary(BinaryOp::Equal, counter.clone(), int(1))
            };
            let leave = stmt(if self.rng.chance(60) { StmtKind::Break } else { StmtKind::Continue });
            let at = self.rng.below(body.len() + 1);
            body.insert(at, if_else(condition, vec![leave], None));
        }
        if self.rng.chance(25) {
            body.push(run("print", vec![counter]));
        }
        body
    }

    fn atomic_block(&mut self, scope: &mut Scope) -> Stmt {
        scope.pay(1);
        let mut inner = scope.inner(3);
        inner.in_atomic = true;
        inner.in_loop = false;
        inner.callables.clear();
        let body = self.statements(&mut inner, 2);
        stmt(StmtKind::Atomic(block(body)))
    }

    fn atomic_expression(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let ints = scope.shared_ints();
        if ints.is_empty() {
            return vec![self.write(scope)];
        }
        let place = self.hot(&ints).expr;
        scope.pay(1);
        let (new, old) = (self.constant(), self.constant());
        match self.rng.below(4) {
            0 => {
                let condition = call("cas", vec![place, old, new]);
                let mut inner = scope.inner((scope.budget / 2).max(1));
                let body = self.statements(&mut inner, 2);
                let otherwise = self.rng.chance(30).then(|| vec![run("print", vec![text("lost")])]);
                vec![if_else(condition, body, otherwise)]
            }
            1 => vec![run("fetch_add", vec![place, new])],
            kind => {
                let fresh = self.fresh("r");
                scope.places.push(Place::private(&fresh, TypeKind::Int));
                let operation = if kind == 2 { "swap" } else { "fetch_add" };
                let mut statements = vec![local(TypeKind::Int, &fresh, call(operation, vec![place, new]))];
                if self.rng.chance(50) {
                    statements.push(run("print", vec![name(&fresh)]));
                }
                statements
            }
        }
    }

    fn choose(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let fresh = self.fresh("c");
        scope.pay(2);
        scope.places.push(Place::private(&fresh, TypeKind::Int));
        let high = self.rng.range(1, 2);
        vec![local(TypeKind::Int, &fresh, call("choose", vec![int(0), int(high)]))]
    }

    fn check(&mut self, scope: &mut Scope) -> Stmt {
        let condition = self.condition(scope);
        match self.rng.below(4) {
            0 => run("assume", vec![condition]),
            1 => run("assert", vec![condition]),
            2 => run("assert", vec![condition, text("why")]),
            _ => if_else(condition, vec![run("error", vec![text("reached")])], None),
        }
    }

    fn call(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let fitting: Vec<Callable> =
            scope.callables.iter().filter(|callable| callable.cost <= scope.budget).cloned().collect();
        if fitting.is_empty() {
            return vec![self.write(scope)];
        }
        let callable = self.rng.pick(&fitting).clone();
        scope.pay(callable.cost);
        let Some(called) = self.call_of(&callable, scope) else { return vec![self.write(scope)] };
        if callable.returns_int && self.rng.chance(70) {
            let fresh = self.fresh("r");
            scope.places.push(Place::private(&fresh, TypeKind::Int));
            return vec![local(TypeKind::Int, &fresh, called), run("print", vec![name(&fresh)])];
        }
        vec![stmt(StmtKind::Call(called))]
    }

    /// A call with arguments; `None` where there is no object or no free lock to pass.
    pub fn call_of(&mut self, callable: &Callable, scope: &mut Scope) -> Option<Expr> {
        let mut arguments = Vec::new();
        for parameter in &callable.parameters {
            arguments.push(match parameter {
                ParameterKind::Value => self.private_int(scope),
                ParameterKind::Lock => scope.free_locks().first()?.clone(),
                ParameterKind::Object => self.object(scope)?,
            });
        }
        let receiver = if callable.is_method { Some(self.object(scope)?) } else { None };
        Some(method(receiver, &callable.name, arguments))
    }

    fn object(&mut self, scope: &Scope) -> Option<Expr> {
        if scope.objects.is_empty() { None } else { Some(self.rng.pick(&scope.objects).clone()) }
    }

    /// A definition that the next one kills, or that the next statement reads.
    fn twice(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let ints = scope.shared_ints();
        if ints.is_empty() {
            return vec![self.write(scope)];
        }
        let place = self.hot(&ints).expr;
        scope.pay(2);
        let first = assign(place.clone(), self.constant());
        let second = match self.rng.below(4) {
            0 => run("print", vec![place]),
            1 => {
                let condition = self.private_condition(scope);
                if_else(condition, vec![assign(place, self.constant())], None)
            }
            _ => assign(place, self.constant()),
        };
        vec![first, second]
    }

    /// A condition that costs no visible step where that is possible.
    pub fn private_condition(&mut self, scope: &mut Scope) -> Expr {
        let places = scope.private_ints();
        if places.is_empty() {
            return self.condition(scope);
        }
        let left = self.rng.pick(&places).expr.clone();
        binary(BinaryOp::Equal, left, self.constant())
    }

    /// A lock that is released in several places, or taken only sometimes.
    fn lock_with_exits(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let free = scope.free_locks();
        let Some(lock) = free.first().cloned() else { return vec![self.write(scope)] };
        scope.pay(3);
        let mut inner = scope.inner(1);
        inner.held.push(lock.clone());
        let (first, second) = (self.write(&mut inner), self.write(&mut inner));
        let (take, release) = (run("lock", vec![lock.clone()]), run("unlock", vec![lock.clone()]));
        let condition = self.condition(scope);
        match self.rng.below(4) {
            0 => vec![take, if_else(condition, vec![first, release.clone()], Some(vec![release, second]))],
            1 if self.rng.chance(25) => vec![
                // The condition may change between the two: then the lock is kept, or was never taken.
                if_else(condition.clone(), vec![take], None),
                first,
                if_else(condition, vec![release], None),
            ],
            1 => {
                let flag = self.fresh("h");
                let held = binary(BinaryOp::Equal, name(&flag), int(1));
                let value = conditional(condition, int(1), int(0));
                vec![
                    local(TypeKind::Int, &flag, value),
                    if_else(held.clone(), vec![take], None),
                    first,
                    if_else(held, vec![release], None),
                ]
            }
            2 => {
                let variable = self.fresh("i");
                let (initial, bound, step) = counting(&variable, int(2));
                let leave = if_else(condition, vec![stmt(StmtKind::Break)], None);
                let body = braces(vec![stmt(StmtKind::Synchronized { lock, body: block(vec![leave, first]) })]);
                let kind = StmtKind::For { initial: Some(initial), condition: Some(bound), step: Some(step), body };
                vec![stmt(kind)]
            }
            _ => {
                let variable = self.fresh("i");
                let (initial, bound, step) = counting(&variable, int(2));
                let leave = if_else(condition, vec![release.clone(), stmt(StmtKind::Break)], None);
                let body = braces(vec![take, leave, first, release]);
                let kind = StmtKind::For { initial: Some(initial), condition: Some(bound), step: Some(step), body };
                vec![stmt(kind)]
            }
        }
    }

    fn nothing(&mut self, scope: &mut Scope) -> Stmt {
        match self.rng.below(3) {
            0 => stmt(StmtKind::Skip),
            1 => run("sleep", vec![int(1)]),
            _ => *braces(vec![self.write(scope)]),
        }
    }
}
