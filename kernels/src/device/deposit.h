/* Deposit of emissions: amounts of a step from one slice of rates or two, in the surface layer or by a profile. */

/* Amount of a column, rates of one slice or two acting for seconds in two words. Without a second slice its number is
 * negative. */
INLINE REAL emission(GLOBAL const REAL *rates, wide field_step, int first, REAL first_high, REAL first_low, int second,
                     REAL second_high, REAL second_low)
{
    const REAL amount = nm_emitted_amount(rates[first * field_step], first_high, first_low);
    return second < 0 ? amount : amount + nm_emitted_amount(rates[second * field_step], second_high, second_low);
}

/* All in the surface layer; `compensation` is what it holds too much. */
KERNEL deposit_surface(GLOBAL REAL *state, GLOBAL const REAL *rates, GLOBAL REAL *compensation,
                       GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, first),
                       VALUE(REAL, first_high), VALUE(REAL, first_low), VALUE(int, second), VALUE(REAL, second_high),
                       VALUE(REAL, second_low), VALUE(int, plane), VALUE(int, levels), VALUE(int, state_stride),
                       VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        GLOBAL REAL *content = state + ((levels - 1) * (wide)state_stride + air + plane * TILE_PLANE(t));
        const REAL amount = emission(rates + place, field_stride, first, first_high, first_low, second, second_high, second_low);
        const PAIR sum = nm_kahan_add(*content, compensation[place], amount);
        *content = sum.m0;
        compensation[place] = sum.m1;
    }
}

/* By fractions of a profile, the surface layer taking the rest. Where lofting (`lofts` 1, else 0) alone would make a layer
 * negative, all of it enters the surface layer, and the column is counted. */
KERNEL deposit_profile(GLOBAL REAL *state, GLOBAL const REAL *rates, GLOBAL REAL *compensation,
                       GLOBAL const REAL *RESTRICT fractions, GLOBAL int *unlofted, GLOBAL const int *RESTRICT tiles,
                       GLOBAL const int *RESTRICT rows, VALUE(int, first), VALUE(REAL, first_high),
                       VALUE(REAL, first_low), VALUE(int, second), VALUE(REAL, second_high), VALUE(REAL, second_low),
                       VALUE(REAL, lofts), VALUE(int, plane), VALUE(int, levels), VALUE(int, state_stride),
                       VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(GROUP(1))
    if (i < TILE_NI(t)) {
        const wide step = state_stride, field_step = field_stride;
        const int last = levels - 1;
        GLOBAL REAL *contents = state + (air + plane * TILE_PLANE(t));
        GLOBAL const REAL *parts = fractions + place;
        const REAL amount = emission(rates + place, field_stride, first, first_high, first_low, second, second_high, second_low);
        TRIPLE taken = make_triple((REAL)0, (REAL)0, (REAL)0);
        PAIR rest;
        int refused = 0;
        for (int k = 0; k <= last; k++) {
            const REAL fraction = parts[k * field_step], lofted = k == last ? fraction - (REAL)1 : fraction;
            refused = refused || nm_content_after_loss(contents[k * step], amount, lofted) * lofts < (REAL)0;
        }
        for (int k = 0; k < last; k++) {
            const REAL content = contents[k * step], fraction = refused ? (REAL)0 : parts[k * field_step];
            taken = nm_deposit_part(content, amount, fraction, taken.m1, taken.m2);
            if (!refused) contents[k * step] = taken.m0;
        }
        rest = nm_deposit_rest(contents[last * step], compensation[place], amount, taken.m1, taken.m2);
        contents[last * step] = rest.m0;
        compensation[place] = rest.m1;
        if (refused) COUNT(unlofted, 1);
    }
}
