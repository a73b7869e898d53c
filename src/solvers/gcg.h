/* Generalized Conditional Gradient, Algorithm 3 (PAPER.md sec. 4.3), on an abstract problem. */
#ifndef GCG_SOLVERS_GCG_H
#define GCG_SOLVERS_GCG_H

#include "solvers/problem.h"

/* Runs until the certified gap, or another stop reason, is reached. last receives the final state. start =
 * gcg_clock_now() at the beginning of the solve; watch, the problem's too, has the deadline and hears of the
 * phases. When it is over, the last point is still looked at and bounded where that took less than half a
 * second in the iteration before; else it is taken as it is, and only its value computed. */
gcg_status gcg_run(const gcg_problem *problem, const gcg_solver_settings *settings, double start,
                   gcg_watch *watch, gcg_stop *stop, gcg_progress *last, gcg_err *err);

#endif
