//! The tree as text, for people and tests: one line a declaration and statement, expressions with brackets and types.

use super::declaration::{Decl, DeclKind, Linkage, Storage};
use super::expression::{AddressBase, Builtin, Constant, ExprKind};
use super::ids::{DeclId, ExprId, StmtId};
use super::statement::StmtKind;
use super::unit::Unit;
use std::fmt::Write;

/// The declarations of a unit that lie in one of the files, with what they begin with and their bodies.
#[must_use]
pub fn print(unit: &Unit, of: &dyn Fn(&Decl) -> bool) -> String {
    let mut printer = Printer { unit, text: String::new() };
    for &global in unit.globals.iter().filter(|&&global| of(&unit.declarations[global])) {
        printer.declaration(global, 0);
    }
    printer.text
}

struct Printer<'a> {
    unit: &'a Unit,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", depth * 2);
    }

    fn name(&self, decl: DeclId) -> String {
        let name = self.unit.declarations[decl].name.as_deref();
        name.map_or_else(|| format!("#{}", decl.0), str::to_owned)
    }

    fn declaration(&mut self, id: DeclId, depth: usize) {
        let unit = self.unit;
        let decl = &unit.declarations[id];
        let mut line = match (decl.linkage, decl.storage) {
            (_, Storage::Thread) => "thread ".to_owned(),
            (Linkage::Internal, _) | (Linkage::None, Storage::Static) => "static ".to_owned(),
            _ => String::new(),
        };
        if decl.kind == DeclKind::Type {
            line.push_str("typedef ");
        }
        let _ = write!(line, "{}: {}", self.name(id), unit.types[decl.ty].name);
        if let Some(cleanup) = decl.cleanup {
            let _ = write!(line, " cleanup {}", self.name(cleanup));
        }
        if let Some(values) = &decl.initial {
            let values = values.iter().map(|value| {
                let bits = value.bits.map_or_else(String::new, |bits| format!(".{}:{}", bits.first, bits.width));
                format!("{}{bits} {}", value.offset, self.expression(value.value))
            });
            let _ = write!(line, " = {{{}}}", values.collect::<Vec<_>>().join(", "));
        }
        self.line(depth, &line);
        if let Some(body) = decl.body {
            self.statement(body, depth + 1);
        }
    }

    fn statement(&mut self, id: StmtId, depth: usize) {
        let unit = self.unit;
        let expression = |id: ExprId| self.expression(id);
        let (line, bodies): (String, Vec<StmtId>) = match &unit.statements[id].kind {
            StmtKind::Error => ("error".into(), vec![]),
            StmtKind::Empty => (";".into(), vec![]),
            StmtKind::Expression(value) => (expression(*value), vec![]),
            StmtKind::Block(list) => {
                list.iter().for_each(|&one| self.statement(one, depth));
                return;
            }
            StmtKind::Declarations(list) => {
                list.iter().for_each(|&one| self.declaration(one, depth));
                return;
            }
            StmtKind::If { condition, then, otherwise } => {
                (format!("if {}", expression(*condition)), [Some(*then), *otherwise].into_iter().flatten().collect())
            }
            StmtKind::While { condition, body } => (format!("while {}", expression(*condition)), vec![*body]),
            StmtKind::DoWhile { body, condition } => (format!("do while {}", expression(*condition)), vec![*body]),
            StmtKind::For { initial, condition, step, body } => {
                let part = |one: &Option<ExprId>| one.map_or_else(String::new, expression);
                let line = format!("for {}; {}", part(condition), part(step));
                (line, initial.iter().copied().chain([*body]).collect())
            }
            StmtKind::Switch { value, body, cases, default } => {
                let cases: Vec<String> = cases.iter().map(|case| format!("{}..{}", case.low, case.high)).collect();
                let default = if default.is_some() { " default" } else { "" };
                (format!("switch {} {}{default}", expression(*value), cases.join(" ")), vec![*body])
            }
            StmtKind::Case { body } => ("case".into(), vec![*body]),
            StmtKind::Default { body } => ("default".into(), vec![*body]),
            StmtKind::Label { label, body } => (format!("{}:", unit.labels[*label].name), vec![*body]),
            StmtKind::Goto(label) => (format!("goto {}", unit.labels[*label].name), vec![]),
            StmtKind::ComputedGoto(target) => (format!("goto *{}", expression(*target)), vec![]),
            StmtKind::Assembly(assembly) => (format!("asm {:?}", assembly.template), vec![]),
            StmtKind::Break => ("break".into(), vec![]),
            StmtKind::Continue => ("continue".into(), vec![]),
            StmtKind::Return(value) => (value.map_or("return".into(), |v| format!("return {}", expression(v))), vec![]),
        };
        self.line(depth, &line);
        bodies.into_iter().for_each(|body| self.statement(body, depth + 1));
    }

    fn list(&self, list: &[ExprId]) -> String {
        list.iter().map(|&one| self.expression(one)).collect::<Vec<_>>().join(", ")
    }

    fn expression(&self, id: ExprId) -> String {
        let unit = self.unit;
        let node = &unit.expressions[id];
        let ty = &unit.types[node.ty].name;
        let of = |id: ExprId| self.expression(id);
        if let Some(constant) = unit.constants.get(&id) {
            return format!("{}:{ty}", self.constant(*constant));
        }
        match &node.kind {
            ExprKind::Error => "error".into(),
            ExprKind::Constant(constant) => format!("{}:{ty}", self.constant(*constant)),
            ExprKind::String(string) => format!("{:?}", String::from_utf8_lossy(&unit.strings[*string].bytes)),
            ExprKind::Name(decl) => self.name(*decl),
            ExprKind::Member { base, field } => format!("{}.{field}", of(*base)),
            ExprKind::Subscript { base, index } => format!("{}[{}]", of(*base), of(*index)),
            ExprKind::Call { callee, arguments } => format!("{}({})", of(*callee), self.list(arguments)),
            ExprKind::Unary { operator, operand } => format!("{operator:?}({})", of(*operand)),
            ExprKind::Binary { operator, left, right } => format!("{operator:?}({}, {}):{ty}", of(*left), of(*right)),
            ExprKind::Assign { operator, computation, target, value } => {
                let operator = operator
                    .map_or_else(String::new, |operator| format!("{operator:?}:{} ", unit.types[*computation].name));
                format!("({} = {operator}{})", of(*target), of(*value))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                format!("({} ? {} : {})", of(*condition), of(*then), of(*otherwise))
            }
            ExprKind::Comma { first, second } => format!("({}, {})", of(*first), of(*second)),
            ExprKind::Cast(operand) => format!("({ty}){}", of(*operand)),
            ExprKind::Convert { conversion, operand } => format!("{conversion:?}<{ty}>({})", of(*operand)),
            ExprKind::CompoundLiteral(decl) => format!("literal {}", self.name(*decl)),
            ExprKind::StatementExpression(_) => "({...})".into(),
            ExprKind::LabelAddress(label) => format!("&&{}", unit.labels[*label].name),
            ExprKind::Atomic { operation, order, operands } => {
                format!("{operation:?}.{order:?}({}):{ty}", self.list(operands))
            }
            ExprKind::Builtin { builtin: Builtin::Overflow { operator, exact, .. }, operands } => {
                format!("Overflow {operator:?} in {}({})", unit.types[*exact].name, self.list(operands))
            }
            ExprKind::Builtin { builtin, operands } => format!("{builtin:?}({})", self.list(operands)),
        }
    }

    fn constant(&self, constant: Constant) -> String {
        match constant {
            Constant::Integer(value) => value.to_string(),
            Constant::Floating(value) => format!("{value:?}"),
            Constant::Address { base, offset } => {
                let base = match base {
                    AddressBase::Declaration(decl) => self.name(decl),
                    AddressBase::String(string) => {
                        format!("{:?}", String::from_utf8_lossy(&self.unit.strings[string].bytes))
                    }
                    AddressBase::Label(label) => self.unit.labels[label].name.to_string(),
                    AddressBase::Nothing => "0".into(),
                };
                format!("&{base}+{offset}")
            }
            Constant::Other => "?".into(),
        }
    }
}
