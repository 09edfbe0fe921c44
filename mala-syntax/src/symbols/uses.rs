//! Finds the uses of given names in a file: which occurrences are calls, their receivers, and which
//! of them are shadowed by a name of the file itself.

mod call;
mod place;
mod typed;

pub use call::{ArgumentCount, CallPurpose, CallShape};

use super::enclosing_scopes::EnclosingScopes;
use super::file_scopes::{DeclarationKind, FileScopes};
use super::table::{Lookup, lookup};
use super::walk::{AncestorTrail, Descend, WalkStep, walk};
use crate::source::{Source, lines_of};
use place::{NameUsage, object_of, place_of};
use std::collections::HashSet;
use tree_sitter::Node;
use typed::{ReceiverObject, type_of};

/// One occurrence of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolUse {
    /// The name.
    pub name: String,
    /// The 1-based line.
    pub line: u32,
    /// The receiver before the dot, its parts joined by dots; `None` for an unqualified name.
    pub receiver: Option<String>,
    /// The type of the receiver of a call, its parts joined by dots, if the function around
    /// declares it.
    pub receiver_type: Option<String>,
    /// The call, when it is called.
    pub call: Option<CallShape>,
    /// The kind of use.
    pub kind: UseKind,
    /// The qualified name of the function or class around it.
    pub within: Option<String>,
    /// The class or type around it.
    pub owner: Option<String>,
    /// Whether the file itself binds the name where it is used, or the first name of its receiver
    /// when that is one of those looked for.
    pub binding: UseBinding,
}

/// The kinds of uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseKind {
    /// It reads or calls.
    Reads,
    /// It defines the name or binds it: a parameter, a variable, a function.
    Binds,
    /// It assigns to the member: `self.name = ...`.
    AssignsMember,
    /// It reads, and copes when the name is not there.
    Tries,
}

/// Whether the file itself binds a name where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseBinding {
    /// It does not, but for imports.
    Free,
    /// A function or class around the use does.
    Inside,
    /// The file does, at its top.
    AtTop,
}

/// Occurrences beyond this many are left out.
const MAX_USES: usize = 50_000;

/// The uses of these names; strings, comments and imports do not count.
pub fn uses<S: AsRef<str>>(source: &Source, names: &[S]) -> Vec<SymbolUse> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut finder = UseFinder {
        source,
        lookup: lookup(source.language()),
        names: names.iter().map(AsRef::as_ref).collect(),
        scopes: EnclosingScopes::default(),
        found: Vec::new(),
    };
    walk(source.tree(), |trail, step| finder.visit(trail, step));
    finder.finish()
}

/// A use whose names are not resolved yet.
struct FoundUse<'s> {
    found: SymbolUse,
    node: Node<'s>,
    /// The receiver of a call.
    object: Option<ReceiverObject<'s>>,
}

/// The walk that collects the occurrences.
struct UseFinder<'s> {
    source: &'s Source,
    lookup: &'static Lookup,
    names: HashSet<&'s str>,
    scopes: EnclosingScopes,
    found: Vec<FoundUse<'s>>,
}

impl<'s> UseFinder<'s> {
    fn visit(&mut self, trail: &AncestorTrail<'s>, step: WalkStep<'s>) -> Descend {
        self.scopes.leave(trail);
        let traits = self.lookup.traits(step.node);
        // The words in `#[cfg(test)]` are conditions, and `#[derive(..)]` may name helpers of
        // macros.
        let is_attribute = step.node.kind() == "attribute_item";
        let is_full = self.found.len() >= MAX_USES;
        if step.node.is_extra() || traits.import || is_attribute || is_full {
            return Descend::Past;
        }
        if traits.name {
            let text = self.source.slice(step.node);
            if self.names.contains(text) {
                self.add(trail, step, text);
            }
        }
        self.scopes.enter(self.source, self.lookup, trail, step);
        Descend::Into
    }

    fn add(&mut self, trail: &AncestorTrail<'s>, step: WalkStep<'s>, name: &str) {
        let place = place_of(self.source, self.lookup.table, trail, step);
        let (kind, receiver, call) = match place {
            NameUsage::Nothing => return,
            NameUsage::Binds => (UseKind::Binds, None, None),
            NameUsage::Reads { receiver, call, kind } => (kind, receiver, call),
        };
        let is_member_call = receiver.is_some() && call.is_some();
        let object = is_member_call.then(|| match object_of(self.lookup.table, trail, step) {
            Some(node) => ReceiverObject::Node(node),
            None => ReceiverObject::NameBefore(step.node),
        });
        let found = SymbolUse {
            name: name.to_owned(),
            line: lines_of(step.node).start(),
            receiver,
            receiver_type: None,
            call,
            kind,
            within: self.scopes.path(),
            owner: self.scopes.type_name().map(str::to_owned),
            binding: UseBinding::Free,
        };
        self.found.push(FoundUse { found, node: step.node, object });
    }

    /// Says which declarations of the file's own shadow the uses, and of which types receivers are.
    fn finish(self) -> Vec<SymbolUse> {
        if self.found.is_empty() {
            return Vec::new();
        }
        let mut names = self.names.clone();
        for one in &self.found {
            let receiver = one.found.receiver.as_deref().unwrap_or_default();
            names.extend(one.object.and_then(|object| object.name(self.source, receiver)));
        }
        let scopes = FileScopes::of_names(self.source, &names);
        let resolved = self.found.iter().map(|one| {
            let receiver = one.found.receiver.as_deref().unwrap_or_default();
            let receiver_type =
                one.object.and_then(|object| type_of(self.source, &scopes, (object, receiver)));
            let is_wanted = self.names.contains(root_of(&one.found));
            let binding =
                if is_wanted { binding(&scopes, &one.found, one.node) } else { UseBinding::Free };
            SymbolUse { receiver_type, binding, ..one.found.clone() }
        });
        resolved.collect()
    }
}

/// The name that decides what a use refers to: the first of its receiver, or its own.
fn root_of(found: &SymbolUse) -> &str {
    let receiver = found.receiver.as_deref().and_then(|receiver| receiver.split('.').next());
    receiver.unwrap_or(&found.name)
}

fn binding(scopes: &FileScopes<'_>, found: &SymbolUse, node: Node<'_>) -> UseBinding {
    let own = scopes.variable_at(node).filter(|_| found.receiver.is_none());
    let Some(variable) = own.or_else(|| scopes.resolve_at(node, root_of(found))) else {
        return UseBinding::Free;
    };
    match variable.declared {
        DeclarationKind::Import => UseBinding::Free,
        DeclarationKind::Undeclared if variable.writes.is_empty() => UseBinding::Free,
        DeclarationKind::Undeclared => UseBinding::AtTop,
        _ if variable.is_top_level() => UseBinding::AtTop,
        _ => UseBinding::Inside,
    }
}

#[cfg(test)]
mod tests;
