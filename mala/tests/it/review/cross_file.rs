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
        let (code, report) = review(&world, &["--fail-on", "P2"]);
        let place = format!("{}:{}", case.caller.0, case.line);
        let found = findings(&report);
        assert!(found.iter().any(|it| it.starts_with(&place)), "{}: {found:?}", case.language);
        assert_eq!(code, 1, "{}", case.language);
        commit(&world, "broken");
        let (_, committed) = review(&world, &["--commit", "HEAD"]);
        assert_eq!(findings(&committed), found, "{}: the same in a commit", case.language);
        world.git(&["reset", "-q", "--soft", "HEAD~1"]).write(case.caller.0, case.caller.2);
        let (code, report) = review(&world, &["--fail-on", "P2"]);
        assert_eq!((code, findings(&report)), (0, vec![]), "{}: updated", case.language);
    }
}

#[test]
fn what_moves_into_a_file_that_git_does_not_show_is_still_there() {
    let world = world();
    world
        .git(&["init", "-q", "-b", "main", "."])
        .write(".gitattributes", "prices/table.go -diff\n");
    let function = "func NetPrice(order int) int {\n\treturn order\n}\n";
    world.write("prices/prices.go", format!("package prices\n\n{function}"));
    world.write("prices/table.go", "package prices\n");
    world.write("prices/sum.go", "package prices\n\nvar sum = NetPrice(1)\n");
    commit(&world, "start");
    world.write("prices/prices.go", "package prices\n");
    world.write("prices/table.go", format!("package prices\n\n{function}"));
    let (_, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!(findings(&report), Vec::<String>::new());
    world.write("prices/table.go", "package prices\n");
    let (_, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!(findings(&report), ["prices/sum.go:3 cross-file/removed-symbol"]);
}

#[test]
fn a_new_variant_is_reported_where_it_is_not_handled() {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("src/color.rs", "pub enum Color {\n    Red,\n    Blue,\n}\n");
    let name = "use crate::color::Color;\n\npub fn name(color: Color) -> u8 {\n    match color {\n        Color::Red => 1,\n        Color::Blue => 2,\n    }\n}\n";
    world.write("src/lib.rs", "mod color;\nmod name;\n").write("src/name.rs", name);
    commit(&world, "start");
    world.write("src/color.rs", "pub enum Color {\n    Red,\n    Blue,\n    Green,\n}\n");
    let (code, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!(findings(&report), ["src/name.rs:4 cross-file/unhandled-member"]);
    assert_eq!(code, 1);
    world.write("src/name.rs", name.replace("Color::Blue", "_"));
    let (code, report) = review(&world, &["--fail-on", "P2"]);
    assert_eq!((code, findings(&report)), (0, vec![]), "updated");
}
