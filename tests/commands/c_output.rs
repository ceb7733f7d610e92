//! What programs in C print: formats, texts that are computed, results of threads.

use crate::process::{Answer, Files, finish, program};

fn ask(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).args(line.split_whitespace()))
}

const HEAD: &str = "#include <pthread.h>\n#include <stdio.h>\n#include <errno.h>\n#include <string.h>\n#include <stdlib.h>\n\
                    #include <assert.h>\n";

fn with(text: &str) -> Files {
    let files = Files::new();
    files.write("output.c", format!("{HEAD}{text}"));
    files
}

/// As glibc prints it.
#[test]
fn values_are_printed_as_printf_prints_them() {
    let cases = [
        (r#"printf("%d %i|%5d|%-5d|%05d|%+d", -1, 2, -42, -42, -42, 42)"#, "-1 2|  -42|-42  |-0042|+42"),
        (r#"printf("%u %lu %zu", -1, -1L, sizeof(int))"#, "4294967295 18446744073709551615 4"),
        (r#"printf("%x %X %o %08x %lx", -1, 255, 8, 48879, -1L)"#, "ffffffff FF 10 0000beef ffffffffffffffff"),
        (r#"printf("%hhd %hhu %hd %hx", 300, 300, 70000, -1)"#, "44 44 4464 ffff"),
        (r#"printf("%c%c|%3c|%-3c|", t[0], 'b', 'c', t[1])"#, "ab|  c|b  |"),
        (r#"printf("%f %.2f|%8.3f|%08.2f|%+.0f", d, d, d, -d, d)"#, "2.500000 2.50|   2.500|-0002.50|+2"),
        (r#"printf("%s|%-5s|%.2s|%-4.1s|%5s|", t, t, t, t, "ab")"#, "abc|abc  |ab|a   |   ab|"),
        (r#"printf("%s%%%s", none, p + 1)"#, "(null)%bc"),
        (r#"printf("%s", strerror(EBUSY))"#, "Device or resource busy"),
        (r#"puts(t)"#, "abc"),
        (r#"putchar(t[2])"#, "c"),
        (r#"fputs("text\n", stderr)"#, "text"),
        (r#"fprintf(stdout, "%s\n", argc ? "yes" : "no")"#, "yes"),
    ];
    let statements: String = cases.iter().map(|(statement, _)| format!("  {statement};\n")).collect();
    let files = with(&format!(
        "int main(int argc, char **argv) {{\n  char t[8] = \"abc\", *p = t;\n  const char *none = 0;\n  double d = 2.5;\n\
         {statements}  return 0;\n}}\n"
    ));
    let answer = ask(&files, "run output.c");
    let shown = answer.text();
    let printed: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("  main: ")).collect();
    let expected: Vec<&str> = cases.iter().map(|(_, line)| *line).collect();
    assert_eq!(printed, expected, "{shown}");
}

#[test]
fn what_is_not_printed_exactly_is_refused() {
    for (statement, said) in [
        (r#"printf("%e", 1.0)"#, "format with `%e`"),
        (r#"printf("%.3d", 1)"#, "format with `%.3d`"),
        (r#"printf("%5s", t)"#, "format with `%s` with a width"),
        (r#"printf(t)"#, "format with no literal"),
        (r#"int x = puts(t); return x"#, "result of `puts`"),
    ] {
        let files = with(&format!("int main(void) {{ char t[] = \"abc\"; {statement}; return 0; }}\n"));
        let answer = ask(&files, "check output.c");
        assert!(answer.status == 2 && answer.text().contains(said), "{statement}: {answer:?}");
    }
}

/// The characters of a text are read one by one, while another thread may write them.
#[test]
fn a_text_that_is_printed_is_read() {
    let files = with(
        "char shared[] = \"xy\";\nvoid *change(void *text) { printf(\"%s\\n\", (char *)text); shared[1] = 'z'; return 0; }\n\
         int main(void) {\n  pthread_t a;\n  pthread_create(&a, 0, change, \"begins\");\n  \
         printf(\"now %s!\\n\", shared);\n  pthread_join(a, 0);\n  return 0;\n}\n",
    );
    let races = ask(&files, "races output.c").text();
    assert!(races.contains("*shared@12:23") && races.contains("1 real"), "{races}");
    let futures = ask(&files, "futures output.c").text();
    assert!(futures.contains("main: now xy!") && futures.contains("main: now xz!"), "{futures}");
    assert!(futures.contains("change@11: begins"), "{futures}");
    let driven = ask(&files, "drive output.c --out package --run");
    assert!(driven.status == 0, "{driven:?}");
}

#[test]
fn the_result_of_a_thread_is_stored_through_a_cast() {
    let files = with(
        "struct pair { int x, y; };\n\
         void *work(void *of) { struct pair *p = malloc(sizeof *p); p->x = *(int *)of; p->y = 2; return p; }\n\
         int main(void) {\n  pthread_t a;\n  int one = 1;\n  struct pair *result;\n  \
         pthread_create(&a, NULL, work, &one);\n  pthread_join(a, (void **)&result);\n  \
         assert(result->x == 1 && result->y == 2);\n  free(result);\n  return 0;\n}\n",
    );
    let answer = ask(&files, "output.c");
    assert!(answer.status == 0 && answer.text().contains("no failure"), "{answer:?}");
}

/// A choice that a section begins with may as well be made before it.
#[test]
fn a_section_may_begin_with_choices() {
    let head = "extern void __VERIFIER_atomic_begin(void), __VERIFIER_atomic_end(void);\nextern int __VERIFIER_nondet_int(void);\n\
                int x, y;\n";
    let text = |body: &str| {
        format!(
            "{head}void *work(void *unused) {{ __VERIFIER_atomic_begin(); {body} __VERIFIER_atomic_end(); return 0; }}\n\
             int main(void) {{\n  pthread_t a;\n  pthread_create(&a, NULL, work, NULL);\n  pthread_join(a, NULL);\n  \
             assert(x == y);\n  assert(x != 1);\n  return 0;\n}}\n"
        )
    };
    let files = with(&text("x = __VERIFIER_nondet_int(); y = x;"));
    let answer = ask(&files, "hunt output.c");
    assert!(answer.status == 1 && answer.text().contains("assertion failed: x != 1"), "{answer:?}");
    assert!(!answer.text().contains("x == y"), "{answer:?}");
    let files = with(&text("if (x == 0) y = __VERIFIER_nondet_int();"));
    let answer = ask(&files, "hunt output.c");
    assert!(answer.status == 2 && answer.text().contains("in a section"), "{answer:?}");
}
