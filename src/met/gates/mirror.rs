//! Mirror rule: both panels of a seam store the same flux for a shared face.

use decomposition::{PanelConvention, SeamSide};
use rayon::prelude::*;

use super::{Field, Levels};
use crate::met::error::CellIndex;
use crate::met::schema::FloatType;
use crate::met::seam::{edge_face, edge_section};
use crate::met::section::Section;

/// Largest disagreement found between the two copies of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorReport {
    /// Difference over the largest flux of the same seam and level; infinite if a value is not finite.
    pub relative: f64,
    /// Section of the worst face on the panel that does not own it.
    pub section: Section,
    /// Place of that face.
    pub cell: CellIndex,
    /// Value stored there.
    pub stored: f64,
    /// Value expected from the owning panel.
    pub mirror: f64,
}

/// Largest relative disagreement accepted: 1e-12 (Float64), one unit of rounding (Float32).
pub fn mirror_tolerance(float_type: FloatType) -> f64 {
    match float_type {
        FloatType::Float64 => 1e-12,
        FloatType::Float32 => f64::from(f32::EPSILON),
    }
}

/// Compares the two stored copies of every face on a panel edge.
pub fn mirror(levels: &dyn Levels, convention: PanelConvention) -> MirrorReport {
    let (nc, nz) = (levels.nc(), levels.nlevel());
    let seams = convention.seams();
    let task = |scratch: &mut [Vec<f64>; 2], n: usize| {
        let (seam, k) = (&seams[n / nz], n % nz);
        let [s0, s1] = scratch;
        let ((owner, owner_edge), (other, other_edge)) = (seam.edge_of(SeamSide::Owner), seam.edge_of(SeamSide::Other));
        let (owner_section, section) = (edge_section(owner_edge), edge_section(other_edge));
        let owned = levels.level(field(owner_section), owner.index(), k, s0);
        let stored = levels.level(field(section), other.index(), k, s1);
        let owner_width = owner_section.shape(nc, nz).ni;
        let width = section.shape(nc, nz).ni;
        let mut largest = 0.0f64;
        let mut worst = (0.0f64, 0, 0.0, 0.0);
        for s in 0..nc {
            let (i, j) = edge_face(owner_edge, s, nc);
            let expected = seam.sign.factor() * owned[j * owner_width + i];
            let along = seam.along.map(s, nc);
            let (i, j) = edge_face(other_edge, along, nc);
            let found = stored[j * width + i];
            let gap = (found - expected).abs();
            let gap = if gap.is_nan() { f64::INFINITY } else { gap };
            largest = largest.max(found.abs()).max(expected.abs());
            if gap > worst.0 {
                worst = (gap, along, found, expected);
            }
        }
        let (gap, along, stored, mirror) = worst;
        let (i, j) = edge_face(other_edge, along, nc);
        let relative = if gap == 0.0 { 0.0 } else { gap / largest };
        let relative = if relative.is_nan() { f64::INFINITY } else { relative };
        MirrorReport { relative, section, cell: CellIndex { panel: other.index(), i, j, k }, stored, mirror }
    };
    let reports: Vec<MirrorReport> = (0..seams.len() * nz).into_par_iter().map_init(Default::default, task).collect();
    let none = MirrorReport {
        relative: 0.0,
        section: Section::FluxX,
        cell: CellIndex { panel: 0, i: 0, j: 0, k: 0 },
        stored: 0.0,
        mirror: 0.0,
    };
    reports.into_iter().fold(none, |worst, r| if r.relative > worst.relative { r } else { worst })
}

fn field(section: Section) -> Field {
    if section == Section::FluxX { Field::FluxX } else { Field::FluxY }
}
