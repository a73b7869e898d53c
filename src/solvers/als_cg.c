/* Alternating least squares by conjugate gradients: see als_cg.h.
 *
 * Rows are independent, so threads change nothing. They are taken in blocks of about as many ratings each.
 * The rows of the other factor that a row needs are gathered once into the block's buffer, which stays in L2,
 * and are read there in every step; a row with more ratings than fit reads them in place. */
#include "solvers/als_cg.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "maths/kernels.h"
#include "maths/normal_rows.h"
#include "solvers/comparator.h"

enum {
    BLOCKS = 64,               /* of a half sweep: enough to share among threads */
    GATHER_BYTES = 128 * 1024, /* a block's buffer */
    VECTORS = 3                /* residual, direction, and its product with the matrix: of one row's size */
};

/* The two half sweeps: one moves U by the rows of X, one moves V by those of X'. */
typedef struct {
    const gcg_csr *x;
    int32_t start[BLOCKS + 1]; /* first row of each block */
    const gcg_factors *fixed;
    gcg_factors *moved;
} half;

typedef struct {
    gcg_csr xt;
    half halves[2];
    char *work; /* work_bytes a block */
    size_t work_bytes;
    gcg_normal_rows *product;
    gcg_vector_ops ops;
    double lambda;
} als;

/* The rows of the other factor that belong to one row's ratings: at `f`, rows col[] or, gathered, one after
 * the other. */
typedef struct {
    int64_t n;
    const void *f;
    const int32_t *col;
    const float *xf;
    const double *xd;
} neighbours;

static neighbours gather(const half *h, int32_t i, char *buffer)
{
    const gcg_factors *f = h->fixed;
    int64_t p = h->x->row_ptr[i];
    neighbours g = {h->x->row_ptr[i + 1] - p, f->data, h->x->col + p, NULL, NULL};
    size_t bytes = (size_t)f->stride * (size_t)f->type;
    if (h->x->val_f) g.xf = h->x->val_f + p;
    if (h->x->val_d) g.xd = h->x->val_d + p;
    if (g.n * (int64_t)bytes > GATHER_BYTES) return g;
    for (int64_t e = 0; e < g.n; e++)
        memcpy(buffer + (size_t)e * bytes, (const char *)f->data + (size_t)g.col[e] * bytes, bytes);
    g.f = buffer;
    g.col = NULL;
    return g;
}

/* u <- GCG_ALS_CG_STEPS steps of conjugate gradients on (G'G + lambda) u = G'x; r, p, q: work vectors. */
static void solve_row(const als *a, const neighbours *g, int32_t width, void *u, void *r, void *p, void *q)
{
    const gcg_vector_ops *ops = &a->ops;
    size_t bytes = (size_t)width * (size_t)a->halves[0].moved->type;
    memset(r, 0, bytes); /* r = G'(x - G u) - lambda u */
    a->product(g->n, width, g->f, width, g->col, g->xf, g->xd, u, r);
    ops->axpy(width, -a->lambda, u, r);
    memcpy(p, r, bytes);
    double r_r = ops->dot(width, r, r);
    for (int step = 1; r_r > 0; step++) {
        memset(q, 0, bytes); /* q = (G'G + lambda) p */
        double curvature = a->product(g->n, width, g->f, width, g->col, NULL, NULL, p, q);
        curvature += a->lambda * ops->dot(width, p, p);
        if (!(curvature > 0)) return;
        double length = r_r / curvature;
        ops->axpy(width, length, p, u);
        if (step == GCG_ALS_CG_STEPS) return;
        ops->axpy(width, a->lambda, p, q);
        ops->axpy(width, -length, q, r);
        double last = r_r;
        r_r = ops->dot(width, r, r);
        ops->scale(width, r_r / last, p, p);
        ops->axpy(width, 1, r, p);
    }
}

typedef struct {
    const als *a;
    const half *h;
    const gcg_watch *watch;
} half_call;

static void block_task(int64_t block, void *ctx)
{
    const half_call *c = ctx;
    const half *h = c->h;
    size_t row_bytes = (size_t)h->moved->stride * (size_t)h->moved->type;
    char *work = c->a->work + (size_t)block * c->a->work_bytes, *vectors = work + GATHER_BYTES;
    for (int32_t i = h->start[block]; i < h->start[block + 1] && !gcg_watch_passed(c->watch); i++) {
        void *u = (char *)h->moved->data + (size_t)i * row_bytes;
        if (h->x->row_ptr[i + 1] == h->x->row_ptr[i]) { /* nothing is known of it */
            memset(u, 0, row_bytes);
            continue;
        }
        neighbours g = gather(h, i, work);
        solve_row(c->a, &g, h->moved->stride, u, vectors, vectors + row_bytes, vectors + 2 * row_bytes);
    }
}

static gcg_status sweep(void *self, gcg_comparator *c, gcg_err *err)
{
    als *a = self;
    (void)err;
    for (int side = 0; side < 2 && !gcg_watch_step(c->watch, 0.5 * side); side++) {
        half_call call = {a, &a->halves[side], c->watch};
        gcg_par_blocks(BLOCKS, block_task, &call);
    }
    c->passes += 2 * 2 * (1 + GCG_ALS_CG_STEPS); /* per side and product: once with G, once with G' */
    return GCG_OK;
}

/* V Gaussian, of the size that makes U V' as large as the ratings when U is as large as V. */
static void start_v(gcg_comparator *c)
{
    gcg_rng rng;
    gcg_rng_init(&rng, c->set->seed, 0);
    double rms = sqrt(gcg_csr_value_stats(c->x).sum_squares / (double)c->x->nnz);
    double size = sqrt(rms / c->v.k);
    for (int32_t j = 0; j < c->v.rows; j++)
        for (int32_t q = 0; q < c->v.k; q++) gcg_factors_set(&c->v, j, q, size * gcg_rng_normal(&rng));
}

static gcg_status begin(void *self, gcg_comparator *c, gcg_err *err)
{
    als *a = self;
    a->lambda = c->set->lambda;
    a->product = gcg_normal_rows_of(c->type);
    a->ops = gcg_kernels_vector_ops(c->type);
    a->work_bytes = GATHER_BYTES + VECTORS * (size_t)c->u.stride * (size_t)c->type;
    a->work = gcg_mem_alloc_array(BLOCKS, a->work_bytes);
    if (!a->work) return gcg_fail_memory(err, "alternating least squares");
    gcg_status status = gcg_csr_transpose(c->x, &a->xt, err);
    if (status) return status;
    a->halves[0] = (half){.x = c->x, .fixed = &c->v, .moved = &c->u};
    a->halves[1] = (half){.x = &a->xt, .fixed = &c->u, .moved = &c->v};
    gcg_csr_cut_rows(a->halves[0].x, BLOCKS, a->halves[0].start);
    gcg_csr_cut_rows(a->halves[1].x, BLOCKS, a->halves[1].start);
    start_v(c);
    return GCG_OK;
}

gcg_status gcg_als_cg(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                      gcg_err *err)
{
    als a = {0};
    gcg_method method = {&a, begin, NULL, sweep, NULL};
    gcg_status status = gcg_comparator_run(&method, x, settings, result, err);
    gcg_csr_release(&a.xt);
    gcg_mem_free(a.work);
    return status;
}

gcg_needs gcg_als_cg_needs(const gcg_plan_data *d, const gcg_solver_settings *settings, int32_t rank)
{
    gcg_needs n = gcg_comparator_needs(d, settings, rank);
    int64_t transposed = ((int64_t)d->cols + 1) * 8 + d->nnz * (4 + d->value_bytes);
    n.bytes[GCG_NEED_METHOD] = transposed + BLOCKS * (GATHER_BYTES + gcg_plan_rows(VECTORS, rank, d->type));
    return n;
}
