//! How many static threads a program has: levels of threads that make threads do not make ever more of them.

use cssame::model::{Model, Options};

/// Static threads beyond which contexts are merged, and iterations are not told apart.
const BUDGET: usize = 4_096;

fn threads(text: &str) -> (usize, bool) {
    let model = Model::from_text("p.csm", text, &Options::default()).unwrap();
    (model.form().concurrency.threads.len(), model.form().concurrency.merged)
}

/// A program in which each function makes what the one before it is twice, or more often.
fn levels(count: usize, makes: &str) -> String {
    let function = |level: usize| format!("void f{level}() {{ {} }}\n", makes.replace('#', &(level - 1).to_string()));
    let functions: String = (1..count).map(function).collect();
    format!("int x;\nvoid f0() {{ x = x + 1; }}\n{functions}void main() {{ f{}(); }}", count - 1)
}

#[test]
fn functions_that_make_threads_are_merged_where_threads_would_be_too_many() {
    let makes = "spawn f#(); spawn f#();";
    assert_eq!(threads(&levels(8, makes)), (1 + 2 + 4 + 8 + 16 + 32 + 64 + 128, false));
    for count in [14, 20, 40, 200] {
        let (found, merged) = threads(&levels(count, makes));
        assert!(merged && found <= BUDGET, "{found} threads of {count} levels");
    }
}

#[test]
fn iterations_in_iterations_are_not_told_apart_where_threads_would_be_too_many() {
    for count in [3, 6, 20, 50] {
        let called = levels(count, "parfor (int i = 0; i < 4; i++) { f#(); }");
        let heads: String = (0..count).map(|n| format!("parfor (int i{n} = 0; i{n} < 3; i{n}++) ")).collect();
        for text in [called, format!("int x; {heads} x = x + 1;")] {
            // Beyond it each level has one thread for each place that makes several: no more than threads of the level before.
            let (found, _) = threads(&text);
            assert!(found <= BUDGET * (count + 1), "{found} threads of {count} levels");
        }
    }
}
