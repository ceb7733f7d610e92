//! A server of the page, and a client of it.

use crate::process::{Files, program};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server of the page, which ends with it.
pub struct Server {
    pub process: Child,
    /// `127.0.0.1:PORT`
    pub host: String,
    /// `/TOKEN/`
    pub path: String,
}

/// What a server has said.
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The data of the event that ends a stream.
    pub fn answer(&self) -> Value {
        let mut events = self.body.split("\n\n").filter(|event| event.contains("event: answer"));
        let event = events.next().unwrap_or_else(|| panic!("no answer in {}", self.body));
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    }
}

impl Server {
    /// Serves below a directory.
    pub fn start(files: &Files, arguments: &[&str]) -> Server {
        let mut command = program();
        command.current_dir(files.0.path()).arg("serve").args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (host, path) = line.trim_end().strip_prefix("http://").unwrap().split_once('/').unwrap();
        Server { process, host: host.to_owned(), path: format!("/{path}") }
    }

    /// Sends a request with these lines in its head, and leaves the answer to be read.
    pub fn send(&self, method: &str, path: &str, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let length = body.len();
        let request =
            format!("{method} {path} HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        // A server that refuses need not read it.
        let _ = stream.write_all(body.as_bytes());
        stream
    }

    pub fn request(&self, method: &str, path: &str, head: &str, body: &str) -> Response {
        received(self.send(method, path, head, body))
    }

    /// What stands in the head of each request of the page.
    pub fn head(&self) -> String {
        let Server { host, .. } = self;
        format!("Host: {host}\r\nOrigin: http://{host}\r\nContent-Type: application/json\r\n")
    }

    pub fn get(&self, path: &str) -> Response {
        self.request("GET", &format!("{}{path}", self.path), &self.head(), "")
    }

    pub fn post(&self, path: &str, body: &str) -> Response {
        self.request("POST", &format!("{}{path}", self.path), &self.head(), body)
    }

    pub fn ask(&self, question: &Value) -> Response {
        self.post("api/jobs", &question.to_string())
    }

    /// Asks, and gives the number of the job before there is an answer.
    pub fn begin(&self, question: &Value) -> (BufReader<TcpStream>, u64) {
        let stream = self.send("POST", &format!("{}api/jobs", self.path), &self.head(), &question.to_string());
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        while !line.contains("event: started") {
            line.clear();
            assert!(stream.read_line(&mut line).unwrap() > 0, "no job was started");
        }
        line.clear();
        stream.read_line(&mut line).unwrap();
        let job = line.trim_end().strip_prefix("data: ").unwrap().parse().unwrap();
        (stream, job)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn received(mut stream: impl Read) -> Response {
    let mut bytes = Vec::new();
    // A connection that is closed before all was sent has its answer all the same.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
    let mut body = body.to_owned();
    if head.contains("transfer-encoding: chunked") {
        body = unchunked(&body);
    }
    Response { status, head: head.to_owned(), body }
}

fn unchunked(mut rest: &str) -> String {
    let mut text = String::new();
    while let Some((size, behind)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        text.push_str(&behind[..size]);
        rest = behind[size..].trim_start_matches("\r\n");
    }
    text
}
