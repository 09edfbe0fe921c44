//! Calls that no longer fit, and matches that do not handle an added variant.

use super::FoldContext;
use super::resolved_uses::resolved_uses;
use crate::cross_file::contract::{Broken, Called, Contract, SignatureChange, Symbol};
use crate::cross_file::fit::{Misfit, misfit};
use crate::cross_file::report::{self, ChangedCall};
use crate::cross_file::resolve::{WrittenPath, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::{CallPurpose, RustMatch};
use mala_domain::finding::ReviewClaim;
use mala_domain::language::Language;
use std::collections::HashSet;

/// One finding for every call that fitted and does not.
pub(super) fn misfits(
    context: &FoldContext<'_>,
    symbol: &Symbol,
    signature: &SignatureChange,
) -> Vec<ReviewClaim> {
    let mut found = Vec::new();
    for user in context.users() {
        let mut last_line = 0;
        for resolved_use in resolved_uses(context, user, symbol) {
            let Some(call) = &resolved_use.found.call else { continue };
            let makes_it = match symbol.language {
                Language::Python => true,
                _ => (call.makes == CallPurpose::Object) == (signature.called == Called::Class),
            };
            if !makes_it || resolved_use.found.line == last_line {
                continue;
            }
            let language = user.outline.language;
            let Some(misfit) = misfit(signature, call, resolved_use.before, language) else {
                continue;
            };
            // A line less in a call leaves no mark on the lines that stay.
            let was_looked_at =
                matches!(misfit, Misfit::Shifted { .. }) && context.is_changed(&user.path);
            if was_looked_at {
                continue;
            }
            last_line = resolved_use.found.line;
            let refitted = ChangedCall { symbol, signature, misfit: &misfit };
            found.push(report::does_not_fit(
                &refitted,
                user,
                (resolved_use.found, call),
                resolved_use.link.evidence,
            ));
        }
    }
    found
}

/// One finding for every match that was complete and is not.
pub(super) fn unhandled_members(
    context: &FoldContext<'_>,
    contract: &Contract,
) -> Vec<ReviewClaim> {
    let Broken::Members { before, added, .. } = &contract.broken else { return Vec::new() };
    let before: HashSet<&str> = before.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for user in context.users() {
        for one in &user.matches {
            let listed = one.cases.iter().map(|case| case.as_deref()?.rsplit('.').next());
            let lists_all =
                listed.collect::<Option<HashSet<&str>>>().is_some_and(|it| it == before);
            if lists_all && is_over(context, user, &contract.symbol, one) {
                found.push(report::unhandled(contract, user, one, added));
            }
        }
    }
    found
}

/// Whether the match is over this enum: its first case names it.
fn is_over(context: &FoldContext<'_>, user: &UserFile, symbol: &Symbol, one: &RustMatch) -> bool {
    let names_enum = |path: &[&str]| {
        let written = WrittenPath { path, scope: one.within.as_deref() };
        symbol.container.is_none() && denotes(context.tree, user, symbol, written).is_some()
    };
    let Some(Some(first)) = one.cases.first() else { return false };
    let Some((before, _)) = first.rsplit_once('.') else {
        return user.path == symbol.file || names_enum(&[symbol.name.as_str()]);
    };
    if before == "Self" {
        return one.owner.as_deref() == Some(symbol.name.as_str()) && user.path == symbol.file;
    }
    let path: Vec<&str> = before.split('.').collect();
    path.last() == Some(&symbol.name.as_str()) && names_enum(&path)
}
