//! Indices of arrays, proved to lie within: C does not check them.

use syn::{BinOp, Expr, Lit};

use crate::body::Body;
use crate::constants::Constant;
use crate::names::Bound;
use crate::rejection::{Checked, Rejected};

/// An index and the range it can take.
pub(crate) struct Index {
    /// The index in C.
    pub(crate) c: String,
    /// Smallest value.
    pub(crate) low: i64,
    /// Largest value.
    pub(crate) high: i64,
}

impl Body<'_> {
    /// An index into an array of this length.
    pub(crate) fn index(&mut self, expression: &Expr, length: usize) -> Checked<Index> {
        let index = self.interval(expression)?;
        if index.high >= length as i64 {
            let message = format!("the index reaches {}, the array has {length} elements", index.high);
            return self.notes.reject(expression, message);
        }
        Ok(index)
    }

    fn interval(&mut self, expression: &Expr) -> Checked<Index> {
        let fixed = |value: i64| Index { c: value.to_string(), low: value, high: value };
        match expression {
            Expr::Paren(inner) => self.interval(&inner.expr),
            Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_)) => {
                Ok(fixed(self.constants.count(expression, self.notes)?))
            }
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let name = path.path.get_ident().expect("just asked").to_string();
                match (self.scope.find(&name), self.constants.lookup(&name)) {
                    (Some(binding), _) => match binding.bound {
                        Bound::Index { low, high } => Ok(Index { c: binding.c_name.clone(), low, high }),
                        Bound::Faulty => Err(Rejected),
                        Bound::Value { .. } => self.notes.reject(path, format!("`{name}` is not an index")),
                    },
                    (None, Some(Constant::Count(value))) => Ok(fixed(value)),
                    (None, _) => self.notes.reject(path, format!("`{name}` is not an index")),
                }
            }
            Expr::Binary(binary) => {
                let (a, b) = (self.interval(&binary.left), self.interval(&binary.right));
                let (a, b) = (a?, b?);
                let (c, low, high) = match binary.op {
                    BinOp::Add(_) => ("+", a.low + b.low, a.high + b.high),
                    BinOp::Sub(_) => ("-", a.low - b.high, a.high - b.low),
                    BinOp::Mul(_) => ("*", a.low * b.low, a.high.saturating_mul(b.high)),
                    _ => return self.notes.reject(&binary.op, "an index is made by + - * only"),
                };
                if low < 0 {
                    return self.notes.reject(expression, "the index can fall below 0");
                }
                if high > i64::from(i32::MAX) {
                    return self.notes.reject(expression, "the index can exceed an int");
                }
                Ok(Index { c: format!("({} {c} {})", a.c, b.c), low, high })
            }
            other => self.notes.reject(other, "an index is a number, a loop variable or their + - *"),
        }
    }
}
