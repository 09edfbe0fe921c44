//! Decides which names to search for, and which are unambiguous by themselves. The lists are data:
//! names separated by white space.

use mala_domain::language::Language;

/// Names that are too common to be evidence.
const COMMON: &str = include_str!("words/common.txt");

/// Methods that types of a standard library have.
const STANDARD_METHODS: &str = include_str!("words/standard_methods.txt");

/// Methods of traits of Rust's standard library.
const STANDARD_TRAIT_METHODS: &str = include_str!("words/rust_trait_methods.txt");

/// The modules of Python's standard library that projects name files after.
const PYTHON_MODULES: &str = include_str!("words/python_modules.txt");

fn lists(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

/// Whether Python's standard library has the module.
pub(crate) fn is_standard_python(module: &str) -> bool {
    let first = module.split('.').next().unwrap_or_default();
    lists(PYTHON_MODULES, first)
}

/// Whether a name can be searched as a word.
pub(crate) fn can_be_searched(name: &str) -> bool {
    !is_short(name)
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'))
}

/// Whether a name is too short to search for.
pub(crate) fn is_short(name: &str) -> bool {
    const MIN_LENGTH: usize = 3;
    name.len() < MIN_LENGTH
}

/// Whether a name is too common to be evidence.
pub(crate) fn is_common(name: &str) -> bool {
    lists(COMMON, &name.to_ascii_lowercase())
}

/// Whether the language has a built-in of this name.
pub(crate) fn is_built_in(name: &str, language: Language) -> bool {
    let names = match language {
        Language::Python => include_str!("words/python_names.txt"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            include_str!("words/javascript_names.txt")
        }
        Language::Go => include_str!("words/go_names.txt"),
        Language::Rust => include_str!("words/rust_names.txt"),
        Language::Java => include_str!("words/java_names.txt"),
        _ => return false,
    };
    lists(names, name)
}

/// Whether a member's name alone identifies the member, if no other definition has it.
pub(crate) fn says_enough(name: &str) -> bool {
    const MIN_LENGTH: usize = 6;
    const LONG: usize = 12;
    let inner = name.trim_matches('_');
    let has_hump = inner
        .bytes()
        .zip(inner.bytes().skip(1))
        .any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    inner.len() >= MIN_LENGTH
        && (inner.contains('_') || has_hump || inner.len() >= LONG)
        && !name.starts_with("__")
        && !lists(STANDARD_METHODS, name)
}

/// Whether a type of Rust has the method as soon as it implements a trait of the standard library.
pub(crate) fn is_of_a_standard_trait(name: &str) -> bool {
    lists(STANDARD_TRAIT_METHODS, name)
}

/// The file names that code of this language has.
pub(crate) fn globs(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["*.py", "*.pyi", "*.pyx"],
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            &["*.ts", "*.tsx", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.mts", "*.cts"]
        }
        Language::Rust => &["*.rs"],
        Language::Go => &["*.go"],
        Language::Java => &["*.java"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_names_say_enough() {
        for name in ["compute_total", "parseHeader", "_load_cache", "recalculation"] {
            assert!(says_enough(name), "{name}");
        }
        for name in
            ["get", "parse", "is_empty", "get_ref", "toString", "__init__", "handler", "process"]
        {
            assert!(!says_enough(name), "{name}");
        }
    }
}
