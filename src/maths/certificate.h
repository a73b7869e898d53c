/* The dual bound of trace-norm completion, and its proof (PAPER.md sec. 4.6, SOLVER.md sec. 4). */
#ifndef GCG_MATHS_CERTIFICATE_H
#define GCG_MATHS_CERTIFICATE_H

#include "base/status.h"
#include "base/watch.h"
#include "store/csr.h"

/* D(sR) = s <R,X> - s^2/2 ||R||^2 at the best feasible scale s = max(0, min(lambda / sigma, <R,X> /
 * ||R||^2)): a lower bound of F* whenever sigma >= sigma_1(R). 0 when R = 0. */
double gcg_certificate_dual(double lambda, double sigma, double r_x, double r_r);

/* (F - D) / F, not below 0; 0 when both are 0. */
double gcg_certificate_gap(double objective, double dual);

/* Proves an upper bound of sigma_1(R): for s = sigma (1 + guard), sigma an estimate from below, s^2 I - R'R
 * (or RR', the smaller) is factored by Cholesky in double; success proves s > sigma_1(R) up to the rounding
 * that is allowed for. On failure guard is tripled, up to `most`. *bound receives s, or INFINITY when none
 * was proved. n = min(rows, cols): n^3 / 3 multiply-adds a try. r holds R with the
 * pattern of x, as a gcg_csr of its own. When watch (may be NULL) is over before a try succeeded, nothing was
 * proved; nor is anything of an r in tiles. */
gcg_status gcg_certificate_cholesky(const gcg_csr *r, double sigma, double guard, double most,
                                    gcg_watch *watch, double *bound, gcg_err *err);
/* Bytes that it takes, with so many in each value of R. */
int64_t gcg_certificate_bytes(int32_t rows, int32_t cols, int64_t nnz, int64_t value);

#endif
