//! Classes that cannot work as they are written: overriding methods that take other arguments,
//! attributes in the way of methods, comparison methods that do not fit together.

use super::class::Class;
use super::code::{Function, callee, last_name, own_nodes, walk_scopes};
use super::module::Module;
use super::signature::Signature;
use crate::rules::native::code::line;
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) const OVERRIDE: NativeCheck =
    NativeCheck { name: "python-override-signature", captures: &["NAME", "CLASS", "LINE", "BASE"] };

pub(super) const SHADOWED_METHOD: NativeCheck =
    NativeCheck { name: "python-shadowed-method", captures: &["NAME", "BASE", "LINE"] };

pub(super) const EQUALITY: NativeCheck =
    NativeCheck { name: "python-unequal-methods", captures: &["CLASS", "HAS", "LACKS"] };

pub(super) const ORDERING: NativeCheck =
    NativeCheck { name: "python-incomplete-ordering", captures: &["CLASS", "HAS", "LACKS"] };

pub(super) const WRONG_SUPER: NativeCheck =
    NativeCheck { name: "python-wrong-super", captures: &["GIVEN", "CLASS"] };

/// A finding about a class or method, made so by another place.
fn report(
    bytes: std::ops::Range<usize>,
    because: Option<Node<'_>>,
    captures: Vec<(&'static str, String)>,
) -> NativeMatch {
    NativeMatch { bytes, because: because.map(|it| it.byte_range()), captures }
}

pub(super) fn overrides(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let classes = module.classes();
    let mut calls: Option<HashMap<(usize, &str), Vec<Node<'_>>>> = None;
    let mut matches = Vec::new();
    for class in &classes.all {
        for base in classes.ancestors(class) {
            for method in class.methods.iter().filter(|it| is_plain_method(it)) {
                let Some(other) = base.method(method.name).filter(|it| is_plain_method(it)) else {
                    continue;
                };
                let calls = calls.get_or_insert_with(|| calls_on_self(source));
                let known = calls.get(&(base.node.id(), method.name));
                let known = known.map_or(&[][..], Vec::as_slice);
                let is_known = super::code::is_marked(source, method.node);
                if is_known || !is_taken_over(source, class, base, (method, other), known) {
                    continue;
                }
                let captures = vec![
                    ("NAME", method.name.to_owned()),
                    ("CLASS", class.name.to_owned()),
                    ("BASE", base.name.to_owned()),
                    ("LINE", line(other.node)),
                ];
                matches.push(report(method.head(), Some(other.node), captures));
            }
        }
    }
    matches.dedup_by(|a, b| a.bytes == b.bytes);
    matches
}

/// Whether calls that fit the base class cannot fit the overriding method.
fn is_taken_over(
    source: &Source,
    class: &Class<'_>,
    base: &Class<'_>,
    (method, other): (&Function<'_>, &Function<'_>),
    calls: &[Node<'_>],
) -> bool {
    let is_static = |it: &Function<'_>| it.is_decorated_with("staticmethod");
    let redefined = |it: &Class<'_>| it.assigns(method.name);
    if is_static(method) != is_static(other) || redefined(class) || redefined(base) {
        return false;
    }
    let n_bound = usize::from(!is_static(method));
    let (Some(new), Some(old)) = (Signature::of(method, n_bound), Signature::of(other, n_bound))
    else {
        return false;
    };
    let needs_more = old.most().is_some_and(|most| new.least() > most);
    let takes_less = new.most().is_some_and(|most| old.least() > most);
    let fails_some = |call: &&Node<'_>| {
        old.mismatch(source, **call).is_none() && new.mismatch(source, **call).is_some()
    };
    // Nobody calls what is only there to be overridden.
    let only_known = is_placeholder(source, other);
    (needs_more || takes_less) && !only_known || calls.iter().any(|call| fails_some(&call))
}

/// Whether a method does nothing but raise `NotImplementedError`.
fn is_placeholder(source: &Source, method: &Function<'_>) -> bool {
    let Some(body) = method.node.child_by_field_name("body") else { return false };
    let mut cursor = body.walk();
    let mut statements = body
        .named_children(&mut cursor)
        .filter(|it| it.kind() != "comment" && !source.slice(*it).starts_with(['"', '\'']));
    let raises = statements.next().is_some_and(|it| {
        it.kind() == "raise_statement" && source.slice(it).contains("NotImplementedError")
    });
    raises && statements.next().is_none()
}

/// Methods that only `self` and `cls` bind, and that no unknown decorator changes.
fn is_plain_method(method: &Function<'_>) -> bool {
    const KNOWN: [&str; 5] = ["staticmethod", "classmethod", "abstractmethod", "override", "final"];
    !method.name.starts_with("__")
        && method.decorators.iter().all(|it| KNOWN.contains(&last_name(it)))
}

/// The calls `self.method(…)` in the methods of each class.
fn calls_on_self(source: &Source) -> HashMap<(usize, &str), Vec<Node<'_>>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    walk_scopes(source.tree().root_node(), |node, scopes| {
        let is_call = node.kind() == "call";
        let class = scopes.iter().rev().find(|it| is_call && it.kind() == "class_definition");
        if let Some(class) = class
            && let Some(name) = callee(source, node).strip_prefix("self.")
        {
            found.entry((class.id(), name)).or_default().push(node);
        }
    });
    found
}

/// Methods that nobody can call, because the base class puts a value of that name into the object.
pub(super) fn shadowed_methods(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let classes = module.classes();
    let mut matches = Vec::new();
    for class in &classes.all {
        for base in classes.ancestors(class) {
            let Some(init) = base.method("__init__") else { continue };
            if !runs_init_of(source, class, base) {
                continue;
            }
            let assigned = assigned_on_self(source, init.body);
            for method in &class.methods {
                let Some(place) = assigned.get(method.name) else { continue };
                let is_meant = base.method(method.name).is_some()
                    || base.assigns(method.name)
                    || method.decorators.iter().any(|it| last_name(it) != "property")
                    || has_setter(class, method.name);
                if !is_meant {
                    let captures = vec![
                        ("NAME", method.name.to_owned()),
                        ("BASE", base.name.to_owned()),
                        ("LINE", line(*place)),
                    ];
                    matches.push(report(method.head(), Some(*place), captures));
                }
            }
        }
    }
    matches
}

/// Whether making an object of a class runs the `__init__` of a base class.
fn runs_init_of(source: &Source, class: &Class<'_>, base: &Class<'_>) -> bool {
    let Some(own) = class.method("__init__") else { return true };
    let text = source.slice(own.body);
    text.contains("super(") || text.contains(&format!("{}.__init__", base.name))
}

fn has_setter(class: &Class<'_>, name: &str) -> bool {
    let setter = format!("{name}.setter");
    class.methods.iter().any(|it| it.decorators.contains(&setter.as_str()))
}

fn assigned_on_self<'t>(source: &'t Source, body: Node<'t>) -> HashMap<&'t str, Node<'t>> {
    let mut found = HashMap::new();
    own_nodes(body, |node| {
        let left = node.child_by_field_name("left").filter(|_| node.kind() == "assignment");
        if let Some(name) = left.and_then(|it| source.slice(it).strip_prefix("self."))
            && node.child_by_field_name("right").is_some()
            && !name.contains(['.', '['])
        {
            found.entry(name).or_insert(node);
        }
    });
    found
}

pub(super) fn unequal_methods(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let classes = module.classes();
    let mut matches = Vec::new();
    for class in classes.all.iter().filter(|it| !it.has_keywords) {
        let has = |name: &str| class.method(name).is_some() || class.assigns(name);
        let (has_eq, has_ne) = (has("__eq__"), has("__ne__"));
        let inherited = classes.ancestors(class).into_iter().find_map(|it| it.method("__ne__"));
        let captures = |has: &str, lacks: &str| {
            vec![
                ("CLASS", class.name.to_owned()),
                ("HAS", has.to_owned()),
                ("LACKS", lacks.to_owned()),
            ]
        };
        let lacks_eq = has_ne && !has_eq && class.bases.iter().all(|it| *it == "object");
        if lacks_eq && class.decorators.is_empty() {
            matches.push(report(class.head(), None, captures("__ne__", "__eq__")));
        } else if has_eq
            && !has_ne
            && let Some(inherited) = inherited.filter(|it| !asks_eq(source, it))
        {
            let captures = captures("__eq__", "__ne__");
            matches.push(report(class.head(), Some(inherited.node), captures));
        }
    }
    matches
}

/// `return not self == other`: follows whatever `__eq__` says.
fn asks_eq(source: &Source, method: &Function<'_>) -> bool {
    let text = source.slice(method.body);
    text.contains("__eq__") || text.contains("==")
}

pub(super) fn incomplete_orderings(module: &Module<'_>) -> Vec<NativeMatch> {
    const STRICT: [&str; 2] = ["__lt__", "__gt__"];
    const LOOSE: [&str; 2] = ["__le__", "__ge__"];
    let classes = module.classes();
    let mut matches = Vec::new();
    for class in classes.all.iter().filter(|it| it.decorators.is_empty() && !it.has_keywords) {
        if !class.bases.iter().all(|it| *it == "object") {
            continue;
        }
        let has = |name: &&&str| class.method(name).is_some() || class.assigns(name);
        let strict: Vec<_> = STRICT.iter().filter(has).copied().collect();
        let loose: Vec<_> = LOOSE.iter().filter(has).copied().collect();
        // `__lt__` alone is what sorting asks for.
        let is_for_sorting = strict == ["__lt__"] && !has(&&"__eq__");
        let (has, lacks) = match (strict.is_empty(), loose.is_empty()) {
            (false, true) if !is_for_sorting => (strict, LOOSE),
            (true, false) => (loose, STRICT),
            _ => continue,
        };
        let listed = |names: &[&str]| names.join("` and `");
        let captures = vec![
            ("CLASS", class.name.to_owned()),
            ("HAS", listed(&has)),
            ("LACKS", listed(&lacks)),
        ];
        matches.push(report(class.head(), None, captures));
    }
    matches
}

/// `super(Other, self)` in a class that is not `Other`.
pub(super) fn wrong_supers(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let calls = module.nodes(&["call"]);
    let calls = calls.into_iter().filter(|it| callee(source, *it) == "super");
    let mut matches = Vec::new();
    for call in calls {
        let [given, object] = super::code::arguments(call)[..] else { continue };
        if !matches!(source.slice(object), "self" | "cls") {
            continue;
        }
        let around = super::code::ancestors(call).find(|it| it.kind() == "class_definition");
        let Some(around) = around else { continue };
        let classes = module.classes();
        let Some(class) = classes.at(around) else { continue };
        let text = source.slice(given);
        let is_own = text == class.name
            || class.bases.contains(&text)
            || classes.ancestors(class).iter().any(|it| it.bases.contains(&text))
            || text.contains('.') && last_name(text) == class.name;
        let is_fault = match given.kind() {
            "identifier" => !is_own && classes.named(text).is_some(),
            _ => matches!(text, "self.__class__" | "type(self)"),
        };
        if is_fault {
            let captures = vec![("GIVEN", text.to_owned()), ("CLASS", class.name.to_owned())];
            matches.push(report(call.byte_range(), None, captures));
        }
    }
    matches
}
