//! How many terms in contexts can happen, and why the others cannot.
//!
//! The cause is found by taking something away from the tree, at unchanged positions: branches become choices; conditions,
//! semaphores, events and barriers do nothing; locks do nothing. What then happens was forbidden by that.
//! `CSSAME_LAW_PROGRAMS` measures more programs.

use super::places::{Contexts, Index, Pair};
use super::program;
use cssame::front::csm::syntax::ast::{self, Block, Expr, ExprKind, Ident, Item, MemberKind, Stmt, StmtKind};
use cssame::front::csm::syntax::parse;
use cssame::ir::AccessContext;
use cssame::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use support::oracle::{Explored, Located, Options, Visible, explore};
use support::programs;

/// What is taken away.
#[derive(Clone, Copy, Debug, Default)]
struct Relaxed {
    branches: bool,
    signals: bool,
    locks: bool,
}

impl Relaxed {
    fn items(self, items: &mut [Item]) {
        for item in items {
            match item {
                Item::Function(function) => self.function(function),
                Item::Class(class) => {
                    for member in &mut class.members {
                        if let MemberKind::Method(method) = &mut member.kind {
                            self.function(method);
                        }
                    }
                }
                Item::Statement(statement) => self.statement(statement),
                _ => {}
            }
        }
    }

    fn function(self, function: &mut ast::Function) {
        // A function that calls itself would never end without its branch.
        let branches = self.branches && !calls(&function.body, &function.name.name);
        Relaxed { branches, ..self }.block(&mut function.body);
    }

    fn block(self, block: &mut Block) {
        block.statements.iter_mut().for_each(|statement| self.statement(statement));
    }

    fn condition(self, condition: &mut Expr) {
        if self.branches {
            let span = condition.span;
            let bound = |value| Expr { kind: ExprKind::Int { value, long: false }, span, depth: 1 };
            let callee = Ident { name: "choose".to_owned(), span };
            let kind = ExprKind::Call { receiver: None, callee, arguments: vec![bound(0), bound(1)] };
            *condition = Expr { kind, span, depth: 2 };
        }
    }

    fn is_left_out(self, expr: &Expr) -> bool {
        let ExprKind::Call { receiver: None, callee, .. } = &expr.kind else { return false };
        let signals = ["wait", "set", "clear", "notify", "notifyAll", "P", "V", "barrier"];
        let name = callee.name.as_str();
        self.signals && signals.contains(&name)
            || self.locks && ["lock", "unlock"].contains(&name)
            || self.branches && ["assert", "assume"].contains(&name)
    }

    fn statement(self, statement: &mut Stmt) {
        match &mut statement.kind {
            StmtKind::Block(block) | StmtKind::Atomic(block) => self.block(block),
            StmtKind::Synchronized { body, .. } => {
                self.block(body);
                if self.locks {
                    statement.kind = StmtKind::Block(body.clone());
                }
            }
            StmtKind::If { condition, then_branch, else_branch } => {
                self.condition(condition);
                self.statement(then_branch);
                else_branch.iter_mut().for_each(|branch| self.statement(branch));
            }
            StmtKind::While { condition, body } => {
                self.condition(condition);
                self.statement(body);
                if self.branches {
                    // One round, so that there is an end.
                    let (condition, then_branch) = (condition.clone(), body.clone());
                    statement.kind = StmtKind::If { condition, then_branch, else_branch: None };
                }
            }
            StmtKind::DoWhile { body, .. } | StmtKind::For { body, .. } | StmtKind::Parfor { body, .. } => {
                self.statement(body);
            }
            StmtKind::Cobegin(arms) => {
                arms.iter_mut().flat_map(|arm| &mut arm.statements).for_each(|inner| self.statement(inner));
            }
            StmtKind::Call(expr) if self.is_left_out(expr) => statement.kind = StmtKind::Skip,
            _ => {}
        }
    }
}

fn calls(block: &Block, name: &str) -> bool {
    format!("{block:?}").contains(&format!("callee: Ident {{ name: {name:?}"))
}

/// What happens in a program from which something is taken away; perhaps not all of it.
fn explored(source: &str, relaxed: Relaxed, visible: &BTreeSet<String>) -> Result<Explored, String> {
    let mut sources = SourceMap::default();
    let file = sources.add("relaxed.csm", source);
    let mut program = parse(&sources, file).program;
    relaxed.items(&mut program.items);
    let visible = Visible::Named(visible.clone());
    let options = Options {
        visible,
        max_executions: 60_000,
        max_steps: 80,
        futures: false,
        contexts: true,
        ..Options::default()
    };
    explore(&program, sources.file(file), &options)
}

/// Why a term that cannot happen is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    MergedOrIndex,
    Branches,
    Signals,
    Locks,
    SeveralOfThese,
    Loop,
    Other,
}

/// Whether it is not known which thread, object or element is meant.
fn is_vague(contexts: &Contexts, pair: &Pair) -> bool {
    let program = contexts.model().program();
    let vague = |context: Option<&AccessContext>, name: &str, end: u32| {
        let text = contexts.model().unit().text();
        let index = text.get(end as usize..).and_then(|rest| rest.strip_prefix('[')).unwrap_or_default();
        let index = index.split(']').next().unwrap_or_default();
        let is_known = context.is_some_and(|of| program.texts.get(of.variable).ends_with(']'));
        let is_vague_index = !is_known && index.chars().any(|letter| !letter.is_ascii_digit());
        let is_several = |of: &AccessContext| {
            let thread = program.texts.get(of.thread);
            thread.contains("[*]") || thread.contains("any thread")
        };
        let is_parameter = |of: &AccessContext| program.texts.get(of.variable) == name && name.starts_with("o.");
        is_vague_index || context.is_some_and(|of| is_several(of) || is_parameter(of))
    };
    let (read, definition) = (&program.reads[pair.0], &program.definitions[pair.1]);
    let (of_read, of_definition) = (program.contexts.reads.get(&pair.0), program.contexts.definitions.get(&pair.1));
    vague(of_read, program.texts.get(read.name), read.span.end)
        || vague(of_definition, program.texts.get(definition.name), definition.span.end)
}

/// Whether the read or the definition may run again in its thread.
fn repeats(source: &str, contexts: &Contexts, pair: &Pair) -> bool {
    let program = contexts.model().program();
    let offsets = [program.reads[pair.0].span.start, program.definitions[pair.1].span.start];
    offsets.iter().any(|&offset| {
        let before = source.get(..offset as usize).unwrap_or_default();
        let after = before.rsplit(['\n', '}']).next().unwrap_or_default();
        after.contains("for (") || after.contains("while (") || after.contains(" rec")
    })
}

fn cause(source: &str, contexts: &Contexts, pair: &Pair, found: &[BTreeSet<Pair>; 4]) -> Cause {
    if is_vague(contexts, pair) {
        return Cause::MergedOrIndex;
    }
    let causes = [Cause::Branches, Cause::Signals, Cause::Locks, Cause::SeveralOfThese];
    let forbidden = causes.into_iter().zip(found).find(|(_, found)| found.contains(pair));
    match forbidden {
        Some((cause, _)) => cause,
        None if repeats(source, contexts, pair) => Cause::Loop,
        None => Cause::Other,
    }
}

#[test]
fn how_many_terms_in_contexts_can_happen() {
    let programs = programs(30);
    let (mut measured, mut seed, mut all, mut happen) = (0, 500_000, 0, 0);
    let mut causes: BTreeMap<Cause, Vec<String>> = BTreeMap::new();
    while measured < programs {
        seed += 1;
        let source = program(seed);
        let Some(contexts) = Contexts::new(&source) else { continue };
        let whole = contexts.explore(&source, 20_000, false).unwrap();
        if !whole.complete {
            continue;
        }
        let index = Index::new(contexts.model());
        let (Ok(realised), terms) = (index.realised(&whole), index.terms()) else { continue };
        measured += 1;
        all += terms.len();
        happen += realised.len();
        let missing: Vec<&Pair> = terms.difference(&realised).collect();
        if missing.is_empty() {
            continue;
        }
        let ways = [
            Relaxed { branches: true, ..Relaxed::default() },
            Relaxed { signals: true, ..Relaxed::default() },
            Relaxed { locks: true, ..Relaxed::default() },
            Relaxed { branches: true, signals: true, locks: true },
        ];
        let found = ways.map(|relaxed| {
            let explored = explored(&source, relaxed, &whole.shared_variables).unwrap_or_default();
            let pair = |(read, write, _): &(Located, Located, bool)| {
                Some((index.read(read).ok()?, index.definition(write).ok()?))
            };
            explored.located.iter().filter_map(pair).collect::<BTreeSet<Pair>>()
        });
        for pair in missing {
            let cause = cause(&source, &contexts, pair, &found);
            causes.entry(cause).or_default().push(format!("{seed} {}", contexts.pair_name(pair)));
        }
    }
    println!("{measured} programs: {happen} of {all} terms happen");
    for (cause, terms) in &causes {
        println!(
            "{cause:?}: {}, such as {}",
            terms.len(),
            terms.iter().rev().take(5).cloned().collect::<Vec<_>>().join("; ")
        );
    }
    assert!(support::has_new_seed() || happen * 100 >= all * 70, "{happen} of {all}");
}
