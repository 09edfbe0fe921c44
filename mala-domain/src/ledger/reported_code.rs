//! The code of a finding as it was when a review reported it: whether it changed since then does not depend on
//! which commits other reviews compared.

use super::delta::{has_meaningful_indentation, indentation, line_hash};
use crate::change::{FilePath, LineSpan};
use crate::finding::{CodeLines, places};
use crate::secrets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The code around a finding, as hashes, when a reviewer of one change reported it last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportedCode {
    /// The hash of its file.
    pub file: String,
    /// The hash of its symbol; without a symbol, of its lines.
    pub symbol: String,
}

/// A file at head, ready to be compared with many findings. Secrets are removed, as they are from evidence.
#[derive(Debug)]
pub struct FileAtHead {
    text: String,
    lines: CodeLines,
    /// The hash and number of each line that is not blank.
    hashes: Vec<(u64, u32)>,
    hash: String,
}

impl FileAtHead {
    /// The file with this text.
    pub fn of(file: &FilePath, text: &str) -> Self {
        let text = secrets::redact(text).into_owned();
        let is_indented = has_meaningful_indentation(file);
        let hash_of = |line: &str| match is_indented {
            true => line_hash(line).wrapping_add(u64::from(indentation(line))),
            false => line_hash(line),
        };
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let hashes: Vec<(u64, u32)> = lines.map(|(line, at)| (hash_of(line), at)).collect();
        let hash = hash_of_lines(&hashes);
        Self { lines: CodeLines::of(&text), text, hashes, hash }
    }

    /// The lines of the evidence of a finding; with several copies, the one nearest to a line.
    pub fn locate(&self, evidence: &str, near: u32) -> Option<LineSpan> {
        let mut found = self.lines.positions(evidence.lines());
        if found.is_empty() {
            found = places(&self.text, evidence);
        }
        found.into_iter().min_by_key(|span| span.start().abs_diff(near))
    }

    /// The code of a finding whose symbol, or whose lines, are these.
    pub fn code_at(&self, symbol: LineSpan) -> ReportedCode {
        let start = self.hashes.partition_point(|(_, line)| *line < symbol.start());
        let end = self.hashes.partition_point(|(_, line)| *line <= symbol.end());
        let of_symbol = self.hashes.get(start..end).unwrap_or_default();
        ReportedCode { file: self.hash.clone(), symbol: hash_of_lines(of_symbol) }
    }

    /// Whether the file is another one than it was.
    pub fn differs_from(&self, code: &ReportedCode) -> bool {
        self.hash != code.file
    }
}

fn hash_of_lines(lines: &[(u64, u32)]) -> String {
    let mut hash = Sha256::new();
    for (line, _) in lines {
        hash.update(line.to_le_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_changes_with_its_words_and_its_meaningful_indentation() {
        let first = "def f():\n    a = 1\n    b = 2\n\ndef g():\n    c = 3\n";
        let rows = [
            ("a.py", first.to_owned(), [false, false]),
            ("a.py", first.replace("a = 1", "a  =  1\n"), [false, false]),
            ("a.py", format!("\n{first}"), [false, false]),
            ("a.py", first.replace("c = 3", "c = 4"), [true, false]),
            ("a.py", first.replace("a = 1", "a = 2"), [true, true]),
            ("a.py", first.replace("    b", "  b"), [true, true]),
            ("a.rs", first.replace("    b", "  b"), [false, false]),
        ];
        for (path, now, expected) in rows {
            let of = |text: &str| {
                let file = FileAtHead::of(&path.into(), text);
                let start = file.locate("def f():", 1).unwrap().start();
                let end = file.locate("b = 2", 1).unwrap().end();
                file.code_at(LineSpan::between(start, end))
            };
            let (before, after) = (of(first), of(&now));
            let changed = [before.file != after.file, before.symbol != after.symbol];
            assert_eq!(changed, expected, "{path} {now:?}");
        }
    }

    #[test]
    fn evidence_is_found_by_lines_or_within_a_line() {
        let text = "a\nb\n\n  c\nb\nif x and danger(y):\n";
        for (evidence, near, expected) in [
            ("b", 1, Some((2, 2))),
            ("b", 9, Some((5, 5))),
            ("b\nc", 1, Some((2, 4))),
            ("danger(y)", 1, Some((6, 6))),
            ("missing", 1, None),
            ("", 1, None),
        ] {
            let file = FileAtHead::of(&"a.py".into(), text);
            let found = file.locate(evidence, near).map(|it| (it.start(), it.end()));
            assert_eq!(found, expected, "{evidence:?}");
        }
    }
}
