//! Proof that an answer is a review of this change: a token that the prompt never holds in one piece,
//! the commit, a result, and a list of the reviewed regions.

use super::ReviewResult;
use crate::agent::fence::Nonce;
use crate::change::{Change, FilePath};
use std::collections::HashSet;
use thiserror::Error;

/// The token that an answer must contain. The prompt has it in two halves, so that an answer that
/// only repeats the prompt does not contain it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofToken {
    nonce: Nonce,
    head: String,
}

impl ProofToken {
    /// The token of a review of this commit.
    pub fn new(nonce: Nonce, head: impl Into<String>) -> Self {
        Self { nonce, head: head.into() }
    }

    /// The two halves.
    pub fn halves(&self) -> (&str, &str) {
        let digits = self.nonce.as_str();
        digits.split_at_checked(digits.len() / 2).unwrap_or((digits, ""))
    }

    /// The commit under review.
    pub fn head(&self) -> &str {
        &self.head
    }

    fn whole(&self) -> String {
        let (first, second) = self.halves();
        format!("{first}-{second}")
    }
}

/// The proof that an answer contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewProof {
    /// The result that the command itself states.
    pub result: ReviewResult,
    /// The regions that it lists as reviewed; `None` for a whole file.
    reviewed: Vec<(FilePath, Option<Vec<usize>>)>,
}

/// Why an answer contains no valid proof.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProofProblem {
    /// The token is missing.
    #[error("no `mala-proof` of this run")]
    NoToken,
    /// The commit is missing or another one.
    #[error("no `mala-head` with the commit under review")]
    OtherHead,
    /// The result is missing or ambiguous.
    #[error("no `mala-result`, or none that is clear")]
    NoResult,
}

/// The maximum number of listed regions.
const MAX_ACCOUNT: usize = 100_000;

/// Reads the proof at the end of an answer: the lines around the last token. Earlier lines are
/// ignored, because they may repeat the prompt.
pub fn read_proof(answer: &str, token: &ProofToken) -> Result<ReviewProof, ProofProblem> {
    let lines = ending(answer, token).ok_or(ProofProblem::NoToken)?;
    let said = |key: &str| -> Vec<String> {
        lines.iter().filter_map(|line| value(line, key)).map(str::to_owned).collect()
    };
    if !said("mala-head").contains(&token.head) {
        return Err(ProofProblem::OtherHead);
    }
    let results = said("mala-result");
    let first = results.first().ok_or(ProofProblem::NoResult)?;
    if results.iter().any(|other| other != first) {
        return Err(ProofProblem::NoResult);
    }
    let result = ReviewResult::parse(first).ok_or(ProofProblem::NoResult)?;
    let reviewed = said("mala-reviewed");
    let reviewed = reviewed.iter().take(MAX_ACCOUNT).filter_map(|line| account(line));
    Ok(ReviewProof { result, reviewed: reviewed.collect() })
}

/// The lines from the token on, and the proof lines directly before it.
fn ending<'a>(answer: &'a str, token: &ProofToken) -> Option<Vec<&'a str>> {
    let lines: Vec<&str> = answer.lines().collect();
    let whole = token.whole();
    let has_token = |line: &&str| value(line, "mala-proof") == Some(whole.as_str());
    let at = lines.iter().rposition(has_token)?;
    let belongs = |line: &&&str| line.trim().is_empty() || line.contains("mala-");
    let before = lines.get(..at)?.iter().rev().take_while(belongs).count();
    lines.get(at - before..).map(<[&str]>::to_vec)
}

/// The value after a key, without Markdown marks around the line.
fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let marks = |c: char| c.is_whitespace() || matches!(c, '`' | '*' | '>' | '-');
    let line = line.trim_matches(marks);
    Some(
        line.strip_prefix(key)?
            .trim_start_matches(['*', '`'])
            .strip_prefix(':')?
            .trim_matches(marks),
    )
}

fn account(line: &str) -> Option<(FilePath, Option<Vec<usize>>)> {
    let (file, regions) = line.rsplit_once(':')?;
    let file = FilePath::parse(file.trim().trim_matches('`'));
    if regions.trim().eq_ignore_ascii_case("all") {
        return Some((file, None));
    }
    // Regions are counted from one.
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    let regions: Option<Vec<usize>> = regions.split(',').take(MAX_ACCOUNT).map(number).collect();
    Some((file, Some(regions?)))
}

impl ReviewProof {
    /// The hunks of a change that it lists as reviewed.
    pub fn accounted(&self, change: &Change) -> Vec<(FilePath, Vec<usize>)> {
        let hunks = |file: &FilePath| {
            change.files.iter().find(|it| it.path == *file).map_or(0, |it| it.hunks.len())
        };
        self.reviewed
            .iter()
            .map(|(file, regions)| match regions {
                Some(regions) => (file.clone(), regions.clone()),
                None => (file.clone(), (0..hunks(file)).collect()),
            })
            .collect()
    }
}

/// Removes the lines of an answer that only repeat the prompt. Empty lines stay.
pub fn without_echo(answer: &str, told: &str) -> String {
    let told: HashSet<&str> = told.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let own = answer.lines().filter(|line| !told.contains(line.trim()));
    own.collect::<Vec<_>>().join("\n")
}
