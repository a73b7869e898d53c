/* Matrix completion as a gcg_problem: what its files share. Not for others: they call gcg_complete()
 * (solver.h).
 *
 *     F(W) = 1/2 sum over Omega of (x_ij - w_ij)^2 + lambda ||W||_tr,  W = U V'   (PAPER.md sec. 4,
 * SOLVER.md)
 *
 * Where the loss has weights, 1/2 sum of c_ij (x_ij - w_ij)^2, sqrt(c_ij) x_ij takes the place of x_ij, and
 * sqrt(c_ij) w_ij that of w_ij: the passes do both (maths/kernels.h). With C the matrix of these roots, R is
 * C o (X - W) below, and C o R wherever it meets U or V. So Y = C o (s R) is dual feasible when ||C o R||_sp
 * <= lambda / s, and D(Y) = <Y, X> - 1/2 sum of y_ij^2 / c_ij is s <R, C o X> - s^2/2 ||R||^2: the bound's
 * formula stays.
 *
 * Where the norm is weighted (maths/scales.h), Z = diag(sqrt p) W diag(sqrt q) takes the place of W: Z = U
 * V', the penalty is the plain trace norm of Z, the passes scale what they compare with the ratings, and R in
 * the comments below is diag(a) R diag(b) wherever it meets U or V. In both only the curvature of the loss
 * differs, and the factors of W that the result takes.
 *
 * Biases of users (gcg_norm.user_bias = T) are one column more of U and V that no atom, rotation or proximal
 * step touches: e_i and h_j = g sqrt(q_j), h fixed, so that w_ij + b_i is what the passes see when they are
 * given both (mc_all). With g = sqrt(lambda / T), T/2 sum p_i b_i^2 is lambda/2 ||e||^2: for L-BFGS e is a
 * column like any other. The bound has ||R||^2 + ||R h||^2 / lambda in place of ||R||^2, for F >= <Y, X> -
 * ||Y||^2 / 2 - sum of (Y 1)_i^2 / (2 T p_i).
 *
 * completion.c        start, end, precision, the table of the problem
 * completion_point.c  the iterate: layout, value, balanced basis, proximal step
 * completion_polar.c  line 3 of Algorithm 3: the leading atoms
 * completion_bound.c  the certificate
 * completion_step.c   lines 4 and 5: atoms
 * completion_improve.c  line 6: L-BFGS on the surrogate
 * completion_bias.c   biases of users
 * completion_state.c  what a checkpoint holds
 * completion_plan.c   the memory that all this takes */
#ifndef GCG_SOLVERS_COMPLETION_H
#define GCG_SOLVERS_COMPLETION_H

#include "base/rng.h"
#include "maths/kernels.h"
#include "maths/linop.h"
#include "solvers/problem.h"
#include "steps/polar.h"

enum {
    MC_BLOCK_FIRST = 32, /* atoms of the first round; completion_step.c says how it goes on */
    MC_CHOLESKY_DEFAULT =
        2000, /* min(rows, cols) up to which bounds are proved by Cholesky without being asked */
    MC_CHOLESKY_MOST = 8000 /* ... with certify, or when it is cheaper than Lanczos */
};

/* U and V lie one after the other in one vector, so that L-BFGS sees a single point. R = P(X - W) = -grad
 * l(W) has one real per rating, and belongs to the point from evaluate() to the end of improve(). */
typedef struct {
    const gcg_csr *x;
    const gcg_solver_settings *set;
    double lambda;
    gcg_watch *watch;
    int balanced; /* the point is in its balanced basis, s and inverse_s belong to it */
    gcg_pass *pass;
    gcg_scales scales; /* empty where the norm is not weighted */
    int scaled;        /* the norm is weighted or the loss is: R is not what meets U or V */
    double weights;    /* sum of those of the loss; without: the number of ratings */
    gcg_rng rng;

    gcg_dtype type;
    gcg_factors u, v; /* views of point */
    char *point;      /* (rows + cols) * stride reals */
    void *r, *b, *c; /* per rating: residual, line search; NULL where they are not kept (set->ratings_kept) */

    double *s, *inverse_s; /* balanced: squared column norms of U and V */
    gcg_factors rv;        /* R V */
    /* Biases; NULL: none. The point has a copy of e and h in its column k. */
    double *bias, *bias_item;              /* e, h */
    double *bias_curvature, *bias_product; /* sum_j (s_ij h_j)^2; R h, scratch */
    double bias_penalty;                   /* lambda/2 ||e||^2, at the point */
    double bias_squares;                   /* ||R h||^2 / lambda, at the last bound */
    gcg_factors all_u, all_v;              /* of mc_all */
    gcg_point_value value;
    double moments[2];  /* ||R||^2, <R, X> */
    double x_x;         /* ||P(X)||^2, weighted */
    double length;      /* of the next restricted proximal step */
    double safe_length; /* one that never raises F: 1 / the curvature of the loss */
    double unit_length; /* 1 / the mean weight: lengths are to scale with the loss */
    double sigma;       /* estimate of sigma_1(R) from below */
    gcg_triplets atoms; /* of this round */
    int saturated;      /* all atoms of the last block were above lambda */
    int32_t block;      /* how many of them to look for */
    gcg_factors spare;  /* unused Ritz vectors of the last one */
    gcg_linop op;       /* R */
    int64_t block_matvecs;
} completion;

static inline int32_t mc_smaller(const completion *m)
{
    return m->x->rows < m->x->cols ? m->x->rows : m->x->cols;
}

/* 1 where there are biases: the columns that the point has beside k. */
static inline int mc_biased(const completion *m)
{
    return m->bias != NULL;
}

/* U and V with the columns of the biases: what the passes over the ratings take. Good until the point moves
 * in memory. */
static inline const gcg_factors *mc_all_u(completion *m)
{
    m->all_u = m->u;
    m->all_u.k += mc_biased(m);
    return &m->all_u;
}

static inline const gcg_factors *mc_all_v(completion *m)
{
    m->all_v = m->v;
    m->all_v.k += mc_biased(m);
    return &m->all_v;
}

/* The point's R, kept or not. */
static inline gcg_residual mc_residual(completion *m)
{
    return (gcg_residual){m->type, m->r, mc_all_u(m), mc_all_v(m)};
}

/* k rounded up to the stride of its rows. */
int32_t mc_padded(int32_t k);
/* Entries of the point's vector at this stride. */
int64_t mc_entries(const completion *m, int32_t stride);
/* Views of a vector that is laid out like the point. */
void mc_views(const completion *m, void *vector, gcg_factors *u, gcg_factors *v);
/* One real per rating for each array that the settings keep, contents arbitrary. */
gcg_status mc_rating_arrays(completion *m, gcg_dtype type, gcg_err *err);
/* Makes room for k columns: a new vector with the old columns (and zeros behind them), u.k and v.k = k. */
gcg_status mc_lay_out(completion *m, int32_t k, gcg_dtype type, gcg_err *err);
/* The same k at its own stride, after columns were dropped. */
gcg_status mc_shrink(completion *m, gcg_err *err);
/* The point's vector as blocks for the threads: how many; length and byte offset of one. */
int64_t mc_vector_blocks(const completion *m);
int64_t mc_vector_block(const completion *m, int64_t block, size_t *offset);
/* Arrays of the biases, which are 0, and h. */
gcg_status mc_bias_init(completion *m, gcg_err *err);
void mc_bias_release(completion *m);
/* Into the point's column k, and zeros behind it; and out of it, with their penalty. */
void mc_bias_place(completion *m);
void mc_bias_take(completion *m);
/* The best biases for the point's W and its R, which is old afterwards. */
void mc_bias_fit(completion *m);
/* bias_squares from R. */
void mc_bias_bound(completion *m);
/* From a start, or into a result: factors of W + b 1' whose last column is that of the biases, in V the
 * constant g (but for rounding; 0 for items that have no ratings). mc_bias_read: 0 when there is no such
 * column in V. */
int mc_bias_read(completion *m, const gcg_factors *u, const gcg_factors *v);
gcg_status mc_bias_result(completion *m, gcg_solver_result *result, gcg_err *err);
/* h_j = g sqrt(q_j), and curvature_i = sum_j (s_ij h_j)^2 for the pattern and scales of the pass. */
gcg_status mc_bias_shape(gcg_pass *pass, const gcg_csr *x, const gcg_scales *scales, double g, double *item,
                         double *curvature, gcg_err *err);
/* R at the point afresh, where it is kept. */
void mc_renew_residual(completion *m);
/* Loss, rho and F at the point, residual afresh, summed in double. */
gcg_status mc_value(completion *m, gcg_point_value *value, gcg_err *err);
/* inverse_s from s. */
void mc_invert_s(completion *m);
/* The balanced basis, s and inverse_s. */
gcg_status mc_balance(completion *m, gcg_err *err);
/* The `block` leading singular triplets of R beside the iterate's, approximately (gcg_polar_block). */
gcg_status mc_triplets(completion *m, int32_t block, gcg_triplets *out, gcg_err *err);
/* R times a vector, R' times a vector, for linop. */
void mc_times(void *ctx, const double *x, double *y);
void mc_times_t(void *ctx, const double *y, double *x);

/* The lines of the algorithm: see problem.h. */
gcg_status mc_evaluate(void *self, gcg_point_value *value, gcg_err *err);
gcg_status mc_polar(void *self, double *estimate, gcg_err *err);
gcg_status mc_bound(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *out, gcg_err *err);
gcg_status mc_step(void *self, int32_t *added, gcg_err *err);
gcg_status mc_improve(void *self, double gap, gcg_err *err);
gcg_status mc_state(void *self, const gcg_state_stream *s, gcg_err *err);

#endif
