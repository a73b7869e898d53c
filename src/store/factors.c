/* Factors: see factors.h. */
#include "store/factors.h"

#include "base/mem.h"

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

gcg_status gcg_factors_copy(const gcg_factors *f, gcg_dtype type, gcg_factors *out, gcg_err *err)
{
    gcg_status status = gcg_factors_init(out, f->rows, f->k, type, err);
    if (status) return status;
    for (int32_t i = 0; i < f->rows; i++)
        for (int32_t q = 0; q < f->k; q++) gcg_factors_set(out, i, q, gcg_factors_get(f, i, q));
    return GCG_OK;
}

enum { CHAINS = 8 /* partial sums: enough for the compiler to work on several columns at once */ };

#define DOT(real, u, v, k, sum)                                                                              \
    do {                                                                                                     \
        const real *a = u, *b = v;                                                                           \
        int32_t q = 0;                                                                                       \
        for (; q + CHAINS <= k; q += CHAINS)                                                                 \
            for (int c = 0; c < CHAINS; c++) sum[c] += (double)a[q + c] * (double)b[q + c];                  \
        for (; q < k; q++) sum[0] += (double)a[q] * (double)b[q];                                            \
    } while (0)

double gcg_factors_dot(const gcg_factors *u, int32_t i, const gcg_factors *v, int32_t j)
{
    double sum[CHAINS] = {0};
    int64_t at_u = (int64_t)i * u->stride, at_v = (int64_t)j * v->stride;
    if (u->type == GCG_FLOAT)
        DOT(float, (const float *)u->data + at_u, (const float *)v->data + at_v, u->k, sum);
    else
        DOT(double, (const double *)u->data + at_u, (const double *)v->data + at_v, u->k, sum);
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}
