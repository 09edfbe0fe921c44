//! GitHub Actions workflow commands: one annotation per finding. Untrusted text is escaped, so that
//! it cannot start another command.

use super::ReportView;
use super::ranking;
use super::ranking::FindingLevel;
use super::visible::{one_line, visible};
use super::wording;
use crate::finding::Finding;

/// Renders workflow commands, worst finding first: GitHub shows only ten annotations per level.
pub(super) fn render(view: &ReportView<'_>) -> String {
    let report = view.report;
    let mut out = String::new();
    let headline = wording::headline(report);
    let mut covered = wording::coverage(report);
    if let Some(suppressed) = wording::suppressed(report) {
        covered = format!("{covered}; {suppressed}");
    }
    if let Some(ledger) = wording::ledger(report) {
        covered = format!("{covered}. Ledger: {ledger}");
    }
    if wording::incomplete_reason(report).is_some() {
        let message = format!("{}. {covered}", headline.reason);
        command(&mut out, "error", &[("title", "mala could not review")], &message);
    }
    for finding in ranking::worst_first(report) {
        annotate(&mut out, finding);
    }
    for warning in &report.warnings {
        command(&mut out, "notice", &[("title", "mala warning")], warning);
    }
    if wording::incomplete_reason(report).is_none() {
        let message = format!("{}: {}. {covered}", headline.word, headline.reason);
        command(&mut out, "notice", &[("title", "mala")], &message);
    }
    out
}

fn annotate(out: &mut String, finding: &Finding) {
    let name = match FindingLevel::of(finding) {
        FindingLevel::Error => "error",
        FindingLevel::Warning => "warning",
        FindingLevel::Note => "notice",
    };
    let title = format!("{} {}", finding.effective_priority(), one_line(&wording::title(finding)));
    let span = finding.span();
    let mut message = finding.body.trim().to_owned();
    if let Some(suggestion) = &finding.suggestion {
        message.push_str(&format!("\nfix: {}", suggestion.trim()));
    }
    message.push_str(&format!("\n[{}] by {}", wording::rule_id(finding), finding.reviewer));
    let properties = [
        ("file", &*finding.file.to_text()),
        ("line", &span.start().to_string()),
        ("endLine", &span.end().to_string()),
        ("title", &title),
    ];
    command(out, name, &properties, &message);
}

fn command(out: &mut String, name: &str, properties: &[(&str, &str)], message: &str) {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", in_property(value))).collect();
    out.push_str(&format!("::{name} {}::{}\n", properties.join(","), in_message(message)));
}

fn in_message(text: &str) -> String {
    visible(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn in_property(text: &str) -> String {
    // Escape line feeds and carriage returns of a path before `visible` would drop them.
    let escaped = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    visible(&escaped).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_start_another_command() {
        let mut out = String::new();
        let hostile = "50%\n::set-output name=x::y\r\n::error::z\x1b[0m";
        command(&mut out, "error", &[("file", "a,b:c\n::stop-commands::x")], hostile);
        assert_eq!(
            out,
            "::error file=a%2Cb%3Ac%0A%3A%3Astop-commands%3A%3Ax::50%25%0A::set-output name=x::y\
             %0A::error::z<U+001B>[0m\n"
        );
    }
}
