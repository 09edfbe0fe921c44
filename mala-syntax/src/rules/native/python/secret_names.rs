//! Names that say that a value is a password, a secret or a certificate.

/// What a value is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Password,
    Secret,
    Certificate,
}

/// Words that make a name talk about a secret, and not be one.
const ABOUT: [&str; 58] = [
    "hash",
    "hashed",
    "encrypted",
    "crypt",
    "digest",
    "id",
    "ids",
    "name",
    "names",
    "path",
    "file",
    "filename",
    "dir",
    "url",
    "uri",
    "length",
    "len",
    "size",
    "count",
    "min",
    "max",
    "policy",
    "field",
    "fields",
    "label",
    "valid",
    "validator",
    "check",
    "required",
    "prompt",
    "hint",
    "mask",
    "masked",
    "placeholder",
    "regex",
    "pattern",
    "form",
    "type",
    "error",
    "errors",
    "message",
    "msg",
    "strength",
    "reset",
    "change",
    "changed",
    "expired",
    "expires",
    "expiry",
    "enabled",
    "manager",
    "provider",
    "list",
    "table",
    "column",
    "key_name",
    "is",
    "has",
];

/// What kind of secret a name stands for.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    let words = words(name);
    if words.iter().any(|it| ABOUT.contains(&it.as_str())) {
        return None;
    }
    let has = |wanted: &[&str]| words.iter().any(|it| wanted.contains(&it.as_str()));
    let pair = |a: &str, b: &str| words.windows(2).any(|it| it[0] == a && it[1] == b);
    if has(&["password", "passwd", "passphrase", "pwd", "passcode", "passwords"]) {
        return Some(Kind::Password);
    }
    let is_secret = has(&["secret", "apikey", "credentials", "authkey"])
        || pair("api", "key")
        || pair("private", "key")
        || pair("auth", "token")
        || pair("access", "token")
        || pair("auth", "key");
    if is_secret {
        return Some(Kind::Secret);
    }
    has(&["certificate", "cert"]).then_some(Kind::Certificate)
}

/// The words of `aName` and `a_name`, in small.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before_is_small = false;
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || c.is_uppercase() && before_is_small;
        if starts && words.last().is_some_and(|it| !it.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before_is_small = c.is_lowercase() || c.is_ascii_digit();
    }
    words
}

/// Whether a cookie of this name stands for someone who has logged in.
pub(super) fn opens_doors(name: &str) -> bool {
    let words = words(name);
    let is_harmless = words.iter().any(|it| matches!(it.as_str(), "csrf" | "csrftoken" | "xsrf"));
    let opens = words.iter().any(|it| {
        matches!(
            it.as_str(),
            "session" | "sessionid" | "sid" | "auth" | "oauth" | "jwt" | "password" | "sso"
        )
    });
    !is_harmless && (opens || kind_of(name).is_some() || name.ends_with("access_token"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_they_hold() {
        for (name, expected) in [
            ("password", Some(Kind::Password)),
            ("userPassword", Some(Kind::Password)),
            ("get_password", Some(Kind::Password)),
            ("api_key", Some(Kind::Secret)),
            ("CLIENT_SECRET", Some(Kind::Secret)),
            ("get_certificate", Some(Kind::Certificate)),
            ("password_hash", None),
            ("password_field", None),
            ("secretary", None),
            ("secret_id", None),
            ("key", None),
            ("", None),
        ] {
            assert_eq!(kind_of(name), expected, "{name}");
        }
    }
}
