//! Shows the ledger's data about a review: fixed findings, findings that do not count, and the next
//! step.

use super::TerminalPage;
use crate::finding::Finding;
use crate::ledger::Standing;
use crate::ledger::rounds::RoundCoverage;
use crate::render::visible::{at_most, one_line};
use crate::render::wording;
use crate::report::{Report, TrackingReport};

/// The groups of findings, in the order in which they are shown.
const GROUPS: [(&str, &[Standing]); 2] = [
    ("new", &[Standing::New, Standing::Late]),
    ("still open", &[Standing::StillOpen, Standing::Regressed]),
];

/// Findings by group; one group without a title if none was reported before.
pub(super) fn groups<'r>(
    report: &'r Report,
    ranked: &[&'r Finding],
) -> Vec<(Option<&'static str>, Vec<&'r Finding>)> {
    let standing = |finding: &Finding| {
        let tracking = report.tracking.as_ref()?;
        tracking.of_issue(finding).map(|it| it.standing)
    };
    let is_known =
        |it: &&Finding| matches!(standing(it), Some(Standing::StillOpen | Standing::Regressed));
    if !ranked.iter().any(is_known) {
        return vec![(None, ranked.to_vec())];
    }
    let group = |(title, standings): (&'static str, &[Standing])| {
        let in_group = |it: &&&Finding| standings.contains(&standing(it).unwrap_or(Standing::New));
        (Some(title), ranked.iter().filter(in_group).copied().collect::<Vec<_>>())
    };
    GROUPS.into_iter().map(group).filter(|(_, findings)| !findings.is_empty()).collect()
}

/// Adds the ledger's data about a review.
pub(super) fn write(tracking: &TrackingReport, out: &mut TerminalPage) {
    for fixed in &tracking.fixed {
        out.labelled("fixed:", "fixed:", &format!("{} ({})", line(&fixed.finding), fixed.reason));
    }
    for standing in [Standing::Late, Standing::BelowBar, Standing::Waived, Standing::Disputed] {
        set_aside(tracking, standing, out);
    }
    if tracking.reviewed == RoundCoverage::Delta {
        let round = tracking.round;
        let text = format!("{round}, reviewed what changed since the last review (--full for all)");
        out.labelled("round:", "round:", &text);
    }
    if let Some(reason) = tracking.escalation() {
        out.labelled("next:", "next:", &one_line(&format!("a person decides: {reason}")));
    }
}

fn set_aside(tracking: &TrackingReport, standing: Standing, out: &mut TerminalPage) {
    let all = tracking.set_aside.iter().filter(|it| it.standing == standing);
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    let (word, why) = match standing {
        Standing::Late => ("late:", "on lines that an earlier round reviewed"),
        Standing::BelowBar => ("minor:", "less urgent than this round asks for"),
        Standing::Waived => ("waived:", "accepted by a person"),
        _ => ("disputed:", "rejected by a person"),
    };
    let count = wording::counted(all.len(), "finding");
    let hint = if out.options.all { ":" } else { " (use --all to list them)" };
    out.labelled(word, word, &format!("{count} {why}{hint}"));
    if out.options.all {
        for it in all {
            let reason = it.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let id = it.id.0.get(..8).unwrap_or(&it.id.0);
            out.wrapped(
                &format!("{id} {}{}", line(&it.finding), one_line(&reason)),
                2,
                str::to_owned,
            );
        }
    }
}

fn line(finding: &Finding) -> String {
    let (file, priority) = (&finding.file, finding.effective_priority());
    let title = at_most(&finding.title, 200);
    let rule = wording::rule_id(finding);
    one_line(&format!("{file}:{} {priority} {title} [{rule}]", finding.line_start))
}
