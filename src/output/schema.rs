//! Layout of a snapshot file: dimensions, variables and attributes as data.
//!
//! NetCDF-4, CF-1.8, with the dimensions and grid variables of native GEOS cubed-sphere files, which GCPy, xarray and
//! Panoply know.

use netcdf::AttributeValue;

use super::geometry::grid_label;
use super::met_field::MetField;
use super::selection::{
    AIR_TOTAL, Extent, FieldPlan, FieldVariable, Quantity, TIME_BOUNDS, total_mass_name, tracer_of,
};
use super::spec::OutputSpec;
use crate::grid::CubedSphere;

/// Attributes in the order in which they are written.
pub(crate) type Attributes = Vec<(String, AttributeValue)>;

/// Storage type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Int,
    Float,
    Double,
}

/// Definition of one variable.
#[derive(Clone, Debug)]
pub(crate) struct VariableDef {
    pub name: String,
    pub storage: Storage,
    pub dims: Vec<&'static str>,
    pub attributes: Attributes,
    /// Spatial record variable: chunked by level and piece of a panel, compressed, with a fill value.
    pub field: bool,
}

/// Value of `_FillValue` and `missing_value` of the spatial variables.
pub(super) const FILL: f64 = 1.0e15;

/// Name of the unlimited dimension.
pub(super) const TIME: &str = "time";

/// Dimensions and lengths, the unlimited one without length.
pub(super) fn dimensions(spec: &OutputSpec, nc: usize, plan: &FieldPlan) -> Vec<(&'static str, Option<usize>)> {
    let mut dims = vec![(TIME, None), ("lev", Some(plan.levels))];
    if !plan.selected.is_empty() {
        dims.push(("lev_selected", Some(plan.selected.len())));
    }
    if spec.vertical.is_some() {
        dims.push(("ilev", Some(plan.levels + 1)));
    }
    for (name, length) in
        [("nf", 6), ("Ydim", nc), ("Xdim", nc), ("Ycorner", nc + 1), ("Xcorner", nc + 1), ("ncontact", 4), ("four", 4)]
    {
        dims.push((name, Some(length)));
    }
    if plan.has_intervals() {
        dims.push(("nv", Some(2)));
    }
    dims
}

impl FieldPlan {
    /// Bytes of the spatial variables of one snapshot on a grid of `nc` cells per panel edge, uncompressed, at
    /// `value_bytes` a value.
    pub fn snapshot_bytes(&self, nc: usize, value_bytes: usize) -> u64 {
        let layers = |variable: &FieldVariable| match variable.extent {
            Extent::Full => self.levels,
            Extent::Selected => self.selected.len(),
            Extent::Column => 1,
        };
        let layers: usize = self.variables.iter().map(layers).sum();
        layers as u64 * (6 * nc * nc * value_bytes) as u64
    }
}

/// All variables in file order. `float` is the storage type of the spatial ones.
pub(super) fn variables(spec: &OutputSpec, grid: &CubedSphere, plan: &FieldPlan, float: Storage) -> Vec<VariableDef> {
    let mut list = coordinates(spec, plan);
    list.extend(grid_variables(grid));
    list.extend(plan.variables.iter().map(|v| field(v, plan, float)));
    list.extend(totals(plan));
    list.extend(spec.series.iter().map(|series| {
        let pairs = [("long_name", series.long_name.as_str()), ("units", series.units)];
        variable(&series.name, Storage::Double, &[TIME], &text(pairs))
    }));
    list
}

/// Global totals: the air, then the tracers.
fn totals(plan: &FieldPlan) -> Vec<VariableDef> {
    let air = [
        ("long_name", "global total of dry air mass"),
        ("units", "kg"),
        ("mass_basis", "dry"),
        ("comment", "exact sum of the model state, rounded once"),
    ];
    let mut list = vec![variable(AIR_TOTAL, Storage::Double, &[TIME], &text(air))];
    list.extend(plan.tracers.iter().map(|tracer| {
        let long_name = format!("global total of dry air mass times dry mole fraction of {tracer}");
        let pairs = [
            ("long_name", long_name.as_str()),
            ("units", "kg"),
            ("storage_contract", "mixing_ratio_times_carrier_air_mass"),
            ("mass_basis", "dry"),
            (
                "comment",
                "kg of carrier air, not of the species: times its molar mass over that of air it is the mass of the \
                 species; exact sum of the model state, rounded once; authoritative for budgets",
            ),
        ];
        variable(&total_mass_name(tracer), Storage::Double, &[TIME], &text(pairs))
    }));
    list
}

fn variable(name: &str, storage: Storage, dims: &[&'static str], attributes: &[(&str, AttributeValue)]) -> VariableDef {
    let attributes = attributes.iter().map(|(key, value)| (key.to_string(), value.clone())).collect();
    VariableDef { name: name.into(), storage, dims: dims.to_vec(), attributes, field: false }
}

fn text<const N: usize>(pairs: [(&'static str, &str); N]) -> [(&'static str, AttributeValue); N] {
    pairs.map(|(key, value)| (key, value.into()))
}

fn coordinates(spec: &OutputSpec, plan: &FieldPlan) -> Vec<VariableDef> {
    use Storage::{Double, Int};
    let time = match spec.time_origin {
        Some(origin) => {
            let units = origin.strftime("hours since %Y-%m-%d %H:%M:%S").to_string();
            let pairs = [
                ("standard_name", "time"),
                ("long_name", "time"),
                ("units", units.as_str()),
                ("calendar", "standard"),
                ("axis", "T"),
                ("comment", "instantaneous, UTC"),
            ];
            variable(TIME, Double, &[TIME], &text(pairs))
        }
        None => {
            let pairs = [
                ("long_name", "elapsed simulation time"),
                ("units", "hours"),
                ("axis", "T"),
                ("comment", "instantaneous, since the start of the run"),
            ];
            variable(TIME, Double, &[TIME], &text(pairs))
        }
    };
    let level = |name: &'static str, long_name| {
        let pairs = [
            ("standard_name", "model_level_number"),
            ("long_name", long_name),
            ("units", "1"),
            ("axis", "Z"),
            ("positive", "down"),
            ("coordinate", "eta"),
        ];
        variable(name, Double, &[name], &text(pairs))
    };
    let mut list = vec![time, level("lev", "model level, 1 at the model top")];
    if plan.has_intervals() {
        list[0].attributes.push(("bounds".into(), TIME_BOUNDS.into()));
        let comment = "interval of the variables whose cell_methods name a sum or a mean over time";
        list.push(variable(TIME_BOUNDS, Double, &[TIME, "nv"], &text([("comment", comment)])));
    }
    if !plan.selected.is_empty() {
        list.push(level("lev_selected", "written model levels, 1 at the model top"));
    }
    if spec.vertical.is_some() {
        list.extend(hybrid());
    }
    let face = [("long_name", "cubed-sphere face"), ("axis", "e"), ("grads_dim", "e")];
    list.push(variable("nf", Int, &["nf"], &text(face)));
    let y = [("long_name", "fake latitude for GrADS compatibility"), ("units", "degrees_north")];
    list.push(variable("Ydim", Double, &["Ydim"], &text(y)));
    let x = [("long_name", "fake longitude for GrADS compatibility"), ("units", "degrees_east")];
    list.push(variable("Xdim", Double, &["Xdim"], &text(x)));
    list
}

/// Coefficients of the hybrid coordinate at the interfaces of the layers.
fn hybrid() -> [VariableDef; 3] {
    let interface =
        [("long_name", "interface of model levels, 1 at the model top"), ("units", "1"), ("positive", "down")];
    let comment = "pressure at interfaces is hyai + hybi times the surface pressure of the meteorology";
    let a = [("long_name", "hybrid coefficient A at interfaces"), ("units", "Pa"), ("comment", comment)];
    let b = [("long_name", "hybrid coefficient B at interfaces"), ("units", "1"), ("comment", comment)];
    [("ilev", interface), ("hyai", a), ("hybi", b)]
        .map(|(name, pairs)| variable(name, Storage::Double, &["ilev"], &text(pairs)))
}

/// Variables that describe the grid.
pub(super) fn grid_variables(grid: &CubedSphere) -> Vec<VariableDef> {
    use Storage::{Double, Int};
    let longitude = |name, long_name, dims: &[&'static str]| {
        let pairs = [("standard_name", "longitude"), ("long_name", long_name), ("units", "degrees_east")];
        variable(name, Double, dims, &text(pairs))
    };
    let latitude = |name, long_name, dims: &[&'static str]| {
        let pairs = [("standard_name", "latitude"), ("long_name", long_name), ("units", "degrees_north")];
        variable(name, Double, dims, &text(pairs))
    };
    let (cells, corners) = (["nf", "Ydim", "Xdim"], ["nf", "Ycorner", "Xcorner"]);
    let area = [
        ("standard_name", "cell_area"),
        ("long_name", "area of the grid cells"),
        ("units", "m2"),
        ("coordinates", "lons lats"),
        ("grid_mapping", "cubed_sphere"),
    ];
    let contacts = [("long_name", "adjacent face starting from left side going clockwise")];
    let anchor = [
        ("long_name", "touching edge of the adjacent face, clockwise around it"),
        ("comment", "first and last j, then first and last i, from 1"),
    ];
    vec![
        variable("ncontact", Int, &["ncontact"], &text([("long_name", "number of contact points")])),
        variable("contacts", Int, &["nf", "ncontact"], &text(contacts)),
        variable("anchor", Int, &["nf", "ncontact", "four"], &text(anchor)),
        longitude("lons", "longitude of cell centres", &cells),
        latitude("lats", "latitude of cell centres", &cells),
        longitude("corner_lons", "longitude of cell corners", &corners),
        latitude("corner_lats", "latitude of cell corners", &corners),
        variable("cell_area", Double, &cells, &text(area)),
        VariableDef {
            name: "cubed_sphere".into(),
            storage: Int,
            dims: vec![],
            attributes: grid_attributes(grid)
                .into_iter()
                .chain([
                    ("semi_major_axis".into(), grid.radius_m().into()),
                    ("inverse_flattening".into(), 0.0_f64.into()),
                ])
                .collect(),
            field: false,
        },
    ]
}

/// Attributes that name the grid, on the grid mapping variable and on the file.
fn grid_attributes(grid: &CubedSphere) -> Attributes {
    let bundle = grid.bundle();
    vec![
        ("grid_mapping_name".into(), "gnomonic cubed-sphere".into()),
        ("cs_definition".into(), bundle.cs_definition().into()),
        ("cs_coordinate_law".into(), bundle.cs_coordinate_law().into()),
        ("cs_center_law".into(), bundle.cs_center_law().into()),
        ("panel_convention".into(), bundle.panel_convention().into()),
        ("longitude_of_central_meridian".into(), grid.longitude_offset_deg().into()),
    ]
}

fn field(variable: &FieldVariable, plan: &FieldPlan, float: Storage) -> VariableDef {
    let tracer = tracer_of(variable.quantity).map(|t| plan.tracers[t].as_str()).unwrap_or_default();
    let (long_name, units, methods) = match variable.quantity {
        Quantity::AirMass => ("dry air mass".into(), "kg", None),
        Quantity::AirMassPerArea => ("dry air mass per area".into(), "kg m-2", None),
        Quantity::ColumnAirMassPerArea => ("dry air mass of the column per area".into(), "kg m-2", Some("lev: sum")),
        Quantity::MixingRatio(_) => (format!("mole fraction of {tracer} in dry air"), "mol mol-1", None),
        Quantity::ColumnMean(_) => {
            let long_name =
                format!("column mean of the mole fraction of {tracer} in dry air, weighted by dry air mass");
            (long_name, "mol mol-1", Some("lev: mean"))
        }
        Quantity::ColumnMassPerArea(_) => {
            let long_name = format!("column sum of dry air mass per area times dry mole fraction of {tracer}");
            (long_name, "kg m-2", Some("lev: sum"))
        }
        Quantity::ColumnFluxEast(_) | Quantity::ColumnFluxNorth(_) => {
            let toward =
                if matches!(variable.quantity, Quantity::ColumnFluxEast(_)) { "eastward" } else { "northward" };
            let long_name = format!(
                "{toward} flux of dry air mass times dry mole fraction of {tracer}, over the column and the time since the \
                 snapshot before, per length"
            );
            (long_name, "kg m-1", Some("lev: sum time: sum"))
        }
        Quantity::ColumnFluxDivergence(_) => {
            let long_name = format!(
                "divergence of the horizontal flux of dry air mass times dry mole fraction of {tracer}, over the column and \
                 the time since the snapshot before"
            );
            (long_name, "kg m-2", Some("lev: sum time: sum"))
        }
        Quantity::IntervalMean(_) => {
            let long_name = format!(
                "mole fraction of {tracer} in dry air, mean of the ends of the windows since the snapshot before, weighted by \
                 air mass"
            );
            (long_name, "mol mol-1", Some("time: mean"))
        }
        Quantity::Meteorology(field) => meteorology(field),
    };
    let dims: &[&'static str] = match variable.extent {
        Extent::Full => &[TIME, "lev", "nf", "Ydim", "Xdim"],
        Extent::Selected => &[TIME, "lev_selected", "nf", "Ydim", "Xdim"],
        Extent::Column => &[TIME, "nf", "Ydim", "Xdim"],
    };
    let standard_name = standard_name(variable.quantity, tracer).map(|name| ("standard_name".into(), name.into()));
    let missing: AttributeValue = if float == Storage::Float { (FILL as f32).into() } else { FILL.into() };
    let mut attributes: Attributes = standard_name.into_iter().collect();
    attributes.extend([
        ("long_name".into(), long_name.into()),
        ("units".into(), units.into()),
        ("mass_basis".into(), "dry".into()),
        ("coordinates".into(), "lons lats".into()),
        ("grid_mapping".into(), "cubed_sphere".into()),
        ("missing_value".into(), missing),
    ]);
    // CDO 2.1 crashes if a variable it can read (a column) names an area of three dimensions.
    if variable.extent != Extent::Column {
        attributes.push(("cell_measures".into(), "area: cell_area".into()));
    }
    if let Some(methods) = methods {
        attributes.push(("cell_methods".into(), methods.into()));
    }
    VariableDef { name: variable.name.clone(), storage: float, dims: dims.to_vec(), attributes, field: true }
}

/// Description and units of a field of the meteorology.
fn meteorology(field: MetField) -> (String, &'static str, Option<&'static str>) {
    let (long_name, units) = match field {
        MetField::DrySurfacePressure => ("surface pressure of the dry air that the run carries", "Pa"),
        MetField::SurfacePressure => {
            ("surface pressure: dry air that the run carries, and the water vapour of the meteorology", "Pa")
        }
        MetField::BoundaryLayerHeight => ("height of the boundary layer above the surface, as in the meteorology", "m"),
        MetField::TropopauseHeight => {
            ("height of the lapse-rate tropopause (WMO 1957) above the surface; missing where there is none", "m")
        }
        MetField::TropopausePressure => {
            ("pressure at the lapse-rate tropopause (WMO 1957); missing where there is none", "Pa")
        }
    };
    (long_name.into(), units, None)
}

/// Name in the CF standard name table, which has few species on dry air; parts of a species (`co2_fossil`) have none.
fn standard_name(quantity: Quantity, tracer: &str) -> Option<&'static str> {
    match quantity {
        Quantity::Meteorology(MetField::SurfacePressure) => Some("surface_air_pressure"),
        Quantity::Meteorology(MetField::BoundaryLayerHeight) => Some("atmosphere_boundary_layer_thickness"),
        Quantity::Meteorology(MetField::TropopausePressure) => Some("tropopause_air_pressure"),
        _ if !tracer.eq_ignore_ascii_case("co2") => None,
        Quantity::MixingRatio(_) => Some("mole_fraction_of_carbon_dioxide_in_dry_air"),
        Quantity::ColumnMean(_) => Some("dry_atmosphere_mole_fraction_of_carbon_dioxide"),
        _ => None,
    }
}

/// Global attributes, without `history` and `completed_snapshots`.
pub(super) fn global_attributes(
    spec: &OutputSpec,
    grid: &CubedSphere,
    plan: &FieldPlan,
    float_type: &str,
) -> Attributes {
    let from = &spec.provenance;
    let options = format!(
        "float_type={float_type}, deflate_level={}, shuffle={}",
        spec.compression.level,
        spec.compression.level > 0 && spec.compression.shuffle
    );
    let pairs = [
        ("Conventions", "CF-1.8"),
        ("title", &spec.title),
        ("source", "atmostr, offline tracer transport on the cubed sphere"),
        ("institution", &from.institution),
        ("grid", &grid_label(grid)),
        ("grid_type", "cubed_sphere"),
        ("mass_basis", "dry"),
        ("output_contract", "atmostr snapshot v1"),
        ("creation_date", &from.created),
        ("framework", &from.framework),
        ("framework_commit", &from.commit),
        ("framework_dirty", &from.dirty),
        ("runtime", &from.runtime),
        ("hostname", &from.hostname),
        ("user", &from.user),
        ("output_options", &options),
        ("output_fields", &plan.summary),
    ];
    let mut list: Attributes = pairs.iter().map(|(key, value)| (key.to_string(), (*value).into())).collect();
    list.extend(spec.run.iter().map(|(key, value)| (key.to_string(), value.as_str().into())));
    list.push(("Nc".into(), (grid.nc() as i32).into()));
    list.extend(grid_attributes(grid));
    list
}
