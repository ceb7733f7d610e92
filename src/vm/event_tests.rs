//! Tests of the events of an execution: names, steps, functions, branches, and the work of steps.

use super::testing::ProgramBuilder;
use super::*;
use cssame_ir::*;

/// Writes down what it is told, in words.
#[derive(Default)]
struct Diary {
    lines: Vec<String>,
    /// Writes: the path of the thread, the cell, its address.
    writes: Vec<(PathId, Cell, u32)>,
}

impl Observer for Diary {
    fn event(&mut self, thread: ThreadName, _: CodeIndex, event: Event) {
        if let Event::Write { cell, address, .. } = event {
            self.lines.push(format!("{} writes", thread.slot.0));
            self.writes.push((thread.path, cell, address));
        }
    }

    fn begin_main(&mut self, main: ThreadName) {
        self.lines.push(format!("{} is main", main.slot.0));
    }

    fn begin_step(&mut self, thread: ThreadName) {
        self.lines.push(format!("{} begins", thread.slot.0));
    }

    fn end_step(&mut self, thread: ThreadName, instructions: u32) {
        assert!(instructions > 0);
        self.lines.push(format!("{} is done", thread.slot.0));
    }

    fn branch(&mut self, thread: ThreadName, _: CodeIndex, holds: bool) {
        self.lines.push(format!("{} finds {holds}", thread.slot.0));
    }

    fn enter(&mut self, thread: ThreadName, function: FunctionId) {
        self.lines.push(format!("{} enters {}", thread.slot.0, function.0));
    }

    fn leave(&mut self, thread: ThreadName) {
        self.lines.push(format!("{} leaves", thread.slot.0));
    }
}

fn machine(program: &Program) -> Machine {
    Machine::new(program, &Visibility::all(program))
}

/// Lets the threads in these slots move, one after the other.
fn follow<O: Observer>(machine: &Machine, slots: &[u16], observer: &mut O) -> (State, Progress) {
    let mut tables = Tables::new();
    let mut state = machine.start(&mut tables, observer);
    let mut progress = Progress::Running;
    for &slot in slots {
        let choice = Choice { thread: ThreadIndex(slot), alternative: 0 };
        assert!(machine.alternatives_of(&state, choice.thread) > 0, "{slot} of {slots:?}");
        progress = machine.step(&mut state, &mut tables, choice, observer);
    }
    (state, progress)
}

#[test]
fn a_function_is_entered_when_its_first_step_begins() {
    let mut builder = ProgramBuilder::new();
    let (x, y) = (builder.int("x", 0), builder.int("y", 0));
    let (called, arm, main) = (builder.function("f"), builder.function("T1"), builder.function("main"));
    builder.edit(called).store(x, 1);
    builder.edit(arm).push(Instruction::Call { dest: None, function: called, arguments: Vec::new() });
    let mut edit = builder.edit(main);
    let thread = edit.thread(arm);
    edit.push(Instruction::Fork { threads: vec![thread], bounds: None });
    edit.store(y, 1);
    edit.push(Instruction::Join);
    let mut diary = Diary::default();
    let (_, progress) = follow(&machine(&builder.program), &[0, 0, 1, 0], &mut diary);
    assert_eq!(progress, Progress::Finished);
    let told = [
        "0 is main",
        "0 begins",
        "0 enters 2",
        "0 is done",
        "0 begins",
        "0 writes",
        "0 is done",
        "1 begins",
        "1 enters 1",
        "1 enters 0",
        "1 writes",
        "1 leaves",
        "1 leaves",
        "1 is done",
        "0 begins",
        "0 leaves",
        "0 is done",
    ];
    assert_eq!(diary.lines, told);
}

#[test]
fn a_function_without_steps_is_entered_before_its_accesses() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let (called, main) = (builder.function("f"), builder.function("main"));
    let mut edit = builder.edit(called);
    edit.repeat(1, |body| {
        body.store(x, 1);
    });
    builder.edit(main).push(Instruction::Call { dest: None, function: called, arguments: Vec::new() });
    let machine = Machine::new(&builder.program, &Visibility::none(&builder.program));
    let mut diary = Diary::default();
    let (state, _) = follow(&machine, &[], &mut diary);
    assert!(machine.is_finished(&state));
    let told =
        ["0 is main", "0 finds true", "0 enters 1", "0 enters 0", "0 writes", "0 finds false", "0 leaves", "0 leaves"];
    assert_eq!(diary.lines, told);
}

/// An arm that writes a global, makes a local, and writes that.
fn local_behind_a_step(builder: &mut ProgramBuilder, x: VariableId, name: &str) -> FunctionId {
    let arm = builder.function(name);
    let local = builder.local_int(arm, "local");
    let mut edit = builder.edit(arm);
    edit.store(x, 1);
    let dest = edit.register(RegisterType::Reference);
    edit.push(Instruction::Allocate { dest, variable: local, elements: None });
    let definition = edit.definition_id(local);
    let place = Place::at(Base::Reference(dest), 0);
    edit.push(Instruction::Store { place, value: 1.into(), definition });
    arm
}

#[test]
fn cells_have_one_name_in_all_executions() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let arms = ["T1", "T2"].map(|name| local_behind_a_step(&mut builder, x, name));
    builder.cobegin(&arms);
    let machine = machine(&builder.program);
    let writes = |slots: &[u16]| {
        let mut diary = Diary::default();
        follow(&machine, slots, &mut diary);
        let mut names: Vec<(PathId, Cell)> = diary.writes.iter().map(|&(path, cell, _)| (path, cell)).collect();
        names.sort_unstable();
        (names, diary.writes)
    };
    let (names, first) = writes(&[0, 1, 2, 1, 2]);
    let (again, second) = writes(&[0, 2, 1, 1, 2]);
    assert_eq!(names, again);
    let address = |writes: &[(PathId, Cell, u32)], of: PathId| {
        writes.iter().filter(|(path, ..)| *path == of).map(|&(.., address)| address).next_back()
    };
    let path = first[0].0;
    assert_ne!(address(&first, path), address(&second, path), "the order of steps decides on addresses");
}

#[test]
fn a_loop_that_makes_locals_has_finitely_many_states() {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let main = builder.function("main");
    let local = builder.local_int(main, "local");
    let mut edit = builder.edit(main);
    let head = edit.block();
    edit.store(x, 1);
    let dest = edit.register(RegisterType::Reference);
    edit.push(Instruction::Allocate { dest, variable: local, elements: None });
    let definition = edit.definition_id(local);
    let place = Place::at(Base::Reference(dest), 0);
    edit.push(Instruction::Store { place, value: 1.into(), definition });
    edit.terminate(Terminator::Jump(head));
    let machine = machine(&builder.program);
    let mut diary = Diary::default();
    let (twice, _) = follow(&machine, &[0; 4], &mut diary);
    let ordinals: Vec<u32> = diary.writes.iter().map(|(_, cell, _)| cell.object.ordinal).collect();
    assert_eq!(ordinals, [0, 1, 0, 2]);
    let (thrice, _) = follow(&machine, &[0; 6], &mut ());
    assert_eq!(machine.fingerprint(&twice), machine.fingerprint(&thrice));
    let mut encoding = Encoding::default();
    machine.encode(&thrice, &mut encoding);
    let mut copy = State::default();
    machine.decode(encoding.words(), &mut copy);
    assert_eq!(machine.cell(&copy, 2), machine.cell(&thrice, 2));
    assert_eq!(machine.cell(&copy, 2).map(|cell| cell.object.ordinal), Some(3));
}

/// `atomic { while (x == 0) { } }`, and `x = 1` in another thread.
fn waiting_block() -> Program {
    let mut builder = ProgramBuilder::new();
    let x = builder.int("x", 0);
    let (first, second) = (builder.function("T1"), builder.function("T2"));
    let mut edit = builder.edit(first);
    edit.push(Instruction::AtomicBegin);
    let head = edit.block();
    let value = edit.load(x);
    edit.terminate(Terminator::Branch { condition: value.into(), then_block: BlockId(2), else_block: head });
    edit.block();
    edit.push(Instruction::AtomicEnd);
    builder.edit(second).store(x, 1);
    builder.cobegin(&[first, second]);
    builder.program
}

#[test]
fn an_atomic_block_has_one_budget_for_all_its_accesses() {
    let program = waiting_block();
    let options = Options { local_instructions: 100, block_instructions: 1_000, ..Options::default() };
    let machine = Machine::with_options(&program, &Visibility::all(&program), options);
    let mut work = Work::default();
    let (_, progress) = follow(&machine, &[0, 1], &mut work);
    assert!(matches!(progress, Progress::Failed(Failure { kind: FailureKind::StepLimit, .. })), "{progress:?}");
    assert!((1_000..2_000).contains(&work.0), "{work:?}");
    let mut work = Work::default();
    let (_, progress) = follow(&machine, &[0, 2, 1], &mut work);
    assert_eq!(progress, Progress::Running);
    assert!(work.0 < 100, "{work:?}");
}
