//! Where a file of code reads, tests or sets keys of configuration.

mod access;
mod chain;
mod copes;
mod variable;

use super::{Key, settings::normal};
use crate::cross_file::words::has_word;
use crate::source::{Source, lines_of};
use crate::symbols::{Descend, Step, Trail, walk};
use access::{Access, Way};
use copes::Outcome;
use mala_domain::language::Language;
use std::collections::{HashMap, HashSet};

/// What a file does with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyUse {
    /// Which of the keys that were asked for.
    pub(crate) which: usize,
    /// The line.
    pub(crate) line: u32,
    /// What it does.
    pub(crate) deed: Deed,
    /// How the key is written.
    pub(crate) form: Form,
}

/// What code does with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It reads it, and this happens when it is not set.
    Reads(&'static str),
    /// It reads it with a way out.
    Copes,
    /// It looks whether it is set, and goes on when it is not.
    Tests,
    /// It sets it, or says what holds when nobody does.
    Sets,
}

/// How a key is written where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a text.
    Text,
    /// As a member of an object, which may have a type of its own.
    Member,
}

/// What a file does with all keys that were asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyUses {
    /// Every use.
    pub(crate) uses: Vec<KeyUse>,
    /// The names of keys that the file gives to things of its own: fields, entries, parameters.
    pub(crate) declared: HashSet<String>,
    /// Those of them that get a value there.
    pub(crate) valued: HashSet<String>,
}

/// Uses beyond this many in a file are left out.
const MAX_USES: usize = 200;

/// What a file does with these keys.
pub(crate) fn uses_of(source: &Source, keys: &[&Key]) -> KeyUses {
    let mut reader = Reader::new(source, keys);
    if !keys.is_empty() {
        walk(source.tree(), |trail, step| {
            reader.visit(trail, step);
            if step.node.is_extra() { Descend::Past } else { Descend::Into }
        });
    }
    reader.found
}

struct Reader<'s> {
    source: &'s Source,
    keys: &'s [&'s Key],
    /// The keys that a text or a name may be the end of.
    by_text: HashMap<String, Vec<usize>>,
    /// Every name of every setting.
    names: HashSet<&'s str>,
    found: KeyUses,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source, keys: &'s [&'s Key]) -> Self {
        let mut by_text: HashMap<String, Vec<usize>> = HashMap::new();
        let mut names = HashSet::new();
        for (which, key) in keys.iter().enumerate() {
            match key {
                Key::Variable(name) => by_text.entry(name.clone()).or_default().push(which),
                Key::Setting(path) => {
                    names.extend(path.iter().map(String::as_str));
                    for start in 0..path.len() {
                        for joint in [".", ":"] {
                            let text = path.get(start..).unwrap_or_default().join(joint);
                            let text = spelled(source.language(), &text);
                            let all = by_text.entry(text).or_default();
                            if !all.contains(&which) {
                                all.push(which);
                            }
                        }
                    }
                }
            }
        }
        Self { source, keys, by_text, names, found: KeyUses::default() }
    }

    fn visit(&mut self, trail: &Trail<'s>, step: Step<'s>) {
        let Some(text) = leaf_text(self.source, step) else { return };
        if self.names.contains(text) && is_declared(self.source, trail, step, text) {
            self.found.declared.insert(text.to_owned());
            if matches!(step.field, "key" | "left") || is_argument(trail) {
                self.found.valued.insert(text.to_owned());
            }
        }
        if self.found.uses.len() >= MAX_USES {
            return;
        }
        let (text, has_default) = placeholder(self.source.language(), text);
        let spelled = spelled(self.source.language(), text);
        let found = self.by_text.get(text).or_else(|| self.by_text.get(&spelled));
        for which in found.cloned().unwrap_or_default() {
            let Some((deed, form)) = self.deed(trail, step, which, text) else { continue };
            let deed = if has_default { Deed::Copes } else { deed };
            let line = lines_of(step.node).start();
            self.found.uses.push(KeyUse { which, line, deed, form });
        }
    }

    /// What is done with a key at a text or name that may be its end.
    fn deed(
        &self,
        trail: &Trail<'s>,
        leaf: Step<'s>,
        which: usize,
        text: &str,
    ) -> Option<(Deed, Form)> {
        let key = self.keys.get(which)?;
        let access = access::of(self.source, trail, leaf)?;
        let form = if access.way == Way::Member { Form::Member } else { Form::Text };
        let deed = match key {
            Key::Variable(name) => self.variable(trail, &access, name)?,
            Key::Setting(names) => self.setting(trail, &access, names, text)?,
        };
        Some((deed, form))
    }

    fn variable(&self, trail: &Trail<'s>, access: &Access<'s>, name: &str) -> Option<Deed> {
        if access.tests {
            return Some(Deed::Tests);
        }
        if variable::sets(self.source, access) {
            return Some(Deed::Sets);
        }
        let effect = variable::effect(self.source, access)?;
        Some(self.outcome(trail, access, effect, name))
    }

    fn setting(
        &self,
        trail: &Trail<'s>,
        access: &Access<'s>,
        names: &[String],
        text: &str,
    ) -> Option<Deed> {
        let mut path = chain::names_before(self.source, access)?;
        path.extend(text.split(['.', ':']).map(str::to_owned));
        let spelled = |name: &String| spelled(self.source.language(), name);
        if !path.iter().map(spelled).eq(names.iter().map(spelled)) {
            return None;
        }
        if access.tests || chain::tests(access) {
            return Some(Deed::Tests);
        }
        if access.is_assigned || chain::sets(access) {
            return Some(Deed::Sets);
        }
        let effect = chain::effect(self.source, access)?;
        let last = names.last().map(String::as_str).unwrap_or_default();
        Some(self.outcome(trail, access, effect, last))
    }

    fn outcome(&self, trail: &Trail<'s>, access: &Access<'s>, effect: Effect, name: &str) -> Deed {
        match copes::outcome(self.source, trail, access, (effect, name)) {
            Outcome::Fails => Deed::Reads(effect.happens()),
            Outcome::Copes => Deed::Copes,
            Outcome::Tests => Deed::Tests,
        }
    }
}

/// What happens when a key that is read is not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It fails there and then.
    Raises(&'static str),
    /// It gives a value that stands for nothing.
    Gives(&'static str),
    /// It gives a result that has to be looked at.
    Result(&'static str),
    /// There is a value all the same.
    Defaults,
}

impl Effect {
    fn happens(self) -> &'static str {
        match self {
            Self::Raises(text) | Self::Gives(text) | Self::Result(text) => text,
            Self::Defaults => "",
        }
    }
}

/// The text of a string, or the name of an identifier.
fn leaf_text<'s>(source: &'s Source, step: Step<'s>) -> Option<&'s str> {
    const MAX_LENGTH: usize = 200;
    let node = step.node;
    if !node.is_named() || node.byte_range().len() > MAX_LENGTH {
        return None;
    }
    match node.kind() {
        "string"
        | "string_literal"
        | "interpreted_string_literal"
        | "raw_string_literal"
        | "encapsed_string" => {
            let text = source.slice(node);
            let text = text.trim_start_matches(['r', 'b', 'u', 'R', 'B', 'U']);
            let is_quoted = text.starts_with(['"', '\'', '`']);
            is_quoted.then(|| text.trim_matches(['"', '\'', '`']))
        }
        kind if kind.ends_with("identifier") || kind.ends_with("identifier_pattern") => {
            Some(source.slice(node))
        }
        _ => None,
    }
}

/// Spring's `${key}` and `${key:default}`.
fn placeholder(language: Language, text: &str) -> (&str, bool) {
    let inside = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    match inside.filter(|_| language == Language::Java) {
        Some(inside) => match inside.split_once(':') {
            Some((key, _)) => (key, true),
            None => (inside, false),
        },
        None => (text, false),
    }
}

/// A name as the language's libraries compare it.
fn spelled(language: Language, text: &str) -> String {
    match language {
        Language::Java => normal(text),
        Language::CSharp => text.to_lowercase(),
        _ => text.to_owned(),
    }
}

/// Whether the parent hands a value to a call by name.
fn is_argument(trail: &Trail<'_>) -> bool {
    trail.parent().is_some_and(|parent| {
        matches!(parent.node.kind(), "keyword_argument" | "default_parameter" | "literal_element")
    })
}

/// Whether a name is given to a thing here, and not only to hold what is read under the same name.
fn is_declared(source: &Source, trail: &Trail<'_>, step: Step<'_>, name: &str) -> bool {
    let Some(parent) = trail.parent() else { return false };
    let gives = matches!(step.field, "name" | "key" | "left" | "pattern")
        || parent.node.kind() == "literal_element";
    let is_read = || {
        let text = source.slice(parent.node);
        text.get(step.node.end_byte() - parent.node.start_byte()..)
            .is_some_and(|rest| has_word(rest, name))
    };
    let is_access = matches!(
        parent.node.kind(),
        "member_expression"
            | "attribute"
            | "selector_expression"
            | "method_invocation"
            | "scoped_identifier"
            | "scoped_type_identifier"
            | "member_access_expression"
    );
    gives && !is_access && !is_read()
}

#[cfg(test)]
mod tests;
