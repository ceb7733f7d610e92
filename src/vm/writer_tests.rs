//! Tests of preferred writers, on programs that are built by hand.

use super::testing::ProgramBuilder;
use super::*;
use cssame_ir::sync::Kind;
use cssame_ir::{LeafKind, Program};

/// Two readers, each of which takes the lock as often as that, and a writer.
fn program(readings: usize, nested: bool) -> Program {
    let mut builder = ProgramBuilder::new();
    let lock = builder.object("R", LeafKind::RwLock);
    let arms = ["T1", "T2", "T3"].map(|name| builder.function(name));
    for arm in &arms[..2] {
        let mut edit = builder.edit(*arm);
        for _ in 0..readings {
            edit.synchronise(Kind::ReadLock, lock);
            if !nested {
                edit.synchronise(Kind::UnlockRw, lock);
            }
        }
        for _ in 0..if nested { readings } else { 0 } {
            edit.synchronise(Kind::UnlockRw, lock);
        }
    }
    builder.edit(arms[2]).synchronise(Kind::WriteLock, lock).synchronise(Kind::UnlockRw, lock);
    builder.cobegin(&arms);
    builder.program
}

fn machine(program: &Program, prefer_writers: bool) -> Machine {
    let semantics = Semantics { prefer_writers, ..Semantics::default() };
    Machine::with_options(program, &Visibility::all(program), Options { semantics, ..Options::default() })
}

/// Does steps of these threads, as long as each can move; gives the state, and how many were done. Each state that is
/// written as words and read again is the same.
fn steps(machine: &Machine, threads: &[u16]) -> (State, usize) {
    let mut tables = Tables::new();
    let mut state = machine.initial(&mut tables);
    for (done, &thread) in threads.iter().enumerate() {
        let thread = ThreadIndex(thread);
        if machine.alternatives(&state, thread) == 0 {
            return (state, done);
        }
        machine.step(&mut state, &mut tables, Choice { thread, alternative: 0 }, &mut ());
        let mut encoding = Encoding::default();
        machine.encode(&state, &mut encoding);
        let mut copy = State::default();
        machine.decode(encoding.words(), &mut copy);
        assert_eq!(machine.fingerprint(&copy), machine.fingerprint(&state));
        assert_eq!(copy.status(thread), state.status(thread));
        state = copy;
    }
    (state, threads.len())
}

#[test]
fn readers_that_overlap_keep_a_writer_out_only_without_the_option() {
    let program = program(2, false);
    // main forks; T1 reads, T3 would write; then T2 comes before T1 goes, and so on.
    let turns = [0, 1, 3, 2, 1, 1, 2, 2, 1, 2];
    let without: Vec<u16> = turns.into_iter().filter(|&thread| thread != 3).collect();
    let plain = machine(&program, false);
    let (state, done) = steps(&plain, &without);
    assert_eq!(done, without.len(), "both have read twice");
    assert_eq!(plain.obstacle(&state, ThreadIndex(3)), None, "and R is free now");
    let preferring = machine(&program, true);
    let (state, done) = steps(&preferring, &turns);
    assert_eq!(done, 3, "T2 does not come in behind T3");
    let lock = state.readers_and_writers();
    assert_eq!(lock, [ThreadStatus::Ready, ThreadStatus::Ready, ThreadStatus::WaitingToWrite]);
    let Some(Obstacle::Writers { threads, .. }) = preferring.obstacle(&state, ThreadIndex(2)) else {
        panic!("{:?}", preferring.obstacle(&state, ThreadIndex(2)))
    };
    assert_eq!(threads, [ThreadIndex(3)]);
    let Some(Obstacle::Readers { threads, .. }) = preferring.obstacle(&state, ThreadIndex(3)) else { panic!() };
    assert_eq!(threads, [ThreadIndex(1)]);
    let (state, done) = steps(&preferring, &[0, 1, 3, 1, 3, 3, 2]);
    assert_eq!((done, preferring.obstacle(&state, ThreadIndex(2))), (7, None), "behind the writer they read again");
}

impl State {
    fn readers_and_writers(&self) -> Vec<ThreadStatus> {
        (1..4).map(|thread| self.status(ThreadIndex(thread))).collect()
    }
}

#[test]
fn a_nested_read_behind_a_waiting_writer_is_stuck() {
    let program = program(2, true);
    let turns = [0, 1, 3, 1];
    let preferring = machine(&program, true);
    let (state, done) = steps(&preferring, &turns);
    assert_eq!(done, 3);
    assert!(preferring.is_deadlock(&state));
    let plain = machine(&program, false);
    let (state, done) = steps(&plain, &[0, 1, 1]);
    assert_eq!((done, plain.is_deadlock(&state)), (3, false));
}

#[test]
fn a_free_lock_is_taken_in_one_step() {
    let program = program(1, false);
    let preferring = machine(&program, true);
    let (state, _) = steps(&preferring, &[0]);
    let pending = preferring.pending(&state, ThreadIndex(3));
    assert!(matches!(pending, Some(Pending::Synchronise { kind: Kind::WriteLock, .. })), "{pending:?}");
    let (state, _) = steps(&preferring, &[0, 3]);
    assert_eq!(state.status(ThreadIndex(3)), ThreadStatus::Ready);
    let (state, _) = steps(&preferring, &[0, 1]);
    let pending = preferring.pending(&state, ThreadIndex(3));
    assert!(matches!(pending, Some(Pending::WaitToWrite { .. })), "{pending:?}");
}
