//! Questions of the page, each in a separate process.
//!
//! **Input**: a [`Question`]. **Output**: a stream of server-sent events: `started` with the number of the job, `progress`
//! with a line each, and `answer`.
//!
//! **Soundness and limits**: the bounds of time and memory are those of the command line. A process that exceeds its time, or
//! whose answer is too large, is ended. So is a process whose stream has no reader any more. Stopping a job has the same effect
//! as Ctrl-C in a terminal: the answer contains the results so far. At most as many jobs run at the same time as there are cores;
//! others wait.

use super::question::{Most, Places, Question};
use crate::progress::LINE;
use axum::response::sse::Event;
use ignore::WalkBuilder;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::{sleep, timeout};

/// Bytes of an answer, and of the files of a package.
const ANSWER_BYTES: u64 = 64 << 20;

/// Bytes of what a process says beside its answer.
const COMPLAINT_BYTES: usize = 1 << 16;

/// Time that a process has to tell what it knows.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Where events of a job go.
pub(super) type Events = mpsc::Sender<Result<Event, Infallible>>;

/// The jobs that run.
#[derive(Debug)]
pub(super) struct Jobs {
    program: PathBuf,
    most: Most,
    free: Semaphore,
    next: AtomicU64,
    /// What stops each.
    running: Mutex<BTreeMap<u64, Arc<Notify>>>,
}

/// A file of a package.
#[derive(Debug, Serialize)]
struct Written {
    path: String,
    text: String,
}

/// How a job has ended.
#[derive(Debug, Default, Serialize)]
struct Ended {
    /// The exit status; none if it was ended.
    status: Option<i32>,
    /// The answer in JSON, if there is one.
    answer: Option<Value>,
    /// What it prints for people, where that is the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What it has said beside.
    complaint: String,
    /// Whether the page has stopped it.
    stopped: bool,
    /// The package of `drive`.
    files: Vec<Written>,
}

impl Jobs {
    pub(super) fn new(program: PathBuf, most: Most, cores: usize) -> Jobs {
        Jobs { program, most, free: Semaphore::new(cores), next: AtomicU64::new(1), running: Mutex::default() }
    }

    /// Stops a job; whether it was there.
    pub(super) fn stop(&self, job: u64) -> bool {
        let stop = self.with_running(|running| running.get(&job).cloned());
        stop.is_some_and(|stop| {
            stop.notify_one();
            true
        })
    }

    fn with_running<T>(&self, act: impl FnOnce(&mut BTreeMap<u64, Arc<Notify>>) -> T) -> T {
        act(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Answers a question in `directory`, and tells how it goes.
    pub(super) async fn answer(&self, question: &Question, directory: Option<&Path>, events: &Events) {
        let job = self.next.fetch_add(1, Ordering::Relaxed);
        let stop = Arc::new(Notify::new());
        self.with_running(|running| running.insert(job, Arc::clone(&stop)));
        let _there = Registered { jobs: self, job };
        let told = events.send(Ok(Event::default().event("started").data(job.to_string()))).await;
        let ended = tokio::select! {
            // Nobody reads the stream any more. Dropped with the other branch, the process ends.
            () = events.closed() => return,
            ended = self.ended(question, directory, &stop, events) => ended,
        };
        let ended = ended.unwrap_or_else(|complaint| Ended { complaint, ..Ended::default() });
        let event = Event::default().event("answer").data(json(&ended));
        if told.is_ok() {
            // As above.
            let _ = events.send(Ok(event)).await;
        }
    }

    async fn ended(
        &self,
        question: &Question,
        directory: Option<&Path>,
        stop: &Notify,
        events: &Events,
    ) -> Result<Ended, String> {
        let text = |error: io::Error| error.to_string();
        let stopped = Ended { stopped: true, ..Ended::default() };
        let _free = tokio::select! {
            () = stop.notified() => return Ok(stopped),
            free = self.free.acquire() => free.map_err(|error| error.to_string())?,
        };
        // It is gone when the job is over.
        let scratch = tempfile::tempdir().map_err(text)?;
        let places = Places::below(scratch.path());
        if let Some(schedule) = question.schedule() {
            fs::write(&places.schedule, schedule.to_text()).map_err(text)?;
        }
        let mut command = Command::new(&self.program);
        command.args(question.arguments(&self.most, &places)).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        let mut child = command.spawn().map_err(text)?;
        let (Some(mut input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the process has no streams".to_owned());
        };
        let give = async move {
            // A process that has ended before it has read all says why.
            let _ = input.write_all(question.text.as_bytes()).await;
        };
        let speak = async { tokio::join!(give, read(output), listen(errors, events)) };
        let end = end(&mut child, stop, question.deadline(&self.most));
        let (((), bytes, complaint), (status, was_stopped)) = tokio::join!(speak, end);
        let bytes = bytes?;
        let files = if question.writes() { files_of(&places.out)? } else { Vec::new() };
        Ok(Ended {
            status: status.map_err(text)?.code(),
            answer: if question.is_text() { None } else { serde_json::from_slice(&bytes).ok() },
            text: question.is_text().then(|| String::from_utf8_lossy(&bytes).into_owned()),
            complaint,
            stopped: was_stopped,
            files,
        })
    }
}

/// Strikes a job off the list when it is over, however it ends.
struct Registered<'a> {
    jobs: &'a Jobs,
    job: u64,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.jobs.with_running(|running| running.remove(&self.job));
    }
}

fn json(ended: &Ended) -> String {
    // No key of it is anything but a text.
    serde_json::to_string(ended).unwrap_or_default()
}

/// Waits for the end of a process; whether it was stopped before.
async fn end(child: &mut Child, stop: &Notify, deadline: Duration) -> (io::Result<ExitStatus>, bool) {
    let was_stopped = tokio::select! {
        status = child.wait() => return (status, false),
        () = stop.notified() => true,
        () = sleep(deadline) => false,
    };
    interrupt(child);
    if let Ok(status) = timeout(LAST_WORDS, child.wait()).await {
        return (status, was_stopped);
    }
    // It may just have ended.
    let _ = child.start_kill();
    (child.wait().await, was_stopped)
}

/// What Ctrl-C does in a terminal.
#[cfg(unix)]
fn interrupt(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may just have ended.
        let _ = kill_process(pid, Signal::INT);
    }
}

/// Without signals, it is ended.
#[cfg(not(unix))]
fn interrupt(child: &mut Child) {
    let _ = child.start_kill();
}

/// The answer, unless it is too large.
async fn read(output: ChildStdout) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = output.take(ANSWER_BYTES + 1).read_to_end(&mut bytes).await;
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > ANSWER_BYTES {
        return Err(format!("the answer is larger than {} MiB: ask on the command line", ANSWER_BYTES >> 20));
    }
    Ok(bytes)
}

/// Tells the progress, and keeps the rest.
async fn listen(errors: ChildStderr, events: &Events) -> String {
    let mut lines = BufReader::new(errors).lines();
    let mut complaint = String::new();
    while let Ok(Some(line)) = lines.next_line().await {
        if let Some(progress) = line.strip_prefix(LINE) {
            // A page that is slow need not see each.
            let _ = events.try_send(Ok(Event::default().event("progress").data(progress)));
        } else if complaint.len() + line.len() < COMPLAINT_BYTES {
            complaint.push_str(&line);
            complaint.push('\n');
        }
    }
    complaint
}

/// The files below a directory, which need not be there.
fn files_of(directory: &Path) -> Result<Vec<Written>, String> {
    let mut left = ANSWER_BYTES;
    let mut files = Vec::new();
    for entry in WalkBuilder::new(directory).standard_filters(false).sort_by_file_path(Path::cmp).build().flatten() {
        if entry.file_type().is_none_or(|kind| !kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
        left = left.checked_sub(text.len() as u64).ok_or("the package is too large for the page")?;
        let path = path.strip_prefix(directory).unwrap_or(path);
        files.push(Written { path: path.to_string_lossy().replace('\\', "/"), text });
    }
    Ok(files)
}
