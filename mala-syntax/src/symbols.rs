//! What a file defines, what it imports and what it uses, and which function or class is around a
//! line. Each language is a table of node kinds; the walks are the same for all.

mod bindings;
mod definition;
mod enclosing;
mod imports;
mod modules;
mod names;
mod outline;
mod parameters;
mod scopes;
mod switches;
mod table;
mod uses;
mod walk;

pub use bindings::HeadBindings;
pub use definition::{Definition, Kind, Parameter, ParameterKind, Presence, Role, Visibility};
pub use enclosing::{Enclosing, enclosing};
pub use imports::{Guard, Import, Imported, Reach};
pub use modules::{
    RustModule, files_of_module, files_of_submodule, join, parent, stands_for,
    stands_for_in_package,
};
pub use outline::{Export, Openness, Outline};
pub use switches::{Case, Fallback, Switch, switches};
pub use uses::{Arguments, Binding, Call, Deed, Makes, Use, uses};
pub use walk::{Descend, Step, Trail, child_of_kind, named_children, walk, walk_from};

#[cfg(test)]
mod tests;
