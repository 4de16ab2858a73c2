//! Predicted cost of a layout: a latency–bandwidth model of one transport step.

use serde::Serialize;

use crate::{Axis, ExchangeKind, HaloPlan, Layout, PanelConvention, Tile, TileGrid};

/// Speed of one rank and of the network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// Time to start a message, s, > 0.
    pub latency_s: f64,
    /// Rate at which one rank sends or receives, bytes/s, > 0.
    pub bandwidth_bytes_per_s: f64,
    /// Values (cells times levels times fields) that one rank advances by one sweep per second, > 0.
    pub cell_updates_per_s: f64,
}

impl Default for Machine {
    /// A CPU core on a fast interconnect: 2 µs, 5 GB/s, and 10⁸ updates per second. These are orders of magnitude, good
    /// for comparing layouts; measure your own machine to predict times.
    fn default() -> Self {
        Machine { latency_s: 2e-6, bandwidth_bytes_per_s: 5e9, cell_updates_per_s: 1e8 }
    }
}

/// What each cell carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Payload {
    /// Model levels.
    pub levels: usize,
    /// Tracers; the air mass comes on top.
    pub tracers: usize,
    /// Size of a value, 4 or 8.
    pub bytes_per_value: usize,
}

impl Payload {
    /// Values of one column of cells: all levels of the tracers and the air mass.
    pub fn values_per_cell(self) -> usize {
        self.levels * (self.tracers + 1)
    }

    /// Bytes of one column of cells.
    pub fn bytes_per_cell(self) -> usize {
        self.values_per_cell() * self.bytes_per_value
    }
}

/// Sweeps of one step, X Y Z Z Y X.
const SWEEPS_PER_STEP: f64 = 6.0;

/// Exchanges of one step: X and Y, forward and back. Vertical sweeps need none.
const EXCHANGES_PER_STEP: [Axis; 4] = [Axis::X, Axis::Y, Axis::Y, Axis::X];

/// Traffic of one halo exchange. A rank's share is the larger of what it sends and what it receives, as both go on at
/// the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExchangeCost {
    /// Axis of the sweeps that read the halo.
    pub axis: Axis,
    /// Cells (columns) that travel between ranks, all ranks together.
    pub cells: usize,
    /// Bytes that travel, all ranks together.
    pub bytes: usize,
    /// Messages, all ranks together.
    pub messages: usize,
    /// Cells of the busiest rank.
    pub max_cells: usize,
    /// Bytes of the busiest rank.
    pub max_bytes: usize,
    /// Messages of the rank with most of them.
    pub max_messages: usize,
}

/// Layout and predicted cost, for a reader who chooses a number of ranks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayoutReport {
    /// Cells along a panel edge.
    pub nc: usize,
    /// Panel convention.
    pub convention: PanelConvention,
    /// Number of ranks.
    pub ranks: usize,
    /// Halo width in cells.
    pub halo: usize,
    /// Tiles per panel.
    pub tile_grid: TileGrid,
    /// What each cell carries.
    pub payload: Payload,
    /// Assumed speeds.
    pub machine: Machine,
    /// Largest number of ranks for this resolution and halo.
    pub max_usable_ranks: usize,
    /// All tiles with their owners.
    pub tiles: Vec<Tile>,
    /// Exchange before X sweeps, then before Y sweeps.
    pub exchanges: [ExchangeCost; 2],
    /// Cells of the busiest rank over the mean, at least 1.
    pub imbalance: f64,
    /// Predicted seconds per step on one rank.
    pub step_s_one_rank: f64,
    /// Predicted seconds per step on these ranks: the slowest rank's computation and messages, one after the other.
    pub step_s: f64,
    /// Predicted parallel efficiency, `step_s_one_rank / (ranks · step_s)`, in 0..1.
    pub efficiency: f64,
}

impl LayoutReport {
    /// Report on `layout` for cells that carry `payload` on `machine`.
    pub fn new(layout: &Layout, payload: Payload, machine: Machine) -> LayoutReport {
        let traffic = [Axis::X, Axis::Y].map(|axis| rank_traffic(layout, axis));
        let cells: Vec<usize> =
            (0..layout.ranks()).map(|rank| layout.tiles_of(rank).iter().map(|tile| tile.ni * tile.nj).sum()).collect();
        let total_cells = (6 * layout.nc() * layout.nc()) as f64;
        let compute =
            |cells: f64| SWEEPS_PER_STEP * cells * payload.values_per_cell() as f64 / machine.cell_updates_per_s;
        let transfer = |rank: usize| {
            let of = |axis: Axis| {
                let share = traffic[axis as usize][rank];
                share.messages() as f64 * machine.latency_s
                    + (share.cells() * payload.bytes_per_cell()) as f64 / machine.bandwidth_bytes_per_s
            };
            EXCHANGES_PER_STEP.into_iter().map(of).sum::<f64>()
        };
        let step_s = (0..layout.ranks()).map(|rank| compute(cells[rank] as f64) + transfer(rank)).fold(0.0, f64::max);
        let step_s_one_rank = compute(total_cells);
        let busiest = cells.iter().copied().max().unwrap_or(0);
        let [x, y] = traffic;
        LayoutReport {
            nc: layout.nc(),
            convention: layout.convention(),
            ranks: layout.ranks(),
            halo: layout.halo(),
            tile_grid: layout.tile_grid(),
            payload,
            machine,
            max_usable_ranks: layout.max_usable_ranks(),
            tiles: layout.tiles().to_vec(),
            exchanges: [exchange_cost(Axis::X, &x, payload), exchange_cost(Axis::Y, &y, payload)],
            imbalance: busiest as f64 * layout.ranks() as f64 / total_cells,
            step_s_one_rank,
            step_s,
            efficiency: step_s_one_rank / (layout.ranks() as f64 * step_s),
        }
    }
}

/// What one rank puts on and takes off the network in one exchange.
#[derive(Clone, Copy)]
struct Traffic {
    sent_cells: usize,
    received_cells: usize,
    sends: usize,
    receives: usize,
}

impl Traffic {
    fn cells(&self) -> usize {
        self.sent_cells.max(self.received_cells)
    }

    fn messages(&self) -> usize {
        self.sends.max(self.receives)
    }
}

fn rank_traffic(layout: &Layout, axis: Axis) -> Vec<Traffic> {
    let of = |rank| {
        let plan = HaloPlan::new(layout, ExchangeKind::Sweep(axis), rank);
        Traffic {
            sent_cells: plan.send_cells(),
            received_cells: plan.receive_cells(),
            sends: plan.sends.len(),
            receives: plan.receives.len(),
        }
    };
    (0..layout.ranks()).map(of).collect()
}

fn exchange_cost(axis: Axis, traffic: &[Traffic], payload: Payload) -> ExchangeCost {
    let max = |of: fn(&Traffic) -> usize| traffic.iter().map(of).max().unwrap_or(0);
    let cells = traffic.iter().map(|rank| rank.sent_cells).sum();
    ExchangeCost {
        axis,
        cells,
        bytes: cells * payload.bytes_per_cell(),
        messages: traffic.iter().map(|rank| rank.sends).sum(),
        max_cells: max(Traffic::cells),
        max_bytes: max(Traffic::cells) * payload.bytes_per_cell(),
        max_messages: max(Traffic::messages),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: Payload = Payload { levels: 10, tracers: 2, bytes_per_value: 8 };

    fn report(ranks: usize) -> LayoutReport {
        let layout = Layout::new(24, PanelConvention::Gnomonic, ranks, 3, None).unwrap();
        LayoutReport::new(&layout, PAYLOAD, Machine::default())
    }

    #[test]
    fn one_rank_is_the_reference() {
        let report = report(1);
        assert_eq!((report.imbalance, report.efficiency), (1.0, 1.0));
        assert!(report.exchanges.iter().all(|exchange| exchange.bytes == 0 && exchange.messages == 0));
        // 6 sweeps of 6 * 24 * 24 columns with 30 values at 1e8 per second.
        assert!((report.step_s - 6.0 * 3456.0 * 30.0 / 1e8).abs() < 1e-12);
    }

    /// Whole panels, counted by hand. X sweeps read W and E strips of 24 x 3 cells on every panel; seams of the X group
    /// all have both edges on X (P1E-P2W, P1W-P4E, P2E-P3W, P3E-P4W), so nothing comes on top. In the Y group P2N-P5E,
    /// P2S-P6E, P4N-P5W and P4S-P6W turn, which adds one strip each on P5 and P6, E and W.
    #[test]
    fn whole_panel_traffic_matches_a_count_by_hand() {
        let [x, y] = report(6).exchanges;
        let strip = 24 * 3;
        assert_eq!((x.cells, x.messages), (12 * strip, 12));
        assert_eq!((y.cells, y.messages), (16 * strip, 16));
        // P5 and P6 receive from four neighbours.
        assert_eq!((y.max_cells, y.max_messages), (4 * strip, 4));
        assert_eq!(y.max_bytes, 4 * strip * 10 * 3 * 8);
        assert_eq!(y.bytes, 16 * strip * 10 * 3 * 8);
    }

    #[test]
    fn step_is_the_slowest_rank_computing_and_then_talking() {
        let report = report(6);
        let (strip, machine) = (24.0 * 3.0 * 240.0, report.machine);
        let compute = 6.0 * 576.0 * 30.0 / machine.cell_updates_per_s;
        // X sweeps: P2 and P4 give strips to P1, P3, P5, P6 (4 out); P5 and P6 take 2. Y sweeps: P5, P6 take 4; P2, P4
        // give 2. So every one of these ranks has 2 * (2 + 4) strips on its way per step.
        let steps = [(2.0, 4.0), (4.0, 2.0)].map(|(x, y): (f64, f64)| 2.0 * (x + y));
        assert_eq!(steps[0], steps[1]);
        let talk = steps[0] * (machine.latency_s + strip / machine.bandwidth_bytes_per_s);
        assert!((report.step_s / (compute + talk) - 1.0).abs() < 1e-12, "{} {}", report.step_s, compute + talk);
        assert!((report.efficiency - report.step_s_one_rank / (6.0 * report.step_s)).abs() < 1e-15);
        assert!(report.efficiency < 1.0);
    }

    #[test]
    fn imbalance_counts_the_busiest_rank() {
        // Four ranks of three half panels each are even; C24 on 42 ranks has strips of three and four rows.
        assert_eq!(report(4).imbalance, 1.0);
        assert!((report(42).imbalance - 96.0 * 42.0 / 3456.0).abs() < 1e-12);
    }

    #[test]
    fn more_latency_never_helps() {
        let layout = Layout::new(24, PanelConvention::GeosNative, 54, 3, None).unwrap();
        let slow = Machine { latency_s: 1e-4, ..Machine::default() };
        let fast = LayoutReport::new(&layout, PAYLOAD, Machine::default());
        assert!(LayoutReport::new(&layout, PAYLOAD, slow).efficiency < fast.efficiency);
    }
}
