//! Random programs of arrays of anything: of numbers with one or two dimensions, of objects, of locks and all other
//! synchronisation objects, of handles of threads; as globals, fields and locals, and as parameters; with constant and
//! computed indices, some of which are out of range. They are written as text.

use super::Rng;
use std::fmt::Write as _;

/// The text of a random program.
pub fn arrays(seed: u64) -> String {
    let mut generator = Arrays { rng: Rng::new(seed.wrapping_mul(0x51_7c_c1)), used: Used::default(), loops: 0 };
    generator.program()
}

/// What the program declares.
#[derive(Clone, Debug, Default)]
struct Used {
    /// Dimensions of `t`.
    table: usize,
    /// Dimensions of `f`.
    locks: usize,
    /// `Account a[2]`
    accounts: bool,
    /// `Bank b[2]`, with accounts and locks in it.
    bank: bool,
    /// Parameters of the constructor of an account, if there is one.
    constructor: Option<usize>,
}

/// A program in the making.
struct Arrays {
    rng: Rng,
    used: Used,
    loops: u32,
}

/// What a statement may use.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Private numbers.
    numbers: Vec<String>,
    /// Arrays of numbers with one dimension: of `main`, or a parameter.
    rows: Vec<String>,
    /// Arrays of accounts.
    accounts: Vec<String>,
    /// Arrays of locks.
    locks: Vec<String>,
    /// Whether calls may stand here.
    calls: bool,
    /// Whether a lock is held, or an atomic block is around: nothing here waits.
    quiet: bool,
}

impl Arrays {
    fn program(&mut self) -> String {
        self.used = Used {
            table: 1 + usize::from(self.rng.chance(40)),
            locks: 1 + usize::from(self.rng.chance(20)),
            accounts: self.rng.chance(70),
            bank: self.rng.chance(25),
            constructor: [None, Some(0), Some(1)][self.rng.weighted(&[70, 15, 15])],
        };
        let arguments = if self.used.constructor == Some(1) { "(1)" } else { "" };
        let mut text = String::new();
        let (accounts, bank) = (self.used.accounts || self.used.bank, self.used.bank);
        if accounts {
            text += "class Account { int bal; lock m; int log[2];\n";
            let add = *self.rng.pick(&["lock(m); bal += v; unlock(m);", "synchronized (m) { bal = v; }", "bal++;"]);
            let _ = writeln!(text, "  void add(int v) {{ {add} }}");
            let note = *self.rng.pick(&["log[i] = bal;", "log[i]++;", "this.log[i] = 1;"]);
            let _ = writeln!(text, "  void note(int i) {{ {note} }}\n  int get() {{ return bal; }}");
            text += match self.used.constructor {
                None => "}\n",
                Some(0) => "  Account() { bal = k; } }\n",
                Some(_) => "  Account(int b) { bal = b; log[1] = k + b; } }\n",
            };
        }
        if bank {
            let _ =
                writeln!(text, "class Bank {{ Account acc[2]{arguments}; lock door[2]; event open[2]; thread who[2];");
            text += "  void pay(int i) { acc[i].add(1); }\n";
            text += "  void enter(int i) { synchronized (door[i]) { acc[i].bal = 2; } } }\n";
        }
        let first = self.rng.below(2);
        let _ = writeln!(text, "int x;\nint k = {first};");
        text += match self.used.table {
            1 if self.rng.chance(50) => "int t[2];\n",
            1 => "int t[3] = {1, 2, 3};\n",
            _ if self.rng.chance(50) => "int t[2][2];\n",
            _ if self.rng.chance(50) => "int t[2][2] = {{1}, {k + 2, 3}};\n",
            _ => "int t[2][2] = {1, 2, 3, 4};\n",
        };
        text += if self.used.locks == 1 { "lock f[2];\n" } else { "lock f[2][2];\n" };
        text += "event go[2]; sem s[2] = 1; barrier bar[2](2); cond c[2]; thread w[2];\n";
        if self.used.accounts {
            let arguments = if arguments.is_empty() || self.rng.chance(50) { arguments } else { "(k + 1)" };
            let _ = writeln!(text, "Account a[2]{arguments};");
        }
        if bank {
            text += if self.rng.chance(50) { "Bank b[2];\n" } else { "Bank b[1];\n" };
        }
        text += &self.functions();
        text + &self.main()
    }

    fn functions(&mut self) -> String {
        let global = self.global();
        let mut text = String::from("void put(int v[], int i) { v[i] = 7; }\n");
        text += "int sum(int v[]) { int all = 0; for (int n = 0; n < length(v) && n < 2; n++) { all += v[n]; } return all; }\n";
        text += "void both(lock l[], int i) { lock(l[i]); x++; unlock(l[i]); }\n";
        text += "void hold(lock l) { synchronized (l) { x = 3; } }\n";
        text += "void split(int v[], int i) { cobegin A1: v[i] = 5; A2: print(v[1 - i]); coend }\n";
        if self.used.table == 2 {
            text += "void corner(int g[][2], int i) { g[i][1] = 4; put(g[i], 0); }\n";
        }
        if self.used.accounts {
            text += "void credit(Account p[], int i) { p[i].bal = length(p); }\n";
            text += "void one(Account p) { p.add(2); }\n";
        }
        let inside = Scope { numbers: vec!["p".to_owned()], ..global };
        let mut cost = 0;
        let body = self.statements(&inside, 2, &mut cost);
        let _ = writeln!(text, "void work(int p) {{ {body}}}");
        text
    }

    /// What stands at top level.
    fn global(&self) -> Scope {
        let mut scope = Scope::default();
        scope.rows.push(if self.used.table == 1 { "t" } else { "t[1]" }.to_owned());
        if self.used.table == 2 {
            scope.rows.push("t[k]".to_owned());
        }
        scope.locks.push(if self.used.locks == 1 { "f" } else { "f[0]" }.to_owned());
        if self.used.accounts {
            scope.accounts.push("a".to_owned());
            scope.rows.push("a[1].log".to_owned());
        }
        if self.used.bank {
            scope.accounts.push("b[0].acc".to_owned());
            scope.locks.push("b[0].door".to_owned());
        }
        scope
    }

    fn main(&mut self) -> String {
        let mut text = String::from("void main() {\n");
        let mut scope = Scope { calls: true, ..self.global() };
        if self.rng.chance(25) {
            text += "  int own[2] = {k, 3};\n";
            scope.rows.insert(0, "own".to_owned());
        }
        if self.used.accounts && self.rng.chance(15) {
            text += if self.used.constructor == Some(1) { "  Account here[2](k);\n" } else { "  Account here[2];\n" };
            scope.accounts.insert(0, "here".to_owned());
        }
        if self.rng.chance(15) {
            text += "  lock mine[2];\n";
            scope.locks.insert(0, "mine".to_owned());
        }
        if self.rng.chance(20) {
            text += "  int q = k;\n";
            scope.numbers.push("q".to_owned());
        }
        match self.rng.weighted(&[60, 22, 18]) {
            0 => {
                let count = if self.rng.chance(25) { 3 } else { 2 };
                text += "  cobegin\n";
                for number in 1..=count {
                    let mut cost = 0;
                    let body = self.statements(&scope, if count == 2 { 4 } else { 2 }, &mut cost);
                    let _ = writeln!(text, "    T{number}: {{ {body}}}");
                }
                text += "  coend\n";
            }
            1 => {
                let count = if self.rng.chance(25) { 3 } else { 2 };
                let mut inside = scope.clone();
                inside.numbers.push("i".to_owned());
                let mut cost = 0;
                let body = self.statements(&inside, if count == 2 { 4 } else { 1 }, &mut cost);
                let _ = writeln!(text, "  parfor (int i = 0; i < {count}; i++) {{ {body}}}");
            }
            _ => {
                text += if self.rng.chance(50) {
                    "  for (int n = 0; n < length(w); n++) { w[n] = spawn work(n); }\n"
                } else {
                    "  w[k] = spawn work(1); w[1 - k] = spawn work(0);\n"
                };
                let body = self.statements(&scope, 1, &mut 0);
                let _ = writeln!(text, "  {body}");
                if self.rng.chance(80) {
                    text += "  for (int n = 0; n < 2; n++) { join(w[n]); }\n";
                }
            }
        }
        for _ in 0..self.rng.below(3) {
            let place = self.place(&scope, &mut 0);
            let _ = writeln!(text, "  print({place});");
        }
        text + "}\n"
    }

    /// Statements of one thread that cost about so many steps.
    fn statements(&mut self, scope: &Scope, budget: i32, cost: &mut i32) -> String {
        let mut text = String::new();
        let end = *cost + budget;
        while *cost < end {
            text += &self.statement(scope, cost, end - *cost);
            *cost += 1;
        }
        text
    }

    fn index(&mut self, scope: &Scope, cost: &mut i32) -> String {
        let number = if scope.numbers.is_empty() { None } else { Some(self.rng.pick(&scope.numbers).clone()) };
        match (self.rng.weighted(&[36, 30, 8, 6, 2]), number) {
            (1, Some(number)) => number,
            (2, Some(number)) => format!("({number} + 1) % 2"),
            (3 | 1, _) => {
                *cost += 1;
                "k".to_owned()
            }
            (2, None) => {
                *cost += 1;
                "1 - k".to_owned()
            }
            (4, _) => {
                *cost += 1;
                "x".to_owned()
            }
            _ => self.rng.below(2).to_string(),
        }
    }

    /// A number that threads share.
    fn place(&mut self, scope: &Scope, cost: &mut i32) -> String {
        match self.rng.weighted(&[40, 34, 10, 8, 8]) {
            0 => {
                let row = self.rng.pick(&scope.rows).clone();
                *cost += i32::from(row.contains('k'));
                format!("{row}[{}]", self.index(scope, cost))
            }
            1 | 2 if !scope.accounts.is_empty() => {
                let accounts = self.rng.pick(&scope.accounts).clone();
                let index = self.index(scope, cost);
                if self.rng.chance(75) {
                    return format!("{accounts}[{index}].bal");
                }
                format!("{accounts}[{index}].log[{}]", self.index(scope, cost))
            }
            3 => "k".to_owned(),
            4 if self.used.table == 2 => format!("t[{}][{}]", self.index(scope, cost), self.index(scope, cost)),
            _ => "x".to_owned(),
        }
    }

    fn value(&mut self, scope: &Scope, cost: &mut i32) -> String {
        match self.rng.weighted(&[50, 25, 15, 10]) {
            1 => {
                *cost += 1;
                self.place(scope, cost)
            }
            2 if !scope.numbers.is_empty() => self.rng.pick(&scope.numbers).clone(),
            3 => format!("length({})", self.rng.pick(&scope.rows)),
            _ => self.rng.below(3).to_string(),
        }
    }

    fn lock(&mut self, scope: &Scope, cost: &mut i32) -> String {
        if self.used.locks == 2 && self.rng.chance(30) {
            return format!("f[{}][{}]", self.index(scope, cost), self.index(scope, cost));
        }
        if self.rng.chance(15)
            && let Some(accounts) = scope.accounts.first()
        {
            return format!("{accounts}[{}].m", self.index(scope, cost));
        }
        let locks = self.rng.pick(&scope.locks).clone();
        format!("{locks}[{}]", self.index(scope, cost))
    }

    fn statement(&mut self, scope: &Scope, cost: &mut i32, left: i32) -> String {
        let quiet = u32::from(!scope.quiet);
        let calls = u32::from(scope.calls);
        let weights = [18, 8, 12, 12 * quiet, 6 * quiet, 8 * quiet, 14 * calls * quiet, 4, 5, 4, 3 * calls * quiet];
        match self.rng.weighted(&weights) {
            0 => format!("{} = {}; ", self.place(scope, cost), self.value(scope, cost)),
            1 => {
                *cost += 1;
                let operator = *self.rng.pick(&["++", " += 2", "--"]);
                format!("{}{operator}; ", self.place(scope, cost))
            }
            2 => format!("print({}); ", self.place(scope, cost)),
            3 => {
                *cost += 1;
                let (lock, body) = (self.lock(scope, cost), self.held(scope, cost, left));
                format!("lock({lock}); {body}unlock({lock}); ")
            }
            4 => {
                *cost += 1;
                let (lock, body) = (self.lock(scope, cost), self.held(scope, cost, left));
                format!("synchronized ({lock}) {{ {body}}} ")
            }
            5 => self.agreement(scope, cost),
            6 => self.call(scope, cost),
            7 => match self.rng.below(3) {
                0 => format!("fetch_add({}, 1); ", self.place(scope, cost)),
                1 => format!("if (cas({}, 0, 1)) {{ print(\"won\"); }} ", self.place(scope, cost)),
                _ => format!("atomic {{ {} = {}; }} ", self.place(scope, cost), self.place(scope, cost)),
            },
            8 => {
                let (place, body) = (self.place(scope, cost), self.statement(&self.inner(scope), cost, 1));
                format!("if ({place} == {}) {{ {body}}} ", self.rng.below(2))
            }
            9 => {
                self.loops += 1;
                let number = format!("n{}", self.loops);
                let mut inside = self.inner(scope);
                inside.numbers.push(number.clone());
                let before = *cost;
                let body = self.statement(&inside, cost, 1);
                *cost += *cost - before + 1;
                format!("for (int {number} = 0; {number} < 2; {number}++) {{ {body}}} ")
            }
            _ => {
                *cost += 2;
                let index = self.index(scope, cost);
                let owner = if self.used.bank && self.rng.chance(40) { "b[0].who" } else { "w" };
                let join = if self.rng.chance(60) { format!("join({owner}[{index}]); ") } else { String::new() };
                format!("{owner}[{index}] = spawn put({}, {}); {join}", self.rng.pick(&scope.rows), self.rng.below(2))
            }
        }
    }

    /// The scope of a statement inside another one.
    fn inner(&self, scope: &Scope) -> Scope {
        Scope { quiet: true, ..scope.clone() }
    }

    /// What is done with a lock held.
    fn held(&mut self, scope: &Scope, cost: &mut i32, left: i32) -> String {
        let inside = self.inner(scope);
        let mut body = self.statement(&inside, cost, 1);
        if left > 3 && self.rng.chance(50) {
            *cost += 1;
            body += &self.statement(&inside, cost, 1);
        }
        body
    }

    /// Events, semaphores, barriers, conditions: mostly of known elements, so that somebody answers.
    fn agreement(&mut self, scope: &Scope, cost: &mut i32) -> String {
        let index = if self.rng.chance(60) { "1".to_owned() } else { self.index(scope, cost) };
        let event = if self.used.bank && self.rng.chance(40) { "b[0].open" } else { "go" };
        let place = self.place(scope, cost);
        *cost += 1;
        match self.rng.weighted(&[24, 24, 6, 20, 16, 10]) {
            0 => format!("{place} = 4; set({event}[{index}]); "),
            1 => format!("wait({event}[{index}]); print({place}); "),
            2 => format!("clear({event}[{index}]); "),
            3 => format!("P(s[{index}]); {place} = 6; V(s[{index}]); "),
            4 => format!("{place} = 1; barrier(bar[{index}]); print({place}); "),
            _ => {
                *cost += 2;
                let lock = self.lock(scope, cost);
                if self.rng.chance(50) {
                    return format!("lock({lock}); x = 1; notifyAll(c[{index}]); unlock({lock}); ");
                }
                format!("lock({lock}); if (x == 0) {{ wait(c[{index}], {lock}); }} unlock({lock}); ")
            }
        }
    }

    fn call(&mut self, scope: &Scope, cost: &mut i32) -> String {
        *cost += 1;
        let index = self.index(scope, cost);
        let row = self.rng.pick(&scope.rows).clone();
        let accounts = scope.accounts.first().cloned().unwrap_or_default();
        let objects = if accounts.is_empty() { 0 } else { 10 };
        let (tables, bank) = (if self.used.table == 2 { 8 } else { 0 }, if self.used.bank { 10 } else { 0 });
        // The functions on accounts are there with `a`.
        let globals = if self.used.accounts { objects } else { 0 };
        let weights = [10, 5, 8, 6, 3, tables, globals, globals, objects, objects / 2, objects / 2, bank];
        match self.rng.weighted(&weights) {
            0 => format!("put({row}, {index}); "),
            1 => {
                *cost += 1;
                format!("print(sum({row})); ")
            }
            2 => {
                *cost += 3;
                format!("both({}, {index}); ", self.rng.pick(&scope.locks))
            }
            3 => {
                *cost += 2;
                format!("hold({}); ", self.lock(scope, cost))
            }
            4 => {
                *cost += 4;
                format!("split({row}, {index}); ")
            }
            5 => {
                *cost += 1;
                format!("corner(t, {index}); ")
            }
            6 => format!("credit({accounts}, {index}); "),
            7 => {
                *cost += 2;
                format!("one({accounts}[{index}]); ")
            }
            8 => {
                *cost += 2;
                format!("{accounts}[{index}].add({}); ", self.value(scope, cost))
            }
            9 => {
                *cost += 1;
                format!("{accounts}[{index}].note({}); ", self.index(scope, cost))
            }
            10 => format!("print({accounts}[{index}].get()); "),
            _ => {
                *cost += 3;
                let method = *self.rng.pick(&["pay", "enter"]);
                format!("b[0].{method}({index}); ")
            }
        }
    }
}
