/* gcg-mc path: fits at falling lambdas, the best one kept. The fits are those of gcg-mc fit: see fit.h. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "cmd/commands.h"
#include "cmd/fit.h"
#include "cmd/report.h"

/* How far the path is. */
typedef struct {
    fit_lambdas lambdas;
    fit_log_row *rows; /* one for each lambda that was solved */
    int count, not_reached, rises, cut;
    int best; /* the row of the model at PREFIX; -1: none is written */
    fit_outcome kept;
} path;

typedef struct {
    fit_run run;
    path path;
} path_run;

/* The model becomes PREFIX when it is better by validation than those before, or nothing says which is. */
static int is_better(const path *p, const fit_log_row *now)
{
    if (p->best < 0) return 1;
    const fit_log_row *best = &p->rows[p->best];
    return isnan(now->valid_rmse) ? isnan(best->valid_rmse) : !(now->valid_rmse >= best->valid_rmse);
}

/* A row that is replayed has its model from before the checkpoint. */
static gcg_status write_numbered(const fit_run *f, const fit_outcome *o, int number, gcg_err *err)
{
    int64_t size = (int64_t)strlen(f->s.output) + 16;
    char *name = gcg_mem_alloc_array(size, 1);
    gcg_status status = GCG_OK;
    if (!name) return gcg_fail_memory(err, "file name");
    snprintf(name, (size_t)size, "%s.%d", f->s.output, number);
    if (!f->walk.replayed)
        status = fit_write_model(o, name, err);
    else if (access(name, F_OK) != 0)
        report_warning("%s is not there: it was written before the checkpoint, and is not written again",
                       name);
    gcg_mem_free(name);
    return status;
}

/* Has the validation RMSE risen often enough? */
static int has_risen(path *p)
{
    const fit_log_row *now = &p->rows[p->count - 1];
    if (p->count > 1 && now->valid_rmse > now[-1].valid_rmse)
        p->rises++;
    else
        p->rises = 0;
    return p->rises >= FIT_RISES;
}

/* The model of this row becomes PREFIX. When rows are replayed, only the one that stayed the best is there.
 */
static gcg_status write_best(fit_run *f, const fit_outcome *o)
{
    const fit_best *b = &f->walk.best;
    fit_outcome best = *o;
    if (f->walk.replayed && f->walk.best_row != f->walk.next - 1) return GCG_OK;
    best.u = &b->u;
    best.v = &b->v;
    best.singular_values = b->singular_values;
    return fit_write_model(&best, f->s.output, &f->err);
}

/* After each lambda: its block of the log ends, its model is written where it is wanted. One that was cut
 * short by time or a signal is not part of the path, unless there is no other. */
static gcg_status take_model(fit_run *f, int *stop, void *user)
{
    path *p = user;
    fit_log_end(&f->log, &f->result);
    fit_outcome o = fit_outcome_of(f);
    p->cut = fit_was_cut(&f->result);
    p->not_reached += !fit_reached(&f->result);
    gcg_status status = GCG_OK;
    if (!p->cut || p->count == 0) {
        fit_log_row row = fit_log_row_of(&o);
        int better = is_better(p, &row);
        fit_log_phase("writing", NAN, &f->log);
        if (better) status = fit_walk_keep(f);
        if (!status && better) status = write_best(f, &o);
        if (!status && f->s.keep_all) status = write_numbered(f, &o, p->count + 1, &f->err);
        if (status) return status;
        if (better) {
            p->best = p->count;
            p->kept = o;
        }
        p->rows[p->count++] = row;
        fit_log_summary(&f->log, &row);
    }
    *stop = p->cut || has_risen(p);
    if (!*stop && p->count < p->lambdas.count) fit_log_begin(&f->log, p->lambdas.at[p->count], f->set.gap);
    return status;
}

/* The best model goes on to the gap that was asked for. */
static gcg_status finish_best(fit_run *f, path *p)
{
    fit_log_row *row = &p->rows[p->best];
    if (!(row->at.gap > f->s.gap) || p->cut) return GCG_OK;
    gcg_solver_result_release(&f->result);
    f->set.lambda = row->lambda;
    f->set.max_time = fmax(f->deadline - gcg_clock_now(), 0);
    f->set.start_u = &f->walk.best.u;
    f->set.start_v = &f->walk.best.v;
    fit_log_begin(&f->log, row->lambda, f->set.gap);
    gcg_status status = fit_solve_next(f, &f->d);
    if (status || f->walk.left) return status;
    fit_log_end(&f->log, &f->result);
    p->kept = fit_outcome_of(f);
    p->cut = fit_was_cut(&f->result);
    p->not_reached += !fit_reached(&f->result);
    *row = fit_log_row_of(&p->kept);
    status = fit_write_model(&p->kept, f->s.output, &f->err);
    if (!status) fit_log_summary(&f->log, row);
    return status;
}

/* The work that uses threads, in one session. */
static void work(void *ctx)
{
    path_run *r = ctx;
    fit_run *f = &r->run;
    path *p = &r->path;
    fit_checkpoint_begin(f);
    fit_log_phase("centring", NAN, &f->log);
    f->status = fit_prepare(f);
    if (f->status) return;
    p->lambdas = fit_lambdas_of(&f->s, f->lambda_max);
    p->rows = gcg_mem_alloc_array(p->lambdas.count, sizeof *p->rows);
    if (!p->rows) {
        f->status = gcg_fail_memory(&f->err, "path");
        return;
    }
    fit_log_head_data(&f->log);
    fit_log_head(&f->log, &f->plan, f->lambda_max, f->threads);
    /* Models that are not kept only have to choose. */
    const double gap = f->set.gap;
    if (!f->s.keep_all) f->set.gap = fmax(gap, 1.0 / FIT_COARSE);
    fit_log_begin(&f->log, p->lambdas.at[0], f->set.gap);
    f->status = fit_walk(f, &f->d, &p->lambdas, take_model, p);
    f->set.gap = gap;
    if (!f->status && !f->walk.left) f->status = finish_best(f, p);
    if (f->walk.left) return;
    fit_log_table(&f->log, p->rows, p->count);
}

static void say_outcome(const path *p, const fit_run *f)
{
    const fit_log_row *best = &p->rows[p->best];
    int all = p->lambdas.count;
    if (p->cut)
        report_warning("stopped by %s after %d of %d lambdas: %s is the best of these",
                       f->result.stop == GCG_STOP_SIGNAL ? "a signal" : "--max-time", p->count, all,
                       f->s.output);
    else if (p->not_reached > 0)
        report_warning("%d of %d fits did not reach their gap: the log says why", p->not_reached, p->count);
    else if (p->count < all)
        report_note("the validation RMSE has risen %d times in a row: stopped after %d of %d lambdas",
                    FIT_RISES, p->count, all);
    report_note("%s is model %d of %d: lambda %.10g, gap %.2e, rank %" PRId32, f->s.output, p->best + 1,
                p->count, best->lambda, best->at.gap, best->at.rank);
    if (f->d.valid.given) {
        report_note("validation RMSE %.6g", best->valid_rmse);
        if (p->best == all - 1 && all > 1)
            report_note("it is that of the smallest lambda: a smaller one may be better");
    } else {
        report_note("without --valid or --holdout nothing says which is best: it is the last");
    }
    if (f->d.test.given) report_note("test RMSE %.6g", best->test_rmse);
    fit_say_costs(f);
}

/* What became of the log, then PREFIX.done. */
static int finish(path_run *r)
{
    fit_run *f = &r->run;
    path *p = &r->path;
    gcg_err lost;
    gcg_status log_status = fit_log_close(&f->log, &lost);
    if (log_status) report_error(&lost, NULL);
    int code = log_status ? (int)log_status : p->not_reached > 0 ? FIT_NOT_REACHED : 0;
    gcg_status status = fit_write_done(&p->kept, code, &f->err);
    if (status) return report_error(&f->err, NULL);
    if (!p->cut) fit_checkpoint_remove(f);
    fit_log_phase(NULL, NAN, &f->log);
    say_outcome(p, f);
    return code;
}

static int run(path_run *r)
{
    fit_run *f = &r->run;
    if (fit_checkpoint_enable(f)) return report_error(&f->err, NULL);
    int code = fit_begin(f);
    if (code || f->s.dry_run) return code;
    gcg_par_session(work, r);
    fit_log_clear(&f->log);
    if (f->status) return report_error(&f->err, NULL);
    return f->walk.left ? fit_leave(f) : finish(r);
}

int cmd_path(int argc, char **argv)
{
    path_run r = {.path = {.best = -1}};
    int code = fit_parse(argc, argv, &command_path, &r.run.s);
    if (code) return code < 0 ? 0 : code;
    report_say = (report_level){.quiet = r.run.s.quiet, .verbose = r.run.s.verbose};
    code = run(&r);
    gcg_mem_free(r.path.rows);
    fit_end(&r.run);
    return code;
}
