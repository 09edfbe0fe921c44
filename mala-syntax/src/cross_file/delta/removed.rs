//! Definitions that a file no longer has.

use super::{FileDelta, OutlineSide};
use crate::cross_file::contract::{Broken, Contract, Symbol};
use crate::cross_file::words::is_built_in;
use crate::source::Source;
use crate::symbols::{
    Definition, DefinitionKind, DefinitionRole, FileOutline, ImportReach, ImportedItem, Openness,
    SymbolUse, UseBinding, UseKind, Visibility, uses,
};
use mala_domain::language::Language;
use std::collections::{HashMap, HashSet};

/// The definitions of `base` that are gone at head.
pub(super) fn contracts(
    delta: &FileDelta,
    base: &OutlineSide<'_>,
    head: Option<&OutlineSide<'_>>,
    head_source: Option<&Source>,
) -> Vec<Contract> {
    let gone = gone(base, head);
    let names: Vec<&str> = gone.iter().map(|definition| definition.name.as_str()).collect();
    let at_head = head_source.map(|source| by_name(uses(source, &names))).unwrap_or_default();
    let unsure = head_source.filter(|source| source.tree().root_node().has_error());
    let unsure = unsure.map(|source| words(source.text())).unwrap_or_default();
    let includes = head_source.is_some_and(|source| includes_files(source.text()));
    let shared = head_source.filter(|source| is_script(source.language()));
    let quoted = shared.map(|source| quoted(source.text())).unwrap_or_default();
    let keys = shared.map(|source| keys(source.text())).unwrap_or_default();
    let shared = shared.map(set_for_others).unwrap_or_default();
    let writes_accessors = head_source.is_some_and(imports_lombok);
    let fresh = head.map(|head| AddedDefinitions::of(base, head));
    let mut found: Vec<Contract> = gone
        .into_iter()
        .filter(|definition| {
            let uses = at_head.get(&definition.name).map(Vec::as_slice).unwrap_or_default();
            !head.is_some_and(|head| stays(definition, base, head, uses))
        })
        .filter(|definition| !unsure.contains(definition.name.as_str()))
        // The scope of a macro depends on `#[macro_use]` and its position in the text.
        .filter(|definition| definition.kind != DefinitionKind::Macro)
        .filter(|definition| {
            definition.container.is_some()
                || !includes && !shared.contains(definition.name.as_str())
        })
        .filter(|definition| !quoted.contains(definition.name.as_str()))
        .filter(|it| it.container.is_none() || !keys.contains(it.name.as_str()))
        .filter(|definition| !(writes_accessors && is_accessor(definition)))
        .filter(|definition| !(is_reshaped(delta, base.outline) && is_exported(base, definition)))
        .map(|definition| {
            let successor = fresh.as_ref().and_then(|fresh| fresh.successor(definition));
            let symbol = delta.symbol(base.outline, Some(definition));
            Contract { symbol, broken: Broken::Removed { successor, moved_to: None } }
        })
        .collect();
    let lost = lost_exports(delta, base.outline, &found).into_iter();
    found.extend(lost.filter(|contract| {
        let name = contract.symbol.name.as_str();
        !shared.contains(name) && !quoted.contains(name)
    }));
    found
}

/// Lombok's annotations write the methods that a class no longer spells out.
fn imports_lombok(source: &Source) -> bool {
    source.language() == Language::Java && source.text().contains("lombok")
}

fn is_accessor(definition: &Definition) -> bool {
    const STARTS: [&str; 4] = ["get", "set", "is", "with"];
    const NAMES: [&str; 6] = ["builder", "toBuilder", "toString", "equals", "hashCode", "of"];
    let name = definition.name.as_str();
    definition.container.is_some()
        && (NAMES.contains(&name) || STARTS.iter().any(|start| name.starts_with(start)))
}

fn by_name(uses: Vec<SymbolUse>) -> HashMap<String, Vec<SymbolUse>> {
    let mut found: HashMap<String, Vec<SymbolUse>> = HashMap::new();
    for one in uses {
        found.entry(one.name.clone()).or_default().push(one);
    }
    found
}

/// The definitions at base that head does not have; of a removed class, only the class.
fn gone<'a>(base: &OutlineSide<'a>, head: Option<&OutlineSide<'_>>) -> Vec<&'a Definition> {
    let is_gone = |qualified: &str| head.is_none_or(|head| head.all(qualified).is_empty());
    let imported: HashSet<&str> =
        base.outline.imports.iter().map(|import| import.local.as_str()).collect();
    let mut seen = HashSet::new();
    base.outline
        .definitions
        .iter()
        .filter(|definition| definition.visibility != Visibility::Local)
        .filter(|definition| definition.role == DefinitionRole::Defines && definition.name != "_")
        .filter(|definition| {
            definition.container.is_some() || !is_built_in(&definition.name, base.outline.language)
        })
        .filter(|definition| !imported.contains(definition.name.as_str()))
        .filter(|definition| !is_anonymous_test(definition, base.outline.language))
        .filter(|definition| {
            let qualified = definition.qualified();
            let container = definition.container.as_deref();
            let container_gone = container
                .is_some_and(|container| !base.all(container).is_empty() && is_gone(container));
            is_gone(&qualified) && !container_gone && seen.insert(qualified)
        })
        .collect()
}

/// Only the test runner calls test functions.
fn is_anonymous_test(definition: &Definition, language: Language) -> bool {
    let name = &definition.name;
    let by_name = match language {
        Language::Python => name.starts_with("test_"),
        Language::Go => {
            ["Test", "Benchmark", "Example", "Fuzz"].iter().any(|p| name.starts_with(p))
        }
        _ => false,
    };
    let callable = definition.kind.is_callable();
    callable && (by_name || definition.decorators.iter().any(|on| on == "test" || on == "Test"))
}

/// Names by which a class answers to any name.
const CATCH_ALL: [&str; 6] =
    ["__getattr__", "__getattribute__", "method_missing", "__call", "__get", "__callStatic"];

/// Whether the name is still there at head in another form.
fn stays(
    definition: &Definition,
    base: &OutlineSide<'_>,
    head: &OutlineSide<'_>,
    at_head: &[SymbolUse],
) -> bool {
    let outline = head.outline;
    let Some(container) = &definition.container else {
        return head.bound.contains(definition.name.as_str())
            || outline.openness == Openness::Open
            || passes_all_on(outline)
            || at_head.iter().any(|u| u.kind == UseKind::Binds && u.binding == UseBinding::AtTop)
            || is_in_own_module(definition, outline);
    };
    // A derive may replace a handwritten implementation.
    let on = |side: &OutlineSide<'_>| {
        side.all(container).first().map(|holder| holder.decorators.clone())
    };
    let catches_all =
        || CATCH_ALL.iter().any(|name| !head.all(&format!("{container}.{name}")).is_empty());
    // An object may have become an instance of a class with the same methods.
    outline.in_macros.contains(&definition.name)
        || gains_a_base(container, base, head)
        || is_made_otherwise(container, base, head)
        || is_script(outline.language)
            && outline.definitions.iter().any(|it| it.name == definition.name)
        || at_head.iter().any(|u| u.kind == UseKind::AssignsMember)
        || catches_all()
        || outline.language == Language::Rust && on(base) != on(head)
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

/// Whether a build puts other files into a script: `//=include a.js`.
fn includes_files(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        line.starts_with("//=include")
            || line.starts_with("//= include")
            || line.starts_with("//= require")
    })
}

/// Objects whose members a script shares with other scripts.
const SHARED: [&str; 6] =
    ["module.exports.", "exports.", "global.", "globalThis.", "window.", "self."];

/// The names that a script sets for other scripts: `name = …` without a declaration, `global.name =
/// …`, `exports.name = …`.
fn set_for_others(source: &Source) -> HashSet<&str> {
    let assigned = |line: &str| {
        let end = line.find(|c| !is_part_of_name(c))?;
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start().strip_prefix('=')?;
        (!rest.starts_with(['=', '>'])).then_some(name.len())
    };
    let of_shared =
        |line: &'_ str| SHARED.iter().find(|it| line.starts_with(**it)).map_or(0, |it| it.len());
    let lines = source.text().lines().map(str::trim_start);
    let lines = lines.filter_map(|line| line.get(of_shared(line)..));
    lines.filter_map(|line| line.get(..assigned(line)?)).collect()
}

/// The names in quotes: a list of them may be the names that a script re-exports.
fn quoted(text: &str) -> HashSet<&str> {
    let is_name = |word: &&str| !word.is_empty() && word.chars().all(is_part_of_name);
    text.split(['\'', '"']).filter(is_name).collect()
}

/// The words before colons at the start of lines: a member that was a function may have become a
/// value.
fn keys(text: &str) -> HashSet<&str> {
    let lines = text.lines().map(str::trim_start);
    let keyed = lines.filter_map(|line| {
        let (name, rest) = line.split_at(line.find(|c| !is_part_of_name(c))?);
        rest.trim_start().starts_with([':', '?']).then_some(name)
    });
    keyed.filter(|name| !name.is_empty()).collect()
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Whether a Rust file defines the name in an inner module and imports all its names: `use m::*`.
fn is_in_own_module(definition: &Definition, head: &FileOutline) -> bool {
    head.language == Language::Rust
        && head.imports.iter().any(|import| import.imported == ImportedItem::All)
        && head.definitions.iter().any(|it| it.name == definition.name)
}

/// Whether members may come from elsewhere: the class extends, or the object spreads, one more.
fn gains_a_base(container: &str, base: &OutlineSide<'_>, head: &OutlineSide<'_>) -> bool {
    let before: HashSet<&String> = base.all(container).iter().flat_map(|it| &it.bases).collect();
    head.all(container).iter().flat_map(|it| &it.bases).any(|it| !before.contains(it))
}

/// Whether a class is no longer written as a class: `Runner = make("Runner", Base)`.
fn is_made_otherwise(container: &str, base: &OutlineSide<'_>, head: &OutlineSide<'_>) -> bool {
    let kind = |side: &OutlineSide<'_>| side.all(container).first().map(|holder| holder.kind);
    kind(base) == Some(DefinitionKind::Class)
        && kind(head).is_some_and(|kind| kind != DefinitionKind::Class)
}

/// Whether a file passes on all names of another, among which any name may be.
fn passes_all_on(outline: &FileOutline) -> bool {
    outline.imports.iter().any(|import| {
        import.imported == ImportedItem::All
            && (outline.language == Language::Python || import.reach == ImportReach::PassedOn)
    }) || outline.exports.iter().any(|export| export.name == "*")
}

/// The definitions at head that base does not have.
struct AddedDefinitions<'a> {
    by_fingerprint: HashMap<(DefinitionKind, Option<&'a str>, u64), &'a Definition>,
    by_place: HashMap<(DefinitionKind, Option<&'a str>), Vec<&'a Definition>>,
}

impl<'a> AddedDefinitions<'a> {
    fn of(base: &OutlineSide<'_>, head: &OutlineSide<'a>) -> Self {
        let mut fresh = Self { by_fingerprint: HashMap::new(), by_place: HashMap::new() };
        for definition in &head.outline.definitions {
            if !base.all(&definition.qualified()).is_empty() {
                continue;
            }
            let place = (definition.kind, definition.container.as_deref());
            fresh.by_fingerprint.insert((place.0, place.1, definition.fingerprint), definition);
            fresh.by_place.entry(place).or_default().push(definition);
        }
        fresh
    }

    /// The new name of a definition at base.
    fn successor(&self, definition: &Definition) -> Option<String> {
        let place = (definition.kind, definition.container.as_deref());
        let twin = self.by_fingerprint.get(&(place.0, place.1, definition.fingerprint));
        let lone = || match self.by_place.get(&place)?.as_slice() {
            [only] if looks_alike(&only.name, &definition.name) => Some(only),
            _ => None,
        };
        twin.or_else(lone).map(|other| other.name.clone())
    }
}

/// Whether two names share most of their letters.
fn looks_alike(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let common_end = a.bytes().rev().zip(b.bytes().rev()).take_while(|(x, y)| x == y).count();
    let longest = a.len().max(b.len());
    2 * common.max(common_end) >= longest
}

/// Names that a JavaScript file exported and exports no more, though it may still define them.
fn lost_exports(delta: &FileDelta, base: &FileOutline, found: &[Contract]) -> Vec<Contract> {
    let Some(head) = &delta.head else { return Vec::new() };
    if head.openness == Openness::Open || base.exports.is_empty() || passes_all_on(head) {
        return Vec::new();
    }
    if is_reshaped(delta, base) {
        return Vec::new();
    }
    let exported: HashSet<&str> = head.exports.iter().map(|export| export.name.as_str()).collect();
    let reported: HashSet<&str> =
        found.iter().map(|contract| contract.symbol.name.as_str()).collect();
    let kinds: HashMap<&str, DefinitionKind> =
        base.definitions.iter().map(|d| (d.name.as_str(), d.kind)).collect();
    base.exports
        .iter()
        .filter(|export| export.name != "*" && !exported.contains(export.name.as_str()))
        .filter(|export| !reported.contains(export.name.as_str()))
        .map(|export| Contract {
            symbol: Symbol {
                name: export.name.clone(),
                container: None,
                kind: kinds.get(export.local.as_str()).copied().unwrap_or(DefinitionKind::Variable),
                line: export.line,
                ..delta.symbol(base, None)
            },
            broken: Broken::Removed { successor: None, moved_to: None },
        })
        .collect()
}

/// Whether the members that a file exported are now those of a variable.
fn is_reshaped(delta: &FileDelta, base: &FileOutline) -> bool {
    delta.head.as_ref().is_some_and(exports_a_variable) && !exports_a_variable(base)
}

fn is_exported(base: &OutlineSide<'_>, definition: &Definition) -> bool {
    definition.container.is_none()
        && base.outline.exports.iter().any(|export| export.name == definition.name)
}

/// Whether a file exports only one variable: `module.exports = api`, whose members may be set
/// anywhere.
fn exports_a_variable(outline: &FileOutline) -> bool {
    let [only] = outline.exports.as_slice() else { return false };
    only.name == "default" && only.from.is_none() && only.local != "default"
}

fn words(text: &str) -> HashSet<&str> {
    text.split(|c| !is_part_of_name(c)).collect()
}
