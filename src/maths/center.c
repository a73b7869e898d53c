/* Centring: see center.h. */
#include "maths/center.h"

#include "base/mem.h"

static const double USER_SHRINK = 5,
                    ITEM_SHRINK = 3; /* ratings of value 0 that a bias is pulled by (CLI contract) */
enum { SWEEPS = 20 };

static double mean_of(const gcg_csr *x)
{
    return x->nnz > 0 ? gcg_csr_value_stats(x).sum / (double)x->nnz : 0;
}

/* b_i = sum_j (x_ij - mu - b_j) / (n_i + 5) */
static void set_user_bias(const gcg_csr *x, gcg_center *c)
{
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        double sum = 0;
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            sum += gcg_csr_value(x, p) - c->mu - c->item_bias[x->col[p]];
        c->user_bias[i] = sum / ((double)(x->row_ptr[i + 1] - x->row_ptr[i]) + USER_SHRINK);
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
}

/* b_j = sum_i (x_ij - mu - b_i) / (n_j + 3) */
static void set_item_bias(const gcg_csr *x, const int64_t *counts, gcg_center *c)
{
    int64_t done = 0;
    for (int32_t j = 0; j < x->cols; j++) c->item_bias[j] = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++)
            c->item_bias[x->col[p]] += gcg_csr_value(x, p) - c->mu - c->user_bias[i];
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    for (int32_t j = 0; j < x->cols; j++) c->item_bias[j] /= (double)counts[j] + ITEM_SHRINK;
}

gcg_status gcg_center_compute(const gcg_csr *x, gcg_center_kind kind, gcg_center *center, gcg_err *err)
{
    *center = (gcg_center){.kind = kind,
                           .user_bias = gcg_mem_zalloc_array(x->rows, sizeof(double)),
                           .item_bias = gcg_mem_zalloc_array(x->cols, sizeof(double))};
    int64_t *counts = gcg_mem_alloc_array(x->cols, sizeof *counts);
    if (!center->user_bias || !center->item_bias || !counts) {
        gcg_mem_free(counts);
        gcg_center_release(center);
        return gcg_fail_memory(err, "centring");
    }
    gcg_csr_col_counts(x, counts);
    if (kind != GCG_CENTER_NONE) center->mu = mean_of(x);
    if (kind == GCG_CENTER_USER) set_user_bias(x, center);
    if (kind == GCG_CENTER_ITEM) set_item_bias(x, counts, center);
    for (int sweep = 0; sweep < SWEEPS && kind == GCG_CENTER_BOTH; sweep++) {
        set_user_bias(x, center);
        set_item_bias(x, counts, center);
    }
    gcg_mem_free(counts);
    return GCG_OK;
}

void gcg_center_release(gcg_center *center)
{
    gcg_mem_free(center->user_bias);
    gcg_mem_free(center->item_bias);
    *center = (gcg_center){0};
}

/* Room for float values; the caller fills it. */
static gcg_status narrow(gcg_csr *x, gcg_err *err)
{
    if (x->val_f) return GCG_OK;
    x->val_f = gcg_mem_alloc_array(x->nnz, sizeof *x->val_f);
    return x->val_f ? GCG_OK : gcg_fail_memory(err, "centred ratings");
}

gcg_status gcg_center_subtract(const gcg_center *center, int as_double, gcg_csr *x, gcg_err *err)
{
    if (center->kind == GCG_CENTER_NONE) return GCG_OK;
    double *wide = x->val_d;
    gcg_status status = as_double ? gcg_csr_widen(x, err) : narrow(x, err);
    if (!status && (as_double || !wide)) status = gcg_csr_own_values(x, err);
    if (status) return status;
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            double shift = center->mu + center->user_bias[i] + center->item_bias[x->col[p]];
            if (as_double)
                x->val_d[p] -= shift;
            else
                x->val_f[p] = (float)((wide ? wide[p] : (double)x->val_f[p]) - shift);
        }
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    if (!as_double) {
        gcg_csr_free_array(x, x->val_d);
        x->val_d = NULL;
    }
    return GCG_OK;
}

void gcg_center_subtract_reading(const gcg_center *center, int as_double, gcg_csr *x)
{
    if (center->kind != GCG_CENTER_NONE)
        x->shift = (gcg_csr_shift){center->mu, center->user_bias, center->item_bias, as_double};
}

gcg_status gcg_margins_compute(const gcg_csr *x, gcg_margins *margins, gcg_err *err)
{
    gcg_margins m = {.mean = mean_of(x),
                     .user_count = gcg_mem_alloc_array(x->rows, sizeof(int64_t)),
                     .item_count = gcg_mem_alloc_array(x->cols, sizeof(int64_t)),
                     .user_sum = gcg_mem_zalloc_array(x->rows, sizeof(double)),
                     .item_sum = gcg_mem_zalloc_array(x->cols, sizeof(double))};
    *margins = m;
    if (!m.user_count || !m.item_count || !m.user_sum || !m.item_sum) {
        gcg_margins_release(margins);
        return gcg_fail_memory(err, "sums by user and item");
    }
    gcg_csr_col_counts(x, m.item_count);
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        m.user_count[i] = x->row_ptr[i + 1] - x->row_ptr[i];
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            m.user_sum[i] += gcg_csr_value(x, p);
            m.item_sum[x->col[p]] += gcg_csr_value(x, p);
        }
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    return GCG_OK;
}

void gcg_margins_release(gcg_margins *margins)
{
    gcg_mem_free(margins->user_count);
    gcg_mem_free(margins->item_count);
    gcg_mem_free(margins->user_sum);
    gcg_mem_free(margins->item_sum);
    *margins = (gcg_margins){0};
}
