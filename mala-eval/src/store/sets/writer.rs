//! Writes a set, one case per line, compressed when its name ends with `.gz`. The file appears when it is
//! complete.

use crate::EvalCase;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A set that is being written.
pub struct SetWriter {
    path: PathBuf,
    output: SetOutput,
}

enum SetOutput {
    Plain(BufWriter<NamedTempFile>),
    Compressed(Box<GzEncoder<BufWriter<NamedTempFile>>>),
}

impl SetWriter {
    /// Begins a set at this path, in an existing folder.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let draft = BufWriter::new(crate::store::draft_beside(path)?);
        let output = match path.extension().is_some_and(|ending| ending == "gz") {
            true => SetOutput::Compressed(Box::new(GzEncoder::new(draft, Compression::default()))),
            false => SetOutput::Plain(draft),
        };
        Ok(Self { path: path.to_owned(), output })
    }

    /// Adds a case.
    pub fn add(&mut self, case: &EvalCase) -> io::Result<()> {
        let line = serde_json::to_string(case)? + "\n";
        match &mut self.output {
            SetOutput::Plain(output) => output.write_all(line.as_bytes()),
            SetOutput::Compressed(output) => output.write_all(line.as_bytes()),
        }
    }

    /// Puts the set in its place.
    pub fn finish(self) -> io::Result<()> {
        let output = match self.output {
            SetOutput::Plain(output) => output,
            SetOutput::Compressed(output) => output.finish()?,
        };
        let draft = output.into_inner().map_err(io::IntoInnerError::into_error)?;
        crate::store::publish(draft, &self.path)
    }
}
