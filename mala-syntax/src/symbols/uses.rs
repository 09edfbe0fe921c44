//! Where a file uses given names: which occurrences are calls, on what receiver, and which of them
//! are shadowed by a name of the file's own.

mod call;
mod place;
mod receiver;
mod typed;

pub use call::{Arguments, Call, Makes};

use super::scopes::Scopes;
use super::table::{BareMembers, Lookup, Opens, lookup};
use super::walk::{Descend, Step, Trail, walk};
use crate::source::{Source, lines_of};
use place::{Place, object_of, place_of};
use std::collections::{HashMap, HashSet};
use typed::{LocalTypes, Object};

/// One occurrence of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The name.
    pub name: String,
    /// The 1-based line.
    pub line: u32,
    /// What is before the dot, with dots between its parts; `None` when the name stands alone.
    pub receiver: Option<String>,
    /// The type of the object before the dot of a call, with dots between its parts, when the
    /// function around says it.
    pub receiver_type: Option<String>,
    /// The call, when it is called.
    pub call: Option<Call>,
    /// What the occurrence does.
    pub deed: Deed,
    /// The qualified name of the function or class around it.
    pub within: Option<String>,
    /// The class or type around it.
    pub owner: Option<String>,
    /// Whether the file itself binds the name where it is used, or the first name of its receiver
    /// when that is one of those looked for.
    pub binding: Binding,
}

/// What an occurrence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
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
pub enum Binding {
    /// It does not, but for imports.
    Free,
    /// A function or class around the use does.
    Inside,
    /// The file does, at its top.
    AtTop,
}

/// Occurrences beyond this many are left out.
const MAX_USES: usize = 50_000;

/// The occurrences of these names; strings, comments and imports have none.
pub fn uses<S: AsRef<str>>(source: &Source, names: &[S]) -> Vec<Use> {
    if names.is_empty() {
        return Vec::new();
    }
    let mut finder = Finder {
        source,
        lookup: lookup(source.language()),
        names: names.iter().map(AsRef::as_ref).collect(),
        scopes: Scopes::default(),
        types: LocalTypes::default(),
        found: Vec::new(),
    };
    walk(source.tree(), |trail, step| finder.visit(trail, step));
    finder.finish()
}

struct Finder<'s> {
    source: &'s Source,
    lookup: &'static Lookup,
    names: HashSet<&'s str>,
    scopes: Scopes,
    types: LocalTypes,
    found: Vec<Found>,
}

/// A use with the scopes around it, the innermost first.
struct Found {
    found: Use,
    around: Vec<(u32, Opens)>,
}

impl<'s> Finder<'s> {
    fn visit(&mut self, trail: &Trail<'_>, step: Step<'_>) -> Descend {
        self.scopes.leave(trail);
        let traits = self.lookup.traits(step.node);
        // The words in `#[cfg(test)]` name conditions, and `#[derive(..)]` may name helpers of macros.
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

    fn add(&mut self, trail: &Trail<'_>, step: Step<'_>, name: &str) {
        let place = place_of(self.source, self.lookup.table, trail, step);
        let (deed, receiver, call) = match place {
            Place::Nothing => return,
            Place::Binds => (Deed::Binds, None, None),
            Place::Reads { receiver, call, deed } => (deed, receiver, call),
        };
        let receiver_type = match (&receiver, &call) {
            (Some(receiver), Some(_)) => self.receiver_type(trail, step, receiver),
            _ => None,
        };
        let names_scope =
            self.scopes.innermost().is_some_and(|s| s.name_starts == Some(step.node.start_byte()));
        let around = self
            .scopes
            .inside_out()
            .skip(usize::from(names_scope))
            .map(|scope| (scope.id, scope.opens))
            .collect();
        let found = Use {
            name: name.to_owned(),
            line: lines_of(step.node).start(),
            receiver,
            receiver_type,
            call,
            deed,
            within: self.scopes.path(),
            owner: self.scopes.type_name().map(str::to_owned),
            binding: Binding::Free,
        };
        self.found.push(Found { found, around });
    }

    fn receiver_type(
        &mut self,
        trail: &Trail<'_>,
        step: Step<'_>,
        receiver: &str,
    ) -> Option<String> {
        let object = match object_of(self.lookup.table, trail, step) {
            Some(node) => Object::Node(node),
            None => Object::Name(receiver),
        };
        self.types.of_object(self.source, self.lookup, trail, object)
    }

    /// Marks the uses that a binding of the file's own shadows.
    fn finish(self) -> Vec<Use> {
        let bare = self.lookup.table.bare_members;
        let mut binders: HashMap<String, HashSet<u32>> = HashMap::new();
        for found in self.found.iter().filter(|found| found.found.deed == Deed::Binds) {
            let id = found.around.first().map_or(0, |(id, _)| *id);
            binders.entry(found.found.name.clone()).or_default().insert(id);
        }
        self.found
            .into_iter()
            .map(|found| {
                let root = root_of(&found.found);
                let binding = binders
                    .get(root)
                    .map_or(Binding::Free, |ids| binding(&found.around, ids, bare));
                Use { binding, ..found.found }
            })
            .collect()
    }
}

/// The name that decides what a use means: the first of its receiver, or its own.
fn root_of(found: &Use) -> &str {
    let receiver = found.receiver.as_deref().and_then(|receiver| receiver.split('.').next());
    receiver.unwrap_or(&found.name)
}

fn binding(around: &[(u32, Opens)], binders: &HashSet<u32>, bare: BareMembers) -> Binding {
    let inside = around.iter().enumerate().any(|(at, (id, opens))| {
        let seen = at == 0 || *opens != Opens::Type || bare == BareMembers::InScope;
        seen && binders.contains(id)
    });
    match (inside, binders.contains(&0)) {
        (true, _) => Binding::Inside,
        (false, true) => Binding::AtTop,
        (false, false) => Binding::Free,
    }
}

#[cfg(test)]
mod tests;
