//! How long the language server takes to start, and from a change of a large file to its diagnostics.
//!
//! It speaks to the program over the standard streams, as an editor does. `cargo bench --bench language_server` prints the
//! median and the largest of several times.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints, and says by failing what is wrong")]

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const LINES: usize = 2_000;
const STARTS: usize = 20;
const CHANGES: i32 = 40;
const URI: &str = "untitled:large.csm";

struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start() -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cssame"));
        let mut process = command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut client = Client { process, input, output };
        let parameters = json!({ "capabilities": {}, "initializationOptions": { "explore": false } });
        client.send(Message::Request(Request {
            id: RequestId::from(1),
            method: "initialize".into(),
            params: parameters,
        }));
        client.wait(|message| matches!(message, Message::Response(_)));
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.input).unwrap();
        self.input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(Message::Notification(Notification { method: method.to_owned(), params: parameters }));
    }

    fn wait(&mut self, is_meant: impl Fn(&Message) -> bool) {
        while !is_meant(&Message::read(&mut self.output).unwrap().unwrap()) {}
    }

    fn diagnostics(&mut self, version: i32) {
        self.wait(|message| matches!(message, Message::Notification(of) if of.params["version"] == version));
    }
}

/// Workers that add to one of several accounts under its lock, one after the other without a lock.
fn program() -> String {
    let mut text = String::from("int total;\n");
    let accounts = LINES / 20;
    for account in 0..accounts {
        text += &format!("int balance{account};\nlock guard{account};\n");
    }
    for account in 0..accounts {
        let next = (account + 1) % accounts;
        text += &format!(
            "void work{account}(int amount) {{\n  lock(guard{account});\n  balance{account} = balance{account} + amount;\n"
        );
        text +=
            &format!("  if (balance{account} > 100) {{\n    balance{account} = 0;\n  }}\n  unlock(guard{account});\n");
        text += &format!("  lock(guard{next});\n  balance{next} = balance{next} - amount;\n  unlock(guard{next});\n");
        text += "  total = total + 1;\n}\n";
    }
    text += "cobegin\n";
    for account in 0..accounts {
        text += &format!("  T{account}: {{ work{account}(1); work{account}(2); }}\n");
    }
    text += "coend\n";
    while text.lines().count() < LINES {
        text += "total = total + 1;\n";
    }
    text
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{what:40} median {:7.1} ms, largest {:7.1} ms",
        milliseconds(times[times.len() / 2]),
        milliseconds(times[times.len() - 1])
    );
}

fn main() {
    let starts = (0..STARTS).map(|_| {
        let began = Instant::now();
        let mut client = Client::start();
        let time = began.elapsed();
        client.process.kill().unwrap();
        client.process.wait().unwrap();
        time
    });
    print("start to the answer of `initialize`", starts.collect());
    let text = program();
    let mut client = Client::start();
    let document = json!({ "uri": URI, "languageId": "csm", "version": 0, "text": text });
    client.tell("textDocument/didOpen", json!({ "textDocument": document }));
    client.diagnostics(0);
    let place = json!({ "line": LINES / 2, "character": 0 });
    let changes = (1..=CHANGES).map(|version| {
        let change = json!({ "range": { "start": place, "end": place }, "text": " " });
        let began = Instant::now();
        let document = json!({ "uri": URI, "version": version });
        client.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
        client.diagnostics(version);
        began.elapsed()
    });
    let changes: Vec<Duration> = changes.collect();
    print(&format!("a change of {} lines to its diagnostics", text.lines().count()), changes);
    client.process.kill().unwrap();
    client.process.wait().unwrap();
}
