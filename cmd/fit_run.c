/* What fit, path and cv do alike around the solver: signals, reading, the plan, centring, lambda_max, one
 * solve. See fit.h. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "cmd/signals.h"
#include "cmd/threads.h"
#include "io/output.h"
#include "solvers/als_cg.h"
#include "solvers/soft_impute.h"

/* In the order of fit_solver_names. */
static gcg_status (*const solvers[])(const gcg_csr *x, const gcg_solver_settings *settings,
                                     gcg_solver_result *result, gcg_err *err) = {
    [FIT_SOLVER_GCG] = gcg_complete,
    [FIT_SOLVER_ALS_CG] = gcg_als_cg,
    [FIT_SOLVER_SOFT_IMPUTE] = gcg_soft_impute,
};

/* SIGINT, SIGTERM and SIGHUP ask the solver to stop after its step; the second time, and as long as there is
 * nothing that could be written, the program ends at once. */
static volatile sig_atomic_t is_solving, checkpoint_wanted;

static void on_signal(int number)
{
    (void)number;
    if (!is_solving || gcg_interrupt_requested()) {
        gcg_output_drop_all();
        _exit(FIT_NOTHING_WRITTEN);
    }
    gcg_interrupt_request();
}

static void on_checkpoint_signal(int number)
{
    (void)number;
    checkpoint_wanted = 1;
}

int fit_checkpoint_wanted(void)
{
    int wanted = checkpoint_wanted != 0;
    checkpoint_wanted = 0;
    return wanted;
}

static void catch_signals(void)
{
    struct sigaction checkpoint = {.sa_handler = on_checkpoint_signal, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &checkpoint, NULL);
    signals_catch_end(on_signal, 0);
}

/* The rank limit that the solver gets: none when it cannot bind; to comparators it is the rank. */
static int32_t rank_limit(fit_settings *s, const gcg_csr *x)
{
    int32_t least = x->rows < x->cols ? x->rows : x->cols;
    if (!s->has_rank) return 0;
    if (s->rank < least) return (int32_t)s->rank;
    if (s->rank > least) {
        report_note("--rank %" PRId64 ": there are %" PRId32 " users and %" PRId32 " items, using %" PRId32,
                    s->rank, x->rows, x->cols, least);
        s->rank = least;
    }
    int is_limit = s->solver == FIT_SOLVER_GCG && !fit_has_no_penalty(s);
    return is_limit ? 0 : least;
}

static void apply_settings(fit_run *f)
{
    f->set = gcg_solver_settings_defaults();
    f->set.lambda = f->s.has_lambda ? f->s.lambda : 1; /* others come with lambda_max */
    f->set.gap = f->s.gap;
    f->set.norm = f->s.norm;
    f->set.max_iter = f->s.max_iter;
    f->set.max_time = f->s.max_time;
    f->set.rank = rank_limit(&f->s, &f->d.ratings.x);
    f->set.atoms = (int32_t)f->s.atoms;
    f->set.plain = f->s.plain;
    f->set.certify = f->s.certify;
    f->set.precision = (gcg_precision)f->s.precision;
    f->set.seed = f->s.seed;
    f->set.progress = fit_log_progress;
    f->set.progress_user = &f->log;
    f->set.phase = fit_log_phase;
}

/* Before reading: what cannot work is found out. */
static gcg_status open_outputs(fit_run *f)
{
    gcg_status status = gcg_blas_reserve(f->threads, &f->err);
    if (!status && f->s.output) status = gcg_output_test(f->s.output, &f->err);
    if (!status) status = fit_checkpoint_test(f, &f->err);
    if (!status) status = fit_log_open(&f->log, &f->s, &f->d, &f->err);
    return status || !f->s.output ? status : fit_remove_done(&f->s, &f->err);
}

int fit_begin(fit_run *f)
{
    f->diag = report_diag();
    f->threads = threads_choose(f->s.threads);
    f->lambda_max = f->walk.lambda_max = NAN;
    gcg_par_set_threads(f->threads);
    catch_signals(); /* first: testing the outputs makes temporary files */
    gcg_status status = f->s.dry_run ? GCG_OK : open_outputs(f);
    fit_log_phase("reading", NAN, &f->log);
    f->d.log = &f->log;
    fit_plan_reading(&f->s);
    if (!status) status = fit_read(&f->s, &f->d, &f->diag, &f->err);
    if (status) return report_error(&f->err, &f->diag);
    fit_log_phase(NULL, NAN, &f->log);
    fit_log_clear(&f->log);
    apply_settings(f);
    gcg_dtype type = gcg_solver_first_type(&f->d.ratings.x, &f->set);
    status = fit_start_read(&f->s, &f->d, type, &f->start, &f->err);
    if (status) return report_error(&f->err, NULL);
    fit_start_use(&f->start, &f->set);
    status = fit_checkpoint_data(f, &f->err);
    if (status) return report_error(&f->err, NULL);
    status = fit_plan_memory(&f->s, &f->d, &f->set, &f->plan, &f->err);
    if (status) return report_error(&f->err, NULL);
    fit_plan_tell(&f->s, &f->plan);
    if (f->s.dry_run) return report_close_stdout();
    is_solving = 1;
    memory_trim();
    gcg_mem_keep(gcg_mem_in_use() + gcg_needs_total(&f->plan.table.solver));
    return 0;
}

gcg_status fit_lambda_max(fit_run *f, const gcg_csr *x, double *lambda_max, int *cut)
{
    gcg_watch watch = gcg_watch_defaults();
    watch.deadline = f->deadline;
    watch.tell = fit_log_phase;
    watch.user = &f->log;
    gcg_watch_phase(&watch, "lambda_max");
    gcg_status status = gcg_lambda_max_weighted(x, &f->set.norm, f->s.seed, &watch, lambda_max, &f->err);
    *cut = watch.over;
    return status;
}

void fit_start_clock(fit_run *f)
{
    f->deadline = gcg_clock_now() + f->s.max_time;
    fit_log_deadline(&f->log, f->s.solver == FIT_SOLVER_GCG ? f->s.max_time : INFINITY);
}

gcg_status fit_prepare(fit_run *f)
{
    gcg_status status = fit_arrange(&f->s, &f->d, &f->err);
    int cut = 0;
    if (!(f->deadline > 0)) fit_start_clock(f);
    if (!status && isnan(f->lambda_max)) status = fit_lambda_max(f, &f->d.ratings.x, &f->lambda_max, &cut);
    /* comparators count their own work only; but with a wrong lambda they do none */
    if (f->s.solver == FIT_SOLVER_GCG || (cut && f->s.has_ratio))
        f->set.max_time = fmax(f->deadline - gcg_clock_now(), 0);
    if (f->s.has_ratio) f->set.lambda = f->s.lambda_ratio * f->lambda_max;
    if (!status && cut) {
        report_warning("there was no time for lambda_max%s",
                       f->s.has_ratio ? ": the lambda is of what is known of it from below" : "");
        f->lambda_max = NAN;
    }
    if (f->s.has_ratio && f->lambda_max == 0)
        f->set.lambda = 1; /* only zeros: any lambda gives the zero matrix */
    return status;
}

gcg_status fit_solve(fit_run *f, const gcg_csr *x)
{
    const gcg_solver_settings set = f->set;
    fit_checkpoint *c = &f->checkpoint;
    if (c->hooks.resume) f->set.start_u = f->set.start_v = NULL; /* it is in the state */
    fit_log_mark(&f->log, c->iter);
    gcg_status status = solvers[f->s.solver](x, &f->set, &f->result, &f->err);
    f->walk.left = !status && gcg_solver_left(&f->set, f->result.stop);
    f->set = set;
    c->hooks.resume = NULL;
    return status;
}

int fit_reached(const gcg_solver_result *result)
{
    return result->stop == GCG_STOP_CONVERGED || result->stop == GCG_STOP_ZERO;
}

int fit_was_cut(const gcg_solver_result *result)
{
    return gcg_stop_is_cut(result->stop);
}

void fit_end(fit_run *f)
{
    gcg_solver_result_release(&f->result);
    fit_walk_release(&f->walk);
    fit_checkpoint_release(&f->checkpoint);
    gcg_mem_free(f->s.resumed);
    fit_start_release(&f->start);
    fit_log_release(&f->log);
    fit_data_release(&f->d);
}
