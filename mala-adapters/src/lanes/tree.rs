//! The tree of a lane: its files and its git folder are made read-only. Writes are detected by the change times
//! of files, which programs cannot set.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The maximum number of written files in a message.
const MAX_NAMED: usize = 20;

/// The parts of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreePart {
    /// The files of the commit.
    Files,
    /// The files of the commit and the git folder.
    All,
}

/// The index of a tree. `git status` may rewrite it without a change of its files.
const INDEX: &str = ".git/index";

/// The metadata of every file of a tree and of its git folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, [i64; 6]>,
}

impl Snapshot {
    /// The tree as it is.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        walk(root, TreePart::All, |path, meta| {
            let below = path.strip_prefix(root).unwrap_or(path).to_owned();
            let mut known = known(meta);
            if below == Path::new(".git") {
                // Writing the index again changes the dates of its folder.
                let [mode, _, inode, ..] = known;
                known = [mode, 0, inode, 0, 0, 0];
            }
            if below != Path::new(".git/index.lock") {
                files.insert(below, known);
            }
            Ok(())
        })?;
        Ok(Self { files })
    }

    /// Whether the index was written; its content may be the same.
    pub(super) fn has_other_index(&self, later: &Self) -> bool {
        self.files.get(Path::new(INDEX)) != later.files.get(Path::new(INDEX))
    }

    /// The first files that differ, without the index. A folder counts only if nothing below it differs.
    pub(super) fn differences(&self, later: &Self) -> Vec<String> {
        let differs = |path: &&PathBuf| {
            path.as_path() != Path::new(INDEX) && self.files.get(*path) != later.files.get(*path)
        };
        let all: std::collections::BTreeSet<&PathBuf> =
            self.files.keys().chain(later.files.keys()).filter(differs).collect();
        let is_above = |path: &PathBuf| all.iter().any(|it| *it != path && it.starts_with(path));
        let named = all.iter().filter(|path| !is_above(path)).take(MAX_NAMED);
        named.map(|path| path.display().to_string()).collect()
    }
}

/// Metadata that changes when a file is written, renamed, replaced or gets other permissions.
fn known(meta: &fs::Metadata) -> [i64; 6] {
    let size = i64::try_from(meta.size()).unwrap_or(i64::MAX);
    let inode = i64::from_ne_bytes(meta.ino().to_ne_bytes());
    let (written, changed) = (meta.mtime_nsec(), meta.ctime_nsec());
    [i64::from(meta.mode()), size, inode, meta.ctime(), changed, written]
}

/// Removes files and folders with one of these names, at any depth.
pub(super) fn hide(root: &Path, names: &[&str]) -> io::Result<()> {
    let mut found = Vec::new();
    walk(root, TreePart::Files, |path, meta| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Some file systems ignore case.
        if names.iter().any(|hidden| hidden.eq_ignore_ascii_case(name)) {
            found.push((path.to_owned(), meta.is_dir()));
        }
        Ok(())
    })?;
    for (path, is_folder) in found {
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            // It was in a folder that is removed already.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Replaces every link that does not lead into the tree by a file with its target, as git does on systems
/// without links: a commit could link to files in the lane's home.
pub(super) fn tame_links(root: &Path) -> io::Result<()> {
    let real = root.canonicalize()?;
    let mut stray = Vec::new();
    walk(root, TreePart::Files, |path, meta| {
        let stays = || path.canonicalize().is_ok_and(|target| target.starts_with(&real));
        if meta.is_symlink() && !stays() {
            stray.push(path.to_owned());
        }
        Ok(())
    })?;
    for path in stray {
        let target = fs::read_link(&path)?;
        fs::remove_file(&path)?;
        fs::write(&path, target.as_os_str().as_bytes())?;
    }
    Ok(())
}

/// Removes all write permissions.
pub(super) fn make_read_only(root: &Path) -> io::Result<()> {
    walk(root, TreePart::All, |path, meta| set_mode(path, meta, |mode| mode & !0o222))?;
    let meta = fs::symlink_metadata(root)?;
    set_mode(root, &meta, |mode| mode & !0o222)
}

/// Makes all folders writable for the owner, so that they can be removed.
pub(crate) fn make_writable(root: &Path) {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Ok(meta) = fs::symlink_metadata(&folder)
            && let Err(error) = set_mode(&folder, &meta, |mode| mode | 0o700)
        {
            tracing::debug!(%error, "a folder stays read-only");
        }
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        folders.extend(entries.flatten().filter(is_folder).map(|entry| entry.path()));
    }
}

fn set_mode(path: &Path, meta: &fs::Metadata, change: impl Fn(u32) -> u32) -> io::Result<()> {
    if meta.is_symlink() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(change(meta.mode())))
}

/// Visits all files and folders in these parts of a tree; links are not followed.
fn walk(
    root: &Path,
    part: TreePart,
    mut visit: impl FnMut(&Path, &fs::Metadata) -> io::Result<()>,
) -> io::Result<()> {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_top = folder == root && part == TreePart::Files;
            if is_top && path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let meta = fs::symlink_metadata(&path)?;
            visit(&path, &meta)?;
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_shows() {
        type Write = fn(&Path);
        let ways: [(&str, Write); 8] = [
            (".git/HEAD", |root| fs::write(root.join(".git/HEAD"), "other").unwrap()),
            (".git/config", |root| fs::write(root.join(".git/config"), "").unwrap()),
            (".git/refs/x", |root| fs::write(root.join(".git/refs/x"), "").unwrap()),
            ("a.py", |root| fs::write(root.join("a.py"), "0").unwrap()),
            ("new.py", |root| fs::write(root.join("new.py"), "").unwrap()),
            ("in/b.py", |root| fs::remove_file(root.join("in/b.py")).unwrap()),
            ("a.py", |root| {
                let file = fs::File::options().append(true).open(root.join("a.py")).unwrap();
                let long_ago = std::time::SystemTime::UNIX_EPOCH;
                file.set_times(fs::FileTimes::new().set_modified(long_ago)).unwrap();
            }),
            ("a.py", |root| {
                fs::set_permissions(root.join("a.py"), fs::Permissions::from_mode(0o777)).unwrap();
            }),
        ];
        for (named, write) in ways {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("in")).unwrap();
            fs::create_dir_all(folder.path().join(".git/refs")).unwrap();
            fs::write(folder.path().join(".git/HEAD"), "this").unwrap();
            fs::write(folder.path().join("a.py"), "1").unwrap();
            fs::write(folder.path().join("in/b.py"), "2").unwrap();
            let before = Snapshot::of(folder.path()).unwrap();
            assert_eq!(before.differences(&Snapshot::of(folder.path()).unwrap()), [""; 0]);
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(folder.path().join(".git/index"), "").unwrap();
            let refreshed = Snapshot::of(folder.path()).unwrap();
            assert_eq!(before.differences(&refreshed), [""; 0], "git does that by itself");
            assert!(before.has_other_index(&refreshed));
            write(folder.path());
            assert_eq!(before.differences(&Snapshot::of(folder.path()).unwrap()), [named]);
        }
    }

    #[test]
    fn what_a_program_would_obey_is_gone_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        for file in [".claude/settings.json", "in/.CLAUDE/x", "in/CLAUDE.md", "in/a.py"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        hide(folder.path(), &[".claude", "CLAUDE.md"]).unwrap();
        let left: Vec<_> = Snapshot::of(folder.path()).unwrap().files.into_keys().collect();
        assert_eq!(left, [Path::new("in"), Path::new("in/a.py")]);
    }

    #[test]
    fn no_link_leads_out_of_the_tree() {
        let own = tempfile::tempdir().unwrap();
        let root = own.path().join("tree");
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir_all(own.path().join("home")).unwrap();
        fs::write(own.path().join("home/key"), "secret").unwrap();
        fs::write(root.join("a.py"), "x").unwrap();
        let absolute = own.path().join("home/key").display().to_string();
        for (link, target, stays) in [
            ("same", "a.py", true),
            ("in/above", "../a.py", true),
            ("in/deep/root", "../..", true),
            ("folder", "in/deep", true),
            ("key", "../home/key", false),
            ("in/round", "deep/root/../home/key", false),
            ("again", "key", false),
            ("later", "../home/later", false),
            ("absolute", &absolute, false),
            ("dangling", "nowhere.py", false),
            ("itself", "itself", false),
        ] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
            tame_links(&root).unwrap();
            let meta = fs::symlink_metadata(root.join(link)).unwrap();
            assert_eq!(meta.is_symlink(), stays, "{link}");
            if !stays {
                assert_eq!(fs::read_to_string(root.join(link)).unwrap(), target, "{link}");
            }
            if link == "key" {
                // Its own place is a file now; another link to it stays in the tree.
                fs::remove_file(root.join(link)).unwrap();
            }
        }
    }

    #[test]
    fn a_read_only_tree_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b")).unwrap();
        fs::create_dir_all(folder.path().join(".git/refs")).unwrap();
        fs::write(folder.path().join("a/b/c"), "").unwrap();
        make_read_only(folder.path()).unwrap();
        for place in ["", "a/b", "a/b/c", ".git", ".git/refs"] {
            let mode = fs::metadata(folder.path().join(place)).unwrap().mode();
            assert_eq!(mode & 0o222, 0, "{place}");
        }
        make_writable(folder.path());
        fs::remove_dir_all(folder.path()).unwrap();
    }
}
