//! Environment variables and settings.

use super::{candidates, check, tree};

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

#[test]
fn every_line_that_reads_a_variable_is_reported() {
    let base = "== .env.example\nAPI_TOKEN=\n== a.py\nimport os\nt = os.environ['API_TOKEN']\n== b.go\npackage b\nfunc f() string { return os.Getenv(\"API_TOKEN\") }\n== c.py\nimport os\nt = os.getenv('API_TOKEN', 'x')\n== tests/test_a.py\nimport os\nos.environ['API_TOKEN']\nos.environ['API_TOKEN'] = 'x'\n";
    let head = base.replacen("API_TOKEN=\n", "", 1);
    check(
        base,
        &head,
        &[
            "a.py:2 removed-key P2 `API_TOKEN` is read here, but `.env.example` no longer sets it",
            "b.go:2 removed-key P2 `API_TOKEN` is read here, but `.env.example` no longer sets it",
        ],
    );
    let optional = format!(
        "{head}== env.ts\nexport const schema = {{\n  API_TOKEN: z.string().optional(),\n}};\n"
    );
    check(base, &optional, &[]);
}

#[test]
fn many_reads_are_counted() {
    let reads: String = (0..30).map(|n| format!("x{n} = os.environ['API_TOKEN']\n")).collect();
    let base = format!("== .env\nAPI_TOKEN=\nOTHER_KEY=\n== a.py\nimport os\n{reads}");
    let head = base.replacen("API_TOKEN=\n", "", 1);
    let found = candidates(&tree(&base), &tree(&head));
    assert_eq!(found.len(), 20);
    assert!(
        found.iter().all(|one| one.body.ends_with("30 lines read it; 20 of them are reported."))
    );
}

#[test]
fn variables_of_manifests_and_workflows() {
    let app = "== app.js\nconst t = process.env.API_TOKEN;\n";
    for (file, text) in [
        ("Dockerfile", "FROM x\nENV API_TOKEN=x\n"),
        (".github/workflows/ci.yml", "jobs:\n  a:\n    env:\n      API_TOKEN: x\n"),
        (
            "deploy/app.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nenv:\n  - name: API_TOKEN\n    value: x\n",
        ),
        ("docker-compose.yml", "services:\n  a:\n    environment:\n      - API_TOKEN=x\n"),
    ] {
        let base = format!("== {file}\n{text}{app}");
        let lines: Vec<&str> = text.lines().filter(|line| !line.contains("API_TOKEN")).collect();
        let head = format!("== {file}\n{}\n{app}", lines.join("\n"));
        let said = format!(
            "app.js:1 removed-key P2 `API_TOKEN` is read here, but `{file}` no longer sets it"
        );
        check(&base, &head, &[&said]);
        check(&base, &format!("{head}== deploy/run.sh\nAPI_TOKEN=x node app.js\n"), &[]);
        check(&base, app, &[]);
    }
}

/// A reader of `database.host`, and what happens there.
const READERS: [(&str, &str, u32); 7] = [
    ("a.py", "host = config['database']['host']\n", 1),
    ("a.py", "host = settings.database.host\n", 1),
    ("a.js", "const host = config.get('database.host');\n", 1),
    ("a.ts", "const host = this.configService.get<string>('database.host');\n", 1),
    ("a.go", "package a\nfunc f() string { return viper.GetString(\"database.host\") }\n", 2),
    ("src/a.rs", "fn f() { let x = settings.get_string(\"database.host\")?; }\n", 1),
    ("A.java", "class A {\n  @Value(\"${database.host}\") String host;\n}\n", 2),
];

#[test]
fn a_setting_with_a_path_is_reported_where_it_is_read() {
    for (reader, text, line) in READERS {
        for (file, before, after) in [
            ("config.yaml", "database:\n  host: x\n  port: 1\n", "database:\n  port: 1\n"),
            ("settings.toml", "[database]\nhost = 'x'\nport = 1\n", "[database]\nport = 1\n"),
            (
                "config/default.json",
                "{\"database\": {\"host\": 1, \"port\": 2}}\n",
                "{\"database\": {\"port\": 2}}\n",
            ),
            (
                "src/main/resources/application.properties",
                "database.host=x\ndatabase.port=1\n",
                "database.port=1\n",
            ),
        ] {
            let base = format!("== {file}\n{before}== {reader}\n{text}");
            let head = format!("== {file}\n{after}== {reader}\n{text}");
            let said = format!(
                "{reader}:{line} removed-key P2 `database.host` is read here, but `{file}` no longer sets it"
            );
            check(&base, &head, &[&said]);
            let elsewhere = "== config/production.yaml\ndatabase:\n  host: y\n";
            check(&base, &format!("{head}{elsewhere}"), &[]);
            let by_variable = "== docker-compose.yml\nservices:\n  a:\n    environment:\n      DATABASE_HOST: x\n";
            check(&base, &format!("{head}{by_variable}"), &[]);
        }
    }
}

#[test]
fn a_setting_of_c_sharp_is_reported_where_it_is_read() {
    let base = "== appsettings.json\n{\"Mail\": {\"Sender\": \"x\", \"Port\": 1}}\n== A.cs\nclass A {\n  string F() => _configuration[\"Mail:Sender\"];\n}\n";
    let head = base.replacen("\"Sender\": \"x\", ", "", 1);
    check(
        base,
        &head,
        &[
            "A.cs:2 removed-key P2 `Mail.Sender` is read here, but `appsettings.json` no longer sets it",
        ],
    );
}

#[test]
fn a_type_gives_a_setting_no_value() {
    let user = "== types.ts\ninterface Database { host: string }\ninterface Config { database: Database }\n== a.ts\nconst host = config.get<string>('database.host');\n";
    let base = format!("== config/default.yml\ndatabase:\n  host: x\n  port: 1\n{user}");
    let head = base.replacen("  host: x\n", "", 1);
    check(
        &base,
        &head,
        &[
            "a.ts:1 removed-key P2 `database.host` is read here, but `config/default.yml` no longer sets it",
        ],
    );
}

#[test]
fn a_renamed_setting_is_named() {
    let base = "== config.yaml\ndb:\n  hostname: x\n== a.py\nx = config['db']['hostname']\n";
    let head = base.replacen("hostname: x", "address: x", 1);
    check(
        base,
        &head,
        &[
            "a.py:1 removed-key P2 `db.hostname` is read here, but `config.yaml` has `db.address` in its place",
        ],
    );
}

#[test]
fn settings_that_may_be_something_else_are_left_alone() {
    let base = "== config.yaml\ndatabase:\n  host: x\n  port: 1\nretry_limit: 3\n";
    let head = "== config.yaml\ndatabase:\n  port: 1\n";
    for reader in [
        // A default, a test, a path that is not known.
        "== a.py\nx = config['database'].get('host', 'y')\n",
        "== a.py\nif 'host' in config['database']:\n    f(config['database']['host'])\n",
        "== a.py\nx = config['database'][name]\n",
        "== a.ts\nconst x = config.database.host ?? 'y';\n",
        "== a.go\npackage a\nfunc f() {\n\tviper.SetDefault(\"database.host\", \"y\")\n\tg(viper.GetString(\"database.host\"))\n}\n",
        // Another thing that has the name.
        "== a.py\nx = request['database']['host']\n",
        "== a.py\nx = options.retry_limit\n",
        // A type of the program says what there is.
        "== a.py\nclass Config:\n    database: Database\nx = config.database.host\n",
        "== a.ts\ninterface Config { retry_limit: number }\nconst x = config.retry_limit;\n",
        // Defaults in code.
        "== a.py\nDEFAULTS = {'database': {'host': 'y'}}\nx = config['database']['host']\n",
        "== a.py\nparser.add_argument('--x')\nconfig = Config(retry_limit=3)\nx = config.retry_limit\n",
        // Tests.
        "== tests/test_a.py\nx = config['database']['host']\n",
    ] {
        check(&format!("{base}{reader}"), &format!("{head}{reader}"), &[]);
    }
    let reader = "== a.py\nx = config['database']['host']\n";
    let others = "== .config/config.yaml\ndatabase:\n  host: x\n";
    check(&format!("{others}{reader}"), &format!("== .config/config.yaml\na: 1\n{reader}"), &[]);
    check(&format!("{base}{reader}"), &format!("== config.yaml\n{{{{ broken\n{reader}"), &[]);
    check(&format!("{base}{reader}"), reader, &[]);
}
