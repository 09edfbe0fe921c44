//! Rust's enums with variants that they had not.

use super::{FileDelta, Side};
use crate::cross_file::contract::{Broken, Contract};
use crate::symbols::Visibility;
use mala_domain::language::Language;
use std::collections::HashSet;

/// Fewer members make no enum.
const MIN_MEMBERS: usize = 2;

/// The enums that base and head both have, with members added.
pub(super) fn contracts(delta: &FileDelta, base: &Side<'_>, head: &Side<'_>) -> Vec<Contract> {
    if base.outline.language != Language::Rust {
        return Vec::new();
    }
    base.outline
        .definitions
        .iter()
        .filter(|definition| definition.visibility != Visibility::Local)
        .filter(|definition| definition.members.len() >= MIN_MEMBERS)
        .filter_map(|definition| {
            let all = head.all(&definition.qualified());
            let after = all.iter().find(|after| !after.members.is_empty())?;
            let (old, new) = (set(&definition.members), set(&after.members));
            let added: Vec<String> =
                after.members.iter().filter(|m| !old.contains(m.as_str())).cloned().collect();
            (old.is_subset(&new) && !added.is_empty()).then(|| Contract {
                symbol: delta.symbol(base.outline, Some(definition)),
                broken: Broken::Members {
                    before: definition.members.clone(),
                    added,
                    line: after.name_line,
                },
            })
        })
        .collect()
}

fn set(members: &[String]) -> HashSet<&str> {
    members.iter().map(String::as_str).collect()
}
