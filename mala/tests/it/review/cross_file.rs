//! A function that is removed while another file still calls it is reported at the caller; with the
//! caller updated, nothing is.

use super::{commit, findings, review};
use crate::world;

struct Case {
    language: &'static str,
    library: (&'static str, &'static str, &'static str),
    caller: (&'static str, &'static str, &'static str),
    line: u32,
}

const CASES: [Case; 4] = [
    Case {
        language: "Python",
        library: (
            "shop/prices.py",
            "def net_price(order):\n    return order.net\n\n\ndef tax(order):\n    return 1\n",
            "def tax(order):\n    return 1\n",
        ),
        caller: (
            "shop/invoice.py",
            "from shop.prices import net_price\n\n\ndef invoice(order):\n    return net_price(order)\n",
            "from shop.prices import tax\n\n\ndef invoice(order):\n    return tax(order)\n",
        ),
        line: 5,
    },
    Case {
        language: "TypeScript",
        library: (
            "src/prices.ts",
            "export function netPrice(order: number) {\n  return order;\n}\nexport function tax(order: number) {\n  return order;\n}\n",
            "export function tax(order: number) {\n  return order;\n}\n",
        ),
        caller: (
            "src/invoice.ts",
            "import { netPrice } from \"./prices\";\n\nexport const invoice = (o: number) => netPrice(o);\n",
            "import { tax } from \"./prices\";\n\nexport const invoice = (o: number) => tax(o);\n",
        ),
        line: 3,
    },
    Case {
        language: "Go",
        library: (
            "prices/prices.go",
            "package prices\n\nfunc NetPrice(order int) int {\n\treturn order\n}\n\nfunc Tax(order int) int {\n\treturn order\n}\n",
            "package prices\n\nfunc Tax(order int) int {\n\treturn order\n}\n",
        ),
        caller: (
            "main.go",
            "package main\n\nimport \"example.com/shop/prices\"\n\nfunc main() {\n\tprintln(prices.NetPrice(1))\n}\n",
            "package main\n\nimport \"example.com/shop/prices\"\n\nfunc main() {\n\tprintln(prices.Tax(1))\n}\n",
        ),
        line: 6,
    },
    Case {
        language: "Rust",
        library: (
            "src/prices.rs",
            "pub fn net_price(order: u32) -> u32 {\n    order\n}\n\npub fn tax(order: u32) -> u32 {\n    order\n}\n",
            "pub fn tax(order: u32) -> u32 {\n    order\n}\n",
        ),
        caller: (
            "src/main.rs",
            "mod prices;\n\nfn main() {\n    println!(\"{}\", prices::net_price(1));\n}\n",
            "mod prices;\n\nfn main() {\n    println!(\"{}\", prices::tax(1));\n}\n",
        ),
        line: 4,
    },
];

#[test]
fn a_removed_function_is_reported_where_it_is_still_called() {
    for case in &CASES {
        let world = world();
        world.git(&["init", "-q", "-b", "main", "."]).write("go.mod", "module example.com/shop\n");
        world.write(case.library.0, case.library.1).write(case.caller.0, case.caller.1);
        commit(&world, "start");
        world.write(case.library.0, case.library.2);
        let (code, report) = review(&world, &[]);
        let place = format!("{}:{}", case.caller.0, case.line);
        let found = findings(&report);
        assert!(found.iter().any(|it| it.starts_with(&place)), "{}: {found:?}", case.language);
        assert_eq!(code, 1, "{}", case.language);
        commit(&world, "broken");
        let (_, committed) = review(&world, &["--commit", "HEAD"]);
        assert_eq!(findings(&committed), found, "{}: the same in a commit", case.language);
        world.git(&["reset", "-q", "--soft", "HEAD~1"]).write(case.caller.0, case.caller.2);
        let (code, report) = review(&world, &[]);
        assert_eq!((code, findings(&report)), (0, vec![]), "{}: updated", case.language);
    }
}

/// Reviews a change of one file that leaves a reader as it is, then the same with the reader updated.
fn left_behind(changed: (&str, &str, &str), reader: (&str, &str, &str), expected: &[&str]) {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write(changed.0, changed.1).write(reader.0, reader.1);
    commit(&world, "start");
    world.write(changed.0, changed.2);
    let (code, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!(
        (code, findings(&report)),
        (1, expected.iter().map(|it| (*it).to_owned()).collect())
    );
    world.write(reader.0, reader.2);
    let (code, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!((code, findings(&report)), (0, vec![]), "updated");
}

#[test]
fn a_removed_setting_is_reported_where_it_is_still_read() {
    left_behind(
        ("config.yaml", "database:\n  host: db\n  port: 5432\n", "database:\n  port: 5432\n"),
        (
            "shop/store.py",
            "def connect(config):\n    return config[\"database\"][\"host\"]\n",
            "def connect(config):\n    return config[\"database\"].get(\"host\", \"db\")\n",
        ),
        &["shop/store.py:2 cross-file/removed-key"],
    );
}

#[test]
fn a_removed_variable_is_reported_at_every_read() {
    left_behind(
        (".env.example", "API_TOKEN=\nAPI_HOST=\n", "API_HOST=\n"),
        (
            "src/client.js",
            "const send = () => fetch(url, process.env.API_TOKEN);\nconst ask = () => get(process.env.API_TOKEN);\n",
            "const send = () => fetch(url);\n",
        ),
        &["src/client.js:1 cross-file/removed-key", "src/client.js:2 cross-file/removed-key"],
    );
}

#[test]
fn a_new_member_of_a_python_enum_is_reported_where_it_is_not_handled() {
    const ENUM: &str = "from enum import Enum\n\n\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\n";
    const MATCH: &str = "from shop.colors import Color\n\n\ndef name(color):\n    match color:\n        case Color.RED:\n            return \"red\"\n        case Color.BLUE:\n            return \"blue\"\n";
    left_behind(
        ("shop/colors.py", ENUM, &format!("{ENUM}    GREEN = 3\n")),
        (
            "shop/names.py",
            MATCH,
            &format!("{MATCH}        case _:\n            raise ValueError(color)\n"),
        ),
        &["shop/names.py:5 cross-file/unhandled-member"],
    );
}
