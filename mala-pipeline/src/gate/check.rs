//! Checks blocking findings before they block, after a look at the files: by a lane that did not make them,
//! then, where no lane could tell, by the agent.

use super::hear::Heard;
use super::supervise::Desk;
use futures_util::future::join_all;
use mala_domain::agent::NAME;
use mala_domain::agent::answer::{Check, check_of};
use mala_domain::finding::{Candidate, Finding, Verification, VerificationOutcome};
use mala_domain::gate::answer;
use mala_domain::gate::check::{
    alone, by_agreement, by_lane, checker, left_unchecked, needs_check, unchecked,
};
use mala_domain::gate::lane::Lane;
use mala_domain::gate::output::CheckerReport;
use mala_domain::gate::prompt;
use mala_domain::ports::LaneOrder;
use mala_domain::review::admit::Dropped;
use mala_domain::review::{ReviewRequest, Usage};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a lane, or the agent, may take for all checks together, at most.
const MAX_TIME: Duration = Duration::from_secs(180);

/// How many findings a lane is asked about at once.
const MAX_CLAIMS: usize = 30;

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
    let names: Vec<&str> = able.iter().map(|lane| lane.name.as_str()).collect();
    let mut orders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate().filter(|(_, it)| needs_check(it)) {
        if let Some(lane) = checker(finding, &names) {
            orders.entry(lane).or_default().push(index);
        }
    }
    let asked = orders.into_iter().filter_map(|(name, indices)| {
        let lane = able.iter().find(|lane| lane.name == name)?;
        Some(rounds(desk, lane, claims(findings, indices)))
    });
    let mut checked = Checked::default();
    for asked in join_all(asked).await {
        for (index, verification) in asked.outcomes {
            if let Some(finding) = findings.get_mut(index) {
                finding.verification = verification;
            }
        }
        checked.usage.extend(asked.usage);
        checked.warnings.extend(asked.warnings);
    }
    by_agent(desk, findings, &mut checked).await;
    for finding in findings.iter_mut().filter(|finding| needs_check(finding)) {
        if checker(finding, &names).is_none() {
            alone(finding);
        }
    }
    checked.warnings.extend(left_unchecked(findings));
    checked
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

/// What one lane says of the findings that it is asked about.
#[derive(Default)]
struct Asked {
    outcomes: Vec<(usize, Verification)>,
    usage: Vec<(String, Usage)>,
    warnings: Vec<String>,
}

/// Some of the findings, and how long the lane may take for them.
struct Round<'r> {
    question: String,
    claims: &'r [(usize, Finding)],
    wall: Duration,
}

/// Asks a lane about all of these findings, some at a time, while its time lasts. What it does not answer
/// to stays as it is, and blocks.
async fn rounds(desk: &Desk<'_>, lane: &Lane, claims: Vec<(usize, Finding)>) -> Asked {
    let name = &lane.name;
    let time = Duration::from_secs(desk.panel.session.timeout_seconds).min(MAX_TIME);
    let end = Instant::now() + time;
    let mut asked = Asked::default();
    let mut trouble: Option<String> = None;
    for (number, claims) in claims.chunks(MAX_CLAIMS).enumerate() {
        let wall = end.saturating_duration_since(Instant::now());
        let question = match number {
            0 => "check".to_owned(),
            n => format!("check-{}", n + 1),
        };
        let said = match trouble.take() {
            Some(why) => Err(why),
            None if wall.is_zero() => Err(format!("{name} has no time left")),
            None => ask(desk, lane, Round { question, claims, wall }, &mut asked).await,
        };
        asked.outcomes.extend(claims.iter().map(|(index, finding)| {
            let mut finding = finding.clone();
            match &said {
                Ok(checks) => by_lane(&mut finding, check_of(checks, &id(*index)).as_ref(), name),
                Err(why) => finding.verification = unchecked(why),
            }
            (*index, finding.verification)
        }));
        trouble = said.err();
    }
    asked
}

/// What a lane says in one round; why it says nothing that counts.
async fn ask(
    desk: &Desk<'_>,
    lane: &Lane,
    round: Round<'_>,
    asked: &mut Asked,
) -> Result<Vec<Check>, String> {
    let Desk { panel, change, told, .. } = desk;
    let name = &lane.name;
    let files: Vec<_> = round.claims.iter().map(|(_, finding)| &finding.file).collect();
    let brief = told.brief_of(change, &files);
    let named: Vec<(String, &Finding)> =
        round.claims.iter().map(|(index, finding)| (id(*index), finding)).collect();
    let text = prompt::check(&brief, &named, &told.binding);
    let schema = answer::check_schema();
    let order = LaneOrder {
        lane,
        question: &round.question,
        prompt: &text,
        schema: &schema,
        reasoning: &panel.session.reasoning,
        wall: round.wall,
        is_answer: &|text| answer::read_check(text, &told.binding).is_ok(),
        weighs: &|text| answer::speaks_of_claims(text, &told.binding),
        started: &|| {},
    };
    let run = panel.runner.run(order).await;
    asked.usage.push((name.clone(), run.usage));
    asked.warnings.extend(run.wrote.iter().map(|file| format!("{name}: wrote {file}")));
    if !run.wrote.is_empty() {
        return Err(format!("{name} wrote to the tree"));
    }
    let failure = run.failure.map(|failure| failure.why).filter(|why| !why.is_empty());
    match (failure, run.answer) {
        (Some(why), _) => Err(format!("{name}: {why}")),
        (None, Some(text)) => {
            let read = answer::read_check(&text, &told.binding);
            read.map_err(|problem| format!("{name}: {problem}"))
        }
        (None, None) => Err(format!("{name}: no answer")),
    }
}

fn id(index: usize) -> String {
    format!("c{}", index + 1)
}
