/* A row with the items fixed: see fold_in.h. */
#include "maths/fold_in.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"

enum { CHUNK = 256 /* ratings whose item factors are gathered at a time */ };

/* The items' factors and the ratings, both times the roots of the weights. */
static void gather(const gcg_factors *v, int64_t count, const int32_t *item, const double *x, const double *w,
                   double *rows, double *values)
{
    for (int64_t c = 0; c < count; c++) {
        double root = w ? sqrt(w[c]) : 1;
        for (int32_t q = 0; q < v->k; q++) rows[c * v->k + q] = root * gcg_factors_get(v, item[c], q);
        values[c] = root * x[c];
    }
}

/* x = (G + ridge I)^(-1) x, G (n x n) by its upper triangle. A ridge that would be lost in rounding is
 * raised. */
static gcg_status solve(int32_t n, double *g, double ridge, double *x, gcg_err *err)
{
    double trace = 0;
    for (int64_t i = 0; i < n; i++) trace += g[i * n + i];
    double least = 2 * DBL_EPSILON * n * trace;
    for (int64_t i = 0; i < n; i++) g[i * n + i] += ridge > least ? ridge : least;
    if (trace == 0 && ridge == 0) {
        memset(x, 0, (size_t)n * sizeof *x);
        return GCG_OK;
    }
    if (!gcg_blas_cholesky(n, g, n))
        return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0,
                        "folding in: the ratings or factors are out of range");
    gcg_blas_cholesky_solve(n, g, n, x);
    return GCG_OK;
}

/* Many ratings: (sum_j w_j v_j v_j' + ridge I) u = sum_j w_j x_j v_j. */
static gcg_status solve_factors(const gcg_factors *v, double ridge, int64_t n, const int32_t *item,
                                const double *x, const double *w, double *u, gcg_err *err)
{
    const int32_t k = v->k;
    double *rows = gcg_mem_alloc_array((int64_t)CHUNK * k, sizeof *rows),
           *g = gcg_mem_zalloc_array((int64_t)k * k, sizeof *g), values[CHUNK];
    gcg_status status = rows && g ? GCG_OK : gcg_fail_memory(err, "folding in");
    for (int64_t p = 0; p < n && !status; p += CHUNK) {
        int32_t count = n - p < CHUNK ? (int32_t)(n - p) : CHUNK;
        gather(v, count, item + p, x + p, w ? w + p : NULL, rows, values);
        gcg_blas_dsyrk(k, count, 1, rows, k, 1, g, k);
        gcg_blas_dgemv(1, count, k, 1, rows, k, values, 1, u);
    }
    if (!status) status = solve(k, g, ridge, u, err);
    gcg_mem_free(rows);
    gcg_mem_free(g);
    return status;
}

/* Fewer ratings than factors: u = A' z with (A A' + ridge I) z = y, the rows of A being the v_j and y the
 * x_j, times the roots of their weights. */
static gcg_status solve_ratings(const gcg_factors *v, double ridge, int32_t n, const int32_t *item,
                                const double *x, const double *w, double *u, gcg_err *err)
{
    const int32_t k = v->k;
    double *rows = gcg_mem_alloc_array((int64_t)n * k, sizeof *rows),
           *g = gcg_mem_alloc_array((int64_t)n * n, sizeof *g), *z = gcg_mem_alloc_array(n, sizeof *z);
    gcg_status status = rows && g && z ? GCG_OK : gcg_fail_memory(err, "folding in");
    if (!status) {
        gather(v, n, item, x, w, rows, z);
        gcg_blas_dgemm(0, 1, n, n, k, 1, rows, k, rows, k, 0, g, n);
        status = solve(n, g, ridge, z, err);
    }
    if (!status) gcg_blas_dgemv(1, n, k, 1, rows, k, z, 0, u);
    gcg_mem_free(rows);
    gcg_mem_free(g);
    gcg_mem_free(z);
    return status;
}

gcg_status gcg_fold_in_row(const gcg_factors *v, double ridge, int64_t n, const int32_t *item,
                           const double *x, const double *w, double *u, gcg_err *err)
{
    if (v->k == 0) return GCG_OK;
    memset(u, 0, (size_t)v->k * sizeof *u);
    if (n == 0) return GCG_OK;
    return n < v->k ? solve_ratings(v, ridge, (int32_t)n, item, x, w, u, err)
                    : solve_factors(v, ridge, n, item, x, w, u, err);
}
