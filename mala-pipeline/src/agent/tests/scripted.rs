//! A model that says what a test wants, a tree in memory, and one review over both.

use crate::agent::{Agent, AgentChecks, AgentSettings, ModelClient};
use crate::events::ReviewEvent;
use crate::review::{ReviewPorts, Verifiers, review as review_change};
use mala_domain::agent::budget::{Limits, Profile, UnknownPricePolicy};
use mala_domain::change::{Change, FilePath, parse};
use mala_domain::config::PathGlobs;
use mala_domain::conversation::{
    AssistantTurn, ChatReply, ChatRequest, ChatTurn, FinishReason, TokenCounts, ToolCall, TurnPart,
};
use mala_domain::models::ModelCatalogue;
use mala_domain::ports::{
    Blob, BoxFuture, CallTerms, LanguageModel, ModelFailure, Repository, RepositoryError,
    ReviewScope, Reviewer, ReviewerFailure, Side, WordHit, WordQuery,
};
use mala_domain::report::Report;
use mala_domain::review::consensus::ConsensusRule;
use mala_domain::review::decide::DecisionPolicy;
use mala_domain::review::suppress::SuppressionPolicy;
use mala_domain::review::{Opinion, ReviewContext, ReviewPlan, Usage};
use mala_domain::scope::{HeadState, ScopeSummary};
use mala_domain::verdict::Threshold;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const HEAD: &str =
    "import os\n\ndef half(n):\n    return 1 / n\n\ndef other():\n    return half(0)\n";
pub(super) const DIFF: &str = "diff --git a/app.py b/app.py\n--- a/app.py\n+++ b/app.py\n@@ -1,7 +1,7 @@\n import os\n \n def half(n):\n-    return n and 1 / n\n+    return 1 / n\n \n def other():\n     return half(0)\n";

pub(super) type Answered = Result<ChatReply, ModelFailure>;
type Script = dyn Fn(usize, &ChatRequest) -> Answered + Send + Sync;

/// A model that answers by a script and keeps all that it was told.
pub(super) struct Scripted {
    script: Box<Script>,
    pub(super) asks: Mutex<Vec<ChatRequest>>,
    pub(super) delay: Duration,
    /// What comes of the first requests of every call.
    failing: Vec<ModelFailure>,
}

impl Scripted {
    pub(super) fn new(
        script: impl Fn(usize, &ChatRequest) -> Answered + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Box::new(script),
            asks: Mutex::default(),
            delay: Duration::ZERO,
            failing: Vec::new(),
        }
    }

    /// Takes these steps in order; the last one goes on for ever.
    pub(super) fn steps(steps: Vec<Answered>) -> Self {
        Self::new(move |number, _| steps.get(number).or(steps.last()).unwrap().clone())
    }

    /// The same, after these failures that may pass.
    pub(super) fn failing(self, failing: Vec<ModelFailure>) -> Self {
        Self { failing, ..self }
    }

    pub(super) fn slow(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }
}

impl LanguageModel for Scripted {
    fn ask<'a>(&'a self, ask: &'a ChatRequest, terms: CallTerms<'a>) -> BoxFuture<'a, Answered> {
        Box::pin(async move {
            let number = {
                let mut asks = self.asks.lock().unwrap();
                asks.push(ask.clone());
                asks.len() - 1
            };
            tokio::time::sleep(self.delay).await;
            for failed in &self.failing {
                if let Err(why) = terms.meter.again(failed).await {
                    let what = format!("{}; not retried: {why}", failed.what);
                    return Err(ModelFailure { what, ..failed.clone() });
                }
            }
            (self.script)(number, ask)
        })
    }
}

pub(super) fn says(text: impl Into<String>) -> Answered {
    Ok(ChatReply {
        said: AssistantTurn { text: text.into(), calls: Vec::new(), verbatim: Value::Null },
        stop: FinishReason::Complete,
        tokens: TokenCounts {
            input: Some(1_000),
            output: Some(100),
            cache_read: Some(0),
            cache_write: Some(0),
        },
        model: "claude-sonnet-5-5".to_owned(),
        form_enforced: false,
        attempts: 1,
    })
}

pub(super) fn calls(tools: &[(&str, Value)]) -> Answered {
    let mut reply = says("")?;
    reply.stop = FinishReason::Tools;
    reply.said.calls = tools
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| ToolCall {
            id: format!("call-{index}"),
            name: (*name).to_owned(),
            arguments: arguments.to_string(),
        })
        .collect();
    Ok(reply)
}

pub(super) fn ends(stop: FinishReason, text: &str) -> Answered {
    Ok(ChatReply { stop, ..says(text)? })
}

pub(super) const PASS: &str = r#"{"verdict": "PASS", "findings": []}"#;

/// A finding at line 4 of `app.py`, in the full form.
pub(super) fn finding(priority: u8, confidence: f64) -> Value {
    json!({
        "file_path": "app.py", "line_start": 4, "line_end": 4, "priority": priority,
        "title": format!("[P{priority}] Division by zero"), "body": "n may be 0",
        "category": "bug", "when": "n is 0", "then": "it raises",
        "evidence": "    return 1 / n", "suggestion": "", "confidence": confidence,
    })
}

pub(super) fn review(findings: &[Value]) -> Answered {
    let urgent = findings.iter().any(|finding| finding["priority"].as_u64() <= Some(1));
    let verdict = match (findings.is_empty(), urgent) {
        (true, _) => "PASS",
        (_, true) => "FAIL",
        _ => "NEEDS_WORK",
    };
    says(json!({"verdict": verdict, "findings": findings}).to_string())
}

pub(super) fn checks(outcomes: &[(&str, &str)]) -> Answered {
    let checks: Vec<Value> = outcomes
        .iter()
        .map(|(id, outcome)| json!({"id": id, "outcome": outcome, "why": "a reason"}))
        .collect();
    says(json!({"checks": checks}).to_string())
}

/// An edit of one finding, with what it is worth.
pub(super) fn worth(percent: u8) -> Answered {
    let edited = json!({"id": "c1", "same_as": "", "title": "edited c1", "worth": percent});
    says(json!({"findings": [edited]}).to_string())
}

/// An edit: the id, and the finding with the same cause.
pub(super) fn edit(findings: &[(&str, &str)]) -> Answered {
    let findings: Vec<Value> = findings
        .iter()
        .map(|(id, same_as)| {
            let (title, body) = (format!("edited {id}"), "When so, then so.");
            json!({"id": id, "same_as": same_as, "title": title, "body": body})
        })
        .collect();
    says(json!({"findings": findings}).to_string())
}

/// One review: the agent's draft, the report, the calls to the model and the events.
pub(super) struct Run {
    pub(super) opinion: Opinion,
    pub(super) report: Report,
    pub(super) usage: Usage,
    pub(super) model: Option<String>,
    pub(super) asks: Vec<ChatRequest>,
    pub(super) events: Vec<ReviewEvent>,
}

/// What a test changes of a review.
pub(super) struct Stage {
    pub(super) profile: Profile,
    pub(super) limits: Limits,
    pub(super) timeout: Duration,
    pub(super) files: BTreeMap<FilePath, String>,
    pub(super) diff: String,
    pub(super) tasks: Vec<(String, String)>,
    pub(super) model: &'static str,
    pub(super) escalation: Option<Arc<Scripted>>,
    pub(super) hints: Option<Arc<dyn Reviewer>>,
    pub(super) fail_on: Threshold,
}

impl Stage {
    pub(super) fn new(profile: Profile) -> Self {
        Self {
            profile,
            limits: profile.limits(),
            timeout: Duration::from_secs(600),
            files: BTreeMap::from([("app.py".into(), HEAD.to_owned())]),
            diff: DIFF.to_owned(),
            tasks: Vec::new(),
            model: "sonnet",
            escalation: None,
            hints: None,
            fail_on: Threshold::P1,
        }
    }

    pub(super) async fn run(&self, model: Scripted) -> Run {
        let model = Arc::new(model);
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = events.clone();
        let agent = Agent::new(AgentSettings {
            client: client(model.clone(), self.model),
            escalation: self.escalation.clone().map(|model| client(model, "opus")),
            profile: self.profile,
            limits: self.limits,
            hints: self.hints.clone(),
            claims_hints: true,
            linters: None,
            checks: AgentChecks::Own,
            events: Arc::new(move |event| sink.lock().unwrap().push(event)),
            transcript: None,
        });
        let agent = Arc::new(Listener { agent, opinion: Mutex::default() });
        let reviewers: Vec<Arc<dyn Reviewer>> = vec![agent.clone()];
        let verifiers = Verifiers { agent: Some(&agent.agent), ..Verifiers::default() };
        let ports = ReviewPorts { reviewers: &reviewers, verifiers, ..ReviewPorts::default() };
        let reviewed = review_change(&self.plan(), self.scope(), &ports, &|_| {}).await;
        let report = reviewed.unwrap().report;
        let opinion = agent.opinion.lock().unwrap().take().unwrap();
        let (asks, events) = (model.asks.lock().unwrap().clone(), events.lock().unwrap().clone());
        let (usage, model) = (report.reviewers[0].usage.clone(), report.reviewers[0].model.clone());
        Run { opinion, report, usage, model, asks, events }
    }

    fn plan(&self) -> ReviewPlan {
        ReviewPlan {
            ignore: PathGlobs::new::<&str>(&[]).unwrap(),
            generated: PathGlobs::new::<&str>(&[]).unwrap(),
            tasks: self.tasks.clone(),
            suppressions: SuppressionPolicy::Off,
            policy: DecisionPolicy {
                fail_on: self.fail_on,
                fail_on_objection: Threshold::P1,
                rule: ConsensusRule::Unanimous,
                panel: Vec::new(),
            },
            timeout: self.timeout,
            check_time: Duration::ZERO,
            reviewer_type: "agent_sdk".to_owned(),
            subject: None,
            prompt_version: String::new(),
            model: None,
            budget_profile: String::new(),
            preface: None,
            warnings: Vec::new(),
            rule_ids: Box::new(Vec::new),
        }
    }

    fn scope(&self) -> ReviewScope {
        let change = Change { files: parse(self.diff.as_bytes()).unwrap() };
        let scope = ScopeSummary {
            repository: None,
            target: "main..HEAD".to_owned(),
            base: Some("b".repeat(40)),
            head: HeadState::Commit("a".repeat(40)),
            diff_hash: "d".repeat(64),
            files: change.files.len(),
            hunks: change.n_hunks(),
            lines: change.n_lines(),
        };
        let changed = change.files.iter().map(|file| file.path.clone()).collect();
        let tree = MemoryTree { files: self.files.clone(), changed };
        ReviewScope { scope, change: Arc::new(change), tree: Arc::new(tree), trusted: None }
    }
}

/// An agent whose opinion is kept.
struct Listener {
    agent: Agent,
    opinion: Mutex<Option<Opinion>>,
}

impl Reviewer for Listener {
    fn name(&self) -> &str {
        Reviewer::name(&self.agent)
    }

    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(async {
            let opinion = self.agent.review(context).await;
            *self.opinion.lock().unwrap() = opinion.as_ref().ok().cloned();
            opinion
        })
    }
}

fn client(model: Arc<Scripted>, name: &str) -> ModelClient {
    let known = ModelCatalogue::built_in().find(name).cloned();
    let name = known.as_ref().map_or(name, |known| &known.name).to_owned();
    ModelClient { model, name, known }
}

/// Whatever it costs: for models without a price.
pub(super) fn unpriced(limits: Limits) -> Limits {
    Limits { unpriced: UnknownPricePolicy::Allow, ..limits }
}

/// All text that was sent in a call.
pub(super) fn sent(ask: &ChatRequest) -> String {
    let parts = ask.turns.iter().flat_map(|turn| match turn {
        ChatTurn::User(parts) => parts.clone(),
        ChatTurn::Model(said) => vec![TurnPart::Text(said.text.clone())],
    });
    let texts = parts.map(|part| match part {
        TurnPart::Text(text) | TurnPart::Repeated(text) => text,
        TurnPart::ToolResult(result) => result.text,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Files in memory; at base, those that change are not there.
struct MemoryTree {
    files: BTreeMap<FilePath, String>,
    changed: Vec<FilePath>,
}

impl Repository for MemoryTree {
    fn read<'a>(
        &'a self,
        side: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<Blob>, RepositoryError>> {
        let blob = move |path| match self.files.get(path) {
            Some(_) if side == Side::Base && self.changed.contains(path) => Blob::Missing,
            Some(text) => Blob::Text(text.clone()),
            None => Blob::Missing,
        };
        Box::pin(async move { Ok(paths.iter().map(blob).collect()) })
    }

    fn exist<'a>(
        &'a self,
        _: Side,
        paths: &'a [FilePath],
    ) -> BoxFuture<'a, Result<Vec<bool>, RepositoryError>> {
        Box::pin(
            async move { Ok(paths.iter().map(|path| self.files.contains_key(path)).collect()) },
        )
    }

    fn list<'a>(
        &'a self,
        _: Side,
        _: &'a FilePath,
    ) -> BoxFuture<'a, Result<Vec<FilePath>, RepositoryError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn find_words<'a>(
        &'a self,
        _: &'a WordQuery,
    ) -> BoxFuture<'a, Result<Vec<WordHit>, RepositoryError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
