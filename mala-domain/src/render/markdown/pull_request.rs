//! The comments on a pull request: the summary, with a line per finding and the details of those without
//! a comment of their own, and the comment on the lines of one finding.

use super::escape::{code, fence, inline, prose};
use super::{LIMIT, n_chars, sections};
use crate::change::LineSpan;
use crate::finding::{Finding, VerificationOutcome};
use crate::forge::{
    PullRequest, SummaryDraft, SummaryState, answer_marker, suggested_lines, summary_marker,
};
use crate::render::ranking;
use crate::render::visible::at_most;
use crate::render::wording::{self, ShaLength};
use crate::report::Report;
use crate::review::Usage;
use sha2::{Digest, Sha256};

/// The findings that the list at the top of a summary names.
const MAX_LISTED: usize = 50;

/// The summary of a review of a pull request, with the details of the findings `in_summary`. Computes
/// `state.digest`.
pub fn render_summary(
    report: &Report,
    pull: &PullRequest,
    state: SummaryState,
    in_summary: &[String],
) -> SummaryDraft {
    let mut stable = report.clone();
    stable.stats = Default::default();
    stable.review_log_path = None;
    // A finding is reported as fixed in one round only; the next run on the same head would differ.
    stable.tracking.iter_mut().for_each(|tracking| tracking.fixed.clear());
    stable.reviewers.iter_mut().for_each(|reviewer| reviewer.usage = Usage::default());
    let hash = Sha256::digest(text(&stable, pull, in_summary).as_bytes());
    let digest = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let state = SummaryState { digest, ..state };
    let marker = summary_marker(&report.review_id, &state);
    let body = format!("{marker}\n{}", text(report, pull, in_summary));
    SummaryDraft { state, body }
}

fn text(report: &Report, pull: &PullRequest, in_summary: &[String]) -> String {
    let findings = ranking::worst_first(report);
    let mut out = sections::head(report);
    let mut n_listed = 0;
    for finding in findings.iter().take(MAX_LISTED) {
        let line = listed(finding, pull);
        // Paths in other scripts are long in links.
        if n_chars(&out) + n_chars(&line) > LIMIT / 2 {
            break;
        }
        out.push_str(&line);
        n_listed += 1;
    }
    if let Some(more) = findings.len().checked_sub(n_listed).filter(|more| *more > 0) {
        out.push_str(&format!("- {}\n", wording::counted(more, "more finding")));
    }
    if !findings.is_empty() {
        out.push('\n');
    }
    let tail = format!("{}{}", earlier(report), sections::tail(report, ShaLength::Short));
    let mut room = LIMIT.saturating_sub(n_chars(&out) + n_chars(&tail));
    let is_here = |finding: &&&Finding| {
        let id = finding.dedupe_key.as_str();
        in_summary.iter().any(|named| named == id)
    };
    for finding in findings.iter().filter(is_here) {
        let details = sections::finding_at(finding, &place(finding));
        let Some(left) = room.checked_sub(n_chars(&details)) else { break };
        room = left;
        out.push_str(&details);
    }
    out.push_str(&tail);
    out
}

/// The findings of earlier rounds that are fixed or do not count.
fn earlier(report: &Report) -> String {
    let Some(tracking) = &report.tracking else { return String::new() };
    let named = |finding: &Finding, why: &str| {
        let title = inline(&at_most(&wording::title(finding), 200));
        format!("- {} {title}: {}\n", code(&place(finding)), inline(&at_most(why, 300)))
    };
    let fixed = tracking.fixed.iter().map(|it| named(&it.finding, &it.reason));
    let aside = tracking.set_aside.iter().map(|it| {
        let standing = it.standing.name().replace('_', " ");
        let reason = it.reason.as_ref().map(|reason| format!(", {reason}")).unwrap_or_default();
        named(&it.finding, &format!("{standing}{reason}"))
    });
    let unknown = tracking.unknown.iter();
    let unknown =
        unknown.map(|it| named(&it.finding, it.reason.as_deref().unwrap_or("not checked")));
    let aside: Vec<String> = aside.collect();
    [("Fixed", fixed.collect()), ("Not counted", aside), ("Open, not checked", unknown.collect())]
        .into_iter()
        .filter(|(_, lines): &(&str, Vec<String>)| !lines.is_empty())
        .map(|(title, lines)| {
            let shown: String = lines.iter().take(MAX_LISTED).map(String::as_str).collect();
            format!(
                "<details><summary>{title}: {}</summary>\n\n{shown}\n</details>\n\n",
                lines.len()
            )
        })
        .collect()
}

/// The answer to `/mala explain`: why the finding is reported. `None` in `finding` means that it is gone.
pub fn render_explanation(report: &Report, finding: Option<&Finding>, command: u64) -> String {
    let mut out = match finding {
        Some(finding) => {
            let how = finding.verification.how.as_deref().unwrap_or("no check was due");
            let outcome = match finding.verification.outcome {
                VerificationOutcome::Verified => "verified",
                VerificationOutcome::Corrected => "verified, with a corrected consequence",
                VerificationOutcome::Refuted => "refuted",
                VerificationOutcome::Unsure => "unsure",
                VerificationOutcome::NotChecked | VerificationOutcome::Unverified => "not checked",
            };
            format!(
                "{}\nThe evidence, {}:\n\n{}\nVerification: {outcome} ({}).\n\n{}\n",
                prose(&at_most(&finding.body, 3000)),
                code(&place(finding)),
                fence(&at_most(&finding.evidence_snippet, 3000), ""),
                inline(&at_most(how, 300)),
                sections::source(finding),
            )
        }
        None => format!("The review {} does not report this finding.\n", report.review_id),
    };
    out.push('\n');
    out.push_str(&answer_marker(command));
    out
}

/// The answer to a command without an effect: the reason, and the available commands.
pub fn render_no_effect(why: &str, command: u64) -> String {
    format!(
        "{why}\n\nIn a reply to the comment of a finding: `/mala waive REASON`, `/mala dispute REASON`, \
         `/mala explain`. In a comment on the pull request: `/mala review`.\n\n{}",
        answer_marker(command)
    )
}

/// One line of the list: priority, title and a link to the lines.
fn listed(finding: &Finding, pull: &PullRequest) -> String {
    format!(
        "- **{}** {} [{}]({})\n",
        finding.effective_priority(),
        inline(&at_most(&wording::title(finding), 200)),
        code(&place(finding)),
        link(finding, pull),
    )
}

/// The file and the lines of a finding.
fn place(finding: &Finding) -> String {
    format!("{}:{}", at_most(&finding.file.to_string(), 200), finding.span())
}

/// The address of the lines at head.
fn link(finding: &Finding, pull: &PullRequest) -> String {
    let path: String = finding
        .file
        .as_bytes()
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' => char::from(*byte).to_string(),
            byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let span = finding.span();
    format!("{}/{}/{path}#L{}-L{}", pull.files_url, pull.head, span.start(), span.end())
}

/// The comment on the lines of a finding. `head` is the text of its file.
pub fn render_inline(finding: &Finding, placed: LineSpan, head: Option<&str>) -> String {
    let mut out = format!(
        "**{} {}**\n\n{}\n",
        finding.effective_priority(),
        inline(&at_most(&finding.title, 300)),
        prose(&at_most(&finding.body, 3000)),
    );
    if let Some(lines) = head.and_then(|head| suggested_lines(finding, placed, head)) {
        out.push_str(&format!("```suggestion\n{lines}\n```\n\n"));
    } else if let Some(fix) = finding.suggestion.as_deref().filter(|fix| !fix.trim().is_empty()) {
        out.push_str(&format!("**Fix:** {}\n", prose(&at_most(fix, 2000))));
    }
    if placed != finding.span() {
        out.push_str(&format!("The finding is on lines {}.\n\n", finding.span()));
    }
    out.push_str(&sections::source(finding));
    out.push_str("\n\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::RepositoryName;
    use crate::render::tests::sample;

    #[test]
    fn times_and_cost_do_not_change_the_digest() {
        let text = |text: &str| text.to_owned();
        let pull = PullRequest {
            number: 7,
            repository: RepositoryName { owner: text("o"), repo: text("r") },
            repository_id: None,
            title: String::new(),
            body: String::new(),
            author: text("ada"),
            base_branch: text("main"),
            base: text("b"),
            merge_base: text("b"),
            head: text("h"),
            head_repository: None,
            clone_url: String::new(),
            web_url: text("https://github.com/o/r"),
            files_url: text("https://github.com/o/r/blob"),
            is_fork: false,
        };
        let mut report = sample::full().report;
        let draft = |report: &Report, in_summary: &[&str]| {
            let in_summary: Vec<String> = in_summary.iter().map(|id| text(id)).collect();
            render_summary(report, &pull, SummaryState::default(), &in_summary)
        };
        let first = draft(&report, &[]);
        assert!(
            first.body.contains("https://github.com/o/r/blob/h/src/users.py#L"),
            "{}",
            first.body
        );
        assert!(!first.body.contains("<details open>"), "findings with a comment are only listed");
        report.stats.latency_seconds_e2e += 99.0;
        assert_eq!(draft(&report, &[]).state.digest, first.state.digest);
        let key = report.issues.first().map(|finding| finding.dedupe_key.to_string()).unwrap();
        let with_details = draft(&report, &[&key]);
        assert!(with_details.body.contains("<details open>"), "{}", with_details.body);
        assert_ne!(with_details.state.digest, first.state.digest);
    }
}
