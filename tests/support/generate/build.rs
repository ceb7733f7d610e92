//! Short names for making syntax trees. Spans are empty: positions come from parsing the printed text.

use cssame::front::csm::syntax::ast::{
    Arm, BinaryOp, Block, Declaration, Declarator, Expr, ExprKind, Function, Ident, Initialiser, Item, Parameter, Stmt,
    StmtKind, TypeKind, TypeName, UnaryOp,
};
use cssame::source::Span;

pub fn ident(name: &str) -> Ident {
    Ident { name: name.to_owned(), span: Span::default() }
}

pub fn ty(kind: TypeKind) -> TypeName {
    TypeName { kind, span: Span::default() }
}

fn expr(kind: ExprKind, children: &[&Expr]) -> Expr {
    let depth = 1 + children.iter().map(|child| child.depth).max().unwrap_or(0);
    Expr { kind, span: Span::default(), depth }
}

pub fn name(name: &str) -> Expr {
    expr(ExprKind::Name(name.to_owned()), &[])
}

pub fn int(value: i64) -> Expr {
    let literal = expr(ExprKind::Int { value: value.abs(), long: false }, &[]);
    if value < 0 { unary(UnaryOp::Negate, literal) } else { literal }
}

pub fn boolean(value: bool) -> Expr {
    expr(ExprKind::Bool(value), &[])
}

pub fn text(value: &str) -> Expr {
    expr(ExprKind::String(value.to_owned()), &[])
}

pub fn double(value: f64) -> Expr {
    expr(ExprKind::Double(value), &[])
}

pub fn this() -> Expr {
    expr(ExprKind::This, &[])
}

pub fn field(object: Expr, field: &str) -> Expr {
    let depth = object.depth + 1;
    Expr { kind: ExprKind::Field { object: Box::new(object), field: ident(field) }, span: Span::default(), depth }
}

pub fn element(array: Expr, index: Expr) -> Expr {
    let depth = array.depth.max(index.depth) + 1;
    let kind = ExprKind::Index { array: Box::new(array), index: Box::new(index) };
    Expr { kind, span: Span::default(), depth }
}

pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
    let depth = operand.depth + 1;
    Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span: Span::default(), depth }
}

pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let depth = left.depth.max(right.depth) + 1;
    let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
    Expr { kind, span: Span::default(), depth }
}

pub fn conditional(condition: Expr, then_value: Expr, else_value: Expr) -> Expr {
    let depth = condition.depth.max(then_value.depth).max(else_value.depth) + 1;
    let kind = ExprKind::Conditional {
        condition: Box::new(condition),
        then_value: Box::new(then_value),
        else_value: Box::new(else_value),
    };
    Expr { kind, span: Span::default(), depth }
}

pub fn cast(to: TypeKind, operand: Expr) -> Expr {
    let depth = operand.depth + 1;
    Expr { kind: ExprKind::Cast { ty: ty(to), operand: Box::new(operand) }, span: Span::default(), depth }
}

pub fn call(callee: &str, arguments: Vec<Expr>) -> Expr {
    method(None, callee, arguments)
}

pub fn method(receiver: Option<Expr>, callee: &str, arguments: Vec<Expr>) -> Expr {
    let depth = 1 + receiver.iter().chain(&arguments).map(|child| child.depth).max().unwrap_or(0);
    let kind = ExprKind::Call { receiver: receiver.map(Box::new), callee: ident(callee), arguments };
    Expr { kind, span: Span::default(), depth }
}

pub fn spawn(call: Expr) -> Expr {
    let depth = call.depth + 1;
    Expr { kind: ExprKind::Spawn(Box::new(call)), span: Span::default(), depth }
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default() }
}

/// The statement `callee(arguments);`.
pub fn run(callee: &str, arguments: Vec<Expr>) -> Stmt {
    stmt(StmtKind::Call(call(callee, arguments)))
}

pub fn assign(target: Expr, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { target, op: None, value })
}

pub fn assign_op(target: Expr, op: BinaryOp, value: Expr) -> Stmt {
    stmt(StmtKind::Assign { target, op: Some(op), value })
}

pub fn block(statements: Vec<Stmt>) -> Block {
    Block { statements, span: Span::default() }
}

pub fn braces(statements: Vec<Stmt>) -> Box<Stmt> {
    Box::new(stmt(StmtKind::Block(block(statements))))
}

pub fn if_else(condition: Expr, yes: Vec<Stmt>, no: Option<Vec<Stmt>>) -> Stmt {
    let (then_branch, else_branch) = (braces(yes), no.map(braces));
    stmt(StmtKind::If { condition, then_branch, else_branch })
}

pub fn declaration(kind: TypeKind, declared: &str, size: Option<Expr>, initial: Option<Initialiser>) -> Declaration {
    let declarator = Declarator { name: ident(declared), sizes: size.into_iter().collect(), initialiser: initial };
    Declaration { atomic: false, constant: false, ty: ty(kind), declarators: vec![declarator], span: Span::default() }
}

/// The statement `int name = value;`.
pub fn local(kind: TypeKind, declared: &str, value: Expr) -> Stmt {
    stmt(StmtKind::Declare(declaration(kind, declared, None, Some(Initialiser::Value(value)))))
}

/// A global without a size.
pub fn global(kind: TypeKind, declared: &str, initial: Option<Initialiser>) -> Item {
    Item::Statement(stmt(StmtKind::Declare(declaration(kind, declared, None, initial))))
}

pub fn cobegin(arms: Vec<(String, Vec<Stmt>)>) -> Stmt {
    let arm =
        |(label, statements): (String, Vec<Stmt>)| Arm { label: ident(&label), statements, span: Span::default() };
    stmt(StmtKind::Cobegin(arms.into_iter().map(arm).collect()))
}

/// `int name = 0` and `name < bound` and `name++`.
pub fn counting(variable: &str, bound: Expr) -> (Box<Stmt>, Expr, Box<Stmt>) {
    let first = Box::new(local(TypeKind::Int, variable, int(0)));
    let condition = binary(BinaryOp::Less, name(variable), bound);
    let step = Box::new(stmt(StmtKind::Step { target: name(variable), increment: true }));
    (first, condition, step)
}

pub fn function(result: TypeKind, called: &str, parameters: Vec<(TypeKind, &str)>, body: Vec<Stmt>) -> Function {
    let parameter =
        |(kind, declared): (TypeKind, &str)| Parameter { ty: ty(kind), name: ident(declared), sizes: Vec::new() };
    Function {
        result: ty(result),
        name: ident(called),
        parameters: parameters.into_iter().map(parameter).collect(),
        body: block(body),
        span: Span::default(),
    }
}
