//! Whole flows through small files, with a rule of the test's own.

use super::*;
use mala_domain::language::Language;

const RULE: &str = r#"
sources: [remote]
source_paths: ["legacy.input()"]
class: test
sinks:
  - call: ["danger", "**.danger"]
    args: ["0", "options.unsafe"]
  - call: ["launch"]
    args: ["0"]
    when: ["shell=true"]
  - write: ["**.innerHTML"]
  - assign: "(?i)password$"
sanitizers: ["clean", "**.clean"]
"#;

/// The 1-based lines of the sinks that a file reaches.
fn lines(language: Language, text: &str) -> Vec<usize> {
    let spec: TaintSpec = serde_saphyr::from_str(RULE).expect("a valid rule");
    let model = language_model(language).expect("a flow file").with_rules(&[&spec]);
    let source = Source::parse(language, text).expect("parses");
    let found = flows(&source, &model.expect("valid paths"));
    found.iter().map(|flow| text[..flow.sink.start].matches('\n').count() + 1).collect()
}

fn check(language: Language, expected: &[usize], text: &str) {
    assert_eq!(lines(language, text), expected, "{text}");
}

/// Statements of a request handler, beginning on line 1.
fn check_handler(expected: &[usize], body: &str) {
    check(Language::JavaScript, expected, &format!("app.get('/', (req, res) => {{ {body} }});"));
}

#[test]
fn values_flow_through_assignments_joins_and_destructuring() {
    check_handler(&[1], "danger(req.query.a)");
    check_handler(&[1], "const a = req.query.a; const b = a; danger('x' + b)");
    check_handler(&[1], "const { a: { b } } = req.query; danger(`x${b}`)");
    check_handler(&[1], "let a = ''; a += req.query.a; danger(a)");
    check_handler(&[1], "const list = []; list.push(req.body.a); danger(list.join())");
    check_handler(&[1], "danger(req.query.a || 'none')");
    check_handler(&[1], "const o = {}; o.a = req.query.a; danger(o.a)");
    check_handler(&[], "const o = {}; o.a = req.query.a; danger(o.b)");
    check_handler(&[], "let a = req.query.a; a = 'x'; danger(a)");
    check_handler(&[], "danger(req.query.a.length)");
}

#[test]
fn calls_of_functions_in_the_file_are_followed() {
    let helper = "function join(a, b) { return a + b; }\n";
    let text =
        format!("{helper}app.get('/', (req, res) => {{\n  danger(join('x', req.query.a));\n}});");
    check(Language::JavaScript, &[3], &text);
    let text =
        "function run(sql) {\n  danger(sql);\n}\napp.get('/', (req, res) => run(req.query.a));";
    check(Language::JavaScript, &[2], text);
    check_handler(&[], "danger(unknown(req.query.a))");
}

#[test]
fn callbacks_get_what_is_passed_on() {
    check_handler(&[1], "req.body.items.forEach((item) => danger(item.name))");
    check_handler(&[1], "req.json().then((data) => danger(data))");
    check_handler(&[1], "req.json().then((data) => data.a).then((a) => danger(a))");
}

#[test]
fn sanitizers_and_guards_make_values_harmless() {
    check_handler(&[], "danger(clean(req.query.a))");
    check_handler(&[], "danger(parseInt(req.query.a))");
    check_handler(&[], "const a = req.query.a; if (allowed.includes(a)) danger(a)");
    check_handler(&[], "const a = req.query.a; if (!allowed.has(a)) return; danger(a)");
    check_handler(&[], "if (req.query.a === 'x') danger(req.query.a)");
    check_handler(&[1], "if (req.query.a !== 'x') danger(req.query.a)");
    check_handler(&[1], "const a = req.query.a; if (a.indexOf('x') > -1) danger(a)");
    check_handler(
        &[1],
        "let a = req.query.a; if (!allowed.has(a)) return; a = req.query.b; danger(a)",
    );
}

#[test]
fn fields_conditions_writes_and_names_are_sinks() {
    check_handler(&[1], "element.innerHTML = req.query.a");
    check_handler(&[1], "const oldPassword = req.query.a");
    check_handler(&[1], "save({ password: req.query.a })");
    check_handler(&[], "const word = req.query.a; danger('x', word)");
    check(Language::JavaScript, &[1], "danger(legacy.input())");
}

#[test]
fn python_is_followed_too() {
    let view = |body: &str| format!("def view(request):\n{body}");
    let all = [
        (vec![2], "    danger(request.GET['a'])"),
        (vec![3], "    name = request.GET.get('a')\n    danger(f'x {name}')"),
        (vec![2], "    danger('x %s' % request.GET['a'])"),
        (vec![2], "    danger('x {}'.format(request.GET['a']))"),
        (vec![2], "    danger(options={}, *request.GET['a'])"),
        (vec![2], "    launch(request.GET['a'], shell=True)"),
        (vec![], "    launch(request.GET['a'])"),
        (vec![], "    danger(int(request.GET['a']))"),
        (
            vec![],
            "    a = request.GET['a']\n    if a not in ALLOWED:\n        raise Http404\n    danger(a)",
        ),
        (vec![3], "    for a in request.GET['a']:\n        danger(a)"),
        (vec![2], "    danger([a for a in request.GET['a']][0])"),
    ];
    for (expected, body) in all {
        check(Language::Python, &expected, &view(body));
    }
}

#[test]
fn deep_and_long_files_end() {
    let deep = format!("danger({}1{});", "(".repeat(3_000), ")".repeat(3_000));
    check(Language::JavaScript, &[], &deep);
    let calls =
        "function f(a) { return f(f(a)) + f(a); }\napp.get('/', (req, res) => f(req.query.a));";
    check(Language::JavaScript, &[], calls);
}
