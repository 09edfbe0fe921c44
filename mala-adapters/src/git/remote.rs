//! The address of a repository, fit to be shown: as a URL, without names and passwords.

/// `https://host/path` or `ssh://host/path`; `None` for a folder on this machine.
pub(super) fn public_url(remote: &str) -> Option<String> {
    let is_clean = !remote.chars().any(|c| c.is_control() || c.is_whitespace());
    if let Some((scheme, rest)) = remote.split_once("://") {
        let is_public = ["https", "http", "ssh", "git"].contains(&scheme) && is_clean;
        let (authority, path) = rest.split_once('/')?;
        let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
        let path = path.split(['?', '#']).next().unwrap_or_default();
        return is_public.then(|| format!("{scheme}://{host}/{path}"));
    }
    // git@host:path
    let (authority, path) = remote.split_once(':')?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    let is_address = is_clean && !authority.contains('/') && host.len() > 1;
    is_address.then(|| format!("ssh://{host}/{}", path.trim_start_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_hosts_and_paths_only() {
        let rows = [
            ("https://example.org/a/b.git", Some("https://example.org/a/b.git")),
            ("https://me:secret@example.org/a/b", Some("https://example.org/a/b")),
            ("https://example.org/a?token=x", Some("https://example.org/a")),
            ("ssh://git@example.org:22/a/b.git", Some("ssh://example.org:22/a/b.git")),
            ("git@example.org:a/b.git", Some("ssh://example.org/a/b.git")),
            ("/srv/git/a.git", None),
            ("../a", None),
            ("file:///srv/a.git", None),
            ("ext::sh -c x", None),
            ("C:\\repos\\a", None),
            ("", None),
        ];
        for (remote, url) in rows {
            assert_eq!(public_url(remote).as_deref(), url, "{remote}");
        }
    }
}
