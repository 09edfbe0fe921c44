//! Cookies that open a session and that scripts or plain HTTP can read.

use super::code::{callee, named_argument, placed_arguments, plain_text};
use super::module::{Module, found};
use crate::rules::native::{NativeCheck, NativeMatch};

pub(super) const COOKIE: NativeCheck =
    NativeCheck { name: "python-open-cookie", captures: &["NAME", "LACKS"] };

/// Cookies that let someone in, and that scripts or plain connections can read.
pub(super) fn open_cookies(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let is_cookie = callee(source, call).ends_with(".set_cookie");
        if !is_cookie || super::code::spreads_arguments(call) {
            continue;
        }
        let key = placed_arguments(call).first().copied();
        let Some(key) = key.or_else(|| named_argument(source, call, "key")) else { continue };
        let name = plain_text(source, key).unwrap_or(source.slice(key));
        if !opens_session(name) {
            continue;
        }
        let option = |name| named_argument(source, call, name).map(|it| source.slice(it));
        let is_off = |value: Option<&str>| matches!(value, None | Some("False"));
        let mut lacks = Vec::new();
        if is_off(option("httponly")) {
            lacks.push("`httponly=True`");
        }
        if is_off(option("secure")) {
            lacks.push("`secure=True`");
        }
        if option("samesite")
            .is_some_and(|it| it.trim_matches(['"', '\'']).eq_ignore_ascii_case("none"))
        {
            lacks.push("a strict `samesite`");
        }
        // Positional arguments may set anything.
        if !lacks.is_empty() && placed_arguments(call).len() <= 2 {
            let captures = vec![("NAME", name.to_owned()), ("LACKS", lacks.join(" and "))];
            matches.push(found(call, captures));
        }
    }
    matches
}

/// Whether a cookie of this name identifies a logged-in user.
fn opens_session(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let opens = has(&["session", "sessionid", "sid", "auth", "oauth", "jwt", "password", "sso"])
        || name.ends_with("access_token");
    opens && !has(&["csrf", "csrftoken", "xsrf"])
}

#[cfg(test)]
mod tests {
    use super::opens_session;

    #[test]
    fn names_of_cookies_say_what_they_open() {
        for (name, expected) in [
            ("session", true),
            ("my_session", true),
            ("access_token", true),
            ("csrf_session", false),
            ("secretary", false),
            ("theme", false),
        ] {
            assert_eq!(opens_session(name), expected, "{name}");
        }
    }
}
