//! `mala demo`: reviews a flawed change in a small sample repository.

use super::review::{self, ReviewArgs};
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::wiring::probe::Probe;
use anyhow::{Context, bail};
use clap::Args;
use include_dir::{Dir, include_dir};
use std::path::Path;

/// Review a flawed change in a sample repository
///
/// Creates a small repository with an uncommitted change in a temporary folder, and reviews the change. The
/// folder is kept, with the report in it. Exits with 0 despite the findings.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Create the repository in this folder, which must be empty or not exist
    #[arg(long, value_name = "DIR")]
    dir: Option<std::path::PathBuf>,
}

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/demo");

/// A fake access key, in two parts so that scanners do not report this file.
const KEY_ID: [&str; 2] = ["AKIA", "Z7VRSQ5TJN2XMPLT"];

pub(super) fn run(args: &DemoArgs, here: &Environment) -> anyhow::Result<Exit> {
    let folder = match &args.dir {
        Some(dir) => empty_folder(&here.folder.join(dir))?,
        None => tempfile::Builder::new()
            .prefix("mala-demo-")
            .tempdir()
            .context("creating a temporary folder")?
            .keep(),
    };
    let probe = Probe::new(here, &folder)?;
    commit(&probe, &folder)?;
    lay_out("after", &folder)?;
    console::say(&format!(
        "Created a sample repository with an uncommitted change in {}. Running `mala review`:\n",
        folder.display()
    ));
    let inside = Environment { folder: folder.clone(), ..here.clone() };
    match review::run(&ReviewArgs::of_working_tree(), &inside)? {
        Exit::Passed | Exit::Blocked => {
            console::say(&format!("\nTry it yourself: cd {} && mala review", folder.display()));
            Ok(Exit::Passed)
        }
        other => Ok(other),
    }
}

fn empty_folder(dir: &Path) -> anyhow::Result<std::path::PathBuf> {
    std::fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
    let mut entries =
        std::fs::read_dir(dir).with_context(|| format!("reading {}", dir.display()))?;
    if entries.next().is_some() {
        bail!("{} is not empty", dir.display());
    }
    Ok(dir.to_owned())
}

/// Commits the files before the change.
fn commit(probe: &Probe, folder: &Path) -> anyhow::Result<()> {
    lay_out("before", folder)?;
    let person = ["-c", "user.name=mala demo", "-c", "user.email=demo@example.com"];
    let steps: [&[&str]; 3] = [
        &["init", "--quiet", "--initial-branch=main", "."],
        &["add", "--all"],
        &["commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=Open the shop"],
    ];
    for step in steps {
        let words: Vec<&str> = person.iter().chain(step).copied().collect();
        if probe.ask("git", &words)?.is_none() {
            bail!("git {} failed in {}", step.join(" "), folder.display());
        }
    }
    Ok(())
}

fn lay_out(state: &str, folder: &Path) -> anyhow::Result<()> {
    let files = FILES.get_dir(state).context("the demo's files are not in this binary")?;
    let mut folders = vec![files];
    while let Some(dir) = folders.pop() {
        folders.extend(dir.dirs());
        for file in dir.files() {
            let path = folder.join(file.path().strip_prefix(state)?);
            let text = String::from_utf8_lossy(file.contents());
            let text = text.replace("__AWS_KEY_ID__", &KEY_ID.concat());
            std::fs::create_dir_all(path.parent().unwrap_or(folder))
                .and_then(|()| std::fs::write(&path, text))
                .with_context(|| format!("writing {}", path.display()))?;
        }
    }
    Ok(())
}
