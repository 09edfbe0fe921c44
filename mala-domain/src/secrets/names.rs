//! Names of values, and whether they are names of secrets.

use super::word_list::WordList;

/// The identifier around a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name<'t> {
    /// The part before the keyword.
    before: &'t str,
    /// The keyword and the part after it.
    from: &'t str,
}

impl<'t> Name<'t> {
    /// The identifier in `text` whose keyword starts at byte `at`.
    pub(super) fn around(text: &'t str, at: usize) -> Self {
        const REACH: usize = 64;
        let bytes = text.as_bytes();
        let left = bytes[..at].iter().rev().take(REACH).take_while(|byte| is_part(**byte)).count();
        let right = bytes[at..].iter().take(REACH).take_while(|byte| is_part(**byte)).count();
        let part = |from, to| text.get(from..to).unwrap_or_default();
        Self { before: part(at - left, at), from: part(at, at + right) }
    }

    /// Whether the value is related to a secret but is not one, as in `token_type` or `public_key`.
    pub(super) fn is_about(&self) -> bool {
        self.before.contains("::")
            || words(self.before).iter().any(|word| OTHER.has(word))
            || words(self.from).iter().any(|word| OTHER.has(word) || ASPECTS.has(word))
    }

    /// Whether the name is that of a service key. A value that looks like a hash is a key then.
    pub(super) fn is_key(&self) -> bool {
        let whole = format!("{}{}", self.before, self.from).to_ascii_lowercase();
        let plain: String = whole.chars().filter(char::is_ascii_alphanumeric).collect();
        KEYS.words().any(|part| plain.contains(part))
    }
}

/// The lower-case words of an identifier in snake, kebab, dotted or camel case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous = '_';
    for character in name.chars() {
        let breaks = character.is_ascii_uppercase() && !previous.is_ascii_uppercase();
        if (breaks || !character.is_ascii_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_ascii_alphanumeric() {
            word.push(character.to_ascii_lowercase());
        }
        previous = character;
    }
    words.push(word);
    words
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$' | b':')
}

/// Words that, after the keyword, name a property of a secret: its type, its length, its file.
const ASPECTS: WordList = WordList(
    "name names type types id ids uid url uri urls path paths file filename files dir label labels
    title text hint help message msg error errors regex regexp pattern format field fields column
    input header headers param params prefix suffix length len size count limit max min policy
    expiry expires expiration ttl ref arn version store provider manager service endpoint scope
    scopes class css style selector icon event action method handler validator contract address
    symbol var variable desc description algorithm alg status state kind mode template sentinel
    marker separator delimiter schema namespace last used created updated get bytes split replace
    equals matches contains encode decode charset encoding join trim log print",
);

/// Words that, anywhere in a name, mean that the value is not a secret or only a short-lived one.
const OTHER: WordList = WordList(
    "hash hashed hashes digest sha sha1 sha256 sha512 md5 checksum fingerprint integrity public pub
    csrf xsrf tokenizer tokenize tokens test tests fake dummy mock example sample placeholder
    encrypted salt sitekey next continuation page pagination cursor sync authenticity nonce
    antiforgery forgery verification previous invalid",
);

const KEYS: WordList = WordList(
    "apikey secret accesskey accesstoken authtoken authkey privatekey encryptionkey signingkey
    apitoken bearer password oauthtoken refreshtoken",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_identifier_is_found() {
        let text = "let my_api_key_v2 = 1;";
        let name = Name::around(text, text.find("api").unwrap());
        assert_eq!(name, Name { before: "my_", from: "api_key_v2" });
        assert_eq!(Name::around("é.token", 3), Name { before: ".", from: "token" });
        assert_eq!(Name::around("", 0), Name { before: "", from: "" });
    }

    #[test]
    fn names_about_secrets_are_told_from_names_of_secrets() {
        let is_about = |name: &str, keyword: &str| {
            let at = name.to_ascii_lowercase().find(keyword).unwrap();
            Name::around(name, at).is_about()
        };
        for (name, keyword) in [
            ("tokenType", "token"),
            ("token_type", "token"),
            ("passwordHint", "password"),
            ("SECRET_NAME", "secret"),
            ("api-key-id", "api-key"),
            ("HTTPToken.url", "token"),
            ("nextPageToken", "token"),
            ("public_api_key", "api_key"),
            ("AWS::IAM::AccessKey", "accesskey"),
        ] {
            assert!(is_about(name, keyword), "{name}");
        }
        for (name, keyword) in [
            ("token", "token"),
            ("apiKey", "apikey"),
            ("client_secret", "secret"),
            ("STRIPE_SECRET_KEY", "secret"),
            ("service_token", "token"),
            ("idToken2", "token"),
        ] {
            assert!(!is_about(name, keyword), "{name}");
        }
    }
}
