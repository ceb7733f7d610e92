//! Pictures of flow graphs: no edge passes through a box, and nothing overlaps.

use cssame::answer::{Emit, ir};
use cssame::ir::picture::{EdgeKind, PI_EDGES, Picture, Point, Rectangle, picture};
use cssame::ir::print::Plain;
use cssame::model::Unit;
use std::fs;
use std::path::Path;
use support::unit;

fn right(of: Rectangle) -> i32 {
    of.x + of.width
}

fn bottom(of: Rectangle) -> i32 {
    of.y + of.height
}

fn holds(outer: Rectangle, inner: Rectangle) -> bool {
    outer.x <= inner.x && outer.y <= inner.y && right(inner) <= right(outer) && bottom(inner) <= bottom(outer)
}

fn are_apart(one: Rectangle, other: Rectangle) -> bool {
    right(one) < other.x || right(other) < one.x || bottom(one) < other.y || bottom(other) < one.y
}

/// Whether a part of an edge, which is horizontal or vertical, comes into a box.
fn enters(of: Rectangle, (from, to): (Point, Point)) -> bool {
    let (left, end) = (from.x.min(to.x), from.x.max(to.x));
    let (top, last) = (from.y.min(to.y), from.y.max(to.y));
    left < right(of) && of.x < end && top < bottom(of) && of.y < last
        || top == last && of.y < top && top < bottom(of) && left < right(of) && of.x < end
        || left == end && of.x < left && left < right(of) && top < bottom(of) && of.y < last
}

fn hold_the_laws(name: &str, picture: &Picture) {
    let canvas = Rectangle { x: 0, y: 0, width: picture.width, height: picture.height };
    let frames: Vec<Rectangle> = picture.frames.iter().map(|frame| frame.rectangle).collect();
    let boxes: Vec<Rectangle> = picture.boxes.iter().map(|one| one.rectangle).collect();
    for (at, &one) in frames.iter().enumerate() {
        assert!(holds(canvas, one), "{name}: a frame outside");
        assert!(frames[..at].iter().all(|&other| are_apart(one, other)), "{name}: frames overlap");
    }
    for (at, &one) in boxes.iter().enumerate() {
        assert_eq!(frames.iter().filter(|&&frame| holds(frame, one)).count(), 1, "{name}: a box in one frame");
        assert!(boxes[..at].iter().all(|&other| are_apart(one, other)), "{name}: boxes overlap");
    }
    for edge in &picture.edges {
        for part in edge.points.windows(2).map(|part| (part[0], part[1])) {
            assert!(part.0.x == part.1.x || part.0.y == part.1.y, "{name}: {edge:?}");
            let inside =
                |point: Point| (0..=picture.width).contains(&point.x) && (0..=picture.height).contains(&point.y);
            assert!(inside(part.0) && inside(part.1), "{name}: {edge:?}");
            assert!(!boxes.iter().any(|&one| enters(one, part)), "{name}: {edge:?} passes through a box");
        }
        let (begin, tip) = (edge.points[0], edge.points[edge.points.len() - 1]);
        let touches = |of: &Rectangle, point: Point| {
            (of.x..=right(*of)).contains(&point.x) && (of.y..=bottom(*of)).contains(&point.y)
        };
        let is_end = |point| boxes.iter().chain(&frames).any(|of| touches(of, point));
        assert!(is_end(begin) && is_end(tip), "{name}: {edge:?} hangs in the air");
    }
}

#[test]
fn nothing_overlaps() {
    let mut pis = 0;
    for folder in ["samples", "samples/classes", "tests/diagnostics/fail"] {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            let Ok(unit) = Unit::from_text("p.csm", &text, &[]) else { continue };
            let name = path.display().to_string();
            hold_the_laws(&name, &picture(&unit.program, &unit.sources, &Plain).unwrap());
            let Ok(form) = ir(unit, Emit::Cssame) else { continue };
            let picture = form.picture().unwrap().unwrap();
            pis += picture.edges.iter().filter(|edge| edge.kind == EdgeKind::Pi).count();
            hold_the_laws(&name, &picture);
            let svg = form.svg().unwrap();
            assert!(svg == form.svg().unwrap(), "{name}: the same each time");
        }
    }
    assert!(pis > 400, "{pis}");
}

/// Versions of two variables of one name may have one number.
#[test]
fn edges_are_those_of_the_variable() {
    let of = |f: &str, a: i32| {
        format!("void {f}() {{ int x = 0; cobegin A{a}: x = {a}; B{a}: x = {a}; coend print(x); }}\n")
    };
    let text = format!("{}{}void main() {{ f(); g(); }}\n", of("f", 1), of("g", 2));
    let picture = ir(unit(&text), Emit::Cssame).unwrap().picture().unwrap().unwrap();
    let pis: Vec<_> = picture.edges.iter().filter(|edge| edge.kind == EdgeKind::Pi).collect();
    assert_eq!(pis.len(), 4);
    let frame_of = |point: Point| picture.frames.iter().find(|frame| enters(frame.rectangle, (point, point))).unwrap();
    for edge in pis {
        let (write, read) = (frame_of(edge.points[0]), frame_of(edge.points[edge.points.len() - 1]));
        let pair = (write.title.contains('1'), read.title.starts_with('f'));
        assert_eq!(pair.0, pair.1, "{edge:?} from {} to {}", write.title, read.title);
    }
}

#[test]
fn locks_are_those_of_all_ways() {
    let Unit { sources, program, .. } =
        unit("lock L; int x;\nlock(L);\nif (x == 1) unlock(L);\nx = 2;\nlock(L); x = 3; unlock(L);\n");
    let picture = picture(&program, &sources, &Plain).unwrap();
    let lines = picture.boxes.iter().flat_map(|one| &one.lines);
    let held: Vec<&str> = lines.filter(|line| !line.locks.is_empty()).map(|line| line.text.as_str()).collect();
    assert!(held.iter().any(|text| text.starts_with("store x@5:")), "{held:?}");
    assert!(!held.iter().any(|text| text.starts_with("store x@4:")), "{held:?}");
}

#[test]
fn what_is_too_much_is_said() {
    let writes = "x = 1; ".repeat(30);
    let arms: String =
        (0..4).map(|arm| format!("T{arm}: {{ {writes} print(x); print(x); print(x); print(x); }} ")).collect();
    let text = format!("int x; cobegin {arms} coend");
    let form = ir(unit(&text), Emit::Cssame).unwrap();
    let picture = form.picture().unwrap().unwrap();
    assert!(picture.omitted > PI_EDGES && picture.edges.iter().all(|edge| edge.kind != EdgeKind::Pi));
    assert!(form.svg().unwrap().unwrap().contains("edges from writes to pi functions are left out"));
    let many = format!("int x; {}", "x = 1; ".repeat(30_000));
    assert!(ir(unit(&many), Emit::Cfg).unwrap().svg().is_err());
}
