//! Finds names that a file certainly binds, by its syntax tree, to refute claims that they are
//! missing. Only names that the code at a line can certainly see count; a parameter, a local, a
//! variable that may be unset, or a conditional definition does not.

use super::definition::{Definition, DefinitionKind, DefinitionRole};
use super::imports::{Import, ImportGuard, ImportedItem};
use super::outline::FileOutline;
use crate::parsed::parsed;
use mala_domain::agent::claims::NameBindings;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::language::Language;
use mala_domain::ports::Side;
use mala_domain::review::ReviewContext;

/// The names that the files of a review bind at head.
pub struct HeadBindings<'c> {
    context: &'c ReviewContext,
}

impl<'c> HeadBindings<'c> {
    /// The names in the files of this review.
    pub fn of(context: &'c ReviewContext) -> Self {
        Self { context }
    }
}

impl NameBindings for HeadBindings<'_> {
    fn line_of(&self, file: &FilePath, name: &str, cited: LineSpan) -> Option<u32> {
        let text = self.context.texts.at_head(file)?;
        let parsed = parsed(self.context, Side::Head, file)?;
        binding(parsed.outline(), text, name, cited)
    }
}

fn binding(outline: &FileOutline, text: &str, name: &str, cited: LineSpan) -> Option<u32> {
    // A preprocessor may remove code that the tree contains.
    if matches!(outline.language, Language::C | Language::Cpp) || shadowed(outline, name, cited) {
        return None;
    }
    // A later definition exists when a function runs, but not for the lines above it.
    let in_function = outline.enclosing(cited.start()).is_some_and(|it| it.kind.is_callable());
    let imported = outline.imports.iter().filter(|import| imports(import, name));
    let defined = outline.definitions.iter().filter(|definition| defines(definition, name));
    imported
        .map(|import| (import.line, import.statement_line))
        .chain(defined.map(|definition| (definition.name_line, definition.span.start())))
        .filter(|(line, _)| !cited.contains(*line) && (in_function || *line < cited.start()))
        .find(|(_, statement)| is_unconditional(text, *statement))
        .map(|(line, _)| line)
}

fn imports(import: &Import, name: &str) -> bool {
    import.local == name
        && import.scope.is_none()
        && import.guard == ImportGuard::None
        && import.imported != ImportedItem::All
}

fn defines(definition: &Definition, name: &str) -> bool {
    definition.name == name
        && definition.is_top_level()
        && definition.role == DefinitionRole::Defines
        && definition.kind != DefinitionKind::Variable
        && !definition.decorators.iter().any(|decorator| decorator.starts_with("cfg"))
}

/// Whether the function around the lines has its own binding of this name.
fn shadowed(outline: &FileOutline, name: &str, cited: LineSpan) -> bool {
    let Some(around) = outline.enclosing(cited.start()) else { return false };
    outline.definitions.iter().any(|definition| {
        definition.name == name
            && !definition.is_top_level()
            && around.span.contains(definition.name_line)
    })
}

/// Whether a statement is not indented, and not behind a conditional-compilation attribute.
fn is_unconditional(text: &str, line: u32) -> bool {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let before = index.checked_sub(1).and_then(|before| text.lines().nth(before));
    let conditional = before.is_some_and(|before| before.trim_start().starts_with("#[cfg"));
    let own = text.lines().nth(index);
    !conditional && own.is_some_and(|own| !own.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::ParsedFile;

    #[track_caller]
    fn check(file: &str, text: &str, rows: &[(&str, u32, Option<u32>)]) {
        let language = Language::of(&file.into(), text);
        let parsed = language.and_then(|language| ParsedFile::of(language, text));
        for (name, cited, expected) in rows {
            let lines = LineSpan::line(*cited);
            let found = parsed.as_ref().and_then(|it| binding(it.outline(), text, name, lines));
            assert_eq!(found, *expected, "{file}: {name} at {cited}");
        }
    }

    #[test]
    fn only_what_the_lines_surely_have_is_there() {
        check(
            "a.py",
            "import os\nfrom a import join as j, split\ntry:\n    import fast\nexcept ImportError:\n    pass\n\ndef other(config):\n    inner = 1\n    return config\n\ndef main():\n    return helper(config)\n\ndef helper(x):\n    return x\n\nLATE = helper(os)\nlate()\ndef late():\n    pass\n",
            &[
                ("os", 13, Some(1)),
                ("split", 13, Some(2)),
                ("j", 13, Some(2)),
                ("join", 13, None),
                ("a", 13, None),
                ("fast", 13, None),
                ("config", 13, None),
                ("inner", 13, None),
                ("helper", 13, Some(15)),
                ("late", 19, None),
                ("late", 13, Some(20)),
                ("os", 1, None),
            ],
        );
        check(
            "a.js",
            "import { sum } from './sum';\nconst total = sum(prices);\nlet user;\nfunction login() { return user.id; }\nconst { a } = load();\nmodule.exports = { total };\n",
            &[
                ("prices", 2, None),
                ("sum", 2, Some(1)),
                ("total", 2, None),
                ("user", 4, None),
                ("login", 6, Some(4)),
            ],
        );
        check(
            "a.rs",
            "use std::io;\n#[cfg(test)]\nuse std::fs;\nconst LIMIT: u32 = 3;\npub async fn run() { io::x(LIMIT) }\nmod m { pub fn deep() {} }\n",
            &[
                ("io", 5, Some(1)),
                ("fs", 5, None),
                ("run", 6, Some(5)),
                ("deep", 5, None),
                ("std", 5, None),
            ],
        );
        check("a.txt", "import os\n", &[("os", 9, None)]);
        check("b.py", "", &[("os", 9, None)]);
    }
}
