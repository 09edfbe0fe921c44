//! Opening repositories, and errors when there is none.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn refusal(repo: &TestRepo, dir: &Path) -> String {
    let error = open_at(repo, dir).map(|git| git.top().to_owned()).unwrap_err();
    let hint = error.hint().unwrap_or_default();
    let shown = format!("{error}; {hint}");
    shown.replace(&repo.root().display().to_string(), "ROOT")
}

#[test]
fn opens_from_a_subfolder_and_from_a_linked_worktree() {
    let repo = TestRepo::with_files(&[("src/deep/a.txt", "a\n")]);
    assert_eq!(open_at(&repo, &repo.path("src/deep")).unwrap().top(), repo.root());
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "-q", "-b", "topic", linked.to_str().unwrap()]);
    std::fs::write(linked.join("src/deep/a.txt"), "b\n").unwrap();
    let git = open_at(&repo, &linked.join("src")).unwrap();
    assert_eq!(git.top(), linked);
    let scoped = wait(git.change(&ReviewTarget::WorkingTree, &[])).unwrap();
    assert_eq!(show(&scoped), "M src/deep/a.txt -1:a +1:b");
}

#[test]
fn says_what_is_not_a_repository() {
    let repo = TestRepo::plain_folder("plain");
    assert_eq!(
        refusal(&repo, repo.root()),
        "ROOT is not in a git repository; run mala in a git repository, or review a diff with --patch"
    );
    assert!(refusal(&repo, &repo.path("nowhere")).starts_with("cannot open ROOT/nowhere"));
}

#[test]
fn a_bare_repository_has_no_work_tree_and_a_git_folder_is_none() {
    let repo = TestRepo::new();
    let bare = repo.beside("bare.git");
    repo.git(&["init", "-q", "--bare", bare.to_str().unwrap()]);
    let git = open_at(&repo, &bare).unwrap();
    assert_eq!(git.top(), bare);
    for target in [ReviewTarget::WorkingTree, ReviewTarget::Staged] {
        let error = wait(git.change(&target, &[])).err().unwrap();
        assert!(error.to_string().contains("is a bare repository and has no work tree"), "{error}");
    }
    assert!(refusal(&repo, &repo.path(".git")).starts_with("ROOT/.git is inside a .git folder"));
}

#[test]
fn says_that_a_repository_is_damaged() {
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    repo.write(".git/HEAD", "garbage");
    assert!(refusal(&repo, repo.root()).starts_with("the repository at ROOT is damaged: "));
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    repo.write(".git/config", "[core\nnonsense");
    assert!(refusal(&repo, repo.root()).contains("bad config line 1"));
}

#[test]
fn says_that_an_index_or_an_object_is_damaged() {
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    repo.write("a", "b\n");
    repo.write(".git/index", "garbage");
    let error = try_scope(&repo, ReviewTarget::WorkingTree, &[]).err().unwrap();
    assert!(error.to_string().contains("index"), "{error}");

    let repo = TestRepo::with_files(&[("a", "a\n")]);
    let blob = repo.id("HEAD:a");
    repo.remove(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    repo.write("a", "b\n");
    let error = try_scope(&repo, ReviewTarget::WorkingTree, &[]).err().unwrap();
    assert!(error.to_string().contains(&blob), "{error}");
    assert!(error.hint().unwrap().contains("objects are missing"));

    let repo = TestRepo::with_files(&[("a", "a\n")]);
    let head = repo.head();
    repo.remove(format!(".git/objects/{}/{}", &head[..2], &head[2..]));
    assert!(try_scope(&repo, ReviewTarget::WorkingTree, &[]).is_err());
}

#[test]
fn says_that_git_is_missing() {
    let repo = TestRepo::new();
    let environment = environment(&repo).with("PATH", "/nowhere");
    let error = wait(Git::open(repo.root(), &environment)).unwrap_err();
    assert_eq!(error.to_string(), "git is not installed");
}

/// A folder with a git that reports an older version.
fn old_git(repo: &TestRepo, version: &str) -> ProcessEnvironment {
    let environment = environment(repo);
    let real = environment.find("git").unwrap();
    let folder = repo.beside("bin");
    std::fs::create_dir(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = version ]; then echo git version {version}; exit; fi\nexec {} \"$@\"\n",
        real.display()
    );
    std::fs::write(folder.join("git"), script).unwrap();
    std::fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
    environment.with("PATH", format!("{}:/usr/bin:/bin", folder.display()))
}

#[test]
fn says_that_git_is_too_old() {
    let repo = TestRepo::new();
    let error = wait(Git::open(repo.root(), &old_git(&repo, "2.25.1"))).unwrap_err();
    assert_eq!(error.to_string(), "git 2.25.1 is too old; mala needs 2.31 or newer");
}

#[test]
fn an_old_git_reads_no_attributes_of_the_reviewed_commit() {
    let repo = TestRepo::with_files(&[("a.txt", "a\n")]);
    repo.write("a.txt", "b\n");
    repo.write(".gitattributes", "* -diff linguist-generated\n");
    repo.commit("hide");
    let git = wait(Git::open(repo.root(), &old_git(&repo, "2.34.1"))).unwrap();
    let scoped = wait(git.change(&range("HEAD~1", "HEAD"), &[])).unwrap();
    assert!(show(&scoped).ends_with("M a.txt -1:a +1:b"), "{}", show(&scoped));
}

#[test]
fn asks_the_user_about_folders_of_others() {
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    repo.write("a", "b\n");
    let environment = environment(&repo).with("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let error = wait(Git::open(repo.root(), &environment)).unwrap_err();
    assert!(error.to_string().ends_with("belongs to another user"), "{error}");
    assert!(error.hint().unwrap().contains("safe.directory"));

    // The user's own configuration also applies to later calls.
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    let root = repo.root().display();
    std::fs::write(home.join(".gitconfig"), format!("[safe]\n\tdirectory = {root}\n")).unwrap();
    let git = wait(Git::open(repo.root(), &environment)).unwrap();
    assert_eq!(show(&wait(git.change(&ReviewTarget::WorkingTree, &[])).unwrap()), "M a -1:a +1:b");
}

#[test]
fn a_repository_cannot_claim_other_files() {
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    let home = repo.beside("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("secret"), "key\n").unwrap();
    repo.git(&["config", "core.worktree", repo.beside("").to_str().unwrap()]);
    assert!(
        refusal(&repo, repo.root())
            .starts_with("the repository's configuration sets the work tree")
    );
}

#[test]
fn names_where_it_is_published_without_credentials() {
    let repo = TestRepo::with_files(&[("a", "a\n")]);
    assert_eq!(scope(&repo, ReviewTarget::WorkingTree).scope.repository, None);
    repo.git(&["remote", "add", "origin", "https://me:token@example.org/a/b.git"]);
    let scoped = scope(&repo, ReviewTarget::WorkingTree);
    assert_eq!(scoped.scope.repository.as_deref(), Some("https://example.org/a/b.git"));
}
