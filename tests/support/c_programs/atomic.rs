//! Random atomic operations: of C11, and those of compilers.
//!
//! **Input**: what is in scope. **Output**: a statement.

use super::Generator;
use super::expression::{Place, Scope};
use super::types::{Ex, Ty};

/// Orders by their names behind `memory_order_`, for what only reads, only writes, and does both.
const READ: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const WRITE: [&str; 3] = ["relaxed", "release", "seq_cst"];
const BOTH: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

impl Generator {
    /// An atomic operation on something shared, whose result is kept in a local where there is one.
    pub(super) fn atomic(&mut self, scope: &Scope) {
        let mut place = self.place(scope, true);
        for _ in 0..3 {
            if !place.atomic {
                place = self.place(scope, true);
            }
        }
        self.spend(2);
        let plain = !place.atomic || self.rng.chance(20);
        match self.rng.below(if place.ty == Ty::Bool { 4 } else { 10 }) {
            0 => self.load_or_store(scope, &place, plain),
            1 => {
                let value = self.expression(scope, 1, false).fit(place.ty).text;
                let text = if plain {
                    format!("__atomic_exchange_n(&{}, {value}, __ATOMIC_SEQ_CST)", place.text)
                } else {
                    format!("atomic_exchange(&{}, {value})", place.text)
                };
                self.kept(scope, text, place.ty);
            }
            2 | 3 => self.compare_and_swap(scope, &place, plain),
            4 | 5 if plain => self.old_style(scope, &place),
            _ => {
                let operations = ["add", "sub", "or", "xor", "and", "add"];
                let operation = operations[self.rng.below(operations.len())];
                let value = self.expression(scope, 1, false).small().text;
                let text = if plain {
                    let name =
                        if self.rng.chance(50) { format!("fetch_{operation}") } else { format!("{operation}_fetch") };
                    let order = BOTH[self.rng.below(5)].to_uppercase();
                    format!("__atomic_{name}(&{}, {value}, __ATOMIC_{order})", place.text)
                } else if self.rng.chance(60) {
                    format!("atomic_fetch_{operation}(&{}, {value})", place.text)
                } else {
                    let order = BOTH[self.rng.below(5)];
                    format!("atomic_fetch_{operation}_explicit(&{}, {value}, memory_order_{order})", place.text)
                };
                self.kept(scope, text, place.ty);
            }
        }
    }

    fn kept(&mut self, scope: &Scope, text: String, ty: Ty) {
        if scope.locals.is_empty() || self.rng.chance(30) {
            return self.line(format!("Y(); {text};"));
        }
        let (name, of) = self.rng.pick(&scope.locals).clone();
        let value = Ex::own(text, ty, ty.held()).fit(of).text;
        self.line(format!("Y(); {name} = {value};"));
    }

    fn load_or_store(&mut self, scope: &Scope, place: &Place, plain: bool) {
        let (read, write) = (READ[self.rng.below(3)], WRITE[self.rng.below(3)]);
        if self.rng.chance(50) {
            let text = match (plain, self.rng.below(2)) {
                (true, _) => format!("__atomic_load_n(&{}, __ATOMIC_{})", place.text, read.to_uppercase()),
                (false, 0) => format!("atomic_load(&{})", place.text),
                (false, _) => format!("atomic_load_explicit(&{}, memory_order_{read})", place.text),
            };
            return self.kept(scope, text, place.ty);
        }
        let value = self.expression(scope, 1, !place.reads).fit(place.ty).text;
        let text = match (plain, self.rng.below(2)) {
            (true, _) => format!("__atomic_store_n(&{}, {value}, __ATOMIC_{})", place.text, write.to_uppercase()),
            (false, 0) => format!("atomic_store(&{}, {value})", place.text),
            (false, _) => format!("atomic_store_explicit(&{}, {value}, memory_order_{write})", place.text),
        };
        self.line(format!("Y(); {text};"));
    }

    fn compare_and_swap(&mut self, scope: &Scope, place: &Place, plain: bool) {
        let (want, old) = (self.fresh("want"), self.rng.below(3));
        let value = self.expression(scope, 1, false).fit(place.ty).text;
        if place.ty != Ty::Bool && plain && self.rng.chance(50) {
            let (word, ty) = [("bool", Ty::Bool), ("val", place.ty)][self.rng.below(2)];
            let text = format!("__sync_{word}_compare_and_swap(&{}, {old}, {value})", place.text);
            return self.kept(scope, text, ty);
        }
        self.line(format!("Y(); {} {want} = {old};", place.ty.word()));
        let order = "__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST";
        let text = if plain {
            format!("__atomic_compare_exchange_n(&{}, &{want}, {value}, 0, {order})", place.text)
        } else {
            format!("atomic_compare_exchange_strong(&{}, &{want}, {value})", place.text)
        };
        self.kept(scope, text, Ty::Bool);
        if self.rng.chance(50) {
            self.kept(scope, want, place.ty);
        }
    }

    fn old_style(&mut self, scope: &Scope, place: &Place) {
        let value = self.expression(scope, 1, false).small().text;
        let operation = ["add", "sub", "or", "xor", "and"][self.rng.below(5)];
        let text = match self.rng.below(6) {
            0 => format!("__sync_{operation}_and_fetch(&{}, {value})", place.text),
            1 => format!("__sync_lock_test_and_set(&{}, {value})", place.text),
            2 => return self.line(format!("Y(); __sync_lock_release(&{});", place.text)),
            3 => {
                let fences = ["__sync_synchronize();", "atomic_thread_fence(memory_order_seq_cst);"];
                let fence = fences[self.rng.below(2)];
                return self.line(format!("Y(); {fence}"));
            }
            _ => format!("__sync_fetch_and_{operation}(&{}, {value})", place.text),
        };
        self.kept(scope, text, place.ty);
    }
}
