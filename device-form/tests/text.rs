//! The C of a few functions, whole.

use device_form::{Form, SourceFile};

fn form(text: &str) -> Form {
    let file = SourceFile { name: "numerics/sample.rs".to_owned(), text: text.to_owned() };
    Form::read(&[file]).unwrap_or_else(|list| panic!("{list:#?}"))
}

/// The functions without the structs before them.
fn functions(text: &str) -> String {
    let all = form(text).functions_text();
    all[all.find("\n\n").expect("structs, then functions") + 2..].to_owned()
}

#[test]
fn tuples_become_structs_and_names_are_fresh() {
    let text = "//! File.
const THIRD: f64 = 1.0 / 3.0;

/// Docs.
#[inline(always)]
pub fn first<R: Real>(a: R, double: R) -> (R, R) {
    let (s, e) = two_sum(a, -double);
    let s = s * R::lit(THIRD);
    (s.min(R::lit(0.0)), e.abs().sqrt())
}

#[inline(always)]
fn two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let s = a + b;
    let z = s - a;
    (s, (a - (s - z)) + (b - z))
}
";
    let expected = r#"#line 1 "numerics.h"
typedef struct { REAL m0; REAL m1; STRUCT_END } value_t2rr;
INLINE value_t2rr make_t2rr(REAL m0, REAL m1) { value_t2rr made; made.m0 = m0; made.m1 = m1; return made; }

#line 13 "numerics/sample.rs"
INLINE value_t2rr nm_two_sum(REAL a_, REAL b_) {
    const REAL s_ = (a_ + b_);
    const REAL z_ = (s_ - a_);
    return make_t2rr(s_, ((a_ - (s_ - z_)) + (b_ - z_)));
}

#line 6 "numerics/sample.rs"
INLINE value_t2rr nm_first(REAL a_, REAL double_) {
    const value_t2rr parts_ = nm_two_sum(a_, (-double_)); const REAL s_ = parts_.m0; const REAL e_ = parts_.m1;
    const REAL s_2 = (s_ * LITERAL(0.33333334f, 0.3333333333333333));
    return make_t2rr(real_min(s_2, LITERAL(0.0f, 0.0)), REAL_SQRT(REAL_ABS(e_)));
}
"#;
    assert_eq!(form(text).functions_text(), expected);
}

#[test]
fn loops_and_assignments() {
    let text = "const N: usize = 4;
#[inline(always)]
pub fn sums<R: Real>(w: [R; N], x: R) -> ([R; N], R) {
    let mut total = w[N - 1];
    let mut out = [x; N];
    for i in (0..N - 1).rev() {
        total = total.mul_add(x, w[i]);
        for j in 1..=2 {
            out[i] -= w[i + j - 1];
        }
    }
    (out, total)
}
";
    let expected = r#"#line 3 "numerics/sample.rs"
INLINE value_t2a4rr nm_sums(value_a4r w_, REAL x_) {
    REAL total_ = w_.v[(4 - 1)];
    value_a4r out_ = fill_a4r(x_);
    for (int i_ = 2; i_ >= 0; --i_) {
        total_ = REAL_FMA(total_, x_, w_.v[i_]);
        for (int j_ = 1; j_ <= 2; ++j_) {
            out_.v[i_] = (out_.v[i_] - w_.v[((i_ + j_) - 1)]);
        }
    }
    return make_t2a4rr(out_, total_);
}
"#;
    assert_eq!(functions(text), expected);
}

#[test]
fn masks_are_ints_and_selects_are_choices() {
    let text = "#[inline(always)]
pub fn pick<R: Real>(m: R::Mask, a: R, b: R) -> (R, R::Mask) {
    let both = R::and(m, R::or(a.lt(b), a.ge(R::lit(-2.5))));
    (R::select(both, a + b, b), both)
}
";
    let expected = r#"#line 2 "numerics/sample.rs"
INLINE value_t2rm nm_pick(int m_, REAL a_, REAL b_) {
    const int both_ = (m_ && ((a_ < b_) || (a_ >= LITERAL(-2.5f, -2.5))));
    return make_t2rm((both_ ? (a_ + b_) : b_), both_);
}
"#;
    assert_eq!(functions(text), expected);
    let kernel = r#"#line 1 "conformance.h"
KERNEL conform_pick(GLOBAL const REAL *in, GLOBAL REAL *out, VALUE(int, n) THREADS) {
    const int i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < n) {
        const value_t2rm value = nm_pick(((REAL)0 < in[i * 3 + 0]), in[i * 3 + 1], in[i * 3 + 2]);
        out[i * 2 + 0] = value.m0;
        out[i * 2 + 1] = (value.m1 ? (REAL)1 : (REAL)0);
    }
}
"#;
    assert_eq!(form(text).conformance_text(), kernel);
    let table = form(text).conformance_table();
    assert!(table.contains("numerics::pick(R::lit(0.0).lt(input[0]), input[1], input[2])"), "{table}");
    assert!(table.contains("output[1] = R::select(value.1, R::lit(1.0), R::lit(0.0));"), "{table}");
    assert!(table.contains("NumericsCase { name: \"pick\", inputs: 3, outputs: 2,"), "{table}");
}

#[test]
fn nested_values_are_flattened_in_order() {
    let text = "#[inline(always)]
pub fn nested<R: Real>(p: ([R; 2], R), q: [(R, R); 2]) -> [(R, R); 2] {
    let a = p.0[1] + q[1].0;
    [(a, p.1), q[0]]
}
";
    let (c, rust) = (form(text).conformance_text(), form(text).conformance_table());
    assert!(c.contains("nm_nested(make_t2a2rr(make_a2r(in[i * 7 + 0], in[i * 7 + 1]), in[i * 7 + 2]), make_a2t2rr(make_t2rr(in[i * 7 + 3], in[i * 7 + 4]), make_t2rr(in[i * 7 + 5], in[i * 7 + 6])))"), "{c}");
    assert!(c.contains("out[i * 4 + 2] = value.v[1].m0;"), "{c}");
    assert!(
        rust.contains(
            "numerics::nested(([input[0], input[1]], input[2]), [(input[3], input[4]), (input[5], input[6])])"
        ),
        "{rust}"
    );
    assert!(rust.contains("output[2] = value[1].0;"), "{rust}");
    // Parts are defined before the wholes.
    let text = form(text).functions_text();
    assert!(text.find("STRUCT_END } value_a2r;").unwrap() < text.find("STRUCT_END } value_t2a2rr;").unwrap());
    assert!(text.find("STRUCT_END } value_t2rr;").unwrap() < text.find("STRUCT_END } value_a2t2rr;").unwrap());
}

#[test]
fn the_example_of_the_handbook_is_what_is_written() {
    let page = include_str!("../../docs/src/kernels.md");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a block");
        rest.split_once("```").expect("its end").0
    };
    let found = functions(block("rust"));
    let lines: Vec<&str> = found.lines().filter(|line| !line.starts_with("#line")).collect();
    assert_eq!(lines.join("\n") + "\n", block("c"));
}
