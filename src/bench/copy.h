/* A plain copy, the yardstick of the other kernels. */
KERNEL copy(GLOBAL const REAL *from, GLOBAL REAL *to, VALUE(int, n) THREADS)
{
    const int i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < n) to[i] = from[i];
}
