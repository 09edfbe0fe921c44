//! Verifies tokens that contain a checksum or encode a known structure.

use super::placeholder;
use serde::Deserialize;
use serde_json::{Map, Value};

/// How a token is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Checksum {
    /// Six base62 digits: the CRC32 of the random part (GitHub, npm).
    #[serde(rename = "crc32-base62")]
    Crc32Base62,
    /// Eight hex digits: the little-endian CRC32 of the text before the last `_`.
    #[serde(rename = "crc32-grafana")]
    Crc32Grafana,
    /// Eight hex digits: the CRC32 of the text before them.
    #[serde(rename = "crc32-atlassian")]
    Crc32Atlassian,
    /// Seven base36 digits: the CRC32 of the text before them; classic tokens have none.
    #[serde(rename = "crc32-gitlab")]
    Crc32Gitlab,
    /// A bech32 checksum (age).
    #[serde(rename = "bech32")]
    Bech32,
    /// The first part is a bot id in base64.
    #[serde(rename = "discord")]
    Discord,
    /// The second part is JSON with an issue time.
    #[serde(rename = "sentry")]
    Sentry,
    /// The token is JSON in base64.
    #[serde(rename = "base64-json")]
    Base64Json,
    /// The token is `user:password` in base64.
    #[serde(rename = "base64-pair")]
    Base64Pair,
    /// A signed JSON Web Token that is not a published example.
    #[serde(rename = "jwt")]
    Jwt,
    /// A JSON Web Token with the role `service_role`.
    #[serde(rename = "jwt-service-role")]
    JwtServiceRole,
    /// Enough base64 for an unencrypted private key.
    #[serde(rename = "pem")]
    Pem,
}

/// The result of verifying a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChecksumResult {
    /// The checksum is correct.
    Verified,
    /// The checksum or the structure is wrong: not such a token.
    Failed,
    /// The structure is correct, but there is no checksum.
    Absent,
}

impl Checksum {
    /// Verifies a token.
    pub(super) fn verify(self, secret: &str) -> ChecksumResult {
        match self {
            Self::Crc32Base62 => verified(crc32_base62(secret)),
            Self::Crc32Grafana => verified(crc32_grafana(secret)),
            Self::Crc32Atlassian => verified(crc32_atlassian(secret)),
            Self::Crc32Gitlab if !secret.contains('.') => ChecksumResult::Absent,
            Self::Crc32Gitlab => verified(crc32_gitlab(secret)),
            Self::Bech32 => verified(bech32(secret)),
            Self::Discord => verified(discord(secret)),
            Self::Sentry => shaped(sentry(secret)),
            Self::Base64Json => shaped(base64_object(secret.as_bytes()).is_some()),
            Self::Base64Pair => shaped(base64_pair(secret)),
            Self::Jwt => shaped(jwt(secret).is_some_and(|claims| !is_public(&claims))),
            Self::JwtServiceRole => shaped(jwt(secret).is_some_and(|claims| {
                !is_public(&claims) && text(&claims, "role") == Some("service_role")
            })),
            Self::Pem => shaped(pem(secret)),
        }
    }
}

fn verified(holds: bool) -> ChecksumResult {
    if holds { ChecksumResult::Verified } else { ChecksumResult::Failed }
}

fn shaped(holds: bool) -> ChecksumResult {
    if holds { ChecksumResult::Absent } else { ChecksumResult::Failed }
}

fn crc32_base62(token: &str) -> bool {
    let body = token.rsplit('_').next().unwrap_or(token);
    let Some((random, sum)) = body.len().checked_sub(6).and_then(|at| body.split_at_checked(at))
    else {
        return false;
    };
    let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let value = sum.bytes().try_fold(0_u64, |value, byte| {
        let digit = digits.iter().position(|digit| *digit == byte)?;
        Some(value * 62 + digit as u64)
    });
    value == Some(u64::from(crc32(random.as_bytes())))
}

fn crc32_grafana(token: &str) -> bool {
    token.rsplit_once('_').is_some_and(|(body, sum)| {
        u32::from_str_radix(sum, 16) == Ok(crc32(body.as_bytes()).swap_bytes())
    })
}

fn crc32_atlassian(token: &str) -> bool {
    let split = token.len().checked_sub(8).and_then(|at| token.split_at_checked(at));
    split.is_some_and(|(body, sum)| u32::from_str_radix(sum, 16) == Ok(crc32(body.as_bytes())))
}

fn crc32_gitlab(token: &str) -> bool {
    let split = token.len().checked_sub(7).and_then(|at| token.split_at_checked(at));
    split.is_some_and(|(body, sum)| {
        u64::from_str_radix(sum, 36) == Ok(u64::from(crc32(body.as_bytes())))
    })
}

/// The CRC32 that zip, gzip and PNG use.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    })
}

/// The bech32 remainder of prefix and payload; 1 for a valid text.
pub(super) fn bech32_remainder(prefix: &str, values: &[u8]) -> u32 {
    let step = |sum: u32, value: u32| {
        let generators = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ value;
        let top = sum >> 25;
        generators.iter().enumerate().fold(shifted, |sum, (bit, generator)| {
            if (top >> bit) & 1 == 1 { sum ^ generator } else { sum }
        })
    };
    let lower = prefix.to_ascii_lowercase();
    let high = lower.bytes().map(|byte| u32::from(byte >> 5));
    let low = lower.bytes().map(|byte| u32::from(byte & 31));
    let payload = values.iter().map(|value| u32::from(*value));
    high.chain([0]).chain(low).chain(payload).fold(1, step)
}

/// The digits of bech32, in order of their value.
pub(super) const BECH32_DIGITS: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

fn bech32(token: &str) -> bool {
    let Some((prefix, payload)) = token.rsplit_once('1') else { return false };
    let lower = payload.to_ascii_lowercase();
    let values: Option<Vec<u8>> = lower
        .chars()
        .map(|digit| BECH32_DIGITS.find(digit).and_then(|at| u8::try_from(at).ok()))
        .collect();
    values.is_some_and(|values| bech32_remainder(prefix, &values) == 1)
}

fn discord(token: &str) -> bool {
    let number = token.split('.').next().and_then(|part| decode_base64(part.as_bytes()));
    number.is_some_and(|number| {
        (17..=20).contains(&number.len()) && number.iter().all(u8::is_ascii_digit)
    })
}

fn sentry(token: &str) -> bool {
    let payload = token.strip_prefix("sntrys_").unwrap_or(token);
    let payload = payload.rsplit_once('_').map_or(payload, |(payload, _)| payload);
    base64_object(payload.as_bytes()).is_some_and(|object| object.contains_key("iat"))
}

fn base64_pair(encoded: &str) -> bool {
    let decoded = decode_base64(encoded.as_bytes()).and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(decoded) = decoded else { return false };
    let Some((user, password)) = decoded.split_once(':') else { return false };
    let printable = decoded.chars().all(|character| !character.is_control());
    printable && !user.is_empty() && password.len() >= 4 && !placeholder::is_weak_password(password)
}

/// The claims of a signed token.
fn jwt(token: &str) -> Option<Map<String, Value>> {
    let mut parts = token.split('.');
    let header = base64_object(parts.next()?.as_bytes())?;
    let algorithm = text(&header, "alg")?;
    let claims = base64_object(parts.next()?.as_bytes())?;
    (!algorithm.eq_ignore_ascii_case("none")).then_some(claims)
}

/// Whether the token is public: the example of jwt.io, a key for browsers, a demo.
fn is_public(claims: &Map<String, Value>) -> bool {
    text(claims, "role") == Some("anon")
        || text(claims, "iss").is_some_and(|issuer| issuer.contains("demo"))
        || text(claims, "sub") == Some("1234567890")
        || text(claims, "name").is_some_and(|name| name.contains("Doe"))
        || claims.len() <= 1 && !claims.contains_key("sub")
}

fn text<'m>(object: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    object.get(key).and_then(Value::as_str)
}

fn base64_object(encoded: &[u8]) -> Option<Map<String, Value>> {
    let bytes = decode_base64(encoded)?;
    serde_json::from_slice(&bytes).ok()
}

fn pem(block: &str) -> bool {
    let n_base64 = block.bytes().filter(|byte| byte.is_ascii_alphanumeric()).count();
    n_base64 >= 100
        && !block.contains("ENCRYPTED")
        && !block.contains("...")
        && !block.contains("b3BlbnNzaC1rZXktdjEAAAAACmFlc")
}

/// Decodes base64 in both alphabets, with or without padding.
pub(super) fn decode_base64(encoded: &[u8]) -> Option<Vec<u8>> {
    let end = encoded.iter().rposition(|byte| *byte != b'=').map_or(0, |at| at + 1);
    let mut decoded = Vec::with_capacity(end * 3 / 4);
    let mut bits = 0_u32;
    let mut n_bits = 0;
    for byte in &encoded[..end] {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            decoded.push((bits >> n_bits & 0xFF) as u8);
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc32_agrees_with_its_check_value() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn base64_decodes_both_alphabets_and_refuses_others() {
        assert_eq!(decode_base64(b"aGVsbG8=").unwrap(), b"hello");
        assert_eq!(decode_base64(b"-_-_").unwrap(), decode_base64(b"+/+/").unwrap());
        assert_eq!(decode_base64(b""), Some(Vec::new()));
        assert_eq!(decode_base64(b"a b"), None);
    }

    #[test]
    fn bech32_accepts_the_test_vector_of_its_specification() {
        assert!(bech32("A12UEL5L"));
        assert!(!bech32("A12UEL5M"));
        assert!(!bech32("no separator"));
    }

    #[test]
    fn short_and_odd_texts_fail_without_panic() {
        for text in ["", "_", "é", "ééé", "a_é12345", ".", "..", "eyJ.eyJ."] {
            for checksum in [
                Checksum::Crc32Base62,
                Checksum::Crc32Grafana,
                Checksum::Crc32Atlassian,
                Checksum::Bech32,
                Checksum::Discord,
                Checksum::Sentry,
                Checksum::Base64Json,
                Checksum::Base64Pair,
                Checksum::Jwt,
                Checksum::JwtServiceRole,
                Checksum::Pem,
            ] {
                assert_eq!(
                    checksum.verify(text),
                    ChecksumResult::Failed,
                    "{checksum:?} on {text:?}"
                );
            }
        }
    }
}
