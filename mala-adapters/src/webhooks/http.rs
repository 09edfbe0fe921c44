//! A minimal HTTP/1.1 server for deliveries: one request per connection, with limits on size and
//! time. TLS is done by a proxy.

use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// GitHub sends at most 25 MB.
const MAX_BODY: usize = 26 << 20;
/// The most bytes of a request line with its headers.
const MAX_HEAD: usize = 32 << 10;
/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
pub(super) struct WebhookRequest {
    pub(super) method: String,
    pub(super) path: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// An answer without a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HttpStatus {
    Accepted,
    BadRequest,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    TooLarge,
    Unavailable,
}

impl HttpStatus {
    fn line(self) -> &'static str {
        match self {
            Self::Accepted => "202 Accepted",
            Self::BadRequest => "400 Bad Request",
            Self::Unauthorized => "401 Unauthorized",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::TooLarge => "413 Content Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

impl WebhookRequest {
    /// A header, by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[cfg(test)]
    pub(super) fn test(headers: &[(&str, &str)], body: &str) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let (method, path) = ("POST".to_owned(), "/webhooks".to_owned());
        Self { method, path, headers: headers.collect(), body: body.into() }
    }

    fn parse(head: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let headers = lines.filter(|line| !line.is_empty()).map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        });
        Some(Self { method, path, headers: headers.collect::<Option<_>>()?, body: Vec::new() })
    }
}

/// Reads a request within the limits.
pub(super) async fn read_request(connection: &mut TcpStream) -> Result<WebhookRequest, HttpStatus> {
    match timeout(PATIENCE, read(connection)).await {
        Ok(request) => request,
        Err(_) => Err(HttpStatus::BadRequest),
    }
}

async fn read(connection: &mut TcpStream) -> Result<WebhookRequest, HttpStatus> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > MAX_HEAD {
            return Err(HttpStatus::TooLarge);
        }
        match connection.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(HttpStatus::BadRequest),
            Ok(_) => {}
        }
    };
    let body = bytes.split_off(end + 4);
    let mut request = WebhookRequest::parse(&bytes).ok_or(HttpStatus::BadRequest)?;
    let length = request.header("content-length").unwrap_or("0").parse::<usize>();
    let length = length.map_err(|_| HttpStatus::BadRequest)?;
    // Chunks have no length up front; GitHub does not send them.
    if length > MAX_BODY || request.header("transfer-encoding").is_some() {
        return Err(HttpStatus::TooLarge);
    }
    request.body = body;
    while request.body.len() < length {
        match connection.read_buf(&mut request.body).await {
            Ok(0) | Err(_) => return Err(HttpStatus::BadRequest),
            Ok(_) => {}
        }
    }
    request.body.truncate(length);
    Ok(request)
}

/// Answers and closes the connection.
pub(super) async fn respond(connection: &mut TcpStream, status: HttpStatus) -> io::Result<()> {
    let line = status.line();
    let answer = format!("HTTP/1.1 {line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    timeout(PATIENCE, async {
        connection.write_all(answer.as_bytes()).await?;
        connection.shutdown().await
    })
    .await
    .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut)))
}
