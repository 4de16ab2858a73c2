//! Vectors on the sphere: products, distances, solid angles, longitude and latitude.

/// Scalar product.
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Vector product a × b.
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Sum a + b.
pub fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Difference a − b.
pub fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Multiple s·a.
pub fn scale(a: [f64; 3], s: f64) -> [f64; 3] {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// Unit vector along `a`, which must not be zero.
pub fn normalise(a: [f64; 3]) -> [f64; 3] {
    scale(a, 1.0 / dot(a, a).sqrt())
}

/// Great-circle distance of two unit vectors in radians, accurate for near and for opposite points.
pub fn angle(a: [f64; 3], b: [f64; 3]) -> f64 {
    let chord = subtract(a, b);
    let sum = add(a, b);
    2.0 * dot(chord, chord).sqrt().atan2(dot(sum, sum).sqrt())
}

/// Solid angle in steradian of the spherical triangle with unit vectors `a`, `b`, `c` as corners, never negative.
///
/// Van Oosterom & Strackee 1983, with the triple product taken from differences so that small triangles keep their
/// relative accuracy.
pub fn solid_angle(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    let triple = dot(a, cross(subtract(b, a), subtract(c, a)));
    2.0 * triple.abs().atan2(1.0 + dot(a, b) + dot(b, c) + dot(c, a))
}

/// Unit vector at longitude and latitude in degrees.
pub fn from_lonlat(lon_deg: f64, lat_deg: f64) -> [f64; 3] {
    let (sin_lon, cos_lon) = lon_deg.to_radians().sin_cos();
    let (sin_lat, cos_lat) = lat_deg.to_radians().sin_cos();
    [cos_lat * cos_lon, cos_lat * sin_lon, sin_lat]
}

/// Longitude in [0, 360) and latitude in [−90, 90] of a vector, degrees.
pub fn to_lonlat(v: [f64; 3]) -> (f64, f64) {
    let lon = v[1].atan2(v[0]).to_degrees();
    let lon = if lon < 0.0 { lon + 360.0 } else { lon };
    // A tiny negative longitude rounds up to 360; −0 becomes 0.
    let lon = if lon >= 360.0 { 0.0 } else { lon + 0.0 };
    (lon, v[2].atan2(v[0].hypot(v[1])).to_degrees())
}

/// Unit vectors pointing east and north at the unit vector `v`; at a pole east is +y.
pub fn east_north(v: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let horizontal = v[0].hypot(v[1]);
    let east = if horizontal > 0.0 { [-v[1] / horizontal, v[0] / horizontal, 0.0] } else { [0.0, 1.0, 0.0] };
    (east, cross(v, east))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn octant_has_an_eighth_of_the_sphere() {
        let omega = solid_angle([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        assert!((omega - FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn small_triangles_keep_relative_accuracy() {
        // Flat limit: half base times height.
        let h = 1e-6;
        let omega = solid_angle([1.0, 0.0, 0.0], normalise([1.0, h, 0.0]), normalise([1.0, 0.0, h]));
        assert!((omega / (0.5 * h * h) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn angles_at_both_ends() {
        let a = [1.0, 0.0, 0.0];
        assert_eq!(angle(a, a), 0.0);
        assert!((angle(a, [-1.0, 0.0, 0.0]) - PI).abs() < 1e-15);
        assert!((angle(a, normalise([1.0, 1e-9, 0.0])) / 1e-9 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn longitudes_stay_in_range() {
        assert_eq!(to_lonlat([1.0, -1e-30, 0.0]).0, 0.0);
        assert_eq!(to_lonlat([1.0, -0.0, 0.0]).0.to_bits(), 0);
        assert!((to_lonlat(from_lonlat(-10.0, 35.0)).0 - 350.0).abs() < 1e-12);
        assert_eq!(to_lonlat([0.0, 0.0, -2.0]).1, -90.0);
    }

    #[test]
    fn east_north_is_right_handed() {
        let v = from_lonlat(77.0, -20.0);
        let (east, north) = east_north(v);
        assert!((dot(cross(east, north), v) - 1.0).abs() < 1e-14);
        assert!(north[2] > 0.0);
        assert_eq!(east_north([0.0, 0.0, 1.0]).0, [0.0, 1.0, 0.0]);
    }
}
