//! The summary comment: exactly one, with the newest result.

use super::{Discussion, ForgeComment, ForgeWrite, RefusedWrites, SummaryState, read_summary};

/// The summary of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryDraft {
    /// The stored state.
    pub state: SummaryState,
    /// The whole text, with its markers.
    pub body: String,
}

/// Our summary comments with their states, oldest first.
fn summaries(discussion: &Discussion) -> Vec<(&ForgeComment, SummaryState)> {
    let ours = discussion.comments.iter().filter(|comment| discussion.is_ours(&comment.author));
    let mut found: Vec<_> = ours
        .filter_map(|comment| read_summary(&comment.body).map(|state| (comment, state)))
        .collect();
    found.sort_by_key(|(comment, _)| comment.id);
    found
}

impl SummaryState {
    /// The state of the newest summary of a discussion; empty if there is none.
    pub fn newest(discussion: &Discussion) -> Self {
        let states = summaries(discussion).into_iter().map(|(_, state)| state);
        states.max_by(|a, b| a.started.cmp(&b.started)).unwrap_or_default()
    }
}

/// Plans the writes that leave one summary comment, the oldest of ours, with the newest result for
/// this head. Another result for the same head wins if its review started later; results for other
/// heads never do. A summary with the same content is not changed, and neither is one of another
/// account that the token cannot edit.
pub fn plan_summary(
    discussion: &Discussion,
    draft: &SummaryDraft,
    refused: &RefusedWrites,
) -> Vec<ForgeWrite> {
    let mut existing = summaries(discussion);
    existing.retain(|(comment, _)| !refused.comments.contains(&comment.id));
    let Some((first, shown)) = existing.first() else {
        return vec![ForgeWrite::CreateComment { body: draft.body.clone() }];
    };
    let of_head = existing.iter().filter(|(_, state)| state.head == draft.state.head);
    let newer = of_head
        .filter(|(_, state)| state.started > draft.state.started)
        .max_by(|a, b| a.1.started.cmp(&b.1.started));
    let (wanted, state) = match newer {
        Some((comment, state)) => (&comment.body, state),
        None => (&draft.body, &draft.state),
    };
    let is_shown = shown.head == state.head
        && shown.digest == state.digest
        && shown.rejected == state.rejected
        && shown.resolved == state.resolved
        && shown.answered == state.answered;
    let update =
        (!is_shown).then(|| ForgeWrite::UpdateComment { id: first.id, body: wanted.clone() });
    let copies = existing.iter().skip(1);
    let deleted = copies.map(|(comment, _)| ForgeWrite::DeleteComment { id: comment.id });
    update.into_iter().chain(deleted).collect()
}
