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

typedef struct {
    enum { PAIRS, PANEL, RATINGS, BLOCK, DEPTH } what;
    int32_t to;
} sacrifice;

/* In the order of what they cost. */
static const sacrifice sacrifices[] = {
    {PAIRS, 2},  {PAIRS, 1},  {PANEL, 16}, {RATINGS, GCG_KEEP_RESIDUAL},
    {BLOCK, 64}, {BLOCK, 48}, {BLOCK, 32}, {RATINGS, GCG_KEEP_NONE},
    {PAIRS, 0},  {BLOCK, 16}, {BLOCK, 8},  {DEPTH, 3},
};

static void lower(int32_t *size, int32_t to)
{
    if (*size > to) *size = to;
}

static gcg_solver_settings apply(const gcg_solver_settings *set, sacrifice s)
{
    gcg_solver_settings out = *set;
    switch (s.what) {
    case PAIRS:
        if (out.sizes.pairs > s.to) out.sizes.pairs = s.to;
        break;
    case PANEL:
        lower(&out.sizes.proof_panel, s.to);
        break;
    case RATINGS:
        if ((int32_t)out.ratings_kept < s.to) out.ratings_kept = (gcg_rating_arrays)s.to;
        break;
    case BLOCK:
        lower(&out.sizes.block, s.to);
        lower(&out.sizes.proof_block, s.to);
        break;
    case DEPTH:
        lower(&out.sizes.depth, s.to);
        break;
    }
    return out;
}

static int64_t total(const gcg_plan_data *d, gcg_needs_of *of, const gcg_solver_settings *set, int32_t rank)
{
    gcg_needs n = of(d, set, rank);
    return gcg_needs_total(&n);
}

int gcg_plan_shrink(const gcg_plan_data *d, int64_t most, int32_t rank, gcg_solver_settings *set)
{
    const int count = sizeof sacrifices / sizeof *sacrifices;
    int64_t now = total(d, gcg_complete_needs, set, rank);
    for (int i = 0; i < count && now > most; i++) {
        gcg_solver_settings less = apply(set, sacrifices[i]);
        int64_t then = total(d, gcg_complete_needs, &less, rank);
        if (then >= now) continue;
        *set = less;
        now = then;
        i = -1;
    }
    return now <= most;
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
