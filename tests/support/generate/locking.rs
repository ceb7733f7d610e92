//! Random programs whose locks are of all kinds: a program is made as others are, and its locks are turned into re-entrant
//! ones and readers-writer locks, its `lock` into tries, its waits into timed ones.
//!
//! What comes out is valid; whether it makes sense is left to chance: a lock that was not taken may be given back, and a
//! thread may take a lock twice.

use super::build::{braces, call, if_else, local, name, run, stmt, text, unary};
use super::{Rng, Size, generator};
use cssame::front::csm::syntax::ast::{
    Block, Expr, ExprKind, Function, Item, MemberKind, Program, Stmt, StmtKind, TypeKind, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

/// The text of a random program with locks of all kinds.
pub fn locking(seed: u64, size: &Size) -> String {
    let mut program = generator(seed, size).program();
    let mut rewriter =
        Rewriter { rng: Rng::new(seed ^ 0x5eed_10c5), kinds: BTreeMap::new(), exclusive: BTreeSet::new(), names: 0 };
    rewriter.find(&mut program);
    rewriter.choose_kinds();
    each_list(&mut program, &mut |list| rewriter.rewrite(list));
    each_list(&mut program, &mut |list| rewriter.rename(list));
    rewriter.declare(&mut program);
    cssame::front::csm::syntax::print(&program)
}

struct Rewriter {
    rng: Rng,
    /// What each declared lock is to be.
    kinds: BTreeMap<String, TypeKind>,
    /// Locks that are used as no readers-writer lock can be.
    exclusive: BTreeSet<String>,
    names: u32,
}

/// Calls `f` with every list of statements, inner ones first.
fn each_list(program: &mut Program, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    let mut main: Vec<Stmt> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for (place, item) in program.items.iter_mut().enumerate() {
        match item {
            Item::Function(function) => in_block(&mut function.body, f),
            Item::Class(class) => {
                let methods = class.members.iter_mut().filter_map(|member| match &mut member.kind {
                    MemberKind::Method(method) => Some(method),
                    _ => None,
                });
                methods.for_each(|method: &mut Function| in_block(&mut method.body, f));
            }
            Item::Statement(statement) if !main.is_empty() || !matches!(statement.kind, StmtKind::Declare(_)) => {
                in_statement(statement, f);
                places.push(place);
                main.push(statement.clone());
            }
            _ => {}
        }
    }
    // The statements at top level are a list as well, but for the declarations before them.
    if let Some(&first) = places.first() {
        f(&mut main);
        places.iter().rev().for_each(|&place| {
            program.items.remove(place);
        });
        program.items.splice(first..first, main.into_iter().map(Item::Statement));
    }
}

fn in_block(block: &mut Block, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    in_list(&mut block.statements, f);
}

fn in_statement(statement: &mut Stmt, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    match &mut statement.kind {
        StmtKind::Block(body) | StmtKind::Atomic(body) | StmtKind::Synchronized { body, .. } => in_block(body, f),
        StmtKind::If { then_branch, else_branch, .. } => {
            in_statement(then_branch, f);
            if let Some(branch) = else_branch {
                in_statement(branch, f);
            }
        }
        StmtKind::While { body, .. }
        | StmtKind::DoWhile { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Parfor { body, .. } => in_statement(body, f),
        StmtKind::Switch { cases, .. } => cases.iter_mut().for_each(|case| in_list(&mut case.statements, f)),
        StmtKind::Cobegin(arms) => arms.iter_mut().for_each(|arm| in_list(&mut arm.statements, f)),
        _ => {}
    }
}

fn in_list(statements: &mut Vec<Stmt>, f: &mut dyn FnMut(&mut Vec<Stmt>)) {
    statements.iter_mut().for_each(|statement| in_statement(statement, f));
    f(statements);
}

/// A call of a built-in operation by its name.
fn operation<'s>(statement: &'s Stmt, wanted: &str) -> Option<&'s [Expr]> {
    match &statement.kind {
        StmtKind::Call(Expr { kind: ExprKind::Call { receiver: None, callee, arguments }, .. })
            if callee.name == wanted =>
        {
            Some(arguments)
        }
        _ => None,
    }
}

fn name_of(lock: &Expr) -> Option<&str> {
    match &lock.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

impl Rewriter {
    /// Finds the locks that are declared under a name of their own, and those that must stay locks.
    fn find(&mut self, program: &mut Program) {
        let kinds = &mut self.kinds;
        let mut note = |statement: &Stmt| {
            if let StmtKind::Declare(declaration) = &statement.kind
                && declaration.ty.kind == TypeKind::Lock
            {
                kinds.extend(declaration.declarators.iter().map(|one| (one.name.name.clone(), TypeKind::Lock)));
            }
        };
        for item in &program.items {
            if let Item::Statement(statement) = item {
                note(statement);
            }
        }
        each_list(program, &mut |list| list.iter().for_each(&mut note));
        let exclusive = &mut self.exclusive;
        // An initialiser may pass a lock to a thread that it starts.
        for item in program.items.iter().filter(|item| matches!(item, Item::Statement(_))) {
            let text = format!("{item:?}");
            if text.contains("Spawn(") {
                exclusive.extend(kinds.keys().filter(|name| text.contains(&format!("Name(\"{name}\")"))).cloned());
            }
        }
        each_list(program, &mut |list| {
            for statement in list.iter() {
                if let StmtKind::Synchronized { lock, .. } = &statement.kind {
                    exclusive.extend(name_of(lock).map(str::to_owned));
                }
                let mut text = String::new();
                if !matches!(operation(statement, "lock").or(operation(statement, "unlock")), Some([_])) {
                    text = format!("{statement:?}");
                }
                // A lock that stands anywhere else, as the argument of a call for instance.
                let names = kinds.keys().filter(|name| text.contains(&format!("Name(\"{name}\")")));
                let used: Vec<String> = names.cloned().collect();
                let is_compound = !matches!(
                    statement.kind,
                    StmtKind::Call(_) | StmtKind::Assign { .. } | StmtKind::Declare(_) | StmtKind::Return(_)
                );
                if !is_compound {
                    exclusive.extend(used);
                }
            }
        });
    }

    fn choose_kinds(&mut self) {
        let Rewriter { rng, kinds, exclusive, .. } = self;
        for (name, kind) in kinds.iter_mut() {
            *kind = match rng.below(10) {
                0..=3 if !exclusive.contains(name) => TypeKind::RwLock,
                4..=6 => TypeKind::ReentrantLock,
                _ => TypeKind::Lock,
            };
        }
    }

    fn kind(&self, lock: &Expr) -> TypeKind {
        name_of(lock).and_then(|name| self.kinds.get(name)).cloned().unwrap_or(TypeKind::Lock)
    }

    fn rewrite(&mut self, list: &mut Vec<Stmt>) {
        for statement in list.iter_mut() {
            self.rewrite_wait(statement);
        }
        let mut first = 0;
        while first < list.len() {
            let Some([lock]) = operation(&list[first], "lock") else {
                first += 1;
                continue;
            };
            let lock = lock.clone();
            let is_end = |statement: &Stmt| operation(statement, "unlock").is_some_and(|of| of == [lock.clone()]);
            if let Some(length) = list[first + 1..].iter().position(is_end) {
                let body: Vec<Stmt> = list.drain(first..first + length + 2).collect();
                let body = self.body(&lock, body[1..=length].to_vec());
                let count = body.len();
                list.splice(first..first, body);
                first += count;
            } else {
                first += 1;
            }
        }
    }

    /// What a mutex body becomes.
    fn body(&mut self, lock: &Expr, mut body: Vec<Stmt>) -> Vec<Stmt> {
        let kind = self.kind(lock);
        let reads = kind == TypeKind::RwLock && self.rng.chance(50);
        let (take, attempt) = match (&kind, reads) {
            (TypeKind::RwLock, true) => ("rdlock", "tryrdlock"),
            (TypeKind::RwLock, false) => ("wrlock", "trywrlock"),
            _ => ("lock", "trylock"),
        };
        let of = || vec![lock.clone()];
        let nests = kind == TypeKind::ReentrantLock || reads;
        if self.rng.chance(if nests { 45 } else { 3 }) && !body.is_empty() {
            // Inside, the lock is taken once more, around one statement or behind all.
            let at = self.rng.below(body.len() + 1);
            let inner = if self.rng.chance(50) { run(take, of()) } else { run(attempt, of()) };
            let end = (at + 1).min(body.len());
            body.insert(end, run("unlock", of()));
            body.insert(at.min(end), inner);
        }
        let declares = body.iter().any(|statement| matches!(statement.kind, StmtKind::Declare(_)));
        let tried = call(attempt, of());
        match self.rng.weighted(&[48, 20, 14, 8, 5, 5]) {
            1 if !declares => {
                body.push(run("unlock", of()));
                let busy = self.rng.chance(40).then(|| vec![run("print", vec![text("busy")])]);
                vec![if_else(tried, body, busy)]
            }
            2 if !declares => {
                self.names += 1;
                let got = format!("got{}", self.names);
                let mut all = vec![local(TypeKind::Bool, &got, tried)];
                let (inside, outside) = if self.rng.chance(60) { (body, Vec::new()) } else { (Vec::new(), body) };
                if !inside.is_empty() {
                    all.push(if_else(name(&got), inside, None));
                }
                all.extend(outside);
                all.push(if_else(name(&got), vec![run("unlock", of())], None));
                all
            }
            3 => {
                let other = if_else(unary(UnaryOp::Not, tried), vec![run(take, of())], None);
                self.between(other, body, lock)
            }
            4 => self.between(run(attempt, of()), body, lock),
            5 if !declares => {
                // The lock is given back in one of two ways.
                body.push(run("unlock", of()));
                let negated = unary(UnaryOp::Not, tried);
                vec![if_else(negated, vec![run("print", vec![text("no")])], Some(body))]
            }
            _ => self.between(run(take, of()), body, lock),
        }
    }

    fn between(&mut self, first: Stmt, body: Vec<Stmt>, lock: &Expr) -> Vec<Stmt> {
        let last = run("unlock", vec![lock.clone()]);
        std::iter::once(first).chain(body).chain(std::iter::once(last)).collect()
    }

    /// A wait that may be given up, and then is not repeated: executions would have no end.
    fn rewrite_wait(&mut self, statement: &mut Stmt) {
        let (condition, body) = match &statement.kind {
            StmtKind::While { condition, body } => (condition.clone(), body),
            StmtKind::If { condition, then_branch, else_branch: None } => (condition.clone(), then_branch),
            _ => return,
        };
        let StmtKind::Block(inner) = &body.kind else { return };
        let [wait] = inner.statements.as_slice() else { return };
        let Some(arguments) = operation(wait, "wait").filter(|arguments| arguments.len() == 2) else { return };
        let timed = call("timedwait", arguments.to_vec());
        if !self.rng.chance(50) {
            return;
        }
        let waiting = match self.rng.below(3) {
            0 => stmt(StmtKind::Call(timed)),
            1 => if_else(unary(UnaryOp::Not, timed), vec![run("print", vec![text("late")])], None),
            _ => run("print", vec![timed]),
        };
        statement.kind = StmtKind::If { condition, then_branch: braces(vec![waiting]), else_branch: None };
    }

    /// What is left of `lock` on readers-writer locks.
    fn rename(&mut self, list: &mut [Stmt]) {
        for statement in list {
            let Some([lock]) = operation(statement, "lock") else { continue };
            if self.kind(lock) == TypeKind::RwLock {
                let word = if self.rng.chance(50) { "rdlock" } else { "wrlock" };
                *statement = run(word, vec![lock.clone()]);
            }
        }
    }

    fn declare(&self, program: &mut Program) {
        let kinds = &self.kinds;
        let mut give = |statement: &mut Stmt| {
            if let StmtKind::Declare(declaration) = &mut statement.kind
                && let [only] = declaration.declarators.as_slice()
                && let Some(kind) = kinds.get(&only.name.name)
            {
                declaration.ty.kind = kind.clone();
            }
        };
        for item in &mut program.items {
            if let Item::Statement(statement) = item {
                give(statement);
            }
        }
        each_list(program, &mut |list| list.iter_mut().for_each(&mut give));
    }
}
