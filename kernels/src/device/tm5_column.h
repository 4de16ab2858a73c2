/* Implicit mass-flux convection of one column by `lanes` lanes. The text comes twice, for lanes of a group that share memory
 * and for a lane alone with memory of the device:
 *
 *     TM5(name)     name of a function
 *     TM5_SPACE     address space of the room
 *     TM5_INDEX     type of a position in it
 *     TM5_BARRIER() waits for the other lanes
 *
 * The room of a column holds numbers `stride` apart: the matrix by rows, `batch` right-hand sides, then what follows below.
 * Layers that are solved count from the highest that may take part; each stands for `merge` layers of the state. */

#ifndef TM5_AT
#define TM5_AT(n) room[(n) * (TM5_INDEX)stride]
#define TM5_ELEMENT(i, j) TM5_AT((i) * layers + (j))
/* Rates wait where the matrix will be. */
#define TM5_RATE(n, s) TM5_AT((n) * layers + (s))
#define TM5_ROWS (layers < 4 ? 4 : layers)
#define TM5_SIDE(s, b) TM5_AT(TM5_ROWS * layers + (s) * batch + (b))
#define TM5_REST(n, s) TM5_AT((TM5_ROWS + batch + (n)) * layers + (s))
/* Air mass per area; air fluxes of both plumes through layer tops, upward positive, one edge more. */
#define TM5_AIR(s) TM5_REST(0, s)
#define TM5_UP(s) TM5_REST(1, s)
#define TM5_DOWN(s) TM5_REST(2, (s) + 1)
/* Shares of the plumes that go on. Where only the matrix needs them, they wait in the room of right-hand sides. */
#define TM5_SHARE_UP(s) TM5_REST(delta ? 3 : -batch, (s) + (delta ? 2 : 0))
#define TM5_SHARE_DOWN(s) TM5_REST(delta ? 4 : 1 - batch, (s) + (delta ? 2 : 0))
#define TM5_ENTU(s) TM5_REST(5, (s) + 2)
#define TM5_ENTD(s) TM5_REST(6, (s) + 2)
/* Takes the terms of column j from the sums of four rows. */
#define TM5_FOUR_ROWS(r0, r1, r2, r3, j) \
    const REAL x = TM5_SIDE(j, b); \
    s0 = nm_eliminated(s0, TM5_ELEMENT(r0, j), x); \
    s1 = nm_eliminated(s1, TM5_ELEMENT(r1, j), x); \
    s2 = nm_eliminated(s2, TM5_ELEMENT(r2, j), x); \
    s3 = nm_eliminated(s3, TM5_ELEMENT(r3, j), x);
#define TM5_PIVOT(k) pivots[(k) * (TM5_INDEX)stride]
#define TM5_ROOM TM5_SPACE REAL *room, TM5_SPACE int *pivots, int stride, int layers, int batch, int delta
#define TM5_HERE room, pivots, stride, layers, batch, delta
#endif

/* Brings air and rates of a column, then follows both plumes. */
INLINE CLOUD TM5(follow)(TM5_ROOM, int lane, int lanes, GLOBAL const REAL *masses, wide step, REAL area, RATES rates)
{
    CLOUD cloud;
    for (int s = lane; s <= layers; s += lanes) {
        TM5_UP(s) = (REAL)0;
        TM5_DOWN(s) = (REAL)0;
    }
    for (int s = lane; s < layers; s += lanes) {
        TM5_AIR(s) = layer_air(masses + s * rates.merge * step, step, rates.merge, area);
        TM5_RATE(0, s) = RATE(entu, s);
        TM5_RATE(1, s) = RATE(detu, s);
        TM5_RATE(2, s) = SINKING_RATE(entd, s);
        TM5_RATE(3, s) = SINKING_RATE(detd, s);
        TM5_SHARE_UP(s) = (REAL)0;
        TM5_SHARE_DOWN(s) = (REAL)0;
        if (delta) {
            TM5_ENTU(s) = TM5_RATE(0, s);
            TM5_ENTD(s) = TM5_RATE(2, s);
        }
    }
    TM5_BARRIER();
    cloud.cloud_top = layers;
    cloud.sinking = layers;
    for (int s = layers - 1; s >= 0; s--) {
        if (TM5_RATE(1, s) > (REAL)0) cloud.cloud_top = s;
        if (TM5_RATE(2, s) > (REAL)0) cloud.sinking = s;
    }
    cloud.first = cloud.cloud_top > 0 ? cloud.cloud_top - 1 : 0;
    if (cloud.sinking < cloud.first) cloud.first = cloud.sinking;
    if (cloud.cloud_top == layers) cloud.first = layers;
    if (lane == 0 && cloud.cloud_top < layers) {
        for (int s = layers - 1; s >= (cloud.cloud_top > 0 ? cloud.cloud_top : 1); s--) {
            const PAIR up = nm_updraft_step(TM5_UP(s + 1), TM5_RATE(0, s), TM5_RATE(1, s));
            TM5_UP(s) = up.m0;
            TM5_SHARE_UP(s) = up.m1;
        }
        for (int s = cloud.sinking; s < layers - 1; s++) {
            const PAIR down = nm_downdraft_step(TM5_DOWN(s), TM5_RATE(2, s), TM5_RATE(3, s));
            TM5_DOWN(s + 1) = down.m0;
            TM5_SHARE_DOWN(s) = down.m1;
        }
    }
    TM5_BARRIER();
    return cloud;
}

/* The matrix, each lane some of its columns: first the tracer fluxes through layer tops, then what a layer gains. */
INLINE void TM5(assemble)(TM5_ROOM, int lane, int lanes, CLOUD cloud, RATES rates, REAL dt)
{
    const int lo = cloud.first, order = layers - lo;
    for (int j = lane; j < order; j += lanes) {
        const int c = j + lo;
        for (int i = 0; i < order; i++) TM5_ELEMENT(i, j) = (REAL)0;
        if (c >= cloud.cloud_top) {
            REAL flux = RATE(entu, c) / TM5_AIR(c) * TM5_SHARE_UP(c);
            TM5_ELEMENT(j, j) = flux;
            for (int s = c - 1; s >= cloud.cloud_top; s--) {
                flux = TM5_SHARE_UP(s) * flux;
                TM5_ELEMENT(s - lo, j) = flux;
            }
        }
        if (c >= cloud.sinking && c < layers - 1) {
            REAL flux = -(RATE(entd, c) / TM5_AIR(c)) * TM5_SHARE_DOWN(c);
            TM5_ELEMENT(j + 1, j) = flux;
            for (int s = c + 1; s < layers - 1; s++) {
                flux = TM5_SHARE_DOWN(s) * flux;
                TM5_ELEMENT(s + 1 - lo, j) = flux;
            }
        }
        if (c + 1 < layers) TM5_ELEMENT(j + 1, j) = TM5_ELEMENT(j + 1, j) - TM5_UP(c + 1) / TM5_AIR(c);
        if (j > 0) TM5_ELEMENT(j, j) = TM5_ELEMENT(j, j) - TM5_DOWN(c) / TM5_AIR(c);
        for (int i = 0; i < order; i++) {
            const REAL below = i + 1 < order ? TM5_ELEMENT(i + 1, j) : (REAL)0;
            const REAL element = nm_implicit_element((REAL)0, dt, below, TM5_ELEMENT(i, j));
            TM5_ELEMENT(i, j) = i == j ? (REAL)1 + element : element;
        }
    }
    TM5_BARRIER();
}

/* Factors by partial pivoting, each lane some columns; whether the lower factor has one diagonal only. A row with 0 in the
 * pivot column is left alone. Without a downdraught only the first sub-diagonal is not 0. */
INLINE int TM5(factor)(TM5_ROOM, int lane, int lanes, int order, int full)
{
    int swapped = 0;
    for (int k = 0; k < order; k++) {
        const int last = full || k + 2 > order ? order : k + 2;
        REAL largest = REAL_ABS(TM5_ELEMENT(k, k));
        int pivot = k;
        for (int i = k + 1; i < last; i++) {
            const REAL candidate = REAL_ABS(TM5_ELEMENT(i, k));
            if (candidate > largest) {
                largest = candidate;
                pivot = i;
            }
        }
        TM5_BARRIER();
        if (lane == 0) TM5_PIVOT(k) = pivot;
        if (pivot != k) {
            swapped = 1;
            for (int j = lane; j < order; j += lanes) {
                const REAL element = TM5_ELEMENT(k, j);
                TM5_ELEMENT(k, j) = TM5_ELEMENT(pivot, j);
                TM5_ELEMENT(pivot, j) = element;
            }
        }
        TM5_BARRIER();
        for (int i = k + 1 + lane; i < last; i += lanes) {
            const REAL element = TM5_ELEMENT(i, k);
            if (element != (REAL)0) TM5_ELEMENT(i, k) = element / TM5_ELEMENT(k, k);
        }
        TM5_BARRIER();
        for (int j = lane; j < order; j += lanes) {
            if (j > k) {
                const REAL upper = TM5_ELEMENT(k, j);
                for (int i = k + 1; i < last; i++) {
                    const REAL multiplier = TM5_ELEMENT(i, k);
                    if (multiplier != (REAL)0)
                        TM5_ELEMENT(i, j) = nm_eliminated(TM5_ELEMENT(i, j), multiplier, upper);
                }
            }
        }
        TM5_BARRIER();
    }
    return !full && !swapped;
}

/* Solves for right-hand side b, four rows side by side, so that their sums do not wait for each other. */
INLINE void TM5(solve)(TM5_ROOM, int b, int order, int bidiagonal)
{
    for (int k = 0; k < order; k++) {
        const int pivot = TM5_PIVOT(k);
        const REAL side = TM5_SIDE(k, b);
        TM5_SIDE(k, b) = TM5_SIDE(pivot, b);
        TM5_SIDE(pivot, b) = side;
    }
    if (bidiagonal) {
        for (int i = 1; i < order; i++)
            TM5_SIDE(i, b) = nm_eliminated(TM5_SIDE(i, b), TM5_ELEMENT(i, i - 1), TM5_SIDE(i - 1, b));
    } else {
        for (int i = 0; i < order; i += 4) {
            const int r1 = i + 1 < order ? i + 1 : i, r2 = i + 2 < order ? i + 2 : i, r3 = i + 3 < order ? i + 3 : i;
            REAL s0 = TM5_SIDE(i, b), s1 = TM5_SIDE(r1, b), s2 = TM5_SIDE(r2, b), s3 = TM5_SIDE(r3, b);
            for (int j = 0; j < i; j++) {
                TM5_FOUR_ROWS(i, r1, r2, r3, j)
            }
            TM5_SIDE(i, b) = s0;
            if (i + 1 < order) {
                s1 = nm_eliminated(s1, TM5_ELEMENT(r1, i), s0);
                TM5_SIDE(r1, b) = s1;
            }
            if (i + 2 < order) {
                s2 = nm_eliminated(s2, TM5_ELEMENT(r2, i), s0);
                s2 = nm_eliminated(s2, TM5_ELEMENT(r2, r1), s1);
                TM5_SIDE(r2, b) = s2;
            }
            if (i + 3 < order) {
                s3 = nm_eliminated(s3, TM5_ELEMENT(r3, i), s0);
                s3 = nm_eliminated(s3, TM5_ELEMENT(r3, r1), s1);
                s3 = nm_eliminated(s3, TM5_ELEMENT(r3, r2), s2);
                TM5_SIDE(r3, b) = s3;
            }
        }
    }
    for (int i = order - 1; i >= 0; i -= 4) {
        const int r1 = i > 0 ? i - 1 : i, r2 = i > 1 ? i - 2 : i, r3 = i > 2 ? i - 3 : i;
        REAL s0 = TM5_SIDE(i, b), s1 = TM5_SIDE(r1, b), s2 = TM5_SIDE(r2, b), s3 = TM5_SIDE(r3, b);
        for (int j = order - 1; j > i; j--) {
            TM5_FOUR_ROWS(i, r1, r2, r3, j)
        }
        s0 = s0 / TM5_ELEMENT(i, i);
        TM5_SIDE(i, b) = s0;
        if (i > 0) {
            s1 = nm_eliminated(s1, TM5_ELEMENT(r1, i), s0) / TM5_ELEMENT(r1, r1);
            TM5_SIDE(r1, b) = s1;
        }
        if (i > 1) {
            s2 = nm_eliminated(s2, TM5_ELEMENT(r2, i), s0);
            s2 = nm_eliminated(s2, TM5_ELEMENT(r2, r1), s1) / TM5_ELEMENT(r2, r2);
            TM5_SIDE(r2, b) = s2;
        }
        if (i > 2) {
            s3 = nm_eliminated(s3, TM5_ELEMENT(r3, i), s0);
            s3 = nm_eliminated(s3, TM5_ELEMENT(r3, r1), s1);
            s3 = nm_eliminated(s3, TM5_ELEMENT(r3, r2), s2) / TM5_ELEMENT(r3, r3);
            TM5_SIDE(r3, b) = s3;
        }
    }
}

/* Content of merged layer s of the matrix before the step. */
#define TM5_OLD(s) layer_sum(tracer.contents + (s) * tracer.merge * tracer.step, tracer.step, tracer.merge)

/* Change that a step of explicit transport would make. The smallest mixing ratio is taken off first: the net air flux is
 * 0, so that a background has no flux. */
INLINE void TM5(tendency)(TM5_ROOM, int b, CLOUD cloud, REAL dt, CONVECTED tracer)
{
    const int lo = cloud.first, order = layers - lo;
    REAL smallest = TM5_SIDE(order - 1, b) / TM5_AIR(layers - 1);
    REAL up = (REAL)0, down = (REAL)0, above = (REAL)0, flux_above = (REAL)0;
    for (int i = 0; i < order - 1; i++) smallest = real_min(smallest, TM5_SIDE(i, b) / TM5_AIR(i + lo));
    for (int i = order - 1; i >= 0; i--) {
        const REAL ratio = TM5_SIDE(i, b) / TM5_AIR(i + lo) - smallest;
        up = nm_updraft_tracer(up, TM5_ENTU(i + lo), ratio, TM5_SHARE_UP(i + lo));
        TM5_SIDE(i, b) = up;
    }
    for (int i = 0; i < order; i++) {
        const int s = i + lo;
        const REAL ratio = TM5_OLD(i) / TM5_AIR(s) - smallest;
        REAL flux = (REAL)0;
        if (i > 0) {
            flux = nm_convective_flux(TM5_SIDE(i, b) + down, TM5_UP(s), above, TM5_DOWN(s), ratio);
            TM5_SIDE(i - 1, b) = dt * (flux - flux_above);
        }
        down = nm_downdraft_tracer(down, TM5_ENTD(s), ratio, TM5_SHARE_DOWN(s));
        above = ratio;
        flux_above = flux;
    }
    TM5_SIDE(order - 1, b) = dt * ((REAL)0 - flux_above);
}

/* Convects one tracer, whose contents are right-hand side b. Afterwards they are its new contents, unless layers are
 * merged: those are written to the state. */
INLINE void TM5(convect)(TM5_ROOM, int b, CLOUD cloud, int bidiagonal, REAL dt, CONVECTED tracer)
{
    const int order = layers - cloud.first, merge = tracer.merge;
    const REAL cells = (REAL)tracer.cells;
    ACCOUNT account = account_new((REAL)0);
    REAL settled;
    for (int k = 0; k < tracer.cells; k++)
        account = account_open(account, merge == 1 ? TM5_SIDE(k, b) : tracer.contents[k * tracer.step]);
    if (delta) TM5(tendency)(TM5_HERE, b, cloud, dt, tracer);
    TM5(solve)(TM5_HERE, b, order, bidiagonal);
    if (delta) {
        REAL lowest_before = (REAL)0, lowest_after = (REAL)0;
        for (int i = 0; i < order; i++) {
            const REAL old = TM5_OLD(i), after = old + TM5_SIDE(i, b);
            lowest_before = real_min(old, lowest_before);
            lowest_after = real_min(after, lowest_after);
            TM5_SIDE(i, b) = after;
        }
        if (lowest_before >= (REAL)0 && lowest_after < (REAL)0) {
            for (int i = 0; i < order; i++) TM5_SIDE(i, b) = TM5_OLD(i);
            TM5(solve)(TM5_HERE, b, order, bidiagonal);
        }
    }
    if (merge == 1) {
        for (int k = 0; k < order; k++) account = account_close(account, k, TM5_SIDE(k, b), 1);
    } else {
        /* As the layers were before; evenly if there was nothing. */
        const REAL even = (REAL)1 / (REAL)merge;
        for (int i = 0; i < order; i++) {
            const REAL old = TM5_OLD(i), after = TM5_SIDE(i, b);
            const int filled = old > (REAL)0 || old < (REAL)0;
            for (int k = i * merge; k < (i + 1) * merge; k++) {
                const REAL part = filled ? tracer.contents[k * tracer.step] / old : even;
                tracer.contents[k * tracer.step] = after * part;
                account = account_close(account, k, after * part, 1);
            }
        }
    }
    settled = account_settle(account, cells, tracer.carry, tracer.returned, tracer.refused);
    if (ACCOUNT_DUE(account, cells)) {
        if (merge == 1) {
            TM5_SIDE(account.layer, b) = settled;
        } else {
            tracer.contents[account.layer * tracer.step] = settled;
        }
    }
}

/* All tracers of a column, some side by side. `air` is the place of its uppermost cell, `shift` the first layer that may
 * take part. */
INLINE void TM5(column)(TM5_ROOM, int lane, int lanes, int active, GLOBAL REAL *state, wide air, int plane, int planes,
                        wide step, int shift, REAL area, RATES rates, REAL dt, GLOBAL REAL *carry,
                        GLOBAL REAL *returned, GLOBAL int *refused)
{
    GLOBAL REAL *column = state + (air + shift * step);
    CLOUD cloud = TM5(follow)(TM5_HERE, lane, lanes, column, step, area, rates);
    const int merge = rates.merge;
    int order, bidiagonal;
    /* Lanes without a column wait with the others. */
    if (!active) cloud.first = layers;
    order = layers - cloud.first;
    TM5(assemble)(TM5_HERE, lane, lanes, cloud, rates, dt);
    bidiagonal = TM5(factor)(TM5_HERE, lane, lanes, order, cloud.sinking < layers);
    for (int first = 1; first < planes; first += batch) {
        const int count = planes - first < batch ? planes - first : batch;
        GLOBAL REAL *contents = column + (cloud.first * merge * step + (wide)first * plane);
        for (int n = lane; n < order * batch; n += lanes) {
            const int s = n / batch, b = n % batch;
            if (b < count) TM5_SIDE(s, b) = layer_sum(contents + (s * merge * step + b * plane), step, merge);
        }
        TM5_BARRIER();
        for (int b = lane; b < count && order > 0; b += lanes) {
            CONVECTED tracer;
            tracer.contents = contents + b * plane;
            tracer.carry = carry + (air + (wide)(first + b) * plane);
            tracer.returned = returned + (air + (wide)(first + b) * plane);
            tracer.refused = refused;
            tracer.step = step;
            tracer.merge = merge;
            tracer.cells = order * merge;
            TM5(convect)(TM5_HERE, b, cloud, bidiagonal, dt, tracer);
        }
        TM5_BARRIER();
        for (int n = lane; merge == 1 && n < order * batch; n += lanes) {
            const int s = n / batch, b = n % batch;
            if (b < count) contents[s * step + b * plane] = TM5_SIDE(s, b);
        }
        TM5_BARRIER();
    }
}
