//! JavaScript.

use super::check;

#[test]
fn removed_exports_of_common_js_are_reported() {
    for (exports, user) in [
        (
            "exports.addUp = function (a) {};\nexports.other = 1;\n",
            "const m = require('./m');\nm.addUp(1);\n",
        ),
        (
            "module.exports = { addUp, other: 1 };\nfunction addUp(a) {}\n",
            "const { addUp } = require('./m');\naddUp(1);\n",
        ),
        (
            "module.exports = { addUp: (a) => a, other: 1 };\n",
            "const sum = require('./m').addUp;\nsum(1);\n",
        ),
        (
            "export const addUp = (a) => a, other = 1;\n",
            "import { addUp } from './m.js';\naddUp(1);\n",
        ),
    ] {
        let base = format!("== lib/m.js\n{exports}== lib/user.js\n{user}");
        let head = base
            .replacen("exports.addUp = function (a) {};\n", "", 1)
            .replacen("{ addUp, other: 1 };\nfunction addUp(a) {}", "{ other: 1 };", 1)
            .replacen("addUp: (a) => a, ", "", 1)
            .replacen("addUp = (a) => a, ", "", 1);
        check(
            &base,
            &head,
            &["lib/user.js:2 removed-symbol P2 `addUp` no longer exists, but is still called here"],
        );
        let updated = head.replacen("const { addUp } =", "const { other } =", 1);
        let updated = updated.replace("m.addUp(1)", "m.other").replace("\naddUp(1);", "\nother;");
        let updated = updated.replace("require('./m').addUp", "require('./m').other");
        let updated = updated.replace("import { addUp }", "import { other }");
        check(&base, &updated, &[]);
    }
}

#[test]
fn computed_exports_hide_what_is_gone() {
    let user = "== user.js\nconst m = require('./m');\nm.addUp(1);\n";
    let base = format!("== m.js\nexports.addUp = function (a) {{}};\n{user}");
    for exports in
        ["module.exports = make();\n", "module.exports = { ...rest };\n", "export * from './x';\n"]
    {
        let found = super::broken(&base, &format!("== m.js\n{exports}{user}"));
        assert!(found.iter().all(|line| !line.contains("removed-symbol")), "{exports} {found:?}");
    }
}

#[test]
fn globals_are_not_leftovers() {
    let base = "== a.js\nconst fetch = require('node-fetch');\nfunction log() {}\nfetch('x');\n";
    let head = "== a.js\nfunction log() {}\nfetch('x');\n";
    check(base, head, &[]);
}

#[test]
fn missing_arguments_are_forgiven_and_shifted_ones_are_not() {
    let base = "== m.js\nexport function draw(shape, color) {}\n== user.js\nimport { draw } from './m';\ndraw(a, b);\n";
    check(base, &base.replacen("(shape, color)", "(shape, color, size)", 1), &[]);
    check(base, &base.replacen("(shape, color)", "(shapeOrOptions, shape)", 1), &[]);
    check(
        base,
        &base.replacen("(shape, color)", "(canvas, shape, color)", 1),
        &["user.js:2 changed-signature P2 This call passes `draw` its `shape` as `canvas`"],
    );
    check(
        base,
        &base.replacen("(shape, color)", "(color, shape)", 1),
        &["user.js:2 changed-signature P2 This call passes `draw` its `shape` as `color`"],
    );
}

#[test]
fn methods_need_a_lone_name() {
    let base = "== m.js\nexport class Store {\n  loadCache(key) {}\n  go() { return this.loadCache(1); }\n}\n== user.js\nimport { Store } from './m';\nconst s = new Store();\ns.loadCache(1);\n";
    let head = base.replacen("  loadCache(key) {}\n", "", 1);
    check(
        base,
        &head,
        &[
            "m.js:2 removed-symbol P2 `Store.loadCache` no longer exists, but is still called here",
            "user.js:3 removed-symbol P2 `Store.loadCache` no longer exists, but is still called here",
        ],
    );
    let other = "== other.js\nconst api = { loadCache() {} };\n";
    check(
        &format!("{base}{other}"),
        &format!("{head}{other}").replace("new Store()", "make(Store)"),
        &["m.js:2 removed-symbol P2 `Store.loadCache` no longer exists, but is still called here"],
    );
}

#[test]
fn an_object_that_gets_a_name_keeps_its_members() {
    let base = "== lib/a.js\nmodule.exports = {\n  adapter: load(),\n};\n== user.js\nvar a = require('./lib/a');\nrun(a.adapter);\n";
    let head = base.replacen("module.exports = {", "var all = {", 1).replacen(
        "};\n",
        "};\nmodule.exports = all;\n",
        1,
    );
    check(base, &head, &[]);
}

#[test]
fn what_a_script_sets_elsewhere_is_still_there() {
    let user = "== user.js\nconst m = require('./m');\nm.addUp(1);\n";
    let base = format!("== m.js\nexports.addUp = function (a) {{}};\n{user}");
    check(
        &base,
        &format!("== m.js\nexports.start = () => {{\n  exports.addUp = (a) => a;\n}};\n{user}"),
        &[],
    );
    let base = "== a.js\nlet editor = make();\neditor.focus();\n";
    check(base, "== a.js\n//=include parts.js\neditor.focus();\n", &[]);
    let base = "== a.js\nfunction load(x) {}\nvar config = load();\nload(config);\n";
    check(base, "== a.js\nload = function (x) {};\nvar config = load();\nload(config);\n", &[]);
    check(
        base,
        "== a.js\nfunction load(x) {}\nlet all = load();\nglobal.config = all;\nload(config);\n",
        &[],
    );
}

#[test]
fn an_object_may_become_an_instance() {
    let base = "== a.js\napp.socket = {\n  open_port: function (n) {},\n  start: function () {\n    app.socket.open_port(1);\n  },\n};\n";
    let head = "== a.js\nclass Socket {\n  open_port(n) {}\n  start() {\n    app.socket.open_port(1);\n  }\n}\napp.socket = new Socket();\n";
    check(base, head, &[]);
}

#[test]
fn a_function_that_sorts_its_arguments_out_takes_the_old_ones() {
    let base = "== m.js\nexports.pad = function (id, callback) {\n};\n== user.js\nconst m = require('./m');\nm.pad(1, () => {});\n";
    let head = base.replacen("(id, callback) {\n", "(id, text, callback) {\n", 1);
    assert_eq!(super::broken(base, &head).len(), 1);
    let sorted = head.replacen(
        "callback) {\n",
        "callback) {\n  if (typeof text == 'function') { callback = text; text = null; }\n",
        1,
    );
    check(base, &sorted, &[]);
}

#[test]
fn what_is_kept_in_another_form_is_there() {
    let user = "== user.js\nconst api = require('./m');\napi.addUp(1);\n";
    let member = "== m.js\nmodule.exports = {\n  addUp: (a) => a,\n  other: () => 1,\n};\n";
    for (before, after) in [
        ("  addUp: (a) => a,\n", "  addUp: made('add-up'),\n"),
        ("  addUp: (a) => a,\n", "  ['addUp']: made('add-up'),\n"),
    ] {
        let base = format!("{member}{user}");
        check(&base, &base.replacen(before, after, 1), &[]);
    }
    let base = format!("{member}{user}");
    let gone = base.replacen("  addUp: (a) => a,\n", "", 1);
    assert_eq!(super::broken(&base, &gone).len(), 1, "what is gone for good is reported");
    let passed_on = "== m.js\nconst all = require('all');\n['addUp'].forEach((name) => pass(exports, all, name));\n";
    let user = "== user.js\nconst m = require('./m');\nm.addUp(1);\n";
    check(
        &format!("== m.js\nexports.addUp = function (a) {{}};\n{user}"),
        &format!("{passed_on}{user}"),
        &[],
    );
    let asked =
        "== m.js\nconst Ref = typeof Builder !== 'undefined' ? Builder : null;\nuse(Ref);\n";
    let base = asked.replace("const Ref", "const Builder").replace("use(Ref)", "use(Builder)");
    check(&base, asked, &[]);
}

#[test]
fn samples_of_tests_may_use_what_is_gone() {
    let user = "import { addUp } from '../../m.js';\naddUp(1);\n";
    let base = format!(
        "== m.js\nexport const addUp = (a) => a, other = 1;\n== a/__testfixtures__/u.js\n{user}"
    );
    check(&base, &base.replacen("addUp = (a) => a, ", "", 1), &[]);
}
