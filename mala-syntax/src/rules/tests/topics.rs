//! Every kind of bug that the rules are for has one that reports the plain case.

use crate::rules::RuleSet;
use crate::source::Source;
use mala_domain::change::FilePath;
use mala_domain::language::Language;

/// A kind of bug, the file and the plain case of it, and the rule that must report it.
type Case = (&'static str, &'static str, &'static str, &'static str);

const CASES: &[Case] = &[
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
        "weak crypto",
        "a.py",
        "import hashlib\ndef store(password):\n    return hashlib.md5(password.encode()).hexdigest()\n",
        "python/weak-password-hash",
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
    ("identity for value", "a.py", "if x is 'abc':\n    f()\n", "python/is-with-literal"),
    (
        "identity for value",
        "A.java",
        "class A { boolean f(String a) { return a == \"x\"; } }\n",
        "java/string-compared-by-identity",
    ),
    (
        "assignment in condition",
        "a.js",
        "function f(a, b) { if (a = b) { return 1; } }\n",
        "javascript/assignment-in-condition",
    ),
    ("NaN", "a.js", "function f(x) { return x === NaN; }\n", "javascript/compare-nan"),
    ("floats", "a.py", "ok = a * 0.1 == 0.3\n", "python/computed-float-equality"),
    ("floats", "a.ts", "const ok = a * 0.1 === 0.3;\n", "javascript/computed-float-equality"),
    (
        "off by one",
        "a.py",
        "for i in range(len(xs) + 1):\n    print(xs[i])\n",
        "python/loop-past-end",
    ),
    (
        "off by one",
        "a.go",
        "package p\nfunc f(xs []int) { for i := 0; i <= len(xs); i++ { use(xs[i]) } }\n",
        "go/loop-past-end",
    ),
    (
        "missing await",
        "a.py",
        "async def save(x):\n    return x\n\nasync def f():\n    save(1)\n",
        "python/not-awaited",
    ),
    (
        "async in a loop callback",
        "a.js",
        "async function f(xs) { xs.forEach(async (x) => { await save(x); }); console.log('done'); }\n",
        "javascript/async-callback-not-awaited",
    ),
    (
        "check then act",
        "a.py",
        "import os\nif not os.path.exists(p):\n    os.makedirs(p)\n",
        "python/exists-before-makedirs",
    ),
    (
        "lock held over await",
        "a.rs",
        "async fn f(m: &Mutex<u8>) { let g = m.lock().unwrap(); work(&g).await; }\n",
        "rust/lock-held-across-await",
    ),
    (
        "unwrap on outside data",
        "a.rs",
        "fn main() { let p = std::env::args().nth(1).unwrap(); run(&p); }\n",
        "rust/unwrapped-input",
    ),
    (
        "truncation casts",
        "a.go",
        "package p\nimport \"strconv\"\nfunc f(s string) int32 {\n\tn, _ := strconv.Atoi(s)\n\treturn int32(n)\n}\n",
        "go/number-cut-off",
    ),
    (
        "regex denial of service",
        "a.py",
        "import re\nP = re.compile(r'^(a+)+$')\n",
        "python/regex-exponential",
    ),
    (
        "naive times",
        "a.py",
        "from datetime import datetime\nnow = datetime.utcnow().timestamp()\n",
        "python/utcnow-timestamp",
    ),
    (
        "mutation of what is walked",
        "a.py",
        "def f(items):\n    for x in items:\n        if x < 0:\n            items.remove(x)\n",
        "python/changed-while-walked",
    ),
    ("shared defaults", "a.py", "x = dict.fromkeys(['a'], [])\n", "python/shared-fromkeys-value"),
    (
        "operator precedence",
        "a.js",
        "function f(a, b) { if (!a in b) { return 1; } }\n",
        "javascript/negated-left-operand",
    ),
    ("unreachable code", "a.py", "def f():\n    return 1\n    print(2)\n", "python/unreachable"),
    (
        "duplicated conditions",
        "a.js",
        "function f(x) { if (x === 1) { return 1; } else if (x === 1) { return 2; } }\n",
        "javascript/duplicate-condition",
    ),
    (
        "duplicated branches",
        "a.js",
        "function f(x) { if (x) { a = load(x); return a + 1; } else { a = load(x); return a + 1; } }\n",
        "javascript/identical-branches",
    ),
    (
        "copy and paste",
        "a.py",
        "def f(a, b):\n    return a.w == b.w and a.h == a.h\n",
        "python/identical-operands",
    ),
    (
        "copy and paste",
        "a.js",
        "for (let i = 0; i < a.length; i++) { for (let j = 0; j < b.length; i++) { use(a[i], b[j]); } }\n",
        "javascript/wrong-loop-variable",
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
