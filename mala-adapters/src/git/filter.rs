//! Paths that limit a review: files, folders and globs, relative to the current folder.

use super::{Git, GitScopeError};
use globset::{Glob, GlobBuilder, GlobMatcher};
use mala_domain::change::FilePath;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// The paths to review.
#[derive(Debug, Clone, Default)]
pub(crate) struct PathFilter {
    wanted: Vec<FilterPath>,
}

/// One path or glob.
#[derive(Debug, Clone)]
struct FilterPath {
    /// As the user wrote it.
    written: String,
    /// From the root of the tree; empty for the whole tree.
    path: Vec<u8>,
    is_glob: bool,
}

impl PathFilter {
    /// Parses paths relative to the folder where the repository was opened.
    pub(super) fn read(git: &Git, paths: &[String]) -> Result<Self, GitScopeError> {
        let wanted =
            paths.iter().map(|path| FilterPath::read(git, path)).collect::<Result<_, _>>()?;
        Ok(Self { wanted })
    }

    /// Parses paths relative to the root of a patch.
    pub(crate) fn of_patch(paths: &[String]) -> Result<Self, GitScopeError> {
        let root = Path::new("/");
        let read = |written: &String| {
            let outside = || GitScopeError::Outside { path: written.clone(), top: root.to_owned() };
            let whole = flatten(&root.join(written)).ok_or_else(outside)?;
            if written.starts_with('/') {
                return Err(outside());
            }
            let inside = whole.strip_prefix(root).unwrap_or(&whole).to_owned();
            Ok(FilterPath {
                written: written.clone(),
                is_glob: is_glob(written),
                path: inside.into_os_string().into_vec(),
            })
        };
        Ok(Self { wanted: paths.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether a file is included, for changes that git did not filter.
    pub(crate) fn includes(&self, file: &FilePath) -> bool {
        self.is_everything() || self.wanted.iter().any(|wanted| wanted.includes(file))
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted.path.is_empty())
    }

    /// The arguments for git, starting with `--`.
    pub(super) fn args(&self) -> Vec<OsString> {
        let mut args = vec![OsString::from("--")];
        if !self.is_everything() {
            args.extend(self.wanted.iter().map(FilterPath::pathspec));
        }
        args
    }

    /// These paths and additional files.
    pub(super) fn with_files<'a>(
        &self,
        files: impl Iterator<Item = &'a FilePath>,
    ) -> Vec<OsString> {
        let mut args = self.args();
        args.extend(files.map(|file| pathspec("literal", file.as_bytes())));
        args
    }

    /// The paths without globs, as written and from the root. They must exist on one side of the
    /// change.
    pub(super) fn plain(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.wanted
            .iter()
            .filter(|wanted| !wanted.is_glob && !wanted.path.is_empty())
            .map(|wanted| (wanted.written.as_str(), wanted.path.as_slice()))
    }
}

impl PathFilter {
    /// The globs that match none of these files, as written.
    pub(super) fn unmatched_globs<'f>(
        &self,
        files: impl Iterator<Item = &'f FilePath> + Clone,
    ) -> Vec<&str> {
        let globs = self.wanted.iter().filter(|wanted| wanted.is_glob);
        let unmatched = globs.filter(|glob| !files.clone().any(|file| glob.includes(file)));
        unmatched.map(|wanted| wanted.written.as_str()).collect()
    }

    /// The paths and globs, as written.
    pub(super) fn written(&self) -> String {
        let all: Vec<&str> = self.wanted.iter().map(|wanted| wanted.written.as_str()).collect();
        all.join(" ")
    }
}

impl FilterPath {
    fn read(git: &Git, written: &str) -> Result<Self, GitScopeError> {
        let top = &git.inner.top;
        let outside = || GitScopeError::Outside { path: written.to_owned(), top: top.clone() };
        let whole = git.inner.dir.join(written);
        let whole = flatten(&whole).ok_or_else(outside)?;
        // The root has no links in it, but the path of the user may lead through a link to it.
        let inside = whole.strip_prefix(top).map(Path::to_owned).or_else(|_| {
            let real = resolve_existing_part(&whole);
            real.strip_prefix(top).map(Path::to_owned).map_err(|_| outside())
        })?;
        let is_file = top.join(&inside).symlink_metadata().is_ok();
        Ok(Self {
            written: written.to_owned(),
            is_glob: is_glob(written) && !is_file,
            path: inside.into_os_string().into_vec(),
        })
    }

    fn includes(&self, file: &FilePath) -> bool {
        let as_glob = || {
            let glob = std::str::from_utf8(&self.path).ok()?;
            let glob = GlobBuilder::new(glob).literal_separator(true).build().ok();
            glob.as_ref().map(Glob::compile_matcher)
        };
        let matches = |glob: GlobMatcher| glob.is_match(OsStr::from_bytes(file.as_bytes()));
        match self.is_glob {
            true => as_glob().is_some_and(matches),
            false => holds(&self.path, file),
        }
    }

    fn pathspec(&self) -> OsString {
        pathspec(if self.is_glob { "glob" } else { "literal" }, &self.path)
    }
}

fn pathspec(magic: &str, path: &[u8]) -> OsString {
    OsString::from_vec([format!(":(top,{magic})").as_bytes(), path].concat())
}

/// The path without `.` and `..`; `None` if it leaves the root.
fn flatten(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => flat.pop().then_some(())?,
            part => flat.push(part),
        }
    }
    Some(flat)
}

/// The path with links in its existing part resolved.
fn resolve_existing_part(path: &Path) -> PathBuf {
    for start in path.ancestors().skip(1) {
        if let (Ok(real), Ok(rest)) = (start.canonicalize(), path.strip_prefix(start)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// Whether a path is this file or a folder above it.
pub(super) fn holds(path: &[u8], file: &FilePath) -> bool {
    let rest = file.as_bytes().strip_prefix(path);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

fn is_glob(written: &str) -> bool {
    written.contains(['*', '?', '['])
}

/// A path as an argument after `--`.
pub(super) fn as_argument(file: &FilePath) -> &OsStr {
    OsStr::from_bytes(file.as_bytes())
}
