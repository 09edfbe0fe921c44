//! The opinions of reviewers, and the votes that follow from them.

use super::admit::{Admission, DroppedClaim};
use crate::agent::answer::ParseMethod;
use crate::change::{Change, FileClass, FilePath};
use crate::finding::{Finding, ReviewClaim};
use crate::ports::ReviewerFailure;
use crate::review::Coverage;
use crate::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One reviewer's contribution.
#[derive(Debug, Clone, Default)]
pub struct Opinion {
    /// The model behind it, if any.
    pub model: Option<String>,
    /// The claims.
    pub claims: Vec<ReviewClaim>,
    /// Its own verdict, if it states one.
    pub claimed_verdict: Option<Verdict>,
    /// Its summary of the change.
    pub summary: String,
    /// The hunks that it accounts for, as indices into the file's hunks.
    pub accounted: Vec<(FilePath, Vec<usize>)>,
    /// The files that it was not shown, because they do not fit into its prompt.
    pub unshown: Vec<FilePath>,
    /// The most findings that are reported of its review; those that block come on top.
    pub max_findings: Option<usize>,
    /// Whether its claims come from several passes, so that they may contain duplicates.
    pub may_repeat_itself: bool,
    /// Problems that did not stop it.
    pub warnings: Vec<String>,
    /// Whether work that it wanted to do was not done: a check, a look at a file.
    pub cut_short: bool,
    /// The usage.
    pub usage: Usage,
    /// Why it could not finish. The claims are then incomplete.
    pub failure: Option<ReviewerFailure>,
    /// The reviewers that it speaks for, as an external gate does: each has its entry in the report.
    pub members: Vec<GateMember>,
    /// The folder with its own files.
    pub log: Option<String>,
    /// Whether it objects to the change by a rule of its own, as an external gate does.
    pub objects: bool,
    /// How its process ran, if it is a process.
    pub process: Option<ProcessRun>,
}

/// How the process of a reviewer ran.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessRun {
    /// Its exit code; null when it did not end by itself.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub seconds: f64,
    /// Files of the tree that it wrote, which it must not.
    pub wrote: Vec<String>,
}

/// One of the reviewers behind an external gate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateMember {
    /// Its name, as its claims have it.
    pub name: String,
    /// The model behind it, if it is known.
    pub model: Option<String>,
    /// Why it has no verdict.
    pub error: Option<String>,
    /// The usage.
    pub usage: Usage,
}

/// The usage of a reviewer. Numbers that it did not report are unknown, not zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Calls to a model that mala made itself; those of a lane or a command are not known.
    pub llm_calls: u64,
    /// Calls to tools that mala made itself.
    pub tool_calls: u64,
    /// Tokens in and out; null when unknown.
    pub tokens_used: Option<u64>,
    /// Tokens read from the provider's cache; null when unknown.
    pub cache_read_tokens: Option<u64>,
    /// Dollars; null when unknown.
    pub cost_usd: Option<f64>,
    /// Seconds spent waiting for a model.
    pub latency_seconds_llm: f64,
    /// How many answers were read in which way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers_read: BTreeMap<ParseMethod, u64>,
}

impl Usage {
    /// No usage at all.
    pub fn nothing() -> Self {
        Self {
            tokens_used: Some(0),
            cache_read_tokens: Some(0),
            cost_usd: Some(0.0),
            ..Self::default()
        }
    }

    /// The sum of both; unknown as soon as one is.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let mut answers_read = self.answers_read.clone();
        for (method, count) in &other.answers_read {
            *answers_read.entry(*method).or_default() += count;
        }
        Self {
            llm_calls: self.llm_calls.saturating_add(other.llm_calls),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
            tokens_used: sum(self.tokens_used, other.tokens_used),
            cache_read_tokens: sum(self.cache_read_tokens, other.cache_read_tokens),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(a, b)| rounded(a + b)),
            latency_seconds_llm: self.latency_seconds_llm + other.latency_seconds_llm,
            answers_read,
        }
    }

    /// The difference to an earlier sum.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let difference = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_sub(b?));
        let read = self.answers_read.iter().map(|(method, count)| {
            let before = before.answers_read.get(method).copied().unwrap_or_default();
            (*method, count.saturating_sub(before))
        });
        Self {
            llm_calls: self.llm_calls.saturating_sub(before.llm_calls),
            tool_calls: self.tool_calls.saturating_sub(before.tool_calls),
            tokens_used: difference(self.tokens_used, before.tokens_used),
            cache_read_tokens: difference(self.cache_read_tokens, before.cache_read_tokens),
            cost_usd: self.cost_usd.zip(before.cost_usd).map(|(a, b)| rounded(a - b)),
            latency_seconds_llm: self.latency_seconds_llm - before.latency_seconds_llm,
            answers_read: read.filter(|(_, count)| *count > 0).collect(),
        }
    }
}

/// Removes the rounding error of a sum of dollars.
fn rounded(dollars: f64) -> f64 {
    (dollars * 1e9).round() / 1e9
}

/// The opinion of one reviewer, or why it has none.
#[derive(Debug, Clone)]
pub struct ReviewerOpinion {
    /// The reviewer.
    pub reviewer: String,
    /// Its opinion.
    pub opinion: Result<Opinion, ReviewerFailure>,
}

impl ReviewerOpinion {
    /// Why it could not review, or could not finish.
    pub fn failure(&self) -> Option<&ReviewerFailure> {
        match &self.opinion {
            Ok(opinion) => opinion.failure.as_ref(),
            Err(failure) => Some(failure),
        }
    }

    /// The names under which it reports: its own, those of its members, and those of its claims, such
    /// as the built-in checks that an agent passes on.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::from([self.reviewer.as_str()]);
        if let Ok(opinion) = &self.opinion {
            names.extend(opinion.members.iter().map(|member| member.name.as_str()));
            names.extend(opinion.claims.iter().map(|claim| claim.reviewer.as_str()));
        }
        names
    }

    /// Its findings among these.
    pub fn findings<'f>(&self, findings: &'f [Finding]) -> Vec<&'f Finding> {
        let names = self.names();
        let is_own = |finding: &&Finding| names.iter().any(|name| finding.is_reported_by(name));
        findings.iter().filter(is_own).collect()
    }

    /// Its claims among these that were dropped.
    pub fn dropped<'d>(&self, dropped: &'d [DroppedClaim]) -> Vec<&'d DroppedClaim> {
        let names = self.names();
        dropped.iter().filter(|dropped| names.contains(dropped.reviewer.as_str())).collect()
    }

    /// The hunks that it accounts for.
    pub(super) fn accounted(&self) -> &[(FilePath, Vec<usize>)] {
        self.opinion.as_ref().map(|opinion| opinion.accounted.as_slice()).unwrap_or_default()
    }
}

/// The opinions of all reviewers.
#[derive(Debug, Clone, Default)]
pub struct Opinions(pub Vec<ReviewerOpinion>);

impl Opinions {
    fn given(&self) -> impl Iterator<Item = &Opinion> {
        self.0.iter().filter_map(|given| given.opinion.as_ref().ok())
    }

    /// All claims, in the order of the reviewers.
    pub fn claims(&self) -> Vec<ReviewClaim> {
        self.given().flat_map(|opinion| opinion.claims.iter().cloned()).collect()
    }

    /// The reviewers whose claims may contain duplicates.
    pub fn repeating(&self) -> Vec<&str> {
        let all = self
            .0
            .iter()
            .filter(|given| given.opinion.as_ref().is_ok_and(|opinion| opinion.may_repeat_itself));
        all.map(|given| given.reviewer.as_str()).collect()
    }

    /// Whether a reviewer could not do all that it wanted to.
    pub fn is_cut_short(&self) -> bool {
        self.given().any(|opinion| opinion.cut_short)
    }

    /// The most findings that are reported, if a reviewer sets a limit.
    pub fn max_findings(&self) -> Option<usize> {
        self.given().filter_map(|opinion| opinion.max_findings).max()
    }

    /// Whether a reviewer objects to the change by a rule of its own.
    pub fn objects(&self) -> bool {
        self.given().any(|opinion| opinion.objects)
    }

    /// The reviewers' warnings.
    pub fn warnings(&self) -> Vec<String> {
        self.given().flat_map(|opinion| opinion.warnings.iter().cloned()).collect()
    }

    /// The change, in which files are too large that were not shown to a reviewer and that no other one
    /// accounts for.
    #[must_use]
    pub fn without_unshown(&self, change: &Arc<Change>) -> Arc<Change> {
        let unshown: BTreeSet<&FilePath> = self.given().flat_map(|it| &it.unshown).collect();
        if unshown.is_empty() {
            return change.clone();
        }
        let mut change = Change::clone(change);
        let is_accounted = |path: &FilePath| {
            let mut accounted = self.0.iter().flat_map(|given| given.accounted());
            accounted.any(|(file, hunks)| file == path && !hunks.is_empty())
        };
        for file in change.files.iter_mut().filter(|file| unshown.contains(&file.path)) {
            if !is_accounted(&file.path) {
                file.class = FileClass::TooLarge;
            }
        }
        Arc::new(change)
    }

    /// The coverage of all reviewers together. A reviewer whose claims were all dropped does not
    /// count.
    pub fn coverage(&self, change: &Change, admission: &Admission) -> Coverage {
        let accounted: Vec<(FilePath, Vec<usize>)> = self
            .0
            .iter()
            .filter(|given| !given.has_lost_all(admission))
            .flat_map(|given| given.accounted().iter().cloned())
            .collect();
        Coverage::over(change, &accounted)
    }
}

impl ReviewerOpinion {
    /// Whether all of its claims were dropped, and it states no verdict.
    fn has_lost_all(&self, admission: &Admission) -> bool {
        let has_lost = self.dropped(&admission.dropped).iter().any(|it| it.claim.rule.is_none());
        let has_other = || self.findings(&admission.findings).iter().any(|it| it.rule.is_none());
        let gives_verdict =
            self.opinion.as_ref().is_ok_and(|opinion| opinion.claimed_verdict.is_some());
        has_lost && !gives_verdict && !has_other()
    }
}
