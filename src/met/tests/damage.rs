//! Damaged files and values.

use std::sync::Arc;

use decomposition::{Panel, Tile};

use super::*;
use crate::state::TileSet;

/// One tile per panel.
pub(super) fn whole_panels(nc: usize) -> Arc<TileSet> {
    let tile = |panel: Panel| Tile { id: panel.index(), panel, i0: 0, j0: 0, ni: nc, nj: nc, rank: 0 };
    Arc::new(TileSet::new(Panel::ALL.into_iter().map(tile).collect(), 3))
}

fn load(path: &Path) -> Result<(), MetError> {
    let file = TransportFile::open(path)?;
    let mut buffer =
        WindowBuffer::<f64>::new(whole_panels(file.header().nc()), file.header(), file.header().sections());
    for window in 0..file.header().nwindow() {
        file.load_window(window, &mut buffer)?;
    }
    Ok(())
}

#[test]
fn wrong_sizes_are_refused() {
    let (_dir, path, _) = sample(&spec(2, 2, PanelConvention::Gnomonic, 2), 1);
    let whole = std::fs::read(&path).unwrap();
    let mut longer = whole.clone();
    longer.push(0);
    for (bytes, word) in
        [(&whole[..whole.len() - 1], "truncated"), (&whole[..4096], "truncated"), (&longer[..], "too long")]
    {
        std::fs::write(&path, bytes).unwrap();
        let text = TransportFile::open(&path).unwrap_err().to_string();
        assert!(text.contains(word) && text.contains("met_20211201.flux"), "{text}");
    }
    std::fs::write(&path, &whole[..1000]).unwrap();
    let error = TransportFile::open(&path).unwrap_err();
    assert!(matches!(error, MetError::Header { source: HeaderError::Unterminated { .. }, .. }), "{error}");
    std::fs::write(&path, "").unwrap();
    assert!(TransportFile::open(&path).is_err());
    assert!(TransportFile::open(path.with_extension("missing")).unwrap_err().to_string().contains("cannot open"));
}

#[test]
fn flipped_bits_fail_the_checksum() {
    let (_dir, path, _) = sample(&spec(2, 2, PanelConvention::GeosNative, 2), 1);
    load(&path).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = load(&path).unwrap_err();
    assert!(matches!(error, MetError::Checksum { window: 1, .. }), "{error}");
    assert!(error.to_string().contains("window 2") && error.to_string().contains("payload_crc32c_by_window"));
}

#[test]
fn unusable_values_are_named_by_cell() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.flux");
    let spec = HeaderSpec { float_type: FloatType::Float64, ..spec(3, 2, PanelConvention::Gnomonic, 1) };
    let good = windows(&spec, 1);
    // Panel 4, k = 2, j = 3, i = 1 of each shape.
    for (section, value) in [
        (Section::AirMass, f64::NAN),
        (Section::AirMass, 0.0),
        (Section::AirMass, -1.0),
        (Section::AirMass, f64::INFINITY),
        (Section::FluxX, f64::NAN),
        (Section::FluxY, f64::NEG_INFINITY),
        (Section::FluxZ, f64::NAN),
        (Section::AirMassTendency, f64::NAN),
    ] {
        let mut bad = good.clone();
        let shape = section.shape(3, 2);
        bad[0].get_mut(section)[((3 * shape.nk + 1) * shape.nj + 2) * shape.ni] = value;
        write(&path, &spec, &bad, GatePolicy::all(GateAction::Skip));
        let error = load(&path).unwrap_err().to_string();
        let place = format!("window 1, section `{section}`, (panel, i, j, k) = (4, 1, 3, 2): value {value} ");
        assert!(error.contains(&place), "{error}");
    }
}

#[test]
fn windows_and_sections_that_do_not_exist() {
    let (_dir, path, _) = sample(&spec(2, 2, PanelConvention::Gnomonic, 2), 1);
    let file = TransportFile::open(&path).unwrap();
    let mut buffer = WindowBuffer::<f32>::new(whole_panels(2), file.header(), &[Section::AirMass, Section::Dkg]);
    let error = file.load_window(0, &mut buffer).unwrap_err();
    assert!(matches!(error, MetError::MissingSection { section: Section::Dkg, .. }), "{error}");
    let mut buffer = WindowBuffer::<f32>::new(whole_panels(2), file.header(), &[Section::AirMass]);
    assert!(file.load_window(2, &mut buffer).unwrap_err().to_string().contains("window 3 does not exist"));
    assert!(file.verify(2).is_err() && file.section_values(2, Section::AirMass).is_err());
    let other = spec(3, 2, PanelConvention::Gnomonic, 1).header().unwrap();
    let mut buffer = WindowBuffer::<f32>::new(whole_panels(3), &other, &[Section::AirMass]);
    assert!(matches!(file.load_window(0, &mut buffer), Err(MetError::BufferShape { .. })));
}

/// Files of other writers lack the extra keys of this one.
#[test]
fn files_without_the_extra_keys_are_read() {
    let (_dir, path, windows) = sample(&spec(2, 2, PanelConvention::Gnomonic, 2), 1);
    let bytes = std::fs::read(&path).unwrap();
    let mut json = TransportFile::open(&path).unwrap().header().json().clone();
    for key in
        ["header_crc32c", "byte_order", "payload_crc32c_by_window", "Hp", "git_commit", "n_dm", "include_surface"]
    {
        json.shift_remove(key).unwrap();
    }
    let mut changed = serde_json::Value::Object(json).to_string().into_bytes();
    changed.resize(4096, 0);
    changed.extend(&bytes[4096..]);
    std::fs::write(&path, changed).unwrap();
    let file = TransportFile::open(&path).unwrap();
    assert_eq!(file.header().crc32c(), None);
    file.verify(1).unwrap();
    let m: Vec<f64> = windows[1].get(Section::AirMass).iter().map(|v| f64::from(*v as f32)).collect();
    assert_eq!(file.section_values(1, Section::AirMass).unwrap(), m);
}
