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

/* ---- Cholesky by panels: on the threads, and the watch is asked between two ---- */

enum { PANEL = 192, TILE = 384 /* columns of a task */ };

/* The panel of rows i0..i1 of the upper triangle; columns i1.. are cut into tiles. */
typedef struct {
    double *a;
    int32_t n, i0, i1;
} panel_ctx;

static int32_t tile(const panel_ctx *c, int64_t block, int32_t *first)
{
    *first = (int32_t)(c->i1 + block * TILE);
    return c->n - *first < TILE ? c->n - *first : TILE;
}

static void solve_task(int64_t block, void *ctx)
{
    const panel_ctx *c = ctx;
    int32_t j, columns = tile(c, block, &j);
    double *row = c->a + (int64_t)c->i0 * c->n;
    gcg_blas_dtrsm(c->i1 - c->i0, columns, row + c->i0, c->n, row + j, c->n);
}

/* Rows of one tile, from its diagonal on. */
static void update_task(int64_t block, void *ctx)
{
    const panel_ctx *c = ctx;
    int32_t j, rows = tile(c, block, &j);
    const double *panel = c->a + (int64_t)c->i0 * c->n + j;
    double *out = c->a + (int64_t)j * c->n + j;
    gcg_blas_dsyrk(rows, c->i1 - c->i0, -1, panel, c->n, 1, out, c->n);
    gcg_blas_dgemm(1, 0, rows, c->n - j - rows, c->i1 - c->i0, -1, panel, c->n, panel + rows, c->n, 1,
                   out + rows, c->n);
}

/* 1 when A (n x n, upper triangle) is positive definite; 0 also when the watch is over before that is known.
 */
static int is_positive_definite(double *a, int32_t n, gcg_watch *watch)
{
    for (int32_t i = 0; i < n; i += PANEL) {
        int32_t left = n - i, rows = left < PANEL ? left : PANEL;
        panel_ctx c = {a, n, i, i + rows};
        int64_t tiles = ((int64_t)left - rows + TILE - 1) / TILE;
        if (gcg_watch_over(watch) || !gcg_blas_cholesky(rows, a + (int64_t)i * n + i, n)) return 0;
        gcg_par_blocks(tiles, solve_task, &c);
        gcg_par_blocks(tiles, update_task, &c);
    }
    return 1;
}

/* ---- the proof ---- */

/* Tries to prove s > sigma_1; 1 when proved. The Gram matrix stands in the lower triangle with its diagonal
 * apart; the factorisation uses the upper one, so that one matrix serves both. */
static int prove(double *gram, const double *diagonal, int32_t n, double s, gcg_watch *watch)
{
    /* rounding of the sums, the factorisation and s^2 itself: a generous multiple of n times the unit */
    double shift = s * s * (1 - 8 * (n + 8.0) * DBL_EPSILON);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) gram[i * n + j] = -gram[j * n + i];
        gram[i * n + i] = shift - diagonal[i];
    }
    return is_positive_definite(gram, n, watch);
}

/* The tries, on a Gram matrix that is at hand. */
static double first_proved(double *gram, double *diagonal, int32_t n, double sigma, double guard, double most,
                           gcg_watch *watch)
{
    double least = 32 * (n + 8.0) * DBL_EPSILON; /* less cannot succeed */
    for (int64_t i = 0; i < n; i++) diagonal[i] = gram[i * n + i];
    for (guard = fmax(guard, least); guard <= fmax(most, least) && !gcg_watch_over(watch); guard *= 3)
        if (prove(gram, diagonal, n, sigma * (1 + guard), watch)) return sigma * (1 + guard);
    return INFINITY;
}

int64_t gcg_certificate_bytes(int32_t rows, int32_t cols, int64_t nnz, int64_t value)
{
    int64_t n = rows < cols ? rows : cols, gram = 8 * n * (n + 1);
    int64_t transposed = rows < cols ? nnz * (4 + value) + 8 * ((int64_t)cols + 1) : 0;
    return gram + transposed;
}

gcg_status gcg_certificate_cholesky(const gcg_csr *r, double sigma, double guard, double most,
                                    gcg_watch *watch, double *bound, gcg_err *err)
{
    enum { STRIP_ROWS = 64 };
    gcg_csr transposed = {0};
    const gcg_csr *narrow = r;
    gcg_status status = GCG_OK;
    *bound = INFINITY;
    if (r->tiling.ptr) return GCG_OK; /* there are no rows to go by */
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
        gcg_par_blocks(((int64_t)n + STRIP_ROWS - 1) / STRIP_ROWS, gram_task, &c);
        *bound = sigma > 0     ? first_proved(gram, diagonal, n, sigma, guard, most, watch)
                 : r->nnz == 0 ? 0
                               : INFINITY;
    }
    gcg_csr_release(&transposed);
    gcg_mem_free(gram);
    gcg_mem_free(diagonal);
    return status;
}
