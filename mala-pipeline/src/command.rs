//! The reviewer `command`: sends the prompt to a command of the user, and lets a parser structure
//! its answer. `mala_domain::command` validates the answer.

mod ask;

use crate::agent::{Agent, Transcript};
use ask::{CommandQuestion, ask_command};
use mala_domain::agent::answer::RawAnswer;
use mala_domain::agent::brief::{BriefMaterial, BriefStyle, BriefWidth, PromptBriefs, briefs};
use mala_domain::agent::fence::{Fence, Nonce};
use mala_domain::command::{
    self, CommandPrompt, NAME, ProofToken, StructuredReview, TaskAnswer, TaskPrompt,
    command_opinion, parse_prompt, read_proof, read_structured_review, review_prompt, task_opinion,
    task_prompt, without_echo,
};
use mala_domain::config::CommandPromptSettings;
use mala_domain::gate::lane::Lane;
use mala_domain::ports::{BoxFuture, LaneRunner, Reviewer, ReviewerFailure};
use mala_domain::review::{Opinion, ReviewContext, Usage};
use mala_domain::task::context::TaskContext;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Maximum size of the shown change. The command can read the rest itself.
const MAX_BYTES: usize = 300_000;

/// How much time is kept for the parser, at most.
const PARSER_TIME: Duration = Duration::from_secs(60);

/// The settings of the reviewer.
pub struct CommandSettings {
    /// The command.
    pub lane: Lane,
    /// The parser of its answer.
    pub parser: ReviewParser,
    /// Runs commands in a copy of the tree, away from the user's files.
    pub runner: Arc<dyn LaneRunner>,
    /// The commit that the copy is at.
    pub head: String,
    /// A random secret for the proof token.
    pub secret: String,
    /// The content of its prompt, unless it reviews a task.
    pub context: CommandPromptSettings,
    /// The task that it reviews.
    pub task: Option<TaskReviewing>,
    /// The transcript, if one is kept.
    pub transcript: Option<Transcript>,
}

/// The task that a command reviews.
#[derive(Clone)]
pub struct TaskReviewing {
    /// The context for the command; set before the review starts.
    pub context: Arc<OnceLock<TaskContext>>,
    /// The text of the user's slash command.
    pub instructions: Option<String>,
    /// The instructions of a parser that is a slash command, before its prompt.
    pub parser_instructions: Option<String>,
    /// The answer of the command, for the task.
    pub answer: Arc<Mutex<Option<TaskAnswer>>>,
    /// The output of the command, even if it failed.
    pub printed: Arc<Mutex<String>>,
}

/// The parser of an answer.
pub enum ReviewParser {
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

    async fn opinion(&self, context: &ReviewContext) -> Result<Opinion, ReviewerFailure> {
        let deadline = Instant::now() + context.timeout;
        let for_parser = PARSER_TIME.min(context.timeout / 4);
        let (fence, token, prompt) = self.build_prompt(context);
        let is_review = |text: &str| read_proof(text, &token).is_ok();
        let question = CommandQuestion { name: "review", prompt: &prompt, is_answer: &is_review };
        let time = context.timeout.saturating_sub(for_parser);
        let said = self.ask(&self.settings.lane, question, time).await?;
        if let Some(task) = &self.settings.task {
            task.printed.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&said);
        }
        let answer = without_echo(&said, &prompt);
        if answer.trim().is_empty() {
            let why = "it only repeats the prompt";
            return Err(ReviewerFailure::Unreadable(why.to_owned()));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let context = ReviewContext { timeout: left, ..context.clone() };
        let (parsed, parsing) = self.parse(&context, &answer, &fence).await?;
        let proof = read_proof(&said, &token);
        let mut opinion = match &self.settings.task {
            None => command_opinion(&answer, proof, parsed, &context.change)?,
            Some(task) => {
                let (opinion, answer) = task_opinion(&answer, proof, parsed, &context.change)?;
                *task.answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
                opinion
            }
        };
        if let Some((model, usage)) = parsing {
            opinion.warnings.push(spent(&model, &usage));
            opinion.model = Some(model);
            // The usage of the command itself is unknown, so the total is unknown too.
            opinion.usage.llm_calls += usage.llm_calls;
            opinion.usage.latency_seconds_llm += usage.latency_seconds_llm;
            opinion.usage.answers_read.extend(usage.answers_read);
        }
        Ok(opinion)
    }

    /// The prompt for the command, and the token that its answer must contain.
    fn build_prompt(&self, context: &ReviewContext) -> (Fence, ProofToken, String) {
        let settings = &self.settings;
        let parts = [&settings.secret, &settings.head, &context.scope.diff_hash];
        let parts: Vec<&[u8]> = parts.into_iter().map(|part| part.as_bytes()).collect();
        let nonce = Nonce::over(&parts);
        let (fence, token) = (Fence::new(nonce.clone()), ProofToken::new(nonce, &settings.head));
        if let Some(task) = &settings.task {
            let own = task.context.get().cloned().unwrap_or_default();
            let prompt = TaskPrompt {
                change: &context.change,
                context: &own,
                instructions: task.instructions.as_deref(),
                fence: &fence,
                token: &token,
            };
            let text = task_prompt(&prompt);
            return (fence, token, text);
        }
        let shown = settings.context.include_git_diff.then(|| shown(context, &fence));
        let tasks = match settings.context.include_task_definition {
            true => &context.tasks[..],
            false => &[],
        };
        let prompt = CommandPrompt {
            change: &context.change,
            briefs: shown.as_ref(),
            tasks,
            fence: &fence,
            token: &token,
        };
        let text = review_prompt(&prompt);
        (fence, token, text)
    }

    /// The structured review, and the usage.
    async fn parse(
        &self,
        context: &ReviewContext,
        review: &str,
        fence: &Fence,
    ) -> Result<(StructuredReview, Option<(String, Usage)>), ReviewerFailure> {
        match &self.settings.parser {
            ReviewParser::Model(agent) => {
                let review = agent.parse(context, review, fence).await;
                Ok((review.parsed?, Some((review.model, review.usage))))
            }
            ReviewParser::Command(lane) => {
                let prompt = parse_prompt(review, fence);
                let task = self.settings.task.as_ref();
                let prompt = match task.and_then(|task| task.parser_instructions.as_ref()) {
                    Some(instructions) => format!("{instructions}\n\n{prompt}"),
                    None => prompt,
                };
                let read = |text: &str| {
                    let nonce = fence.nonce();
                    read_structured_review(&RawAnswer { text, form_enforced: false, nonce })
                };
                let is_answer = |text: &str| read(text).is_ok();
                let question =
                    CommandQuestion { name: "parse", prompt: &prompt, is_answer: &is_answer };
                let said = self.ask(lane, question, context.timeout).await?;
                let (parsed, _) = read(&said)
                    .map_err(|problem| ReviewerFailure::Unreadable(format!("parser: {problem}")))?;
                Ok((parsed, None))
            }
        }
    }

    async fn ask(
        &self,
        lane: &Lane,
        question: CommandQuestion<'_>,
        time: Duration,
    ) -> Result<String, ReviewerFailure> {
        let name = question.name;
        let prompt = question.prompt.to_owned();
        let said = ask_command(self.settings.runner.as_ref(), lane, question, time).await;
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

/// The change as the command sees it.
fn shown(context: &ReviewContext, fence: &Fence) -> PromptBriefs {
    let style =
        BriefStyle { fence, width: BriefWidth::STANDARD, max_bytes: MAX_BYTES, max_briefs: 1 };
    briefs(&BriefMaterial { tasks: &[], ..BriefMaterial::of(context) }, &style)
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
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(self.opinion(context))
    }
}
