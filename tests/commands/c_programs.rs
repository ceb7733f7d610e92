//! Programs in C: each command reads them, several files are linked, options of a compiler are settings that schedules keep.

use crate::process::{Answer, Files, finish, program, root};
use std::fmt::Write;
use std::fs;

fn ask(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).args(line.split_whitespace()))
}

/// Two threads that increment without a lock, and an assertion that fails for it.
const LOST: &str = "#include <assert.h>
#include <pthread.h>
int counter;
void *work(void *unused) {
  counter++;
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert(counter == 2);
  return 0;
}
";

fn lost() -> Files {
    let files = Files::new();
    files.write("lost.c", LOST);
    files
}

#[test]
fn the_bug_of_a_program_in_c_comes_first() {
    let answer = ask(&lost(), "lost.c");
    assert_eq!(answer.status, 1, "{answer:?}");
    let shown = answer.text();
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("error[CS0410]: assertion failed: counter == 2"));
    for part in ["note: counter is 1", "work@10[0]", "read counter = 0 (interrupted)", "12  assert: counter == 2"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// Of each width: that of `int` alone is computed in another way.
#[test]
fn a_division_by_zero_is_found_without_a_sign_too() {
    let files = Files::new();
    for (ty, sign) in [("unsigned", '/'), ("unsigned long", '%'), ("unsigned char", '%'), ("int", '/'), ("long", '%')] {
        files.write("divide.c", format!("{ty} none;\nint main(void) {{ return (int)(7u {sign} none); }}\n"));
        let answer = ask(&files, "divide.c");
        assert_eq!(answer.status, 1, "{ty} {sign}: {answer:?}");
        assert!(answer.text().contains("division by zero"), "{ty} {sign}: {answer:?}");
    }
}

/// The array is another one in each round, as long as that says, in a program with a heap and in one without.
#[test]
fn an_array_of_variable_length_is_made_anew_where_its_declaration_runs_again() {
    let files = Files::new();
    for heap in ["", "int *p = malloc(4);"] {
        let text = |last: &str| {
            format!(
                "#include <stdio.h>\n#include <stdlib.h>\nint f(int n) {{ {heap} int sum = 0;\n\
                 for (int i = 1; i <= n; i++) {{ int a[i]; for (int k = 0; k < i; k++) a[k] = k; int *q = a; sum += q[{last}]; }}\n\
                 return sum; }}\nint main(void) {{ printf(\"%d\\n\", f(4)); return 0; }}\n"
            )
        };
        files.write("round.c", text("i - 1"));
        let answer = ask(&files, "futures round.c");
        assert!(answer.status == 0 && answer.text().contains("main: 6"), "{answer:?}");
        files.write("round.c", text("i"));
        let answer = ask(&files, "round.c");
        assert!(answer.status == 1 && answer.text().contains("CS0419"), "{answer:?}");
    }
}

/// The function may have returned when the thread reads what it was given.
#[test]
fn a_local_that_a_thread_reads_when_its_function_has_returned_is_found() {
    let files = Files::new();
    let text = |wait: &str| {
        format!(
            "#include <pthread.h>\nint got;\nvoid *w(void *p) {{ got = *(int *)p; return 0; }}\n\
             void start(pthread_t *t) {{ int local = 4; pthread_create(t, 0, w, &local); {wait} }}\n\
             int main(void) {{ pthread_t t; start(&t); {} return got; }}\n",
            if wait.is_empty() { "pthread_join(t, 0);" } else { "" }
        )
    };
    files.write("gone.c", text(""));
    let answer = ask(&files, "gone.c");
    assert!(answer.status == 1 && answer.text().contains("error[CS0419]"), "{answer:?}");
    files.write("there.c", text("pthread_join(*t, 0);"));
    let answer = ask(&files, "there.c");
    assert!(answer.status == 0 && answer.text().contains("no failure"), "{answer:?}");
}

/// Where the program fails nothing goes on, so no lock is still held.
#[test]
fn an_error_under_a_lock_leaves_no_lock_held() {
    let files = Files::new();
    for inside in ["int *a = malloc(n * sizeof *a); a[0] = 1;", "int a[n]; a[0] = 1;", "f(3);", "if (n > 2) abort();"] {
        files.write(
            "held.c",
            format!(
                "#include <pthread.h>\n#include <stdlib.h>\nint n = 1;\nvoid g(int a) {{ n = 1; }}\nvoid (*f)(int) = g;\n\
                 pthread_mutex_t m;\n\
                 void *w(void *p) {{ pthread_mutex_lock(&m); {inside} pthread_mutex_unlock(&m); return 0; }}\n\
                 int main(void) {{ pthread_t t; pthread_create(&t, 0, w, 0); w(0); pthread_join(t, 0); return 0; }}\n"
            ),
        );
        let answer = ask(&files, "held.c");
        assert!(answer.status == 0 && !answer.text().contains("CS0303"), "{inside}: {answer:?}");
    }
}

#[test]
fn each_command_reads_c() {
    let files = lost();
    for (line, status) in [
        ("check lost.c", 1),
        ("hunt lost.c", 1),
        ("pi lost.c", 0),
        ("futures lost.c", 1),
        ("run --seed 1 lost.c", 0),
        ("races lost.c", 1),
        ("paths lost.c", 1),
        ("coverage lost.c", 1),
        ("correlate lost.c", 0),
        ("ci lost.c", 1),
        ("report lost.c -o report.html", 1),
        ("diff lost.c lost.c", 0),
        ("drive lost.c --out tests", 1),
        ("paths lost.c --emit paths", 1),
        ("ir --emit cfg lost.c", 0),
        ("ir --emit ssa lost.c", 0),
        ("ir --emit cssame lost.c", 0),
        ("ir --emit source lost.c", 0),
    ] {
        let answer = ask(&files, line);
        assert_eq!(answer.status, status, "{line}: {answer:?}");
        assert!(!answer.text().contains("CS0603"), "{line}: {answer:?}");
    }
    for line in [
        "drive lost.c --out java --target java",
        "drive lost.c --out pairs --pairs",
        "ir --emit ast lost.c",
        "fmt lost.c",
    ] {
        let answer = ask(&files, line);
        assert_eq!(answer.status, 2, "{line}: {answer:?}");
        assert!(answer.text().contains("CS0603"), "{line}: {answer:?}");
    }
}

#[test]
fn a_schedule_of_a_program_in_c_is_followed() {
    let files = lost();
    assert_eq!(ask(&files, "hunt lost.c --record-dir schedules").status, 1);
    let answer = ask(&files, "run lost.c --schedule schedules/failure-1.json");
    assert_eq!(answer.status, 1, "{answer:?}");
    assert!(answer.text().contains("assertion failed: counter == 2"), "{answer:?}");
    let answer = ask(&files, "futures lost.c --select counter@5:3=counter@initial");
    assert!(answer.text().contains("consistent: this execution has it"), "{answer:?}");
}

#[test]
fn options_of_a_compiler_are_settings_that_schedules_keep() {
    let files = Files::new();
    fs::create_dir(files.path("include")).expect("a directory for the test");
    files.write("include/size.h", "#ifndef SIZE\n#define SIZE 1\n#endif\nextern int limit;\n");
    files.write(
        "main.c",
        "#include <assert.h>\n#include \"size.h\"\nint limit = SIZE;\nint main(void) { assert(limit < 3); return 0; }\n",
    );
    let answer = ask(&files, "hunt main.c");
    assert!(answer.status == 2 && answer.complains("`size.h` file not found"), "{answer:?}");
    assert_eq!(ask(&files, "hunt main.c -- -I include").status, 0);
    assert_eq!(ask(&files, "hunt main.c --record-dir schedules -- -Iinclude -DSIZE=3").status, 1);
    // The schedule knows what the program was made with.
    let answer = ask(&files, "run main.c --schedule schedules/failure-1.json");
    assert!(answer.status == 1 && answer.text().contains("assertion failed: limit < 3"), "{answer:?}");
    // A macro that is defined as nothing is not 1.
    assert_eq!(ask(&files, "hunt main.c -- -Iinclude -DSIZE").status, 0);
    assert_eq!(ask(&files, "hunt main.c -- -Iinclude -DSIZE=").status, 2);
    let answer = ask(&files, "hunt main.c -- -Iinclude -O2");
    assert!(answer.status == 2 && answer.complains("`-O2` is not an option for reading C"), "{answer:?}");
}

#[test]
fn several_files_are_linked() {
    let files = Files::new();
    files.write(
        "queue.h",
        "struct queue { int head, tail; };\nvoid push(struct queue *q);\nextern struct queue shared;\n",
    );
    files.write("queue.c", "#include \"queue.h\"\nstruct queue shared;\nstatic int pushes;\nvoid push(struct queue *q) { q->tail++; pushes++; }\n");
    files.write(
        "main.c",
        "#include <assert.h>\n#include \"queue.h\"\nstatic int pushes = 5;\n\
         int main(void) { push(&shared); push(&shared); assert(shared.tail == 2 && pushes == 5); return 0; }\n",
    );
    let answer = ask(&files, "hunt main.c");
    assert!(answer.status == 2 && answer.complains("call of `push`"), "{answer:?}");
    let answer = ask(&files, "hunt main.c -- queue.c");
    assert_eq!(answer.status, 0, "{answer:?}");
    let answer = ask(&files, "hunt main.c -- lost.c");
    assert!(answer.status == 2 && answer.complains("`lost.c`, which is to be linked, cannot be read"), "{answer:?}");
}

/// A project that is compiled in a directory of its own, and a program of two of its files.
fn project() -> Files {
    let files = Files::new();
    for directory in ["src", "include", "build"] {
        fs::create_dir(files.path(directory)).expect("a directory for the test");
    }
    files.write("include/queue.h", "extern int items;\nvoid put(void);\n");
    files.write("src/queue.c", "#include \"queue.h\"\nint items = LIMIT;\nvoid put(void) { items++; }\n");
    files.write(
        "src/main.c",
        "#include <assert.h>\n#include <pthread.h>\n#include \"queue.h\"\nvoid *work(void *unused) { put(); return unused; }\n\
         int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, work, 0);\n\
         pthread_create(&b, 0, work, 0);\n  pthread_join(a, 0);\n  assert(items <= 8 + EXTRA);\n  return 0;\n}\n",
    );
    let directory = files.path("build").display().to_string();
    let entry = |file: &str, more: &str| {
        format!(
            "{{\"directory\": \"{directory}\", \"file\": \"../src/{file}\", \"command\": \"cc -I../include {more} -O2 -o x.o -c ../src/{file}\"}}"
        )
    };
    let database = format!("[{}, {}]", entry("main.c", "-DEXTRA=0"), entry("queue.c", "-D LIMIT=7"));
    files.write("build/compile_commands.json", database);
    files
}

#[test]
fn a_project_says_how_its_files_are_compiled() {
    let files = project();
    let answer = ask(&files, "hunt src/main.c -p build -- src/queue.c");
    assert!(answer.status == 1 && answer.text().contains("items is 9"), "{answer:?}");
    let shown = answer.text();
    assert!(shown.lines().any(|line| line.starts_with("queue.c:3  ") && line.contains("write items = ")), "{shown}");
    // What the command line says comes behind it; the line that records says all of it, at any place.
    assert!(!ask(&files, "hunt src/main.c -p build -- src/queue.c -DEXTRA=1").text().contains("CS0410"));
    let line = shown.lines().find_map(|line| line.strip_prefix("record: cssame ")).expect("how it is recorded");
    assert_eq!(line, "hunt src/main.c -p build --extra-arg=src/queue.c --record-dir schedules");
    assert_eq!(ask(&files, line).status, 1);
    let answer = ask(&files, "run src/main.c --schedule schedules/failure-1.json");
    assert!(answer.status == 1 && answer.text().contains("items <= 8"), "{answer:?}");
    // Places in files beside the one that was named have their names; so they are asked for.
    let answer = ask(&files, "pi src/main.c -p build --all -- src/queue.c");
    assert!(answer.text().contains("items@queue.c:3:18"), "{}", answer.text());
    let answer = ask(&files, "futures src/main.c -p build --select items@10:10=items@queue.c:3:18 -- src/queue.c");
    assert!(answer.text().contains("consistent"), "{answer:?}");
    let answer = ask(&files, "check --supported src -p build");
    assert!(answer.text().contains("1 of 2 files read") && !answer.text().contains("queue.h"), "{answer:?}");
    files.write("other.c", "int main(void) { return 0; }\n");
    for (line, message) in [
        ("check other.c -p build", "none of the 2 compile commands is for `other.c`"),
        ("check --supported other.c -p build", "file without a compile command"),
        ("check other.c -p src", "`src/compile_commands.json` cannot be read"),
        ("check other.c -p include/queue.h.json", "`include/queue.h.json` cannot be read"),
        ("check --supported other.c -- src/queue.c", "`src/queue.c` is not an option for C"),
    ] {
        let answer = ask(&files, line);
        assert!(
            answer.status > 0 && format!("{}{}", answer.text(), answer.stderr).contains(message),
            "{line}: {answer:?}"
        );
    }
}

/// A guarantee says what it holds within.
#[test]
fn what_was_chosen_for_the_program_is_told() {
    let files = Files::new();
    files.write(
        "weak.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\natomic_int x;\nint kept;\n\
         void *work(void *unused) {\n  atomic_store_explicit(&x, 1, memory_order_release);\n  return unused;\n}\n\
         int main(void) {\n  pthread_t a;\n  kept = rand();\n  pthread_create(&a, 0, work, 0);\n\
         atomic_load(&x);\n  pthread_join(a, 0);\n  return 0;\n}\n",
    );
    let within = "within: executions are sequentially consistent, even for weaker memory orders; `rand()` is 0..1";
    for line in ["hunt weak.c", "weak.c", "futures weak.c", "races weak.c", "paths weak.c", "coverage weak.c"] {
        let answer = ask(&files, line);
        let all = format!("{}{}", answer.text(), answer.stderr).replace("\n ", "");
        assert!(all.contains(within), "{line}: {all}");
        let json = ask(&files, &format!("{line} --format json"));
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let said: Vec<&str> =
            json["within"].as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(|one| one.as_str()).collect();
        assert!(line == "weak.c" || within.ends_with(&said.join("; ")) && said.len() == 2, "{line}: {said:?}");
    }
    let answer = ask(&files, "check weak.c");
    assert_eq!(answer.text().matches("executions are sequentially consistent").count(), 1, "{answer:?}");
}

#[test]
fn what_the_program_leaves_open_has_a_range() {
    let files = Files::new();
    files.write(
        "open.c",
        "#include <assert.h>\nint __VERIFIER_nondet_int(void);\nint main(void) { int n = __VERIFIER_nondet_int(); assert(n != 4); return 0; }\n",
    );
    assert_eq!(ask(&files, "hunt open.c").status, 0);
    assert_eq!(ask(&files, "hunt open.c --nondet 0..4").status, 1);
    let answer = ask(&files, "hunt open.c --nondet 4");
    assert!(answer.status == 2 && answer.complains("not a range of integers"), "{answer:?}");
}

#[test]
fn the_end_of_main_is_the_end_of_the_program() {
    let files = Files::new();
    files.write(
        "ends.c",
        "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
         void *wait(void *unused) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return 0; }\n\
         int main(void) { pthread_t t; pthread_mutex_lock(&m); pthread_create(&t, 0, wait, 0); return 0; }\n",
    );
    assert_eq!(ask(&files, "hunt ends.c").status, 0);
    let answer = ask(&files, "hunt ends.c --main-waits");
    assert!(answer.status == 1 && answer.text().contains("CS0412"), "{answer:?}");
}

/// A code base takes its locks through functions and macros: they are held all the same.
#[test]
fn locks_that_are_taken_through_wrappers_are_held() {
    let mut text = "#include <pthread.h>\n\
        struct guard { pthread_mutex_t mutex; int depth; };\n\
        static void enter(struct guard *g) { pthread_mutex_lock(&g->mutex); g->depth++; }\n\
        static void leave(struct guard *g) { g->depth--; pthread_mutex_unlock(&g->mutex); }\n\
        #define WITH(g, what) do { enter(g); what; leave(g); } while (0)\n"
        .to_owned();
    for number in 0..1000 {
        let _ = write!(
            text,
            "static struct guard guard{number} = {{PTHREAD_MUTEX_INITIALIZER, 0}};\nstatic int value{number};\n\
             static void change{number}(int by) {{\n  if (by > 0) {{\n    WITH(&guard{number}, value{number} += by);\n  }} else {{\n    \
             WITH(&guard{number}, value{number}--);\n  }}\n}}\n"
        );
    }
    text += "void *work(void *unused) {\n";
    for number in 0..1000 {
        let _ = writeln!(text, "  change{number}(1);");
    }
    text += "  return 0;\n}\nint main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, work, 0);\n  \
             pthread_create(&b, 0, work, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n  return 0;\n}\n";
    assert!(text.lines().count() > 10_000, "{} lines", text.lines().count());
    let files = Files::new();
    files.write("large.c", &text);
    let answer = ask(&files, "check large.c");
    assert_eq!(answer.status, 0, "{}", answer.text().lines().take(40).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_samples_in_c_end_as_they_say() {
    for (name, status, words) in [
        ("bank_transfer_deadlock", 1, "deadlock: forth@42, back@43, main wait for ever"),
        ("bounded_buffer", 0, "no failure, deadlock, race or endless execution"),
        ("counter_unlocked", 1, "accesses to `x` may race"),
        ("hazard_stack", 0, "no failure, deadlock, race or endless execution"),
        ("message_bus", 1, "assertion failed: event.moved.x == 3"),
        ("message_passing", 0, "no failure, deadlock, race or endless execution"),
        ("reference_count", 1, "use of memory that was given back"),
        ("queue_lost", 1, "assertion failed: sum == 3"),
        ("quota", 1, "signed overflow"),
        ("thread_pool", 1, "assertion failed: sum == 3"),
        ("treiber_stack", 0, "no failure, deadlock, race or endless execution"),
    ] {
        let path = root().join("samples/c").join(name).with_extension("c");
        let answer = finish(program().arg(&path));
        assert_eq!(answer.status, status, "{name}: {answer:?}");
        assert!(answer.text().contains(words), "{name}: {answer:?}");
    }
}
