//! Methods, and the pairs of them that may run in parallel.
//!
//! **Input**: the program, the accesses of its functions, and, if it has a `main`, its threads. **Output**: [`Methods`].
//!
//! With a `main`, methods are the functions that run, and those arms of `cobegin` and `parfor` (and `main`) that access shared
//! memory themselves. Two of them may run in parallel if a block of one may run in parallel with a block of the other (the paper
//! runs the program to find this, section 4.1; MHP covers every run). Without a `main`, methods are the functions and the public
//! methods. Any two of them may run in parallel, and each also with itself.

use super::access::Accesses;
use cssame_concurrency::{ClassId, Concurrency, EventKind};
use cssame_ir::{FunctionId, FunctionKind, Program};
use rustc_hash::FxHashMap;

/// More kinds of methods than that are not compared with each other all at once.
const MAX_GROUPS: usize = 512;

/// The methods of a program.
#[derive(Clone, Debug)]
pub struct Methods {
    /// In the order of the text.
    pub functions: Vec<FunctionId>,
    /// For each method, its group: methods of one group run in blocks of the same classes.
    groups: Vec<u32>,
    classes: Vec<Vec<ClassId>>,
    known: FxHashMap<(u32, u32), bool>,
}

/// What may run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParallelCounts {
    /// Pairs of methods, one with itself too.
    pub pairs: u64,
    /// Methods that are in one.
    pub methods: u64,
}

/// Finds the methods of a program.
pub(super) fn find_methods(program: &Program, accesses: &[Accesses], concurrency: Option<&Concurrency>) -> Methods {
    let mut classes: Vec<Vec<ClassId>> = vec![Vec::new(); program.functions.len()];
    if let Some(concurrency) = concurrency {
        for (block, of) in concurrency.blocks.iter().enumerate() {
            let function = concurrency.contexts[of.context].function;
            // An arm is in parallel with what its own accesses are in parallel with; what it calls is a method itself.
            let own_accesses = matches!(program.functions[function].kind, FunctionKind::Main | FunctionKind::Arm);
            if own_accesses && !concurrency.events_of(block as u32).iter().any(|event| is_access(event.kind)) {
                continue;
            }
            let list = &mut classes[function.index()];
            let class = concurrency.classes[block];
            if list.last() != Some(&class) {
                list.push(class);
            }
        }
    }
    let mut methods =
        Methods { functions: Vec::new(), groups: Vec::new(), classes: Vec::new(), known: FxHashMap::default() };
    let mut ids: FxHashMap<Vec<ClassId>, u32> = FxHashMap::default();
    for (id, function) in program.functions.entries() {
        let mut own = std::mem::take(&mut classes[id.index()]);
        own.sort_unstable();
        own.dedup();
        let is_method = match function.kind {
            FunctionKind::Main | FunctionKind::Arm => accesses[id.index()].own,
            FunctionKind::Method { public } => public || concurrency.is_some(),
            FunctionKind::Function => true,
        };
        if !is_method || concurrency.is_some() && own.is_empty() {
            continue;
        }
        let next = methods.classes.len() as u32;
        let group = *ids.entry(own.clone()).or_insert(next);
        if group == next {
            methods.classes.push(own);
        }
        methods.functions.push(id);
        methods.groups.push(group);
    }
    methods
}

fn is_access(kind: EventKind) -> bool {
    matches!(kind, EventKind::Read(_) | EventKind::Write(_) | EventKind::Update { .. })
}

impl Methods {
    /// Whether two methods, by their index, may run in parallel.
    pub fn parallel(&mut self, concurrency: Option<&Concurrency>, a: usize, b: usize) -> bool {
        let Some(concurrency) = concurrency else { return true };
        let (a, b) = (self.groups[a].min(self.groups[b]), self.groups[a].max(self.groups[b]));
        let (known, classes) = (&mut self.known, &self.classes);
        *known.entry((a, b)).or_insert_with(|| {
            let others = &classes[b as usize];
            classes[a as usize].iter().any(|&x| others.iter().any(|&y| concurrency.parallel_classes(x, y)))
        })
    }

    /// Number of pairs of methods, one with itself too.
    #[must_use]
    pub fn pair_count(&self) -> u64 {
        let count = self.functions.len() as u64;
        count * (count + 1) / 2
    }

    /// Pairs that may run in parallel, and the methods in them; `None` where there are too many kinds of methods to tell.
    pub(super) fn parallel_counts(&mut self, concurrency: Option<&Concurrency>) -> Option<ParallelCounts> {
        if concurrency.is_none() {
            return Some(ParallelCounts { pairs: self.pair_count(), methods: self.functions.len() as u64 });
        }
        if self.classes.len() > MAX_GROUPS {
            return None;
        }
        // One method stands for its group.
        let mut of_group: Vec<(usize, u64)> = vec![(0, 0); self.classes.len()];
        for (method, &group) in self.groups.iter().enumerate() {
            let entry = &mut of_group[group as usize];
            *entry = (method, entry.1 + 1);
        }
        let mut count = 0;
        let mut in_pair = vec![false; of_group.len()];
        for (a, &(first, many)) in of_group.iter().enumerate() {
            for (b, &(second, others)) in of_group.iter().enumerate().skip(a) {
                if self.parallel(concurrency, first, second) {
                    count += if a == b { many * (many + 1) / 2 } else { many * others };
                    (in_pair[a], in_pair[b]) = (true, true);
                }
            }
        }
        let methods = of_group.iter().zip(&in_pair).filter(|(_, in_pair)| **in_pair).map(|(group, _)| group.1).sum();
        Some(ParallelCounts { pairs: count, methods })
    }
}
