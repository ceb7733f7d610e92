//! Correlations by row: elements of two arrays, or fields of an element, with one index.

use cssame::answer::{CorrelateRequest, Execute, correlate};
use cssame::budget::{Budget, Limits};
use cssame::correlation::{CorrelationReport, Status, check};
use cssame::diagnostics::Label;
use cssame::model::{Model, Options};
use cssame::schedule::Step;
use support::{executed, unit};

type Report = CorrelationReport<Vec<Step>>;

/// `key[i] value[i]: parental`, of the correlations by row.
fn rows(report: &Report) -> Vec<String> {
    let by_row = report.correlations.iter().filter(|of| of.by_row);
    by_row.map(|of| format!("{}: {}", of.variables.join(" "), of.patterns.join(", "))).collect()
}

/// `put writes key[i], writes value[i]: confirmed`, of the methods with a name in small letters.
fn accesses(report: &Report) -> Vec<String> {
    let pairs = report.pairs.iter().filter(|pair| pair.selected);
    let mut found: Vec<String> = pairs
        .flat_map(|pair| &pair.endangered_accesses)
        .filter(|access| access.method.len() > 1 && access.variables.iter().all(|name| name.contains(['[', '.'])))
        .map(|access| {
            let ([a, b], [first, second]) = (&access.variables, access.accesses);
            format!("{} {first}s {a}, {second}s {b}: {}", access.method, access.decision.status.word())
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A table whose row is chosen, so that no index is known: `put` is given, and what runs beside it.
fn table(put: &str, beside: &str) -> String {
    format!(
        "int key[4]; int value[4]; int head; lock L;
         void put(int i, int j, int k, int v) {{ {put} }}
         void get(int i) {{ lock(L); print(key[i], value[i]); unlock(L); }}
         void main() {{ int h = choose(0, 1); cobegin A: put(h, h + 1, 1, 10); B: {beside} coend }}"
    )
}

const TORN: &str = "lock(L); key[i] = k; unlock(L); lock(L); value[i] = v; unlock(L);";

#[test]
fn elements_with_one_index_belong_together() {
    let report = executed(&table(TORN, "get(h);"));
    assert_eq!(rows(&report), ["key[i] value[i]: parental"]);
    assert_eq!(accesses(&report), ["put writes key[i], writes value[i]: confirmed"]);
    // Equal terms of equal values are equal: of locals, of constants, and of a variable that nobody writes.
    for (one, other) in [("i % 3", "i % 3"), ("i + 1", "1 + i"), ("j", "m"), ("(i + size) % size", "(i + size) % size")]
    {
        let put = format!("int m = j; key[{one}] = k; value[{other}] = v;");
        let report = executed(&format!("int size = 3; {}", table(&put, "get(h);")));
        assert_eq!(rows(&report), [format!("key[{one}] value[{other}]: parental")]);
    }
}

#[test]
fn another_index_or_another_value_of_it_is_no_row() {
    let others = [
        "key[i] = k; value[j] = v;",
        "key[i] = k; value[i + 1] = v;",
        // The index is written in between.
        "key[i] = k; i = i + 1; value[i] = v;",
        // What is shared may be another value when it is read anew.
        "key[head] = k; value[head] = v;",
        "key[(head + 1) % 3] = k; value[(head + 1) % 3] = v;",
        // The end of one round and the begin of the next one.
        "if (k > 0) { key[i] = k; } while (i < 2) { i++; value[i] = v; }",
    ];
    for put in others {
        let report = executed(&table(put, "{ head = 1; get(h); }"));
        assert!(rows(&report).is_empty(), "{put}: {:?}", rows(&report));
    }
    // In a local it is one.
    assert_eq!(rows(&executed(&table("int at = head; key[at] = k; value[at] = v;", "{ head = 1; get(h); }"))).len(), 1);
}

#[test]
fn rows_are_found_in_loops_through_calls_and_through_references() {
    let in_loop = executed(&table("while (i < 3) { key[i] = k; value[i] = v; i++; }", "get(h);"));
    assert_eq!(rows(&in_loop), ["key[i] value[i]: parental"]);
    let calls = executed(&format!(
        "void key_of(int at, int k) {{ lock(L); key[at] = k; unlock(L); }}
         void value_of(int to, int v) {{ lock(L); value[to] = v; unlock(L); }} {}",
        table("key_of(i, k); value_of(i, v);", "get(h);")
    ));
    assert_eq!(rows(&calls), ["key[at] value[to]: parental"]);
    assert_eq!(accesses(&calls), ["put writes key[at], writes value[to]: confirmed"]);
    let apart = executed(&format!(
        "void key_of(int at, int k) {{ key[at] = k; }} void value_of(int to, int v) {{ value[to] = v; }} {}",
        table("key_of(i, k); value_of(j, v);", "get(h);")
    ));
    assert!(rows(&apart).is_empty());
    let objects = executed(
        "class Entry { int key; int val; } Entry t[4]; lock L;
         void put(int i, int k, int v) { lock(L); t[i].key = k; unlock(L); lock(L); t[i].val = v; unlock(L); }
         void get(int i) { lock(L); print(t[i].key, t[i].val); unlock(L); }
         void main() { int h = choose(0, 1); cobegin A: put(h, 1, 10); B: get(h); coend }",
    );
    assert_eq!(rows(&objects), ["t[i].key t[i].val: parental"]);
    assert_eq!(accesses(&objects), ["put writes t[i].key, writes t[i].val: confirmed"]);
    let matrix = executed(
        "int count[2]; int item[2][3]; void put(int i, int j, int v) { item[i][j] = v; count[i] = j; }
         void main() { int h = choose(0, 1); cobegin A: put(h, h, 1); B: print(item[h][h], count[h]); coend }",
    );
    assert_eq!(rows(&matrix), ["count[i] item[i][j]: parental"]);
}

#[test]
fn each_row_is_judged_by_itself() {
    // Row i is torn, though row j is written at once, and in the region where row i ends.
    let put = "lock(L); key[i] = k; unlock(L); lock(L); value[i] = v; key[j] = k; value[j] = v; unlock(L);";
    assert_eq!(accesses(&executed(&table(put, "get(h);"))), ["put writes key[i], writes value[i]: confirmed"]);
    // Each row is whole; that one comes after the other does not matter.
    let put = "lock(L); key[i] = k; value[i] = v; unlock(L); lock(L); key[j] = k; value[j] = v; unlock(L);";
    assert!(accesses(&executed(&table(put, "get(h);"))).is_empty());
    // No touches of one row.
    let put = "lock(L); key[i] = k; unlock(L); lock(L); value[i + 1] = v; unlock(L);";
    let beside = "{ lock(L); key[h] = 3; value[h] = 4; unlock(L); }";
    assert!(accesses(&executed(&table(put, beside))).is_empty());
}

#[test]
fn cells_of_one_row_are_compared() {
    let report = |beside: &str| accesses(&executed(&table(TORN, beside)));
    assert_eq!(report("get(h);"), ["put writes key[i], writes value[i]: confirmed"]);
    // Whoever comes to another row tears nothing.
    assert_eq!(report("get(h + 2);"), ["put writes key[i], writes value[i]: refuted"]);
    // All keys are written before all values: row 0 is torn where somebody reads that row.
    let fill = |first: u32, second: u32| {
        let text = format!(
            "int key[2]; int value[2]; lock L;
             void fill(int k, int v) {{
               for (int i = 0; i < 2; i++) {{ lock(L); key[i] = k; unlock(L); lock(L); value[i] = v; unlock(L); }} }}
             void get(int a, int b) {{ lock(L); print(key[a], value[b]); unlock(L); }}
             void main() {{ int c = choose(0, 0); cobegin A: fill(1, 2); B: get(c + {first}, c + {second}); coend }}"
        );
        accesses(&executed(&text))
    };
    assert_eq!(fill(1, 1), ["fill writes key[i], writes value[i]: confirmed"]);
    assert_eq!(fill(0, 1), ["fill writes key[i], writes value[i]: refuted"]);
}

#[test]
fn fields_of_an_object_in_an_array_are_those_of_one_element() {
    let status = |first: u32, second: u32| {
        let report = executed(&format!(
            "class Entry {{ public int key; public int val;
               public void put(int k, int v) {{ lock(L); key = k; unlock(L); lock(L); val = v; unlock(L); }} }}
             lock L; Entry t[2];
             void get(int a, int b) {{ lock(L); print(t[a].key, t[b].val); unlock(L); }}
             void main() {{ int h = choose(0, 0);
               cobegin A: {{ t[h].put(1, 10); t[h + 1].put(2, 20); }} B: get(h + {first}, h + {second}); coend }}"
        ));
        let pairs = report.pairs.iter().flat_map(|pair| &pair.endangered_accesses);
        let mut put = pairs.filter(|access| access.method == "Entry.put" && access.variables == ["key", "val"]);
        put.next().map(|access| access.decision.status)
    };
    assert_eq!(status(1, 1), Some(Status::Confirmed));
    assert_eq!(status(0, 1), Some(Status::Refuted));
}

#[test]
fn a_source_in_another_row_ties_the_whole_arrays() {
    let report = executed(
        "int key[4]; int value[4]; lock L;
         void put(int i, int j) { lock(L); value[j] = key[i] + 1; unlock(L); }
         void main() { int h = choose(0, 1); cobegin A: put(h, h + 1); B: put(h, h); coend }",
    );
    assert!(rows(&report).is_empty());
    assert!(report.correlations.iter().any(|of| of.variables == ["key", "value"] && of.patterns == ["vertical"]));
}

#[test]
fn the_warning_names_the_elements_of_one_row() {
    let find = |put: &str| {
        let text = table(put, "get(h);");
        let model = Model::from_text("test.csm", &text, &Options::default()).unwrap();
        check::check(&unit(&text).sources, model.program(), Some(model.form()))
    };
    let found = find(TORN);
    assert_eq!(found[0].message, "`key[i]` and `value[i]` belong together, but `put` frees `L` between them");
    // The touches of one row are shown, though those of another one come first.
    let put = "lock(L); value[j] = v; key[j] = k; value[i] = v; unlock(L); lock(L); key[i] = k; unlock(L);";
    let text = table(put, "get(h);");
    let found = find(put);
    let shown = |label: &Label| text[label.span.start as usize..].split(" = ").next().unwrap().to_owned();
    assert_eq!(found[0].primary.as_ref().map(shown), Some("key[i]".to_owned()));
    assert_eq!(shown(&found[0].secondary[0]), "value[i]");
}

#[test]
fn a_set_of_rows_is_one_row() {
    let text = "int key[4]; int used[4]; int value[4]; lock L;
         void put(int i, int k, int v) { lock(L); key[i] = k; used[i] = 1; value[i] = v; unlock(L); }
         void move(int i, int k, int v) { lock(L); key[i] = k; unlock(L); lock(L); used[i] = 2; value[i] = v; unlock(L); }
         void get(int i) { lock(L); print(key[i], value[i]); unlock(L); }
         void main() { int h = choose(0, 1); put(h, 1, 1); cobegin A: move(h, 2, 2); B: get(h + OTHER); coend }";
    let status = |other: &str| {
        let options = Options::default();
        let request =
            CorrelateRequest { threshold: 0.5, rank: 0.0, sets: true, execute: Execute::Selected, options: &options };
        let unit = unit(&text.replace("OTHER", other));
        let report = correlate(unit, &request, &Budget::from(Limits::default())).correlation;
        assert!(!report.correlations.iter().any(|of| of.variables == ["key[i]", "value[i]"]));
        let mut all = report.pairs.iter().flat_map(|pair| &pair.endangered_accesses);
        let found = all.find(|one| one.method == "move" && one.variables == ["key[i]", "value[i]"]);
        found.map(|one| one.decision.status)
    };
    assert_eq!([status("0"), status("2")], [Some(Status::Confirmed), Some(Status::Refuted)]);
}

#[test]
fn a_library_is_tied_by_row_too() {
    let report = executed(
        "class Table { lock L; int key[4]; int value[4];
           void set(int i, int k) { key[i] = k; }
           public void put(int i, int k, int v) { lock(L); set(i, k); unlock(L); lock(L); value[i] = v; unlock(L); }
           public void get(int i) { lock(L); print(key[i], value[i]); unlock(L); } }",
    );
    assert_eq!(rows(&report), ["key[i] value[i]: parental"]);
    // In a context in which both come to one element.
    let status = |other: &str| {
        let pair = report.pairs.iter().find(|pair| pair.methods == ["Table.put", other]);
        pair.map(|pair| pair.status)
    };
    assert_eq!([status("Table.put"), status("Table.get")], [Some(Status::Confirmed); 2]);
    assert!(report.pairs.iter().all(|pair| pair.status != Status::Refuted || !pair.selected));
}
