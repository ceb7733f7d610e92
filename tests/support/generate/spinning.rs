//! Random programs that may run for ever: threads that wait in loops for each other, back off, serve, take locks that are free
//! at times, and block. Variables have few values, and nothing is printed: so there are few states. They are written as text.

use super::Rng;

/// The text of a random program.
pub fn spinning(seed: u64) -> String {
    Spinning { rng: Rng::new(seed.wrapping_mul(0x5e_1f_37)) }.program()
}

struct Spinning {
    rng: Rng,
}

impl Spinning {
    fn program(&mut self) -> String {
        let mut text = "int x, y;\nbool a, b;\nlock L, M;\nevent e;\nsem s = 1;\ncond c;\n".to_owned();
        if self.rng.chance(10) {
            text += "void swap() { if (a) b = !b; else x = 1 - x; }\nbool is_set() { return a; }\n";
        } else {
            text += "void swap() { a = b; }\nbool is_set() { return x == 1; }\n";
        }
        let threads = if self.rng.chance(25) { 3 } else { 2 };
        text += "void main() {\n";
        if self.rng.chance(15) {
            text += &format!("  {}\n", self.statement(0));
        }
        text += "  cobegin\n";
        for number in 1..=threads {
            let count = 1 + self.rng.below(if threads == 3 { 2 } else { 3 });
            let body: String = (0..count).map(|_| self.statement(0)).collect();
            text += &format!("    T{number}: {{ {body}}}\n");
        }
        text += "  coend\n";
        if self.rng.chance(10) {
            text += &format!("  {}\n", self.statement(0));
        }
        text + "}\n"
    }

    /// A condition on shared variables.
    fn test(&mut self) -> String {
        let tests = [
            "a",
            "!a",
            "b",
            "!b",
            "x == 0",
            "x == 1",
            "y == 0",
            "x == y",
            "a && b",
            "a || b",
            "!a && x == 1",
            "is_set()",
        ];
        (*self.rng.pick(&tests)).to_owned()
    }

    fn simple(&mut self) -> String {
        let all = [
            "x = 0; ",
            "x = 1; ",
            "y = 1; ",
            "x = 1 - x; ",
            "y = x; ",
            "a = true; ",
            "a = false; ",
            "b = true; ",
            "b = false; ",
            "a = !a; ",
            "a = b; ",
            "swap(); ",
            "set(e); ",
            "clear(e); ",
            "lock(L); unlock(L); ",
            "skip; ",
            "lock(L); notify(c); unlock(L); ",
            "lock(L); notifyAll(c); unlock(L); ",
        ];
        (*self.rng.pick(&all)).to_owned()
    }

    fn statement(&mut self, depth: u32) -> String {
        match self.rng.below(if depth < 2 { 20 } else { 10 }) {
            0..=5 => self.simple(),
            6 => format!("if ({}) {} ", self.test(), self.simple()),
            7 => (*self.rng.pick(&["wait(e); ", "P(s); ", "lock(L); ", "unlock(L); ", "barrier_of_none(); "]))
                .replace("barrier_of_none(); ", "lock(M); unlock(M); "),
            8 => format!("lock(L); {}unlock(L); ", self.simple()),
            9 => match self.rng.below(6) {
                0 => format!("assume({}); ", self.test()),
                1 => "x = choose(0, 1); ".to_owned(),
                2 => format!("assert({}); ", self.test()),
                3 => "P(s); y = 1; V(s); ".to_owned(),
                4 => format!("lock(L); while ({}) wait(c, L); unlock(L); ", self.test()),
                _ => "atomic { x = 1 - x; a = !b; } ".to_owned(),
            },
            10..=13 => format!("while ({}) {{ {}}} ", self.test(), self.some(depth)),
            14 => format!("while ({}) {{ }} ", self.test()),
            15 => format!("while (true) {{ {}}} ", self.some(depth)),
            16 => format!("while (true) {{ if ({}) break; {}}} ", self.test(), self.some(depth)),
            17 => format!("while (!cas(x, 0, 1)) {{ }} {}x = 0; ", self.simple()),
            18 => format!("while (!trylock(L)) {{ {}}} unlock(L); ", self.some(depth)),
            _ => match self.rng.below(3) {
                0 => format!("do {{ {}}} while ({}); ", self.some(depth), self.test()),
                1 => format!("lock(L); while ({}) timedwait(c, L); unlock(L); ", self.test()),
                _ => format!("while ({}) {{ lock(L); {}unlock(L); }} ", self.test(), self.simple()),
            },
        }
    }

    /// No statement, one or two.
    fn some(&mut self, depth: u32) -> String {
        let count = self.rng.below(3);
        (0..count).map(|_| self.statement(depth + 1)).collect()
    }
}
