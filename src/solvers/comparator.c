/* The loop of the comparators: see comparator.h. */
#include "solvers/comparator.h"

#include <math.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "maths/certificate.h"
#include "maths/linop.h"
#include "maths/tall.h"
#include "solvers/saver.h"
#include "steps/polar.h"
#include "steps/rotate.h"

typedef struct {
    const gcg_method *method;
    gcg_comparator c;
    const gcg_solver_settings *set;
    gcg_factors u, v; /* of the iterate, balanced */
    double *s;        /* and its singular values */
    gcg_progress now;
    double loss, value; /* 1/2 ||R||^2, and f */
    double before;      /* f an iteration ago */
    double zero;        /* F(0) */
    double own, most;   /* seconds of the method's work, and where they end */
    double longest;     /* of its steps */
    gcg_watch watch;
    gcg_saver saver;
} run;

static const double GRACE = 0.5; /* seconds for the end of a method whose time is over */

static int32_t rank_of(const gcg_csr *x, int32_t wanted)
{
    int32_t least = x->rows < x->cols ? x->rows : x->cols;
    return wanted > 0 && wanted < least ? wanted : least;
}

/* Nothing goes on in double later: a small gap has double from the start. */
static gcg_dtype type_of(const gcg_csr *x, const gcg_solver_settings *set)
{
    const double double_gap = 1e-5;
    int small = set->precision == GCG_PRECISION_AUTO && set->gap < double_gap;
    return small ? GCG_DOUBLE : gcg_solver_first_type(x, set);
}

static void release(run *r)
{
    gcg_pass_free(r->c.pass);
    gcg_mem_free(r->c.r);
    gcg_mem_free(r->s);
    gcg_saver_release(&r->saver);
    gcg_factors_release(&r->c.u);
    gcg_factors_release(&r->c.v);
    gcg_factors_release(&r->u);
    gcg_factors_release(&r->v);
}

/* What the course from the next measure() on depends on. U and V come into what begin() made of them; later
 * steps may have dropped columns. */
static gcg_status state(void *self, const gcg_state_stream *s, gcg_err *err)
{
    run *r = self;
    gcg_comparator *c = &r->c;
    int32_t k = c->u.k;
    gcg_status status = gcg_state_integer(s, &r->now.iter, err);
    if (!status) status = gcg_state_int32(s, &k, 0, k, err);
    if (!status) status = gcg_state_real(s, &r->before, err);
    if (!status) status = gcg_state_real(s, &r->own, err);
    if (!status) status = gcg_state_real(s, &c->passes, err);
    if (!status) status = gcg_state_integer(s, &c->matvecs, err);
    if (status) return status;
    if (!s->saving) {
        gcg_tall_cut(&c->u, k);
        gcg_tall_cut(&c->v, k);
        r->most = r->own + r->set->max_time;
    }
    status = gcg_state_entries(s, &c->u, err);
    if (!status) status = gcg_state_entries(s, &c->v, err);
    return status || !r->method->state ? status : r->method->state(r->method->self, c, s, err);
}

static gcg_status init(run *r, const gcg_csr *x, gcg_err *err)
{
    int32_t k = rank_of(x, r->set->rank);
    gcg_dtype type = type_of(x, r->set);
    r->watch = gcg_solver_watch(r->set);
    r->c = (gcg_comparator){.x = x, .set = r->set, .type = type, .watch = &r->watch};
    r->zero = 0.5 * gcg_csr_value_stats(x).sum_squares;
    r->now.dual = NAN;
    r->before = INFINITY;
    r->most = r->set->max_time;
    r->saver = gcg_saver_of(r->set, &r->watch, state, r);
    gcg_status status = gcg_pass_new(x, &r->c.pass, err);
    if (!status) status = gcg_factors_init(&r->c.u, x->rows, k, type, err);
    if (!status) status = gcg_factors_init(&r->c.v, x->cols, k, type, err);
    if (status) return status;
    r->c.r = gcg_mem_alloc_array(x->nnz, type);
    r->s = gcg_mem_zalloc_array(k, sizeof *r->s);
    return r->c.r && r->s ? GCG_OK : gcg_fail_memory(err, "residual");
}

static void set_gap(run *r)
{
    r->now.gap = isnan(r->now.dual) ? NAN : gcg_certificate_gap(r->now.objective, r->now.dual);
}

/* Loss, trace norm and objective of the balanced factors. */
static gcg_status take_figures(run *r, gcg_err *err)
{
    r->loss = 0.5 * gcg_pass_residual(r->c.pass, &r->u, &r->v, r->c.r);
    r->now.nuc_norm = gcg_par_sum(r->s, r->u.k);
    r->now.objective = r->loss + r->set->lambda * r->now.nuc_norm;
    set_gap(r);
    r->now.rank = r->u.k;
    r->now.train_rmse = sqrt(2 * r->loss / (double)r->c.x->nnz);
    r->now.matvecs = r->c.matvecs;
    r->now.passes = r->c.passes;
    r->now.u = &r->u;
    r->now.v = &r->v;
    if (isfinite(r->now.objective)) return GCG_OK;
    return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "the objective is not finite");
}

/* 1/2 (||U||^2 + ||V||^2); the padding of rows is zero. */
static double half_norms(const gcg_comparator *c)
{
    gcg_vector_ops ops = gcg_kernels_vector_ops(c->type);
    int64_t u = (int64_t)c->u.rows * c->u.stride, v = (int64_t)c->v.rows * c->v.stride;
    return 0.5 * (ops.dot(u, c->u.data, c->u.data) + ops.dot(v, c->v.data, c->v.data));
}

/* The balanced copy of the iterate and all that is logged of it; f. */
static gcg_status measure(run *r, gcg_err *err)
{
    const double drop = r->c.type == GCG_FLOAT ? 1e-7 : 1e-14; /* relative: below it a column is rounding */
    gcg_watch_phase(&r->watch, "measure");
    gcg_factors_release(&r->u);
    gcg_factors_release(&r->v);
    gcg_status status = gcg_factors_copy(&r->c.u, r->c.type, &r->u, err);
    if (!status) status = gcg_factors_copy(&r->c.v, r->c.type, &r->v, err);
    if (!status) status = gcg_rotate_balance(&r->u, &r->v, drop, r->s, err);
    if (!status) status = take_figures(r, err);
    if (!status) r->value = r->loss + r->set->lambda * half_norms(&r->c);
    return status;
}

/* A step of the method, timed. Its deadline is that of the method's own time. */
static gcg_status work(run *r, gcg_status (*step)(void *, gcg_comparator *, gcg_err *), gcg_err *err)
{
    if (!step) return GCG_OK;
    double start = gcg_clock_now();
    r->watch.deadline = start + r->most - r->own;
    gcg_watch_phase(&r->watch, "sweep");
    gcg_status status = step(r->method->self, &r->c, err);
    double seconds = gcg_clock_now() - start;
    r->own += seconds;
    r->longest = fmax(r->longest, seconds);
    gcg_watch_over(&r->watch);
    r->watch.deadline = INFINITY; /* what is measured between does not count */
    return status;
}

static gcg_status report(run *r, gcg_err *err)
{
    r->now.time_s = r->own;
    return r->set->progress ? r->set->progress(&r->now, r->set->progress_user, err) : GCG_OK;
}

static gcg_stop reason_of_cut(void)
{
    return gcg_interrupt_requested() ? GCG_STOP_SIGNAL : GCG_STOP_MAX_TIME;
}

static int decide(run *r, gcg_stop *stop)
{
    const double nothing = 1e-20; /* of F(0): lambda = 0, and the ratings are met exactly */
    double fall = r->before - r->value, little = r->set->gap / GCG_COMPARATOR_SHARE * r->value;
    if (gcg_watch_over(&r->watch)) /* the last sweep may have been cut short */
        *stop = reason_of_cut();
    else if (r->now.iter > 0 && (fabs(fall) <= little || r->value <= nothing * r->zero))
        *stop = GCG_STOP_CONVERGED;
    else if (r->now.iter >= r->set->max_iter)
        *stop = GCG_STOP_MAX_ITER;
    else if (fall < 0)
        *stop = GCG_STOP_STALLED;
    else
        return 0;
    return 1;
}

/* ---- the bound of the last iterate ---- */

static void times(void *ctx, const double *x, double *y)
{
    gcg_comparator *c = ctx;
    gcg_residual r = gcg_comparator_residual(c);
    gcg_pass_matvec(c->pass, &r, x, y);
}

static void times_t(void *ctx, const double *y, double *x)
{
    gcg_comparator *c = ctx;
    gcg_residual r = gcg_comparator_residual(c);
    gcg_pass_matvec_t(c->pass, &r, y, x);
}

static const double BOUND_EPS = 1e-3, BOUND_P = 1e-6; /* Lanczos: SOLVER.md sec. 4, rule 4 */

/* An upper bound of sigma_1(R), R != 0, and its rule. */
static gcg_status bound_sigma(run *r, double *sigma, gcg_err *err)
{
    const double estimate = 1e-8, guard = 1e-8, most = 0.1; /* Cholesky: rule 3 */
    gcg_comparator *c = &r->c;
    gcg_linop op = {c->x->rows, c->x->cols, c, times, times_t, 0, &r->watch};
    double found = 0;
    *sigma = INFINITY;
    if (rank_of(c->x, 0) <= GCG_COMPARATOR_CHOLESKY) {
        gcg_csr residual = *c->x;
        residual.val_f = c->type == GCG_FLOAT ? c->r : NULL;
        residual.val_d = c->type == GCG_DOUBLE ? c->r : NULL;
        gcg_status status = gcg_polar_top(&op, estimate, r->set->seed, &found, NULL, NULL, err);
        if (!status) status = gcg_certificate_cholesky(&residual, found, guard, most, &r->watch, sigma, err);
        r->now.rule = GCG_CERT_CHOLESKY;
        if (status || *sigma < INFINITY) return status;
    }
    r->now.rule = GCG_CERT_PROBABILITY;
    r->now.probability = BOUND_P;
    return gcg_polar_bound(&op, BOUND_EPS, BOUND_P, r->set->seed, GCG_POLAR_BASIS, sigma, NULL, err);
}

static gcg_status bound(run *r, gcg_stop *stop, gcg_err *err)
{
    if (r->set->lambda == 0 || gcg_stop_is_cut(*stop)) return GCG_OK;
    gcg_watch_phase(&r->watch, "certify");
    gcg_comparator *c = &r->c;
    gcg_residual residual = gcg_comparator_residual(c);
    double moments[2], sigma;
    gcg_pass_moments(c->pass, &residual, moments);
    r->now.dual = 0;
    r->now.rule = GCG_CERT_CHOLESKY; /* R = 0: Y = 0 is the best dual point */
    if (moments[0] > 0) {
        gcg_status status = bound_sigma(r, &sigma, err);
        if (status) return status;
        r->now.dual = gcg_certificate_dual(r->set->lambda, sigma, moments[1], moments[0]);
    }
    if (gcg_watch_over(&r->watch)) { /* it may have been cut short */
        *stop = reason_of_cut();
        r->now.dual = NAN;
        r->now.rule = GCG_CERT_NONE;
        r->now.probability = 0;
    }
    set_gap(r);
    return GCG_OK;
}

/* ---- the loop ---- */

/* The end of a method may take as long as a sweep. */
static int has_time_for_finish(run *r, gcg_stop stop)
{
    if (!gcg_stop_is_cut(stop)) return 1;
    gcg_watch_extend(&r->watch, INFINITY);
    return r->longest <= GRACE;
}

/* W = 0 when nothing better was found: at lambda_max and above it is the optimum, and a limit that is never
 * reached. */
static gcg_status settle_zero(run *r, gcg_stop *stop, gcg_err *err)
{
    if (*stop != GCG_STOP_CONVERGED || r->set->lambda == 0 || r->now.objective < r->zero) return GCG_OK;
    *stop = GCG_STOP_ZERO;
    gcg_tall_cut(&r->u, 0);
    gcg_tall_cut(&r->v, 0);
    return take_figures(r, err);
}

/* The method's last step, and the bound, in which a signal may still be heard. */
static gcg_status finish(run *r, gcg_stop *stop, gcg_err *err)
{
    gcg_status status = GCG_OK;
    if (r->method->finish && has_time_for_finish(r, *stop)) {
        status = work(r, r->method->finish, err);
        if (!status) status = measure(r, err);
    }
    if (!status) status = settle_zero(r, stop, err);
    return status ? status : bound(r, stop, err);
}

static gcg_status iterate(run *r, gcg_stop *stop, gcg_err *err)
{
    int left = 0;
    gcg_status status = work(r, r->method->begin, err);
    if (!status) status = gcg_saver_resume(&r->saver, err);
    for (; !status; r->now.iter++) {
        status = gcg_saver_between(&r->saver, r->now.iter, &left, err);
        if (status || left) break;
        status = measure(r, err);
        if (status || decide(r, stop)) break;
        status = report(r, err);
        r->before = r->value;
        if (!status) status = work(r, r->method->sweep, err);
    }
    if (left) *stop = GCG_STOP_SIGNAL;
    if (!status && !gcg_solver_left(r->set, *stop)) status = finish(r, stop, err);
    if (!status) status = gcg_saver_end(&r->saver, r->now.iter, *stop, err);
    return status || gcg_solver_left(r->set, *stop) ? status : report(r, err);
}

/* One call of gcg_comparator_run, for the session. */
typedef struct {
    const gcg_method *method;
    const gcg_csr *x;
    const gcg_solver_settings *settings;
    gcg_solver_result *result;
    gcg_err *err;
    gcg_status status;
} job;

/* What was found becomes the result. */
static void give(run *r, gcg_solver_result *result)
{
    result->u = r->u;
    result->v = r->v;
    result->singular_values = r->s;
    result->last.u = &result->u;
    result->last.v = &result->v;
    r->u = r->v = (gcg_factors){0};
    r->s = NULL;
}

static void run_job(void *ctx)
{
    job *j = ctx;
    run r = {.method = j->method, .set = j->settings};
    *j->result = (gcg_solver_result){0};
    j->status = init(&r, j->x, j->err);
    if (!j->status) j->status = iterate(&r, &j->result->stop, j->err);
    j->result->last = r.now;
    j->result->last.u = j->result->last.v = NULL;
    if (!j->status && !gcg_solver_left(j->settings, j->result->stop)) give(&r, j->result);
    release(&r);
}

gcg_status gcg_comparator_run(const gcg_method *method, const gcg_csr *x, const gcg_solver_settings *settings,
                              gcg_solver_result *result, gcg_err *err)
{
    job j = {method, x, settings, result, err, GCG_OK};
    gcg_par_session(run_job, &j);
    return j.status;
}

gcg_needs gcg_comparator_needs(const gcg_plan_data *d, const gcg_solver_settings *set, int32_t rank)
{
    gcg_needs n = {{0}};
    int64_t least = d->rows < d->cols ? d->rows : d->cols, sides = (int64_t)d->rows + d->cols;
    int64_t k = rank > 0 && rank < least ? rank : least;
    n.bytes[GCG_NEED_RESIDUALS] = d->nnz * (int64_t)d->type;
    n.bytes[GCG_NEED_PASSES] = d->passes;
    n.bytes[GCG_NEED_KEPT] = (d->copies + d->states) * gcg_plan_rows(sides, k, d->type);
    n.bytes[GCG_NEED_FACTORS] = 2 * gcg_plan_rows(sides, k, d->type); /* the iterate, its balanced copy */
    n.bytes[GCG_NEED_LAMBDA_MAX] = gcg_polar_top_bytes(d->rows, d->cols);
    n.bytes[GCG_NEED_BASIS] = gcg_plan_rotate(k);
    if (set->lambda == 0) return n;
    if (least <= GCG_COMPARATOR_CHOLESKY)
        n.bytes[GCG_NEED_PROOF] = gcg_certificate_bytes(d->rows, d->cols, d->nnz, d->type);
    else
        n.bytes[GCG_NEED_PROOF] =
            gcg_polar_bound_bytes(d->rows, d->cols, BOUND_EPS, BOUND_P, GCG_POLAR_BASIS);
    return n;
}
