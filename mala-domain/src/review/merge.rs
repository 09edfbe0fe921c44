//! Merges duplicate findings into one that names all reviewers that reported it.

use crate::change::FilePath;
use crate::config;
use crate::finding::{Category, ClaimWording, Finding, Priority};
use crate::verdict::{Threshold, counts};
use std::cmp::Reverse;

/// Merges duplicates: the same lines and the same kind of problem, said by different reviewers, by a
/// linter and a rule, or by two rules about security. Other rules that meet on a line mean different
/// things, and so do claims of models that share no words or that one reviewer tells apart. The most
/// urgent, then the most confident one stays, and the worst come first.
pub fn merge_duplicates(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (&a.file, a.span(), &a.rule).cmp(&(&b.file, b.span(), &b.rule)));
    let mut findings = merge(findings);
    findings.sort_by(|a, b| worst_first(a).cmp(&worst_first(b)));
    findings
}

/// The findings without those that a reviewer with several passes says twice in the same words.
pub fn without_exact_repeats(findings: Vec<Finding>, repeating: &[&str]) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let is_said = may_repeat(&finding, repeating)
            && kept.iter().any(|other| {
                (&other.file, other.span(), &other.title)
                    == (&finding.file, finding.span(), &finding.title)
                    && (&other.body, &other.reviewer) == (&finding.body, &finding.reviewer)
            });
        if !is_said {
            kept.push(finding);
        }
    }
    kept
}

/// Checked findings of reviewers with several passes: what says the same is reported once, by the more
/// urgent and surer one, which tells how else it was put. It comes after the checks: what is checked is
/// what was said. Refuted findings and those that stand stay apart.
pub fn without_repeats(mut findings: Vec<Finding>, repeating: &[&str]) -> Vec<Finding> {
    if repeating.is_empty() {
        return findings;
    }
    findings.sort_by(|a, b| {
        (!counts(a), a.effective_priority(), !a.verification.is_settled())
            .cmp(&(!counts(b), b.effective_priority(), !b.verification.is_settled()))
            .then(b.confidence.total_cmp(&a.confidence))
            .then((&a.file, a.span(), &a.title).cmp(&(&b.file, b.span(), &b.title)))
    });
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let repeated = kept
            .iter_mut()
            .find(|other| may_repeat(&finding, repeating) && is_repeated(other, &finding));
        match repeated {
            Some(other) => note(other, &finding),
            None => kept.push(finding),
        }
    }
    kept
}

fn may_repeat(finding: &Finding, repeating: &[&str]) -> bool {
    finding.rule.is_none() && repeating.contains(&finding.reviewer.as_str())
}

fn is_repeated(a: &Finding, b: &Finding) -> bool {
    let (one, other) = (a.span(), b.span());
    a.file == b.file
        && a.reviewer == b.reviewer
        && a.rule.is_none()
        && one.overlaps(other)
        && (a.category == b.category || a.title == b.title)
        && one.start().abs_diff(other.start()) <= 2
        && counts(a) == counts(b)
        && wording(a).means_the_same(wording(b))
        && wording(a).names_the_same(wording(b))
}

fn note(kept: &mut Finding, other: &Finding) {
    let note = format!("Also said, of {}: {}", other.span(), other.title);
    if kept.title != other.title && !kept.body.contains(&note) {
        kept.body.push_str(&format!("\n\n{note}"));
    }
}

/// The order of reports: priority, then place.
fn worst_first(finding: &Finding) -> (Priority, &FilePath, u32, u32) {
    (finding.effective_priority(), &finding.file, finding.line_start, finding.line_end)
}

fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let twin = kept
            .iter_mut()
            .rev()
            .take_while(|other| other.file == finding.file)
            .take(32)
            .find(|other| says_the_same(other, &finding));
        match twin {
            Some(other) => merge_into(other, finding),
            None => kept.push(finding),
        }
    }
    kept
}

fn says_the_same(a: &Finding, b: &Finding) -> bool {
    let (one, other) = (a.span(), b.span());
    if a.rule.is_some() && a.rule == b.rule && a.reviewer == b.reviewer {
        return one == other && a.title == b.title;
    }
    a.category == b.category
        && one.overlaps(other)
        && one.start().abs_diff(other.start()) <= 1
        && (a.reviewer != b.reviewer
            || (a.category == Category::Security && a.rule.is_some() && b.rule.is_some())
            || is_of_linter(a) != is_of_linter(b))
        && (a.rule.is_some() || b.rule.is_some() || wording(a).means_the_same(wording(b)))
}

fn wording(finding: &Finding) -> ClaimWording<'_> {
    ClaimWording { title: &finding.title, body: &finding.body, evidence: &finding.evidence_snippet }
}

/// Whether a linter says it: linters and our own rules look for the same things.
fn is_of_linter(finding: &Finding) -> bool {
    finding.rule.as_deref().is_some_and(config::is_of_linter)
}

fn merge_into(kept: &mut Finding, mut other: Finding) {
    // A finding that is not refuted wins over the same finding that is.
    let rank =
        |finding: &Finding| (!counts(finding), finding.effective_priority(), -finding.confidence);
    if rank(&other) < rank(kept) {
        std::mem::swap(kept, &mut other);
    }
    if counts(&other) && !wording(kept).means_the_same(wording(&other)) {
        kept.body
            .push_str(&format!("\n\nAlso said of these lines: {}. {}", other.title, other.body));
    }
    let mut names = std::mem::take(&mut kept.also_reported_by);
    names.extend(counts(&other).then(|| reporter_name(&other)));
    names.append(&mut other.also_reported_by);
    let own = reporter_name(kept);
    names.retain(|name| *name != own);
    names.sort();
    names.dedup();
    kept.also_reported_by = names;
}

/// The name of the reviewer, with its rule.
fn reporter_name(finding: &Finding) -> String {
    match &finding.rule {
        Some(rule) => format!("{}: {rule}", finding.reviewer),
        None => finding.reviewer.clone(),
    }
}

/// The most urgent findings in their order, and how many are left out. Blocking findings always stay;
/// refuted ones are left out first.
pub fn most_urgent(
    findings: Vec<Finding>,
    max: usize,
    fail_on: Threshold,
) -> (Vec<Finding>, usize) {
    let n_blocking = findings.iter().filter(|finding| fail_on.blocks(finding)).count();
    let max = max.max(n_blocking);
    let left_out = findings.len().saturating_sub(max);
    let mut ranked: Vec<(usize, Finding)> = findings.into_iter().enumerate().collect();
    ranked.sort_by(|(_, a), (_, b)| {
        rank(a, fail_on).cmp(&rank(b, fail_on)).then(b.confidence.total_cmp(&a.confidence))
    });
    ranked.truncate(max);
    ranked.sort_by_key(|(index, _)| *index);
    (ranked.into_iter().map(|(_, finding)| finding).collect(), left_out)
}

fn rank(finding: &Finding, fail_on: Threshold) -> (Reverse<bool>, Reverse<bool>, Priority) {
    (Reverse(fail_on.blocks(finding)), Reverse(counts(finding)), finding.effective_priority())
}
