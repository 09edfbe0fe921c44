//! The definitions of a file.

use mala_domain::change::LineSpan;

/// A named definition of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its own name.
    pub name: String,
    /// The qualified name of the class, type, module or function around it.
    pub container: Option<String>,
    /// The kind.
    pub kind: DefinitionKind,
    /// Its lines, decorators included.
    pub span: LineSpan,
    /// The line of its name.
    pub name_line: u32,
    /// Its parameters, if it can be called.
    pub parameters: Option<Vec<FunctionParameter>>,
    /// The code that can refer to it.
    pub visibility: Visibility,
    /// Whether it is a full definition.
    pub role: DefinitionRole,
    /// The members of an enum.
    pub members: Vec<String>,
    /// Its base classes and interfaces, as written.
    pub bases: Vec<String>,
    /// The decorators or annotations on it, without their arguments.
    pub decorators: Vec<String>,
    /// A hash of its text without its name, to recognise renamed definitions.
    pub fingerprint: u64,
}

/// The kinds of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// A function of a file, a module or a package.
    Function,
    /// A function of a class or type.
    Method,
    /// A class.
    Class,
    /// A struct or a record.
    Struct,
    /// An enum.
    Enum,
    /// An interface, a trait or a protocol.
    Interface,
    /// A constant.
    Constant,
    /// A variable or a field.
    Variable,
    /// An alias or another named type.
    Type,
    /// A module or namespace.
    Module,
    /// A macro.
    Macro,
}

impl DefinitionKind {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Interface => "interface",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Type => "type",
            Self::Module => "module",
            Self::Macro => "macro",
        }
    }

    /// Whether it has members of its own.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class | Self::Struct | Self::Enum | Self::Interface | Self::Type | Self::Module
        )
    }

    /// Whether it is called.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method)
    }
}

/// The code that can refer to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// Other files.
    Exported,
    /// Its own file, class or module.
    Internal,
    /// The function around it.
    Local,
}

/// Whether it is a full definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionRole {
    /// It is.
    Defines,
    /// It only declares: a prototype, an overload, a method of an interface.
    Declares,
    /// It implements something declared elsewhere, which still exists if this is removed.
    Implements,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FunctionParameter {
    /// Its name, as written; empty if it has none.
    pub name: String,
    /// How arguments are passed to it.
    pub kind: ParameterPassing,
    /// Whether a call may leave it out.
    pub presence: ParameterPresence,
}

/// How arguments are passed to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterPassing {
    /// By position, and by name where the language has that.
    Positional,
    /// By position only.
    PositionalOnly,
    /// By name only.
    KeywordOnly,
    /// Takes all further positions.
    Variadic,
    /// Takes all further names.
    Keywords,
    /// The object before the dot.
    Receiver,
}

/// Whether a call may leave a parameter out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterPresence {
    /// It may not.
    Required,
    /// It may.
    Optional,
}

impl Definition {
    /// `Class.method`, or the unqualified name.
    pub fn qualified(&self) -> String {
        match &self.container {
            Some(container) => format!("{container}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Whether it is neither a member nor a local.
    pub fn is_top_level(&self) -> bool {
        self.container.is_none() && self.visibility != Visibility::Local
    }
}
