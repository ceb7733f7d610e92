//! Random expressions: mostly small, mostly of the shared variables.

use super::Generator;
use super::build::{binary, boolean, call, cast, conditional, double, int, name, text, unary};
use super::scope::{Place, Scope};
use cssame::front::csm::syntax::ast::{BinaryOp, Expr, TypeKind, UnaryOp};

impl Generator {
    pub fn constant(&mut self) -> Expr {
        if !self.constants.is_empty() && self.rng.chance(25) {
            return name(&self.rng.pick(&self.constants).0);
        }
        let value = *self.rng.pick(&[0, 1, 1, 2, 2, 3, 5, -1]);
        int(value)
    }

    /// A value for a variable of that type.
    pub fn value(&mut self, scope: &mut Scope, ty: &TypeKind) -> Expr {
        match ty {
            TypeKind::Bool => {
                if self.rng.chance(50) {
                    boolean(self.rng.chance(60))
                } else {
                    self.condition(scope)
                }
            }
            TypeKind::Double => match self.rng.below(3) {
                0 => double(1.5),
                1 => self.int_value(scope),
                _ => double(0.25),
            },
            TypeKind::String => text(["one", "two"][self.rng.below(2)]),
            TypeKind::Long => match self.rng.below(4) {
                0 => Expr {
                    kind: cssame::front::csm::syntax::ast::ExprKind::Int { value: 5_000_000_000, long: true },
                    ..int(0)
                },
                _ => self.int_value(scope),
            },
            _ => self.int_value(scope),
        }
    }

    /// An `int` expression.
    pub fn int_value(&mut self, scope: &mut Scope) -> Expr {
        if scope.budget < 1 {
            return self.private_int(scope);
        }
        match self.rng.weighted(&[34, 26, 12, 12, 4, 3, 3, 3, 2]) {
            0 => self.constant(),
            1 => self.read_int(scope),
            2 => self.private_int(scope),
            3 => {
                let left = self.read_int(scope);
                let right = if self.rng.chance(30) { self.int_value(scope) } else { self.constant() };
                let op = *self.rng.pick(&[BinaryOp::Add, BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply]);
                binary(op, left, right)
            }
            4 => {
                let condition = self.condition(scope);
                let (yes, no) = (self.constant(), self.int_value(scope));
                conditional(condition, yes, no)
            }
            5 => {
                scope.pay(2);
                call("choose", vec![int(0), int(1)])
            }
            6 => {
                let op = *self.rng.pick(&[
                    BinaryOp::Divide,
                    BinaryOp::Remainder,
                    BinaryOp::BitAnd,
                    BinaryOp::BitOr,
                    BinaryOp::BitXor,
                    BinaryOp::ShiftLeft,
                    BinaryOp::ShiftRight,
                ]);
                let (left, right) = (self.constant(), self.read_int(scope));
                binary(op, left, right)
            }
            7 => match self.extern_call() {
                Some(value) => {
                    scope.pay(2);
                    value
                }
                None => self.constant(),
            },
            _ => {
                let operand = self.read_int(scope);
                let op = *self.rng.pick(&[UnaryOp::Negate, UnaryOp::Complement]);
                unary(op, operand)
            }
        }
    }

    /// A constant or a private variable: no visible step.
    pub fn private_int(&mut self, scope: &Scope) -> Expr {
        let places = scope.private_ints();
        if places.is_empty() || self.rng.chance(30) { self.constant() } else { self.rng.pick(&places).expr.clone() }
    }

    /// A read of some variable as an `int`.
    pub fn read_int(&mut self, scope: &mut Scope) -> Expr {
        let mut places: Vec<Place> = scope.of_type(&TypeKind::Int);
        if self.rng.chance(8) {
            places.extend(scope.of_type(&TypeKind::Long));
        }
        places.retain(|place| !place.private || self.rng.chance(30));
        if places.is_empty() {
            return self.constant();
        }
        let place = self.hot(&places);
        if !place.private {
            scope.pay(1);
        }
        if place.ty == TypeKind::Long { cast(TypeKind::Int, place.expr) } else { place.expr }
    }

    /// One of the places, often the first: threads that meet on one variable are what matters.
    pub fn hot(&mut self, places: &[Place]) -> Place {
        if self.rng.chance(35) { places[0].clone() } else { self.rng.pick(places).clone() }
    }

    pub fn condition(&mut self, scope: &mut Scope) -> Expr {
        let bools = scope.of_type(&TypeKind::Bool);
        if !bools.is_empty() && self.rng.chance(30) {
            let place = self.rng.pick(&bools).clone();
            scope.pay(i32::from(!place.private));
            return if self.rng.chance(25) { unary(UnaryOp::Not, place.expr) } else { place.expr };
        }
        let op = *self.rng.pick(&[
            BinaryOp::Equal,
            BinaryOp::Equal,
            BinaryOp::NotEqual,
            BinaryOp::Less,
            BinaryOp::Greater,
            BinaryOp::LessEqual,
            BinaryOp::GreaterEqual,
        ]);
        let private = scope.budget < 1 && !scope.private_ints().is_empty();
        let left = if private { self.private_int(scope) } else { self.read_int(scope) };
        let right = self.constant();
        let simple = binary(op, left, right);
        if scope.budget > 1 && self.rng.chance(15) {
            let op = *self.rng.pick(&[BinaryOp::And, BinaryOp::Or]);
            let second = self.condition(scope);
            return binary(op, simple, second);
        }
        simple
    }
}
