//! Any bytes go through the static pipeline: text, tree, flow graph, SSA and CSSAME form, diagnostics. None may panic,
//! take long, or make a flow graph that its verifier rejects; a program that parses is printed as one that parses.

#![no_main]

use cssame::form::check::check;
use cssame::form::{analyse, report};
use cssame::diagnostics::{self, Diagnostic, json::diagnostic_data, terminal};
use cssame::front::{add_bytes, compile};
use cssame::ir::verify::verify;
use cssame::source::{FileId, SourceMap};
use cssame::front::csm::syntax;
use cssame::ssa;
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;
use std::thread;

/// As much as the program has: its main thread is another one, too.
const STACK_BYTES: usize = 256 << 20;

fuzz_target!(|bytes: &[u8]| {
    let bytes = bytes.to_vec();
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || pipeline(&bytes)).expect("a thread");
    worker.join().expect("no panic");
});

fn pipeline(bytes: &[u8]) {
    let mut sources = SourceMap::default();
    let diagnostics = match add_bytes(&mut sources, "input.csm", bytes) {
        Ok(file) => {
            print_again(&sources, file);
            analyse_file(&sources, file)
        }
        Err(diagnostic) => vec![diagnostic],
    };
    black_box(terminal::render_all(&sources, &diagnostics, true));
    for diagnostic in &diagnostics {
        black_box(diagnostic_data(&sources, diagnostic));
    }
}

fn print_again(sources: &SourceMap, file: FileId) {
    let parsed = syntax::parse(sources, file);
    if !parsed.diagnostics.is_empty() {
        return;
    }
    let mut printed = SourceMap::default();
    let file = printed.add("printed.csm", &syntax::print(&parsed.program));
    let again = syntax::parse(&printed, file);
    let problems = terminal::render_all(&printed, &again.diagnostics, false);
    assert!(problems.is_empty(), "what is printed does not parse:\n{problems}");
}

fn analyse_file(sources: &SourceMap, file: FileId) -> Vec<Diagnostic> {
    let compiled = compile(sources, file, &[]);
    let mut diagnostics = compiled.diagnostics;
    let Some(program) = compiled.program else {
        assert!(diagnostics::has_errors(&diagnostics), "no program and no error");
        return diagnostics;
    };
    if let Err(violations) = verify(&program) {
        panic!("{violations:?}");
    }
    black_box(ssa::build_program(&program));
    let form = analyse(&program);
    diagnostics.extend(check(sources, &program, form.as_ref()));
    if let Some(form) = &form {
        black_box(report(sources, &program, form));
    }
    diagnostics::sort(&mut diagnostics);
    diagnostics
}
