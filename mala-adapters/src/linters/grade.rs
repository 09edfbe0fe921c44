//! How urgent a linter's message is, and what follows from it. A linter's own levels are about its
//! rules; these are about the change.

use super::output::{Hit, Level, SYNTAX};
use mala_domain::config::LinterName;
use mala_domain::finding::{Category, Priority};

/// What kind of problem it is, and how urgent.
pub(super) type Grade = (Category, Priority);

const BUG: Grade = (Category::Bug, Priority::P2);
const UNPARSABLE: Grade = (Category::Bug, Priority::P0);
const BROKEN: Grade = (Category::Bug, Priority::P1);
const STYLE: Grade = (Category::Style, Priority::P3);
const SECURITY: Grade = (Category::Security, Priority::P2);
const ERROR_HANDLING: Grade = (Category::ErrorHandling, Priority::P2);
const SLOW: Grade = (Category::Performance, Priority::P3);

/// The grade of one message.
pub(super) fn of(linter: LinterName, hit: &Hit) -> Grade {
    if hit.code == SYNTAX {
        return if knows_the_language(linter, hit) { UNPARSABLE } else { BUG };
    }
    match linter {
        LinterName::Ruff => ruff(&hit.code),
        LinterName::Eslint | LinterName::Oxlint => script(hit),
        LinterName::Biome => biome(hit),
        LinterName::Tsc => tsc(&hit.code),
        LinterName::Clippy => clippy(hit),
        LinterName::GolangciLint => golangci_lint(&hit.code),
        LinterName::Semgrep => semgrep(hit),
        LinterName::Actionlint if hit.message.contains("untrusted") => SECURITY,
        LinterName::Actionlint => BUG,
        LinterName::Shellcheck if hit.level != Level::Note => BUG,
        LinterName::Hadolint if hit.level == Level::Error => BUG,
        LinterName::Shellcheck | LinterName::Hadolint => STYLE,
    }
}

/// Whether its parser is the language's. Others are set up to take a dialect, or lag behind it.
fn knows_the_language(linter: LinterName, hit: &Hit) -> bool {
    match linter {
        LinterName::Eslint | LinterName::Hadolint => false,
        LinterName::Biome => !hit.file.ends_with(".css"),
        _ => true,
    }
}

/// By the letters of the code, which name the family of the rule.
fn ruff(code: &str) -> Grade {
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

fn script(hit: &Hit) -> Grade {
    let rule = hit.code.rsplit('/').next().unwrap_or_default();
    let plugin = hit.code.split('/').next().unwrap_or_default();
    match rule {
        "no-const-assign" => BROKEN,
        "no-unused-vars" | "prefer-const" | "no-var" | "semi" | "quotes" | "indent" | "curly"
        | "comma-dangle" | "max-len" | "no-explicit-any" | "no-console" | "no-empty" => STYLE,
        "no-eval" | "no-implied-eval" | "no-script-url" | "no-new-func" => SECURITY,
        "no-floating-promises" | "no-unsafe-finally" => ERROR_HANDLING,
        _ if matches!(plugin, "security" | "no-secrets") => SECURITY,
        _ if matches!(plugin, "@stylistic" | "prettier" | "stylistic") => STYLE,
        _ if hit.level == Level::Note => STYLE,
        _ => BUG,
    }
}

/// By the group before the rule.
fn biome(hit: &Hit) -> Grade {
    let (group, rule) = hit.code.split_once('/').unwrap_or_default();
    match (group, rule) {
        (_, "noUnusedVariables" | "noUnusedImports" | "noExplicitAny") => STYLE,
        (_, "noConstAssign" | "noUndeclaredVariables") => BROKEN,
        ("security", _) => SECURITY,
        ("performance", _) => SLOW,
        ("style" | "complexity" | "a11y" | "nursery", _) => STYLE,
        _ => BUG,
    }
}

fn tsc(code: &str) -> Grade {
    match code {
        "TS1002" | "TS1003" | "TS1005" | "TS1109" | "TS1110" | "TS1127" | "TS1128" | "TS1136"
        | "TS1160" | "TS1161" | "TS1434" => UNPARSABLE,
        "TS6133" | "TS6192" | "TS6196" | "TS6198" => STYLE,
        _ => BROKEN,
    }
}

fn clippy(hit: &Hit) -> Grade {
    let lint = hit.code.strip_prefix("clippy::");
    match (lint, hit.code.as_str()) {
        (None, "unused_must_use") => ERROR_HANDLING,
        (None, code) if code.starts_with("unused_") || code == "dead_code" => STYLE,
        (None, code) if code.starts_with('E') && hit.level == Level::Error => BROKEN,
        (Some("unwrap_used" | "expect_used" | "let_underscore_must_use"), _) => ERROR_HANDLING,
        (Some(_), _) if hit.level == Level::Warning => STYLE,
        _ => BUG,
    }
}

fn golangci_lint(linter: &str) -> Grade {
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

fn semgrep(hit: &Hit) -> Grade {
    let priority = if hit.level == Level::Note { Priority::P3 } else { Priority::P2 };
    (hit.category.unwrap_or(Category::Bug), priority)
}

/// What happens because of it, for codes where that is known.
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
            (Ruff, "syntax", Level::Error, UNPARSABLE),
            (Eslint, "syntax", Level::Error, BUG),
            (Tsc, "TS1005", Level::Error, UNPARSABLE),
            (Ruff, "F821", Level::Warning, BROKEN),
            (Ruff, "F401", Level::Warning, STYLE),
            (Ruff, "S608", Level::Warning, SECURITY),
            (Ruff, "SIM102", Level::Warning, STYLE),
            (Ruff, "E501", Level::Warning, STYLE),
            (Ruff, "B006", Level::Warning, BUG),
            (Ruff, "XYZ1", Level::Warning, BUG),
            (Eslint, "no-undef", Level::Error, BUG),
            (Eslint, "eqeqeq", Level::Note, STYLE),
            (Eslint, "security/detect-eval-with-expression", Level::Error, SECURITY),
            (Oxlint, "typescript/no-explicit-any", Level::Warning, STYLE),
            (Biome, "suspicious/noDebugger", Level::Error, BUG),
            (Biome, "style/useConst", Level::Warning, STYLE),
            (Tsc, "TS2322", Level::Error, BROKEN),
            (Tsc, "TS6133", Level::Error, STYLE),
            (Clippy, "E0308", Level::Error, BROKEN),
            (Clippy, "unused_must_use", Level::Warning, ERROR_HANDLING),
            (Clippy, "clippy::needless_return", Level::Warning, STYLE),
            (Clippy, "clippy::eq_op", Level::Error, BUG),
            (GolangciLint, "errcheck", Level::Warning, ERROR_HANDLING),
            (Shellcheck, "SC2115", Level::Warning, BUG),
            (Shellcheck, "SC2086", Level::Note, STYLE),
            (Hadolint, "DL3008", Level::Warning, STYLE),
        ] {
            let hit = Hit { code: code.to_owned(), level, ..Hit::default() };
            assert_eq!(of(linter, &hit), expected, "{} {code}", linter.name());
        }
    }
}
