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
    // What other commands say is what they say when they are asked.
    for command in ["pi", "futures", "races", "correlate", "coverage"] {
        let mut answer = data[command].clone();
        for key in ["schema", "file"] {
            answer[key] = data[key].clone();
        }
        answer["command"] = command.into();
        // The steps of outcomes are not there: those of findings are shown.
        for outcome in answer.get_mut("outcomes").and_then(Value::as_array_mut).into_iter().flatten() {
            assert_eq!(outcome["schedule"].take(), Value::Null);
            outcome["schedule"] = Value::Array(Vec::new());
        }
        assert_answer(command, &answer);
    }
    assert_eq!(data["left_out"], Value::Array(Vec::new()));
    let codes: Vec<&str> = data["findings"].as_array().unwrap().iter().map(|of| of["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["CS0412", "CS0402"]);
    assert_eq!((&data["findings"][0]["execution"], &data["findings"][1]["execution"]), (&0.into(), &Value::Null));
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
fn no_name_of_a_file_is_markup() {
    let files = Files::new();
    let name = "a<!--<script>\u{2028}\"'&b.csm";
    files.write(name, "int x;\nprint(x);\n");
    let answer = finish(program().current_dir(files.0.path()).args(["report", name, "-o", "p.html"]));
    assert_eq!(answer.status, 0, "{answer:?}");
    let page = fs::read_to_string(files.path("p.html")).unwrap();
    assert_eq!(data(&page)["file"], name);
    assert!(!page.contains(name));
}

#[test]
fn what_is_there_stays_where_there_is_no_new_page() {
    let files = Files::new();
    files.write("p.csm", "int x = y;\n");
    files.write("p.html", "old");
    assert_eq!(report(&files, "p.csm").status, 2);
    assert_eq!(fs::read_to_string(files.path("p.html")).unwrap(), "old");
}

/// Two threads that each write one of two variables in one of many places.
fn many_races(places: usize) -> String {
    let body: String =
        (0..places).map(|place| format!("  if (k == {place}) x = {place}; else y = {place};\n")).collect();
    format!("int x; int y;\nvoid f(int k) {{\n{body}}}\ncobegin\n  T1: f(1);\n  T2: f(2);\ncoend\n")
}

#[test]
fn what_is_too_large_is_left_out_and_said() {
    let files = Files::new();
    let left_out = |text: &str| {
        files.write("p.csm", text);
        report(&files, "p.csm");
        let page = fs::read_to_string(files.path("p.html")).unwrap();
        assert!(page.len() < 1_000_000, "{}", page.len());
        let of = data(&page);
        assert_answer("report", &of);
        let list = of["left_out"].as_array().unwrap().iter();
        let counts = list.map(|of| (of["what"].as_str().unwrap().to_owned(), of["shown"].as_u64().unwrap()));
        (counts.collect::<Vec<_>>(), of)
    };
    let (counts, of) = left_out(&many_races(24));
    let found = of["findings"].as_array().unwrap();
    let shown = found.iter().filter(|of| of["execution"].is_u64()).count() as u64;
    assert_eq!(counts, [("coverage".to_owned(), 0), ("executions".to_owned(), shown)]);
    assert_eq!((of["executions"].as_array().unwrap().len(), &of["coverage"]), (50, &Value::Null));
    let straight = "  k = k + 1;\n".repeat(5_001);
    let (counts, of) = left_out(&format!("void main() {{\n  int k = 0;\n{straight}  print(k);\n}}\n"));
    assert_eq!(counts, [("graph".to_owned(), 0)]);
    assert_eq!(of["graph"], Value::Null);
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
    assert_eq!(report(&files, "p.csm --timeout 5").status, 1);
    let of = data(&fs::read_to_string(files.path("p.html")).unwrap());
    let endless = of["findings"].as_array().unwrap().iter().find(|of| of["code"] == "CS0416").unwrap();
    let execution = &of["executions"][endless["execution"].as_u64().unwrap() as usize];
    // The steps of the cycle are there, and where it begins.
    assert_eq!((&execution["status"], &execution["cycle"]["start"]), (&"endless".into(), &3.into()));
    let last = execution["rows"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["step"], &last["op"], &last["object"]), (&4.into(), &"read".into(), &"stop".into()));
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
