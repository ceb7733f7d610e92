//! `cssame report`: the page, its data, and what happens where there is none.

use crate::json_schema::assert_answer;
use crate::process::{Answer, Files, finish, program, root};
use serde_json::Value;
use std::fs;

fn report(files: &Files, line: &str) -> Answer {
    finish(program().current_dir(files.0.path()).arg("report").args(line.split_whitespace()))
}

/// The data of a page.
fn data(page: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(begin).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn sample(files: &Files, name: &str) {
    fs::copy(root().join("samples").join(name), files.path("p.csm")).unwrap();
}

#[test]
fn a_page_has_the_answers_of_all_commands() {
    let files = Files::new();
    sample(&files, "bank_transfer_deadlock.csm");
    let answer = report(&files, "p.csm");
    assert_eq!((answer.status, answer.stdout.as_str()), (1, ""));
    assert_eq!(answer.stderr, "wrote p.html\n");
    let page = fs::read_to_string(files.path("p.html")).unwrap();
    let data = data(&page);
    assert_answer("report", &data);
    let codes: Vec<&str> = data["findings"].as_array().unwrap().iter().map(|of| of["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["CS0402", "CS0412"]);
    assert_eq!((&data["findings"][0]["execution"], &data["findings"][1]["execution"]), (&Value::Null, &0.into()));
    let execution = &data["executions"][0];
    assert_eq!(execution["status"], "deadlock");
    // Who waits for a lock comes after the step that has taken it.
    let rows = execution["rows"].as_array().unwrap();
    let last = rows.iter().rfind(|row| row["op"] == "waits for" && row["value"] == "b.guard (T2)").unwrap();
    let after = last["after"].as_array().unwrap().iter().map(|row| &rows[row.as_u64().unwrap() as usize]);
    assert!(after.into_iter().any(|row| row["op"] == "lock" && row["object"] == "b.guard"), "{last}");
    for key in ["pi", "futures", "races", "correlate", "coverage", "graph"] {
        assert!(data[key].is_object(), "{key}");
    }
    let json = report(&files, "p.csm --format json -o q.html");
    assert_eq!(json.json()["executions"], data["executions"]);
    for way in ["<script src", "<link rel=\"stylesheet\"", "@import", "url(h"] {
        assert!(!page.contains(way), "nothing comes from elsewhere: {way}");
    }
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_cores() {
    let files = Files::new();
    sample(&files, "order_pool_broken.csm");
    report(&files, "p.csm --jobs 1 -o one.html");
    report(&files, "p.csm --jobs 2 -o two.html");
    let read = |name: &str| fs::read(files.path(name)).unwrap();
    assert!(read("one.html") == read("two.html"));
}

#[test]
fn no_text_of_a_program_is_markup() {
    let files = Files::new();
    files.write("p.csm", "int x; // </script><script>alert(1)</script> <!-- \u{2028}\nprint(\"</script>\");\n");
    assert_eq!(report(&files, "p.csm").status, 0);
    let page = fs::read_to_string(files.path("p.html")).unwrap();
    assert!(data(&page)["source"].as_str().unwrap().contains("</script><script>alert(1)"));
    assert_eq!((page.matches("alert(1)").count(), page.matches("<script>alert").count()), (1, 0));
}

#[test]
fn without_an_answer_there_is_no_page() {
    let files = Files::new();
    files.write("p.csm", "int x = y;\n");
    let answer = report(&files, "p.csm");
    assert_eq!(answer.status, 2);
    assert!(answer.text().contains("CS0201"), "{answer:?}");
    assert_eq!(report(&files, "missing.csm").status, 2);
    assert_eq!(report(&files, "-").status, 2);
    files.write("q.csm", "print(1);\n");
    let answer = report(&files, "q.csm -o missing/q.html");
    assert!(answer.status == 2 && answer.stderr.contains("CS0910"), "{answer:?}");
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 2, "nothing was written");
    assert!(report(&files, "q.csm -o -").stdout.starts_with("<!doctype html>"));
}

#[test]
fn what_has_no_end_and_what_has_no_main() {
    let files = Files::new();
    files.write(
        "p.csm",
        "atomic bool stop;\ncobegin\n  T1: while (!stop) skip;\n  T2: { stop = true; stop = false; }\ncoend\n",
    );
    assert_eq!(report(&files, "p.csm").status, 1);
    let of = data(&fs::read_to_string(files.path("p.html")).unwrap());
    let endless = of["findings"].as_array().unwrap().iter().find(|of| of["code"] == "CS0416").unwrap();
    let execution = &of["executions"][endless["execution"].as_u64().unwrap() as usize];
    assert!(!execution["rows"].as_array().unwrap().is_empty(), "{execution}");
    sample(&files, "classes/bank_account_broken.csm");
    assert_eq!(report(&files, "p.csm").status, 1);
    let of = data(&fs::read_to_string(files.path("p.html")).unwrap());
    assert_answer("report", &of);
    assert_eq!(
        (&of["has_main"], &of["pi"], &of["executions"]),
        (&false.into(), &Value::Null, &Value::Array(Vec::new()))
    );
    assert!(of["correlate"].is_object() && of["coverage"].is_object());
}

#[test]
fn what_is_suppressed_is_marked_and_what_is_open_is_said() {
    let files = Files::new();
    sample(&files, "counter_unlocked.csm");
    let answer = report(&files, "p.csm --allow CS0401,CS0403,CS0405 --max-states 5 --timeout 60");
    assert!(answer.status == 3 || answer.status == 0, "{answer:?}");
    let of = data(&fs::read_to_string(files.path("p.html")).unwrap());
    let findings = of["findings"].as_array().unwrap();
    assert!(!findings.is_empty() && findings.iter().all(|of| of["suppressed"] == true), "{findings:?}");
    assert_eq!(of["bounds"].as_array().unwrap().is_empty(), answer.status == 0);
}
