//! The served repository: its commits and diffs, and git's own HTTP protocol through `git http-backend`.

use super::http::ForgeRequest;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository with a work tree.
#[derive(Debug, Clone)]
pub(crate) struct ServedRepository {
    pub(crate) folder: PathBuf,
}

impl ServedRepository {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// The commit that a revision names; empty if there is none.
    pub(crate) fn commit(&self, revision: &str) -> String {
        self.git(&["rev-parse", "--verify", "--quiet", revision]).trim().to_owned()
    }

    pub(crate) fn merge_base(&self, a: &str, b: &str) -> String {
        self.git(&["merge-base", a, b]).trim().to_owned()
    }

    pub(crate) fn exists(&self, revision: &str) -> bool {
        !self.commit(&format!("{revision}^{{commit}}")).is_empty()
    }

    /// The files that differ between two commits.
    pub(crate) fn changed_files(&self, base: &str, head: &str) -> Vec<String> {
        let listed = self.git(&["diff", "--name-only", "--no-renames", base, head]);
        listed.lines().map(str::to_owned).collect()
    }

    pub(crate) fn file(&self, commit: &str, path: &str) -> String {
        self.git(&["show", &format!("{commit}:{path}")])
    }

    /// Whether lines of a file are in one hunk of the diff between two commits, on the right side.
    pub(crate) fn is_in_diff(&self, range: (&str, &str), path: &str, lines: (u64, u64)) -> bool {
        let diff = self.git(&["diff", "-M", "--unified=3", range.0, range.1, "--", path]);
        let heads = diff.lines().filter_map(|line| line.strip_prefix("@@ -")?.split_once(" +"));
        let mut spans = heads.map(|(_, right)| {
            let right = right.split(' ').next().unwrap_or_default();
            let (start, length) = right.split_once(',').unwrap_or((right, "1"));
            let start: u64 = start.parse().unwrap();
            (start, start + length.parse::<u64>().unwrap())
        });
        spans.any(|(start, end)| start <= lines.0 && lines.1 < end && lines.0 <= lines.1)
    }

    /// The number at base of a line at head: `None` if it is not in the diff, `Some(None)` if it is added.
    pub(crate) fn old_line(
        &self,
        range: (&str, &str),
        path: &str,
        line: u64,
    ) -> Option<Option<u64>> {
        let diff = self.git(&["diff", "-M", "--unified=3", range.0, range.1, "--", path]);
        let (mut old, mut new) = (0, 0);
        for text in diff.lines().skip_while(|text| !text.starts_with("@@")) {
            if let Some((left, right)) =
                text.strip_prefix("@@ -").and_then(|it| it.split_once(" +"))
            {
                let start = |text: &str| text.split([',', ' ']).next().unwrap().parse().unwrap();
                (old, new) = (start(left), start(right));
                continue;
            }
            match text.bytes().next() {
                Some(b'+') if new == line => return Some(None),
                Some(b'+') => new += 1,
                Some(b'-') => old += 1,
                Some(b' ') if new == line => return Some(Some(old)),
                _ => (old, new) = (old + 1, new + 1),
            }
        }
        None
    }

    /// Answers a request of git.
    pub(crate) fn serve_git(&self, request: &ForgeRequest) -> (Vec<(String, String)>, Vec<u8>) {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let inside = path.split_once(".git/").map_or("", |(_, inside)| inside);
        let name = self.folder.file_name().unwrap().to_string_lossy().into_owned();
        let mut command = self.command(&["http-backend"]);
        command
            .env("GIT_PROJECT_ROOT", self.folder.parent().unwrap())
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("PATH_INFO", format!("/{name}/.git/{inside}"))
            .env("REQUEST_METHOD", &request.method)
            .env("QUERY_STRING", query)
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "uploadpack.allowAnySHA1InWant")
            .env("GIT_CONFIG_VALUE_0", "true");
        for (header, variable) in
            [("git-protocol", "GIT_PROTOCOL"), ("content-encoding", "HTTP_CONTENT_ENCODING")]
        {
            if let Some(value) = request.header(header) {
                command.env(variable, value);
            }
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut pipe, body) = (child.stdin.take().unwrap(), request.body.clone());
        let writer = std::thread::spawn(move || pipe.write_all(&body).unwrap_or_default());
        let output = child.wait_with_output().unwrap().stdout;
        writer.join().unwrap();
        let split = output.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or(0);
        let head = String::from_utf8_lossy(output.get(..split).unwrap_or_default()).into_owned();
        let headers = head.lines().filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        (headers, output.get(split + 4..).unwrap_or_default().to_vec())
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(&self.folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stderr(Stdio::null());
        command
    }
}
