/* Balanced basis and restricted proximal step: see rotate.h. Small matrices (k x k) are in double, tall ones
 * are multiplied in their own precision. */
#include "steps/rotate.h"

#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "maths/tall.h"

/* A factor F (rows x k) in two parts: F to_basis has orthonormal columns (some may be 0), F = (F to_basis)
 * root. */
typedef struct {
    double *to_basis, *root; /* k x k */
} split;

/* F'F = G = C'C, C upper triangular: root = C, to_basis = C^(-1). Columns are scaled to length 1 first, so
 * that small ones count as much as large ones. 0 when the columns are nearly dependent. scale: k doubles. */
static int split_by_cholesky(int32_t k, gcg_dtype type, const double *g, double *scale, const split *out)
{
    double rounding = type == GCG_FLOAT ? 1e-4 : 1e-8; /* of a squared pivot: far above rounding in G */
    double *c = out->root;
    for (int64_t q = 0; q < k; q++) {
        if (!(g[q * k + q] > 0)) return 0;
        scale[q] = sqrt(g[q * k + q]);
    }
    for (int64_t q = 0; q < k; q++)
        for (int64_t e = 0; e < k; e++) c[q * k + e] = g[q * k + e] / (scale[q] * scale[e]);
    if (!gcg_blas_cholesky(k, c, k)) return 0;
    for (int64_t q = 0; q < k; q++)
        if (c[q * k + q] * c[q * k + q] < rounding) return 0;
    memcpy(out->to_basis, c, (size_t)k * (size_t)k * sizeof *c);
    gcg_blas_invert_upper(k, out->to_basis);
    for (int64_t q = 0; q < k; q++)
        for (int64_t e = 0; e < k; e++) {
            c[q * k + e] = e < q ? 0 : c[q * k + e] * scale[e];
            out->to_basis[q * k + e] /= scale[q];
        }
    return 1;
}

/* The same from G = A L A': root = L^(1/2) A', to_basis = A L^(-1/2), with 0 for eigenvalues that are
 * rounding. g is overwritten. */
static gcg_status split_by_eigen(int32_t k, double *g, double *values, const split *out, gcg_err *err)
{
    const double tiny = 1e-14; /* of the largest eigenvalue: rounding of the Gram matrix */
    gcg_status status = gcg_blas_eigen(k, g, values, err);
    if (status) return status;
    for (int64_t q = 0; q < k; q++) { /* row q of g is eigenvector q */
        double root = values[q] > tiny * values[k - 1] ? sqrt(values[q]) : 0,
               inverse = root > 0 ? 1 / root : 0;
        for (int64_t e = 0; e < k; e++) {
            out->root[q * k + e] = root * g[q * k + e];
            out->to_basis[e * k + q] = inverse * g[q * k + e];
        }
    }
    return GCG_OK;
}

/* The Gram matrix is exact (in double) where Cholesky will not do. */
static gcg_status split_factor(const gcg_factors *f, double *g, double *values, const split *out,
                               gcg_err *err)
{
    gcg_status status = gcg_tall_gram(f, f, 0, g, err);
    if (status || split_by_cholesky(f->k, f->type, g, values, out)) return status;
    status = gcg_tall_gram(f, f, 1, g, err);
    return status ? status : split_by_eigen(f->k, g, values, out, err);
}

/* F <- F to_basis y sqrt(s), the first `kept` columns. y is k x k row-major (transposed when turned); c is
 * scratch. */
static gcg_status apply(gcg_factors *f, const split *part, const double *y, int turned, const double *s,
                        int32_t kept, double *c, gcg_err *err)
{
    int32_t k = f->k;
    gcg_blas_dgemm(0, turned, k, kept, k, 1, part->to_basis, k, y, k, 0, c, kept);
    for (int64_t q = 0; q < k; q++)
        for (int64_t e = 0; e < kept; e++) c[q * kept + e] *= sqrt(s[e]);
    gcg_factors out = *f; /* the same rows, fewer columns */
    out.k = kept;
    gcg_status status = gcg_tall_times(f, c, 0, 0, &out, err);
    if (!status) gcg_tall_cut(f, kept);
    return status;
}

/* With U = P C, V = Q D, M = U'RV: the SVD Y T Z' of C D' + length P'RQ; s = (T - threshold)_+; U <- P Y
 * sqrt(s), V <- Q Z sqrt(s), columns with s_q <= drop s_1 or 0 dropped. rv NULL: without R. */
static gcg_status rotate(gcg_factors *u, gcg_factors *v, const gcg_factors *rv, double length,
                         double threshold, double drop, double *s, gcg_err *err)
{
    enum { SQUARES = 8 };
    int32_t k = u->k, kept = 0;
    if (k == 0) return GCG_OK;
    int64_t size = (int64_t)k * k;
    double *block = gcg_mem_alloc_array(SQUARES * size, sizeof *block),
           *values = gcg_mem_alloc_array(k, sizeof *values), *w[SQUARES];
    for (int i = 0; i < SQUARES; i++) w[i] = block ? block + i * size : NULL;
    split part_u = {w[0], w[1]}, part_v = {w[2], w[3]};
    double *product = w[4], *y = w[5], *zt = w[6], *g = w[7];
    gcg_status status = block && values ? GCG_OK : gcg_fail_memory(err, "basis change");
    if (!status) status = split_factor(u, g, values, &part_u, err);
    if (!status) status = split_factor(v, g, values, &part_v, err);
    if (!status) gcg_blas_dgemm(0, 1, k, k, k, 1, part_u.root, k, part_v.root, k, 0, product, k);
    if (!status && rv) {
        status = gcg_tall_gram(u, rv, 0, g, err);
        if (!status) { /* P'RQ = to_basis_u' M to_basis_v */
            gcg_blas_dgemm(1, 0, k, k, k, length, part_u.to_basis, k, g, k, 0, y, k);
            gcg_blas_dgemm(0, 0, k, k, k, 1, y, k, part_v.to_basis, k, 1, product, k);
        }
    }
    if (!status) status = gcg_blas_svd(k, k, product, s, y, zt, err);
    if (!status) {
        for (int32_t q = 0; q < k; q++) s[q] = fmax(s[q] - threshold, 0);
        while (kept < k && s[kept] > drop * s[0] && s[kept] > 0) kept++;
        status = apply(u, &part_u, y, 0, s, kept, g, err);
    }
    if (!status) status = apply(v, &part_v, zt, 1, s, kept, g, err);
    gcg_mem_free(block);
    gcg_mem_free(values);
    return status;
}

gcg_status gcg_rotate_balance(gcg_factors *u, gcg_factors *v, double drop, double *s, gcg_err *err)
{
    return rotate(u, v, NULL, 0, 0, drop, s, err);
}

gcg_status gcg_rotate_prox(gcg_factors *u, gcg_factors *v, const gcg_factors *rv, double lambda,
                           double length, double *s, gcg_err *err)
{
    return rotate(u, v, rv, length, length * lambda, 0, s, err);
}
