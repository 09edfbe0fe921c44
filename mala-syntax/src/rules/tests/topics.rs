//! Every kind of bug that the rules are for has one that reports the plain case.

use crate::rules::RuleSet;
use crate::source::Source;
use mala_domain::change::FilePath;
use mala_domain::language::Language;

/// A kind of bug, the file and the plain case of it, and the rule that must report it.
type TopicCase = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[TopicCase] = &[
    (
        "swallowed errors",
        "a.py",
        "try:\n    load(p)\nexcept:\n    pass\n",
        "python/bare-except-pass",
    ),
    (
        "swallowed errors",
        "a.py",
        "try:\n    rows = load(p)\n    store(rows)\nexcept Exception:\n    pass\n",
        "python/failure-passed-over",
    ),
    (
        "swallowed errors",
        "a.js",
        "async function f() { try { await save(); } catch (e) {} }\n",
        "javascript/empty-catch",
    ),
    (
        "swallowed errors",
        "A.java",
        "class A { void f() { try { save(); } catch (Exception e) { } } }\n",
        "java/empty-catch",
    ),
    (
        "swallowed errors",
        "a.go",
        "package p\nfunc f() { err := save(); if err != nil { } }\n",
        "go/error-check-empty",
    ),
    (
        "swallowed errors",
        "a.go",
        "package p\nfunc f() { _ = os.WriteFile(n, d, 0o600) }\n",
        "go/discarded-write-error",
    ),
    (
        "resource leaks",
        "a.py",
        "def f(p):\n    h = open(p)\n    return h.read()\n",
        "python/file-left-open",
    ),
    (
        "resource leaks",
        "a.go",
        "package p\nfunc f() int { r, _ := http.Get(u); return r.StatusCode }\n",
        "go/response-body-open",
    ),
    (
        "injection: SQL",
        "a.py",
        "from flask import request\ndef f(cur):\n    cur.execute(\"SELECT * FROM u WHERE n = '\" + request.args['n'] + \"'\")\n",
        "python/sql-injection",
    ),
    (
        "injection: SQL",
        "a.js",
        "app.get('/u', (req, res) => { db.query(\"SELECT * FROM u WHERE n = '\" + req.query.n + \"'\"); });\n",
        "javascript/sql-injection",
    ),
    (
        "injection: SQL",
        "A.java",
        "class A { ResultSet f(Statement s, String n) { return s.executeQuery(\"SELECT * FROM u WHERE n = '\" + n + \"'\"); } }\n",
        "java/sql-from-text",
    ),
    (
        "injection: shell",
        "a.py",
        "import os\nfrom flask import request\ndef f():\n    os.system('ls ' + request.args['d'])\n",
        "python/command-injection",
    ),
    (
        "injection: shell",
        "a.go",
        "package p\nfunc f(d string) error { return exec.Command(\"sh\", \"-c\", \"ls \"+d).Run() }\n",
        "go/shell-command-from-text",
    ),
    (
        "injection: path",
        "a.js",
        "const fs = require('fs');\napp.get('/x', (req, res) => { fs.readFile('/data/' + req.query.f, cb); });\n",
        "javascript/path-traversal",
    ),
    (
        "injection: template",
        "a.py",
        "from flask import request, render_template_string\ndef f():\n    return render_template_string('Hi ' + request.args['n'])\n",
        "python/template-injection",
    ),
    (
        "injection: HTML",
        "a.js",
        "function f() { document.getElementById('x').innerHTML = location.hash.slice(1); }\n",
        "javascript/dom-xss",
    ),
    (
        "unsafe deserialisation",
        "a.py",
        "import pickle\nfrom flask import request\ndef f():\n    return pickle.loads(request.data)\n",
        "python/unsafe-deserialization",
    ),
    (
        "weak randomness",
        "a.js",
        "function makeToken() { const token = Math.random().toString(36); return token; }\n",
        "javascript/insecure-randomness",
    ),
    (
        "TLS checks off",
        "a.py",
        "import requests\nrequests.get(u, verify=False)\n",
        "python/no-certificate-check",
    ),
    (
        "TLS checks off",
        "a.go",
        "package p\nvar c = &tls.Config{InsecureSkipVerify: true}\n",
        "go/tls-verification-off",
    ),
    (
        "mutable defaults",
        "a.py",
        "def f(a, items=[]):\n    items.append(a)\n    return items\n",
        "python/mutable-default",
    ),
];

#[test]
fn every_topic_has_a_rule_that_reports_the_plain_case() {
    let mut missed = Vec::new();
    for (topic, file, code, expected) in CASES {
        let path = FilePath::from(format!("src/{file}").as_str());
        let language = Language::of_path(&path).expect("a known ending");
        let source = Source::parse(language, code).expect("parses");
        let found = RuleSet::builtin(&[language]).run(&source, &path);
        if !found.iter().any(|one| one.rule.id == *expected) {
            let ids: Vec<&str> = found.iter().map(|one| one.rule.id.as_str()).collect();
            missed.push(format!("{topic}: {expected} misses {code:?}, found {ids:?}"));
        }
    }
    assert!(missed.is_empty(), "\n{}\n", missed.join("\n"));
}
