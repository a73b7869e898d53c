/* The problem as Algorithm 3 sees it: min over W of l(W) + lambda kappa(W), kappa the gauge of a set of
 * atoms.
 *
 * The iterate (its factors U, V), the residual and all workspace belong to the problem; the driver in gcg.c
 * only says when each line of the algorithm is due. Another loss, or other atoms, is another gcg_problem.
 *
 * Driver and problem share one gcg_watch. When it is over, evaluate(), step() and improve() leave the point
 * where it is, with its value; polar() and bound() have nothing to say. */
#ifndef GCG_SOLVERS_PROBLEM_H
#define GCG_SOLVERS_PROBLEM_H

#include "solvers/solver.h"
#include "solvers/state.h"

/* What evaluate() knows of the iterate. */
typedef struct {
    double loss;      /* l(W) */
    double rho;       /* a bound of kappa(W), exact in the balanced basis */
    double objective; /* l(W) + lambda rho */
    int32_t rank;     /* columns of U */
} gcg_point_value;

/* A dual value and what stands behind it. */
typedef struct {
    double dual;
    gcg_certificate_rule rule;
    double probability;
} gcg_bound;

typedef enum {
    GCG_BOUND_ESTIMATE, /* from the polar's estimate: cheap */
    GCG_BOUND_PROOF,    /* a true bound, if one that reaches the wanted gap is affordable; else an estimate */
    GCG_BOUND_LAST /* a true bound at any gap, if it takes no more than about a second; else an estimate */
} gcg_bound_effort;

typedef struct {
    void *self;
    double lambda;
    /* Lines 7, 8: the balanced basis and a proximal step in it (not in plain mode), l, rho, and the residual.
     */
    gcg_status (*evaluate)(void *self, gcg_point_value *value, gcg_err *err);
    /* Line 3: the leading atoms; *polar is an estimate of kappa_o(-grad l(W)) from below. */
    gcg_status (*polar)(void *self, double *polar, gcg_err *err);
    /* The certificate; wanted_gap is relative. */
    gcg_status (*bound)(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *bound,
                        gcg_err *err);
    /* Lines 4, 5: the step, never above line 4's value. *added = atoms appended. */
    gcg_status (*step)(void *self, int32_t *added, gcg_err *err);
    /* Line 6: local minimisation of the surrogate; gap = (F - D), absolute, sets how fine it has to be. */
    gcg_status (*improve)(void *self, double gap, gcg_err *err);
    /* 1 after going on to double precision; 0 when it is there already or not allowed. */
    gcg_status (*widen)(void *self, int *widened, gcg_err *err);
    /* Once, at the end: the balanced basis wherever the point is not in it, and the exact value. */
    gcg_status (*finish)(void *self, gcg_point_value *value, gcg_err *err);
    /* Fills the counters and the factors of a progress report. */
    void (*describe)(void *self, gcg_progress *progress);
    /* What the course from the next evaluate() on depends on: out of the problem or, before the first, into
     * it. */
    gcg_state_fn state;
} gcg_problem;

#endif
