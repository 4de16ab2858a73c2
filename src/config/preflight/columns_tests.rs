//! Vertical physics and sources against small files.

use std::path::Path;

use crate::config::{ConfigErrors, Preflight, RunConfig};
use crate::met::synth::{self, SynthFlow, SynthOptions};

const NC: usize = 4;
const LEVELS: usize = 3;

/// A file of two half-hourly windows without physics, from 2021-12-01 or without a date.
fn winds(folder: &Path, name: &str, start: Option<&str>) {
    let mut options = SynthOptions::new(SynthFlow::SolidBody { angle_deg: 0.0 }, NC, LEVELS);
    (options.windows, options.window_seconds) = (2, 1800.0);
    options.start_time = start.map(|time| time.parse().unwrap());
    synth::write(folder.join(name), &options, |_| {}).unwrap();
}

const MADE: &str = "[input.synthetic]\nnc = 4\nlevels = 3\nwindows = 2\nphysics = \"all\"";
const BARE: &str = "[input.synthetic]\nnc = 4\nlevels = 3\nwindows = 2";
const STORED: &str = "[input]\nbinary_paths = [\"dated.bin\"]";
const UNDATED: &str = "[input]\nbinary_paths = [\"undated.bin\"]";

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    winds(dir.path(), "dated.bin", Some("2021-12-01T00:00:00Z"));
    winds(dir.path(), "undated.bin", None);
    dir
}

fn check(dir: &Path, input: &str, rest: &str) -> Result<Preflight, ConfigErrors> {
    let text = format!("[advection]\nscheme = \"ppm\"\n[tracers.co2]\n{rest}\n{input}\n");
    let config = RunConfig::parse(&text, &dir.join("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain()));
    config.preflight(1)
}

fn warnings(dir: &Path, input: &str, rest: &str) -> Vec<String> {
    check(dir, input, rest).unwrap_or_else(|e| panic!("{}", e.plain())).warnings
}

const KINDS: [&str; 7] = [
    "[diffusion]\nkind = \"tm5_beljaars_viterbo_local_kz\"",
    "[diffusion]\nkind = \"geoschem_holtslag_boville_vdiff\"",
    "[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"",
    "[diffusion]\nkind = \"tm5_dkg\"",
    "[convection]\nkind = \"tm5\"",
    "[convection]\nkind = \"cmfmc\"\ncloud_base = \"dqrcu\"",
    "[convection]\nkind = \"cmfmc_matrix\"",
];

#[test]
fn winds_with_physics_drive_every_kind() {
    let dir = folder();
    for kind in KINDS {
        assert_eq!(warnings(dir.path(), MADE, kind), Vec::<String>::new(), "{kind}");
    }
    for kind in ["[diffusion]\nkind = \"constant\"", "[diffusion]\nkind = \"profile\"\nkz = [1, 2]\nz = [0, 9]"] {
        check(dir.path(), STORED, kind).unwrap_or_else(|e| panic!("{}", e.plain()));
        check(dir.path(), BARE, kind).unwrap_or_else(|e| panic!("{}", e.plain()));
    }
}

#[test]
fn what_a_kind_needs_is_named_with_the_switch_that_writes_it() {
    let dir = folder();
    let needs: [&[&str]; 7] = [
        &["`pblh`, `ustar`, `pbl_hflux`, `t2m`", "`include_surface`"],
        &["`t2m`, `vdiff_u`, `vdiff_v`, `vdiff_t`, `vdiff_qv`", "`include_surface` and `include_vdiff_fields`"],
        &["`vdiff_qv`, `pbl_eflux`", "`include_surface` and `include_vdiff_fields`"],
        &["`dkg`", "`include_tm5_diffusion`"],
        &["`entu`, `detu`, `entd`, `detd`", "`include_convection`"],
        &["`cmfmc`, `cmfmc_cloud_base`", "`include_convection` and `include_convective_cloud_base`"],
        &["`cmfmc`, `dtrain`", "`include_convection`"],
    ];
    for (kind, parts) in KINDS.iter().zip(needs) {
        let stored = check(dir.path(), STORED, kind).expect_err(kind);
        let plain = stored.plain();
        assert_eq!(stored.problems().len(), 1, "{plain}");
        assert_eq!(stored.position(stored.problems().next().unwrap()).map(|p| p.0), Some(5), "{plain}");
        assert!(parts.iter().all(|part| plain.contains(part)) && plain.contains("dated.bin lacks"), "{plain}");
        let made = check(dir.path(), BARE, kind).expect_err(kind).plain();
        assert!(made.contains(parts[0]) && made.contains("`physics = \"all\"`"), "{made}");
    }
}

#[test]
fn numbers_of_levels_fit() {
    let dir = folder();
    let source = |weights| {
        format!(
            "surface_flux = {{ kind = \"uniform\", rate = 1, injection = {{ kind = \"levels\", weights = {weights} }} }}"
        )
    };
    for fits in [
        "[diffusion]\nkind = \"profile\"\nkz = [1, 2, 3]",
        "[convection]\nkind = \"tm5\"\nuse_collab_lu = true\nlmax_conv = 3\nn_merge = 3",
        &source("[0, 0, 1]"),
    ] {
        check(dir.path(), MADE, fits).unwrap_or_else(|e| panic!("{}", e.plain()));
    }
    for (rest, line, parts) in [
        ("[diffusion]\nkind = \"profile\"\nkz = [1, 2]", 6, &["diffusion.kz", "2 values for 3 levels"][..]),
        ("[convection]\nkind = \"tm5\"\nuse_collab_lu = true\nlmax_conv = 4", 7, &["lmax_conv", "is 4", "3 levels"]),
        (
            "[convection]\nkind = \"tm5\"\nuse_collab_lu = true\nn_merge = 3\nlmax_conv = 2",
            7,
            &["n_merge", "only 2 levels"],
        ),
        (&source("[1, 1]"), 4, &["tracers.co2.surface_flux.injection.weights", "2 values for 3 levels"]),
    ] {
        let errors = check(dir.path(), MADE, rest).expect_err(rest);
        let plain = errors.plain();
        assert_eq!(errors.problems().len(), 1, "{plain}");
        assert_eq!(errors.position(errors.problems().next().unwrap()).map(|p| p.0), Some(line), "{plain}");
        assert!(parts.iter().all(|part| plain.contains(part)), "{parts:?} not in\n{plain}");
    }
}

#[test]
fn non_local_mixing_needs_two_levels() {
    let dir = folder();
    let made = |levels| MADE.replace("levels = 3", &format!("levels = {levels}"));
    let nonlocal = "[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"";
    let errors = check(dir.path(), &made(1), nonlocal).expect_err("one level");
    let plain = errors.plain();
    let problem = errors.problems().next().unwrap();
    assert_eq!((errors.problems().len(), problem.key.as_str()), (1, "diffusion.kind"), "{plain}");
    assert_eq!(errors.position(problem).map(|p| p.0), Some(5), "{plain}");
    assert!(plain.contains("needs at least 2 levels, but there is 1") && plain.contains("another kind"), "{plain}");
    check(dir.path(), &made(2), nonlocal).unwrap_or_else(|e| panic!("{}", e.plain()));
    let local = "[diffusion]\nkind = \"geoschem_holtslag_boville_vdiff\"";
    check(dir.path(), &made(1), local).unwrap_or_else(|e| panic!("{}", e.plain()));
}

#[test]
fn rarely_wanted_choices_are_warned_of() {
    let dir = folder();
    let source = "surface_flux = { kind = \"uniform\", rate = 1 }\n";
    let local = "[diffusion]\nkind = \"geoschem_holtslag_boville_vdiff\"";
    for (rest, part) in [
        ("[diffusion]\nkind = \"constant\"\nkz_update = \"matrix\"".to_owned(), "does not conserve"),
        (format!("{source}{local}"), "lofts less"),
    ] {
        let found = warnings(dir.path(), MADE, &rest);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }
    for quiet in [local.to_owned(), format!("{source}{local}\nsurface_flux_boundary = true")] {
        assert!(warnings(dir.path(), MADE, &quiet).is_empty(), "{quiet}");
    }
}

/// Writes a source with slices at these hours of 2021-12-01.
fn flux(folder: &Path, name: &str, nc: usize, units: &str, hours: &[f64]) {
    let mut file = netcdf::create(folder.join(name)).unwrap();
    for (dimension, len) in [("time", hours.len()), ("nf", 6), ("Ydim", nc), ("Xdim", nc)] {
        file.add_dimension(dimension, len).unwrap();
    }
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "hours since 2021-12-01").unwrap();
    time.put_values(hours, ..).unwrap();
    let mut flux = file.add_variable::<f32>("flux", &["time", "nf", "Ydim", "Xdim"]).unwrap();
    flux.put_attribute("units", units).unwrap();
    flux.put_values(&vec![1e-9; hours.len() * 6 * nc * nc], ..).unwrap();
}

/// Adds time bounds in hours of 2021-12-01.
fn bound(path: &Path, bounds: &[f64]) {
    let mut file = netcdf::append(path).unwrap();
    file.add_dimension("nv", 2).unwrap();
    file.add_variable::<f64>("time_bnds", &["time", "nv"]).unwrap().put_values(bounds, ..).unwrap();
    file.variable_mut("time").unwrap().put_attribute("bounds", "time_bnds").unwrap();
}

/// Spec 20: outside its times a flux is constant, with a warning, however many slices the files have. The run lasts an hour.
#[test]
fn slices_warn_where_they_do_not_stand_for_the_run() {
    let dir = folder();
    let per_area = "kg m-2 s-1";
    let source = |file: &str, more: &str| {
        let line = format!("surface_flux = {{ kind = \"cs_native\", file = \"{file}\", variable = \"flux\"{more} }}");
        warnings(dir.path(), STORED, &line)
    };
    for (hours, bounds, end) in [
        (&[0.0][..], None, Some("its only time is 2021-12-01T00:00:00Z")),
        (&[-700.0], None, Some("its only time is 2021-11-01T20:00:00Z")),
        (&[0.0], Some(&[0.0, 1.0][..]), None),
        (&[0.0], Some(&[-24.0, 24.0]), None),
        (&[-9.0], Some(&[-9.0, -5.0]), Some("2021-11-30T15:00:00Z to 2021-11-30T19:00:00Z, do not cover the run")),
        (&[0.0, 0.25], Some(&[0.0, 0.25, 0.25, 0.75]), Some("2021-12-01T00:00:00Z to 2021-12-01T00:45:00Z, do not")),
        (&[0.0, 0.25], Some(&[0.0, 0.25, 0.25, 1.0]), None),
        (&[0.0, 0.25], None, Some("2021-12-01T00:00:00Z to 2021-12-01T00:30:00Z, do not")),
        (&[0.0, 0.75], Some(&[0.0, 0.25, 0.75, 1.0]), Some("no record stands for")),
    ] {
        for scheme in ["stepwise", "linear", "conservative"] {
            if scheme != "stepwise" && bounds.is_none() && hours.len() > 1 {
                continue;
            }
            flux(dir.path(), "flux.nc", NC, per_area, hours);
            if let Some(bounds) = bounds {
                bound(&dir.path().join("flux.nc"), bounds);
            }
            let found = source("flux.nc", &format!(", temporal_scheme = \"{scheme}\""));
            assert_eq!(found.len(), usize::from(end.is_some()), "{hours:?} {bounds:?}: {found:?}");
            assert!(end.is_none_or(|end| found[0].contains(end)), "{end:?}: {found:?}");
        }
    }
    flux(dir.path(), "flux.nc", NC, per_area, &[0.0]);
    bound(&dir.path().join("flux.nc"), &[1.0, 1.0]);
    let line = "surface_flux = { kind = \"cs_native\", file = \"flux.nc\", variable = \"flux\" }";
    let plain = check(dir.path(), STORED, line).expect_err("bounds").plain();
    assert!(plain.contains("'time_bnds' of time 1") && plain.contains("do not increase"), "{plain}");
}

#[test]
fn files_of_sources_are_opened() {
    let dir = folder();
    let per_area = "kg m-2 s-1";
    flux(dir.path(), "fits.nc", NC, per_area, &[0.0, 3.0]);
    flux(dir.path(), "later.nc", NC, per_area, &[6.0]);
    flux(dir.path(), "late.nc", NC, per_area, &[0.5, 1.0]);
    flux(dir.path(), "other_grid.nc", 6, per_area, &[0.0]);
    flux(dir.path(), "moles.nc", NC, "mol m-2 s-1", &[0.0]);
    std::fs::write(dir.path().join("text.nc"), b"no netcdf").unwrap();
    let source = |files: &str| format!("surface_flux = {{ kind = \"cs_native\", {files}, variable = \"flux\" }}");
    let fits = source("file = \"fits.nc\"");
    assert!(warnings(dir.path(), STORED, &fits).is_empty());
    assert!(warnings(dir.path(), STORED, &source("files = [\"fits.nc\", \"later.nc\"]")).is_empty());
    let dated = format!("{UNDATED}\nstart_date = 2021-12-01");
    assert!(warnings(dir.path(), &dated, &fits).is_empty());
    let late = warnings(dir.path(), STORED, &source("file = \"late.nc\""));
    assert!(late.len() == 1 && late[0].contains("do not cover"), "{late:?}");
    for (input, files, parts) in [
        (STORED, "file = \"other_grid.nc\"", &["surface_flux.file", "6 × 6", "C4"][..]),
        (STORED, "file = \"moles.nc\"", &["mol m-2 s-1", "kg m-2 s-1"]),
        (STORED, "file = \"text.nc\"", &["text.nc", "cannot be opened"]),
        (STORED, "files = [\"later.nc\", \"fits.nc\"]", &["surface_flux.files", "fits.nc", "the file before ends"]),
        (UNDATED, "file = \"fits.nc\"", &["surface_flux.file", "the date", "input.start_date"]),
    ] {
        let errors = check(dir.path(), input, &source(files)).expect_err(files);
        let plain = errors.plain();
        assert_eq!(errors.problems().len(), 1, "{plain}");
        assert!(errors.position(errors.problems().next().unwrap()).is_some_and(|p| p.0 == 4), "{plain}");
        assert!(parts.iter().all(|part| plain.contains(part)), "{parts:?} not in\n{plain}");
    }
    for path in ["fits.nc", "dir/../fits.nc"] {
        std::fs::create_dir_all(dir.path().join("dir")).unwrap();
        let overwriting = format!("{fits}\n[output]\npath = \"{path}\"\nhours = []");
        let plain = check(dir.path(), STORED, &overwriting).expect_err(path).plain();
        assert!(plain.contains("a file of a source and would be overwritten"), "{plain}");
    }
    let budget = source("file = \"o.budget.csv\"");
    std::fs::rename(dir.path().join("later.nc"), dir.path().join("o.budget.csv")).unwrap();
    let plain =
        check(dir.path(), STORED, &format!("{budget}\n[output]\npath = \"o.nc\"\nhours = []")).expect_err("budget");
    assert!(plain.plain().contains("o.budget.csv is a file of a source"), "{}", plain.plain());
    let flat = "surface_flux_kind = \"cs_native\"\nsurface_flux_file = \"moles.nc\"\nsurface_flux_variable = \"flux\"";
    let errors = check(dir.path(), STORED, flat).expect_err(flat);
    assert_eq!(errors.position(errors.problems().next().unwrap()).map(|p| p.0), Some(5), "{}", errors.plain());
}

#[test]
fn spline_columns_need_four_levels() {
    let check = |levels| {
        let made = MADE.replace("levels = 3", &format!("levels = {levels}"));
        let text = format!("[advection]\nscheme = \"ppm\"\nvertical = \"fv3_kord8\"\n[tracers.co2]\n{made}\n");
        RunConfig::parse(&text, Path::new("run.toml")).unwrap_or_else(|e| panic!("{}", e.plain())).preflight(1)
    };
    let errors = check(3).expect_err("three levels");
    let plain = errors.plain();
    assert!(plain.contains("needs 4 levels, but there are 3") && plain.contains("advection.vertical"), "{plain}");
    check(4).unwrap_or_else(|e| panic!("{}", e.plain()));
}
