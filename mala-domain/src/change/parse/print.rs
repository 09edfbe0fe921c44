//! Prints a diff as git does.

use super::file::FileDiff;
use super::hunk::Range;
use crate::change::{FilePath, FileStatus, LineKind};

impl FileDiff<'_> {
    /// The diff of this file. Parsing it returns the same value.
    pub fn print(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (old, new) = (quoted(b"a/", self.base_path()), quoted(b"b/", &self.path));
        put(&mut out, &[b"diff --git ", &old, b" ", &new]);
        self.print_header(&mut out);
        if self.is_binary {
            put(&mut out, &[b"Binary files ", &old, b" and ", &new, b" differ"]);
        } else if !self.hunks.is_empty() {
            let nothing = b"/dev/null".to_vec();
            let is = |status| self.status == status;
            let old = if is(FileStatus::Added) { &nothing } else { &old };
            let new = if is(FileStatus::Deleted) { &nothing } else { &new };
            put(&mut out, &[b"--- ", old]);
            put(&mut out, &[b"+++ ", new]);
            self.print_hunks(&mut out);
        }
        out
    }

    fn print_header(&self, out: &mut Vec<u8>) {
        let (from, to) = (quoted(b"", self.base_path()), quoted(b"", &self.path));
        match self.status {
            FileStatus::Renamed => {
                put(out, &[b"rename from ", &from]);
                put(out, &[b"rename to ", &to]);
            }
            FileStatus::Copied => {
                put(out, &[b"copy from ", &from]);
                put(out, &[b"copy to ", &to]);
            }
            _ => {}
        }
        match (self.status, self.old_mode, self.new_mode) {
            (FileStatus::Added, _, mode) => {
                put(out, &[b"new file mode ", mode.unwrap_or(b"100644")]);
            }
            (FileStatus::Deleted, mode, _) => {
                put(out, &[b"deleted file mode ", mode.unwrap_or(b"100644")]);
            }
            (_, Some(old), Some(new)) if old == new => put(out, &[b"index 0..0 ", old]),
            (_, Some(old), Some(new)) => {
                put(out, &[b"old mode ", old]);
                put(out, &[b"new mode ", new]);
            }
            _ => {}
        }
    }

    fn print_hunks(&self, out: &mut Vec<u8>) {
        for hunk in &self.hunks {
            let (old, new) = (range(hunk.old_range()), range(hunk.new_range()));
            let space: &[u8] = if hunk.section.is_empty() { b"" } else { b" " };
            let (old, new) = (old.as_bytes(), new.as_bytes());
            put(out, &[b"@@ -", old, b" +", new, b" @@", space, hunk.section]);
            for line in &hunk.lines {
                let sign: &[u8] = match line.kind {
                    LineKind::Context => b" ",
                    LineKind::Added => b"+",
                    LineKind::Removed => b"-",
                };
                put(out, &[sign, line.text]);
                if !line.is_ended {
                    put(out, &[b"\\ No newline at end of file"]);
                }
            }
        }
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.push(b'\n');
}

fn range(range: Range) -> String {
    format!("{},{}", range.start, range.count)
}

/// A name with its prefix, quoted if necessary.
fn quoted(prefix: &[u8], path: &FilePath) -> Vec<u8> {
    let name = FilePath::from_bytes([prefix, path.as_bytes()].concat());
    name.to_string().into_bytes()
}
