/* What the comparators share: the loop, the stop rule, the figures of the log, the bound at the end.
 *
 * A comparator is a method of others, kept beside Algorithm 3 so that one program, one machine and the same
 * ratings show what each is worth: als_cg.h, soft_impute.h. They keep W = U V' of a rank that is given, and
 * have no certificate of their own. */
#ifndef GCG_SOLVERS_COMPARATOR_H
#define GCG_SOLVERS_COMPARATOR_H

#include "maths/kernels.h"
#include "solvers/plan.h"

/* The iterate, and what driver and method use in turn. */
typedef struct {
    const gcg_csr *x;
    const gcg_solver_settings *set;
    gcg_dtype type;
    gcg_factors u, v; /* W = U V', k columns, in any basis */
    gcg_pass *pass;
    gcg_watch *watch; /* a sweep looks at it between passes, and ends early where it is over */
    void *r;          /* one real per rating; what it holds is lost between the calls below */
    int64_t matvecs;
    double passes; /* the method counts both */
} gcg_comparator;

/* R as r holds it now. */
static inline gcg_residual gcg_comparator_residual(const gcg_comparator *c)
{
    return (gcg_residual){.type = c->type, .values = c->r};
}

/* A method and its own data. */
typedef struct {
    void *self;
    /* The start: U and V are zero, k columns each; U V' has to stay zero. */
    gcg_status (*begin)(void *self, gcg_comparator *c, gcg_err *err);
    /* What the next sweep reads beside U and V: out of the method, or into it. NULL: nothing. */
    gcg_status (*state)(void *self, const gcg_comparator *c, const gcg_state_stream *s, gcg_err *err);
    /* One iteration. f = 1/2 ||P(X - U V')||^2 + lambda/2 (||U||^2 + ||V||^2) must not rise. */
    gcg_status (*sweep)(void *self, gcg_comparator *c, gcg_err *err);
    /* After the last iteration, but not where time ran out and there is no half second left for it. NULL:
     * nothing is left to do. */
    gcg_status (*finish)(void *self, gcg_comparator *c, gcg_err *err);
} gcg_method;

/* Iterates until a sweep lowers f by no more than settings->gap / GCG_COMPARATOR_SHARE of it (so F is within
 * the gap of its limit where each sweep takes away that share of the error), or until another stop reason;
 * f = F(W) in the balanced basis. STALLED: rounding raised f by more than that.
 *
 * Factors have settings->rank columns, at most min(rows, cols) (which 0 means, too). plain, atoms and certify
 * are not looked at. The result is balanced. If it is no better than W = 0, and the stop rule was met, it
 * becomes W = 0.
 *
 * A row of the log has F(W) with the exact trace norm. Its time_s is that of the method's own work: F, which
 * it does not need, is left out, and so is the bound; max_time is on the same clock. Only the last row has a
 * bound, that of the last residual (PAPER.md sec. 4.6): proved by Cholesky up to GCG_COMPARATOR_CHOLESKY rows
 * or columns, else but for a probability of 1e-6; none when time was up, a signal came, or lambda = 0. A run
 * that goes on from a checkpoint has max_time anew, and its time_s goes on. */
enum { GCG_COMPARATOR_SHARE = 100, GCG_COMPARATOR_CHOLESKY = 2000 };
gcg_status gcg_comparator_run(const gcg_method *method, const gcg_csr *x, const gcg_solver_settings *settings,
                              gcg_solver_result *result, gcg_err *err);

/* The needs of all this beside the method's own. */
gcg_needs_of gcg_comparator_needs;

#endif
