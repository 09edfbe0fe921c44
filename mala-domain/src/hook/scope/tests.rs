//! One table of histories, and the work that each of them has.

use super::*;

const ME: &str = "me@example.com";

/// A commit as `id parent,parent committer`.
fn commit(text: &str) -> NewCommit {
    let mut words = text.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let (id, parents) = (word().to_owned(), word());
    let parents = parents.split(',').filter(|it| *it != "-").map(str::to_owned).collect();
    let committer = if word() == "me" { ME.to_owned() } else { "other@example.com".to_owned() };
    NewCommit { id, parents, committer }
}

fn state(files: &[(&str, &str)]) -> RepositoryState {
    let files = files.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned()));
    RepositoryState {
        trees: BTreeMap::from([("/tree".to_owned(), files.collect())]),
        users: BTreeSet::from([ME.to_owned()]),
        ..RepositoryState::default()
    }
}

/// The parts as `branch:tip<bases`.
fn parts(scope: &HookScope) -> Vec<String> {
    let shown = |part: &WorkPart| {
        let branch = part.branch.as_deref().unwrap_or("HEAD");
        format!("{branch}:{}<{}", part.tip.as_deref().unwrap_or("-"), part.bases.join("+"))
    };
    scope.parts.iter().map(shown).collect()
}

#[test]
fn the_work_is_what_this_user_committed_since_the_start() {
    for (what, commits, head, branches, expected) in [
        ("nothing", &[][..], "s", &["main=s"][..], &[][..]),
        ("two commits", &["a s me", "b a me"], "b", &["main=b"], &["HEAD:b<s"]),
        ("a pull", &["a s other", "b a other"], "b", &["main=b"], &[]),
        ("own work after a pull", &["a s other", "b a me"], "b", &["main=b"], &["HEAD:b<a"]),
        ("another branch", &["a s me"], "s", &["main=s", "topic=a"], &["topic:a<s"]),
        ("two branches", &["a s me", "b s me"], "a", &["x=a", "y=b"], &["HEAD:a<s", "y:b<s"]),
        ("a branch on top", &["a s me", "b a me"], "a", &["x=a", "y=b"], &["y:b<s"]),
        ("a branch below", &["a s me", "b a me"], "b", &["x=a", "y=b"], &["HEAD:b<s"]),
        ("one commit, two branches", &["a s me"], "s", &["x=a", "y=a"], &["x:a<s"]),
        ("a merge of what was there", &["m s,t me"], "m", &["main=m"], &["HEAD:m<s+t"]),
        (
            "a merge of what others made since",
            &["o s other", "a s me", "m a,o me"],
            "m",
            &["main=m"],
            &["HEAD:m<o+s"],
        ),
        ("others on top of own", &["a s me", "o a other"], "o", &["main=o"], &["HEAD:o<s"]),
        ("a new root", &["r - me"], "r", &["fresh=r"], &["HEAD:r<"]),
        ("detached", &["a s me"], "a", &["main=s"], &["HEAD:a<s"]),
    ] {
        let pair = |text: &&str| {
            let (name, tip) = text.split_once('=').unwrap_or_default();
            (name.to_owned(), tip.to_owned())
        };
        let stop = StopState {
            state: state(&[]),
            head: Some(head.to_owned()),
            branches: branches.iter().map(pair).collect(),
            new_commits: commits.iter().map(|text| commit(text)).collect(),
        };
        assert_eq!(parts(&scope(&[&state(&[])], &stop)), expected, "{what}");
    }
}

#[test]
fn files_are_work_when_they_changed_since_the_start() {
    let start = state(&[("a", "1"), ("b", "1")]);
    let accepted = state(&[("c", "3")]);
    for (files, expected, unchanged) in [
        (&[][..], &[][..], &[][..]),
        (&[("a", "1")], &[], &["a"]),
        (&[("a", "1"), ("b", "1"), ("c", "3")], &[], &["a", "b", "c"]),
        (&[("a", "2")], &["HEAD:s<s"], &[]),
        (&[("a", "1"), ("new", "1")], &["HEAD:s<s"], &["a"]),
    ] {
        let stop =
            StopState { state: state(files), head: Some("s".to_owned()), ..StopState::default() };
        let found = scope(&[&start, &accepted], &stop);
        assert_eq!(parts(&found), expected, "{files:?}");
        assert!(found.unchanged_files.iter().eq(unchanged), "{files:?}");
    }
    let stop = StopState { state: state(&[("a", "2")]), ..StopState::default() };
    assert_eq!(parts(&scope(&[&start], &stop)), ["HEAD:-<"], "before the first commit");
}

#[test]
fn files_of_one_work_tree_say_nothing_about_another() {
    let one = state(&[("a", "1")]);
    let files = BTreeMap::from([("a".to_owned(), "1".to_owned())]);
    let other = RepositoryState {
        trees: BTreeMap::from([("/linked".to_owned(), files)]),
        ..RepositoryState::default()
    };
    let at = |state: &RepositoryState| StopState {
        state: state.clone(),
        head: Some("s".to_owned()),
        ..StopState::default()
    };
    assert_eq!(parts(&scope(&[&one], &at(&other))), ["HEAD:s<s"]);
    let both = one.followed_by(&other);
    for state in [&one, &other] {
        assert!(scope(&[&both], &at(state)).parts.is_empty(), "both were looked at");
    }
}

#[test]
fn without_a_known_user_every_new_commit_is_work() {
    let stop = StopState {
        head: Some("a".to_owned()),
        new_commits: vec![commit("a s other")],
        ..StopState::default()
    };
    assert_eq!(parts(&scope(&[&RepositoryState::default()], &stop)), ["HEAD:a<s"]);
}

#[test]
fn a_user_who_changes_the_address_is_the_same_user() {
    let renamed = RepositoryState {
        users: BTreeSet::from(["other@example.com".to_owned()]),
        ..RepositoryState::default()
    };
    let stop = StopState {
        state: renamed,
        head: Some("b".to_owned()),
        new_commits: vec![commit("a s me"), commit("b a other")],
        ..StopState::default()
    };
    assert_eq!(parts(&scope(&[&state(&[])], &stop)), ["HEAD:b<s"]);
}
