/* Columns: a lane walks down or up one column. Fields have one plane per tile and level; what belongs to a column and a tracer
 * lies as one level of the state, what belongs to a column as one level of a field. */

/* Tile, row and place of the column of a lane; its cells in the state and in a field, and those of its plane. */
#define COLUMN_OF(row) \
    const int t = ROW_TILE(row), i = GROUP(0) * WIDTH(0) + LANE(0); \
    const int cell = CELL(t, i, ROW_J(row)); \
    const wide air = TILE_STATE(t) + cell, place = TILE_FIELD(t) + cell;

/* Ledger of a column: its contents before and after a solve, and the largest cell after it. */
typedef struct {
    PAIR before, after;
    REAL largest, value;
    int layer;
    STRUCT_END
} ACCOUNT;

/* The largest magnitude starts below 0, so that the first cell is taken, unless it is not a number. */
INLINE ACCOUNT account_new(REAL zero)
{
    ACCOUNT account;
    account.before = make_pair(zero, zero);
    account.after = make_pair(zero, zero);
    account.largest = zero - (REAL)1;
    account.value = zero;
    account.layer = 0;
    return account;
}

INLINE ACCOUNT account_open(ACCOUNT account, REAL content)
{
    account.before = nm_neumaier_add(account.before.m0, account.before.m1, content);
    return account;
}

/* Of equal cells, the first counted is the largest. */
INLINE ACCOUNT account_close(ACCOUNT account, int layer, REAL content, int takes_part)
{
    const REAL size = REAL_ABS(content);
    account.after = nm_neumaier_add(account.after.m0, account.after.m1, content);
    if (takes_part && size > account.largest) {
        account.largest = size;
        account.value = content;
        account.layer = layer;
    }
    return account;
}

/* Contents in kg so small that mixing ratios leave the range of the precision. */
#define NEGLIGIBLE LITERAL(1e-18f, 1e-270)

/* Whether a ledger of `cells` cells is kept, and has a number to repair. */
#define ACCOUNT_DUE(account, cells) ((cells) > (REAL)0 && (account).largest >= (REAL)0)

/* Value of the largest cell with the residual, to be stored where it is due; books the residual. */
INLINE REAL account_settle(ACCOUNT account, REAL cells, GLOBAL REAL *carry, GLOBAL REAL *returned, GLOBAL int *refused)
{
    const REAL gap = nm_sum_gap(account.before, account.after);
    const REAL bound = nm_ledger_bound(cells, account.largest, REAL_EPSILON);
    PAIR settled = make_pair(account.value, (REAL)0);
    if (cells > (REAL)0 && nm_ledger_refusal(gap, bound, account.largest, NEGLIGIBLE) > (REAL)0) COUNT(refused, 1);
    if (ACCOUNT_DUE(account, cells)) {
        settled = nm_ledger_step(account.value, gap, *carry, bound);
        *carry = settled.m1;
        *returned = *returned + nm_ledger_accepted(gap, bound);
    }
    return settled.m0;
}
