//! What names mean in small files.

use super::*;

/// Every variable with its declaration, its scope, and how often it is written and read.
fn shape(language: Language, code: &str) -> Vec<String> {
    let source = Source::parse(language, code).expect("parses");
    let scopes = FileScopes::of(&source);
    let shown = |it: &ScopeVariable<'_>| {
        let scope = it.scope.map_or("-", |scope| scope.kind());
        let (writes, reads) = (it.writes.len(), it.reads.len());
        format!("{} {:?} {scope} w{writes} r{reads}", it.name, it.declared)
    };
    scopes.variables().iter().map(shown).collect()
}

#[track_caller]
fn check(language: Language, code: &str, expected: &[&str]) {
    let found = shape(language, code);
    for expected in expected {
        assert!(found.iter().any(|it| it == expected), "{expected} in {found:#?}");
    }
}

#[test]
fn javascript_names_belong_to_the_nearest_declaration() {
    let code = "
        import { a, x as y } from 'x';
        import * as all from 'z';
        function f(b, { c, d: [e] }) {
            var g = a;
            { let g = b; use(g); }
            for (const h of list) use(h);
            try { use(c, e) } catch (i) { use(i) }
            j = 1; j++;
            if (k) { var late = 1 }
            const deep = () => late + all.g;
        }
        class K { m() { return K } }
        export { f as g };";
    check(
        Language::JavaScript,
        code,
        &[
            "a Import program w1 r1",
            "y Import program w1 r0",
            "all Import program w1 r1",
            "f Function program w1 r1",
            "b Parameter function_declaration w1 r1",
            "c Parameter function_declaration w1 r1",
            "e Parameter function_declaration w1 r1",
            "g Var function_declaration w1 r0",
            "g Let statement_block w1 r1",
            "h Const for_in_statement w1 r1",
            "i Caught catch_clause w1 r1",
            "j Undeclared - w2 r1",
            "k Undeclared - w0 r1",
            "late Var function_declaration w1 r1",
            "K Class program w1 r1",
            "list Undeclared - w0 r1",
        ],
    );
    let names = shape(Language::JavaScript, code);
    assert!(!names.iter().any(|it| it.starts_with("d ") || it.starts_with("x ")), "{names:?}");
}

#[test]
fn typescript_types_do_not_count_as_reads_of_values() {
    check(
        Language::TypeScript,
        "type A<T> = T[]; const A = 1; function f<T>(a: A<T>, b?: T): T { return b } enum E { X }
         interface I { m(q: string): void } let n: null | I = null;",
        &[
            "A Type program w1 r0",
            "b Parameter function_declaration w1 r1",
            "E Type program w1 r0",
            "I Type program w0 r0",
            "q Parameter method_signature w1 r0",
            "n Let program w1 r0",
        ],
    );
}

#[test]
fn python_names_follow_functions_classes_and_comprehensions() {
    check(
        Language::Python,
        "
import os.path, sys as system
from a.b import c as d, e
total = 0
class K(Base):
    size = 1
    half = [size for _ in range(size)]
    def m(self, n=size) -> size:
        return size
def f(x, *rest, **named):
    global total
    total += 1
    count = [y for y in x if (z := y)]
    def inner():
        nonlocal count
        count = 2
        return z
    with open(x) as handle, rest:
        pass
    a, b = 1, handle
    try:
        pass
    except Error as problem:
        raise problem
    match x:
        case Point(px=here): use(here)
        case other: use(other)
    return missing
",
        &[
            "os Import module w1 r0",
            "system Import module w1 r0",
            "d Import module w1 r0",
            "e Import module w1 r0",
            "total Let module w2 r1",
            "K Class module w1 r0",
            "size Let class_definition w1 r3",
            "size Undeclared - w0 r1",
            "x Parameter function_definition w1 r3",
            "rest Parameter function_definition w1 r1",
            "named Parameter function_definition w1 r0",
            "y Let list_comprehension w1 r2",
            "z Let function_definition w1 r1",
            "count Let function_definition w2 r0",
            "handle Let function_definition w1 r1",
            "problem Let function_definition w1 r1",
            "here Let function_definition w1 r1",
            "other Let function_definition w1 r1",
            "missing Undeclared - w0 r1",
            "Base Undeclared - w0 r1",
        ],
    );
}

#[test]
fn other_languages_have_functions_types_and_imports() {
    check(
        Language::Go,
        "package p\nimport f \"fmt\"\nfunc (s *S) M(a int) { b, err := g(a), 1; b = 2; f.P(b, err, s.x) }",
        &[
            "f Import source_file w0 r1",
            "a Parameter method_declaration w1 r1",
            "b Let method_declaration w2 r1",
            "g Undeclared - w0 r1",
        ],
    );
    check(
        Language::Rust,
        "use std::io::Read; const LIMIT: u32 = 3; fn f(a: u32) { let b = a; match b { LIMIT => {}, n => g(n, |c| c) } }",
        &[
            "Read Import source_file w0 r0",
            "LIMIT Const source_file w1 r1",
            "a Parameter function_item w1 r1",
            "n Let function_item w1 r1",
            "c Parameter closure_expression w1 r1",
            "f Function source_file w1 r0",
        ],
    );
    check(
        Language::Java,
        "import a.B; class C { int size = 1; int f(B b) { size = 2; return size + b.size; } }",
        &[
            "B Import program w0 r0",
            "size Let class_declaration w2 r1",
            "b Parameter method_declaration w1 r1",
        ],
    );
    check(
        Language::C,
        "int f(int a) { int b = a; return g(b); }",
        &[
            "f Function translation_unit w0 r0",
            "a Parameter function_definition w1 r1",
            "b Let function_definition w1 r1",
        ],
    );
}

#[test]
fn only_the_wanted_names_are_resolved() {
    let source = Source::parse(Language::JavaScript, "let a = 1; function f(a) { return a.b }")
        .expect("parses");
    let scopes = FileScopes::of_names(&source, &HashSet::from(["a"]));
    assert_eq!(scopes.variables().len(), 2);
    let read = scopes.variables().iter().find_map(|it| it.reads.first()).expect("a read");
    assert!(scopes.resolve_at(*read, "a").is_some_and(|it| !it.is_top_level()));
    assert!(scopes.resolve_at(*read, "f").is_none());
}
