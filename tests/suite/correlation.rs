//! Correlations and ranks: the worked examples of Jannesari and Wolf (figures 4, 5, 7, 8, 9 and table 2), and the traps of
//! analyses that only look at what stands near each other.

use cssame::concurrency;
use cssame::correlation::report::{CorrelationReport, PairData};
use cssame::correlation::{Decision, Options, analyse, report};
use cssame::model::Unit;
use std::fs;
use std::path::Path;
use support::unit;

fn correlate_with(text: &str, threshold: f64) -> CorrelationReport {
    let Unit { sources, program, .. } = unit(text);
    let concurrency = concurrency::analyse(&program);
    let analysis = analyse(&program, concurrency.as_ref(), &Options { threshold, sets: false });
    report(&sources, &program, &analysis, (threshold, 0.0), |_, _| Decision::potential("nothing is executed here"))
}

fn correlate(text: &str) -> CorrelationReport {
    correlate_with(text, 0.5)
}

/// `a b: vertical, chain`
fn patterns(report: &CorrelationReport) -> Vec<String> {
    let lines = report.correlations.iter().map(|of| format!("{}: {}", of.variables.join(" "), of.patterns.join(", ")));
    lines.collect()
}

fn pair<'a>(report: &'a CorrelationReport, a: &str, b: &str) -> &'a PairData {
    let found = report.pairs.iter().find(|pair| pair.methods == [a, b]);
    found.unwrap_or_else(|| panic!("no pair {a}, {b}: {:#?}", report.pairs))
}

fn probability(report: &CorrelationReport, a: &str, b: &str) -> f64 {
    report.correlations.iter().find(|of| of.variables == [a, b]).unwrap().probability
}

#[test]
fn figure_4a_vertical() {
    let report = correlate("int Euro; int Yen; void f() { Euro = 300; Yen = Euro * 107; }");
    assert_eq!(patterns(&report), ["Euro Yen: vertical"]);
}

#[test]
fn figure_4b_control() {
    let report =
        correlate("bool isPrivate; string Street; void f() { if (isPrivate == true) { Street = \"PrivateStreet\"; } }");
    assert_eq!(patterns(&report), ["Street isPrivate: control"]);
}

#[test]
fn figure_4c_parental() {
    let report = correlate(
        "class Address { public string Street; public int StreetNo; } Address Person;
         void f() { Person.Street = \"PrivateStr.\"; Person.StreetNo = 107; }",
    );
    assert_eq!(patterns(&report), ["Street StreetNo: parental"]);
}

#[test]
fn figure_4d_horizontal() {
    let report =
        correlate("int Seconds; int Minutes; int Hours; void f() { Minutes = Seconds / 60; Hours = Seconds / 3600; }");
    assert_eq!(
        patterns(&report),
        ["Hours Minutes: horizontal", "Hours Seconds: vertical", "Minutes Seconds: vertical"]
    );
}

#[test]
fn figure_4e_chain() {
    let report = correlate(
        "double Euro; double Yen; double Dollar;
         void f() { Euro = 300.0; Yen = Euro * 107.0; Dollar = Yen * 0.012; }",
    );
    assert_eq!(patterns(&report), ["Dollar Euro: chain", "Dollar Yen: vertical", "Euro Yen: vertical"]);
}

#[test]
fn figure_5_two_writes_of_three() {
    for a in ["Euro = 300; Yen = Euro * 107;", "Yen = Euro * 107;"] {
        for c in ["M.Euro = 1; M.Yen = 107;", "M.Yen = 107; M.Euro = 1;", "M.Euro = r; M.Yen = r * 107;"] {
            let report = correlate(&format!(
                "class Money {{ public int Euro; public int Yen; public void A() {{ {a} }} public void B() {{ Yen = 5; }} }}
                 Money M; int r; void C() {{ {c} }}"
            ));
            let probability = probability(&report, "Euro", "Yen");
            assert!((probability - 2.0 / 3.0).abs() < 1e-9, "{a} {c}: {probability}");
            let strict = correlate_with("int Euro; int Yen; void A() { Yen = Euro * 107; } void B() { Yen = 5; }", 0.6);
            assert_eq!(patterns(&strict), [""; 0]);
        }
    }
}

#[test]
fn figure_7_four_correlation_accesses() {
    let report = correlate("int Euro; int Yen; void A() { print(Euro); print(Yen); Euro = 300; Yen = Euro * 107; }");
    let pair = pair(&report, "A", "A");
    assert_eq!((pair.correlation_accesses, pair.endangered), (4, 0));
}

#[test]
fn figure_8_only_c_is_endangered() {
    let report = correlate(
        "int Euro; int Yen; lock L;
         void A() { print(Euro); print(Yen); }
         void B() { lock(L); print(Euro); print(Yen); unlock(L); }
         void C() { lock(L); print(Euro); unlock(L); lock(L); print(Yen); unlock(L); }
         void D() { lock(L); Euro = 300; Yen = Euro * 107; unlock(L); }
         void main() { cobegin a: A(); b: B(); c: C(); d: D(); coend }",
    );
    assert_eq!(pair(&report, "A", "D").endangered, 0);
    assert_eq!(pair(&report, "B", "D").endangered, 0);
    let torn = pair(&report, "C", "D");
    assert_eq!((torn.endangered, torn.endangered_accesses[0].method.as_str()), (1, "C"));
    assert!(report.pairs.iter().all(|pair| pair.methods.contains(&"D".to_owned())), "only D writes");
}

#[test]
fn figure_9_and_table_2() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/jannesari_fig9.csm")).unwrap();
    let report = correlate(&text);
    assert_eq!(
        patterns(&report),
        ["Hours Mins: horizontal", "Hours Secs: vertical", "Milisecs Secs: vertical", "Mins Secs: vertical"]
    );
    assert!(report.correlations.iter().all(|of| (of.probability - 1.0).abs() < 1e-9));
    assert_eq!(report.sets, [["Hours", "Milisecs", "Mins", "Secs"]]);
    let figures = |a, b| {
        let pair = pair(&report, a, b);
        (pair.correlation_accesses, pair.endangered, pair.uncorrelated, pair.rank)
    };
    assert_eq!(figures("SetTime", "RefreshSecs"), (4, 1, 3, 0.25));
    assert_eq!(figures("SetMins", "RefreshSecs"), (2, 0, 2, 0.0));
    assert_eq!(figures("SetHours", "RefreshSecs"), (2, 0, 2, 0.0));
    assert_eq!(report.pairs.len(), 3);
    let torn = &pair(&report, "SetTime", "RefreshSecs").endangered_accesses;
    assert_eq!(torn[0].variables, ["Hours", "Mins"]);
    assert_eq!(torn[0].accesses, ["write", "write"]);
}

#[test]
fn near_is_not_correlated() {
    let report = correlate("int hits; int size; int name; void f() { hits = 1; size = 2; print(name, hits, size); }");
    assert_eq!(patterns(&report), [""; 0]);
    let report = correlate("int a; int b; int c; int d; void f() { a = b; c = d; }");
    assert_eq!(patterns(&report), ["a b: vertical", "c d: vertical"]);
}

#[test]
fn a_loop_counter_is_not_correlated_with_what_it_indexes() {
    let report = correlate(
        "int a[10]; int b[10]; int n;
         void f() { for (int i = 0; i < n; i++) { a[i] = 1; b[i] = a[i]; } int k = 0; while (k < n) { b[k] = 0; k += 1; } }",
    );
    assert_eq!(patterns(&report), ["a[i] b[i]: vertical, parental"]);
}

#[test]
fn a_constant_initialiser_adds_nothing() {
    let report = correlate(
        "class P { public int x; public int y; } P p; int a = 1; int b = 2;
         void f() { int t = 0; b = a; t = b; print(t); }",
    );
    // Of the writes to `b` and `t` only those in `f` count, and `x` and `y` have none at all.
    assert_eq!(patterns(&report), ["a b: vertical", "b t: vertical"]);
    assert!(report.correlations.iter().all(|of| of.writes == 1));
}

#[test]
fn local_with_shared_counts_local_with_local_does_not() {
    let report = correlate("int Euro; void f() { int Yen = Euro * 107; int Sen = Yen * 100; print(Sen); }");
    assert_eq!(patterns(&report), ["Euro Yen: vertical"]);
    assert_eq!(report.correlations[0].shared, [true, false]);
}

#[test]
fn patterns_reach_through_calls() {
    let report = correlate(
        "int s; int m; int h;
         int sixtieth(int x) { return x / 60; }
         void setM() { m = sixtieth(s); }
         void setH() { h = sixtieth(sixtieth(s)); }
         void set() { setM(); setH(); }",
    );
    assert_eq!(
        patterns(&report).into_iter().filter(|line| !line.contains(" r") && !line.contains(" x")).collect::<Vec<_>>(),
        ["h m: horizontal", "h s: vertical", "m s: vertical"]
    );
}

#[test]
fn a_condition_around_every_call_reaches_into_the_callee() {
    let report = correlate(
        "bool on; int q; void put() { q = 1; }
         void main() { cobegin A: { if (on) { put(); } } B: { on = true; } coend }",
    );
    assert_eq!(patterns(&report), ["on q: control"]);
    let report = correlate(
        "bool on; int q; void put() { q = 1; }
         void main() { cobegin A: { if (on) { put(); } put(); } B: { on = true; } coend }",
    );
    assert_eq!(patterns(&report), [""; 0]);
}

#[test]
fn a_library_is_paired_method_by_method() {
    let report = correlate(
        "class Clock { lock L; int secs; int mins;
           public void tick() { lock(L); secs = secs + 1; unlock(L); lock(L); mins = secs / 60; unlock(L); }
           public int both() { lock(L); int sum = mins * 60 + secs; unlock(L); return sum; } }",
    );
    assert_eq!((report.counts.methods, report.counts.pairs_considered, report.counts.pairs_parallel), (2, 3, Some(3)));
    // `secs` is read beside the write of `mins`, but written before the lock is freed.
    let with_itself = pair(&report, "Clock.tick", "Clock.tick");
    assert_eq!((with_itself.correlation_accesses, with_itself.endangered), (2, 1));
}

#[test]
fn exclusive_branches_do_not_endanger() {
    let report = correlate(
        "int a; int b; bool way; lock L;
         void f() { a = b; }
         void g() { if (way) { lock(L); a = 1; unlock(L); } else { lock(L); b = 1; unlock(L); } }",
    );
    assert_eq!(pair(&report, "g", "g").endangered_accesses.iter().filter(|of| of.variables == ["a", "b"]).count(), 0);
}

#[test]
fn the_stale_copy_of_a_shared_variable_is_endangered() {
    let split = "int balance; lock L;
         void withdraw(int n) { lock(L); int t = balance; unlock(L); t = t - n; lock(L); balance = t; unlock(L); }";
    let whole = "int balance; lock L;
         void withdraw(int n) { lock(L); int t = balance; t = t - n; balance = t; unlock(L); }";
    assert!(pair(&correlate(split), "withdraw", "withdraw").endangered > 0);
    assert_eq!(pair(&correlate(whole), "withdraw", "withdraw").endangered, 0);
}

#[test]
fn names_that_are_not_unique_get_their_line() {
    let report = correlate("int g;\nvoid f() { int t = g; print(t); }\nvoid h() { int t = g + 1; print(t); }");
    let names: Vec<&str> = report.correlations.iter().flat_map(|of| &of.variables).map(String::as_str).collect();
    assert_eq!(names, ["g", "t@2", "g", "t@3"]);
}
