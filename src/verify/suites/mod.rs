//! The suites.

mod convergence;
mod layered;
mod plane;
mod ring;
mod terminator;

use kernels::Scalar;

use super::report::CaseReport;
use super::{Job, VerifyError};

/// A test suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Deformational non-divergent flow (Lauritzen et al. 2012).
    Lauritzen,
    /// Deformational divergent flow (Lauritzen et al. 2012).
    Divergent,
    /// Solid-body rotation about axes tilted by 0, 45 and 90 degrees (Williamson et al. 1992).
    SolidBody,
    /// Moving vortices (Nair & Jablonowski 2008).
    Vortices,
    /// Toy chemistry in the deformational flow (Lauritzen et al. 2015).
    Terminator,
    /// Three-dimensional deformation (DCMIP 2012, case 1-1).
    Dcmip11,
    /// Overturning cells (DCMIP 2012, case 1-2).
    Dcmip12,
    /// Orders of convergence over the resolutions.
    Convergence,
    /// One-dimensional tables of the sweeps.
    Ring,
}

impl Suite {
    /// Every suite with its name.
    pub const ALL: [(&'static str, Suite); 9] = [
        ("lauritzen", Suite::Lauritzen),
        ("divergent", Suite::Divergent),
        ("solid-body", Suite::SolidBody),
        ("vortices", Suite::Vortices),
        ("terminator", Suite::Terminator),
        ("dcmip11", Suite::Dcmip11),
        ("dcmip12", Suite::Dcmip12),
        ("convergence", Suite::Convergence),
        ("ring", Suite::Ring),
    ];

    /// Suites that are run where none is named.
    pub const USUAL: [Suite; 5] =
        [Suite::Lauritzen, Suite::Divergent, Suite::SolidBody, Suite::Vortices, Suite::Terminator];

    /// The suite of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, suite)| suite)
    }

    /// Runs it at all resolutions. Collective.
    pub(super) fn run<R: Scalar>(self, job: &mut Job<'_>) -> Result<Vec<CaseReport>, VerifyError> {
        match self {
            Suite::Convergence => return convergence::convergence::<R>(job),
            Suite::Ring => return Ok(vec![ring::ring::<R>(job)?]),
            _ => {}
        }
        let mut reports = Vec::new();
        for &nc in &job.settings.nc {
            match self {
                Suite::Lauritzen => reports.push(plane::lauritzen::<R>(job, nc)?),
                Suite::Divergent => reports.push(layered::divergent::<R>(job, nc)?),
                Suite::SolidBody => reports.extend(plane::solid_body::<R>(job, nc)?),
                Suite::Vortices => reports.push(plane::vortices::<R>(job, nc)?),
                Suite::Terminator => reports.push(terminator::terminator::<R>(job, nc)?),
                Suite::Dcmip11 => reports.push(layered::dcmip11::<R>(job, nc)?),
                Suite::Dcmip12 => reports.push(layered::dcmip12::<R>(job, nc)?),
                Suite::Convergence | Suite::Ring => unreachable!("run above"),
            }
        }
        Ok(reports)
    }
}
