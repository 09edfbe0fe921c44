//! Reads the attributes of files from the trusted side of a change. `.git/info/attributes` is not
//! part of any commit, so it must not hide files from a review.

use super::{Git, GitError, ObjectId};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Attributes that exclude files from a review, by their start in an attributes file.
const HIDING: &[&str] = &["diff", "binary", "linguist-", "[attr]"];

/// The source of attributes.
#[derive(Debug)]
pub(super) struct AttributeSource {
    /// The tree whose `.gitattributes` apply.
    pub(super) tree: ObjectId,
    /// The git folder with links to all but the attributes that hide files, if there are any.
    pub(super) common: Option<TempDir>,
}

impl Git {
    pub(super) fn with_attributes_of(&self, tree: &ObjectId) -> Result<Self, GitError> {
        let shared = self.shared_dir();
        let common = without_hiding(&shared).map_err(|source| {
            let what = format!("linking {}", shared.display());
            GitError::Io { what, source }
        })?;
        let source = AttributeSource { tree: tree.clone(), common };
        Ok(Self { inner: Arc::clone(&self.inner), attributes: Some(Arc::new(source)) })
    }
}

fn without_hiding(shared: &Path) -> std::io::Result<Option<TempDir>> {
    // Git ignores an unreadable file, too.
    let Ok(own) = std::fs::read(shared.join("info/attributes")) else { return Ok(None) };
    let own = String::from_utf8_lossy(&own);
    let kept: String = own.split_inclusive('\n').filter(|line| !hides(line)).collect();
    if kept == own {
        return Ok(None);
    }
    let shared = shared.canonicalize()?;
    let view = tempfile::Builder::new().prefix("mala-common-").tempdir()?;
    std::fs::create_dir(view.path().join("info"))?;
    std::fs::write(view.path().join("info/attributes"), kept)?;
    for (from, to) in [(shared.clone(), "."), (shared.join("info"), "info")] {
        for entry in std::fs::read_dir(&from)? {
            let name = entry?.file_name();
            let link = view.path().join(to).join(&name);
            if !link.exists() {
                symlink(from.join(&name), link)?;
            }
        }
    }
    Ok(Some(view))
}

/// Whether a line of an attributes file sets an attribute that excludes files from a review.
fn hides(line: &str) -> bool {
    let words = line.split_whitespace().map(|word| word.trim_start_matches(['-', '!', '"']));
    words.into_iter().any(|word| HIDING.iter().any(|name| word.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::hides;

    #[test]
    fn lines_that_take_files_out_of_a_review_are_known() {
        for (line, expected) in [
            ("*.py linguist-generated\n", true),
            ("*.py -linguist-vendored", true),
            ("\"a b.py\" text binary", true),
            ("*.py -diff", true),
            ("*.py diff=x", true),
            ("[attr]x text", true),
            ("* text=auto eol=lf", false),
            ("*.ipynb filter=nbstripout", false),
            ("# a comment", false),
            ("", false),
        ] {
            assert_eq!(hides(line), expected, "{line}");
        }
    }
}
