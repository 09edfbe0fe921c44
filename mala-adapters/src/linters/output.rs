//! Parses the output of linters into one form.

use mala_domain::finding::Category;
use serde_json::Value;
use thiserror::Error;

/// One diagnostic of a linter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LintDiagnostic {
    /// The file as the linter names it.
    pub(super) file: String,
    /// The lines that it points at, the main one first.
    pub(super) lines: Vec<u32>,
    /// The last line of the main location.
    pub(super) end_line: u32,
    /// The linter's rule; `syntax` if the file cannot be parsed.
    pub(super) code: String,
    pub(super) message: String,
    /// The linter's suggestion.
    pub(super) fix: Option<String>,
    /// The documentation of the rule.
    pub(super) url: Option<String>,
    pub(super) level: LintLevel,
    /// The category, if the linter names it.
    pub(super) category: Option<Category>,
}

/// The level that the linter assigns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LintLevel {
    Error,
    #[default]
    Warning,
    Note,
}

/// The code of a file that cannot be parsed.
pub(super) const SYNTAX: &str = "syntax";

/// Why output cannot be parsed.
#[derive(Debug, Error)]
pub(super) enum LintParseError {
    #[error("not JSON")]
    NoJson,
    #[error("unexpected JSON")]
    OtherJson,
}

type ParsedDiagnostics = Result<Vec<LintDiagnostic>, LintParseError>;

pub(super) fn ruff(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "")?
        .iter()
        .map(|it| LintDiagnostic {
            code: match string(it, "/code").as_deref() {
                None | Some("invalid-syntax" | "E999") => SYNTAX.to_owned(),
                Some(code) => code.to_owned(),
            },
            fix: string(it, "/fix/message"),
            url: string(it, "/url"),
            ..diagnostic(it, "/filename", "/location/row", "/end_location/row")
        })
        .collect())
}

pub(super) fn eslint(stdout: &str) -> ParsedDiagnostics {
    let mut diagnostics = Vec::new();
    for file in list(&json(stdout)?, "")? {
        let name = string(file, "/filePath").unwrap_or_default();
        for it in list(file, "/messages")? {
            let fatal = it.pointer("/fatal").and_then(Value::as_bool).unwrap_or_default();
            let rule = string(it, "/ruleId");
            // Without a rule and not fatal: the configuration excludes the file. A message about
            // parser options is about the setup, not about the file.
            let of_setup =
                string(it, "/message").is_some_and(|text| text.contains("parserOptions"));
            if rule.is_none() && (!fatal || of_setup) {
                continue;
            }
            diagnostics.push(LintDiagnostic {
                file: name.clone(),
                code: rule.unwrap_or_else(|| SYNTAX.to_owned()),
                fix: string(it, "/suggestions/0/desc"),
                level: match number(it, "/severity") {
                    Some(2) => LintLevel::Error,
                    _ => LintLevel::Note,
                },
                ..diagnostic(it, "/file", "/line", "/endLine")
            });
        }
    }
    Ok(diagnostics)
}

pub(super) fn biome(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "/diagnostics")?
        .iter()
        .map(|it| {
            let category = string(it, "/category").unwrap_or_default();
            let message = string(it, "/message").or_else(|| string(it, "/description"));
            LintDiagnostic {
                code: match category.strip_prefix("lint/") {
                    Some(rule) => rule.to_owned(),
                    None if category == "parse" => SYNTAX.to_owned(),
                    None => category,
                },
                message: message.unwrap_or_default(),
                fix: string(it, "/advices/0/text"),
                level: level(it, "/severity"),
                ..diagnostic(it, "/location/path", "/location/start/line", "/location/end/line")
            }
        })
        .collect())
}

pub(super) fn oxlint(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "/diagnostics")?
        .iter()
        .map(|it| {
            let labels = it.pointer("/labels").and_then(Value::as_array);
            let lines =
                labels.into_iter().flatten().filter_map(|label| number(label, "/span/line"));
            LintDiagnostic {
                lines: lines.collect(),
                code: string(it, "/code")
                    .map_or_else(|| SYNTAX.to_owned(), |code| plain_code(&code)),
                fix: string(it, "/help"),
                url: string(it, "/url"),
                level: level(it, "/severity"),
                ..diagnostic(it, "/filename", "/labels/0/span/line", "/labels/0/span/line")
            }
        })
        .collect())
}

/// `eslint(no-debugger)` is `no-debugger`; `typescript(x)` is `typescript/x`.
fn plain_code(code: &str) -> String {
    match code.strip_suffix(')').and_then(|code| code.split_once('(')) {
        Some(("eslint", rule)) => rule.to_owned(),
        Some((plugin, rule)) => format!("{plugin}/{rule}"),
        None => code.to_owned(),
    }
}

/// `a.ts(3,5): error TS2322: Type …`, continued on indented lines.
pub(super) fn tsc(stdout: &str) -> ParsedDiagnostics {
    let mut diagnostics: Vec<LintDiagnostic> = Vec::new();
    for line in stdout.lines() {
        match (tsc_line(line), diagnostics.last_mut()) {
            (Some(diagnostic), _) => diagnostics.push(diagnostic),
            (None, Some(last)) if line.starts_with(' ') => {
                last.message.push('\n');
                last.message.push_str(line.trim());
            }
            (None, _) => {}
        }
    }
    Ok(diagnostics)
}

fn tsc_line(line: &str) -> Option<LintDiagnostic> {
    let (place, rest) = line.split_once("): error ")?;
    let (file, position) = place.rsplit_once('(')?;
    let (code, message) = rest.split_once(": ")?;
    let line = position.split(',').next()?.parse().ok()?;
    Some(LintDiagnostic {
        file: file.to_owned(),
        lines: vec![line],
        end_line: line,
        code: code.to_owned(),
        message: message.to_owned(),
        level: LintLevel::Error,
        ..LintDiagnostic::default()
    })
}

/// One JSON object per line.
pub(super) fn clippy(stdout: &str) -> ParsedDiagnostics {
    let mut diagnostics = Vec::new();
    for line in stdout.lines().filter(|line| line.starts_with('{')) {
        let line = json(line)?;
        let Some(it) = line.pointer("/message").filter(|it| it.is_object()) else { continue };
        let spans = it.pointer("/spans").and_then(Value::as_array);
        let is_main = |span: &&Value| span.pointer("/is_primary") == Some(&Value::Bool(true));
        let Some(span) = spans.into_iter().flatten().find(is_main) else { continue };
        let children = it.pointer("/children").and_then(Value::as_array);
        let help = children
            .into_iter()
            .flatten()
            .find(|it| string(it, "/level").as_deref() == Some("help"));
        diagnostics.push(LintDiagnostic {
            code: string(it, "/code/code").unwrap_or_else(|| SYNTAX.to_owned()),
            message: string(it, "/message").unwrap_or_default(),
            fix: help.and_then(|it| string(it, "/message")),
            level: level(it, "/level"),
            ..diagnostic(span, "/file_name", "/line_start", "/line_end")
        });
    }
    // The same file is built more than once, as a library and for its tests.
    let mut seen = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        if !seen.iter().rev().take(MAX_LOOK_BACK).any(|other| *other == diagnostic) {
            seen.push(diagnostic);
        }
    }
    Ok(seen)
}

/// How many diagnostics are searched for a repeated one.
const MAX_LOOK_BACK: usize = 500;

pub(super) fn golangci_lint(stdout: &str) -> ParsedDiagnostics {
    let answer = stdout.lines().find(|line| line.starts_with('{')).unwrap_or_default();
    let answer = json(answer)?;
    if answer.pointer("/Issues") == Some(&Value::Null) {
        return Ok(Vec::new());
    }
    Ok(list(&answer, "/Issues")?
        .iter()
        .map(|it| LintDiagnostic {
            code: string(it, "/FromLinter").unwrap_or_default(),
            message: string(it, "/Text").unwrap_or_default(),
            ..diagnostic(it, "/Pos/Filename", "/Pos/Line", "/LineRange/To")
        })
        .collect())
}

pub(super) fn shellcheck(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "/comments")?
        .iter()
        .map(|it| {
            let code = format!("SC{}", number(it, "/code").unwrap_or_default());
            LintDiagnostic {
                url: Some(format!("https://www.shellcheck.net/wiki/{code}")),
                code,
                level: level(it, "/level"),
                ..diagnostic(it, "/file", "/line", "/endLine")
            }
        })
        .collect())
}

pub(super) fn semgrep(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "/results")?
        .iter()
        .map(|it| LintDiagnostic {
            code: string(it, "/check_id").unwrap_or_default(),
            message: string(it, "/extra/message").unwrap_or_default(),
            fix: string(it, "/extra/fix").map(|fix| format!("Write `{}`.", fix.trim())),
            url: string(it, "/extra/metadata/references/0"),
            level: level(it, "/extra/severity"),
            category: match string(it, "/extra/metadata/category").as_deref() {
                Some("security") => Some(Category::Security),
                Some("performance") => Some(Category::Performance),
                _ => None,
            },
            ..diagnostic(it, "/path", "/start/line", "/end/line")
        })
        .collect())
}

pub(super) fn hadolint(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "")?
        .iter()
        .map(|it| {
            let code = string(it, "/code").unwrap_or_default();
            LintDiagnostic {
                // DL1000 is a parse error.
                code: if code == "DL1000" { SYNTAX.to_owned() } else { code },
                level: level(it, "/level"),
                ..diagnostic(it, "/file", "/line", "/line")
            }
        })
        .collect())
}

pub(super) fn actionlint(stdout: &str) -> ParsedDiagnostics {
    Ok(list(&json(stdout)?, "")?
        .iter()
        .map(|it| LintDiagnostic {
            code: string(it, "/kind").unwrap_or_default(),
            ..diagnostic(it, "/filepath", "/line", "/line")
        })
        .collect())
}

/// The location and message, which most formats store in the same way.
fn diagnostic(it: &Value, file: &str, line: &str, end_line: &str) -> LintDiagnostic {
    let line = number(it, line);
    LintDiagnostic {
        file: string(it, file).unwrap_or_default(),
        lines: line.into_iter().collect(),
        end_line: number(it, end_line).or(line).unwrap_or_default(),
        message: string(it, "/message").unwrap_or_default(),
        ..LintDiagnostic::default()
    }
}

fn json(text: &str) -> Result<Value, LintParseError> {
    serde_json::from_str(text.trim()).map_err(|_| LintParseError::NoJson)
}

fn list<'v>(value: &'v Value, pointer: &str) -> Result<&'v [Value], LintParseError> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or(LintParseError::OtherJson)
}

fn string(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

fn number(value: &Value, pointer: &str) -> Option<u32> {
    value.pointer(pointer)?.as_u64().and_then(|number| u32::try_from(number).ok())
}

fn level(value: &Value, pointer: &str) -> LintLevel {
    match string(value, pointer).unwrap_or_default().to_lowercase().as_str() {
        "error" | "fatal" => LintLevel::Error,
        "info" | "information" | "style" | "note" | "hint" => LintLevel::Note,
        _ => LintLevel::Warning,
    }
}
