//! One connection: plain HTTP/1.1, written by hand so that it can go wrong at any byte.

use super::Shared;
use super::request::{ModelRequest, Wire};
use super::script::{Answer, Fault, Step};
use super::stream::{error_body, error_event, events, too_long_body};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a server that hangs does so, unless it ends before.
const FOR_EVER: Duration = Duration::from_secs(600);

/// Answers the requests of a connection until one side has enough.
pub(super) fn serve(connection: &TcpStream, shared: &Shared) {
    let mut reader = BufReader::new(connection);
    // A client that goes away is what some tests are about.
    while let Ok(Some(head)) = Head::read(&mut reader) {
        let stays = respond(connection, shared, head).unwrap_or(false);
        if !stays || shared.is_over.load(Ordering::SeqCst) {
            break;
        }
    }
    connection.shutdown(Shutdown::Both).unwrap_or_default();
}

/// A request line, headers and a body.
struct Head {
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Head {
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

/// Answers one request, and says whether the connection can take another one.
fn respond(connection: &TcpStream, shared: &Shared, head: Head) -> io::Result<bool> {
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
    while let Step::After(wait, next) = step {
        pause(shared, wait);
        step = *next;
    }
    match step {
        Step::Answer(answer) => stream(connection, shared, &Plan::whole(&request, &answer, shared)),
        Step::Fault(fault) => fail(connection, shared, &request, fault),
        Step::After(..) => Ok(false),
    }
}

fn wire(path: &str) -> Option<Wire> {
    let path = path.split('?').next().unwrap_or_default();
    match path {
        path if path.ends_with("/messages") => Some(Wire::Anthropic),
        path if path.ends_with("/chat/completions") => Some(Wire::Chat),
        path if path.ends_with("/responses") => Some(Wire::Responses),
        path if path.ends_with(":streamGenerateContent") => Some(Wire::Gemini),
        _ => None,
    }
}

/// What of a stream is sent, and how it ends.
struct Plan {
    events: Vec<String>,
    end: PlanEnd,
}

enum PlanEnd {
    /// As it should.
    Well,
    /// With the connection, in the middle of an event.
    Cut,
    /// Not at all.
    Stall,
}

impl Plan {
    fn whole(request: &ModelRequest, answer: &Answer, shared: &Shared) -> Self {
        let counted = shared.cache.lock().unwrap().take(request);
        Self { events: events(request, answer, counted), end: PlanEnd::Well }
    }

    fn only(mut self, n_events: usize, end: PlanEnd) -> Self {
        self.events.truncate(n_events);
        self.end = end;
        self
    }
}

fn fail(
    connection: &TcpStream,
    shared: &Shared,
    request: &ModelRequest,
    fault: Fault,
) -> io::Result<bool> {
    let wire = request.wire;
    let whole = |answer: &Answer| Plan::whole(request, answer, shared);
    let plan = match fault {
        Fault::Status(status, headers, body) => {
            let body = if body.is_empty() { error_body(wire, status).to_string() } else { body };
            return json_response(connection, status, &headers, &body);
        }
        Fault::TooLong => {
            return json_response(connection, 400, &[], &too_long_body(wire).to_string());
        }
        Fault::RefuseParameter(name, answer) => {
            if !request.body.to_string().contains(&format!("\"{name}\"")) {
                return stream(connection, shared, &whole(&answer));
            }
            let message = format!("Unsupported parameter: '{name}' is not supported here.");
            let body = json!({"error": {"type": "invalid_request_error", "message": message}});
            return json_response(connection, 400, &[], &body.to_string());
        }
        Fault::Html => {
            return response(connection, "200 OK", "text/html", &[], "<html>Please log in</html>");
        }
        Fault::Hang => {
            pause(shared, FOR_EVER);
            return Ok(false);
        }
        Fault::CutAfter(n_events, answer) => whole(&answer).only(n_events, PlanEnd::Cut),
        Fault::EndAfter(n_events, answer) => whole(&answer).only(n_events, PlanEnd::Well),
        Fault::StallAfter(n_events, answer) => whole(&answer).only(n_events, PlanEnd::Stall),
        Fault::ErrorAfter(n_events, answer) => {
            let mut plan = whole(&answer).only(n_events, PlanEnd::Well);
            plan.events.push(error_event(wire));
            plan
        }
        Fault::Malformed => {
            let events = vec!["data: {not json at all\n\n".to_owned()];
            Plan { events, end: PlanEnd::Well }
        }
        Fault::EmptyStream => Plan { events: Vec::new(), end: PlanEnd::Well },
    };
    stream(connection, shared, &plan)
}

/// Sends events, one chunk each.
fn stream(mut connection: &TcpStream, shared: &Shared, plan: &Plan) -> io::Result<bool> {
    connection.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    for event in &plan.events {
        connection.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
    }
    match plan.end {
        PlanEnd::Well => connection.write_all(b"0\r\n\r\n")?,
        PlanEnd::Cut => connection.write_all(b"ff\r\ndata: {\"type\": \"half of")?,
        PlanEnd::Stall => pause(shared, FOR_EVER),
    }
    Ok(matches!(plan.end, PlanEnd::Well))
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

/// Waits, and no longer than the server lives.
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
