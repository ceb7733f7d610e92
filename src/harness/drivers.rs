//! Drivers that close a file without `main`: programs that run each pair of its methods in parallel.
//!
//! **Input**: the text of the file and its syntax tree.
//!
//! **Output**: [`Driver`]s: the text followed by a `main`. The original text is unchanged, so that all its places are those of
//! the file.
//!
//! **Algorithm**: Sen (PLDI 2008, section 5.1) closes collections with two empty objects of a class. Threads call different
//! methods on them, with the other object as an argument if a method takes one. Here each driver has two threads with one call
//! each:
//! 1. each pair of methods in each [arrangement](super::arrangement) of freshly made objects;
//! 2. the same after calls of one method that may change the objects: each method in turn, either once, or so often that one more
//!    call reaches a number of the file (so a collection is not empty, or is nearly full);
//! 3. all of this with other values as arguments;
//! 4. on request ([`Methods::more_drivers`]), two calls in each thread, the first one of a method that may change the objects;
//!    and all pairs of different values.
//!
//! If there are too many, pairs that contain a changing method come before pairs of methods that only read.
//!
//! The results of the two calls are printed. After them, the visible state of the objects is printed: public fields, the results
//! of methods that need no argument, change nothing and cannot wait or fail, and the variables of the file. So executions that
//! leave different states have different outcomes.
//!
//! **Soundness and limits**: an execution of a driver belongs to a program that uses the classes, but it may break rules of use
//! that the text does not state: a call may fail, or wait for ever, even if nothing runs in parallel. Other programs can do more.
//! Synchronisation objects and threads are not arguments. There are at most [`MAX_DRIVERS`] drivers.

use super::arrangement::{Arrangement, Object, arrangements, objects};
use super::construction::Constructors;
use super::effects::{Effects, effects};
use super::methods::{Callable, Methods, is_printable};
use super::writer::{MainText, ValueOrder, Writer, call, labels, repeated};
use cssame_front::csm::syntax::ast::TypeKind;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The drivers of a file at most.
pub const MAX_DRIVERS: usize = 256;

/// Places in the lists of values from which the arguments of the first and of the second call are taken. Two calls of one
/// method begin with different values, since two writes of one value would look harmless.
const VALUES: [[usize; 2]; 4] = [[0, 0], [1, 1], [0, 1], [2, 2]];
const VALUES_OF_ONE_METHOD: [[usize; 2]; 4] = [[0, 1], [1, 1], [0, 0], [2, 2]];

/// Drivers with two calls in each thread, at most.
const MAX_TWO_CALLS: usize = 64;

/// Places of values from which further pairs are made.
const MORE_VALUES: usize = 7;

/// The places of the values of a pair of calls: first those above, then all other pairs.
fn places_of_values(number: usize, is_one_method: bool) -> [usize; 2] {
    let few = if is_one_method { VALUES_OF_ONE_METHOD } else { VALUES };
    let all = (0..MORE_VALUES).flat_map(|first| (0..MORE_VALUES).map(move |second| [first, second]));
    let more = all.filter(|pair| !few.contains(pair));
    few.into_iter().chain(more).nth(number).unwrap_or_default()
}

/// What is printed at the end of each object, and of the variables of the file, at most.
const MAX_PRINTED: usize = 8;

/// A program in which two methods of a file run in parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The whole text.
    pub text: String,
    /// What was added to the file.
    pub main: String,
    /// Which methods they are, and what is special: `Vector.add || Vector.containsAll, after Vector.add`. No other
    /// driver of the file has this name.
    pub name: String,
    /// Whether one of the calls may wait for something that another thread has to do. Then a deadlock may be due to the
    /// driver, which has no more threads.
    pub waits: bool,
}

impl Methods<'_> {
    /// The drivers of a file without `main`, the plainest first, [`MAX_DRIVERS`] at most. None where the file has a
    /// `main`.
    #[must_use]
    pub fn drivers(&self) -> Vec<Driver> {
        self.generate(VALUES.len(), MAX_DRIVERS)
    }

    /// Those and more, with two calls in each thread and with all pairs of values, up to the same number.
    #[must_use]
    pub fn more_drivers(&self) -> Vec<Driver> {
        self.generate(MORE_VALUES * MORE_VALUES, MAX_DRIVERS)
    }

    /// Whether there are more drivers than [`MAX_DRIVERS`].
    #[must_use]
    pub fn has_more_drivers(&self) -> bool {
        self.generate(VALUES.len(), MAX_DRIVERS + 1).len() > MAX_DRIVERS
    }

    fn generate(&self, values: usize, limit: usize) -> Vec<Driver> {
        if self.has_main() {
            return Vec::new();
        }
        let closer = Closer::new(self);
        let mut known: BTreeSet<String> = BTreeSet::new();
        let mut found = Vec::new();
        for plan in closer.plans(values) {
            let main = closer.main(&plan);
            if known.insert(main.clone()) {
                let text = closer.writer.append(&main);
                found.push(Driver { text, main, name: plan.name(), waits: closer.waits(&plan) });
            }
            if found.len() == limit {
                break;
            }
        }
        found
    }
}

/// One driver, before it is written.
#[derive(Clone, Debug)]
struct Plan<'a> {
    arrangement: &'a Arrangement<'a>,
    prelude: Option<Prelude<'a>>,
    /// What each thread calls before.
    own: Option<[Callable<'a>; 2]>,
    /// Which of [`VALUES`].
    values: usize,
}

/// A method that is called so often before.
#[derive(Clone, Copy, Debug)]
struct Prelude<'a> {
    method: Callable<'a>,
    calls: i64,
}

impl Plan<'_> {
    fn name(&self) -> String {
        let [first, second] = self.arrangement.pair.map(|one| one.name());
        let mut name = format!("{first} || {second}");
        if !self.arrangement.exchanged.is_empty() {
            name += &format!(", of the other {}", self.arrangement.exchanged.join(" and "));
        }
        match self.prelude {
            Some(Prelude { method, calls: 1 }) => name += &format!(", after {}", method.name()),
            Some(Prelude { method, calls }) => name += &format!(", after {calls} times {}", method.name()),
            None => {}
        }
        if let Some([one, other]) = self.own {
            name += &format!(", each behind a call: {} || {}", one.name(), other.name());
        }
        if self.values > 0 {
            name += &format!(", values {}", self.values + 1);
        }
        name
    }

    /// Where in the lists of values the arguments of the two calls begin.
    fn turns(&self) -> [usize; 2] {
        let [first, second] = &self.arrangement.pair;
        places_of_values(self.values, first.is(second))
    }
}

/// Writes the drivers of one file.
struct Closer<'a> {
    methods: &'a Methods<'a>,
    writer: Writer<'a>,
    constructors: Constructors<'a>,
    effects: BTreeMap<&'a str, Effects>,
    callables: Vec<Callable<'a>>,
    arrangements: Vec<Arrangement<'a>>,
    /// Of each arrangement, found when the first of them is asked for.
    preludes: OnceCell<Vec<Vec<Prelude<'a>>>>,
    /// False where a function of the file has taken the place of `print`.
    prints: bool,
}

impl<'a> Closer<'a> {
    fn new(methods: &'a Methods<'a>) -> Closer<'a> {
        let writer = methods.writer(ValueOrder::SmallFirst);
        let all = methods.callables();
        let effects = effects(&all);
        let mut callables = all;
        let constructors = methods.constructors();
        callables.retain(|one| one.public && constructors.can_call(*one, &writer));
        let globals = methods.has_globals();
        // Each arrangement makes a driver, so that no more are needed.
        let all = || arrangements(&callables, globals);
        let changes =
            |one: &Callable<'_>| effects.get(one.function.name.name.as_str()).is_some_and(|effects| effects.changes);
        let is_telling = |one: &Arrangement<'_>| one.pair.iter().any(changes);
        let mut arrangements: Vec<Arrangement<'_>> = all().take(MAX_DRIVERS + 1).collect();
        if arrangements.len() > MAX_DRIVERS {
            let telling = all().filter(is_telling).chain(all().filter(|one| !is_telling(one)));
            arrangements = telling.take(MAX_DRIVERS + 1).collect();
        }
        Closer {
            methods,
            writer,
            constructors,
            effects,
            callables,
            arrangements,
            preludes: OnceCell::new(),
            prints: methods.prints(),
        }
    }

    fn effects(&self, one: Callable<'_>) -> Effects {
        self.effects.get(one.function.name.name.as_str()).copied().unwrap_or_default()
    }

    /// All plans, the plainest first: by values, then by how special the prelude is, then by arrangement. Those with two calls in each
    /// thread come before more than the few values.
    fn plans(&'a self, values: usize) -> impl Iterator<Item = Plan<'a>> {
        (0..values).flat_map(move |values| {
            let plan = move |arrangement| Plan { arrangement, prelude: None, own: None, values };
            let plain = self.arrangements.iter().map(plan);
            let after = std::iter::once(()).flat_map(move |()| self.plans_after_preludes(values));
            let two_calls = (values == VALUES.len()).then(|| self.plans_of_two_calls());
            two_calls.into_iter().flatten().chain(plain).chain(after)
        })
    }

    /// Each thread calls something else first that may change the objects.
    fn plans_of_two_calls(&'a self) -> impl Iterator<Item = Plan<'a>> {
        let all = self.arrangements.iter().flat_map(move |arrangement| {
            let first = self.changing(arrangement);
            let pairs =
                first.clone().into_iter().flat_map(move |one| first.clone().into_iter().map(move |other| [one, other]));
            pairs.map(move |own| Plan { arrangement, prelude: None, own: Some(own), values: 0 })
        });
        all.take(MAX_TWO_CALLS)
    }

    fn plans_after_preludes(&'a self, values: usize) -> impl Iterator<Item = Plan<'a>> {
        let preludes = self.preludes.get_or_init(|| self.arrangements.iter().map(|one| self.preludes(one)).collect());
        let longest = preludes.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest).flat_map(move |rank| {
            self.arrangements.iter().zip(preludes).filter_map(move |(arrangement, preludes)| {
                let prelude = Some(*preludes.get(rank)?);
                Some(Plan { arrangement, prelude, own: None, values })
            })
        })
    }

    /// What may bring the objects of a pair into another state: methods of their classes that may change something, those
    /// first that wait for nobody; for functions without objects, such functions.
    fn preludes(&self, arrangement: &Arrangement<'a>) -> Vec<Prelude<'a>> {
        let (waiting, ready): (Vec<Callable<'a>>, Vec<Callable<'a>>) =
            self.changing(arrangement).into_iter().partition(|one| self.effects(*one).waits);
        let numbers: Vec<i64> = [1].into_iter().chain(self.writer.repeats()).collect();
        let with = |methods: Vec<Callable<'a>>| {
            let all = numbers.iter().flat_map(|&calls| methods.iter().map(move |&method| Prelude { method, calls }));
            all.collect::<Vec<_>>()
        };
        [with(ready), with(waiting)].concat()
    }

    /// Methods that may change the objects of an arrangement; for functions without objects, such functions.
    fn changing(&self, arrangement: &Arrangement<'a>) -> Vec<Callable<'a>> {
        let touched: Vec<Object<'_>> = arrangement.objects().concat();
        let fits = |one: &&Callable<'a>| match one.class_name() {
            Some(class) => touched.iter().any(|object| object.class == class),
            None => touched.is_empty() && objects(**one, &[]).is_empty(),
        };
        self.callables.iter().filter(fits).filter(|one| self.effects(**one).changes).copied().collect()
    }

    fn waits(&self, plan: &Plan<'_>) -> bool {
        let prelude = plan.prelude.map(|prelude| prelude.method);
        let own = plan.own.into_iter().flatten();
        plan.arrangement.pair.into_iter().chain(prelude).chain(own).any(|one| self.effects(one).waits)
    }

    fn main(&self, plan: &Plan<'a>) -> String {
        let mut used: BTreeSet<Object<'a>> = plan.arrangement.objects().concat().into_iter().collect();
        let seen: Vec<Object<'a>> = used.iter().copied().collect();
        let mut before = Vec::new();
        if let Some(Prelude { method, calls }) = plan.prelude {
            let receivers: Vec<bool> = match method.class_name() {
                Some(class) => seen.iter().filter(|object| object.class == class).map(|object| object.second).collect(),
                None => vec![false],
            };
            for second in receivers {
                let of_call = self.objects_of(method, second);
                before.extend(repeated(&self.call(method, &of_call, 0), calls));
                used.extend(of_call);
            }
        }
        let [first, second] = plan.arrangement.objects();
        let [turn, other_turn] = plan.turns();
        let [one, other] = plan.arrangement.pair;
        let mut own = plan.own.map(|pair| pair.map(Some)).unwrap_or_default().into_iter();
        let calls = [(one, first, turn), (other, second, other_turn)].map(|(method, objects, turn)| {
            let call = self.call(method, &objects, turn);
            let before = own.next().flatten().map(|before| {
                let is_second = objects.iter().any(|object| Some(object.class) == before.class_name() && object.second);
                let of_call = self.objects_of(before, is_second);
                let call = self.call(before, &of_call, turn);
                used.extend(of_call);
                format!("{call};")
            });
            let last = if self.prints && is_printable(&method.function.result.kind) {
                format!("print({call});")
            } else {
                format!("{call};")
            };
            before.into_iter().chain([last]).collect()
        });
        let value = |ty: &TypeKind| self.writer.values(ty).into_iter().next().unwrap_or_default();
        let mut objects = Vec::new();
        for object in &used {
            self.constructors.declare((object.class, &self.name(*object)), &self.writer, &value, &mut objects);
        }
        let objects = objects.into_iter().map(|line| line + ";").collect();
        MainText { objects, before, labels: labels(), calls, after: self.visible(&seen) }.text()
    }

    /// The objects of a call before the threads start: the receiver is given, the others are as in an arrangement.
    fn objects_of(&self, method: Callable<'a>, second: bool) -> Vec<Object<'a>> {
        let exchanged = method.class_name().filter(|_| second);
        objects(method, exchanged.as_slice())
    }

    fn name(&self, object: Object<'_>) -> String {
        self.writer.object(object.role(), object.class)
    }

    /// A call with its objects, and values from the given place of their lists on.
    fn call(&self, one: Callable<'_>, objects: &[Object<'_>], turn: usize) -> String {
        let mut objects = objects.iter().map(|object| self.name(*object));
        let receiver = one.class.and_then(|_| objects.next());
        let mut next = turn;
        let mut arguments = Vec::new();
        for parameter in &one.function.parameters {
            if matches!(parameter.ty.kind, TypeKind::Class(_)) {
                arguments.extend(objects.next());
            } else {
                let values = self.writer.values(&parameter.ty.kind);
                arguments.extend(values.get(next % values.len().max(1)).cloned());
                next += 1;
            }
        }
        call(receiver.as_deref(), one, &arguments)
    }

    /// Prints what can be seen of the objects and of the variables of the file.
    fn visible(&self, objects: &[Object<'_>]) -> Vec<String> {
        if !self.prints {
            return Vec::new();
        }
        let mut lines = Vec::new();
        for object in objects {
            let name = self.name(*object);
            let fields =
                self.methods.public_fields(object.class).into_iter().map(|field| format!("print({name}.{field});"));
            let observers = self.callables.iter().filter(|one| {
                one.class_name() == Some(object.class)
                    && one.function.parameters.is_empty()
                    && is_printable(&one.function.result.kind)
                    && self.effects(**one) == Effects::default()
            });
            let observers = observers.map(|one| format!("print({});", call(Some(&name), *one, &[])));
            lines.extend(fields.chain(observers).take(MAX_PRINTED));
        }
        let globals = self.methods.globals();
        lines.extend(globals.into_iter().map(|name| format!("print({name});")).take(MAX_PRINTED));
        lines
    }
}
