//! Urgent claims that are not sure go to the stronger model, if there is one.

use super::phase::AgentPhase;
use super::prepare::PreparedPrompts;
use super::verify::refute;
use mala_domain::agent::NAME;
use mala_domain::finding::{Finding, VerificationOutcome};
use mala_domain::report::counted;
use mala_domain::review::verify::{later_verification, needs_escalation};

/// Has the stronger model look at doubtful findings; says how many it answered to.
pub(super) async fn escalate(
    phase: &AgentPhase<'_>,
    prepared: &PreparedPrompts,
    findings: &mut [Finding],
) -> Vec<String> {
    let Some(stronger) = &phase.settings.escalation else { return Vec::new() };
    let doubtful = findings.iter().enumerate().filter(|(_, finding)| needs_escalation(finding));
    let doubtful: Vec<usize> = doubtful.map(|(index, _)| index).collect();
    if doubtful.is_empty() {
        return Vec::new();
    }
    if phase.account.calls_left() == 0 {
        let n = counted(doubtful.len(), "doubtful claim");
        phase.leave_undone(&format!("{n} not escalated: the calls are spent"));
        return Vec::new();
    }
    let before: Vec<_> = findings.iter().map(|finding| finding.verification.clone()).collect();
    refute(phase, prepared, stronger, findings, &doubtful).await;
    let is_answered = |index: &&usize| {
        let finding = findings.get(**index);
        finding.is_some_and(|it| it.verification.outcome != VerificationOutcome::NotChecked)
    };
    let n_answered = doubtful.iter().filter(is_answered).count();
    for (finding, known) in findings.iter_mut().zip(before) {
        let checked = std::mem::take(&mut finding.verification);
        finding.verification = later_verification(known, checked);
    }
    let n = counted(n_answered, "doubtful claim");
    let escalated = format!("{NAME}: {n} escalated to {}", stronger.name);
    Some(escalated).filter(|_| n_answered > 0).into_iter().collect()
}
