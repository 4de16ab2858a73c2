//! Types of the numerics and their C form.

use std::fmt::Write;

/// A type of the subset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    /// `R`.
    Real,
    /// `R::Mask`, an `int` in C.
    Mask,
    /// A tuple of at least two.
    Tuple(Vec<Type>),
    /// `[T; N]` with N > 0.
    Array(Box<Type>, usize),
}

impl Type {
    /// Short unambiguous code, part of C names: `r`, `m`, `t2rr`, `a5r`.
    fn code(&self) -> String {
        match self {
            Type::Real => "r".to_owned(),
            Type::Mask => "m".to_owned(),
            Type::Tuple(parts) => format!("t{}{}", parts.len(), parts.iter().map(Type::code).collect::<String>()),
            Type::Array(part, length) => format!("a{length}{}", part.code()),
        }
    }

    /// Name of the type in C.
    pub(crate) fn c_name(&self) -> String {
        match self {
            Type::Real => "REAL".to_owned(),
            Type::Mask => "int".to_owned(),
            _ => format!("value_{}", self.code()),
        }
    }

    /// Name of the function that makes a struct from its parts.
    pub(crate) fn constructor(&self) -> String {
        format!("make_{}", self.code())
    }

    /// Name of the function that fills an array with one value.
    pub(crate) fn filler(&self) -> String {
        format!("fill_{}", self.code())
    }

    /// Types and C selectors (`.m0`, `.v[0]`) of the parts of a struct; nothing for a number or a mask.
    pub(crate) fn parts(&self) -> Vec<(&Type, String)> {
        match self {
            Type::Real | Type::Mask => Vec::new(),
            Type::Tuple(parts) => parts.iter().enumerate().map(|(n, part)| (part, format!(".m{n}"))).collect(),
            Type::Array(part, length) => (0..*length).map(|n| (&**part, format!(".v[{n}]"))).collect(),
        }
    }

    /// Name in Rust, for messages.
    pub(crate) fn rust_name(&self) -> String {
        match self {
            Type::Real => "R".to_owned(),
            Type::Mask => "R::Mask".to_owned(),
            Type::Tuple(parts) => format!("({})", parts.iter().map(Type::rust_name).collect::<Vec<_>>().join(", ")),
            Type::Array(part, length) => format!("[{}; {length}]", part.rust_name()),
        }
    }

    /// Number of scalars in a value.
    pub(crate) fn scalars(&self) -> usize {
        match self {
            Type::Real | Type::Mask => 1,
            Type::Tuple(parts) => parts.iter().map(Type::scalars).sum(),
            Type::Array(part, length) => part.scalars() * length,
        }
    }

    /// The struct with its constructor; nothing for a number or a mask.
    pub(crate) fn definition(&self) -> String {
        let (name, constructor) = (self.c_name(), self.constructor());
        let parts = self.parts();
        let mut text = String::new();
        let (fields, parameter): (String, fn(usize) -> String) = match self {
            Type::Real | Type::Mask => return text,
            Type::Tuple(types) => {
                (types.iter().enumerate().map(|(n, part)| format!("{} m{n}; ", part.c_name())).collect(), |n| {
                    format!("m{n}")
                })
            }
            Type::Array(part, length) => (format!("{} v[{length}]; ", part.c_name()), |n| format!("v{n}")),
        };
        let parameters: Vec<String> =
            parts.iter().enumerate().map(|(n, (part, _))| format!("{} {}", part.c_name(), parameter(n))).collect();
        let assignments: String =
            parts.iter().enumerate().map(|(n, (_, field))| format!("made{field} = {}; ", parameter(n))).collect();
        writeln!(text, "typedef struct {{ {fields}STRUCT_END }} {name};").unwrap();
        writeln!(
            text,
            "INLINE {name} {constructor}({}) {{ {name} made; {assignments}return made; }}",
            parameters.join(", ")
        )
        .unwrap();
        text
    }

    /// The function that fills an array with one value.
    pub(crate) fn filler_definition(&self) -> String {
        let Type::Array(part, length) = self else { return String::new() };
        let name = self.c_name();
        format!(
            "INLINE {name} {}({} value) {{ {name} made; for (int n = 0; n < {length}; ++n) {{ made.v[n] = value; }} return made; }}\n",
            self.filler(),
            part.c_name()
        )
    }
}
