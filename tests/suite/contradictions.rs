//! Why a selection is inconsistent: a cycle of orders is a proof.
//!
//! Wherever a cycle is given for selected terms, the naive explorer of `support` must have no execution that has all of them;
//! it is asked for selections that are consistent as well, for which no cycle may be found. `CSSAME_LAW_PROGRAMS` and
//! `CSSAME_LAW_SEED` run more programs, or others.

use cssame::form::Selection;
use cssame::form::contradiction::{Explanation, Ground, explain};
use cssame::form::{Form, definition_name, read_name};
use cssame::ir::{DefinitionId, LeafId, Program, ReadId};
use cssame::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use support::generate::{self, Size};
use support::oracle::{Options, Visible, explore_source};
use support::{first_seed, possible_model, programs};

/// A pseudo-random number generator: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ (value >> 31)) % limit
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A program of short threads with few branches, in which most things happen once, with all kinds of order.
fn straight_program(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = "int x = 1, y; lock L, M; event e; sem s = 0, m = 1; barrier b(2);\ncobegin\n".to_owned();
    let barrier = random.below(3) == 0;
    for thread in 0..2 + random.below(2) {
        let _ = write!(text, "T{thread}: {{ int a; ");
        for part in 0..1 + random.below(2) {
            if part == 1 && barrier && thread < 2 {
                text.push_str("barrier(b); ");
            }
            match random.below(9) {
                0 | 1 => {
                    let lock = random.pick(&["L", "L", "M"]);
                    let _ =
                        write!(text, "lock({lock}); {}{}unlock({lock}); ", access(&mut random), access(&mut random));
                }
                2 => {
                    let _ = write!(text, "atomic {{ {}{}}} ", access(&mut random), access(&mut random));
                }
                3 => {
                    let _ = write!(text, "P(m); {}{}V(m); ", access(&mut random), access(&mut random));
                }
                4 if thread == 0 => {
                    let _ = write!(text, "{}set(e); ", access(&mut random));
                }
                4 => {
                    let _ = write!(text, "wait(e); {}", access(&mut random));
                }
                5 if thread == 1 => {
                    let _ = write!(text, "{}V(s); ", access(&mut random));
                }
                5 => {
                    let _ = write!(text, "P(s); {}", access(&mut random));
                }
                6 => {
                    let (one, other) = (access(&mut random), access(&mut random));
                    let _ = write!(text, "if (x == {}) {{ {one}}} else {{ {other}}} ", random.below(2));
                }
                7 => {
                    let _ = write!(
                        text,
                        "cobegin N: {{ int a; {}}} M: {{ int a; {}}} coend ",
                        access(&mut random),
                        access(&mut random)
                    );
                }
                _ => {
                    text.push_str(&access(&mut random));
                    text.push_str(&access(&mut random));
                }
            }
        }
        text.push_str("}\n");
    }
    text.push_str("coend\nprint(x, y);\n");
    text
}

fn access(random: &mut Random) -> String {
    let (cell, value) = (random.pick(&["x", "y"]), random.below(3));
    match random.below(7) {
        0..=2 => format!("a = {cell}; "),
        3 | 4 => format!("{cell} = {value}; "),
        5 => format!("{cell} = {} + 1; ", random.pick(&["x", "y"])),
        _ => format!("a = fetch_add({cell}, 1); "),
    }
}

#[derive(Default, Debug)]
struct Tally {
    compared: u32,
    consistent: u32,
    without: u32,
    explained: u32,
}

type Pair = (ReadId, DefinitionId);

/// What each execution reads, by the naive explorer.
fn executions(text: &str, sources: &SourceMap, program: &Program, form: &Form) -> Option<BTreeSet<BTreeSet<Pair>>> {
    let leaves = form.concurrency.sharing.leaves.ones();
    let name = |leaf| program.texts.get(program.leaves[LeafId::new(leaf)].name).to_owned();
    let visible = Visible::Named(leaves.map(name).collect());
    let options = Options { visible, max_executions: 5_000, ..Options::default() };
    let explored = explore_source(text, &options).unwrap();
    let reads: BTreeMap<String, ReadId> = program.reads.ids().map(|id| (read_name(sources, program, id), id)).collect();
    let definitions: BTreeMap<String, DefinitionId> =
        program.definitions.ids().map(|id| (definition_name(sources, program, id), id)).collect();
    let pairs = |future: &support::oracle::Future| {
        future.reads.iter().map(|of| (reads[&of.read], definitions[&of.def])).collect::<BTreeSet<Pair>>()
    };
    explored.complete.then(|| explored.futures.iter().map(pairs).collect())
}

/// An explanation is well formed: the cycle is one, and nothing rests on what comes later.
fn assert_sound_form(explanation: &Explanation) {
    let Explanation::Cycle { orders, cycle, .. } = explanation else { return };
    assert!(!cycle.is_empty());
    for (index, &place) in cycle.iter().enumerate() {
        assert_eq!(orders[place].to, orders[cycle[(index + 1) % cycle.len()]].from);
    }
    for (place, order) in orders.iter().enumerate() {
        let path = match &order.ground {
            Ground::Given => continue,
            Ground::Read { path, .. } | Ground::Bodies { path, .. } => path,
        };
        assert!(path.iter().all(|&other| other < place));
        assert!(path.windows(2).all(|pair| orders[pair[0]].to == orders[pair[1]].from));
    }
}

fn check(text: &str, random: &mut Random, tally: &mut Tally) {
    let Some(model) = possible_model(text) else { return };
    let (sources, program, form) = (model.sources(), model.program(), model.form());
    let Some(executions) = executions(text, sources, program, form) else { return };
    tally.compared += 1;
    let terms: Vec<Pair> = form
        .shared_reads()
        .into_iter()
        .flat_map(|read| form.terms(read).into_iter().map(move |definition| (read, definition)))
        .collect();
    // All pairs of few terms, and as many of many.
    for _ in 0..60.min(terms.len() * terms.len()) {
        let mut one = || terms[random.below(terms.len() as u64) as usize];
        let mut selected = vec![one(), one(), one()];
        selected.truncate(1 + random.below(3) as usize);
        let selections: Vec<Selection> =
            selected.iter().map(|&(read, definition)| Selection::of(read, definition)).collect();
        let possible = executions.iter().any(|pairs| selected.iter().all(|pair| pairs.contains(pair)));
        let explanation = explain(program, form, &selections);
        assert_sound_form(&explanation);
        let explained = !matches!(explanation, Explanation::None(_));
        let names: Vec<String> = selected
            .iter()
            .map(|&(read, definition)| {
                format!("{}={}", read_name(sources, program, read), definition_name(sources, program, definition))
            })
            .collect();
        assert!(!(possible && explained), "{names:?} is possible: {explanation:?}\n{text}");
        match (possible, explained) {
            (true, _) => tally.consistent += 1,
            (false, true) => tally.explained += 1,
            (false, false) => tally.without += 1,
        }
    }
}

#[test]
fn no_execution_has_what_a_cycle_forbids() {
    let programs = programs(100);
    let first = first_seed(1);
    let (mut straight, mut whole) = (Tally::default(), Tally::default());
    for seed in first..first + programs {
        let mut random = Random(seed);
        check(&straight_program(seed), &mut random, &mut straight);
        let size = Size { threads: 2 + (seed % 2) as u32, operations: 4, globals: 2, structured: seed % 4 < 2 };
        check(&generate::program(seed, &size), &mut random, &mut whole);
    }
    println!("straight: {straight:?}\nwhole language: {whole:?}");
    assert!(
        support::has_new_seed() || u64::from(straight.compared) * 2 > programs && straight.consistent > 1_000,
        "{straight:?}"
    );
    // Many of the others wait for what nobody does, or are a matter of values.
    assert!(straight.explained * 3 > straight.without, "{straight:?}");
    assert!(support::has_new_seed() || whole.explained > 100, "{whole:?}");
}

/// Figure 7 of the CSSAME paper: `a` from the first thread with `b` from the second.
#[test]
fn figure_7_is_explained_by_a_cycle() {
    let output = Command::new(env!("CARGO_BIN_EXE_cssame"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["futures", "samples/cssame_fig7.csm", "--select", "a@25:9=a@15:5", "--select", "b@25:21=b@22:5", "-q"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let shown = text.split_once("\ncycle\n").map_or("", |(_, rest)| rest);
    let shown = shown.split_once("\noutcomes\n").map_or(shown, |(reason, _)| reason);
    let expected = "  with a@25:9=a@15:5, b@25:21=b@22:5, each would come before the next:
  16:5   T1: write b
           coherence (4)
  22:5   T2: write b
           program order
  23:5   T2: unlock L
           lock order (2)
  14:5   T1: lock L
           program order
  16:5   T1: write b
because
  (1) 21:5 write a before 15:5 write a: a@25:9 reads from a@15:5, and this write
      comes before the read
  (2) 23:5 unlock L before 14:5 lock L: 21:5 comes before 15:5, by (1), and both
      are in critical sections of L
  (3) 17:5 unlock L before 24:5 lock L: 15:5 comes before 25:21, and both are in
      critical sections of L
  (4) 16:5 write b before 22:5 write b: b@25:21 reads from b@22:5, and this
      write comes before the read, by (3)
";
    assert_eq!(shown, expected, "{text}");
    assert_eq!(output.status.code(), Some(1));
}
