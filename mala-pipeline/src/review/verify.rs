//! The one stage that checks findings before they count: by a look at the files, by the agreement of
//! reviewers, then by an independent look. Which findings are checked is decided in
//! `mala_domain::review::verify`.

use super::admit::Admitted;
use futures_util::future::join_all;
use mala_domain::change::FilePath;
use mala_domain::finding::Finding;
use mala_domain::ports::{Checked, Verifier};
use mala_domain::report::{CheckerReport, Suppressed};
use mala_domain::review::admit::Admission;
use mala_domain::review::decide::DecisionPolicy;
use mala_domain::review::merge::without_repeats;
use mala_domain::review::verify::{
    blocks_unchecked, by_agreement, by_looking, by_place, independent, left_unchecked, replaced,
    reported_once,
};
use mala_domain::review::worst::worst;
use mala_domain::review::{Coverage, Opinions, ReviewContext, ReviewPlan};
use mala_domain::secrets;
use mala_syntax::symbols::HeadBindings;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the reviewers of a panel, and then the agent, may take for all checks together, at most.
const MAX_TIME: Duration = Duration::from_secs(180);

/// What checks findings.
#[derive(Clone, Copy, Default)]
pub struct Verifiers<'v> {
    /// Reviewers of a panel, each of which checks what another one reports.
    pub peers: &'v [Arc<dyn Verifier>],
    /// The agent, which checks in a fresh context what no peer has settled.
    pub agent: Option<&'v dyn Verifier>,
}

/// Findings with what checks say of them.
pub(super) struct Verified {
    pub(super) admission: Admission,
    pub(super) suppressed: Vec<Suppressed>,
    pub(super) warnings: Vec<String>,
    pub(super) checks: Vec<(String, Checked)>,
    pub(super) checker: Option<CheckerReport>,
    pub(super) cut_short: bool,
    pub(super) sources: BTreeMap<FilePath, String>,
    pub(super) context: ReviewContext,
}

pub(super) async fn verify(
    admitted: Admitted,
    opinions: &Opinions,
    verifiers: Verifiers<'_>,
    plan: &ReviewPlan,
) -> Verified {
    let Admitted { admission, suppressed, warnings, context } = admitted;
    let Admission { mut findings, dropped } = admission;
    let bindings = HeadBindings::of(&context);
    findings.iter_mut().for_each(|finding| by_looking(finding, &bindings));
    let is_panel = opinions.0.len() > 1;
    if is_panel {
        findings = reported_once(findings);
        findings.iter_mut().for_each(by_agreement);
    }
    let mut round = VerificationRound { context: &context, checks: Vec::new(), findings };
    let able = able(opinions, &dropped, &context, verifiers.peers);
    round.by_peers(&able, plan.check_time.min(MAX_TIME)).await;
    let n_asked = match verifiers.agent {
        Some(agent) => round.by_agent(agent).await,
        None => 0,
    };
    let VerificationRound { checks, mut findings, .. } = round;
    let mut unchecked = Vec::new();
    if !verifiers.peers.is_empty() {
        let names: Vec<&str> = able.iter().map(|peer| peer.name()).collect();
        for finding in findings.iter_mut().filter(|finding| blocks_unchecked(finding)) {
            if independent(finding, &names).is_none() {
                by_place(finding);
            }
        }
        unchecked = left_unchecked(&findings);
    }
    let findings = reported_once(without_repeats(findings, &opinions.repeating()));
    let told = checks.iter().flat_map(|(_, checked)| checked.warnings.iter().cloned());
    let warnings = warnings.into_iter().chain(told).chain(unchecked).collect();
    Verified {
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
    checks: &[(String, Checked)],
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

/// The peers that are independent reviewers: each has reviewed all of the change, and all that it claims
/// is there. One that has no vote, or may lose it when others look at its claims, refutes nothing.
fn able<'v>(
    opinions: &Opinions,
    dropped: &[mala_domain::review::admit::Dropped],
    context: &ReviewContext,
    peers: &'v [Arc<dyn Verifier>],
) -> Vec<&'v dyn Verifier> {
    let may_check = |peer: &&Arc<dyn Verifier>| {
        let given = opinions.0.iter().find(|given| given.reviewer == peer.name());
        let opinion = given.filter(|given| given.failure().is_none());
        opinion.and_then(|given| given.opinion.as_ref().ok()).is_some_and(|opinion| {
            Coverage::over(&context.change, &opinion.accounted).is_complete()
                && !dropped.iter().any(|claim| claim.reviewer == peer.name())
        })
    };
    peers.iter().filter(may_check).map(AsRef::as_ref).collect()
}

/// The findings while they are checked.
struct VerificationRound<'c> {
    context: &'c ReviewContext,
    findings: Vec<Finding>,
    checks: Vec<(String, Checked)>,
}

impl VerificationRound<'_> {
    /// Has peers look at findings of others: the first of them, and the next one where it gives no
    /// answer, while the time lasts.
    async fn by_peers(&mut self, able: &[&dyn Verifier], time: Duration) {
        let end = Instant::now() + time;
        let mut peers: Vec<&dyn Verifier> = able.to_vec();
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
                if let Some(name) = independent(finding, &names) {
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

    /// Has the agent look at what it wants to check; says how many findings that are.
    async fn by_agent(&mut self, agent: &dyn Verifier) -> usize {
        let wanted = self.findings.iter().enumerate().filter(|(_, it)| agent.wants(it));
        let indices: Vec<usize> = wanted.map(|(index, _)| index).collect();
        if !indices.is_empty() {
            let checked = agent.check(self.context, &self.picked(&indices), MAX_TIME).await;
            self.note(agent.name(), &indices, checked);
        }
        indices.len()
    }

    fn picked(&self, indices: &[usize]) -> Vec<Finding> {
        indices.iter().filter_map(|index| self.findings.get(*index).cloned()).collect()
    }

    fn note(&mut self, name: &str, indices: &[usize], checked: Checked) {
        for (index, verification) in indices.iter().zip(&checked.verifications) {
            if let Some(finding) = self.findings.get_mut(*index) {
                let known = std::mem::take(&mut finding.verification);
                finding.verification = replaced(known, verification.clone());
            }
        }
        self.checks.push((name.to_owned(), checked));
    }
}

impl Verified {
    /// Keeps the most urgent findings and all that block, when a reviewer limits them; how many are left
    /// out is said.
    pub(super) fn most_urgent(mut self, opinions: &Opinions, policy: &DecisionPolicy) -> Self {
        let fail_on = if opinions.objects() { policy.fail_on_objection } else { policy.fail_on };
        if let Some(max) = opinions.max_findings() {
            let findings = std::mem::take(&mut self.admission.findings);
            let (kept, n_left_out) = worst(findings, max, fail_on);
            self.admission.findings = kept;
            if n_left_out > 0 {
                self.cut_short = true;
                self.warnings.push(format!(
                    "{n_left_out} less urgent findings left out: at most {max} are reported, and all that block"
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
