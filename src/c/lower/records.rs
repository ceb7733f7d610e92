//! Structures: which of several units are one, which are synchronisation objects.
//!
//! In: units. Out: a number for each structure, the same for the same structure of another unit, and the roles that structures
//! have by the prototypes of library functions and by what these are called with. Types of several units are the same where they
//! have the same tag, members and role, counted through where several do.

use super::ask::without_void;
use super::roles::{Role, roles};
use crate::supported::library::known;
use crate::tree::{DeclKind, ExprKind, RecordId, TypeId, TypeKind, Unit};
use rustc_hash::FxHashMap;

/// The structures of all units.
#[derive(Debug, Default)]
pub struct Records {
    /// By unit and structure.
    numbers: Vec<Vec<u32>>,
    /// By number: where it stands first.
    first: Vec<(u32, RecordId)>,
    /// By number.
    roles: Vec<Option<Role>>,
}

impl Records {
    /// The structures of these units.
    pub fn new(units: &[&Unit]) -> Records {
        let mut records = Records::default();
        let mut known: FxHashMap<(String, u32), u32> = FxHashMap::default();
        for (number, unit) in units.iter().enumerate() {
            let roles = roles_of(unit);
            let mut seen: FxHashMap<String, u32> = FxHashMap::default();
            let mut numbers = Vec::with_capacity(unit.records.len());
            for id in unit.records.ids() {
                let role = roles.get(&id).copied();
                let form = format!("{role:?} {}", form(unit, id));
                let count = seen.entry(form.clone()).or_insert(0);
                *count += 1;
                numbers.push(*known.entry((form, *count)).or_insert_with(|| {
                    records.first.push((number as u32, id));
                    records.roles.push(role);
                    records.first.len() as u32 - 1
                }));
            }
            records.numbers.push(numbers);
        }
        records
    }

    /// The number of a structure.
    pub fn canonical(&self, unit: u32, record: RecordId) -> u32 {
        self.numbers[unit as usize][record.index()]
    }

    /// Where the structure of a number stands first.
    pub fn first(&self, number: u32) -> (u32, RecordId) {
        self.first[number as usize]
    }

    /// The role of a structure.
    pub fn role(&self, unit: u32, record: RecordId) -> Option<Role> {
        self.roles[self.canonical(unit, record) as usize]
    }
}

/// A structure as text, without what lies behind its pointers.
fn form(unit: &Unit, id: RecordId) -> String {
    let record = &unit.records[id];
    let fields = record.fields.iter().map(|field| {
        format!("{}:{}:{}", field.name.as_deref().unwrap_or_default(), field.offset, unit.types[field.ty].name)
    });
    let fields: Vec<String> = fields.collect();
    format!("{} {} {}", record.tag.as_deref().unwrap_or_default(), record.union, fields.join(" "))
}

fn roles_of(unit: &Unit) -> FxHashMap<RecordId, Role> {
    let mut found = FxHashMap::default();
    let mut add = |target: Option<TypeId>, role: Role| {
        if let Some(TypeKind::Record(record)) = target.map(|target| &unit.types[target].kind) {
            found.entry(*record).or_insert(role);
        }
    };
    for decl in unit.declarations.iter().filter(|decl| decl.kind == DeclKind::Function && decl.body.is_none()) {
        let Some(name) = decl.name.as_deref().filter(|name| known(name).is_some()) else { continue };
        let Some(function) = unit.function_type(decl.ty) else { continue };
        for (index, role) in roles(name) {
            add(function.parameters.get(index).and_then(|&ty| unit.pointee(ty)), role);
        }
    }
    for expr in unit.expressions.iter() {
        let ExprKind::Call { callee, arguments } = &expr.kind else { continue };
        let called = unit.called(*callee).map(|decl| &unit.declarations[decl]);
        let name = called.filter(|decl| decl.body.is_none()).and_then(|decl| decl.name.as_deref());
        for (index, role) in name.filter(|name| known(name).is_some()).map_or_else(Vec::new, roles) {
            let argument = arguments.get(index).map(|&argument| without_void(unit, argument));
            add(argument.and_then(|argument| unit.pointee(unit.expressions[argument].ty)), role);
        }
    }
    found
}
