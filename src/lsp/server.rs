//! The loop of the server: messages in, messages out.
//!
//! **Input**: a connection. **Output**: an answer to each request, and diagnostics of each document after each of its changes.
//!
//! A request that makes the tool fail is answered with an error, and the server continues: an editor must not lose it.

use super::document::Document;
use super::explorer::{Explored, Explorer};
use super::hints::Shown;
use super::protocol::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, InitializeParams,
    PublishDiagnosticsParams, Range, ReferenceParams, RenameParams, TextDocumentIdentifier, TextDocumentPositionParams,
    TextEdit,
};
use super::text::Encoding;
use super::uri::Uri;
use super::{
    Environment, actions, completion, convert, hints, hover, layout, methods, navigation, outline, rename, tokens,
};
use crossbeam_channel::{Receiver, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Time of one exploration, if the client does not say.
const SECONDS: f64 = 10.0;

/// What the client may set.
struct Settings {
    encoding: Encoding,
    hints: Shown,
    /// Time of one exploration; none where nothing is to be explored.
    time: Option<Duration>,
    /// Whether the client knows the commands of code lenses.
    runs_commands: bool,
    watches_files: bool,
    refreshes_hints: bool,
    refreshes_lenses: bool,
}

impl Settings {
    fn of(parameters: &InitializeParams) -> Settings {
        let InitializeParams { capabilities, initialization_options } = parameters;
        let options = initialization_options.as_ref().unwrap_or(&Value::Null);
        let known = capabilities.pointer("/general/positionEncodings").and_then(Value::as_array);
        let seconds = options["exploreSeconds"].as_f64().unwrap_or(SECONDS);
        let time = Duration::try_from_secs_f64(seconds).ok();
        let is_true = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        Settings {
            encoding: known.map_or(Encoding::Utf16, |known| Encoding::of(known)),
            hints: options["inlayHints"].as_str().and_then(Shown::of).unwrap_or_default(),
            time: time.filter(|_| options["explore"].as_bool().unwrap_or(true)),
            runs_commands: options["commands"].as_bool().unwrap_or(false),
            watches_files: is_true("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            refreshes_hints: is_true("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: is_true("/workspace/codeLens/refreshSupport"),
        }
    }

    /// What the server can do.
    fn capabilities(&self) -> Value {
        json!({
            "capabilities": {
                "positionEncoding": self.encoding.name(),
                "textDocumentSync": { "openClose": true, "change": 2 },
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentSymbolProvider": true,
                "inlayHintProvider": true,
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
                "codeLensProvider": {},
                "completionProvider": {},
                "documentHighlightProvider": true,
                "documentFormattingProvider": true,
                "foldingRangeProvider": true,
                "renameProvider": { "prepareProvider": true },
                "semanticTokensProvider": {
                    "legend": { "tokenTypes": tokens::KINDS, "tokenModifiers": tokens::MODIFIERS },
                    "full": true,
                },
            },
            "serverInfo": { "name": "cssame", "version": env!("CARGO_PKG_VERSION") },
        })
    }
}

/// Serves a client until it ends the session.
///
/// # Errors
///
/// The client does not keep to the protocol.
pub fn serve(connection: Connection, environment: &Environment) -> Result<(), String> {
    let (id, parameters) = connection.initialize_start().map_err(|error| error.to_string())?;
    let parameters: InitializeParams = serde_json::from_value(parameters).map_err(|error| error.to_string())?;
    let settings = Settings::of(&parameters);
    connection.initialize_finish(id, settings.capabilities()).map_err(|error| error.to_string())?;
    let (sender, results) = unbounded();
    let explorer = Explorer::new(environment.clone(), sender, settings.time);
    let mut server =
        Server { connection: &connection, environment, settings, documents: BTreeMap::new(), explorer, requests: 0 };
    server.watch_configurations();
    let served = server.run(&results);
    server.explorer.cancel_all();
    served
}

struct Server<'a> {
    connection: &'a Connection,
    environment: &'a Environment,
    settings: Settings,
    documents: BTreeMap<String, Document>,
    explorer: Explorer,
    /// Requests that were sent to the client.
    requests: i32,
}

impl Server<'_> {
    fn run(&mut self, results: &Receiver<Explored>) -> Result<(), String> {
        let messages = self.connection.receiver.clone();
        loop {
            select! {
                recv(messages) -> message => {
                    let Ok(message) = message else { return Ok(()) };
                    if self.is_over(message)? {
                        return Ok(());
                    }
                }
                recv(results) -> explored => if let Ok(explored) = explored { self.take(explored) },
            }
        }
    }

    /// Handles a message; whether it was the last one.
    fn is_over(&mut self, message: Message) -> Result<bool, String> {
        match message {
            Message::Request(request) => {
                if self.connection.handle_shutdown(&request).map_err(|error| error.to_string())? {
                    return Ok(true);
                }
                let id = request.id.clone();
                let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
                self.send(Message::Response(answer.unwrap_or_else(|_| internal(id, &request.method))));
            }
            Message::Notification(notification) => {
                // What a document lacks after a fault, its next change brings.
                let _ = catch_unwind(AssertUnwindSafe(|| self.notified(notification)));
            }
            Message::Response(_) => {}
        }
        Ok(false)
    }

    /// Where the client has gone, the next message that is read says so.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }

    fn request(&mut self, method: &str, parameters: Value) {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Message::Request(Request { id, method: method.to_owned(), params: parameters }));
    }

    /// Asks to be told when a configuration changes.
    fn watch_configurations(&mut self) {
        if self.settings.watches_files {
            let options = json!({ "watchers": [{ "globPattern": "**/cssame.toml" }] });
            let method = methods::DID_CHANGE_WATCHED_FILES;
            let registration = json!({ "id": "configurations", "method": method, "registerOptions": options });
            self.request(methods::REGISTER_CAPABILITY, json!({ "registrations": [registration] }));
        }
    }

    fn notified(&mut self, notification: Notification) {
        match notification.method.as_str() {
            methods::DID_OPEN => {
                if let Ok(DidOpenTextDocumentParams { text_document: of }) = parse(&notification.params) {
                    let document = Document::new(of.uri.clone(), of.version, &of.text, self.environment);
                    self.documents.insert(of.uri.as_str().to_owned(), document);
                    self.changed(&of.uri);
                }
            }
            methods::DID_CHANGE => {
                if let Ok(DidChangeTextDocumentParams { text_document: of, content_changes }) =
                    parse(&notification.params)
                {
                    let uri = of.uri;
                    self.explorer.cancel(&uri);
                    if let Some(document) = self.documents.get_mut(uri.as_str()) {
                        let text = document.changed(content_changes, self.settings.encoding);
                        document.set(of.version, &text, self.environment);
                        self.changed(&uri);
                    }
                }
            }
            methods::DID_CLOSE => {
                if let Ok(DidCloseTextDocumentParams { text_document: of }) = parse(&notification.params) {
                    self.explorer.cancel(&of.uri);
                    self.documents.remove(of.uri.as_str());
                    self.publish(&PublishDiagnosticsParams { uri: of.uri, version: None, diagnostics: Vec::new() });
                }
            }
            methods::DID_CHANGE_WATCHED_FILES => self.read_configurations(),
            _ => {}
        }
    }

    /// A configuration has changed: every document is looked at again.
    fn read_configurations(&mut self) {
        let uris: Vec<Uri> = self.documents.values().map(|document| document.uri.clone()).collect();
        for uri in uris {
            if let Some(document) = self.documents.get_mut(uri.as_str()) {
                let (version, text) = (document.version, document.text().to_owned());
                document.set(version, &text, self.environment);
            }
            self.changed(&uri);
        }
    }

    /// Shows what is known of a document, and begins to explore it.
    fn changed(&mut self, uri: &Uri) {
        self.show(uri);
        let Some(document) = self.documents.get(uri.as_str()) else { return };
        if document.compiled().is_some_and(|compiled| compiled.program().main.is_some()) {
            self.explorer.start(uri, document.version, &document.analysis);
        }
    }

    /// Takes what executions have shown, unless the document has changed since.
    fn take(&mut self, explored: Explored) {
        let uri = explored.uri.clone();
        let Some(document) = self.documents.get_mut(uri.as_str()) else { return };
        if document.version == explored.version {
            document.explored = Some(explored);
            self.show(&uri);
            if self.settings.refreshes_hints {
                self.request(methods::INLAY_HINT_REFRESH, Value::Null);
            }
            if self.settings.refreshes_lenses && self.settings.runs_commands {
                self.request(methods::CODE_LENS_REFRESH, Value::Null);
            }
        }
    }

    fn show(&self, uri: &Uri) {
        let Some(document) = self.documents.get(uri.as_str()) else { return };
        let explored = document.explored.iter().flat_map(|explored| &explored.found);
        let all = document.analysis.found.iter().chain(explored);
        let diagnostics = all.map(|of| convert::diagnostic(document, self.settings.encoding, of)).collect();
        self.publish(&PublishDiagnosticsParams { uri: uri.clone(), version: Some(document.version), diagnostics });
    }

    fn publish(&self, parameters: &PublishDiagnosticsParams) {
        let method = methods::PUBLISH_DIAGNOSTICS.to_owned();
        self.send(Message::Notification(Notification::new(method, parameters)));
    }

    /// The answer to a request.
    fn answer(&self, request: &Request) -> Response {
        let id = request.id.clone();
        let asked = request.params.clone();
        let method = request.method.as_str();
        let found = self.at_position(method, &asked).or_else(|| self.of_document(method, &asked));
        match found {
            Some(Ok(answer)) => Response::new_ok(id, answer),
            Some(Err(Refusal::Parameters(error))) => Response::new_err(id, ErrorCode::InvalidParams as i32, error),
            Some(Err(Refusal::Impossible(why))) => Response::new_err(id, ErrorCode::RequestFailed as i32, why),
            None => {
                let message = format!("`{method}` is not supported");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    /// The answer to a question about a position; nothing if it is none.
    fn at_position(&self, method: &str, asked: &Value) -> Option<Result<Value, Refusal>> {
        let encoding = self.settings.encoding;
        let all = [
            methods::HOVER,
            methods::DEFINITION,
            methods::REFERENCES,
            methods::DOCUMENT_HIGHLIGHT,
            methods::COMPLETION,
            methods::PREPARE_RENAME,
            methods::RENAME,
        ];
        if !all.contains(&method) {
            return None;
        }
        let at = match parse::<TextDocumentPositionParams>(asked) {
            Ok(at) => at,
            Err(error) => return Some(Err(error)),
        };
        let Some(document) = self.documents.get(at.text_document.uri.as_str()) else { return Some(Ok(Value::Null)) };
        let position = at.position;
        Some(match method {
            methods::HOVER => Ok(json!(hover::hover(document, encoding, position))),
            methods::DEFINITION => Ok(json!(navigation::definition(document, encoding, position))),
            methods::DOCUMENT_HIGHLIGHT => Ok(json!(navigation::highlights(document, encoding, position))),
            methods::COMPLETION => Ok(json!(completion::completions(document))),
            methods::REFERENCES => {
                let with_declaration = parse::<ReferenceParams>(asked).map(|of| of.context.include_declaration);
                with_declaration.map(|of| json!(navigation::references(document, encoding, position, of)))
            }
            methods::PREPARE_RENAME => {
                let span = rename::renamed_at(document, document.offset(encoding, position));
                span.map(|span| json!(document.range(encoding, span))).map_err(Refusal::Impossible)
            }
            _ => parse::<RenameParams>(asked).and_then(|of| {
                let places = rename::rename(document, document.offset(encoding, position), &of.new_name);
                let edit = |span| TextEdit { range: document.range(encoding, span), new_text: of.new_name.clone() };
                let edits: Vec<TextEdit> = places.map_err(Refusal::Impossible)?.into_iter().map(edit).collect();
                Ok(json!(document.edit(edits)))
            }),
        })
    }

    /// The answer to a question about a document, or a range of it; nothing if it is none.
    fn of_document(&self, method: &str, asked: &Value) -> Option<Result<Value, Refusal>> {
        let encoding = self.settings.encoding;
        let range = || parse::<Range>(&asked["range"]);
        let answer: &dyn Fn(&Document) -> Result<Value, Refusal> = match method {
            methods::DOCUMENT_SYMBOL => &|document| Ok(json!(outline::symbols(document, encoding))),
            methods::INLAY_HINT => {
                &|document| Ok(json!(hints::hints(document, encoding, range()?, self.settings.hints)))
            }
            methods::CODE_ACTION => &|document| Ok(json!(actions::actions(document, encoding, range()?))),
            methods::CODE_LENS if !self.settings.runs_commands => &|_| Ok(json!([])),
            methods::CODE_LENS => &|document| Ok(json!(outline::lenses(document, encoding))),
            methods::FOLDING_RANGE => &|document| Ok(json!(layout::folding_ranges(document))),
            methods::FORMATTING => &|document| Ok(json!(layout::formatting(document, encoding))),
            methods::SEMANTIC_TOKENS_FULL => &|document| Ok(json!(tokens::tokens(document, encoding))),
            _ => return None,
        };
        let of = parse::<TextDocumentIdentifier>(&asked["textDocument"]);
        Some(of.and_then(|of| self.documents.get(of.uri.as_str()).map_or(Ok(Value::Null), answer)))
    }
}

/// Why a request has no answer.
enum Refusal {
    /// Its parameters are not those of the protocol.
    Parameters(String),
    /// What is asked for cannot be done.
    Impossible(String),
}

fn parse<T: DeserializeOwned>(parameters: &Value) -> Result<T, Refusal> {
    T::deserialize(parameters).map_err(|error| Refusal::Parameters(error.to_string()))
}

fn internal(id: RequestId, method: &str) -> Response {
    Response::new_err(id, ErrorCode::InternalError as i32, format!("internal error in `{method}`"))
}
