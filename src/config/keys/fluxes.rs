//! Keys of `atmostr prepare-fluxes`.

use super::{Choice, Key, Kind, Section, input};

/// All tables, the top level first.
pub(super) const SECTIONS: &[Section] = &[
    Section::new(
        "flux:",
        "Top level: tables only.",
        &[
            Key::required("grid", Kind::Table, "Cells on which fluxes are put."),
            Key::required("output", Kind::Table, "Files that are written."),
            Key::optional("catrine", Kind::Table, "", "Fluxes of the CATRINE protocol."),
            Key::optional("flux", Kind::TableOrList, "", "Any other fluxes, one file each."),
        ],
    ),
    Section::new(
        "flux:grid",
        "Cells on which fluxes are put: those of a transport file, or those of `nc`. Exactly one of them.",
        &[
            Key::optional("transport_file", Kind::Path, "", "Transport file whose cells are taken."),
            Key::optional("nc", Kind::Int(1, 5760), "", "Cells per panel edge, on a sphere of 6371229 m."),
            Key::optional(
                "convention",
                Kind::Choice(&[
                    Choice::new("geos_native", "Panels as in GEOS files, turned by -10 degrees."),
                    Choice::new("gnomonic", "Equiangular panels, four equatorial ones first."),
                ]),
                "geos_native",
                "With `nc`: numbering and orientation of the panels.",
            ),
            Key::optional(
                "regridder_cache_dir",
                Kind::Path,
                "weights are computed anew",
                "Folder in which weights of regridding are kept; it is made if need be.",
            ),
        ],
    ),
    Section::new(
        "flux:output",
        "Files that are written. A run reads them with kind cs_native.",
        &[
            Key::required("folder", Kind::Path, "Folder of the files; it is made if need be."),
            Key::new("float_type", Kind::Choice(input::FLOATS), "Float32", "Precision of the fluxes."),
        ],
    ),
    Section::new(
        "flux:catrine",
        "The three series of the CATRINE protocol from 2021-12-01 on, `catrine_fossil_co2_c<N>.nc`, \
         `catrine_rn222_c<N>.nc` and `catrine_sf6_c<N>.nc`; each is written if its archive is given.",
        &[
            Key::new("last_date", Kind::Date, "2023-12-31", "Last day that the series are to cover."),
            Key::optional(
                "gridfed",
                Kind::Paths,
                "no fossil CO2",
                "Files of GCP-GridFED, one for each year from 2022; December 2021 is zero.",
            ),
            Key::optional("zhang", Kind::Path, "no radon", "Climatology of radon-222 of Zhang et al."),
            Key::optional(
                "edgar",
                Kind::Path,
                "no SF6",
                "Map of SF6 of EDGAR for 2022. Each year it is scaled so that it emits what the atmosphere gains.",
            ),
            Key::optional(
                "sf6_growth",
                Kind::Path,
                "required with `edgar`",
                "Table of NOAA of the growth of SF6: year, 1e-12 per year, uncertainty.",
            ),
        ],
    ),
    Section {
        path: "flux:flux",
        doc: "A file of fluxes from an archive; `[[flux]]` for each of several. Besides these keys it has those of \
              [`surface_flux`](configuration.md#tracersnamesurface_flux) for kinds on longitude-latitude grids, but for \
              `injection`, `temporal_scheme` and `rate`.",
        keys: &[
            Key::required("name", Kind::Text, "Name of the variable; the file is called `<name>_c<N>.nc`."),
            Key::required("from_date", Kind::Date, "First day that the file is to cover."),
            Key::required("until_date", Kind::Date, "Last day that the file is to cover."),
        ],
        flat: Some("tracers.<name>.surface_flux"),
    },
];
