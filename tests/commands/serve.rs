//! The page in a browser, asked by a client of HTTP. How it looks and what clicks do is tried by `web/test/serve.mjs`.

use crate::process::{Files, call, program};
use crate::server::{Response, Server};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, Read};
use std::process::Command;

const PROGRAM: &str = "int x;\ncobegin\n  T1: x = x + 1;\n  T2: x = x + 1;\ncoend\nassert(x == 2);\n";

/// A program with more executions than anybody can look at.
fn long() -> String {
    let arms: String = (0..8).map(|arm| format!("  T{arm}: {{ {} }}\n", "x = x * 3 + 1; ".repeat(8))).collect();
    format!("int x;\ncobegin\n{arms}coend\nprint(x);\n")
}

#[test]
fn only_who_knows_the_address_may_ask() {
    let files = Files::new();
    let server = Server::start(&files, &[]);
    assert!(server.host.starts_with("127.0.0.1:"), "{}", server.host);
    assert_eq!(server.path.len(), 34, "a token of 128 bits");
    let Server { host, path, .. } = &server;
    let own = format!("Host: {host}\r\n");
    assert_eq!(server.request("GET", path, &own, "").status, 200);
    let wrong = format!("/{}/", "0".repeat(32));
    for (path, head) in [
        ("/", own.clone()),
        (wrong.as_str(), own.clone()),
        (path.trim_end_matches('/'), own.clone()),
        (path, "Host: evil.example\r\n".to_owned()),
        (path, format!("{own}Origin: http://evil.example\r\n")),
        (path, format!("{own}Origin: null\r\n")),
    ] {
        let answer = server.request("GET", path, &head, "");
        assert_eq!(answer.status, 403, "{path} {head}");
        assert!(answer.body.starts_with("refused: "), "{}", answer.body);
    }
    // Also where something would be done.
    let question = json!({ "command": "run", "text": PROGRAM }).to_string();
    let head = format!("{own}Origin: http://evil.example\r\nContent-Type: application/json\r\n");
    assert_eq!(server.request("POST", &format!("{path}api/jobs"), &head, &question).status, 403);
}

#[test]
fn the_page_keeps_to_itself() {
    let files = Files::new();
    let server = Server::start(&files, &[]);
    for (path, kind) in [("", "text/html"), ("serve.js", "text/javascript"), ("serve.css", "text/css")] {
        let Response { status, head, body } = server.get(path);
        assert_eq!(status, 200, "{path}");
        assert!(body.len() > 100 && head.contains(&format!("content-type: {kind}")), "{head}");
        for line in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "no-referrer", "nosniff"] {
            assert!(head.contains(line), "{path}: {line}");
        }
    }
}

#[test]
fn samples_and_files_are_opened_and_nothing_else() {
    let files = Files::new();
    files.write("secret.txt", "secret");
    fs::create_dir(files.path("programs")).unwrap();
    files.write("programs/one.csm", PROGRAM);
    let server = Server::start(&files, &["programs"]);
    let list = server.get("api/files").json();
    assert_eq!(list["files"], json!(["programs/one.csm"]));
    assert!(list["samples"].as_array().unwrap().iter().any(|name| name == "classes/bank_account_broken.csm"), "{list}");
    assert!(server.get("api/sample?name=peterson.csm").body.contains("Peterson"));
    assert_eq!(server.get("api/file?name=programs%2Fone.csm").json()["text"], PROGRAM);
    for name in ["secret.txt", "programs/../secret.txt", "../secret.txt", "/etc/hostname", "one.csm", ""] {
        assert_eq!(server.get(&format!("api/file?name={name}")).status, 404, "{name}");
        assert_eq!(server.get(&format!("api/sample?name={name}")).status, 404, "{name}");
    }
}

#[test]
fn a_file_is_written_where_it_is_what_was_read() {
    let files = Files::new();
    files.write("one.csm", PROGRAM);
    files.write("two.csm", PROGRAM);
    let server = Server::start(&files, &["one.csm"]);
    let put = |name: &str, hash: &str, text: &str| {
        let path = format!("{}api/file?name={name}&hash={hash}", server.path);
        server.request("PUT", &path, &server.head(), text)
    };
    let hash = server.get("api/file?name=one.csm").json()["hash"].as_str().unwrap().to_owned();
    let answer = put("one.csm", &hash, "int y;\n");
    assert_eq!(fs::read_to_string(files.path("one.csm")).unwrap(), "int y;\n");
    // The hash of before is of no use any more.
    assert_eq!(put("one.csm", &hash, "int z;\n").status, 409);
    let now = answer.json()["hash"].as_str().unwrap().to_owned();
    assert_eq!(put("one.csm", &now, "int z;\n").status, 200);
    // Others are not served.
    assert_eq!(put("two.csm", &hash, "int z;\n").status, 404);
    assert_eq!(put("three.csm", &hash, "int z;\n").status, 404);
    assert_eq!(fs::read_to_string(files.path("two.csm")).unwrap(), PROGRAM);
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 2);
}

#[test]
fn questions_are_answered_as_on_the_command_line() {
    let files = Files::new();
    files.write("one.csm", PROGRAM);
    let server = Server::start(&files, &["one.csm"]);
    let futures = server.ask(&json!({ "command": "futures", "text": PROGRAM, "file": "one.csm" })).answer();
    assert_eq!((&futures["status"], &futures["stopped"]), (&json!(1), &json!(false)));
    let same = program().current_dir(files.0.path()).args(["futures", "one.csm", "--format", "json"]).output().unwrap();
    let mut same: Value = serde_json::from_slice(&same.stdout).unwrap();
    same["file"] = json!("-");
    assert_eq!(futures["answer"], same);
    // Its executions can be followed.
    let steps = &futures["answer"]["failures"][0]["schedule"];
    let replay = server.ask(&json!({ "command": "replay", "text": PROGRAM, "steps": steps })).answer();
    assert_eq!((&replay["status"], &replay["answer"]["status"]), (&json!(1), &json!("assert")));
    for (command, key) in [("report", "executions"), ("run", "rows"), ("races", "potential")] {
        let answer = server.ask(&json!({ "command": command, "text": PROGRAM, "seed": 1 })).answer();
        assert!(answer["answer"][key].is_array(), "{command}: {answer}");
    }
    let drive = server.ask(&json!({ "command": "drive", "text": PROGRAM, "target": "rust" })).answer();
    let written: Vec<&str> = drive["files"].as_array().unwrap().iter().map(|of| of["path"].as_str().unwrap()).collect();
    assert!(written.contains(&"Cargo.toml") && written.contains(&"src/program.rs"), "{written:?}");
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 1, "nothing is written beside the program");
}

#[test]
fn what_is_no_question_is_refused() {
    let files = Files::new();
    let server = Server::start(&files, &[]);
    let none = server.ask(&json!({ "command": "futures", "text": "int x = ;\u{0}" })).answer();
    assert_eq!((&none["status"], none["answer"]["diagnostics"].is_array()), (&json!(2), true), "{none}");
    assert_eq!(server.ask(&json!({ "command": "fmt", "text": "" })).status, 422);
    assert_eq!(server.ask(&json!({ "command": "run", "text": "", "out": "x" })).status, 422);
    assert_eq!(server.post("api/jobs", "{").status, 400);
    assert_eq!(server.ask(&json!({ "command": "run", "text": " ".repeat(2 << 20) })).status, 413);
    assert_eq!(server.ask(&json!({ "command": "run", "text": " ".repeat(20 << 20) })).status, 413);
    assert_eq!(server.post("api/jobs/77/stop", "").status, 404);
    assert_eq!(server.post("api/jobs/x/stop", "").status, 400);
    // An input that looks like an option is one input.
    let input = json!({ "command": "run", "text": PROGRAM, "inputs": ["--record=stolen.json"] });
    assert_eq!(server.ask(&input).answer()["status"], 2);
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 0);
}

#[test]
fn a_question_can_be_stopped_and_says_what_it_knew() {
    let files = Files::new();
    let server = Server::start(&files, &[]);
    let question = json!({ "command": "futures", "text": long() });
    let (mut stream, job) = server.begin(&question);
    let mut line = String::new();
    // A line of progress tells that the search has begun.
    while !line.contains("event: progress") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "no progress was told");
    }
    assert_eq!(server.post(&format!("api/jobs/{job}/stop"), "").status, 204);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    let data = rest.lines().find(|line| line.starts_with("data: {")).unwrap();
    assert!(
        data.contains("\"stopped\":true") && data.contains("\"decided\":false"),
        "{}",
        &data[..data.len().min(300)]
    );
    // One that nobody waits for ends as well: its number is free.
    let (stream, job) = server.begin(&question);
    drop(stream);
    while server.post(&format!("api/jobs/{job}/stop"), "").status != 404 {}
}

#[test]
fn no_question_takes_more_than_the_server_allows() {
    let files = Files::new();
    let server = Server::start(&files, &["--timeout", "0.2", "--max-memory", "256M"]);
    let most = server.get("api/files").json()["most"].clone();
    assert_eq!((&most["seconds"], &most["megabytes"]), (&json!(0.2), &json!(256)));
    let question = json!({ "command": "futures", "text": long(), "seconds": 1e6, "megabytes": 1_000_000 });
    let answer = server.ask(&question).answer();
    assert_eq!((&answer["status"], &answer["answer"]["bound"]), (&json!(3), &json!("timeout")));
}

#[test]
fn it_ends_by_ctrl_c_and_says_why_it_cannot_begin() {
    let files = Files::new();
    let mut server = Server::start(&files, &[]);
    let killed = Command::new("/bin/sh").args(["-c", &format!("kill -INT {}", server.process.id())]).status().unwrap();
    assert!(killed.success());
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    let answer = call("serve", &["missing.csm"]);
    assert!(answer.status == 2 && answer.stderr.contains("`missing.csm` cannot be read"), "{answer:?}");
    let other = Server::start(&files, &[]);
    let port = other.host.split(':').nth(1).unwrap();
    let answer = call("serve", &["--port", port]);
    assert!(answer.status == 2 && answer.stderr.contains("the page cannot be served"), "{answer:?}");
}
