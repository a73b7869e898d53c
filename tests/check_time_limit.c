/* The solvers' time limit, on a clock that goes by passes over the ratings: each takes a thousand seconds.
 * Then "within a second or a pass" can be counted, for a limit at any moment of a run. */
#include "tests/naive.h"

#include "base/blas.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "maths/kernels.h"
#include "solvers/als_cg.h"
#include "solvers/soft_impute.h"
#include "solvers/solver.h"

static const double PASS = 1000; /* seconds */

/* The pass that runs when the time is over, one that belongs to it (R'R x are two), and the last value of F.
 */
enum { SWEEPS_AFTER = 3 };

static int64_t stop_at = INT64_MAX; /* sweeps at which somebody asks to stop */

static double pass_clock(void)
{
    if (gcg_kernels_sweeps() >= stop_at) gcg_interrupt_request();
    return PASS * (double)gcg_kernels_sweeps();
}

static void teardown(void)
{
    gcg_clock_replace(NULL);
    gcg_interrupt_clear();
    stop_at = INT64_MAX;
}

/* Rank 3 and noise on about `degree` entries of each row. */
static gcg_csr make(int32_t rows, int32_t cols, int degree)
{
    naive_rng g = naive_seed((uint64_t)rows);
    double *u = naive_normals(&g, rows * 3), *v = naive_normals(&g, cols * 3);
    int64_t n = 0, room = (int64_t)rows * degree;
    int32_t *row = naive_alloc((size_t)room, sizeof *row), *col = naive_alloc((size_t)room, sizeof *col);
    double *value = naive_alloc((size_t)room, sizeof *value);
    for (int32_t i = 0; i < rows; i++)
        for (int32_t d = 0; d < degree; d++, n++) {
            row[n] = i;
            col[n] =
                (int32_t)(((int64_t)i * 7 + (int64_t)d * (cols / degree) + naive_below(&g, cols / degree)) %
                          cols);
            value[n] = naive_normal(&g);
            for (int q = 0; q < 3; q++) value[n] += u[i * 3 + q] * v[col[n] * 3 + q];
        }
    for (int64_t p = 1; p < n; p++) /* the wrap may have met the first entry of its row again */
        for (int64_t q = p - 1; q >= 0 && row[q] == row[p]; q--)
            if (col[q] == col[p]) col[p] = (col[p] + 1) % cols, q = p;
    gcg_csr x;
    ck_assert_int_eq(gcg_csr_from_triples(&x, rows, cols, n, row, col, value, NULL), GCG_OK);
    void *all[] = {u, v, row, col, value};
    for (int i = 0; i < 5; i++) free(all[i]);
    return x;
}

typedef gcg_status (*solver)(const gcg_csr *, const gcg_solver_settings *, gcg_solver_result *, gcg_err *);

/* F is that of the factors, which are balanced; the bound, if any, is below. */
static void check_result(const gcg_csr *x, const gcg_solver_settings *set, const gcg_solver_result *r)
{
    double loss = 0, half = 0, sum = 0;
    for (int32_t i = 0; i < x->rows; i++)
        for (int64_t p = x->row_ptr[i]; p < x->row_ptr[i + 1]; p++) {
            double e = gcg_csr_value(x, p);
            for (int32_t q = 0; q < r->u.k; q++)
                e -= gcg_factors_get(&r->u, i, q) * gcg_factors_get(&r->v, x->col[p], q);
            loss += 0.5 * e * e;
        }
    for (int32_t q = 0; q < r->u.k; q++) {
        double uu = 0, vv = 0;
        for (int32_t i = 0; i < x->rows; i++) uu += pow(gcg_factors_get(&r->u, i, q), 2);
        for (int32_t j = 0; j < x->cols; j++) vv += pow(gcg_factors_get(&r->v, j, q), 2);
        ck_assert_double_eq_tol(uu, r->singular_values[q], 1e-9 * uu);
        ck_assert_double_eq_tol(vv, r->singular_values[q], 1e-9 * vv);
        half += 0.5 * (uu + vv);
        sum += r->singular_values[q];
    }
    double f = loss + set->lambda * sum;
    ck_assert_double_eq_tol(half, sum, 1e-9 * sum + 1e-12);
    ck_assert_double_eq_tol(r->last.objective, f, 1e-9 * f);
    ck_assert_int_eq(r->last.rank, r->u.k);
    if (!isnan(r->last.dual)) {
        ck_assert_double_le(r->last.dual, f * (1 + 1e-12));
        ck_assert_double_eq_tol(r->last.gap, (f - r->last.dual) / f, 1e-9);
    }
}

typedef struct {
    const gcg_csr *x;
    solver solve;
    gcg_solver_settings set;
    int64_t all, last; /* passes and iterations of a run without limit */
} runs;

static int64_t run(const runs *r, gcg_solver_result *result)
{
    int64_t begin = gcg_kernels_sweeps();
    ck_assert_int_eq(r->solve(r->x, &r->set, result, NULL), GCG_OK);
    return gcg_kernels_sweeps() - begin;
}

static runs prepare(const gcg_csr *x, solver solve, int plain)
{
    double lambda_max;
    gcg_solver_result result;
    runs r = {.x = x, .solve = solve, .set = gcg_solver_settings_defaults()};
    ck_assert_int_eq(gcg_lambda_max(x, 1, NULL, &lambda_max, NULL), GCG_OK);
    r.set.lambda = 0.2 * lambda_max;
    r.set.precision = GCG_PRECISION_DOUBLE;
    r.set.plain = plain;
    r.set.max_iter = 8;
    gcg_clock_replace(pass_clock);
    r.all = run(&r, &result);
    r.last = result.last.iter;
    gcg_solver_result_release(&result);
    return r;
}

static const struct {
    int32_t rows, cols;
    int degree, plain, stride;
} cases[] = {{40, 30, 10, 0, 1}, {300, 280, 20, 0, 13}, {280, 300, 20, 1, 41}, {2100, 2050, 12, 0, 37}};

START_TEST(a_limit_is_kept_to_within_a_pass_at_any_moment)
{
    gcg_csr x = make(cases[_i].rows, cases[_i].cols, cases[_i].degree);
    runs r = prepare(&x, gcg_complete, cases[_i].plain);
    gcg_solver_result result;
    ck_assert_int_gt(r.all, 30);
    for (int64_t limit = 0; limit < r.all; limit += cases[_i].stride) {
        r.set.max_time = PASS * ((double)limit + 0.5);
        int64_t took = run(&r, &result);
        ck_assert_msg(took <= limit + SWEEPS_AFTER, "limit %d: %d passes", (int)limit, (int)took);
        /* other reasons are reached near the end, when only the last bound is to come */
        ck_assert_msg(result.stop == GCG_STOP_MAX_TIME || result.last.iter == r.last, "limit %d: %s",
                      (int)limit, gcg_stop_name(result.stop));
        check_result(&x, &r.set, &result);
        gcg_solver_result_release(&result);
    }
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_request_to_stop_is_heard_at_any_moment)
{
    gcg_csr x = make(cases[_i].rows, cases[_i].cols, cases[_i].degree);
    runs r = prepare(&x, gcg_complete, cases[_i].plain);
    gcg_solver_result result;
    r.set.max_time = PASS * 1e6;
    for (int64_t moment = 1; moment < r.all - SWEEPS_AFTER; moment += 10 * cases[_i].stride) {
        stop_at = gcg_kernels_sweeps() + moment;
        int64_t took = run(&r, &result);
        ck_assert(result.stop == GCG_STOP_SIGNAL || result.last.iter == r.last);
        ck_assert_msg(took <= moment + 1 + SWEEPS_AFTER, "asked at %d: %d passes", (int)moment, (int)took);
        check_result(&x, &r.set, &result);
        gcg_solver_result_release(&result);
        gcg_interrupt_clear();
    }
    gcg_csr_release(&x);
}
END_TEST

START_TEST(a_limit_that_does_not_strike_changes_no_byte)
{
    gcg_csr x = make(300, 280, 20);
    runs r = prepare(&x, gcg_complete, 0);
    gcg_solver_result with, without;
    run(&r, &without);
    r.set.max_time = PASS * (double)(r.all + 1000);
    ck_assert_int_eq(run(&r, &with), r.all);
    ck_assert_int_eq(with.stop, without.stop);
    ck_assert_int_eq(with.u.k, without.u.k);
    size_t u = (size_t)with.u.rows * (size_t)with.u.stride, v = (size_t)with.v.rows * (size_t)with.v.stride;
    ck_assert_mem_eq(with.u.data, without.u.data, u * sizeof(double));
    ck_assert_mem_eq(with.v.data, without.v.data, v * sizeof(double));
    ck_assert_double_eq(with.last.dual, without.last.dual);
    gcg_solver_result_release(&with);
    gcg_solver_result_release(&without);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(where_passes_take_no_time_the_last_point_still_gets_its_bound)
{
    gcg_csr x = make(300, 280, 20);
    runs r = prepare(&x, gcg_complete, 0);
    gcg_solver_result result;
    gcg_clock_replace(NULL);
    gcg_interrupt_request(); /* before it began */
    run(&r, &result);
    ck_assert_int_eq(result.stop, GCG_STOP_SIGNAL);
    ck_assert_int_gt(result.last.rule, GCG_CERT_ESTIMATE);
    ck_assert_double_gt(result.last.dual, 0);
    check_result(&x, &r.set, &result);
    gcg_solver_result_release(&result);
    gcg_csr_release(&x);
}
END_TEST

START_TEST(lambda_max_can_be_cut_short)
{
    gcg_csr x = make(300, 280, 20);
    double whole, part;
    int64_t begin = gcg_kernels_sweeps(), all;
    ck_assert_int_eq(gcg_lambda_max(&x, 1, NULL, &whole, NULL), GCG_OK);
    all = gcg_kernels_sweeps() - begin;
    gcg_clock_replace(pass_clock);
    for (int64_t limit = 1; limit + SWEEPS_AFTER < all; limit += 7) {
        gcg_watch watch = gcg_watch_defaults();
        begin = gcg_kernels_sweeps();
        watch.deadline = gcg_clock_now() + PASS * ((double)limit - 0.5);
        ck_assert_int_eq(gcg_lambda_max(&x, 1, &watch, &part, NULL), GCG_OK);
        ck_assert_int_le(gcg_kernels_sweeps() - begin, limit + 1);
        ck_assert_int_eq(watch.over, 1);
        ck_assert_double_gt(part, 0);
        ck_assert_double_le(part, whole * (1 + 1e-12));
    }
    gcg_csr_release(&x);
}
END_TEST

/* A comparator's time is that of its own work, so a count of all passes is not for it. */
START_TEST(comparators_leave_a_whole_point_too)
{
    static const solver solvers[] = {gcg_als_cg, gcg_soft_impute};
    gcg_csr x = make(300, 280, 20);
    for (int s = 0; s < 2; s++) {
        runs r = prepare(&x, solvers[s], 0);
        gcg_solver_result result;
        r.set.rank = 5;
        for (int limit = 0; limit < 12; limit++) {
            r.set.max_time = PASS * (limit + 0.5);
            r.set.gap = s == 0 ? 1e-9 : 1e-15;
            if (s == 0) stop_at = gcg_kernels_sweeps() + limit / 3; /* its rows are no passes */
            run(&r, &result);
            ck_assert_int_eq(result.stop, s == 0 ? GCG_STOP_SIGNAL : GCG_STOP_MAX_TIME);
            check_result(&x, &r.set, &result);
            gcg_solver_result_release(&result);
            gcg_interrupt_clear();
            stop_at = INT64_MAX;
        }
    }
    gcg_csr_release(&x);
}
END_TEST

int main(void)
{
    gcg_blas_init();
    Suite *suite = suite_create("time limit");
    TCase *tests = tcase_create("time limit");
    tcase_set_timeout(tests, 600);
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_loop_test(tests, a_limit_is_kept_to_within_a_pass_at_any_moment, 0, 4);
    tcase_add_loop_test(tests, a_request_to_stop_is_heard_at_any_moment, 0, 4);
    tcase_add_test(tests, a_limit_that_does_not_strike_changes_no_byte);
    tcase_add_test(tests, where_passes_take_no_time_the_last_point_still_gets_its_bound);
    tcase_add_test(tests, lambda_max_can_be_cut_short);
    tcase_add_test(tests, comparators_leave_a_whole_point_too);
    suite_add_tcase(suite, tests);
    return naive_run(suite);
}
