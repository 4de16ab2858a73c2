//! The two legal geometries of a transport file.

use std::f64::consts::FRAC_PI_4;

use decomposition::PanelConvention;

use super::GridError;

/// A legal combination of edge law, centre law and panel convention.
///
/// The longitude offset is independent of it; [`default_offset_deg`](Self::default_offset_deg) is what files of
/// that family use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeometryBundle {
    /// Equal angles along panel edges, centres at angular mid-points, gnomonic panel order.
    Gnomonic,
    /// Equal distances along the panel edges as in GEOS and FV3 (`gnomonic_ed`), centres at the normalised mean
    /// of the corners, GEOS panel order.
    GeosNative,
}

impl GeometryBundle {
    /// Both bundles.
    pub const ALL: [GeometryBundle; 2] = [GeometryBundle::Gnomonic, GeometryBundle::GeosNative];

    /// Numbering and orientation of the panels.
    pub fn convention(self) -> PanelConvention {
        match self {
            GeometryBundle::Gnomonic => PanelConvention::Gnomonic,
            GeometryBundle::GeosNative => PanelConvention::GeosNative,
        }
    }

    /// Header value of `panel_convention`.
    pub fn panel_convention(self) -> &'static str {
        self.convention().tag()
    }

    /// Header value of `cs_definition`.
    pub fn cs_definition(self) -> &'static str {
        match self {
            GeometryBundle::Gnomonic => "equiangular_gnomonic",
            GeometryBundle::GeosNative => "gmao_equal_distance",
        }
    }

    /// Header value of `cs_coordinate_law`.
    pub fn cs_coordinate_law(self) -> &'static str {
        match self {
            GeometryBundle::Gnomonic => "equiangular_gnomonic",
            GeometryBundle::GeosNative => "gmao_equal_distance_gnomonic",
        }
    }

    /// Header value of `cs_center_law`.
    pub fn cs_center_law(self) -> &'static str {
        match self {
            GeometryBundle::Gnomonic => "angular_midpoint",
            GeometryBundle::GeosNative => "four_corner_normalized",
        }
    }

    /// Longitude offset in degrees east that files of this family use: 0 or −10.
    pub fn default_offset_deg(self) -> f64 {
        match self {
            GeometryBundle::Gnomonic => 0.0,
            GeometryBundle::GeosNative => -10.0,
        }
    }

    /// Bundle named by the four header tags. Letter case is ignored, `-` and blanks count as `_`.
    ///
    /// # Errors
    /// [`GridError::UnknownConvention`] for an unknown panel convention, [`GridError::Tag`] if one of the other tags
    /// does not belong to it.
    pub fn from_tags(
        panel_convention: &str,
        cs_definition: &str,
        cs_coordinate_law: &str,
        cs_center_law: &str,
    ) -> Result<Self, GridError> {
        let convention = normalise(panel_convention);
        let bundle = Self::ALL
            .into_iter()
            .find(|bundle| bundle.panel_convention() == convention)
            .ok_or_else(|| GridError::UnknownConvention { found: panel_convention.to_owned() })?;
        let tags = [
            ("cs_definition", cs_definition, bundle.cs_definition()),
            ("cs_coordinate_law", cs_coordinate_law, bundle.cs_coordinate_law()),
            ("cs_center_law", cs_center_law, bundle.cs_center_law()),
        ];
        for (key, found, expected) in tags {
            if normalise(found) != expected {
                return Err(GridError::Tag {
                    key,
                    found: found.to_owned(),
                    convention: bundle.panel_convention(),
                    expected,
                });
            }
        }
        Ok(bundle)
    }

    /// Gnomonic coordinate in [−1, 1] of the edge position `u` in [−1, 1] (−1 and 1 are the panel sides).
    ///
    /// Odd in `u` to the last bit and exact at the sides, so that points on a seam agree from both panels.
    pub(super) fn coordinate(self, u: f64) -> f64 {
        if u.abs() == 1.0 {
            return u;
        }
        match self {
            GeometryBundle::Gnomonic => (FRAC_PI_4 * u).tan(),
            GeometryBundle::GeosNative => std::f64::consts::SQRT_2 * (half_edge_angle() * u).tan(),
        }
    }

    /// Edge position in [−1, 1] of the gnomonic coordinate `xi`: inverse of [`coordinate`](Self::coordinate).
    pub(super) fn position(self, xi: f64) -> f64 {
        match self {
            GeometryBundle::Gnomonic => xi.atan() / FRAC_PI_4,
            GeometryBundle::GeosNative => (xi / std::f64::consts::SQRT_2).atan() / half_edge_angle(),
        }
    }
}

/// Half the angle that a panel edge subtends at the centre of the sphere: asin(1/√3).
fn half_edge_angle() -> f64 {
    (1.0 / 3f64.sqrt()).asin()
}

/// Lower case with `-` and blanks as `_`, as header symbols are compared.
fn normalise(tag: &str) -> String {
    tag.trim().to_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_round_trip() {
        for bundle in GeometryBundle::ALL {
            let again = GeometryBundle::from_tags(
                bundle.panel_convention(),
                bundle.cs_definition(),
                bundle.cs_coordinate_law(),
                bundle.cs_center_law(),
            );
            assert_eq!(again, Ok(bundle));
        }
        let spelled = GeometryBundle::from_tags(
            "GEOS-native",
            "GMAO equal distance",
            "gmao_equal_distance_gnomonic",
            "four-corner-normalized",
        );
        assert_eq!(spelled, Ok(GeometryBundle::GeosNative));
    }

    #[test]
    fn mixed_tags_name_the_key() {
        let error = GeometryBundle::from_tags(
            "geos_native",
            "gmao_equal_distance",
            "gmao_equal_distance_gnomonic",
            "angular_midpoint",
        )
        .unwrap_err();
        assert!(error.to_string().starts_with("cs_center_law = \"angular_midpoint\""), "{error}");
        let error = GeometryBundle::from_tags("fv3", "", "", "").unwrap_err();
        assert!(matches!(error, GridError::UnknownConvention { .. }));
    }

    #[test]
    fn laws_are_odd_and_invertible() {
        for bundle in GeometryBundle::ALL {
            for step in 0..=64 {
                let u = f64::from(step) / 64.0;
                assert_eq!(bundle.coordinate(-u), -bundle.coordinate(u));
                assert!((bundle.position(bundle.coordinate(u)) - u).abs() < 4e-16);
            }
            assert_eq!(bundle.coordinate(1.0), 1.0);
            // The general expression meets the exact end value.
            assert!((bundle.coordinate(1.0 - 1e-12) - 1.0).abs() < 4e-12);
        }
    }
}
