//! Makes a failing test small.
//!
//! **Input**: a test, and the behaviour that it shows. **Output**: a [`Minimised`]: a test that shows the same with the fewest
//! calls, then the simplest arguments, and an execution with few switches.
//!
//! **Algorithm**: parts are removed as long as the rest shows the same: first whole parts of the test, then single calls. Main
//! makes a call in place of a thread if the test still shows the same. Then arguments are replaced by simpler values, and objects
//! by the first object of their class. A search through all executions decides whether a test shows the behaviour. Among the
//! executions that show it, the result is the one with the fewest thread switches after its steps are reordered.
//!
//! **Soundness and limits**: no single call can be removed from the result, but a smaller test may exist. If a test has too many
//! states, some random executions are tried; if they do not show the behaviour, the part stays.

use super::execute::{Context, FindingKey, Prepared};
use super::subject::Subject;
use super::test::{Argument, Call, PostStep, TestCase};
use crate::linear::CallEnd;
use cssame_budget::Budget;
use cssame_harness::{ParameterType, ValueType};
use cssame_schedule::{Random, Scripted, fewer_switches};
use cssame_vm::Choice;

/// States that a search may visit to see whether a test shows something.
const STATES: u64 = 20_000;

/// Executions at random where there are too many states.
const EXECUTIONS: u64 = 100;

/// Executions that are put into a better order.
const ORDERED: usize = 16;

/// A small test that shows something.
#[derive(Clone, Debug)]
pub struct Minimised {
    /// The test.
    pub test: TestCase,
    /// What it shows.
    pub key: FindingKey,
    /// How an execution ends that shows it, with its steps.
    pub end: CallEnd,
}

/// Makes a test small.
pub fn minimise(context: &Context<'_>, subject: &Subject<'_>, found: Minimised, budget: &Budget<'_>) -> Minimised {
    let search = Search { context, subject, key: &found.key.clone(), budget };
    let mut best = found;
    search.leave_out(&mut best);
    while search.move_out(&mut best) {}
    search.simplify(&mut best);
    search.order(&mut best);
    best
}

struct Search<'a> {
    context: &'a Context<'a>,
    subject: &'a Subject<'a>,
    key: &'a FindingKey,
    budget: &'a Budget<'a>,
}

impl Search<'_> {
    /// Whether an execution of a test shows the same. Of results that no order has, the places are the test itself.
    fn is_same(&self, key: &FindingKey) -> bool {
        let same = (key.kind, key.status, key.sequential) == (self.key.kind, self.key.status, self.key.sequential);
        same && key.places == self.key.places
    }

    /// The executions of a test that show the same, the shortest first.
    fn shown(&self, test: &TestCase) -> Vec<CallEnd> {
        let Ok(prepared) = Prepared::new(self.context, self.subject, test, self.budget) else { return Vec::new() };
        let is_wanted = |end: &CallEnd| prepared.key(end).is_some_and(|key| self.is_same(&key));
        let (ends, bound) = prepared.explore(self.context.explore.unwrap_or(0).max(STATES), self.budget);
        let mut found: Vec<CallEnd> = ends.into_iter().filter(is_wanted).collect();
        if found.is_empty() && bound.is_some() {
            let ends =
                (0..EXECUTIONS).filter_map(|seed| prepared.execute(&mut Random::new(seed), self.context.max_steps));
            found.extend(ends.filter(is_wanted).take(1));
        }
        found
    }

    /// Takes a test instead, if it shows the same.
    fn take(&self, best: &mut Minimised, test: TestCase) -> bool {
        if self.budget.check().is_some() {
            return false;
        }
        let Some(end) = self.shown(&test).into_iter().next() else { return false };
        (best.test, best.end) = (test, end);
        true
    }

    /// Leaves out whole parts, then single calls, as long as that goes.
    fn leave_out(&self, best: &mut Minimised) {
        let without_post = TestCase { post: Vec::new(), ..best.test.clone() };
        let without_prefix = TestCase { prefix: Vec::new(), ..best.test.clone() };
        let neither = TestCase { prefix: Vec::new(), ..without_post.clone() };
        let is_taken = self.take(best, neither);
        if !is_taken && !self.take(best, without_post) {
            self.take(best, without_prefix);
        }
        loop {
            let before = best.test.length();
            for place in (0..before).rev() {
                let mut test = best.test.clone();
                if remove(&mut test, place) {
                    self.take(best, test);
                }
            }
            if best.test.length() == before || self.budget.check().is_some() {
                return;
            }
        }
    }

    /// Lets main make the first or the last call of a thread, where the test is not larger then; whether that was so.
    fn move_out(&self, best: &mut Minimised) -> bool {
        for thread in 0..2 {
            for is_first in [true, false] {
                let mut moved = best.clone();
                let calls = &mut moved.test.suffixes[thread];
                if calls.is_empty() {
                    continue;
                }
                if is_first {
                    moved.test.prefix.push(calls.remove(0));
                } else if let Some(call) = calls.pop() {
                    moved.test.post.insert(0, PostStep::Call(call));
                }
                let Some(end) = self.shown(&moved.test).into_iter().next() else { continue };
                moved.end = end;
                self.leave_out(&mut moved);
                if size(&moved.test) < size(&best.test) {
                    *best = moved;
                    return self.budget.check().is_none();
                }
            }
        }
        false
    }

    /// Replaces arguments by simpler ones, and objects by the first of their class.
    fn simplify(&self, best: &mut Minimised) {
        self.simplify_values(best);
        let count = best.test.calls().count();
        for call in 0..count {
            let Some(known) = best.test.calls().nth(call).cloned() else { return };
            for simpler in self.with_simpler_object(&known) {
                let mut test = best.test.clone();
                replace(&mut test, call, simpler);
                self.take(best, test);
            }
            for place in 0..known.arguments.len() {
                self.simplify_argument(best, call, place);
            }
        }
    }

    /// Replaces a value by a simpler one wherever it is an argument: calls may need the same one.
    fn simplify_values(&self, best: &mut Minimised) {
        let mut values: Vec<(ValueType, String)> = Vec::new();
        for call in best.test.calls() {
            let parameters = &self.subject.methods[call.method].parameters;
            for (argument, parameter) in call.arguments.iter().zip(parameters) {
                if let (Argument::Value(value), ParameterType::Value(ty)) = (argument, parameter)
                    && !values.contains(&(*ty, value.clone()))
                {
                    values.push((*ty, value.clone()));
                }
            }
        }
        for (ty, value) in values {
            for simpler in self.subject.values.all(ty).take_while(|simpler| *simpler != value) {
                let mut test = best.test.clone();
                for call in calls_mut(&mut test) {
                    let parameters = &self.subject.methods[call.method].parameters;
                    for (argument, parameter) in call.arguments.iter_mut().zip(parameters) {
                        if *parameter == ParameterType::Value(ty) && *argument == Argument::Value(value.clone()) {
                            *argument = Argument::Value(simpler.to_owned());
                        }
                    }
                }
                if self.take(best, test) {
                    break;
                }
            }
        }
    }

    fn with_simpler_object(&self, call: &Call) -> Vec<Call> {
        let first = |object| {
            let class = &self.subject.objects[object].class;
            self.subject.objects_of(class).next().filter(|&first| first != object)
        };
        let mut all = Vec::new();
        if let Some(receiver) = call.receiver.and_then(first) {
            all.push(Call { receiver: Some(receiver), ..call.clone() });
        }
        for (place, argument) in call.arguments.iter().enumerate() {
            if let Argument::Object(object) = argument
                && let Some(first) = first(*object)
            {
                let mut simpler = call.clone();
                simpler.arguments[place] = Argument::Object(first);
                all.push(simpler);
            }
        }
        all
    }

    fn simplify_argument(&self, best: &mut Minimised, call: usize, place: usize) {
        let Some(known) = best.test.calls().nth(call).cloned() else { return };
        let parameter = self.subject.methods[known.method].parameters.get(place);
        let (Some(Argument::Value(value)), Some(ParameterType::Value(ty))) = (known.arguments.get(place), parameter)
        else {
            return;
        };
        for simpler in self.subject.values.all(*ty).take_while(|simpler| simpler != value) {
            let mut test = best.test.clone();
            let mut other = known.clone();
            other.arguments[place] = Argument::Value(simpler.to_owned());
            replace(&mut test, call, other);
            if self.take(best, test) {
                return;
            }
        }
    }

    /// Finds an execution with few switches.
    fn order(&self, best: &mut Minimised) {
        let Ok(prepared) = Prepared::new(self.context, self.subject, &best.test, self.budget) else { return };
        let mut all = self.shown(&best.test);
        all.truncate(ORDERED);
        all.push(best.end.clone());
        let machine = prepared.program.model.machine();
        let ordered = all.into_iter().map(|end| {
            let better = fewer_switches(machine, &end.steps).map(|reordered| reordered.steps);
            let again = better.and_then(|steps| prepared.execute(&mut Scripted::new(&steps), u64::MAX));
            again.filter(|again| prepared.key(again).is_some_and(|key| self.is_same(&key))).unwrap_or(end)
        });
        if let Some(end) = ordered.min_by_key(|end| (switches(&end.steps), end.steps.len(), end.steps.clone())) {
            best.end = end;
        }
    }
}

/// How many calls a test has, and how many of them are made in parallel.
fn size(test: &TestCase) -> (usize, u32) {
    (test.length(), test.parallel_calls().iter().sum())
}

/// How often an execution switches threads.
fn switches(steps: &[Choice]) -> usize {
    steps.windows(2).filter(|two| two[0].thread != two[1].thread).count()
}

/// Takes out a call: those of the prefix are counted first, then those of the threads, then the post part.
fn remove(test: &mut TestCase, place: usize) -> bool {
    let mut place = place;
    let [first, second] = &mut test.suffixes;
    for calls in [&mut test.prefix, first, second] {
        if place < calls.len() {
            calls.remove(place);
            return true;
        }
        place -= calls.len();
    }
    if place < test.post.len() {
        test.post.remove(place);
        return true;
    }
    false
}

/// Puts another call in the place of one; they are counted as [`TestCase::calls`] lists them.
fn replace(test: &mut TestCase, place: usize, other: Call) {
    if let Some(call) = calls_mut(test).nth(place) {
        *call = other;
    }
}

/// All calls, as [`TestCase::calls`] lists them.
fn calls_mut(test: &mut TestCase) -> impl Iterator<Item = &mut Call> {
    let [first, second] = &mut test.suffixes;
    let post = test.post.iter_mut().filter_map(|step| match step {
        PostStep::Call(call) | PostStep::Invariant(call) => Some(call),
        PostStep::Field(..) | PostStep::Global(_) => None,
    });
    test.prefix.iter_mut().chain(first).chain(second).chain(post)
}
