//! Short and common names: what is reported is what an import or a type says, and nothing else.

use super::{broken, check};

#[test]
fn a_short_name_is_reported_where_it_is_imported() {
    for (home, before, after, user) in [
        (
            "pkg/mathy.py",
            "def f(a):\n    return a\n\ndef other():\n    return 1\n",
            "def other():\n    return 1\n",
            "== pkg/user.py\nfrom pkg.mathy import f\nprint(f(1))\n",
        ),
        (
            "src/mathy.ts",
            "export function ab(a: number) { return a; }\nexport const other = 1;\n",
            "export const other = 1;\n",
            "== src/user.ts\nimport { ab } from './mathy';\nab(1);\n",
        ),
        (
            "calc/calc.go",
            "package calc\n\nfunc F(a int) int { return a }\n\nfunc Other() {}\n",
            "package calc\n\nfunc Other() {}\n",
            "== go.mod\nmodule example.org/x\n== main.go\npackage main\n\nimport \"example.org/x/calc\"\n\nfunc main() { calc.F(1) }\n",
        ),
        (
            "src/mathy.rs",
            "pub fn f(a: u8) -> u8 { a }\npub fn other() {}\n",
            "pub fn other() {}\n",
            "== src/lib.rs\nmod mathy;\npub fn g() -> u8 { mathy::f(1) }\n",
        ),
    ] {
        let tree = |text: &str| format!("== {home}\n{text}== pkg/__init__.py\n{user}");
        let found = broken(&tree(before), &tree(after));
        assert_eq!(found.len(), 1, "{home}: {found:?}");
        assert!(found[0].contains("removed-symbol P2"), "{found:?}");
    }
}

#[test]
fn a_short_name_that_nothing_imports_is_not_reported() {
    let user = "== pkg/user.py\nimport pkg.mathy\nf = open('x')\nprint(f(1))\nab(2)\n";
    let base = format!("== pkg/__init__.py\n== pkg/mathy.py\ndef f(a):\n    return a\n{user}");
    let head = format!("== pkg/__init__.py\n== pkg/mathy.py\nX = 1\n{user}");
    check(&base, &head, &[]);
}

const PYTHON: &str = "== pkg/__init__.py
== pkg/thing.py
class Thing:
    def stop(self):
        return 1

    def save(self, where):
        return where

    def other(self):
        return 2
";

fn python(user: &str) -> (String, String) {
    let base = format!("{PYTHON}== pkg/user.py\n{user}");
    let head = base
        .replace("    def stop(self):\n        return 1\n\n", "")
        .replace("save(self, where)", "save(self, where, how)");
    (base, head)
}

#[test]
fn a_common_method_is_reported_on_an_object_of_known_type() {
    for (user, expected) in [
        (
            "from pkg.thing import Thing\n\ndef go():\n    t = Thing()\n    t.stop()\n",
            "pkg/user.py:5 removed-symbol P2 `Thing.stop` no longer exists, but is still called here",
        ),
        (
            "from pkg.thing import Thing\n\ndef go(t: Thing):\n    t.stop()\n",
            "pkg/user.py:4 removed-symbol P2 `Thing.stop` no longer exists, but is still called here",
        ),
        (
            "import pkg.thing as m\n\nm.Thing().stop()\n",
            "pkg/user.py:3 removed-symbol P2 `Thing.stop` no longer exists, but is still called here",
        ),
        (
            "from pkg.thing import Thing\n\ndef go():\n    t = Thing()\n    t.save('x')\n",
            "pkg/user.py:5 changed-signature P2 This call of `Thing.save` does not pass `how`, which it now needs",
        ),
    ] {
        let (base, head) = python(user);
        check(&base, &head, &[expected]);
    }
}

#[test]
fn a_common_method_on_anything_else_is_not_reported() {
    for user in [
        "from pkg.thing import Thing\n\ndef go(t):\n    t.stop()\n",
        "from pkg.thing import Thing\n\ndef go():\n    t = Thing()\n    t = other()\n    t.stop()\n",
        "from pkg.thing import Thing\n\ndef go():\n    t = Timer()\n    t.stop()\n",
        "from elsewhere import Thing\n\ndef go():\n    t = Thing()\n    t.stop()\n",
        "from pkg.thing import Thing\n\ndef go():\n    t = make(Thing)\n    t.stop()\n",
        "from pkg.thing import Thing\n\nclass Thing(Thing):\n    def stop(self): pass\n\nThing().stop()\n",
    ] {
        let (base, head) = python(user);
        check(&base, &head, &[]);
    }
}

#[test]
fn methods_of_other_languages_are_reported_on_objects_of_known_type() {
    let go = "== go.mod\nmodule example.org/x\n== srv/srv.go\npackage srv\n\ntype Server struct{ n int }\n\nfunc NewServer() *Server { return &Server{} }\n\nfunc (s *Server) Stop() {}\n\nfunc (s *Server) Save(a int) {}\n== main.go\npackage main\n\nimport \"example.org/x/srv\"\n\nfunc main() {\n\ts := srv.NewServer()\n\ts.Stop()\n\ts.Save(1)\n}\n";
    check(
        go,
        &go.replace("func (s *Server) Stop() {}\n", "").replace("Save(a int)", "Save(a, b int)"),
        &[
            "main.go:7 removed-symbol P2 `Server.Stop` no longer exists, but is still called here",
            "main.go:8 changed-signature P2 This call of `Server.Save` does not pass `b`, which it now needs",
        ],
    );
    let promoted = go.replace("struct{ n int }", "struct{ Base }");
    check(&promoted, &promoted.replace("func (s *Server) Stop() {}\n", ""), &[]);
    let rust = "== src/lib.rs\nmod srv;\nuse srv::Server;\n\npub fn go() {\n    let s = Server::new();\n    s.stop();\n    println!(\"{}\", s.save(1));\n}\n== src/srv.rs\npub struct Server;\nimpl Server {\n    pub fn new() -> Self { Server }\n    pub fn stop(&self) {}\n    pub fn save(&self, a: u8) -> u8 { a }\n}\n";
    check(
        rust,
        &rust
            .replace("    pub fn stop(&self) {}\n", "")
            .replace("save(&self, a: u8)", "save(&self, a: u8, b: u8)"),
        &[
            "src/lib.rs:6 removed-symbol P2 `Server.stop` no longer exists, but is still called here",
            "src/lib.rs:7 changed-signature P2 This call of `Server.save` does not pass `b`, which it now needs",
        ],
    );
    let of_trait =
        format!("{rust}pub trait Halt {{ fn stop(&self) {{}} }}\nimpl Halt for Server {{}}\n");
    check(&of_trait, &of_trait.replace("    pub fn stop(&self) {}\n", ""), &[]);
    let ts = "== src/thing.ts\nexport class Thing {\n  stop() {}\n  other() {}\n}\n== src/user.ts\nimport { Thing } from './thing';\nexport function go(other: Thing) {\n  const t = new Thing();\n  t.stop();\n}\n";
    check(
        ts,
        &ts.replace("  stop() {}\n", ""),
        &[
            "src/user.ts:4 removed-symbol P2 `Thing.stop` no longer exists, but is still called here",
        ],
    );
    let java = "== a/Thing.java\npackage a;\n\npublic class Thing {\n  public void stop() {}\n  public void other() {}\n}\n== a/User.java\npackage a;\n\nclass User {\n  void go() {\n    Thing t = new Thing();\n    t.stop();\n  }\n}\n";
    check(
        java,
        &java.replace("  public void stop() {}\n", ""),
        &[
            "a/User.java:6 removed-symbol P2 `Thing.stop` no longer exists, but is still called here",
        ],
    );
}

#[test]
fn a_call_inside_a_macro_is_counted() {
    let base = "== src/lib.rs\nmod calc;\nuse calc::compute_it;\n\npub fn go() {\n    println!(\"{}\", compute_it(1, (2, 3)));\n    println!(\"{}\", compute_it(a::<B, C>(), 1));\n}\n== src/calc.rs\npub fn compute_it(a: u8, b: (u8, u8)) -> u8 { a }\n";
    check(
        base,
        &base.replace("b: (u8, u8))", "b: (u8, u8), c: u8)"),
        &[
            "src/lib.rs:5 changed-signature P2 This call of `compute_it` does not pass `c`, which it now needs",
        ],
    );
}
