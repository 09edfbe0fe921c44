//! Edits checked findings: corrections, finding or note, wording, and order. No finding is lost:
//! those that the edit does not name stay unchanged.

use crate::finding::{Finding, Priority, VerificationOutcome};
use crate::review::merge::{absorb, without_priority};
use crate::secrets;
use crate::verdict::is_refuted;
use std::collections::{BTreeMap, HashSet};

/// The edit of a finding by a check and an editor. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingEdit {
    /// The corrected priority.
    pub priority: Option<Priority>,
    /// A title for a busy reader.
    pub title: Option<String>,
    /// What goes wrong, and when.
    pub body: Option<String>,
    /// Another finding with the same cause, by its number.
    pub same_as: Option<usize>,
    /// How likely a maintainer is glad to be told of it, in percent, as check and editor estimate.
    pub worth: Option<u8>,
    /// No call is left for a check or an edit, so that the draft alone decides the tier.
    pub draft_decides: bool,
    /// Its place in the order of importance.
    pub rank: Option<usize>,
}

/// Applies edits to the findings with these numbers, and merges those with the same cause.
pub fn apply_edits(
    mut findings: Vec<Finding>,
    numbers: &[usize],
    edits: &[FindingEdit],
) -> Vec<Finding> {
    for (number, edit) in numbers.iter().zip(edits) {
        if let Some(finding) = findings.get_mut(*number) {
            apply(finding, edit);
        }
    }
    let mut worth: Vec<Option<u8>> = edits.iter().map(|edit| edit.worth).collect();
    let draft_decides = edits.iter().map(|edit| edit.draft_decides);
    let mut merged = HashSet::new();
    for (at, edit) in edits.iter().enumerate() {
        let target = edit.same_as.map(|_| first_cause(edits, at)).filter(|target| *target != at);
        let Some(target) = target else { continue };
        let pair = numbers.get(at).copied().zip(numbers.get(target));
        let Some((own, kept)) = pair.map(|(own, kept)| (own, *kept)) else { continue };
        let Some(other) = findings.get(own).cloned() else { continue };
        match findings.get_mut(kept) {
            Some(kept) if !is_refuted(kept) && !is_refuted(&other) => {
                raise(kept, &other, edits.get(target).is_some_and(is_corrected));
                absorb(kept, &other);
                let own_worth = worth.get(at).copied().flatten();
                if let Some(Some(worth)) = worth.get_mut(target) {
                    *worth = (*worth).max(own_worth.unwrap_or_default());
                }
                merged.insert(own);
            }
            _ => {}
        }
    }
    for ((number, worth), draft_decides) in numbers.iter().zip(worth).zip(draft_decides) {
        if let Some(finding) = findings.get_mut(*number) {
            finding.is_note = is_note(finding, worth, draft_decides);
        }
    }
    let numbered = findings.into_iter().enumerate();
    numbered.filter(|(at, _)| !merged.contains(at)).map(|(_, finding)| finding).collect()
}

/// The finding at the end of a chain of equal causes; a circle ends at its first finding.
fn first_cause(edits: &[FindingEdit], at: usize) -> usize {
    let mut seen = vec![at];
    let mut last = at;
    while let Some(next) = edits.get(last).and_then(|edit| edit.same_as) {
        if seen.contains(&next) || next >= edits.len() {
            return seen.into_iter().min().unwrap_or(at);
        }
        seen.push(next);
        last = next;
    }
    last
}

fn is_corrected(edit: &FindingEdit) -> bool {
    edit.priority.is_some()
}

/// Merges priority and check: a merged finding is as urgent as the most urgent one, and confirmed if one
/// of them is. A correction is also that of a finding that was merged before the check.
fn raise(kept: &mut Finding, other: &Finding, is_corrected: bool) {
    let had_own_check = other.verification.outcome != VerificationOutcome::Unverified;
    let may_raise = !is_corrected || had_own_check;
    if may_raise && other.effective_priority() < kept.effective_priority() {
        set_priority(kept, other.effective_priority());
    }
    if other.verification.is_confirmed() && !kept.verification.is_confirmed() {
        kept.verification = other.verification.clone();
    }
}

fn apply(finding: &mut Finding, edit: &FindingEdit) {
    if let Some(priority) = edit.priority {
        set_priority(finding, priority);
    }
    let said = |text: &Option<String>| {
        let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
        Some(secrets::redact(text).into_owned())
    };
    // A finding that is merged into another one keeps its own wording.
    let is_own = edit.same_as.is_none();
    if let Some(title) = said(&edit.title).filter(|_| is_own) {
        finding.title = titled(finding, &title);
    }
    if let Some(body) = said(&edit.body).filter(|_| is_own) {
        finding.body = body;
    }
}

/// From this mean of the three estimates on, in percent, a finding is not a note. Chosen on changes with
/// known problems: docs/measurements.md.
const MIN_MEAN: f64 = 41.0;

/// The same for a finding that was not checked, where the draft alone decides.
const MIN_CONFIDENCE: f64 = 0.35;

/// Whether a finding is a note: its check could not tell, or draft, check and edit together do not
/// expect a maintainer to be glad of it. P0, P1 and refuted findings never are.
fn is_note(finding: &Finding, worth: Option<u8>, draft_decides: bool) -> bool {
    if is_refuted(finding) || finding.effective_priority() <= Priority::P1 {
        return false;
    }
    let is_unsure = finding.verification.outcome == VerificationOutcome::Unsure;
    let is_likely = match worth {
        // The worth is the mean of check and edit. Some decimals are a little smaller as
        // floating-point numbers.
        Some(worth) => {
            let sum = finding.confidence.mul_add(100.0, 2.0 * f64::from(worth));
            sum / 3.0 >= MIN_MEAN - 1e-9
        }
        None if finding.verification.is_confirmed() || !draft_decides => true,
        None => finding.confidence >= MIN_CONFIDENCE,
    };
    is_unsure || !is_likely
}

fn set_priority(finding: &mut Finding, priority: Priority) {
    finding.priority = Some(priority);
    finding.severity = priority.severity();
    finding.title = titled(finding, &finding.title);
}

/// A title with the priority of the finding in front.
fn titled(finding: &Finding, title: &str) -> String {
    let bare = without_priority(title);
    match finding.priority {
        Some(priority) => format!("[{priority}] {bare}"),
        None => bare.to_owned(),
    }
}

/// Orders findings by priority, and those of one priority as the edit ranks them.
pub fn order(findings: &mut [Finding], ranks: &BTreeMap<String, usize>) {
    findings.sort_by_key(|finding| {
        let rank = ranks.get(finding.dedupe_key.as_str()).copied().unwrap_or(usize::MAX);
        (finding.effective_priority(), rank)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::LineSpan;
    use crate::finding::{Category, ReviewClaim, Verification};
    use crate::review::admit::unchecked;

    fn finding(line: u32, priority: Priority, verification: Verification) -> Finding {
        unchecked(ReviewClaim {
            file: "a.py".into(),
            span: LineSpan::line(line),
            priority: Some(priority),
            category: Category::Bug,
            title: format!("[{priority}] title {line}"),
            body: "body".to_owned(),
            suggestion: None,
            evidence: Some(format!("x{line}")),
            confidence: 0.3,
            reviewer: "agent".to_owned(),
            rule: None,
            verification,
        })
    }

    #[test]
    fn the_edit_decides_the_tier_except_of_what_is_urgent() {
        use Priority::{P0, P1, P2, P3};
        let (holds, unsure) = (Verification::verified("h"), Verification::unsure("u"));
        let (refuted, unchecked) = (Verification::refuted("r"), Verification::not_checked("n"));
        // Without a call for a check or an edit, the draft decides.
        for (priority, verification, confidence, draft_decides, expected) in [
            (P1, &unchecked, 0.1, true, false),
            (P2, &unchecked, 0.34, true, true),
            (P2, &unchecked, 0.35, true, false),
            (P2, &holds, 0.1, true, false),
            (P2, &unchecked, 0.1, false, false),
        ] {
            let finding = Finding { confidence, ..finding(1, priority, verification.clone()) };
            let edit = FindingEdit { draft_decides, ..FindingEdit::default() };
            let expected_of = format!("{priority} {verification:?} {confidence} {draft_decides}");
            assert_eq!(tier(finding, edit), expected, "{expected_of}");
        }
        for (priority, verification, confidence, worth, expected) in [
            (P0, &holds, 0.1, Some(0), false),
            (P1, &unsure, 0.1, Some(0), false),
            (P1, &unchecked, 0.1, None, false),
            (P2, &holds, 0.3, Some(46), true),
            (P2, &holds, 0.3, Some(47), false),
            (P3, &holds, 0.6, Some(31), true),
            (P3, &holds, 0.6, Some(32), false),
            (P3, &unchecked, 0.6, Some(31), true),
            (P2, &unsure, 0.9, None, true),
            (P2, &unsure, 0.9, Some(100), true),
            (P3, &holds, 0.1, None, false),
            (P3, &unchecked, 0.1, None, false),
            (P3, &refuted, 0.1, Some(0), false),
        ] {
            let finding = Finding { confidence, ..finding(1, priority, verification.clone()) };
            let expected_of = format!("{priority} {verification:?} {confidence} {worth:?}");
            let edit = FindingEdit { worth, ..FindingEdit::default() };
            assert_eq!(tier(finding, edit), expected, "{expected_of}");
        }
    }

    fn tier(finding: Finding, edit: FindingEdit) -> bool {
        apply_edits(vec![finding], &[0], &[edit]).first().expect("one").is_note
    }

    #[test]
    fn a_correction_changes_the_priority_and_so_the_tier() {
        let corrected = finding(1, Priority::P1, Verification::corrected("less"));
        let edit = FindingEdit {
            priority: Some(Priority::P3),
            title: Some("[P1] Slow on huge input".to_owned()),
            body: Some(" \n".to_owned()),
            worth: Some(0),
            ..FindingEdit::default()
        };
        let edited = apply_edits(vec![corrected], &[0], &[edit]);
        let it = edited.first().expect("one");
        assert_eq!((it.title.as_str(), it.body.as_str()), ("[P3] Slow on huge input", "body"));
        assert!(it.is_note);
    }

    #[test]
    fn equal_causes_are_merged_and_nothing_else_is_lost() {
        let held = |line, priority| finding(line, priority, Verification::verified("h"));
        let findings = vec![held(1, Priority::P2), held(2, Priority::P1), held(3, Priority::P2), {
            finding(4, Priority::P2, Verification::refuted("r"))
        }];
        let same = |other: Option<usize>| FindingEdit { same_as: other, ..FindingEdit::default() };
        for (edits, lines) in [
            (vec![same(None), same(Some(0)), same(None), same(None)], vec![1, 3, 4]),
            (vec![same(Some(1)), same(Some(0)), same(None), same(None)], vec![1, 3, 4]),
            (vec![same(Some(1)), same(Some(2)), same(None), same(None)], vec![3, 4]),
            (vec![same(Some(3)), same(Some(9)), same(Some(2)), same(None)], vec![1, 2, 3, 4]),
        ] {
            let edited = apply_edits(findings.clone(), &[0, 1, 2, 3], &edits);
            let found: Vec<u32> = edited.iter().map(|it| it.line_start).collect();
            assert_eq!(found, lines, "{edits:?}");
        }
        let note = FindingEdit { worth: Some(0), ..FindingEdit::default() };
        let same_note = FindingEdit { same_as: Some(0), ..note.clone() };
        let worthy = FindingEdit { worth: Some(90), ..same_note.clone() };
        let lower = FindingEdit { priority: Some(Priority::P3), ..note.clone() };
        for (of, edits, expected) in [
            ("one without an estimate", [&note, &same(None), &same(Some(0))], (Priority::P2, true)),
            ("two notes", [&note, &same(None), &same_note], (Priority::P2, true)),
            ("one worth a comment", [&note, &same(None), &worthy], (Priority::P2, false)),
            ("an urgent one", [&note, &same(Some(0)), &same(None)], (Priority::P1, false)),
            (
                "an urgent and a corrected one",
                [&lower, &same(Some(0)), &same(None)],
                (Priority::P1, false),
            ),
        ] {
            let edited = apply_edits(findings.clone(), &[0, 1, 2], &edits.map(Clone::clone));
            let first = edited.first().expect("the kept one");
            assert_eq!((first.effective_priority(), first.is_note), expected, "{of}");
        }
        let edited = apply_edits(findings, &[0, 1], &[same(None), same(Some(0))]);
        let first = edited.first().expect("the kept one");
        assert_eq!((first.priority, first.also_at.len()), (Some(Priority::P1), 1));
        assert!(first.title.starts_with("[P1]"), "{}", first.title);
    }
}
