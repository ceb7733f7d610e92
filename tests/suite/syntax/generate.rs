//! Random programs, made as trees: all that the parser can build, with names and types that need not fit.

use cssame::front::csm::syntax::ast::*;
use cssame::source::Span;

/// Makes programs of a seed.
pub struct Generator {
    state: u64,
}

const BINARY: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::BitAnd,
    BinaryOp::BitXor,
    BinaryOp::BitOr,
    BinaryOp::And,
    BinaryOp::Or,
];

const WORDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "?",
    ".",
    "..",
    "=",
    "+=",
    "++",
    "--",
    "+",
    "-",
    "*",
    "/",
    "<",
    "==",
    "&&",
    "||",
    "!",
    "~",
    "int",
    "long",
    "class",
    "public",
    "private",
    "extern",
    "input",
    "const",
    "enum",
    "switch",
    "case",
    "default",
    "fallthrough",
    "case 1:",
    "switch (x) {",
    "cobegin",
    "coend",
    "if",
    "else",
    "while",
    "do",
    "for",
    "return",
    "break",
    "continue",
    "spawn",
    "x",
    "y",
    "lock",
    "T1",
    "1",
    "2.5",
    "\"s\"",
    "this",
    "skip",
    "parfor",
    "atomic",
    "synchronized",
    "in",
    "true",
    "void",
    "x = 1;",
    "{ }",
    "int a;",
    "f(x);",
];

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { state: seed }
    }

    /// A number below `bound`, by the splitmix generator.
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn many<T>(&mut self, bound: usize, mut one: impl FnMut(&mut Generator) -> T) -> Vec<T> {
        let count = self.below(bound + 1);
        (0..count).map(|_| one(self)).collect()
    }

    fn maybe<T>(&mut self, one: impl FnOnce(&mut Generator) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| one(self))
    }

    /// Up to that many tokens, in no sensible order.
    pub fn tokens(&mut self, bound: usize) -> String {
        self.many(bound, |generator| WORDS[generator.below(WORDS.len())]).join(" ")
    }

    pub fn program(&mut self) -> Program {
        let mut items = self.many(5, Generator::item);
        items.push(Item::Statement(self.leaf()));
        Program { items }
    }

    fn item(&mut self) -> Item {
        let span = Span::default();
        match self.below(9) {
            8 => Item::Enum(self.enumeration()),
            0 => Item::Function(self.function()),
            1 => {
                let name = self.ident();
                let members = self.many(4, |generator| {
                    let kind = match generator.below(4) {
                        0 => MemberKind::Field(generator.any_declaration()),
                        1 => MemberKind::Constructor(Function {
                            result: TypeName { kind: TypeKind::Void, span },
                            ..generator.function()
                        }),
                        2 => MemberKind::Enum(generator.enumeration()),
                        _ => MemberKind::Method(generator.function()),
                    };
                    Member { public: generator.below(2) == 0, kind }
                });
                Item::Class(Class { name, members, span })
            }
            2 => {
                let (result, name, parameters) = (self.ty(), self.ident(), self.parameters());
                let range = self.maybe(|generator| (generator.expr(2), generator.expr(2)));
                Item::Extern(Extern { result, name, parameters, range, span })
            }
            3 => {
                let range = self.maybe(|generator| (generator.expr(2), generator.expr(2)));
                Item::Input(Input { ty: self.ty(), name: self.ident(), value: self.expr(3), range, span })
            }
            _ => Item::Statement(self.statement(4)),
        }
    }

    fn function(&mut self) -> Function {
        let (result, name, parameters, body) = (self.ty(), self.ident(), self.parameters(), self.block(3));
        Function { result, name, parameters, body, span: Span::default() }
    }

    fn parameters(&mut self) -> Vec<Parameter> {
        self.many(3, |generator| Parameter {
            ty: generator.ty(),
            name: generator.ident(),
            sizes: generator.many(2, |generator| generator.maybe(|generator| generator.expr(1))),
        })
    }

    fn ident(&mut self) -> Ident {
        let names = ["x", "y", "t", "lock", "sem", "main", "_a1", "Account", "ifs", "e5"];
        Ident { name: names[self.below(names.len())].to_owned(), span: Span::default() }
    }

    fn ty(&mut self) -> TypeName {
        let kinds = [
            TypeKind::Int,
            TypeKind::Long,
            TypeKind::Bool,
            TypeKind::Double,
            TypeKind::String,
            TypeKind::Void,
            TypeKind::Lock,
            TypeKind::Event,
            TypeKind::Barrier,
            TypeKind::Cond,
            TypeKind::Sem,
            TypeKind::Thread,
            TypeKind::Class("Account".to_owned()),
        ];
        TypeName { kind: kinds[self.below(kinds.len())].clone(), span: Span::default() }
    }

    fn declaration(&mut self) -> Declaration {
        let ty = self.ty();
        let mut declarators = self.many(1, Generator::declarator);
        declarators.push(self.declarator());
        Declaration { atomic: false, constant: false, ty, declarators, span: Span::default() }
    }

    /// One that may be `atomic` or `const`, as the head of a loop may not.
    fn any_declaration(&mut self) -> Declaration {
        let word = self.below(6);
        Declaration { atomic: word == 0, constant: word == 1, ..self.declaration() }
    }

    fn enumeration(&mut self) -> Enum {
        let name = self.maybe(Generator::ident);
        let enumerators = self.many(3, |generator| {
            let (name, value) = (generator.ident(), generator.maybe(|generator| generator.expr(2)));
            Enumerator { name, value }
        });
        Enum { name, enumerators, span: Span::default() }
    }

    fn switch(&mut self, depth: usize) -> StmtKind {
        let value = self.expr(3);
        let mut cases = self.many(3, |generator| {
            let mut labels = generator.many(1, Generator::label);
            labels.push(generator.label());
            let statements = generator.block(depth).statements;
            Case { labels, statements, span: Span::default() }
        });
        // A body without statements but the last is shared with the next case.
        let last = cases.len().saturating_sub(1);
        for case in &mut cases[..last] {
            case.statements.push(self.leaf());
        }
        StmtKind::Switch { value, cases }
    }

    fn label(&mut self) -> CaseLabel {
        CaseLabel { value: self.maybe(|generator| generator.expr(2)), span: Span::default() }
    }

    fn rows(&mut self, depth: u32) -> Vec<Row> {
        let mut rows = vec![self.row(depth)];
        rows.extend(self.many(2, |generator| generator.row(depth)));
        rows
    }

    fn row(&mut self, depth: u32) -> Row {
        if depth > 0 && self.below(3) == 0 {
            return Row::Rows(self.rows(depth - 1), Span::default());
        }
        let mut values = vec![self.expr(1)];
        values.extend(self.many(2, |generator| generator.expr(1)));
        Row::Values(values, Span::default())
    }

    fn declarator(&mut self) -> Declarator {
        let name = self.ident();
        let (sizes, initialiser) = match self.below(7) {
            6 => (self.many(2, |generator| generator.expr(2)), {
                let mut arguments = self.many(2, |generator| generator.expr(2));
                arguments.push(self.expr(1));
                Some(Initialiser::Arguments(arguments))
            }),
            0 => (Vec::new(), Some(Initialiser::Arguments(vec![self.expr(2)]))),
            1 => (vec![self.expr(2)], Some(Initialiser::List(self.many(3, |generator| generator.expr(2))))),
            2 => (Vec::new(), Some(Initialiser::Value(self.spawn()))),
            3 => (Vec::new(), Some(Initialiser::Value(self.expr(4)))),
            4 if self.below(2) == 0 => {
                (self.many(2, |generator| generator.expr(1)), Some(Initialiser::Rows(self.rows(2))))
            }
            4 => (self.many(3, |generator| generator.expr(1)), None),
            _ => (Vec::new(), None),
        };
        Declarator { name, sizes, initialiser }
    }

    fn block(&mut self, depth: usize) -> Block {
        let statements = self.many(3, |generator| generator.statement(depth));
        Block { statements, span: Span::default() }
    }

    fn statement(&mut self, depth: usize) -> Stmt {
        if depth == 0 {
            return self.leaf();
        }
        let inner = |generator: &mut Generator| Box::new(generator.statement(depth - 1));
        let kind = match self.below(14) {
            13 => self.switch(depth - 1),
            0 => StmtKind::Block(self.block(depth - 1)),
            1 => StmtKind::If { condition: self.expr(3), then_branch: inner(self), else_branch: None },
            2 => {
                // Not an open `if`: the printer would have to put braces around it.
                let then_branch = StmtKind::Block(self.block(depth - 1));
                let then_branch = Box::new(Stmt { kind: then_branch, span: Span::default() });
                StmtKind::If { condition: self.expr(3), then_branch, else_branch: Some(inner(self)) }
            }
            3 => StmtKind::While { condition: self.expr(3), body: inner(self) },
            4 => StmtKind::DoWhile { body: inner(self), condition: self.expr(3) },
            5 => {
                let initial = self.maybe(|generator| match generator.below(2) {
                    0 => generator.declare(),
                    _ => generator.simple(),
                });
                let (condition, step) = (self.maybe(|generator| generator.expr(3)), self.maybe(Generator::simple));
                StmtKind::For { initial: initial.map(Box::new), condition, step: step.map(Box::new), body: inner(self) }
            }
            6 => StmtKind::Parfor {
                initial: Box::new(self.declare()),
                condition: self.expr(3),
                step: Box::new(self.simple()),
                body: inner(self),
            },
            7 => {
                let mut arms = self.many(2, |generator| generator.arm(depth - 1));
                arms.push(self.arm(depth - 1));
                StmtKind::Cobegin(arms)
            }
            8 => StmtKind::Synchronized { lock: self.expr(2), body: self.block(depth - 1) },
            9 => StmtKind::Atomic(self.block(depth - 1)),
            _ => return self.leaf(),
        };
        Stmt { kind, span: Span::default() }
    }

    fn arm(&mut self, depth: usize) -> Arm {
        let (label, statements) = (self.ident(), self.many(3, |generator| generator.statement(depth)));
        Arm { label, statements, span: Span::default() }
    }

    fn leaf(&mut self) -> Stmt {
        let kind = match self.below(8) {
            0 => StmtKind::Declare(self.any_declaration()),
            1 if self.below(3) == 0 => StmtKind::Fallthrough,
            1 => StmtKind::Break,
            2 => StmtKind::Continue,
            3 => StmtKind::Return(self.maybe(|generator| generator.expr(4))),
            4 => StmtKind::Skip,
            _ => return self.simple(),
        };
        Stmt { kind, span: Span::default() }
    }

    fn declare(&mut self) -> Stmt {
        Stmt { kind: StmtKind::Declare(self.declaration()), span: Span::default() }
    }

    fn simple(&mut self) -> Stmt {
        let ops = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Remainder];
        let kind = match self.below(6) {
            0 => StmtKind::Assign { target: self.path(2), op: None, value: self.spawn() },
            1 => StmtKind::Assign { target: self.path(2), op: Some(ops[self.below(5)]), value: self.expr(4) },
            2 => StmtKind::Step { target: self.path(2), increment: self.below(2) == 0 },
            3 => StmtKind::Call(self.call(2)),
            4 => StmtKind::Call(self.spawn()),
            _ => StmtKind::Assign { target: self.path(2), op: None, value: self.expr(5) },
        };
        Stmt { kind, span: Span::default() }
    }

    fn spawn(&mut self) -> Expr {
        let call = self.call(2);
        let depth = call.depth;
        node(ExprKind::Spawn(Box::new(call)), depth)
    }

    fn call(&mut self, depth: usize) -> Expr {
        let receiver = self.maybe(|generator| Box::new(generator.path(depth.saturating_sub(1))));
        let (callee, arguments) = (self.ident(), self.many(2, |generator| generator.expr(depth.saturating_sub(1))));
        let below = receiver.iter().map(|receiver| receiver.depth).chain(arguments.iter().map(|each| each.depth)).max();
        node(ExprKind::Call { receiver, callee, arguments }, below.unwrap_or(0))
    }

    /// What may begin a statement.
    fn path(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return if self.below(6) == 0 {
                node(ExprKind::This, 0)
            } else {
                node(ExprKind::Name(self.ident().name), 0)
            };
        }
        match self.below(5) {
            0 => {
                let (object, field) = (self.path(depth - 1), self.ident());
                let below = object.depth;
                node(ExprKind::Field { object: Box::new(object), field }, below)
            }
            1 => {
                let (array, index) = (self.path(depth - 1), self.expr(depth - 1));
                let below = array.depth.max(index.depth);
                node(ExprKind::Index { array: Box::new(array), index: Box::new(index) }, below)
            }
            2 => self.call(depth),
            _ => self.path(0),
        }
    }

    fn literal(&mut self) -> Expr {
        let ints = [(0, false), (7, false), (i64::from(i32::MAX), false), (3, true), (1 << 40, true), (i64::MAX, true)];
        let doubles = [0.0, 1.5, 1e300, 1e-7, 0.1, 123_456_789.0];
        let texts = ["", "a b", "\n\t\r\0\\\"", "é /* // */ '"];
        let kind = match self.below(4) {
            0 => {
                let (value, long) = ints[self.below(ints.len())];
                ExprKind::Int { value, long }
            }
            1 => ExprKind::Double(doubles[self.below(doubles.len())]),
            2 => ExprKind::Bool(self.below(2) == 0),
            _ => ExprKind::String(texts[self.below(texts.len())].to_owned()),
        };
        node(kind, 0)
    }

    fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return if self.below(2) == 0 { self.literal() } else { self.path(0) };
        }
        match self.below(10) {
            0..=3 => {
                let (op, left, right) = (BINARY[self.below(BINARY.len())], self.expr(depth - 1), self.expr(depth - 1));
                let below = left.depth.max(right.depth);
                node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) }, below)
            }
            4 => {
                let op = [UnaryOp::Negate, UnaryOp::Not, UnaryOp::Complement][self.below(3)];
                let operand = self.expr(depth - 1);
                let below = operand.depth;
                node(ExprKind::Unary { op, operand: Box::new(operand) }, below)
            }
            5 => {
                let kind = [TypeKind::Int, TypeKind::Long, TypeKind::Bool, TypeKind::Double][self.below(4)].clone();
                let (ty, operand) = (TypeName { kind, span: Span::default() }, self.expr(depth - 1));
                let below = operand.depth;
                node(ExprKind::Cast { ty, operand: Box::new(operand) }, below)
            }
            6 => {
                let [condition, yes, no] = [self.expr(depth - 1), self.expr(depth - 1), self.expr(depth - 1)];
                let below = condition.depth.max(yes.depth).max(no.depth);
                let (then_value, else_value) = (Box::new(yes), Box::new(no));
                node(ExprKind::Conditional { condition: Box::new(condition), then_value, else_value }, below)
            }
            7 => self.path(depth),
            _ => self.expr(0),
        }
    }
}

fn node(kind: ExprKind, below: u16) -> Expr {
    Expr { kind, span: Span::default(), depth: below + 1 }
}
