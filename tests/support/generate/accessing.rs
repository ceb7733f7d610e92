//! Small programs whose threads meet at a few variables: for memory-access patterns.
//!
//! Two or three threads with eight accesses or so in all: to globals, elements, fields of two objects of one class, a
//! captured local; by plain reads and writes, atomic expressions and methods that several threads call. Threads come
//! from a cobegin, a nested one, or spawns, and main has accesses before, beside and behind them. Names are fixed.

use super::rng::Rng;
use std::fmt::Write;

/// The text of a random program.
pub fn accessing(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0xacce55);
    let operations = rng.range(3, 8) as i32;
    let mut writer = Writer {
        rng,
        text: String::new(),
        depth: 0,
        budget: 0,
        places: Vec::new(),
        locals: 0,
        captured: false,
        held: 0,
        calls: Vec::new(),
    };
    writer.declarations();
    writer.functions();
    match writer.rng.weighted(&[45, 15, 25, 15]) {
        0 => writer.cobegin(operations, false),
        1 => writer.cobegin(operations, true),
        2 => writer.spawned(operations),
        _ => writer.rounds(operations),
    }
    writer.text
}

struct Writer {
    rng: Rng,
    text: String,
    depth: usize,
    /// Accesses that the thread may still have, about.
    budget: i32,
    /// What may be read and written: `x`, `t[1]`, `p.v`.
    places: Vec<String>,
    /// Locals of the thread that are known here: n1, n2 …
    locals: u32,
    /// Whether there is a captured local `k`.
    captured: bool,
    /// Locks that the thread holds.
    held: u32,
    /// Calls, each with two accesses or so.
    calls: Vec<&'static str>,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = 2 * self.depth;
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    fn number(&mut self) -> i64 {
        self.rng.range(0, 2)
    }

    fn place(&mut self) -> String {
        if self.captured && self.rng.chance(15) {
            return "k".to_owned();
        }
        self.rng.pick(&self.places).clone()
    }

    fn declarations(&mut self) {
        for variable in ["x", "y", "z"].iter().take(1 + self.rng.weighted(&[35, 45, 20])) {
            let value = if self.rng.chance(40) { format!(" = {}", self.number()) } else { String::new() };
            self.line(&format!("int {variable}{value};"));
            self.places.push((*variable).to_owned());
        }
        if self.rng.chance(25) {
            self.line("int t[2];");
            self.places.extend(["t[0]", "t[1]"].map(str::to_owned));
        }
        if self.rng.chance(40) {
            self.line("class A {");
            self.line("  int v;");
            self.line("  public void put(int n) { v = n; }");
            self.line("  public int get() { return this.v; }");
            self.line("  public void twice(A o) { v = o.v; }");
            self.line("  public bool more() { if (v > 0) return true; v++; return false; }");
            self.line("}");
            self.line("A p, q;");
            if self.rng.chance(50) {
                self.places.extend(["p.v", "q.v"].map(str::to_owned));
            }
            self.calls.extend(["p.put(1);", "q.put(0);", "p.twice(q);", "bool m = p.more();", "print(p.get());"]);
        }
        self.line("lock L, M;");
        self.line("sem s = 1;");
        self.line("event e;");
    }

    fn functions(&mut self) {
        if self.rng.chance(40) {
            let place = self.rng.pick(&self.places).clone();
            self.line(&format!("void both() {{ {place} = {place} + 1; }}"));
            self.calls.push("both();");
        }
        if self.rng.chance(20) {
            let (one, two) = (self.rng.pick(&self.places).clone(), self.rng.pick(&self.places).clone());
            self.line(&format!("int pair() {{ synchronized (L) {{ {one} = 1; return {two}; }} }}"));
            self.calls.push("print(pair());");
        }
    }

    /// Where main has an access, or none.
    fn beside(&mut self, percent: u64) {
        if self.rng.chance(percent) {
            self.budget = 1;
            self.access();
        }
    }

    fn cobegin(&mut self, operations: i32, nested: bool) {
        self.line("void main() {");
        self.depth += 1;
        self.captured = self.rng.chance(20);
        if self.captured {
            self.line("int k = 1;");
        }
        self.beside(30);
        let count = if nested || self.rng.chance(35) { 3 } else { 2 };
        self.line("cobegin");
        for thread in 0..count {
            self.line(&format!("T{thread}: {{"));
            self.depth += 1;
            if nested && thread == 0 {
                self.nest(operations / 2);
            } else {
                self.thread((operations + count - 1) / count);
            }
            self.depth -= 1;
            self.line("}");
        }
        self.line("coend");
        self.beside(30);
        self.depth -= 1;
        self.line("}");
    }

    /// A thread that starts two others.
    fn nest(&mut self, operations: i32) {
        self.beside(40);
        self.line("cobegin");
        for label in ["I", "J"] {
            self.line(&format!("{label}: {{"));
            self.depth += 1;
            self.thread(operations / 2);
            self.depth -= 1;
            self.line("}");
        }
        self.line("coend");
        self.beside(60);
    }

    fn spawned(&mut self, operations: i32) {
        let count = 1 + self.rng.below(2) as i32;
        for thread in 0..count {
            self.line(&format!("void work{thread}() {{"));
            self.depth += 1;
            self.thread(operations / (count + 1));
            self.depth -= 1;
            self.line("}");
        }
        self.line("void main() {");
        self.depth += 1;
        self.beside(50);
        for handle in 0..count {
            // Both threads may run one function.
            let function = if self.rng.chance(30) { 0 } else { handle };
            self.line(&format!("thread h{handle} = spawn work{function}();"));
            self.beside(60);
        }
        for handle in 0..count {
            match self.rng.below(4) {
                0 => self.line(&format!("if (choose(0, 1) == 1) join(h{handle});")),
                1 => {}
                _ => self.line(&format!("join(h{handle});")),
            }
            self.beside(50);
        }
        self.depth -= 1;
        self.line("}");
    }

    /// Threads of one place in the text.
    fn rounds(&mut self, operations: i32) {
        self.line("void main() {");
        self.depth += 1;
        self.beside(30);
        self.line("parfor (int i = 0; i < 2; i++) {");
        self.depth += 1;
        self.thread(operations / 2);
        self.depth -= 1;
        self.line("}");
        self.beside(30);
        self.depth -= 1;
        self.line("}");
    }

    fn thread(&mut self, operations: i32) {
        (self.budget, self.locals) = (operations.max(1), 0);
        while self.budget > 0 {
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.rng.weighted(&[40, 14, 12, 10, 5, 4, 4, 4, 3, 4]) {
            0 => self.access(),
            1 if !self.calls.is_empty() => {
                self.budget -= 2;
                let call = *self.rng.pick(&self.calls);
                // The scope of a result is its own.
                self.line(&format!("{{ {call} }}"));
            }
            2 => self.branch(),
            3 => self.section(),
            4 => {
                self.budget -= 2;
                let (one, two) = (self.place(), self.place());
                self.line(&format!("atomic {{ {one} = 1; {two} = {one}; }}"));
            }
            5 => {
                self.budget -= 1;
                let (place, bound) = (self.place(), self.number());
                self.line(&format!("assume({place} != {bound});"));
            }
            6 => {
                self.budget -= 1;
                let (place, bound) = (self.place(), self.number());
                self.line(&format!("assert({place} != {bound});"));
            }
            7 => {
                let what = *self.rng.pick(&["P(s);", "V(s);", "set(e);", "wait(e);", "clear(e);", "P(s);"]);
                self.budget -= 1;
                self.line(what);
            }
            8 => {
                self.budget -= 2;
                let place = self.place();
                self.line(&format!("for (int i = 0; i < 2; i++) {place} = i;"));
            }
            _ => {
                self.budget -= 1;
                let place = self.place();
                self.line(&format!("{place} = choose(0, 1);"));
            }
        }
    }

    fn access(&mut self) {
        self.budget -= 1;
        let (place, number) = (self.place(), self.number());
        match self.rng.weighted(&[34, 26, 10, 5, 5, 5, 15]) {
            0 => self.line(&format!("{place} = {number};")),
            1 => self.line(&format!("print({place});")),
            2 => self.line(&format!("{place} += 1;")),
            3 => self.line(&format!("cas({place}, {number}, 2);")),
            4 => self.line(&format!("swap({place}, {number});")),
            5 => self.line(&format!("fetch_add({place}, 1);")),
            _ => {
                let other = self.place();
                self.line(&format!("{place} = {other};"));
            }
        }
    }

    fn braces(&mut self, head: &str, most: usize) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for _ in 0..1 + self.rng.below(most) {
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
    }

    fn branch(&mut self) {
        self.budget -= 1;
        let (place, number) = (self.place(), self.number());
        let other = self.place();
        let condition = match self.rng.below(4) {
            0 => format!("{place} == {number} && {other} != 0"),
            1 => format!("{place} > {other}"),
            _ => format!("{place} == {number}"),
        };
        self.braces(&format!("if ({condition})"), 2);
        if self.rng.chance(40) {
            self.braces("else", 1);
        }
    }

    fn section(&mut self) {
        if self.held > 1 {
            return self.access();
        }
        // Two orders of the locks, and sometimes one of them twice.
        let lock = if self.held == 0 && self.rng.chance(70) { "L" } else { "M" };
        self.held += 1;
        self.braces(&format!("synchronized ({lock})"), 2);
        self.held -= 1;
    }
}
