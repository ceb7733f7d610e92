//! What each thread has of its own: thread-local variables, `errno`, and the values of keys.
//!
//! In: the names and calls that the scan finds. Out: for each function what of that it may use, itself or by what it calls. It gets
//! the addresses of these from who calls it, as parameters that the text does not show.

use super::facts::{Facts, Key, Own};
use super::input::Input;
use super::link::DeclKey;
use crate::supported::{Obstacle, Reason, without_conversions};
use crate::tree::{Conversion, Decl, DeclKind, Definition, ExprId, ExprKind, Linkage, Place, Storage, UnaryOperator};
use rustc_hash::FxHashMap;

/// Whether each thread has an object of its own by this declaration.
pub fn is_own(declared: &Decl) -> bool {
    // Old programs declare `errno` themselves, as if it were one object.
    let is_errno = declared.name.as_deref() == Some("errno")
        && declared.linkage == Linkage::External
        && declared.definition == Definition::Declared;
    declared.kind == DeclKind::Object && (declared.storage == Storage::Thread || is_errno)
}

/// The variable that holds a key, by the value of it or its address.
pub fn key_variable(input: &Input<'_>, unit: u32, argument: ExprId) -> Option<DeclKey> {
    let tree = input.unit(unit);
    let mut at = without_conversions(tree, argument);
    loop {
        at = match tree.expressions[at].kind {
            ExprKind::Convert { conversion: Conversion::Read | Conversion::Arithmetic, operand }
            | ExprKind::Unary { operator: UnaryOperator::AddressOf, operand } => operand,
            ExprKind::Name(decl) => {
                let key = input.links.resolve(tree, unit, decl);
                let declared = &input.unit(key.unit).declarations[key.decl];
                let is_one = declared.kind == DeclKind::Object && declared.storage == Storage::Static;
                return is_one.then_some(key);
            }
            _ => return None,
        };
    }
}

/// Notes what a call of a known function says of what threads have of their own.
pub fn note_call(input: &Input<'_>, facts: &mut Facts, within: DeclKey, name: &str, arguments: &[ExprId], at: Place) {
    let unit = input.unit(within.unit);
    let key = arguments.first().and_then(|&argument| key_variable(input, within.unit, argument));
    match (name, key) {
        ("__errno_location", _) => drop(facts.own.entry(within).or_default().insert(Own::Errno)),
        ("pthread_getspecific" | "pthread_setspecific" | "tss_get" | "tss_set", Some(key)) => {
            facts.own.entry(within).or_default().insert(Own::Key(key));
        }
        ("pthread_key_create" | "tss_create", Some(key)) => {
            let destructor = arguments.get(1).and_then(|&one| unit.called(without_conversions(unit, one)));
            let destructor = destructor.map(|decl| input.links.resolve(unit, within.unit, decl));
            let made = Key { destructor, creations: 0, place: at };
            facts.keys.entry(key).or_insert(made).creations += 1;
        }
        _ => {}
    }
}

/// What functions use is also used by those that call them.
pub fn close(facts: &mut Facts) {
    let with_destructor: Vec<(Own, DeclKey)> =
        facts.keys.iter().filter_map(|(&key, made)| Some((Own::Key(key), made.destructor?))).collect();
    // Where a thread is ended, its values are given to the destructors.
    for &function in &facts.ends_thread {
        facts.own.entry(function).or_default().extend(with_destructor.iter().map(|&(own, _)| own));
    }
    // Who uses a key may be who leaves a value for its destructor, which then runs in the same thread.
    for (&function, uses) in &facts.own {
        let destructors = with_destructor.iter().filter(|(own, _)| uses.contains(own)).map(|&(_, called)| called);
        facts.calls.entry(function).or_default().extend(destructors);
    }
    let mut callers: FxHashMap<DeclKey, Vec<DeclKey>> = FxHashMap::default();
    for (&caller, called) in &facts.calls {
        called.iter().for_each(|&called| callers.entry(called).or_default().push(caller));
    }
    let mut waiting: Vec<DeclKey> = facts.own.keys().copied().collect();
    while let Some(function) = waiting.pop() {
        let uses = facts.own.get(&function).cloned().unwrap_or_default();
        for &caller in callers.get(&function).into_iter().flatten() {
            let known = facts.own.entry(caller).or_default();
            let before = known.len();
            known.extend(&uses);
            if known.len() > before {
                waiting.push(caller);
            }
        }
    }
    // A destructor that leaves values again is called again, and how often is for the system to say.
    for made in facts.keys.values() {
        let uses = made.destructor.and_then(|destructor| facts.own.get(&destructor));
        if uses.is_some_and(|uses| with_destructor.iter().any(|(own, _)| uses.contains(own))) {
            let reason = Reason::LaterFunction("pthread_key_create".into());
            facts.problems.push(Obstacle { place: made.place, reason });
        }
    }
}

impl Facts {
    /// What each thread has of its own and a function may use.
    pub fn own_of(&self, function: DeclKey) -> Vec<Own> {
        self.own.get(&function).into_iter().flatten().copied().collect()
    }
}
