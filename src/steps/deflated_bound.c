/* The bound by deflation: see deflated_bound.h. */
#include "steps/deflated_bound.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "steps/polar.h"

enum { BLOCK = 512 /* rows of Z in one task */ };

/* A (I - ZZ') as an operator. */
typedef struct {
    gcg_linop *a;
    const gcg_factors *z;
    double *x;       /* projected, cols */
    double *partial; /* K per block of rows */
    double *c;       /* Z'x */
    double *target;  /* of the projection that is running */
} deflated;

static int64_t blocks(const gcg_factors *z)
{
    return ((int64_t)z->rows + BLOCK - 1) / BLOCK;
}

static int32_t block_rows(const gcg_factors *z, int64_t block, const double **rows)
{
    int64_t first = block * BLOCK;
    *rows = (const double *)z->data + first * z->stride;
    return z->rows - first < BLOCK ? (int32_t)(z->rows - first) : BLOCK;
}

static void coefficients_task(int64_t block, void *ctx)
{
    const deflated *d = ctx;
    const double *rows;
    int32_t n = block_rows(d->z, block, &rows);
    gcg_blas_dgemv(1, n, d->z->k, 1, rows, d->z->stride, d->target + block * BLOCK, 0,
                   d->partial + block * d->z->k);
}

static void removal_task(int64_t block, void *ctx)
{
    const deflated *d = ctx;
    const double *rows;
    int32_t n = block_rows(d->z, block, &rows);
    gcg_blas_dgemv(0, n, d->z->k, -1, rows, d->z->stride, d->c, 1, d->target + block * BLOCK);
}

/* x -= Z Z'x */
static void project(deflated *d, double *x)
{
    int32_t k = d->z->k;
    d->target = x;
    gcg_par_blocks(blocks(d->z), coefficients_task, d);
    memset(d->c, 0, (size_t)k * sizeof *d->c);
    for (int64_t b = 0; b < blocks(d->z); b++)
        for (int32_t q = 0; q < k; q++) d->c[q] += d->partial[b * k + q];
    gcg_par_blocks(blocks(d->z), removal_task, d);
}

static void times(void *ctx, const double *x, double *y)
{
    deflated *d = ctx;
    memcpy(d->x, x, (size_t)d->a->cols * sizeof *x);
    project(d, d->x);
    gcg_linop_times(d->a, d->x, y);
}

static void times_t(void *ctx, const double *y, double *x)
{
    deflated *d = ctx;
    gcg_linop_times_t(d->a, y, x);
    project(d, x);
}

/* e >= ||A (I - ZZ')||, below s where that can be had. A first run shows where the top of the remainder is;
 * when its bound is not below s, a second one is as tight as the distance asks for. Each may fail with
 * probability p / 2. */
static gcg_status remainder_bound(gcg_linop *a, const gcg_factors *z, double s, double p, uint64_t seed,
                                  int64_t basis, double *e, gcg_err *err)
{
    const double loose = 0.2, least = 2e-3,
                 share = 0.4; /* eps: of the first run, of the second at least, of the distance */
    deflated d = {.a = a, .z = z};
    gcg_linop op = {a->rows, a->cols, &d, times, times_t, 0, a->watch};
    d.x = gcg_mem_alloc_array(a->cols, sizeof *d.x);
    d.partial = gcg_mem_alloc_array(blocks(z) * z->k, sizeof *d.partial);
    d.c = gcg_mem_alloc_array(z->k, sizeof *d.c);
    gcg_status status = d.x && d.partial && d.c ? GCG_OK : gcg_fail_memory(err, "spectral norm");
    gcg_watch_part(a->watch, 0.5, 0.75);
    if (!status) status = gcg_polar_bound(&op, loose, p / 2, seed, basis, e, NULL, err);
    double second, eps = share * (1 - *e * *e * (1 - loose) / (s * s));
    if (!status && eps < share * loose * 2 && eps >= least) {
        gcg_watch_part(a->watch, 0.75, 1);
        status = gcg_polar_bound(&op, eps, p / 2, seed + 1, basis, &second, NULL, err);
        *e = fmin(*e, second);
    }
    gcg_mem_free(d.x);
    gcg_mem_free(d.partial);
    gcg_mem_free(d.c);
    return status;
}

/* 1 when the Schur complement at s is positive definite. m is scratch, k x k. */
static int proves(int32_t k, const double *g, const double *coupling, double s, double e, double *m)
{
    double s2 = s * s, inverse = 1 / (s2 - e * e);
    if (!(s > e)) return 0;
    for (int64_t x = 0; x < (int64_t)k * k; x++) m[x] = -g[x] - inverse * coupling[x];
    for (int64_t q = 0; q < k; q++) m[q * k + q] += s2;
    return gcg_blas_cholesky(k, m, k);
}

/* The least guard (within a tenth) by which least (1 + guard) is proved; INFINITY when none up to most is. */
static double least_guard(int32_t k, const double *g, const double *coupling, double e, double least,
                          double most, double first, double *m)
{
    double low = 0, high = first;
    while (!proves(k, g, coupling, least * (1 + high), e, m)) {
        low = high;
        high *= 3;
        if (high > most) return INFINITY;
    }
    while (low > 0 && high > 1.1 * low) {
        double middle = sqrt(low * high);
        if (proves(k, g, coupling, least * (1 + middle), e, m))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* *least = max(*least, sqrt of the largest eigenvalue of G). m is scratch. */
static gcg_status raise_least(int32_t k, const double *g, double *m, double *least, gcg_err *err)
{
    double *values = gcg_mem_alloc_array(k, sizeof *values);
    if (!values) return gcg_fail_memory(err, "spectral norm");
    memcpy(m, g, (size_t)k * (size_t)k * sizeof *g);
    gcg_status status = gcg_blas_eigenvalues(k, m, values, err);
    if (!status && k > 0) *least = fmax(*least, sqrt(fmax(values[k - 1], 0)));
    gcg_mem_free(values);
    return status;
}

gcg_status gcg_deflated_bound(gcg_linop *a, const gcg_factors *z, const double *g, const double *h, double p,
                              uint64_t seed, int64_t basis, double most, double *least, double *bound,
                              gcg_err *err)
{
    int32_t k = z->k;
    int64_t size = (int64_t)k * k;
    double e = 0, rounding = 32 * (z->rows + 8.0) * DBL_EPSILON; /* of the sums: generous */
    double *coupling = gcg_mem_alloc_array(size, sizeof *coupling), *m = gcg_mem_alloc_array(size, sizeof *m);
    gcg_status status = coupling && m ? GCG_OK : gcg_fail_memory(err, "spectral norm");
    *bound = INFINITY;
    if (!status) status = raise_least(k, g, m, least, err);
    if (!status) status = remainder_bound(a, z, *least, p, seed, basis, &e, err);
    if (!status && e < *least) {
        memcpy(coupling, h, (size_t)size * sizeof *h);
        gcg_blas_dgemm(0, 1, k, k, k, -1, g, k, g, k, 1, coupling, k);
        double guard = least_guard(k, g, coupling, e * (1 + rounding), *least, most, rounding, m);
        *bound = *least * (1 + guard) * (1 + rounding);
    }
    gcg_mem_free(coupling);
    gcg_mem_free(m);
    return status;
}
