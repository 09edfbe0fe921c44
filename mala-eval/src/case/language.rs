//! The word for the language of a case. TypeScript with markup in it has a grammar of its own, and is
//! TypeScript when cases are selected.

use mala_domain::language::Language;

/// The word that stands for a language in cases and in what they are chosen by.
pub fn word(written: &str) -> &str {
    match written.eq_ignore_ascii_case(Language::Tsx.name()) {
        true => Language::TypeScript.name(),
        false => written,
    }
}
