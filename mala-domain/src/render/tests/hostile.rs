//! Reports whose text fields contain control sequences, Markdown, XML, JSON and workflow commands.

use super::sample::{self, Sample, finding};
use crate::change::FilePath;
use crate::finding::{Finding, Priority, Verification, VerificationOutcome};
use crate::render::terminal::{self, TerminalOptions};
use crate::render::{OUTPUTS, output};
use crate::review::suppress::SuppressedFinding;
use crate::review::{SkipReason, SkippedFile};
use crate::verdict::{self, NotReviewedReason, Outcome};
use proptest::prelude::*;

const FRAGMENTS: &[&str] = &[
    "\x1b[2J\x1b]0;owned\x07",
    "\u{9b}31m",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{e0041}",
    "]]>",
    "<![CDATA[",
    "&",
    "&amp;",
    "<script>",
    "</details>",
    "<img src=x>",
    "\"",
    "'",
    "`",
    "```",
    "````\n",
    "::error::x",
    "::",
    "%0A",
    "%",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\0",
    "\u{7f}",
    "@octocat",
    "#12",
    "![a](http://e.vil)",
    "[a](javascript:x)",
    "https://e.vil",
    "www.e.vil",
    "\u{1f980}",
    "\u{6f22}\u{5b57}",
    "e\u{301}",
    "\u{fffe}",
    "\u{ffff}",
    "\n\n",
    "\n/merge",
    "\n# h",
    "\n- l",
    "\n1. l",
    "|",
    "---",
    "\n===",
    "\u{2028}",
    "\\",
    "\\`",
    "$",
    "~~",
    " ",
    "word",
    "\n    code",
    "{0}",
    "<!--",
    "-->",
    "\u{1f468}\u{200d}\u{1f469}",
    "a",
    "_",
    "*",
];

fn text() -> impl Strategy<Value = String> {
    let fragments = proptest::collection::vec(prop::sample::select(FRAGMENTS), 0..12);
    prop_oneof![
        8 => fragments.prop_map(|parts| parts.concat()),
        2 => any::<String>(),
        1 => (prop::sample::select(FRAGMENTS), 1usize..600).prop_map(|(part, n)| part.repeat(n)),
    ]
}

prop_compose! {
    fn hostile_finding()(
        texts in proptest::collection::vec(text(), 10),
        path in proptest::collection::vec(any::<u8>(), 1..20),
        lines in (0u32..30, 0u32..60),
        priority in 0usize..4,
        outcome in 0usize..3,
    ) -> Finding {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        Finding {
            file: FilePath::from_bytes(path),
            title: next(),
            body: next(),
            suggestion: Some(next()),
            evidence_snippet: next(),
            reviewer: next(),
            rule: Some(next()),
            symbol: Some(next()),
            also_reported_by: vec![next(), next()],
            verification: Verification {
                outcome: [
                    VerificationOutcome::Verified,
                    VerificationOutcome::Refuted,
                    VerificationOutcome::Unverified,
                ][outcome],
                how: Some(next()),
            },
            ..finding("x.rs", lines, Priority::ALL[priority])
        }
    }
}

prop_compose! {
    /// A report with hostile text in all fields.
    pub(super) fn sample()(
        findings in proptest::collection::vec((hostile_finding(), text()), 0..5),
        texts in proptest::collection::vec(text(), 12),
        path in proptest::collection::vec(any::<u8>(), 1..20),
        fails in any::<bool>(),
    ) -> Sample {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        let mut sample = sample::full();
        let report = &mut sample.report;
        report.summary = next();
        report.review_id = next();
        report.warnings = vec![next(), next()];
        report.review_log_path = Some(next());
        report.scope.target = next();
        report.scope.repository = Some(next());
        report.scope.diff_hash = next();
        report.reviewers[0].reviewer = next();
        report.reviewers[0].error = Some(next());
        report.coverage.skipped = vec![SkippedFile {
            file: FilePath::from_bytes(path),
            reason: SkipReason::Ignored,
            hunks: 1,
        }];
        report.parse_error = Some(next());
        let reason = next();
        if fails {
            report.outcome = Outcome::CouldNotReview(NotReviewedReason::Incomplete);
        }
        report.issues = findings.iter().map(|(finding, _)| finding.clone()).collect();
        report.suppressed = report
            .issues
            .iter()
            .map(|finding| SuppressedFinding { finding: finding.clone(), line: 1, reason: reason.clone() })
            .collect();
        sample.sources = findings
            .iter()
            .filter(|(_, source)| source.len() % 3 > 0)
            .map(|(finding, source)| (finding.file.clone(), source.repeat(3)))
            .collect();
        sample
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_panics_and_everything_stays_well_formed(sample in sample()) {
        let view = sample.view();
        for (name, render) in OUTPUTS {
            let text = render(&view);
            prop_assert_eq!(&text, &render(&view), "{} differs from one time to the next", name);
            prop_assert!(text.ends_with('\n'), "{} does not end its last line", name);
            prop_assert!(!text.contains('\x1b'), "{} lets an escape through", name);
        }
        for name in ["json", "sarif", "rdjson", "gitlab"] {
            let text = output(name).unwrap()(&view);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        }
    }

    #[test]
    fn no_terminal_is_driven_and_no_line_is_too_wide(
        sample in sample(),
        width in 0usize..130,
        unicode in any::<bool>(),
        verbose in any::<bool>(),
    ) {
        let options = TerminalOptions { width, unicode, verbose, color: false, all: verbose, max_findings: 3 };
        let text = terminal::render(&sample.view(), &options);
        let hidden = text.chars().find(|c| c.is_control() && *c != '\n' || ('\u{202a}'..='\u{202e}').contains(c));
        prop_assert_eq!(hidden, None);
        let colored = terminal::render(&sample.view(), &TerminalOptions { color: true, ..options });
        for line in colored.lines() {
            let codes = line.split('\x1b').skip(1);
            for code in codes {
                let end = code.find('m').unwrap_or(0);
                let is_style = code.starts_with('[') && code[1..end].bytes().all(|b| b.is_ascii_digit() || b == b';');
                prop_assert!(is_style, "{:?}", line);
            }
        }
        for line in text.lines().filter(|line| !line.starts_with("report:")) {
            let columns: usize = line.chars().map(|c| unicode_width::UnicodeWidthChar::width(c).unwrap_or(1)).sum();
            prop_assert!(columns <= width.max(40), "{} > {}: {:?}", columns, width, line);
        }
    }

    #[test]
    fn junit_has_a_failure_per_finding_and_only_characters_of_xml(sample in sample()) {
        let xml = output("junit").unwrap()(&sample.view());
        let bad = xml.chars().find(|c| !matches!(c,
            '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..));
        prop_assert_eq!(bad, None);
        let parsed = quick_junit::Report::deserialize_from_str(&xml).unwrap();
        let failures = sample.report.issues.iter().filter(|finding| verdict::counts(finding)).count();
        prop_assert_eq!(parsed.failures, failures);
        let fails = matches!(sample.report.outcome, Outcome::CouldNotReview(_));
        prop_assert_eq!(parsed.errors, usize::from(fails));
    }

    #[test]
    fn github_gets_one_command_per_line(sample in sample()) {
        let text = output("github").unwrap()(&sample.view());
        let lines = text.split_terminator('\n');
        for line in lines.clone() {
            let is_command = ["::error ", "::warning ", "::notice "].iter().any(|name| line.starts_with(name));
            prop_assert!(is_command && !line.contains('\r'), "{:?}", line);
        }
        let expected = sample.report.issues.len() + sample.report.warnings.len() + 1;
        prop_assert_eq!(lines.count(), expected);
    }

    #[test]
    fn markdown_has_only_our_own_tags_links_and_mentions(sample in sample()) {
        let text = output("markdown").unwrap()(&sample.view());
        for line in outside_code(&text).lines() {
            let mut bare = line.to_owned();
            for ours in ["details", "details open", "summary", "b", "sub", "code"] {
                // A tag ends a word: `<code>:</code>//` is not a link.
                bare = bare.replace(&format!("<{ours}>"), " ").replace(&format!("</{ours}>"), " ");
            }
            prop_assert!(!bare.contains('<'), "{:?}", line);
            prop_assert!(!bare.contains("](") && !bare.contains("://"), "{:?}", line);
            prop_assert!(!bare.to_lowercase().contains("www."), "{:?}", line);
            prop_assert!(!bare.replace("@&#8203;", "").contains('@'), "{:?}", line);
            prop_assert!(!line.starts_with(['/', '=', '>', '\t']) && !line.starts_with("    "), "{:?}", line);
        }
    }
}

/// Markdown without fences, with an x for each code span and escaped character.
fn outside_code(text: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<usize> = None;
    for line in text.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) => {
                if ticks >= open && line.len() == ticks {
                    fence = None;
                }
            }
            None if ticks >= 3 && !line[ticks..].contains('`') => fence = Some(ticks),
            None => {
                out.push_str(&without_spans(line));
                out.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "a fence is left open");
    out
}

fn without_spans(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            out.push('x');
            rest = &rest[1..];
            rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
        } else if c == '`' {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            rest = &rest[ticks..];
            let closing =
                closing_run(rest, ticks).unwrap_or_else(|| panic!("unclosed span: {line:?}"));
            rest = &rest[closing + ticks..];
            out.push('x');
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn closing_run(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|start| start + at) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        if run == ticks {
            return Some(start);
        }
        at = start + run;
    }
    None
}
