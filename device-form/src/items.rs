//! Items of a numerics file: functions and constants.

use std::rc::Rc;

use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{
    Attribute, Block, Expr, FnArg, GenericParam, Item, ItemConst, ItemFn, Meta, Pat, ReturnType, Signature as Head,
    Type as Written, TypeParamBound, UseTree, Visibility,
};

use crate::constants::Constants;
use crate::names;
use crate::rejection::{Checked, Notes, Rejected};
use crate::types::Type;

/// A function as written, its head checked in form but not in types.
pub(crate) struct Draft {
    pub(crate) name: Ident,
    pub(crate) public: bool,
    pub(crate) head: Head,
    pub(crate) block: Box<Block>,
    pub(crate) file: Rc<str>,
}

/// A constant as written.
pub(crate) struct NamedConstant {
    pub(crate) name: Ident,
    pub(crate) expression: Expr,
    pub(crate) count: bool,
}

/// Functions and constants of a file.
#[derive(Default)]
pub(crate) struct Items {
    pub(crate) functions: Vec<Draft>,
    pub(crate) constants: Vec<NamedConstant>,
}

/// Parameters and result of a function.
#[derive(Clone)]
pub(crate) struct Signature {
    /// Names (nothing for `_`) and types.
    pub(crate) parameters: Vec<(Option<String>, Type)>,
    pub(crate) result: Type,
}

/// The items of a file that have a device form; everything else is noted.
pub(crate) fn read(text: &str, notes: &mut Notes, file: &Rc<str>) -> Items {
    let mut items = Items::default();
    let parsed = match syn::parse_file(text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let _ = notes.reject_at::<()>(error.span(), error);
            return items;
        }
    };
    for item in parsed.items {
        // What is wrong with an item has been noted; the others are still read.
        let _ = read_item(item, &mut items, notes, file);
    }
    items
}

fn read_item(item: Item, items: &mut Items, notes: &mut Notes, file: &Rc<str>) -> Checked<()> {
    match item {
        Item::Fn(function) => {
            if !for_tests(&function.attrs, notes)? {
                items.functions.push(draft(function, notes, file)?);
            }
        }
        Item::Const(constant) => {
            if !for_tests(&constant.attrs, notes)? {
                items.constants.push(named_constant(constant, notes)?);
            }
        }
        Item::Use(import) => {
            if !for_tests(&import.attrs, notes)? {
                imports(&import.tree, notes)?;
            }
        }
        Item::Mod(module) => {
            if !for_tests(&module.attrs, notes)? && module.content.is_some() {
                return notes.reject(&module, "a module inside of a file: only `#[cfg(test)]` ones, others are files");
            }
        }
        other => return notes.reject(&other, "only functions and constants have a device form"),
    }
    Ok(())
}

/// Whether an item is compiled for tests only. Any other condition is an error.
fn for_tests(attributes: &[Attribute], notes: &mut Notes) -> Checked<bool> {
    let conditional = |a: &&Attribute| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr");
    let Some(attribute) = attributes.iter().find(conditional) else { return Ok(false) };
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test" => Ok(true),
        _ => notes.reject(attribute, "the device form is the same everywhere: only `#[cfg(test)]`"),
    }
}

fn imports(tree: &UseTree, notes: &mut Notes) -> Checked<()> {
    match tree {
        UseTree::Path(path) => imports(&path.tree, notes),
        UseTree::Rename(rename) => notes.reject(rename, "functions keep their names: no `as`"),
        UseTree::Group(group) => group.items.iter().try_for_each(|item| imports(item, notes)),
        UseTree::Name(_) | UseTree::Glob(_) => Ok(()),
    }
}

fn named_constant(constant: ItemConst, notes: &mut Notes) -> Checked<NamedConstant> {
    let count = match &*constant.ty {
        Written::Path(path) if path.path.is_ident("f64") => false,
        Written::Path(path) if path.path.is_ident("usize") => true,
        other => return notes.reject(other, "a constant is an f64 or a usize"),
    };
    Ok(NamedConstant { name: constant.ident, expression: *constant.expr, count })
}

fn draft(function: ItemFn, notes: &mut Notes, file: &Rc<str>) -> Checked<Draft> {
    let ItemFn { attrs, vis, sig, block } = function;
    let mut inlined = false;
    let mut fine = names::checked(&sig.ident, notes).map(|_| ());
    for attribute in &attrs {
        match &attribute.meta {
            Meta::List(list) if list.path.is_ident("inline") => inlined = list.tokens.to_string() == "always",
            Meta::Path(path) if path.is_ident("inline") => {}
            meta if ["doc", "allow", "expect"].iter().any(|name| meta.path().is_ident(name)) => {}
            _ => fine = notes.reject(attribute, "a function has no attributes but docs and #[inline(always)]"),
        }
    }
    if !inlined {
        fine = notes.reject(
            &sig.ident,
            format!("`{}` lacks #[inline(always)]: loops around it would not vectorise", sig.ident),
        );
    }
    if let Some(word) = sig.constness.map(|w| w.span).or(sig.asyncness.map(|w| w.span)).or(sig.unsafety.map(|w| w.span))
    {
        fine = notes.reject_at(word, "a plain `fn`: no const, async or unsafe");
    }
    if sig.abi.is_some() || sig.variadic.is_some() {
        fine = notes.reject(&sig, "a plain `fn`: no extern");
    }
    fine?;
    Ok(Draft {
        name: sig.ident.clone(),
        public: matches!(vis, Visibility::Public(_)),
        head: sig,
        block,
        file: file.clone(),
    })
}

impl Draft {
    /// Types of the parameters and of the result.
    pub(crate) fn signature(&self, constants: &mut Constants, notes: &mut Notes) -> Checked<Signature> {
        let generic = generics(&self.head, notes);
        let mut parameters = Some(Vec::new());
        for argument in &self.head.inputs {
            match (parameter(argument, constants, notes), &mut parameters) {
                (Ok(parameter), Some(list)) => list.push(parameter),
                _ => parameters = None,
            }
        }
        let result = match &self.head.output {
            ReturnType::Default => notes.reject(&self.head.ident, format!("`{}` returns nothing", self.head.ident)),
            ReturnType::Type(_, written) => read_type(written, constants, notes),
        };
        generic?;
        Ok(Signature { parameters: parameters.ok_or(Rejected)?, result: result? })
    }
}

fn generics(head: &Head, notes: &mut Notes) -> Checked<()> {
    let real = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Trait(t) if t.path.is_ident("Real"));
    let parameters: Vec<_> = head.generics.params.iter().collect();
    match parameters[..] {
        [GenericParam::Type(only)]
            if only.ident == "R"
                && only.bounds.len() == 1
                && only.bounds.iter().all(real)
                && only.default.is_none() => {}
        _ => return notes.reject(&head.ident, format!("`{}` needs exactly the generics `<R: Real>`", head.ident)),
    }
    match &head.generics.where_clause {
        Some(clause) => notes.reject(clause, "no where clause: the generics are `<R: Real>`"),
        None => Ok(()),
    }
}

fn parameter(argument: &FnArg, constants: &mut Constants, notes: &mut Notes) -> Checked<(Option<String>, Type)> {
    let typed = match argument {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => return notes.reject(receiver, "a function of the numerics has no self"),
    };
    let name = match &*typed.pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
            names::checked(&name.ident, notes).map(Some)
        }
        Pat::Wild(_) => Ok(None),
        other => notes.reject(other, "a parameter is a plain name; use `let` for parts and for `mut`"),
    };
    let of = read_type(&typed.ty, constants, notes);
    Ok((name?, of?))
}

/// A type of the subset.
pub(crate) fn read_type(written: &Written, constants: &mut Constants, notes: &mut Notes) -> Checked<Type> {
    const KNOWN: &str = "types are R, R::Mask, tuples and arrays [R; N]";
    match written {
        Written::Paren(inner) => read_type(&inner.elem, constants, notes),
        Written::Path(path) if path.qself.is_none() => {
            let words: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
            let plain = path.path.leading_colon.is_none() && path.path.segments.iter().all(|s| s.arguments.is_none());
            match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
                ["R"] if plain => Ok(Type::Real),
                ["R", "Mask"] if plain => Ok(Type::Mask),
                _ => notes.reject(path, format!("`{}`: {KNOWN}", words.join("::"))),
            }
        }
        Written::Tuple(tuple) if tuple.elems.len() < 2 => notes.reject(tuple, "a tuple has at least two parts"),
        Written::Tuple(tuple) => {
            let parts: Vec<_> = tuple.elems.iter().map(|part| read_type(part, constants, notes)).collect();
            Ok(Type::Tuple(parts.into_iter().collect::<Checked<_>>()?))
        }
        Written::Array(array) => {
            let part = read_type(&array.elem, constants, notes);
            let length = constants.count(&array.len, notes);
            match length? {
                0 => notes.reject(&array.len, "an array has at least one element"),
                length => Ok(Type::Array(Box::new(part?), length as usize)),
            }
        }
        Written::Reference(reference) => notes.reject(reference, format!("no references: {KNOWN}")),
        other => notes.reject_at(other.span(), KNOWN),
    }
}
