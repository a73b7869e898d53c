/* gcg-mc fit: reads ratings, solves, writes model and log. The flow only; see fit.h for its parts. */
#include <inttypes.h>
#include <math.h>

#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"

/* A signal ended it, and what there is, is in the checkpoint. */
static int is_left(const fit_run *f)
{
    return f->result.stop == GCG_STOP_SIGNAL && gcg_solver_writes(&f->set);
}

static int leave(fit_run *f)
{
    const fit_checkpoint *c = &f->checkpoint;
    gcg_err lost;
    fit_log_end(&f->log, &f->result);
    if (fit_log_close(&f->log, &lost)) report_error(&lost, NULL);
    if (c->failed) return report_error(&c->err, NULL);
    report_note("stopped by a signal after %" PRId64 " iteration%s: --resume %s goes on from there", c->iter,
                c->iter == 1 ? "" : "s", c->path);
    return FIT_CHECKPOINT_WRITTEN;
}

/* The work that uses threads, in one session. */
static void solve(void *ctx)
{
    fit_run *f = ctx;
    if (!f->s.resume) fit_log_head_data(&f->log);
    fit_log_phase("centring", NAN, &f->log);
    if (f->s.lambda_auto) f->status = fit_choose(f);
    if (!f->status) f->status = fit_prepare(f);
    if (f->status) return;
    if (!fit_log_resume(&f->log, f->set.lambda, f->checkpoint.iter)) {
        if (f->s.resume) fit_log_head_data(&f->log);
        fit_log_head(&f->log, &f->plan, f->lambda_max, f->threads);
        fit_log_begin(&f->log, f->set.lambda, f->set.gap);
    }
    f->status = fit_checkpoint_begin(f, &f->err);
    if (!f->status) f->status = fit_solve(f, &f->d.ratings.x);
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
    return is_left(f) ? leave(f) : fit_write_all(f);
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
