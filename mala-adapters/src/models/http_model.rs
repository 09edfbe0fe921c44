//! A model behind a protocol: sends requests, retries them, and stops at the deadline.

use super::endpoint::Endpoint;
use super::error::{RequestError, RetryHint};
use super::http::{ExchangeError, HttpClient, HttpRequest, backoff, key_header, without_key};
use super::optional_parts::{AllowedParts, OptionalPart, RefusedParts};
use super::protocol::{ModelResponse, Protocol, with_model};
use mala_domain::conversation::{
    AnswerFormat, AssistantTurn, ChatReply, ChatRequest, FinishReason,
};
use mala_domain::ports::{
    BoxFuture, CallTerms, LanguageModel, ModelFailure, ModelFailureKind as Kind,
};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// The longest deadline of a call.
const LONGEST_PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// A model that is reached through a protocol.
pub(crate) struct HttpModel<P> {
    protocol: P,
    endpoint: Endpoint,
    http: HttpClient,
    refused: RefusedParts,
}

impl<P: Protocol> HttpModel<P> {
    /// The model at this endpoint.
    pub(crate) fn new(protocol: P, endpoint: Endpoint, http: HttpClient) -> Self {
        let refused = RefusedParts::default();
        if !endpoint.enforce_form {
            refused.remember(OptionalPart::Form);
        }
        Self { protocol, endpoint, http, refused }
    }

    async fn ask_with_retries(
        &self,
        ask: &ChatRequest,
        terms: CallTerms<'_>,
    ) -> Result<ChatReply, ModelFailure> {
        let deadline = Instant::now() + terms.patience.min(LONGEST_PATIENCE);
        let mut attempts = AttemptCount::default();
        loop {
            attempts.count += 1;
            let sent = self.sent(ask);
            let ask_once = self.ask_once(ask, sent, deadline);
            let problem = match timeout_at(deadline, ask_once).await {
                Ok(Ok(response)) => {
                    return Ok(self.without_own_key(reply(ask, sent, response, attempts.count)));
                }
                Ok(Err(problem)) => problem,
                Err(_) => return Err(self.failure(out_of_time().into(), attempts.count)),
            };
            tracing::debug!(attempt = attempts.count, kind = ?problem.error.kind, "request failed");
            if let Some(part) = self.rejected_part(ask, sent, &problem) {
                tracing::warn!(part = ?part, "the server rejects a part of the request");
                self.refused.remember(part);
                let failure = self.failure(problem, attempts.count);
                if let Err(why) = terms.meter.again(&failure).await {
                    return Err(not_retried(failure, &why));
                }
                continue;
            }
            let wait = attempts.wait(&problem.error, &self.endpoint);
            let failure = self.failure(problem, attempts.count);
            let Some(wait) = wait else { return Err(failure) };
            if wait >= deadline.saturating_duration_since(Instant::now()) {
                return Err(too_late(failure, wait));
            }
            if let Err(why) = terms.meter.again(&failure).await {
                return Err(not_retried(failure, &why));
            }
            sleep(wait).await;
        }
    }

    async fn ask_once(
        &self,
        ask: &ChatRequest,
        sent: AllowedParts,
        deadline: Instant,
    ) -> Result<ModelResponse, ExchangeError> {
        let request = HttpRequest {
            url: self.protocol.url(&self.endpoint, ask),
            headers: self.headers().map_err(ExchangeError::unbilled)?,
            body: self.protocol.body(ask, sent).to_string().into_bytes(),
            limits: self.endpoint.limits,
            patience: deadline.saturating_duration_since(Instant::now()),
        };
        self.http.exchange(&request, self.protocol.response_reader()).await
    }

    /// The optional parts of this request.
    fn sent(&self, ask: &ChatRequest) -> AllowedParts {
        let possible = self.protocol.optional(ask);
        let all = [
            OptionalPart::Form,
            OptionalPart::StreamedUsage,
            OptionalPart::CacheKey,
            OptionalPart::Reasoning,
            OptionalPart::NewLimitName,
        ];
        let impossible = all.into_iter().filter(|part| !possible.contains(part));
        impossible.fold(self.refused.allowed(), AllowedParts::without)
    }

    fn rejected_part(
        &self,
        ask: &ChatRequest,
        sent: AllowedParts,
        problem: &ExchangeError,
    ) -> Option<OptionalPart> {
        if matches!(problem.error.kind, Kind::TooLong | Kind::Unauthorized) {
            return None;
        }
        let words = problem.refusal.as_deref()?;
        sent.named_by(words, &self.protocol.optional(ask))
    }

    fn headers(&self) -> Result<HeaderMap, RequestError> {
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

    /// The reply without the user's key, which a gateway or a model may repeat.
    fn without_own_key(&self, mut reply: ChatReply) -> ChatReply {
        let Some(key) = &self.endpoint.key else { return reply };
        let said = &mut reply.said;
        said.text = key.without_key(&said.text);
        for call in &mut said.calls {
            call.arguments = key.without_key(&call.arguments);
        }
        let verbatim = said.verbatim.to_string();
        let without = key.without_key(&verbatim);
        if without != verbatim {
            said.verbatim = serde_json::from_str(&without).unwrap_or_default();
        }
        reply
    }

    fn failure(&self, problem: ExchangeError, attempts: u32) -> ModelFailure {
        let error = without_key(problem.error, self.endpoint.key.as_ref());
        let what = format!("{}{}", error.what, self.failure_hint(error.kind));
        ModelFailure { kind: error.kind, what, attempts, billed: problem.billed }
    }

    /// A hint for the user after a failed request.
    fn failure_hint(&self, kind: Kind) -> String {
        match (kind, &self.endpoint.key_origin) {
            (Kind::Unauthorized | Kind::Forbidden, Some(origin)) => format!("; see {origin}"),
            (Kind::NotFound, _) => "; run 'mala models' to list the known models".to_owned(),
            _ => String::new(),
        }
    }
}

impl<P: Protocol> LanguageModel for HttpModel<P> {
    fn ask<'a>(
        &'a self,
        ask: &'a ChatRequest,
        terms: CallTerms<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelFailure>> {
        Box::pin(self.ask_with_retries(ask, terms))
    }
}

/// A request that may not be retried because of its limits.
fn not_retried(failure: ModelFailure, why: &str) -> ModelFailure {
    let what = format!("{}; not retried: {why}", failure.what);
    ModelFailure { what, ..failure }
}

/// The attempts of one call.
#[derive(Debug, Default)]
struct AttemptCount {
    count: u32,
    interrupted: u32,
}

impl AttemptCount {
    /// The wait before the next attempt; `None` if there is none.
    fn wait(&mut self, error: &RequestError, endpoint: &Endpoint) -> Option<Duration> {
        if self.count >= endpoint.limits.max_attempts {
            return None;
        }
        let usual = backoff(&endpoint.limits, self.count + 1, fastrand::f64());
        match error.again {
            RetryHint::No => None,
            // A little longer than requested, so that callers do not all return at once.
            RetryHint::After(Some(wait)) => Some(wait.saturating_add(usual.min(wait / 10))),
            RetryHint::After(None) => Some(usual),
            RetryHint::Once => {
                self.interrupted += 1;
                (self.interrupted == 1).then_some(usual)
            }
        }
    }
}

fn reply(
    ask: &ChatRequest,
    sent: AllowedParts,
    response: ModelResponse,
    attempts: u32,
) -> ChatReply {
    let stop = match response.stop {
        // Some servers report an answer that hit the limit as complete.
        FinishReason::Complete
            if response.tokens.output >= Some(u64::from(ask.max_output_tokens)) =>
        {
            FinishReason::MaxTokens
        }
        stop => stop,
    };
    let asks_for_form = matches!(ask.form, AnswerFormat::Json { .. });
    // Some servers accept a schema and do not enforce it.
    let keeps_form = stop != FinishReason::Complete || is_json(&response.said.text);
    let verbatim = with_model(response.said.verbatim, &ask.model);
    ChatReply {
        said: AssistantTurn { verbatim, ..response.said },
        stop,
        tokens: response.tokens,
        model: if response.model.is_empty() { ask.model.clone() } else { response.model },
        form_enforced: asks_for_form && sent.has(OptionalPart::Form) && keeps_form,
        attempts,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn out_of_time() -> RequestError {
    RequestError::permanent(Kind::TimedOut, "no response before the deadline")
}

fn too_late(failure: ModelFailure, wait: Duration) -> ModelFailure {
    let what = format!(
        "{}; the next attempt is {} s away, after the deadline",
        failure.what,
        wait.as_secs_f32().ceil()
    );
    ModelFailure { what, ..failure }
}
