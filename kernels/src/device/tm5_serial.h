/* A lane convects one column in a slab of memory, for some rows: `width` columns of each have room in the slab. */
KERNEL tm5_serial(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT entu, GLOBAL const REAL *RESTRICT detu,
                  GLOBAL const REAL *RESTRICT entd, GLOBAL const REAL *RESTRICT detd, GLOBAL const REAL *RESTRICT areas,
                  GLOBAL REAL *slab, GLOBAL int *pivots, GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused,
                  GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(int, first_row),
                  VALUE(int, row_count), VALUE(int, width), VALUE(int, sinks), VALUE(int, delta), VALUE(int, layers),
                  VALUE(int, merge), VALUE(int, shift), VALUE(REAL, dt), VALUE(int, planes), VALUE(int, state_stride),
                  VALUE(int, field_stride) THREADS)
{
    COLUMN_OF(first_row + GROUP(1))
    if (i < TILE_NI(t)) {
        const wide top = shift * (wide)field_stride + place;
        const int own = GROUP(1) * width + i;
        RATES rates;
        rates.entu = entu + top;
        rates.detu = detu + top;
        rates.entd = entd + top;
        rates.detd = detd + top;
        rates.step = field_stride;
        rates.merge = merge;
        rates.sinks = sinks;
        tm5_alone_column(slab + own, pivots + own, row_count * width, layers, TM5_ALONE, delta, 0, 1, 1, state, air,
                         TILE_PLANE(t), planes, state_stride, shift, areas[place], rates, dt, carry, returned, refused);
    }
}
