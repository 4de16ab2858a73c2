//! Norms of other programs at four digits.
//!
//! FV3: the horizontal operator `fv_tp_2d` of GFDL_atmos_cubed_sphere (commit 73e28696) in an independent driver on the
//! FV3 grid. COMPOSE: classical semi-Lagrangian transport on spectral elements (commit 096ca483), four points along an
//! element edge, exact trajectories; a family of schemes of another kind. `caas`: with bounds and conserved mass; `none`:
//! neither.

/// Norms of a run of another program.
pub(super) struct Published {
    /// Program and scheme.
    pub source: &'static str,
    /// Flow.
    pub flow: &'static str,
    /// Cells per panel edge.
    pub nc: usize,
    /// Steps of a period.
    pub steps: usize,
    /// l1, l2, linf of tracers after a period.
    pub norms: &'static [(&'static str, [f64; 3])],
}

/// All runs.
pub(super) const PUBLISHED: &[Published] = &[
    Published {
        source: "FV3 hord 5",
        flow: "deformational",
        nc: 24,
        steps: 360,
        norms: &[
            ("gaussian_hills", [0.3548, 0.2777, 0.3157]),
            ("cosine_bells", [0.2348, 0.3942, 0.4612]),
            ("slotted_cylinders", [0.4103, 0.4548, 0.7123]),
            ("correlated_bells", [0.02465, 0.06566, 0.5291]),
        ],
    },
    Published {
        source: "FV3 hord 7",
        flow: "deformational",
        nc: 24,
        steps: 360,
        norms: &[
            ("gaussian_hills", [0.2916, 0.2899, 0.3789]),
            ("cosine_bells", [0.2295, 0.4232, 0.5113]),
            ("slotted_cylinders", [0.3931, 0.466, 0.6927]),
            ("correlated_bells", [0.02383, 0.06939, 0.5754]),
        ],
    },
    Published {
        source: "FV3 hord 8",
        flow: "deformational",
        nc: 24,
        steps: 360,
        norms: &[
            ("gaussian_hills", [0.3763, 0.3606, 0.4551]),
            ("cosine_bells", [0.2253, 0.4632, 0.5932]),
            ("slotted_cylinders", [0.422, 0.5043, 0.7019]),
            ("correlated_bells", [0.02278, 0.07425, 0.6406]),
        ],
    },
    Published {
        source: "FV3 hord 13",
        flow: "deformational",
        nc: 24,
        steps: 360,
        norms: &[
            ("gaussian_hills", [0.2917, 0.29, 0.3792]),
            ("cosine_bells", [0.2304, 0.423, 0.5115]),
            ("slotted_cylinders", [0.3913, 0.4649, 0.699]),
            ("correlated_bells", [0.0239, 0.06937, 0.5757]),
        ],
    },
    Published {
        source: "FV3 hord 5",
        flow: "solid_body_0",
        nc: 24,
        steps: 160,
        norms: &[
            ("williamson_bell", [0.1523, 0.09476, 0.06993]),
            ("gaussian_hills", [0.006996, 0.00623, 0.007829]),
            ("slotted_cylinders", [0.1861, 0.2956, 0.6022]),
        ],
    },
    Published {
        source: "FV3 hord 8",
        flow: "solid_body_0",
        nc: 24,
        steps: 160,
        norms: &[
            ("williamson_bell", [0.1682, 0.147, 0.2013]),
            ("gaussian_hills", [0.01731, 0.0199, 0.04358]),
            ("slotted_cylinders", [0.2058, 0.345, 0.7325]),
        ],
    },
    Published {
        source: "FV3 hord 10",
        flow: "solid_body_0",
        nc: 24,
        steps: 160,
        norms: &[
            ("williamson_bell", [0.1286, 0.1093, 0.1438]),
            ("gaussian_hills", [0.01362, 0.01458, 0.02985]),
            ("slotted_cylinders", [0.1905, 0.3263, 0.6965]),
        ],
    },
    Published {
        source: "FV3 hord 13",
        flow: "solid_body_0",
        nc: 24,
        steps: 160,
        norms: &[
            ("williamson_bell", [0.1033, 0.08528, 0.09553]),
            ("gaussian_hills", [0.01148, 0.01153, 0.01796]),
            ("slotted_cylinders", [0.1766, 0.3053, 0.6483]),
        ],
    },
    Published {
        source: "FV3 hord 5",
        flow: "deformational",
        nc: 48,
        steps: 720,
        norms: &[
            ("gaussian_hills", [0.08127, 0.07918, 0.1084]),
            ("cosine_bells", [0.1043, 0.2, 0.2592]),
            ("slotted_cylinders", [0.2769, 0.3714, 0.9517]),
            ("correlated_bells", [0.01327, 0.04063, 0.3415]),
        ],
    },
    Published {
        source: "FV3 hord 7",
        flow: "deformational",
        nc: 48,
        steps: 720,
        norms: &[
            ("gaussian_hills", [0.09063, 0.1004, 0.1488]),
            ("cosine_bells", [0.09951, 0.2158, 0.2882]),
            ("slotted_cylinders", [0.2547, 0.3723, 0.9008]),
            ("correlated_bells", [0.01278, 0.04386, 0.379]),
        ],
    },
    Published {
        source: "FV3 hord 8",
        flow: "deformational",
        nc: 48,
        steps: 720,
        norms: &[
            ("gaussian_hills", [0.1266, 0.1412, 0.2211]),
            ("cosine_bells", [0.104, 0.2588, 0.3887]),
            ("slotted_cylinders", [0.2558, 0.3861, 0.8529]),
            ("correlated_bells", [0.0128, 0.05013, 0.4786]),
        ],
    },
    Published {
        source: "FV3 hord 13",
        flow: "deformational",
        nc: 48,
        steps: 720,
        norms: &[
            ("gaussian_hills", [0.0907, 0.1004, 0.1488]),
            ("cosine_bells", [0.0998, 0.2158, 0.2882]),
            ("slotted_cylinders", [0.2546, 0.372, 0.903]),
            ("correlated_bells", [0.01282, 0.04386, 0.379]),
        ],
    },
    Published {
        source: "FV3 hord 8",
        flow: "solid_body_0",
        nc: 48,
        steps: 320,
        norms: &[
            ("williamson_bell", [0.02913, 0.03239, 0.05911]),
            ("gaussian_hills", [0.003701, 0.004805, 0.01355]),
            ("slotted_cylinders", [0.1095, 0.2339, 0.6647]),
        ],
    },
    Published {
        source: "FV3 hord 13",
        flow: "solid_body_0",
        nc: 48,
        steps: 320,
        norms: &[
            ("williamson_bell", [0.01387, 0.01366, 0.02171]),
            ("gaussian_hills", [0.002448, 0.002586, 0.00487]),
            ("slotted_cylinders", [0.105, 0.2161, 0.6284]),
        ],
    },
    Published {
        source: "COMPOSE none",
        flow: "deformational",
        nc: 15,
        steps: 30,
        norms: &[
            ("gaussian_hills", [0.4497, 0.3438, 0.3913]),
            ("cosine_bells", [0.2528, 0.4341, 0.523]),
            ("slotted_cylinders", [0.4735, 0.5052, 0.6979]),
            ("correlated_bells", [0.02519, 0.06983, 0.54]),
        ],
    },
    Published {
        source: "COMPOSE caas",
        flow: "deformational",
        nc: 15,
        steps: 30,
        norms: &[
            ("gaussian_hills", [0.4142, 0.3695, 0.4489]),
            ("cosine_bells", [0.2379, 0.4651, 0.5779]),
            ("slotted_cylinders", [0.4757, 0.5375, 0.7384]),
            ("correlated_bells", [0.02353, 0.07377, 0.5843]),
        ],
    },
    Published {
        source: "COMPOSE none",
        flow: "deformational",
        nc: 30,
        steps: 60,
        norms: &[
            ("gaussian_hills", [0.1451, 0.1304, 0.1684]),
            ("cosine_bells", [0.1331, 0.2543, 0.317]),
            ("slotted_cylinders", [0.3039, 0.3966, 0.8364]),
            ("correlated_bells", [0.01537, 0.04726, 0.4086]),
        ],
    },
    Published {
        source: "COMPOSE caas",
        flow: "deformational",
        nc: 30,
        steps: 60,
        norms: &[
            ("gaussian_hills", [0.1321, 0.139, 0.2036]),
            ("cosine_bells", [0.1238, 0.28, 0.3791]),
            ("slotted_cylinders", [0.3087, 0.4179, 0.7982]),
            ("correlated_bells", [0.01415, 0.05144, 0.4794]),
        ],
    },
    Published {
        source: "COMPOSE none",
        flow: "deformational",
        nc: 60,
        steps: 120,
        norms: &[
            ("gaussian_hills", [0.02424, 0.02605, 0.03967]),
            ("cosine_bells", [0.04088, 0.08418, 0.1166]),
            ("slotted_cylinders", [0.199, 0.306, 0.8488]),
            ("correlated_bells", [0.005916, 0.02081, 0.194]),
        ],
    },
    Published {
        source: "COMPOSE caas",
        flow: "deformational",
        nc: 60,
        steps: 120,
        norms: &[
            ("gaussian_hills", [0.02873, 0.03319, 0.06249]),
            ("cosine_bells", [0.03683, 0.0943, 0.1466]),
            ("slotted_cylinders", [0.1955, 0.3246, 0.8439]),
            ("correlated_bells", [0.005262, 0.02282, 0.2356]),
        ],
    },
    Published {
        source: "COMPOSE none",
        flow: "deformational",
        nc: 120,
        steps: 240,
        norms: &[
            ("gaussian_hills", [0.003012, 0.003414, 0.005458]),
            ("cosine_bells", [0.00776, 0.0171, 0.03095]),
            ("slotted_cylinders", [0.1218, 0.2276, 0.8096]),
            ("correlated_bells", [0.001102, 0.004281, 0.04777]),
        ],
    },
    Published {
        source: "COMPOSE caas",
        flow: "deformational",
        nc: 120,
        steps: 240,
        norms: &[
            ("gaussian_hills", [0.003788, 0.005148, 0.01768]),
            ("cosine_bells", [0.006074, 0.01609, 0.03159]),
            ("slotted_cylinders", [0.1154, 0.2401, 0.8094]),
            ("correlated_bells", [0.001021, 0.005022, 0.06876]),
        ],
    },
];
