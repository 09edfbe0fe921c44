//! The account of a review, shared by all passes: budget, deadline and usage. Every call to a model or a
//! tool goes through it.

use super::model_client::ModelClient;
use super::turns::StopReason;
use super::{AgentEvents, Transcript};
use crate::events::ReviewEvent;
use mala_domain::agent::answer::ParseMethod;
use mala_domain::agent::budget::{
    BudgetTracker, CallUsage, Charge, LimitReached, Limits, Reservation,
};
use mala_domain::conversation::{ChatReply, ChatRequest, FinishReason};
use mala_domain::ports::{
    BillingStatus, BoxFuture, CallTerms, ModelFailure, ModelFailureKind, RequestMeter,
};
use mala_domain::review::Usage;
use mala_domain::secrets;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// Budget, deadline and usage of one review.
pub(super) struct Account {
    state: Mutex<AccountState>,
    /// Signals that a reservation was settled, so that more of the budget may be free.
    settled: Notify,
    /// Whether the first call has come back, and with it the provider's cache.
    warm: watch::Sender<bool>,
    limit: TimeLimit,
    /// Whether the time limit was reached.
    is_late: AtomicBool,
    events: AgentEvents,
    transcript: Option<Transcript>,
}

struct AccountState {
    tracker: BudgetTracker,
    waited: Duration,
    parse_methods: BTreeMap<ParseMethod, u64>,
    models: Vec<String>,
}

/// Reserved before the outer time limit, so that a review that runs out of time can still report
/// its usage.
const MARGIN: Duration = Duration::from_millis(150);

/// Reserved before the deadline of a call, so that the call itself times out and the recording
/// contains the timeout.
const GRACE: Duration = Duration::from_millis(50);

/// The end of a review, and the name of the limit that sets it.
#[derive(Debug, Clone)]
pub(super) struct TimeLimit {
    end: Instant,
    name: String,
}

impl TimeLimit {
    /// The time limit of a review that starts here: the shorter one of two.
    pub(super) fn start(limits: &Limits, timeout: Duration) -> Self {
        let patience = timeout.saturating_sub(MARGIN).max(timeout / 2);
        let wall_time = limits.max_wall_time;
        let name = match timeout <= wall_time {
            true => format!("the timeout of the review, {} s", timeout.as_secs_f32()),
            false => format!("max_wall_time_seconds, {} s", wall_time.as_secs_f32()),
        };
        Self { end: Instant::now() + patience.min(wall_time), name }
    }
}

impl Account {
    pub(super) fn new(
        limits: Limits,
        limit: TimeLimit,
        events: AgentEvents,
        transcript: Option<Transcript>,
    ) -> Self {
        let state = AccountState {
            tracker: BudgetTracker::new(limits),
            waited: Duration::ZERO,
            parse_methods: BTreeMap::new(),
            models: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            settled: Notify::new(),
            warm: watch::channel(false).0,
            limit,
            is_late: AtomicBool::new(false),
            events,
            transcript,
        }
    }

    /// Calls a model within the deadline: reserves budget before, settles it after, and redacts
    /// secrets in the answer. An incomplete, refused or empty answer is an error.
    pub(super) async fn ask(
        &self,
        client: &ModelClient,
        ask: &ChatRequest,
        label: &str,
    ) -> Result<ChatReply, StopReason> {
        let bill = CallMeter::open(self, client.worst(ask)).await?;
        let started = Instant::now();
        let left = self.limit.end.saturating_duration_since(started);
        let patience = left.saturating_sub(GRACE);
        let terms = CallTerms { patience, meter: &bill };
        let answer = timeout_at(self.limit.end, client.model.ask(ask, terms)).await;
        let answer = answer.unwrap_or_else(|_| Err(too_late()));
        // A call may take as long as the review, so a timeout of the call means the limit of the
        // review.
        if matches!(&answer, Err(failure) if failure.kind == ModelFailureKind::TimedOut) {
            self.is_late.store(true, Ordering::Relaxed);
        }
        let answer = answer.map(ChatReply::without_secrets).map_err(without_secrets);
        let used = match &answer {
            Ok(reply) => client.used(reply),
            Err(failure) => used_by(failure),
        };
        self.end(bill.last(), used, started.elapsed());
        self.record_transcript(label, ask, &answer);
        let reply = answer?;
        self.state().note_model(&reply.model, &client.name);
        complete(reply, ask.max_output_tokens)
    }

    /// Reserves a tool call; the error names the limit.
    pub(super) fn reserve_tool(&self, tool: &str) -> Result<(), LimitReached> {
        let mut state = self.state();
        let reservation = state.tracker.reserve(Charge::Tool)?;
        state.tracker.settle(reservation, CallUsage::NOTHING);
        drop(state);
        (self.events)(ReviewEvent::ToolCalled { tool: tool.to_owned() });
        self.report_spending();
        Ok(())
    }

    /// Reserves a call. While other calls are in progress, waits for the part of their reservations
    /// that they do not use.
    pub(super) async fn reserve(
        &self,
        charge: Charge,
        is_retry: bool,
    ) -> Result<Reservation, StopReason> {
        loop {
            let settled = self.settled.notified();
            if Instant::now() >= self.limit.end {
                return Err(self.timed_out());
            }
            {
                let mut state = self.state();
                let reserved = match is_retry {
                    true => state.tracker.reserve_retry(charge),
                    false => state.tracker.reserve(charge),
                };
                match reserved {
                    Ok(reservation) => return Ok(reservation),
                    Err(LimitReached::Tokens(_) | LimitReached::Cost(_))
                        if state.tracker.has_open() => {}
                    Err(spent) => return Err(spent.into()),
                }
            }
            if timeout_at(self.limit.end, settled).await.is_err() {
                return Err(self.timed_out());
            }
        }
    }

    /// Settles a request.
    pub(super) fn settle(&self, reservation: Reservation, used: CallUsage) {
        self.state().tracker.settle(reservation, used);
        self.settled.notify_waiters();
    }

    /// Ends a call: settles its last request, unless that is settled, and reports the spending.
    fn end(&self, last: Option<Reservation>, used: CallUsage, waited: Duration) {
        if let Some(last) = last {
            self.settle(last, used);
        }
        self.state().waited += waited;
        self.warm.send_replace(true);
        self.report_spending();
    }

    /// Waits for the first answer, so that later calls find the prompt in the provider's cache.
    pub(super) async fn wait_for_first_call(&self) {
        let mut warm = self.warm.subscribe();
        // The sender lives as long as this account: only the deadline ends it early.
        drop(timeout_at(self.limit.end, warm.wait_for(|warm| *warm)).await);
    }

    /// Lets calls proceed that wait for the first answer, because there will be no first call.
    pub(super) fn mark_warm(&self) {
        self.warm.send_replace(true);
    }

    pub(super) fn note_parse_method(&self, method: ParseMethod) {
        *self.state().parse_methods.entry(method).or_default() += 1;
    }

    pub(super) fn emit(&self, event: ReviewEvent) {
        (self.events)(event);
    }

    pub(super) fn left(&self) -> Duration {
        self.limit.end.saturating_duration_since(Instant::now())
    }

    pub(super) fn deadline(&self) -> Instant {
        self.limit.end
    }

    fn timed_out(&self) -> StopReason {
        self.is_late.store(true, Ordering::Relaxed);
        StopReason::TimedOut
    }

    /// The name of the time limit, if it was reached.
    pub(super) fn reached_time_limit(&self) -> Option<&str> {
        self.is_late.load(Ordering::Relaxed).then_some(self.limit.name.as_str())
    }

    pub(super) fn calls_left(&self) -> u32 {
        self.state().tracker.calls_left()
    }

    pub(super) fn tools_left(&self) -> u32 {
        self.state().tracker.tools_left()
    }

    /// The models that answered, in the order in which they first did.
    pub(super) fn models(&self) -> String {
        self.state().models.join(", ")
    }

    /// The usage beyond a limit: a provider may report more than the reserved worst case.
    pub(super) fn overrun(&self) -> Option<String> {
        let state = self.state();
        let (tracker, limits) = (&state.tracker, state.tracker.limits());
        if tracker.tokens() > limits.max_tokens {
            let (used, max) = (tracker.tokens(), limits.max_tokens);
            return Some(format!("the provider reports {used} tokens, over the budget of {max}"));
        }
        (tracker.cost() > limits.max_cost).then(|| {
            let (used, max) = (tracker.cost(), limits.max_cost);
            format!("the reported usage costs {used}, over the budget of {max}")
        })
    }

    /// Reports the spending so far.
    pub(super) fn report_spending(&self) {
        let state = self.state();
        let event = ReviewEvent::Spent {
            llm_calls: state.tracker.llm_calls(),
            tool_calls: state.tracker.tool_calls(),
            tokens: state.tracker.tokens(),
            cost_usd: state.tracker.cost().as_f64(),
            seconds_left: self.left().as_secs(),
        };
        drop(state);
        (self.events)(event);
    }

    pub(super) fn usage(&self) -> Usage {
        let state = self.state();
        let tracker = &state.tracker;
        Usage {
            llm_calls: u64::from(tracker.llm_calls()),
            tool_calls: u64::from(tracker.tool_calls()),
            tokens_used: tracker.known_tokens(),
            cache_read_tokens: tracker.known_cache_read(),
            cost_usd: tracker.known_cost().map(|cost| cost.as_f64()),
            latency_seconds_llm: state.waited.as_secs_f64(),
            answers_read: state.parse_methods.clone(),
        }
    }

    fn record_transcript(
        &self,
        label: &str,
        ask: &ChatRequest,
        answer: &Result<ChatReply, ModelFailure>,
    ) {
        let Some(transcript) = &self.transcript else { return };
        let prompt = serde_json::to_string_pretty(ask).unwrap_or_default();
        let said = match answer {
            Ok(reply) => serde_json::to_string_pretty(reply).unwrap_or_default(),
            Err(failure) => failure.to_string(),
        };
        tracing::debug!(label, prompt = %secrets::redact(&prompt), "prompt");
        tracing::debug!(label, answer = %secrets::redact(&said), "answer");
        let mut kept = transcript.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.len() / 2 + 1;
        let name = label.replace(' ', "-");
        for (kind, text) in [("prompt", prompt), ("answer", said)] {
            let text = secrets::redact(&text).into_owned();
            kept.push((format!("debug-{number:02}-{name}-{kind}.json"), text));
        }
    }

    fn state(&self) -> MutexGuard<'_, AccountState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AccountState {
    fn note_model(&mut self, answered: &str, asked: &str) {
        let name = if answered.is_empty() { asked } else { answered };
        if !self.models.iter().any(|known| known == name) {
            self.models.push(name.to_owned());
        }
    }
}

/// Returns a complete answer; anything else is an error.
fn complete(reply: ChatReply, max_output_tokens: u32) -> Result<ChatReply, StopReason> {
    match &reply.stop {
        FinishReason::Refused(why) => Err(StopReason::Refused(why.clone())),
        FinishReason::Filtered(why) => Err(StopReason::Filtered(why.clone())),
        FinishReason::MaxTokens => Err(StopReason::Cut(max_output_tokens)),
        FinishReason::Complete | FinishReason::Tools if reply.tokens.output == Some(0) => {
            Err(StopReason::Silent)
        }
        FinishReason::Complete | FinishReason::Tools => Ok(reply),
    }
}

fn without_secrets(failure: ModelFailure) -> ModelFailure {
    ModelFailure { what: secrets::redact(&failure.what).into_owned(), ..failure }
}

fn too_late() -> ModelFailure {
    let kind = ModelFailureKind::TimedOut;
    let what = "no answer in time".to_owned();
    ModelFailure { kind, what, attempts: 1, billed: BillingStatus::Perhaps }
}

/// The usage of a failed request: nothing if it was rejected, otherwise unknown.
pub(super) fn used_by(failure: &ModelFailure) -> CallUsage {
    match failure.billed {
        BillingStatus::No => CallUsage::NOTHING,
        BillingStatus::Perhaps => CallUsage::default(),
    }
}

/// Reserves and settles the requests of one call. A retry uses no call of the review.
pub(super) struct CallMeter<'a> {
    account: &'a Account,
    charge: Charge,
    last: Mutex<Option<Reservation>>,
}

impl<'a> CallMeter<'a> {
    /// Reserves the first request.
    pub(super) async fn open(account: &'a Account, charge: Charge) -> Result<Self, StopReason> {
        let first = account.reserve(charge, false).await?;
        Ok(Self { account, charge, last: Mutex::new(Some(first)) })
    }

    /// The request that is not settled yet.
    pub(super) fn last(&self) -> Option<Reservation> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    async fn another(&self, failed: &ModelFailure) -> Result<(), StopReason> {
        if let Some(last) = self.last() {
            self.account.settle(last, used_by(failed));
        }
        let next = self.account.reserve(self.charge, true).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(())
    }
}

impl RequestMeter for CallMeter<'_> {
    fn again<'b>(&'b self, last: &'b ModelFailure) -> BoxFuture<'b, Result<(), String>> {
        Box::pin(async move { self.another(last).await.map_err(|stopped| stopped.to_string()) })
    }
}
