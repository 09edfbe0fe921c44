//! What a file takes from other modules and what it gives them.

use super::super::super::ir::{ExprId, Expression, Pattern, Statement, Sym};
use super::super::{Builder, Tree, children, field};
use super::{expression, statement};
use std::rc::Rc;

/// The local names that an import binds.
pub(super) fn imported_names(node: Tree<'_>) -> Vec<Tree<'_>> {
    let mut found = Vec::new();
    let mut pending = children(node);
    while let Some(child) = pending.pop() {
        match child.kind() {
            "identifier" => found.push(child),
            "import_specifier" => {
                found.extend(field(child, "alias").or_else(|| field(child, "name")))
            }
            "import_clause" | "named_imports" | "namespace_import" | "import_require_clause" => {
                pending.extend(children(child));
            }
            _ => {}
        }
    }
    found
}

/// `import` binds modules and parts of them.
pub(super) fn import(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    let mut pending = children(node);
    let source = field(node, "source");
    while let Some(child) = pending.pop() {
        match child.kind() {
            "import_require_clause" => {
                let module = field(child, "source").map(|source| module(b, source));
                let name = children(child).first().copied();
                if let (Some(module), Some(name)) = (module, name) {
                    bind_import(b, name, module, out);
                }
            }
            "import_clause" | "named_imports" => pending.extend(children(child)),
            "identifier" => {
                if let Some(source) = source {
                    let module = module(b, source);
                    bind_import(b, child, module, out);
                }
            }
            "namespace_import" => {
                if let (Some(source), Some(name)) = (source, children(child).first()) {
                    let module = module(b, source);
                    bind_import(b, *name, module, out);
                }
            }
            "import_specifier" => {
                let (Some(source), Some(name)) = (source, field(child, "name")) else { continue };
                let module = module(b, source);
                let member = b.sym_of(name);
                let value = b.add(Expression::Field(module, member), child);
                bind_import(b, field(child, "alias").unwrap_or(name), value, out);
            }
            _ => {}
        }
    }
}

fn bind_import(b: &mut Builder<'_>, name: Tree<'_>, value: ExprId, out: &mut Vec<Statement>) {
    let name = b.sym_of(name);
    let target = Pattern::Variable(b.declare(name));
    out.push(b.assign(target, value));
}

fn module(b: &mut Builder<'_>, source: Tree<'_>) -> ExprId {
    let text = b.slice(source).trim_matches(['"', '\'', '`']);
    b.add(Expression::Module(Rc::from(text)), source)
}

/// `export` makes something a field of `module.exports`.
pub(super) fn export(b: &mut Builder<'_>, node: Tree<'_>, out: &mut Vec<Statement>) {
    if let Some(declaration) = field(node, "declaration") {
        statement(b, declaration, out);
        for name in exported_names(declaration) {
            let member = b.sym_of(name);
            let value = b.name_expression(member, name);
            out.push(export_member(b, member, value));
        }
        return;
    }
    if let Some(value) = field(node, "value") {
        let value = expression(b, value);
        let member = b.sym("default");
        out.push(export_member(b, member, value));
        return;
    }
    if field(node, "source").is_some() {
        return;
    }
    let clauses = children(node).into_iter().filter(|child| child.kind() == "export_clause");
    for specifier in clauses.flat_map(children) {
        let Some(name) = field(specifier, "name") else { continue };
        let local = b.sym_of(name);
        let value = b.name_expression(local, name);
        let member = b.sym_of(field(specifier, "alias").unwrap_or(name));
        out.push(export_member(b, member, value));
    }
}

fn exported_names(declaration: Tree<'_>) -> Vec<Tree<'_>> {
    match declaration.kind() {
        "lexical_declaration" | "variable_declaration" => children(declaration)
            .into_iter()
            .filter_map(|declarator| field(declarator, "name"))
            .filter(|name| name.kind() == "identifier")
            .collect(),
        _ => {
            field(declaration, "name").into_iter().filter(|name| name.kind() != "string").collect()
        }
    }
}

fn export_member(b: &mut Builder<'_>, member: Sym, value: ExprId) -> Statement {
    let place = b.program.node(value).place;
    let (module, exports) = (b.sym("module"), b.sym("exports"));
    let module = b.add_at(Expression::Global(module), place);
    let exports = b.add_at(Expression::Field(module, exports), place);
    let target = b.add_at(Expression::Field(exports, member), place);
    b.assign(Pattern::Target(target), value)
}
