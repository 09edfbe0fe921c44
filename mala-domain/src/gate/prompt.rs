//! What a lane is told: how to review, the change behind fences, and what to give back as proof.

use super::answer::Binding;
use crate::agent::brief::{PromptBriefs, has_no_hunks, without_lines};
use crate::agent::fence::Fence;
use crate::agent::prompts::{SYSTEM, VERIFY};
use crate::change::{Change, ChangedFile, LineKind};
use crate::finding::Finding;
use std::fmt::Write;

const LANE: &str = include_str!("prompts/lane.md");

/// How many files are named in warnings, of each kind.
const MAX_NAMED: usize = 30;

/// The prompt of a review.
pub fn review(change: &Change, briefs: &PromptBriefs, base: &str, binding: &Binding) -> String {
    let fence = Fence::new(binding.nonce.clone());
    let told = briefs.full_text();
    let account = regions(change);
    let left_out: Vec<String> = briefs.left_out.iter().map(|left| left.file.to_string()).collect();
    let unshown = match left_out.as_slice() {
        [] => String::new(),
        files => format!(
            "Not all of it is shown above. Look at the rest yourself, with `git diff {base} {}`:\n{}",
            binding.head,
            fence.wrap("files that are not shown in full", &files.join("\n"))
        ),
    };
    let unread = match hidden(briefs).as_slice() {
        [] => String::new(),
        regions => format!(
            "Whole lines of these regions are hidden above as secrets, and may be anything. Read them in the tree:\n{}",
            fence.wrap("regions with hidden lines", &regions.join("\n"))
        ),
    };
    let account = fence.wrap("changed regions to account for, by number", &account);
    format!(
        "{SYSTEM}\n{LANE}\nReview the whole change.\n\n{told}\n{unshown}{unread}{account}\nThe commit under review (`head_sha`): {}\nYour `nonce`: {}\nAnswer with the JSON object and nothing else.\n",
        binding.head,
        binding.nonce.as_str(),
    )
}

/// The regions of which a line is hidden, a line each.
fn hidden(briefs: &PromptBriefs) -> Vec<String> {
    briefs.unread.iter().map(|(file, hunk)| format!("{file}: region {}", hunk + 1)).collect()
}

/// What a lane was told by name only, or has to look for by itself, for the warnings of a report.
pub fn caveats(change: &Change, briefs: &PromptBriefs) -> Vec<String> {
    let bare = change.files.iter().filter(|file| has_no_hunks(file)).filter_map(without_lines);
    let left_out = briefs.left_out.iter().map(|left| left.file.to_string());
    let mut caveats = named(bare.collect(), "told by name only");
    caveats.extend(named(hidden(briefs), "hidden from the prompt as a secret"));
    caveats.extend(named(left_out.collect(), "too long to be shown in full in the prompt"));
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

/// The prompt of a check of claims: the cited files and the claims, nothing of who made them.
pub fn check(brief: &str, claims: &[(String, &Finding)], binding: &Binding) -> String {
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

/// The changed regions of every file that is to be accounted for, a line for each file.
pub fn regions(change: &Change) -> String {
    let mut account = String::new();
    for file in change.files.iter().filter(|file| is_given(file)) {
        let regions: Vec<String> = file.hunks.iter().enumerate().map(region).collect();
        // Writing to a string cannot fail.
        writeln!(account, "{}: {}", file.path, regions.join(", ")).unwrap_or_default();
    }
    account
}

/// Whether a lane is to account for a file.
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
    use crate::agent::brief::UnshownHunks;
    use crate::change::parse;

    #[test]
    fn what_a_lane_is_not_told_in_full_is_named() {
        let rename = |n: usize| {
            format!(
                "diff --git a/a{n} b/b{n}\nsimilarity index 100%\nrename from a{n}\nrename to b{n}\n"
            )
        };
        let many: String = (1..=32).map(rename).collect();
        let change = Change { files: parse(many.as_bytes()).unwrap_or_default() };
        let briefs = PromptBriefs {
            left_out: vec![UnshownHunks { file: "big.py".into(), hunks: vec![0, 1] }],
            unread: vec![("k.py".into(), 0)],
            warnings: vec!["cut".to_owned()],
            ..PromptBriefs::default()
        };
        let caveats = caveats(&change, &briefs);
        let (bare, rest) = caveats.split_at(30);
        assert_eq!(bare[0], "b1, renamed from a1, no line changed: told by name only");
        assert_eq!(
            rest,
            [
                "2 more: told by name only",
                "k.py: region 1: hidden from the prompt as a secret",
                "big.py: too long to be shown in full in the prompt",
                "cut",
            ]
        );
        let binding = Binding {
            nonce: crate::agent::fence::Nonce::over(&[b"a session"]),
            head: "a".repeat(40),
        };
        let prompt = review(&change, &briefs, "base", &binding);
        assert!(prompt.contains("Read them in the tree:"), "{prompt}");
        assert!(prompt.contains("\nk.py: region 1\n") && prompt.contains("\nbig.py\n"), "{prompt}");
    }
}
