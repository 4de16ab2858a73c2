//! The text of a whole program.

use super::launch::GroupShapes;
use super::scheme::scheme_defines;
use super::set::{KernelPart, KernelSet};
use super::{Precision, preamble};
use crate::scheme::Scheme;

/// Device files that every program has behind the preamble, in order.
const FILES: [(&str, &str); 7] = [
    ("tiles.h", include_str!("tiles.h")),
    ("sweep_x.h", include_str!("sweep_x.h")),
    ("march.h", include_str!("march.h")),
    ("air.h", include_str!("air.h")),
    ("seams.h", include_str!("seams.h")),
    ("halo.h", include_str!("halo.h")),
    ("scans.h", include_str!("scans.h")),
];

/// What kernels of columns share.
const COLUMNS: (&str, &str) = ("columns.h", include_str!("columns.h"));

/// Device files of the other parts.
const PARTS: [(KernelPart, &str, &str); 1] = [(KernelPart::Diffusion, "diffusion.h", include_str!("diffusion.h"))];

/// The kernels of a set for one precision and one scheme. The same text is CUDA C++, OpenCL C 1.2 and Metal.
pub fn program(precision: Precision, scheme: Scheme, shapes: &GroupShapes, set: &KernelSet) -> String {
    let mut text = shapes.way_of_lanes().to_owned();
    text += &preamble(precision);
    text += &scheme_defines(scheme);
    text += &shapes.defines();
    let mut add = |name: &str, content: &str| text += &format!("#line 1 \"{name}\"\n{content}");
    for (name, content) in FILES {
        add(name, content);
    }
    if PARTS.iter().any(|(part, ..)| set.holds(*part)) {
        add(COLUMNS.0, COLUMNS.1);
    }
    for (_, name, content) in PARTS.iter().filter(|(part, ..)| set.holds(*part)) {
        add(name, content);
    }
    text
}
