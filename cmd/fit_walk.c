/* Fits at falling lambdas, each from the model before: path, cv, and fit --lambda auto; and the parts of the
 * ratings that the last two fit. See fit.h. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/fit.h"

fit_lambdas fit_lambdas_of(const fit_settings *s, double lambda_max)
{
    fit_lambdas out = s->lambdas;
    if (out.count > 0) return out;
    out.count = (int)s->n_lambdas;
    if (!(lambda_max > 0)) lambda_max = 1; /* only zeros: any lambda gives the zero matrix */
    for (int k = 0; k < out.count; k++)
        out.at[k] = lambda_max * pow(s->min_ratio, (double)k / (out.count - 1));
    return out;
}

/* ---- solves by their rows ---- */

const fit_log_row *fit_walk_row(const fit_run *f)
{
    return &f->walk.row[f->walk.next - 1];
}

/* The next row of the checkpoint in place of a solve. */
static gcg_status replay(fit_run *f)
{
    const fit_log_row *row = &f->walk.row[f->walk.next++];
    if (row->lambda < f->set.lambda || row->lambda > f->set.lambda)
        return gcg_fail(&f->err, GCG_ERR_DATA, f->s.resume, 0, 0,
                        "cannot be right: it has lambda %.17g where %.17g comes next", row->lambda,
                        f->set.lambda);
    f->result = (gcg_solver_result){.stop = row->stop, .last = row->at};
    f->log.valid_rmse = row->valid_rmse;
    f->log.test_rmse = row->test_rmse;
    return GCG_OK;
}

static gcg_status add_row(fit_walk_state *w, const fit_log_row *row, gcg_err *err)
{
    if (w->count == w->room) {
        int room = w->room > 0 ? 2 * w->room : 32;
        fit_log_row *more = gcg_mem_alloc_array(room, sizeof *more);
        if (!more) return gcg_fail_memory(err, "rows of the walk");
        if (w->count > 0) memcpy(more, w->row, (size_t)w->count * sizeof *more);
        gcg_mem_free(w->row);
        w->row = more;
        w->room = room;
    }
    w->row[w->count++] = *row;
    w->next = w->count;
    return GCG_OK;
}

gcg_status fit_solve_next(fit_run *f, const fit_data *d)
{
    fit_walk_state *w = &f->walk;
    w->replayed = w->next < w->count;
    if (w->replayed) return replay(f);
    gcg_status status = fit_solve(f, &d->ratings.x);
    if (status || w->left) return status;
    fit_log_row row = {
        .lambda = f->set.lambda, .stop = f->result.stop, .at = f->result.last, .lambda_max = w->lambda_max};
    status = fit_score(&f->s, d, &d->valid, &f->result.last, &row.valid_rmse, &f->err);
    if (!status) status = fit_score(&f->s, d, &d->test, &f->result.last, &row.test_rmse, &f->err);
    row.at.u = row.at.v = NULL;
    row.at.row_scale = row.at.col_scale = NULL;
    return status ? status : add_row(w, &row, &f->err);
}

gcg_status fit_walk_keep(fit_run *f)
{
    fit_walk_state *w = &f->walk;
    fit_best *b = &w->best;
    const gcg_solver_result *r = &f->result;
    if (w->replayed) return GCG_OK;
    fit_best_release(b);
    gcg_status status = gcg_factors_copy(&r->u, r->u.type, &b->u, &f->err);
    if (!status) status = gcg_factors_copy(&r->v, r->v.type, &b->v, &f->err);
    b->singular_values = status ? NULL : gcg_mem_alloc_array(r->u.k, sizeof *b->singular_values);
    if (!status && !b->singular_values) status = gcg_fail_memory(&f->err, "best model");
    if (status) return status;
    if (r->u.k > 0) memcpy(b->singular_values, r->singular_values, (size_t)r->u.k * sizeof(double));
    b->at = r->last;
    b->taken = 1;
    w->best_row = w->next - 1;
    return GCG_OK;
}

gcg_status fit_walk_lambda_max(fit_run *f, const gcg_csr *x, double *lambda_max, int *cut)
{
    fit_walk_state *w = &f->walk;
    gcg_status status = GCG_OK;
    *cut = 0;
    if (w->next < w->count)
        *lambda_max = w->row[w->next].lambda_max;
    else if (f->checkpoint.hooks.resume && !isnan(w->lambda_max))
        *lambda_max = w->lambda_max;
    else
        status = fit_lambda_max(f, x, lambda_max, cut);
    if (w->next >= w->count) w->lambda_max = *cut ? NAN : *lambda_max;
    return status;
}

void fit_walk_release(fit_walk_state *w)
{
    gcg_mem_free(w->row);
    fit_best_release(&w->best);
    *w = (fit_walk_state){0};
}

/* ---- a walk ---- */

/* One solve of it, from the model before. */
static gcg_status next_solve(fit_run *f, const fit_data *d, double lambda)
{
    gcg_solver_result previous = f->result;
    f->result = (gcg_solver_result){0};
    f->set.lambda = lambda;
    f->set.max_time = fmax(f->deadline - gcg_clock_now(), 0);
    if (previous.u.data) {
        f->set.start_u = &previous.u;
        f->set.start_v = &previous.v;
    }
    gcg_status status = fit_solve_next(f, d);
    gcg_solver_result_release(&previous);
    return status;
}

gcg_status fit_walk(fit_run *f, const fit_data *d, const fit_lambdas *lambdas, fit_walked *walked, void *user)
{
    const gcg_solver_settings before = f->set;
    gcg_status status = GCG_OK;
    int stop = 0;
    f->walk.walking = 1;
    for (int k = 0; k < lambdas->count && !stop && !status; k++) {
        status = next_solve(f, d, lambdas->at[k]);
        if (status || f->walk.left) break;
        int enough = 0;
        stop = fit_was_cut(&f->result);
        status = walked(f, &enough, user);
        stop = stop || enough;
    }
    f->walk.walking = 0;
    f->set = before;
    return status;
}

gcg_status fit_part_init(const fit_run *f, gcg_center_kind kind, double from, double below, fit_part *part,
                         gcg_err *err)
{
    const fit_data *d = &f->d;
    fit_data *p = &part->d;
    fit_settings s = f->s;
    *part = (fit_part){.d = {.ratings = {.users = d->ratings.users, .items = d->ratings.items}}};
    p->valid = (fit_set){.what = "validation", .given = 1};
    gcg_status status =
        gcg_ratings_part(&d->ratings, from, below, f->s.seed, &p->ratings.x, &part->pairs, err);
    p->valid.pairs = part->pairs;
    s.center = (int)kind;
    if (!status) status = gcg_margins_compute(&p->ratings.x, &p->margins, err);
    return status ? status : fit_arrange(&s, p, err);
}

void fit_part_release(fit_part *part)
{
    gcg_csr_release(&part->d.ratings.x);
    gcg_margins_release(&part->d.margins);
    gcg_center_release(&part->d.center);
    gcg_pairs_release(&part->pairs);
}
