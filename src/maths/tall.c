/* Tall times small: see tall.h. */
#include "maths/tall.h"

#include <math.h>
#include <string.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/kernels.h"

enum {
    BLOCK = 256,     /* rows of one BLAS call */
    MOST_GROUPS = 16 /* of row blocks that share one partial sum: tasks for the threads */
};

/* Rows of a group: whole blocks. */
static int32_t rows_of_group(int32_t rows)
{
    int64_t blocks = ((int64_t)rows + BLOCK - 1) / BLOCK;
    return (int32_t)(((blocks + MOST_GROUPS - 1) / MOST_GROUPS) * BLOCK);
}

static int64_t groups(int32_t rows)
{
    int64_t each = rows_of_group(rows);
    return each > 0 ? (rows + each - 1) / each : 0;
}

typedef struct {
    const gcg_factors *a, *b;
    gcg_factors *out;
    int exact;
    const double *c;
    const float *c_float;
    double beta;
    double *partial; /* a.k x b.k per group */
    char *work;      /* work_bytes per group */
    size_t work_bytes;
} call;

static void *row(const gcg_factors *f, int32_t i)
{
    return (char *)f->data + (size_t)i * (size_t)f->stride * (size_t)f->type;
}

/* n rows from row i as doubles, k columns without padding. */
static void rows_to_double(const gcg_factors *f, int32_t i, int32_t n, double *out)
{
    gcg_vector_ops ops = gcg_kernels_vector_ops(f->type);
    for (int32_t x = 0; x < n; x++) ops.to_double(f->k, row(f, i + x), out + (int64_t)x * f->k);
}

static void gram_block_exact(const call *c, int32_t i, int32_t n, double *sum, char *work)
{
    double *a = (double *)work, *b = c->b == c->a ? a : a + (int64_t)BLOCK * c->a->k;
    rows_to_double(c->a, i, n, a);
    if (b != a) rows_to_double(c->b, i, n, b);
    if (b == a)
        gcg_blas_dsyrk(c->a->k, n, 1, a, c->a->k, 1, sum, c->a->k);
    else
        gcg_blas_dgemm(1, 0, c->a->k, c->b->k, n, 1, a, c->a->k, b, c->b->k, 1, sum, c->b->k);
}

static void gram_block_stored(const call *c, int32_t i, int32_t n, double *sum, char *work)
{
    int32_t ka = c->a->k, kb = c->b->k;
    if (c->a->type == GCG_DOUBLE) {
        if (c->a == c->b)
            gcg_blas_dsyrk(ka, n, 1, row(c->a, i), c->a->stride, 1, sum, ka);
        else
            gcg_blas_dgemm(1, 0, ka, kb, n, 1, row(c->a, i), c->a->stride, row(c->b, i), c->b->stride, 1, sum,
                           kb);
        return;
    }
    float *product = (float *)work;
    if (c->a == c->b)
        gcg_blas_ssyrk(ka, n, row(c->a, i), c->a->stride, 0, product);
    else
        gcg_blas_sgemm(1, 0, ka, kb, n, 1, row(c->a, i), c->a->stride, row(c->b, i), c->b->stride, 0, product,
                       kb);
    for (int32_t p = 0; p < ka; p++) /* of a symmetric product only the upper triangle is there */
        for (int64_t e = (int64_t)p * kb + (c->a == c->b ? p : 0); e < (int64_t)(p + 1) * kb; e++)
            sum[e] += (double)product[e];
}

static int32_t group_rows(int64_t group, int32_t rows, int32_t *first)
{
    int32_t each = rows_of_group(rows);
    *first = (int32_t)(group * each);
    return rows - *first < each ? rows - *first : each;
}

static void gram_task(int64_t group, void *ctx)
{
    const call *c = ctx;
    int32_t first, count = group_rows(group, c->a->rows, &first);
    double *sum = c->partial + group * c->a->k * c->b->k;
    char *work = c->work + (size_t)group * c->work_bytes;
    memset(sum, 0, (size_t)c->a->k * (size_t)c->b->k * sizeof *sum);
    for (int32_t x = 0; x < count; x += BLOCK) {
        int32_t n = count - x < BLOCK ? count - x : BLOCK;
        if (c->exact)
            gram_block_exact(c, first + x, n, sum, work);
        else
            gram_block_stored(c, first + x, n, sum, work);
    }
}

gcg_status gcg_tall_gram(const gcg_factors *a, const gcg_factors *b, int exact, double *g, gcg_err *err)
{
    int64_t n = groups(a->rows), size = (int64_t)a->k * b->k;
    memset(g, 0, (size_t)size * sizeof *g);
    call c = {.a = a, .b = b, .exact = exact};
    c.work_bytes =
        exact ? (size_t)BLOCK * (size_t)(a->k + b->k) * sizeof(double) : (size_t)size * sizeof(float);
    c.partial = gcg_mem_alloc_array(n * size, sizeof *c.partial);
    c.work = gcg_mem_alloc_array(n, c.work_bytes);
    gcg_status status = c.partial && c.work ? GCG_OK : gcg_fail_memory(err, "Gram matrix");
    if (!status) {
        gcg_par_blocks(n, gram_task, &c);
        for (int64_t x = 0; x < n; x++)
            for (int64_t e = 0; e < size; e++) g[e] += c.partial[x * size + e];
        for (int64_t p = 0; a == b && p < a->k; p++)
            for (int64_t q = 0; q < p; q++) g[p * a->k + q] = g[q * a->k + p];
    }
    gcg_mem_free(c.partial);
    gcg_mem_free(c.work);
    return status;
}

static void times_block_exact(const call *c, int32_t i, int32_t n, char *work)
{
    int32_t ka = c->a->k, ko = c->out->k;
    double *a = (double *)work, *out = a + (int64_t)BLOCK * ka;
    gcg_vector_ops ops = gcg_kernels_vector_ops(c->out->type);
    rows_to_double(c->a, i, n, a);
    if (c->beta != 0) rows_to_double(c->out, i, n, out);
    gcg_blas_dgemm(0, 0, n, ko, ka, 1, a, ka, c->c, ko, c->beta, out, ko);
    for (int32_t x = 0; x < n; x++) ops.from_double(ko, out + (int64_t)x * ko, row(c->out, i + x));
}

/* In place: a copy of the rows is multiplied. */
static void times_block_stored(const call *c, int32_t i, int32_t n, char *work)
{
    int32_t ka = c->a->k, ko = c->out->k;
    const void *a = row(c->a, i);
    if (c->a->data == c->out->data)
        a = memcpy(work, a, (size_t)n * (size_t)c->a->stride * (size_t)c->a->type);
    if (c->a->type == GCG_DOUBLE)
        gcg_blas_dgemm(0, 0, n, ko, ka, 1, a, c->a->stride, c->c, ko, c->beta, row(c->out, i),
                       c->out->stride);
    else
        gcg_blas_sgemm(0, 0, n, ko, ka, 1, a, c->a->stride, c->c_float, ko, (float)c->beta, row(c->out, i),
                       c->out->stride);
}

static void times_task(int64_t group, void *ctx)
{
    const call *c = ctx;
    int32_t first, count = group_rows(group, c->a->rows, &first);
    char *work = c->work + (size_t)group * c->work_bytes;
    for (int32_t x = 0; x < count; x += BLOCK) {
        int32_t n = count - x < BLOCK ? count - x : BLOCK;
        if (c->exact)
            times_block_exact(c, first + x, n, work);
        else
            times_block_stored(c, first + x, n, work);
    }
}

gcg_status gcg_tall_times(const gcg_factors *a, const double *c_in, double beta, int exact, gcg_factors *out,
                          gcg_err *err)
{
    int64_t n = groups(a->rows), size = (int64_t)a->k * out->k;
    call c = {.a = a, .out = out, .exact = exact, .c = c_in, .beta = beta};
    float *c_float = NULL;
    gcg_status status = GCG_OK;
    if (exact)
        c.work_bytes = (size_t)BLOCK * (size_t)(a->k + out->k) * sizeof(double);
    else if (a->data == out->data)
        c.work_bytes = (size_t)BLOCK * (size_t)a->stride * (size_t)a->type;
    c.work = gcg_mem_alloc_array(n, c.work_bytes);
    if (!c.work) status = gcg_fail_memory(err, "rotation");
    if (!status && !exact && a->type == GCG_FLOAT) {
        c.c_float = c_float = gcg_mem_alloc_array(size, sizeof *c_float);
        if (!c_float) status = gcg_fail_memory(err, "rotation");
        for (int64_t e = 0; c_float && e < size; e++) c_float[e] = (float)c_in[e];
    }
    if (!status) gcg_par_blocks(n, times_task, &c);
    gcg_mem_free(c.work);
    gcg_mem_free(c_float);
    return status;
}

gcg_status gcg_tall_project(const gcg_factors *b, const double *weight, int rounds, gcg_factors *x,
                            gcg_err *err)
{
    if (b->k == 0 || x->k == 0) return GCG_OK;
    int64_t size = (int64_t)b->k * x->k;
    double *g = gcg_mem_alloc_array(size, sizeof *g);
    gcg_status status = g ? GCG_OK : gcg_fail_memory(err, "projection");
    for (int round = 0; round < rounds && !status; round++) {
        status = gcg_tall_gram(b, x, 0, g, err);
        if (status) break;
        for (int64_t e = 0; e < size; e++) g[e] *= weight ? -weight[e / x->k] : -1;
        status = gcg_tall_times(b, g, 1, 0, x, err);
    }
    gcg_mem_free(g);
    return status;
}

void gcg_tall_cut(gcg_factors *x, int32_t k)
{
    size_t size = (size_t)x->type;
    for (int32_t i = 0; i < x->rows; i++)
        memset((char *)row(x, i) + (size_t)k * size, 0, (size_t)(x->k - k) * size);
    x->k = k;
}

/* One round where no direction is lost: X <- X C^(-1) with X'X = C'C, C upper triangular. *done = 0, and X as
 * it was, where a pivot comes near `least` or rounding. *smallest: the least squared pivot. */
static gcg_status orthonormalise_by_cholesky(gcg_factors *x, double least, double *g, int *done,
                                             double *smallest, gcg_err *err)
{
    const double margin = 4; /* pivots are no smaller than the least eigenvalue, and mostly not much larger */
    double rounding = x->type == GCG_FLOAT ? 1e-5 : 1e-12; /* of a Gram matrix in this precision, with room */
    int64_t k = x->k;
    *done = 0;
    gcg_status status = gcg_tall_gram(x, x, 0, g, err);
    if (status) return status;
    double largest = 0;
    for (int64_t q = 0; q < k; q++) largest = fmax(largest, g[q * k + q]);
    if (!(largest > 0) || !gcg_blas_cholesky((int32_t)k, g, k)) return GCG_OK;
    *smallest = INFINITY;
    for (int64_t q = 0; q < k; q++) *smallest = fmin(*smallest, g[q * k + q] * g[q * k + q]);
    if (!(*smallest > margin * fmax(least, rounding * largest))) return GCG_OK;
    gcg_blas_invert_upper((int32_t)k, g);
    gcg_factors out = *x;
    *done = 1;
    return gcg_tall_times(x, g, 0, 0, &out, err);
}

/* One round: X <- X A L^(-1/2) with X'X = A L A'. *smallest: the least entry of L that was kept. */
static gcg_status orthonormalise_once(gcg_factors *x, double least, double *g, double *basis, double *values,
                                      double *smallest, gcg_err *err)
{
    int32_t k = x->k, kept = 0, done;
    gcg_status status = orthonormalise_by_cholesky(x, least, g, &done, smallest, err);
    if (status || done) return status;
    status = gcg_tall_gram(x, x, 1, g, err);
    if (!status) status = gcg_blas_eigen(k, g, values, err);
    if (status) return status;
    double rounding = x->type == GCG_FLOAT ? 1e-10 : 1e-24; /* squared, with room */
    double floor = fmax(values[k - 1] * rounding, least);
    for (int32_t q = k - 1; q >= 0 && values[q] > floor; q--) kept++;
    if (kept == 0) {
        gcg_tall_cut(x, 0);
        return GCG_OK;
    }
    *smallest = values[k - kept];
    for (int32_t c = 0; c < kept; c++) { /* largest first */
        double inverse = 1 / sqrt(values[k - 1 - c]);
        for (int32_t q = 0; q < k; q++)
            basis[(int64_t)q * kept + c] = g[(int64_t)(k - 1 - c) * k + q] * inverse;
    }
    gcg_factors out = *x; /* the same rows, fewer columns */
    out.k = kept;
    status = gcg_tall_times(x, basis, 0, 1, &out, err);
    if (!status) gcg_tall_cut(x, kept);
    return status;
}

gcg_status gcg_tall_square_norm(const gcg_factors *x, double *norm, gcg_err *err)
{
    int64_t k = x->k;
    double *g = gcg_mem_alloc_array(k * k, sizeof *g);
    gcg_status status = g ? gcg_tall_gram(x, x, 0, g, err) : gcg_fail_memory(err, "norm");
    *norm = 0;
    for (int64_t q = 0; !status && q < k; q++) *norm += g[q * k + q];
    gcg_mem_free(g);
    return status;
}

gcg_status gcg_tall_orthonormalise(gcg_factors *x, double least, double *smallest, gcg_err *err)
{
    int64_t k = x->k;
    double first = 0, later = 0;
    double *g = gcg_mem_alloc_array(k * k, sizeof *g), *basis = gcg_mem_alloc_array(k * k, sizeof *basis),
           *values = gcg_mem_alloc_array(k, sizeof *values);
    gcg_status status = g && basis && values ? GCG_OK : gcg_fail_memory(err, "orthonormal basis");
    if (!status && x->k > 0) status = orthonormalise_once(x, least, g, basis, values, &first, err);
    if (!status && x->k > 0) status = orthonormalise_once(x, 0, g, basis, values, &later, err);
    if (smallest) *smallest = first;
    gcg_mem_free(g);
    gcg_mem_free(basis);
    gcg_mem_free(values);
    return status;
}
