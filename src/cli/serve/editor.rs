//! The editor of the page: a websocket to a language server.
//!
//! **Input**: messages of the page, one JSON object each. **Output**: the messages of `cssame lsp`, a separate process for each
//! editor.

use axum::extract::ws::{Message, WebSocket};
use std::io;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio::sync::mpsc;

/// Bytes of a message.
pub(super) const MESSAGE_BYTES: usize = 16 << 20;

/// Messages that wait for the page.
const WAITING: usize = 64;

/// Joins both until one of them ends.
pub(super) async fn join(mut socket: WebSocket, program: &Path, memory: u64) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(["lsp", &format!("--max-memory={memory}")]).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the language server has no streams"));
    };
    let (sender, mut answers) = mpsc::channel(WAITING);
    // It ends with the process, or when nobody waits for its messages.
    tokio::spawn(read(output, sender));
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    let head = format!("Content-Length: {}\r\n\r\n", text.len());
                    input.write_all(head.as_bytes()).await?;
                    input.write_all(text.as_bytes()).await?;
                    input.flush().await?;
                }
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
            },
            answer = answers.recv() => match answer {
                Some(answer) => socket.send(Message::text(answer)).await.map_err(io::Error::other)?,
                None => return Ok(()),
            },
        }
    }
}

/// Reads messages until there are no more, or one is none.
async fn read(output: ChildStdout, sender: mpsc::Sender<String>) {
    let mut output = BufReader::new(output);
    while let Ok(Some(message)) = next(&mut output).await {
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

async fn next(output: &mut BufReader<ChildStdout>) -> io::Result<Option<String>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("Content-Length:") {
            length = number.trim().parse().ok();
        }
    }
    let length = length.filter(|&length: &usize| length <= MESSAGE_BYTES);
    let length = length.ok_or_else(|| io::Error::other("a message of the language server has no length"))?;
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).await?;
    String::from_utf8(bytes).map(Some).map_err(io::Error::other)
}
