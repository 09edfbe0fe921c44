//! Checks of blocking findings before they block: who said it too, what a look at the file says, and what
//! another lane answers.

use crate::agent::answer::{Check, CheckOutcome};
use crate::agent::judge::{Bindings, refuted_by_definition};
use crate::change::LineSpan;
use crate::finding::{Finding, Priority, Verification, VerificationOutcome};

/// Whether somebody has to check it before it blocks.
pub fn needs_check(finding: &Finding) -> bool {
    finding.effective_priority() <= Priority::P1
        && finding.verification.outcome == VerificationOutcome::Unverified
}

/// Who says it.
pub fn voices(finding: &Finding) -> impl Iterator<Item = &str> {
    std::iter::once(&finding.reviewer).chain(&finding.also_reported_by).map(String::as_str)
}

/// Looks at the files: refutes what is said to be missing and is there; what two lanes found without
/// knowing of each other is verified.
pub fn by_looking(finding: &mut Finding, bindings: &dyn Bindings) {
    let cited = LineSpan::between(finding.line_start, finding.line_end);
    let why = refuted_by_definition(&finding.title, &finding.file, cited, bindings);
    if let Some(why) = why {
        finding.verification = Verification::refuted(why);
    } else if !finding.also_reported_by.is_empty() {
        let names: Vec<&str> = voices(finding).collect();
        finding.verification = Verification::verified(format!("found by {}", names.join(" and ")));
    }
}

/// With nobody else to ask, what stands at head is all that can be said for it.
pub fn alone(finding: &mut Finding, why: &str) {
    let how = format!("{why}: its file, lines and evidence are there at head");
    finding.verification = Verification::verified(how);
}

/// What another lane says of it. What it says nothing of stays as it is, and blocks.
pub fn by_lane(finding: &mut Finding, check: Option<&Check>, lane: &str) {
    finding.verification = match check {
        None => Verification::unverified(format!("{lane} says nothing of it")),
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
