//! Requests to the REST API of a forge: conditional reads, pages, rate limits, and errors that name the
//! missing permission. A write is never sent twice unless the forge says that it did not happen.

use super::cache::ResponseCache;
use crate::models::{HttpClient, Secret, retry_after};
use mala_domain::ports::ForgeError;
use mala_domain::render::short_line;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::sleep;

/// Attempts in total.
const MAX_ATTEMPTS: u32 = 5;
/// The wait before the second attempt, when the forge names none; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a forge may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The time limit of one request.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest response, in bytes.
const MAX_BODY: usize = 64 << 20;
/// The items of a page.
const PAGE: usize = 100;
/// The most pages of a list.
const MAX_PAGES: usize = 100;

/// Tells the user about a wait.
pub type WaitNotice = Arc<dyn Fn(&str) + Send + Sync>;

/// What differs between forges.
pub(super) struct ApiService {
    /// The name in messages.
    pub(super) name: &'static str,
    /// The headers of each request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// What to check when the token is not valid.
    pub(super) token_hint: &'static str,
}

/// The API with a token.
pub(super) struct ApiClient {
    service: &'static ApiService,
    http: HttpClient,
    pub(super) base: String,
    token: Secret,
    cache: ResponseCache,
    notice: WaitNotice,
    /// Whether an answer differed from the cached one.
    news: AtomicBool,
}

/// One request.
pub(super) struct ApiRequest {
    pub(super) method: Method,
    /// The path below the base, with its query.
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// The permission that it needs.
    pub(super) permission: &'static str,
}

/// A response and whether there is a next page.
struct ApiResponse {
    body: Value,
    has_next: bool,
}

/// What to do after an attempt.
enum AttemptResult {
    Done(ApiResponse),
    Again { wait: Option<Duration>, why: String },
    Failed(ForgeError),
}

impl ApiClient {
    pub(super) fn new(
        service: &'static ApiService,
        (http, base): (HttpClient, &str),
        token: Secret,
        (cache, notice): (ResponseCache, WaitNotice),
    ) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        Self { service, http, base, token, cache, notice, news: AtomicBool::new(false) }
    }

    /// Whether something changed since the last run, as far as it was read: a cached answer that still holds is no
    /// news.
    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::Relaxed)
    }

    /// Reads one resource.
    pub(super) async fn get(
        &self,
        path: &str,
        permission: &'static str,
    ) -> Result<Value, ForgeError> {
        let request =
            ApiRequest { method: Method::GET, path: path.to_owned(), body: None, permission };
        Ok(self.send(&request).await?.body)
    }

    /// Reads all pages of a list.
    pub(super) async fn list(
        &self,
        path: &str,
        permission: &'static str,
    ) -> Result<Vec<Value>, ForgeError> {
        let mut items = Vec::new();
        for page in 1..=MAX_PAGES {
            let path = format!("{path}?per_page={PAGE}&page={page}");
            let request = ApiRequest { method: Method::GET, path, body: None, permission };
            let response = self.send(&request).await?;
            let Value::Array(found) = response.body else { break };
            // A cached page may not know that another one follows it.
            let is_full = found.len() >= PAGE;
            items.extend(found);
            if !response.has_next && !is_full {
                break;
            }
        }
        Ok(items)
    }

    /// Sends a write.
    pub(super) async fn write(&self, request: &ApiRequest) -> Result<Value, ForgeError> {
        Ok(self.send(request).await?.body)
    }

    async fn send(&self, request: &ApiRequest) -> Result<ApiResponse, ForgeError> {
        let mut waited = Duration::ZERO;
        let mut last = String::new();
        for attempt in 1..=MAX_ATTEMPTS {
            let (wait, why) = match self.attempt(request).await {
                AttemptResult::Done(response) => return Ok(response),
                AttemptResult::Failed(error) => return Err(error),
                AttemptResult::Again { wait, why } => (wait, why),
            };
            last = self.token.redact(&why);
            if attempt == MAX_ATTEMPTS {
                break;
            }
            let wait = wait.unwrap_or(FIRST_WAIT * 2_u32.pow(attempt - 1));
            waited += wait;
            if waited > LONGEST_WAIT {
                let minutes = wait.as_secs().div_ceil(60);
                let what = format!("{last}; {} asks to wait for {minutes} min", self.service.name);
                return Err(ForgeError::Unavailable(what));
            }
            (self.notice)(&format!("note: {last}: waiting {} s", wait.as_secs_f32().ceil()));
            sleep(wait).await;
        }
        Err(ForgeError::Unavailable(last))
    }

    async fn attempt(&self, request: &ApiRequest) -> AttemptResult {
        let url = format!("{}{}", self.base, request.path);
        let is_read = request.method == Method::GET;
        let client = match self.http.client(&url) {
            Ok(client) => client,
            Err(error) => return AttemptResult::Failed(ForgeError::Unavailable(error.what)),
        };
        let stored = self.cache.get(&url).filter(|_| is_read);
        let mut sent = client
            .request(request.method.clone(), &url)
            .timeout(TIMEOUT)
            .bearer_auth(self.token.expose());
        for (name, value) in self.service.headers {
            sent = sent.header(*name, *value);
        }
        if let Some(stored) = &stored {
            sent = sent.header("if-none-match", &stored.etag);
        }
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        let lost = |error: &reqwest::Error| {
            let why = format!("cannot reach {}: {}", self.service.name, innermost(error));
            match is_read || error.is_connect() {
                true => AttemptResult::Again { wait: None, why },
                false => AttemptResult::Failed(ForgeError::Uncertain(why)),
            }
        };
        let response = match sent.send().await {
            Ok(response) => response,
            Err(error) => return lost(&error),
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        if let (304, Some(stored)) = (status, stored) {
            let has_next = has_next(&headers) || stored.has_next;
            return AttemptResult::Done(ApiResponse { body: stored.body, has_next });
        }
        let body = match read_body(response).await {
            Ok(body) => body,
            Err(BodyError::Lost(error)) => return lost(&error),
            Err(BodyError::TooLarge) => {
                let name = self.service.name;
                let what = format!("a response of {name} is larger than {} MiB", MAX_BODY >> 20);
                return AttemptResult::Failed(ForgeError::Unavailable(what));
            }
        };
        if !(200..300).contains(&status) {
            return self.refused(request, status, &headers, &body);
        }
        let has_next = has_next(&headers);
        self.news.store(true, Ordering::Relaxed);
        if let (true, Some(etag)) = (is_read, header(&headers, "etag")) {
            self.cache.put(&url, etag, &body, has_next);
        }
        AttemptResult::Done(ApiResponse { body, has_next })
    }

    fn refused(
        &self,
        request: &ApiRequest,
        status: u16,
        headers: &HeaderMap,
        body: &Value,
    ) -> AttemptResult {
        let message = self.token.redact(&message(body));
        let name = self.service.name;
        let what = format!("{name} answers {status}: {message}");
        if let Some(wait) = rate_limit(status, headers, &message) {
            let why = format!("{name} limits the rate of requests ({status})");
            return AttemptResult::Again { wait, why };
        }
        let permission = request.permission;
        AttemptResult::Failed(match status {
            401 => ForgeError::Forbidden {
                what,
                hint: format!("the token is not valid: check {}", self.service.token_hint),
            },
            403 => ForgeError::Forbidden {
                what,
                hint: format!("the token needs the permission `{permission}`"),
            },
            404 => ForgeError::NotFound {
                what: format!("{what} (or the token lacks the permission `{permission}`)"),
            },
            400 | 422 => ForgeError::Rejected(what),
            500.. if request.method == Method::GET => {
                return AttemptResult::Again { wait: None, why: what };
            }
            500.. => ForgeError::Uncertain(what),
            _ => ForgeError::Unavailable(what),
        })
    }
}

/// The wait of a rate limit: `None` for other refusals, `Some(None)` when the forge does not say how long.
fn rate_limit(status: u16, headers: &HeaderMap, message: &str) -> Option<Option<Duration>> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    let now = SystemTime::now();
    if let Some(wait) = header(headers, "retry-after").and_then(|text| retry_after(text, now)) {
        return Some(Some(wait));
    }
    if header(headers, "x-ratelimit-remaining") == Some("0") {
        let reset = header(headers, "x-ratelimit-reset").and_then(|text| text.parse().ok());
        let at = reset.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        return Some(
            at.map(|at| at.duration_since(now).unwrap_or_default() + Duration::from_secs(1)),
        );
    }
    (status == 429 || message.to_ascii_lowercase().contains("rate limit")).then_some(None)
}

enum BodyError {
    Lost(reqwest::Error),
    TooLarge,
}

async fn read_body(mut response: Response) -> Result<Value, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Lost)? {
        if bytes.len() + chunk.len() > MAX_BODY {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    // An error page of a proxy is not JSON; its status says enough.
    Ok(serde_json::from_slice(&bytes).unwrap_or_default())
}

/// The message of an error body, with its details.
fn message(body: &Value) -> String {
    // GitLab sends an object for each wrong field.
    let fields = body["message"].is_object().then(|| body["message"].to_string());
    let message = body["message"].as_str().or(fields.as_deref()).or(body["error"].as_str());
    let message = message.unwrap_or("no reason");
    let details = body["errors"].as_array().into_iter().flatten();
    let details = details.filter_map(|error| error.as_str().or_else(|| error["message"].as_str()));
    let words: Vec<&str> = std::iter::once(message).chain(details).collect();
    short_line(&words.join(": "), 400)
}

fn has_next(headers: &HeaderMap) -> bool {
    header(headers, "link").is_some_and(|link| link.contains("rel=\"next\""))
        || header(headers, "x-next-page").is_some_and(|page| !page.is_empty())
}

/// A text in the path or the query of a URL.
pub(super) fn in_url(text: &str) -> String {
    let bytes = text.bytes().map(|byte| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    bytes.collect()
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    short_line(&cause.to_string(), 200)
}
