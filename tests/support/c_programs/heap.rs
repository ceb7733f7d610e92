//! Memory that random programs ask for.
//!
//! **Input**: what is in scope. **Output**: statements that make objects on the heap, use them, let others see them, or give them back
//! when nobody else has seen them.

use super::Generator;
use super::expression::Scope;
use super::types::{Ex, Ty};

impl Generator {
    /// Memory for some numbers: what a pointer to one of them may get.
    pub(super) fn memory(&mut self, scope: &Scope, ty: Ty, atomic: bool) -> String {
        self.spend(1);
        let word = format!("{}{}", if atomic { "_Atomic " } else { "" }, ty.word());
        let (count, index) = match self.rng.below(4) {
            0 | 1 => ("1".to_owned(), "0".to_owned()),
            2 => ("3".to_owned(), self.rng.below(3).to_string()),
            _ => (format!("1 + {}", self.local_bit(scope)), "0".to_owned()),
        };
        let cast = if self.rng.chance(50) { format!("({word} *)") } else { String::new() };
        let made = format!("{cast}calloc({count}, sizeof({word}))");
        if index == "0" { made } else { format!("({word} *)calloc({count}, sizeof({word})) + {index}") }
    }

    fn local_bit(&mut self, scope: &Scope) -> String {
        self.index(scope, 2, false).text
    }

    /// An object that others may see, or one that is given back.
    pub(super) fn heap(&mut self, scope: &Scope, depth: u32) {
        self.spend(2);
        if !self.objects.structs.is_empty() && (self.may_free || self.rng.chance(60)) {
            return self.heap_struct(scope, depth);
        }
        let (name, ty) = (self.fresh("h"), *self.rng.pick(&Ty::ALL));
        let word = ty.word();
        let value = self.expression(scope, 1, true).fit(ty).text;
        self.simple_statement(&format!("{word} *{name} = malloc(2 * sizeof *{name});"));
        let test = self.local_bit(scope);
        self.simple_statement(&format!("{name}[0] = {value};"));
        self.simple_statement(&format!("{name}[1] = {name}[0];"));
        if let Some((local, of)) = scope.locals.first() {
            let value = Ex::own(format!("{name}[{test}]"), ty, ty.held()).fit(*of).text;
            self.simple_statement(&format!("{local} = {value};"));
        }
        if self.rng.chance(70) {
            self.simple_statement(&format!("free({name});"));
        }
    }

    fn heap_struct(&mut self, scope: &Scope, depth: u32) {
        let name = self.fresh("h");
        let size = ["sizeof(struct s)".to_owned(), format!("sizeof *{name}")][self.rng.below(2)].clone();
        self.line("{".to_owned());
        self.indent += 1;
        self.simple_statement(&format!("struct s *{name} = calloc(1, {size});"));
        let (mut is_seen, begin) = (false, self.lines.len());
        let mut inner = scope.clone();
        inner.structs.push(name.clone());
        self.statement(&mut inner, depth.saturating_sub(1));
        if self.objects.has_struct_pointer && self.rng.chance(70) {
            self.spend(1);
            self.simple_statement(&format!("ps = {name};"));
            is_seen = true;
        }
        self.statement(&mut inner, 0);
        // Any statement may store it where others find it, or pass it on.
        let ways = ["= ", "= &", "(", ", "].map(|before| format!("{before}{name}"));
        is_seen |= self.lines[begin..].iter().any(|line| ways.iter().any(|way| line.contains(way)));
        if (self.may_free || !is_seen) && self.rng.chance(60) {
            self.simple_statement(&format!("free({name});"));
        }
        if self.may_free && self.objects.has_struct_pointer && self.rng.chance(40) {
            let first = self.objects.structs[0].clone();
            self.spend(2);
            self.simple_statement(&format!("if (ps != {first}) {{ free(ps); ps = {first}; }}"));
        }
        self.indent -= 1;
        self.line("}".to_owned());
    }
}
