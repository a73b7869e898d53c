/* Algorithm 3. The loop below is the paper's; what each line does to the factors is the problem's business
 * (problem.h), when to stop is this file's. */
#include "solvers/gcg.h"

#include <math.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/watch.h"
#include "maths/certificate.h"
#include "solvers/saver.h"

enum { WINDOW = 8 /* iterations without progress that count as a stall */ };
/* Seconds for the last point of a run whose time is over, if they are enough; and how many times as long as
 * all that was before it the first look at a point will take: it has tens of products with blocks. */
static const double GRACE = 0.5, FIRST_LOOK = 50;

/* How the run has been going. */
typedef struct {
    const gcg_problem *problem;
    const gcg_solver_settings *set;
    gcg_watch *watch;
    double start;
    double look_seconds; /* that the last look at a point took; of the first, a guess */
    int ended;           /* the watch was over: no further iteration, for this reason */
    gcg_stop why;
    gcg_progress now;
    gcg_bound proved; /* best dual value that is proved */
    double estimated; /* best dual value by estimate or proof */
    double last_objective;
    double best_gap; /* smallest so far, and when it last fell by a twentieth */
    int64_t best_gap_iter;
    double objective_then; /* objective at best_gap_iter */
    double failed_gap;     /* estimated gap at the last proof that failed */
    int32_t added;         /* atoms of the last step */
    double scale;          /* objective at W = 0 */
    gcg_saver saver;
} run;

/* Has the time run out, or was there a signal? Once so, always so. */
static int ended(run *r)
{
    if (!r->ended && gcg_watch_over(r->watch)) {
        r->ended = 1;
        r->why = gcg_interrupt_requested() ? GCG_STOP_SIGNAL : GCG_STOP_MAX_TIME;
    }
    return r->ended;
}

static double elapsed(const run *r)
{
    return gcg_clock_now() - r->start;
}

static void take_value(run *r, const gcg_point_value *value)
{
    r->now.objective = value->objective;
    r->now.nuc_norm = value->rho;
    r->now.rank = value->rank;
}

static void take_bound(run *r, const gcg_bound *bound)
{
    if (bound->rule > GCG_CERT_ESTIMATE) {
        if (r->proved.rule == GCG_CERT_NONE || bound->dual > r->proved.dual) r->proved = *bound;
        r->estimated = r->proved.dual; /* what estimates said before was too high */
    } else if (bound->dual > r->estimated) {
        r->estimated = bound->dual;
    }
}

/* The printed bound and gap: by the best proof, or by the best estimate. */
static void set_gap(run *r, int proved)
{
    gcg_bound shown = proved ? r->proved : (gcg_bound){r->estimated, GCG_CERT_ESTIMATE, 0};
    if (r->problem->lambda == 0) shown = (gcg_bound){NAN, GCG_CERT_NONE, 0};
    r->now.dual = shown.dual;
    r->now.rule = shown.rule;
    r->now.probability = shown.probability;
    r->now.gap = r->problem->lambda == 0 ? NAN : gcg_certificate_gap(r->now.objective, shown.dual);
}

/* No further progress: neither gap nor objective moved over the window. */
static int stalled(run *r)
{
    double rounding = r->now.u->type == GCG_FLOAT ? 1e-9 : 1e-14;
    if (r->now.gap < 0.95 * r->best_gap || r->now.iter == 0) {
        r->best_gap = r->now.gap;
        r->best_gap_iter = r->now.iter;
        r->objective_then = r->now.objective;
    }
    return r->now.iter - r->best_gap_iter >= WINDOW &&
           r->objective_then - r->now.objective <= rounding * r->now.objective;
}

/* lambda = 0: the surrogate has no certificate; stop when an iteration at full rank gains less than the gap.
 */
static int settled(const run *r, int at_cap)
{
    double gain = r->last_objective - r->now.objective;
    return (at_cap || r->added == 0) &&
           (gain < r->set->gap * r->now.objective || r->now.objective <= 1e-20 * r->scale);
}

/* The rank limit binds and the iterations have stopped gaining. */
static int capped(const run *r, int at_cap)
{
    const double little = 1e-6; /* of the objective, in one iteration */
    return at_cap &&
           r->last_objective - r->now.objective <= fmin(r->set->gap, 1) * little * r->now.objective &&
           r->now.gap > 0.8 * r->best_gap && r->now.iter > 2;
}

/* Decides whether to stop after this evaluation; *stop is set when so. */
static gcg_status decide(run *r, int *done, gcg_stop *stop, gcg_err *err)
{
    const gcg_solver_settings *set = r->set;
    const gcg_problem *problem = r->problem;
    gcg_bound bound;
    gcg_status status = GCG_OK;
    int at_cap = set->rank > 0 && r->now.rank >= set->rank;
    *done = 0;
    if (problem->lambda > 0) {
        status = problem->bound(problem->self, GCG_BOUND_ESTIMATE, set->gap, &bound, err);
        if (status) return status;
        take_bound(r, &bound);
        set_gap(r, bound.rule > GCG_CERT_ESTIMATE);
        double own =
            gcg_certificate_gap(r->now.objective, bound.dual); /* of this residual, not of the best one */
        if (bound.rule == GCG_CERT_ESTIMATE && own <= set->gap && !(own > 0.8 * r->failed_gap) &&
            !gcg_watch_over(r->watch)) {
            gcg_watch_phase(r->watch, "certify");
            double before = bound.dual;
            status = problem->bound(problem->self, GCG_BOUND_PROOF, set->gap, &bound, err);
            if (status) return status;
            take_bound(r, &bound);
            if (bound.dual < before && bound.rule == GCG_CERT_ESTIMATE && !r->watch->over) { /* refuted */
                r->failed_gap = own;
                r->estimated = fmax(bound.dual, r->proved.rule > GCG_CERT_NONE ? r->proved.dual : -INFINITY);
            }
            set_gap(r, bound.rule > GCG_CERT_ESTIMATE);
        }
        *done = r->now.rule > GCG_CERT_ESTIMATE && r->now.gap <= set->gap;
        *stop = r->now.rank == 0 ? GCG_STOP_ZERO : GCG_STOP_CONVERGED;
    } else {
        set_gap(r, 0);
        *done = r->now.iter > 0 && settled(r, at_cap);
        *stop = GCG_STOP_CONVERGED;
    }
    if (*done) return GCG_OK;
    *done = 1;
    int is_stalled = stalled(r);
    if (ended(r))
        *stop = r->why;
    else if (r->now.iter >= set->max_iter)
        *stop = GCG_STOP_MAX_ITER;
    else if (problem->lambda > 0 && capped(r, at_cap))
        *stop = GCG_STOP_RANK_CAP;
    else if (is_stalled)
        *stop = at_cap ? GCG_STOP_RANK_CAP : GCG_STOP_STALLED;
    else
        *done = 0;
    return GCG_OK;
}

/* The bound of a run that stops early, with what time there is. F is nowhere negative: 0 is one for certain.
 */
static gcg_status last_bound(run *r, gcg_err *err)
{
    gcg_bound bound;
    if (r->problem->lambda > 0 && r->now.rule == GCG_CERT_NONE) r->now.rule = GCG_CERT_CHOLESKY;
    if (r->problem->lambda == 0 || r->now.rule > GCG_CERT_ESTIMATE || r->watch->over) return GCG_OK;
    gcg_watch_phase(r->watch, "certify");
    gcg_status status = r->problem->bound(r->problem->self, GCG_BOUND_LAST, r->set->gap, &bound, err);
    if (status) return status;
    take_bound(r, &bound);
    set_gap(r, r->proved.rule > GCG_CERT_ESTIMATE);
    return GCG_OK;
}

static gcg_status report(run *r, gcg_err *err)
{
    r->problem->describe(r->problem->self, &r->now);
    r->now.time_s = elapsed(r);
    return r->set->progress ? r->set->progress(&r->now, r->set->progress_user, err) : GCG_OK;
}

static gcg_status evaluate(run *r, gcg_err *err)
{
    gcg_point_value value;
    gcg_status status = r->problem->evaluate(r->problem->self, &value, err);
    if (status) return status;
    if (!isfinite(value.objective))
        return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "the objective is not finite");
    r->last_objective = r->now.objective;
    take_value(r, &value);
    r->problem->describe(r->problem->self, &r->now);
    if (r->now.iter == 0) r->scale = r->last_objective = value.objective;
    return GCG_OK;
}

/* Goes on in double precision when float can do no more: the gap is near float's floor and has to get below
 * it (SOLVER.md sec. 6), it does not fall any more where that floor may be, or the run has stalled. */
static gcg_status go_on_in_double(run *r, int *done, gcg_stop stop, gcg_err *err)
{
    const double wanted = 1e-5,
                 floor = 2e-5, /* gaps: floats reach the first safely, the second is near enough */
        some_floor = 1e-4;     /* of problems where rounding counts for more */
    int widened = 0, stuck = r->now.gap < some_floor && r->now.iter - r->best_gap_iter >= 2;
    int near_floor = !*done && (stuck || (r->set->gap < wanted && r->now.gap < floor));
    double polar;
    if (r->watch->over || (!near_floor && !(*done && stop == GCG_STOP_STALLED))) return GCG_OK;
    gcg_status status = r->problem->widen(r->problem->self, &widened, err);
    if (status || !widened) return status;
    *done = 0;
    r->best_gap = r->failed_gap = INFINITY;
    status = evaluate(r, err);
    return status ? status : r->problem->polar(r->problem->self, &polar, err);
}

/* Lines 7, 8 and 3, and whether to stop there. When the watch is over meanwhile, it is time to. */
static gcg_status look(run *r, int *done, gcg_stop *stop, gcg_err *err)
{
    double polar, begin = gcg_clock_now();
    gcg_watch_phase(r->watch, "evaluate");
    gcg_status status = evaluate(r, err);
    if (!status && !gcg_watch_over(r->watch)) {
        gcg_watch_phase(r->watch, "polar");
        status = r->problem->polar(r->problem->self, &polar, err);
    }
    if (!status && !gcg_watch_over(r->watch)) {
        status = decide(r, done, stop, err);
        if (!status) status = go_on_in_double(r, done, *stop, err);
    }
    if (!status && !*done && ended(r)) {
        *done = 1;
        *stop = r->why;
    }
    r->look_seconds = gcg_clock_now() - begin;
    return status;
}

/* No time for the next look: 1, and the reason. A signal ends a run that has checkpoints without one: nothing
 * more is wanted of its point. */
static int no_time_to_look(run *r, gcg_stop *stop)
{
    if (!ended(r)) return 0;
    *stop = r->why;
    if (r->look_seconds > GRACE || gcg_solver_left(r->set, *stop)) return 1;
    gcg_watch_extend(r->watch, GRACE);
    return 0;
}

/* The last point: its bound, its value, the last report. */
static gcg_status finish(run *r, gcg_err *err)
{
    gcg_point_value value;
    gcg_status status = last_bound(r, err);
    if (status) return status;
    gcg_watch_phase(r->watch, "evaluate");
    status = r->problem->finish(r->problem->self, &value, err);
    if (status) return status;
    if (!isfinite(value.objective))
        return gcg_fail(err, GCG_ERR_INTERNAL, NULL, 0, 0, "the objective is not finite");
    take_value(r, &value);
    r->now.gap = r->problem->lambda > 0 ? gcg_certificate_gap(r->now.objective, r->now.dual) : NAN;
    return report(r, err);
}

/* ---- checkpoints ---- */

/* What decide() and the report of a run that ends at once go by. */
static gcg_status own_state(run *r, const gcg_state_stream *s, gcg_err *err)
{
    gcg_progress *now = &r->now;
    int32_t rule = (int32_t)now->rule, proved = (int32_t)r->proved.rule;
    double seconds = elapsed(r);
    double *reals[] = {&now->objective,
                       &now->dual,
                       &now->gap,
                       &now->nuc_norm,
                       &now->probability,
                       &r->proved.dual,
                       &r->proved.probability,
                       &r->estimated,
                       &r->best_gap,
                       &r->objective_then,
                       &r->failed_gap,
                       &r->scale,
                       &seconds};
    gcg_status status = gcg_state_integer(s, &now->iter, err);
    if (!status) status = gcg_state_integer(s, &r->best_gap_iter, err);
    if (!status) status = gcg_state_int32(s, &now->rank, 0, INT32_MAX, err);
    if (!status) status = gcg_state_int32(s, &r->added, 0, INT32_MAX, err);
    if (!status) status = gcg_state_int32(s, &rule, GCG_CERT_NONE, GCG_CERT_CHOLESKY, err);
    if (!status) status = gcg_state_int32(s, &proved, GCG_CERT_NONE, GCG_CERT_CHOLESKY, err);
    for (size_t i = 0; i < sizeof reals / sizeof *reals && !status; i++)
        status = gcg_state_real(s, reals[i], err);
    if (status || s->saving) return status;
    now->rule = (gcg_certificate_rule)rule;
    r->proved.rule = (gcg_certificate_rule)proved;
    r->start = gcg_clock_now() - seconds;
    return GCG_OK;
}

static gcg_status whole_state(void *self, const gcg_state_stream *s, gcg_err *err)
{
    run *r = self;
    gcg_status status = own_state(r, s, err);
    return status ? status : r->problem->state(r->problem->self, s, err);
}

/* ---- the run ---- */

static gcg_status iterate(run *r, gcg_stop *stop, gcg_err *err)
{
    const gcg_problem *problem = r->problem;
    int done = 0, left;
    gcg_status status;
    for (;; r->now.iter++) {
        if ((status = gcg_saver_between(&r->saver, r->now.iter, &left, err))) return status;
        if (left) {
            r->ended = 1;
            r->why = GCG_STOP_SIGNAL;
        }
        if (no_time_to_look(r, stop)) break;
        if ((status = look(r, &done, stop, err))) return status;
        if (done) break;
        if ((status = report(r, err))) return status;
        if (gcg_watch_over(r->watch)) continue;
        if ((status = problem->step(problem->self, &r->added, err))) return status;
        gcg_watch_phase(r->watch, "improve");
        if ((status = problem->improve(problem->self, fmax(r->now.objective - r->estimated, 0), err)))
            return status;
    }
    status = gcg_saver_end(&r->saver, r->now.iter, *stop, err);
    return status || gcg_solver_left(r->set, *stop) ? status : finish(r, err);
}

gcg_status gcg_run(const gcg_problem *problem, const gcg_solver_settings *settings, double start,
                   gcg_watch *watch, gcg_stop *stop, gcg_progress *last, gcg_err *err)
{
    run r = {.problem = problem,
             .set = settings,
             .watch = watch,
             .start = start,
             .estimated = -INFINITY,
             .best_gap = INFINITY,
             .failed_gap = INFINITY};
    r.look_seconds = FIRST_LOOK * elapsed(&r);
    r.saver = gcg_saver_of(settings, watch, whole_state, &r);
    gcg_status status = gcg_saver_resume(&r.saver, err);
    if (!status) status = iterate(&r, stop, err);
    gcg_saver_release(&r.saver);
    *last = r.now;
    return status;
}
