//! Linters over real repositories: the installed ones, scripts that print the documented output of
//! others, and every way to fail.

mod faults;
mod one_file;
mod real;
mod stand_ins;

use crate::git::{environment, wait};
use mala_adapters::linters::{LintOutcome, LinterContext, LinterSettings, run};
use mala_adapters::process::ProcessEnvironment;
use mala_domain::change::FilePath;
use mala_domain::config::LinterName;
use mala_domain::ports::Side;
use mala_domain::review::{FileTexts, ReviewContext};
use mala_domain::scope::ReviewTarget;
use mala_testkit::TestRepo;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The output of the linters for a change.
fn lint(
    repo: &TestRepo,
    target: ReviewTarget,
    also: &[LinterName],
    environment: &ProcessEnvironment,
) -> String {
    let settings = LinterSettings { also: also.to_vec(), ..LinterSettings::default() };
    lint_with(repo, target, &settings, environment)
}

fn lint_with(
    repo: &TestRepo,
    target: ReviewTarget,
    settings: &LinterSettings,
    environment: &ProcessEnvironment,
) -> String {
    let folder = Some(repo.root().to_owned());
    let world = LinterContext { folder, environment: environment.clone() };
    show(&wait(async { run(&request(repo, target).await, settings, &world).await }))
}

async fn request(repo: &TestRepo, target: ReviewTarget) -> ReviewContext {
    let git = open_here(repo).await;
    let scoped = git.change(&target, &[]).await.map_err(|error| error.to_string()).unwrap();
    let paths: Vec<FilePath> = scoped.change.files.iter().map(|file| file.path.clone()).collect();
    let blobs = scoped.tree.read(Side::Head, &paths).await.unwrap();
    let texts = FileTexts { head: paths.into_iter().zip(blobs).collect(), ..FileTexts::default() };
    ReviewContext::new(scoped, texts)
}

async fn open_here(repo: &TestRepo) -> mala_adapters::git::Git {
    mala_adapters::git::Git::open(repo.root(), &environment(repo)).await.unwrap()
}

/// One line per claim, then the warnings.
fn show(linted: &LintOutcome) -> String {
    let mut lines: Vec<String> = linted
        .candidates
        .iter()
        .map(|claim| {
            assert_eq!(claim.reviewer, "builtin");
            assert!(claim.body.starts_with("When "), "{}", claim.body);
            let rule = claim.rule.as_deref().unwrap();
            assert_eq!(
                claim.verification.how.as_deref(),
                Some(rule.replacen('/', " ", 1).as_str())
            );
            let priority = claim.priority.unwrap();
            let (file, span, kind) = (&claim.file, claim.span, claim.category);
            format!("{file}:{span} {priority} {kind} {rule}: {}", claim.title)
        })
        .collect();
    lines.sort();
    lines.extend(linted.warnings.iter().map(|warning| format!("warning: {warning}")));
    lines.join("\n")
}

/// A program outside of the reviewed tree, and an environment that finds it.
fn with_program(repo: &TestRepo, name: &str, script: &str) -> ProcessEnvironment {
    let bin = repo.beside("bin");
    write_program(&bin, name, script);
    environment(repo).with("PATH", format!("{}:/usr/bin:/bin", bin.display()))
}

fn write_program(bin: &Path, name: &str, script: &str) {
    fs::create_dir_all(bin).unwrap();
    let file = bin.join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}
