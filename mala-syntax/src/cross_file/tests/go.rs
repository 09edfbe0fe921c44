//! Go.

use super::check;

const TREE: &str = "== go.mod
module example.org/app

go 1.22
== store/store.go
package store

func Load(key string) string { return key }

func hidden() int { return 1 }

type Color int

const (
	Red Color = iota
	Blue
)

type Store struct{}

func (s *Store) FetchAll(n int) {}
== store/other.go
package store

func use() int {
	Load(\"x\")
	return hidden()
}
== main.go
package main

import (
	\"example.org/app/store\"
)

func main() {
	store.Load(\"x\")
	var s store.Store
	s.FetchAll(1)
}
";

#[test]
fn a_removed_function_is_reported_at_its_callers() {
    let head = TREE.replacen("func Load(key string) string { return key }\n", "", 1);
    check(
        TREE,
        &head,
        &[
            "main.go:8 removed-symbol P2 `Load` no longer exists, but is still called here",
            "store/other.go:4 removed-symbol P2 `Load` no longer exists, but is still called here",
        ],
    );
    let updated = head.replace("\tstore.Load(\"x\")\n", "").replace("\tLoad(\"x\")\n", "");
    check(TREE, &updated, &[]);
}

#[test]
fn unexported_functions_are_used_in_their_package_only() {
    let head = TREE.replacen("func hidden() int", "func renamed() int", 1);
    check(
        TREE,
        &head,
        &["store/other.go:5 removed-symbol P2 `hidden` is now `renamed`, but is still called here"],
    );
}

#[test]
fn moves_inside_a_package_break_nothing() {
    let line = "func Load(key string) string { return key }\n";
    let head = TREE.replacen(line, "", 1) + "== store/new.go\npackage store\n\n" + line;
    check(TREE, &head, &[]);
    let renamed = TREE.replacen("== store/store.go", "== store/renamed.go", 1);
    check(TREE, &renamed, &[]);
}

#[test]
fn nothing_is_said_of_what_only_looks_like_a_use() {
    for user in [
        "package main\n\nimport store \"example.org/other/store\"\n\nfunc f() { store.Load(1) }\n",
        "package main\n\nfunc f(store S) { store.Load(1) }\n",
        "package main\n\nfunc Load() {}\n\nfunc f() { Load() }\n",
        "package main\n\nimport \"example.org/app/store\"\n\nfunc f(store *store.Store) { store.Load(1) }\n",
    ] {
        let start = TREE.split("== store/other.go").next().expect("a start");
        let base = format!("{start}== user/user.go\n{user}");
        let head = base.replacen("func Load(key string) string { return key }\n", "", 1);
        check(&base, &head, &[]);
    }
}

#[test]
fn changed_signatures_break_stale_callers() {
    let head = TREE.replacen("Load(key string)", "Load(ctx Context, key string)", 1);
    check(
        TREE,
        &head,
        &[
            "main.go:8 changed-signature P2 This call of `Load` does not pass `key`, which it now needs",
            "store/other.go:4 changed-signature P2 This call of `Load` does not pass `key`, which it now needs",
        ],
    );
    check(TREE, &TREE.replacen("Load(key string)", "Load(key ...string)", 1), &[]);
    let method = TREE.replacen("FetchAll(n int)", "FetchAll(n int, m int)", 1);
    check(
        TREE,
        &method,
        &[
            "main.go:10 changed-signature P2 This call of `Store.FetchAll` does not pass `m`, which it now needs",
        ],
    );
}

#[test]
fn what_another_file_of_the_package_has_is_not_gone() {
    let twin =
        "== store/store_windows.go\npackage store\n\nfunc Load(key string) string { return key }\n";
    let base = format!("{TREE}{twin}");
    let head = base.replacen("func Load(key string) string { return key }\n", "", 1);
    check(&base, &head, &[]);
}

#[test]
fn the_blank_name_has_no_uses() {
    let base = "== a_test.go\npackage a\nvar _ = fmt.Println\n== b.go\npackage a\nfunc f() {\n\tx, _ = g()\n}\n";
    check(base, &base.replacen("var _ = fmt.Println\n", "", 1), &[]);
}

#[test]
fn an_object_of_an_unknown_type_may_be_another_one() {
    let base = "== a.go\npackage a\ntype Registry struct{}\nfunc (r *Registry) RegisterValidation(x int) {}\n== b.go\npackage a\nfunc f() {\n\tengine, _ := make().(*other.Validate)\n\tengine.RegisterValidation(1)\n}\n";
    let head = base.replacen("func (r *Registry) RegisterValidation(x int) {}\n", "", 1);
    check(base, &head, &[]);
}
