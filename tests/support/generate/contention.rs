//! What two threads fight for: patterns whose races do harm in one order, in both, or in none.
//!
//! Used by [`racy`](super::racy) alone. Each pattern has variants in which the mistake is mended.

use super::Generator;
use super::build::{
    assign, assign_op, binary, block, braces, call, declaration, element, global, if_else, int, local, name, run, stmt,
    text,
};
use super::rng::Rng;
use super::scope::Scope;
use super::threads::Pieces;
use cssame::front::csm::syntax::ast::{
    BinaryOp, Expr, Initialiser, Item, MemberKind, Program, Stmt, StmtKind, TypeKind,
};

/// Declares some variables `atomic`.
pub fn make_atomic(program: &mut Program, rng: &mut Rng) {
    let declarations = program.items.iter_mut().flat_map(|item| match item {
        Item::Statement(Stmt { kind: StmtKind::Declare(declaration), .. }) => vec![declaration],
        Item::Class(class) => {
            let fields = class.members.iter_mut().filter_map(|member| match &mut member.kind {
                MemberKind::Field(declaration) => Some(declaration),
                _ => None,
            });
            fields.collect()
        }
        _ => Vec::new(),
    });
    for declaration in declarations {
        declaration.atomic =
            !declaration.constant && matches!(declaration.ty.kind, TypeKind::Int | TypeKind::Bool) && rng.chance(8);
    }
}

/// The statements of the one thread and of the other.
type Sides = (Vec<Stmt>, Vec<Stmt>);

impl Generator {
    /// Puts a pattern into two arms.
    pub fn contention(&mut self, scope: &Scope, arms: &mut [Pieces], budgets: &mut [i32], a: usize, b: usize) {
        let (mut left, mut right) = match self.rng.weighted(&[14, 8, 8, 8, 8, 10, 8, 8, 14, 12, 4, 8, 8, 6]) {
            0 => self.checked_value(),
            1 => self.check_then_act(),
            2 => self.index_of_another(),
            3 => self.lost_wakeup(),
            4 => self.event_behind_a_flag(),
            5 => self.two_variables(),
            6 => self.half_protected(scope),
            7 => self.double_checked(),
            8 => self.two_objects(scope),
            9 => self.atomic_and_plain(scope),
            10 => self.busy_waiting(),
            11 => self.same_value(scope),
            12 => self.opposite_branches(),
            _ => self.locks_in_two_orders(),
        };
        if self.rng.chance(15) {
            let lock = self.lock();
            left = self.locked(&lock, left);
            if self.rng.chance(60) {
                right = self.locked(&lock, right);
            }
        }
        self.put(arms, budgets, a, left);
        self.put(arms, budgets, b, right);
    }

    /// A new global with a value.
    fn number(&mut self, value: i64) -> Expr {
        let declared = self.fresh("g");
        self.declarations.push(global(TypeKind::Int, &declared, Some(Initialiser::Value(int(value)))));
        name(&declared)
    }

    /// `x = 2;` and `if (x == 2) error();`
    fn checked_value(&mut self) -> Sides {
        let (x, wanted) = (self.flag(), self.rng.range(0, 2));
        let written = self.rng.range(1, 2);
        let equal = |value| binary(BinaryOp::Equal, x.clone(), int(value));
        let test = match self.rng.below(4) {
            0 => run("assert", vec![binary(BinaryOp::NotEqual, x.clone(), int(wanted))]),
            1 => run("assert", vec![equal(wanted)]),
            2 => if_else(equal(wanted), vec![run("error", vec![text("seen")])], Some(vec![run("print", vec![int(1)])])),
            _ => if_else(equal(wanted), vec![run("error", vec![text("seen")])], None),
        };
        let mut left = vec![assign(x.clone(), int(written))];
        if self.rng.chance(30) {
            // Back again: only who comes in between sees it.
            left.push(assign(x, int(0)));
        }
        (left, vec![test])
    }

    /// `x = 0;` and `if (x != 0) print(6 / x);`
    fn check_then_act(&mut self) -> Sides {
        let x = self.number(2);
        let quotient = binary(BinaryOp::Divide, int(6), x.clone());
        let used = run("print", vec![quotient.clone()]);
        let right = match self.rng.below(3) {
            0 => vec![used],
            1 => vec![if_else(binary(BinaryOp::NotEqual, x.clone(), int(0)), vec![used], None)],
            _ => {
                let copy = self.fresh("r");
                let safe = binary(BinaryOp::NotEqual, name(&copy), int(0));
                let used = run("print", vec![binary(BinaryOp::Divide, int(6), name(&copy))]);
                vec![local(TypeKind::Int, &copy, x.clone()), if_else(safe, vec![used], None)]
            }
        };
        let value = self.rng.range(0, 1);
        (vec![assign(x, int(value))], right)
    }

    /// `i = 2;` and `t[i] = 1;`
    fn index_of_another(&mut self) -> Sides {
        let array = self.fresh("q");
        let declared = declaration(TypeKind::Int, &array, Some(int(2)), None);
        self.declarations.push(Item::Statement(stmt(StmtKind::Declare(declared))));
        let index = self.flag();
        let value = self.rng.range(1, 2);
        let at = |index: Expr| element(name(&array), index);
        let mut left = vec![assign(index.clone(), int(value))];
        if self.rng.chance(60) {
            let own = self.rng.range(0, 1);
            left.push(assign(at(int(own)), int(3)));
        }
        let mut right = vec![assign(at(index), int(1))];
        if self.rng.chance(50) {
            right.push(run("print", vec![at(int(1))]));
        }
        (left, right)
    }

    /// `f = 1; notify();` and `if (f == 0) wait();`
    fn lost_wakeup(&mut self) -> Sides {
        let flag = self.flag();
        let notify = *self.rng.pick(&["notify", "notifyAll"]);
        let mut left = vec![assign(flag.clone(), int(1)), run(notify, Vec::new())];
        if self.rng.chance(30) {
            left.swap(0, 1);
        }
        let unset = binary(BinaryOp::Equal, flag, int(0));
        (left, vec![if_else(unset, vec![run("wait", Vec::new())], None)])
    }

    /// `f = 1;` and `if (f == 0) wait(e);`
    fn event_behind_a_flag(&mut self) -> Sides {
        let (flag, event) = (self.flag(), self.sync_object("e", TypeKind::Event, None));
        let mut left = vec![assign(flag.clone(), int(1))];
        if self.rng.chance(50) {
            let set = run("set", vec![event.clone()]);
            let other = binary(BinaryOp::Equal, flag.clone(), int(1));
            left.push(if self.rng.chance(50) { set } else { if_else(other, vec![set], None) });
        }
        let unset = binary(BinaryOp::Equal, flag, int(0));
        (left, vec![if_else(unset, vec![run("wait", vec![event])], None)])
    }

    /// `x = 1; y = 1;` and `r = y; assert(r <= x);`
    fn two_variables(&mut self) -> Sides {
        let (x, y) = (self.flag(), self.flag());
        let copy = self.fresh("r");
        let (first, second) = if self.rng.chance(50) { (y.clone(), x.clone()) } else { (x.clone(), y.clone()) };
        let holds = binary(BinaryOp::LessEqual, name(&copy), second);
        let last = if self.rng.chance(60) { run("assert", vec![holds]) } else { run("print", vec![holds]) };
        let left = vec![assign(x, int(1)), assign(y, int(1))];
        let left = if self.rng.chance(20) { vec![stmt(StmtKind::Atomic(block(left)))] } else { left };
        (left, vec![local(TypeKind::Int, &copy, first), last])
    }

    /// Both add, under locks that need not be the same.
    fn half_protected(&mut self, scope: &Scope) -> Sides {
        let x = self.used_variable(scope);
        let work = |operand: i64| vec![assign_op(x.clone(), BinaryOp::Add, int(operand))];
        let (first, second) = (self.lock(), self.lock());
        let left = self.locked(&first, work(1));
        let right = match self.rng.below(3) {
            0 => work(2),
            1 => self.locked(&second, work(2)),
            _ => vec![if_else(binary(BinaryOp::GreaterEqual, x.clone(), int(0)), self.locked(&first, work(2)), None)],
        };
        (left, right)
    }

    /// `if (f == 0) synchronized (L) { if (f == 0) { x = 5; f = 1; } } print(x);`, twice.
    fn double_checked(&mut self) -> Sides {
        let (flag, x, lock) = (self.flag(), self.flag(), self.lock());
        let mut make = vec![assign(x.clone(), int(5)), assign(flag.clone(), int(1))];
        if self.rng.chance(40) {
            make.swap(0, 1);
        }
        let unset = binary(BinaryOp::Equal, flag, int(0));
        let again = if self.rng.chance(70) { vec![if_else(unset.clone(), make, None)] } else { make };
        let inside = self.locked(&lock, again);
        let used = if self.rng.chance(50) {
            run("assert", vec![binary(BinaryOp::Equal, x, int(5))])
        } else {
            run("print", vec![x])
        };
        let side = vec![if_else(unset, inside, None), used];
        let other = if self.rng.chance(50) { side.clone() } else { side[..1].to_vec() };
        (side, other)
    }

    /// Methods of one object, or of two.
    fn two_objects(&mut self, scope: &Scope) -> Sides {
        let methods: Vec<_> = scope.callables.iter().filter(|callable| callable.is_method).cloned().collect();
        if methods.is_empty() {
            return self.same_value(scope);
        }
        let mut side = || {
            let method = self.rng.pick(&methods).clone();
            let called = self.call_of(&method, &mut scope.inner(0));
            let called = called.unwrap_or_else(|| call("choose", vec![int(0), int(0)]));
            vec![if method.returns_int { run("print", vec![called]) } else { stmt(StmtKind::Call(called)) }]
        };
        (side(), side())
    }

    /// An atomic access, or several in a block, and a plain one, or another atomic one.
    fn atomic_and_plain(&mut self, scope: &Scope) -> Sides {
        let (x, y) = (self.used_variable(scope), self.flag());
        let mut atomic = || match self.rng.below(5) {
            0 => vec![run("cas", vec![x.clone(), int(0), int(self.rng.range(1, 2))])],
            1 => {
                vec![if_else(call("cas", vec![x.clone(), int(1), int(2)]), vec![run("print", vec![text("won")])], None)]
            }
            2 => {
                let name: &str = self.rng.pick::<&str>(&["swap", "fetch_add"]);
                vec![run(name, vec![x.clone(), int(1)])]
            }
            3 => vec![stmt(StmtKind::Atomic(block(vec![
                if_else(binary(BinaryOp::Equal, y.clone(), int(0)), vec![assign(x.clone(), int(4))], None),
                assign(y.clone(), int(1)),
            ])))],
            _ => vec![stmt(StmtKind::Atomic(block(vec![assign_op(x.clone(), BinaryOp::Add, int(1))])))],
        };
        let left = atomic();
        let right = match self.rng.below(4) {
            0 => vec![assign(x, int(1))],
            1 => vec![run("print", vec![x])],
            2 => vec![assign(y, int(1)), run("print", vec![x])],
            _ => {
                let mut atomic = vec![run("fetch_add", vec![x.clone(), int(2)])];
                if self.rng.chance(30) {
                    atomic.push(assign_op(x, BinaryOp::Multiply, int(2)));
                }
                atomic
            }
        };
        (left, right)
    }

    /// `x = 1; f = 1;` and `while (f == 0) skip; print(x);`
    fn busy_waiting(&mut self) -> Sides {
        let (x, flag) = (self.flag(), self.flag());
        let mut left = vec![assign(x.clone(), int(1)), assign(flag.clone(), int(1))];
        if self.rng.chance(40) {
            left.swap(0, 1);
        }
        let unset = binary(BinaryOp::Equal, flag, int(0));
        let wait = stmt(StmtKind::While { condition: unset, body: braces(vec![stmt(StmtKind::Skip)]) });
        (left, vec![wait, run("print", vec![x])])
    }

    /// Both write, often the same.
    fn same_value(&mut self, scope: &Scope) -> Sides {
        let x = self.used_variable(scope);
        let (first, second) = (self.rng.range(0, 1), self.rng.range(0, 1));
        (vec![assign(x.clone(), int(first))], vec![assign(x, int(second))])
    }

    /// `if (f == 0) x = 1;` and `if (f != 0) x = 2;`
    fn opposite_branches(&mut self) -> Sides {
        let (flag, x) = (self.flag(), self.flag());
        let zero = binary(BinaryOp::Equal, flag.clone(), int(0));
        let other = binary(BinaryOp::NotEqual, flag.clone(), int(0));
        let mut right = vec![if_else(other, vec![assign(x.clone(), int(2))], None)];
        match self.rng.below(4) {
            0 => right.insert(0, assign(flag, int(1))),
            1 => right.push(assign(flag, int(1))),
            2 => right.push(run("print", vec![x.clone()])),
            _ => {}
        }
        (vec![if_else(zero, vec![assign(x, int(1))], None)], right)
    }

    /// Two locks in two orders, the second only if a flag is not yet set.
    fn locks_in_two_orders(&mut self) -> Sides {
        let (flag, first, second) = (self.flag(), self.lock(), self.sync_object("M", TypeKind::Lock, None));
        let inner = self.locked(&second, vec![assign(flag.clone(), int(1))]);
        let mut left = self.locked(&first, inner);
        if self.rng.chance(50) {
            left.insert(0, assign(flag.clone(), int(1)));
        }
        let inner = self.locked(&first, vec![stmt(StmtKind::Skip)]);
        let other = self.locked(&second, inner);
        let unset = binary(BinaryOp::Equal, flag, int(0));
        (left, vec![if_else(unset, other, None)])
    }
}
