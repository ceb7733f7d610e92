//! The loop of the server: messages in, messages out.
//!
//! **Input**: a connection. **Output**: an answer to each request, and diagnostics of each document after each change of it.
//!
//! A request that makes the tool fail is answered with an error, and the server goes on: an editor must not lose it.

use super::document::Document;
use super::explorer::{Explored, Explorer};
use super::hints::Shown;
use super::text::Encoding;
use super::{Environment, actions, completion, convert, hints, hover, navigation, outline};
use crossbeam_channel::{Receiver, select, unbounded};
use gen_lsp_types::{
    CodeActionParams, CodeActionResponse, CodeLensParams, CompletionParams, DefinitionParams,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentSymbolParams,
    HoverParams, InitializeParams, InlayHintParams, PublishDiagnosticsParams, ReferenceParams,
    TextDocumentPositionParams, Uri,
};
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
}

impl Settings {
    fn of(parameters: &InitializeParams) -> Settings {
        let options = parameters.initialization_options.clone().map(|options| json!(options)).unwrap_or_default();
        let capabilities = json!(parameters.capabilities);
        let known = parameters.capabilities.general.as_ref().and_then(|general| general.position_encodings.clone());
        let seconds = options["exploreSeconds"].as_f64().unwrap_or(SECONDS);
        let time = Duration::try_from_secs_f64(seconds).ok();
        let is_true = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        Settings {
            encoding: Encoding::of(&known.unwrap_or_default()),
            hints: options["inlayHints"].as_str().and_then(Shown::of).unwrap_or_default(),
            time: time.filter(|_| options["explore"].as_bool().unwrap_or(true)),
            runs_commands: options["commands"].as_bool().unwrap_or(false),
            watches_files: is_true("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            refreshes_hints: is_true("/workspace/inlayHint/refreshSupport"),
        }
    }

    /// What the server can do.
    fn capabilities(&self) -> Value {
        json!({
            "capabilities": {
                "positionEncoding": self.encoding.kind(),
                "textDocumentSync": { "openClose": true, "change": 2 },
                "hoverProvider": true,
                "definitionProvider": true,
                "referencesProvider": true,
                "documentSymbolProvider": true,
                "inlayHintProvider": true,
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
                "codeLensProvider": {},
                "completionProvider": {},
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
                let answer = answer.unwrap_or_else(|_| Some(internal(id, &request.method)));
                if let Some(answer) = answer {
                    self.send(Message::Response(answer));
                }
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
            let method = "workspace/didChangeWatchedFiles";
            let registration = json!({ "id": "configurations", "method": method, "registerOptions": options });
            self.request("client/registerCapability", json!({ "registrations": [registration] }));
        }
    }

    fn notified(&mut self, notification: Notification) {
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(DidOpenTextDocumentParams { text_document: of }) = parse(notification.params) {
                    let document = Document::new(of.uri.clone(), of.version, &of.text, self.environment);
                    self.documents.insert(of.uri.to_string(), document);
                    self.changed(&of.uri);
                }
            }
            "textDocument/didChange" => {
                if let Ok(DidChangeTextDocumentParams { text_document: of, content_changes }) =
                    parse(notification.params)
                {
                    let uri = of.text_document_identifier.uri;
                    self.explorer.cancel(&uri);
                    if let Some(document) = self.documents.get_mut(uri.as_str()) {
                        let text = document.changed(content_changes, self.settings.encoding);
                        document.set(of.version, &text, self.environment);
                        self.changed(&uri);
                    }
                }
            }
            "textDocument/didClose" => {
                if let Ok(DidCloseTextDocumentParams { text_document: of }) = parse(notification.params) {
                    self.explorer.cancel(&of.uri);
                    self.documents.remove(of.uri.as_str());
                    self.publish(&PublishDiagnosticsParams { uri: of.uri, version: None, diagnostics: Vec::new() });
                }
            }
            "workspace/didChangeWatchedFiles" => self.read_configurations(),
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
            self.explorer.start(uri, document.version, &document.name, document.text());
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
                self.request("workspace/inlayHint/refresh", Value::Null);
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
        let method = "textDocument/publishDiagnostics".to_owned();
        self.send(Message::Notification(Notification::new(method, parameters)));
    }

    /// The answer to a request; none to one that was answered already.
    fn answer(&self, request: &Request) -> Option<Response> {
        let encoding = self.settings.encoding;
        let asked = request.params.clone();
        let id = request.id.clone();
        let found = match request.method.as_str() {
            "textDocument/hover" => parse(asked).map(|HoverParams { text_document_position_params: at, .. }| {
                self.at(&at, |document| json!(hover::hover(document, encoding, at.position)))
            }),
            "textDocument/definition" => {
                parse(asked).map(|DefinitionParams { text_document_position_params: at, .. }| {
                    self.at(&at, |document| json!(navigation::definition(document, encoding, at.position)))
                })
            }
            "textDocument/references" => parse(asked).map(|of: ReferenceParams| {
                let (at, declared) = (of.text_document_position_params, of.context.include_declaration);
                self.at(&at, |document| json!(navigation::references(document, encoding, at.position, declared)))
            }),
            "textDocument/completion" => {
                parse(asked).map(|CompletionParams { text_document_position_params: at, .. }| {
                    self.at(&at, |document| json!(completion::completions(document)))
                })
            }
            "textDocument/documentSymbol" => parse(asked).map(|DocumentSymbolParams { text_document: of, .. }| {
                self.of(&of.uri, |document| json!(outline::symbols(document, encoding)))
            }),
            "textDocument/inlayHint" => parse(asked).map(|InlayHintParams { text_document: of, range, .. }| {
                self.of(&of.uri, |document| json!(hints::hints(document, encoding, range, self.settings.hints)))
            }),
            "textDocument/codeAction" => parse(asked).map(|CodeActionParams { text_document: of, range, .. }| {
                let actions = |document: &Document| actions::actions(document, encoding, range).into_iter();
                self.of(&of.uri, |document| {
                    json!(actions(document).map(CodeActionResponse::CodeAction).collect::<Vec<_>>())
                })
            }),
            "textDocument/codeLens" => parse(asked).map(|CodeLensParams { text_document: of, .. }| {
                let lenses = |document: &Document| json!(outline::lenses(document, encoding));
                if self.settings.runs_commands { self.of(&of.uri, lenses) } else { json!([]) }
            }),
            method => {
                let message = format!("`{method}` is not supported");
                return Some(Response::new_err(id, ErrorCode::MethodNotFound as i32, message));
            }
        };
        Some(match found {
            Ok(answer) => Response::new_ok(id, answer),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error),
        })
    }

    fn at(&self, of: &TextDocumentPositionParams, answer: impl FnOnce(&Document) -> Value) -> Value {
        self.of(&of.text_document.uri, answer)
    }

    /// An answer that a document gives; null for one that is not open.
    fn of(&self, uri: &Uri, answer: impl FnOnce(&Document) -> Value) -> Value {
        self.documents.get(uri.as_str()).map_or(Value::Null, answer)
    }
}

fn parse<T: DeserializeOwned>(parameters: Value) -> Result<T, String> {
    serde_json::from_value(parameters).map_err(|error| error.to_string())
}

fn internal(id: RequestId, method: &str) -> Response {
    Response::new_err(id, ErrorCode::InternalError as i32, format!("internal error in `{method}`"))
}
