//! `cssame drive --pairs`: the tear of one variable alone has a test, and the serial orders of an arm that counts in a local of `main`.

use super::pairs::{drive, torn};
use serde_json::Value;
use std::fs;

/// What the command answers for a text.
fn answer(text: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("test.csm");
    fs::write(&file, text).unwrap();
    drive(&file, &[]).1
}

/// Figure 6 of Jannesari and Wolf: `second` comes between what `first` writes and what it reads.
const CURRENCY: &str = "int Euro; int Yen; lock L;
    void first() { lock(L); Euro = 5; unlock(L); lock(L); Yen = Euro * 107; unlock(L); }
    void second() { lock(L); Euro = 7; unlock(L); }
    void main() { cobegin A: first(); B: second(); coend print(Euro, Yen); }";

#[test]
fn a_tear_of_one_variable_has_a_test() {
    let answer = answer(CURRENCY);
    assert_eq!(torn(&answer), ["first_torn_by_second_between_euro_and_yen"], "{answer:#}");
    assert_eq!(answer["pairs"][0]["status"], "confirmed");
}

#[test]
fn a_loop_counter_of_main_denies_no_serial_order() {
    let answer = answer(
        "class C { lock L; int x; int y;
           public void put(int v) { lock(L); x = v; unlock(L); lock(L); y = v; unlock(L); }
           public void get() { lock(L); print(x, y); unlock(L); } }
         C o;
         void main() {
           int i = 0;
           cobegin A: { for (i = 0; i < 2; i++) { o.put(i); } } B: o.get(); coend
         }",
    );
    let pairs = answer["pairs"].as_array().unwrap();
    let serial =
        pairs.iter().flat_map(|pair| pair["tests"].as_array().unwrap()).filter(|test| test["kind"] == "serial");
    let names: Vec<&str> = serial.map(|test| test["test"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["c_get_before_a", "a_before_c_get", "c_put_before_c_get", "c_get_before_c_put"], "{answer:#}");
}
