//! The calling context of a call: its objects, and the origins of its values.
//!
//! **Input**: a state in which a thread has entered a method, and the arguments of the call. **Output**: [`CallOrigin`]; two
//! calls with equal origins have one context. **Algorithm**: the objects are those of the arguments. If the call has values, the
//! place of the call stands for their origin; it is found behind the frame of the method. **Limits**: the first function of a
//! thread has no such place, so its calls differ by their objects alone.

use cssame_harness::Argument;
use cssame_ir::FunctionId;
use cssame_vm::{CodeIndex, Machine, State, ThreadIndex};

/// The calling context of a method.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CallOrigin {
    objects: Vec<String>,
    /// Where it is called, if it has value parameters.
    place: Option<CodeIndex>,
}

impl CallOrigin {
    /// That of a call in which a thread stands.
    pub fn of(
        machine: &Machine,
        state: &State,
        (thread, method): (ThreadIndex, FunctionId),
        arguments: &[Argument],
    ) -> CallOrigin {
        let object = |argument: &Argument| match argument {
            Argument::Object(name) => Some(name.clone()),
            Argument::Value(_) => None,
        };
        let objects: Vec<String> = arguments.iter().filter_map(object).collect();
        let has_values = objects.len() < arguments.len();
        let place = has_values.then(|| call_place(machine, state, thread, method)).flatten();
        CallOrigin { objects, place }
    }
}

fn call_place(machine: &Machine, state: &State, thread: ThreadIndex, method: FunctionId) -> Option<CodeIndex> {
    let mut frames = machine.frames(state, thread);
    // The innermost frame stands at its next instruction, each other one behind its call.
    let innermost = frames.next()?;
    let calls: Vec<CodeIndex> = frames.filter_map(|at| Some(CodeIndex(at.0.checked_sub(1)?))).collect();
    let all = std::iter::once(innermost).chain(calls.iter().copied());
    let depth = all.map(|at| machine.origin(at).function).position(|function| function == method)?;
    calls.get(depth).map(|&call| machine.place(call))
}
