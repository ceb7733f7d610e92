//! Random programs with rows of an array that have locks of their own.
//!
//! Two threads compute indices, take the lock of a row and touch a row, mostly that one: by the index, by an expression that is the
//! same, in a function or behind a reference. Now and then the index changes in between, or the lock is that of the other row.

use super::Rng;

/// The text of a random program.
pub fn rows(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let wrong = if rng.chance(50) { 25 } else { 0 };
    let mut text = "class Shard { lock guard; int data; int items[2]; int head; }\n\
         Shard shards[2]; lock guards[2]; int table[2]; int other;\n\
         void touch(int i) { shards[i].data++; table[i] = 1; }\n\
         void meant(int j) { int i = j & 1; shards[i].data++; }\n\
         void turn(int i) { i = i ^ 1; shards[i].data++; }\n\
         void reach(Shard s) { s.data++; }\n\
         void enter(int i) { lock(shards[i].guard); }\n\
         void leave(int i) { unlock(shards[i].guard); }\n\
         int same(int i) { return i; }\n"
        .to_owned();
    for name in ["first", "second"] {
        let body = Body { rng: &mut rng, wrong, depth: 0 }.text();
        text += &format!("void {name}(int k) {{ {body}}}\n");
    }
    let number = |rng: &mut Rng| (*rng.pick(&["choose(0, 1)", "choose(0, 1)", "0", "1"])).to_owned();
    let (a, b) = (number(&mut rng), number(&mut rng));
    text + &format!("cobegin\n  A: first({a});\n  B: second({b});\ncoend\n")
}

struct Body<'a> {
    rng: &'a mut Rng,
    /// The chance that something is not as it should be, in percent.
    wrong: u64,
    depth: u32,
}

/// How `h`, which is `k & 1` as long as nothing changes, may be written.
const ROWS: [&str; 5] = ["h", "h", "k & 1", "g", "same(h)"];
const OTHERS: [&str; 4] = ["h ^ 1", "1 - h", "(k + 1) & 1", "0"];
const CHANGES: [&str; 5] = ["h = h ^ 1;", "k = k + 1;", "g = 1 - g;", "h = other & 1;", "h = k & 1;"];

impl Body<'_> {
    fn text(mut self) -> String {
        let mut text = "int h = k & 1; int g = h; ".to_owned();
        for _ in 0..self.rng.range(1, 2) {
            text += &self.statement();
        }
        text
    }

    fn index(&mut self) -> &'static str {
        let is_wrong = self.rng.chance(self.wrong);
        let list: &[&'static str] = if is_wrong { &OTHERS } else { &ROWS };
        self.rng.pick::<&str>(list)
    }

    fn change(&mut self) -> &'static str {
        if self.rng.chance(self.wrong) { self.rng.pick::<&'static str>(&CHANGES) } else { "" }
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        let text = match self.rng.weighted(&[12, 2, 2, 1]) {
            1 if self.depth < 3 => format!("for (int i = 0; i < 2; i++) {{ {}{} }} ", self.statement(), self.change()),
            2 if self.depth < 3 => {
                format!("if ({} == 0) {{ {} }} else {{ {} }} ", self.index(), self.statement(), self.statement())
            }
            3 if self.wrong > 0 => self.change().to_owned(),
            _ => self.locked(),
        };
        self.depth -= 1;
        text
    }

    fn locked(&mut self) -> String {
        let lock = *self.rng.pick(&["shards[#].guard", "shards[#].guard", "guards[#]"]);
        let (taken, given) = (self.index(), self.index());
        let accesses: Vec<String> = (0..self.rng.range(1, 2)).map(|_| self.access(lock)).collect();
        let (before, behind) = (self.change(), self.change());
        let inside = format!("{before} {} {behind}", accesses.join(" "));
        let of = |index: &str| lock.replace('#', index);
        match self.rng.below(6) {
            0 => format!("synchronized ({}) {{ {inside} }} ", of(taken)),
            1 if lock.starts_with("shards") => format!("enter({taken}); {inside} leave({given}); "),
            2 => format!("lock({}); for (int j = 0; j < 2; j++) {{ {inside} }} unlock({}); ", of(taken), of(given)),
            3 => format!(
                "if (k == 0) {{ lock({0}); }} else {{ lock({0}); }} {inside} unlock({1}); ",
                of(taken),
                of(given)
            ),
            _ => format!("lock({}); {inside} unlock({}); ", of(taken), of(given)),
        }
    }

    /// An access to a row; what the lock belongs to, or another array of as many rows.
    fn access(&mut self, lock: &str) -> String {
        let index = self.index();
        let statement = match (lock.starts_with("shards"), self.rng.below(8)) {
            (true, 0) => "touch(#);",
            (true, 1) => "meant(#);",
            (true, 2) => "reach(shards[#]);",
            (true, 3) => "shards[#].items[shards[#].head] = 1;",
            (true, 4) => "shards[#].head = 1 - shards[#].head;",
            (true, 5) if self.wrong > 0 => "turn(#);",
            (true, _) => "shards[#].data++;",
            (false, 0) => "shards[#].data++;",
            (false, _) => "table[#]++;",
        };
        let statement = statement.replace('#', index);
        if self.rng.chance(20) { format!("if (k < 1) {{ {statement} }}") } else { statement }
    }
}
