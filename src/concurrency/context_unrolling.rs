//! The loop iterations of a context, as far as the unfolded graph distinguishes them.
//!
//! **Input**: a context with the values of its arguments. **Output**: its [`Iterations`].
//!
//! **Algorithm**: find the counted loops of its function ([`super::counted_loop`]), once for all its contexts. Walk through them
//! with the constants of the context ([`super::unrolling`]). Add up the cost of the iterations.
//!
//! **Soundness and limits**: contexts that stand for several activations have no iterations. Contexts for which the sum of all
//! iterations would exceed the budget have none either.

use super::ContextId;
use super::context::Unfolding;
use super::counted_loop::{At, CountedLoops};
use super::policy::called_by;
use super::unrolling::{Fixed, Iterations, Values};
use cssame_ir::{BlockId, FunctionId, Program};
use std::rc::Rc;

impl Unfolding {
    /// Finds the iterations of the counted loops of a context, as far as they may be told apart.
    pub fn find_iterations(&mut self, program: &Program, context: ContextId) {
        let spent = self.added_blocks.0 - self.added[context.index()];
        let (iterations, added) =
            self.iterations_within(program, context, self.added_blocks.1 - spent).unwrap_or_else(|| {
                let reachable = self.reachable[context.index()].iter().copied();
                (Iterations::none(reachable), 0)
            });
        let mut blocks: Vec<BlockId> = iterations.blocks.iter().map(|of| of.1).collect();
        blocks.sort_unstable();
        blocks.dedup();
        self.reachable[context.index()] = blocks;
        self.iterations[context.index()] = iterations;
        self.added[context.index()] = added;
        self.added_blocks.0 = spent + added;
    }

    /// The iterations of a context and the blocks that they add, where there are any and they add no more than `most`.
    fn iterations_within(&mut self, program: &Program, context: ContextId, most: u64) -> Option<(Iterations, u64)> {
        let of = &self.contexts[context];
        let id = of.function;
        if most == 0 || of.recursive || self.threads[of.thread].unordered || self.is_merged(context) {
            return None;
        }
        let loops = self.loops(program, id);
        if loops.list.is_empty() {
            return None;
        }
        let values = InContext { unfolding: self, program, context };
        let found = Iterations::find(&loops, program.functions[id].blocks.len(), &values);
        let added = self.added_by(program, id, &found);
        (added <= most).then_some((found, added))
    }

    /// The counted loops of a function.
    pub fn loops(&mut self, program: &Program, function: FunctionId) -> Rc<CountedLoops> {
        let writers = &self.writers[function.index()];
        let known = &mut self.loops[function.index()];
        known.get_or_insert_with(|| Rc::new(CountedLoops::of(&program.functions[function], writers))).clone()
    }

    /// The counted loops of a function, where somebody has looked for them.
    pub fn known_loops(&self, function: FunctionId) -> Option<&CountedLoops> {
        self.loops[function.index()].as_deref()
    }

    /// The blocks that iterations add to the graph, with those of what they call and run.
    fn added_by(&self, program: &Program, id: FunctionId, iterations: &Iterations) -> u64 {
        let function = &program.functions[id];
        let mut seen = vec![false; function.blocks.len()];
        let mut added = 0u64;
        for &(_, block) in &iterations.blocks {
            if !std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            let instructions = &function.blocks[block].instructions;
            let called = instructions.iter().flat_map(called_by).map(|(callee, _)| self.cost[callee.index()]);
            added = called.fold(added.saturating_add(1), u64::saturating_add);
        }
        added
    }
}

/// What the walk through the iterations of a context asks.
struct InContext<'a> {
    unfolding: &'a Unfolding,
    program: &'a Program,
    context: ContextId,
}

impl Values for InContext<'_> {
    fn successors(&self, fixed: &Fixed, block: BlockId) -> Vec<BlockId> {
        let function = &self.program.functions[self.unfolding.contexts[self.context].function];
        self.unfolding.live_successors(self.program, (self.context, fixed), &function.blocks[block].terminator)
    }

    fn value(&self, fixed: &Fixed, (block, position): At) -> Option<i64> {
        let function = &self.program.functions[self.unfolding.contexts[self.context].function];
        let instruction = &function.blocks[block].instructions[position as usize];
        self.unfolding.evaluate_with(self.program, self.context, fixed, |evaluator| evaluator.result(instruction))
    }
}
