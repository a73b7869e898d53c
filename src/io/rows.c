/* Sorting and merging within rows: see rows.h.
 *
 * A row is sorted as 64-bit keys (column, position), which are distinct, so that the order is the stable one:
 * short rows by insertion, long ones by the bytes of the column (a radix sort, which is stable by itself). */
#include "io/rows.h"

#include <string.h>
#include "base/mem.h"
#include "base/parallel.h"

enum {
    BLOCK_RATINGS = 1 << 18 /* ratings a block of rows is meant to have */,
    INSERTION = 24, /* keys sorted simply */
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS
};

typedef struct {
    uint64_t *key, *other; /* room for the longest row each */
    double *value;
    float *weight;
} row_scratch;

static void scratch_release(row_scratch *s)
{
    gcg_mem_free(s->key);
    gcg_mem_free(s->other);
    gcg_mem_free(s->value);
    gcg_mem_free(s->weight);
}

static int scratch_init(row_scratch *s, int64_t longest)
{
    s->key = gcg_mem_alloc_array(longest, sizeof *s->key);
    s->other = gcg_mem_alloc_array(longest, sizeof *s->other);
    s->value = gcg_mem_alloc_array(longest, sizeof *s->value);
    s->weight = gcg_mem_alloc_array(longest, sizeof *s->weight);
    if (s->key && s->other && s->value && s->weight) return 1;
    scratch_release(s);
    return 0;
}

static void insertion_sort(uint64_t *key, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t k = key[i];
        int64_t j = i;
        for (; j > 0 && key[j - 1] > k; j--) key[j] = key[j - 1];
        key[j] = k;
    }
}

/* Sorts from key to other by one digit of the columns. */
static void sort_by_digit(const uint64_t *key, uint64_t *other, int64_t n, int shift)
{
    uint32_t place[DIGITS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) place[key[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        uint32_t count = place[d];
        place[d] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) other[place[key[i] >> shift & (DIGITS - 1)]++] = key[i];
}

/* Sorts s->key[0..n), whose columns are below cols; they may change places with s->other. */
static void sort_keys(row_scratch *s, int64_t n, int32_t cols)
{
    if (n <= INSERTION) {
        insertion_sort(s->key, n);
        return;
    }
    for (int shift = 32; shift < 64 && (uint32_t)(cols - 1) >> (shift - 32) != 0; shift += DIGIT_BITS) {
        sort_by_digit(s->key, s->other, n, shift);
        uint64_t *swap = s->key;
        s->key = s->other;
        s->other = swap;
    }
}

static int is_ascending(const int32_t *col, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (col[i] <= col[i - 1]) return 0;
    return 1;
}

/* Sorts the keys of row i; returns its number of repeated columns. */
static int64_t sort_row_keys(const gcg_csr *x, int32_t i, row_scratch *s)
{
    int64_t start = x->row_ptr[i], n = x->row_ptr[i + 1] - start, repeats = 0;
    for (int64_t p = 0; p < n; p++) s->key[p] = (uint64_t)x->col[start + p] << 32 | (uint64_t)p;
    sort_keys(s, n, x->cols);
    for (int64_t p = 1; p < n; p++) repeats += s->key[p] >> 32 == s->key[p - 1] >> 32;
    return repeats;
}

/* Puts row i into the order of the keys. */
static void apply_keys(gcg_csr *x, int32_t i, const row_scratch *s)
{
    int64_t start = x->row_ptr[i], n = x->row_ptr[i + 1] - start;
    for (int64_t p = 0; p < n; p++) {
        s->value[p] = gcg_csr_value(x, start + (int64_t)(s->key[p] & UINT32_MAX));
        x->col[start + p] = (int32_t)(s->key[p] >> 32);
    }
    for (int64_t p = 0; p < n; p++) {
        if (x->val_d)
            x->val_d[start + p] = s->value[p];
        else
            x->val_f[start + p] = (float)s->value[p];
    }
    if (!x->weight) return;
    for (int64_t p = 0; p < n; p++) s->weight[p] = x->weight[start + (int64_t)(s->key[p] & UINT32_MAX)];
    memcpy(x->weight + start, s->weight, (size_t)n * sizeof *s->weight);
}

typedef struct {
    gcg_csr *x;
    int64_t blocks;
    int leave_repeats;
    int64_t *repeats; /* per block; -1: out of memory */
} sort_job;

/* First row of a block: the first that starts at or after the block's share of the ratings. */
static int32_t first_row(const sort_job *job, int64_t block)
{
    const gcg_csr *x = job->x;
    int64_t from = x->nnz / job->blocks * block;
    if (block == job->blocks) return x->rows;
    int32_t low = 0, high = x->rows;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (x->row_ptr[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t longest_row(const gcg_csr *x, int32_t from, int32_t to)
{
    int64_t longest = 0;
    for (int32_t i = from; i < to; i++) {
        int64_t n = x->row_ptr[i + 1] - x->row_ptr[i];
        if (n > longest) longest = n;
    }
    return longest;
}

static void sort_block(int64_t block, void *ctx)
{
    sort_job *job = ctx;
    gcg_csr *x = job->x;
    row_scratch s;
    int32_t from = first_row(job, block), to = first_row(job, block + 1);
    job->repeats[block] = -1;
    if (!scratch_init(&s, longest_row(x, from, to))) return;
    job->repeats[block] = 0;
    for (int32_t i = from; i < to; i++) {
        if (is_ascending(x->col + x->row_ptr[i], x->row_ptr[i + 1] - x->row_ptr[i])) continue;
        int64_t repeats = sort_row_keys(x, i, &s);
        job->repeats[block] += repeats;
        if (repeats == 0 || !job->leave_repeats) apply_keys(x, i, &s);
    }
    scratch_release(&s);
}

gcg_status gcg_rows_sort(gcg_csr *x, int leave_repeats, int64_t *duplicates, gcg_err *err)
{
    sort_job job = {.x = x, .blocks = x->nnz / BLOCK_RATINGS + 1, .leave_repeats = leave_repeats};
    *duplicates = 0;
    job.repeats = gcg_mem_alloc_array(job.blocks, sizeof *job.repeats);
    if (!job.repeats) return gcg_fail_memory(err, "sorting ratings");
    gcg_par_blocks(job.blocks, sort_block, &job);
    int failed = 0;
    for (int64_t b = 0; b < job.blocks; b++) {
        failed |= job.repeats[b] < 0;
        *duplicates += job.repeats[b];
    }
    gcg_mem_free(job.repeats);
    return failed ? gcg_fail_memory(err, "sorting ratings") : GCG_OK;
}

gcg_status gcg_rows_mark_repeats(const gcg_csr *x, unsigned char *later, gcg_err *err)
{
    row_scratch s;
    if (!scratch_init(&s, longest_row(x, 0, x->rows))) return gcg_fail_memory(err, "sorting ratings");
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t start = x->row_ptr[i], n = x->row_ptr[i + 1] - start;
        if (is_ascending(x->col + start, n) || sort_row_keys(x, i, &s) == 0) continue;
        for (int64_t p = 1; p < n; p++)
            if (s.key[p] >> 32 == s.key[p - 1] >> 32) later[start + (int64_t)(s.key[p] & UINT32_MAX)] = 1;
    }
    scratch_release(&s);
    return GCG_OK;
}

/* The merged value of entries p..end-1, which are one pair. */
static double merged_value(const gcg_csr *x, int64_t p, int64_t end, gcg_duplicates policy)
{
    if (policy == GCG_DUP_LAST) return gcg_csr_value(x, end - 1);
    if (policy != GCG_DUP_MEAN && policy != GCG_DUP_SUM) return gcg_csr_value(x, p);
    double sum = 0, weights = 0;
    for (int64_t q = p; q < end; q++) {
        double w = policy == GCG_DUP_MEAN && x->weight ? (double)x->weight[q] : 1;
        sum += w * gcg_csr_value(x, q);
        weights += w;
    }
    return policy == GCG_DUP_MEAN ? sum / weights : sum;
}

static float merged_weight(const gcg_csr *x, int64_t p, int64_t end, gcg_duplicates policy)
{
    if (policy == GCG_DUP_LAST) return x->weight[end - 1];
    if (policy != GCG_DUP_MEAN && policy != GCG_DUP_SUM) return x->weight[p];
    double sum = 0;
    for (int64_t q = p; q < end; q++) sum += (double)x->weight[q];
    return (float)(sum / (double)(end - p));
}

gcg_status gcg_rows_merge(gcg_csr *x, gcg_duplicates policy, int64_t *pairs, gcg_err *err)
{
    int64_t to = 0, p = 0;
    *pairs = 0;
    if (policy == GCG_DUP_MEAN || policy == GCG_DUP_SUM) {
        gcg_status status = gcg_csr_widen(x, err); /* a mean of floats need not be a float */
        if (status != GCG_OK) return status;
    }
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t row_end = x->row_ptr[i + 1];
        x->row_ptr[i] = to;
        while (p < row_end) {
            int64_t end = p + 1;
            while (end < row_end && x->col[end] == x->col[p]) end++;
            double value = merged_value(x, p, end, policy);
            if (x->weight) x->weight[to] = merged_weight(x, p, end, policy);
            *pairs += end > p + 1;
            x->col[to] = x->col[p];
            if (x->val_d)
                x->val_d[to] = value;
            else
                x->val_f[to] = (float)value;
            to++;
            p = end;
        }
    }
    x->row_ptr[x->rows] = to;
    x->nnz = to;
    return gcg_csr_narrow(x, err);
}
