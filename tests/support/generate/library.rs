//! Small classes, and tests of them: for coverage of libraries and for linearizability.
//!
//! A class has up to three fields and two to four public methods of a few accesses each, some of them in a section of a
//! lock or atomic, with branches, results, waits. Its tests have a prefix, two suffixes and a part behind.

use super::rng::Rng;
use std::fmt::Write;

/// A class, and how its methods are called.
#[derive(Clone, Debug)]
pub struct Library {
    pub text: String,
    /// `put(2)`; `$` stands for a number.
    pub calls: Vec<String>,
    /// Those that have a result.
    pub tells: Vec<String>,
}

/// The parts of a test: objects, prefix, two suffixes, what comes behind.
#[derive(Clone, Debug)]
pub struct Parts {
    pub objects: Vec<String>,
    pub prefix: Vec<String>,
    pub suffixes: [Vec<String>; 2],
    pub post: Vec<String>,
}

/// A random class `A`.
pub fn library(seed: u64) -> Library {
    let mut rng = Rng::new(seed ^ 0x11b4a4);
    let mut writer = Writer { fields: Vec::new(), monitor: rng.chance(15), calls: Vec::new(), tells: Vec::new(), rng };
    let text = writer.class();
    Library { text, calls: writer.calls, tells: writer.tells }
}

impl Library {
    /// A random program that uses it: threads of a cobegin or of spawns, one of two objects or both.
    pub fn client(&self, seed: u64) -> String {
        let mut rng = Rng::new(seed ^ 0xc11e47);
        let mut text = format!("{}A o, p;\n", self.text);
        let mut calls = |most: usize| -> String {
            let count = 1 + rng.below(most);
            let call = |_| {
                let (object, other) = (*rng.pick(&["o", "o", "o", "p"]), *rng.pick(&["o", "p"]));
                let call = rng.pick(&self.calls).replacen('$', &rng.range(-1, 2).to_string(), 1).replace('@', other);
                if rng.chance(10) { format!("{{ spawn {object}.{call}; }} ") } else { format!("{object}.{call}; ") }
            };
            (0..count).map(call).collect()
        };
        let (before, beside, behind) = (calls(1), calls(1), calls(1));
        let threads: Vec<String> = (0..3).map(|_| calls(2)).collect();
        let count = 2 + rng.below(2) * rng.below(2);
        if rng.chance(60) {
            let _ = writeln!(text, "void main() {{\n  {before}\n  cobegin");
            for (number, body) in threads.iter().take(count).enumerate() {
                let _ = writeln!(text, "    T{number}: {{ {body}}}");
            }
            let _ = writeln!(text, "  coend\n  {behind}\n}}");
        } else {
            let _ = writeln!(text, "void work() {{ {} }}", threads[0]);
            let _ = writeln!(text, "void main() {{\n  {before}\n  thread h = spawn work();\n  {beside}");
            let _ = writeln!(text, "  join(h);\n  {behind}\n}}");
        }
        text
    }

    /// A random test of it.
    pub fn test(&self, seed: u64) -> Parts {
        let mut rng = Rng::new(seed ^ 0x7e57);
        let two = rng.chance(20);
        let mut calls = |most: usize, from: &[String]| -> Vec<String> {
            let count = rng.below(most + 1);
            let mut list = Vec::new();
            for _ in 0..count {
                let object = if two && rng.chance(30) { "p" } else { "o" };
                let call = rng.pick(from).replacen('$', &rng.range(-1, 2).to_string(), 1);
                list.push(format!("{object}.{}", call.replace('@', if two { "p" } else { "o" })));
            }
            list
        };
        let (prefix, mut a, mut b) = (calls(2, &self.calls), calls(2, &self.calls), calls(2, &self.calls));
        for suffix in [&mut a, &mut b] {
            if suffix.is_empty() {
                suffix.extend(calls(1, &self.calls));
            }
        }
        let post = if self.tells.is_empty() { Vec::new() } else { calls(2, &self.tells) };
        let objects = if two { vec!["A o".to_owned(), "A p".to_owned()] } else { vec!["A o".to_owned()] };
        Parts { objects, prefix, suffixes: [a, b], post }
    }
}

struct Writer {
    rng: Rng,
    fields: Vec<String>,
    /// Whether methods wait for each other.
    monitor: bool,
    calls: Vec<String>,
    tells: Vec<String>,
}

impl Writer {
    fn class(&mut self) -> String {
        let mut text = "class A {\n".to_owned();
        for field in ["f", "g", "h"].iter().take(1 + self.rng.weighted(&[45, 40, 15])) {
            let value = if self.rng.chance(30) { " = 1" } else { "" };
            let _ = writeln!(text, "  private int {field}{value};");
            self.fields.push((*field).to_owned());
        }
        if self.rng.chance(12) {
            text = format!("int w;\n{text}");
            self.fields.push("w".to_owned());
            if self.rng.chance(40) {
                text = format!("int next(int n) {{ w = w + n; return w; }}\n{text}");
            }
        }
        if self.rng.chance(15) {
            text += "  private int t[2];\n";
            self.fields.extend(["t[0]", "t[1]"].map(str::to_owned));
        }
        text += "  private lock L, M;\n  private cond c;\n  private sem s = 1;\n  private event e;\n";
        if self.rng.chance(20) {
            let field = self.field();
            let _ = writeln!(text, "  private int hidden() {{ {field} += 1; return {field}; }}");
            if self.rng.chance(50) {
                self.fields.push("hidden()".to_owned());
            } else if self.rng.chance(50) {
                text += "  private void unused() { int n = hidden(); }\n";
            }
        }
        for number in 0..2 + self.rng.below(3) {
            text += &self.method(number);
        }
        if self.monitor {
            let field = self.fields[0].clone();
            let test = if self.rng.chance(60) { "while" } else { "if" };
            let _ = write!(
                text,
                "  public int take() {{ synchronized (L) {{ {test} ({field} <= 0) wait(c, L); {field}--; return {field}; }} }}\n  \
                 public void give() {{ synchronized (L) {{ {field}++; notify(c); }} }}\n"
            );
            self.calls.extend(["take()", "give()"].map(str::to_owned));
        }
        text + "}\n"
    }

    /// Something to read.
    fn field(&mut self) -> String {
        self.rng.pick(&self.fields).clone()
    }

    /// Something to write.
    fn target(&mut self) -> String {
        let targets: Vec<String> = self.fields.iter().filter(|field| !field.ends_with(')')).cloned().collect();
        self.rng.pick(&targets).clone()
    }

    fn method(&mut self, number: usize) -> String {
        let (result, parameter) = (self.rng.chance(55), self.rng.chance(40));
        let other = !parameter && self.rng.chance(15);
        let given = if other {
            "A o"
        } else if parameter {
            "int n"
        } else {
            ""
        };
        let section = self.rng.weighted(&[42, 38, 8, 6, 6]);
        let mut body = String::new();
        for _ in 0..1 + self.rng.weighted(&[50, 40, 10]) {
            body += &self.statement(parameter, other, result && section != 3);
            if matches!(section, 1 | 2) && self.rng.chance(12) {
                // The section is left for a while.
                body += *self.rng.pick(&["wait(c, L); ", "unlock(L); lock(L); ", "notify(c); "]);
            }
        }
        if result && section != 3 {
            let value = self.value(parameter, other);
            let _ = write!(body, "return {value}; ");
        }
        let blocks = ["choose", "synchronized", "lock(", "wait(", "P("].iter().any(|word| body.contains(word));
        let body = match section {
            1 => format!("synchronized (L) {{ {body}}} "),
            2 => format!("synchronized (M) {{ synchronized (L) {{ {body}}} }} "),
            3 if !blocks => format!("atomic {{ {body}}} "),
            4 if other => format!("synchronized (o.L) {{ {body}}} "),
            _ => body,
        };
        let body = if result && section == 3 { format!("{body}return 1; ") } else { body };
        let argument = if other {
            "@"
        } else if parameter {
            "$"
        } else {
            ""
        };
        let call = format!("m{number}({argument})");
        if result {
            self.tells.push(call.clone());
        }
        self.calls.push(call);
        format!("  public {} m{number}({given}) {{ {body}}}\n", if result { "int" } else { "void" })
    }

    fn value(&mut self, parameter: bool, other: bool) -> String {
        let field = self.field();
        match self.rng.weighted(&[40, 20, 10, 10, 6]) {
            1 if parameter => "n".to_owned(),
            2 => format!("{field} + 1"),
            3 => format!("{field} * 2 + {}", self.field()),
            4 if other && field != "w" => format!("o.{field}"),
            _ => field,
        }
    }

    fn statement(&mut self, parameter: bool, other: bool, result: bool) -> String {
        let (mut target, value) = (self.target(), self.value(parameter, other));
        if other && target != "w" && self.rng.chance(30) {
            target = format!("o.{target}");
        }
        match self.rng.weighted(&[36, 14, 16, 8, 5, 5, 4, 4, 4, 4, 3, 3, 2]) {
            9 => format!("if ({target} != 0) {{ {target} = 4 / {target}; }} "),
            10 => format!("P(s); {target} = {value}; V(s); "),
            11 => format!("if ({target} == 0) {{ lock(M); {target} = 1; }} else {{ unlock(M); {target} = 0; }} "),
            12 if self.fields.iter().any(|field| field == "t[0]") => {
                format!("if (f >= 0 && f < 2) {{ t[f] = {value}; }} ")
            }
            12 => (*self.rng.pick(&["wait(e); ", "set(e); ", "set(e); clear(e); "])).to_owned(),
            1 => format!("{target} += 1; "),
            2 => {
                let (inner, field) = (self.target(), self.field());
                let number = self.rng.range(0, 1);
                if result && self.rng.chance(40) {
                    format!("if ({field} == {number}) return {value}; ")
                } else {
                    format!("if ({field} > {number}) {inner} = {value}; ")
                }
            }
            3 => format!("synchronized (M) {{ {target} = {value}; }} "),
            4 => format!("fetch_add({target}, 1); "),
            5 => format!("if ({target} != 0) {{ assert({target} != 0); }} "),
            6 => format!("{target} = choose(0, 1); "),
            7 => format!("{target} = 4 / ({value} + 1); "),
            8 => format!("cas({target}, 0, 2); "),
            _ => format!("{target} = {value}; "),
        }
    }
}
