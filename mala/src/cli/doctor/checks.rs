//! What a review needs: git, a repository, a valid configuration, a folder for its state.

use super::{Check, State};
use crate::settings::{self, Settings};
use crate::surroundings::Surroundings;
use crate::wiring::ledger::{check as check_ledger, unknown_waivers};
use crate::wiring::probe::Probe;
use mala_domain::config::FILE_NAME;
use std::path::Path;

/// All of them, in the order in which a review needs them.
pub(super) fn all(here: &Surroundings, probe: &Probe) -> Vec<Check> {
    let work_tree = here.work_tree();
    let mut checks = vec![git(probe), repository(work_tree, probe), configuration(here, probe)];
    checks.extend(work_tree.map(state_folder));
    checks.extend(work_tree.map(ledger));
    checks.extend(work_tree.and_then(waivers));
    checks
}

/// Whether the ledger of findings is sound. Looking at it creates and moves nothing.
fn ledger(root: &Path) -> Check {
    let check = |state, detail| Check { name: "ledger", state, detail };
    match check_ledger(root) {
        Ok(None) => check(State::Fine, "empty: the first review creates it".to_owned()),
        Ok(Some(problems)) if problems.is_empty() => check(State::Fine, "sound".to_owned()),
        Ok(Some(problems)) => {
            let first = problems.first().map(String::as_str).unwrap_or_default();
            let detail = format!("damaged, so the next review moves it aside: {first}");
            check(State::Broken, detail)
        }
        Err(error) => check(State::Broken, format!("reviews are not stored: {error}")),
    }
}

/// Whether the shared waivers can be read, and name findings that exist; `None` without a file.
fn waivers(root: &Path) -> Option<Check> {
    let (state, detail) = match unknown_waivers(root) {
        Ok(unknown) => match unknown?.as_slice() {
            [] => (State::Fine, "valid".to_owned()),
            [first, rest @ ..] => {
                let n = rest.len() + 1;
                (State::Note, format!("{n} of findings that no review here reported: {first}"))
            }
        },
        Err(why) => (State::Misconfigured, format!("no shared waiver applies: {why}")),
    };
    Some(Check { name: "waivers", state, detail })
}

fn git(probe: &Probe) -> Check {
    let (state, detail) = match probe.ask("git", &["--version"]) {
        Ok(Some(answer)) => {
            let text = String::from_utf8_lossy(&answer);
            (State::Fine, text.trim().trim_start_matches("git version ").to_owned())
        }
        Ok(None) => (State::Broken, "git is there and does not work".to_owned()),
        Err(error) => (State::Broken, format!("{error}: only a patch can be reviewed")),
    };
    Check { name: "git", state, detail }
}

fn repository(work_tree: Option<&Path>, probe: &Probe) -> Check {
    let say = |args: &[&str]| {
        let answer = probe.ask("git", args).ok().flatten()?;
        Some(String::from_utf8_lossy(&answer).trim().to_owned())
    };
    let Some(root) = work_tree else {
        if say(&["rev-parse", "--is-bare-repository"]).is_some_and(|it| it == "true") {
            let detail = "a bare repository: only commits and patches can be reviewed".to_owned();
            return Check { name: "repository", state: State::Note, detail };
        }
        let detail = "not in a repository: only a patch can be reviewed".to_owned();
        return Check { name: "repository", state: State::Note, detail };
    };
    let place = root.display();
    let branch = say(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let commit = say(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    let shallow = say(&["rev-parse", "--is-shallow-repository"]).is_some_and(|it| it == "true");
    let (state, detail) = match (commit, branch) {
        (Some(_), _) if shallow => {
            (State::Note, format!("{place}: a shallow clone, whose bases may be missing"))
        }
        (Some(_), Some(branch)) => (State::Fine, format!("{place}, on {branch}")),
        (Some(_), None) => (State::Fine, format!("{place}, on no branch")),
        (None, Some(_)) => (State::Note, format!("{place}: no commit yet")),
        (None, None) => (State::Broken, format!("{place}: git cannot read it")),
    };
    Check { name: "repository", state, detail }
}

fn configuration(here: &Surroundings, probe: &Probe) -> Check {
    let (state, detail) = match settings::of_working_tree(here, probe) {
        Ok(settings) => (State::Fine, describe(&settings)),
        Err(error) => (State::Misconfigured, error.to_string()),
    };
    Check { name: "configuration", state, detail }
}

fn describe(settings: &Settings) -> String {
    let mut detail = match &settings.file {
        Some(file) => format!("{file} is valid"),
        None => format!("no {FILE_NAME}: the defaults hold ('mala init' writes one)"),
    };
    if !settings.warnings.is_empty() {
        detail.push_str("; 'mala config check' has warnings");
    }
    detail
}

/// Whether reviews can be kept; nothing is left behind by looking.
fn state_folder(root: &Path) -> Check {
    let folder = root.join(".mala");
    let place = if folder.is_dir() { folder.as_path() } else { root };
    let (state, detail) = match tempfile::tempfile_in(place) {
        Ok(_) => (State::Fine, format!("{} can be written", folder.display())),
        Err(error) => (
            State::Broken,
            format!("{} cannot be written, so reviews cannot be kept: {error}", place.display()),
        ),
    };
    Check { name: "state folder", state, detail }
}
