//! Names of values, and whether they are names of secrets.

/// The identifier around a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueName<'t> {
    /// The part before the keyword.
    before: &'t str,
    /// The keyword and the part after it.
    from: &'t str,
}

impl<'t> ValueName<'t> {
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
    pub(super) fn is_not_secret(&self) -> bool {
        self.before.contains("::")
            || words(self.before).iter().any(|word| NOT_SECRET.has(word))
            || words(self.from).iter().any(|word| NOT_SECRET.has(word) || PROPERTIES.has(word))
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
const PROPERTIES: WordList = WordList(
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
const NOT_SECRET: WordList = WordList(
    "hash hashed hashes digest sha sha1 sha256 sha512 md5 checksum fingerprint integrity public pub
    csrf xsrf tokenizer tokenize tokens test tests fake dummy mock example sample placeholder
    encrypted salt sitekey next continuation page pagination cursor sync authenticity nonce
    antiforgery forgery verification previous invalid",
);

const KEYS: WordList = WordList(
    "apikey secret accesskey accesstoken authtoken authkey privatekey encryptionkey signingkey
    apitoken bearer password oauthtoken refreshtoken",
);

/// Words separated by white space.
pub(super) struct WordList(pub(super) &'static str);

impl WordList {
    /// The words, in order.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }

    /// Whether the list contains `word`.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words().any(|listed| listed == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_whole_identifier() {
        let text = "let my_api_key_v2 = 1;";
        let name = ValueName::around(text, text.find("api").unwrap());
        assert_eq!(name, ValueName { before: "my_", from: "api_key_v2" });
        assert_eq!(ValueName::around("é.token", 3), ValueName { before: ".", from: "token" });
        assert_eq!(ValueName::around("", 0), ValueName { before: "", from: "" });
    }

    #[test]
    fn names_of_secrets_are_distinguished() {
        let is_not_secret = |name: &str, keyword: &str| {
            let at = name.to_ascii_lowercase().find(keyword).unwrap();
            ValueName::around(name, at).is_not_secret()
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
            assert!(is_not_secret(name, keyword), "{name}");
        }
        for (name, keyword) in [
            ("token", "token"),
            ("apiKey", "apikey"),
            ("client_secret", "secret"),
            ("STRIPE_SECRET_KEY", "secret"),
            ("service_token", "token"),
            ("idToken2", "token"),
        ] {
            assert!(!is_not_secret(name, keyword), "{name}");
        }
    }
}
