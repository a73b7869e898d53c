/* The one door to BLAS and LAPACK. Everything is row-major, double or float, and runs on the calling thread
 * alone. */
#ifndef GCG_BASE_BLAS_H
#define GCG_BASE_BLAS_H

#include <stdint.h>

#include "base/status.h"

/* Tells OpenBLAS to use one thread: its own threads would change the order of sums. Call once, first. */
void gcg_blas_init(void);
/* Makes OpenBLAS take the work memory that so many threads need, once, before the first other function here:
 * without enough address space (ulimit -v) OpenBLAS would try again for ever. GCG_ERR_NOMEM when there is not
 * enough. */
gcg_status gcg_blas_reserve(int threads, gcg_err *err);
/* E.g. "OpenBLAS 0.3.21 ... Haswell"; lives forever. */
const char *gcg_blas_version(void);

/* C (m x n) = alpha op(A) op(B) + beta C; op transposes when its flag is set; inner dimension k. */
void gcg_blas_dgemm(int transpose_a, int transpose_b, int32_t m, int32_t n, int32_t k, double alpha,
                    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                    int64_t ldc);
void gcg_blas_sgemm(int transpose_a, int transpose_b, int32_t m, int32_t n, int32_t k, float alpha,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc);
/* The upper triangle of C (n x n) = alpha A'A + beta C, A k x n; below it C is not touched. In ssyrk alpha =
 * 1 and ldc = n. */
void gcg_blas_dsyrk(int32_t n, int32_t k, double alpha, const double *a, int64_t lda, double beta, double *c,
                    int64_t ldc);
void gcg_blas_ssyrk(int32_t n, int32_t k, const float *a, int64_t lda, float beta, float *c);
/* y = alpha op(A) x + beta y, A m x n. */
void gcg_blas_dgemv(int transpose, int32_t m, int32_t n, double alpha, const double *a, int64_t lda,
                    const double *x, double beta, double *y);
/* Vectors of any length. */
double gcg_blas_ddot(int64_t n, const double *x, const double *y);
double gcg_blas_dnrm2(int64_t n, const double *x);
void gcg_blas_daxpy(int64_t n, double a, const double *x, double *y);
void gcg_blas_dscal(int64_t n, double a, double *x);

/* Symmetric A (n x n): values ascending; row i of A becomes eigenvector i. GCG_ERR_INTERNAL when A is not
 * finite; GCG_ERR_NOMEM, here and in gcg_blas_svd, when it is larger than LAPACK can do. */
gcg_status gcg_blas_eigen(int32_t n, double *a, double *values, gcg_err *err);
/* A (m x n) = U diag(s) Vt, r = min(m, n), s descending; U is m x r, Vt r x n. A is overwritten. */
gcg_status gcg_blas_svd(int32_t m, int32_t n, double *a, double *s, double *u, double *vt, gcg_err *err);
/* 1 when the Cholesky factorisation U'U of the symmetric A (n x n, its upper triangle is read and overwritten
 * by U) succeeds, 0 when a pivot is not positive. */
int gcg_blas_cholesky(int32_t n, double *a, int64_t lda);
/* x = (U'U)^(-1) x, U (n x n) as gcg_blas_cholesky leaves it. */
void gcg_blas_cholesky_solve(int32_t n, const double *u, int64_t ldu, double *x);
/* B (m x n) = U'^(-1) B, U (m x m) upper triangular. */
void gcg_blas_dtrsm(int32_t m, int32_t n, const double *u, int64_t ldu, double *b, int64_t ldb);
/* The upper triangular A (n x n, positive diagonal) becomes its inverse, with zeros below. */
void gcg_blas_invert_upper(int32_t n, double *a);
/* Eigenvalues of the symmetric A (n x n), ascending. A is overwritten. GCG_ERR_INTERNAL when A is not finite.
 */
gcg_status gcg_blas_eigenvalues(int32_t n, double *a, double *values, gcg_err *err);
/* Eigenvalues and, as rows of z (n x n), eigenvectors of the symmetric tridiagonal matrix with diagonal d (n)
 * and off-diagonal e (n - 1); values ascending in d. z may be NULL. */
gcg_status gcg_blas_tridiagonal(int32_t n, double *d, double *e, double *z, gcg_err *err);

#endif
