/* Factors: see factors.h. */
#include "store/factors.h"

#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"

gcg_status gcg_factors_init(gcg_factors *f, int32_t rows, int32_t k, gcg_dtype type, gcg_err *err)
{
    *f = (gcg_factors){.rows = rows, .k = k, .type = type};
    if (k > INT32_MAX - GCG_FACTORS_PAD)
        return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "rank %d is too large", k);
    f->stride = (k + GCG_FACTORS_PAD - 1) / GCG_FACTORS_PAD * GCG_FACTORS_PAD;
    f->data = gcg_mem_zalloc_array((int64_t)rows * f->stride, type);
    return f->data ? GCG_OK : gcg_fail_memory(err, "factors");
}

void gcg_factors_release(gcg_factors *f)
{
    gcg_mem_free(f->data);
    *f = (gcg_factors){0};
}

double gcg_factors_get(const gcg_factors *f, int32_t row, int32_t q)
{
    int64_t at = (int64_t)row * f->stride + q;
    return f->type == GCG_FLOAT ? (double)((const float *)f->data)[at] : ((const double *)f->data)[at];
}

void gcg_factors_set(gcg_factors *f, int32_t row, int32_t q, double value)
{
    int64_t at = (int64_t)row * f->stride + q;
    if (f->type == GCG_FLOAT)
        ((float *)f->data)[at] = (float)value;
    else
        ((double *)f->data)[at] = value;
}

enum { STRIP = 512 /* rows that one task copies */ };

typedef struct {
    gcg_factors *to;
    const gcg_factors *from;
    int32_t at, first, count;
    const double *scale;
} put_ctx;

static void put_row(const put_ctx *c, int32_t i)
{
    int64_t to = (int64_t)i * c->to->stride + c->at, from = (int64_t)i * c->from->stride + c->first;
    if (c->to->type != c->from->type) {
        for (int32_t q = 0; q < c->count; q++)
            gcg_factors_set(c->to, i, c->at + q,
                            (c->scale ? c->scale[q] : 1) * gcg_factors_get(c->from, i, c->first + q));
    } else if (!c->scale) {
        size_t size = (size_t)c->to->type;
        memcpy((char *)c->to->data + (size_t)to * size, (const char *)c->from->data + (size_t)from * size,
               (size_t)c->count * size);
    } else if (c->to->type == GCG_FLOAT) {
        for (int32_t q = 0; q < c->count; q++)
            ((float *)c->to->data)[to + q] =
                (float)(c->scale[q] * (double)((const float *)c->from->data)[from + q]);
    } else {
        for (int32_t q = 0; q < c->count; q++)
            ((double *)c->to->data)[to + q] = c->scale[q] * ((const double *)c->from->data)[from + q];
    }
}

static void put_task(int64_t strip, void *ctx)
{
    const put_ctx *c = ctx;
    int64_t end = (strip + 1) * STRIP < c->to->rows ? (strip + 1) * STRIP : c->to->rows;
    for (int64_t i = strip * STRIP; i < end; i++) put_row(c, (int32_t)i);
}

void gcg_factors_put(gcg_factors *to, int32_t at, const gcg_factors *from, int32_t first, int32_t count,
                     const double *scale)
{
    put_ctx c = {to, from, at, first, count, scale};
    if (count > 0) gcg_par_blocks(((int64_t)to->rows + STRIP - 1) / STRIP, put_task, &c);
}

typedef struct {
    gcg_factors *f;
    const double *scale;
    int inverted;
} scale_ctx;

static void scale_task(int64_t strip, void *ctx)
{
    const scale_ctx *c = ctx;
    gcg_factors *f = c->f;
    int64_t end = (strip + 1) * STRIP < f->rows ? (strip + 1) * STRIP : f->rows;
    for (int64_t i = strip * STRIP; i < end; i++) {
        double scale = !c->inverted ? c->scale[i] : c->scale[i] != 0 ? 1 / c->scale[i] : 0;
        for (int32_t q = 0; q < f->k; q++)
            gcg_factors_set(f, (int32_t)i, q, scale * gcg_factors_get(f, (int32_t)i, q));
    }
}

void gcg_factors_scale_rows(gcg_factors *f, const double *scale)
{
    scale_ctx c = {f, scale, 0};
    gcg_par_blocks(((int64_t)f->rows + STRIP - 1) / STRIP, scale_task, &c);
}

void gcg_factors_unscale_rows(gcg_factors *f, const double *scale)
{
    scale_ctx c = {f, scale, 1};
    gcg_par_blocks(((int64_t)f->rows + STRIP - 1) / STRIP, scale_task, &c);
}

gcg_status gcg_factors_copy(const gcg_factors *f, gcg_dtype type, gcg_factors *out, gcg_err *err)
{
    gcg_status status = gcg_factors_init(out, f->rows, f->k, type, err);
    if (!status) gcg_factors_put(out, 0, f, 0, f->k, NULL);
    return status;
}

enum { CHAINS = 8 /* partial sums: enough for the compiler to work on several columns at once */ };

/* of(f, e): entry e of the row f, in double. */
#define DOT(real, of_u, of_v, u, v, k, sum)                                                                  \
    do {                                                                                                     \
        const real *x = u, *y = v;                                                                           \
        int32_t q = 0;                                                                                       \
        for (; q + CHAINS <= k; q += CHAINS)                                                                 \
            for (int c = 0; c < CHAINS; c++) sum[c] += of_u(real, x[q + c]) * of_v(real, y[q + c]);          \
        for (; q < k; q++) sum[0] += of_u(real, x[q]) * of_v(real, y[q]);                                    \
    } while (0)
#define AS_IT_IS(real, entry) (double)(entry)
#define TIMES_A(real, entry) (double)(real)(a * (double)(entry))
#define TIMES_B(real, entry) (double)(real)(b * (double)(entry))

double gcg_factors_dot(const gcg_factors *u, int32_t i, const gcg_factors *v, int32_t j)
{
    double sum[CHAINS] = {0};
    int64_t at_u = (int64_t)i * u->stride, at_v = (int64_t)j * v->stride;
    if (u->type == GCG_FLOAT)
        DOT(float, AS_IT_IS, AS_IT_IS, (const float *)u->data + at_u, (const float *)v->data + at_v, u->k,
            sum);
    else
        DOT(double, AS_IT_IS, AS_IT_IS, (const double *)u->data + at_u, (const double *)v->data + at_v, u->k,
            sum);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

double gcg_factors_dot_scaled(const gcg_factors *u, int32_t i, double a, const gcg_factors *v, int32_t j,
                              double b)
{
    double sum[CHAINS] = {0};
    int64_t at_u = (int64_t)i * u->stride, at_v = (int64_t)j * v->stride;
    if (u->type == GCG_FLOAT)
        DOT(float, TIMES_A, TIMES_B, (const float *)u->data + at_u, (const float *)v->data + at_v, u->k, sum);
    else
        DOT(double, TIMES_A, TIMES_B, (const double *)u->data + at_u, (const double *)v->data + at_v, u->k,
            sum);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
