//! Calls that no longer fit, and matches that do not handle an added variant.

use super::Scene;
use super::sights::sights;
use crate::cross_file::contract::{Broken, Called, Contract, Signature, Symbol};
use crate::cross_file::fit::{Misfit, misfit};
use crate::cross_file::report::{self, Refitted};
use crate::cross_file::resolve::{Written, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::{Makes, RustMatch};
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use std::collections::HashSet;

/// One finding for every call that fitted and does not.
pub(super) fn misfits(scene: &Scene<'_>, symbol: &Symbol, signature: &Signature) -> Vec<Candidate> {
    let mut found = Vec::new();
    for user in scene.users() {
        let mut last_line = 0;
        for sight in sights(scene, user, symbol) {
            let Some(call) = &sight.found.call else { continue };
            let makes_it = match symbol.language {
                Language::Python => true,
                _ => (call.makes == Makes::Object) == (signature.called == Called::Class),
            };
            if !makes_it || sight.found.line == last_line {
                continue;
            }
            let language = user.outline.language;
            let Some(misfit) = misfit(signature, call, sight.before, language) else { continue };
            // A line less in a call leaves no mark on the lines that stay.
            let was_looked_at =
                matches!(misfit, Misfit::Shifted { .. }) && scene.is_changed(&user.path);
            if was_looked_at {
                continue;
            }
            last_line = sight.found.line;
            let refitted = Refitted { symbol, signature, misfit: &misfit };
            found.push(report::does_not_fit(
                &refitted,
                user,
                (sight.found, call),
                sight.link.evidence,
            ));
        }
    }
    found
}

/// One finding for every match that was complete and is not.
pub(super) fn unhandled_members(scene: &Scene<'_>, contract: &Contract) -> Vec<Candidate> {
    let Broken::Members { before, added, .. } = &contract.broken else { return Vec::new() };
    let before: HashSet<&str> = before.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for user in scene.users() {
        for one in &user.matches {
            let listed = one.cases.iter().map(|case| case.as_deref()?.rsplit('.').next());
            let lists_all =
                listed.collect::<Option<HashSet<&str>>>().is_some_and(|it| it == before);
            if lists_all && is_over(scene, user, &contract.symbol, one) {
                found.push(report::unhandled(contract, user, one, added));
            }
        }
    }
    found
}

/// Whether the match is over this enum: its first case names it.
fn is_over(scene: &Scene<'_>, user: &UserFile, symbol: &Symbol, one: &RustMatch) -> bool {
    let names_enum = |path: &[&str]| {
        let written = Written { path, scope: one.within.as_deref() };
        symbol.container.is_none() && denotes(scene.world, user, symbol, written).is_some()
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
