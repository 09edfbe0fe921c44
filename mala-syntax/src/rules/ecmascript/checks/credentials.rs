//! Secrets written into the code where they are used: keys that sign and encrypt, passwords and
//! tokens given to clients.

use super::{found, path_matches};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const SIGNING_SECRET: ProgramCheck = ProgramCheck {
    name: "hardcoded-signing-secret",
    captures: &["SECRET", "CALL"],
    run: signing_secrets,
};

pub(in crate::rules::ecmascript) const CLIENT_SECRET: ProgramCheck = ProgramCheck {
    name: "hardcoded-client-secret",
    captures: &["SECRET", "CALL"],
    run: client_secrets,
};

/// Where a call takes a secret.
enum Takes {
    /// In the argument at this place.
    Argument(usize),
    /// Under these paths of the argument at this place.
    Options(usize, &'static [&'static str]),
    /// In every member of the object under this path of the first argument.
    Values(&'static str),
}

use Takes::{Argument, Options, Values};

/// Keys that a server signs or encrypts with: who knows them can forge what it trusts.
const SIGNING: &[(&str, Takes)] = &[
    ("jsonwebtoken:sign", Argument(1)),
    ("jsonwebtoken:verify", Argument(1)),
    ("jwt-simple:encode", Argument(1)),
    ("jwt-simple:decode", Argument(1)),
    ("jose:jwtVerify", Argument(1)),
    ("jose:SignJWT()*.sign", Argument(0)),
    ("express-jwt:", Options(0, &["secret"])),
    ("express-jwt:expressjwt", Options(0, &["secret"])),
    ("koa-jwt:", Options(0, &["secret"])),
    ("passport-jwt:Strategy", Options(0, &["secretOrKey"])),
    ("next-auth:", Options(0, &["secret", "jwt.secret"])),
    ("express-session:", Options(0, &["secret"])),
    ("cookie-session:", Options(0, &["secret"])),
    ("koa-session:", Options(0, &["secret"])),
    ("client-sessions:", Options(0, &["secret"])),
    ("iron-session:getIronSession", Options(2, &["password"])),
    ("cookie-parser:", Argument(0)),
    ("crypto:createHmac", Argument(1)),
    ("crypto:createCipher", Argument(1)),
    ("crypto:createDecipher", Argument(1)),
    ("crypto:createCipheriv", Argument(1)),
    ("crypto:createDecipheriv", Argument(1)),
    ("crypto:createSecretKey", Argument(0)),
    ("crypto-js/aes:encrypt", Argument(1)),
    ("crypto-js/aes:decrypt", Argument(1)),
    ("crypto-js:AES.encrypt", Argument(1)),
    ("crypto-js:AES.decrypt", Argument(1)),
    ("crypto-js:Hmac*", Argument(1)),
    ("CryptoJS.AES.encrypt", Argument(1)),
    ("CryptoJS.AES.decrypt", Argument(1)),
];

/// Passwords and tokens that a program shows to others.
const CLIENTS: &[(&str, Takes)] = &[
    ("pg:Client", Options(0, &["password"])),
    ("pg:Pool", Options(0, &["password"])),
    ("mysql:create*", Options(0, &["password"])),
    ("mysql2:create*", Options(0, &["password"])),
    ("mysql2/promise:create*", Options(0, &["password"])),
    ("mariadb:create*", Options(0, &["password"])),
    ("mssql:connect", Options(0, &["password"])),
    ("mssql:ConnectionPool", Options(0, &["password"])),
    ("oracledb:getConnection", Options(0, &["password"])),
    ("oracledb:createPool", Options(0, &["password"])),
    ("tedious:Connection", Options(0, &["authentication.options.password"])),
    ("knex:", Options(0, &["connection.password"])),
    ("sequelize:", Argument(2)),
    ("sequelize:Sequelize", Argument(2)),
    ("typeorm:DataSource", Options(0, &["password"])),
    ("typeorm:createConnection", Options(0, &["password"])),
    ("ioredis:", Options(0, &["password"])),
    ("redis:createClient", Options(0, &["password"])),
    ("mongodb:MongoClient.connect", Options(1, &["auth.password"])),
    ("mongodb:MongoClient", Options(1, &["auth.password"])),
    ("mongoose:connect", Options(1, &["pass"])),
    ("nodemailer:createTransport", Options(0, &["auth.pass"])),
    ("ldapjs:createClient().bind", Argument(1)),
    ("ldapts:Client().bind", Argument(1)),
    ("ssh2:Client().connect", Options(0, &["password", "privateKey", "passphrase"])),
    ("ssh2-sftp-client:().connect", Options(0, &["password", "privateKey", "passphrase"])),
    ("basic-ftp:Client().access", Options(0, &["password"])),
    ("ftp:().connect", Options(0, &["password"])),
    ("imap:", Options(0, &["password"])),
    ("express-basic-auth:", Values("users")),
    ("basic-auth-connect:", Argument(1)),
    ("aws-sdk:config.update", Options(0, &["secretAccessKey"])),
    ("aws-sdk:*().update", Options(0, &["secretAccessKey"])),
    ("aws-sdk:Credentials", Argument(1)),
    ("aws-sdk:*", Options(0, &["secretAccessKey", "credentials.secretAccessKey"])),
    ("aws-sdk/clients/*", Options(0, &["secretAccessKey", "credentials.secretAccessKey"])),
    ("@aws-sdk/*Client", Options(0, &["credentials.secretAccessKey"])),
    ("request:*.auth", Argument(1)),
    ("request:*.auth", Argument(3)),
    ("request:*", Options(0, &["auth.pass", "auth.password", "auth.bearer"])),
    ("request:*", Options(1, &["auth.pass", "auth.password", "auth.bearer"])),
    ("superagent:*.auth", Argument(1)),
    ("axios:", Options(0, &["auth.password"])),
    ("axios:*", Options(1, &["auth.password"])),
    ("axios:*", Options(2, &["auth.password"])),
    ("got:*", Options(1, &["password"])),
    ("ms-rest-azure:loginWith*", Argument(1)),
    ("@azure/ms-rest-nodeauth:loginWith*", Argument(1)),
    ("digitalocean:client", Argument(0)),
    ("pkgcloud:*.createClient", Options(0, CLOUD_KEYS)),
    ("twilio:", Argument(1)),
    ("stripe:", Argument(0)),
    ("stripe:Stripe", Argument(0)),
    ("@sendgrid/mail:setApiKey", Argument(0)),
    ("openai:", Options(0, &["apiKey"])),
    ("openai:OpenAI", Options(0, &["apiKey"])),
    ("@anthropic-ai/sdk:", Options(0, &["apiKey"])),
    ("@octokit/rest:Octokit", Options(0, &["auth"])),
    ("@slack/web-api:WebClient", Argument(0)),
    ("discord.js:Client().login", Argument(0)),
    ("telegraf:Telegraf", Argument(0)),
    ("node-telegram-bot-api:", Argument(0)),
    ("passport-*:*Strategy", Options(0, &["clientSecret", "consumerSecret"])),
];

const CLOUD_KEYS: &[&str] = &["password", "key", "apiKey", "token", "storageAccessKey"];

/// The services of pkgcloud that have clients; other paths with the same end are something else.
const CLOUD_SERVICES: [&str; 9] = [
    "compute",
    "storage",
    "database",
    "dns",
    "blockstorage",
    "loadbalancer",
    "network",
    "orchestration",
    "cdn",
];

/// Texts that stand for a secret which is not there yet.
const PLACEHOLDERS: [&str; 18] = [
    "example",
    "sample",
    "placeholder",
    "dummy",
    "fake",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "insert",
    "todo",
    "test",
    "mytoken",
    "mypassword",
    "xxx",
    "<",
    "{",
    "...",
];

/// Passwords of a database or server that runs on the developer's own machine.
const LOCAL: [&str; 14] = [
    "pass", "secret", "root", "admin", "user", "guest", "postgres", "mysql", "local", "string",
    "foo", "bar", "1234", "abcd",
];

fn signing_secrets(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for (call, takes) in calls(program, SIGNING) {
        for given in given(program, call, takes) {
            let Some((literal, text)) = literal_secret(program, given) else { continue };
            if text.trim().is_empty() || is_placeholder(&text) || is_public(&text) {
                continue;
            }
            matches.push(secret(program, literal, call));
        }
    }
    matches
}

fn client_secrets(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for (call, takes) in calls(program, CLIENTS) {
        for given in given(program, call, takes) {
            let Some(value) = program.value_of(given) else { continue };
            let Some(text) = program.constant_text(value) else { continue };
            let lower = text.to_lowercase();
            let is_local = LOCAL.iter().any(|word| lower.contains(word)) && text.len() < 13;
            if text.len() < 4 || is_placeholder(&text) || is_local {
                continue;
            }
            matches.push(secret(program, value, call));
        }
    }
    matches.extend(assigned_secrets(program));
    matches
}

/// `AWS.config.secretAccessKey = "..."`
fn assigned_secrets(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for assignment in program.of_kind("assignment_expression") {
        let (Some(left), Some(right)) =
            (assignment.child_by_field_name("left"), assignment.child_by_field_name("right"))
        else {
            continue;
        };
        let is_key = left.kind() == "member_expression"
            && program.text(left).ends_with(".secretAccessKey")
            && program.origin(left).is_some_and(|path| path.starts_with("aws-sdk:config."));
        let literal = program.value_of(right).filter(|_| is_key);
        if let Some(literal) = literal
            && let Some(text) = program.constant_text(literal)
            && text.len() >= 4
            && !is_placeholder(&text)
        {
            matches.push(secret(program, literal, left));
        }
    }
    matches
}

fn secret(program: &Program<'_>, literal: Node<'_>, call: Node<'_>) -> NativeMatch {
    let callee = callee(call).unwrap_or(call);
    let shown: String = program.text(callee).chars().take(60).collect();
    let name = shown.split_whitespace().collect::<String>();
    found(literal, vec![("SECRET", hint(program.text(literal))), ("CALL", name)])
}

/// The first letters of a secret: enough to find it, too little to use it.
fn hint(text: &str) -> String {
    let shown: String = text.chars().take(4).collect();
    format!("{shown}…")
}

/// The calls of functions in a table.
fn calls<'t, 'a>(
    program: &Program<'t>,
    table: &'a [(&'static str, Takes)],
) -> Vec<(Node<'t>, &'a Takes)> {
    let mut found = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(path) = program.callee_origin(call) else { continue };
        if path.starts_with("pkgcloud:") && !is_cloud_service(&path) {
            continue;
        }
        let entries = table.iter().filter(|(pattern, _)| path_matches(pattern, &path));
        found.extend(entries.map(|(_, takes)| (call, takes)));
    }
    found
}

fn is_cloud_service(path: &str) -> bool {
    let mut parts = path.rsplit(['.', ':']);
    parts.nth(1).is_some_and(|service| CLOUD_SERVICES.contains(&service))
}

/// The expressions that a call is given as secrets.
fn given<'t>(program: &Program<'t>, call: Node<'t>, takes: &Takes) -> Vec<Node<'t>> {
    let arguments = arguments(call);
    match takes {
        Argument(place) => arguments.get(*place).copied().into_iter().collect(),
        Options(place, paths) => {
            let Some(options) = arguments.get(*place).copied() else { return Vec::new() };
            let members =
                paths.iter().filter_map(|path| program.member_path(options, path).known());
            members.flat_map(|value| elements(program, value)).collect()
        }
        Values(path) => {
            let Some(options) = arguments.first().copied() else { return Vec::new() };
            let users = program.member_path(options, path).known();
            users.map(|users| values(program, users)).unwrap_or_default()
        }
    }
}

/// The elements of an array; any other value is itself.
fn elements<'t>(program: &Program<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    match program.value_of(node) {
        Some(array) if array.kind() == "array" => {
            let mut cursor = array.walk();
            array.named_children(&mut cursor).collect()
        }
        _ => vec![node],
    }
}

/// The values in an object, and those put into it later.
fn values<'t>(program: &Program<'t>, object: Node<'t>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    if let Some(literal) = program.object_value(object) {
        let mut cursor = literal.walk();
        let pairs = literal.named_children(&mut cursor);
        found.extend(pairs.filter_map(|pair| pair.child_by_field_name("value")));
    }
    let variable = program.variable(object);
    for read in variable.map(|it| it.reads.as_slice()).unwrap_or_default() {
        let target = program.parent(*read).filter(|it| it.kind() == "subscript_expression");
        let assignment = target.and_then(|target| program.parent(target));
        found.extend(
            assignment
                .filter(|it| it.kind() == "assignment_expression")
                .and_then(|it| it.child_by_field_name("right")),
        );
    }
    found
}

/// The literal that a secret comes down to, also as the fallback of `a || "literal"` and inside
/// `Buffer.from("literal")`.
fn literal_secret<'t>(program: &Program<'t>, node: Node<'t>) -> Option<(Node<'t>, String)> {
    let mut node = program.value_of(node)?;
    for _ in 0..4 {
        if let Some(text) = program.constant_text(node) {
            return Some((node, text.into_owned()));
        }
        node = match node.kind() {
            "binary_expression" => {
                let operator = node.child_by_field_name("operator")?;
                if !matches!(program.text(operator), "||" | "??") {
                    return None;
                }
                program.value_of(node.child_by_field_name("right")?)?
            }
            "call_expression" => {
                let path = program.callee_origin(node)?;
                let wraps = [
                    "Buffer.from",
                    "buffer:Buffer.from",
                    "TextEncoder().encode",
                    "crypto-js:enc.Utf8.parse",
                    "CryptoJS.enc.Utf8.parse",
                    "crypto:createSecretKey",
                ];
                if !wraps.contains(&path.as_str()) {
                    return None;
                }
                program.value_of(*arguments(node).first()?)?
            }
            _ => return None,
        };
    }
    None
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut characters: Vec<char> = lower.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    characters.len() < 3 || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// A public key is no secret.
fn is_public(text: &str) -> bool {
    text.contains("PUBLIC KEY-") || text.contains("BEGIN CERTIFICATE")
}
