//! Search for cells near a cell.

use super::polygons::Polygons;
use crate::grid::vector::{dot, normalise, subtract};

/// Cells in a leaf.
const LEAF: usize = 8;

/// Ball that holds a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ball {
    centre: [f64; 3],
    radius: f64,
}

impl Ball {
    /// Ball around the convex cell with these corners.
    pub fn around(corners: &[[f64; 3]]) -> Self {
        let centre = normalise(corners.iter().fold([0.0; 3], |sum, v| std::array::from_fn(|c| sum[c] + v[c])));
        let square = corners.iter().map(|v| subtract(*v, centre)).map(|d| dot(d, d)).fold(0.0, f64::max);
        // A little more, against rounding.
        Self { centre, radius: square.sqrt() * (1.0 + 1e-9) + 1e-12 }
    }
}

/// Box around the balls of a range of cells.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: [f64; 3],
    high: [f64; 3],
    /// Cells `begin..end` of the order; inner nodes are followed by their first half, the second is at `second`.
    begin: usize,
    end: usize,
    second: Option<usize>,
}

/// Boxes in boxes around all cells of a mesh.
#[derive(Debug)]
pub(super) struct Tree {
    order: Vec<u32>,
    balls: Vec<Ball>,
    nodes: Vec<Node>,
}

impl Tree {
    pub fn new(mesh: &Polygons) -> Self {
        let balls = (0..mesh.cells()).map(|cell| Ball::around(&mesh.corners(cell))).collect();
        let mut tree = Self { order: (0..mesh.cells() as u32).collect(), balls, nodes: Vec::new() };
        if !tree.order.is_empty() {
            tree.split(0, tree.order.len());
        }
        tree
    }

    /// Makes the node of a range of cells and those below it.
    fn split(&mut self, begin: usize, end: usize) {
        let (mut low, mut high) = ([f64::MAX; 3], [f64::MIN; 3]);
        for cell in &self.order[begin..end] {
            let ball = &self.balls[*cell as usize];
            for c in 0..3 {
                low[c] = low[c].min(ball.centre[c] - ball.radius);
                high[c] = high[c].max(ball.centre[c] + ball.radius);
            }
        }
        let node = self.nodes.len();
        self.nodes.push(Node { low, high, begin, end, second: None });
        if end - begin <= LEAF {
            return;
        }
        let extent = subtract(high, low);
        let axis = (0..3).max_by(|a, b| extent[*a].total_cmp(&extent[*b])).unwrap_or(0);
        let (middle, balls) = ((end - begin) / 2, &self.balls);
        let along = |cell: &u32| balls[*cell as usize].centre[axis];
        self.order[begin..end].select_nth_unstable_by(middle, |a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        self.split(begin, begin + middle);
        self.nodes[node].second = Some(self.nodes.len());
        self.split(begin + middle, end);
    }

    /// Adds to `found` all cells whose ball meets `ball`.
    pub fn near(&self, ball: &Ball, found: &mut Vec<u32>) {
        let mut waiting = vec![0usize];
        while let Some(at) = waiting.pop() {
            let Some(node) = self.nodes.get(at) else { return };
            let gap = |c: usize| (node.low[c] - ball.centre[c]).max(ball.centre[c] - node.high[c]).max(0.0);
            if gap(0).powi(2) + gap(1).powi(2) + gap(2).powi(2) > ball.radius * ball.radius {
                continue;
            }
            if let Some(second) = node.second {
                waiting.extend([at + 1, second]);
                continue;
            }
            found.extend(self.order[node.begin..node.end].iter().filter(|cell| {
                let other = &self.balls[**cell as usize];
                let d = subtract(other.centre, ball.centre);
                dot(d, d) <= (ball.radius + other.radius).powi(2)
            }));
        }
    }
}
