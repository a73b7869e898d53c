/* Compressed sparse rows: see csr.h. */
#include "store/csr.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"

gcg_status gcg_csr_init(gcg_csr *x, int32_t rows, int32_t cols, int64_t nnz, int as_double, gcg_err *err)
{
    *x = (gcg_csr){.rows = rows, .cols = cols, .nnz = nnz};
    x->row_ptr = gcg_mem_zalloc_array((int64_t)rows + 1, sizeof *x->row_ptr);
    x->col = gcg_mem_alloc_array(nnz, sizeof *x->col);
    if (as_double)
        x->val_d = gcg_mem_alloc_array(nnz, sizeof *x->val_d);
    else
        x->val_f = gcg_mem_alloc_array(nnz, sizeof *x->val_f);
    if (x->row_ptr && x->col && (x->val_d || x->val_f)) return GCG_OK;
    gcg_csr_release(x);
    return gcg_fail_memory(err, "ratings");
}

void gcg_csr_free_array(const gcg_csr *x, void *array)
{
    if (!x->map || !gcg_mapping_holds(x->map, array)) gcg_mem_free(array);
}

void gcg_csr_release(gcg_csr *x)
{
    gcg_csr_free_array(x, x->row_ptr);
    gcg_csr_free_array(x, x->col);
    gcg_csr_free_array(x, x->val_f);
    gcg_csr_free_array(x, x->val_d);
    gcg_csr_free_array(x, x->weight);
    gcg_mem_free(x->tiling.start);
    gcg_mem_free(x->tiling.ptr);
    gcg_mem_free(x->tiling.column);
    gcg_mapping_close(x->map);
    *x = (gcg_csr){0};
}

gcg_status gcg_csr_add_weights(gcg_csr *x, gcg_err *err)
{
    x->weight = gcg_mem_alloc_array(x->nnz, sizeof *x->weight);
    return x->weight ? GCG_OK : gcg_fail_memory(err, "weights");
}

enum {
    STEP = 1 << 17 /* ratings streamed before their pages are given back: a system call for half a megabyte */
};

void gcg_csr_pass_done(const gcg_csr *x, int64_t p0, int64_t p1)
{
    if (!x->map || p0 >= p1) return;
    if (gcg_mapping_holds(x->map, x->col)) gcg_mapping_done(x->map, x->col + p0, x->col + p1);
    if (x->val_f && gcg_mapping_holds(x->map, x->val_f))
        gcg_mapping_done(x->map, x->val_f + p0, x->val_f + p1);
    if (x->val_d && gcg_mapping_holds(x->map, x->val_d))
        gcg_mapping_done(x->map, x->val_d + p0, x->val_d + p1);
    if (x->weight && gcg_mapping_holds(x->map, x->weight))
        gcg_mapping_done(x->map, x->weight + p0, x->weight + p1);
}

int64_t gcg_csr_pass_step(const gcg_csr *x, int64_t done, int64_t p)
{
    if (!x->map || p - done < STEP) return done;
    gcg_csr_pass_done(x, done, p);
    return p;
}

int gcg_csr_values_are_mapped(const gcg_csr *x)
{
    return x->map && gcg_mapping_holds(x->map, gcg_csr_stored(x, 0));
}

int64_t gcg_csr_resident_bytes(const gcg_csr *x)
{
    int64_t value = x->val_f ? sizeof *x->val_f : sizeof *x->val_d;
    int64_t bytes = ((int64_t)x->rows + 1) * (int64_t)sizeof *x->row_ptr;
    int given_back = x->map && !gcg_mapping_is_kept(x->map);
    if (!given_back || !gcg_mapping_holds(x->map, x->col)) bytes += x->nnz * (int64_t)sizeof *x->col;
    if (!given_back || !gcg_csr_values_are_mapped(x)) bytes += x->nnz * value;
    if (x->weight && (!given_back || !gcg_mapping_holds(x->map, x->weight)))
        bytes += x->nnz * (int64_t)sizeof *x->weight;
    return bytes;
}

/* A private copy of an array of x when it lies in the mapping, else the array itself; NULL: out of memory. A
 * NULL array stays. */
static void *own_copy(const gcg_csr *x, void *array, int64_t count, size_t size)
{
    if (!array || !x->map || !gcg_mapping_holds(x->map, array)) return array;
    char *copy = gcg_mem_alloc_array(count, size);
    int64_t bytes = copy ? count * (int64_t)size : 0, piece = (int64_t)STEP * (int64_t)size;
    for (int64_t at = 0; at < bytes; at += piece) {
        const char *from = (const char *)array + at;
        int64_t n = bytes - at < piece ? bytes - at : piece;
        memcpy(copy + at, from, (size_t)n);
        gcg_mapping_drop(x->map, from, from + n);
    }
    return copy;
}

gcg_status gcg_csr_own_values(gcg_csr *x, gcg_err *err)
{
    float *val_f = own_copy(x, x->val_f, x->nnz, sizeof *val_f);
    double *val_d = own_copy(x, x->val_d, x->nnz, sizeof *val_d);
    if ((x->val_f && !val_f) || (x->val_d && !val_d)) return gcg_fail_memory(err, "ratings");
    x->val_f = val_f;
    x->val_d = val_d;
    return GCG_OK;
}

gcg_status gcg_csr_own(gcg_csr *x, gcg_err *err)
{
    gcg_status status = gcg_csr_own_values(x, err);
    if (status != GCG_OK || !x->map) return status;
    int64_t *row_ptr = own_copy(x, x->row_ptr, (int64_t)x->rows + 1, sizeof *row_ptr);
    int32_t *col = own_copy(x, x->col, x->nnz, sizeof *col);
    float *weight = own_copy(x, x->weight, x->nnz, sizeof *weight);
    if (!row_ptr || !col || (x->weight && !weight)) {
        if (row_ptr != x->row_ptr) gcg_mem_free(row_ptr);
        if (col != x->col) gcg_mem_free(col);
        if (weight != x->weight) gcg_mem_free(weight);
        return gcg_fail_memory(err, "ratings");
    }
    x->row_ptr = row_ptr;
    x->col = col;
    x->weight = weight;
    gcg_mapping_close(x->map);
    x->map = NULL;
    return GCG_OK;
}

void gcg_csr_read(const gcg_csr *x, int32_t row0, int32_t row1, void *out)
{
    int64_t at = 0;
    for (int32_t i = row0; i < row1; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++, at++) {
            double value = gcg_csr_entry(x, i, p);
            if (x->shift.as_double)
                ((double *)out)[at] = value;
            else
                ((float *)out)[at] = (float)value;
        }
}

void gcg_csr_read_weighted(const gcg_csr *x, int32_t row0, int32_t row1, int as_double, void *out)
{
    int64_t at = 0;
    for (int32_t i = row0; i < row1; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++, at++) {
            double root = sqrt((double)x->weight[p]), value = gcg_csr_entry(x, i, p);
            if (as_double)
                ((double *)out)[at] = root * value;
            else
                ((float *)out)[at] = (float)root * (float)value;
        }
}

/* count[k + 1] = how often key k occurs, then the sums before k: count[k] is where k's entries start. */
static void starts_of(const int32_t *key, int64_t n, int64_t keys, int64_t *count)
{
    memset(count, 0, (size_t)(keys + 1) * sizeof *count);
    for (int64_t p = 0; p < n; p++) count[key[p] + 1]++;
    for (int64_t k = 0; k < keys; k++) count[k + 1] += count[k];
}

/* Moves the starts back after each was advanced to the next one's. */
static void starts_rewind(int64_t *start, int64_t keys)
{
    memmove(start + 1, start, (size_t)keys * sizeof *start);
    start[0] = 0;
}

static gcg_status check_triples(int32_t rows, int32_t cols, int64_t n, const int32_t *row, const int32_t *col,
                                gcg_err *err)
{
    for (int64_t p = 0; p < n; p++)
        if (row[p] < 0 || row[p] >= rows || col[p] < 0 || col[p] >= cols)
            return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                            "entry %lld (%d, %d) lies outside the %d x %d matrix", (long long)p, row[p],
                            col[p], rows, cols);
    return GCG_OK;
}

/* Two stable counting sorts, by column and then by row, leave each row's columns ascending. */
static void place_triples(gcg_csr *x, const int32_t *row, const int32_t *col, const double *value,
                          int64_t *start, int64_t *by_col)
{
    starts_of(col, x->nnz, x->cols, start);
    for (int64_t p = 0; p < x->nnz; p++) by_col[start[col[p]]++] = p;
    starts_of(row, x->nnz, x->rows, x->row_ptr);
    for (int64_t k = 0; k < x->nnz; k++) {
        int64_t p = by_col[k], to = x->row_ptr[row[p]]++;
        x->col[to] = col[p];
        if (x->val_d)
            x->val_d[to] = value[p];
        else
            x->val_f[to] = (float)value[p];
    }
    starts_rewind(x->row_ptr, x->rows);
}

static gcg_status check_repeats(const gcg_csr *x, gcg_err *err)
{
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->row_ptr[i] + 1; p < x->row_ptr[i + 1]; p++)
            if (x->col[p] == x->col[p - 1])
                return gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0, "the pair (%d, %d) occurs twice", i,
                                x->col[p]);
    return GCG_OK;
}

gcg_status gcg_csr_from_triples(gcg_csr *x, int32_t rows, int32_t cols, int64_t n, const int32_t *row,
                                const int32_t *col, const double *value, gcg_err *err)
{
    *x = (gcg_csr){0};
    gcg_status status = check_triples(rows, cols, n, row, col, err);
    if (status != GCG_OK) return status;
    int as_double = 0;
    for (int64_t p = 0; p < n && !as_double; p++) as_double = !gcg_csr_fits_float(value[p]);
    status = gcg_csr_init(x, rows, cols, n, as_double, err);
    if (status != GCG_OK) return status;
    int64_t *start = gcg_mem_alloc_array((int64_t)cols + 1, sizeof *start);
    int64_t *by_col = gcg_mem_alloc_array(n, sizeof *by_col);
    if (start && by_col) {
        place_triples(x, row, col, value, start, by_col);
        status = check_repeats(x, err);
    } else {
        status = gcg_fail_memory(err, "sorting ratings");
    }
    gcg_mem_free(start);
    gcg_mem_free(by_col);
    if (status != GCG_OK) gcg_csr_release(x);
    return status;
}

gcg_status gcg_csr_widen(gcg_csr *x, gcg_err *err)
{
    if (x->val_d) return GCG_OK;
    double *wide = gcg_mem_alloc_array(x->nnz, sizeof *wide);
    if (!wide) return gcg_fail_memory(err, "ratings");
    for (int64_t p = 0, done = 0; p < x->nnz; p++) {
        wide[p] = x->val_f[p];
        done = gcg_csr_pass_step(x, done, p);
    }
    gcg_csr_free_array(x, x->val_f);
    x->val_f = NULL;
    x->val_d = wide;
    return GCG_OK;
}

gcg_status gcg_csr_narrow(gcg_csr *x, gcg_err *err)
{
    if (x->val_f) return GCG_OK;
    for (int64_t p = 0; p < x->nnz; p++)
        if (!gcg_csr_fits_float(x->val_d[p])) return GCG_OK;
    float *narrow = gcg_mem_alloc_array(x->nnz, sizeof *narrow);
    if (!narrow) return gcg_fail_memory(err, "ratings");
    for (int64_t p = 0; p < x->nnz; p++) narrow[p] = (float)x->val_d[p];
    gcg_csr_free_array(x, x->val_d);
    x->val_d = NULL;
    x->val_f = narrow;
    return GCG_OK;
}

int64_t gcg_csr_find(const gcg_csr *x, int32_t row, int32_t col)
{
    if (row < 0 || row >= x->rows) return -1;
    int64_t low = x->row_ptr[row], high = x->row_ptr[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x->col[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->row_ptr[row + 1] && x->col[low] == col ? low : -1;
}

/* The last row that starts at or before p: rows before it that start there are empty. */
int32_t gcg_csr_row_of(const gcg_csr *x, int64_t p)
{
    int32_t low = 0, high = x->rows;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (x->row_ptr[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void gcg_csr_cut_rows(const gcg_csr *x, int32_t blocks, int32_t *start)
{
    int32_t row = 0;
    for (int32_t b = 0; b < blocks; b++) {
        int64_t first = x->nnz / blocks * b + x->nnz % blocks * b / blocks;
        while (row < x->rows && x->row_ptr[row] < first) row++;
        start[b] = b == 0 ? 0 : row;
    }
    start[blocks] = x->rows;
}

void gcg_csr_col_counts(const gcg_csr *x, int64_t *counts)
{
    memset(counts, 0, (size_t)x->cols * sizeof *counts);
    for (int64_t p = 0, done = 0; p < x->nnz; p++) {
        counts[gcg_csr_col(x, p)]++;
        done = gcg_csr_pass_step(x, done, p);
    }
}

gcg_status gcg_csr_transpose(const gcg_csr *x, gcg_csr *xt, gcg_err *err)
{
    gcg_status status = gcg_csr_init(xt, x->cols, x->rows, x->nnz, x->val_d != NULL, err);
    if (status == GCG_OK && x->weight) status = gcg_csr_add_weights(xt, err);
    if (status != GCG_OK) {
        gcg_csr_release(xt);
        return status;
    }
    starts_of(x->col, x->nnz, x->cols, xt->row_ptr);
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            int64_t to = xt->row_ptr[x->col[p]]++;
            xt->col[to] = i;
            if (xt->val_d)
                xt->val_d[to] = x->val_d[p];
            else
                xt->val_f[to] = x->val_f[p];
            if (x->weight) xt->weight[to] = x->weight[p];
        }
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    starts_rewind(xt->row_ptr, xt->rows);
    return GCG_OK;
}

gcg_csr_stats gcg_csr_value_stats(const gcg_csr *x)
{
    gcg_csr_stats s = {.min = x->nnz ? INFINITY : NAN, .max = x->nnz ? -INFINITY : NAN};
    int64_t done = 0;
    for (int32_t i = 0; i < x->rows; i++) {
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            double v = gcg_csr_entry(x, i, p);
            s.sum += v;
            s.sum_squares += v * v;
            if (v < s.min) s.min = v;
            if (v > s.max) s.max = v;
            s.zeros += v == 0;
            if (!x->weight) continue;
            double w = (double)x->weight[p];
            s.weights += w;
            s.weighted_squares += w * v * v;
            if (w > s.most_weight) s.most_weight = w;
            if (w < s.least_weight || s.least_weight == 0) s.least_weight = w;
        }
        done = gcg_csr_pass_step(x, done, x->row_ptr[i + 1]);
    }
    if (!x->weight) {
        s.weights = (double)x->nnz;
        s.weighted_squares = s.sum_squares;
        s.least_weight = s.most_weight = 1;
    }
    return s;
}
