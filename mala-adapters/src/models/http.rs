//! One HTTP request: sends it and reads the response stream, with limits on everything that the
//! server controls.

mod sse;
mod status;

pub(crate) use status::{ErrorResponse, backoff, retry_after};

use super::endpoint::{RequestLimits, Secret};
use super::error::{RequestError, one_line};
use super::protocol::{ModelResponse, ResponseReader};
use futures_util::StreamExt;
use mala_domain::ports::{BillingStatus, ModelFailureKind as Kind};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Response, redirect};
use serde_json::Value;
use sse::SseParser;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use tokio::time::timeout;

/// The largest response, in bytes.
const MAX_ANSWER: usize = 32 << 20;
/// The largest body of an error response, in bytes.
const MAX_REASON: usize = 64 << 10;

/// An HTTP client that all models of a process share.
#[derive(Clone)]
pub struct HttpClient {
    plain: Client,
    /// Created on first use: it loads the system's certificates, and some systems have none.
    secure: Arc<OnceLock<Result<Client, HttpError>>>,
    proxy: Option<ProxySettings>,
}

/// A proxy for all requests.
#[derive(Debug, Clone)]
pub struct ProxySettings {
    /// Its URL.
    pub url: String,
    /// Hosts that are reached directly, separated by commas.
    pub except: Option<String>,
}

/// The HTTP client cannot be created.
#[derive(Debug, Clone, Error)]
#[error("cannot set up HTTP: {0}")]
pub struct HttpError(String);

impl HttpClient {
    /// A client that trusts the system's certificates.
    pub fn new(proxy: Option<ProxySettings>) -> Result<Self, HttpError> {
        // Another client of this process may have installed the same provider.
        rustls::crypto::ring::default_provider().install_default().unwrap_or(());
        let plain = client(proxy.as_ref(), |builder| builder.tls_certs_only([]))?;
        Ok(Self { plain, secure: Arc::default(), proxy })
    }

    /// The client for a URL.
    pub(crate) fn client(&self, url: &str) -> Result<&Client, RequestError> {
        if !url.starts_with("https:") {
            return Ok(&self.plain);
        }
        let make = || client(self.proxy.as_ref(), |builder| builder.https_only(true));
        let made = self.secure.get_or_init(make).as_ref();
        made.map_err(|error| RequestError::permanent(Kind::Unreachable, error.to_string()))
    }

    /// Sends one request and reads its response.
    pub(crate) async fn exchange(
        &self,
        request: &HttpRequest,
        reader: Box<dyn ResponseReader + Send>,
    ) -> Result<ModelResponse, ExchangeError> {
        let sent = self
            .client(&request.url)
            .map_err(ExchangeError::unbilled)?
            .post(&request.url)
            .headers(request.headers.clone())
            .timeout(request.patience)
            .body(request.body.clone());
        let response = timeout(request.limits.first_byte, sent.send())
            .await
            .map_err(|_| timed_out(request.limits.first_byte))?
            .map_err(|error| match error.is_connect() {
                true => ExchangeError::unbilled(send_error(&error)),
                false => send_error(&error).into(),
            })?;
        if !response.status().is_success() {
            return Err(refused(response, &request.limits).await);
        }
        Ok(read_response(response, &request.limits, reader).await?)
    }
}

/// A request that is ready to be sent.
pub(crate) struct HttpRequest {
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) limits: RequestLimits,
    pub(crate) patience: Duration,
}

/// Why an exchange failed.
pub(crate) struct ExchangeError {
    pub(crate) error: RequestError,
    /// The server's message, if it rejects the request as it is.
    pub(crate) refusal: Option<String>,
    pub(crate) billed: BillingStatus,
}

impl ExchangeError {
    /// An error before anything was sent.
    pub(crate) fn unbilled(error: RequestError) -> Self {
        Self { error, refusal: None, billed: BillingStatus::No }
    }
}

impl From<RequestError> for ExchangeError {
    fn from(error: RequestError) -> Self {
        Self { error, refusal: None, billed: BillingStatus::Perhaps }
    }
}

/// A header whose value is never logged.
pub(crate) fn key_header(
    name: &'static str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), RequestError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        RequestError::permanent(
            Kind::Unauthorized,
            "the key contains characters that are not allowed in a header",
        )
    })?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

fn client(
    proxy: Option<&ProxySettings>,
    adapt: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Result<Client, HttpError> {
    let wrong = |error: reqwest::Error| HttpError(causes(&error.without_url()));
    let mut builder = adapt(Client::builder())
        .no_proxy()
        // A redirect would send the key to another host.
        .redirect(redirect::Policy::none())
        .connect_timeout(RequestLimits::default().connect)
        .user_agent(concat!("mala/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = proxy {
        let except = proxy.except.as_deref().and_then(NoProxy::from_string);
        builder = builder.proxy(reqwest::Proxy::all(&proxy.url).map_err(wrong)?.no_proxy(except));
    }
    builder.build().map_err(wrong)
}

async fn read_response(
    mut response: Response,
    limits: &RequestLimits,
    mut reader: Box<dyn ResponseReader + Send>,
) -> Result<ModelResponse, RequestError> {
    let kind = content_type(&response);
    if !kind.contains("event-stream") {
        let body = body(&mut response, limits, MAX_ANSWER).await?;
        reader.read_whole(json_body(&kind, &body)?)?;
        return reader.finish();
    }
    let mut events = SseParser::default();
    let mut stream = std::pin::pin!(response.bytes_stream());
    let mut left = MAX_ANSWER;
    loop {
        let next = timeout(limits.idle, stream.next()).await.map_err(|_| timed_out(limits.idle))?;
        let Some(chunk) = next else { break };
        let chunk = chunk.map_err(|error| read_error(&error))?;
        left = left.checked_sub(chunk.len()).ok_or_else(too_large)?;
        for data in
            events.push(&chunk).map_err(|error| RequestError::malformed(error.to_string()))?
        {
            read_event(reader.as_mut(), &data)?;
        }
    }
    // Some servers omit the last empty line. The reader knows whether something is missing.
    if let Some(data) = events.rest().filter(|data| is_whole(data)) {
        read_event(reader.as_mut(), &data)?;
    }
    reader.finish()
}

fn read_event(reader: &mut (dyn ResponseReader + Send), data: &str) -> Result<(), RequestError> {
    match data.trim() {
        "" => Ok(()),
        "[DONE]" => {
            reader.read_done();
            Ok(())
        }
        data => {
            let event = serde_json::from_str(data).map_err(|error| {
                RequestError::malformed(format!("an event is not JSON: {error}"))
            })?;
            reader.read_event(event)
        }
    }
}

fn is_whole(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<Value>(data).is_ok()
}

fn json_body(kind: &str, body: &str) -> Result<Value, RequestError> {
    if kind.contains("html") || body.trim_start().starts_with('<') {
        let what = "the response is an HTML page; check the URL and the proxy";
        return Err(RequestError::permanent(Kind::Malformed, what));
    }
    serde_json::from_str(body).map_err(|error| match error.is_eof() {
        true => RequestError::cut("the response ended early"),
        false => RequestError::malformed(format!("the response is not JSON: {}", one_line(body))),
    })
}

async fn refused(mut response: Response, limits: &RequestLimits) -> ExchangeError {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    // The status is enough if the body does not arrive.
    let body = body(&mut response, limits, MAX_REASON).await.unwrap_or_default();
    let refusal = ErrorResponse { status, headers: &headers, body: &body };
    let words = refusal.is_request_invalid().then(|| body.clone());
    let billed = refusal.billed();
    ExchangeError { error: refusal.request_error(SystemTime::now()), refusal: words, billed }
}

async fn body(
    response: &mut Response,
    limits: &RequestLimits,
    most: usize,
) -> Result<String, RequestError> {
    let mut body = Vec::new();
    loop {
        let next = timeout(limits.idle, response.chunk()).await;
        match next.map_err(|_| timed_out(limits.idle))?.map_err(|error| read_error(&error))? {
            Some(chunk) if body.len() + chunk.len() > most => return Err(too_large()),
            Some(chunk) => body.extend_from_slice(&chunk),
            None => return Ok(String::from_utf8_lossy(&body).into_owned()),
        }
    }
}

fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

fn too_large() -> RequestError {
    RequestError::permanent(
        Kind::Malformed,
        format!("the response is larger than {} MiB", MAX_ANSWER >> 20),
    )
}

fn timed_out(after: Duration) -> RequestError {
    RequestError::interrupted(Kind::TimedOut, format!("no data for {} s", after.as_secs_f32()))
}

/// An error before the response.
fn send_error(error: &reqwest::Error) -> RequestError {
    let what = causes(error);
    match error.is_timeout() && !error.is_connect() {
        true => RequestError::interrupted(Kind::TimedOut, what),
        false => RequestError::temporary(Kind::Unreachable, what),
    }
}

/// An error while the response is read.
fn read_error(error: &reqwest::Error) -> RequestError {
    match error.is_timeout() {
        true => RequestError::interrupted(Kind::TimedOut, "no response before the deadline"),
        false => RequestError::cut(&format!("the response ended early: {}", causes(error))),
    }
}

/// The message of the innermost cause. It is the most specific one and contains no URL.
fn causes(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    one_line(&innermost.to_string())
}

/// The error without the key in its message.
pub(crate) fn without_key(error: RequestError, key: Option<&Secret>) -> RequestError {
    let what = match key {
        Some(key) => key.redact(&error.what),
        None => mala_domain::secrets::redact(&error.what).into_owned(),
    };
    RequestError { what, ..error }
}
