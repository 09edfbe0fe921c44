//! Definitions, imports, exports and uses of a file, the declaration of every name, and the
//! function or class around a line. Each language is a table of node kinds; the walks are shared.

mod bindings;
mod definition;
mod enclosing_scopes;
mod file_scopes;
mod imports;
mod matches;
mod modules;
mod names;
mod outline;
mod parameters;
mod table;
mod uses;
mod walk;

pub use bindings::HeadBindings;
pub use definition::{
    Definition, DefinitionKind, DefinitionRole, FunctionParameter, ParameterPassing,
    ParameterPresence, Visibility,
};
pub(crate) use file_scopes::{DeclarationKind, FileScopes, ScopeVariable, WrittenValue};
pub use imports::{Import, ImportGuard, ImportReach, ImportedItem};
pub use matches::{RustMatch, rust_matches};
pub use modules::{
    RustModule, files_of_module, files_of_submodule, join, parent, stands_for,
    stands_for_in_package,
};
pub use outline::{EnclosingSymbol, Export, FileOutline, Openness, enclosing};
pub use uses::{ArgumentCount, CallPurpose, CallShape, SymbolUse, UseBinding, UseKind, uses};
pub use walk::{AncestorTrail, Descend, WalkStep, child_of_kind, named_children, walk, walk_from};

#[cfg(test)]
mod tests;
