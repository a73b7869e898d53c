/* Matrix completion as a gcg_problem: squared loss on observed entries, trace norm.
 *
 *     F(W) = 1/2 sum over Omega of (x_ij - w_ij)^2 + lambda ||W||_tr,  W = U V'   (PAPER.md sec. 4,
 * SOLVER.md)
 *
 * U and V lie one after the other in one vector, so that L-BFGS sees a single point. R = P(X - W) = -grad
 * l(W) has one real per rating. Not here: the order of the steps and when to stop (gcg.c), the passes
 * (maths/kernels). */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/blas.h"
#include "maths/certificate.h"
#include "maths/kernels.h"
#include "maths/tall.h"
#include "solvers/gcg.h"
#include "steps/lbfgs.h"
#include "steps/line_search.h"
#include "steps/polar.h"
#include "steps/rotate.h"
#include "steps/two_dim.h"

enum {
    BLOCK_ATOMS = 64, /* atoms a round: SOLVER.md sec. 8, row "1 block" */
    KRYLOV_DEPTH = 4, /* block products: fewer make the atoms too inexact */
    MEMORY = 5,       /* L-BFGS pairs: 3 to 20 need the same iterations */
    INNER_ITERATIONS = 100,
    INNER_LEAST = 3,
    REFRESH = 10,            /* inner iterations between fresh residuals and preconditioners */
    PLAIN_ITERATIONS = 20,   /* the paper's cap */
    PROVE_ALWAYS = 256,      /* min(rows, cols) up to which every bound is proved: it costs nothing */
    CHOLESKY_DEFAULT = 2000, /* ... by Cholesky without being asked */
    CHOLESKY_MOST = 8000,    /* ... with certify */
    SMALL_DATA = 50000       /* ratings below which double precision costs nothing that matters */
};
static const double INNER_REDUCTION = 0.3; /* of the preconditioned gradient: SOLVER.md sec. 5, gamma */
static const double ATOM_MARGIN = 1e-7;    /* sigma_i > lambda (1 + this) makes an atom */
static const double FALSE_BOUND = 1e-6;    /* probability that is stated for rule 4 */
static const double LAST_SECONDS = 0.5;    /* for the bound of a run that stops early */
static const double DOUBLE_GAP = 1e-5;     /* gaps below it need double factors in the end */

typedef struct {
    const gcg_csr *x;
    const gcg_solver_settings *set;
    double lambda;
    double deadline;
    gcg_pass *pass;
    gcg_rng rng;

    gcg_dtype type;
    gcg_factors u, v; /* views of point */
    char *point;      /* (rows + cols) * stride reals */
    void *r, *b, *c;  /* per rating: residual, line search */
    char *workspace;  /* of L-BFGS */
    int64_t workspace_bytes;

    double *s, *inverse_s; /* balanced: squared column norms of U and V */
    gcg_factors rv;        /* R V */
    gcg_point_value value;
    double r_x, r_r;    /* <R, X>, ||R||^2 */
    double x_x;         /* ||P(X)||^2 */
    double sigma;       /* estimate of sigma_1(R) from below */
    gcg_triplets atoms; /* of this round */
    gcg_factors spare;  /* unused Ritz vectors of the last one */
    gcg_linop op;       /* R */
    int64_t block_matvecs;
} completion;

static int32_t smaller(const completion *m)
{
    return m->x->rows < m->x->cols ? m->x->rows : m->x->cols;
}

/* ---- the point: U and V in one vector ---- */

/* Views of a vector that is laid out like the point. */
static void views(const completion *m, void *vector, gcg_factors *u, gcg_factors *v)
{
    *u = m->u;
    *v = m->v;
    u->data = vector;
    v->data = (char *)vector + (size_t)m->u.rows * (size_t)m->u.stride * (size_t)m->type;
}

static int64_t entries(const completion *m, int32_t stride)
{
    return ((int64_t)m->x->rows + m->x->cols) * stride;
}

static int32_t padded(int32_t k)
{
    return (k + GCG_FACTORS_PAD - 1) / GCG_FACTORS_PAD * GCG_FACTORS_PAD;
}

/* Makes room for k columns: a new vector with the old columns (and zeros behind them), u.k and v.k = k. */
static gcg_status lay_out(completion *m, int32_t k, gcg_dtype type, gcg_err *err)
{
    completion old = *m;
    int32_t stride = padded(k), copied = old.u.k < k ? old.u.k : k;
    char *point = gcg_mem_zalloc_array(entries(m, stride), type);
    double *s = gcg_mem_zalloc_array(2 * (int64_t)k + 1, sizeof *s);
    if (!point || !s) {
        gcg_mem_free(point);
        gcg_mem_free(s);
        return gcg_fail_memory(err, "factors");
    }
    m->type = type;
    m->u = (gcg_factors){.rows = m->x->rows, .k = k, .stride = stride, .type = type};
    m->v = (gcg_factors){.rows = m->x->cols, .k = k, .stride = stride, .type = type};
    views(m, point, &m->u, &m->v);
    for (int side = 0; side < 2; side++) {
        const gcg_factors *from = side ? &old.v : &old.u;
        gcg_factors *to = side ? &m->v : &m->u;
        for (int32_t i = 0; i < to->rows; i++)
            if (from->type == type)
                memcpy((char *)to->data + (size_t)i * (size_t)stride * (size_t)type,
                       (char *)from->data + (size_t)i * (size_t)from->stride * (size_t)type,
                       (size_t)copied * (size_t)type);
            else
                for (int32_t q = 0; q < copied; q++) gcg_factors_set(to, i, q, gcg_factors_get(from, i, q));
    }
    if (copied > 0) memcpy(s, old.s, (size_t)copied * sizeof *s);
    gcg_mem_free(old.point);
    gcg_mem_free(old.s);
    m->point = point;
    m->s = s;
    m->inverse_s = s + k;
    return GCG_OK;
}

static gcg_status shrink(completion *m, gcg_err *err)
{
    return padded(m->u.k) < m->u.stride ? lay_out(m, m->u.k, m->type, err) : GCG_OK;
}

typedef struct {
    completion *m;
    const char *d; /* a direction to add */
    void *out;     /* a vector to change */
    double step, *partial;
} vector_ctx;

enum { VECTOR_BLOCK = 65536 };

static int64_t vector_block(const vector_ctx *c, int64_t block, size_t *offset)
{
    int64_t total = entries(c->m, c->m->u.stride), start = block * VECTOR_BLOCK;
    *offset = (size_t)start * (size_t)c->m->type;
    return total - start < VECTOR_BLOCK ? total - start : VECTOR_BLOCK;
}

static int64_t vector_blocks(const completion *m)
{
    return (entries(m, m->u.stride) + VECTOR_BLOCK - 1) / VECTOR_BLOCK;
}

static void norm_task(int64_t block, void *ctx)
{
    const vector_ctx *c = ctx;
    size_t offset;
    int64_t n = vector_block(c, block, &offset);
    c->partial[block] = gcg_kernels_vector_ops(c->m->type).dot(n, c->m->point + offset, c->m->point + offset);
}

/* rho = 1/2 (||U||^2 + ||V||^2), in double. */
static gcg_status compute_rho(completion *m, double *rho, gcg_err *err)
{
    int64_t blocks = vector_blocks(m);
    vector_ctx c = {.m = m, .partial = gcg_mem_alloc_array(blocks, sizeof(double))};
    if (!c.partial) return gcg_fail_memory(err, "norm");
    gcg_par_blocks(blocks, norm_task, &c);
    *rho = 0.5 * gcg_par_sum(c.partial, blocks);
    gcg_mem_free(c.partial);
    return GCG_OK;
}

/* Loss, rho and F at the point, residual afresh in double. */
static gcg_status value_here(completion *m, gcg_point_value *value, gcg_err *err)
{
    value->loss = 0.5 * gcg_pass_residual(m->pass, &m->u, &m->v, m->r);
    value->rank = m->u.k;
    gcg_status status = compute_rho(m, &value->rho, err);
    value->objective = value->loss + m->lambda * value->rho;
    return status;
}

static gcg_status balance(completion *m, gcg_err *err)
{
    const double drop = m->type == GCG_FLOAT ? 1e-7 : 1e-14; /* relative: below it a column is rounding */
    gcg_status status = gcg_rotate_balance(&m->u, &m->v, drop, m->s, err);
    for (int32_t q = 0; !status && q < m->u.k; q++) m->inverse_s[q] = 1 / m->s[q];
    return status ? status : shrink(m, err);
}

static gcg_status evaluate(void *self, gcg_point_value *value, gcg_err *err)
{
    completion *m = self;
    gcg_status status = m->set->plain ? GCG_OK : balance(m, err);
    if (!status) status = value_here(m, &m->value, err);
    if (status) return status;
    *value = m->value;
    m->r_x = gcg_pass_inner_x(m->pass, m->type, m->r);
    m->r_r = gcg_pass_inner(m->pass, m->type, m->r, m->r);
    if (m->set->plain) return GCG_OK;
    gcg_factors_release(&m->rv);
    status = gcg_factors_init(&m->rv, m->x->rows, m->u.k, m->type, err);
    if (status) return status;
    gcg_pass_times(m->pass, m->r, &m->v, &m->rv);
    m->block_matvecs += m->u.k;
    return GCG_OK;
}

/* ---- line 3 ---- */

static void op_times(void *ctx, const double *x, double *y)
{
    completion *m = ctx;
    gcg_pass_matvec(m->pass, m->type, m->r, x, y);
}

static void op_times_t(void *ctx, const double *y, double *x)
{
    completion *m = ctx;
    gcg_pass_matvec_t(m->pass, m->type, m->r, y, x);
}

static void block_times(void *ctx, const gcg_factors *z, gcg_factors *y)
{
    completion *m = ctx;
    gcg_pass_times(m->pass, m->r, z, y);
    m->block_matvecs += z->k;
}

static void block_times_t(void *ctx, const gcg_factors *y, gcg_factors *z)
{
    completion *m = ctx;
    gcg_pass_times_t(m->pass, m->r, y, z);
    m->block_matvecs += y->k;
}

/* The one atom of the paper. */
static gcg_status polar_plain(completion *m, gcg_err *err)
{
    const double tolerance = 1e-6; /* of sigma^2: eps_t in (38) */
    double *u = gcg_mem_alloc_array(m->x->rows, sizeof *u), *v = gcg_mem_alloc_array(m->x->cols, sizeof *v);
    gcg_status status = u && v ? GCG_OK : gcg_fail_memory(err, "polar");
    gcg_triplets_release(&m->atoms);
    if (!status) status = gcg_polar_top(&m->op, tolerance, m->set->seed, &m->sigma, u, v, err);
    if (!status) status = gcg_factors_init(&m->atoms.u, m->x->rows, 1, m->type, err);
    if (!status) status = gcg_factors_init(&m->atoms.v, m->x->cols, 1, m->type, err);
    m->atoms.sigma = gcg_mem_zalloc_array(1, sizeof *m->atoms.sigma);
    if (!status && !m->atoms.sigma) status = gcg_fail_memory(err, "polar");
    if (!status) {
        m->atoms.count = 1;
        m->atoms.sigma[0] = m->sigma;
        for (int32_t i = 0; i < m->x->rows; i++) gcg_factors_set(&m->atoms.u, i, 0, u[i]);
        for (int32_t j = 0; j < m->x->cols; j++) gcg_factors_set(&m->atoms.v, j, 0, v[j]);
    }
    gcg_mem_free(u);
    gcg_mem_free(v);
    return status;
}

/* sigma_1(R) from below: Ritz value on span[Q, atoms' V] (SOLVER.md sec. 4, rule 1). R Q comes from rv. */
static gcg_status ritz_estimate(completion *m, gcg_err *err)
{
    int32_t k = m->u.k, b = m->atoms.count;
    int64_t n = (int64_t)k + b;
    m->sigma = 0;
    if (n == 0) return GCG_OK;
    gcg_factors rz = {0};
    double *gram = gcg_mem_alloc_array(n * n, sizeof *gram), *part = gcg_mem_alloc_array(n * n, sizeof *part),
           *values = gcg_mem_alloc_array(n, sizeof *values);
    gcg_status status = gram && part && values ? GCG_OK : gcg_fail_memory(err, "spectral norm");
    if (!status) status = gcg_factors_init(&rz, m->x->rows, b, m->type, err);
    if (!status) block_times(m, &m->atoms.v, &rz);
    const gcg_factors *parts[2] = {&m->rv, &rz};
    for (int s = 0; s < 2 && !status; s++)
        for (int t = 0; t <= s && !status; t++) {
            status = gcg_tall_gram(parts[s], parts[t], 0, part, err);
            int32_t row = s ? k : 0, col = t ? k : 0;
            for (int32_t i = 0; i < parts[s]->k; i++)
                for (int32_t j = 0; j < parts[t]->k; j++) {
                    double scale = sqrt((s ? 1 : m->inverse_s[i]) * (t ? 1 : m->inverse_s[j]));
                    double value = part[(int64_t)i * parts[t]->k + j] * scale;
                    gram[(row + i) * n + col + j] = gram[(col + j) * n + row + i] = value;
                }
        }
    if (!status) status = gcg_blas_eigen((int32_t)n, gram, values, err);
    if (!status) m->sigma = sqrt(fmax(values[n - 1], 0));
    gcg_factors_release(&rz);
    gcg_mem_free(gram);
    gcg_mem_free(part);
    gcg_mem_free(values);
    return status;
}

static gcg_status polar(void *self, double *estimate, gcg_err *err)
{
    completion *m = self;
    gcg_status status;
    if (m->set->plain) {
        status = polar_plain(m, err);
    } else {
        int32_t left = smaller(m) - m->u.k, block = m->set->atoms ? m->set->atoms : BLOCK_ATOMS;
        if (block > left) block = left;
        gcg_triplets_release(&m->atoms);
        status = GCG_OK;
        if (block > 0) {
            gcg_block_op op = {m->x->rows, m->x->cols, m->type, m, block_times, block_times_t};
            status = gcg_polar_block(&op, &m->u, &m->v, m->inverse_s, m->spare.k ? &m->spare : NULL, block,
                                     KRYLOV_DEPTH, &m->rng, &m->atoms, err);
        }
        if (!status && !m->atoms.v.data) status = gcg_factors_init(&m->atoms.v, m->x->cols, 0, m->type, err);
        if (!status) status = ritz_estimate(m, err);
    }
    *estimate = m->sigma;
    return status;
}

/* ---- certificate ---- */

/* The relative amount by which sigma_1 may be guarded before the gap rises above `wanted`; 0 when it is above
 * already. */
static double guard_room(const completion *m, double wanted)
{
    double low = 0, high = 0.1; /* more is never worth having */
    for (int i = 0; i < 50; i++) {
        double middle = 0.5 * (low + high);
        double dual = gcg_certificate_dual(m->lambda, m->sigma * (1 + middle), m->r_x, m->r_r);
        if (gcg_certificate_gap(m->value.objective, dual) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A proof that needs no better estimate than the one at hand: any bound within the room will do. Otherwise
 * (exact) sigma_1 is computed first, and the tightest bound wanted. *sigma is INFINITY when nothing was
 * proved. */
static gcg_status prove_cholesky(completion *m, double room, int exact, double *sigma, gcg_err *err)
{
    const double usual = 1e-8; /* SOLVER.md sec. 4, rule 3 */
    double found = 0, guard = exact ? fmin(usual, 0.25 * room) : room / 9.1, most = exact ? 0.1 : room;
    gcg_csr residual = *m->x;
    residual.val_f = m->type == GCG_FLOAT ? m->r : NULL;
    residual.val_d = m->type == GCG_DOUBLE ? m->r : NULL;
    gcg_status status = GCG_OK;
    if (exact) status = gcg_polar_top(&m->op, fmax(guard, 1e-15), m->set->seed, &found, NULL, NULL, err);
    if (!status) status = gcg_certificate_cholesky(&residual, fmax(found, m->sigma), guard, most, sigma, err);
    return status;
}

/* Seconds of one product with R, measured. */
static double product_seconds(completion *m, double *x, double *y)
{
    double start = gcg_clock_now();
    gcg_linop_times(&m->op, x, y);
    gcg_linop_times_t(&m->op, y, x);
    return 0.5 * (gcg_clock_now() - start);
}

/* Seconds of a Lanczos run of so many steps (SOLVER.md sec. 4, rule 4), with `product` seconds a product with
 * R. */
static double lanczos_seconds(const completion *m, double steps, double product)
{
    const double reorthogonalising = 0.5e-9; /* seconds per entry of the basis and step, measured */
    return steps * 2 * product + reorthogonalising * steps * steps * smaller(m);
}

/* Seconds of the Cholesky proof: the sums of the Gram matrix and one factorisation. */
static double cholesky_seconds(const completion *m)
{
    const double adding = 0.5e-9, factoring = 0.05e-9; /* seconds per multiply-add, measured */
    double n = smaller(m), pairs = (double)m->x->nnz * ((double)m->x->nnz / n);
    return adding * pairs + factoring * n * n * n / 3;
}

/* The least eps whose Lanczos run takes no longer than LAST_SECONDS; 1 when none does. */
static gcg_status affordable_eps(completion *m, double *eps, gcg_err *err)
{
    double *x = gcg_mem_zalloc_array(m->x->cols, sizeof *x), *y = gcg_mem_zalloc_array(m->x->rows, sizeof *y);
    gcg_status status = x && y ? GCG_OK : gcg_fail_memory(err, "certificate");
    *eps = 1;
    if (!status) {
        double product = product_seconds(m, x, y);
        for (double e = 0.1; e >= 1e-6; e /= 2)
            if (lanczos_seconds(m, gcg_polar_bound_steps(smaller(m), e, FALSE_BOUND), product) <=
                LAST_SECONDS)
                *eps = e;
    }
    gcg_mem_free(x);
    gcg_mem_free(y);
    return status;
}

/* Which proof of a bound within eps on sigma^2: Cholesky where it is asked for, usual, or cheaper. The choice
 * depends on the data alone, not on times measured, so that it is the same for any number of threads. */
static int by_cholesky(const completion *m, double eps)
{
    const double product = 1e-9; /* seconds per rating on one thread */
    int32_t n = smaller(m);
    if (n <= CHOLESKY_DEFAULT || n > CHOLESKY_MOST) return n <= CHOLESKY_DEFAULT;
    return m->set->certify ||
           cholesky_seconds(m) <
               lanczos_seconds(m, gcg_polar_bound_steps(n, eps, FALSE_BOUND), product * (double)m->x->nnz);
}

static gcg_status bound(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *out, gcg_err *err)
{
    completion *m = self;
    gcg_status status = GCG_OK;
    double sigma = m->sigma, room = guard_room(m, wanted_gap);
    /* s^2 = theta / (1 - eps) uses half of the room, what the estimate may be short of the other half */
    double eps = fmin(room, 0.05), least = 0.1 * wanted_gap;
    int last = effort == GCG_BOUND_LAST;
    *out = (gcg_bound){.rule = GCG_CERT_ESTIMATE};
    if (smaller(m) <= PROVE_ALWAYS || (effort != GCG_BOUND_ESTIMATE && by_cholesky(m, fmax(eps, least)) &&
                                       (!last || cholesky_seconds(m) <= LAST_SECONDS))) {
        int exact = last || room == 0 || smaller(m) <= PROVE_ALWAYS;
        status = prove_cholesky(m, room > 0 ? room : wanted_gap, exact, &sigma, err);
        if (sigma < INFINITY)
            out->rule = GCG_CERT_CHOLESKY;
        else
            sigma = m->sigma * (1 + room); /* so much is known now */
    } else if (effort != GCG_BOUND_ESTIMATE) {
        if (last) {
            status = affordable_eps(m, &least, err);
            eps = fmax(least, eps);
        }
        if (!status && eps >= least && eps < 1) {
            status = gcg_polar_bound(&m->op, eps, FALSE_BOUND, m->set->seed, &sigma, NULL, err);
            out->rule = GCG_CERT_PROBABILITY;
            out->probability = FALSE_BOUND;
        }
    }
    if (sigma > m->sigma) m->sigma = sigma;
    out->dual = gcg_certificate_dual(m->lambda, sigma, m->r_x, m->r_r);
    return status;
}

/* ---- lines 4 and 5 ---- */

/* out = the first k columns of f times scale. */
static gcg_status scaled_columns(const gcg_factors *f, const double *scale, int32_t k, gcg_factors *out,
                                 gcg_err *err)
{
    gcg_status status = gcg_factors_init(out, f->rows, k, f->type, err);
    for (int32_t i = 0; !status && i < f->rows; i++)
        for (int32_t q = 0; q < k; q++) gcg_factors_set(out, i, q, scale[q] * gcg_factors_get(f, i, q));
    return status;
}

/* Line 4 for the first atom: the step and F at the stepped point. */
static gcg_status line4(completion *m, gcg_two_dim_step *step, double *value, gcg_err *err)
{
    const double one = 1;
    gcg_factors u = {0}, v = {0};
    gcg_status status = scaled_columns(&m->atoms.u, &one, 1, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, &one, 1, &v, err);
    if (!status) {
        gcg_pass_dots(m->pass, &u, &v, m->b);
        /* a = P(W) = x - r: every inner product from those of b with x and r, and of r and x */
        double b_b = gcg_pass_inner(m->pass, m->type, m->b, m->b),
               b_r = gcg_pass_inner(m->pass, m->type, m->b, m->r),
               b_x = gcg_pass_inner_x(m->pass, m->type, m->b);
        double A = m->x_x - 2 * m->r_x + m->r_r, C = b_x - b_r, a_x = m->x_x - m->r_x;
        *step = gcg_two_dim(A, b_b, C, a_x - m->lambda * m->value.rho, b_x - m->lambda);
        *value = 0.5 * m->x_x + step->phi;
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Appends the columns of u and v behind the point's. */
static gcg_status append(completion *m, const gcg_factors *u, const gcg_factors *v, gcg_err *err)
{
    int32_t k = m->u.k;
    gcg_status status = lay_out(m, k + u->k, m->type, err);
    if (status) return status;
    for (int side = 0; side < 2; side++) {
        const gcg_factors *from = side ? v : u;
        gcg_factors *to = side ? &m->v : &m->u;
        for (int32_t i = 0; i < to->rows; i++)
            for (int32_t q = 0; q < from->k; q++) gcg_factors_set(to, i, k + q, gcg_factors_get(from, i, q));
    }
    return GCG_OK;
}

/* Line 5 to the letter: U <- [sqrt(1-eta) U, sqrt(theta) u], V likewise. An atom with theta = 0 would be a
 * saddle: left out. */
static gcg_status extend_by_line4(completion *m, const gcg_two_dim_step *step, int32_t *added, gcg_err *err)
{
    gcg_factors u = {0}, v = {0};
    double root = sqrt(step->theta), keep = sqrt(1 - step->eta);
    gcg_vector_ops ops = gcg_kernels_vector_ops(m->type);
    ops.scale(entries(m, m->u.stride), keep, m->point, m->point);
    *added = 0;
    if (!(step->theta > 0)) return GCG_OK;
    gcg_status status = scaled_columns(&m->atoms.u, &root, 1, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, &root, 1, &v, err);
    if (!status) status = append(m, &u, &v, err);
    if (!status) *added = 1;
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    return status;
}

/* Step 6 of SOLVER.md: the first `count` atoms, appended as sqrt(t (sigma_i - lambda)) u_i and v_i. */
static gcg_status append_atoms(completion *m, int32_t count, gcg_err *err)
{
    if (count == 0) return GCG_OK;
    gcg_factors u = {0}, v = {0};
    double *scale = gcg_mem_alloc_array(count, sizeof *scale), gain = 0;
    gcg_status status = scale ? GCG_OK : gcg_fail_memory(err, "atoms");
    for (int32_t q = 0; q < count && !status; q++) {
        double excess = m->atoms.sigma[q] - m->lambda;
        scale[q] = sqrt(excess);
        gain += excess * excess;
    }
    if (!status) status = scaled_columns(&m->atoms.u, scale, count, &u, err);
    if (!status) status = scaled_columns(&m->atoms.v, scale, count, &v, err);
    if (!status) { /* t = sum (sigma_i - lambda)^2 / ||P(D)||^2 */
        gcg_pass_dots(m->pass, &u, &v, m->b);
        double d_d = gcg_pass_inner(m->pass, m->type, m->b, m->b), t = d_d > 0 ? gain / d_d : 1;
        gcg_vector_ops ops = gcg_kernels_vector_ops(m->type);
        ops.scale((int64_t)u.rows * u.stride, sqrt(t), u.data, u.data);
        ops.scale((int64_t)v.rows * v.stride, sqrt(t), v.data, v.data);
        status = append(m, &u, &v, err);
    }
    gcg_factors_release(&u);
    gcg_factors_release(&v);
    gcg_mem_free(scale);
    return status;
}

/* Shrinks the appended columns until F is no higher than before: t was computed with R from before the
 * proximal step. */
static gcg_status settle_atoms(completion *m, int32_t first, double before, gcg_point_value *value,
                               gcg_err *err)
{
    enum { HALVINGS = 30 };
    const double rounding = m->type == GCG_FLOAT ? 1e-7 : 1e-14;
    gcg_status status = value_here(m, value, err);
    for (int i = 0; i < HALVINGS && !status && m->u.k > first && value->objective > before * (1 + rounding);
         i++) {
        const double root_half = 0.70710678118654752;
        for (int side = 0; side < 2; side++) {
            gcg_factors *f = side ? &m->v : &m->u;
            for (int32_t x = 0; x < f->rows; x++)
                for (int32_t q = first; q < f->k; q++)
                    gcg_factors_set(f, x, q, root_half * gcg_factors_get(f, x, q));
        }
        status = value_here(m, value, err);
    }
    return status;
}

/* Unused Ritz vectors start the next block. */
static gcg_status keep_spare(completion *m, int32_t used, gcg_err *err)
{
    gcg_factors_release(&m->spare);
    int32_t left = m->atoms.count - used;
    gcg_status status = gcg_factors_init(&m->spare, m->x->cols, left, m->type, err);
    for (int32_t j = 0; !status && j < m->spare.rows; j++)
        for (int32_t q = 0; q < left; q++)
            gcg_factors_set(&m->spare, j, q, gcg_factors_get(&m->atoms.v, j, used + q));
    return status;
}

static int32_t room_for_atoms(const completion *m)
{
    int32_t cap = m->set->rank > 0 ? m->set->rank : smaller(m);
    return cap > m->u.k ? cap - m->u.k : 0;
}

/* Proximal step and a block of atoms, or line 4's point when that is lower. */
static gcg_status step_block(completion *m, int32_t *added, gcg_err *err)
{
    gcg_two_dim_step step4 = {0};
    gcg_point_value value;
    double before = m->value.objective, value4 = INFINITY;
    int have4 = m->atoms.count > 0 && m->atoms.sigma[0] > m->lambda && room_for_atoms(m) > 0;
    gcg_factors old_u = {0}, old_v = {0};
    gcg_status status = GCG_OK;
    if (have4) {
        status = line4(m, &step4, &value4, err);
        if (!status) status = gcg_factors_copy(&m->u, m->type, &old_u, err);
        if (!status) status = gcg_factors_copy(&m->v, m->type, &old_v, err);
    }
    if (!status) status = gcg_rotate_prox(&m->u, &m->v, &m->rv, m->lambda, m->s, err);
    if (!status) status = shrink(m, err);
    int32_t first = m->u.k, count = 0, room = room_for_atoms(m);
    if (!status) {
        while (count < m->atoms.count && count < room &&
               m->atoms.sigma[count] > m->lambda * (1 + ATOM_MARGIN) && m->atoms.sigma[count] > 0)
            count++;
        status = append_atoms(m, count, err);
    }
    if (!status) status = settle_atoms(m, first, before, &value, err);
    if (!status) status = keep_spare(m, count, err);
    *added = count;
    if (!status && have4 && value.objective > value4 + 1e-7 * before) {
        m->u.k = m->v.k = 0; /* back to the old point, and by line 4 */
        status = append(m, &old_u, &old_v, err);
        if (!status) status = extend_by_line4(m, &step4, added, err);
        if (!status) status = value_here(m, &value, err);
    }
    gcg_factors_release(&old_u);
    gcg_factors_release(&old_v);
    return status;
}

static gcg_status step(void *self, int32_t *added, gcg_err *err)
{
    completion *m = self;
    if (!m->set->plain) return step_block(m, added, err);
    gcg_two_dim_step step4 = {0};
    gcg_point_value value;
    double value4;
    gcg_status status = line4(m, &step4, &value4, err);
    if (!status && room_for_atoms(m) == 0) step4.theta = step4.eta = 0;
    if (!status) status = extend_by_line4(m, &step4, added, err);
    return status ? status : value_here(m, &value, err);
}

/* ---- line 6 ---- */

static void smooth_gradient(void *self, void *g)
{
    completion *m = self;
    gcg_factors gu, gv;
    views(m, g, &gu, &gv);
    gcg_pass_gradient(m->pass, m->r, &m->u, &m->v, m->lambda, &gu, &gv);
}

static void invert_task(int64_t block, void *ctx)
{
    const vector_ctx *c = ctx;
    size_t offset;
    int64_t n = vector_block(c, block, &offset);
    void *at = (char *)c->out + offset;
    for (int64_t e = 0; e < n; e++)
        if (c->m->type == GCG_FLOAT)
            ((float *)at)[e] = ((float *)at)[e] > 0 ? 1 / ((float *)at)[e] : 0;
        else
            ((double *)at)[e] = ((double *)at)[e] > 0 ? 1 / ((double *)at)[e] : 0;
}

/* Diagonal Gauss-Newton: D_iq = lambda + sum_j v_jq^2, likewise for V. */
static void smooth_precondition(void *self, void *inverse)
{
    completion *m = self;
    gcg_factors du, dv;
    views(m, inverse, &du, &dv);
    gcg_pass_squares(m->pass, &m->u, &m->v, m->lambda, &du, &dv);
    vector_ctx c = {.m = m, .out = inverse};
    gcg_par_blocks(vector_blocks(m), invert_task, &c);
}

/* The surrogate along d is a quartic: SOLVER.md sec. 5. */
static double smooth_search(void *self, void *d, double g_d, double d_d, double *change)
{
    completion *m = self;
    gcg_factors du, dv;
    double sums[4];
    views(m, d, &du, &dv);
    gcg_pass_line(m->pass, &m->u, &m->v, &du, &dv, m->r, m->b, m->c, sums);
    const double c[5] = {0, g_d, 0.5 * sums[0] - sums[1] + 0.5 * m->lambda * d_d, sums[2], 0.5 * sums[3]};
    return gcg_line_search_quartic(c, change);
}

static void add_task(int64_t block, void *ctx)
{
    const vector_ctx *c = ctx;
    size_t offset;
    int64_t n = vector_block(c, block, &offset);
    gcg_kernels_vector_ops(c->m->type).axpy(n, c->step, c->d + offset, c->m->point + offset);
}

static void smooth_move(void *self, const void *d, double step_length)
{
    completion *m = self;
    vector_ctx c = {.m = m, .d = d, .step = step_length};
    gcg_par_blocks(vector_blocks(m), add_task, &c);
    gcg_pass_line_move(m->pass, m->type, step_length, m->r, m->b, m->c);
}

static void smooth_refresh(void *self)
{
    completion *m = self;
    gcg_pass_residual_fast(m->pass, &m->u, &m->v, m->r);
}

static int smooth_interrupted(void *self)
{
    const completion *m = self;
    return gcg_interrupt_requested() || gcg_clock_now() >= m->deadline;
}

/* An inner iteration that gains less is lost time. F - F* goes with the square of the gap (SOLVER.md sec. 4,
 * table), so at small gaps much smaller gains still matter. */
static double least_decrease(double gap, double objective)
{
    double relative = objective > 0 ? gap / objective : 0;
    return objective * fmin(1e-8 * relative, 1e-4 * relative * relative);
}

static gcg_status improve(void *self, double gap, gcg_err *err)
{
    completion *m = self;
    if (m->u.k == 0) return GCG_OK;
    gcg_smooth f = {.n = entries(m, m->u.stride),
                    .type = m->type,
                    .self = m,
                    .gradient = smooth_gradient,
                    .precondition = m->set->plain ? NULL : smooth_precondition,
                    .search = smooth_search,
                    .move = smooth_move,
                    .refresh = smooth_refresh,
                    .interrupted = smooth_interrupted};
    gcg_lbfgs_settings set = {.memory = MEMORY,
                              .max_iterations = INNER_ITERATIONS,
                              .min_iterations = INNER_LEAST,
                              .reduction = INNER_REDUCTION,
                              .least_decrease = least_decrease(gap, m->value.objective),
                              .refresh_every = REFRESH};
    if (m->set->plain)
        set = (gcg_lbfgs_settings){
            .memory = MEMORY, .max_iterations = PLAIN_ITERATIONS, .refresh_every = REFRESH};
    int64_t bytes = gcg_lbfgs_bytes(f.n, m->type, MEMORY);
    if (bytes >
        m->workspace_bytes) { /* grows by steps, so that pages are not given back and taken anew each time */
        gcg_mem_free(m->workspace);
        m->workspace_bytes = 0;
        m->workspace = gcg_mem_alloc_array(bytes, 1);
        if (!m->workspace) return gcg_fail_memory(err, "L-BFGS");
        m->workspace_bytes = bytes;
    }
    gcg_lbfgs_result result;
    return gcg_lbfgs(&f, &set, m->workspace, &result, err);
}

/* ---- start, precision, end ---- */

static void release(completion *m)
{
    gcg_pass_free(m->pass);
    gcg_mem_free(m->point);
    gcg_mem_free(m->s);
    gcg_mem_free(m->r);
    gcg_mem_free(m->b);
    gcg_mem_free(m->c);
    gcg_mem_free(m->workspace);
    gcg_factors_release(&m->rv);
    gcg_factors_release(&m->spare);
    gcg_triplets_release(&m->atoms);
}

static gcg_status rating_arrays(completion *m, gcg_dtype type, gcg_err *err)
{
    void **arrays[3] = {&m->r, &m->b, &m->c};
    for (int i = 0; i < 3; i++) {
        gcg_mem_free(*arrays[i]);
        *arrays[i] = gcg_mem_alloc_array(m->x->nnz, type);
        if (!*arrays[i]) return gcg_fail_memory(err, "residual");
    }
    return GCG_OK;
}

static gcg_status widen(void *self, int *widened, gcg_err *err)
{
    completion *m = self;
    *widened = m->type == GCG_FLOAT && m->set->precision == GCG_PRECISION_AUTO;
    if (!*widened) return GCG_OK;
    gcg_factors_release(&m->rv);
    gcg_factors_release(&m->spare);
    gcg_triplets_release(&m->atoms);
    gcg_status status = rating_arrays(m, GCG_DOUBLE, err);
    return status ? status : lay_out(m, m->u.k, GCG_DOUBLE, err);
}

static gcg_status finish(void *self, gcg_point_value *value, gcg_err *err)
{
    completion *m = self;
    gcg_status status = m->set->plain ? balance(m, err) : GCG_OK;
    if (!status && m->set->plain) status = value_here(m, &m->value, err);
    *value = m->value;
    return status;
}

static void describe(void *self, gcg_progress *progress)
{
    completion *m = self;
    progress->train_rmse = sqrt(2 * m->value.loss / (double)m->x->nnz);
    progress->matvecs = m->block_matvecs + m->op.matvecs;
    progress->passes = gcg_pass_count(m->pass);
    progress->u = &m->u;
    progress->v = &m->v;
}

static gcg_dtype first_type(const gcg_csr *x, const gcg_solver_settings *set)
{
    if (set->precision != GCG_PRECISION_AUTO)
        return set->precision == GCG_PRECISION_FLOAT ? GCG_FLOAT : GCG_DOUBLE;
    return x->nnz <= SMALL_DATA ? GCG_DOUBLE : GCG_FLOAT;
}

static gcg_status init(completion *m, const gcg_csr *x, const gcg_solver_settings *set, double start,
                       gcg_err *err)
{
    *m = (completion){.x = x, .set = set, .lambda = set->lambda, .deadline = start + set->max_time};
    gcg_rng_init(&m->rng, set->seed, 0);
    m->op = (gcg_linop){x->rows, x->cols, m, op_times, op_times_t, 0};
    gcg_status status = gcg_pass_new(x, &m->pass, err);
    m->x_x = gcg_csr_value_stats(x).sum_squares;
    m->type = first_type(x, set);
    if (!status) status = rating_arrays(m, m->type, err);
    return status ? status : lay_out(m, 0, m->type, err);
}

static gcg_status copy_result(completion *m, gcg_solver_result *result, gcg_err *err)
{
    int32_t k = m->u.k;
    gcg_status status = gcg_factors_copy(&m->u, m->type, &result->u, err);
    if (!status) status = gcg_factors_copy(&m->v, m->type, &result->v, err);
    if (status) return status;
    result->singular_values = gcg_mem_alloc_array(k, sizeof *result->singular_values);
    if (!result->singular_values) return gcg_fail_memory(err, "result");
    if (k > 0) memcpy(result->singular_values, m->s, (size_t)k * sizeof *m->s);
    result->last.u = &result->u;
    result->last.v = &result->v;
    return GCG_OK;
}

gcg_status gcg_complete(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                        gcg_err *err)
{
    double start = gcg_clock_now();
    completion m;
    *result = (gcg_solver_result){0};
    gcg_status status = init(&m, x, settings, start, err);
    gcg_problem problem = {&m,   settings->lambda, evaluate, polar,  bound,
                           step, improve,          widen,    finish, describe};
    if (!status) status = gcg_run(&problem, settings, start, &result->stop, &result->last, err);
    if (!status) status = copy_result(&m, result, err);
    release(&m);
    if (status) gcg_solver_result_release(result);
    return status;
}

/* ---- lambda_max ---- */

typedef struct {
    gcg_pass *pass;
    gcg_dtype type;
    const void *values;
} data_op;

static void data_times(void *ctx, const double *x, double *y)
{
    data_op *d = ctx;
    gcg_pass_matvec(d->pass, d->type, d->values, x, y);
}

static void data_times_t(void *ctx, const double *y, double *x)
{
    data_op *d = ctx;
    gcg_pass_matvec_t(d->pass, d->type, d->values, y, x);
}

gcg_status gcg_lambda_max(const gcg_csr *x, uint64_t seed, double *lambda_max, gcg_err *err)
{
    const double tolerance = 1e-12; /* of sigma^2 */
    data_op d = {.type = x->val_f ? GCG_FLOAT : GCG_DOUBLE,
                 .values = x->val_f ? (const void *)x->val_f : x->val_d};
    gcg_status status = gcg_pass_new(x, &d.pass, err);
    gcg_linop op = {x->rows, x->cols, &d, data_times, data_times_t, 0};
    if (!status) status = gcg_polar_top(&op, tolerance, seed, lambda_max, NULL, NULL, err);
    gcg_pass_free(d.pass);
    return status;
}

int64_t gcg_complete_memory(const gcg_csr *x, const gcg_solver_settings *set, int32_t rank)
{
    int64_t least = x->rows < x->cols ? x->rows : x->cols, size = first_type(x, set),
            atoms = set->atoms ? set->atoms : BLOCK_ATOMS;
    if (set->gap < DOUBLE_GAP && set->precision == GCG_PRECISION_AUTO) size = GCG_DOUBLE;
    if (rank <= 0 || rank > least) rank = (int32_t)least;
    if (atoms > least) atoms = least;
    int64_t sides = (int64_t)x->rows + x->cols, k = padded(rank);
    int64_t ratings = 3 * x->nnz * size;
    /* the point, twice while it is laid out anew, a copy beside it in the step, and R V */
    int64_t factors = 3 * sides * k * size + (int64_t)x->rows * k * size;
    int64_t lbfgs = gcg_lbfgs_bytes(sides * k, (gcg_dtype)size, MEMORY);
    int64_t krylov = sides * padded((int32_t)atoms) * (KRYLOV_DEPTH + 2) * size;
    int64_t small = 8 * (8 * k * k + 4 * (KRYLOV_DEPTH * atoms) * (KRYLOV_DEPTH * atoms));
    int64_t proof =
        least <= (set->certify ? CHOLESKY_MOST : CHOLESKY_DEFAULT) ? 8 * least * least : 8 * 320 * least;
    return gcg_pass_bytes(x) + ratings + factors + lbfgs + krylov + small + proof;
}
