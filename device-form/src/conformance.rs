//! One kernel and one Rust call per public function over the same flat numbers.

use std::fmt::Write;

use crate::form::{Form, Function};
use crate::types::Type;

/// Scalars of a value in C or in Rust: its name with `.m0`, `.v[1]` or `.0`, `[1]`, and whether it is a mask.
fn scalars(of: &Type, name: &str, rust: bool, out: &mut Vec<(String, bool)>) {
    match of {
        Type::Real | Type::Mask => out.push((name.to_owned(), *of == Type::Mask)),
        _ => {
            for (part, selector) in of.parts() {
                let selector = if rust { selector.replace(".m", ".").replace(".v", "") } else { selector };
                scalars(part, &format!("{name}{selector}"), rust, out);
            }
        }
    }
}

/// A value put together from flat numbers; a mask is true where its number is positive.
fn gathered(of: &Type, rust: bool, number: &mut dyn FnMut() -> String) -> String {
    match of {
        Type::Real => number(),
        Type::Mask if rust => format!("R::lit(0.0).lt({})", number()),
        Type::Mask => format!("((REAL)0 < {})", number()),
        _ => {
            let parts: Vec<String> = of.parts().iter().map(|(part, _)| gathered(part, rust, number)).collect();
            let list = parts.join(", ");
            match of {
                Type::Tuple(_) if rust => format!("({list})"),
                _ if rust => format!("[{list}]"),
                _ => format!("{}({list})", of.constructor()),
            }
        }
    }
}

impl Function {
    fn inputs(&self) -> usize {
        self.signature.parameters.iter().map(|(_, of)| of.scalars()).sum()
    }

    fn arguments(&self, rust: bool) -> String {
        let mut next = 0;
        let mut number = || {
            next += 1;
            if rust { format!("input[{}]", next - 1) } else { format!("in[i * {} + {}]", self.inputs(), next - 1) }
        };
        let arguments: Vec<String> =
            self.signature.parameters.iter().map(|(_, of)| gathered(of, rust, &mut number)).collect();
        arguments.join(", ")
    }

    fn outputs(&self, rust: bool) -> Vec<(String, bool)> {
        let mut list = Vec::new();
        scalars(&self.signature.result, "value", rust, &mut list);
        list
    }
}

impl Form {
    /// C text with a kernel `conform_<name>(in, out, n)` per public function.
    ///
    /// Item i < n takes its arguments, flattened in their order, from `in[i * inputs ..]`, and leaves the flattened
    /// result in `out[i * outputs ..]`; a mask enters as positive for true and leaves as 1 or 0.
    pub fn conformance_text(&self) -> String {
        let mut text = String::from("#line 1 \"conformance.h\"\n");
        for function in self.public() {
            let outputs = function.outputs(false);
            writeln!(
                text,
                "KERNEL conform_{name}(GLOBAL const REAL *in, GLOBAL REAL *out, VALUE(int, n) THREADS) {{\n    \
                 const int i = GROUP(0) * WIDTH(0) + LANE(0);\n    if (i < n) {{\n        \
                 const {of} value = nm_{name}({arguments});",
                name = function.name,
                of = function.signature.result.c_name(),
                arguments = function.arguments(false),
            )
            .unwrap();
            for (n, (output, mask)) in outputs.iter().enumerate() {
                let number = if *mask { format!("({output} ? (REAL)1 : (REAL)0)") } else { output.clone() };
                writeln!(text, "        out[i * {} + {n}] = {number};", outputs.len()).unwrap();
            }
            text.push_str("    }\n}\n");
        }
        text
    }

    /// Rust text with the same calls and the table of them.
    ///
    /// It expects `Real`, the module `numerics` and the struct `NumericsCase` with the fields `name`, `inputs`,
    /// `outputs`, `float32` and `float64` where it is included.
    pub fn conformance_table(&self) -> String {
        let mut text = String::new();
        let mut table = String::new();
        for function in self.public() {
            let (name, outputs) = (&function.name, function.outputs(true));
            writeln!(
                text,
                "fn {name}<R: Real>(input: &[R], output: &mut [R]) {{\n    let value = numerics::{name}({});",
                function.arguments(true)
            )
            .unwrap();
            for (n, (output, mask)) in outputs.iter().enumerate() {
                let number =
                    if *mask { format!("R::select({output}, R::lit(1.0), R::lit(0.0))") } else { output.clone() };
                writeln!(text, "    output[{n}] = {number};").unwrap();
            }
            text.push_str("}\n\n");
            writeln!(
                table,
                "    NumericsCase {{ name: \"{name}\", inputs: {}, outputs: {}, float32: {name}::<f32>, float64: {name}::<f64> }},",
                function.inputs(),
                outputs.len()
            )
            .unwrap();
        }
        let count = self.public().count();
        writeln!(
            text,
            "/// Every public function of the numerics, callees first.\npub static NUMERICS_CASES: [NumericsCase; {count}] = [\n{table}];"
        )
        .unwrap();
        text
    }
}
