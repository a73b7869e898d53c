/* Ratings in compressed sparse rows: the matrix X restricted to its observed set Omega.
 *
 * Row i is user i, column j is item j; row i's entries are col[row_ptr[i] .. row_ptr[i+1]), columns ascending
 * and distinct, values in val_f or val_d (exactly one of them is set: float when every value is exactly a
 * float, 8 bytes a rating; else double, 12). Counts of ratings are int64_t, indices int32_t.
 *
 * The arrays are the struct's own, or lie in a mapped file (map), which it then owns and which cannot be
 * written to: whoever changes entries in place calls gcg_csr_own or gcg_csr_own_values first. Values that are
 * too many for that are centred whenever they are read (shift): x_ij - (mu + row[i] + col[j]).
 *
 * Ratings may have weights in the loss, w_p > 0: 4 bytes more a rating. */
#ifndef GCG_STORE_CSR_H
#define GCG_STORE_CSR_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include "base/mapping.h"
#include "base/status.h"

/* Subtracted from the values in storage; row = NULL: nothing is. The arrays are the caller's. */
typedef struct {
    double mu;
    const double *row, *col;
    int as_double; /* else the differences are rounded to floats, as if they were stored so */
} gcg_csr_shift;

/* Another order of the entries, of which store/tiles.h tells; ptr = NULL: none, they lie row by row. */
typedef struct {
    int32_t blocks, tiles;
    int32_t *start;  /* first rows of the blocks, one more at the end */
    int64_t *ptr;    /* rows x tiles + 1 */
    int32_t *column; /* of each position: the entries' col has positions, not columns */
} gcg_csr_tiling;

typedef struct {
    int32_t rows, cols;
    int64_t nnz;
    int64_t *row_ptr; /* rows + 1 */
    int32_t *col;     /* nnz */
    float *val_f;     /* nnz, or NULL */
    double *val_d;    /* nnz, or NULL */
    float *weight;    /* nnz, or NULL: all 1 */
    gcg_mapping *map; /* where arrays may lie that are not its own, or NULL */
    gcg_csr_shift shift;
    gcg_csr_tiling tiling;
} gcg_csr;

static inline int32_t gcg_csr_col(const gcg_csr *x, int64_t p)
{
    return x->tiling.ptr ? x->tiling.column[x->col[p]] : x->col[p];
}

/* Entry p as it is stored: that is its value when there is no shift. */
static inline double gcg_csr_value(const gcg_csr *x, int64_t p)
{
    return x->val_f ? (double)x->val_f[p] : x->val_d[p];
}

/* Where entry p is stored, and those after it. */
static inline const void *gcg_csr_stored(const gcg_csr *x, int64_t p)
{
    return x->val_f ? (const void *)(x->val_f + p) : x->val_d + p;
}

/* Value of entry p, which stands in row i. */
static inline double gcg_csr_entry(const gcg_csr *x, int32_t i, int64_t p)
{
    const gcg_csr_shift *s = &x->shift;
    double value = gcg_csr_value(x, p);
    if (!s->row) return value;
    value -= s->mu + s->row[i] + s->col[x->col[p]];
    return s->as_double ? value : (double)(float)value;
}

/* 1 when the values, as they are read, are floats. */
static inline int gcg_csr_is_float(const gcg_csr *x)
{
    return x->shift.row ? !x->shift.as_double : x->val_f != 0;
}

/* The values of rows row0..row1-1 of a shifted x, to out: floats or doubles as gcg_csr_is_float says. Weights
 * have no part in it. */
void gcg_csr_read(const gcg_csr *x, int32_t row0, int32_t row1, void *out);
/* sqrt(w_p) times the values of rows row0..row1-1, of an x with weights, to out: as doubles, or as floats
 * from roots and values that are rounded. */
void gcg_csr_read_weighted(const gcg_csr *x, int32_t row0, int32_t row1, int as_double, void *out);

/* Allocates for rows x cols with nnz entries (as_double: val_d, else val_f), uninitialised but row_ptr
 * zeroed. */
gcg_status gcg_csr_init(gcg_csr *x, int32_t rows, int32_t cols, int64_t nnz, int as_double, gcg_err *err);
void gcg_csr_release(gcg_csr *x); /* twice is fine */

/* Room for weights, contents arbitrary; for whoever sets them. */
gcg_status gcg_csr_add_weights(gcg_csr *x, gcg_err *err);

/* Makes every array x's own (a copy of those in the mapping) and closes the mapping. No change when they are.
 * On failure x is still whole. */
gcg_status gcg_csr_own(gcg_csr *x, gcg_err *err);
/* The same for the values alone: the pattern stays in the mapping. */
gcg_status gcg_csr_own_values(gcg_csr *x, gcg_err *err);
/* Frees an array that was x's, unless it lies in the mapping. */
void gcg_csr_free_array(const gcg_csr *x, void *array);

/* 1 when the values lie in the mapping. */
int gcg_csr_values_are_mapped(const gcg_csr *x);
/* Bytes of the arrays that stay in memory: all but those of a mapping that is not kept (base/mapping.h). */
int64_t gcg_csr_resident_bytes(const gcg_csr *x);

/* Entries p0..p1-1 (columns, values, weights) were streamed and are not needed before the next pass: their
 * pages are given back when x is mapped and not to be kept (base/mapping.h). For a quarter million ratings
 * and more. */
void gcg_csr_pass_done(const gcg_csr *x, int64_t p0, int64_t p1);
/* The same for a loop in storage order that stands at p and has given back what lies before done: returns the
 * new done. Cheap enough to be called for each row. */
int64_t gcg_csr_pass_step(const gcg_csr *x, int64_t done, int64_t p);

/* From n triples in any order (row[p], col[p], value[p]) without repeated pairs, rows and columns checked.
 * For tests and small data; files are read by io/ratings. val_f when every value is exactly a float. */
gcg_status gcg_csr_from_triples(gcg_csr *x, int32_t rows, int32_t cols, int64_t n, const int32_t *row,
                                const int32_t *col, const double *value, gcg_err *err);

/* Converts the values to double storage (no change when they are double already). */
gcg_status gcg_csr_widen(gcg_csr *x, gcg_err *err);

/* The opposite: float storage when every value is exactly a float, else no change. */
gcg_status gcg_csr_narrow(gcg_csr *x, gcg_err *err);

/* 1 when value is exactly a float. */
static inline int gcg_csr_fits_float(double value)
{
    return fabs(value) <= FLT_MAX && (double)(float)value == value;
}

/* Position p of the entry (row, col), or -1 when it is not there (or row or col is out of range). */
int64_t gcg_csr_find(const gcg_csr *x, int32_t row, int32_t col);

/* The row that entry p < nnz stands in. */
int32_t gcg_csr_row_of(const gcg_csr *x, int64_t p);

/* Cuts the rows into blocks of about as many ratings, by the data alone: start[b] = first row whose ratings
 * begin at or after b / blocks of all, start[blocks] = rows. */
void gcg_csr_cut_rows(const gcg_csr *x, int32_t blocks, int32_t *start);

/* counts[j] = number of ratings of column j (cols entries, overwritten). */
void gcg_csr_col_counts(const gcg_csr *x, int64_t *counts);

/* The transpose, columns ascending in each row; its own memory. */
gcg_status gcg_csr_transpose(const gcg_csr *x, gcg_csr *xt, gcg_err *err);

/* Sum, sum of squares, min, max and zeros of the values, in double and in storage order; min and max are NaN
 * when there are none. */
typedef struct {
    double sum, sum_squares, min, max;
    int64_t zeros;
    /* With weights w: sum of w, of w x^2, min and max of w; without: nnz, sum of x^2, 1, 1. */
    double weights, weighted_squares, least_weight, most_weight;
} gcg_csr_stats;
gcg_csr_stats gcg_csr_value_stats(const gcg_csr *x);

#endif
