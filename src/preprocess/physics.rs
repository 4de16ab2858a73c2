//! Fields of physics from the archive's layers to those of the file (spec 40 §1.4, §1.5).

use jiff::civil::Date;

use super::levels::LevelMap;
use super::{PreprocessError, Target};
use crate::met::{Placement, Section};

/// How layers of a section are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merge {
    /// One value per column.
    Copy,
    /// The interfaces that remain.
    Interfaces,
    /// Tendencies add up.
    Sum,
    /// States are means, weighted with air mass.
    Mean,
    /// A layer number counted from the top.
    LayerNumber,
    /// Made on the layers of the file already.
    Done,
}

fn merge_of(section: Section) -> Merge {
    match section {
        Section::CmfmcCloudBase => Merge::LayerNumber,
        Section::Dkg => Merge::Done,
        Section::VdiffU | Section::VdiffV | Section::VdiffT | Section::VdiffQv => Merge::Mean,
        _ => match section.placement() {
            Placement::Columns => Merge::Copy,
            Placement::Interfaces => Merge::Interfaces,
            _ => Merge::Sum,
        },
    }
}

/// The field of a section on the layers of the file; `mass` is the air of the native layers, kg.
pub(super) fn on_levels(section: Section, values: Vec<f64>, levels: &LevelMap, mass: &[f64]) -> Vec<f64> {
    match merge_of(section) {
        Merge::Copy | Merge::Done => values,
        Merge::Interfaces => levels.interfaces(values),
        Merge::Sum => levels.sums(values),
        Merge::Mean => levels.means(values, mass),
        Merge::LayerNumber => {
            let layer_of =
                |native: usize| levels.ranges().iter().position(|r| r.contains(&native)).unwrap_or(levels.levels() - 1);
            values.into_iter().map(|k| layer_of((k.max(1.0) as usize) - 1) as f64 + 1.0).collect()
        }
    }
}

/// Range in which the values of a section are believed (spec 40 §1.4), with its text.
fn believed(section: Section) -> (f64, f64, &'static str) {
    match section {
        Section::Pblh => (f64::MIN_POSITIVE, 2e4, "the height of the boundary layer lies above 0 and below 20 km"),
        Section::Ustar => (0.0, 50.0, "the friction velocity lies from 0 to 50 m/s"),
        Section::SensibleHeatFlux | Section::LatentHeatFlux => {
            (-5000.0, 5000.0, "heat fluxes lie within 5000 W/m2; is the field accumulated, in J/m2?")
        }
        Section::T2m => (150.0, 350.0, "the temperature at 2 m lies from 150 to 350 K; is it in degrees Celsius?"),
        Section::Cmfmc | Section::Dtrain | Section::Entu | Section::Detu | Section::Entd | Section::Detd => {
            (-1e-9, 100.0, "convective fluxes are not negative and below 100 kg m-2 s-1")
        }
        Section::VdiffU | Section::VdiffV => (-500.0, 500.0, "winds lie within 500 m/s"),
        Section::VdiffT => (100.0, 400.0, "temperatures lie from 100 to 400 K"),
        Section::VdiffQv => (0.0, 0.2, "specific humidity lies from 0 to 0.2 kg/kg"),
        Section::Dkg => (0.0, f64::MAX, "exchange is not negative"),
        Section::CmfmcCloudBase => (1.0, 1e4, "the cloud base is a layer number"),
        _ => (f64::MIN, f64::MAX, "values are finite"),
    }
}

/// Refuses values that no atmosphere has. Rounding just below zero becomes zero where a section is not negative.
pub(super) fn check(
    section: Section,
    values: &mut [f64],
    target: &Target,
    day: Date,
    when: &str,
) -> Result<(), PreprocessError> {
    let (least, most, help) = believed(section);
    let cells = target.cells();
    for (n, value) in values.iter_mut().enumerate() {
        if !(*value >= least && *value <= most) {
            return Err(PreprocessError::Field {
                day,
                when: when.to_owned(),
                field: section.name(),
                value: *value,
                level: n / cells + 1,
                cell: target.cell_words(n % cells),
                help,
            });
        }
        if least > -1e-6 {
            *value = value.max(0.0);
        }
    }
    Ok(())
}

/// `[k][panel][j][i]` to the order of transport files, `[panel][k][j][i]`.
pub(super) fn file_order(values: &[f64], cells: usize) -> Vec<f64> {
    let panel = cells / 6;
    let levels = values.len() / cells;
    (0..6)
        .flat_map(|p| (0..levels).flat_map(move |k| &values[k * cells + p * panel..k * cells + (p + 1) * panel]))
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::levels::Transform;
    use super::*;
    use crate::grid::HybridCoordinate;

    #[test]
    fn cloud_bases_count_merged_layers() {
        let native = HybridCoordinate::smooth(6, 100.0).unwrap();
        let levels = LevelMap::new(&Transform::MergeByIndex(vec![(1, 3), (4, 4), (5, 6)]), &native).unwrap();
        let merged = on_levels(Section::CmfmcCloudBase, vec![1.0, 3.0, 4.0, 5.0, 6.0], &levels, &[]);
        assert_eq!(merged, [1.0, 1.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn panels_come_first_in_files() {
        let cells = 24;
        let values: Vec<f64> = (0..2 * cells).map(|n| n as f64).collect();
        let file = file_order(&values, cells);
        // Panel 2, layer 2, first cell.
        assert_eq!(file[8 + 4], (cells + 4) as f64);
        let mut sorted = file.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, values);
    }

    #[test]
    fn every_section_is_merged_by_its_kind() {
        assert_eq!(merge_of(Section::Cmfmc), Merge::Interfaces);
        assert_eq!(merge_of(Section::Dtrain), Merge::Sum);
        assert_eq!(merge_of(Section::VdiffT), Merge::Mean);
        assert_eq!(merge_of(Section::Pblh), Merge::Copy);
    }
}
