//! Matches that handled every member and do not handle those added.

use super::Scene;
use crate::cross_file::contract::{Broken, Contract, Symbol};
use crate::cross_file::report;
use crate::cross_file::resolve::{Written, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::RustMatch;
use mala_domain::finding::Candidate;
use std::collections::HashSet;

/// One finding for every match that was complete and is not.
pub(super) fn candidates(scene: &Scene<'_>, contract: &Contract) -> Vec<Candidate> {
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
