//! A changed file with its secrets redacted. Secrets of several lines are only recognized as a whole, so
//! files are redacted before they are split into lines and hunks.

use crate::change::{ChangedFile, Hunk, LineKind};
use crate::review::FileTexts;
use crate::secrets;

/// A changed file with its secrets redacted, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedFile {
    /// The lines at head; empty if the text is unknown.
    pub head: Vec<String>,
    /// The lines of each hunk.
    pub hunks: Vec<Vec<String>>,
}

/// A changed line that is redacted completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HiddenLine {
    /// The hunk it is in.
    pub hunk: usize,
    /// Its line at head; `None` for a removed line.
    pub line: Option<u32>,
}

impl RedactedFile {
    /// Redacts a changed file.
    pub fn of(file: &ChangedFile, texts: &FileTexts) -> Self {
        let lines =
            |text: &str| secrets::redact(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let head = texts.at_head(&file.path).map(lines).unwrap_or_default();
        let base = texts.at_base(file.base_path()).map(lines).unwrap_or_default();
        let hunks = file.hunks.iter().map(|hunk| redact_hunk(hunk, &head, &base)).collect();
        Self { head, hunks }
    }

    /// The changed lines that consist of a redaction only. They count as not reviewed.
    pub fn hidden_lines(&self, file: &ChangedFile) -> Vec<HiddenLine> {
        let hunks = file.hunks.iter().zip(&self.hunks).enumerate();
        hunks.flat_map(|(index, (hunk, shown))| hidden_in_hunk(index, hunk, shown)).collect()
    }
}

/// The first line at head; a hunk without lines at head names the line before it.
pub(super) fn first_head(hunk: &Hunk) -> u32 {
    if hunk.new_lines == 0 { hunk.new_start.saturating_add(1) } else { hunk.new_start.max(1) }
}

pub(super) fn index(line: u32) -> usize {
    usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX)
}

fn redact_hunk(hunk: &Hunk, head: &[String], base: &[String]) -> Vec<String> {
    let texts: Vec<&str> = hunk.lines.iter().map(|line| line.text.as_str()).collect();
    let joined = texts.join("\n");
    let own = secrets::redact(&joined);
    let (mut at_head, mut at_base) = (first_head(hunk), hunk.old_start.max(1));
    hunk.lines
        .iter()
        .zip(own.split('\n'))
        .map(|(line, own)| {
            let known = match line.kind {
                LineKind::Removed => base.get(index(at_base)),
                _ => head.get(index(at_head)),
            };
            at_head = at_head.saturating_add(u32::from(line.kind != LineKind::Removed));
            at_base = at_base.saturating_add(u32::from(line.kind != LineKind::Added));
            known.cloned().unwrap_or_else(|| own.to_owned())
        })
        .collect()
}

fn hidden_in_hunk(index: usize, hunk: &Hunk, shown: &[String]) -> Vec<HiddenLine> {
    let mut found = Vec::new();
    let mut at_head = first_head(hunk);
    for (line, shown) in hunk.lines.iter().zip(shown) {
        let is_there = line.kind != LineKind::Removed;
        let is_changed = line.kind != LineKind::Context && !line.text.trim().is_empty();
        if is_changed && shows_nothing(shown) {
            found.push(HiddenLine { hunk: index, line: is_there.then_some(at_head) });
        }
        at_head = at_head.saturating_add(u32::from(is_there));
    }
    found
}

/// Whether a line consists of a redaction only.
fn shows_nothing(shown: &str) -> bool {
    let mut rest = shown.trim();
    while let Some(at) = rest.strip_prefix("[redacted:").and_then(|it| it.find(']')) {
        rest = rest.get("[redacted:".len() + at + 1..).unwrap_or_default().trim();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::parse;
    use crate::ports::Blob;

    const LINE: &str = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgwMbRvI0MBZhpJ";

    #[test]
    fn a_hunk_inside_of_a_key_is_clean_with_and_without_its_file() {
        let diff = format!(
            "--- a/k.pem\n+++ b/k.pem\n@@ -3,3 +3,3 @@\n {LINE}\n-{LINE}\n+{LINE}\n {LINE}\n"
        );
        let file = parse(diff.as_bytes()).unwrap().remove(0);
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        let text = format!("{begin}\n{}{end}\n", format!("{LINE}\n").repeat(9));
        let mut known = FileTexts::default();
        known.head.insert("k.pem".into(), Blob::Text(text.clone()));
        known.base.insert("k.pem".into(), Blob::Text(text));
        for texts in [known, FileTexts::default()] {
            let clean = RedactedFile::of(&file, &texts);
            assert!(clean.hunks[0].iter().all(|line| !line.contains("MIIE")), "{clean:?}");
            assert_eq!(clean.hunks[0].len(), 4);
        }
    }

    #[test]
    fn every_changed_line_of_which_nothing_is_seen_is_known() {
        let diff = format!(
            "--- a/k\n+++ b/k\n@@ -1,3 +1,4 @@\n x = 1\n-{LINE}\n-{LINE}\n+y = 2\n+{LINE}\n+{LINE}\n"
        );
        let file = parse(diff.as_bytes()).unwrap().remove(0);
        let hidden = RedactedFile::of(&file, &FileTexts::default()).hidden_lines(&file);
        let lines: Vec<Option<u32>> = hidden.iter().map(|hidden| hidden.line).collect();
        assert_eq!(lines, [None, None, Some(3), Some(4)]);
        assert!(hidden.iter().all(|hidden| hidden.hunk == 0));
    }
}
