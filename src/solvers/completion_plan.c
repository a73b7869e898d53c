/* What gcg_complete allocates, phase by phase: each sum names the arrays that are there at the same time. It
 * has to follow the other completion_*.c files; tests compare it with what they take. */
#include "maths/certificate.h"
#include "solvers/completion.h"
#include "solvers/plan.h"
#include "steps/lbfgs.h"
#include "steps/polar.h"

/* The shape of one solve. */
typedef struct {
    const gcg_plan_data *d;
    const gcg_solver_settings *set;
    int64_t rows, cols, sides, least;
    int64_t k, block, later, proof_block; /* columns */
    int weighted;                         /* the norm is */
    int scaled;                           /* the norm or the loss is */
} shape;

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The largest block that is looked for on the way to this rank, and the one of later rounds
 * (completion_step.c, next_block). */
static int64_t largest_block(const gcg_solver_settings *set, int64_t rank)
{
    const int64_t room = 24, dropped = 16; /* columns of the first block that the next steps drop */
    if (set->plain) return 1;
    if (set->atoms) return set->atoms;
    int64_t block = rank < MC_BLOCK_FIRST ? rank + room : most_of(64, rank - dropped + room);
    return least_of(most_of(block, MC_BLOCK_FIRST), set->sizes.block);
}

static int64_t later_block(const gcg_solver_settings *set, int64_t rank, int64_t least)
{
    if (set->plain || set->atoms) return largest_block(set, rank);
    int32_t block =
        least > MC_CHOLESKY_DEFAULT && rank >= MC_BLOCK_FIRST ? set->sizes.proof_block : MC_BLOCK_FIRST;
    return least_of(block, set->sizes.block);
}

static shape shape_of(const gcg_plan_data *d, const gcg_solver_settings *set, int32_t rank)
{
    shape s = {
        .d = d, .set = set, .rows = d->rows, .cols = d->cols, .weighted = gcg_norm_is_weighted(&set->norm)};
    s.scaled = s.weighted || d->weights;
    s.sides = s.rows + s.cols;
    s.least = least_of(s.rows, s.cols);
    s.k = least_of(rank, s.least) + (set->norm.user_bias > 0);
    s.block = least_of(largest_block(set, s.k), s.least);
    s.later = least_of(later_block(set, s.k, s.least), s.least);
    s.proof_block = least_of(most_of(set->sizes.proof_block, s.later), s.least);
    return s;
}

static int64_t rows(const shape *s, int64_t n, int64_t k)
{
    return gcg_plan_rows(n, k, s->d->type);
}

/* R V, saved point, shrunk point, and the small matrices. */
static int64_t basis(const shape *s)
{
    int64_t narrower = s->k > GCG_FACTORS_PAD ? s->k - GCG_FACTORS_PAD : 0;
    if (s->set->plain) return rows(s, s->sides, narrower) + gcg_plan_rotate(s->k);
    return rows(s, s->rows, s->k) + rows(s, s->sides, s->k) +
           most_of(rows(s, s->sides, narrower), gcg_plan_rotate(s->k));
}

/* A Krylov space, and the small matrices. */
static int64_t krylov(const shape *s, int64_t block)
{
    int64_t columns = least_of(s->set->sizes.depth * block, s->least);
    int64_t eigen = 3 * 8 * columns * columns; /* the Gram matrix, and LAPACK's work */
    return s->set->sizes.depth * rows(s, s->sides, block) + most_of(eigen, gcg_plan_tall(block, block)) +
           8 * columns * block;
}

/* R V and the atoms. */
static int64_t polar(const shape *s)
{
    if (s->set->plain)
        return gcg_polar_top_bytes(s->d->rows, s->d->cols) + rows(s, s->sides, 1) + 8 * s->sides;
    return rows(s, s->rows, s->k) + krylov(s, s->block);
}

static int64_t lanczos(const shape *s, double eps)
{
    const double p = 5e-7;
    return gcg_polar_bound_bytes(s->d->rows, s->d->cols, eps, p, s->set->sizes.proof_bytes);
}

static int64_t deflation(const shape *s)
{
    int64_t known = least_of(s->k + s->proof_block, s->least);
    int64_t z = gcg_plan_rows(s->least, known, GCG_DOUBLE);
    int64_t panel = least_of(s->set->sizes.proof_panel, known);
    int64_t panels = gcg_plan_rows(s->sides, panel, GCG_DOUBLE);
    int64_t products = z + panels, squares = 5 * 8 * known * known;
    int64_t grams = z + squares + gcg_plan_tall(known, known);
    return z + most_of(most_of(products, grams), lanczos(s, 0.2) + squares);
}

/* The least that a proof takes; the atoms stay for the step. */
static int64_t proof(const shape *s)
{
    int64_t atoms = rows(s, s->sides, s->later), way;
    if (s->set->lambda == 0) return 0;
    if (s->set->ratings_kept != GCG_KEEP_NONE &&
        s->least <= (s->set->certify ? MC_CHOLESKY_MOST : MC_CHOLESKY_DEFAULT))
        way = (s->scaled ? s->d->nnz * (int64_t)s->d->type : 0) +
              most_of(gcg_certificate_bytes(s->d->rows, s->d->cols, s->d->nnz, s->d->type),
                      gcg_polar_top_bytes(s->d->rows, s->d->cols));
    else if (s->set->plain)
        way = lanczos(s, 0.05);
    else
        way = most_of(deflation(s), s->later < s->proof_block ? krylov(s, s->proof_block) : 0);
    return atoms + way;
}

/* The atoms, and the longer point beside the old one. */
static int64_t step(const shape *s)
{
    return rows(s, s->sides, s->block) + rows(s, s->sides, s->k);
}

gcg_needs gcg_complete_needs(const gcg_plan_data *d, const gcg_solver_settings *set, int32_t rank)
{
    static const int kept[] = {[GCG_KEEP_ALL] = 3, [GCG_KEEP_RESIDUAL] = 1, [GCG_KEEP_NONE] = 0};
    shape s = shape_of(d, set, rank > 0 ? rank : INT32_MAX);
    gcg_needs n = {{0}};
    n.bytes[GCG_NEED_RESIDUALS] = kept[set->ratings_kept] * d->nnz * (int64_t)d->type;
    n.bytes[GCG_NEED_PASSES] = d->passes + (s.weighted ? gcg_scales_bytes(s.rows, s.cols) : 0) +
                               (set->norm.user_bias > 0 ? gcg_plan_bias(s.rows, s.cols) : 0);
    n.bytes[GCG_NEED_FACTORS] = rows(&s, s.sides, s.k) + 16 * s.k;
    n.bytes[GCG_NEED_KEPT] = (1 + d->states) * (set->plain ? 0 : rows(&s, s.cols, s.later)) +
                             (d->copies + d->states) * rows(&s, s.sides, s.k);
    n.bytes[GCG_NEED_LAMBDA_MAX] = gcg_polar_top_bytes(d->rows, d->cols);
    n.bytes[GCG_NEED_BASIS] = basis(&s);
    n.bytes[GCG_NEED_POLAR] = polar(&s);
    n.bytes[GCG_NEED_PROOF] = proof(&s);
    n.bytes[GCG_NEED_STEP] = step(&s);
    n.bytes[GCG_NEED_LBFGS] = gcg_lbfgs_bytes(s.sides * mc_padded((int32_t)s.k), d->type, set->sizes.pairs);
    n.bytes[GCG_NEED_RESULT] = rows(&s, s.sides, s.k) + rows(&s, s.sides, s.block);
    return n;
}
