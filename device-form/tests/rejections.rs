//! What lies outside of the subset is named with its place.

use device_form::{Form, SourceFile};

fn file(name: &str, text: &str) -> SourceFile {
    SourceFile { name: name.to_owned(), text: text.to_owned() }
}

fn rejections(text: &str) -> Vec<String> {
    match Form::read(&[file("x.rs", text)]) {
        Ok(_) => Vec::new(),
        Err(list) => list.iter().map(ToString::to_string).collect(),
    }
}

/// The one rejection of a text: its `line:column: ` and a part of the message.
#[track_caller]
fn rejected(text: &str, place: &str, words: &str) {
    let list = rejections(text);
    assert_eq!(list.len(), 1, "{text}\n{list:#?}");
    assert!(list[0].starts_with(&format!("x.rs:{place}: ")), "{text}\n{}", list[0]);
    assert!(list[0].contains(words), "{text}\n{}", list[0]);
}

/// The one rejection of a function of numbers a, b and the array w, where the body begins in line 3, column 1.
#[track_caller]
fn body(text: &str, place: &str, words: &str) {
    rejected(&function(text), place, words);
}

fn function(text: &str) -> String {
    format!("#[inline(always)]\npub fn f<R: Real>(a: R, b: R, w: [R; 3], p: (R, R)) -> R {{\n{text}\n}}")
}

#[track_caller]
fn accepted(text: &str) {
    assert_eq!(rejections(&function(text)), [""; 0], "{text}");
}

#[test]
fn items() {
    rejected("struct S;", "1:1", "only functions and constants");
    rejected("use a::{b, c as d};", "1:12", "no `as`");
    rejected("mod inner { }", "1:1", "a module inside of a file");
    rejected("#[cfg(unix)]\nconst A: f64 = 1.0;", "1:1", "only `#[cfg(test)]`");
    rejected("const A: f32 = 1.0;", "1:10", "an f64 or a usize");
    rejected("const A: f64 = 1.0;\nconst A: f64 = 2.0;", "2:7", "`A` is defined in x.rs, too");
    rejected("const A: f64 = B;\nconst B: f64 = A;", "2:16", "`A` is defined by itself");
    rejected("const A: f64 = C;", "1:16", "`C` is not a constant");
    rejected("const A: f64 = 1;", "1:16", "a decimal point");
    rejected("const A: f64 = sqrt(2.0);", "1:16", "expected a constant f64");
    rejected("const A: usize = 2 - 3;", "1:18", "between 0 and");
    rejected("const A: usize = 2;\nconst B: f64 = A;", "2:16", "`A` is a usize");
    rejected("fn fn() { }", "1:4", "expected identifier");
    assert_eq!(rejections("mod inner;\n#[cfg(test)]\nmod tests { fn any() { let x = [1; 2].len(); } }"), [""; 0]);
}

#[test]
fn heads() {
    let head = |text: &str| format!("#[inline(always)]\n{text} {{ a }}");
    rejected("fn f<R: Real>(a: R) -> R { a }", "1:4", "`f` lacks #[inline(always)]");
    rejected("#[inline]\nfn f<R: Real>(a: R) -> R { a }", "2:4", "lacks #[inline(always)]");
    rejected(&head("#[must_use]\nfn f<R: Real>(a: R) -> R"), "2:1", "no attributes but");
    rejected(&head("fn f<R: Scalar>(a: R) -> R"), "2:4", "`<R: Real>`");
    rejected(&head("fn f<R: Real, const N: usize>(a: R) -> R"), "2:4", "`<R: Real>`");
    rejected(&head("fn f<R: Real>(a: R) -> R where R: Copy"), "2:26", "no where clause");
    rejected(&head("unsafe fn f<R: Real>(a: R) -> R"), "2:1", "a plain `fn`");
    rejected(&head("fn f<R: Real>(a: R)"), "2:4", "`f` returns nothing");
    rejected(&head("fn f<R: Real>(a: &R) -> R"), "2:18", "no references");
    rejected(&head("fn f<R: Real>(a: f64) -> R"), "2:18", "`f64`: types are");
    rejected(&head("fn f<R: Real>(a: R, b: [R; 0]) -> R"), "2:28", "at least one element");
    rejected(&head("fn f<R: Real>(mut a: R) -> R"), "2:15", "a plain name");
    rejected(&head("fn f<R: Real>(a: R, bB: R) -> R"), "2:21", "`bB`: names are lower case");
    rejected(&head("fn f<R: Real>((a, b): (R, R)) -> R"), "2:15", "a plain name");
    rejected(&(head("fn f<R: Real>(a: R) -> R") + &head("\nfn f<R: Real>(a: R) -> R")), "4:4", "`f` is defined in");
}

#[test]
fn branches_and_control() {
    body("if a.lt(b) { a } else { b }", "3:1", "R::select(mask, yes, no)");
    body("match a { _ => b }", "3:1", "`match`");
    body("return a", "3:1", "no `return`");
    body("while true { }\na", "3:1", "only `for` loops");
    body("loop { }\na", "3:1", "only `for` loops");
    body("for i in 0..n { }\na", "3:13", "`n` is not a constant");
    body("for i in w { }\na", "3:10", "a loop runs over");
    body("for i in 2..2 { }\na", "3:10", "never runs");
    body("'x: for i in 0..2 { }\na", "3:1", "no labels");
    body("let c = |x| x;\na", "3:9", "no closures");
    body("{ a }", "3:1", "no blocks");
    body("let c = a;", "4:1", "ends with its value");
    body("for i in 0..2 { }", "3:1", "not with a loop");
}

#[test]
fn bindings() {
    body("let c;\na", "3:1", "without a value");
    body("let _c = b;\na", "3:5", "not used");
    body("let _ = b;\na", "3:5", "a `let` binds a name");
    body("let (c, d, e) = p;\na", "3:5", "does not fit (R, R)");
    body("let c: R::Mask = b;\na", "3:5", "this is R, not R::Mask");
    body("#[allow(unused)]\nlet c = b;\na", "3:1", "no attributes inside");
    body("let c = b;\nc = a;\nc", "4:1", "`c` is not `mut`");
    body("a += b;\na", "3:1", "`a` is not `mut`");
    body("a;\nb", "3:1", "not used");
    body("a + b;\nb", "3:1", "not used");
    body("let c__d = b;\na", "3:5", "single underscores");
    accepted("let mut c = w;\nfor i in (0..3).rev() { c[i] += a * w[2 - i]; }\nc[0]");
    accepted("let (c, _) = p;\nlet c = c + a;\nc");
}

#[test]
fn expressions() {
    body("a + 1.0", "3:5", "R::lit(1.0)");
    body("a as R", "3:1", "no casts");
    body("&a", "3:1", "no references");
    body("*a", "3:1", "no references and no pointers");
    body("a % b", "3:1", "only + - * /");
    body("R::select(a < b, b, w[0])", "3:11", "write a.lt(b)");
    body("R::select(a == b, b, w[0])", "3:11", "equality");
    body("R::select(a.lt(b) && b.lt(a), b, w[0])", "3:11", "R::and(a, b)");
    body("R::select(!a.lt(b), b, w[0])", "3:11", "reverse the comparison");
    body("a.powi(2)", "3:3", ".powi() is not in the subset");
    body("a.min()", "3:3", "takes 1 arguments");
    body("R::from_i32(3)", "3:1", "R::from_i32 is not in the subset");
    body("g(a)", "3:1", "`g` is not a function of the numerics");
    body("super::g(a)", "3:1", "bare name");
    body("f::<R>(a, b, w, p)", "3:1", "no types at a call");
    body("c", "3:1", "`c` is not known");
    body("p.2", "3:3", "no such part of (R, R)");
    body("a.0", "3:3", "no such part of R");
    body("assert!(true);\na", "3:1", "macros");
    body("p", "3:1", "this is (R, R), the function returns R");
    body("a + p", "3:5", "this is (R, R), not R");
    body("R::select(a, a, b)", "3:11", "this is R, not R::Mask");
    body("[a, w[0], p][0]", "3:1", "bind it with `let`");
    body("let c = [a, p];\na", "3:13", "this is (R, R), the first is R");
}

#[test]
fn indices() {
    body("w[3]", "3:3", "reaches 3, the array has 3");
    body("let mut c = a;\nfor i in 0..3 { c += w[i + 1]; }\nc", "4:24", "reaches 3, the array has 3");
    body("let mut c = a;\nfor i in 0..=3 { c += w[i]; }\nc", "4:25", "reaches 3");
    body("let mut c = a;\nfor i in 0..3 { c += w[1 - i]; }\nc", "4:24", "can fall below 0");
    body("w[a]", "3:3", "`a` is not an index");
    body("let mut c = a;\nfor i in 0..3 { c += i; }\nc", "4:22", "only be an index");
    body("w[1 / 1]", "3:5", "by + - * only");
}

#[test]
fn constants() {
    body("a * R::lit(-0.0)", "3:12", "-0.0 is not a constant");
    body("a * R::lit(0.0 * -1.0)", "3:12", "-0.0 is not a constant");
    body("a * R::lit(1.0e-40)", "3:12", "neither 0 nor a normal number");
    body("a * R::lit(1.0e39)", "3:12", "neither 0 nor a normal number");
    body("a * -R::lit(0.0)", "3:5", "compute inside of R::lit");
    body("let zero = R::lit(0.0);\na * -zero", "4:5", "compute inside of R::lit");
    body("a + R::lit(2.0) * R::lit(3.0)", "3:5", "compute inside of R::lit");
    body("R::lit(a)", "3:8", "`a` is not a constant");
    body("R::lit(1)", "3:8", "a decimal point");
    rejected("const TWO: f64 = 2.0;\n#[inline(always)]\nfn f<R: Real>(a: R) -> R { a * TWO }", "3:32", "R::lit(TWO)");
    accepted("a * R::lit(1.0e-25)");
}

#[test]
fn signed_zeros() {
    const CONSTANT: &str = "the constant is the argument";
    const SELECT: &str = "write .min() or .max()";
    body("R::lit(0.0).min(a)", "3:1", CONSTANT);
    body("let zero = R::lit(0.0);\nlet also = zero;\nalso.max(a)", "5:1", CONSTANT);
    body("let (zero, c) = (R::lit(0.0), a);\nzero.max(c)", "4:1", CONSTANT);
    body("R::select(a.lt(b), a, b)", "3:1", SELECT);
    body("R::select(a.ge(R::lit(0.0)), R::lit(0.0), a)", "3:1", SELECT);
    body("let zero = R::lit(0.0);\nlet negative = a.lt(zero);\nR::select(negative, zero, a)", "5:1", SELECT);
    body("let c = a - b;\nlet m = (a - b).gt(w[0]);\nlet v = w;\nR::select(m, c, v[0])", "6:1", SELECT);
    body("let mut c = a;\nc += b;\nR::select(c.lt(b), c, b)", "5:1", SELECT);
    // Not the compared values, or no longer.
    accepted("R::select(a.lt(b), -a, b)");
    accepted("R::select(a.lt(b), w[0], b)");
    accepted("let mut c = a;\nlet m = c.lt(b);\nc += b;\nR::select(m, c, b)");
    accepted("let mut zero = R::lit(0.0);\nfor i in 0..3 { zero = zero.max(w[i]); zero += a; }\nzero.min(a)");
}

#[test]
fn recursion_is_named_by_its_round() {
    let text =
        "#[inline(always)]\nfn f<R: Real>(a: R) -> R { g(a) }\n#[inline(always)]\nfn g<R: Real>(a: R) -> R { f(a) }";
    rejected(text, "2:4", "recursion: f -> g -> f");
}

#[test]
fn calls_fit_the_function() {
    let with_g = |text: &str| {
        let g = "\n#[inline(always)]\nfn g<R: Real>(a: R, w: [R; 3]) -> R { a + w[0] }";
        function(text) + g
    };
    rejected(&with_g("g(a)"), "3:1", "takes 2 arguments, not 1");
    rejected(&with_g("g(a, b)"), "3:6", "this is R, `g` takes [R; 3]");
    assert_eq!(rejections(&with_g("g(a, [b; 3])")), [""; 0]);
}

#[test]
fn all_faults_of_all_files_are_told_in_order() {
    let first = function("let c = a % b;\nlet d = c + 1.0;\nd.powi(2)");
    let second = "const A: f32 = 1.0;\n#[inline(always)]\nfn f<R: Real>(x: R) -> R { x }";
    let Err(list) = Form::read(&[file("z.rs", &first), file("b.rs", second)]) else { panic!("faults") };
    let places: Vec<String> = list.iter().map(|r| format!("{}:{}:{}", r.file, r.line, r.column)).collect();
    assert_eq!(places, ["z.rs:3:9", "z.rs:4:13", "z.rs:5:3", "b.rs:1:10", "b.rs:3:4"].map(str::to_owned), "{list:#?}");
}
