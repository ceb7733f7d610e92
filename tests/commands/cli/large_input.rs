//! Programs that are odd, large or never over, but valid: every command has an answer, within its bounds.

use super::{Files, call, finish};

/// The commands that are tried, with bounds that each of them keeps.
const COMMANDS: &[&str] = &[
    "check",
    "ir --emit ast",
    "ir --emit cfg",
    "ir --emit ssa",
    "ir --emit cfg --format dot",
    "pi",
    "run --max-steps 3000",
    "futures --max-states 2000",
    "drive --max-states 2000",
];

/// A program, and the status of `check`, `run`, `futures` and `drive`; that of all others is 0.
type Case = (&'static str, String, [i32; 4]);

fn cases() -> Vec<Case> {
    let arms = |count: usize| (0..count).map(|arm| format!("T{arm}: a = {arm};\n")).collect::<String>();
    let holder = |arm| format!("T{arm}: lock(L); a = a + 1; unlock(L);\n");
    let holders = |count: usize| (0..count).map(holder).collect::<String>();
    let handles = |count: usize| {
        let spawns: String = (0..count).map(|each| format!("thread t{each} = spawn f({each});\n")).collect();
        let joins: String = (0..count).map(|each| format!("join(t{each});\n")).collect();
        format!("int a; void f(int n) {{ a = n; }} void main() {{ {spawns} {joins} print(a); }}")
    };
    let text = |text: &str| text.to_owned();
    vec![
        ("byte order mark", text("\u{feff}int a = 1;\nprint(a);\n"), [0, 0, 0, 0]),
        ("CRLF", text("int a = 1; // one\r\nprint(a,\r\n \"b\");\r\n"), [0, 0, 0, 0]),
        ("no newline at the end", text("print(1); // é"), [0, 0, 0, 0]),
        ("smallest number", text("int a = -2147483648; print(a - 1, -a);"), [0, 0, 0, 0]),
        ("deep expression", format!("print({}1{});", "(".repeat(200), ")".repeat(200)), [0, 0, 0, 0]),
        ("long expression", format!("print({}1);", "1 + ".repeat(250)), [0, 0, 0, 0]),
        ("long name", format!("int {0} = 1; print({0});", "a".repeat(1 << 20)), [0, 0, 0, 0]),
        ("long text", format!("print(\"{}\");", "a".repeat(1 << 20)), [0, 0, 0, 0]),
        ("recursion", text("int f(int n) { return n < 1 ? 0 : f(n - 1); } void main() { print(f(9)); }"), [0, 0, 0, 0]),
        ("endless recursion", text("int f(int n) { return f(n + 1); } void main() { print(f(0)); }"), [0, 1, 1, 1]),
        ("endless loop", text("while (true) { }"), [0, 1, 1, 1]),
        ("endless threads", text("int a; cobegin A: while (true) a++; B: while (true) a--; coend"), [1, 1, 3, 3]),
        ("no iteration", text("int a; parfor (int i = 0; i < 0; i++) { a = i; } print(a);"), [1, 0, 0, 0]),
        ("a thousand threads", format!("int a; cobegin {} coend print(a);", arms(1_000)), [1, 0, 0, 3]),
        ("a thousand holders", format!("int a; lock L; cobegin {} coend print(a);", holders(1_000)), [0, 3, 3, 2]),
        ("a thousand handles", handles(1_000), [1, 3, 3, 3]),
        ("iterations", text("int a; parfor (int i = 0; i < 10000; i++) { a = i; } print(a);"), [1, 3, 3, 3]),
        ("large arrays", text("int t[1000000]; long u[1000000]; t[5] = 1; u[999999] = 2; print(t[5]);"), [0, 0, 0, 0]),
        ("many statements", text("int a; ") + &"a = a + 1; print(a); ".repeat(500), [0, 0, 0, 0]),
        ("barrier that nobody passes", text("barrier b(65535); barrier(b);"), [1, 1, 1, 1]),
        ("deadlock", text("lock L; lock(L); lock(L);"), [1, 1, 1, 1]),
        ("discarded", text("assume(false); print(1);"), [0, 0, 0, 0]),
        ("wide choice", text("print(choose(0, 100000));"), [0, 0, 0, 0]),
    ]
}

#[test]
fn every_command_answers() {
    let files = Files::new();
    let mut problems = Vec::new();
    for (name, text, [check, run, futures, drive]) in support::part(cases(), 4) {
        let file = files.write("input.csm", text);
        for line in COMMANDS {
            let mut more = vec![file.clone()];
            if line.starts_with("drive") {
                more.extend(["--out".into(), files.path("drivers")]);
            }
            let answer = call(line, &more);
            let expected = match line.split(' ').next() {
                Some("check") => check,
                Some("run") => run,
                Some("futures") => futures,
                Some("drive") => drive,
                _ => 0,
            };
            if answer.status != expected {
                let text = answer.text();
                let head: Vec<&str> = text.lines().rev().take(3).collect();
                problems.push(format!("{name}: `{line}`: status {}, not {expected}: {head:?}", answer.status));
            }
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn a_bound_that_was_hit_is_told() {
    let files = Files::new();
    let file = files.write("input.csm", "int a; cobegin A: while (true) a++; B: while (true) a--; coend");
    let answer = call("futures --max-states 100", &[&file]);
    assert!(answer.stderr.contains("CS0904") && answer.stderr.contains("--max-states"), "{answer:?}");
    let value = call("futures --max-steps 3 --format json samples/cssame_fig2.csm", &[""; 0]).json();
    assert_eq!(value["complete"], false);
    assert!(value["terms"].as_array().is_some_and(|terms| terms.iter().any(|term| term["feasible"].is_null())));
}

#[test]
fn reads_on_one_long_line_are_shown_by_windows() {
    let files = Files::new();
    let arm = "a = 1; print(a); ".repeat(100) + &"/* é */".repeat(100_000) + "print(a);";
    let file = files.write("input.csm", format!("int a; cobegin A: {{ {arm} }} B: a = 2; C: {{ {arm} }} coend"));
    let answer = call("pi", &[&file]);
    assert_eq!(answer.status, 0);
    assert!(answer.stdout.len() < 20 << 20, "{} bytes", answer.stdout.len());
    assert!(answer.stdout.contains("… print(a); print(a);") || answer.stdout.contains('…'));
    let longest = answer.stdout.lines().filter(|line| line.contains('|')).map(|line| line.chars().count()).max();
    assert!(longest < Some(120), "{longest:?}");
}

/// So many reads that may see the same 300 writes each.
fn many_terms(reads: usize) -> String {
    let reads = "  print(a);\n".repeat(reads);
    let writes: String = (1..300).map(|value| format!("  a = {value};\n")).collect();
    format!("int a;\ncobegin\nR: {{\n{reads}}}\nW: {{\n{writes}}}\ncoend\n")
}

#[test]
fn a_long_list_of_terms_is_cut_for_people_only() {
    let files = Files::new();
    let reads = support::size(8, 400);
    let file = files.write("input.csm", many_terms(reads));
    let answer = call("pi", &[&file]);
    assert_eq!(answer.stdout.matches("  and 260 more (--all shows them)\n").count(), reads);
    assert!(answer.stdout.contains("a_38, a_39, …)"), "{}", &answer.stdout[..1000]);
    assert!(answer.stdout.len() < 2 << 20, "{} bytes", answer.stdout.len());
    let answer = call("pi --all", &[&file]);
    assert!(answer.stdout.contains("a_298, a_299)") && !answer.stdout.contains("more (--all"));
    let pis = call("pi --format json", &[&file]).json()["pis"].take();
    let pis = pis.as_array().expect("a list");
    assert_eq!(pis.len(), reads);
    assert!(pis.iter().all(|pi| pi["terms"].as_array().map(Vec::len) == Some(300)));

    let answer = call("futures --max-states 10", &[&file]);
    assert_eq!(answer.status, 3);
    assert!(answer.stdout.ends_with(&format!("\n{} terms (--terms lists them)\n", 300 * reads)), "{answer:?}");
    let answer = call("futures --max-states 10 --terms", &[&file]);
    // Single executions have shown some of them.
    assert_eq!(answer.stdout.lines().filter(|line| line.starts_with("    and 260 more")).count(), reads);
    let terms = call("futures --max-states 10 --format json", &[&file]).json()["terms"].take();
    assert_eq!(terms.as_array().map(Vec::len), Some(reads * 300));
}

#[test]
fn drivers_are_not_made_for_too_many_terms() {
    let files = Files::new();
    let file = files.write("input.csm", many_terms(400));
    let answer = call("drive --out", &[files.path("drivers"), file]);
    assert_eq!(answer.status, 2);
    assert!(answer.stderr.contains("CS0904") && answer.stderr.contains("120000 pi terms"), "{answer:?}");
    assert!(answer.stderr.contains("--select") && !files.path("drivers").exists(), "{answer:?}");
}

#[test]
fn pictures_are_made_of_graphs_that_are_not_too_large() {
    let files = Files::new();
    let arms = |count: usize| (0..count).map(|arm| format!("T{arm}: a = {arm};\n")).collect::<String>();
    let texts = [
        (0, "print(1 < 2, \"<&>\", \"\\\"\");".to_owned()),
        (0, format!("int {0} = 1; print({0});", "a".repeat(1 << 16))),
        (0, "int a; ".to_owned() + &"a = a + 1; print(a); ".repeat(500)),
        (0, "while (true) { }".to_owned()),
        (0, format!("int a; cobegin {} coend", arms(50))),
        (0, format!("int a; cobegin {} coend", arms(1_000))),
        (2, "int a; ".to_owned() + &"a = a + 1; print(a); ".repeat(5_000)),
    ];
    for (status, text) in texts {
        let head = text[..20.min(text.len())].to_owned();
        let file = files.write("input.csm", text);
        let answer = call("ir --format svg", &[&file]);
        assert_eq!(answer.status, status, "{head}: {}", answer.stderr);
        if status == 0 {
            assert!(answer.stdout.contains("<svg ") && answer.stdout.trim_end().ends_with("</svg>"), "{head}");
        } else {
            assert!(answer.stderr.contains("CS0902") && answer.stderr.contains("--format dot"), "{}", answer.stderr);
        }
    }
}

/// The n-th outcome has n lines: what is shown of them is bounded, as is what is kept.
#[test]
fn outcomes_without_end_are_shown_as_far_as_a_bound_allows() {
    let files = Files::new();
    let path = files.write("endless.csm", "void main() { while (choose(-1, 1) == 1) print(1); }\n");
    let calls = vec![("--max-states=500", "human"), ("--max-memory=2M", "human"), ("--max-states=500", "json")];
    for (bound, format) in support::part(calls, 1) {
        let answer = call(&format!("futures {bound} --max-steps=2000 --format {format}"), &[&path]);
        // Executions without end are known: without what is printed, there are few states.
        assert_eq!(answer.status, 1, "{}", answer.stderr);
        match format {
            "json" => {
                let value = answer.json();
                assert_eq!((&value["complete"], &value["endless_complete"]), (&false.into(), &true.into()));
                assert_eq!(value["endless"][0]["kind"], "livelock");
                assert!(value["outcomes"].as_array().is_some_and(|outcomes| outcomes.len() > 200));
            }
            _ => assert!(answer.stdout.contains("more (--all shows them)"), "{}", answer.stdout),
        }
    }
}

/// Few states, each of which is larger than what is left.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_is_not_to_be_had_is_a_bound() {
    let files = Files::new();
    let arm = |value: u32| format!("T{value}: {{ t[1] = {value}; t[2] = {value}; t[3] = {value}; }}\n");
    let arms: String = (1..4).map(arm).collect();
    let text = format!("int t[1000000];\ncobegin\n{arms}coend\nprint(t[1], t[2], t[3]);\n");
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "ulimit -v 300000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_cssame"), "futures"]);
    let answer = finish(command.arg(files.write("large.csm", text)));
    assert_eq!((answer.status, answer.stderr.contains("--max-memory")), (3, true), "{}", answer.stderr);
    // The bound that follows from the memory that there is may be seen to be hit before.
    let is_over = answer.stderr.starts_with("error: out of memory: ");
    assert_eq!(is_over, answer.stdout.is_empty(), "{}", answer.stderr);
}

/// What is said where memory or time end a process.
const OVER: &str = "error: the process would take more than 67108864 bytes of memory\n  = help: raise `--max-memory` (half of what \
                    the machine has unless named), or ask for less\n";

/// What the program itself takes is not counted by any search.
#[test]
fn a_program_that_is_larger_than_the_bound_ends_with_a_message() {
    let files = Files::new();
    let path = files.write("large.csm", format!("int x;\n{}", "x = x + 1;\n".repeat(150_000)));
    let answer = call("futures --max-memory=64M", &[&path]);
    assert_eq!((answer.status, answer.stdout.as_str()), (3, ""));
    assert_eq!(answer.stderr, OVER);
    // The trace of one execution.
    let path = files.write("long.csm", "int x;\nwhile (true) { x = x + 1; print(x); }\n");
    let answer = call("run --max-memory=64M", &[&path]);
    assert_eq!((answer.status, answer.stdout.as_str(), answer.stderr.as_str()), (3, "", OVER));
}

/// A program that is compiled takes memory and time before any search counts them.
#[test]
fn bounds_hold_while_a_program_is_compiled() {
    let files = Files::new();
    let statements = "x = x + 1; ".repeat(support::size(30_000, 150_000));
    let path = files.write("large.csm", format!("int x;\ncobegin\nA: {{ {statements} }}\nB: x = 2;\ncoend\n"));
    let commands =
        ["futures", "races", "paths", "coverage", "correlate", "check --confirm", "ci", "report", "drive --out unused"];
    for command in support::part(commands.to_vec(), 3) {
        let answer = call(&format!("{command} --max-memory={}M", support::size(12, 64)), &[&path]);
        assert_eq!((answer.status, answer.stdout.as_str(), answer.stderr.as_str()), (3, "", OVER), "{command}");
    }
    let said = "error: the 0.001 seconds of `--timeout` were over before the program was compiled\n  = help: raise it, or ask \
                about a smaller program\n";
    let commands = ["futures", "races", "paths", "coverage", "correlate", "drive --out unused", "run --seeds 0..9"];
    for command in support::part(commands.to_vec(), 3) {
        let answer = call(&format!("{command} --timeout=0.001"), &[&path]);
        assert_eq!((answer.status, answer.stdout.as_str(), answer.stderr.as_str()), (3, "", said), "{command}");
    }
}

/// What a thread would access is looked at once in a state: for each pair of threads it took minutes.
#[test]
fn many_threads_before_atomic_blocks_keep_to_a_bound() {
    let files = Files::new();
    let file =
        files.write("many.csm", "int x;\nvoid main() { parfor (int i = 0; i < 1000; i++) { atomic { x += 1; } } }\n");
    let answer = call("hunt --max-states 1200 --samples 0", &[&file]);
    assert_eq!(answer.status, 3, "{}", answer.stderr);
    let expected = "not even all executions without a preemption were looked at: 1201 states so far\n";
    assert_eq!(answer.stdout, expected);
}

/// `run` is asked for its steps; below a finding so many are of no use.
#[test]
fn a_long_execution_is_shown_where_it_is_asked_for() {
    let files = Files::new();
    let adds: String = (1..200).map(|line| format!("  x = x + {line};\n")).collect();
    let file = files
        .write("long.csm", format!("atomic int x;\ncobegin\nA: {{\n{adds}}}\nB: print(x);\ncoend\nassert(x == 0);\n"));
    let rows =
        |answer: &crate::process::Answer| answer.stdout.lines().filter(|line| line.contains("write x = ")).count();
    assert_eq!(rows(&call("run", &[&file])), 199);
    let hunted = call("hunt", &[&file]);
    assert!(
        hunted.stdout.contains("\nthe execution has ")
            && hunted.stdout.contains(" steps, too many to show here\nrecord: "),
        "{hunted:?}"
    );
    assert_eq!((rows(&hunted), rows(&call("hunt --all", &[&file]))), (0, 199));
}
