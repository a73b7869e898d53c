/* softImpute-ALS: see soft_impute.h. A and B are the comparator's u and v.
 *
 * With R = P(X - A B') and balanced A, B (A'A = B'B = D^2), X*'A = R'A + B D^2. The singular value
 * decomposition of A B' is steps/rotate's, from the Gram matrices of A and B; directions that are rounding
 * beside the first are dropped there, for good. */
#include "solvers/soft_impute.h"

#include <math.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "maths/kernels.h"
#include "maths/tall.h"
#include "solvers/comparator.h"
#include "steps/rotate.h"

enum { STRIP = 1024 /* rows of one task */ };

typedef struct {
    gcg_factors product[2]; /* R B (rows x k) and R'A (cols x k) */
    double *d2;             /* k: D^2, the singular values of W */
    double *factor;         /* k */
    char *keep, *share;     /* k reals each: D^2 and 1 / (D^2 + lambda) */
    gcg_vector_ops ops;
} soft;

/* row <- (row * keep + product's row) * share, entry by entry; without a product, row * share. */
typedef struct {
    const soft *s;
    gcg_factors *moved;
    const gcg_factors *product;
} move_call;

static char *row_of(const gcg_factors *f, int64_t i)
{
    return (char *)f->data + (size_t)i * (size_t)f->stride * (size_t)f->type;
}

static void move_task(int64_t strip, void *ctx)
{
    const move_call *c = ctx;
    const gcg_vector_ops *ops = &c->s->ops;
    int64_t end = (strip + 1) * STRIP < c->moved->rows ? (strip + 1) * STRIP : c->moved->rows;
    int32_t width = c->moved->k;
    for (int64_t i = strip * STRIP; i < end; i++) {
        char *row = row_of(c->moved, i);
        if (c->product) {
            ops->multiply(width, row, c->s->keep, row);
            ops->axpy(width, 1, row_of(c->product, i), row);
        }
        ops->multiply(width, row, c->s->share, row);
    }
}

static void move(const soft *s, gcg_factors *moved, const gcg_factors *product)
{
    move_call call = {s, moved, product};
    gcg_par_blocks(((int64_t)moved->rows + STRIP - 1) / STRIP, move_task, &call);
}

/* D^2 and the balanced basis of A B'. */
static gcg_status decompose(soft *s, gcg_comparator *c, gcg_err *err)
{
    const double drop = 1e-14; /* of the first: the rounding of Gram matrices, which are in double */
    return gcg_rotate_balance(&c->u, &c->v, drop, s->d2, err);
}

/* One ridge regression: of B given A (side 1) or of A given B (side 0). */
static gcg_status regress(soft *s, gcg_comparator *c, int side, double lambda, gcg_err *err)
{
    int32_t k = c->u.k;
    gcg_factors *product = &s->product[side];
    gcg_residual r = gcg_comparator_residual(c);
    product->k = k;
    gcg_pass_residual_fast(c->pass, &c->u, &c->v, c->r);
    if (side)
        gcg_pass_times_t(c->pass, &r, &c->u, product);
    else
        gcg_pass_times(c->pass, &r, &c->v, product);
    for (int32_t q = 0; q < k; q++) s->factor[q] = 1 / (s->d2[q] + lambda);
    s->ops.from_double(k, s->d2, s->keep);
    s->ops.from_double(k, s->factor, s->share);
    move(s, side ? &c->v : &c->u, product);
    c->passes += 2;
    c->matvecs += k;
    return decompose(s, c, err);
}

static gcg_status sweep(void *self, gcg_comparator *c, gcg_err *err)
{
    gcg_status status = regress(self, c, 1, c->set->lambda, err);
    if (status || gcg_watch_step(c->watch, 0.5)) return status;
    return regress(self, c, 0, c->set->lambda, err);
}

/* A <- X*V, which is the regression without a penalty; then the singular values are lowered, in both factors
 * by the roots of (D^2 - lambda)_+ / D^2. */
static gcg_status finish(void *self, gcg_comparator *c, gcg_err *err)
{
    soft *s = self;
    gcg_status status = regress(s, c, 0, 0, err);
    if (status) return status;
    int32_t kept = 0;
    while (kept < c->u.k && s->d2[kept] > c->set->lambda) kept++;
    gcg_tall_cut(&c->u, kept);
    gcg_tall_cut(&c->v, kept);
    for (int32_t q = 0; q < kept; q++) s->factor[q] = sqrt((s->d2[q] - c->set->lambda) / s->d2[q]);
    s->ops.from_double(kept, s->factor, s->share);
    move(s, &c->u, NULL);
    move(s, &c->v, NULL);
    return GCG_OK;
}

static gcg_status begin(void *self, gcg_comparator *c, gcg_err *err)
{
    soft *s = self;
    int32_t k = c->u.k;
    s->ops = gcg_kernels_vector_ops(c->type);
    s->d2 = gcg_mem_alloc_array(k, sizeof *s->d2);
    s->factor = gcg_mem_alloc_array(k, sizeof *s->factor);
    s->keep = gcg_mem_alloc_array(k, (size_t)c->type);
    s->share = gcg_mem_alloc_array(k, (size_t)c->type);
    if (!s->d2 || !s->factor || !s->keep || !s->share) return gcg_fail_memory(err, "ridge regressions");
    gcg_status status = gcg_factors_init(&s->product[0], c->u.rows, k, c->type, err);
    if (!status) status = gcg_factors_init(&s->product[1], c->v.rows, k, c->type, err);
    if (status) return status;
    gcg_rng rng;
    gcg_rng_init(&rng, c->set->seed, 0);
    for (int32_t i = 0; i < c->u.rows; i++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(&c->u, i, q, gcg_rng_normal(&rng));
    status = gcg_tall_orthonormalise(&c->u, 0, NULL, err);
    gcg_tall_cut(&c->v, c->u.k);
    for (int32_t q = 0; q < c->u.k; q++) s->d2[q] = 1;
    return status;
}

static gcg_status state(void *self, const gcg_comparator *c, const gcg_state_stream *s, gcg_err *err)
{
    soft *own = self;
    return s->pass(s->user, own->d2, c->u.k * (int64_t)sizeof *own->d2, err);
}

gcg_status gcg_soft_impute(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                           gcg_err *err)
{
    soft s = {0};
    gcg_method method = {&s, begin, state, sweep, finish};
    gcg_status status = gcg_comparator_run(&method, x, settings, result, err);
    gcg_factors_release(&s.product[0]);
    gcg_factors_release(&s.product[1]);
    gcg_mem_free(s.d2);
    gcg_mem_free(s.factor);
    gcg_mem_free(s.keep);
    gcg_mem_free(s.share);
    return status;
}

gcg_needs gcg_soft_impute_needs(const gcg_plan_data *d, const gcg_solver_settings *settings, int32_t rank)
{
    gcg_needs n = gcg_comparator_needs(d, settings, rank);
    n.bytes[GCG_NEED_METHOD] = gcg_plan_rows((int64_t)d->rows + d->cols, rank, d->type);
    return n;
}
