//! Verifies findings: by the files, by agreement of reviewers, then by an independent verifier.
//! `mala_domain::review::verify` decides which findings are checked.

use super::admit::AdmittedClaims;
use futures_util::future::join_all;
use mala_domain::change::FilePath;
use mala_domain::finding::Finding;
use mala_domain::ports::{Verifier, VerifierResult};
use mala_domain::review::admit::{Admission, DroppedClaim};
use mala_domain::review::edit::{self, FindingEdit, apply_edits};
use mala_domain::review::merge::{by_cause, most_urgent};
use mala_domain::review::suppress::SuppressedFinding;
use mala_domain::review::verify::{
    CheckerReport, independent_verifier, is_urgent_and_unsettled, later_verification, may_check,
    merge_reports, refute_missing_names, unchecked_warnings, verify_by_agreement,
    verify_by_location,
};
use mala_domain::review::{Opinions, ReviewContext, ReviewPlan};
use mala_domain::secrets;
use mala_domain::verdict::Threshold;
use mala_syntax::symbols::HeadBindings;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum time of all checks together, once for the reviewers of a panel and once for the agent.
const MAX_TIME: Duration = Duration::from_secs(180);

/// The verifiers of findings.
#[derive(Clone, Copy, Default)]
pub struct Verifiers<'v> {
    /// Reviewers of a panel, which check the findings of each other.
    pub peers: &'v [Arc<dyn Verifier>],
    /// The agent, which checks in a fresh context the findings that no peer has decided.
    pub agent: Option<&'v dyn Verifier>,
}

/// Findings with the results of their checks.
pub(super) struct VerifiedFindings {
    pub(super) admission: Admission,
    pub(super) suppressed: Vec<SuppressedFinding>,
    pub(super) warnings: Vec<String>,
    pub(super) checks: Vec<(String, VerifierResult)>,
    pub(super) checker: Option<CheckerReport>,
    pub(super) cut_short: bool,
    pub(super) sources: BTreeMap<FilePath, String>,
    pub(super) context: ReviewContext,
}

pub(super) async fn verify(
    admitted: AdmittedClaims,
    opinions: &Opinions,
    verifiers: Verifiers<'_>,
    plan: &ReviewPlan,
) -> VerifiedFindings {
    let AdmittedClaims { admission, suppressed, warnings, context } = admitted;
    let Admission { mut findings, dropped } = admission;
    let bindings = HeadBindings::of(&context);
    findings.iter_mut().for_each(|finding| refute_missing_names(finding, &bindings));
    findings = by_cause(findings, &opinions.repeating());
    let is_panel = opinions.0.len() > 1;
    if is_panel {
        findings = merge_reports(findings);
        findings.iter_mut().for_each(verify_by_agreement);
    }
    let mut round = VerificationRound {
        context: &context,
        checks: Vec::new(),
        findings,
        ranks: BTreeMap::new(),
    };
    let eligible_peers = eligible_peers(opinions, &dropped, &context, verifiers.peers);
    round.by_peers(&eligible_peers, plan.check_time.min(MAX_TIME)).await;
    let n_asked = match verifiers.agent {
        Some(agent) => round.by_agent(agent).await,
        None => 0,
    };
    let VerificationRound { checks, mut findings, ranks, .. } = round;
    let mut unchecked = Vec::new();
    if !verifiers.peers.is_empty() {
        let names: Vec<&str> = eligible_peers.iter().map(|peer| peer.name()).collect();
        for finding in findings.iter_mut().filter(|finding| is_urgent_and_unsettled(finding)) {
            if independent_verifier(finding, &names).is_none() {
                verify_by_location(finding);
            }
        }
        unchecked = unchecked_warnings(&findings);
    }
    let mut findings = merge_reports(findings);
    edit::order(&mut findings, &ranks);
    let check_warnings = checks.iter().flat_map(|(_, checked)| checked.warnings.iter().cloned());
    let warnings = warnings.into_iter().chain(check_warnings).chain(unchecked).collect();
    VerifiedFindings {
        admission: Admission { findings, dropped },
        suppressed,
        warnings,
        checker: checker(&checks, opinions, n_asked),
        cut_short: checks.iter().any(|(_, checked)| checked.cut_short),
        checks,
        sources: BTreeMap::new(),
        context,
    }
}

/// The agent's part, when it is not one of the reviewers.
fn checker(
    checks: &[(String, VerifierResult)],
    opinions: &Opinions,
    n_asked: usize,
) -> Option<CheckerReport> {
    let is_reviewer = |name: &str| opinions.0.iter().any(|given| given.reviewer == name);
    let (name, checked) = checks.iter().find(|(name, _)| !is_reviewer(name))?;
    Some(CheckerReport {
        reviewer: name.clone(),
        model: checked.model.clone().unwrap_or_default(),
        findings: n_asked,
        usage: checked.usage.clone(),
    })
}

/// The peers that may check findings.
fn eligible_peers<'v>(
    opinions: &Opinions,
    dropped: &[DroppedClaim],
    context: &ReviewContext,
    peers: &'v [Arc<dyn Verifier>],
) -> Vec<&'v dyn Verifier> {
    let is_eligible = |peer: &&Arc<dyn Verifier>| {
        let given = opinions.0.iter().find(|given| given.reviewer == peer.name());
        given.is_some_and(|given| may_check(given, &context.change, dropped))
    };
    peers.iter().filter(is_eligible).map(AsRef::as_ref).collect()
}

/// The findings while they are checked.
struct VerificationRound<'c> {
    context: &'c ReviewContext,
    findings: Vec<Finding>,
    checks: Vec<(String, VerifierResult)>,
    /// The order of importance, by the key of a finding.
    ranks: BTreeMap<String, usize>,
}

impl VerificationRound<'_> {
    /// Lets peers check findings of others. If a peer gives no answer, the next one is tried, until
    /// the time is over.
    async fn by_peers(&mut self, eligible_peers: &[&dyn Verifier], time: Duration) {
        let end = Instant::now() + time;
        let mut peers: Vec<&dyn Verifier> = eligible_peers.to_vec();
        let mut tried: HashSet<(usize, String)> = HashSet::new();
        while Instant::now() < end {
            let mut orders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for (index, finding) in self.findings.iter().enumerate() {
                let names: Vec<&str> = peers
                    .iter()
                    .filter(|peer| peer.wants(finding))
                    .map(|peer| peer.name())
                    .filter(|name| !tried.contains(&(index, (*name).to_owned())))
                    .collect();
                if let Some(name) = independent_verifier(finding, &names) {
                    tried.insert((index, name.to_owned()));
                    orders.entry(name.to_owned()).or_default().push(index);
                }
            }
            if orders.is_empty() {
                return;
            }
            let (context, time) = (self.context, end.saturating_duration_since(Instant::now()));
            let asked = peers.iter().filter_map(|peer| {
                let indices = orders.remove(peer.name())?;
                let findings = self.picked(&indices);
                Some(async move { (*peer, indices, peer.check(context, &findings, time).await) })
            });
            for (peer, indices, checked) in join_all(asked.collect::<Vec<_>>()).await {
                if checked.is_silent {
                    peers.retain(|other| other.name() != peer.name());
                }
                self.note(peer.name(), &indices, checked);
            }
        }
    }

    /// Lets the agent check the findings that it selects, and returns their number.
    async fn by_agent(&mut self, agent: &dyn Verifier) -> usize {
        let wanted = self.findings.iter().enumerate().filter(|(_, it)| agent.wants(it));
        let indices: Vec<usize> = wanted.map(|(index, _)| index).collect();
        if !indices.is_empty() {
            let checked = agent.check(self.context, &self.picked(&indices), MAX_TIME).await;
            let edits = checked.edits.clone();
            self.note(agent.name(), &indices, checked);
            self.edit(&indices, &edits);
        }
        indices.len()
    }

    /// Applies the edits of findings.
    fn edit(&mut self, indices: &[usize], edits: &[FindingEdit]) {
        for (index, edit) in indices.iter().zip(edits) {
            let key = self.findings.get(*index).map(|it| it.dedupe_key.to_string());
            self.ranks.extend(key.zip(edit.rank));
        }
        self.findings = apply_edits(std::mem::take(&mut self.findings), indices, edits);
    }

    fn picked(&self, indices: &[usize]) -> Vec<Finding> {
        indices.iter().filter_map(|index| self.findings.get(*index).cloned()).collect()
    }

    fn note(&mut self, name: &str, indices: &[usize], checked: VerifierResult) {
        for (index, verification) in indices.iter().zip(&checked.verifications) {
            if let Some(finding) = self.findings.get_mut(*index) {
                let known = std::mem::take(&mut finding.verification);
                finding.verification = later_verification(known, verification.clone());
            }
        }
        self.checks.push((name.to_owned(), checked));
    }
}

impl VerifiedFindings {
    /// Keeps the most urgent findings if a reviewer limits their number, with a warning about the
    /// rest.
    pub(super) fn most_urgent(mut self, opinions: &Opinions, fail_on: Threshold) -> Self {
        if let Some(max) = opinions.max_findings() {
            let findings = std::mem::take(&mut self.admission.findings);
            let (kept, n_left_out) = most_urgent(findings, max, fail_on);
            self.admission.findings = kept;
            if n_left_out > 0 {
                self.cut_short = true;
                self.warnings.push(format!(
                    "{n_left_out} less urgent findings left out: at most {max} are reported"
                ));
            }
        }
        self.sources = self.quoted();
        self
    }

    /// The texts that outputs quote from, with secrets redacted.
    fn quoted(&self) -> BTreeMap<FilePath, String> {
        let files: BTreeSet<&FilePath> =
            self.admission.findings.iter().map(|finding| &finding.file).collect();
        let text = |file: &FilePath| {
            let text = self.context.texts.at_head(file)?;
            Some((file.clone(), secrets::redact(text).into_owned()))
        };
        files.into_iter().filter_map(text).collect()
    }
}
