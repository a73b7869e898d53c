/* Scales of the weighted trace norm: see scales.h. */
#include "maths/scales.h"

#include <math.h>

#include "base/mem.h"
#include "store/tiles.h"

int gcg_norm_is_weighted(const gcg_norm *norm)
{
    return norm->smooth < 1 && (norm->exponent_user > 0 || norm->exponent_item > 0);
}

double gcg_norm_mean(int32_t n, const int64_t *count, double exponent)
{
    double ratings = 0, sum = 0;
    for (int32_t i = 0; i < n; i++) {
        ratings += (double)count[i];
        sum += count[i] > 0 ? (double)count[i] * pow((double)count[i], exponent) : 0;
    }
    return ratings > 0 ? sum / ratings : 1;
}

double gcg_norm_weight(int64_t count, double exponent, double mean, double smooth)
{
    return count > 0 ? (1 - smooth) * pow((double)count, exponent) / mean + smooth : 0;
}

static void scales_of(int32_t n, const int64_t *count, double exponent, double smooth, double *scale,
                      float *rounded)
{
    double mean = gcg_norm_mean(n, count, exponent);
    for (int32_t i = 0; i < n; i++) {
        scale[i] = count[i] > 0 ? 1 / sqrt(gcg_norm_weight(count[i], exponent, mean, smooth)) : 0;
        rounded[i] = (float)scale[i];
    }
}

/* w_p b_j^2 */
static double curvature(const gcg_csr *x, const gcg_scales *s, int64_t p)
{
    double b = s->col[gcg_csr_col(x, p)];
    return x->weight ? (double)x->weight[p] * b * b : b * b;
}

static double most_curvature(const gcg_csr *x, const gcg_scales *s)
{
    double most = 0;
    int64_t done = 0;
    gcg_csr_run run = {.row = -1};
    while (gcg_csr_next_run(x, &run)) {
        double largest = 0, a = s->row[run.row];
        for (int64_t p = run.p0; p < run.p1; p++) largest = fmax(largest, curvature(x, s, p));
        most = fmax(most, a * a * largest);
        done = gcg_csr_pass_step(x, done, run.p1);
    }
    return most;
}

gcg_status gcg_scales_init(gcg_scales *s, const gcg_csr *x, const gcg_norm *norm, gcg_err *err)
{
    *s = (gcg_scales){.row = gcg_mem_alloc_array(x->rows, sizeof *s->row),
                      .col = gcg_mem_alloc_array(x->cols, sizeof *s->col),
                      .row_f = gcg_mem_alloc_array(x->rows, sizeof *s->row_f),
                      .col_f = gcg_mem_alloc_array(x->cols, sizeof *s->col_f)};
    int64_t *count = gcg_mem_alloc_array(x->rows > x->cols ? x->rows : x->cols, sizeof *count);
    if (!s->row || !s->col || !s->row_f || !s->col_f || !count) {
        gcg_mem_free(count);
        gcg_scales_release(s);
        return gcg_fail_memory(err, "norm weights");
    }
    for (int32_t i = 0; i < x->rows; i++) count[i] = x->row_ptr[i + 1] - x->row_ptr[i];
    scales_of(x->rows, count, norm->exponent_user, norm->smooth, s->row, s->row_f);
    gcg_csr_col_counts(x, count);
    scales_of(x->cols, count, norm->exponent_item, norm->smooth, s->col, s->col_f);
    gcg_mem_free(count);
    s->most_curvature = most_curvature(x, s);
    return GCG_OK;
}

void gcg_scales_release(gcg_scales *s)
{
    gcg_mem_free(s->row);
    gcg_mem_free(s->col);
    gcg_mem_free(s->row_f);
    gcg_mem_free(s->col_f);
    *s = (gcg_scales){0};
}

int64_t gcg_scales_bytes(int64_t rows, int64_t cols)
{
    return (rows + cols) * (int64_t)(sizeof(double) + sizeof(float));
}
