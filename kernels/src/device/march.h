/* Sweeps along j and k: a lane walks along one line of cells with the cells around it in registers, in place behind
 * its window. */

#define AHEAD (SCHEME_HALO - 1)

typedef struct {
    WINDOW ratio;
    REAL slope;
    REAL edge;
} MARCH;

/* Moves up by one cell, taking in the mixing ratio of the farthest cell ahead. */
INLINE WINDOW march_shift(WINDOW w, REAL next)
{
#if AHEAD == 2
    return make_window(w.v[1], w.v[2], w.v[3], w.v[4], next);
#elif AHEAD == 1
    return make_window(w.v[1], w.v[2], w.v[3], next, next);
#else
    return make_window(w.v[1], w.v[2], next, next, next);
#endif
}

/* Half slope of the cell ahead of the middle and the edge between the two. */
INLINE MARCH march_on(MARCH before, REAL next)
{
    MARCH m;
    m.ratio = march_shift(before.ratio, next);
    m.slope = before.slope;
    m.edge = before.edge;
#if AHEAD == 2
    m.slope = SCHEME_SLOPE(m.ratio.v[2], m.ratio.v[3], m.ratio.v[4]);
    m.edge = SCHEME_EDGE(m.ratio.v[1], m.ratio.v[2], m.ratio.v[3], m.ratio.v[4], before.slope, m.slope);
#endif
    return m;
}

/* Profile of the middle cell, from the edges before and after the last move. */
INLINE PAIR march_profile(MARCH before, MARCH now)
{
#if AHEAD == 2
    return SCHEME_LIMIT(now.ratio, before.edge, now.edge);
#else
    return SCHEME_PROFILE(now.ratio);
#endif
}

/* Columns are dealt out in blocks, one per group: tile and first column of each. */
KERNEL sweep_y(GLOBAL REAL *state, GLOBAL const REAL *fluxes, GLOBAL const int *tiles, GLOBAL const int *blocks,
               GLOBAL int *clamped, VALUE(REAL, scale), VALUE(int, state_stride), VALUE(int, field_stride),
               VALUE(int, first_level) THREADS)
{
    const int t = blocks[2 * GROUP(0)], i = blocks[2 * GROUP(0) + 1] + LANE(0);
    if (i < TILE_NI(t)) {
        const wide level = first_level + GROUP(1);
        const int pitch = TILE_PITCH(t), nj = TILE_NJ(t);
        const int counts = GROUP(2) == 0, closed = TILE_CLOSED(t);
        GLOBAL const REAL *mass = state + (level * state_stride + TILE_STATE(t) + CELL(t, i, 0));
        GLOBAL REAL *content = state + (level * state_stride + TILE_STATE(t) + CELL(t, i, 0)) + (GROUP(2) + 1) * TILE_PLANE(t);
        GLOBAL const REAL *flux = fluxes + (level * field_stride + TILE_FIELD(t) + CELL(t, i, 0));
        /* Masses and reciprocals from the cell below the face to the farthest cell ahead. */
        REAL m[AHEAD + 2], r[AHEAD + 2];
        MARCH now;
        PAIR below_shape = make_pair((REAL)0, (REAL)0);
        REAL inflow = (REAL)0;
        now.ratio = make_window((REAL)0, (REAL)0, (REAL)0, (REAL)0, (REAL)0);
        now.slope = (REAL)0;
        now.edge = (REAL)0;
        for (int n = -SCHEME_HALO; n < -1; n++) now = march_on(now, content[n * pitch] * ((REAL)1 / mass[n * pitch]));
        m[0] = (REAL)1;
        r[0] = (REAL)1;
        for (int n = 0; n <= AHEAD; n++) {
            m[n + 1] = mass[(n - 1) * pitch];
            r[n + 1] = (REAL)1 / m[n + 1];
            if (n < AHEAD) now = march_on(now, content[(n - 1) * pitch] * r[n + 1]);
        }
        /* The halo cell below the tile, then every face with the cell above it. */
        for (int j = -1; j <= nj; j++) {
            const MARCH before = now;
            PAIR shape;
            REAL outflow = (REAL)0;
            now = march_on(now, content[(j + AHEAD) * pitch] * r[AHEAD + 1]);
            shape = march_profile(before, now);
            if (j >= 0) {
                const int shut = (j == 0 && (closed & CLOSED_SOUTH)) || (j == nj && (closed & CLOSED_NORTH));
                const REAL through = shut ? (REAL)0 : scale * flux[j * pitch];
                const TRIPLE face = nm_face_coefficients(through, m[0], m[1], r[0], r[1]);
                outflow = SCHEME_FLUX(face.m1, face.m0, before.ratio.v[2], below_shape, now.ratio.v[2], shape);
                if (counts && j < nj && face.m2 > (REAL)1) COUNT(clamped);
                if (j > 0) content[(j - 1) * pitch] = content[(j - 1) * pitch] + (inflow - outflow);
            }
            inflow = outflow;
            below_shape = shape;
            for (int n = 0; n <= AHEAD; n++) {
                m[n] = m[n + 1];
                r[n] = r[n + 1];
            }
            if (j < nj) {
                m[AHEAD + 1] = mass[(j + 1 + AHEAD) * pitch];
                r[AHEAD + 1] = (REAL)1 / m[AHEAD + 1];
            }
        }
    }
}

/* Cells without a full window above and below are flat; the top and the bottom are closed. */
KERNEL sweep_z(GLOBAL REAL *state, GLOBAL const REAL *fluxes, GLOBAL const int *tiles, GLOBAL const int *rows,
               GLOBAL int *clamped, VALUE(REAL, scale), VALUE(int, levels), VALUE(int, state_stride),
               VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const wide step = state_stride;
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        const int counts = GROUP(2) == 0;
        GLOBAL const REAL *mass = state + (TILE_STATE(t) + cell);
        GLOBAL REAL *content = state + (TILE_STATE(t) + cell) + (GROUP(2) + 1) * TILE_PLANE(t);
        GLOBAL const REAL *flux = fluxes + (TILE_FIELD(t) + cell);
        /* Beyond the top the first cell is repeated: shapes are not made of it, but a constant there would let compilers
         * turn a selection into an instruction that tells the zeros apart. */
        const REAL top = content[0] * ((REAL)1 / mass[0]);
        REAL m[AHEAD + 2], r[AHEAD + 2];
        MARCH now;
        PAIR above_shape = make_pair((REAL)0, (REAL)0);
        REAL inflow = (REAL)0;
        now.ratio = make_window(top, top, top, top, top);
        now.slope = (REAL)0;
        now.edge = (REAL)0;
        m[0] = (REAL)1;
        r[0] = (REAL)1;
        for (int n = 0; n <= AHEAD; n++) {
            m[n + 1] = n < levels ? mass[n * step] : (REAL)1;
            r[n + 1] = (REAL)1 / m[n + 1];
            if (n < AHEAD) now = march_on(now, n < levels ? content[n * step] * r[n + 1] : (REAL)0);
        }
        for (int k = 0; k < levels; k++) {
            const MARCH before = now;
            PAIR shape = make_pair((REAL)0, (REAL)0);
            REAL outflow = (REAL)0;
            now = march_on(now, k + AHEAD < levels ? content[(k + AHEAD) * step] * r[AHEAD + 1] : (REAL)0);
            if (k >= AHEAD && k + AHEAD < levels) shape = march_profile(before, now);
            if (k > 0) {
                const REAL through = scale * flux[k * (wide)field_stride];
                const TRIPLE face = nm_face_coefficients(through, m[0], m[1], r[0], r[1]);
                outflow = SCHEME_FLUX(face.m1, face.m0, before.ratio.v[2], above_shape, now.ratio.v[2], shape);
                if (counts && face.m2 > (REAL)1) COUNT(clamped);
                content[(k - 1) * step] = content[(k - 1) * step] + (inflow - outflow);
            }
            inflow = outflow;
            above_shape = shape;
            for (int n = 0; n <= AHEAD; n++) {
                m[n] = m[n + 1];
                r[n] = r[n + 1];
            }
            m[AHEAD + 1] = k + 1 + AHEAD < levels ? mass[(k + 1 + AHEAD) * step] : (REAL)1;
            r[AHEAD + 1] = (REAL)1 / m[AHEAD + 1];
        }
        content[(levels - 1) * step] = content[(levels - 1) * step] + (inflow - (REAL)0);
    }
}
