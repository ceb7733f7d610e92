//! Locals that are one variable for all threads.
//!
//! **Input**: the blocks that allocate each local variable. **Output**: [`Instance::unique`](super::Instance::unique).
//!
//! **Algorithm**: a local is one variable at any time under three conditions: it is not recursive; no thread above its frame may
//! have several instances; and, if the program spawns threads (they may outlive the frame), it is allocated only once.
//!
//! Memory of `malloc` is single if it is asked for only once.
//!
//! **Soundness and limits**: only then do two accesses by different threads certainly refer to the same cell.

use super::builder::GraphBuilder;
use super::repetition::{Repetition, may_be_many};
use super::{Instance, InstanceId};
use cssame_ssa::graph::Graph;

/// Marks the memory on the heap that there is only one object of.
pub(super) fn find_single_memory(builder: &mut GraphBuilder<'_>, local: &Graph) {
    let program = builder.program;
    let mut repetitions = builder.repetitions(local);
    let is_one = |&&(instance, block): &&(InstanceId, u32)| {
        let Instance { variable, context, .. } = builder.unfolding.instances[instance];
        let recursive = context.is_none_or(|context| builder.unfolding.contexts[context].recursive);
        program.variables[variable].heap
            && !recursive
            && !may_be_many(&builder.unfolding.threads, builder.thread_of(block))
            && repetitions.of(block) == Repetition::Once
    };
    let found: Vec<InstanceId> = builder.allocations.iter().filter(is_one).map(|&(instance, _)| instance).collect();
    found.into_iter().for_each(|instance| builder.unfolding.instances[instance].single = true);
}

/// Marks the locals that are one variable for all threads at any time.
pub(super) fn find_unique(builder: &mut GraphBuilder<'_>, local: &Graph) {
    let spawns = builder.unfolding.threads.iter().any(|thread| thread.spawned);
    let mut repetitions = builder.repetitions(local);
    let is_unique = |&(instance, block): &(InstanceId, u32)| {
        builder.unfolding.instances[instance].single
            && !may_be_many(&builder.unfolding.threads, builder.thread_of(block))
            && (!spawns || repetitions.of(block) == Repetition::Once)
    };
    let unique: Vec<bool> = builder.allocations.iter().map(is_unique).collect();
    for (&(instance, _), unique) in builder.allocations.iter().zip(unique) {
        builder.unfolding.instances[instance].unique = unique;
    }
}
