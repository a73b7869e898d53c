/* BLAS and LAPACK: see blas.h. */
#include "base/blas.h"

#include <cblas.h>
#include <lapacke.h>
#undef I /* complex.h's, through lapacke.h */
#include <math.h>
#include <string.h>

#include "base/mem.h"

#ifdef OPENBLAS_VERSION
#define HAVE_OPENBLAS 1
#endif

#ifdef HAVE_OPENBLAS
/* OpenBLAS's own, exported but not declared: ends the threads that it started when it was loaded. Unused as
 * they are, they would spin for a tenth of a second. */
extern int blas_thread_shutdown_(void) __attribute__((weak));
#endif

void gcg_blas_init(void)
{
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1);
    if (blas_thread_shutdown_) blas_thread_shutdown_();
#endif
}

#ifdef HAVE_OPENBLAS
/* OpenBLAS's own, exported but not declared: a work buffer from its pool, which keeps it for later calls. */
extern void *blas_memory_alloc(int procpos) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

gcg_status gcg_blas_reserve(int threads, gcg_err *err)
{
    enum { MOST = 64 /* buffers of OpenBLAS's pool, about */ };
    const int64_t each = (INT64_C(128) << 20) + (INT64_C(1) << 20); /* bytes: a buffer, and a little */
    void *buffer[MOST];
    if (threads > MOST) threads = MOST;
    char *room = gcg_mem_alloc_array(threads * each, 1); /* address space only: nothing is touched */
    if (!room) return gcg_fail_memory(err, "work memory of BLAS, 129 MiB of address space for each thread");
    gcg_mem_free(room);
    if (!blas_memory_alloc || !blas_memory_free) return GCG_OK;
    for (int t = 0; t < threads; t++) buffer[t] = blas_memory_alloc(0);
    for (int t = 0; t < threads; t++) blas_memory_free(buffer[t]);
    return GCG_OK;
}
#else
gcg_status gcg_blas_reserve(int threads, gcg_err *err)
{
    (void)threads;
    (void)err;
    return GCG_OK;
}
#endif

const char *gcg_blas_version(void)
{
#ifdef HAVE_OPENBLAS
    return openblas_get_config();
#else
    return "BLAS (version unknown)";
#endif
}

static CBLAS_TRANSPOSE op(int transpose)
{
    return transpose ? CblasTrans : CblasNoTrans;
}

void gcg_blas_dgemm(int transpose_a, int transpose_b, int32_t m, int32_t n, int32_t k, double alpha,
                    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
                    int64_t ldc)
{
    if (m > 0 && n > 0)
        cblas_dgemm(CblasRowMajor, op(transpose_a), op(transpose_b), m, n, k, alpha, a, (int)lda, b, (int)ldb,
                    beta, c, (int)ldc);
}

void gcg_blas_sgemm(int transpose_a, int transpose_b, int32_t m, int32_t n, int32_t k, float alpha,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc)
{
    if (m > 0 && n > 0)
        cblas_sgemm(CblasRowMajor, op(transpose_a), op(transpose_b), m, n, k, alpha, a, (int)lda, b, (int)ldb,
                    beta, c, (int)ldc);
}

void gcg_blas_dsyrk(int32_t n, int32_t k, double alpha, const double *a, int64_t lda, double beta, double *c,
                    int64_t ldc)
{
    if (n > 0)
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, alpha, a, (int)lda, beta, c, (int)ldc);
}

void gcg_blas_ssyrk(int32_t n, int32_t k, const float *a, int64_t lda, float beta, float *c)
{
    if (n > 0) cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, n, k, 1, a, (int)lda, beta, c, n);
}

void gcg_blas_dgemv(int transpose, int32_t m, int32_t n, double alpha, const double *a, int64_t lda,
                    const double *x, double beta, double *y)
{
    if (m > 0 && n > 0) cblas_dgemv(CblasRowMajor, op(transpose), m, n, alpha, a, (int)lda, x, 1, beta, y, 1);
}

void gcg_blas_cholesky_solve(int32_t n, const double *u, int64_t ldu, double *x)
{
    if (n == 0) return;
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasTrans, CblasNonUnit, n, u, (int)ldu, x, 1);
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, u, (int)ldu, x, 1);
}

void gcg_blas_dtrsm(int32_t m, int32_t n, const double *u, int64_t ldu, double *b, int64_t ldb)
{
    if (m > 0 && n > 0)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, m, n, 1, u, (int)ldu, b,
                    (int)ldb);
}

/* The BLAS counts in 32 bits: long vectors go in pieces. */
static int piece(int64_t left)
{
    const int most = 1 << 30;
    return left < most ? (int)left : most;
}

double gcg_blas_ddot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i += piece(n - i)) sum += cblas_ddot(piece(n - i), x + i, 1, y + i, 1);
    return sum;
}

double gcg_blas_dnrm2(int64_t n, const double *x)
{
    double norm = cblas_dnrm2(piece(n), x, 1);
    for (int64_t i = piece(n); i < n; i += piece(n - i))
        norm = hypot(norm, cblas_dnrm2(piece(n - i), x + i, 1));
    return norm;
}

void gcg_blas_daxpy(int64_t n, double a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i += piece(n - i)) cblas_daxpy(piece(n - i), a, x + i, 1, y + i, 1);
}

void gcg_blas_dscal(int64_t n, double a, double *x)
{
    for (int64_t i = 0; i < n; i += piece(n - i)) cblas_dscal(piece(n - i), a, x + i, 1);
}

/* LAPACK's info as a status. */
static gcg_status outcome(lapack_int info, const char *what, gcg_err *err)
{
    if (info == 0) return GCG_OK;
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return gcg_fail_memory(err, what);
    return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "%s failed (LAPACK info %d): a value is not finite?",
                    what, (int)info);
}

/* LAPACK counts the doubles of its workspace in 32 bits. */
static gcg_status too_large(int32_t n, int32_t most, const char *what, gcg_err *err)
{
    return gcg_fail(err, GCG_ERR_NOMEM, NULL, 0, 0,
                    "%s of size %d: LAPACK can do no more than %d; lower --rank, or --atoms", what, (int)n,
                    (int)most);
}

gcg_status gcg_blas_eigen(int32_t n, double *a, double *values, gcg_err *err)
{
    const int32_t most = 32766; /* 1 + 6 n + 2 n^2 < 2^31 */
    if (n == 0) return GCG_OK;
    if (n > most) return too_large(n, most, "symmetric eigenproblem", err);
    /* symmetric: column-major columns are our rows */
    return outcome(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, a, n, values), "symmetric eigenproblem",
                   err);
}

gcg_status gcg_blas_eigenvalues(int32_t n, double *a, double *values, gcg_err *err)
{
    if (n == 0) return GCG_OK;
    return outcome(LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'L', n, a, n, values), "symmetric eigenproblem",
                   err);
}

void gcg_blas_invert_upper(int32_t n, double *a)
{
    for (int64_t i = 1; i < n; i++) memset(a + i * n, 0, (size_t)i * sizeof *a);
    if (n > 0) LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'L', 'N', n, a, n); /* column-major it is a lower triangle */
}

gcg_status gcg_blas_svd(int32_t m, int32_t n, double *a, double *s, double *u, double *vt, gcg_err *err)
{
    const int32_t most = 23169; /* 4 r^2 + 7 r < 2^31 */
    int32_t r = m < n ? m : n;
    if (r == 0) return GCG_OK;
    if (r > most) return too_large(r, most, "singular value decomposition", err);
    /* column-major, A is seen as its transpose, so U and V change places */
    return outcome(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', n, m, a, n, s, vt, n, u, r),
                   "singular value decomposition", err);
}

int gcg_blas_cholesky(int32_t n, double *a, int64_t lda)
{
    /* row-major upper is column-major lower */
    if (n > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, (lapack_int)lda) != 0) return 0;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(a[i * lda + i])) return 0; /* NaN passes OpenBLAS's test of a pivot */
    return 1;
}

gcg_status gcg_blas_tridiagonal(int32_t n, double *d, double *e, double *z, gcg_err *err)
{
    if (n == 0) return GCG_OK;
    return outcome(LAPACKE_dstev(LAPACK_COL_MAJOR, z ? 'V' : 'N', n, d, e, z, n), "tridiagonal eigenproblem",
                   err);
}
