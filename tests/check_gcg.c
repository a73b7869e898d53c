/* solvers/gcg: the driver alone, on a problem that plays from a script. */
#include "tests/naive.h"

#include "base/clock.h"
#include "solvers/gcg.h"

enum { STEPS = 40 };

/* What the problem answers in iteration i, and a record of what it was asked. */
typedef struct {
    double objective[STEPS], estimate[STEPS],
        proof[STEPS]; /* dual values; proof NAN: refuted, `estimate` less 1 */
    int32_t rank[STEPS], added;
    int iter, always, can_widen, widened, proofs, lasts;
    const char *fail;
    gcg_factors u, v;
    char asked[40 * STEPS];
    double gaps[STEPS];
    gcg_progress told[STEPS];
    int reports;
    gcg_watch *watch;
} script;

static void note(script *s, const char *what)
{
    ck_assert_uint_lt(strlen(s->asked) + strlen(what) + 1, sizeof s->asked);
    strcat(s->asked, what);
}

static gcg_status answer(script *s, const char *what)
{
    return s->fail && strcmp(s->fail, what) == 0 ? GCG_ERR_NOMEM : GCG_OK;
}

static gcg_status evaluate(void *self, gcg_point_value *value, gcg_err *err)
{
    script *s = self;
    (void)err;
    note(s, "e");
    s->u.k = s->v.k = s->rank[s->iter];
    *value = (gcg_point_value){s->objective[s->iter], 2, s->objective[s->iter], s->rank[s->iter]};
    return answer(s, "evaluate");
}

static gcg_status polar(void *self, double *estimate, gcg_err *err)
{
    (void)err;
    note(self, "p");
    *estimate = 1;
    return answer(self, "polar");
}

static gcg_status bound(void *self, gcg_bound_effort effort, double wanted_gap, gcg_bound *out, gcg_err *err)
{
    script *s = self;
    (void)err;
    (void)wanted_gap;
    *out = (gcg_bound){s->estimate[s->iter], GCG_CERT_ESTIMATE, 0};
    if (effort == GCG_BOUND_ESTIMATE) {
        note(s, "b");
        if (s->always) *out = (gcg_bound){s->proof[s->iter], GCG_CERT_CHOLESKY, 0}; /* proofs cost nothing */
        return answer(s, "bound");
    }
    note(s, effort == GCG_BOUND_PROOF ? "B" : "L");
    s->proofs += effort == GCG_BOUND_PROOF;
    s->lasts += effort == GCG_BOUND_LAST;
    if (isnan(s->proof[s->iter]))
        out->dual -= 1;
    else
        *out = (gcg_bound){s->proof[s->iter], GCG_CERT_PROBABILITY, 1e-6};
    return answer(s, effort == GCG_BOUND_PROOF ? "proof" : "last");
}

static gcg_status step(void *self, int32_t *added, gcg_err *err)
{
    script *s = self;
    (void)err;
    note(s, "s");
    *added = s->added;
    return answer(s, "step");
}

static gcg_status improve(void *self, double gap, gcg_err *err)
{
    script *s = self;
    (void)err;
    note(s, "i");
    s->gaps[s->iter] = gap;
    if (s->iter + 1 < STEPS) s->iter++;
    return answer(s, "improve");
}

static gcg_status widen(void *self, int *widened, gcg_err *err)
{
    script *s = self;
    (void)err;
    note(s, "w");
    *widened = s->can_widen;
    s->can_widen = 0;
    s->widened += *widened;
    if (*widened) s->u.type = s->v.type = GCG_DOUBLE;
    return answer(s, "widen");
}

static gcg_status finish(void *self, gcg_point_value *value, gcg_err *err)
{
    script *s = self;
    (void)err;
    note(s, "f");
    *value = (gcg_point_value){s->objective[s->iter], 2, s->objective[s->iter], s->rank[s->iter]};
    return answer(s, "finish");
}

static void describe(void *self, gcg_progress *progress)
{
    script *s = self;
    progress->u = &s->u;
    progress->v = &s->v;
}

static gcg_status listen(const gcg_progress *now, void *user, gcg_err *err)
{
    script *s = user;
    (void)err;
    ck_assert_int_lt(s->reports, STEPS);
    s->told[s->reports++] = *now;
    note(s, ".");
    return answer(s, "progress");
}

/* Objectives 100, 10 and then 9 + 1 / i, estimates from 5 up to 8, proofs as good, rank 1 after the start. */
static script usual(void)
{
    script s = {.added = 1, .u.type = GCG_FLOAT, .v.type = GCG_FLOAT};
    for (int i = 0; i < STEPS; i++) {
        s.objective[i] = i == 0 ? 100 : 9 + 1.0 / i;
        s.estimate[i] = s.proof[i] = 8 - 3.0 / (i + 1);
        s.rank[i] = i > 0;
    }
    return s;
}

typedef struct {
    gcg_status status;
    gcg_stop stop;
    gcg_progress last;
} outcome;

static outcome play(script *s, double lambda, double gap, gcg_solver_settings set)
{
    gcg_problem problem = {s, lambda, evaluate, polar, bound, step, improve, widen, finish, describe, NULL};
    outcome o = {0};
    set.gap = gap;
    set.progress = listen;
    set.progress_user = s;
    gcg_watch watch = gcg_watch_defaults();
    s->watch = &watch;
    watch.deadline = gcg_clock_now() + set.max_time;
    o.status = gcg_run(&problem, &set, gcg_clock_now(), &watch, &o.stop, &o.last, NULL);
    return o;
}

START_TEST(the_lines_of_the_algorithm_come_in_order)
{
    script s = usual();
    s.estimate[2] = s.proof[2] = 9.499;
    outcome o = play(&s, 1, 1e-3, gcg_solver_settings_defaults());
    ck_assert_int_eq(o.status, GCG_OK);
    ck_assert_int_eq(o.stop, GCG_STOP_CONVERGED);
    ck_assert_str_eq(s.asked, "epb.siepb.siepbBf.");
    ck_assert_double_eq(s.gaps[0], 95); /* F - D */
    ck_assert_double_eq(s.gaps[1], 3.5);
    ck_assert_int_eq(o.last.iter, 2);
    ck_assert_int_eq(o.last.rule, GCG_CERT_PROBABILITY);
    ck_assert_double_eq(o.last.probability, 1e-6);
    ck_assert_double_eq_tol(o.last.gap, 0.001 / 9.5, 1e-12);
}
END_TEST

START_TEST(a_refuted_estimate_is_taken_back_and_not_tried_again_at_once)
{
    script s = usual();
    for (int i = 1; i < 6; i++)
        s.estimate[i] = 8.9995, s.proof[i] = NAN; /* gaps of 0.1, 0.05, ... wanted: 0.2 */
    s.estimate[0] = s.proof[0] = 1;
    s.proof[6] = s.estimate[6] = 9;
    outcome o = play(&s, 1, 0.2, gcg_solver_settings_defaults());
    ck_assert_int_eq(o.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(o.last.iter, 6);
    ck_assert_int_lt(s.proofs, 6);
    ck_assert_int_ge(s.proofs, 3);
    for (int r = 1; r < 6; r++) { /* what is shown is an estimate, lowered where it was refuted */
        ck_assert_int_eq(s.told[r].rule, GCG_CERT_ESTIMATE);
        ck_assert_double_le(s.told[r].dual, 8.9995);
    }
    ck_assert_double_le(s.told[1].dual, 8);
    ck_assert_double_eq(o.last.dual, 9);
}
END_TEST

START_TEST(the_best_proved_bound_is_kept)
{
    script s = usual();
    for (int i = 0; i < STEPS; i++) s.proof[i] = i == 1 ? 8.6 : 8.5;
    s.always = 1;
    gcg_solver_settings set = gcg_solver_settings_defaults();
    set.max_iter = 3;
    outcome o = play(&s, 1, 1e-3, set);
    ck_assert_int_eq(o.stop, GCG_STOP_MAX_ITER);
    for (int r = 1; r < s.reports; r++) ck_assert_double_eq(s.told[r].dual, 8.6);
    ck_assert_int_eq(o.last.rule, GCG_CERT_CHOLESKY);
    ck_assert_ptr_null(strpbrk(s.asked, "BL")); /* nothing more to prove */
}
END_TEST

START_TEST(a_zero_model_that_is_proved_is_told_as_such)
{
    script s = usual();
    s.estimate[0] = s.proof[0] = 100;
    outcome o = play(&s, 1, 1e-3, gcg_solver_settings_defaults());
    ck_assert_int_eq(o.stop, GCG_STOP_ZERO);
    ck_assert_str_eq(s.asked, "epbBf.");
}
END_TEST

START_TEST(a_float_run_that_stalls_goes_on_in_double_once)
{
    script s = usual();
    for (int i = 2; i < STEPS; i++) s.objective[i] = 9.5, s.estimate[i] = s.proof[i] = 9;
    s.can_widen = 1;
    outcome o = play(&s, 1, 1e-3, gcg_solver_settings_defaults());
    ck_assert_int_eq(s.widened, 1);
    ck_assert_int_eq(o.stop, GCG_STOP_STALLED);
    ck_assert_int_eq(s.u.type, GCG_DOUBLE);
    ck_assert_int_ge(o.last.iter, 16); /* two windows of 8 */
    ck_assert_int_eq(s.lasts, 1);
    ck_assert_int_eq(o.last.rule, GCG_CERT_PROBABILITY); /* of the last bound */
    script other = usual(); /* small gaps are left to double before floats stall */
    for (int i = 2; i < STEPS; i++) other.estimate[i] = other.proof[i] = other.objective[i] * (1 - 1.5e-5);
    other.can_widen = 1;
    gcg_solver_settings set = gcg_solver_settings_defaults();
    set.max_iter = 4;
    o = play(&other, 1, 1e-6, set);
    ck_assert_int_eq(other.widened, 1);
    ck_assert_int_eq(o.stop, GCG_STOP_MAX_ITER);
}
END_TEST

START_TEST(a_rank_limit_that_binds_is_the_reason)
{
    script s = usual();
    for (int i = 3; i < STEPS; i++) s.objective[i] = 9.4, s.estimate[i] = s.proof[i] = 9;
    gcg_solver_settings set = gcg_solver_settings_defaults();
    set.rank = 1;
    outcome o = play(&s, 1, 1e-3, set);
    ck_assert_int_eq(o.stop, GCG_STOP_RANK_CAP);
    ck_assert_int_lt(o.last.iter, 8);
}
END_TEST

START_TEST(without_lambda_there_is_no_bound_and_little_gain_is_the_end)
{
    script s = usual();
    s.added = 0;
    for (int i = 4; i < STEPS; i++) s.objective[i] = s.objective[3] - 1e-5;
    outcome o = play(&s, 0, 1e-3, gcg_solver_settings_defaults());
    ck_assert_int_eq(o.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(o.last.iter, 4);
    ck_assert(isnan(o.last.gap) && isnan(o.last.dual));
    ck_assert_int_eq(o.last.rule, GCG_CERT_NONE);
    ck_assert_ptr_null(strchr(s.asked, 'b'));
    script exact = usual(); /* an objective of nothing is the end too */
    exact.added = 0;
    for (int i = 1; i < STEPS; i++) exact.objective[i] = 1e-25 / (i * i);
    o = play(&exact, 0, 1e-3, gcg_solver_settings_defaults());
    ck_assert_int_eq(o.last.iter, 1);
}
END_TEST

START_TEST(every_failure_ends_the_run_with_its_status)
{
    static const char *const places[] = {"evaluate", "polar",    "bound",  "proof", "step",
                                         "improve",  "progress", "finish", "last",  "widen"};
    for (int i = 0; i < 10; i++) {
        script s = usual();
        s.fail = places[i];
        for (int x = 2; x < STEPS; x++) { /* stalls; a proof is tried once */
            s.objective[x] = 9.5;
            s.estimate[x] = x == 2 ? 9.499 : 9;
            s.proof[x] = i == 8 ? NAN : 9;
        }
        s.can_widen = 1;
        outcome o = play(&s, 1, 1e-3, gcg_solver_settings_defaults());
        ck_assert_msg(o.status == GCG_ERR_NOMEM, "%s: status %d after %s", places[i], (int)o.status, s.asked);
    }
}
END_TEST

START_TEST(an_objective_that_is_not_finite_is_an_error)
{
    script s = usual();
    s.objective[1] = INFINITY;
    ck_assert_int_eq(play(&s, 1, 1e-3, gcg_solver_settings_defaults()).status, GCG_ERR_INTERNAL);
    s = usual();
    s.objective[0] = NAN;
    ck_assert_int_eq(play(&s, 1, 1e-3, gcg_solver_settings_defaults()).status, GCG_ERR_INTERNAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gcg");
    TCase *tests = tcase_create("driver");
    tcase_add_test(tests, the_lines_of_the_algorithm_come_in_order);
    tcase_add_test(tests, a_refuted_estimate_is_taken_back_and_not_tried_again_at_once);
    tcase_add_test(tests, the_best_proved_bound_is_kept);
    tcase_add_test(tests, a_zero_model_that_is_proved_is_told_as_such);
    tcase_add_test(tests, a_float_run_that_stalls_goes_on_in_double_once);
    tcase_add_test(tests, a_rank_limit_that_binds_is_the_reason);
    tcase_add_test(tests, without_lambda_there_is_no_bound_and_little_gain_is_the_end);
    tcase_add_test(tests, every_failure_ends_the_run_with_its_status);
    tcase_add_test(tests, an_objective_that_is_not_finite_is_an_error);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
