//! The iterations of the counted loops of a context: they distinguish the copies of a block in the unfolded graph.
//!
//! **Input**: a function with its [`CountedLoops`], and the values of operands and branches for fixed values of some registers.
//! **Output**: [`Iterations`]: the reachable blocks, each with its iteration.
//!
//! **Algorithm** (loop unrolling, on the graph alone)
//! 1. Iteration 0 contains everything outside counted loops. Entering such a loop begins its first iteration, in which each
//!    counter has its first value. The back edge leads from an iteration to the next one, in which the counter has the next
//!    value. Leaving the loop returns to the surrounding iteration.
//! 2. Walk from the entry, with the constants that follow from the values of the counters: a branch that these decide goes one
//!    way only. So the last iteration ends at the head of the loop.
//! 3. A loop stays unchanged if a counter has no known first value, or if it has more than [`MAX_ITERATIONS`] iterations; the
//!    walk begins again without it. All loops stay unchanged if the iterations would have too many blocks.
//!
//! **Soundness and limits**: an execution of the function is a path through these blocks, since each value is the value of the
//! counter in that iteration. The number of iterations is known only if constants decide each test of the loop.

use super::IterationId;
use super::counted_loop::{At, CountedLoops};
use cssame_ir::{BlockId, RegisterId};
use cssame_source::arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};

/// Outside of all counted loops.
pub(super) const NO_ITERATION: IterationId = IterationId(0);

/// A loop has at most that many iterations that are told apart.
const MAX_ITERATIONS: u32 = 16;

/// Blocks that the iterations of a context may have beyond those of its function.
const MAX_BLOCKS: usize = 2_000;

/// Walks in which loops that do not count are found; then none is told apart.
const MAX_WALKS: usize = 8;

/// The values of registers.
pub(super) type Fixed = Vec<(RegisterId, i64)>;

#[derive(Clone, Debug)]
struct Iteration {
    /// The iteration around it, with the loop and the round; none outside.
    of: Option<(IterationId, usize, u32)>,
    fixed: Fixed,
}

/// The blocks of a context, iteration by iteration.
#[derive(Clone, Debug)]
pub(super) struct Iterations {
    iterations: Arena<IterationId, Iteration>,
    known: FxHashMap<(IterationId, usize, u32), IterationId>,
    /// Loops that stay as they are.
    closed: FxHashSet<usize>,
    /// The blocks that can be reached, sorted.
    pub blocks: Vec<(IterationId, BlockId)>,
}

/// What a walk has to know of the context.
pub(super) trait Values {
    /// The blocks that may come next.
    fn successors(&self, fixed: &Fixed, block: BlockId) -> Vec<BlockId>;
    /// What an instruction gives to its register.
    fn value(&self, fixed: &Fixed, at: At) -> Option<i64>;
}

impl Iterations {
    /// The blocks of a context without counted loops.
    pub fn none(blocks: impl IntoIterator<Item = BlockId>) -> Iterations {
        let mut iterations = Iterations::empty(FxHashSet::default());
        iterations.blocks = blocks.into_iter().map(|block| (NO_ITERATION, block)).collect();
        iterations
    }

    fn empty(closed: FxHashSet<usize>) -> Iterations {
        let mut iterations = Arena::new();
        iterations.push(Iteration { of: None, fixed: Fixed::new() });
        Iterations { iterations, known: FxHashMap::default(), closed, blocks: Vec::new() }
    }

    /// The blocks that can be reached from the entry of a function of `count` blocks.
    pub fn find(loops: &CountedLoops, count: usize, values: &dyn Values) -> Iterations {
        let mut closed = FxHashSet::default();
        for _ in 0..MAX_WALKS {
            let mut iterations = Iterations::empty(closed);
            match iterations.walk(loops, count + MAX_BLOCKS, values) {
                Ok(()) => return iterations,
                Err(Overflow::Iterations) => closed = iterations.closed,
                Err(Overflow::Blocks) => break,
            }
        }
        let mut iterations = Iterations::empty((0..loops.list.len()).collect());
        // Each block is reached once at most.
        let _ = iterations.walk(loops, usize::MAX, values);
        iterations
    }

    fn walk(&mut self, loops: &CountedLoops, limit: usize, values: &dyn Values) -> Result<(), Overflow> {
        let closed = self.closed.len();
        let mut seen = FxHashSet::from_iter([(NO_ITERATION, BlockId(0))]);
        self.blocks.push((NO_ITERATION, BlockId(0)));
        let mut next = 0;
        while let Some(&(iteration, block)) = self.blocks.get(next) {
            next += 1;
            for target in values.successors(&self.iterations[iteration].fixed, block) {
                let Some(of_target) = self.enter(loops, iteration, block, target, values) else { continue };
                if seen.insert((of_target, target)) {
                    self.blocks.push((of_target, target));
                }
            }
            if self.blocks.len() > limit {
                return Err(Overflow::Blocks);
            }
        }
        self.blocks.sort_unstable();
        if self.closed.len() > closed { Err(Overflow::Iterations) } else { Ok(()) }
    }

    /// The iteration in which control is behind an edge; none where the loop turns out not to count.
    fn enter(
        &mut self,
        loops: &CountedLoops,
        iteration: IterationId,
        from: BlockId,
        to: BlockId,
        values: &dyn Values,
    ) -> Option<IterationId> {
        let key = match self.behind(loops, iteration, from, to) {
            Behind::Iteration(iteration) => return Some(iteration),
            Behind::Round(key) => key,
        };
        if let Some(&known) = self.known.get(&key) {
            return Some(known);
        }
        let (above, which, round) = key;
        let mut fixed = self.iterations[above].fixed.clone();
        let (around, counters) = (fixed.len(), &loops.list[which].counters);
        if round == 0 {
            let first = |at| values.value(&self.iterations[above].fixed, at);
            fixed.extend(counters.iter().filter_map(|of| Some((of.register, first(of.first)?))));
        } else {
            let before = &self.iterations[iteration_of(&self.known, (above, which, round - 1))].fixed;
            let stays = |register| before[around..].iter().any(|known| known.0 == register);
            let open = counters.iter().filter(|of| stays(of.register));
            fixed.extend(open.filter_map(|of| Some((of.register, values.value(before, of.next)?))));
        }
        if fixed.len() == around || round > MAX_ITERATIONS {
            self.closed.insert(which);
            return None;
        }
        let made = self.iterations.push(Iteration { of: Some(key), fixed });
        self.known.insert(key, made);
        Some(made)
    }

    fn behind(&self, loops: &CountedLoops, iteration: IterationId, from: BlockId, to: BlockId) -> Behind {
        let mut at = iteration;
        while let Some((above, which, round)) = self.iterations[at].of {
            let of = &loops.list[which];
            if of.head == to && of.holds(from) {
                return Behind::Round((above, which, round + 1));
            }
            if of.head != to && of.holds(to) {
                break;
            }
            at = above;
        }
        let entered = loops.of_head.get(&to).copied().filter(|which| !self.closed.contains(which));
        entered.map_or(Behind::Iteration(at), |which| Behind::Round((at, which, 0)))
    }

    /// The iteration of a block that can be reached, behind an edge from another one.
    pub fn target(&self, loops: &CountedLoops, iteration: IterationId, from: BlockId, to: BlockId) -> IterationId {
        match self.behind(loops, iteration, from, to) {
            Behind::Iteration(iteration) => iteration,
            Behind::Round(key) => iteration_of(&self.known, key),
        }
    }

    /// The values of counters in an iteration.
    pub fn fixed(&self, iteration: IterationId) -> &Fixed {
        &self.iterations[iteration].fixed
    }

    /// The iterations that an iteration lies in, itself first; the last is outside of all loops.
    pub fn around(&self, iteration: IterationId) -> impl Iterator<Item = IterationId> + '_ {
        std::iter::successors(Some(iteration), |&at| self.iterations[at].of.map(|of| of.0))
    }
}

fn iteration_of(
    known: &FxHashMap<(IterationId, usize, u32), IterationId>,
    key: (IterationId, usize, u32),
) -> IterationId {
    known.get(&key).copied().unwrap_or(NO_ITERATION)
}

/// Where an edge leads.
enum Behind {
    /// Into an iteration that there is.
    Iteration(IterationId),
    /// To the head of a loop, in a round of it.
    Round((IterationId, usize, u32)),
}

/// Why a walk was given up.
enum Overflow {
    /// Some loops do not count, or too far.
    Iterations,
    /// There are too many blocks.
    Blocks,
}

#[cfg(test)]
mod tests {
    use crate::{Concurrency, EventKind, MAIN_THREAD, analyse};
    use cssame_front::compile;
    use cssame_ir::Program;
    use cssame_source::SourceMap;

    fn analysed(text: &str) -> (Program, Concurrency) {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", text);
        let compiled = compile(&sources, file, &[]);
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
        let concurrency = analyse(&program).expect("a main");
        (program, concurrency)
    }

    /// The elements of `t` that are written, in the order of the blocks; `*` is any.
    fn written(body: &str) -> String {
        let text = format!("int k; int t[40]; void main() {{ cobegin A: {{ {body} }} B: k = 1; coend }}");
        let (program, concurrency) = analysed(&text);
        let mut elements = Vec::new();
        for event in &concurrency.events {
            let EventKind::Write(_) = event.kind else { continue };
            for &location in concurrency.locations_of(event) {
                let location = concurrency.locations[location];
                if program.leaves[location.leaf].is_array() {
                    elements.push(location.element.map_or("*".to_owned(), |element| element.to_string()));
                }
            }
        }
        elements.join(" ")
    }

    #[test]
    fn a_counter_is_known_in_each_iteration() {
        assert_eq!(written("for (int i = 0; i < 3; i++) t[i] = 1;"), "0 1 2");
        assert_eq!(written("for (int i = 5; i >= 0; i -= 2) t[i] = 1;"), "5 3 1");
        assert_eq!(written("int i = 1; while (i < 30) { t[i] = 1; i = i * 3; }"), "1 3 9 27");
        assert_eq!(
            written("for (int i = 0; i < 2; i++) for (int j = i; j < 3; j++) t[10 * i + j] = 1;"),
            "0 1 2 11 12"
        );
        assert_eq!(written("int i; for (i = 0; i < 2; i++) t[i] = 1; for (i = 7; i < 9; i++) t[i] = 1;"), "0 1 7 8");
        assert_eq!(written("for (int i = 0; i < 16; i += 8) { if (k == i) continue; t[i] = 1; }"), "0 8");
        assert_eq!(written("int i = 0; int j = 9; while (i < 2) { t[i + j] = 1; j--; i++; }"), "9 9");
    }

    #[test]
    fn what_does_not_count_stays_a_loop() {
        assert_eq!(written("for (int i = 0; i < 17; i++) t[i] = 1;"), "*");
        assert_eq!(written("for (int i = 0; i < k; i++) t[i] = 1;"), "*");
        assert_eq!(written("for (int i = k; i < 3; i++) t[i] = 1;"), "*");
        assert_eq!(written("int i = 0; while (i < 3) { i++; if (k == 1) i++; t[i] = 1; }"), "*");
        // The index is read behind the step.
        assert_eq!(written("int i = 0; while (i < 3) { int j = i; i++; t[i] = j; }"), "*");
        // Only the inner loop counts.
        assert_eq!(
            written("for (int i = 0; i < k; i++) for (int j = 0; j < 2; j++) { t[j] = 1; t[i] = 1; }"),
            "0 * 1 *"
        );
    }

    #[test]
    fn threads_of_a_loop_are_told_apart_and_joined() {
        let text = "int x; thread w[3]; void f(int i) { x = i; }\n\
                    void main() { for (int i = 0; i < 3; i++) w[i] = spawn f(i); for (int i = 0; i < 3; i++) join(w[i]); x = 9; }";
        let (program, concurrency) = analysed(text);
        let paths: Vec<&str> = concurrency.threads.iter().map(|thread| thread.path.as_str()).collect();
        assert_eq!(paths, ["main", "w[0]", "w[1]", "w[2]"]);
        let writes_x = |block: &u32| {
            concurrency.events_of(*block).iter().any(|event| {
                let named = concurrency.locations_of(event).iter().map(|&at| concurrency.location_name(&program, at));
                matches!(event.kind, EventKind::Write(_)) && named.into_iter().any(|name| name == "x")
            })
        };
        let blocks: Vec<u32> = (0..concurrency.blocks.len() as u32).filter(writes_x).collect();
        let (main, threads): (Vec<u32>, Vec<u32>) =
            blocks.into_iter().partition(|&block| concurrency.thread_of(block) == MAIN_THREAD);
        assert_eq!((main.len(), threads.len()), (1, 3));
        assert!(threads.iter().all(|&block| !concurrency.parallel(block, main[0])));
        assert!(threads.iter().all(|&a| threads.iter().all(|&b| a == b || concurrency.parallel(a, b))));
    }
}
