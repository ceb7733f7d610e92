//! Correlations by calling context: the argument of a call flows to the writes of that call, and to those of no other one.

use cssame::concurrency;
use cssame::correlation::report::CorrelationData;
use cssame::correlation::{Decision, Options, analyse, report};
use cssame::model::Unit;
use support::unit;

/// All correlations, of whatever probability.
fn analysed(text: &str) -> Vec<CorrelationData> {
    let Unit { sources, program, .. } = unit(text);
    let concurrency = concurrency::analyse(&program);
    let analysis = analyse(&program, concurrency.as_ref(), &Options { threshold: 0.0, sets: false });
    report::<()>(&sources, &program, &analysis, (0.0, 0.0), |_, _| Decision::potential("nothing is executed"))
        .correlations
}

/// Writes in a pattern, of all writes to the dependent side; nothing where the two are no correlation above 0.
fn share(found: &[CorrelationData], a: &str, b: &str) -> Option<(usize, usize)> {
    let of = found.iter().find(|of| of.variables == [a, b])?;
    Some((of.writes_in_pattern, of.writes))
}

fn patterns(found: &[CorrelationData], a: &str, b: &str) -> Vec<&'static str> {
    found.iter().find(|of| of.variables == [a, b]).map_or_else(Vec::new, |of| of.patterns.clone())
}

const WALLET: &str = "class Wallet { public int euro; lock L;
    public void put(int amount) { lock(L); euro = amount; unlock(L); } }
    int rate = 7;
    void pass(Wallet w, int sum) { w.put(sum); } ";

fn in_main(objects: &str, body: &str) -> Vec<CorrelationData> {
    analysed(&format!("{WALLET} {objects} void main() {{ {body} }}"))
}

/// The same without `pass`: what nobody calls is a context too.
fn in_main_without_pass(objects: &str, body: &str) -> Vec<CorrelationData> {
    let wallet = WALLET.split("void pass").next().unwrap();
    analysed(&format!("{wallet} {objects} void main() {{ {body} }}"))
}

#[test]
fn an_argument_flows_to_the_object_of_its_call() {
    let found = in_main_without_pass("Wallet a; Wallet b;", "a.put(20); b.put(rate);");
    assert_eq!(share(&found, "b.euro", "rate"), Some((1, 1)));
    assert_eq!(share(&found, "a.euro", "rate"), None, "a gets a constant");
    // Nor do the two meet in the parameter, which has another value in each call.
    assert_eq!(share(&found, "a.euro", "b.euro"), None);
    // Both depend on the parameter itself.
    assert_eq!(share(&found, "a.euro", "amount"), Some((1, 1)));
}

#[test]
fn a_write_counts_for_each_origin_of_its_value() {
    let found = in_main_without_pass("Wallet a;", "a.put(20); a.put(rate);");
    assert_eq!(share(&found, "euro", "rate"), Some((1, 2)));
    assert_eq!(share(&found, "amount", "euro"), Some((2, 2)));
    // Two calls with constants are one origin, and so are two with the rate.
    let found = in_main_without_pass("Wallet a;", "a.put(20); a.put(30); a.put(rate); a.put(rate + 1);");
    assert_eq!(share(&found, "euro", "rate"), Some((1, 2)));
    let found = in_main_without_pass("Wallet a; int other = 3;", "a.put(other); a.put(rate); a.put(1);");
    assert_eq!(share(&found, "euro", "rate"), Some((1, 3)));
    assert_eq!(share(&found, "euro", "other"), Some((1, 3)));
}

#[test]
fn a_context_goes_on_through_calls_and_threads() {
    let found = in_main("Wallet a;", "pass(a, 20); pass(a, rate);");
    assert_eq!(share(&found, "euro", "rate"), Some((1, 2)));
    let found = in_main("Wallet a; Wallet b;", "cobegin A: pass(a, 20); B: pass(b, rate); coend");
    assert_eq!((share(&found, "a.euro", "rate"), share(&found, "b.euro", "rate")), (None, Some((1, 1))));
    let spawned = analysed(
        "int euro; int rate; void put(int amount) { euro = amount; }
         void main() { thread s = spawn put(20); thread t = spawn put(rate); join(s); join(t); }",
    );
    assert_eq!(share(&spawned, "euro", "rate"), Some((1, 2)));
}

#[test]
fn what_is_called_from_outside_has_a_context_of_its_own() {
    let found = analysed("int euro; int rate; void put(int amount) { euro = amount; } void update() { put(rate); }");
    assert_eq!(share(&found, "euro", "rate"), Some((1, 2)));
    assert_eq!(share(&found, "amount", "euro"), Some((2, 2)));
}

#[test]
fn two_objects_that_get_one_value_belong_together() {
    let found = in_main_without_pass("Wallet a; Wallet b;", "a.put(rate); b.put(rate);");
    assert_eq!(patterns(&found, "a.euro", "b.euro"), ["horizontal"]);
    let found = analysed(&format!(
        "{WALLET} Wallet a; Wallet b; void both(int v) {{ a.put(v); b.put(v); }} void main() {{ both(1); }}"
    ));
    assert_eq!(patterns(&found, "a.euro", "b.euro"), ["horizontal"]);
    // Two calls of one function have two parameters, though their name is one.
    let found = analysed(&format!(
        "{WALLET} Wallet a; Wallet b; void set(Wallet w, int v) {{ w.put(v); }} void main() {{ set(a, 1); set(b, 2); }}"
    ));
    assert_eq!(share(&found, "a.euro", "b.euro"), None);
}

#[test]
fn a_write_without_a_parameter_counts_once() {
    let found = analysed(
        "int count; int rate; int euro; void put(int amount) { count = rate; euro = amount; }
         void main() { put(1); put(rate); }",
    );
    assert_eq!(share(&found, "count", "rate"), Some((1, 1)));
    assert_eq!(share(&found, "euro", "rate"), Some((1, 2)));
}

#[test]
fn recursion_and_many_contexts_come_to_an_end() {
    let found = analysed(
        "int x; int rate; void down(int n) { if (n > 0) { x = n; down(n - 1); } } void main() { down(rate); down(3); }",
    );
    assert_eq!(share(&found, "n", "x"), Some((2, 2)));
    assert_eq!(share(&found, "rate", "x"), Some((1, 2)), "all that comes from 3 is one origin");
    let globals: String = (0..40).map(|each| format!("int g{each};")).collect();
    let calls: String = (0..40).map(|each| format!("put(g{each});")).collect();
    let many = analysed(&format!("int x; {globals} void put(int v) {{ x = v; }} void main() {{ {calls} }}"));
    // The function itself has the first context and those beyond the bound, of which more than eight say nothing.
    assert_eq!(share(&many, "v", "x"), Some((16, 16)));
    assert_eq!(share(&many, "g1", "x"), Some((1, 16)));
    assert_eq!(share(&many, "g0", "x"), None);
}
