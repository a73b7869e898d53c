/* What every solver takes and gives back. */
#ifndef GCG_SOLVERS_SOLVER_H
#define GCG_SOLVERS_SOLVER_H

#include <stdint.h>
#include "base/status.h"
#include "base/watch.h"
#include "maths/scales.h"
#include "solvers/state.h"
#include "store/csr.h"
#include "store/factors.h"

typedef enum { GCG_PRECISION_AUTO, GCG_PRECISION_FLOAT, GCG_PRECISION_DOUBLE } gcg_precision;

/* What is kept for each rating beside the ratings themselves (reals: 4 or 8 bytes). */
typedef enum {
    GCG_KEEP_ALL,      /* residual and line search, 3 reals: the fastest where memory is cached or plenty */
    GCG_KEEP_RESIDUAL, /* 1: a pass more for each inner iteration */
    GCG_KEEP_NONE      /* 0: the residual is computed anew in each pass; no proof by Cholesky */
} gcg_rating_arrays;

/* Why a solver stopped. Only GCG_STOP_CONVERGED (and ZERO) mean that the gap was reached. */
typedef enum {
    GCG_STOP_CONVERGED, /* certified gap <= settings.gap, or relative decrease when lambda = 0 */
    GCG_STOP_MAX_ITER,
    GCG_STOP_MAX_TIME,
    GCG_STOP_RANK_CAP, /* no further progress under the rank limit */
    GCG_STOP_STALLED,  /* no further progress in this precision */
    GCG_STOP_SIGNAL,
    GCG_STOP_ZERO /* lambda >= lambda_max: the optimum is W = 0 */
} gcg_stop;
/* "converged", "max_iter", "max_time", "rank_cap", "stalled", "signal"; ZERO is "converged". */
const char *gcg_stop_name(gcg_stop stop);
/* 1 for an end that is not the method's own: MAX_TIME, SIGNAL. */
int gcg_stop_is_cut(gcg_stop stop);

/* How the printed dual bound was guarded (SOLVER.md sec. 4). */
typedef enum {
    GCG_CERT_NONE,        /* no bound (lambda = 0) */
    GCG_CERT_ESTIMATE,    /* sigma_1 is an estimate from below: not a proof */
    GCG_CERT_PROBABILITY, /* Lanczos from a random start: fails with at most the stated probability */
    GCG_CERT_CHOLESKY     /* proved by a Cholesky factorisation (or by a closed form) */
} gcg_certificate_rule;
/* "none", "estimate", "probability", "cholesky" */
const char *gcg_certificate_name(gcg_certificate_rule rule);

/* State after an outer iteration. */
typedef struct {
    int64_t iter;     /* outer iterations done */
    double time_s;    /* wall seconds since solving began */
    double objective; /* F(W) = loss + lambda ||W||_tr, with biases + T/2 sum p_i b_i^2 */
    double dual;      /* best dual value so far, NaN when there is none */
    double gap;       /* (objective - dual) / objective, 0 when both are 0, NaN without dual */
    double nuc_norm;  /* ||W||_tr, exact; of the weighted norm where it is weighted */
    int32_t rank;
    double train_rmse; /* sqrt(2 loss / N), with weights in the loss sqrt(2 loss / their sum) */
    int64_t matvecs;   /* products of the gradient matrix (or its transpose) with a vector so far */
    double passes;     /* multiply-adds so far / (N k), each at its own k: full passes over the ratings */
    gcg_certificate_rule rule;
    double probability;       /* of a false bound; 0 unless rule is PROBABILITY */
    const gcg_factors *u, *v; /* the iterate, balanced: singular values are the squared column norms */
    /* W = (diag(row_scale) U)(diag(col_scale) V)', the scaled factors rounded to their type; NULL: all 1 */
    const double *row_scale, *col_scale;
} gcg_progress;

/* A state of a run between two iterations, to be written: state(self, stream) with a stream that saves. */
typedef struct {
    gcg_state_fn state;
    void *self;
    int64_t iter; /* iterations done */
} gcg_solver_state;

/* Checkpoints: states between two iterations, from which another run goes on to the same bytes; so an
 * iteration that is cut short, by a limit of time or a signal, does not count. Without a copy there is none
 * to go back to: then a signal is heeded between iterations only, and max_time must be INFINITY. */
typedef struct {
    int copy; /* 1: a copy of the state (factors and block of vectors) is kept for such an end */
    /* Is a checkpoint wanted after so many iterations? Asked between iterations. */
    int (*due)(void *user, int64_t iter);
    /* Called when so; and at an end that gcg_stop_is_cut(). NULL: the run only goes on from one. */
    gcg_status (*write)(const gcg_solver_state *state, void *user, gcg_err *err);
    void *user;
    const gcg_state_stream *resume; /* where the run goes on from instead of its start; NULL: none */
} gcg_checkpoints;

/* How large the workspaces of gcg_complete are. Smaller ones cost time: solvers/plan.h chooses. */
typedef struct {
    int pairs;           /* of L-BFGS; 0: the preconditioned gradient alone */
    int32_t block;       /* most atoms that are looked for at a time, >= 8 */
    int32_t depth;       /* block products of the Krylov space */
    int32_t proof_block; /* atoms for the proof by deflation, at most block */
    int32_t proof_panel; /* columns of its products at a time */
    int64_t proof_bytes; /* most that a proof takes that was not asked for: beyond, a slower one is taken */
} gcg_solver_sizes;

typedef struct {
    double lambda;    /* > 0, or 0 together with a rank */
    gcg_norm norm;    /* weights of the norm; default: none. gcg_complete only */
    double gap;       /* relative gap to reach, > 0; default 1e-3 */
    int64_t max_iter; /* outer iterations, >= 1; default 500 */
    double
        max_time; /* seconds, INFINITY = none (default); kept to within a second or a pass over the ratings */
    int32_t rank; /* upper limit, 0 = min(rows, cols) (default) */
    int32_t atoms; /* per outer iteration, 0 = automatic (default) */
    int plain;     /* 1: Algorithm 3 to the letter (PAPER.md sec. 4.3) */
    int certify; /* 1: prove the bound by Cholesky up to min(rows, cols) = 8000 (SOLVER.md sec. 4, rule 3) */
    gcg_precision precision;
    gcg_rating_arrays ratings_kept;
    uint64_t seed;
    /* gcg_complete: where to start, instead of W = 0: W = U V', rows x k and cols x k for any k, in the order
     * of the ratings' rows and columns, of any type, balanced or not. Both NULL, or both not; read before the
     * first report and not needed after it. */
    const gcg_factors *start_u, *start_v;
    gcg_solver_sizes sizes;
    /* Called after each outer iteration (and once for iteration 0, the start). A non-OK return stops the
     * solve with that status. May be NULL. */
    gcg_status (*progress)(const gcg_progress *progress, void *user, gcg_err *err);
    void *progress_user;
    /* Told when the phase of the work changes ("polar", "improve", "certify", ...) and how much of it is
     * done, 0 to 1, NAN where that cannot be known. May be NULL. */
    void (*phase)(const char *phase, double done, void *user);
    const gcg_checkpoints *checkpoints; /* NULL: none */
} gcg_solver_settings;

/* Those of full speed. */
gcg_solver_sizes gcg_solver_sizes_full(void);
gcg_solver_settings gcg_solver_settings_defaults(void);
/* The checkpoints that a run with these settings writes, or NULL. */
const gcg_checkpoints *gcg_solver_writes(const gcg_solver_settings *settings);
/* The watch of such a run, without a deadline: deaf where signals have to wait for an iteration's end. */
gcg_watch gcg_solver_watch(const gcg_solver_settings *settings);
/* 1 when all that counts of a run that stopped so is in its checkpoint: the result then has stop and last
 * only, without factors. */
int gcg_solver_left(const gcg_solver_settings *settings, gcg_stop stop);

/* Storage of the factors at the start. With precision AUTO: double for so few ratings that it costs nothing,
 * and for ratings whose products float cannot hold, else float. */
gcg_dtype gcg_solver_first_type(const gcg_csr *x, const gcg_solver_settings *settings);

typedef struct {
    gcg_stop stop;
    gcg_progress last;       /* the final state; last.u and last.v point to u and v below */
    gcg_factors u, v;        /* W = U V'; balanced, unless the norm is weighted */
    double *singular_values; /* k, descending: of W, or of diag(sqrt p) W diag(sqrt q) (maths/scales.h) */
} gcg_solver_result;

void gcg_solver_result_release(gcg_solver_result *r);
/* For solvers: copies of u, v and their singular values s (u->k entries) into the result, and last's pointers
 * to them. What was taken stays in the result when memory ends: release it. */
gcg_status gcg_solver_result_take(gcg_solver_result *r, const gcg_factors *u, const gcg_factors *v,
                                  const double *s, gcg_err *err);

/* Minimises F(W) = 1/2 sum over Omega of (W_ij - X_ij)^2 + lambda ||W||_tr (the norm weighted as the settings
 * say, the squares as X says; comparators know no weights) by Algorithm 3 with the additions
 * of SOLVER.md sec. 1 (PAPER.md sec. 4). X may have empty rows and columns; nnz >= 1.
 * With biases of users (norm.user_bias = T) w_ij + b_i takes the place of w_ij and T/2 sum p_i b_i^2 is
 * added, p_i = 1 where the norm is not weighted; lambda > 0, and not in plain mode. The result's factors, and
 * those of the reports, are then those of W + b 1': the last of their columns is that of the biases, constant
 * in V, with singular value 0; rank does not count it, and so may the start be.
 * Honours gcg_interrupt_requested(): see gcg_solver_left(). */
gcg_status gcg_complete(const gcg_csr *x, const gcg_solver_settings *settings, gcg_solver_result *result,
                        gcg_err *err);

/* lambda_max = ||P(X)||_sp, the smallest lambda with W* = 0, to about 1e-12 relative; when watch (may be
 * NULL) is over before the end, what is known of it from below. */
gcg_status gcg_lambda_max(const gcg_csr *x, uint64_t seed, gcg_watch *watch, double *lambda_max,
                          gcg_err *err);
/* The same with the weights of a norm, and the biases that are best at W = 0 taken off: ||diag(p)^(-1/2) P(X)
 * diag(q)^(-1/2)||_sp. In both X is multiplied by its weights in the loss, where it has some. */
gcg_status gcg_lambda_max_weighted(const gcg_csr *x, const gcg_norm *norm, uint64_t seed, gcg_watch *watch,
                                   double *lambda_max, gcg_err *err);

#endif
