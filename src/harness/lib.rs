//! Programs around methods: closes a file without `main`.
//!
//! In: a file of classes and functions. Out: the file followed by a `main`: [`Context`]s, in which two given methods run in
//! parallel; [`Driver`]s, in which each pair of methods runs in parallel, on two objects of each class; and one [`Closing`], in
//! which all of them run in parallel, for analyses that execute nothing. Other modules write their own programs: they get the
//! [`Signature`]s of everything that `main` may call, and provide a [`MainText`].

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
