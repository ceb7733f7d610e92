//! Control dependence on the oracle's code (Ferrante, Ottenstein and Warren 1987).
//!
//! An instruction depends on a branch if it comes after one of the two ways out of the branch in any case, and not after the branch in
//! any case. `error` ends the program, so what stands behind it depends on the branch that leads there; an `assert` is no branch. No
//! branch depends on its own earlier evaluations. A loop without an end counts as one that might end at each jump back.

use super::code::{Code, Op};

/// Of each instruction, the branches that it depends on directly.
pub fn controllers(code: &Code) -> Vec<Vec<u32>> {
    let successors = successors(code);
    let after = certain(&successors);
    let count = code.ops.len();
    let mut controllers = vec![Vec::new(); count];
    for branch in 0..count {
        if !matches!(code.ops[branch], Op::JumpFalse(_) | Op::JumpTrue(_)) {
            continue;
        }
        for way in &successors[branch] {
            for (at, controllers) in controllers.iter_mut().enumerate() {
                // That a loop tests again because it has gone on before is left out.
                let in_any_case = at == branch || after[branch][at];
                if *way < count && after[*way][at] && !in_any_case && !controllers.contains(&(branch as u32)) {
                    controllers.push(branch as u32);
                }
            }
        }
    }
    controllers
}

/// Where each instruction leads inside its function or arm; the number of instructions stands for the end.
fn successors(code: &Code) -> Vec<Vec<usize>> {
    let end = code.ops.len();
    let next = |(at, op): (usize, &Op)| match *op {
        Op::Jump(target) => vec![target as usize],
        Op::JumpFalse(target) | Op::JumpTrue(target) => vec![at + 1, target as usize],
        Op::Return | Op::End | Op::Fail(_) => vec![end],
        _ => vec![at + 1],
    };
    let mut successors: Vec<Vec<usize>> = code.ops.iter().enumerate().map(next).collect();
    let ends = can_end(&successors);
    for at in 0..end {
        if !ends[at] && matches!(code.ops[at], Op::Jump(target) if target as usize <= at) {
            successors[at].push(end);
        }
    }
    successors
}

fn can_end(successors: &[Vec<usize>]) -> Vec<bool> {
    let end = successors.len();
    let mut ends = vec![false; end + 1];
    ends[end] = true;
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..end).rev() {
            if !ends[at] && successors[at].iter().any(|&next| ends[next]) {
                ends[at] = true;
                changed = true;
            }
        }
    }
    ends
}

/// Of each instruction, those that come after it in any case; itself is one of them.
fn certain(successors: &[Vec<usize>]) -> Vec<Vec<bool>> {
    let end = successors.len();
    let mut after = vec![vec![true; end]; end];
    after.push(vec![false; end]);
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..end).rev() {
            let mut both = after[successors[at][0]].clone();
            for &next in &successors[at][1..] {
                both.iter_mut().zip(&after[next]).for_each(|(own, other)| *own &= other);
            }
            both[at] = true;
            if both != after[at] {
                after[at] = both;
                changed = true;
            }
        }
    }
    after
}
