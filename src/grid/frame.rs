//! Orientation of each panel in space.

use decomposition::{Panel, PanelConvention};

/// Axes of one panel before the longitude offset: the point with gnomonic coordinates (ξ, η) lies along
/// `normal + ξ·x + η·y`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    /// Outward axis through the panel centre.
    pub normal: [f64; 3],
    /// Direction of growing i.
    pub x: [f64; 3],
    /// Direction of growing j.
    pub y: [f64; 3],
}

const EAST: [f64; 3] = [1.0, 0.0, 0.0];
const WEST: [f64; 3] = [-1.0, 0.0, 0.0];
const FORE: [f64; 3] = [0.0, 1.0, 0.0];
const BACK: [f64; 3] = [0.0, -1.0, 0.0];
const UP: [f64; 3] = [0.0, 0.0, 1.0];
const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

const GNOMONIC: [Frame; 6] = [
    Frame { normal: EAST, x: FORE, y: UP },
    Frame { normal: FORE, x: WEST, y: UP },
    Frame { normal: WEST, x: BACK, y: UP },
    Frame { normal: BACK, x: EAST, y: UP },
    Frame { normal: UP, x: FORE, y: WEST },
    Frame { normal: DOWN, x: FORE, y: EAST },
];

const GEOS_NATIVE: [Frame; 6] = [
    Frame { normal: EAST, x: FORE, y: UP },
    Frame { normal: FORE, x: WEST, y: UP },
    Frame { normal: UP, x: WEST, y: BACK },
    Frame { normal: WEST, x: DOWN, y: BACK },
    Frame { normal: BACK, x: DOWN, y: EAST },
    Frame { normal: DOWN, x: FORE, y: EAST },
];

/// Frames of all panels of a convention.
pub(super) fn frames(convention: PanelConvention) -> &'static [Frame; 6] {
    match convention {
        PanelConvention::Gnomonic => &GNOMONIC,
        PanelConvention::GeosNative => &GEOS_NATIVE,
    }
}

impl Frame {
    /// Unit vector of gnomonic coordinates.
    ///
    /// The squares are added before the one so that exchanging ξ and η changes no bit: panels that meet with
    /// turned axes get the same seam points.
    pub fn point(&self, xi: f64, eta: f64) -> [f64; 3] {
        let d = 1.0 / (1.0 + (xi * xi + eta * eta)).sqrt();
        std::array::from_fn(|c| (self.normal[c] + xi * self.x[c] + eta * self.y[c]) * d)
    }
}

/// Panel whose normal is the dominant axis of `v`; ties go to the earlier axis.
pub(super) fn dominant_panel(convention: PanelConvention, v: [f64; 3]) -> Panel {
    let [x, y, z] = v.map(f64::abs);
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    let sign = if v[axis] < 0.0 { -1.0 } else { 1.0 };
    Panel::ALL
        .into_iter()
        .find(|panel| frames(convention)[panel.index()].normal[axis] == sign)
        .expect("the six normals are the six signed axes")
}

#[cfg(test)]
mod tests {
    use super::super::vector::cross;
    use super::*;

    #[test]
    fn frames_are_right_handed() {
        for convention in [PanelConvention::Gnomonic, PanelConvention::GeosNative] {
            for frame in frames(convention) {
                assert_eq!(cross(frame.x, frame.y).map(|c| c + 0.0), frame.normal.map(|c| c + 0.0));
            }
        }
    }
}
