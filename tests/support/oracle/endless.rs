//! Executions without end, by their definition, in the graph of all states.
//!
//! Nothing is taken for granted but the graph: no components, and no argument why the largest ones would do. A state begins a weakly
//! fair execution without end within a set of states if it is in the greatest set in which each state has, for each thread, a way to a
//! state in which the thread cannot move, or to a step of the thread (Emerson and Lei 1987). The set is found by taking states away
//! until none has to go; ways are found by going over all steps again and again. For a strongly fair one, each set of threads is tried that may
//! go on again and again: the states in which another one could go on are left out, and each state has a way to a step of each of them, or by which
//! another thread wakes it. With fair choices, all that can be reached from some state reaches it again.

use super::code::{Op, Sync};
use super::graph::{Node, build};
use super::local::Machine;
use super::report::path_text;
use super::state::{Condition, State};
use super::{Visible, compile};
use cssame::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};

/// What is true of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endless {
    /// Whether some weakly fair execution comes to where no end can be reached.
    pub no_end: bool,
    /// Whether some weakly fair execution goes on for ever where an end can be reached.
    pub livelock: bool,
    /// The threads that a weakly fair execution leaves where they stand for ever, not waiting for the end of others.
    pub stays: BTreeSet<String>,
    /// Whether some strongly fair execution comes to where no end can be reached.
    pub no_end_strongly: bool,
    /// Whether some strongly fair execution goes on for ever where an end can be reached.
    pub livelock_strongly: bool,
    /// The threads that a strongly fair execution leaves where they stand for ever, not waiting for the end of others.
    pub stays_strongly: BTreeSet<String>,
    /// Whether, with fair choices, some execution goes on for ever.
    pub with_fair_choices: bool,
    /// The threads that stay where they stand then.
    pub stays_with_fair_choices: BTreeSet<String>,
}

/// A state of the graph.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// Threads that could stay there: alive, and not waiting for the end of others.
    standing: Vec<usize>,
    /// In the middle of an atomic block.
    atomic: bool,
    /// By step: the other threads that it wakes.
    woken: Vec<Vec<usize>>,
}

/// The steps of each state: the thread, and the state that it leads to unless that is discarded.
struct Steps {
    steps: Vec<Vec<(usize, Option<usize>)>>,
    ends: BTreeSet<usize>,
    facts: BTreeMap<usize, Facts>,
    names: BTreeMap<usize, String>,
    threads: usize,
}

/// Parses and searches; `None` where there are too many states.
pub fn endless_of_source(
    source: &str,
    visible: &BTreeSet<String>,
    max_states: usize,
) -> Result<Option<Endless>, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("oracle.csm", source);
    let parsed = cssame::front::csm::syntax::parse(&sources, file);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(first.message.clone());
    }
    let code = compile::compile(&parsed.program, sources.file(file), &BTreeMap::new())?;
    let visible = Visible::Named(visible.clone());
    let Visible::Named(names) = &visible else { return Ok(None) };
    let is_visible = code.variables.iter().map(|variable| names.contains(&variable.name)).collect();
    let mut machine = Machine::new(&code, is_visible, u32::MAX, false);
    let mut facts = BTreeMap::new();
    let mut paths: BTreeMap<usize, u32> = BTreeMap::new();
    let graph = build(&mut machine, max_states, &mut |machine, state, node| {
        for (thread, of) in state.threads.iter().enumerate() {
            paths.insert(thread, of.path);
        }
        facts.insert(node as usize, facts_of(machine, state));
    });
    if !graph.complete {
        return Ok(None);
    }
    let names = paths.into_iter().map(|(thread, path)| (thread, path_text(&machine, path))).collect();
    let mut steps = Vec::new();
    let mut ends = BTreeSet::new();
    let mut threads = 0;
    for (at, node) in graph.nodes.iter().enumerate() {
        let of = match node {
            Node::Going(moves) => moves.as_slice(),
            Node::Ended(_) => {
                ends.insert(at);
                &[]
            }
            Node::Discarded => &[],
        };
        threads = of.iter().map(|step| step.0 as usize + 1).fold(threads, usize::max);
        let target = |to: u32| (graph.nodes[to as usize] != Node::Discarded).then_some(to as usize);
        steps.push(of.iter().map(|&(thread, to)| (thread as usize, target(to))).collect());
    }
    Ok(Some(Steps { steps, ends, facts, names, threads }.endless()))
}

fn facts_of(machine: &mut Machine<'_>, state: &State) -> Facts {
    let waits = |condition| matches!(condition, Condition::AtCond(_) | Condition::BareWaiting);
    let mut moves = Vec::new();
    machine.moves(state, &mut moves);
    let woken = moves.into_iter().map(|next| {
        let mut after = state.clone();
        machine.step(&mut after, next);
        let pairs = state.threads.iter().zip(&after.threads).enumerate();
        let woken = pairs.filter(|(thread, (before, after))| {
            *thread != next.thread && waits(before.condition) && !waits(after.condition)
        });
        woken.map(|(thread, _)| thread).collect()
    });
    let woken = woken.collect();
    let stands = |thread: &usize| {
        let of = &state.threads[*thread];
        let behind = matches!(of.condition, Condition::AtBarrier(_) | Condition::BareWaiting);
        let pc = if behind { of.pc - 1 } else { of.pc };
        of.condition != Condition::Ended
            && !matches!(machine.code.ops[pc as usize], Op::JoinArms | Op::Sync(Sync::Join))
    };
    Facts { standing: (0..state.threads.len()).filter(stands).collect(), atomic: state.exclusive.is_some(), woken }
}

impl Steps {
    fn endless(&self) -> Endless {
        let can_end = self.leading_to(&self.ends);
        let all: BTreeSet<usize> = (0..self.steps.len()).collect();
        let cannot: BTreeSet<usize> = all.difference(&can_end).copied().collect();
        let mut found = Endless {
            no_end: !self.fair_within(&cannot, None).is_empty(),
            livelock: !self.fair_within(&can_end, None).is_empty(),
            no_end_strongly: self.is_strongly_fair_within(&cannot, None),
            livelock_strongly: self.is_strongly_fair_within(&can_end, None),
            ..Endless::default()
        };
        for thread in 0..=self.names.keys().next_back().copied().unwrap_or(0) {
            let stands = |state: &&usize| self.facts.get(state).is_some_and(|facts| facts.standing.contains(&thread));
            let region: BTreeSet<usize> = all.iter().filter(stands).copied().collect();
            if !self.fair_within(&region, Some(thread)).is_empty() {
                found.stays.insert(self.names[&thread].clone());
            }
            if self.is_strongly_fair_within(&region, Some(thread)) {
                found.stays_strongly.insert(self.names[&thread].clone());
            }
        }
        for &state in &all {
            let Some(closed) = self.closed_from(state) else { continue };
            found.with_fair_choices = true;
            for (&thread, name) in &self.names {
                let stands = |state: &usize| self.facts.get(state).is_some_and(|of| of.standing.contains(&thread));
                let moves = closed.iter().any(|&state| self.steps[state].iter().any(|step| step.0 == thread));
                if !moves && closed.iter().all(stands) {
                    found.stays_with_fair_choices.insert(name.clone());
                }
            }
        }
        found
    }

    /// The states from which some of these can be reached.
    fn leading_to(&self, targets: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut found = targets.clone();
        loop {
            let before = found.len();
            for (state, steps) in self.steps.iter().enumerate() {
                if steps.iter().any(|(_, to)| to.is_some_and(|to| found.contains(&to))) {
                    found.insert(state);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// The states of a region from which a weakly fair execution without end stays in it, in which one thread never moves.
    fn fair_within(&self, region: &BTreeSet<usize>, still: Option<usize>) -> BTreeSet<usize> {
        let mut left = if self.threads == 0 { BTreeSet::new() } else { region.clone() };
        loop {
            let before = left.len();
            for thread in 0..self.threads {
                let pays = self.paying(&left, thread, still);
                left.retain(|state| pays.contains(state));
            }
            if left.len() == before {
                return left;
            }
        }
    }

    /// Whether a strongly fair execution without end stays in a region, in which one thread never moves.
    fn is_strongly_fair_within(&self, region: &BTreeSet<usize>, still: Option<usize>) -> bool {
        let sets = 1u32 << self.threads;
        (1..sets).any(|set| {
            let goes_on = |thread: usize| set & 1 << thread != 0;
            let others = || (0..self.threads).filter(|&thread| !goes_on(thread));
            let mut left = region.clone();
            left.retain(|&state| others().all(|thread| !self.can_go_on(state, thread)));
            loop {
                let before = left.len();
                for thread in (0..self.threads).filter(|&thread| goes_on(thread)) {
                    let inside = |to: usize, left: &BTreeSet<usize>| left.contains(&to);
                    let mut pays: BTreeSet<usize> = BTreeSet::new();
                    loop {
                        let known = pays.len();
                        for &state in &left {
                            let leads = self.steps[state].iter().enumerate().any(|(step, &(mover, to))| {
                                let to = to.filter(|&to| inside(to, &left) && still != Some(mover));
                                let goes = mover == thread || self.woken(state, step).contains(&thread);
                                to.is_some_and(|to| goes || pays.contains(&to))
                            });
                            if leads {
                                pays.insert(state);
                            }
                        }
                        if pays.len() == known {
                            break;
                        }
                    }
                    left = pays;
                }
                if left.len() == before {
                    return !left.is_empty();
                }
            }
        })
    }

    fn woken(&self, state: usize, step: usize) -> &[usize] {
        self.facts.get(&state).map_or(&[], |facts| &facts.woken[step])
    }

    fn can_go_on(&self, state: usize, thread: usize) -> bool {
        let atomic = self.facts.get(&state).is_some_and(|facts| facts.atomic);
        let mut steps = self.steps[state].iter().enumerate();
        !atomic && steps.any(|(step, &(mover, _))| mover == thread || self.woken(state, step).contains(&thread))
    }

    /// The states with a way of one step at least within a set that passes a step of a thread, or comes to a state in which
    /// that cannot move.
    fn paying(&self, within: &BTreeSet<usize>, thread: usize, still: Option<usize>) -> BTreeSet<usize> {
        let cannot_move = |state: usize| {
            let atomic = self.facts.get(&state).is_some_and(|facts| facts.atomic);
            !atomic && self.steps[state].iter().all(|step| step.0 != thread)
        };
        let mut found: BTreeSet<usize> = BTreeSet::new();
        loop {
            let before = found.len();
            for &state in within {
                let pays = self.steps[state].iter().any(|&(mover, to)| {
                    let inside = to.filter(|to| within.contains(to) && still != Some(mover));
                    inside.is_some_and(|to| mover == thread || cannot_move(to) || found.contains(&to))
                });
                if pays {
                    found.insert(state);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// What can be reached from a state, if it is never an end and never discarded, and always leads back.
    fn closed_from(&self, state: usize) -> Option<BTreeSet<usize>> {
        let mut reached = BTreeSet::from([state]);
        let mut waiting = vec![state];
        while let Some(at) = waiting.pop() {
            if self.ends.contains(&at) || self.steps[at].is_empty() {
                return None;
            }
            for &(_, to) in &self.steps[at] {
                let to = to?;
                if reached.insert(to) {
                    waiting.push(to);
                }
            }
        }
        let back = self.leading_to(&BTreeSet::from([state]));
        reached.is_subset(&back).then_some(reached)
    }
}
