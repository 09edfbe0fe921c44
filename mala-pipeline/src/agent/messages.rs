//! The commit messages of the reviewed change: untrusted claims of their authors, kept short.

use mala_domain::ports::{CommitWithMessage, Repository, RepositoryError};
use mala_domain::secrets;

/// The name of the text in a brief.
pub(super) const NAME: &str = "commit messages, a claim";

/// Older commits are only counted.
const MAX_COMMITS: usize = 20;
/// The most bytes of one message, and of all.
const MAX_MESSAGE: usize = 1_000;
const MAX_BYTES: usize = 6_000;

/// The messages of the reviewed commits; `None` for uncommitted work.
pub(super) async fn of_change(tree: &dyn Repository) -> Result<Option<String>, RepositoryError> {
    let Some(history) = tree.history() else { return Ok(None) };
    let commits = history.reviewed(MAX_COMMITS + 1).await?;
    Ok((!commits.is_empty()).then(|| text(&commits)))
}

/// The newest messages that fit, oldest first.
fn text(commits: &[CommitWithMessage]) -> String {
    let mut left = MAX_BYTES;
    let mut kept: Vec<String> = commits
        .iter()
        .rev()
        .take(MAX_COMMITS)
        .map(one)
        .take_while(|one| {
            let fits = one.len() <= left;
            left = left.saturating_sub(one.len());
            fits
        })
        .collect();
    if kept.len() < commits.len() {
        kept.push("[older commits are left out]\n".to_owned());
    }
    kept.reverse();
    kept.concat()
}

fn one(commit: &CommitWithMessage) -> String {
    let id = commit.commit.id.get(..10).unwrap_or(&commit.commit.id);
    // Redact before cutting: a cut secret is not recognized.
    let message = secrets::redact(commit.message.trim());
    let cut = message.get(..message.floor_char_boundary(MAX_MESSAGE)).unwrap_or_default();
    let mark = if cut.len() < message.len() { " [cut]" } else { "" };
    format!("{id} {cut}{mark}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::ports::Commit;

    fn commit_with(id: usize, message: &str) -> CommitWithMessage {
        let commit = Commit {
            id: format!("{id:040}"),
            author: "Ada".to_owned(),
            date: "2024-01-31".to_owned(),
            subject: String::new(),
        };
        CommitWithMessage { commit, message: message.to_owned() }
    }

    #[test]
    fn half_a_secret_does_not_stay() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let message = format!("{} {token}", "x".repeat(MAX_MESSAGE - 20));
        let text = text(&[commit_with(1, &message)]);
        assert!(text.contains("[redacted:") && !text.contains("ghp_"), "{text}");
    }

    #[test]
    fn messages_stand_in_their_order() {
        let text = text(&[commit_with(1, "add\n\nWhy.\n"), commit_with(2, "fix")]);
        assert_eq!(text, "0000000000 add\n\nWhy.\n0000000000 fix\n");
    }

    #[test]
    fn what_is_long_is_cut_and_what_is_old_left_out() {
        let many: Vec<_> = (0..21).map(|n| commit_with(n, &format!("m{n}"))).collect();
        let all = text(&many);
        assert!(all.starts_with("[older commits are left out]\n0"), "{all}");
        assert!(!all.contains("m0\n") && all.contains("m1\n") && all.contains("m20\n"), "{all}");
        let long = text(&[commit_with(1, &"é".repeat(700))]);
        assert!(long.ends_with("é [cut]\n") && long.len() < 1_100, "{}", long.len());
        let long: Vec<_> = (0..9).map(|n| commit_with(n, &"x".repeat(2_000))).collect();
        assert!(text(&long).len() <= MAX_BYTES + 40);
    }
}
