//! Programming languages, and how to recognize them by path or first line.

use crate::change::FilePath;

/// A programming language, as named in findings and rule files.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Language {
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    Rust,
    Go,
    Java,
    C,
    Cpp,
    Ruby,
    CSharp,
    Php,
}

impl Language {
    /// All languages, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Rust,
        Self::Go,
        Self::Java,
        Self::C,
        Self::Cpp,
        Self::Ruby,
        Self::CSharp,
        Self::Php,
    ];

    /// The language of a file by its extension.
    pub fn of_path(path: &FilePath) -> Option<Self> {
        let extension = path.extension()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" => Self::JavaScript,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" | "h" => Self::C,
            "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::Cpp,
            "rb" | "rake" | "gemspec" => Self::Ruby,
            "cs" => Self::CSharp,
            "php" => Self::Php,
            _ => return None,
        })
    }

    /// The language of a file by its extension or, if that is unknown, by the interpreter in its
    /// first line (`#!/usr/bin/env python3`).
    pub fn of(path: &FilePath, text: &str) -> Option<Self> {
        Self::of_path(path).or_else(|| Self::of_first_line(text.lines().next()?))
    }

    /// The language of the interpreter in a `#!` line.
    pub fn of_first_line(line: &str) -> Option<Self> {
        interpreter_language(line)
    }

    /// The usual file extension.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Python => ".py",
            Self::JavaScript => ".js",
            Self::TypeScript => ".ts",
            Self::Tsx => ".tsx",
            Self::Rust => ".rs",
            Self::Go => ".go",
            Self::Java => ".java",
            Self::C => ".c",
            Self::Cpp => ".cpp",
            Self::Ruby => ".rb",
            Self::CSharp => ".cs",
            Self::Php => ".php",
        }
    }

    /// The language that a finding names: TypeScript with markup is TypeScript.
    pub fn reported(self) -> Self {
        match self {
            Self::Tsx => Self::TypeScript,
            other => other,
        }
    }

    /// The name in reports and rule files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
            Self::Tsx => "tsx",
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Ruby => "ruby",
            Self::CSharp => "csharp",
            Self::Php => "php",
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Maximum length of a `#!` line; kernels read no further.
const MAX_LENGTH: usize = 256;

/// The language of the program in a `#!` line.
fn interpreter_language(line: &str) -> Option<Language> {
    let command = line.strip_prefix("#!").filter(|command| command.len() <= MAX_LENGTH)?;
    let mut words = command.split_whitespace();
    let first = file_name(words.next()?);
    let program = if first == "env" { started_by_env(words)? } else { first };
    of_program(program)
}

/// The program in `env -S VARIABLE=value program`, after options and variables.
fn started_by_env<'w>(mut words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let word = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    Some(file_name(word))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn of_program(program: &str) -> Option<Language> {
    let is_version = |c: char| c.is_ascii_digit() || c == '.';
    Some(match program.trim_end_matches(is_version) {
        "python" | "pypy" | "uv" | "pipx" => Language::Python,
        "node" | "nodejs" => Language::JavaScript,
        "bun" | "deno" | "ts-node" | "tsx" => Language::TypeScript,
        "ruby" | "jruby" => Language::Ruby,
        "php" => Language::Php,
        "java" => Language::Java,
        "rust-script" => Language::Rust,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_determines_the_language() {
        for (line, expected) in [
            ("#!/usr/bin/python", Some(Language::Python)),
            ("#! /usr/bin/env python3", Some(Language::Python)),
            ("#!/usr/bin/env python3.12 -u", Some(Language::Python)),
            ("#!/usr/bin/env -S uv run --script", Some(Language::Python)),
            ("#!/usr/bin/env -S PYTHONUTF8=1 python3 -W error", Some(Language::Python)),
            ("#!/opt/pypy/bin/pypy3\r", Some(Language::Python)),
            ("#!/usr/bin/env node", Some(Language::JavaScript)),
            ("#!/usr/bin/env -S deno run --allow-net", Some(Language::TypeScript)),
            ("#!/usr/bin/ruby -w", Some(Language::Ruby)),
            ("#!/usr/bin/env php", Some(Language::Php)),
            ("#!/bin/bash", None),
            ("#!/usr/bin/env", None),
            ("#!", None),
            ("# !/usr/bin/env python3", None),
            ("python3", None),
            ("#!/usr/bin/pythonista", None),
        ] {
            assert_eq!(interpreter_language(line), expected, "{line}");
        }
        assert_eq!(interpreter_language(&format!("#!{}/python", "/x".repeat(200))), None);
    }
}
