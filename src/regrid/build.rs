//! All intersections of two meshes.

use rayon::prelude::*;

use super::clip::Clipper;
use super::cut::Cutter;
use super::polygons::Polygons;
use super::product::Product;
use super::strips::{Lines, Strips};
use super::tree::Tree;
use super::{Mesh, Overlap};

/// Cells that one thread takes at a time.
const BATCH: usize = 256;

/// Part of the smaller of two cells below which a shared area is rounding.
const NOISE: f64 = 1e-15;

/// Ends of the entries of each cell, and the entries: source cell and area.
type Batch = (Vec<usize>, Vec<(u32, f64)>);

/// How a mesh is bounded.
enum Shape<'a> {
    Polygons(Polygons<'a>),
    Strips(Strips<'a>),
}

fn shape(mesh: &Mesh) -> Shape<'_> {
    match mesh {
        Mesh::LatLon(strips) => mesh.polygons().map_or(Shape::Strips(Strips::LatLon(strips)), Shape::Polygons),
        Mesh::Reduced(strips) => Shape::Strips(Strips::Reduced(strips)),
        Mesh::Cube(grid) => Shape::Polygons(Polygons::Cube(grid)),
    }
}

impl Overlap {
    /// Intersections of all cells of `src` with all cells of `dst`. Equal meshes give the areas of the cells themselves.
    ///
    /// Runs on the current thread pool; the result does not depend on the number of threads.
    pub fn new(src: &Mesh, dst: &Mesh) -> Self {
        let (src_area, dst_area) = (src.areas(), dst.areas());
        if src.descriptor() == dst.descriptor() {
            let cells = dst_area.len();
            let areas = dst_area.clone();
            return Self {
                rows: (0..=cells).collect(),
                sources: (0..cells as u32).collect(),
                areas,
                src_area,
                dst_area,
            };
        }
        match (shape(src), shape(dst)) {
            (Shape::Strips(strips), Shape::Polygons(polygons)) => {
                let lines = Lines::new(strips.lat_edges());
                let make = || Cutter::new(polygons, strips, &lines);
                gather(src_area, dst_area, make, |cutter, cell, out| cutter.cut(cell, out))
            }
            (Shape::Polygons(_), Shape::Strips(_)) => Self::new(dst, src).transposed(),
            (Shape::Polygons(sources), Shape::Polygons(cells)) => {
                let tree = Tree::new(&sources);
                let make = || Clipper::new(cells, sources, &tree);
                gather(src_area, dst_area, make, |clipper, cell, out| clipper.cut(cell, out))
            }
            (Shape::Strips(sources), Shape::Strips(cells)) => {
                let places: Vec<(u32, u32)> = (0..cells.rows())
                    .flat_map(|row| (0..cells.columns(row)).map(move |column| (row as u32, column as u32)))
                    .collect();
                let make = || Product::new(cells, sources);
                gather(src_area, dst_area, make, |product, cell, out| {
                    product.cut(places[cell].0 as usize, places[cell].1 as usize, out);
                })
            }
        }
    }
}

/// Rows of all destination cells, each by `cut`, with a tool of its own per thread.
fn gather<T>(
    src_area: Vec<f64>,
    dst_area: Vec<f64>,
    make: impl Fn() -> T + Sync + Send,
    cut: impl Fn(&mut T, usize, &mut Vec<(u32, f64)>) + Sync + Send,
) -> Overlap {
    let cells = dst_area.len();
    let batches: Vec<Batch> = (0..cells.div_ceil(BATCH))
        .into_par_iter()
        .map_init(make, |tool, batch| {
            let (mut ends, mut entries, mut found) = (Vec::with_capacity(BATCH), Vec::new(), Vec::new());
            for cell in batch * BATCH..((batch + 1) * BATCH).min(cells) {
                found.clear();
                cut(tool, cell, &mut found);
                let least = |at: u32| NOISE * dst_area[cell].min(src_area[at as usize]);
                entries.extend(found.iter().filter(|(at, area)| *area > least(*at)));
                ends.push(entries.len());
            }
            (ends, entries)
        })
        .collect();
    let total = batches.iter().map(|(_, entries)| entries.len()).sum();
    let (mut rows, mut sources) = (Vec::with_capacity(cells + 1), Vec::with_capacity(total));
    let mut areas = Vec::with_capacity(total);
    rows.push(0);
    for (ends, entries) in batches {
        let before = areas.len();
        rows.extend(ends.iter().map(|end| before + end));
        sources.extend(entries.iter().map(|entry| entry.0));
        areas.extend(entries.iter().map(|entry| entry.1));
    }
    Overlap { rows, sources, areas, src_area, dst_area }
}
