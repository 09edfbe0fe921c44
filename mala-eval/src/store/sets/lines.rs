//! A file with a case per line, compressed or not.

use super::{CaseIds, CaseIterator, MAX_CASE_BYTES};
use crate::{CaseError, EvalCase};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The cases of a file. The iterator ends after the first error.
pub(super) fn cases(path: &Path) -> CaseIterator {
    let file = path.display().to_string();
    let reader = match open(path) {
        Ok(reader) => reader,
        Err(error) => {
            return Box::new(std::iter::once(Err(CaseError::at_line(&file, 1, error.to_string()))));
        }
    };
    let lines = CaseLines { file, reader, number: 0, ids: CaseIds::default(), is_over: false };
    Box::new(lines)
}

/// By its first bytes and not by its name, so that a renamed file is read too.
fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    let mut plain = BufReader::new(File::open(path)?);
    let is_gzip = plain.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(match is_gzip {
        true => Box::new(BufReader::new(MultiGzDecoder::new(plain))),
        false => Box::new(plain),
    })
}

struct CaseLines {
    file: String,
    reader: Box<dyn BufRead + Send>,
    number: usize,
    ids: CaseIds,
    is_over: bool,
}

impl CaseLines {
    /// The next line that is not empty; `None` at the end.
    fn line(&mut self) -> Option<Result<String, String>> {
        loop {
            self.number += 1;
            let mut bytes = Vec::new();
            let mut limited = (&mut self.reader).take(MAX_CASE_BYTES as u64 + 1);
            match limited.read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) if bytes.len() > MAX_CASE_BYTES => {
                    return Some(Err(format!("the line has more than {MAX_CASE_BYTES} bytes")));
                }
                Ok(_) if bytes.trim_ascii().is_empty() => {}
                Ok(_) => {
                    let text = String::from_utf8(bytes);
                    return Some(text.map_err(|error| {
                        let at = error.utf8_error().valid_up_to() + 1;
                        format!("invalid UTF-8 at byte {at}")
                    }));
                }
                Err(error) => return Some(Err(error.to_string())),
            }
        }
    }
}

impl Iterator for CaseLines {
    type Item = Result<EvalCase, CaseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let parsed = match self.line()? {
            Ok(text) => EvalCase::parse(&self.file, self.number, &text)
                .and_then(|case| self.ids.admit(case, &self.file, self.number)),
            Err(why) => Err(CaseError::at_line(&self.file, self.number, why)),
        };
        self.is_over = parsed.is_err();
        Some(parsed)
    }
}
