//! An access of the method, and the later actions of others.
//!
//! **Input**: the accesses of other threads and of the method itself. **Output**: whether a later access of the method comes
//! after others that come after this one ([`PendingAccess::closes_cycle`]), or completes a tear of another kind
//! ([`PendingAccess::is_torn_by`]).
//!
//! **Algorithm**: others come after the access if one of their accesses conflicts with it; the later access comes after them if
//! it conflicts with one of theirs. A conflict counts if the values show it: a read yields another value, or an overwritten value
//! was another one. If the others overwrite a write of the method and the method then overwrites theirs, in one cell, that is no
//! conflict: they could have come before.

use super::encoding::{Words, encode_list};
use super::pattern::{FIRST, OWN_SECOND, SECOND, SOURCE};
use super::setup::Fixed;
use cssame_correlation::AccessKind;

/// Activations of the other method, or threads, that are over, in which the named method has a part.
const OVER: u16 = u16::MAX;

/// The same without such a part.
const OVER_UNNAMED: u16 = u16::MAX - 1;

/// In the kinds of accesses: it reads.
const READS: u8 = AccessKind::Read as u8 + 1;

/// In the kinds of accesses: it writes.
const WRITES: u8 = AccessKind::Write as u8 + 1;

/// In the kinds of accesses: the named method has a part in them.
const NAMED: u8 = 4;

/// In the kinds of accesses: it has read what the cell held before others wrote it.
const READS_OLD: u8 = 8;

/// What an activation of the other method, or another thread, has done since a touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Between {
    /// Its thread, or [`OVER`] or [`OVER_UNNAMED`].
    pub thread: u16,
    /// Whether it conflicts with the touch itself, or comes after what does.
    pub first: bool,
    /// Whether the named method has a part in that.
    pub named: bool,
    /// Cells of the partner that it has touched, with the kinds; and the cell itself, but for reads that do not see the touch.
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

/// An access of the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingAccess {
    /// Index of its side.
    pub side: u8,
    pub kind: AccessKind,
    pub cell: u32,
    /// Where it stands, for a read: one at the same place, in a loop, takes its place.
    pub place: u32,
    /// Its row, where rows matter.
    pub row: u32,
    /// Whether the method has let others in since: freed a lock, raised a semaphore, ended an atomic block.
    pub apart: bool,
    /// What the cell held then.
    pub value: i64,
    /// Whether the touch has changed it.
    pub changed: bool,
    /// What other threads have made of it since.
    pub now: i64,
    /// Cells of the partner, and the cell itself, that others have written since, with what they held before; not those that the
    /// method has written anew.
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
    /// Where it stands, for a read.
    pub place: u32,
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
    /// An access of the method, to a cell of that side.
    pub fn new(side: u8, access: Access) -> PendingAccess {
        PendingAccess {
            side,
            kind: access.kind,
            cell: access.cell,
            place: access.place,
            row: access.row,
            apart: false,
            value: access.value,
            changed: access.kind == AccessKind::Write && access.old != access.value,
            now: access.value,
            olds: Vec::new(),
            between: Vec::new(),
            carried: Vec::new(),
            sources: Vec::new(),
            written: Vec::new(),
            seen: false,
        }
    }

    /// The bit of its side.
    fn bit(&self) -> u8 {
        if self.side == 0 { FIRST } else { SECOND }
    }

    /// What it is for two threads, or two searches.
    pub fn key(&self) -> (u8, u32, AccessKind) {
        (self.side, self.cell, self.kind)
    }

    /// Whether it is of the kind that the pattern asks for.
    pub fn is_asked_for(&self, fixed: &Fixed) -> bool {
        self.kind == fixed.pattern.sides[usize::from(self.side)].kind
    }

    /// Whether a cell of the other side belongs together with this one.
    pub fn fits(&self, fixed: &Fixed, (cell, row): (u32, u32)) -> bool {
        let (first, second) = if self.side == 0 { (self.cell, cell) } else { (cell, self.cell) };
        row == self.row && fixed.distance.is_none_or(|distance| distance.fits(first, second))
    }

    fn is_partner(&self, fixed: &Fixed, access: Access) -> bool {
        let bit = if self.side == 0 { SECOND } else { FIRST };
        access.of & bit != 0 && self.fits(fixed, (access.cell, access.row))
    }

    /// Whether an access of another thread to the cell conflicts with this one, so that the values show it; `is_own` says that no
    /// other thread has written the cell since.
    fn conflicts(&self, access: Access, is_own: bool) -> bool {
        match (self.kind, access.kind) {
            (AccessKind::Read, AccessKind::Read) => false,
            (AccessKind::Read, AccessKind::Write) => true,
            (AccessKind::Write, AccessKind::Read) => self.changed && is_own,
            (AccessKind::Write, AccessKind::Write) => access.value != self.value,
        }
    }

    /// Another thread has made an access; `by` is who has, if it counts.
    pub fn foreign(&mut self, fixed: &Fixed, access: Access, by: Option<By>) {
        let writes = access.kind == AccessKind::Write;
        let same = access.of & self.bit() != 0 && access.cell == self.cell;
        let is_old = self.olds.iter().all(|old| old.0 != access.cell);
        let conflicts = same && self.conflicts(access, is_old);
        if same && writes {
            self.now = access.value;
        }
        let partner = !fixed.pattern.copied && self.is_partner(fixed, access);
        if writes && (partner || same && fixed.pattern.is_plain()) {
            enter(&mut self.olds, access.cell, access.old, false);
        }
        let Some(by) = by else { return };
        let source = access.of & SOURCE != 0 && writes && access.old != access.value;
        if source && fixed.is_enough(by.named) && !self.written.contains(&access.cell) {
            self.written.push(access.cell);
            self.written.sort_unstable();
        }
        let plain = fixed.pattern.is_plain();
        let matters = plain || writes || fixed.pattern.sides[1 - usize::from(self.side)].kind == AccessKind::Write;
        let second = partner && matters || plain && same && (conflicts || self.kind == AccessKind::Read);
        if !conflicts && !second {
            return;
        }
        let between = self.between(by.thread);
        between.first |= conflicts;
        between.named |= conflicts && by.named;
        if second {
            let kinds = between.second.iter().find(|second| second.0 == access.cell).map_or(0, |second| second.1);
            let named = if by.named { NAMED } else { 0 };
            let old = if plain && !writes && is_old { READS_OLD } else { 0 };
            enter(&mut between.second, access.cell, kinds | (access.kind as u8 + 1) | named | old, true);
        }
    }

    /// Another thread begins to wait for a condition: it will look again at what it has seen of the touch.
    pub fn wait(&mut self, thread: u16) {
        let cell = self.cell;
        let of_thread = self.between.iter_mut().filter(|one| one.thread == thread);
        for seen in of_thread.flat_map(|one| &mut one.second).filter(|seen| seen.0 == cell) {
            seen.1 &= !(READS | READS_OLD);
        }
    }

    /// The method has written a cell: what it reads there next is its own.
    pub fn overwrite(&mut self, cell: u32) {
        self.olds.retain(|old| old.0 != cell);
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
        let writes = kind == AccessKind::Write;
        let after = if writes { changes && before & (READS | WRITES) != 0 } else { before & WRITES != 0 };
        if !after && own.is_none() {
            return;
        }
        let between = self.between(thread);
        between.first = true;
        between.named |= after && before & NAMED != 0;
        let named = if between.named { NAMED } else { 0 };
        if !writes || changes {
            enter(&mut self.carried, key, before | named | if writes { WRITES } else { READS }, true);
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
        let of = self.between(if over.named { OVER } else { OVER_UNNAMED });
        (of.first, of.named) = (true, over.named);
        for (cell, kinds) in over.second {
            let known = of.second.iter().find(|second| second.0 == cell).map_or(0, |second| second.1);
            enter(&mut of.second, cell, known | kinds, true);
        }
    }

    /// Whether an access of the method itself comes after others that come after this one. Both lie in the cells of the two variables
    /// that belong together; of one variable, in one cell. Where they are not the two that the pattern asks for, the method has let
    /// others in between.
    pub fn closes_cycle(&self, fixed: &Fixed, access: Access) -> bool {
        let same = access.of & self.bit() != 0 && access.cell == self.cell;
        let partner = self.is_partner(fixed, access);
        let asked = partner && access.kind == fixed.pattern.sides[1 - usize::from(self.side)].kind;
        if !self.apart && !(asked && self.is_asked_for(fixed)) {
            return false;
        }
        let again = same && self.kind == access.kind && access.kind == AccessKind::Read && self.place == access.place;
        if again || !same && !partner || self.kind == AccessKind::Read && self.now == self.value {
            return false;
        }
        let old = self.olds.iter().find(|old| old.0 == access.cell).map(|old| old.1);
        let kinds = match access.kind {
            AccessKind::Read if old.is_some_and(|old| old != access.value) => WRITES,
            AccessKind::Read => 0,
            AccessKind::Write => {
                let read = if old.unwrap_or(access.old) != access.value { READS_OLD } else { 0 };
                // What others have put over a write of the method is lost as if they had come before.
                let blind = same && self.kind == AccessKind::Write;
                read | if !blind && access.old != access.value { READS | WRITES } else { 0 }
            }
        };
        self.is_between(fixed, access.cell, kinds)
    }

    /// Whether others that come after this access have touched a cell in one of these ways.
    fn is_between(&self, fixed: &Fixed, cell: u32, ways: u8) -> bool {
        let one_is = |one: &Between| {
            let mut second = one.second.iter().filter(|second| second.0 == cell && second.1 & ways != 0);
            one.first && second.any(|second| fixed.is_enough(one.named || second.1 & NAMED != 0))
        };
        self.between.iter().any(one_is)
    }

    /// Whether an access of the method itself completes a tear that is no cycle of conflicts on the two variables: of what both are
    /// computed from, of a copy that is written back, of a value that is stale.
    pub fn is_torn_by(&self, fixed: &Fixed, access: Access) -> bool {
        let partner = fixed.pattern.sides[1 - usize::from(self.side)].kind;
        let is_second = fixed.pattern.only.is_none() || access.of & OWN_SECOND != 0;
        if !self.is_asked_for(fixed) || access.kind != partner || !is_second {
            return false;
        }
        let (writes, changes) = (access.kind == AccessKind::Write, access.old != access.value);
        if fixed.pattern.copied {
            let same = access.of & FIRST != 0 && access.cell == self.cell;
            let is_other = |one: &Between| one.first && fixed.is_enough(one.named);
            return same && access.old != self.value && self.between.iter().any(is_other);
        }
        if !self.is_partner(fixed, access) {
            return false;
        }
        if fixed.pattern.only.is_some() && access.cell == self.cell && writes {
            // It overwrites what it has not seen.
            return access.old != self.value && self.between.iter().any(|one| one.first);
        }
        if writes && changes {
            fixed.signals.completed.set(true);
        }
        if fixed.pattern.is_plain() {
            return self.seen;
        }
        let first = self.kind == AccessKind::Write || self.now != self.value;
        let read = self.olds.iter().any(|&(cell, old)| cell == access.cell && old != access.value);
        let ways = match (writes, changes) {
            (true, true) => READS | WRITES,
            (false, _) if read => WRITES,
            _ => 0,
        };
        self.seen || first && self.is_between(fixed, access.cell, ways)
    }
}

impl PendingAccess {
    pub fn encode(&self, words: &mut Vec<u64>) {
        let flags = u64::from(self.side) | u64::from(self.changed) << 1 | u64::from(self.seen) << 2;
        let flags = flags | (self.kind as u64) << 3 | u64::from(self.apart) << 4 | u64::from(self.place) << 32;
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
        let (value, now) = (words.next() as i64, words.next() as i64);
        let access = Access {
            of: 0,
            kind: if flags & 8 == 0 { AccessKind::Read } else { AccessKind::Write },
            cell: cell as u32,
            place: (flags >> 32) as u32,
            row: (cell >> 32) as u32,
            old: value,
            value,
        };
        let mut touch = PendingAccess {
            changed: flags & 2 != 0,
            seen: flags & 4 != 0,
            apart: flags & 16 != 0,
            now,
            ..PendingAccess::new((flags & 1) as u8, access)
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
