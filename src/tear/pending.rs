//! An access that waits for one of its partner, and what has happened since.
//!
//! **Input**: the accesses of other threads and of the method itself. **Output**: whether an access of the method
//! completes a tear.

use super::encoding::{Words, encode_list};
use super::pattern::{FIRST, OWN_SECOND, SECOND, SOURCE};
use super::setup::Fixed;
use cssame_correlation::AccessKind;

/// An activation of the other method that is over.
const OVER: u16 = u16::MAX;

/// In the kinds of accesses: the named method has a part in them.
const NAMED: u8 = 4;

/// What an activation of the other method, or another thread, has done since a touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Between {
    /// Its thread, or [`OVER`].
    pub thread: u16,
    /// Whether it conflicts with the touch itself, or comes after what does.
    pub first: bool,
    /// Whether the named method has a part in that.
    pub named: bool,
    /// Cells of the partner that it has touched, with the kinds.
    pub second: Vec<(u32, u8)>,
}

/// Who makes an access beside the method.
#[derive(Clone, Copy)]
pub(super) struct By {
    /// Its thread.
    pub thread: u16,
    /// Whether it is within the named method.
    pub named: bool,
}

/// A touch that waits for one of its partner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingAccess {
    /// Index of its side.
    pub side: u8,
    pub cell: u32,
    /// Its row, where rows matter.
    pub row: u32,
    /// What the cell held then.
    pub value: i64,
    /// Whether the touch has changed it.
    pub changed: bool,
    /// What other threads have made of it since.
    pub now: i64,
    /// Cells of the partner that others have written since, with what they held at the touch.
    pub olds: Vec<(u32, i64)>,
    pub between: Vec<Between>,
    /// What carries from thread to thread that it comes after a conflict with the touch: see [`PendingAccess::carry`].
    pub carried: Vec<(u32, u8)>,
    /// What the method had read of the sources before.
    pub sources: Vec<(u32, i64)>,
    /// Sources that the other method has written since.
    pub written: Vec<u32>,
    /// Whether the method has read one of them anew, and another value.
    pub seen: bool,
}

/// An access to something that is watched.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub of: u8,
    pub kind: AccessKind,
    pub cell: u32,
    /// Its row, where rows matter.
    pub row: u32,
    pub old: i64,
    pub value: i64,
}

/// Enters a value for a cell into a sorted list; one that is there already stays, if it is not to be replaced.
pub(super) fn enter<T: Copy>(list: &mut Vec<(u32, T)>, cell: u32, value: T, replace: bool) {
    match list.binary_search_by_key(&cell, |entry| entry.0) {
        Ok(index) if replace => list[index].1 = value,
        Ok(_) => {}
        Err(index) => list.insert(index, (cell, value)),
    }
}

impl PendingAccess {
    fn is_partner(&self, fixed: &Fixed, access: Access) -> bool {
        let bit = if self.side == 0 { SECOND } else { FIRST };
        let (first, second) = if self.side == 0 { (self.cell, access.cell) } else { (access.cell, self.cell) };
        let is_other_side = access.of & bit != 0 && access.row == self.row;
        is_other_side && fixed.distance.is_none_or(|distance| distance.fits(first, second))
    }

    /// Another thread has made an access; `by` is who has, if it counts.
    pub fn foreign(&mut self, fixed: &Fixed, access: Access, by: Option<By>) {
        let side = if self.side == 0 { FIRST } else { SECOND };
        let writes = access.kind == AccessKind::Write;
        let same = access.of & side != 0 && access.cell == self.cell;
        let conflicts = same
            && match (fixed.pattern.sides[usize::from(self.side)].kind, access.kind) {
                (AccessKind::Read, AccessKind::Read) => false,
                (AccessKind::Read, AccessKind::Write) => true,
                (AccessKind::Write, AccessKind::Read) => self.changed,
                (AccessKind::Write, AccessKind::Write) => access.value != self.value,
            };
        if same && writes {
            self.now = access.value;
        }
        let partner = !fixed.pattern.copied && self.is_partner(fixed, access);
        if partner && writes {
            enter(&mut self.olds, access.cell, access.old, false);
        }
        let Some(by) = by else { return };
        let source = access.of & SOURCE != 0 && writes && access.old != access.value;
        if source && fixed.is_enough(by.named) && !self.written.contains(&access.cell) {
            self.written.push(access.cell);
            self.written.sort_unstable();
        }
        let matters = writes || fixed.pattern.sides[1 - usize::from(self.side)].kind == AccessKind::Write;
        if !conflicts && !(partner && matters) {
            return;
        }
        let between = self.between(by.thread);
        between.first |= conflicts;
        between.named |= conflicts && by.named;
        if partner && matters {
            let kinds = between.second.iter().find(|second| second.0 == access.cell).map_or(0, |second| second.1);
            let named = if by.named { NAMED } else { 0 };
            enter(&mut between.second, access.cell, kinds | (access.kind as u8 + 1) | named, true);
        }
    }

    /// What a thread has done.
    fn between(&mut self, thread: u16) -> &mut Between {
        let index = match self.between.binary_search_by_key(&thread, |one| one.thread) {
            Ok(index) => index,
            Err(index) => {
                self.between.insert(index, Between { thread, ..Between::default() });
                index
            }
        };
        &mut self.between[index]
    }

    /// Another thread reads or writes a cell, or takes or gives a signal through an object of synchronisation. A thread that comes
    /// after one which conflicts with the touch, by a conflict or a signal, counts as if it had made the conflict itself: several
    /// threads are one other side then. That two threads take the same lock says nothing.
    pub fn carry(&mut self, thread: u16, key: u32, kind: AccessKind, changes: bool) {
        let own = self.between.iter().find(|one| one.thread == thread && one.first).map(|one| one.named);
        let before = self.carried.iter().find(|carried| carried.0 == key).map_or(0, |carried| carried.1);
        let (read, written) = (AccessKind::Read as u8 + 1, AccessKind::Write as u8 + 1);
        let writes = kind == AccessKind::Write;
        let after = if writes { changes && before & (read | written) != 0 } else { before & written != 0 };
        if !after && own.is_none() {
            return;
        }
        let between = self.between(thread);
        between.first = true;
        between.named |= after && before & NAMED != 0;
        let named = if between.named { NAMED } else { 0 };
        if !writes || changes {
            enter(&mut self.carried, key, before | named | if writes { written } else { read }, true);
        }
    }

    /// A thread lets another one go on.
    pub fn hand_over(&mut self, from: u16, to: u16) {
        let Some(named) = self.between.iter().find(|one| one.thread == from && one.first).map(|one| one.named) else {
            return;
        };
        let between = self.between(to);
        between.first = true;
        between.named |= named;
    }

    /// An activation of the other method is over.
    pub fn close(&mut self, fixed: &Fixed, thread: u16) {
        let Ok(index) = self.between.binary_search_by_key(&thread, |one| one.thread) else { return };
        let over = self.between.remove(index);
        // What has touched one side only does not matter any more.
        if !over.first || over.second.is_empty() && !fixed.pattern.copied {
            return;
        }
        match self.between.last_mut().filter(|last| last.thread == OVER) {
            Some(last) => {
                last.named |= over.named;
                for (cell, kinds) in over.second {
                    let known = last.second.iter().find(|second| second.0 == cell).map_or(0, |second| second.1);
                    enter(&mut last.second, cell, known | kinds, true);
                }
            }
            None => self.between.push(Between { thread: OVER, ..over }),
        }
    }

    /// Whether an access of the method itself completes a tear.
    pub fn is_torn_by(&self, fixed: &Fixed, access: Access) -> bool {
        let kinds = fixed.pattern.sides.map(|side| side.kind);
        let (own, partner) = (kinds[usize::from(self.side)], kinds[1 - usize::from(self.side)]);
        if access.kind != partner || fixed.pattern.only.is_some() && access.of & OWN_SECOND == 0 {
            return false;
        }
        if fixed.pattern.copied {
            let same = access.of & FIRST != 0 && access.cell == self.cell;
            let is_other = |one: &Between| one.first && fixed.is_enough(one.named);
            return same && access.old != self.value && self.between.iter().any(is_other);
        }
        if !self.is_partner(fixed, access) {
            return false;
        }
        if fixed.pattern.only.is_some() && access.cell == self.cell && access.kind == AccessKind::Write {
            // It overwrites what it has not seen.
            return access.old != self.value && self.between.iter().any(|one| one.first);
        }
        let (writes, changes) = (access.kind == AccessKind::Write, access.old != access.value);
        if writes && changes {
            fixed.signals.completed.set(true);
        }
        if self.seen {
            return true;
        }
        let first = own == AccessKind::Write || self.now != self.value;
        let read = self.olds.iter().any(|&(cell, old)| cell == access.cell && old != access.value);
        let second = |kinds: u8| if writes { changes } else { kinds & 2 != 0 && read };
        let torn = |one: &Between| {
            let is_other = |kinds: u8| fixed.is_enough(one.named || kinds & NAMED != 0);
            let mut second = one.second.iter().filter(|&&(cell, kinds)| cell == access.cell && second(kinds));
            one.first && second.any(|&(_, kinds)| is_other(kinds))
        };
        first && self.between.iter().any(torn)
    }
}

impl PendingAccess {
    pub fn encode(&self, words: &mut Vec<u64>) {
        let flags = u64::from(self.side) | u64::from(self.changed) << 1 | u64::from(self.seen) << 2;
        words.extend([flags, u64::from(self.row) << 32 | u64::from(self.cell), self.value as u64, self.now as u64]);
        encode_list(&self.olds, words, |value| value as u64);
        encode_list(&self.sources, words, |value| value as u64);
        words.push(self.written.len() as u64);
        words.extend(self.written.iter().map(|&cell| u64::from(cell)));
        words.push(self.between.len() as u64);
        for between in &self.between {
            words.push(u64::from(between.thread) << 2 | u64::from(between.named) << 1 | u64::from(between.first));
            encode_list(&between.second, words, u64::from);
        }
        encode_list(&self.carried, words, u64::from);
    }

    pub fn decode(words: &mut Words<'_>) -> PendingAccess {
        let (flags, cell) = (words.next(), words.next());
        let mut touch = PendingAccess {
            side: (flags & 1) as u8,
            changed: flags & 2 != 0,
            seen: flags & 4 != 0,
            cell: cell as u32,
            row: (cell >> 32) as u32,
            value: words.next() as i64,
            now: words.next() as i64,
            ..PendingAccess::default()
        };
        touch.olds = words.list(|word| word as i64);
        touch.sources = words.list(|word| word as i64);
        let written = words.next();
        touch.written = (0..written).map(|_| words.next() as u32).collect();
        let between = words.next();
        for _ in 0..between {
            let head = words.next();
            let second = words.list(|word| word as u8);
            let thread = (head >> 2) as u16;
            touch.between.push(Between { thread, first: head & 1 != 0, named: head & 2 != 0, second });
        }
        touch.carried = words.list(|word| word as u8);
        touch
    }
}
