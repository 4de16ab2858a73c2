//! Writes the device form of the numerics: `numerics.h`, `conformance.h` and `conformance.rs`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use device_form::{Form, SourceFile};

const FOLDER: &str = "src/numerics";

fn main() -> ExitCode {
    // A new file changes the folder, a changed one only itself.
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let mut names: Vec<String> = fs::read_dir(FOLDER)
        .expect("the numerics are there")
        .map(|entry| entry.expect("an entry of the folder").file_name().into_string().expect("a plain name"))
        .filter(|name| name.ends_with(".rs"))
        .collect();
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let path = format!("{FOLDER}/{name}");
        println!("cargo::rerun-if-changed={path}");
        let text = fs::read_to_string(&path).expect("a numerics file is text");
        files.push(SourceFile { name: format!("numerics/{name}"), text });
    }
    let form = match Form::read(&files) {
        Ok(form) => form,
        Err(rejections) => {
            rejections.iter().for_each(|rejection| println!("cargo::error=kernels/src/{rejection}"));
            return ExitCode::FAILURE;
        }
    };
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    let write = |name: &str, text: String| fs::write(Path::new(&out).join(name), text).expect("the folder is writable");
    write("numerics.h", form.functions_text());
    write("conformance.h", form.conformance_text());
    write("conformance.rs", form.conformance_table());
    ExitCode::SUCCESS
}
