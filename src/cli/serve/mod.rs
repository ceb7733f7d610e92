//! The server of `cssame serve`: a page in a browser, with an editor, questions and their answers.
//!
//! **Input**: [`Settings`]. **Output**: the address of the page, and the answers below it, until Ctrl-C.
//!
//! | request | answer |
//! |---|---|
//! | `GET /TOKEN/`, `serve.js`, `serve.css` | the page |
//! | `GET /TOKEN/api/files` | the names of the programs that can be opened, and the maximum bounds of a question |
//! | `GET /TOKEN/api/sample?name=`, `file?name=` | the text of a program |
//! | `PUT /TOKEN/api/file?name=&hash=` | writes a file if it is unchanged since the page read it |
//! | `POST /TOKEN/api/jobs` | a stream of events of a question ([`jobs`]) |
//! | `POST /TOKEN/api/jobs/N/stop` | stops the question |
//! | `GET /TOKEN/lsp` | a websocket to a language server ([`editor`]) |
//!
//! **Algorithm**: one thread answers. Questions and language servers are separate processes, so that none can harm another one.
//!
//! **Soundness**: it listens only at the loopback address, and answers only its own pages ([`guard`]).

mod editor;
mod folder;
mod guard;
mod jobs;
mod page;
mod question;
mod samples;

pub use folder::Folder;
pub use question::Most;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::StatusCode;
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use folder::{Refusal, TEXT_BYTES};
use futures_util::{Stream, stream};
use jobs::Jobs;
use question::Question;
use serde::Deserialize;
use serde_json::json;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::task::spawn_blocking;

/// Editors that are open at once.
const EDITORS: usize = 8;

/// Events that wait for a page.
const EVENTS: usize = 16;

/// Bytes of a question: a text in JSON can be up to six times as long, and with it comes an execution.
const QUESTION_BYTES: usize = 6 * TEXT_BYTES + (8 << 20);

/// Bytes of the token.
const TOKEN_BYTES: usize = 16;

/// What a server is made of.
#[derive(Debug)]
pub struct Settings {
    /// The tool, which answers questions.
    pub program: PathBuf,
    /// What may be read and written.
    pub folder: Folder,
    /// The most that a question may take.
    pub most: Most,
    /// Questions that are answered at once.
    pub cores: usize,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    jobs: Jobs,
    editors: Arc<Semaphore>,
}

type Asked = State<Arc<Shared>>;

impl Server {
    /// Listens at the loopback address; at a free port for 0.
    ///
    /// # Errors
    ///
    /// The port is taken, or the system has no random numbers.
    pub fn listen(port: u16, settings: Settings) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let jobs = Jobs::new(settings.program.clone(), settings.most, settings.cores);
        let shared = Arc::new(Shared { settings, jobs, editors: Arc::new(Semaphore::new(EDITORS)) });
        Ok(Server { listener, port, token, shared })
    }

    /// The address of the page. Whoever knows it may ask.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers until `end` is told.
    ///
    /// # Errors
    ///
    /// The system refuses to go on.
    pub fn run(self, end: &Notify) -> io::Result<()> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let app = Router::new()
            // With the slash at its end: what the page asks is relative to it.
            .route(&format!("/{}/", self.token), get(page::html))
            .nest(&format!("/{}", self.token), routes().with_state(Arc::clone(&self.shared)))
            .fallback(guard::not_found)
            .layer(middleware::from_fn_with_state(self.port, guard::guard));
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            tokio::select! {
                served = async { axum::serve(listener, app).await } => served,
                () = end.notified() => Ok(()),
            }
        })
    }
}

fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/serve.js", get(page::script))
        .route("/serve.css", get(page::style))
        .route("/api/files", get(files))
        .route("/api/sample", get(sample))
        .route("/api/file", get(open).put(write))
        .route("/api/jobs", post(ask))
        .route("/api/jobs/{job}/stop", post(stop))
        .route("/lsp", get(edit))
        .layer(DefaultBodyLimit::max(QUESTION_BYTES))
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Deserialize)]
struct Known {
    name: String,
    hash: String,
}

async fn files(State(shared): Asked) -> Response {
    let of = Arc::clone(&shared);
    let Ok(files) = spawn_blocking(move || of.settings.folder.names()).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let Most { time, memory } = shared.settings.most;
    let most = json!({ "seconds": time.as_secs_f64(), "megabytes": memory >> 20, "text_bytes": TEXT_BYTES });
    let tool = env!("CARGO_PKG_VERSION");
    let directory = std::env::current_dir().unwrap_or_default();
    Json(json!({ "tool": tool, "directory": directory, "files": files, "samples": samples::names(), "most": most }))
        .into_response()
}

async fn sample(Query(Named { name }): Query<Named>) -> Response {
    match samples::text(&name) {
        Some(text) => text.into_response(),
        None => refused(&Refusal::Unknown),
    }
}

async fn open(State(shared): Asked, Query(Named { name }): Query<Named>) -> Response {
    match spawn_blocking(move || shared.settings.folder.open(&name)).await {
        Ok(Ok(opened)) => Json(opened).into_response(),
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn write(State(shared): Asked, Query(Known { name, hash }): Query<Known>, text: String) -> Response {
    match spawn_blocking(move || shared.settings.folder.write(&name, &text, &hash)).await {
        Ok(Ok(hash)) => Json(json!({ "hash": hash })).into_response(),
        Ok(Err(refusal)) => refused(&refusal),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn refused(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Unknown => (StatusCode::NOT_FOUND, "there is no such program\n").into_response(),
        Refusal::Changed => {
            (StatusCode::CONFLICT, "the file has changed on disk since it was opened\n").into_response()
        }
        Refusal::Failed(message) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{message}\n")).into_response(),
    }
}

async fn ask(State(shared): Asked, Json(question): Json<Question>) -> Response {
    if question.text.len() > TEXT_BYTES {
        let message = format!("the program is larger than {TEXT_BYTES} bytes: ask on the command line\n");
        return (StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    }
    let (sender, receiver) = mpsc::channel(EVENTS);
    tokio::spawn(async move {
        let path = question.file.as_ref().and_then(|name| shared.settings.folder.path(name));
        let directory = path.and_then(|path| path.parent().map(std::path::Path::to_path_buf));
        let directory = directory.filter(|directory| !directory.as_os_str().is_empty());
        shared.jobs.answer(&question, directory.as_deref(), &sender).await;
    });
    Sse::new(received(receiver)).keep_alive(KeepAlive::default()).into_response()
}

fn received<T>(receiver: mpsc::Receiver<T>) -> impl Stream<Item = T> {
    stream::unfold(receiver, |mut receiver| async { receiver.recv().await.map(|item| (item, receiver)) })
}

async fn stop(State(shared): Asked, Path(job): Path<u64>) -> StatusCode {
    if shared.jobs.stop(job) { StatusCode::NO_CONTENT } else { StatusCode::NOT_FOUND }
}

async fn edit(State(shared): Asked, upgrade: WebSocketUpgrade) -> Response {
    let Ok(place) = Arc::clone(&shared.editors).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many editors are open\n").into_response();
    };
    upgrade.max_message_size(editor::MESSAGE_BYTES).on_upgrade(async move |socket| {
        let _place = place;
        // Where a language server ends, the page begins another one.
        let _ = editor::join(socket, &shared.settings.program, shared.settings.most.memory).await;
    })
}
