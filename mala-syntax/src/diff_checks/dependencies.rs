//! Dependencies that lose their version, and images without one.

use super::claim;
use crate::coded_check::CodedCheck;
use mala_domain::change::{ChangedFile, Hunk};
use mala_domain::finding::{Category, Priority, ReviewClaim};
use std::collections::HashMap;

pub(super) const UNPINNED: CodedCheck = CodedCheck {
    id: "deps/version-dropped",
    title: "Dependency loses its version",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a requirement loses its version, the next installation takes whatever was published \
            last, incompatible releases too.",
};

pub(super) const IMAGE: CodedCheck = CodedCheck {
    id: "docker/floating-image",
    title: "Base image without a version",
    category: Category::Bug,
    priority: Priority::P2,
    about: "When a base image has no tag or the tag `latest`, the next build may take another system \
            than the one that was tested.",
};

/// Official images with a one-word name; other such names may be a stage of the same file.
const OFFICIAL: &[&str] = &[
    "alpine",
    "amazonlinux",
    "busybox",
    "caddy",
    "centos",
    "debian",
    "eclipse-temurin",
    "elixir",
    "fedora",
    "golang",
    "gradle",
    "httpd",
    "mariadb",
    "maven",
    "mongo",
    "mysql",
    "nginx",
    "node",
    "openjdk",
    "perl",
    "php",
    "postgres",
    "python",
    "redis",
    "ruby",
    "rust",
    "swift",
    "tomcat",
    "ubuntu",
];

/// Everything that is wrong with the dependencies of a file.
pub(super) fn check(file: &ChangedFile) -> Vec<ReviewClaim> {
    let path = file.path.to_text();
    let name = file.path.file_name();
    let lists_requirements = name.ends_with(".txt")
        && (name.starts_with("requirements") || path.contains("requirements/"));
    let is_dockerfile = name.starts_with("Dockerfile")
        || name.ends_with(".dockerfile")
        || name.starts_with("Containerfile");
    if lists_requirements {
        unpinned(file)
    } else if is_dockerfile {
        floating_images(file)
    } else {
        Vec::new()
    }
}

fn unpinned(file: &ChangedFile) -> Vec<ReviewClaim> {
    let removed = file.hunks.iter().flat_map(Hunk::removed_lines);
    let had: HashMap<String, &str> = removed
        .filter_map(|(_, text)| {
            let (name, version) = requirement(text)?;
            (!version.is_empty()).then_some((name, version))
        })
        .collect();
    file.added_lines()
        .filter_map(|(line, text)| {
            let (name, version) = requirement(text)?;
            let had = had.get(&name).filter(|_| version.is_empty())?;
            let body = format!(
                "`{name}` was held at `{had}` and now has no version. When the requirements are next \
                 installed, whatever was published last is taken, incompatible releases too."
            );
            let suggestion = "Keep the version, or give a range that was tested.";
            Some(claim(&UNPINNED, file, line, body, suggestion))
        })
        .collect()
}

/// The name and the version of a line of requirements.
fn requirement(line: &str) -> Option<(String, &str)> {
    let line = line.split(['#', ';']).next().unwrap_or_default().trim();
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c)));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, after)| after),
        None => rest,
    };
    let version = rest.trim();
    let is_plain = version.is_empty() || version.starts_with(['=', '<', '>', '~', '!']);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    (is_plain && starts).then(|| (name.to_lowercase().replace(['_', '.'], "-"), version))
}

fn floating_images(file: &ChangedFile) -> Vec<ReviewClaim> {
    let shown = file.hunks.iter().flat_map(|hunk| hunk.head_lines());
    let stages: Vec<String> = shown.filter_map(|(_, text)| image(text)?.1).collect();
    file.added_lines()
        .filter_map(|(line, text)| {
            let (image, _) = image(text)?;
            let is_stage = stages.iter().any(|stage| stage.eq_ignore_ascii_case(image));
            if is_stage || !floats(image) {
                return None;
            }
            let body = format!(
                "`{image}` names no version. When the image is next built, the base may be another \
                 system than the one that was tested, and the build breaks or behaves otherwise."
            );
            let suggestion = "Give the tag that was tested, or the digest.";
            Some(claim(&IMAGE, file, line, body, suggestion))
        })
        .collect()
}

/// The image of a `FROM` line, and the name of its stage.
fn image(line: &str) -> Option<(&str, Option<String>)> {
    let mut words = line.split_whitespace();
    words.next().filter(|word| word.eq_ignore_ascii_case("FROM"))?;
    let mut words = words.skip_while(|word| word.starts_with("--"));
    let image = words.next()?;
    let is_named = words.next().is_some_and(|word| word.eq_ignore_ascii_case("AS"));
    Some((image, words.next().filter(|_| is_named).map(str::to_owned)))
}

/// Whether an image has no version of its own.
fn floats(image: &str) -> bool {
    if image.contains('$') || image.contains('@') || image == "scratch" {
        return false;
    }
    let last = image.rsplit('/').next().unwrap_or_default();
    match last.split_once(':') {
        Some((_, tag)) => tag == "latest",
        None => image.contains('/') || OFFICIAL.contains(&image),
    }
}
