//! One sample a language: the uses of `target` and `Target` in it.

use super::*;
use mala_domain::language::Language;

/// Uses as lines: `line kind receiver.name(arguments) in scope, binding`.
fn shown(language: Language, text: &str) -> String {
    let source = Source::parse(language, text).expect("parses");
    let lines: Vec<String> = uses(&source, &["target", "Target"]).iter().map(line).collect();
    lines.join("\n")
}

fn line(found: &SymbolUse) -> String {
    let receiver = found.receiver.as_ref().map(|r| format!("{r}.")).unwrap_or_default();
    let call = found.call.as_ref().map(|call| {
        let mut arguments = vec![call.n_positional.to_string()];
        arguments.extend(call.keywords.iter().map(|name| format!("{name}=")));
        if call.arguments == ArgumentCount::Uncounted {
            arguments.push("..".to_owned());
        }
        format!("({})", arguments.join(" "))
    });
    let within = found.within.as_ref().map(|w| format!(" in {w}")).unwrap_or_default();
    let owner = found.owner.as_ref().map(|o| format!(" of {o}")).unwrap_or_default();
    format!(
        "{} {:?} {receiver}{}{}{within}{owner} {:?}",
        found.line,
        found.kind,
        found.name,
        call.unwrap_or_default(),
        found.binding
    )
}

#[test]
fn python() {
    insta::assert_snapshot!(shown(Language::Python, r#"from m import target
target(1, *rest, key=2)
x = pkg.mod.target(1)
def f(target):
    return target
class A:
    def m(self):
        self.target = 1
        return self.target(1, k=2) + super().target()
    def n(self):
        return [target for target in y] + g(target=1)
try:
    target
except NameError:
    pass
match v:
    case E.target: pass
"target"  # target
@target
def h() -> target: pass
"#), @"
    2 Reads target(1 key= ..) Free
    3 Reads pkg.mod.target(1) Free
    4 Binds target in f Inside
    5 Reads target in f Inside
    8 AssignsMember self.target in A.m of A Free
    9 Reads self.target(1 k=) in A.m of A Free
    9 Reads super().target(0) in A.m of A Free
    11 Reads target in A.n of A Inside
    11 Binds target in A.n of A Inside
    13 Tries target Free
    17 Reads E.target Free
    19 Reads target Free
    20 Reads target in h Free
    ");
}

#[test]
fn javascript() {
    insta::assert_snapshot!(shown(Language::JavaScript, r#"target(1, ...rest);
new Target(1);
ns.target?.(1, 2);
a.b.target;
obj.target = 1;
f({ target: 1 }, { target });
const g = (target) => target;
function h() { const { target } = o; target(); }
export { target };
<Target prop={target} />;
"#), @"
    1 Reads target(1 ..) Free
    2 Reads Target(1) Free
    3 Reads ns.target(2) Free
    4 Reads a.b.target Free
    5 AssignsMember obj.target Free
    6 Reads target Free
    7 Binds target in g Inside
    7 Reads target in g Inside
    8 Binds target in h Inside
    8 Reads target(0) in h Inside
    9 Reads target Free
    10 Reads Target Free
    10 Reads target Free
    ");
}

#[test]
fn typescript() {
    insta::assert_snapshot!(shown(Language::TypeScript, r#"const x: Target<string> = target<number>(1)!;
let y: ns.Target;
class A { target(a: number) { return this.target(1); } }
interface I { target(): void }
function f<T extends Target>(target?: T) { return target; }
"#), @"
    1 Reads Target Free
    1 Reads target(1) Free
    2 Reads ns.Target Free
    3 Reads this.target(1) in A.target of A Free
    5 Reads Target in f Free
    5 Binds target in f Inside
    5 Reads target in f Inside
    ");
}

#[test]
fn rust() {
    insta::assert_snapshot!(shown(Language::Rust, r#"fn f() {
    crate::m::target(1);
    x.target::<u8>(1, 2)?;
    Target::new(1);
    assert_eq!(target(1), self::m::target(2), x.target());
    let v: Target = Target { target: 1 };
    match v { Target::A => 1, target => target }
}
fn g(target: u8) -> u8 { target }
use a::target;
"#), @"
    2 Reads crate.m.target(1) in f Free
    3 Reads x.target(2) in f Free
    4 Reads Target in f Free
    5 Reads target(1) in f Inside
    5 Reads self.m.target(1) in f Free
    5 Reads x.target(0) in f Free
    6 Reads Target in f Free
    6 Reads Target in f Free
    7 Reads Target in f Free
    7 Binds target in f Inside
    7 Reads target in f Inside
    9 Binds target in g Inside
    9 Reads target in g Inside
    ");
}

#[test]
fn go() {
    insta::assert_snapshot!(shown(Language::Go, r#"package p
func f() { target(1, 2); pkg.Target(g()); x.target(a...); var y Target; z := Target{target: 1}; _ = pkg.Target{} }
func h(target int) int { return target }
func (s *S) target() { s.target() }
"#), @"
    2 Reads target(2) in f Free
    2 Reads pkg.Target(1 ..) in f Free
    2 Reads x.target(0 ..) in f Free
    2 Reads Target in f Free
    2 Reads Target in f Free
    2 Reads pkg.Target in f Free
    3 Binds target in h Inside
    3 Reads target in h Inside
    4 Reads s.target(0) in S.target of S Free
    ");
}

#[test]
fn java() {
    insta::assert_snapshot!(shown(Language::Java, r#"class A {
  void m() { target(1); this.target(1, 2); Target.of(1); new Target<>(1); Target t = x.target; List<a.Target> q; f(Target::new); }
  void n(int target) { use(target); }
}
"#), @"
    2 Reads target(1) in A.m of A Free
    2 Reads this.target(2) in A.m of A Free
    2 Reads Target in A.m of A Free
    2 Reads Target(1) in A.m of A Free
    2 Reads Target in A.m of A Free
    2 Reads x.target in A.m of A Free
    2 Reads a.Target in A.m of A Free
    2 Reads Target in A.m of A Free
    3 Binds target in A.n of A Inside
    3 Reads target in A.n of A Inside
    ");
}

#[test]
fn cpp() {
    insta::assert_snapshot!(shown(Language::Cpp, r#"int main() { target(1); ns::target(1, 2); p->target(3); Target t; auto q = new Target(1); x = target; }
int target(int a) { return a; }
void g(int target) { target = 1; }
"#), @"
    1 Reads target(1) in main AtTop
    1 Reads ns.target(2) in main Free
    1 Reads p.target(1) in main Free
    1 Reads Target in main Free
    1 Reads Target(1) in main Free
    1 Reads target in main AtTop
    2 Binds target in target AtTop
    3 Binds target in g Inside
    3 Reads target in g Inside
    ");
}

#[test]
fn ruby() {
    insta::assert_snapshot!(shown(Language::Ruby, r#"target 1, key: 2
self.target(*x)
M::Target.new(1)
def f(target); target; end
"#), @"
    1 Reads target(1 key=) Free
    2 Reads self.target(0 ..) Free
    3 Reads M.Target Free
    4 Binds target in f Inside
    4 Reads target in f Inside
    ");
}

#[test]
fn csharp() {
    insta::assert_snapshot!(shown(Language::CSharp, r#"class A { void M() { target(1, name: 2); this.target(1); Target.Go(); new Target<int>(1); x?.target(3); Target t = null; } }
"#), @"
    1 Reads target(1 name=) in A.M of A Free
    1 Reads this.target(1) in A.M of A Free
    1 Reads Target in A.M of A Free
    1 Reads Target(1) in A.M of A Free
    1 Reads ?.target in A.M of A Free
    1 Reads Target in A.M of A Free
    ");
}

#[test]
fn php() {
    insta::assert_snapshot!(shown(Language::Php, r#"<?php
target(1, name: 2, ...$r);
$o->target(1);
Target::target(1);
new Target(1, 2);
$x = Target::CONST;
function f($target) { return $target; }
"#), @"
    2 Reads target(1 name= ..) Free
    3 Reads o.target(1) Free
    4 Reads Target Free
    4 Reads Target.target(1) Free
    5 Reads Target(2) Free
    6 Reads Target Free
    ");
}
