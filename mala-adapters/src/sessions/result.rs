//! The result of a session. Its first field is a signature of this clone over the session and the result;
//! a result without a valid signature is rejected.

use super::{MAX_BYTES, SessionFolder, json};
use crate::bounded_read::read_no_follow;
use crate::git::hex;
use crate::store::{write_atomically, write_new};
use mala_domain::gate::session::{SessionEnd, SessionResult, SessionState};
use sha2::{Digest, Sha256};
use std::io;

const NAME: &str = "result.json";

/// The start of multi-line JSON.
const START: &str = "{\n";
const BEFORE_SIGNATURE: &str = "{\n  \"stamp\": \"";
const AFTER_SIGNATURE: &str = "\",\n";

impl SessionFolder {
    /// How the session ended; `None` while it runs.
    pub fn end(&self) -> io::Result<Option<SessionEnd>> {
        let bytes = match read_no_follow(&self.path.join(NAME), MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let foreign = || io::Error::other("it has no valid signature of this clone");
        let file = String::from_utf8(bytes).map_err(|_| foreign())?;
        let (signature, text) = parts(&file).ok_or_else(foreign)?;
        match self.secret.signature(&self.signed_text(&text)) {
            Some(ours) if ours == signature => {
                Ok(Some(serde_json::from_str::<SessionResult>(&text)?.end))
            }
            _ => Err(foreign()),
        }
    }

    /// Writes the result unless a valid one exists; returns whether it did.
    pub fn conclude(&self, end: SessionEnd) -> io::Result<bool> {
        let result =
            String::from_utf8(json(&SessionResult::new(end.clone()))?).map_err(io::Error::other)?;
        let signature = self.secret.sign(&self.signed_text(&result))?;
        let rest = result.strip_prefix(START).unwrap_or_default();
        let text = format!("{BEFORE_SIGNATURE}{signature}{AFTER_SIGNATURE}{rest}");
        let path = self.path.join(NAME);
        match write_new(&path, text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if matches!(self.end(), Ok(Some(_))) {
                    return Ok(false);
                }
                write_atomically(&path, text.as_bytes())?;
            }
            written => written?,
        }
        self.report(&SessionState::Ended(end)).map(|_| true)
    }

    /// The text that the signature of a result covers. It differs from that of a session by its first word.
    fn signed_text(&self, result: &str) -> String {
        let key = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("result {key} {}", hex(&Sha256::digest(result.as_bytes())))
    }
}

/// The signature and the result that it covers.
fn parts(text: &str) -> Option<(&str, String)> {
    let (signature, rest) = text.strip_prefix(BEFORE_SIGNATURE)?.split_once(AFTER_SIGNATURE)?;
    Some((signature, format!("{START}{rest}")))
}

#[cfg(test)]
mod tests {
    use super::super::GateFolder;
    use super::*;
    use std::fs;

    fn said(why: &str) -> SessionEnd {
        SessionEnd::Failed(why.to_owned())
    }

    #[test]
    fn only_what_this_clone_wrote_for_this_session_is_its_result() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        let gate = GateFolder::of_work_tree(top.path());
        let session = |key: &str| {
            let path = gate.root().join(key);
            fs::create_dir_all(&path).unwrap();
            SessionFolder { path, secret: gate.secret.clone() }
        };
        let (one, other) = (session("a"), session("b"));
        assert_eq!(one.end().unwrap(), None);
        assert!(one.conclude(said("one")).unwrap());
        assert!(!one.conclude(said("two")).unwrap(), "the first one is right");
        assert_eq!(one.end().unwrap(), Some(said("one")));
        let text = fs::read_to_string(one.path.join(NAME)).unwrap();
        let plain: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(plain["stamp"].is_string(), "{text}");
        fs::write(other.path.join(NAME), &text).unwrap();
        assert!(other.end().is_err(), "it is another session's");
        for changed in [
            text.replace("one", "two"),
            text.replace("failed", "cancelled"),
            text.replacen("  \"stamp\"", "\"stamp\"", 1),
            text.split_once(AFTER_SIGNATURE).unwrap().1.to_owned(),
            String::new(),
        ] {
            fs::write(one.path.join(NAME), &changed).unwrap();
            assert!(one.end().is_err(), "{changed}");
        }
        assert!(one.conclude(said("three")).unwrap(), "what is no result is replaced");
        assert_eq!(one.end().unwrap(), Some(said("three")));
    }
}
