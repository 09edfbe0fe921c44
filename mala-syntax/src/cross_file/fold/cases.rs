//! Switches that handled every member and do not handle those added.

use super::Scene;
use crate::cross_file::contract::{Broken, Contract, Symbol};
use crate::cross_file::report;
use crate::cross_file::resolve::{Written, denotes};
use crate::cross_file::user::UserFile;
use crate::symbols::{Case, Fallback, Switch};
use mala_domain::finding::Candidate;
use mala_domain::language::Language;
use std::collections::HashSet;

/// One finding for every switch that was complete and is not.
pub(super) fn candidates(scene: &Scene<'_>, contract: &Contract) -> Vec<Candidate> {
    let Broken::Members { before, added, .. } = &contract.broken else { return Vec::new() };
    let symbol = &contract.symbol;
    let before: HashSet<&str> = before.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for user in scene.users() {
        for switch in user.switches.iter().filter(|switch| switch.fallback == Fallback::Absent) {
            if lists_exactly(switch, &before) && is_over(scene, user, symbol, switch) {
                found.push(report::unhandled(contract, user, switch, added));
            }
        }
    }
    found
}

/// Whether the cases are the members, all of them and nothing else.
fn lists_exactly(switch: &Switch, members: &HashSet<&str>) -> bool {
    let mut listed = HashSet::new();
    for case in &switch.cases {
        let member = match case {
            Case::Name(name) => name.rsplit('.').next().unwrap_or_default(),
            Case::Text(text) => text.as_str(),
            Case::Other => return false,
        };
        listed.insert(member);
    }
    listed == *members
}

/// Whether the switch is over this enum: its cases or its file name it.
fn is_over(scene: &Scene<'_>, user: &UserFile, symbol: &Symbol, switch: &Switch) -> bool {
    let top = symbol.container.is_none();
    let names_enum = |path: &[&str]| {
        let written = Written { path, scope: switch.within.as_deref() };
        top && denotes(scene.world, user, symbol, written).is_some()
    };
    let file_names_enum = || user.path == symbol.file || names_enum(&[symbol.name.as_str()]);
    let Some(first) = switch.cases.first() else { return false };
    let Case::Name(name) = first else { return file_names_enum() };
    let Some((before, member)) = name.rsplit_once('.') else {
        return match symbol.language {
            Language::Go => {
                let member = Symbol { name: name.clone(), ..symbol.clone() };
                let written = Written { path: &[name.as_str()], scope: None };
                denotes(scene.world, user, &member, written).is_some()
            }
            Language::C => user.path == symbol.file || symbol.name.len() > 3,
            _ => file_names_enum(),
        };
    };
    if before == "Self" || before == "self" {
        return switch.owner.as_deref() == Some(symbol.name.as_str()) && user.path == symbol.file;
    }
    let path: Vec<&str> = before.split('.').collect();
    match symbol.language {
        Language::Go => {
            let of_package = Symbol { name: member.to_owned(), ..symbol.clone() };
            let path: Vec<&str> = path.iter().copied().chain([member]).collect();
            let written = Written { path: &path, scope: None };
            denotes(scene.world, user, &of_package, written).is_some()
        }
        _ => path.last() == Some(&symbol.name.as_str()) && names_enum(&path),
    }
}
