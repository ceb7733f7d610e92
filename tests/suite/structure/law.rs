//! Every function of every sample and of random programs, and random graphs: the statements do what the graph does.
//!
//! `CSSAME_LAW_PROGRAMS` and `CSSAME_LAW_SEED` run more programs, or others.

use super::flat::check;
use cssame::ir::arena::Arena;
use cssame::ir::structure::{MAX_NESTING, StructureError, completes, structured};
use cssame::ir::{
    Block, BlockId, Function, FunctionKind, Instruction, Operand, Program, RegisterId, Terminator, TextId, Value,
};
use cssame::model::Unit;
use cssame::source::Span;
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use support::cfg::successors;
use support::generate::{self, Size};
use support::{first_seed, programs, samples};

fn check_program(program: &Program) -> usize {
    for function in program.functions.iter() {
        for may_test in [false, true] {
            check(function, &structured(function, &|_| may_test).unwrap());
        }
    }
    program.functions.len()
}

#[test]
fn functions_of_samples_keep_their_edges() {
    let mut count = 0;
    for (name, text) in samples() {
        count += Unit::from_text(&name, &text, &[]).map_or(0, |unit| check_program(&unit.program));
    }
    assert!(count > 300, "{count} functions");
}

#[test]
fn functions_of_random_programs_keep_their_edges() {
    let first = first_seed(1);
    let size = Size { threads: 3, operations: 20, ..Size::default() };
    let mut count = 0;
    for seed in first..first + programs(50) {
        let texts = [
            generate::program(seed, &size),
            generate::counting(seed),
            generate::branching(seed, 2, 12),
            generate::arrays(seed),
            generate::guarded(seed),
            generate::locking(seed, &size),
        ];
        let units = texts.iter().filter_map(|text| Unit::from_text("test.csm", text, &[]).ok());
        count += units.map(|unit| check_program(&unit.program)).sum::<usize>();
    }
    assert!(support::has_new_seed() || count > 1_000, "{count} functions");
}

/// A function whose blocks have at most the first two of those successors.
fn function_of(successors: &[Vec<u32>], is_empty: impl Fn(usize) -> bool) -> Function {
    let condition = Operand::Register(RegisterId(0));
    let copy = Instruction::Copy { dest: RegisterId(0), source: Operand::Constant(Value::Bool(true)) };
    let mut blocks = Arena::new();
    for (at, targets) in successors.iter().enumerate() {
        let terminator = match *targets.as_slice() {
            [] => Terminator::Return(None),
            [target] => Terminator::Jump(BlockId(target)),
            [first, second, ..] => {
                Terminator::Branch { condition, then_block: BlockId(first), else_block: BlockId(second) }
            }
        };
        let instructions = if is_empty(at) { Vec::new() } else { vec![copy.clone()] };
        let spans = vec![Span::default(); instructions.len()];
        let terminator_span = Span::default();
        blocks.push(Block { instructions, spans, terminator, terminator_span, negated: false });
    }
    let (name, span, kind) = (TextId(0), Span::default(), FunctionKind::Function);
    Function { name, span, kind, parameters: Vec::new(), result: None, registers: Arena::new(), blocks }
}

/// Whether a loop has several entries: the edges that lead to no dominator make a circle.
fn is_irreducible(function: &Function) -> bool {
    let whole = cssame::ir::flow::flow_graph(function);
    let dominators = petgraph::algo::dominators::simple_fast(&whole, NodeIndex::new(0));
    let mut forward: DiGraph<(), ()> = DiGraph::new();
    function.blocks.iter().for_each(|_| {
        forward.add_node(());
    });
    for edge in whole.edge_indices() {
        let Some((from, to)) = whole.edge_endpoints(edge) else { continue };
        if let Some(mut above) = dominators.dominators(from)
            && above.all(|above| above != to)
        {
            forward.add_edge(from, to, ());
        }
    }
    is_cyclic_directed(&forward)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::size(600, 3_000) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn graphs_keep_their_edges_or_are_refused(
        successors in successors(24), empty in any::<u32>(), spans in proptest::collection::vec(0..20_u32, 24), has_result in any::<bool>(),
    ) {
        let mut function = function_of(&successors, |at| empty >> at & 1 == 1);
        for (at, block) in function.blocks.iter_mut().enumerate() {
            block.terminator_span.end = spans[at];
            if has_result && block.terminator == Terminator::Return(None) {
                block.terminator = Terminator::Return(Some(Operand::Constant(Value::Int(at as i32))));
            }
        }
        function.result = has_result.then_some(cssame::ir::ScalarType::Int);
        match structured(&function, &|block| spans[block.index()] % 2 == 0) {
            Ok(statements) => {
                prop_assert!(!is_irreducible(&function));
                check(&function, &statements);
            }
            Err(StructureError::Irreducible { .. }) => prop_assert!(is_irreducible(&function)),
            Err(StructureError::TooDeep) => prop_assert!(false, "14 blocks are not too deep"),
        }
    }
}

#[test]
fn long_functions_are_no_problem() {
    let count = support::size(20_000, 100_000) as u32;
    let last = count + 1;
    let shapes: [(&str, fn(u32, u32) -> Vec<u32>); 6] = [
        ("jumps", |at, _| vec![at + 1]),
        ("tests that leave the function", |at, last| vec![at + 1, last + 1]),
        ("tests that skip one block", |at, _| if at % 2 == 0 { vec![at + 1, at + 2] } else { vec![at + 1] }),
        ("a ladder", |at, last| if at % 2 == 0 { vec![at + 1, at + 2] } else { vec![last] }),
        ("a ladder the other way round", |at, last| if at % 2 == 0 { vec![at + 2, at + 1] } else { vec![last] }),
        ("loops", |at, _| if at % 2 == 0 { vec![at + 1, at + 2] } else { vec![at - 1] }),
    ];
    for (name, shape) in shapes {
        let mut successors: Vec<Vec<u32>> = (0..count).map(|at| shape(at, last)).collect();
        successors.extend([vec![last], vec![], vec![]]);
        let function = function_of(&successors, |_| false);
        let statements = structured(&function, &|_| true).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&function, &statements);
        assert!(completes(&statements), "{name}");
    }
}

#[test]
fn what_needs_too_many_levels_is_refused() {
    // A test for each case, and cases that fall through: each begins a level further out.
    let count = MAX_NESTING + 1;
    let mut successors: Vec<Vec<u32>> = (0..count).map(|at| vec![count + at, at + 1]).collect();
    successors.extend((0..=count).map(|at| if at < count { vec![count + at + 1] } else { Vec::new() }));
    successors[count as usize - 1][1] = 2 * count;
    let function = function_of(&successors, |_| false);
    assert_eq!(structured(&function, &|_| false), Err(StructureError::TooDeep));
}

#[test]
fn a_loop_with_two_entries_is_refused() {
    let function = function_of(&[vec![1, 2], vec![2], vec![1, 3], vec![]], |_| false);
    let error = structured(&function, &|_| false).unwrap_err();
    let expected = "the jump from block 1 back to block 2 enters a loop that has another entry";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_function_without_blocks_has_no_statements() {
    assert_eq!(structured(&function_of(&[], |_| false), &|_| false), Ok(Vec::new()));
}
