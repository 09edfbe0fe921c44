//! A model behind a protocol: sends, waits, tries again, and gives up in time.

use super::endpoint::Endpoint;
use super::fault::{Again, Fault};
use super::http::{Http, Problem, Request, back_off, hide, key_header};
use super::optional::{Allowed, Optional, Refused};
use super::protocol::{Heard, Protocol, by_model};
use mala_domain::conversation::{Ask, Form, Reply, Said, Stop};
use mala_domain::ports::{BoxFuture, LanguageModel, ModelFailure, ModelFailureKind as Kind, Terms};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// No answer is worth more.
const LONGEST_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// A model that speaks a protocol.
pub(crate) struct Remote<P> {
    protocol: P,
    endpoint: Endpoint,
    http: Http,
    refused: Refused,
}

impl<P: Protocol> Remote<P> {
    /// The model at this endpoint.
    pub(crate) fn new(protocol: P, endpoint: Endpoint, http: Http) -> Self {
        let refused = Refused::default();
        if !endpoint.enforce_form {
            refused.remember(Optional::Form);
        }
        Self { protocol, endpoint, http, refused }
    }

    async fn persist(&self, ask: &Ask, terms: Terms<'_>) -> Result<Reply, ModelFailure> {
        let deadline = Instant::now() + terms.patience.min(LONGEST_PATIENCE);
        let mut tries = Tries::default();
        loop {
            tries.attempts += 1;
            let sent = self.sent(ask);
            let once = self.once(ask, sent, deadline);
            let problem = match timeout_at(deadline, once).await {
                Ok(Ok(heard)) => return Ok(reply(ask, sent, heard, tries.attempts)),
                Ok(Err(problem)) => problem,
                Err(_) => return Err(self.failure(out_of_time().into(), tries.attempts)),
            };
            tracing::debug!(attempt = tries.attempts, kind = ?problem.fault.kind, "no answer");
            if let Some(part) = self.refused_part(ask, sent, &problem) {
                tracing::warn!(part = ?part, "the server refuses a part of the request");
                self.refused.remember(part);
                let failure = self.failure(problem, tries.attempts);
                if let Err(why) = terms.meter.again(&failure).await {
                    return Err(not_again(failure, &why));
                }
                continue;
            }
            let wait = tries.wait(&problem.fault, &self.endpoint);
            let failure = self.failure(problem, tries.attempts);
            let Some(wait) = wait else { return Err(failure) };
            if wait >= deadline.saturating_duration_since(Instant::now()) {
                return Err(too_late(failure, wait));
            }
            if let Err(why) = terms.meter.again(&failure).await {
                return Err(not_again(failure, &why));
            }
            sleep(wait).await;
        }
    }

    async fn once(&self, ask: &Ask, sent: Allowed, deadline: Instant) -> Result<Heard, Problem> {
        let request = Request {
            url: self.protocol.url(&self.endpoint, ask),
            headers: self.headers().map_err(Problem::unbilled)?,
            body: self.protocol.body(ask, sent).to_string().into_bytes(),
            timings: self.endpoint.timings,
            patience: deadline.saturating_duration_since(Instant::now()),
        };
        self.http.exchange(&request, self.protocol.listener()).await
    }

    /// The optional parts that this request has.
    fn sent(&self, ask: &Ask) -> Allowed {
        let possible = self.protocol.optional(ask);
        let all = [
            Optional::Form,
            Optional::StreamedUsage,
            Optional::CacheKey,
            Optional::Reasoning,
            Optional::NewLimitName,
        ];
        let impossible = all.into_iter().filter(|part| !possible.contains(part));
        impossible.fold(self.refused.allowed(), Allowed::without)
    }

    fn refused_part(&self, ask: &Ask, sent: Allowed, problem: &Problem) -> Option<Optional> {
        if matches!(problem.fault.kind, Kind::TooLong | Kind::Unauthorized) {
            return None;
        }
        let words = problem.refusal.as_deref()?;
        sent.named_in(words, &self.protocol.optional(ask))
    }

    fn headers(&self) -> Result<HeaderMap, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for (name, value) in self.protocol.headers() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(key) = &self.endpoint.key {
            let (name, value) = self.protocol.key_header(key);
            let (name, value) = key_header(name, &value)?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    fn failure(&self, problem: Problem, attempts: u32) -> ModelFailure {
        let fault = hide(problem.fault, self.endpoint.key.as_ref());
        let what = format!("{}{}", fault.what, self.way_out(fault.kind));
        ModelFailure { kind: fault.kind, what, attempts, billed: problem.billed }
    }

    /// What whoever reads of a failure can look at.
    fn way_out(&self, kind: Kind) -> String {
        match (kind, &self.endpoint.key_origin) {
            (Kind::Unauthorized | Kind::Forbidden, Some(origin)) => format!("; see {origin}"),
            (Kind::NotFound, _) => "; 'mala models' lists the models".to_owned(),
            _ => String::new(),
        }
    }
}

impl<P: Protocol> LanguageModel for Remote<P> {
    fn ask<'a>(
        &'a self,
        ask: &'a Ask,
        terms: Terms<'a>,
    ) -> BoxFuture<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.persist(ask, terms))
    }
}

/// A request that the limits do not leave room to make again.
fn not_again(failure: ModelFailure, why: &str) -> ModelFailure {
    let what = format!("{}; not tried again: {why}", failure.what);
    ModelFailure { what, ..failure }
}

/// What was tried so far.
#[derive(Debug, Default)]
struct Tries {
    attempts: u32,
    half_answers: u32,
}

impl Tries {
    /// How long to wait for the next try; `None` when there is none.
    fn wait(&mut self, fault: &Fault, endpoint: &Endpoint) -> Option<Duration> {
        if self.attempts >= endpoint.timings.max_attempts {
            return None;
        }
        let usual = back_off(&endpoint.timings, self.attempts + 1, fastrand::f64());
        match fault.again {
            Again::No => None,
            // A little later than asked, and not all at the same moment.
            Again::After(Some(wait)) => Some(wait.saturating_add(usual.min(wait / 10))),
            Again::After(None) => Some(usual),
            Again::Once => {
                self.half_answers += 1;
                (self.half_answers == 1).then_some(usual)
            }
        }
    }
}

fn reply(ask: &Ask, sent: Allowed, heard: Heard, attempts: u32) -> Reply {
    let stop = match heard.stop {
        // Some servers call an answer complete that ran into the limit.
        Stop::Complete if heard.tokens.output >= Some(u64::from(ask.max_output_tokens)) => {
            Stop::MaxTokens
        }
        stop => stop,
    };
    let asks_for_form = matches!(ask.form, Form::Json { .. });
    // Some servers take a schema and do not keep to it.
    let keeps_form = stop != Stop::Complete || is_json(&heard.said.text);
    let verbatim = by_model(heard.said.verbatim, &ask.model);
    Reply {
        said: Said { verbatim, ..heard.said },
        stop,
        tokens: heard.tokens,
        model: if heard.model.is_empty() { ask.model.clone() } else { heard.model },
        form_enforced: asks_for_form && sent.has(Optional::Form) && keeps_form,
        attempts,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn out_of_time() -> Fault {
    Fault::lasting(Kind::TimedOut, "no answer in time")
}

fn too_late(failure: ModelFailure, wait: Duration) -> ModelFailure {
    let what = format!(
        "{}; the next try would be in {} s, and the time is up before",
        failure.what,
        wait.as_secs_f32().ceil()
    );
    ModelFailure { what, ..failure }
}
