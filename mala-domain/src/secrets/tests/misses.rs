//! Texts that look like secrets but are not, and must not be reported.

use super::forge::{encode, forge, jwt, pem};
use super::ids;
use crate::finding::Priority;
use crate::secrets::scan;

/// Ordinary code and settings, by path.
const SILENT: &[(&str, &[&str])] = &[
    ("src/app.py", PYTHON),
    ("src/app.ts", TYPESCRIPT),
    ("src/main.go", GO),
    ("src/lib.rs", RUST),
    ("src/Main.java", JAVA),
    ("config/app.yml", SETTINGS),
    ("src/style.css", STYLES),
    ("src/notes.txt", PROSE),
];

const PYTHON: &[&str] = &[
    "password = os.environ['DB_PASSWORD']",
    "password = os.getenv(\"DB_PASSWORD\", \"\")",
    "password = getpass.getpass('Password: ')",
    "api_key = settings.API_KEY",
    "token = request.headers.get('X-Auth-Token-Value')",
    "secret = secrets.token_urlsafe(32)",
    "SECRET_KEY = env('DJANGO_SECRET_KEY')",
    "SECRET_KEY = 'django-insecure-change-me-in-production-please'",
    "API_KEY = 'YOUR_API_KEY_HERE_1234567890'",
    "API_KEY = '<your-api-key-goes-here>'",
    "token = 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
    "token = '00000000000000000000000000000000'",
    "token = 'abcdefghijklmnopqrstuvwxyz012345'",
    "token = '12345678901234567890123456789012'",
    "token_url = 'https://auth.acme.io/oauth2/v1/token'",
    "token_type = 'urn:ietf:params:oauth:token-type:access_token'",
    "access_token_lifetime = 'PT1H30M00S0000'",
    "raise ValueError('token must not be empty: %s' % token)",
    "parser.add_argument('--api-key', help='The API key for the service')",
    "self.token = self._fetch_token_from_cache(user_id)",
    "assert token == 'SomeExpectedTokenName'",
    "PASSWORD_FIELD_NAME = 'user_password_field_v2'",
    "password_hash = '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8'",
    "md5_token_hash = 'd41d8cd98f00b204e9800998ecf8427e'",
    "commit = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'",
    "ETAG = '\"33a64df551425fcc55e4d42a148795d9f25f89d4\"'",
    "request_id = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'",
    "client_secret = '3f2504e0-4f89-11d3-9a0c-0305e82c3301'",
    "next_page_token = 'CiAKGjBpNDd2Nmp2Zml2cXRwYjBpOXA'",
    "csrf_token = 'Zk9mQ2xPz7LwR4tNkV9mQ2xPz7LwR4tN'",
    "password = f'{prefix}-{uuid4()}'",
    "password = '{{ vault_db_password }}'",
    "password = '${DB_PASSWORD}'",
    "password = '%(db_password)s'",
    "first_passage, '%Y-%m-%dT%H:%M:%S%z'",
    "'PWD': '/Users/maciej/Work',",
    "password = 'changeme123!'",
    "password = 'P@ssw0rd123'",
    "password = 'hunter2hunter2'",
    "password = 'correct horse battery staple 9'",
    "password: str = Field(..., min_length=8)",
    "password = input('Enter your password: ')",
    "if password != confirm_password: raise Mismatch('passwords differ')",
    "url = 'https://user:password@example.com/path'",
    "url = 'postgres://postgres:postgres@localhost:5432/app'",
    "url = 'redis://default:s3cr3tZ9x8@localhost:6379/0'",
    "url = 'amqp://guest:guest@rabbitmq:5672/'",
    "url = f'postgres://{user}:{password}@{host}/{name}'",
    "url = 'https://github.com/acme/app:latest@sha256'",
    "url = 'http://proxy.acme.io:8080/path@v1.2.3'",
    "url = 'https://cdn.acme.io/npm/@scope/pkg@1.2.3/dist/a.js'",
    "aws_secret_access_key = os.environ['AWS_SECRET_ACCESS_KEY_PRODUCTION_1']",
    "openai.api_key = 'sk-...'",
    "openai.api_key = 'sk-your-key-here'",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased-whole-word-masking')",
    "tokens = ['identifier', 'punctuation', 'whitespace']",
    "secret_name = 'projects/acme/secrets/database-password/versions/3'",
    "key = 'user:session:token:cache:v2:primary'",
    "digest = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'",
];

const TYPESCRIPT: &[&str] = &[
    "const token = process.env.GITHUB_TOKEN ?? '';",
    "const apiKey = import.meta.env.VITE_API_KEY;",
    "const token = localStorage.getItem('accessTokenStorageKey');",
    "const TOKEN_KEY = 'acme.auth.accessToken.v2';",
    "password: 'Password must contain at least 8 characters'",
    "passwordPlaceholder: 'Enter_your_password_here',",
    "<input type=\"password\" name=\"currentPassword\" id=\"currentPassword2\" />",
    "<Label htmlFor=\"apiKeyInputField1\">API key</Label>",
    "export const SET_ACCESS_TOKEN = 'auth/SET_ACCESS_TOKEN_V2';",
    "integrity: 'sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=='",
    "const img = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk'",
    "secret: getSecretFromVault('database/production'),",
    "headers: { Authorization: `Bearer ${token}` },",
    "headers: { Authorization: `Basic ${btoa(user + ':' + pass)}` },",
    "headers: { 'X-Api-Key': config.get('services.billing.apiKey') },",
    "type TokenKind = 'AccessTokenWithRefresh' | 'IdentityToken';",
    "const tokenAddress = '0x6B175474E89094C44Da98b954EedeAC495271d0F';",
    "const token = '0x6B175474E89094C44Da98b954EedeAC495271d0F';",
    "const publicKey = 'pk_live_51H8aBcDeFgHiJkLmNoPqRsTuV';",
    "const siteKey = '6LeIxAcTAAAAAJcZVRqyHh71UMIEGNQ_MXjiZKhI';",
    "describe('token', () => it('accepts a valid tokenForUser2', run));",
    "const secretPattern = '^[A-Za-z0-9]{32}$';",
    "const re = /token=[A-Za-z0-9_-]{20,}/;",
    "router.get('/api/v1/token/:tokenId/refresh', refreshTokenHandler);",
    "i18n.t('auth.password.reset.success.title2');",
    "const keyboardToken = 'ArrowDownWithShift';",
    "className=\"token-list__item--selected text-sm2\"",
    "import { tokenizeSecretValue } from '@acme/secret-token-utils2';",
    "export const API_KEY_HEADER = 'x-acme-api-key-v2';",
    "const uuidToken = '123e4567-e89b-12d3-a456-426614174000';",
    "apiKey: \"AIzaSyXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\",",
    "token: 'glpat-xxxxxxxxxxxxxxxxxxxx'",
    "webhook: 'https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX'",
];

const GO: &[&str] = &[
    "token := os.Getenv(\"API_TOKEN_FOR_SERVICE_1\")",
    "flag.StringVar(&token, \"token\", \"\", \"the token used for authentication2\")",
    "Password string `json:\"password,omitempty\" yaml:\"password2\"`",
    "return fmt.Errorf(\"invalid token %q: %w\", token, err)",
    "const tokenHeader = \"X-Vault-Token-Header2\"",
    "if got := token.Kind; got != \"StringLiteralToken1\" {",
    "github.com/acme/secret v1.2.3 h1:Zk9mQ2xPz7LwR4tNkV9mQ2xPz7LwR4tNkV9mQ2xPz7I=",
    "func NewTokenSource(secretAccessKeyProvider SecretProvider) TokenSource {",
    "secretRef := corev1.SecretKeySelector{Key: \"databasePassword1\"}",
    "var ErrTokenExpired = errors.New(\"token-expired-at-2020-01-01\")",
];

const RUST: &[&str] = &[
    "let token = std::env::var(\"API_TOKEN_FOR_SERVICE_1\")?;",
    "let token: Token = parser.next_token().ok_or(\"UnexpectedEndOfInput1\")?;",
    "#[serde(rename = \"accessTokenExpiresIn2\")]",
    "token => Err(format!(\"unexpected token: {token:?} at line1\")),",
    "assert_eq!(token.kind(), \"StringLiteralWithEscapes1\");",
    "checksum = \"c982642fa9e8606056828ee9a8505737230110bb1099153c79efe865c59d12ba\"",
    "const PASSWORD_PROMPT: &str = \"Password-for-user-1: \";",
    "let secret = Secret::from_env(\"MALA_SECRET_KEY_2\");",
];

const JAVA: &[&str] = &[
    "@Value(\"${spring.datasource.password}\") private String password;",
    "String password = System.getenv(\"DATABASE_PASSWORD_1\");",
    "byte[] password = value.getPassword().getBytes(\"UTF-16LE\");",
    "USER_PASSWORD(\"userPassword\", \"urn:oid:2.5.4.35\"),",
    "private static final String TOKEN = \"com.acme.security.TokenProvider2\";",
    "conn = DriverManager.getConnection(url, \"root\", \"\");",
    "jdbc = \"jdbc:mysql://localhost:3306/app?user=root&password=root1234\";",
    "log.info(\"password=\" + mask(password));",
];

const SETTINGS: &[&str] = &[
    "password: ${DB_PASSWORD}",
    "password: ${DB_PASSWORD:-kV9mQ2xPz7}",
    "password: {{ .Values.db.password }}",
    "password: <%= ENV['DB_PASSWORD'] %>",
    "password: !secret db_password_1",
    "password: postgres",
    "password: \"\"",
    "POSTGRES_PASSWORD: postgres1234",
    "POSTGRES_PASSWORD=changeme_in_production1",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "token: $CI_JOB_TOKEN_FOR_DEPLOY1",
    "uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683",
    "image: acme/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "secretName: acme-production-tls-certificate",
    "secretKeyRef: {name: db, key: password1}",
    "tokenReviewerServiceAccount: system:serviceaccount:vault1",
    "api_key_env: ACME_PRODUCTION_API_KEY_1",
    "access_key_file: /run/secrets/access_key_1",
    "private_key_path: /etc/ssl/private/server.key",
    "secret_key: file:///run/secrets/app-secret-key-1",
    "token_endpoint: https://login.acme.io/oauth2/v2.0/token",
    "auth_token_validity: 2024-01-01T00:00:00Z",
    "secret_access_policy: read-write-by-default-2",
    "encryption_key_id: arn:aws:kms:eu-west-1:123456789012:key/abcd",
    "token_budget: 1234567890123456",
];

const STYLES: &[&str] = &[
    ".token.keyword { color: #a626a4; }",
    ".secret-input__wrapper--focused2 { outline: 0 }",
    "--token-color-background-primary-2: #ff0033;",
    "background: url(data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcv);",
    "/* token: DesignSystemPrimaryButton2 */",
];

const PROSE: &[&str] = &[
    "The token is stored as: base64-encoded-and-signed-value1",
    "Set your password: it must have 8 characters, one digit and one sign.",
    "HTTP Basic authentication and Bearer authentication are supported.",
    "See -----BEGIN CERTIFICATE----- for the format.",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGkV9mQ2xPz7LwR4tNkV9mQ2xPz7LwR4tNkV9m user@host",
    "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW",
    "ghp_ is the prefix of classic tokens, glpat- that of GitLab's, sk- that of OpenAI's.",
    "lorem ipsum token: dolorSitAmetConsectetur1",
    "task-sk-1234, disk-ask-5678, risk-assessment-2024-q3-final-report-v2",
    "The AKIA prefix marks long-term keys, ASIA temporary ones.",
    "an https://example.com:8080/@user link and mailto:user:pass@example.com",
    "machine learning models, login pages, password managers",
];

#[test]
fn ordinary_lines_are_silent() {
    let n_lines: usize = SILENT.iter().map(|(_, lines)| lines.len()).sum();
    assert!(n_lines >= 150, "{n_lines} lines");
    let loud: Vec<_> = SILENT
        .iter()
        .flat_map(|(path, lines)| lines.iter().map(move |line| (*line, ids(path, line))))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

#[test]
fn random_values_that_are_no_secrets_are_silent() {
    let public = [
        "sha512: «b86»==",
        "\"integrity\": \"sha512-«b86»==\"",
        "commit «h40»",
        "revision = \"«h40»\"",
        "etag: \"«h32»\"",
        "checksum_sha256 = \"«h64»\"",
        "id = \"«uuid»\"",
        "cache_key = \"«a32»\"",
        "fingerprint: «h40»",
        "ssh-rsa AAAAB3NzaC1yc2E«b200» a@b",
        "build-id: «a24»",
        "src=\"data:font/woff2;base64,«b300»\"",
        "nonce: \"«b24»\"",
        "password = \"$6$«a16»$«a43»\"",
        "token = \"/«uuid»\"",
        "password_hash = \"$2b$12$«a53»\"",
        "public_key = \"«b44»\"",
        "\"NextToken\": \"«b64»\"",
        "name: app-«l10»-«l5»",
        "placeholder: \"glpat-«w20»\"",
        "the header, for instance:\\n`Authorization: Bearer «a40»`",
    ];
    let loud: Vec<_> = public
        .iter()
        .map(|template| (*template, ids("src/app.ts", &forge(template))))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
}

#[test]
fn only_sure_formats_are_reported_in_generated_files() {
    let assignment = forge("\"token\": \"«a40»\"");
    for path in [
        "package-lock.json",
        "Cargo.lock",
        "go.sum",
        "a.min.js",
        "locales/de.json",
        "a.snap",
        "b.svg",
    ] {
        assert_eq!(ids(path, &assignment), [""; 0], "{path}");
        assert_eq!(ids(path, &forge("shpat_«h32»")), ["shopify-token"], "{path}");
    }
    let minified = format!("{}{assignment}{}", "x=1;".repeat(400), "y=2;".repeat(400));
    assert_eq!(ids("src/bundle.js", &minified), [""; 0]);
}

#[test]
fn published_tokens_are_silent() {
    for (name, start, end) in [
        ("AWS_KEY", "AKIAIOSFOD", "NN7EXAMPLE"),
        ("aws_secret_access_key", "wJalrXUtnFEMI", "/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("stripe.api_key", "sk_test_4eC39HqLy", "jWDarjtT1zdp7dc"),
    ] {
        let line = format!("{name} = '{start}{end}'");
        assert_eq!(ids("src/a.py", &line), [""; 0], "{line}");
    }
    for claims in [
        r#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#,
        r#"{"iss":"supabase","ref":"abc","role":"anon","iat":1700000000}"#,
        r#"{"iss":"supabase-demo","role":"service_role","exp":1983812996}"#,
        r#"{}"#,
    ] {
        assert_eq!(ids("src/a.ts", &jwt(claims)), [""; 0], "{claims}");
    }
}

#[test]
fn three_dotted_parts_are_no_token_without_a_header() {
    let claims = encode(br#"{"sub":"user-17","scope":"admin"}"#);
    let headless = encode(br#"{"typ":"JWT"}"#);
    assert_eq!(ids("src/a.ts", &forge(&format!("{headless}.{claims}.«w43»"))), [""; 0]);
    let unsigned = encode(br#"{"alg":"none"}"#);
    assert_eq!(ids("src/a.ts", &forge(&format!("{unsigned}.{claims}.«w43»"))), [""; 0]);
}

#[test]
fn keys_of_tests_do_not_block_and_public_keys_are_silent() {
    let key = pem("PRIVATE KEY", "\n");
    let priorities = |path: &str| -> Vec<Priority> {
        scan(path, &key).iter().map(|found| found.priority).collect()
    };
    assert_eq!(priorities("deploy/server.key"), [Priority::P0]);
    assert_eq!(priorities("tests/certs/server.key"), [Priority::P2]);
    for kind in
        ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST", "DH PARAMETERS"]
    {
        assert_eq!(ids("deploy/server.pem", &pem(kind, "\n")), [""; 0], "{kind}");
    }
}

#[test]
fn a_token_inside_a_longer_word_is_ignored() {
    for template in ["xAKIA«u16»", "AKIA«u16»X", "my_glpat-«w20»", "dapi«h40»", "aSK«h32»"]
    {
        assert_eq!(ids("src/a.py", &forge(template)), [""; 0], "{template}");
    }
}
