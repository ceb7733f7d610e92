//! SSA construction, dominators, and the checks of both.

mod functions;

use cssame::ssa::AccessKind::{Definition, Use, WeakDefinition};
use cssame::ssa::{Accesses, Dominators, Graph, NO_VERSION, Origin, Ssa, build_ssa, verify_ssa};
use petgraph::graph::{DiGraph, NodeIndex};
use proptest::prelude::*;
use support::cfg::{Flow, flow, successors};

fn built(graph: &Graph, variables: usize, accesses: &Accesses) -> Ssa {
    build_ssa(graph, &Dominators::new(graph), variables, accesses)
}

fn graph_of(successors: &[Vec<u32>]) -> Graph {
    Flow { successors: successors.to_vec(), accesses: Vec::new(), variables: 0 }.graph()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::size(100, 400) as u32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dominators_are_those_of_petgraph(successors in successors(24)) {
        let graph = graph_of(&successors);
        let dominators = Dominators::new(&graph);
        let mut other: DiGraph<(), ()> = DiGraph::new();
        for _ in &successors {
            other.add_node(());
        }
        for (node, targets) in successors.iter().enumerate() {
            for &target in targets {
                other.add_edge(NodeIndex::new(node), NodeIndex::new(target as usize), ());
            }
        }
        let oracle = petgraph::algo::dominators::simple_fast(&other, NodeIndex::new(0));
        for node in 0..successors.len() as u32 {
            let expected = oracle.immediate_dominator(NodeIndex::new(node as usize)).map(|index| index.index() as u32);
            prop_assert_eq!(dominators.immediate_dominator(node), expected);
            let all: Option<Vec<usize>> =
                oracle.dominators(NodeIndex::new(node as usize)).map(|all| all.map(NodeIndex::index).collect());
            prop_assert_eq!(dominators.is_reachable(node), all.is_some());
            for above in 0..successors.len() as u32 {
                let expected = all.as_ref().is_some_and(|all| all.contains(&(above as usize)));
                prop_assert_eq!(dominators.dominates(above, node), expected);
            }
        }
    }

    #[test]
    fn the_tree_lists_each_reachable_node_once(successors in successors(24)) {
        let graph = graph_of(&successors);
        let dominators = Dominators::new(&graph);
        let mut order = dominators.reverse_postorder().to_vec();
        for (rank, &node) in order.iter().enumerate() {
            prop_assert_eq!(dominators.rank(node), Some(rank as u32));
            for child in dominators.children(node) {
                prop_assert_eq!(dominators.immediate_dominator(child), Some(node));
            }
        }
        let children: usize = order.iter().map(|&node| dominators.children(node).count()).sum();
        prop_assert_eq!(children + 1, order.len());
        let mut tree = dominators.tree_preorder().to_vec();
        order.sort_unstable();
        tree.sort_unstable();
        prop_assert_eq!(order, tree);
    }

    #[test]
    fn no_random_path_misses_a_dominator(successors in successors(24), steps in proptest::collection::vec(0..64_usize, 40)) {
        let graph = graph_of(&successors);
        let dominators = Dominators::new(&graph);
        let mut node = 0;
        let mut path = vec![node];
        for step in steps {
            let Some(&target) = graph.successors(node).get(step % graph.successors(node).len().max(1)) else { break };
            node = target;
            path.push(node);
            let mut above = Some(node);
            while let Some(dominator) = above {
                prop_assert!(path.contains(&dominator), "{} dominates {}, but {:?}", dominator, node, path);
                above = dominators.immediate_dominator(dominator);
            }
        }
    }

    #[test]
    fn frontiers_are_where_dominance_ends(successors in successors(16)) {
        let graph = graph_of(&successors);
        let dominators = Dominators::new(&graph);
        let frontiers = dominators.frontiers(&graph);
        let nodes = 0..successors.len() as u32;
        for node in nodes.clone() {
            let mut expected: Vec<u32> = nodes
                .clone()
                .filter(|&end| {
                    graph.predecessors(end).iter().any(|&from| dominators.dominates(node, from))
                        && (node == end || !dominators.dominates(node, end))
                })
                .collect();
            expected.sort_unstable_by_key(|&end| dominators.rank(end));
            prop_assert_eq!(frontiers.of(node), expected);
        }
    }

    #[test]
    fn ssa_of_any_graph_is_right(flow in flow(14)) {
        let (graph, accesses) = (flow.graph(), flow.accesses());
        let ssa = built(&graph, flow.variables as usize, &accesses);
        prop_assert_eq!(verify_ssa(&graph, flow.variables as usize, &accesses, &ssa), Ok(()));
    }

    #[test]
    fn ssa_of_a_larger_graph_is_right(flow in flow(60)) {
        let (graph, accesses) = (flow.graph(), flow.accesses());
        let ssa = built(&graph, flow.variables as usize, &accesses);
        prop_assert_eq!(verify_ssa(&graph, flow.variables as usize, &accesses, &ssa), Ok(()));
    }
}

/// The accesses of blocks given as `(variable, kind)` lists.
fn accesses_of(blocks: &[&[(u32, cssame::ssa::AccessKind)]]) -> Accesses {
    let mut accesses = Accesses::new();
    for block in blocks {
        for &(variable, kind) in *block {
            accesses.push(variable, kind);
        }
        accesses.end_block();
    }
    accesses
}

#[test]
fn a_loop_merges_the_entry_value_with_that_of_the_body() {
    // 0: x = …; 1: while (x) 2: x = x + …; 3: use x
    let graph = Graph::from_edges(4, &[(0, 1), (1, 2), (1, 3), (2, 1)]);
    let accesses = accesses_of(&[&[(0, Definition)], &[(0, Use)], &[(0, Use), (0, Definition)], &[(0, Use)]]);
    let ssa = built(&graph, 1, &accesses);
    assert_eq!(ssa.phis().len(), 1);
    assert_eq!((ssa.phis()[0].block, ssa.phis()[0].version), (1, 3));
    assert_eq!(ssa.arguments(0), [1, 2]);
    assert_eq!((0..5).map(|access| ssa.used(access)).collect::<Vec<_>>(), [NO_VERSION, 3, 3, NO_VERSION, 3]);
    assert_eq!(ssa.origin(0, 3), Origin::Phi(0));
    assert_eq!(ssa.origin(0, 2), Origin::Access(3));
    assert_eq!(ssa.version_count(0), 4);
}

#[test]
fn nothing_is_merged_for_a_variable_that_nobody_reads_again() {
    let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let accesses = accesses_of(&[&[], &[(0, Definition), (0, Use)], &[(0, Definition), (0, Use)], &[]]);
    assert_eq!(built(&graph, 1, &accesses).phis().len(), 0);
}

#[test]
fn a_weak_definition_reads_what_it_leaves() {
    let graph = Graph::from_edges(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let accesses = accesses_of(&[&[(0, Definition)], &[(0, WeakDefinition)], &[], &[(0, Use)]]);
    let ssa = built(&graph, 1, &accesses);
    assert_eq!((ssa.used(1), ssa.made(1)), (1, 2));
    assert_eq!(ssa.arguments(0), [2, 1]);
    assert_eq!(ssa.used(2), 3);
}

#[test]
fn a_way_back_to_the_entry_merges_with_the_value_at_entry() {
    let graph = Graph::from_edges(2, &[(0, 0), (0, 1)]);
    let accesses = accesses_of(&[&[(0, Use), (0, Definition)], &[]]);
    let ssa = built(&graph, 1, &accesses);
    assert_eq!(ssa.arguments(0), [1, 0]);
    assert_eq!(ssa.used(0), 2);
}

#[test]
fn blocks_that_cannot_be_reached_have_no_part() {
    // 2 is not reached and jumps into the loop.
    let graph = Graph::from_edges(3, &[(0, 1), (1, 1), (2, 1)]);
    let accesses = accesses_of(&[&[], &[(0, Use), (0, Definition)], &[(0, Use), (0, Definition)]]);
    let ssa = built(&graph, 1, &accesses);
    assert_eq!(ssa.arguments(0), [0, 1, NO_VERSION]);
    assert_eq!(ssa.used(2), NO_VERSION);
    assert_eq!(ssa.made(3), 2);
    assert_eq!(verify_ssa(&graph, 1, &accesses, &ssa), Ok(()));
}

#[test]
fn a_graph_without_nodes_and_one_without_variables() {
    let graph = Graph::from_edges(0, &[]);
    assert_eq!(verify_ssa(&graph, 0, &Accesses::new(), &built(&graph, 0, &Accesses::new())), Ok(()));
    let graph = Graph::from_edges(1, &[]);
    let accesses = accesses_of(&[&[]]);
    assert_eq!(verify_ssa(&graph, 0, &accesses, &built(&graph, 0, &accesses)), Ok(()));
}

#[test]
fn a_deep_graph_needs_no_deep_stack() {
    // A ladder: every rung jumps to one common end and on to the next.
    let rungs = 200_000_u32;
    let mut edges = Vec::new();
    let mut accesses = Accesses::new();
    for rung in 0..rungs {
        edges.push((rung, rung + 1));
        edges.push((rung, rungs + 1));
        accesses.push(0, WeakDefinition);
        accesses.end_block();
    }
    edges.push((rungs, rungs + 1));
    accesses.end_block();
    accesses.push(0, Use);
    accesses.end_block();
    let graph = Graph::from_edges(rungs as usize + 2, &edges);
    let ssa = built(&graph, 1, &accesses);
    assert_eq!(ssa.phis().len(), 1);
    assert_eq!(ssa.arguments(0).len(), rungs as usize + 1);
}
