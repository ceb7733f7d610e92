//! The locks that a function holds at each instruction, as far as it acquires them itself.
//!
//! **Input**: the data of a function. **Output**: for each block and instruction, the names of the locks that are held on all
//! paths to it, and of those that it acquires.
//!
//! **Algorithm**: forward data flow over the blocks; paths meet by intersection.

use crate::json::{BlockData, FunctionData};
use std::collections::{BTreeMap, BTreeSet};

/// The locks of each instruction, by block.
pub(super) fn locks_held(of: &FunctionData) -> BTreeMap<u32, Vec<Vec<String>>> {
    let blocks: BTreeMap<u32, &BlockData> = of.blocks.iter().map(|block| (block.id, block)).collect();
    let mut entry: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    let mut work: Vec<u32> = of.blocks.first().map(|first| first.id).into_iter().collect();
    entry.extend(work.iter().map(|&first| (first, BTreeSet::new())));
    while let Some(at) = work.pop() {
        let Some(block) = blocks.get(&at) else { continue };
        let mut held = entry.get(&at).cloned().unwrap_or_default();
        block.instructions.iter().for_each(|one| step(&mut held, &one.text));
        for &next in &block.successors {
            let met = entry.get(&next).map_or_else(|| held.clone(), |known| known & &held);
            if entry.get(&next) != Some(&met) {
                entry.insert(next, met);
                work.push(next);
            }
        }
    }
    let of_block = |block: &BlockData| {
        let mut held = entry.get(&block.id).cloned().unwrap_or_default();
        let at = |text: &str, held: &mut BTreeSet<&str>| {
            held.iter().map(|&lock| lock.to_owned()).chain(taken(text).map(str::to_owned)).collect::<BTreeSet<String>>()
        };
        let mut all = Vec::with_capacity(block.instructions.len());
        for one in &block.instructions {
            all.push(at(&one.text, &mut held).into_iter().collect());
            step(&mut held, &one.text);
        }
        all
    };
    of.blocks.iter().map(|block| (block.id, of_block(block))).collect()
}

fn taken(text: &str) -> Option<&str> {
    ["lock ", "rdlock ", "wrlock "].iter().find_map(|word| text.strip_prefix(word))
}

fn step<'t>(held: &mut BTreeSet<&'t str>, text: &'t str) {
    held.extend(taken(text));
    if let Some(lock) = text.strip_prefix("unlock ") {
        held.remove(lock);
    }
}
