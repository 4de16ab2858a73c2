//! Filling a window buffer from a file.

use decomposition::{Axis, Tile};
use kernels::{Scalar, TileShape};
use rayon::prelude::*;

use super::buffer::{FluxForm, Loaded, Mirror, WindowBuffer};
use super::convert::{ValueRule, convert_row, value_at};
use super::derived::Underivable;
use super::error::{CellIndex, MetError};
use super::reader::TransportFile;
use super::schema::FloatType;
use super::seam::{edge_face, edge_section};
use super::section::{Placement, Section, SectionShape};

/// Who converts the levels of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadThreads {
    /// The thread pool, levels in parallel.
    Pool,
    /// The calling thread alone, leaving the pool to the model.
    Caller,
}

/// One section of one window within the file.
struct Source<'a> {
    section: Section,
    shape: SectionShape,
    bytes: &'a [u8],
    float_type: FloatType,
    rule: ValueRule,
    scale: Option<f64>,
    nc: usize,
    /// Both horizontal fluxes, x first: a face on a panel edge may lie on the other axis of the owning panel.
    fluxes: [(SectionShape, &'a [u8]); 2],
}

impl TransportFile {
    /// Fills a buffer with window `window` (from 0), converting to the run's precision.
    ///
    /// Faces on panel edges are taken from the panel that owns the edge, so that both panels see the same flux. If the
    /// tiles cover the globe, the stored checksum is verified too. Halos keep their values.
    ///
    /// # Errors
    /// A window beyond the last one, a section the file lacks, a buffer made for another grid, a checksum that differs,
    /// an air mass or surface pressure that is not finite and positive, or any other value that is not finite. The
    /// buffer then counts as empty.
    pub fn load_window<R: Scalar>(&self, window: usize, buffer: &mut WindowBuffer<R>) -> Result<(), MetError> {
        self.load_window_with(window, buffer, LoadThreads::Pool)
    }

    /// As [`TransportFile::load_window`], with a choice of threads. The values do not depend on it.
    ///
    /// # Errors
    /// As [`TransportFile::load_window`].
    pub fn load_window_with<R: Scalar>(
        &self,
        window: usize,
        buffer: &mut WindowBuffer<R>,
        threads: LoadThreads,
    ) -> Result<(), MetError> {
        buffer.loaded = None;
        let header = self.header();
        let (path, nc, nz) = (|| self.path().to_path_buf(), header.nc(), header.nlevel());
        if (buffer.nc, buffer.nlevel, buffer.convention) != (nc, nz, header.panel_convention()) {
            let buffer = format!("C{} {}, {} layers", buffer.nc, buffer.convention.tag(), buffer.nlevel);
            let file = format!("C{nc} {}, {nz} layers", header.panel_convention().tag());
            return Err(MetError::BufferShape { path: path(), buffer, file });
        }
        self.window_range(window)?;
        if buffer.covers_globe {
            self.verify(window)?;
        }
        let file_scale = header.flux_scale(window);
        let (scale, flux_scale) = match buffer.flux_form() {
            FluxForm::AsStored => (1.0, file_scale),
            FluxForm::HalfSweep => (file_scale, 1.0),
        };
        let flux = |section: Section| self.section_bytes(window, section).map(|b| (section.shape(nc, nz), b));
        let fluxes = [flux(Section::FluxX)?, flux(Section::FluxY)?];
        for index in 0..buffer.fields.len() {
            let section = buffer.fields[index].0;
            let source = Source {
                section,
                shape: section.shape(nc, nz),
                bytes: self.section_bytes(window, section)?,
                float_type: header.float_type(),
                rule: ValueRule::of(section),
                scale: (section.is_air_flux() && scale != 1.0).then_some(scale),
                nc,
                fluxes,
            };
            let broken = source.load(index, buffer, threads);
            self.release_section(window, section);
            if let Some((cell, value)) = broken {
                let rule = source.rule.text();
                return Err(MetError::BadValue { path: path(), window, section, cell, value, rule });
            }
        }
        buffer.loaded = Some(Loaded { window, steps: header.steps()[window], flux_scale });
        buffer.derive().map_err(|Underivable { cell, problem }| {
            buffer.loaded = None;
            MetError::Underivable { path: path(), window, cell, problem }
        })
    }
}

impl Source<'_> {
    /// Fills field `index` of the buffer; returns the first value, from the top down, that breaks the rule.
    fn load<R: Scalar>(
        &self,
        index: usize,
        buffer: &mut WindowBuffer<R>,
        threads: LoadThreads,
    ) -> Option<(CellIndex, f64)> {
        let WindowBuffer { set, fields, mirrors, offsets, .. } = buffer;
        let slabs = &mut fields[index].1;
        let stride = slabs.level_stride();
        let level = |(k, slab): (usize, &mut [R])| {
            let mut broken = None;
            for ((tile, shape), offset) in set.tiles().iter().zip(set.shapes()).zip(offsets.iter()) {
                let found = self.load_tile(k, tile, shape, &mut slab[*offset..]);
                broken = broken.or(found);
            }
            for mirror in mirrors.iter().filter(|m| edge_section(m.edge) == self.section) {
                let (tile, shape) = (&set.tiles()[mirror.tile], &set.shapes()[mirror.tile]);
                self.load_mirror(k, mirror, tile, shape, &mut slab[offsets[mirror.tile]..]);
            }
            broken
        };
        let data = slabs.data_mut();
        match threads {
            // All levels are visited either way, so that a failed load leaves the same values.
            LoadThreads::Caller => data.chunks_mut(stride).enumerate().filter_map(level).reduce(|first, _| first),
            LoadThreads::Pool => data.par_chunks_mut(stride).enumerate().filter_map(level).min_by_key(|(c, _)| c.k),
        }
    }

    /// Copies one level of one tile; returns the first value that breaks the rule.
    fn load_tile<R: Scalar>(
        &self,
        k: usize,
        tile: &Tile,
        shape: &TileShape,
        plane: &mut [R],
    ) -> Option<(CellIndex, f64)> {
        let size = self.float_type.bytes();
        let placement = self.section.placement();
        let ni = tile.ni + usize::from(placement == Placement::FacesX);
        let nj = tile.nj + usize::from(placement == Placement::FacesY);
        let panel = tile.panel.index();
        let mut broken = None;
        for j in 0..nj {
            let start = position(&self.shape, panel, tile.i0, tile.j0 + j, k) * size;
            let row = &mut plane[shape.row_start(j)..][..ni];
            convert_row(&self.bytes[start..start + ni * size], self.float_type, self.scale, row);
            if broken.is_none()
                && let Some(i) = self.rule.first_broken(row)
            {
                broken = Some((CellIndex { panel, i: tile.i0 + i, j: tile.j0 + j, k }, row[i].to_f64()));
            }
        }
        broken
    }

    /// Replaces one level of the faces of one tile edge by the owner's values.
    fn load_mirror<R: Scalar>(&self, k: usize, mirror: &Mirror, tile: &Tile, shape: &TileShape, plane: &mut [R]) {
        let (first, count) = match mirror.edge.axis() {
            Axis::X => (tile.j0, tile.nj),
            Axis::Y => (tile.i0, tile.ni),
        };
        let (panel, edge) = mirror.owner;
        let (owner_shape, bytes) = match edge.axis() {
            Axis::X => self.fluxes[0],
            Axis::Y => self.fluxes[1],
        };
        // The sign is exact, so this is the owner's converted value times the sign.
        let scale = self.scale.unwrap_or(1.0) * mirror.sign;
        for n in 0..count {
            let (i, j) = edge_face(edge, mirror.along.map(first + n, self.nc), self.nc);
            let value = value_at(bytes, self.float_type, position(&owner_shape, panel.index(), i, j, k));
            let (i, j) = edge_face(mirror.edge, first + n, self.nc);
            plane[shape.row_start(j - tile.j0) + i - tile.i0] = R::from_f64(value * scale);
        }
    }
}

/// Position of a value within its section.
fn position(shape: &SectionShape, panel: usize, i: usize, j: usize, k: usize) -> usize {
    ((panel * shape.nk + k) * shape.nj + j) * shape.ni + i
}
