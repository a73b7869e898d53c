/* Comparator: softImpute-ALS (fit --solver soft-impute).
 *
 * T. Hastie, R. Mazumder, J. Lee, R. Zadeh, "Matrix completion and low-rank SVD via fast alternating least
 * squares" (JMLR 2015), Algorithm 3.1. With W = A B', A = U D (m x k), B = V D (n x k), U'U = V'V = 1, D
 * diagonal, half an iteration is ridge regression on the matrix that W has filled in,
 *
 *     X* = P(X) - P(A B') + A B',   B <- argmin 1/2 ||X* - A B'||^2 + lambda/2 ||B||^2
 *                                      = X*'A (D^2 + lambda)^(-1)
 *
 * by products of the sparse residual and of k x k matrices, and then the singular value decomposition of A B'
 * gives the new U, D, V; the other half is the same with A and B exchanged. At the end the singular values of
 * X* V are lowered by lambda. F(A B') never rises. */
#ifndef GCG_SOLVERS_SOFT_IMPUTE_H
#define GCG_SOLVERS_SOFT_IMPUTE_H

#include "solvers/plan.h"

/* What is logged, when it stops and what the bound at the end means: comparator.h. lambda >= 0; rank is the k
 * above. U starts as an orthonormal basis of Gaussian vectors of `seed`, D = 1, B = 0. Errors: GCG_ERR_NOMEM;
 * GCG_ERR_INTERNAL when the objective is not finite; those of settings->progress. */
gcg_status gcg_soft_impute(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                           gcg_err *err);

/* What it allocates: plan.h. */
gcg_needs_of gcg_soft_impute_needs;

#endif
