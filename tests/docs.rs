//! The handbook and the readme say what the program does: links, commands, configurations, file formats, names.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use atmostr::config::fluxes::FluxConfig;
use atmostr::config::preprocess::PreprocessConfig;
use atmostr::config::{RunConfig, keys};
use atmostr::met::Section;
use atmostr::output::VOLATILE_ATTRIBUTES;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All pages with their paths relative to the sources: the readme and the handbook.
fn pages() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned()];
    let mut folders = vec!["docs/src".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            if entry.file_type().unwrap().is_dir() {
                folders.push(name);
            } else if name.ends_with(".md") {
                names.push(name);
            }
        }
    }
    assert!(names.len() > 10);
    names.into_iter().map(|name| (name.clone(), read(&name))).collect()
}

/// Fenced blocks of a page with their language, and the text outside of them.
fn split(page: &str) -> (Vec<(String, String)>, String) {
    let (mut blocks, mut prose) = (Vec::<(String, String)>::new(), String::new());
    let mut inside = false;
    for line in page.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(language), false) => blocks.push((language.to_owned(), String::new())),
            (None, true) => {
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            (Some(_), true) => {}
            (None, false) => {
                prose.push_str(line);
                prose.push('\n');
            }
        }
        inside ^= line.starts_with("```");
    }
    assert!(!inside, "a block is not closed");
    (blocks, prose)
}

/// Spans of code in the text of a page.
fn spans(prose: &str) -> Vec<&str> {
    prose.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Targets of the links of a text.
fn links(prose: &str) -> Vec<&str> {
    prose.split("](").skip(1).map(|rest| rest.split_once(')').expect("a link ends on its line").0).collect()
}

/// Name of a heading in a link.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|l| l.starts_with('#')).map(|l| l.trim_start_matches('#').trim());
    let keep = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    headings.map(|h| h.chars().filter_map(keep).collect()).collect()
}

fn atmostr(dir: &Path, args: &[&str]) -> Output {
    let output = Command::cargo_bin("atmostr").unwrap().current_dir(dir).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn stdout(args: &[&str]) -> String {
    String::from_utf8(atmostr(root(), args).stdout).unwrap()
}

#[test]
fn the_page_of_keys_is_what_the_program_prints() {
    let page = read("docs/src/configuration.md");
    assert_eq!(page, keys::markdown(), "renew it: atmostr config-keys > docs/src/configuration.md");
    assert_eq!(page, stdout(&["config-keys"]));
}

#[test]
fn the_page_of_preprocessing_keys_is_what_the_program_prints() {
    let page = read("docs/src/preprocessing-keys.md");
    assert_eq!(
        page,
        keys::preprocess_markdown(),
        "renew it: atmostr preprocess --keys > docs/src/preprocessing-keys.md"
    );
    assert_eq!(page, stdout(&["preprocess", "--keys"]));
}

#[test]
fn the_page_of_keys_of_flux_preparation_is_what_the_program_prints() {
    let page = read("docs/src/flux-keys.md");
    assert_eq!(page, keys::fluxes_markdown(), "renew it: atmostr prepare-fluxes --keys > docs/src/flux-keys.md");
    assert_eq!(page, stdout(&["prepare-fluxes", "--keys"]));
}

#[test]
fn the_summary_names_every_page_once() {
    let summary = read("docs/src/SUMMARY.md");
    let mut listed: Vec<String> = links(&summary).iter().map(|name| format!("docs/src/{name}")).collect();
    listed.extend(["README.md".to_owned(), "docs/src/SUMMARY.md".to_owned()]);
    let mut found: Vec<String> = pages().into_iter().map(|(name, _)| name).collect();
    listed.sort();
    found.sort();
    assert_eq!(listed, found);
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut count = 0;
    for (name, page) in pages() {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for link in links(&split(&page).1) {
            if link.starts_with("http") {
                continue;
            }
            let (file, anchor) = link.split_once('#').map_or((link, None), |(f, a)| (f, Some(a)));
            let path = if file.is_empty() { root().join(&name) } else { folder.join(file) };
            assert!(path.exists(), "{name}: {link}");
            if let Some(anchor) = anchor {
                let target = fs::read_to_string(&path).unwrap();
                assert!(anchors(&target).contains(anchor), "{name}: {link} in {:?}", anchors(&target));
            }
            count += 1;
        }
    }
    assert!(count > 20);
}

/// Commands of the program in a line of a page: the words after its name.
fn commands(line: &str) -> Vec<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_program = |w: &&str| *w == "atmostr" || w.ends_with("/atmostr");
    let starts: Vec<usize> = (0..words.len()).filter(|n| is_program(&words[*n])).collect();
    starts
        .into_iter()
        .map(|n| words[n + 1..].iter().take_while(|w| !["#", "|", "&&", ">", "2>"].contains(*w)).copied().collect())
        .collect()
}

#[test]
fn commands_and_options_exist() {
    let help = stdout(&["--help"]);
    let list = help.split_once("Commands:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let known: BTreeSet<&str> = list.lines().filter_map(|l| l.split_whitespace().next()).collect();
    assert!(known.contains("run") && known.contains("diff"));
    let mut used = BTreeSet::new();
    for (name, page) in pages() {
        let (blocks, prose) = split(&page);
        let code = blocks.iter().filter(|(language, _)| ["sh", "console", "text"].contains(&language.as_str()));
        let lines = code.flat_map(|(_, text)| text.lines()).chain(spans(&prose));
        for words in lines.flat_map(commands).filter(|words| !words.is_empty()) {
            let first = words[0];
            let (command, rest) = match first {
                _ if first.starts_with("--") => continue,
                _ if first.ends_with(".toml") => ("run", &words[..]),
                _ => (first, &words[1..]),
            };
            assert!(known.contains(command), "{name}: atmostr {}", words.join(" "));
            used.insert(command.to_owned());
            let mut options = stdout(&[command, "--help"]);
            if let (true, Some(part)) = (options.contains("\nCommands:\n"), rest.first()) {
                options = stdout(&[command, part, "--help"]);
            }
            for option in rest.iter().filter(|w| w.starts_with('-') && w.len() > 1) {
                let found = options.split_whitespace().any(|w| w.trim_end_matches(',') == *option);
                assert!(found, "{name}: atmostr {} has no {option}", words.join(" "));
            }
        }
    }
    for command in known.iter().filter(|c| **c != "help") {
        assert!(used.contains(*command), "no page shows `atmostr {command}`");
    }
}

/// Panics unless a configuration of `atmostr preprocess` is valid once the files that it names are there.
fn preprocessing_is_valid(name: &str, text: &str) {
    let dir = tempfile::tempdir().unwrap();
    let mut local = text.to_owned();
    for named in text.split('"').filter(|part| part.starts_with('$')) {
        let file = named.rsplit('/').next().unwrap().trim_start_matches('$');
        local = local.replace(&format!("\"{named}\""), &format!("\"{file}\""));
        match file.contains('.') {
            true => fs::write(dir.path().join(file), "").unwrap(),
            false => fs::create_dir_all(dir.path().join(file)).unwrap(),
        }
    }
    if let Err(errors) = PreprocessConfig::parse(&local, &dir.path().join("met.toml")) {
        panic!("{name}\n{local}\n{}", errors.plain());
    }
}

/// Panics unless a configuration of `atmostr prepare-fluxes` is valid once the files that it names are there.
fn flux_preparation_is_valid(name: &str, text: &str) {
    let dir = tempfile::tempdir().unwrap();
    for file in text.split('"').filter(|part| [".nc", ".bin", ".txt"].iter().any(|end| part.ends_with(end))) {
        for day in 1..=31 {
            let file = dir.path().join(file.replace("{YYYYMMDD}", &format!("202112{day:02}")));
            fs::write(file, "2021 0.36 0.02\n").unwrap();
        }
    }
    if let Err(errors) = FluxConfig::parse(text, &dir.path().join("fluxes.toml")) {
        panic!("{name}\n{text}\n{}", errors.plain());
    }
}

/// Every configuration in `configs/met` is valid.
#[test]
fn preprocessing_configurations_are_valid() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("configs/met")).unwrap() {
        let path = entry.unwrap().path();
        preprocessing_is_valid(&path.display().to_string(), &fs::read_to_string(&path).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn configurations_are_valid() {
    let mut complete = 0;
    for (name, page) in pages() {
        for (_, text) in split(&page).0.iter().filter(|(language, _)| language == "toml") {
            if text.contains("[source]") {
                preprocessing_is_valid(&name, text);
                complete += 1;
                continue;
            }
            if text.contains("[[flux]]") {
                flux_preparation_is_valid(&name, text);
                complete += 1;
                continue;
            }
            // A part of a configuration is completed with what every one needs.
            let mut whole = text.clone();
            let mut add = |table: &str, extra: &str| {
                if !text.contains(table) {
                    whole.push_str(extra);
                }
            };
            add("[input", "\n[input.synthetic]\n");
            add("[advection]", "\n[advection]\nscheme = \"ppm\"\n");
            add("[tracers", "\n[tracers.co2]\n[tracers.sf6]\n");
            if !text.contains("[output]") {
                let output = "[output]\npath = \"o.nc\"\ncadence_hours = 6\n\n";
                whole.insert_str(0, output);
            }
            complete += usize::from(whole == *text);
            let dir = tempfile::tempdir().unwrap();
            if text.contains("folder = \"met\"") {
                fs::create_dir(dir.path().join("met")).unwrap();
                for day in 1..=31 {
                    fs::write(dir.path().join(format!("met/winds_202112{day:02}.bin")), "").unwrap();
                }
            }
            for line in text.lines() {
                let name = line.strip_prefix("file").and_then(|rest| rest.split('"').nth(1));
                for month in 1..=12 {
                    let name = name.map(|name| name.replace("{YYYYMM}", &format!("2021{month:02}")));
                    name.into_iter().for_each(|name| fs::write(dir.path().join(name), "").unwrap());
                }
            }
            if let Err(errors) = RunConfig::parse(&whole, &dir.path().join("run.toml")) {
                panic!("{name}\n{whole}\n{}", errors.plain());
            }
        }
    }
    assert!(complete >= 2, "{complete} complete configurations");
}

#[test]
fn source_files_named_in_the_text_exist() {
    let mut count = 0;
    let folders = ["tests/", "src/", "kernels/", "decomposition/", "configs/", "slurm/", "scripts/"];
    for (name, page) in pages() {
        for span in spans(&split(&page).1) {
            if folders.iter().any(|f| span.starts_with(f)) && !span.contains(' ') {
                assert!(root().join(span).exists(), "{name}: {span}");
                count += 1;
            }
        }
    }
    assert!(count > 40);
}

#[test]
fn make_targets_exist() {
    let makefile = read("Makefile");
    let targets: BTreeSet<&str> =
        makefile.lines().find_map(|l| l.strip_prefix(".PHONY:")).unwrap().split_whitespace().collect();
    for (name, page) in pages() {
        let (blocks, prose) = split(&page);
        let lines = blocks.iter().filter(|(l, _)| l == "sh").flat_map(|(_, t)| t.lines()).chain(spans(&prose));
        for line in lines {
            if let Some(target) = line.strip_prefix("make ").and_then(|rest| rest.split_whitespace().next()) {
                assert!(targets.contains(target), "{name}: make {target}");
            }
        }
    }
}

/// Every word in backquotes of a page.
fn words(path: &str) -> BTreeSet<String> {
    let page = read(path);
    spans(&split(&page).1).into_iter().map(str::to_owned).collect()
}

#[test]
fn every_header_key_and_section_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let described = words("docs/src/transport-files.md");
    for flow in ["weather", "solid-body"] {
        let physics = if flow == "weather" { "all" } else { "none" };
        let grid = ["--nc", "4", "--levels", "3", "--windows", "1"];
        let common = ["--flow", flow, "--physics", physics, "--start-time", "2021-12-01"];
        atmostr(dir.path(), &[&["synth", "winds.bin"], &grid[..], &common[..]].concat());
        let bytes = fs::read(dir.path().join("winds.bin")).unwrap();
        let end = bytes.iter().position(|b| *b == 0).unwrap();
        let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&bytes[..end]).unwrap();
        for key in header.keys() {
            assert!(described.contains(key), "key {key}");
        }
    }
    let page = read("docs/src/transport-files.md");
    for section in Section::ALL {
        let named = |cell: &str| cell.split(',').any(|n| n.trim() == format!("`{section}`"));
        let row = page.lines().find(|l| l.split('|').nth(1).is_some_and(named));
        let row: Vec<&str> = row.unwrap_or_else(|| panic!("{section}")).split('|').map(str::trim).collect();
        assert_eq!(row[3], section.units(), "{section}");
        let shape = section.shape(10, 7);
        let terms = [("Nc × Nc × (Nz+1)", (10, 10, 8)), ("(Nc+1) × Nc × Nz", (11, 10, 7)), ("Nc × Nc", (10, 10, 1))];
        let more = [("Nc × (Nc+1) × Nz", (10, 11, 7)), ("Nc × Nc × Nz", (10, 10, 7))];
        let written = terms.iter().chain(&more).find(|(text, _)| *text == row[2]).map(|(_, shape)| *shape);
        assert_eq!(written, Some((shape.ni, shape.nj, shape.nk)), "{section}");
    }
}

#[test]
fn every_variable_and_attribute_of_the_output_is_described() {
    let dir = tempfile::tempdir().unwrap();
    let config = "[input.synthetic]\nnc = 4\nlevels = 3\nwindows = 2\n[advection]\nscheme = \"upwind\"\n[tracers.co2]\n\
        [output]\npath = \"o.nc\"\nhours = [0, 2]\n[output.fields]\nlayers = \"selected\"\nlevels = [2]\n\
        air_mass_layers = \"full\"\n";
    fs::write(dir.path().join("run.toml"), config).unwrap();
    atmostr(dir.path(), &["run.toml"]);
    let described = words("docs/src/output-files.md");
    let check = |what: &str, name: &str| assert!(described.contains(name), "{what} {name}");
    let path: PathBuf = dir.path().join("o.nc");
    let file = netcdf::open(path).unwrap();
    file.dimensions().for_each(|d| check("dimension", &d.name()));
    file.attributes().for_each(|a| check("attribute", a.name()));
    for variable in file.variables() {
        check("variable", &variable.name().replace("co2", "<tracer>"));
    }
    for attribute in file.variable("air_mass").unwrap().attributes() {
        check("attribute", attribute.name());
    }
    VOLATILE_ATTRIBUTES.iter().for_each(|name| check("attribute", name));
}

#[test]
fn job_scripts_are_valid_shell() {
    for script in ["slurm/one_node.sh", "slurm/many_nodes.sh"] {
        let text = read(script);
        assert!(text.starts_with("#!/usr/bin/env bash\n") && text.contains("\n#SBATCH --nodes="), "{script}");
        assert!(read("docs/src/howto.md").contains(script));
        Command::new("bash").arg("-n").arg(root().join(script)).assert().success();
    }
}
