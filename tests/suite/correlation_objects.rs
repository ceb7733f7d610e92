//! Correlations by object: fields of declared objects, parameters by what they are bound to, elements of known index, and the
//! fields of the object of a method.

use cssame::answer::{CorrelateRequest, Execute, correlate};
use cssame::budget::{Budget, Limits};
use cssame::correlation::{CorrelationReport, Status};
use cssame::model::Options;
use cssame::schedule::Step;
use support::{executed, unit};

/// `transfer writes a.bal, writes b.bal`, of those that are confirmed.
fn confirmed(report: &CorrelationReport<Vec<Step>>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for access in report.pairs.iter().flat_map(|pair| &pair.endangered_accesses) {
        if access.decision.status == Status::Confirmed {
            let ([a, b], [first, second]) = (&access.variables, access.accesses);
            found.push(format!("{} {first}s {a}, {second}s {b}", access.method));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn tied(report: &CorrelationReport<Vec<Step>>, a: &str, b: &str) -> Vec<&'static str> {
    let found = report.correlations.iter().find(|of| of.variables == [a, b]);
    found.map_or_else(Vec::new, |of| of.patterns.clone())
}

const ACCOUNT: &str = "class Account { public int bal = 0; public void add(int n) { bal = bal + n; } } lock T;";

#[test]
fn fields_of_two_objects_are_two_variables() {
    let text = |a: &str, b: &str, objects: &str| {
        format!(
            "{ACCOUNT} {objects}
             void transfer(int n) {{ lock(T); {a} = {a} - n; unlock(T); lock(T); {b} = {b} + n; unlock(T); }}
             void audit() {{ lock(T); assert({a} + {b} == 0); unlock(T); }}
             void main() {{ cobegin A: transfer(5); B: audit(); coend }}"
        )
    };
    let objects = executed(&text("a.bal", "b.bal", "Account a; Account b;"));
    assert_eq!(tied(&objects, "a.bal", "b.bal"), ["horizontal"]);
    assert_eq!(confirmed(&objects), ["transfer writes a.bal, writes b.bal"]);
    // As with globals.
    let globals = executed(&text("abal", "bbal", "int abal; int bbal;"));
    let ranks = |report: &CorrelationReport<Vec<Step>>| -> Vec<f64> { report.pairs.iter().map(|of| of.rank).collect() };
    assert_eq!(ranks(&objects), ranks(&globals));
}

#[test]
fn a_parameter_is_what_it_is_bound_to_in_each_context() {
    let report = executed(&format!(
        "{ACCOUNT} Account a; Account b; Account c; Account d;
         void take(Account from, int n) {{ lock(T); from.bal = from.bal - n; unlock(T); }}
         void move(Account from, Account to, int n) {{ take(from, n); lock(T); to.add(n); unlock(T); }}
         void audit() {{ lock(T); assert(c.bal + d.bal == 0); unlock(T); }}
         void main() {{ cobegin A: move(a, b, 1); C: move(c, d, 2); B: audit(); coend }}"
    ));
    assert_eq!(tied(&report, "a.bal", "b.bal"), ["horizontal"]);
    assert_eq!(tied(&report, "c.bal", "d.bal"), ["horizontal"]);
    assert!(tied(&report, "a.bal", "d.bal").is_empty() && tied(&report, "a.bal", "c.bal").is_empty());
    assert!(confirmed(&report).contains(&"move writes c.bal, writes d.bal".to_owned()), "{:?}", confirmed(&report));
    assert!(!confirmed(&report).iter().any(|line| line.contains("a.bal, writes b.bal")), "nobody looks at them");
}

#[test]
fn elements_of_known_index_are_variables() {
    let report = executed(
        "int t[4]; lock T;
         void put(int i, int v) { lock(T); t[i] = v; unlock(T); }
         void both(int v) { put(0, v); put(1, v); }
         void audit() { lock(T); assert(t[0] == t[1]); unlock(T); }
         void main() { cobegin A: both(3); B: audit(); coend }",
    );
    assert_eq!(tied(&report, "t[0]", "t[1]"), ["horizontal"]);
    assert!(confirmed(&report).contains(&"both writes t[0], writes t[1]".to_owned()));
    // One index that nobody knows: the array is one variable.
    let whole = executed("int t[4]; int n; void f(int v) { t[n] = v; } void g(int w) { t[0] = w; t[1] = w; }");
    assert_eq!(tied(&whole, "t", "w"), ["vertical"]);
}

#[test]
fn objects_that_are_local_are_told_apart_too() {
    let report = executed(
        "class P { public int x; public int y; lock L;
           public void set(int v) { lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }
           public bool same() { lock(L); bool s = x == y; unlock(L); return s; } }
         void main() { P p; P q;
           cobegin A: p.set(1); B: { bool s = q.same(); print(s); } C: { bool u = p.same(); assert(u); } coend }",
    );
    assert!(tied(&report, "p.x", "q.y").is_empty());
    assert!(tied(&report, "q.x", "q.y").is_empty(), "nobody writes them");
    assert!(confirmed(&report).contains(&"P.set writes p.x, writes p.y".to_owned()));
}

#[test]
fn fields_of_this_have_a_parent() {
    let report = executed(
        "class Range { int lo; int hi; lock L;
           public void set(int a, int b) { lock(L); lo = a; unlock(L); lock(L); hi = b; unlock(L); }
           public bool ok() { lock(L); bool r = lo <= hi; unlock(L); return r; } }
         Range r;
         void main() { cobegin A: r.set(5, 7); B: { bool good = r.ok(); assert(good); } coend }",
    );
    assert_eq!(tied(&report, "hi", "lo"), ["parental"]);
    assert!(confirmed(&report).contains(&"Range.set writes hi, writes lo".to_owned()));
}

#[test]
fn fields_of_this_have_a_parent_without_main_through_calls_and_in_arms() {
    let library = executed(
        "class Entry { int key; int val; lock L;
           public void put(int k, int v) { lock(L); key = k; unlock(L); lock(L); val = v; unlock(L); }
           public int sum() { lock(L); int r = key + val; unlock(L); return r; } }",
    );
    assert_eq!(tied(&library, "key", "val"), ["parental"]);
    assert!(confirmed(&library).contains(&"Entry.put writes key, writes val".to_owned()));
    let calls = executed(
        "class P { int x; int y; void setX(int v) { x = v; } void setY(int w) { y = w; }
           public void set(int v, int w) { setX(v); setY(w); } }",
    );
    assert_eq!(tied(&calls, "x", "y"), ["parental"]);
    let arms =
        executed("class P { int x; int y; public void set(int v, int w) { cobegin A: { x = v; y = w; } coend } }");
    assert_eq!(tied(&arms, "x", "y"), ["parental"]);
    // Bare names of globals have none, and objects of one class are not one parent.
    let globals = executed("int x; int y; void set(int v, int w) { x = v; y = w; }");
    assert!(tied(&globals, "x", "y").is_empty());
    let objects = executed(
        "class P { public int x; public int y; } P p; P q; void f(int v, int w) { p.x = v; q.y = w; q.x = w; p.y = v; }",
    );
    assert!(tied(&objects, "p.x", "p.y").is_empty() && tied(&objects, "p.x", "q.y").is_empty());
    assert!(tied(&objects, "q.x", "q.y").contains(&"parental"));
}

#[test]
fn sets_rank_pairs_beside_the_pairs_of_the_paper() {
    // Nothing ties `a` to `c` but `b`, and `swap` touches these two alone.
    let text = "int a; int b; int c; lock L;
         void fill(int v) { lock(L); a = v; b = a; unlock(L); }
         void move() { lock(L); c = b; unlock(L); }
         void swap() { lock(L); a = 0; unlock(L); lock(L); c = 0; unlock(L); }
         void look() { lock(L); print(a, c); unlock(L); }
         void main() { cobegin A: fill(1); B: move(); C: swap(); D: look(); coend }";
    let options = Options::default();
    let ask = |sets| {
        let request =
            CorrelateRequest { threshold: 0.5, rank: 0.0, sets, execute: Execute::Selected, options: &options };
        correlate(unit(text), &request, &Budget::from(Limits::default())).correlation
    };
    let (pairs, sets) = (ask(false), ask(true));
    let find = |report: &CorrelationReport<Vec<Step>>| {
        let found = report.pairs.iter().find(|pair| pair.methods == ["swap", "look"]).cloned();
        found.unwrap()
    };
    assert_eq!((find(&pairs).rank, find(&pairs).set_rank, find(&pairs).selected), (0.0, None, false));
    assert_eq!(find(&sets).rank, 0.0);
    assert!(find(&sets).set_rank.is_some_and(|rank| rank > 0.0) && find(&sets).selected);
    assert!(confirmed(&sets).contains(&"swap writes a, writes c".to_owned()), "{:?}", confirmed(&sets));
    assert_eq!(pairs.correlations.len(), sets.correlations.len());
}
