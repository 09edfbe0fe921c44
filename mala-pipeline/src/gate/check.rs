//! Checks blocking findings before they block, after a look at the files: by a lane that did not make them,
//! then, where no lane could tell, by the agent.

mod asking;

use super::hear::Heard;
use super::supervise::Desk;
use asking::Asking;
use futures_util::future::join_all;
use mala_domain::agent::NAME;
use mala_domain::finding::{Candidate, Finding, Verification, VerificationOutcome};
use mala_domain::gate::check::{
    alone, by_agreement, checker, is_unasked, left_unchecked, needs_check,
};
use mala_domain::gate::lane::Lane;
use mala_domain::gate::output::CheckerReport;
use mala_domain::review::admit::Dropped;
use mala_domain::review::{ReviewRequest, Usage};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// How long the lanes, and then the agent, may take for all checks together, at most.
const MAX_TIME: Duration = Duration::from_secs(180);

/// What came of the checks, beside what the findings say of it.
#[derive(Default)]
pub(super) struct Checked {
    /// The agent, when it was asked.
    pub(super) agent: Option<CheckerReport>,
    /// What lanes used for checks.
    pub(super) usage: Vec<(String, Usage)>,
    pub(super) warnings: Vec<String>,
}

pub(super) async fn check(
    desk: &Desk<'_>,
    heard: &[Heard],
    dropped: &[Dropped],
    findings: &mut [Finding],
) -> Checked {
    findings.iter_mut().for_each(by_agreement);
    let able: Vec<&Lane> =
        heard.iter().filter(|heard| may_check(heard, dropped)).map(|heard| &heard.lane).collect();
    let mut checked = Checked::default();
    by_lanes(desk, &able, findings, &mut checked).await;
    by_agent(desk, findings, &mut checked).await;
    let names: Vec<&str> = able.iter().map(|lane| lane.name.as_str()).collect();
    for finding in findings.iter_mut().filter(|finding| needs_check(finding)) {
        if checker(finding, &names).is_none() {
            alone(finding);
        }
    }
    checked.warnings.extend(left_unchecked(findings));
    checked
}

/// Has lanes look at findings that are not theirs: the first of them, and the next one where it gives no
/// answer, while the time lasts.
async fn by_lanes(
    desk: &Desk<'_>,
    able: &[&Lane],
    findings: &mut [Finding],
    checked: &mut Checked,
) {
    let time = Duration::from_secs(desk.panel.session.timeout_seconds).min(MAX_TIME);
    let end = Instant::now() + time;
    let mut asking: Vec<Asking<'_>> =
        able.iter().map(|lane| Asking { desk, lane, n_asked: 0, end }).collect();
    let mut tried: HashSet<(usize, String)> = HashSet::new();
    while Instant::now() < end {
        let names: Vec<&str> = asking.iter().map(|it| it.lane.name.as_str()).collect();
        let mut orders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, finding) in findings.iter().enumerate().filter(|(_, it)| is_unasked(it)) {
            let untried = names.iter().filter(|it| !tried.contains(&(index, (**it).to_owned())));
            if let Some(lane) = checker(finding, &untried.copied().collect::<Vec<_>>()) {
                tried.insert((index, lane.to_owned()));
                orders.entry(lane.to_owned()).or_default().push(index);
            }
        }
        if orders.is_empty() {
            return;
        }
        let asked = asking.iter_mut().filter_map(|it| {
            let indices = orders.remove(&it.lane.name)?;
            Some(it.ask_all(claims(findings, indices)))
        });
        for asked in join_all(asked).await {
            for (index, verification) in asked.outcomes {
                if let Some(finding) = findings.get_mut(index) {
                    finding.verification = verification;
                }
            }
            checked.usage.extend(asked.usage);
            checked.warnings.extend(asked.warnings);
            // One that did not answer is asked nothing more.
            asking.retain(|it| Some(&it.lane.name) != asked.silent.as_ref());
        }
    }
}

/// Whether a lane is an independent reviewer: it has reviewed all of the change, and all that it claims is
/// there. One that has no vote, or may lose it when others look at its claims, refutes nobody's.
fn may_check(heard: &Heard, dropped: &[Dropped]) -> bool {
    heard.answer.is_ok()
        && heard.coverage.is_complete()
        && !dropped.iter().any(|claim| claim.reviewer == heard.lane.name)
}

/// Has the agent look at what is still unchecked. What it cannot tell stays as it is.
async fn by_agent(desk: &Desk<'_>, findings: &mut [Finding], checked: &mut Checked) {
    let Some(agent) = desk.panel.checker else { return };
    let open = findings.iter().enumerate().filter(|(_, it)| needs_check(it)).map(|(at, _)| at);
    let picked = claims(findings, open.collect());
    if picked.is_empty() {
        return;
    }
    let request = ReviewRequest {
        change: desk.scoped.change.clone(),
        tree: desk.scoped.tree.clone(),
        scope: desk.scoped.scope.clone(),
        texts: desk.told.texts.clone(),
        timeout: MAX_TIME,
    };
    let asked = picked.iter().map(|(_, finding)| candidate(finding)).collect();
    let told = match agent.check(&request, asked).await {
        Ok(told) => told,
        Err(failure) => {
            checked.warnings.push(format!("the agent checks nothing: {failure}"));
            return;
        }
    };
    for ((index, _), claim) in picked.iter().zip(told.outcome) {
        if let Some(finding) = findings.get_mut(*index) {
            let is_told = claim.verification.outcome != VerificationOutcome::Unverified;
            if is_told || finding.verification.how.is_none() {
                finding.verification = claim.verification;
            }
        }
    }
    checked.agent = Some(CheckerReport {
        reviewer: NAME.to_owned(),
        model: told.model,
        findings: picked.len(),
        usage: told.usage,
    });
}

/// A finding as a claim, without who made it.
fn candidate(finding: &Finding) -> Candidate {
    Candidate {
        file: finding.file.clone(),
        span: finding.span(),
        priority: finding.priority,
        category: finding.category,
        title: finding.title.clone(),
        body: finding.body.clone(),
        suggestion: None,
        evidence: Some(finding.evidence_snippet.clone()),
        confidence: finding.confidence,
        reviewer: String::new(),
        rule: None,
        verification: Verification::default(),
    }
}

fn claims(findings: &[Finding], indices: Vec<usize>) -> Vec<(usize, Finding)> {
    indices.into_iter().filter_map(|index| Some((index, findings.get(index)?.clone()))).collect()
}
