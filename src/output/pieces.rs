//! A rank's part of a field on its way to a file.

use kernels::Scalar;

use super::sharing::{Rectangle, Sharing};
use crate::comm::Communicator;

/// Values of rectangles of cells, one rectangle after another, of each `[levels][j][i]`. Kept from one field to the next,
/// so that their memory is.
#[derive(Debug, Default)]
pub(crate) struct Pieces<R> {
    rectangles: Vec<Rectangle>,
    values: Vec<R>,
    /// Room for the part of another rank.
    incoming: Vec<R>,
}

impl<R: Scalar> Pieces<R> {
    /// No rectangle.
    pub(crate) fn new() -> Self {
        Self { rectangles: Vec::new(), values: Vec::new(), incoming: Vec::new() }
    }

    /// Forgets all rectangles.
    pub(crate) fn clear(&mut self) {
        self.rectangles.clear();
        self.values.clear();
    }

    /// Adds a rectangle, whose values `fill` appends.
    pub(crate) fn add(&mut self, rectangle: Rectangle, fill: impl FnOnce(&mut Vec<R>)) {
        self.rectangles.push(rectangle);
        fill(&mut self.values);
    }

    /// As bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.values)
    }

    /// The rectangles with their values of `levels` levels.
    pub(super) fn iter(&self, levels: usize) -> impl Iterator<Item = (Rectangle, &[R])> {
        cut(&self.rectangles, &self.values, levels)
    }

    /// Collective: `levels` levels of all cells, `[levels][panel][j][i]`, in the memory of `room`, on rank 0; `None`
    /// elsewhere.
    pub(super) fn gather(
        &mut self,
        room: Vec<R>,
        levels: usize,
        sharing: &Sharing,
        nc: usize,
        comm: &dyn Communicator,
    ) -> Option<Vec<R>> {
        let Some(all) = &sharing.all else {
            comm.gather_each(self.bytes(), &[], &mut [], &mut |_, _| {});
            return None;
        };
        let cells = |rank: &Vec<Rectangle>| levels * rank.iter().map(Rectangle::cells).sum::<usize>();
        let lengths: Vec<usize> = all.iter().map(|rank| cells(rank) * size_of::<R>()).collect();
        let longest = all.iter().map(cells).max().unwrap_or(0);
        if comm.size() > 1 && self.incoming.len() < longest {
            self.incoming.resize(longest, R::default());
        }
        let mut whole = Whole::new(room, levels, nc);
        let incoming = bytemuck::cast_slice_mut(&mut self.incoming);
        comm.gather_each(bytemuck::cast_slice(&self.values), &lengths, incoming, &mut |rank, bytes| {
            let pieces = cut(&all[rank], bytemuck::cast_slice(bytes), levels);
            pieces.for_each(|(rectangle, values)| whole.place(&rectangle, values));
        });
        Some(whole.values)
    }
}

/// Values of `levels` levels of each of the rectangles, in their order.
pub(super) fn cut<'a, R>(
    rectangles: &'a [Rectangle],
    values: &'a [R],
    levels: usize,
) -> impl Iterator<Item = (Rectangle, &'a [R])> {
    let mut rest = values;
    rectangles.iter().map(move |rectangle| {
        let (own, tail) = rest.split_at(levels * rectangle.cells());
        rest = tail;
        (*rectangle, own)
    })
}

/// Values of all cells, `[levels][panel][j][i]`.
struct Whole<R> {
    values: Vec<R>,
    levels: usize,
    nc: usize,
}

impl<R: Scalar> Whole<R> {
    /// The tiles of all ranks will cover it.
    fn new(room: Vec<R>, levels: usize, nc: usize) -> Self {
        let mut values = room;
        values.resize(levels * 6 * nc * nc, R::default());
        Self { values, levels, nc }
    }

    /// Puts the values of a rectangle, levels outermost, to their places.
    fn place(&mut self, r: &Rectangle, values: &[R]) {
        let mut rows = values.chunks_exact(r.ni);
        for level in 0..self.levels {
            for j in r.j0..r.j0 + r.nj {
                let start = ((level * 6 + r.panel) * self.nc + j) * self.nc + r.i0;
                let row = rows.next().expect("a row for every level and j");
                self.values[start..start + r.ni].copy_from_slice(row);
            }
        }
    }
}
