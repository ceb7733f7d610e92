//! Types of C: sizes, offsets, and what conversions leave of values, against the C compilers that are there (`cc`, `clang`).
//!
//! In: a seed. Out: a program that prints the sizes and offsets of random structures, and the value, width and sign of random
//! expressions without undefined behaviour. What it prints when it is run here must be what it prints when it is compiled.

use crate::c_programs::{compiled, compilers, ran};
use cssame::model::{Model, Options};
use cssame::schedule::{Random, run};
use std::fmt::Write;
use std::path::Path;
use support::generate::Rng;
use support::{first_seed, programs};

/// Types, and the highest value that is stored in one; lowest is its negative, or 0.
const TYPES: [(&str, i64, bool); 10] = [
    ("_Bool", 1, false),
    ("char", 127, true),
    ("signed char", 127, true),
    ("unsigned char", 255, false),
    ("short", 30_000, true),
    ("unsigned short", 60_000, false),
    ("int", 1 << 14, true),
    ("unsigned", 4_000_000_000, false),
    ("long", 1 << 20, true),
    ("unsigned long", i64::MAX - 1, false),
];

/// Structures, each with the paths of its members.
fn records(rng: &mut Rng, text: &mut String) -> Vec<(String, Vec<String>)> {
    let mut records: Vec<(String, Vec<String>)> = Vec::new();
    for number in 0..3 {
        let (name, mut members) = (format!("struct r{number}"), Vec::new());
        let _ = writeln!(text, "{name} {{");
        for member in 0..1 + rng.below(6) {
            let (scalar, _, _) = *rng.pick(&TYPES);
            let ty = match rng.below(8) {
                0 => "void *".to_owned(),
                1 => "enum color".to_owned(),
                2 => format!("_Atomic {scalar}"),
                3 => "_Alignas(16) short".to_owned(),
                4 if !records.is_empty() => rng.pick(&records).0.clone(),
                _ => scalar.to_owned(),
            };
            let (length, place) = match rng.below(4) {
                0 => (format!("[{}]", 1 + rng.below(4)), "[1]"),
                1 => ("[2][3]".to_owned(), "[1][2]"),
                _ => (String::new(), ""),
            };
            let _ = writeln!(text, "    {ty} m{member}{length};");
            members.push(format!("m{member}{place}"));
        }
        text.push_str("};\n");
        records.push((name, members));
    }
    records
}

/// An expression of two variables, and one of its operators; with values such as are stored no signed one overflows.
fn expression(rng: &mut Rng) -> String {
    let (left, right) = (rng.below(TYPES.len()), rng.below(TYPES.len()));
    let (target, _, _) = *rng.pick(&TYPES);
    match rng.below(8) {
        0 => format!("(v{left} & v{right})"),
        1 => format!("(v{left} | v{right})"),
        2 => format!("(v{left} ^ v{right})"),
        3 => format!("(v{left} {} v{right})", rng.pick(&["<", "<=", ">", ">=", "==", "!="])),
        4 => format!("(({target})(v{left} + v{right}))"),
        5 => format!("(({target})(v{left} - v{right}))"),
        6 => format!("(v{left} ? v{right} : ({target})v{left})"),
        _ => format!("({}v{left})", rng.pick(&["~", "!", "-", "+"])),
    }
}

fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed ^ 0x7e57);
    let mut text = "#include <stddef.h>\n#include <stdio.h>\nenum color { RED, GREEN = 7 };\n".to_owned();
    let records = records(&mut rng, &mut text);
    for (number, (ty, high, signed)) in TYPES.iter().enumerate() {
        let value = rng.range(0, *high);
        let sign = if *signed && rng.chance(50) { "-" } else { "" };
        let _ = writeln!(text, "{ty} v{number} = {sign}{value}{};", if *high > 1 << 30 { "ul" } else { "" });
    }
    text.push_str("int main(void) {\n");
    for (name, members) in &records {
        let _ = writeln!(text, "    printf(\"%lu %lu\\n\", sizeof({name}), _Alignof({name}));");
        for member in members {
            let _ = writeln!(text, "    printf(\"%lu\\n\", offsetof({name}, {member}));");
        }
    }
    for _ in 0..25 {
        let value = expression(&mut rng);
        // The value, the width and the sign of the type.
        let _ = writeln!(text, "    printf(\"%lu %lu\\n\", (unsigned long){value}, sizeof{value});");
        let _ = writeln!(text, "    printf(\"%d\\n\", (0 ? {value} : -1) < 0);");
    }
    for _ in 0..10 {
        let (target, source) = (rng.below(TYPES.len()), rng.below(TYPES.len()));
        let operator = rng.pick(&["=", "&=", "|=", "^="]);
        let _ = writeln!(text, "    v{target} {operator} v{source};");
        let _ = writeln!(text, "    printf(\"%lu\\n\", (unsigned long)v{target});");
    }
    text + "    return 0;\n}\n"
}

#[test]
fn sizes_offsets_and_conversions_are_those_of_compilers() {
    let first = first_seed(1);
    for seed in first..first + programs(12) {
        let text = program(seed);
        let model = Model::from_text("types.c", &text, &Options::default());
        let model = model.unwrap_or_else(|problems| panic!("seed {seed}: {problems}\n{text}"));
        let execution = run(model.machine(), &mut Random::new(1), 20_000, &mut ());
        let lines = (execution.lines(model.machine()), execution.status.word().to_owned());
        for compiler in compilers() {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c_types_{}", std::process::id()));
            let binary =
                compiled(compiler, &text, &folder).unwrap_or_else(|said| panic!("seed {seed}: {said}\n{text}"));
            assert_eq!(lines, ran(&binary, 0), "{compiler}, seed {seed}\n{text}");
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
