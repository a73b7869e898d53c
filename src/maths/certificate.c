/* Dual bound and its proof: see certificate.h. */
#include "maths/certificate.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"

double gcg_certificate_dual(double lambda, double sigma, double r_x, double r_r)
{
    if (!(r_r > 0)) return 0;
    double s = r_x / r_r;
    if (sigma > 0 && lambda / sigma < s) s = lambda / sigma;
    if (!(s > 0)) s = 0;
    return s * r_x - 0.5 * s * s * r_r;
}

double gcg_certificate_gap(double objective, double dual)
{
    if (objective <= dual) return 0;
    return (objective - dual) / objective;
}

/* Lower triangle of g = R'R, rows of g cut into strips. */
typedef struct {
    const gcg_csr *r;
    double *g;
    int32_t strip_rows;
    const gcg_watch *watch;
} gram_ctx;

static void gram_task(int64_t strip, void *ctx)
{
    const gram_ctx *c = ctx;
    const gcg_csr *r = c->r;
    int64_t n = r->cols;
    int32_t j0 = (int32_t)(strip * c->strip_rows),
            j1 = j0 + c->strip_rows < r->cols ? j0 + c->strip_rows : r->cols;
    memset(c->g + j0 * n, 0, (size_t)(j1 - j0) * (size_t)n * sizeof *c->g);
    if (gcg_watch_passed(c->watch)) return;
    for (int32_t i = 0; i < r->rows; i++) {
        int64_t p0 = r->row_ptr[i], p1 = r->row_ptr[i + 1];
        for (int64_t p = p0; p < p1 && r->col[p] < j1; p++) {
            if (r->col[p] < j0) continue;
            double *row = c->g + r->col[p] * n, value = gcg_csr_value(r, p);
            for (int64_t q = p0; q <= p; q++) row[r->col[q]] += value * gcg_csr_value(r, q);
        }
    }
}

/* Tries to prove s > sigma_1; 1 when proved. The Gram matrix stands in the lower triangle with its diagonal
 * apart; the factorisation uses the upper one, so that one matrix serves both. */
static int prove(double *gram, const double *diagonal, int32_t n, double s)
{
    /* rounding of the sums, the factorisation and s^2 itself: a generous multiple of n times the unit */
    double shift = s * s * (1 - 8 * (n + 8.0) * DBL_EPSILON);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) gram[i * n + j] = -gram[j * n + i];
        gram[i * n + i] = shift - diagonal[i];
    }
    return gcg_blas_cholesky(n, gram);
}

/* The tries, on a Gram matrix that is at hand. */
static double first_proved(double *gram, double *diagonal, int32_t n, double sigma, double guard, double most,
                           gcg_watch *watch)
{
    double least = 32 * (n + 8.0) * DBL_EPSILON; /* less cannot succeed */
    for (int64_t i = 0; i < n; i++) diagonal[i] = gram[i * n + i];
    for (guard = fmax(guard, least); guard <= fmax(most, least) && !gcg_watch_over(watch); guard *= 3)
        if (prove(gram, diagonal, n, sigma * (1 + guard))) return sigma * (1 + guard);
    return INFINITY;
}

gcg_status gcg_certificate_cholesky(const gcg_csr *r, double sigma, double guard, double most,
                                    gcg_watch *watch, double *bound, gcg_err *err)
{
    enum { STRIP_ROWS = 64 };
    gcg_csr transposed = {0};
    const gcg_csr *narrow = r;
    gcg_status status = GCG_OK;
    if (r->rows < r->cols) {
        status = gcg_csr_transpose(r, &transposed, err);
        narrow = &transposed;
    }
    int32_t n = r->rows < r->cols ? r->rows : r->cols;
    double *gram = NULL, *diagonal = NULL;
    if (!status) {
        gram = gcg_mem_alloc_array(n, (size_t)n * sizeof *gram);
        diagonal = gcg_mem_alloc_array(n, sizeof *diagonal);
        if (!gram || !diagonal) status = gcg_fail_memory(err, "certificate");
    }
    if (!status) {
        gram_ctx c = {narrow, gram, STRIP_ROWS, watch};
        gcg_par_blocks((n + STRIP_ROWS - 1) / STRIP_ROWS, gram_task, &c);
        *bound = sigma > 0     ? first_proved(gram, diagonal, n, sigma, guard, most, watch)
                 : r->nnz == 0 ? 0
                               : INFINITY;
    }
    gcg_csr_release(&transposed);
    gcg_mem_free(gram);
    gcg_mem_free(diagonal);
    return status;
}
