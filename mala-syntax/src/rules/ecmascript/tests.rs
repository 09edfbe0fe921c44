//! What is known about names and values.

use super::ScriptFile;
use super::types::Types;
use crate::source::Source;
use crate::symbols::DeclarationKind;
use mala_domain::language::Language;

fn origin(code: &str) -> Option<String> {
    let source = Source::parse(Language::TypeScript, code).expect("parses");
    let program = ScriptFile::of(&source);
    let declarators = program.of_kind("variable_declarator");
    let last = declarators.last().and_then(|it| it.child_by_field_name("value"));
    program.origin(last.expect("a value"))
}

#[test]
fn values_are_followed_to_where_they_come_from() {
    for (code, expected) in [
        ("const it = require('fs').readFileSync", Some("fs:readFileSync")),
        ("import fs from 'node:fs'; const it = fs.promises.open", Some("fs:promises.open")),
        ("import { open as o } from 'fs'; const it = o", Some("fs:open")),
        ("import * as pg from 'pg'; const it = new pg.Client()", Some("pg:Client()")),
        ("const { Client } = require('pg'); const it = Client", Some("pg:Client")),
        (
            "const { Client: C } = require('pg'); const it = new C().query",
            Some("pg:Client().query"),
        ),
        ("const it = require('a').default.b", Some("a:b")),
        ("const it = Math.random", Some("Math.random")),
        ("const it = crypto['subtle']", Some("crypto.subtle")),
        ("let a = require('a'); a = other; const it = a", None),
        ("function f(a) { const it = a.b }", None),
        ("const a = b; const b = a; const it = a", None),
        ("function f(require) { const it = require('fs') }", None),
    ] {
        assert_eq!(origin(code).as_deref(), expected, "{code}");
    }
}

#[test]
fn texts_are_put_together() {
    for (code, expected) in [
        ("const it = 'a' + \"b\"", Some("ab")),
        ("const a = 'x'; const it = `${a}/y`", Some("x/y")),
        (r"const it = 'a\x41\u{42}\n'", Some("aAB\n")),
        ("let a = 'x'; a = 'y'; const it = a", None),
        ("const it = 'a' + b", None),
    ] {
        let source = Source::parse(Language::TypeScript, code).expect("parses");
        let program = ScriptFile::of(&source);
        let last = program.of_kind("variable_declarator").last();
        let value = last.and_then(|it| it.child_by_field_name("value")).expect("a value");
        assert_eq!(program.constant_text(value).as_deref(), expected, "{code}");
    }
}

#[test]
fn numbers_are_read_as_they_are_written() {
    for (text, expected) in [
        ("10", Some(10.0)),
        ("0x1F", Some(31.0)),
        ("1_000", Some(1000.0)),
        ("1e3", Some(1000.0)),
        ("x", None),
    ] {
        assert_eq!(super::constant::number(text), expected, "{text}");
    }
}

fn types(code: &str) -> Types {
    let source = Source::parse(Language::TypeScript, code).expect("parses");
    let program = ScriptFile::of(&source);
    let statements = program.of_kind("expression_statement");
    let last = statements.last().and_then(|it| it.named_child(0)).expect("an expression");
    program.types(last)
}

#[test]
fn types_are_those_that_a_value_can_have() {
    let string_or_number = Types::STRING | Types::NUMERIC;
    for (code, expected) in [
        ("typeof a;", Types::STRING),
        ("!a;", Types::BOOLEAN),
        ("1 + 2;", Types::NUMBER),
        ("a + 'x';", Types::STRING),
        ("a + b;", string_or_number),
        ("c ? 1 : 'a';", Types::NUMBER | Types::STRING),
        ("a;", Types::ANY),
        ("export {}; { let a = 1; a = 'x'; a; }", Types::NUMBER | Types::STRING),
        ("{ let a; a; }", Types::UNDEFINED),
        ("{ let a; a = f(); a; }", Types::ANY),
        ("{ const f = () => 1; f(); }", Types::NUMBER),
        ("{ const f = function () { g(); }; f(); }", Types::UNDEFINED),
        ("export {}; async function f() {} f();", Types::OBJECT),
        ("({ valueOf() { return 1; } });", Types::ANY),
        ("for (const k in o) { k; }", Types::STRING),
        ("function f(...all) { all; }", Types::OBJECT),
        ("{ let a = a + 1; a; }", string_or_number),
    ] {
        assert_eq!(types(code), expected, "{code}");
    }
}

#[test]
fn names_belong_to_the_nearest_declaration() {
    let code = "
        import { a } from 'x';
        function f(b, { c, d: [e] }) {
            var g = a;
            { let g = b; use(g); }
            for (const h of list) use(h);
            try { use(c, e) } catch (i) { use(i) }
            j = 1;
        }";
    let source = Source::parse(Language::JavaScript, code).expect("parses");
    let program = ScriptFile::of(&source);
    let shape: Vec<_> = program
        .variables()
        .iter()
        .map(|it| (it.name, it.declared, it.writes.len(), it.reads.len()))
        .collect();
    for expected in [
        ("a", DeclarationKind::Import, 1, 1),
        ("f", DeclarationKind::Function, 1, 0),
        ("b", DeclarationKind::Parameter, 1, 1),
        ("c", DeclarationKind::Parameter, 1, 1),
        ("e", DeclarationKind::Parameter, 1, 1),
        ("g", DeclarationKind::Var, 1, 0),
        ("g", DeclarationKind::Let, 1, 1),
        ("h", DeclarationKind::Const, 1, 1),
        ("i", DeclarationKind::Caught, 1, 1),
        ("j", DeclarationKind::Undeclared, 1, 0),
        ("list", DeclarationKind::Undeclared, 0, 1),
    ] {
        assert!(shape.contains(&expected), "{expected:?} in {shape:?}");
    }
    assert!(!shape.iter().any(|it| it.0 == "d"));
}

#[test]
fn resources_are_declared_in_every_grammar() {
    let code = "async function f() { await using a = g(); use(a); using b = h(); use(b); }";
    for language in [Language::JavaScript, Language::TypeScript] {
        let source = Source::parse(language, code).expect("parses");
        let program = ScriptFile::of(&source);
        for name in ["a", "b"] {
            let declared = program.variables().iter().find(|it| it.name == name);
            assert_eq!(
                declared.map(|it| it.declared),
                Some(DeclarationKind::Const),
                "{language} {name}"
            );
        }
    }
}

#[test]
fn hostile_files_have_no_facts() {
    for code in ["(".repeat(5_000), "a+".repeat(50_000), "{".repeat(3_000), "[[[".to_owned()] {
        let source = Source::parse(Language::JavaScript, &code).expect("parses");
        let program = ScriptFile::of(&source);
        for check in super::CHECKS {
            check.matches(&program);
        }
    }
}
