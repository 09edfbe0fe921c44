//! Programming languages, and how to recognize them by path or first line.

mod shebang;

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

    /// The language of a file by its extension or, if that is unknown, by the interpreter in its first line
    /// (`#!/usr/bin/env python3`).
    pub fn of(path: &FilePath, text: &str) -> Option<Self> {
        Self::of_path(path).or_else(|| Self::of_first_line(text.lines().next()?))
    }

    /// The language of the interpreter in a `#!` line.
    pub fn of_first_line(line: &str) -> Option<Self> {
        shebang::language(line)
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
