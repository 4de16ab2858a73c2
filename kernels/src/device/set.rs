//! Which kernels a program holds.

use super::launch::KernelName;
use super::tm5::Tm5Room;

/// Kernels that come together into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelPart {
    /// Transport, decay, halos and scans: every program has them.
    Transport,
    /// Vertical sweeps with spline profiles.
    Spline,
    /// Vertical diffusion.
    Diffusion,
    /// Deposit of emissions.
    Deposit,
    /// Explicit convection.
    Cmfmc,
    /// Implicit convection by groups of lanes.
    Tm5Collaborative,
    /// Implicit convection by single lanes.
    Tm5Serial,
}

/// What a program holds. Kernels that a run does not launch need not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSet {
    parts: Vec<KernelPart>,
    room: Tm5Room,
}

impl KernelSet {
    /// The kernels of transport.
    pub fn transport() -> Self {
        Self { parts: vec![KernelPart::Transport], room: Tm5Room::alone(1) }
    }

    /// The same and the kernels of a part; groups of implicit convection get room for one layer.
    pub fn with(mut self, part: KernelPart) -> Self {
        if !self.holds(part) {
            self.parts.push(part);
        }
        self
    }

    /// The same and implicit convection by groups of lanes with this room.
    pub fn with_tm5(self, room: Tm5Room) -> Self {
        Self { room, ..self.with(KernelPart::Tm5Collaborative) }
    }

    /// Room of the groups of implicit convection.
    pub(super) fn room(&self) -> Tm5Room {
        self.room
    }

    /// Whether it holds a part.
    pub fn holds(&self, part: KernelPart) -> bool {
        self.parts.contains(&part)
    }

    /// The kernels, in the order of [`KernelName::ALL`].
    pub fn kernels(&self) -> impl Iterator<Item = KernelName> {
        KernelName::ALL.iter().copied().filter(|kernel| self.holds(kernel.part()))
    }
}
