//! The reviewers of the hooks: the usable ones on this machine. Without any lane, the agent or the
//! built-in reviewer is written to `mala.yaml`.

use crate::console;
use crate::environment::Environment;
use crate::wiring::gate::session_panel_members;
use crate::wiring::gate::work::{read_file, write_file};
use crate::wiring::probe::Probe;
use crate::wiring::reviewers::member_missing;
use crate::wiring::trusted_settings;
use anyhow::Context;
use mala_domain::config::{Config, FILE_NAME};
use std::path::Path;

/// Chooses the reviewers and prints them.
pub(super) fn choose(top: &Path, here: &Environment) -> anyhow::Result<()> {
    let settings =
        match trusted_settings::of_working_tree(here, &Probe::new(here, top)?, Config::default()) {
            Ok(settings) => settings,
            Err(error) => {
                console::say(&format!("warning: cannot choose reviewers: {error}"));
                return Ok(());
            }
        };
    let (members, _) = session_panel_members(&[], &settings, here)?;
    let usable = members.iter().filter(|member| member.absent.is_none());
    let names: Vec<&str> = usable.map(|member| member.lane.name.as_str()).collect();
    let own = match member_missing("agent", &settings.policy, &settings.models, here) {
        None => "agent",
        Some(_) => "builtin",
    };
    match names.as_slice() {
        [] if settings.gate.panel.value.is_some() => {
            console::say("warning: no reviewer of gate.panel is usable");
            console::say("hint: run `review-gate lanes` to see why");
        }
        [] => add_panel(top, own)?,
        [one] if !["agent", "builtin"].contains(one) => console::say(&format!(
            "reviewers: {one} (a second opinion: gate.panel: [{one}, {own}] in {FILE_NAME})"
        )),
        names => console::say(&format!("reviewers: {}", names.join(", "))),
    }
    Ok(())
}

/// Writes the panel to the settings of the project, unless they have other settings of the gate.
fn add_panel(top: &Path, member: &str) -> anyhow::Result<()> {
    let path = top.join(FILE_NAME);
    let text = match read_file(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("reading {FILE_NAME}")),
    };
    if text.lines().any(|line| line.starts_with("gate:")) {
        console::say(&format!(
            "warning: no reviewer is usable: add panel: [{member}] to gate in {FILE_NAME}"
        ));
        return Ok(());
    }
    let start = if text.is_empty() || text.ends_with('\n') { text } else { format!("{text}\n") };
    let new = format!("{start}gate:\n  panel: [{member}]\n");
    write_file(&path, new.as_bytes()).with_context(|| format!("writing {FILE_NAME}"))?;
    console::say(&format!(
        "reviewers: {member}, since no other one is usable here (wrote {FILE_NAME})"
    ));
    Ok(())
}
