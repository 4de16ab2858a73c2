//! The transform of batches of fields.

use rayon::prelude::*;
use realfft::num_complex::Complex64;

use super::fourier::{Scratch, Transforms, turns};
use super::legendre::{Recurrence, Seeds, Weight};
use super::rings::{Hemisphere, Latitude, check, latitudes};
use super::sums::{LANES, LATITUDES, Sums, sum_tile};
use super::{Ring, SpectralError, coefficients};

/// Fields transformed at a time: bounds memory, and shares the Legendre functions among them.
const BATCH: usize = 32;

/// Synthesis of spectra of one truncation on one set of rings.
///
/// Points of a field follow each other ring by ring in the order of the rings, eastward from the first point of each.
#[derive(Clone, Debug)]
pub struct Synthesis {
    truncation: usize,
    rings: Vec<Ring>,
    /// Where each ring starts in a field; one entry more than rings.
    starts: Vec<usize>,
    latitudes: Vec<Latitude>,
    turns: Vec<Vec<Complex64>>,
    transforms: Transforms,
    /// One wave beyond the truncation, as winds need.
    recurrence: Recurrence,
}

/// Coefficients of the zonal wave `m` of `field`: called with real and imaginary part of n = m, m + 1 …
pub(super) trait Series: Sync {
    /// Highest total wave.
    fn truncation(&self) -> usize;
    /// Number of fields.
    fn fields(&self) -> usize;
    /// Coefficient of wave (m, n) of a field.
    fn at(&self, field: usize, m: usize, n: usize) -> [f64; 2];
}

/// Spectra as they are stored.
struct Stored<'a> {
    truncation: usize,
    spectra: &'a [&'a [f64]],
}

impl Series for Stored<'_> {
    fn truncation(&self) -> usize {
        self.truncation
    }

    fn fields(&self) -> usize {
        self.spectra.len()
    }

    fn at(&self, field: usize, m: usize, n: usize) -> [f64; 2] {
        let place = coefficients::coefficient_index(self.truncation, m, n);
        [self.spectra[field][place], self.spectra[field][place + 1]]
    }
}

impl Synthesis {
    /// Synthesis of spectra truncated at `truncation` (triangular) on `rings`.
    ///
    /// # Errors
    /// [`SpectralError::Ring`] for a latitude beyond a pole, a ring without points, a longitude that is no number.
    pub fn new(truncation: usize, rings: Vec<Ring>) -> Result<Self, SpectralError> {
        check(&rings)?;
        let mut starts = vec![0];
        rings.iter().for_each(|ring| starts.push(starts[starts.len() - 1] + ring.points));
        Ok(Self {
            truncation,
            latitudes: latitudes(&rings),
            turns: rings.iter().map(turns).collect(),
            transforms: Transforms::new(&rings),
            recurrence: Recurrence::new(truncation + 1),
            starts,
            rings,
        })
    }

    /// Highest total wave of the spectra.
    pub fn truncation(&self) -> usize {
        self.truncation
    }

    /// The rings.
    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }

    /// Points of all rings together.
    pub fn points(&self) -> usize {
        self.starts[self.rings.len()]
    }

    /// Values of scalar `fields` from their `spectra`.
    ///
    /// # Errors
    /// If there are not as many fields as spectra, if a length does not fit, or for a coefficient that is no number; the
    /// error names the field and the wave.
    pub fn scalars(&self, spectra: &[&[f64]], fields: &mut [&mut [f64]]) -> Result<(), SpectralError> {
        self.check_spectra(spectra)?;
        self.check_fields(spectra.len(), fields)?;
        for (spectra, fields) in spectra.chunks(BATCH).zip(fields.chunks_mut(BATCH)) {
            self.transform(&Stored { truncation: self.truncation, spectra }, Weight::One, fields);
        }
        Ok(())
    }

    pub(super) fn check_spectra(&self, spectra: &[&[f64]]) -> Result<(), SpectralError> {
        let checked = spectra.par_iter().enumerate();
        checked.try_for_each(|(n, values)| coefficients::check(n + 1, values, self.truncation))
    }

    pub(super) fn check_fields(&self, spectra: usize, fields: &[&mut [f64]]) -> Result<(), SpectralError> {
        if spectra != fields.len() {
            return Err(SpectralError::Fields { spectra, fields: fields.len() });
        }
        let expected = self.points();
        match fields.iter().position(|field| field.len() != expected) {
            Some(n) => Err(SpectralError::Points { field: n + 1, found: fields[n].len(), expected }),
            None => Ok(()),
        }
    }

    /// Fields of at most [`BATCH`] series.
    pub(super) fn transform(&self, series: &impl Series, weight: Weight, fields: &mut [&mut [f64]]) {
        let packed = Packed::new(series, self.truncation.min(series.truncation()));
        let mut rings: Vec<Vec<&mut [f64]>> = self.rings.iter().map(|_| Vec::with_capacity(fields.len())).collect();
        for field in fields.iter_mut() {
            let mut rest = &mut **field;
            for (ring, fields) in self.rings.iter().zip(&mut rings) {
                let (values, others) = rest.split_at_mut(ring.points);
                fields.push(values);
                rest = others;
            }
        }
        // Rings are handed out to the block of their latitude.
        let mut rings: Vec<_> = rings.into_iter().map(Some).collect();
        let blocks: Vec<_> = self
            .latitudes
            .chunks(LATITUDES)
            .map(|block| {
                let mut of = |ring: usize| rings[ring].take().unwrap_or_default();
                (block, block.iter().map(|l| l.rings.iter().map(|r| of(r.0)).collect()).collect::<Vec<Vec<_>>>())
            })
            .collect();
        blocks.into_par_iter().for_each(|(block, fields)| {
            let waves = BlockWaves::new(block, &packed, &self.recurrence, weight);
            let mut scratch = Scratch::default();
            let mut ring_waves = Vec::new();
            for (l, (latitude, fields)) in block.iter().zip(fields).enumerate() {
                for (&(ring, side), fields) in latitude.rings.iter().zip(fields) {
                    for (field, values) in fields.into_iter().enumerate() {
                        waves.of_ring(l, side, field, &mut ring_waves);
                        self.transforms.apply(&ring_waves, &self.turns[ring], values, &mut scratch);
                    }
                }
            }
        });
    }
}

/// Coefficients of a batch in the order in which they are summed: zonal wave, tile of fields, total wave.
struct Packed {
    /// Highest zonal wave.
    waves: usize,
    truncation: usize,
    fields: usize,
    tiles: usize,
    /// One list per zonal wave.
    values: Vec<Vec<[f64; LANES]>>,
}

impl Packed {
    fn new(series: &impl Series, waves: usize) -> Self {
        let (truncation, fields) = (series.truncation(), series.fields());
        let tiles = (2 * fields).div_ceil(LANES);
        let of_wave = |m: usize| {
            let mut values = vec![[0.0; LANES]; tiles * (truncation + 1 - m)];
            for (tile, values) in values.chunks_exact_mut(truncation + 1 - m).enumerate() {
                for field in (tile * LANES / 2..fields).take(LANES / 2) {
                    let lane = 2 * field - tile * LANES;
                    for (n, value) in values.iter_mut().enumerate() {
                        value[lane..lane + 2].copy_from_slice(&series.at(field, m, m + n));
                    }
                }
            }
            values
        };
        let values = (0..=waves).into_par_iter().map(of_wave).collect();
        Self { waves, truncation, fields, tiles, values }
    }
}

/// Zonal waves of all fields at the latitudes of a block, north and south: what the two hemispheres share (n − m even)
/// and what changes sign.
struct BlockWaves {
    waves: usize,
    fields: usize,
    /// Latitude, field, zonal wave: even and odd part.
    parts: Vec<[Complex64; 2]>,
}

impl BlockWaves {
    fn new(block: &[Latitude], packed: &Packed, recurrence: &Recurrence, weight: Weight) -> Self {
        let waves = block.iter().map(|l| l.waves).max().unwrap_or(0).min(packed.waves);
        let fields = packed.fields;
        let mut parts = vec![[Complex64::ZERO; 2]; block.len() * fields * (waves + 1)];
        let mut seeds: Vec<_> = block.iter().map(|l| Seeds::new(l.parallel, weight)).collect();
        let mut functions = vec![[0.0; LATITUDES]; packed.truncation + 1];
        let mut sums: Sums = [[[0.0; LANES]; LATITUDES]; 2];
        for m in 0..=waves {
            let functions = &mut functions[..packed.truncation + 1 - m];
            for (l, seed) in seeds.iter_mut().enumerate() {
                if m > 0 {
                    seed.advance();
                }
                if m <= block[l].waves {
                    seed.column(recurrence, &mut functions.as_flattened_mut()[l..], LATITUDES);
                }
            }
            for (tile, values) in packed.values[m].chunks_exact(functions.len()).enumerate().take(packed.tiles) {
                sum_tile(functions, values, &mut sums);
                for field in (tile * LANES / 2..fields).take(LANES / 2) {
                    let lane = 2 * field - tile * LANES;
                    for l in 0..block.len() {
                        let part = |parity: usize| Complex64::new(sums[parity][l][lane], sums[parity][l][lane + 1]);
                        parts[(l * fields + field) * (waves + 1) + m] = [part(0), part(1)];
                    }
                }
            }
        }
        Self { waves, fields, parts }
    }

    fn of_ring(&self, latitude: usize, side: Hemisphere, field: usize, waves: &mut Vec<Complex64>) {
        let start = (latitude * self.fields + field) * (self.waves + 1);
        waves.clear();
        waves.extend(self.parts[start..=start + self.waves].iter().map(|[even, odd]| match side {
            Hemisphere::North => even + odd,
            Hemisphere::South => even - odd,
        }));
    }
}
