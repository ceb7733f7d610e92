//! Random programs, valid by construction, and a shrinker for those that show a mistake.
//!
//! A program is a function of a seed and a [`Size`]. It is built as a tree and printed, so positions come from parsing
//! the text again. The weights favour what the analyses have to get right: definitions killed before an unlock, reads
//! behind a definition of their own body, barrier phases, signals, reads after a coend, functions of several threads.

mod accessing;
mod arrays;
mod branching;
mod build;
mod contention;
mod contexts;
mod counting;
mod expression;
mod functions;
mod guarded;
mod library;
mod locking;
mod rng;
mod rows;
mod scope;
mod shrink;
mod spinning;
mod statement;
mod threads;

pub use accessing::accessing;
pub use arrays::arrays;
pub use branching::branching;
pub use contexts::contexts;
pub use counting::counting;
pub use guarded::guarded;
pub use library::library;
pub use locking::locking;
pub use rows::rows;
pub use shrink::shrink;
pub use spinning::spinning;

use self::build::{
    assign, binary, declaration, double, element, field, function, global, int, local, name, run, stmt, text, ty,
};
pub use self::rng::Rng;
use self::scope::{Place, Scope};
use cssame::front::csm::syntax::ast::{
    BinaryOp, Enum, Enumerator, Expr, Extern, Initialiser, Input, Item, Program, Stmt, StmtKind, TypeKind,
};
use cssame::source::Span;

/// How large programs become. The number of interleavings grows exponentially with `operations`.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Threads beside `main`: two, or up to this.
    pub threads: u32,
    /// Visible operations of each of two threads, about; three threads get half of it.
    pub operations: i32,
    /// Globals of plain data.
    pub globals: usize,
    /// Whether there are functions, classes, nested and spawned threads.
    pub structured: bool,
}

impl Default for Size {
    fn default() -> Size {
        Size { threads: 3, operations: 5, globals: 3, structured: true }
    }
}

/// The text of a random program.
pub fn program(seed: u64, size: &Size) -> String {
    cssame::front::csm::syntax::print(&tree(seed, size))
}

/// The text of a random program whose threads have more to fight for: [`contention`] says what.
pub fn racy(seed: u64, size: &Size) -> String {
    let mut generator = generator(seed, size);
    generator.racy = true;
    let mut program = generator.program();
    contention::make_atomic(&mut program, &mut Rng::new(!seed));
    cssame::front::csm::syntax::print(&program)
}

/// The tree of a random program.
pub fn tree(seed: u64, size: &Size) -> Program {
    let mut program = generator(seed, size).program();
    compute_initials(&mut program, &mut Rng::new(seed ^ 0x1217_1a15));
    program
}

/// Lets some globals begin with the value of the one before, which is computed when the program runs.
fn compute_initials(program: &mut Program, rng: &mut Rng) {
    let has_main = |item: &Item| matches!(item, Item::Function(function) if function.name.name == "main");
    if program.items.iter().any(has_main) {
        return;
    }
    let mut before: Option<String> = None;
    for item in &mut program.items {
        let Item::Statement(Stmt { kind: StmtKind::Declare(declaration), .. }) = item else { continue };
        let [declarator] = &mut declaration.declarators[..] else { continue };
        if declaration.constant || declaration.ty.kind != TypeKind::Int || !declarator.sizes.is_empty() {
            continue;
        }
        if let Some(before) = before.replace(declarator.name.name.clone())
            && rng.chance(20)
        {
            let value = if rng.chance(50) { name(&before) } else { binary(BinaryOp::Add, name(&before), int(1)) };
            declarator.initialiser = Some(Initialiser::Value(value));
        }
    }
}

fn generator(seed: u64, size: &Size) -> Generator {
    Generator {
        rng: Rng::new(seed),
        size: *size,
        declarations: Vec::new(),
        functions: Vec::new(),
        locks: Vec::new(),
        externs: Vec::new(),
        input: None,
        constants: Vec::new(),
        constructor: None,
        names: 0,
        theme: None,
        racy: false,
    }
}

/// A program in the making.
#[derive(Debug)]
pub struct Generator {
    rng: Rng,
    size: Size,
    declarations: Vec<Item>,
    functions: Vec<Item>,
    /// Global locks.
    locks: Vec<Expr>,
    externs: Vec<String>,
    /// An input constant whose value is 2.
    input: Option<String>,
    /// Named constants and enumerators with their values.
    constants: Vec<(String, i64)>,
    /// Whether the class has a constructor, and how many values it takes.
    constructor: Option<usize>,
    names: u32,
    /// A pattern of statements that this program has more of than others.
    theme: Option<usize>,
    /// Whether threads have more to fight for.
    racy: bool,
}

impl Generator {
    fn program(mut self) -> Program {
        if self.rng.chance(60) {
            self.theme = Some(self.rng.below(statement::PATTERNS.len()));
        }
        let mut scope = Scope { budget: 4, ..Scope::default() };
        self.globals(&mut scope);
        let structured = self.size.structured;
        if structured && self.rng.chance(if self.racy { 50 } else { 30 }) {
            self.class(&mut scope);
        }
        let functions = if structured { self.rng.weighted(&[45, 40, 15]) } else { 0 };
        for _ in 0..functions {
            let callable = match self.rng.weighted(&[84, 8, 8]) {
                1 => self.recursive_function(&scope),
                2 => self.parallel_function(&scope),
                _ => self.function(&scope, 2, false),
            };
            scope.callables.push(callable);
        }
        let body = self.main_body(&mut scope);
        let mut items = self.declarations;
        items.extend(self.functions);
        if self.rng.chance(40) {
            items.push(Item::Function(function(TypeKind::Void, "main", Vec::new(), body)));
        } else {
            items.extend(body.into_iter().map(Item::Statement));
        }
        Program { items }
    }

    /// A name that nothing else has.
    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// A number, or the input constant where it is the same.
    fn bound(&mut self, value: i64) -> Expr {
        match &self.input {
            Some(input) if value == 2 => name(input),
            _ => int(value),
        }
    }

    fn extern_call(&mut self) -> Option<Expr> {
        if !self.size.structured {
            return None;
        }
        if self.externs.is_empty() {
            let range = self.rng.chance(70).then(|| (int(0), int(1)));
            self.declarations.push(Item::Extern(Extern {
                result: ty(TypeKind::Int),
                name: build::ident("now"),
                parameters: Vec::new(),
                range,
                span: Span::default(),
            }));
            self.externs.push("now".to_owned());
        }
        Some(build::call(&self.externs[0].clone(), Vec::new()))
    }

    fn globals(&mut self, scope: &mut Scope) {
        if self.rng.chance(8) {
            let value = int(2);
            let declared =
                Input { ty: ty(TypeKind::Int), name: build::ident("n"), value, range: None, span: Span::default() };
            self.declarations.push(Item::Input(declared));
            self.input = Some("n".to_owned());
        }
        if self.rng.chance(15) {
            self.named_constants();
        }
        let count = 1 + self.rng.below(self.size.globals.max(1));
        for variable in &["a", "b", "x", "y", "z", "w"][..count.min(6)] {
            let initial = self.rng.chance(60).then(|| Initialiser::Value(self.constant()));
            self.declarations.push(global(TypeKind::Int, variable, initial));
            scope.places.push(Place::shared(name(variable), TypeKind::Int));
        }
        if self.rng.chance(20) {
            self.array(scope);
        }
        let special = self.rng.weighted(&[70, 12, 8, 5, 5]);
        if special > 0 {
            let kind = [TypeKind::Bool, TypeKind::Long, TypeKind::Double, TypeKind::String][special - 1].clone();
            let declared = ["flag", "big", "real", "word"][special - 1];
            let initial = match kind {
                TypeKind::Double => Some(Initialiser::Value(double(0.5))),
                TypeKind::String => Some(Initialiser::Value(text("zero"))),
                _ => None,
            };
            self.declarations.push(global(kind.clone(), declared, initial));
            scope.places.push(Place::shared(name(declared), kind));
        }
        for _ in 0..self.rng.weighted(&[15, 60, 25]) {
            let lock = self.fresh("L");
            self.declarations.push(global(TypeKind::Lock, &lock, None));
            self.locks.push(name(&lock));
        }
        scope.locks = self.locks.clone();
        scope.may_fork = self.size.structured;
    }

    /// `const int K1 = 2;` or `enum { E1, E2 = 3, E3 };`
    fn named_constants(&mut self) {
        if self.rng.chance(50) {
            let (declared, value) = (self.fresh("K"), self.rng.range(0, 3));
            let initial = Initialiser::Value(int(value));
            let mut constant = declaration(TypeKind::Int, &declared, None, Some(initial));
            constant.constant = true;
            self.declarations.push(Item::Statement(stmt(StmtKind::Declare(constant))));
            self.constants.push((declared, value));
            return;
        }
        let mut next = 0;
        let mut enumerators = Vec::new();
        for _ in 0..2 + self.rng.below(2) {
            let declared = self.fresh("E");
            let given = self.rng.chance(30).then(|| next + 1);
            next = given.unwrap_or(next);
            enumerators.push(Enumerator { name: build::ident(&declared), value: given.map(int) });
            self.constants.push((declared, next));
            next += 1;
        }
        let name = self.rng.chance(50).then(|| build::ident("State"));
        self.declarations.push(Item::Enum(Enum { name, enumerators, span: Span::default() }));
    }

    /// What stands behind the name of an object of the class.
    fn object_initial(&mut self) -> Option<Initialiser> {
        match self.constructor {
            Some(count) if count > 0 => Some(Initialiser::Arguments((0..count).map(|_| self.constant()).collect())),
            _ => None,
        }
    }

    fn array(&mut self, scope: &mut Scope) {
        let list = self.rng.chance(50).then(|| Initialiser::List(vec![int(1), int(2), int(3)]));
        let declared = declaration(TypeKind::Int, "t", Some(int(3)), list);
        self.declarations.push(Item::Statement(stmt(StmtKind::Declare(declared))));
        let index = match self.rng.below(3) {
            0 => int(1),
            1 => scope.places[0].expr.clone(),
            _ => binary(BinaryOp::BitAnd, scope.places[0].expr.clone(), int(1)),
        };
        scope.places.push(Place::shared(element(name("t"), int(0)), TypeKind::Int));
        scope.places.push(Place::shared(element(name("t"), index), TypeKind::Int));
    }

    fn main_body(&mut self, scope: &mut Scope) -> Vec<Stmt> {
        let mut body = Vec::new();
        if self.rng.chance(25) {
            let value = self.constant();
            body.push(assign(scope.places[0].expr.clone(), value));
        }
        if self.rng.chance(20) {
            let captured = self.fresh("local");
            let value = self.constant();
            body.push(local(TypeKind::Int, &captured, value));
            let place = Place::captured(&captured, TypeKind::Int);
            let at = self.rng.below(2);
            scope.places.insert(at, place);
        }
        if self.rng.chance(8) {
            let lock = self.fresh("own");
            body.push(stmt(StmtKind::Declare(declaration(TypeKind::Lock, &lock, None, None))));
            scope.locks.insert(0, name(&lock));
        }
        if !scope.objects.is_empty() && self.rng.chance(20) {
            let object = self.fresh("mine");
            let class = TypeKind::Class("Account".to_owned());
            let initial = self.object_initial();
            body.push(stmt(StmtKind::Declare(declaration(class, &object, None, initial))));
            scope.objects.push(name(&object));
            let place = Place::shared(field(name(&object), "balance"), TypeKind::Int);
            scope.places.push(Place { captured: true, ..place });
        }
        body.extend(self.parallel(scope));
        if body.iter().all(|statement| matches!(statement.kind, StmtKind::Declare(_))) {
            // At top level declarations alone are no body of `main`.
            body.push(run("print", vec![scope.places[0].expr.clone()]));
        }
        for _ in 0..self.rng.below(3) {
            let places: Vec<Place> = scope.of_type(&TypeKind::Int);
            let read = self.rng.pick(&places).expr.clone();
            body.push(if self.rng.chance(12) {
                run("assert", vec![binary(BinaryOp::GreaterEqual, read, int(0))])
            } else {
                run("print", vec![read])
            });
        }
        body
    }
}
