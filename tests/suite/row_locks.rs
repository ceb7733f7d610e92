//! Rows that have locks of their own: no execution shows a race at accesses that are said to hold the lock of their row.

use cssame::budget::{Budget, Limits};
use cssame::explore::races;
use cssame::form::races::potential_races;
use support::{first_seed, generate, possible_model, programs};

#[test]
fn no_execution_shows_a_race_that_locks_of_rows_are_said_to_prevent() {
    let (mut compared, mut racy, mut clean, mut wrong) = (0, 0, 0, Vec::new());
    for seed in first_seed(0)..first_seed(0) + programs(300) {
        let text = generate::rows(seed);
        let Some(model) = possible_model(&text) else { continue };
        let limits = Limits { max_states: Some(20_000), ..Limits::default() };
        let seen = races(model.machine(), model.program(), &[], &Budget::from(limits));
        let potential = potential_races(model.program(), model.form());
        compared += u64::from(seen.is_complete());
        racy += u64::from(!seen.races.is_empty());
        clean += u64::from(seen.is_complete() && potential.pairs().next().is_none());
        let missed = seen.races.iter().find(|race| !potential.contains(race.accesses[0], race.accesses[1]));
        if let Some(missed) = missed {
            wrong.push(format!("seed {seed}: {:?}\n{text}", missed.accesses));
        }
    }
    println!("{compared} compared, {racy} with races, {clean} without a warning");
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
    let are_fair = compared > 150 && racy > 60 && clean > 60;
    assert!(support::has_new_seed() || are_fair, "{compared}, {racy} with races, {clean} without a warning");
}
