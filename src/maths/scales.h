/* Scales of the weighted trace norm: by what a rating's row and column are multiplied in every pass.
 *
 *     penalty = lambda ||diag(sqrt p) W diag(sqrt q)||_tr
 *     p_i = (1 - B) n_i^A / m + B,  n_i = ratings of row i,  m = mean of n^A over the ratings; q_j likewise
 *
 * With Z = diag(sqrt p) W diag(sqrt q) it is the plain trace norm of Z, and w_ij = a_i b_j z_ij with a = 1 /
 * sqrt p, b = 1 / sqrt q, the scales (Srebro and Salakhutdinov 2010; Foygel and others 2011 for B). A row or
 * column without ratings has scale 0: it is left out of the problem. n_i counts ratings, whatever weights
 * they have in the loss. */
#ifndef GCG_MATHS_SCALES_H
#define GCG_MATHS_SCALES_H

#include "base/status.h"
#include "store/csr.h"

/* How the norm is weighted; all 0: not at all. With it goes the ridge of the biases of rows, which are
 * weighted by the same p. */
typedef struct {
    double exponent_user, exponent_item; /* A of rows and of columns, 0 to 1 */
    double smooth;                       /* B, 0 to 1; 1: not weighted */
    double user_bias; /* T > 0: w_ij + b_i in place of w_ij, penalised by T/2 sum p_i b_i^2; 0: no biases */
} gcg_norm;

/* 1 when the weights are not all 1 whatever the data. */
int gcg_norm_is_weighted(const gcg_norm *norm);

/* m, the mean of n^A over the ratings: sum n n^A / sum n. */
double gcg_norm_mean(int32_t n, const int64_t *count, double exponent);
/* p = (1 - B) n^A / m + B for a row or column of n ratings, 0 where n = 0. */
double gcg_norm_weight(int64_t count, double exponent, double mean, double smooth);

typedef struct {
    double *row, *col;     /* a (rows), b (cols) */
    float *row_f, *col_f;  /* the same, rounded */
    double most_curvature; /* max over the ratings of w_ij (a_i b_j)^2, w_ij = 1 without weights */
} gcg_scales;

gcg_status gcg_scales_init(gcg_scales *s, const gcg_csr *x, const gcg_norm *norm, gcg_err *err);
void gcg_scales_release(gcg_scales *s); /* twice is fine */
/* Bytes that gcg_scales_init takes. */
int64_t gcg_scales_bytes(int64_t rows, int64_t cols);

#endif
