//! One window in memory: the rank's share of the sections a run uses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use decomposition::{AlongEdge, Edge, Panel, PanelConvention, SeamSide};
use kernels::Scalar;

use super::derived::{Derive, Derived, Sections, Underivable};
use super::header::Header;
use super::section::Section;
use crate::state::{Slabs, TileSet};

/// Which amounts the face fluxes of a buffer hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FluxForm {
    /// As stored in the file.
    AsStored,
    /// Amounts of one of the two applications of a substep, whatever the file stores.
    HalfSweep,
}

/// A face on a panel edge whose value comes from the panel on the other side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mirror {
    /// Position of the tile in the tile set.
    pub tile: usize,
    /// Edge of the tile, and of its panel.
    pub edge: Edge,
    /// Owning panel and its edge.
    pub owner: (Panel, Edge),
    pub along: AlongEdge,
    /// Factor from the owner's value to this panel's.
    pub sign: f64,
}

/// Sections of one window on the tiles of one rank.
///
/// Every section has one plane per level. Cell values lie at their cells; the face on the low side of cell `i` (`j`)
/// lies at `i` (`j`), so the last face is at `ni` (`nj`), in the halo. Interface sections have one level more than
/// layers, column sections one level. Halos are not filled.
#[derive(Clone, Debug)]
pub struct WindowBuffer<R> {
    pub(super) nc: usize,
    pub(super) nlevel: usize,
    pub(super) convention: PanelConvention,
    pub(super) fields: Vec<(Section, Slabs<R>)>,
    derived: Vec<(Derived, Slabs<R>)>,
    derive: Option<Arc<dyn Derive<R>>>,
    pub(super) mirrors: Vec<Mirror>,
    /// Position of each tile's plane within a level, the same for all sections.
    pub(super) offsets: Vec<usize>,
    /// Whether the tiles cover all six panels.
    pub(super) covers_globe: bool,
    form: FluxForm,
    pub(super) loaded: Option<Loaded>,
    pub(super) scratch: Scratch,
    pub(super) set: Arc<TileSet>,
}

/// Memory for stored bytes of one level, for every thread that may read.
#[derive(Debug)]
pub(super) struct Scratch(Vec<Mutex<Vec<u8>>>);

impl Scratch {
    /// For levels of panels of `nc` × `nc` cells; all is taken now.
    fn new(threads: usize, nc: usize) -> Self {
        let level = (nc + 1) * (nc + 1) * size_of::<f64>();
        Self((0..threads.max(1)).map(|_| Mutex::new(Vec::with_capacity(level))).collect())
    }

    /// The memory of this thread.
    pub(super) fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        let thread = rayon::current_thread_index().unwrap_or(0) % self.0.len();
        self.0[thread].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        let like = |bytes: &Mutex<Vec<u8>>| {
            let capacity = bytes.lock().unwrap_or_else(PoisonError::into_inner).capacity();
            Mutex::new(Vec::with_capacity(capacity))
        };
        Self(self.0.iter().map(like).collect())
    }
}

/// What the window currently held is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loaded {
    /// Window within its file, from 0.
    pub window: usize,
    /// Substeps of the window.
    pub steps: u32,
    /// Factor from the fluxes in the buffer to the amount of one of the two applications of a substep; 1 with
    /// [`FluxForm::HalfSweep`].
    pub flux_scale: f64,
}

impl<R: Scalar> WindowBuffer<R> {
    /// Storage for `sections` of files like the one `header` describes; fluxes are kept as stored. Sections named twice
    /// are stored once. Whether a file has the sections is checked when it is read.
    pub fn new(set: Arc<TileSet>, header: &Header, sections: &[Section]) -> Self {
        Self::empty(set, header.nc(), header.nlevel(), header.panel_convention(), sections)
    }

    /// Storage for `sections` on panels of `nc` × `nc` cells with `nlevel` layers, all zero, for windows that come from
    /// no file.
    pub fn empty(
        set: Arc<TileSet>,
        nc: usize,
        nlevel: usize,
        convention: PanelConvention,
        sections: &[Section],
    ) -> Self {
        let mut wanted: Vec<Section> = sections.to_vec();
        wanted.sort();
        wanted.dedup();
        let fields = wanted.into_iter().map(|s| (s, Slabs::zeros(set.clone(), s.shape(nc, nlevel).nk, 1))).collect();
        let column: Slabs<R> = Slabs::zeros(set.clone(), 1, 1);
        let offsets = (0..set.len()).map(|t| column.tile_offset(t)).collect();
        let mut mirrors = Vec::new();
        for (tile, t) in set.tiles().iter().enumerate() {
            let on_edge = |edge: Edge| match edge {
                Edge::North => t.j0 + t.nj == nc,
                Edge::South => t.j0 == 0,
                Edge::East => t.i0 + t.ni == nc,
                Edge::West => t.i0 == 0,
            };
            for edge in Edge::ALL.into_iter().filter(|e| on_edge(*e)) {
                let (seam, side) = convention.seam_at(t.panel, edge);
                if side == SeamSide::Other {
                    mirrors.push(Mirror { tile, edge, owner: seam.owner, along: seam.along, sign: seam.sign.factor() });
                }
            }
        }
        let cells: usize = set.tiles().iter().map(|t| t.ni * t.nj).sum();
        let covers_globe = cells == 6 * nc * nc;
        Self {
            nc,
            nlevel,
            convention,
            fields,
            derived: Vec::new(),
            derive: None,
            mirrors,
            offsets,
            covers_globe,
            form: FluxForm::AsStored,
            loaded: None,
            scratch: Scratch::new(rayon::current_num_threads(), nc),
            set,
        }
    }

    /// Chooses which amounts the face fluxes hold; conversion multiplies in f64 and rounds once.
    pub fn with_flux_form(mut self, form: FluxForm) -> Self {
        self.form = form;
        self
    }

    /// Adds fields that are computed whenever a window is loaded.
    pub fn with_derived(mut self, derive: Arc<dyn Derive<R>>) -> Self {
        self.set_derived(derive);
        self
    }

    /// Replaces the fields that are computed whenever a window is loaded. They are zero until then, or until
    /// [`derive`](Self::derive).
    pub(crate) fn set_derived(&mut self, derive: Arc<dyn Derive<R>>) {
        let zeros = |_| Slabs::zeros(self.set.clone(), self.nlevel, 1);
        self.derived = derive.fields().into_iter().map(|field| (field, zeros(field))).collect();
        self.derive = Some(derive);
    }

    /// Computes the derived fields from the sections held.
    pub(crate) fn derive(&mut self) -> Result<(), Underivable> {
        let Self { fields, derived, derive: Some(derive), .. } = self else { return Ok(()) };
        derive.derive(Sections(fields), derived)
    }

    /// Values of a derived field, if it is computed here.
    pub fn derived(&self, field: Derived) -> Option<&Slabs<R>> {
        self.derived.iter().find(|(f, _)| *f == field).map(|(_, values)| values)
    }

    /// Derived fields with their values.
    pub fn derived_fields(&self) -> impl Iterator<Item = (Derived, &Slabs<R>)> {
        self.derived.iter().map(|(field, values)| (*field, values))
    }

    /// Which amounts the face fluxes hold.
    pub fn flux_form(&self) -> FluxForm {
        self.form
    }

    /// The tiles.
    pub fn tile_set(&self) -> &Arc<TileSet> {
        &self.set
    }

    /// Sections stored here, in canonical order.
    pub fn sections(&self) -> impl Iterator<Item = Section> {
        self.fields.iter().map(|(s, _)| *s)
    }

    /// Values of a section, if it is stored here.
    pub fn get(&self, section: Section) -> Option<&Slabs<R>> {
        self.fields.iter().find(|(s, _)| *s == section).map(|(_, f)| f)
    }

    /// Values of a section, mutable, if it is stored here.
    pub fn get_mut(&mut self, section: Section) -> Option<&mut Slabs<R>> {
        self.fields.iter_mut().find(|(s, _)| *s == section).map(|(_, f)| f)
    }

    /// The window held; `None` before the first load and after a failed one.
    pub fn loaded(&self) -> Option<Loaded> {
        self.loaded
    }
}
