//! Java.

use super::check;

const TREE: &str = "== src/a/Tools.java
package a;

public class Tools {
  public static int addUp(int x) { return x; }
  public void loadCache(String key) {}
  private void inner() {}
  void go() { inner(); }
}
== src/a/Color.java
package a;

public enum Color { RED, BLUE }
";

#[test]
fn removed_members_are_reported_through_their_class() {
    let user = "== src/b/User.java\npackage b;\n\nimport a.Tools;\n\nclass User {\n  int f(Tools t) {\n    t.loadCache(\"x\");\n    return Tools.addUp(1);\n  }\n}\n";
    let base = format!("{TREE}{user}");
    let head = base.replacen("  public static int addUp(int x) { return x; }\n", "", 1).replacen(
        "  public void loadCache(String key) {}\n",
        "",
        1,
    );
    check(
        &base,
        &head,
        &[
            "src/b/User.java:7 removed-symbol P2 `Tools.loadCache` no longer exists, but is still called here",
            "src/b/User.java:8 removed-symbol P2 `Tools.addUp` no longer exists, but is still called here",
        ],
    );
    let updated = head.replace("    t.loadCache(\"x\");\n", "").replace("Tools.addUp(1)", "1");
    check(&base, &updated, &[]);
    let same_class = TREE.replacen("  private void inner() {}\n", "", 1);
    check(
        TREE,
        &same_class,
        &[
            "src/a/Tools.java:6 removed-symbol P2 `Tools.inner` no longer exists, but is still called here",
        ],
    );
}

#[test]
fn a_removed_class_is_reported_where_it_is_named() {
    let user = "== src/a/Near.java\npackage a;\n\nclass Near { Tools t; }\n== src/b/Static.java\npackage b;\n\nimport static a.Tools.addUp;\n\nclass Static { int x = addUp(1); }\n== src/b/Far.java\npackage b;\n\nimport other.Tools;\n\nclass Far { Tools t; }\n";
    let base = format!("{TREE}{user}");
    let start = base.find("== src/a/Color").expect("there");
    let head = base.get(start..).expect("there").to_owned();
    check(
        &base,
        &head,
        &[
            "src/a/Near.java:3 removed-symbol P2 `Tools` no longer exists, but is still used here",
            "src/b/Static.java:3 removed-symbol P2 `Tools` no longer exists, but is still imported here",
        ],
    );
}

#[test]
fn overloads_are_tried_together() {
    let user =
        "== src/a/User.java\npackage a;\n\nclass User {\n  int f() { return Tools.addUp(1); }\n}\n";
    let base = format!("{TREE}{user}");
    let head = base.replacen("addUp(int x)", "addUp(int x, int y)", 1);
    check(
        &base,
        &head,
        &[
            "src/a/User.java:4 changed-signature P2 This call of `Tools.addUp` does not pass `y`, which it now needs",
        ],
    );
    let overloaded = base.replacen(
        "  public static int addUp(int x)",
        "  public static int addUp(int x, int y) { return x; }\n  public static int addUp(int x)",
        1,
    );
    check(&base, &overloaded, &[]);
}

#[test]
fn static_imports_bring_bare_names() {
    let base = TREE.replacen("private void inner() {}", "private static void inner() {}", 1);
    let head = base.replacen("  private static void inner() {}\n", "", 1).replacen(
        "package a;\n",
        "package a;\nimport static b.Other.inner;\n",
        1,
    );
    check(&base, &head, &[]);
}

#[test]
fn an_object_of_another_type_has_its_own_methods() {
    let base = "== a/Options.java\npackage a;\nclass Options {\n  void setSessionTransacted(boolean x) {}\n}\n== a/User.java\npackage a;\nclass User {\n  Options options;\n  void run(ListenerFactory factory) {\n    factory.setSessionTransacted(true);\n  }\n}\n";
    let head = base.replacen("  void setSessionTransacted(boolean x) {}\n", "", 1);
    check(base, &head, &[]);
}

#[test]
fn annotations_may_write_what_was_written_by_hand() {
    let class = |body: &str| format!("== src/a/Money.java\npackage a;\n\n{body}\n");
    let user = "== src/b/User.java\npackage b;\n\nimport a.Money;\n\nclass User {\n  void f(Money m) { m.setTotal(3); m.round(); }\n}\n";
    let by_hand = "public class Money {\n  private int total;\n  public void setTotal(int t) { total = t; }\n  public void round() {}\n}";
    let generated = "import lombok.Data;\n\n@Data\npublic class Money {\n  private int total;\n}";
    check(
        &format!("{}{user}", class(by_hand)),
        &format!("{}{user}", class(generated)),
        &[
            "src/b/User.java:6 removed-symbol P2 `Money.round` no longer exists, but is still called here",
        ],
    );
}

#[test]
fn a_class_that_became_kotlin_is_still_there() {
    let user = "== src/b/User.java\npackage b;\n\nimport a.Color;\n\nclass User {\n  Color c = Color.RED;\n}\n";
    let base = format!("{TREE}{user}");
    let color = "== src/a/Color.java\npackage a;\n\npublic enum Color { RED, BLUE }\n";
    let kotlin = "== kotlin/a/Color.kt\npackage a\n\nenum class Color { RED, BLUE }\n";
    check(&base, &base.replace(color, kotlin), &[]);
    assert_eq!(super::broken(&base, &base.replace(color, "")).len(), 1, "it is gone");
}

#[test]
fn another_class_of_the_same_name_has_its_own_methods() {
    let base = "== src/a/Buffer.java\npackage a;\npublic class Buffer { public byte[] toRawBytes() { return null; } }\n== src/b/User.java\npackage b;\nimport okio.Buffer;\nclass User { void f(Reader r) { Buffer b = null; r.read().toRawBytes(); } }\n";
    check(base, &base.replacen("toRawBytes()", "rawBytes()", 1), &[]);
}

#[test]
fn a_class_that_becomes_a_file_of_another_language_is_still_there() {
    let base = "== src/a/Call.java\npackage a;\npublic class Call { public static void start() {} }\n== src/b/User.java\npackage b;\nimport a.Call;\nclass User { void f() { Call.start(); } }\n";
    check(base, &base.replacen("Call.java", "Call.kt", 1), &[]);
}
