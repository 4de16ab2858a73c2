//! A sequential colour map of even lightness steps.
//!
//! The idea of sampling a path of linearly rising lightness in a perceptual colour space is that of the matplotlib maps
//! (Smith & van der Walt, SciPy 2015); the space is OKLab (Ottosson 2020), the path our own: dark violet, blue, green,
//! yellow, told apart also without colour vision because lightness alone orders them.

/// Red, green, blue of sRGB.
pub(super) type Rgb = [u8; 3];

/// Chroma and hue (degrees in OKLab) at evenly spaced positions; lightness rises linearly.
const PATH: [(f64, f64); 7] =
    [(0.10, 305.0), (0.14, 280.0), (0.12, 250.0), (0.09, 205.0), (0.13, 158.0), (0.17, 125.0), (0.15, 105.0)];

/// Lightness at both ends of the path.
const LIGHTNESS: (f64, f64) = (0.24, 0.95);

/// Colour at `position` in 0..=1; positions outside are clamped.
pub(super) fn colour(position: f64) -> Rgb {
    let position = position.clamp(0.0, 1.0);
    let place = position * (PATH.len() - 1) as f64;
    let n = (place as usize).min(PATH.len() - 2);
    let weight = place - n as f64;
    let cartesian = |(chroma, hue): (f64, f64)| {
        let (sin, cos) = hue.to_radians().sin_cos();
        (chroma * cos, chroma * sin)
    };
    let (from, to) = (cartesian(PATH[n]), cartesian(PATH[n + 1]));
    let blend = |x: f64, y: f64| x + weight * (y - x);
    let lightness = LIGHTNESS.0 + position * (LIGHTNESS.1 - LIGHTNESS.0);
    linear_rgb(lightness, blend(from.0, to.0), blend(from.1, to.1)).map(encode)
}

/// OKLab to linear sRGB (Ottosson 2020).
fn linear_rgb(lightness: f64, a: f64, b: f64) -> [f64; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ]
}

/// Transfer function of sRGB (IEC 61966-2-1).
fn encode(linear: f64) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let value = if linear <= 0.0031308 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (value * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (ITU-R BT.709).
    fn luminance(rgb: Rgb) -> f64 {
        let decode = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * decode(rgb[0]) + 0.7152 * decode(rgb[1]) + 0.0722 * decode(rgb[2])
    }

    #[test]
    fn white_point_and_grey_are_reproduced() {
        assert_eq!(linear_rgb(1.0, 0.0, 0.0).map(encode), [255, 255, 255]);
        // 0.5³ = 0.125 linear is 99.35 of 255 by the transfer function.
        assert_eq!(linear_rgb(0.5, 0.0, 0.0).map(encode), [99, 99, 99]);
    }

    #[test]
    fn lightness_rises_without_leaving_the_gamut() {
        let mut last = -1.0;
        for n in 0..=100 {
            let position = f64::from(n) / 100.0;
            let now = luminance(colour(position));
            assert!(now > last, "step {n}");
            last = now;
        }
        assert_eq!(colour(-1.0), colour(0.0));
        assert_eq!(colour(2.0), colour(1.0));
    }

    #[test]
    fn neighbouring_colours_differ_little() {
        for n in 0..255 {
            let (a, b) = (colour(f64::from(n) / 255.0), colour(f64::from(n + 1) / 255.0));
            assert!(a.iter().zip(&b).all(|(x, y)| x.abs_diff(*y) <= 6), "{n}: {a:?} {b:?}");
        }
    }
}
