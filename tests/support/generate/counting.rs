//! Random programs of loops that count, or nearly do: over arrays of numbers, of locks and of handles, with first values,
//! steps and ends of all kinds; with exits in the middle, and with what one round leaves to the next. They are written as text.

use super::Rng;
use std::fmt::Write as _;

/// The text of a random program.
pub fn counting(seed: u64) -> String {
    Counting { rng: Rng::new(seed.wrapping_mul(0x2f_6b_35)), loops: 0 }.program()
}

/// A program in the making.
struct Counting {
    rng: Rng,
    loops: u32,
}

impl Counting {
    fn program(&mut self) -> String {
        let first = self.rng.below(2);
        let mut text = format!(
            "int x;\nint k = {first};\nint t[3];\nlock f[3];\nthread w[3];\nthread g;\nbarrier bar(2);\nevent go[2];\n"
        );
        text += "void put(int i) { t[i] = i + 1; }\n";
        text += "void add(int i) { lock(f[i]); t[i] += 1; unlock(f[i]); }\n";
        text += "void assign(int v[], int i) { v[i] = 6; }\n";
        text += "void one(int i, int j) { lock(f[i]); t[j]++; unlock(f[i]); }\n";
        text += "void two(int i) { lock(f[i]); lock(f[(i + 1) % 3]); x++; unlock(f[(i + 1) % 3]); unlock(f[i]); }\n";
        let work = self.statement("i", 1);
        let _ = writeln!(text, "void work(int i) {{ {work}}}");
        text += "void main() {\n";
        match self.rng.below(3) {
            0 => {
                let bodies =
                    if self.rng.chance(20) { [self.phases(0), self.phases(1)] } else { [self.arm(), self.arm()] };
                let [a, b] = bodies;
                let _ = write!(text, "  cobegin\n    A: {{ {a}}}\n    B: {{ {b}}}\n  coend\n");
            }
            1 => {
                let body = self.arm().replace('\n', " ");
                let _ = writeln!(text, "  parfor (int p = 0; p < 2; p++) {{ {body}}}");
            }
            _ => text += &self.spawns(),
        }
        for _ in 0..1 + self.rng.below(2) {
            let element = self.rng.below(3);
            text += *self.rng.pick(&["  x = 5;\n", "  t[0] = 6;\n", ""]);
            let _ = writeln!(text, "  print(x, t[{element}]);");
        }
        text + "}\n"
    }

    /// What one of two threads does that go on together, round by round.
    fn phases(&mut self, number: usize) -> String {
        let other = 1 - number;
        let write = *self.rng.pick(&["t[p] = 3; ", "t[(p + N) % 2] = 4; ", "t[N] = p; ", "x = p; ", ""]);
        let read = *self.rng.pick(&["print(t[p]); ", "print(t[M]); ", "print(x); ", "t[2] = t[(p + M) % 2]; "]);
        let meet = match self.rng.below(3) {
            0 | 1 => "barrier(bar); ",
            _ if number == 0 => "set(go[p]); ",
            _ => "wait(go[p]); ",
        };
        let start = if self.rng.chance(85) { "0" } else { "k" };
        let body = if self.rng.chance(70) { format!("{write}{meet}{read}") } else { format!("{read}{meet}{write}") };
        let body = body.replace('N', &number.to_string()).replace('M', &other.to_string());
        format!("for (int p = {start}; p < 2; p++) {{ {body}}} ")
    }

    /// Threads that loops make and join.
    fn spawns(&mut self) -> String {
        let count = 1 + self.rng.below(2);
        let handle = *self.rng.pick(&["w[i]", "w[i]", "w[2 - i]", "w[k]", "g", "h"]);
        let mut text = if handle == "h" { "  thread h;\n".to_owned() } else { String::new() };
        let between = self.rng.chance(15);
        let join =
            if between { format!("if (i > 0) {{ join({}); }} ", handle.replace('i', "i - 1")) } else { String::new() };
        let tail = if self.rng.chance(15) { format!(" join({handle});") } else { String::new() };
        let made = format!("{join}{handle} = spawn work(i);{tail}");
        let _ = writeln!(text, "  {}", self.around("i", count, &made));
        let statement = self.statement("1", 1);
        let _ = writeln!(text, "  {statement}");
        if self.rng.chance(85) {
            let joined = handle.replace('i', "j");
            let count = if self.rng.chance(80) { count } else { 1 };
            let _ = writeln!(text, "  {}", self.around("j", count, &format!("join({joined});")));
        }
        text
    }

    /// What a thread does.
    fn arm(&mut self) -> String {
        let mut text = String::new();
        if self.rng.chance(30) {
            text += &self.statement("0", 1);
        }
        text += &match self.rng.weighted(&[60, 15, 15, 10, 45]) {
            0 => {
                self.loops += 1;
                let name = format!("i{}", self.loops);
                let body = self.statement(&name, 1);
                self.around(&name, 2, &body)
            }
            1 => {
                // A lock that one round takes and a later one gives back.
                let taken = *self.rng.pick(&["i - 1", "i", "0"]);
                format!(
                    "bool got = false; for (int i = 0; i < 2; i++) {{ if (got) {{ t[i] = 3; unlock(f[{taken}]); }} \
                     got = trylock(f[{taken}]); }} if (got) {{ x = 4; }} "
                )
            }
            2 => {
                let body = self.statement("j", 1);
                format!("for (int i = 0; i < 2; i++) {{ for (int j = i; j < 2; j++) {{ {body}}} }} ")
            }
            4 => self.row(),
            _ => {
                let body = self.statement("i", 1);
                format!("int i; for (i = 0; i < 2; i++) {{ {body}}} t[i] = 8; for (i = 1; i < 2; i++) {{ {body}}} ")
            }
        };
        text
    }

    /// What a thread does with the lock of the row that it works on, or nearly.
    fn row(&mut self) -> String {
        let first = *self.rng.pick(&["choose(0, 1)", "choose(0, 1)", "k"]);
        let taken = *self.rng.pick(&["r", "r", "r", "r", "1 - r", "0", "s"]);
        let cell = *self.rng.pick(&["r", "r", "r", "r", "1 - r", "s"]);
        let access = *self.rng.pick(&["t[C]++; ", "t[C] = 4; ", "print(t[C]); ", "assign(t, C); ", "t[1] = 2; "]);
        let access = access.replace('C', cell);
        let between =
            *self.rng.pick(&["", "", "", "", "r = 1 - r; ", "unlock(f[L]); lock(f[L]); ", "if (k == 0) { r = 0; } "]);
        let inner =
            *self.rng.pick(&["", "", "", "lock(f[2]); unlock(f[2]); ", "add(2); ", "unlock(f[L]); lock(f[0]); "]);
        let body = format!("lock(f[L]); {between}{inner}{access}unlock(f[L]); ");
        let body = match self.rng.weighted(&[60, 15, 15, 10]) {
            0 => body,
            1 => format!("one(r, {cell}); "),
            2 => format!("synchronized (f[L]) {{ {between}{access}}} "),
            _ => format!("while (k < 1) {{ {body}k = 1; }} "),
        };
        format!("int r = {first}; int s = r; {}", body.replace('L', taken))
    }

    /// A loop around a body that uses a number below 3.
    fn around(&mut self, i: &str, count: usize, body: &str) -> String {
        let last = count - 1;
        let leave = match self.rng.weighted(&[82, 9, 9]) {
            0 => "",
            1 => "if (k == 1) { break; } ",
            _ => "if (k == 0) { continue; } ",
        };
        match self.rng.weighted(&[40, 12, 8, 10, 8, 6, 6, 5, 5]) {
            0 => format!("for (int {i} = 0; {i} < {count}; {i}++) {{ {leave}{body} }} "),
            1 => format!("for (int {i} = {last}; {i} >= 0; {i}--) {{ {leave}{body} }} "),
            2 => format!("for (int {i} = 0; {i} < 3; {i} += 2) {{ {leave}{body} }} "),
            3 => format!("int {i} = 0; while ({i} < {count}) {{ {body} {i}++; }} "),
            4 => format!("int {i} = 0; while ({i} < {count}) {{ {i}++; {body} }} "),
            5 => format!("int {i} = 0; do {{ {body} {i}++; }} while ({i} < {count}); "),
            6 => format!("for (int {i} = 0; {i} < k + 1; {i}++) {{ {body} }} "),
            7 => format!("int {i} = 0; while ({i} < {count}) {{ {body} if (k == 1) {{ {i} = {count}; }} {i}++; }} "),
            _ => format!(
                "for (int {i} = 0, last{i} = 1; {i} < {count}; {i}++) {{ {body} t[last{i}]++; last{i} = {i}; }} "
            ),
        }
    }

    fn index(&mut self, i: &str) -> String {
        match self.rng.weighted(&[60, 15, 10, 10, 5]) {
            0 => i.to_owned(),
            1 => format!("({i} + 1) % 3"),
            2 => format!("2 - {i}"),
            3 => self.rng.below(3).to_string(),
            _ => "k".to_owned(),
        }
    }

    fn statement(&mut self, i: &str, depth: u32) -> String {
        let index = self.index(i);
        match self.rng.weighted(&[20, 14, 14, 12, 14, 8, 6, 6, 6]) {
            0 => format!("t[{index}] = {}; ", self.rng.below(4)),
            1 => format!("print(t[{index}]); "),
            2 => format!("lock(f[{index}]); t[{}]++; unlock(f[{index}]); ", self.index(i)),
            3 => format!("put({index}); "),
            4 => format!("add({index}); "),
            5 => "x = 2; ".to_owned(),
            6 => format!("two({index}); "),
            7 => format!("if (trylock(f[{index}])) {{ t[{index}] = 9; unlock(f[{index}]); }} "),
            _ if depth > 0 => format!("if ({i} == 1) {{ {}}} ", self.statement(i, depth - 1)),
            _ => "print(x); ".to_owned(),
        }
    }
}
