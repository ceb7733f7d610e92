//! Compares traces of programs that are blocked because of much earlier actions with expected texts.

use crate::{Decision, Naming, Policy, RenderOptions, Trace, View, render, run, trace};
use cssame_front::compile;
use cssame_source::SourceMap;
use cssame_vm::{Choice, Machine, Move, Visibility};

/// Lets the first of some threads move that can, by their names; one that is not named comes last.
struct InOrder<'a>(&'a [&'a str]);

impl Policy for InOrder<'_> {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let rank = |one: &&Move| {
            let name = view.machine.path_name(view.tables, view.state.path(one.thread));
            self.0.iter().position(|other| *other == name).unwrap_or(self.0.len())
        };
        let next = moves.iter().min_by_key(rank).map_or(moves[0].thread, |one| one.thread);
        Decision::Step(Choice { thread: next, alternative: 0 })
    }
}

/// The cause of what an execution ends with in which threads have priority in that order.
fn cause(text: &str, order: &[&str], width: usize) -> String {
    render(&whole(text, order).cause(), &RenderOptions { width, color: false, whole: true, source: None })
}

/// All that such an execution does.
fn whole(text: &str, order: &[&str]) -> Trace {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    let program = compile(&sources, file, &[]).program.expect("a program without errors");
    let machine = Machine::new(&program, &Visibility::all(&program));
    let steps = run(&machine, &mut InOrder(order), 1000, &mut ()).steps;
    trace(Naming { program: &program, sources: &sources, machine: &machine }, &steps)
}

#[test]
fn a_notification_that_nobody_heard_is_a_cause() {
    let text = "\
lock L; cond c; int other;
cobegin
  A: { lock(L); wait(c, L); unlock(L); }
  B: { other = 1; lock(L); notify(c); unlock(L); }
  C: other = 2;
coend
";
    insta::assert_snapshot!(cause(text, &["B", "C", "A"], 80), @r#"
    line  main                    A                       B
       2  fork A
       2  fork B
       2  fork C
       4                                                  write other = 1
       4                                                  lock L
       4                                                  notify c: nobody waits
       4                                                  unlock L
       3                          lock L
       3                          wait c
       6  waits for A
       3                          waits for notify(c)
    "#);
}

#[test]
fn a_bare_notification_that_nobody_heard_is_a_cause() {
    let text = "int x;\ncobegin\n  A: wait();\n  B: { x = 1; notifyAll(); }\n  C: x = 2;\ncoend\n";
    insta::assert_snapshot!(cause(text, &["B", "C", "A"], 80), @r#"
    line  main                    A                       B
       2  fork A
       2  fork B
       2  fork C
       4                                                  write x = 1
       4                                                  notifyAll: nobody waits
       3                          wait
       6  waits for A
       3                          waits for notify()
    "#);
}

#[test]
fn a_notification_of_another_thread_is_a_cause() {
    let text = "\
lock L; cond c;
cobegin
  A: { lock(L); wait(c, L); unlock(L); }
  B: { lock(L); wait(c, L); unlock(L); }
  C: { notify(c); }
coend
";
    insta::assert_snapshot!(cause(text, &["A", "B", "C"], 80), @r#"
    line  main              A                 B                 C
       2  fork A
       2  fork B
       2  fork C
       3                    lock L
       3                    wait c
       4                                      lock L
       4                                      wait c
       5                                                        notify c: wakes A
       3                    relock L
       3                    unlock L
       6  waits for B
       4                                      waits for notify(c)
    "#);
    let all = text.replace("notify(c)", "notifyAll(c); lock(L); wait(c, L)");
    insta::assert_snapshot!(cause(&all, &["A", "B", "C"], 80), @r"
    line  main         A           B           C
       2  fork A
       2  fork B
       2  fork C
       3               lock L
       3               wait c
       4                           lock L
       4                           wait c
       5                                       notifyAll c: wakes A, B
       3               relock L
       3               unlock L
       4                           relock L
       4                           unlock L
       5                                       lock L
       5                                       wait c
       6  waits for C
       5                                       waits for notify(c)
    ");
}

#[test]
fn the_clear_behind_a_set_is_a_cause() {
    let text = "\
event e; int x;
cobegin
  A: wait(e);
  B: set(e);
  C: { x = 1; clear(e); }
  D: set(e);
coend
";
    insta::assert_snapshot!(cause(text, &["D", "B", "C", "A"], 80), @r#"
    line  main          A             B             C             D
       2  fork A
       2  fork B
       2  fork C
       2  fork D
       6                                                          set e
       4                              set e
       5                                            write x = 1
       5                                            clear e
       7  waits for A
       3                waits for set(e)
    "#);
}

#[test]
fn the_units_that_others_have_consumed_are_causes() {
    let text = "\
sem s = 1; int x;
cobegin
  A: { P(s); x = 1; }
  B: P(s);
  C: { P(s); V(s); }
  D: x = 2;
coend
";
    insta::assert_snapshot!(cause(text, &["C", "B", "D", "A"], 80), @r#"
    line  main              A                 B                 C
       2  fork A
       2  fork B
       2  fork C
       2  fork D
       5                                                        P s
       5                                                        V s
       4                                      P s
       7  waits for A
       3                    waits for V(s)
    "#);
    let taken = text.replace("D: x = 2", "D: { V(s); P(s); }");
    insta::assert_snapshot!(cause(&taken, &["C", "B", "D", "A"], 80), @r#"
    line  main          A             B             C             D
       2  fork A
       2  fork B
       2  fork C
       2  fork D
       5                                            P s
       5                                            V s
       4                              P s
       6                                                          V s
       6                                                          P s
       7  waits for A
       3                waits for V(s)
    "#);
}

#[test]
fn the_lock_of_a_thread_that_has_ended_is_a_cause() {
    let text = "lock L; rwlock R;\ncobegin\n  A: lock(L);\n  B: lock(L);\n  C: rdlock(R);\n  D: wrlock(R);\ncoend\n";
    insta::assert_snapshot!(cause(text, &["A", "C", "B", "D"], 100), @r#"
    line  main              A                 B                 C                 D
       2  fork A
       2  fork B
       2  fork C
       2  fork D
       3                    lock L
       5                                                        rdlock R
       7  waits for B, D
       4                                      waits for L
       6                                                                          waits for R
    "#);
}

#[test]
fn rows_name_the_objects_that_are_touched() {
    let text = "\
class Account {
  private int balance = 0;
  private int log[4];
  public void add(int amount) { balance += amount; log[amount] = balance; }
}
Account a, b;
int v[4];
void move(Account from, Account to, int n) { from.add(0 - 1 + 2); to.add(n); v[n] = 7; }
void fill(int w[]) { w[3] = w[2]; }
cobegin
  A: { move(a, b, 2); fill(v); }
  B: a.add(3);
coend
assert(false);
";
    insta::assert_snapshot!(cause(text, &["A", "B"], 80), @r#"
    line  main                    A                       B
      10  fork A
      10  fork B
       4                          read a.balance = 0
       4                          write a.balance = 1
       4                          read a.balance = 1
       4                          write a.log[1] = 1
       4                          read b.balance = 0
       4                          write b.balance = 2
       4                          read b.balance = 2
       4                          write b.log[2] = 2
       8                          write v[2] = 7
       9                          read v[2] = 7
       9                          write v[3] = 7
       4                                                  read a.balance = 1
       4                                                  write a.balance = 4
       4                                                  read a.balance = 4
       4                                                  write a.log[3] = 4
      13  join
      14  assert: assertion failed
    "#);
}

#[test]
fn rows_go_on_in_the_next_line_and_are_never_cut() {
    let text = "\
string s; int x;
void failing() { error(\"a message of so many words that it does not fit into the columns behind it\"); }
cobegin
  Alice: { s = \"a string with spaces in it that is long\"; x = 1; }
  Bob: { print(\"a\\nb\"); x = 2; }
  Carol: { if (x == 2) print(\"what is printed is a value, and so it is never broken, whatever its length may be\"); \
     if (s != \"\") failing(); }
coend
";
    insta::assert_snapshot!(cause(text, &["Alice", "Bob", "Carol"], 80), @r#"
    line  main        Alice                    Bob          Carol
       3  fork Alice
       3  fork Bob
       3  fork Carol
       4              write s = "a string with spaces in it that is long"
       5                                       print a⏎b
       5                                       write x = 2
       6                                                    read x = 2
       6  Carol: print
            what is printed is a value, and so it is never broken, whatever its length may be
       6  Carol: read s = "a string with spaces in it that is long"
       2                                                    error: a message of so
                                                            many words that it does
                                                            not fit into the columns
                                                            behind it
    "#);
    insta::assert_snapshot!(cause(text, &["Alice", "Bob", "Carol"], 40), @r#"
    3  main: fork Alice
    3  main: fork Bob
    3  main: fork Carol
    4  Alice: write s
         = "a string with spaces in it that is long"
    5  Bob: print a⏎b
    5  Bob: write x = 2
    6  Carol: read x = 2
    6  Carol: print
         what is printed is a value, and so it is never broken, whatever its length may be
    6  Carol: read s
         = "a string with spaces in it that is long"
    2  Carol: error: a message of so many
         words that it does not fit into
         the columns behind it
    "#);
}

#[test]
fn who_took_a_notification_is_a_cause() {
    let text = "\
lock L; cond c; int items;
cobegin
  Hasty: { lock(L); if (items == 0) wait(c, L); unlock(L); lock(L); unlock(L); }
  Patient: { lock(L); while (items == 0) wait(c, L); items--; unlock(L); }
  Maker: { lock(L); items++; notify(c); unlock(L); }
coend
";
    insta::assert_snapshot!(cause(text, &["Hasty", "Patient", "Maker"], 80), @r"
    line  main               Hasty           Patient             Maker
       2  fork Hasty
       2  fork Patient
       2  fork Maker
       3                     lock L
       3                     read items = 0
       3                     wait c
       4                                     lock L
       4                                     read items = 0
       4                                     wait c
       5                                                         lock L
       5                                                         read items = 0
       5                                                         write items = 1
       5                                                         notify c: wakes
                                                                 Hasty
       5                                                         unlock L
       3                     relock L
       3                     unlock L
       6  waits for Patient
       4                                     waits for notify(c)
    ");
}

#[test]
fn all_notifications_since_the_wait_began_are_causes() {
    let text = "\
lock L; cond c; bool a; bool b;
cobegin
  A: { lock(L); while (!a) wait(c, L); unlock(L); }
  B: { lock(L); while (!b) wait(c, L); unlock(L); }
  X: { lock(L); b = true; notify(c); unlock(L); }
  Y: { lock(L); notify(c); unlock(L); }
coend
";
    insta::assert_snapshot!(cause(text, &["A", "B", "X", "Y"], 80), @r#"
    line  main          A             B             X             Y
       2  fork A
       2  fork B
       2  fork X
       2  fork Y
       3                lock L
       3                read a = false
       3                wait c
       4                              lock L
       4                              read b = false
       4                              wait c
       5                                            lock L
       5                                            write b = true
       5                                            notify c: wakes A
       5                                            unlock L
       3                relock L
       3                read a = false
       3                wait c
       6                                                          lock L
       6                                                          notify c: wakes A
       6                                                          unlock L
       3                relock L
       3                read a = false
       3                wait c
       7  waits for A, B
       3                waits for notify(c)
       4                              waits for notify(c)
    "#);
}

#[test]
fn units_that_others_have_taken_since_the_wait_began_are_causes() {
    let text = "\
sem s = 0; int x;
cobegin
  Worker: { x = 1; P(s); }
  Thief: { P(s); P(s); x = 2; }
  Giver: { V(s); x = 3; V(s); }
  Lock: { V(s); P(s); V(s); P(s); }
coend
";
    insta::assert_snapshot!(cause(text, &["Giver", "Thief", "Lock", "Worker"], 80), @r#"
    line  main          Worker        Thief         Giver         Lock
       2  fork Worker
       2  fork Thief
       2  fork Giver
       2  fork Lock
       5                                            V s
       5                                            write x = 3
       5                                            V s
       4                              P s
       4                              P s
       6                                                          V s
       6                                                          P s
       6                                                          V s
       6                                                          P s
       3                write x = 1
       7  waits for Worker
       3                waits for V(s)
    "#);
}

#[test]
fn each_set_since_the_wait_began_is_a_cause() {
    let text = "event e; int x;\ncobegin\n  A: { x = 1; wait(e); }\n  B: set(e);\n  C: { clear(e); x = 2; set(e); clear(e); }\ncoend\n";
    insta::assert_snapshot!(cause(text, &["B", "C", "A"], 80), @r#"
    line  main              A                 B                 C
       2  fork A
       2  fork B
       2  fork C
       4                                      set e
       5                                                        clear e
       5                                                        write x = 2
       5                                                        set e
       5                                                        clear e
       3                    write x = 1
       6  waits for A
       3                    waits for set(e)
    "#);
}

#[test]
fn the_look_behind_which_a_waker_leaves_is_a_cause() {
    let text = "\
class Gate {
  private lock L; private cond c; private int waiting = 0; private bool shut = true;
  public void pass() { lock(L); while (shut) { waiting++; wait(c, L); waiting--; } unlock(L); }
  public void open() { synchronized (L) { if (waiting == 0) { return; } } signal(); }
  private void signal() { lock(L); shut = false; notifyAll(c); unlock(L); }
}
Gate g; Gate h;
cobegin
  Waiter: g.pass();
  Waker: g.open();
  Far: h.open();
coend
";
    insta::assert_snapshot!(cause(text, &["Far", "Waker", "Waiter"], 80), @r#"
    line  main                    Waiter                  Waker
       8  fork Waiter
       8  fork Waker
       8  fork Far
       4                                                  lock g.L
       4                                                  read g.waiting = 0
       4                                                  unlock g.L
       3                          lock g.L
       3                          read g.shut = true
       3                          read g.waiting = 0
       3                          write g.waiting = 1
       3                          wait g.c
      12  waits for Waiter
       3                          waits for notify(g.c)
    "#);
}

#[test]
fn the_look_behind_which_a_raise_a_set_an_arrival_or_an_unlock_is_left_out_is_a_cause() {
    let text = "\
sem s = 0; event e; barrier b(2); lock L; int x; int y;
cobegin
  A: P(s);
  B: wait(e);
  C: barrier(b);
  D: lock(L);
  E: { lock(L); for (int i = 0; i < 2; i++) { if (x == i + 1) { V(s); } } }
  F: { if (x == 1) set(e); }
  G: { if (x == 1) { barrier(b); } }
  H: { if (y == 1) { y = 2; } else { y = 3; } }
coend
";
    insta::assert_snapshot!(cause(text, &["E", "F", "G", "H"], 120), @r#"
    line  main          A             B             C             D             E             F             G
       2  fork A
       2  fork B
       2  fork C
       2  fork D
       2  fork E
       2  fork F
       2  fork G
       2  fork H
       7                                                                        lock L
       7                                                                        read x = 0
       7                                                                        read x = 0
       8                                                                                      read x = 0
       9                                                                                                    read x = 0
       5                                            barrier b
      11  waits for A, B, C, D
       3                waits for V(s)
       4                              waits for set(e)
       5                                            waits for b, 1 of 2
       6                                                          waits for L
    "#);
    let unlocked = "\
lock L; int x;
cobegin
  A: { lock(L); if (x == 1) unlock(L); x = 3; }
  B: lock(L);
coend
";
    insta::assert_snapshot!(cause(unlocked, &["A", "B"], 80), @r#"
    line  main                    A                       B
       2  fork A
       2  fork B
       3                          lock L
       3                          read x = 0
       5  waits for B
       4                                                  waits for L
    "#);
}

#[test]
fn a_wait_gives_its_lock_up_itself() {
    let text = "\
lock L; cond c;
cobegin
  A: { lock(L); wait(c, L); unlock(L); }
  B: { lock(L); notify(c); unlock(L); }
coend
";
    let all = whole(text, &["A", "B"]);
    let place = |of: &str, thread: &str| {
        let column = all.threads.iter().position(|name| name == thread);
        all.rows.iter().position(|row| row.text() == of && Some(row.column) == column).expect("a row")
    };
    let before: Vec<usize> = all.before(place("lock L", "B")).collect();
    assert!(before.contains(&place("wait c", "A")), "{before:?}");
    assert!(!before.contains(&place("lock L", "A")), "{before:?}");
}
