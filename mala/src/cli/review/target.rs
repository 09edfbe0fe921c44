//! What the command line asks to be reviewed.

use super::ReviewArgs;
use crate::cli::failure::Failure;
use anyhow::Context;
use mala_domain::scope::Target;
use std::io::Read;

/// A patch larger than this is not one that anybody reviews.
const MAX_PATCH_BYTES: u64 = 512 << 20;

/// What to review, and the paths to keep to.
pub(super) struct Asked {
    pub(super) target: Target,
    pub(super) paths: Vec<String>,
}

pub(super) fn asked(args: &ReviewArgs) -> anyhow::Result<Asked> {
    let (range, paths) = split(&args.what);
    let by_flag = flagged(args)?;
    let target = match (range, by_flag) {
        (Some(_), Some(_)) => {
            return Err(Failure::usage("a range and a flag both say what to review")
                .hint("give either the range, or --staged, --commit, --base or --patch")
                .into());
        }
        (Some(range), None) => range,
        (None, Some(target)) => target,
        (None, None) => Target::WorkingTree,
    };
    Ok(Asked { target, paths })
}

fn flagged(args: &ReviewArgs) -> anyhow::Result<Option<Target>> {
    Ok(if args.staged {
        Some(Target::Staged)
    } else if !args.commit.is_empty() {
        Some(Target::Commits(args.commit.clone()))
    } else if let Some(base) = &args.base {
        Some(Target::SinceMergeBase { base: base.clone(), head: "HEAD".to_owned() })
    } else if let Some(file) = &args.patch {
        Some(Target::Patch(read_patch(file)?))
    } else {
        None
    })
}

/// The first word is a range when it has `..` and names no file; all others are paths.
fn split(words: &[String]) -> (Option<Target>, Vec<String>) {
    match words.split_first() {
        Some((first, rest)) => match range(first) {
            Some(target) => (Some(target), rest.to_vec()),
            None => (None, words.to_vec()),
        },
        None => (None, Vec::new()),
    }
}

fn range(word: &str) -> Option<Target> {
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
        Target::SinceMergeBase { base, head }
    } else {
        Target::Range { base, head }
    })
}

fn read_patch(file: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if file == "-" {
        std::io::stdin().lock().take(MAX_PATCH_BYTES + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|f| f.take(MAX_PATCH_BYTES + 1).read_to_end(&mut bytes))
    };
    let n_bytes = read.with_context(|| format!("reading the patch {file}"))?;
    if n_bytes as u64 > MAX_PATCH_BYTES {
        anyhow::bail!("the patch {file} has more than {} MiB", MAX_PATCH_BYTES >> 20);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_told_from_paths() {
        let range = |base: &str, head: &str| Target::Range { base: base.into(), head: head.into() };
        let since = |base: &str, head: &str| Target::SinceMergeBase {
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
