//! Traces as people read them, held to texts.

use crate::{Decision, Naming, Policy, RenderOptions, View, render, run, trace};
use cssame_front::compile;
use cssame_source::SourceMap;
use cssame_vm::{Choice, Machine, Move, Visibility};

/// Lets the threads move that a list names, one step each; behind it the first one that can.
struct Named<'a>(std::slice::Iter<'a, &'a str>);

impl Policy for Named<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let name = |one: &Move| view.machine.path_name(view.tables, view.state.path(one.thread));
        let wanted = self.0.next();
        let next = moves.iter().find(|one| wanted.is_some_and(|wanted| name(one) == *wanted)).unwrap_or(&moves[0]);
        Decision::Step(Choice { thread: next.thread, alternative: 0 })
    }
}

/// What an execution does in which threads move as named, as it is printed.
fn shown(text: &str, order: &[&str], with_source: bool) -> String {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let compiled = compile(&sources, file, &[]);
    let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let machine = Machine::new(&program, &Visibility::all(&program));
    let steps = run(&machine, &mut Named(order.iter()), 1000, &mut ()).steps;
    let trace = trace(Naming { program: &program, sources: &sources, machine: &machine }, &steps);
    let source = with_source.then_some(&sources);
    render(&trace, &RenderOptions { source, ..RenderOptions::default() })
}

const POOL: &str = "\
class Pool {
  int free = 2;
  lock guard;
  bool take(int many) {
    lock(guard);
    bool taken = free >= many;
    if (taken) free = free - many;
    unlock(guard);
    return taken;
  }
  void give(int many) { lock(guard); free = free + many; unlock(guard); }
}
Pool pools[2];
void swap_one(Pool from, Pool to) {
  if (from.take(1)) to.give(1);
}
cobegin
  A: { swap_one(pools[0], pools[1]); swap_one(pools[1], pools[0]); }
  B: { pools[1].take(2); print(pools[1].free); }
coend
";

/// A call that nobody came into is one row; the write that another thread then reads stands below it.
#[test]
fn calls_are_folded_where_no_other_thread_comes_in() {
    let one = ["A"; 9];
    insta::assert_snapshot!(shown(POOL, &[&["main"][..], &one].concat(), false), @"");
}

/// A call in the midst of which another thread moves is open, and so is the one that it is made in.
#[test]
fn a_call_is_open_where_another_thread_comes_in() {
    insta::assert_snapshot!(shown(POOL, &["main", "A", "A", "A", "A", "B", "B", "B", "B", "A"], false), @"");
}

#[test]
fn atomic_operations_are_one_row_and_atomic_blocks_have_brackets() {
    let text = "\
int head = 1, sum, next;
cobegin
  A: { cas(head, 1, 2); cas(head, 1, 3); next = swap(head, 5); fetch_add(sum, 3); }
  B: atomic { sum = sum + 1; head = 7; }
coend
";
    insta::assert_snapshot!(shown(text, &[], false), @"");
}

#[test]
fn the_source_stands_beside_each_row() {
    insta::assert_snapshot!(shown("int x;\ncobegin\n  A: x = 1;\n  B: print(x);\ncoend\n", &[], true), @"");
}
