//! Builds the prompts before the first call: the change and its surroundings, the commit messages, and
//! the built-in findings as hints.

use super::AgentSettings;
use super::messages;
use super::model_client::ModelClient;
use super::tools::catalogue;
use mala_domain::agent::answer::review_format;
use mala_domain::agent::brief::{
    BriefMaterial, BriefStyle, BriefWidth, PromptBriefs, brief_of_files, briefs,
};
use mala_domain::agent::budget::Limits;
use mala_domain::agent::fence::{Fence, Nonce};
use mala_domain::agent::prompts;
use mala_domain::change::{Change, FileClass, FilePath};
use mala_domain::conversation::{ChatRequest, ChatTurn, ToolChoice};
use mala_domain::finding::ReviewClaim;
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::{ReviewContext, SkipReason};
use mala_domain::scope::{HeadState, ScopeSummary};

/// The prompts of a review, and warnings about text that they leave out.
pub(super) struct PreparedPrompts {
    pub(super) fence: Fence,
    pub(super) briefs: PromptBriefs,
    pub(super) hints: Vec<ReviewClaim>,
    /// The purpose of the change, as in the prompt.
    tasks: Vec<(String, String)>,
    max_bytes: usize,
    width: BriefWidth,
    warnings: Vec<String>,
}

/// The minimum size of a brief; with a smaller budget, the call itself is refused.
const MIN_BYTES: usize = 4_000;

/// The most names in one warning.
const MAX_NAMED: usize = 10;

pub(super) async fn prepare(
    settings: &AgentSettings,
    context: &ReviewContext,
) -> Result<PreparedPrompts, ReviewerFailure> {
    let ((hints, mut warnings), messages) =
        tokio::join!(hints(settings, context), messages::of_change(context.tree.as_ref()));
    let mut tasks = context.tasks.to_vec();
    match messages {
        Ok(text) => tasks.extend(text.map(|text| (messages::NAME.to_owned(), text))),
        Err(error) => warnings.push(format!("the commit messages cannot be read: {error}")),
    }
    warnings.extend(unread(&context.change));
    let surroundings = &context.surroundings;
    let fence = Fence::new(nonce(settings, &context.scope, &tasks, &surroundings.rules));
    let max_bytes = room(&settings.client, &settings.limits);
    let width = BriefWidth::STANDARD;
    let max_briefs = usize::try_from(settings.limits.max_briefs).unwrap_or(1);
    let style = BriefStyle { fence: &fence, width, max_bytes, max_briefs };
    let material = BriefMaterial { tasks: &tasks, hints: &hints, ..BriefMaterial::of(context) };
    let briefs = briefs(&material, &style);
    Ok(PreparedPrompts { briefs, fence, hints, tasks, max_bytes, width, warnings })
}

impl PreparedPrompts {
    /// A brief of only these files and the purpose of the change.
    pub(super) fn brief_of(&self, context: &ReviewContext, files: &[&FilePath]) -> String {
        let style = BriefStyle {
            fence: &self.fence,
            width: self.width,
            max_bytes: self.max_bytes,
            max_briefs: 1,
        };
        brief_of_files(context, &self.tasks, files, &style)
    }

    /// Warnings about text that the prompts leave out, except hunks that tools have shown.
    pub(super) fn warnings(&self, read: &[(FilePath, Vec<usize>)]) -> Vec<String> {
        let left_out = self.briefs.left_out.iter().filter_map(|left| {
            let file = &left.file;
            let own = read.iter().find(|(read, _)| read == file);
            let n = left.hunks.len() - own.map_or(0, |(_, hunks)| hunks.len());
            let hunks = if n == 1 { "hunk" } else { "hunks" };
            let words = format!("{file}: {n} {hunks} left out: over the prompt's budget");
            (n > 0).then_some(words)
        });
        let cut = self.briefs.warnings.iter().chain(&self.briefs.hidden).cloned();
        self.warnings.iter().cloned().chain(cut).chain(left_out).collect()
    }
}

/// A warning for each kind of file that is not reviewed.
fn unread(change: &Change) -> Vec<String> {
    [FileClass::Binary, FileClass::Garbled, FileClass::Generated]
        .into_iter()
        .filter_map(|class| {
            let files = change.files.iter().filter(|file| file.class == class);
            let names: Vec<String> = files.map(|file| file.path.to_string()).collect();
            let why = SkipReason::of_class(class)?.name();
            let shown = names.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = match names.len().saturating_sub(MAX_NAMED) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            (!names.is_empty()).then(|| format!("not reviewed: {why}: {shown}{more}"))
        })
        .collect()
}

/// The built-in findings, and problems of finding them.
async fn hints(
    settings: &AgentSettings,
    context: &ReviewContext,
) -> (Vec<ReviewClaim>, Vec<String>) {
    let Some(reviewer) = &settings.hints else { return (Vec::new(), Vec::new()) };
    match reviewer.review(&context.whole()).await {
        Ok(opinion) => (opinion.claims, opinion.warnings),
        Err(failure) => (Vec::new(), vec![format!("{}: {failure}", reviewer.name())]),
    }
}

/// A nonce derived from everything that is reviewed, so that no reviewed text can contain it.
fn nonce(
    settings: &AgentSettings,
    scope: &ScopeSummary,
    tasks: &[(String, String)],
    rules: &[(FilePath, String)],
) -> Nonce {
    let head = match &scope.head {
        HeadState::Commit(sha) => sha.as_str(),
        HeadState::Index => "index",
        HeadState::WorkingTree => "working tree",
        HeadState::Patch => "patch",
    };
    let base = scope.base.as_deref().unwrap_or_default();
    let own = [base, head, &scope.diff_hash, &scope.target, &settings.client.name];
    let tasks = tasks.iter().flat_map(|(name, text)| [name.as_bytes(), text.as_bytes()]);
    let rules = rules.iter().flat_map(|(file, text)| [file.as_bytes(), text.as_bytes()]);
    let parts: Vec<&[u8]> = own.into_iter().map(str::as_bytes).chain(tasks).chain(rules).collect();
    Nonce::over(&parts)
}

/// The size of a brief that the model and the budget allow, with room for a second call.
fn room(client: &ModelClient, limits: &Limits) -> usize {
    let answer = u64::from(client.answer_tokens(limits.max_answer_tokens));
    let wanted = limits.max_prompt_tokens.saturating_mul(3);
    let fixed = fixed_bytes();
    let fits = |bytes: u64| {
        let input = bytes.saturating_add(fixed);
        let within_context = client.context().is_none_or(|context| input / 3 + answer <= context);
        let within_tokens =
            (input + answer).saturating_mul(3) <= limits.max_tokens.saturating_mul(2);
        let within_cost = client
            .worst_cost(input, answer)
            .is_none_or(|cost| cost.as_f64() * 3.0 <= limits.max_cost.as_f64() * 2.0);
        within_context && within_tokens && within_cost
    };
    let mut bytes = wanted;
    while !fits(bytes) && bytes > MIN_BYTES as u64 {
        bytes = bytes * 9 / 10;
    }
    usize::try_from(bytes).unwrap_or(usize::MAX).max(MIN_BYTES)
}

/// The size of the text that is sent with every brief.
fn fixed_bytes() -> u64 {
    let ask = ChatRequest {
        model: String::new(),
        system: prompts::SYSTEM.to_owned(),
        tools: catalogue(),
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(Vec::new())],
        form: review_format(1),
        max_output_tokens: 0,
    };
    super::model_client::n_bytes(&ask).saturating_add(2_000)
}
