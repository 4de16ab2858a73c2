/* Kernels of device_drivers.rs: each shows one thing that a driver has to do. */

KERNEL lanes(GLOBAL int *out, VALUE(int, scale) THREADS) {
    int i = GROUP(0) * WIDTH(0) + LANE(0), j = GROUP(1) * WIDTH(1) + LANE(1), k = GROUP(2) * WIDTH(2) + LANE(2);
    out[(k * 3 * WIDTH(1) + j) * 2 * WIDTH(0) + i] = scale * (10000 * k + 100 * j + i);
}

KERNEL add(GLOBAL int *data, VALUE(int, summand) THREADS) {
    data[GROUP(0) * WIDTH(0) + LANE(0)] += summand;
}

KERNEL scale(GLOBAL const REAL *from, GLOBAL REAL *to, VALUE(REAL, factor) THREADS) {
    to[LANE(0)] = factor * from[LANE(0)];
}

KERNEL slow(GLOBAL int *data, VALUE(int, rounds) THREADS) {
    word x = 1;
    for (int n = 0; n < rounds; n++) x = x * 1103515245 + (word)(data[n & 63] | 12345);
    data[64 + LANE(0)] = (int)(x | 1);
}

KERNEL turned(GLOBAL const int *from, GLOBAL int *to THREADS) {
    SHARED int shared[64];
    shared[LANE(0)] = from[GROUP(0) * 64 + LANE(0)];
    BARRIER();
    to[GROUP(0) * 64 + LANE(0)] = shared[63 - LANE(0)];
}
