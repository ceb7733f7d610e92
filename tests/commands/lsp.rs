//! The language server, asked by a client over the standard streams.

use crate::process::{Files, finish, program, root};
use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Nothing takes as long as that; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(120);

const UNLOCKED: &str = "int x;\ncobegin\n  T1: x = 1;\n  T2: x = 2;\ncoend\nprint(x);\n";

struct Client {
    process: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Message>,
    sent: i32,
    /// What was read before it was asked for.
    kept: Vec<Message>,
}

impl Client {
    /// Starts a server, with options and the capabilities of a client.
    fn start(options: &Value, capabilities: &Value) -> (Client, Value) {
        let mut process = program().arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut client = Client { process, input, messages, sent: 0, kept: Vec::new() };
        let parameters = json!({ "capabilities": capabilities, "initializationOptions": options });
        let answer = client.ask("initialize", parameters).unwrap();
        client.tell("initialized", json!({}));
        (client, answer)
    }

    /// A server that does not explore.
    fn quiet() -> Client {
        Client::start(&json!({ "explore": false, "inlayHints": "all", "commands": true }), &json!({})).0
    }

    fn send(&mut self, message: Message) {
        let input = self.input.as_mut().unwrap();
        message.write(input).unwrap();
        input.flush().unwrap();
    }

    fn tell(&mut self, method: &str, parameters: Value) {
        self.send(Message::Notification(Notification { method: method.to_owned(), params: parameters }));
    }

    /// The next message that is meant.
    fn wait<T>(&mut self, is_meant: impl Fn(&Message) -> Option<T>) -> T {
        if let Some(place) = self.kept.iter().position(|message| is_meant(message).is_some()) {
            return is_meant(&self.kept.remove(place)).unwrap();
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("the server answers");
            if let Some(found) = is_meant(&message) {
                return found;
            }
            self.kept.push(message);
        }
    }

    /// The answer to a request, or the number of the error.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, i32> {
        self.sent += 1;
        let id = RequestId::from(self.sent);
        self.send(Message::Request(Request { id: id.clone(), method: method.to_owned(), params: parameters }));
        self.wait(|message| match message {
            Message::Response(response) if response.id == id => {
                Some(response.response_result.clone().map_err(|error| error.code))
            }
            _ => None,
        })
    }

    fn open(&mut self, uri: &str, text: &str) -> Vec<Value> {
        let document = json!({ "uri": uri, "languageId": "csm", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.diagnostics(uri, 1)
    }

    fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let document = json!({ "uri": uri, "version": version });
        self.tell("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    }

    /// The next diagnostics of a version of a document.
    fn diagnostics(&mut self, uri: &str, version: i32) -> Vec<Value> {
        self.wait(|message| match message {
            Message::Notification(of)
                if of.method == "textDocument/publishDiagnostics"
                    && of.params["uri"] == uri
                    && of.params["version"] == version =>
            {
                of.params["diagnostics"].as_array().cloned()
            }
            _ => None,
        })
    }

    fn at(&mut self, method: &str, uri: &str, line: u32, character: u32) -> Value {
        let position = json!({ "line": line, "character": character });
        let mut parameters = json!({ "textDocument": { "uri": uri }, "position": position });
        if method == "textDocument/references" {
            parameters["context"] = json!({ "includeDeclaration": true });
        }
        self.ask(method, parameters).unwrap()
    }

    fn of(&mut self, method: &str, uri: &str) -> Value {
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9999, "character": 0 } });
        let context = json!({ "diagnostics": [] });
        let parameters = json!({ "textDocument": { "uri": uri }, "range": range, "context": context });
        self.ask(method, parameters).unwrap()
    }

    /// Ends the session; gives the exit status.
    fn end(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null).unwrap();
        self.tell("exit", Value::Null);
        self.input = None;
        self.process.wait().unwrap().code()
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

fn codes(diagnostics: &[Value]) -> Vec<&str> {
    diagnostics.iter().map(|of| of["code"].as_str().unwrap()).collect()
}

fn lines(locations: &Value) -> Vec<u64> {
    locations.as_array().unwrap().iter().map(|at| at["range"]["start"]["line"].as_u64().unwrap()).collect()
}

#[test]
fn diagnostics_follow_the_text() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    let found = client.open(uri, UNLOCKED);
    assert_eq!(codes(&found), ["CS0401"]);
    assert_eq!(
        found[0]["range"],
        json!({ "start": { "line": 2, "character": 6 }, "end": { "line": 2, "character": 7 } })
    );
    assert_eq!(found[0]["relatedInformation"].as_array().map(Vec::len), Some(1));
    let at = |line: u32, from: u32, to: u32, text: &str| {
        let place = |character| json!({ "line": line, "character": character });
        json!({ "range": { "start": place(from), "end": place(to) }, "text": text })
    };
    client.change(uri, 2, json!([at(0, 4, 5, "")]));
    assert!(codes(&client.diagnostics(uri, 2)).contains(&"CS0101"));
    // The second change is made to what the first one has left; columns count units of UTF-16.
    client.change(uri, 3, json!([at(0, 4, 4, "/* 😀 */ "), at(0, 13, 13, "x")]));
    assert_eq!(codes(&client.diagnostics(uri, 3)), ["CS0401"]);
    client.change(uri, 4, json!([{ "text": "int x;\nprint(x);\n" }]));
    assert_eq!(client.diagnostics(uri, 4), [] as [Value; 0]);
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(client.at("textDocument/hover", uri, 0, 0), Value::Null);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_encoding_is_one_that_both_know() {
    let general = json!({ "general": { "positionEncodings": ["utf-8", "utf-16"] } });
    let (mut client, answer) = Client::start(&json!({ "explore": false }), &general);
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-8");
    let found = client.open("untitled:a.csm", &UNLOCKED.replace("  T1: ", "  /* é */ T1: "));
    assert_eq!(found[0]["range"]["start"]["character"], 15);
    assert_eq!(client.end(), Some(0));
    let (client, answer) = Client::start(&json!({ "explore": false }), &json!({}));
    assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_read_shows_its_writes() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    client.open(uri, UNLOCKED);
    let hover = client.at("textDocument/hover", uri, 5, 6);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("`x` in main may see 2 writes"), "{text}");
    assert!(text.contains("| `x@3:7` | T1 | 3 | not decided |"), "{text}");
    let hover = client.at("textDocument/hover", uri, 2, 6);
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("`x@3:7` may be seen by") && text.contains("| `x@6:7` | main | 6 |"), "{text}");
    assert_eq!(lines(&client.at("textDocument/definition", uri, 5, 6)), [2, 3]);
    assert_eq!(lines(&client.at("textDocument/definition", uri, 2, 6)), [0]);
    assert_eq!(lines(&client.at("textDocument/references", uri, 0, 4)), [0, 2, 3, 5]);
    let hints = client.of("textDocument/inlayHint", uri);
    assert_eq!(hints[0]["label"], "← T1:3, T2:4");
    assert_eq!(hints[0]["position"], json!({ "line": 5, "character": 7 }));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn hints_show_the_text_in_cssame_form() {
    let (mut client, _) = Client::start(&json!({ "explore": false, "inlayHints": "form" }), &json!({}));
    let uri = "untitled:a.csm";
    client.open(uri, "int x;\ncobegin\n  T1: x = 1;\n  T2: if (x == 1) x = 2;\ncoend\nprint(x);\n");
    let hints = client.of("textDocument/inlayHint", uri);
    let shown = |hint: &Value| format!("{} {}", hint["position"]["line"], hint["label"].as_str().unwrap());
    let shown: Vec<String> = hints.as_array().unwrap().iter().map(shown).collect();
    assert_eq!(shown, ["0 _0", "2 _1", "3 _5 = pi(x_0, x_1)", "3 _2", "5 _4 = pi(x_1, x_2)"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn an_outline_actions_and_names() {
    let mut client = Client::quiet();
    let path = root().join("samples/classes/bank_account_broken.csm");
    let file = uri(&path);
    let text = fs::read_to_string(&path).unwrap();
    client.open(&file, &text);
    let symbols = client.of("textDocument/documentSymbol", &file);
    let names = |of: &Value| -> Vec<String> {
        of.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&symbols), ["BankAccount"]);
    assert!(names(&symbols[0]["children"]).len() > 3, "{symbols}");
    let completions = client.at("textDocument/completion", &file, 0, 0);
    let labels: Vec<&str> = completions.as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    for word in ["checkingGuard", "BankAccount", "cobegin", "unlock"] {
        assert!(labels.contains(&word), "{word}: {labels:?}");
    }
    let lenses = client.of("textDocument/codeLens", &file);
    let words = json!(["races", path.to_str().unwrap()]);
    assert_eq!(
        (&lenses[0]["command"]["command"], &lenses[0]["command"]["arguments"][0]),
        (&json!("cssame.run"), &words)
    );
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_comment_suppresses_what_it_is_offered_for() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    client.open(uri, UNLOCKED);
    let actions = client.of("textDocument/codeAction", uri);
    assert_eq!(actions.as_array().map(Vec::len), Some(2), "{actions}");
    let edits = &actions[1]["edit"]["changes"][uri];
    assert_eq!(edits[0]["newText"], "  // cssame: allow(CS0401)\n");
    client.change(
        uri,
        2,
        edits
            .as_array()
            .unwrap()
            .iter()
            .map(|edit| json!({ "range": edit["range"], "text": edit["newText"] }))
            .collect(),
    );
    assert_eq!(codes(&client.diagnostics(uri, 2)), [] as [&str; 0]);
    assert_eq!(client.end(), Some(0));
}

/// A text with the edits of an answer, all of which are of the lines and columns of the old text.
fn edited(text: &str, edits: &Value) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let offset = |at: &Value| {
        let (line, character) = (at["line"].as_u64().unwrap() as usize, at["character"].as_u64().unwrap() as usize);
        lines[..line].concat().len() + character
    };
    let mut text = text.to_owned();
    for edit in edits.as_array().unwrap().iter().rev() {
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        text.replace_range(start..end, edit["newText"].as_str().unwrap());
    }
    text
}

#[test]
fn a_finding_is_mended() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    let text = "lock L; int x;\ncobegin\n  T1: synchronized (L) { x = 1; }\n  T2: x = 2;\ncoend\nprint(x);\n";
    assert_eq!(codes(&client.open(uri, text)), ["CS0401"]);
    let actions = client.of("textDocument/codeAction", uri);
    assert_eq!((&actions[0]["title"], &actions[0]["isPreferred"]), (&json!("Take `L` in line 4"), &json!(true)));
    let mended = edited(text, &actions[0]["edit"]["changes"][uri]);
    assert_eq!(mended, text.replace("T2: x = 2;", "T2: synchronized (L) { x = 2; }"));
    client.change(uri, 2, json!([{ "text": mended }]));
    assert_eq!(codes(&client.diagnostics(uri, 2)), [] as [&str; 0]);
    client.change(uri, 3, json!([{ "text": "int total;\nprint(totl);\n" }]));
    client.diagnostics(uri, 3);
    assert_eq!(client.of("textDocument/codeAction", uri)[0]["title"], "Write `total`");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn names_are_found_and_changed() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    let text = "lock L; int x;\nvoid f(int n) { synchronized (L) { x = n; } }\ncobegin\n  A: f(1);\n  B: { int y = 2; f(y); }\ncoend\nprint(x);\n";
    client.open(uri, text);
    assert_eq!(lines(&client.at("textDocument/definition", uri, 1, 31)), [0], "of a lock");
    assert_eq!(lines(&client.at("textDocument/definition", uri, 3, 5)), [1], "of a function");
    assert_eq!(lines(&client.at("textDocument/references", uri, 1, 5)), [1, 3, 4]);
    assert_eq!(lines(&client.at("textDocument/documentHighlight", uri, 1, 12)), [1, 1]);
    let mut rename = |line: u32, character: u32, name: &str| {
        let position = json!({ "line": line, "character": character });
        let parameters = json!({ "textDocument": { "uri": uri }, "position": position, "newName": name });
        let answer = client.ask("textDocument/rename", parameters);
        answer.map(|answer| edited(text, &answer["changes"][uri]))
    };
    assert_eq!(rename(1, 5, "store"), Ok(text.replace("f(", "store(")));
    assert_eq!(rename(0, 5, "guard"), Ok(text.replace("L;", "guard;").replace("(L)", "(guard)")));
    // What would mean something else, what is no name, and what has none.
    for (line, character, name) in [(1, 11, "x"), (4, 11, "x y"), (4, 11, "int"), (0, 12, "L"), (0, 1, "z"), (3, 5, "")]
    {
        assert_eq!(rename(line, character, name), Err(-32803), "{name}");
    }
    let range = client.at("textDocument/prepareRename", uri, 3, 5);
    assert_eq!(range, json!({ "start": { "line": 3, "character": 5 }, "end": { "line": 3, "character": 6 } }));
    let tokens = client.of("textDocument/semanticTokens/full", uri);
    // `L`, a variable: declared, a synchronisation object; `x`, a variable: declared, shared.
    assert_eq!(tokens["data"].as_array().unwrap()[..10], json!([0, 5, 1, 2, 9, 0, 7, 1, 2, 5]).as_array().unwrap()[..]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_text_is_folded_and_laid_out() {
    let mut client = Client::quiet();
    let uri = "untitled:a.csm";
    let text = "int x;\n// one\n// two\nvoid main()\n{\n    x=1;\n}\n";
    client.open(uri, text);
    let folds = client.of("textDocument/foldingRange", uri);
    let expected = [(1, 2, "comment"), (4, 5, "region")]
        .map(|(start, end, kind)| json!({ "startLine": start, "endLine": end, "kind": kind }));
    assert_eq!(folds, json!(expected));
    let parameters = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 8, "insertSpaces": false } });
    let edits = client.ask("textDocument/formatting", parameters.clone()).unwrap();
    assert_eq!(edits.as_array().map(Vec::len), Some(1));
    let laid = edited(text, &edits);
    assert_eq!(laid, "int x;\n// one\n// two\nvoid main() {\n  x = 1;\n}\n");
    client.change(uri, 2, json!([{ "text": laid }]));
    assert_eq!(client.ask("textDocument/formatting", parameters.clone()), Ok(json!([])));
    client.change(uri, 3, json!([{ "text": "int x = ;" }]));
    assert_eq!(client.ask("textDocument/formatting", parameters), Ok(json!([])));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn verdicts_arrive_when_they_are_found() {
    let refresh = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
    let (mut client, _) = Client::start(&json!({ "exploreSeconds": 60, "commands": true }), &refresh);
    let uri = "untitled:a.csm";
    let text = "int x;\ncobegin\n  T1: { x = 1; x = 2; }\n  T2: if (x == 2) x = 5;\ncoend\nassert(x != 5);\nif (x == 7) print(x);\n";
    let before = client.open(uri, text);
    assert!(!codes(&before).contains(&"CS0410"), "{before:?}");
    let after = client.diagnostics(uri, 1);
    assert!(codes(&after).contains(&"CS0410"), "{after:?}");
    client.wait(|message| match message {
        Message::Request(of) if of.method == "workspace/inlayHint/refresh" => Some(()),
        _ => None,
    });
    let hover = client.at("textDocument/hover", uri, 5, 7);
    let table = hover["contents"]["value"].as_str().unwrap();
    assert!(table.contains("| `x@3:16` | T1 | 3 | feasible |") && !table.contains("not decided"), "{table}");
    let never = client.at("textDocument/hover", uri, 6, 18);
    let table = never["contents"]["value"].as_str().unwrap();
    assert!(table.contains("impossible") && !table.contains("| feasible"), "{table}");
    let hints = client.of("textDocument/inlayHint", uri);
    let of_line = |line: u64| hints.as_array().unwrap().iter().filter(|hint| hint["position"]["line"] == line).count();
    assert_eq!((of_line(3), of_line(6)), (1, 1), "{hints}");
    // The execution of the failure, as `cssame run --schedule` replays it.
    let lenses = client.of("textDocument/codeLens", uri);
    let lens = lenses.as_array().unwrap().iter().find(|lens| lens["command"]["command"] == "cssame.trace").unwrap();
    assert_eq!(lens["command"]["title"], "show an execution of CS0410");
    let files = Files::new();
    files.write("a.csm", text);
    files.write("s.json", lens["command"]["arguments"][0]["text"].as_str().unwrap());
    let replay = finish(program().current_dir(files.0.path()).args(["run", "a.csm", "--schedule", "s.json"]));
    assert!(replay.status == 1 && replay.stdout.contains("assert"), "{replay:?}");
    // What was found of an old version is not shown of a new one.
    client.change(uri, 2, json!([{ "text": text.replace("x != 5", "x < 9") }]));
    let latest = client.diagnostics(uri, 2);
    assert!(!codes(&latest).contains(&"CS0410"), "{latest:?}");
    let latest = client.diagnostics(uri, 2);
    assert!(!codes(&latest).contains(&"CS0410"), "{latest:?}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_configuration_that_changes_is_read_again() {
    let files = Files::new();
    let file = uri(&files.write("p.csm", UNLOCKED));
    let watches = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let (mut client, _) = Client::start(&json!({ "explore": false }), &watches);
    client.wait(|message| match message {
        Message::Request(of) if of.method == "client/registerCapability" => Some(()),
        _ => None,
    });
    assert_eq!(codes(&client.open(&file, UNLOCKED)), ["CS0401"]);
    files.write("cssame.toml", "[lints]\nCS0401 = \"allow\"\n");
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(client.diagnostics(&file, 1), [] as [Value; 0]);
    files.write("cssame.toml", "[lint]\n");
    client.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    assert_eq!(codes(&client.diagnostics(&file, 1)), ["CS0915", "CS0401"]);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_makes_no_sense_is_an_error_or_nothing() {
    let mut client = Client::quiet();
    assert_eq!(client.ask("textDocument/selectionRange", json!({})), Err(-32601));
    assert_eq!(client.ask("textDocument/hover", json!({ "textDocument": 3 })), Err(-32602));
    let uri = "untitled:a.csm";
    for text in ["", "}{", "\u{0}\u{7f}é😀", &"{".repeat(50_000), "int main", UNLOCKED] {
        client.open(uri, text);
        let at_positions = ["hover", "definition", "references", "documentHighlight", "completion"];
        for method in at_positions.map(|name| format!("textDocument/{name}")) {
            for (line, character) in [(0, 0), (0, 99), (99, 0), (4_000_000_000, 4_000_000_000)] {
                client.at(&method, uri, line, character);
            }
        }
        for method in [
            "textDocument/documentSymbol",
            "textDocument/inlayHint",
            "textDocument/codeLens",
            "textDocument/codeAction",
            "textDocument/foldingRange",
            "textDocument/formatting",
            "textDocument/semanticTokens/full",
        ] {
            client.of(method, uri);
        }
    }
    // An end before its begin.
    let range = json!({ "start": { "line": 3, "character": 2 }, "end": { "line": 1, "character": 0 } });
    client.change(uri, 2, json!([{ "range": range, "text": "" }]));
    client.diagnostics(uri, 2);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn who_does_not_speak_the_protocol_is_told() {
    let answer = finish(program().arg("lsp"));
    assert_eq!((answer.status, answer.stdout.as_str()), (2, ""));
    assert!(answer.stderr.contains("violates the protocol"), "{}", answer.stderr);
}

/// What is found in the files that a document includes stands there, or at its top.
#[test]
fn a_document_in_c_includes_what_lies_beside_it() {
    let files = Files::new();
    files.write("shared.h", "extern int x;\nstatic void bump(void) { x++; }\n");
    let text = "#include <pthread.h>\n#include \"shared.h\"\nint x;\n\
                void *work(void *unused) { bump(); return unused; }\n\
                int main(void) {\n  pthread_t one;\n  pthread_create(&one, NULL, work, NULL);\n  x = 5;\n  return x;\n}\n";
    let uri = uri(&files.path("main.c"));
    let mut client = Client::quiet();
    let found = client.open(&uri, text);
    assert!(codes(&found).contains(&"CS0401") && !codes(&found).contains(&"CS0605"), "{found:#?}");
    // The read in `main` may see the write in the header.
    let definitions = client.at("textDocument/definition", &uri, 8, 9);
    let header = uri.replace("main.c", "shared.h");
    let places = definitions.as_array().unwrap().iter();
    assert!(places.clone().any(|at| at["uri"] == header && at["range"]["start"]["line"] == 1), "{definitions:#}");
    assert!(places.clone().any(|at| at["uri"] == uri && at["range"]["start"]["line"] == 7), "{definitions:#}");
    let symbols = client.of("textDocument/documentSymbol", &uri);
    assert!(!symbols.to_string().contains("bump"), "{symbols:#}");
    let found = client.open(&uri.replace("main.c", "other.c"), &text.replace("shared.h", "missing.h"));
    assert!(found[0]["message"].as_str().unwrap().contains("missing.h"), "{found:#?}");
    assert_eq!(client.end(), Some(0));
}
