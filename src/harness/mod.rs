//! Programs around methods that have none: what closes a file without `main`.
//!
//! In: a file of classes and functions. Out: the file with a `main` behind it: [`Context`]s, in which two given methods run in
//! parallel, and [`Driver`]s, in which each two do, on two objects of each class.

mod arrangement;
mod contexts;
mod drivers;
mod effects;
mod methods;
mod writer;

pub use contexts::Context;
pub use drivers::{Driver, MAX_DRIVERS};
pub use methods::Methods;
