//! Methods that fail whenever they are called: special methods with the wrong number of
//! parameters, initialisers that give a value, methods without `self`.

use super::class::Class;
use super::code::{Function, ParameterKind, own_nodes};
use super::module::{Module, found};
use super::signature::Signature;
use crate::rules::native::code::{bare, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const SPECIAL_METHOD: NativeCheck =
    NativeCheck { name: "python-special-method-signature", captures: &["NAME", "TAKES", "GIVEN"] };

pub(super) const INIT_RESULT: NativeCheck =
    NativeCheck { name: "python-init-result", captures: &["CLASS", "WHAT"] };

pub(super) const MISSING_SELF: NativeCheck =
    NativeCheck { name: "python-missing-self", captures: &["NAME"] };

pub(super) const ITER_NOT_SELF: NativeCheck =
    NativeCheck { name: "python-iter-not-self", captures: &["CLASS"] };

pub(super) const NO_RESULT: NativeCheck =
    NativeCheck { name: "python-special-without-result", captures: &["NAME"] };

/// Special methods and how many arguments the interpreter gives them besides `self`.
const GIVEN: [(&str, usize); 74] = [
    ("__repr__", 0),
    ("__str__", 0),
    ("__bytes__", 0),
    ("__hash__", 0),
    ("__bool__", 0),
    ("__len__", 0),
    ("__length_hint__", 0),
    ("__iter__", 0),
    ("__next__", 0),
    ("__reversed__", 0),
    ("__neg__", 0),
    ("__pos__", 0),
    ("__abs__", 0),
    ("__invert__", 0),
    ("__complex__", 0),
    ("__int__", 0),
    ("__float__", 0),
    ("__index__", 0),
    ("__enter__", 0),
    ("__aenter__", 0),
    ("__await__", 0),
    ("__aiter__", 0),
    ("__anext__", 0),
    ("__del__", 0),
    ("__dir__", 0),
    ("__nonzero__", 0),
    ("__unicode__", 0),
    ("__lt__", 1),
    ("__le__", 1),
    ("__eq__", 1),
    ("__ne__", 1),
    ("__gt__", 1),
    ("__ge__", 1),
    ("__getattr__", 1),
    ("__getattribute__", 1),
    ("__delattr__", 1),
    ("__delete__", 1),
    ("__getitem__", 1),
    ("__delitem__", 1),
    ("__missing__", 1),
    ("__contains__", 1),
    ("__instancecheck__", 1),
    ("__subclasscheck__", 1),
    ("__format__", 1),
    ("__add__", 1),
    ("__sub__", 1),
    ("__mul__", 1),
    ("__matmul__", 1),
    ("__truediv__", 1),
    ("__floordiv__", 1),
    ("__mod__", 1),
    ("__divmod__", 1),
    ("__lshift__", 1),
    ("__rshift__", 1),
    ("__and__", 1),
    ("__xor__", 1),
    ("__or__", 1),
    ("__div__", 1),
    ("__radd__", 1),
    ("__rsub__", 1),
    ("__rmul__", 1),
    ("__rtruediv__", 1),
    ("__ror__", 1),
    ("__rand__", 1),
    ("__iadd__", 1),
    ("__isub__", 1),
    ("__imul__", 1),
    ("__ior__", 1),
    ("__setattr__", 2),
    ("__setitem__", 2),
    ("__set__", 2),
    ("__set_name__", 2),
    ("__exit__", 3),
    ("__aexit__", 3),
];

pub(super) fn special_methods(module: &Module<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for class in &module.classes().all {
        for method in class.methods.iter().filter(|it| it.decorators.is_empty()) {
            let Some((_, given)) = GIVEN.iter().find(|(name, _)| *name == method.name) else {
                continue;
            };
            let signature = Signature::of(method, 1);
            let takes = match &signature {
                None => "no `self`".to_owned(),
                Some(it) if it.least() > *given => it.least().to_string(),
                Some(it) if it.most().is_some_and(|most| most < *given) => {
                    it.most().unwrap_or_default().to_string()
                }
                Some(_) => continue,
            };
            let captures = vec![
                ("NAME", method.name.to_owned()),
                ("TAKES", takes),
                ("GIVEN", given.to_string()),
            ];
            matches.push(NativeMatch { bytes: method.head(), because: None, captures });
        }
    }
    matches
}

pub(super) fn init_results(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for class in &module.classes().all {
        let Some(init) = class.method("__init__") else { continue };
        let captures =
            |what: &str| vec![("CLASS", class.name.to_owned()), ("WHAT", what.to_owned())];
        if init.is_generator() {
            let bytes = init.head();
            matches.push(NativeMatch { bytes, because: None, captures: captures("a generator") });
            continue;
        }
        own_nodes(init.body, |node| {
            if let Some(value) = returned(node).filter(|it| is_surely_a_value(source, *it)) {
                let what = format!("`{}`", source.slice(value));
                matches.push(found(node, captures(&what)));
            }
        });
    }
    matches
}

/// The value that a `return` gives.
pub(super) fn returned(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "return_statement" {
        return None;
    }
    parts(node).first().copied().map(bare)
}

fn is_surely_a_value(source: &Source, value: Node<'_>) -> bool {
    matches!(
        value.kind(),
        "integer"
            | "float"
            | "string"
            | "true"
            | "false"
            | "list"
            | "dictionary"
            | "set"
            | "tuple"
            | "expression_list"
            | "comparison_operator"
            | "list_comprehension"
    ) || source.slice(value) == "self"
}

pub(super) fn missing_selves(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    let classes = module.classes();
    for class in classes.all.iter().filter(|it| !is_interface(it)) {
        for method in &class.methods {
            let is_fault = method.parameters.is_empty()
                && method.decorators.is_empty()
                && !method.name.starts_with("__")
                && !class.assigns(method.name)
                && !is_used_in_body(source, class, method)
                && is_called_on_object(source, class, method.name);
            if is_fault {
                let captures = vec![("NAME", method.name.to_owned())];
                matches.push(NativeMatch { bytes: method.head(), because: None, captures });
            }
        }
    }
    matches
}

/// Interfaces of `zope` describe methods without `self`.
fn is_interface(class: &Class<'_>) -> bool {
    class.bases.iter().any(|it| it.ends_with("Interface")) || class.has_keywords
}

/// Whether the class calls the method as one of its objects.
fn is_called_on_object(source: &Source, class: &Class<'_>, name: &str) -> bool {
    let text = source.slice(class.node);
    text.contains(&format!("self.{name}(")) && !text.contains(&format!("{}.{name}", class.name))
}

/// A function that the class body itself calls, or uses as a decorator.
fn is_used_in_body(source: &Source, class: &Class<'_>, method: &Function<'_>) -> bool {
    let mut used = false;
    own_nodes(class.body, |node| {
        let is_definition = node.parent().is_some_and(|it| it.id() == method.node.id());
        used |= node.kind() == "identifier" && !is_definition && source.slice(node) == method.name;
    });
    used || class.methods.iter().any(|it| it.decorators.contains(&method.name))
}

/// Iterators whose `__iter__` makes another iterator.
pub(super) fn iter_not_self(module: &Module<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for class in &module.classes().all {
        let (Some(iter), Some(_)) = (class.method("__iter__"), class.method("__next__")) else {
            continue;
        };
        if iter.is_generator() {
            let captures = vec![("CLASS", class.name.to_owned())];
            matches.push(NativeMatch { bytes: iter.head(), because: None, captures });
        }
    }
    matches
}

/// Special methods whose result is used, and that give none.
pub(super) fn no_results(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    const NAMES: [&str; 10] = [
        "__str__",
        "__repr__",
        "__len__",
        "__bool__",
        "__hash__",
        "__int__",
        "__float__",
        "__index__",
        "__format__",
        "__bytes__",
    ];
    let mut matches = Vec::new();
    for class in &module.classes().all {
        for method in class.methods.iter().filter(|it| NAMES.contains(&it.name)) {
            let mut leaves = method.is_generator() || !method.decorators.is_empty();
            own_nodes(method.body, |node| {
                leaves |= matches!(node.kind(), "return_statement" | "raise_statement");
            });
            let is_stub = method
                .statements()
                .iter()
                .all(|it| it.kind() == "pass_statement" || source.slice(*it).trim() == "...");
            let has_rest = method.parameters.iter().any(|it| it.kind == ParameterKind::Rest);
            if !leaves && !is_stub && !has_rest {
                let captures = vec![("NAME", method.name.to_owned())];
                matches.push(NativeMatch { bytes: method.head(), because: None, captures });
            }
        }
    }
    matches
}
