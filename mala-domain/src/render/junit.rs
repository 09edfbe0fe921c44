//! JUnit XML: a suite per file, a failure per finding, and one test case for the review itself,
//! which fails with an error if the change could not be reviewed.

use super::ReportView;
use super::ranking::{self, FileFindings};
use super::visible::{at_most, one_line, visible};
use super::wording;
use crate::finding::Finding;
use crate::verdict;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Renders the report as JUnit XML.
pub(super) fn render(view: &ReportView<'_>) -> String {
    let mut report = Report::new("mala");
    report.add_test_suite(review(view));
    for group in ranking::by_file(&ranking::worst_first(view.report)) {
        report.add_test_suite(suite(&group));
    }
    report.to_string().unwrap_or_else(|error| could_not_write(&error.to_string()))
}

/// The suite for the review itself.
fn review(view: &ReportView<'_>) -> TestSuite {
    let headline = wording::headline(view.report);
    let mut status = TestCaseStatus::success();
    if let Some(why) = wording::incomplete_reason(view.report) {
        status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_type("mala/could-not-review").set_message(one_line(&why));
        status.set_description(one_line(&view.report.summary));
    }
    let mut case = TestCase::new("the change is reviewed", status);
    case.set_classname("mala.review");
    let warnings = view.report.warnings.iter().map(|warning| format!("\nwarning: {warning}"));
    let mut talk = format!("{}: {}\n", headline.word, headline.reason);
    talk.push_str(&wording::coverage(view.report));
    talk.extend(wording::suppressed(view.report).map(|count| format!("\n{count}")));
    talk.extend(wording::ledger(view.report).map(|ledger| format!("\nledger: {ledger}")));
    talk.extend(warnings);
    case.set_system_out(visible(&talk));
    let mut suite = TestSuite::new("mala review");
    suite.add_test_case(case);
    suite
}

fn suite(group: &FileFindings<'_>) -> TestSuite {
    let path = one_line(&group.file.to_string());
    let mut suite = TestSuite::new(&path);
    suite.add_test_cases(group.findings.iter().map(|finding| case(finding, &path)));
    suite
}

fn case(finding: &Finding, path: &str) -> TestCase {
    let rule = one_line(&wording::rule_id(finding));
    let title = one_line(&wording::title(finding));
    let mut status = if verdict::counts(finding) {
        TestCaseStatus::non_success(NonSuccessKind::Failure)
    } else {
        TestCaseStatus::skipped()
    };
    status.set_type(&rule).set_message(format!("{} {title}", finding.effective_priority()));
    status.set_description(description(finding));
    let mut case = TestCase::new(format!("{title} ({path}:{})", finding.span()), status);
    case.set_classname(rule);
    case.extra.insert("file".into(), path.into());
    case.extra.insert("line".into(), finding.span().start().to_string().into());
    case
}

fn description(finding: &Finding) -> String {
    let mut text = format!("{}:{}\n{}\n", finding.file, finding.span(), finding.body.trim());
    if let Some(suggestion) = &finding.suggestion {
        text.push_str(&format!("fix: {}\n", suggestion.trim()));
    }
    text.push_str(&format!(
        "by {}\n\n{}\n",
        finding.reviewer,
        at_most(&finding.evidence_snippet, 4000)
    ));
    visible(&text).into_owned()
}

/// The output if the XML cannot be written: an error, never an empty success.
fn could_not_write(why: &str) -> String {
    let why: String =
        one_line(why).chars().filter(|c| !matches!(c, '<' | '>' | '&' | '"')).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mala\" tests=\"1\" errors=\"1\">\
         <testsuite name=\"mala review\" tests=\"1\" errors=\"1\"><testcase name=\"the change is reviewed\">\
         <error message=\"{why}\"/></testcase></testsuite></testsuites>\n"
    )
}
