/* A user's row when the items stay as they are: what the solver's surrogate
 *
 *   1/2 sum over ratings (x_ij - u_i . v_j)^2 + lambda/2 (sum_i |u_i|^2 + sum_j |v_j|^2)      (62) of
 * PAPER.md
 *
 * asks of u_i alone: the minimiser of 1/2 sum_j w_j (x_j - u . v_j)^2 + ridge/2 |u|^2, ridge = lambda, w the
 * weights of the loss, where it has some. At the
 * optimum of the whole, each row of U minimises its own, so a training user gets its row back. Solved by
 * Cholesky in double: k equations, or as many as there are ratings when these are fewer. */
#ifndef GCG_MATHS_FOLD_IN_H
#define GCG_MATHS_FOLD_IN_H

#include <stdint.h>
#include "base/status.h"
#include "store/factors.h"

/* u (v->k entries) from n ratings x of the distinct items item, centred, with weights w (NULL: all 1). ridge
 * >= 0; with 0 it is the solution of least length, but for rounding. GCG_ERR_INTERNAL when a number is not
 * finite. */
gcg_status gcg_fold_in_row(const gcg_factors *v, double ridge, int64_t n, const int32_t *item,
                           const double *x, const double *w, double *u, gcg_err *err);

#endif
