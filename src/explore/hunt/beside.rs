//! Adds the findings of a search in the order of preemptions to the answers of other searches.
//!
//! **Input**: an answer, its query, and the budget that the other search had. **Output**: if a bound has cut the answer: the
//! failures and deadlocks that it does not have, and the races.
//!
//! **Algorithm**: a breadth-first search through all behaviours of a program may not reach bugs far from the beginning, which a
//! few preemptions show. The other search gets [most of the time](SEARCH); [`search`](super::search) gets the rest, and as many
//! states. Decided facts stay unchanged.
//!
//! **Soundness and limits**: everything that is added is real. If the steps of executions are bounded, nothing is added, because
//! the search does not count them.

use super::samples::samples;
use super::{HuntAnswer, HuntRequest, note_ends};
use crate::answer::{Answer, Query};
use crate::question::bad_ends::BadEnds;
use crate::question::races::{Race, RacesAnswer, races};
use crate::question::samples::add_executions;
use crate::subject::Subject;
use cssame_budget::{Bound, Budget, Limits, Statistics};
use cssame_ir::Access;

/// The part of the time that a search has before this one.
const SEARCH: f64 = 0.8;

/// States that are visited behind any search, if so many may be: a fraction of a second.
const FEW_STATES: u64 = 20_000;

impl Subject<'_> {
    /// Finds out what can happen, and, where a bound has cut that, adds failures and deadlocks that take few preemptions.
    #[must_use]
    pub fn futures_and_hunt(&self, query: &Query<'_>, budget: &Budget<'_>) -> Answer {
        let mut answer = self.futures(query, &budget.with_part_of_time(SEARCH));
        self.add_hunted(query, &mut answer, budget);
        answer
    }

    /// The same of an answer that [`Subject::futures_with_outcomes`] gives.
    #[must_use]
    pub fn futures_with_outcomes_and_hunt(
        &self,
        all_outcomes: bool,
        counts: bool,
        budget: &Budget<'_>,
    ) -> (Answer, Option<Bound>) {
        let (mut answer, bound) = self.futures_with_outcomes(all_outcomes, counts, &budget.with_part_of_time(SEARCH));
        self.add_hunted(&Query::default(), &mut answer, budget);
        (answer, bound)
    }

    fn add_hunted(&self, query: &Query<'_>, answer: &mut Answer, budget: &Budget<'_>) {
        if let Some(hunted) = self.hunt_behind(answer.bound, &answer.statistics, budget) {
            add_executions(self.machine, query, hunted.bad_schedules(), answer);
            answer.finished = hunted.finished;
        }
    }

    /// Finds races by all states; where a bound has cut that, adds races, failures and deadlocks that take few preemptions.
    #[must_use]
    pub fn races_and_hunt(&self, wanted: &[[Access; 2]], budget: &Budget<'_>) -> RacesAnswer {
        let mut answer = races(self.machine, self.program, wanted, &budget.with_part_of_time(SEARCH));
        if let Some(hunted) = self.hunt_behind(answer.bound, &answer.statistics, budget) {
            self.add_races(&mut answer, &hunted);
            answer.finished = hunted.finished.filter(|_| hunted.races.is_some());
        }
        answer
    }

    fn add_races(&self, answer: &mut RacesAnswer, hunted: &HuntAnswer) {
        let RacesAnswer { failures, deadlocks, tables, .. } = answer;
        let mut bad = BadEnds::take(self.machine, (failures, deadlocks));
        note_ends((self.machine, tables), hunted.bad_schedules(), &mut bad, Clone::clone);
        (*failures, *deadlocks) = bad.lists(self.machine, |schedule| schedule);
        deadlocks.sort_by_key(|deadlock| deadlock.schedule.len());
        for met in hunted.races.iter().flatten() {
            if answer.race(met.accesses).is_some() {
                continue;
            }
            let mut cells = met.cells.clone();
            cells.sort_unstable();
            answer.races.push(Race {
                accesses: met.accesses,
                mixed: met.mixed,
                cells,
                schedule: met.schedule.clone(),
                steps: met.steps,
                threads: met.threads.map(|thread| answer.tables.adopt_path(&hunted.tables, thread)),
                failing: [None, None],
                goes_on: [true, true],
                outcomes_differ: None,
            });
            answer.races.sort_by_key(|race| race.accesses);
        }
    }

    /// The search behind one that a bound has cut when it had visited so much.
    fn hunt_behind(&self, bound: Option<Bound>, visited: &Statistics, budget: &Budget<'_>) -> Option<HuntAnswer> {
        let may_add = bound.is_some_and(|bound| bound != Bound::Interrupt) && budget.limits().max_steps.is_none();
        let request = HuntRequest::default();
        // Who bounds executions, or time, does not want to wait for states much longer.
        let max_states = Some(visited.states.max(FEW_STATES));
        let budget = &budget.share(Limits { max_states, ..Limits::default() });
        may_add.then(|| self.hunt_alone(&request, budget, samples(self.machine, &request, budget)))
    }
}
