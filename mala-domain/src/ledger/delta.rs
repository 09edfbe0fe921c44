//! Finds the lines of a change that are new since an earlier review of it. Uses only the diffs, so
//! that it works for commits, for a working tree and after a rebase.

use crate::change::{Change, FilePath, LineKind, LineSpan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet};

/// The lines that a review was given, by file at head, as hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ReviewedLines {
    files: BTreeMap<FilePath, Vec<ReviewedLine>>,
}

/// One changed line: its hash, its number at head, whether the change added it, and its indentation where that
/// has a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewedLine(u64, u32, bool, #[serde(default)] u32);

impl ReviewedLines {
    /// The added and removed lines of a change. A removed line has the number of the line at head that
    /// follows it.
    pub fn of(change: &Change) -> Self {
        let files = change.files.iter().map(|file| {
            let is_indented = has_meaningful_indentation(&file.path);
            let lines = file.hunks.iter().flat_map(|hunk| {
                let mut number = hunk.new_start.max(1);
                hunk.lines.iter().filter_map(move |line| {
                    let at = number;
                    if line.kind != LineKind::Removed {
                        number += 1;
                    }
                    (line.kind != LineKind::Context).then(|| {
                        let indentation = if is_indented { indentation(&line.text) } else { 0 };
                        let is_added = line.kind == LineKind::Added;
                        ReviewedLine(line_hash(&line.text), at, is_added, indentation)
                    })
                })
            });
            (file.path.clone(), lines.collect())
        });
        Self { files: files.collect() }
    }

    /// Whether a file is part of it.
    pub fn contains(&self, file: &FilePath) -> bool {
        self.files.contains_key(file)
    }

    /// Whether the change added all of these lines.
    pub fn has_added(&self, file: &FilePath, lines: LineSpan) -> bool {
        let all = self.files.get(file).map(Vec::as_slice).unwrap_or_default();
        let added: BTreeSet<u32> = all.iter().filter(|it| it.2).map(|it| it.1).collect();
        (lines.start()..=lines.end()).all(|line| added.contains(&line))
    }

    /// Whether both changed a line of the same text in the same file; blank lines do not count.
    pub fn shares_lines(&self, other: &Self) -> bool {
        let blank = line_hash("");
        self.files.iter().any(|(file, lines)| {
            let others = other.files.get(file).map(Vec::as_slice).unwrap_or_default();
            let others: BTreeSet<u64> = others.iter().map(|it| it.0).collect();
            lines.iter().any(|it| it.0 != blank && others.contains(&it.0))
        })
    }

    /// The files that it contains.
    pub fn files(&self) -> impl Iterator<Item = &FilePath> {
        self.files.keys()
    }

    /// Files that were renamed between two reviews of a change, old path to new. A file that the
    /// change adds is not a rename in any diff, so an old and a new path are paired if they share
    /// most lines and the old file is gone.
    pub fn renamed_in(
        &self,
        later: &Self,
        is_gone: impl Fn(&FilePath) -> bool,
    ) -> BTreeMap<FilePath, FilePath> {
        let gone = self.files.keys().filter(|file| !later.contains(file) && is_gone(file));
        let mut pairs: Vec<(usize, &FilePath, &FilePath)> = Vec::new();
        for old in gone {
            let before: BTreeSet<u64> = self.hashes(old).into_iter().collect();
            for new in later.files.keys().filter(|file| !self.contains(file)) {
                let after: BTreeSet<u64> = later.hashes(new).into_iter().collect();
                let n_shared = before.intersection(&after).count();
                if n_shared > 0 && n_shared * 2 >= before.len().max(after.len()) {
                    pairs.push((n_shared, old, new));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let mut renames = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for (_, old, new) in pairs {
            if !renames.contains_key(old) && taken.insert(new) {
                renames.insert(old.clone(), new.clone());
            }
        }
        renames
    }

    fn hashes(&self, file: &FilePath) -> Vec<u64> {
        // A removed line must not pair with an added one of the same text.
        let lines = self.files.get(file).map(Vec::as_slice).unwrap_or_default();
        lines.iter().map(|line| line.0 ^ u64::from(!line.2)).collect()
    }
}

/// The part of a change that is new since an earlier review.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delta {
    new_lines: BTreeMap<FilePath, BTreeSet<u32>>,
    moved: BTreeMap<FilePath, BTreeMap<u32, u32>>,
    origins: BTreeMap<FilePath, BTreeMap<u32, u32>>,
    earlier: BTreeMap<FilePath, BTreeMap<u32, u64>>,
    /// Whether a file left the change.
    has_left: bool,
}

impl Delta {
    /// Compares the lines of an earlier review with those of the current change. `renames` maps old paths to
    /// current ones.
    pub fn between(
        earlier: &ReviewedLines,
        current: &ReviewedLines,
        renames: &BTreeMap<FilePath, FilePath>,
    ) -> Self {
        let mut delta = Self::default();
        let sources: BTreeMap<&FilePath, &FilePath> = renames
            .iter()
            .filter(|(old, _)| earlier.contains(old))
            .map(|(old, new)| (new, old))
            .collect();
        let is_there = |file: &FilePath| current.contains(renames.get(file).unwrap_or(file));
        delta.has_left = !earlier.files.keys().all(is_there);
        for (file, lines) in &current.files {
            let old_path = sources.get(file).copied().unwrap_or(file);
            let before = earlier.files.get(old_path).map(Vec::as_slice).unwrap_or_default();
            let operations = capture_diff_slices(
                Algorithm::Myers,
                &earlier.hashes(old_path),
                &current.hashes(file),
            );
            let mut new_lines = BTreeSet::new();
            let mut moved = BTreeMap::new();
            for operation in operations {
                let (old, new) = (operation.old_range(), operation.new_range());
                if let DiffOp::Equal { .. } = operation {
                    let pairs = || {
                        let old = before.get(old.clone()).into_iter().flatten();
                        old.zip(lines.get(new.clone()).into_iter().flatten())
                    };
                    moved.extend(pairs().filter(|(old, _)| old.2).map(|(old, new)| (old.1, new.1)));
                    let indented = pairs().filter(|(old, new)| old.3 != new.3);
                    new_lines.extend(indented.map(|(_, new)| new.1));
                    continue;
                }
                if new.is_empty() {
                    // A line that disappeared touches the line that took its place.
                    new_lines.extend(lines.get(new.start).or(lines.last()).map(|line| line.1));
                }
                new_lines.extend(lines.get(new).into_iter().flatten().map(|line| line.1));
            }
            if lines.is_empty() && !before.is_empty() {
                new_lines.insert(1);
            }
            if !new_lines.is_empty() {
                delta.new_lines.insert(file.clone(), new_lines);
            }
            let origins = moved.iter().map(|(old, new)| (*new, *old)).collect();
            delta.origins.insert(file.clone(), origins);
            delta.moved.insert(file.clone(), moved);
            let added = before.iter().filter(|line| line.2).map(|line| (line.1, line.0));
            delta.earlier.insert(file.clone(), added.collect());
        }
        delta
    }

    /// Whether no line is new.
    pub fn is_empty(&self) -> bool {
        self.new_lines.is_empty()
    }

    /// Whether the change is as it was: no line is new, and no file left it.
    pub fn is_unchanged(&self) -> bool {
        self.is_empty() && !self.has_left
    }

    /// Whether any of these lines at head is new.
    pub fn touches(&self, file: &FilePath, lines: LineSpan) -> bool {
        self.new_lines
            .get(file)
            .is_some_and(|new| new.range(lines.start()..=lines.end()).next().is_some())
    }

    /// The position at head of lines of the earlier review; `None` if none of them is left.
    pub fn locate(&self, file: &FilePath, lines: LineSpan) -> Option<LineSpan> {
        let moved = self.moved.get(file)?;
        span_of(moved.range(lines.start()..=lines.end()).map(|(_, new)| *new))
    }

    /// The position at head of unchanged lines of the earlier review. They count as unchanged if
    /// they and the lines next to them stayed together.
    pub fn locate_unchanged(&self, file: &FilePath, lines: LineSpan) -> Option<LineSpan> {
        self.moved.get(file).and_then(|moved| shifted(moved, lines))
    }

    /// The position in the earlier review of unchanged lines at head. They count as unchanged if
    /// they and the lines next to them stayed together.
    pub fn origin_of_unchanged(&self, file: &FilePath, lines: LineSpan) -> Option<LineSpan> {
        self.origins.get(file).and_then(|origins| shifted(origins, lines))
    }

    /// Whether the earlier review had this code at these lines. Line numbers of older reviews may
    /// not match.
    pub fn had(&self, file: &FilePath, lines: LineSpan, code: &str) -> bool {
        let code: Vec<u64> = code.lines().map(line_hash).collect();
        self.earlier.get(file).is_some_and(|earlier| is_at(earlier, lines.start(), &code))
    }

    /// The number of copies of this code among the lines of the earlier review.
    pub fn n_earlier_copies(&self, file: &FilePath, code: &str) -> usize {
        let Some(earlier) = self.earlier.get(file) else { return 0 };
        let code: Vec<u64> = code.lines().map(line_hash).collect();
        let starts = earlier.iter().filter(|(_, hash)| code.first() == Some(hash));
        starts.filter(|(line, _)| is_at(earlier, **line, &code)).count()
    }
}

fn is_at(lines: &BTreeMap<u32, u64>, start: u32, code: &[u64]) -> bool {
    !code.is_empty() && code.iter().zip(start..).all(|(hash, line)| lines.get(&line) == Some(hash))
}

/// Maps these lines, if the map moves them and the lines next to them by the same distance.
fn shifted(map: &BTreeMap<u32, u32>, lines: LineSpan) -> Option<LineSpan> {
    let start = *map.get(&lines.start())?;
    let around = lines.start().checked_sub(1)?..=lines.end().checked_add(1)?;
    let is_shifted = |line: u32| {
        map.get(&line).is_some_and(|at| at.checked_add(lines.start()) == line.checked_add(start))
    };
    let end = start.checked_add(lines.n_lines() - 1)?;
    around.into_iter().all(is_shifted).then(|| LineSpan::between(start, end))
}

fn span_of(mut lines: impl Iterator<Item = u32>) -> Option<LineSpan> {
    let first = lines.next()?;
    let (low, high) =
        lines.fold((first, first), |(low, high), line| (low.min(line), high.max(line)));
    Some(LineSpan::between(low, high))
}

/// Whether indentation has a meaning in this file.
pub(super) fn has_meaningful_indentation(file: &FilePath) -> bool {
    const EXTENSIONS: [&str; 16] = [
        "py", "pyi", "pyw", "pyx", "yaml", "yml", "mk", "coffee", "fs", "haml", "hs", "nim", "pug",
        "sass", "rst", "md",
    ];
    const NAMES: [&str; 3] = ["Makefile", "GNUmakefile", "makefile"];
    let extension = file.extension().unwrap_or_default().to_ascii_lowercase();
    EXTENSIONS.contains(&extension.as_str()) || NAMES.contains(&file.file_name())
}

/// The width of the indentation of a line. A tab counts as 1000 columns, so that it never equals
/// spaces.
pub(super) fn indentation(text: &str) -> u32 {
    let before = text.chars().take_while(|c| c.is_whitespace());
    before.fold(0, |sum, c| u32::saturating_add(sum, if c == '\t' { 1000 } else { 1 }))
}

/// The hash of a line without white space, to recognise lines after a move.
pub fn line_hash(text: &str) -> u64 {
    let mut hash = Sha256::new();
    for part in text.split_whitespace() {
        hash.update(part.as_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    // The last bit is reserved to distinguish added from removed lines, and JSON readers keep only
    // 53 bits.
    (u64::from_le_bytes(first) >> 11) & !1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::parse;

    fn lines(diff: &str) -> ReviewedLines {
        ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() })
    }

    fn added(text: &[&str]) -> String {
        let body: String = text.iter().map(|line| format!("+{line}\n")).collect();
        format!(
            "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{} @@\n{body}",
            text.len()
        )
    }

    #[test]
    fn lines_are_new_only_where_they_differ() {
        let file = FilePath::from("a.py");
        let first = ["a = 1", "b = 2", "c = 3", "d = 4"];
        let rows: [(&[&str], &[u32]); 6] = [
            (&["a = 1", "b = 2", "c = 3", "d = 4"], &[]),
            (&["  a = 1", "b = 2", "c  = 3", "d = 4"], &[1]),
            (&["a = 1", "b = 5", "c = 3", "d = 4"], &[2]),
            (&["new", "a = 1", "b = 2", "c = 3", "d = 4"], &[1]),
            (&["a = 1", "b = 2", "d = 4"], &[3]),
            (&["a = 1", "b = 2", "c = 3"], &[3]),
        ];
        for (now, expected) in rows {
            let delta =
                Delta::between(&lines(&added(&first)), &lines(&added(now)), &BTreeMap::new());
            let touched: Vec<u32> =
                (1..=6).filter(|line| delta.touches(&file, LineSpan::line(*line))).collect();
            assert_eq!(touched, expected, "{now:?}");
        }
    }

    #[test]
    fn indentation_is_a_change_where_it_has_a_meaning() {
        let rows = [
            ("a.py", "    x", true),
            ("a.py", "\tx", true),
            ("a.py", "x ", false),
            ("k8s.yaml", "    x", true),
            ("Makefile", "\tx", true),
            ("a.rs", "    x", false),
            ("a.js", "\tx", false),
        ];
        for (path, now, expected) in rows {
            let [before, after] =
                [["x", "y"], [now, "y"]].map(|text| lines(&added(&text).replace("a.py", path)));
            let delta = Delta::between(&before, &after, &BTreeMap::new());
            assert_eq!(!delta.is_empty(), expected, "{path} {now:?}");
            let line = LineSpan::line(1);
            assert_eq!(delta.locate(&path.into(), line), Some(line), "it is the same line");
        }
    }

    #[test]
    fn a_file_that_leaves_the_change_is_a_difference() {
        let both = added(&["a = 1"]) + &added(&["b = 1"]).replace("a.py", "b.py");
        let delta = Delta::between(&lines(&both), &lines(&added(&["a = 1"])), &BTreeMap::new());
        assert!(delta.is_empty() && !delta.is_unchanged());
        let same = Delta::between(&lines(&both), &lines(&both), &BTreeMap::new());
        assert!(same.is_unchanged());
    }

    #[test]
    fn a_file_of_the_change_that_is_renamed_is_found_by_its_lines() {
        let old = ["a = 1", "b = 2", "c = 3", "d = 4"];
        let rows: [(&[&str], bool); 4] = [
            (&["a = 1", "b = 2", "c = 3", "d = 4"], true),
            (&["a = 1", "b = 5", "c = 3", "new"], true),
            (&["a = 1", "x", "y", "z"], false),
            (&["x"], false),
        ];
        for (now, is_renamed) in rows {
            let later = lines(&added(now).replace("a.py", "b.py"));
            let renames = lines(&added(&old)).renamed_in(&later, |_| true);
            let expected = is_renamed.then(|| (FilePath::from("a.py"), FilePath::from("b.py")));
            assert_eq!(renames.into_iter().next(), expected, "{now:?}");
        }
        let [old, same] = [(); 2].map(|()| lines(&added(&old)));
        let moved = lines(&added(&["a = 1", "b = 2", "c = 3", "d = 4"]).replace("a.py", "b.py"));
        assert!(old.renamed_in(&same, |_| true).is_empty());
        assert!(old.renamed_in(&moved, |_| false).is_empty(), "the old file is still there");
    }

    #[test]
    fn earlier_lines_are_found_after_a_move() {
        let file = FilePath::from("a.py");
        let delta = Delta::between(
            &lines(&added(&["a = 1", "b = 2", "c = 3", "b = 2"])),
            &lines(&added(&["x", "y", "a = 1", "b = 2", "c = 3", "z"])),
            &BTreeMap::new(),
        );
        let (second, fourth) = (LineSpan::line(2), LineSpan::line(4));
        assert_eq!(delta.locate_unchanged(&file, second), Some(fourth));
        assert_eq!(delta.origin_of_unchanged(&file, fourth), Some(second));
        assert_eq!(delta.locate_unchanged(&file, LineSpan::line(3)), None, "a neighbour is gone");
        assert_eq!(delta.n_earlier_copies(&file, "b = 2"), 2);
        assert_eq!(delta.locate(&file, LineSpan::between(1, 2)), Some(LineSpan::between(3, 4)));
        for (lines, code, expected) in [
            (LineSpan::between(1, 2), " a = 1\nb = 2", true),
            (LineSpan::line(2), "a = 1", false),
            (LineSpan::between(2, 3), "b = 2\nd = 4", false),
            (LineSpan::line(1), "", false),
        ] {
            assert_eq!(delta.had(&file, lines, code), expected, "{lines} {code}");
        }
        assert_eq!(delta.locate(&FilePath::from("b.py"), LineSpan::line(1)), None);
    }

    #[test]
    fn a_renamed_file_is_compared_with_its_old_self() {
        let renamed = added(&["a = 1"]).replace("a.py", "b.py");
        let renames = BTreeMap::from([(FilePath::from("a.py"), FilePath::from("b.py"))]);
        let delta = Delta::between(&lines(&added(&["a = 1"])), &lines(&renamed), &renames);
        assert!(delta.is_empty());
    }
}
