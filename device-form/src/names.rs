//! Names of bindings.

use std::collections::HashMap;

use proc_macro2::Ident;

use crate::meaning::Meaning;
use crate::rejection::{Checked, Notes};
use crate::types::Type;

/// What a name stands for.
#[derive(Clone)]
pub(crate) enum Bound {
    /// A parameter or the target of a `let`.
    Value {
        /// Its type.
        of: Type,
        /// What it holds now.
        meaning: Meaning,
        /// Whether it can be assigned to.
        mutable: bool,
    },
    /// The variable of a loop, from `low` up to and including `high`.
    Index { low: i64, high: i64 },
    /// Something whose fault has been noted.
    Faulty,
}

/// A binding with its name in C.
#[derive(Clone)]
pub(crate) struct Binding {
    pub(crate) c_name: String,
    pub(crate) bound: Bound,
}

/// The bindings in reach at one point of a function; later ones hide earlier ones of the same name.
#[derive(Default)]
pub(crate) struct Scope {
    stack: Vec<(String, Binding)>,
    used: HashMap<String, usize>,
}

impl Scope {
    /// A C name nothing else has: the Rust name with `_`, `_2`, `_3`, …
    ///
    /// No other Rust name leads to it, as what precedes the last `_` is the Rust name; keywords and macros do not end so.
    pub(crate) fn fresh(&mut self, name: &str) -> String {
        let count = self.used.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { format!("{name}_") } else { format!("{name}_{count}") }
    }

    /// Binds a name and returns what it is called in C.
    pub(crate) fn bind(&mut self, name: &str, bound: Bound) -> String {
        let c_name = self.fresh(name);
        self.stack.push((name.to_owned(), Binding { c_name: c_name.clone(), bound }));
        c_name
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Binding> {
        self.stack.iter().rev().find(|(n, _)| n == name).map(|(_, binding)| binding)
    }

    /// What a value holds after an assignment.
    pub(crate) fn assign(&mut self, name: &str, now: Meaning) {
        let found = self.stack.iter_mut().rev().find(|(n, _)| n == name);
        if let Some((_, Binding { bound: Bound::Value { meaning, .. }, .. })) = found {
            *meaning = now;
        }
    }

    /// Names of everything that can be assigned to.
    pub(crate) fn mutable(&mut self) -> impl Iterator<Item = &mut Meaning> {
        self.stack.iter_mut().filter_map(|(_, binding)| match &mut binding.bound {
            Bound::Value { meaning, mutable: true, .. } => Some(meaning),
            _ => None,
        })
    }

    /// How much is bound, for [`leave`](Self::leave).
    pub(crate) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Forgets what was bound since.
    pub(crate) fn leave(&mut self, depth: usize) {
        self.stack.truncate(depth);
    }
}

/// A name as it may stand in C: lower case, digits and single underscores.
pub(crate) fn checked(ident: &Ident, notes: &mut Notes) -> Checked<String> {
    let name = ident.to_string();
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !plain || name.contains("__") {
        return notes.reject(ident, format!("`{name}`: names are lower case words joined by single underscores"));
    }
    Ok(name)
}
