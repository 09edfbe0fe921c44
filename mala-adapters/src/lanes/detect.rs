//! Whether a lane can be used on this machine.

use crate::process::{ProcessEnvironment, ProcessLimits, ProcessSpec, run};
use mala_domain::gate::lane::Lane;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit for printing a version.
const VERSION_TIME: Duration = Duration::from_secs(20);

/// The program and the sign-in of a lane on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePresence {
    /// The path of its program.
    pub program: Option<PathBuf>,
    /// The variable or file that shows that the user is signed in.
    pub signed_in: Option<String>,
    /// Whether the lane needs a sign-in.
    pub needs_sign_in: bool,
}

impl LanePresence {
    /// Why the lane cannot be used; `None` when it can.
    pub fn why_not(&self, lane: &Lane) -> Option<String> {
        if self.program.is_none() {
            return Some(format!("`{}` is not on PATH", lane.program()));
        }
        let signs = lane.settings.signed_in.iter().flatten();
        (self.needs_sign_in && self.signed_in.is_none()).then(|| {
            let signs: Vec<&str> = signs.map(String::as_str).collect();
            format!("not signed in: none of {} is there", signs.join(", "))
        })
    }
}

/// Looks for a lane's program and for a sign-in. `variables` are all of the user's.
pub fn detect(lane: &Lane, variables: &ProcessEnvironment) -> LanePresence {
    let signs = lane.settings.signed_in.as_deref().unwrap_or_default();
    LanePresence {
        program: variables.find(lane.program()),
        signed_in: signs.iter().find(|sign| is_there(sign, variables)).cloned(),
        needs_sign_in: !signs.is_empty(),
    }
}

/// The first line that the program prints for its version.
pub async fn version(
    lane: &Lane,
    program: &Path,
    variables: &ProcessEnvironment,
) -> Option<String> {
    let args = lane.settings.version.as_ref()?;
    let home = tempfile::Builder::new().prefix("mala-version-").tempdir().ok()?;
    let environment = super::variables::plain(variables).with("HOME", home.path());
    let spec = ProcessSpec::new(program, home.path(), environment).args(args);
    let finished = run(spec, ProcessLimits::within(VERSION_TIME).stdout(64 << 10)).await.ok()?;
    let printed = String::from_utf8_lossy(&finished.output.stdout).into_owned();
    let line = printed.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().filter(|c| !c.is_control()).take(100).collect())
}

/// The variable that signs the lane in under another name, and its value; `None` if an earlier
/// entry of `signed_in` applies.
pub(super) fn lent<'a>(
    lane: &'a Lane,
    variables: &'a ProcessEnvironment,
) -> Option<(&'a str, &'a OsStr)> {
    let signs = lane.settings.signed_in.as_deref().unwrap_or_default();
    let sign = signs.iter().find(|sign| is_there(sign, variables))?;
    let (name, other) = variable(sign)?;
    Some((other?, variables.get(name)?))
}

fn is_there(sign: &str, variables: &ProcessEnvironment) -> bool {
    match variable(sign) {
        Some((name, _)) => variables.get(name).is_some_and(|value| !value.is_empty()),
        None => path(sign, variables).is_some_and(|path| path.exists()),
    }
}

/// The variable of a `signed_in` entry, and its name for the lane: `$NAME` or `$NAME as OTHER`.
fn variable(sign: &str) -> Option<(&str, Option<&str>)> {
    let name = sign.strip_prefix('$').filter(|name| !name.contains('/'))?;
    Some(match name.split_once(" as ") {
        Some((name, other)) => (name, Some(other)),
        None => (name, None),
    })
}

/// A path that starts at the user's home (`~/`) or at a folder in a variable (`$NAME/`).
pub(super) fn path(written: &str, variables: &ProcessEnvironment) -> Option<PathBuf> {
    let (start, rest) = written.split_once('/')?;
    let start = match start {
        "~" => variables.get("HOME")?,
        "" => return Some(PathBuf::from(written)),
        name => variables.get(name.strip_prefix('$')?)?,
    };
    (!start.is_empty()).then(|| Path::new(start).join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::gate::lane::LaneTable;

    #[test]
    fn signs_are_variables_and_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("auth.json"), "{}").unwrap();
        let variables = ProcessEnvironment::default()
            .with("HOME", folder.path())
            .with("OTHER", folder.path())
            .with("EMPTY", "")
            .with("KEY", "k");
        for (sign, expected) in [
            ("$KEY", true),
            ("$KEY as OTHER_KEY", true),
            ("$NONE as OTHER_KEY", false),
            ("$EMPTY", false),
            ("$NONE", false),
            ("~/auth.json", true),
            ("~/nothing.json", false),
            ("$OTHER/auth.json", true),
            ("$NONE/auth.json", false),
            ("$EMPTY/auth.json", false),
        ] {
            assert_eq!(is_there(sign, &variables), expected, "{sign}");
        }
    }

    #[test]
    fn a_key_is_lent_under_another_name_only_when_nothing_else_signs_in() {
        let codex = LaneTable::known().unwrap().get("codex").unwrap().clone();
        let home = tempfile::tempdir().unwrap();
        let variables =
            ProcessEnvironment::default().with("HOME", home.path()).with("OPENAI_API_KEY", "k");
        assert_eq!(lent(&codex, &variables), Some(("CODEX_API_KEY", OsStr::new("k"))));
        assert_eq!(lent(&codex, &variables.clone().with("CODEX_API_KEY", "c")), None);
        std::fs::create_dir(home.path().join(".codex")).unwrap();
        std::fs::write(home.path().join(".codex/auth.json"), "{}").unwrap();
        assert_eq!(lent(&codex, &variables), None);
    }
}
