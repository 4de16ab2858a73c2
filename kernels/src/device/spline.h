/* Vertical sweeps with spline profiles: rows of the tridiagonal systems once for all tracers, an elimination down a column,
 * then one march up it. What lies between is in memory: `levels` values of a field for the edges of a column. */

/* The rows of a column: `levels + 1` values of three fields. */
KERNEL spline_rows(GLOBAL const REAL *RESTRICT state, GLOBAL REAL *ratios, GLOBAL REAL *pivots, GLOBAL REAL *uppers,
                   GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, levels),
                   VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        GLOBAL const REAL *masses = state + (TILE_STATE(t) + cell);
        wide at = TILE_FIELD(t) + cell;
        REAL mass = masses[0];
        TRIPLE row = nm_spline_top(mass, masses[state_stride]);
        for (int k = 0; k <= levels; k++) {
            if (k == levels) {
                row = nm_spline_bottom(row.m0, row.m2);
            } else if (k > 0) {
                const REAL above = mass;
                mass = masses[k * (wide)state_stride];
                row = nm_spline_row(above, mass, row.m2);
            }
            ratios[at] = row.m0;
            pivots[at] = row.m1;
            uppers[at] = row.m2;
            at += field_stride;
        }
    }
}

/* Sweep of some tracers, in place behind the march. `signs` is 1 for tracers of any sign; `edges` has `levels` values for each
 * column and tracer of a launch. */
KERNEL sweep_spline(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT fluxes, GLOBAL const REAL *RESTRICT ratios,
                    GLOBAL const REAL *RESTRICT pivots, GLOBAL const REAL *RESTRICT uppers, GLOBAL REAL *edges,
                    GLOBAL const REAL *RESTRICT allowed, GLOBAL const int *RESTRICT signs, GLOBAL const int *RESTRICT tiles,
                    GLOBAL const int *RESTRICT rows, GLOBAL int *clamped, VALUE(REAL, scale), VALUE(int, part),
                    VALUE(int, first_tracer), VALUE(int, levels), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(2)), i = GROUP(0) * WIDTH(0) + LANE(0), tracer = first_tracer + GROUP(1);
    if (i < TILE_NI(t)) {
        const wide step = state_stride, field_step = field_stride;
        const int cell = CELL(t, i, ROW_J(GROUP(2))), any_sign = signs[tracer];
        const wide place = TILE_FIELD(t) + cell;
        GLOBAL const REAL *masses = state + (TILE_STATE(t) + cell);
        GLOBAL REAL *contents = state + (TILE_STATE(t) + cell + (tracer + 1) * TILE_PLANE(t));
        GLOBAL const REAL *ratio = ratios + place, *pivot = pivots + place, *upper = uppers + place;
        GLOBAL const REAL *flux = fluxes + place;
        GLOBAL REAL *reduced = edges + (GROUP(1) * (wide)levels * field_stride + place);
        const REAL zero = (REAL)0;
        REAL q_above = contents[0] * ((REAL)1 / masses[0]), q = contents[step] * ((REAL)1 / masses[step]);
        REAL value = nm_spline_start(q_above, q, ratio[0], pivot[0]), edge, outflow = zero, content = zero;
        REAL w0, w1, w2, w3 = zero, w4 = zero;
        PAIR below = make_pair(zero, zero);
        int over = 0;

        reduced[0] = value;
        for (int k = 1; k < levels; k++) {
            if (k > 1) {
                q_above = q;
                q = contents[k * step] * ((REAL)1 / masses[k * step]);
            }
            value = nm_spline_forward(q_above, q, value, ratio[k * field_step], pivot[k * field_step]);
            reduced[k * field_step] = value;
        }
        value = nm_spline_finish(q_above, q, value, ratio[levels * field_step], pivot[levels * field_step],
                                 upper[levels * field_step]);
        edge = any_sign ? value : real_max(value, zero);
        w2 = q;
        w1 = q_above;
        w0 = contents[(levels - 3) * step] * ((REAL)1 / masses[(levels - 3) * step]);
        for (int k = levels - 1; k >= 0; k--) {
            const int at_end = k == 0 || k == levels - 1, beside_end = k == 1 || k == levels - 2;
            const REAL own = contents[k * step];
            REAL top;
            PAIR limited, shape;
            value = nm_tridiagonal_backward(reduced[k * field_step], upper[k * field_step], value);
            if (k == 0) {
                top = any_sign ? value : real_max(value, zero);
            } else if (k == 1 || k == levels - 1) {
                top = nm_edge_between(w1, w2, value);
            } else {
                top = any_sign ? nm_edge_spline(w0, w1, w2, w3, value) : nm_edge_spline_positive(w0, w1, w2, w3, value);
            }
            if (at_end) {
                limited = nm_layer_at_end(w2, top, edge);
            } else if (beside_end) {
                limited = nm_layer_beside_end(w1, w2, w3, top, edge);
            } else {
                limited = nm_cell_huynh(make_window(w0, w1, w2, w3, w4), top, edge);
                if (!any_sign) limited = nm_layer_positive(w2, limited.m0, limited.m1);
            }
            edge = top;
            shape = make_pair(limited.m0 - w2, limited.m1 - w2);
            if (k + 1 < levels) {
                const REAL mass_above = masses[k * step], mass_below = masses[(k + 1) * step];
                const REAL through = scale * PAIRED(part, allowed[place], flux[(k + 1) * field_step]);
                const TRIPLE face = nm_face_coefficients(through, mass_above, mass_below, (REAL)1 / mass_above,
                                                         (REAL)1 / mass_below);
                REAL passes = nm_flux_parabola(face.m1, face.m0, w2, shape, w3, below);
                if (!any_sign) passes = nm_flux_within_content(passes, own, nm_held_after(content, outflow));
                over += face.m2 > (REAL)1;
                contents[(k + 1) * step] = content + (passes - outflow);
                outflow = passes;
            }
            content = own;
            below = shape;
            w4 = w3;
            w3 = w2;
            w2 = w1;
            w1 = w0;
            if (k >= 3) w0 = contents[(k - 3) * step] * ((REAL)1 / masses[(k - 3) * step]);
        }
        contents[0] = content + (zero - outflow);
        if (tracer == 0 && over > 0) COUNT(clamped, over);
    }
}
