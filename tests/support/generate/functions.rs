//! Random functions, and the one class: what several threads call.

use super::Generator;
use super::build::{
    assign, assign_op, binary, block, call, cobegin, declaration, element, field, function, global, ident, if_else,
    int, local, name, run, stmt, this,
};
use super::scope::{Callable, ParameterKind, Place, Scope};
use cssame::front::csm::syntax::ast::{
    BinaryOp, Class, Expr, Function, Item, Member, MemberKind, Stmt, StmtKind, TypeKind,
};
use cssame::source::Span;

impl Generator {
    /// The class, and one or two objects of it: a balance, a lock, sometimes an array, one or two methods.
    pub fn class(&mut self, scope: &mut Scope) {
        let own = |field_name: &str, with_this: bool| {
            if with_this { field(this(), field_name) } else { name(field_name) }
        };
        let plain = |kind: TypeKind, declared: &str, size: Option<Expr>, public: bool| Member {
            public,
            kind: MemberKind::Field(declaration(kind, declared, size, None)),
        };
        let mut members = vec![
            plain(TypeKind::Int, "balance", None, true),
            plain(TypeKind::Lock, "guard", None, true),
            plain(TypeKind::Int, "hidden", None, false),
        ];
        let mut inside = Scope { budget: 2, depth: 1, ..Scope::default() };
        inside.places.push(Place::shared(own("balance", self.rng.chance(25)), TypeKind::Int));
        inside.places.push(Place::shared(own("hidden", false), TypeKind::Int));
        if self.rng.chance(30) {
            members.push(plain(TypeKind::Int, "log", Some(int(2)), true));
            inside.places.push(Place::shared(element(own("log", false), int(0)), TypeKind::Int));
        }
        inside.places.extend(scope.places.iter().take(1).cloned());
        inside.locks = vec![own("guard", self.rng.chance(25))];
        for method_name in ["deposit", "settle"].iter().take(1 + self.rng.below(2)) {
            let callable = Callable {
                name: (*method_name).to_owned(),
                parameters: vec![ParameterKind::Value],
                returns_int: self.rng.chance(40),
                cost: 4,
                is_method: true,
            };
            let built = self.function_body(&callable, &mut inside.clone());
            members.push(Member { public: true, kind: MemberKind::Method(built) });
            scope.callables.push(callable);
        }
        if self.rng.chance(35) {
            let built = self.constructor(&inside);
            let at = self.rng.below(members.len() + 1);
            members.insert(at, Member { public: true, kind: MemberKind::Constructor(built) });
        }
        let class = Class { name: ident("Account"), members, span: Span::default() };
        self.declarations.push(Item::Class(class));
        self.objects(scope);
    }

    /// `Account(int p_value) { balance = p_value; … }`, or one without parameters.
    fn constructor(&mut self, inside: &Scope) -> Function {
        let count = self.rng.below(2);
        self.constructor = Some(count);
        let mut inside = inside.inner(1);
        let mut parameters = Vec::new();
        let mut body = Vec::new();
        if count > 0 {
            parameters.push((TypeKind::Int, "p_value"));
            body.push(assign(name("balance"), name("p_value")));
            inside.places.push(Place::private("p_value", TypeKind::Int));
        }
        match self.rng.below(3) {
            0 => body.extend(self.mutex_body(&mut inside)),
            1 => body.push(assign(name("hidden"), self.constant())),
            _ => body.extend(self.statements(&mut inside, 1)),
        }
        function(TypeKind::Void, "Account", parameters, body)
    }

    /// Global objects: `acc`, sometimes another, sometimes one inside an object of a second class.
    fn objects(&mut self, scope: &mut Scope) {
        let class = || TypeKind::Class("Account".to_owned());
        let initial = self.object_initial();
        self.declarations.push(global(class(), "acc", initial));
        let mut objects = vec![name("acc")];
        match self.rng.weighted(if self.racy { &[40, 50, 10] } else { &[70, 20, 10] }) {
            1 => {
                let initial = self.object_initial();
                self.declarations.push(global(class(), "acc2", initial));
                objects.push(name("acc2"));
            }
            2 => {
                let initial = self.object_initial();
                let inner = MemberKind::Field(declaration(class(), "first", None, initial));
                let members = vec![Member { public: true, kind: inner }];
                let bank = Class { name: ident("Bank"), members, span: Span::default() };
                self.declarations.push(Item::Class(bank));
                self.declarations.push(global(TypeKind::Class("Bank".to_owned()), "bank", None));
                objects.push(field(name("bank"), "first"));
            }
            _ => {}
        }
        for object in &objects {
            let at = self.rng.below(scope.places.len() + 1);
            scope.places.insert(at, Place::shared(field(object.clone(), "balance"), TypeKind::Int));
            scope.locks.push(field(object.clone(), "guard"));
        }
        scope.objects = objects;
    }

    /// A new function. A spawned one may call those that are there.
    pub fn function(&mut self, scope: &Scope, operations: i32, spawned: bool) -> Callable {
        let mut parameters = Vec::new();
        if self.rng.chance(50) {
            parameters.push(ParameterKind::Value);
        }
        if !scope.locks.is_empty() && self.rng.chance(30) {
            parameters.push(ParameterKind::Lock);
        }
        if !scope.objects.is_empty() && self.rng.chance(40) {
            parameters.push(ParameterKind::Object);
        }
        let called = self.fresh("fun");
        let returns_int = !spawned && self.rng.chance(50);
        let cost = operations + 1;
        let callable = Callable { name: called, parameters, returns_int, cost, is_method: false };
        let mut inside = self.inside(scope, operations);
        if !spawned {
            inside.callables.clear();
        }
        // What the caller passes replaces what is global, so that nothing is locked twice.
        if callable.parameters.contains(&ParameterKind::Lock) {
            inside.locks = vec![name("p_lock")];
        }
        if callable.parameters.contains(&ParameterKind::Object) {
            inside.places.insert(0, Place::shared(field(name("p_acc"), "balance"), TypeKind::Int));
            inside.objects = vec![name("p_acc")];
        }
        let built = self.function_body(&callable, &mut inside);
        self.functions.push(Item::Function(built));
        callable
    }

    /// What a function sees: globals alone.
    fn inside(&self, scope: &Scope, operations: i32) -> Scope {
        let mut inside = scope.inner(operations);
        inside.may_fork = false;
        inside.places.retain(|place| !place.private && !place.captured);
        inside.objects.retain(|object| !super::threads::is_local(object, "mine"));
        inside.locks.retain(|lock| !super::threads::is_local(lock, "own"));
        inside
    }

    fn function_body(&mut self, callable: &Callable, inside: &mut Scope) -> Function {
        let mut parameters = Vec::new();
        for parameter in &callable.parameters {
            parameters.push(match parameter {
                ParameterKind::Value => (TypeKind::Int, "p_value"),
                ParameterKind::Lock => (TypeKind::Lock, "p_lock"),
                ParameterKind::Object => (TypeKind::Class("Account".to_owned()), "p_acc"),
            });
        }
        if callable.parameters.contains(&ParameterKind::Value) {
            inside.places.push(Place::private("p_value", TypeKind::Int));
        }
        let result = if callable.returns_int { TypeKind::Int } else { TypeKind::Void };
        let value = callable.returns_int.then(|| int(0));
        let leave = stmt(StmtKind::Return(value));
        let mut body = match self.rng.below(10) {
            0 | 1 if !inside.locks.is_empty() => self.body_with_return(inside, leave),
            2..=4 => self.mutex_body(inside),
            _ => self.statements(inside, 2),
        };
        if self.rng.chance(15) {
            let early = stmt(StmtKind::Return(callable.returns_int.then(|| int(0))));
            let condition = self.private_condition(&mut inside.inner(0));
            body.insert(0, if_else(condition, vec![early], None));
        }
        if callable.returns_int {
            let value = self.int_value(inside);
            body.push(stmt(StmtKind::Return(Some(value))));
        }
        function(result, &callable.name, parameters, body)
    }

    /// `synchronized (L) { if (…) return; … }`
    fn body_with_return(&mut self, inside: &mut Scope, leave: Stmt) -> Vec<Stmt> {
        let lock = inside.locks[0].clone();
        let condition = self.condition(inside);
        inside.held.push(lock.clone());
        let body = vec![if_else(condition, vec![leave], None), self.write(inside)];
        inside.held.pop();
        vec![stmt(StmtKind::Synchronized { lock, body: block(body) })]
    }

    /// `int down(int p_value) { if (p_value <= 0) return a; a += p_value; return down(p_value - 1); }`
    pub fn recursive_function(&mut self, scope: &Scope) -> Callable {
        let called = self.fresh("down");
        let mut inside = self.inside(scope, 1);
        let used = self.hot(&inside.shared_ints()).expr;
        let value = name("p_value");
        let rest = call(&called, vec![binary(BinaryOp::Subtract, value.clone(), int(1))]);
        let work = if self.rng.chance(50) {
            assign_op(used.clone(), BinaryOp::Add, value.clone())
        } else {
            self.write(&mut inside)
        };
        let small = binary(BinaryOp::Greater, value.clone(), int(2));
        let body = vec![
            // Whatever the caller passes, there are no more than two rounds.
            if_else(small, vec![assign(value.clone(), int(2))], None),
            if_else(binary(BinaryOp::LessEqual, value, int(0)), vec![stmt(StmtKind::Return(Some(used)))], None),
            work,
            stmt(StmtKind::Return(Some(rest))),
        ];
        self.functions.push(Item::Function(function(TypeKind::Int, &called, vec![(TypeKind::Int, "p_value")], body)));
        Callable { name: called, parameters: vec![ParameterKind::Value], returns_int: true, cost: 4, is_method: false }
    }

    /// A function that makes threads of its own, which share its local and its parameter.
    pub fn parallel_function(&mut self, scope: &Scope) -> Callable {
        let called = self.fresh("par");
        let mut inside = self.inside(scope, 1);
        inside.places.insert(0, Place::captured("shared", TypeKind::Int));
        let first = self.write(&mut inside);
        let value = if self.rng.chance(50) { name("shared") } else { name("p_value") };
        let second = if self.rng.chance(50) {
            run("print", vec![value])
        } else {
            assign(name("shared"), binary(BinaryOp::Add, name("p_value"), int(1)))
        };
        let body = vec![
            local(TypeKind::Int, "shared", self.constant()),
            cobegin(vec![("P1".to_owned(), vec![first]), ("P2".to_owned(), vec![second])]),
            run("print", vec![name("shared")]),
        ];
        self.functions.push(Item::Function(function(TypeKind::Void, &called, vec![(TypeKind::Int, "p_value")], body)));
        Callable { name: called, parameters: vec![ParameterKind::Value], returns_int: false, cost: 5, is_method: false }
    }
}
