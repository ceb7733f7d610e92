//! Drivers of files without `main`: which there are, that they compile, and that the file stays what it is.

use cssame::harness::{Driver, MAX_DRIVERS, Methods};
use cssame::model::{Model, Options};
use cssame::source::SourceMap;
use std::collections::BTreeSet;
use support::samples;

/// A list that is locked but where it looks at another one.
const LIST: &str = "class List {
  private lock guard;
  private int t[4];
  private int count;
  public void add(int x) {
    synchronized (guard) {
      if (count < 4) { t[count] = x; count = count + 1; }
    }
  }
  public int size() { synchronized (guard) { return count; } }
  public bool equals(List other) {
    return count == other.count;
  }
  private void clear() { count = 0; }
}
";

fn with_methods<T>(text: &str, ask: impl FnOnce(&Methods<'_>) -> T) -> T {
    let mut sources = SourceMap::default();
    let file = sources.add("test.csm", text);
    ask(&Methods::new(&sources, file))
}

fn drivers(text: &str) -> Vec<Driver> {
    with_methods(text, |methods| methods.drivers())
}

fn names(drivers: &[Driver]) -> Vec<&str> {
    drivers.iter().map(|driver| driver.name.as_str()).collect()
}

fn main_of<'a>(drivers: &'a [Driver], name: &str) -> &'a str {
    &drivers.iter().find(|driver| driver.name == name).unwrap_or_else(|| panic!("{name}: {:?}", names(drivers))).main
}

/// What holds of the drivers of every file.
fn assert_lawful(text: &str, made: &[Driver]) {
    assert_eq!(made, drivers(text), "drivers are the same each time");
    assert!(made.len() <= MAX_DRIVERS);
    let names: BTreeSet<&str> = made.iter().map(|driver| driver.name.as_str()).collect();
    assert_eq!(names.len(), made.len(), "names are unique");
    let mains: BTreeSet<&str> = made.iter().map(|driver| driver.main.as_str()).collect();
    assert_eq!(mains.len(), made.len(), "no driver comes twice");
    for driver in made {
        assert!(driver.name.is_ascii(), "{}", driver.name);
        assert!(driver.text.starts_with(text), "places are those of the file: {}", driver.name);
        assert!(driver.text.ends_with(&driver.main) && driver.main.contains("void main()"), "{}", driver.name);
        let model = Model::from_text("test.csm", &driver.text, &Options::default());
        assert!(model.is_ok(), "{}: {:?}\n{}", driver.name, model.err(), driver.text);
    }
}

#[test]
fn each_pair_of_public_methods_has_a_driver() {
    let made = drivers(LIST);
    assert_lawful(LIST, &made);
    let expected = [
        "List.add || List.add",
        "List.add || List.size",
        "List.add || List.equals",
        "List.size || List.size",
        "List.size || List.equals",
        "List.equals || List.equals",
        "List.add || List.equals, of the other List",
        "List.size || List.equals, of the other List",
        "List.equals || List.equals, of the other List",
        "List.add || List.add, after List.add",
    ];
    assert_eq!(names(&made)[..expected.len()], expected);
    assert!(names(&made).iter().all(|name| !name.contains("clear")));
}

#[test]
fn a_driver_has_two_objects_and_prints_what_can_be_seen() {
    let made = drivers(LIST);
    let expected = "List first_List;
List second_List;

void main() {
  first_List.add(1);
  second_List.add(1);
  cobegin
    first:
      print(first_List.equals(second_List));
    second:
      print(second_List.equals(first_List));
  coend
  print(first_List.size());
  print(second_List.size());
}
";
    assert_eq!(main_of(&made, "List.equals || List.equals, of the other List, after List.add"), expected);
    // Before one call more makes the 4 of the file.
    let full = main_of(&made, "List.add || List.size, after 3 times List.add");
    assert!(full.contains("  for (int call = 0; call < 3; call++) {\n    first_List.add(1);\n  }\n"), "{full}");
    // A method beside itself has different arguments.
    let itself = main_of(&made, "List.add || List.add");
    assert!(itself.contains("first_List.add(1);") && itself.contains("first_List.add(0);"), "{itself}");
}

#[test]
fn what_has_a_main_needs_no_driver() {
    for rest in ["void main() { }", "skip;", "cobegin A: skip; coend"] {
        assert_eq!(drivers(&format!("{LIST}{rest}\n")), []);
    }
    assert_eq!(drivers("int x;\n"), []);
}

#[test]
fn functions_are_paired_by_the_objects_that_they_take() {
    let text = "class Log { int lines; void add() { lines = lines + 1; } }
class Shop { int sold; void sell(Log log) { sold = sold + 1; log.add(); } }
void transfer(Shop from, Shop to) { from.sold = from.sold - 1; to.sold = to.sold + 1; }
void with(lock guard) { unlock(guard); }
int twice(int x) { return x + x; }
";
    let made = drivers(text);
    assert_lawful(text, &made);
    let all = names(&made);
    for name in [
        "Log.add || Shop.sell",
        "Shop.sell || Shop.sell",
        "Shop.sell || Shop.sell, of the other Log",
        "Shop.sell || Shop.sell, of the other Shop",
        "Shop.sell || transfer",
        "transfer || transfer",
        "transfer || transfer, of the other Shop",
    ] {
        assert!(all.contains(&name), "{name}: {all:?}");
    }
    // No object in common and no variables of the file; an object of synchronisation is no argument.
    assert!(all.iter().all(|name| !name.contains("twice") && !name.contains("with")), "{all:?}");
    let crosswise = main_of(&made, "transfer || transfer, of the other Shop");
    assert!(crosswise.contains("transfer(first_Shop, second_Shop);"), "{crosswise}");
    assert!(crosswise.contains("transfer(second_Shop, first_Shop);"), "{crosswise}");
    assert!(crosswise.contains("print(first_Shop.sold);"), "{crosswise}");
}

#[test]
fn functions_without_objects_are_paired_by_the_variables_of_the_file() {
    let text = "int hits, last[2];
lock guard;
void hit() { hits = hits + 1; }
int get() { synchronized (guard) { return hits; } }
class Page { int shown; void show() { shown = hits; } }
";
    let made = drivers(text);
    assert_lawful(text, &made);
    let all = names(&made);
    assert_eq!(all[..4], ["hit || hit", "hit || get", "get || get", "Page.show || Page.show"]);
    assert!(all.contains(&"hit || Page.show") && all.contains(&"hit || get, after hit"), "{all:?}");
    assert!(main_of(&made, "hit || get").ends_with("  coend\n  print(hits);\n}\n"));
}

#[test]
fn what_may_wait_for_another_thread_is_marked() {
    let text = "class Box {
  private lock guard; private cond filled; private bool full;
  public void put() { synchronized (guard) { full = true; notify(filled); } }
  public void take() { synchronized (guard) { while (!full) wait(filled, guard); full = false; } }
  public void take_soon() { take(); }
}
";
    let made = drivers(text);
    assert_lawful(text, &made);
    for driver in &made {
        assert_eq!(driver.waits, driver.name.contains("take"), "{}", driver.name);
    }
    // What waits for nobody comes first.
    let after = names(&made).into_iter().filter_map(|name| name.strip_prefix("Box.put || Box.put, after "));
    assert_eq!(after.collect::<Vec<_>>()[..3], ["Box.put", "Box.take", "Box.take_soon"]);
}

#[test]
fn a_bound_that_was_hit_is_told() {
    assert!(!with_methods(LIST, |methods| methods.has_more_drivers()));
    let methods: String = (0..40).map(|n| format!("  void m{n}(int a) {{ x = a + {n}; }}\n")).collect();
    let text = format!("class Large {{\n  int x;\n{methods}}}\n");
    let made = drivers(&text);
    assert_eq!(made.len(), MAX_DRIVERS);
    assert!(with_methods(&text, |methods| methods.has_more_drivers()));
    assert_lawful(&text, &made);
    // Nothing is made of all pairs of very many.
    let methods: String = (0..3_000).map(|n| format!("  void m{n}() {{ x = {n}; }}\n")).collect();
    assert_eq!(drivers(&format!("class Huge {{\n  int x;\n{methods}}}\n")).len(), MAX_DRIVERS);
}

#[test]
fn names_of_the_file_stay_its_own() {
    let text = "int first_C, second_C;\nvoid print(int x) { first_C = x; }\nclass C { int x; int m() { return x; } }";
    let made = drivers(text);
    assert_lawful(text, &made);
    let plain = main_of(&made, "C.m || C.m");
    assert!(plain.starts_with("C first_C_;\n") && !plain.contains("print("), "{plain}");
}

#[test]
fn all_samples_without_main_are_closed() {
    let mut closed = 0;
    for (name, text) in support::part(samples(), 40) {
        let made = drivers(&text);
        assert_lawful(&text, &made);
        closed += usize::from(!made.is_empty());
        println!("{name}: {} drivers", made.len());
    }
    assert!(closed > 0);
}
