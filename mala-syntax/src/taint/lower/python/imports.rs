//! What a file takes from other modules.

use super::super::super::ir::{ExprId, Expression, Statement, Sym};
use super::super::{Builder, Tree, children, field};
use std::rc::Rc;

/// The local names that an import binds.
pub(super) fn imported_names(node: Tree<'_>) -> Vec<Tree<'_>> {
    let mut cursor = node.walk();
    let names: Vec<Tree<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    names
        .into_iter()
        .filter_map(|name| match name.kind() {
            "aliased_import" => field(name, "alias"),
            _ => children(name).first().copied(),
        })
        .collect()
}

/// `a.b.c` as a module and parts of it.
fn dotted(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let mut current: Option<ExprId> = None;
    for name in children(node) {
        current = Some(match current {
            None => {
                let text: Rc<str> = Rc::from(b.slice(name));
                b.add(Expression::Module(text), name)
            }
            Some(before) => {
                let name_sym = b.sym_of(name);
                b.add(Expression::Field(before, name_sym), name)
            }
        });
    }
    current.unwrap_or_else(|| b.opaque(node))
}

pub(super) fn import(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    let mut cursor = node.walk();
    let names: Vec<Tree<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    for name in names {
        let (value, local) = match name.kind() {
            "aliased_import" => {
                let (Some(path), Some(alias)) = (field(name, "name"), field(name, "alias")) else {
                    continue;
                };
                (dotted(b, path), alias)
            }
            _ => {
                // `import a.b` binds `a`.
                let Some(first) = children(name).first().copied() else { continue };
                let text: Rc<str> = Rc::from(b.slice(first));
                (b.add(Expression::Module(text), first), first)
            }
        };
        let local = b.sym_of(local);
        let target = b.name_target(local);
        out.push(b.assign(target, value));
    }
}

pub(super) fn import_from(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    let Some(module) = field(node, "module_name") else { return };
    let mut cursor = node.walk();
    let names: Vec<Tree<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    for name in names {
        let (path, local) = match name.kind() {
            "aliased_import" => (field(name, "name"), field(name, "alias")),
            _ => (Some(name), children(name).first().copied()),
        };
        let (Some(path), Some(local)) = (path, local) else { continue };
        let base = match module.kind() {
            "dotted_name" => dotted(b, module),
            _ => {
                let text: Rc<str> = Rc::from(b.slice(module));
                b.add(Expression::Module(text), module)
            }
        };
        let member: Sym = b.sym_of(path);
        let value = b.add(Expression::Field(base, member), path);
        let local = b.sym_of(local);
        let target = b.name_target(local);
        out.push(b.assign(target, value));
    }
}
