//! Abstract values: the path to a value, the origin of its taint, and its content.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use tree_sitter::Node;

/// A set of kinds or classes, one bit each.
pub(super) type Bits = u64;

const MAX_PATHS: usize = 4;
const MAX_PATH_LENGTH: usize = 160;
const MAX_TAINTS: usize = 6;
const MAX_FIELDS: usize = 64;

/// Where harmful data in a value comes from, and what it can still do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taint {
    /// The bytes of the source.
    pub(super) source: Range<usize>,
    /// The kinds of the source.
    pub(super) kinds: Bits,
    /// The classes that sanitizers have cleared.
    pub(super) cleared: Bits,
    /// Those of `cleared` that hold only while no field is taken out.
    pub(super) clean_as_whole: Bits,
    /// Whether it decides how the text begins.
    pub(super) at_start: bool,
}

/// A function in the file, with the frame that it was created in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closure<'t> {
    pub(super) node: Node<'t>,
    pub(super) frame: usize,
}

/// An abstract value.
#[derive(Debug, Clone, Default)]
pub(super) struct AbstractValue<'t> {
    /// How it may have been reached.
    pub(super) paths: Vec<Rc<str>>,
    pub(super) taints: Vec<Taint>,
    /// Fields of an object or items of a list that the code made.
    pub(super) fields: Option<Rc<BTreeMap<String, AbstractValue<'t>>>>,
    pub(super) closure: Option<Closure<'t>>,
    /// The constant that it is.
    pub(super) text: Option<Rc<str>>,
}

impl<'t> AbstractValue<'t> {
    pub(super) fn of_text(text: &str) -> Self {
        Self { text: Some(Rc::from(text)), ..Self::default() }
    }

    pub(super) fn of_taints(taints: Vec<Taint>) -> Self {
        Self { taints, ..Self::default() }
    }

    /// The paths after one more step; values of unknown origin begin with `_`.
    pub(super) fn extended(&self, suffix: &str) -> Vec<Rc<str>> {
        let unknown: Rc<str> = Rc::from("_");
        let bases = if self.paths.is_empty() { vec![unknown] } else { self.paths.clone() };
        let extend = |base: &Rc<str>| match base.len() + suffix.len() <= MAX_PATH_LENGTH {
            true => Rc::from(format!("{base}{suffix}")),
            false => Rc::from(format!("_{suffix}")),
        };
        bases.iter().map(extend).collect()
    }

    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        self.fields.as_ref()?.get(name)
    }

    pub(super) fn set_field(&mut self, name: &str, value: Self) {
        let fields = Rc::make_mut(self.fields.get_or_insert_with(Rc::default));
        if fields.len() < MAX_FIELDS {
            fields.insert(name.to_owned(), value);
        }
    }

    pub(super) fn add_taints(&mut self, taints: &[Taint]) {
        for taint in taints {
            let same =
                |known: &Taint| known.source == taint.source && known.cleared == taint.cleared;
            match self.taints.iter().position(same) {
                Some(at) => self.taints[at].at_start |= taint.at_start,
                None if self.taints.len() < MAX_TAINTS => self.taints.push(taint.clone()),
                None => {}
            }
        }
    }

    /// The taints of the value and of everything inside.
    pub(super) fn deep_taints(&self) -> Vec<Taint> {
        let mut found = Self::of_taints(self.taints.clone());
        self.collect_taints(4, &mut found);
        found.taints
    }

    fn collect_taints(&self, depth: u8, found: &mut Self) {
        let Some(fields) = self.fields.as_ref().filter(|_| depth > 0) else { return };
        for field in fields.values() {
            found.add_taints(&field.taints);
            field.collect_taints(depth - 1, found);
        }
    }

    pub(super) fn clear(&mut self, classes: Bits) {
        self.taints.iter_mut().for_each(|taint| taint.cleared |= classes);
    }

    /// Either this value or another one.
    pub(super) fn or(mut self, other: &Self) -> Self {
        for path in &other.paths {
            if self.paths.len() < MAX_PATHS && !self.paths.contains(path) {
                self.paths.push(Rc::clone(path));
            }
        }
        self.add_taints(&other.taints);
        for (name, field) in other.fields.iter().flat_map(|fields| fields.iter()) {
            let joined = match self.field(name) {
                Some(known) => known.clone().or(field),
                None => field.clone(),
            };
            self.set_field(name, joined);
        }
        self.closure = self.closure.or(other.closure);
        if self.text != other.text {
            self.text = None;
        }
        self
    }
}
