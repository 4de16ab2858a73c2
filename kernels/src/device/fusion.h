/* Two vertical sweeps in one. The first of a pair takes the flux of both in columns where `allowed` is 1, and the second none
 * there; without pairs `allowed` is not read. */
#define NOT_PAIRED 0
#define FIRST_OF_PAIR 1
#define SECOND_OF_PAIR 2
#define PAIRED(part, allowed, flux) \
    ((part) == NOT_PAIRED ? (flux) : ((part) == FIRST_OF_PAIR ? nm_fused_parts(allowed).m0 : nm_fused_parts(allowed).m1) * (flux))

/* Which columns may take two sweeps at once: 1 or 0 for each. */
KERNEL fuse_columns(GLOBAL const REAL *RESTRICT state, GLOBAL const REAL *RESTRICT fluxes, GLOBAL REAL *allowed,
                    GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows, VALUE(REAL, scale), VALUE(int, levels),
                    VALUE(int, state_stride), VALUE(int, field_stride) THREADS)
{
    const int t = ROW_TILE(GROUP(1)), i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < TILE_NI(t)) {
        const int cell = CELL(t, i, ROW_J(GROUP(1)));
        GLOBAL const REAL *mass = state + (TILE_STATE(t) + cell);
        GLOBAL const REAL *flux = fluxes + (TILE_FIELD(t) + cell);
        const REAL none = (REAL)0;
        REAL may = (REAL)1;
        for (int k = 0; k < levels; k++) {
            const REAL top = k == 0 ? none : flux[k * (wide)field_stride];
            const REAL bottom = k + 1 == levels ? none : flux[(k + 1) * (wide)field_stride];
            may = nm_fusion_allowed(
                may, nm_outflow_ratio(mass[k * (wide)state_stride], scale, none, none, none, none, top, bottom));
        }
        allowed[TILE_FIELD(t) + cell] = may;
    }
}
