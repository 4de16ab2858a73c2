/* Air mass of a sweep and at window ends. */

/* m + (inflow - outflow) of every cell along i (axis 0) or j (axis 1), with the fluxes the tracers have just been moved by. */
KERNEL advance_air(GLOBAL REAL *state, GLOBAL const REAL *fluxes, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows,
                   VALUE(int, axis), VALUE(REAL, scale), VALUE(int, state_stride), VALUE(int, field_stride),
                   VALUE(int, first_level) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), j = ROW_J(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const wide level = first_level + GROUP(2);
        const int closed = TILE_CLOSED(t), cell = CELL(t, i, j);
        GLOBAL REAL *mass = state + (level * state_stride + TILE_STATE(t) + cell);
        GLOBAL const REAL *flux = fluxes + (level * field_stride + TILE_FIELD(t) + cell);
        const int step = axis == 0 ? 1 : TILE_PITCH(t);
        const int first = axis == 0 ? (i == 0 && (closed & CLOSED_WEST)) : (j == 0 && (closed & CLOSED_SOUTH));
        const int last = axis == 0 ? (i + 1 == TILE_NI(t) && (closed & CLOSED_EAST))
                                   : (j + 1 == TILE_NJ(t) && (closed & CLOSED_NORTH));
        const REAL inflow = first ? (REAL)0 : scale * flux[0];
        const REAL outflow = last ? (REAL)0 : scale * flux[step];
        mass[0] = mass[0] + (inflow - outflow);
    }
}

/* The same along k; nothing passes the top and the bottom. */
KERNEL advance_air_vertically(GLOBAL REAL *state, GLOBAL const REAL *fluxes, GLOBAL const int *RESTRICT tiles,
                              GLOBAL const int *RESTRICT rows, VALUE(int, levels), VALUE(REAL, scale), VALUE(int, state_stride),
                              VALUE(int, field_stride), GLOBAL const REAL *RESTRICT allowed, VALUE(int, part) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0), k = GROUP(2);
    if (i < TILE_NI(t)) {
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        GLOBAL REAL *mass = state + (k * (wide)state_stride + TILE_STATE(t) + cell);
        GLOBAL const REAL *flux = fluxes + (k * (wide)field_stride + TILE_FIELD(t) + cell);
        GLOBAL const REAL *may = allowed + (TILE_FIELD(t) + cell);
        const REAL inflow = k == 0 ? (REAL)0 : scale * PAIRED(part, may[0], flux[0]);
        const REAL outflow = k + 1 == levels ? (REAL)0 : scale * PAIRED(part, may[0], flux[field_stride]);
        mass[0] = mass[0] + (inflow - outflow);
    }
}

/* Sets the air mass to `start`, plus `tendency` if `at_end`. With `keep_ratios` tracers keep their mixing ratios, else
 * their masses. */
KERNEL reset_air(GLOBAL REAL *state, GLOBAL const REAL *start, GLOBAL const REAL *tendency, GLOBAL const int *RESTRICT tiles,
                 GLOBAL const int *RESTRICT rows, VALUE(int, at_end), VALUE(int, keep_ratios), VALUE(int, planes),
                 VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const wide level = GROUP(2);
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        const wide field = level * field_stride + TILE_FIELD(t) + cell;
        GLOBAL REAL *mass = state + (level * state_stride + TILE_STATE(t) + cell);
        const REAL before = mass[0];
        const REAL after = at_end ? start[field] + tendency[field] : start[field];
        mass[0] = after;
        if (keep_ratios)
            for (int p = 1; p < planes; p++)
                mass[p * TILE_PLANE(t)] =
                    nm_content_at_kept_ratio(mass[p * TILE_PLANE(t)], before, after, REAL_EPSILON);
    }
}

/* One plane of the packed state as a field; halos are left alone. */
KERNEL extract_plane(GLOBAL const REAL *state, GLOBAL REAL *field, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows,
                     VALUE(int, plane), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const wide level = GROUP(2);
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        field[level * field_stride + TILE_FIELD(t) + cell] =
            state[level * state_stride + TILE_STATE(t) + cell + plane * TILE_PLANE(t)];
    }
}

/* Decay of one tracer: content + decrement * content, rounded once. */
KERNEL decay(GLOBAL REAL *state, GLOBAL const int *tiles, GLOBAL const int *rows, VALUE(int, plane),
             VALUE(REAL, decrement), VALUE(int, state_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        GLOBAL REAL *content =
            state + (GROUP(2) * (wide)state_stride + TILE_STATE(t) + cell + plane * TILE_PLANE(t));
        content[0] = nm_decayed(content[0], decrement);
    }
}
