//! What goes wrong with memory in programs in C, and what is read of objects as a whole.

use crate::process::{Files, finish, program, root};
use std::fs;

const HEAD: &str = "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <string.h>\n\
                    #include <stddef.h>\n#include <assert.h>\n";

fn answer_of(files: &Files, command: &str, text: &str) -> (i32, String) {
    files.write("memory.c", format!("{HEAD}{text}"));
    ask(files, &format!("{command} memory.c"))
}

fn ask(files: &Files, line: &str) -> (i32, String) {
    let answer = finish(program().current_dir(files.0.path()).args(line.split_whitespace()));
    (answer.status, answer.text())
}

/// In one thread: what is wrong, or nothing.
#[test]
fn memory_is_given_back_once_and_from_its_first_cell_on() {
    let files = Files::new();
    for (statements, expected) in [
        ("int *p = malloc(4); free(p); free(NULL); p = 0; free(p);", None),
        ("int *p = malloc(4); *p = 1; free(p); return *p;", Some("error[CS0422]")),
        ("int *p = malloc(4), *q = p; free(p); *q = 1;", Some("error[CS0422]")),
        (
            "struct { pthread_mutex_t m; } *p = calloc(1, sizeof *p); free(p); pthread_mutex_lock(&p->m);",
            Some("CS0422"),
        ),
        ("int *p = malloc(4); free(p); free(p);", Some("error[CS0423]")),
        ("int *p = calloc(4, 4); free(p + 1);", Some("error[CS0424]")),
        ("int local, *p = &local; free(p);", Some("error[CS0424]")),
        ("static int global; free(&global);", Some("error[CS0424]")),
        ("int *p = malloc(4), *q; free(p); q = malloc(4); *q = 2; assert(q != p); free(q);", None),
    ] {
        let (status, text) = answer_of(&files, "hunt", &format!("int main(void) {{ {statements} return 0; }}\n"));
        assert_eq!(status, i32::from(expected.is_some()), "{statements}\n{text}");
        assert!(expected.is_none_or(|code| text.contains(code)), "{statements}\n{text}");
    }
}

/// The object is given back between the last look of a thread at it and the unlocking of its lock: a step that other searches may do
/// early.
#[test]
fn a_lock_that_is_unlocked_behind_free_is_found() {
    let files = Files::new();
    let text = "struct object { pthread_mutex_t lock; atomic_int done; };\n\
                void *worker(void *argument) {\n  struct object *o = argument;\n  pthread_mutex_lock(&o->lock);\n  \
                atomic_store(&o->done, 1);\n  pthread_mutex_unlock(&o->lock);\n  return 0;\n}\n\
                int main(void) {\n  pthread_t a;\n  struct object *o = calloc(1, sizeof *o);\n  \
                pthread_create(&a, 0, worker, o);\n  while (!atomic_load(&o->done)) ;\n  free(o);\n  \
                pthread_join(a, 0);\n  return 0;\n}\n";
    for command in ["", "hunt", "futures", "races"] {
        let (status, text) = answer_of(&files, command, text);
        assert!(status == 1 && text.contains("use of memory that was given back"), "{command}: {text}");
    }
    let (_, said) = answer_of(&files, "hunt", text);
    assert!(said.contains("main gave it back at 20:3") && said.contains("in thread worker@18"), "{said}");
}

/// The object holds nothing but a lock, so that nobody accesses memory in it.
#[test]
fn a_lock_alone_in_its_memory_is_unlocked_behind_free() {
    let files = Files::new();
    let text = "#include <semaphore.h>\nsem_t s;\n\
                void *worker(void *m) { pthread_mutex_lock(m); sem_post(&s); pthread_mutex_unlock(m); return 0; }\n\
                int main(void) { pthread_t t; pthread_mutex_t *m = malloc(sizeof *m); pthread_mutex_init(m, 0);\n\
                sem_init(&s, 0, 0); pthread_create(&t, 0, worker, m); sem_wait(&s); free(m); pthread_join(t, 0); return 0; }\n"
        .replace("(void *m) {", "(void *argument) { pthread_mutex_t *m = argument;");
    for command in ["", "hunt", "futures"] {
        let (status, said) = answer_of(&files, command, &text);
        assert!(status == 1 && said.contains("use of memory that was given back"), "{command}: {said}");
    }
}

#[test]
fn the_last_user_gives_an_object_back() {
    let files = Files::new();
    let text = |lower: &str| {
        format!(
            "struct object {{ atomic_int users; int value; }};\n\
             static void give_up(struct object *o) {{ {lower} free(o); }}\n\
             void *worker(void *o) {{ assert(((struct object *)o)->value == 7); give_up(o); return 0; }}\n\
             int main(void) {{\n  pthread_t a;\n  struct object *o = malloc(sizeof *o);\n  atomic_init(&o->users, 2);\n  \
             o->value = 7;\n  pthread_create(&a, 0, worker, o);\n  give_up(o);\n  pthread_join(a, 0);\n  return 0;\n}}\n"
        )
    };
    let (status, said) = answer_of(&files, "", &text("if (atomic_fetch_sub(&o->users, 1) == 1)"));
    assert!(status == 0 && said.contains("no failure"), "{said}");
    let (status, said) = answer_of(&files, "", &text("atomic_fetch_sub(&o->users, 1); if (o->users == 0)"));
    assert!(status == 1 && said.contains("CS0422"), "{said}");
}

/// The thread that fails is that of the execution that is shown.
#[test]
fn races_names_the_thread_that_fails() {
    let files = Files::new();
    let sample = root().join("samples/c/reference_count.c");
    files.write("count.c", fs::read_to_string(sample).unwrap());
    let (_, text) = ask(&files, "races count.c");
    let first = text.split("record:").next().unwrap();
    let (fails, gave) = (first.split("in thread ").nth(1).unwrap(), first.split("= note: ").nth(1).unwrap());
    let name = |text: &str| text.split_whitespace().next().unwrap().to_owned();
    assert_ne!(name(fails), name(gave), "{text}");
}

/// Each of these programs checks itself, and no execution fails.
#[test]
fn objects_are_copied_passed_and_set_as_a_whole() {
    let files = Files::new();
    for (declarations, statements) in [
        (
            "struct point { int x, y; }; struct job { struct point at[2]; void *data; pthread_mutex_t m; } table[2];\n\
             static struct point turned(struct point p) { return (struct point){ .x = p.y, .y = p.x }; }\n\
             static struct point sum(struct point a, struct point b, int k) { a.x += b.x * k; a.y += b.y * k; return a; }",
            "struct point p = { 7, 8 }, q; int one = 1; q = p; q = sum(q, turned(p), 2); assert(q.x == 23 && q.y == 22);\n\
             assert(turned(p).x == 8 && p.x == 7); table[0].at[1] = p; table[one] = table[0];\n\
             assert(table[1].at[one].y == 8); struct point a[2] = { p, turned(p) }; assert(a[1].x == 8);\n\
             q = one ? turned(q) : p; assert(q.x == 22); struct point r = ({ struct point t = p; t.x++; t; }); assert(r.x == 8);",
        ),
        (
            "struct item { int key; char name[8]; struct item *next; } table[4]; int numbers[300], n = 5;",
            "struct item a; memset(&a, 0, sizeof a); a.key = 3; strcpy(a.name, \"abc\"); memcpy(&table[1], &a, sizeof a);\n\
             assert(table[1].key == 3 && strchr(table[1].name, 'c') == table[1].name + 2 && strlen(a.name) == 3);\n\
             memset(numbers, -1, sizeof numbers); numbers[0] = 1; numbers[1] = 2;\n\
             memmove(numbers + 1, numbers, 299 * sizeof *numbers); assert(numbers[1] == 1 && numbers[2] == 2 && numbers[3] == -1);\n\
             int others[8]; memcpy(others, numbers, n * sizeof(int)); assert(others[4] == -1);\n\
             long from = 5, to = 0; memcpy(&to, &from, sizeof to); assert(to == 5); memset(&to, 0, sizeof to); assert(!to);\n\
             int k = 0; struct item *at[2] = { &table[2], &table[3] }; memset(at[k++], 0, sizeof a); assert(k == 1);\n\
             assert(memcpy(at[k], &a, sizeof a) == at[1] && k == 1 && table[3].key == 3);\n\
             char *copy = strdup(a.name); assert(!strcmp(copy, \"abc\") && atoi(\" -42x\") == -42); free(copy);",
        ),
        (
            "struct node { void *data; union { struct node *next; struct node *free_next; }; };\n\
             union word { int i; unsigned u; }; union both { struct { int a, b; } s; int v[2]; } shared;",
            "union word w; w.i = -1; assert(w.u == 4294967295u && (long)w.i == -1); w.u++; assert(w.i == 0);\n\
             struct node n = { 0, { &n } }; assert(n.free_next == &n); n.free_next = 0; assert(!n.next);\n\
             shared.s.b = 5; shared.v[0]++; union both copy = shared; int i = 1; assert(copy.v[i] == 5 && copy.s.a == 1);",
        ),
        (
            "struct list { struct list *next; }; struct entry { int id; struct list link; };\n\
             struct ring { unsigned size; struct { int seq; void *data; } cells[]; };\n\
             static void *xmalloc(size_t n) { void *p = malloc(n); if (!p) abort(); return p; }\n\
             static void *xcalloc(size_t n, size_t size) { void *p = xmalloc(n * size); return p; }",
            "struct entry *e = xmalloc(sizeof *e); e->id = 9; struct list *l = &e->link;\n\
             assert(((struct entry *)((char *)l - offsetof(struct entry, link)))->id == 9);\n\
             int *v = xcalloc(3, sizeof(int)); v[2] = 4; assert(v[2] == 4);\n\
             struct ring *r = xmalloc(sizeof *r + 2 * sizeof r->cells[0]); r->size = 2; int n = 1;\n\
             for (unsigned i = 0; i < r->size; i++) r->cells[i].seq = i; assert(r->cells[n].seq == 1);\n\
             double d = 3; d /= 2; assert(d > 1.4 && d < 1.6 && (int)(d * 2) == 3);\n\
             free(e); free(v); free(r);",
        ),
        (
            "struct a { int x; struct { int n; } l; };",
            "struct a a; a.x = 5; struct a *p = (struct a *)((char *)&a.l - (size_t)&((struct a *)0)->l); assert(p->x == 5);\n\
             void *l = &a.l; p = (struct a *)(l - offsetof(struct a, l)); assert(p->x == 5);",
        ),
    ] {
        let (status, text) =
            answer_of(&files, "hunt", &format!("{declarations}\nint main(void) {{ {statements} return 0; }}\n"));
        assert!(status == 0 && text.contains("no failure"), "{statements}\n{text}");
    }
}

#[test]
fn memory_behind_the_last_element_is_out_of_reach() {
    let files = Files::new();
    for statements in [
        "int *v = xmalloc(3 * sizeof *v); v[n] = 1;",
        "struct ring *r = malloc(sizeof *r + n * sizeof(int)); r->cells[n] = 1;",
        "int v[3]; memset(v, 0, (n + 1) * sizeof *v);",
        "char text[3]; strcpy(text, \"abc\");",
    ] {
        let text = format!(
            "struct ring {{ int size; int cells[]; }}; int n = 3;\n\
             static void *xmalloc(size_t n) {{ void *p = malloc(n); if (!p) abort(); return p; }}\n\
             int main(void) {{ {statements} return 0; }}\n"
        );
        let (status, text) = answer_of(&files, "hunt", &text);
        assert!(
            status == 1 && text.contains("error[CS0419]: the pointer leads out of its object"),
            "{statements}\n{text}"
        );
    }
}

/// What C says of it is not known here, so it is no mistake of the program.
#[test]
fn memory_of_another_type_is_not_read() {
    let files = Files::new();
    let text = "struct a { int x; }; struct b { void *p; int y; };\n\
                int main(void) { struct a *a = malloc(sizeof *a); struct b *b = (struct b *)(void *)a; b->p = 0; return 0; }\n";
    let (status, said) = answer_of(&files, "run", text);
    assert!(status == 1 && said.contains("error[CS0603]: memory is used as another type"), "{said}");
    let (_, hunted) = answer_of(&files, "hunt", text);
    assert!(hunted.contains("what comes behind memory that is not read was not looked at"), "{hunted}");
    let (_, json) = answer_of(&files, "run --format json", text);
    assert!(json.contains("\"not-read\""), "{json}");
}

/// Pointers count bytes, whatever they are called on the way.
#[test]
fn pointers_are_moved_by_bytes() {
    let files = Files::new();
    let declarations = "#include <assert.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
        struct s { char a; int b; long c[2]; } p[8]; int v[8]; union { struct s *s; uintptr_t bits; } u;\n\
        void *nth(void *b, int i, int size) { return (char *)b + i * size; }\n";
    for statements in [
        "char *c = (char *)p; c += sizeof(struct s); *c = 5; assert(p[1].a == 5);",
        "*(int *)nth(v, 3, sizeof(int)) = 7; assert(v[3] == 7); int *q = nth(v, 7, 4); assert(q - v == 7);",
        "void *c = &p[2]; c = c + offsetof(struct s, c) + sizeof(long); *(long *)c = 9; assert(p[2].c[1] == 9);",
        "uintptr_t n = (uintptr_t)&p[3].b; assert(n % 4 == 0 && (n & 7) == 4); *(int *)(n + sizeof(struct s)) = 2; assert(p[4].b == 2);",
        "u.s = &p[5]; u.bits |= 1; assert(u.s != &p[5] && ((uintptr_t)u.s & 1)); u.bits &= ~(uintptr_t)1; u.s->b = 3; assert(p[5].b == 3);",
        "int *q = (int *)&p[1].a; q++; *q = 4; assert(p[1].b == 4); q += sizeof(struct s) / sizeof(int); *q = 6; assert(p[2].b == 6);",
        "char *h = malloc(4 * sizeof(struct s)); free(h);",
        "struct s *h = malloc(4 * sizeof *h); char *c = (char *)(h + 1); ((struct s *)c)->c[0] = 8; assert(h[1].c[0] == 8); free(h);",
        "int m[3][4]; int (*row)[4] = m; row[1][2] = 5; assert(((int *)m)[6] == 5 && (char *)&m[2] - (char *)m == 32);",
        "int x, *q = &x; uintptr_t *bits = (uintptr_t *)&q; *bits += 1; *bits -= 1; *q = 5; assert(x == 5);",
        "int i = 2; struct s *q = &p[i]; assert((char *)&q->c[i - 1] - (char *)p == 2 * (int)sizeof *q + 16);",
    ] {
        let text = format!("{declarations}int main(void) {{ {statements} return 0; }}\n");
        let (status, said) = answer_of(&files, "hunt", &text);
        assert!(status == 0 && said.contains("no failure"), "{statements}\n{said}");
    }
    for (statements, finding) in [
        ("int *q = &p[0].b; q++; *q = 1;", "CS0603"),
        ("char *c = (char *)v + 2; *(int *)c = 1;", "CS0603"),
        ("char *c = (char *)(v + 8); *c = 1;", "CS0419"),
        ("struct s *q = malloc(sizeof *q); ((char *)q)[sizeof *q] = 1;", "CS0419"),
        ("struct s *q = malloc(sizeof *q); ((char *)q)[2] = 1;", "CS0603"),
        ("char *c = (char *)v; *c = 1;", "CS0603"),
        ("*(int *)nth(v, 8, sizeof(int)) = 1;", "CS0419"),
    ] {
        let text = format!("{declarations}int main(void) {{ {statements} return 0; }}\n");
        let (status, said) = answer_of(&files, "run", &text);
        assert!(status == 1 && said.contains(finding), "{statements}\n{said}");
    }
}

#[test]
fn an_array_of_any_length_leads_back_to_its_structure() {
    let files = Files::new();
    let text = "struct v { int n; int it[]; }; static struct v g = { 2, { 5, 6 } };\n\
                int main(void) { assert(g.it[0] == 5 && g.it[1] == 6); struct v *b = malloc(sizeof *b + 8); b->n = 3;\n\
                int *p = b->it; struct v *c = (struct v *)((char *)p - offsetof(struct v, it)); assert(c == b && c->n == 3);\n\
                free((struct v *)((char *)p - offsetof(struct v, it))); return 0; }\n";
    let (status, said) = answer_of(&files, "hunt", text);
    assert!(status == 0 && said.contains("no failure"), "{said}");
}

/// A copy is as many accesses as there are members: another thread comes in between.
#[test]
fn a_copy_of_a_structure_is_torn() {
    let files = Files::new();
    let text = "struct pair { int a, b; } shared, one = { 1, 1 };\n\
                void *writer(void *x) { shared = one; return x; }\n\
                int main(void) { pthread_t t; pthread_create(&t, 0, writer, 0); struct pair seen = shared;\n\
                assert(seen.a == seen.b); pthread_join(t, 0); return 0; }\n";
    let (status, said) = answer_of(&files, "", text);
    assert!(status == 1 && said.contains("assertion failed: seen.a == seen.b"), "{said}");
}

/// In one thread: arithmetic that has no result, and its neighbours that have one.
#[test]
fn arithmetic_that_overflows_is_found() {
    let files = Files::new();
    for (statements, fails) in [
        ("int x = INT_MAX; x++;", true),
        ("int x = INT_MAX - 1; x++;", false),
        ("int x = INT_MIN; x--;", true),
        ("int x = INT_MIN; x = -x;", true),
        ("int x = INT_MAX; x = -x;", false),
        ("int x = 65536; x *= x;", true),
        ("int x = 46340; x *= x;", false),
        ("unsigned x = UINT_MAX; x++; x *= 7; x = -x; assert(x == -7u * 0);", false),
        ("long x = LONG_MAX; x = x + 1;", true),
        ("long x = INT_MAX; x = x + 1; assert(x == 2147483648);", false),
        ("long x = LONG_MIN; x = x / -1;", true),
        ("int x = INT_MIN, y = -1; x = x % y;", true),
        ("int x = INT_MIN, y = -1; x = x / (y - 1); assert(x == 1 << 30);", false),
        ("short x = SHRT_MAX; x++; assert(x == SHRT_MIN);", false),
        ("char c = 127; c += 1; assert(c == -128);", false),
        ("int n = 32; int x = 1 << n;", true),
        ("int n = 32; long x = 1L << n; assert(x == 4294967296);", false),
        ("int n = -1; unsigned x = 1u >> n;", true),
        ("unsigned n = 31; unsigned x = 1u << n; assert(x == 2147483648u);", false),
        ("atomic_int x = INT_MAX; x++; assert(x == INT_MIN);", false),
        ("int x = INT_MAX, y; assert(__builtin_add_overflow(x, 1, &y) && y == INT_MIN);", false),
        ("int at[4], i = INT_MAX; if (i + 1 < i) at[0] = 1;", true),
    ] {
        let text = format!("#include <limits.h>\nint main(void) {{ {statements} return 0; }}\n");
        let (status, text) = answer_of(&files, "hunt", &text);
        assert_eq!(status, i32::from(fails), "{statements}\n{text}");
        assert!(!fails || text.contains("error[CS0425]"), "{statements}\n{text}");
        let (status, text) = ask(&files, "hunt --wrapv memory.c");
        let is_plain = !statements.contains("/ -1") && !statements.contains("% y") && !statements.contains("n = ");
        assert!(status == i32::from(fails && !is_plain), "{statements}\n{text}");
        assert_eq!(ask(&files, "hunt memory.c -- -fwrapv").0, status, "{statements}");
    }
}

/// What the values were is said, and a test of the failure in Rust fails the same way.
#[test]
fn an_overflow_of_two_threads_is_shown_and_driven() {
    let files = Files::new();
    let text = "int next = 2147483646;\nvoid *take(void *unused) { next++; return 0; }\n\
                int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, take, 0);\n  \
                pthread_create(&b, 0, take, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n  return 0;\n}\n";
    for command in ["", "hunt", "futures", "run --seeds 1..50"] {
        let (status, said) = answer_of(&files, command, text);
        assert!(status == 1 && said.contains("signed overflow"), "{command}: {said}");
    }
    let (_, said) = answer_of(&files, "hunt", text);
    assert!(said.contains("next is 2147483647"), "{said}");
    let (status, said) = ask(&files, "drive memory.c --out tests --failures");
    assert_eq!(status, 1, "{said}");
    let package = fs::read_dir(files.0.path().join("tests/src")).unwrap();
    let texts = package.map(|file| fs::read_to_string(file.unwrap().path()).unwrap()).collect::<String>();
    assert!(texts.contains("checked_add"), "{texts}");
}
