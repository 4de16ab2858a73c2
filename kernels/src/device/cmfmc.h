/* Explicit convection by a cloud mass flux. Layers are compared with the cloud base as numbers. */

/* Fluxes and masses at or below this count as none. */
#define SMALLEST LITERAL(1e-6f, 1e-14)

/* Largest Courant number of the cloud mass flux in each row of columns; not a number where a flux is none. */
KERNEL cloud_courant(GLOBAL const REAL *RESTRICT state, GLOBAL const REAL *RESTRICT cloud_flux,
                     GLOBAL const REAL *RESTRICT areas, GLOBAL REAL *largest, GLOBAL const int *RESTRICT tiles,
                     GLOBAL const int *RESTRICT rows, VALUE(REAL, dt), VALUE(int, levels), VALUE(int, state_stride),
                     VALUE(int, field_stride) THREADS)
{
    SHARED REAL most[CLOUD_LANES];
    const int t = ROW_TILE(GROUP(0)), lane = LANE(0);
    REAL found = (REAL)0;
    for (int i = lane; i < TILE_NI(t); i += CLOUD_LANES) {
        const int cell = CELL(t, i, ROW_J(GROUP(0)));
        const wide air = TILE_STATE(t) + cell, place = TILE_FIELD(t) + cell;
        for (int e = 0; e <= levels; e++) {
            /* At the ends the only neighbour stands for both. */
            const REAL above = state[(e > 0 ? e - 1 : 0) * (wide)state_stride + air];
            const REAL below = state[(e < levels ? e : levels - 1) * (wide)state_stride + air];
            const REAL flux = cloud_flux[e * (wide)field_stride + place];
            found = nm_finite_max(found, nm_cloud_courant(flux, dt, above, below, areas[place]));
        }
    }
    most[lane] = found;
    BARRIER();
    for (int reach = CLOUD_LANES / 2; reach > 0; reach /= 2) {
        if (lane < reach) most[lane] = nm_finite_max(most[lane], most[lane + reach]);
        BARRIER();
    }
    if (lane == 0) largest[GROUP(0)] = most[0];
}

/* What is known of a column, one level of a field each: layer at cloud base, air flux through its bottom, air per area of
 * the mixed layer below (0 where it does not exchange), and whether it convects and keeps a ledger. */
#define CLOUD_BASE(n) bases[(n) * (wide)field_stride + place]
#define STILL (REAL)0
#define WITHOUT_LEDGER (REAL)1
#define WITH_LEDGER (REAL)2

#define BASE_OF_FLUX 0
#define BASE_ARCHIVED 1
#define BASE_AT_SURFACE 2

/* What all tracers of a column share: time step over air per area, flux through layer tops, air that leaves the plume or goes
 * on with it. */
KERNEL cmfmc_prepare(GLOBAL const REAL *RESTRICT state, GLOBAL const REAL *RESTRICT cloud_flux,
                     GLOBAL const REAL *RESTRICT detrainment, GLOBAL const REAL *RESTRICT archived_base,
                     GLOBAL const REAL *RESTRICT areas, GLOBAL REAL *rates, GLOBAL REAL *fluxes, GLOBAL REAL *leaving,
                     GLOBAL REAL *bases, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows,
                     VALUE(int, detrains), VALUE(int, base_rule), VALUE(int, clamped), VALUE(REAL, dt),
                     VALUE(int, levels), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        const REAL area = areas[place], lowest = (REAL)(levels - 1);
        GLOBAL const REAL *edge = cloud_flux + place;
        REAL base = lowest, base_flux = (REAL)0;
        PAIR mixed = make_pair((REAL)0, (REAL)0);
        int convects = 0, closed = !(REAL_ABS(edge[0]) > (REAL)0), exchanges;
        for (int k = 0; k < levels; k++) {
            if (REAL_ABS(edge[(k + 1) * (wide)field_stride]) > SMALLEST) {
                base = (REAL)k;
                convects = 1;
            }
        }
        if (base_rule == BASE_ARCHIVED) base = real_min(real_max(archived_base[place] - (REAL)1, (REAL)0), lowest);
        if (base_rule == BASE_AT_SURFACE) base = lowest;
        for (int k = levels - 1; k >= 0; k--) {
            const wide at = k * (wide)field_stride;
            const REAL mass = state[k * (wide)state_stride + air], per_area = mass / area;
            const REAL above = edge[at], under = edge[at + field_stride], below = k + 1 == levels ? (REAL)0 : under;
            const REAL detrained = detrains ? detrainment[at + place] : real_max(under - above, (REAL)0);
            const int above_base = (REAL)k <= base, used = above_base && convects;
            fluxes[at + place] = used ? above : (REAL)0;
            leaving[at + place] = used ? above + detrained : (REAL)0;
            rates[at + place] = per_area > SMALLEST ? dt / per_area : (REAL)0;
            closed = closed && mass > SMALLEST && per_area > SMALLEST;
            if ((REAL)k >= base && above_base) base_flux = below;
            if ((REAL)k > base) mixed = nm_compensated_add(mixed.m0, mixed.m1, per_area);
        }
        exchanges = convects && base_flux > SMALLEST && base < lowest;
        CLOUD_BASE(0) = base;
        CLOUD_BASE(1) = convects ? base_flux : (REAL)0;
        CLOUD_BASE(2) = exchanges ? mixed.m0 + mixed.m1 : (REAL)0;
        CLOUD_BASE(3) = !convects ? STILL : closed && !clamped ? WITH_LEDGER : WITHOUT_LEDGER;
    }
}

/* Mixing ratio of a layer; 0 with next to no air. */
#define CLOUD_RATIO(k) (masses[(k) * step] > SMALLEST ? contents[(k) * step] / masses[(k) * step] : (REAL)0)

/* One tracer through its sub-steps. Layers go up: one sees what entered below, and the air above as it was. */
KERNEL cmfmc_convect(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT areas, GLOBAL const REAL *RESTRICT rates,
                     GLOBAL const REAL *RESTRICT fluxes, GLOBAL const REAL *RESTRICT leaving,
                     GLOBAL const REAL *RESTRICT bases, GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused,
                     GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, substeps),
                     VALUE(int, base_first), VALUE(int, mass_flux), VALUE(int, clamped), VALUE(REAL, dt),
                     VALUE(int, levels), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(2))
    if (i < TILE_NI(t) && CLOUD_BASE(3) > STILL) {
        const wide step = state_stride, own = air + (GROUP(1) + 1) * TILE_PLANE(t);
        GLOBAL const REAL *masses = state + air;
        GLOBAL REAL *contents = state + own;
        const REAL area = areas[place], step_area = dt * area, cells = (REAL)levels;
        const REAL base = CLOUD_BASE(0), base_flux = CLOUD_BASE(1), mixed_air = CLOUD_BASE(2);
        const int exchanges = mixed_air > (REAL)0, settles = CLOUD_BASE(3) > WITHOUT_LEDGER;
        const REAL base_flux_mixed = exchanges ? base_flux : (REAL)0;
        for (int n = 0; n < substeps; n++) {
            ACCOUNT account = account_new((REAL)0);
            PAIR sum = make_pair((REAL)0, (REAL)0);
            REAL smallest_ratio = (REAL)0, background, at_base = (REAL)0;
            REAL mixed, plume, x, from_below = (REAL)0, flux_below = (REAL)0;
            for (int k = levels - 1; k >= 0; k--) {
                const REAL q = CLOUD_RATIO(k);
                account = account_open(account, contents[k * step]);
                smallest_ratio = k == levels - 1 ? q : real_min(smallest_ratio, q);
            }
            background = mass_flux ? smallest_ratio : (REAL)0;
            /* Mixed layer below cloud base, in a compensated sum. */
            for (int k = levels - 1; k >= 0; k--) {
                x = CLOUD_RATIO(k) - background;
                if ((REAL)k >= base && (REAL)k <= base) at_base = x;
                if (!((REAL)k > base)) break;
                sum = nm_compensated_add(sum.m0, sum.m1, x * (masses[k * step] / area));
            }
            mixed = nm_subcloud_ratio(sum.m0 + sum.m1, mixed_air, base_flux_mixed * dt, at_base);
            plume = mixed;
            x = CLOUD_RATIO(levels - 1) - background;
            for (int k = levels - 1; k >= 0; k--) {
                const wide at = k * (wide)field_stride + place;
                const REAL above = k == 0 ? (REAL)0 : CLOUD_RATIO(k - 1) - background;
                const REAL content = contents[k * step], mass = masses[k * step];
                const REAL rate = rates[at], flux = fluxes[at];
                const int below_base = (REAL)k > base, is_base = (REAL)k >= base && (REAL)k <= base;
                const int is_mixed = below_base && exchanges;
                REAL environment, risen, to_above, after;
                /* The mixed layer delivers its exchange as if it were a flux through cloud base. */
                if (is_base) from_below = exchanges ? base_flux_mixed * (mixed - x) : (REAL)0;
                environment = is_base && base_first ? x + rate * from_below : x;
                risen = nm_plume_ratio(is_base ? base_flux : flux_below, leaving[at], plume, environment, SMALLEST);
                plume = below_base ? plume : risen;
                to_above = below_base ? (REAL)0 : flux * (plume - above);
                if (mass_flux) {
                    const REAL moved = (content + step_area * from_below) - step_area * to_above;
                    after = is_mixed ? content + mass * (mixed - x) : moved;
                } else {
                    const REAL moved = is_mixed ? mixed : x + rate * (from_below - to_above);
                    after = REAL_ABS(moved - x) > (REAL)0 ? moved * mass : content;
                }
                if (clamped) after = real_max(after, (REAL)0);
                contents[k * step] = after;
                account = account_close(account, k, after, 1);
                x = above;
                from_below = to_above;
                flux_below = flux;
            }
            if (clamped) {
                /* Scaled to the tracer before, where anything is left. */
                const REAL before = account.before.m0 + account.before.m1, left = account.after.m0 + account.after.m1;
                if (left > (REAL)0 && REAL_ABS(before - left) > (REAL)0)
                    for (int k = 0; k < levels; k++) contents[k * step] = contents[k * step] * (before / left);
            } else if (settles) {
                const REAL settled = account_settle(account, cells, carry + own, returned + own, refused);
                if (ACCOUNT_DUE(account, cells)) contents[account.layer * step] = settled;
            }
        }
    }
}
