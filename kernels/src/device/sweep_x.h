/* Sweep along i. A group holds X_ROWS whole rows; lane l of a row stands for cell l - 1, so that the neighbours of the
 * first and the last cell have lanes too. In place: a row is read before any of it is written. */

#define X_SIDE (SCHEME_HALO - 1)
#define X_STRIDE (X_LANES + 4)

KERNEL sweep_x(GLOBAL REAL *state, GLOBAL const REAL *fluxes, GLOBAL const int *tiles, GLOBAL const int *rows,
               GLOBAL int *clamped, VALUE(int, row_count), VALUE(REAL, scale), VALUE(int, planes),
               VALUE(int, state_stride), VALUE(int, field_stride), VALUE(int, first_level) THREADS)
{
    SHARED REAL ratio[X_ROWS * X_STRIDE];
    SHARED REAL low[X_ROWS * X_STRIDE];
    SHARED REAL high[X_ROWS * X_STRIDE];
    SHARED REAL amount[X_ROWS * X_STRIDE];
    const int lane = LANE(0);
    const int row = GROUP(0) * X_ROWS + LANE(1);
    const int listed = row < row_count ? row : row_count - 1;
    const int t = ROW_TILE(listed), ni = TILE_NI(t), plane = TILE_PLANE(t);
    const wide level = first_level + GROUP(1);
    const int cell = CELL(t, lane - 1, ROW_J(listed));
    const int inside = row < row_count && lane < ni + 2;
    const int has_face = inside && lane > 0;
    const int has_cell = has_face && lane <= ni;
    /* Cells beyond the lanes: X_SIDE on either side. */
    const int has_extra = row < row_count && lane < 2 * X_SIDE;
    const int extra_at = lane < X_SIDE ? lane + 2 - X_SIDE : ni + 4 + lane - X_SIDE;
    const int extra = extra_at - 2 - lane;
    const int at = LANE(1) * X_STRIDE;
    GLOBAL REAL *mass = state + (level * state_stride + TILE_STATE(t) + cell);
    GLOBAL const REAL *flux = fluxes + (level * field_stride + TILE_FIELD(t) + cell);
    REAL reciprocal = (REAL)0, extra_reciprocal = (REAL)0, courant = (REAL)0, carrier = (REAL)0;

    if (inside) reciprocal = (REAL)1 / mass[0];
    if (has_extra) extra_reciprocal = (REAL)1 / mass[extra];
    if (has_face) {
        const int shut = (lane == 1 && (TILE_CLOSED(t) & CLOSED_WEST)) || (lane == ni + 1 && (TILE_CLOSED(t) & CLOSED_EAST));
        const REAL through = shut ? (REAL)0 : scale * flux[0];
        const TRIPLE face = nm_face_coefficients(through, mass[-1], mass[0], (REAL)1 / mass[-1], reciprocal);
        courant = face.m0;
        carrier = face.m1;
        if (has_cell && face.m2 > (REAL)1) COUNT(clamped);
    }
    for (int tracer = 1; tracer < planes; tracer++) {
        GLOBAL REAL *content = mass + tracer * plane;
        PAIR shape = make_pair((REAL)0, (REAL)0);
        REAL own = (REAL)0;
        if (inside) {
            own = content[0] * reciprocal;
            ratio[at + lane + 2] = own;
        }
        if (has_extra) ratio[at + extra_at] = content[extra] * extra_reciprocal;
        BARRIER();
        if (inside) {
#if !SCHEME_IS_DONOR
            shape = SCHEME_PROFILE(make_window(ratio[at + lane], ratio[at + lane + 1], own, ratio[at + lane + 3],
                                               ratio[at + lane + 4]));
#endif
            low[at + lane] = shape.m0;
            high[at + lane] = shape.m1;
        }
        BARRIER();
        if (has_face)
            amount[at + lane] = SCHEME_FLUX(carrier, courant, ratio[at + lane + 1],
                                            make_pair(low[at + lane - 1], high[at + lane - 1]), own, shape);
        BARRIER();
        if (has_cell) content[0] = content[0] + (amount[at + lane] - amount[at + lane + 1]);
    }
}
