//! Values of the language and what its operators do with them.
//!
//! Everything is dynamic: a value carries its type, and an operator looks at the tags. The compiler inserts a
//! conversion wherever a value meets a declared type, so the tags are always those of the static types.

use super::code::NONE;
use cssame::front::csm::syntax::ast::{BinaryOp, UnaryOp};

/// A value. Strings are literals only, so an index into the table of literals does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Int(i32),
    Long(i64),
    Bool(bool),
    Double(f64),
    Str(u32),
    /// Address of a cell: of an object, an array, a boxed variable or a synchronisation object.
    Ref(u32),
    /// Address of an element, or of what lies in one, and the number of the element.
    Element {
        address: u32,
        element: u32,
    },
    /// An array as a parameter has it: with its length.
    Array {
        address: u32,
        element: u32,
        len: u32,
    },
    /// A reference with an index out of range: it is tested where it is used.
    Astray,
}

/// The types. A class is an index into the table of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Int,
    Long,
    Bool,
    Double,
    Str,
    Void,
    Lock,
    ReentrantLock,
    RwLock,
    Event,
    Barrier,
    Cond,
    Sem,
    Thread,
    Class(usize),
}

/// What the cell of a re-entrant lock always holds: who holds the lock stands in the state.
pub const REENTRANT: Value = Value::Int(-2);

/// The same of a readers-writer lock.
pub const READERS_WRITER: Value = Value::Int(-3);

impl Ty {
    /// Whether it is one of the five types of plain data, or a handle, which is copied as they are.
    pub fn is_data(self) -> bool {
        matches!(self, Ty::Int | Ty::Long | Ty::Bool | Ty::Double | Ty::Str | Ty::Thread)
    }

    /// What a variable of this type holds without an initialiser. A free lock and a handle without a thread are -1.
    pub fn zero(self, strings: &mut Strings) -> Value {
        match self {
            Ty::Long => Value::Long(0),
            Ty::Bool | Ty::Event => Value::Bool(false),
            Ty::Double => Value::Double(0.0),
            Ty::Str => Value::Str(strings.intern("")),
            Ty::Lock | Ty::Thread => Value::Int(-1),
            Ty::ReentrantLock => REENTRANT,
            Ty::RwLock => READERS_WRITER,
            _ => Value::Int(0),
        }
    }

    /// Whether a value of this type may be given where `to` is expected, without a cast.
    pub fn fits(self, to: Ty) -> bool {
        match to {
            _ if self == to => true,
            Ty::Int => self == Ty::Bool,
            Ty::Long => matches!(self, Ty::Bool | Ty::Int),
            Ty::Double => matches!(self, Ty::Bool | Ty::Int | Ty::Long),
            Ty::Bool => matches!(self, Ty::Int | Ty::Long),
            _ => false,
        }
    }

    /// Whether it is a number, or a truth value that can be used as one.
    pub fn is_number(self) -> bool {
        self.is_data() && !matches!(self, Ty::Str | Ty::Thread)
    }

    /// The type of `condition ? a : b`.
    pub fn common(self, other: Ty) -> Ty {
        if self == other {
            return self;
        }
        match (self, other) {
            (Ty::Double, _) | (_, Ty::Double) => Ty::Double,
            (Ty::Long, _) | (_, Ty::Long) => Ty::Long,
            _ => Ty::Int,
        }
    }
}

/// A table of distinct texts.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    texts: Vec<String>,
    index: rustc_hash::FxHashMap<String, u32>,
}

impl Strings {
    pub fn intern(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.index.insert(text.to_owned(), id);
        id
    }

    pub fn find(&self, text: &str) -> Option<u32> {
        self.index.get(text).copied()
    }

    pub fn text(&self, id: u32) -> &str {
        &self.texts[id as usize]
    }
}

/// How an execution ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Ok,
    Assert,
    Error,
    Deadlock,
    DivisionByZero,
    IndexOutOfRange,
    UnlockNotHeld,
    StepLimit,
}

impl Status {
    /// The word of the contract.
    pub fn word(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Assert => "assert",
            Status::Error => "error",
            Status::Deadlock => "deadlock",
            Status::DivisionByZero => "division-by-zero",
            Status::IndexOutOfRange => "index-out-of-range",
            Status::UnlockNotHeld => "unlock-not-held",
            Status::StepLimit => "step-limit",
        }
    }
}

impl Value {
    pub fn truth(self) -> bool {
        match self {
            Value::Int(value) => value != 0,
            Value::Long(value) => value != 0,
            Value::Bool(value) => value,
            Value::Double(value) => value != 0.0,
            _ => unreachable!("no condition is a string or an object"),
        }
    }

    pub fn long(self) -> i64 {
        match self {
            Value::Int(value) => i64::from(value),
            Value::Long(value) => value,
            Value::Bool(value) => i64::from(value),
            Value::Double(value) => value as i64,
            _ => unreachable!("no number is a string or an object"),
        }
    }

    fn int(self) -> i32 {
        match self {
            Value::Int(value) => value,
            Value::Bool(value) => i32::from(value),
            Value::Double(value) => value as i32,
            other => other.long() as i32,
        }
    }

    fn double(self) -> f64 {
        match self {
            Value::Double(value) => value,
            other => other.long() as f64,
        }
    }

    /// The address in a reference.
    pub fn address(self) -> u32 {
        match self {
            Value::Ref(address) | Value::Element { address, .. } | Value::Array { address, .. } => address,
            other => unreachable!("{other:?} is no reference"),
        }
    }

    /// The number of the element that it refers to.
    pub fn element(self) -> Option<u32> {
        match self {
            Value::Element { element, .. } | Value::Array { element, .. } if element != NONE => Some(element),
            _ => None,
        }
    }

    /// A reference to a member of the object.
    pub fn member(self, offset: u32) -> Value {
        match self {
            Value::Astray => self,
            Value::Element { address, element } => Value::Element { address: address + offset, element },
            _ => Value::Ref(self.address() + offset),
        }
    }

    /// A reference to an element of the array; `len` is [`NONE`] where the array has it with it.
    pub fn index(self, index: i64, len: u32, stride: u32) -> Value {
        let len = match self {
            Value::Astray => return self,
            Value::Array { len: own, .. } if len == NONE => own,
            _ => len,
        };
        match u32::try_from(index) {
            Ok(index) if index < len => {
                let element = self.element().unwrap_or(0) * len + index;
                Value::Element { address: self.address() + index * stride, element }
            }
            _ => Value::Astray,
        }
    }

    /// The array with its length, unless it has it already.
    pub fn measured(self, len: u32) -> Value {
        if matches!(self, Value::Array { .. } | Value::Astray) {
            return self;
        }
        Value::Array { address: self.address(), element: self.element().unwrap_or(NONE), len }
    }

    pub fn convert(self, ty: Ty) -> Value {
        match ty {
            Ty::Int => Value::Int(self.int()),
            Ty::Long => Value::Long(self.long()),
            Ty::Bool => Value::Bool(self.truth()),
            Ty::Double => Value::Double(self.double()),
            _ => self,
        }
    }

    pub fn print(self, strings: &Strings) -> String {
        match self {
            Value::Int(value) => value.to_string(),
            Value::Long(value) => value.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Double(value) => format!("{value:?}"),
            Value::Str(id) => strings.text(id).to_owned(),
            _ => unreachable!("objects are not printed"),
        }
    }
}

pub fn unary(op: UnaryOp, operand: Value) -> Value {
    match (op, operand) {
        (UnaryOp::Not, _) => Value::Bool(!operand.truth()),
        (UnaryOp::Negate, Value::Double(value)) => Value::Double(-value),
        (UnaryOp::Negate, Value::Long(value)) => Value::Long(value.wrapping_neg()),
        (UnaryOp::Negate, _) => Value::Int(operand.int().wrapping_neg()),
        (UnaryOp::Complement, Value::Long(value)) => Value::Long(!value),
        (UnaryOp::Complement, _) => Value::Int(!operand.int()),
    }
}

/// Any operator but `&&` and `||`, which the compiler turns into jumps.
pub fn binary(op: BinaryOp, left: Value, right: Value) -> Result<Value, Status> {
    if let Some(result) = compare(op, left, right) {
        return Ok(Value::Bool(result));
    }
    if let (Value::Bool(left), Value::Bool(right)) = (left, right) {
        match op {
            BinaryOp::BitAnd => return Ok(Value::Bool(left & right)),
            BinaryOp::BitOr => return Ok(Value::Bool(left | right)),
            BinaryOp::BitXor => return Ok(Value::Bool(left ^ right)),
            _ => {}
        }
    }
    match op {
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => Ok(shift(op, left, right)),
        _ => match (left, right) {
            (Value::Double(_), _) | (_, Value::Double(_)) => Ok(doubles(op, left.double(), right.double())),
            (Value::Long(_), _) | (_, Value::Long(_)) => longs(op, left.long(), right.long()).map(Value::Long),
            _ => ints(op, left.int(), right.int()).map(Value::Int),
        },
    }
}

fn compare(op: BinaryOp, left: Value, right: Value) -> Option<bool> {
    use std::cmp::Ordering;
    let order = match (left, right) {
        (Value::Str(left), Value::Str(right)) => {
            if left == right {
                Some(Ordering::Equal)
            } else {
                None
            }
        }
        (Value::Double(_), _) | (_, Value::Double(_)) => left.double().partial_cmp(&right.double()),
        _ => Some(left.long().cmp(&right.long())),
    };
    // Unordered: different strings, or a NaN; only `!=` holds of them.
    match op {
        BinaryOp::Equal => Some(order == Some(Ordering::Equal)),
        BinaryOp::NotEqual => Some(order != Some(Ordering::Equal)),
        BinaryOp::Less => Some(order == Some(Ordering::Less)),
        BinaryOp::Greater => Some(order == Some(Ordering::Greater)),
        BinaryOp::LessEqual => Some(matches!(order, Some(Ordering::Less | Ordering::Equal))),
        BinaryOp::GreaterEqual => Some(matches!(order, Some(Ordering::Greater | Ordering::Equal))),
        _ => None,
    }
}

fn shift(op: BinaryOp, left: Value, count: Value) -> Value {
    let count = count.long();
    match left {
        Value::Long(value) if op == BinaryOp::ShiftLeft => Value::Long(value.wrapping_shl((count & 63) as u32)),
        Value::Long(value) => Value::Long(value.wrapping_shr((count & 63) as u32)),
        _ if op == BinaryOp::ShiftLeft => Value::Int(left.int().wrapping_shl((count & 31) as u32)),
        _ => Value::Int(left.int().wrapping_shr((count & 31) as u32)),
    }
}

fn doubles(op: BinaryOp, left: f64, right: f64) -> Value {
    Value::Double(match op {
        BinaryOp::Add => left + right,
        BinaryOp::Subtract => left - right,
        BinaryOp::Multiply => left * right,
        BinaryOp::Divide => left / right,
        other => unreachable!("{other:?} is not for doubles"),
    })
}

fn longs(op: BinaryOp, left: i64, right: i64) -> Result<i64, Status> {
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide | BinaryOp::Remainder if right == 0 => return Err(Status::DivisionByZero),
        BinaryOp::Divide => left.wrapping_div(right),
        BinaryOp::Remainder => left.wrapping_rem(right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        other => unreachable!("{other:?} is handled elsewhere"),
    })
}

fn ints(op: BinaryOp, left: i32, right: i32) -> Result<i32, Status> {
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide | BinaryOp::Remainder if right == 0 => return Err(Status::DivisionByZero),
        BinaryOp::Divide => left.wrapping_div(right),
        BinaryOp::Remainder => left.wrapping_rem(right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        other => unreachable!("{other:?} is handled elsewhere"),
    })
}
