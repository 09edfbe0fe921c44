//! The reviewer `command`: what the command is told, what it answers, and what a parser makes of that.
//! What counts is decided in `mala_domain::command`.

mod ask;

use crate::agent::{Agent, Transcript, prepare};
use crate::review::context::look_around;
use ask::{Question, words};
use mala_domain::agent::answer::Words;
use mala_domain::agent::brief::{Briefs, Material, Style, Width, briefs};
use mala_domain::agent::fence::{Fence, Nonce};
use mala_domain::command::{
    self, NAME, Parsed, Telling, Token, contribution, parse_prompt, read_parsed, read_proof,
    review_prompt, without_echo,
};
use mala_domain::config::ReviewContext;
use mala_domain::finding::{Candidate, Priority, Verification};
use mala_domain::gate::lane::Lane;
use mala_domain::ports::{BoxFuture, LaneRunner, Reviewer, ReviewerFailure, Scoped};
use mala_domain::review::{Hearing, ReviewRequest, Usage};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How much of a change the command is shown. It looks at the rest by itself.
const MAX_BYTES: usize = 300_000;

/// How much time is kept for the parser, at most.
const PARSER_TIME: Duration = Duration::from_secs(60);

/// How a command reviews.
pub struct CommandSettings {
    /// The command.
    pub lane: Lane,
    /// Who brings its answer into form.
    pub parser: Parser,
    /// Who runs commands: away from the user's files, in a copy of the tree.
    pub runner: Arc<dyn LaneRunner>,
    /// The commit that the copy is at.
    pub head: String,
    /// What nobody guesses.
    pub secret: String,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
    /// What it is told.
    pub context: ReviewContext,
    /// Where prompts and answers are kept, if they are.
    pub transcript: Option<Transcript>,
}

/// Who brings an answer into form.
pub enum Parser {
    /// A second command.
    Command(Box<Lane>),
    /// The agent's model.
    Model(Arc<Agent>),
}

/// A command of the user.
pub struct CommandReview {
    settings: CommandSettings,
}

impl CommandReview {
    /// A command with these settings.
    pub fn new(settings: CommandSettings) -> Self {
        Self { settings }
    }

    async fn hear(&self, request: &ReviewRequest) -> Result<Hearing, ReviewerFailure> {
        let deadline = Instant::now() + request.timeout;
        let for_parser = PARSER_TIME.min(request.timeout / 4);
        let (fence, token, told) = self.told(request).await?;
        let is_review = |text: &str| read_proof(text, &token).is_ok();
        let question = Question { name: "review", prompt: &told, is_answer: &is_review };
        let time = request.timeout.saturating_sub(for_parser);
        let said = self.ask(&self.settings.lane, question, time).await?;
        let answer = without_echo(&said, &told);
        if answer.trim().is_empty() {
            let why = "it repeats what it was told and says nothing";
            return Err(ReviewerFailure::Unreadable(why.to_owned()));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let request = ReviewRequest { timeout: left, ..request.clone() };
        let (parsed, parsing) = self.parse(&request, &answer, &fence).await?;
        let proof = read_proof(&said, &token);
        let mut hearing = contribution(&answer, proof, parsed, &request.change)?;
        let checking = self.check(&request, &mut hearing).await;
        for (model, usage) in parsing.into_iter().chain(checking) {
            hearing.warnings.push(spent(&model, &usage));
            hearing.model = Some(model);
            // What the command itself used is unknown, and with it the sum.
            hearing.usage.llm_calls += usage.llm_calls;
            hearing.usage.latency_seconds_llm += usage.latency_seconds_llm;
            hearing.usage.answers_read.extend(usage.answers_read);
        }
        Ok(hearing)
    }

    /// What the command is told, and what it is to give back.
    async fn told(
        &self,
        request: &ReviewRequest,
    ) -> Result<(Fence, Token, String), ReviewerFailure> {
        let settings = &self.settings;
        let scoped = Scoped {
            scope: request.scope.clone(),
            change: request.change.clone(),
            tree: request.tree.clone(),
        };
        let around = look_around(&scoped).await;
        let around = around.map_err(|error| ReviewerFailure::Crashed(error.to_string()))?;
        let parts = [&settings.secret, &settings.head, &request.scope.diff_hash];
        let parts: Vec<&[u8]> = parts.into_iter().map(|part| part.as_bytes()).collect();
        let nonce = Nonce::over(&parts);
        let (fence, token) = (Fence::new(nonce.clone()), Token::new(nonce, &settings.head));
        let shown = settings.context.include_git_diff.then(|| shown(request, &around, &fence));
        let tasks = match settings.context.include_task_definition {
            true => settings.tasks.as_slice(),
            false => &[],
        };
        let telling = Telling {
            change: &request.change,
            briefs: shown.as_ref(),
            tasks,
            fence: &fence,
            token: &token,
        };
        let told = review_prompt(&telling);
        Ok((fence, token, told))
    }

    /// The review in form, and what that took.
    async fn parse(
        &self,
        request: &ReviewRequest,
        review: &str,
        fence: &Fence,
    ) -> Result<(Parsed, Option<(String, Usage)>), ReviewerFailure> {
        match &self.settings.parser {
            Parser::Model(agent) => {
                let aside = agent.parse(request, review, fence).await;
                Ok((aside.outcome?, Some((aside.model, aside.usage))))
            }
            Parser::Command(lane) => {
                let prompt = parse_prompt(review, fence);
                let read = |text: &str| {
                    let nonce = fence.nonce();
                    read_parsed(&Words { text, form_enforced: false, nonce })
                };
                let is_answer = |text: &str| read(text).is_ok();
                let question = Question { name: "parse", prompt: &prompt, is_answer: &is_answer };
                let said = self.ask(lane, question, request.timeout).await?;
                let (parsed, _) = read(&said)
                    .map_err(|problem| ReviewerFailure::Unreadable(format!("parser: {problem}")))?;
                Ok((parsed, None))
            }
        }
    }

    /// Has what would block checked by a fresh context, where a model can be asked.
    async fn check(
        &self,
        request: &ReviewRequest,
        hearing: &mut Hearing,
    ) -> Option<(String, Usage)> {
        let Parser::Model(agent) = &self.settings.parser else { return None };
        let urgent = |priority: Option<Priority>| priority.is_some_and(|it| it <= Priority::P1);
        let (picked, mut rest): (Vec<_>, Vec<_>) =
            hearing.candidates.drain(..).partition(|claim| urgent(claim.priority));
        if picked.is_empty() {
            hearing.candidates = rest;
            return None;
        }
        let (mut checked, used) = match agent.check(request, picked.clone()).await {
            Ok(checked) => (checked.outcome, Some((checked.model, checked.usage))),
            Err(failure) => (unchecked(picked, &failure), None),
        };
        checked.append(&mut rest);
        hearing.candidates = checked;
        used
    }

    async fn ask(
        &self,
        lane: &Lane,
        question: Question<'_>,
        time: Duration,
    ) -> Result<String, ReviewerFailure> {
        let name = question.name;
        let prompt = question.prompt.to_owned();
        let said = words(self.settings.runner.as_ref(), lane, question, time).await;
        if let Some(transcript) = &self.settings.transcript {
            let mut kept = transcript.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = said.as_ref().map_or_else(ToString::to_string, Clone::clone);
            for (kind, text) in [("prompt", prompt), ("answer", answer)] {
                let text = mala_domain::secrets::redact(&text).into_owned();
                kept.push((format!("debug-command-{name}-{kind}.txt"), text));
            }
        }
        said
    }
}

fn unchecked(mut claims: Vec<Candidate>, why: &ReviewerFailure) -> Vec<Candidate> {
    for claim in &mut claims {
        claim.verification = Verification::unverified(format!("not checked: {why}"));
    }
    claims
}

/// The change as the command sees it.
fn shown(
    request: &ReviewRequest,
    around: &crate::review::context::Surroundings,
    fence: &Fence,
) -> Briefs {
    let enclosing = prepare::enclosing(&request.change, &request.texts);
    let references = prepare::references(around);
    let material = Material {
        change: &request.change,
        texts: &request.texts,
        enclosing: &enclosing,
        target: &request.scope.target,
        tasks: &[],
        rules: &around.rules,
        references: &references,
        hints: &[],
    };
    let style = Style { fence, width: Width::STANDARD, max_bytes: MAX_BYTES, max_briefs: 1 };
    briefs(&material, &style)
}

fn spent(model: &str, usage: &Usage) -> String {
    let tokens = usage.tokens_used.map_or("unknown".to_owned(), |tokens| tokens.to_string());
    let cost = usage.cost_usd.map_or("unknown".to_owned(), |cost| format!("${cost:.4}"));
    format!("{NAME}: {model} was asked {} times: {tokens} tokens, {cost}", usage.llm_calls)
}

impl Reviewer for CommandReview {
    fn name(&self) -> &str {
        command::NAME
    }

    fn review<'a>(
        &'a self,
        request: &'a ReviewRequest,
    ) -> BoxFuture<'a, Result<Hearing, ReviewerFailure>> {
        Box::pin(self.hear(request))
    }
}
