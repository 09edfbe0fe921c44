//! Asks for the label of each finding, one after the other.

use crate::console::harmless;
use mala_domain::finding::Finding;
use mala_eval::capture::FindingLabel;
use std::io::{self, BufRead};

/// Maximum number of times to ask one question.
const MAX_TIMES: usize = 10;

/// A label for every finding: the given ones, and those that the user enters. `None` when the user stops
/// or the input ends.
pub(super) fn ask(
    findings: &[Finding],
    labels: &[Option<FindingLabel>],
    input: &mut impl BufRead,
    say: &mut dyn FnMut(&str),
) -> io::Result<Option<Vec<FindingLabel>>> {
    let mut requested = Vec::new();
    for (at, (finding, label)) in findings.iter().zip(labels).enumerate() {
        let label = match label {
            Some(label) => Some(*label),
            None => {
                say(&format!("\n[{} of {}] {}", at + 1, findings.len(), line(finding)));
                say(&format!("  {}", harmless(&finding.body)));
                question(input, say)?
            }
        };
        match label {
            Some(label) => requested.push(label),
            None => return Ok(None),
        }
    }
    Ok(Some(requested))
}

fn question(
    input: &mut impl BufRead,
    say: &mut dyn FnMut(&str),
) -> io::Result<Option<FindingLabel>> {
    for _ in 0..MAX_TIMES {
        say("  right (r), wrong (w), leave out (l), stop (q)?");
        let mut answer = String::new();
        if input.read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "r" | "right" => return Ok(Some(FindingLabel::Right)),
            "w" | "wrong" => return Ok(Some(FindingLabel::Wrong)),
            "l" | "leave out" | "leave-out" => return Ok(Some(FindingLabel::LeaveOut)),
            "q" | "stop" | "quit" => return Ok(None),
            _ => {}
        }
    }
    Ok(None)
}

/// A finding in one line.
pub(super) fn line(finding: &Finding) -> String {
    let Finding { file, dedupe_key, category, severity, title, .. } = finding;
    let (span, severity) = (finding.span(), severity.name());
    harmless(&format!("{dedupe_key}  {file}:{span}  {severity} {category}: {title}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn finding(title: &str) -> Finding {
        let value = json!({
            "file": "a.py", "line_start": 3, "line_end": 4, "priority": 1, "severity": "high",
            "category": "bug", "title": title, "body": "Body.", "evidence_snippet": "x", "confidence": 0.9,
            "reviewer": "builtin", "dedupe_key": "0011",
        });
        serde_json::from_value(value).unwrap()
    }

    fn asked(answers: &str) -> (Option<Vec<FindingLabel>>, String) {
        let findings = [finding("One"), finding("Two"), finding("Th\u{1b}ree")];
        let labels = [None, Some(FindingLabel::Wrong), None];
        let mut said = String::new();
        let mut say = |text: &str| said.push_str(&format!("{text}\n"));
        let labels = ask(&findings, &labels, &mut answers.as_bytes(), &mut say).unwrap();
        (labels, said)
    }

    #[test]
    fn only_findings_without_a_word_are_asked_for() {
        let (labels, said) = asked("r\nwhat?\nL\n");
        assert_eq!(
            labels,
            Some(vec![FindingLabel::Right, FindingLabel::Wrong, FindingLabel::LeaveOut])
        );
        insta::assert_snapshot!(said, @r"

        [1 of 3] 0011  a.py:3-4  high bug: One
          Body.
          right (r), wrong (w), leave out (l), stop (q)?

        [3 of 3] 0011  a.py:3-4  high bug: Th\u{1b}ree
          Body.
          right (r), wrong (w), leave out (l), stop (q)?
          right (r), wrong (w), leave out (l), stop (q)?
        ");
    }

    #[test]
    fn stopping_gives_no_words() {
        for answers in ["", "r\n", "q\n", "r\nq\n", &"what?\n".repeat(20)] {
            assert_eq!(asked(answers).0, None, "{answers:?}");
        }
    }
}
