//! One request over HTTP: sent, its stream read event by event, with a limit on everything that the
//! other side decides.

mod sse;
mod status;
mod wait;

pub(crate) use status::Refusal;
pub(crate) use wait::back_off;

use super::endpoint::{Secret, Timings};
use super::fault::{Fault, shortened};
use super::protocol::{Heard, Listener};
use futures_util::StreamExt;
use mala_domain::ports::{Billed, ModelFailureKind as Kind};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, NoProxy, Response, redirect};
use serde_json::Value;
use sse::Events;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use tokio::time::timeout;

/// The most bytes of an answer.
const MAX_ANSWER: usize = 32 << 20;
/// The most bytes of a reason why there is none.
const MAX_REASON: usize = 64 << 10;

/// A client that all models of a process share.
#[derive(Clone)]
pub struct Http {
    plain: Client,
    /// Made when it is needed: it reads all certificates of the machine, and some have none.
    secure: Arc<OnceLock<Result<Client, HttpError>>>,
    proxy: Option<Proxy>,
}

/// A proxy that requests go through.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// Its address.
    pub url: String,
    /// The hosts that are reached without it, separated by commas.
    pub except: Option<String>,
}

/// No client can be made.
#[derive(Debug, Clone, Error)]
#[error("setting up HTTP: {0}")]
pub struct HttpError(String);

impl Http {
    /// A client. Certificates are those of the machine.
    pub fn new(proxy: Option<Proxy>) -> Result<Self, HttpError> {
        // Another client of this process may have set it already, to the same.
        rustls::crypto::ring::default_provider().install_default().unwrap_or(());
        let plain = client(proxy.as_ref(), |builder| builder.tls_certs_only([]))?;
        Ok(Self { plain, secure: Arc::default(), proxy })
    }

    fn client(&self, url: &str) -> Result<&Client, Fault> {
        if !url.starts_with("https:") {
            return Ok(&self.plain);
        }
        let make = || client(self.proxy.as_ref(), |builder| builder.https_only(true));
        let made = self.secure.get_or_init(make).as_ref();
        made.map_err(|error| Fault::lasting(Kind::Unreachable, error.to_string()))
    }

    /// Sends one request and reads its answer.
    pub(crate) async fn exchange(
        &self,
        request: &Request,
        listener: Box<dyn Listener + Send>,
    ) -> Result<Heard, Problem> {
        let sent = self
            .client(&request.url)
            .map_err(Problem::unbilled)?
            .post(&request.url)
            .headers(request.headers.clone())
            .timeout(request.patience)
            .body(request.body.clone());
        let response = timeout(request.timings.first_byte, sent.send())
            .await
            .map_err(|_| stalled(request.timings.first_byte))?
            .map_err(|error| match error.is_connect() {
                true => Problem::unbilled(unsent(&error)),
                false => unsent(&error).into(),
            })?;
        if !response.status().is_success() {
            return Err(refused(response, &request.timings).await);
        }
        Ok(listen(response, &request.timings, listener).await?)
    }
}

/// A request that is ready to be sent.
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) timings: Timings,
    pub(crate) patience: Duration,
}

/// Why an exchange gave no answer.
pub(crate) struct Problem {
    pub(crate) fault: Fault,
    /// The server's words, when it does not accept the request as it is.
    pub(crate) refusal: Option<String>,
    pub(crate) billed: Billed,
}

impl Problem {
    /// A fault before anything was sent.
    pub(crate) fn unbilled(fault: Fault) -> Self {
        Self { fault, refusal: None, billed: Billed::No }
    }
}

impl From<Fault> for Problem {
    fn from(fault: Fault) -> Self {
        Self { fault, refusal: None, billed: Billed::Perhaps }
    }
}

/// A header whose value no log shows.
pub(crate) fn key_header(
    name: &'static str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), Fault> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        Fault::lasting(Kind::Unauthorized, "the key has characters that no header can carry")
    })?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

fn client(
    proxy: Option<&Proxy>,
    adapt: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
) -> Result<Client, HttpError> {
    let wrong = |error: reqwest::Error| HttpError(causes(&error.without_url()));
    let mut builder = adapt(Client::builder())
        .no_proxy()
        // A redirect would take the key along to another host.
        .redirect(redirect::Policy::none())
        .connect_timeout(Timings::default().connect)
        .user_agent(concat!("mala/", env!("CARGO_PKG_VERSION")));
    if let Some(proxy) = proxy {
        let except = proxy.except.as_deref().and_then(NoProxy::from_string);
        builder = builder.proxy(reqwest::Proxy::all(&proxy.url).map_err(wrong)?.no_proxy(except));
    }
    builder.build().map_err(wrong)
}

async fn listen(
    mut response: Response,
    timings: &Timings,
    mut listener: Box<dyn Listener + Send>,
) -> Result<Heard, Fault> {
    let kind = content_type(&response);
    if !kind.contains("event-stream") {
        let body = body(&mut response, timings, MAX_ANSWER).await?;
        listener.hear_whole(json_body(&kind, &body)?)?;
        return listener.answer();
    }
    let mut events = Events::default();
    let mut stream = std::pin::pin!(response.bytes_stream());
    let mut left = MAX_ANSWER;
    loop {
        let next = timeout(timings.idle, stream.next()).await.map_err(|_| stalled(timings.idle))?;
        let Some(chunk) = next else { break };
        let chunk = chunk.map_err(|error| broken(&error))?;
        left = left.checked_sub(chunk.len()).ok_or_else(too_large)?;
        for data in events.push(&chunk).map_err(|error| Fault::malformed(error.to_string()))? {
            hear(listener.as_mut(), &data)?;
        }
    }
    // Some servers leave out the last empty line. Half an event is no event, and the listener knows
    // whether something is missing.
    if let Some(data) = events.rest().filter(|data| is_whole(data)) {
        hear(listener.as_mut(), &data)?;
    }
    listener.answer()
}

fn hear(listener: &mut (dyn Listener + Send), data: &str) -> Result<(), Fault> {
    match data.trim() {
        "" => Ok(()),
        "[DONE]" => {
            listener.hear_done();
            Ok(())
        }
        data => {
            let event = serde_json::from_str(data)
                .map_err(|error| Fault::malformed(format!("an event that is no JSON: {error}")))?;
            listener.hear(event)
        }
    }
}

fn is_whole(data: &str) -> bool {
    data.trim() == "[DONE]" || serde_json::from_str::<Value>(data).is_ok()
}

fn json_body(kind: &str, body: &str) -> Result<Value, Fault> {
    if kind.contains("html") || body.trim_start().starts_with('<') {
        let what = "an HTML page instead of an answer: a proxy, a login page or a wrong address";
        return Err(Fault::lasting(Kind::Malformed, what));
    }
    serde_json::from_str(body).map_err(|error| match error.is_eof() {
        true => Fault::cut("the answer stopped half way"),
        false => Fault::malformed(format!("an answer that is no JSON: {}", shortened(body))),
    })
}

async fn refused(mut response: Response, timings: &Timings) -> Problem {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    // The status says enough when the reason does not arrive.
    let body = body(&mut response, timings, MAX_REASON).await.unwrap_or_default();
    let refusal = Refusal { status, headers: &headers, body: &body };
    let words = refusal.is_about_the_request().then(|| body.clone());
    let billed = refusal.billed();
    Problem { fault: refusal.fault(SystemTime::now()), refusal: words, billed }
}

async fn body(response: &mut Response, timings: &Timings, most: usize) -> Result<String, Fault> {
    let mut body = Vec::new();
    loop {
        let next = timeout(timings.idle, response.chunk()).await;
        match next.map_err(|_| stalled(timings.idle))?.map_err(|error| broken(&error))? {
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

fn too_large() -> Fault {
    Fault::lasting(Kind::Malformed, format!("an answer of more than {} MiB", MAX_ANSWER >> 20))
}

fn stalled(after: Duration) -> Fault {
    Fault::half_way(Kind::TimedOut, format!("nothing came for {} s", after.as_secs_f32()))
}

/// A request that did not get through.
fn unsent(error: &reqwest::Error) -> Fault {
    let what = causes(error);
    match error.is_timeout() && !error.is_connect() {
        true => Fault::half_way(Kind::TimedOut, what),
        false => Fault::passing(Kind::Unreachable, what),
    }
}

/// An answer that broke off.
fn broken(error: &reqwest::Error) -> Fault {
    match error.is_timeout() {
        true => Fault::half_way(Kind::TimedOut, "no answer in time"),
        false => Fault::cut(&format!("the answer stopped half way: {}", causes(error))),
    }
}

/// The innermost reason, which is the one that says something; addresses are left out.
fn causes(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    shortened(&innermost.to_string())
}

/// The key's words are not in what is told.
pub(crate) fn hide(fault: Fault, key: Option<&Secret>) -> Fault {
    let what = match key {
        Some(key) => key.hidden_in(&fault.what),
        None => mala_domain::secrets::redact(&fault.what).into_owned(),
    };
    Fault { what, ..fault }
}
