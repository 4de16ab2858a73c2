/* Transfers across panel seams: evaluated on both sides from the same cells in the owner's orientation, applied after
 * the sweep. */

#define FACE_INTS 5
/* First cell of the stencil in the owner's orientation and the step from cell to cell, positions within a level. */
#define FACE_FIRST(f) faces[FACE_INTS * (f)]
#define FACE_STEP(f) faces[FACE_INTS * (f) + 1]
#define FACE_PLANE(f) faces[FACE_INTS * (f) + 2]
/* Position of the tile's own flux in a field. */
#define FACE_FLUX(f) faces[FACE_INTS * (f) + 3]
#define FACE_SIGNS(f) faces[FACE_INTS * (f) + 4]
#define FLUX_ALONG_J 1
#define FLUX_REVERSED 2
#define LEAVES_BACKWARD 4
#define COUNTED 8

/* Mixing ratio of one of the three cells on either side of a face; 0 for those that the scheme does not read. */
#define SEAM_RATIO(n) \
    ((n) >= 3 - SCHEME_HALO && (n) < 3 + SCHEME_HALO ? content[((n) - 3 + SCHEME_HALO) * step] * OF(r[n]) : (REAL)0)

/* Amounts that leave the owner: one plane after the other, levels outside. A group takes every `groups`-th plane. */
KERNEL seam_amounts(GLOBAL const REAL *state, GLOBAL const REAL *fluxes_x, GLOBAL const REAL *fluxes_y,
                    GLOBAL const int *RESTRICT faces, GLOBAL REAL *amounts, GLOBAL int *clamped, VALUE(int, face_count),
                    VALUE(REAL, scale), VALUE(int, planes), VALUE(int, groups), VALUE(int, state_stride),
                    VALUE(int, field_stride), VALUE(int, first_level) THREADS)
{
    const int first = GROUP(0) * SEAM_LANES, left = face_count - first;
    const int end = left < SEAM_LANES ? left : SEAM_LANES;
    const wide level = first_level + GROUP(2);
    GLOBAL const REAL *along_i = fluxes_x + level * field_stride, *along_j = fluxes_y + level * field_stride;
    GLOBAL const REAL *masses = state + level * state_stride;
    REAL PER_LANE(r[6], SEAM_LANES);
    REAL PER_LANE(courant, SEAM_LANES), PER_LANE(carrier, SEAM_LANES), PER_LANE(air, SEAM_LANES);
    REAL PER_LANE(leaving, SEAM_LANES);
    int PER_LANE(over, SEAM_LANES);
    THIS_LANE(lane);

    EACH_LANE(lane, 0, end) {
        const int f = first + lane, step = FACE_STEP(f), signs = FACE_SIGNS(f);
        const REAL own = (signs & FLUX_ALONG_J) ? along_j[FACE_FLUX(f)] : along_i[FACE_FLUX(f)];
        const REAL through = scale * (((signs & FLUX_REVERSED) ? (REAL)-1 : (REAL)1) * own);
        GLOBAL const REAL *mass = masses + FACE_FIRST(f);
        TRIPLE face;
        for (int n = 0; n < 2 * SCHEME_HALO; n++) OF(r[n + 3 - SCHEME_HALO]) = (REAL)1 / mass[n * step];
        face = nm_face_coefficients(through, mass[(SCHEME_HALO - 1) * step], mass[SCHEME_HALO * step],
                                    OF(r[2]), OF(r[3]));
        OF(courant) = face.m0;
        OF(carrier) = face.m1;
        OF(air) = through;
        OF(leaving) = (signs & LEAVES_BACKWARD) ? (REAL)-1 : (REAL)1;
        OF(over) = (signs & COUNTED) && face.m2 > (REAL)1;
    }
    if (GROUP(1) == 0) {
        GLOBAL REAL *out = amounts + (level * planes * face_count + first);
        EACH_LANE(lane, 0, end) { out[lane] = OF(leaving) * OF(air); }
        EACH_LANE_APART(lane, 0, end) {
            if (OF(over)) COUNT(clamped, 1);
        }
    }
    for (int p = GROUP(1) > 0 ? GROUP(1) : groups; p < planes; p += groups) {
        GLOBAL REAL *out = amounts + ((level * planes + p) * face_count + first);
        EACH_LANE(lane, 0, end) {
            const int f = first + lane, step = FACE_STEP(f);
            GLOBAL const REAL *content = masses + (FACE_FIRST(f) + p * FACE_PLANE(f));
            const REAL q0 = SEAM_RATIO(0), q1 = SEAM_RATIO(1), q2 = SEAM_RATIO(2);
            const REAL q3 = SEAM_RATIO(3), q4 = SEAM_RATIO(4), q5 = SEAM_RATIO(5);
#if SCHEME_IS_SWEPT
            out[lane] = OF(leaving) * SCHEME_FACE(OF(carrier), OF(courant), q0, make_window(q1, q2, q3, q4, q5));
#else
            const PAIR before = SCHEME_PROFILE(make_window(q0, q1, q2, q3, q4));
            const PAIR behind = SCHEME_PROFILE(make_window(q1, q2, q3, q4, q5));
            out[lane] = OF(leaving) * SCHEME_FLUX(OF(carrier), OF(courant), q2, before, q3, behind);
#endif
        }
    }
}

/* An edge cell takes part in up to four seam faces, in table order: face and side of each, -1 for none. */
#define EDGE_INTS 10
#define EDGE_CELL(e) edges[EDGE_INTS * (e)]
#define EDGE_PLANE(e) edges[EDGE_INTS * (e) + 1]
#define EDGE_FACE(e, n) edges[EDGE_INTS * (e) + 2 + 2 * (n)]
#define EDGE_GAINS(e, n) edges[EDGE_INTS * (e) + 3 + 2 * (n)]

KERNEL seam_apply(GLOBAL REAL *state, GLOBAL const REAL *amounts, GLOBAL const int *RESTRICT edges, VALUE(int, edge_count),
                  VALUE(int, face_count), VALUE(int, planes), VALUE(int, state_stride), VALUE(int, first_level) THREADS)
{
    const int e = GROUP(0) * WIDTH(0) + LANE(0), p = GROUP(1);
    if (e < edge_count) {
        const wide level = first_level + GROUP(2);
        const wide at = level * state_stride + EDGE_CELL(e) + p * EDGE_PLANE(e);
        REAL value = state[at];
        for (int n = 0; n < 4; n++) {
            const int f = EDGE_FACE(e, n);
            if (f >= 0) {
                const REAL amount = amounts[(level * planes + p) * face_count + f];
                value = EDGE_GAINS(e, n) ? value + amount : value - amount;
            }
        }
        state[at] = value;
    }
}

/* The cell whose books a seam face is entered in, on this rank's side: its position in a level, the distance between planes,
 * and whether it gains and which axis of its tile the face lies across. */
#define BOOK_INTS 3
#define BOOK_CELL(f) cells[BOOK_INTS * (f)]
#define BOOK_PLANE(f) cells[BOOK_INTS * (f) + 1]
#define BOOK_SIGNS(f) cells[BOOK_INTS * (f) + 2]
#define BOOK_ALONG_J 1
#define BOOK_REVERSED 2

/* Fluxes through seam faces, in the orientation of the tile's own axis, added to what passes along it. No cell has two faces
 * across the same axis in one sweep. */
KERNEL book_seams(GLOBAL REAL *throughs_i, GLOBAL REAL *throughs_j, GLOBAL const REAL *amounts,
                  GLOBAL const int *RESTRICT cells, VALUE(int, face_count), VALUE(int, planes), VALUE(int, state_stride),
                  VALUE(int, first_level) THREADS)
{
    const int f = GROUP(0) * WIDTH(0) + LANE(0), p = GROUP(1) + 1;
    if (f < face_count) {
        const wide level = first_level + GROUP(2);
        const wide at = level * state_stride + BOOK_CELL(f) + p * BOOK_PLANE(f);
        const REAL amount = amounts[(level * planes + p) * face_count + f];
        GLOBAL REAL *throughs = (BOOK_SIGNS(f) & BOOK_ALONG_J) ? throughs_j : throughs_i;
        throughs[at] = throughs[at] + ((BOOK_SIGNS(f) & BOOK_REVERSED) ? -amount : amount);
    }
}
