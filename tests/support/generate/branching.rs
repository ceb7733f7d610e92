//! Programs whose branches other threads decide: for `paths`.
//!
//! Two or three threads with few operations each. Conditions read shared variables, at once or by way of locals,
//! functions and elements; branches are nested, stand in critical sections and in small loops. The threads wait for each
//! other in all ways that the language has. The text is made at once; names are fixed, so that programs are easy to read.

use super::rng::Rng;
use std::fmt::Write;

/// The text of a random program. About half of the threads' budget goes into operations on shared variables.
pub fn branching(seed: u64, threads: usize, operations: i32) -> String {
    let mut rng = Rng::new(seed);
    let count = if threads > 2 && rng.chance(30) { 3 } else { 2 };
    let spawned = rng.chance(12);
    let mut writer = Writer { rng, text: String::new(), depth: 0, budget: 0, locals: Vec::new(), names: 0, held: 0 };
    let meeting = Meeting::of(&mut writer.rng);
    writer.declarations(meeting);
    writer.functions();
    if spawned {
        writer.spawned(count, operations, meeting);
    } else {
        writer.cobegin(count, operations, meeting);
    }
    writer.text
}

/// How two of the threads wait for each other, beside locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    None,
    Bare,
    Cond,
    Event,
    Sem,
    Barrier,
}

impl Meeting {
    fn of(rng: &mut Rng) -> Meeting {
        use Meeting as M;
        [M::None, M::Bare, M::Cond, M::Event, M::Sem, M::Barrier][rng.weighted(&[46, 14, 14, 10, 8, 8])]
    }
}

struct Writer {
    rng: Rng,
    text: String,
    depth: usize,
    /// Operations that the thread may still have, about.
    budget: i32,
    /// Locals of the thread that are known here.
    locals: Vec<String>,
    names: u32,
    /// Locks that the thread holds here: L first, then M.
    held: u32,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let indent = 2 * self.depth;
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    fn number(&mut self) -> i64 {
        self.rng.range(-1, 2)
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn declarations(&mut self, meeting: Meeting) {
        for variable in ["x", "y", "z"] {
            let atomic = if self.rng.chance(6) { "atomic " } else { "" };
            let value = if self.rng.chance(50) { format!(" = {}", self.number()) } else { String::new() };
            self.line(&format!("{atomic}int {variable}{value};"));
        }
        self.line("int t[2];");
        self.line("lock L, M;");
        match meeting {
            Meeting::Cond => self.line("cond c;"),
            Meeting::Event => self.line("event e;"),
            Meeting::Sem => self.line("sem s;"),
            Meeting::Barrier => self.line("barrier b(2);"),
            Meeting::None | Meeting::Bare => {}
        }
    }

    fn functions(&mut self) {
        self.line("bool is_set(int v) { return x == v; }");
        self.line("int larger(int a, int b) { if (a > b) return a; return b; }");
        self.line("void put(int v) { if (v > 0) x = v; else y = v; }");
    }

    fn cobegin(&mut self, count: usize, operations: i32, meeting: Meeting) {
        if self.rng.chance(10) {
            let value = self.number();
            self.line(&format!("x = {value};"));
        }
        self.line("cobegin");
        for thread in 0..count {
            self.line(&format!("T{}:", thread + 1));
            self.depth += 1;
            self.body(thread, count, operations, meeting);
            self.depth -= 1;
        }
        self.line("coend");
        match self.rng.below(10) {
            0 => self.line("if (x == y) print(x);"),
            1 => self.line("assert(x < 2);"),
            _ => {}
        }
    }

    fn spawned(&mut self, count: usize, operations: i32, meeting: Meeting) {
        for thread in 0..count - 1 {
            self.line(&format!("void work{thread}(int v) {{"));
            self.depth += 1;
            self.locals = vec!["v".to_owned()];
            self.body(thread, count, operations, meeting);
            self.depth -= 1;
            self.line("}");
        }
        self.line("void main() {");
        self.depth += 1;
        for thread in 0..count - 1 {
            let value = self.rng.range(0, 1);
            self.line(&format!("thread w{thread} = spawn work{thread}({value});"));
        }
        self.body(count - 1, count, operations, meeting);
        if self.rng.chance(50) {
            self.line("join(w0);");
            self.budget = 1;
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
    }

    fn body(&mut self, thread: usize, count: usize, operations: i32, meeting: Meeting) {
        self.locals.retain(|local| local == "v");
        self.budget = if count == 2 { operations } else { (operations + 1) / 2 };
        let at = self.rng.range(0, i64::from(self.budget)) as i32;
        let first = if self.rng.chance(35) { self.rng.below(2) as i32 } else { -1 };
        if first == 0 {
            self.branch();
        }
        let mut met = meeting == Meeting::None || thread > 1;
        while self.budget > 0 || !met {
            if !met && self.budget <= at {
                self.meet(meeting, thread);
                met = true;
                continue;
            }
            if first == 1 && self.budget == operations - 1 {
                self.branch();
            } else {
                self.statement();
            }
        }
        self.locals.clear();
    }

    /// The thread's part of the meeting.
    fn meet(&mut self, meeting: Meeting, thread: usize) {
        let first = thread == 0;
        let value = self.rng.range(1, 2);
        self.budget -= 1;
        match (meeting, first) {
            (Meeting::Bare, true) if self.rng.chance(40) => self.line("if (x == 0) wait();"),
            (Meeting::Bare, true) => self.line("wait();"),
            (Meeting::Bare, false) => {
                let call = if self.rng.chance(50) { "notify();" } else { "notifyAll();" };
                self.line(call);
            }
            (Meeting::Cond, true) => {
                let test = if self.rng.chance(50) { "while" } else { "if" };
                self.line(&format!("synchronized (L) {{ {test} (x != {value}) wait(c, L); }}"));
            }
            (Meeting::Cond, false) => {
                let call = if self.rng.chance(50) { "notify(c)" } else { "notifyAll(c)" };
                self.line(&format!("synchronized (L) {{ x = {value}; {call}; }}"));
            }
            (Meeting::Event, true) if self.rng.chance(20) => self.line("wait(e); clear(e);"),
            (Meeting::Event, true) => self.line("wait(e);"),
            (Meeting::Event, false) => self.line("set(e);"),
            (Meeting::Sem, true) => self.line("P(s);"),
            (Meeting::Sem, false) => self.line("V(s);"),
            (Meeting::Barrier, _) => self.line("barrier(b);"),
            (Meeting::None, _) => {}
        }
    }

    /// A shared variable. An index may be one as well.
    fn place(&mut self) -> String {
        match self.rng.weighted(&[40, 30, 16, 8, 6]) {
            0 => "x".to_owned(),
            1 => "y".to_owned(),
            2 => "z".to_owned(),
            3 => format!("t[{}]", self.rng.below(2)),
            _ => {
                self.budget -= 1;
                "t[y & 1]".to_owned()
            }
        }
    }

    /// A value: it may read one shared variable.
    fn value(&mut self) -> String {
        let number = self.number();
        match self.rng.weighted(&[55, 15, 12, 12, 3, 3]) {
            1 if !self.locals.is_empty() => self.rng.pick(&self.locals).clone(),
            2 => {
                self.budget -= 1;
                self.place()
            }
            3 => {
                self.budget -= 1;
                format!("{} + 1", self.place())
            }
            4 => {
                self.budget -= 1;
                format!("larger({}, {number})", self.place())
            }
            5 => "choose(0, 1)".to_owned(),
            _ => number.to_string(),
        }
    }

    /// A condition, which reads one or two shared variables or a local.
    fn condition(&mut self) -> String {
        let number = self.number();
        let comparison = *self.rng.pick(&["==", "!=", "<", ">"]);
        if !self.locals.is_empty() && self.rng.chance(35) {
            let local = self.rng.pick(&self.locals).clone();
            return format!("{local} {comparison} {number}");
        }
        self.budget -= 1;
        let place = self.place();
        match self.rng.weighted(&[58, 8, 8, 8, 6, 6, 6]) {
            1 => {
                self.budget -= 1;
                format!("{place} {comparison} {}", self.place())
            }
            2 => {
                self.budget -= 1;
                format!("{place} {comparison} {number} && {} != 0", self.place())
            }
            3 => {
                self.budget -= 1;
                format!("!({place} {comparison} {number}) || {} > 0", self.place())
            }
            4 => format!("is_set({number})"),
            5 => {
                let call = *self.rng.pick(&["cas(x, 0, 1)", "swap(y, 1) == 0", "fetch_add(x, 1) > 0"]);
                call.to_owned()
            }
            6 => format!("({place} > 0 ? y : z) {comparison} {number}"),
            _ => format!("{place} {comparison} {number}"),
        }
    }

    fn statement(&mut self) {
        let weights = [26, 8, 12, 30, if self.held < 2 { 12 } else { 0 }, 5, 3, 2, 2, 3, 2];
        match self.rng.weighted(&weights) {
            1 => {
                self.budget -= 2;
                let place = self.place();
                let by = *self.rng.pick(&["++", " += 2", "--"]);
                self.line(&format!("{place}{by};"));
            }
            2 => {
                self.budget -= 1;
                let (name, place) = (self.fresh(), self.place());
                let more = if self.rng.chance(25) { format!(" + {}", self.value()) } else { String::new() };
                self.line(&format!("int {name} = {place}{more};"));
                self.locals.push(name);
            }
            3 => self.branch(),
            4 => self.section(),
            5 => self.small_loop(),
            6 => {
                let (name, value) = (self.fresh(), self.rng.range(0, 1));
                self.line(&format!("int {name} = choose({}, 1);", value - 1));
                self.locals.push(name);
            }
            7 => {
                self.budget -= 1;
                let value = self.value();
                self.line(&format!("put({value});"));
            }
            8 => {
                self.budget -= 2;
                let (place, value) = (self.place(), self.value());
                self.line(&format!("atomic {{ if ({place} > 0) y = {value}; z = 1; }}"));
            }
            9 => {
                let condition = self.condition();
                let check = *self.rng.pick(&["assert", "assume", "assert", "print"]);
                self.line(&format!("{check}({condition});"));
            }
            10 => {
                let condition = self.condition();
                let name = self.fresh();
                self.line(&format!("int {name} = {condition} ? 1 : 0;"));
                self.locals.push(name);
            }
            _ => {
                self.budget -= 1;
                let (place, value) = (self.place(), self.value());
                self.line(&format!("{place} = {value};"));
            }
        }
    }

    fn braces(&mut self, head: &str, most: usize) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        let known = self.locals.len();
        for _ in 0..1 + self.rng.below(most) {
            self.statement();
        }
        self.locals.truncate(known);
        self.depth -= 1;
        self.line("}");
    }

    fn branch(&mut self) {
        let condition = self.condition();
        if self.budget <= 0 && self.rng.chance(70) {
            return self.line(&format!("if ({condition}) skip;"));
        }
        self.braces(&format!("if ({condition})"), 2);
        if self.rng.chance(40) {
            self.braces("else", 1);
        }
    }

    fn section(&mut self) {
        let lock = if self.held == 0 && self.rng.chance(80) { "L" } else { "M" };
        let held = self.held;
        self.held = if lock == "L" { 1 } else { 2 };
        self.braces(&format!("synchronized ({lock})"), 2);
        self.held = held;
    }

    /// A loop with two rounds at most.
    fn small_loop(&mut self) {
        let counter = self.fresh();
        let head = if self.rng.chance(50) {
            format!("for (int {counter} = 0; {counter} < 2; {counter}++)")
        } else {
            let condition = self.condition();
            let place = if condition.contains("||") { format!("({condition})") } else { condition };
            format!("for (int {counter} = 0; {counter} < 2 && {place}; {counter}++)")
        };
        self.budget -= 1;
        self.braces(&head, 1);
        self.budget -= 1;
    }
}
