//! Random statements.
//!
//! **Input**: what is in scope. **Output**: lines, each of which begins or ends at most one block. Before each statement stands `Y()`,
//! where a compiled program may be interrupted.

use super::Generator;
use super::expression::{Returns, Scope};
use super::types::{Ex, Ty};

impl Generator {
    /// So many statements.
    pub(super) fn statements(&mut self, scope: &mut Scope, depth: u32, count: usize) {
        let mut label: Option<(String, usize)> = None;
        for number in 0..count {
            if let Some((name, at)) = &label
                && *at == number
            {
                self.line(format!("{name}: ;"));
                label = None;
            }
            if label.is_none() && number + 1 < count && self.rng.chance(6) {
                let test = self.test(scope);
                let name = self.fresh("L");
                self.line(format!("Y(); if ({test}) goto {name};"));
                label = Some((name, number + 1 + self.rng.below(count - number)));
            }
            self.statement(scope, depth);
        }
        if let Some((name, _)) = label {
            self.line(format!("{name}: ;"));
        }
    }

    /// A condition.
    pub(super) fn test(&mut self, scope: &Scope) -> String {
        self.expression(scope, 2, true).text
    }

    pub(super) fn simple_statement(&mut self, text: &str) {
        self.line(format!("Y(); {text}"));
    }

    pub(super) fn block(&mut self, head: &str, scope: &Scope, depth: u32, count: usize) {
        self.line(format!("{head} {{"));
        self.indent += 1;
        self.statements(&mut scope.clone(), depth, count);
        self.indent -= 1;
        self.line("}".to_owned());
    }

    pub(super) fn statement(&mut self, scope: &mut Scope, depth: u32) {
        if self.budget <= 0 {
            return self.own_assignment(scope, false);
        }
        let nested = u32::from(depth > 0);
        let weights = [
            8,                                                                                        // 0 assignment
            6,                                                                                        // 1 to a local
            6,                                                                                        // 2 compound
            4,                                                                                        // 3 counting
            4 * nested,                                                                               // 4 if
            3 * nested,                                                                               // 5 loop
            9 * nested * u32::from(!scope.locked || self.may_block), // 6 critical section
            6,                                                       // 7 atomic
            2 * nested,                                              // 8 switch
            if scope.callable > 0 { 7 } else { 0 },                  // 9 call
            if self.objects.pointers.is_empty() && !self.objects.has_struct_pointer { 0 } else { 4 }, // 10 pointers
            if self.objects.arrays.is_empty() { 0 } else { 2 * nested }, // 11 walk of an array
            u32::from(scope.returns.is_some() && (!scope.locked || self.may_block)), // 12 return
            u32::from(scope.in_loop),                                // 13 break
            1,                                                       // 14 expression
            2,                                                       // 15 trylock
            1,                                                       // 16 static local
            if self.objects.structs.is_empty() { 0 } else { 2 },     // 17 pointers into structs
            nested * u32::from(!scope.locals.is_empty()),            // 18 a local that hides another one
            nested * u32::from(!scope.locked || self.may_block),     // 19 a try whose result decides later
            2 * nested * u32::from(self.objects.has_recursive && !scope.locked), // 20 a recursive mutex
            2 * u32::from(self.objects.thread_local.is_some()),      // 21 a thread-local
            if self.may_free { 12 } else { 5 * u32::from(self.objects.has_heap) }, // 22 the heap
            if self.objects.structs.is_empty() { 0 } else { 4 },     // 23 structures by value
        ];
        match self.rng.weighted(&weights) {
            0 => self.assignment(scope),
            1 => self.own_assignment(scope, true),
            2 => self.compound(scope),
            3 => {
                let counted = self.counted(scope).text;
                self.simple_statement(&format!("{counted};"));
            }
            4 => {
                let test = self.test(scope);
                let count = 1 + self.rng.below(2);
                self.block(&format!("Y(); if ({test})"), scope, depth - 1, count);
                if self.rng.chance(35) {
                    self.block("else", scope, depth - 1, 1);
                }
            }
            5 => self.repeat(scope, depth),
            6 => self.critical(scope, depth),
            7 => self.atomic(scope),
            8 => self.switch(scope, depth),
            9 => self.call_statement(scope),
            10 => self.pointer_assignment(scope),
            11 => self.walk(scope),
            12 => self.early_return(scope),
            13 => {
                let test = self.test(scope);
                let word = if scope.in_switch { "continue" } else { ["break", "continue"][self.rng.below(2)] };
                self.simple_statement(&format!("if ({test}) {word};"));
            }
            14 => {
                let text = self.expression(scope, 2, true).text;
                self.simple_statement(&format!("(void){text};"));
            }
            15 => self.try_section(scope),
            16 => self.static_local(scope),
            17 => self.struct_walk(scope),
            18 => self.shadow(scope, depth),
            19 => self.tried(scope, depth),
            20 => self.recursive(scope, depth),
            21 => self.of_thread(scope),
            22 => self.heap(scope, depth),
            _ => self.by_value(scope),
        }
    }

    /// A variable of which each thread has its own.
    fn of_thread(&mut self, scope: &Scope) {
        let Some(ty) = self.objects.thread_local else { return };
        let own = Ex::own("tl".to_owned(), ty, ty.held());
        match (self.rng.below(3), scope.locals.first()) {
            (0, Some((local, of))) => {
                let value = own.fit(*of).text;
                self.simple_statement(&format!("{local} = {value};"));
            }
            (1, _) => self.simple_statement("tl++;"),
            _ => {
                let value = self.expression(scope, 1, true).fit(ty).text;
                self.simple_statement(&format!("tl = {value};"));
            }
        }
    }

    /// A mutex that its holder may lock again.
    fn recursive(&mut self, scope: &Scope, depth: u32) {
        let mut inner = scope.clone();
        (inner.locked, inner.in_loop, inner.returns) = (true, false, None);
        let Some((local, ty)) = scope.locals.first().cloned() else { return self.line(";".to_owned()) };
        let result = |text: &str| format!("{local} = {};", Ex::own(text.to_owned(), Ty::Int, (0, 200)).fit(ty).text);
        self.locks = true;
        self.spend(4);
        self.simple_statement("pthread_mutex_lock(&rm);");
        let word = ["lock", "trylock"][self.rng.below(2)];
        self.simple_statement(&result(&format!("pthread_mutex_{word}(&rm)")));
        self.statement(&mut inner, depth - 1);
        self.simple_statement("pthread_mutex_unlock(&rm);");
        self.statement(&mut inner, 0);
        self.simple_statement(&result("pthread_mutex_unlock(&rm)"));
    }

    fn assignment(&mut self, scope: &Scope) {
        let place = self.place(scope, true);
        self.spend(1);
        let depth = self.rng.below(3) as u32;
        let value = self.expression(scope, depth, !place.reads).fit(place.ty);
        self.simple_statement(&format!("{} = {};", place.text, value.text));
    }

    /// Something is stored in a local.
    fn own_assignment(&mut self, scope: &Scope, shared: bool) {
        if scope.locals.is_empty() {
            return self.line(";".to_owned());
        }
        let (name, ty) = self.rng.pick(&scope.locals).clone();
        let depth = self.rng.below(3) as u32;
        let value = self.expression(scope, depth, shared);
        let assigned = match self.rng.below(5) {
            0 | 2 => format!("{name} += {};", value.small().text),
            1 => format!("{name} ^= {};", value.small().text),
            _ => format!("{name} = {};", value.fit(ty).text),
        };
        self.simple_statement(&assigned);
    }

    fn compound(&mut self, scope: &Scope) {
        let place = self.place(scope, true);
        self.spend(2);
        let value = self.expression(scope, 1, false).small();
        let more = !place.ty.is_wide_signed();
        let is_bool = place.ty == Ty::Bool && place.atomic;
        let all = ["+=", "-=", "|=", "&=", "^=", "*=", "/=", "%=", "<<=", ">>="];
        let operator =
            if is_bool { all[2 + self.rng.below(3)] } else { all[self.rng.below(if more { 10 } else { 5 })] };
        // What is negative is not shifted to the left.
        let operator = if operator == "<<=" && place.ty.is_signed() { "^=" } else { operator };
        let right = match operator {
            "/=" | "%=" => (1 + self.rng.below(7)).to_string(),
            "<<=" | ">>=" => value.binary("&", Ex::own("3".into(), Ty::Int, (3, 3))).text,
            _ => value.text,
        };
        self.simple_statement(&format!("{} {operator} {right};", place.text));
    }

    /// Two rounds.
    fn repeat(&mut self, scope: &Scope, depth: u32) {
        let counter = self.fresh("k");
        let mut inner = scope.clone();
        inner.in_loop = true;
        inner.locals.push((counter.clone(), Ty::Int));
        // Nothing may be assigned to the counter, so it is known by another name.
        let copy = self.fresh("c");
        inner.locals.pop();
        inner.locals.push((copy.clone(), Ty::Int));
        self.times *= 2;
        let count = 1 + self.rng.below(2);
        let also = if self.rng.chance(25) { format!(" && (Y(), {})", self.test(scope)) } else { String::new() };
        inner.in_switch = false;
        let label = self.fresh("B");
        let form = self.rng.below(6);
        inner.in_loop = form != 4;
        let (head, tail) = match form {
            4 => (format!("int {counter} = 0; {label}: ; {{"), format!("}} if (++{counter} < 2{also}) goto {label};")),
            5 => (format!("int {counter} = 0; while (1) {{ if ({counter}++ >= 2) break;"), "}".to_owned()),
            0 => (format!("for (int {counter} = 0; {counter} < 2{also}; {counter}++) {{"), "}".to_owned()),
            1 => (format!("for (int {counter} = 2; {counter}--{also}; ) {{"), "}".to_owned()),
            2 => (format!("int {counter} = 0; while ({counter}++ < 2{also}) {{"), "}".to_owned()),
            _ => (format!("int {counter} = 0; do {{"), format!("}} while (++{counter} < 2{also});")),
        };
        self.line(head);
        self.indent += 1;
        self.line(format!("int {copy} = {counter};"));
        self.statements(&mut inner, depth - 1, count);
        self.indent -= 1;
        self.line(tail);
        self.times /= 2;
    }

    fn switch(&mut self, scope: &Scope, depth: u32) {
        let value = self.expression(scope, 1, true);
        let mut inner = scope.clone();
        inner.in_switch = true;
        let (mask, labels) = if self.rng.chance(50) {
            (" & 3", ["case 0: ;", "case 1: case 2: ;", "default: ;"])
        } else {
            ("", ["case 1: ;", "case -1: case GREEN: ;", "default: ;"])
        };
        self.line(format!("Y(); switch ({}{mask}) {{", value.text));
        self.indent += 1;
        for label in labels {
            if label != labels[0] && self.rng.chance(30) {
                continue;
            }
            self.line(label.to_owned());
            self.indent += 1;
            self.statement(&mut inner, depth - 1);
            if label == "default: ;" || self.rng.chance(60) {
                self.line("break;".to_owned());
            }
            self.indent -= 1;
        }
        self.indent -= 1;
        self.line("}".to_owned());
    }

    fn call_statement(&mut self, scope: &Scope) {
        let index = self.rng.below(scope.callable);
        let function = &self.functions[index];
        if function.cost > self.budget || function.locks && scope.locked && !self.may_block {
            return self.own_assignment(scope, false);
        }
        let (result, called) = (function.result, function.name.clone());
        let mut text = self.call_text(scope, index, true);
        if self.rng.chance(20) {
            let name = self.fresh("call");
            let address = if self.rng.chance(50) { "&" } else { "" };
            self.simple_statement(&format!("__typeof__({called}) *{name} = {address}{called};"));
            let callee = if self.rng.chance(50) { name } else { format!("(*{name})") };
            text = text.replacen(&called, &callee, 1);
        }
        let local = (!scope.locals.is_empty()).then(|| self.rng.below(scope.locals.len()));
        match (result, local) {
            (Some(ty), Some(local)) if self.rng.chance(80) => {
                let (name, of) = scope.locals[local].clone();
                let value = Ex::own(text, ty, ty.held()).fit(of);
                self.simple_statement(&format!("{name} = {};", value.text));
            }
            _ => self.simple_statement(&format!("{text};")),
        }
    }

    fn early_return(&mut self, scope: &Scope) {
        let test = self.test(scope);
        let Some(returns) = scope.returns else { return };
        let returned = self.returned(scope, returns);
        self.simple_statement(&format!("if ({test}) {{ Y(); {returned} }}"));
    }

    /// A return statement.
    pub(super) fn returned(&mut self, scope: &Scope, returns: Returns) -> String {
        match returns {
            Returns::Nothing => "return;".to_owned(),
            Returns::Null => ["return NULL;", "pthread_exit((void *)2L);"][self.rng.below(2)].to_owned(),
            Returns::Value(ty) => format!("return {};", self.expression(scope, 1, true).fit(ty).text),
        }
    }

    fn static_local(&mut self, scope: &Scope) {
        let (name, ty) = (self.fresh("calls"), *self.rng.pick(&Ty::ALL));
        self.spend(3);
        let initial = ["", " = 1"][self.rng.below(2)];
        self.line(format!("static {} {name}{initial};", ty.word()));
        let counted = ["++", "--"][self.rng.below(2)];
        match scope.locals.first() {
            Some((local, of)) if self.rng.chance(70) => {
                let value = Ex::own(format!("{name}{counted}"), ty, ty.held()).fit(*of).text;
                self.simple_statement(&format!("{local} = {value};"));
            }
            _ => self.simple_statement(&format!("{name}{counted};")),
        }
    }
}
