//! Texts that are hardly programs: each is lowered to a valid graph, or refused.

use super::super::{Settings, lower};
use crate::tree::{MemoryFiles, Options, add_bytes, read};
use cssame_diagnostics::Code;
use cssame_source::SourceMap;

/// Lowers a text if it is C.
fn try_to_lower(bytes: &[u8]) -> Option<bool> {
    let mut sources = SourceMap::default();
    let main = add_bytes(&mut sources, "main.c", bytes);
    let unit = read(&mut sources, main, &MemoryFiles::new(), &Options::default()).unit?;
    match lower(&sources, &[&unit], &Settings::default()) {
        Ok(lowered) => {
            let faults = cssame_ir::verify::verify(&lowered.program).err().unwrap_or_default();
            assert!(faults.is_empty(), "{}\n{}", faults[0], String::from_utf8_lossy(bytes));
            Some(true)
        }
        Err(found) => {
            assert!(
                found.diagnostics().iter().all(|one| one.code != Code::Internal),
                "{}",
                String::from_utf8_lossy(bytes)
            );
            Some(false)
        }
    }
}

const PROGRAM: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#define INC(x) ((x)++)\n\
struct node { int value; struct node *next; pthread_mutex_t lock; } list[2] = { { 1, &list[1] }, { .value = 2 } };\n\
static int w[4]; int *v() { return w; } static long t = 3; atomic_int a; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c; int *p = &list[1].value;\n\
void *worker(void *arg) { int n = (int)(long)arg, v[3] = { n, 2 }; pthread_mutex_lock(&m); if (n) pthread_cond_wait(&c, &m);\n\
  for (int i = 0; i <= n; i++) { v[i] = INC(list[i & 1].value); switch (v[i]) { case 1 ... 2: break; default: goto out; } }\n\
  out: pthread_mutex_unlock(&m); atomic_fetch_add(&a, ({ int s = *p; s; })); return a > 3 || !t ? arg : (void *)0; }\n\
int main(void) { pthread_t h[2]; void *r; for (int i = 0; i < 2; i++) pthread_create(&h[i], 0, worker, (void *)1L);\n\
  int e = 1; atomic_compare_exchange_strong(&a, &e, t ? 4 : e); printf(\"%d %ld\\n\", e, t); p += list[0].next - list;\n\
  while (e-- > 0) *p = *(v() + 1); return pthread_join(h[1], &r); }\n";

const OF_THREADS: &str = "#include <pthread.h>\n#include <errno.h>\n#include <stdlib.h>\n\
static __thread int own = 2; _Thread_local struct { int n[2]; int *p; } s = { { 1, 2 }, 0 }; pthread_key_t key; pthread_once_t once; int out;\n\
void gone(void *p) { own = out; } void make(void) { pthread_key_create(&key, gone); } int f(int n) { s.p = &own; return n ? f(n - 1) : own++; }\n\
void *w(void *p) { pthread_once(&once, make); pthread_setspecific(key, p); out = f(3); if (errno == EBUSY) pthread_exit(pthread_getspecific(key));\n\
  int n = *s.p, v[n], a[n][2]; v[out] = a[1][n] = __builtin_popcount(n); return (void *)sizeof v; }\n\
int main(void) { int n = 3; pthread_t h[n]; typedef int row[n]; row r; for (int i = 0; i < n; i++) pthread_create(&h[i], 0, w, &r[i]);\n\
  if (__builtin_mul_overflow(n, 4L, &n)) errno = ffs(n); pthread_join(h[1], 0); pthread_key_delete(key); w(NULL); return own; }\n";

#[test]
fn mutated_programs_are_valid_or_refused() {
    mutate(PROGRAM);
}

#[test]
fn mutated_programs_of_threads_with_variables_of_their_own_are_valid_or_refused() {
    mutate(OF_THREADS);
}

fn mutate(program: &str) {
    assert_eq!(try_to_lower(program.as_bytes()), Some(true));
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound.max(1) as u64) as usize
    };
    // Pieces of the program take each other's places, so that much of it is C.
    let pieces: Vec<&str> = program.split_inclusive([' ', ';', ',', '(', ')']).collect();
    let mut lowered = 0;
    for _ in 0..100 {
        let mut mutated = pieces.clone();
        for _ in 0..=below(3) {
            let (from, to) = (below(pieces.len()), below(pieces.len()));
            mutated[to] = pieces[from];
        }
        lowered += usize::from(try_to_lower(mutated.concat().as_bytes()) == Some(true));
    }
    assert!(lowered > 2, "{lowered}");
}

#[test]
fn deep_trees_are_lowered() {
    for text in [
        format!("int x; int main(void) {{ return {}x; }}", "x + ".repeat(9_900)),
        format!("int x; int main(void) {{ return {}x; }}", "- ".repeat(9_900)),
        format!("int x; int main(void) {{ return {}x; }}", "x && ".repeat(4_900)),
        format!("int x; int main(void) {{ {} x = 1; }}", "if (x) ".repeat(4_900)),
        format!("int x; int main(void) {{ {} x = 1; }}", "if (x) x = 1; else ".repeat(4_900)),
    ] {
        assert_eq!(try_to_lower(text.as_bytes()), Some(true), "{}", &text[..60]);
    }
}
