//! A changed program fails its tests: one lock is deleted from the Java text of a sample, as by hand.

use super::batch::Batch;
use super::package;
use cssame::driver::{Expect, Target};
use std::path::PathBuf;

/// A lock of a sample: its file, the lines of it that stand behind a first one, and the statement that takes it.
type Taken = (&'static str, &'static str, &'static str, &'static str);

/// By their kinds. Waits for conditions and events are there as well: they order threads as locks do.
const LOCKS: &[Taken] = &[
    // Monitors.
    ("cssame_fig2", "Program.java", "static void T1() {", "synchronized (L) {"),
    ("nested_threads", "Program.java", "static void left(", "synchronized (L) {"),
    ("setiadi_fig13", "Program.java", "static void T1() {", "synchronized (a) {"),
    // A monitor in each object.
    ("counter_class", "Counter.java", "boolean add()", "synchronized (this.guard) {"),
    ("state_machine", "Connection.java", "void ask()", "synchronized (this.guard) {"),
    // Explicit locks: of a parameter, of an element, one that conditions need.
    ("bank_transfer", "Program.java", "static void transfer(", "from.guard.lock();"),
    ("dining_philosophers", "Program.java", "static void eat(", "left.lock();"),
    ("philosophers_table", "Program.java", "static void parfor_10(", "fork[i].lock();"),
    ("bounded_buffer", "Program.java", "static void put(", "L.lock();"),
    ("trylock_backoff", "Program.java", "static void T2()", "boolean verdict1 = first.tryLock();"),
    // Locks for readers and writers.
    ("rwlock_table", "Program.java", "static void read()", "table.readLock();"),
    ("rwlock_table", "Program.java", "static void W()", "table.writeLock();"),
    // Semaphores.
    ("bounded_buffer_sem", "Program.java", "static void put(", "room.acquireUninterruptibly();"),
    ("rendezvous", "Program.java", "static void T1()", "b_done.acquireUninterruptibly();"),
    // What else orders threads.
    ("lost_notify_cond", "Program.java", "static void T1()", "c.leave(waiter1);"),
    ("timed_wait", "Program.java", "static void T1()", "boolean verdict1 = c.leaveTimed(waiter1);"),
    ("pipeline", "Program.java", "static void middle()", "read_done.await();"),
];

const BARRIER: Taken = ("barrier_phases", "Program.java", "static void work(", "phase.awaitAdvance(phase1);");

const ATOMIC: Taken = ("counter_atomic", "Program.java", "static void", "synchronized (Program.ATOMIC) {");

/// What is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deleted {
    /// The statement that takes the lock, and no more.
    Taking,
    /// That, and those that give it back.
    Pair,
    /// These, and the lines around them that hold the thread to the plan.
    PairAndHooks,
}

/// The text without a lock: its lines are empty, so that the others keep their numbers.
fn without(text: &str, (_, _, behind, taking): Taken, deleted: Deleted) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let from = |lines: &[String], first: usize, found: &dyn Fn(&str) -> bool| {
        lines[first..].iter().position(|line| found(line)).map(|number| first + number)
    };
    let method = from(&lines, 0, &|line| line.contains(behind)).unwrap_or_else(|| panic!("{behind}: {text}"));
    let at = from(&lines, method, &|line| line.trim() == taking).unwrap_or_else(|| panic!("{taking}: {text}"));
    let mut gone = Vec::new();
    if taking.ends_with('{') {
        let indent = lines[at].len() - lines[at].trim_start().len();
        let close = format!("{}}}", " ".repeat(indent));
        let end = from(&lines, at, &|line| line == close).unwrap();
        lines[at] = format!("{}{{", " ".repeat(indent));
        if deleted != Deleted::Taking {
            gone.extend([at, end]);
        }
    } else if let Some((verdict, _)) = taking.strip_prefix("boolean ").and_then(|rest| rest.split_once(" = ")) {
        lines[at] = format!("boolean {verdict} = true;");
    } else {
        gone.push(at);
        let object = taking.rsplit_once('.').unwrap().0;
        let returns = [format!("{object}.unlock();"), format!("{object}.release();")];
        let end = from(&lines, at, &|line| line.starts_with("    }")).unwrap();
        let unlocks = (at..end).filter(|&number| returns.iter().any(|text| lines[number].trim() == text));
        if deleted != Deleted::Taking {
            gone.extend(unlocks);
        }
    }
    if deleted == Deleted::PairAndHooks {
        gone.push(at);
        let hooks: Vec<usize> = gone.iter().flat_map(|&line| hooks_around(&lines, line)).collect();
        gone.extend(hooks.into_iter().filter(|&number| number != at));
        gone.retain(|&number| number != at || !lines[at].contains("boolean "));
    }
    gone.into_iter().for_each(|number| lines[number].clear());
    lines.join("\n") + "\n"
}

/// The lines that hold the thread to the plan before and behind a statement; those of the end of a block stand before its brace.
fn hooks_around(lines: &[String], at: usize) -> Vec<usize> {
    let is_hook = |number: &usize| lines[*number].trim().starts_with("Order.");
    if lines[at].trim() == "}" { vec![at - 2, at - 1] } else { vec![at - 1, at + 1] }
        .into_iter()
        .filter(is_hook)
        .collect()
}

/// Whether a message has a place, such as `a@20:5`.
fn names_a_place(message: &str) -> bool {
    message.split('@').skip(1).any(|behind| {
        let is_number =
            |text: Option<&str>| text.is_some_and(|text| text.starts_with(|first: char| first.is_ascii_digit()));
        let mut parts = behind.splitn(2, ':');
        is_number(parts.next()) && is_number(parts.next())
    })
}

/// Deletes locks from packages of a target, and runs what is left.
fn fails_without(target: Target, folder: &str, changes: &[(Taken, Deleted)]) {
    let mut batch = Batch::new(folder);
    let mut members = Vec::new();
    for (number, &(taken, deleted)) in changes.iter().enumerate() {
        let (name, file, ..) = taken;
        let text = std::fs::read_to_string(support::root().join(format!("samples/{name}.csm"))).unwrap();
        let mut package = package(target, name, &text, Expect::Recorded).unwrap();
        let path = PathBuf::from(format!("src/main/java/drive_{name}/{file}"));
        let (_, text) = package.files.iter_mut().find(|(each, _)| *each == path).unwrap();
        *text = without(text, taken, deleted);
        let member = format!("{name}_{number}");
        batch.add(&member, &package.files);
        members.push(member);
    }
    let Some(results) = batch.run(1, &[("CSSAME_LATCH_SECONDS", "2")]) else { return };
    let mut wrong = Vec::new();
    for (member, change) in members.iter().zip(changes) {
        let mut own = results.iter().filter(|((package, _), _)| package == member);
        let is_told = own.any(|((_, test), result)| {
            !test.is_empty() && result.as_ref().is_err_and(|message| names_a_place(message))
        });
        if !is_told {
            let own: Vec<_> = results.iter().filter(|((package, _), _)| package == member).take(3).collect();
            wrong.push(format!("{change:?}: {own:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_deleted_lock_fails_a_test() {
    let mut changes: Vec<_> = LOCKS.iter().map(|&taken| (taken, Deleted::Taking)).collect();
    changes.extend(LOCKS.iter().step_by(3).map(|&taken| (taken, Deleted::Pair)));
    changes.extend(LOCKS.iter().skip(1).step_by(3).map(|&taken| (taken, Deleted::PairAndHooks)));
    // Who has waited at a barrier has nothing in hand to show for it, and an atomic block is no event of plans.
    changes.push((BARRIER, Deleted::PairAndHooks));
    changes.extend([Deleted::Taking, Deleted::Pair].map(|deleted| (ATOMIC, deleted)));
    fails_without(Target::Java, "changed", &changes);
}

#[test]
fn a_deleted_lock_fails_a_woven_test() {
    let chosen = ["cssame_fig2", "bank_transfer", "bounded_buffer_sem", "counter_class"];
    let chosen = LOCKS.iter().filter(|(name, ..)| chosen.contains(name));
    let changes: Vec<_> = chosen.map(|&taken| (taken, Deleted::Pair)).collect();
    assert_eq!(changes.len(), 4);
    fails_without(Target::AspectJ, "woven_changed", &changes);
}
