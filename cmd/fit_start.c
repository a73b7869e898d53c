/* Where a fit starts: --init MODEL, by the ids. See fit.h. */
#include <inttypes.h>
#include <string.h>

#include "cmd/fit.h"
#include "cmd/report.h"
#include "io/model_io.h"

/* Rows of `from` for the ids that are in both maps and have training ratings; the others stay 0. Returns how
 * many there are. */
static int32_t match(const gcg_idmap *ids, const int64_t *ratings, const gcg_idmap *known,
                     const gcg_factors *from, gcg_factors *to)
{
    int32_t matched = 0;
    for (int32_t i = 0; i < to->rows; i++) {
        char name[GCG_ID_TEXT];
        size_t length = gcg_idmap_name(ids, i, name);
        int32_t row = ratings[i] > 0 ? gcg_idmap_find(known, name, length) : -1;
        if (row < 0) continue;
        matched++;
        for (int32_t q = 0; q < to->k; q++) gcg_factors_set(to, i, q, gcg_factors_get(from, row, q));
    }
    return matched;
}

/* What the fit starts from, in words. */
static void tell(const fit_settings *s, const fit_data *d, const gcg_model *m, int32_t users, int32_t items)
{
    if (users == 0 || items == 0)
        report_warning("--init %s: none of its %s is known from training: the fit starts at 0", s->init,
                       users == 0 ? "users" : "items");
    else
        report_note("--init %s: %" PRId32 " of %" PRId32 " users and %" PRId32 " of %" PRId32
                    " items start from it, at rank %" PRId32,
                    s->init, users, d->ratings.x.rows, items, d->ratings.x.cols, m->u.k);
    if ((int)m->center != s->center)
        report_note("--init %s was fitted with --center %s: the start is only near", s->init,
                    fit_center_names[m->center]);
}

gcg_status fit_start_read(const fit_settings *s, const fit_data *d, gcg_dtype type, fit_start *start,
                          gcg_err *err)
{
    gcg_model m;
    const gcg_ratings *r = &d->ratings;
    if (!s->init) return GCG_OK;
    gcg_status status = gcg_model_read(s->init, &m, err);
    if (!status) status = gcg_factors_init(&start->u, r->x.rows, m.u.k, type, err);
    if (!status) status = gcg_factors_init(&start->v, r->x.cols, m.v.k, type, err);
    if (!status) {
        int32_t users = match(r->users, d->margins.user_count, m.users, &m.u, &start->u);
        int32_t items = match(r->items, d->margins.item_count, m.items, &m.v, &start->v);
        tell(s, d, &m, users, items);
    }
    gcg_model_release(&m);
    return status;
}

void fit_start_use(const fit_start *start, gcg_solver_settings *set)
{
    set->start_u = start->u.data ? &start->u : NULL;
    set->start_v = start->v.data ? &start->v : NULL;
}

void fit_start_release(fit_start *start)
{
    gcg_factors_release(&start->u);
    gcg_factors_release(&start->v);
}
