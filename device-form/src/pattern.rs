//! Patterns of `let`, and places that can be assigned to.

use syn::{Expr, Local, Member, Pat};

use crate::body::Body;
use crate::expression::Value;
use crate::meaning::Meaning;
use crate::names::{self, Bound};
use crate::rejection::{Checked, Rejected};
use crate::types::Type;

/// Where an assignment goes.
pub(crate) struct Target {
    /// The place in C.
    pub(crate) c: String,
    /// Its type.
    pub(crate) of: Type,
    /// Rust name of the variable it belongs to.
    pub(crate) root: String,
    /// Whether it is the whole variable.
    pub(crate) whole: bool,
}

impl Body<'_> {
    /// Binds the names of a pattern to a value.
    pub(crate) fn bind(&mut self, pattern: &Pat, value: Value, local: &Local) -> Checked<()> {
        match pattern {
            Pat::Tuple(_) => {
                // The struct first, so that it is made once.
                let whole = self.scope.fresh("parts");
                self.line(local, &format!("const {} {whole} = {};", value.of.c_name(), value.c));
                self.bind_parts(pattern, &whole, &value.of, value.meaning, local)
            }
            _ => self.bind_parts(pattern, &value.c, &value.of, value.meaning, local),
        }
    }

    fn bind_parts(&mut self, pattern: &Pat, c: &str, of: &Type, meaning: Meaning, local: &Local) -> Checked<()> {
        match pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let mutable = name.mutability.is_some();
                let rust_name = names::checked(&name.ident, self.notes);
                let unused = rust_name.as_ref().is_ok_and(|name| name.starts_with('_'));
                let rust_name = rust_name.inspect_err(|_| self.bind_faulty(pattern))?;
                let c_name = self.scope.bind(&rust_name, Bound::Value { of: of.clone(), meaning, mutable });
                if unused {
                    return self.notes.reject(name, "a value that is not used: leave it out, or write `_` in a tuple");
                }
                let constancy = if mutable { "" } else { "const " };
                self.line(local, &format!("{constancy}{} {c_name} = {c};", of.c_name()));
                Ok(())
            }
            Pat::Wild(_) if !matches!(&local.pat, Pat::Wild(_)) => Ok(()),
            Pat::Tuple(tuple) => match of {
                Type::Tuple(parts) if parts.len() == tuple.elems.len() => {
                    let mut all = Ok(());
                    for (n, (inner, part)) in tuple.elems.iter().zip(parts).enumerate() {
                        let meaning = self.meanings.part(meaning, n);
                        if self.bind_parts(inner, &format!("{c}.m{n}"), part, meaning, local).is_err() {
                            all = Err(Rejected);
                        }
                    }
                    all
                }
                _ => {
                    self.bind_faulty(pattern);
                    self.notes.reject(tuple, format!("this pattern does not fit {}", of.rust_name()))
                }
            },
            other => {
                self.bind_faulty(pattern);
                self.notes.reject(other, "a `let` binds a name or a tuple of names")
            }
        }
    }

    /// Makes the names of a pattern known after a fault, so that it is noted once.
    pub(crate) fn bind_faulty(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(name) => {
                self.scope.bind(&name.ident.to_string(), Bound::Faulty);
            }
            Pat::Tuple(tuple) => tuple.elems.iter().for_each(|inner| self.bind_faulty(inner)),
            Pat::Type(typed) => self.bind_faulty(&typed.pat),
            _ => {}
        }
    }

    /// A place that can be assigned to: a `mut` variable or a part of one.
    pub(crate) fn target(&mut self, expression: &Expr) -> Checked<Target> {
        match expression {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let ident = path.path.get_ident().expect("just asked");
                let name = ident.to_string();
                match self.scope.find(&name) {
                    Some(binding) => match &binding.bound {
                        Bound::Value { of, mutable: true, .. } => {
                            Ok(Target { c: binding.c_name.clone(), of: of.clone(), root: name, whole: true })
                        }
                        Bound::Faulty => Err(Rejected),
                        _ => self.notes.reject(ident, format!("`{name}` is not `mut`")),
                    },
                    None => self.notes.reject(ident, format!("`{name}` is not known here")),
                }
            }
            Expr::Paren(inner) => self.target(&inner.expr),
            Expr::Field(field) => {
                let target = self.target(&field.base)?;
                let (of, n) = match (&target.of, &field.member) {
                    (Type::Tuple(parts), Member::Unnamed(n)) if (n.index as usize) < parts.len() => {
                        (parts[n.index as usize].clone(), n.index)
                    }
                    (of, _) => {
                        let message = format!("no such part of {}", of.rust_name());
                        return self.notes.reject(&field.member, message);
                    }
                };
                Ok(Target { c: format!("{}.m{n}", target.c), of, root: target.root, whole: false })
            }
            Expr::Index(at) => {
                let target = self.target(&at.expr)?;
                let Type::Array(part, length) = target.of else {
                    return self.notes.reject(&at.expr, format!("{} has no elements", target.of.rust_name()));
                };
                let index = self.index(&at.index, length)?;
                Ok(Target { c: format!("{}.v[{}]", target.c, index.c), of: *part, root: target.root, whole: false })
            }
            other => self.notes.reject(other, "only a `mut` variable or a part of one can be assigned to"),
        }
    }
}
