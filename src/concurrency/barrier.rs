//! Barriers whose participants meet in rounds.
//!
//! **Input**: the barrier events of the graph. **Output**: [`Barrier`]: the participants, and the number of arrivals before each
//! of their blocks; edges along which values flow from all arrivals of a round to all departures.
//!
//! **Algorithm**
//! 1. A barrier counts if exactly as many single threads use it as it waits for, and all of them are created together or once:
//!    only then do the k-th arrivals of all participants form the k-th round.
//! 2. Count the arrivals before each block ([`super::arrivals`]).
//! 3. Give every distinguishable round a *meeting* block: all arrivals of the round lead to it, and it leads to all their
//!    departures. Exact numbers distinguish rounds; otherwise the common modulus does; otherwise rounds are not distinguished.
//! 4. If all numbers are exact, the branches of a round have all run at its meeting, and parted at the previous meeting or at the
//!    fork. If all threads of the fork meet in a last round, the branches of their join parted there.
//!
//! **Soundness and limits**: two blocks of different participants with disjoint numbers of arrivals never run in parallel: the
//! block with more arrivals comes after a meeting, and the other participant reaches this meeting only after the other block. A
//! barrier is left out if some event may refer to it without certainty.

use super::arrivals::{Arrivals, count_arrivals, gcd};
use super::builder::GraphBuilder;
use super::repetition::{Repetition, may_be_many};
use super::sync_object::{MAX_OBJECTS, Objects};
use super::{AndJoin, LocationId, ThreadId};
use cssame_ir::LeafKind;
use cssame_ir::sync::Edge;
use cssame_ssa::graph::Graph;
use rustc_hash::{FxHashMap, FxHashSet};

/// A barrier whose participants meet in rounds.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// The barrier.
    pub object: LocationId,
    /// The threads that use it.
    pub participants: Vec<ThreadId>,
    /// The number of arrivals before each block of the participants.
    pub arrivals: FxHashMap<u32, Arrivals>,
}

impl Barrier {
    /// Whether one participant has made fewer arrivals at a block than the other has at another block.
    pub fn lies_between(&self, (from, first): (ThreadId, u32), (to, second): (ThreadId, u32)) -> bool {
        let arrivals = (self.arrivals.get(&first), self.arrivals.get(&second));
        let (Some(first), Some(second)) = arrivals else { return false };
        self.participants.contains(&from) && self.participants.contains(&to) && first.high < second.low
    }
}

/// Finds the barriers that order blocks, and wires the flow of values through them.
pub(super) fn find_barriers(builder: &mut GraphBuilder<'_>, local: &Graph, objects: &Objects) -> Vec<Barrier> {
    let mut found = Vec::new();
    let mut barriers: Vec<(LocationId, Vec<u32>)> = objects
        .certain
        .iter()
        .filter(|((kind, location), _)| kind.properties().edge == Edge::Meeting && objects.is_certain(*location))
        .filter_map(|((_, location), blocks)| Some(((*location)?, blocks.clone())))
        .collect();
    barriers.sort_unstable();
    barriers.truncate(MAX_OBJECTS);
    for (location, arrivals) in barriers {
        let LeafKind::Barrier(count) = builder.program.leaves[builder.locations[location].leaf].kind else { continue };
        let mut participants: Vec<ThreadId> = arrivals.iter().map(|&block| builder.thread_of(block)).collect();
        participants.sort_unstable();
        participants.dedup();
        // Step 1.
        if participants.len() != count as usize || !meet_in_rounds(builder, local, &participants) {
            continue;
        }
        // Step 2.
        let counted = count_arrivals(builder, local, &arrivals, &participants);
        wire_barrier(builder, local, &arrivals, &participants, &counted);
        found.push(Barrier { object: location, participants, arrivals: counted });
    }
    found
}

/// Whether the k-th arrivals of the participants certainly meet: single threads, made by one fork or each only once.
fn meet_in_rounds(builder: &GraphBuilder<'_>, local: &Graph, participants: &[ThreadId]) -> bool {
    let threads = &builder.unfolding.threads;
    let siblings = participants.windows(2).all(|pair| {
        threads[pair[0]].parent.is_some()
            && threads[pair[1]].parent.is_some()
            && threads[pair[0]].fork == threads[pair[1]].fork
    });
    let mut repetitions = builder.repetitions(local);
    let mut made_once =
        |thread: ThreadId| threads[thread].parent.is_none() || repetitions.of(threads[thread].fork) == Repetition::Once;
    participants.iter().all(|&thread| !may_be_many(threads, thread))
        && (siblings || participants.iter().all(|&thread| made_once(thread)))
}

/// Lets values pass a barrier through the meetings of its rounds.
fn wire_barrier(
    builder: &mut GraphBuilder<'_>,
    local: &Graph,
    arrivals: &[u32],
    participants: &[ThreadId],
    phases: &FxHashMap<u32, Arrivals>,
) {
    let set: FxHashSet<u32> = arrivals.iter().copied().collect();
    builder.flow_edges.retain(|(from, _)| !set.contains(from));
    let reached: Vec<(u32, Arrivals)> =
        arrivals.iter().filter_map(|&block| phases.get(&block).map(|&phase| (block, phase))).collect();
    let exact = reached.iter().all(|(_, phase)| phase.exact().is_some());
    let modulus = reached.iter().fold(0, |modulus, (_, phase)| gcd(modulus, phase.modulus));
    // Step 3: one meeting for each round that can be told apart.
    let mut meetings: Vec<(u32, u32)> = Vec::new();
    for &(arrival, phase) in &reached {
        let round = match phase.exact() {
            Some(round) if exact => round,
            _ if modulus >= 2 => phase.residue % modulus,
            _ => 0,
        };
        let known = meetings.iter().find(|(known, _)| *known == round).map(|&(_, meeting)| meeting);
        let meeting = known.unwrap_or_else(|| {
            let context = builder.blocks[arrival as usize].context;
            let meeting = builder.new_block(context);
            meetings.push((round, meeting));
            meeting
        });
        builder.flow_edges.push((arrival, meeting));
        for &departure in local.successors(arrival) {
            builder.flow_edges.push((meeting, departure));
        }
    }
    // Step 4.
    if exact {
        add_meetings(builder, &reached, participants, &mut meetings);
        raise_join_marker(builder, participants, phases, &meetings);
    }
}

/// Where all threads of a fork have met in a last round, the branches that meet at their join parted there.
fn raise_join_marker(
    builder: &mut GraphBuilder<'_>,
    participants: &[ThreadId],
    phases: &FxHashMap<u32, Arrivals>,
    meetings: &[(u32, u32)],
) {
    let Some(&(last, meeting)) = meetings.last() else { return };
    let threads = &builder.unfolding.threads;
    let all_met = participants.iter().all(|&thread| {
        let exit = builder.unfolding.contexts[threads[thread].root].exit;
        phases.get(&exit).and_then(|phase| phase.exact()) == Some(last + 1)
    });
    let fork = threads[participants[0]].fork;
    if !all_met {
        return;
    }
    for join in &mut builder.and_joins {
        if join.marker == fork
            && join.threads.len() == participants.len()
            && join.threads.iter().all(|thread| participants.contains(thread))
            && join.block != meeting
            && builder.joined.contains(&(fork, join.block))
        {
            join.marker = meeting;
        }
    }
}

/// At a meeting of an exact round, all participants have come.
fn add_meetings(
    builder: &mut GraphBuilder<'_>,
    reached: &[(u32, Arrivals)],
    participants: &[ThreadId],
    meetings: &mut [(u32, u32)],
) {
    meetings.sort_unstable();
    let threads = &builder.unfolding.threads;
    let fork = threads[participants[0]].fork;
    let siblings = participants.iter().all(|&thread| threads[thread].parent.is_some() && threads[thread].fork == fork);
    let mut previous = siblings.then_some(fork);
    for &(round, meeting) in meetings.iter() {
        let branches: Vec<Vec<u32>> = participants
            .iter()
            .map(|&participant| {
                let of = reached
                    .iter()
                    .filter(|(block, phase)| phase.exact() == Some(round) && builder.thread_of(*block) == participant);
                of.map(|&(block, _)| block).collect()
            })
            .collect();
        if let Some(marker) = previous {
            let threads = participants.to_vec();
            builder.and_joins.push(AndJoin { block: meeting, marker, branches, threads });
        }
        previous = Some(meeting);
    }
}
