/* Results whose bits are compared with the host's: one row of n values for each operation, in the order of self_test.rs. */
#ifdef REAL_IS_FLOAT64
#define BITS_TYPE long_word
#define BITS_OF(x) BITS64(x)
#else
#define BITS_TYPE word
#define BITS_OF(x) BITS32(x)
#endif

KERNEL self_test(GLOBAL const REAL *operands, GLOBAL REAL *results, GLOBAL BITS_TYPE *bits, VALUE(int, n) THREADS)
{
    int i = GROUP(0) * WIDTH(0) + LANE(0);
    if (i < n) {
        const REAL a = operands[3 * i];
        const REAL b = operands[3 * i + 1];
        const REAL c = operands[3 * i + 2];
        const REAL s = a + b;
        const REAL z = s - a;
        results[i] = s;
        results[n + i] = a - b;
        results[2 * n + i] = a * b;
        results[3 * n + i] = a / b;
        results[4 * n + i] = REAL_SQRT(REAL_ABS(a));
        results[5 * n + i] = a * b + c;
        results[6 * n + i] = (a - (s - z)) + (b - z);
        results[7 * n + i] = real_min(a, b);
        results[8 * n + i] = real_max(a, b);
        bits[i] = BITS_OF(a);
    }
}
