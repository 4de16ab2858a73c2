//! Which kernels a program holds.

use super::launch::KernelName;

/// Kernels that come together into a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelPart {
    /// Transport, decay, halos and scans: every program has them.
    Transport,
    /// Vertical diffusion.
    Diffusion,
    /// Deposit of emissions.
    Deposit,
}

/// What a program holds. Kernels that a run does not launch need not be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelSet {
    parts: Vec<KernelPart>,
}

impl KernelSet {
    /// The kernels of transport.
    pub fn transport() -> Self {
        Self { parts: vec![KernelPart::Transport] }
    }

    /// The same and the kernels of a part.
    pub fn with(mut self, part: KernelPart) -> Self {
        if !self.holds(part) {
            self.parts.push(part);
        }
        self
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
