//! Builds the part of a prompt that describes a change: numbered lines inside fences, within a size
//! limit. The same input gives the same bytes, so that all passes share the provider's prompt cache.

mod excerpt;
mod pack;
mod related;
mod sections;

pub use pack::{PromptBriefs, UnshownHunks, briefs};
pub use sections::{MAX_HINTS, has_no_hunks, hint_id, without_lines};

use crate::agent::fence::Fence;
use crate::change::{Change, FilePath, LineSpan};
use crate::finding::ReviewClaim;
use crate::review::{FileTexts, ReviewContext};
use std::collections::BTreeMap;

/// Everything that a brief may contain.
#[derive(Clone, Copy)]
pub struct BriefMaterial<'m> {
    /// The change.
    pub change: &'m Change,
    /// The texts of the changed files.
    pub texts: &'m FileTexts,
    /// The function around each hunk, by file and hunk.
    pub enclosing: &'m BTreeMap<FilePath, Vec<Option<HunkSymbol>>>,
    /// A description of the target of the review.
    pub target: &'m str,
    /// Texts about the task: name and content.
    pub tasks: &'m [(String, String)],
    /// The project's rules from the trusted side: file and content.
    pub rules: &'m [(FilePath, String)],
    /// Uses of changed definitions elsewhere, a line each.
    pub references: &'m [String],
    /// The findings of the built-in checks.
    pub hints: &'m [ReviewClaim],
}

impl<'m> BriefMaterial<'m> {
    /// The material of a review without hints.
    pub fn of(context: &'m ReviewContext) -> Self {
        let surroundings = &context.surroundings;
        Self {
            change: &context.change,
            texts: &context.texts,
            enclosing: &surroundings.enclosing,
            target: &context.scope.target,
            tasks: &context.tasks,
            rules: &surroundings.rules,
            references: &surroundings.references,
            hints: &[],
        }
    }
}

/// A brief of only these files of a change and its tasks, without rules, references and hints.
pub fn brief_of_files(
    context: &ReviewContext,
    tasks: &[(String, String)],
    files: &[&FilePath],
    style: &BriefStyle<'_>,
) -> String {
    let named = context.change.files.iter().filter(|file| files.contains(&&file.path));
    let change = Change { files: named.cloned().collect() };
    let whole = BriefMaterial::of(context);
    let material = BriefMaterial { change: &change, tasks, rules: &[], references: &[], ..whole };
    briefs(&material, &BriefStyle { max_briefs: 1, ..*style })
        .briefs
        .into_iter()
        .map(|brief| brief.text)
        .collect()
}

/// A function or class around a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkSymbol {
    /// Its name.
    pub symbol: String,
    /// Its lines at head.
    pub span: LineSpan,
}

/// One message about a change, or about a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptBrief {
    /// The text.
    pub text: String,
    /// The hunks that it shows, as indices into the file's hunks.
    pub shown: Vec<(FilePath, Vec<usize>)>,
}

/// How many lines around a change are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BriefWidth {
    /// Lines before and after a change, within the function around it.
    pub around: u32,
    /// A function with at most this many lines is shown in full.
    pub whole_function: u32,
}

impl BriefWidth {
    /// The width for a reviewer with tools.
    pub const STANDARD: Self = Self { around: 20, whole_function: 200 };
}

/// The estimated number of tokens of a text of this size.
pub fn estimated_tokens(n_bytes: usize) -> u64 {
    u64::try_from(n_bytes / 3).unwrap_or(u64::MAX).saturating_add(1)
}

/// Options for writing briefs.
#[derive(Clone, Copy)]
pub struct BriefStyle<'s> {
    /// The fence around all text from outside.
    pub fence: &'s Fence,
    /// How many lines around a change are shown.
    pub width: BriefWidth,
    /// The maximum size of one brief, in bytes.
    pub max_bytes: usize,
    /// The maximum number of briefs.
    pub max_briefs: usize,
}

#[cfg(test)]
mod tests;
