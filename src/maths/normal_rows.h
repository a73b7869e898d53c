/* The normal equations of one row in alternating least squares, without forming them.
 *
 * With G the rows g_i of a factor that belong to a row's n ratings, its matrix is G'G + lambda: a step of
 * conjugate gradients needs only G'(G p), and one sweep over the g_i gives it. */
#ifndef GCG_MATHS_NORMAL_ROWS_H
#define GCG_MATHS_NORMAL_ROWS_H

#include <stdint.h>

#include "store/factors.h"

/* out += sum over i < n of t_i g_i, and returns the sum of t_i^2 (in double), where
 *   t_i = g_i . p         when xf and xd are NULL,
 *   t_i = x_i - g_i . p   else; x is xf, or xd when that is NULL.
 * g_i is row col[i] of f (row i when col is NULL); rows are ld entries apart. p and out have `width` entries,
 * a multiple of GCG_FACTORS_PAD, and do not overlap. Pointers without a type are to reals of the precision.
 */
typedef double gcg_normal_rows(int64_t n, int32_t width, const void *f, int64_t ld, const int32_t *col,
                               const float *xf, const double *xd, const void *p, void *out);

/* The one for this precision and machine (see gcg_kernels_isa). */
gcg_normal_rows *gcg_normal_rows_of(gcg_dtype type);

#endif
