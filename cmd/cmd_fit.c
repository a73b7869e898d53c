/* gcg-mc fit: reads ratings, solves, writes model and log. The flow only; see fit.h for its parts. */
#include <math.h>

#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"

/* The work that uses threads, in one session. */
static void solve(void *ctx)
{
    fit_run *f = ctx;
    fit_checkpoint_begin(f);
    fit_log_head_data(&f->log);
    fit_log_phase("centring", NAN, &f->log);
    if (f->s.lambda_auto) f->status = fit_choose(f);
    if (f->walk.left) return;
    if (!f->status) f->status = fit_prepare(f);
    if (f->status) return;
    fit_log_head(&f->log, &f->plan, f->lambda_max, f->threads);
    fit_log_begin(&f->log, f->set.lambda, f->set.gap);
    f->status = fit_solve(f, &f->d.ratings.x);
    fit_log_phase("writing", NAN, &f->log);
}

static int run(fit_run *f)
{
    if (fit_checkpoint_enable(f)) return report_error(&f->err, NULL);
    int code = fit_begin(f);
    if (code || f->s.dry_run) return code;
    gcg_par_session(solve, f);
    fit_log_clear(&f->log);
    if (f->status) return report_error(&f->err, NULL);
    return f->walk.left ? fit_leave(f) : fit_write_all(f);
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
