//! The places where functions begin to run, and the targets of references.
//!
//! **Input**: a program. **Output**: [`Sites`]: for each function that main reaches, the places that call it or create a thread
//! of it; the blocks that a function may run more than once; and the variable behind a reference.
//!
//! **Soundness and limits**: a reference is followed through parameters of functions that begin at one place only. If a function
//! begins at several places, the target is unknown; the form refuses such functions.

use crate::Input;
use cssame_ir::flow::flow_graph;
use cssame_ir::{
    Base, BlockId, Follow, Function, FunctionId, Instruction, Operand, Place, Program, RegisterId, Storage, VariableId,
};
use cssame_source::Span;
use fixedbitset::FixedBitSet;
use petgraph::algo::kosaraju_scc;
use rustc_hash::FxHashMap;

/// A place where a function begins to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub(super) caller: FunctionId,
    pub(super) span: Span,
    pub(super) in_loop: bool,
    /// Whether a thread is made there.
    pub(super) is_thread: bool,
    arguments: &'a [Operand],
}

/// Where the functions of a program begin to run.
pub(super) struct Sites<'a> {
    program: &'a Program,
    /// The functions that main reaches, in the order of the text.
    pub(super) functions: Vec<FunctionId>,
    of: FxHashMap<FunctionId, Vec<Site<'a>>>,
    /// By function: the blocks on a way that leads back to them.
    loops: FxHashMap<FunctionId, FixedBitSet>,
}

impl<'a> Sites<'a> {
    pub(super) fn new(input: &Input<'a>, main: FunctionId) -> Sites<'a> {
        let program = input.program;
        let functions = program.reached_functions([main], Follow::CallsAndThreads);
        let loops = functions.iter().map(|&id| (id, looping_blocks(&program.functions[id]))).collect();
        let mut sites = Sites { program, functions, of: FxHashMap::default(), loops };
        for &caller in &sites.functions {
            for (block, content) in program.functions[caller].blocks.entries() {
                let in_loop = sites.in_loop(caller, block);
                for (instruction, &span) in content.instructions.iter().zip(&content.spans) {
                    let site = Site { caller, span, in_loop, is_thread: false, arguments: &[] };
                    let mut add = |function, site| sites.of.entry(function).or_default().push(site);
                    if let Instruction::Call { function, arguments, .. } = instruction {
                        add(*function, Site { arguments, ..site });
                    }
                    for thread in instruction.new_threads() {
                        for function in thread.functions() {
                            add(function, Site { arguments: &thread.arguments, is_thread: true, ..site });
                        }
                    }
                }
            }
        }
        sites
    }

    /// The places where a function begins to run; none for main.
    pub(super) fn of(&self, function: FunctionId) -> &[Site<'a>] {
        self.of.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Whether main reaches what owns a variable.
    pub(super) fn has(&self, storage: Storage) -> bool {
        match storage {
            Storage::Global => true,
            Storage::Local(function) => self.functions.binary_search(&function).is_ok(),
        }
    }

    /// Whether a function may run a block more than once each time that it runs.
    pub(super) fn in_loop(&self, function: FunctionId, block: BlockId) -> bool {
        self.loops.get(&function).is_some_and(|blocks| blocks.contains(block.index()))
    }

    /// The variable that a place lies in.
    pub(super) fn variable(&self, function: FunctionId, place: &Place) -> Option<VariableId> {
        let (mut id, mut base) = (function, place.base);
        loop {
            let register = match base {
                Base::Global(variable) => return Some(variable),
                Base::Reference(register) => register,
                Base::Pointer(_) => return None,
            };
            let function = &self.program.functions[id];
            if let Some(position) = function.parameters.iter().position(|&each| each == register) {
                let [site] = self.of(id) else { return None };
                let Some(Operand::Register(given)) = site.arguments.get(position) else { return None };
                (id, base) = (site.caller, Base::Reference(*given));
                continue;
            }
            base = match only_definition(function, register)? {
                Instruction::Allocate { variable, .. } => return Some(*variable),
                Instruction::Address { place, .. } if place.indices.is_empty() && place.offset == 0 => place.base,
                _ => return None,
            };
        }
    }
}

/// The instruction that defines a register, if there is one only.
fn only_definition(function: &Function, register: RegisterId) -> Option<&Instruction> {
    let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
    let mut found = instructions.filter(|instruction| instruction.dest() == Some(register));
    found.next().filter(|_| found.next().is_none())
}

/// The blocks on a circle of the flow graph.
fn looping_blocks(function: &Function) -> FixedBitSet {
    let graph = flow_graph(function);
    let mut looping = FixedBitSet::with_capacity(function.blocks.len());
    for component in kosaraju_scc(&graph) {
        let circle = component.len() > 1 || component.iter().any(|&only| graph.contains_edge(only, only));
        looping.extend(component.into_iter().filter(|_| circle).map(petgraph::graph::NodeIndex::index));
    }
    looping
}
