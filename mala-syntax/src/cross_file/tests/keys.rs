//! Environment variables.

use super::check;

#[test]
fn a_variable_that_is_still_read_is_reported_at_the_read() {
    let base = "== .env.example\nAPI_TOKEN=\nOTHER_KEY=\n== app.py\nimport os\nt = os.environ['API_TOKEN']\n";
    let head = base.replacen("API_TOKEN=\n", "", 1);
    check(
        base,
        &head,
        &["app.py:2 removed-key P2 `API_TOKEN` is read here, but `.env.example` no longer sets it"],
    );
    let updated = head.replace("t = os.environ['API_TOKEN']", "t = ''");
    check(base, &updated, &[]);
    let with_default = head.replace("os.environ['API_TOKEN']", "os.environ.get('API_TOKEN', '')");
    check(base, &with_default, &[]);
}

#[test]
fn a_variable_that_another_file_sets_is_fine() {
    let base = "== .env\nAPI_TOKEN=x\n== docker-compose.yml\nservices:\n  app:\n    environment:\n      API_TOKEN: y\n== app.js\nconst t = process.env.API_TOKEN;\n";
    let head = base.replacen("API_TOKEN=x\n", "", 1);
    check(base, &head, &[]);
}

#[test]
fn a_setting_that_is_still_read_is_reported_at_the_read() {
    let base =
        "== config/default.yaml\nretry_limit: 3\nother: 1\n== app.py\nn = config['retry_limit']\n";
    let head = base.replacen("retry_limit: 3\n", "", 1);
    check(
        base,
        &head,
        &[
            "app.py:1 removed-key P2 `retry_limit` is read here, but `config/default.yaml` no longer sets it",
        ],
    );
    let elsewhere = |text: &str| format!("{text}== config/local.yaml\nretry_limit: 4\n");
    check(&elsewhere(base), &elsewhere(&head), &[]);
}
