//! Programs around methods that have none: what closes a file without `main`.
//!
//! In: a file of classes and functions. Out: the file with a `main` behind it: [`Context`]s, in which two given methods run in
//! parallel, [`Driver`]s, in which each two do, on two objects of each class, and one [`Closing`], in which all of them do, for
//! analyses that execute nothing. Others write programs of their own: they
//! get the [`Signature`]s of what `main` may call, and hand in a [`MainText`].

mod arrangement;
mod closing;
mod construction;
mod contexts;
mod drivers;
mod effects;
mod enums;
mod methods;
mod recorded;
mod signatures;
mod writer;

pub use closing::{Closing, SharedObject};
pub use contexts::{Context, PairContexts};
pub use drivers::{Driver, MAX_DRIVERS};
pub use effects::Effects;
pub use methods::Methods;
pub use recorded::Argument;
pub use signatures::{FileValues, ParameterType, Signature, ValueType};
pub use writer::{MainLines, MainText};
