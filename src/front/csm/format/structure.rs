//! The role of each token in its statement, and the indentation of a line that begins with it.
//!
//! **Input**: the tokens of a file without syntax errors, one by one, and the tokens that begin a line. **Output**: a [`Placed`]
//! for each.
//!
//! **Algorithm**: a stack holds the open constructs: brackets, cobegins, and the heads (`if (…)`, `else`, `while (…)`, `do`)
//! whose statement has not ended. When a statement has ended, the next token shows which heads have ended with it: an `else`
//! belongs to the nearest `if`, and a `while` belongs to a `do` whose statement it follows.
//!
//! **Soundness and limits**: indentation only affects the display of a line, so a text with syntax errors gets some, too. Nothing
//! is recursive: the depth of a program costs no stack.

use crate::csm::syntax::lexer::Token;

/// Columns of one level.
const LEVEL: usize = 2;

/// Columns by which a line is indented that goes on with a statement.
const CONTINUED: usize = 4;

/// What a token is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// What its text says.
    #[default]
    Plain,
    /// An operator before its operand.
    Unary,
    /// `++` or `--` behind its operand.
    Postfix,
    /// The `)` behind a type.
    Cast,
    /// Begins a list of statements, members or arms.
    OpenList,
    /// Ends one.
    CloseList,
    /// Begins the values of an array.
    OpenValues,
    /// Ends them.
    CloseValues,
    /// The first token of a label: of an arm, of a case, of members.
    Label,
    /// The `:` behind a label.
    LabelColon,
    /// An `else`, or the `while` of a `do`: goes on with a statement of which a part has ended.
    GoesOn,
}

/// What is said of a token.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    /// What it is for.
    pub role: Role,
    /// Whether it begins an element of a list: a statement, a member, a label.
    pub is_item: bool,
    /// Columns before it, if it begins a line.
    pub indent: usize,
    /// Columns before a comment in the line above it.
    pub above: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    If,
    Else,
    Loop,
    Do,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Block,
    Class,
    Switch,
    Cobegin,
    Enum,
    Values,
    /// Parentheses or square brackets; those of a head, if any.
    Group(Option<Head>),
    /// A head before its statement.
    Head(Head),
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    open: Open,
    /// Columns before the line that it belongs to.
    base: usize,
    /// Columns before lines inside.
    content: usize,
    /// As in [`Structure`], outside of it.
    conditionals: usize,
    statement: usize,
}

/// See the text of the module.
#[derive(Debug)]
pub(super) struct Structure<'t> {
    frames: Vec<Frame>,
    /// `?` in the innermost frame that have no `:` yet.
    conditionals: usize,
    /// Columns before the line in which the current statement begins.
    statement: usize,
    /// Columns before the current line.
    line: usize,
    /// The next token begins an element of a list, or the statement of a head.
    starts: bool,
    /// A statement has just ended.
    ended: bool,
    /// A `;` that comes next belongs to what has ended.
    takes_semicolon: bool,
    /// A head, before its parentheses.
    head: Option<Head>,
    /// A word that says what the next braces hold.
    braces: Option<Open>,
    before: [Option<Token<'t>>; 2],
    role_before: Role,
}

impl<'t> Structure<'t> {
    /// Before the first token.
    pub fn new() -> Structure<'t> {
        Structure {
            frames: Vec::new(),
            conditionals: 0,
            statement: 0,
            line: 0,
            starts: true,
            ended: false,
            takes_semicolon: false,
            head: None,
            braces: None,
            before: [None, None],
            role_before: Role::Plain,
        }
    }

    /// Takes the next token. `following` is the one behind it; `begins_line` says where it stands.
    pub fn next(&mut self, token: Token<'t>, following: Option<Token<'t>>, begins_line: bool) -> Placed {
        let goes_on = self.settle(token);
        let starts = std::mem::take(&mut self.starts);
        let mut placed = match token {
            Token::CloseBrace | Token::Coend | Token::CloseParenthesis | Token::CloseBracket => self.close(),
            _ if starts => self.start(token, following, begins_line),
            _ => self.within(token),
        };
        if goes_on {
            placed = Placed { role: Role::GoesOn, indent: self.statement, above: self.statement, ..placed };
        }
        if begins_line {
            self.line = placed.indent;
        }
        if placed.role == Role::Plain {
            placed.role = self.role(token, starts);
        }
        self.apply(token, placed.role);
        self.before = [Some(token), self.before[0]];
        self.role_before = placed.role;
        placed
    }

    fn top(&self) -> Option<Open> {
        self.frames.last().map(|frame| frame.open)
    }

    fn push(&mut self, open: Open, base: usize, content: usize) {
        let (conditionals, statement) = (std::mem::take(&mut self.conditionals), self.statement);
        self.frames.push(Frame { open, base, content, conditionals, statement });
    }

    fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        (self.conditionals, self.statement) = (frame.conditionals, frame.statement);
        Some(frame)
    }

    /// After the end of a statement: ends the heads that end with it. Says whether the token goes on with one.
    fn settle(&mut self, token: Token<'t>) -> bool {
        let takes_semicolon = std::mem::take(&mut self.takes_semicolon);
        if !std::mem::take(&mut self.ended) || takes_semicolon && token == Token::Semicolon {
            return false;
        }
        let heads = self.frames.iter().rev().map_while(|frame| match frame.open {
            Open::Head(head) => Some(head),
            _ => None,
        });
        let heads: Vec<Head> = heads.collect();
        let meant = match token {
            Token::Else => heads.iter().position(|&head| head == Head::If),
            Token::While => heads.iter().position(|&head| head == Head::Do),
            _ => None,
        };
        for _ in 0..meant.map_or(heads.len(), |at| at + 1) {
            if let Some(frame) = self.pop() {
                self.statement = frame.base;
            }
        }
        self.conditionals = 0;
        self.starts = meant.is_none();
        meant.is_some()
    }

    /// A closer.
    fn close(&mut self) -> Placed {
        let Some(frame) = self.pop() else { return Placed::default() };
        let (role, above) = match frame.open {
            Open::Cobegin | Open::Switch => (Role::CloseList, frame.content + LEVEL),
            Open::Block | Open::Class => (Role::CloseList, frame.content),
            Open::Values => (Role::CloseValues, frame.content),
            Open::Group(head) => {
                let [previous, before] = self.before;
                let is_cast = before == Some(Token::OpenParenthesis)
                    && matches!(previous, Some(Token::Int | Token::Long | Token::Bool | Token::DoubleType));
                if let Some(head) = head {
                    self.push(Open::Head(head), self.statement, self.statement + LEVEL);
                    self.starts = true;
                }
                (if is_cast { Role::Cast } else { Role::Plain }, frame.content)
            }
            Open::Enum | Open::Head(_) => (Role::Plain, frame.content),
        };
        self.ended = role == Role::CloseList || frame.open == Open::Enum;
        self.takes_semicolon = matches!(frame.open, Open::Cobegin | Open::Class | Open::Enum);
        Placed { role, is_item: false, indent: frame.base, above }
    }

    /// The first token of a statement, a member or a label.
    fn start(&mut self, token: Token<'t>, following: Option<Token<'t>>, begins_line: bool) -> Placed {
        let frame = self.frames.last().copied();
        if let Some(Frame { open: Open::Head(_), base, content, .. }) = frame {
            let indent = if token == Token::OpenBrace { base } else { content };
            self.statement = if begins_line { indent } else { base };
            return Placed { role: Role::Plain, is_item: false, indent, above: indent };
        }
        let has_colon = following == Some(Token::Colon);
        let content = frame.map_or(0, |frame| frame.content);
        let (is_label, indent) = match (frame.map(|frame| frame.open), token) {
            (Some(Open::Cobegin), Token::Identifier(_)) if has_colon => (true, content),
            (Some(Open::Switch), Token::Case | Token::Default) => (true, content),
            (Some(Open::Class), Token::Public | Token::Private) if has_colon => (true, content - LEVEL),
            (Some(Open::Cobegin | Open::Switch), _) => (false, content + LEVEL),
            _ => (false, content),
        };
        self.statement = if begins_line { indent } else { self.line.min(indent) };
        let role = if is_label { Role::Label } else { Role::Plain };
        Placed { role, is_item: token != Token::Semicolon, indent, above: indent }
    }

    /// A token within a statement.
    fn within(&self, token: Token<'t>) -> Placed {
        let indent = match self.frames.last() {
            Some(Frame { open: Open::Group(_) | Open::Values | Open::Enum, content, .. }) => *content,
            _ if token == Token::OpenBrace => self.statement,
            _ => self.statement + CONTINUED,
        };
        Placed { role: Role::Plain, is_item: false, indent, above: indent }
    }

    fn role(&self, token: Token<'t>, starts: bool) -> Role {
        let is_behind_operand =
            !starts && self.before[0].is_some_and(ends_operand) && !matches!(self.role_before, Role::Cast);
        match token {
            Token::Exclamation | Token::Tilde => Role::Unary,
            Token::Minus if !is_behind_operand => Role::Unary,
            Token::Increment | Token::Decrement if is_behind_operand => Role::Postfix,
            Token::Increment | Token::Decrement => Role::Unary,
            Token::Colon if self.conditionals == 0 => Role::LabelColon,
            Token::Cobegin => Role::OpenList,
            Token::OpenBrace => match self.kind_of_braces() {
                Open::Values => Role::OpenValues,
                Open::Enum => Role::Plain,
                _ => Role::OpenList,
            },
            _ => Role::Plain,
        }
    }

    fn kind_of_braces(&self) -> Open {
        match self.braces {
            _ if self.top() == Some(Open::Values) || self.before[0] == Some(Token::Assign) => Open::Values,
            Some(kind) => kind,
            None => Open::Block,
        }
    }

    /// What a token opens, begins or ends. Closers are done.
    fn apply(&mut self, token: Token<'t>, role: Role) {
        match token {
            Token::OpenParenthesis | Token::OpenBracket => {
                let outer = self.frames.last().filter(|frame| matches!(frame.open, Open::Group(_) | Open::Values));
                let (base, content) = match outer {
                    Some(Frame { open: Open::Group(_), content, .. }) => (*content, *content),
                    Some(frame) => (frame.content, frame.content + CONTINUED),
                    None => (self.statement, self.statement + CONTINUED),
                };
                let head = if token == Token::OpenParenthesis { self.head.take() } else { None };
                self.push(Open::Group(head), base, content);
            }
            Token::OpenBrace | Token::Cobegin => self.open_list(token),
            Token::Semicolon if !matches!(self.top(), Some(Open::Group(_))) => self.ended = true,
            Token::Semicolon | Token::Comma => self.conditionals = 0,
            Token::Question => self.conditionals += 1,
            Token::Colon if role == Role::LabelColon => self.starts = true,
            Token::Colon => self.conditionals -= 1,
            Token::If => self.head = Some(Head::If),
            Token::While if role == Role::GoesOn => {}
            Token::While | Token::For | Token::Parfor => self.head = Some(Head::Loop),
            Token::Do | Token::Else => {
                let head = if token == Token::Do { Head::Do } else { Head::Else };
                self.push(Open::Head(head), self.statement, self.statement + LEVEL);
                self.starts = true;
            }
            Token::Switch => self.braces = Some(Open::Switch),
            Token::Class => self.braces = Some(Open::Class),
            Token::Enum => self.braces = Some(Open::Enum),
            _ => {}
        }
    }

    fn open_list(&mut self, token: Token<'t>) {
        let open = if token == Token::Cobegin { Open::Cobegin } else { self.kind_of_braces() };
        let base = match (open, self.top()) {
            (Open::Values, Some(Open::Values | Open::Group(_))) => self.line,
            _ => self.statement,
        };
        if matches!(open, Open::Enum | Open::Class | Open::Switch) {
            self.braces = None;
        }
        self.push(open, base, base + LEVEL);
        self.starts = !matches!(open, Open::Enum | Open::Values);
    }
}

/// Whether an operator behind this token stands between two operands, or behind one.
fn ends_operand(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Identifier(_)
            | Token::Integer(_)
            | Token::Double(_)
            | Token::Text(_)
            | Token::This
            | Token::True
            | Token::False
            | Token::CloseParenthesis
            | Token::CloseBracket
    )
}
