//! Declarations of variables: their types, and their initial values.
//!
//! In: declarations of globals, locals and fields. Out: variables with their constant initial values, and statements for initial
//! values that are evaluated at run time.

use super::item::Checker;
use super::scope::Meaning;
use super::{
    Array, Constant, Expression, Place, Scalar, Statement, StatementKind, Type, Variable, VariableId, VariableKind,
};
use crate::csm::syntax::ast::{self, Expr, ExprKind, Initialiser};
use cssame_diagnostics::{Code, Diagnostic};
use cssame_source::Span;

/// No program has variables with more values in all: it would only exhaust the memory.
const MAX_CELLS_IN_ALL: u64 = 1 << 21;

impl<'a> Checker<'a> {
    /// Declares the globals of a declaration, without looking at values that are not constant.
    pub(super) fn declare_globals(&mut self, declaration: &'a ast::Declaration) {
        let known =
            |checker: &Self, declarator: &ast::Declarator| checker.declared_constants.contains(&declarator.name.span);
        let reported = self.diagnostics.len();
        let base = self.resolve_type(&declaration.ty, None);
        if declaration.constant {
            if declaration.declarators.iter().any(|one| known(self, one)) {
                // A wrong type was reported with the constants.
                self.diagnostics.truncate(reported);
            }
            self.may_be_constant(declaration, base);
        }
        let atomic = self.is_atomic(declaration, base);
        self.note_enumeration(&declaration.ty, declaration.declarators.iter().map(|one| &one.name));
        for declarator in &declaration.declarators {
            if known(self, declarator) {
                continue;
            }
            if declaration.constant {
                self.read_only.insert(declarator.name.span);
            }
            let ty = self.declared_type(base, declarator);
            let ty = if self.has_room_for(ty, declarator) { ty } else { Type::Error };
            // A global handle is a variable of main: nothing else may use it.
            let zeros = self.initial_zeros(ty);
            let variable = self.new_variable(declarator, ty, VariableKind::Global, zeros);
            self.program.variables[variable].atomic = atomic;
            let name = self.program.variables[variable].name;
            self.declare_global_name(name, Meaning::Variable(variable), declarator.name.span);
        }
    }

    /// Whether the variables, with another one of a type, hold no more values than memory is to be taken for; reports it where that
    /// one is too much.
    fn has_room_for(&mut self, ty: Type, declarator: &ast::Declarator) -> bool {
        let before = self.declared_cells;
        self.declared_cells += u64::from(self.program.size_of(ty));
        if self.declared_cells > MAX_CELLS_IN_ALL && before <= MAX_CELLS_IN_ALL {
            let message = format!("the variables of the program are too large: `{}` is too much", declarator.name.name);
            let label = format!("{before} values stand before it; at most {MAX_CELLS_IN_ALL} in all variables");
            let advice = "declare shorter arrays: an analysis of a few elements says as much as one of many";
            self.report(Diagnostic::error(Code::BadSize, declarator.name.span, message, label).with_help(advice));
        }
        self.declared_cells <= MAX_CELLS_IN_ALL
    }

    pub(super) fn new_variable(
        &mut self,
        declarator: &ast::Declarator,
        ty: Type,
        kind: VariableKind,
        initial: Vec<Constant>,
    ) -> VariableId {
        let name = self.intern(&declarator.name.name);
        self.program.variables.push(Variable {
            name,
            span: declarator.name.span,
            ty,
            kind,
            initial,
            captured: false,
            atomic: false,
        })
    }

    pub(super) fn check_declaration(&mut self, declaration: &'a ast::Declaration, into: &mut Vec<Statement>) {
        let global = !self.body.in_block();
        let base = if global { None } else { Some(self.resolve_type(&declaration.ty, None)) };
        let atomic = base.is_some_and(|base| self.is_atomic(declaration, base));
        self.note_enumeration(&declaration.ty, declaration.declarators.iter().map(|one| &one.name));
        let constant = declaration.constant && base.is_some_and(|base| self.may_be_constant(declaration, base));
        for declarator in &declaration.declarators {
            let name = self.intern(&declarator.name.name);
            let known = if global {
                match self.globals.get(&name) {
                    Some(&(Meaning::Variable(variable), span))
                        if span == declarator.name.span && self.named_value(variable).is_none() =>
                    {
                        Some(variable)
                    }
                    _ => continue,
                }
            } else {
                None
            };
            if constant {
                if let Some(value) = base.and_then(|base| self.named_constant(base, declarator)) {
                    let variable = self.new_constant(name, declarator.name.span, value);
                    self.declare_local(name, variable);
                    continue;
                }
                self.read_only.insert(declarator.name.span);
            }
            let ty = match (known, base) {
                (Some(variable), _) => self.program.variables[variable].ty,
                (None, base) => {
                    let ty = self.declared_type(base.unwrap_or(Type::Error), declarator);
                    if self.has_room_for(ty, declarator) { ty } else { Type::Error }
                }
            };
            if let Some(Initialiser::Value(Expr { kind: ExprKind::Spawn(call), .. })) = &declarator.initialiser {
                self.spawned_declaration(declarator, ty, known, call, into);
                continue;
            }
            // The initialiser is checked before the name is declared: it cannot use it.
            let before = self.diagnostics.len();
            let (initial, late) = self.constant_initialiser(ty, declarator);
            let values =
                if late && self.diagnostics.len() == before { self.late_values(ty, declarator) } else { Vec::new() };
            let constructor = self.constructor_arguments(ty, declarator);
            let variable = known.unwrap_or_else(|| self.new_variable(declarator, ty, VariableKind::Local, Vec::new()));
            self.program.variables[variable].initial = initial;
            if !global {
                self.program.variables[variable].atomic = atomic;
                self.declare_local(name, variable);
            }
            if !global || !values.is_empty() {
                into.push(Statement { kind: StatementKind::Declare { variable, values }, span: declarator.name.span });
            }
            let object = self.whole(variable, declarator.name.span);
            self.construct(object, constructor, into);
        }
    }

    fn spawned_declaration(
        &mut self,
        declarator: &'a ast::Declarator,
        ty: Type,
        known: Option<VariableId>,
        call: &'a ast::Expr,
        into: &mut Vec<Statement>,
    ) {
        let span = declarator.name.span;
        let zeros = self.initial_zeros(ty);
        let variable = known.unwrap_or_else(|| {
            let variable = self.new_variable(declarator, ty, VariableKind::Local, zeros);
            let name = self.program.variables[variable].name;
            self.declare_local(name, variable);
            into.push(Statement { kind: StatementKind::Declare { variable, values: Vec::new() }, span });
            variable
        });
        let declared = &self.program.variables[variable];
        let place = Place {
            root: super::Root::Variable(variable),
            offset: 0,
            indices: Vec::new(),
            name: declared.name,
            last_indices: self.empty,
            span,
            symbol: (declared.name, span),
            ty,
        };
        let kind = self.spawn(Some(place), call, Some(span));
        into.push(Statement { kind, span });
    }

    /// The constant part of what a variable begins with, and whether something is left for run time.
    pub(super) fn constant_initialiser(&mut self, ty: Type, declarator: &'a ast::Declarator) -> (Vec<Constant>, bool) {
        let mut cells = self.initial_zeros(ty);
        let Some(initialiser) = &declarator.initialiser else {
            if self.program.elements_of(ty).0 == Type::Barrier {
                let message = format!("barrier `{}` has no count", declarator.name.name);
                self.report(
                    Diagnostic::error(Code::BadSize, declarator.name.span, message, "for how many threads?")
                        .with_help(format!("write `barrier {}(2);`", declarator.name.name)),
                );
            }
            return (cells, false);
        };
        let declared = declarator.name.span;
        // Each element of an array of synchronisation objects begins alike.
        let element = match self.program.elements_of(ty).0 {
            element @ (Type::Semaphore | Type::Barrier) => element,
            _ => ty,
        };
        match (element, initialiser) {
            (Type::Error, _) => (cells, false),
            (Type::Scalar(scalar), Initialiser::Value(value)) => {
                let value = self.expression(value);
                let value = self.coerce(value, scalar, "the variable", Some(declared));
                match value.constant() {
                    Some(constant) if value.ty == scalar => {
                        cells[0] = constant;
                        (cells, false)
                    }
                    _ => (cells, value.ty != Scalar::Error),
                }
            }
            (Type::Array(_), Initialiser::List(_) | Initialiser::Rows(_)) => {
                let late = self.constant_elements(ty, declarator, &mut cells);
                (cells, late)
            }
            (Type::Semaphore, Initialiser::Value(value)) => {
                if let Some(count) = self.constant(value, Scalar::Int).and_then(Constant::integer) {
                    if count < 0 {
                        let message = format!("a semaphore cannot begin with {count}");
                        self.report(Diagnostic::error(Code::BadSize, value.span, message, "must not be negative"));
                    }
                    cells[0] = Constant::Int(count as i32);
                }
                (cells, false)
            }
            (Type::Barrier, Initialiser::Arguments(arguments)) if arguments.len() == 1 => {
                for count in arguments {
                    if let Some(value) = self.constant(count, Scalar::Int).and_then(Constant::integer)
                        && let Some(count) = self.barrier_count(value, count.span)
                    {
                        cells[0] = Constant::Int(count as i32);
                    }
                }
                (cells, false)
            }
            (_, Initialiser::Arguments(_)) if matches!(self.program.elements_of(ty).0, Type::Class(_)) => {
                (cells, false)
            }
            _ => {
                self.report_wrong_initialiser(ty, declarator);
                (cells, false)
            }
        }
    }

    /// The constant elements of an array, and whether some are left for run time.
    fn constant_elements(&mut self, ty: Type, declarator: &'a ast::Declarator, cells: &mut [Constant]) -> bool {
        let declared = declarator.name.span;
        let Type::Scalar(scalar) = self.program.elements_of(ty).0 else {
            self.report_wrong_initialiser(ty, declarator);
            return false;
        };
        let values = match self.listed(ty, declarator.initialiser.as_ref()) {
            Ok(values) => values,
            Err(Misfit::Kind) => {
                self.report_wrong_initialiser(ty, declarator);
                return false;
            }
            Err(Misfit::Length { given, length, row }) => {
                let (what, label) = match row {
                    Some(_) => ("a row", "more than a row holds"),
                    None => ("an array", "holds fewer elements"),
                };
                let message = format!("{given} values for {what} of {length}");
                self.report(Diagnostic::error(Code::BadSize, row.unwrap_or(declared), message, label));
                return false;
            }
        };
        let mut late = false;
        for (cell, value) in values {
            let value = self.expression(value);
            let value = self.coerce(value, scalar, "the array", Some(declared));
            match value.constant() {
                Some(constant) if value.ty == scalar => cells[cell as usize] = constant,
                _ => late |= value.ty != Scalar::Error,
            }
        }
        late
    }

    /// The values that an initialiser lists, with their cells: one after the other, or row by row.
    fn listed(&self, ty: Type, initialiser: Option<&'a Initialiser>) -> Result<Vec<(u32, &'a Expr)>, Misfit> {
        let mut listed = Vec::new();
        match initialiser {
            Some(Initialiser::List(values)) => {
                let length = self.program.elements_of(ty).1;
                if values.len() > length as usize {
                    return Err(Misfit::Length { given: values.len(), length, row: None });
                }
                listed.extend((0..).zip(values));
            }
            Some(Initialiser::Rows(rows)) => self.list_rows(ty, (rows, None), 0, &mut listed)?,
            _ => {}
        }
        Ok(listed)
    }

    fn list_rows(
        &self,
        ty: Type,
        (rows, span): (&'a [ast::Row], Option<Span>),
        first: u32,
        listed: &mut Vec<(u32, &'a Expr)>,
    ) -> Result<(), Misfit> {
        let Type::Array(array) = ty else { return Err(Misfit::Kind) };
        let Array { element, length } = self.program.arrays[array];
        let (length, size) = (length.unwrap_or(0), self.program.size_of(element));
        if rows.len() > length as usize {
            return Err(Misfit::Length { given: rows.len(), length, row: span });
        }
        for (row, first) in rows.iter().zip((0..).map(|index| first + index * size)) {
            match (row, element) {
                (ast::Row::Rows(rows, span), _) => self.list_rows(element, (rows, Some(*span)), first, listed)?,
                (ast::Row::Values(values, _), Type::Array(_)) if values.len() <= size as usize => {
                    listed.extend((first..).zip(values));
                }
                (ast::Row::Values(values, span), Type::Array(_)) => {
                    return Err(Misfit::Length { given: values.len(), length: size, row: Some(*span) });
                }
                (ast::Row::Values(..), _) => return Err(Misfit::Kind),
            }
        }
        Ok(())
    }

    fn report_wrong_initialiser(&mut self, ty: Type, declarator: &ast::Declarator) {
        let message =
            format!("`{}` is {} and cannot have this initial value", declarator.name.name, self.type_name(ty));
        let diagnostic =
            Diagnostic::error(Code::WrongType, declarator.name.span, message, "wrong kind of initial value");
        let help = declarator.initialiser.as_ref().and_then(|initialiser| initialiser_meant(ty, initialiser));
        self.report(match help {
            Some(help) => diagnostic.with_help(help.replace("NAME", &declarator.name.name)),
            None => diagnostic,
        });
    }

    /// The values of an initialiser that are not constant, by cell. Their errors were reported before.
    fn late_values(&mut self, ty: Type, declarator: &'a ast::Declarator) -> Vec<(u32, Expression)> {
        let mut values = Vec::new();
        let Type::Scalar(scalar) = self.program.elements_of(ty).0 else { return values };
        let expressions = match (ty, &declarator.initialiser) {
            (Type::Scalar(_), Some(Initialiser::Value(value))) => vec![(0, value)],
            (Type::Array(_), initialiser) => self.listed(ty, initialiser.as_ref()).unwrap_or_default(),
            _ => return values,
        };
        for (cell, expression) in expressions {
            let value = self.expression(expression);
            let value = self.coerce(value, scalar, "the variable", None);
            if value.constant().is_none() {
                values.push((cell, value));
            }
        }
        values
    }
}

/// Why a list of values is none for an array.
enum Misfit {
    /// A row where there is no array.
    Kind,
    /// Too many values, for the array or for a row.
    Length { given: usize, length: u32, row: Option<Span> },
}

/// How what was meant by an initial value is written.
fn initialiser_meant(ty: Type, initialiser: &Initialiser) -> Option<&'static str> {
    Some(match (ty, initialiser) {
        (Type::Semaphore, Initialiser::Arguments(_)) => {
            "write the first value of a semaphore after `=`: `sem NAME = 1;`"
        }
        (Type::Scalar(Scalar::Thread), Initialiser::Arguments(_)) => {
            "a thread is started by a call: `thread NAME = spawn f(1);`, and waited for by `join(NAME);`"
        }
        (Type::Scalar(_), Initialiser::Arguments(_)) => "write a first value after `=`: `NAME = 1`",
        (Type::Array(_), Initialiser::Arguments(_) | Initialiser::Value(_)) => {
            "write the values of an array in braces: `NAME[2] = {1, 2}`"
        }
        (Type::Barrier, _) => "a barrier takes the number of its threads: `barrier NAME(2);`",
        (Type::Class(_), Initialiser::Value(_)) => "write the arguments of a constructor after the name: `NAME(1)`",
        _ => return None,
    })
}
