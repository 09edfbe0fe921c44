//! File and directory names that identify lock files, generated code, vendored code and sources.

use crate::change::FilePath;
use crate::language::Language;

/// Extensions of source files in languages without a `Language` variant.
const SOURCES: &[&str] = &[
    "bash", "bat", "cfg", "clj", "cmd", "css", "ex", "exs", "fish", "gradle", "groovy", "hcl",
    "hs", "html", "ini", "json", "kt", "kts", "lua", "md", "pl", "pm", "ps1", "psm1", "scala",
    "scss", "sh", "sql", "svelte", "swift", "tf", "toml", "vue", "xml", "yaml", "yml", "zsh",
];

/// Names of source files without an extension.
const SOURCE_NAMES: &[&str] =
    &["Containerfile", "Dockerfile", "Gemfile", "Jenkinsfile", "Makefile", "Rakefile"];

/// Lock files of package managers.
const LOCKS: &[&str] = &[
    ".terraform.lock.hcl",
    "Cargo.lock",
    "Cartfile.resolved",
    "Chart.lock",
    "Gemfile.lock",
    "Gopkg.lock",
    "MODULE.bazel.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "buildscript-gradle.lockfile",
    "bun.lock",
    "bun.lockb",
    "cabal.project.freeze",
    "composer.lock",
    "conan.lock",
    "deno.lock",
    "flake.lock",
    "gems.locked",
    "glide.lock",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "paket.lock",
    "pdm.lock",
    "pixi.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "pylock.toml",
    "rebar.lock",
    "shard.lock",
    "stack.yaml.lock",
    "uv.lock",
    "yarn.lock",
];

/// Whether the file name is one of a source file, whatever its content.
pub(super) fn is_source(path: &FilePath) -> bool {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    Language::of_path(path).is_some()
        || ending.is_some_and(|ending| SOURCES.contains(&ending.as_str()))
        || SOURCE_NAMES.iter().any(|name| *name == path.file_name())
}

/// Directories of third-party code, at any depth.
const VENDORED_FOLDERS: &[&str] = &[
    ".bundle",
    ".pnp",
    ".venv",
    "3rdparty",
    "Carthage",
    "Pods",
    "__pypackages__",
    "_vendor",
    "bower_components",
    "elm-stuff",
    "jspm_packages",
    "node_modules",
    "site-packages",
    "third-party",
    "third_party",
    "thirdparty",
];

/// File name endings that code generators use.
const GENERATED_ENDINGS: &[&str] = &[
    ".css.map",
    ".freezed.dart",
    ".g.cs",
    ".g.dart",
    ".js.map",
    ".pb.cc",
    ".pb.go",
    ".pb.gw.go",
    ".pb.h",
    ".pb.swift",
    "_pb2.py",
    "_pb2.pyi",
    "_pb2_grpc.py",
];

/// Directories of generated files, at any depth.
const GENERATED_FOLDERS: &[&[u8]] = &[b"__generated__", b"apidocs", b"javadoc", b"javadocs"];

pub(super) fn is_lock(name: &str) -> bool {
    LOCKS.contains(&name)
}

pub(super) fn is_minified(name: &str) -> bool {
    let stem = [".js", ".mjs", ".cjs", ".css"].iter().find_map(|end| name.strip_suffix(end));
    stem.is_some_and(|stem| stem.ends_with(".min") || stem.ends_with("-min"))
}

pub(super) fn is_generated(path: &FilePath) -> bool {
    let name = path.file_name();
    GENERATED_ENDINGS.iter().any(|end| name.ends_with(end))
        || (name.starts_with("zz_generated.") && name.ends_with(".go"))
        || folders(path).any(|folder| GENERATED_FOLDERS.contains(&folder))
}

pub(super) fn is_vendored(path: &FilePath) -> bool {
    let known = |folder: &[u8]| VENDORED_FOLDERS.iter().any(|known| folder == known.as_bytes());
    folders(path).any(known) || is_in_vendor(path) || is_in_yarn(path) || is_jquery(path)
}

/// `vendor/` at the root, or deeper with at least two directories below it. A shallow
/// `src/vendor/form.ts` may be the project's own code.
fn is_in_vendor(path: &FilePath) -> bool {
    let folders: Vec<_> = folders(path).collect();
    let depth = folders.iter().position(|folder| *folder == b"vendor");
    depth.is_some_and(|depth| depth == 0 || folders.len() - depth > 2)
}

/// A released version of jQuery or jQuery UI: `js/jquery-1.8.3.js`.
fn is_jquery(path: &FilePath) -> bool {
    let name = path.file_name();
    let version =
        name.strip_prefix("jquery-").and_then(|rest| rest.strip_prefix("ui").or(Some(rest)));
    version.is_some_and(|rest| {
        let rest = rest.trim_start_matches(['-', '.']);
        name.ends_with(".js") && (rest.starts_with(|c: char| c.is_ascii_digit()) || rest == "js")
    })
}

/// Files that yarn stores: releases, plugins, the package cache.
fn is_in_yarn(path: &FilePath) -> bool {
    let folders: Vec<_> = folders(path).collect();
    folders.windows(2).any(|pair| {
        pair[0] == b".yarn" && [&b"cache"[..], b"plugins", b"releases", b"sdks"].contains(&pair[1])
    })
}

fn folders(path: &FilePath) -> impl Iterator<Item = &[u8]> {
    let parts = path.as_bytes().split(|byte| *byte == b'/');
    let n_folders = path.as_bytes().iter().filter(|byte| **byte == b'/').count();
    parts.take(n_folders)
}
