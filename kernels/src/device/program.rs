//! The text of a whole program.

use super::launch::GroupShapes;
use super::scheme::scheme_defines;
use super::set::{KernelPart, KernelSet};
use super::tm5::Tm5Room;
use super::{Precision, preamble};
use crate::scheme::Scheme;

/// Device files that every program has behind the preamble, in order.
const FILES: [(&str, &str); 8] = [
    ("tiles.h", include_str!("tiles.h")),
    ("sweep_x.h", include_str!("sweep_x.h")),
    ("fusion.h", include_str!("fusion.h")),
    ("march.h", include_str!("march.h")),
    ("air.h", include_str!("air.h")),
    ("seams.h", include_str!("seams.h")),
    ("halo.h", include_str!("halo.h")),
    ("scans.h", include_str!("scans.h")),
];

/// What kernels of columns share.
const COLUMNS: (&str, &str) = ("columns.h", include_str!("columns.h"));

/// Device files of the other parts.
const PARTS: [(KernelPart, &str, &str); 4] = [
    (KernelPart::Spline, "spline.h", include_str!("spline.h")),
    (KernelPart::Diffusion, "diffusion.h", include_str!("diffusion.h")),
    (KernelPart::Deposit, "deposit.h", include_str!("deposit.h")),
    (KernelPart::Cmfmc, "cmfmc.h", include_str!("cmfmc.h")),
];

/// Implicit convection: what both forms share, the text of a column, and the two kernels.
const TM5: (&str, &str) = ("tm5.h", include_str!("tm5.h"));
const TM5_COLUMN: (&str, &str) = ("tm5_column.h", include_str!("tm5_column.h"));
const TM5_COLLABORATIVE: (&str, &str) = ("tm5_collaborative.h", include_str!("tm5_collaborative.h"));
const TM5_SERIAL: (&str, &str) = ("tm5_serial.h", include_str!("tm5_serial.h"));

/// Words of the text of a column for lanes that share memory.
const SHARED: &str = "#define TM5(name) tm5_shared_##name\n#define TM5_SPACE SHARED_POINTER\n#define TM5_INDEX int\n\
    #define TM5_BARRIER() BARRIER()\n";
/// The same for lanes alone.
const ALONE: &str = "#define TM5(name) tm5_alone_##name\n#define TM5_SPACE GLOBAL\n#define TM5_INDEX wide\n\
    #define TM5_BARRIER() ((void)0)\n";
/// Makes way for the other words.
const NEITHER: &str = "#undef TM5\n#undef TM5_SPACE\n#undef TM5_INDEX\n#undef TM5_BARRIER\n";

/// The kernels of a set for one precision and one scheme. The same text is CUDA C++, OpenCL C 1.2 and Metal.
pub fn program(precision: Precision, scheme: Scheme, shapes: &GroupShapes, set: &KernelSet) -> String {
    let mut text = shapes.way_of_lanes().to_owned();
    text += &preamble(precision);
    text += &scheme_defines(scheme);
    text += &shapes.defines();
    let mut add = |(name, content): (&str, &str)| text += &format!("#line 1 \"{name}\"\n{content}");
    FILES.into_iter().for_each(&mut add);
    let parts = PARTS.into_iter().filter(|(part, ..)| set.holds(*part));
    let (collaborative, serial) = (set.holds(KernelPart::Tm5Collaborative), set.holds(KernelPart::Tm5Serial));
    if parts.clone().count() > 0 || collaborative || serial {
        add(COLUMNS);
    }
    parts.for_each(|(_, name, content)| add((name, content)));
    if collaborative || serial {
        add(TM5);
    }
    if collaborative {
        let room = set.room();
        add(("tm5.h", SHARED));
        for (name, value) in [("LAYERS", room.layers), ("WORDS", room.words()), ("BATCH", room.batch)] {
            add(("tm5.h", &format!("#define TM5_{name} {value}\n")));
        }
        [TM5_COLUMN, TM5_COLLABORATIVE, ("tm5.h", NEITHER)].into_iter().for_each(&mut add);
    }
    if serial {
        add(("tm5.h", ALONE));
        add(("tm5.h", &format!("#define TM5_ALONE {}\n", Tm5Room::alone(1).batch)));
        [TM5_COLUMN, TM5_SERIAL, ("tm5.h", NEITHER)].into_iter().for_each(&mut add);
    }
    text
}
