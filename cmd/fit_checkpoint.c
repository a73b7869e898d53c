/* Checkpoints of fit, path and cv: when they are written, what is in them, and how a run goes on from one.
 * See fit.h. The file is io/checkpoint.h's, the solver's state solvers/state.h's. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "io/fingerprint.h"

/* ---- the parts, in the order of the file; each goes out or comes in ---- */

static gcg_status pass_text(const gcg_state_stream *s, char **text, gcg_err *err)
{
    int64_t length = s->saving ? (int64_t)strlen(*text) : 0;
    gcg_status status = gcg_state_integer(s, &length, err);
    if (!status && !s->saving) {
        gcg_mem_free(*text);
        *text = length >= 0 ? gcg_mem_zalloc_array(length + 1, 1) : NULL;
        if (!*text) return gcg_fail_memory(err, "checkpoint");
    }
    return status ? status : s->pass(s->user, *text, length, err);
}

/* What the fit belongs to. */
typedef struct {
    int64_t users, items, ratings, data, weights, valid;
} facts;

static gcg_status pass_facts(const gcg_state_stream *s, facts *t, gcg_err *err)
{
    int64_t *const all[] = {&t->users, &t->items, &t->ratings, &t->data, &t->weights, &t->valid};
    gcg_status status = GCG_OK;
    for (int i = 0; i < 6 && !status; i++) status = gcg_state_integer(s, all[i], err);
    return status;
}

/* The memory plan: all sizes that the solver goes by. */
static gcg_status pass_plan(const gcg_state_stream *s, fit_run *f, gcg_err *err)
{
    gcg_solver_sizes *z = &f->set.sizes;
    int32_t precision = (int32_t)f->set.precision, kept = (int32_t)f->set.ratings_kept;
    gcg_status status = gcg_state_int32(s, &z->pairs, 0, INT32_MAX, err);
    int32_t *const sizes[] = {&z->block, &z->depth, &z->proof_block, &z->proof_panel};
    for (int i = 0; i < 4 && !status; i++) status = gcg_state_int32(s, sizes[i], 1, INT32_MAX, err);
    if (!status) status = gcg_state_integer(s, &z->proof_bytes, err);
    if (!status) status = gcg_state_int32(s, &precision, 0, GCG_PRECISION_DOUBLE, err);
    if (!status) status = gcg_state_int32(s, &kept, 0, GCG_KEEP_NONE, err);
    if (!status) status = gcg_state_int32(s, &f->set.rank, 0, INT32_MAX, err);
    if (!status) status = gcg_state_int32(s, &f->plan.rank, 0, INT32_MAX, err);
    if (!status) status = gcg_state_int32(s, &f->plan.cap, 0, INT32_MAX, err);
    if (!status) status = s->pass(s->user, f->plan.text, sizeof f->plan.text, err);
    f->plan.text[sizeof f->plan.text - 1] = '\0';
    f->set.precision = (gcg_precision)precision;
    f->set.ratings_kept = (gcg_rating_arrays)kept;
    return status;
}

/* One solve that has ended. */
static gcg_status pass_row(const gcg_state_stream *s, fit_log_row *r, gcg_err *err)
{
    gcg_progress *p = &r->at;
    int32_t stop = (int32_t)r->stop, rule = (int32_t)p->rule;
    double *const reals[] = {&r->lambda,   &r->lambda_max, &r->valid_rmse, &r->test_rmse,
                             &p->time_s,   &p->objective,  &p->dual,       &p->gap,
                             &p->nuc_norm, &p->train_rmse, &p->passes,     &p->probability};
    gcg_status status = gcg_state_int32(s, &stop, 0, GCG_STOP_ZERO, err);
    if (!status) status = gcg_state_int32(s, &rule, 0, GCG_CERT_CHOLESKY, err);
    if (!status) status = gcg_state_int32(s, &p->rank, 0, INT32_MAX, err);
    if (!status) status = gcg_state_integer(s, &p->iter, err);
    if (!status) status = gcg_state_integer(s, &p->matvecs, err);
    for (size_t i = 0; i < sizeof reals / sizeof *reals && !status; i++)
        status = gcg_state_real(s, reals[i], err);
    r->stop = (gcg_stop)stop;
    p->rule = (gcg_certificate_rule)rule;
    return status;
}

enum { MOST_ROWS = 1 << 20 /* of a walk: 1000 folds at 500 lambdas */ };

static gcg_status pass_rows(const gcg_state_stream *s, fit_walk_state *w, gcg_err *err)
{
    int32_t count = w->count;
    gcg_status status = gcg_state_int32(s, &count, 0, MOST_ROWS, err);
    if (!status && !s->saving && count > 0) {
        w->row = gcg_mem_zalloc_array(count, sizeof *w->row);
        if (!w->row) return gcg_fail_memory(err, "checkpoint");
        w->count = w->room = count;
    }
    for (int i = 0; i < count && !status; i++) status = pass_row(s, &w->row[i], err);
    return status;
}

/* Where the log's rows of this solve begin. */
static gcg_status pass_mark(const gcg_state_stream *s, fit_log_place *mark, gcg_err *err)
{
    int64_t sum = (int64_t)mark->sum;
    gcg_status status = gcg_state_integer(s, &mark->lines, err);
    if (!status) status = gcg_state_integer(s, &sum, err);
    if (!status) status = gcg_state_int32(s, &mark->silent, 0, 1, err);
    mark->sum = (uint64_t)sum;
    return status;
}

static gcg_status pass_singular_values(const gcg_state_stream *s, fit_best *b, gcg_err *err)
{
    if (!s->saving) {
        gcg_mem_free(b->singular_values);
        b->singular_values = gcg_mem_zalloc_array(b->u.k, sizeof *b->singular_values);
        if (!b->singular_values) return gcg_fail_memory(err, "checkpoint");
    }
    return s->pass(s->user, b->singular_values, b->u.k * (int64_t)sizeof *b->singular_values, err);
}

static gcg_status pass_best(const gcg_state_stream *s, const gcg_csr *x, fit_best *b, gcg_err *err)
{
    int32_t most = x->rows < x->cols ? x->rows : x->cols;
    double *const reals[] = {&b->at.objective, &b->at.nuc_norm, &b->at.train_rmse, &b->at.time_s,
                             &b->at.passes,    &b->valid_rmse,  &b->test_rmse};
    gcg_status status = gcg_state_int32(s, &b->taken, 0, 1, err);
    if (status || !b->taken) return status;
    status = gcg_state_factors(s, x->rows, most, &b->u, err);
    if (!status) status = gcg_state_factors(s, x->cols, most, &b->v, err);
    if (!status) status = pass_singular_values(s, b, err);
    for (int i = 0; i < 7 && !status; i++) status = gcg_state_real(s, reals[i], err);
    if (!status) status = gcg_state_integer(s, &b->at.iter, err);
    if (!status) status = gcg_state_integer(s, &b->at.matvecs, err);
    return status ? status : gcg_state_int32(s, &b->at.rank, 0, most, err);
}

/* All but what the data are, and the solver's state. */
static gcg_status pass_run(const gcg_state_stream *s, fit_run *f, gcg_err *err)
{
    fit_walk_state *w = &f->walk;
    const gcg_csr *x = &f->d.ratings.x;
    gcg_status status = pass_plan(s, f, err);
    if (!status) status = gcg_state_real(s, &f->lambda_max, err);
    if (!status) status = pass_mark(s, &f->log.mark, err);
    if (!status) status = pass_best(s, x, &f->log.best, err);
    if (!status) status = pass_rows(s, w, err);
    if (!status) status = gcg_state_real(s, &w->lambda_max, err);
    if (!status) status = gcg_state_int32(s, &w->best_row, 0, MOST_ROWS, err);
    return status ? status : pass_best(s, x, &w->best, err);
}

static facts facts_of(const fit_run *f)
{
    const gcg_csr *x = &f->d.ratings.x;
    const fit_checkpoint *c = &f->checkpoint;
    return (facts){x->rows, x->cols, x->nnz, (int64_t)c->data, (int64_t)c->weights, (int64_t)c->valid};
}

/* ---- writing ---- */

static gcg_status put(void *user, void *bytes, int64_t n, gcg_err *err)
{
    return gcg_checkpoint_put(user, bytes, n, err);
}

static gcg_status write_file(fit_run *f, const gcg_solver_state *state, gcg_err *err)
{
    gcg_checkpoint_writer w;
    gcg_state_stream out = {1, put, &w};
    facts now = facts_of(f);
    int64_t iter = state->iter;
    gcg_status status = gcg_checkpoint_create(&w, f->checkpoint.path, err);
    if (status) return status;
    status = pass_text(&out, &f->checkpoint.options, err);
    if (!status) status = pass_facts(&out, &now, err);
    if (!status) status = gcg_state_integer(&out, &iter, err);
    if (!status) status = pass_run(&out, f, err);
    if (!status) status = state->state(state->self, &out, err);
    if (!status) return gcg_checkpoint_commit(&w, err);
    gcg_checkpoint_abort(&w);
    return status;
}

/* For gcg_checkpoints: a fit does not end because there is no room for a checkpoint. */
static gcg_status write_one(const gcg_solver_state *state, void *user, gcg_err *err)
{
    fit_run *f = user;
    fit_checkpoint *c = &f->checkpoint;
    (void)err;
    c->failed = write_file(f, state, &c->err) != GCG_OK;
    c->last = gcg_clock_now();
    c->iter = state->iter;
    if (!c->failed) c->written = 1;
    if (c->failed && !gcg_interrupt_requested())
        report_warning("no checkpoint: %s: %s; the fit goes on", c->path, c->err.text);
    return GCG_OK;
}

static int is_due(void *user, int64_t iter)
{
    const fit_run *f = user;
    return fit_checkpoint_wanted() || (iter >= f->s.max_iter && !f->walk.walking) ||
           gcg_clock_now() - f->checkpoint.last >= f->s.checkpoint_every;
}

/* ---- a fit and its checkpoints ---- */

gcg_status fit_checkpoint_enable(fit_run *f)
{
    char name[PATH_MAX + 8];
    if (!fit_checkpoint_name(&f->s, name, sizeof name)) return GCG_OK;
    f->checkpoint.path = gcg_mem_strdup(name);
    f->checkpoint.options = fit_resume_text(&f->s);
    if (f->checkpoint.path && f->checkpoint.options) return GCG_OK;
    return gcg_fail_memory(&f->err, "checkpoint");
}

gcg_status fit_checkpoint_test(const fit_run *f, gcg_err *err)
{
    const char *path = f->checkpoint.path;
    if (!path) return GCG_OK;
    gcg_status status = gcg_output_test(path, err);
    if (!status && !f->s.resume && access(path, F_OK) == 0)
        report_note(
            "there is a checkpoint %s, of an earlier fit: --resume %s goes on from it, this fit begins "
            "anew and will overwrite it",
            path, path);
    return status;
}

static gcg_status get(void *user, void *bytes, int64_t n, gcg_err *err)
{
    return gcg_checkpoint_get(user, bytes, n, err);
}

/* What differs between the data of the checkpoint and those of now. */
static gcg_status compare(const fit_run *f, const facts *then, gcg_err *err)
{
    const facts now = facts_of(f);
    const char *name = f->s.resume;
    if (then->users != now.users || then->items != now.items || then->ratings != now.ratings)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        "is of %" PRId64 " ratings of %" PRId64 " users and %" PRId64
                        " items, TRAIN has %" PRId64 " of %" PRId64 " and %" PRId64
                        ": give the same data and reading options",
                        then->ratings, then->users, then->items, now.ratings, now.users, now.items);
    if (then->data != now.data)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        "is of other ratings or ids than those of TRAIN, though as many: give the same data "
                        "and reading options");
    if (then->weights != now.weights)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        !now.weights    ? "is of ratings with weights: name their column, --weights COL"
                        : then->weights ? "is of other weights than those of --weights: give the same data "
                                          "and column"
                                        : "is of ratings without weights: leave --weights out");
    if (then->valid != now.valid)
        return gcg_fail(err, GCG_ERR_DATA, name, 0, 0,
                        "is of other validation ratings than those of --valid, by which the model is chosen");
    return GCG_OK;
}

static gcg_status open_resumed(fit_run *f, gcg_err *err)
{
    fit_checkpoint *c = &f->checkpoint;
    char *options = NULL;
    facts then;
    c->in = (gcg_state_stream){0, get, &c->reader};
    gcg_status status = gcg_checkpoint_open(&c->reader, f->s.resume, err);
    if (!status) status = pass_text(&c->in, &options, err);
    gcg_mem_free(options); /* fit_resume_options() has them */
    if (!status) status = pass_facts(&c->in, &then, err);
    if (!status) status = compare(f, &then, err);
    if (!status) status = gcg_state_integer(&c->in, &c->iter, err);
    if (!status) status = pass_run(&c->in, f, err);
    f->plan.resumed = !status;
    return status;
}

gcg_status fit_checkpoint_data(fit_run *f, gcg_err *err)
{
    fit_checkpoint *c = &f->checkpoint;
    if (!c->path && !f->s.resume) return GCG_OK;
    gcg_status status = gcg_ratings_fingerprint(&f->d.ratings, &c->data, err);
    if (!status) status = gcg_weights_fingerprint(&f->d.ratings.x, &c->weights, err);
    if (f->s.keep == FIT_KEEP_BEST || f->s.command == FIT_PATH || f->s.lambda_auto)
        c->valid = gcg_pairs_fingerprint(&f->d.valid.pairs);
    return status || !f->s.resume ? status : open_resumed(f, err);
}

void fit_checkpoint_begin(fit_run *f)
{
    fit_checkpoint *c = &f->checkpoint;
    c->hooks = (gcg_checkpoints){
        .copy = f->s.max_time < INFINITY, .due = is_due, .write = c->path ? write_one : NULL, .user = f};
    c->last = gcg_clock_now();
    if (c->path || f->s.resume) f->set.checkpoints = &c->hooks;
    if (!f->s.resume) return;
    c->hooks.resume = &c->in;
    /* a signal cut lambda_max short: what the log's head says of it is wrong */
    if (isnan(f->lambda_max) && !f->log.mark.silent) f->log.mark.lines = 0;
    fit_log_resume(&f->log, c->iter);
}

void fit_checkpoint_remove(const fit_run *f)
{
    const fit_checkpoint *c = &f->checkpoint;
    if (!c->path) return;
    if (c->written || (f->s.resume && gcg_output_same_file(c->path, f->s.resume))) unlink(c->path);
}

void fit_checkpoint_release(fit_checkpoint *c)
{
    gcg_checkpoint_close(&c->reader);
    gcg_mem_free(c->path);
    gcg_mem_free(c->options);
    *c = (fit_checkpoint){0};
}
