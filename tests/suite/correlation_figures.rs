//! The tables of Jannesari and Wolf (2015), from what `correlate` answers: the accesses of each pair (table 2), and a program in
//! figures (table 3).

use cssame::answer::{CorrelateAnswer, CorrelateRequest, CorrelateSummary, Execute, correlate};
use cssame::budget::{Budget, Limits};
use cssame::model::Options;
use support::{samples, unit};

fn answer(text: &str, execute: Execute) -> CorrelateAnswer {
    let options = Options::default();
    let request = CorrelateRequest { threshold: 0.5, rank: 0.0, sets: false, execute, options: &options };
    let limits = Limits { max_states: Some(200_000), ..Limits::default() };
    correlate(unit(text), &request, &Budget::from(limits))
}

fn figure_9() -> String {
    samples().into_iter().find(|(name, _)| name == "jannesari_fig9").unwrap().1
}

/// `SetMins write Mins read Secs vertical` for each access, behind an `!` where it is endangered.
fn listed(answer: &CorrelateAnswer, methods: [&str; 2]) -> Vec<String> {
    let pair = answer.correlation.pairs.iter().find(|pair| pair.methods == methods).unwrap();
    assert_eq!(pair.accesses.len(), pair.correlation_accesses);
    assert_eq!(pair.accesses.iter().filter(|access| access.endangered).count(), pair.endangered_accesses.len());
    let line = |access: &cssame::correlation::report::ListedAccess| {
        let ([one, other], [how, then]) = (&access.variables, access.accesses);
        let mark = if access.endangered { "!" } else { "" };
        format!("{mark}{} {how} {one} {then} {other} {}", access.method, access.patterns.join(" "))
    };
    pair.accesses.iter().map(line).collect()
}

#[test]
fn table_2_lists_the_accesses_of_all_pairs() {
    let answer = answer(&figure_9(), Execute::Nothing);
    let refresh = "RefreshSecs read Milisecs write Secs vertical";
    assert_eq!(listed(&answer, ["SetMins", "RefreshSecs"]), [refresh, "SetMins write Mins read Secs vertical"]);
    assert_eq!(listed(&answer, ["SetHours", "RefreshSecs"]), [refresh, "SetHours write Hours read Secs vertical"]);
    let of_time = [
        refresh,
        "!SetTime write Hours write Mins horizontal",
        "SetTime write Hours read Secs vertical",
        "SetTime write Mins read Secs vertical",
    ];
    assert_eq!(listed(&answer, ["SetTime", "RefreshSecs"]), of_time);
}

#[test]
fn the_columns_of_table_3() {
    let expected = CorrelateSummary {
        lines: 33,
        methods: 6,
        call_depth: Some(3),
        objects: 0,
        threads: Some(3),
        parallel_methods: Some(5),
        parallel_pairs: Some(6),
        correlations: 4,
        low_level_races: Some(0),
        high_level_races: Some(1),
    };
    assert_eq!(answer(&figure_9(), Execute::Selected).summary, expected);
    let unknown = CorrelateSummary { high_level_races: None, ..expected };
    assert_eq!(answer(&figure_9(), Execute::Nothing).summary, unknown);
}

#[test]
fn objects_races_and_recursion() {
    // Two cells in each of three pairs, and an object of a function: 3 + 6 + 1.
    let objects = answer(
        "class Cell { int x; public void set(int v) { x = v; } } class Pair { Cell one; Cell two; }
         Pair t[3]; int g;
         void down(int n) { if (n > 0) { down(n - 1); } g = n; }
         void main() { Cell c; c.set(1); cobegin A: t[0].one.set(1); B: down(2); C: down(3); coend }",
        Execute::Nothing,
    )
    .summary;
    assert_eq!((objects.objects, objects.call_depth, objects.threads), (10, None, Some(4)));
    // One place that writes, in two threads.
    assert_eq!(objects.low_level_races, Some(1));
    let library = answer("class A { int x; public void set(int v) { x = v; } }", Execute::Nothing).summary;
    assert_eq!((library.threads, library.low_level_races, library.parallel_methods), (None, None, Some(1)));
    assert_eq!((library.call_depth, library.objects, library.lines), (Some(1), 0, 1));
}
