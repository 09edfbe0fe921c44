//! From what the lanes said to what is printed: votes, consensus, sets of findings. Pure.

use super::check::Checked;
use super::hear::Heard;
use mala_domain::change::{Change, FilePath};
use mala_domain::finding::{Finding, Priority, VerificationOutcome};
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::check::voices;
use mala_domain::gate::consensus::{Absence, Vote, decide};
use mala_domain::gate::output::{
    Consensus, FindingSets, LaneReport, PanelVerdict, Votes, Waited, status,
};
use mala_domain::gate::session::Session;
use mala_domain::review::admit::Dropped;
use mala_domain::review::{Coverage, Usage};
use mala_domain::verdict::{Outcome, Verdict};
use std::collections::BTreeMap;

/// What the lanes said, and what stands of it.
pub(super) struct Panelists {
    pub(super) heard: Vec<Heard>,
    pub(super) findings: Vec<Finding>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) checked: Checked,
    /// What the lanes were not told in full.
    pub(super) caveats: Vec<String>,
}

pub(super) fn conclude(session: &Session, panel: Panelists, change: &Change) -> Waited {
    let warnings = warnings(session, &panel, change);
    let Panelists { heard, findings, dropped, checked, .. } = panel;
    let reports: BTreeMap<String, LaneReport> = heard
        .iter()
        .map(|it| {
            let report = report(it, &findings, &dropped);
            (it.lane.name.clone(), LaneReport { usage: spent(it, &checked), ..report })
        })
        .collect();
    let raw: Vec<Vote> = heard.iter().map(raw_vote).collect();
    let verified: Vec<Vote> = reports.values().map(verified_vote).collect();
    let decision = decide(session.rule, &verified);
    let votes = |of: fn(&LaneReport) -> Option<Verdict>, verdict| Votes {
        verdict: PanelVerdict::from(verdict),
        votes: reports.iter().map(|(name, report)| (name.clone(), of(report))).collect(),
    };
    let consensus = Consensus {
        verdict: decision.verdict.into(),
        iteration: 1,
        rule: session.rule,
        needed: decision.needed,
        passes: decision.passes,
        raw: votes(|report| report.raw_verdict, decide(session.rule, &raw).verdict),
        verified: votes(|report| report.verdict, decision.verdict),
    };
    let failed = reports
        .iter()
        .filter_map(|(name, report)| report.error.as_ref().map(|error| format!("{name}: {error}")));
    let too_small = (decision.needed > reports.len()).then(|| {
        let (rule, needed, seats) = (session.rule, decision.needed, reports.len());
        format!("{rule} needs {needed} passes, and the panel has {seats}")
    });
    Waited {
        schema_version: SCHEMA_VERSION,
        status: status(decision.outcome),
        consensus,
        parse_errors: failed.chain(too_small).collect(),
        coverage: Coverage::over(change, &accounted(&heard)),
        usage: total(
            reports.values().map(|it| &it.usage).chain(checked.agent.iter().map(|it| &it.usage)),
        ),
        checker: checked.agent,
        warnings,
        issues: findings.iter().filter(|finding| stands(finding)).cloned().collect(),
        findings: sets(&findings, &dropped),
        reviewers: reports,
        session_key: Some(session.key.clone()),
        session_dir: None,
        scope: Some(session.scope.clone()),
        obstacle: match decision.outcome {
            Outcome::CouldNotReview(obstacle) => Some(obstacle),
            _ => None,
        },
    }
}

fn stands(finding: &Finding) -> bool {
    finding.verification.outcome != VerificationOutcome::Refuted
}

fn report(heard: &Heard, findings: &[Finding], dropped: &[Dropped]) -> LaneReport {
    let name = heard.lane.name.as_str();
    let lost: Vec<&Dropped> = dropped.iter().filter(|it| it.reviewer == name).collect();
    let own = || findings.iter().filter(|finding| voices(finding).any(|voice| voice == name));
    let answer = heard.answer.as_ref();
    let left_over = heard.coverage.hunks_given - heard.coverage.hunks_accounted;
    let verdict = answer.ok().map(|_| Verdict::over(own()));
    let unplaced = verdict.and_then(|verdict| unplaced(heard, verdict, &lost));
    // A pass with hunks left over is none.
    let incomplete = (verdict == Some(Verdict::Pass) && left_over > 0).then(|| match left_over {
        1 => "incomplete: 1 changed region is not accounted for".to_owned(),
        n => format!("incomplete: {n} changed regions are not accounted for"),
    });
    let incomplete = unplaced.or(incomplete);
    let failure = answer.err();
    LaneReport {
        verdict: verdict.filter(|_| incomplete.is_none()),
        summary: answer.map(|answer| answer.summary.clone()).unwrap_or_default(),
        issues: own().filter(|finding| stands(finding)).cloned().collect(),
        absence: failure
            .map(|failure| failure.absence)
            .or(incomplete.as_ref().map(|_| Absence::Unusable)),
        error: failure.map(|failure| failure.why.clone()).or(incomplete),
        raw_verdict: answer.ok().map(|answer| answer.verdict),
        coverage: heard.coverage.clone(),
        usage: heard.run.usage.clone(),
        exit_code: heard.run.exit_code,
        seconds: heard.run.seconds,
        wrote: heard.run.wrote.clone(),
        measured: None,
    }
}

/// Why a lane has no vote that says more than what is left of its findings: what cannot be placed is not
/// refuted, and nobody knows what the lane objects to.
fn unplaced(heard: &Heard, verdict: Verdict, lost: &[&Dropped]) -> Option<String> {
    let worst = lost.iter().map(|it| it.priority()).min()?;
    let is_said = match verdict {
        Verdict::Fail => true,
        Verdict::NeedsWork => worst > Priority::P1,
        Verdict::Pass => false,
    };
    let raw = heard.answer.as_ref().ok()?.verdict.name();
    let (count, why) = (lost.len(), &lost.first()?.why);
    let findings = if count == 1 { "a finding" } else { "findings" };
    (!is_said).then(|| format!("it says {raw} for {findings} that cannot be placed: {why}"))
}

fn raw_vote(heard: &Heard) -> Vote {
    match &heard.answer {
        Ok(answer) => Vote::Verdict(answer.verdict),
        Err(failure) => Vote::Absent(failure.absence),
    }
}

fn verified_vote(report: &LaneReport) -> Vote {
    match report.verdict {
        Some(verdict) => Vote::Verdict(verdict),
        None => Vote::Absent(report.absence.unwrap_or(Absence::Unusable)),
    }
}

fn accounted(heard: &[Heard]) -> Vec<(FilePath, Vec<usize>)> {
    let answers = heard.iter().filter_map(|heard| heard.answer.as_ref().ok());
    answers.flat_map(|answer| answer.accounted.iter().cloned()).collect()
}

fn sets(findings: &[Finding], dropped: &[Dropped]) -> FindingSets {
    let lost: Vec<Finding> = dropped.iter().map(Dropped::marked).collect();
    let refuted = findings.iter().filter(|finding| !stands(finding)).chain(&lost);
    let keys = |wanted: &dyn Fn(&Finding) -> bool| {
        let wanted = findings.iter().chain(&lost).filter(|finding| wanted(finding));
        wanted.map(|finding| finding.dedupe_key.to_string()).collect()
    };
    FindingSets {
        union: keys(&|_| true),
        agreed: keys(&|finding| !finding.also_reported_by.is_empty()),
        verified: keys(&|it| it.verification.outcome == VerificationOutcome::Verified),
        refuted: refuted.cloned().collect(),
    }
}

/// What all used together; unknown as soon as one is.
fn total<'u>(all: impl Iterator<Item = &'u Usage>) -> Usage {
    let all: Vec<&Usage> = all.collect();
    let sum =
        |of: fn(&Usage) -> Option<u64>| all.iter().map(|usage| of(usage)).sum::<Option<u64>>();
    Usage {
        tokens_used: sum(|usage| usage.tokens_used),
        cache_read_tokens: sum(|usage| usage.cache_read_tokens),
        cost_usd: all.iter().map(|usage| usage.cost_usd).sum(),
        llm_calls: all.iter().map(|usage| usage.llm_calls).sum(),
        latency_seconds_llm: all.iter().map(|usage| usage.latency_seconds_llm).sum(),
        ..Usage::default()
    }
}

/// What a lane used for its review and for checks of others' claims.
fn spent(heard: &Heard, checked: &Checked) -> Usage {
    let own = checked.usage.iter().filter(|(name, _)| *name == heard.lane.name);
    let checks: Vec<&Usage> = own.map(|(_, usage)| usage).collect();
    match checks.as_slice() {
        [] => heard.run.usage.clone(),
        checks => total(std::iter::once(&heard.run.usage).chain(checks.iter().copied())),
    }
}

fn warnings(session: &Session, panel: &Panelists, change: &Change) -> Vec<String> {
    let own = session.warnings.iter().cloned();
    let left_out = Coverage::over(change, &[]).left_out();
    let lanes = panel.heard.iter().flat_map(|heard| {
        let name = &heard.lane.name;
        heard.run.wrote.iter().map(move |file| format!("{name}: wrote {file}"))
    });
    let dropped = panel.dropped.iter();
    let dropped = dropped.map(|it| format!("{}: dropped a finding: {}", it.reviewer, it.why));
    let told = left_out.into_iter().chain(panel.caveats.iter().cloned());
    let checks = panel.checked.warnings.iter().cloned();
    own.chain(told).chain(lanes).chain(dropped).chain(checks).collect()
}
