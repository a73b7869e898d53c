/* An upper bound of sigma_1 that knows most of the top singular space already.
 *
 * Near the optimum R has a cluster of singular values at lambda, and a plain Lanczos bound (polar.h) needs
 * many products to tell sigma_1 to 1e-4. With Z orthonormal, spanning the cluster nearly, only what is left
 * after deflation has to be bounded, and loosely. */
#ifndef GCG_STEPS_DEFLATED_BOUND_H
#define GCG_STEPS_DEFLATED_BOUND_H

#include "base/status.h"
#include "maths/linop.h"
#include "store/factors.h"

/* For A (rows x cols) and Z (cols x K, doubles, Z'Z = I): with Y = A Z and W = A'Y, G = Y'Y and H = W'W (K x
 * K, row-major), and e >= ||A (I - ZZ')||,
 *
 *     s > e and s^2 I - G - (H - G^2) / (s^2 - e^2) positive definite   =>   s > sigma_1(A),
 *
 * for that is the Schur complement of s^2 I - A'A in the basis [Z, its complement], with (s^2 - e^2) I in
 * place of the complement's block, which is no smaller. e is gcg_polar_bound's for A (I - ZZ') with this
 * `basis`, from one or two runs. The bound fails with probability p at most. *least: a lower bound of
 * sigma_1(A), > 0; what Z says of it (sqrt of G's largest eigenvalue) is taken in. *bound is INFINITY when no
 * s up to *least (1 + most) will do, and when a->watch is over before the end. What is told of progress goes
 * from 1/2 to 1: the first half is for those who make Y and W. */
gcg_status gcg_deflated_bound(gcg_linop *a, const gcg_factors *z, const double *g, const double *h, double p,
                              uint64_t seed, int64_t basis, double most, double *least, double *bound,
                              gcg_err *err);

#endif
