//! `cssame drive --pairs`: the serial orders of an arm that counts in a local of `main`.

use super::pairs::drive;
use serde_json::Value;
use std::fs;

/// What the command answers for a text.
fn answer(text: &str) -> Value {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("test.csm");
    fs::write(&file, text).unwrap();
    drive(&file, &[]).1
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
