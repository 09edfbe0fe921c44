//! The prompts of a lane: instructions, the fenced change, and the answer format with nonce and commit.

use super::answer::AnswerBinding;
use crate::agent::brief::{
    BriefMaterial, BriefStyle, PromptBriefs, briefs, has_no_hunks, without_lines,
};
use crate::agent::fence::Fence;
use crate::agent::prompts::{SYSTEM, VERIFY};
use crate::change::{Change, ChangedFile, FileClass, FilePath, LineKind};
use crate::finding::Finding;
use std::fmt::Write;

const LANE: &str = include_str!("prompts/lane.md");

/// The maximum number of files in a warning, of each kind.
const MAX_NAMED: usize = 30;

/// The maximum size of a change in a prompt: the known lanes read this much at once.
pub const MAX_BYTES: usize = 500_000;

/// The part of a change that is in the prompt of a lane.
pub struct ShownChange {
    /// The change; files that are not shown are marked as too large.
    pub change: Change,
    /// The text of the shown files.
    pub briefs: PromptBriefs,
    /// The files that are not shown.
    pub unshown: Vec<FilePath>,
}

/// As much of a change as fits into one prompt, in whole files.
pub fn shown(material: &BriefMaterial<'_>, style: &BriefStyle<'_>) -> ShownChange {
    let mut change = material.change.clone();
    let mut unshown: Vec<FilePath> = Vec::new();
    loop {
        let briefs = briefs(&BriefMaterial { change: &change, ..*material }, style);
        // Leaving out one large file is often enough.
        let n_dropped = if unshown.is_empty() { 1 } else { briefs.left_out.len() };
        let dropped = briefs.left_out.iter().take(n_dropped).map(|left| left.file.clone());
        let dropped: Vec<FilePath> = dropped.collect();
        if dropped.is_empty() {
            return ShownChange { change, briefs, unshown };
        }
        for file in change.files.iter_mut().filter(|file| dropped.contains(&file.path)) {
            file.class = FileClass::TooLarge;
        }
        unshown.extend(dropped);
    }
}

/// The prompt of a review.
pub fn review(shown: &ShownChange, binding: &AnswerBinding) -> String {
    let fence = Fence::new(binding.nonce.clone());
    let told = shown.briefs.full_text();
    let unread = match hidden(&shown.briefs).as_slice() {
        [] => String::new(),
        regions => format!(
            "Whole lines of these regions are hidden above as secrets, and may be anything. Read them in the tree:\n{}",
            fence.wrap("regions with hidden lines", &regions.join("\n"))
        ),
    };
    let account = fence.wrap("changed regions to account for, by number", &regions(&shown.change));
    format!(
        "{SYSTEM}\n{LANE}\nReview the whole change.\n\n{told}\n{unread}{account}\nThe commit under review (`head_sha`): {}\nYour `nonce`: {}\nAnswer with the JSON object and nothing else.\n",
        binding.head,
        binding.nonce.as_str(),
    )
}

/// The regions with hidden lines, one per line.
fn hidden(briefs: &PromptBriefs) -> Vec<String> {
    briefs.unread.iter().map(|(file, hunk)| format!("{file}: region {}", hunk + 1)).collect()
}

/// The warnings about files that a lane got by name only, or not at all.
pub fn caveats(shown: &ShownChange) -> Vec<String> {
    let ShownChange { change, briefs, unshown } = shown;
    let bare = change.files.iter().filter(|file| has_no_hunks(file)).filter_map(without_lines);
    let mut caveats = named(bare.collect(), "told by name only");
    caveats.extend(named(hidden(briefs), "hidden from the prompt as a secret"));
    let too_large = format!(
        "does not fit into a prompt of {} kB: review the change in parts, or exclude data files \
         (review.ignore)",
        MAX_BYTES / 1000
    );
    caveats.extend(named(unshown.iter().map(ToString::to_string).collect(), &too_large));
    caveats.extend(briefs.warnings.iter().cloned());
    caveats
}

/// The first of these, and how many more there are.
fn named(all: Vec<String>, how: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        all.iter().take(MAX_NAMED).map(|it| format!("{it}: {how}")).collect();
    match all.len().saturating_sub(MAX_NAMED) {
        0 => {}
        n => lines.push(format!("{n} more: {how}")),
    }
    lines
}

/// The prompt of a check of claims: the cited files and the claims, without their authors.
pub fn check(brief: &str, claims: &[(String, &Finding)], binding: &AnswerBinding) -> String {
    let fence = Fence::new(binding.nonce.clone());
    let mut told = String::new();
    for (id, claim) in claims {
        let (file, span) = (&claim.file, claim.span());
        let (title, body, evidence) = (&claim.title, &claim.body, &claim.evidence_snippet);
        writeln!(told, "{id}: {file}:{span}\n{title}\n{body}\nEvidence: {evidence}\n")
            .unwrap_or_default();
    }
    format!(
        "{VERIFY}\nThe object also has `head_sha`: the commit under review, as it stands below. You stand in a read-only copy of the tree at that commit; write nothing.\n\n{brief}\n{}\nThe commit under review (`head_sha`): {}\nYour `nonce`: {}\nAnswer with the JSON object and nothing else.\n",
        fence.wrap("claims", &told),
        binding.head,
        binding.nonce.as_str(),
    )
}

/// The changed regions of every file that a lane has to review, one line per file.
pub fn regions(change: &Change) -> String {
    let mut account = String::new();
    for file in change.files.iter().filter(|file| is_given(file)) {
        let regions: Vec<String> = file.hunks.iter().enumerate().map(region).collect();
        // Writing to a string cannot fail.
        writeln!(account, "{}: {}", file.path, regions.join(", ")).unwrap_or_default();
    }
    account
}

/// Whether a lane has to list a file as reviewed.
pub fn is_given(file: &ChangedFile) -> bool {
    file.is_reviewable() && !file.hunks.is_empty()
}

/// A region by its number and its lines at head.
fn region((index, hunk): (usize, &crate::change::Hunk)) -> String {
    let lines = hunk.lines.iter().filter(|line| line.kind != LineKind::Removed).count();
    let first = hunk.new_start;
    let last = usize::try_from(first).unwrap_or(0).saturating_add(lines.saturating_sub(1));
    format!("{} (lines {first}-{last})", index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::brief::BriefWidth;
    use crate::agent::fence::Nonce;
    use crate::change::parse;
    use std::collections::BTreeMap;

    fn binding() -> AnswerBinding {
        AnswerBinding { nonce: Nonce::over(&[b"a session"]), head: "a".repeat(40) }
    }

    fn change(diff: &str) -> Change {
        Change { files: parse(diff.as_bytes()).unwrap_or_default() }
    }

    /// 000-062
    #[test]
    fn what_a_lane_is_not_told_in_full_is_named() {
        let rename = |n: usize| {
            format!(
                "diff --git a/a{n} b/b{n}\nsimilarity index 100%\nrename from a{n}\nrename to b{n}\n"
            )
        };
        let many: String = (1..=32).map(rename).collect();
        let briefs = PromptBriefs {
            unread: vec![("k.py".into(), 0)],
            warnings: vec!["cut".to_owned()],
            ..PromptBriefs::default()
        };
        let shown = ShownChange { change: change(&many), briefs, unshown: vec!["big.py".into()] };
        let caveats = caveats(&shown);
        let (bare, rest) = caveats.split_at(30);
        assert_eq!(bare[0], "b1, renamed from a1, no line changed: told by name only");
        assert_eq!(
            rest,
            [
                "2 more: told by name only",
                "k.py: region 1: hidden from the prompt as a secret",
                "big.py: does not fit into a prompt of 500 kB: review the change in parts, or \
                 exclude data files (review.ignore)",
                "cut",
            ]
        );
        let prompt = review(&shown, &binding());
        assert!(prompt.starts_with(SYSTEM), "the instructions of the agent: {prompt}");
        assert!(prompt.contains("Read them in the tree:"), "{prompt}");
        assert!(prompt.contains("\nk.py: region 1\n"), "{prompt}");
    }

    #[test]
    fn whole_files_are_left_out_until_the_rest_fits() {
        let file = |name: &str, n: usize| {
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{n} @@\n{}",
                "+a line of text\n".repeat(n)
            )
        };
        for (sizes, max_bytes, unshown) in [
            (&[3, 3][..], 10_000, &[][..]),
            (&[3, 900, 3], 10_000, &["f1"][..]),
            (&[900, 900, 3], 10_000, &["f0", "f1"]),
            (&[900], 10_000, &["f0"]),
            (&[300, 300, 300], 10_000, &["f1", "f2"]),
        ] {
            let files = sizes.iter().enumerate().map(|(at, n)| file(&format!("f{at}"), *n));
            let change = change(&files.collect::<String>());
            let material = BriefMaterial {
                change: &change,
                texts: &crate::review::FileTexts::default(),
                enclosing: &BTreeMap::new(),
                target: "a change",
                tasks: &[],
                rules: &[],
                references: &[],
                hints: &[],
            };
            let fence = Fence::new(binding().nonce);
            let (width, max_briefs) = (BriefWidth::STANDARD, 1);
            let style = BriefStyle { fence: &fence, width, max_bytes, max_briefs };
            let shown = shown(&material, &style);
            let names: Vec<String> = shown.unshown.iter().map(ToString::to_string).collect();
            assert_eq!(names, unshown, "{sizes:?}");
            assert!(shown.briefs.left_out.is_empty(), "{sizes:?}");
            let account = regions(&shown.change);
            assert!(!unshown.iter().any(|name| account.contains(name)), "{account}");
        }
    }
}
