//! The agent as a verifier of findings, and as a parser of reviews that a command wrote.

use super::phase::AgentPhase;
use super::turns::{ConversationPlan, ToolOffer, converse};
use super::{Agent, AgentChecks, verify};
use mala_domain::agent::NAME;
use mala_domain::agent::fence::Fence;
use mala_domain::command::{self, StructuredReview, read_structured_review};
use mala_domain::conversation::TurnPart;
use mala_domain::finding::{Finding, Verification};
use mala_domain::ports::{BoxFuture, ReviewerFailure, Verifier, VerifierResult};
use mala_domain::review::verify::{is_urgent_and_unsettled, is_urgent_or_doubtful};
use mala_domain::review::{ReviewContext, Usage};
use std::time::Duration;

/// A review that a model brought into form, and what that took.
#[derive(Debug, Clone)]
pub struct ParsedReview {
    /// The review in form.
    pub parsed: Result<StructuredReview, ReviewerFailure>,
    /// The models that answered.
    pub model: String,
    /// What it used.
    pub usage: Usage,
}

/// An unreadable answer is asked for once more.
const PARSER_CALLS: u32 = 2;

impl Verifier for Agent {
    fn name(&self) -> &str {
        NAME
    }

    fn wants(&self, finding: &Finding) -> bool {
        match self.settings.checks {
            AgentChecks::Own => {
                finding.reviewer == NAME && finding.rule.is_none() && is_urgent_or_doubtful(finding)
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
            let mut findings = findings.to_vec();
            let escalated = verify::check(&phase, prepared, &mut findings).await;
            let undone = phase.left_undone();
            let mut warnings = escalated;
            warnings.extend(phase.account.overrun().map(|over| format!("{NAME}: {over}")));
            warnings.extend(phase.noted());
            let cut_short = !undone.is_empty();
            warnings.extend(undone);
            VerifierResult {
                verifications: findings.into_iter().map(|finding| finding.verification).collect(),
                model: Some(phase.account.models()).filter(|models| !models.is_empty()),
                usage: phase.used(),
                warnings,
                cut_short,
                is_silent: false,
            }
        })
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
    /// Structures the review of a command. The model must not change what the review says.
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
