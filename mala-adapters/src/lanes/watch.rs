//! Watches the output of a lane while it runs: writes it to files, and detects a complete answer.

use crate::bounded_read::read_no_follow;
use crate::process::{OutputWatcher, ProcessOutput};
use mala_domain::gate::lane::{AnswerForm, AnswerPlace, LaneOutput, LaneStreams, lane_output};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Watches one lane.
pub(super) struct LaneWatcher<'w> {
    pub(super) place: AnswerPlace,
    pub(super) answer_file: PathBuf,
    /// Maximum size of the answer file.
    pub(super) max_answer: u64,
    pub(super) is_answer: &'w (dyn Fn(&str) -> bool + Send + Sync),
    pub(super) weighs: &'w (dyn Fn(&str) -> bool + Send + Sync),
    pub(super) started: &'w (dyn Fn() + Send + Sync),
    pub(super) stdout: OutputFile,
    pub(super) stderr: OutputFile,
    /// The length of the output at the last search for an answer.
    pub(super) looked_at: Option<usize>,
}

/// A file to which output is appended as it arrives.
pub(super) struct OutputFile {
    file: Option<File>,
    written: usize,
}

impl OutputFile {
    /// Creates the file. If that fails, the output is not kept, and the review continues.
    pub(super) fn at(path: &Path) -> Self {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true).open(path);
        Self { file: file.ok(), written: 0 }
    }

    /// The whole output, from the open file: its path may have been replaced.
    pub(super) fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.file {
            file.rewind()?;
            file.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    fn keep(&mut self, all: &[u8]) {
        let fresh = all.get(self.written..).unwrap_or_default();
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(fresh)
        {
            tracing::debug!(%error, "cannot write the output of a lane");
            self.file = None;
        }
        self.written = self.written.max(all.len());
    }
}

impl OutputWatcher for LaneWatcher<'_> {
    fn on_start(&mut self) {
        (self.started)();
    }

    fn on_output(&mut self, output: &ProcessOutput) {
        self.stdout.keep(&output.stdout);
        self.stderr.keep(&output.stderr);
    }

    fn is_complete(&mut self, output: &ProcessOutput) -> bool {
        let n_bytes = output.stdout.len();
        let has_file = self.answer_file.is_file();
        if self.looked_at == Some(n_bytes) && !has_file {
            return false;
        }
        self.looked_at = Some(n_bytes);
        found(self, output).is_some()
    }
}

/// The length of text in which an answer is searched, from each end of the output.
const MAX_AROUND: usize = 1 << 20;

/// The complete answer in the output or in the answer file; `None` without one. If there are several, all are
/// returned, the likeliest last, after texts that object to the change: the reader rejects contradictions.
pub(super) fn found(watcher: &LaneWatcher<'_>, output: &ProcessOutput) -> Option<String> {
    let all = candidates(watcher, output);
    let (mut answers, mut others): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for part in all.iter().flat_map(|text| parts(text)).map(str::trim) {
        if answers.contains(&part) || others.contains(&part) {
            continue;
        } else if (watcher.is_answer)(part) {
            answers.insert(0, part);
        } else if (watcher.weighs)(part) {
            others.push(part);
        }
    }
    if answers.is_empty() {
        return None;
    }
    // The rest of the output may object to a change that the answer passes.
    let stdout = String::from_utf8_lossy(&output.stdout);
    let is_pass = !answers.iter().any(|answer| (watcher.weighs)(answer));
    if is_pass && matches!(watcher.place.form, AnswerForm::Json | AnswerForm::File) {
        others.extend(parts(&stdout).into_iter().filter(|part| (watcher.weighs)(part)));
    }
    others.append(&mut answers);
    Some(others.join("\n"))
}

/// The text, or the start and the end of a long one.
fn parts(text: &str) -> Vec<&str> {
    if text.len() <= MAX_AROUND {
        return vec![text];
    }
    let start = text.floor_char_boundary(MAX_AROUND);
    let end = text.ceil_char_boundary(text.len() - MAX_AROUND);
    [text.get(..start), text.get(end..)].into_iter().flatten().collect()
}

/// All texts that may be an answer, the likeliest first.
pub(super) fn candidates(watcher: &LaneWatcher<'_>, output: &ProcessOutput) -> Vec<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let file = read_no_follow(&watcher.answer_file, watcher.max_answer).ok();
    let file = file.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let stream = LaneStreams { stdout: &stdout, file: file.as_deref() };
    let printed = match lane_output(&watcher.place, stream) {
        LaneOutput::Answer(text) => Some(text),
        LaneOutput::Failed(_) => return Vec::new(),
        LaneOutput::Nothing => None,
    };
    printed.into_iter().chain(file.filter(|text| !text.trim().is_empty())).collect()
}
