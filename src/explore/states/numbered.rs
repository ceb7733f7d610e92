//! Reads waiting states in the form of the numbers of their parts.
//!
//! **Input**: a block of the frontier whose states are written in this form (`bytes`). **Output**: the lists of numbers, in the
//! order of their nodes, and the fingerprints of the states.
//!
//! **Algorithm**: a list is computed from the previous one and the positions at which they differ, and so is the fingerprint.
//!
//! **Soundness and limits**: exact. If the number of cells differs, the fingerprint is computed from scratch.

use super::bytes::read_number;
use super::frontier::Block;
use cssame_vm::Parts;

/// Reads the states of a block, one after the other.
#[derive(Default)]
pub(super) struct NumberReader {
    at: usize,
    read: usize,
    node: u32,
    numbers: Vec<u32>,
    fingerprint: u128,
}

impl NumberReader {
    /// Begins with another block.
    pub(super) fn begin(&mut self) {
        (self.at, self.read, self.node) = (0, 0, 0);
        self.numbers.clear();
    }

    /// The node of the state that was read last.
    pub(super) fn node(&self) -> u32 {
        self.node
    }

    /// The state that was read last, and its fingerprint.
    pub(super) fn state(&self) -> (&[u32], u128) {
        (&self.numbers, self.fingerprint)
    }

    /// Reads the next state of the block that was begun with; false behind the last one.
    pub(super) fn next(&mut self, block: &Block, parts: &Parts) -> bool {
        if self.read == block.len() {
            return false;
        }
        self.read += 1;
        let bytes = &block.bytes[..];
        self.node += read_number(bytes, &mut self.at) as u32;
        let len = read_number(bytes, &mut self.at) as usize;
        let mut is_like = self.numbers.len() == len;
        if !is_like {
            self.numbers.clear();
            self.numbers.resize(len, 0);
        }
        let (mut place, mut fingerprint) = (0, self.fingerprint);
        let cells = if is_like { parts.cells(&self.numbers) } else { 0 };
        loop {
            let gap = read_number(bytes, &mut self.at) as usize;
            if gap == 0 {
                break;
            }
            place += gap;
            let number = read_number(bytes, &mut self.at) as u32;
            let old = std::mem::replace(&mut self.numbers[place - 1], number);
            is_like &= place > 1 || parts.cells(&self.numbers) == cells;
            if is_like {
                fingerprint = fingerprint.wrapping_sub(parts.hash_at(place - 1, old, cells));
                fingerprint = fingerprint.wrapping_add(parts.hash_at(place - 1, number, cells));
            }
        }
        self.fingerprint = if is_like { fingerprint } else { parts.fingerprint(&self.numbers) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::frontier::Frontier;
    use cssame_front::compile;
    use cssame_schedule::Walk;
    use cssame_source::SourceMap;
    use cssame_vm::{Encoding, Machine, Tables, Visibility};

    /// Threads come and go, locals are shared, locks are held, lines are printed.
    const PROGRAM: &str = "lock l;\nint x;\n\
        void work(int n) {\n  int own[3];\n  cobegin\n    A: own[n] = x;\n    B: { lock(l); x = x + own[0]; unlock(l); }\n  coend\n  print(n);\n}\n\
        cobegin\n  T0: work(0);\n  T1: work(1);\n  T2: for (int i = 0; i < 3; i++) x = i;\ncoend\n";

    #[test]
    fn states_are_read_as_they_were_written() {
        let mut sources = SourceMap::default();
        let file = sources.add("test.csm", PROGRAM);
        let program = compile(&sources, file, &[]).program.expect("a program");
        let exact = Machine::new(&program, &Visibility::all(&program));
        let (mut parts, mut frontier) = (Parts::default(), Frontier::default());
        let (mut numbers, mut written, mut node) = (Vec::new(), Vec::new(), 0);
        for round in 0..300u32 {
            let mut tables = Tables::new();
            let mut walk = Walk::new(&exact, &mut tables, &mut ());
            let (mut choices, mut random) = (Vec::new(), round);
            loop {
                let mut words = Encoding::default();
                exact.encode(walk.state(), &mut words);
                let of = (walk.state(), &words);
                exact.write_numbers(of, (&Encoding::default(), &[]), &mut parts, &mut numbers, |_, _| false);
                frontier.push_numbers(node, &numbers);
                written.push((node, numbers.clone(), exact.fingerprint(walk.state()), words));
                node += 1 + round % 3;
                exact.enabled(walk.state(), &mut choices);
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let Some(&choice) = choices.get((random >> 16) as usize % choices.len().max(1)) else { break };
                if walk.step(choice, &mut ()).is_err() || exact.is_finished(walk.state()) {
                    break;
                }
            }
        }
        assert!(written.len() > 5_000, "{} states", written.len());
        let (mut reader, mut expected) = (NumberReader::default(), written.iter());
        while let Some(block) = frontier.take() {
            reader.begin();
            while reader.next(&block, &parts) {
                let (node, numbers, fingerprint, words) = expected.next().expect("no more than were written");
                assert_eq!((reader.node(), reader.state()), (*node, (&numbers[..], *fingerprint)));
                let mut again = Encoding::default();
                parts.write_words(reader.state().0, &mut again);
                assert_eq!((again.words(), again.ends()), (words.words(), words.ends()));
            }
        }
        assert_eq!(expected.count(), 0);
    }
}
