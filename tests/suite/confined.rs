//! Locals of recursive functions that count as private: no two threads ever use one in parallel, of which one writes.
//!
//! Random programs with recursion, forks and arrays that are handed on are executed with every access to memory as a step. Where two
//! accesses to one cell conflict and neither comes before the other by forks and joins, both must be steps of the program as it is
//! analysed. And both machines have the same outcomes. `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use cssame::budget::{Budget, Limits};
use cssame::explore::{Answer, Query, by_states};
use cssame::ir::{Access, Program, Storage};
use cssame::model::Model;
use cssame::schedule::{Clocks, Edges, Random, Stamp, run};
use cssame::vm::{Cell, CodeIndex, Event, Machine, Observer, ThreadName, Visibility};
use std::collections::{BTreeSet, HashMap};
use support::generate::Rng;
use support::{first_seed, model, possible_model, programs};

/// Steps of an execution at most.
const STEPS: u64 = 2_000;

fn statement(rng: &mut Rng, depth: usize) -> String {
    let nested = if depth == 0 { 16 } else { 12 };
    match rng.below(nested) {
        0 => "a = f(n - 1, q);".to_owned(),
        1 => "b = f(n - 1, p);".to_owned(),
        2 => format!("q[{}] = a;", rng.below(2)),
        3 => format!("p[{}] = n;", rng.below(2)),
        4 => format!("b = p[{}] + n;", rng.below(2)),
        5 => "a = b;".to_owned(),
        6 => "g = b;".to_owned(),
        7 => "b = g;".to_owned(),
        8 => ["h(p, q);", "h(q, q);", "h(q, t);"][rng.below(3)].to_owned(),
        9 => "n = n - 1;".to_owned(),
        10 => "{ thread w = spawn h(q, t); join(w); }".to_owned(),
        11 => "{ spawn h(t, p); }".to_owned(),
        12 | 13 => format!("cobegin C: {{ {} }} D: {{ {} }} coend", statement(rng, 1), statement(rng, 1)),
        14 => "parfor (int i = 0; i < 2; i++) { q[i] = n; }".to_owned(),
        _ => "parfor (int i = 0; i < n; i++) { g = b; }".to_owned(),
    }
}

fn statements(rng: &mut Rng) -> String {
    (0..1 + rng.below(2)).map(|_| statement(rng, 0) + " ").collect()
}

/// A recursion with what its threads share, or do not, and a thread beside it.
fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let (before, left, right, behind) =
        (statements(&mut rng), statements(&mut rng), statements(&mut rng), statements(&mut rng));
    let before = if rng.below(2) == 0 { before } else { String::new() };
    let beside = ["g = 1;", "print(f(1, t));", "{ int u[2]; u[1] = f(1, u); print(u[1]); }"][rng.below(3)];
    format!(
        "int g; int t[2];
         void h(int r[], int s[]) {{ r[0] = s[1]; s[0] = r[1] + 1; }}
         int f(int n, int p[]) {{ if (n < 1) return p[0];
           int a = n, b; int q[2]; {before}
           cobegin A: {{ {left} }} B: {{ {right} }} coend
           {behind} return a + b + q[0]; }}
         void main() {{ int u[2]; cobegin M: print(f({}, u)); N: {beside} coend print(g, u[0]); }}",
        1 + rng.below(2)
    )
}

/// Notes conflicts that forks and joins do not order.
struct Conflicts<'m> {
    clocks: Clocks<'m>,
    before: HashMap<Cell, Vec<(Stamp, Access)>>,
    found: BTreeSet<Access>,
    /// Those of locals.
    of_locals: BTreeSet<Access>,
    program: &'m Program,
}

impl Observer for Conflicts<'_> {
    fn enter(&mut self, thread: ThreadName, function: cssame::ir::FunctionId) {
        self.clocks.enter(thread, function);
    }

    fn leave(&mut self, thread: ThreadName) {
        self.clocks.leave(thread);
    }

    fn event(&mut self, thread: ThreadName, at: CodeIndex, event: Event) {
        self.clocks.event(thread, at, event);
        let (access, cell) = match event {
            Event::Read { read, cell, .. } => (Access::Read(read), cell),
            Event::Write { definition, cell, .. } => (Access::Write(definition), cell),
            _ => return,
        };
        let (stamp, clock) = (self.clocks.stamp(thread.path), self.clocks.clock(thread.path));
        let before = self.before.entry(cell).or_default();
        for &(other, earlier) in before.iter() {
            if (access.is_write() || earlier.is_write()) && !clock.knows(other) {
                self.found.extend([access, earlier]);
                if self.program.variables[cell.object.variable].storage != Storage::Global {
                    self.of_locals.extend([access, earlier]);
                }
            }
        }
        before.push((stamp, access));
    }
}

fn is_step(visible: &Visibility, access: Access) -> bool {
    match access {
        Access::Read(read) => visible.read(read),
        Access::Write(definition) => visible.definition(definition),
    }
}

/// The outcomes of a machine, as texts.
fn outcomes(model: &Model, machine: &Machine) -> Option<BTreeSet<String>> {
    let limits = Limits { max_states: Some(3_000), ..Limits::default() };
    let answer: Answer = by_states(machine, &Query::default(), &Budget::from(limits));
    let line = |outcome: &cssame::explore::Outcome| {
        let threads = outcome.outputs.iter().map(|&(path, output)| {
            let name = answer.tables.path_name(&model.program().texts, path);
            format!("{name}: {}", answer.tables.lines(output).join(" "))
        });
        format!("{:?} {}", outcome.status, threads.collect::<Vec<_>>().join("; "))
    };
    (answer.bound.is_none()).then(|| answer.outcomes.iter().map(line).collect())
}

#[test]
fn what_two_threads_use_in_parallel_is_a_step() {
    let programs = programs(20);
    let first = first_seed(1);
    let (mut parallel, mut of_locals, mut private, mut compared) = (0, 0, 0, 0);
    for seed in first..first + programs {
        let text = program(seed);
        let Some(model) = possible_model(&text) else { panic!("seed {seed}\n{text}") };
        let visible = model.machine().visibility();
        let whole = Machine::new(model.program(), &Visibility::all(model.program()));
        for execution in 0..10 {
            let mut conflicts = Conflicts {
                clocks: Clocks::new(&whole, Edges::ForksAndJoins),
                before: HashMap::new(),
                found: BTreeSet::new(),
                of_locals: BTreeSet::new(),
                program: model.program(),
            };
            run(&whole, &mut Random::new(execution), STEPS, &mut conflicts);
            for &access in &conflicts.found {
                assert!(is_step(visible, access), "seed {seed}: {access:?} is no step\n{text}");
            }
            parallel += conflicts.found.len();
            of_locals += conflicts.of_locals.len();
        }
        let all = Visibility::all(model.program());
        private += all.reads.count_ones(..) - visible.reads.count_ones(..);
        if let (Some(expected), Some(found)) = (outcomes(&model, &whole), outcomes(&model, model.machine())) {
            assert_eq!(found, expected, "seed {seed}\n{text}");
            compared += 1;
        }
    }
    println!(
        "{parallel} accesses in parallel, {of_locals} of them to locals, {private} reads that are no steps, {compared} programs compared"
    );
    assert!(support::has_new_seed() || of_locals as u64 > programs);
    let usual = parallel as u64 > 10 * programs && private as u64 > programs && compared * 10 >= programs;
    assert!(support::has_new_seed() || usual);
}

/// The variables of a program that it shares, by name, sorted.
fn shared(text: &str) -> Vec<String> {
    let model = model(text);
    let program = model.program();
    let leaves = model.form().concurrency.sharing.leaves.ones();
    let mut names: Vec<String> =
        leaves.map(|leaf| program.texts.get(program.leaves[cssame::ir::LeafId::new(leaf)].name).to_owned()).collect();
    names.sort();
    names
}

#[test]
fn each_activation_has_locals_of_its_own() {
    let recursion = |arms: &str, behind: &str| {
        format!(
            "int g; void h(int r[], int s[]) {{ r[0] = s[0]; }}
             int f(int n, int p[]) {{ if (n < 1) return 0; int a, b; int q[2];
               cobegin {arms} coend {behind} return a + b + q[0]; }}
             void main() {{ int u[2]; print(f(2, u)); }}"
        )
    };
    let none: [&str; 0] = [];
    // One arm writes each of them; what both read is written before.
    assert_eq!(shared(&recursion("A: a = f(n - 1, q); B: b = f(n - 2, p) + n;", "")), none);
    assert_eq!(shared(&recursion("A: a = n; B: b = a;", "")), ["a"]);
    assert_eq!(shared(&recursion("A: a = f(n - 1, q); B: q[1] = n;", "")), none);
    // What is handed on is read in one arm, and written in the other one.
    assert_eq!(shared(&recursion("A: a = f(n - 1, q); B: h(q, p);", "b = p[1];")), ["q"]);
    // Two names of one thing, a thread that is spawned, and one that is made beside others.
    assert_eq!(shared(&recursion("A: a = f(n - 1, p); B: b = 1;", "h(q, q);")), ["q"]);
    assert_eq!(shared(&recursion("A: a = f(n - 1, p); B: b = 1;", "spawn h(q, p);")), ["q", "u"]);
    assert_eq!(shared(&recursion("A: a = f(n - 1, p); B: b = 1;", "parfor (int i = 0; i < 2; i++) q[i] = n;")), ["q"]);
    assert_eq!(shared(&recursion("A: a = f(n - 1, p); B: b = 1;", "parfor (int i = 0; i < 2; i++) print(n);")), none);
}
