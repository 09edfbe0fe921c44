//! TypeScript.

use super::check;

const MATH: &str = "== src/math.ts
export function addUp(a: number, b?: number): number { return a; }
export const LIMIT = 3;
export type Shape = 'round' | 'square';
export enum Color { Red, Blue }
export default class Engine {}
";

fn with(user: &str) -> String {
    format!("{MATH}{user}")
}

#[test]
fn a_removed_export_is_reported_at_its_caller() {
    for (user, line) in [
        ("import { addUp } from './math';\n\nexport const x = addUp(1);\n", 3),
        ("import { addUp as sum } from './math.js';\n\nexport const x = sum(1);\n", 3),
        ("import * as math from './math';\n\nexport const x = math.addUp(1);\n", 3),
        ("import { addUp } from '@/math';\n\nexport const x = addUp(1);\n", 3),
    ] {
        let base = with(&format!("== src/user.ts\n{user}"));
        let head = base.replacen("export function addUp", "export function sumOf", 1);
        let expected = format!(
            "src/user.ts:{line} removed-symbol P2 `addUp` is now `sumOf`, but is still called here"
        );
        check(&base, &head, &[&expected]);
        let updated = head.replace("addUp", "sumOf");
        check(&base, &updated, &[]);
    }
}

#[test]
fn what_is_no_longer_exported_is_gone_for_others() {
    let base = with(
        "== src/user.tsx\nimport { LIMIT } from './math';\nexport const x = <b>{LIMIT}</b>;\n",
    );
    let head = base.replacen("export const LIMIT", "const LIMIT", 1);
    check(
        &base,
        &head,
        &["src/user.tsx:2 removed-symbol P2 `LIMIT` no longer exists, but is still used here"],
    );
}

#[test]
fn types_and_default_exports_count() {
    let base = with(
        "== src/user.ts\nimport Engine, { Shape } from './math';\nlet s: Shape;\nnew Engine();\n",
    );
    let head = base.replacen("export type Shape = 'round' | 'square';\n", "", 1).replacen(
        "export default class Engine {}\n",
        "",
        1,
    );
    check(
        &base,
        &head,
        &[
            "src/user.ts:2 removed-symbol P2 `Shape` no longer exists, but is still used here",
            "src/user.ts:3 removed-symbol P2 `src/math.ts` no longer has a default export, but it is still called here",
        ],
    );
}

#[test]
fn barrels_pass_names_on() {
    let users = "== src/index.ts\nexport * from './math';\n== app/main.ts\nimport { addUp } from '../src';\naddUp(1);\n";
    let base = with(users);
    let head = base.replacen("export function addUp", "export function sumOf", 1);
    check(
        &base,
        &head,
        &["app/main.ts:2 removed-symbol P2 `addUp` is now `sumOf`, but is still called here"],
    );
    let kept =
        head.replacen("export function sumOf", "export { sumOf as addUp };\nfunction sumOf", 1);
    check(&base, &kept, &[]);
}

#[test]
fn nothing_is_said_of_what_only_looks_like_a_use() {
    for user in [
        "import { addUp } from 'elsewhere';\naddUp(1);\n",
        "function addUp() {}\naddUp();\n",
        "thing.addUp(1);\n",
        "const x = { addUp: 1 };\n",
        "import { LIMIT } from './math';\nfunction f(addUp: any) { return addUp(LIMIT); }\n",
    ] {
        let base = with(&format!("== src/user.ts\n{user}"));
        let head = base.replacen("export function addUp", "export function sumOf", 1);
        check(&base, &head, &[]);
    }
}

#[test]
fn required_parameters_break_stale_callers() {
    let base = with(
        "== src/user.ts\nimport { addUp } from './math';\naddUp(1);\naddUp(1, 2);\naddUp(...xs);\n",
    );
    let changed = |signature: &str| base.replacen("addUp(a: number, b?: number)", signature, 1);
    check(
        &base,
        &changed("addUp(a: number, b: number)"),
        &[
            "src/user.ts:2 changed-signature P2 This call of `addUp` does not pass `b`, which it now needs",
        ],
    );
    check(
        &base,
        &changed("addUp(a: number)"),
        &[
            "src/user.ts:3 changed-signature P2 This call passes 2 arguments, but `addUp` now takes 1",
        ],
    );
    check(&base, &changed("addUp(a: number, b?: number, c = 1)"), &[]);
    check(&base, &changed("addUp(a: number, ...b: number[])"), &[]);
}

#[test]
fn constructors_are_called_with_new() {
    let base = "== a.ts\nexport class Job { constructor(name: string) {} }\n== b.ts\nimport { Job } from './a';\nnew Job('x');\n";
    let head = base.replacen("name: string)", "name: string, queue: string)", 1);
    check(
        base,
        &head,
        &[
            "b.ts:2 changed-signature P2 This call of `Job` does not pass `queue`, which it now needs",
        ],
    );
}

#[test]
fn imports_must_lead_somewhere() {
    let base = with(
        "== src/user.ts\nimport { LIMIT } from './math';\nexport { LIMIT as L } from './math';\n",
    );
    let moved = base.replacen("== src/math.ts", "== src/numbers.ts", 1);
    check(
        &base,
        &moved,
        &[
            "src/user.ts:1 unresolved-import P2 `./math` is imported here, but `src/math.ts` is gone",
        ],
    );
    let folder = base.replacen("== src/math.ts", "== src/math/index.ts", 1);
    check(&base, &folder, &[]);
    let dotted = "== a.root.mts\nexport const x = 1;\n== a.root.mjs\nexport const x = 1;\n== b.ts\nimport { x } from './a.root.mjs';\n";
    check(dotted, &dotted.replacen("== a.root.mts\nexport const x = 1;\n", "", 1), &[]);
    let script = base.replacen("== src/math.ts", "== src/math.tsx", 1);
    check(&base, &script, &[]);
    let added = format!(
        "{base}== src/new.ts\nimport x from './nowhere';\nimport y from './style.css';\nimport z from './generated/api';\nimport w from 'lib';\n== src/style.css\na {{}}\n"
    );
    check(&base, &added, &["src/new.ts:1 unresolved-import P2 `./nowhere` leads to no file"]);
    check(&base, &format!("{added}== .gitignore\nsrc/nowhere.ts\n"), &[]);
}

#[test]
fn what_a_file_keeps_for_itself_it_may_use() {
    let base = "== a.ts\nexport const limit = 3;\nlog(limit);\n";
    check(base, &base.replacen("export ", "", 1), &[]);
}

#[test]
fn a_name_that_moved_and_is_imported_back_is_fine() {
    let base = "== a.ts\nexport type Key = string;\nexport let k: Key;\n";
    let head = "== a.ts\nimport { type Key } from './b';\nexport let k: Key;\n== b.ts\nexport type Key = string;\n";
    check(base, head, &[]);
}

#[test]
fn a_thing_that_moves_behind_its_barrel_is_found() {
    let base = "== lib/index.ts\nexport * from './a';\nexport * from './b';\n== lib/a.ts\nexport function area(p: P) { return 1; }\nexport const x = 1;\n== lib/b.ts\nexport const y = 1;\n== app.ts\nimport { area } from './lib';\narea(p);\n";
    let moved = base.replacen("export function area(p: P) { return 1; }\n", "", 1).replacen(
        "y = 1;\n",
        "y = 1;\nexport function area(p: P) { return 1; }\n",
        1,
    );
    check(base, &moved, &[]);
    let hidden = moved.replacen("export * from './b';\n", "", 1);
    check(
        base,
        &hidden,
        &["app.ts:2 removed-symbol P2 `area` moved to `lib/b.ts`, but is still called here"],
    );
}

#[test]
fn packages_of_the_same_repository_are_known_by_name() {
    let base = "== packages/math/package.json\n{\n  \"name\": \"@x/math\"\n}\n== packages/math/src/index.ts\nexport * from './polygon';\n== packages/math/src/polygon.ts\nexport function area(p: P) { return 1; }\n== packages/app/a.ts\nimport { area } from '@x/math';\narea(p);\n== packages/app/b.ts\nimport { area } from '@x/maths';\narea(p);\n";
    let head = base.replacen("function area(", "function surface(", 1);
    check(
        base,
        &head,
        &[
            "packages/app/a.ts:2 removed-symbol P2 `area` is now `surface`, but is still called here",
        ],
    );
}

#[test]
fn a_mapped_import_that_fits_the_new_place_is_fine() {
    let base = "== src/app/parts/mail/form.ts\nexport const x = 1;\n== src/app/parts/user.ts\nimport { x } from './mail/form';\n";
    let head = "== src/mail/form.ts\nexport const x = 1;\n== src/app/parts/user.ts\nimport { x } from '@/mail/form';\n";
    check(base, head, &[]);
}

#[test]
fn a_method_without_types_takes_what_its_interface_says() {
    let base = "== ops.ts\nexport const ops: Options = {\n  insertAll(content, parent) {\n  },\n};\n== user.ts\nimport { ops } from './ops';\nops.insertAll(1, 2);\n";
    check(base, &base.replacen("(content, parent)", "(content, parent, cached)", 1), &[]);
}
