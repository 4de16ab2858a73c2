/* Sweeps along j and k: a lane walks along one line of cells with the cells around it in registers, in place behind
 * its window. */

#define AHEAD (SCHEME_HALO - 1)

/* What a lane keeps from cell to cell, q1 and so on being the mixing ratios and r1 and so on the reciprocal masses of the
 * cells around the middle one; `low`, `high` and `inflow` belong to the cell before it. */
#define MARCH_VALUES(lanes) \
    REAL PER_LANE(q0, lanes), PER_LANE(q1, lanes), PER_LANE(q2, lanes), PER_LANE(q3, lanes), PER_LANE(q4, lanes); \
    REAL PER_LANE(r1, lanes), PER_LANE(r2, lanes), PER_LANE(r3, lanes); \
    REAL PER_LANE(slope, lanes), PER_LANE(edge, lanes), PER_LANE(low, lanes), PER_LANE(high, lanes); \
    REAL PER_LANE(inflow, lanes), PER_LANE(change, lanes); \
    int PER_LANE(over, lanes);

/* Before the window is full its values do not matter, but they must not be constants: a minimum of a number and a constant
 * 0 may become one that orders -0 below +0. Hence any value from memory. */
#define MARCH_BEGIN(any) \
    OF(q0) = OF(q1) = OF(q2) = OF(q3) = OF(q4) = OF(r1) = OF(r2) = OF(r3) = OF(slope) = OF(edge) = any; \
    OF(low) = OF(high) = OF(inflow) = OF(change) = (REAL)0; \
    OF(over) = 0;

/* Moves up by one cell, taking in the farthest cell ahead: its content and the reciprocal of its mass. Afterwards there are
 * the window and the profile of the middle cell, and the reciprocals on both sides of the face below it. */
#if AHEAD == 2
#define MARCH_ON(content, reciprocal) \
    const REAL r_below = OF(r1), r_above = OF(r2), r_ahead = reciprocal; \
    const WINDOW ratio = make_window(OF(q1), OF(q2), OF(q3), OF(q4), content * r_ahead); \
    const REAL slope_ahead = SCHEME_SLOPE(ratio.v[2], ratio.v[3], ratio.v[4]); \
    const REAL edge_above = \
        SCHEME_EDGE(ratio.v[1], ratio.v[2], ratio.v[3], ratio.v[4], OF(slope), slope_ahead); \
    const PAIR shape = SCHEME_LIMIT(ratio, OF(edge), edge_above); \
    const REAL ratio_left = OF(q0); \
    OF(q0) = ratio.v[0]; \
    OF(r1) = OF(r2); \
    OF(r2) = OF(r3); \
    OF(r3) = r_ahead; \
    OF(slope) = slope_ahead; \
    OF(edge) = edge_above; \
    OF(q1) = ratio.v[1]; \
    OF(q2) = ratio.v[2]; \
    OF(q3) = ratio.v[3]; \
    OF(q4) = ratio.v[4];
#elif AHEAD == 1
#define MARCH_ON(content, reciprocal) \
    const REAL r_below = OF(r1), r_above = OF(r2), r_ahead = reciprocal; \
    const REAL ratio_ahead = content * r_ahead; \
    const WINDOW ratio = make_window(OF(q1), OF(q2), OF(q3), ratio_ahead, ratio_ahead); \
    const PAIR shape = SCHEME_PROFILE(ratio); \
    OF(r1) = OF(r2); \
    OF(r2) = r_ahead; \
    OF(q1) = ratio.v[1]; \
    OF(q2) = ratio.v[2]; \
    OF(q3) = ratio.v[3];
#else
#define MARCH_ON(content, reciprocal) \
    const REAL r_below = OF(r1), r_above = reciprocal; \
    const REAL ratio_ahead = content * r_above; \
    const WINDOW ratio = make_window(OF(q1), OF(q2), ratio_ahead, ratio_ahead, ratio_ahead); \
    const PAIR shape = SCHEME_PROFILE(ratio); \
    OF(r1) = r_above; \
    OF(q1) = ratio.v[1]; \
    OF(q2) = ratio.v[2];
#endif

/* Flux of the face below the middle cell. */
#if SCHEME_IS_SWEPT
#define MARCH_FLUX(carrier, courant, below, above) SCHEME_FACE(carrier, courant, ratio_left, ratio)
#else
#define MARCH_FLUX(carrier, courant, below, above) SCHEME_FLUX(carrier, courant, ratio.v[1], below, ratio.v[2], above)
#endif

/* Columns are dealt out in blocks of Y_LANES: tile and first column of each. Tracers follow one another, so that air and
 * fluxes are still in a cache. `booked` as in sweep_x. */
KERNEL sweep_y(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT fluxes, GLOBAL const int *RESTRICT tiles,
               GLOBAL const int *RESTRICT blocks, GLOBAL int *clamped, VALUE(REAL, scale), VALUE(int, state_stride),
               VALUE(int, field_stride), VALUE(int, first_level), GLOBAL REAL *gains, GLOBAL REAL *throughs,
               VALUE(int, booked) THREADS)
{
    const int t = blocks[2 * GROUP(0)], first = blocks[2 * GROUP(0) + 1];
    const int pitch = TILE_PITCH(t), nj = TILE_NJ(t), closed = TILE_CLOSED(t), left = TILE_NI(t) - first;
    const int cells = left < Y_LANES ? left : Y_LANES;
    const wide level = first_level + GROUP(2);
    GLOBAL const REAL *masses = state + (level * state_stride + TILE_STATE(t) + CELL(t, first, 0));
    GLOBAL REAL *contents = state + (level * state_stride + TILE_STATE(t) + CELL(t, first, 0) + (GROUP(1) + 1) * TILE_PLANE(t));
    GLOBAL const REAL *fluxes_y = fluxes + (level * field_stride + TILE_FIELD(t) + CELL(t, first, 0));
    const wide booked_at = level * state_stride + TILE_STATE(t) + CELL(t, first, 0) + (GROUP(1) + 1) * TILE_PLANE(t);
    THIS_LANE(lane);
    MARCH_VALUES(Y_LANES)
    REAL PER_LANE(both, Y_LANES);

    EACH_LANE(lane, 0, cells) { MARCH_BEGIN(masses[lane]) }
    /* The window is full at the halo cell below the tile; then every face with the cell above it. */
    for (int j = -SCHEME_HALO - AHEAD; j < 0; j++) {
        GLOBAL const REAL *mass = masses + (j + AHEAD) * pitch;
        GLOBAL const REAL *content = contents + (j + AHEAD) * pitch;
        EACH_LANE(lane, 0, cells) {
            MARCH_ON(content[lane], (REAL)1 / mass[lane])
            OF(low) = shape.m0;
            OF(high) = shape.m1;
        }
    }
    for (int j = 0; j <= nj; j++) {
        GLOBAL const REAL *mass = masses + j * pitch;
        GLOBAL REAL *content = contents + j * pitch;
        GLOBAL const REAL *flux = fluxes_y + j * pitch;
        const int shut = (j == 0 && (closed & CLOSED_SOUTH)) || (j == nj && (closed & CLOSED_NORTH));
        const int counts = j < nj;
        EACH_LANE(lane, 0, cells) {
            const REAL through = shut ? (REAL)0 : scale * flux[lane];
            const REAL mass_below = mass[lane - pitch], mass_above = mass[lane];
            MARCH_ON(content[lane + AHEAD * pitch], (REAL)1 / mass[lane + AHEAD * pitch])
            const TRIPLE face = nm_face_coefficients(through, mass_below, mass_above, r_below, r_above);
            const REAL outflow = MARCH_FLUX(face.m1, face.m0, make_pair(OF(low), OF(high)), shape);
            OF(over) += counts && face.m2 > (REAL)1;
            OF(change) = OF(inflow) - outflow;
            OF(both) = OF(inflow) + outflow;
            OF(inflow) = outflow;
            OF(low) = shape.m0;
            OF(high) = shape.m1;
        }
        if (j > 0) {
            EACH_LANE(lane, 0, cells) { content[lane - pitch] = content[lane - pitch] + OF(change); }
            if (booked) {
                GLOBAL REAL *gain = gains + (booked_at + (j - 1) * pitch), *through = throughs + (booked_at + (j - 1) * pitch);
                EACH_LANE(lane, 0, cells) {
                    gain[lane] = gain[lane] + OF(change);
                    through[lane] = through[lane] + OF(both);
                }
            }
        }
    }
    if (GROUP(1) == 0) {
        EACH_LANE_APART(lane, 0, cells) {
            if (OF(over) > 0) COUNT(clamped, OF(over));
        }
    }
}

/* Cells without a full window above and below are flat, as are both cells of a face without six cells around it where the
 * scheme needs them; the top and the bottom are closed. */
KERNEL sweep_z(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT fluxes, GLOBAL const int *RESTRICT tiles,
               GLOBAL const int *RESTRICT rows, GLOBAL int *clamped, VALUE(REAL, scale), VALUE(int, levels),
               VALUE(int, state_stride), VALUE(int, field_stride), GLOBAL const REAL *RESTRICT allowed, VALUE(int, part) THREADS)
{
    const int t = ROW_TILE(GROUP(2)), first = GROUP(0) * Z_LANES, left = TILE_NI(t) - first;
    const int cells = left < Z_LANES ? left : Z_LANES;
    const wide step = state_stride;
    const int cell = CELL(t, first, ROW_J(GROUP(2)));
    GLOBAL const REAL *masses = state + (TILE_STATE(t) + cell);
    GLOBAL REAL *contents = state + (TILE_STATE(t) + cell + (GROUP(1) + 1) * TILE_PLANE(t));
    GLOBAL const REAL *fluxes_z = fluxes + (TILE_FIELD(t) + cell);
    GLOBAL const REAL *may = allowed + (TILE_FIELD(t) + cell);
    THIS_LANE(lane);
    MARCH_VALUES(Z_LANES)

    EACH_LANE(lane, 0, cells) { MARCH_BEGIN(masses[lane]) }
    for (int k = -AHEAD; k < levels; k++) {
        const int ahead = k + AHEAD, is_level = ahead < levels, full = k >= AHEAD && is_level;
#if SCHEME_IS_SWEPT
        const int around = full && k > AHEAD;
#endif
        GLOBAL const REAL *mass_ahead = masses + (is_level ? ahead : levels - 1) * step;
        GLOBAL const REAL *content_ahead = contents + (is_level ? ahead : levels - 1) * step;
        if (k <= 0) {
            EACH_LANE(lane, 0, cells) {
                MARCH_ON((is_level ? content_ahead[lane] : (REAL)0), (REAL)1 / (is_level ? mass_ahead[lane] : (REAL)1))
                OF(low) = full ? shape.m0 : (REAL)0;
                OF(high) = full ? shape.m1 : (REAL)0;
            }
        } else {
            GLOBAL const REAL *mass_above = masses + (k - 1) * step, *mass_below = masses + k * step;
            GLOBAL REAL *content = contents + (k - 1) * step;
            GLOBAL const REAL *flux = fluxes_z + k * (wide)field_stride;
            EACH_LANE(lane, 0, cells) {
                MARCH_ON((is_level ? content_ahead[lane] : (REAL)0), (REAL)1 / (is_level ? mass_ahead[lane] : (REAL)1))
                const REAL flat = (REAL)0;
                const PAIR own = make_pair(full ? shape.m0 : flat, full ? shape.m1 : flat);
                const TRIPLE face =
                    nm_face_coefficients(scale * PAIRED(part, may[lane], flux[lane]), mass_above[lane], mass_below[lane], r_below, r_above);
#if SCHEME_IS_SWEPT
                const REAL outflow = around ? SCHEME_FACE(face.m1, face.m0, ratio_left, ratio)
                                            : nm_flux_donor(face.m1, ratio.v[1], ratio.v[2]);
#else
                const REAL outflow = MARCH_FLUX(face.m1, face.m0, make_pair(OF(low), OF(high)), own);
#endif
                OF(over) += face.m2 > (REAL)1;
                OF(change) = OF(inflow) - outflow;
                OF(inflow) = outflow;
                OF(low) = own.m0;
                OF(high) = own.m1;
            }
            EACH_LANE(lane, 0, cells) { content[lane] = content[lane] + OF(change); }
        }
    }
    EACH_LANE(lane, 0, cells) {
        contents[(levels - 1) * step + lane] = contents[(levels - 1) * step + lane] + (OF(inflow) - (REAL)0);
    }
    if (GROUP(1) == 0) {
        EACH_LANE_APART(lane, 0, cells) {
            if (OF(over) > 0) COUNT(clamped, OF(over));
        }
    }
}
