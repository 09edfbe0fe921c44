//! Requests to the REST API of a forge: conditional reads, pages, rate limits, and errors that name
//! the missing permission. Reads are retried; a write is sent once, because only the caller knows
//! whether it is still needed after a wait.

use super::cache::{ResponseCache, StoredResponse};
use crate::models::{HttpClient, Secret, retry_after};
use mala_domain::ports::ForgeError;
use mala_domain::render::short_line;
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::time::sleep;

/// Attempts of a request in total, and writes in a row that have to wait.
const MAX_ATTEMPTS: u32 = 5;
/// The wait before the second attempt, when the forge names none; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The same after a rate limit, as GitHub asks for.
const FIRST_LIMIT_WAIT: Duration = Duration::from_secs(60);
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

/// The differences between forges.
pub(super) struct ApiService {
    /// The name in messages.
    pub(super) name: &'static str,
    /// The headers of each request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// A hint for an invalid token.
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
    /// The waits of writes since the last one that was done.
    write_waits: Mutex<RetryWaits>,
}

/// The waits for one request.
#[derive(Clone, Copy, Default)]
struct RetryWaits {
    n_attempts: u32,
    waited: Duration,
}

/// One request.
pub(super) struct ApiRequest {
    pub(super) method: Method,
    /// The path below the base, with its query.
    pub(super) path: String,
    pub(super) body: Option<Value>,
    /// The permission that it needs.
    pub(super) permission: &'static str,
    /// Whether sending it twice does no harm.
    pub(super) is_repeatable: bool,
}

impl ApiRequest {
    fn get(path: String, permission: &'static str) -> Self {
        Self { method: Method::GET, path, body: None, permission, is_repeatable: true }
    }
}

/// A write as it is sent: method, path and body.
pub(super) type ApiWrite = (Method, String, Option<Value>);

/// A response and whether there is a next page.
struct ApiResponse {
    body: Value,
    has_next: bool,
}

/// The result of an attempt.
enum AttemptResult {
    Done(ApiResponse),
    /// It was refused for now, or it is not known whether it was done.
    Again {
        wait: RetryWait,
        why: String,
    },
    /// The resource moved to this path, for example because a repository was renamed.
    Moved(String),
    Failed(ForgeError),
}

/// How long to wait before another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryWait {
    /// The time that the forge states.
    Asked(Duration),
    /// This long before the second attempt, and twice as long before each further one.
    Growing(Duration),
}

impl RetryWait {
    fn before(self, n_attempts: u32) -> Duration {
        match self {
            Self::Asked(wait) => wait,
            Self::Growing(first) => first * 2_u32.pow(n_attempts.saturating_sub(1)),
        }
    }
}

impl ApiClient {
    pub(super) fn new(
        service: &'static ApiService,
        (http, base): (HttpClient, &str),
        token: Secret,
        (cache, notice): (ResponseCache, WaitNotice),
    ) -> Self {
        let base = base.trim_end_matches('/').to_owned();
        let (news, write_waits) = (AtomicBool::new(false), Mutex::default());
        Self { service, http, base, token, cache, notice, news, write_waits }
    }

    /// Whether any response since the start was not answered from the cache.
    pub(super) fn has_news(&self) -> bool {
        self.news.load(Ordering::Relaxed)
    }

    /// Reads one resource.
    pub(super) async fn get(
        &self,
        path: &str,
        permission: &'static str,
    ) -> Result<Value, ForgeError> {
        Ok(self.repeat(&ApiRequest::get(path.to_owned(), permission)).await?.body)
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
            let response = self.repeat(&ApiRequest::get(path, permission)).await?;
            let found = self.items(response.body)?;
            // A cached page may not know that another one follows it.
            let is_full = found.len() >= PAGE;
            items.extend(found);
            if !response.has_next && !is_full {
                return Ok(items);
            }
        }
        let (name, n_items) = (self.service.name, items.len());
        Err(ForgeError::Unavailable(format!("a list of {name} has more than {n_items} items")))
    }

    /// The items of a list. Anything else is an error, because an empty list means that nothing was
    /// posted yet.
    pub(super) fn items(&self, body: Value) -> Result<Vec<Value>, ForgeError> {
        match body {
            Value::Array(items) => Ok(items),
            _ => Err(self.unreadable("list")),
        }
    }

    /// An answer of an unknown form.
    pub(super) fn unreadable(&self, what: &str) -> ForgeError {
        ForgeError::Unavailable(format!("cannot read the {what} that {} sent", self.service.name))
    }

    /// Sends a request that may be repeated, such as a query.
    pub(super) async fn ask(&self, request: &ApiRequest) -> Result<Value, ForgeError> {
        Ok(self.repeat(request).await?.body)
    }

    async fn repeat(&self, request: &ApiRequest) -> Result<ApiResponse, ForgeError> {
        let mut waits = RetryWaits::default();
        let mut moved = None;
        loop {
            let request = moved.as_ref().unwrap_or(request);
            match self.attempt(request).await {
                AttemptResult::Done(response) => return Ok(response),
                AttemptResult::Failed(error) => return Err(error),
                AttemptResult::Again { wait, why } => self.wait(&mut waits, wait, &why).await?,
                AttemptResult::Moved(path) if moved.is_none() => {
                    moved = Some(ApiRequest::get(path, request.permission));
                }
                AttemptResult::Moved(_) => return Err(self.unreadable("address")),
            }
        }
    }

    /// Sends a write once. When it is not known whether it was done, or when it had to wait, that is an error: another
    /// run may have posted meanwhile. What is to be deleted may be gone.
    pub(super) async fn write(
        &self,
        (method, path, body): ApiWrite,
        permission: &'static str,
    ) -> Result<Value, ForgeError> {
        let request = ApiRequest { method, path, body, permission, is_repeatable: false };
        match self.attempt(&request).await {
            AttemptResult::Done(response) => {
                *self.write_waits() = RetryWaits::default();
                Ok(response.body)
            }
            AttemptResult::Failed(ForgeError::NotFound { .. })
                if request.method == Method::DELETE =>
            {
                Ok(Value::Null)
            }
            AttemptResult::Failed(error) => Err(error),
            AttemptResult::Moved(_) => Err(self.unreadable("answer")),
            AttemptResult::Again { wait, why } => {
                let mut waits = *self.write_waits();
                let waited = self.wait(&mut waits, wait, &why).await;
                *self.write_waits() = waits;
                waited.and(Err(ForgeError::Uncertain(self.token.redact(&why))))
            }
        }
    }

    fn write_waits(&self) -> MutexGuard<'_, RetryWaits> {
        self.write_waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits before the next attempt; an error after too many attempts, or if the forge demands too
    /// long a wait.
    async fn wait(
        &self,
        waits: &mut RetryWaits,
        wait: RetryWait,
        why: &str,
    ) -> Result<(), ForgeError> {
        let why = self.token.redact(why);
        waits.n_attempts += 1;
        if waits.n_attempts >= MAX_ATTEMPTS {
            return Err(ForgeError::Unavailable(why));
        }
        let wait = wait.before(waits.n_attempts);
        waits.waited += wait;
        if waits.waited > LONGEST_WAIT {
            let minutes = wait.as_secs().div_ceil(60);
            let what = format!("{why}; {} asks to wait for {minutes} min", self.service.name);
            return Err(ForgeError::Unavailable(what));
        }
        (self.notice)(&format!("note: {why}: waiting {} s", wait.as_secs_f32().ceil()));
        sleep(wait).await;
        Ok(())
    }

    async fn attempt(&self, request: &ApiRequest) -> AttemptResult {
        let url = format!("{}{}", self.base, request.path);
        let is_read = request.method == Method::GET;
        let stored = self.cache.get(&url).filter(|_| is_read);
        let sent = match self.prepared(request, &url, stored.as_ref()) {
            Ok(sent) => sent,
            Err(error) => return AttemptResult::Failed(error),
        };
        let lost = |error: &reqwest::Error| {
            let why = format!("cannot reach {}: {}", self.service.name, innermost(error));
            AttemptResult::Again { wait: RetryWait::Growing(FIRST_WAIT), why }
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
        let body = body.unwrap_or_default();
        // GraphQL answers errors with the status of a success.
        let is_limited = body["errors"][0]["type"] == "RATE_LIMITED";
        if is_limited || !(200..300).contains(&status) {
            let status = if is_limited { 429 } else { status };
            return self.refused(request, status, &headers, &body);
        }
        if request.is_repeatable && body.is_null() {
            return AttemptResult::Failed(self.unreadable("answer"));
        }
        let has_next = has_next(&headers);
        self.news.store(true, Ordering::Relaxed);
        if let (true, Some(etag)) = (is_read, header(&headers, "etag")) {
            self.cache.put(&url, etag, &body, has_next);
        }
        AttemptResult::Done(ApiResponse { body, has_next })
    }

    fn prepared(
        &self,
        request: &ApiRequest,
        url: &str,
        stored: Option<&StoredResponse>,
    ) -> Result<RequestBuilder, ForgeError> {
        let client = self.http.client(url);
        let client = client.map_err(|error| ForgeError::Unavailable(error.what))?;
        let mut sent = client
            .request(request.method.clone(), url)
            .timeout(TIMEOUT)
            .bearer_auth(self.token.expose());
        for (name, value) in self.service.headers {
            sent = sent.header(*name, *value);
        }
        if let Some(stored) = stored {
            sent = sent.header("if-none-match", &stored.etag);
        }
        Ok(match &request.body {
            Some(body) => sent.json(body),
            None => sent,
        })
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
        let moved = header(headers, "location").and_then(|url| url.strip_prefix(&self.base));
        if let (301 | 302 | 307 | 308, Some(path), &Method::GET) = (status, moved, &request.method)
            && path.starts_with('/')
        {
            return AttemptResult::Moved(path.to_owned());
        }
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
            500.. => {
                return AttemptResult::Again { wait: RetryWait::Growing(FIRST_WAIT), why: what };
            }
            _ => ForgeError::Unavailable(what),
        })
    }
}

/// The wait of a rate limit; `None` for other refusals.
fn rate_limit(status: u16, headers: &HeaderMap, message: &str) -> Option<RetryWait> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    let now = SystemTime::now();
    if let Some(wait) = header(headers, "retry-after").and_then(|text| retry_after(text, now)) {
        return Some(RetryWait::Asked(wait));
    }
    if header(headers, "x-ratelimit-remaining") == Some("0") {
        let reset = header(headers, "x-ratelimit-reset").and_then(|text| text.parse().ok());
        let at = reset.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let wait = at.map(|at| at.duration_since(now).unwrap_or_default());
        return Some(wait.map_or(RetryWait::Growing(FIRST_LIMIT_WAIT), |wait| {
            RetryWait::Asked(wait + Duration::from_secs(1))
        }));
    }
    let is_limit = status == 429 || message.to_ascii_lowercase().contains("rate limit");
    is_limit.then_some(RetryWait::Growing(FIRST_LIMIT_WAIT))
}

enum BodyError {
    Lost(reqwest::Error),
    TooLarge,
}

/// The body, null when it is empty; `None` when it is not JSON, such as the page of a proxy.
async fn read_body(mut response: Response) -> Result<Option<Value>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(BodyError::Lost)? {
        if bytes.len() + chunk.len() > MAX_BODY {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    match bytes.is_empty() {
        true => Ok(Some(Value::Null)),
        false => Ok(serde_json::from_slice(&bytes).ok()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_unless_the_forge_says_how_long() {
        let rows = [
            (429, None, "slow down", Some([60, 120, 240])),
            (403, None, "You have exceeded a secondary rate limit", Some([60, 120, 240])),
            (403, Some(("retry-after", "7")), "limit", Some([7, 7, 7])),
            (403, Some(("x-ratelimit-remaining", "0")), "limit", Some([60, 120, 240])),
            (403, None, "Resource not accessible by integration", None),
            (404, Some(("retry-after", "7")), "not found", None),
        ];
        for (status, header, message, expected) in rows {
            let mut headers = HeaderMap::new();
            if let Some((name, value)) = header {
                headers.insert(name, value.parse().unwrap());
            }
            let wait = rate_limit(status, &headers, message);
            let waits = wait.map(|wait| [1, 2, 3].map(|number| wait.before(number).as_secs()));
            assert_eq!(waits, expected, "{status} {message}");
        }
    }
}
