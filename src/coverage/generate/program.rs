//! A test as a program.
//!
//! **Input**: a [`TestCase`]. **Output**: a [`TestProgram`]: the compiled program, the cells whose last values are the final
//! state, and the line of each call; and [`CallResults`], the results of the calls of an execution.

use super::subject::Subject;
use super::test::{CallPlace, TestCase};
use cssame_diagnostics::Diagnostics;
use cssame_harness::MainLines;
use cssame_ir::{LeafId, LeafKind, ScalarType, Storage};
use cssame_model::{Model, Options};
use cssame_vm::{CodeIndex, Event, Observer, OutputId, ThreadName};
use serde::Serialize;

/// A test that was compiled.
#[derive(Debug)]
pub struct TestProgram {
    /// The program.
    pub model: Model,
    /// The addresses of the cells whose last values are the final state.
    pub cells: Vec<u32>,
    /// What they belong to, and which element.
    pub leaves: Vec<(LeafId, u32)>,
    /// What the two threads are called.
    pub labels: [String; 2],
    /// Lines of the text before the declarations of the objects.
    first_line: u32,
    lines: MainLines,
    lengths: [usize; 4],
}

/// What the calls of an execution gave, as they are printed; none for `void`, and for what has not returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CallResults {
    /// Of the calls of the prefix.
    pub prefix: Vec<Option<String>>,
    /// Of the calls of each thread.
    pub suffixes: [Vec<Option<String>>; 2],
    /// Of the post part.
    pub post: Vec<Option<String>>,
}

impl TestProgram {
    /// Compiles a test; `name` is how the file is called. With `instead`, objects of that class stand for those under test.
    ///
    /// # Errors
    ///
    /// The program does not compile.
    pub fn new(
        subject: &Subject<'_>,
        test: &TestCase,
        instead: Option<&str>,
        (name, options): (&str, &Options),
    ) -> Result<TestProgram, Diagnostics> {
        let main = test.main(subject, instead);
        let (text, first_line) = subject.file.with_main(&main);
        let model = Model::from_text(name, &text, options)?;
        let leaves = state_leaves(&model);
        let address = |&(leaf, element): &(LeafId, u32)| {
            let leaf = &model.program().leaves[leaf];
            model.machine().global_address(leaf.variable).map_or(0, |start| start + leaf.cell(element))
        };
        let cells = leaves.iter().map(address).collect();
        let lengths = [test.prefix.len(), test.suffixes[0].len(), test.suffixes[1].len(), test.post.len()];
        Ok(TestProgram {
            cells,
            leaves,
            first_line,
            lines: main.lines(),
            lengths,
            model,
            labels: subject.labels.clone(),
        })
    }

    /// The call that stands in a line, counted from 1.
    #[must_use]
    pub fn call_in_line(&self, line: u32) -> Option<CallPlace> {
        let line = line.checked_sub(1)?.checked_sub(self.first_line)?;
        let within = |first: u32, count: usize| {
            let place = line.checked_sub(first)? as usize;
            (place < count).then_some(place)
        };
        let [prefix, first, second, post] = self.lengths;
        let MainLines { before, calls, after } = self.lines;
        let in_prefix = within(before, prefix).map(CallPlace::Prefix);
        let in_first = || within(calls[0], first).map(|place| CallPlace::Suffix(0, place));
        let in_second = || within(calls[1], second).map(|place| CallPlace::Suffix(1, place));
        in_prefix.or_else(in_first).or_else(in_second).or_else(|| within(after, post).map(CallPlace::Post))
    }

    /// Lines of the file itself, and the empty ones behind it.
    #[must_use]
    pub fn lines_before(&self) -> u32 {
        self.first_line
    }

    /// What the calls of an execution gave.
    #[must_use]
    pub fn results(&self, steps: &[cssame_vm::Choice]) -> CallResults {
        let mut tables = cssame_vm::Tables::new();
        let mut printed = Printed::default();
        let mut walk = cssame_schedule::Walk::new(self.model.machine(), &mut tables, &mut printed);
        // A step that is not possible ends the execution; what was printed before counts.
        let _ = walk.follow(steps, &mut printed);
        let [prefix, first, second, post] = self.lengths.map(|length| vec![None; length]);
        let mut results = CallResults { prefix, suffixes: [first, second], post };
        for (at, output) in printed.0 {
            let position = self.model.sources().position(self.model.machine().span(at));
            let line = tables.last_line(output).map(str::to_owned);
            let slot = match self.call_in_line(position.line) {
                Some(CallPlace::Prefix(place)) => results.prefix.get_mut(place),
                Some(CallPlace::Suffix(thread, place)) => results.suffixes[thread].get_mut(place),
                Some(CallPlace::Post(place)) => results.post.get_mut(place),
                None => None,
            };
            if let Some(slot) = slot {
                *slot = line;
            }
        }
        results
    }
}

/// The cells that are the final state: data, events and semaphores of all variables at top level.
fn state_leaves(model: &Model) -> Vec<(LeafId, u32)> {
    let program = model.program();
    let is_state = |kind: LeafKind| match kind {
        LeafKind::Data(ty) => ty != ScalarType::Thread,
        LeafKind::Event | LeafKind::Semaphore => true,
        _ => false,
    };
    let leaves = program
        .leaves
        .entries()
        .filter(|(_, leaf)| program.variables[leaf.variable].storage == Storage::Global && is_state(leaf.kind));
    leaves.flat_map(|(id, leaf)| (0..leaf.element_count()).map(move |element| (id, element))).collect()
}

/// What is printed, and where.
#[derive(Default)]
struct Printed(Vec<(CodeIndex, OutputId)>);

impl Observer for Printed {
    fn event(&mut self, _: ThreadName, at: CodeIndex, event: Event) {
        if let Event::Print { output } = event {
            self.0.push((at, output));
        }
    }
}
