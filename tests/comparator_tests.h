/* Tests that hold for every comparator. The including file has defined SOLVE, the solver, and adds
 * comparator_tests(tests). The optimum comes from naive.h's proximal gradient. */
#ifndef TESTS_COMPARATOR_TESTS_H
#define TESTS_COMPARATOR_TESTS_H

#include "tests/naive.h"

#include "base/blas.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "solvers/comparator.h"
#include "solvers/solver.h"

/* A dense matrix, its mask and the same as ratings. */
typedef struct {
    int m, n;
    double *x;
    char *mask;
    gcg_csr csr;
} problem;

/* Low rank plus noise; the share `density` of the entries is observed, the first one always. */
static problem problem_make(uint64_t seed, int m, int n, double density)
{
    naive_rng g = naive_seed(seed);
    double *u = naive_normals(&g, m * 2), *v = naive_normals(&g, n * 2),
           *x = naive_multiply(m, n, 2, u, 0, v, 1);
    char *mask = naive_alloc((size_t)(m * n), 1);
    for (int e = 0; e < m * n; e++) {
        mask[e] = e == 0 || naive_uniform(&g) < density;
        x[e] = mask[e] ? x[e] + 0.3 * naive_normal(&g) : 0;
    }
    free(u);
    free(v);
    return (problem){m, n, x, mask, naive_csr(m, n, x, mask, 1)};
}

static void problem_release(problem *p)
{
    free(p->x);
    free(p->mask);
    gcg_csr_release(&p->csr);
}

static double half_square_sum(const problem *p)
{
    double sum = 0;
    for (int e = 0; e < p->m * p->n; e++) sum += 0.5 * p->x[e] * p->x[e];
    return sum;
}

static double top(const problem *p)
{
    return naive_spectral_norm(p->m, p->n, p->x);
}

static gcg_solver_settings settings(double lambda, double gap)
{
    gcg_solver_settings s = gcg_solver_settings_defaults();
    s.lambda = lambda;
    s.gap = gap;
    s.max_iter = 5000;
    return s;
}

static gcg_solver_result solve(const problem *p, const gcg_solver_settings *set)
{
    gcg_solver_result r;
    gcg_err err = {0};
    gcg_status status = SOLVE(&p->csr, set, &r, &err);
    ck_assert_msg(status == GCG_OK, "status %d: %s", (int)status, err.text);
    return r;
}

static double optimum(const problem *p, double lambda, double *lower)
{
    double *w = naive_alloc((size_t)(p->m * p->n), sizeof *w);
    double upper = naive_complete(p->m, p->n, p->x, p->mask, lambda, 1e-12 * half_square_sum(p), w, lower);
    free(w);
    return upper;
}

/* What has to hold for every result: its figures are those of its factors, which are balanced. */
static void check_figures(const problem *p, double lambda, const gcg_solver_result *r)
{
    double tiny = r->u.type == GCG_FLOAT ? 2e-5 : 1e-10, scale = 1e-300 + half_square_sum(p), norm = 0;
    double *w = naive_product(&r->u, &r->v), *s = naive_alloc((size_t)(p->m + p->n), sizeof *s);
    naive_svd(p->m, p->n, w, s, NULL, NULL);
    ck_assert(r->u.k == r->last.rank && r->v.k == r->last.rank && r->u.rows == p->m && r->v.rows == p->n);
    ck_assert(naive_padding_is_zero(&r->u) && naive_padding_is_zero(&r->v));
    for (int q = 0; q < r->last.rank; q++) {
        double uu = 0, vv = 0;
        for (int i = 0; i < p->m; i++) uu += pow(gcg_factors_get(&r->u, i, q), 2);
        for (int j = 0; j < p->n; j++) vv += pow(gcg_factors_get(&r->v, j, q), 2);
        ck_assert_double_eq_tol(r->singular_values[q], s[q], tiny * s[0]);
        ck_assert_double_eq_tol(uu, s[q], tiny * s[0]);
        ck_assert_double_eq_tol(vv, s[q], tiny * s[0]);
        norm += s[q];
    }
    double loss = naive_loss(p->m, p->n, p->x, p->mask, w, NULL);
    ck_assert_double_eq_tol(r->last.nuc_norm, norm, tiny * (norm + 1e-300));
    ck_assert_double_eq_tol(r->last.objective, loss + lambda * norm, tiny * scale);
    ck_assert_double_eq_tol(r->last.train_rmse, sqrt(2 * loss / (double)p->csr.nnz), sqrt(tiny * scale));
    if (!isnan(r->last.gap) && r->last.objective > 0)
        ck_assert_double_eq_tol(r->last.gap, fmax(0, 1 - r->last.dual / r->last.objective), 1e-14);
    free(w);
    free(s);
}

/* ---- the optimum ---- */

START_TEST(with_rank_enough_the_optimum_is_reached_and_bracketed)
{
    static const int shapes[][2] = {{6, 5}, {5, 8}, {12, 4}, {20, 17}, {3, 14}};
    static const double ratios[] = {0.6, 0.2, 0.1};
    for (int s = 0; s < 5; s++) {
        problem p = problem_make((uint64_t)(10 * _i + s), shapes[s][0], shapes[s][1], 0.6);
        for (int l = 0; l < 3; l++) {
            gcg_solver_settings set = settings(ratios[l] * top(&p), 1e-7);
            set.precision = _i ? GCG_PRECISION_FLOAT : GCG_PRECISION_DOUBLE;
            if (_i) set.gap = 1e-4;
            double lower, upper = optimum(&p, set.lambda, &lower), rounding = (_i ? 1e-6 : 1e-10) * upper;
            gcg_solver_result r = solve(&p, &set);
            ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
            ck_assert_int_eq(r.u.type, _i ? GCG_FLOAT : GCG_DOUBLE);
            ck_assert_double_ge(r.last.objective, lower - rounding);
            ck_assert_double_le(r.last.objective, upper * (1 + 1e-4));
            ck_assert_int_eq(r.last.rule, GCG_CERT_CHOLESKY);
            ck_assert_double_le(r.last.dual, upper + rounding);
            ck_assert_double_ge(r.last.dual, 0.9 * lower);
            check_figures(&p, set.lambda, &r);
            gcg_solver_result_release(&r);
        }
        problem_release(&p);
    }
}
END_TEST

START_TEST(with_too_low_a_rank_the_bound_shows_what_is_missing)
{
    problem p = problem_make(24, 20, 18, 0.7);
    double lambda = 0.02 * top(&p), lower, upper = optimum(&p, lambda, &lower);
    gcg_solver_settings set = settings(lambda, 1e-5);
    set.rank = 2;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.last.rank, 2);
    ck_assert_double_gt(r.last.objective, upper * 1.001);
    ck_assert_double_le(r.last.dual, upper);
    ck_assert_double_ge(r.last.gap * r.last.objective, r.last.objective - upper);
    check_figures(&p, lambda, &r);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* One row: F = lambda |x| - lambda^2 / 2. */
START_TEST(one_row_has_its_closed_form)
{
    problem p = problem_make(2, 1, 7, 0.6);
    double size = sqrt(2 * half_square_sum(&p)), lambda = 0.3 * size;
    gcg_solver_settings set = settings(lambda, 1e-9);
    gcg_solver_result r = solve(&p, &set);
    double want = lambda * size - 0.5 * lambda * lambda;
    ck_assert_double_eq_tol(r.last.objective, want, 1e-8 * want);
    ck_assert_double_le(r.last.dual, want * (1 + 1e-12));
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(from_lambda_max_on_the_result_is_the_zero_matrix)
{
    problem p = problem_make(21, 9, 7, 0.5);
    for (int t = 0; t < 2; t++) {
        gcg_solver_settings set = settings(top(&p) * (t == 0 ? 1.5 : 1e6), 1e-6);
        set.rank = 3;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_ZERO);
        ck_assert_int_eq(r.last.rank, 0);
        ck_assert_double_eq(r.last.nuc_norm, 0);
        ck_assert_double_eq_tol(r.last.objective, half_square_sum(&p), 1e-12 * r.last.objective);
        ck_assert_double_le(r.last.gap, 1e-12);
        gcg_solver_result_release(&r);
    }
    problem_release(&p);
}
END_TEST

START_TEST(ratings_that_are_all_zero_are_solved)
{
    double *x = naive_alloc(12, sizeof *x);
    char *mask = naive_alloc(12, 1);
    mask[3] = mask[7] = 1;
    problem p = {4, 3, x, mask, naive_csr(4, 3, x, mask, 0)};
    gcg_solver_settings set = settings(1, 1e-3);
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_ZERO);
    ck_assert(r.last.objective == 0 && r.last.dual == 0 && r.last.gap == 0 && r.last.rank == 0);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* Fully observed: the best fit of rank 2 is the truncated singular value decomposition. */
START_TEST(lambda_zero_fits_the_rank_without_a_bound)
{
    problem p = problem_make(22, 20, 15, 2);
    double s[15], want = 0;
    naive_svd(20, 15, p.x, s, NULL, NULL);
    for (int q = 2; q < 15; q++) want += 0.5 * s[q] * s[q];
    gcg_solver_settings set = settings(0, 1e-7);
    set.rank = 2;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
    ck_assert_int_eq(r.last.rank, 2);
    ck_assert_double_eq_tol(r.last.objective, want, 1e-6 * want);
    ck_assert(isnan(r.last.gap) && isnan(r.last.dual));
    ck_assert_int_eq(r.last.rule, GCG_CERT_NONE);
    check_figures(&p, 0, &r);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(empty_rows_and_columns_get_zero_factors)
{
    problem p = problem_make(26, 9, 8, 0.7);
    for (int e = 0; e < 72; e++)
        if (e / 8 == 0 || e / 8 == 5 || e % 8 == 7) p.mask[e] = 0, p.x[e] = 0;
    gcg_csr_release(&p.csr);
    p.csr = naive_csr(9, 8, p.x, p.mask, 1);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-6);
    gcg_solver_result r = solve(&p, &set);
    check_figures(&p, set.lambda, &r);
    for (int q = 0; q < r.last.rank; q++) {
        ck_assert_double_eq_tol(gcg_factors_get(&r.u, 0, q), 0, 1e-4);
        ck_assert_double_eq_tol(gcg_factors_get(&r.u, 5, q), 0, 1e-4);
        ck_assert_double_eq_tol(gcg_factors_get(&r.v, 7, q), 0, 1e-4);
    }
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* ---- rows of the log, stops ---- */

typedef struct {
    int64_t rows;
    double objective, time_s, passes;
    gcg_status answer;
    int interrupt;
} watcher;

static gcg_status watch(const gcg_progress *p, void *user, gcg_err *err)
{
    watcher *w = user;
    (void)err;
    ck_assert_int_eq(p->iter, w->rows);
    ck_assert(p->u->k == p->rank && p->v->k == p->rank);
    if (w->rows > 1) ck_assert_double_le(p->objective, w->objective * (1 + 1e-12));
    ck_assert_double_ge(p->time_s, w->time_s);
    ck_assert_double_ge(p->passes, w->passes);
    w->objective = p->objective;
    w->time_s = p->time_s;
    w->passes = p->passes;
    w->rows++;
    if (w->interrupt && w->rows == 3) gcg_interrupt_request();
    return w->rows > 2 ? w->answer : GCG_OK;
}

START_TEST(every_row_of_the_log_has_a_lower_objective_and_only_the_last_a_bound)
{
    for (int seed = 0; seed < 6; seed++) {
        problem p = problem_make((uint64_t)seed, 25, 20, 0.5);
        watcher w = {0};
        gcg_solver_settings set = settings((0.05 + 0.1 * seed) * top(&p), 1e-6);
        set.rank = 6;
        set.progress = watch;
        set.progress_user = &w;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(w.rows, r.last.iter + 1);
        ck_assert_int_gt(r.last.iter, 3);
        ck_assert_int_gt(r.last.rule, GCG_CERT_ESTIMATE);
        gcg_solver_result_release(&r);
        problem_release(&p);
    }
}
END_TEST

START_TEST(a_callback_that_fails_ends_the_solve_with_its_status)
{
    problem p = problem_make(3, 12, 10, 0.5);
    watcher w = {.answer = GCG_ERR_IO};
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-9);
    gcg_solver_result r;
    set.progress = watch;
    set.progress_user = &w;
    ck_assert_int_eq(SOLVE(&p.csr, &set, &r, NULL), GCG_ERR_IO);
    ck_assert_int_eq(w.rows, 3);
    ck_assert(r.u.data == NULL && r.singular_values == NULL);
    problem_release(&p);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

START_TEST(a_run_that_stops_early_says_why)
{
    problem p = problem_make(4, 30, 25, 0.5);
    gcg_solver_settings set = settings(0.05 * top(&p), 1e-9);
    double lower, upper = optimum(&p, set.lambda, &lower);
    set.max_iter = 2;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_MAX_ITER);
    ck_assert_int_eq(r.last.iter, 2);
    ck_assert_int_eq(r.last.rule, GCG_CERT_CHOLESKY); /* there is time for a bound */
    ck_assert_double_le(r.last.dual, upper);
    check_figures(&p, set.lambda, &r);
    gcg_solver_result_release(&r);
    set.max_iter = 5000;
    set.max_time = 1e-9;
    r = solve(&p, &set);
    ck_assert_int_eq(r.stop, GCG_STOP_MAX_TIME);
    ck_assert(isnan(r.last.gap) && r.last.rule == GCG_CERT_NONE);
    gcg_solver_result_release(&r);
    set.max_time = INFINITY;
    watcher w = {.interrupt = 1};
    set.progress = watch;
    set.progress_user = &w;
    r = solve(&p, &set);
    gcg_interrupt_clear();
    ck_assert_int_eq(r.stop, GCG_STOP_SIGNAL);
    ck_assert_int_eq(r.last.iter, 3);
    ck_assert_int_eq(r.last.rule, GCG_CERT_NONE);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

/* The gap decides when it stops: a hundredth of it is the least relative gain of a sweep. */
START_TEST(the_stop_rule_is_a_hundredth_of_the_gap)
{
    problem p = problem_make(5, 30, 25, 0.5);
    gcg_solver_settings set = settings(0.05 * top(&p), 1e-3);
    int64_t iterations[2];
    double objective[2];
    for (int t = 0; t < 2; t++) {
        set.gap = t ? 1e-7 : 1e-3;
        gcg_solver_result r = solve(&p, &set);
        ck_assert_int_eq(r.stop, GCG_STOP_CONVERGED);
        iterations[t] = r.last.iter;
        objective[t] = r.last.objective;
        gcg_solver_result_release(&r);
    }
    ck_assert_int_lt(iterations[0], iterations[1]);
    ck_assert_double_gt(objective[0], objective[1]);
    ck_assert_double_le(objective[0], objective[1] * (1 + 1e-3));
    problem_release(&p);
}
END_TEST

START_TEST(floats_stop_where_they_can_do_no_more)
{
    problem p = problem_make(52, 30, 25, 0.6);
    gcg_solver_settings set = settings(0.1 * top(&p), 1e-12);
    set.precision = GCG_PRECISION_FLOAT;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_ne(r.stop, GCG_STOP_MAX_ITER);
    ck_assert_int_eq(r.u.type, GCG_FLOAT);
    check_figures(&p, set.lambda, &r);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(small_gaps_and_few_ratings_are_solved_in_double)
{
    problem p = problem_make(53, 230, 230, 2); /* 52900 ratings: more than few */
    gcg_solver_settings set = settings(0.5 * top(&p), 1e-3);
    set.rank = 2;
    set.max_iter = 1;
    gcg_solver_result r = solve(&p, &set);
    ck_assert_int_eq(r.u.type, GCG_FLOAT);
    gcg_solver_result_release(&r);
    set.gap = 1e-6;
    r = solve(&p, &set);
    ck_assert_int_eq(r.u.type, GCG_DOUBLE);
    gcg_solver_result_release(&r);
    problem_release(&p);
}
END_TEST

START_TEST(ratings_whose_squares_overflow_are_an_error)
{
    problem p = problem_make(37, 4, 3, 0.9);
    for (int64_t e = 0; e < p.csr.nnz; e++) p.csr.val_d[e] = 1e200;
    gcg_solver_settings set = settings(1, 1e-3);
    gcg_solver_result r;
    gcg_err err;
    ck_assert_int_eq(SOLVE(&p.csr, &set, &r, &err), GCG_ERR_INTERNAL);
    problem_release(&p);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- bytes ---- */

static int same_factors(const gcg_factors *a, const gcg_factors *b)
{
    size_t bytes = (size_t)a->rows * (size_t)a->stride * (size_t)a->type;
    return a->k == b->k && a->type == b->type && memcmp(a->data, b->data, bytes) == 0;
}

START_TEST(the_result_is_the_same_bytes_at_1_2_and_7_threads)
{
    for (int type = 0; type < 2; type++) {
        problem p = problem_make(60, 900, 700, 0.05);
        gcg_solver_settings set = settings(3, 1e-3);
        set.rank = 20;
        set.max_iter = 8;
        set.precision = type ? GCG_PRECISION_FLOAT : GCG_PRECISION_DOUBLE;
        gcg_par_set_threads(1);
        gcg_solver_result one = solve(&p, &set);
        for (int threads = 2; threads <= 7; threads += 5) {
            gcg_par_set_threads(threads);
            gcg_solver_result r = solve(&p, &set);
            ck_assert(same_factors(&r.u, &one.u) && same_factors(&r.v, &one.v));
            ck_assert(r.last.objective == one.last.objective && r.last.dual == one.last.dual);
            gcg_solver_result_release(&r);
        }
        gcg_par_set_threads(1);
        set.seed = 2;
        gcg_solver_result other = solve(&p, &set);
        ck_assert(!same_factors(&other.u, &one.u)); /* the comparison can fail */
        gcg_solver_result_release(&other);
        gcg_solver_result_release(&one);
        problem_release(&p);
    }
}
END_TEST

START_TEST(float_and_double_ratings_of_the_same_values_are_the_same_problem)
{
    problem p = problem_make(61, 30, 20, 0.5);
    for (int e = 0; e < 600; e++) p.x[e] = round(4 * p.x[e]) / 4;
    gcg_csr wide = naive_csr(30, 20, p.x, p.mask, 1), narrow = naive_csr(30, 20, p.x, p.mask, 0);
    gcg_csr_release(&p.csr);
    gcg_solver_settings set = settings(2, 1e-5);
    p.csr = wide;
    gcg_solver_result a = solve(&p, &set);
    p.csr = narrow;
    gcg_solver_result b = solve(&p, &set);
    ck_assert(same_factors(&a.u, &b.u) && same_factors(&a.v, &b.v));
    gcg_solver_result_release(&a);
    gcg_solver_result_release(&b);
    gcg_csr_release(&wide);
    problem_release(&p);
}
END_TEST

START_TEST(the_result_carries_its_own_factors)
{
    problem p = problem_make(36, 8, 6, 0.7);
    gcg_solver_settings set = settings(0.2 * top(&p), 1e-3);
    gcg_solver_result r;
    ck_assert_int_eq(SOLVE(&p.csr, &set, &r, NULL), GCG_OK);
    ck_assert(r.last.u == &r.u && r.last.v == &r.v && r.last.rank == r.u.k);
    gcg_solver_result_release(&r);
    problem_release(&p);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- memory ---- */

typedef struct {
    problem p;
    gcg_solver_settings set;
} job;

static gcg_status solve_once(void *ctx)
{
    job *j = ctx;
    gcg_solver_result r;
    gcg_status status = SOLVE(&j->p.csr, &j->set, &r, NULL);
    if (status) ck_assert(r.u.data == NULL && r.singular_values == NULL);
    gcg_solver_result_release(&r);
    gcg_solver_result_release(&r);
    return status;
}

START_TEST(out_of_memory_is_told_at_every_allocation_of_a_solve)
{
    job j = {problem_make(35, 7, 6, 0.7), settings(0, 1e-3)};
    j.set.lambda = _i == 1 ? 0 : 0.2 * top(&j.p);
    j.set.rank = 3;
    j.set.max_iter = 3;
    j.set.precision = _i == 2 ? GCG_PRECISION_FLOAT : GCG_PRECISION_AUTO;
    ck_assert_int_ge(naive_fail_each_allocation(solve_once, &j), 40);
    problem_release(&j.p);
}
END_TEST

/* Too large for Cholesky. */
START_TEST(a_large_problem_is_bounded_by_lanczos_also_when_memory_runs_out)
{
    enum { N = 2100, EACH = 3 };
    naive_rng g = naive_seed(7);
    int32_t *row = naive_alloc(N * EACH, sizeof *row), *col = naive_alloc(N * EACH, sizeof *col);
    double *value = naive_alloc(N * EACH, sizeof *value), lambda_max;
    for (int e = 0; e < N * EACH; e++) {
        row[e] = e / EACH;
        col[e] = e % EACH * (N / EACH) + naive_below(&g, N / EACH);
        value[e] = 1 + naive_below(&g, 5);
    }
    job j = {.set = settings(0, 1e-4)};
    ck_assert_int_eq(gcg_csr_from_triples(&j.p.csr, N, N, N * EACH, row, col, value, NULL), GCG_OK);
    ck_assert_int_eq(gcg_lambda_max(&j.p.csr, 1, NULL, &lambda_max, NULL), GCG_OK);
    j.set.lambda = 0.8 * lambda_max;
    j.set.rank = 8;
    gcg_solver_result r;
    gcg_solver_settings certain = j.set; /* the optimum from gcg, proved by Cholesky */
    certain.rank = 0;
    certain.gap = 1e-6;
    certain.certify = 1;
    ck_assert_int_eq(gcg_complete(&j.p.csr, &certain, &r, NULL), GCG_OK);
    double upper = r.last.objective;
    gcg_solver_result_release(&r);
    r = solve(&j.p, &j.set);
    ck_assert_int_eq(r.last.rule, GCG_CERT_PROBABILITY);
    ck_assert_double_eq(r.last.probability, 1e-6);
    ck_assert_double_le(r.last.dual, upper);
    ck_assert_double_ge(r.last.dual, 0.95 * upper);
    gcg_solver_result_release(&r);
    j.set.max_iter = 1;
    int64_t before = gcg_mem_calls();
    ck_assert_int_eq(solve_once(&j), GCG_OK);
    int64_t calls = gcg_mem_calls() - before;
    for (int64_t n = calls - 8; n <= calls; n++) { /* the last ones: bound and result */
        gcg_mem_fail_at(n);
        ck_assert_int_eq(solve_once(&j), GCG_ERR_NOMEM);
        gcg_mem_fail_at(0);
    }
    gcg_csr_release(&j.p.csr);
    free(row);
    free(col);
    free(value);
    ck_assert_int_eq(gcg_mem_blocks(), 0);
}
END_TEST

/* ---- ../shared ---- */

static const char ORACLES[] = "../shared/oracles/oracles.tsv";

static problem read_mtx(const char *name)
{
    char path[256], line[256];
    snprintf(path, sizeof path, "../shared/oracles/%s", name);
    FILE *file = fopen(path, "r");
    problem p = {0};
    double value;
    long nnz;
    int i, j;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '%') continue;
        if (!p.x) {
            ck_assert_int_eq(sscanf(line, "%d %d %ld", &p.m, &p.n, &nnz), 3);
            p.x = naive_alloc((size_t)(p.m * p.n), sizeof *p.x);
            p.mask = naive_alloc((size_t)(p.m * p.n), 1);
        } else {
            ck_assert_int_eq(sscanf(line, "%d %d %lf", &i, &j, &value), 3);
            p.x[(i - 1) * p.n + j - 1] = value;
            p.mask[(i - 1) * p.n + j - 1] = 1;
        }
    }
    fclose(file);
    p.csr = naive_csr(p.m, p.n, p.x, p.mask, 1);
    return p;
}

START_TEST(the_shared_optima_are_reached)
{
    FILE *file = fopen(ORACLES, "r");
    char line[4096], name[64];
    double lambda, value, tolerance;
    int rows = 0;
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file)) {
        char *tab = strchr(line, '\t');
        if (!tab || strncmp(tab, "\tmc\t", 4) != 0) continue;
        if (sscanf(tab + 4, "%63[^\t]\tlambda=%lf\tF*\t%lf\t%lf", name, &lambda, &value, &tolerance) != 4)
            continue;
        problem p = read_mtx(name);
        gcg_solver_settings set = settings(lambda, 1e-7);
        gcg_solver_result r = solve(&p, &set);
        ck_assert_str_eq(gcg_stop_name(r.stop), "converged");
        ck_assert_double_ge(r.last.objective, value - tolerance);
        ck_assert_double_le(r.last.objective, value * (1 + 1e-4) + tolerance);
        ck_assert_double_le(r.last.dual, value + tolerance);
        gcg_solver_result_release(&r);
        problem_release(&p);
        rows++;
    }
    ck_assert_int_ge(rows, 6);
    fclose(file);
}
END_TEST

static void comparator_tests(TCase *tests)
{
    gcg_blas_init();
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, with_rank_enough_the_optimum_is_reached_and_bracketed, 0, 2);
    tcase_add_test(tests, with_too_low_a_rank_the_bound_shows_what_is_missing);
    tcase_add_test(tests, one_row_has_its_closed_form);
    tcase_add_test(tests, from_lambda_max_on_the_result_is_the_zero_matrix);
    tcase_add_test(tests, ratings_that_are_all_zero_are_solved);
    tcase_add_test(tests, lambda_zero_fits_the_rank_without_a_bound);
    tcase_add_test(tests, empty_rows_and_columns_get_zero_factors);
    tcase_add_test(tests, every_row_of_the_log_has_a_lower_objective_and_only_the_last_a_bound);
    tcase_add_test(tests, a_callback_that_fails_ends_the_solve_with_its_status);
    tcase_add_test(tests, a_run_that_stops_early_says_why);
    tcase_add_test(tests, the_stop_rule_is_a_hundredth_of_the_gap);
    tcase_add_test(tests, floats_stop_where_they_can_do_no_more);
    tcase_add_test(tests, small_gaps_and_few_ratings_are_solved_in_double);
    tcase_add_test(tests, ratings_whose_squares_overflow_are_an_error);
    tcase_add_test(tests, the_result_is_the_same_bytes_at_1_2_and_7_threads);
    tcase_add_test(tests, float_and_double_ratings_of_the_same_values_are_the_same_problem);
    tcase_add_test(tests, the_result_carries_its_own_factors);
    tcase_add_loop_test(tests, out_of_memory_is_told_at_every_allocation_of_a_solve, 0, 3);
    tcase_add_test(tests, a_large_problem_is_bounded_by_lanczos_also_when_memory_runs_out);
    if (naive_has_file(ORACLES)) tcase_add_test(tests, the_shared_optima_are_reached);
}

#endif
