//! Merges findings: those of one reviewer that have the same cause, and those that several reviewers report.

use crate::change::{FilePath, LineSpan};
use crate::config;
use crate::finding::{Category, ClaimWording, Finding, FindingPlace, Priority, squeezed};
use crate::verdict::{Threshold, counts};

/// Merges duplicates: the same lines and the same kind of problem, reported by different reviewers,
/// by a linter and a rule, or by two security rules. Findings of other rules on the same line stay
/// separate, and so do claims of models that share no words or come from one reviewer. The most
/// urgent, then the most confident finding stays. Sorts the worst first.
pub fn merge_duplicates(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (&a.file, a.span(), &a.rule).cmp(&(&b.file, b.span(), &b.rule)));
    let mut findings = merge(findings);
    findings.sort_by(|a, b| worst_first(a).cmp(&worst_first(b)));
    findings
}

/// Merges the findings of these reviewers that have the same cause. The most urgent, then the most
/// confident one stays, with the locations of the others. Runs before the checks, so that a cause
/// is checked once. Findings of one rule in several places of a file are also merged, unless they
/// are urgent.
pub fn by_cause(mut findings: Vec<Finding>, reviewers: &[&str]) -> Vec<Finding> {
    if reviewers.is_empty() {
        return findings;
    }
    findings.sort_by(|a, b| {
        (!counts(a), a.effective_priority())
            .cmp(&(!counts(b), b.effective_priority()))
            .then(b.confidence.total_cmp(&a.confidence))
            .then((&a.file, a.span(), &a.title).cmp(&(&b.file, b.span(), &b.title)))
    });
    let may_repeat = |it: &Finding| it.rule.is_none() && reviewers.contains(&it.reviewer.as_str());
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    for finding in findings {
        let twin = kept.iter_mut().find(|other| match may_repeat(&finding) {
            true => same_cause(other, &finding) == SameCause::Yes,
            false => repeats_rule(other, &finding),
        });
        match twin {
            Some(other) => absorb(other, &finding),
            None => kept.push(finding),
        }
    }
    kept
}

/// Whether both are findings of the same rule in one file, and not urgent.
fn repeats_rule(a: &Finding, b: &Finding) -> bool {
    let is_minor = |it: &Finding| it.effective_priority() > Priority::P1;
    let is_same_rule = a.rule.is_some() && a.rule == b.rule && a.reviewer == b.reviewer;
    let is_checked_alike = a.verification.outcome == b.verification.outcome;
    is_same_rule
        && a.file == b.file
        && a.title == b.title
        && is_minor(a)
        && is_minor(b)
        && is_checked_alike
}

/// Whether there are two findings for which only a model can decide whether they have the same cause.
pub fn leaves_cause_open(findings: &[Finding]) -> bool {
    let is_unclear = |a: &Finding, b: &Finding| same_cause(a, b) == SameCause::Unclear;
    let later = |at: usize| findings.get(at + 1..).unwrap_or_default();
    findings.iter().enumerate().any(|(at, a)| later(at).iter().any(|b| is_unclear(a, b)))
}

/// Whether two findings have the same cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SameCause {
    Yes,
    Unclear,
    No,
}

/// Compares file, symbol, evidence and wording. Lines alone are not enough: two problems can share
/// a line, and one cause can appear on several. Neither are similar explanations: they quote the same code.
/// Without similar titles, the cause is open.
fn same_cause(a: &Finding, b: &Finding) -> SameCause {
    if a.reviewer != b.reviewer || a.rule.is_some() || counts(a) != counts(b) {
        return SameCause::No;
    }
    let (one, other) = (wording(a), wording(b));
    let has_same_title = bare_title(a) == bare_title(b);
    if a.file != b.file {
        return match (has_same_title, one.describes_the_same(other)) {
            (true, true) => SameCause::Yes,
            (_, true) => SameCause::Unclear,
            _ => SameCause::No,
        };
    }
    let shares_code = a.span().overlaps(b.span());
    let is_same_code =
        shares_code && squeezed(&a.evidence_snippet) == squeezed(&b.evidence_snippet);
    let is_same_symbol = a.symbol.is_some() && a.symbol == b.symbol;
    let agrees = one.is_titled_like(other) && one.names_the_same(other);
    let is_said = (shares_code && one.means_the_same(other))
        || (is_same_code && one.is_like(other))
        || ((is_same_symbol || has_same_title) && one.describes_the_same(other));
    match (is_said, agrees) {
        (true, true) => SameCause::Yes,
        (true, false) => SameCause::Unclear,
        _ if is_same_code && !one.is_unlike(other) => SameCause::Unclear,
        _ if (shares_code || is_same_symbol) && one.is_like(other) => SameCause::Unclear,
        _ if one.describes_the_same(other) => SameCause::Unclear,
        _ => SameCause::No,
    }
}

/// The title without its priority.
fn bare_title(finding: &Finding) -> &str {
    without_priority(&finding.title)
}

/// A title without the priority in front of it.
pub fn without_priority(title: &str) -> &str {
    let title = title.trim();
    let prefix = Priority::ALL.into_iter().find_map(|it| title.strip_prefix(&format!("[{it}]")));
    prefix.map_or(title, str::trim)
}

/// Adds the location and the text of a finding to another one with the same cause, and keeps the
/// higher confidence.
pub fn absorb(kept: &mut Finding, other: &Finding) {
    let is_known = |place: &FindingPlace, kept: &Finding| {
        kept.file == place.file
            && kept.span().overlaps(LineSpan::between(place.line_start, place.line_end))
    };
    for place in std::iter::once(other.place()).chain(other.also_at.iter().cloned()) {
        if !is_known(&place, kept) && !kept.also_at.contains(&place) {
            kept.also_at.push(place);
        }
    }
    kept.also_at.sort();
    kept.confidence = kept.confidence.max(other.confidence);
    let note = format!("Also said, of {}: {}", other.span(), other.title);
    if bare_title(kept) != bare_title(other) && !kept.body.contains(&note) {
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

/// Whether a linter reported it. Linters and our rules look for the same problems.
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
        kept.body.push_str(&format!(
            "\n\nAlso reported on these lines: {}. {}",
            other.title, other.body
        ));
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

/// The most urgent findings in their order, those that block first, and how many are left out. Notes always
/// stay; refuted findings are left out first.
pub fn most_urgent(
    findings: Vec<Finding>,
    max: usize,
    fail_on: Threshold,
) -> (Vec<Finding>, usize) {
    let n_notes = findings.iter().filter(|it| it.is_note).count();
    let max = max.saturating_add(n_notes);
    let left_out = findings.len().saturating_sub(max);
    let mut ranked: Vec<(usize, Finding)> = findings.into_iter().enumerate().collect();
    ranked.sort_by(|(_, a), (_, b)| {
        rank(a, fail_on).cmp(&rank(b, fail_on)).then(b.confidence.total_cmp(&a.confidence))
    });
    ranked.truncate(max);
    ranked.sort_by_key(|(index, _)| *index);
    (ranked.into_iter().map(|(_, finding)| finding).collect(), left_out)
}

fn rank(finding: &Finding, fail_on: Threshold) -> (bool, bool, bool, Priority) {
    let blocks = fail_on.blocks(finding);
    (!finding.is_note, !blocks, !counts(finding), finding.effective_priority())
}

#[cfg(test)]
mod tests;
