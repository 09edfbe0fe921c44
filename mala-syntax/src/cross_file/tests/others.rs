//! C, C++, Ruby, C# and PHP.

use super::check;

#[test]
fn c_functions_are_global() {
    let base = "== a.c\nint compute(int a) { return a; }\n== a.h\nint compute(int a);\n== b.c\n#include \"a.h\"\nint go(void) { return compute(1); }\n";
    let gone = "== a.c\n== a.h\n== b.c\n#include \"a.h\"\nint go(void) { return compute(1); }\n";
    check(
        base,
        gone,
        &["b.c:2 removed-symbol P2 `compute` no longer exists, but is still called here"],
    );
    let moved = "== a.c\n== a.h\n#define compute(a) (a)\n== b.c\n#include \"a.h\"\nint go(void) { return compute(1); }\n";
    check(base, moved, &[]);
    let file_local = "== a.c\nstatic int compute(int a) { return a; }\n== b.c\nint go(void) { return compute(1); }\n";
    check(file_local, "== a.c\n== b.c\nint go(void) { return compute(1); }\n", &[]);
}

#[test]
fn ruby_methods_need_a_lone_name() {
    let base = "== m.rb\nclass Store\n  def load_cache(key)\n    key\n  end\nend\n== user.rb\nrequire_relative 'm'\ns = Store.new\ns.load_cache(1)\n";
    let head = base.replacen("load_cache(key)", "fetch_cache(key)", 1);
    check(
        base,
        &head,
        &[
            "user.rb:3 removed-symbol P2 `Store.load_cache` is now `fetch_cache`, but is still called here",
        ],
    );
    let updated = head.replace("s.load_cache", "s.fetch_cache");
    check(base, &updated, &[]);
}

#[test]
fn csharp_members_are_found_through_their_class() {
    let base = "== A.cs\nnamespace N;\npublic class Tools { public static int AddUp(int x) { return x; } }\n== B.cs\nusing N;\nclass User { int F() { return Tools.AddUp(1); } }\n";
    let head = base.replacen("AddUp(int x)", "SumOf(int x)", 1);
    check(
        base,
        &head,
        &["B.cs:2 removed-symbol P1 `Tools.AddUp` is now `SumOf`, but is still called here"],
    );
}

#[test]
fn php_functions_are_found_through_their_namespace() {
    let base = "== a.php\n<?php\nnamespace N;\nfunction compute($a) { return $a; }\n== b.php\n<?php\nuse function N\\compute;\necho compute(1);\n";
    let head = base.replacen("function compute(", "function renamed(", 1);
    check(
        base,
        &head,
        &["b.php:3 removed-symbol P1 `compute` is now `renamed`, but is still called here"],
    );
}

#[test]
fn deleted_tests_are_reported_at_the_code_that_stays() {
    for (code, test, text) in [
        (
            "app.py",
            "tests/test_app.py",
            "from app import run\n\ndef test_run():\n    assert run()\n",
        ),
        (
            "pkg/app.py",
            "tests/test_app.py",
            "from pkg.app import run\n\ndef test_run():\n    assert run()\n",
        ),
        ("a/a.go", "a/a_test.go", "package a\n\nfunc TestRun(t *testing.T) {}\n"),
        (
            "src/x.ts",
            "src/x.test.ts",
            "import { run } from './x';\nit('runs', () => { run(); });\n",
        ),
        (
            "src/main/java/a/Cart.java",
            "src/test/java/a/CartTest.java",
            "package a;\n\nclass CartTest {\n  void testRun() {}\n}\n",
        ),
    ] {
        let head = format!("== {code}\nx\n");
        let base = format!("{head}== {test}\n{text}");
        let expected = format!(
            "{code}:1 deleted-tests P2 `{test}` is deleted, but the code that it tests stays"
        );
        check(&base, &head, &[&expected]);
        check(&base, "== other\nx\n", &[]);
        check(&base, &format!("{head}== tests/test_other.py\ndef test_other():\n    pass\n"), &[]);
    }
}

#[test]
fn who_deletes_many_tests_means_to() {
    let code: String = (0..4).map(|n| format!("== src/x{n}.ts\nx\n")).collect();
    let test = |n| {
        format!(
            "== src/x{n}.test.ts\nimport {{ run }} from './x{n}';\nit('runs', () => {{ run(); }});\n"
        )
    };
    let tests = |count| -> String { (0..count).map(test).collect() };
    assert_eq!(super::broken(&format!("{code}{}", tests(3)), &code).len(), 3);
    check(&format!("{code}{}", tests(4)), &code, &[]);
}
