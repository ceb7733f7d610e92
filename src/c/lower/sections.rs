//! Atomic sections: each begins and ends in one function, once on each path, and nothing in it waits or chooses.
//!
//! In: a finished program. Out: the program, with choices that every execution of a section makes before the section, as what is chosen
//! depends on nothing; and what breaks the rule. Sections within sections, also by calls, would be one; they are not read.

use crate::supported::{Obstacle, Reason};
use crate::tree::Place;
use cssame_ir::flow::predecessors;
use cssame_ir::sync::Blocking;
use cssame_ir::{BlockId, Function, Instruction, Operand, Program, Terminator};
use cssame_source::Span;

/// Moves choices between constants that each execution of a section makes, once, to the front of the section.
pub fn choose_before(program: &mut Program) {
    for function in program.functions.iter_mut() {
        for id in (0..function.blocks.len()).map(BlockId::new) {
            let mut at = 0;
            while let Some(choice) = next_choice(function, id, at) {
                at = choice + 1;
                let Some((block, begin)) = begin_of(function, id, choice) else { continue };
                let (instruction, span) =
                    (function.blocks[id].instructions.remove(choice), function.blocks[id].spans.remove(choice));
                function.blocks[block].instructions.insert(begin, instruction);
                function.blocks[block].spans.insert(begin, span);
                at = if block == id { choice + 1 } else { choice };
            }
        }
    }
}

/// The first choice between constants from there on.
fn next_choice(function: &Function, block: BlockId, from: usize) -> Option<usize> {
    let is_choice = |one: &Instruction| {
        matches!(one, Instruction::Choose { low: Operand::Constant(_), high: Operand::Constant(_), .. })
    };
    let rest = function.blocks[block].instructions.get(from..)?;
    rest.iter().position(is_choice).map(|at| from + at)
}

/// Where the section begins that something stands in, if each execution of the section comes there once.
fn begin_of(function: &Function, id: BlockId, at: usize) -> Option<(BlockId, usize)> {
    let bound = |one: &Instruction| matches!(one, Instruction::AtomicBegin | Instruction::AtomicEnd);
    let last = |block: BlockId, until: usize| {
        let before = &function.blocks[block].instructions[..until];
        before.iter().rposition(bound).map(|at| (at, matches!(before[at], Instruction::AtomicBegin)))
    };
    if let Some((begin, is_begin)) = last(id, at) {
        return is_begin.then_some((id, begin));
    }
    // Behind the one block with a beginning that leads here.
    let predecessors = predecessors(function);
    let (mut begins, mut known, mut open) = (Vec::new(), vec![false; function.blocks.len()], vec![id]);
    while let Some(block) = open.pop() {
        for &before in &predecessors[block.index()] {
            if std::mem::replace(&mut known[before.index()], true) {
                continue;
            }
            match last(before, function.blocks[before].instructions.len()) {
                Some((begin, true)) => begins.push((before, begin)),
                Some((_, false)) => return None,
                None => open.push(before),
            }
        }
    }
    let [(block, begin)] = begins[..] else { return None };
    // Not in a loop, and no way round it.
    (!known[id.index()] && !passes_by(function, block, id)).then_some((block, begin))
}

/// Whether a section that begins in one block can come to its end without another block.
fn passes_by(function: &Function, begin: BlockId, avoided: BlockId) -> bool {
    let (mut known, mut open) = (vec![false; function.blocks.len()], vec![begin]);
    while let Some(block) = open.pop() {
        for next in function.blocks[block].terminator.successors() {
            if next == avoided || std::mem::replace(&mut known[next.index()], true) {
                continue;
            }
            if function.blocks[next].instructions.iter().any(|one| matches!(one, Instruction::AtomicEnd)) {
                return true;
            }
            open.push(next);
        }
    }
    false
}

/// Finds what is not read of the sections of a program.
pub fn check(program: &Program) -> Vec<Obstacle> {
    let has_section = |function: &Function| {
        let mut all = function.blocks.iter().flat_map(|block| &block.instructions);
        all.any(|one| matches!(one, Instruction::AtomicBegin | Instruction::AtomicEnd))
    };
    if !program.functions.iter().any(has_section) {
        return Vec::new();
    }
    let waits = waiting_functions(program);
    let mut found = Vec::new();
    for function in program.functions.iter().filter(|function| has_section(function)) {
        check_function(function, &waits, &mut found);
    }
    found
}

/// Whether a function may wait or choose, itself or by what it calls.
fn waiting_functions(program: &Program) -> Vec<bool> {
    let own = |function: &Function| function.blocks.iter().flat_map(|block| &block.instructions).any(waits);
    let mut waiting: Vec<bool> = program.functions.iter().map(own).collect();
    loop {
        let mut changed = false;
        for (id, function) in program.functions.entries() {
            let mut calls = function.blocks.iter().flat_map(|block| &block.instructions);
            if !waiting[id.index()]
                && calls.any(|one| matches!(one, Instruction::Call { function, .. } if waiting[function.index()]))
            {
                waiting[id.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return waiting;
        }
    }
}

fn waits(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Synchronise(operation) => {
            let properties = operation.kind.properties();
            properties.blocking != Blocking::Never || properties.chooses
        }
        Instruction::Fork { .. }
        | Instruction::Join
        | Instruction::JoinThread { .. }
        | Instruction::Choose { .. }
        | Instruction::AtomicBegin => true,
        _ => false,
    }
}

fn check_function(function: &Function, waiting: &[bool], found: &mut Vec<Obstacle>) {
    let mut inside: Vec<Option<bool>> = vec![None; function.blocks.len()];
    let mut open = vec![BlockId(0)];
    if let Some(entry) = inside.first_mut() {
        *entry = Some(false);
    }
    let mut add = |reason: Reason, span: Span| found.push(Obstacle { place: Place::plain(span), reason });
    while let Some(id) = open.pop() {
        let block = &function.blocks[id];
        let mut is_inside = inside[id.index()].unwrap_or(false);
        for (instruction, &span) in block.instructions.iter().zip(&block.spans) {
            match instruction {
                Instruction::AtomicBegin if !is_inside => is_inside = true,
                Instruction::AtomicEnd if is_inside => is_inside = false,
                Instruction::AtomicEnd => add(Reason::UnevenSection, span),
                Instruction::Call { function, .. } if is_inside && waiting[function.index()] => {
                    add(Reason::WaitInSection, span);
                }
                one if is_inside && waits(one) => add(Reason::WaitInSection, span),
                _ => {}
            }
        }
        if is_inside && matches!(block.terminator, Terminator::Return(_)) {
            add(Reason::UnevenSection, block.terminator_span);
        }
        for target in block.terminator.successors() {
            match inside[target.index()] {
                None => {
                    inside[target.index()] = Some(is_inside);
                    open.push(target);
                }
                Some(known) if known != is_inside => add(Reason::UnevenSection, block.terminator_span),
                Some(_) => {}
            }
        }
    }
}
