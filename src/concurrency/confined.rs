//! Locals no instance of which two threads access in parallel with at least one write.
//!
//! **Input**: the program, function by function. **Output**: the other locals: those for which this does not hold, or is unknown.
//!
//! **Algorithm**: a *root* is a register from which a reference originates: a parameter, or the allocation of a local.
//! 1. In each function, follow the roots into the registers that are computed from them. Record through which roots it reads and
//!    writes, and to which parameters of calls and of new threads it passes them.
//! 2. An access through a parameter is an access through all roots that are passed to it.
//! 3. A root clashes in four cases. Two threads forked by one function access it and one of them writes. Such a thread and the
//!    function itself do so before the join (the threads of a `parfor` are forked one after the other). It is passed to a spawned
//!    thread. One call or thread receives it in two parameters, which are then aliases.
//! 4. A root also clashes if it is passed to a parameter that clashes.
//!
//! **Soundness and limits**: each activation of a function creates its locals again, and only its own references lead to them. A
//! function that has forked threads joins them before it returns. Two roots of one function never lead to one instance, except
//! for the aliases of step 3. So if two threads use one instance in parallel, the innermost activation from which both have the
//! reference has passed it in one of the ways of step 3. A declaration that runs again in an activation creates its instance
//! again when no other thread uses it. No step depends on the context, so recursion loses no precision. The module does not
//! distinguish fields and elements of one variable, and calls of one function.

use cssame_ir::points_to::escaping;
use cssame_ir::{
    Base, BlockId, Function, FunctionId, Instruction, Operand, Place, Program, RegisterId, RegisterType, VariableId,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Finds the local variables that two threads may access in parallel in one instance, by [`cssame_ir::VariableId`].
pub(super) fn find_clashing(program: &Program) -> FixedBitSet {
    let mut roots = Roots::of(program);
    for (id, function) in program.functions.entries() {
        roots.add_function(program, id, function);
    }
    roots.read = roots.raised(roots.read.clone());
    roots.written = roots.raised(roots.written.clone());
    roots.find_clashes_of_forks();
    let clashing = roots.raised(roots.clashing.clone());
    let locals = roots.locals.iter().filter(|&&(root, _)| clashing.contains(root as usize));
    let mut variables = FixedBitSet::with_capacity(program.variables.len());
    variables.extend(locals.map(|(_, variable)| variable.index()));
    variables
}

/// A number of a root.
type Root = u32;

/// The roots of all functions.
struct Roots {
    numbers: FxHashMap<(FunctionId, RegisterId), Root>,
    /// Those that allocate a local.
    locals: Vec<(Root, VariableId)>,
    read: FixedBitSet,
    written: FixedBitSet,
    clashing: FixedBitSet,
    /// By root, where it is a parameter: those that are handed to it.
    sources: Vec<Vec<Root>>,
    /// For each fork: what its threads use, and who makes them while they run.
    forks: Vec<Vec<UseOfRoot>>,
}

/// What is done with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Reads,
    Writes,
    /// Handed to that parameter.
    Hands(Root),
}

/// A root, the number of the thread of a fork, or [`MAKER`], and what this thread does with the root.
type UseOfRoot = (Root, u32, Use);

/// Who makes the threads of a fork.
const MAKER: u32 = u32::MAX;

/// A function that is looked at.
struct Scope<'a> {
    program: &'a Program,
    function: &'a Function,
    origins: Origins,
}

/// The roots that the registers of one function come from, by register.
type Origins = Vec<SmallVec<[Root; 1]>>;

impl Roots {
    fn of(program: &Program) -> Roots {
        let mut numbers = FxHashMap::default();
        let (mut locals, mut pointed) = (Vec::new(), Vec::new());
        for (id, function) in program.functions.entries() {
            let escaping = escaping(function);
            for &parameter in &function.parameters {
                if function.registers[parameter].ty == RegisterType::Reference {
                    numbers.insert((id, parameter), numbers.len() as Root);
                }
            }
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                if let Instruction::Allocate { dest, variable, .. } = instruction {
                    // Where a pointer goes is not followed.
                    if function.registers[*dest].ty != RegisterType::Reference && escaping.contains(dest.index()) {
                        pointed.push(numbers.len());
                    }
                    locals.push((numbers.len() as Root, *variable));
                    numbers.insert((id, *dest), numbers.len() as Root);
                }
            }
        }
        let none = FixedBitSet::with_capacity(numbers.len());
        let (read, written, mut clashing) = (none.clone(), none.clone(), none);
        clashing.extend(pointed);
        Roots { sources: vec![Vec::new(); numbers.len()], numbers, locals, read, written, clashing, forks: Vec::new() }
    }

    /// Step 1 for one function.
    fn add_function(&mut self, program: &Program, id: FunctionId, function: &Function) {
        let origins = self.origins(id, function);
        let scope = Scope { program, function, origins };
        let mut uses = Vec::new();
        for (id, block) in function.blocks.entries() {
            for (position, instruction) in block.instructions.iter().enumerate() {
                uses.clear();
                self.uses(&scope, instruction, 0, &mut uses);
                for &(root, _, by) in &uses {
                    match by {
                        Use::Reads => self.read.insert(root as usize),
                        Use::Writes => self.written.insert(root as usize),
                        Use::Hands(target) => self.sources[target as usize].push(root),
                    }
                }
                match instruction {
                    Instruction::Fork { .. } => {
                        let more = self.uses_until_join(&scope, (id, position + 1));
                        self.forks.push(uses.iter().copied().chain(more).collect());
                    }
                    Instruction::Spawn { .. } => self.clashing.extend(uses.iter().map(|&(root, ..)| root as usize)),
                    _ => {}
                }
            }
        }
    }

    /// How an instruction uses roots. Threads that it makes have numbers from `first` on; what it does itself is by `first`. Aliases clash.
    fn uses(&mut self, scope: &Scope<'_>, instruction: &Instruction, first: u32, uses: &mut Vec<UseOfRoot>) {
        let mut access = |place: &Place, by: Use| {
            if let Base::Reference(register) = place.base {
                uses.extend(scope.origins[register.index()].iter().map(|&root| (root, first, by)));
            }
        };
        match instruction {
            Instruction::Load { place, .. } => access(place, Use::Reads),
            Instruction::Store { place, .. } => access(place, Use::Writes),
            Instruction::Atomic { place, .. } => {
                access(place, Use::Reads);
                access(place, Use::Writes);
            }
            Instruction::Call { function, arguments, .. } => self.hand_over(scope, (*function, arguments), first, uses),
            _ => {
                for (index, thread) in instruction.new_threads().iter().enumerate() {
                    let number = first.saturating_add(index as u32);
                    for function in thread.functions() {
                        self.hand_over(scope, (function, &thread.arguments), number, uses);
                    }
                }
            }
        }
    }

    /// What a function uses behind a fork before it joins the threads. Behind a `cobegin` that is nothing; a `parfor` makes
    /// its other threads there.
    fn uses_until_join(&mut self, scope: &Scope<'_>, from: (BlockId, usize)) -> Vec<UseOfRoot> {
        let mut uses = Vec::new();
        let mut seen: FxHashSet<BlockId> = FxHashSet::default();
        let mut work = vec![from];
        while let Some((id, position)) = work.pop() {
            let block = &scope.function.blocks[id];
            let instructions = block.instructions.get(position..).unwrap_or_default();
            let join = instructions.iter().position(|instruction| matches!(instruction, Instruction::Join));
            for instruction in &instructions[..join.unwrap_or(instructions.len())] {
                self.uses(scope, instruction, MAKER, &mut uses);
            }
            if join.is_none() {
                work.extend(block.terminator.successors().filter(|&next| seen.insert(next)).map(|next| (next, 0)));
            }
        }
        uses
    }

    /// The roots of the registers of a function.
    fn origins(&self, id: FunctionId, function: &Function) -> Origins {
        let mut origins = Origins::new();
        origins.resize(function.registers.len(), SmallVec::new());
        let mut computed: FxHashMap<RegisterId, Vec<RegisterId>> = FxHashMap::default();
        let mut begins: Vec<RegisterId> = function.parameters.clone();
        for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
            match instruction {
                Instruction::Allocate { dest, .. } => begins.push(*dest),
                Instruction::Copy { dest, source: Operand::Register(source) } => {
                    computed.entry(*source).or_default().push(*dest);
                }
                Instruction::Address { dest, place } => {
                    if let Base::Reference(source) = place.base {
                        computed.entry(source).or_default().push(*dest);
                    }
                }
                _ => {}
            }
        }
        let mut work = Vec::new();
        for begin in begins {
            let Some(&root) = self.numbers.get(&(id, begin)) else { continue };
            work.push(begin);
            while let Some(register) = work.pop() {
                let known = &mut origins[register.index()];
                if known.last() != Some(&root) {
                    known.push(root);
                    work.extend(computed.get(&register).into_iter().flatten());
                }
            }
        }
        origins
    }

    /// Which parameters of a function that is called or that a thread runs get which roots.
    fn hand_over(
        &mut self,
        scope: &Scope<'_>,
        (callee, arguments): (FunctionId, &[Operand]),
        number: u32,
        uses: &mut Vec<UseOfRoot>,
    ) {
        let first = uses.len();
        for (&parameter, argument) in scope.program.functions[callee].parameters.iter().zip(arguments) {
            let Operand::Register(register) = *argument else { continue };
            let Some(&target) = self.numbers.get(&(callee, parameter)) else { continue };
            let roots = scope.origins[register.index()].iter();
            uses.extend(roots.map(|&root| (root, number, Use::Hands(target))));
        }
        let handed = &mut uses[first..];
        handed.sort_unstable_by_key(|of| of.0);
        let twice = handed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        self.clashing.extend(twice.map(|pair| pair[0].0 as usize));
    }

    /// What holds of a parameter holds of the roots that are handed to it.
    fn raised(&self, mut set: FixedBitSet) -> FixedBitSet {
        let mut work: Vec<usize> = set.ones().collect();
        while let Some(root) = work.pop() {
            for &source in &self.sources[root] {
                if !set.put(source as usize) {
                    work.push(source as usize);
                }
            }
        }
        set
    }

    /// Step 3 for forks.
    fn find_clashes_of_forks(&mut self) {
        let (read, written) = (&self.read, &self.written);
        let writes = |by: Use| match by {
            Use::Hands(target) => written.contains(target as usize),
            by => by == Use::Writes,
        };
        let reads = |by: Use| matches!(by, Use::Hands(target) if read.contains(target as usize)) || by == Use::Reads;
        for uses in &mut self.forks {
            uses.sort_unstable_by_key(|of| of.0);
            for of_root in uses.chunk_by(|a, b| a.0 == b.0) {
                let mut threads = of_root.iter().filter(|of| reads(of.2) || writes(of.2)).map(|of| of.1);
                let first = threads.next();
                if threads.any(|thread| Some(thread) != first) && of_root.iter().any(|of| writes(of.2)) {
                    self.clashing.insert(of_root[0].0 as usize);
                }
            }
        }
    }
}
