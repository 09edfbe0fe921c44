//! Server-sent events: bytes in, the data of complete events out. Lines end with LF, CR or CRLF
//! and may be split anywhere. Event names, ids and comments are dropped, because every provider
//! repeats the name in the data.

use thiserror::Error;

/// The largest event, in bytes. The last event of some protocols repeats the whole response.
pub(crate) const MAX_EVENT: usize = 8 << 20;

/// An event is larger than the limit.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("an event is larger than {} MiB", MAX_EVENT >> 20)]
pub(crate) struct EventTooLarge;

/// Parses events from a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    is_started: bool,
}

impl SseParser {
    /// Takes more bytes and returns the data of the events that are complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, EventTooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if after_cr => {}
                b'\n' => self.end_line(&mut events),
                b'\r' => {
                    self.after_cr = true;
                    self.end_line(&mut events);
                }
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.len() > MAX_EVENT {
                return Err(EventTooLarge);
            }
        }
        Ok(events)
    }

    /// The data of a last event without an empty line after it.
    pub(crate) fn rest(mut self) -> Option<String> {
        let mut events = Vec::new();
        self.end_line(&mut events);
        self.end_event(&mut events);
        events.pop()
    }

    fn end_line(&mut self, events: &mut Vec<String>) {
        let line = std::mem::take(&mut self.line);
        let line = match std::mem::replace(&mut self.is_started, true) {
            true => line.as_slice(),
            false => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line),
        };
        if line.is_empty() {
            return self.end_event(events);
        }
        let data = match line.strip_prefix(b"data") {
            Some([]) => &[],
            Some([b':', b' ', data @ ..] | [b':', data @ ..]) => data,
            _ => return,
        };
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(data);
    }

    fn end_event(&mut self, events: &mut Vec<String>) {
        if std::mem::take(&mut self.has_data) {
            let data = std::mem::take(&mut self.data);
            events.push(String::from_utf8_lossy(&data).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<String>, Option<String>) {
        let mut events = SseParser::default();
        let whole = events.push(bytes).unwrap();
        (whole, events.rest())
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        for (text, expected) in [
            ("data: a\n\n", &["a"][..]),
            ("data:a\r\n\r\ndata: b\r\r", &["a", "b"]),
            ("event: x\nid: 1\ndata: a\ndata: b\n: note\n\n", &["a\nb"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("data\n\ndata:\n\n", &["", ""]),
            (": only a comment\n\n\n\n", &[]),
            ("database: no\nretry: 1\n\n", &[]),
            ("data:  two spaces\n\n", &[" two spaces"]),
        ] {
            assert_eq!(
                read(text.as_bytes()),
                (expected.iter().map(|e| (*e).into()).collect(), None)
            );
        }
    }

    #[test]
    fn an_event_without_an_empty_line_is_returned_at_the_end() {
        assert_eq!(read(b"data: a\n\ndata: b"), (vec!["a".into()], Some("b".into())));
        assert_eq!(read(b"data: a\n\nda"), (vec!["a".into()], None));
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut events = SseParser::default();
        let chunk = vec![b'x'; 1 << 20];
        let taken = (0..9).map(|_| events.push(&chunk)).find(Result::is_err);
        assert_eq!(taken, Some(Err(EventTooLarge)));
        let mut events = SseParser::default();
        let line = [b"data:".as_slice(), &chunk, b"\n"].concat();
        assert!((0..9).any(|_| events.push(&line).is_err()), "many lines count together");
    }

    #[test]
    fn chunk_boundaries_do_not_matter() {
        bolero::check!().with_type::<(Vec<u8>, Vec<u8>)>().for_each(|(bytes, cuts)| {
            let alphabet = b"\r\n\r\n:data: x\xc3\xa4\xef\xbb\xbf{}";
            let bytes: Vec<u8> =
                bytes.iter().map(|b| alphabet[usize::from(*b) % alphabet.len()]).collect();
            let mut events = SseParser::default();
            let (mut found, mut rest) = (Vec::new(), bytes.as_slice());
            for cut in cuts {
                let (now, later) = rest.split_at(usize::from(*cut).min(rest.len()));
                found.extend(events.push(now).unwrap());
                rest = later;
            }
            found.extend(events.push(rest).unwrap());
            assert_eq!((found, events.rest()), read(&bytes));
        });
    }
}
