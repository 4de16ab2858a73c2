//! What a selection of fields writes.

use super::*;

fn tracers() -> Vec<String> {
    vec!["co2".into(), "sf6".into()]
}

fn names(plan: &FieldPlan) -> Vec<&str> {
    plan.variables.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn default_selection_writes_everything_on_full_layers() {
    let plan = FieldSelection::default().plan(&tracers(), 4).unwrap();
    assert_eq!(
        names(&plan),
        [
            "air_mass",
            "air_mass_per_area",
            "column_air_mass_per_area",
            "co2",
            "co2_column_mean",
            "co2_column_mass_per_area",
            "sf6",
            "sf6_column_mean",
            "sf6_column_mass_per_area"
        ]
    );
    assert!(plan.selected.is_empty());
}

#[test]
fn exceptions_and_levels_apply() {
    let mut selection = FieldSelection {
        layers: LayerSelection::None,
        air_mass_layers: Some(LayerSelection::Selected),
        air_mass: false,
        levels: vec![4, 2, 4],
        column_mass_per_area: false,
        ..Default::default()
    };
    selection.per_tracer.insert(
        "sf6".into(),
        TracerFields { layers: Some(LayerSelection::Selected), column_mean: Some(false), ..Default::default() },
    );
    let plan = selection.plan(&tracers(), 4).unwrap();
    assert_eq!(names(&plan), ["air_mass_per_area", "column_air_mass_per_area", "co2_column_mean", "sf6"]);
    assert_eq!(plan.selected, [1, 3]);
}

#[test]
fn all_problems_are_reported_together() {
    let mut selection = FieldSelection {
        tracers: TracerSelection::Named(vec!["co3".into(), "co2".into()]),
        layers: LayerSelection::Selected,
        levels: vec![0, 5],
        ..Default::default()
    };
    selection.per_tracer.insert("sf6".into(), TracerFields::default());
    let Err(OutputError::Selection(problems)) = selection.plan(&tracers(), 4) else { panic!("must be refused") };
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(problems[0].contains("did you mean `co2`"), "{problems:?}");
}

#[test]
fn clashing_names_are_refused() {
    for clash in ["time", "air_mass", "co2_column_mean", "co2_total_mass"] {
        let run = vec!["co2".to_string(), clash.to_string()];
        let error = FieldSelection::default().plan(&run, 1).unwrap_err().to_string();
        assert!(error.contains(clash), "{error}");
    }
}
