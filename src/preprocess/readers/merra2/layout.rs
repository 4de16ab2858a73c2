//! Files of the two archives of MERRA-2.

use jiff::civil::Date;

use super::super::archive::Sampling;

/// Whose files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merra2Layout {
    /// The archive of GEOS-Chem: `YYYY/MM/MERRA2.YYYYMMDD.<collection>.05x0625.nc4`.
    GeosChem,
    /// As NASA distributes them: `<product>/YYYY/MM/MERRA2_<stream>.<collection>.YYYYMMDD.nc4`.
    Nasa,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Collection {
    /// States every 3 h: PS, QV, T.
    States,
    /// Means over 3 h: U, V, and DTRAIN in the archive of GEOS-Chem.
    Dynamics,
    /// Means over 3 h at the interfaces: CMFMC.
    Interfaces,
    /// Means over 3 h: DQRCU.
    Clouds,
    /// Means over 1 h at the ground.
    Surface,
}

impl Collection {
    /// Name in messages.
    pub(super) fn name(self, layout: Merra2Layout) -> &'static str {
        match (self, layout) {
            (Self::States, Merra2Layout::GeosChem) => "I3",
            (Self::Dynamics, Merra2Layout::GeosChem) => "A3dyn",
            (Self::Interfaces, _) => "A3mstE",
            (Self::Clouds, _) => "A3mstC",
            (Self::Surface, _) => "A1",
            (Self::States, Merra2Layout::Nasa) => "inst3_3d_asm_Nv",
            (Self::Dynamics, Merra2Layout::Nasa) => "tavg3_3d_asm_Nv",
        }
    }

    /// Records of a day.
    pub(super) fn records(self) -> usize {
        if self == Self::Surface { 24 } else { super::BLOCKS }
    }

    /// What its times say.
    pub(super) fn sampling(self) -> Sampling {
        if self == Self::States { Sampling::Instants } else { Sampling::Means }
    }

    /// Paths below the folder of the archive under which the file of a day is looked for.
    pub(super) fn candidates(self, layout: Merra2Layout, day: Date) -> Vec<String> {
        let (folder, stamp) = (day.strftime("%Y/%m").to_string(), day.strftime("%Y%m%d").to_string());
        let name = self.name(layout);
        match layout {
            Merra2Layout::GeosChem => {
                let file = format!("MERRA2.{stamp}.{name}.05x0625.nc4");
                vec![format!("{folder}/{file}"), file]
            }
            Merra2Layout::Nasa => {
                let product = if self == Self::States { "M2I3NVASM" } else { "M2T3NVASM" };
                let files = streams(day).map(|stream| format!("MERRA2_{stream}.{name}.{stamp}.nc4"));
                let places = |file: String| {
                    let folders = [format!("{product}/{folder}"), format!("{product}.5.12.4/{folder}")];
                    folders.into_iter().map(|f| format!("{f}/{file}")).chain([file.clone()]).collect::<Vec<_>>()
                };
                files.into_iter().flat_map(places).collect()
            }
        }
    }
}

/// Production streams of a day: that of its years, and the one under which days were produced again (2020 and 2021).
fn streams(day: Date) -> [u32; 2] {
    let stream = match day.year() {
        ..=1991 => 100,
        1992..=2000 => 200,
        2001..=2010 => 300,
        _ => 400,
    };
    [stream, stream + 1]
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    /// Spec 40 §1.6.
    #[test]
    fn names_of_files() {
        let day = date(2021, 12, 1);
        let names = Collection::Dynamics.candidates(Merra2Layout::GeosChem, day);
        assert_eq!(names[0], "2021/12/MERRA2.20211201.A3dyn.05x0625.nc4");
        let names = Collection::States.candidates(Merra2Layout::Nasa, day);
        assert_eq!(names[0], "M2I3NVASM/2021/12/MERRA2_400.inst3_3d_asm_Nv.20211201.nc4");
        let names = Collection::Dynamics.candidates(Merra2Layout::Nasa, date(1991, 1, 2));
        assert_eq!(names[0], "M2T3NVASM/1991/01/MERRA2_100.tavg3_3d_asm_Nv.19910102.nc4");
        for (year, stream) in
            [(1980, 100), (1991, 100), (1992, 200), (2000, 200), (2001, 300), (2010, 300), (2011, 400)]
        {
            assert_eq!(streams(date(year, 6, 1))[0], stream, "{year}");
        }
    }
}
