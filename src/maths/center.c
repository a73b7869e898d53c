/* Centring: see center.h. */
#include "maths/center.h"

#include <string.h>

#include "base/mem.h"
#include "base/parallel.h"

static const double USER_SHRINK = 5,
                    ITEM_SHRINK = 3; /* ratings of value 0 that a bias is pulled by (CLI contract) */
enum { SWEEPS = 20 };

static double mean_of(const gcg_csr *x)
{
    return x->nnz > 0 ? gcg_csr_value_stats(x).sum / (double)x->nnz : 0;
}

/* Rows are cut into blocks, by the data alone, that threads sweep at the same time. */
enum { MOST_BLOCKS = 8, FEW = 1 << 20 /* ratings that one block is enough for */ };

typedef struct {
    int32_t blocks, start[MOST_BLOCKS + 1];
} row_blocks;

static row_blocks cut_rows(const gcg_csr *x)
{
    row_blocks cut = {.blocks = x->nnz < FEW ? 1 : MOST_BLOCKS};
    gcg_csr_cut_rows(x, cut.blocks, cut.start);
    return cut;
}

/* A sweep over all ratings for new biases of users, of items, or first those of users, then with them those
 * of items: both in one pass, as a user's ratings are all in one row. */
typedef struct {
    const gcg_csr *x;
    row_blocks rows;
    gcg_center *center;
    int users, items;
    const int64_t *count; /* ratings of each item */
    double *sum;          /* of each block: sum_i (x_ij - mu - b_i) over its rows, for each item */
} sweep;

static void sweep_block(int64_t block, void *ctx)
{
    const sweep *s = ctx;
    const gcg_csr *x = s->x;
    gcg_center *c = s->center;
    double *to = s->items ? s->sum + block * x->cols : NULL;
    int32_t first = s->rows.start[block], end = s->rows.start[block + 1];
    int64_t done = x->row_ptr[first];
    if (to) memset(to, 0, (size_t)x->cols * sizeof *to);
    for (int32_t i = first; i < end; i++) {
        int64_t p0 = x->row_ptr[i], p1 = x->row_ptr[i + 1];
        double sum = 0;
        for (int64_t p = p0; p < p1 && s->users; p++)
            sum += gcg_csr_value(x, p) - c->mu - c->item_bias[x->col[p]];
        if (s->users) c->user_bias[i] = sum / ((double)(p1 - p0) + USER_SHRINK);
        for (int64_t p = p0; p < p1 && to; p++)
            to[x->col[p]] += gcg_csr_value(x, p) - c->mu - c->user_bias[i];
        done = gcg_csr_pass_step(x, done, p1);
    }
}

/* b_i = sum_j (x_ij - mu - b_j) / (n_i + 5), then b_j = sum_i (x_ij - mu - b_i) / (n_j + 3) */
static void do_sweep(sweep *s)
{
    int32_t cols = s->x->cols;
    gcg_par_blocks(s->rows.blocks, sweep_block, s);
    for (int32_t j = 0; j < cols && s->items; j++) {
        double sum = 0;
        for (int32_t b = 0; b < s->rows.blocks; b++) sum += s->sum[(int64_t)b * cols + j];
        s->center->item_bias[j] = sum / ((double)s->count[j] + ITEM_SHRINK);
    }
}

gcg_status gcg_center_compute(const gcg_csr *x, gcg_center_kind kind, gcg_center *center, gcg_err *err)
{
    *center = (gcg_center){.kind = kind,
                           .user_bias = gcg_mem_zalloc_array(x->rows, sizeof(double)),
                           .item_bias = gcg_mem_zalloc_array(x->cols, sizeof(double))};
    int64_t *counts = gcg_mem_alloc_array(x->cols, sizeof *counts);
    sweep s = {.x = x,
               .rows = cut_rows(x),
               .center = center,
               .users = kind == GCG_CENTER_USER || kind == GCG_CENTER_BOTH,
               .items = kind == GCG_CENTER_ITEM || kind == GCG_CENTER_BOTH,
               .count = counts};
    s.sum = gcg_mem_alloc_array(s.items ? s.rows.blocks * (int64_t)x->cols : 0, sizeof *s.sum);
    int there = center->user_bias && center->item_bias && counts && s.sum;
    if (there) {
        gcg_csr_col_counts(x, counts);
        if (kind != GCG_CENTER_NONE) center->mu = mean_of(x);
        for (int n = kind == GCG_CENTER_BOTH ? SWEEPS : s.users || s.items; n > 0; n--) do_sweep(&s);
    } else {
        gcg_center_release(center);
    }
    gcg_mem_free(counts);
    gcg_mem_free(s.sum);
    return there ? GCG_OK : gcg_fail_memory(err, "centring");
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

typedef struct {
    gcg_csr *x;
    row_blocks rows;
    const gcg_center *center;
    const double *wide; /* the values before, where doubles become floats */
} subtraction;

static void subtract_block(int64_t block, void *ctx)
{
    const subtraction *s = ctx;
    gcg_csr *x = s->x;
    const gcg_center *c = s->center;
    int64_t done = x->row_ptr[s->rows.start[block]];
    for (int32_t i = s->rows.start[block]; i < s->rows.start[block + 1]; i++) {
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            double shift = c->mu + c->user_bias[i] + c->item_bias[x->col[p]];
            if (!x->val_f)
                x->val_d[p] -= shift;
            else
                x->val_f[p] = (float)((s->wide ? s->wide[p] : (double)x->val_f[p]) - shift);
        }
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
}

gcg_status gcg_center_subtract(const gcg_center *center, int as_double, gcg_csr *x, gcg_err *err)
{
    if (center->kind == GCG_CENTER_NONE) return GCG_OK;
    double *wide = x->val_d;
    gcg_status status = as_double ? gcg_csr_widen(x, err) : narrow(x, err);
    if (!status && (as_double || !wide)) status = gcg_csr_own_values(x, err);
    if (status) return status;
    subtraction s = {x, cut_rows(x), center, as_double ? NULL : wide};
    gcg_par_blocks(s.rows.blocks, subtract_block, &s);
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

double gcg_center_user_bias(gcg_center_kind kind, double mu, const double *item_bias, int64_t n,
                            const int32_t *item, const double *x)
{
    double sum = 0;
    if (kind != GCG_CENTER_USER && kind != GCG_CENTER_BOTH) return 0;
    for (int64_t p = 0; p < n; p++) sum += x[p] - mu - item_bias[item[p]];
    return sum / ((double)n + USER_SHRINK);
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
