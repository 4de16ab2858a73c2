//! Calls: constants, masks, methods of `Real`, and the numerics themselves.

use syn::{Expr, ExprCall, ExprMethodCall};

use crate::body::Body;
use crate::expression::Value;
use crate::literal;
use crate::rejection::{Checked, Rejected};
use crate::types::Type;

impl Body<'_> {
    /// `R::name(…)` or `name(…)`.
    pub(crate) fn call(&mut self, call: &ExprCall) -> Checked<Value> {
        let Expr::Path(path) = &*call.func else {
            return self.notes.reject(&call.func, "only functions of the numerics are called");
        };
        if path.qself.is_some() || path.path.segments.iter().any(|segment| !segment.arguments.is_none()) {
            return self.notes.reject(path, "no types at a call: they follow from the arguments");
        }
        let words: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["R", associated] => self.associated(call, associated),
            [name] => self.function(call, name),
            _ => self.notes.reject(path, "a function is called by its bare name: import it with `use`"),
        }
    }

    fn associated(&mut self, call: &ExprCall, name: &str) -> Checked<Value> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (name, &arguments[..]) {
            ("lit", [constant]) => {
                let value = self.constants.real(constant, self.notes)?;
                if let Some(fault) = literal::fault(value) {
                    return self.notes.reject(*constant, fault);
                }
                Ok(Value { c: literal::text(value), of: Type::Real, meaning: self.meanings.constant(value) })
            }
            ("and", [a, b]) => self.joined("&&", a, b),
            ("or", [a, b]) => self.joined("||", a, b),
            ("select", [mask, yes, no]) => self.select(call, mask, yes, no),
            ("lit" | "and" | "or" | "select", _) => {
                self.notes.reject(call, format!("R::{name} with {} arguments", arguments.len()))
            }
            _ => self
                .notes
                .reject(call, format!("R::{name} is not in the subset: lit, and, or, select; others are methods")),
        }
    }

    fn joined(&mut self, c: &str, a: &Expr, b: &Expr) -> Checked<Value> {
        let (a, b) = (self.typed(a, &Type::Mask), self.typed(b, &Type::Mask));
        let (a, b) = (a?, b?);
        let meaning = self.meanings.of(c, &[a.meaning, b.meaning]);
        Ok(Value { c: format!("({} {c} {})", a.c, b.c), of: Type::Mask, meaning })
    }

    fn select(&mut self, call: &ExprCall, mask: &Expr, yes: &Expr, no: &Expr) -> Checked<Value> {
        let (mask, yes, no) = (self.typed(mask, &Type::Mask), self.real(yes), self.real(no));
        let (mask, yes, no) = (mask?, yes?, no?);
        if self.meanings.compares(mask.meaning, yes.meaning, no.meaning) {
            return self.notes.reject(
                call,
                "a select between the two compared values: compilers make a minimum of it that orders -0 below 0; write .min() or .max()",
            );
        }
        let meaning = self.meanings.of("select", &[mask.meaning, yes.meaning, no.meaning]);
        Ok(Value { c: format!("({} ? {} : {})", mask.c, yes.c, no.c), of: Type::Real, meaning })
    }

    fn function(&mut self, call: &ExprCall, name: &str) -> Checked<Value> {
        let arguments: Vec<_> = call.args.iter().map(|argument| self.value(argument)).collect();
        let Some(signature) = self.signatures.get(name) else {
            return self.notes.reject(&call.func, format!("`{name}` is not a function of the numerics"));
        };
        // The head of the called function has a fault of its own.
        let Some(signature) = signature else { return Err(Rejected) };
        let arguments = arguments.into_iter().collect::<Checked<Vec<_>>>()?;
        if arguments.len() != signature.parameters.len() {
            let message = format!("`{name}` takes {} arguments, not {}", signature.parameters.len(), arguments.len());
            return self.notes.reject(call, message);
        }
        for ((argument, value), (_, of)) in call.args.iter().zip(&arguments).zip(&signature.parameters) {
            if value.of != *of {
                let message = format!("this is {}, `{name}` takes {}", value.of.rust_name(), of.rust_name());
                return self.notes.reject(argument, message);
            }
        }
        self.calls.insert(name.to_owned());
        let meanings: Vec<_> = arguments.iter().map(|value| value.meaning).collect();
        let list: Vec<&str> = arguments.iter().map(|value| value.c.as_str()).collect();
        let meaning = self.meanings.of(&format!("call {name}"), &meanings);
        Ok(Value { c: format!("nm_{name}({})", list.join(", ")), of: signature.result.clone(), meaning })
    }

    /// `a.name(…)`.
    pub(crate) fn method(&mut self, call: &ExprMethodCall) -> Checked<Value> {
        let name = call.method.to_string();
        let count = match name.as_str() {
            "abs" | "sqrt" => 0,
            "min" | "max" | "lt" | "gt" | "le" | "ge" => 1,
            "mul_add" => 2,
            _ => {
                let message = format!(".{name}() is not in the subset: lt gt le ge min max abs sqrt mul_add");
                return self.notes.reject(&call.method, message);
            }
        };
        if call.args.len() != count || call.turbofish.is_some() {
            return self.notes.reject(&call.method, format!(".{name}() takes {count} arguments"));
        }
        let values: Vec<_> = std::iter::once(&*call.receiver).chain(&call.args).map(|value| self.real(value)).collect();
        let values = values.into_iter().collect::<Checked<Vec<_>>>()?;
        let meanings: Vec<_> = values.iter().map(|value| value.meaning).collect();
        if matches!(name.as_str(), "min" | "max") && self.meanings.is_constant(meanings[0]) {
            let message =
                format!("the constant is the argument: write x.{name}(constant), which gives the same zero everywhere");
            return self.notes.reject(&call.receiver, message);
        }
        self.not_all_constant(&call.method, &meanings)?;
        let c: Vec<&str> = values.iter().map(|value| value.c.as_str()).collect();
        let compare = |c_operator: &str| format!("({} {c_operator} {})", c[0], c[1]);
        let (c, of) = match name.as_str() {
            "lt" => (compare("<"), Type::Mask),
            "gt" => (compare(">"), Type::Mask),
            "le" => (compare("<="), Type::Mask),
            "ge" => (compare(">="), Type::Mask),
            "min" => (format!("real_min({}, {})", c[0], c[1]), Type::Real),
            "max" => (format!("real_max({}, {})", c[0], c[1]), Type::Real),
            "abs" => (format!("REAL_ABS({})", c[0]), Type::Real),
            "sqrt" => (format!("REAL_SQRT({})", c[0]), Type::Real),
            _ => (format!("REAL_FMA({})", c.join(", ")), Type::Real),
        };
        let meaning = match of {
            Type::Mask => self.meanings.comparison(&name, meanings[0], meanings[1]),
            _ => self.meanings.of(&name, &meanings),
        };
        Ok(Value { c, of, meaning })
    }
}
