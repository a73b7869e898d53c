/* Names and defaults shared by the solvers: see solver.h. */
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

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

gcg_solver_sizes gcg_solver_sizes_full(void)
{
    return (gcg_solver_sizes){
        .pairs = 3, /* 3 to 8 need the same iterations */
        .block = 96,
        .depth = 4, /* fewer make the atoms too inexact */
        .proof_block = 64,
        .proof_panel = 32,
        .proof_bytes = INT64_C(1) << 29,
    };
}

gcg_solver_settings gcg_solver_settings_defaults(void)
{
    return (gcg_solver_settings){
        .gap = 1e-3, .max_iter = 500, .max_time = INFINITY, .seed = 1, .sizes = gcg_solver_sizes_full()};
}

/* Ratings (by their weights) of a size whose squares and products float cannot hold with room to spare. */
static int out_of_float(const gcg_csr *x)
{
    const double most = 1e12, least = 1e-12;
    gcg_csr_stats stats = gcg_csr_value_stats(x);
    double size = sqrt(stats.most_weight) * fmax(fabs(stats.min), fabs(stats.max));
    return size > most || size < least;
}

gcg_dtype gcg_solver_first_type(const gcg_csr *x, const gcg_solver_settings *set)
{
    const int64_t small_data = 50000; /* ratings below which double precision costs nothing that matters */
    if (set->precision != GCG_PRECISION_AUTO)
        return set->precision == GCG_PRECISION_FLOAT ? GCG_FLOAT : GCG_DOUBLE;
    return x->nnz <= small_data || out_of_float(x) ? GCG_DOUBLE : GCG_FLOAT;
}

void gcg_solver_result_release(gcg_solver_result *r)
{
    gcg_factors_release(&r->u);
    gcg_factors_release(&r->v);
    gcg_mem_free(r->singular_values);
    r->singular_values = NULL;
}

gcg_status gcg_solver_result_take(gcg_solver_result *r, const gcg_factors *u, const gcg_factors *v,
                                  const double *s, gcg_err *err)
{
    gcg_status status = gcg_factors_copy(u, u->type, &r->u, err);
    if (!status) status = gcg_factors_copy(v, v->type, &r->v, err);
    if (status) return status;
    r->singular_values = gcg_mem_alloc_array(u->k, sizeof *r->singular_values);
    if (!r->singular_values) return gcg_fail_memory(err, "result");
    if (u->k > 0) memcpy(r->singular_values, s, (size_t)u->k * sizeof *s);
    r->last.u = &r->u;
    r->last.v = &r->v;
    return GCG_OK;
}

int gcg_stop_is_cut(gcg_stop stop)
{
    return stop == GCG_STOP_MAX_TIME || stop == GCG_STOP_SIGNAL;
}

gcg_watch gcg_solver_watch(const gcg_solver_settings *set)
{
    const gcg_checkpoints *writes = gcg_solver_writes(set);
    gcg_watch watch = gcg_watch_defaults();
    watch.tell = set->phase;
    watch.user = set->progress_user;
    watch.deaf = writes && !writes->copy;
    return watch;
}

int gcg_solver_left(const gcg_solver_settings *set, gcg_stop stop)
{
    return stop == GCG_STOP_SIGNAL && gcg_solver_writes(set);
}

const gcg_checkpoints *gcg_solver_writes(const gcg_solver_settings *set)
{
    return set->checkpoints && set->checkpoints->write ? set->checkpoints : NULL;
}
