/* Line 6 of Algorithm 3: preconditioned L-BFGS on a smooth function of one long vector (SOLVER.md sec. 5).
 *
 * The two-loop recursion is done on inner products: with x the point, g its gradient, s_i, y_i the pairs kept
 * and D the diagonal preconditioner, H_0 = c D^(-1), every direction is d = D^(-1)(sum b_i y_i - c g) + sum
 * a_i s_i, and a_i, b_i follow from s_i.y_j, y_i.D^(-1)y_j, s_i.g and y_i.D^(-1)g alone. So an iteration
 * sweeps the vectors twice: once for the inner products, once for the combination. */
#ifndef GCG_STEPS_LBFGS_H
#define GCG_STEPS_LBFGS_H

#include "base/status.h"
#include "base/watch.h"
#include "store/factors.h"

enum { GCG_LBFGS_MEMORY_MAX = 16 };

/* The function, of n entries of one precision. The point itself is kept by the owner of the function. */
typedef struct {
    int64_t n;
    gcg_dtype type;
    void *self;
    void (*gradient)(void *self, void *g);
    /* inverse = D^(-1) at the current point (0 where D is 0); NULL: D = 1 */
    void (*precondition)(void *self, void *inverse);
    /* Exact line search along d: the step, > 0, and *change = f(x + step d) - f(x) <= 0; or 0 when there is
     * no descent. g_d = g.d < 0, d_d = d.d; d is not changed. */
    double (*search)(void *self, void *d, double g_d, double d_d, double *change);
    /* x += step d, for the d of the last search */
    void (*move)(void *self, const void *d, double step);
    /* what an updated quantity has drifted is computed afresh */
    void (*refresh)(void *self);
    gcg_watch *watch; /* asked between sweeps, and told of the iterations; may be NULL */
} gcg_smooth;

typedef struct {
    int memory; /* pairs, 0..GCG_LBFGS_MEMORY_MAX; 0: the preconditioned gradient is the direction */
    int max_iterations;
    int min_iterations;
    double reduction;      /* stop when g'D^(-1)g <= reduction^2 times its first value; 0 = never */
    double least_decrease; /* stop after two decreases in a row below this, absolute; 0 = never */
    int refresh_every;     /* iterations between refresh() and a new preconditioner; 0 = never */
} gcg_lbfgs_settings;

typedef struct {
    int iterations;
    double decrease;              /* of f, >= 0 */
    double first_norm, last_norm; /* sqrt(g'D^(-1)g) */
} gcg_lbfgs_result;

/* Bytes of workspace for n entries. */
int64_t gcg_lbfgs_bytes(int64_t n, gcg_dtype type, int memory);
/* workspace: gcg_lbfgs_bytes() bytes aligned to a cache line, contents arbitrary. */
gcg_status gcg_lbfgs(const gcg_smooth *f, const gcg_lbfgs_settings *settings, void *workspace,
                     gcg_lbfgs_result *result, gcg_err *err);

#endif
