//! What a reviewer is shown of a small change.

use super::*;
use mala_domain::change::{DiffLine, EntryKind, FileClass, FileStatus, Hunk, LineKind};

fn changed(path: &str, added: &[u32]) -> ChangedFile {
    let hunks = added
        .iter()
        .map(|line| Hunk {
            old_start: *line,
            old_lines: 0,
            new_start: *line,
            new_lines: 1,
            section: String::new(),
            lines: vec![DiffLine { kind: LineKind::Added, text: String::new() }],
        })
        .collect();
    ChangedFile {
        path: FilePath::from(path),
        old_path: None,
        status: FileStatus::Modified,
        kind: EntryKind::File,
        mode_change: None,
        class: FileClass::Source,
        script: None,
        hunks,
    }
}

/// A Python file with a function of `n` lines at `start` among plain lines.
fn python(start: usize, n: usize, total: usize) -> String {
    let mut lines: Vec<String> = (1..=total).map(|line| format!("x{line} = {line}")).collect();
    lines[start - 1] = "def work(a):".to_owned();
    for line in lines.iter_mut().skip(start).take(n - 1) {
        *line = format!("    {line}");
    }
    lines.join("\n") + "\n"
}

fn spans(file: &ChangedFile, text: &str) -> Vec<(u32, u32, Option<String>, Vec<usize>)> {
    let view = FileView::of(file, Some(text), Some(text));
    let regions = view.context.regions.iter();
    regions.map(|r| (r.span.start(), r.span.end(), r.symbol.clone(), r.hunks.clone())).collect()
}

#[test]
fn regions_grow_to_the_function_and_join_when_they_touch() {
    let text = python(100, 80, 300);
    let work = Some("work".to_owned());
    for (lines, expected) in [
        (vec![10], vec![(1, 30, None, vec![0])]),
        (vec![150], vec![(100, 179, work.clone(), vec![0])]),
        (vec![110, 170], vec![(90, 190, work.clone(), vec![0, 1])]),
        (vec![10, 40, 290], vec![(1, 60, None, vec![0, 1]), (270, 300, None, vec![2])]),
    ] {
        assert_eq!(spans(&changed("a.py", &lines), &text), expected, "{lines:?}");
    }
    let long = python(100, 600, 900);
    assert_eq!(spans(&changed("a.py", &[400]), &long), [(380, 420, work, vec![0])]);
    assert_eq!(spans(&changed("a.txt", &[150]), &text), [(130, 170, None, vec![0])]);
}

#[test]
fn a_region_has_the_text_of_its_lines() {
    let view = FileView::of(&changed("a.txt", &[1]), None, Some("one\ntwo\n"));
    let texts: Vec<&str> = view.context.regions.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["one\ntwo"]);
    let empty = FileView::of(&changed("a.txt", &[7]), None, Some(""));
    assert_eq!(empty.context.regions.len(), 1);
}

#[test]
fn changed_symbols_and_their_callers_are_listed() {
    let base = "def kept_one():\n    return 1\n\ndef edited_one():\n    return 1\n\ndef removed_one():\n    pass\n";
    let head = "def kept_one():\n    return 1\n\ndef edited_one():\n    return 2\n\ndef added_one():\n    pass\n";
    let view = FileView::of(&changed("a.py", &[5]), Some(base), Some(head));
    let symbols: Vec<(&str, SymbolChange)> =
        view.symbols.iter().map(|s| (s.symbol.as_str(), s.change)).collect();
    assert_eq!(
        symbols,
        [
            ("edited_one", SymbolChange::Modified),
            ("added_one", SymbolChange::Added),
            ("removed_one", SymbolChange::Removed),
        ]
    );
    let views = vec![view];
    let asked = query(&views).expect("asks").words;
    assert_eq!(asked, ["edited_one", "removed_one"]);
    let user = FilePath::from("user.py");
    let text = "from a import edited_one\n\ndef go():\n    return edited_one()\n\ndef no(edited_one):\n    return edited_one\n";
    let hits: Vec<WordHit> = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains("edited_one"))
        .map(|(line, n)| WordHit { file: user.clone(), line: n, text: line.to_owned() })
        .collect();
    assert_eq!(files_to_read(&views, &hits), vec![user.clone()]);
    let texts = BTreeMap::from([(user.clone(), text.to_owned())]);
    let context = assemble(views, &hits, &texts);
    let expected = Caller {
        symbol: "edited_one".to_owned(),
        file: user,
        line: 4,
        within: Some("go".to_owned()),
        text: "return edited_one()".to_owned(),
    };
    assert_eq!(context.callers, [expected]);
}

#[test]
fn uses_need_an_import_a_type_or_a_package_that_leads_to_the_definition() {
    let go = (
        "log/pretty.go",
        "package log\n\ntype PrettyLogger struct{}\n\nfunc (p *PrettyLogger) Errorf(s string) {\n\twrite(s)\n}\n",
        6,
    );
    let python = ("pkg/store.py", "class Store:\n    def average(self):\n        return 1\n", 3);
    let free = ("pkg/tools.py", "def convert(a):\n    return a\n", 2);
    for ((file, text, line), user, using, n_callers) in [
        (
            go,
            "cmd/a.go",
            "package cmd\n\nimport \"fmt\"\n\nfunc f() error {\n\treturn fmt.Errorf(\"x\")\n}\n",
            0,
        ),
        (go, "log/b.go", "package log\n\nfunc f(p *PrettyLogger) {\n\tp.Errorf(\"x\")\n}\n", 1),
        (python, "app.py", "from pkg.store import Store\n\nstore = Store()\nstore.average()\n", 1),
        (python, "app.py", "import numpy\n\nnumpy.average([1])\n", 0),
        (python, "app.py", "def go(frame):\n    return frame.average()\n", 0),
        (free, "app.py", "from pkg.tools import convert\n\nconvert(1)\n", 1),
        (free, "app.py", "from other import convert\n\nconvert(1)\n", 0),
        (free, "app.py", "convert(1)\n", 0),
        (free, "app.js", "convert(1);\n", 0),
        (free, "dist/app.min.js", "convert(1);\n", 0),
    ] {
        let old = text.replace("return", "return 0 +").replace("write(s)", "write(s + s)");
        let views = vec![FileView::of(&changed(file, &[line]), Some(&old), Some(text))];
        let words = query(&views).map(|query| query.words).unwrap_or_default();
        let path = FilePath::from(user);
        let hits: Vec<WordHit> = using
            .lines()
            .zip(1..)
            .filter(|(line, _)| words.iter().any(|word| line.contains(word.as_str())))
            .map(|(line, n)| WordHit { file: path.clone(), line: n, text: line.to_owned() })
            .collect();
        let read = files_to_read(&views, &hits);
        let texts = read.into_iter().map(|file| (file, using.to_owned())).collect();
        let found = assemble(views, &hits, &texts).callers;
        assert_eq!(found.len(), n_callers, "{user}: {using}: {found:?}");
    }
}
