//! Plans a review before the first call: the parts and looks, the calls of each, and the possible cost. A dry run
//! shows the plan.

use super::AgentSettings;
use super::prepare::{self, PreparedPrompts};
use super::tools::catalogue;
use mala_domain::agent::answer::review_format;
use mala_domain::agent::brief::{PromptBrief, estimated_tokens};
use mala_domain::agent::budget::{
    Charge, Dollars, LimitReached, Limits, Profile, UnknownPricePolicy,
};
use mala_domain::agent::prompts::{self, Look};
use mala_domain::change::FilePath;
use mala_domain::conversation::{ChatRequest, ChatTurn, ToolChoice, TurnPart};
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::ReviewContext;

/// The most calls of one look: tool results, then an answer.
const MAX_LOOK_CALLS: u32 = 10;

/// Up to this number of calls, the draft may use all of them.
const FEW_CALLS: u32 = 4;

/// The looks of a profile, in rounds. The looks of a round are made side by side, and those of later rounds
/// are told what the earlier ones report. With few calls, there is one look.
pub(super) fn rounds(profile: Profile, limits: &Limits) -> &'static [&'static [Look]] {
    match profile {
        _ if limits.max_llm_calls <= FEW_CALLS => &[&[Look::First]],
        Profile::Lean => &[&[Look::First]],
        Profile::Standard => &[&[Look::First, Look::Second]],
        Profile::Thorough => &[&[Look::First, Look::Second], &[Look::FollowUp]],
    }
}

/// The most calls of one look. A third of all calls is kept for the checks and the edit.
pub(super) fn calls_per_look(limits: &Limits, n_looks: usize) -> u32 {
    let n_looks = u32::try_from(n_looks).unwrap_or(u32::MAX).max(1);
    let all = limits.max_llm_calls;
    let kept = if all <= FEW_CALLS { 0 } else { all / 3 };
    ((all - kept) / n_looks).clamp(1, MAX_LOOK_CALLS)
}

/// The calls and the maximum cost of a review.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewForecast {
    /// The model.
    pub model: String,
    /// The stronger model.
    pub escalation: Option<String>,
    /// The name of the limits.
    pub profile: Profile,
    /// The limits.
    pub limits: Limits,
    /// The looks, by name.
    pub looks: Vec<&'static str>,
    /// The parts of the change.
    pub parts: Vec<ForecastPart>,
    /// Bytes that are sent with each of them: instructions, tools and the schema of the answer.
    pub instruction_bytes: usize,
    /// The tokens of the first prompts of all parts, roughly.
    pub prompt_tokens: u64,
    /// Hunks that would be sent, and those that there are.
    pub hunks: (usize, usize),
    /// Hints of the built-in checks.
    pub hints: usize,
    /// The reserved cost of all first calls together; `None` if the price is unknown.
    pub reserved: Option<Dollars>,
    /// Warnings about text that would be left out.
    pub warnings: Vec<String>,
}

/// A part of a change that is reviewed by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForecastPart {
    /// Its files, with the number of hunks that are shown of each.
    pub files: Vec<(FilePath, usize)>,
    /// The bytes of its first prompt.
    pub bytes: usize,
}

/// Looks ahead without asking any model.
pub(super) async fn forecast(
    settings: &AgentSettings,
    context: &ReviewContext,
) -> Result<ReviewForecast, ReviewerFailure> {
    let prepared = prepare::prepare(settings, context).await?;
    let looks = match prepared.briefs.briefs.is_empty() {
        true => Vec::new(),
        false => rounds(settings.profile, &settings.limits).concat(),
    };
    let asks = first_requests(settings, &prepared, &looks);
    let bytes = |ask: &ChatRequest| {
        usize::try_from(super::model_client::n_bytes(ask)).unwrap_or(usize::MAX)
    };
    let per_part = asks.iter().step_by(looks.len().max(1)).map(bytes);
    let parts: Vec<ForecastPart> = prepared.briefs.briefs.iter().zip(per_part).map(part).collect();
    let reserved = asks.iter().map(|ask| match settings.client.worst(ask) {
        Charge::Call { dollars, .. } => dollars,
        Charge::Tool => None,
    });
    let shown = prepared.briefs.briefs.iter().flat_map(|brief| &brief.shown);
    let sent = shown.map(|(_, hunks)| hunks.len()).sum();
    let reserved = reserved
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().fold(Dollars::ZERO, Dollars::plus));
    let mut warnings = prepared.warnings(&[]);
    if reserved.is_none() && settings.limits.unpriced == UnknownPricePolicy::Refuse {
        let refused = LimitReached::UnknownPrice(settings.limits.max_cost);
        warnings.push(format!("the review would be refused: {refused}"));
    }
    let left: usize = prepared.briefs.left_out.iter().map(|left| left.hunks.len()).sum();
    Ok(ReviewForecast {
        model: settings.client.name.clone(),
        escalation: settings.escalation.as_ref().map(|client| client.name.clone()),
        profile: settings.profile,
        limits: settings.limits,
        looks: looks.iter().map(|look| look.name()).collect(),
        instruction_bytes: match (parts.first(), prepared.briefs.briefs.first()) {
            (Some(part), Some(brief)) => part.bytes.saturating_sub(brief.text.len()),
            _ => 0,
        },
        prompt_tokens: estimated_tokens(parts.iter().map(|part| part.bytes).sum()),
        parts,
        hunks: (sent, sent + left),
        hints: prepared.hints.len(),
        reserved,
        warnings,
    })
}

fn part((brief, bytes): (&PromptBrief, usize)) -> ForecastPart {
    let files = brief.shown.iter().map(|(file, hunks)| (file.clone(), hunks.len())).collect();
    ForecastPart { files, bytes }
}

fn first_requests(
    settings: &AgentSettings,
    prepared: &PreparedPrompts,
    looks: &[Look],
) -> Vec<ChatRequest> {
    let ask = |text: &str, look: &Look| ChatRequest {
        model: settings.client.name.clone(),
        system: prompts::SYSTEM.to_owned(),
        tools: catalogue(),
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(vec![
            TurnPart::Repeated(text.to_owned()),
            TurnPart::Text(look.instruction().to_owned()),
        ])],
        form: review_format(prepared.hints.len()),
        max_output_tokens: settings.client.answer_tokens(settings.limits.max_answer_tokens),
    };
    let briefs = prepared.briefs.briefs.iter();
    briefs.flat_map(|brief| looks.iter().map(|look| ask(&brief.text, look))).collect()
}
