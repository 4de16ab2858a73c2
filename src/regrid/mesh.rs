//! Sets of cells on the unit sphere.

use std::fmt;

use super::strips::Strips;
use super::{LatLonMesh, LatLonSides, ReducedMesh, RegridError, RingStart};
use crate::grid::CubedSphere;

/// Cells that can be regridded: lat-lon meshes, rings, or the cubed sphere with its sides on great circles.
#[derive(Clone, Debug)]
pub enum Mesh {
    /// Meridians and latitudes; cells row by row from south to north, each row from west to east.
    LatLon(LatLonMesh),
    /// Rings of equal cells, from south to north.
    Reduced(ReducedMesh),
    /// Cubed sphere; cells by panel, then j, then i.
    Cube(CubedSphere),
}

/// Refuses more cells than weights can count.
pub(super) fn countable(cells: usize) -> Result<(), RegridError> {
    let max = u32::MAX as usize;
    if cells > max { Err(RegridError::Cells { cells, max }) } else { Ok(()) }
}

impl Mesh {
    /// Number of cells.
    pub fn cells(&self) -> usize {
        match self {
            Mesh::LatLon(mesh) => mesh.nlon() * mesh.nlat(),
            Mesh::Reduced(mesh) => mesh.cells(),
            Mesh::Cube(grid) => 6 * grid.nc() * grid.nc(),
        }
    }

    /// Areas of all cells in steradian.
    pub fn areas(&self) -> Vec<f64> {
        match self {
            Mesh::LatLon(mesh) => match mesh.sides() {
                LatLonSides::Parallels => Strips::LatLon(mesh).areas(),
                LatLonSides::GreatCircles => {
                    let cells = (0..mesh.nlat()).flat_map(|j| (0..mesh.nlon()).map(move |i| (i, j)));
                    cells.map(|(i, j)| mesh.polygon_area(i, j)).collect()
                }
            },
            Mesh::Reduced(mesh) => Strips::Reduced(mesh).areas(),
            Mesh::Cube(grid) => {
                let nc = grid.nc();
                let panel: Vec<f64> = (0..nc * nc).map(|c| grid.solid_angle(c % nc, c / nc)).collect();
                panel.repeat(6)
            }
        }
    }

    /// Whether the cells cover the sphere.
    pub fn covers_sphere(&self) -> bool {
        match self {
            Mesh::LatLon(mesh) => mesh.covers_sphere(),
            Mesh::Reduced(mesh) => mesh.lat_edges()[0] == -90.0 && mesh.lat_edges()[mesh.points().len()] == 90.0,
            Mesh::Cube(_) => true,
        }
    }

    /// Name of the geometry: equal for equal cells, whatever the radius.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.descriptor())
    }

    /// All numbers that fix the cells on the unit sphere, as bytes.
    pub(super) fn descriptor(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let numbers = |values: &[f64], bytes: &mut Vec<u8>| {
            bytes.extend((values.len() as u64).to_le_bytes());
            values.iter().for_each(|v| bytes.extend((v + 0.0).to_le_bytes()));
        };
        match self {
            Mesh::LatLon(mesh) => {
                let sides = match mesh.sides() {
                    LatLonSides::Parallels => "latlon parallels",
                    LatLonSides::GreatCircles => "latlon great circles",
                };
                bytes.extend(sides.as_bytes());
                numbers(mesh.lon_edges(), &mut bytes);
                numbers(mesh.lat_edges(), &mut bytes);
            }
            Mesh::Reduced(mesh) => {
                let (kind, lon) = match mesh.start() {
                    RingStart::Centre(lon) => ("rings centre", lon),
                    RingStart::Edge(lon) => ("rings edge", lon),
                };
                bytes.extend(kind.as_bytes());
                numbers(&[lon], &mut bytes);
                numbers(mesh.lat_edges(), &mut bytes);
                mesh.points().iter().for_each(|n| bytes.extend((*n as u64).to_le_bytes()));
            }
            Mesh::Cube(grid) => {
                let bundle = grid.bundle();
                for tag in [bundle.panel_convention(), bundle.cs_definition(), bundle.cs_coordinate_law()] {
                    bytes.extend(tag.as_bytes());
                    bytes.push(b' ');
                }
                bytes.extend((grid.nc() as u64).to_le_bytes());
                numbers(&[grid.longitude_offset_deg()], &mut bytes);
            }
        }
        bytes
    }
}

/// A few words: `lat-lon 360 x 180`, `reduced 640 rings, 542080 cells`, `cubed sphere C90, geos_native`.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mesh::LatLon(mesh) => write!(f, "lat-lon {} x {}", mesh.nlon(), mesh.nlat()),
            Mesh::Reduced(mesh) => write!(f, "reduced {} rings, {} cells", mesh.points().len(), mesh.cells()),
            Mesh::Cube(grid) => write!(f, "cubed sphere C{}, {}", grid.nc(), grid.bundle().panel_convention()),
        }
    }
}

/// 128 bits that name a geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// FNV-1a of the bytes (Fowler, Noll & Vo).
    pub(super) fn of(bytes: &[u8]) -> Self {
        const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        Self(bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME)))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
