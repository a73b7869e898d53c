/* Fused multithreaded passes over the ratings, and sweeps over long vectors.
 *
 * X is rows x cols with pattern Omega and N ratings; U (rows x k) and V (cols x k) are factors of one
 * precision, "real"; R is a matrix on Omega given by one real per rating, r[p], in the order of the store. A
 * pass of cost 1 is one multiply-add of length k per rating. Results are the same for any number of threads:
 * see base/parallel.h.
 *
 * With scales (maths/scales.h) s_p = a_i b_j belongs to rating p of row i and column j, else s_p = 1. They
 * stand between the factors and the ratings: s_p u_i . v_j is what x_p is compared with, and a matrix on
 * Omega is multiplied by s_p before it meets U or V.
 *
 * Weights w_p of the loss, where X has them, are taken into both: s_p is sqrt(w_p) times what was just said,
 * and x_p below is sqrt(w_p) times the rating. So ||R||^2 is the weighted sum of squares, and G = s R its
 * gradient. */
#ifndef GCG_MATHS_KERNELS_H
#define GCG_MATHS_KERNELS_H

#include "base/status.h"
#include "maths/scales.h"
#include "store/csr.h"
#include "store/factors.h"

/* Blocks of rows for one pattern and the scratch of the passes. Not shared between threads that call passes.
 */
typedef struct gcg_pass gcg_pass;

gcg_status gcg_pass_new(const gcg_csr *x, gcg_pass **pass, gcg_err *err);
void gcg_pass_free(gcg_pass *pass);
/* The scales of all passes from now on, which stay the caller's; NULL: none. */
void gcg_pass_set_scales(gcg_pass *pass, const gcg_scales *scales);
/* Puts x's entries into tiles (store/tiles.h) where that makes passes faster: rows and columns that the
 * caches do not hold, and rows of enough ratings. For whoever does nothing with x any more but passes. A
 * mapping that is kept (base/mapping.h) is copied; one that is given back, or centred when read, stays as it
 * is. tiles: about how many, for tests; 0: as it is best. */
gcg_status gcg_pass_tile(gcg_csr *x, int32_t tiles, gcg_err *err);
/* Bytes that tiles and gcg_pass_new take for a pattern of this size (rows longer than a chunk take more). */
int64_t gcg_pass_bytes(const gcg_csr *x);
/* Full passes (one multiply-add of length k per rating) so far; the products with R below are not in it. */
double gcg_pass_count(const gcg_pass *pass);
/* The count goes on from here: a run that is resumed. */
void gcg_pass_recount(gcg_pass *pass, double passes);
/* Tests: calls of the functions below since the program began, but for those that only go over one or two
 * reals a rating (line_move, add, moments). */
int64_t gcg_kernels_sweeps(void);

/* "avx512", "avx2" or "base": what the passes use on this machine. */
const char *gcg_kernels_isa(void);
/* Tests: use this instruction set from now on (NULL: the best one). 0 when this machine has it not. */
int gcg_kernels_force(const char *isa);

/* R, r_p = x_p - s_p u_i . v_j, one real per rating. values = NULL: they are not kept; each pass that needs R
 * computes it again, at a cost of 1 more for each panel (32 floats or 16 doubles) of columns that it works
 * on. */
typedef struct {
    gcg_dtype type; /* of the values, or of u and v */
    const void *values;
    const gcg_factors *u, *v; /* unused when values are there */
} gcg_residual;

/* r_p = x_p - s_p u_i . v_j, summed in double and rounded to real (r may be NULL); returns the sum of their
 * squares before rounding. Cost 1 (in double). */
double gcg_pass_residual(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r);
/* The same summed in real: several times as fast, and enough to stop the drift of an updated residual.
 * Returns the sum of the squares of the reals. Cost 1. */
double gcg_pass_residual_fast(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, void *r);
/* The same with s = ||R||^2, <R, R_old>, <R, X>. r may be NULL, or old->values, which it overwrites. */
void gcg_pass_residual_next(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v,
                            const gcg_residual *old, void *r, double s[3]);
/* P_p = s_p u_i . v_j and s = <P, P>, <P, R>, <P, X> in double; out receives P unless it is NULL. k >= 1.
 * Cost 1. */
void gcg_pass_product(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, const gcg_residual *r,
                      void *out, double s[3]);
/* s = ||R||^2, <R, X> in double. */
void gcg_pass_moments(gcg_pass *pass, const gcg_residual *r, double s[2]);

/* b_p = s_p (u_i . dv_j + du_i . v_j),  c_p = s_p du_i . dv_j, and s = sums over p of b^2, r c, b c, c^2
 * (double). b and c may both be NULL. k >= 1. Cost 3. */
void gcg_pass_line(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, const gcg_factors *du,
                   const gcg_factors *dv, const gcg_residual *r, void *b, void *c, double s[4]);
/* r -= a b + a^2 c: the residual after U += a dU, V += a dV. Cost 0. */
void gcg_pass_line_move(gcg_pass *pass, gcg_dtype type, double a, void *r, const void *b, const void *c);

/* r += a b, one real per rating. */
void gcg_pass_add(gcg_pass *pass, gcg_dtype type, double a, const void *b, void *r);

/* G_p = s_p r_p: the products below are with G. */
void gcg_pass_scaled(gcg_pass *pass, const gcg_residual *r, void *out);
/* GU = lambda U - G V,  GV = lambda V - G'U: the gradient of the surrogate (62). Cost 2. */
void gcg_pass_gradient(gcg_pass *pass, const gcg_residual *r, const gcg_factors *u, const gcg_factors *v,
                       double lambda, gcg_factors *gu, gcg_factors *gv);
/* DU_iq = lambda + sum_{j in Omega_i} s_p^2 v_jq^2,  DV_jq = lambda + sum_{i in Omega_j} s_p^2 u_iq^2.
 * Cost 2.
 */
void gcg_pass_squares(gcg_pass *pass, const gcg_factors *u, const gcg_factors *v, double lambda,
                      gcg_factors *du, gcg_factors *dv);
/* Y = G Z (rows x k) and Z = G'Y (cols x k): k products. R may be in the other precision. */
void gcg_pass_times(gcg_pass *pass, const gcg_residual *r, const gcg_factors *z, gcg_factors *y);
void gcg_pass_times_t(gcg_pass *pass, const gcg_residual *r, const gcg_factors *y, gcg_factors *z);
/* y = G x and x = G'y in double: one product. */
void gcg_pass_matvec(gcg_pass *pass, const gcg_residual *r, const double *x, double *y);
void gcg_pass_matvec_t(gcg_pass *pass, const gcg_residual *r, const double *y, double *x);

/* Functions on one stretch of a long vector, by precision. */
typedef struct {
    double (*dot)(int64_t n, const void *x, const void *y); /* in double */
    /* sum[i] += x . y_i for i < count. Products of floats are summed in float over 8 terms, then in double.
     */
    void (*dots)(int64_t n, const void *x, int count, const void *const *y, double *sum);
    /* out = (add ? out : 0) + sum_i a_i x_i */
    void (*combine)(int64_t n, int count, const double *a, const void *const *x, int add, void *out);
    void (*axpy)(int64_t n, double a, const void *x, void *y);                    /* y += a x */
    void (*scale)(int64_t n, double a, const void *x, void *y);                   /* y = a x */
    void (*multiply)(int64_t n, const void *x, const void *y, void *out);         /* out = x y entrywise */
    void (*subtract_vectors)(int64_t n, const void *x, const void *y, void *out); /* out = x - y */
    void (*to_double)(int64_t n, const void *x, double *out);
    void (*from_double)(int64_t n, const double *x, void *out);
} gcg_vector_ops;
gcg_vector_ops gcg_kernels_vector_ops(gcg_dtype type);

#endif
