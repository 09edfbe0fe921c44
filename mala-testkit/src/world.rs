//! An isolated environment: a home and a folder of its own, and no variable of the machine except
//! the path. The real binary runs in it, and its output is one string.

use crate::output_filter::OutputFilter;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A home, a work folder and an environment for one test.
pub struct World {
    root: TempDir,
    binary: PathBuf,
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    filter: Mutex<OutputFilter>,
}

impl World {
    /// An environment for this binary: `World::new(env!("CARGO_BIN_EXE_mala"))`.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let root = tempfile::Builder::new().prefix("mala-world-").tempdir().unwrap();
        let folder = root.path().join("work");
        fs::create_dir(&folder).unwrap();
        let home = root.path().join("home");
        for inside in [".config", ".cache", ".local/share", ".local/state", "tmp"] {
            fs::create_dir_all(home.join(inside)).unwrap();
        }
        let mut filter = OutputFilter::default();
        filter.path(&folder, "[WORK]");
        filter.path(&home, "[HOME]");
        Self {
            environment: sealed(&home),
            root,
            binary: binary.into(),
            folder,
            filter: Mutex::new(filter),
        }
    }

    /// The folder in which the binary runs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Runs the binary in another folder, such as that of a repository. It appears as `[WORK]` in
    /// the output of `run`.
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self.filter().path(&self.folder, "[WORK]");
        self
    }

    /// Shows this word as `name` in the output of `run`, such as the random id of an issue.
    pub fn name(&self, word: &str, name: &'static str) -> &Self {
        self.filter().word(word, name);
        self
    }

    fn filter(&self) -> std::sync::MutexGuard<'_, OutputFilter> {
        self.filter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a variable for every later run.
    pub fn with_env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.into(), value.as_ref().into()));
        self
    }

    /// Makes only these programs of the machine available.
    pub fn with_only_programs(self, programs: &[&str]) -> Self {
        let bin = self.bin();
        for program in programs {
            let real = real_program(program).unwrap();
            std::os::unix::fs::symlink(real, bin.join(program)).unwrap();
        }
        self.with_env("PATH", bin)
    }

    /// Adds a shell script as a program, before all others on the path.
    pub fn with_program(self, name: &str, script: &str) -> Self {
        let bin = self.bin();
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let path = self.environment.iter().find(|(known, _)| known == "PATH").unwrap().1.clone();
        let others = std::env::split_paths(&path).filter(|folder| *folder != bin);
        let path = std::env::join_paths(std::iter::once(bin.clone()).chain(others)).unwrap();
        self.with_env("PATH", path)
    }

    /// The folder for programs of this environment.
    fn bin(&self) -> PathBuf {
        let bin = self.home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        bin
    }

    /// Writes a file in the work folder and creates its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let file = self.folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
        self
    }

    /// Writes a file and commits it, and nothing else.
    pub fn commit_file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        self.write(path, content).git(&["add", "--", path]);
        self.git(&["commit", "-q", "-m", "add a file", "--", path])
    }

    /// A file of the work folder, as text.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.folder.join(path)).unwrap()
    }

    /// Runs git in the work folder. Fails the test if git fails.
    pub fn git(&self, args: &[&str]) -> &Self {
        let output = self.command("git").args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", text(&output.stderr));
        self
    }

    /// Runs the binary. Returns exit code, stdout and stderr in one string, with variable parts
    /// replaced.
    pub fn run(&self, args: &[&str]) -> String {
        self.show(&self.output(args, b""))
    }

    /// The same, with stdin.
    pub fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> String {
        self.show(&self.output(args, stdin))
    }

    /// Runs the binary and returns its raw output.
    pub fn output(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut child = self
            .command(&self.binary)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // It is not an error if the program does not read its stdin.
        let writer = std::thread::spawn(move || pipe.write_all(&stdin).unwrap_or_default());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        output
    }

    /// A program in this environment, for tests that need its pipes.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder).env_clear().envs(self.environment.iter().cloned());
        command
    }

    /// The text with variable parts replaced.
    pub fn clean(&self, text: &str) -> String {
        self.filter().clean(text)
    }

    /// The output of a program in the form of `run`.
    pub fn show(&self, output: &Output) -> String {
        let exit = output.status.code().map_or("signal".into(), |code| code.to_string());
        let mut shown = format!("[exit {exit}]\n");
        for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            if !bytes.is_empty() {
                shown.push_str(&format!("[{name}]\n{}", self.clean(&text(bytes))));
                if !shown.ends_with('\n') {
                    shown.push_str("[no newline]\n");
                }
            }
        }
        shown
    }
}

/// The environment of a machine without any settings.
fn sealed(home: &Path) -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let fixed: [(&str, OsString); 13] = [
        ("PATH", path),
        ("HOME", home.into()),
        ("TMPDIR", home.join("tmp").into()),
        ("XDG_CONFIG_HOME", home.join(".config").into()),
        ("XDG_CACHE_HOME", home.join(".cache").into()),
        ("XDG_DATA_HOME", home.join(".local/share").into()),
        ("XDG_STATE_HOME", home.join(".local/state").into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".into()),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z".into()),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z".into()),
    ];
    let people = [
        ("GIT_AUTHOR_NAME", "mala tests"),
        ("GIT_AUTHOR_EMAIL", "ann@example.com"),
        ("GIT_COMMITTER_NAME", "mala tests"),
        ("GIT_COMMITTER_EMAIL", "ann@example.com"),
    ];
    let fixed = fixed.into_iter().map(|(name, value)| (name.into(), value));
    fixed.chain(people.map(|(name, value)| (name.into(), value.into()))).collect()
}

fn real_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
