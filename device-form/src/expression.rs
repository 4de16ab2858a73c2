//! Expressions.

use syn::{Attribute, BinOp, Expr, ExprBinary, ExprField, ExprIndex, ExprPath, ExprUnary, Member, UnOp};

use crate::body::Body;
use crate::meaning::Meaning;
use crate::names::Bound;
use crate::rejection::{Checked, Rejected};
use crate::types::Type;

/// A checked expression.
pub(crate) struct Value {
    /// The expression in C, in parentheses where it is an operation.
    pub(crate) c: String,
    /// Its type.
    pub(crate) of: Type,
    /// What it is, however it is named.
    pub(crate) meaning: Meaning,
}

/// Arithmetic operators in C, and whether they assign.
pub(crate) fn operator(op: &BinOp) -> Option<(&'static str, bool)> {
    Some(match op {
        BinOp::Add(_) => ("+", false),
        BinOp::Sub(_) => ("-", false),
        BinOp::Mul(_) => ("*", false),
        BinOp::Div(_) => ("/", false),
        BinOp::AddAssign(_) => ("+", true),
        BinOp::SubAssign(_) => ("-", true),
        BinOp::MulAssign(_) => ("*", true),
        BinOp::DivAssign(_) => ("/", true),
        _ => return None,
    })
}

impl Body<'_> {
    /// An expression with a value.
    pub(crate) fn value(&mut self, expression: &Expr) -> Checked<Value> {
        self.attributes(expression)?;
        match expression {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Path(path) => self.named(path),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Tuple(tuple) if tuple.elems.len() < 2 => self.notes.reject(tuple, "a tuple has at least two parts"),
            Expr::Tuple(tuple) => {
                let parts = self.values(tuple.elems.iter())?;
                let of = Type::Tuple(parts.iter().map(|part| part.of.clone()).collect());
                Ok(self.made(of, &parts))
            }
            Expr::Array(array) => {
                let parts = self.values(array.elems.iter())?;
                let Some(first) = parts.first() else {
                    return self.notes.reject(array, "an array has at least one element");
                };
                if let Some(n) = parts.iter().position(|part| part.of != first.of) {
                    let message = format!("this is {}, the first is {}", parts[n].of.rust_name(), first.of.rust_name());
                    return self.notes.reject(&array.elems[n], message);
                }
                let of = Type::Array(Box::new(first.of.clone()), parts.len());
                Ok(self.made(of, &parts))
            }
            Expr::Repeat(repeat) => {
                let (value, length) = (self.value(&repeat.expr), self.constants.count(&repeat.len, self.notes));
                let (value, length) = (value?, length?);
                if length == 0 {
                    return self.notes.reject(&repeat.len, "an array has at least one element");
                }
                let of = Type::Array(Box::new(value.of), length as usize);
                self.types.insert(of.clone());
                self.fillers.insert(of.clone());
                let meaning = self.meanings.made(&vec![value.meaning; length as usize]);
                Ok(Value { c: format!("{}({})", of.filler(), value.c), of, meaning })
            }
            Expr::Field(field) => self.field(field),
            Expr::Index(at) => self.element(at),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            other => {
                let message = foreign(other);
                self.notes.reject(other, message)
            }
        }
    }

    /// An expression of type `R`.
    pub(crate) fn real(&mut self, expression: &Expr) -> Checked<Value> {
        self.typed(expression, &Type::Real)
    }

    /// An expression of a given type.
    pub(crate) fn typed(&mut self, expression: &Expr, of: &Type) -> Checked<Value> {
        let value = self.value(expression)?;
        if value.of == *of {
            return Ok(value);
        }
        let message = format!("this is {}, not {}", value.of.rust_name(), of.rust_name());
        self.notes.reject(expression, message)
    }

    fn values<'e>(&mut self, expressions: impl Iterator<Item = &'e Expr>) -> Checked<Vec<Value>> {
        // All of them, so that every fault is noted.
        let values: Vec<_> = expressions.map(|expression| self.value(expression)).collect();
        values.into_iter().collect()
    }

    fn made(&mut self, of: Type, parts: &[Value]) -> Value {
        self.types.insert(of.clone());
        let meanings: Vec<Meaning> = parts.iter().map(|part| part.meaning).collect();
        let arguments: Vec<&str> = parts.iter().map(|part| part.c.as_str()).collect();
        let c = format!("{}({})", of.constructor(), arguments.join(", "));
        Value { c, of, meaning: self.meanings.made(&meanings) }
    }

    fn named(&mut self, path: &ExprPath) -> Checked<Value> {
        let Some(ident) = path.path.get_ident().filter(|_| path.qself.is_none()) else {
            return self.notes.reject(path, "a value is named by a single word");
        };
        let name = ident.to_string();
        match self.scope.find(&name) {
            Some(binding) => match &binding.bound {
                Bound::Value { of, meaning, .. } => {
                    Ok(Value { c: binding.c_name.clone(), of: of.clone(), meaning: *meaning })
                }
                Bound::Index { .. } => {
                    self.notes.reject(ident, format!("`{name}` is a usize: it can only be an index"))
                }
                Bound::Faulty => Err(Rejected),
            },
            None if self.constants.lookup(&name).is_some() => {
                self.notes.reject(ident, format!("a constant is used as R::lit({name})"))
            }
            None => self.notes.reject(ident, format!("`{name}` is not known here")),
        }
    }

    fn unary(&mut self, unary: &ExprUnary) -> Checked<Value> {
        match unary.op {
            UnOp::Neg(_) => {
                let value = self.real(&unary.expr)?;
                self.not_all_constant(unary, &[value.meaning])?;
                let meaning = self.meanings.of("-", &[value.meaning]);
                Ok(Value { c: format!("(-{})", value.c), of: Type::Real, meaning })
            }
            UnOp::Not(_) => {
                self.notes.reject(unary, "`!` has no form for lanes: reverse the comparison or swap the values")
            }
            _ => self.notes.reject(unary, "no references and no pointers"),
        }
    }

    fn binary(&mut self, binary: &ExprBinary) -> Checked<Value> {
        let (a, b) = match operator(&binary.op) {
            Some((_, false)) => (self.real(&binary.left), self.real(&binary.right)),
            _ => {
                let message = match binary.op {
                    BinOp::Lt(_) => "comparisons are methods: write a.lt(b)",
                    BinOp::Gt(_) => "comparisons are methods: write a.gt(b)",
                    BinOp::Le(_) => "comparisons are methods: write a.le(b)",
                    BinOp::Ge(_) => "comparisons are methods: write a.ge(b)",
                    BinOp::And(_) | BinOp::BitAnd(_) => "masks are joined by R::and(a, b)",
                    BinOp::Or(_) | BinOp::BitOr(_) => "masks are joined by R::or(a, b)",
                    BinOp::Eq(_) | BinOp::Ne(_) => "numbers are not compared for equality; use lt, gt, le, ge",
                    _ => "only + - * / on numbers",
                };
                return self.notes.reject(binary, message);
            }
        };
        let (a, b) = (a?, b?);
        self.not_all_constant(binary, &[a.meaning, b.meaning])?;
        let (c, _) = operator(&binary.op).expect("asked above");
        let meaning = self.meanings.of(c, &[a.meaning, b.meaning]);
        Ok(Value { c: format!("({} {c} {})", a.c, b.c), of: Type::Real, meaning })
    }

    /// Constants are computed once, in f64 and within `R::lit`; compilers differ in what they do with −0.
    pub(crate) fn not_all_constant(&mut self, place: &impl syn::spanned::Spanned, operands: &[Meaning]) -> Checked<()> {
        if operands.iter().all(|operand| self.meanings.is_constant(*operand)) {
            return self.notes.reject(place, "constants only: compute inside of R::lit( )");
        }
        Ok(())
    }

    fn field(&mut self, field: &ExprField) -> Checked<Value> {
        let base = self.value(&field.base)?;
        match (&base.of, &field.member) {
            (Type::Tuple(parts), Member::Unnamed(n)) if (n.index as usize) < parts.len() => {
                let of = parts[n.index as usize].clone();
                let meaning = self.meanings.part(base.meaning, n.index as usize);
                Ok(Value { c: format!("{}.m{}", base.c, n.index), of, meaning })
            }
            _ => self.notes.reject(&field.member, format!("no such part of {}", base.of.rust_name())),
        }
    }

    fn element(&mut self, at: &ExprIndex) -> Checked<Value> {
        if !is_place(&at.expr) {
            return self.notes.reject(&at.expr, "only a named array has elements: bind it with `let` first");
        }
        let base = self.value(&at.expr)?;
        let Type::Array(part, length) = base.of else {
            return self.notes.reject(&at.expr, format!("{} has no elements", base.of.rust_name()));
        };
        let index = self.index(&at.index, length)?;
        let meaning = if index.low == index.high {
            self.meanings.part(base.meaning, index.low as usize)
        } else {
            self.meanings.of(&format!("element {}", index.c), &[base.meaning])
        };
        Ok(Value { c: format!("{}.v[{}]", base.c, index.c), of: *part, meaning })
    }

    /// No attributes on parts of the subset.
    pub(crate) fn attributes(&mut self, expression: &Expr) -> Checked<()> {
        match attributes_of(expression).first() {
            Some(attribute) => self.notes.reject(attribute, "no attributes inside of a function"),
            None => Ok(()),
        }
    }
}

/// Whether C gives this expression a place in memory: a name, or a part of one.
fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(at) => is_place(&at.expr),
        _ => false,
    }
}

fn attributes_of(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Array(e) => &e.attrs,
        Expr::Assign(e) => &e.attrs,
        Expr::Binary(e) => &e.attrs,
        Expr::Call(e) => &e.attrs,
        Expr::Field(e) => &e.attrs,
        Expr::ForLoop(e) => &e.attrs,
        Expr::Index(e) => &e.attrs,
        Expr::Lit(e) => &e.attrs,
        Expr::MethodCall(e) => &e.attrs,
        Expr::Paren(e) => &e.attrs,
        Expr::Path(e) => &e.attrs,
        Expr::Range(e) => &e.attrs,
        Expr::Repeat(e) => &e.attrs,
        Expr::Tuple(e) => &e.attrs,
        Expr::Unary(e) => &e.attrs,
        _ => &[],
    }
}

/// Why an expression is not in the subset.
fn foreign(expression: &Expr) -> &'static str {
    match expression {
        Expr::If(_) => "`if` has no form for lanes: compute both values and write R::select(mask, yes, no)",
        Expr::Match(_) => "`match` is not in the subset: write R::select(mask, yes, no)",
        Expr::Lit(_) => "a number is written R::lit(1.0)",
        Expr::Cast(_) => "no casts: numbers are R, indices are usize",
        Expr::Return(_) => "no `return`: a function ends with its value",
        Expr::While(_) | Expr::Loop(_) | Expr::Break(_) | Expr::Continue(_) => {
            "only `for` loops with constant bounds, which run through"
        }
        Expr::ForLoop(_) => "a loop has no value",
        Expr::Assign(_) => "an assignment has no value",
        Expr::Block(_) | Expr::Unsafe(_) => "no blocks as values: use `let`",
        Expr::Closure(_) => "no closures: write a function",
        Expr::Macro(_) => "macros have no device form",
        Expr::Reference(_) => "no references: values are handed on",
        Expr::Range(_) => "a range is only the range of a loop",
        Expr::Try(_) => "no `?`: numerics cannot fail",
        _ => "this is not in the subset of the numerics",
    }
}
