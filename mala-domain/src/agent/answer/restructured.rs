//! An answer that another call brought into form. That call may restructure and never decide: every
//! word and every priority of it must be in the original, and no pass comes out of it.

use super::ladder::{self, ParseMethod};
use super::review::{AnswerSource, read_object};
use super::{Answer, ParseProblem, Words};
use crate::finding::Priority;
use std::collections::HashSet;

/// Reads an answer that was brought into form; the problem of the original stands when the result
/// says anything that the original does not.
pub fn read_restructured(
    original: &str,
    words: &Words<'_>,
    problem: &ParseProblem,
) -> Result<Answer, ParseProblem> {
    let read = ladder::find(words, &["verdict", "findings"]).and_then(|(object, _)| {
        read_object(&object, ParseMethod::Restructured, AnswerSource::Agent)
    });
    match read {
        Ok(answer) if !answer.claims.is_empty() && says_only(&answer, original) => Ok(answer),
        _ => Err(problem.clone()),
    }
}

fn says_only(answer: &Answer, original: &str) -> bool {
    let known: HashSet<String> = words_of(original).collect();
    answer.claims.iter().all(|claim| {
        let candidate = &claim.candidate;
        let title = candidate.title.get(4..).unwrap_or_default();
        let lines = [candidate.span.start().to_string(), candidate.span.end().to_string()];
        original.contains(&*candidate.file.to_text())
            && candidate.priority.is_some_and(|priority| names(&known, priority))
            && lines.iter().all(|line| known.contains(line))
            && words_of(title).chain(words_of(&candidate.body)).all(|word| known.contains(&word))
    })
}

/// Whether these words name a priority or the severity that it stands for.
fn names(known: &HashSet<String>, priority: Priority) -> bool {
    known.contains(&priority.to_string().to_lowercase())
        || known.contains(priority.severity().name())
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
