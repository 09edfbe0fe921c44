//! Writes a case as a folder: `case.json`, `change.diff`, and the files below `head/` and `base/`. The folder
//! appears complete or not at all, and never replaces another.

use super::folder;
use crate::EvalCase;
use mala_domain::change::FilePath;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Writes a case into a folder that is not there yet.
pub fn write_case_folder(case: &EvalCase, folder: &Path) -> io::Result<()> {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    if fs::symlink_metadata(folder).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "already exists"));
    }
    let draft = tempfile::Builder::new().prefix(".writing-").tempdir_in(above)?;
    let root = draft.path().join("case");
    fs::create_dir(&root)?;
    in_files(case, &root)?;
    // Names that a file system changes would make another case.
    if folder::read(&root.join("case.json")).ok().as_ref() != Some(case) {
        fs::remove_dir_all(&root)?;
        fs::create_dir(&root)?;
        fs::write(root.join("case.json"), serde_json::to_string_pretty(case)? + "\n")?;
    }
    fs::rename(&root, folder)
}

fn in_files(case: &EvalCase, root: &Path) -> io::Result<()> {
    let mut about = case.clone();
    tree(&root.join("head"), &std::mem::take(&mut about.files))?;
    tree(&root.join("base"), &about.base_files.take().unwrap_or_default())?;
    fs::write(root.join("change.diff"), std::mem::take(&mut about.diff))?;
    let mut about = serde_json::to_value(about)?;
    if let Some(fields) = about.as_object_mut() {
        fields.retain(|name, _| name != "files" && name != "diff");
    }
    fs::write(root.join("case.json"), serde_json::to_string_pretty(&about)? + "\n")
}

/// The paths of a case stay inside: its own check sees to that.
fn tree(root: &Path, files: &BTreeMap<FilePath, String>) -> io::Result<()> {
    for (path, text) in files.iter().filter(|(path, _)| path.stays_inside()) {
        let file = root.join(OsStr::from_bytes(path.as_bytes()));
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(path: &str) -> EvalCase {
        let diff = "--- a/deep/er.py\n+++ b/deep/er.py\n@@ -1 +0,0 @@\n-z\n";
        let text = serde_json::json!({
            "id": "a", "language": "python", "diff": diff, "files": {path: "x\n", "deep/er.py": ""},
            "base_files": {path: "y\n"}, "ground_truth": [{"file": path, "line_start": 1, "category": "bug"}],
        });
        EvalCase::parse("case", 1, &text.to_string()).unwrap()
    }

    #[test]
    fn a_kept_case_is_the_same_case() {
        let above = tempfile::tempdir().unwrap();
        for (name, path) in [("one", "src/a b.py"), ("two", "back\\slash\n.py")] {
            let (case, folder) = (case(path), above.path().join(name));
            write_case_folder(&case, &folder).unwrap();
            assert_eq!(folder::read(&folder.join("case.json")).unwrap(), case);
            let again = write_case_folder(&case, &folder).unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(fs::read_to_string(above.path().join("one/head/src/a b.py")).unwrap(), "x\n");
        let names = fs::read_dir(above.path()).unwrap().count();
        assert_eq!(names, 2, "nothing half-written stays");
    }
}
