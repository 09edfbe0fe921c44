//! The lines of a changed file without their secrets. A secret of many lines is known only by all of
//! them, so whole files are cleaned where they are known, and not lines or hunks.

use crate::change::{ChangedFile, Hunk, LineKind};
use crate::review::Texts;
use crate::secrets;

/// A changed file without its secrets, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanFile {
    /// The lines at head; none when the text is not known.
    pub head: Vec<String>,
    /// The lines of each hunk.
    pub hunks: Vec<Vec<String>>,
}

/// So many lines that show nothing but a redaction are a secret; more of them may be anything.
const MAX_HIDDEN: usize = 3;

impl CleanFile {
    /// The file in these texts.
    pub fn of(file: &ChangedFile, texts: &Texts) -> Self {
        let lines =
            |text: &str| secrets::redact(text).lines().map(str::to_owned).collect::<Vec<_>>();
        let head = texts.at_head(&file.path).map(lines).unwrap_or_default();
        let base = texts.at_base(file.base_path()).map(lines).unwrap_or_default();
        let hunks = file.hunks.iter().map(|hunk| clean_hunk(hunk, &head, &base)).collect();
        Self { head, hunks }
    }

    /// How many changed lines stand in blocks of which nothing is to be seen.
    pub fn n_hidden(&self, file: &ChangedFile) -> usize {
        let hunks = file.hunks.iter().zip(&self.hunks);
        hunks.map(|(hunk, shown)| n_hidden(hunk, shown)).sum()
    }
}

/// The first line at head; a hunk without lines at head names the line before it.
pub(super) fn first_head(hunk: &Hunk) -> u32 {
    if hunk.new_lines == 0 { hunk.new_start.saturating_add(1) } else { hunk.new_start.max(1) }
}

pub(super) fn index(line: u32) -> usize {
    usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX)
}

fn clean_hunk(hunk: &Hunk, head: &[String], base: &[String]) -> Vec<String> {
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

fn n_hidden(hunk: &Hunk, shown: &[String]) -> usize {
    let (mut all, mut block) = (0, 0);
    for (line, shown) in hunk.lines.iter().zip(shown) {
        let changed = line.kind != LineKind::Context;
        if changed && !line.text.trim().is_empty() && shows_nothing(shown) {
            block += 1;
        } else if !line.text.trim().is_empty() {
            all += if block > MAX_HIDDEN { block } else { 0 };
            block = 0;
        }
    }
    all + if block > MAX_HIDDEN { block } else { 0 }
}

/// Whether a line is a redaction and nothing else.
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
        let mut known = Texts::default();
        known.head.insert("k.pem".into(), Blob::Text(text.clone()));
        known.base.insert("k.pem".into(), Blob::Text(text));
        for texts in [known, Texts::default()] {
            let clean = CleanFile::of(&file, &texts);
            assert!(clean.hunks[0].iter().all(|line| !line.contains("MIIE")), "{clean:?}");
            assert_eq!(clean.hunks[0].len(), 4);
        }
    }

    #[test]
    fn only_blocks_of_which_nothing_is_seen_are_counted() {
        for (n, expected) in [(3, 0), (4, 4), (30, 30)] {
            let lines = format!("+{LINE}\n").repeat(n);
            let diff = format!("--- a/k\n+++ b/k\n@@ -0,0 +1,{} @@\n+x = 1\n{lines}", n + 1);
            let file = parse(diff.as_bytes()).unwrap().remove(0);
            let clean = CleanFile::of(&file, &Texts::default());
            assert_eq!(clean.n_hidden(&file), expected, "{n}");
        }
    }
}
