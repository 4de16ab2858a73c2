//! What can be wrong with a spectrum or with the rings it is evaluated on.

/// Why a synthesis was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpectralError {
    /// A list of coefficients whose length is not that of the truncation.
    #[error("field {field}: {found} numbers for a triangular truncation at {truncation}, which has {expected}")]
    Length {
        /// Field of the batch, from 1.
        field: usize,
        /// Its length.
        found: usize,
        /// The truncation.
        truncation: usize,
        /// What the truncation asks for.
        expected: usize,
    },
    /// A coefficient that is not a number.
    #[error("field {field}: the coefficient of zonal wave {m}, total wave {n} is {value}")]
    Value {
        /// Field of the batch, from 1.
        field: usize,
        /// Zonal wavenumber.
        m: usize,
        /// Total wavenumber.
        n: usize,
        /// The part that is no number.
        value: f64,
    },
    /// A ring that is none.
    #[error("ring {ring}: {problem}")]
    Ring {
        /// Ring, from 1.
        ring: usize,
        /// What is wrong.
        problem: String,
    },
    /// Results of another size than the rings.
    #[error("field {field} has room for {found} points; the rings have {expected}")]
    Points {
        /// Field of the batch, from 1.
        field: usize,
        /// Its room.
        found: usize,
        /// Points of all rings.
        expected: usize,
    },
    /// As many results as spectra are needed.
    #[error("{spectra} spectra but room for {fields} fields")]
    Fields {
        /// Spectra given.
        spectra: usize,
        /// Results asked for.
        fields: usize,
    },
    /// A truncation that cannot be reached.
    #[error("a spectrum truncated at {from} has no waves up to {to}")]
    Truncation {
        /// What there is.
        from: usize,
        /// What was asked for.
        to: usize,
    },
}

impl SpectralError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Length { .. } => "spectra are triangular: (T+1)(T+2) numbers, real and imaginary parts alternating",
            Self::Value { .. } => "the file is damaged or was not decoded as a spectrum; fetch it again",
            Self::Ring { .. } => "give latitudes in [-90, 90] degrees and at least one point a ring",
            Self::Points { .. } | Self::Fields { .. } => "give one result per spectrum, each with room for every point",
            Self::Truncation { .. } => "choose a truncation no higher than that of the file",
        }
    }
}
