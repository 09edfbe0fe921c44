//! Uses of removed definitions.

use super::FoldContext;
use super::resolved_uses::{ResolvedUse, resolved_uses};
use crate::cross_file::contract::{Broken, Contract, Symbol};
use crate::cross_file::report::{self, RemovedSymbol, UseSite};
use crate::cross_file::resolve::{Evidence, WrittenPath, denotes};
use crate::cross_file::user::UserFile;
use crate::rules::is_test_path;
use crate::symbols::{Import, ImportGuard, parent};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;

/// Findings for one removed definition: with many uses, only the first ones are reported.
const MAX_FINDINGS: usize = 3;

/// Places beyond the findings that are named.
const MAX_PLACES: usize = 10;

/// Up to a limit, one finding for every file that still uses the definition.
pub(super) fn candidates(context: &FoldContext<'_>, contract: &Contract) -> Vec<ReviewClaim> {
    let Broken::Removed { successor, moved_to } = &contract.broken else { return Vec::new() };
    let symbol = &contract.symbol;
    if is_still_there(context, symbol) {
        return Vec::new();
    }
    let gone =
        RemovedSymbol { symbol, successor: successor.as_deref(), moved_to: moved_to.as_deref() };
    let found = context
        .users()
        .filter(|user| !keeps_for_itself(user, symbol))
        .filter_map(|user| {
            let resolved_uses = resolved_uses(context, user, symbol);
            if resolved_uses.is_empty() {
                let import = import_alone(context, user, symbol)?;
                return Some(report::still_imported(&gone, user, import));
            }
            Some(report::still_used(&gone, user, &place(&resolved_uses)?))
        })
        .collect();
    first_few(found)
}

/// The first findings, code before tests, with the locations of the others.
fn first_few(mut found: Vec<ReviewClaim>) -> Vec<ReviewClaim> {
    found.sort_by_key(|candidate| is_test_path(&candidate.file));
    let others = found.split_off(found.len().min(MAX_FINDINGS));
    if let Some(first) = found.first_mut().filter(|_| !others.is_empty()) {
        let places: Vec<String> = others
            .iter()
            .map(|it| format!("`{}` line {}", it.file, it.span.start()))
            .take(MAX_PLACES)
            .collect();
        let rest = others.len() - places.len();
        let rest = if rest > 0 { format!(" and {rest} more files") } else { String::new() };
        first.body.push_str(&format!(" The same goes for {}{rest}.", places.join(", ")));
    }
    found
}

/// Whether another file of the same package has it: one for each platform, one that a tool made, and in
/// Rust one that `use crate::*` brings.
fn is_still_there(context: &FoldContext<'_>, symbol: &Symbol) -> bool {
    let by_package = match symbol.language {
        Language::Go => |a: &str, b: &str| parent(a) == parent(b),
        Language::Rust if symbol.container.is_none() => |a: &str, b: &str| parent(a) == parent(b),
        Language::Java => |_: &str, _: &str| true,
        _ => return false,
    };
    let qualified = symbol.qualified();
    context.tree.outlines.iter().any(|(path, outline)| {
        by_package(path, &symbol.file)
            && outline.package == symbol.package
            && outline.definitions.iter().any(|definition| {
                definition.name == symbol.name && definition.qualified() == qualified
            })
    })
}

/// Whether the file still has it, and only exports it no more.
fn keeps_for_itself(user: &UserFile, symbol: &Symbol) -> bool {
    user.path == symbol.file
        && symbol.container.is_none()
        && user.outline.definitions.iter().any(|it| it.name == symbol.name && it.is_top_level())
}

/// The first call, or else the first use, with the lines of all.
fn place<'u>(resolved_uses: &[ResolvedUse<'u>]) -> Option<UseSite<'u>> {
    let first = resolved_uses
        .iter()
        .find(|resolved_use| resolved_use.found.call.is_some())
        .or(resolved_uses.first())?;
    let mut lines: Vec<u32> =
        resolved_uses.iter().map(|resolved_use| resolved_use.found.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let is_sure =
        resolved_uses.iter().any(|resolved_use| resolved_use.link.evidence == Evidence::Resolved);
    let evidence = if is_sure { Evidence::Resolved } else { Evidence::OnlyOne };
    Some(UseSite { found: first.found, import_line: first.link.import_line, lines, evidence })
}

/// An import of the definition in a file that does not use it otherwise, such as a re-export.
fn import_alone<'u>(
    context: &FoldContext<'_>,
    user: &'u UserFile,
    symbol: &Symbol,
) -> Option<&'u Import> {
    if symbol.container.is_some() {
        return None;
    }
    let of_class = user.outline.imports.iter().find(|import| is_static_import(import, symbol));
    of_class.or_else(|| import_by_name(context, user, symbol))
}

/// Java's import of a member of the class.
fn is_static_import(import: &Import, symbol: &Symbol) -> bool {
    let package = symbol.package.as_deref().unwrap_or_default();
    symbol.language == Language::Java
        && !package.is_empty()
        && import.module.strip_prefix(package).and_then(|rest| rest.strip_prefix('.'))
            == Some(symbol.name.as_str())
}

fn import_by_name<'u>(
    context: &FoldContext<'_>,
    user: &'u UserFile,
    symbol: &Symbol,
) -> Option<&'u Import> {
    user.outline.imports.iter().find(|import| {
        import.guard == ImportGuard::None
            && import.name() == Some(symbol.name.as_str())
            && !import.local.is_empty()
            && !is_bound_otherwise(user, import)
            && denotes(
                context.tree,
                user,
                symbol,
                WrittenPath { path: &[import.local.as_str()], scope: import.scope.as_deref() },
            )
            .is_some_and(|link| link.import_line == Some(import.line))
    })
}

fn is_bound_otherwise(user: &UserFile, import: &Import) -> bool {
    user.outline
        .imports
        .iter()
        .any(|other| other.local == import.local && other.module != import.module)
}
