//! The first line of a script, `#!INTERPRETER`, and the language of what it starts.

use super::Language;

/// Maximum length of a `#!` line; kernels read no further.
const MAX_LENGTH: usize = 256;

/// The language of the program in a `#!` line.
pub(super) fn language(line: &str) -> Option<Language> {
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
    fn the_interpreter_tells_the_language() {
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
            assert_eq!(language(line), expected, "{line}");
        }
        assert_eq!(language(&format!("#!{}/python", "/x".repeat(200))), None);
    }
}
