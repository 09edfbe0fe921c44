//! The target of a review on the command line.

use crate::failure::{Failure, FailureKind};
use crate::settings::UserSettings;
use crate::wiring::changes::Changes;
use crate::wiring::trusted_settings::base_branch;
use anyhow::Context;
use clap::Args;
use mala_domain::ports::ReviewScope;
use mala_domain::scope::ReviewTarget;
use std::io::Read;

/// The size limit of a patch.
const MAX_PATCH_BYTES: u64 = 512 << 20;

/// The target of the review
#[derive(Debug, Default, Args)]
pub(crate) struct TargetArgs {
    /// Range of commits (`A..B`, or `A...B` from their merge base), and paths to limit the review to
    #[arg(value_name = "RANGE|PATH")]
    what: Vec<String>,

    /// Review the staged changes
    #[arg(long, conflicts_with_all = ["commit", "base", "patch"])]
    staged: bool,

    /// Review these commits, each against its first parent
    #[arg(long, value_name = "SHA", num_args = 1.., conflicts_with_all = ["base", "patch"])]
    commit: Vec<String>,

    /// Review the changes of HEAD since its merge base with this branch [default: `review.base`, or
    /// the default branch]
    #[arg(long, value_name = "BRANCH", num_args = 0..=1, default_missing_value = "",
          conflicts_with = "patch")]
    base: Option<String>,

    /// Review a unified diff from a file, or from stdin with `-`; needs no repository
    #[arg(long, value_name = "FILE")]
    patch: Option<String>,
}

impl TargetArgs {
    /// A range of commits.
    pub(super) fn of_range(base: &str, head: &str) -> Self {
        Self { what: vec![format!("{base}..{head}")], ..Self::default() }
    }
}

/// The target of a review, and the paths that limit it.
pub(super) struct TargetRequest {
    target: ReviewTarget,
    paths: Vec<String>,
}

impl TargetRequest {
    /// The paths that limit the review.
    pub(super) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The change, and the target with the name of its base.
    pub(super) async fn scope(
        &self,
        user: &UserSettings,
        changes: &Changes,
    ) -> anyhow::Result<(ReviewTarget, ReviewScope)> {
        let target = with_base(&self.target, user, changes).await?;
        let scoped = changes.scope(&target, &self.paths).await?;
        Ok((target, scoped))
    }
}

/// The target with the name of its base, which `--base` may leave out.
async fn with_base(
    target: &ReviewTarget,
    user: &UserSettings,
    changes: &Changes,
) -> anyhow::Result<ReviewTarget> {
    match target {
        ReviewTarget::SinceMergeBase { base, head } if base.is_empty() => {
            let base = base_branch(user, changes).await?.ok_or_else(|| {
                Failure::usage("cannot determine the default branch")
                    .hint("run `mala review --base BRANCH`")
            })?;
            Ok(ReviewTarget::SinceMergeBase { base, head: head.clone() })
        }
        target => Ok(target.clone()),
    }
}

pub(super) fn requested(args: &TargetArgs) -> anyhow::Result<TargetRequest> {
    let (range, paths) = split(&args.what);
    let by_flag = flagged(args)?;
    let target = match (range, by_flag) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("a range and an option both set the target")
                .hint("use either a range, or --staged, --commit, --base or --patch")
                .into());
        }
        (Some(range), None) => range,
        (None, Some(target)) => target,
        (None, None) => ReviewTarget::WorkingTree,
    };
    Ok(TargetRequest { target, paths })
}

fn flagged(args: &TargetArgs) -> anyhow::Result<Option<ReviewTarget>> {
    Ok(if args.staged {
        Some(ReviewTarget::Staged)
    } else if !args.commit.is_empty() {
        Some(ReviewTarget::Commits(args.commit.clone()))
    } else if let Some(base) = &args.base {
        Some(ReviewTarget::SinceMergeBase { base: base.clone(), head: "HEAD".to_owned() })
    } else if let Some(file) = &args.patch {
        Some(ReviewTarget::Patch(read_patch(file)?))
    } else {
        None
    })
}

/// The first argument may be a range; the others are paths.
fn split(words: &[String]) -> (Option<ReviewTarget>, Vec<String>) {
    match words.split_first() {
        Some((first, rest)) => match range(first) {
            Some(target) => (Some(target), rest.to_vec()),
            None => (None, words.to_vec()),
        },
        None => (None, Vec::new()),
    }
}

/// Parses a range; `None` for other words.
pub(crate) fn range(word: &str) -> Option<ReviewTarget> {
    let (base, head, since_merge_base) = match word.split_once("...") {
        Some((base, head)) => (base, head, true),
        None => word.split_once("..").map(|(base, head)| (base, head, false))?,
    };
    if base.starts_with('/') || head.starts_with('/') || base.ends_with('/') {
        return None;
    }
    if base.is_empty() && head.is_empty() {
        return None;
    }
    let or_head = |side: &str| if side.is_empty() { "HEAD" } else { side }.to_owned();
    let (base, head) = (or_head(base), or_head(head));
    Some(if since_merge_base {
        ReviewTarget::SinceMergeBase { base, head }
    } else {
        ReviewTarget::Range { base, head }
    })
}

fn read_patch(file: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        std::io::stdin().lock().take(MAX_PATCH_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(MAX_PATCH_BYTES + 1).read_to_end(&mut bytes))
    };
    let n_bytes = match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::usage(format!("patch {file} does not exist")).into());
        }
        other => other.with_context(|| format!("reading the patch {file}"))?,
    };
    if n_bytes as u64 > MAX_PATCH_BYTES {
        anyhow::bail!("the patch {file} is larger than {} MiB", MAX_PATCH_BYTES >> 20);
    }
    if bytes.trim_ascii().is_empty() {
        // The command that prints it may have failed.
        let name = if file == "-" { "on stdin" } else { file };
        let what = format!("the patch {name} is empty");
        return Err(Failure::new(FailureKind::CouldNotReview, what)
            .hint("check the command that prints it")
            .into());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_from_paths() {
        let range =
            |base: &str, head: &str| ReviewTarget::Range { base: base.into(), head: head.into() };
        let since = |base: &str, head: &str| ReviewTarget::SinceMergeBase {
            base: base.into(),
            head: head.into(),
        };
        let rows = [
            (vec![], None, 0),
            (vec!["main..HEAD"], Some(range("main", "HEAD")), 0),
            (vec!["main.."], Some(range("main", "HEAD")), 0),
            (vec!["..topic"], Some(range("HEAD", "topic")), 0),
            (vec!["main...topic", "src"], Some(since("main", "topic")), 1),
            (vec!["src/a.py", "main..HEAD"], None, 2),
            (vec![".."], None, 1),
            (vec!["../x"], None, 1),
            (vec!["a/../b"], None, 1),
        ];
        for (words, target, n_paths) in rows {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let (got, paths) = split(&words);
            assert_eq!((got, paths.len()), (target, n_paths), "{words:?}");
        }
    }
}
