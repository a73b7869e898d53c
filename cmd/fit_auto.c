/* fit --lambda auto: lambda, and the centring and the weights of the norm where the user did not choose them,
 * by validation. See fit.h.
 *
 * A tenth of the ratings is held out by the hash of seed, user and item: those with the largest hash, so that
 * --holdout, which takes those with the smallest, leaves it enough. The others are fitted
 * along a path of falling lambdas until the RMSE on that tenth rises: first with the exponent of the norm
 * that is most often best, then those beside it as long as they get better, then, with the best one, the
 * centrings, and where one of these is better, the exponents beside once more; then biases of users; at last
 * the lambda where the parabola through the best RMSE and those beside it is least. These fits only have to
 * choose: their gap may be larger than the one that the fit on all ratings has to reach. The fits beyond the
 * best lambda are the dearest of a path, for the ranks rise: most of what is saved is saved there.
 */
#include <inttypes.h>
#include <math.h>

#include "cmd/fit.h"
#include "cmd/report.h"

static const double HELD_OUT = 0.1;
/* lambda falls by the factor of path's grid, down to where no optimum was ever seen. */
static const double MIN_RATIO = 1e-4;
enum { LAMBDAS = 40, LATER_RISES = 1 };
/* The best lambdas of the candidates are near each other: later ones begin this much above the best so far,
 * and end with the first rise. */
static const double ABOVE = 4;
/* A rise by so much of the RMSE is no accident: one is enough for the first candidate, too. */
static const double CLEAR_RISE = 0.002;
/* From so much above the best lambda on, the RMSE falls by less from each lambda to the next. */
static const double NEAR = 1.5;

/* A lambda that was tried. */
typedef struct {
    double lambda, rmse;
} point;

/* One candidate on its way. */
typedef struct {
    fit_part part;
    int center, best_center; /* of this walk; of the best model so far */
    gcg_norm norm, best_norm;
    point last;   /* the lambda before */
    double least; /* RMSE of this walk */
    int rises, most_rises, later, cut;
    unsigned walked[GCG_CENTER_BOTH + 1]; /* bit k: this centring was tried with exponents[k] */
    point around[3]; /* before the best of all, that one, and after it; lambda 0: there is none */
} candidate;

/* The best model so far is kept: the fit on all ratings starts from it. */
static gcg_status keep_model(fit_run *f, candidate *c, const fit_log_row *row)
{
    gcg_status status = fit_walk_keep(f);
    c->best_center = c->center;
    c->best_norm = c->norm;
    f->choice.lambda = row->lambda;
    f->choice.valid_rmse = row->valid_rmse;
    c->around[0] = c->last;
    c->around[1] = (point){row->lambda, row->valid_rmse};
    c->around[2] = (point){0, INFINITY};
    return status;
}

/* Has a later candidate come so near to the best lambda that its RMSE, which would have to fall further than
 * it just did, will not be the best any more? */
static int is_hopeless(const fit_choice *best, const candidate *c, const fit_log_row *row)
{
    return c->later && row->lambda <= NEAR * best->lambda &&
           row->valid_rmse - (c->last.rmse - row->valid_rmse) > best->valid_rmse;
}

static gcg_status take_try(fit_run *f, int *stop, void *user)
{
    candidate *c = user;
    const fit_log_row row = *fit_walk_row(f);
    fit_log_tried(&f->log, &row, fit_center_names[c->center], &c->norm);
    f->choice.tried++;
    c->rises = row.valid_rmse > c->last.rmse ? c->rises + 1 : 0;
    c->least = fmin(c->least, row.valid_rmse);
    *stop = c->rises >= c->most_rises || row.valid_rmse > c->least * (1 + CLEAR_RISE) ||
            is_hopeless(&f->choice, c, &row);
    c->cut = fit_was_cut(&f->result);
    gcg_status status = GCG_OK;
    if (row.valid_rmse < f->choice.valid_rmse)
        status = keep_model(f, c, &row);
    else if (c->last.rmse <= f->choice.valid_rmse)
        c->around[2] = (point){row.lambda, row.valid_rmse};
    c->last = (point){row.lambda, row.valid_rmse};
    return status;
}

/* The ratings to fit and those to choose by. */
static gcg_status part_of(const fit_run *f, int center, fit_part *part, gcg_err *err)
{
    double below = f->s.valid ? 0 : 1, from = below - (f->s.valid ? 0 : HELD_OUT * (1 - f->s.holdout));
    gcg_status status = fit_part_init(f, (gcg_center_kind)center, from, below, part, err);
    if (f->s.valid) part->d.valid = f->d.valid;
    if (!status && part->d.valid.pairs.n == 0)
        status = gcg_fail(err, GCG_ERR_DATA, NULL, 0, 0,
                          "--lambda auto: there are no validation ratings to choose by; name a --valid FILE");
    return status;
}

/* The lambdas of a candidate. */
static gcg_status path_of(fit_run *f, candidate *c, fit_lambdas *path)
{
    fit_settings grid = {.n_lambdas = LAMBDAS, .min_ratio = MIN_RATIO};
    double lambda_max = 0;
    int cut = 0;
    gcg_status status = fit_walk_lambda_max(f, &c->part.d.ratings.x, &lambda_max, &cut);
    c->later = f->choice.tried > 0;
    c->most_rises = c->later ? LATER_RISES : FIT_RISES;
    if (c->later) lambda_max = fmin(lambda_max, ABOVE * f->choice.lambda);
    *path = fit_lambdas_of(&grid, lambda_max);
    return status;
}

/* Fits of the part along the candidate's path; or, when there is one, at this lambda, from the best model. */
static gcg_status try_lambdas(fit_run *f, candidate *c, const double *lambda)
{
    const gcg_solver_settings set = f->set;
    fit_lambdas path = {.at = {lambda ? *lambda : 0}, .count = 1};
    gcg_status status = part_of(f, c->center, &c->part, &f->err);
    f->set.norm = c->norm;
    if (!status && !lambda) status = path_of(f, c, &path);
    if (!status) {
        c->last = (point){0, INFINITY};
        c->least = INFINITY;
        c->rises = 0;
        f->choice.held_out = c->part.d.valid.pairs.n;
        f->set.gap = fmax(set.gap, 1.0 / FIT_COARSE);
        f->set.start_u = f->set.start_v = NULL;
        if (lambda) {
            f->set.start_u = &f->walk.best.u;
            f->set.start_v = &f->walk.best.v;
        }
        status = fit_walk(f, &c->part.d, &path, take_try, c);
        c->cut |= f->walk.left;
    }
    f->set = set;
    gcg_solver_result_release(&f->result);
    fit_part_release(&c->part);
    return status;
}

/* Between the best lambda and those beside it: where the parabola in log lambda through the three is least.
 */
static gcg_status try_between(fit_run *f, candidate *c)
{
    const point *p = c->around;
    double falls = p[0].rmse - p[1].rmse, rises = p[2].rmse - p[1].rmse;
    if (c->cut || !(p[0].lambda > 0 && p[2].lambda > 0 && falls + rises > 0)) return GCG_OK;
    double lambda = p[1].lambda * pow(p[2].lambda / p[1].lambda, 0.5 * (falls - rises) / (falls + rises));
    c->center = c->best_center;
    c->norm = c->best_norm;
    return try_lambdas(f, c, &lambda);
}

double fit_lambda_for(double lambda, int64_t n, int64_t m)
{
    return lambda * sqrt((double)n / (double)m);
}

static const double exponents[] = {1, 0.8, 0.5, 0}; /* the ranks rise in this order, and the cost */
enum { EXPONENTS = sizeof exponents / sizeof *exponents, FIRST = 1 /* 0.8, best on MovieLens */ };

/* Whether c->center with exponents[at] is still to be tried; one that was is no better than the best. */
static int is_new(const candidate *c, int at)
{
    return at >= 0 && at < EXPONENTS && !(c->walked[c->center] >> at & 1);
}

static gcg_status try_norm(fit_run *f, candidate *c, int at)
{
    c->norm.exponent_user = c->norm.exponent_item = exponents[at];
    c->walked[c->center] |= 1u << at;
    return try_lambdas(f, c, NULL);
}

/* Tries exponents[at], and on in steps of `step` as long as each is better than all before. */
static gcg_status try_norms(fit_run *f, candidate *c, int at, int step)
{
    gcg_status status = GCG_OK;
    for (int better = 1; better && is_new(c, at) && !status && !c->cut; at += step) {
        double before = f->choice.valid_rmse;
        status = try_norm(f, c, at);
        better = f->choice.valid_rmse < before;
    }
    return status;
}

/* Where the exponent of the best norm stands. */
static int best_exponent(const candidate *c)
{
    int at = 0;
    while (exponents[at] < c->best_norm.exponent_user || exponents[at] > c->best_norm.exponent_user) at++;
    return at;
}

/* The exponents beside the best one, at the centring that was best with it. */
static gcg_status try_norms_beside(fit_run *f, candidate *c)
{
    const int at = best_exponent(c);
    double before = f->choice.valid_rmse;
    c->center = c->best_center;
    gcg_status status = try_norms(f, c, at + 1, 1);
    return status || f->choice.valid_rmse < before ? status : try_norms(f, c, at - 1, -1);
}

/* One centring with the best norm. Where users and items are centred, another norm may be best than where
 * they are not: those beside it are tried, too. */
static gcg_status try_center(fit_run *f, candidate *c, int center)
{
    c->center = center;
    c->norm = c->best_norm;
    if (f->s.has_norm_weights) return try_lambdas(f, c, NULL);
    const int at = best_exponent(c);
    gcg_status status = try_norm(f, c, at);
    for (int i = at - 1; i <= at + 1 && center == GCG_CENTER_BOTH && !status && !c->cut; i += 2)
        if (is_new(c, i)) status = try_norm(f, c, i);
    return status;
}

/* The centrings that have not been tried. */
static gcg_status try_centers(fit_run *f, candidate *c, int tried)
{
    static const int centers[] = {GCG_CENTER_BOTH, GCG_CENTER_USER, GCG_CENTER_ITEM, GCG_CENTER_GLOBAL,
                                  GCG_CENTER_NONE};
    gcg_status status = GCG_OK;
    for (int i = 0; i < (int)(sizeof centers / sizeof *centers) && !status && !c->cut; i++)
        if (centers[i] != tried) status = try_center(f, c, centers[i]);
    return status;
}

/* The norm without centring, the centring for it, and the norm once more where that has changed. */
static gcg_status try_all(fit_run *f, candidate *c)
{
    const int first = c->center, norm_is_free = !f->s.has_norm_weights;
    gcg_status status = norm_is_free ? try_norm(f, c, FIRST) : try_lambdas(f, c, NULL);
    if (!status && !c->cut && norm_is_free) status = try_norms_beside(f, c);
    if (!status && !c->cut && !f->s.has_center) status = try_centers(f, c, first);
    if (status || c->cut || !norm_is_free || c->best_center == first) return status;
    return try_norms_beside(f, c);
}

static const double ridges[] = {3, 7, 16}; /* of users' biases */
enum { RIDGES = sizeof ridges / sizeof *ridges, FIRST_RIDGE = 1 };

/* Biases of users with the best norm and centring: the middle ridge and, where it is better than none, those
 * beside it. */
static gcg_status try_biases(fit_run *f, candidate *c)
{
    static const int order[RIDGES] = {FIRST_RIDGE, FIRST_RIDGE - 1, FIRST_RIDGE + 1};
    double before = f->choice.valid_rmse;
    gcg_status status = GCG_OK;
    c->center = c->best_center;
    for (int i = 0; i < RIDGES && !status && !c->cut && (i == 0 || f->choice.valid_rmse < before); i++) {
        c->norm = c->best_norm;
        c->norm.user_bias = ridges[order[i]];
        status = try_lambdas(f, c, NULL);
    }
    return status;
}

gcg_status fit_choose(fit_run *f)
{
    candidate c = {.center = f->s.has_center ? f->s.center : GCG_CENTER_NONE, .norm = f->s.norm};
    int64_t all = f->d.ratings.x.nnz;
    f->choice = (fit_choice){.made = 1, .valid_rmse = INFINITY};
    f->log.silent = 1;
    fit_start_clock(f);
    double deadline = f->deadline;
    if (deadline < INFINITY) f->deadline -= 0.5 * f->s.max_time;
    gcg_status status = try_all(f, &c);
    int biases_are_free = !f->s.has_user_bias && !f->s.has_norm_weights;
    if (!status && !f->walk.left && !c.cut && biases_are_free) status = try_biases(f, &c);
    if (!status && !f->walk.left) status = try_between(f, &c);
    if (f->walk.left) return status;
    f->log.silent = 0;
    f->deadline = deadline;
    if (status) return status;
    int64_t fitted = f->s.valid ? all : all - f->choice.held_out;
    f->s.center = c.best_center;
    f->s.norm = f->set.norm = c.best_norm;
    f->set.lambda = fit_lambda_for(f->choice.lambda, all, fitted);
    f->set.start_u = &f->walk.best.u;
    f->set.start_v = &f->walk.best.v;
    report_note(
        "lambda %.10g on %" PRId64 " of %" PRId64
        " ratings, --center %s --norm-weights %g --user-bias %g: validation RMSE %.6g, the best of %" PRId64
        " fits",
        f->choice.lambda, fitted, all, fit_center_names[f->s.center], f->s.norm.exponent_user,
        f->s.norm.user_bias, f->choice.valid_rmse, f->choice.tried);
    report_note("all ratings: lambda %.10g", f->set.lambda);
    return GCG_OK;
}
