//! Repairs the stored history of a session that contains every tool result twice: in the line of
//! the call, and in a separate line of the user.

use crate::bounded_read::read_no_follow;
use crate::store::write_atomically;
use globset::GlobBuilder;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;

/// The largest history that is repaired.
const MAX_BYTES: u64 = 256 << 20;

/// How deep below the home histories are searched.
const MAX_DEPTH: usize = 8;

/// Removes the second results from the histories below this home whose path fits the pattern.
pub(super) fn remove_doubled_results(home: &Path, pattern: &str) -> io::Result<()> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let matcher = glob.map_err(io::Error::other)?.compile_matcher();
    let mut folders = vec![(home.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.strip_prefix(home).is_ok_and(|it| matcher.is_match(it))
            {
                let history = read_no_follow(&path, MAX_BYTES)?;
                let repaired = without_doubled_results(&String::from_utf8_lossy(&history));
                if repaired.as_bytes() != history {
                    write_atomically(&path, repaired.as_bytes())?;
                }
            }
        }
    }
    Ok(())
}

fn without_doubled_results(history: &str) -> String {
    let lines = history.split_inclusive('\n');
    lines.filter(|line| !has_only_results(line)).collect()
}

/// Whether a line is of the user and has only results of tools.
fn has_only_results(line: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return false };
    let parts = value.get("content").and_then(Value::as_array);
    value.get("type").and_then(Value::as_str) == Some("user")
        && parts.is_some_and(|parts| {
            !parts.is_empty() && parts.iter().all(|part| part.get("functionResponse").is_some())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_nothing_but_results_go() {
        let call =
            r#"{"type":"gemini","content":"x","toolCalls":[{"result":[{"functionResponse":{}}]}]}"#;
        let said = r#"{"type":"user","content":[{"text":"fix it"}]}"#;
        let plain = r#"{"type":"user","content":"functionResponse"}"#;
        let mixed = r#"{"type":"user","content":[{"text":"a"},{"functionResponse":{}}]}"#;
        let result =
            r#"{"type":"user","content":[{"functionResponse":{}},{"functionResponse":{}}]}"#;
        let history = format!("{call}\n{said}\n{result}\n{plain}\n{mixed}\nnot json\n{result}\n");
        let expected = format!("{call}\n{said}\n{plain}\n{mixed}\nnot json\n");
        assert_eq!(without_doubled_results(&history), expected);
        assert_eq!(without_doubled_results(&expected), expected);
    }

    #[test]
    fn only_histories_in_their_place_change() {
        let home = tempfile::tempdir().unwrap();
        let result = "{\"type\":\"user\",\"content\":[{\"functionResponse\":{}}]}\n";
        let place = home.path().join(".gemini/tmp/x/chats");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("session-1.jsonl"), result).unwrap();
        fs::write(place.join("other.jsonl"), result).unwrap();
        remove_doubled_results(home.path(), ".gemini/tmp/*/chats/session-*.jsonl").unwrap();
        assert_eq!(fs::read_to_string(place.join("session-1.jsonl")).unwrap(), "");
        assert_eq!(fs::read_to_string(place.join("other.jsonl")).unwrap(), result);
    }
}
