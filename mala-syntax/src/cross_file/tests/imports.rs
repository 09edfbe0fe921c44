//! Imports that lead nowhere.

use super::{broken, check};

#[test]
fn a_module_that_is_taken_as_a_name_is_missed_when_it_goes() {
    let base = "== pkg/__init__.py\n== pkg/models.py\nX = 1\n== user.py\nfrom pkg import models\n";
    let gone = |base: &str| base.replace("== pkg/models.py\nX = 1\n", "");
    check(
        base,
        &gone(base),
        &["user.py:1 unresolved-import P2 `pkg` is imported here, but `pkg/models.py` is gone"],
    );
    let inside = base
        .replace("== user.py\nfrom pkg import models\n", "")
        .replace("== pkg/__init__.py\n", "== pkg/__init__.py\nfrom . import models\n");
    assert_eq!(broken(&inside, &gone(&inside)).len(), 1);
    let kept =
        base.replace("== pkg/__init__.py\n", "== pkg/__init__.py\nfrom other import models\n");
    check(&kept, &gone(&kept), &[]);
}

#[test]
fn what_passes_a_lost_module_on_is_reported() {
    let base =
        "== src/util.ts\nexport const x = 1;\n== src/index.ts\nexport * from \"./util.js\";\n";
    check(
        base,
        "== src/index.ts\nexport * from \"./util.js\";\n",
        &[
            "src/index.ts:1 unresolved-import P2 `./util.js` is imported here, but `src/util.ts` is gone",
        ],
    );
}

#[test]
fn what_is_taken_of_a_promise_is_no_name_of_the_module() {
    let base = "== home.js\nexport function Home() {}\n";
    for user in [
        "import(/* chunk */ './home').then((m) => m.Home);",
        "const page = import('./home'); page.then(show);",
    ] {
        check(base, &format!("{base}== app.js\n{user}\n"), &[]);
    }
    let taken = format!("{base}== app.js\nconst f = (await import('./home')).House;\n");
    assert_eq!(broken(base, &taken).len(), 1, "a name of the module");
}

const PACKAGE: &str =
    "== pkg/__init__.py\n== pkg/models.py\nclass User:\n    pass\n\nA, B = 1, 2\n";

#[test]
fn an_added_import_must_lead_to_a_module_and_a_name() {
    for (user, expected) in [
        ("from pkg.nothere import X\n", "`pkg.nothere` leads to no file"),
        (
            "from pkg.models import NOPE\n",
            "`NOPE` is imported here, but `pkg/models.py` has no such name",
        ),
    ] {
        let head = format!("{PACKAGE}== pkg/user.py\n{user}== app.py\n{user}");
        let found: Vec<String> = ["app.py", "pkg/user.py"]
            .iter()
            .map(|file| format!("{file}:1 unresolved-import P2 {expected}"))
            .collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        check(PACKAGE, &head, &found);
    }
    let relative = format!("{PACKAGE}== pkg/user.py\nfrom .models import NOPE\n");
    assert_eq!(broken(PACKAGE, &relative).len(), 1);
}

#[test]
fn an_added_import_that_may_be_right_is_not_reported() {
    for user in [
        "from pkg.models import User, A, B\n",
        "from pkg import models\n",
        "from pkg import sub\n",
        "from pkg._speedups import X\n",
        "def test_hook():\n    from pkg.nothere import X\n",
        "from other.nothere import X\n",
        "from pkg.made import X\n",
        "from pkg.native import X\n",
        "from pkg.open import X\n",
        "from pkg.stars import X\n",
        "try:\n    from pkg.nothere import X\nexcept ImportError:\n    X = None\n",
    ] {
        let base = format!(
            "{PACKAGE}== .gitignore\npkg/made.py\n== pkg/native.pyx\nX = 1\n== pkg/open.py\ndef __getattr__(name):\n    return 1\n== pkg/stars.py\nfrom os.path import *\n"
        );
        let head = format!("{base}== tests/pkg/__init__.py\n== tests/pkg/test_it.py\n{user}");
        check(&base, &head, &[]);
    }
    // A folder of tests may be called like a package that is installed.
    let base = "== sdk/__init__.py\n== sdk/flask/__init__.py\nX = 1\n";
    check(base, &format!("{base}== sdk/flask/a.py\nfrom flask.views import View\n"), &[]);
}

#[test]
fn an_added_named_import_must_be_exported() {
    let base =
        "== src/m.ts\nexport const here = 1;\nfunction kept() {}\nexport { kept as open };\n";
    for (user, expected) in [
        ("import { nope } from './m';\n", "nope"),
        ("import { here, nope } from './m.js';\n", "nope"),
        ("import { kept } from './m';\n", "kept"),
    ] {
        let expected = format!(
            "src/user.ts:1 unresolved-import P2 `{expected}` is imported here, but `src/m.ts` has no such name"
        );
        check(base, &format!("{base}== src/user.ts\n{user}"), &[&expected]);
    }
    for module in [
        "export * from './other';\n",
        "export const nope = 1;\n",
        "export { nope } from 'x';\n",
        "module.exports = make();\n",
        "Object.assign(exports, make());\nexport const a = 1;\n",
        "export interface nope {}\n",
        "export enum nope { A }\n",
        "const x = { nope: 1 };\nexport const { nope } = x;\n",
    ] {
        let base = format!("== src/other.ts\nexport const z = 1;\n== src/m.ts\n{module}");
        check(&base, &format!("{base}== src/user.ts\nimport {{ nope }} from './m';\n"), &[]);
    }
}
