//! A contract of a file at base that it breaks at head: a name, a signature, the variants of an enum.

use crate::symbols::{DefinitionKind, FunctionParameter, Visibility};
use mala_domain::language::Language;

/// A broken contract.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contract {
    /// The symbol that it is about.
    pub(crate) symbol: Symbol,
    /// How it is broken.
    pub(crate) broken: Broken,
}

/// Something that a file defined at base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The file at base.
    pub(crate) file: String,
    /// Its language.
    pub(crate) language: Language,
    /// Its package or namespace.
    pub(crate) package: Option<String>,
    /// The name; the stem of the file for a module.
    pub(crate) name: String,
    /// The class or type that it belongs to.
    pub(crate) container: Option<String>,
    /// The kind of definition.
    pub(crate) kind: DefinitionKind,
    /// The code that can refer to it.
    pub(crate) visibility: Visibility,
    /// The line at base.
    pub(crate) line: u32,
}

/// How a contract is broken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Broken {
    /// The definition was removed.
    Removed {
        /// The new name of the same definition.
        successor: Option<String>,
        /// The file that it is in now.
        moved_to: Option<String>,
    },
    /// Its parameters changed.
    SignatureChange(SignatureChange),
    /// It has members that it had not.
    Members {
        /// The members at base.
        before: Vec<String>,
        /// Those added.
        added: Vec<String>,
        /// The line at head.
        line: u32,
    },
    /// The whole file is gone.
    Module {
        /// The new path.
        successor: Option<String>,
    },
}

/// The parameters before and after the change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SignatureChange {
    /// At base; several when it is overloaded.
    pub(crate) before: Vec<Vec<FunctionParameter>>,
    /// At head.
    pub(crate) after: Vec<Vec<FunctionParameter>>,
    /// The line at head.
    pub(crate) line: u32,
    /// The file at head.
    pub(crate) file: String,
    /// How it is called.
    pub(crate) called: Called,
}

/// How a definition with a changed signature is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// The function.
    Function,
    /// The class, which hands the arguments to its constructor.
    Class,
}

impl Symbol {
    /// `Class.method`, or the unqualified name.
    pub(crate) fn qualified(&self) -> String {
        match &self.container {
            Some(container) => format!("{container}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
