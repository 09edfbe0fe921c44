//! Checks of blocking findings before they block: who said it too, what a look at the file says, and what
//! another lane answers.

use crate::agent::answer::{Check, CheckOutcome};
use crate::agent::judge::{Bindings, refuted_by_definition};
use crate::change::LineSpan;
use crate::finding::{Finding, Priority, Verification, VerificationOutcome};
use crate::review::merge::merged;
use crate::verdict::counts;
use std::collections::BTreeMap;

/// Whether somebody has to check it before it blocks.
pub fn needs_check(finding: &Finding) -> bool {
    finding.effective_priority() <= Priority::P1
        && finding.verification.outcome == VerificationOutcome::Unverified
}

/// Who says it.
pub fn voices(finding: &Finding) -> impl Iterator<Item = &str> {
    std::iter::once(&finding.reviewer).chain(&finding.also_reported_by).map(String::as_str)
}

/// Looks at the files: refutes what is said to be missing and is there. It comes before findings are merged:
/// one that takes another along would have it refuted too.
pub fn by_looking(finding: &mut Finding, bindings: &dyn Bindings) {
    let cited = LineSpan::between(finding.line_start, finding.line_end);
    let why = refuted_by_definition(&finding.title, &finding.file, cited, bindings);
    if let Some(why) = why {
        finding.verification = Verification::refuted(why);
    }
}

/// What several lanes say is said once. What is refuted stays apart from what is not: it is kept, and takes
/// nothing along.
pub fn said_once(findings: Vec<Finding>) -> Vec<Finding> {
    let (standing, refuted): (Vec<_>, Vec<_>) = findings.into_iter().partition(counts);
    merged(standing).into_iter().chain(merged(refuted)).collect()
}

/// What two lanes found without knowing of each other is verified.
pub fn by_agreement(finding: &mut Finding) {
    if needs_check(finding) && !finding.also_reported_by.is_empty() {
        let names: Vec<&str> = voices(finding).collect();
        finding.verification = Verification::verified(format!("found by {}", names.join(" and ")));
    }
}

/// With nobody else to ask, what stands at head is all that can be said for it, beside what was said.
pub fn alone(finding: &mut Finding) {
    let said = finding.verification.how.as_deref().unwrap_or("no other lane to ask");
    let how = format!("{said}: its file, lines and evidence are there at head");
    finding.verification = Verification::verified(how);
}

/// What starts the reason why nobody checked a finding.
const UNCHECKED: &str = "not checked: ";

/// Whether nobody has said anything of a finding that somebody has to check.
pub fn is_unasked(finding: &Finding) -> bool {
    let how = finding.verification.how.as_deref();
    needs_check(finding) && how.is_none_or(|how| how.starts_with(UNCHECKED))
}

/// Nobody checked it, for this reason: it blocks.
pub fn unchecked(why: &str) -> Verification {
    Verification::unverified(format!("{UNCHECKED}{why}"))
}

/// Which findings block though nobody checked them: a line for each reason.
pub fn left_unchecked(findings: &[Finding]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| needs_check(finding)) {
        let how = finding.verification.how.as_deref().unwrap_or_default();
        if let Some(why) = how.strip_prefix(UNCHECKED) {
            *reasons.entry(why).or_default() += 1;
        }
    }
    let lines = reasons.into_iter().map(|(why, n)| match n {
        1 => format!("1 blocking finding is {UNCHECKED}{why}"),
        n => format!("{n} blocking findings are {UNCHECKED}{why}"),
    });
    lines.collect()
}

/// What another lane says of it. What it says nothing of stays as it is, and blocks.
pub fn by_lane(finding: &mut Finding, check: Option<&Check>, lane: &str) {
    finding.verification = match check {
        None => unchecked(&format!("{lane} says nothing of it")),
        Some(check) => {
            let how = format!("{lane}: {}", check.why);
            match check.outcome {
                CheckOutcome::Holds => Verification::verified(how),
                CheckOutcome::Refuted => Verification::refuted(how),
                CheckOutcome::Unsure => Verification::unverified(how),
            }
        }
    };
}

/// Who checks: the first of these lanes that did not say it.
pub fn checker<'l>(finding: &Finding, lanes: &[&'l str]) -> Option<&'l str> {
    lanes.iter().copied().find(|lane| !voices(finding).any(|voice| voice == *lane))
}
