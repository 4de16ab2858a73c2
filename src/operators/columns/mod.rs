//! Vertical physics of the columns of a rank: diffusion, emissions, convection.

mod settings;

pub use settings::{
    Centre, Convection, DeviceFactors, Diffusion, DiffusivityProfile, ExchangeSource, ImplicitConvection, KzUpdate,
};
