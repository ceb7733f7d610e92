//! A program in the making.
//!
//! In: what is lowered. Out: the program, when all of its objects and functions are.

use super::Lowered;
use super::ask::Done;
use super::facts::Own;
use super::finish;
use super::input::Input;
use super::link::DeclKey;
use super::memory::PendingCopy;
use super::owner::Owner;
use super::sections;
use crate::supported::{Obstacle, Reason};
use crate::tree::{DeclId, ExprId, Place, StringId, TypeId, TypeKind, Unit};
use cssame_diagnostics::Diagnostic;
use cssame_ir::{
    ArrayId, ClassId, Function, FunctionId, FunctionKind, Program, ScalarType, SymbolId, TextId, Type, VariableId,
};
use cssame_source::Span;
use cssame_source::arena::Arena;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is true of the whole lowering.
pub struct Lowering<'a> {
    pub input: &'a Input<'a>,
    pub program: Program,
    pub symbols: FxHashMap<(Owner, bool), SymbolId>,
    pub classes: FxHashMap<u32, ClassId>,
    pub arrays: Vec<(Type, Option<u32>, ArrayId)>,
    pub variables: FxHashMap<DeclKey, VariableId>,
    pub literals: FxHashMap<(u32, StringId), VariableId>,
    pub functions: FxHashMap<DeclKey, FunctionId>,
    /// The functions that make objects on the heap, by the calls that ask for them, their names, and the types of the elements.
    pub makers: FxHashMap<(FunctionId, ExprId), FunctionId>,
    pub maker_names: FxHashSet<TextId>,
    pub memory_types: FxHashMap<(u32, ExprId), (u32, TypeId)>,
    /// Copies of functions that give memory, which are still to be lowered, and functions of which more than copies are called.
    pub copies: Vec<PendingCopy>,
    pub copied: FxHashSet<DeclKey>,
    pub called_plain: FxHashSet<DeclKey>,
    /// The objects that stand for functions whose addresses are used.
    pub stand_ins: FxHashMap<DeclKey, VariableId>,
    /// Functions that threads begin with and that call another one, by that.
    pub starters: FxHashMap<FunctionId, FunctionId>,
    /// What `main` has of its own.
    pub own_of_main: FxHashMap<Own, VariableId>,
    /// Mutexes that their holder may lock again.
    pub reentrant: FxHashSet<Owner>,
    /// The locks and flags of `pthread_once`.
    pub once: FxHashMap<Owner, (VariableId, VariableId)>,
    pub notes: Vec<Diagnostic>,
}

/// Lowers a program.
pub fn lower_program(input: &Input<'_>) -> Result<Lowered, Vec<Obstacle>> {
    let mut lowering = Lowering {
        input,
        program: Program { ends_with_main: !input.settings.main_waits, ..Program::default() },
        symbols: FxHashMap::default(),
        classes: FxHashMap::default(),
        arrays: Vec::new(),
        variables: FxHashMap::default(),
        literals: FxHashMap::default(),
        functions: FxHashMap::default(),
        stand_ins: FxHashMap::default(),
        makers: FxHashMap::default(),
        maker_names: FxHashSet::default(),
        memory_types: FxHashMap::default(),
        copies: Vec::new(),
        copied: FxHashSet::default(),
        called_plain: FxHashSet::default(),
        starters: FxHashMap::default(),
        own_of_main: FxHashMap::default(),
        reentrant: FxHashSet::default(),
        once: FxHashMap::default(),
        notes: Vec::new(),
    };
    let mut found = input.facts.problems.clone();
    found.extend(lowering.kinds_of_mutexes().err());
    found.extend(lowering.objects());
    for &key in &input.facts.functions {
        found.extend(lowering.head(key).err());
    }
    if found.is_empty() {
        for &key in input.facts.functions.difference(&input.facts.wrappers) {
            found.extend(lowering.function(key).err());
        }
        found.extend(lowering.copies());
    }
    if !found.is_empty() {
        return Err(found);
    }
    let main = input.facts.main.and_then(|main| lowering.functions.get(&main).copied());
    lowering.program.main = main;
    let Lowering { mut program, notes, .. } = lowering;
    finish::finish(&mut program);
    sections::choose_before(&mut program);
    let found = sections::check(&program);
    if found.is_empty() { Ok(Lowered { program, notes }) } else { Err(found) }
}

impl<'a> Lowering<'a> {
    pub fn unit(&self, number: u32) -> &'a Unit {
        self.input.unit(number)
    }

    pub fn text(&mut self, text: &str) -> TextId {
        self.program.texts.intern(text)
    }

    /// The text at a place, its white space made single spaces.
    pub fn text_at(&mut self, span: Span) -> TextId {
        let text = self.input.sources.get(span.file).map_or("", |_| self.input.sources.text(span));
        let words: Vec<&str> = text.split_whitespace().collect();
        self.program.texts.intern(&words.join(" "))
    }

    /// A place with the brackets around its ends, which the tree leaves out: `*(p + 1)`, `(*p).next`.
    pub fn balanced(&self, span: Span) -> Span {
        let Some(file) = self.input.sources.get(span.file) else { return span };
        let (text, mut span) = (file.text(), span);
        // How many are open at the end, and how many close before they are opened.
        let (mut open, mut closed) = (0_u32, 0_u32);
        for sign in text.get(span.start as usize..span.end as usize).unwrap_or_default().bytes() {
            match sign {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' => closed += 1,
                _ => {}
            }
        }
        while open > 0 {
            let rest = text.get(span.end as usize..).unwrap_or_default();
            let blank = rest.len() - rest.trim_start().len();
            if !rest.trim_start().starts_with(')') {
                break;
            }
            span.end += blank as u32 + 1;
            open -= 1;
        }
        while closed > 0 {
            let before = text.get(..span.start as usize).unwrap_or_default();
            if !before.trim_end().ends_with('(') {
                break;
            }
            span.start = before.trim_end().len() as u32 - 1;
            closed -= 1;
        }
        span
    }

    /// Whether the text at a place begins with one of these.
    pub fn starts_with(&self, span: Span, signs: &[char]) -> bool {
        let file = self.input.sources.get(span.file);
        file.is_some_and(|_| self.input.sources.text(span).starts_with(signs))
    }

    pub fn declared_name(&mut self, unit: u32, decl: DeclId) -> TextId {
        let declared = &self.unit(unit).declarations[decl];
        match &declared.name {
            Some(name) => self.text(name),
            None => self.text_at(declared.place.span),
        }
    }

    /// The type of the result of a function.
    pub fn result_of(&self, key: DeclKey) -> Option<ScalarType> {
        let unit = self.unit(key.unit);
        let function = unit.function_type(unit.declarations[key.decl].ty)?;
        self.input.scalar(key.unit, function.result)
    }

    /// Gives a function its place among the functions.
    fn head(&mut self, key: DeclKey) -> Done<()> {
        let place = self.unit(key.unit).declarations[key.decl].place;
        let is_main = self.input.facts.main == Some(key);
        let is_called = self.input.facts.calls.values().flatten().any(|&called| called == key)
            || self.input.facts.routines.contains(&key);
        if is_main && is_called {
            return super::ask::refuse(Reason::Form("call of `main`"), place);
        }
        let name = self.declared_name(key.unit, key.decl);
        let kind = if is_main { FunctionKind::Main } else { FunctionKind::Function };
        let result = if is_main { None } else { self.result_of(key) };
        let function = self.program.functions.push(Function { result, ..empty(name, place.span, kind) });
        self.functions.insert(key, function);
        Ok(())
    }

    /// Finds out which mutexes their holder may lock again.
    fn kinds_of_mutexes(&mut self) -> Done<()> {
        let facts = &self.input.facts;
        let refuse = |reason: Reason, place: Place| super::ask::refuse(reason, place);
        for (mutex, attributes, place) in &facts.with_attributes {
            let all_plain = facts.attribute_kinds.values().flatten().all(|kind| matches!(kind, Some(0 | 3)));
            let kinds = match facts.attribute_kinds.get(attributes) {
                Some(kinds) => kinds.as_slice(),
                None if attributes.is_declared() || all_plain => &[],
                None => return refuse(Reason::UnclearStart("mutex"), *place),
            };
            let first = kinds.first().copied().unwrap_or(Some(0));
            if kinds.iter().any(|&kind| kind != first) {
                return refuse(Reason::UnclearStart("mutex"), *place);
            }
            match first {
                Some(0 | 3) => {}
                Some(1) if mutex.is_declared() => drop(self.reentrant.insert(mutex.clone())),
                Some(2) => return refuse(Reason::ErrorCheckingMutex, *place),
                _ => return refuse(Reason::UnclearStart("mutex"), *place),
            }
        }
        for (mutex, kinds) in &facts.kinds {
            let is_again = |kind: &Option<i128>| kind.map(|kind| kind & 1 != 0);
            let first = kinds.first().and_then(is_again);
            if first.is_none() || kinds.iter().any(|kind| is_again(kind) != first) {
                return refuse(Reason::UnclearStart("mutex"), self.place_of(mutex));
            }
            if first == Some(true) {
                self.reentrant.insert(mutex.clone());
            }
        }
        Ok(())
    }

    /// Where an object is declared.
    fn place_of(&self, owner: &Owner) -> Place {
        match owner {
            Owner::Object(key) => self.unit(key.unit).declarations[key.decl].place,
            _ => Place::plain(Span::default()),
        }
    }

    /// The structure that a type is.
    pub fn record_of(&self, unit: u32, ty: crate::tree::TypeId) -> Option<crate::tree::RecordId> {
        match self.unit(unit).types[ty].kind {
            TypeKind::Record(record) => Some(record),
            _ => None,
        }
    }
}

/// A function without anything in it.
pub fn empty(name: TextId, span: Span, kind: FunctionKind) -> Function {
    Function { name, span, kind, parameters: Vec::new(), result: None, registers: Arena::new(), blocks: Arena::new() }
}
