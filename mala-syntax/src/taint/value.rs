//! Abstract values: what is known about a value without running the program. Values are shared and
//! never change; joining two gives what holds for either.

use super::api::ApiId;
use super::ir::{ExprId, FunctionId, Sym, VarId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How many of each fact a value keeps: enough for the code that people write, and a bound on work.
const MAX_FACTS: usize = 6;
const MAX_FIELDS: usize = 200;
const MAX_NESTING: u8 = 4;

/// A set of classes or kinds, as bits.
pub(crate) type Bits = u64;
/// Every bit.
pub(crate) const ALL: Bits = Bits::MAX;

/// That a value holds something from a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taint {
    /// Which source, as an index into the list of sources found.
    pub(crate) source: u32,
    /// What kinds of source it is.
    pub(crate) kinds: Bits,
    /// For which classes it is harmless.
    pub(crate) clean: Bits,
    /// The last step on its way, as an index into the list of steps.
    pub(crate) step: u32,
    /// Whether it did not become the value but chose it, as a key among others.
    pub(crate) chose: bool,
}

/// What is known of the value itself.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Known {
    #[default]
    Nothing,
    /// One of these texts.
    Texts(Vec<Rc<str>>),
    /// A text that begins so.
    Prefix(Rc<str>),
    Number(f64),
    Bool(bool),
    Null,
    /// A regular expression and its flags; unknown flags are `?`.
    Pattern(Rc<str>, Rc<str>),
}

/// The facts about a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) taints: Vec<Taint>,
    pub(crate) apis: Vec<ApiId>,
    pub(crate) functions: Vec<FunctionId>,
    /// Literal texts that it is made of.
    pub(crate) literals: Vec<ExprId>,
    pub(crate) known: Known,
    pub(crate) fields: Option<Rc<BTreeMap<Sym, Value>>>,
    /// The call that gave it, when it is in a variable.
    pub(crate) origin: Option<ExprId>,
    /// For a class: the variable of its instances.
    pub(crate) instance: Option<VarId>,
    pub(crate) nesting: u8,
}

impl Facts {
    fn is_same_as(&self, other: &Self) -> bool {
        let fields = match (&self.fields, &other.fields) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        fields
            && self.taints == other.taints
            && self.apis == other.apis
            && self.functions == other.functions
            && self.literals == other.literals
            && self.known == other.known
            && self.origin == other.origin
            && self.instance == other.instance
    }
}

/// An abstract value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Value(Option<Rc<Facts>>);

impl Value {
    pub(crate) fn new(facts: Facts) -> Self {
        Self(Some(Rc::new(facts)))
    }

    pub(crate) fn of_api(api: ApiId) -> Self {
        Self::new(Facts { apis: vec![api], ..Facts::default() })
    }

    pub(crate) fn of_known(known: Known) -> Self {
        Self::new(Facts { known, ..Facts::default() })
    }

    pub(crate) fn of_taints(taints: Vec<Taint>) -> Self {
        if taints.is_empty() {
            return Self::default();
        }
        Self::new(Facts { taints, ..Facts::default() })
    }

    pub(crate) fn facts(&self) -> Option<&Facts> {
        self.0.as_deref()
    }

    pub(crate) fn taints(&self) -> &[Taint] {
        self.facts().map_or(&[], |facts| &facts.taints)
    }

    pub(crate) fn apis(&self) -> &[ApiId] {
        self.facts().map_or(&[], |facts| &facts.apis)
    }

    pub(crate) fn functions(&self) -> &[FunctionId] {
        self.facts().map_or(&[], |facts| &facts.functions)
    }

    pub(crate) fn literals(&self) -> &[ExprId] {
        self.facts().map_or(&[], |facts| &facts.literals)
    }

    pub(crate) fn known(&self) -> &Known {
        self.facts().map_or(&Known::Nothing, |facts| &facts.known)
    }

    pub(crate) fn field_map(&self) -> Option<&BTreeMap<Sym, Value>> {
        self.facts().and_then(|facts| facts.fields.as_deref())
    }

    pub(crate) fn text(&self) -> Option<&Rc<str>> {
        match self.known() {
            Known::Texts(texts) => match texts.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn texts(&self) -> &[Rc<str>] {
        match self.known() {
            Known::Texts(texts) => texts,
            _ => &[],
        }
    }

    /// What it certainly begins with.
    pub(crate) fn prefix(&self) -> Option<&str> {
        match self.known() {
            Known::Prefix(prefix) => Some(prefix),
            _ => self.text().map(|text| &**text),
        }
    }

    /// Changes the facts; the value is copied first when it is shared.
    pub(crate) fn edit(&mut self, change: impl FnOnce(&mut Facts)) {
        let shared = self.0.get_or_insert_with(Rc::default);
        change(Rc::make_mut(shared));
    }

    /// The taints of this value and of everything in it.
    pub(crate) fn deep_taints(&self) -> Vec<Taint> {
        let mut found = self.taints().to_vec();
        for value in self.field_map().into_iter().flat_map(BTreeMap::values) {
            for taint in value.deep_taints() {
                add_taint(&mut found, taint);
            }
        }
        found
    }

    /// The literals of this value and of everything in it.
    pub(crate) fn deep_literals(&self) -> Vec<ExprId> {
        let mut found = self.literals().to_vec();
        for value in self.field_map().into_iter().flat_map(BTreeMap::values) {
            for literal in value.deep_literals() {
                if found.len() < 4 * MAX_FACTS && !found.contains(&literal) {
                    found.push(literal);
                }
            }
        }
        found
    }

    /// What holds for this or for the other one.
    pub(crate) fn join(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => self.clone(),
            (Some(a), Some(b)) => {
                let joined = join_facts(a, b);
                // Keeping the old value when nothing is added lets later joins see that at once.
                if joined.is_same_as(a) { self.clone() } else { Self::new(joined) }
            }
            (Some(facts), None) | (None, Some(facts)) => {
                let mut joined = Self(Some(Rc::clone(facts)));
                if facts.known != Known::Nothing {
                    joined.edit(|facts| facts.known = Known::Nothing);
                }
                joined
            }
            (None, None) => Self::default(),
        }
    }

    /// Whether both are the very same value, not only equal ones.
    pub(crate) fn is_identical_to(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn add_taints(&mut self, taints: &[Taint]) {
        if taints.is_empty() {
            return;
        }
        self.edit(|facts| {
            for taint in taints {
                add_taint(&mut facts.taints, *taint);
            }
        });
    }

    /// The same value with every taint in it changed, at any depth; those for which `change` says
    /// `None` go.
    pub(crate) fn map_taints(&self, change: &impl Fn(Taint) -> Option<Taint>) -> Self {
        let Some(facts) = self.facts() else { return Self::default() };
        let nested = facts.fields.as_ref().is_some_and(|fields| !fields.is_empty());
        if facts.taints.is_empty() && !nested {
            return self.clone();
        }
        let mut changed = self.clone();
        changed.edit(|facts| {
            facts.taints = facts.taints.iter().filter_map(|taint| change(*taint)).collect();
            if let Some(fields) = &facts.fields {
                let mapped = fields.iter().map(|(name, value)| (*name, value.map_taints(change)));
                facts.fields = Some(Rc::new(mapped.collect()));
            }
        });
        changed
    }

    /// A field that was set, if any.
    pub(crate) fn own_field(&self, name: Sym) -> Option<&Value> {
        self.field_map().and_then(|fields| fields.get(&name))
    }

    /// What a field holds that was never set: the taint of the whole.
    pub(crate) fn inherited(&self) -> Value {
        Self::of_taints(self.taints().iter().filter(|taint| !taint.chose).copied().collect())
    }

    /// The same value with one field set.
    pub(crate) fn with_field(&self, name: Sym, value: Value) -> Self {
        let value = value.flattened();
        let mut changed = self.clone();
        changed.edit(|facts| {
            let mut fields = facts.fields.as_deref().cloned().unwrap_or_default();
            if fields.len() < MAX_FIELDS || fields.contains_key(&name) {
                facts.nesting = facts.nesting.max(value.nesting() + 1);
                fields.insert(name, value);
            }
            facts.fields = Some(Rc::new(fields));
        });
        changed
    }

    fn nesting(&self) -> u8 {
        self.facts().map_or(0, |facts| facts.nesting)
    }

    /// The value without its fields when they are nested too deep; their taint stays.
    fn flattened(self) -> Self {
        if self.nesting() < MAX_NESTING {
            return self;
        }
        let taints = self.deep_taints();
        let mut flat = self;
        flat.edit(|facts| {
            facts.fields = None;
            facts.nesting = 0;
            facts.taints = taints;
        });
        flat
    }
}

/// Adds a taint, or merges it with the one from the same source.
pub(crate) fn add_taint(taints: &mut Vec<Taint>, taint: Taint) {
    let full = taints.len() >= MAX_FACTS;
    let same = |known: &&mut Taint| known.source == taint.source && known.chose == taint.chose;
    match taints.iter_mut().find(same) {
        Some(known) => {
            known.kinds |= taint.kinds;
            known.clean &= taint.clean;
        }
        None if !full => taints.push(taint),
        None => {}
    }
}

fn union<T: Copy + PartialEq>(a: &[T], b: &[T]) -> Vec<T> {
    let mut both = a.to_vec();
    for item in b {
        if both.len() < MAX_FACTS && !both.contains(item) {
            both.push(*item);
        }
    }
    both
}

fn join_facts(a: &Facts, b: &Facts) -> Facts {
    let mut taints = a.taints.clone();
    for taint in &b.taints {
        add_taint(&mut taints, *taint);
    }
    Facts {
        taints,
        apis: union(&a.apis, &b.apis),
        functions: union(&a.functions, &b.functions),
        literals: union(&a.literals, &b.literals),
        known: join_known(&a.known, &b.known),
        fields: join_fields(a, b),
        origin: a.origin.filter(|_| a.origin == b.origin),
        instance: a.instance.or(b.instance),
        nesting: a.nesting.max(b.nesting),
    }
}

fn join_known(a: &Known, b: &Known) -> Known {
    match (a, b) {
        (a, b) if a == b => a.clone(),
        (Known::Texts(a), Known::Texts(b)) => {
            let mut texts = a.clone();
            texts.extend(b.iter().filter(|text| !a.contains(text)).cloned());
            if texts.len() > MAX_FACTS { Known::Nothing } else { Known::Texts(texts) }
        }
        _ => Known::Nothing,
    }
}

fn join_fields(a: &Facts, b: &Facts) -> Option<Rc<BTreeMap<Sym, Value>>> {
    let (left, right) = match (&a.fields, &b.fields) {
        (None, None) => return None,
        (Some(left), Some(right)) if Rc::ptr_eq(left, right) => return Some(Rc::clone(left)),
        (left, right) => (left, right),
    };
    let empty = BTreeMap::new();
    let (left, right) = (left.as_deref().unwrap_or(&empty), right.as_deref().unwrap_or(&empty));
    let mut changed = Vec::new();
    for (name, value) in left {
        let joined = match right.get(name) {
            Some(other) => value.join(other),
            None if b.taints.is_empty() => continue,
            None => value.join(&Value::of_taints(b.taints.clone())),
        };
        if !joined.is_identical_to(value) {
            changed.push((*name, joined));
        }
    }
    for (name, value) in right {
        if !left.contains_key(name) && left.len() + changed.len() < MAX_FIELDS {
            changed.push((*name, value.join(&Value::of_taints(a.taints.clone()))));
        }
    }
    if changed.is_empty() {
        return a.fields.clone();
    }
    let mut both = left.clone();
    both.extend(changed);
    Some(Rc::new(both))
}
