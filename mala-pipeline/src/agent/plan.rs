//! Plans a review before the first call: the passes, the calls of each, and the possible cost. A dry run
//! shows the plan.

use super::AgentSettings;
use super::prepare::{self, PreparedPrompts};
use super::tools::catalogue;
use mala_domain::agent::answer::review_format;
use mala_domain::agent::brief::estimated_tokens;
use mala_domain::agent::budget::{
    Charge, Dollars, LimitReached, Limits, Profile, UnknownPricePolicy,
};
use mala_domain::agent::prompts::{self, Pass};
use mala_domain::change::FilePath;
use mala_domain::conversation::{ChatRequest, ChatTurn, ToolChoice, TurnPart};
use mala_domain::ports::ReviewerFailure;
use mala_domain::review::ReviewContext;

/// Calls that are kept for verification and escalation if there are several passes.
const KEPT_FOR_CHECKS: u32 = 4;

/// The passes of a profile, less those that have nothing to look at.
pub(super) fn passes(
    profile: Profile,
    context: &ReviewContext,
    rules: &[(FilePath, String)],
) -> Vec<Pass> {
    if profile != Profile::Thorough {
        return vec![Pass::Whole];
    }
    let files = context.change.files.iter().filter(|file| file.is_reviewable());
    let removes = files.flat_map(|file| &file.hunks).any(|hunk| hunk.removed_lines().count() > 0);
    let all = [
        (Pass::LineByLine, true),
        (Pass::RemovedBehaviour, removes),
        (Pass::CrossFileEffects, true),
        (Pass::ProjectRules, !rules.is_empty()),
    ];
    all.into_iter().filter(|(_, wanted)| *wanted).map(|(pass, _)| pass).collect()
}

/// The most calls of one pass. A single one may take all; several leave some for the checks.
pub(super) fn calls_per_pass(limits: &Limits, n_passes: usize) -> u32 {
    let n_passes = u32::try_from(n_passes).unwrap_or(u32::MAX).max(1);
    if n_passes == 1 {
        return limits.max_llm_calls.max(1);
    }
    (limits.max_llm_calls.saturating_sub(KEPT_FOR_CHECKS) / n_passes).max(1)
}

/// What a review would do and could cost.
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
    /// The passes, by name.
    pub passes: Vec<&'static str>,
    /// The number of briefs for the change.
    pub briefs: usize,
    /// Bytes of what is sent with each of them: instructions, tools and the form of the answer.
    pub instruction_bytes: usize,
    /// Bytes of the first prompt of each.
    pub prompt_bytes: Vec<usize>,
    /// The same in tokens, roughly.
    pub prompt_tokens: u64,
    /// Hunks that would be sent, and those that there are.
    pub hunks: (usize, usize),
    /// Hints of the built-in checks.
    pub hints: usize,
    /// What all first calls together reserve; `None` when the price is unknown.
    pub reserved: Option<Dollars>,
    /// What would be left out.
    pub warnings: Vec<String>,
}

/// Looks ahead without asking any model.
pub(super) async fn forecast(
    settings: &AgentSettings,
    context: &ReviewContext,
) -> Result<ReviewForecast, ReviewerFailure> {
    let prepared = prepare::prepare(settings, context).await?;
    let passes = match prepared.briefs.briefs.is_empty() {
        true => Vec::new(),
        false => passes(settings.profile, context, &context.surroundings.rules),
    };
    let asks = first_requests(settings, &prepared, &passes);
    let bytes = |ask: &ChatRequest| {
        usize::try_from(super::model_client::n_bytes(ask)).unwrap_or(usize::MAX)
    };
    let per_brief = asks.iter().step_by(passes.len().max(1)).map(bytes).collect::<Vec<_>>();
    let reserved = asks.iter().map(|ask| match settings.client.worst(ask) {
        Charge::Call { dollars, .. } => dollars,
        Charge::Tool => None,
    });
    let shown = prepared.briefs.briefs.iter().flat_map(|brief| &brief.shown);
    let sent = shown.map(|(_, hunks)| hunks.len()).sum();
    let reserved = reserved
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().fold(Dollars::ZERO, Dollars::plus));
    let mut warnings = prepared.warnings();
    if reserved.is_none() && settings.limits.unpriced == UnknownPricePolicy::Refuse {
        let refused = LimitReached::UnknownPrice(settings.limits.max_cost);
        warnings.push(format!("the review would be refused: {refused}"));
    }
    let left: usize = prepared.briefs.left_out.iter().map(|left| left.hunks).sum();
    Ok(ReviewForecast {
        model: settings.client.name.clone(),
        escalation: settings.escalation.as_ref().map(|client| client.name.clone()),
        profile: settings.profile,
        limits: settings.limits,
        passes: passes.iter().map(|pass| pass.name()).collect(),
        briefs: prepared.briefs.briefs.len(),
        instruction_bytes: match (per_brief.first(), prepared.briefs.briefs.first()) {
            (Some(all), Some(brief)) => all.saturating_sub(brief.text.len()),
            _ => 0,
        },
        prompt_tokens: estimated_tokens(per_brief.iter().sum()),
        prompt_bytes: per_brief,
        hunks: (sent, sent + left),
        hints: prepared.hints.len(),
        reserved,
        warnings,
    })
}

fn first_requests(
    settings: &AgentSettings,
    prepared: &PreparedPrompts,
    passes: &[Pass],
) -> Vec<ChatRequest> {
    let quick = settings.profile == Profile::Quick;
    let ask = |text: &str, pass: &Pass| ChatRequest {
        model: settings.client.name.clone(),
        system: prompts::SYSTEM.to_owned(),
        tools: if quick { Vec::new() } else { catalogue() },
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(vec![
            TurnPart::Repeated(text.to_owned()),
            TurnPart::Text(pass.instruction().to_owned()),
        ])],
        form: review_format(prepared.hints.len()),
        max_output_tokens: settings.client.answer_tokens(settings.limits.max_answer_tokens),
    };
    let briefs = prepared.briefs.briefs.iter();
    briefs.flat_map(|brief| passes.iter().map(|pass| ask(&brief.text, pass))).collect()
}
