//! Programs in which one place of the text is many: functions that several threads call, methods of several objects,
//! getters and setters, iterations, spawned functions, recursion, functions that make threads.

use super::rng::Rng;
use std::fmt::Write;

/// The text of a random program. It is small: all of its interleavings are to be followed.
pub fn contexts(seed: u64) -> String {
    Writer { rng: Rng::new(seed ^ 0x0c04_7e27), functions: Vec::new(), names: 0 }.program()
}

/// What a function is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Number,
    Object,
    Lock,
}

/// A function, or a method of class `A`.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    given: Vec<Given>,
    method: bool,
    /// Visible operations of one call, about.
    cost: i32,
    /// Whether it makes threads.
    forks: bool,
}

struct Writer {
    rng: Rng,
    functions: Vec<Function>,
    names: u32,
}

/// What may be named at one place of the text.
#[derive(Clone, Debug)]
struct Scope {
    /// Variables of type `int`.
    places: Vec<String>,
    /// Numbers: parameters and loop variables.
    numbers: Vec<String>,
    objects: Vec<String>,
    locks: Vec<String>,
}

impl Writer {
    fn program(mut self) -> String {
        let mut text = String::from("int n = 1, m;\nint t[2];\nlock L, K;\n");
        let mut scope = Scope {
            places: ["n", "n", "m", "t[0]"].map(str::to_owned).to_vec(),
            numbers: Vec::new(),
            objects: Vec::new(),
            locks: ["L", "K"].map(str::to_owned).to_vec(),
        };
        if self.rng.chance(70) {
            text += &self.class(&scope);
            text += "A a, b;\n";
            scope.objects.extend(["a", "b"].map(str::to_owned));
            if self.rng.chance(20) {
                text += "class B { A one, two; }\nB c;\n";
                scope.objects.extend(["c.one", "c.two"].map(str::to_owned));
            }
        }
        for _ in 0..1 + self.rng.below(3) {
            text += &self.function(&scope);
        }
        if self.rng.chance(15) {
            text += &self.recursive(&scope);
        }
        if self.rng.chance(20) {
            text += &self.forking(&scope);
        }
        text + &self.main(scope)
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn class(&mut self, outside: &Scope) -> String {
        let mut text = String::from("class A {\n  int f;\n  int g = 2;\n  int u[2];\n  lock k;\n");
        let scope = Scope {
            places: ["f", "f", "g", "u[0]", "this.f"].map(str::to_owned).to_vec(),
            numbers: Vec::new(),
            objects: Vec::new(),
            locks: vec!["k".to_owned(), outside.locks[0].clone()],
        };
        let methods = 1 + self.rng.below(3);
        for number in 0..methods {
            let given = self.given(true);
            text += &self.declared(&format!("w{number}"), given, scope.clone(), true);
        }
        text + "}\n"
    }

    fn given(&mut self, objects: bool) -> Vec<Given> {
        let mut given = Vec::new();
        if self.rng.chance(65) {
            given.push(Given::Number);
        }
        if objects && self.rng.chance(35) {
            given.push(Given::Object);
        }
        if self.rng.chance(12) {
            given.push(Given::Lock);
        }
        given
    }

    fn function(&mut self, scope: &Scope) -> String {
        let name = self.fresh("fun");
        let given = self.given(!scope.objects.is_empty());
        let mut inside = scope.clone();
        // Objects are named where they are not given.
        inside.objects.truncate(2);
        self.declared(&name, given, inside, false)
    }

    /// The text of a function, which is then known.
    fn declared(&mut self, name: &str, given: Vec<Given>, mut scope: Scope, method: bool) -> String {
        let mut parameters = Vec::new();
        for given in &given {
            match given {
                Given::Number => {
                    parameters.push("int v");
                    scope.numbers = vec!["v".to_owned()];
                    if self.rng.chance(40) {
                        let array = if method { "u" } else { "t" };
                        scope.places.insert(0, format!("{array}[v & 1]"));
                    }
                }
                Given::Object => {
                    parameters.push("A o");
                    scope.objects = vec!["o".to_owned()];
                }
                Given::Lock => {
                    parameters.push("lock p");
                    scope.locks = vec!["p".to_owned()];
                }
            }
        }
        for object in scope.objects.clone() {
            scope.places.push(format!("{object}.f"));
        }
        let result = self.rng.chance(40);
        let mut cost = 0;
        let mut body = String::new();
        for _ in 0..if result { self.rng.below(2) } else { 1 + self.rng.weighted(&[70, 30]) } {
            body += &self.statement(&scope, &mut cost, method, 0);
        }
        if result {
            let value = self.value(&scope, &mut cost);
            let _ = write!(body, "return {value}; ");
        }
        let kind = if result { "int" } else { "void" };
        let text = format!("{kind} {name}({}) {{ {body}}}\n", parameters.join(", "));
        self.functions.push(Function { name: name.to_owned(), given, method, cost, forks: false });
        if method { format!("  public {text}") } else { text }
    }

    fn recursive(&mut self, scope: &Scope) -> String {
        let (name, place) = (self.fresh("rec"), self.rng.pick(&scope.places).clone());
        let before = if self.rng.chance(50) { format!("{place} = v; ") } else { format!("print({place}); ") };
        let body = match self.rng.below(3) {
            0 => format!("if (v > 0) {{ {before}{name}(v - 1); }} "),
            1 => format!("if (v > 0) {{ {name}(v - 1); {before}}} else {{ {place} += 1; }} "),
            _ => format!("{before}if (v > 0) {{ {name}(v - 1); }} "),
        };
        let given = vec![Given::Number];
        self.functions.push(Function { name: name.clone(), given, method: false, cost: 3, forks: false });
        if self.rng.chance(30) {
            // By way of another function.
            let body = body.replace(&name, "back");
            return format!("void {name}(int v) {{ {body}}}\nvoid back(int v) {{ n += 1; {name}(v); }}\n");
        }
        format!("void {name}(int v) {{ {body}}}\n")
    }

    /// A function that makes threads, which often share a local of it.
    fn forking(&mut self, scope: &Scope) -> String {
        let (name, mut scope, mut cost) = (self.fresh("par"), scope.clone(), 0);
        scope.numbers = vec!["v".to_owned()];
        let mut body = String::new();
        if self.rng.chance(50) {
            body += "int s = v; ";
            scope.places = vec!["s".to_owned(), "n".to_owned()];
        }
        if self.rng.chance(30) {
            let inside = self.statement(&scope, &mut cost, false, 1);
            let _ = write!(body, "parfor (int q = 0; q < 2; q++) {{ {inside}}} ");
            cost *= 2;
        } else if let Some(call) = if self.rng.chance(30) {
            self.call(&scope, &mut cost, false, |function| !function.forks && function.cost <= 3)
        } else {
            None
        } {
            let beside = self.statement(&scope, &mut cost, false, 1);
            let _ = write!(body, "thread h = spawn {call}; {beside}join(h); ");
        } else {
            let (one, two) = (self.statement(&scope, &mut cost, false, 1), self.statement(&scope, &mut cost, false, 1));
            let _ = write!(body, "cobegin P: {{ {one}}} Q: {{ {two}}} coend ");
        }
        let given = vec![Given::Number];
        self.functions.push(Function { name: name.clone(), given, method: false, cost: 2 * cost, forks: true });
        format!("void {name}(int v) {{ {body}}}\n")
    }

    fn value(&mut self, scope: &Scope, cost: &mut i32) -> String {
        match self.rng.weighted(&[35, 40, 15, 10]) {
            0 if !scope.numbers.is_empty() => self.rng.pick(&scope.numbers).clone(),
            1 => {
                *cost += 1;
                self.rng.pick(&scope.places).clone()
            }
            2 => {
                *cost += 1;
                format!("{} + 1", self.rng.pick(&scope.places))
            }
            _ => self.rng.range(0, 3).to_string(),
        }
    }

    /// A call that may stand here, without `;`.
    fn call(
        &mut self,
        scope: &Scope,
        cost: &mut i32,
        in_method: bool,
        wanted: impl Fn(&Function) -> bool,
    ) -> Option<String> {
        let possible = |function: &&Function| {
            wanted(function)
                && (!in_method || function.method)
                && !(function.method && !in_method && scope.objects.is_empty())
                && !(function.given.contains(&Given::Object) && scope.objects.is_empty())
        };
        let possible: Vec<Function> = self.functions.iter().filter(possible).cloned().collect();
        if possible.is_empty() {
            return None;
        }
        let function = self.rng.pick(&possible).clone();
        *cost += function.cost;
        let mut arguments = Vec::new();
        for given in &function.given {
            arguments.push(match given {
                Given::Number if !scope.numbers.is_empty() && self.rng.chance(40) => {
                    self.rng.pick(&scope.numbers).clone()
                }
                Given::Number => self.rng.range(0, 2).to_string(),
                Given::Object => self.rng.pick(&scope.objects).clone(),
                Given::Lock => self.rng.pick(&scope.locks).clone(),
            });
        }
        let called = format!("{}({})", function.name, arguments.join(", "));
        let on_object = function.method && !scope.objects.is_empty() && (!in_method || self.rng.chance(50));
        Some(if on_object { format!("{}.{called}", self.rng.pick(&scope.objects)) } else { called })
    }

    fn statement(&mut self, scope: &Scope, cost: &mut i32, in_method: bool, depth: u32) -> String {
        let place = self.rng.pick(&scope.places).clone();
        match self.rng.weighted(&[34, 10, 14, 16, 8, 8, 4]) {
            1 => {
                *cost += 2;
                format!("{place} += 1; ")
            }
            2 => {
                *cost += 1;
                format!("print({place}); ")
            }
            3 => match self.call(scope, cost, in_method, |function| !function.forks && function.cost <= 3) {
                Some(call) => format!("{call}; "),
                None => format!("{place} = 3; "),
            },
            4 if depth < 2 => {
                *cost += 1;
                let inside = self.statement(scope, cost, in_method, depth + 1);
                format!("if ({place} > 0) {{ {inside}}} ")
            }
            5 if depth < 2 => {
                *cost += 2;
                let lock = self.rng.pick(&scope.locks).clone();
                // No call inside: the same lock must not be taken twice.
                let value = self.value(scope, cost);
                format!("synchronized ({lock}) {{ {place} = {value}; }} ")
            }
            6 => {
                *cost += 1;
                format!("fetch_add({place}, 1); ")
            }
            _ => {
                *cost += 1;
                let value = self.value(scope, cost);
                format!("{place} = {value}; ")
            }
        }
    }

    fn main(&mut self, mut scope: Scope) -> String {
        let mut text = String::from("void main() {\n");
        if self.rng.chance(15) {
            text += "  int x = 1;\n";
            scope.places.insert(0, "x".to_owned());
        }
        if !scope.objects.is_empty() && self.rng.chance(20) {
            text += "  A mine;\n";
            scope.objects.push("mine".to_owned());
        }
        for object in scope.objects.clone() {
            scope.places.push(format!("{object}.f"));
        }
        if self.rng.chance(25) {
            let _ = writeln!(text, "  {}", self.statement(&scope, &mut 0, false, 1));
        }
        match self.rng.weighted(&[60, 20, 20]) {
            0 => {
                let count = if self.rng.chance(30) { 3 } else { 2 };
                text += "  cobegin\n";
                for number in 1..=count {
                    let _ =
                        writeln!(text, "    T{number}: {{ {}}}", self.thread(&scope, if count == 2 { 6 } else { 3 }));
                }
                text += "  coend\n";
            }
            1 => {
                let count = if self.rng.chance(40) { 3 } else { 2 };
                let mut inside = scope.clone();
                inside.numbers.push("i".to_owned());
                inside.places.push("t[i & 1]".to_owned());
                let body = self.thread(&inside, if count == 2 { 6 } else { 3 });
                // The number of threads is not always constant. It is read before: the interpreter starts all at once.
                let is_read = self.rng.chance(20);
                if is_read {
                    text += "  int count = m + 2;\n";
                }
                let count = if is_read { "count".to_owned() } else { count.to_string() };
                let _ = writeln!(text, "  parfor (int i = 0; i < {count}; i++) {{ {body}}}");
            }
            _ => {
                let global = Scope { objects: scope.objects.clone(), ..scope.clone() };
                let small = |function: &Function| !function.forks && function.cost <= 5;
                let mut joins = String::new();
                for number in 0..1 + self.rng.below(2) {
                    let Some(call) = self.call(&global, &mut 0, false, small) else { continue };
                    if self.rng.chance(60) {
                        let _ = writeln!(text, "  thread h{number} = spawn {call};");
                        let _ = write!(joins, "join(h{number}); ");
                    } else {
                        let _ = writeln!(text, "  spawn {call};");
                    }
                }
                let _ = writeln!(text, "  {}\n  {joins}", self.thread(&scope, 3));
            }
        }
        for _ in 0..self.rng.below(3) {
            let _ = writeln!(text, "  {}", self.statement(&scope, &mut 0, false, 2));
        }
        text + "}\n"
    }

    /// The statements of a thread, mostly calls.
    fn thread(&mut self, scope: &Scope, budget: i32) -> String {
        let (mut text, mut cost) = (String::new(), 0);
        while cost < budget {
            let room = budget - cost + 1;
            let call = if self.rng.chance(75) {
                self.call(scope, &mut cost, false, |function| function.cost <= room)
            } else {
                None
            };
            text += &match call {
                Some(call) if self.rng.chance(12) && cost <= 3 => {
                    cost *= 2;
                    format!("for (int j = 0; j < 2; j++) {{ {call}; }} ")
                }
                Some(call) => format!("{call}; "),
                None => self.statement(scope, &mut cost, false, 1),
            };
            // Not every statement costs something.
            cost += 1;
        }
        text
    }
}
