//! Tests of the machine on programs that are built by hand.

use super::testing::{ProgramBuilder, unlocked_adds};
use super::*;
use cssame_ir::sync::Kind;
use cssame_ir::*;

/// Runs with that order of preference among the threads; gives the last state and how it ended.
fn run_by(machine: &Machine, mut pick: impl FnMut(&[Choice], usize) -> usize) -> (State, Tables, Option<Progress>) {
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let mut enabled = Vec::new();
    let (mut loaded, mut hashes, mut behind) = (State::default(), Hashes::default(), State::default());
    for step in 0..100_000 {
        machine.enabled(&state, &mut enabled);
        if enabled.is_empty() {
            return (state, tables, None);
        }
        let choice = enabled[pick(&enabled, step) % enabled.len()];
        // A state that has been written as words and read again goes on in the same way.
        let mut encoding = Encoding::default();
        machine.encode(&state, &mut encoding);
        let mut copy = State::default();
        machine.decode(encoding.words(), &mut copy);
        assert_eq!(machine.fingerprint(&copy), machine.fingerprint(&state));
        // So does one that was made of the one before.
        machine.load(encoding.words(), encoding.ends(), &mut loaded, &mut hashes);
        behind.copy_changes_from(&mut loaded);
        assert!(loaded.is_same(&copy) && behind.is_same(&copy));
        let progress = machine.step(&mut state, &mut tables, choice, &mut ());
        assert_eq!(machine.step(&mut copy, &mut tables, choice, &mut ()), progress);
        assert_eq!(machine.fingerprint(&copy), machine.fingerprint(&state));
        assert_eq!(machine.step(&mut behind, &mut tables, choice, &mut ()), progress);
        assert_eq!(machine.fingerprint_behind(&loaded, &mut hashes, &behind), machine.fingerprint(&state));
        if progress != Progress::Running {
            return (state, tables, Some(progress));
        }
    }
    panic!("the execution does not end");
}

fn output(machine: &Machine, state: &State, tables: &Tables) -> Vec<String> {
    let outputs = machine.outputs(state, tables);
    outputs.iter().flat_map(|&(_, output)| tables.lines(output)).map(str::to_owned).collect()
}

fn machine(program: &Program) -> Machine {
    Machine::new(program, &Visibility::all(program))
}

#[test]
fn threads_in_turn_and_one_after_the_other() {
    let program = unlocked_adds(3);
    let machine = machine(&program);
    let (state, tables, end) = run_by(&machine, |_, _| 0);
    assert_eq!(end, Some(Progress::Finished));
    assert_eq!(output(&machine, &state, &tables), ["6"]);
    // In strict alternation every sum is computed twice.
    let (state, tables, _) = run_by(&machine, |_, step| step);
    assert_eq!(output(&machine, &state, &tables), ["3"]);
}

#[test]
fn forked_threads_leave_no_trace() {
    let program = unlocked_adds(1);
    let machine = machine(&program);
    let (state, _, _) = run_by(&machine, |_, _| 0);
    assert_eq!(state.thread_count(), 1);
    assert_eq!(state.status(ThreadIndex(0)), ThreadStatus::Ended);
}

#[test]
fn order_of_independent_steps_does_not_change_the_fingerprint() {
    let mut builder = ProgramBuilder::new();
    let (x, y) = (builder.int("x", 0), builder.int("y", 0));
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    builder.edit(first).store(x, 1);
    builder.edit(first).store(x, 3);
    builder.edit(second).store(y, 2);
    builder.edit(second).store(y, 4);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    let mut tables = Tables::new();
    let mut prints = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1]] {
        let mut state = machine.initial(&mut tables);
        for thread in order {
            let choice = Choice { thread: ThreadIndex(thread), alternative: 0 };
            machine.step(&mut state, &mut tables, choice, &mut ());
        }
        prints.push(machine.fingerprint(&state));
    }
    assert_eq!(prints[0], prints[1]);
}

#[test]
fn a_lock_that_is_held_blocks_also_its_holder() {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("L", LeafKind::Lock);
    let main = builder.function("main");
    builder.edit(main).lock(lock).lock(lock);
    let machine = machine(&builder.program);
    let (state, _, end) = run_by(&machine, |_, _| 0);
    assert_eq!(end, None);
    assert!(machine.is_deadlock(&state));
    let Some(Obstacle::Lock { holder, taken_at, .. }) = machine.obstacle(&state, ThreadIndex(0)) else {
        panic!("not blocked at a lock");
    };
    assert_eq!(holder, Some(ThreadIndex(0)));
    assert_eq!(machine.origin(taken_at).instruction, 0);
}

#[test]
fn unlocking_what_is_not_held_fails() {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("L", LeafKind::Lock);
    let main = builder.function("main");
    builder.edit(main).unlock(lock);
    let (_, _, end) = run_by(&machine(&builder.program), |_, _| 0);
    assert!(matches!(end, Some(Progress::Failed(Failure { kind: FailureKind::UnlockNotHeld, .. }))));
}

#[test]
fn a_barrier_holds_until_all_have_arrived() {
    let mut builder = ProgramBuilder::new();
    let barrier = builder.object("b", LeafKind::Barrier(2));
    let x = builder.int("x", 0);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    builder.edit(first).store(x, 7);
    builder.edit(first).synchronise(Kind::Barrier, barrier);
    builder.edit(second).synchronise(Kind::Barrier, barrier);
    let value = builder.edit(second).load(x);
    builder.edit(second).print(value);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    for preference in [0, 1] {
        let (state, tables, end) = run_by(&machine, |enabled, _| preference.min(enabled.len() - 1));
        assert_eq!(end, Some(Progress::Finished));
        assert_eq!(output(&machine, &state, &tables), ["7"]);
    }
}

#[test]
fn a_failing_assertion_waits_for_the_step_of_its_thread() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    builder.edit(first).assert(0);
    builder.edit(second).store(x, 1);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let mut enabled = Vec::new();
    let fork = Choice { thread: ThreadIndex(0), alternative: 0 };
    assert_eq!(machine.step(&mut state, &mut tables, fork, &mut ()), Progress::Running);
    machine.enabled(&state, &mut enabled);
    assert_eq!(enabled.len(), 2);
    let failed = machine.step(&mut state, &mut tables, enabled[0], &mut ());
    assert!(matches!(failed, Progress::Failed(Failure { kind: FailureKind::Assert, .. })));
}

#[test]
fn endless_local_work_ends_as_a_step_limit_in_its_own_step() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    let head = builder.edit(first).block();
    builder.edit(first).terminate(Terminator::Jump(head));
    builder.edit(second).store(x, 1);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    // T2 can still move while T1 runs for ever.
    let (state, _, end) = run_by(&machine, |enabled, _| enabled.len() - 1);
    assert_eq!(state.value(1), 1);
    assert!(matches!(end, Some(Progress::Failed(Failure { kind: FailureKind::StepLimit, .. }))));
}

#[test]
fn calls_too_deep_end_as_a_step_limit() {
    let mut builder = ProgramBuilder::new();
    let recursive = builder.function("f");
    builder.edit(recursive).push(Instruction::Call { dest: None, function: recursive, arguments: Vec::new() });
    let main = builder.function("main");
    builder.edit(main).push(Instruction::Call { dest: None, function: recursive, arguments: Vec::new() });
    let (_, _, end) = run_by(&machine(&builder.program), |_, _| 0);
    assert!(matches!(end, Some(Progress::Failed(Failure { kind: FailureKind::CallDepth, .. }))));
}

#[test]
fn calls_pass_arguments_and_results() {
    let mut builder = ProgramBuilder::new();
    let factorial = builder.function("factorial");
    let mut edit = builder.edit(factorial);
    let n = edit.parameter(RegisterType::Scalar(ScalarType::Int));
    let small = edit.binary(BinaryOperator::LessEqual(Arithmetic::Int), n, 1);
    edit.terminate(Terminator::Branch { condition: small.into(), then_block: BlockId(1), else_block: BlockId(2) });
    edit.block();
    edit.terminate(Terminator::Return(Some(1.into())));
    edit.block();
    let less = edit.binary(BinaryOperator::Subtract(Arithmetic::Int), n, 1);
    let below = edit.int_register();
    edit.push(Instruction::Call { dest: Some(below), function: factorial, arguments: vec![less.into()] });
    let product = edit.binary(BinaryOperator::Multiply(Arithmetic::Int), n, below);
    edit.terminate(Terminator::Return(Some(product.into())));
    let main = builder.function("main");
    let mut edit = builder.edit(main);
    let result = edit.int_register();
    edit.push(Instruction::Call { dest: Some(result), function: factorial, arguments: vec![5.into()] });
    edit.print(result);
    let machine = machine(&builder.program);
    let (state, tables, _) = run_by(&machine, |_, _| 0);
    assert_eq!(output(&machine, &state, &tables), ["120"]);
}

#[test]
fn locals_are_made_new_and_freed() {
    let mut builder = ProgramBuilder::new();
    let main = builder.function("main");
    let x = builder.int("x", 0);
    let local = builder.local_int(main, "local");
    let arm = builder.function("T1");
    let mut edit = builder.edit(arm);
    let reference = edit.parameter(RegisterType::Reference);
    let place = Place::at(Base::Reference(reference), 0);
    let old = edit.load_place(local, place.clone());
    let new = edit.add(old, 1);
    let definition = edit.definition_id(local);
    edit.push(Instruction::Store { place, value: new.into(), definition });
    let thread = edit.thread(arm);
    let mut edit = builder.edit(main);
    edit.repeat(2, |body| {
        let dest = body.register(RegisterType::Reference);
        body.push(Instruction::Allocate { dest, variable: local, elements: None });
        let threads = vec![NewThread { arguments: vec![dest.into()], ..thread.clone() }; 2];
        body.push(Instruction::Fork { threads, bounds: None }).push(Instruction::Join);
        let sum = body.load_place(local, Place::at(Base::Reference(dest), 0));
        body.print(sum);
    });
    edit.store(x, 1);
    let machine = machine(&builder.program);
    let (state, tables, _) = run_by(&machine, |_, _| 0);
    assert_eq!(output(&machine, &state, &tables), ["2", "2"]);
    assert_eq!(state.cell_count(), 2);
}

#[test]
fn a_thread_is_named_by_its_path_and_its_instance() {
    let mut builder = ProgramBuilder::new();
    let inner = builder.function("inner");
    builder.edit(inner).print(1);
    let outer = builder.function("outer");
    builder.edit(outer).cobegin(&[inner]).cobegin(&[inner]);
    builder.cobegin(&[outer]);
    let machine = machine(&builder.program);
    let (state, tables, _) = run_by(&machine, |_, _| 0);
    let outputs = machine.outputs(&state, &tables);
    let names: Vec<String> = outputs.iter().map(|&(path, _)| machine.path_name(&tables, path)).collect();
    assert_eq!(names, ["outer/inner", "outer/inner#2"]);
}

#[test]
fn a_joined_handle_can_be_joined_again() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let worker = builder.function("t");
    builder.edit(worker).store(x, 5);
    let main = builder.function("main");
    let mut edit = builder.edit(main);
    let handle = edit.register(RegisterType::Scalar(ScalarType::Thread));
    let thread = edit.thread(worker);
    edit.push(Instruction::Spawn { dest: Some(handle), thread });
    edit.push(Instruction::JoinThread { handle: handle.into(), dest: None });
    edit.push(Instruction::JoinThread { handle: handle.into(), dest: None });
    let value = edit.load(x);
    edit.print(value);
    let machine = machine(&builder.program);
    let (state, tables, end) = run_by(&machine, |_, _| 0);
    assert_eq!(end, Some(Progress::Finished));
    assert_eq!(output(&machine, &state, &tables), ["5"]);
}

#[test]
fn an_empty_handle_is_an_error() {
    let mut builder = ProgramBuilder::new();
    let main = builder.function("main");
    builder.edit(main).push(Instruction::JoinThread { handle: Operand::Constant(Value::NoThread), dest: None });
    let (_, _, end) = run_by(&machine(&builder.program), |_, _| 0);
    assert!(matches!(end, Some(Progress::Failed(Failure { kind: FailureKind::EmptyHandle, .. }))));
}

#[test]
fn choose_offers_every_value_and_none_discards() {
    let mut builder = ProgramBuilder::new();
    let main = builder.function("main");
    let mut edit = builder.edit(main);
    let dest = edit.int_register();
    edit.push(Instruction::Choose { dest, low: 3.into(), high: 5.into() });
    edit.print(dest);
    let empty = edit.int_register();
    edit.push(Instruction::Choose { dest: empty, low: 1.into(), high: 0.into() });
    let machine = machine(&builder.program);
    for alternative in 0..3 {
        let mut tables = Tables::new();
        let mut state = machine.initial(&mut tables);
        let mut enabled = Vec::new();
        machine.enabled(&state, &mut enabled);
        assert_eq!(enabled.len(), 3);
        machine.step(&mut state, &mut tables, enabled[alternative], &mut ());
        // The print and the empty choice are one step.
        let progress = machine.step(&mut state, &mut tables, enabled[0], &mut ());
        assert_eq!(progress, Progress::Discarded);
        assert_eq!(output(&machine, &state, &tables), [(3 + alternative).to_string()]);
    }
}

#[test]
fn what_could_be_printed_before_blocking_is_printed() {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("L", LeafKind::Lock);
    let arm = builder.function("T1");
    builder.edit(arm).print(1).lock(lock);
    let main = builder.function("main");
    builder.edit(main).lock(lock).cobegin(&[arm]);
    let machine = machine(&builder.program);
    let (state, tables, end) = run_by(&machine, |_, _| 0);
    assert_eq!(end, None);
    assert_eq!(output(&machine, &state, &tables), ["1"]);
}

#[test]
fn a_condition_is_taken_up_again_after_its_lock() {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("L", LeafKind::Lock);
    let condition = builder.object("c", LeafKind::Condition);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    let (object, held) = (Some(Place::global(condition)), Some(Place::global(lock)));
    let wait =
        Instruction::Synchronise(Synchronisation { kind: Kind::WaitCondition, object, lock: held, verdict: None });
    builder.edit(first).lock(lock).push(wait).print(1).unlock(lock);
    builder.edit(second).lock(lock).synchronise(Kind::Notify, condition).unlock(lock);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    let (state, tables, end) = run_by(&machine, |_, _| 0);
    assert_eq!(end, Some(Progress::Finished));
    assert_eq!(output(&machine, &state, &tables), ["1"]);
    // The notification comes first and is lost.
    let (state, _, end) = run_by(&machine, |enabled, _| enabled.len() - 1);
    assert_eq!(end, None);
    assert_eq!(machine.obstacle(&state, ThreadIndex(1)), Some(Obstacle::Condition { address: 2 }));
}

#[test]
fn notify_offers_every_waiting_thread() {
    let mut builder = ProgramBuilder::new();
    let arms = ["T1", "T2", "T3"].map(|name| builder.function(name));
    for arm in &arms[..2] {
        builder.edit(*arm).push(Instruction::Synchronise(Synchronisation::bare(Kind::WaitBare))).print(1);
    }
    builder.edit(arms[2]).push(Instruction::Synchronise(Synchronisation::bare(Kind::NotifyBare)));
    builder.cobegin(&arms);
    let machine = machine(&builder.program);
    for wake in [0, 1] {
        let (state, tables, _) = run_by(&machine, |enabled, step| match step {
            0 => 0,
            // Both wait, then T3 notifies one of them.
            1 | 2 => 0,
            3 => {
                assert_eq!(enabled.len(), 2);
                wake
            }
            _ => 0,
        });
        let outputs = machine.outputs(&state, &tables);
        let names: Vec<String> = outputs.iter().map(|&(path, _)| machine.path_name(&tables, path)).collect();
        assert_eq!(names, [format!("T{}", wake + 1)]);
        assert!(machine.is_deadlock(&state));
    }
}

#[test]
fn an_atomic_block_is_one_step_unless_it_has_to_choose() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    let mut edit = builder.edit(first);
    edit.push(Instruction::AtomicBegin).increment(x);
    let dest = edit.int_register();
    edit.push(Instruction::Choose { dest, low: 0.into(), high: 1.into() });
    edit.increment(x).push(Instruction::AtomicEnd);
    builder.edit(second).increment(x);
    builder.cobegin(&[first, second]);
    let machine = machine(&builder.program);
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let mut enabled = Vec::new();
    for thread in [0, 1] {
        let choice = Choice { thread: ThreadIndex(thread), alternative: 0 };
        machine.step(&mut state, &mut tables, choice, &mut ());
    }
    machine.enabled(&state, &mut enabled);
    assert!(enabled.iter().all(|choice| choice.thread == ThreadIndex(1)));
    assert_eq!(enabled.len(), 2);
    machine.step(&mut state, &mut tables, enabled[1], &mut ());
    assert_eq!(state.value(1), 2);
    machine.enabled(&state, &mut enabled);
    assert_eq!(enabled, [Choice { thread: ThreadIndex(2), alternative: 0 }]);
}

#[test]
fn a_lock_outlives_the_thread_that_has_forgotten_it() {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("L", LeafKind::Lock);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    builder.edit(first).lock(lock);
    builder.edit(second).unlock(lock);
    let main = builder.function("main");
    builder.edit(main).cobegin(&[first]).cobegin(&[second]);
    let (_, _, end) = run_by(&machine(&builder.program), |_, _| 0);
    assert!(matches!(end, Some(Progress::Failed(Failure { kind: FailureKind::UnlockNotHeld, .. }))));
}

#[test]
fn private_accesses_are_no_steps() {
    let program = unlocked_adds(3);
    let machine = Machine::new(&program, &Visibility::none(&program));
    let mut events = Vec::new();
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    let choice = Choice { thread: ThreadIndex(0), alternative: 0 };
    // The arms have ended before the fork is over.
    assert_eq!(machine.step(&mut state, &mut tables, choice, &mut events), Progress::Running);
    let reads = events.iter().filter(|(_, _, event)| matches!(event, Event::Read { shared: false, .. })).count();
    assert_eq!(reads, 6);
    // The join, and then the print of main.
    assert_eq!(machine.step(&mut state, &mut tables, choice, &mut ()), Progress::Running);
    assert_eq!(machine.step(&mut state, &mut tables, choice, &mut ()), Progress::Finished);
    assert_eq!(output(&machine, &state, &tables), ["6"]);
}

#[test]
fn reads_tell_the_last_writer() {
    let program = unlocked_adds(1);
    let machine = machine(&program);
    let mut events = Vec::new();
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    for thread in [0, 1, 1, 2] {
        let choice = Choice { thread: ThreadIndex(thread), alternative: 0 };
        machine.step(&mut state, &mut tables, choice, &mut events);
    }
    let writers: Vec<_> = events
        .iter()
        .filter_map(|(thread, _, event)| match event {
            Event::Read { writer, .. } => Some((thread.slot.0, *writer)),
            _ => None,
        })
        .collect();
    assert_eq!(writers, [(1, Some(DefinitionId(0))), (2, Some(DefinitionId(1)))]);
}
