//! Items: collects all names of a file, lays out its classes, then checks every body.
//!
//! In: the syntax tree and the inputs of the command line. Out: the typed program. Two passes, so that functions may be
//! used before they are declared.

use super::completes::can_complete;
use super::scope::{BodyContext, Meaning};
use super::{
    Checked, ClassId, Constant, Function, FunctionId, Program, Scalar, Statement, StatementKind, Type, Variable,
    VariableId, VariableKind,
};
use crate::csm::syntax::{MAX_PROBLEMS, ast};
use cssame_diagnostics::{Code, Diagnostic, Severity};
use cssame_source::names::Name;
use cssame_source::texts::TextId;
use cssame_source::{SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks a program. `inputs` are the values that the command line gives, by name.
///
/// The result holds every error of names and types; its program is whole only where there is none.
#[must_use]
pub fn check(sources: &SourceMap, program: &ast::Program, inputs: &[(String, String)]) -> Checked {
    let mut checker = Checker::new(sources, inputs);
    checker.collect(program);
    checker.check_bodies(program);
    checker.report_unknown_inputs();
    if checker.exhausted {
        let message = "too many errors: the rest of the file was not checked";
        checker.diagnostics.push(Diagnostic::general(Code::TooManyErrors, Severity::Note, message));
    }
    Checked { program: checker.program, diagnostics: checker.diagnostics, uses: checker.names }
}

/// What is known of the constructor of a class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constructor {
    pub function: FunctionId,
    /// Whether others than the methods of the class may declare objects.
    pub public: bool,
}

/// A function that can be called, while its body may not have been checked yet.
pub(super) struct Signature<'a> {
    pub ast: Option<&'a ast::Function>,
    pub parameter_types: Vec<Type>,
    /// The class that it is the constructor of.
    pub constructs: Option<ClassId>,
}

/// The state of a check.
pub(super) struct Checker<'a> {
    pub sources: &'a SourceMap,
    pub program: Program,
    pub diagnostics: Vec<Diagnostic>,
    /// Whether there are so many errors that the rest is not checked.
    pub exhausted: bool,
    /// Values of all variables that are declared together.
    pub declared_cells: u64,
    /// What names mean.
    pub(super) names: Vec<Name>,
    pub empty: TextId,
    pub classes: FxHashMap<TextId, ClassId>,
    pub class_syntax: Vec<&'a ast::Class>,
    pub enum_syntax: Vec<&'a ast::Enum>,
    pub globals: FxHashMap<TextId, (Meaning, Span)>,
    /// Names of enums, which are other names of `int`.
    pub enums: FxHashMap<TextId, Span>,
    /// Constants of classes, and whether they are public.
    pub class_constants: FxHashMap<(ClassId, TextId), (VariableId, bool)>,
    /// Classes whose objects must be constructed.
    pub constructed: FxHashSet<ClassId>,
    pub constructors: FxHashMap<ClassId, Constructor>,
    /// Constants at top level that were declared before all else.
    pub declared_constants: FxHashSet<Span>,
    /// Declarations of variables and fields that cannot be assigned.
    pub read_only: FxHashSet<Span>,
    pub functions: FxHashMap<TextId, FunctionId>,
    pub signatures: Vec<Signature<'a>>,
    pub body: BodyContext,
    /// Anonymous barriers outside any arm, by count.
    pub barriers: Vec<(u32, VariableId)>,
    pub(super) inputs: &'a [(String, String)],
    pub(super) input_names: Vec<TextId>,
    /// Inputs that have a range, each with what sets it at the start of `main`.
    pub(super) ranged_inputs: Vec<(VariableId, Statement)>,
}

impl<'a> Checker<'a> {
    fn new(sources: &'a SourceMap, inputs: &'a [(String, String)]) -> Checker<'a> {
        let mut program = Program::default();
        let empty = program.texts.intern("");
        Checker {
            sources,
            program,
            diagnostics: Vec::new(),
            exhausted: false,
            declared_cells: 0,
            names: Vec::new(),
            empty,
            classes: FxHashMap::default(),
            class_syntax: Vec::new(),
            enum_syntax: Vec::new(),
            globals: FxHashMap::default(),
            enums: FxHashMap::default(),
            class_constants: FxHashMap::default(),
            constructed: FxHashSet::default(),
            constructors: FxHashMap::default(),
            declared_constants: FxHashSet::default(),
            read_only: FxHashSet::default(),
            functions: FxHashMap::default(),
            signatures: Vec::new(),
            body: BodyContext::default(),
            barriers: Vec::new(),
            inputs,
            input_names: Vec::new(),
            ranged_inputs: Vec::new(),
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
        self.exhausted |= self.diagnostics.len() >= MAX_PROBLEMS;
    }

    pub fn intern(&mut self, name: &str) -> TextId {
        self.program.texts.intern(name)
    }

    fn collect(&mut self, program: &'a ast::Program) {
        for item in &program.items {
            match item {
                ast::Item::Class(class) => self.declare_class(class),
                ast::Item::Enum(of) => self.declare_enum(of),
                _ => {}
            }
        }
        // Constants first: array sizes of fields and globals may use them.
        self.declare_constants(program);
        self.name_enumerators();
        self.lay_out_classes();
        for item in &program.items {
            match item {
                ast::Item::Function(function) => {
                    self.declare_function(function, None);
                }
                ast::Item::Extern(external) => self.declare_external(external),
                ast::Item::Class(class) => self.declare_methods(class),
                ast::Item::Input(_) | ast::Item::Enum(_) | ast::Item::Statement(_) | ast::Item::Error(_) => {}
            }
        }
    }

    pub fn declare_global_name(&mut self, name: TextId, meaning: Meaning, span: Span) {
        if let Some((_, earlier)) = self.globals.insert(name, (meaning, span)) {
            self.report_duplicate(name, span, earlier);
        }
    }

    pub fn report_duplicate(&mut self, name: TextId, span: Span, earlier: Span) {
        let message = format!("`{}` is declared twice", self.program.texts.get(name));
        self.report(
            Diagnostic::error(Code::DuplicateName, span, message, "declared again here")
                .with_label(earlier, "first declared here")
                .with_help("rename one of them"),
        );
    }

    pub fn declare_function(&mut self, function: &'a ast::Function, class: Option<(ClassId, bool)>) -> FunctionId {
        let short = self.intern(&function.name.name);
        let result = self.resolve_result(&function.result);
        self.note_enumeration(&function.result, [&function.name]);
        let name = match class {
            Some((class, _)) => {
                let qualified =
                    format!("{}.{}", self.program.texts.get(self.program.classes[class].name), function.name.name);
                self.intern(&qualified)
            }
            None => short,
        };
        let parameter_types = function.parameters.iter().map(|parameter| self.parameter_type(parameter)).collect();
        let end = Span { start: function.span.end.saturating_sub(1), ..function.span };
        let id = self.program.functions.push(Function {
            name,
            span: function.name.span,
            method_of: class,
            parameters: Vec::new(),
            result,
            external: None,
            body: Vec::new(),
            end,
        });
        self.signatures.push(Signature { ast: Some(function), parameter_types, constructs: None });
        if class.is_none() {
            self.declare_function_name(short, id);
        }
        id
    }

    fn declare_function_name(&mut self, name: TextId, id: FunctionId) {
        if let Some(earlier) = self.functions.insert(name, id) {
            let (span, earlier) = (self.program.functions[id].span, self.program.functions[earlier].span);
            self.report_duplicate(name, span, earlier);
        }
    }

    fn declare_external(&mut self, external: &'a ast::Extern) {
        let name = self.intern(&external.name.name);
        let result = self.resolve_result(&external.result);
        let mut range = (0, 0);
        if let Some((low, high)) = &external.range {
            let low = self.constant(low, Scalar::Int).and_then(Constant::integer);
            let high = self.constant(high, Scalar::Int).and_then(Constant::integer);
            if let (Some(low), Some(high)) = (low, high) {
                range = (low as i32, high as i32);
            }
            if range.0 > range.1 {
                self.report(
                    Diagnostic::error(
                        Code::BadSize,
                        external.span,
                        "the range holds no value",
                        "low end above high end",
                    )
                    .with_help("write the smaller number first"),
                );
            }
            if matches!(result, None | Some(Scalar::String | Scalar::Thread)) {
                self.report(Diagnostic::error(
                    Code::WrongType,
                    external.result.span,
                    "only a number or a bool can come from a range",
                    "this type has no range",
                ));
            }
        }
        let parameter_types = external.parameters.iter().map(|parameter| self.parameter_type(parameter)).collect();
        let id = self.program.functions.push(Function {
            name,
            span: external.name.span,
            method_of: None,
            parameters: Vec::new(),
            result,
            external: Some(range),
            body: Vec::new(),
            end: external.span,
        });
        self.signatures.push(Signature { ast: None, parameter_types, constructs: None });
        self.declare_function_name(name, id);
    }

    fn check_bodies(&mut self, program: &'a ast::Program) {
        let statements: Vec<&'a ast::Stmt> = program
            .items
            .iter()
            .filter_map(|item| if let ast::Item::Statement(statement) = item { Some(statement) } else { None })
            .collect();
        let main_name = self.intern("main");
        let main = self.functions.get(&main_name).copied();
        let first_statement = statements
            .iter()
            .find(|statement| !matches!(statement.kind, ast::StmtKind::Declare(_) | ast::StmtKind::Error));
        if let (Some(main), Some(statement)) = (main, first_statement) {
            let span = self.program.functions[main].span;
            self.report(
                Diagnostic::error(
                    Code::MainConflict,
                    statement.span,
                    "statements at top level beside a function `main`",
                    "this statement would be the body of main",
                )
                .with_label(span, "`main` is declared here")
                .with_help("move the statement into `main`, or drop the function"),
            );
        }
        // Globals are known to every function, also those declared further down.
        for statement in &statements {
            if let ast::StmtKind::Declare(declaration) = &statement.kind
                && !self.exhausted
            {
                self.declare_globals(declaration);
            }
        }
        for index in 0..self.signatures.len() {
            self.check_function(FunctionId::new(index));
        }
        self.check_main(main, first_statement.is_some(), &statements);
    }

    /// Checks the statements at top level, as the body of `main` or as what runs before it.
    fn check_main(&mut self, main: Option<FunctionId>, has_statements: bool, statements: &[&'a ast::Stmt]) {
        self.body = BodyContext { function: main, ..BodyContext::default() };
        let mut body: Vec<Statement> = Vec::new();
        for statement in statements {
            self.check_statement_into(statement, &mut body);
        }
        // Objects of a library are constructed where a `main` is put behind it.
        let is_declared =
            |statement: &Statement| matches!(statement.kind, StatementKind::Skip | StatementKind::Construct { .. });
        let threaded = !body.iter().all(is_declared);
        body.splice(0..0, self.ranged_inputs.iter().map(|(_, statement)| statement.clone()));
        match main {
            Some(main) => {
                if !self.signatures[main.index()].parameter_types.is_empty()
                    || self.program.functions[main].result.is_some()
                {
                    let span = self.program.functions[main].span;
                    self.report(
                        Diagnostic::error(
                            Code::WrongType,
                            span,
                            "`main` takes no arguments and returns nothing",
                            "not `void main()`",
                        )
                        .with_help("write `void main() { … }`; declare a value from outside as an `input`"),
                    );
                }
                body.append(&mut self.program.functions[main].body);
                self.program.functions[main].body = body;
                self.program.main = Some(main);
            }
            None if has_statements || threaded || !statements.is_empty() => {
                let span = statements.first().map(|statement| statement.span).unwrap_or_default();
                let end = statements.last().map(|statement| statement.span).unwrap_or_default();
                if !has_statements && !threaded {
                    // A file of declarations alone is a library under test: it has nothing to run.
                    body.clear();
                }
                let name = self.intern("main");
                self.program.main = Some(self.program.functions.push(Function {
                    name,
                    span: Span { end: span.start, ..span },
                    method_of: None,
                    parameters: Vec::new(),
                    result: None,
                    external: None,
                    body,
                    end: Span { start: end.end.saturating_sub(1), ..end },
                }));
                if !has_statements && !threaded {
                    self.program.main = None;
                }
            }
            None => {}
        }
    }

    fn check_function(&mut self, id: FunctionId) {
        let Signature { ast, constructs, .. } = self.signatures[id.index()];
        let mut body = Vec::new();
        if let Some(class) = constructs {
            self.body = BodyContext { class: Some(class), function: Some(id), ..BodyContext::default() };
            self.body.open();
            self.construct_fields(class, &mut body);
            self.body.close();
        }
        let Some(function) = ast else {
            self.program.functions[id].body = body;
            return;
        };
        let class = self.program.functions[id].method_of.map(|(class, _)| class);
        self.body = BodyContext { class, function: Some(id), ..BodyContext::default() };
        self.body.open();
        let types = self.signatures[id.index()].parameter_types.clone();
        for (parameter, ty) in function.parameters.iter().zip(types) {
            let name = self.intern(&parameter.name.name);
            self.note_enumeration(&parameter.ty, [&parameter.name]);
            let kind = match ty {
                Type::Scalar(_) | Type::Error => VariableKind::Parameter,
                _ => VariableKind::ReferenceParameter,
            };
            let variable = self.program.variables.push(Variable {
                name,
                span: parameter.name.span,
                ty,
                kind,
                initial: self.initial_zeros(ty),
                captured: false,
                atomic: false,
            });
            self.declare_local(name, variable);
            self.program.functions[id].parameters.push(variable);
        }
        for statement in &function.body.statements {
            self.check_statement_into(statement, &mut body);
        }
        self.body.close();
        if let Some(result) = self.program.functions[id].result
            && can_complete(&body)
        {
            let span = self.program.functions[id].span;
            let message = format!("`{}` can end without a result", function.name.name);
            let label = format!("must return a value of type {}", result.name());
            self.report(
                Diagnostic::error(Code::MissingReturn, span, message, label)
                    .with_help("end every path with `return value;`"),
            );
        }
        self.program.functions[id].body = body;
    }

    /// Declares a local in the innermost block, and reports one of the same name there.
    pub fn declare_local(&mut self, name: TextId, variable: VariableId) {
        if let Some(earlier) = self.body.declare(name, variable) {
            let (span, earlier) = (self.program.variables[variable].span, self.program.variables[earlier].span);
            self.report_duplicate(name, span, earlier);
        }
    }

    fn resolve_result(&mut self, ty: &ast::TypeName) -> Option<Scalar> {
        if ty.kind == ast::TypeKind::Void {
            return None;
        }
        match self.resolve_type(ty, None) {
            Type::Scalar(scalar) => Some(scalar),
            Type::Error => Some(Scalar::Error),
            _ => {
                self.report(
                    Diagnostic::error(
                        Code::UnsupportedType,
                        ty.span,
                        "a function cannot return an object",
                        "not a data type",
                    )
                    .with_help("return a value, or take the object as a parameter: objects are passed by reference"),
                );
                Some(Scalar::Error)
            }
        }
    }
}
