//! Uses of members of classes and types: through the name of the type, through `self`, or because
//! no other definition has the member's name.

use super::FoldContext;
use super::resolved_uses::{ResolvedUse, is_shadowed};
use crate::cross_file::contract::Symbol;
use crate::cross_file::fit::CallReceiver;
use crate::cross_file::resolve::{
    Evidence, NameLink, WrittenPath, denotes, imports_of_module, same_family,
};
use crate::cross_file::user::UserFile;
use crate::cross_file::words::{is_of_a_standard_trait, says_enough};
use crate::symbols::{Definition, DefinitionKind, ImportedItem, SymbolUse, Visibility, parent};
use mala_domain::language::Language;

/// Receivers that are the object itself.
const OWN: [&str; 8] = ["self", "cls", "this", "Self", "super()", "super", "static", "parent"];

/// Base classes without members that matter.
const PLAIN_BASES: &[&str] = &[
    "object",
    "ABC",
    "Generic",
    "Protocol",
    "Exception",
    "BaseException",
    "ValueError",
    "RuntimeError",
    "TypeError",
    "KeyError",
    "Enum",
    "IntEnum",
    "StrEnum",
    "Flag",
    "IntFlag",
    "str",
    "int",
    "TypedDict",
    "NamedTuple",
    "Object",
    "Serializable",
    "Comparable",
    "Cloneable",
    "Error",
    "BaseModel",
    "RuntimeException",
    "StandardError",
    "ApplicationRecord",
    "JsonSerializable",
    "Send",
    "Sync",
    "Sized",
    "Clone",
    "Debug",
];

/// Why a use means a member of a type.
pub(super) fn resolved_use<'u>(
    context: &FoldContext<'_>,
    user: &'u UserFile,
    (symbol, container): (&Symbol, &str),
    found: &'u SymbolUse,
) -> Option<ResolvedUse<'u>> {
    if !same_family(user.outline.language, symbol.language)
        || is_loose_property(symbol)
        || may_inherit(context, symbol, container, 0)
    {
        return None;
    }
    let receiver = found.receiver.as_deref();
    let through_type = receiver.and_then(|receiver| {
        let link = names_type(context, user, (symbol, container), (receiver, found))?;
        Some(ResolvedUse { found, link, before: CallReceiver::Type })
    });
    through_type
        .or_else(|| {
            let link = of_known_type(context, user, (symbol, container), found)?;
            Some(ResolvedUse { found, link, before: CallReceiver::Object })
        })
        .or_else(|| {
            let link = through_itself(context, user, (symbol, container), found)?;
            Some(ResolvedUse { found, link, before: CallReceiver::Object })
        })
        .or_else(|| {
            let link = only_one(context, user, (symbol, container), found)?;
            Some(ResolvedUse { found, link, before: CallReceiver::Object })
        })
}

/// A property that JavaScript assigns to some object may be set anywhere else.
fn is_loose_property(symbol: &Symbol) -> bool {
    matches!(symbol.language, Language::JavaScript | Language::TypeScript | Language::Tsx)
        && symbol.kind == DefinitionKind::Variable
}

/// Why a receiver names the type: `Type.member`, `module.Type.member`.
fn names_type(
    context: &FoldContext<'_>,
    user: &UserFile,
    (symbol, container): (&Symbol, &str),
    (receiver, found): (&str, &SymbolUse),
) -> Option<NameLink> {
    if is_shadowed(user, symbol, found) || provided_by_trait(context, symbol) {
        return None;
    }
    let inner: Vec<&str> = container.split('.').collect();
    let (outermost, nested) = inner.split_first()?;
    let path: Vec<&str> = receiver.split('.').collect();
    let prefix = path.strip_suffix(nested)?;
    let owner = Symbol { name: (*outermost).to_owned(), container: None, ..symbol.clone() };
    let written = WrittenPath { path: prefix, scope: found.within.as_deref() };
    denotes(context.tree, user, &owner, written)
}

/// The evidence that the object before the dot is of the type: its declaration.
fn of_known_type(
    context: &FoldContext<'_>,
    user: &UserFile,
    (symbol, container): (&Symbol, &str),
    found: &SymbolUse,
) -> Option<NameLink> {
    let written = found.receiver_type.as_deref()?;
    let of_kind = symbol.kind == DefinitionKind::Method && found.call.is_some();
    if !of_kind || container.contains('.') || may_be_promoted(context, symbol, container) {
        return None;
    }
    if context.is_assigned(&symbol.name) && symbol.language != Language::Go {
        return None;
    }
    let path: Vec<&str> = written.split('.').collect();
    let has_own = user.path != symbol.file
        && user.outline.definitions.iter().any(|it| it.name == container && it.kind.is_type());
    if has_own {
        return None;
    }
    let owner = Symbol { name: container.to_owned(), container: None, ..symbol.clone() };
    denotes(context.tree, user, &owner, WrittenPath { path: &path, scope: found.within.as_deref() })
}

/// Whether a type may have the member from elsewhere: Go's embedded types, Rust's traits.
fn may_be_promoted(context: &FoldContext<'_>, symbol: &Symbol, container: &str) -> bool {
    match symbol.language {
        Language::Go => {
            let types: Vec<&Definition> =
                context.definers(container).into_iter().filter(|it| it.kind.is_type()).collect();
            types.is_empty() || types.iter().any(|it| !it.bases.is_empty())
        }
        Language::Rust => {
            let derefs = context.definers("deref").iter().any(|it| {
                it.container.as_deref().is_some_and(|c| c.rsplit('.').next() == Some(container))
            });
            derefs
                || is_of_a_standard_trait(&symbol.name)
                || !context.saw_all(&symbol.name)
                || context.has_other(symbol)
        }
        _ => false,
    }
}

/// Whether a Rust trait may provide the removed member.
fn provided_by_trait(context: &FoldContext<'_>, symbol: &Symbol) -> bool {
    symbol.language == Language::Rust && context.has_other(symbol)
}

/// Why the receiver, which is `self` or implicit, is an object of the type.
fn through_itself(
    context: &FoldContext<'_>,
    user: &UserFile,
    (symbol, container): (&Symbol, &str),
    found: &SymbolUse,
) -> Option<NameLink> {
    let own_receiver = found.receiver.as_deref().is_some_and(|receiver| OWN.contains(&receiver));
    let bare = found.receiver.is_none()
        && found.call.is_some()
        && symbol.language == Language::Java
        && !is_shadowed(user, symbol, found)
        && !is_imported(user, &found.name);
    let unseen = symbol.visibility == Visibility::Exported && !context.saw_all(&symbol.name);
    // A base class may set a member that the class only declared.
    let is_set = !symbol.kind.is_callable() && context.is_assigned(&symbol.name);
    if !(own_receiver || bare)
        || unseen
        || is_set
        || provided_by_trait(context, symbol)
        || may_be_filled_in(context, symbol)
    {
        return None;
    }
    let owner = found.owner.as_deref()?;
    let class = container.rsplit('.').next().unwrap_or_default();
    let is_super = found.receiver.as_deref().is_some_and(|receiver| receiver.starts_with("super"));
    if user.path == symbol.file && owner == class && !is_super {
        return Some(NameLink::in_scope());
    }
    let definition =
        user.outline.definitions.iter().find(|d| d.name == owner && d.kind.is_type())?;
    let owner_symbol = Symbol { name: class.to_owned(), container: None, ..symbol.clone() };
    let [base] = definition.bases.as_slice() else { return None };
    let written = WrittenPath { path: &[base.as_str()], scope: None };
    let inherits = !container.contains('.') && *base == class;
    let has_own = user.outline.definitions.iter().any(|d| {
        d.name == symbol.name && d.container.as_deref().is_some_and(|c| c.ends_with(owner))
    });
    (inherits && !has_own).then(|| denotes(context.tree, user, &owner_symbol, written)).flatten()
}

/// Whether a static import may provide an unqualified name: by itself, or with all members of a
/// class.
fn is_imported(user: &UserFile, name: &str) -> bool {
    user.outline.imports.iter().any(|import| {
        let of_class = import.imported == ImportedItem::All
            && import
                .module
                .rsplit('.')
                .next()
                .is_some_and(|it| it.starts_with(char::is_uppercase));
        import.local == name || of_class
    })
}

/// Whether a subclass defines the member: an abstract class may call members that only its
/// subclasses have.
fn may_be_filled_in(context: &FoldContext<'_>, symbol: &Symbol) -> bool {
    let definers = context.definers(&symbol.name);
    definers.iter().filter_map(|definition| definition.container.as_deref()).any(|container| {
        let class = container.rsplit('.').next().unwrap_or_default();
        let classes = context.definers(class);
        classes.is_empty()
            || classes.iter().any(|it| it.bases.iter().any(|b| !PLAIN_BASES.contains(&b.as_str())))
    })
}

/// Whether a class may have the member from a base class, as far as can be seen.
fn may_inherit(context: &FoldContext<'_>, symbol: &Symbol, class: &str, depth: usize) -> bool {
    const MAX_DEPTH: usize = 4;
    if matches!(symbol.language, Language::Go | Language::Rust)
        || symbol.kind == DefinitionKind::Constant
    {
        return false;
    }
    if depth >= MAX_DEPTH {
        return true;
    }
    let name = class.rsplit('.').next().unwrap_or_default();
    let own_file = context.tree.outlines.get(symbol.file.as_str());
    let classes: Vec<&Definition> = context
        .tree
        .outlines
        .iter()
        .filter(|(path, _)| depth > 0 || own_file.is_none() || **path == symbol.file)
        .flat_map(|(_, outline)| &outline.definitions)
        .filter(|definition| definition.name == name && definition.kind != DefinitionKind::Method)
        .collect();
    if classes.is_empty() {
        return depth > 0;
    }
    classes.iter().flat_map(|class| &class.bases).any(|base| {
        let base = base.rsplit('.').next().unwrap_or_default();
        !PLAIN_BASES.contains(&base)
            && (has_member(context, base, &symbol.name)
                || may_inherit(context, symbol, base, depth + 1))
    })
}

fn has_member(context: &FoldContext<'_>, class: &str, member: &str) -> bool {
    context.tree.outlines.values().flat_map(|outline| &outline.definitions).any(|definition| {
        definition.name == member
            && definition
                .container
                .as_deref()
                .is_some_and(|container| container.rsplit('.').next() == Some(class))
    })
}

/// Nothing at head has a member of this name, and the file has to do with the type.
fn only_one(
    context: &FoldContext<'_>,
    user: &UserFile,
    (symbol, container): (&Symbol, &str),
    found: &SymbolUse,
) -> Option<NameLink> {
    let receiver = found.receiver.as_deref()?;
    let says_which = symbol.kind == DefinitionKind::Method
        && found.call.is_some()
        && context.saw_all(&symbol.name)
        && says_enough(&symbol.name)
        && !OWN.contains(&receiver);
    let class = container.rsplit('.').next().unwrap_or_default();
    let last = receiver.rsplit('.').next().unwrap_or_default();
    let of_another_type = last.starts_with(char::is_uppercase) && last != class;
    let declared = found.receiver_type.as_deref().and_then(|it| it.rsplit('.').next());
    let is_declared_other = declared.is_some_and(|it| it != class);
    // In Go, every expression has a type; where it is unknown here, only a similar name is
    // evidence.
    let is_unlike = symbol.language == Language::Go
        && declared.is_none()
        && !class.to_lowercase().contains(&last.to_lowercase());
    let is_other = of_another_type || is_declared_other || is_unlike;
    if !says_which || is_other || context.has_other(symbol) {
        return None;
    }
    let owner = Symbol { name: class.to_owned(), container: None, ..symbol.clone() };
    let written = WrittenPath { path: &[class], scope: None };
    let is_imported = user.outline.imports.iter().any(|import| import.local == class);
    // Java's imports name the class itself; those of other languages may lead through another module.
    let is_exact = symbol.language == Language::Java;
    if is_imported && is_exact && denotes(context.tree, user, &owner, written).is_none() {
        return None;
    }
    let mentions = is_imported
        || user.uses.iter().any(|one| one.name == class)
        || user.outline.imports.iter().any(|import| import.name() == Some(class));
    let near = matches!(symbol.language, Language::Go | Language::Java)
        && parent(&user.path) == parent(&symbol.file);
    let related = mentions
        || near
        || user.path == symbol.file
        || !imports_of_module(context.tree, user, symbol).is_empty();
    related.then_some(NameLink { evidence: Evidence::OnlyOne, ..NameLink::in_scope() })
}
