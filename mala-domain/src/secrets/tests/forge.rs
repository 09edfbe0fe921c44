//! Creates tokens with valid formats from templates, so that no file of this repository contains
//! text that looks like a secret.

use crate::secrets::checksum::{BECH32_DIGITS, bech32_remainder, crc32};

/// Fills a template: `«x20»` becomes twenty characters of the alphabet `x`, `«uuid»` a UUID, and
/// `«b64:TEXT»` the base64 of a text. Equal templates give equal texts.
pub(super) fn forge(template: &str) -> String {
    let mut noise = Noise::seeded(template);
    let mut filled = String::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('«') {
        let (hole, after) = after.split_once('»').expect("an open hole");
        filled.push_str(text);
        filled.push_str(&noise.fill(hole));
        rest = after;
    }
    filled + rest
}

/// A GitHub or npm token with a correct checksum.
pub(super) fn with_base62_checksum(prefix: &str) -> String {
    let random = forge("«a30»");
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut sum = crc32(random.as_bytes());
    let mut tail = [b'0'; 6];
    for digit in tail.iter_mut().rev() {
        *digit = digits[(sum % 62) as usize];
        sum /= 62;
    }
    format!("{prefix}{random}{}", String::from_utf8_lossy(&tail))
}

/// A Grafana token with a correct checksum.
pub(super) fn grafana() -> String {
    let body = forge("glsa_«a32»");
    format!("{body}_{:08x}", crc32(body.as_bytes()).swap_bytes())
}

/// An Atlassian token with a correct checksum.
pub(super) fn atlassian(prefix: &str) -> String {
    let body = forge(&format!("{prefix}«w180»="));
    format!("{body}{:08X}", crc32(body.as_bytes()))
}

/// A routable GitLab token with a correct checksum.
pub(super) fn gitlab(prefix: &str) -> String {
    let body = forge(&format!("{prefix}«w36».01.10"));
    let mut sum = crc32(body.as_bytes());
    let mut tail = [b'0'; 7];
    for digit in tail.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(sum % 36) as usize];
        sum /= 36;
    }
    body + &String::from_utf8_lossy(&tail)
}

/// An age key with a correct checksum.
pub(super) fn age() -> String {
    let prefix = "age-secret-key-";
    let random = forge("«q52»");
    let mut values: Vec<u8> =
        random.chars().map(|digit| BECH32_DIGITS.find(digit).unwrap() as u8).collect();
    values.extend([0; 6]);
    let remainder = bech32_remainder(prefix, &values) ^ 1;
    let sum = (0..6).map(|at| (remainder >> (5 * (5 - at)) & 31) as usize);
    let tail: String = sum.map(|at| BECH32_DIGITS.as_bytes()[at] as char).collect();
    format!("{prefix}1{random}{tail}").to_ascii_uppercase()
}

/// A PEM block of the given kind, its lines joined by `newline`.
pub(super) fn pem(kind: &str, newline: &str) -> String {
    let body: Vec<String> = (0..12).map(|line| forge(&format!("«b64»{line}"))).collect();
    let dashes = "-".repeat(5);
    format!(
        "{dashes}BEGIN {kind}{dashes}{newline}{}{newline}{dashes}END {kind}{dashes}{newline}",
        body.join(newline)
    )
}

/// A JSON Web Token with these claims.
pub(super) fn jwt(claims: &str) -> String {
    let header = encode(br#"{"alg":"RS256","typ":"JWT"}"#);
    forge(&format!("{header}.{}.«w86»", encode(claims.as_bytes())))
}

/// Unpadded URL-safe base64.
pub(super) fn encode(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..=chunk.len() {
            encoded.push(digits[(bits >> (18 - 6 * at) & 63) as usize] as char);
        }
    }
    encoded
}

struct Noise(u64);

impl Noise {
    fn seeded(text: &str) -> Self {
        Self(u64::from(crc32(text.as_bytes())) << 20 | 0x9E37_79B9)
    }

    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }

    fn fill(&mut self, hole: &str) -> String {
        if hole == "uuid" {
            return [8, 4, 4, 4, 12].map(|length| self.draw(alphabet('h'), length)).join("-");
        }
        if let Some(text) = hole.strip_prefix("b64:") {
            return encode(text.as_bytes());
        }
        let (name, length) = hole.split_at(1);
        self.draw(alphabet(name.chars().next().unwrap()), length.parse().unwrap())
    }

    fn draw(&mut self, alphabet: &str, length: usize) -> String {
        (0..length).map(|_| alphabet.as_bytes()[self.next(alphabet.len())] as char).collect()
    }
}

fn alphabet(name: char) -> &'static str {
    match name {
        'd' => "0123456789",
        'h' => "0123456789abcdef",
        'l' => "abcdefghijklmnopqrstuvwxyz0123456789",
        'U' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'L' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        'q' => BECH32_DIGITS,
        'a' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'w' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        's' => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789!#%^&*?+=",
        other => panic!("no alphabet {other}"),
    }
}
