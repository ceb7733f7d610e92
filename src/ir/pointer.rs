//! Pointers: what a cell or a register of type `pointer` holds.
//!
//! **Input**: an object and a byte of it. **Output**: 64 bits, and back.
//!
//! A pointer is an object and the number of a byte in it, so that it says by itself whether it has left the object. No value may begin
//! with that byte: it may lie behind the last one, before the first, or within one, which is a fault only where such a pointer is used.
//! All objects are aligned as far as any program asks, so the low bits of a pointer are those of the number. Bits that name no object
//! are an integer that was cast to a pointer; zero is the null pointer.

use super::VariableId;

/// The value of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer(i64);

/// The object that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A global variable.
    Global(VariableId),
    /// A local variable, by the address of its first cell.
    Local(u32),
}

/// The first two bits of a pointer to an object; no other value is as large, but by computing with all of its 64 bits.
const TAG: i64 = 1 << 62;
const LOCAL: i64 = 1 << 61;
const BYTES: u32 = 32;
const NUMBER: i64 = (1 << 29) - 1;

impl Pointer {
    /// The null pointer.
    pub const NULL: Pointer = Pointer(0);

    /// The address of a byte.
    #[must_use]
    pub fn to(object: Object, byte: u32) -> Pointer {
        let (kind, number) = match object {
            Object::Global(variable) => (0, variable.0),
            Object::Local(start) => (LOCAL, start),
        };
        Pointer(TAG | kind | (i64::from(number) & NUMBER) << BYTES | i64::from(byte))
    }

    /// The pointer that these bits are.
    #[must_use]
    pub fn from_bits(bits: i64) -> Pointer {
        Pointer(bits)
    }

    /// Its bits.
    #[must_use]
    pub fn bits(self) -> i64 {
        self.0
    }

    /// The object, and the byte counted from the first one of the object; none where it points into no object. Bytes before the object
    /// have large numbers.
    #[inline]
    #[must_use]
    pub fn target(self) -> Option<(Object, u32)> {
        if self.0 & (TAG | i64::MIN) != TAG {
            return None;
        }
        let number = (self.0 >> BYTES & NUMBER) as u32;
        let object = if self.0 & LOCAL == 0 { Object::Global(VariableId(number)) } else { Object::Local(number) };
        Some((object, self.0 as u32))
    }

    /// The pointer so many bytes behind it; of an integer, so much more.
    #[inline]
    #[must_use]
    pub fn plus(self, bytes: i64) -> Pointer {
        match self.target() {
            Some(_) => {
                let behind = (self.0 as u32).wrapping_add(bytes as u32);
                Pointer(self.0 >> BYTES << BYTES | i64::from(behind))
            }
            None => Pointer(self.0.wrapping_add(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Object, Pointer, VariableId};

    #[test]
    fn a_pointer_keeps_its_object() {
        for object in [Object::Global(VariableId(0)), Object::Global(VariableId(77)), Object::Local(5)] {
            let pointer = Pointer::to(object, 3);
            assert_eq!(pointer.target(), Some((object, 3)));
            let before = pointer.plus(-4);
            assert_eq!(before.target(), Some((object, u32::MAX)), "it has left the object, and knows it");
            assert_eq!(before.plus(4), pointer);
        }
    }

    #[test]
    fn an_integer_is_no_object() {
        for bits in [0, 1, -1, i64::MIN, i64::from(u32::MAX) << 8] {
            assert_eq!(Pointer::from_bits(bits).target(), None);
        }
        assert_eq!(Pointer::from_bits(5).plus(-6).bits(), -1);
    }
}
