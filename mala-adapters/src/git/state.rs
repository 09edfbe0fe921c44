//! The state of a repository at one moment, the commits that are new since then, and the commit that work
//! is compared with.

use super::call::{GitCall, probe};
use super::copy::{HiddenChanges, inside, with_fixed_author};
use super::index::gitlinks;
use super::{Git, GitError, GitVersion, ObjectId, hex};
use crate::store::{DRAFTS, STATE};
use mala_domain::change::FilePath;
use mala_domain::config::FILE_NAME;
use mala_domain::hook::scope::{NewCommit, RepositoryState, StopState};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most new commits that are read.
const MAX_COMMITS: usize = 50_000;

/// The deepest nesting of submodules whose files are compared.
const MAX_DEPTH: usize = 3;

/// Larger files are compared by size and date.
const MAX_HASHED: u64 = 64 << 20;

/// Every file of the index with its flags, mode and id.
const LIST: [&str; 5] = ["ls-files", "-v", "--stage", "--full-name", "-z"];

const STATUS: [&str; 6] = [
    "status",
    "--porcelain",
    "-z",
    "--untracked-files=all",
    "--ignore-submodules=dirty",
    "--no-renames",
];

impl Git {
    /// The commit at HEAD; `None` if there is none.
    pub async fn head_commit(&self) -> Result<Option<String>, GitError> {
        Ok(self.head().await?.map(|head| head.0))
    }

    /// The current branch; `None` if HEAD is detached.
    pub async fn branch(&self) -> Result<Option<String>, GitError> {
        let call = GitCall::new(["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let finished = self.finish(&call).await?;
        match finished.code() {
            Some(0) => Ok(Some(String::from_utf8_lossy(&finished.output.stdout).trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(call.failed(&finished)),
        }
    }

    /// The merge base of HEAD and a revision; `None` if the revision is unknown or unrelated.
    pub async fn fork_point(&self, revision: &str) -> Result<Option<String>, GitError> {
        let other = self.resolve(&format!("{revision}^{{commit}}")).await?;
        let (Some(head), Some(other)) = (self.head().await?, other) else { return Ok(None) };
        Ok(self.merge_base(&head, &other).await?.map(|commit| commit.0))
    }

    /// The path of a hook, in the folder that the user's configuration names.
    pub async fn hook_path(&self, name: &str) -> Result<PathBuf, GitError> {
        let args = ["rev-parse", "--git-path", &format!("hooks/{name}")];
        let finished = probe(self.top(), &self.inner.around, &args).await?;
        let printed = finished.output.stdout.trim_ascii_end();
        Ok(self.top().join(OsStr::from_bytes(printed)))
    }

    /// The files of the work tree that differ from HEAD, with a hash of each.
    pub async fn changed_files(&self) -> Result<BTreeMap<String, String>, GitError> {
        if self.inner.is_bare {
            return Ok(BTreeMap::new());
        }
        self.files_on_disk(MAX_DEPTH).await
    }

    /// Whether files of the work tree differ from HEAD.
    pub async fn is_dirty_tree(&self) -> Result<bool, GitError> {
        Ok(!self.changed_files().await?.is_empty())
    }

    /// The state of the repository. The new commits are not known yet.
    pub async fn stop_state(&self) -> Result<StopState, GitError> {
        if self.inner.is_bare {
            return Err(GitError::Bare { dir: self.inner.dir.clone() });
        }
        let format = "--format=%(objecttype) %(objectname) %(*objectname) %(refname)";
        let list = GitCall::new(["for-each-ref", format]);
        let (refs, head, files) =
            tokio::join!(self.output(&list), self.head(), self.files_on_disk(MAX_DEPTH));
        let (refs, head) = (refs?, head?.map(|head| head.0));
        let mut state = RepositoryState {
            trees: BTreeMap::from([(self.top().display().to_string(), files?)]),
            users: self.inner.users.clone(),
            ..RepositoryState::default()
        };
        let mut branches = BTreeMap::new();
        for line in String::from_utf8_lossy(&refs).lines() {
            let mut words = line.splitn(4, ' ');
            let mut word = || words.next().unwrap_or_default();
            let (kind, id, peeled, name) = (word(), word(), word(), word());
            let commit = if kind == "tag" { peeled } else { id };
            state.commits.insert(commit.to_owned());
            if let Some(branch) = name.strip_prefix("refs/heads/") {
                branches.insert(branch.to_owned(), commit.to_owned());
            }
        }
        state.commits.extend(head.clone());
        Ok(StopState { state, head, branches, new_commits: Vec::new() })
    }

    /// The commits of remote-tracking branches.
    pub async fn remote_commits(&self) -> Result<BTreeSet<String>, GitError> {
        let list = GitCall::new(["for-each-ref", "--format=%(objectname)", "refs/remotes"]);
        let listed = self.output(&list).await?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }

    /// The commits that these tips reach and the known ones do not, parents first.
    pub async fn new_commits(
        &self,
        tips: impl IntoIterator<Item = &String>,
        known: &BTreeSet<String>,
    ) -> Result<Vec<NewCommit>, GitError> {
        let tips: BTreeSet<&String> =
            tips.into_iter().filter(|tip| !known.contains(*tip)).collect();
        if tips.is_empty() {
            return Ok(Vec::new());
        }
        let input = range(tips, known);
        let count = format!("--max-count={MAX_COMMITS}");
        let args = ["rev-list", "--topo-order", "--parents", "--ignore-missing", "--stdin", &count];
        let call = GitCall::new(args).args(["--format=%ce"]).stdin(input.into_bytes());
        let listed = self.output(&call).await?;
        let listed = String::from_utf8_lossy(&listed);
        let mut commits = Vec::new();
        let mut lines = listed.lines();
        while let (Some(ids), Some(committer)) = (lines.next(), lines.next()) {
            let mut ids = ids.split(' ').skip(1).map(str::to_owned);
            let Some(id) = ids.next() else { return Err(call.unexpected()) };
            let committer = committer.trim().to_ascii_lowercase();
            commits.push(NewCommit { id, parents: ids.collect(), committer });
        }
        if commits.len() >= MAX_COMMITS {
            return Err(GitError::TooMuch { command: "rev-list".to_owned(), limit: MAX_COMMITS });
        }
        commits.reverse();
        Ok(commits)
    }

    /// How many commits these tips reach and the known ones do not.
    pub async fn n_new_commits(
        &self,
        tips: impl IntoIterator<Item = &String>,
        known: &BTreeSet<String>,
    ) -> Result<usize, GitError> {
        let args = ["rev-list", "--count", "--ignore-missing", "--stdin"];
        let call = GitCall::new(args).stdin(range(tips, known).into_bytes());
        let count = self.output(&call).await?;
        String::from_utf8_lossy(&count).trim().parse().map_err(|_| call.unexpected())
    }

    /// The commit of an object: itself, or what a tag points to; `None` if it has none.
    pub async fn peeled_commit(&self, id: &str) -> Result<Option<String>, GitError> {
        Ok(self.resolve(&format!("{id}^{{commit}}")).await?.map(|commit| commit.0))
    }

    /// The commit to compare work with, in the copy in this folder: the only base, or the merge of
    /// all bases. If settings files conflict in the merge, those of the first base are used.
    pub async fn merged_base(&self, folder: &Path, bases: &[String]) -> Result<String, GitError> {
        let known: Vec<&String> =
            bases.iter().filter(|base| ObjectId::parse(base.as_bytes()).is_some()).collect();
        let independent = match known.as_slice() {
            [] => return self.create_empty_commit(folder).await,
            [one] => return Ok((*one).clone()),
            many => GitCall::new(["merge-base", "--independent"]).args(many.iter().copied()),
        };
        let listed = self.output(&independent).await?;
        let listed = String::from_utf8_lossy(&listed);
        let mut bases = listed.lines().map(str::to_owned);
        let Some(first) = bases.next() else { return Err(independent.unexpected()) };
        let mut merged = first.clone();
        if self.inner.version < GitVersion::MERGES_TREES {
            return Ok(merged);
        }
        for base in bases {
            let args = ["merge-tree", "--write-tree", "--name-only", "--allow-unrelated-histories"];
            let call = inside(GitCall::new(args).args([&merged, &base]), folder);
            let finished = self.finish(&call).await?;
            // The tree has conflict markers if the exit code is 1. Its id comes first, then the files with
            // conflicts and an empty line.
            let mut lines = finished.output.stdout.split(|byte| *byte == b'\n');
            let tree = ObjectId::parse(lines.next().unwrap_or_default());
            let tree = tree.filter(|_| matches!(finished.code(), Some(0 | 1)));
            let Some(tree) = tree else { return Err(call.failed(&finished)) };
            merged = self.commit_tree(folder, &tree.0, &[&merged, &base]).await?;
            let mut conflicts = lines.take_while(|line| !line.is_empty());
            if conflicts.any(|name| name == FILE_NAME.as_bytes()) {
                let settings = BTreeSet::from([FILE_NAME.to_owned()]);
                let trees = [merged.as_str(), &first];
                merged = self.overlay_files(folder, &merged, trees, &settings).await?;
            }
        }
        Ok(merged)
    }

    /// A commit like `base` in the copy in this folder, in which these files are as in `head`. Files that
    /// differ between `base` and `kept` are left as they are.
    pub async fn overlay_files(
        &self,
        folder: &Path,
        base: &str,
        [kept, head]: [&str; 2],
        files: &BTreeSet<String>,
    ) -> Result<String, GitError> {
        let raw = async |one: &str, other: &str| {
            let args =
                ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", one, other];
            self.output(&inside(GitCall::new(args).args(["--"]), folder)).await
        };
        let touched: BTreeSet<Vec<u8>> =
            raw_entries(&raw(base, kept).await?).into_iter().map(|entry| entry.path).collect();
        let mut input = Vec::new();
        for entry in raw_entries(&raw(base, head).await?) {
            let name = String::from_utf8_lossy(&entry.path).into_owned();
            if files.contains(&name) && !touched.contains(&entry.path) {
                input.extend_from_slice(format!("{} {}\t", entry.mode, entry.id).as_bytes());
                input.extend_from_slice(&entry.path);
                input.push(0);
            }
        }
        if input.is_empty() {
            return Ok(base.to_owned());
        }
        let index = folder.join(".git/overlay-index");
        let call = |args: &[&str]| {
            inside(GitCall::new(args.iter().copied()), folder).env("GIT_INDEX_FILE", index.clone())
        };
        self.output(&call(&["read-tree", base])).await?;
        self.output(&call(&["update-index", "-z", "--index-info"]).stdin(input)).await?;
        let tree = self.output(&call(&["write-tree"])).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        self.commit_tree(folder, &tree, &[base]).await
    }

    async fn commit_tree(
        &self,
        folder: &Path,
        tree: &str,
        parents: &[&str],
    ) -> Result<String, GitError> {
        let mut call = GitCall::new(["commit-tree", "-m", "the start of the work", tree]);
        for parent in parents {
            call = call.args(["-p", parent]);
        }
        let call = with_fixed_author(inside(call, folder));
        let id = self.output(&call).await?;
        ObjectId::parse(id.trim_ascii()).map(|id| id.0).ok_or_else(|| call.unexpected())
    }

    /// The files that differ from HEAD, with a hash of their content on disk. The files of mala are
    /// excluded.
    async fn files_on_disk(&self, depth: usize) -> Result<BTreeMap<String, String>, GitError> {
        let (status, list) = (GitCall::new(STATUS), GitCall::new(LIST));
        let (changed, listed) = tokio::join!(self.output(&status), self.output(&list));
        let (changed, listed) = (changed?, listed?);
        let mut paths: BTreeSet<FilePath> = BTreeSet::new();
        let entries = changed.split(|byte| *byte == 0).filter_map(|entry| entry.get(3..));
        paths.extend(
            entries.map(|path| path.strip_suffix(b"/").unwrap_or(path)).map(FilePath::from_bytes),
        );
        let tagged = Tagged::read(&listed);
        let HiddenChanges { assumed, skipped } = HiddenChanges::among(&tagged.flags, self.top());
        for hidden in [assumed, skipped] {
            let hidden = hidden.split(|byte| *byte == 0).filter(|path| !path.is_empty());
            paths.extend(hidden.map(FilePath::from_bytes));
        }
        let mut files = BTreeMap::new();
        for path in gitlinks(&tagged.entries).filter(FilePath::stays_inside) {
            if let Some(inner) = self.submodule_state(&path, depth).await? {
                files.insert(path.to_text().into_owned(), inner);
                paths.remove(&path);
            }
        }
        for path in paths.iter().filter(|path| !is_state(path)) {
            let folder = self.top().join(OsStr::from_bytes(path.as_bytes()));
            let hash = match folder.is_dir() && !folder.is_symlink() {
                true => self.submodule_commit(&folder).await,
                false => hash_file(&folder),
            };
            files.insert(path.to_text().into_owned(), hash);
        }
        Ok(files)
    }

    /// The state of a submodule that differs; `None` if it does not.
    async fn submodule_state(
        &self,
        path: &FilePath,
        depth: usize,
    ) -> Result<Option<String>, GitError> {
        let folder = self.top().join(OsStr::from_bytes(path.as_bytes()));
        let Ok(real) = folder.canonicalize() else { return Ok(None) };
        let is_checked_out = real.starts_with(self.top()) && real.join(".git").exists();
        let Some(depth) = depth.checked_sub(1).filter(|_| is_checked_out) else { return Ok(None) };
        let inner = Box::pin(Self::open(&real, &self.inner.around)).await?;
        let files = Box::pin(inner.files_on_disk(depth)).await?;
        if files.is_empty() {
            return Ok(None);
        }
        let mut hash = Sha256::new();
        for (file, content) in &files {
            hash.update(format!("{file}\0{content}\0"));
        }
        let commit = inner.head_commit().await?.unwrap_or_default();
        Ok(Some(format!("submodule {commit} {}", hex(&hash.finalize()))))
    }

    async fn submodule_commit(&self, folder: &Path) -> String {
        let opened = Box::pin(Self::open(folder, &self.inner.around)).await;
        let head = match opened {
            Ok(inner) => inner.head_commit().await.ok().flatten(),
            Err(_) => None,
        };
        format!("repository {}", head.unwrap_or_default())
    }
}

/// The output of `LIST`, as flags with paths and as entries with paths.
struct Tagged {
    flags: Vec<u8>,
    entries: Vec<u8>,
}

impl Tagged {
    /// From `FLAG MODE ID STAGE TAB PATH NUL`.
    fn read(listed: &[u8]) -> Self {
        let mut tagged = Self { flags: Vec::new(), entries: Vec::new() };
        for line in listed.split(|byte| *byte == 0) {
            let [flag, b' ', entry @ ..] = line else { continue };
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            if entry.starts_with(b"160000 ") {
                tagged.entries.extend_from_slice(entry);
                tagged.entries.push(0);
            } else if *flag != b'H' {
                tagged.flags.extend_from_slice(&[*flag, b' ']);
                tagged.flags.extend_from_slice(entry.get(tab + 1..).unwrap_or_default());
                tagged.flags.push(0);
            }
        }
        tagged
    }
}

struct RawEntry {
    mode: String,
    id: String,
    path: Vec<u8>,
}

/// From `:MODE MODE ID ID LETTER NUL PATH NUL`, the second mode and id.
fn raw_entries(raw: &[u8]) -> Vec<RawEntry> {
    let mut fields = raw.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
        let meta = String::from_utf8_lossy(meta);
        let words: Vec<&str> = meta.split(' ').collect();
        if let [_, mode, _, id, _] = words.as_slice() {
            let (mode, id) = ((*mode).to_owned(), (*id).to_owned());
            entries.push(RawEntry { mode, id, path: path.to_vec() });
        }
    }
    entries
}

/// Whether a file is one that mala itself writes.
fn is_state(path: &FilePath) -> bool {
    let text = path.to_text().to_ascii_lowercase();
    let is_in = |own: &&str| text.strip_prefix(own).is_some_and(|rest| rest.starts_with('/'));
    text.starts_with(DRAFTS) || STATE.iter().any(is_in)
}

/// A hash of a file as it is on disk.
fn hash_file(path: &Path) -> String {
    let Ok(meta) = path.symlink_metadata() else { return "deleted".to_owned() };
    if meta.is_symlink() {
        let target = std::fs::read_link(path).unwrap_or_default();
        return format!("link {}", hex(&Sha256::digest(target.as_os_str().as_bytes())));
    }
    if !meta.is_file() || meta.len() > MAX_HASHED {
        return format!("size {} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec());
    }
    let is_executable = meta.mode() & 0o100 != 0;
    match std::fs::read(path) {
        Ok(bytes) => format!("file {is_executable} {}", hex(&Sha256::digest(bytes))),
        Err(error) => format!("unreadable: {error}"),
    }
}

/// The input of `rev-list` for commits that these tips reach and the known commits do not.
fn range<'t>(tips: impl IntoIterator<Item = &'t String>, known: &BTreeSet<String>) -> String {
    let tips = tips.into_iter().map(|tip| format!("{tip}\n"));
    let known = known.iter().filter(|id| ObjectId::parse(id.as_bytes()).is_some());
    tips.chain(known.map(|commit| format!("^{commit}\n"))).collect()
}
