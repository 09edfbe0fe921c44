//! Prints a change as a diff for display. The output cannot be applied: invalid UTF-8 and a missing final
//! line feed are lost.

use super::{Change, ChangedFile, EntryKind, FileStatus, Hunk, LineKind, Nature};
use std::fmt::{self, Display, Formatter};

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| print_file(file, f))
    }
}

fn print_file(file: &ChangedFile, f: &mut Formatter<'_>) -> fmt::Result {
    let (old, new) = (file.base_path(), &file.path);
    writeln!(f, "diff --git a/{old} b/{new}")?;
    let mode = match file.kind {
        EntryKind::File => "100644",
        EntryKind::Symlink => "120000",
        EntryKind::Submodule => "160000",
    };
    match file.status {
        FileStatus::Added => writeln!(f, "new file mode {mode}")?,
        FileStatus::Deleted => writeln!(f, "deleted file mode {mode}")?,
        FileStatus::Renamed => writeln!(f, "rename from {old}\nrename to {new}")?,
        FileStatus::Copied => writeln!(f, "copy from {old}\ncopy to {new}")?,
        FileStatus::Modified | FileStatus::TypeChanged => {}
    }
    if let Some((old, new)) = &file.mode_change {
        writeln!(f, "old mode {old}\nnew mode {new}")?;
    }
    if file.nature == Nature::Binary {
        return writeln!(f, "Binary files differ");
    }
    if !file.hunks.is_empty() {
        match file.existed_at_base() {
            true => writeln!(f, "--- a/{old}")?,
            false => writeln!(f, "--- /dev/null")?,
        }
        match file.exists_at_head() {
            true => writeln!(f, "+++ b/{new}")?,
            false => writeln!(f, "+++ /dev/null")?,
        }
    }
    file.hunks.iter().try_for_each(|hunk| print_hunk(hunk, f))
}

fn print_hunk(hunk: &Hunk, f: &mut Formatter<'_>) -> fmt::Result {
    let Hunk { old_start, old_lines, new_start, new_lines, section, .. } = hunk;
    let space = if section.is_empty() { "" } else { " " };
    writeln!(f, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@{space}{section}")?;
    for line in &hunk.lines {
        let sign = match line.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        writeln!(f, "{sign}{}", line.text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::parse;

    #[test]
    fn what_is_printed_reads_as_the_same_lines() {
        let diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,2 +2,3 @@ def f():\n same\n-old\n+new\n+more\ndiff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\ndiff --git a/d.py b/d.py\ndeleted file mode 100644\n--- a/d.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\ndiff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n";
        let change = Change { files: parse(diff.as_bytes()).unwrap() };
        let printed = change.to_string();
        let again = parse(printed.as_bytes()).unwrap();
        let seen = |files: &[ChangedFile]| -> Vec<_> {
            files.iter().map(|file| (file.path.clone(), file.status, file.hunks.clone())).collect()
        };
        assert_eq!(seen(&again), seen(&change.files));
    }
}
