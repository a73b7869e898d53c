/* Changes of the basis of U and V: the balanced SVD basis and the proximal step inside it (SOLVER.md secs. 1
 * and 2). */
#ifndef GCG_STEPS_ROTATE_H
#define GCG_STEPS_ROTATE_H

#include "base/status.h"
#include "store/factors.h"

/* U <- P sqrt(S), V <- Q sqrt(S) with U V' = P S Q' unchanged, P'P = Q'Q = I, S descending in s (u->k entries
 * on entry; u->k and v->k are lowered to the columns with S_q > drop * S_1). Then ||UV'||_tr = sum S, and 1/2
 * (||U||^2 + ||V||^2) has its smallest value. */
gcg_status gcg_rotate_balance(gcg_factors *u, gcg_factors *v, double drop, double *s, gcg_err *err);

/* The proximal gradient step of the given length inside span(P) x span(Q), for any U, V with UV' = P S Q' and
 * rv = R V (rows x k): with E = P'RQ and the SVD S + length E = A T B', U <- P A (T - length lambda)_+^(1/2)
 * and V <- Q B (T - length lambda)_+^(1/2), zero columns dropped; so U and V are balanced. Length 1 never
 * raises F, because ||P_Omega||
 * <= 1; a longer one does not where the curvature ||P_Omega(D)||^2 / ||D||^2 along the step D is at most 1 /
 * length. s (k entries on entry) is (T - length lambda)_+. */
gcg_status gcg_rotate_prox(gcg_factors *u, gcg_factors *v, const gcg_factors *rv, double lambda,
                           double length, double *s, gcg_err *err);

#endif
