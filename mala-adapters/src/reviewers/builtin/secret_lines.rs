//! Secrets in the lines that a change adds.

use super::NAME;
use mala_domain::change::{ChangedFile, LineSpan};
use mala_domain::finding::{Category, ReviewClaim, Verification};
use mala_domain::secrets::{self, SecretMatch};

/// Checks each run of added lines as one text, because keys span lines.
pub(super) fn check(file: &ChangedFile) -> Vec<ReviewClaim> {
    let path = file.path.to_text();
    runs(file)
        .iter()
        .flat_map(|(first, text)| {
            secrets::scan(&path, text)
                .into_iter()
                .map(|found| candidate(file, &found, *first, text))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The runs of added lines: the first line's number, and the text.
fn runs(file: &ChangedFile) -> Vec<(u32, String)> {
    let mut runs: Vec<(u32, u32, String)> = Vec::new();
    for (line, text) in file.added_lines() {
        match runs.last_mut() {
            Some((_, next, run)) if *next == line => {
                run.push_str(text);
                run.push('\n');
                *next += 1;
            }
            _ => runs.push((line, line + 1, format!("{text}\n"))),
        }
    }
    runs.into_iter().map(|(first, _, text)| (first, text)).collect()
}

fn candidate(file: &ChangedFile, found: &SecretMatch<'_>, first: u32, text: &str) -> ReviewClaim {
    let line_of = |byte: usize| {
        let before = text.get(..byte).unwrap_or_default();
        first + u32::try_from(before.matches('\n').count()).unwrap_or(0)
    };
    let id = format!("secrets/{}", found.rule.id);
    ReviewClaim {
        file: file.path.clone(),
        span: LineSpan::between(line_of(found.start), line_of(found.end.saturating_sub(1))),
        priority: Some(found.priority),
        category: Category::Security,
        title: format!("{} in the code", found.rule.title),
        body: sentence(&found.rule.consequence()),
        suggestion: Some(
            "Revoke it now: it is in the history as soon as it is pushed. Then read it from the \
             environment or a secret store."
                .to_owned(),
        ),
        evidence: None,
        confidence: found.confidence,
        reviewer: NAME.to_owned(),
        verification: Verification::verified(format!("secret format {id}")),
        rule: Some(id),
    }
}

/// A clause as a sentence.
fn sentence(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
