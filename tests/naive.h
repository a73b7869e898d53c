/* Slow and obvious counterparts for the tests: random data, dense matrices, a Jacobi singular value
 * decomposition, trace-norm completion by accelerated proximal gradient. Nothing here calls the code under
 * test, except to build its structs. Dense matrices are row-major. */
#ifndef TESTS_NAIVE_H
#define TESTS_NAIVE_H

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/csr.h"
#include "store/factors.h"

/* ---- random numbers (xorshift64*) ---- */

typedef struct {
    uint64_t s;
} naive_rng;

static inline naive_rng naive_seed(uint64_t seed)
{
    return (naive_rng){seed * 2862933555777941757u + 3037000493u};
}

static inline uint64_t naive_next(naive_rng *g)
{
    g->s ^= g->s >> 12;
    g->s ^= g->s << 25;
    g->s ^= g->s >> 27;
    return g->s * 2685821657736338717u;
}

static inline double naive_uniform(naive_rng *g)
{
    return (double)(naive_next(g) >> 11) / 9007199254740992.0;
}

static inline int naive_below(naive_rng *g, int n)
{
    return (int)(naive_uniform(g) * n);
}

static inline double naive_normal(naive_rng *g)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += naive_uniform(g);
    return sum;
}

static inline void *naive_alloc(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) abort();
    return block;
}

static inline double *naive_normals(naive_rng *g, int64_t n)
{
    double *a = naive_alloc((size_t)n, sizeof *a);
    for (int64_t i = 0; i < n; i++) a[i] = naive_normal(g);
    return a;
}

/* ---- structs of the library ---- */

/* The entries with mask != 0 (mask NULL: all). wide: values kept as doubles whatever they are. */
static inline gcg_csr naive_csr(int m, int n, const double *x, const char *mask, int wide)
{
    gcg_csr out;
    int64_t nnz = 0;
    for (int64_t e = 0; e < (int64_t)m * n; e++) nnz += !mask || mask[e];
    ck_assert_int_eq(gcg_csr_init(&out, m, n, nnz, wide, NULL), GCG_OK);
    int64_t p = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            int64_t e = (int64_t)i * n + j;
            if (mask && !mask[e]) continue;
            out.col[p] = j;
            if (wide)
                out.val_d[p++] = x[e];
            else
                out.val_f[p++] = (float)x[e];
        }
        out.row_ptr[i + 1] = p;
    }
    return out;
}

static inline gcg_factors naive_factors(naive_rng *g, int rows, int k, gcg_dtype type, double scale)
{
    gcg_factors f;
    ck_assert_int_eq(gcg_factors_init(&f, rows, k, type, NULL), GCG_OK);
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < k; q++) gcg_factors_set(&f, i, q, scale * naive_normal(g));
    return f;
}

static inline gcg_factors naive_factors_from(int rows, int k, const double *a, gcg_dtype type)
{
    gcg_factors f;
    ck_assert_int_eq(gcg_factors_init(&f, rows, k, type, NULL), GCG_OK);
    for (int i = 0; i < rows; i++)
        for (int q = 0; q < k; q++) gcg_factors_set(&f, i, q, a[i * k + q]);
    return f;
}

static inline double *naive_dense(const gcg_factors *f)
{
    double *a = naive_alloc((size_t)f->rows * (size_t)f->k, sizeof *a);
    for (int i = 0; i < f->rows; i++)
        for (int q = 0; q < f->k; q++) a[(int64_t)i * f->k + q] = gcg_factors_get(f, i, q);
    return a;
}

/* The padding of every row is zero. */
static inline int naive_padding_is_zero(const gcg_factors *f)
{
    for (int i = 0; i < f->rows; i++)
        for (int q = f->k; q < f->stride; q++)
            if (gcg_factors_get(f, i, q) != 0) return 0;
    return 1;
}

/* ---- dense algebra ---- */

/* C (m x n) = A (m x k) B (k x n); the flags transpose. */
static inline double *naive_multiply(int m, int n, int k, const double *a, int at, const double *b, int bt)
{
    double *c = naive_alloc((size_t)m * (size_t)n, sizeof *c);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int q = 0; q < k; q++)
                c[(int64_t)i * n + j] += (at ? a[(int64_t)q * m + i] : a[(int64_t)i * k + q]) *
                                         (bt ? b[(int64_t)j * k + q] : b[(int64_t)q * n + j]);
    return c;
}

static inline void naive_axpy(int64_t n, double a, const double *x, double *y) /* y += a x */
{
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

static inline double *naive_product(const gcg_factors *u, const gcg_factors *v) /* U V' */
{
    double *a = naive_dense(u), *b = naive_dense(v), *w = naive_multiply(u->rows, v->rows, u->k, a, 0, b, 1);
    free(a);
    free(b);
    return w;
}

static inline double naive_difference(int64_t n, const double *a, const double *b) /* largest */
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* One-sided Jacobi: A (m x n) = U diag(s) V', r = min(m, n), s descending, U m x r, V n x r. */
static inline void naive_svd(int m, int n, const double *a, double *s, double *u, double *v)
{
    int flip = m < n, rows = flip ? n : m, cols = flip ? m : n;
    double *b = naive_alloc((size_t)rows * (size_t)cols, sizeof *b); /* column by column */
    double *z = naive_alloc((size_t)cols * (size_t)cols, sizeof *z);
    for (int j = 0; j < cols; j++) {
        for (int i = 0; i < rows; i++) b[j * rows + i] = flip ? a[j * n + i] : a[i * n + j];
        z[j * cols + j] = 1;
    }
    for (int sweep = 0, moved = 1; moved && sweep < 60; sweep++) {
        moved = 0;
        for (int p = 0; p < cols; p++)
            for (int q = p + 1; q < cols; q++) {
                double *x = b + p * rows, *y = b + q * rows, xx = 0, yy = 0, xy = 0;
                for (int i = 0; i < rows; i++) xx += x[i] * x[i], yy += y[i] * y[i], xy += x[i] * y[i];
                if (fabs(xy) <= 1e-16 * sqrt(xx * yy) || xy == 0) continue;
                moved = 1;
                double tau = (yy - xx) / (2 * xy), t = copysign(1, tau) / (fabs(tau) + sqrt(1 + tau * tau));
                double c = 1 / sqrt(1 + t * t), d = c * t;
                for (int i = 0; i < rows; i++) {
                    double e = x[i];
                    x[i] = c * e - d * y[i];
                    y[i] = d * e + c * y[i];
                }
                for (int i = 0; i < cols; i++) {
                    double e = z[p * cols + i];
                    z[p * cols + i] = c * e - d * z[q * cols + i];
                    z[q * cols + i] = d * e + c * z[q * cols + i];
                }
            }
    }
    char *used = naive_alloc((size_t)cols, 1);
    for (int r = 0; r < cols; r++) {
        int best = -1;
        double most = -1;
        for (int j = 0; j < cols; j++) {
            double norm = 0;
            for (int i = 0; i < rows; i++) norm += b[j * rows + i] * b[j * rows + i];
            if (!used[j] && norm > most) most = norm, best = j;
        }
        used[best] = 1;
        s[r] = sqrt(most);
        double *large = flip ? v : u, *small = flip ? u : v;
        for (int i = 0; large && i < rows; i++)
            large[i * cols + r] = s[r] > 0 ? b[best * rows + i] / s[r] : 0;
        for (int i = 0; small && i < cols; i++) small[i * cols + r] = z[best * cols + i];
    }
    free(b);
    free(z);
    free(used);
}

static inline double naive_spectral_norm(int m, int n, const double *a)
{
    int r = m < n ? m : n;
    double *s = naive_alloc((size_t)r, sizeof *s);
    naive_svd(m, n, a, s, NULL, NULL);
    double norm = r > 0 ? s[0] : 0;
    free(s);
    return norm;
}

static inline double naive_trace_norm(int m, int n, const double *a)
{
    int r = m < n ? m : n;
    double *s = naive_alloc((size_t)r, sizeof *s), sum = 0;
    naive_svd(m, n, a, s, NULL, NULL);
    for (int i = 0; i < r; i++) sum += s[i];
    free(s);
    return sum;
}

/* ---- completion: min F(W) = 1/2 sum over the mask of (w - x)^2 + lambda ||W||_tr ---- */

/* out = the matrix with the singular values of a lowered by lambda; returns its trace norm. */
static inline double naive_shrink(int m, int n, const double *a, double lambda, double *out)
{
    int r = m < n ? m : n;
    double *s = naive_alloc((size_t)r, sizeof *s), *u = naive_alloc((size_t)(m * r), sizeof *u),
           *v = naive_alloc((size_t)(n * r), sizeof *v), sum = 0;
    naive_svd(m, n, a, s, u, v);
    memset(out, 0, (size_t)(m * n) * sizeof *out);
    for (int q = 0; q < r; q++) {
        double t = fmax(s[q] - lambda, 0);
        sum += t;
        for (int i = 0; i < m && t > 0; i++)
            for (int j = 0; j < n; j++) out[i * n + j] += t * u[i * r + q] * v[j * r + q];
    }
    free(s);
    free(u);
    free(v);
    return sum;
}

static inline double naive_loss(int m, int n, const double *x, const char *mask, const double *w, double *r)
{
    double sum = 0;
    for (int e = 0; e < m * n; e++) {
        double d = !mask || mask[e] ? x[e] - w[e] : 0;
        if (r) r[e] = d;
        sum += 0.5 * d * d;
    }
    return sum;
}

/* D(sR) at the best feasible s. */
static inline double naive_dual(int m, int n, const double *x, const double *r, double lambda)
{
    double rx = 0, rr = 0, sigma = naive_spectral_norm(m, n, r);
    for (int e = 0; e < m * n; e++) rx += r[e] * x[e], rr += r[e] * r[e];
    if (rr == 0) return 0;
    double s = fmax(0, fmin(rx / rr, sigma > 0 ? lambda / sigma : INFINITY));
    return s * rx - 0.5 * s * s * rr;
}

/* Accelerated proximal gradient (step 1) with restarts, to an absolute gap; *lower gets the dual value. w
 * receives the point. Returns F. */
static inline double naive_complete(int m, int n, const double *x, const char *mask, double lambda,
                                    double gap, double *w, double *lower)
{
    size_t size = (size_t)(m * n);
    double *y = naive_alloc(size, sizeof *y), *r = naive_alloc(size, sizeof *r),
           *next = naive_alloc(size, sizeof *next), t = 1, objective = INFINITY;
    memset(w, 0, size * sizeof *w);
    *lower = -INFINITY;
    for (int it = 0; it < 20000; it++) {
        naive_loss(m, n, x, mask, y, r);
        for (size_t e = 0; e < size; e++) r[e] += y[e];
        double norm = naive_shrink(m, n, r, lambda, next), uphill = 0;
        for (size_t e = 0; e < size; e++) uphill += (y[e] - next[e]) * (next[e] - w[e]);
        if (uphill > 0) t = 1; /* restart */
        double t_next = 0.5 * (1 + sqrt(1 + 4 * t * t));
        for (size_t e = 0; e < size; e++) y[e] = next[e] + (t - 1) / t_next * (next[e] - w[e]);
        memcpy(w, next, size * sizeof *w);
        t = t_next;
        objective = naive_loss(m, n, x, mask, w, r) + lambda * norm;
        *lower = fmax(*lower, naive_dual(m, n, x, r, lambda));
        if (objective - *lower <= gap) break;
    }
    free(y);
    free(r);
    free(next);
    return objective;
}

/* ---- allocation failure ---- */

/* Calls once(ctx) with the n-th allocation failing, n = 1, 2, ... until it succeeds without meeting the
 * failing one: each failure must be GCG_ERR_NOMEM and leave as many blocks as there were before. once
 * releases what a success gave. Returns the number of allocations. */
static inline int64_t naive_fail_each_allocation(gcg_status (*once)(void *ctx), void *ctx)
{
    int64_t blocks = gcg_mem_blocks();
    for (int64_t n = 1;; n++) {
        int64_t calls = gcg_mem_calls();
        gcg_mem_fail_at(n);
        gcg_status status = once(ctx);
        gcg_mem_fail_at(0);
        ck_assert_msg(gcg_mem_blocks() == blocks, "leak when allocation %lld fails", (long long)n);
        if (gcg_mem_calls() - calls < n) {
            ck_assert_int_eq(status, GCG_OK);
            return n - 1;
        }
        ck_assert_msg(status == GCG_ERR_NOMEM, "status %d when allocation %lld fails", (int)status,
                      (long long)n);
    }
}

/* The address sanitizer stops at an allocation that is too large, unless told that this is tested. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* ---- running ---- */

/* 1 when a file of ../shared is there; else says that the tests which need it are skipped. */
static inline int naive_has_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    else
        printf("skipped: the tests that need %s\n", path);
    return file != NULL;
}

static inline int naive_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
