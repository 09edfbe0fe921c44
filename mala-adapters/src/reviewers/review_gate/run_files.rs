//! The files in which a gate of the newer shape keeps what its reviewers said:
//! `iterations/N/round-R/reviewers/NAME/output.json`, of which the last round counts.

use crate::regular::read_foreign;
use mala_domain::gate::client::Opinion;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_REVIEWERS: usize = 64;
const MAX_BYTES: u64 = 4 << 20;

/// What the reviewers of the last round said. One without a file that can be read has said nothing.
pub(super) fn opinions(run: &Path) -> Vec<Opinion> {
    let Some(iteration) = last(&run.join("iterations"), "") else { return Vec::new() };
    let Some(round) = last(&iteration, "round-") else { return Vec::new() };
    let Ok(entries) = fs::read_dir(round.join("reviewers")) else { return Vec::new() };
    let folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut opinions: Vec<Opinion> = folders
        .take(MAX_REVIEWERS)
        .map(|folder| Opinion {
            reviewer: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            text: text(&folder.join("output.json")),
        })
        .collect();
    opinions.sort_by(|a, b| a.reviewer.cmp(&b.reviewer));
    opinions
}

/// The folder with the highest number after this prefix.
fn last(folder: &Path, prefix: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name();
        let number: u32 = name.to_str()?.strip_prefix(prefix)?.parse().ok()?;
        Some((number, entry.path()))
    });
    numbered.max_by_key(|(number, _)| *number).map(|(_, path)| path)
}

fn text(file: &Path) -> Option<String> {
    String::from_utf8(read_foreign(file, MAX_BYTES).ok()?).ok()
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
        let opinion = |reviewer: &str, text: Option<&str>| Opinion {
            reviewer: reviewer.to_owned(),
            text: text.map(str::to_owned),
        };
        let expected = [opinion("codex#1", Some("last")), opinion("gemini#1", None)];
        assert_eq!(opinions(run.path()), expected);
        assert_eq!(opinions(&run.path().join("nowhere")), []);
        let file = run.path().join("iterations/10/round-10/reviewers/gemini#1/output.json");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &file, kind, mode, 0).unwrap();
        assert_eq!(opinions(run.path()), expected, "a pipe says nothing, and nobody waits for it");
    }
}
