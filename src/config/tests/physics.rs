//! `[diffusion]` and `[convection]`: values, defaults, and keys that do not fit their kind.

use kernels::columns::convection::cmfmc::{BaseExchange, CloudBase, CmfmcOptions, Negative, Update};
use kernels::columns::convection::tm5::{Solve, Tm5Options};

use super::*;
use crate::operators::columns::{
    Centre, Convection, DeviceFactors, Diffusion, DiffusivityProfile, ExchangeSource, ImplicitConvection, KzUpdate,
};

fn physics(lines: &str) -> Physics {
    accepted(&format!("{MINIMAL}{lines}\n")).physics
}

#[test]
fn every_name_stands_for_a_value() {
    names_agree::<KzUpdate>("diffusion", "kz_update");
    names_agree::<CloudBase>("convection", "cloud_base");
    names_agree::<BaseExchange>("convection", "cloud_base_exchange");
    names_agree::<Update>("convection", "update");
    names_agree::<Solve>("convection", "solve");
}

#[test]
fn kinds_of_diffusion_and_their_values() {
    assert_eq!(accepted(MINIMAL).physics, Physics::default());
    assert_eq!(physics("[diffusion]\nkind = \"none\"\n[convection]\nkind = \"none\""), Physics::default());
    let (mass_space, around) = (KzUpdate::MassSpace, Centre::DiffuseEmitDiffuse);
    let layers = ExchangeSource::Profile(DiffusivityProfile::Layers(vec![0.0, 10.0]));
    let heights = ExchangeSource::Profile(DiffusivityProfile::Heights { z: vec![0.0, 500.0], kz: vec![20.0, 0.1] });
    for (lines, source, update, centre) in [
        ("kind = \"constant\"", ExchangeSource::Constant(1.0), mass_space, around),
        (
            "kind = \"constant\"\nvalue = 0\nkz_update = \"flux\"\nsurface_flux_boundary = true",
            ExchangeSource::Constant(0.0),
            KzUpdate::Flux,
            Centre::EmitThenDiffuse,
        ),
        ("kind = \"profile\"\nkz = [0, 10.0]", layers, mass_space, around),
        ("kind = \"constant\"\nvalue = 1e6", ExchangeSource::Constant(1e6), mass_space, around),
        ("kind = \"profile\"\nkz = [20, 0.1]\nz = [0, 500]", heights, mass_space, around),
        (
            "kind = \"TM5_Beljaars_Viterbo_local_Kz\"\nkz_update = \"matrix\"",
            ExchangeSource::BeljaarsViterbo,
            KzUpdate::Matrix,
            around,
        ),
        (
            "kind = \"geoschem_holtslag_boville_vdiff\"\nsurface_flux_boundary = false",
            ExchangeSource::HoltslagBovilleLocal,
            mass_space,
            around,
        ),
        ("kind = \"geoschem_nonlocal_vdiff\"", ExchangeSource::NonlocalVdiff, mass_space, Centre::EmitThenDiffuse),
        (
            "kind = \"geoschem_nonlocal_vdiff\"\nsurface_flux_boundary = true\nkz_update = \"mass_space\"",
            ExchangeSource::NonlocalVdiff,
            mass_space,
            Centre::EmitThenDiffuse,
        ),
        ("kind = \"tm5_dkg\"", ExchangeSource::Dkg, mass_space, around),
        ("kind = \"tm5_dkg\"\nsurface_flux_boundary = true", ExchangeSource::Dkg, mass_space, Centre::EmitThenDiffuse),
    ] {
        let found = physics(&format!("[diffusion]\n{lines}"));
        assert_eq!(found.diffusion, Some(Diffusion { source, update, centre }), "{lines}");
        assert!(lines.to_lowercase().contains(found.diffusion_kind()), "{lines}");
        assert_eq!(found.convection, None);
    }
}

#[test]
fn kinds_of_convection_and_their_values() {
    let implicit = |options, factors, workspace_gib| ImplicitConvection { options, factors, workspace_gib };
    let delta = Tm5Options { solve: Solve::Delta, lmax_conv: 0, n_merge: 1 };
    let standard = implicit(delta, DeviceFactors::Collaborative, 1.0);
    let cmfmc = CmfmcOptions {
        cloud_base: CloudBase::CloudFlux,
        exchange: BaseExchange::BeforePlume,
        update: Update::MassFlux,
        negative: Negative::Kept,
    };
    let all_cmfmc = CmfmcOptions {
        cloud_base: CloudBase::Archived,
        exchange: BaseExchange::WithPlume,
        update: Update::MixingRatio,
        negative: Negative::Clamped,
    };
    for (lines, expected) in [
        ("kind = \"tm5\"", Convection::Tm5(standard)),
        ("kind = \"cmfmc_matrix\"\nlmax_conv = 0\nn_merge = 1", Convection::CmfmcMatrix(standard)),
        (
            "kind = \"tm5\"\nuse_collab_lu = false\ntile_workspace_gib = 0.5\nsolve = \"plain\"",
            Convection::Tm5(implicit(Tm5Options { solve: Solve::Plain, ..delta }, DeviceFactors::OneByOne, 0.5)),
        ),
        (
            "kind = \"cmfmc_matrix\"\nuse_collab_lu = true\nlmax_conv = 12\nn_merge = 2",
            Convection::CmfmcMatrix(implicit(
                Tm5Options { lmax_conv: 12, n_merge: 2, ..delta },
                DeviceFactors::Collaborative,
                1.0,
            )),
        ),
        ("kind = \"cmfmc\"", Convection::Cmfmc(cmfmc)),
        (
            "kind = \"cmfmc\"\ncloud_base = \"none\"\nclamp = false",
            Convection::Cmfmc(CmfmcOptions { cloud_base: CloudBase::None, ..cmfmc }),
        ),
        (
            "kind = \"cmfmc\"\ncloud_base = \"dqrcu\"\ncloud_base_exchange = \"geoschem\"\nupdate = \"rm\"\nclamp = true",
            Convection::Cmfmc(all_cmfmc),
        ),
    ] {
        let found = physics(&format!("[convection]\n{lines}"));
        assert_eq!(found.convection, Some(expected), "{lines}");
        assert!(lines.contains(&format!("\"{}\"", found.convection_kind())), "{lines}");
    }
}

#[test]
fn physics_is_told_in_words() {
    let none = physics("");
    assert_eq!((none.diffusion_summary(), none.convection_summary()), ("none".into(), "none".into()));
    for (lines, expected) in [
        (
            "[diffusion]\nkind = \"constant\"\nvalue = 2.5\nkz_update = \"flux\"",
            "constant 2.5 m2 s-1; flux; half before and half after emissions",
        ),
        (
            "[diffusion]\nkind = \"profile\"\nkz = [5, 0.1]\nz = [0, 500]\nsurface_flux_boundary = true",
            "profile [5.0, 0.1] m2 s-1 at [0.0, 500.0] m; mass_space; after emissions",
        ),
        ("[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"", "geoschem_nonlocal_vdiff; mass_space; after emissions"),
    ] {
        assert_eq!(physics(lines).diffusion_summary(), expected);
    }
    for (lines, expected) in [
        ("[convection]\nkind = \"cmfmc\"", "cmfmc; cloud base cmfmc, exchange conservative; mass_flux"),
        (
            "[convection]\nkind = \"tm5\"\nuse_collab_lu = true\nlmax_conv = 9\nn_merge = 3",
            "tm5; delta; lowest 9 levels; 3 levels merged",
        ),
    ] {
        assert_eq!(physics(lines).convection_summary(), expected);
    }
}

const WRONG: &[(&str, usize, &[&str])] = &[
    ("[diffusion]\nkind = \"kz_payload\"", 2, &["cannot be used", "no section `kz`", "local_kz"]),
    ("[diffusion]\nkind = \"none\"\nvalue = 1.0", 3, &["diffusion.value", "no meaning", "\"constant\""]),
    ("[diffusion]\nkind = \"constant\"\nvalue = -1", 3, &["diffusion.value", "from 0 to 1e6"]),
    ("[diffusion]\nkind = \"constant\"\nvalue = 1.1e6", 3, &["diffusion.value", "from 0 to 1e6"]),
    ("[diffusion]\nkind = \"constant\"\nkz = [1]", 3, &["diffusion.kz", "no meaning", "\"profile\""]),
    ("[diffusion]\nkind = \"tm5_dkg\"\nz = [1]", 3, &["diffusion.z", "no meaning", "\"profile\""]),
    ("[diffusion]\nkind = \"none\"\nkz_update = \"flux\"", 3, &["diffusion.kz_update", "no meaning"]),
    ("[diffusion]\nkind = \"none\"\nsurface_flux_boundary = true", 3, &["surface_flux_boundary", "no meaning"]),
    ("[diffusion]\nkind = \"profile\"", 1, &["diffusion.kz", "missing", "per level"]),
    ("[diffusion]\nkind = \"profile\"\nkz = []", 3, &["diffusion.kz", "empty"]),
    ("[diffusion]\nkind = \"profile\"\nkz = [1, -1]", 3, &["diffusion.kz", "from 0 to 1e6"]),
    ("[diffusion]\nkind = \"profile\"\nkz = [1e6, 2e6]", 3, &["diffusion.kz", "from 0 to 1e6"]),
    ("[diffusion]\nkind = \"profile\"\nkz = 1", 3, &["diffusion.kz", "brackets"]),
    ("[diffusion]\nkind = \"profile\"\nkz = [1, 2]\nz = [1]", 4, &["diffusion.z", "has 1 values", "has 2"]),
    ("[diffusion]\nkind = \"profile\"\nkz = [1, 2]\nz = [9, 9]", 4, &["diffusion.z", "increase", "9 follows 9"]),
    (
        "[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"\nsurface_flux_boundary = false",
        3,
        &["surface_flux_boundary", "not possible", "lofts"],
    ),
    (
        "[diffusion]\nkind = \"geoschem_nonlocal_vdiff\"\nkz_update = \"flux\"",
        3,
        &["diffusion.kz_update", "does not exist", "mass_space"],
    ),
    ("[diffusion]\nkind = \"tm5_dkg\"\nkz_update = \"matrix\"", 3, &["diffusion.kz_update", "tm5_dkg"]),
    ("[diffusion]\nkind = \"constant\"\nkz_update = \"mass\"", 3, &["kz_update", "\"mass_space\""]),
    ("[convection]\nkind = \"tm5\"\nclamp = true", 3, &["convection.clamp", "no meaning", "\"cmfmc\""]),
    ("[convection]\nkind = \"cmfmc_matrix\"\ncloud_base = \"dqrcu\"", 3, &["convection.cloud_base", "\"cmfmc\""]),
    ("[convection]\nkind = \"tm5\"\ncloud_base_exchange = \"geoschem\"", 3, &["cloud_base_exchange", "no meaning"]),
    ("[convection]\nkind = \"tm5\"\nupdate = \"rm\"", 3, &["convection.update", "no meaning"]),
    ("[convection]\nkind = \"cmfmc\"\nsolve = \"delta\"", 3, &["convection.solve", "\"tm5\" or \"cmfmc_matrix\""]),
    ("[convection]\nkind = \"cmfmc\"\nlmax_conv = 0", 3, &["convection.lmax_conv", "no meaning"]),
    ("[convection]\nkind = \"cmfmc\"\nn_merge = 1", 3, &["convection.n_merge", "no meaning"]),
    ("[convection]\nkind = \"cmfmc\"\nuse_collab_lu = true", 3, &["convection.use_collab_lu", "no meaning"]),
    ("[convection]\nkind = \"cmfmc\"\ntile_workspace_gib = 1", 3, &["tile_workspace_gib", "no meaning"]),
    ("[convection]\nkind = \"none\"\nclamp = false", 3, &["convection.clamp", "no meaning"]),
    ("[convection]\nkind = \"tm5\"\nlmax_conv = 5", 3, &["convection.lmax_conv", "use_collab_lu = true"]),
    (
        "[convection]\nkind = \"tm5\"\nuse_collab_lu = false\nn_merge = 2",
        4,
        &["convection.n_merge = 2", "use_collab_lu = true"],
    ),
    ("[convection]\nkind = \"tm5\"\nlmax_conv = -1", 3, &["convection.lmax_conv", "≥ 0"]),
    ("[convection]\nkind = \"tm5\"\nn_merge = 0", 3, &["convection.n_merge", "≥ 1"]),
    ("[convection]\nkind = \"tm5\"\ntile_workspace_gib = 0", 3, &["tile_workspace_gib", "> 0"]),
    ("[convection]\nkind = \"cmfmc\"\ncloud_base = \"dqrcv\"", 3, &["did you mean \"dqrcu\""]),
    ("[convection]\nkind = \"cmfmc\"\ntype = \"x\"", 3, &["convection.type", "`kind`"]),
    ("[convection]\nclamp = true", 1, &["convection.kind", "missing"]),
];

#[test]
fn what_does_not_fit_the_kind_is_an_error() {
    for (added, line, parts) in WRONG {
        one_error(added, *line, parts);
    }
}
