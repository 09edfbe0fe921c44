//! From what the lanes said to what is printed: votes, consensus, sets of findings. Pure.

use super::hear::Heard;
use mala_domain::change::{Change, FilePath};
use mala_domain::finding::{Finding, VerificationOutcome};
use mala_domain::gate::SCHEMA_VERSION;
use mala_domain::gate::check::voices;
use mala_domain::gate::consensus::{Absence, Vote, decide};
use mala_domain::gate::output::{
    CheckerReport, Consensus, FindingSets, LaneReport, PanelVerdict, Votes, Waited, status,
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
    pub(super) checker: Option<CheckerReport>,
}

pub(super) fn conclude(session: &Session, panel: Panelists, change: &Change) -> Waited {
    let Panelists { heard, findings, dropped, checker } = panel;
    let reports: BTreeMap<String, LaneReport> =
        heard.iter().map(|heard| (heard.lane.name.clone(), report(heard, &findings))).collect();
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
    Waited {
        schema_version: SCHEMA_VERSION,
        status: status(decision.outcome),
        consensus,
        parse_errors: failed.collect(),
        coverage: Coverage::over(change, &accounted(&heard)),
        usage: total(
            heard.iter().map(|heard| &heard.run.usage).chain(checker.iter().map(|it| &it.usage)),
        ),
        checker,
        warnings: warnings(session, &heard, &dropped),
        issues: findings.iter().filter(|finding| stands(finding)).cloned().collect(),
        findings: sets(&findings),
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

fn report(heard: &Heard, findings: &[Finding]) -> LaneReport {
    let name = heard.lane.name.as_str();
    let own = || findings.iter().filter(|finding| voices(finding).any(|voice| voice == name));
    let answer = heard.answer.as_ref();
    let left_over = heard.coverage.hunks_given - heard.coverage.hunks_accounted;
    let verdict = answer.ok().map(|_| Verdict::over(own()));
    // A pass with hunks left over is none.
    let incomplete = (verdict == Some(Verdict::Pass) && left_over > 0).then(|| match left_over {
        1 => "incomplete: 1 changed region is not accounted for".to_owned(),
        n => format!("incomplete: {n} changed regions are not accounted for"),
    });
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

fn sets(findings: &[Finding]) -> FindingSets {
    let keys = |wanted: &dyn Fn(&Finding) -> bool| {
        let wanted = findings.iter().filter(|finding| wanted(finding));
        wanted.map(|finding| finding.dedupe_key.to_string()).collect()
    };
    FindingSets {
        union: keys(&|_| true),
        agreed: keys(&|finding| !finding.also_reported_by.is_empty()),
        verified: keys(&|it| it.verification.outcome == VerificationOutcome::Verified),
        refuted: findings.iter().filter(|finding| !stands(finding)).cloned().collect(),
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

fn warnings(session: &Session, heard: &[Heard], dropped: &[Dropped]) -> Vec<String> {
    let own = session.warnings.iter().cloned();
    let lanes = heard.iter().flat_map(|heard| {
        let name = &heard.lane.name;
        let wrote = heard.run.wrote.iter().map(move |file| format!("{name}: wrote {file}"));
        let unread = heard.answer.iter().flat_map(|answer| &answer.dropped);
        wrote.chain(unread.map(move |why| format!("{name}: {why}")))
    });
    let dropped =
        dropped.iter().map(|it| format!("{}: dropped a finding: {}", it.reviewer, it.why));
    own.chain(lanes).chain(dropped).collect()
}
