//! Compares verdicts with an oracle without threads: each order of the calls is written as a program of main alone.

use super::make::{Maker, PairRanks};
use super::program::TestProgram;
use super::subject::Subject;
use super::test::{Call, PostStep, TestCase};
use super::testing::unit;
use super::verdict::{Judge, SerialEnds, Verdict, ViolationKind};
use super::*;
use crate::linear::{CallEnd, CallOrders, calls};
use cssame_budget::Budget;
use cssame_explore::{OutcomeStatus, Query, futures};
use cssame_model::Model;
use cssame_schedule::Random;
use std::collections::BTreeSet;

const CLASSES: &[&str] = &[
    "class Counter { private lock guard; private int n; private int mine;
      public int next() { int m = n; n = m + 1; return m; }
      public void own() { mine = mine + 1; n = n + mine; }
      public int five() { return 5; }
      public int get() { synchronized (guard) { return n; } } }",
    "class Queue { private lock guard; private cond changed; private int n;
      public void put() { synchronized (guard) { n = n + 1; notify(changed); } }
      public int take() { if (n == 0) { synchronized (guard) { wait(changed, guard); } } n = n - 1; return n; }
      public bool poll() { synchronized (guard) { if (n == 0) return false; n = n - 1; return true; } } }",
    "class Buffer { private sem free = 1; private sem used; private int item;
      public void put(int x) { P(free); item = x; V(used); }
      public int take() { P(used); int x = item; V(free); return x; } }",
    "class Dice { private lock guard; private int n;
      public int roll() { synchronized (guard) { n = choose(1, 2); } return n; }
      public void add(int x) { assume(x < 5); n = n + x; }
      public int get() { return n; } }",
    "class Pair { private lock one; private lock two; private int x; private int y;
      public void both() { synchronized (one) { x = x + 1; synchronized (two) { y = y + 1; } } }
      public int other() { synchronized (two) { synchronized (one) { return x - y; } } }
      public void leak(bool b) { lock(one); if (b) return; unlock(one); } }",
    "class Node { private lock guard; private int n; private event ready;
      public void copy(Node other) { synchronized (guard) { n = other.get() + 1; } }
      public int get() { synchronized (guard) { return n; } }
      public void open() { set(ready); }
      public int pass() { wait(ready); n = n + 1; return n; } }",
];

/// What main, `a` and `b` print.
type Outputs = [Vec<String>; 3];

/// An order of calls without threads: how it ends, and what belongs to whom.
struct Alone<'a> {
    subject: &'a Subject<'a>,
    test: &'a TestCase,
}

impl Alone<'_> {
    fn statement(&self, who: &str, call: &Call) -> String {
        let text = call.source(self.subject);
        if self.subject.methods[call.method].result.is_some() {
            format!("print(\"{who}\", {text});\n")
        } else {
            format!("{text};\n")
        }
    }

    /// The ends of the calls in that order: whether all return, and what was printed until then.
    fn ends(&self, order: &[usize], with_post: bool) -> BTreeSet<(String, Outputs)> {
        let mut next = [0; 2];
        let mut body: String = self.test.prefix.iter().map(|call| self.statement("main", call)).collect();
        for &thread in order {
            let who = ["a", "b"][thread];
            body += &self.statement(who, &self.test.suffixes[thread][next[thread]]);
            next[thread] += 1;
        }
        for step in self.test.post.iter().filter(|_| with_post) {
            if let PostStep::Call(call) = step {
                body += &self.statement("main", call);
            }
        }
        let objects: String =
            self.subject.objects.iter().map(|object| format!("{} {};\n", object.class, object.name)).collect();
        let (file, _) = self.subject.file.with_main(&cssame_harness::MainText::default());
        let file = &file[..file.find("void main()").unwrap()];
        let text = format!("{file}{objects}void main() {{\n{body}}}");
        let model = Model::from_text("test.csm", &text, &Options::default()).unwrap();
        let answer = futures(model.machine(), &Query::default(), &Budget::unlimited());
        let end = |outcome: &cssame_explore::Outcome| {
            let mut outputs = Outputs::default();
            for line in outcome.outputs.iter().flat_map(|&(_, output)| answer.tables.lines(output)) {
                let (who, value) = line.split_once(' ').unwrap();
                outputs[["main", "a", "b"].iter().position(|known| *known == who).unwrap()].push(value.to_owned());
            }
            (outcome.status.word().to_owned(), outputs)
        };
        answer.outcomes.iter().map(end).collect()
    }
}

/// All orders of so many calls of each thread.
fn orders(counts: [usize; 2]) -> Vec<Vec<usize>> {
    if counts == [0, 0] {
        return vec![Vec::new()];
    }
    let last = (0..2).filter(|&thread| counts[thread] > 0);
    let shorter = last.flat_map(|thread| {
        let mut rest = counts;
        rest[thread] -= 1;
        orders(rest).into_iter().map(move |mut order| {
            order.push(thread);
            order
        })
    });
    shorter.collect()
}

fn outputs(end: &CallEnd) -> Outputs {
    ["main", "a", "b"].map(|thread| end.output_of(thread).to_vec())
}

/// Whether an order of the calls that have returned explains why the others wait.
fn explained(alone: &Alone<'_>, end: &CallEnd) -> bool {
    let done = end.done.map(|count| count as usize);
    orders(done).iter().any(|order| {
        let is_result = alone.ends(order, false).contains(&("ok".to_owned(), outputs(end)));
        let mut pending = (0..2).filter(|&thread| !end.ended[thread]);
        is_result
            && pending.all(|thread| {
                let more = [order.as_slice(), &[thread]].concat();
                alone.ends(&more, false).contains(&("deadlock".to_owned(), outputs(end)))
            })
    })
}

fn check(subject: &Subject<'_>, test: &TestCase) -> [usize; 3] {
    let program = TestProgram::new(subject, test, None, ("test.csm", &Options::default())).unwrap();
    let budget = Budget::unlimited();
    let Ok(own) = SerialEnds::new(&program, test, 100_000, &budget) else { return [0; 3] };
    let judge = Judge::new(own, None);
    let alone = Alone { subject, test };
    let counts = [test.suffixes[0].len(), test.suffixes[1].len()];
    let right: BTreeSet<Outputs> = orders(counts)
        .iter()
        .flat_map(|order| alone.ends(order, true))
        .filter(|(status, _)| status == "ok")
        .map(|(_, outputs)| outputs)
        .collect();
    let text = program.model.unit().text();
    let answer = calls(program.model.machine(), CallOrders::All, &program.cells, &budget);
    let mut seen = [0; 3];
    for end in &answer.ends {
        let verdict = judge.verdict(end);
        match end.status {
            OutcomeStatus::Ok => {
                let is_wrong = matches!(verdict, Verdict::Violation { kind: ViolationKind::NotLinearizable, .. });
                assert_eq!(is_wrong, !right.contains(&outputs(end)), "{text}\n{end:?}");
                seen[usize::from(is_wrong)] += 1;
            }
            OutcomeStatus::Deadlock if !end.is_joined() => {
                let is_wrong = matches!(verdict, Verdict::Violation { sequential: false, .. });
                let is_sequential = matches!(verdict, Verdict::Violation { sequential: true, .. });
                if !is_sequential {
                    assert_eq!(is_wrong, !explained(&alone, end), "{text}\n{end:?}");
                }
                seen[2] += 1;
            }
            _ => {}
        }
    }
    seen
}

#[test]
fn verdicts_agree_with_orders_of_calls_in_one_thread() {
    for class in CLASSES {
        let unit = unit(class);
        let file = Methods::new(&unit.sources, unit.file);
        let subjects = Subject::all(&file);
        let (universe, methods) = (Universe::of_library(&unit.program), PublicMethods::new(&unit.program));
        let request = Request::default();
        let makers = makers(&unit.program, &subjects, (&universe, &methods), &request, &[]).unwrap();
        let maker: &Maker<'_> = &makers[0];
        let mut seen = [0; 3];
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let test = maker.for_pair(&PairRanks::default(), &mut random).unwrap();
            for (sum, more) in seen.iter_mut().zip(check(&subjects[0], &test)) {
                *sum += more;
            }
        }
        assert!(seen[0] > 0 && seen.iter().sum::<usize>() > 20, "{class}: {seen:?}");
    }
}
