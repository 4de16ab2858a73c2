//! Grid, geometry words, sections and the sizes that follow from them.

use decomposition::PanelConvention;
use serde_json::Value;

use super::Rules;
use crate::met::header::GeometryTags;
use crate::met::schema::{FloatType, normalise, quote};
use crate::met::section::Section;

/// Sections of other grids; named so that the message can say more than "unknown".
const FOREIGN_SECTIONS: &[&str] = &["kz", "qv", "qv_start", "qv_end", "hflux", "dam", "dbm", "dcm", "dhflux"];

/// Sizes that other rules refer to.
pub(super) struct Grid {
    pub(super) nc: u64,
    pub(super) nlevel: u64,
    pub(super) nwindow: u64,
}

impl Rules<'_> {
    pub(super) fn float_type(&mut self) -> Option<FloatType> {
        let float_type = match self.text("float_type")? {
            "Float32" => FloatType::Float32,
            "Float64" => FloatType::Float64,
            other => {
                let found = quote(&Value::from(other));
                self.refuse("float_type", format!("must be \"Float32\" or \"Float64\", found {found}"));
                return None;
            }
        };
        self.equal("float_bytes", float_type.bytes() as u64, "as float_type");
        Some(float_type)
    }

    pub(super) fn grid(&mut self) -> Option<Grid> {
        self.equal("npanel", 6, "a cube has six panels");
        self.equal("Hp", 0, "halos are not stored");
        self.equal("n_geometry_elems", 0, "no geometry is stored");
        let grid = Grid { nc: self.int("Nc")?, nlevel: self.int("nlevel")?, nwindow: self.int("nwindow")? };
        let cells = grid.nc.checked_mul(grid.nc).and_then(|n| n.checked_mul(6));
        let faces = grid.nc.checked_add(1).and_then(|n| n.checked_mul(grid.nc)).and_then(|n| n.checked_mul(12));
        let (Some(cells), Some(faces)) = (cells, faces) else {
            self.refuse("Nc", format!("{} cells per panel edge are too many to count", grid.nc));
            return None;
        };
        self.equal("ncell", cells, "6·Nc²");
        self.equal("nface_h", faces, "12·Nc·(Nc+1)");
        Some(grid)
    }

    pub(super) fn geometry(&mut self) -> Option<PanelConvention> {
        let text = self.text("panel_convention")?;
        let convention = match normalise(text).as_str() {
            "gnomonic" => PanelConvention::Gnomonic,
            "geos_native" => PanelConvention::GeosNative,
            _ => {
                let found = quote(&Value::from(text));
                self.refuse("panel_convention", format!("must be \"gnomonic\" or \"geos_native\", found {found}"));
                return None;
            }
        };
        let tags = GeometryTags::of(convention);
        for (key, wanted) in [
            ("cs_definition", tags.definition),
            ("cs_coordinate_law", tags.coordinate_law),
            ("cs_center_law", tags.center_law),
        ] {
            if let Some(text) = self.text(key)
                && normalise(text) != wanted
            {
                let found = quote(&Value::from(text));
                let convention = tags.panel_convention;
                self.refuse(key, format!("must be \"{wanted}\" with panel_convention {convention}, found {found}"));
            }
        }
        Some(convention)
    }

    pub(super) fn levels(&mut self, grid: Option<&Grid>) {
        let Some(grid) = grid else { return };
        for key in ["A_ifc", "B_ifc"] {
            if let Some(found) = self.map.get(key).and_then(Value::as_array).map(Vec::len)
                && grid.nlevel.checked_add(1) != Some(found as u64)
            {
                self.refuse(key, format!("must hold nlevel+1 values (nlevel is {}), found {found}", grid.nlevel));
            }
        }
    }

    pub(super) fn sections(&mut self) -> Option<Vec<Section>> {
        let names = self.list("payload_sections", |v| v.as_str().map(String::from))?;
        let key = "payload_sections";
        let before = self.violations.len();
        let mut sections = Vec::new();
        for name in &names {
            match Section::from_name(name) {
                Some(s) if sections.contains(&s) => self.refuse(key, format!("lists \"{s}\" twice")),
                Some(s) => sections.push(s),
                None => {
                    let found = quote(&Value::from(name.as_str()));
                    let kind = match FOREIGN_SECTIONS.contains(&name.to_lowercase().as_str()) {
                        true => "not legal on the cubed sphere",
                        false => "unknown, its size cannot be known",
                    };
                    self.refuse(key, format!("section {found} is {kind}"));
                }
            }
        }
        let missing: Vec<&str> = Section::CORE.iter().filter(|s| !sections.contains(s)).map(|s| s.name()).collect();
        if !missing.is_empty() {
            self.refuse(key, format!("must list m, am, bm, cm and ps; missing: {}", missing.join(", ")));
        }
        (self.violations.len() == before).then_some(sections)
    }

    pub(super) fn layout(
        &mut self,
        header_bytes: Option<u64>,
        float_type: Option<FloatType>,
        grid: Option<&Grid>,
        sections: Option<&[Section]>,
    ) -> Option<u64> {
        let (grid, sections, found) = (grid?, sections?, self.int("elems_per_window")?);
        let total = sections.iter().try_fold(0u64, |sum, s| sum.checked_add(s.checked_elems(grid.nc, grid.nlevel)?));
        let Some(total) = total else {
            self.refuse(
                "nlevel",
                format!("a window of C{} with {} layers is too large to address", grid.nc, grid.nlevel),
            );
            return None;
        };
        if total != found {
            self.refuse(
                "elems_per_window",
                format!(
                    "must be {total}, the sum over payload_sections for C{} with {} layers, found {found}",
                    grid.nc, grid.nlevel
                ),
            );
            return None;
        }
        let bytes = total.checked_mul(float_type?.bytes() as u64).and_then(|n| n.checked_mul(grid.nwindow));
        if bytes.and_then(|n| n.checked_add(header_bytes?)).is_none_or(|n| n > i64::MAX as u64) {
            self.refuse("nwindow", format!("a file of {} such windows is too large to address", grid.nwindow));
            return None;
        }
        Some(total)
    }
}
