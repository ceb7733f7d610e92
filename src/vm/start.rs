//! The beginning of an execution: main, and its local work before its first step.

use super::machine::Machine;
use super::observe::{Observer, ThreadName, Told, told};
use super::state::{State, Thread, ThreadIndex, ThreadStatus};
use super::step::Run;
use super::tables::{Path, Tables};

impl Machine {
    /// The state in which main stands before its first visible operation. A program without main is finished at once.
    #[must_use]
    pub fn initial(&self, tables: &mut Tables) -> State {
        self.start(tables, &mut ())
    }

    /// As [`Machine::initial`], watched: main may have done local work.
    #[must_use]
    pub fn start<O: Observer>(&self, tables: &mut Tables, observer: &mut O) -> State {
        let mut state = State::default();
        self.restart(&mut state, tables, observer);
        state
    }

    /// As [`Machine::start`], in the room of a state that is not needed any more.
    pub fn restart<O: Observer>(&self, state: &mut State, tables: &mut Tables, observer: &mut O) {
        state.reset(self.layout.initial());
        let path =
            tables.intern_path(Path { parent: None, label: self.main_label, ordinal: None, instance: 1, rank: 0 });
        if let Some(main) = self.main {
            let function = &self.compiled.functions[main];
            let mut thread = Thread::free(0, 0);
            thread.status = ThreadStatus::Ready;
            thread.spawned = true;
            thread.path = path;
            thread.shape = path;
            thread.pc = function.entry;
            thread.frame_size = function.frame_size;
            thread.fresh = 1;
            state.threads.push(thread);
            state.unfinished = 1;
            state.reserve_segment(ThreadIndex(0), function.frame_size);
            self.write_header(state, ThreadIndex(0), u32::MAX);
            observer.begin_main(ThreadName { path, slot: ThreadIndex(0) });
            self.run_to_first_step(state, tables, told(observer));
        }
    }

    /// Main does its local work before its first step.
    #[inline(never)]
    fn run_to_first_step(&self, state: &mut State, tables: &mut Tables, told: Option<(&mut dyn Told, bool)>) {
        if let Some((told, details)) = told {
            Run::<true>::new(self, state, tables, told, details, ThreadIndex(0)).local(false);
        } else {
            Run::<false>::new(self, state, tables, &mut (), false, ThreadIndex(0)).local(false);
        }
    }
}
