//! The files of a gate with the newer layout: `iterations/N/round-R/reviewers/NAME/output.json`.
//! The last round counts; every reviewer of an earlier round must answer in it.

use crate::bounded_read::read_no_follow;
use mala_domain::gate::client::{GateRound, ReviewerFile};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_REVIEWERS: usize = 64;
const MAX_ROUNDS: usize = 1_000;
const MAX_BYTES: u64 = 4 << 20;

/// The answers of the last round. A reviewer without a readable file has no answer.
pub(super) fn last_round(run: &Path) -> Result<GateRound, String> {
    let iterations = numbered(&run.join("iterations"), "")?;
    let Some((iteration, last)) = iterations.last() else { return Ok(GateRound::default()) };
    let Some((_, last)) = numbered(last, "round-")?.pop() else { return Ok(GateRound::default()) };
    let mut names = BTreeSet::new();
    for (_, iteration) in &iterations {
        for (_, round) in numbered(iteration, "round-")? {
            names.extend(reviewers(&round)?);
            if names.len() > MAX_REVIEWERS {
                return Err(format!("the gate names more than {MAX_REVIEWERS} reviewers"));
            }
        }
    }
    let opinion = |reviewer: String| ReviewerFile {
        text: text(&last.join("reviewers").join(&reviewer).join("output.json")),
        reviewer,
    };
    Ok(GateRound {
        iteration: Some(*iteration),
        opinions: names.into_iter().map(opinion).collect(),
    })
}

/// The folders with a number after this prefix, by number.
fn numbered(folder: &Path, prefix: &str) -> Result<Vec<(u32, PathBuf)>, String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut numbered: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()?;
            Some((number, entry.path()))
        })
        .take(MAX_ROUNDS + 1)
        .collect();
    if numbered.len() > MAX_ROUNDS {
        return Err(format!("the gate names more than {MAX_ROUNDS} rounds"));
    }
    numbered.sort();
    Ok(numbered)
}

/// All reviewers with a place in a round.
fn reviewers(round: &Path) -> Result<Vec<String>, String> {
    let Ok(entries) = fs::read_dir(round.join("reviewers")) else { return Ok(Vec::new()) };
    let names = entries.take(MAX_REVIEWERS + 1).map(|entry| {
        let entry =
            entry.map_err(|error| format!("reading the answers of its reviewers: {error}"))?;
        let name = entry.file_name().into_string();
        name.map_err(|name| format!("a reviewer without a readable name: {}", name.display()))
    });
    let is_hidden =
        |name: &Result<String, String>| name.as_ref().is_ok_and(|it| it.starts_with('.'));
    names.filter(|name| !is_hidden(name)).collect()
}

fn text(file: &Path) -> Option<String> {
    String::from_utf8(read_no_follow(file, MAX_BYTES).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_round_of_the_last_iteration_counts() {
        let run = tempfile::tempdir().unwrap();
        for (folder, text) in [
            ("iterations/2/round-1/reviewers/codex#1", Some("old")),
            ("iterations/10/round-9/reviewers/codex#1", Some("older")),
            ("iterations/10/round-9/reviewers/claude#1", Some("then no answer")),
            ("iterations/10/round-10/reviewers/gemini#1", None),
            ("iterations/10/round-10/reviewers/codex#1", Some("last")),
            ("iterations/x/round-99/reviewers/codex#1", Some("no")),
        ] {
            let folder = run.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            if let Some(text) = text {
                fs::write(folder.join("output.json"), text).unwrap();
            }
        }
        let reviewers = run.path().join("iterations/10/round-10/reviewers");
        fs::write(reviewers.join("qwen#1"), "a file in the place of a folder").unwrap();
        let opinion = |reviewer: &str, text: Option<&str>| ReviewerFile {
            reviewer: reviewer.to_owned(),
            text: text.map(str::to_owned),
        };
        let opinions = vec![
            opinion("claude#1", None),
            opinion("codex#1", Some("last")),
            opinion("gemini#1", None),
            opinion("qwen#1", None),
        ];
        let expected = Ok(GateRound { iteration: Some(10), opinions });
        assert_eq!(last_round(run.path()), expected);
        assert_eq!(last_round(&run.path().join("nowhere")), Ok(GateRound::default()));
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        let file = reviewers.join("gemini#1/output.json");
        rustix::fs::mknodat(rustix::fs::CWD, &file, kind, mode, 0).unwrap();
        assert_eq!(last_round(run.path()), expected, "a pipe says nothing, and is not waited for");
        for n in 0..=MAX_REVIEWERS {
            fs::create_dir(reviewers.join(format!("one#{n}"))).unwrap();
        }
        let too_many = Err("the gate names more than 64 reviewers".to_owned());
        assert_eq!(last_round(run.path()), too_many, "none of them is left out");
    }
}
