//! What is planted into pieces of each language, and what is left alone.

use super::*;
use mala_domain::change::{ChangedFile, parse};

/// All lines of a text as added.
fn all_added(text: &str) -> AddedLines {
    let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let n_lines = text.lines().count();
    let diff = format!(
        "diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,{n_lines} @@\n{added}"
    );
    parse(diff.as_bytes()).unwrap().first().map(ChangedFile::added).unwrap_or_default()
}

/// `KIND LINES: OLD => NEW` of everything that is planted.
fn planted(language: Language, text: &str) -> Vec<String> {
    let source = Source::parse(language, text).unwrap();
    assert!(!source.tree().root_node().has_error(), "{language} {text}");
    let shown = |mutation: &Mutation| {
        let (old, new) = mutation.edit(&source);
        let planted = mutation.apply(&source).unwrap_or_else(|| panic!("{mutation:?} in {text}"));
        assert_ne!(planted.text, text);
        let (old, new) = (site::shown(old), site::shown(new));
        format!("{} {}: {old} => {new}", mutation.kind, planted.lines)
    };
    mutations(&source, &all_added(text)).iter().map(shown).collect()
}

fn check(language: Language, rows: &[(&str, &[&str])]) {
    for (text, expected) in rows {
        assert_eq!(planted(language, text), *expected, "{text}");
    }
}

#[test]
fn python() {
    check(
        Language::Python,
        &[
            (
                "def f(i, n):\n    while i < n:\n        i += 1\n",
                &["off-by-one 2: i < n => i <= n"],
            ),
            ("def f(n):\n    for i in range(n):\n        g(i)\n", &["off-by-one 2: n => n - 1"]),
            ("def f(a, n):\n    g(a[1:n + 1])\n", &["off-by-one 2: n + 1 => n"]),
            ("async def f():\n    await save()\n", &["dropped-await 2: await save() => save()"]),
            ("async def f():\n    await asyncio.sleep(1)\n", &[]),
            ("def f(a, b):\n    move(a, b)\n", &["swapped-arguments 2: a, b => b, a"]),
            ("def f(a, b):\n    move(a, a)\n    max(a, b)\n    print(a, b)\n", &[]),
            (
                "def f(x):\n    # never below zero\n    if x is None:\n        raise E(x)\n\n    g(x)\n",
                &[
                    "removed-check 1-2: # never below zero if x is None: raise E(x) => ",
                    "inverted-condition 3: x is None => x is not None",
                ],
            ),
            (
                "def f(xs):\n    if not xs:\n        return []\n    return [g(x) for x in xs]\n",
                &["inverted-condition 2: not xs => xs"],
            ),
            (
                "def f():\n    try:\n        g()\n    except (KeyError, ValueError) as error:\n        h(error)\n",
                &["widened-exception 4: (KeyError, ValueError) => Exception"],
            ),
            ("def f():\n    try:\n        g()\n    except ValueError:\n        raise\n", &[]),
            ("try:\n    import x\nexcept ImportError:\n    x = None\n", &[]),
            (
                "def f(p):\n    with open(p) as f:\n        a = f.read()\n\n        g(a)\n    h()\n",
                &[
                    "leaked-handle 2: with open(p) as f: a = f.read() g(a) => f = open(p) a = f.read() g(a)",
                ],
            ),
            ("def f(p):\n    with lock:\n        g()\n", &[]),
            (
                "def f(best, x):\n    if best < x:\n        best = x\n",
                &["inverted-condition 2: best < x => best >= x"],
            ),
            (
                "def f(xs):\n    if len(xs) > 0:\n        g(xs)\n",
                &["inverted-condition 2: len(xs) > 0 => len(xs) <= 0"],
            ),
            ("if __name__ == '__main__':\n    main()\n", &[]),
            ("def f(x):\n    if x:\n        print(x)\n", &[]),
            ("def test_f(i, n):\n    if i < n:\n        g(i, n)\n", &[]),
            ("def f(i, n):\n    return 1\n    g(i, n)\n", &[]),
            ("def f(i, n):\n    if False:\n        g(i, n)\n", &[]),
            ("x = 'i < n'  # g(i, n)\n", &[]),
        ],
    );
}

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        &[
            (
                "function f(n) { for (let i = 0; i < n; i++) g(i); }\n",
                &["off-by-one 1: i < n => i <= n"],
            ),
            ("function f(a, n) { return a.slice(0, n); }\n", &["off-by-one 1: n => n - 1"]),
            (
                "async function f() {\n  const x = await load();\n}\n",
                &["dropped-await 2: await load() => load()"],
            ),
            ("async function f() {\n  return await load();\n}\n", &[]),
            (
                "function f(x) {\n  if (x === null) throw new E();\n  g(x);\n}\n",
                &[
                    "removed-check 1-2: if (x === null) throw new E(); => ",
                    "inverted-condition 2: x === null => x !== null",
                ],
            ),
            (
                "function f() {\n  try { g(); } catch (e) {\n    if (!(e instanceof E)) throw e;\n    h();\n  }\n}\n",
                &["widened-exception 2-3: if (!(e instanceof E)) throw e; => "],
            ),
            (
                "async function f() {\n  const file = await open();\n  g(file);\n  await file.close();\n}\n",
                &[
                    "dropped-await 2: await open() => open()",
                    "leaked-handle 3-4: await file.close(); => ",
                    "dropped-await 4: await file.close() => file.close()",
                ],
            ),
        ],
    );
}

#[test]
fn what_does_not_parse_is_left_alone() {
    let text = "function f(a, b) {\n  g(a, b);\n}\nconst x = {path: Array<string | number>,};\n";
    let source = Source::parse(Language::JavaScript, text).unwrap();
    assert_eq!(mutations(&source, &all_added(text)), []);
}

#[test]
fn a_gap_behind_an_empty_line_is_where_the_code_goes_on() {
    let text = "def f(x):\n    a()\n\n    if x is None:\n        raise E(x)\n    g(x)\n";
    let found = planted(Language::Python, text);
    assert!(
        found.contains(&"removed-check 4: if x is None: raise E(x) => ".to_owned()),
        "{found:?}"
    );
}

#[test]
fn typescript_keeps_its_types() {
    check(
        Language::TypeScript,
        &[
            ("async function f() {\n  const x = await load();\n}\n", &[]),
            (
                "async function f() {\n  await save();\n}\n",
                &["dropped-await 2: await save() => save()"],
            ),
            (
                "function f(a: string, b: string, c: number) {\n  g(a, b, c);\n}\n",
                &["swapped-arguments 2: a, b => b, a"],
            ),
            ("function f(a: string, b: number) {\n  g(a, b);\n}\n", &[]),
            // One of them may be missing, and is known to be there only behind a check.
            ("function f(a: string, b?: string) {\n  g(a, b);\n}\n", &[]),
            ("function f(a?: string, b?: string) {\n  if (!b) return;\n  g(a, b);\n}\n", &[]),
            ("function f(a: T, b: T) {\n  return isList(b) ? g(a, b) : null;\n}\n", &[]),
            (
                "function f(a: T, b: T) {\n  return typeof a === 'string' ? g(a, b) : null;\n}\n",
                &[],
            ),
            ("function f(a: string | null, b: string | null) {\n  g(a, b);\n}\n", &[]),
            (
                "function f(a: string, b: string = '') {\n  g(a, b);\n}\n",
                &["swapped-arguments 2: a, b => b, a"],
            ),
            ("function f(a: A) {\n  if (a?.b) {\n    g(a.b.c);\n  }\n}\n", &[]),
            ("function f(a: A) {\n  if (!a?.b) {\n    throw new E();\n  }\n  g(a);\n}\n", &[]),
            ("function f(a: A) {\n  if (a?.length > 0) {\n    g(a.c);\n  }\n}\n", &[]),
            ("function f(a: A) {\n  if (a.ok) {\n    g(a.value);\n  }\n}\n", &[]),
            (
                "class A {\n  f() {\n    if (this.ok) {\n      g(this.value);\n    }\n  }\n}\n",
                &["inverted-condition 3: this.ok => !this.ok"],
            ),
            ("function f(x?: string) {\n  if (!x) return 0;\n  return x.length;\n}\n", &[]),
            (
                "function f(n: number) {\n  if (n > 10) throw new Error();\n  return n;\n}\n",
                &[
                    "removed-check 1-2: if (n > 10) throw new Error(); => ",
                    "inverted-condition 2: n > 10 => n <= 10",
                    "off-by-one 2: n > 10 => n >= 10",
                ],
            ),
        ],
    );
}

#[test]
fn go_uses_what_it_declares() {
    let go = |body: &str| format!("package p\n\nfunc f(a, b int, n int) error {{\n{body}}}\n");
    let rows: &[(&str, &[&str])] = &[
        (
            "\tfor i := 0; i < n; i++ {\n\t\tg(i)\n\t}\n\treturn nil\n",
            &["off-by-one 4: i < n => i <= n"],
        ),
        ("\treturn g(a, b)\n", &["swapped-arguments 4: a, b => b, a"]),
        // `err` would have no use any more.
        (
            "\tx, err := g()\n\tif err != nil {\n\t\treturn nil\n\t}\n\th(x)\n\treturn nil\n",
            &["inverted-condition 5: err != nil => err == nil"],
        ),
        (
            "\tx, err := g()\n\tif err != nil {\n\t\treturn nil\n\t}\n\th(x)\n\treturn err\n",
            &[
                "removed-check 4-5: if err != nil { return nil } => ",
                "inverted-condition 5: err != nil => err == nil",
            ],
        ),
        (
            "\tfile := g()\n\tdefer file.Close()\n\th(file)\n\treturn nil\n",
            &["leaked-handle 4-5: defer file.Close() => "],
        ),
        ("\tfile := g()\n\tdefer file.Close()\n\treturn nil\n", &[]),
        (
            "\tgroup := g()\n\tgroup.Add(1)\n\tgroup.Wait()\n\treturn nil\n",
            &["dropped-await 5-6: group.Wait() => "],
        ),
        ("\th(x[:n])\n\treturn nil\n", &["off-by-one 4: n => n-1"]),
    ];
    for (body, expected) in rows {
        let text = go(body);
        assert_eq!(planted(Language::Go, &text), *expected, "{text}");
    }
    let text = "package p\n\nfunc f(a string, b ...string) {\n\tg(a, b)\n}\n\nfunc h(a, b string) {\n\ta, ok := k(a)\n\tg(a, b)\n\tg(ok)\n}\n";
    assert_eq!(planted(Language::Go, text), [""; 0]);
    let text = "package p\n\nimport (\n\t\"errors\"\n\t\"io\"\n)\n\nvar wrong = errors.New(\"x\")\n\nfunc f(r io.Reader) int {\n\terr := g(r)\n\tif errors.Is(err, io.EOF) {\n\t\treturn 0\n\t}\n\treturn h(err)\n}\n";
    let found = planted(Language::Go, text);
    assert!(
        found.contains(&"widened-exception 12: errors.Is(err, io.EOF) => err != nil".to_owned()),
        "{found:?}"
    );
    // The last use of an import stays.
    let text = text.replace("var wrong = errors.New(\"x\")\n", "");
    assert!(!planted(Language::Go, &text).iter().any(|it| it.starts_with("widened")));
}

#[test]
fn rust() {
    check(
        Language::Rust,
        &[
            ("fn f(n: usize) { for i in 0..n { g(i); } }\n", &["off-by-one 1: 0..n => 0..=n"]),
            ("fn f(a: &[u8], n: usize) { g(&a[..n]); }\n", &["off-by-one 1: ..n => ..=n"]),
            ("fn f(n: usize) { let all = 0..n; }\n", &[]),
            ("async fn f() { save().await; }\n", &["dropped-await 1: save().await => save()"]),
            ("async fn f() -> R { save().await?; Ok(()) }\n", &[]),
            (
                "fn f(a: u8, b: u8, c: u16) { g(a, b); g(b, c); }\n",
                &["swapped-arguments 1: a, b => b, a"],
            ),
            // Bound again, a name has another type.
            ("fn f(a: &str, b: &str) { let a = parse(a); g(a, b); }\n", &[]),
            ("fn f(a: &str, b: &str) { h(|b| g(a, b)); }\n", &[]),
            (
                "fn h() { let a = 1; }\nfn f(a: u8, b: u8) { g(a, b); }\n",
                &["swapped-arguments 2: a, b => b, a"],
            ),
            (
                "fn f(n: usize) -> R {\n    if n > 10 {\n        return Err(E);\n    }\n    Ok(n)\n}\n",
                &[
                    "removed-check 1-2: if n > 10 { return Err(E); } => ",
                    "inverted-condition 2: n > 10 => n <= 10",
                    "off-by-one 2: n > 10 => n >= 10",
                ],
            ),
            (
                "fn f() { match g() { Ok(x) => x, Err(e) if e.kind() == K => 0, Err(e) => h(e) } }\n",
                &["widened-exception 1: Err(e) if e.kind() == K => Err(e)"],
            ),
            (
                "fn f() { match g() { Err(E::Gone) => 0, _ => 1 } }\n",
                &["widened-exception 1: E::Gone => _"],
            ),
            ("fn f() { match g() { Ok(_) => 1, Err(E::Gone) => 0 } }\n", &[]),
            (
                "fn f(xs: &[u8]) -> u8 {\n    if xs.is_empty() {\n        return d(xs);\n    }\n    g(xs)\n}\n",
                &["inverted-condition 2: xs.is_empty() => !xs.is_empty()"],
            ),
            ("fn f(x: Option<u8>) { if let Some(x) = x { g(x); } }\n", &[]),
            ("#[cfg(test)]\nmod tests {\n    fn f(a: u8, b: u8) { g(a, b); }\n}\n", &[]),
        ],
    );
}

#[test]
fn java() {
    let java = |body: &str| {
        format!("class A {{\n  int f(int a, int b) throws Exception {{\n{body}  }}\n}}\n")
    };
    let rows: &[(&str, &[&str])] = &[
        ("    for (int i = 0; i < a; i++) g(i);\n", &["off-by-one 3: i < a => i <= a"]),
        ("    return g(a, b);\n", &["swapped-arguments 3: a, b => b, a"]),
        ("    return s.substring(0, b);\n", &["off-by-one 3: b => b - 1"]),
        (
            "    if (a > 9) {\n      throw new E();\n    }\n    return a;\n",
            &[
                "removed-check 2-3: if (a > 9) { throw new E(); } => ",
                "inverted-condition 3: a > 9 => a <= 9",
                "off-by-one 3: a > 9 => a >= 9",
            ],
        ),
        (
            "    try {\n      g();\n    } catch (IOException e) {\n      h(e.getMessage());\n    }\n",
            &["widened-exception 5: IOException => Exception"],
        ),
        (
            "    try {\n      g();\n    } catch (SQLException e) {\n      h(e.getErrorCode());\n    }\n",
            &[],
        ),
        (
            "    try (FileReader r = new FileReader(p)) {\n      g(r);\n    }\n",
            &[
                "leaked-handle 3: try (FileReader r = new FileReader(p)) { g(r); } => { FileReader r = new FileReader(p); g(r); }",
            ],
        ),
    ];
    for (body, expected) in rows {
        let text = java(body);
        assert_eq!(planted(Language::Java, &text), *expected, "{text}");
    }
}

#[test]
fn only_what_the_change_adds_is_touched() {
    let text = "def f(i, n):\n    if i < n:\n        g()\n    if i < 2:\n        h()\n";
    let source = Source::parse(Language::Python, text).unwrap();
    let diff = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,5 @@\n def f(i, n):\n     if i < n:\n         g()\n+    if i < 2:\n+        h()\n";
    let added = parse(diff.as_bytes()).unwrap().first().map(ChangedFile::added).unwrap();
    let found = mutations(&source, &added);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|mutation| mutation.edit.start > 40), "{found:?}");
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-z(){}<=:;.,\\[\\] \\n!&0-9é]{0,120}") {
        for language in Language::ALL {
            let Some(source) = Source::parse(language, &text) else { continue };
            for mutation in mutations(&source, &all_added(&text)) {
                drop(mutation.apply(&source));
            }
        }
    }
}
