//! Rust.

use super::check;

const TREE: &str = "== Cargo.toml
[package]
name = \"my-app\"
== src/lib.rs
mod helpers;
mod user;
pub mod deep;
== src/helpers.rs
pub fn compute(a: u8) -> u8 { a }

pub enum Hue { Red, Blue(u8) }

pub struct Shelf;

impl Shelf {
    pub fn load_cache(&self, key: u8) -> u8 { key }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(compute(1), 1);
    }
}
== src/deep.rs
pub mod inner;
== src/deep/inner.rs
pub fn other() {}
";

fn with(user: &str) -> String {
    format!("{TREE}== src/user.rs\n{user}")
}

fn renamed(text: &str) -> String {
    text.replacen("pub fn compute(", "pub fn calculate(", 1).replacen(
        "assert_eq!(compute(1)",
        "assert_eq!(calculate(1)",
        1,
    )
}

#[test]
fn a_removed_function_is_reported_at_its_caller() {
    for (user, line) in [
        ("use crate::helpers::compute;\n\nfn go() { compute(1); }\n", 3),
        ("use crate::helpers::{self, Shelf};\n\nfn go() { helpers::compute(1); }\n", 3),
        ("use super::helpers::compute as c;\n\nfn go() { c(1); }\n", 3),
        ("use crate::helpers::*;\n\nfn go() { compute(1); }\n", 3),
        ("fn go() {\n    println!(\"{}\", crate::helpers::compute(1));\n}\n", 2),
        ("mod x {\n    use super::super::helpers::compute;\n    fn go() { compute(1); }\n}\n", 3),
    ] {
        let expected = format!(
            "src/user.rs:{line} removed-symbol P2 `compute` is now `calculate`, but is still called here"
        );
        check(&with(user), &renamed(&with(user)), &[&expected]);
        let updated = renamed(&with(user)).replace("compute", "calculate");
        check(&with(user), &updated, &[]);
    }
}

#[test]
fn leftovers_in_tests_of_the_same_file_are_reported() {
    let head = TREE.replacen("pub fn compute(", "pub fn calculate(", 1);
    check(
        TREE,
        &head,
        &[
            "src/helpers.rs:17 removed-symbol P2 `compute` is now `calculate`, but is still called here",
        ],
    );
}

#[test]
fn other_crates_name_the_crate() {
    let user = "== tests/it.rs\nuse my_app::helpers::compute;\n\n#[test]\nfn t() { compute(1); }\n";
    let base = format!("{TREE}{user}");
    check(
        &base,
        &renamed(&base),
        &["tests/it.rs:4 removed-symbol P2 `compute` is now `calculate`, but is still called here"],
    );
}

#[test]
fn nothing_is_said_of_what_only_looks_like_a_use() {
    for user in [
        "use elsewhere::compute;\n\nfn go() { compute(1); }\n",
        "fn compute(a: u8) {}\n\nfn go() { compute(1); }\n",
        "fn go(compute: fn(u8)) { compute(1); }\n",
        "fn go() { thing.compute(1); }\n",
        "use crate::deep::inner::*;\n\nfn go() { compute(1); }\n",
    ] {
        check(&with(user), &renamed(&with(user)), &[]);
    }
}

#[test]
fn re_exports_keep_a_name_and_pass_it_on() {
    let user = "use crate::helpers::compute;\n\nfn go() { compute(1); }\n";
    let head = with(user).replacen(
        "pub fn compute(a: u8) -> u8 { a }",
        "pub use crate::deep::inner::compute;",
        1,
    );
    check(&with(user), &head, &[]);
    let passed = TREE.replacen("mod helpers;", "mod helpers;\npub use helpers::compute;", 1);
    let base = format!("{passed}== src/user.rs\nuse crate::compute;\nfn go() {{ compute(1); }}\n");
    check(
        &base,
        &renamed(&base),
        &[
            "src/lib.rs:2 removed-symbol P2 `compute` is now `calculate`, but is still imported here",
            "src/user.rs:2 removed-symbol P2 `compute` is now `calculate`, but is still called here",
        ],
    );
}

#[test]
fn changed_signatures_break_stale_callers() {
    let user = "use crate::helpers::{compute, Shelf};\n\nfn go(s: &Shelf) {\n    compute(1);\n    s.load_cache(1);\n    Shelf::load_cache(s, 1);\n}\n";
    let head = with(user).replacen("compute(a: u8)", "compute(a: u8, b: u8)", 1);
    check(
        &with(user),
        &head,
        &[
            "src/helpers.rs:17 changed-signature P2 This call of `compute` does not pass `b`, which it now needs",
            "src/user.rs:4 changed-signature P2 This call of `compute` does not pass `b`, which it now needs",
        ],
    );
    let head = with(user).replacen("load_cache(&self, key: u8)", "load_cache(&self)", 1);
    check(
        &with(user),
        &head,
        &[
            "src/user.rs:5 changed-signature P2 This call passes 1 arguments, but `Shelf.load_cache` now takes 0",
            "src/user.rs:6 changed-signature P2 This call passes 2 arguments, but `Shelf.load_cache` now takes 1",
        ],
    );
}

#[test]
fn an_added_variant_needs_an_arm() {
    let user = "use crate::helpers::Hue;\n\nfn go(c: Hue) {\n    match c {\n        Hue::Red => 1,\n        Hue::Blue(_) => 2,\n    };\n}\n";
    let head = with(user).replacen("Blue(u8) }", "Blue(u8), Green }", 1);
    check(
        &with(user),
        &head,
        &["src/user.rs:4 unhandled-member P2 `Green` of `Hue` is not handled here"],
    );
    let covered = |text: &str| text.replacen("Hue::Blue(_) =>", "_ =>", 1);
    check(&covered(&with(user)), &covered(&head), &[]);
}

#[test]
fn modules_must_have_files() {
    let user = "use crate::deep::inner::other;\nfn go() { other() }\n";
    let gone = with(user).replacen("== src/deep/inner.rs\npub fn other() {}\n", "", 1);
    check(
        &with(user),
        &gone,
        &[
            "src/deep.rs:1 unresolved-import P2 `mod inner` is imported here, but `src/deep/inner.rs` is gone",
            "src/user.rs:1 unresolved-import P2 `crate::deep::inner` is imported here, but `src/deep/inner.rs` is gone",
        ],
    );
    let folder = with(user).replacen("== src/deep/inner.rs", "== src/deep/inner/mod.rs", 1);
    check(&with(user), &folder, &[]);
    let added = with(user).replacen("mod helpers;", "mod helpers;\nmod missing;", 1);
    check(&with(user), &added, &["src/lib.rs:2 unresolved-import P2 `missing` leads to no file"]);
    let moved =
        with(user).replacen("mod helpers;", "mod helpers;\n#[path = \"x.rs\"]\nmod missing;", 1);
    check(&with(user), &moved, &[]);
}

#[test]
fn a_crate_may_keep_its_sources_anywhere() {
    let base = "== core/main.rs\nmod index;\n== core/index.rs\npub fn f() {}\n";
    let head = "== core/main.rs\nmod index;\n== core/index/mod.rs\npub fn g() {}\n";
    check(base, head, &[]);
}

#[test]
fn fields_and_methods_of_an_object_are_no_functions() {
    let base = "== src/a.rs\npub fn waker() {}\npub struct S { waker: u8 }\nimpl S { fn f(&self) -> u8 { self.waker } }\n";
    let head = base.replacen("pub fn waker() {}\n", "", 1);
    check(base, &head, &[]);
    let base = "== src/a.rs\npub fn refresh() {}\nimpl S { fn f(&self) { self.refresh(); } }\n";
    let head = base.replacen("pub fn refresh() {}\n", "", 1);
    check(base, &head, &[]);
}

#[test]
fn another_type_may_have_a_function_of_the_name() {
    let base = "== src/a.rs\npub struct Sp;\nimpl Sp { pub fn call_site() -> Sp { Sp } }\n== src/b.rs\nuse crate::a::Sp;\nfn f(s: Sp) { x(Span::call_site()); }\n";
    let head = base.replacen("pub fn call_site() -> Sp { Sp }", "", 1);
    check(base, &head, &[]);
}

#[test]
fn a_file_that_no_module_names_is_not_built() {
    let base = "== src/lib.rs\nmod util;\nmod used;\n== src/util.rs\npub fn f() {}\n== src/used.rs\nuse crate::util;\nfn g() { util::f() }\n== src/old.rs\nuse crate::util;\n";
    let head =
        base.replacen("mod util;\n", "", 1).replacen("== src/util.rs\npub fn f() {}\n", "", 1);
    check(
        base,
        &head,
        &["src/used.rs:1 unresolved-import P2 `crate` is imported here, but `src/util.rs` is gone"],
    );
}

#[test]
fn a_module_that_is_gone_may_be_passed_on_by_name() {
    let base = "== src/lib.rs\nmod util;\nmod used;\n== src/util.rs\npub fn f() {}\n== src/used.rs\nuse crate::util;\nfn g() { util() }\n";
    let head = base.replacen("mod util;\n", "mod other;\npub use other::util;\n", 1).replacen(
        "== src/util.rs\npub fn f() {}\n",
        "== src/other.rs\npub fn util() {}\n",
        1,
    );
    check(base, &head, &[]);
}

#[test]
fn a_function_may_move_into_a_module_of_its_file() {
    let base = "== src/main.rs\nfn report(x: u8) {}\nfn main() { report(1) }\n";
    let head = "== src/main.rs\nmod errors {\n    pub fn report(x: u8) {}\n}\nuse errors::*;\nfn main() { report(1) }\n";
    check(base, head, &[]);
    let lost = head.replacen("use errors::*;\n", "", 1);
    assert_eq!(super::broken(base, &lost).len(), 1);
}

#[test]
fn macros_and_conditions_are_found_without_a_path() {
    let base = "== Cargo.toml\n[package]\nname = \"a\"\n== src/main.rs\nmod term;\n== src/term.rs\n\
                macro_rules! say { () => {} }\n\npub fn f() { say!(); }\n\nmod test { fn g() {} }\n";
    let head = "== Cargo.toml\n[package]\nname = \"a\"\n== src/main.rs\n#[macro_use]\nmod macros;\nmod term;\n\
                == src/macros.rs\nmacro_rules! say { () => {} }\n== src/term.rs\n\
                pub fn f() { say!(); }\n\n#[cfg(test)]\nmod term_test;\n== src/term/term_test.rs\nfn g() {}\n";
    check(base, head, &[]);
}

#[test]
fn a_name_that_the_crate_has_twice_stays() {
    let base = with("use crate::*;\n\npub fn f(_: Shelf) {}\n")
        .replace("pub mod deep;\n", "pub mod deep;\n\npub struct Shelf;\n");
    let head = base.replacen("pub struct Shelf;\n\nimpl Shelf {\n    pub fn load_cache(&self, key: u8) -> u8 { key }\n}\n", "", 1);
    assert_ne!(base, head);
    check(&base, &head, &[]);
}
