/* Sweep along i. A group holds X_ROWS whole rows; lane l of a row stands for cell l - SCHEME_HALO. In place: a row is read
 * before any of it is written. If `booked`, what every cell gains and what passes through both its faces is added to `gains`
 * and `throughs`, which lie like the state. */

#define X_STRIDE (X_LANES + 4)

KERNEL sweep_x(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT fluxes, GLOBAL const int *RESTRICT tiles,
               GLOBAL const int *RESTRICT rows, GLOBAL int *clamped, VALUE(int, row_count), VALUE(REAL, scale),
               VALUE(int, planes), VALUE(int, state_stride), VALUE(int, field_stride), VALUE(int, first_level),
               GLOBAL REAL *gains, GLOBAL REAL *throughs, VALUE(int, booked) THREADS)
{
    SHARED REAL ratios[X_ROWS * X_STRIDE];
    SHARED REAL low[X_ROWS * X_STRIDE];
    SHARED REAL high[X_ROWS * X_STRIDE];
    SHARED REAL amounts[X_ROWS * X_STRIDE];
    const int row = GROUP(0) * X_ROWS + LANE(1);
    const int listed = row < row_count ? row : row_count - 1;
    const int t = ROW_TILE(listed), plane = TILE_PLANE(t), closed = TILE_CLOSED(t);
    /* Lanes of the first cell, of the first one behind the last cell, and behind the last halo cell. */
    const int first = SCHEME_HALO;
    const int behind = row < row_count ? first + TILE_NI(t) : -SCHEME_HALO;
    const int end = behind + SCHEME_HALO;
    const wide level = first_level + GROUP(1);
    const int cell = CELL(t, -SCHEME_HALO, ROW_J(listed));
    GLOBAL REAL *mass = state + (level * state_stride + TILE_STATE(t) + cell);
    GLOBAL const REAL *flux = fluxes + (level * field_stride + TILE_FIELD(t) + cell);
    SHARED_POINTER REAL *ratio = ratios + (LANE(1) * X_STRIDE + 2);
    SHARED_POINTER REAL *edge_low = low + LANE(1) * X_STRIDE;
    SHARED_POINTER REAL *edge_high = high + LANE(1) * X_STRIDE;
    SHARED_POINTER REAL *amount = amounts + LANE(1) * X_STRIDE;
    REAL PER_LANE(reciprocal, X_LANES), PER_LANE(courant, X_LANES), PER_LANE(carrier, X_LANES);
    REAL PER_LANE(own, X_LANES), PER_LANE(own_low, X_LANES), PER_LANE(own_high, X_LANES);
    int PER_LANE(over, X_LANES);
    THIS_LANE(lane);

    EACH_LANE(lane, 0, end) { OF(reciprocal) = (REAL)1 / mass[lane]; }
    EACH_LANE(lane, first, behind + 1) {
        const int shut = (lane == first && (closed & CLOSED_WEST)) || (lane == behind && (closed & CLOSED_EAST));
        const REAL through = shut ? (REAL)0 : scale * flux[lane];
        const TRIPLE face = nm_face_coefficients(through, mass[lane - 1], mass[lane], (REAL)1 / mass[lane - 1],
                                                 OF(reciprocal));
        OF(courant) = face.m0;
        OF(carrier) = face.m1;
        OF(over) = face.m2 > (REAL)1;
    }
    EACH_LANE_APART(lane, first, behind) {
        if (OF(over)) COUNT(clamped, 1);
    }
    for (int tracer = 1; tracer < planes; tracer++) {
        GLOBAL REAL *content = mass + tracer * plane;
        EACH_LANE(lane, 0, end) {
            OF(own) = content[lane] * OF(reciprocal);
            ratio[lane] = OF(own);
        }
        LANE_BARRIER();
        EACH_LANE(lane, first - 1, behind + 1) {
#if SCHEME_IS_DONOR || SCHEME_IS_SWEPT
            const PAIR shape = make_pair((REAL)0, (REAL)0);
#else
            const PAIR shape = SCHEME_PROFILE(make_window(ratio[lane - 2], ratio[lane - 1], OF(own), ratio[lane + 1],
                                                          ratio[lane + 2]));
#endif
            OF(own_low) = shape.m0;
            OF(own_high) = shape.m1;
            edge_low[lane] = shape.m0;
            edge_high[lane] = shape.m1;
        }
        LANE_BARRIER();
        EACH_LANE(lane, first, behind + 1) {
#if SCHEME_IS_SWEPT
            amount[lane] = SCHEME_FACE(OF(carrier), OF(courant), ratio[lane - 3],
                                       make_window(ratio[lane - 2], ratio[lane - 1], OF(own), ratio[lane + 1],
                                                   ratio[lane + 2]));
#else
            amount[lane] = SCHEME_FLUX(OF(carrier), OF(courant), ratio[lane - 1],
                                       make_pair(edge_low[lane - 1], edge_high[lane - 1]), OF(own),
                                       make_pair(OF(own_low), OF(own_high)));
#endif
        }
        LANE_BARRIER();
        EACH_LANE(lane, first, behind) { content[lane] = content[lane] + (amount[lane] - amount[lane + 1]); }
        if (booked) {
            const wide at = level * state_stride + TILE_STATE(t) + cell + tracer * plane;
            GLOBAL REAL *gain = gains + at, *through = throughs + at;
            EACH_LANE(lane, first, behind) {
                gain[lane] = gain[lane] + (amount[lane] - amount[lane + 1]);
                through[lane] = through[lane] + (amount[lane] + amount[lane + 1]);
            }
        }
    }
}
