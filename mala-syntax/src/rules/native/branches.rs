//! Branches that repeat one another: a condition that was tested before, and two identical
//! branches.

use super::code::{bare, because, canonical, found, is_comment, line, parts, same};
use super::purity::is_question;
use super::{CheckFamily, CheckMatch, NativeCheck};
use crate::rules::walk::walk;
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

pub(super) const FAMILY: CheckFamily = CheckFamily {
    checks: &[DUPLICATE_CONDITION, IDENTICAL_BRANCHES],
    kinds: &["if_statement", "if_expression", "ternary_expression", "conditional_expression"],
    run,
};

const DUPLICATE_CONDITION: NativeCheck =
    NativeCheck { name: "duplicate-condition", captures: &["CONDITION", "LINE"] };

const IDENTICAL_BRANCHES: NativeCheck =
    NativeCheck { name: "identical-branches", captures: &["CONDITION"] };

const IFS: [&str; 2] = ["if_statement", "if_expression"];

/// One branch of an if chain; the last may have no condition.
struct Branch<'t> {
    condition: Option<Node<'t>>,
    body: Node<'t>,
}

fn run(source: &Source, nodes: &[Node<'_>]) -> Vec<CheckMatch> {
    let (ifs, choices): (Vec<_>, Vec<_>) =
        nodes.iter().partition(|node| IFS.contains(&node.kind()));
    let mut matches = Vec::new();
    for head in chain_heads(&ifs) {
        let branches = chain(head);
        duplicate_conditions(source, &branches, &mut matches);
        if let Some(condition) = alike(source, &branches) {
            matches.push(branch_match(source, head, condition));
        }
    }
    for choice in choices {
        if let Some((condition, yes, no)) = choice_parts(choice)
            && same(source, bare(yes), bare(no))
            && !holds_comment(yes)
            && !holds_comment(no)
        {
            matches.push(branch_match(source, choice, condition));
        }
    }
    matches
}

fn duplicate_conditions(source: &Source, branches: &[Branch<'_>], out: &mut Vec<CheckMatch>) {
    let mut seen: HashMap<String, Node<'_>> = HashMap::new();
    for condition in branches.iter().filter_map(|branch| branch.condition) {
        let Some(code) = canonical(source, condition).filter(|_| is_question(source, condition))
        else {
            continue;
        };
        if let Some(first) = seen.get(&code) {
            let captures =
                vec![("CONDITION", source.slice(condition).to_owned()), ("LINE", line(*first))];
            out.push(because(found(&DUPLICATE_CONDITION, condition, captures), *first));
        } else {
            seen.insert(code, condition);
        }
    }
}

/// The condition of a chain that ends in `else` and does the same in every branch.
fn alike<'t>(source: &Source, branches: &[Branch<'t>]) -> Option<Node<'t>> {
    let [first, others @ ..] = branches else { return None };
    let complete = others.last().is_some_and(|last| last.condition.is_none());
    let alike = complete
        && !parts(first.body).is_empty()
        && others.iter().all(|branch| same(source, first.body, branch.body))
        // PHP: text outside of the code is no part of the branches in the tree.
        && !branches.iter().any(|branch| source.slice(branch.body).contains("?>"))
        // Comments in each branch show that the duplication is intended.
        && !branches.iter().any(|branch| holds_comment(branch.body))
        // The same name is another value where the condition binds it.
        && !branches.iter().filter_map(|branch| branch.condition).any(binds);
    first.condition.filter(|_| alike)
}

fn binds(condition: Node<'_>) -> bool {
    matches!(condition.kind(), "let_condition" | "let_chain")
}

fn holds_comment(body: Node<'_>) -> bool {
    let mut found = false;
    walk(body, None, |node| found |= is_comment(node));
    found
}

fn branch_match(source: &Source, whole: Node<'_>, condition: Node<'_>) -> CheckMatch {
    found(&IDENTICAL_BRANCHES, whole, vec![("CONDITION", source.slice(bare(condition)).to_owned())])
}

/// Condition, value if so, value if not.
fn choice_parts(choice: Node<'_>) -> Option<(Node<'_>, Node<'_>, Node<'_>)> {
    let field = |name| choice.child_by_field_name(name);
    if let Some(condition) = field("condition") {
        return Some((condition, consequence(choice)?, field("alternative")?));
    }
    match parts(choice).as_slice() {
        [yes, condition, no] => Some((*condition, *yes, *no)),
        _ => None,
    }
}

/// The ifs that are not the `else if` of another.
fn chain_heads<'t>(ifs: &[Node<'t>]) -> Vec<Node<'t>> {
    let continued: HashSet<usize> =
        ifs.iter().filter_map(|head| next_if(*head)).map(|next| next.id()).collect();
    ifs.iter().copied().filter(|head| !continued.contains(&head.id())).collect()
}

/// The branches of an if chain in order; empty if a part of it declares variables.
fn chain(head: Node<'_>) -> Vec<Branch<'_>> {
    let mut branches = Vec::new();
    let mut current = Some(head);
    while let Some(node) = current.take() {
        let (Some(condition), Some(body)) =
            (node.child_by_field_name("condition"), consequence(node))
        else {
            return Vec::new();
        };
        if node.child_by_field_name("initializer").is_some() {
            return Vec::new();
        }
        branches.push(Branch { condition: Some(bare(condition)), body });
        for alternative in alternatives(node) {
            if let Some(condition) = alternative.child_by_field_name("condition")
                && !IFS.contains(&alternative.kind())
                && let Some(body) = consequence(alternative)
            {
                branches.push(Branch { condition: Some(bare(condition)), body });
            } else if let Some(next) = as_if(alternative) {
                current = Some(next);
            } else if let Some(body) = else_body(alternative) {
                branches.push(Branch { condition: None, body });
            }
        }
    }
    branches
}

fn consequence(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("consequence").or_else(|| node.child_by_field_name("body"))
}

fn alternatives(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children_by_field_name("alternative", &mut cursor).collect()
}

fn next_if(node: Node<'_>) -> Option<Node<'_>> {
    alternatives(node).into_iter().find_map(as_if)
}

/// The if that an `else` continues with.
fn as_if(alternative: Node<'_>) -> Option<Node<'_>> {
    if IFS.contains(&alternative.kind()) {
        return Some(alternative);
    }
    match parts(alternative).as_slice() {
        [only] if alternative.kind() == "else_clause" && IFS.contains(&only.kind()) => Some(*only),
        _ => None,
    }
}

fn else_body(alternative: Node<'_>) -> Option<Node<'_>> {
    if alternative.kind() != "else_clause" {
        return Some(alternative);
    }
    alternative.child_by_field_name("body").or_else(|| parts(alternative).first().copied())
}
