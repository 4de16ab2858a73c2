//! The whole of the numerics.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::body;
use crate::constants::Constants;
use crate::items::{self, Draft, Signature};
use crate::rejection::{Notes, Rejection};
use crate::types::Type;

/// A numerics file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Name in messages and in `#line`.
    pub name: String,
    /// Contents.
    pub text: String,
}

/// Signatures by name; nothing where the head of the function has a fault.
pub(crate) type Signatures = HashMap<String, Option<Signature>>;

/// A function in C.
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) public: bool,
    pub(crate) signature: Signature,
    pub(crate) text: String,
    calls: BTreeSet<String>,
}

/// The device form of a set of numerics files.
pub struct Form {
    /// Callees first.
    pub(crate) functions: Vec<Function>,
    types: BTreeSet<Type>,
    fillers: BTreeSet<Type>,
}

impl Form {
    /// Reads the files; the order of functions in them and between them does not matter.
    ///
    /// # Errors
    ///
    /// Every place that lies outside of the subset, in order of files and lines.
    pub fn read(files: &[SourceFile]) -> Result<Self, Vec<Rejection>> {
        let mut notes: HashMap<Rc<str>, Notes> = HashMap::new();
        let mut constants = Constants::default();
        let mut drafts: BTreeMap<String, Draft> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        let mut names: HashMap<String, String> = HashMap::new();
        for file in files {
            let name: Rc<str> = file.name.as_str().into();
            let mut own = Notes::new(&name);
            let found = items::read(&file.text, &mut own, &name);
            let mut is_new = |ident: &proc_macro2::Ident, own: &mut Notes| {
                match names.insert(ident.to_string(), file.name.clone()) {
                    Some(other) => {
                        own.reject(ident, format!("`{ident}` is defined in {other}, too: all files share their names"))
                    }
                    None => Ok(()),
                }
                .is_ok()
            };
            for constant in found.constants {
                if is_new(&constant.name, &mut own) {
                    constants.insert(constant.name.to_string(), constant.expression, constant.count, &name);
                }
            }
            for draft in found.functions {
                if is_new(&draft.name, &mut own) {
                    order.push(draft.name.to_string());
                    drafts.insert(draft.name.to_string(), draft);
                }
            }
            notes.insert(name, own);
        }
        constants.compute_all(&mut notes);
        let form = Self::write(&order, &drafts, &mut constants, &mut notes);
        let mut rejections: Vec<Rejection> = notes.into_values().flat_map(|own| own.list).collect();
        let place = |name: &str| files.iter().position(|file| file.name == name);
        rejections.sort_by_cached_key(|r| (place(&r.file), r.clone()));
        if rejections.is_empty() { Ok(form) } else { Err(rejections) }
    }

    fn write(
        order: &[String],
        drafts: &BTreeMap<String, Draft>,
        constants: &mut Constants,
        notes: &mut HashMap<Rc<str>, Notes>,
    ) -> Self {
        let mut signatures = Signatures::new();
        for (name, draft) in drafts {
            let own = notes.get_mut(&draft.file).expect("every file has notes");
            signatures.insert(name.clone(), draft.signature(constants, own).ok());
        }
        let mut form = Self { functions: Vec::new(), types: BTreeSet::new(), fillers: BTreeSet::new() };
        let mut functions: HashMap<String, Function> = HashMap::new();
        for (name, draft) in drafts {
            let own = notes.get_mut(&draft.file).expect("every file has notes");
            let Some(signature) = &signatures[name] else { continue };
            let Ok(written) = body::write(draft, signature, &signatures, constants, own) else { continue };
            form.types.extend(written.types);
            form.fillers.extend(written.fillers);
            let (text, calls) = (written.text, written.calls);
            let function =
                Function { name: name.clone(), public: draft.public, signature: signature.clone(), text, calls };
            functions.insert(name.clone(), function);
        }
        let mut sorted = Sorted { functions, path: Vec::new(), done: Vec::new(), recursions: Vec::new() };
        order.iter().for_each(|name| sorted.visit(name));
        for (name, message) in sorted.recursions {
            let draft = &drafts[&name];
            // Only noted: the list decides about success.
            let _ = notes.get_mut(&draft.file).expect("every file has notes").reject::<()>(&draft.name, message);
        }
        form.functions = sorted.done;
        form
    }

    /// C text of all functions: structs with their constructors, then the functions, callees first.
    pub fn functions_text(&self) -> String {
        let mut text = String::from("#line 1 \"numerics.h\"\n");
        let mut defined = BTreeSet::new();
        self.types.iter().for_each(|of| define(of, &mut defined, &mut text));
        self.fillers.iter().for_each(|of| text.push_str(&of.filler_definition()));
        for function in &self.functions {
            text.push('\n');
            text.push_str(&function.text);
        }
        text
    }

    /// Public functions in the order of the text.
    pub(crate) fn public(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.public)
    }
}

/// Writes a type after the types of its parts.
fn define(of: &Type, defined: &mut BTreeSet<Type>, text: &mut String) {
    if defined.insert(of.clone()) {
        of.parts().iter().for_each(|(part, _)| define(part, defined, text));
        text.push_str(&of.definition());
    }
}

/// Functions put into order.
struct Sorted {
    functions: HashMap<String, Function>,
    path: Vec<String>,
    done: Vec<Function>,
    /// Functions that call themselves, with the message.
    recursions: Vec<(String, String)>,
}

impl Sorted {
    fn visit(&mut self, name: &str) {
        if let Some(start) = self.path.iter().position(|n| n == name) {
            let round = [&self.path[start..], &[name.to_owned()]].concat();
            self.recursions.push((name.to_owned(), format!("recursion: {}", round.join(" -> "))));
            return;
        }
        let Some(function) = self.functions.get(name) else { return };
        let calls = function.calls.clone();
        self.path.push(name.to_owned());
        calls.iter().for_each(|callee| self.visit(callee));
        self.path.pop();
        self.done.extend(self.functions.remove(name));
    }
}
