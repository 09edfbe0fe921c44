//! Checks blocking findings before they block: mechanically, then by a lane that did not make them,
//! then, where no lane could tell, by the agent.

use super::hear::Heard;
use super::supervise::Desk;
use futures_util::future::join_all;
use mala_domain::agent::NAME;
use mala_domain::agent::answer::check_of;
use mala_domain::finding::{Candidate, Finding, Verification};
use mala_domain::gate::answer;
use mala_domain::gate::check::{alone, by_lane, by_looking, checker, needs_check};
use mala_domain::gate::lane::Lane;
use mala_domain::gate::output::CheckerReport;
use mala_domain::gate::prompt;
use mala_domain::ports::LaneOrder;
use mala_domain::review::{ReviewRequest, Texts};
use mala_syntax::symbols::HeadBindings;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a check may take, at most.
const MAX_TIME: Duration = Duration::from_secs(180);

/// How many findings one lane is asked about.
const MAX_CLAIMS: usize = 30;

pub(super) async fn check(
    desk: &Desk<'_>,
    heard: &[Heard],
    texts: &Texts,
    findings: &mut [Finding],
) -> Option<CheckerReport> {
    {
        let bindings = HeadBindings::of(texts);
        findings.iter_mut().for_each(|finding| by_looking(finding, &bindings));
    }
    let able: Vec<&Lane> =
        heard.iter().filter(|heard| heard.answer.is_ok()).map(|heard| &heard.lane).collect();
    let names: Vec<&str> = able.iter().map(|lane| lane.name.as_str()).collect();
    let mut orders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter_mut().enumerate() {
        if !needs_check(finding) {
            continue;
        }
        if let Some(lane) = checker(finding, &names) {
            orders.entry(lane).or_default().push(index);
        }
    }
    let orphans = |findings: &mut [Finding]| {
        for finding in findings.iter_mut().filter(|it| needs_check(it)) {
            if checker(finding, &names).is_none() {
                alone(finding, "no other lane to ask");
            }
        }
    };
    let asked = orders.into_iter().filter_map(|(name, indices)| {
        let lane = able.iter().find(|lane| lane.name == name)?;
        Some(ask(desk, lane, claims(findings, indices)))
    });
    let answers = join_all(asked).await;
    for (index, verification) in answers.into_iter().flatten() {
        if let Some(finding) = findings.get_mut(index) {
            finding.verification = verification;
        }
    }
    let report = by_agent(desk, findings).await;
    orphans(findings);
    report
}

/// Has the agent look at what is still unchecked. What it cannot tell stays as it is.
async fn by_agent(desk: &Desk<'_>, findings: &mut [Finding]) -> Option<CheckerReport> {
    let agent = desk.panel.checker?;
    let open = findings.iter().enumerate().filter(|(_, it)| needs_check(it)).map(|(at, _)| at);
    let picked = claims(findings, open.collect());
    if picked.is_empty() {
        return None;
    }
    let request = ReviewRequest {
        change: desk.scoped.change.clone(),
        tree: desk.scoped.tree.clone(),
        scope: desk.scoped.scope.clone(),
        texts: desk.told.texts.clone(),
        timeout: MAX_TIME,
    };
    let asked = picked.iter().map(|(_, finding)| candidate(finding)).collect();
    let checked = match agent.check(&request, asked).await {
        Ok(checked) => checked,
        Err(failure) => {
            tracing::warn!(%failure, "the agent checks nothing");
            return None;
        }
    };
    for ((index, _), claim) in picked.iter().zip(checked.outcome) {
        if let Some(finding) = findings.get_mut(*index) {
            finding.verification = claim.verification;
        }
    }
    Some(CheckerReport {
        reviewer: NAME.to_owned(),
        model: checked.model,
        findings: picked.len(),
        usage: checked.usage,
    })
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
    let picked = indices.into_iter().take(MAX_CLAIMS);
    picked.filter_map(|index| Some((index, findings.get(index)?.clone()))).collect()
}

/// What a lane says of these findings. One that does not answer leaves them as they are: they block.
async fn ask(
    desk: &Desk<'_>,
    lane: &Lane,
    claims: Vec<(usize, Finding)>,
) -> Vec<(usize, Verification)> {
    let Desk { panel, change, told, .. } = desk;
    let files: Vec<_> = claims.iter().map(|(_, finding)| &finding.file).collect();
    let brief = told.brief_of(change, &files);
    let named: Vec<(String, &Finding)> =
        claims.iter().map(|(index, finding)| (id(*index), finding)).collect();
    let text = prompt::check(&brief, &named, &told.binding);
    let schema = answer::check_schema();
    let is_answer = |text: &str| answer::read_check(text, &told.binding).is_ok();
    let order = LaneOrder {
        lane,
        question: "check",
        prompt: &text,
        schema: &schema,
        reasoning: &panel.session.reasoning,
        wall: Duration::from_secs(panel.session.timeout_seconds).min(MAX_TIME),
        is_answer: &is_answer,
        started: &|| {},
    };
    let run = panel.runner.run(order).await;
    let read = run.answer.as_deref().map(|text| answer::read_check(text, &told.binding));
    let checks = match read {
        Some(Ok(checks)) if run.wrote.is_empty() => checks,
        _ => Vec::new(),
    };
    claims
        .into_iter()
        .map(|(index, mut finding)| {
            let check = check_of(&checks, &id(index));
            by_lane(&mut finding, check.as_ref(), &lane.name);
            (index, finding.verification)
        })
        .collect()
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}
