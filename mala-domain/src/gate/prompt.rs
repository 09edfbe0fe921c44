//! What a lane is told: how to review, the change behind fences, and what to give back as proof.

use super::answer::Binding;
use crate::agent::brief::Briefs;
use crate::agent::fence::Fence;
use crate::agent::prompts::{Pass, REFUTE, SYSTEM};
use crate::change::{Change, ChangedFile, LineKind};
use crate::finding::Finding;
use std::fmt::Write;

const LANE: &str = include_str!("prompts/lane.md");

/// The prompt of a review.
pub fn review(change: &Change, briefs: &Briefs, base: &str, binding: &Binding) -> String {
    let fence = Fence::new(binding.nonce.clone());
    let whole = Pass::Whole.instruction();
    let told: String = briefs.briefs.iter().map(|brief| brief.text.as_str()).collect();
    let account = regions(change);
    let left_out: Vec<String> = briefs.left_out.iter().map(|left| left.file.to_string()).collect();
    let unshown = match left_out.as_slice() {
        [] => String::new(),
        files => format!(
            "Not all of it is shown above. Look at the rest yourself, with `git diff {base} {}`:\n{}",
            binding.head,
            fence.around("files that are not shown in full", &files.join("\n"))
        ),
    };
    let account = fence.around("changed regions to account for, by number", &account);
    format!(
        "{SYSTEM}\n{LANE}\n{whole}\n{told}\n{unshown}{account}\nThe commit under review (`head_sha`): {}\nYour `nonce`: {}\nAnswer with the JSON object and nothing else.\n",
        binding.head,
        binding.nonce.as_str(),
    )
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
        "{REFUTE}\nThe object also has `head_sha`: the commit under review, as it stands below. You stand in a read-only copy of the tree at that commit; write nothing.\n\n{brief}\n{}\nThe commit under review (`head_sha`): {}\nYour `nonce`: {}\nAnswer with the JSON object and nothing else.\n",
        fence.around("claims", &told),
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
