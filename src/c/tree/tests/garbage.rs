//! Texts that are no programs: each ends in a tree or a diagnostic.

use super::super::{MemoryFiles, Options, add_bytes, read};
use cssame_diagnostics::Code;
use cssame_source::SourceMap;

/// A small generator (xorshift) with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// The codes of the errors of these bytes; `None` where they are C.
fn errors(bytes: &[u8]) -> Option<Vec<Code>> {
    let mut sources = SourceMap::default();
    let main = add_bytes(&mut sources, "main.c", bytes);
    let reading = read(&mut sources, main, &MemoryFiles::new(), &Options::default());
    let codes: Vec<Code> = reading.diagnostics.iter().map(|one| one.code).collect();
    assert!(!codes.contains(&Code::Internal), "{}", String::from_utf8_lossy(bytes));
    if reading.unit.is_some() { None } else { Some(codes) }
}

const PROGRAM: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#define INC(x) ((x)++)\n\
struct node { int value; struct node *next; unsigned bits : 3; } list[2] = { { 1, &list[1] }, { .value = 2 } };\n\
static _Thread_local long t = 3; atomic_int a; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
void *worker(void *arg) { int n = (int)(long)arg, v[n + 1]; pthread_mutex_lock(&m);\n\
  for (int i = 0; i <= n; i++) { v[i] = INC(list[i & 1].value); switch (v[i]) { case 1 ... 2: break; default: goto out; } }\n\
  out: pthread_mutex_unlock(&m); atomic_fetch_add(&a, ({ int s = sizeof v; s; })); return a > 3 ? arg : (void *)0; }\n\
int main(void) { pthread_t p; pthread_create(&p, 0, worker, (void *)1L); return pthread_join(p, 0); }\n";

#[test]
fn mutated_programs_end_in_a_tree_or_a_diagnostic() {
    assert_eq!(errors(PROGRAM.as_bytes()), None);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let signs = b"(){}[];,*&#\"'<>=+-x0 \n\\\xff\0";
    for _ in 0..300 {
        let mut bytes = PROGRAM.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            let length = random.below(12).min(bytes.len() - at);
            match random.below(4) {
                0 => drop(bytes.drain(at..at + length)),
                1 => bytes.insert(at, signs[random.below(signs.len())]),
                2 => bytes[at] = signs[random.below(signs.len())],
                _ => {
                    let piece = bytes[at..at + length].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        errors(&bytes);
    }
}

#[test]
fn random_bytes_end_in_a_diagnostic() {
    let mut random = Random(88_172_645_463_325_252);
    for length in [0, 1, 7, 100, 1000] {
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            errors(&bytes);
        }
    }
}

#[test]
fn deep_trees_end_in_a_diagnostic() {
    let many = |piece: &str| piece.repeat(60_000);
    for text in [
        format!("int x; int f(void) {{ return {}x; }}", many("- ")),
        format!("int x; int f(void) {{ return {}x; }}", many("(int)")),
        format!("int x; int f(void) {{ return {}x; }}", many("x + ")),
        format!("int x; int f(void) {{ return {}x; }}", many("x ? x : ")),
        format!("int x; void f(void) {{ {}; }}", many("x, ")),
        format!("int x; void f(void) {{ {} x = 1; }}", many("if (x) ")),
        format!("int x; void f(void) {{ {} x = 1; }}", many("if (x) x = 1; else ")),
        format!("int x; void f(void) {{ {} x = 1; }}", many("do ")),
        format!("int x; void f(void) {{ switch (x) {{ {} x = 1; }} }}", many("default: ")),
        format!("int x = {}1{};", many("("), many(")")),
        format!("void f(void) {{ {} }}", many("{")),
        format!("int {} p;", many("*")),
        format!("#define f(x) x\nint x = {}1{};", many("f("), many(")")),
        format!("#if {}1\nint x;\n#endif\n", many("(")),
    ] {
        let found = errors(text.as_bytes()).expect("not read");
        assert!(found.contains(&Code::NestingTooDeep), "{} {found:?}", &text[..60]);
    }
}

#[test]
fn just_below_the_bound_the_stack_suffices() {
    for text in [
        format!("int x; int f(void) {{ return {}x; }}", "x + ".repeat(9_900)),
        format!("int x; int f(void) {{ return {}x; }}", "- ".repeat(9_900)),
        format!("int x; void f(void) {{ {} x = 1; }}", "if (x) ".repeat(4_900)),
        format!("int x; void f(void) {{ {} x = 1; }}", "if (x) x = 1; else ".repeat(4_900)),
    ] {
        assert_eq!(errors(text.as_bytes()), None, "{}", &text[..60]);
    }
}

#[test]
fn a_file_that_includes_itself_is_stopped() {
    let mut sources = SourceMap::default();
    let text = "#include \"main.c\"\n";
    let main = add_bytes(&mut sources, "main.c", text.as_bytes());
    let files = MemoryFiles::new().with("main.c", text);
    assert!(read(&mut sources, main, &files, &Options::default()).unit.is_none());
}
