//! stub
use super::Subject;
use super::held::Held;
use crate::diagnostics::Diagnostic;
pub(super) fn check(_: Subject<'_>, _: &mut Held<'_>, _: &mut Vec<Diagnostic>) {}
