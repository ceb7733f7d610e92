//! Sizes, alignments, members.

use super::super::{DataModel, MemoryFiles, Options, TypeKind, Unit};
use super::reading;

/// Size, alignment and members of the first structure.
fn layout(text: &str, data_model: DataModel) -> String {
    let options = Options { data_model, ..Options::default() };
    let (_, _, reading) = reading(text, &MemoryFiles::new(), &options);
    let unit: Unit = reading.unit.expect("it is C");
    let of = |ty: &&super::super::Type| matches!(ty.kind, TypeKind::Record(_));
    let ty = unit.types.iter().find(of).expect("a structure");
    let TypeKind::Record(record) = ty.kind else { panic!("a structure") };
    let fields = unit.records[record].fields.iter().map(|field| {
        let bits = field.bits.map_or_else(String::new, |bits| format!(".{}:{}", bits.first, bits.width));
        format!("{}@{}{bits}", field.name.as_deref().unwrap_or("-"), field.offset)
    });
    format!("{} {} {}", ty.size.unwrap_or(0), ty.align, fields.collect::<Vec<_>>().join(" "))
}

#[test]
fn structures_are_laid_out_as_their_target_does() {
    for (text, on_64, on_32) in [
        ("struct { char a; int b; short c; } s;", "12 4 a@0 b@4 c@8", "12 4 a@0 b@4 c@8"),
        ("struct { char a; long b; void *c; } s;", "24 8 a@0 b@8 c@16", "12 4 a@0 b@4 c@8"),
        ("struct { char a; double b; } s;", "16 8 a@0 b@8", "12 4 a@0 b@4"),
        ("union { char a; long long b; int c[3]; } s;", "16 8 a@0 b@0 c@0", "12 4 a@0 b@0 c@0"),
        (
            "struct { int a : 3; int b : 7; int : 0; char c; } s;",
            "8 4 a@0.0:3 b@0.3:7 -@4.0:0 c@4",
            "8 4 a@0.0:3 b@0.3:7 -@4.0:0 c@4",
        ),
        ("struct __attribute__((packed)) { char a; int b; } s;", "5 1 a@0 b@1", "5 1 a@0 b@1"),
        ("struct { char a; struct { int x; char y; }; int z[]; } s;", "12 4 a@0 -@4 z@12", "12 4 a@0 -@4 z@12"),
        ("struct { char a; _Alignas(16) char b; } s;", "32 16 a@0 b@16", "32 16 a@0 b@16"),
        ("struct { char a; _Atomic long long b; } s;", "16 8 a@0 b@8", "16 8 a@0 b@8"),
    ] {
        assert_eq!(layout(text, DataModel::Lp64), on_64, "{text}");
        assert_eq!(layout(text, DataModel::Ilp32), on_32, "{text}");
    }
}
