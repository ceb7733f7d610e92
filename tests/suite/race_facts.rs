//! The worked examples of Sen (PLDI 2008), with the numbers that an independent prototype has computed.

use cssame::answer::{RacesRequest, races};
use cssame::budget::Budget;
use cssame::form::races::potential_races;
use cssame::model::{Model, Options};
use cssame::race::report::{PairReport, RacesReport};
use cssame::race::{PairAim, PairTrials, Places, TrialRequest, direct_at};

const EXECUTIONS: u64 = 2_000;

fn model(text: &str) -> Model {
    Model::from_text("fact.csm", text, &Options::default()).expect("it compiles")
}

fn answer(model: &Model, request: &RacesRequest) -> RacesReport {
    races(model, request, &Budget::unlimited()).expect("its names are known").report
}

/// The executions that are directed at a pair.
fn directed(model: &Model, [a, b]: [&str; 2]) -> PairTrials {
    let places = Places::new(model.program());
    let races = potential_races(model.program(), model.form());
    let accesses = [a, b].map(|name| model.lookup().access(name).expect("it is a place"));
    let (pair, turned) = places.pair(accesses).expect("both are accesses");
    assert!(!turned, "they are named in text order");
    let aim = PairAim { places: &places, races: &races, pair, accesses: &[accesses] };
    let request = TrialRequest {
        seed: 0,
        trials: EXECUTIONS,
        max_postponed: 20_000,
        max_steps: 1_000_000,
        until_hit: false,
        at_synchronisation: false,
    };
    direct_at(model, aim, &request, &Budget::unlimited())
}

fn names(pairs: &[PairReport]) -> Vec<(&str, &str)> {
    pairs.iter().map(|pair| (pair.a.as_str(), pair.b.as_str())).collect()
}

/// Fig. 1. The statements of the paper: 1 is `x@3`, 5 is `z@7`, 7 is `z@11`, 10 is `x@14`.
const FIG1: &str = "int x = 0, y = 0, z = 0; lock L;
cobegin T1: {
x = 1;
lock(L);
y = 1;
unlock(L);
if (z == 1)
error(\"ERROR1\");
}
T2: {
z = 1;
lock(L);
if (y == 1) {
if (x != 1)
error(\"ERROR2\");
}
unlock(L);
}
coend
";

#[test]
fn figure_1_has_two_potential_races_of_which_one_is_real() {
    let model = model(FIG1);
    let report = answer(&model, &RacesRequest::default());
    assert_eq!(names(&report.potential), [("x@3:1", "x@14:5"), ("z@7:5", "z@11:1")]);
    let [x, z] = &report.potential[..] else { unreachable!("there are two") };
    assert_eq!((x.status, x.reason, x.hits, x.trials), ("impossible", Some("exhausted"), 0, 100));
    assert!(x.proof.as_ref().is_some_and(|proof| proof.starts_with("`x@3:1` always comes before `x@14:5`")));
    assert_eq!((z.status, z.harmful, z.hits, z.trials), ("real", true, 100, 100));
    assert_eq!((z.fails_when_first.as_slice(), z.benign, z.outcomes_differ), (&["b"][..], false, Some(true)));
    assert_eq!(z.kinds, ["read/write"]);
    let messages: Vec<&str> = report.failures.iter().map(|met| met.failure.message.as_str()).collect();
    assert_eq!(messages, ["ERROR1"]);
    assert!(report.complete && report.deadlocks.is_empty());
}

#[test]
fn figure_1_is_predicted_from_executions_alone() {
    let request = RacesRequest { predict: cssame::race::Means::Dynamic, explore: None, ..RacesRequest::default() };
    let report = answer(&model(FIG1), &request);
    assert_eq!(names(&report.potential), [("x@3:1", "x@14:5"), ("z@7:5", "z@11:1")]);
    let statuses: Vec<&str> = report.potential.iter().map(|pair| pair.status).collect();
    assert_eq!((statuses.as_slice(), report.complete), (&["unconfirmed", "real"][..], false));
}

#[test]
fn figure_1_directed_executions() {
    let model = model(FIG1);
    let real = directed(&model, ["z@7", "z@11"]);
    assert_eq!((real.trials, real.hits), (EXECUTIONS, EXECUTIONS));
    assert!((900..=1_100).contains(&real.failed), "ERROR1 has probability 1/2: {}", real.failed);
    // T1 is held at 1 until T2 is over, so that it always reads the 1 of z.
    let impossible = directed(&model, ["x@3", "x@14"]);
    assert_eq!((impossible.trials, impossible.hits, impossible.failed), (EXECUTIONS, 0, EXECUTIONS));
}

/// Fig. 2 with so many fillers.
fn figure_2(fillers: usize) -> String {
    let filler = "f += 1;\n".repeat(fillers);
    format!(
        "int x = 0; int f; lock L;
cobegin T1: {{
lock(L);
{filler}unlock(L);
if (x == 0) error(\"ERROR\");
}}
T2: {{
x = 1;
lock(L);
f += 1;
unlock(L);
}}
coend
"
    )
}

#[test]
fn figure_2_is_hit_in_every_execution_however_long_the_way_is() {
    for fillers in [1, 10, 100, 1_000] {
        let model = model(&figure_2(fillers));
        let (read, write) = (format!("x@{}", fillers + 5), format!("x@{}", fillers + 8));
        let found = directed(&model, [&read, &write]);
        assert_eq!((found.trials, found.hits), (EXECUTIONS, EXECUTIONS), "{fillers} fillers");
        assert!((900..=1_100).contains(&found.failed), "{fillers} fillers: {} errors", found.failed);
    }
}

#[test]
fn a_trial_is_made_again_by_its_seed() {
    let model = model(FIG1);
    let request = RacesRequest { trials: 20, explore: None, ..RacesRequest::default() };
    let whole = answer(&model, &request);
    let pair = &whole.potential[1];
    let single = RacesRequest {
        pair: Some([pair.a.clone(), pair.b.clone()]),
        seed: pair.seed.expect("it was hit"),
        trials: 1,
        ..request
    };
    let again = answer(&model, &single);
    assert_eq!(names(&again.potential), [(pair.a.as_str(), pair.b.as_str())]);
    let again = &again.potential[0];
    assert_eq!((again.hits, again.trials, again.seed), (1, 1, pair.seed));
    assert_eq!(again.schedule, pair.schedule);
}
