/* gcg-mc fit: reads ratings, solves, writes model and log. The flow only; see fit.h for its parts. */
#include <math.h>

#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"

/* Model first, then what became of the log, MODEL.done last. */
static int write_all(fit_run *f)
{
    gcg_err lost;
    fit_log_end(&f->log, &f->result);
    fit_outcome o = fit_outcome_of(f);
    gcg_status log_status = fit_log_close(&f->log, &lost);
    gcg_status status = fit_write_model(&o, f->s.output, &f->err);
    if (status) return report_error(&f->err, NULL);
    int code = log_status ? (int)log_status : fit_reached(&f->result) ? 0 : FIT_NOT_REACHED;
    if (log_status) report_error(&lost, NULL);
    status = fit_write_done(&o, code, &f->err);
    if (status) return report_error(&f->err, NULL);
    fit_log_phase(NULL, NAN, &f->log);
    if (f->set.lambda >= f->lambda_max && f->set.lambda > 0)
        report_warning("lambda %.10g is not below lambda_max %.10g: the optimum is the zero matrix",
                       f->set.lambda, f->lambda_max);
    fit_say_outcome(&o);
    fit_say_costs(f);
    return code;
}

/* The work that uses threads, in one session. */
static void solve(void *ctx)
{
    fit_run *f = ctx;
    fit_log_phase("centring", NAN, &f->log);
    f->status = fit_prepare(f);
    if (f->status) return;
    fit_log_head(&f->log, &f->plan, f->lambda_max, f->threads);
    fit_log_begin(&f->log, f->set.lambda);
    f->status = fit_solve(f, &f->d.ratings.x);
    fit_log_phase("writing", NAN, &f->log);
}

static int run(fit_run *f)
{
    int code = fit_begin(f);
    if (code || f->s.dry_run) return code;
    gcg_par_session(solve, f);
    fit_log_clear(&f->log);
    return f->status ? report_error(&f->err, NULL) : write_all(f);
}

int cmd_fit(int argc, char **argv)
{
    fit_run f = {0};
    int code = fit_parse(argc, argv, &command_fit, &f.s);
    if (code) return code < 0 ? 0 : code;
    report_say = (report_level){.quiet = f.s.quiet, .verbose = f.s.verbose};
    code = run(&f);
    fit_end(&f);
    return code;
}
