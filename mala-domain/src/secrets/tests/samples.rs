//! Samples of secrets: at least one for every rule that reports.

use super::forge::{
    age, atlassian, encode, forge, gitlab, grafana, jwt, pem, with_base62_checksum,
};
use super::ids;
use crate::finding::Priority;
use crate::secrets::{masked, rules, scan};
use std::collections::BTreeSet;

/// Samples in ordinary code: the rule, and a template of the text.
const SOURCE: &[(&str, &str)] = &[
    ("aws-access-key-id", "key = 'AKIA«u16»'"),
    ("aws-access-key-id", "ASIA«u16»"),
    ("aws-access-key-id", r#"{"text": "export\nAKIA«u16»"}"#),
    ("aws-access-key-id", "?id%3DAKIA«u16»&x=1"),
    ("aws-secret-access-key", "aws_secret_access_key = «b40»"),
    ("aws-secret-access-key", r#"secretAccessKey: "«b40»","#),
    ("aws-secret-access-key", r#""SecretAccessKey" : "«b40»""#),
    ("aws-session-token", "AWS_SESSION_TOKEN=IQoJb3JpZ2luX2Vj«b300»"),
    ("aws-bedrock-api-key", "ABSK«b112»"),
    ("aws-mws-key", "amzn.mws.«uuid»"),
    ("gcp-api-key", r#"apiKey: "AIza«w35»""#),
    ("google-oauth-client-secret", "GOCSPX-«w28»"),
    ("google-oauth-access-token", "token: ya29.«w120»"),
    ("google-oauth-refresh-token", "refresh = '1//0«w60»'"),
    ("azure-storage-key", "DefaultEndpointsProtocol=https;AccountName=app;AccountKey=«b86»==;X=1"),
    ("azure-storage-key-value", "key: '«b76»+ASt«b6»=='"),
    ("azure-client-secret", "clientSecret: '«a3»8Q~«w34»'"),
    ("azure-sas-token", "https://a.blob.core.windows.net/b?sv=2022-11-02&ss=b&sig=«a43»%3D"),
    ("azure-shared-access-key", "SharedAccessKeyName=root;SharedAccessKey=«b43»="),
    ("azure-ai-key", "«a52»JQQJ99«a26»"),
    ("azure-devops-pat", "«a76»AZDO«a4»"),
    ("azure-container-registry-password", "p = '«b42»+ACRA«a5»'"),
    ("alibaba-access-key-id", "LTAI«a20»"),
    ("digitalocean-token", "dop_v1_«h64»"),
    ("digitalocean-spaces-key", "DO00«U16»"),
    ("heroku-api-key", "HRKU-AA«w58»"),
    ("heroku-api-key", "HRKU-«uuid»"),
    ("heroku-api-key-by-name", "HEROKU_API_KEY=«uuid»"),
    ("cloudflare-token", "cfut_«a40»«h8»"),
    ("cloudflare-origin-ca-key", "v1.0-«h24»-«h146»"),
    ("cloudflare-token-by-name", "CLOUDFLARE_API_TOKEN = '«w40»'"),
    ("fastly-token", "fastly_api_token: «w32»"),
    ("fly-io-token", "FlyV1 fm2_«b200»"),
    ("scaleway-secret-key", "SCW_SECRET_KEY=«uuid»"),
    (
        "github-app-stateless-token",
        "ghs_12345_«b64:{\"alg\":\"RS256\"}».«b64:{\"iss\":\"github\"}».«w64»",
    ),
    ("github-fine-grained-pat", "github_pat_«a22»_«a59»"),
    ("github-token-by-name", "GITHUB_TOKEN: «h40»"),
    ("gitlab-pat", "glpat-«w20»"),
    ("gitlab-deploy-token", "gldt-«w20»"),
    ("gitlab-runner-token", "glrt-«w20»"),
    ("gitlab-runner-registration-token", "GR1348941«w20»"),
    ("gitlab-trigger-token", "glptt-«h40»"),
    ("gitlab-job-token", "glcbt-64_«w20»"),
    ("gitlab-agent-token", "glagent-«w50»"),
    ("gitlab-oauth-app-secret", "gloas-«h64»"),
    ("gitlab-account-token", "glimt-«l25»"),
    ("bitbucket-app-password", "ATBB«a24»1A2B3C4D"),
    ("atlassian-token-by-name", "JIRA_API_TOKEN=\"«a24»\""),
    ("npmrc-auth-token", "//registry.npmjs.org/:_authToken=«uuid»"),
    ("pypi-token", "password = pypi-AgEIcHlwaS5vcmc«w120»"),
    ("rubygems-token", "rubygems_«h48»"),
    ("crates-io-token", "cio«a32»"),
    ("nuget-api-key", "oy2«l43»"),
    ("clojars-token", "CLOJARS_«l60»"),
    ("docker-hub-token", "dckr_pat_«w27»"),
    ("docker-hub-token", "dckr_oat_«w32»"),
    ("docker-config-auth", r#""auth": "«b64:deploy:kV9mQ2xPz7LwR4tN»""#),
    ("artifactory-token", "AKCp«a69»"),
    ("sonar-token", "sqp_«h40»"),
    ("snyk-token", "SNYK_TOKEN=«uuid»"),
    ("sourcegraph-token", "sgp_«h16»_«h40»"),
    ("circleci-token", "CCIPAT_«a22»_«h40»"),
    ("buildkite-token", "bkua_«h40»"),
    ("codecov-token", "CODECOV_TOKEN: «uuid»"),
    ("vault-token", "hvs.«a90»"),
    ("vault-legacy-token", "VAULT_TOKEN=s.«a24»"),
    ("terraform-cloud-token", "token = \"«a14».atlasv1.«w67»\""),
    ("databricks-token", "dapi«h32»-2"),
    ("pulumi-token", "pul-«h40»"),
    ("doppler-token", "dp.pt.«a43»"),
    ("doppler-token", "dp.st.prd.«a43»"),
    ("onepassword-service-token", "ops_eyJ«w300»"),
    ("onepassword-secret-key", "A3-«U6»-«U11»-«U5»-«U5»-«U5»"),
    ("tailscale-key", "tskey-auth-«a11»CNTRL-«a32»"),
    ("ngrok-token", "ngrok config add-authtoken 2«a26»_4«a20»"),
    ("openshift-token", "oc login --token=sha256~«w43»"),
    ("dynatrace-token", "dt0c01.«U24».«U64»"),
    ("datadog-key", "DD_API_KEY: «h32»"),
    ("datadog-key", "datadog_app_key = '«h40»'"),
    ("datadog-prefixed-key", "ddapp_«a34»"),
    ("new-relic-key", "NRAK-«U27»"),
    ("new-relic-license-key", "license: «h36»NRAL"),
    ("sentry-user-token", "sntryu_«h64»"),
    ("grafana-cloud-token", "glc_eyJ«a120»"),
    (
        "grafana-legacy-api-key",
        "«b64:{\"k\":\"kV9mQ2xPz7LwR4tNkV9mQ2xPz7LwR4tN\",\"n\":\"app\",\"id\":1}»",
    ),
    ("honeycomb-key", "hcaik_«l58»"),
    ("launchdarkly-key", "LAUNCHDARKLY_SDK_KEY=sdk-«uuid»"),
    ("posthog-personal-key", "phx_«a43»"),
    ("prefect-token", "pnu_«a36»"),
    ("planetscale-token", "pscale_tkn_«w43»"),
    ("planetscale-token", "pscale_pw_«w43»"),
    ("supabase-token", "sbp_«h40»"),
    ("supabase-token", "sb_secret_«w31»"),
    ("neon-api-key", "napi_«l64»"),
    ("tinybird-token", "p.eyJ«w90».«w43»"),
    ("vercel-token", "vcp_«a56»"),
    ("vercel-token-by-name", "VERCEL_TOKEN=«a24»"),
    ("netlify-token", "nfp_«a36»"),
    ("netlify-token-by-name", "NETLIFY_AUTH_TOKEN=«w43»"),
    ("render-api-key", "rnd_«a32»"),
    ("airtable-pat", "pat«a14».«h64»"),
    ("airtable-key-by-name", "AIRTABLE_API_KEY: key«a14»"),
    ("notion-token", "ntn_«d11»«a35»"),
    ("notion-legacy-token", "secret_«a43»"),
    ("linear-token", "lin_api_«a40»"),
    ("postman-key", "PMAK-«h24»-«h34»"),
    ("figma-token", "figd_«w40»"),
    ("contentful-token", "CFPAT-«w43»"),
    ("dropbox-token", "sl.B«w140»"),
    ("mapbox-secret-token", "sk.eyJ«a80».«w22»"),
    ("algolia-admin-key", "ALGOLIA_ADMIN_KEY=«h32»"),
    ("okta-token", "OKTA_API_TOKEN=00«w40»"),
    ("hubspot-token", "pat-na1-«uuid»"),
    ("typeform-token", "tfp_«a44»"),
    ("adafruit-io-key", "aio_«a28»"),
    ("asana-pat", "ASANA_TOKEN='1/«d16»:«h32»'"),
    ("openai-key", "sk-«a20»T3BlbkFJ«a20»"),
    ("openai-key", "sk-proj-«w74»T3BlbkFJ«w74»"),
    ("openai-project-key", "sk-svcacct-«w120»"),
    ("anthropic-key", "sk-ant-api03-«w93»AA"),
    ("openrouter-key", "sk-or-v1-«h64»"),
    ("sk-key", "key = 'sk-«h32»'"),
    ("huggingface-token", "hf_«L34»"),
    ("groq-key", "gsk_«a52»"),
    ("perplexity-key", "pplx-«a48»"),
    ("replicate-token", "r8_«a37»"),
    ("xai-key", "xai-«a80»"),
    ("langsmith-key", "lsv2_pt_«h32»_«h10»"),
    ("pinecone-key", "pcsk_«a6»_«a63»"),
    ("nvidia-key", "nvapi-«w64»"),
    ("cerebras-key", "csk-«l48»"),
    ("tavily-key", "tvly-dev-«a32»"),
    ("model-key-by-name", "COHERE_API_KEY=\"«a40»\""),
    ("slack-token", "xoxb-«d12»-«d13»-«a24»"),
    ("slack-token", "xoxp-«d12»-«d12»-«d12»-«h32»"),
    ("slack-app-token", "xapp-1-A«U10»-«d13»-«h64»"),
    ("slack-config-token", "xoxe.xoxp-1-«a160»"),
    ("slack-webhook", "https://hooks.slack.com/services/T«U8»/B«U10»/«a24»"),
    ("discord-bot-token", "client.login('«b64:123456789012345678».«w6».«w38»')"),
    ("discord-bot-token", "DISCORD_TOKEN=«b64:123456789012345678».«w6».«w27»"),
    ("discord-webhook", "https://discord.com/api/webhooks/«d18»/«w68»"),
    ("telegram-bot-token", "bot = '7«d9»:AA«w33»'"),
    (
        "teams-webhook",
        "https://x.webhook.office.com/webhookb2/«uuid»@«uuid»/IncomingWebhook/«h32»/«uuid»",
    ),
    ("twilio-api-key", "SK«h32»"),
    ("twilio-auth-token", "TWILIO_AUTH_TOKEN=«h32»"),
    ("sendgrid-key", "SG.«w22».«w43»"),
    ("mailgun-key", "key-«h32»"),
    ("mailgun-private-key", "MAILGUN_API_KEY=«h32»-«h8»-«h8»"),
    ("mailchimp-key", "«h32»-us12"),
    ("brevo-key", "xkeysib-«h64»-«a16»"),
    ("resend-key", "re_«a8»_«a24»"),
    ("postmark-token", "POSTMARK_SERVER_TOKEN=«uuid»"),
    ("messagebird-key", "MESSAGEBIRD_API_KEY='«a25»'"),
    ("stripe-live-key", "sk_live_«a24»"),
    ("stripe-live-key", "rk_live_«a99»"),
    ("stripe-test-key", "sk_test_«a24»"),
    ("stripe-webhook-secret", "whsec_«a32»"),
    ("shopify-token", "shpat_«h32»"),
    ("square-access-token", "EAAA«w60»"),
    ("square-oauth-secret", "sq0csp-«w43»"),
    ("braintree-access-token", "access_token$production$«l16»$«h32»"),
    ("paypal-client-secret", "PAYPAL_CLIENT_SECRET=E«w79»"),
    ("plaid-access-token", "access-production-«uuid»"),
    ("flutterwave-secret-key", "FLWSECK-«h32»-X"),
    ("razorpay-key", "rzp_live_«a14»"),
    ("shippo-token", "shippo_live_«h40»"),
    ("easypost-key", "EZAK«a54»"),
    ("duffel-token", "duffel_live_«w43»"),
    ("facebook-access-token", "EAAC«a150»"),
    ("facebook-app-secret", "FACEBOOK_APP_SECRET=«h32»"),
    ("twitter-bearer-token", "bearer = 'AAAAAAAAAAAAAAAAAAAAA«a86»'"),
    ("jwk-private-key", r#""kty":"EC","crv":"P-256","x":"«w43»","d":"«w43»""#),
    ("laravel-app-key", "APP_KEY=base64:«b43»="),
    ("wordpress-key", "define('AUTH_KEY', '«s64»');"),
    ("url-password", "postgres://app:«a16»@db.internal.acme.io:5432/app"),
    ("url-password", "https://deploy:«a20»@git.acme.io/app.git"),
    ("connection-string-password", "Server=sql.acme.io;Database=app;User Id=app;Password=«a14»;"),
    ("basic-auth-header", "Authorization: Basic «b64:deploy:kV9mQ2xPz7LwR4tN»"),
    ("bearer-token", "curl -H 'Authorization: Bearer «a40»'"),
    ("generic-secret", r#"client_secret = "«a32»""#),
    ("generic-secret", r#"const apiKey: string = "«a40»";"#),
    ("generic-secret", r#"api_key := "«h40»""#),
    ("generic-secret", r#"{"signingKey": "«b44»"}"#),
    ("generic-secret", "SECRET_KEY = '«s50»'"),
    ("generic-secret", r#"<add key="ApiKey" value="«a32»" />"#),
    ("generic-password", r#"password = "«s14»""#),
    ("generic-password", r#"db.setPassword("«s22»");"#),
    ("generic-password", r#""password" => '«L3»9#«a6»',"#),
    ("generic-secret", "jwtKey: '«a32»',"),
    ("generic-password", r#"{"host": "h", "pass": "«s12»"}"#),
    ("generic-password", "SMTP_PASS: '«s12»'"),
    ("url-parameter-secret", "fetch('https://api.acme.io/v1?q=1&api_key=«a32»')"),
    ("header-secret", r#"curl -H "X-Api-Key: «a32»" https://api.acme.io"#),
    ("sql-password", "CREATE USER app IDENTIFIED BY '«s14»';"),
    ("xml-secret", "<ClientSecret>«a32»</ClientSecret>"),
    ("netrc-password", "machine git.acme.io login deploy password «a20»"),
];

/// Samples in settings files, where values have no quotes.
const SETTINGS: &[(&str, &str)] = &[
    ("config-secret", "SESSION_SECRET=«a40»"),
    ("config-secret", "  secret_key_base: «h128»"),
    ("config-secret", "export API_KEY=«l32»  # production"),
    ("config-password", "DB_PASSWORD=«L3»9#«a8»"),
    ("config-password", "  password: «a14»"),
    (
        "kubernetes-secret-value",
        "kind: Secret\nmetadata:\n  name: db\ndata:\n  password: «b64:kV9mQ2xPz7LwR4tN»\n",
    ),
];

/// Samples that need more than a template.
fn made() -> Vec<(&'static str, String)> {
    let service_role =
        jwt(r#"{"iss":"supabase","ref":"abc","role":"service_role","iat":1700000000}"#);
    let sentry = encode(br#"{"iat":1700000000.5,"url":"https://sentry.io","region_url":"https://us.sentry.io","org":"acme"}"#);
    let putty = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: k\nPublic-Lines: 1\n\
                 «b64»\nPrivate-Lines: 2\n«b64»\n«b44»\n";
    let encrypted = pem("RSA PRIVATE KEY", "\n").replacen(
        '\n',
        "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
        1,
    );
    let service_account =
        format!(r#"{{"type": "service_account", "private_key": "{}"}}"#, pem("PRIVATE KEY", "\\n"));
    let mut samples: Vec<(&str, String)> = vec![
        ("github-pat", with_base62_checksum("ghp_")),
        ("github-oauth-token", with_base62_checksum("gho_")),
        ("github-user-token", with_base62_checksum("ghu_")),
        ("github-app-token", with_base62_checksum("ghs_")),
        ("github-refresh-token", with_base62_checksum("ghr_")),
        ("npm-token", format!("//r/:_authToken={}", with_base62_checksum("npm_"))),
        ("gitlab-pat", gitlab("glpat-")),
        ("gitlab-runner-token", gitlab("glrt-t1_")),
        ("grafana-service-account-token", grafana()),
        ("atlassian-api-token", atlassian("ATATT3xFfGF0")),
        ("bitbucket-access-token", atlassian("ATCTT3xFfGN0")),
        ("age-secret-key", age()),
        ("sentry-org-token", forge(&format!("sntrys_{sentry}_«b43»"))),
        ("jwt", jwt(r#"{"sub":"user-17","exp":1900000000,"scope":"admin"}"#)),
        ("supabase-service-role-jwt", service_role),
        ("encrypted-private-key", pem("ENCRYPTED PRIVATE KEY", "\n")),
        ("encrypted-private-key", encrypted),
        ("gcp-service-account-key", service_account),
        ("putty-private-key", forge(putty)),
    ];
    for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH "] {
        samples.push(("private-key", pem(&format!("{kind}PRIVATE KEY"), "\n")));
    }
    samples.push(("private-key", pem("PGP PRIVATE KEY BLOCK", "\r\n")));
    samples.push(("private-key", pem("PRIVATE KEY", "\n+")));
    samples
}

/// Every sample: rule, path and text.
pub(super) fn all() -> Vec<(&'static str, &'static str, String)> {
    let source = SOURCE.iter().map(|(id, template)| (*id, "src/app.py", forge(template)));
    let settings = SETTINGS.iter().map(|(id, template)| (*id, "deploy/prod.env", forge(template)));
    let made = made().into_iter().map(|(id, text)| (id, "src/app.py", text));
    source.chain(settings).chain(made).collect()
}

#[test]
fn every_sample_is_found_by_its_rule() {
    let samples = all();
    assert!(samples.len() >= 200, "{} samples", samples.len());
    let wrong: Vec<_> = samples
        .iter()
        .map(|(id, path, text)| (id, ids(path, text), text))
        .filter(|(id, found, _)| !(found.len() == 1 && found[0] == **id))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_rule_that_reports_has_a_sample() {
    let sampled: BTreeSet<&str> = all().iter().map(|(id, ..)| *id).collect();
    let bare: Vec<_> = rules()
        .iter()
        .filter(|rule| rule.reports() && !sampled.contains(rule.id.as_str()))
        .map(|rule| &rule.id)
        .collect();
    assert!(bare.is_empty(), "{bare:?}");
}

#[test]
fn a_wrong_checksum_is_not_reported() {
    for token in [
        with_base62_checksum("ghp_"),
        with_base62_checksum("npm_"),
        gitlab("glpat-"),
        grafana(),
        atlassian("ATATT3xFfGF0"),
        age(),
    ] {
        let last = token.chars().last().unwrap();
        let other = if last == '2' { '3' } else { '2' };
        let broken = format!("{}{other}", &token[..token.len() - 1]);
        assert_eq!(ids("src/a.py", &broken), [""; 0], "{broken}");
    }
}

#[test]
fn a_match_has_the_range_of_the_secret() {
    let token = with_base62_checksum("ghp_");
    let text = format!("# héllo\ntoken = \"{token}\"\n");
    let [found] = scan("src/a.py", &text)[..] else { panic!("one finding") };
    assert_eq!(&text[found.start..found.end], token);
    assert_eq!(found.secret(), token);
    assert_eq!((found.priority, found.confidence), (Priority::P0, 0.99));
    assert!(!format!("{found:?}").contains(&token), "the secret must not be printed");
}

#[test]
fn masked_shows_four_characters() {
    assert_eq!(masked("ghp_abcdef"), "ghp_…");
    assert_eq!(masked("é"), "é…");
    assert_eq!(masked(""), "…");
}

#[test]
fn unverified_matches_in_tests_have_lower_priority() {
    let proven = with_base62_checksum("ghp_");
    let likely = forge("sk_live_«a24»");
    let priority = |path: &str, text: &str| scan(path, text)[0].priority;
    assert_eq!(priority("src/pay.py", &likely), Priority::P0);
    assert_eq!(priority("tests/pay.py", &likely), Priority::P1);
    assert_eq!(priority("tests/pay.py", &proven), Priority::P0);
}

#[test]
fn generic_rules_are_silent_in_tests_and_documents() {
    let text = forge("api_key = \"«a40»\"");
    assert_eq!(ids("src/a.py", &text), ["generic-secret"]);
    for path in
        ["tests/a.py", "src/a.test.ts", "docs/a.md", "README.md", "examples/a.go", "pkg/a_test.go"]
    {
        assert_eq!(ids(path, &text), [""; 0], "{path}");
    }
}

#[test]
fn generic_matches_in_comments_have_lower_priority() {
    let line = forge("api_key = \"«a40»\"");
    let comment = format!("    // {line}");
    assert_eq!(scan("src/a.py", &line)[0].priority, Priority::P2);
    assert_eq!(scan("src/a.py", &comment)[0].priority, Priority::P3);
    assert_eq!(scan("src/a.py", &forge("# sk_live_«a24»"))[0].priority, Priority::P0);
}

#[test]
fn several_secrets_are_found_in_order() {
    let text = forge("a = 'AKIA«u16»'\nb = 'glpat-«w20»'\nc = 'AKIA«u16»'\n");
    assert_eq!(ids("a.py", &text), ["aws-access-key-id", "gitlab-pat", "aws-access-key-id"]);
}

#[test]
fn the_surest_rule_names_a_secret_that_several_find() {
    let text = forge("client_secret = \"GOCSPX-«w28»\"");
    assert_eq!(ids("a.py", &text), ["google-oauth-client-secret"]);
}

#[test]
fn this_repository_does_not_trip_over_its_own_rules() {
    for text in [
        include_str!("forge.rs"),
        include_str!("misses.rs"),
        include_str!("redaction.rs"),
        include_str!("samples.rs"),
        include_str!("../rules.toml"),
        include_str!("../placeholder.rs"),
    ] {
        assert!(scan("src/a.rs", text).is_empty(), "{:?}", scan("src/a.rs", text));
    }
}
