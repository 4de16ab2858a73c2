//! Local axes of a cell on the compass rose.

use super::frame::Frame;
use super::vector::{dot, east_north, normalise, scale, subtract};

/// Unit vectors along growing i and j at a cell centre, as components towards east and north.
///
/// The two are not orthogonal in general. A wind (u, v) has the covariant components
/// u·`x_east` + v·`x_north` along i and u·`y_east` + v·`y_north` along j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentBasis {
    /// East component of the i direction.
    pub x_east: f64,
    /// North component of the i direction.
    pub x_north: f64,
    /// East component of the j direction.
    pub y_east: f64,
    /// North component of the j direction.
    pub y_north: f64,
}

impl TangentBasis {
    /// Axes at `center`, from the panel map at gnomonic coordinates (`xi`, `eta`); `frame` is already turned by the
    /// longitude offset.
    ///
    /// ∂v/∂ξ of v = (n + ξx + ηy)/|…| is x without its part along v, up to a factor; the part along `center`, which
    /// differs from v under the corner-mean centre law, is removed after that.
    pub(super) fn new(frame: &Frame, xi: f64, eta: f64, center: [f64; 3]) -> Self {
        let v = frame.point(xi, eta);
        let (east, north) = east_north(center);
        let project = |axis: [f64; 3]| {
            let along = subtract(axis, scale(v, dot(axis, v)));
            let unit = normalise(subtract(along, scale(center, dot(along, center))));
            (dot(unit, east), dot(unit, north))
        };
        let (x_east, x_north) = project(frame.x);
        let (y_east, y_north) = project(frame.y);
        Self { x_east, x_north, y_east, y_north }
    }
}
