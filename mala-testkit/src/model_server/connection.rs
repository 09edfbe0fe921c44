//! One connection: plain HTTP/1.1, hand-written so that it can fail at any byte.

use super::Shared;
use super::request::{ModelRequest, WireProtocol};
use super::script::{ModelAnswer, ServerFault, ServerStep};
use super::stream::{error_body, error_event, events, too_long_body};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a hanging server waits, unless it stops.
const FOR_EVER: Duration = Duration::from_secs(600);

/// Answers the requests of a connection until one side closes it.
pub(super) fn serve(connection: &TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(connection);
    // Some tests close the connection early.
    while let Ok(Some(head)) = RawRequest::read(&mut reader) {
        let stays = respond(connection, shared, head).unwrap_or(false);
        if !stays || shared.is_over.load(Ordering::SeqCst) {
            break;
        }
    }
    connection.shutdown(Shutdown::Both).unwrap_or_default();
}

/// A request line, headers and a body.
struct RawRequest {
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl RawRequest {
    fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Some(Self { path, headers, body }))
    }
}

/// Answers one request. Returns whether the connection can take another one.
fn respond(connection: &TcpStream, shared: &Shared, head: RawRequest) -> io::Result<bool> {
    let Some(wire) = wire(&head.path) else {
        let body = json!({"error": {"message": format!("no such path: {}", head.path)}});
        return json_response(connection, 404, &[], &body.to_string());
    };
    let body: Value = serde_json::from_slice(&head.body).unwrap_or_default();
    let mut request =
        ModelRequest { number: 0, wire, path: head.path, headers: head.headers, body };
    {
        let mut requests = shared.requests.lock().unwrap();
        request.number = requests.len();
        requests.push(request.clone());
    }
    let mut step = (shared.script)(&request);
    while let ServerStep::After(wait, next) = step {
        pause(shared, wait);
        step = *next;
    }
    match step {
        ServerStep::Answer(answer) => {
            stream(connection, shared, &StreamPlan::whole(&request, &answer, shared))
        }
        ServerStep::Fault(fault) => fail(connection, shared, &request, fault),
        ServerStep::After(..) => Ok(false),
    }
}

fn wire(path: &str) -> Option<WireProtocol> {
    let path = path.split('?').next().unwrap_or_default();
    match path {
        path if path.ends_with("/messages") => Some(WireProtocol::Anthropic),
        path if path.ends_with("/chat/completions") => Some(WireProtocol::Chat),
        path if path.ends_with("/responses") => Some(WireProtocol::Responses),
        path if path.ends_with(":streamGenerateContent") => Some(WireProtocol::Gemini),
        _ => None,
    }
}

/// The events of a stream to send, and how it ends.
struct StreamPlan {
    events: Vec<String>,
    end: StreamEnd,
}

enum StreamEnd {
    /// Properly.
    Well,
    /// With the connection, in the middle of an event.
    Cut,
    /// Never.
    Stall,
}

impl StreamPlan {
    fn whole(request: &ModelRequest, answer: &ModelAnswer, shared: &Shared) -> Self {
        let counted = shared.cache.lock().unwrap().take(request);
        Self { events: events(request, answer, counted), end: StreamEnd::Well }
    }

    fn only(mut self, n_events: usize, end: StreamEnd) -> Self {
        self.events.truncate(n_events);
        self.end = end;
        self
    }
}

fn fail(
    connection: &TcpStream,
    shared: &Shared,
    request: &ModelRequest,
    fault: ServerFault,
) -> io::Result<bool> {
    let wire = request.wire;
    let whole = |answer: &ModelAnswer| StreamPlan::whole(request, answer, shared);
    let plan = match fault {
        ServerFault::Status(status, headers, body) => {
            let body = if body.is_empty() { error_body(wire, status).to_string() } else { body };
            return json_response(connection, status, &headers, &body);
        }
        ServerFault::TooLong => {
            return json_response(connection, 400, &[], &too_long_body(wire).to_string());
        }
        ServerFault::RefuseParameter(name, answer) => {
            if !request.body.to_string().contains(&format!("\"{name}\"")) {
                return stream(connection, shared, &whole(&answer));
            }
            let message = format!("Unsupported parameter: '{name}' is not supported here.");
            let body = json!({"error": {"type": "invalid_request_error", "message": message}});
            return json_response(connection, 400, &[], &body.to_string());
        }
        ServerFault::Html => {
            return response(connection, "200 OK", "text/html", &[], "<html>Please log in</html>");
        }
        ServerFault::Hang => {
            pause(shared, FOR_EVER);
            return Ok(false);
        }
        ServerFault::CutAfter(n_events, answer) => whole(&answer).only(n_events, StreamEnd::Cut),
        ServerFault::EndAfter(n_events, answer) => whole(&answer).only(n_events, StreamEnd::Well),
        ServerFault::StallAfter(n_events, answer) => {
            whole(&answer).only(n_events, StreamEnd::Stall)
        }
        ServerFault::ErrorAfter(n_events, answer) => {
            let mut plan = whole(&answer).only(n_events, StreamEnd::Well);
            plan.events.push(error_event(wire));
            plan
        }
        ServerFault::Malformed => {
            let events = vec!["data: {not json at all\n\n".to_owned()];
            StreamPlan { events, end: StreamEnd::Well }
        }
        ServerFault::EmptyStream => StreamPlan { events: Vec::new(), end: StreamEnd::Well },
    };
    stream(connection, shared, &plan)
}

/// Sends events, one chunk each.
fn stream(mut connection: &TcpStream, shared: &Shared, plan: &StreamPlan) -> io::Result<bool> {
    connection.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    for event in &plan.events {
        connection.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
    }
    match plan.end {
        StreamEnd::Well => connection.write_all(b"0\r\n\r\n")?,
        StreamEnd::Cut => connection.write_all(b"ff\r\ndata: {\"type\": \"half of")?,
        StreamEnd::Stall => pause(shared, FOR_EVER),
    }
    Ok(matches!(plan.end, StreamEnd::Well))
}

fn json_response(
    connection: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<bool> {
    response(connection, &format!("{status} Scripted"), "application/json", headers, body)
}

fn response(
    mut connection: &TcpStream,
    status: &str,
    kind: &str,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<bool> {
    let headers: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    connection.write_all(head.as_bytes())?;
    connection.write_all(body.as_bytes())?;
    Ok(true)
}

/// Waits, at most until the server stops.
fn pause(shared: &Shared, wait: Duration) {
    let end = Instant::now() + wait;
    while !shared.is_over.load(Ordering::SeqCst) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(20)));
    }
}
