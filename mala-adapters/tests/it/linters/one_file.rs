//! One linter over one file, requested by name.

use super::*;
use mala_adapters::linters::ProjectLinters;
use mala_domain::ports::Linters;

fn say(repo: &TestRepo, settings: LinterSettings, name: LinterName, file: &str) -> String {
    let json = r#"[{"code":"F401","filename":"a.py","location":{"row":9,"column":1},
        "end_location":{"row":9,"column":2},"message":"later"},
        {"code":"E711","filename":"a.py","location":{"row":1,"column":1},
        "end_location":{"row":1,"column":2},"message":"first\nof all"},
        {"code":"X1","filename":"../../etc/passwd","location":{"row":1,"column":1},
        "end_location":{"row":1,"column":2},"message":"elsewhere"}]"#;
    fs::write(repo.beside("answer.json"), json).unwrap();
    let answer = repo.beside("answer.json");
    let environment = with_program(repo, "ruff", &format!("cat {}; exit 1", answer.display()));
    let world = LinterContext { folder: Some(repo.root().to_owned()), environment };
    let linters = ProjectLinters::new(settings, world);
    wait(async {
        let request = request(repo, ReviewTarget::WorkingTree).await;
        match linters.lint(&request, name, &file.into()).await {
            Ok(messages) => messages
                .iter()
                .map(|it| format!("{} {} {}: {}", it.line, it.severity, it.rule, it.message))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(trouble) => format!("trouble: {trouble}"),
        }
    })
}

fn repo() -> TestRepo {
    let files = [("ruff.toml", ""), ("a.py", "x = 1\n"), ("b.ts", "1\n"), ("c", "1\n")];
    let repo = TestRepo::with_files(&files);
    repo.write("c", "2\n");
    repo
}

/// 002-073: rule, line, message and severity, with and without a configuration of the project.
#[test]
fn all_lines_of_a_file_count_whether_it_changed_or_not() {
    let unconfigured = TestRepo::with_files(&[("a.py", "x = 1\n")]);
    for repo in [repo(), unconfigured] {
        let found = say(&repo, LinterSettings::default(), LinterName::Ruff, "a.py");
        assert_eq!(found, "1 warning E711: first of all\n9 warning F401: later");
    }
}

/// 002-074
#[test]
fn why_there_is_no_answer_is_said() {
    let off = LinterSettings { off: vec![LinterName::Ruff], ..LinterSettings::default() };
    for (settings, name, file, expected) in [
        (off, LinterName::Ruff, "a.py", "ruff is turned off in the configuration"),
        (LinterSettings::default(), LinterName::Ruff, "c", "ruff: it does not check this file"),
        (LinterSettings::default(), LinterName::Ruff, "b.ts", "ruff: it does not check this file"),
        (LinterSettings::default(), LinterName::Ruff, "no.py", "ruff: it does not check this file"),
        (
            LinterSettings::default(),
            LinterName::Biome,
            "b.ts",
            "biome: the project does not configure it",
        ),
    ] {
        assert_eq!(say(&repo(), settings, name, file), format!("trouble: {expected}"), "{file}");
    }
}
