//! Weights for other programs.

use std::path::Path;

use super::{Mesh, Overlap, RegridError};
use crate::grid::vector::to_lonlat;

impl Overlap {
    /// Writes the weights as ESMF and xESMF read them (NetCDF): `S` is the part of destination cell `row` that source
    /// cell `col` covers, both counted from 1; with areas (steradian), covered fractions and centres of the cells.
    ///
    /// `src` and `dst` are the meshes that the weights were made of.
    ///
    /// # Errors
    /// [`RegridError::NetCdf`] if the file cannot be written, [`RegridError::Io`] if `path` is no regular file.
    ///
    /// # Panics
    /// If a mesh has another number of cells.
    pub fn export_esmf(&self, src: &Mesh, dst: &Mesh, path: &Path) -> Result<(), RegridError> {
        assert!(src.cells() == self.src_area.len() && dst.cells() == self.dst_area.len(), "meshes of the weights");
        crate::files::regular_or_absent(path).map_err(RegridError::io(path, "write weights"))?;
        let staged = crate::files::staged(path).map_err(RegridError::io(path, "write weights"))?;
        self.write_esmf(src, dst, staged.path()).map_err(|source| match staged.refusal() {
            Some(system) => RegridError::io(path, "write weights")(system),
            None => RegridError::NetCdf { path: path.to_path_buf(), source },
        })?;
        staged.publish(path).map_err(RegridError::io(path, "write weights"))
    }

    fn write_esmf(&self, src: &Mesh, dst: &Mesh, path: &Path) -> Result<(), netcdf::Error> {
        let mut file = netcdf::create(path)?;
        file.add_attribute("title", "conservative regridding weights, first order")?;
        file.add_attribute("source", concat!("atmostr ", env!("CARGO_PKG_VERSION")))?;
        file.add_attribute("normalization", "destarea")?;
        file.add_attribute("map_method", "Conservative remapping")?;
        file.add_attribute("domain_a", src.to_string())?;
        file.add_attribute("domain_b", dst.to_string())?;
        file.add_dimension("n_s", self.len())?;
        let back = self.transposed();
        for (side, mesh, areas, covered) in
            [("a", src, &self.src_area, back.covered()), ("b", dst, &self.dst_area, self.covered())]
        {
            let cells = format!("n_{side}");
            file.add_dimension(&cells, mesh.cells())?;
            let fractions: Vec<f64> = covered.iter().zip(areas).map(|(covered, area)| covered / area).collect();
            let (lons, lats): (Vec<f64>, Vec<f64>) = mesh.centres().into_iter().unzip();
            for (name, units, values) in [
                ("area", "steradian", areas),
                ("frac", "unitless", &fractions),
                ("xc", "degrees_east", &lons),
                ("yc", "degrees_north", &lats),
            ] {
                let mut variable = file.add_variable::<f64>(&format!("{name}_{side}"), &[&cells])?;
                variable.put_attribute("units", units)?;
                variable.put_values(values, ..)?;
            }
            let shape = mesh.shape();
            let (name, rank) = match side {
                "a" => ("src_grid_dims", "src_grid_rank"),
                _ => ("dst_grid_dims", "dst_grid_rank"),
            };
            file.add_dimension(rank, shape.len())?;
            file.add_variable::<i32>(name, &[rank])?.put_values(&shape, ..)?;
        }
        let rows = || (0..self.dst_area.len()).flat_map(|cell| self.row(cell).map(move |(at, area)| (cell, at, area)));
        let weights: Vec<f64> = rows().map(|(cell, _, area)| area / self.dst_area[cell]).collect();
        file.add_variable::<f64>("S", &["n_s"])?.put_values(&weights, ..)?;
        let numbers: Vec<i32> = rows().map(|(cell, _, _)| cell as i32 + 1).collect();
        file.add_variable::<i32>("row", &["n_s"])?.put_values(&numbers, ..)?;
        let numbers: Vec<i32> = self.sources.iter().map(|at| *at as i32 + 1).collect();
        file.add_variable::<i32>("col", &["n_s"])?.put_values(&numbers, ..)?;
        file.close()
    }
}

impl Mesh {
    /// Longitudes in [0, 360) and latitudes of the middles of all cells, degrees.
    pub fn centres(&self) -> Vec<(f64, f64)> {
        let middle = |edges: &[f64], k: usize| 0.5 * (edges[k] + edges[k + 1]);
        match self {
            Mesh::LatLon(mesh) => {
                let (lon, lat) = (mesh.lon_edges(), mesh.lat_edges());
                let rows = (0..mesh.nlat()).flat_map(|j| (0..mesh.nlon()).map(move |i| (i, j)));
                rows.map(|(i, j)| (middle(lon, i).rem_euclid(360.0), middle(lat, j))).collect()
            }
            Mesh::Reduced(mesh) => {
                let rings = mesh.points().iter().enumerate();
                let cells = rings.flat_map(|(ring, n)| (0..*n).map(move |i| (ring, i)));
                let lon = |ring, i| 0.5 * (mesh.lon_edge(ring, i) + mesh.lon_edge(ring, i + 1));
                cells.map(|(ring, i)| (lon(ring, i).rem_euclid(360.0), middle(mesh.lat_edges(), ring))).collect()
            }
            Mesh::Cube(grid) => {
                let nc = grid.nc();
                let cells = decomposition::Panel::ALL.into_iter().flat_map(|p| (0..nc * nc).map(move |c| (p, c)));
                cells.map(|(panel, c)| to_lonlat(grid.center(panel, c % nc, c / nc))).collect()
            }
        }
    }

    /// Cells along each direction, the one that runs fastest first.
    fn shape(&self) -> Vec<i32> {
        match self {
            Mesh::LatLon(mesh) => vec![mesh.nlon() as i32, mesh.nlat() as i32],
            Mesh::Reduced(mesh) => vec![mesh.cells() as i32],
            Mesh::Cube(grid) => vec![grid.nc() as i32, grid.nc() as i32, 6],
        }
    }
}
