//! Named constants and constant expressions, computed as Rust computes them.

use std::collections::HashMap;
use std::rc::Rc;

use proc_macro2::Ident;
use syn::{BinOp, Expr, Lit, UnOp};

use crate::rejection::{Checked, Notes, Rejected};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constant {
    /// `f64`.
    Real(f64),
    /// `usize`.
    Count(i64),
}

/// State of a named constant.
enum Entry {
    Written { expression: Box<Expr>, count: bool },
    Begun,
    Known(Constant),
    Faulty,
}

/// All named constants: one name space for all files.
#[derive(Default)]
pub(crate) struct Constants {
    entries: HashMap<String, Entry>,
    files: HashMap<String, Rc<str>>,
}

impl Constants {
    /// Adds `const name: f64` (or `usize`, if `count`); the file is where faults in it are reported.
    pub(crate) fn insert(&mut self, name: String, expression: Expr, count: bool, file: &Rc<str>) {
        self.files.insert(name.clone(), file.clone());
        self.entries.insert(name, Entry::Written { expression: expression.into(), count });
    }

    /// Computes every constant, so that faults in unused ones show, too.
    pub(crate) fn compute_all(&mut self, notes: &mut HashMap<Rc<str>, Notes>) {
        let mut names: Vec<String> = self.entries.keys().cloned().collect();
        names.sort();
        for name in names {
            let file = self.files[&name].clone();
            let mut own = Notes::new(&file);
            // A fault is noted where the constant is written.
            let _ = self.named(&name, None, &mut own);
            notes.entry(file.clone()).or_insert_with(|| Notes::new(&file)).list.append(&mut own.list);
        }
    }

    fn named(&mut self, name: &str, used: Option<&Ident>, notes: &mut Notes) -> Checked<Constant> {
        match self.entries.get(name) {
            Some(Entry::Known(value)) => Ok(*value),
            Some(Entry::Faulty) => Err(Rejected),
            Some(Entry::Begun) => match used {
                Some(place) => notes.reject(place, format!("constant `{name}` is defined by itself")),
                None => Err(Rejected),
            },
            Some(Entry::Written { .. }) => {
                let Some(Entry::Written { expression, count }) = self.entries.insert(name.to_owned(), Entry::Begun)
                else {
                    unreachable!("just matched")
                };
                let mut own = Notes::new(&self.files[name]);
                let value = if count {
                    self.count(&expression, &mut own).map(Constant::Count)
                } else {
                    self.real(&expression, &mut own).map(Constant::Real)
                };
                notes.list.append(&mut own.list);
                self.entries.insert(name.to_owned(), value.as_ref().map_or(Entry::Faulty, |v| Entry::Known(*v)));
                value
            }
            None => match used {
                Some(place) => notes.reject(place, format!("`{name}` is not a constant of the numerics")),
                None => Err(Rejected),
            },
        }
    }

    /// An `f64` constant expression: + − × ÷ and unary minus of literals and named constants.
    pub(crate) fn real(&mut self, expression: &Expr, notes: &mut Notes) -> Checked<f64> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Float(number) if number.suffix().is_empty() || number.suffix() == "f64" => {
                    number.base10_parse().or_else(|error| notes.reject(number, error))
                }
                _ => notes.reject(literal, "expected a number with a decimal point"),
            },
            Expr::Paren(inner) => self.real(&inner.expr, notes),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Ok(-self.real(&unary.expr, notes)?),
            Expr::Binary(binary) => {
                let (a, b) = (self.real(&binary.left, notes), self.real(&binary.right, notes));
                let (a, b) = (a?, b?);
                match binary.op {
                    BinOp::Add(_) => Ok(a + b),
                    BinOp::Sub(_) => Ok(a - b),
                    BinOp::Mul(_) => Ok(a * b),
                    BinOp::Div(_) => Ok(a / b),
                    _ => notes.reject(&binary.op, "a constant is made by + - * / only"),
                }
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(ident) => match self.named(&ident.to_string(), Some(ident), notes)? {
                    Constant::Real(value) => Ok(value),
                    Constant::Count(_) => notes.reject(path, format!("`{ident}` is a usize, not an f64")),
                },
                None => notes.reject(path, "a constant is named by a single word"),
            },
            _ => notes.reject(expression, "expected a constant f64: literals, named constants, + - * /"),
        }
    }

    /// A `usize` constant expression: + − × of literals and named constants, never below 0.
    pub(crate) fn count(&mut self, expression: &Expr, notes: &mut Notes) -> Checked<i64> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) if number.suffix().is_empty() || number.suffix() == "usize" => {
                    bounded(number.base10_parse().unwrap_or(i64::MAX), expression, notes)
                }
                _ => notes.reject(literal, "expected a whole number"),
            },
            Expr::Paren(inner) => self.count(&inner.expr, notes),
            Expr::Binary(binary) => {
                let (a, b) = (self.count(&binary.left, notes), self.count(&binary.right, notes));
                let (a, b) = (a?, b?);
                let value = match binary.op {
                    BinOp::Add(_) => a + b,
                    BinOp::Sub(_) => a - b,
                    BinOp::Mul(_) => a * b,
                    _ => return notes.reject(&binary.op, "a constant usize is made by + - * only"),
                };
                bounded(value, expression, notes)
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(ident) => match self.named(&ident.to_string(), Some(ident), notes)? {
                    Constant::Count(value) => Ok(value),
                    Constant::Real(_) => notes.reject(path, format!("`{ident}` is an f64, not a usize")),
                },
                None => notes.reject(path, "a constant is named by a single word"),
            },
            _ => notes.reject(expression, "expected a constant usize: literals, named constants, + - *"),
        }
    }

    /// A constant by name, if it is one.
    pub(crate) fn lookup(&self, name: &str) -> Option<Constant> {
        match self.entries.get(name) {
            Some(Entry::Known(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Counts fit an `int` of any device with room for one multiplication in i64.
fn bounded(value: i64, place: &Expr, notes: &mut Notes) -> Checked<i64> {
    if (0..=i64::from(i32::MAX)).contains(&value) {
        Ok(value)
    } else {
        notes.reject(place, "a usize constant lies between 0 and 2147483647")
    }
}
