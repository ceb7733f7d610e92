//! Executions that are directed at other things than races, and schedulers side by side.

use cssame::answer::{RacesRequest, RacesTarget, races};
use cssame::budget::Budget;
use cssame::model::{Model, Options};
use cssame::race::report::RacesReport;
use cssame::race::{Contender, Granularity};
use cssame::schedule::Scheduler;
use std::fs;

fn sample(name: &str) -> Model {
    let path = format!("{}/samples/{name}.csm", env!("CARGO_MANIFEST_DIR"));
    Model::from_text(name, &fs::read_to_string(path).unwrap(), &Options::default()).unwrap()
}

fn report(model: &Model, request: &RacesRequest) -> RacesReport {
    races(model, request, &Budget::unlimited()).unwrap().report
}

fn directed(name: &str, target: RacesTarget) -> RacesReport {
    report(&sample(name), &RacesRequest { target, ..RacesRequest::default() })
}

/// The statuses of the aims, and how often each was reached.
fn reached(report: &RacesReport) -> Vec<(&str, u64)> {
    report.aims.iter().flatten().map(|aim| (aim.status, aim.hits)).collect()
}

#[test]
fn cycles_of_locks_are_made_deadlocks() {
    for name in ["dining_philosophers", "bank_transfer_deadlock"] {
        let report = directed(name, RacesTarget::Deadlocks);
        assert_eq!(reached(&report), [("real", 100)], "{name}");
        assert_eq!(report.deadlocks.len(), 1, "{name}");
    }
    assert!(reached(&directed("bank_transfer", RacesTarget::Deadlocks)).iter().all(|aim| aim.0 == "unconfirmed"));
}

#[test]
fn notifications_are_lost() {
    for name in ["lost_notify", "lost_notify_cond"] {
        assert_eq!(reached(&directed(name, RacesTarget::Notifications)), [("real", 100)], "{name}");
    }
    let kept = directed("bounded_buffer", RacesTarget::Notifications);
    assert!(reached(&kept).iter().all(|aim| *aim == ("unconfirmed", 0)) && !reached(&kept).is_empty());
}

#[test]
fn correlated_variables_are_torn() {
    let report = directed("order_pool_broken", RacesTarget::Correlations);
    assert!(reached(&report).iter().any(|aim| aim.0 == "real"));
}

#[test]
fn a_term_is_seen_or_not() {
    let seen = directed("cssame_fig2", RacesTarget::Term("a@24:11=a@16:5".to_owned()));
    assert!(matches!(reached(&seen)[..], [("real", 1..)]));
    // The first write of the critical section is overwritten before anybody can read.
    let never = directed("cssame_fig2", RacesTarget::Term("a@24:11=a@15:5".to_owned()));
    assert_eq!(reached(&never), [("unconfirmed", 0)]);
}

#[test]
fn every_scheduler_hits_real_races_only() {
    let contenders = vec![
        Contender::Undirected(Scheduler::Random),
        Contender::Undirected(Scheduler::Pct { depth: 3, steps: 0 }),
        Contender::Undirected(Scheduler::Pos),
        Contender::RaceDirected,
        Contender::ReadsFrom,
    ];
    for granularity in [Granularity::Operation, Granularity::Synchronisation] {
        let request =
            RacesRequest { contenders: contenders.clone(), granularity, trials: 200, ..RacesRequest::default() };
        for name in ["sen_fig1", "peterson_broken", "index_race"] {
            let report = report(&sample(name), &request);
            let schedulers = report.schedulers.as_ref().unwrap();
            assert_eq!(schedulers.len(), 5);
            for row in schedulers.iter().flat_map(|of| &of.pairs).filter(|row| row.hits > 0) {
                let pair = report.potential.iter().find(|pair| (&pair.a, &pair.b) == (&row.a, &row.b)).unwrap();
                assert_eq!(pair.status, "real", "{name}: {} and {}", row.a, row.b);
            }
        }
    }
}

#[test]
fn a_directed_scheduler_hits_what_others_hardly_do() {
    let contenders = vec![Contender::RaceDirected, Contender::Undirected(Scheduler::Random)];
    let request = RacesRequest { contenders, trials: 200, ..RacesRequest::default() };
    let report = report(&sample("sen_fig2"), &request);
    let hits: Vec<u64> = report.schedulers.iter().flatten().map(|of| of.pairs[0].hits).collect();
    assert_eq!(hits[0], 200);
    assert!(hits[1] < 20, "{hits:?}");
}
