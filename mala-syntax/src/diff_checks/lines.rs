//! Rules over single added lines, kept as data in `lines.yaml`.

use super::tests_disabled;
use crate::rules::{is_showcase, is_test_path};
use globset::{Glob, GlobSet, GlobSetBuilder};
use mala_domain::change::{ChangedFile, FilePath, Hunk, LineKind, LineSpan};
use mala_domain::finding::{Category, Priority, ReviewClaim, Verification};
use mala_domain::language::Language;
use regex::Regex;
use serde::Deserialize;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A rule over single added lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    /// Its id.
    pub id: String,
    /// One line.
    pub title: String,
    /// The consequence, and when it occurs.
    pub message: String,
    /// How to fix it.
    pub suggestion: String,
    /// The kind of problem.
    pub category: Category,
    /// The priority.
    pub priority: Priority,
    /// 0 to 1.
    pub confidence: f64,
    files: Vec<String>,
    #[serde(default)]
    not_files: Vec<String>,
    line: String,
    #[serde(default)]
    unless: Option<String>,
    /// Whether tests that the change adds are left out.
    #[serde(default)]
    existing_tests: bool,
    /// Lines that are and are not reported, by a file's name.
    pub examples: LineExamples,
}

/// Examples of lines that a rule reports and does not report; several lines are a diff.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineExamples {
    /// The file that the lines are in.
    pub file: String,
    /// Reported.
    pub bad: Vec<String>,
    /// Not reported.
    pub good: Vec<String>,
}

/// The name of a list of dependencies is looked for this many lines before an entry.
const MAX_LIST: usize = 100;

/// Longer lines are not typed.
const MAX_LINE: usize = 1000;

struct CompiledLineRule {
    rule: LineRule,
    files: GlobSet,
    not_files: GlobSet,
    line: Regex,
    unless: Option<Regex>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and every test reads it")]
static RULES: LazyLock<Vec<CompiledLineRule>> = LazyLock::new(|| {
    let rules: Vec<LineRule> =
        serde_saphyr::from_str(include_str!("lines.yaml")).expect("lines.yaml is valid");
    rules.into_iter().map(|rule| compile(rule).expect("lines.yaml is valid")).collect()
});

/// All rules of this kind.
pub fn line_rules() -> impl Iterator<Item = &'static LineRule> {
    RULES.iter().map(|compiled| &compiled.rule)
}

pub(super) fn check(file: &ChangedFile) -> Vec<ReviewClaim> {
    let path = name(file);
    let rules: Vec<&CompiledLineRule> = RULES
        .iter()
        .filter(|r| r.files.is_match(path.as_ref()) && !r.not_files.is_match(path.as_ref()))
        .filter(|r| !(r.rule.id.starts_with("deps/") && is_test_path(&file.path)))
        .collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let removed = LazyCell::new(|| {
        let removed = file.hunks.iter().flat_map(Hunk::removed_lines);
        removed.map(|(_, text)| without_comma(text)).collect::<HashSet<&str>>()
    });
    let before = LazyCell::new(|| tests_disabled::names_before(file));
    for hunk in &file.hunks {
        let in_test = hunk.section.contains("mod tests")
            || hunk.lines.iter().any(|line| line.text.contains("#[test]"));
        for (index, line, text) in added(hunk).filter(|(_, _, text)| text.len() < MAX_LINE) {
            let is_new = || tests_disabled::is_new(hunk, index, &before);
            let parts =
                if path.ends_with("package.json") { dependencies(text) } else { Vec::new() };
            let reports =
                |r: &CompiledLineRule| r.reports(text) || parts.iter().any(|p| r.reports(p));
            let rules = rules.iter().filter(|r| reports(r));
            let rules = rules.filter(|r| !(in_test && r.rule.id == "debug/rust-dbg"));
            let rules = rules.filter(|r| !(r.rule.existing_tests && is_new()));
            let rules =
                rules.filter(|r| !(r.rule.id.starts_with("deps/npm-") && is_peer(hunk, index)));
            let rules = rules.filter(|r| {
                !(r.rule.id == "deps/npm-floating-version"
                    && (is_of_family(hunk, text) || is_meant(&file.path, text)))
            });
            // A comma that another entry needs makes no new line.
            let rules = rules.filter(|_| !removed.contains(without_comma(text)));
            found.extend(rules.map(|rule| candidate(&rule.rule, file, line)));
        }
    }
    found
}

/// The path for the patterns of rules: a script without an extension gets that of its language.
fn name(file: &ChangedFile) -> Cow<'_, str> {
    let path = file.path.to_text();
    match file.script.filter(|_| Language::of_path(&file.path).is_none()) {
        Some(language) => Cow::Owned(format!("{path}{}", language.ending())),
        None => path,
    }
}

/// The added lines: the index in the hunk, the number at head, the text.
fn added(hunk: &Hunk) -> impl Iterator<Item = (usize, u32, &str)> {
    let indices = hunk.lines.iter().enumerate().filter(|(_, line)| line.kind == LineKind::Added);
    indices.zip(hunk.added_lines()).map(|((index, _), (line, text))| (index, line, text))
}

/// Whether a line of a `package.json` is a peer dependency, which other packages install.
fn is_peer(hunk: &Hunk, index: usize) -> bool {
    let before = hunk.lines.iter().take(index).rev().take(MAX_LIST);
    let mut before = before.filter(|line| line.kind != LineKind::Removed);
    before
        .find(|line| line.text.contains("ependencies\""))
        .is_some_and(|line| line.text.contains("\"peerDependencies\""))
}

/// Whether any version is intended: examples use the newest one, and packages of one repository
/// depend on each other without a version.
fn is_meant(path: &FilePath, text: &str) -> bool {
    let is_part_of_repository = path.to_text().contains('/') && text.contains("\"*\"");
    is_showcase(path) || is_part_of_repository
}

/// Whether packages of the same family have no version either: those of one repository.
fn is_of_family(hunk: &Hunk, text: &str) -> bool {
    let family = |text: &str| {
        let name = text.trim().strip_prefix('"')?.split('"').next()?.to_owned();
        name.split(['-', '/']).next().filter(|first| first.len() < name.len()).map(str::to_owned)
    };
    let is_open = |text: &str| text.trim().trim_end_matches(',').ends_with("\"*\"");
    let own = family(text);
    own.is_some()
        && hunk.lines.iter().any(|line| {
            line.kind == LineKind::Context && is_open(&line.text) && family(&line.text) == own
        })
}

fn without_comma(text: &str) -> &str {
    text.trim().trim_end_matches(',')
}

/// The dependencies of a package that are written on one line, each as a line of its own.
fn dependencies(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    for after in line.split("ependencies\"").skip(1) {
        let Some(list) = after.trim_start_matches([':', ' ']).strip_prefix('{') else { continue };
        let list = list.split('}').next().unwrap_or_default();
        found.extend(list.split(',').map(|pair| pair.trim().to_owned()));
    }
    found
}

impl CompiledLineRule {
    fn reports(&self, text: &str) -> bool {
        self.line.is_match(text)
            && !self.unless.as_ref().is_some_and(|unless| unless.is_match(text))
    }
}

fn candidate(rule: &LineRule, file: &ChangedFile, line: u32) -> ReviewClaim {
    ReviewClaim {
        file: file.path.clone(),
        span: LineSpan::line(line),
        priority: Some(rule.priority),
        category: rule.category,
        title: rule.title.clone(),
        body: rule.message.clone(),
        suggestion: Some(rule.suggestion.clone()),
        evidence: None,
        confidence: rule.confidence,
        reviewer: "builtin".to_owned(),
        rule: Some(rule.id.clone()),
        verification: Verification::verified(format!("line rule {}", rule.id)),
    }
}

fn compile(rule: LineRule) -> Result<CompiledLineRule, Box<dyn std::error::Error>> {
    Ok(CompiledLineRule {
        files: globs(&rule.files)?,
        not_files: globs(&rule.not_files)?,
        line: Regex::new(&rule.line)?,
        unless: rule.unless.as_deref().map(Regex::new).transpose()?,
        rule,
    })
}

fn globs(patterns: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern)?);
    }
    set.build()
}
