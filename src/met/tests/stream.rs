//! Window streams.

use std::sync::Arc;

use super::damage::whole_panels;
use super::*;

const SECTIONS: [Section; 4] = [Section::AirMass, Section::FluxX, Section::FluxY, Section::FluxZ];

fn files(dir: &Path, counts: &[usize]) -> Vec<Arc<TransportFile>> {
    let file = |(n, count): (usize, &usize)| {
        let spec = spec(3, 2, PanelConvention::GeosNative, *count);
        let path = dir.join(format!("{n}.flux"));
        write(&path, &spec, &windows(&spec, n as u64), GatePolicy::default());
        Arc::new(TransportFile::open(&path).unwrap())
    };
    counts.iter().enumerate().map(file).collect()
}

fn stream(selected: Vec<FileWindows>, mode: PrefetchMode) -> WindowStream<f32> {
    let template = WindowBuffer::new(whole_panels(3), selected[0].file.header(), &SECTIONS);
    WindowStream::new(selected, template, mode).unwrap()
}

fn bits(buffer: &WindowBuffer<f32>) -> Vec<u32> {
    SECTIONS.iter().flat_map(|s| buffer.get(*s).unwrap().data()).map(|v| v.to_bits()).collect()
}

/// Places and contents of a whole stream, looking ahead at some windows.
fn run(mut stream: WindowStream<f32>) -> Vec<(usize, usize, Vec<u32>)> {
    let mut all = Vec::new();
    while let Some(place) = stream.advance().unwrap() {
        if place.window % 2 == 1 {
            let before = bits(stream.current().unwrap().1);
            stream.peek().unwrap();
            assert!(bits(stream.current().unwrap().1) == before);
        }
        let (p, buffer) = stream.current().unwrap();
        assert_eq!((p, buffer.loaded().unwrap().window), (place, place.window));
        all.push((p.file, p.window, bits(buffer)));
    }
    assert!(stream.current().is_none() && stream.advance().unwrap().is_none());
    all
}

#[test]
fn reading_ahead_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let files = files(dir.path(), &[3, 1, 2]);
    let all = || files.iter().cloned().map(FileWindows::all).collect::<Vec<_>>();
    let ahead = run(stream(all(), PrefetchMode::Thread));
    let direct = run(stream(all(), PrefetchMode::Synchronous));
    assert!(ahead == direct);
    let places: Vec<(usize, usize)> = ahead.iter().map(|(f, w, _)| (*f, *w)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)]);

    // A range of windows gives the same values as the whole.
    let part = vec![
        FileWindows { file: files[0].clone(), windows: 1..3 },
        FileWindows { file: files[1].clone(), windows: 0..0 },
        FileWindows { file: files[2].clone(), windows: 0..1 },
    ];
    let part = run(stream(part, PrefetchMode::Thread));
    assert!(part == [ahead[1].clone(), ahead[2].clone(), ahead[4].clone()]);
}

#[test]
fn windows_differ_and_peek_shows_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let files = files(dir.path(), &[2]);
    for mode in [PrefetchMode::Thread, PrefetchMode::Synchronous] {
        let mut stream = stream(vec![FileWindows::all(files[0].clone())], mode);
        stream.advance().unwrap();
        let first = bits(stream.current().unwrap().1);
        let ahead = bits(stream.peek().unwrap().unwrap().1);
        assert!(bits(stream.current().unwrap().1) == first && first != ahead);
        stream.advance().unwrap();
        assert!(bits(stream.current().unwrap().1) == ahead);
        assert!(stream.peek().unwrap().is_none());
    }
}

#[test]
fn failures_surface_when_the_window_is_due() {
    let dir = tempfile::tempdir().unwrap();
    let spec = spec(3, 2, PanelConvention::GeosNative, 3);
    let mut bad = windows(&spec, 1);
    bad[1].get_mut(Section::AirMass)[7] = f64::NAN;
    let path = dir.path().join("bad.flux");
    write(&path, &spec, &bad, GatePolicy::all(GateAction::Skip));
    let file = Arc::new(TransportFile::open(&path).unwrap());
    for mode in [PrefetchMode::Thread, PrefetchMode::Synchronous] {
        let mut stream = stream(vec![FileWindows::all(file.clone())], mode);
        assert_eq!(stream.advance().unwrap().unwrap().window, 0);
        for _ in 0..2 {
            let error = stream.advance().unwrap_err();
            assert!(matches!(error, MetError::BadValue { window: 1, section: Section::AirMass, .. }), "{error}");
            assert!(stream.current().is_none());
        }
    }
}

#[test]
fn buffers_are_reused() {
    let dir = tempfile::tempdir().unwrap();
    let files = files(dir.path(), &[6]);
    for (mode, most) in [(PrefetchMode::Thread, 2), (PrefetchMode::Synchronous, 1)] {
        let mut stream = stream(vec![FileWindows::all(files[0].clone())], mode);
        let mut places = std::collections::HashSet::new();
        while stream.advance().unwrap().is_some() {
            places.insert(stream.current().unwrap().1.get(Section::AirMass).unwrap().data().as_ptr());
        }
        assert_eq!(places.len(), most, "{mode:?}");
    }
}

#[test]
fn empty_and_impossible_selections_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = files(dir.path(), &[2]).remove(0);
    let template = WindowBuffer::<f32>::new(whole_panels(3), file.header(), &SECTIONS);
    let new = |windows| {
        WindowStream::new(vec![FileWindows { file: file.clone(), windows }], template.clone(), PrefetchMode::Thread)
    };
    assert!(matches!(new(0..0), Err(MetError::NothingToRead)));
    assert!(matches!(new(1..3), Err(MetError::NoSuchWindow { window: 2, .. })));
    // Dropping a stream in the middle ends its thread.
    drop(new(0..2).unwrap());
}
