//! Calls in traces: the rows that a call replaces, and its text.
//!
//! **Input**: calls, results and returns of an execution, in order. **Output**: a [`Call`] for each, as `pool.acquire(0)` with
//! its result; for each thread, the call that it is in.
//!
//! **Algorithm**: a stack for each thread. Arguments are values as in the text, and objects by their names outside the call.
//!
//! **Soundness and limits**: a reference into an object that no longer exists at the end of the step is `…`.

use super::describe::Scene;
use cssame_ir::types::Part;
use cssame_ir::{Base, Function, FunctionId, FunctionKind, Place, RegisterId, RegisterType, Type};
use cssame_source::{SourceMap, Span};
use cssame_vm::PathId;
use rustc_hash::FxHashMap;

/// A call that a thread makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The call that it is made in, by its place in the list of calls.
    pub outer: Option<usize>,
    /// The file of the call, where it stands beside the one that was named.
    pub file: Option<String>,
    /// The line of the call.
    pub line: u32,
    /// `pool.acquire(0)`.
    pub text: String,
    /// What it gives back.
    pub result: Option<String>,
    /// Whether it has come back.
    pub is_over: bool,
}

/// Where a row stands.
pub(super) fn file_and_line(sources: &SourceMap, span: Span) -> (Option<String>, u32) {
    (sources.file(span.file).beside().map(str::to_owned), sources.line(span))
}

/// The calls that threads are in.
#[derive(Default)]
pub(super) struct Stacks {
    by_thread: FxHashMap<PathId, Vec<(usize, FunctionId)>>,
}

impl Stacks {
    /// The call that a thread is in.
    pub(super) fn of(&self, thread: PathId) -> Option<usize> {
        Some(self.by_thread.get(&thread)?.last()?.0)
    }

    pub(super) fn call(
        &mut self,
        calls: &mut Vec<Call>,
        (thread, span): (PathId, Span),
        (function, arguments): (FunctionId, &[i64]),
        scene: &Scene<'_>,
    ) {
        let outer = self.of(thread);
        let (file, line) = file_and_line(scene.naming.sources, span);
        let text = scene.call(function, arguments);
        self.by_thread.entry(thread).or_default().push((calls.len(), function));
        calls.push(Call { outer, file, line, text, result: None, is_over: false });
    }

    /// The function that a thread is about to leave gives a result.
    pub(super) fn result(&self, calls: &mut [Call], thread: PathId, bits: i64, scene: &Scene<'_>) {
        if let Some(&(call, function)) = self.by_thread.get(&thread).and_then(|stack| stack.last()) {
            let program = scene.naming.program;
            let of = &program.functions[function];
            calls[call].result =
                of.result.map(|ty| scene.naming.value((scene.state, scene.tables), Some(of.span), ty, bits));
        }
    }

    /// A thread leaves a function, or what it was made with.
    pub(super) fn leave(&mut self, calls: &mut [Call], thread: PathId) {
        if let Some((call, _)) = self.by_thread.get_mut(&thread).and_then(Vec::pop) {
            calls[call].is_over = true;
        }
    }
}

impl Scene<'_> {
    /// A call as the text would write it: `pool.acquire(0)`.
    fn call(&self, function: FunctionId, arguments: &[i64]) -> String {
        let program = self.naming.program;
        let function = &program.functions[function];
        let mut arguments = function.parameters.iter().zip(arguments);
        let mut name = program.texts.get(function.name).to_owned();
        if matches!(function.kind, FunctionKind::Method { .. })
            && let Some((&register, &bits)) = arguments.next()
        {
            let receiver = self.argument(function, register, bits);
            name = format!("{receiver}.{}", name.rsplit('.').next().unwrap_or(&name));
        }
        // The length of an array has no name.
        let arguments = arguments.filter(|&(&register, _)| function.registers[register].name.is_some());
        let written: Vec<String> =
            arguments.map(|(&register, &bits)| self.argument(function, register, bits)).collect();
        format!("{name}({})", written.join(", "))
    }

    fn argument(&self, function: &Function, register: RegisterId, bits: i64) -> String {
        let of = &function.registers[register];
        match of.ty {
            RegisterType::Scalar(ty) => self.naming.value((self.state, self.tables), Some(of.span), ty, bits),
            RegisterType::Reference => {
                let address = u32::try_from(bits).ok();
                let name = address.and_then(|address| self.object(address, of.pointee));
                name.unwrap_or_else(|| "…".to_owned())
            }
        }
    }

    /// The name of what begins at an address and has a type: `pool`, `forks[1]`.
    fn object(&self, address: u32, ty: Option<Type>) -> Option<String> {
        let program = self.naming.program;
        let cell = self.naming.machine.cell(self.state, address)?;
        let Some(ty) = ty else { return Some(cell.name(program)) };
        let variable = cell.object.variable;
        let place = Place { base: Base::Global(variable), offset: cell.part, indices: Default::default() };
        let is_like = |other: Type| match (ty, other) {
            (Type::Array(one), Type::Array(other)) => program.arrays[one].element == program.arrays[other].element,
            _ => ty == other,
        };
        let parts = program.parts_of(program.variables[variable].ty, &place, is_like)?;
        let mut name = program.texts.get(program.variables[variable].name).to_owned();
        for part in parts {
            match part {
                Part::Field(class, field) => {
                    name += ".";
                    name += program.texts.get(program.classes[class].fields[field as usize].name);
                }
                Part::Index(number) | Part::Element(number) => name += &format!("[{number}]"),
            }
        }
        Some(name)
    }
}
