/* The memory plan: see plan.h. */
#include "solvers/plan.h"

#include "maths/kernels.h"

const char *gcg_need_name(gcg_need need)
{
    static const char *const names[] = {
        [GCG_NEED_RESIDUALS] = "residuals", [GCG_NEED_PASSES] = "passes",
        [GCG_NEED_FACTORS] = "factors",     [GCG_NEED_METHOD] = "method",
        [GCG_NEED_KEPT] = "kept",           [GCG_NEED_LAMBDA_MAX] = "lambda_max",
        [GCG_NEED_BASIS] = "basis",         [GCG_NEED_POLAR] = "polar",
        [GCG_NEED_PROOF] = "proof",         [GCG_NEED_STEP] = "step",
        [GCG_NEED_LBFGS] = "lbfgs",         [GCG_NEED_RESULT] = "result",
    };
    return names[need];
}

int64_t gcg_needs_total(const gcg_needs *n)
{
    int64_t always = 0, most = 0;
    for (int i = 0; i < GCG_NEED_PHASES; i++) always += n->bytes[i];
    for (int i = GCG_NEED_PHASES; i < GCG_NEED_COUNT; i++) {
        /* lambda_max comes before the solver has anything but passes */
        int64_t now = i == GCG_NEED_LAMBDA_MAX ? n->bytes[GCG_NEED_PASSES] : always;
        if (now + n->bytes[i] > most) most = now + n->bytes[i];
    }
    return most;
}

gcg_plan_data gcg_plan_data_of(const gcg_csr *x, const gcg_solver_settings *set)
{
    const double double_gap = 1e-5; /* gaps below it need double factors in the end */
    gcg_plan_data d = {.rows = x->rows,
                       .cols = x->cols,
                       .nnz = x->nnz,
                       .weights = x->weight != NULL,
                       .value_bytes = x->val_f ? sizeof(float) : sizeof(double),
                       .type = gcg_solver_first_type(x, set),
                       .passes = gcg_pass_bytes(x)};
    if (set->precision == GCG_PRECISION_AUTO && set->gap < double_gap) d.type = GCG_DOUBLE;
    return d;
}

/* ---- parts that solvers share ---- */

int64_t gcg_plan_rows(int64_t rows, int64_t k, gcg_dtype type)
{
    return rows * ((k + GCG_FACTORS_PAD - 1) / GCG_FACTORS_PAD * GCG_FACTORS_PAD) * (int64_t)type;
}

int64_t gcg_plan_tall(int64_t columns, int64_t others)
{
    enum { GROUPS = 16, SUM = 8, WORK = 4 }; /* of maths/tall.c, bytes of an entry */
    return GROUPS * (SUM + WORK) * columns * others;
}

int64_t gcg_plan_rotate(int64_t k)
{
    enum { SQUARES = 8 + 5 }; /* of steps/rotate.c, and LAPACK's in the singular value decomposition */
    return SQUARES * 8 * k * k + gcg_plan_tall(k, k);
}

/* ---- the choice ---- */

/* What can be made smaller. */
typedef enum { PAIRS, PANEL, ARRAYS, BLOCK, DEPTH } size_of;

typedef struct {
    size_of what;
    int32_t to;
} sacrifice;

/* In the order of what they cost (ml-1m's shape, rank 86: to DEPTH a third at most, PAIRS 0 and ARRAYS 0
 * twice as many passes, then three and ten times). */
static const sacrifice sacrifices[] = {
    {PAIRS, 2},  {PAIRS, 1}, {PANEL, 16}, {BLOCK, 64}, {ARRAYS, 1}, {BLOCK, 48},
    {BLOCK, 32}, {DEPTH, 3}, {PAIRS, 0},  {ARRAYS, 0}, {BLOCK, 16}, {BLOCK, 8},
};
enum { SACRIFICES = sizeof sacrifices / sizeof *sacrifices };

static int32_t get(const gcg_solver_settings *set, size_of what)
{
    switch (what) {
    case PAIRS:
        return set->sizes.pairs;
    case PANEL:
        return set->sizes.proof_panel;
    case ARRAYS:
        return GCG_KEEP_NONE - (int32_t)set->ratings_kept;
    case BLOCK:
        return set->sizes.block;
    case DEPTH:
        return set->sizes.depth;
    }
    return 0;
}

static void put(gcg_solver_settings *set, size_of what, int32_t value)
{
    const int32_t proof = gcg_solver_sizes_full().proof_block;
    switch (what) {
    case PAIRS:
        set->sizes.pairs = value;
        break;
    case PANEL:
        set->sizes.proof_panel = value;
        break;
    case ARRAYS:
        set->ratings_kept = (gcg_rating_arrays)(GCG_KEEP_NONE - value);
        break;
    case BLOCK:
        set->sizes.block = value;
        set->sizes.proof_block = value < proof ? value : proof;
        break;
    case DEPTH:
        set->sizes.depth = value;
        break;
    }
}

static int64_t total(const gcg_plan_data *d, gcg_needs_of *of, const gcg_solver_settings *set, int32_t rank)
{
    gcg_needs n = of(d, set, rank);
    return gcg_needs_total(&n);
}

/* The needs after a sacrifice; INT64_MAX when there is nothing left to give. */
static int64_t with(const gcg_plan_data *d, int32_t rank, sacrifice s, gcg_solver_settings *set)
{
    if (get(set, s.what) <= s.to) return INT64_MAX;
    put(set, s.what, s.to);
    return total(d, gcg_complete_needs, set, rank);
}

/* What sacrifice number i found, when those before it were made. */
static int32_t before(const gcg_solver_settings *full, int i)
{
    int32_t value = get(full, sacrifices[i].what);
    for (int j = 0; j < i; j++)
        if (sacrifices[j].what == sacrifices[i].what && sacrifices[j].to < value) value = sacrifices[j].to;
    return value;
}

int gcg_plan_shrink(const gcg_plan_data *d, int64_t most, int32_t rank, gcg_solver_settings *set)
{
    const gcg_solver_settings full = *set;
    int64_t now = total(d, gcg_complete_needs, set, rank);
    for (int i = 0; i < SACRIFICES && now > most; i++) {
        gcg_solver_settings less = *set;
        int64_t then = with(d, rank, sacrifices[i], &less);
        if (then >= now) continue;
        *set = less;
        now = then;
        i = -1;
    }
    if (now > most) return 0;
    for (int i = SACRIFICES - 1; i >= 0; i--) { /* what later ones made needless */
        gcg_solver_settings more = *set;
        if (get(set, sacrifices[i].what) != sacrifices[i].to) continue;
        put(&more, sacrifices[i].what, before(&full, i));
        if (total(d, gcg_complete_needs, &more, rank) <= most) *set = more;
    }
    return 1;
}

void gcg_plan_proof(const gcg_plan_data *d, int32_t rank, gcg_solver_settings *set)
{
    gcg_needs n = gcg_complete_needs(d, set, rank);
    set->sizes.proof_bytes = 0;
    for (int i = GCG_NEED_PHASES; i < GCG_NEED_COUNT; i++)
        if (i != GCG_NEED_LAMBDA_MAX && n.bytes[i] > set->sizes.proof_bytes)
            set->sizes.proof_bytes = n.bytes[i];
}

int32_t gcg_plan_rank(const gcg_plan_data *d, gcg_needs_of *of, int64_t most, const gcg_solver_settings *set)
{
    int32_t low = 0, high = d->rows < d->cols ? d->rows : d->cols;
    while (low < high) {
        int32_t middle = high - (high - low) / 2;
        if (total(d, of, set, middle) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
