/* A group convects one column in its shared memory; GROUP(0) counts along a row. */
KERNEL tm5_collaborative(GLOBAL REAL *state, GLOBAL const REAL *RESTRICT entu, GLOBAL const REAL *RESTRICT detu,
                         GLOBAL const REAL *RESTRICT entd, GLOBAL const REAL *RESTRICT detd,
                         GLOBAL const REAL *RESTRICT areas, GLOBAL REAL *carry, GLOBAL REAL *returned,
                         GLOBAL int *refused, GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows,
                         VALUE(int, sinks), VALUE(int, delta), VALUE(int, layers), VALUE(int, merge), VALUE(int, shift),
                         VALUE(REAL, dt), VALUE(int, planes), VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    SHARED REAL room[TM5_WORDS];
    SHARED int pivots[TM5_LAYERS];
    const int t = ROW_TILE(GROUP(1)), active = GROUP(0) < TILE_NI(t);
    const int cell = CELL(t, active ? GROUP(0) : TILE_NI(t) - 1, ROW_J(GROUP(1)));
    const wide place = TILE_FIELD(t) + cell, top = shift * (wide)field_stride + place;
    RATES rates;
    rates.entu = entu + top;
    rates.detu = detu + top;
    rates.entd = entd + top;
    rates.detd = detd + top;
    rates.step = field_stride;
    rates.merge = merge;
    rates.sinks = sinks;
    tm5_shared_column(room, pivots, 1, layers, TM5_BATCH, delta, LANE(0), WIDTH(0), active, state, TILE_STATE(t) + cell,
                      TILE_PLANE(t), planes, state_stride, shift, areas[place], rates, dt, carry, returned, refused);
}
