//! What a generator knows at one point of the program: which variables, locks and functions a statement may use.

use super::build::name;
use cssame::front::csm::syntax::ast::{Expr, TypeKind};

/// A variable that statements may read and write.
#[derive(Clone, Debug)]
pub struct Place {
    pub expr: Expr,
    pub ty: TypeKind,
    /// A local of the thread itself: reading it is no visible step.
    pub private: bool,
    /// A local of `main` that arms use: functions do not see it.
    pub captured: bool,
}

impl Place {
    pub fn shared(expr: Expr, ty: TypeKind) -> Place {
        Place { expr, ty, private: false, captured: false }
    }

    pub fn captured(declared: &str, ty: TypeKind) -> Place {
        Place { expr: name(declared), ty, private: false, captured: true }
    }

    pub fn private(declared: &str, ty: TypeKind) -> Place {
        Place { expr: name(declared), ty, private: true, captured: false }
    }
}

/// What a function expects of its callers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Value,
    Lock,
    Object,
}

/// A function, or a method of the one class.
#[derive(Clone, Debug)]
pub struct Callable {
    pub name: String,
    pub parameters: Vec<ParameterKind>,
    pub returns_int: bool,
    /// Visible operations of one call, about.
    pub cost: i32,
    pub is_method: bool,
}

/// Where a statement is generated.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub places: Vec<Place>,
    pub locks: Vec<Expr>,
    /// Those of `locks` that are held here, as printed trees.
    pub held: Vec<Expr>,
    /// Objects of the class, for method calls and object parameters.
    pub objects: Vec<Expr>,
    pub callables: Vec<Callable>,
    /// Visible operations that are left.
    pub budget: i32,
    pub depth: u32,
    pub in_loop: bool,
    pub in_atomic: bool,
    /// Whether new threads may be created here.
    pub may_fork: bool,
}

impl Scope {
    /// The scope of a nested block with some of the budget.
    pub fn inner(&self, budget: i32) -> Scope {
        Scope { budget, depth: self.depth + 1, ..self.clone() }
    }

    /// Takes visible operations out of the budget.
    pub fn pay(&mut self, operations: i32) {
        self.budget -= operations;
    }

    pub fn free_locks(&self) -> Vec<Expr> {
        self.locks.iter().filter(|lock| !self.held.contains(lock)).cloned().collect()
    }

    pub fn of_type(&self, ty: &TypeKind) -> Vec<Place> {
        self.places.iter().filter(|place| place.ty == *ty).cloned().collect()
    }

    /// The variables of type `int` that threads share.
    pub fn shared_ints(&self) -> Vec<Place> {
        self.places.iter().filter(|place| place.ty == TypeKind::Int && !place.private).cloned().collect()
    }

    /// Those of the thread itself.
    pub fn private_ints(&self) -> Vec<Place> {
        self.places.iter().filter(|place| place.ty == TypeKind::Int && place.private).cloned().collect()
    }
}
