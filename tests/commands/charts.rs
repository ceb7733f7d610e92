//! `cssame run --format svg`: pictures of executions.

use crate::process::{Files, call, root, samples};
use roxmltree::{Document, Node};
use std::path::Path;

fn number(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{node:?} has no {name}"))
}

fn with_class<'a>(document: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'a, 'a>| node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class));
    document.descendants().filter(has).collect()
}

/// The left and the right end of each box, and its top.
fn boxes(document: &Document<'_>) -> Vec<(usize, usize, usize)> {
    let ends = |of: Node<'_, '_>| (number(of, "x"), number(of, "x") + number(of, "width"), number(of, "y"));
    with_class(document, "box").into_iter().map(ends).collect()
}

fn drawn(path: &Path, options: &str) -> Option<String> {
    let answer = call(&format!("run --max-steps 3000 --format svg {options}"), &[path]);
    (answer.status != 2).then_some(answer.stdout)
}

#[test]
fn no_arrow_crosses_a_text_and_all_is_inside() {
    let (mut arrows, mut pictures) = (0, 0);
    for sample in samples() {
        let Some(text) = drawn(&sample, "--seed 1 --full") else { continue };
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", sample.display()));
        let picture = document.root_element();
        let (width, height) = (number(picture, "width"), number(picture, "height"));
        let boxes = boxes(&document);
        for &(left, right, top) in &boxes {
            assert!(left < right && right <= width && top + 20 <= height, "{}", sample.display());
            let overlaps = |other: &&(usize, usize, usize)| other.2 == top && other.0 < right && left < other.1;
            assert_eq!(boxes.iter().filter(overlaps).count(), 1, "{}", sample.display());
        }
        for arrow in with_class(&document, "arrow") {
            let (x1, x2, y) = (number(arrow, "x1"), number(arrow, "x2"), number(arrow, "y1"));
            let (from, to) = (x1.min(x2), x1.max(x2));
            assert!(from < to, "{}: {arrow:?}", sample.display());
            let crosses =
                |&&(left, right, top): &&(usize, usize, usize)| top < y && y < top + 20 && left < to && from < right;
            assert!(boxes.iter().find(crosses).is_none(), "{}: {arrow:?}", sample.display());
            arrows += 1;
        }
        pictures += 1;
    }
    assert!(pictures > 80 && arrows > 500, "{pictures} pictures, {arrows} arrows");
}

/// The texts of a picture, in their order.
fn texts(text: &str) -> Vec<String> {
    let document = Document::parse(text).unwrap();
    let all = with_class(&document, "what").into_iter();
    all.map(|node| node.children().filter(Node::is_text).filter_map(|child| child.text()).collect()).collect()
}

#[test]
fn the_rows_are_those_of_the_table() {
    let path = root().join("samples/counter_unlocked.csm");
    for options in ["--seed 1", "--seed 1 --full"] {
        let value = call(&format!("run --format json {options}"), &[&path]).json();
        let rows = value["rows"].as_array().unwrap();
        let count = rows.iter().filter(|row| options.ends_with("full") || row["is_cause"] == true).count();
        assert_eq!(texts(&drawn(&path, options).unwrap()).len(), count);
    }
    let shown = texts(&drawn(&path, "--seed 1 --full").unwrap());
    assert_eq!(&shown[..2], ["fork T1", "fork T2"]);
}

#[test]
fn what_is_printed_cannot_leave_its_place() {
    let files = Files::new();
    let long = "x".repeat(300);
    let path = files.write("p.csm", format!("print(\"</text><script>&\\t\\n{long}\");\nassert(false, \"]]><b>\");\n"));
    let answer = call("run --format svg", &[&path]);
    assert_eq!(answer.status, 1);
    assert!(answer.stderr.contains("CS0410"), "{}", answer.stderr);
    let shown = texts(&answer.stdout);
    assert!(shown[0].starts_with("print </text><script>&?") && shown[0].ends_with('…'), "{shown:?}");
    assert_eq!(shown[0].chars().count(), 30);
}

#[test]
fn long_executions_are_cut() {
    let files = Files::new();
    let path =
        files.write("p.csm", "int x;\ncobegin\n  T1: x = 1;\n  T2: for (int i = 0; i < 5000; i++) x = i;\ncoend\n");
    let answer = call("run --format svg --full", &[&path]);
    assert_eq!(texts(&answer.stdout).len(), 2_000);
}
