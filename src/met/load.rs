//! Filling a window buffer from a file.

use std::sync::atomic::{AtomicBool, Ordering};

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
    file: &'a TransportFile,
    window: usize,
    /// Place of its first byte in the file.
    start: u64,
    float_type: FloatType,
    rule: ValueRule,
    scale: Option<f64>,
    nc: usize,
    /// Both horizontal fluxes with their places, x first: a face on a panel edge may lie on the other axis of the owning
    /// panel.
    fluxes: [(SectionShape, u64); 2],
}

/// Why a level is not loaded. Of several, the one that counts is the first from the top down.
enum Unloaded {
    Broken(CellIndex, f64),
    Unread(usize, MetError),
}

impl Unloaded {
    fn level(&self) -> usize {
        match self {
            Self::Broken(cell, _) => cell.k,
            Self::Unread(level, _) => *level,
        }
    }
}

impl TransportFile {
    /// Fills a buffer with window `window` (from 0), converting to the run's precision.
    ///
    /// Faces on panel edges are taken from the panel that owns the edge, so that both panels see the same flux. If the
    /// tiles cover the globe, the stored checksum is verified too. Halos keep their values.
    ///
    /// # Errors
    /// A window beyond the last one, a section the file lacks, a buffer made for another grid, a checksum that differs,
    /// a read that fails, an air mass or surface pressure that is not finite and positive, or any other value that is not finite. The
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
        let flux = |section: Section| self.section_start(window, section).map(|at| (section.shape(nc, nz), at));
        let fluxes = [flux(Section::FluxX)?, flux(Section::FluxY)?];
        for index in 0..buffer.fields.len() {
            let section = buffer.fields[index].0;
            let source = Source {
                section,
                shape: section.shape(nc, nz),
                file: self,
                window,
                start: self.section_start(window, section)?,
                float_type: header.float_type(),
                rule: ValueRule::of(section),
                scale: (section.is_air_flux() && scale != 1.0).then_some(scale),
                nc,
                fluxes,
            };
            match source.load(index, buffer, threads) {
                None => {}
                Some(Unloaded::Unread(_, error)) => return Err(error),
                Some(Unloaded::Broken(cell, value)) => {
                    let rule = source.rule.text();
                    return Err(MetError::BadValue { path: path(), window, section, cell, value, rule });
                }
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
    fn load<R: Scalar>(&self, index: usize, buffer: &mut WindowBuffer<R>, threads: LoadThreads) -> Option<Unloaded> {
        let WindowBuffer { set, fields, mirrors, offsets, scratch, .. } = buffer;
        let slabs = &mut fields[index].1;
        let stride = slabs.level_stride();
        let try_level = |k: usize, slab: &mut [R]| -> Result<Option<Unloaded>, MetError> {
            let (mut broken, bytes) = (None, &mut *scratch.lock());
            for ((tile, shape), offset) in set.tiles().iter().zip(set.shapes()).zip(offsets.iter()) {
                let found = self.load_tile(k, tile, shape, bytes, &mut slab[*offset..])?;
                broken = broken.or(found);
            }
            for mirror in mirrors.iter().filter(|m| edge_section(m.edge) == self.section) {
                let (tile, shape) = (&set.tiles()[mirror.tile], &set.shapes()[mirror.tile]);
                self.load_mirror(k, mirror, tile, shape, bytes, &mut slab[offsets[mirror.tile]..])?;
            }
            Ok(broken.map(|(cell, value)| Unloaded::Broken(cell, value)))
        };
        // Storage that refuses for good is not asked again for every level.
        let refused = AtomicBool::new(false);
        let level = |(k, slab): (usize, &mut [R])| {
            if refused.load(Ordering::Relaxed) {
                return None;
            }
            try_level(k, slab).unwrap_or_else(|error| {
                refused.store(true, Ordering::Relaxed);
                Some(Unloaded::Unread(k, error))
            })
        };
        let data = slabs.data_mut();
        match threads {
            // All levels are visited either way, so that a failed load leaves the same values.
            LoadThreads::Caller => data.chunks_mut(stride).enumerate().filter_map(level).reduce(|first, _| first),
            LoadThreads::Pool => data.par_chunks_mut(stride).enumerate().filter_map(level).min_by_key(Unloaded::level),
        }
    }

    /// The stored bytes of `count` values, from the value at position `first` of the section at `start` on.
    fn read(&self, start: u64, first: usize, count: usize, bytes: &mut Vec<u8>) -> Result<(), MetError> {
        let size = self.float_type.bytes();
        bytes.resize(count * size, 0);
        self.file.read(self.window, start + (first * size) as u64, bytes)
    }

    /// Copies one level of one tile; returns the first value that breaks the rule.
    fn load_tile<R: Scalar>(
        &self,
        k: usize,
        tile: &Tile,
        shape: &TileShape,
        bytes: &mut Vec<u8>,
        plane: &mut [R],
    ) -> Result<Option<(CellIndex, f64)>, MetError> {
        let size = self.float_type.bytes();
        let placement = self.section.placement();
        let ni = tile.ni + usize::from(placement == Placement::FacesX);
        let nj = tile.nj + usize::from(placement == Placement::FacesY);
        let panel = tile.panel.index();
        // From the first value of the tile to its last one: beside other tiles, with some of theirs.
        self.read(self.start, position(&self.shape, panel, tile.i0, tile.j0, k), (nj - 1) * self.shape.ni + ni, bytes)?;
        let mut broken = None;
        for j in 0..nj {
            let start = j * self.shape.ni * size;
            let row = &mut plane[shape.row_start(j)..][..ni];
            convert_row(&bytes[start..start + ni * size], self.float_type, self.scale, row);
            if broken.is_none()
                && let Some(i) = self.rule.first_broken(row)
            {
                broken = Some((CellIndex { panel, i: tile.i0 + i, j: tile.j0 + j, k }, row[i].to_f64()));
            }
        }
        Ok(broken)
    }

    /// Replaces one level of the faces of one tile edge by the owner's values.
    fn load_mirror<R: Scalar>(
        &self,
        k: usize,
        mirror: &Mirror,
        tile: &Tile,
        shape: &TileShape,
        bytes: &mut Vec<u8>,
        plane: &mut [R],
    ) -> Result<(), MetError> {
        let (first, count) = match mirror.edge.axis() {
            Axis::X => (tile.j0, tile.nj),
            Axis::Y => (tile.i0, tile.ni),
        };
        let (panel, edge) = mirror.owner;
        let (owner_shape, start) = match edge.axis() {
            Axis::X => self.fluxes[0],
            Axis::Y => self.fluxes[1],
        };
        let at = |n: usize| {
            let (i, j) = edge_face(edge, mirror.along.map(first + n, self.nc), self.nc);
            position(&owner_shape, panel.index(), i, j, k)
        };
        // Positions rise or fall along the edge.
        let (lowest, highest) = (at(0).min(at(count - 1)), at(0).max(at(count - 1)));
        self.read(start, lowest, highest - lowest + 1, bytes)?;
        // The sign is exact, so this is the owner's converted value times the sign.
        let scale = self.scale.unwrap_or(1.0) * mirror.sign;
        for n in 0..count {
            let value = value_at(bytes, self.float_type, at(n) - lowest);
            let (i, j) = edge_face(mirror.edge, first + n, self.nc);
            plane[shape.row_start(j - tile.j0) + i - tile.i0] = R::from_f64(value * scale);
        }
        Ok(())
    }
}

/// Position of a value within its section.
fn position(shape: &SectionShape, panel: usize, i: usize, j: usize, k: usize) -> usize {
    ((panel * shape.nk + k) * shape.nj + j) * shape.ni + i
}
