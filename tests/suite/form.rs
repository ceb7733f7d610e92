//! What `ir --emit cssame` shows is what `pi` says.

use cssame::form::print::CssameAnnotations;
use cssame::ir::print::print_program;
use cssame::model::{Model, Options};
use cssame::{form, ssa};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use support::{samples, unit};

/// The text of the form, and for each pi function its terms as `pi` lists them.
fn forms(text: &str) -> Option<(String, Vec<String>)> {
    let model = Model::new(unit(text), Options::default()).ok()?;
    let (sources, program) = (model.sources(), model.program());
    let built = ssa::build_program(program);
    let annotations = CssameAnnotations::new(program, &built, Some(model.form()));
    let report = form::report(sources, program, model.form());
    let pis = report.pis.iter().filter(|pi| pi.same_as.is_none()).map(|pi| {
        let mut versions: Vec<(u32, &str)> =
            pi.terms.iter().map(|term| (number(&term.version), &*term.version)).collect();
        versions.sort_unstable();
        let versions: Vec<&str> = versions.into_iter().map(|(_, version)| version).collect();
        format!("{}: pi({})", pi.variable, versions.join(", "))
    });
    Some((print_program(program, sources, &annotations), pis.collect()))
}

fn number(version: &str) -> u32 {
    version.rsplit_once('_').unwrap().1.parse().unwrap()
}

#[test]
fn figure_2() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/cssame_fig2.csm")).unwrap();
    let (printed, _) = forms(&text).unwrap();
    let reader = printed.split("arm T3").nth(1).unwrap();
    let lines: Vec<&str> = reader.lines().skip(2).map(str::trim).collect();
    let expected = ["lock L", "a_4 = pi(a_0, a_2, a_3)", "%0 = load a_4@24:11", "print %0", "unlock L", "return", "}"];
    assert_eq!(lines, expected);
}

#[test]
fn an_atomic_expression_replaces_what_its_pi_gives() {
    let (printed, _) = forms("int x;\ncobegin T1: fetch_add(x, 1); T2: x = 5; coend\n").unwrap();
    assert!(printed.contains("x_3 = pi(x_0, x_2)\n"), "{printed}");
    assert!(printed.contains("fetch_add x_1(x_3)@2:23"), "{printed}");
}

#[test]
fn a_read_with_one_definition_names_it() {
    let (printed, pis) = forms("int x;\ncobegin T1: x = 1; T2: skip; coend\nprint(x);\n").unwrap();
    assert_eq!(pis, Vec::<String>::new());
    assert!(!printed.contains("pi("), "{printed}");
}

/// Every pi function of a sample stands once in the text, and makes a version of its own.
#[test]
fn samples_show_their_pi_functions() {
    for (name, text) in samples() {
        let Some((printed, mut expected)) = forms(&text) else { continue };
        let lines: Vec<(&str, &str)> = printed.lines().filter_map(|line| line.trim().split_once(" = pi(")).collect();
        let made: BTreeSet<&str> = lines.iter().map(|&(made, _)| made).collect();
        assert_eq!(made.len(), lines.len(), "{name}");
        let mut shown: Vec<String> =
            lines.iter().map(|(made, terms)| format!("{}: pi({terms}", made.rsplit_once('_').unwrap().0)).collect();
        shown.sort();
        expected.sort();
        assert_eq!(shown, expected, "{name}");
    }
}

/// The store that an initialiser makes is the initial definition: behind it a read sees that one, also where a branch on a flag says
/// that the variable has been written.
#[test]
fn a_computed_initial_value_is_a_term() {
    let text = "bool flag = false;\nint v = 5;\nint x = v;\n\
                cobegin\n  T1: { x = x + 1; flag = true; }\n  T2: { int y = x; if (flag) print(y); }\ncoend\n";
    let (printed, pis) = forms(text).unwrap();
    assert!(printed.contains("load x_0@5:13"), "{printed}");
    assert!(pis.contains(&"x: pi(x_0, x_1)".to_owned()), "{pis:?}");
}
