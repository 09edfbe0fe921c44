//! ModelAccess a person for a word on each finding, one after the other.

use crate::console::harmless;
use mala_domain::eval::capture::Word;
use mala_domain::finding::Finding;
use std::io::{self, BufRead};

/// How often one question is asked.
const MAX_TIMES: usize = 10;

/// A word for every finding: those that are there, and those that a person gives. `None` when the person
/// stops, or says nothing more.
pub(super) fn ask(
    findings: &[Finding],
    words: &[Option<Word>],
    input: &mut impl BufRead,
    say: &mut dyn FnMut(&str),
) -> io::Result<Option<Vec<Word>>> {
    let mut spoken = Vec::new();
    for (at, (finding, word)) in findings.iter().zip(words).enumerate() {
        let word = match word {
            Some(word) => Some(*word),
            None => {
                say(&format!("\n[{} of {}] {}", at + 1, findings.len(), line(finding)));
                say(&format!("  {}", harmless(&finding.body)));
                question(input, say)?
            }
        };
        match word {
            Some(word) => spoken.push(word),
            None => return Ok(None),
        }
    }
    Ok(Some(spoken))
}

fn question(input: &mut impl BufRead, say: &mut dyn FnMut(&str)) -> io::Result<Option<Word>> {
    for _ in 0..MAX_TIMES {
        say("  right (r), wrong (w), leave out (l), stop (q)?");
        let mut answer = String::new();
        if input.read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "r" | "right" => return Ok(Some(Word::Right)),
            "w" | "wrong" => return Ok(Some(Word::Wrong)),
            "l" | "leave out" | "leave-out" => return Ok(Some(Word::LeaveOut)),
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

    fn asked(answers: &str) -> (Option<Vec<Word>>, String) {
        let findings = [finding("One"), finding("Two"), finding("Th\u{1b}ree")];
        let words = [None, Some(Word::Wrong), None];
        let mut said = String::new();
        let mut say = |text: &str| said.push_str(&format!("{text}\n"));
        let words = ask(&findings, &words, &mut answers.as_bytes(), &mut say).unwrap();
        (words, said)
    }

    #[test]
    fn only_findings_without_a_word_are_asked_for() {
        let (words, said) = asked("r\nwhat?\nL\n");
        assert_eq!(words, Some(vec![Word::Right, Word::Wrong, Word::LeaveOut]));
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
