//! The facts of the paper's programs (FACTS A).

use super::analysis::{DecisionKind, Placing};
use super::complete::completed;
use super::guided::Script;
use super::ids::ActionId;
use super::interleaving::Interleaving;
use super::projection::Projection;
use super::report::{PathsReport, report};
use super::run::Session;
use super::{First, Request, StoppedBy, find};
use cssame_budget::{Bound, Budget, Limits};
use cssame_model::{Model, Options};
use cssame_vm::{Choice, ThreadIndex};

fn model(text: &str) -> Model {
    Model::from_text("test.csm", text, &Options::default()).unwrap()
}

fn answer_with(text: &str, request: &Request) -> PathsReport {
    let model = model(text);
    let (session, findings) = find(&model, request, &Budget::default());
    report(&session, request, &findings)
}

fn answer(text: &str) -> PathsReport {
    answer_with(text, &Request::default())
}

const FIGURE_3: &str = "int x = -1, y = 0;
cobegin
T1:
int n = x + y;
if (n < 0)
skip;
else
skip;
print(y);
T2:
x = -10; y = 2;
print(x);
coend";

const FIGURE_13: &str = "int x = -1, y = 0; lock a;
cobegin
T1:
lock(a); int n = x + y; unlock(a);
wait();
if (n < 0) skip; else skip;
print(y);
T2:
lock(a); x = -10; y = 2; unlock(a);
notifyAll();
print(x);
coend";

/// The slots of threads that move, one after the other; a fork by main comes before.
fn steps(slots: &[u16]) -> First {
    let fork = std::iter::once(0).chain(slots.iter().copied());
    First::Steps(fork.map(|slot| Choice { thread: ThreadIndex(slot), alternative: 0 }).collect())
}

#[test]
fn a_thread_may_make_very_many_moves() {
    let model = model("int c; cobegin A: for (int i = 0; i < 40000; i++) c = c + 1; B: c = 0; coend");
    let mut session = Session::new(&model, 1_000_000);
    let trace = session.follow(&Script::default(), &[]).trace;
    let whole = Projection::whole(model.program(), &trace);
    let interleaving = Interleaving::new(model.program(), &trace, &whole, false);
    assert!(trace.actions.len() > 80_000);
    assert!(completed(&trace, &interleaving, &[]).len() > 80_000);
}

fn graph_of(text: &str, first: First) -> (PathsReport, [usize; 5]) {
    let report = answer_with(text, &Request { first, ..Request::default() });
    let graph = report.graph.clone().unwrap();
    let numbers = [graph.nodes, graph.variants, graph.infeasible.lock, graph.infeasible.wait, graph.stuck];
    (report, numbers)
}

#[test]
fn figure_3_has_seven_variants_in_the_groups_of_table_2() {
    // 1:rx 10:wx 1:ry 11:wy 7:ry 12:rx; a print belongs to the step behind it.
    let (report, graph) = graph_of(FIGURE_3, steps(&[1, 2, 1, 2, 1, 2]));
    assert_eq!(graph, [14, 7, 0, 0, 0]);
    let of_table: Vec<(Vec<String>, String)> = report
        .groups
        .iter()
        .map(|group| (group.variants.clone(), group.order.join(" ")))
        .filter(|(variants, _)| !variants.is_empty())
        .collect();
    assert_eq!(of_table.len(), 5);
}

#[test]
fn figure_3_has_the_use_defines_of_its_branch() {
    let model = model(FIGURE_3);
    let request = Request { first: steps(&[1, 2, 1, 2, 1, 2]), ..Request::default() };
    let (session, findings) = find(&model, &request, &Budget::default());
    let known = &findings.explored.runs[0];
    let placing = Placing { program: model.program(), machine: model.machine() };
    let name = |id: ActionId| {
        let operation = placing.of(&known.run.trace.actions[id]);
        let text = operation.name.map(|name| model.program().texts.get(name)).unwrap_or_default();
        let thread = model.machine().path_name(&session.tables, operation.thread);
        format!("{thread} {:?} {text}@{}", operation.word, model.sources().position(operation.span))
    };

    let branches: Vec<_> = known.decisions.iter().filter(|one| one.place.kind == DecisionKind::Branch).collect();
    assert_eq!(branches.len(), 1);
    let related = &branches[0].related;

    // Line 4 is statement 1 of the paper, line 11 its statements 10 and 11. `n` is no shared variable, `print(y)` comes
    // behind the branch, and nothing depends on what T2 reads for `print(x)`.
    let use_defines: Vec<String> =
        related.use_defines.iter().map(|one| format!("{} <- {}", name(one.read), name(one.write))).collect();
    assert_eq!(use_defines, ["T1 Read x@4:9 <- T2 Write x@11:1", "T1 Read y@4:13 <- T2 Write y@11:10"]);
    let members: Vec<String> = related.members.iter().map(|&id| name(id)).collect();
    assert_eq!(members, ["T1 Read x@4:9", "T2 Write x@11:1", "T1 Read y@4:13", "T2 Write y@11:10"]);
}

#[test]
fn figure_13_has_the_nodes_of_the_facts() {
    let (report, graph) = graph_of(FIGURE_13, First::InTurn);
    assert_eq!(graph, [31, 3, 6, 7, 1]);
    assert_eq!(report.deadlocks.len(), 1);
}

#[test]
fn experiments_have_the_groups_of_the_facts() {
    let sample = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
        std::fs::read_to_string(format!("{folder}/{name}.csm")).unwrap()
    };
    for (text, groups) in [
        (FIGURE_3.to_owned(), 6),
        (sample("setiadi_fig3"), 6),
        (sample("setiadi_commons_pool"), 2),
        (sample("setiadi_jtelnet"), 0),
        (sample("setiadi_jnetmap"), 5),
    ] {
        let report = answer(&text);

        assert_eq!(report.test_cases, Some(groups), "{text}");
        assert!(report.complete, "{text}");
    }
}

/// Orders of three threads that each evaluate many branches: they end the method, not the process.
#[test]
fn groups_stop_where_they_take_more_memory_than_they_may() {
    let arms = (0..3).map(|arm| {
        format!("T{arm}: for (int i = 0; i < 10; i++) {{ if (x > y) {{ x = x + {arm}; }} else {{ y = i; }} }}\n")
    });
    let model = model(&format!("int x, y;\ncobegin\n{}coend\n", arms.collect::<String>()));
    let request = Request { explore: None, ..Request::default() };
    let limits = Limits { max_memory: Some(4 << 20), ..Limits::default() };
    let (_, findings) = find(&model, &request, &Budget::from(limits));
    let explored = &findings.explored;
    assert_eq!(explored.stopped_by, StoppedBy::Bound(Bound::Memory));
    // Half of it, and what an execution belongs to itself.
    assert!(explored.groups.bytes < 3 << 20, "{} bytes", explored.groups.bytes);
}
