/* Vertical diffusion: factors that all tracers of a column share, then a lane for every column and tracer. Tracers of the
 * same columns run side by side, so that factors are still in a cache. */

/* Exchange of a step through the lower interface of a layer. */
#define STEP_EXCHANGE(value, mass, below) \
    (dt * (per_rate ? nm_exchange_from_rate(mass, below, value) : (value)))

/* Ratios of the transfers through the lower interface: out of a layer downward and out of the one below upward. */
INLINE PAIR layer_ratios(REAL step, REAL mass, REAL below, REAL above)
{
    return nm_transfer_ratios(nm_exchange_ratio(step, mass), nm_exchange_ratio(step, below), above);
}

/* Shares of the transfers down and up, and per column the cells of its ledger, 0 where none is kept. */
KERNEL diffusion_factors(GLOBAL const REAL *RESTRICT state, GLOBAL const REAL *RESTRICT exchange, GLOBAL REAL *down,
                         GLOBAL REAL *up, GLOBAL REAL *cells, GLOBAL const int *RESTRICT tiles,
                         GLOBAL const int *RESTRICT rows, VALUE(int, per_rate), VALUE(REAL, dt), VALUE(int, levels),
                         VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        REAL above = (REAL)0, count = (REAL)0, full = (REAL)1, mass = state[air];
        for (int k = 0; k < levels; k++) {
            const wide at = k * (wide)field_stride + place;
            PAIR ratios = make_pair((REAL)0, (REAL)0);
            REAL below = (REAL)0;
            if (k + 1 < levels) {
                below = state[(k + 1) * (wide)state_stride + air];
                ratios = layer_ratios(STEP_EXCHANGE(exchange[at], mass, below), mass, below, above);
            }
            down[at] = nm_partition_share(ratios.m0);
            up[at] = nm_partition_share(above);
            count = count + (ratios.m0 > (REAL)0 || above > (REAL)0 ? (REAL)1 : (REAL)0);
            full = mass > (REAL)0 ? full : (REAL)0;
            above = ratios.m1;
            mass = below;
        }
        cells[place] = count * full;
    }
}

/* Contents of a column before a solve, and the background that is taken off it. */
typedef struct {
    ACCOUNT account;
    REAL background;
    STRUCT_END
} OPENED;

/* In the order of the upward pass: two sums of nearly equal terms in one order have nearly equal errors. */
INLINE OPENED mass_space_open(GLOBAL const REAL *masses, GLOBAL const REAL *contents, wide step, int levels)
{
    OPENED opened;
    REAL lowest = LARGEST, highest = -LARGEST;
    int full = 1;
    opened.account = account_new((REAL)0);
    for (int k = levels - 1; k >= 0; k--) {
        const REAL content = contents[k * step], mass = masses[k * step], ratio = nm_mixing_ratio(content, mass);
        opened.account = account_open(opened.account, content);
        lowest = real_min(lowest, ratio);
        highest = real_max(ratio, highest);
        full = full && mass > (REAL)0;
    }
    opened.background = full ? nm_background_ratio(lowest, highest) : (REAL)0;
    return opened;
}

/* A layer with air whose interfaces are closed is left as it is; one without air loses what it holds. */
#define LAYER_EXCHANGES(down, up, mass) \
    (REAL_ABS(down) > (REAL)0 || REAL_ABS(up) > (REAL)0 || (mass) <= (REAL)0)

/* What a layer sends down, the rest of its content being stored. */
INLINE PAIR mass_space_down(GLOBAL REAL *content, REAL mass, REAL background, PAIR arrives, REAL down, REAL up)
{
    const REAL departure = nm_content_above_background(*content, mass, background);
    const TRIPLE parts = nm_partition(departure, arrives.m0, arrives.m1, down);
    if (LAYER_EXCHANGES(down, up, mass)) *content = parts.m0;
    return make_pair(parts.m1, parts.m2);
}

/* The way up and the ledger. */
INLINE void mass_space_up(OPENED opened, GLOBAL const REAL *masses, GLOBAL REAL *contents, wide step,
                          GLOBAL const REAL *down, GLOBAL const REAL *up, wide field_step, int levels, REAL cells,
                          GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused)
{
    ACCOUNT account = opened.account;
    PAIR arrives = make_pair((REAL)0, (REAL)0);
    REAL settled;
    for (int k = levels - 1; k >= 0; k--) {
        const REAL content = contents[k * step], mass = masses[k * step], share = up[k * field_step];
        const TRIPLE parts = nm_partition(content, arrives.m0, arrives.m1, share);
        const int exchanges = LAYER_EXCHANGES(down[k * field_step], share, mass);
        const REAL after = exchanges ? nm_content_on_background(parts.m0, mass, opened.background) : content;
        contents[k * step] = after;
        account = account_close(account, k, after, exchanges);
        arrives = make_pair(parts.m1, parts.m2);
    }
    settled = account_settle(account, cells, carry, returned, refused);
    if (ACCOUNT_DUE(account, cells)) contents[account.layer * step] = settled;
}

/* Mass-space solve of every tracer. */
KERNEL diffuse(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT down, GLOBAL const REAL *RESTRICT up,
               GLOBAL const REAL *RESTRICT cells, GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused,
               GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, levels),
               VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(2))
    if (i < TILE_NI(t)) {
        const wide step = state_stride, own = air + (GROUP(1) + 1) * TILE_PLANE(t);
        GLOBAL const REAL *masses = state + air;
        GLOBAL REAL *contents = state + own;
        const OPENED opened = mass_space_open(masses, contents, step, levels);
        PAIR arrives = make_pair((REAL)0, (REAL)0);
        for (int k = 0; k < levels; k++) {
            const wide at = k * (wide)field_stride + place;
            arrives = mass_space_down(contents + k * step, masses[k * step], opened.background, arrives, down[at], up[at]);
        }
        mass_space_up(opened, masses, contents, step, down + place, up + place, field_stride, levels, cells[place],
                      carry + own, returned + own, refused);
    }
}

/* The same for a single tracer, with the factors on the way down. */
KERNEL diffuse_single(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT exchange, GLOBAL REAL *down, GLOBAL REAL *up,
                      GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused, GLOBAL const int *RESTRICT tiles,
                      GLOBAL const int *RESTRICT rows, VALUE(int, per_rate), VALUE(REAL, dt), VALUE(int, levels),
                      VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        const wide step = state_stride, own = air + TILE_PLANE(t);
        GLOBAL const REAL *masses = state + air;
        GLOBAL REAL *contents = state + own;
        const OPENED opened = mass_space_open(masses, contents, step, levels);
        PAIR arrives = make_pair((REAL)0, (REAL)0);
        REAL above = (REAL)0, count = (REAL)0, full = (REAL)1, mass = masses[0];
        for (int k = 0; k < levels; k++) {
            const wide at = k * (wide)field_stride + place;
            PAIR ratios = make_pair((REAL)0, (REAL)0);
            REAL below = (REAL)0;
            if (k + 1 < levels) {
                below = masses[(k + 1) * step];
                ratios = layer_ratios(STEP_EXCHANGE(exchange[at], mass, below), mass, below, above);
            }
            down[at] = nm_partition_share(ratios.m0);
            up[at] = nm_partition_share(above);
            count = count + (ratios.m0 > (REAL)0 || above > (REAL)0 ? (REAL)1 : (REAL)0);
            full = mass > (REAL)0 ? full : (REAL)0;
            arrives = mass_space_down(contents + k * step, mass, opened.background, arrives, down[at], up[at]);
            above = ratios.m1;
            mass = below;
        }
        mass_space_up(opened, masses, contents, step, down + place, up + place, field_stride, levels, count * full,
                      carry + own, returned + own, refused);
    }
}

/* Rows of the tridiagonal system, eliminated from the top, the exchange of the step, and the cells of the ledger. */
KERNEL flux_form_factors(GLOBAL const REAL *RESTRICT state, GLOBAL const REAL *RESTRICT exchange, GLOBAL REAL *steps,
                         GLOBAL REAL *lowers, GLOBAL REAL *pivots, GLOBAL REAL *uppers, GLOBAL REAL *cells,
                         GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, per_rate),
                         VALUE(REAL, dt), VALUE(int, levels), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        REAL above = (REAL)0, upper_above = (REAL)0, count = (REAL)0, mass = state[air];
        for (int k = 0; k < levels; k++) {
            const wide at = k * (wide)field_stride + place;
            REAL below = (REAL)0, mass_below = (REAL)0;
            TRIPLE factors;
            if (k + 1 < levels) {
                mass_below = state[(k + 1) * (wide)state_stride + air];
                below = nm_open_exchange(STEP_EXCHANGE(exchange[at], mass, mass_below), mass, mass_below);
            }
            factors = nm_tridiagonal_factors(above, below, mass, upper_above);
            steps[at] = below;
            lowers[at] = factors.m0;
            pivots[at] = factors.m1;
            uppers[at] = factors.m2;
            count = count + (above > (REAL)0 || below > (REAL)0 ? (REAL)1 : (REAL)0);
            above = below;
            upper_above = factors.m2;
            mass = mass_below;
        }
        cells[place] = count;
    }
}

/* Elimination from the top into `reduced`; the smallest mixing ratio, above which the solution counts. Intermediate
 * values are in memory, a field for each tracer of a launch: arrays of lanes would be in memory too, at places that
 * compilers choose, and their length would have to be known to them. */
INLINE REAL flux_form_eliminate(GLOBAL const REAL *masses, GLOBAL const REAL *contents, wide step, GLOBAL REAL *reduced,
                                GLOBAL const REAL *lowers, GLOBAL const REAL *pivots, wide field_step, int levels)
{
    REAL lowest = LARGEST, above = (REAL)0;
    for (int k = 0; k < levels; k++) {
        const REAL mass = masses[k * step], ratio = nm_mixing_ratio(contents[k * step], mass);
        if (mass > (REAL)0) lowest = real_min(lowest, ratio);
    }
    for (int k = 0; k < levels; k++) {
        const REAL mass = masses[k * step], ratio = nm_mixing_ratio(contents[k * step], mass);
        const REAL departure = mass > (REAL)0 ? ratio - lowest : (REAL)0;
        above = nm_tridiagonal_forward(departure, lowers[k * field_step], pivots[k * field_step], above);
        reduced[k * field_step] = above;
    }
    return lowest;
}

/* Tridiagonal solve of some tracers whose fluxes move their contents. */
KERNEL diffuse_flux_form(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT steps, GLOBAL const REAL *RESTRICT lowers,
                         GLOBAL const REAL *RESTRICT pivots, GLOBAL const REAL *RESTRICT uppers,
                         GLOBAL const REAL *RESTRICT cells, GLOBAL REAL *scratch, GLOBAL REAL *carry,
                         GLOBAL REAL *returned, GLOBAL int *refused, GLOBAL const int *RESTRICT tiles,
                         GLOBAL const int *RESTRICT rows, VALUE(int, first_tracer), VALUE(int, levels),
                         VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(2))
    if (i < TILE_NI(t)) {
        const wide step = state_stride, own = air + (first_tracer + GROUP(1) + 1) * TILE_PLANE(t);
        GLOBAL REAL *contents = state + own;
        GLOBAL REAL *reduced = scratch + (GROUP(1) * (wide)levels * field_stride + place);
        ACCOUNT account = account_new((REAL)0);
        REAL solution = (REAL)0, outflow = (REAL)0, leaves = (REAL)0, settled;
        flux_form_eliminate(state + air, contents, step, reduced, lowers + place, pivots + place, field_stride, levels);
        solution = reduced[(levels - 1) * (wide)field_stride];
        /* Every flux moves as soon as it is known; without exchange a layer keeps its bits. */
        for (int k = levels - 1; k >= 0; k--) {
            const REAL content = contents[k * step];
            REAL inflow = (REAL)0, enters = (REAL)0, after;
            int exchanges;
            if (k > 0) {
                const wide at = (k - 1) * (wide)field_stride;
                const REAL below = solution;
                solution = nm_tridiagonal_backward(reduced[at], uppers[at + place], below);
                inflow = steps[at + place];
                enters = nm_diffusive_flux(inflow, solution, below);
            }
            exchanges = inflow > (REAL)0 || outflow > (REAL)0;
            after = exchanges ? nm_flux_update(content, enters, leaves) : content;
            contents[k * step] = after;
            account = account_open(account, content);
            account = account_close(account, k, after, exchanges);
            outflow = inflow;
            leaves = enters;
        }
        settled = account_settle(account, cells[place], carry + own, returned + own, refused);
        if (ACCOUNT_DUE(account, cells[place])) contents[account.layer * step] = settled;
    }
}

/* The same solve with contents written back as mass times mixing ratio. */
KERNEL diffuse_matrix_form(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT lowers, GLOBAL const REAL *RESTRICT pivots,
                           GLOBAL const REAL *RESTRICT uppers, GLOBAL REAL *scratch, GLOBAL const int *RESTRICT tiles,
                           GLOBAL const int *RESTRICT rows, VALUE(int, first_tracer), VALUE(int, levels),
                           VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(2))
    if (i < TILE_NI(t)) {
        const wide step = state_stride, own = air + (first_tracer + GROUP(1) + 1) * TILE_PLANE(t);
        GLOBAL const REAL *masses = state + air;
        GLOBAL REAL *contents = state + own;
        GLOBAL REAL *reduced = scratch + (GROUP(1) * (wide)levels * field_stride + place);
        const REAL lowest =
            flux_form_eliminate(masses, contents, step, reduced, lowers + place, pivots + place, field_stride, levels);
        REAL solution = (REAL)0;
        for (int k = levels - 1; k >= 0; k--) {
            const REAL mass = masses[k * step];
            const wide at = k * (wide)field_stride;
            solution = nm_tridiagonal_backward(reduced[at], uppers[at + place], solution);
            if (mass > (REAL)0) contents[k * step] = mass * (solution + lowest);
        }
    }
}
