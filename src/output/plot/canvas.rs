//! A picture with lines and lettering.

use std::io::BufWriter;
use std::path::Path;

use font8x8::legacy::{BASIC_LEGACY, LATIN_LEGACY};

use super::super::error::OutputError;
use super::colour::Rgb;
use crate::files::staged;

/// Pixels per dot of the 8 × 8 letters.
const SCALE: usize = 2;

/// Width and height of a letter in pixels.
pub(super) const LETTER: usize = 8 * SCALE;

/// Where a text is placed relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// RGB pixels, row by row from the top.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    /// White picture.
    pub(super) fn new(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![255; 3 * width * height] }
    }

    /// Sets a pixel; nothing outside.
    pub(super) fn set(&mut self, x: usize, y: usize, colour: Rgb) {
        if x < self.width && y < self.height {
            let at = 3 * (y * self.width + x);
            self.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }

    /// Mixes a pixel half and half with `colour`.
    pub(super) fn tint(&mut self, x: usize, y: usize, colour: Rgb) {
        if x < self.width && y < self.height {
            let at = 3 * (y * self.width + x);
            for (old, new) in self.pixels[at..at + 3].iter_mut().zip(colour) {
                *old = ((u16::from(*old) + u16::from(new)) / 2) as u8;
            }
        }
    }

    /// Fills `width` × `height` pixels from the upper left corner.
    pub(super) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Rgb) {
        for row in y..y + height {
            for column in x..x + width {
                self.set(column, row, colour);
            }
        }
    }

    /// Frame one pixel wide around `width` × `height` pixels.
    pub(super) fn frame(&mut self, x: usize, y: usize, width: usize, height: usize, colour: Rgb) {
        self.fill(x - 1, y - 1, width + 2, 1, colour);
        self.fill(x - 1, y + height, width + 2, 1, colour);
        self.fill(x - 1, y - 1, 1, height + 2, colour);
        self.fill(x + width, y - 1, 1, height + 2, colour);
    }

    /// Text with its upper edge at `y`; cut off at the borders of the picture.
    pub(super) fn text(&mut self, x: usize, y: usize, align: Align, text: &str, colour: Rgb) {
        let length = LETTER * text.chars().count();
        let start = match align {
            Align::Left => x,
            Align::Centre => x.saturating_sub(length / 2),
            Align::Right => x.saturating_sub(length),
        };
        for (n, letter) in text.chars().enumerate() {
            for (row, bits) in glyph(letter).into_iter().enumerate() {
                for column in (0..8).filter(|c| bits >> c & 1 == 1) {
                    self.fill(start + n * LETTER + column * SCALE, y + row * SCALE, SCALE, SCALE, colour);
                }
            }
        }
    }

    /// Writes a PNG file.
    pub(super) fn save(&self, path: &Path) -> Result<(), OutputError> {
        let io = |source| OutputError::Io { path: path.to_path_buf(), source };
        let mut staged = staged(path).map_err(io)?;
        let mut encoder =
            png::Encoder::new(BufWriter::new(staged.as_file_mut()), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.pixels)?;
            writer.finish()
        });
        written.map_err(|source| OutputError::Picture { path: path.to_path_buf(), source })?;
        staged.publish(path).map_err(io)
    }
}

/// Rows of a letter, least significant bit leftmost. Letters without a shape become a question mark.
fn glyph(letter: char) -> [u8; 8] {
    let code = letter as usize;
    match code {
        0x20..0x7f => BASIC_LEGACY[code],
        0xa0..0x100 => LATIN_LEGACY[code - 0xa0],
        _ => BASIC_LEGACY['?' as usize],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_drawn_where_asked() {
        let dark = |align| {
            let mut canvas = Canvas::new(64, 16);
            canvas.text(32, 0, align, "II", [0, 0, 0]);
            let columns = (0..64).filter(|x| (0..16).any(|y| canvas.pixels[3 * (y * 64 + x)] == 0));
            columns.fold((64, 0), |(low, high): (usize, usize), x| (low.min(x), high.max(x)))
        };
        assert!(dark(Align::Left).0 >= 32);
        assert!(dark(Align::Right).1 < 32);
        let (low, high) = dark(Align::Centre);
        assert!(low >= 16 && high < 48 && low < 32 && high >= 32);
    }

    #[test]
    fn text_beyond_the_border_is_cut() {
        Canvas::new(10, 10).text(5, 5, Align::Left, "long text é 中", [0, 0, 0]);
    }
}
