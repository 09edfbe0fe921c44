//! One sample a language: what its outline lists.

use super::*;
use crate::symbols::{DefinitionRole, ParameterPassing, ParameterPresence, Visibility};

/// An outline as lines: `kind qualified(parameters) lines marks`.
fn shown(language: Language, text: &str) -> String {
    let outline = FileOutline::of(&Source::parse(language, text).expect("parses"));
    let mut lines = Vec::new();
    if let Some(package) = &outline.package {
        lines.push(format!("package {package}"));
    }
    for import in &outline.imports {
        let mut line =
            format!("import {:?} of {} as {}", import.imported, import.module, import.local);
        if import.guard == crate::symbols::ImportGuard::Guarded {
            line.push_str(" guarded");
        }
        if import.reach == crate::symbols::ImportReach::PassedOn {
            line.push_str(" passed on");
        }
        lines.push(line);
    }
    for export in &outline.exports {
        let from = export.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        lines.push(format!("export {} = {}{from}", export.name, export.local));
    }
    lines.extend(outline.definitions.iter().map(definition));
    if outline.openness == Openness::Open {
        lines.push("open".to_owned());
    }
    lines.join("\n")
}

fn definition(definition: &Definition) -> String {
    let mut line = format!("{} {}", definition.kind.name(), definition.qualified());
    if let Some(parameters) = &definition.parameters {
        let parameters: Vec<String> = parameters.iter().map(parameter).collect();
        line.push_str(&format!("({})", parameters.join(", ")));
    }
    line.push_str(&format!(" {}", definition.span));
    if definition.visibility != Visibility::Exported {
        line.push_str(&format!(" {:?}", definition.visibility));
    }
    if definition.role != DefinitionRole::Defines {
        line.push_str(&format!(" {:?}", definition.role));
    }
    for (mark, values) in [
        ("members", &definition.members),
        ("bases", &definition.bases),
        ("on", &definition.decorators),
    ] {
        if !values.is_empty() {
            line.push_str(&format!(" {mark}:{}", values.join(",")));
        }
    }
    line
}

fn parameter(parameter: &super::super::FunctionParameter) -> String {
    let mark = match parameter.kind {
        ParameterPassing::Positional => "",
        ParameterPassing::PositionalOnly => "/",
        ParameterPassing::KeywordOnly => ":",
        ParameterPassing::Variadic => "*",
        ParameterPassing::Keywords => "**",
        ParameterPassing::Receiver => "@",
    };
    let optional = if parameter.presence == ParameterPresence::Optional { "?" } else { "" };
    format!("{mark}{}{optional}", parameter.name)
}

#[test]
fn python() {
    insta::assert_snapshot!(shown(Language::Python, r#"from ..a.b import c as d, e
import x.y as z, w
from m import *
try:
    import fast
except ImportError:
    fast = None

LIMIT = 3
one, (two, three) = 1, (2, 3)

@dec(1)
class A(pkg.B, Generic[T], metaclass=M):
    X = 1
    y: int = 2

    @staticmethod
    def s(a, b=1): pass

    async def f(self, a, /, b: int, c=1, d: str = "x", *args: int, e, f=2, **kw) -> int:
        def inner(q): pass
        local = 1
        return self.g(1)

    def only(self, *, key): pass

def g(): pass
"#), @r#"
    import Name("c") of ..a.b as d
    import Name("e") of ..a.b as e
    import Module of x.y as z
    import Module of w as w
    import All of m as *
    import Module of fast as fast guarded
    variable fast 7
    constant LIMIT 9
    variable one 10
    variable two 10
    variable three 10
    class A 12-25 bases:B,Generic on:dec
    variable A.X 14
    variable A.y 15
    method A.s(a, b?) 17-18 on:staticmethod
    method A.f(@self, /a, b, c?, d?, *args?, :e, :f?, **kw?) 20-23
    function A.f.inner(q) 21 Local
    method A.only(@self, :key) 25
    function g() 27
    "#);
}

#[test]
fn javascript() {
    insta::assert_snapshot!(shown(Language::JavaScript, r#"import def, { a as b } from './m';
import * as ns from './n';
const { r, s: s2 } = require('./r');
const foo = require('./q').foo;
exports.a = function (x, y = 1, {z}, ...r) {};
module.exports.b = 1;
Foo.prototype.bar = function (q) {};
const api = { get(u) {}, post: (v) => v, url: 'x', ...more };
class A extends B { f = 1; static m(a) { const inner = () => 1; } }
export { api as default, foo as other } from './x';
export * from './y';
export const one = (a) => a, two = 2;
function hidden() {}
app.use(function named(a) {}, { method() {} });
"#), @r#"
    import Default of ./m as def
    import Name("a") of ./m as b
    import Module of ./n as ns
    import Name("r") of ./r as r
    import Name("s") of ./r as s2
    import Name("foo") of ./q as foo
    export a = a
    export b = b
    export default = api from ./x
    export other = foo from ./x
    export * = * from ./y
    export one = one
    export two = two
    variable r 3 Internal
    variable s2 3 Internal
    variable foo 4 Internal
    function a(x, y?, , *r?) 5
    variable b 6
    method Foo.bar(q) 7 Internal
    variable api 8 Internal bases:...more
    method api.get(u) 8 Internal
    method api.post(v) 8 Internal
    variable api.url 8 Internal
    class A 9 Internal bases:B
    variable A.f 9
    method A.m(a) 9
    function A.m.inner() 9 Local
    function one(a) 12
    variable two 12
    function hidden() 13 Internal
    method method() 14 Local
    "#);
}

#[test]
fn typescript() {
    insta::assert_snapshot!(shown(Language::TypeScript, r#"import type { T } from './t';
import eq = require('./q');
export default function foo(this: X, a: number, b?: string, c = 1, ...d: any[]): void {}
export type K = 'a' | 'b' | 'c';
export type Mixed = 'a' | Other;
export enum E { A, B = 'x' }
export interface I extends J { m(a: string): void; p?: string }
export abstract class Cl<T> extends Base<T> implements I {
  constructor(private x: number) { super(x); }
  static s = 1;
  override m(a?: string) { this.m(a); }
  private f = (z: number) => 1;
  abstract q(): void;
}
function over(a: string): void;
function over(a: any) {}
namespace N { export function inner() {} }
export { over };
"#), @r#"
    import Name("T") of ./t as T
    import Module of ./q as eq
    export default = foo
    export K = K
    export Mixed = Mixed
    export E = E
    export I = I
    export Cl = Cl
    export over = over
    function foo(a, b?, c?, *d?) 3
    type K 4
    type Mixed 5
    enum E 6 members:A,B
    constant E.A 6
    constant E.B 6
    interface I 7 bases:J
    method I.m(a) 7
    variable I.p 7
    class Cl 8-14 bases:I,Base
    method Cl.constructor(x) 9
    variable Cl.s 10
    method Cl.m(a?) 11 Implements
    method Cl.f(z) 12
    method Cl.q() 13
    function over(a) 15 Declares
    function over(a) 16
    module N 17 Internal
    function N.inner() 17
    "#);
}

#[test]
fn rust() {
    insta::assert_snapshot!(shown(Language::Rust, r#"use crate::a::{b, c as d, e::*, self};
pub use m::n;
pub mod inner;
#[cfg(test)]
mod tests { use super::*; #[test] fn t() {} }
pub async fn f<T>(a: &T, mut b: i32, (c, d): (i32, i32)) {}
impl<T> Tr for S<T> { fn m(&self, x: u8) {} }
impl a::S { pub fn new() -> Self { fn helper() {} } fn private(&mut self) {} }
#[derive(Debug)]
pub enum E { A, B(i32), C { x: i32 } }
pub struct P { pub x: i32 }
pub trait Q: Z { fn req(&self); fn def(&self) {} }
macro_rules! mm { () => {} }
pub(crate) const C: i32 = 1; static ST: i32 = 2; type A = B;
lazy_static! { static ref HIDDEN: i32 = 1; }
"#), @r#"
    import Name("a") of crate as a
    import All of crate::a::e as *
    import Name("c") of crate::a as d
    import Name("b") of crate::a as b
    import Name("n") of m as n passed on
    import Submodule("inner") of self as inner
    import All of super as *
    module inner 3
    module tests 5 Internal on:cfg(test)
    function tests.t() 5 Internal on:test
    function f(a, b, ) 6
    method S.m(@, x) 7 Internal Implements
    method S.new() 8
    function S.new.helper() 8 Local
    method S.private(@) 8 Internal
    enum E 10 members:A,B,C on:derive(Debug)
    constant E.A 10
    constant E.B 10
    constant E.C 10
    struct P 11
    interface Q 12 bases:Z
    method Q.req(@) 12
    method Q.def(@) 12
    macro mm 13
    constant C 14
    constant ST 14 Internal
    type A 14 Internal
    "#);
}

#[test]
fn go() {
    insta::assert_snapshot!(shown(Language::Go, r#"package foo
import "fmt"
import ( a "x/y"; . "z"; _ "q" )
type S struct { A, B int; *Emb }
type I interface { M(a int) string; Other }
type Al = S
type E int
const ( X E = iota; Y; Z )
const P, Q = 1, 2
var v, w int = 1, 2
func f(a, b int, c ...string) (int, error) { var local = 1; return 1 }
func (s *S[T]) M(int, string) {}
func Gen[T any](t T) {}
"#), @"
    package foo
    import Module of fmt as fmt
    import Module of x/y as a
    import All of z as *
    import Module of q as 
    struct S 4 bases:Emb
    variable S.A 4
    variable S.B 4
    interface I 5 bases:Other
    method I.M(a) 5
    type Al 6
    type E 7
    constant X 8
    constant Y 8
    constant Z 8
    constant P 9
    constant Q 9
    variable v 10 Internal
    variable w 10 Internal
    function f(a, b, *c?) 11 Internal
    method S.M(, ) 12
    function Gen(t) 13
    ");
}

#[test]
fn java() {
    insta::assert_snapshot!(shown(Language::Java, r#"package a.b;
import c.D;
import static c.D.e;
import c.*;
@Ann public class A<T> extends B implements I, J {
  private static final int X = 1, Y;
  public A(int a) { int local = 1; }
  @Override public void m(final int a, String... r) {}
  enum E { P, Q(1) { void z() {} }; int f; E(int x) {} }
  interface N { void r(int a); }
  record R(int a) {}
}
"#), @r#"
    package a.b
    import Name("D") of c as D
    import Name("e") of c.D as e
    import All of c as *
    class A 5-12 bases:B,I,J on:Ann
    variable A.X 6 Internal
    variable A.Y 6 Internal
    method A.A(a) 7
    method A.m(a, *r?) 8 Implements on:Override
    enum A.E 9 members:P,Q
    constant A.E.P 9
    constant A.E.Q 9
    method A.E.z() 9
    variable A.E.f 9
    method A.E.E(x) 9
    interface A.N 10
    method A.N.r(a) 10
    struct A.R(a) 11
    "#);
}

#[test]
fn c() {
    insta::assert_snapshot!(shown(Language::C, r#"#include "x.h"
#include <stdio.h>
#define MAC(a) a
#define K 1
struct S { int a; };
enum E { ONE, TWO };
typedef struct S S_t;
static inline int f(int a, void (*cb)(int), ...) { int local; return 1; }
int g(void);
char *h(char *p) { return p; }
extern int e;
int global = 1;
"#), @"
    macro MAC 3
    macro K 4
    struct S 5
    variable S.a 5
    enum E 6 members:ONE,TWO
    constant ONE 6
    constant TWO 6
    type S_t 7
    function f(a, , *?) 8 Internal
    function g() 9 Declares
    function h(p) 10
    variable e 11 Declares
    variable global 12
    ");
}

#[test]
fn cpp() {
    insta::assert_snapshot!(shown(Language::Cpp, r#"namespace ns {
class A : public B {
public:
  A(int x);
  virtual int m(int a = 1) const;
  static int s;
};
}
int ns::A::m(int a) const { return 1; }
template <typename T> T tf(T a) { return a; }
enum class E { A, B = 2 };
using U = int;
"#), @"
    package ns
    module ns 1-8
    class A 2-7 bases:B
    method A.A(x) 4 Declares
    method A.m(a?) 5
    variable A.s 6
    method A.m(a) 9
    function tf(a) 10
    enum E 11 members:A,B
    constant E.A 11
    constant E.B 11
    type U 12
    ");
}

#[test]
fn ruby() {
    insta::assert_snapshot!(shown(Language::Ruby, r#"require_relative './y'
module M
  class A < B
    X = 1
    def f(a, b = 1, *r, k:, o: 2, **h, &blk); local = 1; end
    def self.s; end
  end
end
def top(a) = a
"#), @"
    module M 2-8
    class M.A 3-7 bases:B
    variable M.A.X 4
    method M.A.f(a, b?, *r?, :k, :o?, **h?) 5
    method M.A.s() 6
    function top(a) 9
    ");
}

#[test]
fn csharp() {
    insta::assert_snapshot!(shown(Language::CSharp, r#"using System; using Q = C.D;
namespace N.M {
  public class A<T> : B, I {
    public const int K = 1;
    private int f, g;
    public A(int x) : base(x) { }
    public int P { get; set; }
    public override void M(int a, string b = "x", params int[] c) { void Loc(int l) {} }
  }
  enum E { X, Y = 2 }
  interface I { void R(int a); }
}
"#), @r#"
    package N.M
    import All of System as *
    import Name("D") of C as Q
    class A 3-9 bases:B,I
    variable A.K 4
    variable A.f 5 Internal
    variable A.g 5 Internal
    method A.A(x) 6
    variable A.P 7
    method A.M(a, b?, *c?) 8 Implements
    function A.M.Loc(l) 8 Local
    enum E 10 members:X,Y
    constant E.X 10
    constant E.Y 10
    interface I 11
    method I.R(a) 11
    "#);
}

#[test]
fn php() {
    insta::assert_snapshot!(shown(Language::Php, r#"<?php
namespace A\B;
use C\D as E; use H\{I, J as K};
const Q = 1;
function f(int $a, $b = 1, ...$c) {}
class P extends X implements Y {
  const C = 1;
  private function hidden() {}
  public function __construct(private int $p) {}
}
enum En: string { case A = 'a'; case B = 'b'; }
"#), @r#"
    package A.B
    import Name("D") of C as E
    import Name("I") of H as I
    import Name("J") of H as K
    constant Q 4
    function f(a, b?, *c?) 5
    class P 6-10 bases:X,Y
    constant P.C 7
    method P.hidden() 8 Internal
    method P.__construct(p) 9
    enum En 11 members:A,B
    constant En.A 11
    constant En.B 11
    "#);
}
