/* What is looked for between windows. One group per row and level; the host finds the first among the rows. */

#define LARGEST LITERAL(3.4028235e38f, 1.7976931348623157e308)

/* Largest outflow budget of a row and the first cell that has it; LARGEST where mass or fluxes are unusable. */
KERNEL largest_outflow(GLOBAL const REAL *state, GLOBAL const REAL *fluxes_x, GLOBAL const REAL *fluxes_y,
                       GLOBAL const REAL *fluxes_z, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, GLOBAL REAL *ratios,
                       GLOBAL int *cells, VALUE(int, row_count), VALUE(REAL, scale), VALUE(int, state_stride),
                       VALUE(int, field_stride) THREADS)
{
    SHARED REAL most[SCAN_LANES];
    SHARED int first[SCAN_LANES];
    const int t = ROW_TILE(GROUP(0)), lane = LANE(0);
    const wide level = GROUP(1);
    REAL ratio = (REAL)0;
    int found = 0;
    for (int i = lane; i < TILE_NI(t); i += SCAN_LANES) {
        const int cell = CELL(t, i, ROW_J(GROUP(0)));
        const wide at = level * field_stride + TILE_FIELD(t) + cell;
        const REAL mass = state[level * state_stride + TILE_STATE(t) + cell];
        const REAL here =
            nm_outflow_ratio(mass, scale, fluxes_x[at], fluxes_x[at + 1], fluxes_y[at],
                             fluxes_y[at + TILE_PITCH(t)], fluxes_z[at], fluxes_z[at + field_stride]);
        const int sound = here - here == (REAL)0 && mass > (REAL)0 && mass - mass == (REAL)0;
        const REAL value = sound ? here : LARGEST;
        if (value > ratio) {
            ratio = value;
            found = i;
        }
    }
    most[lane] = ratio;
    first[lane] = found;
    BARRIER();
    for (int reach = SCAN_LANES / 2; reach > 0; reach /= 2) {
        if (lane < reach) {
            const int other = lane + reach;
            if (most[other] > most[lane] || (most[other] == most[lane] && first[other] < first[lane])) {
                most[lane] = most[other];
                first[lane] = first[other];
            }
        }
        BARRIER();
    }
    if (lane == 0) {
        ratios[level * row_count + GROUP(0)] = most[0];
        cells[level * row_count + GROUP(0)] = first[0];
    }
}

#define NO_CELL 0x7fffffff
#define CELLS_OF_A_ROW 65536

/* First unusable value of a row: plane * CELLS_OF_A_ROW + i, NO_CELL if all are sound. Air is to be positive, everything
 * finite. */
KERNEL first_unusable(GLOBAL const REAL *state, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, GLOBAL int *found,
                      VALUE(int, row_count), VALUE(int, planes), VALUE(int, state_stride) THREADS)
{
    SHARED int first[SEARCH_LANES];
    const int t = ROW_TILE(GROUP(0)), lane = LANE(0);
    const wide level = GROUP(1);
    int key = NO_CELL;
    for (int i = lane; i < TILE_NI(t); i += SEARCH_LANES) {
        GLOBAL const REAL *value = state + (level * state_stride + TILE_STATE(t) + CELL(t, i, ROW_J(GROUP(0))));
        for (int p = planes - 1; p >= 0; p--) {
            const REAL x = value[p * TILE_PLANE(t)];
            const int here = p * CELLS_OF_A_ROW + i;
            if (!(x - x == (REAL)0 && (p > 0 || x > (REAL)0)) && here < key) key = here;
        }
    }
    first[lane] = key;
    BARRIER();
    for (int reach = SEARCH_LANES / 2; reach > 0; reach /= 2) {
        if (lane < reach && first[lane + reach] < first[lane]) first[lane] = first[lane + reach];
        BARRIER();
    }
    if (lane == 0) found[level * row_count + GROUP(0)] = first[0];
}

/* Exact sums. A value is an integer times a power of two; it is added to limbs of 32 bits with a sign and 31 bits of head
 * room, each lane to limbs of its own. Integers have no rounding, so the order does not matter. After the limbs come the
 * counts of NaN, +inf and -inf. */
#ifdef REAL_IS_FLOAT64
#define VALUE_LIMBS 68
#else
/* Limb 0 starts at 2^-178, limb 28 of double precision. */
#define VALUE_LIMBS 11
#endif
#define SUM_LIMBS (VALUE_LIMBS + 3)

INLINE void sum_deposit(SHARED_POINTER wide *limbs, word digits, int position, int negative)
{
    const long_word shifted = (long_word)digits << (position % 32);
    const wide low = (wide)(shifted & 0xffffffffu), high = (wide)(shifted >> 32);
    const int limb = position / 32;
    limbs[limb * SUM_LANES] += negative ? -low : low;
    limbs[(limb + 1) * SUM_LANES] += negative ? -high : high;
}

INLINE void sum_add(SHARED_POINTER wide *limbs, REAL x)
{
#ifdef REAL_IS_FLOAT64
    const long_word bits = BITS64(x);
    const int negative = (int)(bits >> 63), exponent = (int)((bits >> 52) & 0x7ff), special = exponent == 0x7ff;
    const long_word fraction = bits & 0xfffffffffffffu;
    const long_word digits = exponent > 0 ? fraction | 0x10000000000000u : fraction;
    const int position = exponent > 0 ? exponent - 1 : 0;
#else
    const word bits = BITS32(x);
    const int negative = (int)(bits >> 31), exponent = (int)((bits >> 23) & 0xff), special = exponent == 0xff;
    const word fraction = bits & 0x7fffffu;
    const word digits = exponent > 0 ? fraction | 0x800000u : fraction;
    const int position = (exponent > 0 ? exponent - 1 : 0) + 29;
#endif
    if (special) {
        const int kind = fraction != 0 ? 0 : 1 + negative;
        limbs[(VALUE_LIMBS + kind) * SUM_LANES] += 1;
    } else {
#ifdef REAL_IS_FLOAT64
        sum_deposit(limbs, (word)(digits & 0xffffffffu), position, negative);
        sum_deposit(limbs, (word)(digits >> 32), position + 32, negative);
#else
        sum_deposit(limbs, digits, position, negative);
#endif
    }
}

/* Sum of a plane over one row of columns. */
KERNEL exact_sums(GLOBAL const REAL *state, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, GLOBAL wide *sums,
                   VALUE(int, row_count), VALUE(int, levels), VALUE(int, state_stride) THREADS)
{
    SHARED wide limbs[SUM_LIMBS * SUM_LANES];
    const int t = ROW_TILE(GROUP(0)), lane = LANE(0), p = GROUP(1);
    for (int n = 0; n < SUM_LIMBS; n++) limbs[n * SUM_LANES + lane] = 0;
    for (int k = 0; k < levels; k++)
        for (int i = lane; i < TILE_NI(t); i += SUM_LANES)
            sum_add(limbs + lane,
                    state[k * (wide)state_stride + TILE_STATE(t) + CELL(t, i, ROW_J(GROUP(0))) + p * TILE_PLANE(t)]);
    BARRIER();
    for (int n = lane; n < SUM_LIMBS; n += SUM_LANES) {
        wide sum = 0;
        for (int other = 0; other < SUM_LANES; other++) sum += limbs[n * SUM_LANES + other];
        sums[((wide)p * row_count + GROUP(0)) * SUM_LIMBS + n] = sum;
    }
}

/* Sum of every column of every plane from the top down, in two levels that lie like those of the state: the sum, and
 * what its rounding dropped; halos are left alone. If `emptied`, the cells are 0 afterwards. */
KERNEL column_sums(GLOBAL REAL *state, GLOBAL REAL *columns, GLOBAL const int *tiles, GLOBAL const int *rows,
                   VALUE(int, levels), VALUE(int, state_stride), VALUE(int, emptied) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const int cell = TILE_STATE(t) + CELL(t, i, ROW_J(GROUP(1))) + GROUP(2) * TILE_PLANE(t);
        PAIR sum = make_pair((REAL)0, (REAL)0);
        for (int k = 0; k < levels; k++)
            sum = nm_neumaier_add(sum.m0, sum.m1, state[k * (wide)state_stride + cell]);
        columns[cell] = sum.m0;
        columns[state_stride + cell] = sum.m1;
        if (emptied) {
            for (int k = 0; k < levels; k++) state[k * (wide)state_stride + cell] = (REAL)0;
        }
    }
}
