//! Modules of JavaScript and TypeScript.

use super::{folders_around, join, parent};

/// What may follow a specifier.
const ENDINGS: [&str; 12] = [
    ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue",
    ".svelte",
];

/// The files of a relative specifier, or of one that starts at the source folder (`@/x`).
pub(super) fn files(importer: &str, specifier: &str) -> Vec<String> {
    let specifier = specifier.split(['?', '#']).next().unwrap_or_default();
    let is_relative = specifier == "."
        || specifier == ".."
        || specifier.starts_with("./")
        || specifier.starts_with("../");
    if is_relative {
        return join(parent(importer), specifier).map(|base| of_base(&base)).unwrap_or_default();
    }
    let Some(rest) = specifier.strip_prefix("@/").or_else(|| specifier.strip_prefix("~/")) else {
        return Vec::new();
    };
    folders_around(parent(importer))
        .into_iter()
        .filter(|folder| folder.is_empty() || folder.rsplit('/').next() == Some("src"))
        .filter_map(|folder| join(folder, rest))
        .chain(join("src", rest))
        .flat_map(|base| of_base(&base))
        .collect()
}

fn of_base(base: &str) -> Vec<String> {
    let mut found = vec![base.to_owned()];
    for (written, real) in [
        (".js", ".ts"),
        (".js", ".tsx"),
        (".js", ".d.ts"),
        (".jsx", ".tsx"),
        (".mjs", ".mts"),
        (".mjs", ".d.mts"),
        (".cjs", ".cts"),
        (".cjs", ".d.cts"),
    ] {
        found.extend(base.strip_suffix(written).map(|stem| format!("{stem}{real}")));
    }
    found.extend(ENDINGS.iter().map(|ending| format!("{base}{ending}")));
    let folder = if base.is_empty() { String::new() } else { format!("{base}/") };
    found.extend(ENDINGS.iter().map(|ending| format!("{folder}index{ending}")));
    found.push(format!("{folder}package.json"));
    found
}
