//! Contexts of pairs that executions of the program reach, as Jannesari and Wolf record them (section 4.1).
//!
//! **Input**: a program with a `main`, and the facts about its pairs. **Output**: for each pair, programs that call its two
//! methods in parallel, with arguments, objects and states that an execution has had ([`cssame_harness`]).
//!
//! **Algorithm**: random executions with fixed seeds. A thread that has entered one of the two methods, and has done nothing in
//! it yet, is held while others can move, until another thread stands at the same point in the other method. Other executions let
//! some such meetings pass, so that later calls meet too ([`Passing`]): either a few meetings, by a step of one of the two
//! threads, or up to [`MAX_PASSED`], by letting the thread in a fixed one of the two methods finish its call each time. Then each
//! of its calls meets the thread in the other method. The values written until then are the state, without those that the two
//! threads have written since their calls. Equal contexts count once. Contexts in different states have the same calls if the
//! calls have the same objects and origins of values ([`super::call_origin`]).
//!
//! **Soundness and limits**: at most a few hundred executions and [`MAX_CALLS`] contexts for each pair. A state in which a lock
//! is held or a thread waits at a barrier cannot be set up, and is left out. Threads that are created for the method itself, and
//! arms, have no arguments. The values of locals of other threads are not part of the state.

use super::call_origin::CallOrigin;
use super::executed::{ContextModel, ExecutedPairs, Host};
use crate::{Tear, TearPattern, tear};
use cssame_budget::{Budget, Limits};
use cssame_correlation::{Analysis, MethodAccess};
use cssame_harness::{Argument, Methods};
use cssame_ir::{FunctionId, LeafKind, Program, RegisterType, Value};
use cssame_model::Model;
use cssame_schedule as schedule;
use cssame_schedule::{Decision, Policy, Random, Scripted, View};
use cssame_vm::{Cell, CodeIndex, Event, Move, Observer, State, ThreadIndex, ThreadName};
use std::collections::BTreeMap;

/// Executions that are recorded for each pair where two calls of it meet first, and as many where they meet a little later.
const EXECUTIONS: u64 = 40;

/// Meetings that an execution lets pass, at most: one less than there are contexts of a pair. Few pass where a step is enough for that.
const MAX_PASSED: u64 = 15;
const MAX_PASSED_AT_RANDOM: u64 = 3;

/// Steps of each of them at most.
const MAX_STEPS: u64 = 5_000;

/// Contexts of a pair, beyond which only calls are kept that none of the others has, and contexts of a pair at most.
const MAX_CONTEXTS: usize = 8;
const MAX_CALLS: usize = 16;

/// States that are visited of a context, at most.
const STATES: u64 = 100_000;

/// Times that a semaphore is raised or lowered to bring it into a state, at most.
const MAX_RAISED: i64 = 100;

/// A program in which a pair begins as it did in an execution.
#[derive(Debug)]
pub struct RecordedContext {
    /// Index of the pair in the analysis.
    pub pair: usize,
    pub(super) context: ContextModel,
    /// Those of the two calls.
    calls: [CallOrigin; 2],
}

impl RecordedContext {
    /// The program.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.context.model
    }

    /// The `main` that stands in the place of that of the file.
    #[must_use]
    pub fn main(&self) -> &str {
        &self.context.main
    }

    /// Whether the two calls have the same objects and values of the same origin as those of another context.
    #[must_use]
    pub fn has_calls_of(&self, other: &RecordedContext) -> bool {
        self.calls == other.calls
    }

    /// An execution in which one activation of the other method tears an access.
    #[must_use]
    pub fn tears(
        &self,
        from: &Program,
        analysis: &Analysis,
        (each, other): (&MethodAccess, FunctionId),
        budget: &Budget<'_>,
    ) -> Option<Vec<cssame_vm::Choice>> {
        let program = self.model().program();
        let pattern = TearPattern::new(analysis, each, other)?.translate(from, program)?;
        let share = budget.share(Limits { max_states: Some(STATES), ..Limits::default() });
        match tear(self.model().machine(), program, &pattern, &share).tear {
            Tear::Found { schedule } => Some(schedule),
            Tear::Impossible | Tear::Undecided(_) => None,
        }
    }
}

/// Records contexts of all executed pairs; none for a file without `main`, whose pairs have contexts of their own.
#[must_use]
pub fn record_contexts(executed: &ExecutedPairs, analysis: &Analysis) -> Vec<RecordedContext> {
    let Host::Program(model) = &executed.host else { return Vec::new() };
    let unit = model.unit();
    let methods = Methods::new(&unit.sources, unit.file);
    let mut found: Vec<RecordedContext> = Vec::new();
    for of in &executed.pairs {
        let (first, second) = analysis.pairs[of.pair].methods;
        let from = found.len();
        for seed in 0..2 * EXECUTIONS + 2 * MAX_PASSED {
            if found.len() - from == MAX_CALLS {
                break;
            }
            let Some((context, calls)) = record(model, &methods, [first, second], seed) else { continue };
            let known = &found[from..];
            let has_place = known.len() < MAX_CONTEXTS || known.iter().all(|known| known.calls != calls);
            if has_place && known.iter().all(|known| known.main() != context.main) {
                found.push(RecordedContext { pair: of.pair, context, calls });
            }
        }
    }
    found
}

fn record(
    model: &Model,
    methods: &Methods<'_>,
    pair: [FunctionId; 2],
    seed: u64,
) -> Option<(ContextModel, [CallOrigin; 2])> {
    let mut meet =
        Meet { random: Random::new(seed), methods: pair, passing: Passing::of(seed), finishing: None, met: None };
    let reached = schedule::run(model.machine(), &mut meet, MAX_STEPS, &mut ());
    let met = meet.met?;
    let (cells, objects, threads) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut recorder = Recorder { methods: pair, cells, objects, threads };
    schedule::run(model.machine(), &mut Scripted::new(&reached.steps), MAX_STEPS, &mut recorder);
    let program = model.program();
    let before = recorder.statements(program, met)?;
    let arguments = |index: usize| recorder.arguments(model, &reached.state, (met[index], pair[index]));
    let [first, second] = [arguments(0)?, arguments(1)?];
    let origin = |index: usize, arguments: &[Argument]| {
        CallOrigin::of(model.machine(), &reached.state, (met[index], pair[index]), arguments)
    };
    let mut calls = [origin(0, &first), origin(1, &second)];
    if pair[0] == pair[1] {
        calls.sort_unstable();
    }
    let spans = pair.map(|function| program.functions[function].span);
    let context = methods.recorded(spans, before, [&first, &second])?;
    let made = Model::from_text(model.unit().name(), &context.text, model.options()).ok()?;
    Some((ContextModel { model: made, main: context.main }, calls))
}

/// Meetings that an execution lets pass.
#[derive(Clone, Copy)]
struct Passing {
    /// How many are left.
    left: u64,
    /// Which of the two finishes its call then, the one in the first method or in the second; without, one at random makes a step.
    finishes: Option<usize>,
}

impl Passing {
    fn of(seed: u64) -> Passing {
        match (seed.checked_sub(EXECUTIONS), seed.checked_sub(2 * EXECUTIONS)) {
            (None, _) => Passing { left: 0, finishes: None },
            (_, None) => Passing { left: 1 + seed % MAX_PASSED_AT_RANDOM, finishes: None },
            (_, Some(last)) => Passing { left: 1 + last / 2, finishes: Some((last % 2) as usize) },
        }
    }
}

/// Chooses at random, and holds threads that have entered one of the methods until two have.
struct Meet {
    random: Random,
    methods: [FunctionId; 2],
    passing: Passing,
    /// Who finishes a call, and the number of its frames.
    finishing: Option<(ThreadIndex, usize)>,
    /// Who stands in the first method, and who in the second.
    met: Option<[ThreadIndex; 2]>,
}

impl Policy for Meet {
    fn choose(&mut self, view: &View<'_>, moves: &[Move]) -> Decision {
        let stands = |thread: ThreadIndex, method: FunctionId| {
            view.machine.entered(view.state, thread).any(|function| function == method)
        };
        let in_method = |method: FunctionId| moves.iter().map(|one| one.thread).filter(move |&one| stands(one, method));
        let frames = |thread: ThreadIndex| view.machine.frames(view.state, thread).count();
        let stands_again = |thread: ThreadIndex| self.methods.iter().any(|&method| stands(thread, method));
        let can_go_on = |&(thread, depth): &(ThreadIndex, usize)| frames(thread) >= depth && !stands_again(thread);
        self.finishing = self.finishing.filter(can_go_on);
        let of_threads = |threads: &[ThreadIndex]| -> Vec<Move> {
            moves.iter().copied().filter(|each| threads.contains(&each.thread)).collect()
        };
        if let Some((thread, _)) = self.finishing {
            let own = of_threads(&[thread]);
            if !own.is_empty() {
                return self.random.choose(view, &own);
            }
            self.finishing = None;
        }
        let [first, second] = self.methods;
        for one in in_method(first) {
            if let Some(other) = in_method(second).find(|&other| other != one) {
                let both = [one, other];
                if self.passing.left == 0 {
                    self.met = Some(both);
                    return Decision::Stop;
                }
                self.passing.left -= 1;
                let Some(side) = self.passing.finishes else { return self.random.choose(view, &of_threads(&both)) };
                self.finishing = Some((both[side], frames(both[side])));
                return self.random.choose(view, &of_threads(&both[side..=side]));
            }
        }
        let free: Vec<Move> = moves.iter().copied().filter(|one| !stands_again(one.thread)).collect();
        self.random.choose(view, if free.is_empty() { moves } else { &free })
    }
}

/// What an execution has written and called.
struct Recorder {
    methods: [FunctionId; 2],
    /// What each cell of a global held before the first write, and now.
    cells: BTreeMap<Cell, (i64, i64)>,
    /// Events: whether they are set; locks: whether they are held; semaphores: by how much they were raised; barriers: how many
    /// have arrived.
    objects: BTreeMap<Cell, i64>,
    threads: BTreeMap<ThreadIndex, ThreadCalls>,
}

#[derive(Default)]
struct ThreadCalls {
    /// The last call of each of the methods.
    calls: Vec<(FunctionId, Vec<i64>)>,
    /// What cells held before writes since the last such call.
    since: Vec<(Cell, i64)>,
}

impl Recorder {
    /// What brings the variables into the state; nothing where that cannot be.
    fn statements(&mut self, program: &Program, met: [ThreadIndex; 2]) -> Option<Vec<String>> {
        for thread in met {
            let since = self.threads.get(&thread).map(|of| of.since.as_slice()).unwrap_or_default();
            for &(cell, old) in since.iter().rev() {
                self.cells.entry(cell).and_modify(|values| values.1 = old);
            }
        }
        let mut lines = Vec::new();
        for (cell, (before, now)) in &self.cells {
            let leaf = &program.leaves[cell.leaf(program)?];
            if before != now
                && let LeafKind::Data(ty) = leaf.kind
            {
                let value = match Value::from_bits(ty, *now) {
                    Value::Int(i32::MIN) | Value::Long(i64::MIN) | Value::NoThread => return None,
                    // The language has no literals of C.
                    Value::Integer(..) | Value::Pointer(_) => return None,
                    Value::Int(value) => value.to_string(),
                    Value::Long(value) => format!("{value}L"),
                    Value::Bool(value) => value.to_string(),
                    Value::Double(value) if value.is_finite() => format!("{value:?}"),
                    Value::Double(_) => return None,
                    Value::String(text) => format!("{:?}", program.texts.get(text)),
                };
                lines.push(format!("{} = {value};", cell.name(program)));
            }
        }
        for (cell, &value) in self.objects.iter().filter(|(_, value)| **value != 0) {
            let name = cell.name(program);
            match program.leaves[cell.leaf(program)?].kind {
                LeafKind::Event => lines.push(format!("set({name});")),
                LeafKind::Semaphore if value.abs() <= MAX_RAISED => {
                    let operation = if value > 0 { "V" } else { "P" };
                    lines.extend((0..value.abs()).map(|_| format!("{operation}({name});")));
                }
                _ => return None,
            }
        }
        Some(lines)
    }

    /// The arguments with which a thread has called a method.
    fn arguments(
        &self,
        model: &Model,
        state: &State,
        (thread, method): (ThreadIndex, FunctionId),
    ) -> Option<Vec<Argument>> {
        let calls = &self.threads.get(&thread)?.calls;
        let (_, values) = calls.iter().rev().find(|call| call.0 == method)?;
        let program = model.program();
        let function = &program.functions[method];
        let argument = |(index, &bits): (usize, &i64)| {
            let register = *function.parameters.get(index)?;
            if function.registers[register].ty != RegisterType::Reference {
                return Some(Argument::Value(bits));
            }
            let cell = model.machine().cell(state, bits as u32).filter(|cell| cell.object.ordinal == 0)?;
            Some(Argument::Object(cell.name(program)))
        };
        values.iter().enumerate().map(argument).collect()
    }

    fn thread(&mut self, thread: ThreadName) -> &mut ThreadCalls {
        self.threads.entry(thread.slot).or_default()
    }
}

impl Observer for Recorder {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        match event {
            Event::Write { cell, old, value, .. } if cell.object.ordinal == 0 => {
                self.cells.entry(cell).or_insert((old, value)).1 = value;
                self.thread(thread).since.push((cell, old));
            }
            Event::Set { cell, .. } | Event::Lock { cell, .. } => {
                self.objects.insert(cell, 1);
            }
            Event::Clear { cell, .. } | Event::Unlock { cell, .. } => {
                self.objects.insert(cell, 0);
            }
            Event::Release { cell, .. } | Event::Arrive { cell, .. } => *self.objects.entry(cell).or_default() += 1,
            Event::Acquire { cell, .. } | Event::Leave { cell, .. } => *self.objects.entry(cell).or_default() -= 1,
            Event::End { .. } => *self.thread(thread) = ThreadCalls::default(),
            _ => {}
        }
    }

    fn call(&mut self, thread: ThreadName, _: CodeIndex, function: FunctionId, arguments: &[i64]) {
        if self.methods.contains(&function) {
            let of = self.thread(thread);
            of.since.clear();
            of.calls.retain(|call| call.0 != function);
            of.calls.push((function, arguments.to_vec()));
        }
    }
}
