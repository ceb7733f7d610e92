//! The walk over what a program can execute.
//!
//! It begins with `main`, or without one with everything that others can call, and follows the names of functions and objects; what
//! nothing names is not looked at. A list of what is to be looked at stands for recursion, so that no tree is too deep.

use super::library::{Known, known};
use super::reason::Reason;
use super::{Obstacle, formats, initialiser, lengths, library, pointers};
use crate::tree::{
    AddressBase, Assembly, Builtin, Category, Constant, DeclId, DeclKind, Definition, ExprId, ExprKind, Linkage, Place,
    StmtId, StmtKind, Storage, TypeId, TypeKind, Unit,
};

/// What is still to be looked at.
enum Task {
    Expr(ExprId),
    Stmt(StmtId),
}

pub struct Walk<'a> {
    unit: &'a Unit,
    reached: Vec<bool>,
    tasks: Vec<Task>,
    pub found: Vec<Obstacle>,
}

impl<'a> Walk<'a> {
    pub fn new(unit: &'a Unit) -> Self {
        Walk { unit, reached: vec![false; unit.declarations.len()], tasks: Vec::new(), found: Vec::new() }
    }

    /// Looks at everything that can be executed.
    pub fn run(&mut self) {
        let unit = self.unit;
        let has_body = |id: &&DeclId| unit.declarations[**id].body.is_some();
        let main = unit.globals.iter().filter(has_body).find(|id| {
            let decl = &unit.declarations[**id];
            decl.name.as_deref() == Some("main") && decl.linkage == Linkage::External
        });
        match main {
            Some(&main) => self.reach(main),
            None => {
                let is_offered = |id: &&DeclId| unit.declarations[**id].linkage == Linkage::External;
                unit.globals.iter().filter(has_body).filter(is_offered).for_each(|&id| self.reach(id));
            }
        }
        for &id in &unit.globals {
            let decl = &unit.declarations[id];
            if decl.flags.startup {
                self.add(Reason::Startup, decl.place);
            }
        }
        self.found.extend(unit.assembly.iter().map(|&place| Obstacle { reason: Reason::InlineAssembly, place }));
        let omp = unit.pragmas.iter().filter(|(word, _)| &**word == "omp");
        self.found.extend(omp.map(|&(_, place)| Obstacle { reason: Reason::OpenMp, place }));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Expr(id) => self.expression(id),
                Task::Stmt(id) => self.statement(id),
            }
        }
    }

    fn add(&mut self, reason: Reason, place: Place) {
        self.found.push(Obstacle { reason, place });
    }

    fn exprs(&mut self, ids: impl IntoIterator<Item = ExprId>) {
        self.tasks.extend(ids.into_iter().map(Task::Expr));
    }

    /// A declaration that is named, or stands in a block.
    fn reach(&mut self, id: DeclId) {
        if std::mem::replace(&mut self.reached[id.index()], true) {
            return;
        }
        let decl = &self.unit.declarations[id];
        if decl.flags.alias {
            self.add(Reason::Alias, decl.place);
        }
        match decl.kind {
            DeclKind::Function => self.reach_function(id),
            DeclKind::Object => {
                let values = decl.initial.iter().flatten().map(|value| value.value);
                self.exprs(values);
                self.object_type(decl.ty, decl.place);
                if let Some(cleanup) = decl.cleanup {
                    self.reach(cleanup);
                }
            }
            DeclKind::Type => {}
        }
    }

    fn reach_function(&mut self, id: DeclId) {
        let decl = &self.unit.declarations[id];
        let Some(body) = decl.body else { return };
        if decl.name.as_deref().is_some_and(library::is_meant_despite_body) {
            return;
        }
        self.tasks.push(Task::Stmt(body));
        let Some(function) = self.unit.function_type(decl.ty) else { return };
        if function.variadic {
            self.add(Reason::VariadicFunction, decl.place);
        }
        for &parameter in &decl.parameters {
            let parameter = &self.unit.declarations[parameter];
            self.object_type(parameter.ty, parameter.place);
        }
    }

    /// The type of an object; a record only by what is used of it.
    fn object_type(&mut self, ty: TypeId, place: Place) {
        let mut at = ty;
        while let TypeKind::Array { element, .. } = self.unit.types[at].kind {
            at = element;
        }
        match self.unit.types[at].kind {
            TypeKind::Floating(bits) if bits != 64 => self.add(Reason::FloatingPoint, place),
            TypeKind::Other(name) => self.add(Reason::Type(name), place),
            TypeKind::Integer(integer) if integer.bits > 64 => self.add(Reason::Type("__int128"), place),
            _ => {}
        }
    }

    fn statement(&mut self, id: StmtId) {
        let unit = self.unit;
        let stmt = &unit.statements[id];
        let (exprs, bodies): (Vec<ExprId>, Vec<StmtId>) = match &stmt.kind {
            StmtKind::Error | StmtKind::Empty | StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue => return,
            StmtKind::Expression(value) => (vec![*value], vec![]),
            StmtKind::Block(list) => (vec![], list.to_vec()),
            StmtKind::Declarations(list) => return list.iter().for_each(|&decl| self.reach_local(decl)),
            StmtKind::If { condition, then, otherwise } => {
                (vec![*condition], [Some(*then), *otherwise].into_iter().flatten().collect())
            }
            StmtKind::While { condition, body } | StmtKind::DoWhile { condition, body } => {
                (vec![*condition], vec![*body])
            }
            StmtKind::For { initial, condition, step, body } => {
                (condition.iter().chain(step).copied().collect(), initial.iter().chain([body]).copied().collect())
            }
            StmtKind::Switch { value, body, .. } => (vec![*value], vec![*body]),
            StmtKind::Case { body } | StmtKind::Default { body } | StmtKind::Label { body, .. } => {
                (vec![], vec![*body])
            }
            StmtKind::ComputedGoto(target) => {
                self.add(Reason::ComputedGoto, stmt.place);
                (vec![*target], vec![])
            }
            StmtKind::Assembly(assembly) => {
                if !changes_no_value(assembly) {
                    self.add(Reason::InlineAssembly, stmt.place);
                }
                return;
            }
            StmtKind::Return(value) => (value.iter().copied().collect(), vec![]),
        };
        self.exprs(exprs);
        self.tasks.extend(bodies.into_iter().map(Task::Stmt));
    }

    /// A declaration in a block: it is an object, or says that something is declared elsewhere.
    fn reach_local(&mut self, id: DeclId) {
        let decl = &self.unit.declarations[id];
        if decl.kind == DeclKind::Type {
            self.exprs(lengths(self.unit, decl.ty));
        } else if decl.storage == Storage::Automatic && decl.kind == DeclKind::Object {
            self.exprs(lengths(self.unit, decl.ty));
            self.reach(id);
        }
    }

    fn expression(&mut self, id: ExprId) {
        let unit = self.unit;
        let node = &unit.expressions[id];
        if let ExprKind::Assign { operator: None, target, value, .. } = node.kind
            && let Some(literal) = initialiser(unit, value)
            && pointers::is_initialised_by_call(unit, node.ty)
        {
            self.reach(literal);
            return self.exprs([target]);
        }
        if let ExprKind::Convert { operand, .. } = node.kind
            && matches!(unit.types[node.ty].kind, TypeKind::Record(_))
            && node.category == Category::Value
            && unit.type_of(operand).qualifiers.atomic
        {
            self.add(Reason::AtomicStructure, node.place);
        }
        match &node.kind {
            ExprKind::Constant(constant) => self.constant(*constant, node.place),
            ExprKind::Name(decl) => self.name(*decl, node.place),
            ExprKind::Member { base, field } => self.member(*base, *field, node.place),
            ExprKind::Call { callee, arguments } => self.call(*callee, arguments, node.place),
            ExprKind::CompoundLiteral(decl) => self.reach(*decl),
            ExprKind::StatementExpression(body) => self.tasks.push(Task::Stmt(*body)),
            ExprKind::LabelAddress(_) => self.add(Reason::ComputedGoto, node.place),
            ExprKind::Builtin { builtin, operands } => self.builtin(*builtin, operands, node.place),
            ExprKind::Error | ExprKind::String(_) => {}
            ExprKind::Subscript { base, index } => self.exprs([*base, *index]),
            ExprKind::Cast(operand) | ExprKind::Unary { operand, .. } | ExprKind::Convert { operand, .. } => {
                self.exprs([*operand]);
            }
            ExprKind::Binary { left, right, .. } => self.exprs([*left, *right]),
            ExprKind::Assign { target, value, .. } => self.exprs([*target, *value]),
            ExprKind::Conditional { condition, then, otherwise } => self.exprs([*condition, *then, *otherwise]),
            ExprKind::Comma { first, second } => self.exprs([*first, *second]),
            ExprKind::Atomic { operands, .. } => self.exprs(operands.iter().copied()),
        }
    }

    fn constant(&mut self, constant: Constant, place: Place) {
        match constant {
            Constant::Address { base: AddressBase::Declaration(decl), .. } => self.name(decl, place),
            Constant::Other => self.add(Reason::Type("complex number"), place),
            _ => {}
        }
    }

    /// A name that is not called.
    fn name(&mut self, id: DeclId, place: Place) {
        let decl = &self.unit.declarations[id];
        if decl.kind == DeclKind::Function {
            let name = decl.name.clone().unwrap_or_default();
            if decl.body.is_none() {
                let is_known = known(&name).is_some();
                self.add(if is_known { Reason::FunctionPointer } else { Reason::UnknownFunction(name) }, place);
            }
        } else if decl.definition == Definition::Declared
            && decl.linkage == Linkage::External
            && let Some(name) = &decl.name
            && !library::is_known_object(name)
        {
            self.add(Reason::UnknownObject(name.clone()), place);
        }
        self.reach(id);
    }

    fn member(&mut self, base: ExprId, field: u32, place: Place) {
        if let TypeKind::Record(record) = self.unit.type_of(base).kind {
            let (id, record) = (record, &self.unit.records[record]);
            if record.union && super::unions::representative(self.unit, id).is_none() {
                self.add(Reason::Union, place);
            }
            if let Some(field) = record.fields.get(field as usize) {
                if field.bits.is_some() {
                    self.add(Reason::BitField, place);
                }
                self.object_type(field.ty, place);
            }
        }
        self.exprs([base]);
    }

    fn call(&mut self, callee: ExprId, arguments: &[ExprId], place: Place) {
        let Some(id) = self.unit.called(callee) else {
            self.exprs([callee]);
            return self.exprs(arguments.iter().copied());
        };
        let decl = &self.unit.declarations[id];
        if decl.kind != DeclKind::Function {
            self.add(Reason::FunctionPointer, place);
        }
        let name = decl.name.as_deref().unwrap_or_default();
        let meaning = known(name).filter(|_| decl.body.is_none() || library::is_meant_despite_body(name));
        match meaning {
            Some(Known::Later(later)) => self.add(later.reason(), place),
            Some(Known::Prints(index)) => {
                if index == 1 && !arguments.first().is_some_and(|&stream| formats::is_standard(self.unit, stream)) {
                    self.add(Reason::OutputFile(name.into()), place);
                }
                if let Some(reason) = formats::format(self.unit, arguments, index) {
                    self.add(reason, place);
                }
            }
            Some(Known::TakesFunction) => return self.routines(name, arguments),
            Some(_) => {}
            None if decl.body.is_none() && decl.kind == DeclKind::Function => {
                self.add(Reason::UnknownFunction(name.into()), place);
            }
            None => {}
        }
        self.reach(id);
        self.exprs(arguments.iter().copied());
    }

    /// The arguments of a function that takes functions by name.
    fn routines(&mut self, name: &str, arguments: &[ExprId]) {
        for &argument in arguments {
            match self.unit.called(pointers::without_conversions(self.unit, argument)) {
                Some(routine) if self.unit.declarations[routine].kind == DeclKind::Function => {
                    let decl = &self.unit.declarations[routine];
                    if decl.body.is_none() {
                        let name = decl.name.clone().unwrap_or_default();
                        self.add(Reason::UnknownFunction(name), self.unit.expressions[argument].place);
                    }
                    self.reach(routine);
                }
                _ => {
                    let is_function = self.unit.function_type(self.unit.expressions[argument].ty).is_some();
                    let is_start = matches!(name, "pthread_create" | "thrd_create");
                    if is_function && !is_start && !pointers::is_null(self.unit, argument) {
                        self.add(Reason::FunctionPointer, self.unit.expressions[argument].place);
                    }
                    self.exprs([argument]);
                }
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, operands: &[ExprId], place: Place) {
        match builtin {
            Builtin::Alloca => self.add(Reason::StackAllocation, place),
            Builtin::VariadicStart | Builtin::VariadicNext | Builtin::VariadicEnd | Builtin::VariadicCopy => {
                self.add(Reason::VariadicFunction, place);
            }
            Builtin::Other(name) => self.add(Reason::Builtin(name), place),
            Builtin::Expect
            | Builtin::Unreachable
            | Builtin::Trap
            | Builtin::Prefetch
            | Builtin::ConstantProbe
            | Builtin::AbsoluteValue
            | Builtin::ByteSwap
            | Builtin::BitCount(_)
            | Builtin::Overflow { .. } => {}
        }
        self.exprs(operands.iter().copied());
    }
}

/// Whether assembly only orders what stands around it, or lets the processor rest.
fn changes_no_value(assembly: &Assembly) -> bool {
    let words: Vec<&str> = assembly.template.split([' ', '\t', '\n', ';']).filter(|word| !word.is_empty()).collect();
    let is_known =
        words.iter().all(|word| matches!(*word, "mfence" | "sync" | "lwsync" | "pause" | "rep" | "nop" | "yield"));
    is_known && assembly.outputs.is_empty() && assembly.inputs.is_empty() && assembly.labels.is_empty()
}
