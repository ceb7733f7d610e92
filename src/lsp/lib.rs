//! The language server: answers in an editor, by the Language Server Protocol 3.17.
//!
//! **Input**: the messages of a client ([`Connection`]), and an [`Environment`]. **Output**: messages: diagnostics as the text changes,
//! and answers to requests.
//!
//! **Algorithm**: one thread owns the documents and answers in the order of the messages. After each change the static passes run
//! at once ([`analysis`]). The exploration runs in its own thread with a budget ([`explorer`]); the next change cancels it, and
//! its verdicts are shown when they arrive. Each feature is a function of a document and a position, in its own file.
//!
//! **Soundness and limits**: each document is a separate program, as on the command line. Places are known only for variables in
//! memory: reads, writes and declarations. A request for another version than the latest is answered for the latest.

mod actions;
mod analysis;
mod completion;
mod convert;
mod document;
mod explorer;
mod hints;
mod hover;
mod layout;
mod methods;
mod names;
mod navigation;
mod outline;
mod protocol;
mod rename;
mod server;
mod text;
mod tokens;
mod uri;

use cssame_answer::{Findings, Lints};
use cssame_diagnostics::Diagnostics;
use cssame_source::{FileId, SourceMap};
use lsp_server::Connection;
use std::sync::Arc;

pub use server::serve;

/// What the server takes from outside of the protocol.
#[derive(Clone)]
pub struct Environment {
    /// What configuration files say of findings.
    pub lints: Arc<LintsOf>,
    /// Bytes that an exploration may take.
    pub max_memory: Option<u64>,
    /// Reads a document with the files that it includes.
    pub read: Arc<SourcesOf>,
}

/// The source map of a document, by its name and text: with the files that it includes.
pub type SourcesOf = dyn Fn(&str, &str) -> (SourceMap, FileId) + Send + Sync;

/// What is said of the findings of files, or all that is wrong with what says so.
pub type LintsOf = dyn Fn(&Findings<'_>) -> Result<Lints, Diagnostics> + Send + Sync;

/// Serves a client over the standard streams, until it ends the session.
///
/// # Errors
///
/// The client does not keep to the protocol, or a stream is broken.
pub fn serve_stdio(environment: &Environment) -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let served = serve(connection, environment);
    let joined = threads.join().map_err(|error| error.to_string());
    served.and(joined)
}
