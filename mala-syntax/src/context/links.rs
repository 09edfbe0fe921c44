//! Decides whether a use of a name refers to a changed definition. The name alone is not enough: an
//! import, the package, the class or the type of the receiver must lead to the definition.

use super::ChangedSymbol;
use crate::symbols::{Import, ImportedItem, SymbolUse, parent, stands_for};
use mala_domain::change::FilePath;
use mala_domain::language::Language;

/// A file that may use changed definitions.
pub(super) struct UsingFile<'f> {
    pub(super) path: &'f FilePath,
    pub(super) language: Language,
    pub(super) imports: &'f [Import],
    pub(super) text: &'f str,
}

/// Receivers that mean the object itself.
const OWN_RECEIVERS: [&str; 5] = ["self", "cls", "this", "super", "Self"];

impl UsingFile<'_> {
    /// Whether a use in this file means the definition.
    pub(super) fn means(&self, one: &SymbolUse, symbol: &ChangedSymbol) -> bool {
        if !self.speaks_the_language_of(&symbol.file) {
            return false;
        }
        let owner = symbol.symbol.rsplit_once('.').map(|(owner, _)| last_part(owner));
        match (&one.receiver, owner) {
            (None, None) => self.reaches(&one.name, symbol),
            (None, Some(_)) => false,
            (Some(receiver), owner) => self.means_member(one, receiver, owner, symbol),
        }
    }

    fn means_member(
        &self,
        one: &SymbolUse,
        receiver: &str,
        owner: Option<&str>,
        symbol: &ChangedSymbol,
    ) -> bool {
        let first = receiver.split(['.', ':']).next().unwrap_or_default();
        if OWN_RECEIVERS.contains(&first) {
            return owner.is_some() && one.owner.as_deref().map(last_part) == owner;
        }
        if let (Some(known), Some(owner)) = (one.receiver_type.as_deref(), owner) {
            return last_part(known) == owner;
        }
        if let Some(import) = self.imports.iter().find(|import| import.local == first) {
            return self.leads_to(import, &symbol.file);
        }
        match owner {
            Some(owner) => {
                last_part(receiver) == owner
                    || has_word(self.text, owner)
                    || self.imports_file(symbol)
            }
            None => last_part(receiver) == stem(&symbol.file),
        }
    }

    /// Whether an unqualified name leads to a top-level definition of another file.
    fn reaches(&self, name: &str, symbol: &ChangedSymbol) -> bool {
        let named = self.imports.iter().find(|import| import.local == name);
        if let Some(import) = named {
            return self.leads_to(import, &symbol.file);
        }
        let is_beside = parent(&self.path.to_text()) == parent(&symbol.file.to_text());
        let shares_folder =
            matches!(self.language, Language::Go | Language::Java | Language::CSharp);
        let all = |import: &&Import| import.imported == ImportedItem::All;
        let through_all =
            self.imports.iter().filter(all).any(|import| self.leads_to(import, &symbol.file));
        let has_global_names =
            matches!(self.language, Language::C | Language::Cpp | Language::Ruby | Language::Php);
        (is_beside && shares_folder) || through_all || has_global_names
    }

    fn imports_file(&self, symbol: &ChangedSymbol) -> bool {
        self.imports.iter().any(|import| self.leads_to(import, &symbol.file))
    }

    /// Whether an import leads to a file: by the rules of the language where they are known, else by the
    /// name of the file or its folder.
    fn leads_to(&self, import: &Import, file: &FilePath) -> bool {
        let (importer, file) = (self.path.to_text(), file.to_text());
        match self.language {
            Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx => {
                stands_for(&importer, self.language, &import.module, &file)
                    || stands_for(&importer, self.language, &import.submodule(), &file)
            }
            _ => {
                let folder = last_part(parent(&file)).to_owned();
                let names = [import.module.as_str(), &import.local];
                let mut parts = names.iter().flat_map(|name| name.split(['/', '.', ':']));
                parts.any(|part| !part.is_empty() && (part == folder || part == stem_of(&file)))
            }
        }
    }

    fn speaks_the_language_of(&self, file: &FilePath) -> bool {
        let other = Language::of_path(file);
        other.is_some_and(|other| crate::cross_file::same_family(self.language, other))
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '/']).next().unwrap_or_default()
}

fn stem(file: &FilePath) -> String {
    stem_of(&file.to_text()).to_owned()
}

fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}

/// Whether a text contains a word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
