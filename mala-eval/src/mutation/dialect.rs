//! The syntax of each language, as far as node names differ.

use mala_domain::language::Language;

/// The node names and tokens of a language.
#[derive(Debug)]
pub(super) struct LanguageTraits {
    /// Nodes with a condition and a body.
    pub(super) ifs: &'static [&'static str],
    /// Statements that leave a guard.
    pub(super) exits: &'static [&'static str],
    /// Functions of every kind.
    pub(super) functions: &'static [&'static str],
    /// The negation operator.
    pub(super) not: &'static str,
    /// The suffix that subtracts one.
    pub(super) less_one: &'static str,
    /// Whether a compiler checks types.
    pub(super) is_typed: bool,
}

const PYTHON: LanguageTraits = LanguageTraits {
    ifs: &["if_statement"],
    exits: &["return_statement", "raise_statement", "continue_statement"],
    functions: &["function_definition"],
    not: "not ",
    less_one: " - 1",
    is_typed: false,
};

const JAVASCRIPT: LanguageTraits = LanguageTraits {
    ifs: &["if_statement"],
    exits: &["return_statement", "throw_statement", "continue_statement"],
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function_declaration",
    ],
    not: "!",
    less_one: " - 1",
    is_typed: false,
};

const TYPESCRIPT: LanguageTraits = LanguageTraits { is_typed: true, ..JAVASCRIPT };

const GO: LanguageTraits = LanguageTraits {
    ifs: &["if_statement"],
    exits: &["return_statement", "continue_statement"],
    functions: &["function_declaration", "method_declaration", "func_literal"],
    not: "!",
    less_one: "-1",
    is_typed: true,
};

const RUST: LanguageTraits = LanguageTraits {
    ifs: &["if_expression"],
    exits: &["return_expression", "continue_expression"],
    functions: &["function_item"],
    not: "!",
    less_one: " - 1",
    is_typed: true,
};

const JAVA: LanguageTraits = LanguageTraits {
    ifs: &["if_statement"],
    exits: &["return_statement", "throw_statement", "continue_statement"],
    functions: &["method_declaration", "constructor_declaration"],
    not: "!",
    less_one: " - 1",
    is_typed: true,
};

impl LanguageTraits {
    /// The traits of this language; `None` if defects cannot be planted into it.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        Some(match language {
            Language::Python => &PYTHON,
            Language::JavaScript => &JAVASCRIPT,
            Language::TypeScript | Language::Tsx => &TYPESCRIPT,
            Language::Go => &GO,
            Language::Rust => &RUST,
            Language::Java => &JAVA,
            _ => return None,
        })
    }
}
