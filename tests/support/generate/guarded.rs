//! Random programs in which flags and counters are kept under a lock.
//!
//! The bodies test what others have written, wait on a condition in a loop or without one, call functions, index a small
//! array by what they have read, and leave early. Some accesses stand outside of the lock, before, between and behind the
//! threads, or in their midst.

use super::Rng;

/// The text of a random program.
pub fn guarded(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let generator = Generator {
        has_array: rng.chance(40),
        has_condition: rng.chance(35),
        has_event: rng.chance(10),
        racy: if rng.chance(40) { 20 } else { 0 },
        lines: vec!["int a; int b = 1; bool f; bool g = true;".to_owned()],
        locals: Vec::new(),
        fresh: 0,
        depth: 0,
        functions: 0,
        rng,
    };
    generator.program()
}

struct Generator {
    rng: Rng,
    lines: Vec<String>,
    locals: Vec<String>,
    fresh: u32,
    depth: u32,
    functions: usize,
    has_array: bool,
    has_condition: bool,
    has_event: bool,
    /// The chance of an access outside of the lock, in percent.
    racy: u64,
}

impl Generator {
    fn line(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }

    fn program(mut self) -> String {
        let declarations = [
            (true, "lock L, M;"),
            (self.has_array, "int t[2];"),
            (self.has_condition, "cond c;"),
            (self.has_event, "event e;"),
        ];
        declarations.into_iter().filter(|one| one.0).for_each(|(_, text)| self.line(text));
        self.line("int under(int q) {");
        self.locals = vec!["q".to_owned()];
        self.statement(true);
        if self.rng.chance(50) {
            let test = self.test();
            self.line(&format!("if ({test}) return 0;"));
            self.statement(true);
        }
        self.line("return q; }");
        self.line("void whole(int q) { synchronized (L) {");
        self.locals.truncate(1);
        self.block(true, 2);
        self.line("} }");
        self.functions = 2;
        self.locals.clear();
        self.line("void main() {");
        if self.rng.chance(40) {
            self.access();
        }
        let parts = if self.rng.chance(15) { 2 } else { 1 };
        for _ in 0..parts {
            self.line("{");
            self.threads();
            self.line("}");
            if self.rng.chance(50) {
                self.access();
            }
        }
        self.line("print(a, f); }");
        self.lines.join("\n") + "\n"
    }

    fn threads(&mut self) {
        if self.rng.chance(12) {
            let limit = *self.rng.pick(&["2", "2", "limit"]);
            self.line("int limit = b + 1;");
            self.line(&format!("parfor (int w = 0; w < {limit}; w++) {{"));
            self.locals = vec!["w".to_owned()];
            self.statement(false);
            self.locals.clear();
            self.line("}");
            return;
        }
        self.line("cobegin");
        for thread in 1..=2 {
            self.line(&format!("T{thread}:"));
            let count = self.rng.range(1, 2);
            self.locals.clear();
            (0..count).for_each(|_| self.statement(false));
        }
        self.line("coend");
        self.locals.clear();
    }

    fn block(&mut self, inside: bool, most: i64) {
        let known = self.locals.len();
        for _ in 0..self.rng.range(1, most) {
            self.statement(inside);
        }
        self.locals.truncate(known);
    }

    fn statement(&mut self, inside: bool) {
        self.depth += 1;
        let is_deep = self.depth > 3;
        match self.rng.weighted(&[20, 8, 4, 4, 3, 2]) {
            0 if !inside && !is_deep => {
                self.line("synchronized (L) {");
                self.block(true, 3);
                self.line("}");
            }
            1 if !is_deep => {
                let test = self.test();
                self.line(&format!("if ({test}) {{"));
                self.block(inside, 2);
                self.line("}");
            }
            2 if inside && self.has_condition => {
                let (word, test) = (*self.rng.pick(&["while", "if", "if"]), self.test());
                self.line(&format!("{word} ({test}) wait(c, L);"));
            }
            3 if self.has_condition => {
                let call = *self.rng.pick(&["notify(c);", "notifyAll(c);"]);
                self.line(call);
            }
            4 if self.functions == 2 => {
                let call = *self.rng.pick(if inside { &["under(1);"] } else { &["whole(0);"] });
                self.line(call);
            }
            5 if self.has_event => {
                let call = *self.rng.pick(&["set(e);", "wait(e);"]);
                self.line(call);
            }
            _ if inside || self.rng.chance(self.racy) => self.access(),
            _ => {
                self.line("lock(L);");
                self.access();
                self.access();
                self.line("unlock(L);");
            }
        }
        self.depth -= 1;
    }

    fn access(&mut self) {
        let (variable, value) = (*self.rng.pick(&["a", "b"]), self.value());
        let (flag, truth) = (*self.rng.pick(&["f", "g"]), *self.rng.pick(&["true", "false", "!f", "a == b"]));
        let index = self.index();
        match self.rng.weighted(&[30, 25, 12, 6, 8, 12, 4]) {
            0 => self.line(&format!("{variable} = {value};")),
            1 => self.line(&format!("{flag} = {truth};")),
            2 if self.has_array => self.line(&format!("t[{index}] = {value};")),
            3 => self.line(&format!("fetch_add({variable}, 1);")),
            4 => {
                self.fresh += 1;
                let old = if self.rng.chance(50) { variable } else { "0" };
                self.line(&format!("bool s{} = cas({variable}, {old}, {value});", self.fresh));
            }
            5 => {
                self.fresh += 1;
                let name = format!("v{}", self.fresh);
                self.line(&format!("int {name} = {value};"));
                self.locals.push(name);
            }
            6 => self.line("assert(b >= 0);"),
            _ => self.line(&format!("print({variable});")),
        }
    }

    fn index(&mut self) -> String {
        match self.locals.last() {
            Some(local) if self.rng.chance(50) => format!("{local} & 1"),
            _ => (*self.rng.pick(&["0", "1", "a & 1"])).to_owned(),
        }
    }

    fn value(&mut self) -> String {
        let local = self.locals.last().cloned().unwrap_or_else(|| "1".to_owned());
        let element = if self.has_array { format!("t[{}]", self.index()) } else { "2".to_owned() };
        let values = ["0", "1", "2", "a", "b", "a + 1", "b - a"].map(str::to_owned);
        let all: Vec<String> = values.into_iter().chain([local, element]).collect();
        self.rng.pick(&all).clone()
    }

    fn test(&mut self) -> String {
        let value = self.value();
        let tests = ["f", "!f", "g", "!g", "f && !g", "a == b", "a > 0"].map(str::to_owned);
        let all: Vec<String> = tests.into_iter().chain([format!("{value} != 1")]).collect();
        self.rng.pick(&all).clone()
    }
}
