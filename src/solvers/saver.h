/* When the state of a run is saved, and which one: what the loops of all solvers do about checkpoints
 * (solver.h) between their iterations. What is in a state is the solver's business. */
#ifndef GCG_SOLVERS_SAVER_H
#define GCG_SOLVERS_SAVER_H

#include "solvers/solver.h"

typedef struct {
    const gcg_solver_settings *set;
    gcg_watch *watch;
    gcg_state_fn state; /* all that the course of the run from here on depends on */
    void *self;
    gcg_state_copy copy; /* of the state that an iteration began with, and which */
    int64_t copy_iter;
} gcg_saver;

/* watch: the run's (gcg_solver_watch). */
gcg_saver gcg_saver_of(const gcg_solver_settings *settings, gcg_watch *watch, gcg_state_fn state, void *self);
void gcg_saver_release(gcg_saver *s);

/* Before the first iteration: the state comes in, where the run goes on from one. */
gcg_status gcg_saver_resume(gcg_saver *s, gcg_err *err);
/* Between two iterations: *left = 1 when a signal ends the run here. The first time nothing can have been cut
 * short. */
gcg_status gcg_saver_between(gcg_saver *s, int64_t iter, int *left, gcg_err *err);
/* At the end of a run that stopped for this reason. */
gcg_status gcg_saver_end(gcg_saver *s, int64_t iter, gcg_stop stop, gcg_err *err);

#endif
