//! The agent as a verifier of findings, and as a parser of reviews that a command wrote.

use super::phase::AgentPhase;
use super::turns::{ConversationPlan, ToolOffer, converse};
use super::verify::CheckedFinding;
use super::{Agent, AgentChecks, edit, verify};
use mala_domain::agent::NAME;
use mala_domain::agent::budget::Profile;
use mala_domain::agent::fence::Fence;
use mala_domain::command::{self, StructuredReview, read_structured_review};
use mala_domain::conversation::TurnPart;
use mala_domain::finding::{Finding, Verification};
use mala_domain::ports::{BoxFuture, ReviewerFailure, Verifier, VerifierResult};
use mala_domain::review::edit::FindingEdit;
use mala_domain::review::merge::absorb;
use mala_domain::review::verify::{is_sure_nit, is_urgent_and_unsettled};
use mala_domain::review::{ReviewContext, Usage};
use mala_domain::verdict::is_refuted;
use std::time::Duration;

/// A review that a model structured, and the usage.
#[derive(Debug, Clone)]
pub struct ParsedReview {
    /// The review in form.
    pub parsed: Result<StructuredReview, ReviewerFailure>,
    /// The models that answered.
    pub model: String,
    /// The usage.
    pub usage: Usage,
}

/// The number of calls of the parser: an unreadable answer is requested once more.
const PARSER_CALLS: u32 = 2;

impl Verifier for Agent {
    fn name(&self) -> &str {
        NAME
    }

    fn wants(&self, finding: &Finding) -> bool {
        match self.settings.checks {
            AgentChecks::Own => {
                let is_own = finding.reviewer == NAME && finding.rule.is_none();
                let is_enough = self.settings.profile == Profile::Lean && is_sure_nit(finding);
                is_own && !is_enough && !finding.verification.is_settled()
            }
            AgentChecks::Urgent => finding.rule.is_none() && is_urgent_and_unsettled(finding),
        }
    }

    fn check<'a>(
        &'a self,
        context: &'a ReviewContext,
        findings: &'a [Finding],
        time: Duration,
    ) -> BoxFuture<'a, VerifierResult> {
        Box::pin(async move {
            // An agent that reviewed has its deadline already.
            let timeout = context.timeout.min(time);
            self.resources(&ReviewContext { timeout, ..context.clone() });
            let prepared = match self.prepared(context).await {
                Ok(prepared) => prepared,
                Err(failure) => return unchecked(findings, &failure),
            };
            let resources = self.resources(context);
            let phase = AgentPhase::new(&self.settings, context, &prepared.fence, resources);
            let is_own = self.settings.checks == AgentChecks::Own;
            let mut edits = vec![FindingEdit::default(); findings.len()];
            if is_own {
                edit::group(&phase, findings, &mut edits).await;
            }
            let draft_decides =
                phase.account.calls_left() == 0 && !edit::is_offered(&self.settings.limits);
            let mut checked = merged(findings, &edits);
            let chosen: Vec<usize> =
                (0..findings.len()).filter(|at| has_own_cause(&edits, *at)).collect();
            let mut escalated = verify::check(&phase, prepared, &mut checked, &chosen).await;
            let parted = part_from_refuted(findings, &mut checked, &mut edits);
            if !parted.is_empty() {
                escalated.extend(verify::check(&phase, prepared, &mut checked, &parted).await);
            }
            correct(&mut checked, &mut edits);
            edits.iter_mut().for_each(|edit| edit.draft_decides = draft_decides);
            if is_own {
                edit::edit(&phase, &checked, &mut edits).await;
            }
            let undone = phase.left_undone();
            let mut warnings = escalated;
            warnings.extend(phase.account.overrun().map(|over| format!("{NAME}: {over}")));
            warnings.extend(phase.noted());
            let cut_short = !undone.is_empty();
            warnings.extend(undone);
            VerifierResult {
                verifications: checked.into_iter().map(|it| it.finding.verification).collect(),
                edits: if is_own { edits } else { Vec::new() },
                model: Some(phase.account.models()).filter(|models| !models.is_empty()),
                usage: phase.used(),
                warnings,
                cut_short,
                is_silent: false,
            }
        })
    }
}

fn has_own_cause(edits: &[FindingEdit], at: usize) -> bool {
    edits.get(at).is_some_and(|edit| edit.same_as.is_none())
}

/// Claims that were merged with one that its check refutes are checked on their own: they may be right.
/// Returns their numbers.
fn part_from_refuted(
    findings: &[Finding],
    checked: &mut [CheckedFinding],
    edits: &mut [FindingEdit],
) -> Vec<usize> {
    let refuted: Vec<bool> = checked.iter().map(|it| is_refuted(&it.finding)).collect();
    let mut parted = Vec::new();
    for (at, edit) in edits.iter_mut().enumerate() {
        if edit.same_as.is_some_and(|other| refuted.get(other) == Some(&true)) {
            edit.same_as = None;
            parted.push(at);
        }
    }
    for at in &parted {
        if let (Some(own), Some(finding)) = (checked.get_mut(*at), findings.get(*at)) {
            own.finding = finding.clone();
        }
    }
    parted
}

/// The findings, each with the places of those that have the same cause.
fn merged(findings: &[Finding], edits: &[FindingEdit]) -> Vec<CheckedFinding> {
    let mut checked: Vec<CheckedFinding> = findings
        .iter()
        .map(|finding| CheckedFinding { finding: finding.clone(), check: None })
        .collect();
    for (other, edit) in findings.iter().zip(edits) {
        if let Some(kept) = edit.same_as.and_then(|at| checked.get_mut(at)) {
            absorb(&mut kept.finding, other);
        }
    }
    checked
}

/// Applies what the checks say: corrections, and what a finding is worth.
fn correct(checked: &mut [CheckedFinding], edits: &mut [FindingEdit]) {
    for (checked, edit) in checked.iter_mut().zip(edits) {
        edit.worth = checked.check.as_ref().and_then(|check| check.worth);
        let correction = checked.check.as_ref().and_then(|check| check.correction.clone());
        if let Some(correction) = correction {
            let body = format!("{}\n\nCorrected: {}", checked.finding.body, correction.consequence);
            checked.finding.body.clone_from(&body);
            checked.finding.priority = correction.priority.or(checked.finding.priority);
            edit.body = Some(body);
            edit.priority = correction.priority;
        }
    }
}

fn unchecked(findings: &[Finding], failure: &ReviewerFailure) -> VerifierResult {
    VerifierResult {
        verifications: findings.iter().map(|_| Verification::not_checked(failure)).collect(),
        usage: Usage::nothing(),
        warnings: vec![format!("the agent checks nothing: {failure}")],
        cut_short: true,
        is_silent: true,
        ..VerifierResult::default()
    }
}

impl Agent {
    /// Structures the review of a command. The model must not change its content.
    pub async fn parse(
        &self,
        context: &ReviewContext,
        review: &str,
        fence: &Fence,
    ) -> ParsedReview {
        let settings = &self.settings;
        let phase = AgentPhase::new(settings, context, fence, self.resources(context));
        let nonce = fence.nonce().as_str();
        let conversation = ConversationPlan {
            label: "parser",
            client: &settings.client,
            system: command::PARSE,
            opening: vec![
                TurnPart::Text(format!("The id of this run's fences, and your nonce: {nonce}\n")),
                TurnPart::Text(fence.wrap("review", review)),
            ],
            form: command::answer_format(),
            tools: ToolOffer::None,
            max_calls: PARSER_CALLS,
        };
        let parsed = match converse(&phase, conversation, read_structured_review).await {
            Ok((parsed, method)) => {
                phase.account.note_parse_method(method);
                Ok(parsed)
            }
            Err(stopped) => Err(stopped.failure()),
        };
        ParsedReview { parsed, model: phase.account.models(), usage: phase.used() }
    }
}
