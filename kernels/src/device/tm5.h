/* Implicit mass-flux convection: what its two forms share. */

/* Sum of merged layers, `step` apart. */
INLINE REAL layer_sum(GLOBAL const REAL *values, wide step, int merge)
{
    REAL sum = values[0];
    for (int k = 1; k < merge; k++) sum = sum + values[k * step];
    return sum;
}

/* Their air mass per area. */
INLINE REAL layer_air(GLOBAL const REAL *masses, wide step, int merge, REAL area)
{
    REAL sum = masses[0] / area;
    for (int k = 1; k < merge; k++) sum = sum + masses[k * step] / area;
    return sum;
}

/* Rates of a column from the highest layer that may take part, and whether there is a downdraught anywhere. */
typedef struct {
    GLOBAL const REAL *entu;
    GLOBAL const REAL *detu;
    GLOBAL const REAL *entd;
    GLOBAL const REAL *detd;
    wide step;
    int merge, sinks;
    STRUCT_END
} RATES;

/* Rate of merged layer s. */
#define RATE(name, s) layer_sum(rates.name + (s) * rates.merge * rates.step, rates.step, rates.merge)
#define SINKING_RATE(name, s) (rates.sinks ? RATE(name, s) : (REAL)0)

/* Contents of one tracer in a column, from the first layer of the matrix down, and its ledger. */
typedef struct {
    GLOBAL REAL *contents;
    GLOBAL REAL *carry;
    GLOBAL REAL *returned;
    GLOBAL int *refused;
    wide step;
    int merge, cells;
    STRUCT_END
} CONVECTED;

/* Layers that matter: the highest that the updraught leaves air in, the highest that feeds the downdraught, and the first of
 * the matrix; the number of layers where there is none. */
typedef struct {
    int cloud_top, sinking, first;
    STRUCT_END
} CLOUD;
