//! Diffs of every tool, broken diffs, and properties over random edits.

use super::*;
use crate::change::{FileStatus, LineKind};
use proptest::prelude::*;

/// A short form of a parsed diff: `M src/x.c` with its modes, and its hunks.
fn show(diff: impl AsRef<[u8]>) -> String {
    let files = match read(diff.as_ref()) {
        Ok(files) => files,
        Err(error) => return format!("error: {error}"),
    };
    files.iter().map(show_file).collect::<Vec<_>>().join("\n")
}

fn show_file(file: &FileDiff<'_>) -> String {
    let letter = match file.status {
        FileStatus::Added => "A",
        FileStatus::Deleted => "D",
        FileStatus::Modified => "M",
        FileStatus::Renamed => "R",
        FileStatus::Copied => "C",
        FileStatus::TypeChanged => "T",
    };
    let changed = file.clone().into_changed_file();
    let mut out = format!("{letter} {}", file.path);
    out += &file.old_path.as_ref().map_or(String::new(), |old| format!(" from {old}"));
    out += &changed.mode_change.map_or(String::new(), |(old, new)| format!(" {old}->{new}"));
    out += match changed.kind {
        crate::change::EntryKind::File => "",
        crate::change::EntryKind::Symlink => " link",
        crate::change::EntryKind::Submodule => " submodule",
    };
    out += if file.is_binary { " binary" } else { "" };
    for hunk in &file.hunks {
        let (old, new) = (hunk.old_range(), hunk.new_range());
        out += &format!(" @{},{}>{},{}", old.start, old.count, new.start, new.count);
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            let end = if line.has_newline { "" } else { "$" };
            out += &format!("[{sign}{}{end}]", String::from_utf8_lossy(line.text));
        }
    }
    out
}

#[test]
fn reads_what_git_prints() {
    let rows = [
        (
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ f()\n a\n-b\n",
            "M x @1,2>1,1[ a][-b]",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
            "A x @0,0>1,1[+a$]",
        ),
        (
            "diff --git a/x b/x\ndeleted file mode 100755\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "D x @1,1>0,0[-a]",
        ),
        ("diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29\n", "A e"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "R y from x"),
        (
            "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "C y from x @1,1>1,1[-a][+b]",
        ),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "M x 100644->100755"),
        (
            "diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-t\n\\ No newline at end of file\n+u\n\\ No newline at end of file\n",
            "M l link @1,1>1,1[-t$][+u$]",
        ),
        (
            "diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
            "M s submodule @1,1>1,1[-Subproject commit 1][+Subproject commit 2]",
        ),
        ("diff --git a/p b/p\nindex 1..2 100644\nBinary files a/p and b/p differ\n", "M p binary"),
        (
            "diff --git a/p b/p\nnew file mode 100644\nindex 0..2\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~L\n\nliteral 0\nHcmV?d00001\n\n",
            "A p binary",
        ),
        (
            "diff --git a/t b/t\ndeleted file mode 100644\nindex 1..0\n--- a/t\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/t b/t\nnew file mode 120000\nindex 0..2\n--- /dev/null\n+++ b/t\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
            "T t 100644->120000 link @1,1>1,1[-a][+x$]",
        ),
        (
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\ndiff --git a/y b/x\nsimilarity index 100%\nrename from y\nrename to x\n",
            "R y from x\nR x from y",
        ),
        (
            "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,3 -1,2 +1,3 @@@ f\n  a\n- b\n -c\n++d\n +e\n",
            "M x @1,3>1,3[ a][-b][+d][ e]",
        ),
    ];
    for (diff, expected) in rows {
        assert_eq!(show(diff), expected, "{diff}");
    }
}

#[test]
fn reads_the_names_that_tools_write() {
    let modes = "old mode 100644\nnew mode 100755\n";
    let git = |names: &str| format!("diff --git {names}\n{modes}");
    let plain = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
    let rows = [
        (git("a/x y/z b/x y/z"), "x y/z"),
        (git("a/a b b/a b"), "a b"),
        (git("src/x src/x"), "src/x"),
        (git("i/x w/x"), "x"),
        (git("before/x after/x"), "x"),
        (git(r#""a/q\"uo\te" "b/q\"uo\te""#), r#""q\"uo\te""#),
        (git(r#"a/x "b/x""#), "x"),
        (git(r#""a/n\nl\303\251\377" "b/n\nl\303\251\377""#), r#""n\nl\u{e9}\377""#),
        (plain("a/x", "b/x"), "x"),
        (plain("a/x y\t", "b/x y\t"), "x y"),
        (plain("x.c\t(revision 3)", "x.c\t(working copy)"), "x.c"),
        (
            plain("old-1.0/src/x.c\t2020-01-01 00:00:00.0 +0000", "new/src/x.c\t2020-01-02"),
            "src/x.c",
        ),
        (plain("/tmp/a/x.py", "/tmp/b/x.py"), "x.py"),
        (plain("x.c.orig", "x.c"), "x.c"),
        (plain("x.c", "x.c~"), "x.c"),
        (plain("./x.c", "./x.c"), "x.c"),
        (plain("a/x.py", "b/y.py"), "y.py"),
    ];
    for (diff, path) in rows {
        let files = parse(diff.as_bytes()).unwrap();
        let path = path.replace("\\u{e9}", "\u{e9}");
        assert_eq!(files[0].path.to_string(), path, "{diff}");
        assert_eq!((files.len(), &files[0].old_path), (1, &None), "{diff}");
    }
}

#[test]
fn reads_what_other_tools_print() {
    let mail = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
        From: A <a@example.org>\nSubject: [PATCH] x\n\nSays --- nothing.\n---\n x | 1 +\n\n\
        diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n a\n+b\n-- \n2.40.0\n\n";
    let rows = [
        (mail.to_owned(), "M x @1,1>1,2[ a][+b]"),
        (
            "Index: x\n=====\n--- x\t(nonexistent)\n+++ x\t(working copy)\n@@ -0,0 +1 @@\n+a\n"
                .into(),
            "A x @0,0>1,1[+a]",
        ),
        (
            "diff -uNr o/x n/x\n--- o/x\t1970-01-01\n+++ n/x\t2020\n@@ -0,0 +1 @@\n+a\n".into(),
            "A x @0,0>1,1[+a]",
        ),
        ("--- o/x\n+++ n/x\n@@ -1 +0,0 @@\n-a\n".into(), "D x @1,1>0,0[-a]"),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n".into(), "M x @1,3>1,3[ a][ ][-b][+c]"),
        (
            "--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n".into(),
            "M x @1,2>1,2[ a][-b][+c]",
        ),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\r\n+c\r\n".into(), "M x @1,1>1,1[-b\r][+c\r]"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- b\n+++ c\n".into(), "M x @1,1>1,1[--- b][+++ c]"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c".into(), "M x @1,1>1,1[-b][+c]"),
        ("Binary files a/p.png and b/p.png differ\n".into(), "M p.png binary"),
        ("Submodule lib/z 1234567..89abcde:\n  > fix\n".into(), "M lib/z submodule"),
        ("Submodule lib 0000000...89abcde (new submodule)\n".into(), "A lib submodule"),
        (String::new(), ""),
        (" \n\n".into(), ""),
    ];
    for (diff, expected) in rows {
        assert_eq!(show(&diff), expected, "{diff}");
    }
}

#[test]
fn errors_have_a_line_and_a_reason() {
    let head = "--- a/x\n+++ b/x\n";
    let rows = [
        ("hello\n".to_owned(), "no diff found in the input"),
        ("\0\x01\x02PNG\n".to_owned(), "no diff found in the input"),
        ("hi\n@@ -1 +1 @@\n-a\n+b\n".to_owned(), "line 2: hunk without a file header"),
        (
            format!("{head}@@ -1 +1 @@\n-a\n+b\njunk\n@@ -9 +9 @@\n-a\n+b\n"),
            "line 7: hunk without a file header",
        ),
        (
            format!("{head}@@ -x +1 @@\n-a\n"),
            "line 3: invalid hunk header, expected `@@ -LINE,COUNT +LINE,COUNT @@`",
        ),
        (
            format!("{head}@@ -1,4294967295 +4294967295 @@\n-a\n"),
            "line 3: invalid hunk header, expected `@@ -LINE,COUNT +LINE,COUNT @@`",
        ),
        (
            format!("{head}@@ -1,3 +1,3 @@\n a\n"),
            "line 5: the diff ends inside a hunk: 2 more lines expected",
        ),
        (
            format!("{head}@@ -1,2 +1,2 @@\n a\nzzz\n"),
            "line 5: invalid line in the hunk at line 3: 1 more old and 1 more new lines expected",
        ),
        (
            format!("{head}@@ -1 +1,2 @@\n-a\n-b\n+c\n"),
            "line 5: invalid line in the hunk at line 3: 0 more old and 2 more new lines expected",
        ),
        (
            format!("{head}@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n"),
            "line 6: hunk starts before the end of the previous hunk",
        ),
        (
            "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            "line 1: path outside of the repository: ../../etc/passwd",
        ),
        ("diff --git a/x\n".to_owned(), "line 1: file header without a file name"),
        (
            "*** a/x\n--- b/x\n***************\n".to_owned(),
            "line 1: context diffs are not supported; create a unified diff with `diff -u`",
        ),
        (
            format!("{head}@@ -1 +1 @@\n-a\n+b\n{head}@@ -1 +1 @@\n-z\n+c\n"),
            "line 6: the second diff of x does not apply to the result of the first",
        ),
    ];
    for (diff, expected) in rows {
        assert_eq!(show(&diff), format!("error: {expected}"), "{diff}");
    }
}

#[test]
fn truncated_and_overlong_diffs_are_rejected() {
    let head = "--- a/x\n+++ b/x\n";
    let rows = [
        (
            format!("{head}@@ -1 +1 @@\n-a\n+b\n+c\n"),
            "line 6: unexpected line after the end of a hunk: the hunk header counts fewer lines",
        ),
        (
            "some text\n\n--- just prose\n+++ more\n".to_owned(),
            "line 3: file header without hunks: the diff may be truncated",
        ),
        (
            "diff --git a/x b/x\nindex 1234567..89abcde 100644\n".to_owned(),
            "line 1: file header without hunks: the diff may be truncated",
        ),
        (
            "diff --git a/x b/x\nindex 1234567..89abcde 100644\n--- a/x\n+++ b/x\n".to_owned(),
            "line 1: file header without hunks: the diff may be truncated",
        ),
    ];
    for (diff, expected) in rows {
        assert_eq!(show(&diff), format!("error: {expected}"), "{diff}");
    }
}

#[test]
fn consecutive_patches_are_combined() {
    let mail = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n";
    let section = |names: &str, hunk: &str| format!("{mail}diff --git {names}\n{hunk}");
    let edit = |path: &str, hunk: &str| {
        section(&format!("a/{path} b/{path}"), &format!("--- a/{path}\n+++ b/{path}\n{hunk}"))
    };
    let add = section(
        "a/n b/n",
        "new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    );
    let delete = section(
        "a/n b/n",
        "deleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
    );
    let rename = section("a/n b/m", "similarity index 100%\nrename from n\nrename to m\n");
    let rows = [
        (
            edit("x", "@@ -1,2 +1,3 @@\n a\n+b\n c\n")
                + &edit("x", "@@ -1,3 +1,3 @@\n a\n-b\n+d\n c\n"),
            "M x @1,2>1,3[ a][+d][ c]",
        ),
        (
            edit("x", "@@ -1 +1,2 @@\n+a\n b\n") + &edit("x", "@@ -9 +9,2 @@\n+y\n z\n"),
            "M x @1,1>1,2[+a][ b] @8,1>9,2[+y][ z]",
        ),
        (add.clone() + &edit("n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), "A n @0,0>1,2[+a][+c]"),
        (add.clone() + &delete, ""),
        (delete.clone() + &add, "M n @1,2>1,2[-a][-b][+a][+b]"),
        (add.clone() + &rename, "A m @0,0>1,2[+a][+b]"),
        (edit("n", "@@ -1 +1 @@\n-a\n+b\n") + &rename, "R m from n @1,1>1,1[-a][+b]"),
        (rename.clone() + &edit("m", "@@ -1 +1 @@\n-a\n+b\n"), "R m from n @1,1>1,1[-a][+b]"),
    ];
    for (diff, expected) in rows {
        assert_eq!(show(&diff), expected, "{diff}");
    }
}

#[test]
fn a_long_diff_is_parsed_quickly() {
    let mut diff = String::new();
    for file in 0..100 {
        diff += &format!("diff --git a/f{file} b/f{file}\n--- a/f{file}\n+++ b/f{file}\n");
        for hunk in 0..300 {
            diff += &format!("@@ -{0},5 +{0},5 @@ fn context()\n", hunk * 20 + 1);
            diff += " let value = compute();\n-old line of code here\n+new line of code here\n";
            diff += &" more context around the change\n".repeat(3);
        }
    }
    assert!(diff.lines().count() > 200_000);
    // Take the fastest of several runs, since other tests run in parallel.
    let best = (0..5).map(|_| {
        let started = std::time::Instant::now();
        assert_eq!(read(diff.as_bytes()).unwrap().len(), 100);
        started.elapsed()
    });
    let best = best.min().unwrap();
    assert!(best.as_millis() < 900, "{best:?}");
}

#[test]
fn a_malicious_series_is_rejected_quickly() {
    let mut diff = String::new();
    for line in 0..20_000 {
        diff += &format!("--- a/x\n+++ b/x\n@@ -{line},0 +{},1 @@\n+a\n", line + 1);
    }
    assert!(
        show(&diff).ends_with("too many consecutive patches of the same files"),
        "{}",
        show(&diff)
    );
}

/// Lines that look like parts of a diff.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let odd: &[&[u8]] = &[
        b"a",
        b"b",
        b"c",
        b"d",
        b"",
        b" ",
        b"\r",
        b"--- a/x",
        b"+++ b/x",
        b"@@ -1 +1 @@",
        b"-- ",
        b"\\ No newline at end of file",
        b"diff --git a/x b/x",
        b"\xff\xfe",
        b"From ",
        b"\0",
    ];
    proptest::sample::select(odd).prop_map(<[u8]>::to_vec)
}

/// A file with or without a final newline.
fn content() -> impl Strategy<Value = Vec<u8>> {
    (proptest::collection::vec(line(), 0..40), any::<bool>()).prop_map(|(lines, has_newline)| {
        let mut bytes = lines.join(&b'\n');
        bytes.extend((has_newline && !lines.is_empty()).then_some(b'\n'));
        bytes
    })
}

/// The output of `git diff` for a change of `x`, with hunks from diffy.
fn git_diff(old: &[u8], new: &[u8]) -> Vec<u8> {
    let patch = diffy::create_patch_bytes(old, new);
    let mut bytes = Vec::new();
    diffy::PatchFormatter::new().write_patch_into(&patch, &mut bytes).unwrap();
    let mut patch = bytes;
    let hunks = patch.windows(3).position(|window| window == b"\n@@");
    let hunks = patch.split_off(hunks.map_or(patch.len(), |at| at + 1));
    let mut diff = b"diff --git a/x b/x\n".to_vec();
    if hunks.is_empty() {
        diff.extend_from_slice(b"index 1..1 100644\n");
    } else {
        diff.extend_from_slice(b"index 1..2 100644\n");
        diff.extend_from_slice(b"--- a/x\n+++ b/x\n");
        diff.extend(hunks);
    }
    diff
}

proptest! {
    #[test]
    fn parsed_diffs_rebuild_both_sides(old in content(), new in content()) {
        let diff = git_diff(&old, &new);
        let files = read(&diff).unwrap();
        prop_assert_eq!(files[0].apply(&old), Some(new.clone()));
        prop_assert_eq!(files[0].revert(&new), Some(old.clone()));
        let changed = files[0].clone().into_changed_file();
        let n_added = changed.added_lines().count();
        let n_inserted = files[0].hunks.iter().flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind == LineKind::Added).count();
        prop_assert_eq!(n_added, n_inserted);
    }

    #[test]
    fn added_lines_have_correct_numbers(old in content(), new in content()) {
        let diff = git_diff(&old, &new);
        let at_head: Vec<_> = new.split(|byte| *byte == b'\n').map(String::from_utf8_lossy).collect();
        for file in parse(&diff).unwrap() {
            for (number, text) in file.added_lines() {
                prop_assert_eq!(&*at_head[number as usize - 1], text);
            }
        }
    }

    #[test]
    fn two_consecutive_diffs_are_combined(old in content(), mid in content(), new in content()) {
        let mail = b"From 0123456789012345678901234567890123456789 Mon Sep 17\n".to_vec();
        let series = [mail.clone(), git_diff(&old, &mid), mail, git_diff(&mid, &new)].concat();
        let files = read(&series).unwrap();
        prop_assert_eq!(files[0].apply(&old), Some(new.clone()));
        prop_assert_eq!(files[0].revert(&new), Some(old.clone()));
    }

    #[test]
    fn printed_diffs_parse_back(old in content(), new in content()) {
        let diff = git_diff(&old, &new);
        let files = read(&diff).unwrap();
        let printed = files[0].print();
        prop_assert_eq!(read(&printed).unwrap(), files);
    }

    #[test]
    fn a_part_of_a_diff_has_the_same_head(
        old in content(), new in content(), lines in proptest::collection::vec(any::<bool>(), 8)
    ) {
        let diff = git_diff(&old, &new);
        let file = read(&diff).unwrap().remove(0);
        let is_wanted = |line: &LineBytes<'_>, _: Option<u32>| lines[line.text.len() % 8];
        let part = file.keep(is_wanted);
        let base = part.revert(&new);
        prop_assert!(base.is_some());
        prop_assert_eq!(part.apply(&base.unwrap()), Some(new.clone()));
        prop_assert_eq!(file.keep(|_, _| true).revert(&new), Some(old));
        prop_assert!(file.keep(|_, _| false).hunks.is_empty());
        let changed = part.hunks.iter().flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind != LineKind::Context);
        prop_assert!(changed.clone().all(|line| is_wanted(line, None)));
        let wanted = file.hunks.iter().flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind != LineKind::Context && is_wanted(line, None));
        prop_assert_eq!(changed.count(), wanted.count());
    }

    #[test]
    fn reads_the_hunks_that_diffy_reads(old in content(), new in content()) {
        let diff = git_diff(&old, &new);
        let ours = read(&diff).unwrap();
        let theirs = diffy::Patch::from_bytes(&diff).unwrap();
        let ours: Vec<_> = ours[0].hunks.iter()
            .map(|hunk| (hunk.old_start as usize, hunk.old_lines as usize, hunk.lines.len())).collect();
        let theirs: Vec<_> = theirs.hunks().iter()
            .map(|hunk| (hunk.old_range().start(), hunk.old_range().len(), hunk.lines().len())).collect();
        prop_assert_eq!(ours, theirs);
    }
}

/// Parts of diffs, combined at random.
const PIECES: &[&[u8]] = &[
    b"diff --git a/x b/x\n",
    b"diff --git \"a/\\377\" b/x\n",
    b"diff --cc x\n",
    b"--- a/x\n",
    b"+++ b/x\n",
    b"--- /dev/null\n",
    b"+++ /dev/null\n",
    b"@@ -1 +1 @@\n",
    b"@@ -1,2 +1,3 @@ f\n",
    b"@@ -0,0 +1,2 @@\n",
    b"@@@ -1,2 -1,2 +1,3 @@@\n",
    b" a\n",
    b"+a\n",
    b"-a\n",
    b"++a\n",
    b" -a\n",
    b"\\ No newline at end of file\n",
    b"\n",
    b"\r\n",
    b"new file mode 100644\n",
    b"deleted file mode 120000\n",
    b"rename from x\n",
    b"rename to y\n",
    b"copy from \"x\n",
    b"copy to y\n",
    b"old mode 100644\n",
    b"new mode 160000\n",
    b"index 1..2 120000\n",
    b"Binary files a/x and b/x differ\n",
    b"GIT binary patch\n",
    b"Submodule x 1..2:\n",
    b"@@ -4294967295 +4294967294,1 @@\n",
    b"From 0123456789012345678901234567890123456789 Mon\n",
    b"*** x\n",
    b"\xff\0",
];

#[test]
fn no_bytes_make_it_panic() {
    bolero::check!().with_iterations(20_000).with_type::<Vec<(u8, u8)>>().for_each(|picks| {
        let mut diff = Vec::new();
        for (pick, byte) in picks {
            match PIECES.get(usize::from(*pick) % (PIECES.len() + 1)) {
                Some(piece) => diff.extend_from_slice(piece),
                None => diff.push(*byte),
            }
        }
        let Ok(files) = read(&diff) else { return };
        for file in files {
            let printed = file.print();
            let again = read(&printed);
            let is_same = again.is_ok_and(|again| again.iter().all(|it| it.path == file.path));
            assert!(is_same, "{file:?} {}", printed.escape_ascii());
            assert!(file.path.stays_inside() && file.base_path().stays_inside());
            let applied = file.apply(b"a\na\n");
            assert!(applied.is_none_or(|head| file.revert(&head).as_deref() == Some(b"a\na\n")));
        }
    });
}

#[test]
fn raw_bytes_do_not_make_it_panic() {
    bolero::check!().with_iterations(20_000).with_type::<Vec<u8>>().for_each(|bytes| {
        if let Ok(files) = parse(bytes) {
            assert!(files.is_empty() || bytes.len() > 10);
        }
    });
}
