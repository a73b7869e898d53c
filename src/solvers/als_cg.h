/* Comparator: alternating least squares with a few steps of conjugate gradients (fit --solver als-cg).
 *
 *     f(U, V) = 1/2 sum over Omega (u_i . v_j - x_ij)^2 + lambda/2 (||U||^2 + ||V||^2),  U m x k, V n x k
 *
 * Its minimum over U V' = W is F(W), when k is no less than the rank of the optimum; below, the problem is
 * not convex. A sweep goes over the rows of U, then over those of V. Each takes GCG_ALS_CG_STEPS steps of
 * conjugate gradients from where it stands towards
 *
 *     (V_i'V_i + lambda) u_i = V_i'x_i,     V_i = the rows of V that user i has rated,
 *
 * by products with V_i and V_i' alone. Source: G. Takacs, I. Pilaszy, D. Tikk, "Applications of the conjugate
 * gradient method for implicit feedback collaborative filtering" (RecSys 2011); cmfrec works like this. */
#ifndef GCG_SOLVERS_ALS_CG_H
#define GCG_SOLVERS_ALS_CG_H

#include "solvers/plan.h"

enum { GCG_ALS_CG_STEPS = 3 /* a row and sweep; cmfrec's number */ };

/* What is logged, when it stops and what the bound at the end means: comparator.h. lambda >= 0; rank is the k
 * above. V starts from Gaussian numbers of `seed`, U from 0. Errors: GCG_ERR_NOMEM; GCG_ERR_INTERNAL when the
 * objective is not finite; those of settings->progress. */
gcg_status gcg_als_cg(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                      gcg_err *err);

/* What it allocates: plan.h. */
gcg_needs_of gcg_als_cg_needs;

#endif
