/* Names and defaults shared by the solvers: see solver.h. */
#include "solvers/solver.h"

#include <math.h>

#include "base/mem.h"

const char *gcg_stop_name(gcg_stop stop)
{
    static const char *const names[] = {
        [GCG_STOP_CONVERGED] = "converged", [GCG_STOP_MAX_ITER] = "max_iter",
        [GCG_STOP_MAX_TIME] = "max_time",   [GCG_STOP_RANK_CAP] = "rank_cap",
        [GCG_STOP_STALLED] = "stalled",     [GCG_STOP_SIGNAL] = "signal",
        [GCG_STOP_ZERO] = "converged",
    };
    return names[stop];
}

const char *gcg_certificate_name(gcg_certificate_rule rule)
{
    static const char *const names[] = {
        [GCG_CERT_NONE] = "none",
        [GCG_CERT_ESTIMATE] = "estimate",
        [GCG_CERT_PROBABILITY] = "probability",
        [GCG_CERT_CHOLESKY] = "cholesky",
    };
    return names[rule];
}

gcg_solver_settings gcg_solver_settings_defaults(void)
{
    return (gcg_solver_settings){.gap = 1e-3, .max_iter = 500, .max_time = INFINITY, .seed = 1};
}

void gcg_solver_result_release(gcg_solver_result *r)
{
    gcg_factors_release(&r->u);
    gcg_factors_release(&r->v);
    gcg_mem_free(r->singular_values);
    r->singular_values = NULL;
}
