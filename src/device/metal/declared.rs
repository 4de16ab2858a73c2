//! Kernels as the text of a program declares them. Metal does not tell the kinds of arguments that a kernel ignores.

use crate::device::arguments::Kind;

/// Kinds of a kernel's arguments; `None` if the text has no such kernel. The form of declarations: `portable.h`.
pub(super) fn kinds(source: &str, name: &str) -> Option<Result<Vec<Kind>, String>> {
    let declarations = source.split("KERNEL ").skip(1);
    let list =
        declarations.filter_map(|text| text.trim_start().strip_prefix(name)?.trim_start().strip_prefix('(')).next()?;
    let list = list.split("THREADS").next().unwrap_or_default();
    Some(arguments(list).map(kind).collect())
}

/// The arguments of a list; the comma of `VALUE(int, n)` divides none.
fn arguments(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    let parts = list.split(move |c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c == ','
    });
    parts.map(str::trim).filter(|argument| !argument.is_empty())
}

fn kind(argument: &str) -> Result<Kind, String> {
    let value = argument.strip_prefix("VALUE(").and_then(|inner| inner.split(',').next()).map(str::trim);
    match value {
        Some("int") => Ok(Kind::Int),
        Some("REAL") => Ok(Kind::Single),
        None if argument.starts_with("GLOBAL ") => Ok(Kind::Memory),
        _ => Err(format!(
            "an argument is `{argument}`; arguments are GLOBAL pointers, VALUE(int, ...) and VALUE(REAL, ...)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use kernels::device::KernelName;
    use kernels::device::conformance::conformance_source;

    use super::*;

    #[test]
    fn kinds_are_those_of_the_declaration() {
        let text = "#define KERNEL kernel void\n/* KERNEL name(...) */\nKERNEL ab(GLOBAL REAL *x, VALUE(REAL, y) THREADS) {}\n\
                    KERNEL a(GLOBAL const int *table,\n         VALUE(int, n), GLOBAL wide *sums THREADS)\n{ f(1, 2); }\n\
                    KERNEL none(THREADS) {}\nKERNEL wrong(VALUE(wide, n) THREADS) {}";
        assert_eq!(kinds(text, "ab"), Some(Ok(vec![Kind::Memory, Kind::Single])));
        assert_eq!(kinds(text, "a"), Some(Ok(vec![Kind::Memory, Kind::Int, Kind::Memory])));
        assert_eq!(kinds(text, "none"), Some(Ok(vec![])));
        assert_eq!(kinds(text, "b"), None);
        assert_eq!(kinds(text, "a\0"), None);
        assert!(matches!(kinds(text, "wrong"), Some(Err(words)) if words.contains("VALUE(wide, n)")));
    }

    #[test]
    fn every_kernel_of_the_program_is_understood() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/src/device");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|e| e == "h"));
        let text: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
        let text = text + conformance_source();
        for kernel in KernelName::ALL {
            let kinds = kinds(&text, kernel.name()).unwrap_or_else(|| panic!("no {kernel:?}")).unwrap();
            assert!(kinds.first() == Some(&Kind::Memory) && kinds.contains(&Kind::Int), "{kernel:?}: {kinds:?}");
        }
        let three = [Kind::Memory, Kind::Memory, Kind::Int];
        assert_eq!(kinds(&text, "conform_two_sum"), Some(Ok(three.to_vec())));
    }
}
