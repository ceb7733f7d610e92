//! The functions that the actions of the grammar call: they build the tree and record problems.
//!
//! In: the parts of one production. Out: a node of [`super::ast`]. The height of every expression and statement is tracked. A
//! node that is higher than [`MAX_DEPTH`] becomes an error node at once, so that no tree is ever built that overflows the stack
//! of a recursive pass, or of its own destructor. Such an error node counts as [`MAX_DEPTH`] high, so all nodes that contain it
//! become error nodes without further problems.

use super::ast::*;
use super::expected::Expected;
use super::lexer::Token;
use super::problem::{ProblemKind, Problems};
use super::tokens::Stop;
use cssame_source::{FileId, Span};
use lalrpop_util::{ErrorRecovery, ParseError};

/// A statement and the height of its tree.
#[derive(Clone, Debug)]
pub(crate) struct Tall {
    pub(crate) stmt: Box<Stmt>,
    height: u16,
}

impl Tall {
    fn is_cut(&self) -> bool {
        self.height == MAX_DEPTH && matches!(self.stmt.kind, StmtKind::Error)
    }

    /// A `;` without a statement: has no place in a list of statements, where habit puts it behind a `}`.
    fn is_lone_semicolon(&self) -> bool {
        matches!(self.stmt.kind, StmtKind::Skip) && self.stmt.span.end - self.stmt.span.start == 1
    }
}

/// The statements of a block, and the height of the highest.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    statements: Vec<Stmt>,
    height: u16,
    is_cut: bool,
}

impl Body {
    pub(crate) fn push(&mut self, statement: Tall) {
        if statement.is_lone_semicolon() {
            return;
        }
        self.height = self.height.max(statement.height);
        self.is_cut |= statement.is_cut();
        self.statements.push(*statement.stmt);
    }
}

/// A block and the height of its highest statement.
#[derive(Clone, Debug)]
pub(crate) struct TallBlock {
    pub(crate) block: Block,
    height: u16,
    is_cut: bool,
}

/// The arms of a cobegin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arms {
    arms: Vec<Arm>,
    /// Where a statement stands before the first label.
    early: Option<Span>,
    height: u16,
    is_cut: bool,
}

impl Arms {
    pub(crate) fn begin(&mut self, label: Ident) {
        let span = label.span;
        self.arms.push(Arm { label, statements: Vec::new(), span });
    }

    pub(crate) fn push(&mut self, statement: Tall) {
        if statement.is_lone_semicolon() {
            return;
        }
        self.height = self.height.max(statement.height);
        self.is_cut |= statement.is_cut();
        let span = statement.stmt.span;
        match self.arms.last_mut() {
            Some(arm) => {
                arm.span = arm.span.to(span);
                arm.statements.push(*statement.stmt);
            }
            None => self.early = self.early.or(Some(span)),
        }
    }
}

/// The cases of a switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cases {
    cases: Vec<Case>,
    /// Where a statement stands before the first label.
    early: Option<Span>,
    height: u16,
    is_cut: bool,
}

impl Cases {
    /// A label: a further one of the last case where that has no statements yet.
    pub(crate) fn begin(&mut self, label: CaseLabel) {
        let span = label.span;
        match self.cases.last_mut().filter(|case| case.statements.is_empty()) {
            Some(case) => {
                case.span = case.span.to(span);
                case.labels.push(label);
            }
            None => self.cases.push(Case { labels: vec![label], statements: Vec::new(), span }),
        }
    }

    pub(crate) fn push(&mut self, statement: Tall) {
        // Unlike elsewhere a lone `;` may count: it is the body of a case that does nothing.
        if statement.is_lone_semicolon() && self.cases.last().is_some_and(|case| !case.statements.is_empty()) {
            return;
        }
        self.height = self.height.max(statement.height);
        self.is_cut |= statement.is_cut();
        let span = statement.stmt.span;
        match self.cases.last_mut() {
            Some(case) => {
                case.span = case.span.to(span);
                case.statements.push(*statement.stmt);
            }
            None => self.early = self.early.or(Some(span)),
        }
    }
}

/// What stands in the body of a class.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// `public:` (true) or `private:`
    Section(bool),
    /// A member, with its own `public` (true) or `private` if it has one.
    Member(Option<bool>, Box<MemberKind>),
    /// A lone `;`.
    Nothing,
}

/// Builds the tree of one file.
pub(crate) struct Builder<'problems> {
    file: FileId,
    problems: &'problems Problems,
}

impl<'problems> Builder<'problems> {
    pub(crate) fn new(file: FileId, problems: &'problems Problems) -> Self {
        Builder { file, problems }
    }

    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        Span { file: self.file, start, end }
    }

    // ---- Items, names and types ----

    pub(crate) fn push_item(&self, items: &mut Vec<Item>, statement: Tall) {
        if !statement.is_lone_semicolon() {
            items.push(Item::Statement(*statement.stmt));
        }
    }

    pub(crate) fn ident(&self, name: &str, start: u32, end: u32) -> Ident {
        Ident { name: name.to_owned(), span: self.span(start, end) }
    }

    pub(crate) fn named_type(&self, name: &str, start: u32, end: u32) -> TypeName {
        let kind = match name {
            "lock" => TypeKind::Lock,
            "rwlock" => TypeKind::RwLock,
            "event" => TypeKind::Event,
            "barrier" => TypeKind::Barrier,
            "cond" => TypeKind::Cond,
            "sem" => TypeKind::Sem,
            "thread" => TypeKind::Thread,
            _ => TypeKind::Class(name.to_owned()),
        };
        TypeName { kind, span: self.span(start, end) }
    }

    pub(crate) fn members(&self, pieces: Vec<Piece>) -> Vec<Member> {
        let mut section = true;
        let mut members = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Section(public) => section = public,
                Piece::Member(public, kind) => members.push(Member { public: public.unwrap_or(section), kind: *kind }),
                Piece::Nothing => {}
            }
        }
        members
    }

    pub(crate) fn extern_function(
        &self,
        result: TypeName,
        name: Ident,
        parameters: Vec<Parameter>,
        range: Option<Box<(Expr, Expr)>>,
        start: u32,
        end: u32,
    ) -> Box<Item> {
        let range = range.map(|range| *range);
        Box::new(Item::Extern(Extern { result, name, parameters, range, span: self.span(start, end) }))
    }

    pub(crate) fn constructor(
        &self,
        name: Ident,
        parameters: Vec<Parameter>,
        body: TallBlock,
        start: u32,
        end: u32,
    ) -> Box<MemberKind> {
        let result = TypeName { kind: TypeKind::Void, span: self.span(start, start) };
        let body = body.block;
        Box::new(MemberKind::Constructor(Function { result, name, parameters, body, span: self.span(start, end) }))
    }

    // ---- Expressions ----

    /// An expression without parts.
    pub(crate) fn atom(&self, kind: ExprKind, start: u32, end: u32) -> Expr {
        Expr { kind, span: self.span(start, end), depth: 1 }
    }

    pub(crate) fn name(&self, name: Ident) -> Expr {
        Expr { kind: ExprKind::Name(name.name), span: name.span, depth: 1 }
    }

    /// A string literal: resolves its escapes.
    pub(crate) fn text(&self, literal: &str, start: u32, end: u32) -> Expr {
        let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or("");
        let mut value = String::with_capacity(inner.len());
        let mut characters = inner.char_indices();
        while let Some((at, character)) = characters.next() {
            if character != '\\' {
                value.push(character);
                continue;
            }
            let Some((_, escaped)) = characters.next() else { break };
            match escaped {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                '\\' | '"' => value.push(escaped),
                _ => {
                    let at = start + 1 + at as u32;
                    self.problems.note(at, at + 1 + escaped.len_utf8() as u32, ProblemKind::BadEscape);
                }
            }
        }
        self.atom(ExprKind::String(value), start, end)
    }

    pub(crate) fn binary(&self, op: BinaryOp, left: Expr, right: Expr, start: u32, end: u32) -> Expr {
        let operator = self.span(left.span.end, right.span.start);
        let (depth, cut) = (left.depth.max(right.depth), is_cut(&left) || is_cut(&right));
        let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) };
        self.node(kind, depth, cut, self.span(start, end), operator)
    }

    pub(crate) fn unary(&self, op: UnaryOp, operand: Expr, start: u32, end: u32) -> Expr {
        let (depth, cut) = (operand.depth, is_cut(&operand));
        let kind = ExprKind::Unary { op, operand: Box::new(operand) };
        self.node(kind, depth, cut, self.span(start, end), self.span(start, start + 1))
    }

    pub(crate) fn cast(&self, ty: TypeName, operand: Expr, start: u32, end: u32) -> Expr {
        let (depth, cut, place) = (operand.depth, is_cut(&operand), ty.span);
        let kind = ExprKind::Cast { ty, operand: Box::new(operand) };
        self.node(kind, depth, cut, self.span(start, end), place)
    }

    pub(crate) fn conditional(&self, condition: Expr, yes: Expr, no: Expr, start: u32, end: u32) -> Expr {
        let place = condition.span;
        let depth = condition.depth.max(yes.depth).max(no.depth);
        let cut = is_cut(&condition) || is_cut(&yes) || is_cut(&no);
        let kind = ExprKind::Conditional {
            condition: Box::new(condition),
            then_value: Box::new(yes),
            else_value: Box::new(no),
        };
        self.node(kind, depth, cut, self.span(start, end), place)
    }

    pub(crate) fn field(&self, object: Expr, field: Ident) -> Expr {
        let (depth, cut, place, span) = (object.depth, is_cut(&object), field.span, object.span.to(field.span));
        self.node(ExprKind::Field { object: Box::new(object), field }, depth, cut, span, place)
    }

    pub(crate) fn index(&self, array: Expr, index: Expr, end: u32) -> Expr {
        let (depth, cut) = (array.depth.max(index.depth), is_cut(&array) || is_cut(&index));
        let (place, span) = (index.span, self.span(array.span.start, end));
        self.node(ExprKind::Index { array: Box::new(array), index: Box::new(index) }, depth, cut, span, place)
    }

    pub(crate) fn call(&self, receiver: Option<Expr>, callee: Ident, arguments: Vec<Expr>, end: u32) -> Expr {
        let parts = || receiver.iter().chain(&arguments);
        let (depth, cut) = (parts().map(|part| part.depth).max().unwrap_or(0), parts().any(is_cut));
        let start = receiver.as_ref().map_or(callee.span.start, |receiver| receiver.span.start);
        let place = callee.span;
        let kind = ExprKind::Call { receiver: receiver.map(Box::new), callee, arguments };
        self.node(kind, depth, cut, self.span(start, end), place)
    }

    pub(crate) fn spawn(&self, call: Expr, start: u32, end: u32) -> Expr {
        let (depth, cut, place) = (call.depth, is_cut(&call), call.span);
        self.node(ExprKind::Spawn(Box::new(call)), depth, cut, self.span(start, end), place)
    }

    /// An expression over parts of at most that depth; `cut` says that one of them was too high. `place` is shown where
    /// this one is.
    fn node(&self, kind: ExprKind, depth: u16, cut: bool, span: Span, place: Span) -> Expr {
        if depth < MAX_DEPTH && !cut {
            return Expr { kind, span, depth: depth + 1 };
        }
        if !cut {
            self.problems.note(place.start, place.end, ProblemKind::TooHigh("expression"));
        }
        Expr { kind: ExprKind::Error, span, depth: MAX_DEPTH }
    }

    // ---- Statements ----

    /// A statement without statements in it.
    pub(crate) fn leaf(&self, kind: StmtKind, start: u32, end: u32) -> Tall {
        Tall { stmt: Box::new(Stmt { kind, span: self.span(start, end) }), height: 1 }
    }

    /// A leaf whose place [`Builder::extend`] gives.
    pub(crate) fn simple(&self, kind: StmtKind) -> Tall {
        self.leaf(kind, 0, 0)
    }

    /// A statement with its `;`.
    pub(crate) fn extend(&self, mut statement: Tall, start: u32, end: u32) -> Tall {
        statement.stmt.span = self.span(start, end);
        statement
    }

    pub(crate) fn block(&self, mut body: Body, start: u32, end: u32) -> TallBlock {
        // Statements are large and blocks many: spare room would double the memory of a tree.
        body.statements.shrink_to_fit();
        let span = self.span(start, end);
        TallBlock { block: Block { statements: body.statements, span }, height: body.height, is_cut: body.is_cut }
    }

    pub(crate) fn block_statement(&self, body: TallBlock, start: u32, end: u32) -> Tall {
        self.compound(StmtKind::Block(body.block), body.height, body.is_cut, start, end)
    }

    pub(crate) fn atomic(&self, body: TallBlock, start: u32, end: u32) -> Tall {
        self.compound(StmtKind::Atomic(body.block), body.height, body.is_cut, start, end)
    }

    pub(crate) fn synchronized(&self, lock: Expr, body: TallBlock, start: u32, end: u32) -> Tall {
        self.compound(StmtKind::Synchronized { lock, body: body.block }, body.height, body.is_cut, start, end)
    }

    pub(crate) fn if_statement(&self, condition: Expr, yes: Tall, no: Option<Tall>, start: u32, end: u32) -> Tall {
        let height = no.as_ref().map_or(0, |no| no.height).max(yes.height);
        let cut = yes.is_cut() || no.as_ref().is_some_and(Tall::is_cut);
        let (then_branch, else_branch) = (yes.stmt, no.map(|no| no.stmt));
        self.compound(StmtKind::If { condition, then_branch, else_branch }, height, cut, start, end)
    }

    pub(crate) fn while_statement(&self, condition: Expr, body: Tall, start: u32, end: u32) -> Tall {
        let (height, cut) = (body.height, body.is_cut());
        self.compound(StmtKind::While { condition, body: body.stmt }, height, cut, start, end)
    }

    pub(crate) fn do_while(&self, body: Tall, condition: Expr, start: u32, end: u32) -> Tall {
        let (height, cut) = (body.height, body.is_cut());
        self.compound(StmtKind::DoWhile { body: body.stmt, condition }, height, cut, start, end)
    }

    pub(crate) fn for_statement(
        &self,
        (initial, condition, step): (Option<Tall>, Option<Expr>, Option<Tall>),
        body: Tall,
        start: u32,
        end: u32,
    ) -> Tall {
        let (height, cut) = (body.height, body.is_cut());
        let (initial, step) = (initial.map(|initial| initial.stmt), step.map(|step| step.stmt));
        self.compound(StmtKind::For { initial, condition, step, body: body.stmt }, height, cut, start, end)
    }

    pub(crate) fn parfor(
        &self,
        (initial, condition, step): (Tall, Expr, Tall),
        body: Tall,
        start: u32,
        end: u32,
    ) -> Tall {
        let (height, cut) = (body.height, body.is_cut());
        let (initial, step) = (initial.stmt, step.stmt);
        self.compound(StmtKind::Parfor { initial, condition, step, body: body.stmt }, height, cut, start, end)
    }

    pub(crate) fn cobegin(&self, arms: Arms, start: u32, end: u32) -> Tall {
        if let Some(span) = arms.early {
            self.problems.note(span.start, span.end, ProblemKind::BeforeFirstLabel);
        } else if arms.arms.is_empty() {
            self.problems.note(start, end, ProblemKind::NoArms);
        }
        self.compound(StmtKind::Cobegin(arms.arms), arms.height, arms.is_cut, start, end)
    }

    pub(crate) fn switch(&self, value: Expr, cases: Cases, start: u32, end: u32) -> Tall {
        if let Some(span) = cases.early {
            self.problems.note(span.start, span.end, ProblemKind::BeforeFirstCase);
        }
        self.compound(StmtKind::Switch { value, cases: cases.cases }, cases.height, cases.is_cut, start, end)
    }

    /// A statement over statements of at most that height; see [`Builder::node`].
    fn compound(&self, kind: StmtKind, height: u16, cut: bool, start: u32, end: u32) -> Tall {
        let span = self.span(start, end);
        if height < MAX_DEPTH && !cut {
            return Tall { stmt: Box::new(Stmt { kind, span }), height: height + 1 };
        }
        if !cut {
            self.problems.note(start, start + 1, ProblemKind::TooHigh("statement"));
        }
        Tall { stmt: Box::new(Stmt { kind: StmtKind::Error, span }), height: MAX_DEPTH }
    }

    // ---- Problems ----

    /// A definition inside a block: noted and left out.
    pub(crate) fn nested_definition(&self, item: &Item) {
        let (what, span) = match item {
            Item::Function(function) => ("function", function.name.span),
            Item::Class(class) => ("class", class.name.span),
            Item::Extern(declaration) => ("extern function", declaration.name.span),
            Item::Input(input) => ("input", input.name.span),
            Item::Enum(of) => ("enum", of.name.as_ref().map_or(of.span, |name| name.span)),
            Item::Statement(_) | Item::Error(_) => return,
        };
        self.problems.note(span.start, span.end, ProblemKind::NestedDefinition(what));
    }

    /// Something unexpected, skipped up to the next thing that can stand there.
    pub(crate) fn trouble(&self, recovery: ErrorRecovery<u32, Token<'_>, Stop>) {
        self.problems.spend(recovery.dropped_tokens.len());
        self.unexpected(recovery.error);
    }

    /// Something unexpected where a `;` could stand: if what comes begins a statement, only the `;` is missing.
    pub(crate) fn missing_semicolon(&self, recovery: ErrorRecovery<u32, Token<'_>, Stop>) {
        let (start, end, expected) = match &recovery.error {
            // These begin a statement, but behind an operand they are rather meant to change it.
            ParseError::UnrecognizedToken { token: (_, Token::Increment | Token::Decrement, _), .. } => {
                return self.trouble(recovery);
            }
            ParseError::UnrecognizedToken { token: (start, _, end), expected } => (*start, *end, expected),
            ParseError::UnrecognizedEof { location, expected } => (*location, *location, expected),
            _ => return self.trouble(recovery),
        };
        if recovery.dropped_tokens.is_empty() && expected.iter().any(|terminal| terminal == "\";\"") {
            self.problems.note(start, end, ProblemKind::MissingSemicolon);
        } else {
            self.trouble(recovery);
        }
    }

    /// Notes an error of the parser.
    pub(crate) fn unexpected(&self, error: ParseError<u32, Token<'_>, Stop>) {
        let (start, end, expected) = match error {
            ParseError::UnrecognizedToken { token: (start, _, end), expected } => (start, end, expected),
            ParseError::UnrecognizedEof { location, expected } => (location, location, expected),
            ParseError::ExtraToken { token: (start, _, end) } => (start, end, Vec::new()),
            ParseError::InvalidToken { location } => (location, location, Vec::new()),
            // The stream noted why it stopped.
            ParseError::User { error: Stop } => return,
        };
        self.problems.note(start, end, ProblemKind::Unexpected(Expected::new(&expected)));
    }
}

/// Whether an expression is the error node in the place of one that was too high.
fn is_cut(expr: &Expr) -> bool {
    expr.depth == MAX_DEPTH && matches!(expr.kind, ExprKind::Error)
}
