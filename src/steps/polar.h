/* Line 3 of Algorithm 3, the polar of the trace norm: largest singular values and pairs of R = -grad l(W).
 *
 * Three tools for three needs (SOLVER.md secs. 3 and 4): gcg_polar_top, one pair to a tolerance (ARPACK
 * Lanczos, the reference, and the paper's polar); gcg_polar_block, many pairs, cheap and loose, of R deflated
 * by the current basis (the atoms); gcg_polar_bound, an upper bound of sigma_1 with a stated probability (the
 * certificate). */
#ifndef GCG_STEPS_POLAR_H
#define GCG_STEPS_POLAR_H

#include "base/rng.h"
#include "base/status.h"
#include "maths/linop.h"
#include "store/factors.h"

/* sigma_1(A) and, where wanted, unit vectors u (rows), v (cols) with A v = sigma u; the sign is fixed: the
 * largest |entry| of v (lowest index on ties) is positive. tol is relative, on sigma^2. Dense for min(rows,
 * cols) <= GCG_POLAR_DENSE, else ARPACK on the smaller of A'A and A A' from a seeded start. sigma is a lower
 * bound up to rounding. u and v may be NULL. A zero matrix gives sigma 0 and zero vectors. When a->watch is
 * over before the end, sigma is the largest ||A x||, |x| = 1, that was met, and u and v are not set. */
enum { GCG_POLAR_DENSE = 64 };
gcg_status gcg_polar_top(gcg_linop *a, double tol, uint64_t seed, double *sigma, double *u, double *v,
                         gcg_err *err);
/* Bytes that it takes (more when ARPACK has to begin again with a larger basis, which is rare). */
int64_t gcg_polar_top_bytes(int32_t rows, int32_t cols);

/* An upper bound of sigma_1(A) that fails with probability at most p, by `steps` of Lanczos on the smaller of
 * A'A and A A' from a random start, without restart: P[theta < (1 - eps) sigma_1^2] <= 1.648 sqrt(n)
 * exp(-sqrt(eps) (2 steps - 1)) (Kuczynski and Wozniakowski 1992), so bound^2 = theta / (1 - eps). n =
 * min(rows, cols). A basis that takes no more than `basis` bytes is kept, to orthogonalise against and for v;
 * without it the bound holds, too, but comes later, and v is 0. v (cols, may be NULL) receives the Ritz
 * vector. When a->watch is over before the end, bound is INFINITY and v not set. */
enum { GCG_POLAR_BASIS = 1 << 29 /* a usual `basis` */ };
gcg_status gcg_polar_bound(gcg_linop *a, double eps, double p, uint64_t seed, int64_t basis, double *bound,
                           double *v, gcg_err *err);
/* The steps that this takes for given eps and p, and the bytes. */
int32_t gcg_polar_bound_steps(int32_t n, double eps, double p);
int64_t gcg_polar_bound_bytes(int32_t rows, int32_t cols, double eps, double p, int64_t basis);

/* Products of R with a block. */
typedef struct {
    int32_t rows, cols;
    gcg_dtype type;
    void *ctx;
    void (*times)(void *ctx, const gcg_factors *z, gcg_factors *y);   /* Y = R Z */
    void (*times_t)(void *ctx, const gcg_factors *y, gcg_factors *z); /* Z = R'Y */
    gcg_watch *watch;                                                 /* asked between them; may be NULL */
} gcg_block_op;

/* What gcg_polar_block found: `count` triplets, sigma descending; columns of u and v orthonormal and
 * orthogonal to the deflated bases. */
typedef struct {
    int32_t count;
    double *sigma;
    gcg_factors u, v;
} gcg_triplets;
void gcg_triplets_release(gcg_triplets *t);

/* The `block` largest singular triplets of (I - PP') R (I - QQ'), approximately, by block Krylov with full
 * orthogonalisation, `depth` block products deep ((2 depth - 1) products of each of the block's columns). P =
 * U diag(s)^(-1/2), Q = V diag(s)^(-1/2) with s the squared column norms of the balanced U and V; inverse_s
 * holds 1 / s. start (may be NULL): columns to begin with (cols x any); the rest is Gaussian from rng. When
 * r->watch is over before the end, out has no triplets. */
gcg_status gcg_polar_block(const gcg_block_op *r, const gcg_factors *u, const gcg_factors *v,
                           const double *inverse_s, const gcg_factors *start, int32_t block, int32_t depth,
                           gcg_rng *rng, gcg_triplets *out, gcg_err *err);

#endif
