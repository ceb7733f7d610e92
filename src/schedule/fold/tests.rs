//! Compares folded traces with expected texts.

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
    insta::assert_snapshot!(shown(POOL, &[&["main"][..], &one].concat(), false), @r"
    line  main                    A                       B
      17  fork A, B
      18                          swap_one(pools[0], pools[1])
      18                          swap_one(pools[1], pools[0])
      19                                                  pools[1].take(2) → true
      19                                                  read pools[1].free = 0
      19                                                  print 0
      20  join
    ");
}

/// A call in the midst of which another thread moves is open, and so is the one that it is made in.
#[test]
fn a_call_is_open_where_another_thread_comes_in() {
    insta::assert_snapshot!(shown(POOL, &["main", "A", "A", "A", "A", "B", "B", "B", "B", "A"], false), @r"
    line  main                    A                       B
      17  fork A, B
      18                          swap_one(pools[0], pools[1]):
      15                          pools[0].take(1):
       5                          lock pools[0].guard
       6                          read pools[0].free = 2
       7                          read pools[0].free = 2
       7                          write pools[0].free = 1
      19                                                  pools[1].take(2):
       5                                                  lock pools[1].guard
       6                                                  read pools[1].free = 2
       7                                                  read pools[1].free = 2
       7                                                  write pools[1].free = 0
       8                          unlock pools[0].guard
       8                                                  unlock pools[1].guard
      15                          pools[1].give(1)
      18                          swap_one(pools[1], pools[0])
       7                          write pools[1].free = 0
      19                                                  read pools[1].free = 0
      19                                                  print 0
      20  join
    ");
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
    insta::assert_snapshot!(shown(text, &[], false), @r"
    line  main                    A                       B
       2  fork A, B
       3                          cas head 1→2 ok
       3                          cas head failed (is 2)
       3                          swap head 2→5
       3                          write next = 2
       3                          fetch_add sum 0→3
       4                                                  [read sum = 3
       4                                                  write sum = 4
       4                                                  write head = 7]
       5  join
    ");
}

#[test]
fn the_source_stands_beside_each_row() {
    insta::assert_snapshot!(shown("int x;\ncobegin\n  A: x = 1;\n  B: print(x);\ncoend\n", &[], true), @r"
    2  main: fork A, B | cobegin
    3  A: write x = 1  | A: x = 1;
    4  B: read x = 1   | B: print(x);
    4  B: print 1      | B: print(x);
    5  main: join      | coend
    ");
}
