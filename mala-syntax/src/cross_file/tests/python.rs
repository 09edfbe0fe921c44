//! Python.

use super::check;

const HELPERS: &str = "== pkg/__init__.py
== pkg/helpers.py
def compute(a, b=1):
    return a

def other():
    return 2
";

fn with(rest: &str) -> String {
    format!("{HELPERS}{rest}")
}

fn without_compute(rest: &str) -> String {
    format!("== pkg/__init__.py\n== pkg/helpers.py\ndef other():\n    return 2\n{rest}")
}

#[test]
fn a_removed_function_is_reported_at_its_caller() {
    for (caller, line) in [
        ("from pkg.helpers import compute\n\ndef go():\n    return compute(1)\n", 4),
        ("from .helpers import compute as c\n\ndef go():\n    return c(1)\n", 4),
        ("from . import helpers\n\ndef go():\n    return helpers.compute(1)\n", 4),
        ("import pkg.helpers\n\ndef go():\n    return pkg.helpers.compute(1)\n", 4),
        ("import pkg.helpers as h\n\ndef go():\n    return h.compute(1)\n", 4),
        ("import pkg\n\ndef go():\n    return pkg.helpers.compute(1)\n", 4),
        ("from .helpers import *\n\ndef go():\n    return compute(1)\n", 4),
    ] {
        let user = format!("== pkg/user.py\n{caller}");
        let verb = "`compute` no longer exists, but is still called here";
        let expected = format!("pkg/user.py:{line} removed-symbol P2 {verb}");
        check(&with(&user), &without_compute(&user), &[&expected]);
    }
}

#[test]
fn an_import_without_a_use_is_reported_too() {
    let user = "== pkg/user.py\nfrom pkg.helpers import compute\n";
    check(
        &with(user),
        &without_compute(user),
        &["pkg/user.py:1 removed-symbol P2 `compute` no longer exists, but is still imported here"],
    );
}

#[test]
fn nothing_is_said_when_the_callers_are_updated() {
    let before = "== pkg/user.py\nfrom pkg.helpers import compute\nprint(compute(1))\n";
    let after = "== pkg/user.py\nfrom pkg.helpers import other\nprint(other())\n";
    check(&with(before), &without_compute(after), &[]);
}

#[test]
fn nothing_is_said_of_what_only_looks_like_a_use() {
    for user in [
        "from elsewhere import compute\nprint(compute(1))\n",
        "def compute(a):\n    return a\nprint(compute(1))\n",
        "from pkg.helpers import other\ndef f(compute):\n    return compute(other())\n",
        "# compute(1)\nx = 'compute(1)'\n",
        "try:\n    from pkg.helpers import compute\nexcept ImportError:\n    compute = None\n",
        "thing.compute(1)\n",
        "f(compute=1)\n",
        "def go():\n    return compute(1)\n",
    ] {
        let user = format!("== pkg/user.py\n{user}");
        check(&with(&user), &without_compute(&user), &[]);
    }
}

#[test]
fn a_rename_names_the_successor() {
    let user = "== pkg/user.py\nfrom pkg.helpers import compute\nprint(compute(1))\n";
    let head = with(user).replacen("def compute(", "def compute_all(", 1);
    check(
        &with(user),
        &head,
        &[
            "pkg/user.py:2 removed-symbol P2 `compute` is now `compute_all`, but is still called here",
        ],
    );
}

#[test]
fn names_that_stay_reachable_are_not_removed() {
    let user = "== pkg/user.py\nfrom pkg.helpers import compute\nprint(compute(1))\n";
    for helpers in [
        "from .core import compute\n",
        "from .core import *\n",
        "compute = None\n",
        "if True:\n    compute = 1\nelse:\n    def compute(a): pass\n",
        "def __getattr__(name):\n    return 1\n",
        "class compute:\n    pass\n",
    ] {
        let head = format!(
            "== pkg/__init__.py\n== pkg/helpers.py\n{helpers}{user}== pkg/core.py\ndef compute(a): pass\n"
        );
        let found = super::broken(&with(user), &head);
        assert!(found.iter().all(|line| !line.contains("removed-symbol")), "{helpers}: {found:?}");
    }
}

#[test]
fn a_move_names_the_new_file() {
    let user = "== pkg/user.py\nfrom pkg.helpers import compute\nprint(compute(1))\n";
    let head =
        format!("{}== pkg/core.py\ndef compute(a, b=1):\n    return a\n", without_compute(user));
    check(
        &with(user),
        &head,
        &[
            "pkg/user.py:2 removed-symbol P2 `compute` moved to `pkg/core.py`, but is still called here",
        ],
    );
    let updated = head.replace("from pkg.helpers import", "from pkg.core import");
    check(&with(user), &updated, &[]);
}

#[test]
fn a_package_passes_names_on() {
    let rest = "== pkg/__init__.py\nfrom .helpers import compute\n== app.py\nfrom pkg import compute\nprint(compute(1))\n";
    let base = format!("{HELPERS}{rest}").replacen("== pkg/__init__.py\n", "", 1);
    let head = base.replacen("def compute(", "def renamed_all(", 1);
    check(
        &base,
        &head,
        &[
            "app.py:2 removed-symbol P2 `compute` is now `renamed_all`, but is still called here",
            "pkg/__init__.py:1 removed-symbol P2 `compute` is now `renamed_all`, but is still imported here",
        ],
    );
}

#[test]
fn leftovers_in_the_same_file_are_reported() {
    let base = "== a.py\ndef compute(a):\n    return a\n\ndef go():\n    return compute(1)\n";
    let head = "== a.py\ndef go():\n    return compute(1)\n";
    check(
        base,
        head,
        &["a.py:2 removed-symbol P2 `compute` no longer exists, but is still called here"],
    );
}

#[test]
fn a_required_parameter_breaks_stale_callers() {
    let user = "== pkg/user.py\nfrom pkg.helpers import compute\ncompute(1)\ncompute(1, 2)\ncompute(1, b=2)\ncompute(*x)\n";
    let changed = |signature: &str| with(user).replacen("def compute(a, b=1)", signature, 1);
    check(
        &with(user),
        &changed("def compute(a, b, c)"),
        &[
            "pkg/user.py:2 changed-signature P2 This call of `compute` does not pass `b`, which it now needs",
            "pkg/user.py:3 changed-signature P2 This call of `compute` does not pass `c`, which it now needs",
            "pkg/user.py:4 changed-signature P2 This call of `compute` does not pass `c`, which it now needs",
        ],
    );
    check(
        &with(user),
        &changed("def compute(a, size=1)"),
        &[
            "pkg/user.py:4 changed-signature P2 This call passes `b`, but `compute` no longer takes it",
        ],
    );
    check(
        &with(user),
        &changed("def compute(a)"),
        &[
            "pkg/user.py:3 changed-signature P2 This call passes 2 arguments, but `compute` now takes 1",
            "pkg/user.py:4 changed-signature P2 This call passes `b`, but `compute` no longer takes it",
        ],
    );
    check(
        &with(user),
        &changed("def compute(b, a)"),
        &[
            "pkg/user.py:2 changed-signature P2 This call of `compute` does not pass `a`, which it now needs",
            "pkg/user.py:3 changed-signature P2 This call passes `compute` its `a` as `b`",
            "pkg/user.py:4 changed-signature P2 This call of `compute` does not pass `a`, which it now needs",
        ],
    );
    for fine in ["def compute(a, b=1, c=2)", "def compute(a, *b, **c)", "def compute(a, b=5)"] {
        check(&with(user), &changed(fine), &[]);
    }
    let decorated = changed("@click.command()\ndef compute(a, b, c)");
    check(&with(user), &decorated, &[]);
}

#[test]
fn constructors_are_called_by_the_name_of_their_class() {
    let base = "== m.py\nclass Job:\n    def __init__(self, name):\n        self.name = name\n== user.py\nfrom m import Job\nJob('x')\n";
    let head = base.replacen("(self, name)", "(self, name, queue)", 1);
    check(
        base,
        &head,
        &[
            "user.py:2 changed-signature P2 This call of `Job` does not pass `queue`, which it now needs",
        ],
    );
}

const CLASS: &str = "== m.py
class Store:
    LIMIT = 3

    def load_cache(self, key):
        return key

    def go(self):
        return self.load_cache(1)
";

#[test]
fn methods_are_known_by_their_class_by_self_or_by_their_lone_name() {
    let user = "== user.py\nfrom m import Store\nStore.load_cache(s, 1)\nprint(Store.LIMIT)\n\ndef f(store):\n    return store.load_cache(1)\n";
    let base = format!("{CLASS}{user}");
    let head = base.replacen("load_cache(self, key)", "fetch_cache(self, key)", 1);
    check(
        &base,
        &head,
        &[
            "m.py:8 removed-symbol P2 `Store.load_cache` is now `fetch_cache`, but is still called here",
            "user.py:2 removed-symbol P2 `Store.load_cache` is now `fetch_cache`, but is still called here",
        ],
    );
    let alone = format!(
        "{CLASS}== user.py\nfrom m import Store\n\ndef f(store):\n    return store.load_cache(1)\n"
    );
    let head = alone.replacen("load_cache(self, key)", "fetch_cache(self, key)", 1).replacen(
        "self.load_cache(1)",
        "self.fetch_cache(1)",
        1,
    );
    check(
        &alone,
        &head,
        &[
            "user.py:4 removed-symbol P2 `Store.load_cache` is now `fetch_cache`, but is still called here",
        ],
    );
    let other = format!("{head}== other.py\nclass Other:\n    def load_cache(self, key): pass\n");
    let base = format!("{alone}== other.py\nclass Other:\n    def load_cache(self, key): pass\n");
    check(&base, &other, &[]);
}

#[test]
fn members_that_a_base_class_may_have_are_not_reported() {
    let base = "== m.py\nclass Store(Base):\n    def load_cache(self, key):\n        return key\n\n    def go(self):\n        return self.load_cache(1)\n";
    let head =
        "== m.py\nclass Store(Base):\n    def go(self):\n        return self.load_cache(1)\n";
    check(base, head, &[]);
}

#[test]
fn constants_and_enum_members_are_found_through_their_class() {
    let base = "== m.py\nfrom enum import Enum\n\nclass Color(Enum):\n    RED = 1\n    BLUE = 2\n== user.py\nfrom m import Color\n\ndef f():\n    return Color.BLUE\n";
    let head = base.replacen("    BLUE = 2\n", "", 1);
    check(
        base,
        &head,
        &["user.py:4 removed-symbol P2 `Color.BLUE` no longer exists, but is still used here"],
    );
}

#[test]
fn imports_of_moved_and_deleted_modules_are_reported() {
    let user = "== pkg/user.py\nfrom .helpers import other\n== app.py\nfrom pkg import helpers\n";
    let base = with(user);
    let moved = base.replacen("== pkg/helpers.py", "== pkg/tools.py", 1);
    check(
        &base,
        &moved,
        &[
            "app.py:1 unresolved-import P2 `pkg` is imported here, but `pkg/helpers.py` is gone",
            "pkg/user.py:1 unresolved-import P2 `.helpers` is imported here, but `pkg/helpers.py` is gone",
        ],
    );
    let named_alike = "== pkg/logging.py\nx = 1\n== pkg/a.py\nimport logging\n";
    check(named_alike, &named_alike.replacen("pkg/logging", "pkg/settings", 1), &[]);
    let package = base.replacen("== pkg/helpers.py", "== pkg/helpers/__init__.py", 1);
    check(&base, &package, &[]);
    let twice = "== srv/run.py\nx = 1\n== tests/srv/run.py\nx = 1\n== tests/test_a.py\nfrom srv.run import x\n";
    let once = twice.replacen("== srv/run.py\nx = 1\n", "", 1);
    check(twice, &once, &[]);
    let updated = moved.replace(".helpers", ".tools").replace("import helpers", "import tools");
    check(&base, &updated, &[]);
}

#[test]
fn an_added_import_must_lead_somewhere() {
    let base = "== pkg/a.py\nx = 1\n";
    check(
        base,
        "== pkg/a.py\nfrom .missing import y\nx = 1\n",
        &["pkg/a.py:1 unresolved-import P2 `.missing` leads to no file"],
    );
    for fine in [
        "from ._version import y\n",
        "from .packages.six.moves import y\n",
        "from elsewhere import y\n",
        "try:\n    from .missing import y\nexcept ImportError:\n    y = 1\n",
        "from . import y\n",
    ] {
        check(base, &format!("== pkg/a.py\n{fine}"), &[]);
    }
}

#[test]
fn stubs_promise_nothing_of_their_own() {
    let base = "== m.py\ndef compute(): pass\n== m.pyi\ndef compute(): ...\n== user.py\nfrom m import compute\ncompute()\n";
    check(base, &base.replacen("def compute(): ...\n", "", 1), &[]);
}

#[test]
fn a_concrete_class_may_have_what_the_abstract_one_calls() {
    let base = "== m.py\nclass Store:\n    def send_file(self):\n        pass\n\n    def go(self):\n        return self.send_file()\n";
    let head = "== m.py\nclass Store:\n    def go(self):\n        return self.send_file()\n== n.py\nfrom m import Store\n\nclass FileStore(Store):\n    def send_file(self):\n        pass\n";
    check(base, head, &[]);
}

#[test]
fn stale_calls_in_the_same_file_are_reported() {
    let base = "== a.py\ndef compute(a):\n    return a\n\ndef go():\n    return compute(1)\n";
    let head = base.replacen("compute(a)", "compute(a, b)", 1);
    check(
        base,
        &head,
        &[
            "a.py:5 changed-signature P2 This call of `compute` does not pass `b`, which it now needs",
        ],
    );
}

#[test]
fn a_call_that_was_edited_was_looked_at() {
    let base = "== a.py\ndef draw(shape, color=None):\n    pass\n\ndraw(\n    1,\n    2,\n)\n";
    let head = "== a.py\ndef draw(color, shape=None):\n    pass\n\ndraw(\n    two,\n    2,\n)\n";
    check(base, head, &[]);
}

#[test]
fn a_base_class_may_set_what_a_class_declared() {
    let base = "== base.py\nclass Base:\n    def __init__(self):\n        self.root_path = 1\n== app.py\nfrom base import Base\nclass App(Base):\n    root_path = None\n    def f(self):\n        return self.root_path\n";
    check(base, &base.replacen("    root_path = None\n", "", 1), &[]);
}

#[test]
fn a_cause_with_many_places_is_told_of_at_the_first() {
    let user = |n: usize| format!("== u{n}.py\nfrom lib import lonely_name\nlonely_name()\n");
    let users: String = (0..5).map(user).collect();
    let test = "== tests/test_u.py\nfrom lib import lonely_name\nlonely_name()\n";
    let base = format!("== lib.py\ndef lonely_name():\n    pass\n{test}{users}");
    let head = base.replace("def lonely_name():\n    pass\n", "x = 1\n");
    let found = super::broken(&base, &head);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|it| !it.starts_with("tests/")), "{found:?}");
}

#[test]
fn a_package_may_become_a_module() {
    let user = "== app/user.py\nfrom app.paths import ROOT_PATH\nprint(ROOT_PATH)\n";
    check(
        &format!("== app/paths/__init__.py\nROOT_PATH = 'x'\n{user}"),
        &format!("== app/paths.py\nROOT_PATH = 'y'\n{user}"),
        &[],
    );
}

#[test]
fn a_class_may_be_made_by_a_call() {
    let user = "== user.py\nfrom runner import Runner\nRunner().start_all()\n";
    let base = "== runner.py\nclass Runner:\n    def start_all(self):\n        pass\n";
    let head = "== runner.py\nclass Base:\n    def start_all(self):\n        pass\nRunner = make('Runner', Base)\n";
    check(&format!("{base}{user}"), &format!("{head}{user}"), &[]);
}

#[test]
fn a_package_wins_over_a_module_of_the_same_name() {
    let package =
        "== cps/__init__.py\nfrom .web import main\n== cps/web.py\ndef main():\n    pass\n";
    let user = "== user.py\nfrom cps import main\nmain()\n";
    let base = format!("== cps.py\ndef main():\n    pass\n{package}{user}");
    let head = format!("== cps.py\nimport sys\n{package}{user}");
    check(&base, &head, &[]);
    let imports = |text: &str| text.replacen("import main\nmain", "import Server\nServer", 1);
    let with_server = base.replacen("def main", "class Server:\n    pass\n\ndef main", 1);
    check(
        &with_server,
        &imports(&with_server),
        &[
            "user.py:1 unresolved-import P2 `Server` is imported here, but `cps/__init__.py` has no such name",
        ],
    );
}
