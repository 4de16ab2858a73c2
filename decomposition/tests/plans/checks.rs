//! What must hold for every layout.

use decomposition::{
    Axis, Edge, ExchangeKind, HaloPlan, Layout, Panel, SeamPlan, SeamSegment, SeamSide, StencilOrder, Strip, StripSide,
    Tile,
};

use crate::oracle::{self, Cell};

pub const KINDS: [ExchangeKind; 4] =
    [ExchangeKind::Sweep(Axis::X), ExchangeKind::Sweep(Axis::Y), ExchangeKind::Edges, ExchangeKind::Full];

/// Every cell belongs to one tile, every rank owns a run of at least one tile, and owners are found again.
pub fn ownership(layout: &Layout) {
    let nc = layout.nc();
    let mut owner = vec![usize::MAX; 6 * nc * nc];
    let mut next = 0;
    for rank in 0..layout.ranks() {
        assert!(!layout.tiles_of(rank).is_empty(), "rank {rank} owns nothing");
        for tile in layout.tiles_of(rank) {
            assert_eq!((tile.id, tile.rank), (next, rank));
            next += 1;
            assert!(tile.ni >= layout.halo().max(1) && tile.nj >= layout.halo().max(1));
            for j in tile.j0..tile.j0 + tile.nj {
                for i in tile.i0..tile.i0 + tile.ni {
                    let previous = std::mem::replace(&mut owner[(tile.panel.index() * nc + j) * nc + i], rank);
                    assert_eq!(previous, usize::MAX, "cell ({i}, {j}) of {} is owned twice", tile.panel);
                }
            }
        }
    }
    assert_eq!(next, layout.tiles().len());
    assert_eq!(next, layout.tile_grid().tiles());
    assert!(layout.tiles_of(layout.ranks()).is_empty());
    for panel in Panel::ALL {
        for j in 0..nc {
            for i in 0..nc {
                assert_eq!(owner[(panel.index() * nc + j) * nc + i], layout.owner_of_cell(panel, i, j));
            }
        }
    }
}

/// Position of tile-local (`i`, `j`) on the tile's panel, halo included.
fn on_panel(tile: &Tile, (i, j): (isize, isize)) -> (Panel, isize, isize) {
    (tile.panel, tile.i0 as isize + i, tile.j0 as isize + j)
}

fn in_tile(tile: &Tile, (i, j): (isize, isize)) -> bool {
    (0..tile.ni as isize).contains(&i) && (0..tile.nj as isize).contains(&j)
}

/// The sphere cell at a tile-local position.
fn sphere_cell(layout: &Layout, tile: &Tile, local: (isize, isize)) -> Option<Cell> {
    let (panel, i, j) = on_panel(tile, local);
    oracle::cell_at(layout.convention(), layout.nc() as isize, panel, i, j)
}

/// Times each padded cell of each tile is filled.
struct Coverage {
    halo: isize,
    counts: Vec<Vec<u8>>,
}

impl Coverage {
    fn new(layout: &Layout) -> Coverage {
        let halo = layout.halo();
        let padded = |tile: &Tile| vec![0; (tile.ni + 2 * halo) * (tile.nj + 2 * halo)];
        Coverage { halo: halo as isize, counts: layout.tiles().iter().map(padded).collect() }
    }

    fn count(&mut self, tile: &Tile, (i, j): (isize, isize)) -> &mut u8 {
        let width = tile.ni as isize + 2 * self.halo;
        &mut self.counts[tile.id][((j + self.halo) * width + i + self.halo) as usize]
    }
}

/// Every halo cell that `kind` promises is filled once, from the cell that lies there, and messages pair up.
pub fn halo_plans(layout: &Layout, kind: ExchangeKind) {
    let plans: Vec<HaloPlan> = (0..layout.ranks()).map(|rank| HaloPlan::new(layout, kind, rank)).collect();
    let mut coverage = Coverage::new(layout);
    for (rank, plan) in plans.iter().enumerate() {
        assert_eq!(plan.kind, kind);
        for strip in &plan.local {
            assert_eq!(layout.tiles()[strip.source.tile].rank, rank);
            fill(layout, &mut coverage, rank, strip);
        }
        for message in &plan.receives {
            for strip in &message.strips {
                assert_eq!(layout.tiles()[strip.source.tile].rank, message.peer);
                fill(layout, &mut coverage, rank, strip);
            }
        }
    }
    for tile in layout.tiles() {
        let (halo, ni, nj) = (layout.halo() as isize, tile.ni as isize, tile.nj as isize);
        for j in -halo..nj + halo {
            for i in -halo..ni + halo {
                let expected = u8::from(is_filled(layout, kind, tile, (i, j)));
                assert_eq!(*coverage.count(tile, (i, j)), expected, "{kind:?} cell ({i}, {j}) of {tile:?}");
            }
        }
    }
    messages_pair(&plans);
}

fn fill(layout: &Layout, coverage: &mut Coverage, rank: usize, strip: &Strip) {
    let (source, target) = (&layout.tiles()[strip.source.tile], &layout.tiles()[strip.target.tile]);
    assert_eq!(target.rank, rank);
    assert_eq!(strip.cells(), strip.len * strip.depth);
    for d in 0..strip.depth {
        for s in 0..strip.len {
            let (from, to) = (strip.source.cell(s, d), strip.target.cell(s, d));
            assert!(in_tile(source, from), "{strip:?} reads outside {source:?}");
            assert_eq!(Some(on_panel(source, from)), sphere_cell(layout, target, to), "{strip:?} into {target:?}");
            *coverage.count(target, to) += 1;
        }
    }
}

/// Whether an exchange of `kind` fills the padded cell (`i`, `j`) of `tile`.
fn is_filled(layout: &Layout, kind: ExchangeKind, tile: &Tile, (i, j): (isize, isize)) -> bool {
    let (inside_i, inside_j) = ((0..tile.ni as isize).contains(&i), (0..tile.nj as isize).contains(&j));
    match kind {
        _ if inside_i && inside_j => false,
        ExchangeKind::Full => sphere_cell(layout, tile, (i, j)).is_some(),
        ExchangeKind::Sweep(_) | ExchangeKind::Edges if !inside_i && !inside_j => false,
        ExchangeKind::Edges => true,
        ExchangeKind::Sweep(axis) => {
            let beyond = if inside_j { Axis::X } else { Axis::Y };
            let (panel, pi, pj) = on_panel(tile, (i, j));
            let nc = layout.nc() as isize;
            let edge = match (pi, pj) {
                (_, pj) if pj >= nc => Edge::North,
                (_, pj) if pj < 0 => Edge::South,
                (pi, _) if pi >= nc => Edge::East,
                (pi, _) if pi < 0 => Edge::West,
                _ => return beyond == axis,
            };
            let seams = layout.convention().seams();
            let seam = seams.iter().find(|seam| [seam.owner, seam.other].contains(&(panel, edge)));
            beyond == axis || seam.expect("every panel edge is on a seam").axis == axis
        }
    }
}

fn messages_pair(plans: &[HaloPlan]) {
    for (rank, plan) in plans.iter().enumerate() {
        for messages in [&plan.sends, &plan.receives] {
            assert!(messages.windows(2).all(|pair| pair[0].peer < pair[1].peer));
            assert!(messages.iter().all(|message| message.peer != rank && message.cells() > 0));
        }
        for message in &plan.receives {
            let sent = plans[message.peer].sends.iter().find(|sent| sent.peer == rank);
            assert_eq!(sent.map(|sent| &sent.strips), Some(&message.strips), "{} to {rank}", message.peer);
        }
    }
    let count = |of: fn(&HaloPlan) -> usize| plans.iter().map(of).sum::<usize>();
    assert_eq!(count(|plan| plan.sends.len()), count(|plan| plan.receives.len()));
    assert_eq!(count(HaloPlan::send_cells), count(HaloPlan::receive_cells));
}

/// Corner blocks at cube vertices are filled by the copy-corner rule, from strips of the same tile; others are not.
pub fn vertex_corners(layout: &Layout) {
    let (halo, nc) = (layout.halo() as isize, layout.nc() as isize);
    for axis in [Axis::X, Axis::Y] {
        let mut coverage = Coverage::new(layout);
        for rank in 0..layout.ranks() {
            let plan = HaloPlan::new(layout, ExchangeKind::Full, rank);
            for strip in plan.vertex_corners(axis) {
                let tile = &layout.tiles()[strip.target.tile];
                assert_eq!((strip.source.tile, tile.rank), (tile.id, rank));
                for (s, d) in (0..strip.len).flat_map(|s| (0..strip.depth).map(move |d| (s, d))) {
                    let target = strip.target.cell(s, d);
                    let (_, i, j) = on_panel(tile, target);
                    let (_, from_i, from_j) = on_panel(tile, strip.source.cell(s, d));
                    let expected = oracle::corner_sources(nc, i + 1, j + 1)[axis as usize];
                    assert_eq!((from_i + 1, from_j + 1), expected, "{axis:?} corner cell ({i}, {j})");
                    *coverage.count(tile, target) += 1;
                }
            }
        }
        for tile in layout.tiles() {
            for j in -halo..tile.nj as isize + halo {
                for i in -halo..tile.ni as isize + halo {
                    let expected = u8::from(sphere_cell(layout, tile, (i, j)).is_none());
                    assert_eq!(*coverage.count(tile, (i, j)), expected, "corner cell ({i}, {j}) of {tile:?}");
                }
            }
        }
    }
}

/// Every seam of the group is covered once from each side, and both sides read the same cells in the same order.
pub fn seam_plans(layout: &Layout, axis: Axis) {
    let nc = layout.nc();
    // Per seam, side and owner's along-edge index: the cells across the seam along the owner's positive axis.
    let mut stencils: Vec<[Vec<Option<Vec<Cell>>>; 2]> = vec![[vec![None; nc], vec![None; nc]]; 12];
    for rank in 0..layout.ranks() {
        let plan = SeamPlan::new(layout, axis, rank);
        let key = |segment: &SeamSegment| (segment.seam, segment.side, segment.owner_start);
        assert!(plan.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])));
        for segment in plan.segments() {
            assert_eq!(layout.tiles()[segment.tile].rank, rank);
            segment_geometry(layout, segment);
            for s in 0..segment.len {
                let stencil = &mut stencils[segment.seam][segment.side as usize][segment.owner_start + s];
                let previous = stencil.replace(owner_order(layout, segment, s));
                assert_eq!(previous, None, "seam {} is covered twice", segment.seam);
            }
        }
    }
    for seam in layout.convention().seams() {
        let [owner, other] = &stencils[seam.number];
        if seam.axis != axis {
            assert!(owner.iter().chain(other).all(Option::is_none));
            continue;
        }
        for (s, (owner, other)) in owner.iter().zip(other).enumerate() {
            assert_eq!(owner, other, "seam {} at {s}", seam.number);
            let cells = owner.as_ref().expect("the whole seam is covered");
            assert_eq!(cells.len(), 2 * layout.halo());
            if layout.halo() == 0 {
                continue;
            }
            // The owner's own cells come first at N and E edges and last at S and W edges; this one lies at the seam.
            let edge_cell = oracle::interior(nc as isize, seam.owner.0, seam.owner.1, 1, s as isize + 1);
            let position = if seam.owner.1.is_outflow() { layout.halo() - 1 } else { layout.halo() };
            assert_eq!(cells[position], edge_cell);
        }
    }
}

fn segment_geometry(layout: &Layout, segment: &SeamSegment) {
    let tile = &layout.tiles()[segment.tile];
    let seam = layout.convention().seams()[segment.seam];
    assert_eq!((tile.panel, segment.edge), seam.edge_of(segment.side));
    assert_eq!(segment.sign, seam.sign);
    assert_eq!(segment.leaves_owner, if seam.owner.1.is_outflow() { 1.0 } else { -1.0 });
    for s in 0..segment.len as isize {
        let (i, j) = (segment.cell.0 + s * segment.along.di, segment.cell.1 + s * segment.along.dj);
        assert!(in_tile(tile, (i, j)));
        assert!(!in_tile(tile, (i - segment.inward.di, j - segment.inward.dj)));
        let face = (segment.face.0 + s * segment.face_along.di, segment.face.1 + s * segment.face_along.dj);
        let expected = match segment.edge {
            Edge::West => (0, j),
            Edge::East => (tile.ni as isize, j),
            Edge::South => (i, 0),
            Edge::North => (i, tile.nj as isize),
        };
        assert_eq!(face, expected);
    }
}

/// Sphere cells across the seam at `s`, along the positive axis of the owner.
fn owner_order(layout: &Layout, segment: &SeamSegment, s: usize) -> Vec<Cell> {
    let tile = &layout.tiles()[segment.tile];
    let walk =
        StripSide { tile: tile.id, i: segment.cell.0, j: segment.cell.1, along: segment.along, across: segment.inward };
    let halo = layout.halo() as isize;
    // From the outermost halo cell to the innermost interior cell.
    let (i, j) = walk.cell(s, 0);
    let mut cells: Vec<Cell> = (-halo..halo)
        .map(|d| (i + d * segment.inward.di, j + d * segment.inward.dj))
        .map(|local| sphere_cell(layout, tile, local).expect("a seam stencil stays within the edge strips"))
        .collect();
    if segment.order == StencilOrder::InteriorFirst {
        cells.reverse();
    }
    if segment.side == SeamSide::Owner {
        let along_axis: Vec<isize> =
            cells.iter().map(|&(_, i, j)| if segment.edge.axis() == Axis::X { i } else { j }).collect();
        let own = |k: usize| cells[k].0 == tile.panel;
        assert!((1..cells.len()).all(|k| !(own(k - 1) && own(k)) || along_axis[k] > along_axis[k - 1]));
    }
    cells
}
