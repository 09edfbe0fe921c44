//! The tree-sitter grammar of each language, and how rule patterns are written in it.

use ast_grep_core::Language as PatternLanguage;
use ast_grep_core::matcher::{Pattern, PatternBuilder, PatternError};
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use mala_domain::language::Language;
use std::borrow::Cow;

/// A language with its grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grammar(pub Language);

/// Replaces `$` in patterns of languages whose identifiers cannot contain a dollar sign.
const STAND_IN: char = 'µ';

impl Grammar {
    /// The grammar itself.
    pub fn tree_sitter(self) -> tree_sitter::Language {
        match self.0 {
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Language::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Language::Php => tree_sitter_php::LANGUAGE_PHP.into(),
        }
    }

    fn takes_dollar_names(self) -> bool {
        matches!(
            self.0,
            Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Java
        )
    }
}

impl PatternLanguage for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        if self.takes_dollar_names() {
            return Cow::Borrowed(query);
        }
        Cow::Owned(replace_meta_variables(query))
    }

    fn expando_char(&self) -> char {
        if self.takes_dollar_names() { '$' } else { STAND_IN }
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.tree_sitter().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.tree_sitter().field_id_for_name(field).map(|id| id.get())
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|text| StrDoc::try_new(text, *self))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.tree_sitter()
    }
}

/// `$NAME`, `$$$NAME` and `$_` become names that the grammar reads; other dollar signs stay.
fn replace_meta_variables(query: &str) -> String {
    let mut out = String::with_capacity(query.len());
    let mut dollars = 0;
    for c in query.chars() {
        if c == '$' {
            dollars += 1;
            continue;
        }
        let names = dollars > 0 && (c.is_ascii_uppercase() || c == '_' || dollars == 3);
        out.extend(std::iter::repeat_n(if names { STAND_IN } else { '$' }, dollars));
        dollars = 0;
        out.push(c);
    }
    out.extend(std::iter::repeat_n(if dollars == 3 { STAND_IN } else { '$' }, dollars));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_variables_become_names_and_other_dollars_stay() {
        for (query, expected) in [
            ("f($A, $$$REST)", "f(µA, µµµREST)"),
            ("f($$$)", "f(µµµ)"),
            ("'$x'", "'$x'"),
            ("$_ == $_", "µ_ == µ_"),
        ] {
            assert_eq!(replace_meta_variables(query), expected);
        }
    }
}
