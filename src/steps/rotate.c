/* Balanced basis and restricted proximal step: see rotate.h. Everything is done in double on k x k matrices.
 */
#include "steps/rotate.h"

#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "maths/tall.h"

/* The square matrices of one call, and how many. */
typedef struct {
    double *block;
    int64_t size;
} squares;

static gcg_status squares_init(squares *w, int32_t k, int count, gcg_err *err)
{
    w->size = (int64_t)k * k;
    w->block = gcg_mem_alloc_array(w->size * count, sizeof *w->block);
    return w->block ? GCG_OK : gcg_fail_memory(err, "basis change");
}

/* U <- U C with C the first `kept` columns of the k x k matrix c, packed in place. */
static gcg_status apply(gcg_factors *f, double *c, int32_t kept, gcg_err *err)
{
    int32_t k = f->k;
    for (int32_t q = 0; q < k; q++)
        memmove(c + (int64_t)q * kept, c + (int64_t)q * k, (size_t)kept * sizeof *c);
    gcg_factors out = *f; /* same rows: each is read before it is written */
    out.k = kept;
    gcg_status status = gcg_tall_times(f, c, 0, 0, &out, err);
    if (!status) gcg_tall_cut(f, kept);
    return status;
}

/* Eigen of the Gram matrix g: rows of g become A', values become sqrt(L), tiny ones 0. */
static gcg_status root_eigen(int32_t k, double *g, double *values, gcg_err *err)
{
    const double tiny = 1e-14; /* of the largest eigenvalue: rounding of the Gram matrix */
    gcg_status status = gcg_blas_eigen(k, g, values, err);
    if (status) return status;
    double floor = tiny * values[k - 1];
    for (int32_t q = 0; q < k; q++) values[q] = values[q] > floor ? sqrt(values[q]) : 0;
    return GCG_OK;
}

/* row q of m times scale[q] */
static void scale_rows(int32_t k, double *m, const double *scale)
{
    for (int32_t q = 0; q < k; q++)
        for (int32_t c = 0; c < k; c++) m[(int64_t)q * k + c] *= scale[q];
}

static double inverse(double x)
{
    return x > 0 ? 1 / x : 0;
}

/* c = A L^(-1/2) y S^(1/2); at holds A' as rows, root sqrt(L), y is k x k row-major (transposed when y_rows).
 */
static void change(int32_t k, double *at, const double *root, double *y, int y_rows, const double *s,
                   double *c)
{
    for (int32_t q = 0; q < k; q++)
        for (int32_t e = 0; e < k; e++) at[(int64_t)q * k + e] *= inverse(root[q]);
    gcg_blas_dgemm(1, y_rows, k, k, k, 1, at, k, y, k, 0, c, k);
    for (int32_t q = 0; q < k; q++)
        for (int32_t e = 0; e < k; e++) c[(int64_t)q * k + e] *= sqrt(s[e]);
}

gcg_status gcg_rotate_balance(gcg_factors *u, gcg_factors *v, double drop, double *s, gcg_err *err)
{
    int32_t k = u->k, kept = 0;
    if (k == 0) return GCG_OK;
    squares w;
    double *roots = gcg_mem_alloc_array(2 * (int64_t)k, sizeof *roots);
    gcg_status status = squares_init(&w, k, 6, err);
    if (!status && !roots) status = gcg_fail_memory(err, "basis change");
    double *a = w.block, *b = a ? a + w.size : NULL, *product = a ? b + w.size : NULL,
           *y = a ? product + w.size : NULL, *zt = a ? y + w.size : NULL, *c = a ? zt + w.size : NULL;
    if (!status) status = gcg_tall_gram(u, u, 0, a, err);
    if (!status) status = gcg_tall_gram(v, v, 0, b, err);
    if (!status) status = root_eigen(k, a, roots, err);
    if (!status) status = root_eigen(k, b, roots + k, err);
    if (!status) { /* K = L^(1/2) A'B M^(1/2) */
        gcg_blas_dgemm(0, 1, k, k, k, 1, a, k, b, k, 0, product, k);
        scale_rows(k, product, roots);
        for (int32_t q = 0; q < k; q++)
            for (int32_t e = 0; e < k; e++) product[(int64_t)q * k + e] *= roots[k + e];
        status = gcg_blas_svd(k, k, product, s, y, zt, err);
    }
    if (!status) {
        while (kept < k && s[kept] > drop * s[0] && s[kept] > 0) kept++;
        change(k, a, roots, y, 0, s, c);
        status = apply(u, c, kept, err);
    }
    if (!status) {
        change(k, b, roots + k, zt, 1, s, c);
        status = apply(v, c, kept, err);
    }
    gcg_mem_free(w.block);
    gcg_mem_free(roots);
    return status;
}

gcg_status gcg_rotate_prox(gcg_factors *u, gcg_factors *v, const gcg_factors *rv, double lambda,
                           double length, double *s, gcg_err *err)
{
    int32_t k = u->k, kept = 0;
    double threshold = length * lambda;
    if (k == 0) return GCG_OK;
    squares w;
    double *t = gcg_mem_alloc_array(k, sizeof *t);
    gcg_status status = squares_init(&w, k, 3, err);
    if (!status && !t) status = gcg_fail_memory(err, "proximal step");
    double *e = w.block, *a = e ? e + w.size : NULL, *bt = e ? a + w.size : NULL;
    if (!status) status = gcg_tall_gram(u, rv, 0, e, err); /* U'RV = S^(1/2) E S^(1/2) */
    if (!status) {
        for (int32_t q = 0; q < k; q++) {
            for (int32_t c = 0; c < k; c++) e[(int64_t)q * k + c] *= length / sqrt(s[q] * s[c]);
            e[(int64_t)q * k + q] += s[q];
        }
        status = gcg_blas_svd(k, k, e, t, a, bt, err);
    }
    if (!status) {
        while (kept < k && t[kept] > threshold) kept++;
        double *bcols = e; /* B = bt' */
        for (int32_t q = 0; q < k; q++)
            for (int32_t c = 0; c < k; c++) {
                double root = sqrt(fmax(t[c] - threshold, 0) / s[q]);
                bcols[(int64_t)q * k + c] = bt[(int64_t)c * k + q] * root;
                a[(int64_t)q * k + c] *= root;
            }
        status = apply(u, a, kept, err);
        if (!status) status = apply(v, bcols, kept, err);
        for (int32_t q = 0; q < k; q++) s[q] = fmax(t[q] - threshold, 0);
    }
    gcg_mem_free(w.block);
    gcg_mem_free(t);
    return status;
}
