/* Tall matrices (factors) times small ones: Gram matrices, rotations, projections. Small matrices are
 * row-major doubles.
 *
 * Rows are taken in blocks of fixed size, one BLAS call each; sums over blocks are in double and in block
 * order. With exact = 1 the rows are converted to double first (basis changes, certificates); with 0 a block
 * is multiplied in the precision that it is stored in (atoms). */
#ifndef GCG_MATHS_TALL_H
#define GCG_MATHS_TALL_H

#include "base/status.h"
#include "store/factors.h"

/* G (a.k x b.k) = A'B. */
gcg_status gcg_tall_gram(const gcg_factors *a, const gcg_factors *b, int exact, double *g, gcg_err *err);
/* OUT = beta OUT + A C, C is a.k x out.k; OUT may share A's rows when beta = 0 (rows are independent).
 */
gcg_status gcg_tall_times(const gcg_factors *a, const double *c, double beta, int exact, gcg_factors *out,
                          gcg_err *err);
/* X -= B diag(weight) (B'X), so many rounds: with two X is orthogonal to the columns of B, to rounding, when
 * these are orthogonal with squared norms 1 / weight (weight NULL: orthonormal); with one, to rounding of the
 * old X. */
gcg_status gcg_tall_project(const gcg_factors *b, const double *weight, int rounds, gcg_factors *x,
                            gcg_err *err);
/* Sum of the squares of all entries, in double. */
gcg_status gcg_tall_square_norm(const gcg_factors *x, double *norm, gcg_err *err);
/* Replaces X by an orthonormal basis of its columns' span (Cholesky factor or eigenbasis of the Gram matrix,
 * twice). Directions with a squared norm well below `least`, or below rounding beside the largest, are
 * dropped: x->k may fall, to 0 at worst. *smallest (may be NULL): squared norm of the smallest direction that
 * was kept. */
gcg_status gcg_tall_orthonormalise(gcg_factors *x, double least, double *smallest, gcg_err *err);
/* A narrower view of the first k columns becomes the matrix itself: columns k.. are set to 0. */
void gcg_tall_cut(gcg_factors *x, int32_t k);

#endif
