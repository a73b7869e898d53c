/* Training and test data of fit: see fit.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/fit.h"
#include "cmd/report.h"
#include "maths/kernels.h"

enum { SHOWN = 3 /* training pairs named in the warning (CLI contract) */ };

/* Warns of test pairs that occur in training, of ids that never do, of an empty set. */
static void warn_about(const fit_data *d, const fit_set *set)
{
    const gcg_pairs *p = &set->pairs;
    char shown[SHOWN * 520 + 16] = "";
    int64_t both = 0, unknown = 0;
    for (int64_t i = 0; i < p->n; i++) {
        unknown += p->user[i] < 0 && p->item[i] < 0;
        if (p->user[i] < 0 || p->item[i] < 0 || gcg_csr_find(&d->ratings.x, p->user[i], p->item[i]) < 0)
            continue;
        if (both++ >= SHOWN) continue;
        char name[GCG_ID_TEXT], user[256], item[256];
        gcg_quote(user, name, (int64_t)gcg_idmap_name(d->ratings.users, p->user[i], name));
        gcg_quote(item, name, (int64_t)gcg_idmap_name(d->ratings.items, p->item[i], name));
        size_t length = strlen(shown);
        snprintf(shown + length, sizeof shown - length, "%s%s,%s", length ? " " : "", user, item);
    }
    if (p->n == 0) report_warning("no %s ratings", set->what);
    if (p->n > 0 && unknown == p->n)
        report_warning("none of the %s users or items is known from training: are the ids of the same kind?",
                       set->what);
    if (both > 0)
        report_warning("%" PRId64 " of %" PRId64
                       " %s pairs occur in training (%s%s): their error says little",
                       both, p->n, set->what, shown, both > SHOWN ? " ..." : "");
}

/* For gcg_read_options: user is the fit_log. A signal ends the program while it reads. */
static int tell_progress(int64_t bytes_read, int64_t bytes_total, void *user)
{
    fit_log_phase("reading", bytes_total > 0 ? (double)bytes_read / (double)bytes_total : NAN, user);
    return 0;
}

static gcg_read_options options_of(const fit_settings *s, const fit_data *d)
{
    gcg_read_options options = reading_options(&s->reading);
    options.progress = tell_progress;
    options.progress_user = d->log;
    return options;
}

static gcg_status read_set(const fit_settings *s, const char *path, fit_data *d, fit_set *set, gcg_diag *diag,
                           gcg_err *err)
{
    gcg_read_report report;
    gcg_read_options options = options_of(s, d);
    options.weights = NULL; /* errors of all test ratings count alike */
    if (!path) return GCG_OK;
    set->given = 1;
    return gcg_pairs_read(&path, 1, &options, d->ratings.users, d->ratings.items, diag, &set->pairs, &report,
                          err);
}

/* --test-pairs: they leave the training set with their ratings. */
static gcg_status take_pairs(const fit_settings *s, fit_data *d, gcg_diag *diag, gcg_err *err)
{
    gcg_read_report report;
    gcg_pairs pairs = {0};
    int64_t missing = 0;
    gcg_read_options options = options_of(s, d);
    options.pairs = options.no_ratings = 1;
    options.implicit = 0; /* says something of the training file only, as weights do */
    options.weights = NULL;
    gcg_status status = gcg_pairs_read(&s->test_pairs, 1, &options, d->ratings.users, d->ratings.items, diag,
                                       &pairs, &report, err);
    if (!status) status = gcg_ratings_take_pairs(&d->ratings, &pairs, &d->test.pairs, &missing, err);
    if (!status && missing > 0)
        report_warning("%" PRId64 " of %" PRId64 " pairs of --test-pairs are not in the training data",
                       missing, pairs.n);
    gcg_pairs_release(&pairs);
    return status;
}

/* --holdout: the test set of fit, the validation set of path. */
static gcg_status hold_out(const fit_settings *s, fit_data *d, gcg_err *err)
{
    fit_set *set = s->command == FIT_PATH ? &d->valid : &d->test;
    if (!s->has_holdout) return GCG_OK;
    set->given = 1;
    return gcg_ratings_hold_out(&d->ratings, s->holdout, s->seed, &set->pairs, err);
}

static gcg_status split(const fit_settings *s, fit_data *d, gcg_diag *diag, gcg_err *err)
{
    gcg_status status = GCG_OK;
    d->test.what = "test";
    d->valid.what = "validation";
    if (s->test_pairs) {
        d->test.given = 1;
        status = take_pairs(s, d, diag, err);
    }
    if (!status) status = hold_out(s, d, err);
    if (!status && d->ratings.x.nnz == 0)
        status = gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                          "no training ratings are left: every one became a test rating");
    if (!status) status = read_set(s, s->test, d, &d->test, diag, err);
    if (!status) status = read_set(s, s->valid, d, &d->valid, diag, err);
    return status;
}

/* The plain loss has faster passes. */
static void drop_equal_weights(fit_data *d)
{
    gcg_csr *x = &d->ratings.x;
    if (!x->weight || d->stats.least_weight != 1 || d->stats.most_weight != 1) return;
    gcg_csr_free_array(x, x->weight);
    x->weight = NULL;
    report_note("all weights are 1: the loss is the plain one");
}

gcg_status fit_read(const fit_settings *s, fit_data *d, gcg_diag *diag, gcg_err *err)
{
    double start = gcg_clock_now();
    gcg_read_options options = options_of(s, d);
    gcg_status status =
        gcg_ratings_read((const char *const *)s->train, s->train_count, &options, diag, &d->ratings, err);
    if (!status) status = split(s, d, diag, err);
    if (status) return status;
    d->read_seconds = gcg_clock_now() - start;
    if (d->test.given) warn_about(d, &d->test);
    if (d->valid.given) warn_about(d, &d->valid);
    d->stats = gcg_csr_value_stats(&d->ratings.x);
    drop_equal_weights(d);
    return gcg_margins_compute(&d->ratings.x, &d->margins, err);
}

int fit_wants_double(const fit_settings *s, const gcg_csr *x)
{
    const double small_gap = 1e-5;
    const int64_t few = 1000000; /* ratings whose doubles nobody will miss: 12 MB */
    return x->val_d || s->precision == GCG_PRECISION_DOUBLE ||
           (s->precision == GCG_PRECISION_AUTO && (s->gap < small_gap || x->nnz <= few));
}

/* The comparators read the ratings where they are stored. */
int fit_centers_reading(const fit_settings *s, const gcg_csr *x)
{
    return s->solver == FIT_SOLVER_GCG && gcg_csr_values_are_mapped(x) && !gcg_mapping_is_kept(x->map);
}

static gcg_status subtract_center(const fit_settings *s, fit_data *d, gcg_err *err)
{
    gcg_csr *x = &d->ratings.x;
    gcg_status status = gcg_center_compute(x, (gcg_center_kind)s->center, &d->center, err);
    if (status) return status;
    if (!fit_centers_reading(s, x)) return gcg_center_subtract(&d->center, fit_wants_double(s, x), x, err);
    gcg_center_subtract_reading(&d->center, fit_wants_double(s, x), x);
    return GCG_OK;
}

gcg_status fit_arrange(const fit_settings *s, fit_data *d, gcg_err *err)
{
    gcg_status status = subtract_center(s, d, err);
    if (status || s->solver != FIT_SOLVER_GCG) return status;
    return gcg_pass_tile(&d->ratings.x, 0, err);
}

void fit_data_release(fit_data *d)
{
    gcg_ratings_release(&d->ratings);
    gcg_margins_release(&d->margins);
    gcg_center_release(&d->center);
    gcg_pairs_release(&d->test.pairs);
    gcg_pairs_release(&d->valid.pairs);
}
