//! Atomic sections: each begins and ends in one function, once on each path, and nothing in it waits or chooses.
//!
//! In: a finished program. Out: what breaks that. Sections within sections, also by calls, would be one; they are not read.

use crate::supported::{Obstacle, Reason};
use crate::tree::Place;
use cssame_ir::sync::Blocking;
use cssame_ir::{BlockId, Function, Instruction, Program, Terminator};
use cssame_source::Span;

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
