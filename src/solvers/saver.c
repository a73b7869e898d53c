/* When states are saved: see saver.h. */
#include "solvers/saver.h"

#include <stddef.h>

#include "base/interrupt.h"

gcg_saver gcg_saver_of(const gcg_solver_settings *set, gcg_watch *watch, gcg_state_fn state, void *self)
{
    return (gcg_saver){.set = set, .watch = watch, .state = state, .self = self};
}

void gcg_saver_release(gcg_saver *s)
{
    gcg_state_copy_release(&s->copy);
}

gcg_status gcg_saver_resume(gcg_saver *s, gcg_err *err)
{
    const gcg_checkpoints *c = s->set->checkpoints;
    return c && c->resume ? s->state(s->self, c->resume, err) : GCG_OK;
}

static gcg_status write_checkpoint(gcg_saver *s, int64_t iter, gcg_err *err)
{
    const gcg_checkpoints *c = s->set->checkpoints;
    gcg_solver_state state = {s->state, s->self, iter};
    if (c->copy) state = (gcg_solver_state){gcg_state_pass_copy, &s->copy, s->copy_iter};
    gcg_watch_phase(s->watch, "checkpoint");
    return c->write(&state, c->user, err);
}

gcg_status gcg_saver_between(gcg_saver *s, int64_t iter, int *left, gcg_err *err)
{
    const gcg_checkpoints *c = gcg_solver_writes(s->set);
    int whole = !gcg_watch_over(s->watch);
    *left = 0;
    if (!c) return GCG_OK;
    if (c->copy && (whole || !s->copy.bytes)) {
        gcg_status status = gcg_state_keep(&s->copy, s->state, s->self, err);
        if (status) return status;
        s->copy_iter = iter;
    }
    *left = gcg_interrupt_requested();
    return whole && !*left && c->due(c->user, iter) ? write_checkpoint(s, iter, err) : GCG_OK;
}

gcg_status gcg_saver_end(gcg_saver *s, int64_t iter, gcg_stop stop, gcg_err *err)
{
    return gcg_solver_writes(s->set) && gcg_stop_is_cut(stop) ? write_checkpoint(s, iter, err) : GCG_OK;
}
