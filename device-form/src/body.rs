//! Bodies of functions: statements.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::rc::Rc;

use syn::spanned::Spanned;
use syn::{Block, Expr, ExprAssign, ExprBinary, ExprForLoop, Local, Pat, RangeLimits, Stmt};

use crate::constants::Constants;
use crate::expression::{Value, operator};
use crate::form::Signatures;
use crate::items::{Draft, Signature};
use crate::meaning::Meanings;
use crate::names::{self, Bound, Scope};
use crate::rejection::{Checked, Notes, Rejected};
use crate::types::Type;

/// C text with the Rust lines it comes from.
pub(crate) struct Text {
    file: Rc<str>,
    text: String,
    /// Line number C gives to the next line.
    next: usize,
}

impl Text {
    fn line(&mut self, from: usize, depth: usize, c: &str) {
        if self.next == from + 1 {
            // Several lines of C from one of Rust are one line.
            self.text.truncate(self.text.trim_end().len());
            writeln!(self.text, " {c}").unwrap();
            return;
        }
        if self.next != from {
            writeln!(self.text, "#line {from} \"{}\"", self.file).unwrap();
        }
        writeln!(self.text, "{:width$}{c}", "", width = 4 * depth).unwrap();
        self.next = from + 1;
    }
}

/// A function on its way to C.
pub(crate) struct Body<'a> {
    pub(crate) signatures: &'a Signatures,
    pub(crate) constants: &'a mut Constants,
    pub(crate) notes: &'a mut Notes,
    pub(crate) scope: Scope,
    pub(crate) meanings: Meanings,
    /// Functions called, in order of their names.
    pub(crate) calls: BTreeSet<String>,
    /// Types made.
    pub(crate) types: BTreeSet<Type>,
    /// Arrays filled with one value.
    pub(crate) fillers: BTreeSet<Type>,
    text: Text,
    depth: usize,
}

/// C text of a function and what it needs.
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) calls: BTreeSet<String>,
    pub(crate) types: BTreeSet<Type>,
    pub(crate) fillers: BTreeSet<Type>,
}

/// Writes a function whose signature is known.
pub(crate) fn write(
    draft: &Draft,
    signature: &Signature,
    signatures: &Signatures,
    constants: &mut Constants,
    notes: &mut Notes,
) -> Checked<Written> {
    let mut body = Body {
        signatures,
        constants,
        notes,
        scope: Scope::default(),
        meanings: Meanings::default(),
        calls: BTreeSet::new(),
        types: BTreeSet::new(),
        fillers: BTreeSet::new(),
        text: Text { file: draft.file.clone(), text: String::new(), next: 0 },
        depth: 0,
    };
    let mut parameters = Vec::new();
    for (name, of) in &signature.parameters {
        body.types.insert(of.clone());
        let c_name = match name {
            Some(name) => {
                let meaning = body.meanings.fresh();
                body.scope.bind(name, Bound::Value { of: of.clone(), meaning, mutable: false })
            }
            None => body.scope.fresh("unused"),
        };
        parameters.push(format!("{} {c_name}", of.c_name()));
    }
    body.types.insert(signature.result.clone());
    let head = format!("INLINE {} nm_{}({}) {{", signature.result.c_name(), draft.name, parameters.join(", "));
    body.text.line(draft.name.span().start().line, 0, &head);
    body.whole(&draft.block, &signature.result)?;
    let Body { text, calls, types, fillers, .. } = body;
    Ok(Written { text: text.text, calls, types, fillers })
}

impl Body<'_> {
    /// A line of C from the place of a statement.
    pub(crate) fn line(&mut self, place: &impl Spanned, c: &str) {
        self.text.line(place.span().start().line, self.depth, c);
    }

    fn whole(&mut self, block: &Block, result: &Type) -> Checked<()> {
        self.depth = 1;
        let Some((Stmt::Expr(last, None), before)) = block.stmts.split_last() else {
            self.statements(&block.stmts)?;
            return self.notes.reject_at(block.brace_token.span.close(), "a function ends with its value");
        };
        // A loop without value at the end.
        if let Expr::ForLoop(_) = last {
            self.statements(&block.stmts)?;
            return self.notes.reject(last, "a function ends with its value, not with a loop");
        }
        let statements = self.statements(before);
        let value = self.value(last)?;
        statements?;
        if value.of != *result {
            let message = format!("this is {}, the function returns {}", value.of.rust_name(), result.rust_name());
            return self.notes.reject(last, message);
        }
        self.line(last, &format!("return {};", value.c));
        let end = block.brace_token.span.close().start().line;
        self.text.line(end, 0, "}");
        Ok(())
    }

    /// All statements, so that every fault is noted.
    fn statements(&mut self, statements: &[Stmt]) -> Checked<()> {
        let mut all = Ok(());
        for statement in statements {
            if self.statement(statement).is_err() {
                all = Err(Rejected);
            }
        }
        all
    }

    fn statement(&mut self, statement: &Stmt) -> Checked<()> {
        match statement {
            Stmt::Local(local) => self.binding(local),
            Stmt::Item(item) => self.notes.reject(item, "no items inside of a function"),
            Stmt::Macro(call) => self.notes.reject(call, "macros have no device form"),
            Stmt::Expr(expression, _) => {
                self.attributes(expression)?;
                match expression {
                    Expr::ForLoop(repeated) => self.repeated(repeated),
                    Expr::Assign(assignment) => self.assignment(assignment),
                    Expr::Binary(binary) => match operator(&binary.op) {
                        Some((c, true)) => self.update(binary, c),
                        _ => self.notes.reject(expression, "this value is not used"),
                    },
                    Expr::Call(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Tuple(_) => {
                        self.notes.reject(expression, "this value is not used")
                    }
                    other => self.value(other).map(|_| ()),
                }
            }
        }
    }

    /// `let`.
    fn binding(&mut self, local: &Local) -> Checked<()> {
        let value = self.initial(local);
        let value = match value {
            Ok(value) => value,
            Err(rejected) => {
                self.bind_faulty(&local.pat);
                return Err(rejected);
            }
        };
        let (pattern, of) = match &local.pat {
            Pat::Type(typed) => {
                let of = crate::items::read_type(&typed.ty, self.constants, self.notes);
                (&*typed.pat, of.ok())
            }
            pattern => (pattern, Some(value.of.clone())),
        };
        match of {
            Some(of) if of == value.of => self.bind(pattern, value, local),
            Some(of) => {
                self.bind_faulty(pattern);
                let message = format!("this is {}, not {}", value.of.rust_name(), of.rust_name());
                self.notes.reject(&local.pat, message)
            }
            None => {
                self.bind_faulty(pattern);
                Err(Rejected)
            }
        }
    }

    fn initial(&mut self, local: &Local) -> Checked<Value> {
        if let Some(attribute) = local.attrs.first() {
            return self.notes.reject(attribute, "no attributes inside of a function");
        }
        match &local.init {
            None => self.notes.reject(local, "`let` without a value"),
            Some(init) if init.diverge.is_some() => self.notes.reject(local, "`let … else` is not in the subset"),
            Some(init) => self.value(&init.expr),
        }
    }

    fn assignment(&mut self, assignment: &ExprAssign) -> Checked<()> {
        let (target, value) = (self.target(&assignment.left), self.value(&assignment.right));
        let (target, value) = (target?, value?);
        if target.of != value.of {
            let message = format!("this is {}, not {}", value.of.rust_name(), target.of.rust_name());
            return self.notes.reject(&assignment.right, message);
        }
        self.line(assignment, &format!("{} = {};", target.c, value.c));
        let now = if target.whole { value.meaning } else { self.meanings.fresh() };
        self.scope.assign(&target.root, now);
        Ok(())
    }

    /// `+=` and its like.
    fn update(&mut self, binary: &ExprBinary, c: &str) -> Checked<()> {
        let (target, value) = (self.target(&binary.left), self.real(&binary.right));
        let (target, value) = (target?, value?);
        if target.of != Type::Real {
            return self.notes.reject(&binary.left, format!("this is {}, not R", target.of.rust_name()));
        }
        self.line(binary, &format!("{} = ({} {c} {});", target.c, target.c, value.c));
        let now = self.meanings.fresh();
        self.scope.assign(&target.root, now);
        Ok(())
    }

    fn repeated(&mut self, repeated: &ExprForLoop) -> Checked<()> {
        if let Some(label) = &repeated.label {
            return self.notes.reject(label, "no labels: a loop runs through");
        }
        let range = self.range(&repeated.expr);
        let name = match &*repeated.pat {
            Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
                names::checked(&name.ident, self.notes)
            }
            Pat::Wild(_) => Ok("turn".to_owned()),
            other => self.notes.reject(other, "a loop variable is a plain name"),
        };
        let depth = self.scope.depth();
        self.forget_mutable();
        let head = match (range, name) {
            (Ok((low, high, reversed)), Ok(name)) => {
                let i = self.scope.bind(&name, Bound::Index { low, high });
                Ok(match reversed {
                    false => format!("for (int {i} = {low}; {i} <= {high}; ++{i}) {{"),
                    true => format!("for (int {i} = {high}; {i} >= {low}; --{i}) {{"),
                })
            }
            _ => {
                self.bind_faulty(&repeated.pat);
                Err(Rejected)
            }
        };
        if let Ok(head) = &head {
            self.line(repeated, head);
        }
        self.depth += 1;
        let inside = self.statements(&repeated.body.stmts);
        self.depth -= 1;
        self.scope.leave(depth);
        self.forget_mutable();
        self.text.line(repeated.body.brace_token.span.close().start().line, self.depth, "}");
        head.and(inside)
    }

    /// Whatever a loop assigns to differs from turn to turn.
    fn forget_mutable(&mut self) {
        let meanings = &mut self.meanings;
        self.scope.mutable().for_each(|meaning| *meaning = meanings.fresh());
    }

    /// First and last index of `A..B`, `A..=B` or one of them in `( ).rev()`, and whether it is reversed.
    fn range(&mut self, expression: &Expr) -> Checked<(i64, i64, bool)> {
        const EXPECTED: &str = "a loop runs over A..B, A..=B or (A..B).rev() with constant bounds";
        match expression {
            Expr::Paren(inner) => self.range(&inner.expr),
            Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
                let (low, high, reversed) = self.range(&call.receiver)?;
                Ok((low, high, !reversed))
            }
            Expr::Range(range) => {
                let (Some(start), Some(end)) = (&range.start, &range.end) else {
                    return self.notes.reject(range, EXPECTED);
                };
                let (low, end) = (self.constants.count(start, self.notes), self.constants.count(end, self.notes));
                let (low, end) = (low?, end?);
                let high = if matches!(range.limits, RangeLimits::Closed(_)) { end } else { end - 1 };
                if low > high {
                    return self.notes.reject(range, "this loop never runs");
                }
                Ok((low, high, false))
            }
            other => self.notes.reject(other, EXPECTED),
        }
    }
}
