/* What fit leaves behind: the model, MODEL.done, the last words. See fit.h. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "cmd/version.h"
#include "io/json.h"
#include "io/model_io.h"
#include "io/output.h"

fit_outcome fit_outcome_of(const fit_run *f)
{
    const fit_best *best = &f->log.best;
    fit_outcome o = {.s = &f->s,
                     .d = &f->d,
                     .plan = &f->plan,
                     .choice = &f->choice,
                     .lambda = f->set.lambda,
                     .lambda_max = f->lambda_max,
                     .gap = f->set.gap,
                     .stop = f->result.stop,
                     .last = f->result.last,
                     .written = best->taken ? best->at : f->result.last,
                     .u = best->taken ? &best->u : &f->result.u,
                     .v = best->taken ? &best->v : &f->result.v,
                     .singular_values = best->taken ? best->singular_values : f->result.singular_values,
                     .valid_rmse = best->taken ? best->valid_rmse : f->log.valid_rmse,
                     .test_rmse = best->taken ? best->test_rmse : f->log.test_rmse};
    return o;
}

/* A solve that only had to choose may be far from the gap that was asked for. */
static const char *status_name(const fit_outcome *o)
{
    int coarse = o->stop == GCG_STOP_CONVERGED && o->gap > o->s->gap && o->last.gap > o->s->gap;
    return coarse ? "coarse" : gcg_stop_name(o->stop);
}

static void put_result(gcg_json *j, const fit_outcome *o)
{
    const gcg_progress *p = &o->written;
    gcg_json_string(j, "status", status_name(o));
    gcg_json_number(j, "objective", p->objective);
    gcg_json_number(j, "dual", p->dual);
    gcg_json_number(j, "gap", p->gap);
    gcg_json_string(j, "certificate", gcg_certificate_name(p->rule));
    gcg_json_number(j, "false_bound_probability", p->probability);
    gcg_json_number(j, "nuc_norm", p->nuc_norm);
    gcg_json_integer(j, "rank", p->rank);
    gcg_json_integer(j, "iterations", p->iter);
    gcg_json_number(j, "train_rmse", p->train_rmse);
}

static void put_choice(gcg_json *j, const fit_choice *c)
{
    if (!c->made) return;
    gcg_json_open(j, "chosen_by_validation", '{');
    gcg_json_integer(j, "held_out", c->held_out);
    gcg_json_integer(j, "tried", c->tried);
    gcg_json_number(j, "lambda", c->lambda);
    gcg_json_number(j, "valid_rmse", c->valid_rmse);
    gcg_json_close(j, '}');
}

/* The description of the fit in model.json: nothing in it may differ between two runs on the same data, nor
 * depend on a test set. */
static gcg_status describe(const fit_outcome *o, char **text, gcg_err *err)
{
    const fit_settings *s = o->s;
    const gcg_csr *x = &o->d->ratings.x;
    gcg_json j;
    gcg_json_init(&j);
    gcg_json_open(&j, NULL, '{');
    j.depth++; /* it will stand inside model.json: indent it so */
    gcg_json_string(&j, "program", "gcg-mc");
    gcg_json_string(&j, "version", version_number);
    gcg_json_string(&j, "solver", fit_solver_names[s->solver]);
    gcg_json_boolean(&j, "plain", s->plain);
    gcg_json_integer(&j, "atoms", s->atoms);
    gcg_json_number(&j, "lambda", o->lambda);
    gcg_json_number(&j, "lambda_max", o->lambda_max);
    put_choice(&j, o->choice);
    gcg_json_number(&j, "wanted_gap", s->gap);
    gcg_json_integer(&j, "max_iter", s->max_iter);
    gcg_json_boolean(&j, "certify", s->certify);
    gcg_json_integer(&j, "rank_limit", s->rank);
    gcg_json_string(&j, "memory_plan", o->plan->text);
    gcg_json_string(&j, "precision", fit_precision_names[s->precision]);
    gcg_json_string(&j, "center", fit_center_names[s->center]);
    gcg_json_boolean(&j, "weights", x->weight != NULL);
    gcg_json_number(&j, "norm_exponent_user", s->norm.exponent_user);
    gcg_json_number(&j, "norm_exponent_item", s->norm.exponent_item);
    gcg_json_number(&j, "norm_smooth", s->norm.smooth);
    gcg_json_number(&j, "user_bias", s->norm.user_bias);
    gcg_json_number(&j, "norm_mean_user",
                    gcg_norm_mean(x->rows, o->d->margins.user_count, s->norm.exponent_user));
    gcg_json_string(&j, "keep", fit_keep_names[s->keep]);
    gcg_json_number(&j, "holdout", s->holdout);
    gcg_json_unsigned(&j, "seed", s->seed);
    gcg_json_integer(&j, "users", x->rows);
    gcg_json_integer(&j, "items", x->cols);
    gcg_json_integer(&j, "ratings", x->nnz);
    put_result(&j, o);
    gcg_json_close(&j, '}');
    return gcg_json_finish(&j, text, err);
}

gcg_status fit_write_model(const fit_outcome *o, const char *path, gcg_err *err)
{
    const fit_data *d = o->d;
    gcg_model m = {.u = *o->u,
                   .v = *o->v,
                   .singular_values = o->singular_values,
                   .users = d->ratings.users,
                   .items = d->ratings.items,
                   .mean = d->margins.mean,
                   .user_count = d->margins.user_count,
                   .item_count = d->margins.item_count,
                   .user_sum = d->margins.user_sum,
                   .item_sum = d->margins.item_sum,
                   .center = d->center.kind,
                   .mu = d->center.mu,
                   .user_bias = d->center.user_bias,
                   .item_bias = d->center.item_bias};
    gcg_status status = describe(o, &m.options_json, err);
    if (!status) status = gcg_model_write(path, &m, err);
    gcg_mem_free(m.options_json);
    return status;
}

/* MODEL.done; gcg_mem_free it. */
static char *done_name(const fit_settings *s)
{
    static const char suffix[] = ".done";
    size_t length = strlen(s->output);
    char *name = gcg_mem_alloc_array((int64_t)(length + sizeof suffix), 1);
    if (!name) return NULL;
    memcpy(name, s->output, length);
    memcpy(name + length, suffix, sizeof suffix);
    return name;
}

gcg_status fit_remove_done(const fit_settings *s, gcg_err *err)
{
    char *name = done_name(s);
    if (!name) return gcg_fail_memory(err, "file name");
    gcg_status status = gcg_output_test(name, err);
    if (!status && unlink(name) != 0 && errno != ENOENT)
        status = gcg_fail(err, GCG_ERR_IO, name, 0, 0, "cannot remove the old file: %s", strerror(errno));
    gcg_mem_free(name);
    return status;
}

gcg_status fit_write_done(const fit_outcome *o, int exit_code, gcg_err *err)
{
    char *name = done_name(o->s), *text = NULL;
    gcg_output out = {0};
    gcg_json j;
    gcg_json_init(&j);
    gcg_json_open(&j, NULL, '{');
    gcg_json_integer(&j, "exit", exit_code);
    put_result(&j, o);
    gcg_json_number(&j, "valid_rmse", o->valid_rmse);
    gcg_json_number(&j, "test_rmse", o->test_rmse);
    gcg_json_number(&j, "seconds", o->last.time_s);
    gcg_json_close(&j, '}');
    gcg_status status = gcg_json_finish(&j, &text, err);
    if (!status && !name) status = gcg_fail_memory(err, "file name");
    if (!status) status = gcg_output_open(&out, name, err);
    if (!status && (fputs(text, out.file) < 0 || fputc('\n', out.file) < 0))
        status = gcg_fail(err, GCG_ERR_IO, name, 0, 0, "cannot write: %s", strerror(errno));
    if (!status)
        status = gcg_output_commit(&out, err);
    else
        gcg_output_abort(&out);
    gcg_mem_free(text);
    gcg_mem_free(name);
    return status;
}

/* How sure the bound is, in words. */
static void rule_in_words(const gcg_progress *p, char text[80])
{
    static const char *const words[] = {
        [GCG_CERT_NONE] = "no bound",
        [GCG_CERT_ESTIMATE] = "an estimate, not a bound",
        [GCG_CERT_CHOLESKY] = "proved by Cholesky",
    };
    if (p->rule == GCG_CERT_PROBABILITY)
        snprintf(text, 80, "a bound but for probability %.1g", p->probability);
    else
        snprintf(text, 80, "%s", words[p->rule]);
}

/* Why the gap was not reached and what to do about it. */
static void warn_of_stop(const fit_outcome *o)
{
    const fit_settings *s = o->s;
    const gcg_progress *p = &o->last;
    char gaps[80] = "";
    if (!isnan(p->gap)) snprintf(gaps, sizeof gaps, " (gap %.2e, wanted %g)", p->gap, s->gap);
    switch (o->stop) {
    case GCG_STOP_MAX_ITER:
        report_warning("stopped by --max-iter %" PRId64 " before it converged%s: raise it", s->max_iter,
                       gaps);
        break;
    case GCG_STOP_MAX_TIME:
        report_warning("stopped by --max-time %g before it converged%s: raise it", s->max_time, gaps);
        break;
    case GCG_STOP_RANK_CAP:
        if (o->plan->cap > 0)
            report_warning("%s allows rank %" PRId32 ", which keeps it from converging%s: raise it",
                           o->plan->limiter, o->plan->cap, gaps);
        else
            report_warning("--rank %" PRId64 " keeps it from converging%s: raise it", s->rank, gaps);
        break;
    case GCG_STOP_STALLED:
        report_warning("no further progress in this precision%s: raise --gap%s", gaps,
                       s->precision == GCG_PRECISION_FLOAT ? ", or leave --precision float out" : "");
        break;
    case GCG_STOP_SIGNAL:
        report_warning("stopped by a signal before it converged%s", gaps);
        break;
    case GCG_STOP_CONVERGED:
    case GCG_STOP_ZERO:
        break;
    }
}

void fit_say_outcome(const fit_outcome *o)
{
    const gcg_progress *p = &o->last;
    char rule[80];
    rule_in_words(p, rule);
    warn_of_stop(o);
    report_note("%s after %" PRId64 " iteration%s, %.2f s: objective %.10g, gap %.2e (%s), rank %" PRId32
                ", train RMSE %.6g",
                gcg_stop_name(o->stop), p->iter, p->iter == 1 ? "" : "s", p->time_s, p->objective, p->gap,
                rule, p->rank, p->train_rmse);
    if (o->s->solver != FIT_SOLVER_GCG && o->stop == GCG_STOP_CONVERGED && p->gap > o->s->gap)
        report_note("--solver %s stops when a sweep gains little, whatever the gap, which is known only then",
                    fit_solver_names[o->s->solver]);
    if (o->written.iter < p->iter)
        report_note("the model is that of iteration %" PRId64 ", best by validation RMSE", o->written.iter);
    if (o->d->valid.given) report_note("validation RMSE %.6g", o->valid_rmse);
    if (o->d->test.given) report_note("test RMSE %.6g", o->test_rmse);
}

void fit_say_costs(const fit_run *f)
{
    char peak[32], planned[32];
    int64_t bytes = memory_peak();
    if (!f->s.verbose) return;
    report_note("memory: %s at most (%" PRId64 " bytes), %s were planned", memory_text(peak, bytes), bytes,
                memory_text(planned, memory_total(&f->plan.table)));
    const fit_times *times = &f->log.times;
    for (int i = 0; i < FIT_PHASES && times->phase[i].name; i++)
        report_note("time in %s: %.2f s", times->phase[i].name, times->phase[i].seconds);
}

int fit_leave(fit_run *f)
{
    const fit_checkpoint *c = &f->checkpoint;
    gcg_err lost;
    if (!f->log.silent) fit_log_end(&f->log, &f->result);
    if (fit_log_close(&f->log, &lost)) report_error(&lost, NULL);
    if (c->failed) return report_error(&c->err, NULL);
    char before[64] = "";
    if (f->walk.count > 0)
        snprintf(before, sizeof before, " %d fit%s and", f->walk.count, f->walk.count == 1 ? "" : "s");
    report_note("stopped by a signal after%s %" PRId64 " iteration%s: --resume %s goes on from there", before,
                c->iter, c->iter == 1 ? "" : "s", c->path);
    return FIT_CHECKPOINT_WRITTEN;
}

/* Did it end before it was done, where another one may go on? */
static int may_go_on(const fit_run *f)
{
    return gcg_solver_writes(&f->set) &&
           (f->result.stop == GCG_STOP_MAX_TIME || f->result.stop == GCG_STOP_MAX_ITER);
}

int fit_write_all(fit_run *f)
{
    gcg_err lost;
    fit_log_end(&f->log, &f->result);
    fit_outcome o = fit_outcome_of(f);
    gcg_status log_status = fit_log_close(&f->log, &lost);
    gcg_status status = fit_write_model(&o, f->s.output, &f->err);
    if (status) return report_error(&f->err, NULL);
    int code = log_status ? (int)log_status : fit_reached(&f->result) ? 0 : FIT_NOT_REACHED;
    if (log_status) report_error(&lost, NULL);
    if (may_go_on(f) && f->checkpoint.failed) code = report_error(&f->checkpoint.err, NULL);
    status = fit_write_done(&o, code, &f->err);
    if (status) return report_error(&f->err, NULL);
    if (!may_go_on(f)) fit_checkpoint_remove(f);
    fit_log_phase(NULL, NAN, &f->log);
    if (f->set.lambda >= f->lambda_max && f->set.lambda > 0)
        report_warning("lambda %.10g is not below lambda_max %.10g: the optimum is the zero matrix",
                       f->set.lambda, f->lambda_max);
    fit_say_outcome(&o);
    if (may_go_on(f) && !f->checkpoint.failed)
        report_note("--resume %s goes on from there", f->checkpoint.path);
    fit_say_costs(f);
    return code;
}
