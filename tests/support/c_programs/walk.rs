//! Statements of random programs that move pointers.
//!
//! **Input**: what is in scope. **Output**: statements that let pointers point elsewhere, or go through an array by one.

use super::Generator;
use super::expression::Scope;
use super::types::{Ex, Ty};

impl Generator {
    /// A local hides another one.
    pub(super) fn shadow(&mut self, scope: &Scope, depth: u32) {
        let Some((name, _)) = scope.locals.first().cloned() else { return self.line(";".to_owned()) };
        let mut inner = scope.clone();
        let ty = *self.rng.pick(&Ty::ALL);
        inner.locals[0].1 = ty;
        self.line("{".to_owned());
        self.indent += 1;
        // Its own initialiser would mean the inner one.
        let outer = Scope { locals: scope.locals[1..].to_vec(), ..scope.clone() };
        let value = self.expression(&outer, 1, true).fit(ty).text;
        self.simple_statement(&format!("{} {name} = {value};", ty.word()));
        self.statements(&mut inner, depth - 1, 2);
        self.indent -= 1;
        self.line("}".to_owned());
    }

    /// Pointers to structs, and into them.
    pub(super) fn struct_walk(&mut self, scope: &Scope) {
        let all = if scope.structs.is_empty() { &self.objects.structs } else { &scope.structs };
        let first = self.rng.pick(all).clone();
        let name = self.fresh("n");
        self.line("{".to_owned());
        self.indent += 1;
        let field = self.rng.below(2);
        let ty = self.objects.fields[1 + field].ty;
        let member = ["a", "b"][field];
        let value = self.expression(scope, 1, false).fit(ty).text;
        match self.rng.below(3) {
            0 => {
                self.spend(1);
                self.simple_statement(&format!("struct in *{name} = &({first})->in;"));
                self.simple_statement(&format!("{name}->{member} = {value};"));
            }
            1 if self.objects.structs.iter().any(|each| each.contains("ss")) => {
                self.spend(1);
                let index = self.index(scope, 2, true).text;
                self.simple_statement(&format!("struct s *{name} = ss + {index};"));
                let turned = ["{n} = ss + 1 - ({n} - ss);", "if ({n} == ss) {n}++; else --{n};", "{n} -= {n} - ss;"];
                let turned = turned[self.rng.below(3)].replace("{n}", &name);
                self.simple_statement(&turned);
                self.simple_statement(&format!("{name}->in.{member} = {value};"));
            }
            _ => {
                self.spend(2);
                self.simple_statement(&format!("{} *{name} = &(*({first})).in.{member};", ty.word()));
                let mut inner = scope.clone();
                inner.pointers.push((name, ty, false));
                self.statement(&mut inner, 0);
            }
        }
        self.indent -= 1;
        self.line("}".to_owned());
    }

    /// Structures that are copied, passed, returned and chosen.
    pub(super) fn by_value(&mut self, scope: &Scope) {
        let all = if scope.structs.is_empty() || self.rng.chance(50) { &self.objects.structs } else { &scope.structs };
        let (one, other) = (self.rng.pick(all).clone(), self.rng.pick(&self.objects.structs).clone());
        let (ty, name) = (self.objects.fields[1].ty, self.fresh("n"));
        let value = self.expression(scope, 1, false).fit(ty).text;
        let test = self.test(scope);
        self.spend(6);
        match self.rng.below(5) {
            0 => {
                self.simple_statement(&format!("struct in {name} = ({one})->in;"));
                self.simple_statement(&format!("{name}.a = {value};"));
                self.simple_statement(&format!("({other})->in = {name};"));
            }
            1 => self.simple_statement(&format!("({one})->in = turned(({other})->in);")),
            2 => self.simple_statement(&format!("({one})->in = {test} ? ({other})->in : turned(({one})->in);")),
            3 => {
                self.simple_statement(&format!("struct in {name} = turned(({one})->in);"));
                self.simple_statement(&format!("({other})->in.a = {name}.a;"));
            }
            _ => self.simple_statement(&format!("({one})->in.a = turned(({other})->in).a;")),
        }
    }

    pub(super) fn pointer_assignment(&mut self, scope: &Scope) {
        self.spend(1);
        let pointers = self.objects.pointers.len();
        let choice = self.rng.below(pointers + usize::from(self.objects.has_struct_pointer));
        let text = if choice == pointers {
            let all =
                if scope.structs.is_empty() || self.rng.chance(60) { &self.objects.structs } else { &scope.structs };
            format!("ps = {};", self.rng.pick(all))
        } else {
            let pointer = self.objects.pointers[choice].clone();
            // What a function was given may be a local of a thread.
            let is_alike = |of: &&(String, Ty, bool)| (of.1, of.2) == (pointer.ty, pointer.atomic);
            let local = scope.pointers.iter().filter(|of| !of.0.starts_with('v')).find(is_alike);
            match local {
                Some((local, ..)) if self.rng.chance(40) => format!("{} = {local};", pointer.name),
                _ if pointer.name == "ap" && self.rng.chance(50) => {
                    let (a, b) = (self.rng.pick(&pointer.targets).clone(), self.rng.pick(&pointer.targets).clone());
                    let word = format!("{}{}", if pointer.atomic { "_Atomic " } else { "" }, pointer.ty.word());
                    let want = self.fresh("want");
                    [
                        format!("atomic_store(&ap, {a});"),
                        format!("{word} *{want} = {b}; atomic_compare_exchange_strong(&ap, &{want}, {a});"),
                        format!("{word} *{want} = atomic_exchange(&ap, {a}); if ({want} == {b}) ap = {want};"),
                    ][self.rng.below(3)]
                    .clone()
                }
                _ if pointer.name != "ap" && self.rng.chance(20) => {
                    let (qualifier, to) = (if pointer.atomic { "_Atomic " } else { "" }, self.fresh("pp"));
                    let other = self
                        .objects
                        .pointers
                        .iter()
                        .filter(|of| (of.ty, of.atomic) == (pointer.ty, pointer.atomic) && of.name != "ap");
                    let names: Vec<String> = other.map(|of| of.name.clone()).collect();
                    let (a, b) = (self.rng.pick(&names).clone(), self.rng.pick(&names).clone());
                    let test = self.simple(scope, true).text;
                    let word = pointer.ty.word();
                    self.simple_statement(&format!("{qualifier}{word} **{to} = {test} ? &{a} : &{b};"));
                    if self.rng.chance(40) {
                        self.spend(2);
                        format!("(**{to})++;").replace("++", if pointer.ty == Ty::Bool { " ^= 1" } else { "++" })
                    } else {
                        format!("*{to} = {};", self.rng.pick(&pointer.targets))
                    }
                }
                _ if self.rng.chance(20) => {
                    let test = self.simple(scope, true).text;
                    let (a, b) = (self.rng.pick(&pointer.targets).clone(), self.rng.pick(&pointer.targets).clone());
                    format!("{} = {test} ? {a} : {b};", pointer.name)
                }
                _ if self.objects.has_heap && self.rng.chance(40) => {
                    format!("{} = {};", pointer.name, self.memory(scope, pointer.ty, pointer.atomic))
                }
                _ => format!("{} = {};", pointer.name, self.rng.pick(&pointer.targets)),
            }
        };
        self.simple_statement(&text);
    }

    /// A pointer goes through an array.
    pub(super) fn walk(&mut self, scope: &Scope) {
        let array = self.rng.pick(&self.objects.arrays).clone();
        let (name, word, array_name, length) = (self.fresh("a"), array.ty.word(), array.name.clone(), array.length);
        let mut inner = scope.clone();
        inner.pointers.push((name.clone(), array.ty, false));
        self.line("{".to_owned());
        self.indent += 1;
        let index = self.index(scope, length, true).text;
        let first = match self.rng.below(3) {
            0 => format!("&{array_name}[{index}]"),
            1 => format!("{array_name} + {index}"),
            _ => format!("{index} + {array_name}"),
        };
        self.simple_statement(&format!("{word} *{name} = {first};"));
        match self.rng.below(5) {
            0 => {
                self.spend(2);
                self.simple_statement(&format!("if ({name} != &{array_name}[{}]) {name}++;", length - 1));
                self.statement(&mut inner, 0);
            }
            1 => {
                self.spend(2);
                let value = self.expression(scope, 1, false).fit(array.ty).text;
                self.simple_statement(&format!(
                    "if ({name} > {array_name}) *--{name} = {value}; else *{name} = {value};"
                ));
            }
            2 => {
                self.spend(1);
                let offset = self.index(scope, length, false).text;
                let value = self.expression(scope, 1, false).fit(array.ty).text;
                self.simple_statement(&format!("{name} += {offset} - ({name} - {array_name});"));
                self.simple_statement(&format!("{name}[0] = {value};"));
            }
            3 => {
                self.spend(length as i64);
                let last = format!("{name} = {array_name}; {name} < {array_name} + {length}; {name}++");
                let value = self.expression(scope, 1, false).small().text;
                self.line(format!("for ({last}) {{"));
                self.indent += 1;
                let operator = ["=", "^="][self.rng.below(2)];
                self.simple_statement(&format!("*{name} {operator} {value};"));
                self.indent -= 1;
                self.line("}".to_owned());
            }
            _ => {
                if let Some((local, ty)) = scope.locals.first().cloned() {
                    let difference = Ex::own(format!("({name} - {array_name})"), Ty::Long, (0, 3));
                    self.simple_statement(&format!("{local} = {};", difference.fit(ty).text));
                    let value = Ex::own(format!("({name}[-({name} - {array_name})])"), array.ty, array.ty.held());
                    self.spend(1);
                    self.simple_statement(&format!("{local} = {};", value.fit(ty).text));
                }
            }
        }
        self.indent -= 1;
        self.line("}".to_owned());
    }
}
