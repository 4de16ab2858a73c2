//! The text of a whole program.

use super::launch::GroupShapes;
use super::scheme::scheme_defines;
use super::{Precision, preamble};
use crate::scheme::Scheme;

/// Device files behind the preamble, in order.
const FILES: [(&str, &str); 7] = [
    ("tiles.h", include_str!("tiles.h")),
    ("sweep_x.h", include_str!("sweep_x.h")),
    ("march.h", include_str!("march.h")),
    ("air.h", include_str!("air.h")),
    ("seams.h", include_str!("seams.h")),
    ("halo.h", include_str!("halo.h")),
    ("scans.h", include_str!("scans.h")),
];

/// Every kernel for one precision and one scheme. The same text is CUDA C++, OpenCL C 1.2 and Metal.
pub fn program(precision: Precision, scheme: Scheme, shapes: &GroupShapes) -> String {
    let mut text = shapes.way_of_lanes().to_owned();
    text += &preamble(precision);
    text += &scheme_defines(scheme);
    text += &shapes.defines();
    for (name, content) in FILES {
        text += &format!("#line 1 \"{name}\"\n{content}");
    }
    text
}
