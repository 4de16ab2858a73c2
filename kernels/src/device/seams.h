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

/* Amounts that leave the owner: one plane after the other, levels outside. */
KERNEL seam_amounts(GLOBAL const REAL *state, GLOBAL const REAL *fluxes_x, GLOBAL const REAL *fluxes_y,
                    GLOBAL const int *RESTRICT faces, GLOBAL REAL *amounts, GLOBAL int *clamped, VALUE(int, face_count),
                    VALUE(REAL, scale), VALUE(int, planes), VALUE(int, state_stride), VALUE(int, field_stride),
                    VALUE(int, first_level) THREADS)
{
    const int p = GROUP(1), first = GROUP(0) * SEAM_LANES, left = face_count - first;
    const int end = left < SEAM_LANES ? left : SEAM_LANES;
    const wide level = first_level + GROUP(2);
    GLOBAL const REAL *along_i = fluxes_x + level * field_stride, *along_j = fluxes_y + level * field_stride;
    GLOBAL const REAL *masses = state + level * state_stride;
    GLOBAL REAL *out = amounts + ((level * planes + p) * face_count + first);
    int PER_LANE(over, SEAM_LANES);
    THIS_LANE(lane);

    EACH_LANE(lane, 0, end) {
        const int f = first + lane, step = FACE_STEP(f), signs = FACE_SIGNS(f);
        const REAL own = (signs & FLUX_ALONG_J) ? along_j[FACE_FLUX(f)] : along_i[FACE_FLUX(f)];
        const REAL through = scale * (((signs & FLUX_REVERSED) ? (REAL)-1 : (REAL)1) * own);
        const REAL leaving = (signs & LEAVES_BACKWARD) ? (REAL)-1 : (REAL)1;
        REAL amount = leaving * through;
        OF(over) = 0;
        if (p > 0) {
            GLOBAL const REAL *mass = masses + FACE_FIRST(f);
            GLOBAL const REAL *content = mass + p * FACE_PLANE(f);
            const REAL left_mass = mass[(SCHEME_HALO - 1) * step], right_mass = mass[SCHEME_HALO * step];
            REAL q[6];
            TRIPLE face;
            PAIR before, behind;
            for (int n = 0; n < 6; n++) q[n] = (REAL)0;
            for (int n = 0; n < 2 * SCHEME_HALO; n++)
                q[n + 3 - SCHEME_HALO] = content[n * step] * ((REAL)1 / mass[n * step]);
            face = nm_face_coefficients(through, left_mass, right_mass, (REAL)1 / left_mass, (REAL)1 / right_mass);
            before = SCHEME_PROFILE(make_window(q[0], q[1], q[2], q[3], q[4]));
            behind = SCHEME_PROFILE(make_window(q[1], q[2], q[3], q[4], q[5]));
            amount = leaving * SCHEME_FLUX(face.m1, face.m0, q[2], before, q[3], behind);
            OF(over) = (signs & COUNTED) && face.m2 > (REAL)1;
        }
        out[lane] = amount;
    }
    if (p == 1) {
        EACH_LANE(lane, 0, end) {
            if (OF(over)) COUNT(clamped, 1);
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
