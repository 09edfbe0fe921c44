//! Modules of JavaScript and TypeScript.

use super::{before_parts, folders_around, is_around, join, parent};

/// Possible endings after a specifier.
const ENDINGS: [&str; 13] = [
    ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".json", ".vue",
    ".svelte", ".coffee",
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

/// Whether a specifier in `importer` refers to `file`. A specifier that is not relative may be
/// mapped by the build: then it, or the part after its first component, is searched below the
/// folders around.
pub(super) fn stands_for(importer: &str, specifier: &str, file: &str) -> bool {
    let specifier = specifier.split(['?', '#']).next().unwrap_or_default();
    let folder = parent(importer);
    if specifier.starts_with('.') {
        let base = join(folder, specifier);
        return base.is_some_and(|base| base == file || spells(&base, file));
    }
    let (first, rest) = specifier.split_once('/').unwrap_or((specifier, ""));
    let below = |path: &str| {
        let stem = stem(file);
        let found = before_parts(stem, path).or_else(|| before_parts(without_index(stem), path));
        found.is_some_and(|root| is_around(root, folder))
    };
    match first {
        "@" | "~" => !rest.is_empty() && below(stem(rest)),
        _ if first.starts_with('@') || !specifier.contains('/') => false,
        _ => below(stem(specifier)) || rest.contains('/') && below(stem(rest)),
    }
}

/// Whether a specifier that starts with a package's name refers to a file of the package.
pub(super) fn stands_for_in_package(
    (name, folder): (&str, &str),
    specifier: &str,
    file: &str,
) -> bool {
    let Some(rest) = specifier.strip_prefix(name) else { return false };
    if !(rest.is_empty() || rest.starts_with('/')) {
        return false;
    }
    ["", "src", "lib"].iter().any(|inner| {
        let base =
            join(folder, inner).and_then(|folder| join(&folder, rest.trim_start_matches('/')));
        base.is_some_and(|base| spells(&base, file))
    })
}

/// Whether a path without its ending, or a folder, is this file.
fn spells(base: &str, file: &str) -> bool {
    let stem = stem(file);
    let written = stem_of_script(base);
    stem == base || stem == written || without_index(stem) == base
}

fn stem(path: &str) -> &str {
    ENDINGS
        .iter()
        .find_map(|ending| path.strip_suffix(ending))
        .map_or(path, |stem| stem.strip_suffix(".d").unwrap_or(stem))
}

/// A specifier without the ending of the script that a typed file becomes.
fn stem_of_script(path: &str) -> &str {
    let endings = [".js", ".jsx", ".mjs", ".cjs"];
    endings.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path)
}

fn without_index(stem: &str) -> &str {
    if stem == "index" { "" } else { stem.strip_suffix("/index").unwrap_or(stem) }
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
