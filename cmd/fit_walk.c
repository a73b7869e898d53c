/* Fits at falling lambdas, each from the model before: path, cv, and fit --lambda auto; and the parts of the
 * ratings that the last two fit. See fit.h. */
#include <math.h>

#include "base/clock.h"
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

gcg_status fit_walk(fit_run *f, const gcg_csr *x, const fit_lambdas *lambdas, fit_walked *walked, void *user)
{
    const gcg_solver_settings before = f->set;
    gcg_status status = GCG_OK;
    int stop = 0;
    for (int k = 0; k < lambdas->count && !stop && !status; k++) {
        gcg_solver_result previous = f->result;
        f->result = (gcg_solver_result){0};
        f->set.lambda = lambdas->at[k];
        f->set.max_time = fmax(f->deadline - gcg_clock_now(), 0);
        if (k > 0) {
            f->set.start_u = &previous.u;
            f->set.start_v = &previous.v;
        }
        status = fit_solve(f, x);
        gcg_solver_result_release(&previous);
        if (status) break;
        stop = fit_was_cut(&f->result);
        int enough = 0;
        status = walked(f, &enough, user);
        stop = stop || enough;
    }
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
    return status ? status : fit_center(&s, p, err);
}

void fit_part_release(fit_part *part)
{
    gcg_csr_release(&part->d.ratings.x);
    gcg_margins_release(&part->d.margins);
    gcg_center_release(&part->d.center);
    gcg_pairs_release(&part->pairs);
}
