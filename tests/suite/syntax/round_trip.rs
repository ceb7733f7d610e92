//! Printing and parsing again gives the same tree, for random programs and for every sample.

use super::generate::Generator;
use super::{describe_all, erased, parse_text};
use cssame::front::csm::syntax::ast::{Block, Expr, ExprKind, Ident, Item, Program, Stmt, StmtKind};
use cssame::front::csm::syntax::{print, print_statement};
use proptest::prelude::*;
use std::path::Path;

/// Prints, parses, and compares.
fn check(program: &Program) {
    let text = print(program);
    let (sources, parsed) = parse_text(&text);
    assert_eq!(describe_all(&sources, &parsed.diagnostics), Vec::<String>::new(), "in: {text}");
    assert_eq!(erased(&parsed.program), erased(program), "in: {text}");
    assert_eq!(print(&parsed.program), text);
}

proptest! {
    #[test]
    fn random_programs_come_back(seed in any::<u64>()) {
        check(&Generator::new(seed).program());
    }

    /// Whatever stands in a file, parsing ends, with a diagnostic or a tree that can be printed.
    #[test]
    fn random_tokens_do_no_harm(seed in any::<u64>()) {
        let text = Generator::new(seed).tokens(200);
        let (_, parsed) = parse_text(&text);
        if parsed.diagnostics.is_empty() {
            check(&parsed.program);
        }
        let _ = print(&parsed.program);
    }

    #[test]
    fn random_text_does_no_harm(text in any::<String>()) {
        let (_, parsed) = parse_text(&text);
        let _ = print(&parsed.program);
    }
}

#[test]
fn samples_come_back() {
    let folders = ["samples", "samples/classes"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    for entry in folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "csm") {
            let (sources, parsed) = parse_text(&std::fs::read_to_string(&path).unwrap());
            assert_eq!(describe_all(&sources, &parsed.diagnostics), Vec::<String>::new(), "in {}", path.display());
            check(&parsed.program);
        }
    }
}

#[test]
fn a_printed_else_stays_with_its_if() {
    let stmt = |kind| Stmt { kind, span: Default::default() };
    let name = |name: &str| Expr { kind: ExprKind::Name(name.to_owned()), span: Default::default(), depth: 1 };
    let inner = StmtKind::If { condition: name("b"), then_branch: Box::new(stmt(StmtKind::Skip)), else_branch: None };
    let outer = stmt(StmtKind::If {
        condition: name("a"),
        then_branch: Box::new(stmt(inner)),
        else_branch: Some(Box::new(stmt(StmtKind::Break))),
    });
    assert_eq!(print_statement(&outer), "if (a) {\n    if (b)\n        skip;\n} else\n    break;");
}

#[test]
fn error_nodes_print_as_comments() {
    let program = Program {
        items: vec![
            Item::Error(Default::default()),
            Item::Statement(Stmt { kind: StmtKind::Error, span: Default::default() }),
            Item::Statement(Stmt { kind: StmtKind::Block(Block::default()), span: Default::default() }),
        ],
    };
    assert_eq!(print(&program), "/* error */\n/* error */;\n{}\n");
    let ident = Ident { name: "x".to_owned(), span: Default::default() };
    assert_eq!(ident.name, "x");
}
