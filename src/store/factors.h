/* A tall row-major matrix (U or V): one row per user or item, k columns, rows padded with zeros.
 *
 * Entry (i, q) is data[i * stride + q]; stride is k rounded up to GCG_FACTORS_PAD entries, so that a row
 * starts on a cache line in both precisions. */
#ifndef GCG_STORE_FACTORS_H
#define GCG_STORE_FACTORS_H

#include <stdint.h>
#include "base/status.h"

typedef enum { GCG_FLOAT = 4, GCG_DOUBLE = 8 } gcg_dtype; /* the number is the size in bytes */

enum { GCG_FACTORS_PAD = 16 };

typedef struct {
    int32_t rows, k, stride;
    gcg_dtype type;
    void *data; /* float * or double *, rows * stride entries */
} gcg_factors;

/* rows x k zeros. k may be 0. */
gcg_status gcg_factors_init(gcg_factors *f, int32_t rows, int32_t k, gcg_dtype type, gcg_err *err);
void gcg_factors_release(gcg_factors *f); /* twice is fine */
double gcg_factors_get(const gcg_factors *f, int32_t row, int32_t q);
void gcg_factors_set(gcg_factors *f, int32_t row, int32_t q, double value);
/* to(i, at + q) = scale[q] from(i, first + q) for all rows and q < count (scale NULL: 1), on the threads; to
 * and from have as many rows, and may differ in precision. */
void gcg_factors_put(gcg_factors *to, int32_t at, const gcg_factors *from, int32_t first, int32_t count,
                     const double *scale);
/* f(i, q) *= scale[i], in double, rounded to f's type; on the threads. */
void gcg_factors_scale_rows(gcg_factors *f, const double *scale);
/* The way back: f(i, q) /= scale[i]; rows of scale 0 become 0. */
void gcg_factors_unscale_rows(gcg_factors *f, const double *scale);
/* A copy in the given precision. */
gcg_status gcg_factors_copy(const gcg_factors *f, gcg_dtype type, gcg_factors *out, gcg_err *err);
/* u_i . v_j, summed in double in a fixed order (the same on every machine). Both of one type and one k. */
double gcg_factors_dot(const gcg_factors *u, int32_t i, const gcg_factors *v, int32_t j);
/* The same to the last digit as after gcg_factors_scale_rows of u by a and of v by b. */
double gcg_factors_dot_scaled(const gcg_factors *u, int32_t i, double a, const gcg_factors *v, int32_t j,
                              double b);

#endif
