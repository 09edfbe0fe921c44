//! Lines of code in, what they do with a key out.

use super::*;

fn shown(language: Language, text: &str, key: &Key) -> String {
    let source = Source::parse(language, text).expect("parses");
    let found = uses_of(&source, &[key]);
    let lines: Vec<String> = found
        .uses
        .iter()
        .map(|one| match one.deed {
            Deed::Reads(happens) => format!("{}: {happens}", one.line),
            Deed::Copes => format!("{}: copes", one.line),
            Deed::Tests => format!("{}: tests", one.line),
            Deed::Sets => format!("{}: sets", one.line),
        })
        .collect();
    lines.join("; ")
}

fn check_all(key: &Key, rows: &[(Language, &str, &str)]) {
    for (language, text, expected) in rows {
        assert_eq!(shown(*language, text, key), *expected, "{language}: {text}");
    }
}

fn variable() -> Key {
    Key::Variable("API_KEY".to_owned())
}

fn setting() -> Key {
    Key::Setting(vec!["db".to_owned(), "host".to_owned()])
}

#[test]
fn python_variables() {
    use Language::Python as L;
    check_all(
        &variable(),
        &[
            (L, "x = os.environ[\"API_KEY\"]", "1: raises `KeyError`"),
            (L, "x = os.environ.get('API_KEY')", "1: gives `None`"),
            (L, "x = os.environ.get('API_KEY', 'd')", "1: copes"),
            (L, "x = os.environ.get(\n    'API_KEY',\n    'd',\n)", "2: copes"),
            (L, "x = os.getenv('API_KEY') or 'd'", "1: copes"),
            (L, "x = int(os.getenv('API_KEY') or 1)", "1: copes"),
            (L, "x = os.getenv('API_KEY')\nif x:\n    f(x)", "1: copes"),
            (L, "x = os.getenv('API_KEY')\nif not x:\n    raise E()", "1: gives `None`"),
            (L, "if os.getenv('API_KEY'):\n    f()", "1: tests"),
            (L, "if 'API_KEY' in os.environ:\n    f(os.environ['API_KEY'])", "1: tests; 2: copes"),
            (L, "try:\n    x = os.environ['API_KEY']\nexcept KeyError:\n    x = 1", "2: copes"),
            (L, "os.environ['API_KEY'] = 'x'", "1: sets"),
            (L, "os.environ.setdefault('API_KEY', 'x')", "1: sets"),
            (L, "# os.environ['API_KEY']", ""),
            (L, "'''os.environ['API_KEY']'''", ""),
            (L, "x = other['API_KEY']", ""),
            (L, "x = env('API_KEY')", "1: raises an error"),
            (L, "x = env('API_KEY', default=1)", "1: copes"),
        ],
    );
}

#[test]
fn script_variables() {
    use Language::TypeScript as L;
    check_all(
        &variable(),
        &[
            (L, "const x = process.env.API_KEY;", "1: gives `undefined`"),
            (L, "const x = process.env['API_KEY']!;", "1: gives `undefined`"),
            (L, "const x = process.env.API_KEY || 1;", "1: copes"),
            (L, "const x = Number(process.env.API_KEY ?? 1);", "1: copes"),
            (L, "const x = process.env.API_KEY?.trim();", "1: copes"),
            (L, "const x = process.env.API_KEYS;", ""),
            (L, "const { API_KEY } = process.env;", "1: gives `undefined`"),
            (L, "const { API_KEY = 'x' } = process.env;", "1: copes"),
            (L, "process.env.API_KEY = 'x';", "1: sets"),
            (L, "if (!process.env.API_KEY) { throw new Error(); }", "1: gives `undefined`"),
            (L, "if (!process.env.API_KEY) { return; }", "1: tests"),
            (L, "if (process.env.API_KEY === 'x') { throw new Error(); }", "1: tests"),
            (L, "const x = process.env.API_KEY ? 1 : 2;", "1: tests"),
            (L, "const on = process.env.API_KEY === '1';", "1: copes"),
            (L, "const x = { API_KEY: process.env.API_KEY };", "1: gives `undefined`"),
            (L, "const x = import.meta.env.API_KEY;", "1: gives `undefined`"),
            (L, "const x = Deno.env.get('API_KEY');", "1: gives `undefined`"),
        ],
    );
}

#[test]
fn variables_of_other_languages() {
    let go = |body: &str| format!("package p\nfunc f() {{\n{body}\n}}");
    let rust = |body: &str| format!("fn f() {{\n{body}\n}}");
    let java = |body: &str| format!("class A {{\n{body}\n}}");
    for (language, text, expected) in [
        (Language::Go, go("x := os.Getenv(\"API_KEY\")"), "3: gives an empty string"),
        (Language::Go, go("x := os.Getenv(\"API_KEY\")\nif x == \"\" {\nx = \"d\"\n}"), "3: copes"),
        (
            Language::Go,
            go("x := os.Getenv(\"API_KEY\")\nif x == \"\" {\nlog.Fatal(1)\n}"),
            "3: gives an empty string",
        ),
        (Language::Go, go("x, ok := os.LookupEnv(\"API_KEY\")"), "3: copes"),
        (Language::Go, go("os.Setenv(\"API_KEY\", \"x\")"), "3: sets"),
        (
            Language::Rust,
            rust("let x = std::env::var(\"API_KEY\")?;"),
            "2: gives `Err(NotPresent)`",
        ),
        (Language::Rust, rust("env::var(\"API_KEY\").unwrap();"), "2: gives `Err(NotPresent)`"),
        (Language::Rust, rust("env::var(\"API_KEY\").unwrap_or_default();"), "2: copes"),
        (Language::Rust, rust("if let Ok(x) = env::var(\"API_KEY\") {}"), "2: copes"),
        (Language::Rust, rust("env!(\"API_KEY\");"), "2: does not compile"),
        (Language::Rust, rust("option_env!(\"API_KEY\");"), ""),
        (Language::Java, java("String x = System.getenv(\"API_KEY\");"), "2: gives `null`"),
        (
            Language::Java,
            java("@Value(\"${API_KEY}\") String x;"),
            "2: has no value: the program does not start",
        ),
        (Language::Java, java("@Value(\"${API_KEY:d}\") String x;"), "2: copes"),
        (Language::Ruby, "x = ENV['API_KEY']".to_owned(), "1: gives `nil`"),
        (Language::Ruby, "x = ENV.fetch('API_KEY')".to_owned(), "1: raises `KeyError`"),
        (Language::Ruby, "x = ENV.fetch('API_KEY', 'd')".to_owned(), "1: copes"),
        (Language::Ruby, "x = ENV.fetch('API_KEY') { 1 }".to_owned(), "1: copes"),
        (Language::Php, "<?php $x = getenv('API_KEY');".to_owned(), "1: gives `false`"),
    ] {
        assert_eq!(shown(language, &text, &variable()), expected, "{language}: {text}");
    }
}

#[test]
fn settings_by_chains_of_names() {
    use Language::{Python as P, TypeScript as T};
    let undefined = "1: gives `undefined`";
    check_all(
        &setting(),
        &[
            (P, "x = config['db']['host']", "1: raises `KeyError`"),
            (P, "x = self._config['db']['host']", "1: raises `KeyError`"),
            (P, "x = load_config('a.yaml')['db']['host']", "1: raises `KeyError`"),
            (P, "x = settings.db.host", "1: finds no value"),
            (P, "x = config.get('db').get('host')", "1: finds no value"),
            (P, "x = config.get('db.host')", "1: finds no value"),
            (P, "x = config.get('db.host', 'd')", "1: copes"),
            (P, "x = config['db'].get('host', 'd')", "1: copes"),
            (P, "x = config['db']['hosts']", ""),
            (P, "x = config['web']['host']", ""),
            (P, "x = config[name]['host']", ""),
            (P, "x = job['db']['host']", ""),
            (P, "config['db']['host'] = 1", "1: sets"),
            (P, "x = settings.db.host if settings.db.host else 1", "1: copes; 1: tests"),
            (T, "const x = config.db.host;", undefined),
            (T, "const x = config.db?.host;", "1: gives `undefined`"),
            (T, "const x = config.db.host ?? 'd';", "1: copes"),
            (T, "const x = config.get('db.host');", "1: finds no value"),
            (T, "const x = this.configService.get<string>('db.host');", "1: finds no value"),
            (T, "if (config.has('db.host')) { f(config.get('db.host')); }", "1: tests; 1: copes"),
            (T, "const x = request.db.host;", ""),
        ],
    );
}

#[test]
fn settings_of_other_languages() {
    for (language, text, expected) in [
        (
            Language::Go,
            "package p\nfunc f() { g(viper.GetString(\"db.host\")) }",
            "2: finds no value",
        ),
        (Language::Go, "package p\nfunc f() { viper.SetDefault(\"db.host\", 1) }", "2: sets"),
        (Language::Go, "package p\nfunc f() { g(cfg.DB.Host) }", ""),
        (
            Language::Rust,
            "fn f() { let x = config.get_string(\"db.host\")?; }",
            "1: gives an error",
        ),
        (
            Language::Rust,
            "fn f() { let x = settings.get::<String>(\"db.host\").unwrap_or_default(); }",
            "1: copes",
        ),
        (
            Language::Java,
            "class A { @Value(\"${db.host}\") String x; }",
            "1: has no value: the program does not start",
        ),
        (Language::Java, "class A { @Value(\"${db.host:d}\") String x; }", "1: copes"),
        (
            Language::Java,
            "class A { String f() { return env.getProperty(\"db.host\"); } }",
            "1: finds no value",
        ),
        (
            Language::Java,
            "class A { String f() { return env.getProperty(\"db.host\", \"d\"); } }",
            "1: copes",
        ),
        (
            Language::CSharp,
            "class A { string F() { return _configuration[\"Db:Host\"]; } }",
            "1: finds no value",
        ),
    ] {
        assert_eq!(shown(language, text, &setting()), expected, "{language}: {text}");
    }
}
