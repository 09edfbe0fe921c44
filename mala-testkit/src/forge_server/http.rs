//! One connection: plain HTTP/1.1, ETags, pages, and scripted failures.

use super::{ApiAnswer, ForgeApi, ForgeShared, ServedRepository};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub struct ForgeRequest {
    /// Its number among the requests since the last `take_requests`, from 0.
    pub number: usize,
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A way to fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgeFault {
    /// Answers with this status, these headers and this message, and does nothing.
    Status(u16, Vec<(String, String)>, String),
    /// Answers with these headers and this body as a success, and does nothing.
    Page(Vec<(String, String)>, &'static str),
    /// Closes the connection before it does anything.
    DropBefore,
    /// Does what is asked and closes the connection without an answer.
    DropAfter,
}

impl ForgeRequest {
    /// A header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether it is a request of git and not of the API.
    pub fn is_git(&self) -> bool {
        self.path.contains(".git/")
    }

    /// The path without its query.
    pub fn resource(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body)?;
        Ok(Some(Self { number: 0, method, path, headers, body }))
    }
}

/// Answers the requests of a connection until one side closes it.
pub(super) fn serve<A: ForgeApi>(connection: &TcpStream, shared: &ForgeShared<A>) {
    let mut reader = BufReader::new(connection);
    while let Ok(Some(mut request)) = ForgeRequest::read(&mut reader) {
        {
            let mut requests = shared.requests.lock().unwrap();
            request.number = requests.iter().filter(|known| !known.is_git()).count();
            requests.push(request.clone());
        }
        let script = shared.fault.lock().unwrap().clone();
        let fault = script.and_then(|script| script(&request));
        let stays = respond(connection, shared, &request, fault).unwrap_or(false);
        if !stays {
            break;
        }
    }
    connection.shutdown(Shutdown::Both).unwrap_or_default();
}

/// Answers one request. Returns whether the connection can take another one.
fn respond<A: ForgeApi>(
    connection: &TcpStream,
    shared: &ForgeShared<A>,
    request: &ForgeRequest,
    fault: Option<ForgeFault>,
) -> io::Result<bool> {
    match fault {
        Some(ForgeFault::DropBefore) => return Ok(false),
        Some(ForgeFault::Status(status, headers, message)) => {
            let body = json!({"message": message}).to_string();
            return send(connection, status, &headers, body.as_bytes());
        }
        Some(ForgeFault::Page(headers, body)) => {
            return send(connection, 200, &headers, body.as_bytes());
        }
        Some(ForgeFault::DropAfter) | None => {}
    }
    if request.is_git() {
        let repository = ServedRepository::new(&shared.api.lock().unwrap().folder());
        let (headers, body) = repository.serve_git(request);
        return send(connection, 200, &headers, &body);
    }
    if request.header("authorization").is_none_or(|value| !value.starts_with("Bearer ")) {
        return send(connection, 401, &[], br#"{"message":"Bad credentials"}"#);
    }
    let answer = shared.api.lock().unwrap().answer(request);
    if fault == Some(ForgeFault::DropAfter) {
        return Ok(false);
    }
    send_answer::<A>(connection, request, answer)
}

fn send_answer<A: ForgeApi>(
    connection: &TcpStream,
    request: &ForgeRequest,
    answer: ApiAnswer,
) -> io::Result<bool> {
    let (body, next) = page(request, answer.body, A::PAGES.max_items);
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let next = next.map(|page| (A::PAGES.next)(page)).into_iter();
    let location = answer.location.map(|url| ("Location", url));
    let mut headers: Vec<_> =
        next.chain(location).map(|(name, value)| (name.to_owned(), value)).collect();
    if request.method == "GET" && answer.status == 200 {
        let hash = Sha256::digest(&body);
        let hash: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let etag = format!("\"{hash}\"");
        headers.push(("ETag".to_owned(), etag.clone()));
        if request.header("if-none-match") == Some(&etag) {
            return send(connection, 304, &headers, b"");
        }
    }
    send(connection, answer.status, &headers, &body)
}

/// The page of a list that the query names, and the number of the next one.
fn page(request: &ForgeRequest, body: Value, max_items: usize) -> (Value, Option<usize>) {
    let Value::Array(items) = body else { return (body, None) };
    let query = request.path.split_once('?').map_or("", |(_, query)| query);
    let number = |name: &str, default: usize| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(known, _)| *known == name);
        found.and_then(|(_, value)| value.parse().ok()).unwrap_or(default)
    };
    let size = number("per_page", 20).min(max_items);
    let page = number("page", 1).max(1);
    let next = (items.len() > page * size).then_some(page + 1);
    (items.into_iter().skip((page - 1) * size).take(size).collect(), next)
}

fn send(
    mut connection: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<bool> {
    let mut head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        head.push_str("Content-Type: application/json\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    connection.write_all(format!("{head}\r\n").as_bytes())?;
    connection.write_all(body)?;
    Ok(true)
}
