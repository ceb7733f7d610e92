//! Numbers as bytes.
//!
//! **Input**: numbers, or lists of numbers that resemble the previous list. **Output**: bytes, in groups of seven bits; for a
//! list, the positions at which it differs from the previous one, and the numbers there.
//!
//! **Soundness and limits**: exact. A list of another length is written as if the previous one consisted of zeros.

/// Writes a number in groups of seven bits.
#[inline]
pub(super) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads such a number.
#[inline]
pub(super) fn read_number(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            return number;
        }
    }
}

/// Numbers that are compared at a time: most such runs are the same.
const RUN: usize = 8;

/// Writes how a list differs from the last one, which it becomes.
pub(super) fn write_list(last: &mut Vec<u32>, numbers: &[u32], bytes: &mut Vec<u8>) {
    write_number(bytes, numbers.len() as u64);
    if last.len() != numbers.len() {
        last.clear();
        last.resize(numbers.len(), 0);
    }
    let mut written = 0;
    for (run, (old, new)) in last.chunks_mut(RUN).zip(numbers.chunks(RUN)).enumerate() {
        // Without a branch for each number.
        if old.iter().zip(new).fold(0, |any, (old, new)| any | (old ^ new)) == 0 {
            continue;
        }
        for (place, (old, &new)) in old.iter_mut().zip(new).enumerate().filter(|(_, (old, new))| *old != *new) {
            let place = run * RUN + place;
            write_number(bytes, (place - written) as u64 + 1);
            write_number(bytes, u64::from(new));
            written = place + 1;
            *old = new;
        }
    }
    write_number(bytes, 0);
}
