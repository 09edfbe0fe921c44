//! The node kinds of the grammars. A language is a table: which nodes define something and where
//! the name is, which positions bind a name, which read a member, which call.

mod c;
mod csharp;
mod ecmascript;
mod go;
mod java;
mod php;
mod python;
mod ruby;
mod rust;

use super::definition::DefinitionKind;
use crate::grammar::Grammar;
use mala_domain::language::Language;
use std::sync::OnceLock;

/// A node kind and the field of a child in it; empty for a child without a field.
pub(crate) type NodeField = (&'static str, &'static str);

/// One language.
#[derive(Debug)]
pub(crate) struct LanguageTable {
    /// The nodes that define.
    pub(crate) shapes: &'static [DefinitionShape],
    /// The leaves that are names.
    pub(crate) names: &'static [&'static str],
    /// Positions inside a pattern that bind names.
    pub(crate) patterns: &'static [NodeField],
    /// Places that bind a name in the function around them.
    pub(crate) binders: &'static [NodeField],
    /// Places that put a value into a name that is declared elsewhere.
    pub(crate) writers: &'static [NodeField],
    /// Blocks with names of their own.
    pub(crate) blocks: &'static [&'static str],
    /// Places inside a function or class that the scope around it evaluates.
    pub(crate) outside: &'static [NodeField],
    /// Positions whose name is not a use of anything in scope: keyword arguments, keys, labels.
    pub(crate) ignored: &'static [NodeField],
    /// Member access: the node, the object's field, the member's field.
    pub(crate) members: &'static [(&'static str, &'static str, &'static str)],
    /// Nodes whose children are the parts of a path.
    pub(crate) paths: &'static [&'static str],
    /// Calls: the node, the field of the callee, the field of the arguments.
    pub(crate) calls: &'static [(&'static str, &'static str, &'static str)],
    /// Nodes between a call and the name of its callee.
    pub(crate) wrappers: &'static [&'static str],
    /// Nodes that import.
    pub(crate) imports: &'static [&'static str],
    /// Anonymous functions, and other nodes with their own locals.
    pub(crate) closures: &'static [&'static str],
    /// Whether a method names the members of its class without a receiver.
    pub(crate) bare_members: BareMembers,
}

/// Whether a method names the members of its class without a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BareMembers {
    /// It does: `name` may be `this.name`.
    InScope,
    /// It does not.
    OutOfScope,
}

/// A node that defines something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DefinitionShape {
    /// The node.
    pub(crate) node: &'static str,
    /// The kind of definition.
    pub(crate) kind: DefinitionKind,
    /// Where to find the name.
    pub(crate) name: NameAt,
    /// The kind of scope that it opens.
    pub(crate) opens: ScopeOpening,
}

/// Where to find a definition's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameAt {
    /// The children in this field, one definition each.
    Field(&'static str),
    /// The names bound by the pattern in this field.
    Pattern(&'static str),
    /// Inside C's declarators.
    Declarator,
    /// The first child.
    First,
    /// The last part of the member that is assigned to, such as `exports.name`.
    Assigned,
    /// The last part of the type in this field; the node itself defines nothing.
    OfType(&'static str),
}

/// The kind of scope that a definition opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeOpening {
    /// Nothing is inside.
    Nothing,
    /// Locals.
    Function,
    /// Members.
    Type,
    /// Things of a module, named through it.
    Module,
}

/// Nodes of any grammar that an outline looks at though they neither define nor import by themselves.
const NOTED: &[&str] = &[
    "attribute_item",
    "export_statement",
    "assignment_expression",
    "macro_invocation",
    "package_clause",
    "package_declaration",
    "namespace_declaration",
    "file_scoped_namespace_declaration",
    "namespace_definition",
    "call_expression",
    "call",
    "mod_item",
];

/// A table with its nodes looked up in the grammar.
pub(crate) struct Lookup {
    /// The table.
    pub(crate) table: &'static LanguageTable,
    shapes: Vec<Option<&'static DefinitionShape>>,
    traits: Vec<Traits>,
}

/// Other properties of a node, besides being a definition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traits {
    /// A leaf that is a name.
    pub(crate) name: bool,
    /// An import.
    pub(crate) import: bool,
    /// A function without a name.
    pub(crate) closure: bool,
    /// A block with names of its own.
    pub(crate) block: bool,
    /// A node that an outline looks at though it neither defines nor imports.
    pub(crate) noted: bool,
}

impl Lookup {
    /// The definition that this kind of node makes.
    pub(crate) fn shape(&self, node: tree_sitter::Node<'_>) -> Option<&'static DefinitionShape> {
        self.shapes.get(usize::from(node.kind_id())).copied().flatten()
    }

    /// Other properties of this kind of node.
    pub(crate) fn traits(&self, node: tree_sitter::Node<'_>) -> Traits {
        self.traits.get(usize::from(node.kind_id())).copied().unwrap_or_default()
    }

    fn build(language: Language) -> Self {
        let table = table_of(language);
        let grammar = Grammar(language).tree_sitter();
        let n_kinds = grammar.node_kind_count();
        let mut lookup =
            Self { table, shapes: vec![None; n_kinds], traits: vec![Traits::default(); n_kinds] };
        let id = |kind: &str| usize::from(grammar.id_for_node_kind(kind, true));
        for shape in table.shapes {
            if let Some(slot) = lookup.shapes.get_mut(id(shape.node)) {
                *slot = Some(shape);
            }
        }
        let mut mark = |kinds: &[&str], set: fn(&mut Traits)| {
            // Kind 0 means that this grammar does not have the node.
            for at in kinds.iter().map(|kind| id(kind)).filter(|at| *at != 0) {
                lookup.traits.get_mut(at).into_iter().for_each(set);
            }
        };
        mark(table.names, |traits| traits.name = true);
        mark(table.imports, |traits| traits.import = true);
        mark(table.closures, |traits| traits.closure = true);
        mark(table.blocks, |traits| traits.block = true);
        mark(NOTED, |traits| traits.noted = true);
        lookup
    }
}

/// The table of a language, looked up in its grammar once.
pub(crate) fn lookup(language: Language) -> &'static Lookup {
    static LOOKUPS: [OnceLock<Lookup>; Language::ALL.len()] =
        [const { OnceLock::new() }; Language::ALL.len()];
    LOOKUPS[language as usize].get_or_init(|| Lookup::build(language))
}

fn table_of(language: Language) -> &'static LanguageTable {
    match language {
        Language::Python => &python::TABLE,
        Language::JavaScript => &ecmascript::JAVASCRIPT,
        Language::TypeScript | Language::Tsx => &ecmascript::TYPESCRIPT,
        Language::Rust => &rust::TABLE,
        Language::Go => &go::TABLE,
        Language::Java => &java::TABLE,
        Language::C => &c::C,
        Language::Cpp => &c::CPP,
        Language::Ruby => &ruby::TABLE,
        Language::CSharp => &csharp::TABLE,
        Language::Php => &php::TABLE,
    }
}

/// A definition whose name is in the field `name`.
const fn named(node: &'static str, kind: DefinitionKind, opens: ScopeOpening) -> DefinitionShape {
    DefinitionShape { node, kind, name: NameAt::Field("name"), opens }
}

/// A definition whose name is elsewhere.
const fn shape(
    node: &'static str,
    kind: DefinitionKind,
    name: NameAt,
    opens: ScopeOpening,
) -> DefinitionShape {
    DefinitionShape { node, kind, name, opens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_and_field_of_every_table_is_in_its_grammar() {
        for language in Language::ALL {
            let grammar = Grammar(language).tree_sitter();
            let table = table_of(language);
            let kind = |kind: &str| {
                assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{language}: no node {kind}");
            };
            let field = |field: &str| {
                let known = field.is_empty() || grammar.field_id_for_name(field).is_some();
                assert!(known, "{language}: no field {field}");
            };
            for shape in table.shapes {
                kind(shape.node);
                if let NameAt::Field(name) | NameAt::Pattern(name) | NameAt::OfType(name) =
                    shape.name
                {
                    field(name);
                }
            }
            [table.names, table.wrappers, table.imports, table.closures, table.paths, table.blocks]
                .concat()
                .iter()
                .for_each(|k| kind(k));
            let places =
                [table.patterns, table.binders, table.writers, table.outside, table.ignored];
            for (node, of) in places.iter().copied().flatten() {
                kind(node);
                field(of);
            }
            for (node, a, b) in table.members.iter().chain(table.calls) {
                kind(node);
                field(a);
                field(b);
            }
        }
    }
}
