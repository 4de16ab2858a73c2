//! Vertical physics of blocks of columns, vectorised over the columns.
//!
//! A block holds `nk` layers of `width` contiguous columns, top first, as the vertical sweep takes them (see
//! [`ColumnBlock`]). What all tracers share is prepared once per block ([`MassSpaceFactors`], [`FluxFormFactors`]); a solve
//! then works on one tracer, in place. Columns are independent: what pads a block does no harm. Nothing here
//! allocates except the constructors.
//!
//! Exchange by diffusion and decay are here, transport by clouds is in [`convection`].
//!
//! Which solve to take: [`MassSpaceFactors`] keeps accuracy and mass for exchange of any strength; [`FluxFormFactors`] is the
//! tridiagonal solve whose fluxes update the contents, with errors that grow with the exchange.

mod block;
pub mod convection;
mod deposit;
mod dispatch;
mod fields;
mod flux_form;
mod ledger;
mod mass_space;
#[cfg(test)]
mod tests;

pub use block::ColumnBlock;
pub use deposit::{Dose, Profile, TwoWord, deposit_by_profile, deposit_in_layer, emission_amounts};
pub use dispatch::ColumnDispatch;
pub use fields::{decay, decay_decrement, exchange_from_rates};
pub use flux_form::FluxFormFactors;
pub use ledger::{Ledger, LedgerStats};
pub use mass_space::MassSpaceFactors;
