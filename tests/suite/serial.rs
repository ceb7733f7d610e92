//! Serial orders of two methods: what is ordered by forks and joins, as the accesses to a local of `main`, does not say who is first.

use cssame::budget::Budget;
use cssame::explore::{Query, futures};
use cssame::ir::FunctionId;
use cssame::model::Model;
use cssame::schedule::{self, Scripted};
use cssame::tear::{Serial, serial};
use support::model;

/// The class of the methods, and a `main`.
fn program(main: &str) -> String {
    format!(
        "class C {{ lock L; int x; int y;
           public void put(int v) {{ lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }}
           public void get() {{ lock(L); print(x, y); unlock(L); }}
           public void idle() {{ int k = 0; k = k + 1; print(k); }} }}
         C o; void main() {{ {main} }}"
    )
}

fn function(model: &Model, name: &str) -> FunctionId {
    let program = model.program();
    program.functions.ids().find(|&id| program.texts.get(program.functions[id].name) == name).unwrap()
}

/// What `B` prints where the first of two functions runs before the second; nothing where no execution is like that.
fn printed(text: &str, first: &str, second: &str) -> Option<String> {
    let model = model(text);
    let machine = model.machine();
    let order = (function(&model, first), function(&model, second));
    let Serial::Found { schedule } = serial(machine, order, &Budget::unlimited()).0 else { return None };
    let execution = schedule::run(machine, &mut Scripted::new(&schedule), 1000, &mut ());
    let lines = |&(path, output)| {
        let name = machine.path_name(&execution.tables, path);
        (name == "B").then(|| execution.tables.lines(output).join(","))
    };
    execution.outputs(machine).iter().find_map(lines)
}

#[test]
fn a_loop_counter_of_main_does_not_begin_a_method() {
    for main in [
        "int i = 0; cobegin A: { for (i = 1; i < 3; i++) { o.put(i); } } B: o.get(); coend",
        "for (int i = 2; i < 3; i++) { cobegin A: { o.put(i); } B: o.get(); coend }",
        "int n = 2; cobegin A: { for (int i = 1; i < n + 1; i++) { o.put(i); } } B: o.get(); coend",
    ] {
        let text = program(main);
        let model = model(&text);
        let answer = futures(model.machine(), &Query::default(), &Budget::unlimited());
        assert!(answer.is_complete());
        assert_eq!(printed(&text, "C.get", "A").as_deref(), Some("0 0"), "{main}");
        assert_eq!(printed(&text, "A", "C.get").as_deref(), Some("2 2"), "{main}");
        assert_eq!(printed(&text, "C.get", "C.put").as_deref(), Some("0 0"), "{main}");
    }
}

#[test]
fn what_a_fork_orders_comes_in_that_order_alone() {
    let text = program("o.put(2); cobegin B: o.get(); A: { o.idle(); } coend");
    assert_eq!(printed(&text, "C.put", "C.get").as_deref(), Some("2 2"));
    assert_eq!(printed(&text, "C.get", "C.put"), None);
}

/// A method that does nothing which others could tell comes before and after others.
#[test]
fn a_method_without_a_step_comes_in_both_orders() {
    let text = program("cobegin A: { o.put(2); o.idle(); } B: o.get(); coend");
    assert!(printed(&text, "C.get", "C.idle").is_some());
    assert!(printed(&text, "C.idle", "C.get").is_some());
}
