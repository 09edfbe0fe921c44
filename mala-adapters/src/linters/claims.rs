//! Turns the diagnostics of linters into claims on added lines, with a category and a priority. A
//! linter's levels are about its rules; these priorities are about the change.

use super::output::{LintDiagnostic, LintLevel, SYNTAX};
use super::registry::LinterSpec;
use super::workspace::LintWorkspace;
use crate::reviewers::builtin;
use mala_domain::change::LineSpan;
use mala_domain::config::LinterName;
use mala_domain::finding::{Category, Priority, ReviewClaim, Verification};

/// The longest title.
const MAX_TITLE: usize = 120;

/// The longest message.
const MAX_MESSAGE: usize = 1000;

/// The diagnostics on added lines, as claims.
pub(super) fn on_added_lines(
    linter: &LinterSpec,
    diagnostics: &[LintDiagnostic],
    place: &LintWorkspace,
) -> Vec<ReviewClaim> {
    diagnostics.iter().filter_map(|diagnostic| claim(linter, diagnostic, place)).collect()
}

fn claim(
    linter: &LinterSpec,
    diagnostic: &LintDiagnostic,
    place: &LintWorkspace,
) -> Option<ReviewClaim> {
    let target = place.target(&diagnostic.file)?;
    let line = *diagnostic.lines.iter().find(|line| target.added.contains(**line))?;
    let run = target.added.runs().iter().find(|run| run.contains(line))?;
    let end = if diagnostic.lines.first() == Some(&line) { diagnostic.end_line } else { line };
    let name = linter.name.name();
    let (category, priority) = grade_of(linter.name, diagnostic);
    let message = cut(diagnostic.message.trim(), MAX_MESSAGE);
    let title = cut(message.lines().next().unwrap_or(&diagnostic.code).trim(), MAX_TITLE);
    Some(ReviewClaim {
        file: target.path.clone(),
        span: LineSpan::between(line, end.clamp(line, run.end())),
        priority: Some(priority),
        category,
        title,
        body: body(linter, diagnostic, &message),
        suggestion: Some(suggestion(name, diagnostic)),
        evidence: None,
        confidence: 0.9,
        reviewer: builtin::NAME.to_owned(),
        rule: Some(format!("{name}/{}", diagnostic.code)),
        verification: Verification::verified(format!("{name} {}", diagnostic.code)),
    })
}

fn body(linter: &LinterSpec, diagnostic: &LintDiagnostic, message: &str) -> String {
    let name = linter.name.name();
    match consequence(linter.name, &diagnostic.code) {
        Some(consequence) => format!("{consequence} {name} reports: {message}"),
        None => format!("When this line runs or is checked, {name} reports: {message}"),
    }
}

fn suggestion(name: &str, diagnostic: &LintDiagnostic) -> String {
    let fix = diagnostic.fix.as_deref().map(|fix| cut(fix.trim(), MAX_MESSAGE));
    match (fix.filter(|fix| !fix.is_empty()), &diagnostic.url) {
        (Some(fix), _) => fix,
        (None, Some(url)) => format!("See {url}"),
        (None, None) => format!("See {name} {}.", diagnostic.code),
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The category and priority of a diagnostic.
pub(super) type DiagnosticGrade = (Category, Priority);

const BUG: DiagnosticGrade = (Category::Bug, Priority::P2);
const UNPARSABLE: DiagnosticGrade = (Category::Bug, Priority::P0);
const BROKEN: DiagnosticGrade = (Category::Bug, Priority::P1);
const STYLE: DiagnosticGrade = (Category::Style, Priority::P3);
const SECURITY: DiagnosticGrade = (Category::Security, Priority::P2);
const ERROR_HANDLING: DiagnosticGrade = (Category::ErrorHandling, Priority::P2);
const SLOW: DiagnosticGrade = (Category::Performance, Priority::P3);

/// The grade of one diagnostic.
fn grade_of(linter: LinterName, diagnostic: &LintDiagnostic) -> DiagnosticGrade {
    if diagnostic.code == SYNTAX {
        return if has_reference_parser(linter, diagnostic) { UNPARSABLE } else { BUG };
    }
    match linter {
        LinterName::Ruff => ruff(&diagnostic.code),
        LinterName::Eslint | LinterName::Oxlint => script(diagnostic),
        LinterName::Biome => biome(diagnostic),
        LinterName::Tsc => tsc(&diagnostic.code),
        LinterName::Clippy => clippy(diagnostic),
        LinterName::GolangciLint => golangci_lint(&diagnostic.code),
        LinterName::Semgrep => semgrep(diagnostic),
        LinterName::Actionlint if diagnostic.message.contains("untrusted") => SECURITY,
        LinterName::Actionlint => BUG,
        LinterName::Shellcheck if diagnostic.level != LintLevel::Note => BUG,
        LinterName::Hadolint if diagnostic.level == LintLevel::Error => BUG,
        LinterName::Shellcheck | LinterName::Hadolint => STYLE,
    }
}

/// Whether the linter has the parser of the language itself. Other parsers accept a dialect or lag
/// behind.
fn has_reference_parser(linter: LinterName, diagnostic: &LintDiagnostic) -> bool {
    match linter {
        LinterName::Eslint | LinterName::Hadolint => false,
        LinterName::Biome => !diagnostic.file.ends_with(".css"),
        _ => true,
    }
}

/// By the letters of the code, which name the family of the rule.
fn ruff(code: &str) -> DiagnosticGrade {
    let family = code.trim_end_matches(|c: char| c.is_ascii_digit());
    match (family, code) {
        (_, "F821" | "F822" | "F823") => BROKEN,
        (_, "F401" | "F541" | "F811" | "F841") => STYLE,
        (_, "E722") => ERROR_HANDLING,
        (_, "E711" | "E712" | "E721") => BUG,
        ("F" | "B" | "ASYNC" | "DTZ" | "PLE" | "PLW" | "RUF" | "G" | "LOG", _) => BUG,
        ("S", _) => SECURITY,
        ("BLE" | "TRY", _) => ERROR_HANDLING,
        ("PERF", _) => SLOW,
        (
            "A" | "ANN" | "ARG" | "C" | "CPY" | "COM" | "D" | "DOC" | "E" | "EM" | "ERA" | "FA"
            | "FBT" | "FIX" | "FLY" | "FURB" | "I" | "ICN" | "INP" | "ISC" | "N" | "PIE" | "PLC"
            | "PLR" | "PT" | "PTH" | "PYI" | "Q" | "RET" | "RSE" | "SIM" | "SLF" | "T" | "TC"
            | "TD" | "TID" | "UP" | "W",
            _,
        ) => STYLE,
        _ => BUG,
    }
}

fn script(diagnostic: &LintDiagnostic) -> DiagnosticGrade {
    let rule = diagnostic.code.rsplit('/').next().unwrap_or_default();
    let plugin = diagnostic.code.split('/').next().unwrap_or_default();
    match rule {
        "no-const-assign" => BROKEN,
        "no-unused-vars" | "prefer-const" | "no-var" | "semi" | "quotes" | "indent" | "curly"
        | "comma-dangle" | "max-len" | "no-explicit-any" | "no-console" | "no-empty" => STYLE,
        "no-eval" | "no-implied-eval" | "no-script-url" | "no-new-func" => SECURITY,
        "no-floating-promises" | "no-unsafe-finally" => ERROR_HANDLING,
        _ if matches!(plugin, "security" | "no-secrets") => SECURITY,
        _ if matches!(plugin, "@stylistic" | "prettier" | "stylistic") => STYLE,
        _ if diagnostic.level == LintLevel::Note => STYLE,
        _ => BUG,
    }
}

/// By the group before the rule.
fn biome(diagnostic: &LintDiagnostic) -> DiagnosticGrade {
    let (group, rule) = diagnostic.code.split_once('/').unwrap_or_default();
    match (group, rule) {
        (_, "noUnusedVariables" | "noUnusedImports" | "noExplicitAny") => STYLE,
        (_, "noConstAssign" | "noUndeclaredVariables") => BROKEN,
        ("security", _) => SECURITY,
        ("performance", _) => SLOW,
        ("style" | "complexity" | "a11y" | "nursery", _) => STYLE,
        _ => BUG,
    }
}

fn tsc(code: &str) -> DiagnosticGrade {
    match code {
        "TS1002" | "TS1003" | "TS1005" | "TS1109" | "TS1110" | "TS1127" | "TS1128" | "TS1136"
        | "TS1160" | "TS1161" | "TS1434" => UNPARSABLE,
        "TS6133" | "TS6192" | "TS6196" | "TS6198" => STYLE,
        _ => BROKEN,
    }
}

fn clippy(diagnostic: &LintDiagnostic) -> DiagnosticGrade {
    let lint = diagnostic.code.strip_prefix("clippy::");
    match (lint, diagnostic.code.as_str()) {
        (None, "unused_must_use") => ERROR_HANDLING,
        (None, code) if code.starts_with("unused_") || code == "dead_code" => STYLE,
        (None, code) if code.starts_with('E') && diagnostic.level == LintLevel::Error => BROKEN,
        (Some("unwrap_used" | "expect_used" | "let_underscore_must_use"), _) => ERROR_HANDLING,
        (Some(_), _) if diagnostic.level == LintLevel::Warning => STYLE,
        _ => BUG,
    }
}

fn golangci_lint(linter: &str) -> DiagnosticGrade {
    match linter {
        "typecheck" => BROKEN,
        "gosec" => SECURITY,
        "errcheck" | "errorlint" | "nilerr" | "wrapcheck" | "rowserrcheck" => ERROR_HANDLING,
        "govet" | "staticcheck" | "ineffassign" | "bodyclose" | "contextcheck"
        | "sqlclosecheck" | "noctx" | "makezero" | "copyloopvar" | "exhaustive" => BUG,
        "prealloc" | "perfsprint" => SLOW,
        _ => STYLE,
    }
}

fn semgrep(diagnostic: &LintDiagnostic) -> DiagnosticGrade {
    let priority = if diagnostic.level == LintLevel::Note { Priority::P3 } else { Priority::P2 };
    (diagnostic.category.unwrap_or(Category::Bug), priority)
}

/// The consequence of the problem, for known codes.
pub(super) fn consequence(linter: LinterName, code: &str) -> Option<&'static str> {
    Some(match (linter, code) {
        (LinterName::Clippy | LinterName::Tsc, SYNTAX) => {
            "When this file is compiled, the compiler stops at this line."
        }
        (_, SYNTAX) => "When this file is loaded, it cannot be parsed, and nothing in it runs.",
        (LinterName::Ruff, "F821") => "When this line runs, it raises `NameError`.",
        (LinterName::Ruff, "F822") => {
            "When this module is imported with `*`, it raises `AttributeError`."
        }
        (LinterName::Ruff, "F823") => "When this line runs, it raises `UnboundLocalError`.",
        (LinterName::Ruff, "B006") => {
            "When the function is called a second time, it sees what the first call left in the default."
        }
        (LinterName::Ruff, "E722") => {
            "When anything fails here, `KeyboardInterrupt` and `SystemExit` are caught too."
        }
        (LinterName::Ruff, "S608") => {
            "When a value holds a quote, it becomes part of the SQL statement."
        }
        (LinterName::Ruff, "S602" | "S605") => {
            "When a value holds shell syntax, the shell runs it."
        }
        (LinterName::Eslint, "no-undef") => "When this line runs, it throws `ReferenceError`.",
        (LinterName::Eslint | LinterName::Oxlint, "no-const-assign") => {
            "When this line runs, it throws `TypeError`."
        }
        (LinterName::Biome, "correctness/noConstAssign") => {
            "When this line runs, it throws `TypeError`."
        }
        (LinterName::Eslint | LinterName::Oxlint, "no-debugger")
        | (LinterName::Biome, "suspicious/noDebugger") => {
            "When this line runs with developer tools open, the program halts."
        }
        (LinterName::Shellcheck, "SC2086") => {
            "When the value holds white space or `*`, it is split into words and expanded to file names."
        }
        (LinterName::Shellcheck, "SC2115") => {
            "When the variable is empty, the command works on the root of the file system."
        }
        (LinterName::Shellcheck, "SC2164") => {
            "When `cd` fails, the commands after it run in the wrong folder."
        }
        (LinterName::GolangciLint, "errcheck") => {
            "When this call fails, the error is lost, and the code goes on as if it had worked."
        }
        (LinterName::Tsc, _) => "When the project is type-checked, the check fails at this line.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_grades() {
        use LinterName::*;
        for (linter, code, level, expected) in [
            (Ruff, "syntax", LintLevel::Error, UNPARSABLE),
            (Eslint, "syntax", LintLevel::Error, BUG),
            (Tsc, "TS1005", LintLevel::Error, UNPARSABLE),
            (Ruff, "F821", LintLevel::Warning, BROKEN),
            (Ruff, "F401", LintLevel::Warning, STYLE),
            (Ruff, "S608", LintLevel::Warning, SECURITY),
            (Ruff, "SIM102", LintLevel::Warning, STYLE),
            (Ruff, "E501", LintLevel::Warning, STYLE),
            (Ruff, "B006", LintLevel::Warning, BUG),
            (Ruff, "XYZ1", LintLevel::Warning, BUG),
            (Eslint, "no-undef", LintLevel::Error, BUG),
            (Eslint, "eqeqeq", LintLevel::Note, STYLE),
            (Eslint, "security/detect-eval-with-expression", LintLevel::Error, SECURITY),
            (Oxlint, "typescript/no-explicit-any", LintLevel::Warning, STYLE),
            (Biome, "suspicious/noDebugger", LintLevel::Error, BUG),
            (Biome, "style/useConst", LintLevel::Warning, STYLE),
            (Tsc, "TS2322", LintLevel::Error, BROKEN),
            (Tsc, "TS6133", LintLevel::Error, STYLE),
            (Clippy, "E0308", LintLevel::Error, BROKEN),
            (Clippy, "unused_must_use", LintLevel::Warning, ERROR_HANDLING),
            (Clippy, "clippy::needless_return", LintLevel::Warning, STYLE),
            (Clippy, "clippy::eq_op", LintLevel::Error, BUG),
            (GolangciLint, "errcheck", LintLevel::Warning, ERROR_HANDLING),
            (Shellcheck, "SC2115", LintLevel::Warning, BUG),
            (Shellcheck, "SC2086", LintLevel::Note, STYLE),
            (Hadolint, "DL3008", LintLevel::Warning, STYLE),
        ] {
            let diagnostic =
                LintDiagnostic { code: code.to_owned(), level, ..LintDiagnostic::default() };
            assert_eq!(grade_of(linter, &diagnostic), expected, "{} {code}", linter.name());
        }
    }
}
