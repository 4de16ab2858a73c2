/* Halo cells: copies between tiles of a rank, and messages. Tables list one cell after the other; positions are those of
 * the air plane within a level. */

/* Table: from, to, distance between planes at either place. */
KERNEL halo_copy(GLOBAL REAL *state, GLOBAL const int *RESTRICT pairs, VALUE(int, count), VALUE(int, state_stride),
                 VALUE(int, first_level) THREADS)
{
    const int n = GROUP(0) * WIDTH(0) + LANE(0), p = GROUP(1);
    if (n < count) {
        const wide level = (first_level + GROUP(2)) * (wide)state_stride;
        state[level + pairs[4 * n + 1] + p * pairs[4 * n + 3]] = state[level + pairs[4 * n] + p * pairs[4 * n + 2]];
    }
}

/* Table: cell, distance between planes, cells of earlier messages, cells of this message, place in this message. A
 * message holds level after level, plane after plane; messages lie one behind the other. */
#define MESSAGE_INTS 5
#define MESSAGE_CELL(n) cells[MESSAGE_INTS * (n)]
#define MESSAGE_PLANE(n) cells[MESSAGE_INTS * (n) + 1]
#define MESSAGE_PLACE(n, levels, level, planes, p) \
    ((wide)cells[MESSAGE_INTS * (n) + 2] * (planes) * (levels) \
     + ((wide)(level) * (planes) + (p)) * cells[MESSAGE_INTS * (n) + 3] + cells[MESSAGE_INTS * (n) + 4])

KERNEL halo_pack(GLOBAL const REAL *state, GLOBAL REAL *messages, GLOBAL const int *RESTRICT cells, VALUE(int, count),
                 VALUE(int, planes), VALUE(int, levels), VALUE(int, state_stride), VALUE(int, first_level) THREADS)
{
    const int n = GROUP(0) * WIDTH(0) + LANE(0), p = GROUP(1), level = GROUP(2);
    if (n < count)
        messages[MESSAGE_PLACE(n, levels, level, planes, p)] =
            state[(first_level + level) * (wide)state_stride + MESSAGE_CELL(n) + p * MESSAGE_PLANE(n)];
}

KERNEL halo_unpack(GLOBAL REAL *state, GLOBAL const REAL *messages, GLOBAL const int *RESTRICT cells, VALUE(int, count),
                   VALUE(int, planes), VALUE(int, levels), VALUE(int, state_stride), VALUE(int, first_level) THREADS)
{
    const int n = GROUP(0) * WIDTH(0) + LANE(0), p = GROUP(1), level = GROUP(2);
    if (n < count)
        state[(first_level + level) * (wide)state_stride + MESSAGE_CELL(n) + p * MESSAGE_PLANE(n)] =
            messages[MESSAGE_PLACE(n, levels, level, planes, p)];
}
