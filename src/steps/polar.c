/* Spectral norms and singular pairs: see polar.h. The only file that knows ARPACK. */
#include "steps/polar.h"

#include <arpack/arpack.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels.h"
#include "maths/tall.h"

/* ---- the smaller Gram operator ---- */

/* G = A A' (rows <= cols) or A'A; n is its size. */
typedef struct {
    gcg_linop *a;
    int32_t n;
    int of_rows;
    double *other; /* a vector of the larger side */
    double met;    /* the largest ||A x|| of a unit vector x, where somebody looked */
} gram_op;

static gcg_status gram_init(gram_op *g, gcg_linop *a, gcg_err *err)
{
    g->a = a;
    g->met = 0;
    g->of_rows = a->rows <= a->cols;
    g->n = g->of_rows ? a->rows : a->cols;
    g->other = gcg_mem_alloc_array(g->of_rows ? a->cols : a->rows, sizeof *g->other);
    return g->other ? GCG_OK : gcg_fail_memory(err, "polar");
}

/* other = A'x or A x, and y = G x; y = 0 where the work is over in between. */
static void gram_half(gram_op *g, const double *x)
{
    if (g->of_rows)
        gcg_linop_times_t(g->a, x, g->other);
    else
        gcg_linop_times(g->a, x, g->other);
}

static void gram_times(gram_op *g, const double *x, double *y)
{
    gram_half(g, x);
    if (gcg_watch_over(g->a->watch))
        memset(y, 0, (size_t)g->n * sizeof *y);
    else if (g->of_rows)
        gcg_linop_times(g->a, g->other, y);
    else
        gcg_linop_times_t(g->a, g->other, y);
}

static int32_t larger_side(const gram_op *g)
{
    return g->of_rows ? g->a->cols : g->a->rows;
}

/* sigma, u and v from the unit vector x of G's side; the sign is fixed by v. */
static void pair_from(gram_op *g, const double *x, double *sigma, double *u, double *v)
{
    int32_t large = larger_side(g);
    gram_half(g, x);
    *sigma = gcg_blas_dnrm2(large, g->other);
    if (*sigma > 0) gcg_blas_dscal(large, 1 / *sigma, g->other);
    const double *from_v = g->of_rows ? g->other : x, *from_u = g->of_rows ? x : g->other;
    int32_t best = 0;
    for (int32_t j = 1; j < g->a->cols; j++)
        if (fabs(from_v[j]) > fabs(from_v[best])) best = j;
    double sign = g->a->cols > 0 && from_v[best] < 0 ? -1 : 1;
    for (int32_t j = 0; v && j < g->a->cols; j++) v[j] = sign * from_v[j];
    for (int32_t i = 0; u && i < g->a->rows; i++) u[i] = sign * from_u[i];
}

/* Seeded normal vector of unit length. */
static void random_unit(double *x, int32_t n, uint64_t seed, uint64_t stream)
{
    gcg_rng rng;
    gcg_rng_init(&rng, seed, stream);
    for (int32_t i = 0; i < n; i++) x[i] = gcg_rng_normal(&rng);
    gcg_blas_dscal(n, 1 / gcg_blas_dnrm2(n, x), x);
}

enum { STREAM_TOP = 1, STREAM_BOUND = 2 };

/* ---- one pair ---- */

static gcg_status top_dense(gram_op *g, double *x, gcg_err *err)
{
    int64_t n = g->n;
    double *matrix = gcg_mem_alloc_array(n * n, sizeof *matrix),
           *values = gcg_mem_alloc_array(n, sizeof *values);
    gcg_status status = matrix && values ? GCG_OK : gcg_fail_memory(err, "polar");
    for (int64_t i = 0; !status && i < n && !gcg_watch_over(g->a->watch); i++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[i] = 1;
        gram_times(g, x, matrix + i * n);
    }
    int whole = !status && !gcg_watch_over(g->a->watch);
    if (whole) status = gcg_blas_eigen(g->n, matrix, values, err);
    if (whole && !status) memcpy(x, matrix + (n - 1) * n, (size_t)n * sizeof *x);
    gcg_mem_free(matrix);
    gcg_mem_free(values);
    return status;
}

/* One ARPACK run with ncv basis vectors; *converged = 0 when it ran out of iterations. x is the start, then
 * the vector. */
static gcg_status arpack_run(gram_op *g, int32_t ncv, double tol, double *x, int *converged, gcg_err *err)
{
    enum { MAX_RESTARTS = 300 };
    int32_t n = g->n, lworkl = ncv * (ncv + 8), ido = 0, info = 1; /* 1: the start is given */
    int32_t iparam[11] = {1, 0, MAX_RESTARTS, 1, 0, 0, 1}, ipntr[11] = {0};
    double *basis = gcg_mem_alloc_array((int64_t)n * ncv, sizeof *basis),
           *workd = gcg_mem_alloc_array(3 * (int64_t)n, sizeof *workd),
           *workl = gcg_mem_alloc_array(lworkl, sizeof *workl), value = 0;
    int32_t *select = gcg_mem_zalloc_array(ncv, sizeof *select);
    gcg_status status = basis && workd && workl && select ? GCG_OK : gcg_fail_memory(err, "ARPACK");
    if (!status) {
        do {
            dsaupd_c(&ido, "I", n, "LA", 1, tol, x, ncv, basis, n, iparam, ipntr, workd, workl, lworkl,
                     &info);
            if (ido != 1 && ido != -1) break;
            gram_times(g, workd + ipntr[0] - 1, workd + ipntr[1] - 1);
            g->met = fmax(g->met, gcg_blas_dnrm2(larger_side(g), g->other));
        } while (!gcg_watch_step(g->a->watch, NAN));
        *converged = ido == 99 && info == 0 && iparam[4] >= 1;
        if (info < 0)
            status = gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "ARPACK dsaupd failed (info %d)", (int)info);
    }
    if (!status && *converged) {
        dseupd_c(1, "A", select, &value, x, n, 0, "I", n, "LA", 1, tol, x, ncv, basis, n, iparam, ipntr,
                 workd, workl, lworkl, &info);
        if (info != 0)
            status = gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "ARPACK dseupd failed (info %d)", (int)info);
        memcpy(x, basis, (size_t)n * sizeof *x); /* the vector comes back in the basis' first column */
    }
    gcg_mem_free(basis);
    gcg_mem_free(workd);
    gcg_mem_free(workl);
    gcg_mem_free(select);
    return status;
}

enum { NCV = 24, NCV_MAX = 96 }; /* vectors of ARPACK's basis, at first and at last */

static gcg_status top_arpack(gram_op *g, double tol, uint64_t seed, double *x, gcg_err *err)
{
    int converged = 0;
    for (int32_t ncv = NCV; ncv <= NCV_MAX && !converged && !gcg_watch_over(g->a->watch); ncv *= 2) {
        random_unit(x, g->n, seed, STREAM_TOP);
        gcg_status status = arpack_run(g, ncv < g->n ? ncv : g->n - 1, tol, x, &converged, err);
        if (status) return status;
    }
    if (converged || gcg_watch_over(g->a->watch)) return GCG_OK;
    return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "ARPACK did not converge to the spectral norm");
}

gcg_status gcg_polar_top(gcg_linop *a, double tol, uint64_t seed, double *sigma, double *u, double *v,
                         gcg_err *err)
{
    const int32_t most = INT32_MAX / 3; /* ARPACK counts the entries of three vectors in 32 bits */
    gram_op g;
    *sigma = 0;
    if (a->rows > most && a->cols > most)
        return gcg_fail(err, GCG_ERR_NOMEM, NULL, 0, 0,
                        "more than %d users and as many items: too many for ARPACK", (int)most);
    gcg_status status = gram_init(&g, a, err);
    double *x = gcg_mem_alloc_array(g.n + 1, sizeof *x);
    if (!status && !x) status = gcg_fail_memory(err, "polar");
    if (!status && g.n > 0) {
        random_unit(x, g.n, seed, STREAM_TOP);
        gram_half(&g, x);
        g.met = gcg_blas_dnrm2(larger_side(&g), g.other);
        if (g.met == 0) { /* ARPACK fails on a zero matrix */
            memset(x, 0, (size_t)g.n * sizeof *x);
        } else {
            status = g.n <= GCG_POLAR_DENSE ? top_dense(&g, x, err) : top_arpack(&g, tol, seed, x, err);
        }
    }
    if (!status && gcg_watch_over(a->watch))
        *sigma = g.met;
    else if (!status)
        pair_from(&g, x, sigma, u, v);
    gcg_mem_free(g.other);
    gcg_mem_free(x);
    return status;
}

int64_t gcg_polar_top_bytes(int32_t rows, int32_t cols)
{
    int64_t n = rows < cols ? rows : cols, large = rows < cols ? cols : rows;
    return (int64_t)sizeof(double) * ((NCV + 4) * n + large);
}

/* ---- the bound ---- */

/* Vectors of the basis that are kept in so many bytes: without room for all of them Lanczos goes on without
 * reorthogonalisation. */
static int32_t basis_vectors(int32_t n, int32_t steps, int64_t bytes)
{
    return (int64_t)steps * n * (int64_t)sizeof(double) <= bytes ? steps : 2;
}

int32_t gcg_polar_bound_steps(int32_t n, double eps, double p)
{
    double exponent = log(1.648 * sqrt((double)n) / p), steps = ceil(0.5 * (exponent / sqrt(eps) + 1));
    return steps < n ? (steps > 1 ? (int32_t)steps : 1) : n;
}

int64_t gcg_polar_bound_bytes(int32_t rows, int32_t cols, double eps, double p, int64_t basis)
{
    int64_t n = rows < cols ? rows : cols, large = rows < cols ? cols : rows;
    int64_t steps = gcg_polar_bound_steps((int32_t)n, eps, p);
    int64_t kept = basis_vectors((int32_t)n, (int32_t)steps, basis);
    return (int64_t)sizeof(double) * ((kept + 1) * n + large + 3 * steps);
}

typedef struct {
    gram_op g;
    int32_t steps, kept; /* kept: vectors of the basis in memory */
    double *basis, *alpha, *beta, *coefficients;
} lanczos;

/* Reorthogonalisation w -= B'(B w) against the first `count` basis vectors, on the threads. */
typedef struct {
    const lanczos *l;
    int32_t count;
    double *w;
} reorthogonalisation;

enum { VECTORS = 16 /* of one task of B w */, ENTRIES = 1024 /* of one task of B'c */ };

static void coefficients_task(int64_t block, void *ctx)
{
    const reorthogonalisation *r = ctx;
    int64_t first = block * VECTORS, n = r->l->g.n;
    int32_t some = r->count - first < VECTORS ? (int32_t)(r->count - first) : VECTORS;
    gcg_blas_dgemv(0, some, r->l->g.n, 1, r->l->basis + first * n, n, r->w, 0, r->l->coefficients + first);
}

static void removal_task(int64_t block, void *ctx)
{
    const reorthogonalisation *r = ctx;
    int64_t first = block * ENTRIES, n = r->l->g.n;
    int32_t some = n - first < ENTRIES ? (int32_t)(n - first) : ENTRIES;
    gcg_blas_dgemv(1, r->count, some, -1, r->l->basis + first, n, r->l->coefficients, 1, r->w + first);
}

static void reorthogonalise(const lanczos *l, int32_t count, double *w)
{
    reorthogonalisation r = {l, count, w};
    gcg_par_blocks((count + VECTORS - 1) / VECTORS, coefficients_task, &r);
    gcg_par_blocks(((int64_t)l->g.n + ENTRIES - 1) / ENTRIES, removal_task, &r);
}

/* One step: w = G q_j orthogonalised; alpha_j. Returns the norm of what is left, beta_j. */
static double lanczos_step(lanczos *l, int32_t j, double *w)
{
    int64_t n = l->g.n, slots = l->kept;
    const double *q = l->basis + j % slots * n;
    gram_times(&l->g, q, w);
    l->alpha[j] = gcg_blas_ddot(n, q, w);
    gcg_blas_daxpy(n, -l->alpha[j], q, w);
    if (j > 0) gcg_blas_daxpy(n, -l->beta[j - 1], l->basis + (j - 1) % slots * n, w);
    if (l->kept >= l->steps) reorthogonalise(l, j + 1, w);
    return gcg_blas_dnrm2(n, w);
}

/* Largest eigenvalue of the tridiagonal matrix and, when the basis is all there, the Ritz vector into x
 * (NULL: not wanted). */
static gcg_status lanczos_top(lanczos *l, int32_t steps, double *theta, double *x, gcg_err *err)
{
    double *z = x ? gcg_mem_alloc_array((int64_t)steps * steps, sizeof *z) : NULL;
    if (x && !z) return gcg_fail_memory(err, "Lanczos");
    gcg_status status = gcg_blas_tridiagonal(steps, l->alpha, l->beta, z, err);
    if (!status) {
        *theta = l->alpha[steps - 1];
        if (x) gcg_blas_dgemv(1, steps, l->g.n, 1, l->basis, l->g.n, z + (int64_t)(steps - 1) * steps, 0, x);
    }
    gcg_mem_free(z);
    return status;
}

/* Runs the steps (fewer when an invariant subspace is found: then theta is exact with probability 1; or when
 * the work is over: then theta is INFINITY). w: a vector to work with, then the Ritz vector. */
static gcg_status lanczos_run(lanczos *l, uint64_t seed, double *w, double *theta, int wants_vector,
                              gcg_err *err)
{
    int64_t n = l->g.n;
    int32_t done = 0;
    double norm = 0, scale = 0;
    random_unit(l->basis, l->g.n, seed, STREAM_BOUND);
    while (done < l->steps && !gcg_watch_step(l->g.a->watch, (double)done / l->steps)) {
        norm = lanczos_step(l, done, w);
        scale = fmax(scale, fabs(l->alpha[done]) + norm);
        done++;
        if (done == l->steps || norm <= 1e-14 * scale) break;
        l->beta[done - 1] = norm;
        double *next = l->basis + done % l->kept * n;
        memcpy(next, w, (size_t)n * sizeof *next);
        gcg_blas_dscal(n, 1 / norm, next);
    }
    *theta = INFINITY;
    return gcg_watch_over(l->g.a->watch) ? GCG_OK : lanczos_top(l, done, theta, wants_vector ? w : NULL, err);
}

gcg_status gcg_polar_bound(gcg_linop *a, double eps, double p, uint64_t seed, int64_t basis, double *bound,
                           double *v, gcg_err *err)
{
    lanczos l = {0};
    gcg_status status = gram_init(&l.g, a, err);
    if (status) return status;
    l.steps = gcg_polar_bound_steps(l.g.n, eps, p);
    l.kept = basis_vectors(l.g.n, l.steps, basis);
    l.basis = gcg_mem_alloc_array((int64_t)l.kept * l.g.n, sizeof *l.basis);
    l.alpha = gcg_mem_zalloc_array(l.steps, sizeof *l.alpha);
    l.beta = gcg_mem_zalloc_array(l.steps, sizeof *l.beta);
    l.coefficients = gcg_mem_alloc_array(l.steps, sizeof *l.coefficients);
    double *w = gcg_mem_alloc_array(l.g.n, sizeof *w), theta = 0, sigma;
    int has_vector = v && l.kept >= l.steps;
    if (!l.basis || !l.alpha || !l.beta || !l.coefficients || !w) status = gcg_fail_memory(err, "Lanczos");
    if (!status) status = lanczos_run(&l, seed, w, &theta, has_vector, err);
    if (!status) {
        const double rounding = 1e-13; /* of theta, far below any eps */
        *bound = sqrt(fmax(theta, 0) * (1 + rounding) / (1 - eps));
        if (has_vector)
            pair_from(&l.g, w, &sigma, NULL, v);
        else if (v && theta < INFINITY)
            memset(v, 0, (size_t)a->cols * sizeof *v);
    }
    gcg_mem_free(l.g.other);
    gcg_mem_free(l.basis);
    gcg_mem_free(l.alpha);
    gcg_mem_free(l.beta);
    gcg_mem_free(l.coefficients);
    gcg_mem_free(w);
    return status;
}

/* ---- the block ---- */

void gcg_triplets_release(gcg_triplets *t)
{
    gcg_mem_free(t->sigma);
    gcg_factors_release(&t->u);
    gcg_factors_release(&t->v);
    *t = (gcg_triplets){0};
}

enum { MAX_DEPTH = 8 };

typedef struct {
    const gcg_block_op *r;
    const gcg_factors *u, *v;
    const double *inverse_s;
    gcg_factors z[MAX_DEPTH], y[MAX_DEPTH]; /* Krylov blocks and their images */
    int32_t depth, columns, planned;        /* blocks so far, their columns in all, blocks that are to come */
} krylov;

/* Columns of start, then Gaussian ones. */
static void fill_start(gcg_factors *z, const gcg_factors *start, gcg_rng *rng)
{
    int32_t given = start ? (start->k < z->k ? start->k : z->k) : 0;
    for (int32_t j = 0; j < z->rows; j++)
        for (int32_t q = 0; q < z->k; q++)
            gcg_factors_set(z, j, q, q < given ? gcg_factors_get(start, j, q) : gcg_rng_normal(rng));
}

/* Makes z[t] orthonormal, and orthogonal to Q and to the blocks before it. What is left of a column that lay
 * in their span is rounding, blown up when it is normalised: it shows by falling into the span again, and is
 * dropped. */
static gcg_status orthogonalise(krylov *k, int32_t t, gcg_err *err)
{
    const double remains = 0.25; /* of the squared norm, for a direction that is new */
    gcg_factors *z = &k->z[t];
    double scale, smallest = 0, rounding = z->type == GCG_FLOAT ? 1e-10 : 1e-24;
    gcg_status status = gcg_tall_square_norm(z, &scale, err);
    for (int round = 0; round < 2 && !status && z->k > 0; round++) {
        status = gcg_tall_project(k->v, k->inverse_s, 1, z, err);
        for (int32_t s = 0; s < t && !status; s++) status = gcg_tall_project(&k->z[s], NULL, 1, z, err);
        if (!status)
            status = gcg_tall_orthonormalise(z, round > 0 ? remains : scale * rounding, &smallest, err);
        if (smallest > scale * sqrt(rounding)) break; /* far above rounding: once is enough */
    }
    return status;
}

/* z[t] made orthonormal, and y[t] = (I - PP') R z[t]. */
static gcg_status extend(krylov *k, int32_t t, gcg_err *err)
{
    gcg_factors *z = &k->z[t];
    gcg_status status = orthogonalise(k, t, err);
    if (status || z->k == 0) return status;
    status = gcg_factors_init(&k->y[t], k->r->rows, z->k, z->type, err);
    if (status) return status;
    k->r->times(k->r->ctx, z, &k->y[t]);
    status = gcg_tall_project(k->u, k->inverse_s, 1, &k->y[t], err);
    k->depth = t + 1;
    k->columns += z->k;
    return status;
}

/* 1 when the work is over; says that so many steps of 4 depth are done: two for each block, one for its part
 * of Y'Y, one for its part of the Ritz vectors. */
static int over(const krylov *k, double steps)
{
    return gcg_watch_step(k->r->watch, steps / (4.0 * k->planned));
}

/* gram (columns x columns) = Y'Y over all blocks. */
static gcg_status krylov_gram(const krylov *k, double *gram, gcg_err *err)
{
    int64_t n = k->columns;
    double *part = gcg_mem_alloc_array(n * n, sizeof *part);
    if (!part) return gcg_fail_memory(err, "polar");
    gcg_status status = GCG_OK;
    for (int32_t s = 0, row = 0; s < k->depth && !status; row += k->y[s].k, s++)
        for (int32_t t = 0, col = 0; t <= s && !status && !over(k, 2 * k->depth + s); col += k->y[t].k, t++) {
            status = gcg_tall_gram(&k->y[s], &k->y[t], 0, part, err);
            for (int32_t i = 0; i < k->y[s].k; i++)
                for (int32_t j = 0; j < k->y[t].k; j++)
                    gram[(row + i) * n + col + j] = gram[(col + j) * n + row + i] =
                        part[(int64_t)i * k->y[t].k + j];
        }
    gcg_mem_free(part);
    return status;
}

/* out = sum over t of block_t A_t, `count` columns: V of the z (side 0), U of the y (side 1). The blocks are
 * used up: out takes the first one's place. */
static gcg_status combine_blocks(krylov *k, int side, const double *a, int32_t count, gcg_factors *out,
                                 gcg_err *err)
{
    gcg_status status = GCG_OK;
    gcg_factors *block = side == 0 ? k->z : k->y, first = block[0];
    if (first.k == count)
        *out = first;
    else
        status = gcg_factors_init(out, first.rows, count, first.type, err);
    for (int32_t t = 0; t < k->depth; a += (int64_t)block[t].k * count, t++)
        if (!status && !over(k, 3 * k->depth + 0.5 * (side * k->depth + t)))
            status = gcg_tall_times(&block[t], a, t == 0 ? 0 : 1, 0, out, err);
    if (first.k == count) block[0].data = NULL;
    for (int32_t t = 0; t < k->depth; t++) gcg_factors_release(&block[t]);
    return status;
}

/* out->v = Z A, out->u = Y A / sigma for the largest eigenpairs (rows of vectors, ascending). */
static gcg_status ritz(krylov *k, const double *vectors, const double *values, gcg_triplets *out,
                       gcg_err *err)
{
    int32_t n = k->columns, count = out->count;
    double *a = gcg_mem_alloc_array((int64_t)n * count, sizeof *a);
    if (!a) return gcg_fail_memory(err, "polar");
    gcg_status status = GCG_OK;
    for (int side = 0; side < 2 && !status; side++) { /* V, then U */
        for (int32_t c = 0; c < count; c++) {
            out->sigma[c] = sqrt(fmax(values[n - 1 - c], 0));
            double scale = side == 0 ? 1 : out->sigma[c] > 0 ? 1 / out->sigma[c] : 0;
            for (int32_t q = 0; q < n; q++)
                a[(int64_t)q * count + c] = scale * vectors[(int64_t)(n - 1 - c) * n + q];
        }
        status = combine_blocks(k, side, a, count, side == 0 ? &out->v : &out->u, err);
    }
    gcg_mem_free(a);
    return status;
}

/* The Krylov space, depth blocks deep or until nothing new comes. */
static gcg_status build(krylov *k, const gcg_factors *start, int32_t block, int32_t depth, gcg_rng *rng,
                        gcg_err *err)
{
    gcg_status status = gcg_factors_init(&k->z[0], k->r->cols, block, k->r->type, err);
    if (status) return status;
    fill_start(&k->z[0], start, rng);
    for (int32_t t = 0; t < depth && !over(k, 2 * t); t++) {
        status = extend(k, t, err);
        if (status || k->z[t].k == 0 || t + 1 == depth || over(k, 2 * t + 1)) return status;
        status = gcg_factors_init(&k->z[t + 1], k->r->cols, k->z[t].k, k->r->type, err);
        if (status) return status;
        k->r->times_t(k->r->ctx, &k->y[t], &k->z[t + 1]);
    }
    return GCG_OK;
}

gcg_status gcg_polar_block(const gcg_block_op *r, const gcg_factors *u, const gcg_factors *v,
                           const double *inverse_s, const gcg_factors *start, int32_t block, int32_t depth,
                           gcg_rng *rng, gcg_triplets *out, gcg_err *err)
{
    *out = (gcg_triplets){0};
    if (depth > MAX_DEPTH) depth = MAX_DEPTH;
    krylov k = {.r = r, .u = u, .v = v, .inverse_s = inverse_s, .planned = depth};
    double *gram = NULL, *values = NULL;
    gcg_status status = build(&k, start, block, depth, rng, err);
    if (!status && k.columns > 0 && !gcg_watch_over(r->watch)) {
        int64_t n = k.columns;
        out->count = k.columns < block ? k.columns : block;
        gram = gcg_mem_alloc_array(n * n, sizeof *gram);
        values = gcg_mem_alloc_array(n, sizeof *values);
        out->sigma = gcg_mem_zalloc_array(out->count, sizeof *out->sigma);
        if (!gram || !values || !out->sigma) status = gcg_fail_memory(err, "polar");
        if (!status) status = krylov_gram(&k, gram, err);
        if (!status && !gcg_watch_over(r->watch)) status = gcg_blas_eigen(k.columns, gram, values, err);
        if (!status && !gcg_watch_over(r->watch)) status = ritz(&k, gram, values, out, err);
    }
    for (int32_t t = 0; t < MAX_DEPTH; t++) {
        gcg_factors_release(&k.z[t]);
        gcg_factors_release(&k.y[t]);
    }
    gcg_mem_free(gram);
    gcg_mem_free(values);
    if (status || gcg_watch_over(r->watch)) gcg_triplets_release(out);
    return status;
}
