/* Scales of the weighted trace norm: see scales.h. */
#include "maths/scales.h"

#include <math.h>

#include "base/mem.h"

int gcg_norm_is_weighted(const gcg_norm *norm)
{
    return norm->smooth < 1 && (norm->exponent_user > 0 || norm->exponent_item > 0);
}

/* Counts become scales. The mean over the ratings is sum n n^A / sum n. */
static void scale_counts(int32_t n, double *count, float *rounded, double exponent, double smooth)
{
    double ratings = 0, sum = 0;
    for (int32_t i = 0; i < n; i++) {
        ratings += count[i];
        sum += count[i] > 0 ? count[i] * pow(count[i], exponent) : 0;
    }
    for (int32_t i = 0; i < n; i++) {
        double p = count[i] > 0 ? (1 - smooth) * pow(count[i], exponent) * (ratings / sum) + smooth : 0;
        count[i] = p > 0 ? 1 / sqrt(p) : 0;
        rounded[i] = (float)count[i];
    }
}

static double most_curvature(const gcg_csr *x, const gcg_scales *s)
{
    double most = 0;
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        double largest = 0;
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            largest = fmax(largest, s->col[x->col[p]]);
        most = fmax(most, s->row[i] * largest);
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    return most * most;
}

gcg_status gcg_scales_init(gcg_scales *s, const gcg_csr *x, const gcg_norm *norm, gcg_err *err)
{
    *s = (gcg_scales){.row = gcg_mem_zalloc_array(x->rows, sizeof *s->row),
                      .col = gcg_mem_zalloc_array(x->cols, sizeof *s->col),
                      .row_f = gcg_mem_alloc_array(x->rows, sizeof *s->row_f),
                      .col_f = gcg_mem_alloc_array(x->cols, sizeof *s->col_f)};
    if (!s->row || !s->col || !s->row_f || !s->col_f) {
        gcg_scales_release(s);
        return gcg_fail_memory(err, "norm weights");
    }
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        s->row[i] = (double)(x->row_ptr[i + 1] - x->row_ptr[i]);
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) s->col[x->col[p]]++;
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    scale_counts(x->rows, s->row, s->row_f, norm->exponent_user, norm->smooth);
    scale_counts(x->cols, s->col, s->col_f, norm->exponent_item, norm->smooth);
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
