//! Checks what a review needs: git, a repository, a valid configuration and a writable state folder.

use super::{CheckState, DoctorCheck};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::wiring::ledger::{check as check_ledger, unknown_waivers};
use crate::wiring::probe::Probe;
use mala_domain::config::FILE_NAME;
use std::path::Path;

/// All checks, in the order in which a review needs them.
pub(super) fn all(
    here: &Environment,
    probe: &Probe,
    settings: &Result<Settings, Failure>,
) -> Vec<DoctorCheck> {
    let work_tree = here.work_tree();
    let mut checks = vec![git(probe), repository(work_tree, probe), configuration(settings)];
    checks.extend(work_tree.map(state_folder));
    checks.extend(work_tree.map(ledger));
    checks.extend(work_tree.and_then(waivers));
    checks
}

/// Whether the ledger of findings is valid. Does not create or move files.
fn ledger(root: &Path) -> DoctorCheck {
    let check = |state, detail| DoctorCheck { name: "ledger", state, detail };
    match check_ledger(root) {
        Ok(None) => check(CheckState::Ok, "empty: the first review creates it".to_owned()),
        Ok(Some(problems)) if problems.is_empty() => check(CheckState::Ok, "sound".to_owned()),
        Ok(Some(problems)) => {
            let first = problems.first().map(String::as_str).unwrap_or_default();
            let detail = format!("damaged, so the next review moves it aside: {first}");
            check(CheckState::Broken, detail)
        }
        Err(error) => check(CheckState::Broken, format!("reviews are not stored: {error}")),
    }
}

/// Whether the shared waivers can be read, and name findings that exist; `None` without a file.
fn waivers(root: &Path) -> Option<DoctorCheck> {
    let (state, detail) = match unknown_waivers(root) {
        Ok(unknown) => match unknown?.as_slice() {
            [] => (CheckState::Ok, "valid".to_owned()),
            [first, rest @ ..] => {
                let n = rest.len() + 1;
                (CheckState::Note, format!("{n} of findings that no review here reported: {first}"))
            }
        },
        Err(why) => (CheckState::Misconfigured, format!("no shared waiver applies: {why}")),
    };
    Some(DoctorCheck { name: "waivers", state, detail })
}

fn git(probe: &Probe) -> DoctorCheck {
    let (state, detail) = match probe.ask("git", &["--version"]) {
        Ok(Some(answer)) => {
            let text = String::from_utf8_lossy(&answer);
            (CheckState::Ok, text.trim().trim_start_matches("git version ").to_owned())
        }
        Ok(None) => (CheckState::Broken, "git fails".to_owned()),
        Err(error) => (CheckState::Broken, format!("{error}: only a patch can be reviewed")),
    };
    DoctorCheck { name: "git", state, detail }
}

fn repository(work_tree: Option<&Path>, probe: &Probe) -> DoctorCheck {
    let say = |args: &[&str]| {
        let answer = probe.ask("git", args).ok().flatten()?;
        Some(String::from_utf8_lossy(&answer).trim().to_owned())
    };
    let Some(root) = work_tree else {
        if say(&["rev-parse", "--is-bare-repository"]).is_some_and(|it| it == "true") {
            let detail = "bare repository: only commits and patches can be reviewed".to_owned();
            return DoctorCheck { name: "repository", state: CheckState::Note, detail };
        }
        let detail = "not in a repository: only a patch can be reviewed".to_owned();
        return DoctorCheck { name: "repository", state: CheckState::Note, detail };
    };
    let place = root.display();
    let branch = say(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let commit = say(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    let shallow = say(&["rev-parse", "--is-shallow-repository"]).is_some_and(|it| it == "true");
    let (state, detail) = match (commit, branch) {
        (Some(_), _) if shallow => {
            (CheckState::Note, format!("{place}: shallow clone: bases may be missing"))
        }
        (Some(_), Some(branch)) => (CheckState::Ok, format!("{place}, on {branch}")),
        (Some(_), None) => (CheckState::Ok, format!("{place}, detached HEAD")),
        (None, Some(_)) => (CheckState::Note, format!("{place}: no commit yet")),
        (None, None) => (CheckState::Broken, format!("{place}: git cannot read it")),
    };
    DoctorCheck { name: "repository", state, detail }
}

fn configuration(settings: &Result<Settings, Failure>) -> DoctorCheck {
    let (state, detail) = match settings {
        Ok(settings) => (CheckState::Ok, describe(settings)),
        Err(error) => (CheckState::Misconfigured, error.to_string()),
    };
    DoctorCheck { name: "configuration", state, detail }
}

fn describe(settings: &Settings) -> String {
    let mut detail = match &settings.file {
        Some(file) => format!("{file} is valid"),
        None => format!("no {FILE_NAME}: using the defaults ('mala init' writes one)"),
    };
    if !settings.warnings.is_empty() {
        detail.push_str("; run 'mala config check' for warnings");
    }
    detail
}

/// Whether reviews can be saved. The check leaves no file behind.
fn state_folder(root: &Path) -> DoctorCheck {
    let folder = root.join(".mala");
    let place = if folder.is_dir() { folder.as_path() } else { root };
    let (state, detail) = match tempfile::tempfile_in(place) {
        Ok(_) => (CheckState::Ok, format!("{} is writable", folder.display())),
        Err(error) => (
            CheckState::Broken,
            format!("{} is not writable, so reviews cannot be saved: {error}", place.display()),
        ),
    };
    DoctorCheck { name: "state folder", state, detail }
}
