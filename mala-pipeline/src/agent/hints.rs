//! What the model says of the built-in findings.

use mala_domain::agent::NAME;
use mala_domain::agent::answer::HintOpinion;
use mala_domain::agent::brief::{MAX_HINTS, hint_id};
use mala_domain::finding::{ReviewClaim, Verification, VerificationOutcome};

/// The built-in findings after the model's word on them. It may refute what the checks themselves are
/// not sure of, as long as no pass says otherwise; what they proved stands, whatever a text talks a
/// model into. Of what it was not shown it can say nothing.
pub(super) fn with_hint_opinions(
    hints: &[ReviewClaim],
    opinions: &[HintOpinion],
) -> Vec<ReviewClaim> {
    let mut with_hint_opinions = hints.to_vec();
    for (index, hint) in with_hint_opinions.iter_mut().enumerate().take(MAX_HINTS) {
        let id = hint_id(index);
        let own = || opinions.iter().filter(|opinion| opinion.id == id);
        let refuted = own().find(|opinion| !opinion.stands && !opinion.why.is_empty());
        let unproven = hint.verification.outcome == VerificationOutcome::Unverified;
        if let Some(opinion) = refuted.filter(|_| unproven && own().all(|it| !it.stands)) {
            hint.verification = Verification::refuted(format!("{NAME}: {}", opinion.why));
        }
    }
    with_hint_opinions
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::change::LineSpan;
    use mala_domain::finding::{Category, Priority};

    fn hint() -> ReviewClaim {
        ReviewClaim {
            file: "a.py".into(),
            span: LineSpan::line(1),
            priority: Some(Priority::P1),
            category: Category::Bug,
            title: "t".to_owned(),
            body: String::new(),
            suggestion: None,
            evidence: None,
            confidence: 0.9,
            reviewer: "builtin".to_owned(),
            rule: Some("a/rule".to_owned()),
            verification: Verification::default(),
        }
    }

    #[test]
    fn a_hint_is_refuted_when_it_was_shown_and_nobody_says_that_it_stands() {
        let says = |id: &str, stands: bool, why: &str| HintOpinion {
            id: id.to_owned(),
            stands,
            why: why.to_owned(),
        };
        for (opinions, refuted) in [
            (vec![], None),
            (vec![says("h1", false, "fine")], Some(0)),
            (vec![says("h1", false, "")], None),
            (vec![says("h1", false, "fine"), says("h1", false, "")], Some(0)),
            (vec![says("h1", false, "fine"), says("h1", true, "")], None),
            (vec![says("h1", true, ""), says("h1", false, "fine")], None),
            (vec![says("h30", false, "fine")], Some(29)),
            (vec![says("h31", false, "not shown")], None),
        ] {
            let with_hint_opinions = with_hint_opinions(&vec![hint(); 40], &opinions);
            let found = with_hint_opinions
                .iter()
                .position(|hint| hint.verification.outcome == VerificationOutcome::Refuted);
            assert_eq!(found, refuted, "{opinions:?}");
        }
    }
}
