//! Makes tests.
//!
//! **Input**: a [`Subject`], the accesses that each of its methods reaches, [`PairRanks`], and random numbers. **Output**:
//! [`TestCase`]s: for an instance of a pattern, for a pair of methods, or at random.
//!
//! **Algorithm** (Wang et al., algorithm 4, and CovCon).
//!
//! 1. For an instance, each letter gets a method that reaches its access. If one call reaches several letters of one thread, that
//!    call may serve all of them. Among the pairs of methods for the first letters of both threads, either a pair that was
//!    covered least often is taken, or any pair. The calls of a thread follow the order of its letters. They need not alternate
//!    with those of the other thread: patterns 10 and 12 to 15 are a, b, b, a.
//! 2. Some additional random calls may stand anywhere in a thread.
//! 3. The prefix consists of some random calls, which prefer methods that change state and exclude methods that may wait.
//!    Alternatively it repeats the calls of one method so often that one more call reaches a number of the file.
//! 4. The post part distinguishes states: it contains methods that return a result and change nothing, public fields, and
//!    variables of the file.
//! 5. In half of the tests the second thread takes its arguments from those of the first thread; the other calls take half of
//!    their arguments from both.
//!
//! **Soundness and limits**: a test may break rules of use that the text does not state.

use super::directed::Aim;
use super::subject::{CallableId, ObjectId, Subject};
use super::targets::shuffle;
use super::test::{Argument, Call, PostStep, TestCase};
use crate::instance::Instance;
use crate::method_pairs::{MethodId, MethodPair};
use crate::pattern::Role;
use crate::universe::AccessId;
use cssame_harness::{ParameterType, Signature, ValueType};
use cssame_schedule::Random;
use fixedbitset::FixedBitSet;
use std::collections::{BTreeMap, BTreeSet};

/// Lengths of prefixes, each as probable as the others.
const PREFIX_LENGTHS: [usize; 8] = [0, 0, 1, 1, 2, 2, 3, 4];

/// Calls that a thread makes besides, each number as probable as the others.
const EXTRA_CALLS: [usize; 6] = [0, 0, 0, 1, 1, 2];

/// Numbers of the file up to which a method may be called before the threads start.
const MAX_REPEATS: i64 = 16;

/// Steps of a post part of each kind.
const MAX_POST: usize = 4;

/// Makes the tests of one class.
#[derive(Debug)]
pub struct Maker<'a> {
    /// The class.
    pub subject: &'a Subject<'a>,
    /// By method: the accesses that a call comes to.
    pub reach: Vec<FixedBitSet>,
    /// By method: its number among the public methods of the file.
    pub numbers: Vec<Option<MethodId>>,
    /// What has to give true behind the threads.
    pub invariant: Option<CallableId>,
    /// Numbers of the file that calls may be repeated up to.
    pub repeats: Vec<usize>,
}

/// How often pairs of methods were tried and covered.
///
/// A pair counts once for each test in which the two threads call its methods, and once more if the test has covered it. So
/// those that were covered least often come first, but one that cannot be covered, because a lock keeps its methods apart, is
/// no more in the way of others than one that is covered always.
#[derive(Clone, Debug, Default)]
pub struct PairRanks(BTreeMap<[CallableId; 2], u64>);

impl PairRanks {
    /// A test was executed; `is_covered` says whether it has covered a pair.
    pub fn add(&mut self, test: &TestCase, is_covered: impl Fn([CallableId; 2]) -> bool) {
        let [first, second] = &test.suffixes;
        let pairs = first.iter().flat_map(|one| second.iter().map(move |other| pair(one.method, other.method)));
        for pair in pairs.collect::<BTreeSet<_>>() {
            *self.0.entry(pair).or_default() += 1 + u64::from(is_covered(pair));
        }
    }

    fn rank(&self, one: CallableId, other: CallableId) -> u64 {
        self.0.get(&pair(one, other)).copied().unwrap_or(0)
    }
}

fn pair(one: CallableId, other: CallableId) -> [CallableId; 2] {
    [one.min(other), one.max(other)]
}

/// What was drawn so far, and how often others take it instead of something new.
struct Drawn {
    values: Vec<(ValueType, String)>,
    /// So many times of four.
    takes: u32,
    objects: Vec<ObjectId>,
}

/// Numbers that counters of a file may be about to reach.
#[must_use]
pub fn repeats(integers: &[i64]) -> Vec<usize> {
    let small = integers.iter().filter(|&&number| (3..=MAX_REPEATS).contains(&number));
    small.map(|&number| number as usize - 1).collect()
}

impl Maker<'_> {
    /// The methods that may run in parallel and come to an access.
    fn performers(&self, access: AccessId) -> Vec<CallableId> {
        let all = self.subject.parallel.iter().copied();
        all.filter(|method| self.reach[method.index()].contains(access.index())).collect()
    }

    /// Whether the methods of the class come to all accesses of an instance.
    #[must_use]
    pub fn can_perform(&self, instance: &Instance) -> bool {
        instance.accesses().iter().all(|&access| !self.performers(access).is_empty())
    }

    /// Whether calls of these two threads come to all accesses of an instance; which of them begins.
    #[must_use]
    pub fn aims_of(&self, test: &TestCase, instance: &Instance) -> Vec<Aim> {
        let has = |thread: usize, role: Role| {
            instance.steps().filter(|(letter, _)| letter.role == role).all(|(_, access)| {
                test.suffixes[thread].iter().any(|call| self.reach[call.method.index()].contains(access.index()))
            })
        };
        let fits = |&first: &usize| has(first, Role::A) && has(1 - first, Role::B);
        (0..2).filter(fits).map(|first| Aim { instance: *instance, first }).collect()
    }

    /// The numbers of a pair of methods among the public methods of the file.
    #[must_use]
    pub fn numbers_of(&self, pair: [CallableId; 2]) -> Option<MethodPair> {
        let [one, other] = pair.map(|method| self.numbers[method.index()]);
        one.zip(other).map(|(one, other)| [one.min(other), one.max(other)])
    }

    /// One of the pairs of methods that were covered least often.
    fn least_covered(
        &self,
        pairs: &PairRanks,
        lists: [&[CallableId]; 2],
        random: &mut Random,
    ) -> Option<[CallableId; 2]> {
        let all = lists[0].iter().flat_map(|&one| lists[1].iter().map(move |&other| [one, other]));
        let mut ranked: Vec<(u64, [CallableId; 2])> =
            all.map(|[one, other]| (pairs.rank(one, other), [one, other])).collect();
        let least = ranked.iter().map(|(count, _)| *count).min()?;
        ranked.retain(|(count, _)| *count == least);
        Some(ranked[random.below(ranked.len() as u32) as usize].1)
    }

    /// A test for an instance, by pairs of methods where counts are given; none where no method comes to an access.
    pub fn for_instance(
        &self,
        instance: &Instance,
        pairs: Option<&PairRanks>,
        random: &mut Random,
    ) -> Option<TestCase> {
        let performers: Vec<(Role, AccessId, Vec<CallableId>)> =
            instance.steps().map(|(letter, access)| (letter.role, access, self.performers(access))).collect();
        let first_of = |role: Role| performers.iter().find(|(of, ..)| *of == role).map(|(_, _, list)| list.as_slice());
        let lists = [first_of(Role::A)?, first_of(Role::B)?];
        if performers.iter().any(|(_, _, list)| list.is_empty()) {
            return None;
        }
        let ranked = pairs.and_then(|pairs| self.least_covered(pairs, lists, random));
        let mut chosen: [Vec<CallableId>; 2] = [Vec::new(), Vec::new()];
        for (role, access, list) in &performers {
            let own = &mut chosen[usize::from(*role == Role::B)];
            let is_done = own.last().is_some_and(|last| self.reach[last.index()].contains(access.index()));
            if is_done && random.below(2) == 0 {
                continue;
            }
            let preferred = ranked.map(|pair| pair[usize::from(*role == Role::B)]).filter(|one| list.contains(one));
            own.push(preferred.unwrap_or_else(|| list[random.below(list.len() as u32) as usize]));
        }
        if random.below(2) == 1 {
            chosen.swap(0, 1);
        }
        Some(self.around(chosen, random))
    }

    /// A test for a pair of methods that was covered least often.
    pub fn for_pair(&self, pairs: &PairRanks, random: &mut Random) -> Option<TestCase> {
        let all = self.subject.parallel.as_slice();
        let [one, other] = self.least_covered(pairs, [all, all], random)?;
        Some(self.around([vec![one], vec![other]], random))
    }

    /// Any test.
    pub fn at_random(&self, random: &mut Random) -> Option<TestCase> {
        let all = &self.subject.parallel;
        if all.is_empty() {
            return None;
        }
        let mut draw = || all[random.below(all.len() as u32) as usize];
        let chosen = [vec![draw()], vec![draw()]];
        Some(self.around(chosen, random))
    }

    /// A test in which the two threads call these methods, and perhaps others.
    fn around(&self, mut chosen: [Vec<CallableId>; 2], random: &mut Random) -> TestCase {
        let all = &self.subject.parallel;
        for list in &mut chosen {
            for _ in 0..EXTRA_CALLS[random.below(EXTRA_CALLS.len() as u32) as usize] {
                let place = random.below(list.len() as u32 + 1) as usize;
                list.insert(place, all[random.below(all.len() as u32) as usize]);
            }
        }
        let mut drawn = Drawn { values: Vec::new(), takes: 0, objects: Vec::new() };
        let is_equal = random.below(2) == 0;
        let [first, second] = chosen;
        let first: Vec<Call> = first.into_iter().map(|method| self.call(method, &mut drawn, random)).collect();
        drawn.takes = if is_equal { 4 } else { 0 };
        let second = second.into_iter().map(|method| self.call(method, &mut drawn, random)).collect();
        drawn.takes = 2;
        let prefix = self.prefix(&mut drawn, random);
        let mut test = TestCase { prefix, suffixes: [first, second], post: Vec::new() };
        test.post = self.post(&test.objects(), &mut drawn, random);
        test
    }

    /// A call with arguments.
    fn call(&self, method: CallableId, drawn: &mut Drawn, random: &mut Random) -> Call {
        let signature = &self.subject.methods[method];
        let receiver = signature.class.as_deref().and_then(|class| self.receiver(class, drawn, random));
        drawn.objects.extend(receiver);
        let mut arguments = Vec::new();
        for parameter in &signature.parameters {
            match parameter {
                ParameterType::Object(class) => {
                    let all: Vec<ObjectId> = self.subject.objects_of(class).collect();
                    let object = all.get(random.below(all.len() as u32) as usize).copied();
                    drawn.objects.extend(object);
                    arguments.extend(object.map(Argument::Object));
                }
                ParameterType::Value(ty) => arguments.push(Argument::Value(self.value(*ty, drawn, random))),
                ParameterType::Other => {}
            }
        }
        Call { method, receiver, arguments }
    }

    /// An object to call a method on: mostly one that was used before, so that the threads have one in common; else the first.
    fn receiver(&self, class: &str, drawn: &Drawn, random: &mut Random) -> Option<ObjectId> {
        let all: Vec<ObjectId> = self.subject.objects_of(class).collect();
        let used: Vec<ObjectId> = all.iter().copied().filter(|object| drawn.objects.contains(object)).collect();
        if used.is_empty() {
            return all.first().copied();
        }
        let list = if random.below(8) == 0 { &all } else { &used };
        list.get(random.below(list.len() as u32) as usize).copied()
    }

    fn value(&self, ty: ValueType, drawn: &mut Drawn, random: &mut Random) -> String {
        let known: Vec<&String> = drawn.values.iter().filter(|(of, _)| *of == ty).map(|(_, value)| value).collect();
        if !known.is_empty() && random.below(4) < drawn.takes {
            return known[random.below(known.len() as u32) as usize].clone();
        }
        let value = self.subject.values.draw(ty, random);
        drawn.values.push((ty, value.clone()));
        value
    }

    /// Calls that may bring the objects into another state.
    fn prefix(&self, drawn: &mut Drawn, random: &mut Random) -> Vec<Call> {
        let methods = || self.subject.methods.entries();
        let ready: Vec<CallableId> = methods().filter(|(_, one)| !one.effects.waits).map(|(id, _)| id).collect();
        let changes = |id: &CallableId| self.subject.methods[*id].effects.changes;
        let changing: Vec<CallableId> = ready.iter().copied().filter(changes).collect();
        if !self.repeats.is_empty() && !changing.is_empty() && random.below(8) == 0 {
            let count = self.repeats[random.below(self.repeats.len() as u32) as usize];
            let method = changing[random.below(changing.len() as u32) as usize];
            return (0..count).map(|_| self.call(method, drawn, random)).collect();
        }
        let length = PREFIX_LENGTHS[random.below(PREFIX_LENGTHS.len() as u32) as usize];
        let mut calls = Vec::new();
        for _ in 0..length {
            let list = if changing.is_empty() || random.below(8) == 0 { &ready } else { &changing };
            if !list.is_empty() {
                let method = list[random.below(list.len() as u32) as usize];
                calls.push(self.call(method, drawn, random));
            }
        }
        calls
    }

    /// What tells states apart.
    fn post(&self, used: &[ObjectId], drawn: &mut Drawn, random: &mut Random) -> Vec<PostStep> {
        let mut steps: Vec<PostStep> = Vec::new();
        if let Some(invariant) = self.invariant {
            let of_class = self.subject.objects_of(self.subject.class.as_deref().unwrap_or_default());
            for object in of_class.filter(|object| used.contains(object)) {
                let call = Call { method: invariant, receiver: Some(object), arguments: Vec::new() };
                steps.push(PostStep::Invariant(call));
            }
        }
        let tells = |one: &Signature| one.result.is_some() && !one.effects.waits;
        let pick = |wanted: &dyn Fn(&Signature) -> bool, random: &mut Random| {
            let fitting = self.subject.methods.entries().filter(|(_, one)| tells(one) && wanted(one));
            let mut list: Vec<CallableId> = fitting.map(|(id, _)| id).collect();
            shuffle(&mut list, random);
            list.truncate(MAX_POST);
            list
        };
        let fails = random.below(4) == 0;
        let mut called = pick(&|one| !one.effects.changes && (fails || !one.effects.may_fail), random);
        if called.is_empty() || random.below(4) == 0 {
            let changing = pick(&|one| one.effects.changes, random);
            called.extend(changing.first());
        }
        for method in called {
            let mut call = self.call(method, drawn, random);
            // Of an object that nobody has used there is nothing to tell.
            let class = self.subject.methods[method].class.as_deref().unwrap_or_default();
            let first_used = self.subject.objects_of(class).find(|object| used.contains(object));
            if call.receiver.is_some_and(|object| !used.contains(&object)) && first_used.is_some() {
                call.receiver = first_used;
            }
            steps.push(PostStep::Call(call));
        }
        let fields = used.iter().flat_map(|&id| {
            self.subject.objects[id].fields.iter().take(MAX_POST).map(move |field| PostStep::Field(id, field.clone()))
        });
        if self.subject.prints {
            steps.extend(fields);
            let globals = self.subject.file.globals();
            steps.extend(globals.into_iter().take(MAX_POST).map(|name| PostStep::Global(name.to_owned())));
        }
        steps
    }
}
