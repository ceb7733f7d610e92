//! Exit status and streams of each command, and errors of usage.

use super::{Files, call};

/// Arguments, the status, and what stands in the output: on standard error where it begins with `!`.
const CALLS: &[(&str, i32, &str)] = &[
    // 0: nothing found.
    ("check samples/counter_locked.csm", 0, "!nothing found in the text; `cssame FILE` also runs it"),
    ("check --confirm samples/counter_locked.csm", 0, "!nothing found in the text and in all executions"),
    ("check samples/classes/bank_account.csm", 0, "!has no main: 5 public methods assumed to run in parallel"),
    ("samples/counter_locked.csm", 0, "!no failure, deadlock, race or endless execution"),
    ("--format json samples/counter_locked.csm", 0, "\"errors\": 0"),
    ("ir samples/cssame_fig2.csm", 0, "main"),
    ("ir --emit ssa samples/peterson_broken.csm", 0, "phi"),
    ("ir --emit cssame --format svg samples/cssame_fig2.csm", 0, "a_4 = pi(a_0, a_2, a_3)"),
    ("pi samples/counter_unlocked.csm", 0, "= pi("),
    ("run samples/cssame_fig2.csm", 0, "T3: "),
    ("futures samples/cssame_fig2.csm", 0, "feasible"),
    ("futures --select a@24:11=a@16:5 samples/cssame_fig2.csm", 0, "feasible"),
    ("correlate samples/counter_locked.csm", 0, "!0 correlations"),
    ("correlate --rank 0.3 samples/jannesari_fig9.csm", 0, "Hours, Mins"),
    ("explain CS0401", 0, "# CS0401"),
    ("explain 401", 0, "# CS0401"),
    ("explain --color always CS0401", 0, "\u{1b}[1mCS0401: accesses that may race"),
    ("explain --color always CS0401", 0, "\n    cobegin\n"),
    ("explain", 0, "CS0999"),
    ("--help", 0, "Usage: cssame"),
    ("--version", 0, "cssame "),
    ("run --help", 0, "--seed"),
    ("paths samples/arithmetic.csm", 0, "!1 test, 0 orders"),
    ("paths --compare samples/arithmetic.csm", 0, "reachability"),
    // 1: findings.
    ("check samples/counter_unlocked.csm", 1, "CS0401"),
    ("check samples/counter_locked.csm samples/counter_unlocked.csm", 1, "CS0401"),
    ("check samples/classes/bank_account_broken.csm", 1, "CS0402"),
    ("check --confirm samples/classes/vector_broken.csm", 1, "accesses to `Vector.count` may race"),
    ("run --seed 1 samples/unlock_not_held.csm", 1, "error["),
    ("futures samples/bank_transfer_deadlock.csm", 1, "deadlock"),
    ("correlate samples/jannesari_fig9.csm", 1, "25 %"),
    ("futures --max-states 1 --select a@24:11=a@initial samples/cssame_fig2.csm", 3, "!CS0904"),
    ("paths samples/setiadi_fig3.csm", 1, "6 orders of accesses"),
    ("paths samples/setiadi_fig13.csm", 1, "deadlock: main, T1 wait for ever"),
    // 2: bad usage.
    ("", 2, "!Usage: cssame"),
    ("frobnicate", 2, "!unrecognized subcommand"),
    ("chekc samples/counter_locked.csm", 2, "!check"),
    ("check", 2, "!required"),
    ("run", 2, "!required"),
    ("drive samples/cssame_fig2.csm", 2, "!--out"),
    ("check --nonsense samples/counter_locked.csm", 2, "!--nonsense"),
    ("check --format dot samples/counter_locked.csm", 2, "!dot"),
    ("check --color sometimes samples/counter_locked.csm", 2, "!sometimes"),
    ("ir --emit ast --format dot samples/cssame_fig2.csm", 2, "!cannot be shown as a graph"),
    ("ir --emit source samples/cssame_fig2.csm", 0, "a_4 = pi(a_0, a_2, a_3)"),
    ("ir --emit source --format dot samples/cssame_fig2.csm", 2, "!cannot be shown as a graph"),
    ("ir --emit ast --format svg samples/cssame_fig2.csm", 2, "!cannot be shown as a graph"),
    ("ir --emit nonsense samples/cssame_fig2.csm", 2, "!nonsense"),
    ("run --seed -1 samples/cssame_fig2.csm", 2, "!-1"),
    ("run --seed x samples/cssame_fig2.csm", 2, "!x"),
    ("run --max-steps 0 samples/cssame_fig2.csm", 2, "!0"),
    ("run --then random:1 samples/cssame_fig2.csm", 2, "!--schedule"),
    ("run --schedule missing.json samples/cssame_fig2.csm", 2, "!CS0909"),
    ("run --schedule samples/cssame_fig2.csm samples/cssame_fig2.csm", 2, "!error["),
    ("run --record samples samples/cssame_fig2.csm", 2, "!CS0910"),
    ("futures --max-states 0 samples/cssame_fig2.csm", 2, "!0"),
    ("futures --timeout -1 samples/cssame_fig2.csm", 2, "!-1"),
    ("futures --timeout nan samples/cssame_fig2.csm", 2, "!nan"),
    ("futures --select nonsense samples/cssame_fig2.csm", 2, "!nonsense"),
    ("futures --select a@1:1=a@2:2 samples/cssame_fig2.csm", 2, "!error["),
    ("drive --out Cargo.toml samples/cssame_fig2.csm", 2, "!CS0910"),
    ("pi samples/cssame_fig22.csm", 2, "!there is `samples/cssame_fig2.csm`"),
    ("pi samples/peterson", 2, "!there is `samples/peterson.csm`"),
    ("pi samples/races_vector.csm", 2, "!cssame correlate"),
    ("futures samples/cssame_fig7.csm --select b@25:21=b@22:5", 1, "this one alone is impossible"),
    ("help futures", 0, "Usage: cssame futures"),
    ("help", 0, "Usage: cssame <COMMAND>"),
    ("drive --out unused --latches samples/cssame_fig2.csm", 2, "!--target aspectj"),
    ("drive --out unused --latches --target java samples/cssame_fig2.csm", 2, "!--target aspectj"),
    ("drive --out unused --latches --target aspectj --pairs samples/cssame_fig2.csm", 2, "!cannot be used with"),
    ("drive --out unused --latches --target aspectj --timeout 1 samples/cssame_fig2.csm", 2, "!cannot be used with"),
    ("drive --out unused --latches --target aspectj --select a@24:11=a@15:5 samples/cssame_fig2.csm", 2, "!no term"),
    ("drive --out unused --pairs --free --target java samples/bank_account.csm", 2, "!--target rust"),
    ("drive --out unused --target cobol samples/bank_account.csm", 2, "!aspectj"),
    ("correlate --threshold 2 samples/jannesari_fig9.csm", 2, "!0 to 1"),
    ("check --jobs 0 samples/counter_locked.csm", 2, "!0"),
    ("races -j x samples/cssame_fig2.csm", 2, "!x"),
    ("futures --jobs 2 samples/cssame_fig2.csm", 2, "!unexpected argument '--jobs'"),
    ("run --jobs 2 samples/cssame_fig2.csm", 2, "!`--jobs` is for many executions: give `--seeds A..B`"),
    ("drive --jobs 2 --out unused samples/cssame_fig2.csm", 2, "!`--jobs` is for `--race`"),
    ("paths", 2, "!required"),
    ("paths samples/setiadi_fig3.csm samples/setiadi_fig13.csm", 2, "!--compare"),
    ("paths --criterion all samples/setiadi_fig3.csm", 2, "!race-equivalent"),
    ("paths --first seed:x samples/setiadi_fig3.csm", 2, "!seed:7"),
    ("paths --first missing.json samples/setiadi_fig3.csm", 2, "!CS0909"),
    ("paths --graph picture.png samples/setiadi_fig3.csm", 2, "!.svg"),
    ("paths --explain T9:1:1 samples/setiadi_fig3.csm", 2, "!T1:15:9#1"),
    ("paths --compare --explain T1:15:9 samples/setiadi_fig3.csm", 2, "!cannot be used with"),
    ("paths --compare --input rounds=1..2000 samples/setiadi_jnetmap.csm", 2, "!1000 rows"),
    ("paths --max-executions 0 samples/setiadi_fig3.csm", 2, "!0"),
    ("paths --emit samples samples/setiadi_fig3.csm", 2, "!CS0910"),
    ("paths --explain main:1:1 samples/races_vector.csm", 2, "!CS0216"),
    ("explain CS9999", 2, "!no such code"),
    ("explain nonsense", 2, "!no such code"),
    ("check --input n samples/parfor_sum.csm", 2, "!NAME=VALUE"),
    ("check --input =3 samples/parfor_sum.csm", 2, "!NAME=VALUE"),
    // 2: inputs that do not fit; the diagnostics of `check` are its answer.
    ("check --input nonsense=1 samples/parfor_sum.csm", 2, "CS0213"),
    ("check --input n=x samples/parfor_sum.csm", 2, "CS0213"),
    ("check --input n=1 samples/c/counter_unlocked.c", 2, "CS0213"),
    ("check -p build samples/parfor_sum.csm", 2, "`-p` is an option for C"),
    ("check --extra-arg=-DN samples/parfor_sum.csm", 2, "`-DN` is an option for C"),
    ("check --main-waits samples/parfor_sum.csm", 2, "`--main-waits` is an option for C"),
    ("check --nondet 0..3 samples/parfor_sum.csm", 2, "`--nondet` is an option for C"),
    ("check samples/parfor_sum.csm -- -DN=3", 2, "`-DN` is an option for C"),
    ("run --input nonsense=1 samples/parfor_sum.csm", 2, "!CS0213"),
    ("run --input n=x samples/parfor_sum.csm", 2, "!CS0213"),
    ("run --input n= samples/parfor_sum.csm", 2, "!CS0213"),
    ("run --input n=99999999999 samples/parfor_sum.csm", 2, "!CS0213"),
    ("run --input n=true samples/parfor_sum.csm", 2, "!CS0213"),
    // 3: a bound was hit.
    ("run --max-steps 2 samples/cssame_fig2.csm", 3, "!--max-steps"),
    ("futures --max-states 3 samples/cssame_fig2.csm", 3, "!CS0904"),
    ("paths --max-states 3 samples/counter_locked.csm", 3, "!CS0904"),
    ("paths --max-states 0 samples/counter_locked.csm", 3, "there may be other"),
];

#[test]
fn every_call_ends_as_promised() {
    let mut problems = Vec::new();
    for (line, status, expected) in CALLS {
        let answer = call(line, &[""; 0]);
        let (stream, expected) = match expected.strip_prefix('!') {
            Some(expected) => (&answer.stderr, expected),
            None => (&answer.stdout, *expected),
        };
        if answer.status != *status || !stream.contains(expected) {
            problems.push(format!("`cssame {line}`: {answer:#?}"));
        }
    }
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn drive_ends_as_promised() {
    let files = Files::new();
    let out = files.path("package");
    let calls = [
        ("drive samples/cssame_fig2.csm --out", 0, true),
        ("drive samples/counter_unlocked.csm --expect recorded --out", 0, true),
        ("drive samples/cssame_fig2.csm --select a@24:11=a@15:5 --out", 1, false),
        ("drive samples/cssame_fig2.csm --max-states 3 --out", 3, true),
        ("drive samples/bakery2.csm --input nonsense=1 --out", 2, false),
    ];
    for (line, status, written) in calls {
        let answer = call(line, &[&out]);
        assert_eq!((answer.status, out.exists()), (status, written), "`{line}`: {answer:?}");
        if written {
            std::fs::remove_dir_all(&out).expect("the package is removed");
        }
    }
}

#[test]
fn a_recorded_execution_is_replayed() {
    let files = Files::new();
    let schedule = files.path("schedule.json");
    let recorded = call("run --seed 3 samples/counter_unlocked.csm --record", &[&schedule]);
    let replayed = call("run samples/counter_unlocked.csm --schedule", &[&schedule]);
    assert_eq!((recorded.status, recorded.stdout), (replayed.status, replayed.stdout));
}

#[test]
fn one_bad_file_does_not_hide_the_others() {
    let answer = call("check samples/missing.csm samples/counter_unlocked.csm", &[""; 0]);
    assert_eq!(answer.status, 2);
    assert!(answer.stdout.contains("CS0909") && answer.stdout.contains("CS0401"), "{answer:?}");
}

#[test]
fn quiet_leaves_out_what_accompanies_the_answer() {
    for command in ["check", "pi", "run", "futures"] {
        let answer = call(command, &["-q", "samples/counter_unlocked.csm"]);
        assert_eq!(answer.stderr, "", "`{command}`");
        assert!(!answer.stdout.is_empty());
    }
}

/// The answers of commands that use several cores, and of `check` on many files, are the same bytes for any number of them.
#[test]
fn answers_do_not_depend_on_jobs() {
    let all = "samples/peterson.csm samples/dekker.csm samples/missing.csm samples/jannesari_fig9.csm Cargo.toml";
    for line in [
        &format!("check {all}"),
        &format!("check --format json {all}"),
        "check --confirm samples/counter_unlocked.csm",
        "run --seeds 0..300 samples/peterson.csm",
        "races --format json samples/bank_transfer_deadlock.csm",
        "coverage samples/counter_unlocked.csm",
    ] {
        let one = call(&format!("{line} --jobs 1"), &[""; 0]);
        let other = call(&format!("{line} -j 2"), &[""; 0]);
        let any = call(line, &[""; 0]);
        assert_eq!((one.status, &one.stdout, &one.stderr), (other.status, &other.stdout, &other.stderr), "{line}");
        assert_eq!((one.status, &one.stdout, &one.stderr), (any.status, &any.stdout, &any.stderr), "{line}");
        assert!(!one.stdout.is_empty(), "{line}");
    }
}
