//! Files of the two archives of GEOS.

use jiff::civil::Date;

use super::super::archive::Sampling;
use super::HOURS;

/// Which archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeosProduct {
    /// GEOS-IT: a file a day for every collection.
    It,
    /// GEOS-FP: a file an hour with transport and dry air; physics apart.
    Fp,
}

impl GeosProduct {
    /// Cells per panel edge as the archive is distributed.
    pub fn usual_nc(self) -> usize {
        match self {
            Self::It => 180,
            Self::Fp => 720,
        }
    }

    /// Name in headers and configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::It => "geos_it",
            Self::Fp => "geos_fp",
        }
    }
}

/// What a file of a day holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    /// Hourly means: MFXC, MFYC, DELP.
    Transport,
    /// Hourly states: PS, QV.
    States,
    /// Hourly means at the ground.
    Surface,
    /// Means over 3 h at the interfaces: CMFMC.
    Interfaces,
    /// Means over 3 h: DTRAIN, U, V.
    Dynamics,
    /// States every 3 h: T.
    Temperature,
}

impl Collection {
    /// Name in the files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Transport => "CTM_A1",
            Self::States => "CTM_I1",
            Self::Surface => "A1",
            Self::Interfaces => "A3mstE",
            Self::Dynamics => "A3dyn",
            Self::Temperature => "I3",
        }
    }

    /// Records of a day.
    pub(super) fn records(self) -> usize {
        match self {
            Self::Transport | Self::States | Self::Surface => HOURS,
            Self::Interfaces | Self::Dynamics | Self::Temperature => HOURS / 3,
        }
    }

    /// What its times say.
    pub(super) fn sampling(self) -> Sampling {
        match self {
            Self::States | Self::Temperature => Sampling::Instants,
            _ => Sampling::Means,
        }
    }
}

/// A file in each of the folders in which archives keep it.
fn in_folders(day: Date, files: impl IntoIterator<Item = String>) -> Vec<String> {
    let folders = ["%Y%m%d/", "%Y/%m/", "Y%Y/M%m/D%d/"].map(|f| day.strftime(f).to_string());
    let places = |file: String| {
        std::iter::once(file.clone()).chain(folders.clone().map(|f| format!("{f}{file}"))).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(places).collect()
}

/// Paths below the folder of GEOS-IT under which the file of a day is looked for.
pub(super) fn it_candidates(collection: Collection, nc: usize, day: Date) -> Vec<String> {
    let (name, stamp) = (collection.name(), day.strftime("%Y%m%d").to_string());
    in_folders(day, ["nc", "nc4"].map(|end| format!("GEOSIT.{stamp}.{name}.C{nc}.{end}")))
}

/// The same for the file of an hour of GEOS-FP.
pub(super) fn fp_candidates(nc: usize, day: Date, hour: usize) -> Vec<String> {
    let stamp = day.strftime("%Y%m%d").to_string();
    let names =
        ["30", "00"].map(|minute| format!("GEOS.fp.asm.tavg_1hr_ctm_c{nc:04}_v72.{stamp}_{hour:02}{minute}.V01.nc4"));
    in_folders(day, names)
}

/// Physics of GEOS-FP on the cube.
pub(super) fn fp_cube_candidates(collection: Collection, nc: usize, day: Date) -> Vec<String> {
    let (name, stamp) = (collection.name(), day.strftime("%Y%m%d").to_string());
    let mut sizes = vec![format!("{nc}"), format!("{nc:04}")];
    sizes.dedup();
    let names = sizes
        .iter()
        .flat_map(|c| [format!("GEOSFP.{stamp}.{name}.C{c}.nc"), format!("GEOSFP_CS{c}.{stamp}.{name}.nc")]);
    in_folders(day, names)
}

/// Physics of GEOS-FP on longitudes and latitudes.
pub(super) fn fp_latlon_candidates(collection: Collection, day: Date) -> Vec<String> {
    let (name, stamp) = (collection.name(), day.strftime("%Y%m%d").to_string());
    in_folders(day, [format!("GEOSFP.{stamp}.{name}.025x03125.nc")])
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    /// Spec 40 §1.3.
    #[test]
    fn names_of_files() {
        let day = date(2022, 7, 3);
        let names = it_candidates(Collection::Transport, 180, day);
        assert!(names.contains(&"GEOSIT.20220703.CTM_A1.C180.nc".to_owned()), "{names:?}");
        assert!(names.contains(&"20220703/GEOSIT.20220703.CTM_A1.C180.nc".to_owned()), "{names:?}");
        let names = fp_candidates(720, day, 5);
        for minute in ["30", "00"] {
            let name = format!("GEOS.fp.asm.tavg_1hr_ctm_c0720_v72.20220703_05{minute}.V01.nc4");
            assert!(names.contains(&name), "{names:?}");
        }
        let names = fp_cube_candidates(Collection::Surface, 720, day);
        for name in ["GEOSFP.20220703.A1.C720.nc", "GEOSFP_CS720.20220703.A1.nc", "GEOSFP_CS0720.20220703.A1.nc"] {
            assert!(names.contains(&name.to_owned()), "{names:?}");
        }
        let names = fp_latlon_candidates(Collection::Interfaces, day);
        assert!(names.contains(&"GEOSFP.20220703.A3mstE.025x03125.nc".to_owned()), "{names:?}");
    }
}
