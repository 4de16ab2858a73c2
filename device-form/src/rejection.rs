//! What lies outside of the subset.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

use proc_macro2::Span;
use syn::spanned::Spanned;

/// One place in a numerics file that has no device form, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// Name of the file as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what to write instead.
    pub message: String,
}

impl Display for Rejection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl Error for Rejection {}

/// A part without device form; the reason has been noted.
pub(crate) struct Rejected;

/// Result of a part whose rejections are noted elsewhere.
pub(crate) type Checked<T> = Result<T, Rejected>;

/// All rejections of one file.
pub(crate) struct Notes {
    file: Rc<str>,
    pub(crate) list: Vec<Rejection>,
}

impl Notes {
    pub(crate) fn new(file: &Rc<str>) -> Self {
        Self { file: file.clone(), list: Vec::new() }
    }

    /// Notes a rejection at the beginning of `place`.
    pub(crate) fn reject<T>(&mut self, place: &impl Spanned, message: impl Display) -> Checked<T> {
        self.reject_at(place.span(), message)
    }

    /// Notes a rejection at the beginning of a span.
    pub(crate) fn reject_at<T>(&mut self, span: Span, message: impl Display) -> Checked<T> {
        let start = span.start();
        self.list.push(Rejection {
            file: self.file.to_string(),
            line: start.line,
            column: start.column + 1,
            message: message.to_string(),
        });
        Err(Rejected)
    }
}
