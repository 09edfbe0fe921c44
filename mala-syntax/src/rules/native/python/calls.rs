//! Calls of functions that the file itself defines: with wrong arguments, with a use of a missing
//! result, and without a needed `await`.

use super::code::{Function, ancestors, callee, own_nodes, walk_scopes};
use super::module::{Module, found_because};
use super::signature::Signature;
use crate::rules::native::code::{line, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use crate::symbols::ScopeVariable;
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) const WRONG_ARGUMENTS: NativeCheck =
    NativeCheck { name: "python-wrong-arguments", captures: &["NAME", "PROBLEM", "LINE"] };

pub(super) const NO_VALUE: NativeCheck =
    NativeCheck { name: "python-result-of-procedure", captures: &["NAME", "LINE"] };

/// If at least this number of calls of one function are all wrong, none is reported.
const MANY_CALLS: usize = 3;

/// A call that surely reaches a function of the file.
#[derive(Clone, Copy)]
pub(super) struct Reached<'t> {
    call: Node<'t>,
    /// The position of the function among those of the file.
    function: usize,
    kind: CallKind,
}

/// How a call refers to its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Function,
    Method,
    Class,
}

impl CallKind {
    /// How many parameters the call itself fills.
    fn n_bound(self) -> usize {
        usize::from(self != Self::Function)
    }
}

/// The functions of a file by the ways to call them.
struct Callables<'m, 't> {
    module: &'m Module<'t>,
    functions: HashMap<&'t str, usize>,
    /// The method names that occur only once.
    methods: HashMap<&'t str, Option<usize>>,
    positions: HashMap<usize, usize>,
}

/// The calls that surely reach a function of the file.
pub(super) fn reached<'t>(module: &Module<'t>) -> Vec<Reached<'t>> {
    let callables = Callables::of(module);
    let mut found = Vec::new();
    walk_scopes(module.root(), |call, scopes| {
        if call.kind() == "call"
            && let Some((function, kind)) = callables.target(call, scopes)
        {
            found.push(Reached { call, function, kind });
        }
    });
    found
}

impl<'m, 't> Callables<'m, 't> {
    fn of(module: &'m Module<'t>) -> Self {
        let root = module.root();
        let all = || module.functions().iter().enumerate();
        let is_only = |it: &Function<'t>| {
            it.decorators.is_empty() && module.names().only_at_top(root, it.name).is_some()
        };
        let at_top = all().filter(|(_, it)| it.is_at_top && is_only(it));
        let mut methods = HashMap::new();
        for (at, function) in all().filter(|(_, it)| it.class.is_some()) {
            methods.entry(function.name).and_modify(|it| *it = None).or_insert(Some(at));
        }
        Self {
            module,
            functions: at_top.map(|(at, it)| (it.name, at)).collect(),
            methods,
            positions: all().map(|(at, it)| (it.node.id(), at)).collect(),
        }
    }

    /// The function that a call in these scopes calls.
    fn target(&self, call: Node<'t>, scopes: &[Node<'t>]) -> Option<(usize, CallKind)> {
        let name = callee(self.module.source, call);
        if let Some(method) = name.strip_prefix("self.") {
            return self.method(scopes, method).map(|it| (it, CallKind::Method));
        }
        // An inner scope may rebind the name.
        let variable =
            self.module.names().scopes.variable_at(call.child_by_field_name("function")?);
        if !variable.is_some_and(ScopeVariable::is_top_level) {
            return None;
        }
        let function = self.functions.get(name).map(|it| (*it, CallKind::Function));
        function.or_else(|| self.constructor(name).map(|it| (it, CallKind::Class)))
    }

    /// The `__init__` that runs when a class is called, if all that it inherits is in the file.
    fn constructor(&self, name: &str) -> Option<usize> {
        let classes = self.module.classes();
        let class = classes.named(name).filter(|it| classes.is_whole(it))?;
        let is_top = self.module.names().only_at_top(self.module.root(), name).is_some();
        let mut family = vec![class];
        family.extend(classes.ancestors(class));
        let is_made_otherwise = family.iter().any(|it| it.method("__new__").is_some());
        let init = family.iter().find_map(|it| it.method("__init__"))?;
        let is_plain = init.decorators.is_empty() && is_top && !is_made_otherwise;
        self.positions.get(&init.node.id()).copied().filter(|_| is_plain)
    }

    /// The method that `self.name(…)` calls, when no class of the file replaces it.
    fn method(&self, scopes: &[Node<'t>], name: &str) -> Option<usize> {
        let [.., class, function] = scopes else { return None };
        let classes = self.module.classes();
        let class = classes.at(*class).filter(|_| function.kind() == "function_definition")?;
        let at = (*self.methods.get(name)?)?;
        let function = self.module.functions().get(at)?;
        let owner = classes.at(function.class?)?;
        let is_own = owner.node.id() == class.node.id()
            || classes.is_whole(class)
                && classes.ancestors(class).iter().any(|it| it.node.id() == owner.node.id());
        let is_taken = self.module.assigned_attributes().contains(name) || owner.assigns(name);
        let is_plain = function.decorators.is_empty() && is_own && !is_taken;
        (is_plain && !is_abstract(self.module.source, function)).then_some(at)
    }
}

/// Whether a method is to be implemented by subclasses.
fn is_abstract(source: &Source, function: &Function<'_>) -> bool {
    function.statements().iter().all(|it| {
        let text = source.slice(*it).trim();
        text == "pass" || text == "..." || text.starts_with("raise NotImplementedError")
    })
}

/// The name called, and the line of its definition.
fn name_and_line(
    source: &Source,
    call: Node<'_>,
    function: &Function<'_>,
) -> Vec<(&'static str, String)> {
    vec![("NAME", callee(source, call).to_owned()), ("LINE", line(function.node))]
}

pub(super) fn wrong_arguments(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut by_function: HashMap<usize, (usize, Vec<NativeMatch>)> = HashMap::new();
    for Reached { call, function: at, kind } in module.reached() {
        let Some(function) = module.functions().get(*at) else { continue };
        let (n_calls, wrong) = by_function.entry(*at).or_default();
        *n_calls += 1;
        let mismatch = Signature::of(function, kind.n_bound())
            .and_then(|it| it.mismatch(source, *call))
            .filter(|_| !expects_failure(source, *call));
        if let Some(mismatch) = mismatch {
            let mut captures = name_and_line(source, *call, function);
            captures.push(("PROBLEM", mismatch.to_string()));
            wrong.push(found_because(*call, function.node, captures));
        }
    }
    // If none of many calls fits, the signature is probably misunderstood.
    let told = by_function
        .into_values()
        .filter(|(n_calls, wrong)| *n_calls < MANY_CALLS || wrong.len() < *n_calls);
    let mut matches: Vec<_> = told.flat_map(|(_, wrong)| wrong).collect();
    matches.sort_by_key(|it| it.bytes.start);
    matches
}

/// Whether a call is expected to fail: under `except`, or in `with raises(…)`.
pub(super) fn expects_failure(source: &Source, node: Node<'_>) -> bool {
    ancestors(node).any(|outer| match outer.kind() {
        "try_statement" => parts(outer).iter().any(|it| it.kind() == "except_clause"),
        "with_statement" => parts(outer).first().is_some_and(|it| {
            ["aises", "suppress"].iter().any(|word| source.slice(*it).contains(word))
        }),
        _ => false,
    })
}

/// Uses of the result of functions that return nothing.
pub(super) fn no_values(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for Reached { call, function, kind } in module.reached() {
        let Some(function) = module.functions().get(*function) else { continue };
        let is_plain = *kind == CallKind::Function;
        if is_plain && is_procedure(source, function) && uses_value(*call) {
            let captures = name_and_line(source, *call, function);
            matches.push(found_because(*call, function.node, captures));
        }
    }
    matches
}

fn uses_value(call: Node<'_>) -> bool {
    let Some(outer) = call.parent() else { return false };
    match outer.kind() {
        "assignment" | "for_statement" => {
            outer.child_by_field_name("right").is_some_and(|it| it.id() == call.id())
        }
        "attribute"
        | "subscript"
        | "comparison_operator"
        | "binary_operator"
        | "interpolation"
        | "if_statement"
        | "while_statement"
        | "elif_clause" => true,
        _ => false,
    }
}

/// Whether a function certainly has no result: no `return` or `raise`, and it is neither async nor a
/// generator nor abstract.
fn is_procedure(source: &Source, function: &Function<'_>) -> bool {
    let mut gives = function.is_async || function.is_generator();
    own_nodes(function.body, |node| {
        gives |= matches!(node.kind(), "return_statement" | "raise_statement");
    });
    !gives && !is_abstract(source, function)
}
