//! Maps module names to files of the repository, as seen from the importing file. Paths are texts
//! with `/` between their parts; the root of the tree is empty.

mod ecmascript;
mod python;
mod rust;

pub use rust::RustModule;

use mala_domain::language::Language;

/// The files that a module name may refer to, the likeliest first; empty if it is not in this
/// repository or cannot be decided.
pub fn files_of_module(importer: &str, language: Language, module: &str) -> Vec<String> {
    match language {
        Language::Python => python::files(importer, module),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript::files(importer, module)
        }
        _ => Vec::new(),
    }
}

/// Whether a module name in `importer` refers to this file.
pub fn stands_for(importer: &str, language: Language, module: &str, file: &str) -> bool {
    match language {
        Language::Python => python::stands_for(importer, module, file),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ecmascript::stands_for(importer, module, file)
        }
        _ => files_of_module(importer, language, module).iter().any(|path| path == file),
    }
}

/// Whether a module name of a package in the same repository refers to this file. `package` is its
/// name for imports, and its folder.
pub fn stands_for_in_package(package: (&str, &str), module: &str, file: &str) -> bool {
    ecmascript::stands_for_in_package(package, module, file)
}

/// The possible files of a submodule: `mod name;`.
pub fn files_of_submodule(importer: &str, name: &str) -> Vec<String> {
    rust::submodule_files(importer, name)
}

/// The folder of a path.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A relative path seen from a folder; `None` when it leaves the tree.
pub fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a folder is another one or around it.
fn is_around(folder: &str, inner: &str) -> bool {
    folder.is_empty()
        || inner.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The part of a path before these last parts; `None` if the path does not end with them.
fn before_parts<'p>(path: &'p str, parts: &str) -> Option<&'p str> {
    let before = path.strip_suffix(parts)?;
    if before.is_empty() { Some("") } else { before.strip_suffix('/') }
}

/// A folder and all folders around it, the innermost first, the root last.
fn folders_around(folder: &str) -> Vec<&str> {
    const MAX_DEPTH: usize = 24;
    let mut found = vec![folder];
    let mut folder = folder;
    while !folder.is_empty() && found.len() < MAX_DEPTH {
        folder = parent(folder);
        found.push(folder);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_stand_for_files() {
        for (language, importer, module, expected) in [
            (Language::Python, "pkg/sub/a.py", "..b", "pkg/b.py"),
            (Language::Python, "pkg/sub/a.py", ".", "pkg/sub/__init__.py"),
            (Language::Python, "pkg/__init__.py", ".b.c", "pkg/b/c.py"),
            (Language::Python, "pkg/sub/a.py", "pkg.b", "pkg/b.py"),
            (Language::Python, "src/pkg/a.py", "pkg.b", "src/pkg/b/__init__.py"),
            (Language::Python, "tests/test_a.py", "pkg.b", "src/pkg/b.py"),
            (Language::JavaScript, "lib/a.js", "./b", "lib/b.js"),
            (Language::JavaScript, "lib/a.js", "../b", "b/index.js"),
            (Language::TypeScript, "src/x/a.ts", "./b.js", "src/x/b.ts"),
            (Language::TypeScript, "src/x/a.ts", "@/x/b", "src/x/b.tsx"),
            (Language::Tsx, "src/a.tsx", "./a.css", "src/a.css"),
        ] {
            let files = files_of_module(importer, language, module);
            assert!(
                files.iter().any(|file| file == expected),
                "{module} from {importer}: {files:?}"
            );
            assert!(stands_for(importer, language, module, expected), "{module} from {importer}");
        }
    }

    #[test]
    fn names_that_a_build_maps_stand_for_files_below_a_folder_around() {
        for (importer, module, file, expected) in [
            ("app/js/a/x.ts", "@/b/c", "app/js/b/c.tsx", true),
            ("static/app/a/x.ts", "sentry/views/c", "static/app/views/c/index.tsx", true),
            ("src/a.ts", "src/utils/b", "src/utils/b.ts", true),
            ("web/a.ts", "lodash/get", "web/get.ts", false),
            ("web/a.ts", "@scope/pkg/b", "other/pkg/b.ts", false),
            ("web/a.ts", "@/b/c", "other/b/c.ts", false),
        ] {
            let found = stands_for(importer, Language::TypeScript, module, file);
            assert_eq!(found, expected, "{module} from {importer}");
        }
        for (module, file, expected) in [
            ("@x/math", "packages/math/src/index.ts", true),
            ("@x/math", "packages/math/index.js", true),
            ("@x/math/polygon", "packages/math/src/polygon.ts", true),
            ("@x/math", "packages/math/src/polygon.ts", false),
            ("@x/maths", "packages/math/src/index.ts", false),
        ] {
            let package = ("@x/math", "packages/math");
            assert_eq!(stands_for_in_package(package, module, file), expected, "{module} {file}");
        }
    }

    #[test]
    fn foreign_modules_stand_for_no_file() {
        for (language, importer, module) in [
            (Language::JavaScript, "lib/a.js", "express"),
            (Language::TypeScript, "a.ts", "@scope/pkg"),
            (Language::JavaScript, "a.js", "../outside"),
            (Language::Python, "a.py", "...outside"),
            (Language::Go, "a.go", "fmt"),
        ] {
            assert_eq!(
                files_of_module(importer, language, module),
                Vec::<String>::new(),
                "{module}"
            );
        }
    }

    #[test]
    fn rust_modules_have_files_and_paths() {
        assert_eq!(files_of_submodule("src/lib.rs", "x"), ["src/x.rs", "src/x/mod.rs"]);
        let nested = files_of_submodule("src/a.rs", "x");
        assert_eq!(nested, ["src/x.rs", "src/x/mod.rs", "src/a/x.rs", "src/a/x/mod.rs"]);
        for (file, root, path) in [
            ("src/lib.rs", "src", ""),
            ("src/a/b.rs", "src", "a.b"),
            ("crates/x/src/a/mod.rs", "crates/x/src", "a"),
            ("tests/it.rs", "tests/it.rs", ""),
            ("src/bin/tool.rs", "src/bin/tool.rs", ""),
            ("src/bin/tool/main.rs", "src/bin/tool", ""),
            ("src/bin/tool/config.rs", "src/bin/tool", "config"),
        ] {
            let module = RustModule::of(file);
            assert_eq!((module.root.as_str(), module.path.join(".")), (root, path.to_owned()));
        }
    }
}
